//! Event queues for the simulator: the cost of an event with 10 to 10,000 active sources.
//!
//! What enters: nothing. What leaves: nanoseconds per event of each candidate. All of them hold one time for each
//! source, as `sim::events` does; those that cannot change an entry leave the old one in place and skip it later.
//!
//! The work is that of a network: the source whose event is first gets its next time (the next packet of a channel, or
//! the next timer of a node), and every second event gives another source an earlier one (a packet that enters an
//! empty channel).

use crate::Arguments;
use ::sim::Time;
use ::sim::events::{EventQueue, Source};
use base::Rng;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::time::Instant;

/// Active sources: from a dumbbell to a fat-tree of 1,024 hosts.
const SOURCES: [usize; 4] = [10, 100, 1_000, 10_000];

/// A candidate.
trait Candidate {
    fn new(sources: usize) -> Self;
    fn set(&mut self, source: Source, time: Time);
    fn first(&mut self) -> Option<(Time, Source)>;
}

impl Candidate for EventQueue {
    fn new(sources: usize) -> EventQueue {
        EventQueue::new(sources)
    }

    fn set(&mut self, source: Source, time: Time) {
        EventQueue::set(self, source, time);
    }

    fn first(&mut self) -> Option<(Time, Source)> {
        EventQueue::first(self)
    }
}

/// The standard library's heap.
struct Binary {
    heap: BinaryHeap<Reverse<(Time, Source)>>,
    times: Vec<Time>,
}

impl Candidate for Binary {
    fn new(sources: usize) -> Binary {
        Binary { heap: BinaryHeap::new(), times: vec![Time::MAX; sources] }
    }

    fn set(&mut self, source: Source, time: Time) {
        self.times[source as usize] = time;
        if time != Time::MAX {
            self.heap.push(Reverse((time, source)));
        }
    }

    fn first(&mut self) -> Option<(Time, Source)> {
        while let Some(&Reverse((time, source))) = self.heap.peek() {
            if self.times[source as usize] == time {
                return Some((time, source));
            }
            self.heap.pop();
        }
        None
    }
}

/// Children of an entry. Four keys are one cache line.
const CHILDREN: usize = 4;

/// The position of sources that have no entry.
const ABSENT: u32 = u32::MAX;

/// An entry: time and source, in the order of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    time: Time,
    source: Source,
}

/// A heap with four children for each entry, and the position of each source in it.
struct Heap4 {
    heap: Vec<Entry>,
    positions: Vec<u32>,
}

impl Heap4 {
    fn replace(&mut self, position: usize, entry: Entry) {
        let is_earlier = entry < self.heap[position];
        self.heap[position] = entry;
        if is_earlier { self.rise(position) } else { self.sink(position) }
    }

    fn remove(&mut self, position: usize) {
        self.positions[self.heap[position].source as usize] = ABSENT;
        if let Some(last) = self.heap.pop()
            && position < self.heap.len()
        {
            self.replace(position, last);
        }
    }

    fn rise(&mut self, mut position: usize) {
        let entry = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / CHILDREN;
            if self.heap[parent] < entry {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        self.put(position, entry);
    }

    fn sink(&mut self, mut position: usize) {
        let entry = self.heap[position];
        loop {
            let first = position * CHILDREN + 1;
            let children = self.heap.get(first..).unwrap_or_default();
            let least = children.iter().take(CHILDREN).enumerate().min_by_key(|(_, child)| **child);
            let Some((index, &child)) = least.filter(|(_, child)| **child < entry) else { break };
            self.put(position, child);
            position = first + index;
        }
        self.put(position, entry);
    }

    #[inline]
    fn put(&mut self, position: usize, entry: Entry) {
        self.heap[position] = entry;
        self.positions[entry.source as usize] = position as u32;
    }
}

impl Candidate for Heap4 {
    fn new(sources: usize) -> Heap4 {
        Heap4 { heap: Vec::with_capacity(sources), positions: vec![ABSENT; sources] }
    }

    fn set(&mut self, source: Source, time: Time) {
        let position = self.positions[source as usize];
        match (position, time) {
            (ABSENT, Time::MAX) => {}
            (_, Time::MAX) => self.remove(position as usize),
            (ABSENT, _) => {
                self.heap.push(Entry { time, source });
                self.rise(self.heap.len() - 1);
            }
            _ => self.replace(position as usize, Entry { time, source }),
        }
    }

    fn first(&mut self) -> Option<(Time, Source)> {
        self.heap.first().map(|entry| (entry.time, entry.source))
    }
}

/// A calendar queue (Brown 1988): days of a fixed length, each with its sorted events, latest first. The number of
/// days is that of the sources, and the length of a day follows the events of the last year.
struct Calendar {
    days: Vec<Vec<(Time, Source)>>,
    times: Vec<Time>,
    day_ps: u64,
    today: u64,
    entries: usize,
    taken: u64,
    year_began: Time,
}

impl Calendar {
    fn insert(&mut self, time: Time, source: Source) {
        let day = time.ps() / self.day_ps;
        self.today = self.today.min(day);
        let count = self.days.len() as u64;
        let events = &mut self.days[(day % count) as usize];
        let position = events.partition_point(|event| *event > (time, source));
        events.insert(position, (time, source));
        self.entries += 1;
    }

