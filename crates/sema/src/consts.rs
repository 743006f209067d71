//! Compile-time evaluation of expressions.
//!
//! [`Checker::fold`] returns the value as a literal expression, or nothing if it depends on something that is known
//! later: a packet, or an argument of a constructor.

use crate::checker::{Checker, expr};
use crate::diagnostics as d;
use crate::hir::*;
use crate::types::{fits, wrap};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use syntax::ast::{self, BinaryOperator, UnaryOperator};

/// The maximum width in bits of an `int` constant, which bounds the memory that a program can consume.
pub(crate) const CONSTANT_BITS_MAX: u64 = 1 << 17;

/// The maximum number of literals in all constants of a program, after the constants that they use are substituted.
pub(crate) const CONSTANT_LITERALS_MAX: usize = 1 << 20;

impl Checker<'_> {
    /// The value of an expression that must be a known number.
    pub(crate) fn constant_integer(&mut self, written: &ast::Expr) -> Option<BigInt> {
        let checked = self.expr(written, None);
        self.integer_value(&checked)
    }

    /// The value of a checked expression that must be a known number.
    pub(crate) fn integer_value(&mut self, checked: &Expr) -> Option<BigInt> {
        if checked.ty == Type::Unknown {
            return None;
        }
        if !matches!(self.hir.underlying(&checked.ty), Type::Integer | Type::Bit(_) | Type::Int(_)) {
            let found = self.hir.show_type(&checked.ty);
            self.report(d::mismatched_types(checked.span, "a number", &found));
            return None;
        }
        let value = self.fold(checked).and_then(|literal| self.number(&literal));
        if value.is_none() {
            self.report(d::not_constant(checked.span));
        }
        value
    }

    /// The number of a literal; enum members with a representation are numbers too.
    pub(crate) fn number(&self, literal: &Expr) -> Option<BigInt> {
        match (&literal.kind, &literal.ty) {
            (ExprKind::Int(value), _) => Some(value.clone()),
            (ExprKind::EnumMember(position), Type::Enum(id)) => {
                let declared = &self.hir.enums[*id];
                declared.representation.as_ref()?;
                declared.members.get(*position).map(|(_, value)| value.clone())
            }
            (ExprKind::Bool(value), _) => Some(BigInt::from(u8::from(*value))),
            (ExprKind::Cast(inner), _) => self.number(inner),
            _ => None,
        }
    }

    /// The value of an expression as a literal: a number, boolean, string, member of an enum or of `error`, or an
    /// aggregate of these. `None` if it is not known.
    pub(crate) fn fold(&self, e: &Expr) -> Option<Expr> {
        let literal = |kind| Some(expr(kind, e.ty.clone(), e.span));
        match &e.kind {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::String(_)
            | ExprKind::Error(_)
            | ExprKind::MatchKind(_)
            | ExprKind::EnumMember(_)
            | ExprKind::Default
            | ExprKind::Invalid => Some(e.clone()),
            ExprKind::Var(id) => {
                self.constants.get(id).map(|value| Expr { span: e.span, ty: e.ty.clone(), ..value.clone() })
            }
            // Parts of a list are never needed, and folded lists of lists could become exponentially large.
            ExprKind::Aggregate(_) if matches!(e.ty, Type::List(_)) => self.is_known(e).then(|| e.clone()),
            ExprKind::Aggregate(elements) => {
                let folded = |element: &Option<Expr>| match element {
                    Some(element) => self.fold(element).map(Some),
                    None => Some(None),
                };
                literal(ExprKind::Aggregate(elements.iter().map(folded).collect::<Option<_>>()?))
            }
            ExprKind::Field(base, index) | ExprKind::TupleIndex(base, index) => self.fold_part(base, *index),
            ExprKind::Index(base, index) => {
                let index = self.number(&self.fold(index)?)?.to_usize()?;
                self.fold_part(base, index)
            }
            ExprKind::Slice(base, high, low) => {
                let value = self.number(&self.fold(base)?)?;
                literal(ExprKind::Int(wrap(&(value >> *low), &Type::Bit(high - low + 1))))
            }
            ExprKind::IndexedSlice { base, low, width } => {
                let (value, low) = (self.number(&self.fold(base)?)?, self.number(&self.fold(low)?)?);
                literal(ExprKind::Int(wrap(&(value >> low.to_u32()?), &Type::Bit(*width))))
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.fold(operand)?;
                literal(fold_unary(*operator, &operand, &e.ty)?)
            }
            ExprKind::Binary(operator, left, right) => {
                self.fold_binary(*operator, left, right, &e.ty).and_then(literal)
            }
            ExprKind::Conditional(condition, yes, no) => match self.fold(condition)?.kind {
                ExprKind::Bool(true) => self.fold(yes),
                ExprKind::Bool(false) => self.fold(no),
                _ => None,
            },
            ExprKind::Cast(inner) => {
                let inner = self.fold(inner)?;
                self.fold_cast(&inner, &e.ty).and_then(literal)
            }
            _ => None,
        }
    }

    fn fold_part(&self, base: &Expr, index: usize) -> Option<Expr> {
        if let Some(whole) = self.known_part(base) {
            return part(whole, index).cloned();
        }
        match self.fold(base)?.kind {
            ExprKind::Aggregate(elements) => elements.into_iter().nth(index).flatten(),
            _ => None,
        }
    }

    /// The folded value of a constant, or of a part of one, by reference: constants can be large.
    fn known_part(&self, e: &Expr) -> Option<&Expr> {
        match &e.kind {
            ExprKind::Var(id) => self.constants.get(id),
            ExprKind::Field(base, index) | ExprKind::TupleIndex(base, index) => part(self.known_part(base)?, *index),
            _ => None,
        }
    }

    fn fold_cast(&self, inner: &Expr, target: &Type) -> Option<ExprKind> {
        match target {
            Type::Bit(_) | Type::Int(_) | Type::Integer => {
                self.number(inner).map(|it| ExprKind::Int(wrap(&it, target)))
            }
            Type::Bool => match inner.kind {
                ExprKind::Bool(value) => Some(ExprKind::Bool(value)),
                _ => self.number(inner).map(|value| ExprKind::Bool(!value.is_zero())),
            },
            Type::Enum(id) => {
                if let ExprKind::EnumMember(_) = inner.kind
                    && inner.ty == *target
                {
                    return Some(inner.kind.clone());
                }
                let value = self.number(inner)?;
                let position = self.hir.enums[*id].members.iter().position(|(_, member)| *member == value);
                // A value that is not a member stays a number under the cast.
                Some(position.map_or_else(|| ExprKind::Cast(Box::new(inner.clone())), ExprKind::EnumMember))
            }
            Type::NewType(_) => match &inner.kind {
                ExprKind::Int(_) | ExprKind::Bool(_) => Some(inner.kind.clone()),
                _ => self.number(inner).map(ExprKind::Int),
            },
            Type::Struct(..) | Type::Tuple(_) | Type::Array(..) | Type::List(_) => Some(inner.kind.clone()),
            _ => None,
        }
    }

    fn fold_binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr, ty: &Type) -> Option<ExprKind> {
        use BinaryOperator as Op;
        let left = self.fold(left)?;
        if let (Op::And | Op::Or, ExprKind::Bool(value)) = (operator, &left.kind)
            && *value == (operator == Op::Or)
        {
            return Some(left.kind);
        }
        let right = self.fold(right)?;
        match operator {
            Op::And | Op::Or => Some(right.kind),
            Op::Equal => self.literals_equal(&left, &right).map(ExprKind::Bool),
            Op::NotEqual => self.literals_equal(&left, &right).map(|same| ExprKind::Bool(!same)),
            Op::Concatenate => match (&left.kind, &right.kind) {
                (ExprKind::String(a), ExprKind::String(b)) if (a.len() + b.len()) as u64 <= CONSTANT_BITS_MAX => {
                    Some(ExprKind::String(format!("{a}{b}").into()))
                }
                _ => {
                    let width = type_width(&right.ty)?;
                    let low = wrap(&self.number(&right)?, &Type::Bit(width));
                    Some(ExprKind::Int(wrap(&((self.number(&left)? << width) + low), ty)))
                }
            },
            _ => fold_arithmetic(operator, &self.number(&left)?, &self.number(&right)?, ty),
        }
    }

    fn literals_equal(&self, left: &Expr, right: &Expr) -> Option<bool> {
        match (&left.kind, &right.kind) {
            (ExprKind::Aggregate(a), ExprKind::Aggregate(b)) if a.len() == b.len() => {
                let mut all = true;
                for (a, b) in a.iter().zip(b) {
                    all &= self.literals_equal(a.as_ref()?, b.as_ref()?)?;
                }
                Some(all)
            }
            (ExprKind::String(a), ExprKind::String(b)) => Some(a == b),
            (ExprKind::Error(a), ExprKind::Error(b)) | (ExprKind::MatchKind(a), ExprKind::MatchKind(b)) => Some(a == b),
            (ExprKind::EnumMember(a), ExprKind::EnumMember(b)) if self.representation(&left.ty).is_none() => {
                Some(a == b)
            }
            _ => Some(self.number(left)? == self.number(right)?),
        }
    }
}

