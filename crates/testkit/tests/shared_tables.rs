//! Tables that other threads change while a switch forwards.

use base::Bits;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use switch::{Output, Switch};
use tables::{EntrySpec, MatchValue, Operation, Update};
use testkit::corpus::Way;
use testkit::pipeline::{program_of_text, switch_for};

/// Two tables that each write a number into the frame: the first found by its value, the second by a prefix.
const TWO_TABLES: &str = "
#include <core.p4>
#include <v1model.p4>
header numbers_t { bit<8> key; bit<32> first; bit<32> second; }
struct headers { numbers_t numbers; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.numbers); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action set_first(bit<32> number) { hdr.numbers.first = number; }
    action set_second(bit<32> number) { hdr.numbers.second = number; }
    table first { key = { hdr.numbers.key: exact; } actions = { set_first; } default_action = set_first(0); }
    table second { key = { hdr.numbers.key: lpm; } actions = { set_second; } default_action = set_second(0); }
    apply { first.apply(); second.apply(); sm.egress_spec = 1; }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.numbers); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// The numbers of every frame that was sent.
#[derive(Default)]
struct Numbers(Vec<(u32, u32)>);

impl Output for Numbers {
    fn transmit(&mut self, _port: u32, frame: &[u8], _time_ns: u64) {
        let number = |start: usize| u32::from_be_bytes(frame[start..start + 4].try_into().unwrap());
        self.0.push((number(1), number(5)));
    }
}

/// A switch for each way of running a program.
fn each_way(source: &str, mut check: impl FnMut(Switch, &str)) {
    let program = program_of_text("shared.p4", source).unwrap_or_else(|errors| panic!("{errors}"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    for way in Way::ALL {
        let program = Arc::new(way.program(&program).unwrap());
        check(switch_for(&program, &way.engine(&cache)).unwrap(), way.describe());
    }
}

fn entry(key: MatchValue, number: u32) -> EntrySpec {
    EntrySpec { key: vec![key], priority: 0, action: 0, args: vec![Bits::from_u64(32, u64::from(number))] }
}

/// Both tables say the same number, and a batch changes it in both: one keeps its entry, the other gets a new one.
fn batch(number: u32) -> Vec<Update> {
    let exact = MatchValue::Exact(Bits::from_u64(8, 7));
    let lpm = MatchValue::Lpm { value: Bits::from_u64(8, 0), prefix_len: 4 };
    let insert = |table, key| Update { table, operation: Operation::Insert(entry(key, number)) };
    let clear = |table| Update { table, operation: Operation::Clear };
    vec![clear(1), insert(1, lpm), clear(0), insert(0, exact)]
}

#[test]
fn no_packet_sees_half_of_a_batch() {
    const BATCHES: u32 = 500;
    each_way(TWO_TABLES, |mut switch, way| {
        let tables = switch.shared_tables();
        tables.lock().apply(batch(1)).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 2..=BATCHES {
                    tables.lock().apply(batch(number)).unwrap();
                    std::thread::yield_now();
                }
                done.store(true, Ordering::Release);
            });
            let (mut newest, mut is_last) = (1, false);
            while !is_last {
                is_last = done.load(Ordering::Acquire);
                for _ in 0..20 {
                    switch.receive(0, 0, &[7, 0, 0, 0, 0, 0, 0, 0, 0]);
                }
                let mut sent = Numbers::default();
                switch.run(0, &mut sent);
                assert_eq!(sent.0.len(), 20);
                for (first, second) in sent.0 {
                    assert!(first == second && first >= newest, "{way}: {first} and {second} after {newest}");
                    newest = first;
                }
            }
            assert_eq!(newest, BATCHES, "{way}");
        });
    });
}

/// The control plane of one thread waits for a switch that another thread runs, and not the other way round.
#[test]
fn a_switch_is_run_by_another_thread_than_the_one_that_made_it() {
    each_way(TWO_TABLES, |mut switch, way| {
        let tables = switch.shared_tables();
        tables.lock().apply(batch(9)).unwrap();
        let sent = std::thread::spawn(move || {
            let mut sent = Numbers::default();
            switch.receive(0, 0, &[7, 0, 0, 0, 0, 0, 0, 0, 0]);
            switch.run(0, &mut sent);
            sent.0
        });
        assert_eq!(sent.join().unwrap(), [(9, 9)], "{way}");
    });
}
