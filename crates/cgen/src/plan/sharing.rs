//! State for which several workers need a guard, and the part of the program that the guard must cover.
//!
//! What enters: a program. What leaves: for each piece of state of observable order, how workers share it.
//!
//! * Registers that are *sums*: each use of them reads a cell, adds to it or subtracts from it, and writes it back, and
//!   the value that was read is not used otherwise. The order of such steps cannot be observed, so each worker may have
//!   cells of its own that begin at zero, and the register's value is the sum of all. Counters are sums by their
//!   nature, and digests and log messages have no order between workers.
//!
//! ```text
//! read v17 = register0[index]
//! v17 = v17 + 1                    (or within the value that is written)
//! write register0[index] = v17     `v17` is mentioned nowhere else in the program
//! ```
//!
//!   The three are adjacent, so that nothing that the index or the addend reads changes between them.
//! * Registers that are only *read* exist once. The control plane writes them between bursts.
//! * Registers that are *guarded* exist once, too. Generated code holds a lock from the first to the last batch stage
//!   that touches any of them, for a burst at a time, and everything else runs in parallel. As there is one lock and
//!   one critical section, which each packet passes once, a run of several workers is equivalent to a run of one that
//!   received the bursts in the order in which they took the lock.
//! * *Meters* exist once, and a worker takes a cell for one packet. So each cell marks packets as it would those of one
//!   worker, in the order in which workers took it: no rate is exceeded, no token lost. A cell without rates only
//!   counts, which each worker does by itself. Two cells may meet the packets of two workers in different orders. That
//!   shows in nothing but which of these packets have which colours, and several workers may only differ in that from
//!   one. Meters of entries are for one worker at a time, since each worker finds new entries by itself.
//! * Everything else is for one worker at a time: workers take *turns*, and run a burst through the whole program in
//!   each. This is also so if packets touch guarded state in two places, since their order in one could differ from
//!   that in the other.
//!
//! Flows are spread over workers, and each worker preserves the order of its flows. This is not enough where packets of
//! many flows are coalesced into a packet of another flow while other packets of theirs are not: programs that coalesce
//! or split packets have one worker. So have programs whose packets add entries to tables or set timers, since a worker
//! publishes its entries before its next packet.
//!
//! Random numbers are not shared: no program can observe which worker draws from which sequence.
//!
//! A program that reads the time must not see it run backwards, since it may store one packet's time for another to
//! compare. So the lock has a time, that of the last burst, and a later burst has no earlier time. The lock is taken
//! before the time is first read.

use super::state::{self, Object, touched, walk_program, written_registers};
use super::walk::{Item as Met, Tables, walk_block};
use base::{OrderedMap, OrderedSet};
use ir::walk::{Item, bodies, transition_exprs, visit_expr, visit_own, visit_place, visit_table_inputs};
use ir::{
    BinaryOp, Block, BlockKind, BlockRole, Effect, Expr, ExprKind, Place, Program, RegisterId, Source, Stmt, StmtKind,
    VarId, VarKind,
};

/// How several workers share the state of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// State for which workers take turns at the whole program, as text for users; empty if they need not.
    pub turns: OrderedSet<String>,
    /// Why a lock around a part of the program is not enough for it.
    pub why_turns: Option<WholeProgram>,
    /// Registers that exist once, which workers touch while they hold a lock around a part of the program.
    pub guarded: OrderedSet<RegisterId>,
    /// Registers of which each worker may have cells of its own: their value is the sum.
    pub sums: OrderedSet<RegisterId>,
    /// The variable with the time, if packets that hold the lock must not see it run backwards.
    pub time: Option<VarId>,
    /// Packets are coalesced or split, or add entries to tables: their order is one of all flows, which only one worker
    /// can preserve.
    pub is_ordered: bool,
}

/// Why workers take turns at a whole program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WholeProgram {
    /// Some state cannot be shared by several threads.
    State,
    /// Packets could observe their order in several blocks or passes.
    Serialised,
    /// Two blocks touch such state.
    Blocks,
    /// A parser or a deparser touches it.
    Block,
    /// An egress touches it that the copies of a packet run through one after the other.
    Copies,
    /// The program reads times that are taken before, or elsewhere than, where packets take the lock.
    Times,
}

