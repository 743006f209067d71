//! What a line of commands asks for: requests of P4Runtime, and what is to be done with the answers.

use crate::key::Given;
use control::Problem;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::stream_message_response::Update as Told;
use p4runtime_proto::p4::v1::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, DigestEntry, DirectCounterEntry, DirectMeterEntry,
    Entity, FieldMatch, MulticastGroupEntry, PacketOut, PacketReplicationEngineEntry, TableEntry, Update,
    ValueSetEntry, ValueSetMember, digest_entry, packet_replication_engine_entry, update,
};
use p4runtime_proto::wirespeed::v1::TimerChange;
use prost::Message as _;
use std::collections::BTreeMap;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Nothing: the line is empty.
    Nothing,
    /// What the P4Info alone answers.
    Say(String),
    /// To write this.
    Write(Vec<Update>),
    /// To read this and show it.
    Read(Read),
    /// To read, and to write what follows from what is there.
    Change(Change),
    /// To send a packet.
    PacketOut(PacketOut),
    /// To give the switch a program.
    Load(Load),
    /// To run the program that was saved.
    Commit,
    /// To show what the switch tells, as it comes.
    Watch(Watched),
    /// How the switch is.
    Status,
    /// How many workers there are; to change that first, if something is wanted.
    Workers(Option<WantedWorkers>),
    /// The timers of ports; to change one first, if that is wanted.
    Timers(Option<TimerChange>),
    /// How full tables are, and the memory that they take.
    Sizes,
    /// What was written to the switch, as commands.
    Dump(Dump),
    /// To trace packets as they arrive.
    Trace(Traced),
    /// To carry out a command of `simple_switch_CLI`.
    Simple(String),
    /// To end.
    Quit,
}

/// Which packets are traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// How many.
    pub count: u64,
    /// Those of these ports; of all ports if there is none.
    pub ports: Vec<u32>,
    /// Those that have all of these bytes.
    pub bytes: Vec<TracedBytes>,
    /// Those whose fields have these values, each a name and a value as they were written.
    pub fields: Vec<(String, String)>,
}

/// Bytes at a place of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedBytes {
    /// Where they begin.
    pub offset: u32,
    /// Which they are.
    pub value: Vec<u8>,
}

/// How many workers a switch should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedWorkers {
    /// This many.
    Count(u32),
    /// As many as the load asks for.
    Auto,
}

/// What is read, and what of it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// What is asked for.
    pub entities: Vec<Entity>,
    /// Which of the entries that come back are meant.
    pub filter: Filter,
}

/// Entries that are meant: those that ask for the same of the keys that are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// One per key of the table, with the key's id; none for all entries.
    pub keys: Vec<(u32, Given)>,
    /// Of this priority; 0 for any.
    pub priority: i32,
}

impl Filter {
    /// Whether the entity is meant.
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

/// What was written to the switch, as commands that write it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump {
    /// Commands that take back whatever was written before.
    pub before: Vec<String>,
    /// What is read, in the order in which it can be written.
    pub entities: Vec<Entity>,
}

/// A program for the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The file with its source.
    pub path: String,
    /// How far to go with it.
    pub how: LoadHow,
}

/// How far to go with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadHow {
    /// It runs, with nothing written to it.
    Fresh,
    /// It runs, with the state that both programs have.
    Reconcile,
    /// Only whether it could run is wanted.
    Verify,
    /// It is kept until `commit`.
    Save,
}

/// What is shown of what the switch tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages of a stream")]
pub struct Watched {
    pub packets: bool,
    pub digests: bool,
    pub timeouts: bool,
    pub mastership: bool,
}

impl Watched {
    pub(crate) fn wants(self, told: &Told) -> bool {
        match told {
            Told::Packet(_) => self.packets,
            Told::Digest(_) => self.digests,
            Told::IdleTimeoutNotification(_) => self.timeouts,
            Told::Arbitration(_) => self.mastership,
            Told::Error(_) | Told::Other(_) => true,
        }
    }
}

/// What is read, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What is asked for.
    pub entities: Vec<Entity>,
    /// What is made of it.
    pub kind: ChangeKind,
}

/// What is made of what is there.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// All of it is deleted that is not the program's own.
    Clear,
    /// The counters of all entries become 0, and their meters as those of new entries.
    ResetDirect,
    /// A member joins a value set.
    AddToValueSet(Vec<FieldMatch>),
    /// A member leaves a value set.
    DeleteFromValueSet(Vec<FieldMatch>),
    /// Messages of a digest are wanted.
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
    /// What is written, if this is there.
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

/// What there is of this after updates, if this was there before them: a later line of a batch speaks of what the
/// earlier ones leave.
pub fn after(asked: &[Entity], found: Vec<Entity>, updates: &[Update]) -> Vec<Entity> {
    let name = |kind: &Kind| entity(named(kind)).encode_to_vec();
    let mut all: BTreeMap<Vec<u8>, Entity> = BTreeMap::new();
    let kind_of = |it: &Entity| it.entity.as_ref().map(name);
    all.extend(found.into_iter().filter_map(|it| Some((kind_of(&it)?, it))));
    for update in updates {
        let Some(kind) = update.entity.as_ref().and_then(|it| it.entity.as_ref()) else { continue };
        // The counter and the meter of an entry go with it.
        if let (Kind::TableEntry(it), update::Type::Delete) = (kind, update.r#type()) {
            let table_entry = Some(it.clone());
            let counter = DirectCounterEntry { table_entry: table_entry.clone(), data: None };
            all.remove(&name(&Kind::DirectCounterEntry(counter)));
            let meter = DirectMeterEntry { table_entry, ..DirectMeterEntry::default() };
            all.remove(&name(&Kind::DirectMeterEntry(meter)));
        }
        if !asked.iter().any(|it| it.entity.as_ref().is_some_and(|asked| is_asked_for(asked, kind))) {
            continue;
        }
        match update.r#type() {
            update::Type::Delete => all.remove(&name(kind)),
            _ => all.insert(name(kind), entity(kind.clone())),
        };
    }
    all.into_values().collect()
}

/// Whether an entity is among those that a read request asks for.
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

/// What names an entity: all that a deletion needs.
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

/// How the messages of a digest are wanted, if nothing is said: singly, and without acknowledgement.
pub fn digest_config() -> digest_entry::Config {
    digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 0 }
}
