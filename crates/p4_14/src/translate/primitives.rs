//! The translation of each primitive action.
//!
//! Primitives run one after the other. A value is converted to the shape of its target. `drop` is v1model's
//! `mark_to_drop`.

use super::actions::arguments_text;
use super::build::{self, Shape};
use super::exprs::{Element, Operand, Place, Scope};
use super::{Done, Translator};
use crate::ast::{BinaryOperator, Call, Expr, ExprKind, Ident, Name, UnaryOperator};
use crate::{codes, forms};
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use syntax::ast as p4;
use syntax::diag::Diagnostic;

/// The clones to ingress, which v1model does not have; named like those that it has.
pub(super) const I2I: &str = "I2I";
pub(super) const E2I: &str = "E2I";

/// A hash of the data and the payload, which v1model only has for checksums.
pub(super) const HASH_WITH_PAYLOAD: &str = "hash_with_payload";

/// The names of all primitives, with the minimum and maximum number of arguments.
const PRIMITIVES: [(&str, usize, usize); 57] = [
    ("add", 3, 3),
    ("add_header", 1, 1),
    ("add_to_field", 2, 2),
    ("bit_and", 3, 3),
    ("bit_andca", 3, 3),
    ("bit_andcb", 3, 3),
    ("bit_nand", 3, 3),
    ("bit_nor", 3, 3),
    ("bit_not", 2, 2),
    ("bit_or", 3, 3),
    ("bit_orca", 3, 3),
    ("bit_orcb", 3, 3),
    ("bit_xnor", 3, 3),
    ("bit_xor", 3, 3),
    ("clone_e2e", 1, 2),
    ("clone_e2i", 1, 2),
    ("clone_egress_pkt_to_egress", 1, 2),
    ("clone_egress_pkt_to_ingress", 1, 2),
    ("clone_i2e", 1, 2),
    ("clone_i2i", 1, 2),
    ("clone_ingress_pkt_to_egress", 1, 2),
    ("clone_ingress_pkt_to_ingress", 1, 2),
    ("copy_header", 2, 2),
    ("count", 1, 2),
    ("count_from_hash", 2, 2),
    ("drop", 0, 0),
    ("execute_meter", 2, 4),
    ("exit", 0, 0),
    ("funnel_shift_right", 4, 4),
    ("generate_digest", 2, 2),
    ("invalidate", 1, 1),
    ("mark_for_drop", 0, 0),
    ("max", 3, 3),
    ("meter", 3, 3),
    ("min", 3, 3),
    ("modify_field", 2, 3),
    ("modify_field_conditionally", 3, 3),
    ("modify_field_from_rng", 2, 3),
    ("modify_field_rng_uniform", 3, 3),
    ("modify_field_with_hash_based_offset", 4, 4),
    ("modify_field_with_shift", 4, 4),
    ("no_op", 0, 0),
    ("pop", 1, 2),
    ("push", 1, 2),
    ("recirculate", 0, 1),
    ("register_read", 3, 3),
    ("register_write", 3, 3),
    ("remove_header", 1, 1),
    ("resubmit", 0, 1),
    ("sample_e2e", 2, 3),
    ("set_metadata", 2, 2),
    ("shift_left", 3, 3),
    ("shift_right", 3, 3),
    ("subtract", 3, 3),
    ("subtract_from_field", 2, 2),
    ("swap", 2, 2),
    ("truncate", 1, 1),
];

/// Whether there is a primitive of this name.
pub(crate) fn is_primitive(name: &str) -> bool {
    PRIMITIVES.iter().any(|(known, ..)| *known == name)
}

/// Whether the last argument of this primitive may be a field list that the new packet preserves.
pub(super) fn keeps_list(name: &str) -> bool {
    matches!(name, "resubmit" | "recirculate") || name.starts_with("clone_")
}

/// The context of a primitive's translation.
pub(super) struct Context<'c> {
    pub call: &'c Call,
    pub scope: Scope<'c>,
    span: Span,
}

impl<'c> Context<'c> {
    pub(super) fn new(call: &'c Call, scope: Scope<'c>) -> Self {
        Context { call, scope, span: call.span }
    }

