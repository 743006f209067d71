//! Expressions and places: their values in a packet's state. Writing to a place is the only side effect.

use crate::state::PacketState;
use base::Bits;
use ir::{BinaryOp, Expr, ExprKind, FieldType, HeaderId, HeaderRef, Place, Program, Type, UnaryOp};

/// The value of an expression, of its type's width.
pub(crate) fn eval(program: &Program, state: &PacketState, expr: &Expr) -> Bits {
    let eval = |operand: &Expr| eval(program, state, operand);
    match &expr.kind {
        ExprKind::Const(value) => value.clone(),
        ExprKind::Var(var) => state.var(*var),
        ExprKind::Field(header, field) => match resolve(program, state, header) {
            Some(id) => state.header(id).fields[*field as usize].clone(),
            None => Bits::zero(expr.ty.width()),
        },
        ExprKind::IsValid(header) => {
            Bits::from_bool(resolve(program, state, header).is_some_and(|id| state.header(id).valid))
        }
        ExprKind::VarbitLength(header, field) => {
            Bits::from_u64(32, u64::from(varbit(program, state, &(header.clone(), *field)).width()))
        }
        ExprKind::VarbitBits(header, field) => {
            varbit(program, state, &(header.clone(), *field)).resize(expr.ty.width())
        }
        ExprKind::VarbitEqual(left, right) => {
            Bits::from_bool(varbit(program, state, left) == varbit(program, state, right))
        }
        ExprKind::Unary(op, operand) => unary(*op, &eval(operand)),
        // Operands have no effects, so the second one matters only if the first one does not decide.
        ExprKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), left, right) => {
            let left = eval(left);
            if left.is_zero() == (*op == BinaryOp::LogicalAnd) { left } else { eval(right) }
        }
        ExprKind::Binary(op, left, right) => binary(*op, left.ty, &eval(left), &eval(right)),
        ExprKind::Mux(cond, yes, no) => {
            if eval(cond).is_zero() {
                eval(no)
            } else {
                eval(yes)
            }
        }
        ExprKind::Cast(operand) => cast(operand.ty, expr.ty, &eval(operand)),
        ExprKind::Slice { base, high, low } => eval(base).slice(*high, *low),
        ExprKind::Concat(high, low) => eval(high).concat(&eval(low)),
        ExprKind::PacketLength => Bits::from_u64(32, state.packet.len() as u64),
    }
}

/// The contents of a varbit field, as wide as its current length; empty if the header is invalid.
pub(crate) fn varbit(program: &Program, state: &PacketState, (header, field): &(HeaderRef, u32)) -> Bits {
    match resolve(program, state, header) {
        Some(id) => state.header(id).fields[*field as usize].clone(),
        None => Bits::zero(0),
    }
}

/// Whether a `Bool` expression is true.
pub(crate) fn eval_bool(program: &Program, state: &PacketState, expr: &Expr) -> bool {
    !eval(program, state, expr).is_zero()
}

/// The result of a unary operator.
pub fn unary(op: UnaryOp, operand: &Bits) -> Bits {
    match op {
        UnaryOp::Neg => operand.neg(),
        UnaryOp::BitNot | UnaryOp::Not => operand.not(),
    }
}

