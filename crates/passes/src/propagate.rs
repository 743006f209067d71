//! Puts the values of variables where the variables are read.
//!
//! Before:
//! ```text
//! v5 = h0.2
//! v6 = 16w0x800
//! if (v5 == v6) {
//!   v7 = (v0 + 9w0x1)
//!   v1 = v7
//! }
//! ```
//! After:
//! ```text
//! v5 = h0.2
//! v6 = 16w0x800
//! if (h0.2 == 16w0x800) {
//!   v7 = (v0 + 9w0x1)
//!   v1 = (v0 + 9w0x1)
//! }
//! ```
//! Lowering copies arguments in and results out of everything that it inlines. Each copy costs native code a store and
//! a load per packet where a table lies between them; once nothing reads the copies, `dead-stores` removes them.
//!
//! Constants, variables, fields of named headers and casts of these are put in wherever they are still what the
//! variable holds. Greater expressions are put in only if their variable is read at one place in the whole program, so
//! that nothing is computed twice. A local variable is zero where a block starts.
//!
//! Limits: what is known does not reach into actions, and not into parser states that are entered from more than one
//! place. Fields are not followed, as a write to one has no effect while its header is invalid.

use crate::Pass;
use crate::effects::Writes;
use crate::flow::{self, Domain};
use base::{Bits, IndexVec};
use ir::walk::{self, Item, Part};
use ir::{Expr, ExprKind, HeaderId, HeaderRef, Place, Program, Stack, StackId, StmtKind, Type, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
pub const PASS: Pass =
    Pass { name: "propagate", description: "puts known values of variables where they are read", run };

/// Parts of the greatest expression that is put in for a variable.
const PARTS_MAX: usize = 24;

fn run(program: &mut Program) {
    let mut reads = BTreeMap::new();
    count_reads(program, &mut reads);
    let domain = Values {
        types: program.vars.iter().map(|var| var.ty).collect(),
        locals: program
            .vars
            .iter_enumerated()
            .filter(|(_, var)| var.kind == VarKind::Local)
            .map(|(id, _)| id)
            .collect(),
        stacks: program.stacks.clone(),
        reads,
    };
    flow::walk_program(program, &domain);
}

/// At how many places each variable is read.
fn count_reads(program: &Program, reads: &mut BTreeMap<VarId, u32>) {
    let mut see = |item: Item<'_>| {
        if let Item::Expr(Expr { kind: ExprKind::Var(var), .. }) = item {
            *reads.entry(*var).or_insert(0) += 1;
        }
    };
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| walk::visit_own(&stmt.kind, &mut see));
    }
    for block in &program.blocks {
        if let ir::BlockKind::Parser { states, .. } = &block.kind {
            for expr in states.iter().flat_map(|state| walk::transition_exprs(&state.transition)) {
                walk::visit_expr(expr, &mut see);
            }
        }
    }
    for table in &program.tables {
        walk::visit_table_inputs(table, &mut see);
        if let Some((_, Some(place))) = &table.direct_meter {
            walk::visit_place(place, &mut see);
        }
    }
}

struct Values {
    types: IndexVec<VarId, Type>,
    locals: Vec<VarId>,
    stacks: IndexVec<StackId, Stack>,
    reads: BTreeMap<VarId, u32>,
}

/// What a variable holds, and what that is made of.
#[derive(Clone, PartialEq)]
struct Known {
    value: Expr,
    vars: BTreeSet<VarId>,
    headers: BTreeSet<HeaderId>,
}

impl Values {
    fn known(&self, value: Expr) -> Known {
        let (mut vars, mut headers) = (BTreeSet::new(), BTreeSet::new());
        walk::visit_expr(&value, &mut |item| match item {
            Item::Var(var) => _ = vars.insert(var),
            Item::Header(header) | Item::Field(header, _) => match header {
                HeaderRef::Fixed(id) => _ = headers.insert(*id),
                HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                    headers.extend(&self.stacks[*stack].elements);
                    vars.insert(self.stacks[*stack].next);
                }
            },
            _ => {}
        });
        Known { value, vars, headers }
    }

    /// Whether a value may be put in wherever its variable is read.
    fn may_move(&self, var: VarId, value: &Expr) -> bool {
        let mut parts = 0;
        walk::visit_expr(value, &mut |item| parts += usize::from(matches!(item, Item::Expr(_))));
        is_cheap(value) || parts <= PARTS_MAX && self.reads.get(&var) == Some(&1)
    }
}

fn is_cheap(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::PacketLength => true,
        ExprKind::Field(header, _) | ExprKind::IsValid(header) => matches!(header, HeaderRef::Fixed(_)),
        ExprKind::Cast(operand) => is_cheap(operand),
        _ => false,
    }
}

/// Variables whose values are known at one place, at most: each statement looks at all of them.
const KNOWN_MAX: usize = 2048;

impl Domain for Values {
    type State = BTreeMap<VarId, Known>;

    fn start(&self) -> Self::State {
        let zero = |var: VarId| Expr::constant(self.types[var], Bits::zero(self.types[var].width()));
        self.locals.iter().take(KNOWN_MAX).map(|&var| (var, self.known(zero(var)))).collect()
    }

    fn nothing(&self) -> Self::State {
        BTreeMap::new()
    }

    fn meet(&self, state: &mut Self::State, other: &Self::State) {
        state.retain(|var, known| other.get(var) == Some(known));
    }

    fn forget(&self, state: &mut Self::State, writes: &Writes) {
        if writes.vars.is_empty() && writes.headers.is_empty() {
            return;
        }
        state.retain(|var, known| {
            !writes.vars.contains(var)
                && known.vars.is_disjoint(&writes.vars)
                && known.headers.is_disjoint(&writes.headers)
        });
    }

    fn rewrite(&self, state: &Self::State, part: Part<'_>) {
        if let Part::Expr(expr) = part
            && let ExprKind::Var(var) = expr.kind
            && let Some(known) = state.get(&var)
        {
            *expr = known.value.clone();
        }
    }

    fn learn(&self, state: &mut Self::State, stmt: &StmtKind) {
        if let StmtKind::Assign { dst: Place::Var(var), src } = stmt {
            let known = self.known(Expr::cast(self.types[*var], src.clone()));
            // The statement itself may have changed what its value was made of.
            let has_room = state.len() < KNOWN_MAX;
            if has_room && !known.vars.contains(var) && self.may_move(*var, &known.value) {
                state.insert(*var, known);
            }
        }
    }

    fn assume(&self, _state: &mut Self::State, _cond: &Expr, _value: bool) {}
}
