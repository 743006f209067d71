//! Symbolic values: expressions over the bits of a parser's input.
//!
//! What enters: the operators of the IR with operands. What leaves: a [`Term`], folded as far as its operands are
//! known, whose value for given input bits [`Term::value`] computes. Terms share their parts; one that becomes too
//! large, or that depends on something other than the input, is opaque.

use base::Bits;
use interp::{binary, cast, unary};
use ir::{BinaryOp, Type, UnaryOp};
use std::rc::Rc;

/// The most nodes of a term, counted with repetition, so that computing its value is bounded.
const NODES_MAX: u32 = 2_000;

/// A value of a parser's run.
#[derive(Clone, Debug)]
pub(crate) struct Term(Rc<Node>);

#[derive(Debug)]
struct Node {
    kind: Kind,
    ty: Type,
    nodes: u32,
}

/// The forms of a term.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A known value.
    Const(Bits),
    /// Bits of the input, from this one on.
    Input(usize),
    /// A value that the input does not determine, and the reason.
    Opaque(&'static str),
    /// One operand.
    Unary(UnaryOp, Term),
    /// Two operands.
    Binary(BinaryOp, Term, Term),
    /// Condition, then, else.
    Mux(Term, Term, Term),
    /// To the term's type.
    Cast(Term),
    /// Bits of the operand, from the lowest of them on.
    Slice(Term, u32),
    /// The first above the second.
    Concat(Term, Term),
}

/// Bits of an input by position. A bit beyond its end is zero.
pub(crate) trait Source {
    /// The bits from `first` on, the first most significant.
    fn bits(&self, first: usize, width: u32) -> Bits;
}

impl Term {
    fn new(kind: Kind, ty: Type) -> Term {
        let parts: &[&Term] = match &kind {
            Kind::Const(_) | Kind::Input(_) | Kind::Opaque(_) => &[],
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::Slice(a, _) => &[a],
            Kind::Binary(_, a, b) | Kind::Concat(a, b) => &[a, b],
            Kind::Mux(a, b, c) => &[a, b, c],
        };
        if let Some(reason) = parts.iter().find_map(|part| part.opaque()) {
            return Term::unknown(reason, ty);
        }
        let nodes = parts.iter().map(|part| part.0.nodes).fold(1u32, u32::saturating_add);
        if nodes > NODES_MAX {
            return Term::unknown("a value that is too complex", ty);
        }
        Term(Rc::new(Node { kind, ty, nodes }))
    }

    /// A known value.
    pub(crate) fn constant(value: Bits, ty: Type) -> Term {
        debug_assert_eq!(value.width(), ty.width());
        Term::new(Kind::Const(value), ty)
    }

    /// A known number.
    pub(crate) fn number(width: u32, value: u64) -> Term {
        Term::constant(Bits::from_u64(width, value), Type::Bit(width))
    }

    /// A known truth value.
    pub(crate) fn truth(value: bool) -> Term {
        Term::constant(Bits::from_bool(value), Type::Bool)
    }

    /// Bits of the input.
    pub(crate) fn input(first: usize, ty: Type) -> Term {
        Term::new(Kind::Input(first), ty)
    }

    /// A value that the input does not determine.
    pub(crate) fn unknown(reason: &'static str, ty: Type) -> Term {
        Term(Rc::new(Node { kind: Kind::Opaque(reason), ty, nodes: 1 }))
    }

    /// Its form.
    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Its type.
    pub(crate) fn ty(&self) -> Type {
        self.0.ty
    }

    /// Its width in bits.
    pub(crate) fn width(&self) -> u32 {
        self.0.ty.width()
    }

    /// How many nodes it has.
    pub(crate) fn nodes(&self) -> u32 {
        self.0.nodes
    }

    /// The value, if it is known.
    pub(crate) fn known(&self) -> Option<&Bits> {
        match &self.0.kind {
            Kind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Why the input does not determine it, if it does not.
    pub(crate) fn opaque(&self) -> Option<&'static str> {
        match &self.0.kind {
            Kind::Opaque(reason) => Some(reason),
            _ => None,
        }
    }

    /// `op self`.
    pub(crate) fn unary(op: UnaryOp, operand: &Term) -> Term {
        match operand.known() {
            Some(value) => Term::constant(unary(op, value), operand.ty()),
            None => Term::new(Kind::Unary(op, operand.clone()), operand.ty()),
        }
    }

    /// `left op right`, of this type.
    pub(crate) fn binary(op: BinaryOp, left: &Term, right: &Term, ty: Type) -> Term {
        if let (Some(a), Some(b)) = (left.known(), right.known()) {
            return Term::constant(binary(op, left.ty(), a, b), ty);
        }
        let decides = |term: &Term| term.known().is_some_and(|value| value.is_zero() == (op == BinaryOp::LogicalAnd));
        if matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr) {
            for (one, other) in [(left, right), (right, left)] {
                match one.known() {
                    Some(_) if decides(one) => return one.clone(),
                    Some(_) => return other.clone(),
                    None => {}
                }
            }
        }
        Term::new(Kind::Binary(op, left.clone(), right.clone()), ty)
    }

