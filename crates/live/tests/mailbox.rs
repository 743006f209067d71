//! Other threads that use the switch of a worker: jobs, packets from and to the control plane, another program.

use live::driver::Deliver;
use live::memory::{GeneratorDriver, MemoryPeer, memory_port};
use live::worker::{self, Ended, Events, Port, Setup};
use live::{Driver, DriverError, Mailbox, PortCounters, StopFlag, mailbox};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use switch::command_queue::{Closed, CommandQueue};
use switch::{CpuPort, DropReason, Switch};
use testkit::pipeline::{Engine, program_of_text, switch_for};

/// A switch whose ingress does this to each packet.
fn switch_that(ingress: &str) -> Switch {
    let source = format!(
        "#include <core.p4>
#include <v1model.p4>
struct none_t {{ }}
parser P(packet_in p, out none_t h, inout none_t m, inout standard_metadata_t sm) {{ state start {{ transition accept; }} }}
control V(inout none_t h, inout none_t m) {{ apply {{ }} }}
control I(inout none_t h, inout none_t m, inout standard_metadata_t sm) {{ apply {{ {ingress} }} }}
control E(inout none_t h, inout none_t m, inout standard_metadata_t sm) {{ apply {{ }} }}
control D(packet_out p, in none_t h) {{ apply {{ }} }}
V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let program = program_of_text("worker.p4", &source).unwrap_or_else(|errors| panic!("{errors}"));
    switch_for(&Arc::new(program), &Engine::Interpreter).unwrap()
}

/// The events of a run.
#[derive(Default)]
struct EventLog {
    packets_in: Vec<Vec<u8>>,
    programs: usize,
    links: Vec<(u32, bool)>,
}

impl Events for EventLog {
    fn packet_in(&mut self, frame: &[u8]) {
        self.packets_in.push(frame.to_vec());
    }

    fn program_changed(&mut self, _program: &Arc<ir::Program>) {
        self.programs += 1;
    }

    fn link_changed(&mut self, port: u32, has_link: bool) {
        self.links.push((port, has_link));
    }
}

/// The result of a run.
struct Left {
    switch: Switch,
    events: EventLog,
    ended: Ended,
}

/// Runs a worker in a thread of its own while this one runs `act`, and then stops it.
fn beside(switch: Switch, ports: Vec<Port>, cpu_port: CpuPort, act: impl FnOnce(&Mailbox)) -> Left {
    let (mailbox, inbox) = mailbox().unwrap();
    let stop = StopFlag::new();
    let setup = Setup { ports, inbox: Some(inbox), cpu_port, ..Setup::default() };
    let worker = {
        let (stop, mut switch) = (stop.clone(), switch);
        std::thread::spawn(move || {
            let mut events = EventLog::default();
            let (ended, _ports) = worker::run(&mut switch, setup, &stop, &mut events).unwrap();
            Left { switch, events, ended }
        })
    };
    act(&mailbox);
    stop.stop();
    worker.join().unwrap()
}

fn port(number: u32) -> (Port, MemoryPeer) {
    let (driver, peer) = memory_port();
    (Port { number, driver: Box::new(driver), is_capture: false }, peer)
}

/// The frames that arrive at a peer, as soon as there are this many.
fn frames(peer: &MemoryPeer, count: usize) -> Vec<Vec<u8>> {
    let (start, mut frames) = (Instant::now(), Vec::new());
    while frames.len() < count {
        assert!(start.elapsed() < Duration::from_secs(60), "{} frames", frames.len());
        frames.extend(peer.take().into_iter().map(|(frame, _)| frame));
        std::thread::yield_now();
    }
    frames
}

fn command_queue(mailbox: &Mailbox) -> &dyn CommandQueue {
    mailbox
}

#[test]
fn a_job_wakes_a_worker_that_waits() {
    let left = beside(switch_that(""), Vec::new(), CpuPort::default(), |mailbox| {
        let start = Instant::now();
        for _ in 0..200 {
            assert_eq!(command_queue(mailbox).ask(|switch| switch.queued()), Ok(0));
        }
        // A worker that is not woken polls ten times a second.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
    assert_eq!(left.ended, Ended::Stopped);
}

#[test]
fn jobs_of_a_thread_keep_their_order_and_none_is_lost() {
    const THREADS: u64 = 4;
    const JOBS: u64 = 5_000;
    let (done, in_order) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    beside(switch_that(""), Vec::new(), CpuPort::default(), |mailbox| {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                let (done, in_order, last) = (done.clone(), in_order.clone(), Arc::new(AtomicU64::new(0)));
                scope.spawn(move || {
                    for number in 0..JOBS {
                        let (done, in_order, last) = (done.clone(), in_order.clone(), last.clone());
                        let job = move |_: &mut Switch| {
                            done.fetch_add(1, Ordering::Relaxed);
                            let before = last.swap(number + 1, Ordering::Relaxed);
                            in_order.fetch_add(u64::from(before == number), Ordering::Relaxed);
                        };
                        mailbox.send(Box::new(job)).unwrap();
                    }
                });
            }
        });
        command_queue(mailbox).ask(|_| ()).unwrap();
        assert_eq!(done.load(Ordering::Relaxed), THREADS * JOBS);
    });
    assert_eq!(in_order.load(Ordering::Relaxed), THREADS * JOBS);
}

