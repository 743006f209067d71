//! How the fields of a table's key are matched: the one form that all interfaces, the IR and the match engines share.

use crate::Bits;
use std::fmt;

/// How a field of a key is compared with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// All bits are equal.
    Exact,
    /// The leading bits are equal; the longest match wins.
    Lpm,
    /// The bits under a mask are equal.
    Ternary,
    /// The value lies between two bounds, both included.
    Range,
    /// All bits are equal, or the entry matches any value.
    Optional,
}

impl MatchKind {
    /// As programs write it.
    pub fn name(self) -> &'static str {
        match self {
            MatchKind::Exact => "exact",
            MatchKind::Lpm => "lpm",
            MatchKind::Ternary => "ternary",
            MatchKind::Range => "range",
            MatchKind::Optional => "optional",
        }
    }
}

impl fmt::Display for MatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an entry requires of one field of the key. In canonical form, bits outside of a prefix or a mask are zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldMatch {
    /// Equal to this value.
    Exact(Bits),
    /// The leading `prefix_len` bits equal those of `value`.
    Lpm {
        /// The prefix, in the field's full width.
        value: Bits,
        /// The length of the prefix.
        prefix_len: u32,
    },
    /// The bits under `mask` equal those of `value`.
    Ternary {
        /// The required bits.
        value: Bits,
        /// The mask.
        mask: Bits,
    },
    /// At least `low` and at most `high`.
    Range {
        /// The smallest value that matches.
        low: Bits,
        /// The greatest value that matches.
        high: Bits,
    },
    /// Equal to this value; `None` matches anything.
    Optional(Option<Bits>),
}

impl FieldMatch {
    /// The kind of field that takes this value.
    pub fn kind(&self) -> MatchKind {
        match self {
            FieldMatch::Exact(_) => MatchKind::Exact,
            FieldMatch::Lpm { .. } => MatchKind::Lpm,
            FieldMatch::Ternary { .. } => MatchKind::Ternary,
            FieldMatch::Range { .. } => MatchKind::Range,
            FieldMatch::Optional(_) => MatchKind::Optional,
        }
    }

    /// Whether `field` (of the same width) matches.
    pub fn matches(&self, field: &Bits) -> bool {
        match self {
            FieldMatch::Exact(value) => field == value,
            FieldMatch::Lpm { value, prefix_len } => {
                let ignored = u64::from(field.width() - prefix_len);
                field.shr(ignored) == value.shr(ignored)
            }
            FieldMatch::Ternary { value, mask } => field.and(mask) == value.and(mask),
            FieldMatch::Range { low, high } => field.cmp_unsigned(low).is_ge() && field.cmp_unsigned(high).is_le(),
            FieldMatch::Optional(value) => value.as_ref().is_none_or(|value| field == value),
        }
    }
}
