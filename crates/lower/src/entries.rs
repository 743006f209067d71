//! Entries that the program defines.

use crate::names::find;
use crate::values::{Value, number};
use crate::{Lowered, Lowerer, codes, fold};
use base::{Bits, FieldMatch, MatchKind, Span};
use num_traits::ToPrimitive;
use sema::hir::{self, Expr, KeyElement};
use syntax::ast;

/// The number from which `@priority(n)`, where the smaller wins, is subtracted.
const ANNOTATED_PRIORITY_BASE: i64 = 1 << 30;

/// The most entries into which an entry with range keys may be split.
const MAX_ENTRIES_OF_ONE: usize = 1 << 10;

impl<'h> Lowerer<'h> {
    /// Lowers the entries of a table.
    pub fn lower_entries(&mut self, table: &'h hir::Table, keys: &[ir::Key]) -> Lowered<Vec<ir::Entry>> {
        let priorities = self.priorities(table)?;
        let mut entries = Vec::new();
        for (entry, priority) in table.entries.iter().zip(priorities) {
            // A range of a signed key becomes up to two entries: it may be two ranges of bits, or none if it is empty.
            let mut combined = vec![Vec::new()];
            for (element, table_key) in entry.keys.iter().zip(keys) {
                let choices = self.entry_keys(element, table_key, entry.span)?;
                let with = |before: &Vec<FieldMatch>, last: &FieldMatch| {
                    [before.as_slice(), std::slice::from_ref(last)].concat()
                };
                combined = combined.iter().flat_map(|before| choices.iter().map(|last| with(before, last))).collect();
                if combined.len() > MAX_ENTRIES_OF_ONE {
                    return self.refuse(codes::ENTRY, entry.span, "the ranges of this entry cross zero too often");
                }
            }
            let call = self.action_call(&entry.action)?;
            let is_const = entry.is_const && !table.const_entries;
            let entry = |key| ir::Entry { key, priority, is_const, call: call.clone(), span: entry.span };
            entries.extend(combined.into_iter().map(entry));
        }
        Ok(entries)
    }

    /// The priorities of the entries: the greater wins.
    fn priorities(&mut self, table: &'h hir::Table) -> Lowered<Vec<i32>> {
        let annotated: Vec<Option<i64>> =
            table.entries.iter().map(|entry| annotated_priority(&entry.annotations)).collect();
        let count = table.entries.len() as i64;
        let raw: Vec<i64> = if annotated.iter().any(Option::is_some) {
            let positions = (1..).zip(&annotated);
            positions.map(|(position, given)| ANNOTATED_PRIORITY_BASE - given.unwrap_or(position)).collect()
        } else if table.const_entries && table.entries.iter().all(|entry| entry.priority.is_none()) {
            (0..count).map(|position| count - position).collect()
        } else {
            self.stated_priorities(table)?
        };
        let mut priorities = Vec::new();
        for (priority, entry) in raw.into_iter().zip(&table.entries) {
            match i32::try_from(priority) {
                Ok(priority) if priority >= 0 => priorities.push(priority),
                _ => return self.refuse(codes::ENTRY, entry.span, format!("priority {priority} is out of range")),
            }
        }
        Ok(priorities)
    }

    /// Entries without a priority continue from the one before them by `priority_delta`, downwards if the largest wins.
    fn stated_priorities(&mut self, table: &'h hir::Table) -> Lowered<Vec<i64>> {
        let property = |name: &str| table.properties.iter().find(|property| &*property.name == name);
        let largest_wins = match property("largest_priority_wins") {
            Some(property) => {
                let value = self.eval_scalar(&property.value)?;
                fold::truth(&value).unwrap_or(true)
            }
            None => true,
        };
        let delta = match property("priority_delta") {
            Some(property) => self.small_number(&property.value)?,
            None => 1,
        };
        let mut priorities: Vec<i64> = Vec::new();
        for entry in &table.entries {
            let priority = match (&entry.priority, priorities.last()) {
                (Some(priority), _) => self.small_number(priority)?,
                (None, Some(last)) if largest_wins => last - delta,
                (None, Some(last)) => last + delta,
                (None, None) if largest_wins => (table.entries.len() as i64 - 1) * delta + 1,
                (None, None) => 1,
            };
            priorities.push(priority);
        }
        if !largest_wins {
            let largest = priorities.iter().copied().max().unwrap_or(0);
            priorities.iter_mut().for_each(|priority| *priority = largest + 1 - *priority);
        }
        Ok(priorities)
    }

