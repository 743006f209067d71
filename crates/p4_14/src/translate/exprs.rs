//! Fields, values and conditions.
//!
//! P4_14 converts values of different widths: a value is truncated to the low bits of its target, or extended by its
//! own sign. The operands of an operator get the width of the widest; numbers get that of the other operand. P4_16 has
//! no implicit conversions, so each becomes a cast here.

use super::build::{self, Shape};
use super::{Done, Translator};
use crate::ast::{BinaryOperator, Expr, ExprKind, Ident, Name, UnaryOperator};
use crate::codes;
use crate::symbols::{fold, fold_binary};
use base::limits::WIDTH_BITS_MAX;
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use syntax::ast as p4;

/// The element of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// The instance is not a stack.
    Only,
    At(u32),
    Next,
    Last,
}

/// A header, a stack element, or metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeaderRef {
    pub instance: usize,
    pub element: Element,
}

/// A field as an l-value.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The expression in P4_16.
    pub expr: p4::Expr,
    /// The declared shape in the program.
    pub shape: Shape,
    /// The shape in P4_16: intrinsic metadata has the widths of v1model.
    pub actual: Shape,
    pub is_saturating: bool,
    pub is_variable: bool,
    pub header: HeaderRef,
    pub field: usize,
}

/// The value of an expression.
pub(crate) enum Operand {
    /// A number, with its width if one is written.
    Number(BigInt, Option<u32>),
    Bits(p4::Expr, Shape),
    Truth(p4::Expr),
}

/// The context of an expression, which determines what it may refer to besides fields.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    /// The parameters of the action.
    pub parameters: Option<&'s OrderedMap<Name, Shape>>,
    /// In the parser, the header that was extracted last.
    pub latest: Option<Option<HeaderRef>>,
}

impl Scope<'_> {
    /// A control's conditions, a table's keys, field lists.
    pub(crate) const PLAIN: Scope<'static> = Scope { parameters: None, latest: None };

    /// The parser.
    pub(crate) fn parser(latest: Option<HeaderRef>) -> Scope<'static> {
        Scope { parameters: None, latest: Some(latest) }
    }
}

