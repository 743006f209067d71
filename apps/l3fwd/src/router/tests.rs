//! What the program hands to the controller, and what the controller does then, as text.

use super::*;
use controller::packet::arp::{self, Arp};
use controller::packet::ip::{self, build};
use controller::packet::{ETHERTYPE_ARP, nd};
use core::net::Ipv6Addr;
use expect_test::{Expect, expect};

const CONFIG: &str = r#"
[[interface]]
port = 1
mac = "02:00:00:00:01:01"
addresses = ["10.0.1.1/24", "2001:db8:1::1/64"]

[[interface]]
port = 2
mac = "02:00:00:00:02:01"
addresses = ["10.0.2.1/24", "2001:db8:2::1/64"]

[[route]]
to = "172.16.0.0/12"
via = ["10.0.1.9", "10.0.2.9"]

[[route]]
to = "2001:db8:100::/40"
via = ["fe80::9%2"]

[[route]]
to = "192.168.0.0/16"
discard = true
"#;

const HOST: Mac = Mac([2, 0, 0, 0, 1, 2]);
const GATEWAY: Mac = Mac([2, 0, 0, 0, 1, 9]);
const HERE: Mac = Mac([2, 0, 0, 0, 1, 1]);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn v4(text: &str) -> core::net::Ipv4Addr {
    text.parse().unwrap()
}

