//! Tests of hosts on a link.

use super::reassembly::tests::fragment;
use super::*;
use crate::arrivals::{Arrivals, Sizes};
use crate::channel::ChannelConfig;
use crate::network::{Network, NetworkBuilder, NodeId};
use crate::random::Chance;
use crate::wire::udp::Ports;
use crate::wire::{Mac, icmp};
use base::Rng;

const ADDRESSES: [[&str; 2]; 2] = [["10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2"]];

fn host(number: usize) -> Host {
    let address = |ips: &[&str; 2]| HostAddress { ip: ips[number].parse().unwrap(), prefix_bits: 24 };
    Host::new(HostConfig {
        name: format!("h{number}"),
        mac: Mac::numbered(number as u32 + 1),
        addresses: ADDRESSES.iter().map(address).collect(),
        gateways: Vec::new(),
        neighbours: Vec::new(),
    })
}

/// 100 Mb/s and 1 ms.
fn config() -> ChannelConfig {
    ChannelConfig { bits_per_s: 100_000_000, delay: Time::from_ms(1), ..ChannelConfig::default() }
}

fn network(hosts: [Host; 2], config: &ChannelConfig) -> Network {
    let mut builder = NetworkBuilder::default();
    let ids = [builder.add("h0"), builder.add("h1")];
    builder.link(ids[0], ids[1], [config.clone(), config.clone()]);
    ids.into_iter().zip(hosts).for_each(|(id, host)| builder.place(id, Box::new(host)));
    builder.build(1, 1)
}

fn flow(to: &str, count: u64) -> UdpFlow {
    UdpFlow {
        to: to.parse().unwrap(),
        ports: Ports { source: 1_000, destination: 2_000 },
        arrivals: Arrivals::constant(10_000_000, 1_000),
        sizes: Sizes::Fixed(1_000),
        traffic_class: 0,
        start: Time::from_ms(1),
        end: Time::MAX,
        count,
    }
}

#[test]
fn hosts_find_each_other_and_answer_pings() {
    for ips in ADDRESSES {
        let mut hosts = [host(0), host(1)];
        hosts[0].add_ping(Ping::new(ips[1].parse().unwrap(), 7, Time::ZERO, Time::from_ms(10), 3, 56));
        let mut network = network(hosts, &config());
        network.run_until(Time::from_s(1));
        let pings: Vec<&Ping> = network.node::<Host>(NodeId(0)).unwrap().pings().collect();
        assert_eq!((pings[0].sent, pings[0].received), (3, 3));
        // The first is queued until the neighbour has answered. Without it: two times 1 ms, and the line.
        let line = if ips[0].contains(':') { 142 } else { 122 };
        let shortest = Time::from_ps(2 * (1_000_000_000 + (line - 12) * 80_000));
        assert_eq!(pings[0].delays.least(), Some(shortest));
        assert!(pings[0].delays.greatest().unwrap() > Time::from_ms(4));
    }
}

#[test]
fn a_neighbour_that_does_not_answer_is_given_up() {
    let mut hosts = [host(0), host(1)];
    hosts[0].add_udp(flow("10.0.0.77", 2), 1);
    hosts[0].add_udp(flow("192.0.2.1", 1), 1);
    let mut network = network(hosts, &config());
    network.run_until(Time::from_s(2));
    let unreachable = |network: &Network| network.node::<Host>(NodeId(0)).unwrap().counters().unreachable;
    assert_eq!((unreachable(&network), network.counters(0).packets), (1, 2));
    network.run_until(Time::from_s(5));
    assert_eq!((unreachable(&network), network.counters(0).packets), (3, 3));
}

#[test]
fn datagrams_are_received_and_measured() {
    for ips in ADDRESSES {
        let mut hosts = [host(0), host(1)];
        hosts[0].add_udp(flow(ips[1], 100), 1);
        hosts[1].add_sink(2_000);
        let mut network = network(hosts, &config());
        network.run_until(Time::from_s(1));
        let sink = network.node::<Host>(NodeId(1)).unwrap().sink(2_000).unwrap();
        assert_eq!((sink.received, sink.bytes, sink.delays.count()), (100, 100_000, 100));
        let sent = network.node::<Host>(NodeId(0)).unwrap().udp().next().unwrap().sent;
        assert_eq!(sent, 100);
    }
}

