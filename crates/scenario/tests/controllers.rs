//! Controllers in modelled time: a learning one with programs that report addresses by digests and by packets, and
//! one that is written for the test.

use base::index::Id as _;
use control::api::entity::{Cell, EntryAction, EntryName, TableEntry};
use control::api::{Entity, Fault, Query, TableQuery, Update, UpdateKind};
use scenario::check;
use scenario::results::{self, ResultFile};
use scenario::{Scenario, Simulation};
use sim::controller::{Controller, ControllerNode, Controls, Learning, ReadId, SwitchFacts, WriteId};
use sim::{Time, record};
use std::sync::OnceLock;
use wirespeed::{Options, Program};

/// What both programs have in common.
const BEGIN: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
@controller_header("packet_in") header packet_in_t { bit<7> pad; bit<9> ingress_port; }
@controller_header("packet_out") header packet_out_t { bit<9> egress_port; bit<7> pad; }
struct headers_t { packet_in_t packet_in; packet_out_t packet_out; ethernet_t ethernet; }
struct meta_t {}
struct learn_t { bit<48> address; bit<9> port; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { transition select(s.ingress_port) { 510: out_of_controller; default: plain; } }
    state out_of_controller { p.extract(h.packet_out); transition plain; }
    state plain { p.extract(h.ethernet); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action known() {}
    action forward(bit<9> port) { s.egress_spec = port; }
"#;

const END: &str = r#"
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// Reports unknown sources by digests, and floods frames with unknown destinations itself.
const DIGESTS: &str = r#"
    action learn() { digest<learn_t>(1, { h.ethernet.src, s.ingress_port }); }
    action flood() { s.mcast_grp = 1; }
    table sources {
        key = { h.ethernet.src: exact; s.ingress_port: exact; }
        actions = { known; learn; }
        default_action = learn();
        support_timeout = true;
    }
    table destinations { key = { h.ethernet.dst: exact; } actions = { forward; flood; } default_action = flood(); }
    apply { sources.apply(); destinations.apply(); }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { if (s.egress_port == s.ingress_port) { mark_to_drop(s); } }
}
"#;

/// Sends frames with unknown sources or destinations to the controller, which sends them on.
const PACKETS: &str = r#"
    action punt() { s.egress_spec = 510; h.packet_in.setValid(); h.packet_in = { 0, s.ingress_port }; }
    table sources { key = { h.ethernet.src: exact; } actions = { known; punt; } default_action = punt(); }
    table destinations { key = { h.ethernet.dst: exact; } actions = { forward; punt; } default_action = punt(); }
    apply {
        if (h.packet_out.isValid()) {
            s.egress_spec = h.packet_out.egress_port;
            h.packet_out.setInvalid();
        } else if (sources.apply().hit) {
            destinations.apply();
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
"#;

const FLOOD: &str = "mc_mgrp_create 1\nmc_node_create 0 1 2 3\nmc_node_associate 1 0\n";

const TOPOLOGY: &str = r#"{
  "hosts": { "h1": {"ip": "10.0.0.1/24"}, "h2": {"ip": "10.0.0.2/24"},
             "h3": {"ip": "10.0.0.3/24"}, "h4": {"ip": "10.0.0.4/24"} },
  "switches": { "s1": {"program": "learn.p4"}, "s2": {"program": "learn.p4"} },
  "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["s1-p3", "s2-p3"], ["h3", "s2-p1"], ["h4", "s2-p2"]]
}"#;

const SCENARIO: &str = r#"
duration = "20ms"
[topology]
file = "topology.json"
[[flows]]
kind = "udp"
from = ["h1", "h2", "h3"]
to = "h4"
pairs = "all"
rate = "20Mbps"
arrivals = "poisson"
start = "1ms"
[[flows]]
kind = "ping"
from = "h4"
to = "h1"
interval = "2ms"
[controller]
kind = "learning"
to_controller = "150us"
to_switch = "50us"
write_time = "20us"
event_time = "5us"
"#;

const BY_DIGESTS: &str = r#"
write = ["table_add sources known {mac} {port} =>", "table_add destinations forward {mac} => {port}"]
"#;

const BY_PACKETS: &str = r#"
learn = "packet-in"
packet_in = "packet_in_t"
packet_out = "packet_out_t"
write = ["table_add sources known {mac} =>", "table_add destinations forward {mac} => {port}"]
"#;

fn program(is_by_digests: bool) -> &'static Program {
    static PROGRAMS: [OnceLock<Program>; 2] = [OnceLock::new(), OnceLock::new()];
    PROGRAMS[usize::from(is_by_digests)].get_or_init(|| {
        let text = [BEGIN, if is_by_digests { DIGESTS } else { PACKETS }, END].concat();
        Options::default().compile_text("learn.p4", &text).expect("it has no errors")
    })
}

fn scenario(text: &str) -> Scenario {
    let read = |_: &str| Ok(TOPOLOGY.as_bytes().to_vec());
    Scenario::read(text, &[], &read).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn core(is_by_digests: bool) -> Result<switch::Switch, String> {
    let entries = if is_by_digests { FLOOD } else { "" };
    let builder = program(is_by_digests).switch().entries("entries", entries);
    builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
}

fn simulate(text: &str, threads: usize, is_by_digests: bool) -> Simulation {
    let made = Simulation::new(scenario(text), threads, &mut |_, _| core(is_by_digests));
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str, threads: usize, is_by_digests: bool) -> Simulation {
    let mut simulation = simulate(text, threads, is_by_digests);
    assert!(simulation.run_until(Time::MAX).unwrap());
    simulation
}

fn column(files: &[ResultFile], name: &str, column: &str) -> Vec<u64> {
    let text = &files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name}")).text;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let index = lines.next().unwrap().iter().position(|it| *it == column).unwrap_or_else(|| panic!("no {column}"));
    lines.map(|line| line[index].parse().unwrap_or_else(|_| panic!("{column}: {line:?}"))).collect()
}

/// A value of the controller.
fn counted(simulation: &Simulation, name: &str) -> u64 {
    column(&results::files(simulation), "controllers.csv", name)[0]
}

fn learning(simulation: &Simulation) -> &Learning {
    let node = simulation.network.node::<ControllerNode>(simulation.controller.unwrap()).unwrap();
    node.controller().unwrap()
}

/// The Ethernet address of a host by its number, from 1.
fn address(simulation: &Simulation, host: usize) -> u64 {
    let mac = simulation.scenario.topology.hosts[host - 1].mac;
    mac.0.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[test]
fn addresses_are_learnt_by_digests_and_by_packets_on_any_number_of_threads() {
    for (more, is_by_digests) in [(BY_DIGESTS, true), (BY_PACKETS, false)] {
        let text = SCENARIO.to_owned() + more;
        let simulation = run(&text, 1, is_by_digests);
        let ports = |switch: usize| {
            [1, 2, 3, 4].map(|host| learning(&simulation).port(switch, address(&simulation, host)).unwrap_or(0))
        };
        assert_eq!([ports(0), ports(1)], [[1, 2, 3, 3], [3, 3, 1, 2]]);
        let files = results::files(&simulation);
        let [sent, received] = ["sent", "received"].map(|it| column(&files, "flows.csv", it));
        // The last ones are in flight; a few overtake an ARP answer and are not lost.
        assert!(received.iter().zip(&sent).all(|(got, sent)| got + 2 >= *sent && *got > 8), "{sent:?} {received:?}");
        // Two entries for each of four addresses in each switch, none twice.
        assert_eq!((counted(&simulation, "updates"), counted(&simulation, "updates_refused")), (16, 0));
        let [digests, packets] = ["digests", "packets_in"].map(|it| counted(&simulation, it));
        assert_eq!((digests > 8, packets > 8), (is_by_digests, !is_by_digests), "{digests} {packets}");
        for threads in [2, 3] {
            let parallel = run(&text, threads, is_by_digests);
            assert!(parallel.network.threads() > 1);
            assert_eq!(results::files(&parallel), files, "{threads} threads");
        }
    }
}

#[test]
fn latencies_are_those_of_the_scenario() {
    let ping = |latency: &str| {
        let text = SCENARIO.replace("150us", latency).replace("kind = \"udp\"", "kind = \"udp\"\ncount = 1");
        results::files(&run(&(text + BY_PACKETS), 1, false))
    };
    let (near, far) = (ping("150us"), ping("1150us"));
    let max = |files: &[ResultFile]| {
        let text = &files.iter().find(|it| it.name == "flows.csv").unwrap().text;
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let column = header.iter().position(|it| *it == "delay_max_ns").unwrap();
        text.lines().nth(4).unwrap().split(',').nth(column).unwrap().parse::<f64>().unwrap()
    };
    let difference = max(&far) - max(&near);
    // The first ping waits for its ARP request and answer, both of which go to the controller at both switches.
    assert!((3.9e6..4.1e6).contains(&difference), "{difference}");
}

#[test]
fn a_controller_without_latency_stays_with_its_switches() {
    let text = SCENARIO.replace("150us", "0us").replace("50us", "0us") + BY_DIGESTS;
    let one = results::files(&run(&text, 1, true));
    let two = run(&text, 2, true);
    assert_eq!(results::files(&two), one);
}

#[test]
fn idle_entries_are_deleted_and_learnt_again() {
    let text = SCENARIO
        .replace("interval = \"2ms\"", "interval = \"10ms\"")
        .replace("[[flows]]\nkind = \"udp\"", "[[flows]]\nkind = \"udp\"\nend = \"3ms\"");
    let simulation = run(&(text + BY_DIGESTS + "idle = \"2ms\"\n"), 1, true);
    let idle = counted(&simulation, "idle_entries");
    // All are forgotten after 3 ms, those of h1 and h4 again after 10 ms.
    assert!((8..=16).contains(&idle), "{idle}");
    assert_eq!(counted(&simulation, "updates_refused"), 0);
    assert!([1, 2, 3, 4].iter().all(|host| learning(&simulation).port(0, address(&simulation, *host)).is_none()));
    assert_eq!(column(&results::files(&simulation), "flows.csv", "received")[3], 2);
}

#[test]
fn a_switch_that_has_lost_its_tables_is_learnt_again() {
    let more = "[switch.s2]\ntables = \"lost\"\nrestarts = [[\"5ms\", \"6ms\"]]\n";
    let simulation = run(&(SCENARIO.to_owned() + BY_PACKETS + more), 1, false);
    // 8 for each switch, and again for s2.
    assert_eq!((counted(&simulation, "updates"), counted(&simulation, "updates_refused")), (24, 0));
    let kept = more.replace("lost", "kept");
    // The program's entries are kept, not those of the controller.
    let simulation = run(&(SCENARIO.to_owned() + BY_PACKETS + &kept), 1, false);
    assert_eq!(counted(&simulation, "updates"), 24);
}

#[test]
fn a_controller_that_pauses_answers_late() {
    let text = SCENARIO.to_owned() + BY_PACKETS + "pauses = [[\"0ms\", \"7ms\"]]\n";
    let simulation = run(&text, 1, false);
    let files = results::files(&simulation);
    // The first queued packet is an ARP request of the ping at 0 ms.
    let wait_ms = column_text(&files, "controllers.csv", "wait_max_ns").parse::<f64>().unwrap() / 1e6;
    assert!((6.7..7.1).contains(&wait_ms), "{wait_ms}");
    assert!(
        files.iter().any(|file| file.name == "faults.csv" && file.text.contains("0,7000000,controller,controller,"))
    );
    let random = SCENARIO.to_owned() + BY_PACKETS + "[faults]\ncontrollers = 2\nlasts = \"3ms\"\n";
    let (one, two) = (run(&random, 1, false), run(&random, 2, false));
    assert_eq!(one.scenario.faults.len(), 2);
    assert_eq!(results::files(&two), results::files(&one));
}

fn column_text<'a>(files: &'a [ResultFile], name: &str, column: &str) -> &'a str {
    let text = &files.iter().find(|file| file.name == name).unwrap().text;
    let index = text.lines().next().unwrap().split(',').position(|it| it == column).unwrap();
    text.lines().nth(1).unwrap().split(',').nth(index).unwrap()
}

