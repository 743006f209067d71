//! Section 4.3: whose rate is changed, and the fake acknowledgments that do it.

use crate::frames::{ACK, SYN, Segment, has_right_checksum, parse};
use crate::switches::{Leaf, WAYS, frames};
use p4te::Settings;
use testkit::corpus::Way;

/// B is 1,000 bytes; classes may have nothing, so every packet is unsafe; links are green up to 75 packets a second.
fn leaf(way: Way) -> Leaf {
    let settings = Settings { control_window: 1_000, safe_shares: [0, 0], burst_us: 0, ..Settings::default() };
    Leaf::new(way, &settings, 100)
}

/// The receiver's SYN and first acknowledgment, with a shift of windows of 3.
fn open(leaf: &mut Leaf, data: &Segment) {
    let syn = Segment { flags: SYN, payload_bytes: 0, sequence: data.sequence - 1, ..data.clone() };
    leaf.pass(1, &syn.frame(), 1_000_000);
    let options = vec![2, 4, 5, 0xa0, 1, 3, 3, 3];
    let syn_ack = Segment { flags: SYN | ACK, sequence: 6_999, options, window: 65_000, ..data.answer() };
    leaf.pass(5, &syn_ack.frame(), 1_000_000);
    acknowledge(leaf, data, data.sequence, 4_000);
}

fn acknowledge(leaf: &mut Leaf, data: &Segment, acknowledgment: u32, window: u16) {
    let answer = Segment { sequence: 7_000, acknowledgment, window, ..data.answer() };
    leaf.pass(5, &answer.frame(), 1_000_000);
}

/// What comes out for the host when it sends data.
fn sends(leaf: &mut Leaf, data: &Segment, pause_us: u64) -> (Vec<Segment>, Segment) {
    let sent = leaf.pass(1, &data.frame(), pause_us);
    let all = frames(&sent);
    let to_host = all.iter().filter(|(port, _)| *port == 1).map(|(_, frame)| {
        assert!(has_right_checksum(frame), "the host takes it");
        parse(frame)
    });
    let up: Vec<Segment> = all.iter().filter(|(port, _)| *port > 2).map(|(_, frame)| parse(frame)).collect();
    assert_eq!(up.len(), 1, "the packet itself is forwarded");
    (to_host.collect(), up[0].clone())
}

#[test]
fn a_flow_with_room_gets_a_window_larger_by_a_quarter() {
    for (way, is_v6) in WAYS.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let mut leaf = leaf(way);
        let data = Segment::data(is_v6);
        open(&mut leaf, &data);
        let (fakes, up) = sends(&mut leaf, &data, 1_000_000);
        let [fake] = &fakes[..] else { panic!("{}: {fakes:?}", way.describe()) };
        // What the sender knows of its receiver already, but for the window, and a number that makes Linux take it.
        assert_eq!((fake.acknowledgment, fake.sequence, fake.window), (data.sequence, 7_001, 5_000));
        assert_eq!((fake.from, fake.to, fake.ports), (data.to, data.from, (80, 10_000)));
        assert_eq!((fake.flags, fake.payload_bytes, fake.traffic_class), (ACK, 0, 0x08));
        // No other switch is to do the same.
        assert_eq!(up.traffic_class, 0x0c);
        assert_eq!(up.payload_bytes, 100);
        assert_eq!(counts(&mut leaf), [0, 1, 0]);
    }
}

#[test]
fn one_fake_for_each_b_bytes() {
    for way in WAYS {
        let mut leaf = leaf(way);
        let mut data = Segment::data(true);
        open(&mut leaf, &data);
        let mut faked = Vec::new();
        for _ in 0..25 {
            let (fakes, up) = sends(&mut leaf, &data, 1_000_000);
            assert_eq!(up.traffic_class, 0x0c, "marked in any case");
            faked.extend(fakes.iter().map(|_| data.sequence));
            data.sequence += 100;
        }
        assert_eq!(faked, [1_000_000, 1_001_000, 1_002_000], "{}", way.describe());
    }
}

