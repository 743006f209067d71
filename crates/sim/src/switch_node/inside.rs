//! Which labels the packets have that are inside a switch core, which knows no labels.
//!
//! What enters: packets that go in. What leaves: the labels of packets that come out, by their fingerprints. Of packets
//! with equal bytes the first that went in is taken for the first that comes out.

use crate::packet::Packet;
use crate::wire::flow::fingerprint;
use base::OrderedMap;
use std::collections::VecDeque;

/// Packets that are remembered: more than a switch's queues hold. What a program drops stays until others replace it.
const PACKETS_MAX: usize = 1 << 18;

/// The packets inside.
#[derive(Debug, Default)]
pub(super) struct Inside {
    packets: OrderedMap<u64, Same>,
    /// Fingerprints, in the order in which they came.
    order: VecDeque<u64>,
}

/// Packets with the same fingerprint.
#[derive(Debug, Default)]
struct Same {
    labels: VecDeque<u64>,
    /// The label that came out last, for further copies.
    last: u64,
    /// How often the fingerprint is in the order.
    count: u32,
}

impl Inside {
    /// Notes a packet that goes in.
    pub(super) fn enter(&mut self, packet: &mut Packet) -> Option<u64> {
        let print = fingerprint(packet.bytes())?;
        let same = self.packets.entry(print).or_default();
        same.labels.push_back(packet.label());
        same.count += 1;
        self.order.push_back(print);
        if self.order.len() > PACKETS_MAX
            && let Some(oldest) = self.order.pop_front()
            && let Some(same) = self.packets.get_mut(&oldest)
        {
            same.count -= 1;
            same.labels.truncate(same.count as usize);
            if same.count == 0 {
                self.packets.remove(&oldest);
            }
        }
        Some(print)
    }

    /// The label of a packet that comes out; the one that it has if it is not known.
    pub(super) fn leave(&mut self, packet: &mut Packet) -> u64 {
        let same = fingerprint(packet.bytes()).and_then(|print| self.packets.get_mut(&print));
        same.map_or(packet.label(), |same| {
            same.last = same.labels.pop_front().unwrap_or(same.last);
            same.last
        })
    }

    /// Forgets a packet that was dropped.
    pub(super) fn forget(&mut self, print: u64, label: u64) {
        if let Some(same) = self.packets.get_mut(&print) {
            same.labels.retain(|it| *it != label);
        }
    }

    /// Forgets all; returns the labels of those that have not come out.
    pub(super) fn clear(&mut self) -> Vec<u64> {
        self.order.clear();
        std::mem::take(&mut self.packets).into_values().flat_map(|same| same.labels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Pool;

    fn packet(pool: &mut Pool, label: u64, payload: u8) -> Packet {
        let mut frame = vec![0; 14 + 20 + 16];
        frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        frame[16..18].copy_from_slice(&36u16.to_be_bytes());
        (frame[23], frame[49]) = (17, payload);
        let mut packet = pool.copy_of(&frame);
        packet.set_label(label);
        packet
    }

    #[test]
    fn packets_come_out_with_the_labels_with_which_they_went_in() {
        let (mut pool, mut inside) = (Pool::default(), Inside::default());
        let mut packets: Vec<Packet> =
            [(7, 1), (8, 2), (9, 1)].iter().map(|&(label, payload)| packet(&mut pool, label, payload)).collect();
        let prints: Vec<u64> = packets.iter_mut().map(|it| inside.enter(it).unwrap()).collect();
        assert_eq!(prints[0], prints[2]);
        let mut leave = |payload| inside.leave(&mut packet(&mut pool, 0, payload));
        assert_eq!([leave(2), leave(1), leave(1), leave(1), leave(3)], [8, 7, 9, 9, 0]);
        let mut more = packet(&mut pool, 10, 2);
        let print = inside.enter(&mut more).unwrap();
        inside.enter(&mut packet(&mut pool, 11, 3));
        inside.forget(print, 10);
        assert_eq!(inside.clear(), [11]);
    }
}
