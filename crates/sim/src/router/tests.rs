//! Tests of a router between two hosts.

use super::*;
use crate::channel::ChannelConfig;
use crate::host::{Host, HostAddress, HostConfig, Ping};
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
        hosts: Arc::new(HostTable::new((0..).zip(HOSTS).flat_map(addresses).collect())),
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
    assert_eq!(network.node::<Router>(NodeId(0)).unwrap().counters().no_route, 2);
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
