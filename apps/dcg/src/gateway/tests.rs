//! What the program hands to the controller, and what the controller does then.

use super::*;
use controller::packet::ETHERTYPE_ARP;
use controller::packet::arp::{self, Arp};
use controller::packet::ip::build;
use core::net::Ipv4Addr;
use expect_test::{Expect, expect};

const CONFIG: &str = include_str!("../../dcg.toml");
const HERE: Mac = Mac([2, 0, 0, 0, 3, 1]);
const MACHINES: [(u16, [u8; 4]); 2] = [(3, [10, 0, 0, 11]), (4, [10, 0, 0, 12])];

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fields(port: u16, reason: u128) -> Fields {
    let names = ["ingress_port", "reason", "mtu", "number"].map(str::to_owned);
    Fields::new(names.into_iter().zip([port.into(), reason, 1500, 0]))
}

fn machine(port: u16) -> Mac {
    Mac([2, 0, 0, 0, port as u8, 9])
}

/// A controller that has found both machines, with two slots for each service.
fn gateway(more: &str) -> Gateway {
    let file = CONFIG.replace("servers = [1, 2]", "servers = [1, 2]\nslots = 4") + more;
    let mut gateway = Gateway::new(file.parse().unwrap()).unwrap();
    gateway.joined(seconds(0), &[], &mut Orders::new()).unwrap();
    find(&mut gateway, 0);
    gateway
}

fn find(gateway: &mut Gateway, now: u64) -> String {
    let mut orders = Orders::new();
    for (port, address) in MACHINES {
        let sender = Ipv4Addr::from(address);
        let target = Ipv4Addr::new(10, 0, 0, 1);
        let reply = Arp { operation: arp::REPLY, sender_mac: machine(port), sender, target_mac: HERE, target };
        let payload = &reply.to_bytes()[..];
        let frame = Frame { destination: HERE, source: machine(port), ethertype: ETHERTYPE_ARP, payload };
        gateway.packet_in(seconds(now), &fields(port, tables::ARP), &frame.to_bytes(), &mut orders);
    }
    orders.take_text()
}

/// The frames among orders, with their ports; other orders as text.
fn sent(text: &str) -> (Vec<(u16, Vec<u8>)>, String) {
    let (mut frames, mut rest) = (Vec::new(), String::new());
    for line in text.lines() {
        match line.strip_prefix("packet-out ").and_then(|it| it.split_once(" port=0x")) {
            Some((hex, port)) => {
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let bytes = (0..hex.len()).step_by(2).map(byte).collect();
                frames.push((u16::from_str_radix(port, 16).unwrap(), bytes));
            }
            None => rest += &format!("{line}\n"),
        }
    }
    (frames, rest)
}

/// The answer of a server to a probe: a frame as it arrives, or `None` if the frame is no probe.
fn answer(bytes: &[u8], flags: u8) -> Option<Vec<u8>> {
    let arrived = Arrived::parse(bytes)?;
    let there = arrived.tunnel?;
    let (from, to) = (arrived.packet.source, arrived.packet.destination);
    let packet = match Segment::parse(&arrived.packet) {
        Some(segment) if segment.flags == tcp::SYN => Segment {
            source: segment.destination,
            destination: segment.source,
            sequence: 77,
            acknowledged: segment.sequence.wrapping_add(1),
            flags,
        }
        .to_packet(to, from)?,
        Some(_) => return None,
        None => icmp::echo_reply(&arrived.packet, to)?,
    };
    let Frame { destination, source, ethertype, .. } = arrived.frame;
    let frame = Frame { destination: source, source: destination, ethertype, payload: &packet };
    // `tunnel` is seen from the server's side.
    there.carry(50_000, &frame.to_bytes())
}

/// Probes of this second, answered at these ports. Returns the other orders.
fn round(gateway: &mut Gateway, now: u64, ports: &[u16], flags: u8) -> String {
    let mut orders = Orders::new();
    gateway.timer(seconds(now), &mut orders);
    let (probes, mut rest) = sent(&orders.take_text());
    for (port, frame) in probes.iter().filter(|(port, _)| ports.contains(port)) {
        if let Some(answer) = answer(frame, flags) {
            gateway.packet_in(seconds(now), &fields(*port, tables::LOCAL), &answer, &mut orders);
            rest += &sent(&orders.take_text()).1;
        }
    }
    find(gateway, now);
    rest
}

