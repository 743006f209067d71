//! What a line of commands asks for: requests of P4Runtime, and what is to be done with the answers.

use crate::key::Given;
use control::Problem;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::{
    DigestEntry, DirectCounterEntry, Entity, FieldMatch, PacketOut, TableEntry, Update, ValueSetEntry, ValueSetMember,
    digest_entry, update,
};

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
    /// Everything that was written to the switch, as commands.
    Dump(Vec<Entity>),
    /// To carry out a command of `simple_switch_CLI`.
    Simple(String),
    /// To end.
    Quit,
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
    /// All entries that are not the program's own are deleted.
    Clear,
    /// The counters of all entries become 0.
    ResetDirectCounters,
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
            ChangeKind::ResetDirectCounters => kinds
                .filter_map(|kind| match kind {
                    Kind::DirectCounterEntry(it) => {
                        let zero = DirectCounterEntry { data: Some(Default::default()), ..it.clone() };
                        Some(update(Modify, Kind::DirectCounterEntry(zero)))
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

/// What names an entity: all that a deletion needs.
fn named(kind: &Kind) -> Kind {
    match kind {
        Kind::TableEntry(it) => Kind::TableEntry(TableEntry {
            table_id: it.table_id,
            r#match: it.r#match.clone(),
            priority: it.priority,
            ..TableEntry::default()
        }),
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
