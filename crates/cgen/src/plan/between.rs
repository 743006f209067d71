//! What happens between the blocks on the fast path.
//!
//! What enters: a program with decisions. What leaves: the statements that run in front of its blocks, for packets that
//! request nothing and pass no queue, and how packets leave that do.
//!
//! A packet that is punted behind ingress or egress is one about which nothing has been decided yet. So everything that
//! punts or drops packets is tested there, also if the architecture decides it behind a later block; the core
//! continues with a punted packet from there and decides again.

use super::fast_path::{Exit, NoFastPath, changes_headers, deparser_of};
use super::reparse::{Known, Reparsed};
use super::walk::{Item, Tables, walk_block};
use crate::abi::DROP_INGRESS;
use base::index::Id as _;
use base::{Bits, OrderedMap, OrderedSet, Span};
use ir::architecture::Point;
use ir::walk::{base_var, visit_body, visit_expr, visit_writes};
use ir::{
    BinaryOp, BlockId, BlockRole, Body, DropReason, Expr, ExprKind, LabelId, Place, Program, Source, Stmt, StmtKind,
    VarId,
};

/// What happens between blocks.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    /// The statements in front of a block.
    before: OrderedMap<BlockId, Body>,
    /// What the labels beyond those of the program mean.
    exits: OrderedMap<LabelId, Exit>,
    /// The variable with the port that a packet leaves on.
    pub(crate) port: VarId,
    /// The variable with the bytes that leave at most plus 1, or 0, if the architecture has one.
    pub(crate) limit: Option<VarId>,
    /// Whether packets may be punted.
    pub(crate) may_punt: bool,
    /// How packets come from ingress to egress without being deparsed and parsed, where the architecture does that.
    pub(crate) reparsed: Option<Reparsed>,
}

/// Where packets leave the fast path: behind ingress, or behind egress.
#[derive(Default)]
struct Side {
    punts: Vec<Expr>,
    drops: Vec<(Expr, Exit)>,
}

/// The decisions at a point.
struct Decided<'p> {
    /// How packets end there: with this exit, under this condition.
    exits: Vec<(Expr, Exit)>,
    /// The assignments behind.
    assignments: Vec<Stmt>,
    /// How the decisions end.
    end: Option<&'p StmtKind>,
}

impl Between {
    pub(crate) fn of(program: &Program) -> Result<Between, NoFastPath> {
        let architecture = program.architecture;
        let ingress = architecture.ingress().ok_or(NoFastPath::Decisions)?;
        let mut between = Between {
            before: OrderedMap::new(),
            exits: OrderedMap::new(),
            port: VarId::from_index(0),
            limit: None,
            may_punt: false,
            reparsed: None,
        };
        let behind = |control: BlockId| BlockId::from_index(control.index() + 1);
        let egress = architecture.egress();
        let (behind_ingress, behind_egress) = (behind(ingress), egress.map_or(program.blocks.next_id(), behind));
        let mut at_ingress = between.side(program, behind_ingress, false)?;
        let mut at_egress = between.side(program, behind_egress, true)?;
        if egress.is_none() {
            // There is nothing behind the queues that a packet could be punted from: all leave behind ingress.
            let blocks = || behind_ingress.index()..behind_egress.index();
            let is_movable = |punt: &Expr| is_movable(program, &vars_of(punt), Exit::PuntIngress, blocks());
            if !at_egress.punts.iter().all(is_movable) || !at_egress.drops.is_empty() {
                return Err(NoFastPath::Decisions);
            }
            at_ingress.punts.append(&mut at_egress.punts);
        }
        let is_parser = |block: &BlockId| program.role(*block) == BlockRole::Parser;
        if let Some(parser) = architecture.blocks_behind_queues().find(is_parser) {
            let punt = between.leave(program, Exit::PuntIngress);
            let known = between.known_at(program, parser).ok_or(NoFastPath::ParsedAgain)?;
            let reparsed = Reparsed::of(program, parser, known, &punt).ok_or(NoFastPath::ParsedAgain)?;
            if reparsed.is_last {
                // Behind the parser, headers are no more what the core would find there.
                let is_movable = |punt: &Expr| {
                    let read = vars_of(punt);
                    let is_assigned = |var: &VarId| known_vars(between.before(parser)).any(|known| known == *var);
                    let blocks = behind_ingress.index()..behind_egress.index();
                    !read.iter().any(is_assigned) && is_movable(program, &read, Exit::PuntEgress, blocks)
                };
                if !at_egress.punts.iter().all(is_movable) {
                    return Err(NoFastPath::ParsedAgain);
                }
                at_ingress.punts.append(&mut at_egress.punts);
            }
            between.reparsed = Some(reparsed);
        }
        between.leave_at(program, behind_ingress, at_ingress, Exit::PuntIngress);
        between.leave_at(program, behind_egress, at_egress, Exit::PuntEgress);
        if let Some(reparsed) = &between.reparsed {
            let tests = reparsed.tests.clone();
            between.may_punt |= !tests.is_empty();
            between.before.entry(behind_ingress).or_default().extend(tests);
        }
        Ok(between)
    }

