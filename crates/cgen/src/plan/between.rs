//! What happens between the blocks on the fast path.
//!
//! What enters: a program with decisions. What leaves: the statements that run in front of its blocks, for packets that
//! request nothing and wait in no queue, and how packets leave that do.
//!
//! A packet that is punted behind ingress or egress is one about which nothing has been decided yet. So everything that
//! punts or drops packets is tested there, also if the architecture decides it behind a later block; the core goes on
//! with a punted packet from there and decides again.

use super::fast_path::{Exit, NoFastPath};
use super::walk::{Item, Tables, walk_block};
use base::index::Id as _;
use base::{Bits, Span};
use ir::architecture::Point;
use ir::walk::{base_var, visit_expr, visit_writes};
use ir::{BinaryOp, BlockId, Body, DropReason, Expr, ExprKind, LabelId, Place, Program, Source, Stmt, StmtKind, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// What happens between blocks.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    /// The statements in front of a block.
    before: BTreeMap<BlockId, Body>,
    /// What the labels beyond those of the program mean.
    exits: BTreeMap<LabelId, Exit>,
    /// The variable with the port that a packet leaves on.
    pub(crate) port: VarId,
    /// The variable with the bytes that leave at most plus 1, or 0, if the architecture has one.
    pub(crate) limit: Option<VarId>,
    /// Whether packets may be punted.
    pub(crate) may_punt: bool,
}

/// The decisions at a point.
struct Decided<'p> {
    /// How packets end there: in this way, under this condition.
    exits: Vec<(Expr, Exit)>,
    /// The assignments behind.
    assignments: Vec<Stmt>,
    /// How the decisions end.
    end: Option<&'p StmtKind>,
}

impl Between {
    pub(crate) fn of(program: &Program) -> Result<Between, NoFastPath> {
        let architecture = program.architecture;
        let (Some(ingress), Some(egress)) = (architecture.ingress(), architecture.egress()) else {
            return Err(NoFastPath::Decisions);
        };
        let mut between = Between {
            before: BTreeMap::new(),
            exits: BTreeMap::new(),
            port: VarId::from_index(0),
            limit: None,
            may_punt: false,
        };
        let mut sent = None;
        for is_behind_queues in [false, true] {
            let control = if is_behind_queues { egress } else { ingress };
            let at = BlockId::from_index(control.index() + 1);
            let (mut punts, mut drops, mut assigned) = (Vec::new(), Vec::new(), BTreeSet::new());
            let points = architecture.points.iter().zip(&program.decisions);
            for (point, body) in points.filter(|(point, _)| point.is_behind_queues == is_behind_queues) {
                let mut decided = Decided::at(point, body).ok_or(NoFastPath::Decisions)?;
                match decided.end {
                    Some(StmtKind::Enqueue { port, priority }) => {
                        between.enqueue(program, port, &mut decided.assignments)?;
                        decided.exits.extend(is_set(priority).map(|is_set| (is_set, Exit::PuntIngress)));
                    }
                    Some(StmtKind::Send { port, limit }) => sent = Some((port, limit)),
                    _ => {}
                }
                for (condition, exit) in decided.exits {
                    let read = vars_of(&condition);
                    let is_earlier = point.before < at.index() || !read.is_disjoint(&assigned);
                    if is_earlier || !is_movable(program, &read, exit, at.index()..point.before) {
                        return Err(NoFastPath::Decisions);
                    }
                    match exit {
                        Exit::PuntIngress | Exit::PuntEgress => punts.push(condition),
                        Exit::DropIngress | Exit::DropEgress => drops.push((condition, exit)),
                    }
                }
                if point.before >= at.index() {
                    assigned.extend(decided.assignments.iter().filter_map(|stmt| base_var(stmt.kind.dst()?)));
                }
                between.before.entry(BlockId::from_index(point.before)).or_default().extend(decided.assignments);
            }
            let any = punts.into_iter().reduce(|any, more| Expr::binary(BinaryOp::LogicalOr, any, more));
            between.may_punt |= any.is_some();
            let punt = if is_behind_queues { Exit::PuntEgress } else { Exit::PuntIngress };
            let exits = any.map(|any| (any, punt)).into_iter().chain(drops);
            let exits: Body = exits.map(|(condition, exit)| between.leave_if(program, condition, exit)).collect();
            between.before.entry(at).or_default().splice(..0, exits);
        }
        let (port, limit) = sent.ok_or(NoFastPath::Decisions)?;
        between.port = var_of(port).ok_or(NoFastPath::Decisions)?;
        between.limit = limit.as_ref().map(|limit| var_of(limit).ok_or(NoFastPath::Decisions)).transpose()?;
        Ok(between)
    }

    /// The statements in front of a block, or behind the last one.
    pub(crate) fn before(&self, block: BlockId) -> &[Stmt] {
        self.before.get(&block).map_or(&[], |body| body)
    }

    /// How a packet leaves that goes to this label, if it leaves there.
    pub(crate) fn exit_at(&self, label: LabelId) -> Option<Exit> {
        self.exits.get(&label).copied()
    }

    /// Adds what a packet finds that has been in a queue and did not wait.
    fn enqueue(&self, program: &Program, port: &Expr, out: &mut Vec<Stmt>) -> Result<(), NoFastPath> {
        let left = program.var_from(Source::QueuePort).ok_or(NoFastPath::Decisions)?;
        if var_of(port) != Some(left) {
            out.push(assign(left, port.clone()));
        }
        let written = MayBeSet::of(program);
        for (id, var) in program.vars.iter_enumerated() {
            let is_state = |slot| program.architecture.source(slot) == Source::QueueState;
            if var.kind.slot().is_some_and(is_state) && written.contains(id) {
                out.push(assign(id, Expr::constant(var.ty, Bits::zero(var.ty.width()))));
            }
        }
        Ok(())
    }

    fn leave_if(&mut self, program: &Program, cond: Expr, exit: Exit) -> Stmt {
        let known = self.exits.iter().find(|(_, known)| **known == exit).map(|(label, _)| *label);
        let label = known.unwrap_or(LabelId::from_index(program.labels as usize + self.exits.len()));
        self.exits.insert(label, exit);
        stmt(StmtKind::If { cond, then_body: vec![stmt(StmtKind::Leave(label))], else_body: Vec::new() })
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
fn vars_of(expr: &Expr) -> BTreeSet<VarId> {
    let mut read = BTreeSet::new();
    visit_expr(expr, &mut |item| {
        if let ir::walk::Item::Var(var) = item {
            read.insert(var);
        }
    });
    read
}

/// Whether it makes no difference if packets leave in front of these blocks rather than behind them, under a condition
/// that reads these variables.
fn is_movable(program: &Program, read: &BTreeSet<VarId>, exit: Exit, blocks: std::ops::Range<usize>) -> bool {
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
pub(crate) struct MayBeSet(BTreeSet<VarId>);

impl MayBeSet {
    pub(crate) fn of(program: &Program) -> MayBeSet {
        let mut set = BTreeSet::new();
        visit_writes(program, &mut |place, constant| {
            set.extend(base_var(place).filter(|_| constant.is_none_or(|value| !value.is_zero())));
        });
        MayBeSet(set)
    }

    pub(crate) fn contains(&self, var: VarId) -> bool {
        self.0.contains(&var)
    }
}