#[test]
fn a_flow_on_a_full_link_gets_half_the_window() {
    for way in WAYS {
        let mut leaf = leaf(way);
        let data = Segment::data(true);
        open(&mut leaf, &data);
        // Another flow, of which the leaf knows no receiver, fills both links: orders for it are dropped.
        let mut other = Segment { ports: (20_000, 80), ..data.clone() };
        for flow in 0..60 {
            other.ports.0 = 20_000 + flow;
            leaf.pass(1, &other.frame(), 0);
        }
        let before = counts(&mut leaf);
        assert_eq!((before[0], before[1]), (0, 0));
        assert!(before[2] > 0, "{before:?}");
        let (fakes, _) = sends(&mut leaf, &data, 0);
        assert_eq!(fakes.iter().map(|fake| fake.window).collect::<Vec<_>>(), [2_000], "{}", way.describe());
        // A window is never below two segments: 2,920 bytes with a shift of 3.
        acknowledge(&mut leaf, &data, data.sequence + 100, 400);
        for flow in 0..60 {
            other.ports.0 = 21_000 + flow;
            leaf.pass(1, &other.frame(), 0);
        }
        let (fakes, _) = sends(&mut leaf, &Segment { sequence: data.sequence + 2_000, ..data.clone() }, 0);
        let shown: Vec<_> = fakes.iter().map(|fake| (fake.window, fake.acknowledgment)).collect();
        assert_eq!(shown, [(365, data.sequence + 100)]);
    }
}

#[test]
fn orders_of_other_switches_become_acknowledgments() {
    for (way, is_v6) in WAYS.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let mut leaf = leaf(way);
        let data = Segment::data(is_v6);
        open(&mut leaf, &data);
        acknowledge(&mut leaf, &data, data.sequence + 500, 0xf000);
        // An acknowledgment that others have overtaken changes nothing.
        acknowledge(&mut leaf, &data, data.sequence + 200, 100);
        let order =
            |traffic_class, acknowledgment| Segment { traffic_class, acknowledgment, window: 0, ..data.answer() };
        let mut arrives = |order: &Segment| {
            let sent = leaf.pass(6, &order.frame(), 1_000_000);
            let shown = frames(&sent).into_iter().map(|(port, frame)| {
                assert!(has_right_checksum(frame));
                let fake = parse(frame);
                (*port, fake.traffic_class, fake.acknowledgment, fake.sequence, fake.window)
            });
            shown.collect::<Vec<_>>()
        };
        let seen = data.sequence + 500;
        assert_eq!(arrives(&order(0x88, data.sequence)), [(1, 0x08, seen, 7_001, 0x7800)], "{}", way.describe());
        assert_eq!(arrives(&order(0xc8, data.sequence)), [(1, 0x08, seen, 7_001, 0xffff)], "as large as it can be");
        // A flow of another host has no acknowledgment to give.
        let unknown = Segment { ports: (80, 9), ..order(0x88, 1) };
        assert_eq!(arrives(&unknown), []);
        assert_eq!(counts(&mut leaf), [1, 1, 1]);
    }
}

#[test]
fn hosts_cannot_give_orders() {
    for way in WAYS {
        let mut leaf = leaf(way);
        let data = Segment::data(true);
        open(&mut leaf, &data);
        let (_, up) = sends(&mut leaf, &Segment { traffic_class: 0xcc, ports: (7, 80), ..data.clone() }, 1_000_000);
        assert_eq!(up.traffic_class & 0xc0, 0, "{}", way.describe());
        // Not even another host of the same leaf.
        let order = Segment { from: (1, 2), ..Segment { traffic_class: 0x88, ..data.answer() } };
        leaf.pass(2, &order.frame(), 1_000_000);
        assert_eq!(counts(&mut leaf)[0], 0);
    }
}

#[test]
fn rates_are_left_alone_when_that_is_ordered() {
    for way in WAYS {
        let settings = Settings { safe_shares: [0, 0], burst_us: 0, ..Settings::default() };
        let mut leaf = Leaf::new(way, &settings, 100);
        let data = Segment::data(true);
        open(&mut leaf, &data);
        let (fakes, up) = sends(&mut leaf, &data, 1_000_000);
        assert_eq!((fakes.len(), up.traffic_class), (0, 0x08), "{}", way.describe());
    }
}

/// Fake acknowledgments: narrower, wider, of unknown flows.
fn counts(leaf: &mut Leaf) -> Vec<u64> {
    let program = leaf.switch.program().clone();
    let (id, _) = program.counters.iter_enumerated().find(|(_, it)| it.name.ends_with("fakes")).unwrap();
    leaf.switch.externs_mut().counters[id].iter().map(|cell| cell.packets).collect()
}
