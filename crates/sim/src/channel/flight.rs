//! The packets in flight on a channel.

use crate::packet::Packet;
use crate::time::Time;
use std::collections::VecDeque;

/// Packets by the time of their arrival; those of the same time in the order in which they were sent.
///
/// The first is beside the others: on most links of a large network it is the only one, and it is what every event
/// looks at.
#[derive(Debug, Default)]
pub struct Flight {
    first: Option<(Time, Packet)>,
    others: VecDeque<(Time, Packet)>,
}

impl Flight {
    /// When the first arrives; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.first.as_ref().map_or(Time::MAX, |(time, _)| *time)
    }

    /// Takes a packet in; returns whether it is the first to arrive.
    #[inline]
    pub fn push(&mut self, arrival: Time, packet: Packet) -> bool {
        if arrival < self.next() {
            let later = self.first.replace((arrival, packet));
            later.into_iter().for_each(|later| self.others.push_front(later));
            return true;
        }
        // Almost always the last.
        let later = self.others.iter().rev().take_while(|(time, _)| *time > arrival).count();
        match later {
            0 => self.others.push_back((arrival, packet)),
            _ => self.others.insert(self.others.len() - later, (arrival, packet)),
        }
        false
    }

    /// The first packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        first.map(|(_, packet)| packet)
    }

    /// Puts the packet back that was taken last.
    pub fn put_back(&mut self, arrival: Time, packet: Packet) {
        let later = self.first.replace((arrival, packet));
        later.into_iter().for_each(|later| self.others.push_front(later));
    }

    /// How many.
    pub fn packets(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }
}
