//! Actions that are copies of each other.
//!
//! What enters: two actions of the typed tree, each in an instance of its control. What leaves: whether they have the
//! same parameters and statements. Translation from P4_14 copies an action into each control that uses it; the copies
//! have one name for controllers, so what one does the other must do. Variables, instances and parameters are compared
//! by name: those of another control are other declarations. Constants and arguments of constructors are compared by
//! value.

use crate::blocks::{Passed, Placed};
use crate::types::{Bound, substituted};
use base::OrderedMap;
use sema::hir::{Action, ActionId, Block, Call, Callee, Expr, ExprKind, Local, Program, Stmt, StmtKind, Type, VarId};
use sema::walk::{blocks_of, exprs_of, for_each_part};
use std::mem::discriminant;
use std::rc::Rc;

/// The constants of all controls.
pub(crate) type Constants<'h> = OrderedMap<VarId, &'h Expr>;

/// Collects the constants of all controls.
pub(crate) fn constants(tree: &Program) -> Constants<'_> {
    let locals = tree.controls.iter().flat_map(|control| &control.locals);
    let constant = |local| match local {
        &Local::Const(var, ref value) => Some((var, value)),
        _ => None,
    };
    locals.filter_map(constant).collect()
}

/// Whether two actions are copies of one.
pub(crate) fn are_copies<'h>(
    tree: &'h Program,
    constants: &Constants<'h>,
    one: &Placed<'h, ActionId>,
    other: &Placed<'h, ActionId>,
) -> bool {
    Comparison { tree, constants, one: Names::of(one), other: Names::of(other) }.actions(one.id, other.id)
}

/// The meaning of names in the instance of a control.
#[derive(Clone)]
struct Names<'h> {
    passed: Passed<'h>,
    bound: Rc<Bound>,
}

impl<'h> Names<'h> {
    fn of(place: &Placed<'h, ActionId>) -> Names<'h> {
        Names { passed: Rc::clone(&place.passed), bound: Rc::clone(&place.bound) }
    }
}

struct Comparison<'c, 'h> {
    tree: &'h Program,
    constants: &'c Constants<'h>,
    one: Names<'h>,
    other: Names<'h>,
}

impl<'h> Comparison<'_, 'h> {
    fn actions(&self, one: ActionId, other: ActionId) -> bool {
        let (one, other): (&Action, &Action) = (&self.tree.actions[one], &self.tree.actions[other]);
        self.all(&one.params, &other.params, |a, b| self.variables(*a, *b)) && self.blocks(&one.body, &other.body)
    }

    fn all<T>(&self, one: &[T], other: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
    }

    fn variables(&self, one: VarId, other: VarId) -> bool {
        match (self.value(one, &self.one), self.value(other, &self.other)) {
            (Some((value, one)), Some((other_value, other))) => {
                Comparison { one, other, ..*self }.exprs(value, other_value)
            }
            (None, None) => {
                let (one, other) = (&self.tree.vars[one], &self.tree.vars[other]);
                one.name == other.name && self.types(&one.ty, &other.ty)
            }
            _ => false,
        }
    }

    /// The value of a constant or of a parameter of a constructor, and what the names in it mean.
    fn value(&self, var: VarId, names: &Names<'h>) -> Option<(&'h Expr, Names<'h>)> {
        if let Some((_, argument)) = names.passed.iter().find(|(param, _)| *param == var) {
            let (passed, bound) = (Rc::clone(&argument.passed), Rc::clone(&argument.bound));
            return Some((argument.made, Names { passed, bound }));
        }
        Some((*self.constants.get(&var)?, names.clone()))
    }

    fn types(&self, one: &Type, other: &Type) -> bool {
        substituted(one, &self.one.bound) == substituted(other, &self.other.bound)
    }

    fn blocks(&self, one: &Block, other: &Block) -> bool {
        self.statements(&one.stmts, &other.stmts)
    }

    fn statements(&self, one: &[Stmt], other: &[Stmt]) -> bool {
        self.all(one, other, |one, other| self.are_same_statements(one, other))
    }

