//! The node that a controller runs in.
//!
//! What enters: frames and messages of switches. What leaves: what the controller answers, once it has had the time for
//! it: a call takes a constant time, one comes after the other, and nothing is done during a pause.

use super::link::{ControllerEnd, Message, Request};
use super::{Controller, ReadId, WriteId};
use crate::channel::Interval;
use crate::node::{Context, Node};
use crate::packet::Packet;
use crate::time::Time;
use base::limits::PACKET_BYTES_MAX;
use control::api::{Query, Update};
use std::any::Any;
use std::collections::VecDeque;

/// What a controller counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ControllerCounters {
    /// Frames from switches.
    pub packets_in: u64,
    /// Frames for switches.
    pub packets_out: u64,
    /// Digests.
    pub digests: u64,
    /// Entries that have become idle.
    pub idle_entries: u64,
    /// Updates that were sent.
    pub updates: u64,
    /// Those that were refused.
    pub updates_refused: u64,
    /// Queries that were sent.
    pub reads: u64,
    /// Entities that they have found.
    pub entities_read: u64,
    /// Frames and messages that were taken.
    pub events: u64,
    /// Sum of the times from their arrival until the controller had processed them.
    pub waited_ps: u128,
    /// The longest of these times.
    pub wait_max: Time,
}

/// A controller as a node.
pub struct ControllerNode {
    controller: Box<dyn Controller>,
    switches: Vec<ControllerEnd>,
    /// Numbers of writes and reads, by switch.
    requests: Vec<Numbers>,
    event_time: Time,
    /// Disjoint, in order.
    pauses: Vec<Interval>,
    pending: VecDeque<Pending>,
    /// When it will have processed all that is pending.
    free_at: Time,
    counters: ControllerCounters,
}

/// The numbers of the next requests to a switch.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    write: WriteId,
    read: ReadId,
}

/// A frame or message that the controller has not processed yet.
struct Pending {
    arrived: Time,
    done: Time,
    switch: usize,
    what: Incoming,
}

enum Incoming {
    Frame(Packet),
    Message(Message),
}

impl ControllerNode {
    /// A controller with the ends of its links, which processes an event in this time and does nothing during pauses,
    /// which are disjoint and in order.
    pub fn new(
        controller: Box<dyn Controller>,
        switches: Vec<ControllerEnd>,
        event_time: Time,
        pauses: Vec<Interval>,
    ) -> ControllerNode {
        ControllerNode {
            controller,
            requests: vec![Numbers::default(); switches.len()],
            switches,
            event_time,
            pauses,
            pending: VecDeque::new(),
            free_at: Time::ZERO,
            counters: ControllerCounters::default(),
        }
    }

    /// What it has counted.
    pub fn counters(&self) -> &ControllerCounters {
        &self.counters
    }

    /// The controller, if it is of this kind.
    pub fn controller<C: Controller>(&self) -> Option<&C> {
        let controller: &dyn Any = &*self.controller;
        controller.downcast_ref()
    }

    /// The same, to be changed between two runs.
    pub fn controller_mut<C: Controller>(&mut self) -> Option<&mut C> {
        let controller: &mut dyn Any = &mut *self.controller;
        controller.downcast_mut()
    }

    /// This time, or the end of the pause in which it is.
    fn after_pause(&self, time: Time) -> Time {
        let next = self.pauses.partition_point(|pause| pause.end <= time);
        self.pauses.get(next).filter(|pause| pause.contains(time)).map_or(time, |pause| pause.end)
    }

    /// Takes in what has arrived.
    fn accept(&mut self, now: Time, switch: usize, what: Incoming) {
        let begin = self.after_pause(now.max(self.free_at));
        self.free_at = self.after_pause(begin + self.event_time);
        self.pending.push_back(Pending { arrived: now, done: self.free_at, switch, what });
    }

    /// Processes what is due.
    fn work(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        while self.pending.front().is_some_and(|first| first.done <= now)
            && let Some(Pending { arrived, switch, what, .. }) = self.pending.pop_front()
        {
            self.counters.events += 1;
            self.counters.waited_ps += u128::from(now.since(arrived).ps());
            self.counters.wait_max = self.counters.wait_max.max(now.since(arrived));
            self.take(context, switch, what);
        }
    }

