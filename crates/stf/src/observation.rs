//! What a switch did: the packets and messages it sent, the contents of its registers and counters, the lookups in
//! its tables.

use base::index::Id as _;
use base::{Bits, OrderedMap};
use ir::DigestId;
use std::fmt::Debug;
use switch::externs::{CounterCell, TableUse};
use switch::{DropReason, Output, Switch};

/// Everything observable of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// What was sent, per port.
    pub sent: OrderedMap<u32, Vec<Vec<u8>>>,
    /// Digests, log lines and failed assertions.
    pub messages: Vec<String>,
    /// The cells of registers that are not zero, by register and index.
    pub registers: OrderedMap<(usize, u64), Bits>,
    /// The cells of counters that have counted: those of arrays, then those of direct counters.
    pub counters: OrderedMap<(usize, usize), (u64, u64)>,
    /// How often each table was looked up.
    pub table_uses: OrderedMap<usize, TableUse>,
    /// When entries of tables that support idle timeouts were last hit, by table and handle.
    pub last_hits_ns: OrderedMap<(usize, usize), u64>,
    /// Packets that were dropped, by reason.
    pub drops: OrderedMap<DropReason, u64>,
}

impl Output for Observation {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.sent.entry(port).or_default().push(frame.to_vec());
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.messages.push(format!("digest {} {values:?}", digest.index()));
    }

    fn log(&mut self, line: &str) {
        self.messages.push(format!("log {line}"));
    }

    fn assertion_failed(&mut self, text: &str) {
        self.messages.push(format!("assertion failed: {text}"));
    }
}

impl Observation {
    /// Adds the state of the switch after the run.
    pub fn look_at(&mut self, switch: &mut Switch) {
        let externs = switch.externs_mut();
        for (id, register) in externs.registers.iter_enumerated() {
            self.registers.extend(register.cells_in_use().map(|(index, value)| ((id.index(), index), value)));
        }
        let arrays = externs.counters.iter().chain(externs.direct_counters.iter());
        for (number, cells) in arrays.enumerate() {
            for (index, CounterCell { packets, bytes }) in cells.iter().enumerate().filter(|(_, cell)| cell.packets > 0)
            {
                self.counters.insert((number, index), (*packets, *bytes));
            }
        }
        for (id, asked) in externs.table_uses.iter_enumerated() {
            self.table_uses.insert(id.index(), *asked);
            let times = (0..).zip(&externs.last_hits_ns[id]).filter(|(_, time_ns)| **time_ns > 0);
            self.last_hits_ns.extend(times.map(|(handle, time_ns)| ((id.index(), handle), *time_ns)));
        }
        for reason in DropReason::ALL {
            self.drops.insert(reason, switch.stats().drops(reason));
        }
    }
}

/// Whether the packets of a port, and the messages, must have the same order in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// They must.
    Same,
    /// They need not: in a burst, packets with several passes may be overtaken by others.
    Any,
}

/// The first difference; `None` if there is none.
pub fn difference(left: &Observation, right: &Observation, order: Order) -> Option<String> {
    let (mut left, mut right) = (left.clone(), right.clone());
    if order == Order::Any {
        for side in [&mut left, &mut right] {
            side.sent.values_mut().for_each(|frames| frames.sort());
            side.messages.sort();
        }
    }
    let ports = left.sent.keys().chain(right.sent.keys());
    let sent = |side: &Observation, port| side.sent.get(port).cloned().unwrap_or_default();
    for port in ports {
        let found = first(&format!("port {port}, packet"), &sent(&left, port), &sent(&right, port));
        if found.is_some() {
            return found;
        }
    }
    first("message", &left.messages, &right.messages)
        .or_else(|| first("register", &items(&left.registers), &items(&right.registers)))
        .or_else(|| first("counter", &items(&left.counters), &items(&right.counters)))
        .or_else(|| first("use of table", &items(&left.table_uses), &items(&right.table_uses)))
        .or_else(|| first("last hit of entry", &items(&left.last_hits_ns), &items(&right.last_hits_ns)))
        .or_else(|| first("drop reason", &items(&left.drops), &items(&right.drops)))
}

fn items<K: Clone, V: Clone>(map: &OrderedMap<K, V>) -> Vec<(K, V)> {
    map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn first<T: PartialEq + Debug>(what: &str, left: &[T], right: &[T]) -> Option<String> {
    (0..left.len().max(right.len())).find(|&index| left.get(index) != right.get(index)).map(|index| {
        format!(
            "{what} {index}:\n  {:02x?}\n  {:02x?}\n({} against {} in all)",
            left.get(index),
            right.get(index),
            left.len(),
            right.len()
        )
    })
}
