//! `E0302`: a cast that does not exist.
//!
//! Casts go between `bit<1>` and `bool`, between `bit<w>` and `int<w>` of one width, between widths of one sign, from `int` to numbers
//! with a width, and between a type made by `type` (or an enum with a representation) and what it is made of.

use base::Span;
use syntax::diag::Diagnostic;

/// `steps`: casts that do together what one cannot.
pub(crate) fn invalid_cast(span: Span, wanted: &str, found: &str, steps: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0302", span, format!("cannot cast {found} to {wanted}")).label("no such cast");
    match steps {
        Some(steps) => diagnostic.help(format!("cast in two steps: `{steps}`")),
        None => diagnostic,
    }
}
