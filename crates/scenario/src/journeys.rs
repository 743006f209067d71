//! The journeys of a flow's packets through the network, for people.
//!
//! What enters: the number of a flow, and the records of a run in their order. What leaves: for each packet of either
//! direction, in the order of sending, what happened to it at each node, with the steps of programs.

use crate::build::Simulation;
use crate::check::facts::Facts;
use crate::resolve::FlowKind;
use base::OrderedMap;
use sim::record::{Event, Record, Recording, is_traced, origin};
use sim::time::Time;
use sim::wire::flow::FlowKey;
use sim::wire::{icmp, ip};
use std::fmt::Write as _;

/// The most packets that are traced: the first ones.
const PACKETS_MAX: usize = 10_000;

/// The journeys of packets.
pub struct Journeys {
    facts: Facts,
    flow: FlowKey,
    /// By node.
    ingress_latencies: Vec<Time>,
    /// By the time at which a packet was sent, and its label.
    packets: OrderedMap<(Time, u64), String>,
    /// By label: when it was sent, and when something happened to it last.
    sent: OrderedMap<u64, (Time, Time)>,
    left_out: u64,
}

impl Journeys {
    /// Those of a flow of a run that has not begun yet; `None` if there is no such flow.
    pub fn new(simulation: &Simulation, flow: usize) -> Option<Journeys> {
        let (plan, ports) = (simulation.scenario.flows.get(flow)?, simulation.flow_ports.get(flow)?);
        let address = |host: usize| {
            let mut own = simulation.scenario.topology.hosts[host].addresses.iter();
            own.find(|it| it.ip.is_ipv6() == plan.is_v6).map(|it| it.ip)
        };
        let (source, destination) = (address(plan.from)?, address(plan.to)?);
        let (protocol, ports) = match plan.kind {
            FlowKind::Udp { .. } => (ip::UDP, (ports.source, ports.destination)),
            FlowKind::Ping { .. } => (icmp::protocol(source), (ports.source, ports.source)),
            FlowKind::Tcp { .. } => (ip::TCP, (ports.source, ports.destination)),
        };
        let flow = FlowKey { source, destination, protocol, ports };
        let facts = Facts::of(simulation);
        let mut ingress_latencies = vec![Time::ZERO; simulation.hosts.len() + simulation.switches.len()];
        for (node, plan) in simulation.switches.iter().zip(&simulation.scenario.switches) {
            ingress_latencies[node.0 as usize] = plan.ingress_latency;
        }
        Some(Journeys {
            facts,
            flow,
            ingress_latencies,
            packets: OrderedMap::new(),
            sent: OrderedMap::new(),
            left_out: 0,
        })
    }

    /// What has to be recorded for them.
    pub fn recording(&self) -> Recording {
        Recording { follows: true, traced: vec![self.flow], ..Recording::default() }
    }

    /// Takes what has happened since the last call.
    pub fn take(&mut self, records: &[Record]) {
        records.iter().filter(|record| is_traced(record.label)).for_each(|record| self.take_one(record));
    }

    fn take_one(&mut self, record: &Record) {
        if let Event::Sent { identity: Some(identity), .. } = &record.event
            && origin(record.label) == Some(record.node)
        {
            if self.packets.len() >= PACKETS_MAX {
                self.left_out += 1;
                return;
            }
            self.sent.insert(record.label, (record.time, record.time));
            let text = format!("{}, {} bytes of payload\n", identity.flow, identity.payload_bytes);
            self.packets.insert((record.time, record.label), text);
        }
        let mut lines = self.lines(record);
        let Some((sent, last)) = self.sent.get_mut(&record.label) else { return };
        let has_waited = std::mem::replace(last, record.time) != record.time;
        if has_waited && matches!(record.event, Event::Steps(_)) {
            lines.insert(0, format!("{}: {} goes on with it", record.time, self.facts.name(record.node)));
        }
        if let Some(packet) = self.packets.get_mut(&(*sent, record.label)) {
            lines.iter().for_each(|line| {
                let _ = writeln!(packet, "  {line}");
            });
        }
    }

    fn lines(&self, record: &Record) -> Vec<String> {
        let (time, node) = (record.time, self.facts.name(record.node));
        let channel = self.facts.channel(record);
        let line = match &record.event {
            Event::Sent { queued_packets: 0, .. } => format!("{node} sends it on {channel}"),
            Event::Sent { queued_packets, .. } => {
                format!("{node} sends it on {channel} ({queued_packets} queued)")
            }
            Event::Arrived { .. } => {
                let latency = self.ingress_latencies.get(record.node.0 as usize).copied().unwrap_or(Time::ZERO);
                return vec![format!("{}: {node} gets it", time.since(latency))];
            }
            Event::Corrupted => format!("one of its bits is inverted on {channel}"),
            Event::Lost(loss) => format!("it is lost: {}", loss.describe()),
            Event::Steps(steps) => return steps.iter().map(|step| format!("  {step}")).collect(),
            Event::Captured(_) | Event::Queue(..) | Event::Waits => return Vec::new(),
        };
        vec![format!("{time}: {line}")]
    }

