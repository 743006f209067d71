//! `E0208`: `this` outside the implementation of an abstract method.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of `this`.
pub(crate) fn misplaced_this(span: Span) -> Diagnostic {
    Diagnostic::error("E0208", span, "`this` stands outside an abstract method's implementation")
        .label("there is no object here")
}