impl Sharing {
    /// Analyses a program.
    pub fn of(program: &Program) -> Sharing {
        let changes_tables = program.tables.iter().any(|table| table.adds_on_miss || table.expires);
        let is_ordered = changes_tables || program.may_request(Effect::JoinsOrSplits);
        Sharing { is_ordered, ..Sharing::of_state(program) }
    }

    fn of_state(program: &Program) -> Sharing {
        let sums = sums(program);
        let written = written_registers(program);
        let mut objects = OrderedSet::new();
        walk_program(program, &mut |stmt| objects.extend(touched(program, stmt, &written).filter(is_ordered(&sums))));
        if program.tables.iter().any(|table| table.expires) {
            objects.insert(Object::Timers);
        }
        if objects.is_empty() {
            return Sharing { sums, ..Sharing::default() };
        }
        match guardable(program, &objects) {
            Ok(time) => {
                let register = |object: &Object| match object {
                    Object::Register(register) => Some(*register),
                    _ => None,
                };
                let guarded = objects.iter().filter_map(register).collect();
                Sharing { guarded, sums, time, ..Sharing::default() }
            }
            Err(why) => {
                let turns = objects.iter().map(|&object| state::name(program, object)).collect();
                Sharing { turns, why_turns: Some(why), sums, ..Sharing::default() }
            }
        }
    }

    /// Whether the lock protects an object.
    pub(crate) fn guards(&self, object: Object) -> bool {
        matches!(object, Object::Register(register) if self.guarded.contains(&register))
    }
}

/// Whether the order in which workers use an object is observable.
fn is_ordered(sums: &OrderedSet<RegisterId>) -> impl Fn(&Object) -> bool {
    |object| match object {
        Object::Register(register) => !sums.contains(register),
        Object::Messages | Object::LoopSteps(_) | Object::Random | Object::Meter(_) => false,
        Object::DirectMeter(_) | Object::Entries(_) | Object::Timers | Object::PlugIn | Object::CoalescingBuffers => {
            true
        }
    }
}

/// Checks that a lock around a part of the program is enough for these objects; returns the time's variable, if the
/// lock must cover it.
fn guardable(program: &Program, objects: &OrderedSet<Object>) -> Result<Option<VarId>, WholeProgram> {
    if !objects.iter().all(|object| matches!(object, Object::Register(_))) {
        return Err(WholeProgram::State);
    }
    if state::serialised(program).is_some() {
        return Err(WholeProgram::Serialised);
    }
    if program.mentions_queues() {
        return Err(WholeProgram::Times);
    }
    let mut touching = program.blocks.iter_enumerated().filter(|(_, block)| touches(program, block, objects));
    let (Some((guarded, _)), None) = (touching.next(), touching.next()) else { return Err(WholeProgram::Blocks) };
    match program.blocks[guarded].kind {
        BlockKind::Control { .. } if program.role(guarded) == BlockRole::Control => {}
        _ => return Err(WholeProgram::Block),
    }
    if Some(guarded) != program.architecture.ingress() && program.may_request(Effect::Replicas) {
        return Err(WholeProgram::Copies);
    }
    let Some(time) = program.var_from(Source::IngressTime) else { return Ok(None) };
    let first = program.blocks.iter_enumerated().find(|(_, block)| mentions(program, block, &[time]));
    match first {
        None => Ok(None),
        // It would read times in another order than the block with the lock.
        Some((first, _)) if first < guarded => Err(WholeProgram::Times),
        Some(_) => Ok(Some(time)),
    }
}

fn touches(program: &Program, block: &Block, objects: &OrderedSet<Object>) -> bool {
    let written = written_registers(program);
    let mut found = false;
    walk_block(program, block, Tables::Inside, &mut |item| {
        if let Met::Stmt(stmt) = item {
            found |= touched(program, stmt, &written).is_some_and(|object| objects.contains(&object));
        }
    });
    found
}

/// Whether a block mentions any of these variables.
fn mentions(program: &Program, block: &Block, vars: &[VarId]) -> bool {
    let mut found = false;
    walk_block(program, block, Tables::Inside, &mut |item| {
        found |= matches!(item, Met::Var(var) if vars.contains(&var));
    });
    found
}

/// A step that adds to a cell.
struct Step {
    register: RegisterId,
    /// The variable that holds the cell meanwhile.
    held: VarId,
    /// How often the step mentions it.
    mentions: usize,
}

