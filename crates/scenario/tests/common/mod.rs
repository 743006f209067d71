//! Scenarios with a program, for tests of what switches do.

use scenario::results::{self, ResultFile};
use scenario::topology::{NodeRef, Topology};
use scenario::{Scenario, Simulation};
use std::sync::OnceLock;
use wirespeed::{Options, Program};

/// Forwards by the address of the host. The three highest bits of the traffic class are the priority; its bit 2 sends a
/// packet round once more, bit 3 resubmits it.
const FORWARD: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<8> version; bit<8> tos; bit<16> length; bit<32> fragment; bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct meta_t { @field_list(1) bit<8> passes; }
struct learn_t { bit<32> address; bit<9> port; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action punt() { s.egress_spec = 510; }
    action forward(bit<9> port, bit<48> mac) { s.egress_spec = port; h.ethernet.dst = mac; }
    table hosts {
        key = { h.ipv4.dst: exact; }
        actions = { forward; punt; drop; }
        default_action = drop();
    }
    action known() {}
    action learn() { digest<learn_t>(1, { h.ipv4.src, s.ingress_port }); }
    table sources {
        key = { h.ipv4.src: exact; }
        actions = { known; learn; }
        default_action = known();
    }
    apply {
        sources.apply();
        s.priority = (bit<3>) (h.ipv4.tos >> 5);
        hosts.apply();
        if (h.ipv4.tos & 8 != 0 && m.passes == 0) { m.passes = 1; resubmit_preserving_field_list(1); }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { if (h.ipv4.tos & 4 != 0 && m.passes == 0) { m.passes = 1; recirculate_preserving_field_list(1); } }
}
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| Options::default().compile_text("forward.p4", FORWARD).expect("it has no errors"))
}

/// An entry for each host that is joined to the switch of a star.
fn entries(topology: &Topology) -> String {
    let mut text = String::new();
    for link in &topology.links {
        let [(a, a_port), (b, b_port)] = link.ends;
        for (end, port) in [(a, b_port), (b, a_port)] {
            let NodeRef::Host(index) = end else { continue };
            let host = &topology.hosts[index];
            let [a, b, c, d, e, f] = host.mac.0;
            let mac = format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}");
            for ip in host.addresses.iter().map(|it| it.ip).filter(|ip| ip.is_ipv4()) {
                text += &format!("table_add hosts forward {ip} => {port} {mac}\n");
            }
        }
    }
    text
}

/// Runs a scenario whose switches forward to all hosts; `more` are entries besides.
pub fn simulate(text: &str, threads: usize, more: &str) -> Simulation {
    let scenario = Scenario::read(text, &[], &|name| Err(format!("there is no file {name}")));
    let scenario = scenario.unwrap_or_else(|faults| panic!("{faults:?}"));
    let entries = entries(&scenario.topology) + more;
    let mut simulation = Simulation::new(scenario, threads, &mut |_, plan| {
        let builder = program().switch().queues(usize::from(plan.device.priorities)).entries("entries", &entries);
        builder.build_core_on(switch::Backend::Interpreter).map_err(|error| error.to_string())
    });
    let simulation_ref = simulation.as_mut().unwrap_or_else(|error| panic!("{error}"));
    assert!(simulation_ref.run_until(sim::Time::MAX).unwrap());
    simulation.unwrap_or_else(|error| panic!("{error}"))
}

/// All results of such a scenario.
pub fn run(text: &str, threads: usize) -> Vec<ResultFile> {
    results::files(&simulate(text, threads, ""))
}

/// The numbers of a column.
pub fn column(files: &[ResultFile], name: &str, column: &str) -> Vec<f64> {
    let text = &files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name}")).text;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let index = header.iter().position(|it| *it == column).unwrap_or_else(|| panic!("no {column} in {header:?}"));
    lines.map(|line| line[index].parse().unwrap_or_else(|_| panic!("{column}: {line:?}"))).collect()
}
