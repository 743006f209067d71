//! Numbers that are known at compile time.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::One as _;
use sema::hir::*;
use syntax::ast::{BinaryOperator, UnaryOperator};

/// The values of the program's constants, computed on demand.
pub(crate) struct Values<'a> {
    program: &'a Program,
    constants: base::OrderedMap<VarId, BigInt>,
}

/// The maximum depth to which an expression is evaluated.
const DEPTH_MAX: u32 = 32;

impl<'a> Values<'a> {
    /// No constants yet.
    pub(crate) fn new(program: &'a Program) -> Values<'a> {
        Values { program, constants: base::OrderedMap::new() }
    }

    /// Adds a declared constant.
    pub(crate) fn declare(&mut self, var: VarId, value: &Expr) {
        if let Some(value) = self.number(value) {
            self.constants.insert(var, value);
        }
    }

    /// The width of a numeric type, and whether it is signed; also of a new type or an enum based on one.
    pub(crate) fn number_type(&self, ty: &Type) -> Option<(u32, bool)> {
        match ty {
            Type::Bit(width) => Some((*width, false)),
            Type::Int(width) => Some((*width, true)),
            Type::NewType(id) => self.number_type(&self.program.new_types[*id].target),
            Type::Enum(id) => self.number_type(self.program.enums[*id].representation.as_ref()?),
            _ => None,
        }
    }

    /// The value of an expression, if it is a known number; a boolean is 0 or 1.
    pub(crate) fn number(&self, e: &Expr) -> Option<BigInt> {
        self.number_at(e, DEPTH_MAX)
    }

    fn number_at(&self, e: &Expr, depth: u32) -> Option<BigInt> {
        let depth = depth.checked_sub(1)?;
        match &e.kind {
            ExprKind::Int(value) => Some(value.clone()),
            ExprKind::Bool(value) => Some(BigInt::from(u8::from(*value))),
            ExprKind::Error(position) => Some(BigInt::from(*position)),
            ExprKind::EnumMember(position) => match &e.ty {
                Type::Enum(id) => self.program.enums[*id].members.get(*position).map(|(_, value)| value.clone()),
                _ => None,
            },
            ExprKind::Var(var) => self.constants.get(var).cloned(),
            ExprKind::Cast(inner) => {
                let value = self.number_at(inner, depth)?;
                self.wrap(value, &e.ty)
            }
            ExprKind::Unary(operator, inner) => {
                let value = self.number_at(inner, depth)?;
                match operator {
                    UnaryOperator::Negate => self.wrap(-value, &e.ty),
                    UnaryOperator::Complement => self.wrap(-value - 1, &e.ty),
                    UnaryOperator::Plus => Some(value),
                    UnaryOperator::Not => Some(BigInt::one() - value),
                }
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.number_at(left, depth)?, self.number_at(right, depth)?);
                let value = match operator {
                    BinaryOperator::Add => left + right,
                    BinaryOperator::Subtract => left - right,
                    BinaryOperator::Multiply => left * right,
                    BinaryOperator::BitAnd => left & right,
                    BinaryOperator::BitOr => left | right,
                    BinaryOperator::BitXor => left ^ right,
                    _ => return None,
                };
                self.wrap(value, &e.ty)
            }
            _ => None,
        }
    }

    /// Whether a collection surely has an item.
    pub(crate) fn is_not_empty(&self, collection: &Collection) -> bool {
        match collection {
            Collection::Items(items) => match (&items.kind, &items.ty) {
                (ExprKind::Aggregate(items), _) => !items.is_empty(),
                (_, Type::Array(_, size)) => *size > 0,
                _ => false,
            },
            Collection::Range(low, high) => {
                self.number(low).zip(self.number(high)).is_some_and(|(low, high)| low <= high)
            }
        }
    }

    /// Whether a condition surely holds after statements, whose assignments of numbers to variables count.
    pub(crate) fn holds_after(&mut self, stmts: &[Stmt], condition: &Expr) -> bool {
        let mut assigned = Vec::new();
        let mut is_simple = true;
        for stmt in stmts {
            let value = match &stmt.kind {
                StmtKind::Local(Local::Var(var, Some(value))) => Some((*var, value)),
                StmtKind::Assign { target: Expr { kind: ExprKind::Var(var), .. }, value } => Some((*var, value)),
                _ => None,
            };
            is_simple &= value.is_some();
            if let Some((var, value)) = value {
                let value = self.number(value);
                assigned.push(var);
                match value {
                    Some(value) => drop(self.constants.insert(var, value)),
                    None => drop(self.constants.remove(&var)),
                }
            }
        }
        let holds = is_simple && self.holds(condition);
        assigned.iter().for_each(|var| drop(self.constants.remove(var)));
        holds
    }

    /// Whether a condition surely holds.
    fn holds(&self, condition: &Expr) -> bool {
        let ExprKind::Binary(operator, left, right) = &condition.kind else {
            return self.number(condition).is_some_and(|value| value.is_one());
        };
        match operator {
            BinaryOperator::And => self.holds(left) && self.holds(right),
            BinaryOperator::Or => self.holds(left) || self.holds(right),
            _ => self.number(left).zip(self.number(right)).is_some_and(|(left, right)| match operator {
                BinaryOperator::Less => left < right,
                BinaryOperator::LessOrEqual => left <= right,
                BinaryOperator::Greater => left > right,
                BinaryOperator::GreaterOrEqual => left >= right,
                BinaryOperator::Equal => left == right,
                BinaryOperator::NotEqual => left != right,
                _ => false,
            }),
        }
    }

    /// The value converted to the type; `None` if the type is neither a number of fixed width nor `int`.
    fn wrap(&self, value: BigInt, ty: &Type) -> Option<BigInt> {
        if *ty == Type::Integer {
            return (value.bits() <= 4096).then_some(value);
        }
        let (width, is_signed) = self.number_type(ty)?;
        let modulus = BigInt::one() << width;
        let wrapped = value.mod_floor(&modulus);
        let is_negative = is_signed && wrapped >= (&modulus >> 1u8);
        Some(if is_negative { wrapped - modulus } else { wrapped })
    }

    /// The least and the greatest value of a type.
    pub(crate) fn range(&self, ty: &Type) -> Option<(BigInt, BigInt)> {
        let (width, is_signed) = self.number_type(ty)?;
        match (width, is_signed) {
            (0, _) => None,
            (_, true) => Some((-(BigInt::one() << (width - 1)), (BigInt::one() << (width - 1)) - 1)),
            (_, false) => Some((BigInt::from(0), (BigInt::one() << width) - 1)),
        }
    }
}
