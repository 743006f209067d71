//! Timer ports: by the clock, while the control plane adds, changes and stops timers; by the stamps of captures, the
//! same each time.

use expect_test::{Expect, expect};
use live::memory::{MemoryPeer, memory_port};
use live::timer::TimerDriver;
use live::worker::{self, Ended, Events, Port, Setup};
use live::{StopFlag, mailbox};
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::Switch;
use switch::command_queue::CommandQueue;
use switch::timers::{Timer, Timers};
use switch::workers::{Wanted, Workers};
use testkit::pipeline::{Engine, program_of_text, switch_for};

/// Counts packets until one comes from port 9 or 8, which carries the number on to port 2 and the byte before it.
const HOLDER: &str = "
#include <core.p4>
#include <v1model.p4>
header raw_t { bit<96> addresses; bit<8> mark; bit<8> held; }
struct headers_t { raw_t raw; }
struct none_t { }
parser P(packet_in p, out headers_t h, inout none_t m, inout standard_metadata_t sm) {
    state start { p.extract(h.raw); transition accept; }
}
control V(inout headers_t h, inout none_t m) { apply { } }
control I(inout headers_t h, inout none_t m, inout standard_metadata_t sm) {
    register<bit<8>>(1) held;
    apply {
        bit<8> count;
        held.read(count, 0);
        if (sm.ingress_port == 9 || sm.ingress_port == 8) {
            h.raw.held = count;
            count = 0;
            sm.egress_spec = 2;
        } else {
            count = count + 1;
            mark_to_drop(sm);
        }
        held.write(0, count);
    }
}
control E(inout headers_t h, inout none_t m, inout standard_metadata_t sm) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;";

fn holder() -> Switch {
    let program = program_of_text("holder.p4", HOLDER).unwrap_or_else(|errors| panic!("{errors}"));
    switch_for(&Arc::new(program), &Engine::Interpreter).unwrap()
}

/// A frame with a mark.
fn frame(mark: u8) -> Vec<u8> {
    [&[2; 12][..], &[mark, 0]].concat()
}

fn memory(number: u32, is_capture: bool) -> (Port, MemoryPeer) {
    let (driver, peer) = memory_port();
    (Port { number, driver: Box::new(driver), is_capture }, peer)
}

fn timer(number: u32, period_us: u64, mark: u8, ticks_after: u64) -> Port {
    let timer = Timer::new(period_us * 1_000, vec![frame(mark)]).unwrap();
    Port { number, driver: Box::new(TimerDriver::open(Arc::new(timer), ticks_after).unwrap()), is_capture: true }
}

struct Silent;

impl Events for Silent {}

/// Runs packets that arrive at these times, in microseconds, beside timers; shows what leaves and when.
fn check(times_us: &[u64], timers: impl Fn() -> Vec<Port>, expected: Expect) {
    let run = || {
        let ((from, sender), (to, receiver)) = (memory(1, true), memory(2, true));
        times_us.iter().for_each(|time_us| sender.send(&frame(0), 1_000_000_000 + time_us * 1_000));
        sender.close();
        receiver.close();
        let ports = [vec![from, to], timers()].into_iter().flatten().collect();
        let (ended, ports) = worker::run(&mut holder(), Setup::of_ports(ports), &StopFlag::new(), &mut Silent).unwrap();
        assert_eq!(ended, Ended::Exhausted);
        let line = |(frame, stamp_ns): (Vec<u8>, u64)| {
            format!("{:>5} us: timer {} brings {}\n", (stamp_ns - 1_000_000_000) / 1_000, frame[12], frame[13])
        };
        let ticks: u64 =
            ports.iter().map(|(_, driver)| driver.counters().snapshot()).skip(2).map(|it| it.rx_packets).sum();
        receiver.take().into_iter().map(line).collect::<String>() + &format!("{ticks} ticks\n")
    };
    let first = run();
    expected.assert_eq(&first);
    assert_eq!(first, run(), "another run differs");
}

