//! The state of a switch under control as separate entities: those of P4Runtime with every name resolved.
//!
//! Tables, actions and the like are indices of the program; values have their widths. Ids of action profile members,
//! groups, multicast groups and clone sessions are the numbers that controllers chose.

use crate::api::fault::Fault;
use crate::api::read::Which;
use base::{Bits, FieldMatch, OrderedSet};
use ir::{ActionId, ActionProfileId, CounterId, DigestId, MeterId, RegisterId, TableId, ValueSetId};
use switch::MeterConfig;
use switch::externs::CounterCell;
use switch::meter::ColorCounts;
use tables::Attributes;

/// What an update does to its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// Makes it; it must not be there.
    Insert,
    /// Changes it; it must be there.
    Modify,
    /// Removes it; it must be there.
    Delete,
}

/// One step of a write.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The operation.
    pub kind: UpdateKind,
    /// Its entity.
    pub entity: Entity,
}

/// A piece of a switch's state that controllers write and read.
#[derive(Clone, Debug, PartialEq)]
pub enum Entity {
    /// An entry of a table, or its default action.
    TableEntry(TableEntry),
    /// All entries of a table that are not const. They can be deleted.
    AllEntries(TableId),
    /// The direct counter of an entry, or of the default action.
    DirectCounter(Direct<CounterCell>),
    /// The direct meter of an entry, or of the default action.
    DirectMeter(Direct<MeterValue>),
    /// A member of an action profile.
    Member(Member),
    /// A group of an action profile.
    Group(Group),
    /// A cell of a counter array.
    Counter(Cell<CounterId, CounterCell>),
    /// A cell of a meter array.
    Meter(Cell<MeterId, MeterValue>),
    /// A cell of a register array.
    Register(Cell<RegisterId, Bits>),
    /// A multicast group.
    Multicast(Multicast),
    /// A clone session.
    CloneSession(CloneSession),
    /// All members of a parser value set.
    ValueSet {
        /// The set.
        set: ValueSetId,
        /// For each member, one match per key of the set.
        members: Vec<Vec<FieldMatch>>,
    },
    /// How digests are sent to controllers. Digests without a configuration are not sent.
    Digest {
        /// The digest.
        digest: DigestId,
        /// How its messages are grouped into lists.
        config: DigestConfig,
    },
}

/// An action with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The action.
    pub action: ActionId,
    /// One value per parameter, each of the parameter's width.
    pub args: Vec<Bits>,
}

/// What an entry runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// An action.
    Call(Call),
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action profile.
    Group(u32),
    /// A group that belongs to this entry alone and is created and deleted with it.
    OneShot(Vec<Choice>),
}

/// One of the actions among which a one-shot group chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What runs.
    pub call: Call,
    /// How many of the choices are this one; at least 1.
    pub weight: u32,
    /// The watch port: while it is down, this is not chosen.
    pub watch_port: Option<u32>,
}

/// What identifies an entry in its table.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryName {
    /// One per key of the table.
    pub key: Vec<FieldMatch>,
    /// The greater wins; 0 in tables without ternary, range or optional keys.
    pub priority: i32,
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// The table.
    pub table: TableId,
    /// Which entry; `None` for the default action.
    pub name: Option<EntryName>,
    /// What it runs. `None` means: when an entry is modified, leave it as it is; when the default action is modified,
    /// restore the program's own.
    pub action: Option<EntryAction>,
    /// Opaque data that the controller attaches.
    pub attributes: Attributes,
    /// Its direct counter. Written if given; read if the table has one and the query includes it.
    pub counter: Option<CounterCell>,
    /// Its direct meter: no rates, or these. Written if given; read if the table has one and the query includes it.
    pub meter: Option<Option<MeterConfig>>,
    /// Packets that its direct meter has marked with each colour. Written if given; read with the meter.
    pub meter_counts: Option<ColorCounts>,
    /// How long no packet has hit it. Read only.
    pub idle_ns: Option<u64>,
    /// Whether the program itself declares it as constant. Read only.
    pub is_const: bool,
}

impl TableEntry {
    /// An entry without attributes and direct values.
    pub fn new(table: TableId, name: Option<EntryName>, action: Option<EntryAction>) -> TableEntry {
        let attributes = Attributes::default();
        TableEntry {
            table,
            name,
            action,
            attributes,
            counter: None,
            meter: None,
            meter_counts: None,
            idle_ns: None,
            is_const: false,
        }
    }
}

/// A meter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeterValue {
    /// Its rates; without rates it leaves the colour of packets unchanged.
    pub config: Option<MeterConfig>,
    /// Packets that it has marked with each colour. Written if given; always read.
    pub counts: Option<ColorCounts>,
}

