//! Nodes that one thread runs, event by event.
//!
//! The node with the earliest event has its turn: nothing that others do from that time on arrives at it sooner than
//! the least latency of its channels, so it may run all of its events before that, one after the other, while its state
//! is in the cache. Each node has the same events in the same order as if all were run by time.

use crate::channel::Transmitter;
use crate::network::parallel::Windows;
use crate::network::shared_state::{Mail, SharedState};
use crate::node::{Arrival, Context, Node};
use crate::packet::CACHE_LINE_BYTES;
use crate::time::Time;

/// The most events of a turn: what a node sends meanwhile is in memory.
const TURN_EVENTS_MAX: usize = 64;

/// Packets that a node gets together.
const BURST_MAX: usize = 16;

/// Ports of a node that are fetched for its turn; of one with more of them only some have packets.
const PORTS_FETCHED_MAX: usize = 64;

/// Lines of the cache of a node that each event looks at.
const NODE_LINES: usize = 4;

/// A node in its partition.
pub(super) struct Slot {
    pub(super) node: Box<dyn Node>,
    /// Its number in the network.
    pub(super) id: u32,
    /// Whether packets begin and end there.
    pub(super) is_end: bool,
    /// Whether it has what it sends on fetched itself.
    pub(super) fetches_ports: bool,
    pub(super) first_port: u32,
    pub(super) ports: u32,
    /// When its timer is due.
    pub(super) next_timer: Time,
    /// What others send arrives at least this much later.
    pub(super) look_ahead: Time,
}

/// Nodes, and what they share.
pub(super) struct Partition {
    pub(super) slots: Vec<Slot>,
    pub(super) shared: SharedState,
    pub(super) events: u64,
    /// Of the first partition: what was counted of windows with the others.
    pub(super) windows: Windows,
    /// Nodes that were handed out to be changed.
    pub(super) touched: Vec<u32>,
    /// Packets of a turn; empty between turns.
    pub(super) arrivals: Vec<Arrival>,
}

impl Partition {
    /// Runs all events before `end`, or until packets need too much memory.
    pub(super) fn run_until(&mut self, end: Time) {
        self.reread_timers();
        while let Some((time, node)) = self.shared.turns.first().filter(|(time, _)| *time < end) {
            if self.is_exhausted() {
                return;
            }
            let look_ahead = self.slots[node as usize].look_ahead;
            self.run_turn(node, end.min(time + look_ahead));
        }
    }

    /// Whether packets need more memory than they may have.
    pub(super) fn is_exhausted(&self) -> bool {
        self.shared.pool.is_exhausted()
    }

    /// The time of the first event; [`Time::MAX`] if there is none.
    pub(super) fn next_event(&mut self) -> Time {
        self.reread_timers();
        self.shared.turns.first().map_or(Time::MAX, |(time, _)| time)
    }

    /// Runs the events of a node before `end`, but not too many.
    fn run_turn(&mut self, node: u32, end: Time) {
        // What is first without it has the next turn, if nothing that this node sends comes before.
        self.shared.turns.set(node, Time::MAX);
        if let Some((_, next)) = self.shared.turns.first() {
            self.fetch(next);
        }
        let mut left = TURN_EVENTS_MAX;
        while left > 0 && self.next_of(node) < end {
            let mut arrivals = std::mem::take(&mut self.arrivals);
            self.collect(node, end, left.min(BURST_MAX), &mut arrivals);
            self.run_arrivals(node, &mut arrivals, &mut left);
            self.arrivals = arrivals;
            let end = end.min(self.shared.events.first(node).0);
            self.run_timers(node, end, &mut left);
        }
        self.shared.turns.set(node, self.next_of(node));
    }

    /// When a node's next event is.
    #[inline]
    fn next_of(&self, node: u32) -> Time {
        self.shared.events.first(node).0.min(self.slots[node as usize].next_timer)
    }

    /// Takes at most `most` packets that arrive before `end`.
    #[inline]
    fn collect(&mut self, node: u32, end: Time, most: usize, arrivals: &mut Vec<Arrival>) {
        let first_port = self.slots[node as usize].first_port as usize;
        let SharedState { flights, events, .. } = &mut self.shared;
        while arrivals.len() < most {
            let (time, port) = events.first(node);
            let channel = first_port + port as usize;
            let Some(packet) = (time < end).then(|| flights.pop(channel)).flatten() else { return };
            packet.fetch();
            flights.fetch(channel);
            arrivals.push(Arrival { time, port: port as usize, packet });
            events.set(node, port, flights.next(channel));
        }
    }

