//! Writes: updates, decoded one by one and carried out some at a time.
//!
//! What enters: the encoded updates of a request, and its atomicity. What leaves: the outcomes, as far as a response
//! can contain them. A request that may be carried out in part is never decoded as a whole: a million updates take
//! the memory of some, beside that of the entries that they create. The updates of an atomic request are kept until
//! it is known whether it succeeds; memory for them is reserved from the budget of all clients.
//!
//! Packets see the parts of a non-atomic write as they are carried out. Other clients do not: reads, controllers of
//! other roles and bids wait until the whole write is done.

use crate::pipelines::Pipeline;
use crate::role_config::{RoleConfig, p4_id};
use crate::schema::Schema;
use crate::status::Outcomes;
use crate::to_proto::{Asked, Encoder, NumberedPorts};
use crate::translator::Name;
use crate::{error_text, from_proto, kept};
use control::api::{Atomicity, Code as FaultCode, Entity, Fault, Query, TableQuery, Update, UpdateKind, Which};
use p4runtime_proto::codec::Budget;
use p4runtime_proto::p4::v1;
use p4runtime_proto::weight;
use p4runtime_proto::wire::Wire as _;
use prost::bytes::Bytes;
use std::sync::Arc;
use tokio::sync::OwnedRwLockWriteGuard;
use tonic::Status;

/// Updates that are carried out at once, if a write may be split.
const PIECE: usize = 1024;

/// The memory of an update that is kept until all others of its batch have been carried out, with its undo record:
/// measured with two fields and two parameters.
const KEPT_UPDATE_BYTES: usize = 1200;

/// A write of up to this many table entries and bytes takes some ten microseconds.
const SHORT_UPDATES: usize = 8;
const SHORT_BYTES: usize = 4096;

/// Updates that are smaller than this are decoded without a reservation: they become no more than a mebibyte.
const SMALL_BYTES: usize = 4096;

/// How often a request may wait for numbers of names that its earlier updates free: all state is searched each time.
const WAITS_MAX: usize = 64;

/// The most failures of a batch that are determined once it is known that it fails.
const FAILURES_MAX: usize = 1024;

/// The sender's role, for messages, and its permissions.
type Limits = (String, Arc<RoleConfig>);

/// Carries out updates in order. `limits` are those of the sender's role, if it does not have full access. Other
/// requests wait until the write is done; only its sender waits for the disk. An error if there is not enough memory
/// for the request as a whole.
pub(crate) fn carry_out(
    target: &Pipeline,
    sent: Vec<Bytes>,
    atomicity: Atomicity,
    limits: Option<Limits>,
    turn: OwnedRwLockWriteGuard<()>,
    budget: Option<Arc<dyn Budget>>,
) -> Result<Outcomes, Status> {
    let has_words = error_text::are_needed(&target.schema);
    let mut reader = Reader { target, limits, budget, reserved_bytes: 0, has_words, has_swept: false, waits: 0 };
    let (mut outcomes, record) = match atomicity {
        Atomicity::ContinueOnError => in_pieces(&mut reader, sent),
        Atomicity::RollbackOnError | Atomicity::DataplaneAtomic => {
            let mut names = Vec::new();
            let done = as_a_whole(&mut reader, sent, atomicity, &mut names);
            commit_names(target, names);
            done?
        }
    };
    drop(turn);
    if let Err(fault) = target.api.synchronise(record) {
        outcomes.fail_all(&fault);
    }
    Ok(outcomes)
}

/// Whether these are only a few table entries that need nothing else: neither the worker, as for an entry's counters,
/// nor a free number for a name.
pub(crate) fn is_short(schema: &Schema, sent: &[Bytes]) -> bool {
    sent.len() <= SHORT_UPDATES
        && sent.iter().map(Bytes::len).sum::<usize>() <= SHORT_BYTES
        && !error_text::are_needed(schema)
        && sent.iter().all(is_plain_entry)
}

fn is_plain_entry(bytes: &Bytes) -> bool {
    let update = v1::Update::from_bytes(bytes.clone()).ok();
    let Some(v1::entity::Entity::TableEntry(entry)) = update.and_then(|update| update.entity?.entity) else {
        return false;
    };
    let has_cells = entry.counter_data.is_some() || entry.meter_config.is_some() || entry.meter_counter_data.is_some();
    let action = entry.action.and_then(|action| action.r#type);
    !has_cells && matches!(action, None | Some(v1::table_action::Type::Action(_)))
}

/// Decodes updates.
struct Reader<'a> {
    target: &'a Pipeline,
    limits: Option<Limits>,
    budget: Option<Arc<dyn Budget>>,
    /// The largest reservation for a single update: as one is dropped before the next is decoded, it serves for all.
    reserved_bytes: usize,
    /// Whether refusals must use the sender's names: then updates are kept as they were sent.
    has_words: bool,
    /// Whether unused names were searched since something was carried out.
    has_swept: bool,
    /// How often an update has waited until earlier ones were carried out.
    waits: usize,
}

