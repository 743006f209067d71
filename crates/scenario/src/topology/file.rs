//! Topologies from the files that `wirespeed net` reads.
//!
//! What enters: the text of a file. What leaves: a [`Topology`], or all errors with their lines. Of the commands that
//! hosts run at the start, those that set an address, a default route or a neighbour are followed; others are pointed
//! out.

use crate::topology::{NodeRef, Topology, TopologyHost, TopologyLink, TopologySwitch};
use core::net::IpAddr;
use net::located::Fault;
use net::net_tools;
use net::topology as file;
use sim::host::HostAddress;
use sim::time::Time;
use sim::wire::Mac;

/// Reads a topology.
pub fn parse(text: &str) -> Result<Topology, Vec<Fault>> {
    let read = file::Topology::parse(text)?;
    let mut topology = Topology::default();
    topology.warnings.extend(read.warnings.iter().map(|warning| format!("line {}: {}", warning.line, warning.message)));
    let mut faults = Vec::new();
    for (index, host) in read.hosts.iter().enumerate() {
        if read.ends_at(file::NodeId::Host(index)).len() > 1 {
            faults.push(Fault::new(
                host.line,
                format!("host {} has several links; in a simulation it has one", host.name),
            ));
        }
        let host = self::host(host, index, &mut topology.warnings);
        topology.hosts.push(host);
    }
    topology.switches.extend(read.switches.iter().map(switch));
    topology.links.extend(read.links.iter().map(link));
    if faults.is_empty() { Ok(topology) } else { Err(faults) }
}

fn node(node: file::NodeId) -> NodeRef {
    match node {
        file::NodeId::Host(index) => NodeRef::Host(index),
        file::NodeId::Switch(index) => NodeRef::Switch(index),
    }
}

fn link(link: &file::Link) -> TopologyLink {
    let ends = link.ends.each_ref().map(|end| (node(end.node), end.port));
    // In a file, a latency of 0 means that none is given, not that the link has no delay.
    let delay = (link.wire.latency_ns > 0).then(|| Time::from_ns(link.wire.latency_ns));
    TopologyLink { ends, bits_per_s: link.wire.bits_per_s, delay }
}

fn switch(switch: &file::Switch) -> TopologySwitch {
    let entries = [&switch.cli_input, &switch.runtime_json].into_iter().flatten().cloned().collect();
    TopologySwitch { name: switch.name.clone(), program: switch.program.clone(), entries }
}

fn host(host: &file::Host, index: usize, warnings: &mut Vec<String>) -> TopologyHost {
    let mut made = TopologyHost {
        name: host.name.clone(),
        mac: host.mac.map_or(Mac::numbered(index as u32 + 1), |mac| Mac(mac.0)),
        addresses: host.address.iter().map(|it| HostAddress { ip: it.ip, prefix_bits: it.prefix_bits }).collect(),
        gateways: host.gateway.iter().map(|gateway| gateway.ip).collect(),
        neighbours: Vec::new(),
    };
    for command in &host.commands {
        if !follow(&mut made, command) {
            warnings.push(format!("line {}: host {}: the command `{command}` is not run", host.line, host.name));
        }
    }
    made
}

/// Does what a command would do; returns whether it is one of those that are known.
fn follow(host: &mut TopologyHost, command: &str) -> bool {
    let translated = net_tools::with_ip(command);
    let words: Vec<&str> = translated.as_deref().unwrap_or(command).split_whitespace().collect();
    let words = words.strip_prefix(&["sudo"]).unwrap_or(&words);
    // The family follows from the address.
    let words: Vec<&str> = words.iter().copied().filter(|word| !["-4", "-6"].contains(word)).collect();
    match *words {
        ["ip", "address" | "addr" | "a", "add" | "replace", address, ..] => {
            let address = file::Address::parse(address);
            host.addresses.extend(address.map(|it| HostAddress { ip: it.ip, prefix_bits: it.prefix_bits }));
            address.is_some()
        }
        ["ip", "route" | "r", "add" | "replace", "default", "via", gateway, ..] => gateway
            .parse()
            .map(|gateway: IpAddr| {
                host.gateways.retain(|other| other.is_ipv4() != gateway.is_ipv4());
                host.gateways.push(gateway);
            })
            .is_ok(),
        ["ip", "neigh" | "neighbour" | "neighbor", "add" | "replace", ip, "lladdr", mac, ..] => {
            let pair = ip.parse().ok().zip(file::Mac::parse(mac));
            host.neighbours.extend(pair.map(|(ip, mac)| (ip, Mac(mac.0))));
            pair.is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_tutorials_are_read() {
        let topology = parse(
            r#"{
            "hosts": {
                "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11",
                       "commands": ["route add default gw 10.0.1.10 dev eth0",
                                    "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00", "sysctl net.x=1"]},
                "h2": {"ip": "10.0.2.2/24", "mac": "08:00:00:00:02:22",
                       "commands": ["ip -6 addr add fd00:2::2/64 dev eth0", "ip -6 route add default via fd00:2::1"]}
            },
            "switches": {"s1": {"runtime_json": "s1-runtime.json", "program": "build/basic.json"}},
            "links": [["h1", "s1-p1"], ["s1-p2", "h2", "5ms", 0.5]]
            }"#,
        )
        .unwrap();
        let h1 = &topology.hosts[0];
        assert_eq!(h1.gateways, ["10.0.1.10".parse::<IpAddr>().unwrap()]);
        let h2: Vec<String> =
            topology.hosts[1].addresses.iter().map(|it| format!("{}/{}", it.ip, it.prefix_bits)).collect();
        assert_eq!(
            (h2, &*topology.hosts[1].gateways),
            (vec!["10.0.2.2/24".to_owned(), "fd00:2::2/64".to_owned()], &["fd00:2::1".parse::<IpAddr>().unwrap()][..])
        );
        assert_eq!(h1.neighbours, [("10.0.1.10".parse().unwrap(), Mac([8, 0, 0, 0, 1, 0]))]);
        assert_eq!(topology.warnings, ["line 3: host h1: the command `sysctl net.x=1` is not run"]);
        assert_eq!(topology.switches[0].entries, ["s1-runtime.json"]);
        let second = TopologyLink {
            ends: [(NodeRef::Switch(0), 2), (NodeRef::Host(1), 0)],
            bits_per_s: Some(500_000),
            delay: Some(Time::from_ms(5)),
        };
        assert_eq!(topology.links[1], second);
    }

    #[test]
    fn errors_have_their_lines() {
        let faults = parse("{\n\"hosts\": {\"h1\": {\"ip\": \"x\"}},\n\"switches\": {},\n\"links\": []}").unwrap_err();
        assert_eq!(faults[0].line, 2);
        let two_links = r#"{"hosts": {"h1": {}}, "switches": {"s1": {}, "s2": {}},
            "links": [["h1", "s1-p1"], ["h1", "s2-p1"], ["s1-p2", "s2-p2"]]}"#;
        assert!(parse(two_links).unwrap_err()[0].message.contains("several links"));
    }
}