#[test]
fn packets_of_the_controller_are_explained() {
    let properties = ["no-unexplained-loss", "no-loop", "bytes-intact"].map(|it| check::Property::parse(it).unwrap());
    for (more, is_by_digests) in [(BY_DIGESTS, true), (BY_PACKETS, false)] {
        let mut simulation = simulate(&(SCENARIO.to_owned() + more), 1, is_by_digests);
        let mut checker = check::Checker::new(&properties, &simulation);
        simulation.network.record(&checker.recording());
        simulation.run_until(Time::MAX).unwrap();
        let records = simulation.network.take_records();
        let is_taken = |it: &record::Record| it.event == record::Event::Lost(record::Loss::Controller);
        assert_eq!(records.iter().any(is_taken), !is_by_digests);
        checker.take(&records);
        checker.finish(&simulation);
        assert_eq!(checker.violation(), None);
    }
}

/// Writes an entry at a time, and one that is refused.
struct Writer {
    at: Time,
    entry: TableEntry,
    answers: Vec<(Time, WriteId, Vec<bool>)>,
    switches: usize,
}

impl Controller for Writer {
    fn connected(&mut self, controls: &mut Controls<'_, '_>, _switch: usize) {
        assert_eq!(controls.now(), Time::from_us(150) + Time::from_us(5).times(1 + self.switches as u64));
        self.switches += 1;
    }