    /// The journeys as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, packet) in self.packets.values().enumerate() {
            let _ = write!(text, "{}packet {}: {packet}", if number == 0 { "" } else { "\n" }, number + 1);
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "\n{} later packets are left out", self.left_out);
        }
        text
    }

    /// How many packets there are.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use expect_test::{Expect, expect};

    /// The begin of the journeys of a flow.
    fn check(text: &str, flow: usize, expected: Expect) {
        let none = |name: &str| Err(format!("there is no file {name}"));
        let run = |threads| {
            let scenario = Scenario::read(text, &[], &none).unwrap_or_else(|faults| panic!("{faults:?}"));
            let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned())).unwrap();
            let mut journeys = Journeys::new(&simulation, flow).unwrap();
            assert!(Journeys::new(&simulation, 7).is_none());
            simulation.network.record(&journeys.recording());
            while !simulation.run_until(simulation.network.now() + Time::from_us(50)).unwrap() {
                journeys.take(&simulation.network.take_records());
            }
            journeys.take(&simulation.network.take_records());
            journeys.text()
        };
        let text = run(1);
        assert_eq!(run(2), text);
        expected.assert_eq(&text);
    }

    #[test]
    fn a_packet_comes_to_a_switch_when_its_last_bit_arrives() {
        check(
            &format!("{PAIR}[switch.s2]\ningress_latency = \"7us\"\n"),
            1,
            expect![[r#"
                packet 1: ICMP 10.1.1.2 to 10.2.1.2, identifier 10001, 56 bytes of payload
                  0s: h1 sends it on h1>s1 (1 queued)
                  14.608us: s1 gets it
                  14.608us: s1 sends it on s1>s2 (1 queued)
                  69.712us: s2 gets it
                  76.712us: s2 sends it on s2>h2
                  87.592us: h2 gets it

                packet 2: ICMP 10.2.1.2 to 10.1.1.2, identifier 10001, 56 bytes of payload
                  87.592us: h2 sends it on h2>s2
                  98.472us: s2 gets it
                  105.472us: s2 sends it on s2>s1
                  116.352us: s1 gets it
                  116.352us: s1 sends it on s1>h1
                  127.232us: h1 gets it
            "#]],
        );
    }

    const PAIR: &str = r#"
duration = "300us"
[topology]
kind = "dumbbell"
pairs = 1
rate = "1Gbps"
delay = "10us"
[link."s1>s2"]
rate = "100Mbps"
queue_packets = 1
[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "1Gbps"
count = 3
size = 400
[[flows]]
kind = "ping"
from = "h1"
to = "h2"
count = 1
"#;

    #[test]
    fn every_hop_of_every_packet_is_there() {
        check(
            PAIR,
            0,
            expect![[r#"
                packet 1: UDP 10.1.1.2 port 10000 to 10.2.1.2 port 10000, 400 bytes of payload
                  0s: h1 sends it on h1>s1
                  13.632us: s1 gets it
                  13.632us: s1 sends it on s1>s2
                  59.952us: s2 gets it
                  59.952us: s2 sends it on s2>h2
                  73.584us: h2 gets it

                packet 2: UDP 10.1.1.2 port 10000 to 10.2.1.2 port 10000, 400 bytes of payload
                  3.2us: h1 sends it on h1>s1 (2 queued)
                  18.336us: s1 gets it
                  18.336us: s1 sends it on s1>s2 (1 queued)
                  18.336us: it is lost: the queue was full

                packet 3: UDP 10.1.1.2 port 10000 to 10.2.1.2 port 10000, 400 bytes of payload
                  6.4us: h1 sends it on h1>s1 (1 queued)
                  22.064us: s1 gets it
                  22.064us: s1 sends it on s1>s2 (1 queued)
                  22.064us: it is lost: the queue was full
            "#]],
        );
        check(
            PAIR,
            1,
            expect![[r#"
                packet 1: ICMP 10.1.1.2 to 10.2.1.2, identifier 10001, 56 bytes of payload
                  0s: h1 sends it on h1>s1 (1 queued)
                  14.608us: s1 gets it
                  14.608us: s1 sends it on s1>s2 (1 queued)
                  69.712us: s2 gets it
                  69.712us: s2 sends it on s2>h2
                  80.592us: h2 gets it

                packet 2: ICMP 10.2.1.2 to 10.1.1.2, identifier 10001, 56 bytes of payload
                  80.592us: h2 sends it on h2>s2
                  91.472us: s2 gets it
                  91.472us: s2 sends it on s2>s1
                  102.352us: s1 gets it
                  102.352us: s1 sends it on s1>h1
                  113.232us: h1 gets it
            "#]],
        );
    }
}
