//! What generated functions do about tables besides lookups: they count them, and pack the results of entries.

use super::table::{hits_name, lookups_name, pack_function};
use crate::ctree::{Stmt as S, arrow, binary, cast, declare, dot, index, int, long, name};
use base::OrderedSet;
use ir::TableId;
use tables::PackedLayout;

/// Adds to a function's body the counters of the tables whose lookups it counts itself.
pub(crate) fn sum_uses(tables: &OrderedSet<TableId>, mut body: Vec<S>) -> Vec<S> {
    let result = body.pop_if(|last| matches!(last, S::Return(_)));
    let sums = |table: &TableId| [(lookups_name(*table), "lookups"), (hits_name(*table), "hits")];
    let begin = tables.iter().flat_map(sums).map(|(sum, _)| declare("uint64_t WS_UNUSED", sum, long(0)));
    let add = |table: &TableId| {
        let uses = index(arrow(name("env"), "uses"), int(super::header::number(*table)));
        sums(table).map(|(sum, member)| S::Assign(dot(uses.clone(), member), "+=", name(sum)))
    };
    let end = tables.iter().flat_map(add);
    begin.chain(body).chain(end).chain(result).collect()
}

/// The head and body of the function that packs the result of a table's entry.
pub(crate) fn pack_of_entry(table: TableId, layout: &PackedLayout, actions: usize) -> (String, Vec<S>) {
    let entry = |member: &str| arrow(name("entry"), member);
    let action = binary("&", entry("action"), int((1 << PackedLayout::ACTION_BITS) - 1));
    let hit = binary("<<", entry("hit"), int(PackedLayout::HIT_BIT));
    let arguments = |action: usize| {
        let add = |&(word, start): &(usize, u32)| {
            let word = cast("uint32_t", index(entry("data"), int(word as u32)));
            S::Assign(name("packed_result"), "|=", binary("<<", word, int(start)))
        };
        layout.params(action).iter().map(add).collect::<Vec<S>>()
    };
    let cases = (0..actions).map(|action| (vec![int(action as u32)], arguments(action)));
    let cases: Vec<_> = cases.filter(|(_, body)| !body.is_empty()).collect();
    let mut body = vec![declare("uint32_t", "packed_result", binary("|", action, hit))];
    if !cases.is_empty() {
        body.push(S::Switch { value: entry("action"), cases, default: Vec::new() });
    }
    body.push(S::Return(name("packed_result")));
    (format!("uint32_t {}(const struct ws_entry *entry)", pack_function(table)), body)
}
