//! Control blocks and the fast path as units of the low IR: the batch stages of a graph and the nodes in them, and
//! units of a single node for code that is not split.
//!
//! Within a stage packets go from node to node. Where they are looked up in a table, they write a key; the node
//! that they go to begins with the result. The facts that hold where packets enter a stage become the values of its
//! state there.

use super::Emitter;
use super::burst::{self, for_each_packet};
use super::expr::Value;
use super::fast_path::{PathStage, copies_emitted};
use super::scope::{EarlyExits, Known, Scope};
use crate::ctree;
use crate::plan::fast_path::FastPath;
use crate::plan::graph::{End, Graph, Node, NodeId};
use base::index::Id as _;
use ir::{BlockId, Body, PointId, Stmt, StmtKind, TableId};
use lir::{Expr as C, Stmt as S, Type, arrow, assign, binary, call, cast, declare, index, int, long, name, unary};
use std::rc::Rc;

/// The body of a control's function.
pub(crate) fn emit(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<ctree::Stmt> {
    if !emitter.plan.blocks[block].cut {
        return packet_by_packet(emitter, block, body);
    }
    let words = |table| emitter.plan.cut_words(table);
    let graph = Graph::new(emitter.program, body, &words);
    emit_graph(emitter, block, &graph, None)
}

/// The parameters of a part's function.
pub(crate) const PART_PARAMS: &str =
    "const struct ws_env *env WS_UNUSED, struct ws_packet *const *packets WS_UNUSED, uint32_t i WS_UNUSED";

/// A part of a divided control: a function that returns whether the packet continues to the next.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) code: Vec<ctree::Stmt>,
    /// Whether the packet may end there.
    ends: bool,
}

/// The code of a part.
pub(crate) fn part(emitter: &Emitter<'_>, block: BlockId, parts: &[&[Stmt]], number: usize) -> Part {
    let mut scope = Scope::new(emitter, block, 0);
    if number == 0 {
        scope.reset_local_headers();
        scope.reset_spilled();
    }
    scope.stmts(parts[number]);
    let mut ends = false;
    lir::walk::stmts(&scope.out, &mut |stmt| ends |= matches!(stmt, S::Leave));
    let mut before = Vec::new();
    if ends {
        before.push(declare(Type::U32, "goes_on", int(0)));
        scope.push(assign(name("goes_on"), int(1)));
    }
    let part = format!("block_{}_part_{number}", block.index());
    let mut code = single(&mut scope, &part, before, Vec::new());
    code.push(ctree::Stmt::Return(if ends { ctree::name("goes_on") } else { ctree::int(1) }));
    Part { name: part, code, ends }
}

/// The body of a divided control's function: each packet runs through the parts.
pub(crate) fn emit_calls(emitter: &Emitter<'_>, body: &Body, parts: &[Part]) -> Vec<ctree::Stmt> {
    use ctree::{Stmt, call, name};
    let (last, next) = (parts.len().saturating_sub(1), "next");
    let call_of = |(position, part): (usize, &Part)| {
        let call = call(&part.name, vec![name("env"), name("packets"), name("i")]);
        match part.ends && position < last {
            true => Stmt::If(ctree::unary("!", call), vec![Stmt::Goto(next.into())], Vec::new()),
            false => Stmt::Eval(ctree::cast("void", call)),
        }
    };
    let mut code: Vec<Stmt> = parts.iter().enumerate().map(call_of).collect();
    code.push(Stmt::Label(next.into()));
    guarded(emitter, body, for_each_packet(code))
}

fn packet_by_packet(emitter: &Emitter<'_>, block: BlockId, body: &Body) -> Vec<ctree::Stmt> {
    let mut scope = Scope::new(emitter, block, 0);
    scope.reset_local_headers();
    scope.reset_spilled();
    scope.stmts(body);
    let code = single(&mut scope, &emitter.unit_name(block), Vec::new(), Vec::new());
    guarded(emitter, body, for_each_packet(code))
}

/// The body of the function that decides about packets at a point.
pub(crate) fn emit_decisions(emitter: &Emitter<'_>, point: PointId, body: &Body) -> Vec<ctree::Stmt> {
    let mut scope = Scope::new(emitter, BlockId::from_index(0), 0);
    scope.point = point.index() as u32;
    scope.stmts(body);
    let before = vec![assign(arrow(name("p"), "decided"), long(0))];
    vec![for_each_packet(single(&mut scope, &format!("point_{}", point.index()), before, Vec::new()))]
}

