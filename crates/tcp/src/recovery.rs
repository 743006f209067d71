//! The phases of a sender after signs of congestion, and how the window comes down.
//!
//! What enters: entries into and ends of recovery, what acknowledgments deliver. What leaves: the congestion window
//! during recovery. The names follow Linux where the RFCs have none: a sender is *open*, in *reduction* after an ECN
//! mark (RFC 3168), in *fast recovery* (RFC 5681, 6582, 6675, 8985), in *timeout recovery*, or in *path recovery* (RFC
//! 1191).

use crate::congestion::Window;
use crate::sequence::Position;

/// The phase of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Phase {
    /// No congestion.
    #[default]
    Open,
    /// The window comes down after an ECN mark.
    Reduction,
    /// Segments were lost and are retransmitted.
    FastRecovery,
    /// A retransmission timeout occurred.
    TimeoutRecovery,
    /// Segments were too long for the path and are retransmitted as shorter ones. There is no congestion.
    PathRecovery,
}

/// How to take back a reduction that was unnecessary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The windows before it.
    pub(crate) window: Window,
    /// The clock when the first segment was retransmitted.
    pub(crate) retransmitted_at: Option<u32>,
    /// Retransmitted bytes that the peer did not report as duplicates.
    pub(crate) doubtful: u64,
    /// What was outstanding began here.
    pub(crate) from: Position,
}

/// Recovery's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// The phase ends when this is acknowledged.
    pub(crate) until: Position,
    /// Without SACK: no fast retransmit before this is acknowledged (RFC 6582, section 3.2).
    pub(crate) recover: Position,
    /// Duplicate acknowledgments in sequence.
    pub(crate) duplicates: u32,
    /// Without SACK: bytes that duplicate acknowledgments stand for. They have left the network, which is what RFC 6582
    /// expresses by inflating the window.
    pub(crate) inflation: u64,
    /// The next retransmission does not need space in the window.
    pub(crate) forced: bool,
    pub(crate) undo: Option<Undo>,
    reduction: Reduction,
}

/// Proportional rate reduction (RFC 6937).
#[derive(Clone, Copy, Default, Debug)]
struct Reduction {
    delivered: u64,
    sent: u64,
    flight: u64,
}

impl Recovery {
    /// Whether the window is coming down.
    #[inline]
    pub(crate) fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Reduction | Phase::FastRecovery)
    }

    /// Whether segments are being retransmitted.
    pub(crate) fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery | Phase::TimeoutRecovery | Phase::PathRecovery)
    }

    /// Begins to reduce the window from `flight` bytes.
    pub(crate) fn start_reduction(&mut self, flight: u64) {
        self.reduction = Reduction { delivered: 0, sent: 0, flight: flight.max(1) };
    }

    /// Bytes were sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.reduction.sent += bytes;
    }

    /// The window after an acknowledgment that delivered bytes (RFC 6937, section 3, with the slow start reduction
    /// bound).
    pub(crate) fn reduced(&mut self, window: &Window, pipe: u64, delivered: u64, is_safe: bool) -> u64 {
        let prr = &mut self.reduction;
        prr.delivered += delivered;
        let sendable = if pipe > window.threshold {
            let target = u128::from(prr.delivered) * u128::from(window.threshold);
            (target.div_ceil(u128::from(prr.flight)) as u64).saturating_sub(prr.sent)
        } else {
            let bound = prr.delivered.saturating_sub(prr.sent).max(delivered) + if is_safe { window.mss } else { 0 };
            bound.min(window.threshold - pipe)
        };
        // A retransmission at the beginning.
        let least = if prr.sent == 0 { window.mss } else { 0 };
        pipe + sendable.max(least)
    }
}
