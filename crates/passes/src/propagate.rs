//! Replaces reads of variables by their values.
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
//! a load per packet where a table is between them; once the copies are not read, `dead-stores` removes them.
//!
//! Constants, variables, fields of named headers and casts of these are substituted wherever the variable still has
//! their value. Larger expressions are substituted only if their variable is read at one place in the whole program, so
//! that nothing is computed twice. A local variable is zero where a block starts.
//!
//! Statements need no search for the facts that they invalidate: storage has the number of its last write, and a value
//! is valid as long as the storage that it was computed from still has the same numbers.
//!
//! Limits: facts are not carried into actions, nor into parser states with more than one predecessor. Fields are not
//! followed, as a write to one has no effect while its header is invalid.

use crate::Pass;
use crate::effects::Writes;
use crate::flow::{self, Domain};
use crate::shared_map::SharedMap;
use base::index::Id as _;
use base::{Bits, IndexVec, OrderedMap, OrderedSet};
use ir::walk::{self, Item, Part};
use ir::{Expr, ExprKind, HeaderId, HeaderRef, Place, Program, Stack, StackId, StmtKind, Type, VarId, VarKind};
use std::cell::Cell;
use std::rc::Rc;

/// See the module.
pub const PASS: Pass =
    Pass { name: "propagate", description: "puts known values of variables where they are read", run };

/// Parts of the largest expression that is substituted for a variable.
const PARTS_MAX: usize = 24;

fn run(program: &mut Program) {
    let mut reads = OrderedMap::new();
    count_reads(program, &mut reads);
    let domain = Values {
        types: program.vars.iter().map(|var| var.ty).collect(),
        is_local: program.vars.iter().map(|var| var.kind == VarKind::Local).collect(),
        stacks: program.stacks.clone(),
        header_count: program.headers.len(),
        reads,
        writes: Cell::new(0),
    };
    flow::walk_program(program, &domain);
}

/// The number of places where each variable is read.
fn count_reads(program: &Program, reads: &mut OrderedMap<VarId, u32>) {
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
    is_local: IndexVec<VarId, bool>,
    stacks: IndexVec<StackId, Stack>,
    header_count: usize,
    reads: OrderedMap<VarId, u32>,
    /// The number of the last write.
    writes: Cell<u64>,
}

/// Storage from which values are computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Storage {
    Var(VarId),
    Header(HeaderId),
}

/// The value of a variable, and the storage that it was computed from, with the numbers of the last writes at that
/// time.
#[derive(Clone)]
struct Known {
    value: Expr,
    made_of: Vec<(Storage, u64)>,
}

#[derive(Clone)]
struct KnownValues {
    /// Whether a local variable without a write is zero.
    is_start: bool,
    /// The number of the last write to each variable and header that was written.
    written_vars: SharedMap<u64>,
    written_headers: SharedMap<u64>,
    /// Values of variables; some are no longer valid.
    values: SharedMap<Rc<Known>>,
}

impl KnownValues {
    fn last_write(&self, storage: Storage) -> u64 {
        let number = match storage {
            Storage::Var(var) => self.written_vars.get(var.index()),
            Storage::Header(header) => self.written_headers.get(header.index()),
        };
        number.copied().unwrap_or(0)
    }

    fn is_current(&self, known: &Known) -> bool {
        known.made_of.iter().all(|(storage, write)| self.last_write(*storage) == *write)
    }

    /// The value of a variable, if it is known.
    fn value(&self, var: VarId) -> Option<&Rc<Known>> {
        self.values.get(var.index()).filter(|known| self.is_current(known))
    }

    fn stamped(&self, value: Expr, made_of: impl Iterator<Item = Storage>) -> Known {
        Known { value, made_of: made_of.map(|storage| (storage, self.last_write(storage))).collect() }
    }
}

impl Values {
    fn next_write(&self) -> u64 {
        self.writes.set(self.writes.get() + 1);
        self.writes.get()
    }

