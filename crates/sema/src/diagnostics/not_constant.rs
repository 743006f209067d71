//! `E0405`: something that must be known when the program is compiled, and is not.
//!
//! Widths, sizes, slice bounds, switch labels, entries of tables, arguments of constructors: made of literals, constants and parameters of
//! constructors only.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the expression.
pub(crate) fn not_constant(span: Span) -> Diagnostic {
    Diagnostic::error("E0405", span, "this must be known at compile time").label("not a compile-time constant")
}
