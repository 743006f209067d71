//! Nodes that one thread runs, event by event.

use crate::channel::Transmitter;
use crate::events::Source;
use crate::network::fabric::{Fabric, Mail};
use crate::network::parallel::Windows;
use crate::node::{Context, Node};
use crate::time::Time;

/// What a source is: arrivals on a port of a node, or a node's timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceOf {
    pub(super) node: u32,
    /// The port; `TIMER` for the timer.
    pub(super) port: u32,
    /// The port among those of the partition.
    pub(super) flight: u32,
}

/// In place of a port: the node's timer.
pub(super) const TIMER: u32 = u32::MAX;

/// A node in its partition.
pub(super) struct Slot {
    pub(super) node: Box<dyn Node>,
    /// Its number in the network.
    pub(super) id: u32,
    /// Whether packets begin and end there.
    pub(super) is_end: bool,
    pub(super) first_port: u32,
    /// The source of its timer.
    pub(super) timer: Source,
    /// What the event queue has for it.
    pub(super) next_timer: Time,
}

/// Nodes, and what they share.
pub(super) struct Partition {
    pub(super) slots: Vec<Slot>,
    pub(super) sources: Vec<SourceOf>,
    pub(super) fabric: Fabric,
    pub(super) events: u64,
    /// Of the first partition: what was counted of windows with the others.
    pub(super) windows: Windows,
    /// Nodes that were handed out to be changed.
    pub(super) touched: Vec<u32>,
}

impl Partition {
    /// Runs all events before `end`, or until packets need too much memory.
    pub(super) fn run_until(&mut self, end: Time) {
        self.settle();
        while let Some((time, source)) = self.fabric.events.first().filter(|(time, _)| *time < end) {
            if self.is_exhausted() {
                return;
            }
            self.fabric.now = time;
            self.events += 1;
            self.run_event(source);
        }
    }

    /// Whether packets need more memory than they may have.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fabric.pool.is_exhausted()
    }

    /// The time of the first event; [`Time::MAX`] if there is none.
    pub(super) fn next_event(&mut self) -> Time {
        self.settle();
        self.fabric.events.first().map_or(Time::MAX, |(time, _)| time)
    }

    fn run_event(&mut self, source: Source) {
        let SourceOf { node, port, flight } = self.sources[source as usize];
        let slot = &mut self.slots[node as usize];
        let (first_port, id, is_end) = (slot.first_port as usize, slot.id, slot.is_end);
        if port == TIMER {
            slot.next_timer = Time::MAX;
            slot.node.timer(&mut Context { fabric: &mut self.fabric, first_port, node: id, is_end });
            self.note_timer(node, true);
        } else {
            let flight = &mut self.fabric.flights[flight as usize];
            let packet = flight.pop();
            self.fabric.events.set(source, flight.next());
            self.fetch_next();
            let slot = &mut self.slots[node as usize];
            if let Some(packet) = packet {
                let port = port as usize;
                self.fabric.note_arrival(first_port + port, (id, port), &packet, is_end);
                let mut context = Context { fabric: &mut self.fabric, first_port, node: id, is_end };
                slot.node.receive(&mut context, port, packet);
            }
            self.note_timer(node, false);
        }
    }

    /// Fetches the node and the packet of what is the next event by now: in a large network they are in no cache, and
    /// they come while the present node works.
    #[inline]
    fn fetch_next(&mut self) {
        if let Some((_, source)) = self.fabric.events.first() {
            let SourceOf { node, port, flight } = self.sources[source as usize];
            tables::prefetch((&raw const *self.slots[node as usize].node).cast::<u8>());
            if port != TIMER {
                self.fabric.flights[flight as usize].fetch();
            }
        }
    }

    /// Reads when a node wants to be called next. A time that has passed means now.
    fn note_timer(&mut self, node: u32, is_changed: bool) {
        let slot = &mut self.slots[node as usize];
        let next = slot.node.next_timer().max(self.fabric.now);
        if is_changed || next != slot.next_timer {
            slot.next_timer = next;
            self.fabric.events.set(slot.timer, next);
        }
    }

    /// Reads the timers of nodes that were changed from outside.
    fn settle(&mut self) {
        while let Some(node) = self.touched.pop() {
            self.note_timer(node, true);
        }
    }

    pub(super) fn accept(&mut self, mail: impl Iterator<Item = Mail>) {
        self.fabric.accept(mail);
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
        &self.fabric.transmitters[port]
    }

    pub(super) fn transmitter_mut(&mut self, port: usize) -> &mut Transmitter {
        &mut self.fabric.transmitters[port]
    }
}
