//! Programs of PNA whose packets add entries and go round: what leaves, in which order, and what tables hold depend
//! neither on the backend nor on how many packets are received together.

use base::Rng;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use switch::{Frame, Output, Switch};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_file, switch_for};

/// Packets that are received in total.
const PACKETS: usize = 300;

/// What left, in order, and the entries of all tables at the end.
#[derive(Default, PartialEq, Eq, Debug)]
struct Outcome {
    sent: Vec<(u32, Vec<u8>)>,
    entries: BTreeSet<String>,
}

impl Output for Outcome {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.sent.push((port, frame.to_vec()));
    }
}

impl Outcome {
    fn see_tables(&mut self, switch: &Switch) {
        for table in switch.tables().tables() {
            let name = &table.spec().name;
            self.entries.extend(table.entries().map(|entry| format!("{name} {} {:?}", entry.handle, entry.spec)));
        }
    }
}

/// Receives packets in bursts of this size at 20 times, in copies of the core's own or, if `lends`, where they lie.
fn outcome(mut switch: Switch, packets: &[(u32, Vec<u8>)], burst: usize, lends: bool) -> Outcome {
    let mut outcome = Outcome::default();
    for (tick, at_once) in packets.chunks(PACKETS / 20).enumerate() {
        let now_ns = tick as u64 * 1_000_000_000;
        for burst in at_once.chunks(burst) {
            if lends {
                let mut memory: Vec<Vec<u8>> = burst.iter().map(|(_, bytes)| bytes.clone()).collect();
                let frames = memory.iter_mut().zip(burst);
                let frames = frames.map(|(memory, (port, _))| Frame::behind_headroom(memory, 0, *port, now_ns));
                switch.forward(now_ns, &mut frames.collect::<Vec<_>>(), &mut outcome);
            } else {
                for (port, bytes) in burst {
                    if switch.receive(now_ns, *port, bytes) {
                        switch.run(now_ns, &mut outcome);
                    }
                }
                switch.run(now_ns, &mut outcome);
            }
        }
    }
    outcome.see_tables(&switch);
    outcome
}

/// Runs a program of the corpus with these packets in every way.
fn check(name: &str, entries: &str, packets: &[(u32, Vec<u8>)]) -> Outcome {
    let program = program_of_file(&folder().join("pna").join(name)).unwrap_or_else(|errors| panic!("{errors}"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let switch = |way: Way| -> Switch {
        let program = Arc::new(way.program(&program).unwrap());
        let mut switch = switch_for(&program, &way.engine(&cache)).unwrap();
        let commands = control::parse_entries("entries", entries, &program).unwrap();
        control::apply_all(&mut switch, &commands).unwrap();
        switch
    };
    let wanted = outcome(switch(Way::ALL[0]), packets, 1, false);
    for way in Way::ALL {
        for (burst, lends) in [(1, false), (1, true), (7, false), (7, true), (PACKETS, false), (PACKETS, true)] {
            let found = outcome(switch(way), packets, burst, lends);
            assert!(found == wanted, "{name}: {}, bursts of {burst}, lent: {lends}", way.describe());
        }
    }
    wanted
}

/// Packets of this many bytes, of which the first two are below these limits, and the others are zero.
fn packets(seed: u64, first: u64, second: u64, bytes: usize) -> Vec<(u32, Vec<u8>)> {
    let mut rng = Rng::new(seed);
    let packet = |_| {
        let mut packet = vec![0; bytes];
        (packet[0], packet[1]) = (rng.between(0, first) as u8, rng.between(0, second) as u8);
        (rng.between(0, 9) as u32, packet)
    };
    (0..PACKETS).map(packet).collect()
}

#[test]
fn added_entries_do_not_show_bursts() {
    for seed in 0..4 {
        let found = check("flows.p4", "", &packets(seed, 3, 2 + 2 * seed, 12));
        assert!(!found.entries.is_empty() && !found.sent.is_empty());
    }
}

#[test]
fn timers_do_not_show_bursts() {
    for seed in 0..4 {
        let mut packets = packets(seed, 5, 12, 4);
        let mut rng = Rng::new(seed);
        packets.iter_mut().for_each(|(_, packet)| packet[2] = rng.between(0, 2) as u8);
        let found = check("timers.p4", "", &packets);
        assert!(!found.entries.is_empty() && found.sent.len() == PACKETS);
    }
}

#[test]
fn mirrors_and_turns_do_not_show_bursts() {
    let sessions = "mirroring_add 1 5\nmirroring_add 5 7\nmirroring_add 6 8\n";
    check("mirror.p4", sessions, &packets(1, 255, 5, 4));
    check("directions.p4", sessions, &packets(2, 9, 31, 6));
    check("three_blocks.p4", "", &packets(3, 1, 3, 3));
}