    fn are_same_statements(&self, one: &Stmt, other: &Stmt) -> bool {
        let own_parts = match (&one.kind, &other.kind) {
            (StmtKind::Local(Local::Var(one, _)), StmtKind::Local(Local::Var(other, _)))
            | (StmtKind::Local(Local::Const(one, _)), StmtKind::Local(Local::Const(other, _)))
            | (StmtKind::ForIn { var: one, .. }, StmtKind::ForIn { var: other, .. }) => self.variables(*one, *other),
            (
                StmtKind::SwitchValue { cases: one, default: first, .. },
                StmtKind::SwitchValue { cases: other, default: second, .. },
            ) => {
                let are_same_labels = |one: &Expr, other: &Expr| self.exprs(one, other);
                first.is_some() == second.is_some()
                    && self.all(one, other, |one, other| self.all(&one.labels, &other.labels, are_same_labels))
            }
            (StmtKind::For { init, update, .. }, StmtKind::For { init: other_init, update: other_update, .. }) => {
                self.statements(init, other_init) && self.statements(update, other_update)
            }
            (one, other) => discriminant(one) == discriminant(other),
        };
        own_parts
            && self.all(&exprs_of(one), &exprs_of(other), |one, other| self.exprs(one, other))
            && self.all(&blocks_of(one), &blocks_of(other), |one, other| self.blocks(one, other))
    }

    fn exprs(&self, one: &Expr, other: &Expr) -> bool {
        let (mut parts, mut other_parts) = (Vec::new(), Vec::new());
        for_each_part(one, &mut |part| parts.push(part));
        for_each_part(other, &mut |part| other_parts.push(part));
        self.types(&one.ty, &other.ty)
            && self.are_same_kinds(&one.kind, &other.kind)
            && self.all(&parts, &other_parts, |one, other| self.exprs(one, other))
    }

    /// Compares what an expression has besides its type and its parts.
    fn are_same_kinds(&self, one: &ExprKind, other: &ExprKind) -> bool {
        match (one, other) {
            (ExprKind::Var(one), ExprKind::Var(other)) => self.variables(*one, *other),
            (ExprKind::Instance(one), ExprKind::Instance(other)) => {
                self.tree.instances[*one].name == self.tree.instances[*other].name
            }
            (ExprKind::Bool(one), ExprKind::Bool(other)) => one == other,
            (ExprKind::Int(one), ExprKind::Int(other)) => one == other,
            (ExprKind::String(one), ExprKind::String(other)) => one == other,
            (ExprKind::Error(one), ExprKind::Error(other))
            | (ExprKind::MatchKind(one), ExprKind::MatchKind(other))
            | (ExprKind::EnumMember(one), ExprKind::EnumMember(other))
            | (ExprKind::Field(_, one), ExprKind::Field(_, other))
            | (ExprKind::TupleIndex(_, one), ExprKind::TupleIndex(_, other)) => one == other,
            (ExprKind::Slice(_, high, low), ExprKind::Slice(_, other_high, other_low)) => {
                (high, low) == (other_high, other_low)
            }
            (ExprKind::IndexedSlice { width: one, .. }, ExprKind::IndexedSlice { width: other, .. }) => one == other,
            (ExprKind::Unary(one, _), ExprKind::Unary(other, _)) => one == other,
            (ExprKind::Binary(one, ..), ExprKind::Binary(other, ..)) => one == other,
            (ExprKind::Aggregate(one), ExprKind::Aggregate(other)) => {
                self.all(one, other, |one, other| one.is_some() == other.is_some())
            }
            (ExprKind::Call(one), ExprKind::Call(other)) => self.calls(one, other),
            (one, other) => discriminant(one) == discriminant(other),
        }
    }

    fn calls(&self, one: &Call, other: &Call) -> bool {
        let is_same_callee = match (&one.callee, &other.callee) {
            (Callee::Function(one), Callee::Function(other)) => one == other,
            (Callee::Action(one), Callee::Action(other)) => self.actions(*one, *other),
            (Callee::Method(_, one), Callee::Method(_, other)) => one == other,
            (Callee::Builtin(one, _), Callee::Builtin(other, _)) => one == other,
            (one, other) => discriminant(one) == discriminant(other),
        };
        is_same_callee
            && self.all(&one.type_args, &other.type_args, |one, other| self.types(one, other))
            && self.all(&one.args, &other.args, |one, other| one.is_some() == other.is_some())
    }
}
