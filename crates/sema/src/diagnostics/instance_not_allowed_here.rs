//! `E0512`: an instance in a place where instances of its type cannot be.
//!
//! Packages stand in the outermost scope, controls in controls, parsers in parsers, extern objects in all of these.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` comes with its article.
pub(crate) fn instance_not_allowed_here(span: Span, shown: &str, here: &str) -> Diagnostic {
    Diagnostic::error("E0512", span, format!("an instance of {shown} cannot be declared in {here}")).label("not here")
}