/// Registers of which every use is part of such a step.
fn sums(program: &Program) -> OrderedSet<RegisterId> {
    let mut uses: OrderedMap<RegisterId, usize> = OrderedMap::new();
    walk_program(program, &mut |stmt| {
        if let StmtKind::RegisterRead { register, .. } | StmtKind::RegisterWrite { register, .. } = &stmt.kind {
            *uses.entry(*register).or_default() += 1;
        }
    });
    if uses.is_empty() {
        return OrderedSet::new();
    }
    let mut steps = Vec::new();
    for body in bodies(program) {
        steps_of(body, &mut steps);
    }
    let mentioned = mention_counts(program);
    let mut held: OrderedMap<VarId, usize> = OrderedMap::new();
    for step in &steps {
        *held.entry(step.held).or_default() += step.mentions;
    }
    let is_private = |var: VarId| {
        let is_carried = program.field_lists.iter().any(|list| list.vars.contains(&var));
        !is_carried && !matches!(program.vars[var].kind, VarKind::Intrinsic(_)) && mentioned.get(&var) == held.get(&var)
    };
    for step in steps.iter().filter(|step| is_private(step.held)) {
        // Each step is a read and a write.
        if let Some(left) = uses.get_mut(&step.register) {
            *left -= 2;
        }
    }
    uses.into_iter().filter(|(_, left)| *left == 0).map(|(register, _)| register).collect()
}

/// The steps in a body and the bodies in it.
fn steps_of(body: &[Stmt], steps: &mut Vec<Step>) {
    for (position, stmt) in body.iter().enumerate() {
        steps.extend(step_at(&body[position..]));
        for inner in stmt.kind.bodies() {
            steps_of(inner, steps);
        }
    }
}

/// The step that these statements begin with.
fn step_at(body: &[Stmt]) -> Option<Step> {
    let StmtKind::RegisterRead { dst: Place::Var(held), register, index } = &body.first()?.kind else { return None };
    let held = *held;
    let (sum, write) = match &body.get(1)?.kind {
        StmtKind::Assign { dst: Place::Var(dst), src } if *dst == held => (Some(src), body.get(2)?),
        _ => (None, body.get(1)?),
    };
    let StmtKind::RegisterWrite { register: written, index: at, value } = &write.kind else { return None };
    if written != register || at != index || count_in(index, held) > 0 {
        return None;
    }
    let mentions = match sum {
        Some(sum) if is_held(value, held) => adds_to(sum, held).then_some(4)?,
        Some(_) => return None,
        None => adds_to(value, held).then_some(2)?,
    };
    Some(Step { register: *register, held, mentions })
}

/// Whether a value is what is held, with something added or taken away that does not depend on it.
fn adds_to(value: &Expr, held: VarId) -> bool {
    let ExprKind::Binary(op, left, right) = &value.kind else { return false };
    match op {
        BinaryOp::Add => {
            (is_held(left, held) && count_in(right, held) == 0) || (is_held(right, held) && count_in(left, held) == 0)
        }
        BinaryOp::Sub => is_held(left, held) && count_in(right, held) == 0,
        _ => false,
    }
}

fn is_held(value: &Expr, held: VarId) -> bool {
    matches!(value.kind, ExprKind::Var(var) if var == held)
}

fn count_in(expr: &Expr, counted: VarId) -> usize {
    let mut count = 0;
    visit_expr(expr, &mut |item| count += usize::from(matches!(item, Item::Var(var) if var == counted)));
    count
}

/// How often each variable is mentioned.
fn mention_counts(program: &Program) -> OrderedMap<VarId, usize> {
    let mut counts: OrderedMap<VarId, usize> = OrderedMap::new();
    let mut see = |item: Item<'_>| {
        if let Item::Var(var) = item {
            *counts.entry(var).or_default() += 1;
        }
    };
    walk_program(program, &mut |stmt| visit_own(&stmt.kind, &mut see));
    for table in &program.tables {
        visit_table_inputs(table, &mut see);
        if let Some((_, Some(place))) = &table.direct_meter {
            visit_place(place, &mut see);
        }
    }
    for action in &program.actions {
        action.params.iter().for_each(|&param| see(Item::Var(param)));
    }
    for block in &program.blocks {
        if let BlockKind::Parser { states, error, .. } = &block.kind {
            see(Item::Var(*error));
            let exprs = states.iter().flat_map(|state| transition_exprs(&state.transition));
            exprs.for_each(|expr| visit_expr(expr, &mut see));
        }
    }
    program.stacks.iter().for_each(|stack| see(Item::Var(stack.next)));
    counts
}
