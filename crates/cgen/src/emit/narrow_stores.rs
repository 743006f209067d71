//! Stores that a checksum's loads should not straddle.
//!
//! What enters: stores to fields of headers that the program sums. What leaves: where in a header code has stored one,
//! two or four bytes before a sum of it. A processor cannot forward a store that it still holds to a load which covers
//! more than that store, and waits some ten cycles until the store is in the cache. So a sum loads what was stored as
//! it was stored.

use super::field::Bits;
use super::scope::Scope;
use base::OrderedSet;
use ir::{ExprKind, HashAlgorithm, HashValue, HeaderId, HeaderRef, Program, Stmt, StmtKind};
use std::ops::Range;

/// Bytes of a header that one store has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NarrowStore {
    /// The first byte, and how many.
    pub(crate) at: u32,
    pub(crate) bytes: u32,
}

impl NarrowStore {
    /// How many bytes a load may cover that begins at `at` and has `left` to load: one, two, four or eight.
    pub(crate) fn load_bytes(stores: &[NarrowStore], at: u32, left: u32) -> u32 {
        let limit = |store: &NarrowStore| match at {
            _ if at == store.at => store.bytes,
            _ if at < store.at => store.at - at,
            _ if at < store.at + store.bytes => store.at + store.bytes - at,
            _ => u32::MAX,
        };
        let bytes = stores.iter().map(limit).fold(left.min(8), u32::min);
        1 << bytes.ilog2()
    }
}

/// The headers of which a program sums fields.
pub(crate) fn summed_headers(program: &Program) -> OrderedSet<HeaderId> {
    let mut headers = OrderedSet::new();
    super::state::walk_program(program, &mut |stmt| headers.extend(summed(stmt)));
    headers
}

fn summed(stmt: &Stmt) -> impl Iterator<Item = HeaderId> {
    let inputs = match &stmt.kind {
        StmtKind::Hash { algorithm: HashAlgorithm::Csum16, inputs, .. } => &inputs[..],
        _ => &[],
    };
    inputs.iter().filter_map(|input| match &input.value {
        HashValue::Expr(expr) => match expr.kind {
            ExprKind::Field(HeaderRef::Fixed(header), _) => Some(header),
            _ => None,
        },
        HashValue::Varbit(..) => None,
    })
}

impl Scope<'_, '_> {
    /// Records that bits of a header are stored.
    pub(crate) fn note_store(&mut self, header: HeaderId, bits: Bits) {
        let is_narrow = bits.offset.is_multiple_of(8) && matches!(bits.width, 8 | 16 | 32);
        if is_narrow && !bits.after_varbit && self.emitter.summed.contains(&header) {
            self.known.stored.insert((header, bits.offset / 8, bits.width / 8));
        }
    }

    /// The stores to these bytes of a header, counted from the first of them.
    pub(crate) fn narrow_stores(&self, header: &HeaderRef, range: Range<u32>) -> Vec<NarrowStore> {
        let HeaderRef::Fixed(header) = header else { return Vec::new() };
        let stores = self.known.stored.iter().filter(|(id, at, _)| id == header && range.contains(at));
        stores.map(|&(_, at, bytes)| NarrowStore { at: at - range.start, bytes }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_end_where_stores_begin_and_end() {
        let stores = [NarrowStore { at: 2, bytes: 2 }, NarrowStore { at: 8, bytes: 1 }];
        let (mut at, mut loads) = (0, Vec::new());
        while at < 20 {
            loads.push(NarrowStore::load_bytes(&stores, at, 20 - at));
            at += loads[loads.len() - 1];
        }
        assert_eq!(loads, [2, 2, 4, 1, 8, 2, 1]);
    }
}