/// A direct resource of an entry or of the default action.
#[derive(Clone, Debug, PartialEq)]
pub struct Direct<T> {
    /// The table.
    pub table: TableId,
    /// Of which entry; [`Which::All`] in a write to those of all entries.
    pub which: Which,
    /// The value.
    pub value: T,
}

/// A member of an action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The profile.
    pub profile: ActionProfileId,
    /// The controller's number for it.
    pub id: u32,
    /// What it runs.
    pub call: Option<Call>,
}

/// A group of an action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The profile.
    pub profile: ActionProfileId,
    /// The controller's number for it.
    pub id: u32,
    /// The members among which it chooses.
    pub members: Vec<GroupMember>,
    /// How many members there may be; 0 for as many as the profile allows.
    pub size_max: u32,
}

/// A member as one of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The member's number.
    pub member: u32,
    /// How many of the choices are this one; at least 1.
    pub weight: u32,
    /// The watch port: while it is down, this is not chosen.
    pub watch_port: Option<u32>,
}

/// A cell of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<Id, T> {
    /// The array.
    pub array: Id,
    /// Which cell; `None` in a write to all of them.
    pub index: Option<u64>,
    /// Its value.
    pub value: T,
}

/// A copy of a packet, and its replacements while its port has no link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// The copy.
    pub primary: switch::Replica,
    /// Backups. While the port of the copy has no link, the first backup whose port has a link is used; none if none
    /// has.
    pub backups: Vec<switch::Replica>,
}

impl Replica {
    /// The copy that is made while these ports have no link.
    pub fn chosen(&self, ports_down: &OrderedSet<u32>) -> Option<switch::Replica> {
        // Without a backup nothing depends on a link: the port itself drops.
        let mut all = self.all();
        if self.backups.is_empty() { all.next() } else { all.find(|it| !ports_down.contains(&it.port)) }
    }

    /// Refuses duplicate replicas, and backups with the same port as the copy that they replace, as P4Runtime does.
    pub fn check_all(what: &str, replicas: &[Replica]) -> Result<(), Fault> {
        let mut seen = OrderedSet::new();
        if let Some(twice) = replicas.iter().flat_map(Replica::all).find(|it| !seen.insert((it.port, it.rid))) {
            return Err(Fault::invalid(format!(
                "{what}: the replica of port {} and instance {} is given twice",
                twice.port, twice.rid
            )));
        }
        let shares = |replica: &&Replica| replica.backups.iter().any(|backup| backup.port == replica.primary.port);
        match replicas.iter().find(shares) {
            Some(Replica { primary, .. }) => {
                let message = format!("{what}: the replica of port {} has a backup of the same port", primary.port);
                Err(Fault::invalid(message))
            }
            None => Ok(()),
        }
    }

    /// It and its backups, in order of preference.
    pub fn all(&self) -> impl Iterator<Item = switch::Replica> {
        std::iter::once(self.primary).chain(self.backups.iter().copied())
    }
}

impl From<switch::Replica> for Replica {
    fn from(primary: switch::Replica) -> Replica {
        Replica { primary, backups: Vec::new() }
    }
}

/// A multicast group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multicast {
    /// Its number, at least 1.
    pub group: u64,
    /// Its copies.
    pub replicas: Vec<Replica>,
    /// Opaque to the switch.
    pub metadata: Vec<u8>,
}

/// A clone session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloneSession {
    /// Its number.
    pub session: u32,
    /// Its copies.
    pub replicas: Vec<Replica>,
    /// The multicast group whose copies it makes, in place of `replicas`. A read has them there, too.
    pub group: Option<u64>,
    /// The class of service of the clones.
    pub class_of_service: u32,
    /// The most bytes of the packet that a clone gets; 0 for all.
    pub length_bytes_max: u32,
}

impl CloneSession {
    /// One without copies.
    pub fn new(session: u32) -> CloneSession {
        CloneSession { session, replicas: Vec::new(), group: None, class_of_service: 0, length_bytes_max: 0 }
    }
}

/// How the messages of a digest are grouped into lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestConfig {
    /// The longest that a message waits for others; 0 for not at all.
    pub timeout_max_ns: u64,
    /// The most messages in a list; 0 for as many as come.
    pub list_size_max: u32,
    /// After a message was sent, the same message is suppressed for this time unless it is acknowledged; 0 for no
    /// suppression.
    pub ack_timeout_ns: u64,
}

/// How much of a write must succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Atomicity {
    /// Each update by itself.
    #[default]
    ContinueOnError,
    /// All or none.
    RollbackOnError,
    /// All or none, and no packet sees a partial result.
    DataplaneAtomic,
}
