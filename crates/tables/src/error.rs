//! Errors of tables and entries: the operation, the fault, and what would be correct.

use crate::spec::Handle;
use base::MatchKind;
use std::fmt;

/// An operation that a table rejected. The table is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The table's name, or the action profile's.
    pub table: String,
    /// Whether it is an action profile that rejected it.
    pub is_profile: bool,
    /// What is wrong.
    pub problem: Problem,
}

/// The reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the words of the message, which stands with each variant below")]
pub enum Problem {
    /// The set has no table of this index.
    UnknownTable { index: usize, tables: usize },
    /// Two or more lpm fields and no ternary or range field: "longest" is not defined.
    SeveralLpmFields { fields: Vec<String> },
    /// The declared size is beyond what a table may hold.
    SizeTooLarge { size: usize, most: usize },
    /// An entry for a table without a key.
    NoKey,
    /// Too few or too many key fields.
    KeyFieldCount { given: usize, fields: Vec<String> },
    /// A match value of another kind than the field's.
    MatchKind { field: String, given: MatchKind, wanted: MatchKind },
    /// A value that does not fit the field.
    KeyWidth { field: String, value: String, width_bits: u32 },
    /// A prefix longer than the field.
    PrefixTooLong { field: String, prefix_len: u32, width_bits: u32 },
    /// A range that is empty.
    EmptyRange { field: String, low: String, high: String },
    /// An entry with this key (and priority) exists.
    Duplicate { handle: Handle, priority: Option<i32> },
    /// No room.
    Full { size: usize },
    /// No action of this position.
    UnknownAction { action: usize, actions: Vec<String> },
    /// The action is for the default only.
    DefaultOnly { action: String },
    /// The action is for entries only.
    TableOnly { action: String },
    /// Too few or too many arguments.
    ArgCount { action: String, given: usize, wanted: usize },
    /// An argument that does not fit the parameter.
    ArgWidth { action: String, parameter: usize, value: String, width_bits: u32 },
    /// The table's entries are const.
    ConstEntries,
    /// This entry is const.
    ConstEntry { handle: Handle },
    /// The default action is const.
    ConstDefault,
    /// No entry of this handle.
    UnknownHandle { handle: Handle, entries: usize },
    /// The set has no action profile of this index.
    UnknownProfile { index: usize, profiles: usize },
    /// An entry refers to a member or group, but the table has no action profile.
    NoProfile,
    /// The action profile has no groups.
    NoGroups,
    /// The action profile has no member of this handle.
    UnknownMember { member: Handle, members: usize },
    /// The action profile has no group of this handle.
    UnknownGroup { group: Handle, groups: usize },
    /// The member is in this group.
    MemberInGroup { member: Handle, group: Handle },
    /// Entries refer to the member.
    MemberInUse { member: Handle },
    /// Entries refer to the group.
    GroupInUse { group: Handle },
    /// The action profile has no room for more.
    ProfileFull { size: usize },
    /// The weights of the members of all groups sum up to too much.
    TooManyChoices { most: usize },
}

impl Problem {
    pub(crate) fn of(self, table: &str) -> TableError {
        TableError { table: table.to_string(), is_profile: false, problem: self }
    }

    pub(crate) fn of_profile(self, profile: &str) -> TableError {
        TableError { table: profile.to_string(), is_profile: true, problem: self }
    }
}

