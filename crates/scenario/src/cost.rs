//! Costs of software switches that are measured before the run.
//!
//! What enters: a scenario with `cost = "measured"`, and what a packet of each such switch costs on this machine. What
//! leaves: frames as the scenario's hosts send them through a switch, for the measurement; the scenario with the costs.
//! The simulator itself measures nothing.

use crate::resolve::Scenario;
use crate::stations::host_config;
use crate::topology::routes::Routes;
use crate::topology::{NodeRef, Topology};
use sim::pipeline::Service;
use sim::time::Time;
use sim::wire::ethernet::{self, HEADER_BYTES};
use sim::wire::udp::{self, Ports};
use sim::wire::{Mac, ip};

/// Frames for a measurement; more than fit into the fastest cache.
const FRAMES_MAX: usize = 4_096;
/// Datagrams of each pair of hosts: different flows.
const FLOWS: u16 = 16;
/// Bytes of their payload. A program works on headers.
const PAYLOAD_BYTES: usize = 64;

/// A cost that is still to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmeasured {
    /// Whether it is the latency before the queues, too.
    pub is_latency: bool,
}

impl Scenario {
    /// The switches whose costs are to be measured.
    pub fn unmeasured(&self) -> Vec<usize> {
        (0..self.switches.len()).filter(|switch| self.switches[*switch].unmeasured.is_some()).collect()
    }

    /// Sets the cost of a switch that was to be measured.
    pub fn set_cost(&mut self, switch: usize, cost: Time) {
        let plan = &mut self.switches[switch];
        let Some(Unmeasured { is_latency }) = plan.unmeasured.take() else { return };
        if let Some(pipeline) = &mut plan.device.pipeline
            && matches!(pipeline.service, Service::Cost(_))
        {
            pipeline.service = Service::Cost(cost);
        }
        if is_latency {
            plan.ingress_latency = cost;
            for (link, end) in self.topology.links_at(NodeRef::Switch(switch)) {
                self.channels[link][1 - end].delay += cost;
            }
        }
    }

    /// Datagrams between hosts that pass a switch on shortest paths, each with the port where it comes in.
    pub fn frames_through(&self, switch: usize) -> Vec<(u32, Vec<u8>)> {
        let routes = &Routes::shortest(&self.topology).switches[switch];
        let ports: Vec<u32> = self.port_numbers(switch);
        let toward = |host: usize| routes.groups[routes.hosts[host] as usize].first().copied();
        let hosts = 0..self.topology.hosts.len();
        let pairs = hosts.clone().flat_map(|from| hosts.clone().map(move |to| (from, to)));
        let passing = pairs.filter_map(|(from, to)| {
            let (came, goes) = (toward(from)?, toward(to)?);
            (came != goes).then(|| (from, to, ports[came]))
        });
        let flows = passing.flat_map(|(from, to, port)| (0..FLOWS).map(move |flow| (from, to, port, flow)));
        let frames =
            flows.filter_map(|(from, to, port, flow)| Some((port, self.frame(from, to, (switch, port), flow)?)));
        frames.take(FRAMES_MAX).collect()
    }

    fn port_numbers(&self, switch: usize) -> Vec<u32> {
        let links = self.topology.links_at(NodeRef::Switch(switch));
        links.map(|(link, end)| self.topology.links[link].ends[end].1).collect()
    }

    /// A datagram as it comes to a port of a switch.
    fn frame(&self, from: usize, to: usize, at: (usize, u32), flow: u16) -> Option<Vec<u8>> {
        let (sender, receiver) = (host_config(self, from), &self.topology.hosts[to]);
        let source = sender.addresses.first()?;
        let destination = receiver.addresses.iter().find(|it| it.ip.is_ipv4() == source.ip.is_ipv4())?.ip;
        let gateway = sender.gateways.iter().find(|it| it.is_ipv4() == destination.is_ipv4());
        let hop = if source.has_in_network(destination) { Some(&destination) } else { gateway };
        let known = |ip| sender.neighbours.iter().find(|(own, _)| Some(own) == ip).map(|(_, mac)| *mac);
        let mac = match self.is_first(from, at) {
            true if hop == Some(&destination) => receiver.mac,
            true => known(hop).unwrap_or(Topology::port_mac(at.0, at.1)),
            false => Topology::port_mac(at.0, at.1),
        };
        let header = ip::Header { source: source.ip, destination, protocol: ip::UDP, ttl: 64, traffic_class: 0 };
        Some(datagram(&header, (sender.mac, mac), flow))
    }

