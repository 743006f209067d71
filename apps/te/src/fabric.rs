//! The tables of the baselines (`fabric.p4`): addresses, marks, a routing group with all ports that lead up, and for
//! HULA the leaves and the ways of probes.

use crate::order::{Match, Order};
use crate::place::{Behind, Place, Prefix};

/// What a fabric of baselines is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricSettings {
    /// The pause after which a flow begins a flowlet.
    pub flowlet_us: u64,
    /// Packets in a queue from which on others are marked; `None` for never.
    pub mark_from: Option<u64>,
    /// HULA and CONGA: the span of the estimator is 2 to the power of this in microseconds.
    pub span_shift: u8,
    /// HULA: after this time without probes another path is taken. CONGA: how long reports count.
    pub age_us: u64,
}

/// The greatest queue depth that the program can see.
const NEVER: u64 = 0x7_ffff;

/// The table of ports that lead up.
const UP: &str = "up";

/// All orders for a switch, for any of the schemes but HULA's probes.
pub fn set_up(place: &Place, settings: &FabricSettings) -> Vec<Order> {
    let mut orders = vec![
        Order::Default { table: "flowlets", action: "set_gap", args: vec![settings.flowlet_us.into()] },
        Order::Default {
            table: "marking",
            action: "set_marks",
            args: vec![settings.mark_from.unwrap_or(NEVER).into()],
        },
    ];
    down(place, &mut orders);
    let ports: Vec<u32> = place.up().map(|port| port.number).collect();
    orders.extend(ports.iter().map(|port| Order::Member { table: UP, action: "use_port", port: *port }));
    if !ports.is_empty() {
        orders.push(Order::Group { table: UP, group: 1, ports, is_new: true });
        orders.extend(place.common.iter().map(|prefix| Order::Route {
            table: UP,
            key: Match::Masked(prefix.address, prefix.bits),
            priority: 1,
            group: 1,
            is_new: true,
        }));
    }
    for (leaf, prefixes, lost) in place.cut_off() {
        orders.extend(avoid(place, leaf, &prefixes, &lost));
    }
    orders
}

/// A group of its own for a leaf that some ports do not lead to.
pub fn avoid(place: &Place, leaf: u32, prefixes: &[Prefix], lost: &[u32]) -> Vec<Order> {
    let ports: Vec<u32> = place.up().map(|port| port.number).filter(|port| !lost.contains(port)).collect();
    let group = leaf + 1;
    let mut orders = vec![Order::Group { table: UP, group, ports, is_new: true }];
    orders.extend(prefixes.iter().map(|prefix| Order::Route {
        table: UP,
        key: Match::Masked(prefix.address, prefix.bits),
        priority: 2,
        group,
        is_new: true,
    }));
    orders
}

/// The entries of addresses below.
pub fn down(place: &Place, orders: &mut Vec<Order>) {
    for port in place.ports.iter().filter(|port| port.behind != Behind::Up) {
        let [own, other] = port.addresses.map(u128::from);
        orders.extend(port.prefixes.iter().map(|prefix| Order::Entry {
            table: "down",
            key: Match::Prefix(prefix.address, prefix.bits),
            class: None,
            action: "deliver",
            args: vec![port.number.into(), own, other],
            rates: None,
        }));
    }
}

/// Leaves by their addresses.
fn leaves(place: &Place) -> impl Iterator<Item = Order> + '_ {
    place.leaves.iter().map(|(leaf, prefix)| Order::Entry {
        table: "leaves",
        key: Match::Prefix(prefix.address, prefix.bits),
        class: None,
        action: "set_leaf",
        args: vec![(*leaf).into()],
        rates: None,
    })
}

fn span(settings: &FabricSettings) -> Order {
    Order::Default { table: "estimator", action: "set_span", args: vec![settings.span_shift.into()] }
}

