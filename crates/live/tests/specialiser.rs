//! A worker whose switch gets specialised code for the contents of its tables, and drops it when one of them changes:
//! every packet sees the present state of the tables.

use base::FieldMatch;
use live::memory::{MemoryPeer, memory_port};
use live::worker::{self, Events, Port, Setup};
use live::{News, Specialiser, StopFlag, mailbox};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use switch::workers::{Wanted, Workers};
use switch::{SharedTables, Switch};
use tables::{EntrySpec, Operation};
use testkit::corpus::quick_options;
use testkit::pipeline::{Engine, optimised, program_of_text, switch_for};

const SOURCE: &str = "#include <core.p4>
#include <v1model.p4>
header small_t { bit<8> to; bit<8> note; }
struct headers { small_t small; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.small); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(1) seen;
    action deny() { hdr.small.note = 0xdd; }
    action send(bit<9> port, bit<8> note) { sm.egress_spec = port; hdr.small.note = note; }
    table acl { key = { hdr.small.to: ternary; } actions = { deny; NoAction; } default_action = NoAction(); }
    table route { key = { hdr.small.to: exact; } actions = { send; } default_action = send(2, 0); }
    apply {
        bit<32> count;
        seen.read(count, 0);
        count = count + 1;
        seen.write(0, count);
        route.apply();
        acl.apply();
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.small); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// The events, for the sending thread.
#[derive(Clone, Default)]
struct EventLog(Arc<Mutex<Vec<String>>>);

impl Events for EventLog {
    fn specialised(&mut self, news: &News) {
        let line = match news {
            News::Runs(special) => special.to_string(),
            News::Ended => "ended".to_owned(),
            News::Failed(error) => error.clone(),
        };
        self.0.lock().unwrap().push(line);
    }
}

impl EventLog {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn engine() -> Engine {
    Engine::Native(quick_options(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("native")))
}

fn specialiser() -> Specialiser {
    let compile = |specialised: switch::SpecialisedProgram| {
        let options = quick_options(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("native"));
        let native = cgen::Native::build(&specialised.c_text(), specialised.plan(), &options);
        let native = native.map_err(|error| error.to_string())?;
        Ok(specialised.build(native))
    };
    Specialiser::start(Duration::from_millis(1), Box::new(compile)).unwrap()
}

/// Sends a frame and waits for the response.
fn answer(peer: &MemoryPeer, out: &MemoryPeer, to: u8) -> u8 {
    peer.send(&[to, 0xff, 9, 9], 0);
    let start = Instant::now();
    loop {
        if let Some((frame, _)) = out.take().into_iter().next() {
            assert_eq!((frame[0], &frame[2..]), (to, &[9, 9][..]));
            return frame[1];
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no packet comes");
        std::thread::yield_now();
    }
}

fn exact(to: u64) -> FieldMatch {
    FieldMatch::Exact(base::Bits::from_u64(8, to))
}

fn route(to: u64, note: u64) -> Operation {
    let args = vec![base::Bits::from_u64(9, 2), base::Bits::from_u64(8, note)];
    Operation::Insert(EntrySpec { key: vec![exact(to)], priority: 0, action: 0, args })
}

/// Packets see the state of `note`, until this many events were recorded.
fn until_logged(log: &EventLog, count: usize, mut check: impl FnMut()) {
    let start = Instant::now();
    while log.lines().len() < count {
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", log.lines());
        check();
    }
}

fn run(workers: usize) {
    let program =
        optimised(&program_of_text("special.p4", SOURCE).unwrap_or_else(|errors| panic!("{errors}"))).unwrap();
    let mut switch = switch_for(&Arc::new(program), &engine()).unwrap();
    let tables = switch.shared_tables();
    let position = |name: &str| tables.lock().position(name).unwrap();
    let (routes, acl) = (position("I.route"), position("I.acl"));
    let change = |tables: &SharedTables, table, operation| tables.lock().perform(table, operation).unwrap();
    change(&tables, routes, route(7, 0x11));
    let ((driver_in, peer), (driver_out, out)) = (memory_port(), memory_port());
    let port = |number, driver| Port { number, driver: Box::new(driver), is_capture: false };
    let ports = vec![port(1, driver_in), port(2, driver_out)];
    let (mailbox, inbox) = mailbox().unwrap();
    let (log, stop) = (EventLog::default(), StopFlag::new());
    let shown = Arc::new(Workers::new(Wanted::Fixed(workers), workers));
    let setup = Setup {
        ports,
        inbox: Some(inbox),
        specialiser: Some(specialiser()),
        workers: Some(Arc::clone(&shown)),
        ..Setup::default()
    };
    let mut sent = 0;
    let mut check = |to: u8, note: u8| {
        sent += 1;
        assert_eq!(answer(&peer, &out, to), note);
    };
    let worker = {
        let (stop, mut log) = (stop.clone(), log.clone());
        std::thread::spawn(move || {
            worker::run(&mut switch, setup, &stop, &mut log).unwrap();
            switch
        })
    };
    until_logged(&log, 1, || {
        check(7, 0x11);
        check(8, 0);
    });
    assert_eq!(shown.code(), "I.route has 1 entry, I.acl is empty");
    check(7, 0x11);
    check(8, 0);
    // From here on every packet sees the new entry, whatever code was running.
    change(&tables, routes, route(8, 0x22));
    check(8, 0x22);
    check(7, 0x11);
    until_logged(&log, 3, || check(8, 0x22));
    let all = FieldMatch::Ternary { value: base::Bits::zero(8), mask: base::Bits::zero(8) };
    let deny = EntrySpec { key: vec![all], priority: 1, action: 0, args: Vec::new() };
    change(&tables, acl, Operation::Insert(deny));
    check(7, 0xdd);
    check(9, 0xdd);
    until_logged(&log, 4, || check(8, 0xdd));
    stop.stop();
    let mut switch: Switch = worker.join().unwrap();
    drop(mailbox);
    let externs = switch.externs_mut();
    let uses: Vec<u64> = externs.table_uses.iter().map(|uses| uses.lookups).collect();
    assert_eq!(uses, [sent, sent]);
    let seen = externs.registers.iter().next().and_then(|register| register.read(0)).unwrap();
    assert_eq!(seen.low_u64(), sent, "the register kept its value over all changes of code");
    let log = log.lines();
    assert_eq!(log[..3], ["I.route has 1 entry, I.acl is empty", "ended", "I.route has 2 entries, I.acl is empty"]);
}

#[test]
fn no_packet_meets_tables_of_the_past() {
    run(1);
}

#[test]
fn nor_with_two_workers() {
    run(2);
}
