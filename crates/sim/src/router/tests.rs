//! Tests of a router between two hosts.

use super::*;
use crate::channel::ChannelConfig;
use crate::host::{Host, HostAddress, HostConfig, Ping, Sending};
use crate::network::{Network, NetworkBuilder, NodeId};
use crate::wire::ip::Header;

/// The addresses of a host and of the router on its link.
const HOSTS: [[&str; 2]; 2] = [["10.1.1.2", "fd00:1:1::2"], ["10.1.2.2", "fd00:1:2::2"]];
const GATEWAYS: [[&str; 2]; 2] = [["10.1.1.1", "fd00:1:1::1"], ["10.1.2.1", "fd00:1:2::1"]];

fn ips(texts: [&str; 2]) -> Vec<IpAddr> {
    texts.map(|text| text.parse().unwrap()).to_vec()
}

fn host_mac(host: usize) -> Mac {
    Mac::numbered(host as u32 + 1)
}

fn host(number: usize) -> Host {
    let address = |ip: IpAddr| HostAddress { ip, prefix_bits: if ip.is_ipv4() { 24 } else { 64 } };
    Host::new(HostConfig {
        name: format!("h{number}"),
        mac: host_mac(number),
        addresses: ips(HOSTS[number]).into_iter().map(address).collect(),
        gateways: ips(GATEWAYS[number]),
        neighbours: Vec::new(),
    })
}

fn router() -> Router {
    let port = |host: usize| RouterPort {
        mac: Mac::numbered(100 + host as u32),
        peer: host_mac(host),
        addresses: ips(GATEWAYS[host]),
    };
    let addresses = |(host, texts)| ips(texts).into_iter().map(move |ip| (ip, host));
    Router::new(RouterConfig {
        updates: Default::default(),
        ports: vec![port(0), port(1)],
        hosts: Arc::new(HostTable::new(&(0..).zip(HOSTS).flat_map(addresses).collect::<Vec<_>>())),
        groups: vec![vec![], vec![0], vec![1]],
        routes: vec![1, 2],
        hash_seed: 1,
    })
}

/// Host, router, host.
fn network(hosts: [Host; 2]) -> Network {
    let mut builder = NetworkBuilder::default();
    let router_id = builder.add("r");
    let ids = [builder.add("h0"), builder.add("h1")];
    for id in ids {
        builder.link(router_id, id, [ChannelConfig::default(), ChannelConfig::default()]);
    }
    builder.place(router_id, Box::new(router()));
    ids.into_iter().zip(hosts).for_each(|(id, host)| builder.place(id, Box::new(host)));
    builder.build(1, 1)
}

#[test]
fn hosts_find_the_router_and_reach_each_other_through_it() {
    let mut hosts = [host(0), host(1)];
    for (number, ip) in (0..).zip(ips(HOSTS[1])) {
        hosts[0].add_ping(Ping::new(ip, number, Time::ZERO, Time::from_ms(1), 3, 8));
    }
    let mut network = network(hosts);
    network.run_until(Time::from_s(1));
    let received: Vec<u64> = network.node::<Host>(NodeId(1)).unwrap().pings().map(|ping| ping.received).collect();
    let counters = network.node::<Router>(NodeId(0)).unwrap().counters();
    assert_eq!((received, counters.forwarded, counters.ignored), (vec![3, 3], 12, 0));
}

#[test]
fn packets_without_a_way_end() {
    let mut hosts = [host(0), host(1)];
    hosts[0].add_ping(Ping::new("192.0.2.1".parse().unwrap(), 1, Time::ZERO, Time::from_ms(1), 2, 8));
    let mut network = network(hosts);
    network.run_until(Time::from_s(1));
    let counters = network.node::<Router>(NodeId(0)).unwrap().counters();
    assert_eq!((counters.no_route, counters.errors), (2, 2));
    // The sender gets an error.
    assert_eq!(network.node::<Host>(NodeId(1)).unwrap().counters().errors, 2);
}

/// Sends a frame at the beginning, and stores what it receives.
struct Sender {
    frame: Option<Vec<u8>>,
    received: Vec<Vec<u8>>,
}

impl Node for Sender {
    fn receive(&mut self, context: &mut Context<'_>, _port: usize, packet: Packet) {
        self.received.push(packet.head().to_vec());
        context.end(packet);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        let packet = self.frame.take().map(|frame| context.pool().copy_of(&frame));
        packet.into_iter().for_each(|packet| context.send(0, packet));
    }

    fn next_timer(&self) -> Time {
        if self.frame.is_some() { Time::ZERO } else { Time::MAX }
    }
}