    fn timer(&mut self, controls: &mut Controls<'_, '_>) {
        self.at = Time::MAX;
        let insert = Update { kind: UpdateKind::Insert, entity: Entity::TableEntry(self.entry.clone()) };
        controls.write(0, vec![insert.clone(), insert]);
        controls.packet_out(1, &[0; 64]);
    }

    fn written(
        &mut self,
        controls: &mut Controls<'_, '_>,
        switch: usize,
        write: WriteId,
        outcomes: &[Result<(), Fault>],
    ) {
        assert_eq!(switch, 0);
        self.answers.push((controls.now(), write, outcomes.iter().map(Result::is_ok).collect()));
    }

    fn next_timer(&self) -> Time {
        self.at
    }
}

#[test]
fn controllers_can_be_written_in_rust() {
    let text = SCENARIO.to_owned() + BY_PACKETS;
    let mut make = |_: &_, switches: &[SwitchFacts]| {
        let facts = &switches[0];
        assert_eq!((&*facts.name, facts.cpu_port, &facts.ports[..]), ("s1", 510, &[1, 2, 3][..]));
        let entry = entry_of(&facts.program, 7);
        let writer = Writer { at: Time::from_ms(3), entry, answers: Vec::new(), switches: 0 };
        Ok(Box::new(writer) as Box<dyn Controller>)
    };
    let mut simulation = Simulation::with_controller(scenario(&text), 1, &mut |_, _| core(false), &mut make).unwrap();
    simulation.run_until(Time::MAX).unwrap();
    let node = simulation.network.node::<ControllerNode>(simulation.controller.unwrap()).unwrap();
    // 50 us to the switch, 20 us for each update, 150 us back, 5 us for the event; packets may be dealt with before.
    let answers = &node.controller::<Writer>().unwrap().answers;
    assert_eq!(answers.len(), 1);
    let (time, write, outcomes) = &answers[0];
    assert_eq!((*write, &outcomes[..]), (0, &[true, false][..]));
    assert!((Time::from_us(3_245)..Time::from_us(3_400)).contains(time), "{time}");
    assert_eq!(node.counters().updates_refused, 1);
}

