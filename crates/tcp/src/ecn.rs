//! Explicit congestion notification at the receiver of data.
//!
//! What enters: the codepoint and flags of arriving segments. What leaves: whether segments carry ECE. The sender's
//! half is in [`crate::sender`].

use crate::config::Congestion;
use crate::segment::{Ecn, Flags, Segment};

/// Which rules an endpoint follows, once ECN is negotiated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Mode {
    /// ECN is not in use.
    #[default]
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257.
    Dctcp,
}

/// The state of ECN.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EcnState {
    mode: Mode,
    /// Whether acknowledgments carry ECE. With DCTCP this is `DCTCP.CE`.
    echo: bool,
}

impl EcnState {
    /// The peer has agreed to use ECN.
    pub(crate) fn enable(&mut self, congestion: Congestion) {
        self.mode = if congestion == Congestion::Dctcp { Mode::Dctcp } else { Mode::Classic };
    }

    /// Whether ECN is in use.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.mode != Mode::Off
    }

    /// The codepoint of a segment. RFC 3168 allows ECT on new data only; DCTCP needs it everywhere, since its switches
    /// drop what they cannot mark (as in Linux).
    #[inline]
    pub(crate) fn codepoint(&self, is_new_data: bool) -> Ecn {
        match self.mode {
            Mode::Classic if is_new_data => Ecn::Ect0,
            Mode::Dctcp => Ecn::Ect0,
            Mode::Off | Mode::Classic => Ecn::NotEct,
        }
    }

    /// Whether segments that are sent now carry ECE.
    #[inline]
    pub(crate) fn echoes(&self) -> bool {
        self.echo
    }

    /// Takes an arriving segment. True if an acknowledgment is due at once (RFC 8257, section 3.2), of what arrived
    /// before and with the previous state, so that the marks of data and the ECE flags of its acknowledgments agree to
    /// the byte.
    #[inline]
    pub(crate) fn receive(&mut self, segment: &Segment) -> bool {
        let is_marked = segment.ecn == Ecn::Ce;
        match self.mode {
            Mode::Off => false,
            Mode::Classic => {
                // RFC 3168, section 6.1.3: until the sender has reacted. Only data is ever marked.
                if segment.flags.has(Flags::CWR) {
                    self.echo = false;
                }
                self.echo |= is_marked && segment.payload_bytes > 0;
                false
            }
            Mode::Dctcp if segment.payload_bytes == 0 => false,
            Mode::Dctcp => {
                let changed = self.echo != is_marked;
                self.echo = is_marked;
                changed
            }
        }
    }
}
