//! Cases of a `select` and table entries that an earlier one hides, and entries that exceed the table's size.

use crate::coverage::{self, KeyBits};
use crate::diagnostics as d;
use crate::linter::Linter;
use crate::sink::{MISMATCH, UNMATCHED, UNREACHABLE};
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use num_traits::Signed as _;
use sema::hir::*;

/// The number of earlier cases with masks or ranges that each later case is compared with. Further ones are ignored, so
/// that the time for a long list is linear.
const WIDE_CASES_MAX: usize = 64;

/// The most bits of all keys of a `select` for which it is determined whether the cases cover all values.
const COVERED_BITS_MAX: u32 = 512;

/// The values of one key that a case matches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Values {
    Any,
    One(BigInt),
    /// Value and mask; the value is zero outside the mask.
    Mask(BigInt, BigInt),
    Range(BigInt, BigInt),
}

impl Values {
    /// Whether these values include all of `other`. Returns false where that is not easy to determine.
    pub(crate) fn cover(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Any, _) => true,
            (Values::One(a), Values::One(b)) => a == b,
            (Values::Mask(value, mask), Values::One(number)) => number & mask == *value,
            (Values::Mask(value, mask), Values::Mask(other, other_mask)) => {
                mask & other_mask == *mask && other & mask == *value
            }
            (Values::Range(low, high), Values::One(number)) => low <= number && number <= high,
            (Values::Range(low, high), Values::Range(other_low, other_high)) => low <= other_low && other_high <= high,
            _ => false,
        }
    }
}

/// The earlier cases.
#[derive(Default)]
struct Earlier {
    /// Those with a single value for each key.
    single: OrderedMap<Vec<Values>, Span>,
    wide: Vec<(Vec<Values>, Span)>,
}

impl Earlier {
    /// The earlier case that covers this one.
    fn find(&self, case: &[Values]) -> Option<Span> {
        if let Some(span) = self.single.get(case) {
            return Some(*span);
        }
        let covers = |wide: &[Values]| wide.iter().zip(case).all(|(wide, values)| wide.cover(values));
        self.wide.iter().find(|(wide, _)| covers(wide)).map(|(_, span)| *span)
    }

    fn add(&mut self, case: Vec<Values>, span: Span) {
        if case.iter().all(|values| matches!(values, Values::One(_))) {
            self.single.entry(case).or_insert(span);
        } else if self.wide.len() < WIDE_CASES_MAX {
            self.wide.push((case, span));
        }
    }
}

impl Linter<'_, '_> {
    /// The cases of a `select`.
    pub(crate) fn select(&mut self, keys: &[Expr], cases: &[SelectCase], span: Span) {
        let mut earlier = Earlier::default();
        let mut all = Vec::new();
        for case in cases {
            let values = match &case.keyset {
                Keyset::Default => Some(vec![Values::Any; keys.len()]),
                Keyset::Keys(elements) => self.values_of(elements),
                Keyset::ValueSet(_) => None,
            };
            let Some(values) = values else { continue };
            all.push(values.clone());
            if let Some(first) = earlier.find(&values) {
                self.sink.warn(UNREACHABLE, d::hidden_case(case.span, first, "case"));
            } else {
                earlier.add(values, case.span);
            }
        }
        if !all.iter().any(|case| case.iter().all(|values| *values == Values::Any)) && !self.cover_all(keys, &all) {
            self.sink.warn(UNMATCHED, d::unmatched_select(span));
        }
    }

    /// Whether the cases cover all values of the keys. Those of keys that are not numbers do not; where it would take
    /// too long to find out, they do.
    fn cover_all(&self, keys: &[Expr], cases: &[Vec<Values>]) -> bool {
        let bits = |key: &Expr| match key.ty {
            Type::Bool => Some(KeyBits { width: 1, is_signed: false }),
            _ => self.values.number_type(&key.ty).map(|(width, is_signed)| KeyBits { width, is_signed }),
        };
        let Some(bits) = keys.iter().map(bits).collect::<Option<Vec<KeyBits>>>() else { return false };
        let total = bits.iter().fold(0u32, |sum, key| sum.saturating_add(key.width));
        total > COVERED_BITS_MAX || coverage::cover_all(&bits, cases)
    }

    /// Reports the entries beyond the table's size. A size of 0 means that there is no limit.
    pub(crate) fn check_size(&mut self, table: &Table) {
        let Some(size) = &table.size else { return };
        let Some(number) = self.values.number(size).filter(BigInt::is_positive) else { return };
        let room = usize::try_from(&number).unwrap_or(usize::MAX);
        if let Some(first) = table.entries.get(room) {
            self.sink.warn(MISMATCH, d::beyond_size(size.span, &number, table.entries.len(), first.span));
        }
    }

    /// Checks the entries of a table in which the first matching entry wins.
    pub(crate) fn check_entries(&mut self, table: &Table) {
        let kind = |key: &TableKey| &*self.program.match_kinds[key.match_kind];
        let is_in_order = table.const_entries
            && table.entries.iter().all(|entry| entry.priority.is_none())
            && table.keys.iter().all(|key| matches!(kind(key), "exact" | "ternary" | "range" | "optional"));
        let mut earlier = Earlier::default();
        for entry in &table.entries {
            let silenced = self.sink.enter(&entry.annotations);
            if let Some(values) = self.values_of(&entry.keys)
                && is_in_order
            {
                // The type checker already reports two entries with the same single values.
                match earlier.find(&values).filter(|_| !earlier.single.contains_key(&values)) {
                    Some(first) => self.sink.warn(UNREACHABLE, d::hidden_case(entry.span, first, "entry")),
                    None => earlier.add(values, entry.span),
                }
            }
            self.sink.leave(silenced);
        }
    }

    fn values_of(&mut self, elements: &[KeyElement]) -> Option<Vec<Values>> {
        for element in elements {
            if let KeyElement::Mask(value, mask) = element {
                self.check_mask(value, mask);
            }
        }
        elements.iter().map(|element| self.element_values(element)).collect()
    }

    fn element_values(&self, element: &KeyElement) -> Option<Values> {
        match element {
            KeyElement::Any => Some(Values::Any),
            KeyElement::Value(value) => self.values.number(value).map(Values::One),
            KeyElement::Mask(value, mask) => {
                let (value, mask) = (self.values.number(value)?, self.values.number(mask)?);
                (!value.is_negative() && !mask.is_negative()).then(|| Values::Mask(&value & &mask, mask))
            }
            KeyElement::Range(low, high) => Some(Values::Range(self.values.number(low)?, self.values.number(high)?)),
            KeyElement::ValueSet(_) => None,
        }
    }
}
