//! Traversals of the typed tree that several checks share.

use base::OrderedSet;
use sema::hir::*;
pub(crate) use sema::walk::{blocks_of, for_each_part};

/// Whether an expression depends on variables only and its evaluation has no side effects.
pub(crate) fn is_pure(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(call) => matches!(&call.callee, Callee::Builtin(Builtin::IsValid, object) if is_pure(object)),
        ExprKind::Hit(_) | ExprKind::Miss(_) | ExprKind::Construct { .. } | ExprKind::Poisoned => false,
        _ => {
            let mut all = true;
            for_each_part(e, &mut |part| all = all && is_pure(part));
            all
        }
    }
}

/// Whether two expressions are structurally equal. (Implicit casts are ignored.)
pub(crate) fn is_same(a: &Expr, b: &Expr) -> bool {
    let is_same_kind = match (&a.kind, &b.kind) {
        (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
        (ExprKind::Bool(a), ExprKind::Bool(b)) => a == b,
        (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
        (ExprKind::Error(a), ExprKind::Error(b)) | (ExprKind::EnumMember(a), ExprKind::EnumMember(b)) => a == b,
        (ExprKind::Field(_, a), ExprKind::Field(_, b)) | (ExprKind::TupleIndex(_, a), ExprKind::TupleIndex(_, b)) => {
            a == b
        }
        (ExprKind::Index(..), ExprKind::Index(..))
        | (ExprKind::StackLast(_), ExprKind::StackLast(_))
        | (ExprKind::StackLastIndex(_), ExprKind::StackLastIndex(_))
        | (ExprKind::Conditional(..), ExprKind::Conditional(..))
        | (ExprKind::Cast(_), ExprKind::Cast(_)) => true,
        (ExprKind::Slice(_, a, b), ExprKind::Slice(_, c, d)) => (a, b) == (c, d),
        (ExprKind::IndexedSlice { width: a, .. }, ExprKind::IndexedSlice { width: b, .. }) => a == b,
        (ExprKind::Unary(a, _), ExprKind::Unary(b, _)) => a == b,
        (ExprKind::Binary(a, ..), ExprKind::Binary(b, ..)) => a == b,
        (ExprKind::Call(a), ExprKind::Call(b)) => matches!(
            (&a.callee, &b.callee),
            (Callee::Builtin(Builtin::IsValid, _), Callee::Builtin(Builtin::IsValid, _))
        ),
        _ => false,
    };
    if !is_same_kind || a.ty != b.ty {
        return false;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for_each_part(a, &mut |part| left.push(part));
    for_each_part(b, &mut |part| right.push(part));
    left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| is_same(a, b))
}

/// The parameters of the called declaration; none for a built-in.
pub(crate) fn callee_params<'p>(program: &'p Program, callee: &Callee) -> &'p [VarId] {
    match callee {
        Callee::Function(id) => &program.functions[*id].params,
        Callee::Action(id) => &program.actions[*id].params,
        Callee::Method(object, position) => match &object.ty {
            Type::Extern(id, _) => program.externs[*id].methods.get(*position).map_or(&[], |method| &method.params),
            _ => &[],
        },
        Callee::Apply(object) => match &object.ty {
            Type::Parser(id, _) => &program.parsers[*id].params,
            Type::Control(id, _) => &program.controls[*id].params,
            Type::Apply(id, _) => &program.apply_types[*id].params,
            _ => &[],
        },
        Callee::ApplyTable(_) | Callee::Builtin(..) => &[],
    }
}

/// The functions that implement abstract methods.
pub(crate) fn method_implementations(program: &Program) -> OrderedSet<FunctionId> {
    program.instances.iter().flat_map(|instance| instance.methods.iter().map(|(_, function)| *function)).collect()
}

/// The direction of a parameter.
pub(crate) fn direction(program: &Program, param: VarId) -> syntax::ast::Direction {
    match program.vars[param].kind {
        VarKind::Parameter { direction, .. } => direction,
        _ => syntax::ast::Direction::None,
    }
}

/// The arguments of a call with the directions of their parameters. One without a parameter counts as `inout`.
pub(crate) fn arguments<'e>(
    program: &Program,
    params: &[VarId],
    args: &'e [Option<Expr>],
) -> Vec<(syntax::ast::Direction, &'e Expr)> {
    let direction_at =
        |index: usize| params.get(index).map_or(syntax::ast::Direction::InOut, |param| direction(program, *param));
    args.iter().enumerate().filter_map(|(index, arg)| Some((direction_at(index), arg.as_ref()?))).collect()
}