/// A decoded update.
struct Read {
    update: Update,
    numbering: Option<Numbering>,
    /// As it was sent, if that is kept.
    sent: Option<Bytes>,
    /// New names in it.
    names: Vec<Name>,
}

impl Reader<'_> {
    /// None for an update that requests no change.
    fn read(&mut self, bytes: Bytes) -> Result<Option<Read>, Fault> {
        self.reserve(&bytes)?;
        let kept = self.has_words.then(|| bytes.clone());
        let sent = v1::Update::from_bytes(bytes)
            .map_err(|error| Fault::invalid(format!("the update cannot be decoded: {error}")))?;
        self.check_role(&sent)?;
        let (update, names) = self.understand(&sent)?;
        Ok(update.map(|update| Read { numbering: numbering(&sent, &update), update, sent: kept, names }))
    }

    /// Refuses what the sender's role does not permit.
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

    /// Decodes an update, and the new names in it.
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

    /// Whether a refused update may succeed once the earlier ones are carried out.
    fn waits_for(&mut self, refused: &Fault, before: &[Update]) -> bool {
        let may_free = || before.iter().any(|update| update.kind != UpdateKind::Insert);
        let waits = refused.code == FaultCode::ResourceExhausted && self.waits < WAITS_MAX && may_free();
        self.waits += usize::from(waits);
        waits
    }

    /// Reserves memory for an update that may become large.
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

/// Carries out the updates that can be. Also returns what must be synchronised before they are acknowledged.
fn in_pieces(reader: &mut Reader<'_>, sent: Vec<Bytes>) -> (Outcomes, u64) {
    let mut outcomes = Outcomes::default();
    let mut sent = sent.into_iter();
    let mut last = 0;
    // An update that waits for earlier ones.
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
        commit_names(reader.target, names);
        reader.has_swept = false;
    }
    (outcomes, last)
}

/// The rest of a decoded update: the port number that it sets, its bytes, if refusals must use its names, and its new
/// names.
type Understood = (Option<Numbering>, Option<Bytes>, Vec<Name>);

/// Carries out the decoded updates. Returns what must be synchronised before they are acknowledged, and adds the
/// names that exist now.
fn carry_out_piece(
    target: &Pipeline,
    batch: Vec<Update>,
    piece: Vec<Result<Option<Understood>, Fault>>,
    outcomes: &mut Outcomes,
    there: &mut Vec<Name>,
) -> u64 {
    // Before the entries that use them: a number must not be given to two names.
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

/// Whether an update was carried out, though a restart may lose it.
fn is_carried_out(outcome: &Result<(), Fault>) -> bool {
    outcome.as_ref().map_or_else(|fault| fault.code == FaultCode::Unavailable, |()| true)
}

/// Frees the numbers of new names in updates that were not carried out.
fn commit_names(target: &Pipeline, there: Vec<Name>) {
    forget(target, target.schema.translator.commit(there));
}

/// Frees the numbers of unused names.
fn sweep_names(target: &Pipeline) -> Result<(), Fault> {
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
    let encoder = Encoder { schema: &target.schema, numbered: &numbered, asked: Asked::default() };
    translator.begin_sweep();
    let read = queries.iter().try_for_each(|query| {
        target.api.read_of(program, query, &mut |entities: Vec<Entity>| {
            entities.iter().for_each(|entity| drop(encoder.entity(entity)));
            true
        })
    });
    forget(target, translator.end_sweep(read.is_ok()));
    read
}

fn forget(target: &Pipeline, names: Vec<Name>) {
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
    // Before the entries that use them: a number must not be given to two names.
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

/// A refusal with the sender's names, if the update was kept.
fn in_words(target: &Pipeline, fault: Fault, sent: Option<Bytes>) -> Fault {
    match sent {
        Some(sent) => error_text::in_those_of(&target.schema, fault, &sent),
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

/// Records how ports were written, if that has changed.
fn number_ports(target: &Pipeline, numberings: &[Numbering]) -> Result<(), Fault> {
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
