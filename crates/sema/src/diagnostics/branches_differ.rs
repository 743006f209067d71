//! `E0422`: a conditional expression whose two values have different types.

use base::Span;
use syntax::diag::Diagnostic;

/// Each branch: its place and its type.
pub(crate) fn branches_differ(span: Span, yes: (Span, &str), no: (Span, &str)) -> Diagnostic {
    Diagnostic::error("E0422", span, format!("the two values of `?:` have different types: {} and {}", yes.1, no.1))
        .label("types differ")
        .secondary(yes.0, yes.1)
        .secondary(no.0, no.1)
}