    /// Reads the decisions on one side of the queues, where packets leave in front of block `at`.
    fn side(&mut self, program: &Program, at: BlockId, is_behind_queues: bool) -> Result<Side, NoFastPath> {
        let (mut side, mut assigned) = (Side::default(), OrderedSet::new());
        let mut is_sent = false;
        let points = program.architecture.points.iter().zip(&program.decisions);
        for (point, body) in points.filter(|(point, _)| point.is_behind_queues == is_behind_queues) {
            let mut decided = Decided::at(point, body).ok_or(NoFastPath::Decisions)?;
            match decided.end {
                Some(StmtKind::Enqueue { port, priority, .. }) => {
                    self.enqueue(program, port, &mut decided.assignments)?;
                    decided.exits.extend(is_set(priority).map(|is_set| (is_set, Exit::PuntIngress)));
                    is_sent = true;
                }
                Some(StmtKind::Send { port, limit }) => {
                    self.port = var_of(port).ok_or(NoFastPath::Decisions)?;
                    let var = |limit| var_of(limit).ok_or(NoFastPath::Decisions);
                    self.limit = limit.as_ref().map(var).transpose()?;
                    decided.exits.extend(is_no_port(program, port).map(|is_none| (is_none, Exit::PuntEgress)));
                    is_sent = true;
                }
                _ => {}
            }
            for (condition, exit) in decided.exits {
                let read = vars_of(&condition);
                let is_earlier = point.before < at.index() || !read.is_disjoint(&assigned);
                if is_earlier || !is_movable(program, &read, exit, at.index()..point.before) {
                    return Err(NoFastPath::Decisions);
                }
                match exit {
                    Exit::PuntIngress | Exit::PuntEgress => push_new(&mut side.punts, condition),
                    Exit::DropIngress | Exit::DropEgress => push_new(&mut side.drops, (condition, exit)),
                }
            }
            if point.before >= at.index() {
                assigned.extend(known_vars(&decided.assignments));
            }
            self.before.entry(BlockId::from_index(point.before)).or_default().extend(decided.assignments);
        }
        is_sent.then_some(side).ok_or(NoFastPath::Decisions)
    }

    /// Lets packets leave in front of a block.
    fn leave_at(&mut self, program: &Program, at: BlockId, side: Side, punt: Exit) {
        let any = side.punts.into_iter().reduce(|any, more| Expr::binary(BinaryOp::LogicalOr, any, more));
        self.may_punt |= any.is_some();
        let exits = any.map(|any| (any, punt)).into_iter().chain(side.drops);
        let exits: Body = exits.map(|(condition, exit)| self.leave_if(program, condition, exit)).collect();
        self.before.entry(at).or_default().splice(..0, exits);
    }

