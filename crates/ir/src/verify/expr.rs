//! Checks of expressions, header references and places.

use super::Verifier;
use crate::*;
use base::limits::WIDTH_BITS_MAX;

impl<'p> Verifier<'p> {
    /// The type of the header that is referred to, if it exists.
    pub(super) fn header(&mut self, header: &HeaderRef, in_parser: bool) -> Option<HeaderTypeId> {
        let id = match header {
            HeaderRef::Fixed(id) => *id,
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                if let HeaderRef::Element { index, .. } = header {
                    self.expr(index, in_parser);
                    let unsigned = matches!(index.ty, Type::Bit(_));
                    self.check(unsigned, || format!("an index of type {:?}", index.ty));
                }
                if !self.exists(&self.program.stacks, *stack) {
                    return None;
                }
                *self.program.stacks[*stack].elements.first()?
            }
        };
        let header = self.exists(&self.program.headers, id).then(|| self.program.headers[id].ty)?;
        self.program.header_types.get(header).map(|_| header)
    }

    /// The contents of a header's field, if it exists.
    pub(super) fn field(&mut self, header: &HeaderRef, field: u32, in_parser: bool) -> Option<FieldType> {
        let header_type = self.header(header, in_parser)?;
        let found = self.program.header_types[header_type].fields.get(field as usize).map(|field| field.ty);
        self.check(found.is_some(), || format!("{header_type} has no field {field}"));
        found
    }

    /// The type of a field of fixed width, if it exists.
    fn fixed_field(&mut self, header: &HeaderRef, field: u32, in_parser: bool) -> Option<Type> {
        match self.field(header, field, in_parser)? {
            FieldType::Fixed(ty) => Some(ty),
            FieldType::Varbit(_) => {
                self.error(format!("field {field} is varbit"));
                None
            }
        }
    }

    /// The greatest length of a varbit field, if it exists.
    pub(super) fn varbit(&mut self, (header, field): &(HeaderRef, u32), in_parser: bool) -> Option<u32> {
        match self.field(header, *field, in_parser)? {
            FieldType::Varbit(max) => Some(max),
            FieldType::Fixed(_) => {
                self.error(format!("field {field} is not varbit"));
                None
            }
        }
    }

    /// The type of a place, if it has one.
    pub(super) fn place(&mut self, place: &Place, in_parser: bool) -> Option<Type> {
        match place {
            Place::Var(var) => self.exists(&self.program.vars, *var).then(|| self.program.vars[*var].ty),
            Place::Field(header, field) => self.fixed_field(header, *field, in_parser),
            Place::Slice { base, high, low } => {
                let base = self.place(base, in_parser)?;
                self.slice(base, *high, *low)
            }
        }
    }

    fn slice(&mut self, base: Type, high: u32, low: u32) -> Option<Type> {
        let inside = low <= high && high < base.width() && base != Type::Bool;
        self.check(inside, || format!("a slice [{high}:{low}] of {base:?}"));
        inside.then(|| Type::Bit(high - low + 1))
    }

    /// Checks an expression and its type.
    pub(super) fn expr_of(&mut self, expr: &Expr, ty: Type, in_parser: bool, what: &str) {
        self.expr(expr, in_parser);
        self.check(expr.ty == ty, || format!("{what} is {:?} and should be {ty:?}", expr.ty));
    }

    /// Checks an expression that may have any type of a width.
    pub(super) fn expr_of_width(&mut self, expr: &Expr, width: u32, in_parser: bool, what: &str) {
        self.expr(expr, in_parser);
        let found = expr.ty.width();
        self.check(found == width, || format!("{what} has {found} bits and should have {width}"));
    }

    /// Checks an unsigned expression of any width.
    pub(super) fn expr_unsigned(&mut self, expr: &Expr, in_parser: bool, what: &str) {
        self.expr(expr, in_parser);
        self.check(matches!(expr.ty, Type::Bit(_)), || format!("{what} is {:?} and should be unsigned", expr.ty));
    }

    /// Checks an expression and its parts.
    pub(super) fn expr(&mut self, expr: &Expr, in_parser: bool) {
        let ty = expr.ty;
        self.type_fits(ty);
        let expected = match &expr.kind {
            ExprKind::Const(value) => {
                let width = value.width();
                self.check(width == ty.width(), || format!("a constant of {width} bits is typed {ty:?}"));
                None
            }
            ExprKind::Var(var) => self.exists(&self.program.vars, *var).then(|| self.program.vars[*var].ty),
            ExprKind::Field(header, field) => self.fixed_field(header, *field, in_parser),
            ExprKind::IsValid(header) => {
                self.header(header, in_parser);
                Some(Type::Bool)
            }
            ExprKind::VarbitLength(header, field) => {
                self.varbit(&(header.clone(), *field), in_parser);
                Some(Type::Bit(32))
            }
            ExprKind::VarbitBits(header, field) => self.varbit(&(header.clone(), *field), in_parser).map(Type::Bit),
            ExprKind::VarbitEqual(left, right) => {
                self.varbit(left, in_parser);
                self.varbit(right, in_parser);
                Some(Type::Bool)
            }
            ExprKind::Unary(op, operand) => {
                self.expr(operand, in_parser);
                let fits = (*op == UnaryOp::Not) == (operand.ty == Type::Bool);
                self.check(fits, || format!("{op:?} of {:?}", operand.ty));
                Some(operand.ty)
            }
            ExprKind::Binary(op, left, right) => {
                self.expr(left, in_parser);
                self.expr(right, in_parser);
                self.check(operands_fit(*op, left.ty, right.ty), || format!("{:?} {op:?} {:?}", left.ty, right.ty));
                Some(if op.is_comparison() { Type::Bool } else { left.ty })
            }
            ExprKind::Mux(cond, yes, no) => {
                self.expr_of(cond, Type::Bool, in_parser, "the condition");
                self.expr(yes, in_parser);
                self.expr_of(no, yes.ty, in_parser, "the second choice");
                Some(yes.ty)
            }
            ExprKind::Cast(operand) => {
                self.expr(operand, in_parser);
                None
            }
            ExprKind::Slice { base, high, low } => {
                self.expr(base, in_parser);
                self.slice(base.ty, *high, *low)
            }
            ExprKind::Concat(high, low) => {
                self.expr(high, in_parser);
                self.expr(low, in_parser);
                self.concat(high.ty, low.ty)
            }
            ExprKind::PacketLength => {
                self.check(in_parser, || "the packet's length outside of a parser".into());
                Some(Type::Bit(32))
            }
        };
        if let Some(expected) = expected {
            self.check(ty == expected, || format!("an expression is typed {ty:?} and is {expected:?}"));
        }
    }

    fn concat(&mut self, high: Type, low: Type) -> Option<Type> {
        let width = high.width().saturating_add(low.width());
        let fits = high != Type::Bool && low != Type::Bool && width <= WIDTH_BITS_MAX;
        self.check(fits, || format!("{high:?} ++ {low:?}"));
        fits.then_some(if high.is_signed() { Type::Int(width) } else { Type::Bit(width) })
    }
}

/// Whether an operator takes operands of these types.
fn operands_fit(op: BinaryOp, left: Type, right: Type) -> bool {
    use BinaryOp::*;
    match op {
        Add | Sub | Mul | SaturatingAdd | SaturatingSub | And | Or | Xor | Lt | Le | Gt | Ge => {
            left == right && left != Type::Bool
        }
        Div | Rem | Gather | Scatter => left == right && matches!(left, Type::Bit(_)),
        Shl | Shr => left != Type::Bool && matches!(right, Type::Bit(_)),
        Eq | Ne => left == right,
        LogicalAnd | LogicalOr => left == Type::Bool && right == Type::Bool,
    }
}
