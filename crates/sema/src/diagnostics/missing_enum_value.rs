//! `E0310`: a member without a value, in an enum whose members have values.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `representation` is the enum's type.
pub(crate) fn missing_enum_value(name: &Ident, representation: &str) -> Diagnostic {
    Diagnostic::error(
        "E0310",
        name.span,
        format!("`{}` needs a value, because the enum's type is {representation}", name.name),
    )
    .label("no value")
    .help(format!("write `{} = ...`", name.name))
}
