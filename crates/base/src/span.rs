//! A range of source text.

/// A half-open range `lo..hi` of byte positions in the source map's text. The source map concatenates all files of a
/// compilation, so that eight bytes identify a place in any file. `syntax::SourceMap` turns a span into file, line
/// and column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// No source position: the construct was made by the compiler itself.
    pub const NONE: Span = Span { lo: 0, hi: 0 };

    /// The range `lo..hi`.
    pub fn new(lo: u32, hi: u32) -> Span {
        debug_assert!(lo <= hi, "the end of a span is before its start: {lo}..{hi}");
        Span { lo, hi }
    }

    /// The smallest range that covers both.
    pub fn to(self, end: Span) -> Span {
        if self == Span::NONE {
            return end;
        }
        if end == Span::NONE {
            return self;
        }
        Span { lo: self.lo.min(end.lo), hi: self.hi.max(end.hi) }
    }

    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self == Span::NONE
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}
