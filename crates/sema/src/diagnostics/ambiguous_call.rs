//! `E0507`: a call whose arguments fit several functions of that name.

use base::Span;
use syntax::diag::Diagnostic;

/// `candidates` are the places of their declarations.
pub(crate) fn ambiguous_call(span: Span, name: &str, candidates: &[Span]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0507", span, format!("several `{name}` take these arguments"))
        .label("which one?")
        .help("name the arguments");
    candidates.iter().fold(diagnostic, |diagnostic, &candidate| diagnostic.secondary(candidate, "a candidate"))
}