/// The code for one packet of a unit of a single node: what the scope has generated, between other statements.
pub(crate) fn single(scope: &mut Scope<'_, '_>, name: &str, before: Vec<S>, after: Vec<S>) -> Vec<ctree::Stmt> {
    let body = std::mem::take(&mut scope.out);
    let nodes = vec![lir::Node { id: 0, found: None, body }];
    let stage = scope.stage_of(nodes, before, after, &[(0, Known::nothing())]);
    let unit = scope.emitter.unit(name, scope.block, None, vec![stage]);
    burst::packet_code(scope.emitter, scope.block, &unit)
}

/// A control's loop, within the guard if it needs one.
fn guarded(emitter: &Emitter<'_>, body: &Body, all: ctree::Stmt) -> Vec<ctree::Stmt> {
    let words = |table| emitter.plan.cut_words(table);
    let graph = Graph::new(emitter.program, body, &words);
    let is_guarded = graph.guarded_for(emitter.program, &emitter.plan.sharing, None).is_some();
    let mut out = vec![all];
    if is_guarded {
        out.insert(0, burst::enter(emitter, None));
        out.push(burst::leave());
    }
    out
}

/// The C of a graph's stages.
pub(crate) fn emit_graph(
    emitter: &Emitter<'_>,
    block: BlockId,
    graph: &Graph<'_>,
    fast_path: Option<&FastPath>,
) -> Vec<ctree::Stmt> {
    let mut stages = BatchStages::new(emitter, block, graph, fast_path);
    let mut next_name = 0;
    (0..graph.stages.len()).for_each(|position| stages.stage(position, &mut next_name));
    let name = match fast_path {
        None => emitter.unit_name(block),
        Some(fast_path) if fast_path.is_of_replicas() => "replica_path".into(),
        Some(fast_path) if fast_path.is_of_passes() => "again_path".into(),
        Some(_) => "fast_path".into(),
    };
    let (emitted, positions) = (stages.emitted, stages.positions);
    let unit = emitter.unit(&name, block, fast_path, emitted);
    let guarded = graph.guarded_for(emitter.program, &emitter.plan.sharing, fast_path);
    burst::stages(emitter, block, &unit, fast_path, &positions, guarded)
}

/// The stages of a graph while their code is generated.
struct BatchStages<'n, 'e> {
    emitter: &'n Emitter<'e>,
    block: BlockId,
    graph: &'n Graph<'n>,
    /// The fast path, if the graph is of it.
    fast_path: Option<&'n FastPath>,
    /// How packets leave the fast path at the start of each node.
    early_exits: Rc<[EarlyExits<'n>]>,
    /// The facts that hold at the start of each node.
    known: Vec<Known>,
    /// The stages that packets can reach, and their positions in the graph.
    emitted: Vec<lir::Stage>,
    positions: Vec<usize>,
}

impl<'n, 'e> BatchStages<'n, 'e> {
    fn new(emitter: &'n Emitter<'e>, block: BlockId, graph: &'n Graph<'n>, fast_path: Option<&'n FastPath>) -> Self {
        let mut known: Vec<Known> = graph.nodes.iter().map(|_| Known::unreachable()).collect();
        known[graph.stages[0][0]] = Known::nothing();
        let exits = |node: &Node<'n>| fast_path.map_or(Vec::new(), |fast_path| early_exits(fast_path, node));
        let early_exits = graph.nodes.iter().map(exits).collect();
        let (emitted, positions) = (Vec::new(), Vec::new());
        BatchStages { emitter, block, graph, fast_path, early_exits, known, emitted, positions }
    }

    fn scope(&self, position: usize, next_name: u32) -> Scope<'n, 'e> {
        let mut scope = Scope::new(self.emitter, self.block, next_name);
        scope.stage = self.graph.stages[position].iter().copied().collect();
        scope.path = self.fast_path.map(|fast_path| PathStage { fast_path, stage: position });
        scope.begins = self.fast_path.is_some() && position == 0;
        scope.ends = (0..self.graph.nodes.len()).filter(|&id| self.graph.is_end(id)).collect();
        scope.staged = self.fast_path.is_some_and(|fast_path| copies_emitted(self.emitter, fast_path));
        scope.early_exits = Rc::clone(&self.early_exits);
        scope
    }

