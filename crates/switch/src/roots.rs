//! Packets that are worked on together, and what each of them has led to.
//!
//! What enters: packets to be processed further, each with the number of its root, the received packet that it comes
//! from. What leaves: bursts of packets that are processed together, and per root what is sent. If every packet were
//! taken to the end of all that it causes before the next begins, a root's packets would leave the queues in the order
//! in which they entered them, and one of them would enter ingress again when the queues are empty. Each root has
//! this order here, and what it sends is held back until the roots before it are done. So a program that shares no
//! state between packets cannot observe how many are processed together, and all of them run through the blocks in
//! bursts.

use crate::packet::Packet;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, COPIES_MAX};
use std::collections::VecDeque;

/// The root of packets that come from a queue with a rate or from an internal port.
pub(crate) const PACED_ROOT: usize = CALL_FRAMES_MAX;

/// What a received packet has led to.
#[derive(Default)]
struct Root {
    /// Packets that have passed the queues and are ready for egress.
    passed: VecDeque<Packet>,
    /// Packets that enter ingress again.
    again: VecDeque<Packet>,
    /// What is sent, with its port, when the roots before it are done.
    sent: Vec<(Packet, u32)>,
    /// Copies that it may still become.
    copies_left: usize,
    is_working: bool,
}

/// Which roots are worked on together.
#[derive(Clone, Copy)]
pub(crate) struct Together {
    /// At most this many.
    pub roots_max: usize,
    /// Among this many of the first that are not done.
    pub first_of: usize,
}

/// All roots of a call; the last is [`PACED_ROOT`].
pub(crate) struct Roots {
    all: Vec<Root>,
    /// Those that are worked on now, in their order.
    working: Vec<usize>,
    /// How many of these are done, and have sent what they had to send.
    done: usize,
    /// Packets in all lines before egress, and before ingress.
    passed: usize,
    again: usize,
    defers: bool,
}

impl Default for Roots {
    fn default() -> Roots {
        let all = (0..=PACED_ROOT).map(|_| Root::default()).collect();
        Roots { all, working: Vec::with_capacity(PACED_ROOT + 1), done: 0, passed: 0, again: 0, defers: false }
    }
}

impl Roots {
    /// Gives a packet, the `root`th of its call, its budget of copies and passes.
    pub fn begin(&mut self, packet: &mut Packet, root: usize) {
        packet.set_passes(0);
        packet.set_root(root);
        self.allow_copies(root);
        self.join(root);
    }

    /// Takes a root among those that are worked on, behind the others.
    pub fn join(&mut self, root: usize) {
        self.working_root(root);
    }

    /// Gives a root its budget.
    pub fn allow_copies(&mut self, root: usize) {
        self.all[root].copies_left = COPIES_MAX;
    }

    /// How many copies a root may still become.
    pub fn copies_left(&mut self, root: usize) -> &mut usize {
        &mut self.all[root].copies_left
    }

    /// Whether what is sent is held back for other roots.
    pub fn defers(&self) -> bool {
        self.defers
    }

    /// Several roots are worked on together from now on: what they send is held back.
    pub fn defer(&mut self) {
        self.defers = true;
    }

    /// Whether any packet here is still to be processed.
    pub fn has_work(&self) -> bool {
        self.passed + self.again > 0
    }

    fn working_root(&mut self, root: usize) -> &mut Root {
        let it = &mut self.all[root];
        if !std::mem::replace(&mut it.is_working, true) {
            self.working.push(root);
        }
        it
    }

    /// Puts a packet in the line of those that are ready for egress.
    pub fn pass(&mut self, packet: Packet) {
        self.passed += 1;
        self.working_root(packet.root()).passed.push_back(packet);
    }

    /// Puts a packet in the line of those that go through ingress again.
    pub fn inject(&mut self, packet: Packet) {
        self.again += 1;
        self.working_root(packet.root()).again.push_back(packet);
    }

    /// How many packets of a root are ready for egress.
    pub fn passed_of(&self, root: usize) -> usize {
        self.all[root].passed.len()
    }

    /// Holds a packet back until the roots before its own are done.
    pub fn send_later(&mut self, packet: Packet, port: u32) {
        self.working_root(packet.root()).sent.push((packet, port));
    }

