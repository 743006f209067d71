//! `E0316`: `_` as a type where nothing can be inferred.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the `_`.
pub(crate) fn misplaced_dont_care_type(span: Span) -> Diagnostic {
    Diagnostic::error("E0316", span, "`_` is no type here").label("nothing is inferred here").help("write the type")
}
