//! Writes: updates, decoded one by one and carried out some at a time.
//!
//! What enters: the updates of a request as bytes, and how much of it must succeed. What leaves: the outcomes, as far
//! as an answer can tell of them. A request that may be carried out in part is never there as a whole in any other form
//! than that in which it came: a million updates take the memory of some, beside that of the entries that they make.
//! What must succeed as a whole is kept until it is known whether it does, for which memory is taken from the budget of
//! all clients.
//!
//! Packets see the parts of a write that may be cut as they come. Nobody else does: those who read, controllers of
//! other roles and who wants to be primary wait until all of it is there.

use crate::pipelines::Target;
use crate::role_config::{RoleConfig, p4_id};
use crate::schema::Schema;
use crate::status::Outcomes;
use crate::to_proto::{Asked, NumberedPorts, Shower};
use crate::translator::Name;
use crate::{from_proto, kept, words};
use control::api::{Atomicity, Code as FaultCode, Entity, Fault, Query, TableQuery, Update, UpdateKind, Which};
use p4runtime_proto::codec::Budget;
use p4runtime_proto::p4::v1;
use p4runtime_proto::weight;
use prost::Message as _;
use prost::bytes::Bytes;
use std::sync::Arc;
use tokio::sync::OwnedRwLockWriteGuard;
use tonic::Status;

/// Updates that are carried out at once, if a write may be cut.
const PIECE: usize = 1024;

/// What an update takes that is kept until all others of its batch have been carried out, with what is noted to take it
/// back: measured with two fields and two parameters.
const KEPT_UPDATE_BYTES: usize = 1200;

/// A write of so many table entries of so many bytes takes some ten microseconds.
const SHORT_UPDATES: usize = 8;
const SHORT_BYTES: usize = 4096;

/// Updates that are smaller than this are decoded without asking for memory: they become no more than a mebibyte.
const SMALL_BYTES: usize = 4096;

/// How often a request may wait for the numbers of names that what comes before it in the request gives back:
/// everything there is is looked through each time.
const WAITS_MAX: usize = 64;

/// Failures of a batch that are looked for once it is known that it fails.
const FAILURES_MAX: usize = 1024;

/// The role of who sends, in words, and what it may do.
type Limits = (String, Arc<RoleConfig>);

/// Carries updates out in their order. `limits` are those of the role of who sends, if it may not do everything.
/// Others have their turn when all is there; nobody but who sent it waits for the disk. An error if there is no memory
/// for the request as a whole.
pub(crate) fn carry_out(
    target: &Target,
    sent: Vec<Bytes>,
    atomicity: Atomicity,
    limits: Option<Limits>,
    turn: OwnedRwLockWriteGuard<()>,
    budget: Option<Arc<dyn Budget>>,
) -> Result<Outcomes, Status> {
    let has_words = words::are_needed(&target.schema);
    let mut reader = Reader { target, limits, budget, reserved_bytes: 0, has_words, has_swept: false, waits: 0 };
    let (mut outcomes, record) = match atomicity {
        Atomicity::ContinueOnError => in_pieces(&mut reader, sent),
        Atomicity::RollbackOnError | Atomicity::DataplaneAtomic => {
            let mut names = Vec::new();
            let done = as_a_whole(&mut reader, sent, atomicity, &mut names);
            settle_names(target, names);
            done?
        }
    };
    drop(turn);
    if let Err(fault) = target.api.synchronise(record) {
        outcomes.fail_all(&fault);
    }
    Ok(outcomes)
}

/// Whether these are a few table entries and no more, for which nobody else is asked: neither the worker, as for what
/// it keeps of entries, nor those who have a name, as for a number that may be free again.
pub(crate) fn is_short(schema: &Schema, sent: &[Bytes]) -> bool {
    sent.len() <= SHORT_UPDATES
        && sent.iter().map(Bytes::len).sum::<usize>() <= SHORT_BYTES
        && !words::are_needed(schema)
        && sent.iter().all(is_plain_entry)
}

