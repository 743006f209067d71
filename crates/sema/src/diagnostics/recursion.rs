//! `E0207`: a function, action, parser or control that calls itself.
//!
//! P4 has no recursion: everything a packet goes through is laid out when the program is compiled. Use a loop, or a parser that
//! returns to an earlier state.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the recursive thing is declared.
pub(crate) fn recursion(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0207", span, format!("`{name}` calls itself"))
        .label("recursive use")
        .secondary(declared, "declared here")
        .note("P4 has no recursion")
}