    /// Whether two terms of the same type are equal.
    pub(crate) fn equals(&self, other: &Term) -> Term {
        Term::binary(BinaryOp::Eq, self, other, Type::Bool)
    }

    /// Both.
    pub(crate) fn and(&self, other: &Term) -> Term {
        Term::binary(BinaryOp::LogicalAnd, self, other, Type::Bool)
    }

    /// The opposite.
    pub(crate) fn not(&self) -> Term {
        Term::unary(UnaryOp::Not, self)
    }

    /// `condition ? yes : no`.
    pub(crate) fn mux(condition: &Term, yes: &Term, no: &Term) -> Term {
        match condition.known() {
            Some(value) if value.is_zero() => no.clone(),
            Some(_) => yes.clone(),
            None => Term::new(Kind::Mux(condition.clone(), yes.clone(), no.clone()), yes.ty()),
        }
    }

    /// As a value of another type.
    pub(crate) fn cast(&self, ty: Type) -> Term {
        match self.kind() {
            _ if ty == self.ty() => self.clone(),
            Kind::Const(value) => Term::constant(cast(self.ty(), ty, value), ty),
            Kind::Input(first) if ty.width() <= self.width() => {
                Term::input(first + (self.width() - ty.width()) as usize, ty)
            }
            _ => Term::new(Kind::Cast(self.clone()), ty),
        }
    }

    /// Bits `high` to `low`.
    pub(crate) fn slice(&self, high: u32, low: u32) -> Term {
        let ty = Type::Bit(high - low + 1);
        match self.kind() {
            Kind::Const(value) => Term::constant(value.slice(high, low), ty),
            Kind::Input(first) => Term::input(first + (self.width() - 1 - high) as usize, ty),
            Kind::Cast(of) if high < of.width() => of.slice(high, low),
            Kind::Slice(of, base) => of.slice(high + base, low + base),
            Kind::Concat(_, below) if high < below.width() => below.slice(high, low),
            Kind::Concat(above, below) if low >= below.width() => {
                above.slice(high - below.width(), low - below.width())
            }
            _ => Term::new(Kind::Slice(self.clone(), low), ty),
        }
    }

    /// Itself above another, of this type.
    pub(crate) fn concat(&self, low: &Term, ty: Type) -> Term {
        match (self.known(), low.known()) {
            _ if self.width() == 0 => low.cast(ty),
            _ if low.width() == 0 => self.cast(ty),
            (Some(a), Some(b)) => Term::constant(a.concat(b), ty),
            _ => Term::new(Kind::Concat(self.clone(), low.clone()), ty),
        }
    }

    /// The value for this input; zero if it is opaque.
    pub(crate) fn value(&self, input: &dyn Source) -> Bits {
        match self.kind() {
            Kind::Const(value) => value.clone(),
            Kind::Input(first) => input.bits(*first, self.width()),
            Kind::Opaque(_) => Bits::zero(self.width()),
            Kind::Unary(op, of) => unary(*op, &of.value(input)),
            Kind::Binary(op, left, right) => binary(*op, left.ty(), &left.value(input), &right.value(input)),
            Kind::Mux(condition, yes, no) => {
                if condition.value(input).is_zero() {
                    no.value(input)
                } else {
                    yes.value(input)
                }
            }
            Kind::Cast(of) => cast(of.ty(), self.ty(), &of.value(input)),
            Kind::Slice(of, low) => of.value(input).slice(low + self.width() - 1, *low),
            Kind::Concat(above, below) => above.value(input).concat(&below.value(input)),
        }
    }

    /// Calls `found` with the first bit and the width of all input that it depends on.
    pub(crate) fn inputs(&self, found: &mut dyn FnMut(usize, u32)) {
        match self.kind() {
            Kind::Const(_) | Kind::Opaque(_) => {}
            Kind::Input(first) => found(*first, self.width()),
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::Slice(a, _) => a.inputs(found),
            Kind::Binary(_, a, b) | Kind::Concat(a, b) => [a, b].into_iter().for_each(|part| part.inputs(found)),
            Kind::Mux(a, b, c) => [a, b, c].into_iter().for_each(|part| part.inputs(found)),
        }
    }
}
