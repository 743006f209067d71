//! `E0303`: a field or element of a type that cannot be one.
//!
//! A header holds numbers, truth values, enums with a representation, and structs of these. A header union holds headers. Structs and
//! tuples hold any value that exists at run time. Nothing holds tables, parsers, controls or extern objects.

use base::Span;
use syntax::diag::Diagnostic;

/// `owner` comes with its article.
pub(crate) fn invalid_field_type(span: Span, owner: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0303", span, format!("{owner} cannot contain a value of type {found}"))
        .label(format!("not allowed in {owner}"))
}
