//! Which names are types, at the current position of the parser.

use crate::token::Symbol;

/// The meaning of a name, as far as the grammar depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A type: struct, typedef, enum, extern, parser, control, package or type parameter.
    Type,
    /// Anything else.
    Object,
}

/// The scopes that are open, innermost last.
pub(super) struct Scopes {
    /// The innermost meaning of each symbol.
    current: Vec<Option<Meaning>>,
    /// The meaning of each symbol in the outermost scope.
    global: Vec<Option<Meaning>>,
    /// The meanings that inner scopes replaced, to be restored when they close.
    replaced: Vec<(Symbol, Option<Meaning>)>,
    /// For each open inner scope, the length of `replaced` when it opened.
    marks: Vec<usize>,
}

impl Scopes {
    /// An empty outermost scope for symbols below `symbol_count`.
    pub fn new(symbol_count: usize) -> Scopes {
        let none = vec![None; symbol_count];
        Scopes { current: none.clone(), global: none, replaced: Vec::new(), marks: Vec::new() }
    }

    pub fn open(&mut self) {
        self.marks.push(self.replaced.len());
    }

    pub fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for (symbol, meaning) in self.replaced.drain(mark..).rev() {
            self.current[symbol.index()] = meaning;
        }
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, symbol: Symbol, meaning: Meaning) {
        let place = &mut self.current[symbol.index()];
        if self.marks.is_empty() {
            self.global[symbol.index()] = Some(meaning);
        } else {
            self.replaced.push((symbol, *place));
        }
        *place = Some(meaning);
    }

    /// Whether the name is a type here.
    pub fn is_type(&self, symbol: Symbol) -> bool {
        self.current[symbol.index()] == Some(Meaning::Type)
    }

    /// Whether the name is a type in the outermost scope.
    pub fn is_global_type(&self, symbol: Symbol) -> bool {
        self.global[symbol.index()] == Some(Meaning::Type)
    }
}
