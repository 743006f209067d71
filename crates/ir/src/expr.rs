//! Expressions: typed trees without side effects that cannot fail.

use crate::program::{HeaderId, StackId, VarId};
use base::Bits;

/// The type of a value. Enums and errors are `Bit(32)` (or their underlying type).
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Type {
    /// One bit, 1 for true.
    Bool,
    /// Unsigned, this many bits.
    Bit(u32),
    /// Two's complement, this many bits.
    Int(u32),
}

impl Type {
    /// Width in bits.
    pub fn width(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::Bit(width) | Type::Int(width) => width,
        }
    }

    /// Whether values are two's complement.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::Int(_))
    }
}

/// A header instance, named directly or through a stack.
#[derive(Clone, PartialEq, Debug)]
pub enum HeaderRef {
    /// This instance.
    Fixed(HeaderId),
    /// The stack's element at a run-time index. Out of range: an invalid header that ignores writes.
    Element {
        /// The stack.
        stack: StackId,
        /// Its index, unsigned, any width.
        index: Box<Expr>,
    },
    /// The element at the stack's `next` index. In a parser, a stack that is full ends parsing with `StackOutOfBounds`
    /// when this is extracted to.
    Next(StackId),
    /// The element before the stack's `next` index. Empty stack: an invalid header.
    Last(StackId),
}

/// An expression with its type.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// The type of the result.
    pub ty: Type,
}

/// The forms of expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant of the type's width.
    Const(Bits),
    /// A variable's value.
    Var(VarId),
    /// A field of a header; zero if the header is invalid. Never a varbit field.
    Field(HeaderRef, u32),
    /// Whether the header is valid (`Bool`).
    IsValid(HeaderRef),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands. Both have the same type, except that a shift's right operand is any `Bit`, and that comparisons
    /// and logical operators give `Bool`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? a : b`.
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// To the expression's type: cut, or extended by zeros (from `Bool`, `Bit`) or by the sign (from `Int`).
    Cast(Box<Expr>),
    /// Bits `high` to `low` of the operand, both included: a `Bit`.
    Slice {
        /// The operand.
        base: Box<Expr>,
        /// Highest bit.
        high: u32,
        /// Lowest bit.
        low: u32,
    },
    /// The first operand above the second. The result has the first's signedness.
    Concat(Box<Expr>, Box<Expr>),
    /// Whether two varbit fields have the same length and bits (`Bool`). A field of an invalid header is empty.
    VarbitEqual((HeaderRef, u32), (HeaderRef, u32)),
    /// How many bits a varbit field has: `Bit(32)`. A field of an invalid header is empty.
    VarbitLength(HeaderRef, u32),
    /// The number that the bits of a varbit field spell, as wide as its greatest length. A field of an invalid header
    /// is empty.
    VarbitBits(HeaderRef, u32),
    /// The packet's length in bytes as received in this pass (`packet_in.length()`): `Bit(32)`. Parser only.
    PacketLength,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// Two's complement negation.
    Neg,
    /// Every bit inverted.
    BitNot,
    /// `Bool` inverted.
    Not,
}

/// Operators with two operands. Which of the signed or unsigned meaning holds follows from the left operand's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the P4 operator of its name, but for the last two")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Unsigned; by zero gives zero.
    Div,
    /// Unsigned; by zero gives zero.
    Rem,
    SaturatingAdd,
    SaturatingSub,
    And,
    Or,
    Xor,
    /// Zeros enter; an amount of the width or more gives zero.
    Shl,
    /// Zeros enter for `Bit`, the sign for `Int`.
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    LogicalAnd,
    LogicalOr,
    /// The bits of the left operand where the right one has ones, moved together, the lowest first; zeros above.
    Gather,
    /// The lowest bits of the left operand, in order, where the right one has ones; zeros elsewhere.
    Scatter,
}

impl BinaryOp {
    /// Whether the result is `Bool` whatever the operands are.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

impl Expr {
    /// A constant.
    pub fn constant(ty: Type, value: Bits) -> Expr {
        debug_assert_eq!(ty.width(), value.width());
        Expr { kind: ExprKind::Const(value), ty }
    }

    /// An unsigned constant.
    pub fn bit(width: u32, value: u64) -> Expr {
        Expr::constant(Type::Bit(width), Bits::from_u64(width, value))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Expr {
        Expr::constant(Type::Bool, Bits::from_bool(value))
    }

    /// The value, if this is a constant.
    pub fn as_const(&self) -> Option<&Bits> {
        match &self.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// `op self`.
    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        let ty = operand.ty;
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty }
    }

    /// `left op right`, typed by the rules at [`ExprKind::Binary`].
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let ty = if op.is_comparison() { Type::Bool } else { left.ty };
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty }
    }

    /// `(ty) operand`; the operand itself if it has the type already.
    pub fn cast(ty: Type, operand: Expr) -> Expr {
        if operand.ty == ty { operand } else { Expr { kind: ExprKind::Cast(Box::new(operand)), ty } }
    }
}