#[test]
fn by_stamps_a_timer_ticks_between_packets_and_once_after_the_last() {
    check(
        &[0, 10, 49, 50, 51, 120],
        || vec![timer(9, 50, 9, 1)],
        expect![[r#"
               50 us: timer 9 brings 4
              100 us: timer 9 brings 1
              150 us: timer 9 brings 1
            3 ticks
        "#]],
    );
}

#[test]
fn by_stamps_several_timers_tick_in_the_order_of_time_then_of_ports() {
    check(
        &[0, 10, 65],
        || vec![timer(8, 30, 8, 1), timer(9, 20, 9, 3)],
        expect![[r#"
               20 us: timer 9 brings 2
               30 us: timer 8 brings 0
               40 us: timer 9 brings 0
               60 us: timer 8 brings 0
               60 us: timer 9 brings 0
               80 us: timer 9 brings 1
               90 us: timer 8 brings 0
              100 us: timer 9 brings 0
              120 us: timer 9 brings 0
            9 ticks
        "#]],
    );
}

#[test]
fn by_stamps_there_is_no_time_without_a_packet() {
    check(
        &[],
        || vec![timer(9, 50, 9, 1)],
        expect![[r#"
            0 ticks
        "#]],
    );
}

/// The frames at a peer, as soon as there is one with this mark.
fn wait_for(peer: &MemoryPeer, mark: u8) {
    let start = Instant::now();
    while !peer.take().iter().any(|(frame, _)| frame[12] == mark) {
        assert!(start.elapsed() < Duration::from_secs(60), "no packet of {mark}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn by_stamps_the_control_plane_learns_that_timers_do_not_follow_the_clock() {
    for is_capture in [false, true] {
        let (port, peer) = memory(1, is_capture);
        peer.close();
        let timers = Arc::new(Timers::new([(1, None)], 510));
        let setup = Setup { timers: Some(Arc::clone(&timers)), ..Setup::of_ports(vec![port]) };
        worker::run(&mut holder(), setup, &StopFlag::new(), &mut Silent).unwrap();
        assert_eq!(timers.remark().contains("captures"), is_capture);
    }
}

/// Adds, changes and stops timers while several workers run.
fn check_control(workers: usize) {
    let ((to, receiver), (mailbox, inbox)) = (memory(2, false), mailbox().unwrap());
    let first = Arc::new(Timer::new(1_000_000, vec![frame(1)]).unwrap());
    let driver = Box::new(TimerDriver::open(Arc::clone(&first), 1).unwrap());
    let timers = Arc::new(Timers::new([(2, None), (9, Some(Arc::clone(&first)))], 510));
    let setup = Setup {
        ports: vec![to, Port { number: 9, driver, is_capture: false }],
        inbox: Some(inbox),
        timers: Some(Arc::clone(&timers)),
        workers: Some(Arc::new(Workers::new(Wanted::Fixed(workers), workers))),
        ..Setup::default()
    };
    let (stop, mut switch) = (StopFlag::new(), holder());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| worker::run(&mut switch, setup, &stop, &mut Silent).unwrap());
        let command_queue: &dyn CommandQueue = &mailbox;
        let run_job = || command_queue.ask(|_| ()).unwrap();
        wait_for(&receiver, 1);
        timers.set(8, 2_000_000, vec![frame(2)]).unwrap();
        run_job();
        wait_for(&receiver, 2);
        timers.set(9, 1_000_000, vec![frame(3)]).unwrap();
        run_job();
        wait_for(&receiver, 3);
        timers.stop(9).unwrap();
        run_job();
        // What was under way, and then no more.
        run_job();
        let ticks = first.ticks();
        receiver.take();
        wait_for(&receiver, 2);
        assert!(first.ticks() <= ticks + 1, "it ticks on");
        stop.stop();
        let (ended, ports) = run.join().unwrap();
        assert_eq!(ended, Ended::Stopped);
        assert_eq!(ports.iter().map(|(number, _)| number).collect::<Vec<_>>(), [2, 9, 8]);
    });
}

#[test]
fn timers_are_added_changed_and_stopped_while_the_switch_runs() {
    check_control(1);
    check_control(2);
}
