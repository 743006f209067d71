//! Operators: the types that they accept, and the types of their results.

use crate::checker::{Checker, expr, poisoned};
use crate::consts::type_width;
use crate::diagnostics as d;
use crate::hir::*;
use crate::types::has_compile_time_element;
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use syntax::ast::{self, BinaryOperator, UnaryOperator};

impl Checker<'_> {
    /// `op operand`
    pub(crate) fn unary(&mut self, operator: UnaryOperator, written: &ast::Expr, span: Span) -> Expr {
        if let (UnaryOperator::Negate, Some(lowest)) = (operator, lowest_number(written)) {
            return Expr { span, ..lowest };
        }
        let operand = self.operand(written, None);
        let operand = self.as_number(operand);
        let is_fine = match operator {
            UnaryOperator::Not => operand.ty == Type::Bool,
            UnaryOperator::Complement => matches!(operand.ty, Type::Bit(_) | Type::Int(_)),
            UnaryOperator::Negate | UnaryOperator::Plus => {
                matches!(operand.ty, Type::Bit(_) | Type::Int(_) | Type::Integer)
            }
        };
        if operand.ty == Type::Unknown {
            return poisoned(span);
        }
        if !is_fine {
            let shown = self.hir.show_type(&operand.ty);
            self.report(d::invalid_operand(operand.span, operator.as_str(), &shown, unary_expects(operator)));
            return poisoned(span);
        }
        let ty = operand.ty.clone();
        let whole = expr(ExprKind::Unary(operator, Box::new(operand)), ty, span);
        self.folded_integer(whole)
    }

    /// `left op right`
    pub(crate) fn binary(&mut self, operator: BinaryOperator, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        use BinaryOperator as Op;
        match operator {
            Op::And | Op::Or => {
                let (left, right) = (self.logical(operator, left), self.logical(operator, right));
                if left.ty == Type::Unknown || right.ty == Type::Unknown {
                    return poisoned(span);
                }
                binary_expr(operator, left, right, Type::Bool, span)
            }
            Op::Equal | Op::NotEqual => self.equality(operator, left, right, span),
            _ => {
                let (left, right) = (self.operand(left, None), self.operand(right, None));
                self.binary_checked(operator, left, right, span)
            }
        }
    }

    /// `left op right` for operands that are checked already; not for `&&`, `||`, `==` and `!=`.
    pub(crate) fn binary_checked(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        use BinaryOperator as Op;
        let (left, right) = (self.as_number(left), self.as_number(right));
        if left.ty == Type::Unknown || right.ty == Type::Unknown {
            return poisoned(span);
        }
        let whole = match operator {
            Op::ShiftLeft | Op::ShiftRight => self.shift(operator, left, right, span),
            Op::Concatenate => self.concatenate(left, right, span),
            _ => self.arithmetic(operator, left, right, span),
        };
        if whole.ty == Type::Integer {
            return match self.fold(&whole) {
                Some(value) => value,
                None if is_literal_operation(&whole) => {
                    self.report(d::constant_too_large(span));
                    poisoned(span)
                }
                None => whole,
            };
        }
        whole
    }

    fn logical(&mut self, operator: BinaryOperator, written: &ast::Expr) -> Expr {
        let operand = self.operand(written, Some(&Type::Bool));
        if matches!(operand.ty, Type::Bool | Type::Unknown) {
            return operand;
        }
        let shown = self.hir.show_type(&operand.ty);
        self.report(d::invalid_operand(operand.span, operator.as_str(), &shown, "a bool"));
        poisoned(operand.span)
    }

    /// An enum member with a representation counts as a number in arithmetic.
    fn as_number(&mut self, e: Expr) -> Expr {
        match self.representation(&e.ty).cloned() {
            Some(representation) => self.coerce(e, &representation),
            None => e,
        }
    }

    /// Converts an integer literal (or list) to the type of the other side.
    pub(crate) fn balance(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        let takes = |from: &Type, to: &Type| {
            matches!((from, to), (Type::Integer, Type::Bit(_) | Type::Int(_)))
                || matches!((from, to), (Type::Integer, Type::NewType(_))) && self.underlying_number(to).is_some()
                || matches!((from, to), (Type::Tuple(_), Type::Struct(..) | Type::Array(..)))
                || matches!((from, to), (Type::Tuple(a), Type::Tuple(b)) if a != b)
        };
        let is_list = |e: &Expr| matches!(e.kind, ExprKind::Aggregate(_));
        if is_list(&left)
            && is_list(&right)
            && let Some(joined) = self.join(&left.ty, &right.ty)
        {
            return (self.coerce(left, &joined), self.coerce(right, &joined));
        }
        if takes(&left.ty, &right.ty) && matches!(left.ty, Type::Integer | Type::Tuple(_)) {
            let left_is_literal = !matches!(left.ty, Type::Tuple(_)) || is_list(&left);
            if left_is_literal || !is_list(&right) {
                let target = right.ty.clone();
                return (self.coerce(left, &target), right);
            }
        }
        if takes(&right.ty, &left.ty) {
            let target = left.ty.clone();
            let right = self.coerce(right, &target);
            return (left, right);
        }
        (left, right)
    }

    /// The type of two lists in which an integer without a width takes the type at the same position of the other list.
    fn join(&self, left: &Type, right: &Type) -> Option<Type> {
        match (left, right) {
            (Type::Tuple(left), Type::Tuple(right)) if left.len() == right.len() => {
                let elements = left.iter().zip(right).map(|(left, right)| self.join(left, right));
                elements.collect::<Option<_>>().map(Type::Tuple)
            }
            (Type::Integer, Type::Integer) => Some(Type::Integer),
            (Type::Integer, other) | (other, Type::Integer) => self.underlying_number(other).map(|_| other.clone()),
            _ => (left == right).then(|| left.clone()),
        }
    }

    fn equality(&mut self, operator: BinaryOperator, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        let needs_hint = |written: &ast::Expr| {
            matches!(written.kind, ast::ExprKind::Struct { .. } | ast::ExprKind::Invalid | ast::ExprKind::Dots)
        };
        let is_struct = |written: &ast::Expr| matches!(written.kind, ast::ExprKind::Struct { .. });
        if is_struct(left) && is_struct(right) {
            self.report(d::type_not_known(left.span, "a list of named fields"));
            return expr(ExprKind::Poisoned, Type::Bool, span);
        }
        let (left, right) = if needs_hint(left) {
            let right = self.operand(right, None);
            (self.operand(left, Some(&right.ty)), right)
        } else {
            let left = self.operand(left, None);
            let right = self.operand(right, Some(&left.ty).filter(|ty| !matches!(ty, Type::Tuple(_))));
            (left, right)
        };
        self.equality_checked(operator, left, right, span)
    }

    fn equality_checked(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        let (mut left, mut right) = self.balance(left, right);
        if left.ty != right.ty {
            (left, right) = (self.as_number(left), self.as_number(right));
            (left, right) = self.balance(left, right);
        }
        if left.ty == Type::Unknown || right.ty == Type::Unknown {
            return expr(ExprKind::Poisoned, Type::Bool, span);
        }
        if !self.unify(&left.ty, &right.ty) {
            self.report_operands_differ(operator, &left, &right, span);
            return expr(ExprKind::Poisoned, Type::Bool, span);
        }
        if !self.is_comparable(&left.ty) {
            let shown = self.hir.show_type(&left.ty);
            self.report(d::not_comparable(span, operator.as_str(), &shown));
            return expr(ExprKind::Poisoned, Type::Bool, span);
        }
        self.compared(operator, left, right, span)
    }

    /// A comparison. One of integers without a width is replaced with its result, because they do not exist at run
    /// time.
    fn compared(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        let is_plain = left.ty == Type::Integer || has_compile_time_element(&left.ty);
        let whole = binary_expr(operator, left, right, Type::Bool, span);
        if is_plain && let Some(value) = self.fold(&whole) { value } else { whole }
    }

    fn report_operands_differ(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) {
        let (a, b) = (self.hir.show_type(&left.ty), self.hir.show_type(&right.ty));
        let mut diagnostic = d::operands_differ(span, operator.as_str(), (left.span, &a), (right.span, &b));
        if self.can_cast(right, &left.ty) {
            diagnostic = diagnostic.help(format!("convert the right side: `({a})`"));
        } else if self.can_cast(left, &right.ty) {
            diagnostic = diagnostic.help(format!("convert the left side: `({b})`"));
        }
        self.report(diagnostic);
    }

    /// Operators whose operands have one type.
    fn arithmetic(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        for operand in [&left, &right] {
            if !accepts_operand(operator, &operand.ty) {
                let shown = self.hir.show_type(&operand.ty);
                let diagnostic = d::invalid_operand(operand.span, operator.as_str(), &shown, binary_expects(operator));
                self.report(diagnostic);
                return poisoned(span);
            }
        }
        if matches!((&left.ty, &right.ty), (Type::Integer, Type::Integer)) && needs_width(operator) {
            self.report(d::invalid_operand(left.span, operator.as_str(), "int", binary_expects(operator)));
            return poisoned(span);
        }
        // Beside an operand with a width, a negative number would become a large one, and a large one perhaps zero.
        if !self.check_divisor(operator, &left, &right) {
            return poisoned(span);
        }
        let (left, right) = self.balance(left, right);
        if left.ty == Type::Unknown || right.ty == Type::Unknown {
            return poisoned(span);
        }
        if left.ty != right.ty {
            self.report_operands_differ(operator, &left, &right, span);
            return poisoned(span);
        }
        if !self.check_divisor(operator, &left, &right) || !self.check_bitwise(operator, &left, &right) {
            return poisoned(span);
        }
        if is_order(operator) {
            return self.compared(operator, left, right, span);
        }
        let ty = left.ty.clone();
        binary_expr(operator, left, right, ty, span)
    }

    /// Reports a division by zero or of negative numbers.
    fn check_divisor(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> bool {
        if !matches!(operator, BinaryOperator::Divide | BinaryOperator::Modulo) {
            return true;
        }
        let value = |checker: &Self, e: &Expr| checker.fold(e).and_then(|literal| checker.number(&literal));
        if value(self, right).is_some_and(|divisor| divisor.is_zero()) {
            self.report(d::division_by_zero(right.span));
            return false;
        }
        for operand in [left, right] {
            if value(self, operand).is_some_and(|number| number.is_negative()) {
                self.report(d::invalid_operand(
                    operand.span,
                    operator.as_str(),
                    "a negative number",
                    "unsigned numbers",
                ));
                return false;
            }
        }
        true
    }

    /// Reports a bitwise operation on a negative `int`, which has no certain number of bits.
    fn check_bitwise(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> bool {
        use BinaryOperator as Op;
        if !matches!(operator, Op::BitAnd | Op::BitOr | Op::BitXor) || left.ty != Type::Integer {
            return true;
        }
        for operand in [left, right] {
            let number = self.fold(operand).and_then(|literal| self.number(&literal));
            if number.is_some_and(|number| number.is_negative()) {
                let expected = "numbers with a width, or numbers that are not negative";
                self.report(d::invalid_operand(operand.span, operator.as_str(), "a negative number", expected));
                return false;
            }
        }
        true
    }

    fn shift(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        if !is_number(&left.ty) {
            let shown = self.hir.show_type(&left.ty);
            self.report(d::invalid_operand(left.span, operator.as_str(), &shown, "a number"));
            return poisoned(span);
        }
        let amount = self.fold(&right).and_then(|literal| self.number(&literal));
        if amount.as_ref().is_some_and(Signed::is_negative) {
            self.report(d::negative_shift(right.span));
            return poisoned(span);
        }
        // A signed number that is known not to be negative is harmless; the reference compiler accepts it.
        let is_known = amount.is_some() && matches!(right.ty, Type::Int(_));
        if !is_known && !matches!(right.ty, Type::Bit(_) | Type::Integer) {
            let shown = self.hir.show_type(&right.ty);
            self.report(d::invalid_operand(right.span, operator.as_str(), &shown, "an unsigned number on its right"));
            return poisoned(span);
        }
        if left.ty == Type::Integer && amount.is_none() && !matches!(right.ty, Type::Integer) {
            self.report(d::width_not_known(left.span));
            return poisoned(span);
        }
        let right = match (&left.ty, &right.ty, amount) {
            (Type::Bit(_) | Type::Int(_), Type::Integer | Type::Int(_), Some(amount)) => {
                let width = u32::try_from(amount.bits()).unwrap_or(u32::MAX).clamp(32, WIDTH_BITS_MAX);
                let plain = expr(ExprKind::Int(amount), Type::Integer, right.span);
                self.coerce(plain, &Type::Bit(width))
            }
            _ => right,
        };
        let ty = left.ty.clone();
        binary_expr(operator, left, right, ty, span)
    }

    fn concatenate(&mut self, left: Expr, right: Expr, span: Span) -> Expr {
        let operator = BinaryOperator::Concatenate;
        if left.ty == Type::String && right.ty == Type::String {
            let whole = binary_expr(operator, left, right, Type::String, span);
            return self.fold(&whole).unwrap_or(whole);
        }
        let is_string = |operand: &Expr| operand.ty == Type::String;
        // Beside a string, it is the other operand that is wrong.
        let beside_string = is_string(&left) || is_string(&right);
        for operand in [&left, &right].into_iter().filter(|operand| !is_string(operand)) {
            if operand.ty == Type::Integer && !beside_string {
                self.report(d::width_not_known(operand.span));
                return poisoned(span);
            }
            if type_width(&operand.ty).is_none() || beside_string {
                let shown = self.hir.show_type(&operand.ty);
                let expected = if beside_string { "two strings" } else { "numbers with a width, or strings" };
                self.report(d::invalid_operand(operand.span, "++", &shown, expected));
                return poisoned(span);
            }
        }
        let width = type_width(&left.ty).unwrap_or(0) + type_width(&right.ty).unwrap_or(0);
        let (name, ty) = match left.ty {
            Type::Int(_) => ("int", Type::Int(width)),
            _ => ("bit", Type::Bit(width)),
        };
        if width > WIDTH_BITS_MAX {
            self.report(d::width_out_of_range(span, name, &width.into()));
            return poisoned(span);
        }
        binary_expr(operator, left, right, ty, span)
    }

    /// `value &&& mask`, outside keysets.
    pub(crate) fn mask(&mut self, value: &ast::Expr, mask: &ast::Expr, span: Span) -> Expr {
        self.set(value, mask, "&&&", span, ExprKind::Mask)
    }

    /// `low .. high`, outside keysets.
    pub(crate) fn range(&mut self, low: &ast::Expr, high: &ast::Expr, span: Span) -> Expr {
        self.set(low, high, "..", span, ExprKind::Range)
    }

    fn set(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        operator: &str,
        span: Span,
        make: fn(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Expr {
        let (a, b) = (self.operand(a, None), self.operand(b, None));
        let (a, b) = (self.as_number(a), self.as_number(b));
        let (a, b) = self.balance(a, b);
        if a.ty == Type::Unknown || b.ty == Type::Unknown {
            return poisoned(span);
        }
        for operand in [&a, &b] {
            if !is_number(&self.hir.underlying(&operand.ty)) {
                let shown = self.hir.show_type(&operand.ty);
                self.report(d::invalid_operand(operand.span, operator, &shown, "numbers"));
                return poisoned(span);
            }
        }
        if a.ty != b.ty {
            let (left, right) = (self.hir.show_type(&a.ty), self.hir.show_type(&b.ty));
            self.report(d::operands_differ(span, operator, (a.span, &left), (b.span, &right)));
            return poisoned(span);
        }
        let ty = Type::Set(Box::new(a.ty.clone()));
        expr(make(Box::new(a), Box::new(b)), ty, span)
    }
}

/// Whether the type is numeric.
pub(crate) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Integer | Type::Bit(_) | Type::Int(_))
}

/// The lowest number of a signed type, if this is the literal for it without its sign, as in `-8s128`. Without the sign
/// it would not fit.
fn lowest_number(written: &ast::Expr) -> Option<Expr> {
    let ast::ExprKind::Integer(ast::IntegerLiteral { value, width: Some(width), is_signed: true, .. }) = &written.kind
    else {
        return None;
    };
    let is_lowest = (1..=WIDTH_BITS_MAX).contains(width) && *value == BigInt::from(1) << (width - 1);
    is_lowest.then(|| expr(ExprKind::Int(-value), Type::Int(*width), written.span))
}

fn binary_expr(operator: BinaryOperator, left: Expr, right: Expr, ty: Type, span: Span) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), ty, span)
}

