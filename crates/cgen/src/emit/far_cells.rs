//! Cells of large arrays of counters and meters, prefetched as soon as their index is known.
//!
//! What enters: assignments to variables. What leaves: a prefetch behind each that is the index of a large array.
//!
//! ```text
//! meta.sender = number                 meta.sender = number
//!                             ->       prefetch uploaded[meta.sender]
//! ...                                  ...
//! count uploaded[meta.sender]          count uploaded[meta.sender]
//! ```
//!
//! Between the two often lies a lookup, and with it the rest of the burst: time enough for the memory. Where there is
//! no such time, the prefetch costs next to nothing. Only a variable that is the index as it is counts, not an
//! expression of several.

use super::header::number;
use super::scope::Scope;
use crate::plan::state::walk_program;
use base::OrderedMap;
use ir::{ExprKind, Place, Program, StmtKind, VarId};
use lir::{EnvArray, Expr as C, Stmt as S, binary, call, dot, index, unary};

/// The bytes from which an array does not fit the nearest cache.
const FAR_BYTES: u64 = 64 << 10;

/// A large array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    array: EnvArray,
    number: u32,
}

/// The large arrays that each variable is the index of.
pub(super) fn indexed(program: &Program) -> OrderedMap<VarId, Vec<Array>> {
    let mut found: OrderedMap<VarId, Vec<Array>> = OrderedMap::new();
    walk_program(program, &mut |stmt| {
        let (array, number, position, bytes) = match &stmt.kind {
            StmtKind::Count { counter, index } => {
                let bytes = program.counters[*counter].size.saturating_mul(size_of::<crate::abi::Count>() as u64);
                (EnvArray::Counters, number(*counter), index, bytes)
            }
            StmtKind::ExecuteMeter { meter, index, .. } => {
                let bytes = program.meters[*meter].size.saturating_mul(crate::abi::METER_CELL_BYTES as u64);
                (EnvArray::Meters, number(*meter), index, bytes)
            }
            _ => return,
        };
        let array = Array { array, number };
        if let ExprKind::Var(var) = &position.kind
            && bytes > FAR_BYTES
        {
            let arrays = found.entry(*var).or_default();
            if !arrays.contains(&array) {
                arrays.push(array);
            }
        }
    });
    found
}

impl Scope<'_, '_> {
    /// Prefetches the cells that a place is the index of, to which a value was assigned.
    pub(crate) fn fetch_cells(&mut self, dst: &Place, src: &ir::Expr) {
        let (Place::Var(var), false) = (dst, matches!(src.kind, ExprKind::Const(_))) else { return };
        let Some(arrays) = self.emitter.indexed.get(var) else { return };
        let ty = self.emitter.program.vars[*var].ty;
        let position = self.number(&ir::Expr { ty, kind: ExprKind::Var(*var) });
        let position = self.atom(position);
        for &Array { array, number } in arrays {
            let item = || C::Env(array, number);
            let fetch = match array {
                EnvArray::Meters => call("ws_fetch_meter", vec![unary("&", item()), position.clone()]),
                _ => call("ws_fetch_count", vec![unary("&", index(dot(item(), "cells"), position.clone()))]),
            };
            let exists = binary("<", position.clone(), dot(item(), "size"));
            self.push(S::If(exists, vec![S::Eval(fetch)], Vec::new()));
        }
    }
}
