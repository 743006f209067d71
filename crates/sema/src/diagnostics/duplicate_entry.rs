//! `W0207`: an entry with the same keys as an earlier one, which always wins.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the earlier one.
pub(crate) fn duplicate_entry(span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("W0207", span, "this entry has the keys of an earlier one")
        .label("never used")
        .secondary(first, "the earlier one")
}