    /// Whether a host is behind this port of a switch.
    fn is_first(&self, host: usize, (switch, port): (usize, u32)) -> bool {
        let ends = [(NodeRef::Host(host), 0), (NodeRef::Switch(switch), port)];
        self.topology.links.iter().any(|link| {
            let [a, b] = link.ends;
            (a.0 == ends[0].0 && b == ends[1]) || (b.0 == ends[0].0 && a == ends[1])
        })
    }
}

fn datagram(header: &ip::Header, (source, destination): (Mac, Mac), flow: u16) -> Vec<u8> {
    let at = HEADER_BYTES + header.bytes();
    let mut frame = vec![0; at + udp::HEADER_BYTES + PAYLOAD_BYTES];
    ethernet::Header { destination, source, ethertype: header.ethertype() }.emit(&mut frame);
    header.emit(&mut frame[HEADER_BYTES..], udp::HEADER_BYTES + PAYLOAD_BYTES);
    udp::emit(header, Ports { source: 10_000 + flow, destination: 10_000 }, &mut frame[at..]);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, Simulation};

    const TEXT: &str = "duration = \"1s\"\n[topology]\nkind = \"chain\"\nswitches = 2\nhosts_per_switch = 2\n\
                        [switches]\nprogram = \"p.p4\"\ntiming = \"software\"\ncost = \"measured\"\n\
                        [switch.s2]\ningress_latency = \"1us\"\n";

    fn scenario() -> Scenario {
        Scenario::read(TEXT, &[], &|name| Err(name.to_owned())).unwrap()
    }

    #[test]
    fn a_cost_that_was_measured_is_as_one_that_was_written() {
        let mut measured = scenario();
        assert_eq!(measured.unmeasured(), [0, 1]);
        measured.set_cost(0, Time::from_ns(80));
        measured.set_cost(1, Time::from_ns(80));
        assert!(measured.unmeasured().is_empty());
        let written = Scenario::read(TEXT, &["switches.cost=80ns".to_owned()], &|name| Err(name.to_owned())).unwrap();
        assert_eq!(measured.switches, written.switches);
        assert_eq!(measured.channels, written.channels);
    }

    #[test]
    fn frames_come_in_where_their_senders_are_and_leave_elsewhere() {
        let scenario = scenario();
        let frames = scenario.frames_through(0);
        // h1 and h2 at the ports 1 and 2 to three others each, those behind port 3 to h1 and h2.
        let count = |port: u32| frames.iter().filter(|(it, _)| *it == port).count() / usize::from(FLOWS);
        assert_eq!([count(1), count(2), count(3)], [3, 3, 4]);
        for (port, frame) in &frames {
            let (header, packet) = ethernet::Header::parse(frame).unwrap();
            assert_eq!(header.destination, Topology::port_mac(0, *port));
            let (ip, transport) = ip::Header::parse(header.ethertype, packet).unwrap();
            assert_eq!(udp::parse(&ip, transport).unwrap().1, [0; PAYLOAD_BYTES]);
        }
    }

    #[test]
    fn nothing_runs_with_a_cost_that_is_not_known() {
        let refused = Simulation::new(scenario(), 1, &mut |_, _| Err(String::new())).err().unwrap().to_string();
        assert!(refused.contains("switch s1") && refused.contains("cost = \"80ns\""), "{refused}");
    }
}
