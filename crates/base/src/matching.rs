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
    /// All kinds.
    pub const ALL: [MatchKind; 5] =
        [MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Range, MatchKind::Optional];

    /// The kind that programs write like this.
    pub fn named(name: &str) -> Option<MatchKind> {
        MatchKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether entries can overlap such that only a priority decides between them.
    pub fn has_priority(self) -> bool {
        !matches!(self, MatchKind::Exact | MatchKind::Lpm)
    }

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

/// What a match requires of a field: every kind is one of two conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The bits under the mask equal those of the value.
    Masked {
        /// The required bits; those outside of the mask are zero.
        value: Bits,
        /// The mask.
        mask: Bits,
    },
    /// At least `low` and at most `high`.
    Between {
        /// The smallest value that matches.
        low: Bits,
        /// The greatest value that matches.
        high: Bits,
    },
}

impl FieldMatch {
    /// What it requires of a field of this width.
    pub fn condition(&self, width: u32) -> Condition {
        let masked = |value: &Bits, mask: Bits| Condition::Masked { value: value.and(&mask), mask };
        match self {
            FieldMatch::Exact(value) | FieldMatch::Optional(Some(value)) => masked(value, Bits::ones(width)),
            FieldMatch::Optional(None) => masked(&Bits::zero(width), Bits::zero(width)),
            FieldMatch::Lpm { value, prefix_len } => masked(value, Bits::leading_ones(width, *prefix_len)),
            FieldMatch::Ternary { value, mask } => masked(value, mask.clone()),
            FieldMatch::Range { low, high } => Condition::Between { low: low.clone(), high: high.clone() },
        }
    }

    /// What matches any value of this width; `None` for an exact field, which does not have it.
    pub fn any(kind: MatchKind, width: u32) -> Option<FieldMatch> {
        let zero = Bits::zero(width);
        match kind {
            MatchKind::Exact => None,
            MatchKind::Lpm => Some(FieldMatch::Lpm { value: zero, prefix_len: 0 }),
            MatchKind::Ternary => Some(FieldMatch::Ternary { value: zero.clone(), mask: zero }),
            MatchKind::Range => Some(FieldMatch::Range { low: zero, high: Bits::ones(width) }),
            MatchKind::Optional => Some(FieldMatch::Optional(None)),
        }
    }

    /// What matches the values that have the same bits as `value` under a mask of leading ones. A kind that matches
    /// whole values requires all bits.
    pub fn block(kind: MatchKind, value: &Bits, mask: &Bits) -> FieldMatch {
        let value = value.clone();
        match kind {
            MatchKind::Exact => FieldMatch::Exact(value),
            MatchKind::Lpm => {
                FieldMatch::Lpm { value, prefix_len: mask.limbs().iter().map(|it| it.count_ones()).sum() }
            }
            MatchKind::Ternary => FieldMatch::Ternary { value, mask: mask.clone() },
            MatchKind::Range => FieldMatch::Range { high: value.or(&mask.not()), low: value },
            MatchKind::Optional => FieldMatch::Optional(Some(value)),
        }
    }

    /// Whether it matches any value.
    pub fn is_any(&self) -> bool {
        match self {
            FieldMatch::Exact(_) => false,
            FieldMatch::Lpm { prefix_len, .. } => *prefix_len == 0,
            FieldMatch::Ternary { mask, .. } => mask.is_zero(),
            FieldMatch::Range { low, high } => low.is_zero() && *high == Bits::ones(high.width()),
            FieldMatch::Optional(value) => value.is_none(),
        }
    }

    /// Whether a field of this kind and width takes it, and it is canonical.
    pub fn fits(&self, kind: MatchKind, width: u32) -> bool {
        let fits = |value: &Bits| value.width() == width;
        self.kind() == kind
            && match self {
                FieldMatch::Exact(value) => fits(value),
                FieldMatch::Lpm { value, prefix_len } => {
                    fits(value) && *prefix_len <= width && value.shl(u64::from(*prefix_len)).is_zero()
                }
                FieldMatch::Ternary { value, mask } => fits(value) && fits(mask) && value.and(&mask.not()).is_zero(),
                FieldMatch::Range { low, high } => fits(low) && fits(high) && low.cmp_unsigned(high).is_le(),
                FieldMatch::Optional(value) => value.as_ref().is_none_or(fits),
            }
    }

    /// It as text, with these signs before a mask and before an upper bound, and values as `show` has them: its last
    /// argument is whether the value is a mask or has one. An optional field that matches anything is `*`.
    pub fn text(&self, [mask_sign, range_sign]: [&str; 2], show: impl Fn(&Bits, bool) -> String) -> String {
        let value = |value: &Bits| show(value, false);
        match self {
            FieldMatch::Exact(it) | FieldMatch::Optional(Some(it)) => value(it),
            FieldMatch::Lpm { value: it, prefix_len } => format!("{}/{prefix_len}", value(it)),
            FieldMatch::Ternary { value: it, mask } => format!("{}{mask_sign}{}", show(it, true), show(mask, true)),
            FieldMatch::Range { low, high } => format!("{}{range_sign}{}", value(low), value(high)),
            FieldMatch::Optional(None) => "*".to_owned(),
        }
    }

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