    fn stage(&mut self, position: usize, next_name: &mut u32) {
        let (stage, entries) = (&self.graph.stages[position], &self.graph.entries[position]);
        let entered = stage.iter().filter(|id| entries.contains(id) && self.known[**id].reachable);
        let entered: Vec<(NodeId, Known)> = entered.map(|&id| (id, self.known[id].clone())).collect();
        let Some(&(first, _)) = entered.first() else { return };
        let mut scope = self.scope(position, *next_name);
        let mut nodes = Vec::new();
        for &id in stage {
            if !self.known[id].reachable {
                continue;
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
            let found = self.node(id, entries.contains(&id), &mut scope);
            nodes.push(lir::Node { id, found, body: std::mem::take(&mut scope.out) });
            for (target, known) in std::mem::take(&mut scope.transfers) {
                self.known[target].join(&known);
            }
        }
        *next_name = scope.next_name;
        let before = scope.deparser_declarations();
        self.emitted.push(scope.stage_of(nodes, before, Vec::new(), &entered));
        self.positions.push(position);
    }

    /// Generates a node.
    fn node(&self, id: NodeId, is_entry: bool, scope: &mut Scope<'n, 'e>) -> Option<lir::Found> {
        let found = self.graph.nodes[id].head.as_ref().map(|apply| {
            let is_packed = self.emitter.plan.tables[apply.table].packed_results.is_some();
            let results = if is_packed { "packed_results" } else { "entries" };
            let [keys, rows] = [burst::keys_name(id), burst::rows_name(id)].map(name);
            let lookup = scope.lookup(apply.table, keys, rows, name(results)).to_vec();
            lir::Found { table: apply.table, is_packed, lookup }
        });
        scope.node(self.graph, id, is_entry);
        found
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

impl Scope<'_, '_> {
    /// Where the packet goes after a node.
    pub(super) fn end(&mut self, end: &End<'_>) {
        match end {
            End::Done if self.path.is_some() => self.end_path(),
            End::Done => self.leave(),
            End::Goto(node) => self.transfer(*node),
            End::Branch { stmt, cond, yes, no } => {
                self.comment(stmt.span);
                let condition = self.narrow(cond);
                // A branch that is never taken would be one more entry of its target.
                if let C::Long(truth) = condition {
                    self.transfer(if truth != 0 { *yes } else { *no });
                    return;
                }
                let before = self.known.clone();
                self.assume(cond, true);
                let to_yes = self.take(|scope| scope.transfer(*yes));
                self.known = before;
                self.assume(cond, false);
                let to_no = self.take(|scope| scope.transfer(*no));
                self.push(S::If(condition, to_yes, to_no));
            }
            End::Switch { stmt, value, cases, default } => {
                self.comment(stmt.span);
                self.switch_to_nodes(value, cases, *default);
            }
            End::Apply { apply, next } => {
                self.comment(apply.stmt.span);
                let has_words = self.emitter.plan.tables[apply.table].key.words() > 0;
                let row = has_words.then(|| self.fresh("row"));
                let key = self.take(|scope| row.iter().for_each(|row| scope.key_of(apply.table, *next, row)));
                self.push(S::LookUp { node: *next, row, key });
                self.leave_with(None);
                let known = std::mem::replace(&mut self.known, Known::unreachable());
                self.transfers.push((*next, known));
            }
        }
    }

    /// Writes the key of a table to its row; slots of a large table are prefetched.
    fn key_of(&mut self, table: TableId, next: NodeId, row: &str) {
        self.key_row(table, &name(row));
        if let Some([_, fetch]) = self.emitter.plan.tables[table].fetch() {
            let table = self.env_item(lir::EnvArray::Tables, table);
            let key = index(name(row), int(0));
            let fetch = S::Eval(call(fetch, vec![unary("&", table), key]));
            self.push(S::If(name(burst::far_name(next)), vec![fetch], Vec::new()));
        }
    }

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
            self.push(S::Switch { value: cast(Type::U64, chosen), cases: arms, default: to_default });
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
