//! Controllers outside of the simulation: what switches tell them is collected, and taken away between two runs of the
//! network.
//!
//! What enters: packets and digests of programs. What leaves: the same, for whoever drives the network. What comes back
//! is brought to the switches by the driver, so no result of such a run repeats itself.

use super::{Controller, Controls};
use base::Bits;
use ir::DigestId;

/// What a switch has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A frame for the CPU port.
    Packet(Vec<u8>),
    /// A digest with the values of its fields.
    Digest(DigestId, Vec<Bits>),
}

/// Collects what switches tell.
#[derive(Debug, Default)]
pub struct Outside(Vec<(usize, Told)>);

impl Outside {
    /// Takes what was told since the last call, with the number of the switch among those of the controller.
    pub fn take(&mut self) -> Vec<(usize, Told)> {
        std::mem::take(&mut self.0)
    }
}

impl Controller for Outside {
    fn packet_in(&mut self, _controls: &mut Controls<'_, '_>, switch: usize, frame: &[u8]) {
        self.0.push((switch, Told::Packet(frame.to_vec())));
    }

    fn digest(&mut self, _controls: &mut Controls<'_, '_>, switch: usize, digest: DigestId, values: &[Bits]) {
        self.0.push((switch, Told::Digest(digest, values.to_vec())));
    }
}
