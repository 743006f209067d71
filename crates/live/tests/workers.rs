//! Several workers of one switch: no packet is lost or reordered within a flow, even while their number changes;
//! exact state stays exact; events of all workers are reported by one thread.

use base::index::Id as _;
use ir::{DigestId, RegisterId};
use live::af_packet::{AfPacketDriver, AfPacketOptions};
use live::driver::Deliver;
use live::tap::TapDriver;
use live::traffic::udp_frame;
use live::worker::{self, Ended, Events, Port, Ports, Setup};
use live::xdp::{XdpDriver, XdpOptions};
use live::{Driver, DriverError, Mailbox, PortCounters, StopFlag, mailbox};
use nix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use switch::workers::{Wanted, Workers};
use switch::{CommandQueue, CpuPort, Switch};
use testkit::corpus::Way;
use testkit::netns::Network;
use testkit::pipeline::{Engine, program_of_text, switch_for};

/// A program that does this to packets, whose `number` identifies their flow. They leave by port 2.
fn source(declarations: &str, statements: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>
header raw_t {{ bit<112> ethernet; bit<224> addresses; bit<32> number; bit<32> seen; }}
struct headers {{ raw_t raw; }}
struct meta_t {{ }}
struct told_t {{ bit<32> number; }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.raw); transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ sm.egress_spec = 2; {statements} }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.raw); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

const SUM: (&str, &str) = (
    "register<bit<32>>(2) r; counter(2, CounterType.packets) c;",
    "bit<32> x; r.read(x, 1); r.write(1, x + 1); c.count(1);",
);
const SEEN: (&str, &str) =
    ("register<bit<32>>(2) r;", "bit<32> x; r.read(x, 1); x = x + 1; r.write(1, x); hdr.raw.seen = x;");

/// Two registers that are changed together, with a table between them; a packet that finds them different has 0 in
/// `seen`.
const TOGETHER: (&str, &str) = (
    "register<bit<32>>(2) r; register<bit<32>>(1) other;
     table t { key = { hdr.raw.number: exact; } actions = { NoAction; } }",
    "bit<32> x; bit<32> y; r.read(x, 1); x = x + 1; r.write(1, x); t.apply();
     other.read(y, 0); y = y + 1; other.write(0, y); hdr.raw.seen = x == y ? x : 0;",
);
/// The time of the previous packet; a packet with an earlier time has all ones in `seen`.
const IN_TIME: (&str, &str) = (
    "register<bit<32>>(2) r; register<bit<48>>(1) times;",
    "bit<32> x; bit<48> last; r.read(x, 1); r.write(1, x + 1); times.read(last, 0);
     times.write(0, sm.ingress_global_timestamp);
     hdr.raw.seen = sm.ingress_global_timestamp < last ? 32w0xFFFFFFFF : x + 1;",
);
/// State that has no guard.
const METERED: (&str, &str) = (
    "register<bit<32>>(2) r; direct_meter<bit<32>>(MeterType.packets) m; action mark() { m.read(hdr.raw.seen); }
     table t { key = { hdr.raw.number: exact; } actions = { mark; } default_action = mark(); meters = m; }",
    "bit<32> x; r.read(x, 1); r.write(1, x + 1); t.apply();",
);

fn native(declarations: &str, statements: &str) -> Switch {
    switch_with(|engine| matches!(engine, Engine::Native(_)), declarations, statements)
}

fn switch_with(is_wanted: impl Fn(&Engine) -> bool, declarations: &str, statements: &str) -> Switch {
    let program = program_of_text("workers.p4", &source(declarations, statements)).unwrap();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let way = Way::ALL.into_iter().find(|way| is_wanted(&way.engine(&cache))).unwrap();
    let program = Arc::new(way.program(&program).unwrap());
    switch_for(&program, &way.engine(&cache)).unwrap()
}

// --------------------------------------------------------------------------------------------------------- a port

type Frames = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// A queue of a port. All queues of a port write the frames that they send to one list, in order.
struct Cable {
    inbound: Frames,
    sent: Frames,
    closed: Arc<AtomicBool>,
    counters: Arc<PortCounters>,
    further: Vec<Box<dyn Driver>>,
}

