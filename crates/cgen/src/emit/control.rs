//! Control blocks: the nodes of their graph, each over all packets of the burst that reach it.
//!
//! A node's packets are the bits of a mask. They are taken in order, so that packets keep their order within a node. A node
//! that ends at a table writes a row of key words for each packet; the table is asked once for all rows, and the node after it
//! begins with the answers, in the same order.

use super::scope::{Jump, Known, Scope, valid_in_context};
use super::{Emitter, header::at};
use crate::ctree::{Expr as C, Stmt as S, arrow, binary, call, cast, declare, declare_array, index, int, long, name};
use crate::plan::graph::{End, Graph, NodeId};
use base::limits::BURST_PACKETS_MAX;
use ir::{BlockId, Body};

/// The body of a control's function.
pub(crate) fn emit(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<S> {
    if !emitter.plan.blocks[block].cut {
        return packet_by_packet(emitter, block, body);
    }
    let words = |table| emitter.plan.tables[table].key.words();
    let graph = Graph::new(emitter.program, body, &words);
    Nodes { emitter, block, graph: &graph, known: graph.nodes.iter().map(|_| Known::unreachable()).collect() }.emit()
}

/// `for (i < count) { body }`.
pub(crate) fn for_each_packet(body: Vec<S>) -> S {
    S::For {
        first: Box::new(declare("uint32_t", "i", int(0))),
        condition: binary("<", name("i"), name("count")),
        step: Box::new(S::Assign(name("i"), "+=", int(1))),
        body,
    }
}

/// The packet, its context, and what the code uses of it.
pub(crate) fn packet_declarations(scope: &Scope<'_, '_>, position: C) -> Vec<S> {
    let mut out = vec![
        declare("struct ws_packet *const ", "p WS_UNUSED", index(name("packets"), position)),
        declare("struct context *const ", "c WS_UNUSED", cast("void *", binary("+", name("p"), int(1)))),
    ];
    out.extend(scope.declarations(valid_in_context, |slot| at(index(arrow(name("c"), "offset"), int(slot)))));
    out
}

fn packet_by_packet(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<S> {
    let mut scope = Scope::new(emitter, block, "done", 0);
    scope.reset_local_headers();
    scope.stmts(body);
    vec![for_each_packet(packet_code(scope, name("i"), Vec::new()))]
}

/// What a packet runs through: declarations, `first`, the scope's statements, the end.
fn packet_code(scope: Scope<'_, '_>, position: C, first: Vec<S>) -> Vec<S> {
    let mut body = packet_declarations(&scope, position);
    body.extend(first);
    let (write_back, used_exit, exit) = (scope.write_back(), scope.used.exit, scope.exit);
    body.extend(scope.out);
    if used_exit {
        body.push(S::Label(exit));
    }
    body.extend(write_back);
    body
}

/// The C variable with the mask of a node's packets.
pub(crate) fn mask_name(node: NodeId) -> String {
    format!("at{node}")
}

struct Nodes<'n, 'e> {
    emitter: &'n Emitter<'e>,
    block: BlockId,
    graph: &'n Graph<'n>,
    /// What is known where each node begins.
    known: Vec<Known>,
}

impl Nodes<'_, '_> {
    fn emit(mut self) -> Vec<S> {
        let order = &self.graph.order;
        let mut out = Vec::new();
        for (position, &node) in order.iter().enumerate() {
            let start = if position == 0 { call("ws_all", vec![name("count")]) } else { long(0) };
            out.push(declare("uint64_t", mask_name(node), start));
        }
        let words = order.iter().filter_map(|&node| match &self.graph.nodes[node].end {
            End::Apply { apply, .. } => Some(self.emitter.plan.tables[apply.table].key.words() as u32),
            _ => None,
        });
        let burst = BURST_PACKETS_MAX as u32;
        out.push(declare_array("uint64_t", "keys", words.max().unwrap_or(0).max(1) * burst, None));
        out.push(declare_array(super::table::ENTRY, "entries", burst, None));
        self.known[order[0]] = Known::nothing();
        let mut next_name = 0;
        for (position, &node) in order.iter().enumerate() {
            self.node(node, position == 0, &mut next_name, &mut out);
        }
        out
    }

    fn node(&mut self, id: NodeId, is_first: bool, next_name: &mut u32, out: &mut Vec<S>) {
        let node = &self.graph.nodes[id];
        let mut scope = Scope::new(self.emitter, self.block, format!("done{id}"), *next_name);
        scope.known = self.known[id].clone();
        scope.labels = self.graph.labels.iter().map(|(&label, &node)| (label, Jump::Node(node))).collect();
        if is_first {
            scope.reset_local_headers();
            scope.reset_waiting();
        }
        if let Some(apply) = &node.head {
            scope.comment(apply.stmt.span);
            scope.table_results(apply.table, apply.hit, apply.action, &name("entry"));
        }
        node.code.iter().for_each(|stmt| scope.stmt(stmt));
        if scope.known.reachable {
            self.end(&node.end, &mut scope);
        }
        *next_name = scope.next_name;
        for (target, known) in &scope.transfers {
            self.known[*target].join(known);
        }

        let mut first = vec![];
        let mut before = vec![];
        if node.head.is_some() {
            before.push(declare("uint32_t", format!("answer{id}"), int(0)));
            let answer = name(format!("answer{id}"));
            first.push(super::table::declare_entry(index(name("entries"), answer.clone())));
            first.push(S::Assign(answer, "+=", int(1)));
        }
        let mut after = vec![];
        if let End::Apply { apply, next } = &node.end {
            before.push(declare("uint32_t", format!("rows{next}"), int(0)));
            let rows = name(format!("rows{next}"));
            let ask = scope.lookup(apply.table, name("keys"), rows.clone(), name("entries"));
            after.push(S::If(rows, vec![ask], Vec::new()));
        }
        out.extend(before);
        out.push(self.for_each_in_mask(id, packet_code(scope, name("i"), first)));
        out.extend(after);
    }

    /// Takes the packets of a node's mask in order.
    fn for_each_in_mask(&self, id: NodeId, code: Vec<S>) -> S {
        let mut body = vec![
            declare("const uint64_t", "bit WS_UNUSED", binary("&", name("todo"), binary("-", long(0), name("todo")))),
            declare("const uint32_t", "i", cast("uint32_t", call("__builtin_ctzll", vec![name("todo")]))),
        ];
        body.extend(code);
        S::For {
            first: Box::new(declare("uint64_t", "todo", name(mask_name(id)))),
            condition: binary("!=", name("todo"), long(0)),
            step: Box::new(S::Assign(name("todo"), "&=", binary("-", name("todo"), long(1)))),
            body,
        }
    }

    fn end(&self, end: &End<'_>, scope: &mut Scope<'_, '_>) {
        match end {
            End::Done => {}
            End::Goto(node) => scope.transfer(*node),
            End::Branch { stmt, cond, yes, no } => {
                scope.comment(stmt.span);
                let condition = scope.narrow(cond);
                let before = scope.known.clone();
                scope.known.assume(cond, true);
                let to_yes = scope.take(|scope| scope.transfer(*yes));
                scope.known = before;
                scope.known.assume(cond, false);
                let to_no = scope.take(|scope| scope.transfer(*no));
                scope.push(S::If(condition, to_yes, to_no));
            }
            End::Switch { stmt, value, cases, default } => {
                scope.comment(stmt.span);
                scope.switch_to_nodes(value, cases, *default);
            }
            End::Apply { apply, next } => {
                scope.comment(apply.stmt.span);
                let words = scope.emitter.plan.tables[apply.table].key.words() as u32;
                let rows = name(format!("rows{next}"));
                if words > 0 {
                    let row = scope.fresh("row");
                    let place = binary("+", name("keys"), binary("*", rows.clone(), int(words)));
                    scope.push(declare("uint64_t *const ", row.clone(), place));
                    scope.key_row(apply.table, &name(row));
                }
                scope.push(S::Assign(rows, "+=", int(1)));
                scope.transfer(*next);
            }
        }
    }
}

impl Scope<'_, '_> {
    /// Sends the packet to the node of the case that has the value.
    fn switch_to_nodes(&mut self, value: &ir::Expr, cases: &[(&[base::Bits], NodeId)], default: NodeId) {
        let to_default = self.take(|scope| scope.transfer(default));
        if value.ty.width() <= 64 {
            let chosen = self.narrow(value);
            let ways = cases
                .iter()
                .map(|(values, node)| {
                    let constants = values.iter().map(|value| long(value.low_u64())).collect();
                    (constants, self.take(|scope| scope.transfer(*node)))
                })
                .collect();
            self.push(S::Switch { value: cast("uint64_t", chosen), cases: ways, default: to_default });
            return;
        }
        let chosen = self.wide(value);
        let mut rest = to_default;
        for (values, node) in cases.iter().rev() {
            let way = self.take(|scope| scope.transfer(*node));
            let mut condition = None;
            for value_of_case in *values {
                let constant = self.wide(&ir::Expr::constant(value.ty, value_of_case.clone()));
                let equal = super::expr::compare_wide("==", value.ty, chosen.clone(), constant);
                condition = Some(match condition {
                    Some(other) => binary("||", other, equal),
                    None => equal,
                });
            }
            rest = vec![S::If(condition.unwrap_or(long(0)), way, rest)];
        }
        self.out.extend(rest);
    }
}
