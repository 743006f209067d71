//! Headers that are copied through C variables: all of their pieces are loaded before any is stored, so that they may
//! overlap.
//!
//! Pieces do not overlap, and are loaded with the size with which they were stored: a processor forwards a store to a
//! later load only if the load is of the same bytes. A compiler copies 14 bytes as two overlapping words of 8.

use super::scope::Scope;
use lir::{Expr as C, Stmt as S, Type, binary, call, declare, int, name, unary};

/// The longest header that is copied so, in bytes.
pub(crate) const PIECES_BYTES_MAX: u32 = 128;

/// The types of pieces, the widest first.
const TYPES: [(u32, Type); 5] = [(16, Type::Sixteen), (8, Type::U64), (4, Type::U32), (2, Type::U16), (1, Type::U8)];

/// C variables for the bytes of a header.
pub(crate) struct Pieces(Vec<Piece>);

struct Piece {
    var: String,
    offset: u32,
    bytes: u32,
}

impl Scope<'_, '_> {
    /// Declares variables for a header of `size` bytes.
    pub(crate) fn pieces(&mut self, size: u32) -> Pieces {
        let (mut pieces, mut offset) = (Vec::new(), 0);
        for (bytes, ty) in TYPES {
            while size - offset >= bytes {
                let var = self.fresh("piece");
                let zero = if bytes == 16 { C::List(vec![int(0)]) } else { int(0) };
                self.push(declare(ty, var.clone(), zero));
                pieces.push(Piece { var, offset, bytes });
                offset += bytes;
            }
        }
        Pieces(pieces)
    }

    /// Copies `size` bytes.
    pub(crate) fn copy_bytes(&mut self, from: &C, to: &C, size: u32) {
        let pieces = self.pieces(size);
        self.out.extend(pieces.load(from));
        self.out.extend(pieces.store(to));
    }
}

impl Pieces {
    /// Loads all.
    pub(crate) fn load(&self, from: &C) -> Vec<S> {
        self.copy(|var, at| vec![var, at], from)
    }

    /// Stores all.
    pub(crate) fn store(&self, to: &C) -> Vec<S> {
        self.copy(|var, at| vec![at, var], to)
    }

    fn copy(&self, arguments: impl Fn(C, C) -> Vec<C>, memory: &C) -> Vec<S> {
        let copy = |Piece { var, offset, bytes }: &Piece| {
            let at = binary("+", memory.clone(), int(*offset));
            let mut arguments = arguments(unary("&", name(var.clone())), at);
            arguments.push(int(*bytes));
            S::Eval(call("memcpy", arguments))
        };
        self.0.iter().map(copy).collect()
    }
}