/// The field of v1model that corresponds to a field of intrinsic metadata, and its width.
pub(crate) fn intrinsic(instance: &str, field: &str) -> Option<(&'static str, u32)> {
    let known: &[(&str, &'static str, u32)] = match instance {
        "standard_metadata" => &[
            ("ingress_port", "ingress_port", 9),
            ("packet_length", "packet_length", 32),
            ("egress_spec", "egress_spec", 9),
            ("egress_port", "egress_port", 9),
            ("egress_instance", "egress_rid", 16),
            ("instance_type", "instance_type", 32),
            ("checksum_error", "checksum_error", 1),
            ("mcast_grp", "mcast_grp", 16),
            ("egress_rid", "egress_rid", 16),
            ("priority", "priority", 3),
            ("ingress_global_timestamp", "ingress_global_timestamp", 48),
            ("egress_global_timestamp", "egress_global_timestamp", 48),
            ("enq_timestamp", "enq_timestamp", 32),
            ("enq_qdepth", "enq_qdepth", 19),
            ("deq_timedelta", "deq_timedelta", 32),
            ("deq_qdepth", "deq_qdepth", 19),
        ],
        "intrinsic_metadata" => &[
            ("ingress_global_timestamp", "ingress_global_timestamp", 48),
            ("egress_global_timestamp", "egress_global_timestamp", 48),
            ("mcast_grp", "mcast_grp", 16),
            ("egress_rid", "egress_rid", 16),
            ("priority", "priority", 3),
        ],
        "queueing_metadata" => &[
            ("enq_timestamp", "enq_timestamp", 32),
            ("enq_qdepth", "enq_qdepth", 19),
            ("deq_timedelta", "deq_timedelta", 32),
            ("deq_qdepth", "deq_qdepth", 19),
            ("qid", "priority", 3),
        ],
        _ => return None,
    };
    known.iter().find(|(name, ..)| *name == field).map(|&(_, name, width)| (name, width))
}

// Headers and fields.
impl Translator<'_, '_> {
    /// The header, stack element or metadata that an expression refers to; `None` without an error for other
    /// expressions.
    pub(super) fn try_header(&mut self, expr: &Expr, scope: Scope<'_>) -> Option<Done<HeaderRef>> {
        match &expr.kind {
            ExprKind::Name(name) if &**name == "latest" && !self.symbols.instances.contains_key(name) => {
                Some(match scope.latest {
                    Some(Some(latest)) => Some(latest),
                    Some(None) => {
                        let message = "`latest` stands where no header was extracted before";
                        self.error(codes::LATEST_WITHOUT_EXTRACT, expr.span, message)
                    }
                    None => self.error(codes::LATEST_WITHOUT_EXTRACT, expr.span, "`latest` is for parser states"),
                })
            }
            ExprKind::Name(name) => {
                let &instance = self.symbols.instances.get(name)?;
                Some(Some(HeaderRef { instance, element: Element::Only }))
            }
            ExprKind::Index(base, index) => {
                let ExprKind::Name(name) = &base.kind else { return None };
                let &instance = self.symbols.instances.get(name)?;
                Some(self.element(instance, index, scope).map(|element| HeaderRef { instance, element }))
            }
            _ => None,
        }
    }

    /// The header that an expression must refer to: not a whole stack.
    pub(super) fn header(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<HeaderRef> {
        let Some(found) = self.try_header(expr, scope) else {
            return match &expr.kind {
                ExprKind::Name(name) => {
                    let name = Ident { name: name.clone(), span: expr.span };
                    self.lookup(|symbols| &symbols.instances, &name, "header or metadata instance")?;
                    None
                }
                ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Name(_)) => self.header(base, scope),
                _ => self.error(codes::WRONG_KIND, expr.span, "this is not a header"),
            };
        };
        let found = found?;
        if found.element == Element::Only && self.symbols.all_instances[found.instance].size.is_some() {
            let name = self.symbols.all_instances[found.instance].name.name.clone();
            return self.error(codes::WRONG_KIND, expr.span, format!("`{name}` is a stack; its elements are headers"));
        }
        Some(found)
    }

    fn element(&mut self, instance: usize, index: &Expr, scope: Scope<'_>) -> Done<Element> {
        let it = &self.symbols.all_instances[instance];
        let (name, size) = (it.name.name.clone(), it.size);
        let Some(size) = size else {
            return self.error(codes::WRONG_KIND, index.span, format!("`{name}` is not a stack"));
        };
        match &index.kind {
            ExprKind::Name(word) if matches!(&**word, "next" | "last") => {
                if scope.latest.is_none() {
                    let message = match &**word {
                        "next" => "`next` of a stack is known in parser states only",
                        _ => "`last` of a stack is not known here, only in parser states, actions, conditions and keys",
                    };
                    return self.error(codes::UNSUPPORTED, index.span, message);
                }
                Some(if &**word == "next" { Element::Next } else { Element::Last })
            }
            _ => {
                let Some(value) = fold(index) else {
                    return self.error(codes::NOT_CONSTANT, index.span, "the index of a stack must be a constant");
                };
                match value.to_u32().filter(|&value| value < size) {
                    Some(value) => Some(Element::At(value)),
                    None => {
                        let message = format!("`{name}` has {size} elements; there is none at {value}");
                        self.error(codes::OUT_OF_RANGE, index.span, message)
                    }
                }
            }
        }
    }

    /// A header as an expression.
    pub(super) fn header_expr(&self, header: HeaderRef, span: Span) -> p4::Expr {
        let instance = &self.symbols.all_instances[header.instance];
        let root = if instance.is_metadata { &self.own.metadata } else { &self.own.headers };
        let whole = build::member(build::name(root, span), &self.spelt(&instance.name.name), span);
        match header.element {
            Element::Only => whole,
            Element::At(index) => build::index(whole, index, span),
            Element::Next => build::member(whole, "next", span),
            Element::Last => build::member(whole, "last", span),
        }
    }

    /// The field that an expression refers to.
    pub(super) fn field(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<Place> {
        let ExprKind::Member(base, member) = &expr.kind else {
            return self.error(codes::WRONG_KIND, expr.span, "this is not a field");
        };
        let mut header = self.header(base, scope)?;
        header.instance = self.symbols.instance_with(header.instance, member.as_str());
        let instance = &self.symbols.all_instances[header.instance];
        let header_type = &self.symbols.types[instance.header_type];
        let Some(field) = header_type.field(member.as_str()) else {
            let message = format!("`{}` has no field `{}`", instance.name.name, member.name);
            let names: Vec<Name> = header_type.fields.iter().map(|field| field.name.name.clone()).collect();
            let mut diagnostic = p4_error(codes::UNKNOWN_FIELD, member.span, message);
            if let Some(near) = super::nearest(member.as_str(), &names) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            self.diagnostics.push(diagnostic);
            return None;
        };
        Some(self.place(header, field, expr.span))
    }

    /// A field as an l-value.
    pub(super) fn place(&self, header: HeaderRef, field: usize, span: Span) -> Place {
        let instance = &self.symbols.all_instances[header.instance];
        let declared = &self.symbols.types[instance.header_type].fields[field];
        let shape = Shape { width: declared.width, is_signed: declared.is_signed };
        let known = if instance.is_metadata { intrinsic(&instance.name.name, &declared.name.name) } else { None };
        let (expr, actual) = match known {
            Some((name, width)) => {
                (build::member(build::name(&self.own.standard, span), name, span), Shape::bits(width))
            }
            None => (build::member(self.header_expr(header, span), &self.spelt(&declared.name.name), span), shape),
        };
        Place {
            expr,
            shape,
            actual,
            is_saturating: declared.is_saturating,
            is_variable: declared.is_variable,
            header,
            field,
        }
    }

    /// The value of a field.
    pub(super) fn read(&self, place: &Place) -> p4::Expr {
        build::convert(place.expr.clone(), place.actual, place.shape)
    }

    /// `place = value` for a value of the field's shape.
    pub(super) fn write(&self, place: &Place, value: p4::Expr, span: Span) -> p4::Statement {
        build::assign(place.expr.clone(), build::convert(value, place.shape, place.actual), span)
    }

    /// A field of fixed width, as values require.
    pub(super) fn fixed_field(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<Place> {
        let place = self.field(expr, scope)?;
        if place.is_variable {
            return self.error(codes::VARIABLE_LENGTH, expr.span, "a field of variable length cannot be computed with");
        }
        Some(place)
    }
}

// Values.
impl Translator<'_, '_> {
    /// The value of an expression.
    pub(super) fn operand(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<Operand> {
        self.count_nodes(1, expr.span)?;
        if self.depth >= crate::parser::HEIGHT_MAX {
            let message = "this expression is too high when the arguments are put in the places of parameters";
            return self.error(codes::NESTING_LIMIT, expr.span, message);
        }
        self.depth += 1;
        let result = self.operand_inside(expr, scope);
        self.depth -= 1;
        result
    }

    fn operand_inside(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<Operand> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Integer(value, width) => Some(Operand::Number(value.clone(), *width)),
            ExprKind::Bool(value) => Some(Operand::Truth(build::truth(*value, span))),
            ExprKind::Name(name) => match scope.parameters.and_then(|parameters| parameters.get(name)) {
                Some(&shape) => Some(Operand::Bits(build::name(&self.spelt(name), span), shape)),
                None => {
                    let (code, message) = match self.other_meaning(name) {
                        Some(other) => (codes::WRONG_KIND, format!("`{name}` is {other}, not a value")),
                        None => (codes::UNKNOWN_NAME, format!("`{name}` is not declared")),
                    };
                    self.error(code, span, message)
                }
            },
            ExprKind::Member(..) | ExprKind::Valid(_)
                if scope.latest.is_none()
                    && let Some(stack) = self.last_in(expr) =>
            {
                self.value_of_last(expr, stack, scope)
            }
            ExprKind::Member(base, member) if self.is_validity(base, member) => {
                Some(Operand::Truth(self.validity(base, scope, span)?))
            }
            ExprKind::Member(..) => {
                let place = self.fixed_field(expr, scope)?;
                Some(Operand::Bits(self.read(&place), place.shape))
            }
            ExprKind::Index(base, _) => {
                let message = self.cell_of(base).unwrap_or_else(|| "a header is not a value".to_owned());
                self.error(codes::WRONG_KIND, span, message)
            }
            ExprKind::Valid(header) => Some(Operand::Truth(self.validity(header, scope, span)?)),
            ExprKind::Current(offset, width) => self.current(offset, width, scope, span),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand, scope, span),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, scope, span),
            ExprKind::MinMax { is_minimum, left, right } => self.min_max(*is_minimum, left, right, scope, span),
            ExprKind::Cast { width, is_signed, operand } => {
                let width = self.count(width, 1, u64::from(WIDTH_BITS_MAX))? as u32;
                let shape = Shape { width, is_signed: *is_signed };
                Some(Operand::Bits(self.value(operand, shape, scope)?, shape))
            }
        }
    }

    /// Whether `header.valid` tests the header's validity, because no field has that name.
    pub(super) fn is_validity(&self, base: &Expr, member: &Ident) -> bool {
        let name = match &base.kind {
            ExprKind::Name(name) => name,
            ExprKind::Index(base, _) => match &base.kind {
                ExprKind::Name(name) => name,
                _ => return false,
            },
            _ => return false,
        };
        let Some(&instance) = self.symbols.instances.get(name) else { return false };
        let instance = &self.symbols.all_instances[self.symbols.instance_with(instance, "valid")];
        member.as_str() == "valid" && self.symbols.types[instance.header_type].field("valid").is_none()
    }

    /// `min(a, b)` and `max(a, b)`.
    fn min_max(&mut self, is_minimum: bool, left: &Expr, right: &Expr, scope: Scope<'_>, span: Span) -> Done<Operand> {
        let (left, right) = (self.operand(left, scope), self.operand(right, scope));
        let (left, right) = (left?, right?);
        if let (Operand::Number(a, width), Operand::Number(b, other)) = (&left, &right) {
            let value = if (a <= b) == is_minimum { a } else { b };
            return Some(Operand::Number(value.clone(), (*width).max(*other)));
        }
        let shape = self.common_shape(&left, &right, true);
        let (left, right) = (self.shaped(left, shape, span)?, self.shaped(right, shape, span)?);
        let operator = if is_minimum { BinaryOperator::LessOrEqual } else { BinaryOperator::GreaterOrEqual };
        let is_first = build::binary(operator, left.clone(), right.clone(), span);
        Some(Operand::Bits(build::conditional(is_first, left, right, span), shape))
    }

    /// The help for `base[index]` if that is a cell of a register, which only primitives can access.
    pub(super) fn cell_of(&self, base: &Expr) -> Option<String> {
        match &base.kind {
            ExprKind::Name(name) if self.symbols.registers.contains_key(name) => Some(format!(
                "`{name}` is a register: `register_read` reads its cells, and `register_write` writes them"
            )),
            _ => None,
        }
    }

    /// `valid(header)` or `valid(header.field)`. The specification defines metadata as always valid.
    pub(super) fn validity(&mut self, expr: &Expr, scope: Scope<'_>, span: Span) -> Done<p4::Expr> {
        let header = match &expr.kind {
            ExprKind::Member(..) => self.field(expr, scope)?.header,
            _ => self.header(expr, scope)?,
        };
        if self.symbols.all_instances[header.instance].is_metadata {
            self.warn(codes::NO_EFFECT, span, "metadata is always valid");
            return Some(build::truth(true, span));
        }
        Some(build::method(self.header_expr(header, span), "isValid", Vec::new(), span))
    }

    /// `current(offset, width)`: bits ahead in the packet.
    fn current(&mut self, offset: &Expr, width: &Expr, scope: Scope<'_>, span: Span) -> Done<Operand> {
        if scope.latest.is_none() {
            return self.error(codes::WRONG_KIND, span, "`current` is for parser states");
        }
        let offset = self.count(offset, 0, u64::from(WIDTH_BITS_MAX))?;
        let width = self.count(width, 1, u64::from(WIDTH_BITS_MAX) - offset)? as u32;
        let total = offset as u32 + width;
        let ahead = self.lookahead(total, span);
        let value = if total == width { ahead } else { build::slice(ahead, width - 1, 0, span) };
        Some(Operand::Bits(value, Shape::bits(width)))
    }

    /// The next bits of the packet.
    pub(super) fn lookahead(&self, width: u32, span: Span) -> p4::Expr {
        let callee = build::member(build::name(&self.own.packet, span), "lookahead", span);
        build::call_with(callee, vec![build::bit_type(Shape::bits(width), span)], Vec::new(), span)
    }

    /// A constant from `least` to `most`.
    pub(super) fn count(&mut self, expr: &Expr, least: u64, most: u64) -> Done<u64> {
        let Some(value) = fold(expr) else {
            return self.error(codes::NOT_CONSTANT, expr.span, "this must be a constant number");
        };
        match value.to_u64().filter(|value| (least..=most).contains(value)) {
            Some(value) => Some(value),
            None => {
                let message = format!("this must be from {least} to {most}, and is {value}");
                self.error(codes::OUT_OF_RANGE, expr.span, message)
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Expr, scope: Scope<'_>, span: Span) -> Done<Operand> {
        if operator == UnaryOperator::Not {
            let operand = self.condition(operand, scope)?;
            return Some(Operand::Truth(build::unary(operator, operand, span)));
        }
        match self.operand(operand, scope)? {
            Operand::Number(value, width) => Some(Operand::Number(
                match operator {
                    UnaryOperator::Negate => -value,
                    UnaryOperator::Complement => -value - 1,
                    _ => value,
                },
                width,
            )),
            Operand::Bits(value, shape) => Some(match operator {
                UnaryOperator::Plus => Operand::Bits(value, shape),
                _ => Operand::Bits(build::unary(operator, value, span), shape),
            }),
            Operand::Truth(_) => self.error(codes::WRONG_VALUE, span, "a truth value is not a number"),
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        scope: Scope<'_>,
        span: Span,
    ) -> Done<Operand> {
        if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
            let (left, right) = (self.condition(left, scope), self.condition(right, scope));
            return Some(Operand::Truth(build::binary(operator, left?, right?, span)));
        }
        let (left, right) = (self.operand(left, scope), self.operand(right, scope));
        self.binary_operands(operator, left?, right?, span)
    }

    /// An operator on two operands.
    pub(super) fn binary_operands(
        &mut self,
        operator: BinaryOperator,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Done<Operand> {
        let is_comparison = matches!(
            operator,
            BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
        );
        if let (Operand::Number(left, left_width), Operand::Number(right, right_width)) = (&left, &right) {
            if is_comparison {
                return Some(Operand::Truth(build::truth(compare(operator, left, right), span)));
            }
            return match fold_binary(operator, left, right) {
                Some(value) => Some(Operand::Number(value, (*left_width).max(*right_width))),
                None => self.error(codes::OUT_OF_RANGE, span, "this has no value, or one that is too large"),
            };
        }
        // Booleans can be tested for equality, but neither added nor ordered.
        let takes_truth = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        if !takes_truth && [&left, &right].into_iter().any(|operand| matches!(operand, Operand::Truth(_))) {
            return self.error(codes::WRONG_VALUE, span, "a truth value is not a number");
        }
        if matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
            return self.shift(operator, left, right, None, span);
        }
        let shape = self.common_shape(&left, &right, is_comparison);
        let (left, right) = (self.shaped(left, shape, span)?, self.shaped(right, shape, span)?);
        let value = build::binary(operator, left, right, span);
        Some(if is_comparison { Operand::Truth(value) } else { Operand::Bits(value, shape) })
    }

    /// A shift, computed in at least `least` bits. The amount keeps its own width.
    pub(super) fn shift(
        &mut self,
        operator: BinaryOperator,
        left: Operand,
        right: Operand,
        least: Option<Shape>,
        span: Span,
    ) -> Done<Operand> {
        let own = match &left {
            Operand::Bits(_, shape) => *shape,
            Operand::Number(value, width) => Shape::bits(width.unwrap_or_else(|| bits_of(value))),
            Operand::Truth(_) => Shape::bits(1),
        };
        let shape = match least {
            Some(least) => Shape { width: own.width.max(least.width), is_signed: own.is_signed },
            None => own,
        };
        let left = self.shaped(left, shape, span)?;
        let amount = match right {
            Operand::Number(value, _) if value.is_negative() => {
                return self.error(codes::OUT_OF_RANGE, span, "a shift by a negative number of bits");
            }
            Operand::Number(value, _) => {
                let most = BigInt::from(WIDTH_BITS_MAX);
                build::number(if value > most { &most } else { &value }, span)
            }
            Operand::Bits(value, amount) => build::convert(value, amount, Shape::bits(amount.width)),
            Operand::Truth(_) => return self.error(codes::WRONG_VALUE, span, "a truth value is not a number"),
        };
        Some(Operand::Bits(build::binary(operator, left, amount, span), shape))
    }

    /// The common shape of two operands. In a comparison a number is not truncated to the other operand's width.
    fn common_shape(&self, left: &Operand, right: &Operand, is_comparison: bool) -> Shape {
        let shape = |operand: &Operand, other: &Operand| match (operand, other) {
            (Operand::Bits(_, shape), _) => *shape,
            (Operand::Truth(_), _) => Shape::bits(1),
            (Operand::Number(value, width), Operand::Bits(_, other)) => {
                let is_signed = other.is_signed;
                let needed = if value.is_negative() && !is_signed { 1 } else { bits_of(value) + u32::from(is_signed) };
                let least = if is_comparison { needed } else { 1 };
                Shape { width: width.unwrap_or(1).max(least).min(WIDTH_BITS_MAX), is_signed }
            }
            (Operand::Number(value, width), _) => Shape::bits(width.unwrap_or_else(|| bits_of(value))),
        };
        let (left, right) = (shape(left, right), shape(right, left));
        Shape { width: left.width.max(right.width), is_signed: left.is_signed && right.is_signed }
    }

    /// Converts an operand to the shape.
    pub(super) fn shaped(&mut self, operand: Operand, shape: Shape, span: Span) -> Done<p4::Expr> {
        match operand {
            Operand::Number(value, _) => Some(build::constant(&value, shape, span)),
            Operand::Bits(value, own) => Some(build::convert(value, own, shape)),
            Operand::Truth(value) => {
                let bit = build::cast_to(build::bit_type(Shape::bits(1), span), value);
                Some(build::convert(bit, Shape::bits(1), shape))
            }
        }
    }

    /// An expression as a value of the shape; a boolean is 1 or 0.
    pub(super) fn value(&mut self, expr: &Expr, shape: Shape, scope: Scope<'_>) -> Done<p4::Expr> {
        let operand = self.operand(expr, scope)?;
        self.shaped(operand, shape, expr.span)
    }

    /// An expression as a boolean.
    pub(super) fn condition(&mut self, expr: &Expr, scope: Scope<'_>) -> Done<p4::Expr> {
        match self.operand(expr, scope)? {
            Operand::Truth(value) => Some(value),
            Operand::Number(..) | Operand::Bits(..) => {
                let message = "a condition is true or false, and this is a number";
                let diagnostic = p4_error(codes::WRONG_VALUE, expr.span, message.to_owned());
                self.diagnostics.push(diagnostic.help("compare it with a number, as in `... != 0`"));
                None
            }
        }
    }
}

fn p4_error(code: &'static str, span: Span, message: String) -> syntax::diag::Diagnostic {
    syntax::diag::Diagnostic::error(code, span, message)
}

fn compare(operator: BinaryOperator, left: &BigInt, right: &BigInt) -> bool {
    match operator {
        BinaryOperator::Equal => left == right,
        BinaryOperator::NotEqual => left != right,
        BinaryOperator::Less => left < right,
        BinaryOperator::LessOrEqual => left <= right,
        BinaryOperator::Greater => left > right,
        _ => left >= right,
    }
}

/// The number of bits that a number needs, at least 1; one more for the sign of a negative one.
pub(crate) fn bits_of(value: &BigInt) -> u32 {
    let bits = value.bits() + u64::from(value.is_negative());
    bits.clamp(1, u64::from(WIDTH_BITS_MAX)) as u32
}
