//! Use cases: their packets hit the entries in a switch, and leave at the ports that the entries name.

use expect_test::{Expect, expect};
use generate::{Generator, Preset, Settings};
use std::fmt::Write as _;
use std::path::Path;
use wirespeed::{Backend, Options};

/// Sends the packets of a use case through its program, and shows how many left at which ports.
fn check(name: &str, expected: Expect) {
    let mut settings = Settings { flows: 40, entries: 40, count: 80, ..Settings::default() };
    let preset = Preset::named(name).unwrap();
    preset.apply(&mut settings).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(preset.program);
    let program = Options::as_written().compile_file(path).unwrap();
    let generator = Generator::new(program.ir(), &settings).unwrap();
    let mut entries = Vec::new();
    let report = generator.entries(&mut entries, &mut |_, _| {}).unwrap();
    let entries = String::from_utf8(entries).unwrap();
    let mut switch = program.switch().backend(Backend::Interpreter).entries(name, &entries).build().unwrap();
    let mut sent = std::collections::BTreeMap::new();
    let made: Result<(), ()> = generator.packets(|port, frame| {
        for packet in switch.process(0, port, frame).unwrap().packets {
            *sent.entry((port, packet.port)).or_insert(0) += 1;
        }
        Ok(())
    });
    made.unwrap();
    let mut shown = String::new();
    for table in report.tables {
        writeln!(shown, "{}: {} entries, {} of {} hit", table.name, table.entries, table.hits, table.lookups).unwrap();
    }
    for ((from, to), count) in sent {
        writeln!(shown, "{count} packets from port {from} to port {to}").unwrap();
    }
    expected.assert_eq(&shown);
}

#[test]
fn an_ethernet_switch_forwards() {
    check(
        "l2fwd",
        expect![[r#"
        SwitchIngress.classify: 0 entries, 0 of 40 hit
        SwitchIngress.source_known: 0 entries, 0 of 40 hit
        SwitchIngress.destination: 40 entries, 40 of 40 hit
        22 packets from port 1 to port 2
        32 packets from port 1 to port 3
        26 packets from port 1 to port 4
    "#]],
    );
}

/// Short prefixes of few addresses would cover all of them.
#[test]
fn there_are_as_many_routes_of_ipv6_as_are_asked_for() {
    let mut settings = Settings { flows: 3000, entries: 3000, ..Settings::default() };
    let preset = Preset::named("l3fwd6").unwrap();
    preset.apply(&mut settings).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(preset.program);
    let program = Options::as_written().compile_file(path).unwrap();
    let generator = Generator::new(program.ir(), &settings).unwrap();
    let report = generator.entries(&mut Vec::new(), &mut |_, _| {}).unwrap();
    let routes = report.tables.iter().find(|table| table.name.ends_with("route6")).unwrap();
    assert_eq!(routes.entries, 3000);
}

#[test]
fn a_router_forwards() {
    check(
        "l3fwd",
        expect![[r#"
        RouterIngress.check.interfaces: 1 entries, 40 of 40 hit
        RouterIngress.routing.route4: 40 entries, 40 of 40 hit
        RouterIngress.routing.groups: 26 entries, 40 of 40 hit
        RouterIngress.routing.next_hops: 26 entries, 40 of 40 hit
        44 packets from port 1 to port 2
        20 packets from port 1 to port 3
        16 packets from port 1 to port 4
    "#]],
    );
    check(
        "l3fwd6",
        expect![[r#"
        RouterIngress.check.interfaces: 1 entries, 40 of 40 hit
        RouterIngress.routing.route6: 40 entries, 40 of 40 hit
        RouterIngress.routing.groups: 28 entries, 40 of 40 hit
        RouterIngress.routing.next_hops: 28 entries, 40 of 40 hit
        28 packets from port 1 to port 2
        26 packets from port 1 to port 3
        26 packets from port 1 to port 4
    "#]],
    );
}

#[test]
fn a_data_centre_gateway_forwards_in_both_directions() {
    check(
        "dcg",
        expect![[r#"
        DcgIngress.check_arrival.interfaces: 2 entries, 80 of 80 hit
        DcgIngress.check_tunnel.own_end_points: 1 entries, 40 of 40 hit
        DcgIngress.check_tunnel.known_end_points: 40 entries, 40 of 40 hit
        DcgIngress.check_tunnel.segments: 40 entries, 40 of 40 hit
        DcgIngress.inbound.services4: 40 entries, 40 of 40 hit
        DcgIngress.inbound.flows: 0 entries, 0 of 40 hit
        DcgIngress.inbound.balancing: 40 entries, 40 of 40 hit
        DcgIngress.inbound.servers: 40 entries, 40 of 40 hit
        DcgIngress.inbound.end_points: 40 entries, 40 of 40 hit
        DcgIngress.outbound.sources4: 40 entries, 40 of 40 hit
        DcgIngress.outbound.routes4: 40 entries, 40 of 40 hit
        DcgIngress.outbound.next_hops: 32 entries, 40 of 40 hit
        18 packets from port 1 to port 3
        22 packets from port 1 to port 4
        16 packets from port 3 to port 1
        24 packets from port 3 to port 2
    "#]],
    );
}

#[test]
fn a_broadband_gateway_forwards_in_both_directions() {
    check(
        "bng",
        expect![[r#"
        GatewayIngress.check.interfaces: 2 entries, 80 of 80 hit
        GatewayIngress.subscribers.sender.tunnels: 40 entries, 40 of 40 hit
        GatewayIngress.subscribers.addresses: 1 entries, 40 of 80 hit
        GatewayIngress.subscribers.translate_source.bindings_up: 40 entries, 40 of 40 hit
        GatewayIngress.subscribers.translate_destination.bindings_down: 40 entries, 40 of 40 hit
        GatewayIngress.subscribers.receiver.subscribers: 40 entries, 40 of 40 hit
        GatewayIngress.subscribers.routing.access_routes: 1 entries, 40 of 40 hit
        GatewayIngress.subscribers.routing.core_routes: 40 entries, 40 of 40 hit
        GatewayIngress.subscribers.routing.next_hops: 31 entries, 80 of 80 hit
        40 packets from port 1 to port 3
        40 packets from port 3 to port 1
    "#]],
    );
}