#[test]
fn lost_and_corrupted_datagrams_do_not_count() {
    let mut hosts = [host(0), host(1)];
    hosts[0].add_udp(flow("10.0.0.2", 2_000), 1);
    hosts[1].add_sink(2_000);
    let chance = |p| Chance::new(p).unwrap();
    let mut network = network(hosts, &ChannelConfig { loss: chance(0.1), corruption: chance(0.1), ..config() });
    network.run_until(Time::from_s(10));
    let host = network.node::<Host>(NodeId(1)).unwrap();
    let (sink, counters) = (host.sink(2_000).unwrap(), host.counters());
    let damaged = counters.wrong_checksum + counters.malformed + counters.for_others + counters.fragments;
    assert_eq!(sink.foreign, 0);
    assert!((1_500..1_750).contains(&sink.received), "{}", sink.received);
    assert!((120..260).contains(&damaged), "{counters:?}");
}

#[test]
fn a_port_without_listener_is_reported() {
    for ips in ADDRESSES {
        let mut hosts = [host(0), host(1)];
        hosts[0].add_udp(flow(ips[1], 3), 1);
        let mut network = network(hosts, &config());
        network.run_until(Time::from_s(1));
        let counters = |node| network.node::<Host>(NodeId(node)).unwrap().counters().clone();
        assert_eq!((counters(1).no_listener, counters(0).errors), (3, 3));
    }
}

/// Sends whatever frames it has.
struct Attacker(Vec<Vec<u8>>);

impl Node for Attacker {
    fn receive(&mut self, context: &mut Context<'_>, _port: usize, packet: Packet) {
        context.end(packet);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        for frame in self.0.drain(..) {
            let packet = context.pool().copy_of(&frame);
            context.send(0, packet);
        }
    }

    fn next_timer(&self) -> Time {
        if self.0.is_empty() { Time::MAX } else { Time::ZERO }
    }
}

/// Frames that a host would take, to be damaged.
fn valid_frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for ips in ADDRESSES {
        let [destination, source]: [IpAddr; 2] = ips.map(|ip| ip.parse().unwrap());
        for protocol in [ip::UDP, icmp::protocol(source)] {
            let header = ip::Header { source, destination, protocol, ttl: 255, traffic_class: 0 };
            let at = 14 + header.bytes();
            let mut frame = vec![0; at + 40];
            let (destination, source) = (Mac::numbered(1), Mac::numbered(2));
            ethernet::Header { destination, source, ethertype: header.ethertype() }.emit(&mut frame);
            header.emit(&mut frame[14..], 40);
            match protocol {
                ip::UDP => crate::wire::udp::emit(&header, Ports { source: 1, destination: 2_000 }, &mut frame[at..]),
                ip::ICMP => icmp::emit_echo(&header, true, &mut frame[at..]),
                _ => icmp::emit_neighbour(&header, true, ips[0].parse().unwrap(), Mac::numbered(3), &mut frame[at..]),
            }
            frames.push(frame);
        }
    }
    let mut frame = vec![0; 42];
    let (destination, source) = (Mac::BROADCAST, Mac::numbered(2));
    ethernet::Header { destination, source, ethertype: ethernet::ARP }.emit(&mut frame);
    let sender = (source, "10.0.0.2".parse().unwrap());
    let target = (Mac::default(), "10.0.0.1".parse().unwrap());
    arp::Message { is_request: true, sender, target }.emit(&mut frame[14..]);
    frames.push(frame);
    frames
}

#[test]
fn hostile_frames_do_no_harm() {
    let mut rng = Rng::new(9);
    let valid = valid_frames();
    let mut frames = valid.clone();
    for _ in 0..20_000 {
        let mut frame = rng.pick(&valid).clone();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(frame.len() as u64) as usize;
            frame[at] = rng.next_u64() as u8;
        }
        frame.truncate(if rng.chance(1, 4) { rng.below(frame.len() as u64 + 1) as usize } else { frame.len() });
        frames.push(frame);
    }
    let mut builder = NetworkBuilder::default();
    let ids = [builder.add("h0"), builder.add("attacker")];
    builder.link(ids[0], ids[1], [ChannelConfig::default(), ChannelConfig::default()]);
    let mut victim = host(0);
    victim.add_sink(2_000);
    builder.place(ids[0], Box::new(victim));
    builder.place(ids[1], Box::new(Attacker(frames)));
    let mut network = builder.build(1, 1);
    network.run_until(Time::from_s(10));
    let counters = network.node::<Host>(NodeId(0)).unwrap().counters();
    assert!(counters.received > 4 && counters.sent > 4 && counters.malformed > 100, "{counters:?}");
}

