//! Which labels the packets have that are inside a switch core, which knows tags only.
//!
//! What enters: labels of packets that go in. What leaves: tags for the core, and the labels that belong to them.

use base::OrderedMap;

/// Packets that are remembered: more than a switch's queues hold.
const PACKETS_MAX: usize = 1 << 18;

/// The tag of packets without labels.
const UNKNOWN: u32 = 1;

/// What the tags of traced packets have beside.
const TRACED: u32 = 1 << 31;

/// Whether the packet with this tag is traced.
pub(super) fn is_traced(tag: u32) -> bool {
    tag & TRACED != 0
}

/// The packets inside.
#[derive(Debug, Default)]
pub(super) struct Inside {
    packets: OrderedMap<u32, Tagged>,
    /// The number of the packet that came last.
    last: u32,
}

/// A packet with its copies.
#[derive(Debug)]
struct Tagged {
    label: u64,
    /// Whether there may be copies.
    is_copied: bool,
}

impl Inside {
    /// Notes a packet that goes in; returns its tag.
    pub(super) fn enter(&mut self, label: u64) -> u32 {
        if label == 0 {
            return UNKNOWN;
        }
        self.last = (self.last + 1) & !TRACED;
        self.last = self.last.max(UNKNOWN + 1);
        let tag = self.last | if crate::record::is_traced(label) { TRACED } else { 0 };
        self.packets.insert(tag, Tagged { label, is_copied: false });
        if self.packets.len() > PACKETS_MAX {
            self.packets.pop_first();
        }
        tag
    }

    /// The label that belongs to a tag; 0 for packets without one.
    pub(super) fn label(&self, tag: u32) -> u64 {
        self.packets.get(&tag).map_or(0, |tagged| tagged.label)
    }

    /// Whether there may be several packets with this tag, as there may from now on if `is_copied`.
    pub(super) fn note_copied(&mut self, tag: u32, is_copied: bool) -> bool {
        self.packets.get_mut(&tag).is_some_and(|tagged| {
            tagged.is_copied |= is_copied;
            tagged.is_copied
        })
    }

    /// Forgets a packet of which nothing is left inside.
    pub(super) fn leave(&mut self, tag: u32) {
        self.packets.remove(&tag);
    }

    /// The labels of all packets inside.
    pub(super) fn labels(&self) -> impl Iterator<Item = u64> {
        self.packets.values().map(|tagged| tagged.label)
    }

    /// Forgets all; returns their labels.
    pub(super) fn clear(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.packets).into_values().map(|tagged| tagged.label).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_for_labels() {
        let mut inside = Inside::default();
        let traced = 9 | 1 << 63;
        let tags = [7, traced, 7, 0].map(|label| inside.enter(label));
        assert_eq!(tags.map(|tag| inside.label(tag)), [7, traced, 7, 0]);
        assert_eq!(tags.map(is_traced), [false, true, false, false]);
        assert!(tags[0] != tags[2] && !tags.contains(&0));
        assert_eq!([false, true, false].map(|now| inside.note_copied(tags[0], now)), [false, true, true]);
        assert!(!inside.note_copied(tags[3], true));
        inside.leave(tags[1]);
        assert_eq!(inside.labels().collect::<Vec<_>>(), [7, 7]);
        assert_eq!(inside.clear(), [7, 7]);
        assert_eq!(inside.label(tags[0]), 0);
    }
}