/// The other end of a port.
#[derive(Clone)]
struct End {
    queues: Vec<Frames>,
    sent: Frames,
    closed: Arc<AtomicBool>,
}

/// A port with this many queues.
fn cable(number: u32, queues: usize) -> (Port, End) {
    let end = End {
        queues: (0..queues).map(|_| Frames::default()).collect(),
        sent: Frames::default(),
        closed: Arc::default(),
    };
    let queue = |inbound: &Frames| Cable {
        inbound: Arc::clone(inbound),
        sent: Arc::clone(&end.sent),
        closed: Arc::clone(&end.closed),
        counters: Arc::default(),
        further: Vec::new(),
    };
    let mut first = queue(&end.queues[0]);
    for inbound in &end.queues[1..] {
        let further = queue(inbound);
        first.counters.add_queue(Arc::clone(&further.counters));
        first.further.push(Box::new(further));
    }
    (Port { number, driver: Box::new(first), is_capture: false }, end)
}

impl Driver for Cable {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let burst: Vec<Vec<u8>> = {
            let mut frames = self.inbound.lock().unwrap();
            let count = frames.len().min(limit);
            frames.drain(..count).collect()
        };
        burst.iter().for_each(|frame| deliver(frame, 0));
        self.counters.rx_packets.add(burst.len() as u64);
        Ok(burst.len())
    }

    fn transmit(&mut self, frame: &[u8], _stamp_ns: u64) -> Result<(), DriverError> {
        self.counters.tx_packets.add(1);
        self.sent.lock().unwrap().push_back(frame.to_vec());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        std::mem::take(&mut self.further)
    }

    fn exhausted(&self) -> bool {
        self.closed.load(Ordering::SeqCst) && self.inbound.lock().unwrap().is_empty()
    }

    fn frame_bytes_max(&self) -> usize {
        9000
    }

    fn stop_receiving(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

const FLOWS: u32 = 37;

impl End {
    /// Sends the next frames of all flows, each into the queue of its flow.
    fn send(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            for flow in 0..FLOWS {
                let queue = live::flow::hash(&udp_frame(flow, 64, 0)) as usize % self.queues.len();
                self.queues[queue].lock().unwrap().push_back(udp_frame(flow, 64, number));
            }
        }
    }

    /// The frames sent so far, once there are this many.
    fn sent(&self, count: usize) -> Vec<Vec<u8>> {
        let start = Instant::now();
        while self.sent.lock().unwrap().len() < count {
            assert!(start.elapsed() < Duration::from_secs(60), "{} of {count}", self.sent.lock().unwrap().len());
            std::thread::yield_now();
        }
        self.sent.lock().unwrap().iter().cloned().collect()
    }
}

fn word(frame: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(frame[at..at + 4].try_into().unwrap())
}

/// Every flow has sent its frames of these numbers in order; returns their bytes at `seen`.
#[track_caller]
fn check_flows(sent: &[Vec<u8>], count: u32) -> Vec<u32> {
    let mut flows: BTreeMap<u32, u32> = BTreeMap::new();
    let mut last_seen: BTreeMap<u32, u32> = BTreeMap::new();
    for frame in sent {
        let flow = word(frame, 30);
        let next = flows.entry(flow).or_default();
        assert_eq!(word(frame, 42), *next, "flow {flow}");
        *next += 1;
        let before = last_seen.insert(flow, word(frame, 46)).unwrap_or(0);
        assert!(word(frame, 46) >= before, "flow {flow} has met the register out of order");
    }
    assert_eq!(flows, (0..FLOWS).map(|flow| (flow, count)).collect());
    sent.iter().map(|frame| word(frame, 46)).collect()
}

// ----------------------------------------------------------------------------------------------------------- a run

/// The events of a run.
#[derive(Default)]
struct EventLog {
    digests: Vec<u64>,
    lines: Vec<String>,
    packets_in: Vec<Vec<u8>>,
    threads: std::collections::BTreeSet<String>,
}