    /// Hands a node its packets, each after the timers before it.
    fn run_arrivals(&mut self, node: u32, arrivals: &mut Vec<Arrival>, left: &mut usize) {
        let slot = &mut self.slots[node as usize];
        let (first_port, id, is_end) = (slot.first_port as usize, slot.id, slot.is_end);
        let is_burst = arrivals.len() > 1 && arrivals.last().is_some_and(|last| last.time <= slot.next_timer);
        if is_burst && self.shared.log.is_off() && slot.node.takes_bursts() {
            self.events += arrivals.len() as u64;
            *left -= arrivals.len();
            slot.node.receive_burst(&mut Context { shared: &mut self.shared, first_port, node: id, is_end }, arrivals);
            return self.note_timer(node);
        }
        let mut rest = arrivals.drain(..);
        while let Some(Arrival { time, port, mut packet }) = rest.next() {
            self.run_timers(node, time, left);
            if *left == 0 {
                // Only now is the turn over, as timers were in between.
                let whole = std::iter::once(Arrival { time, port, packet }).chain(rest);
                return self.put_back(node, whole.collect());
            }
            *left -= 1;
            self.events += 1;
            self.shared.now = time;
            self.shared.note_arrival(first_port + port, (id, port), &mut packet, is_end);
            let context = &mut Context { shared: &mut self.shared, first_port, node: id, is_end };
            self.slots[node as usize].node.receive(context, port, packet);
            self.note_timer(node);
        }
    }

    #[cold]
    fn put_back(&mut self, node: u32, arrivals: Vec<Arrival>) {
        let first_port = self.slots[node as usize].first_port as usize;
        for Arrival { time, port, packet } in arrivals.into_iter().rev() {
            self.shared.flights.put_back(first_port + port, time, packet);
            self.shared.events.set(node, port as u32, time);
        }
    }

    /// Runs the timers of a node before `end`: packets that arrive at the same time come first.
    #[inline]
    fn run_timers(&mut self, node: u32, end: Time, left: &mut usize) {
        while *left > 0 && self.slots[node as usize].next_timer < end {
            let slot = &mut self.slots[node as usize];
            *left -= 1;
            self.events += 1;
            self.shared.now = slot.next_timer;
            let (first_port, id, is_end) = (slot.first_port as usize, slot.id, slot.is_end);
            slot.node.timer(&mut Context { shared: &mut self.shared, first_port, node: id, is_end });
            self.note_timer(node);
        }
    }

    /// Has the processor fetch what the turn of a node will look at: in a large network it is in no cache, and it comes
    /// while the present node works.
    #[inline]
    fn fetch(&self, node: u32) {
        let Slot { node, first_port, ports, fetches_ports, .. } = &self.slots[node as usize];
        let address = (&raw const **node).cast::<u8>();
        (0..NODE_LINES).for_each(|line| tables::prefetch(address.wrapping_add(line * CACHE_LINE_BYTES)));
        let ports = *first_port as usize..*first_port as usize + (*ports as usize).min(PORTS_FETCHED_MAX);
        self.shared.fetch_arrivals(ports.clone());
        if !fetches_ports {
            ports.for_each(|port| self.shared.fetch_transmitter(port));
        }
    }

    /// Reads a node's next timer. A time that has passed means now.
    #[inline]
    fn note_timer(&mut self, node: u32) {
        let slot = &mut self.slots[node as usize];
        slot.next_timer = slot.node.next_timer().max(self.shared.now);
    }

    /// Reads the timers of nodes that were changed from outside.
    fn reread_timers(&mut self) {
        while let Some(node) = self.touched.pop() {
            self.note_timer(node);
            self.shared.turns.set(node, self.next_of(node));
        }
    }

    pub(super) fn accept(&mut self, mail: impl Iterator<Item = Mail>) {
        self.shared.accept(mail);
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn node(&self, index: usize) -> &dyn Node {
        &*self.slots[index].node
    }

    pub(super) fn node_mut(&mut self, index: usize) -> &mut dyn Node {
        self.touched.push(index as u32);
        &mut *self.slots[index].node
    }

    pub(super) fn transmitter(&self, port: usize) -> &Transmitter {
        &self.shared.transmitters[port]
    }

    pub(super) fn transmitter_mut(&mut self, port: usize) -> &mut Transmitter {
        &mut self.shared.transmitters[port]
    }
}
