//! `E0505`: a call in which some arguments are named and some are not.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the call.
pub(crate) fn mixed_arguments(span: Span) -> Diagnostic {
    Diagnostic::error("E0505", span, "either all arguments are named or none is").label("some are named, some are not")
}
