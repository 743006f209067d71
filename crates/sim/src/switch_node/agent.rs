//! What a switch does for its controller.
//!
//! What enters: writes as they arrive, digests of the program, the time. What leaves: a core that has carried the
//! writes out, each when the time for its updates is over; digests, outcomes and idle entries for the controller.

use crate::controller::link::{Message, SwitchEnd, Write};
use crate::node::Context;
use crate::time::Time;
use base::Bits;
use control::api::{Atomicity, Entity, LocalApi, Query, TableQuery};
use ir::DigestId;
use std::collections::VecDeque;
use switch::Switch;

/// Parts of the shortest timeout that lie between two looks for idle entries.
const LOOKS: u64 = 16;

/// What joins a switch with its controller.
pub(super) struct Agent {
    pub(super) end: SwitchEnd,
    api: LocalApi,
    /// What an update takes.
    write_time: Time,
    /// When the last write is done.
    free_at: Time,
    /// Writes with the times at which they are done.
    writes: VecDeque<(Time, Write)>,
    /// When it looks for idle entries next.
    next_look: Time,
    /// While the switch restarts: when it can be reached again. At the begin of a run it reports itself, too.
    back_at: Option<Time>,
}

impl Agent {
    pub(super) fn new(end: SwitchEnd, core: &Switch, write_time: Time) -> Agent {
        Agent {
            end,
            api: LocalApi::of(core),
            write_time,
            free_at: Time::ZERO,
            writes: VecDeque::new(),
            next_look: Time::MAX,
            back_at: Some(Time::ZERO),
        }
    }

    /// When it has something to do next.
    pub(super) fn next(&self) -> Time {
        let write = self.writes.front().map_or(Time::MAX, |(done, _)| *done);
        write.min(self.next_look).min(self.back_at.unwrap_or(Time::MAX))
    }

    /// Whether the controller can reach the switch.
    pub(super) fn is_reachable(&self, now: Time) -> bool {
        self.back_at.is_none_or(|back_at| back_at <= now)
    }

    /// Takes the message whose packet has arrived.
    pub(super) fn receive(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        let now = context.now();
        let Some(write) = self.end.receive().filter(|_| self.is_reachable(now)) else { return };
        self.free_at = self.free_at.max(now) + self.write_time.times(write.updates.len() as u64);
        self.writes.push_back((self.free_at, write));
        self.work(context, core);
    }

    /// Does what is due.
    pub(super) fn work(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        let now = context.now();
        if self.back_at.is_some_and(|back_at| back_at <= now) {
            self.back_at = None;
            self.look(context, core);
            self.end.send(context, Message::Connected);
        }
        while self.writes.front().is_some_and(|(done, _)| *done <= now)
            && let Some((_, write)) = self.writes.pop_front()
        {
            self.carry_out(context, core, write);
        }
        if self.next_look <= now {
            self.look(context, core);
        }
    }

    fn carry_out(&mut self, context: &mut Context<'_>, core: &mut Switch, Write { number, updates }: Write) {
        core.advance(context.now().ns());
        let outcomes = self.api.write(core, &updates, Atomicity::ContinueOnError);
        let may_idle = updates.iter().any(|update| match &update.entity {
            Entity::TableEntry(entry) => entry.attributes.idle_timeout_ns > 0,
            _ => false,
        });
        if may_idle {
            self.look(context, core);
        }
        self.end.send(context, Message::Written { write: number, outcomes });
    }

    /// Reports entries that have become idle, and decides when to look again.
    fn look(&mut self, context: &mut Context<'_>, core: &mut Switch) {
        self.next_look = Time::MAX;
        if !core.program().tables.iter().any(|table| table.support_timeout) {
            return;
        }
        core.advance(context.now().ns());
        let mut idle = Vec::new();
        // A switch that is at hand answers.
        let _done = self.api.idle_entries(core, &mut |entries| idle.extend(entries));
        for entry in idle {
            self.end.send(context, Message::Idle(Box::new(entry)));
        }
        if let Some(wait) = self.next_idle(core) {
            self.next_look = context.now() + wait;
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
        (shortest < u64::MAX).then(|| Time::from_ns(next.max(shortest / LOOKS).max(1)))
    }

    /// The switch has restarted, and can be reached from then on.
    pub(super) fn restart(&mut self, core: &Switch, back_at: Time) {
        self.api = LocalApi::of(core);
        self.writes.clear();
        self.free_at = back_at;
        self.next_look = Time::MAX;
        self.back_at = Some(back_at);
    }

    /// Sends digests to the controller.
    pub(super) fn send_digests(&self, context: &mut Context<'_>, digests: &mut Vec<(DigestId, Vec<Bits>)>) {
        for (digest, values) in digests.drain(..) {
            self.end.send(context, Message::Digest { digest, values });
        }
    }
}