impl EventLog {
    fn note_thread(&mut self) {
        self.threads.insert(format!("{:?}", std::thread::current().id()));
    }
}

impl Events for EventLog {
    fn digest(&mut self, _digest: DigestId, values: Vec<base::Bits>) {
        self.note_thread();
        self.digests.push(values[0].to_u64().unwrap());
    }

    fn log(&mut self, line: &str) {
        self.note_thread();
        self.lines.push(line.to_owned());
    }

    fn packet_in(&mut self, frame: &[u8]) {
        self.note_thread();
        self.packets_in.push(frame.to_vec());
    }
}

struct Left {
    switch: Switch,
    events: EventLog,
    ended: Ended,
    ports: Ports,
}

/// Runs workers beside this thread, which runs `act`; then they are stopped.
fn beside(switch: Switch, ports: Vec<Port>, workers: &Arc<Workers>, act: impl FnOnce(&Mailbox)) -> Left {
    let (mailbox, inbox) = mailbox().unwrap();
    let stop = StopFlag::new();
    let workers = Some(Arc::clone(workers));
    let setup = Setup {
        ports,
        inbox: Some(inbox),
        cpu_port: CpuPort::fixed(510),
        workers,
        keeps_running: true,
        ..Setup::default()
    };
    let run = {
        let (stop, mut switch) = (stop.clone(), switch);
        std::thread::spawn(move || {
            let mut events = EventLog::default();
            let (ended, ports) = worker::run(&mut switch, setup, &stop, &mut events).unwrap();
            Left { switch, events, ended, ports }
        })
    };
    act(&mailbox);
    stop.stop();
    run.join().unwrap()
}

/// Requests this many workers and waits for them.
fn become_workers(workers: &Workers, count: usize) {
    workers.want(Wanted::Fixed(count));
    become_as_wanted(workers, count);
}

/// Waits until there are this many workers.
fn become_as_wanted(workers: &Workers, count: usize) {
    let start = Instant::now();
    while workers.now() != count {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
}

fn register(switch: &mut Switch) -> u64 {
    switch.externs_mut().registers[RegisterId::from_index(0)].read(1).unwrap().to_u64().unwrap()
}

/// Sends frames of all flows through ports with this many queues while the number of workers changes.
fn check_changes(program: (&str, &str), in_queues: usize, out_queues: usize) -> (Left, Vec<u32>) {
    const STEP: u32 = 150;
    let (inward, sender) = cable(1, in_queues);
    let (outward, receiver) = cable(2, out_queues);
    let workers = Arc::new(Workers::new(Wanted::Fixed(1), 4));
    workers.spread_always();
    let mut numbers = 0;
    let mut seen = Vec::new();
    let left = beside(native(program.0, program.1), vec![inward, outward], &workers, |mailbox| {
        let command_queue: &dyn CommandQueue = mailbox;
        for count in [1, 2, 1, 3, 4, 2, 1, 2, 1] {
            sender.send(numbers..numbers + STEP);
            become_workers(&workers, count);
            sender.send(numbers + STEP..numbers + 2 * STEP);
            numbers += 2 * STEP;
            // Meanwhile another thread reads the register: it never has more than was sent.
            let at_most = u64::from(numbers * FLOWS);
            assert!(command_queue.ask(register).unwrap() <= at_most);
        }
        let all = receiver.sent((numbers * FLOWS) as usize);
        assert_eq!(command_queue.ask(register).unwrap(), u64::from(numbers * FLOWS));
        seen = check_flows(&all, numbers);
    });
    assert_eq!(left.ended, Ended::Stopped);
    assert_eq!(workers.now(), 1);
    let total = u64::from(numbers * FLOWS);
    assert_eq!((left.switch.stats().received, left.switch.stats().sent), (total, total));
    let counted: Vec<_> = left.ports.iter().map(|(_, driver)| driver.counters().snapshot()).collect();
    assert_eq!((counted[0].rx_packets, counted[1].tx_packets), (total, total));
    let by_workers: u64 = (0..4).map(|worker| workers.load(worker).unwrap().snapshot().packets).sum();
    assert!(by_workers >= total, "{by_workers}");
    (left, seen)
}

#[test]
fn flows_keep_their_order_while_workers_come_and_go() {
    for (in_queues, out_queues) in [(1, 1), (4, 1), (1, 4), (4, 4), (3, 2)] {
        check_changes(SUM, in_queues, out_queues);
    }
}

#[test]
fn state_that_can_be_seen_is_guarded_while_workers_come_and_go() {
    for program in [SEEN, TOGETHER, IN_TIME] {
        for (in_queues, out_queues) in [(1, 1), (4, 4)] {
            let (left, mut seen) = check_changes(program, in_queues, out_queues);
            // Each packet has met the register at a value of its own, and each value was met.
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(1..=seen.len() as u32), "{}", program.1);
            assert_eq!(left.switch.divides(), Ok(()));
        }
    }
}