impl std::error::Error for TableError {}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::UnknownTable { .. } | Problem::UnknownProfile { .. } => self.problem.fmt(f),
            problem if self.is_profile => write!(f, "action profile `{}`: {problem}", self.table),
            problem => write!(f, "table `{}`: {problem}", self.table),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnknownTable { index, tables } => write!(f, "there is no table {index}: the program has {tables}"),
            Problem::SeveralLpmFields { fields } => write!(
                f,
                "the key has {} lpm fields ({}): at most one, or a ternary or range field so that priorities decide",
                fields.len(),
                fields.join(", ")
            ),
            Problem::SizeTooLarge { size, most } => {
                write!(f, "a size of {size} entries, but at most {most} are possible")
            }
            Problem::NoKey => write!(f, "it has no key and so takes no entries: set its default action instead"),
            Problem::KeyFieldCount { given, fields } => {
                write!(f, "{given} key fields given, but it has {}: {}", fields.len(), fields.join(", "))
            }
            Problem::MatchKind { field, given, wanted } => {
                write!(f, "a match of kind {given} given for key field `{field}`, which takes {wanted}")
            }
            Problem::KeyWidth { field, value, width_bits } => write!(
                f,
                "the value {value} does not fit key field `{field}` of {width_bits} bits{}",
                greatest(*width_bits)
            ),
            Problem::PrefixTooLong { field, prefix_len, width_bits } => {
                write!(f, "a prefix length of {prefix_len} given for key field `{field}`, which has {width_bits} bits")
            }
            Problem::EmptyRange { field, low, high } => {
                write!(
                    f,
                    "the range {low} to {high} given for key field `{field}` is empty: the lower bound comes first"
                )
            }
            Problem::Duplicate { handle, priority: None } => {
                write!(f, "there is already an entry with this key, of handle {handle}: modify it, or delete it first")
            }
            Problem::Duplicate { handle, priority: Some(priority) } => write!(
                f,
                "there is already an entry with this key and priority {priority}, of handle {handle}: \
                 modify it, or give another priority"
            ),
            Problem::Full { size } => write!(f, "it is full: its size is {size} entries"),
            Problem::UnknownAction { action, actions } => write!(
                f,
                "there is no action {action}: it has {}",
                if actions.is_empty() { "none".to_string() } else { actions.join(", ") }
            ),
            Problem::DefaultOnly { action } => {
                write!(f, "action `{action}` may only be the default action (`@defaultonly`), not that of an entry")
            }
            Problem::TableOnly { action } => {
                write!(f, "action `{action}` may only be that of an entry (`@tableonly`), not the default action")
            }
            Problem::ArgCount { action, given, wanted } => {
                write!(f, "{given} arguments given to action `{action}`, which takes {wanted}")
            }
            Problem::ArgWidth { action, parameter, value, width_bits } => write!(
                f,
                "the value {value} does not fit parameter {parameter} of action `{action}`, which has {width_bits} bits{}",
                greatest(*width_bits)
            ),
            Problem::ConstEntries => write!(f, "its entries are const and cannot be changed"),
            Problem::ConstEntry { handle } => write!(f, "the entry of handle {handle} is const and cannot be changed"),
            Problem::ConstDefault => write!(f, "its default action is const and cannot be changed"),
            Problem::UnknownHandle { handle, entries } => {
                write!(f, "there is no entry of handle {handle} among its {entries} entries")
            }
            Problem::UnknownProfile { index, profiles } => {
                write!(f, "there is no action profile {index}: the program has {profiles}")
            }
            Problem::NoProfile => write!(f, "it has no action profile: its entries run actions, not members or groups"),
            Problem::NoGroups => write!(f, "it has no selector and so no groups"),
            Problem::UnknownMember { member, members } => {
                write!(f, "there is no member of handle {member} among the {members} members")
            }
            Problem::UnknownGroup { group, groups } => {
                write!(f, "there is no group of handle {group} among the {groups} groups")
            }
            Problem::MemberInGroup { member, group } => write!(f, "member {member} is in group {group}"),
            Problem::MemberInUse { member } => write!(f, "an entry names member {member}: change that first"),
            Problem::GroupInUse { group } => write!(f, "an entry names group {group}: change that first"),
            Problem::ProfileFull { size } => write!(f, "it is full: it holds {size}"),
            Problem::TooManyChoices { most } => {
                write!(f, "the weights of the members of all its groups may sum up to {most} at most")
            }
        }
    }
}

fn greatest(width_bits: u32) -> String {
    match width_bits {
        1..=64 => format!(" (at most {:#x})", u64::MAX >> (64 - width_bits)),
        _ => String::new(),
    }
}