/// The result of a binary operator whose left operand has type `ty`.
pub fn binary(op: BinaryOp, ty: Type, left: &Bits, right: &Bits) -> Bits {
    let signed = ty.is_signed();
    let order = |right: &Bits| if signed { left.cmp_signed(right) } else { left.cmp_unsigned(right) };
    match op {
        BinaryOp::Add => left.add(right),
        BinaryOp::Sub => left.sub(right),
        BinaryOp::Mul => left.mul(right),
        BinaryOp::Div => left.div(right).unwrap_or_else(|| Bits::zero(left.width())),
        BinaryOp::Rem => left.rem(right).unwrap_or_else(|| Bits::zero(left.width())),
        BinaryOp::SaturatingAdd if signed => left.signed_saturating_add(right),
        BinaryOp::SaturatingAdd => left.saturating_add(right),
        BinaryOp::SaturatingSub if signed => left.signed_saturating_sub(right),
        BinaryOp::SaturatingSub => left.saturating_sub(right),
        BinaryOp::And | BinaryOp::LogicalAnd => left.and(right),
        BinaryOp::Or | BinaryOp::LogicalOr => left.or(right),
        BinaryOp::Xor => left.xor(right),
        BinaryOp::Shl => left.shl(amount(right)),
        BinaryOp::Shr if signed => left.sar(amount(right)),
        BinaryOp::Shr => left.shr(amount(right)),
        BinaryOp::Gather => left.gather(right),
        BinaryOp::Scatter => left.scatter(right),
        BinaryOp::Eq => Bits::from_bool(left == right),
        BinaryOp::Ne => Bits::from_bool(left != right),
        BinaryOp::Lt => Bits::from_bool(order(right).is_lt()),
        BinaryOp::Le => Bits::from_bool(order(right).is_le()),
        BinaryOp::Gt => Bits::from_bool(order(right).is_gt()),
        BinaryOp::Ge => Bits::from_bool(order(right).is_ge()),
    }
}

/// Converts a value of type `from` to type `to`.
pub fn cast(from: Type, to: Type, value: &Bits) -> Bits {
    if from.is_signed() { value.sign_resize(to.width()) } else { value.resize(to.width()) }
}

/// A shift's amount. An amount that does not fit in 64 bits exceeds every width, so it is clamped.
fn amount(bits: &Bits) -> u64 {
    bits.to_u64().unwrap_or(u64::MAX)
}

/// The header that a reference denotes in this state, if it exists.
pub(crate) fn resolve(program: &Program, state: &PacketState, header: &HeaderRef) -> Option<HeaderId> {
    let element = |stack: ir::StackId, index: usize| program.stacks[stack].elements.get(index).copied();
    match header {
        HeaderRef::Fixed(id) => Some(*id),
        HeaderRef::Element { stack, index } => {
            let index = eval(program, state, index).to_u64()?;
            element(*stack, usize::try_from(index).ok()?)
        }
        HeaderRef::Next(stack) => element(*stack, state.stack_next(program, *stack)),
        HeaderRef::Last(stack) => element(*stack, state.stack_next(program, *stack).checked_sub(1)?),
    }
}

/// The width of a place.
pub(crate) fn place_width(program: &Program, place: &Place) -> u32 {
    match place {
        Place::Var(var) => program.vars[*var].ty.width(),
        Place::Field(header, field) => match program.header_type(header).fields[*field as usize].ty {
            FieldType::Fixed(ty) => ty.width(),
            FieldType::Varbit(max) => max,
        },
        Place::Slice { high, low, .. } => high - low + 1,
    }
}

/// The value at a place.
fn read_place(program: &Program, state: &PacketState, place: &Place) -> Bits {
    match place {
        Place::Var(var) => state.var(*var),
        Place::Field(header, field) => match resolve(program, state, header) {
            Some(id) => state.header(id).fields[*field as usize].clone(),
            None => Bits::zero(place_width(program, place)),
        },
        Place::Slice { base, high, low } => read_place(program, state, base).slice(*high, *low),
    }
}

/// Writes a value of the place's width. False if it is not kept: the place is in an invalid header, or in an element
/// outside of its stack.
pub(crate) fn write_place(program: &Program, state: &mut PacketState, place: &Place, value: &Bits) -> bool {
    match place {
        Place::Var(var) => {
            state.set_var(*var, value.clone());
            true
        }
        Place::Field(header, field) => {
            let Some(id) = resolve(program, state, header) else { return false };
            let header = state.header_mut(id);
            if header.valid {
                header.fields[*field as usize] = value.clone();
            }
            header.valid
        }
        Place::Slice { base, high, low } => {
            let whole = read_place(program, state, base).with_slice(*high, *low, value);
            write_place(program, state, base, &whole)
        }
    }
}
