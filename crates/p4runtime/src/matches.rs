//! Keys of entries and members of value sets, in both directions.
//!
//! A wildcard key must be omitted from a message; bits outside a mask must be zero.

use crate::schema::Schema;
use crate::translator::Unknown;
use crate::value::shown;
use base::{Bits, FieldMatch, MatchKind};
use control::api::Fault;
use core::fmt::{Arguments, Display};
use p4info::MatchField;
use p4runtime_proto::matches;
use p4runtime_proto::p4::v1::{self, field_match as proto, field_match::FieldMatchType};

/// The match for each of the fields, in the order of the fields.
pub(crate) fn read(
    schema: &Schema,
    owner: Arguments<'_>,
    fields: &[MatchField],
    sent: &[v1::FieldMatch],
    unknown: Unknown,
) -> Result<Vec<FieldMatch>, Fault> {
    if let Some(unknown) = sent.iter().find(|it| !fields.iter().any(|field| field.id == it.field_id)) {
        let known: Vec<String> = fields.iter().map(|field| format!("{} ({})", field.id, field.name)).collect();
        let id = unknown.field_id;
        return Err(Fault::invalid(format!("{owner} has no match field {id}: it has {}", known.join(", "))));
    }
    fields.iter().map(|field| read_one(schema, owner, field, sent, unknown)).collect()
}

fn read_one(
    schema: &Schema,
    owner: Arguments<'_>,
    field: &MatchField,
    sent: &[v1::FieldMatch],
    unknown: Unknown,
) -> Result<FieldMatch, Fault> {
    let mut of_field = sent.iter().filter(|it| it.field_id == field.id);
    // A value set of a single scalar has no name here.
    let name: &dyn Display = if field.name.is_empty() { &field.id } else { &field.name };
    let what = format_args!("{owner}, match field {name}");
    let reader = Reader { schema, field, unknown, what };
    let Some(given) = of_field.next() else {
        return FieldMatch::any(field.kind, field.value.width_bits)
            .ok_or_else(|| Fault::invalid(format!("{what}: an exact match cannot be left out")));
    };
    if of_field.next().is_some() {
        return Err(Fault::invalid(format!("{what}: it is given twice")));
    }
    match (&given.field_match_type, field.kind) {
        (Some(FieldMatchType::Exact(it)), MatchKind::Exact) => Ok(FieldMatch::Exact(reader.bits("value", &it.value)?)),
        (Some(FieldMatchType::Optional(it)), MatchKind::Optional) => {
            Ok(FieldMatch::Optional(Some(reader.bits("value", &it.value)?)))
        }
        (Some(FieldMatchType::Lpm(it)), MatchKind::Lpm) => reader.lpm(it),
        (Some(FieldMatchType::Ternary(it)), MatchKind::Ternary) => reader.ternary(it),
        (Some(FieldMatchType::Range(it)), MatchKind::Range) => reader.range(it),
        (None, _) => Err(Fault::invalid(format!("{what}: the match is empty"))),
        (Some(other), _) => {
            let (is, wanted) = (matches::kind_name(other), field.kind.name());
            Err(Fault::invalid(format!("{what}: it is matched as {wanted}, not as {is}")))
        }
    }
}

struct Reader<'a> {
    schema: &'a Schema,
    field: &'a MatchField,
    unknown: Unknown,
    /// The field, for messages.
    what: Arguments<'a>,
}

impl Reader<'_> {
    fn bits(&self, part: &str, sent: &[u8]) -> Result<Bits, Fault> {
        self.schema.translator.read(format_args!("{}, {part}", self.what), &self.field.value, sent, self.unknown)
    }

    fn refuse<T>(&self, message: &str) -> Result<T, Fault> {
        Err(Fault::invalid(format!("{}: {message}", self.what)))
    }

    fn lpm(&self, sent: &proto::Lpm) -> Result<FieldMatch, Fault> {
        let (value, width_bits) = (self.bits("value", &sent.value)?, self.field.value.width_bits);
        let prefix_len = match u32::try_from(sent.prefix_len) {
            Ok(0) => return self.refuse("a prefix of length 0 matches everything: leave the match field out"),
            Ok(length) if length <= width_bits => length,
            _ => return self.refuse(&format!("the prefix length {} is not one of 1 to {width_bits}", sent.prefix_len)),
        };
        if !value.and(&Bits::leading_ones(width_bits, prefix_len).not()).is_zero() {
            let right = shown(&values::bytes(&value.and(&Bits::leading_ones(width_bits, prefix_len))));
            return self.refuse(&format!(
                "the bits of the value {} after the first {prefix_len} must be zero, as in {right}",
                shown(&values::bytes(&value))
            ));
        }
        Ok(FieldMatch::Lpm { value, prefix_len })
    }

    fn ternary(&self, sent: &proto::Ternary) -> Result<FieldMatch, Fault> {
        let (value, mask) = (self.bits("value", &sent.value)?, self.bits("mask", &sent.mask)?);
        if mask.is_zero() {
            return self.refuse("a mask of 0 matches everything: leave the match field out");
        }
        if !value.and(&mask.not()).is_zero() {
            let [right, value, mask] = [&value.and(&mask), &value, &mask].map(|it| shown(&values::bytes(it)));
            return self
                .refuse(&format!("the bits of the value {value} outside the mask {mask} must be zero, as in {right}"));
        }
        Ok(FieldMatch::Ternary { value, mask })
    }

    fn range(&self, sent: &proto::Range) -> Result<FieldMatch, Fault> {
        let (low, high) = (self.bits("low", &sent.low)?, self.bits("high", &sent.high)?);
        if low.cmp_unsigned(&high).is_gt() {
            let [low, high] = [&low, &high].map(|end| shown(&values::bytes(end)));
            return self.refuse(&format!("the low end of the range, {low}, is above its high end, {high}"));
        }
        if low.is_zero() && high == Bits::ones(high.width()) {
            let high = shown(&values::bytes(&high));
            return self.refuse(&format!("a range of 0x0 to {high} matches everything: leave the match field out"));
        }
        Ok(FieldMatch::Range { low, high })
    }
}

/// The messages for these matches of the fields.
pub(crate) fn write(schema: &Schema, fields: &[MatchField], key: &[FieldMatch]) -> Vec<v1::FieldMatch> {
    let one = |(field, key): (&MatchField, &FieldMatch)| {
        let bytes = |bits: &Bits| schema.translator.write(&field.value, bits);
        let field_match_type = Some(matches::write(key, bytes)?);
        Some(v1::FieldMatch { field_id: field.id, field_match_type })
    };
    fields.iter().zip(key).filter_map(one).collect()
}