/// Reads the counters, a register and the entries of a switch twice, the last behind a write, and a cell that there is
/// not.
struct Reader {
    at: Time,
    entry: TableEntry,
    answers: Vec<Answer>,
}

type Answer = (Time, ReadId, Result<Vec<Entity>, Fault>);

impl Controller for Reader {
    fn timer(&mut self, controls: &mut Controls<'_, '_>) {
        self.at = if controls.now() < Time::from_ms(8) { Time::from_ms(8) } else { Time::MAX };
        controls.read(1, Query::Counters { array: None, index: None });
        controls.read(1, Query::Registers { array: None, index: Some(2) });
        controls.write(1, vec![Update { kind: UpdateKind::Insert, entity: Entity::TableEntry(self.entry.clone()) }]);
        controls.read(1, Query::TableEntries(TableQuery::default()));
        controls.read(1, Query::Counters { array: Some(ir::CounterId::from_index(0)), index: Some(4) });
    }

    fn answered(
        &mut self,
        controls: &mut Controls<'_, '_>,
        switch: usize,
        read: ReadId,
        outcome: Result<Vec<Entity>, Fault>,
    ) {
        assert_eq!(switch, 1);
        self.answers.push((controls.now(), read, outcome));
    }

    fn next_timer(&self) -> Time {
        self.at
    }
}

