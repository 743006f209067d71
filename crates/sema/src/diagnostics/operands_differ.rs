//! `E0420`: an operator whose operands must have one type and have two.

use base::Span;
use syntax::diag::Diagnostic;

/// Each side: its place and its type.
pub(crate) fn operands_differ(span: Span, operator: &str, left: (Span, &str), right: (Span, &str)) -> Diagnostic {
    Diagnostic::error(
        "E0420",
        span,
        format!("the operands of `{operator}` have different types: {} and {}", left.1, right.1),
    )
    .label("types differ")
    .secondary(left.0, left.1)
    .secondary(right.0, right.1)
}
