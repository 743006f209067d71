//! `E0419`: an operator with an operand of a type that it does not take.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` says what the operator takes.
pub(crate) fn invalid_operand(span: Span, operator: &str, found: &str, wanted: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0419", span, format!("`{operator}` takes {wanted}, found {found}"))
        .label(format!("this is {found}"));
    match (operator, found) {
        ("&&" | "||" | "!", "bit<1>") => diagnostic.help("compare it with 1: `x == 1`"),
        ("&" | "|" | "^" | "~", "bool") => diagnostic.help("use `&&`, `||` and `!` with truth values"),
        (_, "int") if wanted.contains("width") => diagnostic.help("write the width, as in `8w5`"),
        _ => diagnostic,
    }
}