/// Whether both operands are literals, so that only the size of the result can have prevented folding.
fn is_literal_operation(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Binary(_, a, b)
        if matches!((&a.kind, &b.kind), (ExprKind::Int(_), ExprKind::Int(_))))
}

fn is_order(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(operator, Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual)
}

/// Whether an operator depends on the width of its result, so that an `int`, which has no width, cannot be its only
/// kind of operand. The bitwise operators are not among them: only negative numbers would need a width.
fn needs_width(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(operator, Op::SaturatingAdd | Op::SaturatingSubtract)
}

fn accepts_operand(operator: BinaryOperator, ty: &Type) -> bool {
    use BinaryOperator as Op;
    match operator {
        Op::Divide | Op::Modulo => matches!(ty, Type::Integer | Type::Bit(_)),
        _ => is_number(ty),
    }
}

fn unary_expects(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Not => "a bool",
        UnaryOperator::Complement => "a number with a width",
        UnaryOperator::Negate | UnaryOperator::Plus => "a number",
    }
}

fn binary_expects(operator: BinaryOperator) -> &'static str {
    use BinaryOperator as Op;
    match operator {
        Op::Divide | Op::Modulo => "unsigned numbers",
        _ if needs_width(operator) => "numbers with a width",
        _ => "numbers",
    }
}