#[test]
fn no_thread_waits_for_a_worker_that_has_ended() {
    let (mailbox, inbox) = mailbox().unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| command_queue(&mailbox).ask(|switch| switch.queued()));
        // More than the queue holds: some of these wait to add their job, the others for an answer.
        let crowd: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..1000).map_while(|_| mailbox.send(Box::new(|_| ())).ok()).count()))
            .collect();
        std::thread::sleep(Duration::from_millis(50));
        drop(inbox);
        assert_eq!(asked.join().unwrap(), Err(Closed));
        assert!(crowd.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>() < 1100);
    });
    assert_eq!(command_queue(&mailbox).ask(|_| ()), Err(Closed));
}

#[test]
fn a_run_over_captures_ends_though_there_is_a_mailbox() {
    let (mailbox, inbox) = mailbox().unwrap();
    let frames = GeneratorDriver::new(vec![vec![7; 60]], 1_000, 1_000);
    let ports = vec![Port { number: 1, driver: Box::new(frames), is_capture: true }];
    let setup = Setup { inbox: Some(inbox), ..Setup::of_ports(ports) };
    let mut switch = switch_that("sm.egress_spec = 1;");
    mailbox.send(Box::new(|switch| assert!(!switch.receive(0, 3, &[1; 60])))).unwrap();
    let (ended, ports) = worker::run(&mut switch, setup, &StopFlag::new(), &mut EventLog::default()).unwrap();
    assert_eq!(ended, Ended::Exhausted);
    let (_, driver) = ports.iter().next().unwrap();
    assert_eq!(driver.counters().snapshot().tx_packets, 1_001, "those of the capture and that of the job");
    assert_eq!(mailbox.send(Box::new(|_| ())), Err(Closed));
}

#[test]
fn packets_come_from_the_control_plane_and_go_to_it() {
    const CPU: u32 = 510;
    let (first, peer) = port(1);
    let switch = switch_that("sm.egress_spec = sm.ingress_port == 510 ? 9w1 : 9w510;");
    let left = beside(switch, vec![first], CpuPort::fixed(CPU), |mailbox| {
        let out = |switch: &mut Switch| assert!(!switch.receive(switch.now_ns(), CPU, b"out"));
        mailbox.send(Box::new(out)).unwrap();
        assert_eq!(frames(&peer, 1), [b"out"]);
        peer.send(b"in", 0);
        while command_queue(mailbox).ask(|switch| switch.stats().sent).unwrap() < 2 {}
    });
    assert_eq!(left.events.packets_in, [b"in"]);
}

/// Without a port only the mailbox can wake the worker, and packets of a job are processed all the same.
#[test]
fn a_switch_without_ports_works_on_packets_of_the_control_plane() {
    let left = beside(switch_that("sm.egress_spec = 9;"), Vec::new(), CpuPort::fixed(9), |mailbox| {
        for _ in 0..3 {
            command_queue(mailbox).ask(|switch| switch.receive(switch.now_ns(), 9, b"again")).unwrap();
        }
    });
    assert_eq!((left.events.packets_in.len(), left.ended), (3, Ended::Stopped));
}