/// Counts packets by port, and stores the time at which the last one came.
const COUNTED: &str = r#"
    counter(4, CounterType.packets) by_port;
    register<bit<48>>(4) last;
    table sources { key = { h.ethernet.src: exact; } actions = { known; NoAction; } default_action = NoAction(); }
    apply {
        by_port.count((bit<32>) s.ingress_port);
        last.write((bit<32>) s.ingress_port, s.ingress_global_timestamp);
        sources.apply();
        s.mcast_grp = 1;
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { if (s.egress_port == s.ingress_port) { mark_to_drop(s); } }
}
"#;

fn entry_of(program: &ir::Program, source: u64) -> TableEntry {
    let table = program.tables.iter_enumerated().find(|(_, it)| it.name.ends_with("sources")).unwrap();
    let known = program.actions.iter_enumerated().find(|(_, it)| it.name.ends_with("known")).unwrap().0;
    let key = vec![base::FieldMatch::Exact(base::Bits::from_u64(48, source))];
    let call = control::api::entity::Call { action: known, args: Vec::new() };
    TableEntry::new(table.0, Some(EntryName { key, priority: 0 }), Some(EntryAction::Call(call)))
}

/// What a [`Reader`] has read, on this many threads.
fn read_by_controller(threads: usize) -> (Vec<Answer>, Vec<ResultFile>) {
    let text = [BEGIN, COUNTED, END].concat();
    let program = Options::default().compile_text("count.p4", &text).unwrap();
    let mut core = |_: &str, _: &_| {
        let builder = program.switch().entries("entries", FLOOD);
        builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
    };
    let mut make = |_: &_, switches: &[SwitchFacts]| {
        let entry = entry_of(&switches[1].program, 7);
        Ok(Box::new(Reader { at: Time::from_ms(3), entry, answers: Vec::new() }) as Box<dyn Controller>)
    };
    let scenario = scenario(&(SCENARIO.to_owned() + BY_DIGESTS + "read_time = \"10us\"\n"));
    let mut simulation = Simulation::with_controller(scenario, threads, &mut core, &mut make).unwrap();
    simulation.run_until(Time::MAX).unwrap();
    let node = simulation.network.node::<ControllerNode>(simulation.controller.unwrap()).unwrap();
    (node.controller::<Reader>().unwrap().answers.clone(), results::files(&simulation))
}

