//! `E0628`: entries that stand before the keys or actions that they use.

use base::Span;
use syntax::diag::Diagnostic;

/// `name` is the property that comes too late, at `late`.
pub(crate) fn entries_before(span: Span, name: &str, late: Span) -> Diagnostic {
    Diagnostic::error("E0628", span, format!("`entries` must stand after `{name}`"))
        .label("too early")
        .secondary(late, format!("`{name}` stands here"))
}