    fn take(&mut self, context: &mut Context<'_>, switch: usize, what: Incoming) {
        let ControllerNode { controller, switches, requests, counters, .. } = self;
        let mut controls = Controls { context, switches, requests, counters };
        match what {
            Incoming::Frame(mut packet) => {
                controls.counters.packets_in += 1;
                controller.packet_in(&mut controls, switch, packet.bytes());
                controls.context.end(packet);
            }
            Incoming::Message(Message::Connected) => controller.connected(&mut controls, switch),
            Incoming::Message(Message::Digest { digest, values }) => {
                controls.counters.digests += 1;
                controller.digest(&mut controls, switch, digest, &values);
            }
            Incoming::Message(Message::Idle(entry)) => {
                controls.counters.idle_entries += 1;
                controller.idle(&mut controls, switch, &entry);
            }
            Incoming::Message(Message::Written { write, outcomes }) => {
                controls.counters.updates_refused += outcomes.iter().filter(|it| it.is_err()).count() as u64;
                controller.written(&mut controls, switch, write, &outcomes);
            }
            Incoming::Message(Message::Answer { read, outcome }) => {
                controls.counters.entities_read += outcome.as_ref().map_or(0, Vec::len) as u64;
                controller.answered(&mut controls, switch, read, outcome);
            }
        }
    }
}

impl Node for ControllerNode {
    fn receive(&mut self, context: &mut Context<'_>, port: usize, packet: Packet) {
        let is_of = |end: &ControllerEnd| end.port == port || end.frames == port;
        let Some(switch) = self.switches.iter().position(is_of) else { return context.end(packet) };
        if self.switches[switch].frames == port {
            self.accept(context.now(), switch, Incoming::Frame(packet));
        } else {
            context.end(packet);
            let message = self.switches[switch].receive();
            message.into_iter().for_each(|it| self.accept(context.now(), switch, Incoming::Message(it)));
        }
        self.work(context);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        self.work(context);
        if self.after_pause(self.controller.next_timer()) <= context.now() {
            let ControllerNode { controller, switches, requests, counters, .. } = self;
            controller.timer(&mut Controls { context, switches, requests, counters });
        }
    }

    fn next_timer(&self) -> Time {
        let pending = self.pending.front().map_or(Time::MAX, |first| first.done);
        pending.min(self.after_pause(self.controller.next_timer()))
    }
}

/// What a controller may do.
pub struct Controls<'a, 'c> {
    context: &'a mut Context<'c>,
    switches: &'a [ControllerEnd],
    requests: &'a mut [Numbers],
    counters: &'a mut ControllerCounters,
}

impl Controls<'_, '_> {
    /// The time.
    pub fn now(&self) -> Time {
        self.context.now()
    }

    /// Sends a frame to the CPU port of a switch. Frames that are longer than any packet are not sent.
    pub fn packet_out(&mut self, switch: usize, frame: &[u8]) {
        if frame.len() <= PACKET_BYTES_MAX {
            self.counters.packets_out += 1;
            let packet = self.context.pool().copy_of(frame);
            self.context.send(self.switches[switch].frames, packet);
        }
    }

    /// Sends updates to a switch, which carries them out together.
    pub fn write(&mut self, switch: usize, updates: Vec<Update>) -> WriteId {
        self.counters.updates += updates.len() as u64;
        let write = self.requests[switch].write;
        self.requests[switch].write += 1;
        self.switches[switch].send(self.context, Request::Write { write, updates });
        write
    }

    /// Reads entries, cells of arrays and the like from a switch. Requests to a switch are carried out in their order,
    /// so a read sees what was written before it.
    pub fn read(&mut self, switch: usize, query: Query) -> ReadId {
        self.counters.reads += 1;
        let read = self.requests[switch].read;
        self.requests[switch].read += 1;
        self.switches[switch].send(self.context, Request::Read { read, query });
        read
    }
}
