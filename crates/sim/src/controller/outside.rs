//! Controllers outside of the simulation: what switches report to them is collected, and fetched between two runs of
//! the network.
//!
//! What enters: packets and digests of programs. What leaves: the same, for whoever drives the network. What comes back
//! is brought to the switches by the driver, so no result of such a run repeats itself.

use super::{Controller, Controls};
use base::Bits;
use ir::DigestId;

/// What a switch has reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A frame for the CPU port.
    Packet(Vec<u8>),
    /// A digest with the values of its fields.
    Digest(DigestId, Vec<Bits>),
}

/// Collects what switches report.
#[derive(Debug, Default)]
pub struct Outside(Vec<(usize, Report)>);

impl Outside {
    /// Takes what was reported since the last call, with the number of the switch among those of the controller.
    pub fn take(&mut self) -> Vec<(usize, Report)> {
        std::mem::take(&mut self.0)
    }
}

impl Controller for Outside {
    fn packet_in(&mut self, _controls: &mut Controls<'_, '_>, switch: usize, frame: &[u8]) {
        self.0.push((switch, Report::Packet(frame.to_vec())));
    }

    fn digest(&mut self, _controls: &mut Controls<'_, '_>, switch: usize, digest: DigestId, values: &[Bits]) {
        self.0.push((switch, Report::Digest(digest, values.to_vec())));
    }
}
