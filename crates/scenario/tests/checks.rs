//! Properties of networks whose switches run programs that make copies of packets.

use scenario::check::{Checker, Property, Violation};
use scenario::{Scenario, Simulation};
use sim::Time;
use std::sync::OnceLock;
use wirespeed::{Options, Program};

/// Sends a copy of each packet to all ports, of which egress drops the one for the port where it came in. `DROP` is
/// what ingress does besides.
const FLOOD: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t {}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { s.mcast_grp = 1; DROP }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { if (s.egress_port == s.ingress_port) { mark_to_drop(s); } }
}
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

const GROUP: &str = "mc_mgrp_create 1\nmc_node_create 0 1 2 3\nmc_node_associate 1 0\n";

/// Loads that make copies queue behind each other.
const SCENARIO: &str = r#"
duration = "20ms"
[topology]
file = "topology.json"
[hosts]
resolve = false
[links]
rate = "100Mbps"
[[flows]]
kind = "udp"
from = "h*"
to = "h*"
rate = "10Mbps"
arrivals = "poisson"
"#;

const TOPOLOGY: &str = r#"{
  "hosts": { "h1": {"ip": "10.0.0.1/24"}, "h2": {"ip": "10.0.0.2/24"}, "h3": {"ip": "10.0.0.3/24"} },
  "switches": { "s1": {"program": "flood.p4"} },
  "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["h3", "s1-p3"]]
}"#;

fn program(drops: bool) -> &'static Program {
    static PROGRAMS: [OnceLock<Program>; 2] = [OnceLock::new(), OnceLock::new()];
    PROGRAMS[usize::from(drops)].get_or_init(|| {
        let drop =
            if drops { "if (s.ingress_global_timestamp > 9000) { s.mcast_grp = 0; mark_to_drop(s); }" } else { "" };
        Options::default().compile_text("flood.p4", &FLOOD.replace("DROP", drop)).expect("it has no errors")
    })
}

/// The first violation of a property, with further lines of the scenario.
fn violation(property: &str, more: &str, drops: bool) -> Option<Violation> {
    first_violation(program(drops), property, &(SCENARIO.to_owned() + more))
}

/// The first violation of a property in a scenario whose switch runs this program.
fn first_violation(program: &Program, property: &str, text: &str) -> Option<Violation> {
    let scenario = Scenario::read(text, &[], &|_| Ok(TOPOLOGY.as_bytes().to_vec()));
    let scenario = scenario.unwrap_or_else(|faults| panic!("{faults:?}"));
    let made = Simulation::new(scenario, 1, &mut |_, _| {
        let builder = program.switch().entries("entries", GROUP);
        builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
    });
    let mut simulation = made.unwrap_or_else(|error| panic!("{error}"));
    let mut checker = Checker::new(&[Property::parse(property).unwrap()], &simulation);
    simulation.network.record(&checker.recording());
    simulation.run_until(Time::MAX).unwrap();
    checker.take(&simulation.network.take_records());
    checker.finish(&simulation);
    assert!(checker.violation().is_some() || checker.followed() > 30, "{}", checker.followed());
    checker.violation().cloned()
}

#[test]
fn a_copy_that_egress_drops_is_no_loss_while_others_are_queued() {
    assert_eq!(violation("no-unexplained-loss", "", false), None);
    // Nor with a pipeline, and queues that no copy leaves at once.
    assert_eq!(violation("no-unexplained-loss", "[switches]\ntiming = \"rmt\"\n", false), None);
    assert_eq!(violation("in-order", "", false), None);
}

#[test]
fn a_copy_that_a_link_loses_explains_that_others_reach_other_hosts_only() {
    // The copy for the destination is lost before those for other hosts arrive, or after.
    for link in ["s1>h1", "s1>h2", "s1>h3", "h2>s1"] {
        let lossy = format!("[link.\"{link}\"]\nloss = 0.5\n");
        assert_eq!(violation("no-unexplained-loss", &lossy, false), None, "{link}");
    }
}

/// Forwards by the last bits of the address; egress drops what has waited for port 2 for long.
const LATE: &str = r#"
#include <v1model.p4>
header headers_bytes_t { bit<144> ethernet_and_begin; bit<96> rest; bit<32> dst; }
struct headers_t { headers_bytes_t all; }
struct meta_t {}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.all); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = h.all.dst[8:0]; }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { if (s.egress_port == 2 && s.deq_timedelta > 100) { mark_to_drop(s); } }
}
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

/// Packets for h2 wait for each other, and one for h3 waits until the end.
const LATE_SCENARIO: &str = r#"
duration = "40ms"
[topology]
file = "topology.json"
[hosts]
resolve = false
[link."s1>h2"]
rate = "10Mbps"
[link."s1>h3"]
rate = "1kbps"
[[flows]]
kind = "udp"
from = ["h1", "h3"]
to = "h2"
rate = "6Mbps"
arrivals = "poisson"
end = "30ms"
[[flows]]
kind = "udp"
from = "h1"
to = "h3"
rate = "10Mbps"
count = 2
[link."h3>s1"]
down = [["1ms", "1.1ms"]]
"#;

#[test]
fn a_packet_that_egress_drops_behind_a_queue_is_lost_while_others_wait() {
    let program = Options::default().compile_text("late.p4", LATE).expect("it has no errors");
    for property in ["no-unexplained-loss", "converges-within=1ms"] {
        let found = first_violation(&program, property, LATE_SCENARIO).expect("egress drops packets");
        assert!(found.what.starts_with("a packet is lost at s1: dropped by the program in egress"), "{found:?}");
    }
}

#[test]
fn a_copy_that_is_under_way_at_the_end_is_not_lost() {
    // Copies for the other host arrive before.
    let text = SCENARIO.replace("20ms", "40ms") + "from = \"h1\"\nto = \"h2\"\n[link.\"s1>h2\"]\ndelay = \"9ms\"\n";
    let text = text.replace("from = \"h*\"\nto = \"h*\"\n", "");
    assert_eq!(first_violation(program(false), "no-unexplained-loss", &text), None);
}

#[test]
fn a_packet_of_which_all_copies_are_dropped_is_one() {
    let found = violation("no-unexplained-loss", "", true).expect("the program drops");
    assert!(found.time > Time::from_ms(9), "{found:?}");
    assert!(found.what.contains("s1"), "{found:?}");
}
