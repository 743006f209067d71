//! Elements of stacks that are indexed at run time.

use crate::fold;
use crate::values::{choose_scalar, index_below, position_bits};
use base::{Bits, Span};
use ir::{BinaryOp, Body, Expr, ExprKind, HeaderId, HeaderRef, Program, StackId, Stmt, StmtKind, SwitchCase, Type};

/// The first of the headers that a reference may refer to: either all of them have variables, or none.
pub(super) fn first(program: &Program, header: &HeaderRef) -> Option<HeaderId> {
    match header {
        HeaderRef::Fixed(id) => Some(*id),
        HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
            program.stacks[*stack].elements.first().copied()
        }
    }
}

/// The stack that a reference indexes at run time, and the index; none if it names a header directly.
pub(super) fn index(program: &Program, header: &HeaderRef) -> Option<(StackId, Expr)> {
    let next = |stack: StackId| Expr { kind: ExprKind::Var(program.stacks[stack].next), ty: Type::Bit(32) };
    match header {
        HeaderRef::Fixed(_) => None,
        HeaderRef::Element { stack, index } => Some((*stack, (**index).clone())),
        HeaderRef::Next(stack) => Some((*stack, next(*stack))),
        HeaderRef::Last(stack) => Some((*stack, fold::binary(BinaryOp::Sub, next(*stack), Expr::bit(32, 1)))),
    }
}

/// The element that an extraction has filled, as a reference after it.
pub(super) fn extracted(header: &HeaderRef) -> HeaderRef {
    match header {
        HeaderRef::Next(stack) => HeaderRef::Last(*stack),
        _ => header.clone(),
    }
}

/// Whether an index costs nothing to evaluate again, and does not change.
pub(super) fn is_plain(index: &Expr) -> bool {
    matches!(index.kind, ExprKind::Const(_))
}

/// The item at an index; zero if it is out of range.
pub(super) fn choose(index: &Expr, items: &[Expr], ty: Type) -> Expr {
    let none = Expr::constant(ty, Bits::zero(ty.width()));
    if items.is_empty() {
        return none;
    }
    fold::mux(index_below(index, items.len()), choose_scalar(index, items, 0), none)
}

/// Runs the statements for an index; none if it is out of range.
pub(super) fn choice(index: &Expr, ways: Vec<Body>, span: Span) -> Body {
    let case = |(position, body): (usize, Body)| {
        Some(SwitchCase { values: vec![position_bits(index.ty.width(), position)?], body })
    };
    let cases = ways.into_iter().enumerate().filter_map(case).collect();
    vec![Stmt { kind: StmtKind::Switch { value: index.clone(), cases, default: Vec::new() }, span }]
}

/// For each element of a stack that moves, the element whose contents it gets (`None`: zeros), in an order in which no
/// contents are lost.
pub(super) fn moves(elements: &[HeaderId], count: usize, is_push: bool) -> Vec<(HeaderId, Option<HeaderId>)> {
    let source = |position: usize| match is_push {
        true => position.checked_sub(count),
        false => position.checked_add(count),
    };
    let moved =
        |(position, to): (usize, &HeaderId)| (*to, source(position).and_then(|source| elements.get(source)).copied());
    match is_push {
        true => elements.iter().enumerate().rev().map(moved).collect(),
        false => elements.iter().enumerate().map(moved).collect(),
    }
}
