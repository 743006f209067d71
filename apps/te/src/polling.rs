//! HULA as a controller that polls: which uplink leads to each leaf.
//!
//! What enters: what the switch has counted of packets by leaf and uplink (`polled.p4`). What leaves: orders that set
//! for each leaf the uplink by which least was sent since the poll before. It knows nothing of what other switches
//! send.

use crate::order::Order;
use crate::place::Place;

/// The counter of the program.
pub const COUNTER: &str = "sent_to";

/// What a controller knows from its polls.
#[derive(Clone, Debug)]
pub struct Polling {
    leaves: Vec<Leaf>,
}

#[derive(Clone, Debug)]
struct Leaf {
    number: u32,
    /// The uplinks that lead there, with what was counted at the last poll.
    ports: Vec<(u32, u64)>,
    chosen: u32,
}

impl Polling {
    /// Before the first poll each leaf is behind another uplink.
    pub fn new(place: &Place) -> Polling {
        let mut numbers: Vec<u32> = place.leaves.iter().map(|(leaf, _)| *leaf).collect();
        numbers.dedup();
        let leaf = |number: u32| {
            let leads_there = |port: &u32| !place.unreachable.contains(&(number, *port));
            let up = place.up().map(|port| port.number);
            let ports: Vec<(u32, u64)> = up.filter(leads_there).map(|port| (port, 0)).collect();
            let chosen = ports.get(number as usize % ports.len().max(1))?.0;
            Some(Leaf { number, ports, chosen })
        };
        let others = numbers.into_iter().filter(|number| Some(*number) != place.leaf);
        Polling { leaves: others.filter_map(leaf).collect() }
    }

    /// What makes an empty switch have these paths.
    pub fn orders(&self) -> Vec<Order> {
        self.leaves.iter().map(Leaf::order).collect()
    }

    /// Some ports do not lead to a leaf any more.
    pub fn avoid(&mut self, leaf: u32, lost: &[u32]) -> Vec<Order> {
        let of_leaf = self.leaves.iter_mut().filter(|it| it.number == leaf);
        of_leaf.filter_map(|leaf| leaf.avoid(lost)).collect()
    }

    /// What was counted by cell until now, and the paths that change.
    pub fn poll(&mut self, counted: &dyn Fn(u64) -> u64) -> Vec<Order> {
        self.leaves.iter_mut().filter_map(|leaf| leaf.poll(counted)).collect()
    }
}

impl Leaf {
    fn order(&self) -> Order {
        Order::Register { register: "polled_port", index: self.number.into(), value: self.chosen.into() }
    }

    fn avoid(&mut self, lost: &[u32]) -> Option<Order> {
        self.ports.retain(|(port, _)| !lost.contains(port));
        let other = self.ports.first()?.0;
        lost.contains(&self.chosen).then(|| {
            self.chosen = other;
            self.order()
        })
    }

    /// Of ports that were used as little the next one in turn is chosen.
    fn poll(&mut self, counted: &dyn Fn(u64) -> u64) -> Option<Order> {
        let mut sent = Vec::new();
        for (port, before) in &mut self.ports {
            let now = counted(u64::from(self.number) * 32 + u64::from(*port));
            sent.push((now.saturating_sub(*before), *port));
            *before = now;
        }
        let next = sent.iter().position(|(_, port)| *port == self.chosen).map_or(0, |at| at + 1);
        let in_turn = sent[next..].iter().chain(&sent[..next]);
        let least = in_turn.min_by_key(|(sent, _)| *sent)?.1;
        let changes = least != self.chosen;
        self.chosen = least;
        changes.then(|| self.order())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{Behind, Port, Prefix};

    fn place() -> Place {
        let port = |number| Port {
            number,
            behind: Behind::Up,
            units_per_s: 1,
            units_per_s_in: 1,
            prefixes: Vec::new(),
            addresses: [1, 2],
        };
        let prefix = |text: &str| Prefix::new(text.parse().unwrap(), 16);
        Place {
            ports: vec![port(5), port(6), port(7)],
            common: Vec::new(),
            leaf: Some(1),
            leaves: vec![(1, prefix("10.1.0.0")), (2, prefix("10.2.0.0")), (2, prefix("fd00:2::"))],
            unreachable: vec![(2, 7)],
        }
    }

    #[test]
    fn the_uplink_that_was_used_least_is_next() {
        let mut polling = Polling::new(&place());
        let set = |value| Order::Register { register: "polled_port", index: 2, value };
        assert_eq!(polling.orders(), [set(5)]);
        let cell = |port: u64| 2 * 32 + port;
        assert_eq!(polling.poll(&|index| if index == cell(5) { 9 } else { 0 }), [set(6)]);
        // Port 7 does not lead there, however little it carries.
        let later = |index| if index == cell(5) { 12 } else { u64::from(index == cell(6)) * 4 };
        assert_eq!(polling.poll(&later), [set(5)]);
        // Both were not used: they take turns.
        assert_eq!(polling.poll(&later), [set(6)]);
        assert_eq!(polling.avoid(2, &[6]), [set(5)]);
        assert_eq!((polling.avoid(2, &[6]), polling.avoid(3, &[5])), (vec![], vec![]));
    }
}
