//! `W0205`: a number without width as an argument whose type nothing else says.

use base::Span;
use syntax::diag::Diagnostic;

/// `ty` is the type that is taken.
pub(crate) fn width_assumed(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::warning("W0205", span, format!("this number has no width; {ty} is taken"))
        .label("no width")
        .help("write the width, as in `32w5`")
}
