//! Control blocks: the regions of their graph, each over all packets of the burst that reach it.
//!
//! A region's packets are the bits of a mask. They are taken in order, so that packets keep their order within a
//! region. Where a packet comes to a table, a row of key words is written; the table is asked once for all rows, and
//! the region after it begins with the answers, in the same order. Within a region packets go from node to node by
//! `goto`.

use super::Emitter;
use super::expr::Value;
use super::externs::env_constants;
use super::fast_path::{Wanted, Way, kept_name, stages};
use super::scope::{Asked, EarlyExits, Jump, Known, Scope};
use super::table::Answer;
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, index, int, long,
    name, unary,
};
use crate::plan::fast_path::FastPath;
use crate::plan::graph::{End, Graph, Node, NodeId};
use base::index::Id as _;
use base::limits::BURST_PACKETS_MAX;
use ir::Source;
use ir::{BlockId, Body, Stmt, StmtKind, VarId};
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

/// The packet, its context, and what the code uses of it.
pub(crate) fn packet_declarations(scope: &Scope<'_, '_>, position: C) -> Vec<S> {
    let mut out = vec![declare("struct ws_packet *const ", "p WS_UNUSED", index(name("packets"), position.clone()))];
    if let Some(way) = scope.way.filter(|way| way.fast_path.in_place) {
        let frame = binary("+", name("frames"), position.clone());
        let ty = if scope.changes_frames() { "struct ws_frame *const " } else { "const struct ws_frame *const " };
        out.push(declare(ty, "frame WS_UNUSED", frame));
        out.push(declare("uint8_t *const ", "bytes WS_UNUSED", arrow(name("frame"), "bytes")));
        let kept = binary("+", name("kept"), position);
        out.push(declare(&format!("struct {} *const ", kept_name(way.fast_path)), "c WS_UNUSED", kept));
    } else {
        let context = cast("void *", binary("+", name("p"), int(1)));
        out.push(declare("struct context *const ", "c WS_UNUSED", context));
    }
    if scope.way.is_some_and(|way| way.region == 0) {
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

/// A part of a split control: a function that says whether the packet goes on to the next.
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
        scope.reset_waiting();
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

/// The body of a split control's function: each packet goes from part to part.
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
    scope.reset_waiting();
    scope.stmts(body);
    guarded(emitter, body, for_each_packet(packet_code(scope, name("i"))))
}

/// A control's loop, behind the guard if it needs one.
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

/// What a packet runs through: declarations, the scope's statements, the end.
fn packet_code(mut scope: Scope<'_, '_>, position: C) -> Vec<S> {
    region_code(&mut scope, position, Vec::new())
}

/// The same for a region that packets may enter elsewhere than at its begin.
fn region_code(scope: &mut Scope<'_, '_>, position: C, elsewhere: Vec<S>) -> Vec<S> {
    let mut body = packet_declarations(scope, position.clone());
    let ends_all = scope.way.is_some_and(|way| way.ends_all);
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

/// The regions of a graph.
pub(crate) struct Regions<'n, 'e> {
    emitter: &'n Emitter<'e>,
    block: BlockId,
    graph: &'n Graph<'n>,
    /// The fast path, if the graph is its.
    fast_path: Option<&'n FastPath>,
    /// What the survey has found.
    survey: Option<&'n Survey>,
    /// How packets leave the fast path at the start of each node.
    early: Rc<[EarlyExits<'n>]>,
    /// What is known where each node begins.
    known: Vec<Known>,
    /// What was written of each region.
    written: Vec<Written<'n, 'e>>,
}

/// A region's code, before what stands around it.
struct Written<'n, 'e> {
    scope: Scope<'n, 'e>,
    /// By which nodes packets enter, and what is known of them there.
    entered: Vec<(NodeId, Known)>,
    /// Nodes of later regions that packets go to.
    next: BTreeSet<NodeId>,
}

/// What the code of all regions tells: how later ones may be entered, and what they want. So a graph is written twice,
/// and what the first writing found makes the second shorter.
pub(crate) struct Survey {
    /// For each region that packets enter, what is wanted where they go from there.
    wanted: Vec<Wanted>,
    /// For each of them, whether all packets end there.
    ends_all: Vec<bool>,
    /// Variables of more than 64 bits whose value at the start somebody may look at.
    started: BTreeSet<VarId>,
    /// What any of them asks of that is kept of a packet where headers are moved in place.
    asked: Asked,
    /// By which nodes packets enter regions.
    entered: BTreeSet<NodeId>,
    /// Tables' nodes among them that are the only ones of their region.
    lists: BTreeSet<NodeId>,
    /// Those of these to which all packets of the burst come, one after the other.
    everyone: BTreeSet<NodeId>,
}

/// The code of a graph's regions.
pub(crate) fn emit_graph(
    emitter: &Emitter<'_>,
    block: BlockId,
    graph: &Graph<'_>,
    fast_path: Option<&FastPath>,
) -> Vec<S> {
    let mut first = Regions::new(emitter, block, graph, fast_path, None);
    first.emit();
    let survey = first.survey();
    Regions::new(emitter, block, graph, fast_path, Some(&survey)).emit()
}

impl<'n, 'e> Regions<'n, 'e> {
    fn new(
        emitter: &'n Emitter<'e>,
        block: BlockId,
        graph: &'n Graph<'n>,
        fast_path: Option<&'n FastPath>,
        survey: Option<&'n Survey>,
    ) -> Self {
        let known = graph.nodes.iter().map(|_| Known::unreachable()).collect();
        let exits = |node: &Node<'n>| fast_path.map_or(Vec::new(), |fast_path| early_exits(fast_path, node));
        let early = graph.nodes.iter().map(exits).collect();
        Regions { emitter, block, graph, fast_path, survey, early, known, written: Vec::new() }
    }

    fn survey(&self) -> Survey {
        let mut at_entry: BTreeMap<NodeId, Wanted> = BTreeMap::new();
        let mut wanted = Vec::new();
        for region in self.written.iter().rev() {
            let mut after = Wanted::default();
            for next in region.next.iter().filter_map(|next| at_entry.get(next)) {
                after.words.extend(&next.words);
                after.vars.extend(&next.vars);
                after.sums.extend(&next.sums);
                after.left |= next.left;
            }
            for (entry, known) in &region.entered {
                at_entry.insert(*entry, region.scope.wants(known, &after));
            }
            wanted.push(after);
        }
        wanted.reverse();
        let only = |region: &Written<'_, '_>| match region.entered[..] {
            [(node, _)] => self.graph.nodes[node].head.is_some().then_some(node),
            _ => None,
        };
        let lists: BTreeSet<NodeId> = self.written.iter().filter_map(only).collect();
        let ends_all = |region: &Written<'_, '_>| region.scope.used.verdicts == region.scope.used.leaves;
        let ends_all = self.written.iter().map(ends_all).collect();
        let mut asked = Asked::default();
        for region in &self.written {
            asked.add(&region.scope.asked(region.entered.iter().map(|(_, known)| known)));
        }
        let first = self.written.first().and_then(|region| at_entry.get(&region.entered.first()?.0));
        let started = first.map_or(BTreeSet::new(), |wanted| wanted.vars.clone());
        let entered = at_entry.into_keys().collect();
        Survey { wanted, ends_all, started, asked, entered, everyone: self.everyone(&lists), lists }
    }

    /// The lists of all packets: as long as each region hands all of them on to the next.
    fn everyone(&self, lists: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let next = |region: &Written<'_, '_>| match region.next.iter().collect::<Vec<_>>()[..] {
            [&next] if region.scope.used.leaves == region.scope.used.handed_on => Some(next),
            _ => None,
        };
        let is_next = |node: NodeId, region: &Written<'_, '_>| region.entered.iter().any(|(entry, _)| *entry == node);
        let mut everyone = BTreeSet::new();
        for (position, region) in self.written.iter().enumerate() {
            let Some(node) = next(region).filter(|node| lists.contains(node)) else { break };
            everyone.insert(node);
            if !self.written.get(position + 1).is_some_and(|region| is_next(node, region)) {
                break;
            }
        }
        everyone
    }

    fn emit(&mut self) -> Vec<S> {
        let mut out = Vec::new();
        let burst = BURST_PACKETS_MAX as u32;
        let start = self.graph.regions[0][0];
        for &entry in self.graph.entries.iter().flatten().filter(|&&entry| entry != start && self.is_entered(entry)) {
            if !self.is_list(entry) {
                out.push(declare("uint64_t", mask_name(entry), long(0)));
            } else if !self.is_everyone(entry) {
                out.push(declare_array("uint8_t", list_name(entry), burst, None));
            }
        }
        let (mut asks_entries, mut asks_briefs) = (false, false);
        for &node in self.graph.regions.iter().flatten() {
            if let Some(apply) = &self.graph.nodes[node].head
                && self.is_entered(node)
            {
                let words = self.emitter.plan.tables[apply.table].key.words() as u32;
                // A table without a key gets rows of no words.
                let zero = (words == 0).then(|| C::List(vec![long(0)]));
                out.push(declare_array("uint64_t", keys_name(node), words.max(1) * burst, zero));
                out.push(match self.is_everyone(node) {
                    true => declare("const uint32_t", rows_name(node), name("count")),
                    false => declare("uint32_t", rows_name(node), int(0)),
                });
                let table = index(arrow(name("env"), "tables"), int(super::header::number(apply.table)));
                if let Some([is_far, _]) = self.emitter.plan.tables[apply.table].fetch() {
                    let is_far = call(is_far, vec![unary("&", table.clone())]);
                    out.push(declare("const uint32_t", far_name(node), is_far));
                }
                match self.emitter.plan.tables[apply.table].briefs {
                    Some(_) => {
                        let arguments = vec![unary("&", table), name(super::table::brief_function(apply.table))];
                        out.push(declare("const uint32_t", none_name(node), call("ws_default_brief", arguments)));
                        asks_briefs = true;
                    }
                    None => asks_entries = true,
                }
            }
        }
        if asks_entries {
            out.push(declare_array(super::table::ENTRY, "entries", burst, None));
        }
        if asks_briefs {
            out.push(declare_array("uint32_t", "briefs", burst, None));
        }
        self.known[start] = Known::nothing();
        let mut next_name = 0;
        let guarded = self.graph.guarded_for(self.emitter.program, &self.emitter.plan.sharing, self.fast_path);
        for position in 0..self.graph.regions.len() {
            let written = self.written.len();
            self.region(position, &mut next_name, &mut out);
            if guarded.as_ref().is_some_and(|regions| *regions.start() == position) {
                // The region's loop was written last, if there is one; what it begins with may be asked before.
                let has_loop = self.survey.is_some() && self.written.len() > written;
                out.insert(out.len() - usize::from(has_loop), enter(self.emitter, self.fast_path));
            }
            if guarded.as_ref().is_some_and(|regions| *regions.end() == position) {
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
        self.survey.is_none_or(|survey| survey.entered.contains(&node))
    }

    fn is_list(&self, node: NodeId) -> bool {
        self.survey.is_some_and(|survey| survey.lists.contains(&node))
    }

    fn is_everyone(&self, node: NodeId) -> bool {
        self.survey.is_some_and(|survey| survey.everyone.contains(&node))
    }

    fn scope(&self, position: usize, first: NodeId, next_name: u32) -> Scope<'n, 'e> {
        let mut scope = Scope::new(self.emitter, self.block, format!("done{first}"), next_name);
        scope.region = self.graph.regions[position].iter().copied().collect();
        scope.way = self.fast_path.map(|fast_path| Way {
            fast_path,
            region: position,
            wanted: self.survey.map(|survey| &survey.wanted[self.written.len()]),
            asked: self.survey.map(|survey| &survey.asked),
            started: self.survey.map(|survey| &survey.started),
            ends_all: self.survey.is_some_and(|survey| survey.ends_all[self.written.len()]),
        });
        scope.ends = (0..self.graph.nodes.len()).filter(|&id| self.graph.is_end(id)).collect();
        scope.staged = self.fast_path.is_some_and(|fast_path| stages(self.emitter, fast_path));
        scope.early = Rc::clone(&self.early);
        scope.lists = self.survey.map_or_else(BTreeSet::new, |survey| survey.lists.clone());
        scope
    }

    fn region(&mut self, position: usize, next_name: &mut u32, out: &mut Vec<S>) {
        let (region, entries) = (&self.graph.regions[position], &self.graph.entries[position]);
        // What was written before is in the context, if it is wanted.
        entries.iter().for_each(|&entry| self.known[entry].written.clear());
        let entered = region.iter().filter(|id| entries.contains(id) && self.known[**id].reachable);
        let entered: Vec<(NodeId, Known)> = entered.map(|&id| (id, self.known[id].clone())).collect();
        let Some((first, known)) = entered.first().cloned() else { return };
        let mut scope = self.scope(position, first, *next_name);
        scope.entered = known;
        let mut next = BTreeSet::new();
        for &id in region {
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
                    Some(_) => scope.begin_way(),
                    None => {
                        scope.reset_local_headers();
                        scope.reset_waiting();
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
        next.retain(|id| !region.contains(id));
        if self.survey.is_some() {
            out.push(self.loop_of(position, &mut scope, &entered));
        }
        self.written.push(Written { scope, entered, next });
    }

    /// Puts around a region's code what takes the packets to it.
    fn loop_of(&self, position: usize, scope: &mut Scope<'n, 'e>, entered: &[(NodeId, Known)]) -> S {
        let elsewhere = entered.iter().skip(1).map(|(entry, known)| {
            let mut way = scope.enter_by(known);
            way.push(S::Goto(node_label(*entry)));
            S::If(binary("&", name(mask_name(*entry)), name("bit")), way, Vec::new())
        });
        let elsewhere = elsewhere.collect();
        let code = region_code(scope, name("i"), elsewhere);
        match entered {
            [_] if position == 0 => for_each_in_burst(code),
            [(node, _)] if self.is_list(*node) => for_each_in_list(*node, self.is_everyone(*node), code),
            _ => for_each_in_masks(entered.iter().map(|(node, _)| *node), code),
        }
    }

    /// Writes a node; what must stand before its region's loop goes to `before`.
    fn node(&self, id: NodeId, scope: &mut Scope<'_, '_>, before: &mut Vec<S>) {
        let node = &self.graph.nodes[id];
        scope.labels = node.leaves.iter().map(|(&label, &node)| (label, Jump::Node(node))).collect();
        if let Some(apply) = &node.head {
            let rows = name(rows_name(id));
            let row = if self.is_list(id) { name("row") } else { rows.clone() };
            let is_brief = self.emitter.plan.tables[apply.table].briefs.is_some();
            let answers = if is_brief { "briefs" } else { "entries" };
            let ask = scope.lookup(apply.table, name(keys_name(id)), rows.clone(), name(answers));
            before.push(S::If(rows.clone(), ask.to_vec(), Vec::new()));
            let answer = index(name(answers), row);
            let answer = if is_brief {
                let brief = conditional(binary("!=", answer.clone(), int(0)), answer, name(none_name(id)));
                scope.push(declare("const uint32_t", "brief WS_UNUSED", brief));
                Answer::Brief(name("brief"))
            } else {
                scope.push(declare("const struct ws_entry *const ", "entry WS_UNUSED", answer));
                Answer::Entry(name("entry"))
            };
            if !self.is_list(id) {
                before.push(S::Assign(rows.clone(), "=", int(0)));
                scope.push(S::Assign(rows, "+=", int(1)));
            }
            scope.comment(apply.stmt.span);
            scope.table_results(apply.table, apply.hit, apply.action, &answer);
        }
        scope.sequence(&node.code);
        if scope.known.reachable {
            self.end(&node.end, scope);
        }
    }

    fn end(&self, end: &End<'_>, scope: &mut Scope<'_, '_>) {
        match end {
            End::Done if self.fast_path.is_some() => scope.end_way(),
            End::Done => scope.leave(),
            End::Goto(node) => scope.transfer(*node),
            End::Branch { stmt, cond, yes, no } => {
                scope.comment(stmt.span);
                let condition = scope.narrow(cond);
                // A way that nobody takes would be one more way to enter the node where it leads.
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
                let is_everyone = self.is_everyone(*next);
                let rows = if is_everyone { name("i") } else { name(rows_name(*next)) };
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
                if self.is_list(*next) && !is_everyone {
                    let place = index(name(list_name(*next)), rows.clone());
                    scope.push(assign(place, cast("uint8_t", name("i"))));
                }
                if !is_everyone {
                    scope.push(S::Assign(rows, "+=", int(1)));
                }
                scope.transfer(*next);
            }
        }
    }
}

/// The conditions to leave the fast path that a node begins with.
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

/// Takes all packets of the burst.
fn for_each_in_burst(code: Vec<S>) -> S {
    let mut body = vec![declare("const uint64_t", "bit WS_UNUSED", binary("<<", long(1), name("i")))];
    body.extend(code);
    for_each_packet(body)
}

/// Takes the packets in the list of a table's node, or all of the burst, if that is the list.
fn for_each_in_list(node: NodeId, is_everyone: bool, code: Vec<S>) -> S {
    let place = if is_everyone { name("row") } else { index(name(list_name(node)), name("row")) };
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

/// Takes the packets that come to a region in order.
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

/// The C array with the positions of the packets that ask the table whose answers start a node.
fn list_name(node: NodeId) -> String {
    format!("list{node}")
}

/// The C array with the key rows of the table whose answers start a node.
fn keys_name(node: NodeId) -> String {
    format!("keys{node}")
}

/// The C variable that counts them.
fn rows_name(node: NodeId) -> String {
    format!("rows{node}")
}

/// The C constant that says whether the slots are fetched of the table whose answers start a node.
fn far_name(node: NodeId) -> String {
    format!("far{node}")
}

/// The C constant with the brief of the default action of the table whose answers start a node.
fn none_name(node: NodeId) -> String {
    format!("none{node}")
}

impl Scope<'_, '_> {
    /// Sends the packet to the node of the case that has the value.
    fn switch_to_nodes(&mut self, value: &ir::Expr, cases: &[(&[base::Bits], NodeId)], default: NodeId) {
        let before = self.known.clone();
        let chosen = self.value(value);
        let way = |scope: &mut Self, node| {
            scope.known = before.clone();
            scope.take(|scope| scope.transfer(node))
        };
        let to_default = way(self, default);
        if let Value::Narrow(chosen) = chosen {
            let ways = cases
                .iter()
                .map(|(values, node)| {
                    let constants = values.iter().map(|value| long(value.low_u64())).collect();
                    (constants, way(self, *node))
                })
                .collect();
            self.push(S::Switch { value: cast("uint64_t", chosen), cases: ways, default: to_default });
            return;
        }
        let Value::Wide(chosen) = chosen else { return };
        let mut rest = to_default;
        for (values, node) in cases.iter().rev() {
            let way = way(self, *node);
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
