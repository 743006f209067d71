//! What the program hands to the controller, and what the controller does then, as text.

use super::*;
use controller::address::Mac;
use controller::packet::arp::{self, Arp};
use controller::packet::ip::build;
use controller::packet::{ETHERTYPE_ARP, ETHERTYPE_IPV4, Frame};
use expect_test::{Expect, expect};

const CONFIG: &str = include_str!("../../bng.toml");
const HERE: Mac = Mac([2, 0, 0, 0, 1, 1]);
const THERE: Mac = Mac([2, 0, 0, 0, 1, 2]);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn gateway() -> Gateway {
    let mut gateway = Gateway::new(CONFIG.parse().unwrap(), false).unwrap();
    gateway.joined(seconds(0), &[], &mut Orders::new()).unwrap();
    gateway
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A packet of the first subscriber, in its tunnel.
fn tunnelled(destination: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let inner = build(ip("192.168.1.10"), ip(destination), protocol, 9, payload).unwrap();
    let outer = build(ip("10.0.1.2"), ip("10.0.1.1"), 47, 64, &[&[0, 0, 8, 0][..], &inner].concat()).unwrap();
    Frame { destination: HERE, source: THERE, ethertype: ETHERTYPE_IPV4, payload: &outer }.to_bytes()
}

fn udp(port: u16) -> [u8; 8] {
    let [high, low] = port.to_be_bytes();
    [high, low, 0, 53, 0, 8, 0, 0]
}

fn hand(gateway: &mut Gateway, now: u64, fields: [u128; 3], frame: &[u8]) -> String {
    let names = ["ingress_port", "reason", "subscriber"].map(str::to_owned);
    let mut orders = Orders::new();
    gateway.packet_in(seconds(now), &Fields::new(names.into_iter().zip(fields)), frame, &mut orders);
    orders.take_text()
}

fn check(said: &str, expected: Expect) {
    expected.assert_eq(said);
}

#[test]
fn a_file_becomes_entries() {
    let mut orders = Orders::new();
    let mut gateway = Gateway::new(CONFIG.parse().unwrap(), false).unwrap();
    gateway.joined(seconds(0), &[], &mut orders).unwrap();
    let mut lines: Vec<String> = orders.take_text().lines().map(|it| cut(it).to_owned()).collect();
    lines.sort();
    check(
        &lines.join("\n"),
        expect![[r#"
            add access_routes 10.0.1.2/32 do via 2
            add access_routes 10.0.2.2/32 do via 3
            add addresses 10.0.1.1/32 do local
            add addresses 10.0.2.1/32 do local
            add addresses 192.0.2.1/32 do local
            add addresses 198.51.100.0/28 do pool
            add arp_proxy 1 10.0.1.1/32 do answer
            add arp_proxy 2 10.0.2.1/32 do answer
            add arp_proxy 3 192.0.2.1/32 do answer
            add arp_proxy 3 198.51.100.0/28 do answer
            add core_routes 0.0.0.0/0 do via 1
            add interfaces 1 do access 02:00:00:00:01:01
            add interfaces 2 do access 02:00:00:00:02:01
            add interfaces 3 do core 02:00:00:00:03:01
            add subscribers 1 do tunnel 10.0.1.1 10.0.1.2 1476
            add subscribers 2 do tunnel_with_key 10.0.2.1 10.0.2.2 1472 7
            add tunnels 10.0.1.2 10.0.1.1 0 0 do subscriber 1 0xc0a80100 0xffffff00
            add tunnels 10.0.2.2 10.0.2.1 1 7 do subscriber 2 0xc0a80100 0xffffff00
            meters arp_to_controller set 200 20 200 20
            meters download_rate 1 set 6250000 625000 6250000 1250000
            meters download_rate 2 reset
            meters to_controller set 200 20 200 20
            meters to_controller_in_all 511 set 4000 400 4000 400
            meters to_controller_in_all set 4000 4000 4000 4000
            meters upload_rate 1 set 1250000 125000 1250000 250000
            meters upload_rate 2 reset
            note: 2 subscribers, 0 bindings"#]],
    );
}

/// A command without the hash of its entry.
fn cut(line: &str) -> &str {
    line.split(" metadata ").next().unwrap_or(line)
}

#[test]
fn the_first_packet_of_a_flow_makes_a_binding_and_continues() {
    let mut it = gateway();
    let frame = tunnelled("203.0.113.9", 17, &udp(5353));
    let said = hand(&mut it, 1, [1, tables::NO_BINDING, 1], &frame);
    let [down, up, packet] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    let public = it.bindings().iter().next().unwrap().1;
    let port = public.port;
    assert_eq!(
        down,
        format!(
            "add bindings_down 198.51.100.1 17 {port} do to_inner 1 192.168.1.10 5353 timeout 300000ms metadata 03"
        )
    );
    assert_eq!(
        up,
        format!("add bindings_up 1 192.168.1.10 17 5353 do to_public 198.51.100.1 {port} timeout 300000ms metadata 03")
    );
    assert!(packet.starts_with("packet-out 0200") && packet.ends_with(" port=0x1 mode=0x1"), "{packet}");
    // The second packet came before the binding was there; a stranger has no number.
    assert_eq!(hand(&mut it, 1, [1, tables::NO_BINDING, 1], &frame), format!("{packet}\n"));
    assert_eq!(hand(&mut it, 1, [1, tables::NO_BINDING, 3], &frame), "");
    assert_eq!(it.bindings().len(), 1);
    // A switch that does not have it after a while gets it again.
    assert_eq!(hand(&mut it, 3, [1, tables::NO_BINDING, 1], &frame), said);
}

#[test]
fn refused_bindings_are_counted_and_reported_seldom() {
    let file = CONFIG.replace("[nat]", "[nat]\nof_subscriber = 2");
    let mut it = Gateway::new(file.parse().unwrap(), false).unwrap();
    let mut say = |now, port| {
        hand(&mut it, now, [1, tables::NO_BINDING, 1], &tunnelled("203.0.113.9", 17, &udp(port))).lines().count()
    };
    assert_eq!([say(1, 1), say(1, 2), say(1, 3), say(1, 4), say(2, 5)], [3, 3, 1, 0, 0]);
    let said = hand(&mut it, 12, [1, tables::NO_BINDING, 1], &tunnelled("203.0.113.9", 17, &udp(9)));
    check(
        &said,
        expect![[r#"
            note: 3 packets without a binding: their subscribers have as many as they may (of_subscriber)
        "#]],
    );
}

/// The entries of a binding as a switch has them.
fn entries(subscriber: u128, inner_port: u128, public_port: u128) -> [Entry; 2] {
    let fields = |fields: &[(&str, u128)]| Fields::new(fields.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    let (inner, public) = (0xC0A8_010A, 0xC633_6401);
    let up = Entry {
        table: "GatewayIngress.subscribers.translate_source.bindings_up".to_owned(),
        keys: fields(&[("subscriber", subscriber), ("address", inner), ("protocol", 17), ("port", inner_port)]),
        arguments: fields(&[("address", public), ("port", public_port)]),
        metadata: vec![3],
        ..Entry::default()
    };
    let down = Entry {
        table: "GatewayIngress.subscribers.translate_destination.bindings_down".to_owned(),
        keys: fields(&[("address", public), ("protocol", 17), ("port", public_port)]),
        arguments: fields(&[("subscriber", subscriber), ("address", inner), ("port", inner_port)]),
        metadata: vec![3],
        ..Entry::default()
    };
    [up, down]
}

/// A gateway with the binding of the port 5353, and its entries.
fn gateway_with_a_binding() -> (Gateway, Public, [Entry; 2]) {
    let mut it = gateway();
    hand(&mut it, 1, [1, tables::NO_BINDING, 1], &tunnelled("203.0.113.9", 17, &udp(5353)));
    let public = it.bindings().iter().next().unwrap().1;
    let entries = entries(1, 5353, public.port.into());
    (it, public, entries)
}

/// What follows from a report that an entry is idle, and then from reading both; `read` has the seconds since the last
/// hits.
fn idle(gateway: &mut Gateway, now: u64, reported: &Entry, read: &[(&Entry, u64)]) -> String {
    let mut orders = Orders::new();
    // Reports of idle entries have no arguments.
    let reported = Entry { arguments: Fields::default(), ..reported.clone() };
    gateway.idle(seconds(now), &reported, &mut orders);
    let read = read.iter().map(|(entry, ago)| Entry { idle: Some(seconds(*ago)), ..(*entry).clone() });
    gateway.read(seconds(now), &read.collect::<Vec<_>>(), &mut orders);
    orders.take_text()
}

#[test]
fn a_binding_that_is_idle_in_both_directions_ends() {
    let (mut it, public, [up, down]) = gateway_with_a_binding();
    let port = public.port;
    let expected = format!(
        "read bindings_up 1 192.168.1.10 17 5353\nread bindings_down 198.51.100.1 17 {port}\n\
         delete bindings_up 1 192.168.1.10 17 5353\ndelete bindings_down 198.51.100.1 17 {port}\n"
    );
    assert_eq!(idle(&mut it, 301, &up, &[(&up, 300), (&down, 300)]), expected);
    assert!(it.bindings().is_empty());
    // The report about the other half comes after the end.
    assert_eq!(idle(&mut it, 302, &down, &[]), "");
}

#[test]
fn a_binding_stays_whose_other_direction_was_used_since_its_report() {
    let (mut it, _, [up, down]) = gateway_with_a_binding();
    assert!(!idle(&mut it, 301, &up, &[(&up, 300), (&down, 10)]).contains("delete"));
    // The upload is in use again when the download is idle.
    assert!(!idle(&mut it, 600, &down, &[(&up, 5), (&down, 309)]).contains("delete"));
    assert_eq!(it.bindings().len(), 1);
    assert!(idle(&mut it, 895, &up, &[(&up, 300), (&down, 604)]).contains("delete"));
}

#[test]
fn half_a_binding_ends_as_a_whole_one() {
    let (mut it, _, [up, _]) = gateway_with_a_binding();
    // A switch that does not say when an entry was hit may have hit it.
    let unknown = [Entry { idle: None, ..up.clone() }];
    it.read(seconds(301), &unknown, &mut Orders::new());
    assert_eq!(it.bindings().len(), 1);
    assert!(idle(&mut it, 601, &up, &[(&up, 600)]).contains("delete"));
}

#[test]
fn a_controller_continues_with_what_a_switch_has() {
    let mut it = Gateway::new(CONFIG.parse().unwrap(), false).unwrap();
    let mut orders = Orders::new();
    // A whole one, one of a subscriber who has left, half ones, one of the operator.
    let mut present: Vec<Entry> = entries(1, 5000, 6000).into_iter().chain(entries(3, 5001, 6001)).collect();
    present.push(entries(2, 5002, 6002)[0].clone());
    present.push(entries(2, 5003, 6003)[1].clone());
    present.push(Entry { metadata: vec![], ..entries(1, 5004, 6004)[0].clone() });
    it.joined(seconds(0), &present, &mut orders).unwrap();
    let text = orders.take_text();
    let of_bindings = text.lines().filter(|line| line.contains("bindings")).map(cut).collect::<Vec<_>>().join("\n");
    check(
        &of_bindings,
        expect![[r#"
            delete bindings_up 3 192.168.1.10 17 5001
            delete bindings_down 198.51.100.1 17 6001
            delete bindings_down 198.51.100.1 17 6003
            add bindings_down 198.51.100.1 17 6002 do to_inner 2 192.168.1.10 5002 timeout 300000ms
            add bindings_up 2 192.168.1.10 17 5002 do to_public 198.51.100.1 6002 timeout 300000ms
            note: 2 subscribers, 2 bindings"#]],
    );
    // The switch was started again: it gets the bindings back.
    it.joined(seconds(9), &[], &mut orders).unwrap();
    assert_eq!(orders.take_text().matches("add bindings_up").count(), 2);
}

#[test]
fn errors_reach_senders_through_the_tunnel() {
    let mut it = gateway();
    let frame = tunnelled("203.0.113.9", 17, &udp(5353));
    let said = hand(&mut it, 1, [1, tables::TTL_EXPIRED, 1], &frame);
    let hex = said.strip_prefix("packet-out ").and_then(|rest| rest.split(' ').next()).unwrap();
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    let error = Arrived::parse(&bytes).unwrap();
    assert_eq!((error.frame.destination, error.frame.source), (THERE, HERE));
    assert_eq!((error.packet.source, error.packet.destination), (ip("10.0.1.1"), ip("192.168.1.10")));
    assert_eq!((error.packet.payload[0], error.packet.icmp_sum()), (11, 0));
    assert_eq!(error.tunnel_end(), Some(ip("10.0.1.2")));
}

#[test]
fn a_sender_learns_the_mtu_of_a_tunnel() {
    let mut it = gateway();
    hand(&mut it, 1, [1, tables::NO_BINDING, 1], &tunnelled("203.0.113.9", 17, &udp(5353)));
    let [high, low] = it.bindings().iter().next().unwrap().1.port.to_be_bytes();
    let packet = build(ip("203.0.113.9"), ip("198.51.100.1"), 17, 9, &[0, 53, high, low, 0, 8, 0, 0]).unwrap();
    let frame = Frame { destination: HERE, source: THERE, ethertype: ETHERTYPE_IPV4, payload: &packet }.to_bytes();
    let said = hand(&mut it, 1, [3, tables::TOO_LONG, 0], &frame);
    // From 192.0.2.1, type 3, code 4, 1476 bytes.
    assert!(said.contains("c0000201cb007109") && said.contains("0304") && said.contains("000005c4"), "{said}");
}

#[test]
fn next_hops_are_asked_for() {
    let mut it = gateway();
    let mut orders = Orders::new();
    it.timer(seconds(0), &mut orders);
    assert_eq!(orders.take_text().lines().count(), 3);
    let (sender, target) = (Ipv4Addr::new(10, 0, 1, 2), Ipv4Addr::new(10, 0, 1, 1));
    let reply = Arp { operation: arp::REPLY, sender_mac: THERE, sender, target_mac: HERE, target };
    let frame = Frame { destination: HERE, source: THERE, ethertype: ETHERTYPE_ARP, payload: &reply.to_bytes() };
    check(
        &hand(&mut it, 0, [1, tables::ARP, 0], &frame.to_bytes()),
        expect![[r#"
            add next_hops 2 do forward 1 02:00:00:00:01:01 02:00:00:00:01:02 metadata 0100010a000102
        "#]],
    );
}

#[test]
fn what_is_no_packet_is_ignored() {
    let mut it = gateway();
    let whole = tunnelled("203.0.113.9", 17, &udp(5353));
    for length in 0..whole.len() {
        for reason in 0..=6 {
            assert_eq!(hand(&mut it, 1, [1, reason, 1], &whole[..length]), "", "{reason} {length}");
        }
    }
}
