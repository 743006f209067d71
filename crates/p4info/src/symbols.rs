//! Ids and aliases.
//!
//! What enters: the names of all objects that controllers see, with the ids that the program assigns. What leaves: an
//! id for each, and its alias, which is the shortest unique suffix of its name. Both agree with the reference compiler:
//! the first eight bits of an id are the kind, the others a hash of the name. If two names have the same hash, the
//! alphabetically later one gets the next free number.

use crate::model::Kind;
use base::{OrderedMap, OrderedSet};

/// Names, while they are collected.
#[derive(Default)]
pub(crate) struct Names {
    /// The id that the program assigns, by prefix and name.
    wanted: OrderedMap<(u32, String), Option<u32>>,
    given: OrderedSet<u32>,
}

/// Names with their ids.
pub(crate) struct Symbols {
    ids: OrderedMap<(u32, String), u32>,
    suffixes: Suffixes,
}

/// The id prefix of a kind: its first eight bits.
fn prefix(kind: Kind) -> u32 {
    use p4runtime_proto::p4::config::v1::p4_ids::Prefix;
    let prefix = match kind {
        Kind::Action => Prefix::Action,
        Kind::Table => Prefix::Table,
        Kind::ValueSet => Prefix::ValueSet,
        Kind::ControllerHeader => Prefix::ControllerHeader,
        Kind::ActionProfile => Prefix::ActionProfile,
        Kind::Counter => Prefix::Counter,
        Kind::DirectCounter => Prefix::DirectCounter,
        Kind::Meter => Prefix::Meter,
        Kind::DirectMeter => Prefix::DirectMeter,
        Kind::Register => Prefix::Register,
        Kind::Digest => Prefix::Digest,
    };
    prefix as u32
}

/// The id that `@id(given)` assigns in a kind: a missing prefix is added, a different one is an error.
pub(crate) fn id_with_prefix(kind: Kind, given: u32) -> Option<u32> {
    match given >> 24 {
        0 => Some(prefix(kind) << 24 | given),
        other => (other == prefix(kind)).then_some(given),
    }
}

impl Names {
    /// Adds a name; false if another name has the same assigned id.
    pub fn add(&mut self, kind: Kind, name: &str, id: Option<u32>) -> bool {
        let key = (prefix(kind), name.to_owned());
        if self.wanted.contains_key(&key) {
            return true;
        }
        let is_new = id.is_none_or(|id| self.given.insert(id));
        self.wanted.insert(key, id.filter(|_| is_new));
        is_new
    }

    /// Assigns an id to each name.
    pub fn finish(self) -> Symbols {
        let mut taken = self.given;
        let mut ids = OrderedMap::new();
        let mut suffixes = Suffixes::default();
        let names: OrderedSet<&str> = self.wanted.keys().map(|(_, name)| name.as_str()).collect();
        names.into_iter().for_each(|name| suffixes.add(name));
        for ((prefix, name), wanted) in &self.wanted {
            let id = wanted.unwrap_or_else(|| {
                let mut value = hash(name.as_bytes());
                // A program has fewer than 2^24 names, so there is a free id.
                while taken.contains(&(prefix << 24 | value & 0x00FF_FFFF)) {
                    value = value.wrapping_add(1);
                }
                prefix << 24 | value & 0x00FF_FFFF
            });
            taken.insert(id);
            ids.insert((*prefix, name.clone()), id);
        }
        Symbols { ids, suffixes }
    }
}

impl Symbols {
    /// The id of a name that was added; otherwise 0, which is never an id.
    pub fn id(&self, kind: Kind, name: &str) -> u32 {
        self.ids.get(&(prefix(kind), name.to_owned())).copied().unwrap_or(0)
    }

    /// The alias of a name.
    pub fn alias(&self, name: &str) -> String {
        self.suffixes.shortest(name)
    }
}

