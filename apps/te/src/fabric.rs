//! The tables of the baselines (`fabric.p4`): addresses, marks, a routing group with all ports that lead up, and for
//! HULA the leaves and the ways of probes.

use crate::order::{Match, Order};
use crate::place::{Behind, Place};

/// What a fabric of baselines is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricSettings {
    /// The pause after which a flow begins a flowlet.
    pub flowlet_us: u64,
    /// Packets in a queue from which on others are marked; `None` for never.
    pub mark_from: Option<u64>,
    /// HULA: the span of the estimator is 2 to the power of this in microseconds.
    pub span_shift: u8,
    /// HULA: after so long without probes another way is taken.
    pub age_us: u64,
}

/// The greatest queue that the program can tell.
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

/// What HULA needs beside that: leaves by their addresses, the own number, the ways of probes.
pub fn set_up_probes(place: &Place, settings: &FabricSettings) -> Vec<Order> {
    let args = vec![place.leaf.unwrap_or(0).into(), settings.span_shift.into(), settings.age_us.into()];
    let mut orders = vec![Order::Default { table: "hula", action: "set_hula", args }];
    orders.extend(place.leaves.iter().map(|(leaf, prefix)| Order::Entry {
        table: "leaves",
        key: Match::Prefix(prefix.address, prefix.bits),
        class: None,
        action: "set_leaf",
        args: vec![(*leaf).into()],
        rates: None,
    }));
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
/// What DRILL needs: the ports that lead up by numbers, and what leaves by them. Packets of so many bytes on average
/// leave where meters count packets.
pub fn set_up_choices(place: &Place, packet_bytes: Option<u64>) -> Vec<Order> {
    let count = place.up().count() as u128;
    let mut orders = vec![Order::Default { table: "choices", action: "set_ports", args: vec![count] }];
    let entry = |table, key: u64, action, arg: u64| Order::Entry {
        table,
        key: Match::Exact(key.into()),
        class: None,
        action,
        args: vec![arg.into()],
        rates: None,
    };
    for (number, port) in (0..).zip(place.up()) {
        let bytes_per_s = port.units_per_s * packet_bytes.unwrap_or(1);
        orders.push(entry("candidates", number, "set_candidate", port.number.into()));
        orders.push(entry("drains", port.number.into(), "set_drain", (bytes_per_s << 10) / 1_000_000));
    }
    orders
}

/// The multicast group of probes of the switch's own controller.
const PROBES_OF_CONTROLLER: u32 = 1;
/// Those of probes from a port are this and its number.
const PROBES_OF_PORT: u32 = 1_000;
