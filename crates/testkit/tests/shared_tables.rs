//! Tables that other threads change while a switch forwards.

use base::{Bits, FieldMatch};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use switch::externs::TableUse;
use switch::{MeterConfig, Output, Switch};
use tables::{EntrySpec, Handle, Operation, Outcome, Update};
use testkit::corpus::Way;
use testkit::pipeline::{program_of_text, switch_for};

/// Two tables that each write a number into the frame: one has an exact key, the other a prefix.
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

/// Runs a check with a switch for each execution mode.
fn each_way(source: &str, mut check: impl FnMut(Switch, &str)) {
    let program = program_of_text("shared.p4", source).unwrap_or_else(|errors| panic!("{errors}"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    for way in Way::ALL {
        let program = Arc::new(way.program(&program).unwrap());
        check(switch_for(&program, &way.engine(&cache)).unwrap(), way.describe());
    }
}

fn entry(key: FieldMatch, number: u32) -> EntrySpec {
    EntrySpec { key: vec![key], priority: 0, action: 0, args: vec![Bits::from_u64(32, u64::from(number))] }
}

/// Both tables have the same number, and a batch changes it in both: one entry is modified, the other is replaced.
fn batch(number: u32) -> Vec<Update> {
    let exact = FieldMatch::Exact(Bits::from_u64(8, 7));
    let lpm = FieldMatch::Lpm { value: Bits::from_u64(8, 0), prefix_len: 4 };
    let insert = |table, key| Update { table, operation: Operation::Insert(entry(key, number)) };
    let clear = |table| Update { table, operation: Operation::Clear };
    vec![clear(1), insert(1, lpm), clear(0), insert(0, exact)]
}

#[test]
fn no_packet_sees_half_of_a_batch() {
    const BATCHES: u32 = 200;
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

/// The control plane on one thread waits for a switch on another thread, but the switch does not wait for it.
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

/// A table whose entries have all kinds of per-entry state. The frame shows the colour of its meter.
const CELLS: &str = "
#include <core.p4>
#include <v1model.p4>
header numbers_t { bit<8> key; bit<32> first; bit<32> second; }
struct headers { numbers_t numbers; }
struct meta_t { bit<32> color; }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.numbers); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<32>>(MeterType.packets) colors;
    action set_second(bit<32> number) { colors.read(meta.color); hits.count(); hdr.numbers.second = number; }
    table numbers {
        key = { hdr.numbers.key: exact; }
        actions = { set_second; @defaultonly NoAction; }
        default_action = NoAction();
        counters = hits;
        meters = colors;
        support_timeout = true;
    }
    table others { key = { hdr.numbers.key: exact; } actions = { NoAction; } default_action = NoAction(); }
    apply { numbers.apply(); others.apply(); hdr.numbers.first = meta.color; sm.egress_spec = 1; }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.numbers); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

fn key(value: u64) -> FieldMatch {
    FieldMatch::Exact(Bits::from_u64(8, value))
}

/// Runs a burst of packets with this key and returns their colours.
fn colors(switch: &mut Switch, now_ns: u64, key: u8, packets: usize) -> Vec<u32> {
    for _ in 0..packets {
        switch.receive(now_ns, 0, &[key, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    let mut sent = Numbers::default();
    switch.run(now_ns, &mut sent);
    sent.0.into_iter().map(|(color, _)| color).collect()
}

/// The count of the entry with this handle.
fn counted(switch: &mut Switch, handle: Handle) -> u64 {
    switch.externs_mut().direct_counters.iter().next().unwrap()[handle.0 as usize].packets
}

#[test]
fn a_new_entry_finds_its_cells_fresh() {
    const NOTHING_ALLOWED: MeterConfig = MeterConfig {
        committed_rate_milliunits_per_s: 0,
        committed_burst: 0,
        peak_rate_milliunits_per_s: 0,
        peak_burst: 0,
    };
    each_way(CELLS, |mut switch, way| {
        let tables = switch.shared_tables();
        let handle = tables.lock().insert(0, entry(key(7), 1)).unwrap();
        let meter = switch.program().direct_meters.ids().next().unwrap();
        switch.externs_mut().direct_meters[meter].cell(0).unwrap().configure(NOTHING_ALLOWED, 0);
        assert_eq!(colors(&mut switch, 0, 7, 3), [2; 3], "{way}");
        assert_eq!(counted(&mut switch, handle), 3, "{way}");
        // The next entry gets the handle of the first one, in the batch that deletes it; neither needs to be hit by a
        // packet.
        for _ in 0..2 {
            let remove = Update { table: 0, operation: Operation::Delete { handle } };
            let insert = Update { table: 0, operation: Operation::Insert(entry(key(8), 2)) };
            assert_eq!(tables.lock().apply(vec![remove, insert]).unwrap()[1], Outcome::Inserted(handle));
            assert_eq!(counted(&mut switch, handle), 0, "{way}");
            assert_eq!(colors(&mut switch, 0, 8, 2), [0; 2], "{way}");
            assert_eq!(counted(&mut switch, handle), 2, "{way}");
        }
        // An entry that is not new keeps its state.
        tables.lock().insert(0, entry(key(9), 2)).unwrap();
        let modify = Operation::Modify { handle, action: 0, args: vec![Bits::from_u64(32, 5)] };
        tables.lock().perform(0, modify).unwrap();
        colors(&mut switch, 0, 8, 1);
        assert_eq!(counted(&mut switch, handle), 3, "{way}");
    });
}

/// Another thread replaces an entry under its handle repeatedly. Packets that hit an old entry never count on a new
/// one: the last one, which no packet hits, has counted none.
#[test]
fn packets_of_an_old_entry_do_not_count_on_a_new_one() {
    each_way(CELLS, |mut switch, way| {
        let tables = switch.shared_tables();
        let handle = tables.lock().insert(0, entry(key(7), 1)).unwrap();
        let replace = |value| {
            let operations = [Operation::Delete { handle }, Operation::Insert(entry(key(value), 2))];
            operations.map(|operation| Update { table: 0, operation }).to_vec()
        };
        for _ in 0..50 {
            std::thread::scope(|scope| {
                let replaced = scope.spawn(|| {
                    tables.lock().apply(replace(7)).unwrap();
                    tables.lock().apply(replace(8)).unwrap();
                });
                while !replaced.is_finished() {
                    colors(&mut switch, 0, 7, 5);
                }
            });
            colors(&mut switch, 0, 7, 5);
            assert_eq!(counted(&mut switch, handle), 0, "{way}");
        }
    });
}

#[test]
fn the_last_hit_of_an_entry_is_known() {
    each_way(CELLS, |mut switch, way| {
        let tables = switch.shared_tables();
        let last_hits = |switch: &mut Switch| {
            let times: Vec<Vec<u64>> =
                switch.externs_mut().last_hits_ns.iter().map(|times| times.iter().take(2).copied().collect()).collect();
            (times[0].clone(), times[1].len())
        };
        colors(&mut switch, 50, 7, 1);
        let insertions = [7, 8].map(|value| Update { table: 0, operation: Operation::Insert(entry(key(value), 1)) });
        tables.lock().apply(insertions.to_vec()).unwrap();
        colors(&mut switch, 100, 9, 1);
        assert_eq!(last_hits(&mut switch), (vec![100, 100], 0), "{way}: that of the insertion");
        colors(&mut switch, 300, 8, 3);
        colors(&mut switch, 400, 9, 1);
        assert_eq!(last_hits(&mut switch), (vec![100, 300], 0), "{way}");
        switch.advance(500);
        tables.lock().perform(0, Operation::Clear).unwrap();
        tables.lock().insert(0, entry(key(9), 1)).unwrap();
        assert_eq!(last_hits(&mut switch), (vec![500, 300], 0), "{way}");
    });
}

#[test]
fn hits_and_misses_of_each_table_are_counted() {
    each_way(CELLS, |mut switch, way| {
        let tables = switch.shared_tables();
        for value in [7, 8] {
            tables.lock().insert(0, entry(key(value), 1)).unwrap();
        }
        colors(&mut switch, 0, 7, 20);
        colors(&mut switch, 0, 8, 1);
        colors(&mut switch, 0, 9, 5);
        let uses: Vec<TableUse> = switch.externs_mut().table_uses.iter().copied().collect();
        assert_eq!(uses, [TableUse { lookups: 26, hits: 21 }, TableUse { lookups: 26, hits: 0 }], "{way}");
    });
}
