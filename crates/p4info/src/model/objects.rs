//! The objects of a P4Info, each with its counterpart in the IR.

use super::data::{Data, Value};
use base::MatchKind;
use ir::{
    ActionProfileId, CounterId, DigestId, DirectCounterId, DirectMeterId, MeterId, RegisterId, TableId, Unit,
    ValueSetId,
};

/// The kind of an object.
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
    /// The table of the IR.
    pub table: TableId,
    /// Its keys, in the order of the IR.
    pub keys: Vec<MatchField>,
    /// Its actions, except those that are hidden from controllers.
    pub actions: Vec<TableAction>,
    /// The id of the action profile that its entries refer to.
    pub profile: Option<u32>,
    /// The id of its direct counter.
    pub direct_counter: Option<u32>,
    /// The id of its direct meter.
    pub direct_meter: Option<u32>,
    /// The number of entries that the P4Info guarantees.
    pub size: i64,
    /// Whether entries may have idle timeouts.
    pub supports_timeout: bool,
    /// Whether all entries are constant.
    pub is_const: bool,
    /// Whether the default action is constant.
    pub has_const_default: bool,
}

/// A key of a table, or a match field of a value set.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchField {
    /// Its id within the table.
    pub id: u32,
    /// Its name; empty for a value set of a single scalar type.
    pub name: String,
    /// Its match kind.
    pub kind: MatchKind,
    /// Its type.
    pub value: Value,
}

/// An action in a table's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableAction {
    /// The action's id.
    pub id: u32,
    /// Its position in [`ir::Table::actions`], the number that [`ir::ActionCall::action`] has.
    pub position: u32,
    /// Only allowed as the default action.
    pub default_only: bool,
    /// Not allowed as the default action.
    pub table_only: bool,
}

/// An action. One action of the program becomes several in the IR, one for each place that uses it, so only the table
/// or the profile determines which one is meant. Their parameters are the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The parameters that the control plane supplies.
    pub params: Vec<Param>,
}

/// A parameter of an action.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its id within the action.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its type.
    pub value: Value,
    /// Its position in [`ir::Action::params`]; none for a value of zero width, and in an action that no table lists.
    pub position: Option<u32>,
}

/// An action profile or selector.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionProfile {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The profile of the IR.
    pub profile: ActionProfileId,
    /// The ids of its tables, which all list the same actions.
    pub tables: Vec<u32>,
    /// Whether it is a selector, which has groups.
    pub has_selector: bool,
    /// The maximum number of members, or the maximum sum of all weights; 0 if there is no limit.
    pub size: i64,
    /// The maximum number of members of a group, or the maximum sum of their weights; 0 if there is no limit.
    pub group_size_max: i32,
    /// Whether sizes count members instead of weights.
    pub counts_members: bool,
    /// The maximum weight of a member if sizes count members; 0 if there is no limit.
    pub member_weight_max: i32,
    /// Whether members have no weights.
    pub weights_disallowed: bool,
}

/// An indirect counter.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The counter of the IR.
    pub counter: CounterId,
    /// Its unit: packets, bytes or both.
    pub unit: Unit,
    /// The number of cells.
    pub size: u64,
}

/// A direct counter.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectCounter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The counter of the IR.
    pub counter: DirectCounterId,
    /// Its unit: packets, bytes or both.
    pub unit: Unit,
    /// The id of its table.
    pub table: u32,
}

/// An indirect meter.
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The meter of the IR.
    pub meter: MeterId,
    /// Its unit: packets or bytes.
    pub unit: Unit,
    /// The number of cells.
    pub size: u64,
}

/// A direct meter.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectMeter {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The meter of the IR.
    pub meter: DirectMeterId,
    /// Its unit: packets or bytes.
    pub unit: Unit,
    /// The id of its table.
    pub table: u32,
}

/// The metadata of a packet from (`packet_in`) or to (`packet_out`) the switch, which is a header before the packet's
/// bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct ControllerHeader {
    /// Its id.
    pub id: u32,
    /// `packet_in` or `packet_out`.
    pub name: String,
    /// Its fields in the order of the header.
    pub fields: Vec<HeaderField>,
    /// The width of the whole header in bits, including fields that are hidden from controllers, which are sent as
    /// zero.
    pub width_bits: u32,
}

/// A field of a controller header.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderField {
    /// Its id within the header.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its type.
    pub value: Value,
    /// The offset of its first bit in the header.
    pub offset_bits: u32,
}

/// A value set.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSet {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The value set of the IR.
    pub set: ValueSetId,
    /// The match fields of a member, in the order of the IR's keys.
    pub fields: Vec<MatchField>,
    /// The maximum number of members.
    pub size: u64,
}

/// An array of registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The register of the IR.
    pub register: RegisterId,
    /// The type of a cell. In the IR a cell is one value: all leaves of the data, the first in the most significant
    /// bits.
    pub data: Data,
    /// The number of cells.
    pub size: u64,
}

/// A digest. The program may send it from several places to different receivers; each place is a digest of the IR.
#[derive(Clone, PartialEq, Debug)]
pub struct Digest {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// The digests of the IR.
    pub digests: Vec<DigestId>,
    /// The type of its data; the leaves in order are the fields of [`ir::Digest::fields`].
    pub data: Data,
}
