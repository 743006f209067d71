//! The desired state: the entries that a switch is to have.
//!
//! What enters: entries as commands, and the entries that a switch has. What leaves: the commands for the differences.
//! Each entry has metadata: [`OURS`], and a hash of its command. So what is there already is not written again, what an
//! earlier controller has written and is not desired is deleted, and entries of other origin stay.

use crate::logic::{Entry, Orders};
use base::{OrderedMap, OrderedSet};

/// The first byte of the metadata of entries that are compared with the desired ones.
pub const OURS: u8 = 2;

/// The desired entries.
#[derive(Debug, Default)]
pub struct Desired(OrderedMap<u64, Vec<String>>);

impl Desired {
    /// None.
    pub fn new() -> Desired {
        Desired::default()
    }

    /// One more: `TABLE KEY... do ACTION ARGUMENT...`, with its other attributes.
    pub fn add(&mut self, entry: impl Into<String>) {
        self.add_with(&[], entry);
    }

    /// One more, and commands that are written before it whenever it is.
    pub fn add_with(&mut self, before: &[String], entry: impl Into<String>) {
        let commands: Vec<String> = before.iter().cloned().chain([entry.into()]).collect();
        self.0.insert(hash(&commands), commands);
    }

    /// Whether there is an entry with the metadata of one that the switch has.
    fn has(&self, entry: &Entry) -> bool {
        number(entry).is_some_and(|number| self.0.contains_key(&number))
    }

    /// Deletes what is present and not desired, and adds what is desired and not present.
    pub fn apply(&self, present: &[Entry], orders: &mut Orders) {
        let ours = || present.iter().filter(|it| number(it).is_some());
        for entry in ours().filter(|it| !self.has(it)) {
            orders.command(format!("delete {} {}", entry.table, entry.name));
        }
        let found: OrderedSet<u64> = ours().filter_map(number).collect();
        for (number, commands) in self.0.iter().filter(|(number, _)| !found.contains(number)) {
            let Some((entry, before)) = commands.split_last() else { continue };
            for command in before {
                orders.command(command.clone());
            }
            orders.command(format!("add {entry} metadata {OURS:02x}{number:016x}"));
        }
    }
}

/// The hash in the metadata of an entry; `None` if it is of other origin.
fn number(entry: &Entry) -> Option<u64> {
    let [OURS, hash @ ..] = &entry.metadata[..] else { return None };
    Some(u64::from_be_bytes(hash.try_into().ok()?))
}

/// FNV-1a, which is the same in each build.
fn hash(lines: &[String]) -> u64 {
    let bytes = lines.iter().flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries as a switch has them after these orders.
    fn entries(orders: &mut Orders) -> Vec<Entry> {
        let entry = |line: &str| {
            let (rest, metadata) = line.strip_prefix("add ")?.split_once(" metadata ")?;
            let (keys, _) = rest.split_once(" do ")?;
            let (table, name) = keys.split_once(' ')?;
            let byte = |at: usize| u8::from_str_radix(&metadata[at..at + 2], 16).unwrap();
            let metadata = (0..metadata.len()).step_by(2).map(byte).collect();
            Some(Entry { table: table.to_owned(), name: name.to_owned().into(), metadata, ..Entry::default() })
        };
        orders.take_text().lines().filter_map(entry).collect()
    }

    #[test]
    fn only_differences_are_written() {
        let desired = |lines: &[&str]| {
            let mut desired = Desired::new();
            lines.iter().for_each(|line| desired.add_with(&["meters rate 1 reset".to_owned()], *line));
            desired
        };
        let mut orders = Orders::new();
        desired(&["route 10.0.0.0/8 do via 1", "hops 1 do forward 1"]).apply(&[], &mut orders);
        let mut present = entries(&mut orders);
        assert_eq!(present.len(), 2);
        // Others have written these.
        for metadata in [vec![], vec![1, 2], vec![OURS, 1]] {
            present.push(Entry { table: "route".to_owned(), metadata, ..Entry::default() });
        }
        desired(&["route 10.0.0.0/8 do via 1", "hops 1 do forward 1"]).apply(&present, &mut orders);
        assert_eq!(orders.take_text(), "");
        desired(&["route 10.0.0.0/8 do via 1", "hops 1 do forward 2"]).apply(&present, &mut orders);
        let text = orders.take_text();
        let lines: Vec<&str> = text.lines().map(|line| line.split(" metadata ").next().unwrap()).collect();
        assert_eq!(lines, ["delete hops 1", "meters rate 1 reset", "add hops 1 do forward 2"]);
    }
}
