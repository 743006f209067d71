//! A range of source text.

/// A half-open range `lo..hi` of byte positions in the source map's text. The source map concatenates all files of a
/// compilation, so that two numbers identify a place in any file. `syntax::SourceMap` turns a span into file, line
/// and column.
///
/// A token from a macro's body has the range of the macro's use. Its [`Origin`] leads to the body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
    /// The macro that the text is from.
    pub origin: Origin,
}

/// The first and the last token of a range by their numbers in the source map's table of macro expansions. Zeros if one
/// of them is not from a macro.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Origin {
    /// The first token.
    pub first: u32,
    /// The last token.
    pub last: u32,
}

impl Origin {
    /// Not from a macro.
    pub const NONE: Origin = Origin { first: 0, last: 0 };

    /// Whether this is [`Origin::NONE`].
    pub fn is_none(self) -> bool {
        self == Origin::NONE
    }

    /// From the first token of `self` to the last of `end`.
    fn to(self, end: Origin) -> Origin {
        if self.is_none() || end.is_none() { Origin::NONE } else { Origin { first: self.first, last: end.last } }
    }
}

impl Span {
    /// No source position: the construct was made by the compiler itself.
    pub const NONE: Span = Span { lo: 0, hi: 0, origin: Origin::NONE };

    /// The range `lo..hi`.
    pub fn new(lo: u32, hi: u32) -> Span {
        debug_assert!(lo <= hi, "the end of a span is before its start: {lo}..{hi}");
        Span { lo, hi, origin: Origin::NONE }
    }

    /// The same range as text from a macro.
    pub fn with_origin(self, origin: Origin) -> Span {
        Span { origin, ..self }
    }

    /// The smallest range that covers both. `self` begins it.
    pub fn to(self, end: Span) -> Span {
        if self == Span::NONE {
            return end;
        }
        if end == Span::NONE {
            return self;
        }
        Span { lo: self.lo.min(end.lo), hi: self.hi.max(end.hi), origin: self.origin.to(end.origin) }
    }

    /// The empty range behind it.
    pub fn end(self) -> Span {
        let Origin { last, .. } = self.origin;
        Span { lo: self.hi, hi: self.hi, origin: Origin { first: last, last } }
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