#[test]
fn state_without_a_guard_has_workers_take_turns() {
    for (in_queues, out_queues) in [(1, 1), (4, 4)] {
        let (left, _) = check_changes(METERED, in_queues, out_queues);
        assert!(left.switch.divides().is_err());
    }
}

#[test]
fn what_workers_tell_comes_from_one_thread() {
    let statements =
        "digest<told_t>(1, { hdr.raw.number }); log_msg(\"number {}\", { hdr.raw.number }); sm.egress_spec = 510;";
    for queues in [1, 3] {
        let (inward, sender) = cable(1, queues);
        let workers = Arc::new(Workers::new(Wanted::Fixed(3), 3));
        workers.spread_always();
        let left = beside(native("", statements), vec![inward], &workers, |mailbox| {
            become_workers(&workers, 3);
            sender.send(0..50);
            let start = Instant::now();
            let command_queue: &dyn CommandQueue = mailbox;
            while command_queue.ask(|switch| switch.stats().sent).unwrap() < u64::from(50 * FLOWS) {
                assert!(start.elapsed() < Duration::from_secs(60));
            }
        });
        let mut expected: Vec<u64> = (0..50).flat_map(|number| [number; FLOWS as usize]).collect();
        let mut digests = left.events.digests.clone();
        digests.sort_unstable();
        expected.sort_unstable();
        assert_eq!(digests, expected);
        assert_eq!((left.events.lines.len(), left.events.packets_in.len()), (digests.len(), digests.len()));
        check_flows(&left.events.packets_in, 50);
        assert_eq!(left.events.threads.len(), 1);
    }
}

#[test]
fn a_run_ends_when_the_queues_of_all_workers_are_exhausted() {
    let (inward, sender) = cable(1, 2);
    let (outward, receiver) = cable(2, 2);
    sender.send(0..500);
    sender.closed.store(true, Ordering::SeqCst);
    receiver.closed.store(true, Ordering::SeqCst);
    let workers = Arc::new(Workers::new(Wanted::Fixed(2), 2));
    let setup = Setup { workers: Some(Arc::clone(&workers)), ..Setup::of_ports(vec![inward, outward]) };
    let mut switch = native(SUM.0, SUM.1);
    let (ended, _) = worker::run(&mut switch, setup, &StopFlag::new(), &mut EventLog::default()).unwrap();
    assert_eq!((ended, workers.now()), (Ended::Exhausted, 1));
    check_flows(&receiver.sent(0), 500);
    assert_eq!(register(&mut switch), u64::from(500 * FLOWS));
    let both: Vec<u64> = (0..2).map(|worker| workers.load(worker).unwrap().snapshot().packets).collect();
    assert!(both.iter().all(|&packets| packets > 0), "{both:?}");
}

