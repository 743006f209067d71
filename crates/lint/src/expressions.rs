//! Expressions that are constant, or whose value is useless.

use crate::diagnostics as d;
use crate::flow::layout::is_header;
use crate::linter::Linter;
use crate::sink::{CONSTANT, INVALID_HEADER, MISMATCH};
use crate::walk::{is_pure, is_same};
use num_bigint::BigInt;
use num_traits::{Signed as _, Zero as _};
use sema::hir::*;
use syntax::ast::{BinaryOperator, StructKind};

impl Linter<'_, '_> {
    /// Checks an expression without its parts, which are visited later.
    pub(crate) fn check_expression(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Binary(operator, left, right) => self.check_binary(*operator, left, right, e),
            ExprKind::Conditional(_, yes, no) => {
                let is_variable = self.values.number(yes).is_none();
                if is_variable && is_pure(yes) && is_same(yes, no) {
                    self.sink.warn(CONSTANT, d::same_branches(e.span, yes.span, no.span));
                }
            }
            ExprKind::Call(call) => self.check_emit(call),
            ExprKind::Field(header, _) => self.check_never_valid(header, e),
            _ => {}
        }
    }

    fn check_binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, e: &Expr) {
        use BinaryOperator as Op;
        let is_comparison = matches!(
            operator,
            Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
        );
        if self.check_same_operands(operator, left, right, e) {
            return;
        }
        match operator {
            Op::ShiftLeft | Op::ShiftRight => self.check_shift(left, right, e),
            Op::And | Op::Or => self.check_contradiction(operator, left, right, e),
            _ if is_comparison => {
                self.check_comparison(operator, left, right, e);
                self.check_comparison(mirrored(operator), right, left, e);
            }
            _ => {}
        }
    }

    /// `x == x`, `x & x`, `x - x`. Returns whether it warned.
    fn check_same_operands(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, e: &Expr) -> bool {
        use BinaryOperator as Op;
        let result = match operator {
            Op::Equal | Op::LessOrEqual | Op::GreaterOrEqual => "`true`",
            Op::NotEqual | Op::Less | Op::Greater => "`false`",
            Op::Subtract | Op::SaturatingSubtract | Op::BitXor | Op::Modulo => "0",
            Op::Divide => "1",
            Op::BitAnd | Op::BitOr | Op::And | Op::Or => "the operand itself",
            _ => return false,
        };
        // Two constants may be equal only for now.
        let is_found = names_variable(left) && is_pure(left) && is_same(left, right);
        if is_found {
            self.sink.warn(CONSTANT, d::same_operands(e.span, operator.as_str(), result));
        }
        is_found
    }

    fn check_shift(&mut self, left: &Expr, right: &Expr, e: &Expr) {
        let Some((width, is_signed)) = self.values.number_type(&left.ty) else { return };
        let is_constant = self.values.number(left).is_some();
        if let Some(count) = self.values.number(right)
            && !is_constant
            && count >= BigInt::from(width)
            && !is_signed
            && self.sink.is_written_number(right.span)
        {
            self.sink.warn(CONSTANT, d::shift_too_far(e.span, &count, width));
        }
    }

    /// A comparison of an unknown value with a literal number.
    fn check_comparison(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, e: &Expr) {
        if !self.sink.is_written_number(right.span) || self.values.number(left).is_some() {
            return;
        }
        let Some(number) = self.values.number(right) else { return };
        if let Some(result) = self.decided_by_mask(operator, left, &number) {
            self.sink
                .warn(CONSTANT, d::always_decided(e.span, result, "because of the bits that the other side can have"));
            return;
        }
        let Some((least, greatest)) = self.values.range(&left.ty) else { return };
        let result = match operator {
            BinaryOperator::Less if number <= least => false,
            BinaryOperator::GreaterOrEqual if number <= least => true,
            BinaryOperator::Greater if number >= greatest => false,
            BinaryOperator::LessOrEqual if number >= greatest => true,
            _ => return,
        };
        let shown = self.program.show_type(&left.ty);
        self.sink.warn(CONSTANT, d::always_decided(e.span, result, &format!("whatever the value of type {shown} is")));
    }

    /// The result of `(x & mask) == number` or `(x | mask) == number`, if it is the same for all `x`.
    fn decided_by_mask(&self, operator: BinaryOperator, left: &Expr, number: &BigInt) -> Option<bool> {
        if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) || number.is_negative() {
            return None;
        }
        let ExprKind::Binary(inner, a, b) = &left.kind else { return None };
        let mask = self.values.number(b).or_else(|| self.values.number(a)).filter(|mask| !mask.is_negative())?;
        let is_possible = match inner {
            BinaryOperator::BitAnd => number & &mask == *number,
            BinaryOperator::BitOr => number & &mask == mask,
            _ => return None,
        };
        (!is_possible).then_some(operator == BinaryOperator::NotEqual)
    }

    /// `x == 1 && x == 2`, `x != 1 || x != 2`
    fn check_contradiction(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, e: &Expr) {
        let wanted = if operator == BinaryOperator::And { BinaryOperator::Equal } else { BinaryOperator::NotEqual };
        let (ExprKind::Binary(a, x, m), ExprKind::Binary(b, y, n)) = (&left.kind, &right.kind) else { return };
        if *a != wanted || *b != wanted || !is_pure(x) || !is_same(x, y) {
            return;
        }
        // Only literal numbers are certain to differ always.
        if !self.sink.is_written_number(m.span) || !self.sink.is_written_number(n.span) {
            return;
        }
        if let (None, Some(m), Some(n)) = (self.values.number(x), self.values.number(m), self.values.number(n))
            && m != n
        {
            let is_true = operator == BinaryOperator::Or;
            self.sink.warn(CONSTANT, d::always_decided(e.span, is_true, "because the two numbers differ"));
        }
    }

    /// Warns of a field whose header nothing in the program makes valid. Each header is reported once.
    fn check_never_valid(&mut self, header: &Expr, e: &Expr) {
        if !is_header(self.program, &header.ty) || !self.has_parser() {
            return;
        }
        let mut named = header;
        while let ExprKind::Index(base, _) | ExprKind::StackLast(base) | ExprKind::StackNext(base) = &named.kind {
            named = base;
        }
        let ExprKind::Field(base, field) = &named.kind else { return };
        let Type::Struct(id, args) = &base.ty else { return };
        let place = (*id, *field);
        let is_known = !args.is_empty()
            || self.uses.valid_fields.contains(&place)
            || self.uses.tested_fields.contains(&place)
            || !self.is_parameter(base);
        if !is_known && self.reported_invalid.insert(place) {
            let declared = &self.program.structs[*id].fields[*field];
            self.sink.warn_about(
                INVALID_HEADER,
                &declared.annotations,
                d::never_valid_header(e.span, &declared.name, declared.span),
            );
        }
    }

    /// Whether the program is a package that contains a parser, so that only its own code makes headers valid.
    fn has_parser(&self) -> bool {
        let main = self.program.main.map(|main| &self.program.instances[main]);
        main.is_some_and(|main| main.args.iter().flatten().any(|arg| matches!(arg.ty, Type::Parser(..))))
    }

    /// Whether an expression is a parameter or a part of one. The flow analysis covers local variables.
    pub(crate) fn is_parameter(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(var) => matches!(self.program.vars[*var].kind, VarKind::Parameter { .. }),
            ExprKind::Field(base, _) | ExprKind::TupleIndex(base, _) | ExprKind::Index(base, _) => {
                self.is_parameter(base)
            }
            _ => false,
        }
    }

    /// Warns of an `emit` of a header that nothing in the program makes valid.
    fn check_emit(&mut self, call: &Call) {
        let Callee::Method(object, position) = &call.callee else { return };
        let Type::Extern(owner, _) = &object.ty else { return };
        let owner = &self.program.externs[*owner];
        let is_emit =
            &*owner.name == "packet_out" && owner.methods.get(*position).is_some_and(|method| &*method.name == "emit");
        let Some(Some(emitted)) = call.args.first() else { return };
        let ExprKind::Field(base, field) = &emitted.kind else { return };
        let Type::Struct(id, _) = &base.ty else { return };
        let declared = &self.program.structs[*id];
        // If the program makes no header of the struct valid, the architecture must do so.
        let is_filled_here = || self.uses.valid_fields.iter().any(|(other, _)| other == id);
        if is_emit
            && self.program.main.is_some()
            && declared.kind == StructKind::Struct
            && !self.uses.valid_fields.contains(&(*id, *field))
            && is_filled_here()
        {
            let name = &declared.fields[*field].name;
            self.sink.warn(INVALID_HEADER, d::never_valid(emitted.span, name));
        }
    }

    /// Warns of a value that has ones where its mask has zeros.
    pub(crate) fn check_mask(&mut self, value: &Expr, mask: &Expr) {
        if !self.sink.is_written_number(value.span) || !self.sink.is_written_number(mask.span) {
            return;
        }
        let (Some(number), Some(bits)) = (self.values.number(value), self.values.number(mask)) else { return };
        if !number.is_negative() && !bits.is_negative() && !(&number - (&number & &bits)).is_zero() {
            self.sink.warn(MISMATCH, d::value_outside_mask(value.span, mask.span));
        }
    }
}

/// The equivalent operator for swapped operands.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        other => other,
    }
}

/// Whether an expression is a variable or a part of one.
pub(crate) fn names_variable(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(_) => true,
        ExprKind::Field(base, _)
        | ExprKind::TupleIndex(base, _)
        | ExprKind::Slice(base, _, _)
        | ExprKind::Index(base, _) => names_variable(base),
        _ => false,
    }
}
