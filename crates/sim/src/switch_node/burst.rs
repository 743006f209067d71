//! Several packets in one call of the core, which then looks up the keys of all of them at the same time.
//!
//! What enters: packets with the times of their arrivals. What leaves: the same packets, each at its own time.

use crate::node::{self, Arrival, Context};
use crate::switch_node::SwitchNode;
use base::Bits;
use ir::DigestId;
use std::ops::Range;
use switch::{Departing, Departures, Frame, Output};

/// Buffers that are reused from burst to burst.
#[derive(Default)]
pub(super) struct Bursts {
    /// The memory of each packet that was lent to the core.
    lent: Vec<Range<usize>>,
    departing: Vec<Leaving>,
}

/// A packet of a burst that leaves.
struct Leaving {
    /// Which one of the burst.
    index: usize,
    number: u32,
    begin: usize,
    bytes: usize,
}

impl SwitchNode {
    /// Has the core work on packets together.
    pub(super) fn forward_burst(&mut self, context: &mut Context<'_>, arrivals: &mut Vec<Arrival>) {
        let (Some(mut bursts), Some(last)) = (self.bursts.take(), arrivals.last()) else { return };
        let now_ns = last.time.ns();
        bursts.lent.clear();
        let mut frames = Vec::with_capacity(arrivals.len());
        for Arrival { time, port, packet } in arrivals.iter_mut() {
            let (memory, headroom) = packet.memory_with_headroom();
            let range = memory.as_ptr_range();
            bursts.lent.push(range.start as usize..range.end as usize);
            let received_ns = time.since(self.ingress_latency).ns();
            frames.push(Frame::behind_headroom(memory, headroom, self.numbers[*port], received_ns));
        }
        let is_in_place = self.core.forwards_in_place(&frames);
        if is_in_place {
            let Bursts { lent, departing } = &mut bursts;
            let assertions_failed = &mut self.counters.assertions_failed;
            self.core.forward(now_ns, &mut frames, &mut Collector { lent, departing, assertions_failed, next: 0 });
        }
        drop(frames);
        match is_in_place {
            true => self.send_burst(context, arrivals, &mut bursts.departing),
            false => node::receive_singly(self, context, arrivals),
        }
        self.bursts = Some(bursts);
    }

    fn send_burst(&mut self, context: &mut Context<'_>, arrivals: &mut Vec<Arrival>, departing: &mut Vec<Leaving>) {
        departing.sort_by_key(|leaving| leaving.index);
        let mut departing = departing.drain(..).peekable();
        for (index, Arrival { time, mut packet, .. }) in arrivals.drain(..).enumerate() {
            context.set_now(time);
            match departing.next_if(|leaving| leaving.index == index) {
                Some(Leaving { number, begin, bytes, .. }) if packet.resize_to(begin, bytes) => {
                    self.send_on(context, number, packet);
                }
                _ => context.end(packet),
            }
        }
    }
}

/// Notes which packets of a burst leave.
struct Collector<'a> {
    lent: &'a [Range<usize>],
    departing: &'a mut Vec<Leaving>,
    assertions_failed: &'a mut u64,
    /// The packet that most probably leaves next.
    next: usize,
}

impl Output for Collector<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        let begin = frame.as_ptr() as usize;
        let is_in = |index: &usize| (self.lent[*index].start..=self.lent[*index].end).contains(&begin);
        let index = (self.next..self.lent.len()).chain(0..self.next).find(is_in);
        let index = index.expect("a program that makes no copies sends what it was lent");
        self.departing.push(Leaving { index, number: port, begin, bytes: frame.len() });
        self.next = index + 1;
    }

    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        departures.iter().for_each(|Departing { port, frame, .. }| self.transmit(port, frame, 0));
    }

    fn digest(&mut self, _digest: DigestId, _values: Vec<Bits>) {}

    fn assertion_failed(&mut self, _text: &str) {
        *self.assertions_failed += 1;
    }
}
