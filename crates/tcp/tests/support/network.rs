//! Two endpoints and a bad network between them.
//!
//! Segments travel as bytes, so that every transfer tests the wire format, the checksum and the contents of the stream
//! too.

use base::{Rng, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tcp::wire::{self, Addresses, Ports};
use tcp::{Config, Connection, Ecn, Event, Segment, payload};

/// How the network treats segments. Chances are in 1/1000.
#[derive(Clone, Copy, Debug)]
pub struct Impairments {
    pub loss: u64,
    pub duplication: u64,
    pub reordering: u64,
    pub marks: u64,
    /// In one direction, without jitter.
    pub delay: Time,
    pub jitter: Time,
    /// The most a reordered segment is late.
    pub lateness: Time,
    /// A window that a switch writes into segments from the second end.
    pub rewritten_window: Option<u16>,
}

/// One end and its application.
pub struct End {
    pub connection: Connection,
    /// What the application has still to write.
    pub to_write: u64,
    pub wrote: u64,
    pub read: u64,
    /// The most that it reads at once, and the time between reads. A fast application reads everything when it arrives.
    pub reads: Option<(u64, Time)>,
    pub closes: bool,
    pub events: Vec<Event>,
    next_read: Time,
}

/// The keys of the two streams.
const KEYS: [u64; 2] = [0x1234, 0xabcd];

pub struct Network {
    pub now: Time,
    pub ends: [End; 2],
    pub impairments: Impairments,
    pub rng: Rng,
    /// The most memory that one end used.
    pub memory_max: usize,
    pub segments: u64,
    queue: BTreeMap<(Time, u64), (usize, Vec<u8>, Ecn)>,
    sequence: u64,
}

impl Network {
    /// The first end connects to the second.
    pub fn new(configs: [&Config; 2], impairments: Impairments, seed: u64) -> Network {
        let mut rng = Rng::new(seed);
        let first = Connection::connect(configs[0], rng.next_u64() as u32);
        let second = Connection::listen(configs[1], rng.next_u64() as u32);
        Network::of([first, second], impairments, rng)
    }

    pub fn of(connections: [Connection; 2], impairments: Impairments, rng: Rng) -> Network {
        let ends = connections.map(|connection| End {
            connection,
            to_write: 0,
            wrote: 0,
            read: 0,
            reads: None,
            closes: true,
            events: Vec::new(),
            next_read: Time::MAX,
        });
        Network {
            now: Time::ZERO,
            ends,
            impairments,
            rng,
            memory_max: 0,
            segments: 0,
            queue: BTreeMap::new(),
            sequence: 0,
        }
    }

    /// Runs until nothing happens any more, or until the time. True if nothing is left to happen.
    pub fn run(&mut self, until: Time) -> bool {
        self.serve(0);
        self.serve(1);
        loop {
            let arrival = self.queue.first_key_value().map(|(key, _)| key.0);
            let timer = |end: &End| end.connection.next_timeout().unwrap_or(Time::MAX).min(end.next_read);
            let timers = [timer(&self.ends[0]), timer(&self.ends[1])];
            let next = arrival.unwrap_or(Time::MAX).min(timers[0]).min(timers[1]);
            if next == Time::MAX {
                return true;
            }
            if next > until {
                return false;
            }
            assert!(next >= self.now, "time goes back: {next} after {}", self.now);
            self.now = next;
            if arrival == Some(next) {
                let (_, (to, bytes, ecn)) = self.queue.pop_first().unwrap();
                self.receive(to, &bytes, ecn);
                self.serve(to);
            } else {
                let index = usize::from(timers[1] == next);
                self.ends[index].connection.on_timer(next);
                self.serve(index);
            }
        }
    }

    fn receive(&mut self, to: usize, bytes: &[u8], ecn: Ecn) {
        let (_, segment, payload) = wire::parse(bytes, &addresses(1 - to), ecn).unwrap();
        let connection = &mut self.ends[to].connection;
        if !payload.is_empty() {
            let position = connection.stream_position(&segment);
            assert_eq!(payload::first_difference(KEYS[1 - to], position, payload), None, "contents at {position}");
        }
        connection.on_segment(self.now, &segment);
    }

    /// Lets the application and the endpoint act.
    fn serve(&mut self, index: usize) {
        for count in 0.. {
            assert!(count < 100_000, "an endpoint sends without end: {:?}", self.ends[index].connection);
            self.act(index);
            let Some(segment) = self.ends[index].connection.poll_transmit(self.now) else { break };
            self.send(index, &segment);
        }
        let end = &mut self.ends[index];
        while let Some(event) = end.connection.poll_event() {
            if !matches!(event, Event::Readable | Event::Writable) {
                end.events.push(event);
            }
        }
        self.memory_max = self.memory_max.max(end.connection.memory_bytes());
        if let Some(timeout) = end.connection.next_timeout() {
            assert!(timeout != Time::MAX);
        }
    }

    fn act(&mut self, index: usize) {
        let end = &mut self.ends[index];
        let accepted = end.connection.write(end.to_write);
        end.to_write -= accepted;
        end.wrote += accepted;
        match end.reads {
            None => end.read += end.connection.read(u64::MAX),
            Some((bytes, interval)) => {
                if self.now >= end.next_read {
                    end.read += end.connection.read(bytes);
                    end.next_read = Time::MAX;
                }
                if end.connection.readable() > 0 && end.next_read == Time::MAX {
                    end.next_read = self.now + interval;
                }
            }
        }
        let is_open = end.events.contains(&Event::Established);
        if end.to_write == 0 && end.closes && is_open {
            end.connection.close();
        }
    }

    fn send(&mut self, from: usize, segment: &Segment) {
        self.segments += 1;
        let mut segment = *segment;
        let impairments = self.impairments;
        if from == 1
            && let Some(window) = impairments.rewritten_window
        {
            segment.window = segment.window.min(window);
        }
        let mut bytes = vec![0; wire::length(&segment)];
        let ports = Ports { source: 1, destination: 2 };
        wire::emit(&segment, ports, &addresses(from), KEYS[from], &mut bytes);
        let copies = 1 + u64::from(self.rng.chance(impairments.duplication, 1000));
        for _ in 0..copies {
            if self.rng.chance(impairments.loss, 1000) {
                continue;
            }
            let mut at = self.now + impairments.delay + Time::from_ps(self.rng.between(0, impairments.jitter.ps()));
            if self.rng.chance(impairments.reordering, 1000) {
                at += Time::from_ps(self.rng.between(0, impairments.lateness.ps()));
            }
            let is_marked = segment.ecn != Ecn::NotEct && self.rng.chance(impairments.marks, 1000);
            let ecn = if is_marked { Ecn::Ce } else { segment.ecn };
            self.sequence += 1;
            self.queue.insert((at, self.sequence), (1 - from, bytes.clone(), ecn));
        }
    }
}

fn addresses(from: usize) -> Addresses {
    let hosts = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    Addresses::V4 { source: hosts[from], destination: hosts[1 - from] }
}
