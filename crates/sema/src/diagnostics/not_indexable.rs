//! `E0423`: an index on something that has no elements.
//!
//! Header stacks, arrays and tuples have elements. A bit of a number is a slice: `x[3:3]`.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_indexable(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0423", span, format!("{found} has no elements to index"))
        .label("not a stack, array or tuple");
    if found.starts_with("bit<") || found.starts_with("int<") {
        return diagnostic.help("a single bit is a slice: `x[3:3]`");
    }
    diagnostic
}
