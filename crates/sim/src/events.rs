//! The event queue: for each source the time of its next event, and which of them is first.
//!
//! What enters: a time for a source, in place of its former one. What leaves: the source with the earliest time; of
//! several, the one with the smallest number. Sources are heads of channels and timers of nodes, so the queue has at
//! most one entry for each, however many packets are in flight.
//!
//! It is a tournament tree: the sources are the leaves, and each inner node names the one below it that is first. A
//! change repeats the matches on the way to the root. `bench event-queue` measures it against heaps and a calendar
//! queue (docs/design/simulator.md).

use crate::time::Time;

/// The number of a source.
pub type Source = u32;

/// The next event of each source.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The time of each source's event; filled up to a power of two.
    times: Vec<Time>,
    /// For each inner node of the tree the source below it that is first. Node 1 is the root; the children of `n` are
    /// `2 n` and `2 n + 1`; the leaves, which follow the inner nodes, are the sources themselves.
    winners: Vec<Source>,
}

impl EventQueue {
    /// A queue for so many sources, none of which has an event.
    pub fn new(sources: usize) -> EventQueue {
        let leaves = sources.next_power_of_two().max(2);
        let mut winners: Vec<Source> = vec![0; leaves];
        for node in (1..leaves).rev() {
            let left = 2 * node;
            winners[node] = if left >= leaves { (left - leaves) as Source } else { winners[left] };
        }
        EventQueue { times: vec![Time::MAX; leaves], winners }
    }

    /// Makes room for so many sources at least.
    pub fn grow(&mut self, sources: usize) {
        if sources > self.times.len() {
            let mut larger = EventQueue::new(sources);
            (0..).zip(&self.times).for_each(|(source, &time)| larger.set(source, time));
            *self = larger;
        }
    }

    /// The first event.
    #[inline]
    pub fn first(&self) -> Option<(Time, Source)> {
        let source = self.winners[1];
        let time = self.times[source as usize];
        (time != Time::MAX).then_some((time, source))
    }

    /// Sets the time of a source's next event; [`Time::MAX`] for none.
    #[inline]
    pub fn set(&mut self, source: Source, time: Time) {
        self.times[source as usize] = time;
        let leaves = self.times.len();
        let mut node = (leaves + source as usize) / 2;
        // The lowest inner nodes have leaves as children.
        let left = source & !1;
        let mut winner = self.earlier(left, left + 1);
        loop {
            let before = std::mem::replace(&mut self.winners[node], winner);
            // Above a match that another source won before and wins now, nothing changes.
            if node == 1 || (before == winner && winner != source) {
                return;
            }
            node /= 2;
            winner = self.earlier(self.winners[2 * node], self.winners[2 * node + 1]);
        }
    }

    /// Which of two sources is first: the left one has the smaller number.
    #[inline]
    fn earlier(&self, left: Source, right: Source) -> Source {
        if self.times[right as usize] < self.times[left as usize] { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    #[test]
    fn events_come_by_time_and_then_by_source() {
        let mut queue = EventQueue::new(4);
        for (source, time) in [(3, 5), (1, 5), (2, 4), (0, 9)] {
            queue.set(source, Time::from_ps(time));
        }
        let mut order = Vec::new();
        while let Some((_, source)) = queue.first() {
            queue.set(source, Time::MAX);
            order.push(source);
        }
        assert_eq!(order, [2, 1, 3, 0]);
    }

    #[test]
    fn a_queue_can_grow() {
        let mut queue = EventQueue::new(1);
        queue.set(0, Time::from_ps(7));
        queue.grow(100);
        queue.set(99, Time::from_ps(6));
        assert_eq!(queue.first(), Some((Time::from_ps(6), 99)));
        queue.set(99, Time::MAX);
        assert_eq!(queue.first(), Some((Time::from_ps(7), 0)));
    }

    /// Against a plain search through all sources.
    #[test]
    fn the_first_event_is_the_least_after_any_change() {
        let mut rng = Rng::new(1);
        for sources in [1, 2, 5, 64, 300] {
            let (mut queue, mut times) = (EventQueue::new(sources), vec![Time::MAX; sources]);
            for _ in 0..3_000 {
                let source = rng.below(sources as u64) as usize;
                let time = if rng.chance(1, 4) { Time::MAX } else { Time::from_ps(rng.below(100)) };
                queue.set(source as Source, time);
                times[source] = time;
                let least = (0..).zip(&times).map(|(source, &time)| (time, source)).min();
                assert_eq!(queue.first(), least.filter(|(time, _)| *time != Time::MAX));
            }
        }
    }
}