fn check(said: &str, expected: Expect) {
    expected.assert_eq(said);
}

#[test]
fn a_file_becomes_entries() {
    let mut orders = Orders::new();
    let file = CONFIG.replace("servers = [1, 2]", "servers = [1, 2]\nslots = 4");
    let mut gateway = Gateway::new(file.parse().unwrap()).unwrap();
    gateway.joined(seconds(0), &[], &mut orders).unwrap();
    let text = orders.take_text();
    let cut = |line: &str| line.split(" metadata ").next().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = text.lines().map(cut).collect();
    lines.sort();
    check(
        &lines.join("\n"),
        expect![[r#"
            add balancing 1 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2
            add balancing 2 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2
            add balancing 3 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2
            add balancing 4 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2
            add interfaces 1 do outside 02:00:00:00:01:01
            add interfaces 3 do underlay 02:00:00:00:03:01
            add interfaces 4 do underlay 02:00:00:00:04:01
            add known_end_points 10.0.0.11 do known
            add known_end_points 10.0.0.12 do known
            add own_addresses4 0 192.0.2.1 do own
            add own_addresses4 100 172.16.0.1 do own
            add own_addresses4 16777215 10.0.0.1 do own
            add own_addresses6 0 2001:db8:2::1 do own
            add own_end_points 10.0.0.1 do own
            add routes4 100 0.0.0.0/0 do via 1
            add routes4 100 172.16.0.1/32 do local
            add routes6 100 ::/0 do via 2
            add routes6 100 fd00:100::1/128 do local
            add segments 10.0.0.11 100 do tenant 100 02:00:00:00:64:01
            add segments 10.0.0.12 100 do tenant 100 02:00:00:00:64:01
            add servers 1 do server 3 100 02:00:00:00:64:01 02:00:00:00:64:0b
            add servers 2 do server 4 100 02:00:00:00:64:01 02:00:00:00:64:0c
            add services4 198.51.100.1 1 0 do serve4 2
            add services4 198.51.100.1 6 80 do serve4 1
            add services6 2001:db8:1::1 58 0 do serve6 4
            add services6 2001:db8:1::1 6 80 do serve6 3
            add sources4 100 172.16.0.0/16 do permit
            add sources4 100 198.51.100.1/32 do permit
            add sources6 100 2001:db8:1::1/128 do permit
            add sources6 100 fd00:100::/64 do permit
            digests draining_flow_t on timeout 10ms size 100 ack 1s
            meters to_controller 29 set 660 66 660 66
            meters to_controller 37 set 660 66 660 66
            meters to_controller set 500 50 500 50"#]],
    );
    check(
        &find(&mut gateway, 0),
        expect![[r#"
            add end_points 3 do tunnel 3 02:00:00:00:03:01 02:00:00:00:03:09 10.0.0.1 10.0.0.11 1550 metadata 0100030a00000b
            note: 10.0.0.11 is 02:00:00:00:03:09 at port 3
            add end_points 4 do tunnel 4 02:00:00:00:04:01 02:00:00:00:04:09 10.0.0.1 10.0.0.12 1550 metadata 0100040a00000c
            note: 10.0.0.12 is 02:00:00:00:04:09 at port 4
        "#]],
    );
}

#[test]
fn a_server_that_does_not_answer_loses_its_slots_and_gets_them_back() {
    let mut it = gateway("");
    let flags = tcp::SYN | tcp::ACK;
    for now in 0..4 {
        assert_eq!(round(&mut it, now, &[3, 4], flags), "");
    }
    let out: String = (4..9).map(|now| round(&mut it, now, &[3], flags)).collect();
    check(
        &out,
        expect![[r#"
            note: server 2 is out of service 1
            note: server 2 is out of service 2
            note: server 2 is out of service 3
            note: server 2 is out of service 4
            add balancing 1 do one-of use_server 1 | use_server 1 | use_server 1 | use_server 1 metadata 05
            add balancing 2 do one-of use_server 1 | use_server 1 | use_server 1 | use_server 1 metadata 05
            add balancing 3 do one-of use_server 1 | use_server 1 | use_server 1 | use_server 1 metadata 05
            add balancing 4 do one-of use_server 1 | use_server 1 | use_server 1 | use_server 1 metadata 05
        "#]],
    );
    let back: String = (9..13).map(|now| round(&mut it, now, &[3, 4], flags)).collect();
    check(
        &back,
        expect![[r#"
            note: server 2 answers for service 1
            add balancing 1 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
            note: server 2 answers for service 2
            add balancing 2 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
            note: server 2 answers for service 3
            add balancing 3 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
            note: server 2 answers for service 4
            add balancing 4 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
        "#]],
    );
}

#[test]
fn a_server_that_refuses_connections_is_out_of_that_service_only() {
    let mut it = gateway("");
    let out: String = (0..6).map(|now| round(&mut it, now, &[3, 4], tcp::RST | tcp::ACK)).collect();
    check(
        &out,
        expect![[r#"
            note: server 1 is out of service 1
            add balancing 1 do one-of use_server 2 | use_server 2 | use_server 2 | use_server 2 metadata 05
            note: server 2 is out of service 1
            add balancing 1 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
            note: server 1 is out of service 3
            add balancing 3 do one-of use_server 2 | use_server 2 | use_server 2 | use_server 2 metadata 05
            note: server 2 is out of service 3
            add balancing 3 do one-of use_server 1 | use_server 2 | use_server 1 | use_server 2 metadata 05
        "#]],
    );
}

#[test]
fn a_connection_that_answers_a_probe_is_reset() {
    let mut it = gateway("");
    let mut orders = Orders::new();
    it.timer(seconds(0), &mut orders);
    let (probes, _) = sent(&orders.take_text());
    let answers = || probes.iter().filter_map(|(port, frame)| Some((port, answer(frame, tcp::SYN | tcp::ACK)?)));
    let (port, first) = answers().next().unwrap();
    it.packet_in(seconds(0), &fields(*port, tables::LOCAL), &first, &mut orders);
    let (resets, _) = sent(&orders.take_text());
    let arrived = Arrived::parse(&resets[0].1).unwrap();
    assert_eq!(Segment::parse(&arrived.packet).unwrap().flags, tcp::RST);
    // The same through the tunnel of another machine is no answer.
    let mut forged = first.clone();
    forged[14 + 15] = 12;
    it.packet_in(seconds(0), &fields(*port, tables::LOCAL), &forged, &mut orders);
    assert_eq!(orders.take_text(), "");
}

#[test]
fn a_controller_that_begins_again_waits_for_answers() {
    let mut it = gateway("");
    let group = Entry {
        table: "DcgIngress.inbound.balancing".to_owned(),
        name: "1".to_owned().into(),
        keys: Fields::new([("service".to_owned(), 1)]),
        metadata: vec![tables::OF_GROUP],
        ..Entry::default()
    };
    let stale = Entry { name: "9".to_owned().into(), keys: Fields::new([("service".to_owned(), 9)]), ..group.clone() };
    it = Gateway::new(it.config.clone()).unwrap();
    let mut orders = Orders::new();
    it.joined(seconds(0), &[group, stale], &mut orders).unwrap();
    let text = orders.take_text();
    assert!(text.contains("delete DcgIngress.inbound.balancing 9") && !text.contains("add balancing"), "{text}");
    find(&mut it, 0);
    let later: String = (0..6).map(|now| round(&mut it, now, &[3], tcp::SYN | tcp::ACK)).collect();
    let groups: Vec<&str> = later.lines().filter(|line| line.contains("balancing 1 ")).collect();
    assert_eq!(groups.len(), 1, "{later}");
    assert!(groups[0].contains("one-of use_server 1 | use_server 1 | use_server 1 | use_server 1"), "{later}");
}

#[test]
fn a_server_that_leaves_keeps_its_flows() {
    let mut it = gateway("");
    it.config.servers[1].drain = true;
    let mut orders = Orders::new();
    it.joined(seconds(0), &[], &mut orders).unwrap();
    let text = orders.take_text();
    assert!(text.contains("add balancing 1 do one-of use_server 1 | drain 2 | use_server 1 | drain 2"), "{text}");
    find(&mut it, 0);
    let later: String = (1..70).map(|now| round(&mut it, now, &[3, 4], tcp::SYN | tcp::ACK)).collect();
    assert!(later.starts_with("add balancing 1 do one-of use_server 1 | use_server 1 |"), "{later}");
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The frame of a packet without ports, outside or in the tunnel of a tenant's server.
fn framed(is_outside: bool, packet: &[u8]) -> Vec<u8> {
    let ethertype = if packet[0] >> 4 == 4 { ETHERTYPE_IPV4 } else { ETHERTYPE_IPV6 };
    let frame = Frame { destination: HERE, source: machine(1), ethertype, payload: packet }.to_bytes();
    if is_outside { frame } else { in_tunnel(&frame) }
}

/// A frame in the tunnel of the first machine.
fn in_tunnel(frame: &[u8]) -> Vec<u8> {
    let (local, remote) = (Ipv4Addr::new(10, 0, 0, 11), Ipv4Addr::new(10, 0, 0, 1));
    Tunnel { mac: machine(3), next_mac: HERE, local, remote, vni: 100 }.carry(50_000, frame).unwrap()
}

/// What is sent when a frame arrives.
fn hand(it: &mut Gateway, port: u16, reason: u128, frame: &[u8]) -> (Vec<(u16, Vec<u8>)>, String) {
    let mut orders = Orders::new();
    it.packet_in(seconds(0), &fields(port, reason), frame, &mut orders);
    sent(&orders.take_text())
}

#[test]
fn senders_get_errors() {
    let mut it = gateway("");
    let cases = [
        (true, "192.0.2.2", "198.51.100.1", "192.0.2.1", [[11, 0], [3, 4], [3, 0]]),
        (false, "198.51.100.1", "192.0.2.2", "172.16.0.1", [[11, 0], [3, 4], [3, 0]]),
        (true, "2001:db8:2::2", "2001:db8:1::1", "2001:db8:2::1", [[3, 0], [2, 0], [1, 0]]),
        (false, "2001:db8:1::1", "2001:db8:2::2", "fd00:100::1", [[3, 0], [2, 0], [1, 0]]),
    ];
    for (is_outside, from, to, here, kinds) in cases {
        let frame = framed(is_outside, &build(ip(from), ip(to), 17, 1, &[0; 8]).unwrap());
        for (reason, kind) in [tables::TTL_EXPIRED, tables::TOO_BIG, tables::NO_ROUTE].into_iter().zip(kinds) {
            let (frames, _) = hand(&mut it, if is_outside { 1 } else { 3 }, reason, &frame);
            let arrived = Arrived::parse(&frames[0].1).unwrap();
            assert_eq!((arrived.packet.source, arrived.packet.destination), (ip(here), ip(from)));
            assert_eq!((&arrived.packet.payload[..2], arrived.packet.icmp_sum()), (&kind[..], 0));
            assert_eq!(arrived.tunnel.is_none(), is_outside);
        }
    }
    // Without an address there, nothing is said.
    it.config.tenants[0].address6 = None;
    let packet = build(ip("2001:db8:1::1"), ip("2001:db8:2::2"), 17, 1, &[0; 8]).unwrap();
    assert_eq!(hand(&mut it, 3, tables::NO_ROUTE, &framed(false, &packet)), (vec![], String::new()));
}

#[test]
fn the_gateway_answers_pings() {
    let mut it = gateway("");
    let cases = [
        (true, "192.0.2.2", "192.0.2.1"),
        (false, "172.16.0.11", "172.16.0.1"),
        (true, "2001:db8:2::2", "2001:db8:2::1"),
        (false, "fd00:100::11", "fd00:100::1"),
    ];
    for (is_outside, from, to) in cases {
        let request = icmp::echo_request(7, 9, ip(from), ip(to)).unwrap();
        let (frames, _) = hand(&mut it, 1, tables::LOCAL, &framed(is_outside, &request));
        let arrived = Arrived::parse(&frames[0].1).unwrap();
        assert_eq!(icmp::parse_echo_reply(&arrived.packet), Some([7, 9]));
        assert_eq!((arrived.packet.source, arrived.packet.destination), (ip(to), ip(from)));
    }
}

#[test]
fn questions_for_its_addresses_are_answered() {
    let mut it = gateway("");
    let v6 = |text: &str| text.parse::<Ipv6Addr>().unwrap();
    let ask = |from: &str, target: &str| nd::solicitation(machine(1), v6(from), v6(target), None).unwrap();
    let outside = Mac([2, 0, 0, 0, 1, 1]);
    let tenant = Mac([2, 0, 0, 0, 100, 1]);
    let cases = [
        (true, "2001:db8:2::2", "2001:db8:2::1", Some(outside)),
        (true, "fe80::2", "fe80::ff:fe00:101", Some(outside)),
        (true, "::", "2001:db8:2::1", Some(outside)),
        (false, "2001:db8:1::1", "fd00:100::1", Some(tenant)),
        (false, "fe80::2", "fe80::ff:fe00:6401", Some(tenant)),
        (true, "2001:db8:2::2", "fd00:100::1", None),
        (false, "2001:db8:1::1", "2001:db8:2::1", None),
        (false, "fd00:100::11", "fd00:100::12", None),
    ];
    for (is_outside, from, target, mac) in cases {
        let question = ask(from, target);
        let (port, frame) = if is_outside { (1, question) } else { (3, in_tunnel(&question)) };
        let (frames, rest) = hand(&mut it, port, tables::ND, &frame);
        let answer = frames.first().map(|(port, frame)| (*port, Arrived::parse(frame).unwrap()));
        let Some(mac) = mac else {
            assert!(answer.is_none() && rest.is_empty(), "{target}");
            continue;
        };
        let (out, arrived) = answer.unwrap();
        let advertised = nd::Message::Advertisement { target: v6(target), mac: Some(mac) };
        assert_eq!((out, nd::parse(&arrived.packet), arrived.frame.source), (port, Some(advertised), mac));
        let all = Mac([0x33, 0x33, 0, 0, 0, 1]);
        assert_eq!(arrived.frame.destination, if from == "::" { all } else { machine(1) });
        assert_eq!(arrived.tunnel.map(|it| it.vni), (!is_outside).then_some(100));
    }
    // There is no IPv6 in the underlay.
    assert_eq!(hand(&mut it, 3, tables::ND, &ask("fe80::2", "fe80::ff:fe00:301")), (vec![], String::new()));
}

#[test]
fn a_next_hop_of_ipv6_is_found_outside() {
    let mut it = gateway("");
    let mut orders = Orders::new();
    it.timer(seconds(0), &mut orders);
    let (frames, _) = sent(&orders.take_text());
    let is_question = |frame: &[u8]| {
        let arrived = Arrived::parse(frame)?;
        nd::parse(&arrived.packet).filter(|_| arrived.tunnel.is_none())
    };
    let questions: Vec<u16> = frames.iter().filter(|it| is_question(&it.1).is_some()).map(|it| it.0).collect();
    assert_eq!(questions, [1]);
    let [there, here] = ["2001:db8:2::2", "2001:db8:2::1"].map(|it| it.parse().unwrap());
    let advertised = nd::advertisement(machine(1), there, IpAddr::V6(here), HERE).unwrap();
    // In a tenant's segment, no address is resolved for the outside.
    assert_eq!(hand(&mut it, 3, tables::ND, &in_tunnel(&advertised)), (vec![], String::new()));
    check(
        &hand(&mut it, 1, tables::ND, &advertised).1,
        expect![[r#"
            add next_hops 2 do forward 1 02:00:00:00:01:01 02:00:00:00:01:09 1500 metadata 01000120010db8000200000000000000000002
            note: 2001:db8:2::2 is 02:00:00:00:01:09 at port 1
        "#]],
    );
}

#[test]
fn what_is_cut_off_is_not_answered() {
    let mut it = gateway("");
    let packet = build(ip("192.0.2.2"), ip("198.51.100.1"), 17, 1, &[0; 8]).unwrap();
    let frame = framed(true, &packet);
    for length in 0..frame.len() {
        for reason in 0..=7 {
            let mut orders = Orders::new();
            it.packet_in(seconds(1), &fields(1, reason), &frame[..length], &mut orders);
            assert_eq!(orders.take_text(), "");
        }
    }
}