fn is_plain_entry(bytes: &Bytes) -> bool {
    let update = v1::Update::decode(bytes.clone()).ok();
    let Some(v1::entity::Entity::TableEntry(entry)) = update.and_then(|update| update.entity?.entity) else {
        return false;
    };
    let has_cells = entry.counter_data.is_some() || entry.meter_config.is_some() || entry.meter_counter_data.is_some();
    let action = entry.action.and_then(|action| action.r#type);
    !has_cells && matches!(action, None | Some(v1::table_action::Type::Action(_)))
}

/// Decodes updates.
struct Reader<'a> {
    target: &'a Target,
    limits: Option<Limits>,
    budget: Option<Arc<dyn Budget>>,
    /// The most that was asked for a single update: as one is gone before the next comes, it serves for all.
    reserved_bytes: usize,
    /// Whether refusals must be put in the words of who sends: then updates are kept as they were sent.
    has_words: bool,
    /// Whether names that nothing has were looked for since something was carried out.
    has_swept: bool,
    /// How often an update has waited for what came before it to be carried out.
    waits: usize,
}

/// An update that was understood.
struct Read {
    update: Update,
    numbering: Option<Numbering>,
    /// As it was sent, if that is kept.
    sent: Option<Bytes>,
    /// Names that it brings.
    names: Vec<Name>,
}

impl Reader<'_> {
    /// None for an update that asks for nothing.
    fn read(&mut self, bytes: Bytes) -> Result<Option<Read>, Fault> {
        self.reserve(&bytes)?;
        let kept = self.has_words.then(|| bytes.clone());
        let sent = v1::Update::decode(bytes)
            .map_err(|error| Fault::invalid(format!("the update cannot be decoded: {error}")))?;
        self.check_role(&sent)?;
        let (update, names) = self.understand(&sent)?;
        Ok(update.map(|update| Read { numbering: numbering(&sent, &update), update, sent: kept, names }))
    }

    /// Refuses what the role of who sends does not have.
    fn check_role(&self, sent: &v1::Update) -> Result<(), Fault> {
        let (Some((role, config)), Some(entity)) = (&self.limits, &sent.entity) else { return Ok(()) };
        if config.admits(entity) {
            return Ok(());
        }
        let object = entity.entity.as_ref().and_then(p4_id).map(|id| (id, self.target.schema.model.object(id)));
        let what = match object {
            Some((_, Some(object))) => format!("the {} {}", object.kind().as_str(), object.name()),
            Some((id, None)) => format!("the id {id:#010x}"),
            None => "multicast groups and clone sessions, which are of roles without one".to_owned(),
        };
        let message = format!("the configuration of {role} does not list {what}");
        Err(Fault::new(FaultCode::PermissionDenied, message))
    }

    /// What an update means, and the names that it brings.
    fn understand(&mut self, sent: &v1::Update) -> Result<(Option<Update>, Vec<Name>), Fault> {
        let schema = &self.target.schema;
        let mut update = from_proto::update(schema, sent);
        let is_exhausted = |fault: &Fault| fault.code == FaultCode::ResourceExhausted;
        if update.as_ref().is_err_and(is_exhausted) && !std::mem::replace(&mut self.has_swept, true) {
            sweep_names(self.target)?;
            schema.translator.take_met();
            update = from_proto::update(schema, sent);
        }
        let names = schema.translator.take_met();
        Ok((update?, names))
    }

    /// Whether an update that was refused may have what it lacks once those before it are carried out.
    fn waits_for(&mut self, refused: &Fault, before: &[Update]) -> bool {
        let may_free = || before.iter().any(|update| update.kind != UpdateKind::Insert);
        let waits = refused.code == FaultCode::ResourceExhausted && self.waits < WAITS_MAX && may_free();
        self.waits += usize::from(waits);
        waits
    }

    /// Takes memory for an update that may become large.
    fn reserve(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() < SMALL_BYTES {
            return Ok(());
        }
        let needed = weight::decoded_bytes("p4.v1.Update", bytes);
        if needed > self.reserved_bytes {
            self.take(needed - self.reserved_bytes)
                .map_err(|status| Fault::new(FaultCode::ResourceExhausted, status.message()))?;
            self.reserved_bytes = needed;
        }
        Ok(())
    }

    fn take(&self, bytes: usize) -> Result<(), Status> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.take(bytes))
    }
}

