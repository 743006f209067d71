//! `E0518`: an action whose parameters with direction do not come first.
//!
//! The parameters without direction are given by the entries of tables; they stand last.

use base::Span;
use syntax::diag::Diagnostic;

/// `name` is the parameter's.
pub(crate) fn direction_after_control_plane(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0518", span, format!("`{name}` has a direction, but follows a parameter without"))
        .label("must come first")
        .help("put the parameters without direction last")
}
