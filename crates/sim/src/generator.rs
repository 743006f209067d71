//! A source and a sink of plain frames, for queues without hosts: models of queueing theory, and measurements of the
//! simulator itself.
//!
//! What enters: arrivals and sizes. What leaves: frames of zeros on port 0, and at the sink their number.

use crate::arrivals::{self, Arrivals, Sizes};
use crate::node::{Context, Node};
use crate::packet::Packet;
use crate::time::Time;
use base::Rng;
use base::limits::PACKET_BYTES_MAX;

/// Sends frames on port 0.
pub struct Source {
    arrivals: Arrivals,
    sizes: Sizes,
    rng: Rng,
    next: Time,
    /// How many frames were sent.
    pub sent: u64,
    /// Of these, those that found the line free.
    pub found_free: u64,
}

impl Source {
    /// A source of this name in the run of this seed. The first frame comes after the first span of the arrivals.
    pub fn new(mut arrivals: Arrivals, sizes: Sizes, name: &str, seed: u64) -> Source {
        let mut rng = arrivals::stream(seed, name);
        let next = arrivals.next(&mut rng);
        Source { arrivals, sizes, rng, next, sent: 0, found_free: 0 }
    }
}

impl Node for Source {
    fn receive(&mut self, context: &mut Context<'_>, _port: usize, packet: Packet) {
        context.end(packet);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        let bytes = self.sizes.next(self.sent, &mut self.rng).min(PACKET_BYTES_MAX);
        let packet = context.pool().zeroed(bytes);
        self.sent += 1;
        self.found_free += u64::from(context.transmitter(0).free_at() <= context.now());
        context.send(0, packet);
        self.next = context.now() + self.arrivals.next(&mut self.rng);
    }

    fn next_timer(&self) -> Time {
        self.next
    }
}

/// Takes frames.
#[derive(Default)]
pub struct Sink {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the last of them arrived.
    pub last: Time,
    /// A number that depends on the bytes, the order and the times of all frames, if it is computed.
    pub digest: Option<u64>,
}

impl Node for Sink {
    fn receive(&mut self, context: &mut Context<'_>, port: usize, mut packet: Packet) {
        self.packets += 1;
        self.bytes += packet.len() as u64;
        self.last = context.now();
        if let Some(digest) = &mut self.digest {
            *digest = digest_of(*digest, &[context.now().ps(), port as u64], packet.bytes());
        }
        context.end(packet);
    }

    fn timer(&mut self, _context: &mut Context<'_>) {}

    fn next_timer(&self) -> Time {
        Time::MAX
    }
}

/// A digest with numbers and bytes that follow.
fn digest_of(digest: u64, numbers: &[u64], bytes: &[u8]) -> u64 {
    let mix = |digest: u64, value: u64| (digest ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5);
    let digest = numbers.iter().fold(digest, |digest, number| mix(digest, *number));
    bytes.chunks(8).fold(digest, |digest, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(digest, u64::from_le_bytes(word))
    })
}
