//! What a line of commands means: P4Runtime requests, and what to do with the responses.

use crate::key::Given;
use base::OrderedMap;
use control::Problem;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, DigestEntry, DirectCounterEntry, DirectMeterEntry,
    Entity, FieldMatch, MulticastGroupEntry, PacketOut, PacketReplicationEngineEntry, TableEntry, Update,
    ValueSetEntry, ValueSetMember, digest_entry, packet_replication_engine_entry, update,
};
use p4runtime_proto::wirespeed::v1::TimerChange;
use prost::Message as _;

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Nothing: the line is empty.
    Nothing,
    /// Shows a text that follows from the P4Info alone.
    Say(String),
    /// Writes these updates.
    Write(Vec<Update>),
    /// Reads entities and shows them.
    Read(Read),
    /// Reads entities, and writes updates that depend on them.
    Change(Change),
    /// Sends a packet.
    PacketOut(PacketOut),
    /// Gives the switch a program.
    Load(Load),
    /// Runs the program that was saved.
    Commit,
    /// Shows the messages of the switch as they arrive.
    Watch(Watched),
    /// Shows the state of the switch.
    Status,
    /// Shows the workers, after changing their number if one is given.
    Workers(Option<WantedWorkers>),
    /// Shows the timers of ports, after changing one if a change is given.
    Timers(Option<TimerChange>),
    /// Shows the fill levels of tables and their memory.
    Sizes,
    /// Shows the state of the switch as commands.
    Dump(Dump),
    /// Traces packets as they arrive.
    Trace(Traced),
    /// Runs a command of `simple_switch_CLI`.
    Simple(String),
    /// Quits.
    Quit,
}

/// Which packets are traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// How many.
    pub count: u64,
    /// Packets of these ports; of all ports if the list is empty.
    pub ports: Vec<u32>,
    /// Packets that contain all of these bytes.
    pub bytes: Vec<TracedBytes>,
    /// Packets whose fields have these values; each is a name and a value as written.
    pub fields: Vec<(String, String)>,
}

/// Bytes at a place of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedBytes {
    /// The offset of the first byte.
    pub offset: u32,
    /// The bytes.
    pub value: Vec<u8>,
}

/// The requested number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedWorkers {
    /// This many.
    Count(u32),
    /// As many as the load requires.
    Auto,
}

/// What to read, and what of it to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The entities to request.
    pub entities: Vec<Entity>,
    /// Which of the returned entities to show.
    pub filter: Filter,
}

/// Selects entries whose matches equal those of the given keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// One per key of the table, with the key's id; empty for all entries.
    pub keys: Vec<(u32, Given)>,
    /// The priority; 0 for any.
    pub priority: i32,
}

impl Filter {
    /// Whether the filter selects the entity.
    pub fn admits(&self, entity: &Entity) -> bool {
        let entry = match &entity.entity {
            Some(Kind::TableEntry(it)) => Some(it),
            Some(Kind::DirectCounterEntry(it)) => it.table_entry.as_ref(),
            Some(Kind::DirectMeterEntry(it)) => it.table_entry.as_ref(),
            _ => None,
        };
        entry.is_none_or(|entry| entry.is_default_action && self.is_everything() || self.admits_entry(entry))
    }

    fn is_everything(&self) -> bool {
        self.priority == 0 && self.keys.iter().all(|(_, given)| *given == Given::Absent)
    }

    fn admits_entry(&self, entry: &TableEntry) -> bool {
        let found = |id: u32| entry.r#match.iter().find(|it| it.field_id == id);
        let agrees = |(id, given): &(u32, Given)| match given {
            Given::Absent => true,
            Given::Any => found(*id).is_none(),
            Given::Match(it) => found(*id) == Some(it),
        };
        (self.priority == 0 || self.priority == entry.priority) && self.keys.iter().all(agrees)
    }
}

/// The state of the switch as commands that restore it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump {
    /// Commands that undo earlier writes.
    pub before: Vec<String>,
    /// The entities to read, in an order in which they can be written.
    pub entities: Vec<Entity>,
}

/// A program for the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The source file.
    pub path: String,
    /// What to do with it.
    pub how: LoadHow,
}

/// What to do with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadHow {
    /// Run it without any written state.
    Fresh,
    /// Run it, and keep the state that both programs have.
    Reconcile,
    /// Only check whether it could run.
    Verify,
    /// Keep it until `commit`.
    Save,
}

/// Which messages of the switch to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages of a stream")]
pub struct Watched {
    pub packets: bool,
    pub digests: bool,
    pub timeouts: bool,
    pub mastership: bool,
}

