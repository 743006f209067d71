//! Where packets were lost, and why: a table.
//!
//! What enters: a run. What leaves: a line for each place and reason with packets, the warm-up included. Places are
//! channels, routers, switches that run a program, their queues, and hosts.

use crate::build::Simulation;
use sim::channel::ChannelDrop;
use sim::external::ExternalHost;
use sim::host::{Host, StackCounters};
use sim::router::Router;
use sim::switch_node::SwitchNode;
use std::fmt::Write as _;
use switch::DropReason;

/// The table, which may have no lines.
pub(super) fn table(simulation: &Simulation) -> String {
    let mut table = Table(String::from("kind,place,reason,packets\n"));
    channels(simulation, &mut table);
    switches(simulation, &mut table);
    hosts(simulation, &mut table);
    table.0
}

struct Table(String);

impl Table {
    fn add(&mut self, kind: &str, place: &str, reason: &str, packets: u64) {
        if packets > 0 {
            let _ = writeln!(self.0, "{kind},{place},{reason},{packets}");
        }
    }
}

fn channels(simulation: &Simulation, table: &mut Table) {
    for (index, channel) in simulation.network.channels().iter().enumerate() {
        let counters = simulation.network.counters(index);
        for reason in ChannelDrop::ALL {
            table.add("channel", &channel.name, reason.name(), counters.drops[reason as usize]);
        }
    }
}

fn switches(simulation: &Simulation, table: &mut Table) {
    for (id, switch) in simulation.switches.iter().zip(&simulation.scenario.topology.switches) {
        if let Some(router) = simulation.network.node::<Router>(*id) {
            let it = router.counters();
            for (reason, packets) in [("no_route", it.no_route), ("expired", it.expired), ("ignored", it.ignored)] {
                table.add("router", &switch.name, reason, packets);
            }
        }
        if let Some(node) = simulation.network.node::<SwitchNode>(*id) {
            program(table, &switch.name, node);
        }
    }
}

fn program(table: &mut Table, name: &str, node: &SwitchNode) {
    if let Some(pipeline) = node.pipeline() {
        table.add("switch", name, "pipeline", pipeline.dropped);
    }
    let mut of_queues = 0;
    for queue in node.core().queues() {
        let place = format!("{name}:{}:{}", queue.port, queue.priority);
        table.add("queue", &place, DropReason::QueueFull.name(), queue.refused_packets);
        of_queues += queue.refused_packets;
    }
    for reason in DropReason::ALL {
        let drops = node.core().stats().drops(reason);
        // What no queue of a port has refused was refused by an internal port.
        let drops = if reason == DropReason::QueueFull { drops.saturating_sub(of_queues) } else { drops };
        table.add("switch", name, reason.name(), drops);
    }
    table.add("switch", name, "no_link", node.counters().no_link);
}

fn hosts(simulation: &Simulation, table: &mut Table) {
    for (id, host) in simulation.hosts.iter().zip(&simulation.scenario.topology.hosts) {
        if let Some(external) = simulation.network.node::<ExternalHost>(*id) {
            let it = external.counters();
            table.add("host", &host.name, "send_queue_full", it.sent_dropped);
            table.add("host", &host.name, "not_fetched", it.received_dropped);
        }
    }
    for host in simulation.hosts.iter().filter_map(|id| simulation.network.node::<Host>(*id)) {
        let it: &StackCounters = host.counters();
        for (reason, packets) in [
            ("malformed", it.malformed),
            ("wrong_checksum", it.wrong_checksum),
            ("incomplete", it.incomplete),
            ("for_others", it.for_others),
            ("unknown_protocol", it.unknown_protocol),
            ("no_listener", it.no_listener),
            ("unreachable", it.unreachable),
        ] {
            table.add("host", &host.config().name, reason, packets);
        }
    }
}
