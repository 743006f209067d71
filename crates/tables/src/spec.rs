//! Tables and entries, as the control plane describes them.

use crate::layout::{ActionLayout, KeyField};
use base::{Bits, FieldMatch, MatchKind};

/// A table, as the program declares it.
#[derive(Clone, Debug, Default)]
pub struct TableSpec {
    /// The name that users know, such as `MyIngress.ipv4_lpm`.
    pub name: String,
    /// The key; empty for a table that always runs its default action.
    pub key: Vec<KeyField>,
    /// The actions. Entries name an action by its position here.
    pub actions: Vec<ActionSpec>,
    /// Entries that the table holds at most. Initial entries always fit.
    pub size: usize,
    /// The entries are `initial_entries` and cannot be changed.
    pub const_entries: bool,
    /// The default action cannot be changed.
    pub default_const: bool,
    /// The default action; `None` does nothing (P4's `NoAction`) and shows as [`crate::NO_ACTION`].
    pub default_action: Option<ActionCall>,
    /// Entries that are there from the start, inserted in this order.
    pub initial_entries: Vec<InitialEntry>,
    /// The action profile whose members and groups entries may refer to, by its position in the set.
    pub profile: Option<ProfileUse>,
    /// Whether there are cells by the handles of its entries, which must be reset for a new entry
    /// ([`crate::Arrivals`]).
    pub keeps_cells: bool,
}

/// An action profile as a table uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileUse {
    /// Position of the profile in the set.
    pub profile: usize,
    /// For each of the profile's actions, its position in the table's actions.
    pub actions: Vec<usize>,
}

/// An action that a table may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionSpec {
    /// The name that users know.
    pub name: String,
    /// Widths of the control-plane parameters, in bits.
    pub param_widths_bits: Vec<u32>,
    /// Positions of parameters that entries also hold pre-encoded ([`crate::ActionLayout`]).
    pub pre_encoded_params: Vec<usize>,
    /// Only entries may run it, the default may not (`@tableonly`).
    pub table_only: bool,
    /// Only the default may run it, entries may not (`@defaultonly`).
    pub default_only: bool,
}

impl ActionSpec {
    /// Where its arguments lie in an entry.
    pub(crate) fn layout(&self) -> ActionLayout {
        ActionLayout::new(&self.param_widths_bits, &self.pre_encoded_params)
    }
}

/// An action with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    /// Position in the table's actions.
    pub action: usize,
    /// One value for each parameter.
    pub args: Vec<Bits>,
}

/// [`ActionCall::action`] of a call of a member of the table's action profile: the one argument is its handle.
pub const TO_MEMBER: usize = crate::abi::TO_MEMBER as usize;

/// [`ActionCall::action`] of a call of a group's member: the one argument is the group's handle.
pub const TO_GROUP: usize = crate::abi::TO_GROUP as usize;

/// The member or group that an entry or default action refers to, instead of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A member of the table's action profile.
    Member(Handle),
    /// A group of members.
    Group(Handle),
}

impl Target {
    /// The member or group that an action call refers to, if any.
    pub fn of(action: usize, args: &[Bits]) -> Option<Target> {
        let handle = args.first().and_then(Bits::to_u64).and_then(|handle| u32::try_from(handle).ok());
        match (action, handle) {
            (TO_MEMBER, Some(handle)) => Some(Target::Member(Handle(handle))),
            (TO_GROUP, Some(handle)) => Some(Target::Group(Handle(handle))),
            _ => None,
        }
    }
}

/// An entry that the program itself declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialEntry {
    /// The entry.
    pub entry: EntrySpec,
    /// It cannot be modified or deleted. Implied for all if the table's entries are const.
    pub is_const: bool,
}

/// An entry to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySpec {
    /// One value for each key field, of the field's kind.
    pub key: Vec<FieldMatch>,
    /// In ternary and range tables the greater priority wins, among equals the older entry. In exact and lpm tables it
    /// is meaningless and stored as 0.
    pub priority: i32,
    /// Position in the table's actions, or [`TO_MEMBER`] or [`TO_GROUP`].
    pub action: usize,
    /// One value for each parameter of the action.
    pub args: Vec<Bits>,
}

/// How a table finds its entry: the strongest match kind of its key decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// No key: always the default action.
    Keyless,
    /// Exact fields only: at most one entry matches.
    Exact,
    /// One lpm field, the others exact: the longest prefix wins.
    Lpm,
    /// A ternary or optional field: the priority alone decides.
    Ternary,
    /// A range field: the priority alone decides.
    Range,
}

impl TableKind {
    /// The kind of a table with this key.
    pub fn of(key: &[KeyField]) -> TableKind {
        key.iter().map(|field| TableKind::from(field.kind)).max().unwrap_or(TableKind::Keyless)
    }

    /// Whether the priority of an entry is used.
    pub fn has_priority(self) -> bool {
        self >= TableKind::Ternary
    }
}

impl From<MatchKind> for TableKind {
    /// The kind of a table that has only fields of this kind.
    fn from(kind: MatchKind) -> TableKind {
        match kind {
            MatchKind::Exact => TableKind::Exact,
            MatchKind::Lpm => TableKind::Lpm,
            MatchKind::Ternary | MatchKind::Optional => TableKind::Ternary,
            MatchKind::Range => TableKind::Range,
        }
    }
}

/// Names an entry of its table: numbered from 0 in order of insertion; after deletions the lowest free number is used
/// again. Always below the table's size, so that it also addresses direct counters and meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u32);

impl std::fmt::Display for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// An entry in a table, in canonical form: values have their field's width, bits that do not count are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub handle: Handle,
    /// The inserted entry.
    pub spec: EntrySpec,
    /// Later insertions have greater numbers.
    pub sequence: u64,
    /// It cannot be modified or deleted.
    pub is_const: bool,
    /// The data that the control plane attached; none if nothing.
    pub attributes: Option<Box<Attributes>>,
}

/// Data that controllers attach to an entry. Packets do not use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Opaque to the switch.
    pub metadata: Vec<u8>,
    /// The same in its older form.
    pub controller_metadata: u64,
    /// After this time without a hit, the entry is reported; 0 for never.
    pub idle_timeout_ns: u64,
}
