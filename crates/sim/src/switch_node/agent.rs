//! What a switch does for its controller.
//!
//! What enters: requests as they arrive, digests of the program, the time. What leaves: a core that has carried the
//! requests out, one after the other: a write takes effect when the time for its updates is over, a read sees what is
//! there when its turn comes and is answered when the time for what it has found is over; digests, outcomes, answers
//! and idle entries for the controller.

use crate::controller::link::{Message, Request, SwitchEnd, WorkTimes};
use crate::node::Context;
use crate::time::Time;
use base::Bits;
use control::api::{Atomicity, Entity, Fault, LocalApi, Query, TableQuery, Update};
use ir::DigestId;
use std::collections::VecDeque;
use switch::Switch;

/// Checks for idle entries in the shortest timeout.
const IDLE_CHECKS: u64 = 16;

/// What joins a switch with its controller.
pub(super) struct Agent {
    pub(super) end: SwitchEnd,
    api: LocalApi,
    times: WorkTimes,
    /// Requests behind the current one.
    requests: VecDeque<Request>,
    /// The request that is carried out, and when it is done.
    current: Option<(Time, Work)>,
    /// When it checks for idle entries next.
    next_idle_check: Time,
    /// While the switch restarts: when it can be reached again. At the begin of a run it reports itself, too.
    back_at: Option<Time>,
}

/// A request that is carried out.
enum Work {
    Write { write: u64, updates: Vec<Update> },
    Answer { read: u64, outcome: Result<Vec<Entity>, Fault> },
}

impl Agent {
    pub(super) fn new(end: SwitchEnd, core: &Switch, times: WorkTimes) -> Agent {
        Agent {
            end,
            api: LocalApi::of(core),
            times,
            requests: VecDeque::new(),
            current: None,
            next_idle_check: Time::MAX,
            back_at: Some(Time::ZERO),
        }
    }

    /// When it has something to do next.
    pub(super) fn next(&self) -> Time {
        let current = self.current.as_ref().map_or(Time::MAX, |(done, _)| *done);
        current.min(self.next_idle_check).min(self.back_at.unwrap_or(Time::MAX))
    }

    /// Whether the controller can reach the switch.
    pub(super) fn is_reachable(&self, now: Time) -> bool {
        self.back_at.is_none_or(|back_at| back_at <= now)
    }

    /// Takes the message whose packet has arrived.
    pub(super) fn receive(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        let now = context.now();
        let Some(request) = self.end.receive().filter(|_| self.is_reachable(now)) else { return };
        self.requests.push_back(request);
        if self.current.is_none() {
            self.begin_next(now, core);
        }
        self.work(context, core);
    }

    /// Does what is due.
    pub(super) fn work(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        let now = context.now();
        if self.back_at.is_some_and(|back_at| back_at <= now) {
            self.back_at = None;
            self.report_idle_entries(context, core);
            self.end.send(context, Message::Connected);
        }
        while let Some((done, work)) = self.current.take_if(|(done, _)| *done <= now) {
            self.finish(context, core, work);
            self.begin_next(done, core);
        }
        if self.next_idle_check <= now {
            self.report_idle_entries(context, core);
        }
    }

    /// Begins with the first pending request. It is called as soon as the one before it is done.
    fn begin_next(&mut self, now: Time, core: &mut Switch) {
        let Some(request) = self.requests.pop_front() else { return };
        let (time, work) = match request {
            Request::Write { write, updates } => {
                (self.times.write.times(updates.len() as u64), Work::Write { write, updates })
            }
            Request::Read { read, query } => {
                core.advance(now.ns());
                let mut found = Vec::new();
                let outcome = self.api.read(core, &query, &mut |entities| {
                    found.extend(entities);
                    true
                });
                let time = self.times.read.times(found.len() as u64);
                (time, Work::Answer { read, outcome: outcome.map(|()| found) })
            }
        };
        self.current = Some((now + time, work));
    }

    fn finish(&mut self, context: &mut Context<'_>, core: &mut Switch, work: Work) {
        match work {
            Work::Write { write, updates } => self.carry_out(context, core, write, &updates),
            Work::Answer { read, outcome } => self.end.send(context, Message::Answer { read, outcome }),
        }
    }

    fn carry_out(&mut self, context: &mut Context<'_>, core: &mut Switch, write: u64, updates: &[Update]) {
        core.advance(context.now().ns());
        let outcomes = self.api.write(core, updates, Atomicity::ContinueOnError);
        let may_idle = updates.iter().any(|update| match &update.entity {
            Entity::TableEntry(entry) => entry.attributes.idle_timeout_ns > 0,
            _ => false,
        });
        if may_idle {
            self.report_idle_entries(context, core);
        }
        self.end.send(context, Message::Written { write, outcomes });
    }

    /// Reports entries that have become idle, and decides when to check again.
    fn report_idle_entries(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        self.next_idle_check = Time::MAX;
        if !core.program().tables.iter().any(|table| table.support_timeout) {
            return;
        }
        core.advance(context.now().ns());
        let mut idle = Vec::new();
        // A local switch always answers.
        let _done = self.api.idle_entries(core, &mut |entries| idle.extend(entries));
        for entry in idle {
            self.end.send(context, Message::Idle(Box::new(entry)));
        }
        if let Some(delay) = self.next_idle(core) {
            self.next_idle_check = context.now() + delay;
        }
    }

    /// How long no entry can become idle, but at least a part of the shortest timeout.
    fn next_idle(&self, core: &mut Switch) -> Option<Time> {
        let (mut next, mut shortest) = (u64::MAX, u64::MAX);
        let query = TableQuery { with_idle: true, ..TableQuery::default() };
        let _done = self.api.read(core, &Query::TableEntries(query), &mut |entities| {
            for entity in &entities {
                let Entity::TableEntry(entry) = entity else { continue };
                let timeout_ns = entry.attributes.idle_timeout_ns;
                if let Some(idle_ns) = entry.idle_ns.filter(|_| timeout_ns > 0) {
                    next = next.min(timeout_ns - idle_ns % timeout_ns);
                    shortest = shortest.min(timeout_ns);
                }
            }
            true
        });
        (shortest < u64::MAX).then(|| Time::from_ns(next.max(shortest / IDLE_CHECKS).max(1)))
    }

    /// The switch has restarted, and can be reached from then on.
    pub(super) fn restart(&mut self, core: &Switch, back_at: Time) {
        self.api = LocalApi::of(core);
        self.requests.clear();
        self.current = None;
        self.next_idle_check = Time::MAX;
        self.back_at = Some(back_at);
    }

    /// Sends digests to the controller.
    pub(super) fn send_digests(&self, context: &mut Context<'_>, digests: &mut Vec<(DigestId, Vec<Bits>)>) {
        for (digest, values) in digests.drain(..) {
            self.end.send(context, Message::Digest { digest, values });
        }
    }
}