    /// The storage that an expression reads.
    fn made_of(&self, value: &Expr) -> OrderedSet<Storage> {
        let mut made_of = OrderedSet::new();
        walk::visit_expr(value, &mut |item| match item {
            Item::Var(var) => _ = made_of.insert(Storage::Var(var)),
            Item::Header(header) | Item::Field(header, _) => match header {
                HeaderRef::Fixed(id) => _ = made_of.insert(Storage::Header(*id)),
                HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                    made_of.extend(self.stacks[*stack].elements.iter().map(|&id| Storage::Header(id)));
                    made_of.insert(Storage::Var(self.stacks[*stack].next));
                }
            },
            _ => {}
        });
        made_of
    }

    /// Whether a value may replace every read of its variable.
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

impl Domain for Values {
    type State = KnownValues;

    fn start(&self) -> KnownValues {
        KnownValues { is_start: true, ..self.nothing() }
    }

    fn nothing(&self) -> KnownValues {
        KnownValues {
            is_start: false,
            written_vars: SharedMap::new(self.types.len()),
            written_headers: SharedMap::new(self.header_count),
            values: SharedMap::new(self.types.len()),
        }
    }

    fn meet(&self, state: &mut KnownValues, other: &KnownValues) {
        let mut kept = Vec::new();
        let mut values = state.values.clone();
        values.meet(&other.values, &mut |var, here, there| {
            let (here, there) = (here?, there?);
            if Rc::ptr_eq(here, there) {
                return Some(here.clone());
            }
            let holds = here.value == there.value && state.is_current(here) && other.is_current(there);
            holds.then(|| {
                kept.push(var);
                here.clone()
            })
        });
        // Storage that was written on one of two paths counts as written where they join.
        let number = self.next_write();
        let mut newer = |_, here: Option<&u64>, there: Option<&u64>| match here == there {
            true => here.copied(),
            false => Some(number),
        };
        state.written_vars.meet(&other.written_vars, &mut newer);
        state.written_headers.meet(&other.written_headers, &mut newer);
        for var in kept {
            let Some(known) = values.get(var).filter(|known| !state.is_current(known)) else { continue };
            let made_of = known.made_of.iter().map(|(storage, _)| *storage);
            let known = Rc::new(state.stamped(known.value.clone(), made_of));
            values.set(var, Some(known));
        }
        state.values = values;
        state.is_start &= other.is_start;
    }

    fn forget(&self, state: &mut KnownValues, writes: &Writes) {
        let number = self.next_write();
        for var in &writes.vars {
            state.written_vars.set(var.index(), Some(number));
            state.values.set(var.index(), None);
        }
        for header in &writes.headers {
            state.written_headers.set(header.index(), Some(number));
        }
    }

    fn rewrite(&self, state: &KnownValues, part: Part<'_>) {
        let Part::Expr(expr) = part else { return };
        let ExprKind::Var(var) = expr.kind else { return };
        if let Some(known) = state.value(var) {
            *expr = known.value.clone();
        } else if state.is_start && self.is_local[var] && state.last_write(Storage::Var(var)) == 0 {
            *expr = Expr::constant(self.types[var], Bits::zero(self.types[var].width()));
        }
    }

    fn learn(&self, state: &mut KnownValues, stmt: &StmtKind) {
        if let StmtKind::Assign { dst: Place::Var(var), src } = stmt {
            let value = Expr::cast(self.types[*var], src.clone());
            let made_of = self.made_of(&value);
            // The statement itself may have changed the storage that its value was computed from.
            if !made_of.contains(&Storage::Var(*var)) && self.may_move(*var, &value) {
                let known = state.stamped(value, made_of.into_iter());
                state.values.set(var.index(), Some(Rc::new(known)));
            }
        }
    }

    fn assume(&self, _state: &mut KnownValues, _cond: &Expr, _value: bool) {}
}
