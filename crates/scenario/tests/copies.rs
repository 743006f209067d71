//! Packets that programs multiply, send round, and report to a controller, on a chain of switches: the same bytes on
//! any number of threads.

use crate::common::column;
use scenario::results::{self, ResultFile};
use scenario::topology::routes::Routes;
use scenario::topology::{NodeRef, Topology};
use scenario::{Scenario, Simulation};
use sim::Time;
use std::fmt::Write as _;
use std::sync::OnceLock;
use wirespeed::{Options, Program};

/// Forwards by the address of the host. Of the traffic class, bit 2 sends a packet round once more, with its replicas
/// and clones of it; bit 3 clones it before and behind the queues; bit 4 floods it, if it goes round then in its second
/// pass. Unknown sources are reported by digests.
const PROGRAM: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<8> version; bit<8> tos; bit<16> length; bit<32> fragment; bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct meta_t { @field_list(1) bit<8> passes; @field_list(1) bit<9> from; }
struct learn_t { bit<48> address; bit<9> port; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action forward(bit<9> port, bit<48> mac) { s.egress_spec = port; h.ethernet.dst = mac; }
    table hosts { key = { h.ipv4.dst: exact; } actions = { forward; drop; } default_action = drop(); }
    action known() {}
    action learn() { digest<learn_t>(1, { h.ethernet.src, s.ingress_port }); }
    table sources {
        key = { h.ethernet.src: exact; s.ingress_port: exact; }
        actions = { known; learn; }
        default_action = learn();
    }
    apply {
        hosts.apply();
        if (m.passes == 0) {
            m.from = s.ingress_port;
            sources.apply();
            if (h.ipv4.tos & 8 != 0) { clone_preserving_field_list(CloneType.I2E, 7, 1); }
        }
        if (h.ipv4.tos & 16 != 0 && (h.ipv4.tos & 4 == 0 || m.passes == 1)) { s.mcast_grp = 1; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        if (s.mcast_grp != 0 && s.egress_port == m.from) { mark_to_drop(s); }
        if (s.instance_type == 0 && h.ipv4.tos & 8 != 0) { clone_preserving_field_list(CloneType.E2E, 7, 1); }
        if (h.ipv4.tos & 4 != 0 && m.passes == 0) { m.passes = 1; recirculate_preserving_field_list(1); }
    }
}
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const SCENARIO: &str = r#"
duration = "5ms"
sample = "1ms"
[topology]
kind = "chain"
switches = 4
hosts_per_switch = 2
rate = "1Gbps"
delay = "3us"
[switches]
program = "copies.p4"
timing = "software"
cores = 2
cost = "1us"
recirculation = { rate = "300Mbps", queue_packets = 10 }
mirror = { rate = "500Mbps", delay = "200ns" }
replication = { rate = "2Gbps" }
[links]
queue_packets = 30
[[flows]]
kind = "udp"
from = "h1"
to = "h8"
rate = "300Mbps"
arrivals = "poisson"
traffic_class = 4
[[flows]]
kind = "udp"
from = "h2"
to = "h7"
rate = "50Mbps"
arrivals = "poisson"
traffic_class = 12
[[flows]]
kind = "udp"
from = "h5"
to = "h2"
rate = "40Mbps"
arrivals = "poisson"
traffic_class = 16
[[flows]]
kind = "udp"
from = "h7"
to = "h4"
rate = "20Mbps"
arrivals = "poisson"
traffic_class = 20
[[flows]]
kind = "tcp"
from = "h8"
to = "h1"
[controller]
kind = "learning"
to_controller = "40us"
to_switch = "30us"
write_time = "10us"
event_time = "5us"
write = ["table_add sources known {mac} {port} =>"]
"#;

fn program() -> &'static Program {
    static COMPILED: OnceLock<Program> = OnceLock::new();
    COMPILED.get_or_init(|| Options::default().compile_text("copies.p4", PROGRAM).expect("it has no errors"))
}

/// A route to each host; the group and the clones' session have ports of this switch.
fn entries(topology: &Topology, routes: &Routes, switch: usize) -> String {
    let ports: Vec<u32> =
        topology.links_at(NodeRef::Switch(switch)).map(|(link, end)| topology.links[link].ends[end].1).collect();
    let routes = &routes.switches[switch];
    let mut text = String::new();
    for (number, host) in topology.hosts.iter().enumerate() {
        let port = ports[routes.groups[routes.hosts[number] as usize][0]];
        let [a, b, c, d, e, f] = host.mac.0;
        let mac = format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}");
        for ip in host.addresses.iter().map(|it| it.ip).filter(|ip| ip.is_ipv4()) {
            let _ = writeln!(text, "table_add hosts forward {ip} => {port} {mac}");
        }
    }
    let all: Vec<String> = ports.iter().map(u32::to_string).collect();
    let _ = writeln!(text, "mc_mgrp_create 1\nmc_node_create 0 {}\nmc_node_associate 1 0", all.join(" "));
    let _ = writeln!(text, "mirroring_add 7 {}", ports[0]);
    text
}

fn run(threads: usize) -> Vec<ResultFile> {
    let scenario = Scenario::read(SCENARIO, &[], &|name| Err(format!("there is no file {name}")));
    let scenario = scenario.unwrap_or_else(|faults| panic!("{faults:?}"));
    let topology = scenario.topology.clone();
    let routes = Routes::shortest(&topology);
    let made = Simulation::new(scenario, threads, &mut |name, _| {
        let switch = topology.switches.iter().position(|it| it.name == name).ok_or("no such switch")?;
        let builder = program().switch().entries("entries", &entries(&topology, &routes, switch));
        builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
    });
    let mut simulation = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simulation.network.threads(), threads);
    assert!(simulation.run_until(Time::MAX).unwrap());
    results::files(&simulation)
}

#[test]
fn copies_and_further_passes_are_the_same_on_any_number_of_threads() {
    let one = run(1);
    let switches = |name: &str| column(&one, "switches.csv", name);
    for name in ["digests", "copies", "passes", "recirculation_packets", "mirror_packets", "replication_packets"] {
        assert!(switches(name).iter().all(|it| *it > 0.0), "{name}: {:?}", switches(name));
    }
    // The path round is narrower than what the first switch sends on it: 300 Mb/s for 5 ms, and the queue at the end.
    assert!(switches("recirculation_dropped")[0] > 0.0);
    let bytes = switches("recirculation_bytes")[0];
    assert!((180_000.0..=187_500.0 + 11.0 * 1_514.0).contains(&bytes), "{bytes}");
    // The flooded flows arrive as well, and what goes over TCP.
    let bytes = column(&one, "flows.csv", "bytes");
    assert!(bytes.iter().all(|it| *it > 1_000.0), "{bytes:?}");
    for threads in [2, 3] {
        assert!(run(threads) == one, "{threads} threads");
    }
}
