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
    let text = SCENARIO.to_owned() + more;
    let scenario = Scenario::read(&text, &[], &|_| Ok(TOPOLOGY.as_bytes().to_vec()));
    let scenario = scenario.unwrap_or_else(|faults| panic!("{faults:?}"));
    let made = Simulation::new(scenario, 1, &mut |_, _| {
        let builder = program(drops).switch().entries("entries", GROUP);
        builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
    });
    let mut simulation = made.unwrap_or_else(|error| panic!("{error}"));
    let mut checker = Checker::new(&[Property::parse(property).unwrap()], &simulation);
    simulation.network.record(&checker.recording());
    simulation.run_until(Time::MAX).unwrap();
    checker.take(&simulation.network.take_records());
    checker.finish(&simulation);
    assert!(checker.violation().is_some() || checker.followed() > 80, "{}", checker.followed());
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

#[test]
fn a_packet_of_which_all_copies_are_dropped_is_one() {
    let found = violation("no-unexplained-loss", "", true).expect("the program drops");
    assert!(found.time > Time::from_ms(9), "{found:?}");
    assert!(found.what.contains("s1"), "{found:?}");
}