#[test]
fn a_packet_that_has_passed_too_many_routers_is_reported_but_no_error_about_an_error_is() {
    for (version, kind) in [(0, 11), (1, 3)] {
        let [source, destination] = [HOSTS[0][version], HOSTS[1][version]].map(|ip| ip.parse().unwrap());
        for protocol in [ip::UDP, icmp::protocol(source)] {
            let header = Header { source, destination, protocol, ttl: 1, traffic_class: 0 };
            let mut frame = vec![0; 14 + header.bytes() + 40];
            self::header(Mac::numbered(100), host_mac(0), header.ethertype()).emit(&mut frame);
            header.emit(&mut frame[14..], 40);
            frame[14 + header.bytes()] = 3;
            let mut builder = NetworkBuilder::default();
            let ids = [builder.add("r"), builder.add("h0"), builder.add("h1")];
            for host in &ids[1..] {
                builder.link(ids[0], *host, [ChannelConfig::default(), ChannelConfig::default()]);
            }
            builder.place(ids[0], Box::new(router()));
            builder.place(ids[1], Box::new(Sender { frame: Some(frame.clone()), received: Vec::new() }));
            builder.place(ids[2], Box::new(host(1)));
            let mut network = builder.build(1, 1);
            network.run_until(Time::from_ms(1));
            let received = &network.node::<Sender>(ids[1]).unwrap().received;
            if protocol != ip::UDP {
                assert!(received.is_empty());
                continue;
            }
            let (error, message) = Header::parse(header.ethertype(), &received[0][14..]).unwrap();
            assert_eq!((error.source.to_string(), error.destination), (GATEWAYS[0][version].to_owned(), source));
            assert_eq!(icmp::parse(&error, message), Some(icmp::Message::Error(kind, 0, &frame[14..])));
        }
    }
}

#[test]
fn connections_send_shorter_segments_where_a_link_has_a_smaller_mtu() {
    use crate::host::{Listener, TcpFlow};
    use crate::wire::udp::Ports;
    for (version, payload) in [(0, 1_300 - 40 - 12), (1, 1_300 - 60 - 12)] {
        let mut hosts = [host(0), host(1)];
        let config = tcp::Config { mss: if version == 0 { 1_460 } else { 1_440 }, ..tcp::Config::default() };
        let ports = Ports { source: 1_000, destination: 80 };
        let to = HOSTS[1][version].parse().unwrap();
        let (bytes, sending) = (Some(200_000), Sending::default());
        hosts[0].add_tcp(TcpFlow { to, ports, start: Time::ZERO, bytes, config, sending });
        hosts[1].listen(80, Listener { config, exchange: None });
        let mut builder = NetworkBuilder::default();
        let ids = [builder.add("r"), builder.add("h0"), builder.add("h1")];
        let link = ChannelConfig { bits_per_s: 100_000_000, delay: Time::from_us(100), ..ChannelConfig::default() };
        builder.link(ids[0], ids[1], [link.clone(), link.clone()]);
        builder.link(ids[0], ids[2], [ChannelConfig { mtu: 1_300, ..link.clone() }, link]);
        builder.place(ids[0], Box::new(router()));
        ids[1..].iter().zip(hosts).for_each(|(id, host)| builder.place(*id, Box::new(host)));
        let mut network = builder.build(1, 1);
        network.run_until(Time::from_ms(100));
        let server = network.node::<Host>(ids[2]).unwrap().tcp().next().unwrap();
        assert_eq!((server.received_bytes, server.altered, server.finished.is_some()), (200_000, 0, true));
        let client = network.node::<Host>(ids[1]).unwrap().tcp().next().unwrap();
        let statistics = client.statistics().unwrap();
        assert_eq!((statistics.mss, statistics.counters.timeouts), (payload, 0), "{statistics:?}");
    }
}

#[test]
fn flows_are_recognised_and_spread() {
    let [source, destination] = [HOSTS[0][0], HOSTS[1][0]].map(|ip| ip.parse().unwrap());
    let header = Header { source, destination, protocol: ip::UDP, ttl: 9, traffic_class: 0 };
    let mut counts = [0; 4];
    for port in 0..4_000u16 {
        let mut frame = [0; 42];
        frame[12..14].copy_from_slice(&ethernet::IPV4.to_be_bytes());
        header.emit(&mut frame[14..], 8);
        frame[34..36].copy_from_slice(&port.to_be_bytes());
        let flow = Flow::of(&frame).unwrap();
        assert_eq!(flow.hash(5), Flow::of(&frame).unwrap().hash(5));
        counts[(flow.hash(5) % 4) as usize] += 1;
        assert!((0..34).all(|length| Flow::of(&frame[..length]).is_none()));
    }
    assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
}