#[test]
fn another_program_takes_the_place_of_all_cores() {
    let (inward, sender) = cable(1, 2);
    let (outward, receiver) = cable(2, 2);
    let workers = Arc::new(Workers::new(Wanted::Fixed(2), 2));
    let left = beside(native(SUM.0, SUM.1), vec![inward, outward], &workers, |mailbox| {
        become_workers(&workers, 2);
        sender.send(0..100);
        let command_queue: &dyn CommandQueue = mailbox;
        receiver.sent((100 * FLOWS) as usize);
        // From a program that shards to one that does not, and back.
        for (round, program) in (1u32..).zip([METERED, SUM]) {
            let next = native(program.0, program.1);
            let mut old = command_queue.ask(|switch| switch.replace(next)).unwrap();
            assert_eq!(register(&mut old), u64::from(100 * FLOWS));
            sender.send(100 * round..100 * (round + 1));
            receiver.sent((100 * (round + 1) * FLOWS) as usize);
            let remark = if round == 1 { "packets must take turns at meter I.m" } else { "" };
            assert_eq!(workers.remark(), remark);
        }
    });
    assert_eq!(left.switch.stats().sent, u64::from(300 * FLOWS));
}

/// A program that splits packets. The parts and the packets beside them may be of one flow.
const PARTING: (&str, &str) = ("", "if (hdr.raw.number == 0xffffffff) { scatter_records(0, 1); }");

#[test]
fn a_program_with_records_has_one_worker_whatever_is_wanted() {
    let (inward, sender) = cable(1, 2);
    let (outward, receiver) = cable(2, 2);
    let workers = Arc::new(Workers::new(Wanted::Fixed(2), 2));
    beside(native(SUM.0, SUM.1), vec![inward, outward], &workers, |mailbox| {
        become_workers(&workers, 2);
        let command_queue: &dyn CommandQueue = mailbox;
        for (round, program) in (0u32..).zip([PARTING, SUM]) {
            let next = native(program.0, program.1);
            command_queue.ask(|switch| drop(switch.replace(next))).unwrap();
            let (count, remark) = if round == 0 { (1, "one worker keeps their order") } else { (2, "") };
            become_as_wanted(&workers, count);
            for wanted in [Wanted::Fixed(2), Wanted::Auto, Wanted::Fixed(2)] {
                workers.want(wanted);
                let is_one = workers.wanted() == Wanted::Fixed(1);
                assert_eq!(is_one, round == 0, "{wanted:?}");
            }
            sender.send(100 * round..100 * (round + 1));
            receiver.sent((100 * (round + 1) * FLOWS) as usize);
            become_as_wanted(&workers, count);
            assert!(workers.remark().contains(remark), "{}", workers.remark());
            assert_eq!(workers.remark().contains("with several queues"), round == 0, "{}", workers.remark());
        }
    });
}

#[test]
fn queues_with_a_rate_are_one_for_all_workers() {
    let (inward, sender) = cable(1, 2);
    let (outward, receiver) = cable(2, 2);
    let workers = Arc::new(Workers::new(Wanted::Fixed(2), 2));
    beside(native(SUM.0, SUM.1), vec![inward, outward], &workers, |mailbox| {
        become_workers(&workers, 2);
        let command_queue: &dyn CommandQueue = mailbox;
        let set = |switch: &mut Switch| {
            switch
                .set_queues(Some(2), None, |queue| (queue.packets_per_s, queue.capacity_packets) = (1000, 10_000))
                .unwrap();
        };
        command_queue.ask(set).unwrap();
        let began = Instant::now();
        sender.send(0..3);
        let sent = receiver.sent((3 * FLOWS) as usize);
        // One packet per millisecond, whichever worker received it.
        assert!(began.elapsed() >= Duration::from_millis(u64::from(3 * FLOWS) - 2), "{:?}", began.elapsed());
        check_flows(&sent, 3);
    });
}

/// The wait for a worker that is added because the others are busy. They are not while other programs have their
/// processors: the test is then skipped.
struct Wait {
    start: Instant,
    processor_time: Duration,
}

impl Wait {
    fn new() -> Wait {
        Wait { start: Instant::now(), processor_time: processor_time() }
    }

    /// Whether to wait on. A test that keeps two processors busy and has had them fails.
    fn keeps_running(&self, message: &str) -> bool {
        let elapsed = self.start.elapsed();
        if elapsed < Duration::from_secs(60) {
            return true;
        }
        let used = processor_time() - self.processor_time;
        assert!(used < elapsed.mul_f64(1.7), "{message}");
        testkit::skip("needs two processors without other work");
        false
    }
}