    /// Sets the length of a day so that it has about one event.
    fn adjust(&mut self, now: Time) {
        let ideal_ps = (now.since(self.year_began).ps() / self.taken.max(1)).max(1);
        (self.year_began, self.taken) = (now, 0);
        if ideal_ps < self.day_ps / 2 || ideal_ps > self.day_ps * 2 {
            self.day_ps = ideal_ps;
            self.today = now.ps() / ideal_ps;
            let events: Vec<(Time, Source)> = self.days.iter_mut().flat_map(|day| day.drain(..)).collect();
            self.entries = 0;
            events.into_iter().for_each(|(time, source)| self.insert(time, source));
        }
    }
}

impl Candidate for Calendar {
    fn new(sources: usize) -> Calendar {
        Calendar {
            days: vec![Vec::new(); sources.next_power_of_two()],
            times: vec![Time::MAX; sources],
            day_ps: 1_000,
            today: 0,
            entries: 0,
            taken: 0,
            year_began: Time::ZERO,
        }
    }

    fn set(&mut self, source: Source, time: Time) {
        self.times[source as usize] = time;
        if time != Time::MAX {
            self.insert(time, source);
        }
    }

    fn first(&mut self) -> Option<(Time, Source)> {
        while self.entries > 0 {
            let count = self.days.len() as u64;
            let Some(&(time, source)) = self.days[(self.today % count) as usize].last() else {
                self.today += 1;
                continue;
            };
            let is_stale = self.times[source as usize] != time;
            if !is_stale && time.ps() / self.day_ps != self.today {
                self.today += 1;
                continue;
            }
            if !is_stale {
                self.taken += 1;
                if self.taken > 4 * count + 1_000 {
                    self.adjust(time);
                }
                return Some((time, source));
            }
            self.days[(self.today % count) as usize].pop();
            self.entries -= 1;
        }
        None
    }
}

/// Runs this many events; returns nanoseconds per event and a number that depends on their order.
fn measure<Q: Candidate>(sources: usize, events: u32) -> (f64, u64) {
    let mut rng = Rng::new(1);
    let mut queue = Q::new(sources);
    let mut times = vec![Time::MAX; sources];
    // The mean time between two events of a source.
    let mean_ps = 1_000 * sources as u64;
    let mut set = |queue: &mut Q, source: u64, time: Time| {
        times[source as usize] = time;
        queue.set(source as Source, time);
    };
    (0..sources as u64).for_each(|source| set(&mut queue, source, Time::from_ps(rng.below(mean_ps))));
    let mut digest = 0u64;
    let begin = Instant::now();
    for event in 0..events {
        let Some((now, source)) = queue.first() else { break };
        digest = digest.wrapping_mul(31).wrapping_add(u64::from(source));
        // Timers are far away, packets near.
        let far = if rng.next_u64() & 7 == 0 { 16 } else { 1 };
        set(&mut queue, u64::from(source), now + Time::from_ps(1 + rng.below(2 * mean_ps * far)));
        if event % 2 == 0 {
            let other = rng.below(sources as u64);
            set(&mut queue, other, now + Time::from_ps(1 + rng.below(mean_ps)));
        }
    }
    (begin.elapsed().as_nanos() as f64 / f64::from(events), digest)
}

/// Measures all candidates in turn and prints the best run of each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    type Measure = fn(usize, u32) -> (f64, u64);
    let candidates: [(&str, Measure); 4] = [
        ("heap of 4, indexed", measure::<Heap4>),
        ("binary heap", measure::<Binary>),
        ("tournament tree", measure::<EventQueue>),
        ("calendar queue", measure::<Calendar>),
    ];
    let mut rows = Vec::new();
    for sources in SOURCES {
        let mut best = [f64::INFINITY; 4];
        let mut digests = [0; 4];
        for _ in 0..arguments.runs {
            for (index, (_, measure)) in candidates.iter().enumerate() {
                let (ns, digest) = measure(sources, arguments.packets);
                best[index] = best[index].min(ns);
                digests[index] = digest;
            }
        }
        if digests.iter().any(|&digest| digest != digests[0]) {
            return Err(format!("the candidates disagree about the order of events: {digests:?}").into());
        }
        rows.push((sources, best));
    }
    print(arguments, &candidates.map(|(name, _)| name), &rows);
    Ok(())
}

fn print(arguments: &Arguments, names: &[&str; 4], rows: &[(usize, [f64; 4])]) {
    if arguments.json {
        let row = |(sources, best): &(usize, [f64; 4])| {
            let figures: Vec<_> = names.iter().zip(best).map(|(name, ns)| json!({"queue": name, "ns": ns})).collect();
            json!({"sources": sources, "queues": figures})
        };
        println!("{}", json!({"benchmark": "event-queue", "rows": rows.iter().map(row).collect::<Vec<_>>()}));
        return;
    }
    println!("nanoseconds per event, the best of {} runs\n", arguments.runs);
    println!("{:>8} {}", "sources", names.map(|name| format!("{name:>20}")).join(""));
    for (sources, best) in rows {
        println!("{sources:>8} {}", best.map(|ns| format!("{ns:>20.1}")).join(""));
    }
}
