//! Event queues: for each source the time of its next event, and which of them is first.
//!
//! What enters: a time for a source, in place of its former one. What leaves: the source with the earliest time; of
//! several, the one with the smallest number. Sources are heads of channels and timers, so a queue has at most one
//! entry for each, however many packets are in flight.
//!
//! A queue is a tournament tree: the sources are the leaves, and each inner node names the one below it that is first.
//! A change repeats the matches on the path to the root. `bench event-queue` measures it against heaps and a calendar
//! queue (docs/design/simulator.md).
//!
//! * [`EventQueue`]: one queue.
//! * [`EventQueues`]: one for each node of a network.

use crate::time::Time;

/// The number of a source.
pub type Source = u32;

/// The next event of each source.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The time of each source's event; filled up to a power of two.
    times: Vec<Time>,
    /// See [`Tree`].
    winners: Vec<Source>,
}

impl EventQueue {
    /// A queue for this many sources, none of which has an event.
    pub fn new(sources: usize) -> EventQueue {
        let leaves = leaves(sources);
        EventQueue { times: vec![Time::MAX; leaves], winners: winners(leaves) }
    }

    /// Makes the queue large enough for this many sources.
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

    /// The time of a source's next event.
    #[inline]
    pub fn time(&self, source: Source) -> Time {
        self.times[source as usize]
    }

    /// Sets the time of a source's next event; [`Time::MAX`] for none.
    #[inline]
    pub fn set(&mut self, source: Source, time: Time) {
        Tree { times: &mut self.times, winners: &mut self.winners }.set(source, time);
    }
}

/// A queue for each node, whose trees lie one behind the other: what a node looks at is a few lines of the cache.
#[derive(Debug, Default)]
pub struct EventQueues {
    times: Vec<Time>,
    winners: Vec<Source>,
    /// Where each node's tree begins, and where the last one ends.
    begins: Vec<u32>,
}

impl EventQueues {
    /// Adds a queue for this many sources, none of which has an event.
    pub fn add(&mut self, sources: usize) {
        if self.begins.is_empty() {
            self.begins.push(0);
        }
        let leaves = leaves(sources);
        self.times.resize(self.times.len() + leaves, Time::MAX);
        self.winners.extend(winners(leaves));
        self.begins.push(self.times.len() as u32);
    }

    /// The first event of a node; [`Time::MAX`] if there is none.
    #[inline]
    pub fn first(&self, node: u32) -> (Time, Source) {
        let begin = self.begins[node as usize] as usize;
        let source = self.winners[begin + 1];
        (self.times[begin + source as usize], source)
    }

    /// Has the processor fetch what is known about a source of a node.
    #[inline]
    pub(crate) fn fetch(&self, node: u32, source: Source) {
        let begin = self.begins[node as usize] as usize;
        tables::prefetch(&raw const self.times[begin + source as usize]);
        tables::prefetch(&raw const self.winners[begin]);
    }

    /// Sets the time of the next event of a node's source; [`Time::MAX`] for none.
    #[inline]
    pub fn set(&mut self, node: u32, source: Source, time: Time) {
        let tree = self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize;
        Tree { times: &mut self.times[tree.clone()], winners: &mut self.winners[tree] }.set(source, time);
    }
}

fn leaves(sources: usize) -> usize {
    sources.next_power_of_two().max(2)
}

/// The inner nodes of a tree whose sources have no events.
fn winners(leaves: usize) -> Vec<Source> {
    let mut winners: Vec<Source> = vec![0; leaves];
    for node in (1..leaves).rev() {
        let left = 2 * node;
        winners[node] = if left >= leaves { (left - leaves) as Source } else { winners[left] };
    }
    winners
}

struct Tree<'a> {
    times: &'a mut [Time],
    /// For each inner node of the tree the source below it that is first. Node 1 is the root; the children of `n` are
    /// `2 n` and `2 n + 1`; the leaves, which follow the inner nodes, are the sources themselves.
    winners: &'a mut [Source],
}

impl Tree<'_> {
    #[inline]
    fn set(&mut self, source: Source, time: Time) {
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

    /// Against a plain search through all sources, each queue for itself.
    #[test]
    fn the_first_event_is_the_least_after_any_change() {
        let mut rng = Rng::new(1);
        let sizes = [1, 2, 5, 64, 300];
        let mut queues = EventQueues::default();
        sizes.iter().for_each(|&sources| queues.add(sources));
        for (node, sources) in (0..).zip(sizes) {
            let (mut queue, mut times) = (EventQueue::new(sources), vec![Time::MAX; sources]);
            for _ in 0..3_000 {
                let source = rng.below(sources as u64) as usize;
                let time = if rng.chance(1, 4) { Time::MAX } else { Time::from_ps(rng.below(100)) };
                queue.set(source as Source, time);
                queues.set(node, source as Source, time);
                times[source] = time;
                let least = (0..).zip(&times).map(|(source, &time)| (time, source)).min();
                assert_eq!(queue.first(), least.filter(|(time, _)| *time != Time::MAX));
                let (time, source) = queues.first(node);
                assert_eq!(queue.first(), (time != Time::MAX).then_some((time, source)));
            }
        }
    }
}