/// Carries out those updates that can be. Returns what must be synchronised before they are acknowledged, too.
fn in_pieces(reader: &mut Reader<'_>, sent: Vec<Bytes>) -> (Outcomes, u64) {
    let mut outcomes = Outcomes::default();
    let mut sent = sent.into_iter();
    let mut last = 0;
    // What waits for those before it.
    let mut waiting: Option<Bytes> = None;
    while sent.len() > 0 || waiting.is_some() {
        let count = PIECE.min(sent.len() + 1);
        let (mut batch, mut piece) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for bytes in waiting.take().into_iter().chain(sent.by_ref()).take(PIECE) {
            let read = reader.read(bytes.clone());
            if read.as_ref().is_err_and(|refused| reader.waits_for(refused, &batch)) {
                waiting = Some(bytes);
                break;
            }
            piece.push(read.map(|read| {
                read.map(|read| {
                    batch.push(read.update);
                    (read.numbering, read.sent, read.names)
                })
            }));
        }
        let mut names = Vec::new();
        last = carry_out_piece(reader.target, batch, piece, &mut outcomes, &mut names).max(last);
        settle_names(reader.target, names);
        reader.has_swept = false;
    }
    (outcomes, last)
}

/// What is left of an update that was understood: the number that it gives to a port, its bytes, if a refusal is to be
/// in their words, and the names that it brings.
type Understood = (Option<Numbering>, Option<Bytes>, Vec<Name>);

/// Carries out those updates that were understood. Returns what must be synchronised before they are acknowledged, and
/// adds the names that are there now.
fn carry_out_piece(
    target: &Target,
    batch: Vec<Update>,
    piece: Vec<Result<Option<Understood>, Fault>>,
    outcomes: &mut Outcomes,
    there: &mut Vec<Name>,
) -> u64 {
    // Before the entries that have them: a number must not be given to two names.
    if let Err(fault) = target.api.keep_notes(kept::names(&target.schema.translator)) {
        target.api.count_refused(piece.len());
        piece.into_iter().for_each(|read| outcomes.push(Err(read.err().unwrap_or_else(|| fault.clone()))));
        return 0;
    }
    let (done, record) = target.api.write_ahead(batch, Atomicity::ContinueOnError);
    let mut done = done.into_iter();
    for read in piece {
        outcomes.push(match read {
            Ok(None) => Ok(()),
            Ok(Some((numbering, sent, names))) => {
                let outcome = done.next().unwrap_or(Ok(()));
                if is_carried_out(&outcome) {
                    there.extend(names);
                }
                let outcome = outcome.map_err(|fault| in_words(target, fault, sent));
                outcome.and_then(|()| number_ports(target, numbering.as_slice()))
            }
            Err(fault) => {
                target.api.count_refused(1);
                Err(fault)
            }
        });
    }
    record
}

/// Whether an update was carried out, though a restart may forget it.
fn is_carried_out(outcome: &Result<(), Fault>) -> bool {
    outcome.as_ref().map_or_else(|fault| fault.code == FaultCode::Unavailable, |()| true)
}

/// Gives the numbers of names back that came with updates that were not carried out.
fn settle_names(target: &Target, there: Vec<Name>) {
    forget(target, target.schema.translator.settle(there));
}

/// Gives the numbers of names back that nothing has any more.
fn sweep_names(target: &Target) -> Result<(), Fault> {
    let Schema { translator, program, .. } = &*target.schema;
    let entries = |which| Query::TableEntries(TableQuery { which, ..TableQuery::default() });
    let queries = [
        entries(Which::All),
        entries(Which::Default),
        Query::Members { profile: None, id: None },
        Query::ValueSets(None),
        Query::Registers { array: None, index: None },
    ];
    let numbered = NumberedPorts::default();
    let shower = Shower { schema: &target.schema, numbered: &numbered, asked: Asked::default() };
    translator.begin_sweep();
    let read = queries.iter().try_for_each(|query| {
        target.api.read_of(program, query, &mut |entities: Vec<Entity>| {
            entities.iter().for_each(|entity| drop(shower.entity(entity)));
            true
        })
    });
    forget(target, translator.end_sweep(read.is_ok()));
    read
}

fn forget(target: &Target, names: Vec<Name>) {
    if let Err(fault) = target.api.keep_notes(kept::without_names(names)) {
        tracing::warn!("names that nothing has: {fault}");
    }
}

