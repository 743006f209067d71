//! What several workers need a guard for.
//!
//! What enters: a program. What leaves: the state whose order of use packets can see, by its name for people, and the
//! registers that are *sums*: each use of them reads a cell, adds to it or takes from it, and writes it back, and
//! nobody looks at what was read. The order of such steps cannot be seen, so each worker may have cells of its own that
//! begin at zero, and what the register holds is the sum of all. Counters are sums by their nature, and digests and log
//! messages have no order between workers.
//!
//! ```text
//! read v17 = register0[index]
//! v17 = v17 + 1                    (or within the value that is written)
//! write register0[index] = v17     `v17` is mentioned nowhere else in the program
//! ```
//!
//! The three stand side by side, so that nothing that the index or the addend looks at changes between them.

use super::state::{self, Object, touched, walk_program, written_registers};
use ir::walk::{Item, bodies, transition_exprs, visit_expr, visit_own, visit_place, visit_table_inputs};
use ir::{BinaryOp, BlockKind, Expr, ExprKind, Place, Program, RegisterId, Stmt, StmtKind, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};

/// What several workers need a guard for, and what they need not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// What must be guarded, for people; empty if workers need not know of each other.
    pub guarded: BTreeSet<String>,
    /// Registers of which each worker may have cells of its own: what they hold is the sum.
    pub sums: BTreeSet<RegisterId>,
}

impl Sharing {
    /// Looks at a program.
    pub fn of(program: &Program) -> Sharing {
        let sums = sums(program);
        let mut guarded = BTreeSet::new();
        // A register that the program only reads is the control plane's, which writes to one place.
        let written = written_registers(program);
        walk_program(program, &mut |stmt| {
            if let StmtKind::RegisterRead { register, .. } | StmtKind::RegisterWrite { register, .. } = &stmt.kind {
                if !sums.contains(register) {
                    guarded.insert(format!("register {}", program.registers[*register].name));
                }
                return;
            }
            guarded.extend(touched(program, stmt, &written).and_then(|object| name(program, object)));
        });
        Sharing { guarded, sums }
    }
}

/// The name of what workers must be kept from touching together.
fn name(program: &Program, object: Object) -> Option<String> {
    let is_guarded = !matches!(object, Object::Messages | Object::LoopSteps(_));
    is_guarded.then(|| state::name(program, object))
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
fn sums(program: &Program) -> BTreeSet<RegisterId> {
    let mut uses: BTreeMap<RegisterId, usize> = BTreeMap::new();
    walk_program(program, &mut |stmt| {
        if let StmtKind::RegisterRead { register, .. } | StmtKind::RegisterWrite { register, .. } = &stmt.kind {
            *uses.entry(*register).or_default() += 1;
        }
    });
    if uses.is_empty() {
        return BTreeSet::new();
    }
    let mut steps = Vec::new();
    for body in bodies(program) {
        steps_of(body, &mut steps);
    }
    let mentioned = mentions(program);
    let mut held: BTreeMap<VarId, usize> = BTreeMap::new();
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

fn count_in(expr: &Expr, wanted: VarId) -> usize {
    let mut count = 0;
    visit_expr(expr, &mut |item| count += usize::from(matches!(item, Item::Var(var) if var == wanted)));
    count
}

/// How often each variable is mentioned.
fn mentions(program: &Program) -> BTreeMap<VarId, usize> {
    let mut counts: BTreeMap<VarId, usize> = BTreeMap::new();
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