    /// What is known of variables where a parser starts behind the queues: those that are assigned in front of it, and
    /// metadata, of which packets preserve what the decisions list. None if that is too involved.
    fn known_at(&self, program: &Program, parser: BlockId) -> Option<Known> {
        let mut values = OrderedMap::new();
        for stmt in self.before(parser) {
            let StmtKind::Assign { dst: Place::Var(var), src } = &stmt.kind else { return None };
            if vars_of(src).iter().any(|read| values.contains_key(read)) {
                return None;
            }
            values.insert(*var, src.clone());
        }
        let mut preserved = None;
        for stmt in program.decisions.iter().flatten() {
            if let StmtKind::Enqueue { keeps, .. } = &stmt.kind {
                preserved = *keeps;
            }
        }
        let preserved = program.field_lists.get(preserved?)?.vars.iter().copied().collect();
        Some(Known { values, preserved })
    }

    /// The statements in front of a block, or behind the last one.
    pub(crate) fn before(&self, block: BlockId) -> &[Stmt] {
        self.before.get(&block).map_or(&[], |body| body)
    }

    /// The deparser that makes the headers of packets that leave.
    pub(crate) fn deparser(&self, program: &Program) -> BlockId {
        let first = self.reparsed.as_ref().filter(|reparsed| reparsed.is_last).map(|reparsed| reparsed.deparser);
        first.unwrap_or_else(|| deparser_of(program))
    }

    /// Whether headers may differ behind the queues from those before.
    pub(crate) fn changes_headers(&self) -> bool {
        let mut found = false;
        let parsed = self.reparsed.as_ref().map_or(&[][..], |reparsed| &reparsed.parsed);
        visit_body(parsed, &mut |stmt| found |= changes_headers(&stmt.kind));
        found
    }

    /// How a packet leaves that goes to this label, if it leaves there.
    pub(crate) fn exit_at(&self, label: LabelId) -> Option<Exit> {
        self.exits.get(&label).copied()
    }

    /// Adds what a packet finds that has passed an empty queue.
    fn enqueue(&self, program: &Program, port: &Expr, out: &mut Vec<Stmt>) -> Result<(), NoFastPath> {
        let left = program.var_from(Source::QueuePort).ok_or(NoFastPath::Decisions)?;
        if var_of(port) != Some(left) {
            out.push(assign(left, port.clone()));
        }
        let written = MayBeSet::of(program);
        let is_set = |id: VarId| written.contains(id) || program.field_lists.iter().any(|it| it.vars.contains(&id));
        for (id, var) in program.vars.iter_enumerated() {
            let is_state = |slot| program.architecture.source(slot) == Source::QueueState;
            if var.kind.slot().is_some_and(is_state) && is_set(id) {
                out.push(assign(id, Expr::constant(var.ty, Bits::zero(var.ty.width()))));
            }
        }
        Ok(())
    }

    fn leave_if(&mut self, program: &Program, cond: Expr, exit: Exit) -> Stmt {
        let then_body = vec![self.leave(program, exit)];
        stmt(StmtKind::If { cond, then_body, else_body: Vec::new() })
    }

    fn leave(&mut self, program: &Program, exit: Exit) -> Stmt {
        let known = self.exits.iter().find(|(_, known)| **known == exit).map(|(label, _)| *label);
        let label = known.unwrap_or(LabelId::from_index(program.labels as usize + self.exits.len()));
        self.exits.insert(label, exit);
        stmt(StmtKind::Leave(label))
    }
}