fn part(whole: &Expr, index: usize) -> Option<&Expr> {
    match &whole.kind {
        ExprKind::Aggregate(elements) => elements.get(index)?.as_ref(),
        _ => None,
    }
}

/// The number of literals in a folded value.
pub(crate) fn literal_count(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Aggregate(elements) => 1 + elements.iter().flatten().map(literal_count).sum::<usize>(),
        _ => 1,
    }
}

/// The width of a sized numeric type.
pub(crate) fn type_width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Bit(width) | Type::Int(width) => Some(*width),
        _ => None,
    }
}

fn fold_unary(operator: UnaryOperator, operand: &Expr, ty: &Type) -> Option<ExprKind> {
    match (operator, &operand.kind) {
        (UnaryOperator::Not, ExprKind::Bool(value)) => Some(ExprKind::Bool(!value)),
        (UnaryOperator::Complement, ExprKind::Int(value)) => Some(ExprKind::Int(wrap(&(-value - 1), ty))),
        (UnaryOperator::Negate, ExprKind::Int(value)) => Some(ExprKind::Int(wrap(&-value, ty))),
        (UnaryOperator::Plus, ExprKind::Int(_)) => Some(operand.kind.clone()),
        _ => None,
    }
}

/// All operators on two numbers. `None` for a division by zero, or a result that is too large.
fn fold_arithmetic(operator: BinaryOperator, left: &BigInt, right: &BigInt, ty: &Type) -> Option<ExprKind> {
    use BinaryOperator as Op;
    let number = |value: BigInt| {
        let value = wrap(&value, ty);
        (value.bits() <= CONSTANT_BITS_MAX).then_some(ExprKind::Int(value))
    };
    match operator {
        Op::Multiply => number(left * right),
        Op::Divide if right.is_zero() => None,
        Op::Modulo if right.is_zero() => None,
        Op::Divide => number(left.div_floor(right)),
        Op::Modulo => number(left.mod_floor(right)),
        Op::Add => number(left + right),
        Op::Subtract => number(left - right),
        Op::SaturatingAdd => number(saturate(left + right, ty)),
        Op::SaturatingSubtract => number(saturate(left - right, ty)),
        Op::ShiftLeft => number(shift_left(left, right, ty)?),
        Op::ShiftRight => {
            let far = if left.is_negative() { BigInt::from(-1) } else { BigInt::zero() };
            number(right.to_u32().map_or(far, |count| left >> count))
        }
        Op::Less => Some(ExprKind::Bool(left < right)),
        Op::LessOrEqual => Some(ExprKind::Bool(left <= right)),
        Op::Greater => Some(ExprKind::Bool(left > right)),
        Op::GreaterOrEqual => Some(ExprKind::Bool(left >= right)),
        Op::BitAnd => number(left & right),
        Op::BitXor => number(left ^ right),
        Op::BitOr => number(left | right),
        Op::Equal | Op::NotEqual | Op::Concatenate | Op::And | Op::Or => None,
    }
}

