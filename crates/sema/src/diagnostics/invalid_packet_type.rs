//! `E0320`: `extract`, `lookahead` or `emit` of something that cannot be read from or written to a packet.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` says what it takes.
pub(crate) fn invalid_packet_type(span: Span, method: &str, found: &str, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0320", span, format!("`{method}` of {found} needs {wanted}"))
        .label(format!("expected {wanted}"))
}