/// The processor time of this process, all tests that run meanwhile included.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap().into()
}

#[test]
fn workers_follow_the_load() {
    let (inward, sender) = cable(1, 2);
    let (outward, receiver) = cable(2, 2);
    let workers = Arc::new(Workers::new(Wanted::Auto, 2));
    // Slow enough to be kept busy by one who sends.
    let switch = switch_with(|engine| matches!(engine, Engine::Interpreter), SUM.0, SUM.1);
    beside(switch, vec![inward, outward], &workers, |_| {
        let (wait, mut number) = (Wait::new(), 0);
        while workers.now() < 2 {
            if !wait.keeps_running("the load was not noticed") {
                return;
            }
            if receiver.sent.lock().unwrap().len() + 20_000 > (number * FLOWS) as usize {
                sender.send(number..number + 100);
                number += 100;
            }
        }
        check_flows(&receiver.sent((number * FLOWS) as usize), number);
    });
}

/// A program that takes long for a frame, so that handing frames to other workers is worthwhile.
fn heavy() -> Switch {
    let hash = "hash(h, HashAlgorithm.crc32, 32w0, { h, hdr.raw.addresses }, 33w0x100000000);\n";
    let declarations = "register<bit<32>>(2) r;";
    let statements = format!(
        "bit<32> h = 0; {} if (h == 0x12345678) {{ hdr.raw.addresses = 0; }}
         bit<32> x; r.read(x, 1); r.write(1, x + 1);",
        hash.repeat(40)
    );
    native(declarations, &statements)
}

#[test]
fn frames_are_spread_as_soon_as_that_pays_and_flows_keep_their_order() {
    for wanted in [Wanted::Fixed(3), Wanted::Auto] {
        let (inward, sender) = cable(1, 1);
        let (outward, receiver) = cable(2, 1);
        let workers = Arc::new(Workers::new(wanted, 3));
        let (mut number, mut is_skipped) = (0, false);
        // Never more than this many are in transit.
        let mut send = |count: u32| {
            for _ in 0..count {
                while receiver.sent.lock().unwrap().len() + 20_000 < (number * FLOWS) as usize {
                    std::thread::yield_now();
                }
                sender.send(number..number + 10);
                number += 10;
            }
            number
        };
        let left = beside(heavy(), vec![inward, outward], &workers, |mailbox| {
            let helped = || (1..3).any(|worker| workers.load(worker).unwrap().snapshot().packets > 0);
            let wait = Wait::new();
            while !helped() {
                if !wait.keeps_running(&format!("{wanted:?}: no worker is added: {}", workers.remark())) {
                    is_skipped = true;
                    return;
                }
                send(10);
            }
            assert_eq!(workers.remark(), "");
            // Workers are added and removed meanwhile, and new ones process frames, too.
            for count in [1, 3, 2, 3, 1, 2, 3] {
                become_workers(&workers, count);
                send(30);
            }
            let all = send(1) * FLOWS;
            check_flows(&receiver.sent(all as usize), all / FLOWS);
            let command_queue: &dyn CommandQueue = mailbox;
            assert_eq!(command_queue.ask(register).unwrap(), u64::from(all));
        });
        if is_skipped {
            return;
        }
        assert_eq!(left.switch.stats().sent, left.switch.stats().received);
    }
}

// --------------------------------------------------------------------------------------------------------- interfaces

/// The number of queues of interfaces.
const QUEUES: usize = 4;

/// The driver between the workers and an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    PacketSockets,
    Xdp,
    Tap,
}

impl Link {
    fn open(self, name: &str) -> Box<dyn Driver> {
        match self {
            Link::PacketSockets => {
                let options = AfPacketOptions { queues: QUEUES, ..AfPacketOptions::default() };
                Box::new(AfPacketDriver::open(name, &options).unwrap())
            }
            Link::Xdp => Box::new(XdpDriver::open(name, &XdpOptions::default()).unwrap()),
            Link::Tap => Box::new(TapDriver::open(name, QUEUES).unwrap()),
        }
    }
}