/// Jenkins' one-at-a-time hash.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash = 0_u32;
    for &byte in bytes {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// All names as a tree of their components from the last to the first: how many names pass through each node.
#[derive(Default)]
struct Suffixes {
    /// From a node and a component to the preceding component's node; node 0 is the end of all names.
    nodes: OrderedMap<(usize, String), usize>,
    counts: Vec<u32>,
}

impl Suffixes {
    fn add(&mut self, name: &str) {
        let mut node = 0;
        for part in name.rsplit('.') {
            let next = self.counts.len() + 1;
            node = *self.nodes.entry((node, part.to_owned())).or_insert(next);
            if node == next {
                self.counts.push(0);
            }
            self.counts[node - 1] += 1;
        }
    }

    fn shortest(&self, name: &str) -> String {
        let (mut node, mut length) = (0, 0);
        for part in name.rsplit('.') {
            length += part.len() + usize::from(length > 0);
            let Some(next) = self.nodes.get(&(node, part.to_owned())) else { break };
            node = *next;
            if self.counts[node - 1] < 2 {
                break;
            }
        }
        name[name.len() - length..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(names: &[(Kind, &str, Option<u32>)], expect: Expect) {
        let mut collected = Names::default();
        for (kind, name, id) in names {
            assert!(collected.add(*kind, name, *id));
        }
        let symbols = collected.finish();
        let line = |(kind, name, _): &(Kind, &str, Option<u32>)| {
            format!("{name}: {}, {}\n", symbols.id(*kind, name), symbols.alias(name))
        };
        expect.assert_eq(&names.iter().map(line).collect::<String>());
    }

    /// The ids in the documentation of the P4 tutorials.
    #[test]
    fn well_known_ids() {
        check(
            &[
                (Kind::Table, "MyIngress.ipv4_lpm", None),
                (Kind::Action, "MyIngress.ipv4_forward", None),
                (Kind::Action, "MyIngress.drop", None),
                (Kind::Action, "NoAction", None),
                (Kind::Register, "MyIngress.saved_src_ip", None),
                (Kind::ControllerHeader, "packet_in_header_t", None),
            ],
            expect![[r#"
                MyIngress.ipv4_lpm: 37375156, ipv4_lpm
                MyIngress.ipv4_forward: 28792405, ipv4_forward
                MyIngress.drop: 25652968, drop
                NoAction: 21257015, NoAction
                MyIngress.saved_src_ip: 384310662, saved_src_ip
                packet_in_header_t: 81826293, packet_in_header_t
            "#]],
        );
    }

    #[test]
    fn an_alias_is_as_long_as_it_must_be() {
        check(
            &[
                (Kind::Table, "a.b.t", None),
                (Kind::Action, "c.b.t", None),
                (Kind::Table, "b.u", None),
                (Kind::Table, "a.b.u", None),
                (Kind::Counter, "b.u", None),
            ],
            expect![[r#"
                a.b.t: 48218939, a.b.t
                c.b.t: 18050147, c.b.t
                b.u: 41265314, b.u
                a.b.u: 35696573, a.b.u
                b.u: 309700770, b.u
            "#]],
        );
    }

    /// Two names whose hashes have the same low bits.
    #[test]
    fn the_next_free_id_is_taken() {
        let (mut seen, mut number) = (OrderedMap::new(), 0_u32);
        let (first, second) = loop {
            let name = format!("t{number}");
            if let Some(other) = seen.insert(hash(name.as_bytes()) & 0x00FF_FFFF, name.clone()) {
                break if other < name { (other, name) } else { (name, other) };
            }
            number += 1;
        };
        let mut collected = Names::default();
        collected.add(Kind::Table, &second, None);
        collected.add(Kind::Table, &first, None);
        let symbols = collected.finish();
        assert_eq!(symbols.id(Kind::Table, &second), symbols.id(Kind::Table, &first) + 1);
    }

    #[test]
    fn ids_that_the_program_gives() {
        assert_eq!(id_with_prefix(Kind::Table, 0x0012_AB34), Some(0x0212_AB34));
        assert_eq!(id_with_prefix(Kind::Table, 0x0212_AB34), Some(0x0212_AB34));
        assert_eq!(id_with_prefix(Kind::Table, 0x0112_AB34), None);
    }
}