#[test]
fn a_program_takes_the_place_of_another_while_packets_flow() {
    let (first, one) = port(1);
    let (second, two) = port(2);
    let left = beside(switch_that("sm.egress_spec = 1;"), vec![first, second], CpuPort::default(), |mailbox| {
        one.send(b"before", 0);
        assert_eq!(frames(&one, 1), [b"before"]);
        // One packet a second: all but the first wait.
        command_queue(mailbox)
            .ask(|switch| switch.set_queues(Some(1), None, |queue| queue.packets_per_s = 1))
            .unwrap()
            .unwrap();
        (0..5).for_each(|_| one.send(b"waits", 0));
        assert_eq!(frames(&one, 1), [b"waits"]);
        while command_queue(mailbox).ask(|switch| switch.queued()).unwrap() < 4 {}
        let next = switch_that("sm.egress_spec = 2;");
        let (old, before_ns, after_ns) = command_queue(mailbox)
            .ask(|switch| {
                let before_ns = switch.now_ns();
                let old = switch.replace(next);
                (old, before_ns, switch.now_ns())
            })
            .unwrap();
        assert!(before_ns > 0 && after_ns >= before_ns);
        drop(old);
        one.send(b"after", 0);
        assert_eq!(frames(&two, 1), [b"after"]);
    });
    assert_eq!(left.events.programs, 1);
    let stats = left.switch.stats();
    assert_eq!((stats.received, stats.sent, stats.drops(DropReason::ProgramChanged)), (7, 3, 4));
    assert!(left.switch.shows_time(), "the rate of the port is still set");
}

/// A port without frames whose link is lost after two checks, and restored after four.
#[derive(Default)]
struct LooseCable {
    looks: Arc<AtomicUsize>,
    receptions: Arc<AtomicUsize>,
    /// What is waited on for frames, which never come; without it no thread waits.
    silence: Option<(UnixStream, UnixStream)>,
    counters: Arc<PortCounters>,
}

impl Driver for LooseCable {
    fn receive(&mut self, _limit: usize, _deliver: Deliver<'_>) -> Result<usize, DriverError> {
        self.receptions.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    }

    fn transmit(&mut self, _frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        Ok(())
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        descriptors.extend(self.silence.iter().map(|(end, _)| end.as_raw_fd()));
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        false
    }

    fn has_link(&self) -> bool {
        !(2..4).contains(&self.looks.fetch_add(1, Ordering::Relaxed))
    }

    fn frame_bytes_max(&self) -> usize {
        1514
    }

    fn stop_receiving(&mut self) {}

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

#[test]
fn a_link_that_goes_and_comes_is_reported_once_each() {
    let looks = Arc::<AtomicUsize>::default();
    let cable = LooseCable { looks: Arc::clone(&looks), ..LooseCable::default() };
    let ports = vec![port(4).0, Port { number: 7, driver: Box::new(cable), is_capture: false }];
    let left = beside(switch_that(""), ports, CpuPort::default(), |_| {
        let start = Instant::now();
        while looks.load(Ordering::Relaxed) < 6 {
            assert!(start.elapsed() < Duration::from_secs(60), "the port is looked at about once a second");
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(left.events.links, [(7, false), (7, true)]);
}

/// A job that is added while another runs has written to the descriptor, too.
#[test]
fn a_worker_waits_again_when_all_jobs_are_done() {
    let receptions = Arc::<AtomicUsize>::default();
    let silence = Some(UnixStream::pair().unwrap());
    let cable = LooseCable { receptions: Arc::clone(&receptions), silence, ..LooseCable::default() };
    let ports = vec![Port { number: 7, driver: Box::new(cable), is_capture: false }];
    beside(switch_that(""), ports, CpuPort::default(), |mailbox| {
        let (again, is_done) = (mailbox.clone(), Arc::<AtomicUsize>::default());
        let done = Arc::clone(&is_done);
        let last: switch::command_queue::Job = Box::new(move |_| done.store(1, Ordering::Release));
        mailbox.send(Box::new(move |_| again.send(last).unwrap())).unwrap();
        while is_done.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let before = receptions.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(500));
        let looks = receptions.load(Ordering::Relaxed) - before;
        assert!(looks < 200, "a worker that waits looks ten times a second, not {looks} times in half of one");
    });
}