#[test]
fn divided_datagrams_are_put_together() {
    let valid = valid_frames();
    // With each version a datagram, and what teaches the host who has sent it.
    for (datagram, teacher) in [(&valid[0], &valid[4]), (&valid[2], &valid[3])] {
        let (header, packet) = datagram.split_at(ethernet::HEADER_BYTES);
        let last = fragment(packet, 1, 24..40, true);
        let pieces = [last, fragment(packet, 1, 0..24, false), fragment(packet, 2, 0..24, false)];
        let frames = pieces.map(|piece| [header, &piece[..]].concat());
        let mut builder = NetworkBuilder::default();
        let ids = [builder.add("h0"), builder.add("sender")];
        builder.link(ids[0], ids[1], [ChannelConfig::default(), ChannelConfig::default()]);
        let mut receiver = host(0);
        receiver.add_sink(2_000);
        builder.place(ids[0], Box::new(receiver));
        builder.place(ids[1], Box::new(Attacker([&[teacher.clone()][..], &frames].concat())));
        let mut network = builder.build(1, 1);
        let counters = |network: &Network| network.node::<Host>(NodeId(0)).unwrap().counters().clone();
        network.run_until(Time::from_s(59));
        let before = counters(&network);
        assert_eq!((before.fragments, before.incomplete, before.wrong_checksum), (3, 0, 0));
        // Beside what teaches the host if it is IP.
        assert_eq!(before.received, 1 + u64::from(teacher.len() > 60));
        let sink = network.node::<Host>(NodeId(0)).unwrap().sink(2_000).unwrap();
        assert_eq!(sink.received + sink.foreign, 1);
        // The sender of the one that never becomes whole gets an error.
        network.run_until(Time::from_s(61));
        let after = counters(&network);
        assert_eq!((after.incomplete, after.sent), (1, before.sent + 1));
    }
}

fn listener() -> Listener {
    Listener { config: ::tcp::Config::default(), exchange: None }
}

fn tcp_flow(to: &str, source: u16, bytes: Option<u64>) -> TcpFlow {
    let ports = Ports { source, destination: 80 };
    let (to, config, sending) = (to.parse().unwrap(), ::tcp::Config::default(), Sending::default());
    TcpFlow { to, ports, start: Time::from_ms(1), bytes, config, sending }
}

#[test]
fn a_flow_over_tcp_arrives_whole() {
    for ips in ADDRESSES {
        let mut hosts = [host(0), host(1)];
        hosts[0].add_tcp(tcp_flow(ips[1], 1_000, Some(1_000_000)));
        hosts[1].listen(80, listener());
        let mut network = network(hosts, &config());
        network.run_until(Time::from_s(2));
        let client = network.node::<Host>(NodeId(0)).unwrap().tcp().next().unwrap();
        let server = network.node::<Host>(NodeId(1)).unwrap();
        let server = server.tcp_with(80, ips[0].parse().unwrap(), 1_000).unwrap();
        assert_eq!((server.received_bytes, server.altered, client.failure), (1_000_000, 0, None));
        // 80 ms on the line, with headers 87; slow start takes a few round trips of 2 ms more.
        let finished = server.finished.unwrap();
        assert!(finished > Time::from_ms(86) && finished < Time::from_ms(110), "{finished}");
        assert_eq!(client.statistics().unwrap().acknowledged_bytes, 1_000_000);
    }
}

#[test]
fn a_flow_is_as_fast_as_its_application() {
    let mut hosts = [host(0), host(1)];
    let sending = Sending { traffic_class: 0x10, bits_per_s: 1_000_000, block_bytes: 0 };
    hosts[0].add_tcp(TcpFlow { sending, ..tcp_flow("10.0.0.2", 1_000, Some(100_000)) });
    hosts[1].listen(80, listener());
    let mut network = network(hosts, &config());
    network.run_until(Time::from_s(2));
    let server = network.node::<Host>(NodeId(1)).unwrap();
    let server = server.tcp_with(80, "10.0.0.1".parse().unwrap(), 1_000).unwrap();
    assert_eq!((server.received_bytes, server.altered), (100_000, 0));
    // 800 ms, but the last segment is written at the end of the one before; and some round trips.
    let finished = server.finished.unwrap();
    assert!(finished > Time::from_ms(780) && finished < Time::from_ms(810), "{finished}");
    // Each block is one full segment, though time stamps take 12 bytes of each: 100,000 / 1,448 with SYN, ACK and FIN.
    let client = network.node::<Host>(NodeId(0)).unwrap().tcp().next().unwrap();
    let segments = client.statistics().unwrap().counters.segments_sent;
    assert!((70..=74).contains(&segments), "{segments}");
}

