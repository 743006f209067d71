//! Matches of keys as messages: the forms that all clients and the server share.

use crate::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use base::{Bits, FieldMatch};

/// The message of a match, with values as `bytes` writes them; `None` if it matches anything: such a match is left out.
pub fn write(key: &FieldMatch, bytes: impl Fn(&Bits) -> Vec<u8>) -> Option<FieldMatchType> {
    if key.is_any() {
        return None;
    }
    Some(match key {
        FieldMatch::Exact(value) => FieldMatchType::Exact(Exact { value: bytes(value) }),
        FieldMatch::Lpm { value, prefix_len } => {
            FieldMatchType::Lpm(Lpm { value: bytes(value), prefix_len: *prefix_len as i32 })
        }
        FieldMatch::Ternary { value, mask } => {
            FieldMatchType::Ternary(Ternary { value: bytes(&value.and(mask)), mask: bytes(mask) })
        }
        FieldMatch::Range { low, high } => FieldMatchType::Range(Range { low: bytes(low), high: bytes(high) }),
        FieldMatch::Optional(value) => FieldMatchType::Optional(Optional { value: bytes(value.as_ref()?) }),
    })
}

/// A match as text that can be parsed again, with values and masks as these functions show them.
pub fn text(found: &FieldMatchType, value: impl Fn(&[u8]) -> String, masked: impl Fn(&[u8]) -> String) -> String {
    match found {
        FieldMatchType::Exact(it) => value(&it.value),
        FieldMatchType::Optional(it) => value(&it.value),
        FieldMatchType::Lpm(it) => format!("{}/{}", value(&it.value), it.prefix_len),
        FieldMatchType::Ternary(it) => format!("{}&&&{}", masked(&it.value), masked(&it.mask)),
        FieldMatchType::Range(it) => format!("{}..{}", value(&it.low), value(&it.high)),
        FieldMatchType::Other(_) => "?".to_owned(),
    }
}

/// The name of the kind of a match.
pub fn kind_name(found: &FieldMatchType) -> &'static str {
    match found {
        FieldMatchType::Exact(_) => "exact",
        FieldMatchType::Lpm(_) => "lpm",
        FieldMatchType::Ternary(_) => "ternary",
        FieldMatchType::Range(_) => "range",
        FieldMatchType::Optional(_) => "optional",
        FieldMatchType::Other(_) => "a kind of another architecture",
    }
}