/// Interfaces `in0` and `out0` in the namespace `switch`, and the locations of their other ends.
fn interfaces(link: Link) -> Result<(Network, [[&'static str; 2]; 2]), String> {
    let mut network = Network::new(&[])?;
    network.add("switch");
    if link == Link::Tap {
        for name in ["in0", "out0"] {
            network.run("switch", &format!("ip tuntap add {name} mode tap multi_queue"));
            network.set_ipv6("switch", name, false);
        }
        return Ok((network, [["switch", "in0"], ["switch", "out0"]]));
    }
    network.add("hosts");
    let (count, peer) = (format!("numrxqueues {QUEUES} numtxqueues {QUEUES}"), network.full_name("switch"));
    for (host, name) in [("left", "in0"), ("right", "out0")] {
        network.run("hosts", &format!("ip link add {host} {count} type veth peer name {name} {count} netns {peer}"));
        for (namespace, name) in [("hosts", host), ("switch", name)] {
            network.set_ipv6(namespace, name, false);
            network.run(namespace, &format!("ip link set {name} up"));
        }
    }
    Ok((network, [["hosts", "left"], ["hosts", "right"]]))
}

/// Workers are added and removed ten times while frames flow from one interface to the other.
fn check_interfaces(link: Link) {
    let (network, [[sender_at, sender], [receiver_at, receiver]]) = match interfaces(link) {
        Ok(made) => made,
        Err(reason) => return testkit::skip(reason),
    };
    let port = |number, name| {
        let driver = network.inside("switch", || link.open(name));
        assert!(link != Link::Tap || driver.remarks().is_empty(), "{:?}", driver.remarks());
        Port { number, driver, is_capture: false }
    };
    let ports = vec![port(1, "in0"), port(2, "out0")];
    let open = |namespace, name| {
        network.inside(namespace, || AfPacketDriver::open(name, &AfPacketOptions::default()).unwrap())
    };
    // A sender's socket keeps to one queue of its interface: several have several.
    let mut senders: Vec<_> = (0..QUEUES).map(|_| open(sender_at, sender)).collect();
    let mut receiver = open(receiver_at, receiver);
    let workers = Arc::new(Workers::new(Wanted::Fixed(1), QUEUES));
    workers.spread_always();
    let (mut sent, mut received) = (0, Vec::new());
    let mut receive_until = |count: usize| {
        let start = Instant::now();
        while received.len() < count {
            assert!(start.elapsed() < Duration::from_secs(20), "{link:?}: {} of {count}", received.len());
            let mut take = |frame: &[u8], _| received.extend((frame[12..14] == [8, 0]).then(|| frame.to_vec()));
            if receiver.receive(64, &mut take).unwrap() == 0 {
                std::thread::yield_now();
            }
        }
    };
    beside(native(SUM.0, SUM.1), ports, &workers, |mailbox| {
        for wanted in [2, 1, 4, 3, 4, 1, 3, 2, 4, 1].map(Wanted::Fixed).into_iter().chain([Wanted::Auto]) {
            workers.want(wanted);
            for _ in 0..40 {
                for flow in 0..FLOWS {
                    let sender = &mut senders[flow as usize % QUEUES];
                    sender.transmit(&udp_frame(flow, 64, sent), 0).unwrap();
                }
                senders.iter_mut().for_each(|sender| sender.flush().unwrap());
                sent += 1;
                // No more than the queue of an interface holds is in transit.
                receive_until(((sent * FLOWS) as usize).saturating_sub(100));
            }
            if let Wanted::Fixed(count) = wanted {
                become_workers(&workers, count);
            }
        }
        receive_until((sent * FLOWS) as usize);
        let command_queue: &dyn CommandQueue = mailbox;
        assert_eq!(command_queue.ask(register).unwrap(), u64::from(sent * FLOWS));
    });
    check_flows(&received, sent);
}

#[test]
fn nothing_is_lost_between_interfaces_while_workers_come_and_go() {
    [Link::PacketSockets, Link::Xdp, Link::Tap].into_iter().for_each(check_interfaces);
}
