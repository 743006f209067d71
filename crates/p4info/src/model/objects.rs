//! The objects of a P4Info, with what they are in the IR.

use super::data::{Data, Value};
use ir::{
    ActionProfileId, CounterId, DigestId, DirectCounterId, DirectMeterId, MatchKind, MeterId, RegisterId, TableId,
    Unit, ValueSetId,
};

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the kinds of P4Runtime")]
pub enum Kind {
    Table,
    Action,
    ActionProfile,
    Counter,
    DirectCounter,
    Meter,
    DirectMeter,
    ControllerHeader,
    ValueSet,
    Register,
    Digest,
}

/// An object of any kind.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "the kinds of P4Runtime")]
pub enum Object {
    Table(Table),
    Action(Action),
    ActionProfile(ActionProfile),
    Counter(Counter),
    DirectCounter(DirectCounter),
    Meter(Meter),
    DirectMeter(DirectMeter),
    ControllerHeader(ControllerHeader),
    ValueSet(ValueSet),
    Register(Register),
    Digest(Digest),
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The table of the program.
    pub table: TableId,
    /// Its keys: those of the IR in their order.
    pub keys: Vec<MatchField>,
    /// The actions that it lists, but for those that are hidden from controllers.
    pub actions: Vec<TableAction>,
    /// The id of the profile that its entries find their actions in.
    pub profile: Option<u32>,
    /// The id of the counter that each entry has.
    pub direct_counter: Option<u32>,
    /// The id of the meter that each entry has.
    pub direct_meter: Option<u32>,
    /// How many entries the P4Info promises.
    pub size: i64,
    /// Whether entries may have idle timeouts.
    pub supports_timeout: bool,
    /// Whether all entries are the program's.
    pub is_const: bool,
    /// Whether the default action is the program's for good.
    pub has_const_default: bool,
}

/// A key of a table, or a part of what a value set matches.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchField {
    /// Its id within the table.
    pub id: u32,
    /// Its name; empty for a value set of single values.
    pub name: String,
    /// How it is matched.
    pub kind: MatchKind,
    /// What it is.
    pub value: Value,
}

/// An action in a table's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableAction {
    /// The action's id.
    pub id: u32,
    /// Its position in [`ir::Table::actions`], which is what [`ir::ActionCall::action`] says.
    pub position: u32,
    /// Entries may not name it.
    pub default_only: bool,
    /// The default action may not be it.
    pub table_only: bool,
}

/// An action. One action of the program is several of the IR, one for each place that it is used in, so that only a
/// table or a profile can tell which is meant; their parameters are the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// What the control plane gives.
    pub params: Vec<Param>,
}

/// A parameter of an action.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its id within the action.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: Value,
    /// Its position in [`ir::Action::params`]; none for a value of no bits, and in an action that no table lists.
    pub position: Option<u32>,
}

/// An action profile or selector.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionProfile {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The profile of the program.
    pub profile: ActionProfileId,
    /// The ids of its tables. They all list the same actions.
    pub tables: Vec<u32>,
    /// Whether there are groups.
    pub has_selector: bool,
    /// The most members, or the sum of all weights; 0 if there is no limit.
    pub size: i64,
    /// The most members of a group, or the sum of their weights; 0 if there is no limit.
    pub group_size_max: i32,
    /// Whether sizes count members; otherwise they count weights.
    pub counts_members: bool,
    /// The greatest weight of a member where sizes count members; 0 if there is no limit.
    pub member_weight_max: i32,
    /// Whether controllers give members no weights.
    pub weights_disallowed: bool,
}

/// An array of counters.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The counter of the program.
    pub counter: CounterId,
    /// What it counts.
    pub unit: Unit,
    /// How many cells it has.
    pub size: u64,
}

/// A counter of a table's entries.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectCounter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The counter of the program.
    pub counter: DirectCounterId,
    /// What it counts.
    pub unit: Unit,
    /// The id of its table.
    pub table: u32,
}

/// An array of meters.
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The meter of the program.
    pub meter: MeterId,
    /// What it measures.
    pub unit: Unit,
    /// How many cells it has.
    pub size: u64,
}

/// A meter of a table's entries.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectMeter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The meter of the program.
    pub meter: DirectMeterId,
    /// What it measures.
    pub unit: Unit,
    /// The id of its table.
    pub table: u32,
}

/// What travels with a packet from (`packet_in`) or to (`packet_out`) the switch: a header in front of the packet's
/// bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct ControllerHeader {
    /// Its id.
    pub id: u32,
    /// `packet_in` or `packet_out`.
    pub name: String,
    /// Its fields in the order of the header.
    pub fields: Vec<HeaderField>,
    /// All bits of the header, also those of fields that controllers do not see, which are sent as zero.
    pub width_bits: u32,
}

/// A field of a controller header.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderField {
    /// Its id within the header.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: Value,
    /// Its first bit in the header.
    pub offset_bits: u32,
}

/// A value set.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSet {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The set of the program.
    pub set: ValueSetId,
    /// What a member has a value for: the keys of the IR in their order.
    pub fields: Vec<MatchField>,
    /// The most members.
    pub size: u64,
}

/// An array of registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The register of the program.
    pub register: RegisterId,
    /// What a cell holds. A cell is one value in the IR: all leaves of the data, the first in the highest bits.
    pub data: Data,
    /// How many cells it has.
    pub size: u64,
}

/// A digest. The program may send it from several places with different receivers, each of which is a digest of the IR.
#[derive(Clone, PartialEq, Debug)]
pub struct Digest {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The digests of the program.
    pub digests: Vec<DigestId>,
    /// What it tells: its leaves in order are the fields of [`ir::Digest::fields`].
    pub data: Data,
}
