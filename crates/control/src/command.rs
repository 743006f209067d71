//! What a line of `simple_switch_CLI`, or an element of runtime JSON, requests, with every name resolved.
//!
//! Most lines are updates of the control model. BMv2's tool names entries, members, groups and nodes by handles, which
//! are numbers of the moment, and some of its commands change a part of an entity: those are [`Change`]s, which become
//! updates where the present state is known. Priorities are the IR's: the greater wins.

use crate::api::entity::{EntryAction, EntryName};
use crate::api::{Entity, Query, Update};
use base::FieldMatch;
use ir::{
    ActionProfileId, CalculationId, CounterId, CrcParameters, DirectCounterId, DirectMeterId, MeterId, TableId,
    ValueSetId,
};
use switch::Node;
use tables::Handle;

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// An update.
    Write(Box<Update>),
    /// What becomes updates when it is carried out.
    Change(Box<Change>),
    /// A question.
    Ask(Ask),
    /// What is no entity. No restart brings it back.
    Set(Setting),
}

impl Command {
    /// A change.
    pub fn change(change: Change) -> Command {
        Command::Change(Box::new(change))
    }
}

/// A change of what is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Inserts a multicast group or clone session, or modifies it if it exists.
    Put(Entity),
    /// An update that names members and groups of action profiles by their handles. Those that it inserts get the next.
    ByHandle(Update),
    /// Changes an entry.
    Entry {
        /// The table.
        table: TableId,
        /// The entry.
        handle: Handle,
        /// How.
        change: EntryChange,
    },
    /// Puts a member into a group of an action profile, or takes it out.
    Membership {
        /// The profile.
        profile: ActionProfileId,
        /// The group.
        group: Handle,
        /// The member.
        member: Handle,
        /// Whether it is put in.
        joins: bool,
    },
    /// Adds a member to a value set, or removes it.
    ValueSetMember {
        /// The set.
        set: ValueSetId,
        /// One match per key of the set.
        member: Vec<FieldMatch>,
        /// Whether it is added.
        joins: bool,
    },
    /// Sets the direct counter or meter of an entry, in place of those of all entries.
    Direct {
        /// The entry.
        handle: Handle,
        /// The value.
        entity: Entity,
    },
    /// Changes nodes, of which multicast groups consist.
    Node(NodeChange),
}

/// What is done with an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryChange {
    /// What it runs from now on.
    Action(EntryAction),
    /// Its idle timeout; 0 for never.
    Timeout {
        /// The time.
        timeout_ns: u64,
    },
    /// It is deleted.
    Delete,
}

/// What is done with nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeChange {
    /// Makes a node. The switch gives it the next handle.
    Create(Node),
    /// Gives a node other ports.
    SetPorts {
        /// The node.
        node: u32,
        /// Each gets a copy; ascending, none twice.
        ports: Vec<u32>,
    },
    /// Removes a node, also from its groups.
    Destroy {
        /// The node.
        node: u32,
    },
    /// Puts a node into a group, or takes it out.
    Membership {
        /// The group.
        group: u64,
        /// The node.
        node: u32,
        /// Whether it is put in.
        joins: bool,
    },
}

/// A question. What shows handles reads the tables themselves; all else is a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Entities.
    Query(Query),
    /// All entries of a table, and its default action.
    Table(TableId),
    /// An entry of a table.
    Entry(TableId, Handle),
    /// The entry with this key.
    EntryOfKey(TableId, EntryName),
    /// How many entries a table has.
    EntryCount(TableId),
    /// Members and groups of an action profile.
    Profile(ActionProfileId, ProfilePart),
    /// Multicast groups with their nodes.
    Multicast,
    /// The direct counter of an entry.
    DirectCounter(DirectCounterId, Handle),
    /// The rates of an entry's direct meter.
    DirectMeter(DirectMeterId, Handle),
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

/// Something that is set and is no entity.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// The parameters of a CRC.
    Crc {
        /// The CRC.
        calculation: CalculationId,
        /// What it computes from now on.
        parameters: CrcParameters,
    },
    /// The time of a profile, which timers of entries have that start from now on (PNA).
    ExpireTime {
        /// The profile.
        profile: u8,
        /// The time.
        time_ns: u64,
    },
    /// How many packets queues hold.
    QueueDepth {
        /// Packets.
        depth_packets: u64,
        /// Of which queues.
        queues: Queues,
    },
    /// How fast queues are served.
    QueueRate {
        /// Packets per second; 0: without limit.
        rate_pps: u64,
        /// Which queues.
        queues: Queues,
    },
}

/// Some queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// The egress port; all if none.
    pub port: Option<u32>,
    /// The priority; all if none.
    pub priority: Option<u32>,
}

/// A counter array or a table's direct counter.
pub type CounterRef = Cells<CounterId, DirectCounterId>;

/// A meter array or a table's direct meter.
pub type MeterRef = Cells<MeterId, DirectMeterId>;

/// What has cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells<Array, Direct> {
    /// An array, indexed by the program.
    Array(Array),
    /// A direct counter or meter, indexed by the handles of a table's entries.
    Direct(Direct),
}
