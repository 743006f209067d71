//! Ways of packets inside the switch that take time: when packets come round, what programs see, and what is lost.

use wirespeed::{Backend, CompileOptions, Optimise, Options, Program, Switch};

/// The first byte says what happens to a packet: 1 is recirculated, 2 resubmitted, 3 cloned from ingress, 4 cloned from
/// egress, 5 replicated. Each leaves on port 2 with the time of its last pass, in microseconds.
const ROUND: &str = r#"
#include <v1model.p4>
header way_t { bit<8> way; bit<8> passes; bit<48> time; }
struct headers_t { way_t way; }
struct meta_t { @field_list(1) bit<8> passes; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.way); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        h.way.time = s.ingress_global_timestamp;
        s.egress_spec = 2;
        if (h.way.way == 2 && m.passes == 0) { m.passes = 1; resubmit_preserving_field_list(1); }
        if (h.way.way == 3) { clone(CloneType.I2E, 7); }
        if (h.way.way == 5) { s.mcast_grp = 1; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        if (h.way.way == 1 && h.way.passes == 0) { h.way.passes = 1; recirculate_preserving_field_list(0); }
        if (h.way.way == 4 && s.instance_type == 0) { clone(CloneType.E2E, 7); }
    }
}
control C(inout headers_t h, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h.way); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const SETTINGS: switch::InternalPortSettings = switch::InternalPortSettings {
    // A microsecond for a packet of 125 bytes.
    bits_per_s: 1_000_000_000,
    overhead_bytes: 0,
    packets_per_s: 0,
    delay_ns: 2_000,
    capacity_packets: 3,
    capacity_bytes: u64::MAX,
};

fn both(program: &Program, folder: &tempfile::TempDir) -> [Switch; 2] {
    let options = CompileOptions {
        cache_dir: Some(folder.path().to_owned()),
        optimise: Optimise::None,
        ..CompileOptions::default()
    };
    let entries = "mirroring_add 7 3\nmc_mgrp_create 1\nmc_node_create 0 4 5 6\nmc_node_associate 1 0";
    [Backend::Interpreter, Backend::Native].map(|backend| {
        let builder = program.switch().backend(backend).compiler(options.clone());
        builder.entries("entries", entries).build().unwrap()
    })
}

fn packet(way: u8) -> Vec<u8> {
    let mut packet = vec![0; 125];
    packet[0] = way;
    packet
}

/// Runs the switch until nothing is left to do: each packet that leaves with the time of the run, its port, and the
/// time in it.
fn run(switch: &mut Switch, now_ns: u64, packets: &[Vec<u8>]) -> Vec<(u64, u32, u64)> {
    let packets: Vec<&[u8]> = packets.iter().map(|packet| &packet[..]).collect();
    let mut left = Vec::new();
    let mut note = |at_ns: u64, sent: wirespeed::Sent| {
        let time = |bytes: &[u8]| bytes[2..8].iter().fold(0, |time, &byte| time << 8 | u64::from(byte));
        left.extend(sent.packets.iter().map(|it| (at_ns, it.port, time(&it.bytes))));
    };
    note(now_ns, switch.process_burst(now_ns, 1, &packets).unwrap());
    while let Some(at_ns) = switch.next_event_ns() {
        note(at_ns, switch.run(at_ns));
    }
    left
}

#[test]
fn packets_come_round_after_the_ports_time() {
    let folder = tempfile::tempdir().unwrap();
    let program = Options::default().compile_text("round.p4", ROUND).unwrap();
    let [mut interpreted, mut native] = both(&program, &folder);
    for switch in [&mut interpreted, &mut native] {
        // Without settings nothing takes time.
        let ways: Vec<Vec<u8>> = (1..=2).map(packet).collect();
        assert_eq!(run(switch, 10_000, &ways), [(10_000, 2, 10), (10_000, 2, 10)]);
        for port in switch::InternalPort::ALL {
            switch.core(|core| core.set_internal_port(port, SETTINGS));
        }
        for way in 1..=2 {
            // One on the wire and three that wait; a fifth is lost. The time is that of the second pass.
            let start_ns = 100_000 * u64::from(way);
            let start_us = start_ns / 1_000;
            let left = run(switch, start_ns, &vec![packet(way); 5]);
            let expected: Vec<_> = (3..7).map(|us| (start_ns + 1_000 * us, 2, start_us + us)).collect();
            assert_eq!(left, expected);
        }
        for way in 3..=4 {
            let start_ns = 100_000 * u64::from(way);
            let left = run(switch, start_ns, &[packet(way), packet(way)]);
            let us = start_ns / 1_000;
            // A clone from ingress is the packet as it was received.
            let clone_us = if way == 3 { 0 } else { us };
            let clones = [3_000, 4_000].map(|after_ns| (start_ns + after_ns, 3, clone_us));
            let expected = [&[(start_ns, 2, us); 2][..], &clones].concat();
            assert_eq!(left, expected, "clones");
        }
        let left = run(switch, 900_000, &[packet(5)]);
        assert_eq!(left, [(903_000, 4, 900), (904_000, 5, 900), (905_000, 6, 900)]);
        let states =
            switch.core(|core| core.internal_ports().map(|(port, it)| (port.name(), it.packets)).collect::<Vec<_>>());
        assert_eq!(states, [("resubmission", 4), ("recirculation", 4), ("mirror", 4), ("replication", 3)]);
        assert_eq!(switch.stats().drops(wirespeed::DropReason::QueueFull), 2);
    }
}

/// Packets come as fast as the recirculation port carries them, and each goes round twice: half of them get through.
#[test]
fn recirculation_has_the_bandwidth_of_its_port() {
    let program = Options::default()
        .compile_text(
            "round.p4",
            &ROUND
                .replace("passes == 0) { h", "passes < 2) { h")
                .replace("h.way.passes = 1;", "h.way.passes = h.way.passes + 1;"),
        )
        .unwrap();
    let mut switch = program.switch().backend(Backend::Interpreter).build().unwrap();
    switch.core(|core| core.set_internal_port(switch::InternalPort::Recirculation, SETTINGS));
    let mut sent = 0;
    let mut now_ns = 0;
    for number in 0..4_000 {
        let next_ns = 1_000 * number;
        while let Some(at_ns) = switch.next_event_ns().filter(|at_ns| *at_ns <= next_ns) {
            now_ns = at_ns.max(now_ns);
            sent += switch.run(now_ns).packets.len();
        }
        now_ns = next_ns;
        sent += switch.process(now_ns, 1, &packet(1)).unwrap().packets.len();
    }
    assert!((1_900..=2_100).contains(&sent), "{sent}");
}

/// A switch with another program has the same internal ports; what was on its way is lost, and counted.
#[test]
fn another_program_finds_the_ports_as_they_were() {
    let program = Options::default().compile_text("round.p4", ROUND).unwrap();
    let build = || program.switch().backend(Backend::Interpreter).build_core_on(switch::Backend::Interpreter).unwrap();
    let mut core = build();
    core.set_internal_port(switch::InternalPort::Mirror, SETTINGS);
    drop(core.replace(build()));
    assert_eq!(core.internal_ports().map(|(port, _)| port).collect::<Vec<_>>(), [switch::InternalPort::Mirror]);
    assert!(core.shows_time() && core.divides().is_err());
}