    fn small_number(&mut self, expr: &'h Expr) -> Lowered<i64> {
        let value = self.eval(expr)?;
        Ok(self.constant_count(&value, i32::MAX as u64, expr.span)? as i64)
    }

    fn key_bits(&mut self, expr: &'h Expr, ty: ir::Type) -> Lowered<Bits> {
        let value = match self.eval(expr)? {
            Value::Integer(value) => number(ty, &value),
            value => fold::cast(ty, self.scalar_value(value, expr.span)?),
        };
        match value.as_const() {
            Some(bits) => Ok(bits.clone()),
            None => self.refuse(codes::NOT_CONSTANT, expr.span, "an entry's keys must be known at compile time"),
        }
    }

    /// The values of an entry for a key, any of which may match.
    fn entry_keys(&mut self, element: &'h KeyElement, key: &ir::Key, span: Span) -> Lowered<Vec<FieldMatch>> {
        let KeyElement::Range(low, high) = element else {
            return Ok(vec![self.entry_key(element, key, span)?]);
        };
        let (low, high) = (self.key_bits(low, key.expr.ty)?, self.key_bits(high, key.expr.ty)?);
        if key.kind != MatchKind::Range {
            return self.refuse(codes::ENTRY, span, format!("key `{}` cannot match a range", key.name));
        }
        let range = |low: Bits, high: Bits| FieldMatch::Range { low, high };
        let is_negative = |value: &Bits| key.expr.ty.is_signed() && value.bit(value.width() - 1);
        // Keys are compared as unsigned numbers, in which negative numbers come after the others.
        let ranges = match (is_negative(&low), is_negative(&high)) {
            (true, false) => vec![range(Bits::zero(high.width()), high), range(low.clone(), Bits::ones(low.width()))],
            (a, b) if a == b && low.cmp_unsigned(&high).is_le() => vec![range(low, high)],
            _ => Vec::new(),
        };
        Ok(ranges)
    }

    fn entry_key(&mut self, element: &'h KeyElement, key: &ir::Key, span: Span) -> Lowered<FieldMatch> {
        let ty = key.expr.ty;
        let width = ty.width();
        let ones = || Bits::ones(width);
        let (value, mask) = match element {
            KeyElement::Any => (None, Bits::zero(width)),
            KeyElement::Value(value) => (Some(self.key_bits(value, ty)?), ones()),
            KeyElement::Mask(value, mask) => {
                let mask = self.key_bits(mask, ty)?;
                (Some(self.key_bits(value, ty)?.and(&mask)), mask)
            }
            KeyElement::Range(..) | KeyElement::ValueSet(_) => {
                return self.unsupported(span, "a value set in an entry");
            }
        };
        let value = value.unwrap_or_else(|| Bits::zero(width));
        let is_any = mask.is_zero();
        let is_all = mask == ones();
        match key.kind {
            MatchKind::Exact if is_all => Ok(FieldMatch::Exact(value)),
            MatchKind::Lpm => match prefix_len(&mask) {
                Some(prefix_len) => Ok(FieldMatch::Lpm { value, prefix_len }),
                None => {
                    let message = format!("the mask of key `{}` is not a prefix, as `lpm` needs", key.name);
                    self.refuse(codes::ENTRY, span, message)
                }
            },
            MatchKind::Ternary => Ok(FieldMatch::Ternary { value, mask }),
            MatchKind::Range if is_any => Ok(FieldMatch::Range { low: value, high: ones() }),
            MatchKind::Range if is_all => Ok(FieldMatch::Range { low: value.clone(), high: value }),
            MatchKind::Optional if is_any => Ok(FieldMatch::Optional(None)),
            MatchKind::Optional if is_all => Ok(FieldMatch::Optional(Some(value))),
            _ => {
                let message = format!("key `{}` is matched exactly: it needs one value here", key.name);
                self.refuse(codes::ENTRY, span, message)
            }
        }
    }
}

/// The length of the prefix that a mask selects, if it selects one.
fn prefix_len(mask: &Bits) -> Option<u32> {
    let width = mask.width();
    let len = (0..width).take_while(|index| mask.bit(width - 1 - index)).count() as u32;
    (Bits::ones(width).shl(u64::from(width - len)) == *mask).then_some(len)
}

/// `@priority(n)`
fn annotated_priority(annotations: &[ast::Annotation]) -> Option<i64> {
    match find(annotations, "priority")?.expressions()? {
        [ast::Expr { kind: ast::ExprKind::Integer(literal), .. }] => {
            literal.value.to_i64().filter(|value| (0..ANNOTATED_PRIORITY_BASE).contains(value))
        }
        _ => None,
    }
}