fn as_a_whole(
    reader: &mut Reader<'_>,
    sent: Vec<Bytes>,
    atomicity: Atomicity,
    there: &mut Vec<Name>,
) -> Result<(Outcomes, u64), Status> {
    let count = sent.len();
    let (mut batch, mut understood, mut numberings) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::new());
    let mut refused: Vec<(usize, Fault)> = Vec::new();
    for (position, bytes) in sent.into_iter().enumerate() {
        if position % PIECE == 0 {
            reader.take((count - position).min(PIECE) * KEPT_UPDATE_BYTES)?;
        }
        match reader.read(bytes) {
            Ok(None) => {}
            Ok(Some(read)) => {
                batch.push(read.update);
                understood.push((position, read.sent, read.names));
                numberings.extend(read.numbering);
            }
            Err(fault) => {
                refused.push((position, fault));
                if refused.len() == FAILURES_MAX {
                    break;
                }
            }
        }
    }
    let target = reader.target;
    if let Some((first, _)) = refused.first() {
        target.api.count_refused(count);
        let not_tried = Fault::new(FaultCode::Aborted, format!("not tried: update {first} of the batch was refused"));
        return Ok((scattered(count, refused, &Err(not_tried)), 0));
    }
    // Before the entries that have them: a number must not be given to two names.
    let noted = target.api.keep_notes(kept::names(&target.schema.translator));
    let (outcomes, record) = match noted {
        Ok(()) => target.api.write_ahead(batch, atomicity),
        Err(fault) => {
            target.api.count_refused(batch.len());
            (vec![Err(fault); batch.len()], 0)
        }
    };
    let all_done = outcomes.iter().all(Result::is_ok);
    let failed = understood.into_iter().zip(outcomes).filter_map(|((at, sent, names), outcome)| {
        if is_carried_out(&outcome) {
            there.extend(names);
        }
        Some((at, in_words(target, outcome.err()?, sent)))
    });
    let mut outcomes = scattered(count, failed, &Ok(()));
    if all_done && let Err(fault) = number_ports(target, &numberings) {
        outcomes.fail_all(&fault);
    }
    Ok((outcomes, record))
}

/// A refusal in the words of who sent the update, if that was kept.
fn in_words(target: &Target, fault: Fault, sent: Option<Bytes>) -> Fault {
    match sent {
        Some(sent) => words::in_those_of(&target.schema, fault, &sent),
        None => fault,
    }
}

/// These failures in their places, in order, and something else in all others.
fn scattered(count: usize, failed: impl IntoIterator<Item = (usize, Fault)>, others: &Result<(), Fault>) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut failed = failed.into_iter().peekable();
    for position in 0..count {
        outcomes.push(match failed.next_if(|(at, _)| *at == position) {
            Some((_, fault)) => Err(fault),
            None => others.clone(),
        });
    }
    outcomes
}

/// How the ports of a group or session were written.
struct Numbering {
    group: Option<u64>,
    session: Option<u32>,
    as_numbers: bool,
}

/// Notes how ports were written, where that has changed.
fn number_ports(target: &Target, numberings: &[Numbering]) -> Result<(), Fault> {
    if numberings.is_empty() {
        return Ok(());
    }
    let notes = {
        let mut known = target.numbered();
        numberings.iter().filter_map(|numbering| numbering.apply(&mut known)).collect()
    };
    target.api.keep_notes(notes)
}

impl Numbering {
    /// Its note, if something has changed.
    fn apply(&self, known: &mut NumberedPorts) -> Option<(String, serde_json::Value)> {
        let as_numbers = self.as_numbers;
        if let Some(group) = self.group {
            let changed = if as_numbers { known.groups.insert(group) } else { known.groups.remove(&group) };
            return changed.then(|| kept::numbered_group(group, as_numbers));
        }
        let session = self.session?;
        let changed = if as_numbers { known.sessions.insert(session) } else { known.sessions.remove(&session) };
        changed.then(|| kept::numbered_session(session, as_numbers))
    }
}

fn numbering(sent: &v1::Update, read: &Update) -> Option<Numbering> {
    use v1::packet_replication_engine_entry::Type;
    let (group, session) = match &read.entity {
        Entity::Multicast(it) => (Some(it.group), None),
        Entity::CloneSession(it) => (None, Some(it.session)),
        _ => return None,
    };
    let entity = sent.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    let replicas = match entity {
        Some(v1::entity::Entity::PacketReplicationEngineEntry(it)) => match &it.r#type {
            Some(Type::MulticastGroupEntry(it)) => it.replicas.as_slice(),
            Some(Type::CloneSessionEntry(it)) => it.replicas.as_slice(),
            None => &[],
        },
        _ => &[],
    };
    let is_number = |it: &v1::Replica| matches!(it.port_kind, Some(v1::replica::PortKind::EgressPort(_)));
    let as_numbers = read.kind != UpdateKind::Delete && replicas.iter().any(is_number);
    Some(Numbering { group, session, as_numbers })
}
