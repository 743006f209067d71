//! What switches have counted, as tables: the warm-up included.

use crate::build::Simulation;
use sim::channel::ChannelDrop;
use sim::device::QueuePlace;
use sim::network::NodeId;
use sim::pipeline::PipelineCounters;
use sim::router::Router;
use sim::switch_node::SwitchNode;
use std::fmt::Write as _;
use switch::{DropReason, InternalPort, InternalPortState, QueueCounts, QueueState};

/// A line for each switch.
pub(super) fn switches(simulation: &Simulation) -> String {
    let mut text =
        String::from("switch,kind,received,sent,no_route,expired,ignored,errors,no_link,digests,copies,passes");
    DropReason::ALL.iter().for_each(|reason| text += &format!(",dropped_{}", reason.name()));
    text += ",pipeline_dropped,pipeline_wait_mean_ns,pipeline_queue_max_packets,commands,commands_refused";
    for port in InternalPort::ALL {
        let name = port.name();
        text += &format!(",{name}_packets,{name}_bytes,{name}_dropped,{name}_queue_max_packets");
    }
    text.push('\n');
    let columns_of_programs = 9 + DropReason::ALL.len() + 4 * InternalPort::ALL.len();
    for (id, switch) in simulation.switches.iter().zip(&simulation.scenario.topology.switches) {
        let name = &switch.name;
        if let Some(router) = simulation.network.node::<Router>(*id) {
            let it = router.counters();
            let received = it.forwarded + it.no_route + it.expired + it.ignored;
            let _ = write!(text, "{name},router,{received},{},{},{},", it.forwarded, it.no_route, it.expired);
            let _ = writeln!(text, "{},{}{}", it.ignored, it.errors, ",".repeat(columns_of_programs));
        }
        if let Some(node) = simulation.network.node::<SwitchNode>(*id) {
            let refused = if node.queue_place() == QueuePlace::Behind { refused(simulation, *id) } else { 0 };
            program(&mut text, name, node, refused);
        }
    }
    text
}

/// Packets that the queues at a node's links have refused.
fn refused(simulation: &Simulation, id: NodeId) -> u64 {
    let channels = simulation.network.channels().iter().enumerate().filter(|(_, channel)| channel.from.node == id);
    channels.map(|(index, _)| simulation.network.counters(index).drops[ChannelDrop::Queue as usize]).sum()
}

/// The line of a switch that runs a program. Queues at its links have refused `refused` packets that the core has sent.
fn program(text: &mut String, name: &str, node: &SwitchNode, refused: u64) {
    let (stats, counters) = (node.core().stats(), node.counters());
    let _ = write!(text, "{name},program,{},{},,,,,", stats.received, stats.sent - refused);
    let _ = write!(text, "{},{},{},{}", counters.no_link, counters.digests, stats.copies, stats.passes);
    for reason in DropReason::ALL {
        let behind = if reason == DropReason::QueueFull { refused } else { 0 };
        let _ = write!(text, ",{}", stats.drops(reason) + behind);
    }
    match node.pipeline() {
        Some(PipelineCounters { packets, waited_ps, queue_packets_max, dropped }) => {
            let mean_ns = *waited_ps as f64 / 1e3 / (*packets).max(1) as f64;
            let _ = write!(text, ",{dropped},{mean_ns:.3},{queue_packets_max}");
        }
        None => *text += ",,,",
    }
    let _ = write!(text, ",{},{}", counters.commands, counters.commands_refused);
    for port in InternalPort::ALL {
        match node.core().internal_ports().find(|(it, _)| *it == port) {
            Some((_, InternalPortState { packets, bytes, refused_packets, depth_packets_max })) => {
                let _ = write!(text, ",{packets},{bytes},{refused_packets},{depth_packets_max}");
            }
            None => *text += ",,,,",
        }
    }
    text.push('\n');
}

/// A line for each queue of a switch with a program that has a rate and had packets; none if there is no such queue. A
/// queue that is at the link is shown as one of the switch, unless the switch has others, too.
pub(super) fn queues(simulation: &Simulation) -> Option<String> {
    let mut text = String::from(
        "switch,port,priority,packets,bytes,dropped,queue_mean_packets,queue_max_packets,queue_max_bytes,wait_mean_ns\n",
    );
    let mut is_empty = true;
    let now_ns = simulation.network.now().ns();
    for (id, switch) in simulation.switches.iter().zip(&simulation.scenario.topology.switches) {
        let Some(node) = simulation.network.node::<SwitchNode>(*id) else { continue };
        if node.queue_place() == QueuePlace::Behind {
            is_empty &= !queues_behind(&mut text, simulation, *id, &switch.name);
            continue;
        }
        for queue in node.core().queues().filter(|it| it.is_paced && it.counts.packets + it.refused_packets > 0) {
            let QueueState { port, priority, refused_packets, counts, .. } = queue;
            let QueueCounts { packets, bytes, waited_ns, depth_packets_max, depth_bytes_max, .. } = counts;
            let _ = write!(text, "{},{port},{priority},{packets},{bytes},{refused_packets},", switch.name);
            let (mean, wait_ns) = (queue.depth_mean(now_ns), waited_ns as f64 / packets.max(1) as f64);
            let _ = writeln!(text, "{mean:.6},{depth_packets_max},{depth_bytes_max},{wait_ns:.3}");
            is_empty = false;
        }
    }
    (!is_empty).then_some(text)
}

/// The queues of a switch that are at its links. Returns whether there are some.
fn queues_behind(text: &mut String, simulation: &Simulation, id: NodeId, name: &str) -> bool {
    let network = &simulation.network;
    let now_ps = network.now().ps().max(1) as f64;
    let mut rows = Vec::new();
    for (index, _) in network.channels().iter().enumerate().filter(|(_, channel)| channel.from.node == id) {
        let counters = network.counters(index);
        let dropped = counters.drops[ChannelDrop::Queue as usize];
        if network.transmitter(index).config().bits_per_s == 0 || counters.packets + dropped == 0 {
            continue;
        }
        let [end, other] = simulation.scenario.topology.links[index / 2].ends;
        let (_, port) = if index % 2 == 0 { end } else { other };
        let (mean, wait_ps) =
            (counters.queueing_ps as f64 / now_ps, counters.queueing_ps as f64 / counters.packets.max(1) as f64);
        let (packets, bytes) = (counters.packets, counters.bytes);
        let (deepest, most_bytes) = (counters.queue_packets_max, counters.queue_bytes_max);
        let row = format!("{dropped},{mean:.6},{deepest},{most_bytes},{:.3}", wait_ps / 1e3);
        rows.push((port, format!("{name},{port},0,{packets},{bytes},{row}\n")));
    }
    rows.sort();
    rows.iter().for_each(|(_, row)| *text += row);
    !rows.is_empty()
}