impl Watched {
    pub(crate) fn wants(self, update: &StreamUpdate) -> bool {
        match update {
            StreamUpdate::Packet(_) => self.packets,
            StreamUpdate::Digest(_) => self.digests,
            StreamUpdate::IdleTimeoutNotification(_) => self.timeouts,
            StreamUpdate::Arbitration(_) => self.mastership,
            StreamUpdate::Error(_) | StreamUpdate::Other(_) => true,
        }
    }
}

/// What to read, and what to write as a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The entities to request.
    pub entities: Vec<Entity>,
    /// What to do with them.
    pub kind: ChangeKind,
}

/// What to do with the entities that were read.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// Delete all of them, except those that are part of the program.
    Clear,
    /// Set the counters of all entries to 0, and their meters to the state of new entries.
    ResetDirect,
    /// Add a member to a value set.
    AddToValueSet(Vec<FieldMatch>),
    /// Remove a member from a value set.
    DeleteFromValueSet(Vec<FieldMatch>),
    /// Subscribe to a digest.
    DigestOn(DigestEntry),
}

/// An entity of this kind.
pub fn entity(kind: Kind) -> Entity {
    Entity { entity: Some(kind) }
}

/// An update.
pub fn update(kind: update::Type, of: Kind) -> Update {
    Update { r#type: kind as i32, entity: Some(entity(of)) }
}

impl Change {
    /// The updates to write, given the entities that were read.
    pub fn updates(&self, found: &[Entity]) -> Result<Vec<Update>, Problem> {
        use update::Type::{Delete, Insert, Modify};
        let kinds = found.iter().filter_map(|entity| entity.entity.as_ref());
        Ok(match &self.kind {
            ChangeKind::Clear => kinds
                .filter(|kind| !matches!(kind, Kind::TableEntry(it) if it.is_const || it.is_default_action))
                .map(|kind| update(Delete, named(kind)))
                .collect(),
            ChangeKind::ResetDirect => kinds
                .filter_map(|kind| match kind {
                    Kind::DirectCounterEntry(it) => {
                        let zero = DirectCounterEntry { data: Some(Default::default()), ..it.clone() };
                        Some(update(Modify, Kind::DirectCounterEntry(zero)))
                    }
                    Kind::DirectMeterEntry(it) if it.config.is_some() => {
                        Some(update(Modify, Kind::DirectMeterEntry(DirectMeterEntry { config: None, ..it.clone() })))
                    }
                    _ => None,
                })
                .collect(),
            ChangeKind::AddToValueSet(member) => {
                let mut set = value_set(kinds)?;
                if set.members.iter().any(|it| it.r#match == *member) {
                    return Err(Problem::new("the value set has this member already"));
                }
                set.members.push(ValueSetMember { r#match: member.clone() });
                vec![update(Modify, Kind::ValueSetEntry(set))]
            }
            ChangeKind::DeleteFromValueSet(member) => {
                let mut set = value_set(kinds)?;
                let position = set.members.iter().position(|it| it.r#match == *member);
                set.members.remove(position.ok_or_else(|| Problem::new("the value set has no such member"))?);
                vec![update(Modify, Kind::ValueSetEntry(set))]
            }
            ChangeKind::DigestOn(entry) => {
                let is_on = kinds.into_iter().any(|kind| {
                    matches!(kind, Kind::DigestEntry(it) if it.digest_id == entry.digest_id && it.config.is_some())
                });
                vec![update(if is_on { Modify } else { Insert }, Kind::DigestEntry(*entry))]
            }
        })
    }
}

/// The entities that exist after `updates`, given those that existed before: a line of a batch depends on the results
/// of the earlier lines.
pub fn after(asked: &[Entity], found: Vec<Entity>, updates: &[Update]) -> Vec<Entity> {
    let mut all: OrderedMap<Vec<u8>, Entity> = OrderedMap::new();
    let kind_of = |it: &Entity| it.entity.as_ref().map(identity);
    all.extend(found.into_iter().filter_map(|it| Some((kind_of(&it)?, it))));
    for update in updates {
        let Some(kind) = update.entity.as_ref().and_then(|it| it.entity.as_ref()) else { continue };
        // An entry's counter and meter are deleted with it.
        if let (Kind::TableEntry(it), update::Type::Delete) = (kind, update.r#type()) {
            let table_entry = Some(it.clone());
            let counter = DirectCounterEntry { table_entry: table_entry.clone(), data: None };
            all.remove(&identity(&Kind::DirectCounterEntry(counter)));
            let meter = DirectMeterEntry { table_entry, ..DirectMeterEntry::default() };
            all.remove(&identity(&Kind::DirectMeterEntry(meter)));
        }
        if !asked.iter().any(|it| it.entity.as_ref().is_some_and(|asked| is_asked_for(asked, kind))) {
            continue;
        }
        match update.r#type() {
            update::Type::Delete => all.remove(&identity(kind)),
            _ => all.insert(identity(kind), entity(kind.clone())),
        };
    }
    all.into_values().collect()
}

/// What identifies an entity, as bytes: those of two updates are equal if the updates are about the same entity.
pub fn identity(kind: &Kind) -> Vec<u8> {
    entity(named(kind)).encode_to_vec()
}

/// Whether an entity is among those that a read request names.
fn is_asked_for(asked: &Kind, kind: &Kind) -> bool {
    use packet_replication_engine_entry::Type::{CloneSessionEntry, MulticastGroupEntry};
    let fits = |asked: u32, id: u32| asked == 0 || asked == id;
    match (asked, kind) {
        (Kind::TableEntry(asked), Kind::TableEntry(it)) => fits(asked.table_id, it.table_id),
        (Kind::ActionProfileMember(asked), Kind::ActionProfileMember(it)) => {
            fits(asked.action_profile_id, it.action_profile_id)
        }
        (Kind::ActionProfileGroup(asked), Kind::ActionProfileGroup(it)) => {
            fits(asked.action_profile_id, it.action_profile_id)
        }
        (Kind::ValueSetEntry(asked), Kind::ValueSetEntry(it)) => fits(asked.value_set_id, it.value_set_id),
        (Kind::DigestEntry(asked), Kind::DigestEntry(it)) => fits(asked.digest_id, it.digest_id),
        (Kind::PacketReplicationEngineEntry(asked), Kind::PacketReplicationEngineEntry(it)) => {
            matches!(
                (&asked.r#type, &it.r#type),
                (Some(MulticastGroupEntry(_)), Some(MulticastGroupEntry(_)))
                    | (Some(CloneSessionEntry(_)), Some(CloneSessionEntry(_)))
            )
        }
        _ => false,
    }
}

fn named_entry(it: &TableEntry) -> TableEntry {
    TableEntry {
        table_id: it.table_id,
        r#match: it.r#match.clone(),
        priority: it.priority,
        is_default_action: it.is_default_action,
        ..TableEntry::default()
    }
}

/// The identity of an entity, which is all that a deletion needs.
fn named(kind: &Kind) -> Kind {
    use packet_replication_engine_entry::Type;
    match kind {
        Kind::TableEntry(it) => Kind::TableEntry(named_entry(it)),
        Kind::DirectCounterEntry(it) => {
            let table_entry = it.table_entry.as_ref().map(named_entry);
            Kind::DirectCounterEntry(DirectCounterEntry { table_entry, data: None })
        }
        Kind::DirectMeterEntry(it) => {
            let table_entry = it.table_entry.as_ref().map(named_entry);
            Kind::DirectMeterEntry(DirectMeterEntry { table_entry, ..DirectMeterEntry::default() })
        }
        Kind::ActionProfileMember(it) => Kind::ActionProfileMember(ActionProfileMember { action: None, ..it.clone() }),
        Kind::ActionProfileGroup(it) => {
            Kind::ActionProfileGroup(ActionProfileGroup { members: vec![], max_size: 0, ..it.clone() })
        }
        Kind::ValueSetEntry(it) => Kind::ValueSetEntry(ValueSetEntry { members: vec![], ..it.clone() }),
        Kind::DigestEntry(it) => Kind::DigestEntry(DigestEntry { config: None, ..*it }),
        Kind::PacketReplicationEngineEntry(it) => {
            let r#type = it.r#type.as_ref().map(|it| match it {
                Type::MulticastGroupEntry(MulticastGroupEntry { multicast_group_id, .. }) => {
                    Type::MulticastGroupEntry(MulticastGroupEntry {
                        multicast_group_id: *multicast_group_id,
                        ..MulticastGroupEntry::default()
                    })
                }
                Type::CloneSessionEntry(CloneSessionEntry { session_id, .. }) => {
                    Type::CloneSessionEntry(CloneSessionEntry {
                        session_id: *session_id,
                        ..CloneSessionEntry::default()
                    })
                }
            });
            Kind::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type })
        }
        other => other.clone(),
    }
}

fn value_set<'a>(mut kinds: impl Iterator<Item = &'a Kind>) -> Result<ValueSetEntry, Problem> {
    let found = kinds.find_map(|kind| match kind {
        Kind::ValueSetEntry(it) => Some(it.clone()),
        _ => None,
    });
    found.ok_or_else(|| Problem::new("the switch does not know the value set"))
}

/// The default configuration of a digest: one digest per message, without acknowledgement.
pub fn digest_config() -> digest_entry::Config {
    digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 0 }
}
