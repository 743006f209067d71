//! `E0313`: a type argument that nothing determines.
//!
//! Type arguments may be left out where the arguments of the call determine them. Write them: `f<bit<8>>(...)`.

use base::Span;
use syntax::diag::Diagnostic;

/// A type parameter of a function or method.
pub(crate) fn cannot_infer(span: Span, param: &str, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0313", span, format!("the type argument `{param}` of `{name}` cannot be inferred"))
        .label("nothing determines it")
        .secondary(declared, "declared here")
        .help(format!("write it: `{name}<...>(...)`"))
}

/// The type of an instance.
pub(crate) fn cannot_infer_instance(span: Span, shown: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0313", span, format!("the type arguments of `{shown}` cannot be inferred"))
        .label("nothing determines them")
        .secondary(declared, "declared here")
        .help("write the type arguments")
}
