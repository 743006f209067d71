//! The packets in flight on a channel.

use crate::packet::Packet;
use crate::time::Time;
use std::collections::VecDeque;

/// Packets by the time of their arrival; those of the same time in the order in which they were sent.
#[derive(Debug, Default)]
pub struct Flight {
    packets: VecDeque<(Time, Packet)>,
}

impl Flight {
    /// When the first arrives; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.packets.front().map_or(Time::MAX, |(time, _)| *time)
    }

    /// Takes a packet in; returns whether it is the first to arrive.
    #[inline]
    pub fn push(&mut self, arrival: Time, packet: Packet) -> bool {
        // Almost always the last.
        let later = self.packets.iter().rev().take_while(|(time, _)| *time > arrival).count();
        let position = self.packets.len() - later;
        match later {
            0 => self.packets.push_back((arrival, packet)),
            _ => self.packets.insert(position, (arrival, packet)),
        }
        position == 0
    }

    /// The first packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.packets.pop_front().map(|(_, packet)| packet)
    }

    /// How many.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }
}
