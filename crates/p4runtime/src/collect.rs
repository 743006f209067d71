//! Collects the responses to read requests.
//!
//! What enters: the entities that are to be read. What leaves: an [`AnswerWriter`] with those that were found, as they
//! were at one moment. Writes wait only while that moment lasts:
//! * Entries of tables, members and groups are copied, which takes microseconds, and encoded while writes continue.
//! * What is in the switch itself (counters, meters, registers), and what is shown by names that writes may assign
//!   anew, is collected while nothing is written. If a write comes meanwhile, a long response is collected anew after
//!   it. Its last attempt is not interrupted, and there is one such attempt at a time.
//! * Cells of arrays are collected in pieces, between which writes go first. If all of these changed tables only, the
//!   response shows the cells as they were after the last of them; otherwise it is collected anew.

use crate::answer::AnswerWriter;
use crate::pipelines::Pipeline;
use crate::query::{self, Wanted};
use crate::role_config::RoleConfig;
use crate::service::{Core, role_name};
use crate::status::Outcomes;
use crate::tasks::blocking;
use crate::to_proto::{Encoder, NumberedPorts};
use crate::turns::{Reading, Turn};
use control::api::{Entity, Fault, Query, Sink};
use p4runtime_proto::p4::config::v1::p4_new_type_spec::Representation;
use p4runtime_proto::p4::config::v1::p4_new_type_translation::SdnType;
use p4runtime_proto::p4::v1;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedSemaphorePermit};
use tonic::Status;

/// The most queries and entities of a short response, which takes a millisecond or two.
const SHORT_QUERIES: usize = 128;
const SHORT_ENTITIES: u64 = 1024;

/// The most entries that are read together by their names.
const NAMED_MAX: usize = 512;

/// How often a response is collected anew because of writes.
const INTERRUPTIONS_MAX: usize = 3;

/// Whether the response is short, by what there is now.
pub(crate) async fn is_short(core: &Arc<Core>, sent: &[v1::Entity]) -> Result<bool, Status> {
    if sent.len() > SHORT_QUERIES {
        return Ok(false);
    }
    let turn = core.turn.read().await;
    let (target, sent) = (core.target()?, sent.to_vec());
    blocking(move || {
        let _turn = turn;
        // What is refused is short.
        let queries = sent.iter().filter_map(|entity| query::read(&target.schema, entity).ok()?.query);
        queries.map(|query| target.api.size_of(&query)).sum::<u64>() <= SHORT_ENTITIES
    })
    .await
}

/// A response that is being collected.
pub(crate) struct Collection {
    request: v1::ReadRequest,
    is_short: bool,
    answer: AnswerWriter,
    outcomes: Outcomes,
    /// Whether a write has interrupted it.
    is_interrupted: bool,
}

/// Collects a response, and sends it. The turn is that of the first attempt.
pub(crate) async fn run(
    core: Arc<Core>,
    mut collection: Collection,
    turn: OwnedRwLockReadGuard<()>,
    reading: Reading,
    unread: OwnedSemaphorePermit,
) {
    let mut turn = Some(turn);
    for attempt in 0..=INTERRUPTIONS_MAX {
        let is_last = attempt == INTERRUPTIONS_MAX;
        let _alone = if is_last { core.reads.hold_up().await } else { None };
        let turn = match turn.take() {
            Some(turn) => turn,
            None => core.turn.read().await,
        };
        let there = Arc::clone(&core);
        // A panic ends the response, as that of any request.
        let Ok(done) = blocking(move || collection.attempt(&there, is_last, turn)).await else { return };
        collection = done;
        if !collection.is_interrupted {
            break;
        }
    }
    // The response was collected: other reads continue while the client reads.
    drop(reading);
    collection.answer.finish(collection.outcomes.into_result("request").err(), unread);
}

impl Collection {
    pub fn new(request: v1::ReadRequest, is_short: bool, answer: AnswerWriter) -> Collection {
        Collection { request, is_short, answer, outcomes: Outcomes::default(), is_interrupted: false }
    }

