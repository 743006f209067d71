//! Control blocks: the batch stages of their graph, each over all packets of the burst that reach it.
//!
//! A stage's packets are the bits of a mask. They are processed in order, so that packets keep their order within a
//! stage. Where a packet reaches a table, a row of key words is written; the table is looked up once for all rows, and
//! the stage after it begins with the results, in the same order. Within a stage packets go from node to node by
//! `goto`.

use super::Emitter;
use super::expr::Value;
use super::externs::env_constants;
use super::fast_path::{LiveSet, PathStage, copies_emitted, saved_name};
use super::scope::{EarlyExits, Jump, Known, Scope, StateReads};
use super::table::LookupResult;
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, index, int, long,
    name, unary,
};
use crate::plan::fast_path::FastPath;
use crate::plan::graph::{End, Graph, Node, NodeId};
use base::index::Id as _;
use base::limits::BURST_PACKETS_MAX;
use ir::Source;
use ir::{BlockId, Body, PointId, Stmt, StmtKind, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The body of a control's function.
pub(crate) fn emit(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<S> {
    if !emitter.plan.blocks[block].cut {
        return packet_by_packet(emitter, block, body);
    }
    let words = |table| emitter.plan.cut_words(table);
    let graph = Graph::new(emitter.program, body, &words);
    emit_graph(emitter, block, &graph, None)
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

/// Declarations of the packet, its context, and the parts of it that the code uses.
pub(crate) fn packet_declarations(scope: &Scope<'_, '_>, position: C) -> Vec<S> {
    let mut out = vec![declare("struct ws_packet *const ", "p WS_UNUSED", index(name("packets"), position.clone()))];
    if let Some(path) = scope.path.filter(|path| path.fast_path.in_place) {
        let frame = binary("+", name("frames"), position.clone());
        let ty = if scope.changes_frames() { "struct ws_frame *const " } else { "const struct ws_frame *const " };
        out.push(declare(ty, "frame WS_UNUSED", frame));
        out.push(declare("uint8_t *const ", "bytes WS_UNUSED", arrow(name("frame"), "bytes")));
        let saved = binary("+", name("saved"), position);
        out.push(declare(&format!("struct {} *const ", saved_name(path.fast_path)), "c WS_UNUSED", saved));
    } else {
        let context = cast("void *", binary("+", name("p"), int(1)));
        out.push(declare("struct context *const ", "c WS_UNUSED", context));
    }
    if scope.path.is_some_and(|path| path.stage == 0) {
        let nowhere = || if scope.is_in_place() { name("bytes") } else { cast("uint8_t *", name("p")) };
        out.extend(scope.declarations(|_| long(0), |_| nowhere()));
    } else {
        let valid = |word| scope.valid_word_entering(word, &scope.entered);
        out.extend(scope.declarations(valid, |header| scope.pointer_entering(header, &scope.entered)));
    }
    out.extend(scope.deparser_declarations());
    out
}

/// The parameters of a part's function.
pub(crate) const PART_PARAMS: &str =
    "const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets WS_UNUSED, uint32_t i WS_UNUSED";

/// A part of a divided control: a function that returns whether the packet continues to the next.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) code: Vec<S>,
    /// Whether the packet may end there.
    ends: bool,
}

/// The code of a part.
pub(crate) fn part(emitter: &Emitter<'_>, block: BlockId, parts: &[&[Stmt]], number: usize) -> Part {
    let mut scope = Scope::new(emitter, block, "done", 0);
    if number == 0 {
        scope.reset_local_headers();
        scope.reset_spilled();
    }
    scope.stmts(parts[number]);
    let ends = scope.used.exit;
    let mut code = packet_declarations(&scope, name("i"));
    let write_back = scope.write_back();
    if ends {
        code.push(declare("uint32_t", "goes_on", int(0)));
    }
    code.append(&mut scope.out);
    if ends {
        code.extend([assign(name("goes_on"), int(1)), S::Label(scope.exit.clone())]);
    }
    code.extend(write_back);
    code.push(S::Return(if ends { name("goes_on") } else { int(1) }));
    Part { name: format!("block_{}_part_{number}", block.index()), code, ends }
}

/// The body of a divided control's function: each packet runs through the parts.
pub(crate) fn emit_calls(emitter: &Emitter<'_>, body: &Body, parts: &[Part]) -> Vec<S> {
    let (last, next) = (parts.len().saturating_sub(1), "next");
    let call_of = |(position, part): (usize, &Part)| {
        let call = call(&part.name, vec![name("env"), name("packets"), name("i")]);
        match part.ends && position < last {
            true => S::If(unary("!", call), vec![S::Goto(next.into())], Vec::new()),
            false => S::Eval(cast("void", call)),
        }
    };
    let mut code: Vec<S> = parts.iter().enumerate().map(call_of).collect();
    code.push(S::Label(next.into()));
    guarded(emitter, body, for_each_packet(code))
}

fn packet_by_packet(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<S> {
    let mut scope = Scope::new(emitter, block, "done", 0);
    scope.reset_local_headers();
    scope.reset_spilled();
    scope.stmts(body);
    guarded(emitter, body, for_each_packet(packet_code(scope, name("i"))))
}

/// The body of the function that decides about packets at a point.
pub(crate) fn emit_decisions(emitter: &Emitter<'_>, point: PointId, body: &Body) -> Vec<S> {
    let mut scope = Scope::new(emitter, BlockId::from_index(0), "done", 0);
    scope.point = point.index() as u32;
    scope.stmts(body);
    let first = assign(arrow(name("p"), "decided"), long(0));
    vec![for_each_packet(stage_code(&mut scope, name("i"), vec![first]))]
}

/// A control's loop, within the guard if it needs one.
fn guarded(emitter: &Emitter<'_>, body: &Body, all: S) -> Vec<S> {
    let words = |table| emitter.plan.cut_words(table);
    let graph = Graph::new(emitter.program, body, &words);
    let is_guarded = graph.guarded_for(emitter.program, &emitter.plan.sharing, None).is_some();
    let mut out = vec![all];
    if is_guarded {
        out.insert(0, enter(emitter, None));
        out.push(leave());
    }
    out
}

/// Takes the guard for the packets of a burst.
fn enter(emitter: &Emitter<'_>, fast_path: Option<&FastPath>) -> S {
    let (packets, count) = (|| name("packets"), || name("count"));
    S::Eval(match (emitter.plan.sharing.time, fast_path) {
        (None, _) => call("ws_enter", vec![name("env")]),
        (Some(_), Some(FastPath { in_place: true, .. })) => {
            call("ws_enter_frames", vec![name("env"), name("frames"), count()])
        }
        (Some(_), Some(_)) => call("ws_enter_packets", vec![name("env"), packets(), count()]),
        (Some(_), None) => {
            let slot = int(emitter.program.architecture.slot_from(Source::IngressTime).unwrap_or(0));
            call("ws_enter_block", vec![name("env"), packets(), count(), slot])
        }
    })
}

fn leave() -> S {
    S::Eval(call("ws_leave", vec![name("env")]))
}

/// The code that a packet runs through: declarations, the scope's statements, the end.
fn packet_code(mut scope: Scope<'_, '_>, position: C) -> Vec<S> {
    stage_code(&mut scope, position, Vec::new())
}

/// The same for a stage that packets may enter at other nodes than the first.
fn stage_code(scope: &mut Scope<'_, '_>, position: C, elsewhere: Vec<S>) -> Vec<S> {
    let mut body = packet_declarations(scope, position.clone());
    let ends_all = scope.path.is_some_and(|path| path.ends_all);
    if ends_all {
        body.push(declare("uint32_t", "verdict", int(0)));
    }
    body.extend(elsewhere);
    let (write_back, used_exit, exit) = (scope.write_back(), scope.used.exit, scope.exit.clone());
    body.append(&mut scope.out);
    if used_exit {
        body.push(S::Label(exit));
    }
    if ends_all {
        body.push(assign(index(name("verdicts"), position), name("verdict")));
    }
    body.extend(write_back);
    body
}

/// The C variable with the mask of a node's packets.
pub(crate) fn mask_name(node: NodeId) -> String {
    format!("at{node}")
}

/// The C label of a node.
pub(crate) fn node_label(node: NodeId) -> String {
    format!("node{node}")
}

/// The stages of a graph.
pub(crate) struct BatchStages<'n, 'e> {
    emitter: &'n Emitter<'e>,
    block: BlockId,
    graph: &'n Graph<'n>,
    /// The fast path, if the graph is of it.
    fast_path: Option<&'n FastPath>,
    /// The result of the liveness analysis, in the second pass.
    liveness: Option<&'n Liveness>,
    /// How packets leave the fast path at the start of each node.
    early_exits: Rc<[EarlyExits<'n>]>,
    /// The facts that hold at the start of each node.
    known: Vec<Known>,
    /// The code of each stage.
    written: Vec<Written<'n, 'e>>,
}

/// A stage's code, without the loop around it.
struct Written<'n, 'e> {
    scope: Scope<'n, 'e>,
    /// The nodes at which packets enter, and the facts that hold there.
    entered: Vec<(NodeId, Known)>,
    /// Nodes of later stages that packets go to.
    next: BTreeSet<NodeId>,
}

/// Liveness analysis: how stages are entered, and what is live at their ends. The code of a graph is generated twice:
/// the first pass is analysed, and the second generates less code by the result.
pub(crate) struct Liveness {
    /// For each stage that packets enter, what is live at its end.
    live_out: Vec<LiveSet>,
    /// For each of them, whether all packets end there.
    ends_all: Vec<bool>,
    /// Variables of more than 64 bits whose initial value may be read.
    started: BTreeSet<VarId>,
    /// The parts of a packet's saved state that any of them reads where headers are relocated in place.
    state_reads: StateReads,
    /// The nodes at which packets enter stages.
    entered: BTreeSet<NodeId>,
    /// Those among them that begin with a table's result and are the only entry of their stage.
    lists: BTreeSet<NodeId>,
    /// Those of these that all packets of the burst reach.
    whole_burst: BTreeSet<NodeId>,
}

/// The code of a graph's stages.
pub(crate) fn emit_graph(
    emitter: &Emitter<'_>,
    block: BlockId,
    graph: &Graph<'_>,
    fast_path: Option<&FastPath>,
) -> Vec<S> {
    let mut first = BatchStages::new(emitter, block, graph, fast_path, None);
    first.emit();
    let liveness = first.liveness();
    BatchStages::new(emitter, block, graph, fast_path, Some(&liveness)).emit()
}

impl<'n, 'e> BatchStages<'n, 'e> {
    fn new(
        emitter: &'n Emitter<'e>,
        block: BlockId,
        graph: &'n Graph<'n>,
        fast_path: Option<&'n FastPath>,
        liveness: Option<&'n Liveness>,
    ) -> Self {
        let known = graph.nodes.iter().map(|_| Known::unreachable()).collect();
        let exits = |node: &Node<'n>| fast_path.map_or(Vec::new(), |fast_path| early_exits(fast_path, node));
        let early_exits = graph.nodes.iter().map(exits).collect();
        BatchStages { emitter, block, graph, fast_path, liveness, early_exits, known, written: Vec::new() }
    }

    fn liveness(&self) -> Liveness {
        let mut at_entry: BTreeMap<NodeId, LiveSet> = BTreeMap::new();
        let mut live_out = Vec::new();
        for stage in self.written.iter().rev() {
            let mut after = LiveSet::default();
            for next in stage.next.iter().filter_map(|next| at_entry.get(next)) {
                after.words.extend(&next.words);
                after.vars.extend(&next.vars);
                after.sums.extend(&next.sums);
                after.may_punt |= next.may_punt;
            }
            for (entry, known) in &stage.entered {
                at_entry.insert(*entry, stage.scope.live_in(known, &after));
            }
            live_out.push(after);
        }
        live_out.reverse();
        let only = |stage: &Written<'_, '_>| match stage.entered[..] {
            [(node, _)] => self.graph.nodes[node].head.is_some().then_some(node),
            _ => None,
        };
        let lists: BTreeSet<NodeId> = self.written.iter().filter_map(only).collect();
        let ends_all = |stage: &Written<'_, '_>| stage.scope.used.verdicts == stage.scope.used.leaves;
        let ends_all = self.written.iter().map(ends_all).collect();
        let mut state_reads = StateReads::default();
        for stage in &self.written {
            state_reads.add(&stage.scope.state_reads(stage.entered.iter().map(|(_, known)| known)));
        }
        let first = self.written.first().and_then(|stage| at_entry.get(&stage.entered.first()?.0));
        let started = first.map_or(BTreeSet::new(), |live_out| live_out.vars.clone());
        let entered = at_entry.into_keys().collect();
        Liveness { live_out, ends_all, started, state_reads, entered, whole_burst: self.whole_burst(&lists), lists }
    }

    /// The lists that hold the whole burst: as long as each stage passes all packets to the next.
    fn whole_burst(&self, lists: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let next = |stage: &Written<'_, '_>| match stage.next.iter().collect::<Vec<_>>()[..] {
            [&next] if stage.scope.used.leaves == stage.scope.used.handed_on => Some(next),
            _ => None,
        };
        let is_next = |node: NodeId, stage: &Written<'_, '_>| stage.entered.iter().any(|(entry, _)| *entry == node);
        let mut whole_burst = BTreeSet::new();
        for (position, stage) in self.written.iter().enumerate() {
            let Some(node) = next(stage).filter(|node| lists.contains(node)) else { break };
            whole_burst.insert(node);
            if !self.written.get(position + 1).is_some_and(|stage| is_next(node, stage)) {
                break;
            }
        }
        whole_burst
    }

    fn emit(&mut self) -> Vec<S> {
        let mut out = Vec::new();
        let burst = BURST_PACKETS_MAX as u32;
        let start = self.graph.stages[0][0];
        for &entry in self.graph.entries.iter().flatten().filter(|&&entry| entry != start && self.is_entered(entry)) {
            if !self.is_list(entry) {
                out.push(declare("uint64_t", mask_name(entry), long(0)));
            } else if !self.is_whole_burst(entry) {
                out.push(declare_array("uint8_t", list_name(entry), burst, None));
            }
        }
        let (mut needs_entries, mut needs_packed) = (false, false);
        for &node in self.graph.stages.iter().flatten() {
            if let Some(apply) = &self.graph.nodes[node].head
                && self.is_entered(node)
            {
                let words = self.emitter.plan.tables[apply.table].key.words() as u32;
                // A table without a key has rows of no words.
                let zero = (words == 0).then(|| C::List(vec![long(0)]));
                out.push(declare_array("uint64_t", keys_name(node), words.max(1) * burst, zero));
                out.push(match self.is_whole_burst(node) {
                    true => declare("const uint32_t", rows_name(node), name("count")),
                    false => declare("uint32_t", rows_name(node), int(0)),
                });
                let table = index(arrow(name("env"), "tables"), int(super::header::number(apply.table)));
                if let Some([is_far, _]) = self.emitter.plan.tables[apply.table].fetch() {
                    let is_far = call(is_far, vec![unary("&", table.clone())]);
                    out.push(declare("const uint32_t", far_name(node), is_far));
                }
                match self.emitter.plan.tables[apply.table].packed_results {
                    Some(_) => {
                        let arguments = vec![unary("&", table), name(super::table::pack_function(apply.table))];
                        let default = call("ws_default_packed_result", arguments);
                        out.push(declare("const uint32_t", none_name(node), default));
                        needs_packed = true;
                    }
                    None => needs_entries = true,
                }
            }
        }
        if needs_entries {
            out.push(declare_array(super::table::ENTRY, "entries", burst, None));
        }
        if needs_packed {
            out.push(declare_array("uint32_t", "packed_results", burst, None));
        }
        self.known[start] = Known::nothing();
        let mut next_name = 0;
        let guarded = self.graph.guarded_for(self.emitter.program, &self.emitter.plan.sharing, self.fast_path);
        for position in 0..self.graph.stages.len() {
            let written = self.written.len();
            self.stage(position, &mut next_name, &mut out);
            if guarded.as_ref().is_some_and(|stages| *stages.start() == position) {
                // The stage's loop is the last statement, if there is one; the lookups before it may be outside of the
                // guard.
                let has_loop = self.liveness.is_some() && self.written.len() > written;
                out.insert(out.len() - usize::from(has_loop), enter(self.emitter, self.fast_path));
            }
            if guarded.as_ref().is_some_and(|stages| *stages.end() == position) {
                out.push(leave());
            }
        }
        if self.fast_path.is_some() {
            let used = self.written.iter_mut().flat_map(|written| std::mem::take(&mut written.scope.used.env_items));
            out.splice(..0, env_constants(used.collect()));
        }
        out
    }

    fn is_entered(&self, node: NodeId) -> bool {
        self.liveness.is_none_or(|liveness| liveness.entered.contains(&node))
    }

    fn is_list(&self, node: NodeId) -> bool {
        self.liveness.is_some_and(|liveness| liveness.lists.contains(&node))
    }

    fn is_whole_burst(&self, node: NodeId) -> bool {
        self.liveness.is_some_and(|liveness| liveness.whole_burst.contains(&node))
    }

    fn scope(&self, position: usize, first: NodeId, next_name: u32) -> Scope<'n, 'e> {
        let mut scope = Scope::new(self.emitter, self.block, format!("done{first}"), next_name);
        scope.stage = self.graph.stages[position].iter().copied().collect();
        scope.path = self.fast_path.map(|fast_path| PathStage {
            fast_path,
            stage: position,
            live_out: self.liveness.map(|liveness| &liveness.live_out[self.written.len()]),
            state_reads: self.liveness.map(|liveness| &liveness.state_reads),
            started: self.liveness.map(|liveness| &liveness.started),
            ends_all: self.liveness.is_some_and(|liveness| liveness.ends_all[self.written.len()]),
        });
        scope.ends = (0..self.graph.nodes.len()).filter(|&id| self.graph.is_end(id)).collect();
        scope.staged = self.fast_path.is_some_and(|fast_path| copies_emitted(self.emitter, fast_path));
        scope.early_exits = Rc::clone(&self.early_exits);
        scope.lists = self.liveness.map_or_else(BTreeSet::new, |liveness| liveness.lists.clone());
        scope
    }

    fn stage(&mut self, position: usize, next_name: &mut u32, out: &mut Vec<S>) {
        let (stage, entries) = (&self.graph.stages[position], &self.graph.entries[position]);
        // What was written before is in memory, if it is live.
        entries.iter().for_each(|&entry| self.known[entry].written.clear());
        let entered = stage.iter().filter(|id| entries.contains(id) && self.known[**id].reachable);
        let entered: Vec<(NodeId, Known)> = entered.map(|&id| (id, self.known[id].clone())).collect();
        let Some((first, known)) = entered.first().cloned() else { return };
        let mut scope = self.scope(position, first, *next_name);
        scope.entered = known;
        let mut next = BTreeSet::new();
        for &id in stage {
            if !self.known[id].reachable {
                continue;
            }
            if id != first {
                scope.push(S::Label(node_label(id)));
            }
            scope.known = self.known[id].clone();
            scope.forget_line();
            if position == 0 && id == first {
                match self.fast_path {
                    Some(_) => scope.begin_path(),
                    None => {
                        scope.reset_local_headers();
                        scope.reset_spilled();
                    }
                }
            }
            self.node(id, &mut scope, out);
            for (target, known) in std::mem::take(&mut scope.transfers) {
                self.known[target].join(&known);
                next.insert(target);
            }
        }
        *next_name = scope.next_name;
        next.retain(|id| !stage.contains(id));
        if self.liveness.is_some() {
            out.push(self.loop_of(position, &mut scope, &entered));
        }
        self.written.push(Written { scope, entered, next });
    }

    /// Adds the loop over the stage's packets.
    fn loop_of(&self, position: usize, scope: &mut Scope<'n, 'e>, entered: &[(NodeId, Known)]) -> S {
        let elsewhere = entered.iter().skip(1).map(|(entry, known)| {
            let mut entering = scope.enter_by(known);
            entering.push(S::Goto(node_label(*entry)));
            S::If(binary("&", name(mask_name(*entry)), name("bit")), entering, Vec::new())
        });
        let elsewhere = elsewhere.collect();
        let code = stage_code(scope, name("i"), elsewhere);
        match entered {
            [_] if position == 0 => for_each_in_burst(code),
            [(node, _)] if self.is_list(*node) => for_each_in_list(*node, self.is_whole_burst(*node), code),
            _ => for_each_in_masks(entered.iter().map(|(node, _)| *node), code),
        }
    }

    /// Generates a node; statements before its stage's loop go to `before`.
    fn node(&self, id: NodeId, scope: &mut Scope<'_, '_>, before: &mut Vec<S>) {
        let node = &self.graph.nodes[id];
        scope.labels = node.leaves.iter().map(|(&label, &node)| (label, Jump::Node(node))).collect();
        if let Some(apply) = &node.head {
            let rows = name(rows_name(id));
            let row = if self.is_list(id) { name("row") } else { rows.clone() };
            let is_packed = self.emitter.plan.tables[apply.table].packed_results.is_some();
            let results = if is_packed { "packed_results" } else { "entries" };
            let lookup = scope.lookup(apply.table, name(keys_name(id)), rows.clone(), name(results));
            before.push(S::If(rows.clone(), lookup.to_vec(), Vec::new()));
            let result = index(name(results), row);
            let result = if is_packed {
                let packed_result = conditional(binary("!=", result.clone(), int(0)), result, name(none_name(id)));
                scope.push(declare("const uint32_t", "packed_result WS_UNUSED", packed_result));
                LookupResult::Packed(name("packed_result"))
            } else {
                scope.push(declare("const struct ws_entry *const ", "entry WS_UNUSED", result));
                LookupResult::Entry(name("entry"))
            };
            if !self.is_list(id) {
                before.push(S::Assign(rows.clone(), "=", int(0)));
                scope.push(S::Assign(rows, "+=", int(1)));
            }
            scope.comment(apply.stmt.span);
            scope.table_results(apply.table, apply.hit, apply.action, &result);
        }
        scope.sequence(&node.code);
        if scope.known.reachable {
            self.end(&node.end, scope);
        }
    }

    fn end(&self, end: &End<'_>, scope: &mut Scope<'_, '_>) {
        match end {
            End::Done if self.fast_path.is_some() => scope.end_path(),
            End::Done => scope.leave(),
            End::Goto(node) => scope.transfer(*node),
            End::Branch { stmt, cond, yes, no } => {
                scope.comment(stmt.span);
                let condition = scope.narrow(cond);
                // A branch that is never taken would be one more entry of its target.
                if let C::Long(truth) = condition {
                    scope.transfer(if truth != 0 { *yes } else { *no });
                    return;
                }
                let before = scope.known.clone();
                scope.assume(cond, true);
                let to_yes = scope.take(|scope| scope.transfer(*yes));
                scope.known = before;
                scope.assume(cond, false);
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
                let is_whole_burst = self.is_whole_burst(*next);
                let rows = if is_whole_burst { name("i") } else { name(rows_name(*next)) };
                if words > 0 {
                    let row = scope.fresh("row");
                    let place = binary("+", name(keys_name(*next)), binary("*", rows.clone(), int(words)));
                    scope.push(declare("uint64_t *const ", row.clone(), place));
                    scope.key_row(apply.table, &name(row.clone()));
                    if let Some([_, fetch]) = scope.emitter.plan.tables[apply.table].fetch() {
                        let table = scope.env_item("tables", apply.table);
                        let key = index(name(row), int(0));
                        let fetch = S::Eval(call(fetch, vec![unary("&", table), key]));
                        scope.push(S::If(name(far_name(*next)), vec![fetch], Vec::new()));
                    }
                }
                if self.is_list(*next) && !is_whole_burst {
                    let place = index(name(list_name(*next)), rows.clone());
                    scope.push(assign(place, cast("uint8_t", name("i"))));
                }
                if !is_whole_burst {
                    scope.push(S::Assign(rows, "+=", int(1)));
                }
                scope.transfer(*next);
            }
        }
    }
}

/// The leading conditions of a node under which packets leave the fast path.
fn early_exits<'n>(fast_path: &FastPath, node: &Node<'n>) -> EarlyExits<'n> {
    let exit = |stmt: &&'n Stmt| match &stmt.kind {
        StmtKind::If { cond, then_body, else_body } if else_body.is_empty() => match &then_body[..] {
            [Stmt { kind: StmtKind::Leave(label), .. }] => fast_path.exit_at(*label).map(|_| (cond, *label)),
            _ => None,
        },
        _ => None,
    };
    if node.head.is_some() { Vec::new() } else { node.code.iter().map_while(exit).collect() }
}

/// The loop over all packets of the burst.
fn for_each_in_burst(code: Vec<S>) -> S {
    let mut body = vec![declare("const uint64_t", "bit WS_UNUSED", binary("<<", long(1), name("i")))];
    body.extend(code);
    for_each_packet(body)
}

/// The loop over the packets in the list of a table's node, or over the whole burst, if that is the list.
fn for_each_in_list(node: NodeId, is_whole_burst: bool, code: Vec<S>) -> S {
    let place = if is_whole_burst { name("row") } else { index(name(list_name(node)), name("row")) };
    let i = declare("const uint32_t", "i WS_UNUSED", place);
    let mut body = vec![i, declare("const uint64_t", "bit WS_UNUSED", binary("<<", long(1), name("i")))];
    body.extend(code);
    S::For {
        first: Box::new(declare("uint32_t", "row", int(0))),
        condition: binary("<", name("row"), name(rows_name(node))),
        step: Box::new(S::Assign(name("row"), "+=", int(1))),
        body,
    }
}

/// The loop over the packets that enter a stage, in order.
fn for_each_in_masks(entries: impl Iterator<Item = NodeId>, code: Vec<S>) -> S {
    let masks = entries.map(|entry| name(mask_name(entry)));
    let all = masks.reduce(|all, mask| binary("|", all, mask)).unwrap_or(long(0));
    let mut body = vec![
        declare("const uint64_t", "bit WS_UNUSED", binary("&", name("todo"), binary("-", long(0), name("todo")))),
        declare("const uint32_t", "i", cast("uint32_t", call("__builtin_ctzll", vec![name("todo")]))),
    ];
    body.extend(code);
    S::For {
        first: Box::new(declare("uint64_t", "todo", all)),
        condition: binary("!=", name("todo"), long(0)),
        step: Box::new(S::Assign(name("todo"), "&=", binary("-", name("todo"), long(1)))),
        body,
    }
}

/// The C array with the positions of the packets that are looked up in the table whose results start a node.
fn list_name(node: NodeId) -> String {
    format!("list{node}")
}

/// The C array with the key rows of the table whose results start a node.
fn keys_name(node: NodeId) -> String {
    format!("keys{node}")
}

/// The C variable that counts these rows.
fn rows_name(node: NodeId) -> String {
    format!("rows{node}")
}

/// The C constant that is 1 if slots are prefetched of the table whose results start a node.
fn far_name(node: NodeId) -> String {
    format!("far{node}")
}

/// The C constant with the packed result of the default action of the table whose results start a node.
fn none_name(node: NodeId) -> String {
    format!("none{node}")
}

impl Scope<'_, '_> {
    /// Sends the packet to the node of the case that has the value.
    fn switch_to_nodes(&mut self, value: &ir::Expr, cases: &[(&[base::Bits], NodeId)], default: NodeId) {
        let before = self.known.clone();
        let chosen = self.value(value);
        let arm = |scope: &mut Self, node| {
            scope.known = before.clone();
            scope.take(|scope| scope.transfer(node))
        };
        let to_default = arm(self, default);
        if let Value::Narrow(chosen) = chosen {
            let arms = cases
                .iter()
                .map(|(values, node)| {
                    let constants = values.iter().map(|value| long(value.low_u64())).collect();
                    (constants, arm(self, *node))
                })
                .collect();
            self.push(S::Switch { value: cast("uint64_t", chosen), cases: arms, default: to_default });
            return;
        }
        let Value::Wide(chosen) = chosen else { return };
        let mut rest = to_default;
        for (values, node) in cases.iter().rev() {
            let arm = arm(self, *node);
            let mut condition = None;
            for value_of_case in *values {
                let constant = self.wide(&ir::Expr::constant(value.ty, value_of_case.clone()));
                let equal = super::expr::compare_wide("==", value.ty, chosen.clone(), constant);
                condition = Some(match condition {
                    Some(other) => binary("||", other, equal),
                    None => equal,
                });
            }
            rest = vec![S::If(condition.unwrap_or(long(0)), arm, rest)];
        }
        self.out.extend(rest);
    }
}
