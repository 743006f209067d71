//! What is ordered first: parameters, meters, addresses, copies, routing groups.

use crate::priorities::Priorities;
use crate::settings::Settings;
use te::fabric::down;
use te::{Behind, Match, Order, Place};

/// Classes of flows as `headers.p4` has them: what is neither, short, large. The second of each is its meter.
const CLASSES: [(u8, usize); 3] = [(0x00, 0), (0x08, 0), (0x10, 1)];
/// The fourth value of the two bits.
const BOTH: (u8, usize) = (0x18, 0);

/// The number of a copy for the controller, for the colours of ports, for a sender.
const COPIES: [u64; 3] = [1, TO_COLOURS, 3];
const TO_COLOURS: u64 = 2;

/// The greatest queue depth that the program can see.
const NEVER: u32 = 0x7_ffff;

/// All orders for a switch behind whose port `cpu_port` the controller is, and the state of its routing groups.
pub fn set_up(place: &Place, settings: &Settings, cpu_port: u32) -> (Priorities, Vec<Order>) {
    let default = |table, action, args: &[u64]| Order::Default {
        table,
        action,
        args: args.iter().copied().map(u128::from).collect(),
    };
    let controls = u64::from(settings.control_window > 0);
    let mut orders = vec![
        default("flowlets", "set_gap", &[settings.flowlet_us]),
        default("monitoring", "set_monitoring", &[settings.delta.into(), controls]),
    ];
    if place.leaf.is_some() {
        orders.push(default("rate_control", "set_control_window", &[settings.control_window.into()]));
    }
    down(place, &mut orders);
    orders.extend(place.ports.iter().flat_map(|port| meters(port, settings)));
    // A session for each set of copies: its number has a bit for each.
    orders.extend((1..8).map(|session: u32| {
        let is_wanted = |rid: u64| rid != TO_COLOURS || settings.measures.has_colours();
        let has = |(bit, rid): (usize, &u64)| (session >> bit & 1 == 1 && is_wanted(*rid)).then_some((cpu_port, *rid));
        Order::Session { session, replicas: COPIES.iter().enumerate().filter_map(has).collect() }
    }));
    let ports: Vec<u32> = place.up().map(|port| port.number).collect();
    let mut priorities = Priorities::new(settings.clone(), place.common.clone(), &ports);
    for (_, prefixes, lost) in place.cut_off() {
        priorities.avoid(prefixes, &lost);
    }
    if !ports.is_empty() {
        orders.extend(priorities.orders());
    }
    (priorities, orders)
}

/// The meters of a port: of its link, and of each class that comes in.
fn meters(port: &te::Port, settings: &Settings) -> Vec<Order> {
    let mark_from = settings.mark_from.unwrap_or(NEVER);
    let mut orders = vec![Order::Entry {
        table: "links",
        key: Match::Exact(port.number.into()),
        class: None,
        action: "set_marks",
        args: vec![mark_from.into()],
        rates: settings.needs_colours().then(|| settings.utilisation(port.units_per_s)),
    }];
    let action = if port.behind == Behind::Host { "from_host" } else { "from_switch" };
    orders.extend(CLASSES.into_iter().chain([BOTH]).map(|(class, meter)| Order::Entry {
        table: "incoming",
        key: Match::Exact(port.number.into()),
        class: Some(class),
        action,
        args: Vec::new(),
        rates: Some(settings.safe_rate(meter, port.units_per_s_in)),
    }));
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Measures;

    /// Reports that decide nothing would be most of what the controller gets.
    #[test]
    fn links_are_metered_if_colours_matter() {
        let port = te::Port {
            number: 1,
            behind: Behind::Up,
            units_per_s: 1_000_000,
            units_per_s_in: 1_000_000,
            prefixes: Vec::new(),
            addresses: [1, 2],
        };
        let is_metered = |measures, control_window| {
            let settings = Settings { measures, control_window, ..Settings::default() };
            matches!(meters(&port, &settings)[0], Order::Entry { table: "links", rates: Some(_), .. })
        };
        assert!(is_metered(Measures::Both, 0));
        assert!(is_metered(Measures::QueueOnly, 5_000));
        assert!(is_metered(Measures::Neither, 5_000));
        assert!(!is_metered(Measures::QueueOnly, 0));
    }
}