    fn argument(&self, position: usize) -> &Expr {
        &self.call.arguments[position]
    }

    fn count(&self) -> usize {
        self.call.arguments.len()
    }
}

impl Translator<'_, '_> {
    /// Appends the translation of a call of a primitive or method.
    pub(super) fn primitive(
        &mut self,
        call: &Call,
        shapes: &OrderedMap<Name, Shape>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<()> {
        let scope = Scope { parameters: Some(shapes), latest: None };
        let context = Context::new(call, scope);
        if let Some(object) = &call.object {
            return self.method_call(object, &context, out);
        }
        let name = &call.name;
        let Some(&(_, least, most)) = PRIMITIVES.iter().find(|(known, ..)| *known == name.as_str()) else {
            let message = format!("there is no primitive and no action `{}`", name.name);
            let diagnostic = Diagnostic::error(codes::UNKNOWN_ACTION, name.span, message);
            let primitives = PRIMITIVES.iter().map(|(known, ..)| Name::from(*known));
            let known: Vec<Name> = primitives.chain(self.symbols.actions.keys().cloned()).collect();
            self.diagnostics.push(match (forms::of_function(name.as_str()), super::nearest(name.as_str(), &known)) {
                (Some(form), _) => diagnostic.help(format!("P4_14 writes `{form}`")),
                (None, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")),
                (None, None) => diagnostic,
            });
            return None;
        };
        if !(least..=most).contains(&call.arguments.len()) {
            let wanted = match least == most {
                true => arguments_text(least),
                false => format!("{least} to {most} arguments"),
            };
            let message = format!("`{}` takes {wanted}, and is given {}", name.name, call.arguments.len());
            return self.error(codes::ARGUMENT_COUNT, call.span, message);
        }
        if let Some(stack) = call.arguments.iter().find_map(|argument| self.last_in(argument)) {
            return self
                .primitive_on_last(call, stack, out, |translator, call, out| translator.primitive(call, shapes, out));
        }
        let statement = self.primitive_statement(name.as_str(), &context, out)?;
        out.extend(statement);
        Some(())
    }

    /// The last statement of a primitive; the statements before it are appended.
    fn primitive_statement(
        &mut self,
        name: &str,
        c: &Context<'_>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<Option<p4::Statement>> {
        let span = c.span;
        let statement = match name {
            "no_op" => return Some(None),
            "exit" => build::statement(p4::StatementKind::Exit, span),
            "drop" | "mark_for_drop" => {
                let standard = build::name(&self.own.standard, span);
                build::do_call(build::name("mark_to_drop", span), vec![standard], span)
            }
            "modify_field" | "set_metadata" => self.modify_field(c)?,
            "modify_field_conditionally" => self.modify_conditionally(c)?,
            "add_to_field" => self.accumulate(c, BinaryOperator::Add)?,
            "subtract_from_field" => self.accumulate(c, BinaryOperator::Subtract)?,
            "add" => self.combine(c, |_| BinaryOperator::Add)?,
            "subtract" => self.combine(c, |_| BinaryOperator::Subtract)?,
            "shift_left" | "shift_right" => self.shift_field(c, name == "shift_left")?,
            "min" | "max" => self.minimum_or_maximum(c, name == "min")?,
            "funnel_shift_right" => self.funnel_shift(c)?,
            "modify_field_with_shift" => self.deposit(c)?,
            _ if name.starts_with("bit_") => self.bitwise(name, c)?,
            "add_header" | "remove_header" | "invalidate" => return self.change_validity(name, c),
            "copy_header" => self.copy_header(c)?,
            "swap" => return self.swap(c, out).map(|()| None),
            "push" | "pop" => return self.shift_stack(c, name == "push", out).map(|()| None),
            "count" => return self.count_packet(c),
            "count_from_hash" => self.count_from_hash(c, out)?,
            "execute_meter" | "meter" => return self.execute_meter(c, out),
            "register_read" => return self.register_read(c, out),
            "register_write" => self.register_write(c)?,
            "truncate" => {
                let length = self.value(c.argument(0), Shape::bits(32), c.scope)?;
                build::do_call(build::name("truncate", span), vec![length], span)
            }
            "modify_field_with_hash_based_offset" => return self.hash_field(c, out),
            "modify_field_rng_uniform" | "modify_field_from_rng" => return self.random_field(name, c, out),
            "generate_digest" => self.digest(c.argument(0), c.argument(1), c.scope, span)?,
            "resubmit" | "recirculate" => self.again(name, c, out)?,
            _ => self.clone_packet(name, c, out)?,
        };
        Some(Some(statement))
    }

    // ---------------------------------------------------------------------------------------------- arithmetic

    fn modify_field(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        if c.count() == 2
            && let Some(copied) = self.copy_whole(c)
        {
            return copied;
        }
        let place = self.target(c)?;
        let value = self.value(c.argument(1), place.shape, c.scope)?;
        if c.count() == 2 {
            return Some(self.write(&place, value, c.span));
        }
        let mask = self.value(c.argument(2), place.shape, c.scope)?;
        Some(self.write_masked(&place, value, mask, c.span))
    }

    /// `modify_field(a, b)` of fields of variable length and of the same type.
    fn copy_whole(&mut self, c: &Context<'_>) -> Option<Done<p4::Statement>> {
        let is_field = |expr: &Expr| match &expr.kind {
            ExprKind::Member(base, member) => !self.is_validity(base, member),
            _ => false,
        };
        if !is_field(c.argument(0)) || !is_field(c.argument(1)) {
            return None;
        }
        let (target, source) = (self.field(c.argument(0), c.scope), self.field(c.argument(1), c.scope));
        let (Some(target), Some(source)) = (target, source) else { return Some(None) };
        if !target.is_variable || !source.is_variable {
            return None;
        }
        Some(Some(build::assign(target.expr, source.expr, c.span)))
    }

    fn modify_conditionally(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        let place = self.target(c)?;
        // The condition may be a number, where nonzero means true.
        let condition = match self.operand(c.argument(1), c.scope)? {
            Operand::Truth(condition) => condition,
            Operand::Number(value, _) => build::truth(!value.is_zero(), c.span),
            Operand::Bits(value, shape) => {
                let zero = build::constant(&BigInt::zero(), shape, c.span);
                build::binary(BinaryOperator::NotEqual, value, zero, c.span)
            }
        };
        let value = self.value(c.argument(2), place.shape, c.scope)?;
        let assignment = self.write(&place, value, c.span);
        Some(build::branch(condition, vec![assignment], Vec::new(), c.span))
    }

    /// The field that a primitive writes: its first argument.
    fn target(&mut self, c: &Context<'_>) -> Done<Place> {
        let target = c.argument(0);
        match &target.kind {
            ExprKind::Member(..) => self.fixed_field(target, c.scope),
            kind => {
                let cell = match kind {
                    ExprKind::Index(base, _) => self.cell_of(base),
                    _ => None,
                };
                if let Some(message) = cell {
                    return self.error(codes::WRONG_ARGUMENT, target.span, message);
                }
                // An assignment has no name of a primitive.
                let message = match c.call.name.span == target.span {
                    true => "only a field can be assigned to, and this is not a field".to_owned(),
                    false => format!("`{}` writes to a field, and this is not a field", c.call.name.name),
                };
                let help = "a field is written as `instance.field`";
                self.diagnostics.push(Diagnostic::error(codes::WRONG_ARGUMENT, target.span, message).help(help));
                None
            }
        }
    }

    /// `a = a + b`; a saturating field stops at its minimum or maximum.
    fn accumulate(&mut self, c: &Context<'_>, operator: BinaryOperator) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let left = Operand::Bits(self.read(&place), place.shape);
        let right = self.operand(c.argument(1), c.scope)?;
        let value = self.sum(&place, operator, left, right, c.span)?;
        Some(self.write(&place, value, c.span))
    }

    /// `a = b op c`
    fn combine(&mut self, c: &Context<'_>, operator: impl Fn(&Place) -> BinaryOperator) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let left = self.operand(c.argument(1), c.scope)?;
        let right = self.operand(c.argument(2), c.scope)?;
        let value = self.sum(&place, operator(&place), left, right, c.span)?;
        Some(self.write(&place, value, c.span))
    }

    /// A sum or difference of the place's shape. Adding a negative number to a saturating field is a subtraction.
    fn sum(
        &mut self,
        place: &Place,
        operator: BinaryOperator,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Done<p4::Expr> {
        let shape = place.shape;
        let (mut operator, mut right) = (operator, right);
        if place.is_saturating {
            if let Operand::Number(value, _) = &right {
                let most = (BigInt::one() << (shape.width - u32::from(shape.is_signed))) - 1;
                let size = value.abs().min(most);
                if value.is_negative() {
                    operator = match operator {
                        BinaryOperator::Add => BinaryOperator::Subtract,
                        _ => BinaryOperator::Add,
                    };
                }
                right = Operand::Number(size, None);
            }
            operator = match operator {
                BinaryOperator::Add => BinaryOperator::SaturatingAdd,
                _ => BinaryOperator::SaturatingSubtract,
            };
        }
        let (left, right) = (self.shaped(left, shape, span)?, self.shaped(right, shape, span)?);
        Some(build::binary(operator, left, right, span))
    }

    fn shift_field(&mut self, c: &Context<'_>, is_left: bool) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let operator = if is_left { BinaryOperator::ShiftLeft } else { BinaryOperator::ShiftRight };
        let value = self.operand(c.argument(1), c.scope)?;
        let amount = self.operand(c.argument(2), c.scope)?;
        let shifted = self.shift(operator, value, amount, Some(place.shape), c.span)?;
        let value = self.shaped(shifted, place.shape, c.span)?;
        Some(self.write(&place, value, c.span))
    }

    fn minimum_or_maximum(&mut self, c: &Context<'_>, is_minimum: bool) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let (left, right) = (self.operand(c.argument(1), c.scope)?, self.operand(c.argument(2), c.scope)?);
        let width = |operand: &Operand| match operand {
            Operand::Bits(_, shape) => shape.width,
            _ => 1,
        };
        let shape = Shape { width: place.shape.width.max(width(&left)).max(width(&right)), ..place.shape };
        let (left, right) = (self.shaped(left, shape, c.span)?, self.shaped(right, shape, c.span)?);
        let operator = if is_minimum { BinaryOperator::Less } else { BinaryOperator::Greater };
        let is_first = build::binary(operator, left.clone(), right.clone(), c.span);
        let value = build::conditional(is_first, left, right, c.span);
        Some(self.write(&place, build::convert(value, shape, place.shape), c.span))
    }

    /// `a = (high ++ low) >> amount`
    fn funnel_shift(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let bits = Shape::bits(place.shape.width);
        let high = self.value(c.argument(1), bits, c.scope)?;
        let low = self.value(c.argument(2), bits, c.scope)?;
        let both = build::binary(BinaryOperator::Concatenate, high, low, c.span);
        let amount = self.operand(c.argument(3), c.scope)?;
        let both = Operand::Bits(both, Shape::bits(2 * bits.width));
        let shifted = self.shift(BinaryOperator::ShiftRight, both, amount, None, c.span)?;
        let value = self.shaped(shifted, place.shape, c.span)?;
        Some(self.write(&place, value, c.span))
    }

    /// `modify_field_with_shift(a, b, amount, mask)`: writes the bits of `b >> amount` where the mask has ones.
    fn deposit(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        let place = self.target(c)?;
        let (value, amount) = (self.operand(c.argument(1), c.scope)?, self.operand(c.argument(2), c.scope)?);
        let shifted = self.shift(BinaryOperator::ShiftRight, value, amount, None, c.span)?;
        let value = self.shaped(shifted, place.shape, c.span)?;
        let mask = self.value(c.argument(3), place.shape, c.scope)?;
        Some(self.write_masked(&place, value, mask, c.span))
    }

    /// `place = place & ~mask | value & mask`
    fn write_masked(&self, place: &Place, value: p4::Expr, mask: p4::Expr, span: Span) -> p4::Statement {
        let kept = build::unary(UnaryOperator::Complement, mask.clone(), span);
        let kept = build::binary(BinaryOperator::BitAnd, self.read(place), kept, span);
        let new = build::binary(BinaryOperator::BitAnd, value, mask, span);
        self.write(place, build::binary(BinaryOperator::BitOr, kept, new, span), span)
    }

    fn bitwise(&mut self, name: &str, c: &Context<'_>) -> Done<p4::Statement> {
        let span = c.span;
        let place = self.target(c)?;
        let complement = |value: p4::Expr| build::unary(UnaryOperator::Complement, value, span);
        let left = self.value(c.argument(1), place.shape, c.scope)?;
        if name == "bit_not" {
            return Some(self.write(&place, complement(left), span));
        }
        let right = self.value(c.argument(2), place.shape, c.scope)?;
        let and = |left, right| build::binary(BinaryOperator::BitAnd, left, right, span);
        let or = |left, right| build::binary(BinaryOperator::BitOr, left, right, span);
        let xor = |left, right| build::binary(BinaryOperator::BitXor, left, right, span);
        let value = match name {
            "bit_and" => and(left, right),
            "bit_andca" => and(complement(left), right),
            "bit_andcb" => and(left, complement(right)),
            "bit_nand" => complement(and(left, right)),
            "bit_or" => or(left, right),
            "bit_orca" => or(complement(left), right),
            "bit_orcb" => or(left, complement(right)),
            "bit_nor" => complement(or(left, right)),
            "bit_xor" => xor(left, right),
            _ => complement(xor(left, right)),
        };
        Some(self.write(&place, value, span))
    }

    /// `swap(a, b)`
    fn swap(&mut self, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<()> {
        let first = self.target(c)?;
        let second = self.fixed_field(c.argument(1), c.scope)?;
        let name = self.fresh("old");
        let old = build::variable(build::bit_type(first.shape, c.span), &name, Some(self.read(&first)), c.span);
        let new = build::convert(self.read(&second), second.shape, first.shape);
        out.push(old);
        out.push(self.write(&first, new, c.span));
        let old = build::convert(build::name(&name, c.span), first.shape, second.shape);
        out.push(self.write(&second, old, c.span));
        Some(())
    }

    // ------------------------------------------------------------------------------------------------- headers

    fn change_validity(&mut self, name: &str, c: &Context<'_>) -> Done<Option<p4::Statement>> {
        // `invalidate` leaves a field unchanged: an undefined value may be any value.
        if name == "invalidate" && matches!(c.argument(0).kind, ExprKind::Member(..)) {
            self.field(c.argument(0), c.scope)?;
            return Some(None);
        }
        let header = self.packet_header(c, 0)?;
        let method = if name == "add_header" { "setValid" } else { "setInvalid" };
        let callee = build::member(header, method, c.span);
        Some(Some(build::do_call(callee, Vec::new(), c.span)))
    }

    /// An argument that is a packet header.
    fn packet_header(&mut self, c: &Context<'_>, position: usize) -> Done<p4::Expr> {
        let argument = c.argument(position);
        let header = self.header(argument, c.scope)?;
        if self.symbols.all_instances[header.instance].is_metadata {
            let message = format!("`{}` takes a packet header, and this is metadata", c.call.name.name);
            return self.error(codes::HEADER_OR_METADATA, argument.span, message);
        }
        Some(self.header_expr(header, argument.span))
    }

    fn copy_header(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        let target = self.header(c.argument(0), c.scope)?;
        let source = self.header(c.argument(1), c.scope)?;
        let instances = &self.symbols.all_instances;
        let (a, b) = (&instances[target.instance], &instances[source.instance]);
        if a.header_type != b.header_type {
            let message = format!("`{}` and `{}` are not of the same header type", a.name.name, b.name.name);
            return self.error(codes::WRONG_ARGUMENT, c.span, message);
        }
        if !a.is_metadata && !b.is_metadata {
            let source = self.header_expr(source, c.span);
            return Some(build::assign(self.header_expr(target, c.span), source, c.span));
        }
        // Metadata has a struct for each instance: its fields are copied one by one.
        let count = self.symbols.types[a.header_type].fields.len();
        let mut statements = Vec::new();
        for field in 0..count {
            let (to, from) = (self.place(target, field, c.span), self.place(source, field, c.span));
            if !to.is_variable {
                statements.push(self.write(&to, self.read(&from), c.span));
            }
        }
        Some(build::block_statement(statements, c.span))
    }

    /// `push` makes the new elements valid, `pop` removes elements from the front.
    fn shift_stack(&mut self, c: &Context<'_>, is_push: bool, out: &mut Vec<p4::Statement>) -> Done<()> {
        let argument = c.argument(0);
        let found = match self.try_header(argument, c.scope) {
            Some(found) => found?,
            None => self.header(argument, c.scope)?,
        };
        let instance = &self.symbols.all_instances[found.instance];
        let Some(size) = instance.size.filter(|_| found.element == Element::Only) else {
            let message = format!("`{}` takes a whole stack of headers", c.call.name.name);
            return self.error(codes::WRONG_ARGUMENT, argument.span, message);
        };
        let count = if c.count() == 2 { self.count(c.argument(1), 0, u64::from(u32::MAX))? } else { 1 };
        let stack = self.header_expr(found, argument.span);
        let method = if is_push { "push_front" } else { "pop_front" };
        let amount = build::number(&BigInt::from(count), c.span);
        out.push(build::do_call(build::member(stack.clone(), method, c.span), vec![amount], c.span));
        if is_push {
            for position in 0..size.min(u32::try_from(count).unwrap_or(u32::MAX)) {
                let element = build::index(stack.clone(), position, c.span);
                out.push(build::do_call(build::member(element, "setValid", c.span), Vec::new(), c.span));
            }
        }
        Some(())
    }

    // ---------------------------------------------------------------------------------------- stateful memories

    /// The name that an argument consists of.
    fn name_argument(&mut self, c: &Context<'_>, position: usize, kind: &str) -> Done<Ident> {
        let argument = c.argument(position);
        match &argument.kind {
            ExprKind::Name(name) => Some(Ident { name: name.clone(), span: argument.span }),
            _ => self.error(codes::WRONG_ARGUMENT, argument.span, format!("this must be the name of a {kind}")),
        }
    }

    fn count_packet(&mut self, c: &Context<'_>) -> Done<Option<p4::Statement>> {
        let name = self.name_argument(c, 0, "counter")?;
        let counter = self.lookup(|symbols| &symbols.counters, &name, "counter")?;
        if self.program.arrays[counter].direct.is_some() {
            // A direct counter counts with its table, regardless of the action.
            return Some(None);
        }
        if c.count() == 1 {
            let message = format!("counter `{}` has many cells: the index is missing", name.name);
            return self.error(codes::ARGUMENT_COUNT, c.span, message);
        }
        let index = self.value(c.argument(1), Shape::bits(32), c.scope)?;
        let object = self.array(counter, name.span)?;
        Some(Some(build::do_call(build::member(object, "count", c.span), vec![index], c.span)))
    }

    /// `count_from_hash(counter, calculation)`: the result of the calculation is the index.
    fn count_from_hash(&mut self, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<p4::Statement> {
        let counter = self.name_argument(c, 0, "counter")?;
        let index = self.lookup(|symbols| &symbols.counters, &counter, "counter")?;
        if self.program.arrays[index].direct.is_some() {
            let message = format!("counter `{}` belongs to a table: it has no index", counter.name);
            return self.error(codes::WRONG_ARGUMENT, c.argument(0).span, message);
        }
        let calculation = self.name_argument(c, 1, "calculation")?;
        let program = self.program;
        let declared = self.lookup(|symbols| &symbols.calculations, &calculation, "calculation")?;
        let width = match &program.calculations[declared].output_width {
            Some(width) => self.count(width, 1, 64)? as u32,
            None => 32,
        };
        let object = self.array(index, counter.span)?;
        let word = Shape::bits(32);
        let name = self.fresh("index");
        let zero = build::constant(&BigInt::zero(), word, c.span);
        out.push(build::variable(build::bit_type(word, c.span), &name, Some(zero), c.span));
        let place = build::name(&name, c.span);
        let low = build::constant(&BigInt::zero(), Shape::bits(65), c.span);
        let size = build::constant(&(BigInt::one() << width), Shape::bits(65), c.span);
        let (function, algorithm, data) = self.hash_function(&calculation)?;
        let arguments = vec![place.clone(), algorithm, low, data, size];
        out.push(build::do_call(build::name(function, c.span), arguments, c.span));
        Some(build::do_call(build::member(object, "count", c.span), vec![place], c.span))
    }

    /// The function that computes a calculation, its algorithm and its data.
    fn hash_function(&mut self, calculation: &Ident) -> Done<(&'static str, p4::Expr, p4::Expr)> {
        let index = self.lookup(|symbols| &symbols.calculations, calculation, "calculation")?;
        let (data, has_payload) = self.calculation_data(index, calculation.span)?;
        let algorithm = self.algorithm(index, calculation.span)?;
        Some((if has_payload { HASH_WITH_PAYLOAD } else { "hash" }, algorithm, data))
    }

    /// `execute_meter(meter, index, field)`; a direct meter has no index. The previous colour is ignored.
    fn execute_meter(&mut self, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<Option<p4::Statement>> {
        let name = self.name_argument(c, 0, "meter")?;
        let meter = self.lookup(|symbols| &symbols.meters, &name, "meter")?;
        let is_direct = self.program.arrays[meter].direct.is_some();
        if c.count() == 4 {
            self.warn(codes::NO_EFFECT, c.argument(3).span, "meters are colour-blind: the colour of before is ignored");
        }
        if c.count() == 2 && !is_direct {
            let message = format!("meter `{}` has many cells: the index is missing", name.name);
            return self.error(codes::ARGUMENT_COUNT, c.span, message);
        }
        let target = c.argument(if c.count() == 2 { 1 } else { 2 });
        let place = self.fixed_field(target, c.scope)?;
        let object = self.array(meter, name.span)?;
        if is_direct {
            let shape = self.meter_shape(meter);
            return self.through(&place, shape, c.span, out, |place| {
                build::do_call(build::member(object, "read", c.span), vec![place], c.span)
            });
        }
        let index = self.value(c.argument(1), Shape::bits(32), c.scope)?;
        let shape = Shape::bits(place.shape.width);
        self.through(&place, shape, c.span, out, |place| {
            build::do_call(build::member(object, "execute_meter", c.span), vec![index, place], c.span)
        })
    }

    /// A call that writes a value of `shape` to a place, through a variable if the place has another shape.
    pub(super) fn through(
        &mut self,
        place: &Place,
        shape: Shape,
        span: Span,
        out: &mut Vec<p4::Statement>,
        call: impl FnOnce(p4::Expr) -> p4::Statement,
    ) -> Done<Option<p4::Statement>> {
        if place.actual == shape && place.shape == shape {
            return Some(Some(call(place.expr.clone())));
        }
        let name = self.fresh("result");
        let old = build::convert(self.read(place), place.shape, shape);
        out.push(build::variable(build::bit_type(shape, span), &name, Some(old), span));
        out.push(call(build::name(&name, span)));
        let value = build::convert(build::name(&name, span), shape, place.shape);
        Some(Some(self.write(place, value, span)))
    }

    /// The register that an argument refers to, and the shape of its cells.
    fn register(&mut self, c: &Context<'_>, position: usize) -> Done<(p4::Expr, Shape)> {
        let name = self.name_argument(c, position, "register")?;
        let register = self.lookup(|symbols| &symbols.registers, &name, "register")?;
        let shape = self.cell_shape(register)?;
        Some((self.array(register, name.span)?, shape))
    }

    fn register_read(&mut self, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<Option<p4::Statement>> {
        let place = self.target(c)?;
        let (object, shape) = self.register(c, 1)?;
        let index = self.value(c.argument(2), Shape::bits(32), c.scope)?;
        self.through(&place, shape, c.span, out, |place| {
            build::do_call(build::member(object, "read", c.span), vec![place, index], c.span)
        })
    }

    fn register_write(&mut self, c: &Context<'_>) -> Done<p4::Statement> {
        let (object, shape) = self.register(c, 0)?;
        let index = self.value(c.argument(1), Shape::bits(32), c.scope)?;
        let value = self.value(c.argument(2), shape, c.scope)?;
        Some(build::do_call(build::member(object, "write", c.span), vec![index, value], c.span))
    }

    // ------------------------------------------------------------------------------------------ hashes, numbers

    fn hash_field(&mut self, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<Option<p4::Statement>> {
        let place = self.target(c)?;
        let wide = Shape::bits(64);
        let base = self.value(c.argument(1), wide, c.scope)?;
        let name = self.name_argument(c, 2, "calculation")?;
        let (function, algorithm, data) = self.hash_function(&name)?;
        let size = self.value(c.argument(3), wide, c.scope)?;
        let shape = Shape::bits(place.shape.width);
        self.through(&place, shape, c.span, out, |place| {
            let arguments = vec![place, algorithm, base, data, size];
            build::do_call(build::name(function, c.span), arguments, c.span)
        })
    }

    fn random_field(
        &mut self,
        name: &str,
        c: &Context<'_>,
        out: &mut Vec<p4::Statement>,
    ) -> Done<Option<p4::Statement>> {
        let place = self.target(c)?;
        let shape = Shape::bits(place.shape.width);
        let (low, high) = if name == "modify_field_from_rng" {
            let width = self.count(c.argument(1), 1, u64::from(shape.width))? as u32;
            let most = (BigInt::one() << width) - 1;
            (build::constant(&BigInt::from(0), shape, c.span), build::constant(&most, shape, c.span))
        } else {
            (self.value(c.argument(1), shape, c.scope)?, self.value(c.argument(2), shape, c.scope)?)
        };
        self.through(&place, shape, c.span, out, |place| {
            build::do_call(build::name("random", c.span), vec![place, low, high], c.span)
        })
    }

    // ------------------------------------------------------------------------------------------ requests

    /// `resubmit` and `recirculate`; other switches accept a port number in place of the field list.
    fn again(&mut self, name: &str, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<p4::Statement> {
        let number = match c.call.arguments.first() {
            Some(list) if name != "recirculate" || self.is_field_list(list) || !self.is_value(list, c) => {
                self.preserve_list(list, out)?
            }
            _ => build::constant(&BigInt::zero(), Shape::bits(8), c.span),
        };
        let callee = build::name(&format!("{name}_preserving_field_list"), c.span);
        Some(build::do_call(callee, vec![number], c.span))
    }

    fn is_value(&self, argument: &Expr, c: &Context<'_>) -> bool {
        match &argument.kind {
            ExprKind::Integer(..) => true,
            ExprKind::Name(name) => c.scope.parameters.is_some_and(|parameters| parameters.contains_key(name)),
            _ => false,
        }
    }

    fn clone_packet(&mut self, name: &str, c: &Context<'_>, out: &mut Vec<p4::Statement>) -> Done<p4::Statement> {
        let kind = match name {
            "clone_ingress_pkt_to_egress" | "clone_i2e" => "I2E",
            "clone_egress_pkt_to_egress" | "clone_e2e" | "sample_e2e" => "E2E",
            "clone_ingress_pkt_to_ingress" | "clone_i2i" => I2I,
            "clone_egress_pkt_to_ingress" | "clone_e2i" => E2I,
            _ => {
                let message = format!("v1model has no primitive `{name}`");
                return self.error(codes::UNSUPPORTED, c.call.name.span, message);
            }
        };
        let session = self.value(c.argument(0), Shape::bits(32), c.scope)?;
        let kind = build::enum_member("CloneType", kind, c.span);
        if c.count() == 1 || name == "sample_e2e" {
            return Some(build::do_call(build::name("clone", c.span), vec![kind, session], c.span));
        }
        let number = self.preserve_list(c.argument(1), out)?;
        let callee = build::name("clone_preserving_field_list", c.span);
        Some(build::do_call(callee, vec![kind, session, number], c.span))
    }
}