#[test]
fn flows_over_tcp_survive_bad_links_and_fill_good_ones() {
    let mut hosts = [host(0), host(1)];
    for port in 0..3 {
        hosts[0].add_tcp(tcp_flow("10.0.0.2", 1_000 + port, Some(300_000)));
    }
    hosts[1].listen(80, listener());
    let chance = |p| Chance::new(p).unwrap();
    let bad = ChannelConfig {
        loss: chance(0.02),
        corruption: chance(0.02),
        duplication: chance(0.02),
        reordering: chance(0.02),
        reordering_delay: Time::from_ms(2),
        ..config()
    };
    let mut bad = network(hosts, &bad);
    bad.run_until(Time::from_s(60));
    let server = bad.node::<Host>(NodeId(1)).unwrap();
    let all: Vec<(u64, u64, bool)> =
        server.tcp().map(|end| (end.received_bytes, end.altered, end.finished.is_some())).collect();
    assert_eq!(all, [(300_000, 0, true); 3]);

    let mut hosts = [host(0), host(1)];
    hosts[0].add_tcp(tcp_flow("10.0.0.2", 1_000, None));
    hosts[1].listen(80, listener());
    let mut good = network(hosts, &ChannelConfig { queue_packets: 100, ..config() });
    good.run_until(Time::from_s(3));
    good.node_mut::<Host>(NodeId(1)).unwrap().begin_window(Time::from_s(3));
    good.run_until(Time::from_s(5));
    let end = good.node::<Host>(NodeId(1)).unwrap().tcp().next().unwrap();
    let goodput = (end.received_bytes - end.received_before) as f64 * 8.0 / 2.0 / 100e6;
    // 1,448 of 1,538 bytes on the line.
    assert!((goodput - 1_448.0 / 1_538.0).abs() < 0.002, "{goodput}");
}

#[test]
fn connections_without_a_listener_are_reset() {
    let mut hosts = [host(0), host(1)];
    hosts[0].add_tcp(tcp_flow("10.0.0.2", 1_000, Some(10)));
    let mut network = network(hosts, &config());
    network.run_until(Time::from_s(1));
    let client = network.node::<Host>(NodeId(0)).unwrap();
    assert_eq!(client.tcp().next().unwrap().failure, Some(::tcp::Event::Reset));
    assert_eq!(network.node::<Host>(NodeId(1)).unwrap().counters().no_listener, 1);
}

#[test]
fn an_incast_begins_a_round_when_the_last_answer_is_there() {
    for ips in ADDRESSES {
        let exchange = Exchange { request_bytes: 100, answer_bytes: 20_000 };
        let mut hosts = [host(0), host(1)];
        let to = |source| (ips[1].parse().unwrap(), Ports { source, destination: 80 });
        hosts[0].add_incast(&IncastFlow {
            to: vec![to(1_000), to(1_001)],
            exchange,
            rounds: 3,
            pause: Time::from_ms(5),
            start: Time::from_ms(1),
            config: ::tcp::Config::default(),
        });
        hosts[1].listen(80, Listener { exchange: Some(exchange), ..listener() });
        let mut network = network(hosts, &config());
        network.run_until(Time::from_s(1));
        let host = network.node::<Host>(NodeId(0)).unwrap();
        let incast = host.incasts().next().unwrap();
        assert_eq!((incast.begun, incast.times.count(), incast.next()), (3, 3, Time::MAX));
        // 40,000 bytes take 3.2 ms on the line, and more with headers; a round trip 2 ms.
        let least = incast.times.least().unwrap();
        assert!(least > Time::from_us(5_200) && least < Time::from_us(8_000), "{least}");
        let received: Vec<u64> = host.tcp().map(|end| end.received_bytes).collect();
        assert_eq!(received, [60_000; 2]);
    }
}

/// Data carries the acknowledgment of the handshake, and the server's FIN that of the data.
#[test]
fn applications_act_before_their_hosts_acknowledge() {
    let mut hosts = [host(0), host(1)];
    hosts[0].add_tcp(tcp_flow("10.0.0.2", 1_000, Some(1_000)));
    hosts[1].listen(80, listener());
    let mut network = network(hosts, &config());
    network.run_until(Time::from_s(1));
    let client = network.node::<Host>(NodeId(0)).unwrap().tcp().next().unwrap();
    let counters = client.statistics().unwrap().counters;
    assert_eq!((counters.segments_sent, counters.segments_received), (3, 2), "{counters:?}");
}
