//! The control operations, with every name resolved.
//!
//! The operations are those of `simple_switch_CLI` and P4Runtime together. Priorities are the IR's: the greater wins.
//! The switch numbers entries and multicast nodes by handles, from 0 in order of creation; whether a handle exists is
//! known only when a command is carried out.

use crate::api::Update;
use base::FieldMatch;
use ir::{
    ActionCall, ActionProfileId, CalculationId, CounterId, CrcParameters, DirectCounterId, DirectMeterId, MeterId,
    RegisterId, TableId, ValueSetId,
};
use switch::MeterConfig;
use tables::{Handle, ProfileOperation};

/// A control operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// What is an update of the control model. The commands below are those that are not yet.
    Write(Box<Update>),

    /// Adds an entry.
    TableAdd {
        /// The table.
        table: TableId,
        /// One per key of the table, in order, canonical: bits outside of the mask are zero.
        key: Vec<FieldMatch>,
        /// The greater wins; 0 where the table has no ternary, range or optional key.
        priority: i32,
        /// What runs.
        call: ActionCall,
    },
    /// Adds an entry that is reported when no packet has hit it for this time.
    TableAddTimed {
        /// The table, one with timeouts.
        table: TableId,
        /// As in [`Command::TableAdd`].
        key: Vec<FieldMatch>,
        /// As in [`Command::TableAdd`].
        priority: i32,
        /// What runs.
        call: ActionCall,
        /// The time.
        timeout_ns: u64,
    },
    /// Changes what an entry runs.
    TableModify {
        /// The table.
        table: TableId,
        /// The entry.
        handle: u32,
        /// What runs from now on.
        call: ActionCall,
    },
    /// Sets the idle timeout of an entry.
    TableSetTimeout {
        /// The table, one with timeouts.
        table: TableId,
        /// The entry.
        handle: u32,
        /// The time; 0 for never.
        timeout_ms: u32,
    },
    /// Deletes an entry.
    TableDelete {
        /// The table.
        table: TableId,
        /// The entry.
        handle: u32,
    },
    /// Deletes all entries; the default action stays.
    TableClear {
        /// The table.
        table: TableId,
    },
    /// Sets what runs on a miss.
    TableSetDefault {
        /// The table.
        table: TableId,
        /// What runs.
        call: ActionCall,
    },
    /// Restores the program's own default action.
    TableResetDefault {
        /// The table.
        table: TableId,
    },
    /// Asks for all entries and the default action.
    TableDump {
        /// The table.
        table: TableId,
    },
    /// Asks for one entry.
    TableDumpEntry {
        /// The table.
        table: TableId,
        /// The entry.
        handle: u32,
    },
    /// Asks for the entry with this key.
    TableDumpEntryFromKey {
        /// The table.
        table: TableId,
        /// As in [`Command::TableAdd`].
        key: Vec<FieldMatch>,
        /// As in [`Command::TableAdd`].
        priority: i32,
    },
    /// Asks how many entries there are.
    TableNumEntries {
        /// The table.
        table: TableId,
    },

    /// Adds members to a parser value set.
    ValueSetAdd {
        /// The set.
        set: ValueSetId,
        /// One per key of the set.
        member: Vec<FieldMatch>,
    },
    /// Removes a member of a parser value set.
    ValueSetRemove {
        /// The set.
        set: ValueSetId,
        /// One per key of the set.
        member: Vec<FieldMatch>,
    },
    /// Removes all members of a parser value set.
    ValueSetClear {
        /// The set.
        set: ValueSetId,
    },

    /// Asks for all members of a parser value set.
    ValueSetDump {
        /// The set.
        set: ValueSetId,
    },

    /// Changes the members or groups of an action profile. Actions are positions in `switch::profile_actions`.
    ProfileChange {
        /// The profile.
        profile: ActionProfileId,
        /// What is done.
        operation: ProfileOperation,
    },
    /// Asks for members and groups of an action profile.
    ProfileDump {
        /// The profile.
        profile: ActionProfileId,
        /// What is asked for.
        part: ProfilePart,
    },

    /// Sets the parameters of a CRC.
    CrcSet {
        /// The CRC.
        calculation: CalculationId,
        /// What it computes from now on.
        parameters: CrcParameters,
    },

    /// Creates an empty multicast group.
    McGroupCreate {
        /// Its number, what `mcast_grp` selects.
        group: u16,
    },
    /// Destroys a multicast group; its nodes stay.
    McGroupDestroy {
        /// Its number.
        group: u16,
    },
    /// Creates a node: a replication number and its ports. The switch gives it the next handle.
    McNodeCreate {
        /// The replication number, `egress_rid` of the copies.
        rid: u16,
        /// Each gets a copy; ascending, none twice.
        ports: Vec<u32>,
    },
    /// Gives a node other ports.
    McNodeUpdate {
        /// The node's handle.
        node: u32,
        /// As in [`Command::McNodeCreate`].
        ports: Vec<u32>,
    },
    /// Destroys a node, and takes it out of its groups.
    McNodeDestroy {
        /// The node's handle.
        node: u32,
    },
    /// Puts a node into a group.
    McNodeAssociate {
        /// The group.
        group: u16,
        /// The node's handle.
        node: u32,
    },
    /// Takes a node out of a group.
    McNodeDissociate {
        /// The group.
        group: u16,
        /// The node's handle.
        node: u32,
    },
    /// Creates a multicast group with these replicas (P4Runtime's form).
    McGroupSet {
        /// Its number, what `mcast_grp` selects.
        group: u16,
        /// The replicas, without duplicates.
        replicas: Vec<Replica>,
    },
    /// Asks for all groups and nodes.
    McDump,

    /// Makes a clone session send to a port.
    MirroringAdd {
        /// The session.
        session: u16,
        /// The port.
        port: u32,
    },
    /// Makes a clone session send to a multicast group.
    MirroringAddMc {
        /// The session.
        session: u16,
        /// The group.
        group: u16,
    },
    /// Makes a clone session send to these replicas (P4Runtime's form).
    CloneSessionSet {
        /// The session.
        session: u16,
        /// The replicas, without duplicates.
        replicas: Vec<Replica>,
        /// The class of service of the clones, in PSA.
        class_of_service: u8,
        /// The most bytes of the packet that a clone gets, in PSA; 0 for all.
        packet_length_bytes: u32,
    },
    /// Removes a clone session.
    MirroringDelete {
        /// The session.
        session: u16,
    },
    /// Asks where a clone session leads.
    MirroringGet {
        /// The session.
        session: u16,
    },

    /// Asks for a cell, or for all.
    RegisterRead {
        /// The array.
        register: RegisterId,
        /// The cell, below the array's size.
        index: Option<u64>,
    },

    /// Asks for a cell.
    CounterRead {
        /// The counter.
        counter: CounterRef,
        /// The cell, or the handle of the table's entry.
        index: u64,
    },
    /// Writes the counter of an entry.
    CounterWrite {
        /// The counter.
        counter: DirectCounterId,
        /// The handle of the table's entry.
        index: u64,
        /// Packets.
        packets: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Sets the counters of all entries to 0.
    CounterReset {
        /// The counter.
        counter: DirectCounterId,
    },

    /// Sets the rates of an entry's meter.
    MeterSetRates {
        /// The meter.
        meter: DirectMeterId,
        /// The handle of the table's entry.
        index: u64,
        /// The rates.
        rates: MeterConfig,
    },
    /// Sets the rates of the meters of all entries.
    MeterArraySetRates {
        /// The meter.
        meter: DirectMeterId,
        /// The rates.
        rates: MeterConfig,
    },
    /// Asks for the rates of one cell.
    MeterGetRates {
        /// The meter.
        meter: MeterRef,
        /// The cell, or the handle of the table's entry.
        index: u64,
    },

    /// Sets the time of a profile, which timers of entries have that start from now on (PNA).
    SetExpireTime {
        /// The profile.
        profile: u8,
        /// The time.
        time_ns: u64,
    },
    /// Sets how many packets queues hold.
    SetQueueDepth {
        /// Packets.
        depth_packets: u64,
        /// The egress port; all if none.
        port: Option<u32>,
        /// The priority; all if none.
        priority: Option<u8>,
    },
    /// Sets how fast queues are served.
    SetQueueRate {
        /// Packets per second; 0: without limit.
        rate_pps: u64,
        /// The egress port; all if none.
        port: Option<u32>,
        /// The priority; all if none.
        priority: Option<u8>,
    },
}

impl Command {
    /// Whether the command only reads.
    pub fn only_asks(&self) -> bool {
        use Command::*;
        matches!(
            self,
            TableDump { .. }
                | TableDumpEntry { .. }
                | TableDumpEntryFromKey { .. }
                | TableNumEntries { .. }
                | ValueSetDump { .. }
                | ProfileDump { .. }
                | McDump
                | MirroringGet { .. }
                | RegisterRead { .. }
                | CounterRead { .. }
                | MeterGetRates { .. }
        )
    }
}

/// A part of an action profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilePart {
    /// All members and groups.
    All,
    /// One member.
    Member(Handle),
    /// One group.
    Group(Handle),
}

/// One copy that a multicast group or clone session makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replica {
    /// Where it goes.
    pub port: u32,
    /// Its `egress_rid`.
    pub instance: u16,
}

/// A counter array or a table's direct counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterRef {
    /// Indexed by the program.
    Array(CounterId),
    /// Indexed by the handles of a table's entries.
    Direct(DirectCounterId),
}

/// A meter array or a table's direct meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterRef {
    /// Indexed by the program.
    Array(MeterId),
    /// Indexed by the handles of a table's entries.
    Direct(DirectMeterId),
}