fn shift_left(left: &BigInt, right: &BigInt, ty: &Type) -> Option<BigInt> {
    let count = right.to_u64().filter(|&count| count <= CONSTANT_BITS_MAX);
    match (count, type_width(ty)) {
        (None, Some(_)) => Some(BigInt::zero()),
        (Some(count), Some(width)) if count >= u64::from(width) => Some(BigInt::zero()),
        (count, _) => Some(left << count?),
    }
}

fn saturate(value: BigInt, ty: &Type) -> BigInt {
    if fits(&value, ty) {
        return value;
    }
    match ty {
        Type::Bit(_) if value.is_negative() => BigInt::zero(),
        Type::Bit(width) => (BigInt::from(1) << *width) - 1,
        Type::Int(width) if value.is_negative() => -(BigInt::from(1) << (width - 1)),
        Type::Int(width) => (BigInt::from(1) << (width - 1)) - 1,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use crate::checker::Checker;
    use crate::hir::{Expr, ExprKind, Program};
    use expect_test::{Expect, expect};
    use syntax::{MemoryFiles, Options, SourceMap, parse_text};

    fn show(hir: &Program, value: &Expr) -> String {
        match &value.kind {
            ExprKind::Aggregate(parts) => {
                let part = |part: &Option<Expr>| part.as_ref().map_or("...".into(), |part| show(hir, part));
                format!("{{ {} }}", parts.iter().map(part).collect::<Vec<_>>().join(", "))
            }
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::String(value) => format!("{value:?}"),
            ExprKind::Int(number) => format!("{number} ({})", hir.show_type(&value.ty)),
            other => format!("{other:?} ({})", hir.show_type(&value.ty)),
        }
    }

    /// The values of a program's constants.
    fn check_constants(text: &str, expected: Expect) {
        let files = MemoryFiles::new();
        let (tree, mut diagnostics) = parse_text(&mut SourceMap::new(), "t.p4", text, &Options::new(&files));
        let mut checker = Checker::new(&mut diagnostics);
        checker.program(&tree);
        let mut shown = String::new();
        for (var, value) in &checker.constants {
            shown.push_str(&format!("{} = {}\n", checker.hir.vars[*var].name, show(&checker.hir, value)));
        }
        let messages: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        assert_eq!(messages, Vec::<String>::new());
        expected.assert_eq(&shown);
    }

    #[test]
    fn numbers_wrap_at_their_width() {
        check_constants(
            "
            const bit<8> sum = 8w200 + 100;
            const bit<8> difference = 8w1 - 2;
            const bit<8> product = 8w20 * 20;
            const int<8> signed = 8s100 + 100;
            const int<8> negated = -(-8s128);
            const bit<8> complement = ~8w5;
            const int<8> signed_complement = ~8s5;
            const bit<8> up = 8w250 |+| 10;
            const bit<8> down = 8w5 |-| 10;
            const int<8> signed_up = 8s100 |+| 100;
            const int<8> signed_down = -8s100 |-| 100;
            const int big = (1 << 100) - 1;
            const int quotient = 17 / 5 * 1000 + 17 % 5;",
            expect![[r#"
                sum = 44 (bit<8>)
                difference = 255 (bit<8>)
                product = 144 (bit<8>)
                signed = -56 (int<8>)
                negated = -128 (int<8>)
                complement = 250 (bit<8>)
                signed_complement = -6 (int<8>)
                up = 255 (bit<8>)
                down = 0 (bit<8>)
                signed_up = 127 (int<8>)
                signed_down = -128 (int<8>)
                big = 1267650600228229401496703205375 (int)
                quotient = 3002 (int)
            "#]],
        );
    }

    #[test]
    fn shifts_slices_and_concatenations() {
        check_constants(
            "
            const bit<8> left = 8w0x81 << 1;
            const bit<8> gone = 8w1 << 8;
            const bit<8> far = 8w1 << 1000000000000;
            const bit<8> right = 8w0x81 >> 1;
            const int<8> arithmetic = -8s127 >> 1;
            const int<8> all_sign = -8s1 >> 100;
            const int floor = -5 >> 1;
            const bit<4> slice = 8w0xab[7:4];
            const bit<4> of_signed = (-8s1)[3:0];
            const bit<4> indexed = 8w0xab[4 +: 4];
            const bit<12> joined = 8w0xab ++ 4w0xc;
            const int<12> signed_joined = -8s1 ++ 4w0;",
            expect![[r#"
                left = 2 (bit<8>)
                gone = 0 (bit<8>)
                far = 0 (bit<8>)
                right = 64 (bit<8>)
                arithmetic = -64 (int<8>)
                all_sign = -1 (int<8>)
                floor = -3 (int)
                slice = 10 (bit<4>)
                of_signed = 15 (bit<4>)
                indexed = 10 (bit<4>)
                joined = 2748 (bit<12>)
                signed_joined = -16 (int<12>)
            "#]],
        );
    }

    #[test]
    fn casts_change_sign_or_width() {
        check_constants(
            "
            enum bit<8> E { a = 7 }
            type bit<9> N;
            const int<8> to_signed = (int<8>)8w255;
            const bit<8> to_unsigned = (bit<8>)-8s1;
            const int<16> wider_signed = (int<16>)-8s1;
            const bit<16> wider = (bit<16>)8w255;
            const bit<4> narrower = (bit<4>)8w0xab;
            const bit<8> of_int = (bit<8>)-1;
            const int to_int = (int)-8s3;
            const bool truth = (bool)1w1;
            const bit<1> bit_of_truth = (bit<1>)true;
            const bit<8> of_enum = E.a;
            const E known = (E)8w7;
            const N new_type = (N)5;
            const bit<9> back = (bit<9>)new_type + 1;",
            expect![[r#"
                to_signed = -1 (int<8>)
                to_unsigned = 255 (bit<8>)
                wider_signed = -1 (int<16>)
                wider = 255 (bit<16>)
                narrower = 11 (bit<4>)
                of_int = 255 (bit<8>)
                to_int = -3 (int)
                truth = true
                bit_of_truth = 1 (bit<1>)
                of_enum = 7 (bit<8>)
                known = EnumMember(0) (E)
                new_type = 5 (N)
                back = 6 (bit<9>)
            "#]],
        );
    }

    #[test]
    fn aggregates_and_comparisons() {
        check_constants(
            "
            struct S { bit<8> a; bool b; }
            const S s = { b = true, a = 3 };
            const S t = { 3, true };
            const bool same = s == t;
            const bit<8> field = t.a + 1;
            const S partly = { 1, ... };
            const tuple<bit<8>, S> nested = { 1, { 2, false } };
            const bool inner = nested[1].b;
            const string text = \"a\" ++ \"b\";
            const bool lazy = false && 1 / (2 - 1) == 1;
            const bit<8> chosen = s.b ? 8w1 : 8w2;
            const bool order = 8w200 > 100 && -8s56 < 100;",
            expect![[r#"
                s = { 3 (bit<8>), true }
                t = { 3 (bit<8>), true }
                same = true
                field = 4 (bit<8>)
                partly = { 1 (bit<8>), ... }
                nested = { 1 (bit<8>), { 2 (bit<8>), false } }
                inner = false
                text = "ab"
                lazy = false
                chosen = 1 (bit<8>)
                order = true
            "#]],
        );
    }
}
