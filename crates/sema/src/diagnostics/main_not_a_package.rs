//! `E0702`: a `main` that is no instance of a package.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is its type.
pub(crate) fn main_not_a_package(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0702", span, format!("`main` must be an instance of a package, found {found}"))
        .label("not a package")
        .help("write `V1Switch(...) main;`")
}