    fn attempt(mut self, core: &Core, is_last: bool, turn: OwnedRwLockReadGuard<()>) -> Collection {
        self.answer.begin_anew();
        (self.outcomes, self.is_interrupted) = (Outcomes::default(), false);
        // Another program may run since the attempt before.
        let Ok(target) = core.target() else { return self };
        let config = core.hub().arbitration.config(&role_name(&self.request.role, 0));
        let numbered = target.numbered().clone();
        let copies = !self.is_short && !has_names(&target);
        let all: Vec<Result<Wanted, Fault>> =
            self.request.entities.iter().map(|entity| query::read(&target.schema, entity)).collect();
        let is_live = |wanted: &Result<Wanted, Fault>| {
            let query = wanted.as_ref().ok().and_then(|wanted| wanted.query.as_ref());
            query.is_some_and(|query| !query.is_of_copies() && !query.is_of_arrays())
        };
        let gives_way = match self.is_short || is_last {
            true => GivesWay::Never,
            false if copies && !all.iter().any(is_live) => GivesWay::BetweenPieces,
            false => GivesWay::ByEnding,
        };
        let mut found = Found {
            target: &target,
            config: config.as_deref(),
            numbered,
            answer: &mut self.answer,
            turn: HeldTurn { of: &core.turn, held: Some(turn) },
            switch_writes: target.api.switch_writes(),
            gives_way,
            is_interrupted: false,
        };
        let mut of_copies = Vec::new();
        for some in all.chunk_by(|a, b| named(a).is_some() && named(b).is_some()) {
            if named(&some[0]).is_some() {
                for some in some.chunks(NAMED_MAX) {
                    found.add_named(some, &mut self.outcomes);
                }
                continue;
            }
            let outcome = match &some[0] {
                Ok(wanted) if copies && wanted.query.as_ref().is_some_and(Query::is_of_copies) => {
                    of_copies.push(wanted);
                    Ok(())
                }
                Ok(wanted) if found.goes_on() => {
                    found.add(wanted, |query, sink| target.api.read_of(&target.schema.program, query, sink))
                }
                other => other.as_ref().map(drop).map_err(Fault::clone),
            };
            self.outcomes.push(outcome);
        }
        if !found.is_interrupted && !of_copies.is_empty() {
            let copied = target.api.copy_of(&target.schema.program);
            found.turn.held = None;
            found.gives_way = GivesWay::Never;
            let added = copied.and_then(|copied| {
                of_copies.iter().try_for_each(|wanted| found.add(wanted, |query, sink| copied.read(query, sink)))
            });
            if let Err(fault) = added {
                self.outcomes.fail_all(&fault);
            }
        }
        self.is_interrupted = found.is_interrupted;
        self
    }
}

/// Whether values have names, which writes assign.
fn has_names(target: &Pipeline) -> bool {
    let types = target.config.p4info.as_ref().and_then(|info| info.type_info.as_ref()).map(|info| &info.new_types);
    let is_name = |representation: &Representation| match representation {
        Representation::TranslatedType(it) => matches!(it.sdn_type, Some(SdnType::SdnString(_))),
        Representation::OriginalType(_) => false,
    };
    types.is_some_and(|types| types.values().any(|it| it.representation.as_ref().is_some_and(is_name)))
}

/// Puts what is found into the response.
struct Found<'a> {
    target: &'a Pipeline,
    config: Option<&'a RoleConfig>,
    numbered: NumberedPorts,
    answer: &'a mut AnswerWriter,
    turn: HeldTurn<'a>,
    /// As it was at the beginning.
    switch_writes: u64,
    gives_way: GivesWay,
    is_interrupted: bool,
}

/// How writes that come meanwhile go first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GivesWay {
    /// They wait: the response is short, or they do not have to wait.
    Never,
    /// The response is collected anew.
    ByEnding,
    /// They take their turn between two pieces. Then the response is collected anew if they changed arrays.
    BetweenPieces,
}

/// The turn of a read, in a thread that may block.
struct HeldTurn<'a> {
    of: &'a Turn,
    held: Option<OwnedRwLockReadGuard<()>>,
}

impl HeldTurn<'_> {
    /// Lets the writes that wait go first.
    fn pass(&mut self) {
        self.held = None;
        self.held = Some(Handle::current().block_on(self.of.read()));
    }
}

impl Found<'_> {
    fn goes_on(&mut self) -> bool {
        if self.gives_way != GivesWay::Never && self.turn.of.is_awaited() {
            match self.gives_way {
                GivesWay::BetweenPieces => {
                    self.turn.pass();
                    self.is_interrupted |= self.target.api.switch_writes() != self.switch_writes;
                }
                _ => self.is_interrupted = true,
            }
        }
        !self.is_interrupted && self.answer.goes_on()
    }

    fn add(&mut self, wanted: &Wanted, read: impl FnOnce(&Query, Sink<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut is_found = false;
        let mut sink = |entities: Vec<Entity>| {
            is_found |= self.push(wanted, &entities);
            self.goes_on()
        };
        if let Some(query) = &wanted.query {
            read(query, &mut sink)?;
        }
        wanted.outcome(is_found)
    }

    /// Adds entries by their names. The switch is asked once for all of them.
    fn add_named(&mut self, all: &[Result<Wanted, Fault>], outcomes: &mut Outcomes) {
        if !self.goes_on() {
            return all.iter().for_each(|_| outcomes.push(Ok(())));
        }
        let queries: Vec<&Query> = all.iter().filter_map(named).collect();
        let read = self.target.api.read_named(&self.target.schema.program, &queries);
        let found = read.map_or_else(|why| vec![Err(why); queries.len()], |found| found.into_iter().map(Ok).collect());
        for (wanted, found) in all.iter().flatten().zip(found) {
            let outcome = found.and_then(|entity| wanted.outcome(self.push(wanted, entity.as_slice())));
            outcomes.push(outcome);
        }
    }

    /// Puts the requested ones into the response, and returns whether there are any.
    fn push(&mut self, wanted: &Wanted, entities: &[Entity]) -> bool {
        let encoder = Encoder { schema: &self.target.schema, numbered: &self.numbered, asked: wanted.asked };
        let mut is_found = false;
        for message in entities.iter().filter(|it| wanted.filter.admits(it)).filter_map(|it| encoder.entity(it)) {
            if self.config.is_none_or(|config| config.admits(&message)) {
                is_found = true;
                self.answer.push(&message);
            }
        }
        is_found
    }
}

/// The query of a part that names an entry.
fn named(wanted: &Result<Wanted, Fault>) -> Option<&Query> {
    wanted.as_ref().ok()?.query.as_ref().filter(|query| query.is_named())
}