fn v6(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

/// A router that has begun, and whose first commands were carried out.
fn router(config: &str) -> Router {
    let mut router = Router::new(config.parse().unwrap(), false).unwrap();
    router.joined(seconds(0), &[], &mut Orders::new()).unwrap();
    router
}

/// The orders, with packets in words.
fn words(orders: &mut Orders) -> String {
    let line = |line: &str| match line.strip_prefix("packet-out ") {
        Some(rest) => {
            let (hex, fields) = rest.split_once(' ').unwrap();
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let frame: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            format!("{fields}: {}\n", frame_words(&frame))
        }
        None => format!("{line}\n"),
    };
    orders.take_text().lines().map(line).collect()
}

fn frame_words(bytes: &[u8]) -> String {
    let frame = Frame::parse(bytes).unwrap();
    let addresses = format!("{} > {}", frame.source, frame.destination);
    if let Some(arp) = Arp::parse(frame.payload) {
        let Arp { operation, sender_mac, sender, target_mac, target } = arp;
        return format!("{addresses} arp {operation}: {sender} {sender_mac} to {target} {target_mac}");
    }
    let packet = Packet::parse(frame.payload).unwrap();
    let what = match (packet.protocol, nd::parse(&packet)) {
        (_, Some(message)) => format!("{message:?}"),
        (ip::ICMP | ip::ICMPV6, None) => {
            assert_eq!(packet.icmp_sum(), 0);
            format!("icmp {:?}, {} bytes", &packet.payload[..2], packet.payload.len())
        }
        (protocol, None) => format!("protocol {protocol}, {} bytes", packet.payload.len()),
    };
    format!("{addresses} {} > {} ttl {}: {what}", packet.source, packet.destination, packet.hop_limit)
}

/// A packet of the host at port 1.
fn from_host(source: &str, destination: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let packet = build(ip(source), ip(destination), protocol, 9, payload).unwrap();
    framed(ip(source), &packet)
}

fn framed(version: IpAddr, packet: &[u8]) -> Vec<u8> {
    let ethertype = if version.is_ipv4() { ETHERTYPE_IPV4 } else { ETHERTYPE_IPV6 };
    Frame { destination: HERE, source: HOST, ethertype, payload: packet }.to_bytes()
}

const UDP: [u8; 12] = [3, 232, 7, 208, 0, 12, 0, 0, 1, 2, 3, 4];

fn hand(router: &mut Router, now: u64, fields: [u128; 3], frame: &[u8]) -> String {
    let names = ["ingress_port", "reason", "hop"].map(str::to_owned);
    let mut orders = Orders::new();
    router.packet_in(seconds(now), &Fields::new(names.into_iter().zip(fields)), frame, &mut orders);
    words(&mut orders)
}

fn check(router: &mut Router, now: u64, reason: u128, frame: &[u8], expected: Expect) {
    expected.assert_eq(&hand(router, now, [1, reason, 0], frame));
}

fn arp_frame(operation: u16, mac: Mac, sender: &str, target: &str) -> Vec<u8> {
    let arp = Arp { operation, sender_mac: mac, sender: v4(sender), target_mac: Mac([0; 6]), target: v4(target) };
    Frame { destination: HERE, source: mac, ethertype: ETHERTYPE_ARP, payload: &arp.to_bytes() }.to_bytes()
}

/// The orders of all timers up to a time.
fn wait(router: &mut Router, until: u64) -> String {
    let mut text = String::new();
    while let Some(next) = router.next_timer().filter(|next| *next <= seconds(until)) {
        let mut orders = Orders::new();
        router.timer(next, &mut orders);
        text.extend(words(&mut orders).lines().map(|line| format!("{} s {line}\n", next.as_secs())));
    }
    text
}

#[test]
fn a_router_begins() {
    let mut router = Router::new(CONFIG.parse().unwrap(), false).unwrap();
    let mut orders = Orders::new();
    router.joined(seconds(0), &[], &mut orders).unwrap();
    expect![[r#"
        add interfaces 1 do interface 02:00:00:00:01:01 metadata 01
        meters to_controller 9 set 500 50 500 50
        meters to_controller 10 set 500 50 500 50
        meters to_controller 11 set 500 50 500 50
        meters to_controller 12 set 500 50 500 50
        meters to_controller 13 set 500 50 500 50
        meters to_controller 14 set 500 50 500 50
        add interfaces 2 do interface 02:00:00:00:02:01 metadata 01
        meters to_controller 17 set 500 50 500 50
        meters to_controller 18 set 500 50 500 50
        meters to_controller 19 set 500 50 500 50
        meters to_controller 20 set 500 50 500 50
        meters to_controller 21 set 500 50 500 50
        meters to_controller 22 set 500 50 500 50
        add groups 1 do one-of use_hop 1 | use_hop 2 metadata 01
        add groups 2 do one-of use_hop 3 metadata 01
        add route4 10.0.1.0/24 do attached metadata 0118
        add route4 10.0.1.0/32 do discard metadata 0120
        add route4 10.0.1.1/32 do local metadata 0120
        add route4 10.0.1.255/32 do discard metadata 0120
        add route4 10.0.2.0/24 do attached metadata 0118
        add route4 10.0.2.0/32 do discard metadata 0120
        add route4 10.0.2.1/32 do local metadata 0120
        add route4 10.0.2.255/32 do discard metadata 0120
        add route4 172.16.0.0/12 do via 1 metadata 010c
        add route4 192.168.0.0/16 do discard metadata 0110
        add route6 2001:db8:1::/64 do attached metadata 0140
        add route6 2001:db8:1::1/128 do local metadata 0180
        add route6 2001:db8:2::/64 do attached metadata 0140
        add route6 2001:db8:2::1/128 do local metadata 0180
        add route6 2001:db8:100::/40 do via 2 metadata 0128
        add route6 fe80::ff:fe00:101/128 do local metadata 0180
        add route6 fe80::ff:fe00:201/128 do local metadata 0180
        add route6 ff02::1/128 do local metadata 0180
        add route6 ff02::2/128 do local metadata 0180
        add route6 ff02::1:ff00:1/128 do local metadata 0180
        add route6 ff02::1:ff00:101/128 do local metadata 0180
        add route6 ff02::1:ff00:201/128 do local metadata 0180
    "#]]
    .assert_eq(&words(&mut orders));
    expect![[r#"
        0 s port=0x1: 02:00:00:00:01:01 > ff:ff:ff:ff:ff:ff arp 1: 10.0.1.1 02:00:00:00:01:01 to 10.0.1.9 00:00:00:00:00:00
        0 s port=0x2: 02:00:00:00:02:01 > ff:ff:ff:ff:ff:ff arp 1: 10.0.2.1 02:00:00:00:02:01 to 10.0.2.9 00:00:00:00:00:00
        0 s port=0x2: 02:00:00:00:02:01 > 33:33:ff:00:00:09 fe80::ff:fe00:201 > ff02::1:ff00:9 ttl 255: Solicitation { target: fe80::9, mac: Some(Mac([2, 0, 0, 0, 2, 1])) }
    "#]].assert_eq(&wait(&mut router, 0));
}

#[test]
fn questions_for_its_addresses_are_answered() {
    let mut it = router(CONFIG);
    check(
        &mut it,
        1,
        tables::ARP,
        &arp_frame(arp::REQUEST, HOST, "10.0.1.2", "10.0.1.1"),
        expect![[r#"
            port=0x1 mode=0x0: 02:00:00:00:01:01 > 02:00:00:00:01:02 arp 2: 10.0.1.1 02:00:00:00:01:01 to 10.0.1.2 02:00:00:00:01:02
            add neighbours4 10.0.1.2 do forward 1 02:00:00:00:01:01 02:00:00:00:01:02 timeout 300000ms metadata 01
        "#]],
    );
    // Of the other interface; from a stranger to the link; one that was not solicited.
    check(&mut it, 1, tables::ARP, &arp_frame(arp::REQUEST, HOST, "10.0.1.2", "10.0.2.1"), expect![[""]]);
    check(
        &mut it,
        1,
        tables::ARP,
        &arp_frame(arp::REQUEST, HOST, "10.0.9.2", "10.0.1.1"),
        expect![[r#"
        port=0x1 mode=0x0: 02:00:00:00:01:01 > 02:00:00:00:01:02 arp 2: 10.0.1.1 02:00:00:00:01:01 to 10.0.9.2 02:00:00:00:01:02
    "#]],
    );
    check(&mut it, 1, tables::ARP, &arp_frame(arp::REPLY, HOST, "10.0.1.3", "10.0.1.1"), expect![[""]]);
    let question = nd::solicitation(HOST, v6("2001:db8:1::2"), v6("2001:db8:1::1"), None).unwrap();
    check(
        &mut it,
        1,
        tables::ND,
        &question,
        expect![[r#"
            port=0x1 mode=0x0: 02:00:00:00:01:01 > 02:00:00:00:01:02 2001:db8:1::1 > 2001:db8:1::2 ttl 255: Advertisement { target: 2001:db8:1::1, mac: Some(Mac([2, 0, 0, 0, 1, 1])) }
            add neighbours6 2001:db8:1::2 do forward 1 02:00:00:00:01:01 02:00:00:00:01:02 timeout 300000ms metadata 01
        "#]],
    );
    // Who looks whether an address is in use has none yet.
    let question = nd::solicitation(HOST, v6("::"), v6("fe80::ff:fe00:101"), None).unwrap();
    check(
        &mut it,
        1,
        tables::ND,
        &question,
        expect![[r#"
            port=0x1 mode=0x0: 02:00:00:00:01:01 > 33:33:00:00:00:01 fe80::ff:fe00:101 > ff02::1 ttl 255: Advertisement { target: fe80::ff:fe00:101, mac: Some(Mac([2, 0, 0, 0, 1, 1])) }
        "#]],
    );
    let mut wrong = nd::solicitation(HOST, v6("2001:db8:1::3"), v6("2001:db8:1::1"), None).unwrap();
    *wrong.last_mut().unwrap() ^= 1;
    check(&mut it, 1, tables::ND, &wrong, expect![""]);
}

#[test]
fn packets_wait_while_a_neighbour_is_looked_for() {
    let mut it = router(CONFIG);
    let packet = from_host("10.0.1.2", "10.0.2.2", ip::UDP, &UDP);
    check(
        &mut it,
        100,
        tables::UNRESOLVED,
        &packet,
        expect![[r#"
            port=0x2: 02:00:00:00:02:01 > ff:ff:ff:ff:ff:ff arp 1: 10.0.2.1 02:00:00:00:02:01 to 10.0.2.2 00:00:00:00:00:00
        "#]],
    );
    check(&mut it, 100, tables::UNRESOLVED, &packet, expect![""]);
    let reply = arp_frame(arp::REPLY, Mac([2, 0, 0, 0, 2, 2]), "10.0.2.2", "10.0.2.1");
    expect![[r#"
        add neighbours4 10.0.2.2 do forward 2 02:00:00:00:02:01 02:00:00:00:02:02 timeout 300000ms metadata 01
        mode=0x1: 02:00:00:00:01:02 > 02:00:00:00:01:01 10.0.1.2 > 10.0.2.2 ttl 9: protocol 17, 12 bytes
        mode=0x1: 02:00:00:00:01:02 > 02:00:00:00:01:01 10.0.1.2 > 10.0.2.2 ttl 9: protocol 17, 12 bytes
    "#]]
    .assert_eq(&hand(&mut it, 100, [2, tables::ARP, 0], &reply));
    let packet = from_host("2001:db8:1::2", "2001:db8:2::2", ip::UDP, &UDP);
    check(
        &mut it,
        100,
        tables::UNRESOLVED,
        &packet,
        expect![[r#"
            port=0x2: 02:00:00:00:02:01 > 33:33:ff:00:00:02 2001:db8:2::1 > ff02::1:ff00:2 ttl 255: Solicitation { target: 2001:db8:2::2, mac: Some(Mac([2, 0, 0, 0, 2, 1])) }
        "#]],
    );
}

#[test]
fn a_neighbour_that_does_not_answer_is_unreachable() {
    let mut it = router(&CONFIG[..CONFIG.find("[[route]]").unwrap()]);
    let packet = from_host("10.0.1.2", "10.0.2.7", ip::UDP, &UDP);
    hand(&mut it, 1, [1, tables::UNRESOLVED, 0], &packet);
    expect![[r#"
        2 s port=0x2: 02:00:00:00:02:01 > ff:ff:ff:ff:ff:ff arp 1: 10.0.2.1 02:00:00:00:02:01 to 10.0.2.7 00:00:00:00:00:00
        3 s port=0x2: 02:00:00:00:02:01 > ff:ff:ff:ff:ff:ff arp 1: 10.0.2.1 02:00:00:00:02:01 to 10.0.2.7 00:00:00:00:00:00
        4 s mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 10.0.1.1 > 10.0.1.2 ttl 64: icmp [3, 1], 40 bytes
    "#]].assert_eq(&wait(&mut it, 9));
}

#[test]
fn errors_tell_the_sender() {
    let mut it = router(CONFIG);
    let packet = from_host("10.0.1.2", "10.0.2.2", ip::UDP, &UDP);
    check(
        &mut it,
        1,
        tables::TTL_EXPIRED,
        &packet,
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 10.0.1.1 > 10.0.1.2 ttl 64: icmp [11, 0], 40 bytes
    "#]],
    );
    check(
        &mut it,
        1,
        tables::NO_ROUTE,
        &packet,
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 10.0.1.1 > 10.0.1.2 ttl 64: icmp [3, 0], 40 bytes
    "#]],
    );
    let packet = from_host("2001:db8:1::2", "2001:db8:2::2", ip::UDP, &UDP);
    check(
        &mut it,
        1,
        tables::TTL_EXPIRED,
        &packet,
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 2001:db8:1::1 > 2001:db8:1::2 ttl 64: icmp [3, 0], 60 bytes
    "#]],
    );
    check(
        &mut it,
        1,
        tables::NO_ROUTE,
        &packet,
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 2001:db8:1::1 > 2001:db8:1::2 ttl 64: icmp [1, 0], 60 bytes
    "#]],
    );
    // No server listens.
    check(
        &mut it,
        1,
        tables::LOCAL,
        &from_host("10.0.1.2", "10.0.2.1", ip::UDP, &UDP),
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 10.0.1.1 > 10.0.1.2 ttl 64: icmp [3, 3], 40 bytes
    "#]],
    );
}

#[test]
fn there_are_no_errors_about_errors_groups_and_fragments() {
    let mut it = router(CONFIG);
    let error = [11, 0, 0, 0, 0, 0, 0, 0];
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host("10.0.1.2", "10.0.2.2", ip::ICMP, &error), expect![""]);
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host("10.0.1.255", "10.0.2.2", ip::UDP, &UDP), expect![""]);
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host("10.0.2.1", "10.0.2.2", ip::UDP, &UDP), expect![""]);
    let mut fragment = from_host("10.0.1.2", "10.0.2.2", ip::UDP, &UDP);
    fragment[14 + 7] = 1;
    check(&mut it, 1, tables::TTL_EXPIRED, &fragment, expect![""]);
    let (source, destination) = ("2001:db8:1::2", "2001:db8:2::2");
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host(source, destination, ip::ICMPV6, &error), expect![""]);
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host(source, "ff05::2", ip::UDP, &UDP), expect![""]);
    // Behind an extension header: a later fragment, an error.
    let fragment = [&[ip::UDP, 0, 0, 8, 0, 0, 0, 1][..], &UDP].concat();
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host(source, destination, 44, &fragment), expect![""]);
    let options = [&[ip::ICMPV6, 0, 1, 4, 0, 0, 0, 0][..], &error].concat();
    check(&mut it, 1, tables::TTL_EXPIRED, &from_host(source, destination, 60, &options), expect![""]);
    // No more than a second's worth at once.
    let packet = from_host("10.0.1.2", "10.0.2.2", ip::UDP, &UDP);
    let sent = (0..500).filter(|_| !hand(&mut it, 10, [1, tables::NO_ROUTE, 0], &packet).is_empty()).count();
    assert_eq!(sent, 100);
}

#[test]
fn the_router_answers_pings() {
    let mut it = router(CONFIG);
    let echo = |source: IpAddr, destination: IpAddr| {
        let protocol = if source.is_ipv4() { ip::ICMP } else { ip::ICMPV6 };
        let kind = if source.is_ipv4() { 8 } else { 128 };
        let mut payload = vec![kind, 0, 0, 0, 0, 1, 0, 2, 9];
        if source.is_ipv4() {
            let sum = !(0x0800_u16 + 1 + 2 + 0x0900);
            payload[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        framed(source, &build(source, destination, protocol, 64, &payload).unwrap())
    };
    check(
        &mut it,
        1,
        tables::LOCAL,
        &echo(ip("10.0.1.2"), ip("10.0.2.1")),
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 10.0.2.1 > 10.0.1.2 ttl 64: icmp [0, 0], 9 bytes
    "#]],
    );
    check(
        &mut it,
        1,
        tables::LOCAL,
        &echo(ip("2001:db8:1::2"), ip("2001:db8:2::1")),
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 2001:db8:2::1 > 2001:db8:1::2 ttl 64: icmp [129, 0], 9 bytes
    "#]],
    );
    // On the link alone, and to all of it.
    check(
        &mut it,
        1,
        tables::LOCAL,
        &echo(ip("fe80::2"), ip("fe80::ff:fe00:101")),
        expect![[r#"
        port=0x1 mode=0x0: 02:00:00:00:01:01 > 02:00:00:00:01:02 fe80::ff:fe00:101 > fe80::2 ttl 64: icmp [129, 0], 9 bytes
    "#]],
    );
    check(
        &mut it,
        1,
        tables::LOCAL,
        &echo(ip("2001:db8:1::2"), ip("ff02::1")),
        expect![[r#"
        mode=0x2: 02:00:00:00:01:01 > 02:00:00:00:01:02 2001:db8:1::1 > 2001:db8:1::2 ttl 64: icmp [129, 0], 9 bytes
    "#]],
    );
    // Damaged, and from itself.
    let mut damaged = echo(ip("10.0.1.2"), ip("10.0.2.1"));
    *damaged.last_mut().unwrap() ^= 1;
    check(&mut it, 1, tables::LOCAL, &damaged, expect![""]);
    check(&mut it, 1, tables::LOCAL, &echo(ip("10.0.1.1"), ip("10.0.2.1")), expect![""]);
}

#[test]
fn a_gateway_leaves_its_group_and_comes_back() {
    let mut it = router(CONFIG);
    let first = arp_frame(arp::REPLY, GATEWAY, "10.0.1.9", "10.0.1.1");
    let second = arp_frame(arp::REPLY, Mac([2, 0, 0, 0, 2, 9]), "10.0.2.9", "10.0.2.1");
    check(
        &mut it,
        0,
        tables::ARP,
        &first,
        expect![[r#"
            add next_hops 1 do forward 1 02:00:00:00:01:01 02:00:00:00:01:09 metadata 0100010a000109
            add neighbours4 10.0.1.9 do forward 1 02:00:00:00:01:01 02:00:00:00:01:09 metadata 01
            note: the gateway 10.0.1.9 is 02:00:00:00:01:09 at port 1
            add groups 1 do one-of use_hop 1 metadata 01
        "#]],
    );
    expect![[r#"
        add next_hops 2 do forward 2 02:00:00:00:02:01 02:00:00:00:02:09 metadata 0100020a000209
        add neighbours4 10.0.2.9 do forward 2 02:00:00:00:02:01 02:00:00:00:02:09 metadata 01
        note: the gateway 10.0.2.9 is 02:00:00:00:02:09 at port 2
        add groups 1 do one-of use_hop 1 | use_hop 2 metadata 01
    "#]]
    .assert_eq(&hand(&mut it, 0, [2, tables::ARP, 0], &second));
    // The first still answers.
    for now in [2, 4] {
        wait(&mut it, now - 1);
        assert_eq!(hand(&mut it, now, [1, tables::ARP, 0], &first), "");
    }
    let commands: String = wait(&mut it, 5)
        .lines()
        .filter(|line| !line.contains("arp") && !line.contains("Solicit"))
        .map(|line| format!("{line}\n"))
        .collect();
    expect![[r#"
        5 s add groups 1 do one-of use_hop 1 metadata 01
        5 s delete next_hops 2
        5 s delete neighbours4 10.0.2.9
        5 s note: the gateway 10.0.2.9 does not answer
    "#]]
    .assert_eq(&commands);
    expect![[r#"
        add next_hops 2 do forward 2 02:00:00:00:02:01 02:00:00:00:02:09 metadata 0100020a000209
        add neighbours4 10.0.2.9 do forward 2 02:00:00:00:02:01 02:00:00:00:02:09 metadata 01
        note: the gateway 10.0.2.9 is 02:00:00:00:02:09 at port 2
        add groups 1 do one-of use_hop 1 | use_hop 2 metadata 01
    "#]]
    .assert_eq(&hand(&mut it, 6, [2, tables::ARP, 0], &second));
}

fn entry(table: &str, key: (&str, u128), arguments: [u128; 3], metadata: &[u8], has_timeout: bool) -> Entry {
    let names = ["port", "source", "destination"].map(str::to_owned);
    Entry {
        table: format!("RouterIngress.routing.{table}"),
        keys: Fields::new([(key.0.to_owned(), key.1)]),
        arguments: Fields::new(names.into_iter().zip(arguments)),
        metadata: metadata.to_vec(),
        has_timeout,
        ..Entry::default()
    }
}

#[test]
fn a_controller_goes_on_with_what_a_switch_has() {
    let mut it = Router::new(CONFIG.parse().unwrap(), false).unwrap();
    let (here, gateway, host) = (0x0200_0000_0101, 0x0200_0000_0109, 0x0200_0000_0102);
    let destination = |text: &str| ("destination", controller::address::value(ip(text)));
    let entries = [
        entry("next_hops", ("hop", 1), [1, here, gateway], &[1, 0, 1, 10, 0, 1, 9], false),
        entry("neighbours4", destination("10.0.1.9"), [1, here, gateway], &[1], false),
        entry("neighbours4", destination("10.0.1.2"), [1, here, host], &[1], true),
        entry("neighbours6", destination("2001:db8:1::2"), [1, here, host], &[1], true),
        // Another gateway had this number; interface and addresses were others; what belongs to no station.
        entry("next_hops", ("hop", 2), [1, here, gateway], &[1, 0, 1, 10, 0, 1, 8], false),
        entry("next_hops", ("hop", 9), [1, here, gateway], &[1, 0, 1, 10, 0, 1, 7], false),
        entry("neighbours4", destination("10.0.1.3"), [1, 0x0200_0000_0999, host], &[1], true),
        entry("neighbours4", destination("10.0.7.3"), [1, here, host], &[1], true),
        entry("groups", ("group", 3), [0; 3], &[1], false),
        entry("interfaces", ("standard_metadata.ingress_port", 5), [0; 3], &[1], false),
        // Routes that stay, that were in the file, and that are the operator's.
        entry("route4", destination("172.16.0.0"), [0; 3], &[1, 12], false),
        entry("route4", destination("172.16.0.0"), [0; 3], &[1, 13], false),
        entry("route6", destination("2001:db8:9::"), [0; 3], &[1, 48], false),
        entry("route4", destination("198.51.100.0"), [0; 3], &[], false),
        entry("neighbours4", destination("10.0.1.50"), [1, here, host], &[], false),
        entry("groups", ("group", 900), [0; 3], &[], false),
        entry("next_hops", ("hop", 900), [1, here, host], &[], false),
    ];
    let mut orders = Orders::new();
    it.joined(seconds(0), &entries, &mut orders).unwrap();
    let text: String = words(&mut orders)
        .lines()
        .filter(|line| line.starts_with("delete") || line.contains("groups"))
        .map(|line| format!("{line}\n"))
        .collect();
    expect![[r#"
        delete next_hops 2
        delete next_hops 9
        delete neighbours4 10.0.1.3
        delete neighbours4 10.0.7.3
        add groups 1 do one-of use_hop 1 metadata 01
        add groups 2 do one-of use_hop 3 metadata 01
        delete groups 3
        delete interfaces 5
        delete route4 172.16.0.0/13
        delete route6 2001:db8:9::/48
    "#]]
    .assert_eq(&text);
    // Three gateways and two hosts.
    assert_eq!(it.neighbours().len(), 5);
    // A host without traffic.
    it.idle(seconds(1), &entries[2], &mut orders);
    it.idle(seconds(1), &entries[1], &mut orders);
    expect![[r#"
        delete neighbours4 10.0.1.2
    "#]]
    .assert_eq(&words(&mut orders));
}

#[test]
fn whatever_bytes_come_nothing_breaks() {
    let mut it = router(CONFIG);
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let samples = [
        arp_frame(arp::REQUEST, HOST, "10.0.1.2", "10.0.1.1"),
        from_host("10.0.1.2", "10.0.2.2", ip::UDP, &UDP),
        from_host("2001:db8:1::2", "2001:db8:2::2", 60, &[17, 0, 1, 4, 0, 0, 0, 0, 1, 2, 3, 4]),
        nd::solicitation(HOST, v6("2001:db8:1::2"), v6("2001:db8:1::1"), None).unwrap(),
    ];
    for round in 0..20_000 {
        let mut frame = samples[random() % samples.len()].clone();
        for _ in 0..random() % 4 {
            let at = random() % frame.len();
            frame[at] = random() as u8;
        }
        frame.truncate(random() % (frame.len() + 40));
        hand_raw(&mut it, round / 100, [random() as u128 % 3, random() as u128 % 8, random() as u128 % 5], &frame);
    }
    assert!(it.neighbours().len() <= 3 + 2 * 4096);
}

fn hand_raw(router: &mut Router, now: u64, fields: [u128; 3], frame: &[u8]) {
    let names = ["ingress_port", "reason", "hop"].map(str::to_owned);
    let mut orders = Orders::new();
    router.timer(seconds(now), &mut orders);
    router.packet_in(seconds(now), &Fields::new(names.into_iter().zip(fields)), frame, &mut orders);
}
