//! Two endpoints and a line between them with a rate, a delay and a queue. Segments do not become bytes.

use base::Time;
use std::collections::VecDeque;
use tcp::{Config, Connection, Ecn, Segment};

/// The line. The first end sends.
pub struct Line {
    pub ends: [Connection; 2],
    pub now: Time,
    /// Propagation delay, in one direction.
    pub delay: Time,
    /// The time that a segment with payload occupies the line.
    pub gap: Time,
    /// Each new segment of this number is lost; 0 for none.
    pub drop_every: u64,
    /// A segment that finds this many before it is marked.
    pub mark_above: u64,
    /// The longest queue so far, in segments.
    pub queue_max: u64,
    pub segments: u64,
    flights: [VecDeque<(Time, Segment)>; 2],
    highest: u64,
    new_segments: u64,
}

impl Line {
    pub fn new(config: &Config, delay: Time, gap: Time) -> Line {
        Line {
            ends: [Connection::connect(config, 1), Connection::listen(config, 2)],
            now: Time::ZERO,
            delay,
            gap,
            drop_every: 0,
            mark_above: u64::MAX,
            queue_max: 0,
            segments: 0,
            flights: [VecDeque::new(), VecDeque::new()],
            highest: 0,
            new_segments: 0,
        }
    }

    /// Bytes that have arrived in order.
    pub fn received(&self) -> u64 {
        self.ends[1].statistics().received_bytes
    }

    /// Sends as much as possible until a time.
    pub fn run(&mut self, until: Time) {
        loop {
            self.ends[0].write(u64::MAX);
            self.serve(0);
            let heads = [0, 1].map(|end| self.flights[end].front().map_or(Time::MAX, |(at, _)| *at));
            let timers = [0, 1].map(|end| self.ends[end].next_timeout().unwrap_or(Time::MAX));
            let next = heads[0].min(heads[1]).min(timers[0]).min(timers[1]);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            let end = usize::from(heads[1].min(timers[1]) == next);
            if heads[end] == next {
                let (_, segment) = self.flights[end].pop_front().unwrap();
                self.ends[end].on_segment(next, &segment);
            } else {
                self.ends[end].on_timer(next);
            }
            self.serve(end);
        }
    }

    fn serve(&mut self, end: usize) {
        self.ends[end].read(u64::MAX);
        while let Some(segment) = self.ends[end].poll_transmit(self.now) {
            self.send(end, segment);
        }
        while self.ends[end].poll_event().is_some() {}
    }

    fn send(&mut self, end: usize, mut segment: Segment) {
        self.segments += 1;
        let gap = if segment.payload_bytes > 0 { self.gap } else { Time::ZERO };
        let free = self.flights[1 - end].back().map_or(Time::ZERO, |(at, _)| *at);
        let ready = self.now + self.delay;
        let queue = if gap == Time::ZERO { 0 } else { free.since(ready).ps() / gap.ps() };
        self.queue_max = self.queue_max.max(queue);
        if self.is_dropped(&segment) {
            return;
        }
        if queue >= self.mark_above && segment.ecn == Ecn::Ect0 {
            segment.ecn = Ecn::Ce;
        }
        self.flights[1 - end].push_back((free.max(ready) + gap, segment));
    }

    fn is_dropped(&mut self, segment: &Segment) -> bool {
        let end = segment.stream_position + u64::from(segment.payload_bytes);
        if segment.payload_bytes == 0 || end <= self.highest {
            return false;
        }
        self.highest = end;
        self.new_segments += 1;
        self.drop_every > 0 && self.new_segments.is_multiple_of(self.drop_every)
    }
}
