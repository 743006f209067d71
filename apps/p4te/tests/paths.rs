//! Algorithm 2 step by step: which port a packet that goes up gets.

use crate::frames::{Segment, parse};
use crate::monitoring::register;
use crate::switches::{Leaf, WAYS, frames};
use p4te::{Report, Settings};

const SHORT: u8 = 0x08;
const LARGE: u8 = 0x10;

fn leaf(way: testkit::corpus::Way) -> Leaf {
    Leaf::new(way, &Settings::default(), 1_000_000)
}

/// A report as the program would send it, carried out by the controller.
fn report(leaf: &mut Leaf, port: u32, depth: Option<u32>, colour: Option<u8>) {
    let report = Report {
        port,
        has_queue_event: depth.is_some(),
        has_utilisation_event: colour.is_some(),
        depth: depth.unwrap_or(0),
        colour: colour.unwrap_or(0),
    };
    let orders = leaf.priorities.report(&report);
    leaf.carry_out(&orders);
}

/// What egress would have reported to ingress of a port.
fn colour(leaf: &mut Leaf, port: usize, colour: u64) {
    let program = leaf.switch.program().clone();
    let (id, _) = program.registers.iter_enumerated().find(|(_, it)| it.name.ends_with("port_utilisations")).unwrap();
    leaf.switch.externs_mut().registers[id].write(port as u64, &base::Bits::from_u64(2, colour));
}

/// The port by which a flow's packet leaves.
fn port_of(leaf: &mut Leaf, is_v6: bool, class: u8, flow: u16) -> u32 {
    let segment = Segment { traffic_class: class, ports: (flow, 80), ..Segment::data(is_v6) };
    let sent = leaf.pass(1, &segment.frame(), 100);
    let [(port, frame)] = frames(&sent)[..] else { panic!("{sent:?}") };
    let arrived = parse(frame);
    assert_eq!((arrived.from, arrived.to, arrived.payload_bytes), ((1, 1), (2, 1), 100));
    *port
}

#[test]
fn classes_take_the_path_of_their_measure() {
    for (way, is_v6) in WAYS.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let mut leaf = leaf(way);
        // Figure 6: port 5 has the shorter queue, port 6 the lower utilisation.
        report(&mut leaf, 6, Some(7), None);
        report(&mut leaf, 5, None, Some(1));
        let mut flows = 1_000..;
        let mut of = |leaf: &mut Leaf, class| port_of(leaf, is_v6, class, flows.next().unwrap());
        for _ in 0..5 {
            assert_eq!(of(&mut leaf, SHORT), 5, "{}: line 11", way.describe());
            assert_eq!(of(&mut leaf, LARGE), 6, "line 19");
            assert_eq!(of(&mut leaf, 0), 5, "what is not marked is short");
        }
        // The colours in ingress are newer than the tables: line 13, and line 21.
        colour(&mut leaf, 5, 1);
        assert_eq!(of(&mut leaf, SHORT), 6, "line 13");
        colour(&mut leaf, 5, 0);
        colour(&mut leaf, 6, 2);
        assert_eq!(of(&mut leaf, LARGE), 5, "line 21");
    }
}

#[test]
fn ports_of_the_same_group_share_flows() {
    for way in WAYS {
        let mut leaf = leaf(way);
        let ports: Vec<u32> = (0..40).map(|flow| port_of(&mut leaf, true, SHORT, 2_000 + flow * 7)).collect();
        let first = ports.iter().filter(|port| **port == 5).count();
        assert!((8..=32).contains(&first), "{}: {ports:?}", way.describe());
    }
}

#[test]
fn a_flow_keeps_its_port_until_it_pauses() {
    for way in WAYS {
        let mut leaf = leaf(way);
        report(&mut leaf, 6, Some(7), None);
        assert_eq!(port_of(&mut leaf, true, SHORT, 3_000), 5);
        // The other one is better now, for new flowlets.
        report(&mut leaf, 5, Some(7), None);
        report(&mut leaf, 6, Some(0), None);
        for _ in 0..5 {
            leaf.wait(39_000);
            assert_eq!(port_of(&mut leaf, true, SHORT, 3_000), 5, "{}: line 26", way.describe());
        }
        leaf.wait(40_000);
        assert_eq!(port_of(&mut leaf, true, SHORT, 3_000), 6, "line 7");
        assert_eq!(register(&mut leaf, "port_utilisations", 5), 0);
    }
}

#[test]
fn failed_ports_get_no_new_flowlets() {
    for way in WAYS {
        let mut leaf = leaf(way);
        let orders = leaf.priorities.fail(5);
        leaf.carry_out(&orders);
        assert!((0..20).all(|flow| port_of(&mut leaf, false, LARGE, 4_000 + flow) == 6), "{}", way.describe());
        let orders = leaf.priorities.recover(5);
        leaf.carry_out(&orders);
        assert!((0..40).any(|flow| port_of(&mut leaf, false, LARGE, 5_000 + flow) == 5));
    }
}

#[test]
fn packets_for_hosts_go_down_with_their_addresses() {
    for (way, is_v6) in WAYS.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let mut leaf = leaf(way);
        // Marks of the network do not reach hosts.
        let segment = Segment { from: (2, 1), to: (1, 2), traffic_class: 0x0e, ..Segment::data(is_v6) };
        let sent = leaf.pass(6, &segment.frame(), 100);
        let [(port, frame)] = frames(&sent)[..] else { panic!("{sent:?}") };
        assert_eq!((*port, &frame[..12]), (2, &[2, 0, 0, 0, 0, 2, 2, 1, 0, 0, 0, 2][..]));
        assert_eq!(parse(frame).traffic_class, 0x0a, "{}: ECN and the class stay", way.describe());
        assert!(crate::frames::has_right_checksum(frame));
        // No host has this address, and nothing but IP is sent on.
        let mut other = segment.frame();
        other[12..14].copy_from_slice(&[0x88, 0xb6]);
        assert_eq!(leaf.pass(6, &other, 100), []);
    }
}