impl<'p> Decided<'p> {
    /// The decisions of a body, if it first tests how packets end, then assigns, and then ends.
    fn at(point: &Point, body: &'p [Stmt]) -> Option<Decided<'p>> {
        let mut decided = Decided { exits: Vec::new(), assignments: Vec::new(), end: None };
        for stmt in body {
            match &stmt.kind {
                StmtKind::If { cond, then_body, else_body } if else_body.is_empty() => {
                    let [Stmt { kind: end, .. }] = &then_body[..] else { return None };
                    let exit = exit_of(point, end).filter(|_| decided.assignments.is_empty())?;
                    decided.exits.push((cond.clone(), exit));
                }
                StmtKind::Assign { .. } => decided.assignments.push(stmt.clone()),
                StmtKind::Send { .. } | StmtKind::Enqueue { .. } => decided.end = Some(&stmt.kind),
                end => decided.exits.push((Expr::bool(true), exit_of(point, end)?)),
            }
        }
        Some(decided)
    }
}

/// How a packet leaves the fast path by the end of decisions.
fn exit_of(point: &Point, end: &StmtKind) -> Option<Exit> {
    match end {
        StmtKind::Drop(DropReason::Ingress) => Some(Exit::DropIngress),
        StmtKind::Drop(DropReason::Egress) => Some(Exit::DropEgress),
        StmtKind::Punt(_) if point.is_behind_queues => Some(Exit::PuntEgress),
        StmtKind::Punt(_) => Some(Exit::PuntIngress),
        _ => None,
    }
}

/// The variables that an expression reads.
fn vars_of(expr: &Expr) -> OrderedSet<VarId> {
    let mut read = OrderedSet::new();
    visit_expr(expr, &mut |item| {
        if let ir::walk::Item::Var(var) = item {
            read.insert(var);
        }
    });
    read
}

/// Whether it makes no difference if packets leave in front of these blocks rather than behind them, under a condition
/// that reads these variables.
fn is_movable(program: &Program, read: &OrderedSet<VarId>, exit: Exit, blocks: std::ops::Range<usize>) -> bool {
    let is_drop = matches!(exit, Exit::DropIngress | Exit::DropEgress);
    let mut is_movable = true;
    for block in blocks.map(BlockId::from_index) {
        walk_block(program, &program.blocks[block], Tables::Inside, &mut |item| {
            let Item::Stmt(stmt) = item else { return };
            let is_written = stmt.kind.dst().and_then(base_var).is_some_and(|var| read.contains(&var));
            is_movable &= !is_written && (!is_drop || is_forgotten(&stmt.kind));
        });
    }
    is_movable
}

/// Whether a statement has no effect beyond its packet.
fn is_forgotten(stmt: &StmtKind) -> bool {
    matches!(
        stmt,
        StmtKind::Assign { .. }
            | StmtKind::If { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Block { .. }
            | StmtKind::Leave(_)
            | StmtKind::Hash { .. }
            | StmtKind::SetValid(_)
            | StmtKind::SetInvalid(_)
            | StmtKind::CopyHeader { .. }
            | StmtKind::CopyVarbit { .. }
            | StmtKind::SetVarbit { .. }
            | StmtKind::PushFront { .. }
            | StmtKind::PopFront { .. }
            | StmtKind::Emit(_)
    )
}

/// Whether a number is not zero; none if it never is.
fn is_set(number: &Expr) -> Option<Expr> {
    let zero = || Expr::constant(number.ty, Bits::zero(number.ty.width()));
    match number.as_const() {
        Some(constant) => (!constant.is_zero()).then(|| Expr::bool(true)),
        None => Some(Expr::binary(BinaryOp::Ne, number.clone(), zero())),
    }
}

/// Whether a port has a number with another meaning in a verdict; none if no port has.
fn is_no_port(program: &Program, port: &Expr) -> Option<Expr> {
    let least = || Expr::constant(port.ty, Bits::from_u64(port.ty.width(), u64::from(DROP_INGRESS)));
    let is_any = program.architecture.port_max >= DROP_INGRESS && port.ty.width() >= 32;
    is_any.then(|| Expr::binary(BinaryOp::Ge, port.clone(), least()))
}

/// The variables that statements assign.
fn known_vars(body: &[Stmt]) -> impl Iterator<Item = VarId> {
    body.iter().filter_map(|stmt| base_var(stmt.kind.dst()?))
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn var_of(expr: &Expr) -> Option<VarId> {
    match expr.kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::NONE }
}

fn assign(dst: VarId, src: Expr) -> Stmt {
    stmt(StmtKind::Assign { dst: Place::Var(dst), src })
}

/// Variables that the program may set to a value other than zero.
pub(crate) struct MayBeSet(OrderedSet<VarId>);

impl MayBeSet {
    pub(crate) fn of(program: &Program) -> MayBeSet {
        let mut set = OrderedSet::new();
        visit_writes(program, &mut |place, constant| {
            set.extend(base_var(place).filter(|_| constant.is_none_or(|value| !value.is_zero())));
        });
        MayBeSet(set)
    }

    pub(crate) fn contains(&self, var: VarId) -> bool {
        self.0.contains(&var)
    }
}