    /// Takes packets that go through egress next: of each root at most `each_max`.
    pub fn take_passed(&mut self, together: Together, each_max: usize, burst: &mut Vec<Packet>) {
        if self.passed == 0 {
            return;
        }
        let mut roots_left = together.roots_max;
        for &root in self.working[self.done..].iter().take(together.first_of) {
            let line = &mut self.all[root].passed;
            let count = line.len().min(each_max).min(BURST_PACKETS_MAX - burst.len());
            if count > 0 && roots_left > 0 {
                burst.extend(line.drain(..count));
                roots_left -= 1;
            }
        }
        self.passed -= burst.len();
    }

    /// Takes packets that go through ingress next: one of each root. Nothing of these is ready for egress.
    pub fn take_again(&mut self, together: Together, burst: &mut Vec<Packet>) {
        if self.again == 0 {
            return;
        }
        for &root in self.working[self.done..].iter().take(together.first_of) {
            if burst.len() < together.roots_max.min(BURST_PACKETS_MAX) {
                burst.extend(self.all[root].again.pop_front());
            }
        }
        self.again -= burst.len();
    }

    /// Takes what a root sends.
    pub fn take_sent(&mut self, root: usize, packets: &mut Vec<Packet>, ports: &mut Vec<u32>) {
        for (packet, port) in self.all[root].sent.drain(..) {
            packets.push(packet);
            ports.push(port);
        }
    }

    /// The next root that is done, in their order: nothing more comes of it.
    pub fn next_done(&mut self) -> Option<usize> {
        let root = *self.working.get(self.done)?;
        let it = &mut self.all[root];
        if !it.passed.is_empty() || !it.again.is_empty() {
            return None;
        }
        it.is_working = false;
        self.done += 1;
        Some(root)
    }

    /// Ends the work on roots that are done.
    pub fn end(&mut self) {
        self.working.drain(..self.done);
        (self.done, self.defers) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Pool, PoolLimits};

    const ALL: Together = Together { roots_max: 8, first_of: usize::MAX };

    /// Two roots, the second with two packets in each line.
    fn two_roots(pool: &mut Pool) -> Roots {
        let mut roots = Roots::default();
        let mut packet = |root: usize, name: u8| {
            let mut packet = pool.take(&[name]).unwrap();
            packet.set_root(root);
            packet
        };
        (0..2).for_each(|root| roots.begin(&mut packet(root, 0), root));
        for (root, name) in [(1, 10), (0, 0), (1, 11)] {
            roots.pass(packet(root, name));
            roots.inject(packet(root, name));
        }
        roots
    }

    fn names(take: impl FnOnce(&mut Vec<Packet>)) -> Vec<u8> {
        let mut burst = Vec::new();
        take(&mut burst);
        burst.iter().map(|packet| packet.bytes()[0]).collect()
    }

    #[test]
    fn the_lines_of_a_root_keep_their_order() {
        let mut pool = Pool::new(0, 0, PoolLimits::default());
        let mut roots = two_roots(&mut pool);
        assert_eq!(names(|burst| roots.take_passed(ALL, 1, burst)), [0, 10]);
        assert_eq!(names(|burst| roots.take_passed(ALL, 64, burst)), [11]);
        assert_eq!(names(|burst| roots.take_again(ALL, burst)), [0, 10]);
        assert_eq!(names(|burst| roots.take_again(ALL, burst)), [11]);
        assert!(!roots.has_work());
    }

    #[test]
    fn the_first_root_goes_alone_where_buffers_are_scarce() {
        let mut pool = Pool::new(0, 0, PoolLimits::default());
        let mut roots = two_roots(&mut pool);
        let first = Together { roots_max: 1, first_of: 1 };
        assert_eq!(names(|burst| roots.take_passed(first, 64, burst)), [0]);
        assert_eq!(names(|burst| roots.take_passed(first, 64, burst)), []);
        assert_eq!(names(|burst| roots.take_again(first, burst)), [0]);
        assert_eq!(roots.next_done(), Some(0));
        assert_eq!(roots.next_done(), None);
        assert_eq!(names(|burst| roots.take_passed(first, 64, burst)), [10, 11]);
    }
}