/// What HULA needs beside that: leaves by their addresses, the own number, the ways of probes.
pub fn set_up_probes(place: &Place, settings: &FabricSettings) -> Vec<Order> {
    let args = vec![place.leaf.unwrap_or(0).into(), settings.age_us.into()];
    let mut orders = vec![Order::Default { table: "hula", action: "set_hula", args }, span(settings)];
    orders.extend(leaves(place));
    let fastest = place.ports.iter().map(|port| port.units_per_s).max().unwrap_or(1);
    let slower = place.ports.iter().filter(|port| port.units_per_s > 0 && port.units_per_s < fastest);
    orders.extend(slower.map(|port| Order::Entry {
        table: "capacities",
        key: Match::Exact(port.number.into()),
        class: None,
        action: "set_scale",
        args: vec![u128::from(fastest) * FULL_SCALE / u128::from(port.units_per_s)],
        rates: None,
    }));
    // Probes from the controller go up everywhere; those from below to all others below and up; those from above down.
    let switches: Vec<_> = place.ports.iter().filter(|port| port.behind != Behind::Host).collect();
    let group = |group: u32, ports: Vec<u32>| Order::Multicast {
        group: group.into(),
        replicas: ports.into_iter().map(|port| (port, 0)).collect(),
    };
    orders.push(group(PROBES_OF_CONTROLLER, place.up().map(|port| port.number).collect()));
    for port in &switches {
        let goes = |other: &&&crate::place::Port| {
            other.number != port.number && (port.behind == Behind::Down || other.behind == Behind::Down)
        };
        let ports = switches.iter().filter(goes).map(|other| other.number).collect();
        orders.push(group(PROBES_OF_PORT + port.number, ports));
    }
    orders
}

/// The scale of the fastest ports (`hula.p4`).
const FULL_SCALE: u128 = 256;

/// What CONGA needs: leaves by their addresses, the own number, the uplinks, what a level is on each port. Packets have
/// `packet_bytes` bytes on average where meters count packets.
pub fn set_up_reports(place: &Place, settings: &FabricSettings, packet_bytes: Option<u64>) -> Vec<Order> {
    let count = place.up().count() as u128;
    let own = place.leaf.unwrap_or(0);
    let args = vec![own.into(), settings.age_us.into(), 1 << settings.span_shift, count];
    let mut orders = vec![Order::Default { table: "conga", action: "set_conga", args }, span(settings)];
    orders.extend(leaves(place));
    orders.extend(candidates(place));
    for port in place.ports.iter().filter(|port| port.units_per_s > 0) {
        let bytes_per_s = u128::from(port.units_per_s * packet_bytes.unwrap_or(1));
        let span_bytes = ((bytes_per_s << settings.span_shift) / 1_000_000).max(1);
        orders.push(entry("levels", port.number.into(), "set_level", (LEVELS << LEVEL_SHIFT) / span_bytes));
    }
    orders.extend(place.unreachable.iter().map(|(leaf, port)| blocked(*leaf, *port)));
    orders
}

/// An uplink does not lead to a leaf (CONGA).
pub fn blocked(leaf: u32, port: u32) -> Order {
    Order::Entry {
        table: "blocked",
        key: Match::Exact(leaf.into()),
        class: Some(port as u8),
        action: "block",
        args: Vec::new(),
        rates: None,
    }
}

/// Levels of congestion, and the shift of their factors (`conga.p4`).
const LEVELS: u128 = 8;
const LEVEL_SHIFT: u32 = 24;

fn entry(table: &'static str, key: u64, action: &'static str, arg: u128) -> Order {
    Order::Entry { table, key: Match::Exact(key.into()), class: None, action, args: vec![arg], rates: None }
}

/// The ports that lead up, by numbers from 0 on.
fn candidates(place: &Place) -> impl Iterator<Item = Order> + '_ {
    (0..).zip(place.up()).map(|(number, port)| entry("candidates", number, "set_candidate", port.number.into()))
}

/// What HULA with controllers that poll needs: leaves by their addresses.
pub fn set_up_polling(place: &Place) -> Vec<Order> {
    leaves(place).collect()
}

/// What DRILL needs: the ports that lead up by numbers, and what leaves by them. Packets of `packet_bytes` bytes on
/// average leave where meters count packets.
pub fn set_up_choices(place: &Place, packet_bytes: Option<u64>) -> Vec<Order> {
    let count = place.up().count() as u128;
    let mut orders = vec![Order::Default { table: "choices", action: "set_ports", args: vec![count] }];
    orders.extend(candidates(place));
    for port in place.up() {
        let bytes_per_s = port.units_per_s * packet_bytes.unwrap_or(1);
        orders.push(entry("drains", port.number.into(), "set_drain", ((bytes_per_s << 10) / 1_000_000).into()));
    }
    orders
}

/// The multicast group of probes of the switch's own controller.
const PROBES_OF_CONTROLLER: u32 = 1;
/// Those of probes from a port are this and its number.
const PROBES_OF_PORT: u32 = 1_000;
