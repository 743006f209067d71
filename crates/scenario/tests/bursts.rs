//! Several packets in one call of a switch: the results are those of packets that come one by one.

use scenario::results::{self, ResultFile};
use scenario::topology::NodeRef;
use scenario::{Scenario, Simulation};
use sim::record::Recording;
use std::fmt::Write as _;
use wirespeed::{Backend, Options, Program};

/// Forwards packets and notes in them and in a register which they are, and when they came. Each 16th is dropped.
const COUNTING: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<8> version; bit<8> tos; bit<16> length; bit<16> id; bit<16> fragment; bit<8> ttl; bit<8> protocol;
    bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<16>>(1) packets;
    register<bit<48>>(1) times;
    action forward(bit<9> port, bit<48> mac) { s.egress_spec = port; h.ethernet.dst = mac; }
    action drop() { mark_to_drop(s); }
    table hosts { key = { h.ipv4.dst: exact; } actions = { forward; drop; } default_action = drop(); }
    apply {
        bit<16> number;
        packets.read(number, 0);
        packets.write(0, number + 1);
        bit<48> sum;
        times.read(sum, 0);
        times.write(0, (sum << 1) + s.ingress_global_timestamp);
        h.ipv4.id = number;
        hosts.apply();
        if (number & 15 == 15) { drop(); }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(true, { h.ipv4.version, h.ipv4.tos, h.ipv4.length, h.ipv4.id, h.ipv4.fragment, h.ipv4.ttl,
                                h.ipv4.protocol, h.ipv4.src, h.ipv4.dst }, h.ipv4.checksum, HashAlgorithm.csum16);
    }
}
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const SCENARIO: &str = "duration = \"8ms\"\n[topology]\nkind = \"star\"\nhosts = 8\nrate = \"1Gbps\"\ndelay = \"20us\"\n\
    [switches]\nprogram = \"counting.p4\"\n[links]\nqueue_packets = 20\n\
    [[flows]]\nkind = \"udp\"\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\nrate = \"400Mbps\"\nsize = 200\n\
    arrivals = \"poisson\"\n[[flows]]\nkind = \"tcp\"\nfrom = \"*\"\nto = \"h1\"\nbytes = 20_000\n";

/// A run, which records what happens to packets if it is to.
fn run(program: &Program, backend: Backend, threads: usize, recording: Option<&Recording>) -> Vec<ResultFile> {
    let scenario = Scenario::read(SCENARIO, &[], &|name| Err(format!("there is no file {name}"))).unwrap();
    let mut entries = String::new();
    for link in &scenario.topology.links {
        let [(a, a_port), (b, b_port)] = link.ends;
        for (end, port) in [(a, b_port), (b, a_port)] {
            let NodeRef::Host(index) = end else { continue };
            let host = &scenario.topology.hosts[index];
            let mac: String = host.mac.0.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(entries, "table_add hosts forward {} => {port} 0x{mac}", host.addresses[0].ip);
        }
    }
    let mut simulation = Simulation::new(scenario, threads, &mut |_, _| {
        let builder = program.switch().backend(backend).entries("entries", &entries);
        builder.build_core().map_err(|error| error.to_string())
    })
    .unwrap();
    recording.iter().for_each(|recording| simulation.network.record(recording));
    assert!(simulation.run_until(sim::Time::MAX).unwrap());
    let register = simulation.network.node::<sim::switch_node::SwitchNode>(simulation.switches[0]).unwrap();
    assert!(register.core().stats().received > 3_000);
    results::files(&simulation)
}

#[test]
fn packets_of_a_burst_are_as_if_they_came_one_by_one() {
    let program = Options::default().compile_text("counting.p4", COUNTING).unwrap();
    let burst = run(&program, Backend::Native, 1, None);
    // Who follows packets takes them one by one.
    let recording = Recording { follows: true, ..Recording::default() };
    assert_eq!(run(&program, Backend::Native, 1, Some(&recording)), burst);
    assert_eq!(run(&program, Backend::Interpreter, 1, None), burst);
    for threads in [2, 3] {
        assert_eq!(run(&program, Backend::Native, threads, None), burst, "{threads} threads");
    }
    let drops = burst.iter().find(|file| file.name == "drops.csv").unwrap();
    assert!(drops.text.contains("queue") && drops.text.contains("switch"), "{}", drops.text);
}
