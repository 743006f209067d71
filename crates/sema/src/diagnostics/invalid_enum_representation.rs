//! `E0308`: an enum whose representation is not a number type.
//!
//! Write `enum bit<8> name { ... }` or `enum int<8> name { ... }`.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type that was given.
pub(crate) fn invalid_enum_representation(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0308", span, format!("an enum's values cannot be of type {found}"))
        .label("expected bit<w> or int<w>")
}