#[test]
fn controllers_read_what_switches_have() {
    let (answers, files) = read_by_controller(1);
    let numbers: Vec<ReadId> = answers.iter().map(|(_, read, _)| *read).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
    // 50 us to the switch, 10 us for each entity, 20 us for the update, 150 us back, 5 us in the controller.
    let us = |us: u64| Time::from_ms(3) + Time::from_us(us);
    let times: Vec<Time> = answers.iter().take(4).map(|(time, ..)| *time).collect();
    assert_eq!(times, [us(50 + 40 + 155), us(50 + 50 + 155), us(50 + 50 + 20 + 10 + 155), us(50 + 50 + 20 + 10 + 160)]);
    let counts = |answer: usize| -> Vec<u64> {
        let count = |entity: &Entity| match entity {
            Entity::Counter(Cell { value, .. }) => value.packets,
            other => panic!("{other:?}"),
        };
        answers[answer].2.as_ref().unwrap().iter().map(count).collect()
    };
    let (first, second) = (counts(0), counts(4));
    // No port has the number 0; later there are more packets.
    assert!(first[0] == 0 && first[3] > 1 && (1..4).all(|port| second[port] >= first[port]), "{first:?} {second:?}");
    assert!(second[3] > first[3]);
    let Ok([Entity::Register(Cell { index: Some(2), value, .. })]) = answers[1].2.as_deref() else {
        panic!("{answers:?}")
    };
    // Microseconds, as programs see them: before the read, which came at 3.09 ms.
    assert!((1..=3_090).contains(&value.low_u64()), "{value:?}");
    // A read comes after the write that was sent before it.
    let Ok([Entity::TableEntry(entry)]) = answers[2].2.as_deref() else { panic!("{answers:?}") };
    assert_eq!(entry.name.as_ref().unwrap().key, [base::FieldMatch::Exact(base::Bits::from_u64(48, 7))]);
    let refused = answers[3].2.as_ref().unwrap_err();
    assert!(refused.message.contains('4'), "{refused:?}");
    assert_eq!(column(&files, "controllers.csv", "reads"), [8]);
    assert_eq!(column(&files, "controllers.csv", "entities_read"), [12]);
    // Any number of threads reads the same at the same times.
    for threads in [2, 3] {
        assert!(read_by_controller(threads) == (answers.clone(), files.clone()), "{threads} threads");
    }
}

#[test]
fn a_program_that_does_not_fit_is_refused_with_the_place() {
    let fault = |more: &str| {
        let text = SCENARIO.to_owned() + more;
        let made = Simulation::new(scenario(&text), 1, &mut |_, _| core(true));
        made.err().map(|fault| fault.to_string()).unwrap_or_default()
    };
    let refusals = [
        fault(&BY_DIGESTS.replace("destinations", "destination")),
        fault(&BY_DIGESTS.replace("table_add sources", "table_delete sources")),
        fault(&(BY_DIGESTS.to_owned() + "digest = \"learnt\"\n")),
        fault(&BY_PACKETS.replace("packet_out_t", "packet_out")),
        fault(&(BY_DIGESTS.replace("\"table_add sources known {mac} {port} =>\", ", "") + "idle = \"1s\"\n")),
        fault(&(BY_DIGESTS.to_owned() + "cpu_port = 2\n")),
        fault(&(BY_DIGESTS.to_owned() + "cpu_port = 70_000\n")),
    ];
    expect_test::expect![[r#"
        25:9: switch s1: `table_add destination forward {mac} => {port}`: there is no table destination
          help: the program has the tables I.destinations, I.sources
        25:9: switch s1: `table_delete sources known {mac} {port} =>`: table_delete takes 2 arguments, 5 given
          help: table_delete TABLE HANDLE
        26:10: switch s1: the program has no digest `learnt`; it has learn_t
        26:13: switch s1: the program has no header type `packet_out`; it has packet_in_t, packet_out_t, ethernet_t
        26:8: switch s1: none of the tables that are written has timeouts: in P4 a table has `support_timeout = true`
        26:12: switch s1: port 2 has a link, so no controller can be behind it
        26:12: switch s1: ports of v1model are at most 511"#]]
    .assert_eq(&refusals.join("\n"));
}
