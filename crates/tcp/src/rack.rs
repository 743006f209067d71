//! Loss detection by time, and tail loss probes (RFC 8985).
//!
//! What enters: what acknowledgments delivered. What leaves: which bytes are lost (as marks on the scoreboard), when to
//! look again, and when to send a probe.

use crate::rtt::RttEstimator;
use crate::scoreboard::{Delivered, Scoreboard};
use crate::sequence::Position;
use base::Time;

/// This many segments above a hole show a loss if nothing was reordered before.
const DUPLICATES: u32 = 3;
/// Recoveries after which a widened reordering window returns to its normal width.
const PERSIST: u8 = 16;

/// The state of RACK.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// The transmission of the most recently sent bytes that were delivered (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Option<(Time, Position)>,
    rtt: Time,
    reordering_seen: bool,
    multiplier: u32,
    persist: u8,
    /// Where the round trip of the last duplicate report ends.
    duplicate_round: Option<Position>,
}

impl Rack {
    /// Steps 2 and 3: notes what was delivered.
    pub(crate) fn update(&mut self, now: Time, delivered: &Delivered) {
        if let Some(newest) = delivered.newest {
            self.rtt = now.since(newest.0);
            self.newest = self.newest.max(Some(newest));
        }
        self.reordering_seen |= delivered.reordered;
    }

    /// Step 4, first half: duplicate reports widen the reordering window, once per round trip.
    pub(crate) fn note_duplicate(&mut self, una: Position, end: Position) {
        if self.duplicate_round.is_none_or(|round| una >= round) {
            self.duplicate_round = Some(end);
            self.multiplier = self.multiplier.max(1) + 1;
            self.persist = PERSIST;
        }
    }

    /// Step 4, second half: a recovery ends.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Step 4: how much later than a newer segment an older one may arrive.
    fn window(&self, rtt: &RttEstimator, sacked_segments: u32, in_recovery: bool) -> Time {
        if !self.reordering_seen && (in_recovery || sacked_segments >= DUPLICATES) {
            return Time::ZERO;
        }
        let (Some(min), Some(smoothed)) = (rtt.min(), rtt.smoothed()) else { return Time::ZERO };
        min.divided(4).times(u64::from(self.multiplier.max(1))).min(smoothed)
    }

    /// Step 5: marks what is lost; when to look again.
    pub(crate) fn detect(
        &self,
        board: &mut Scoreboard,
        now: Time,
        rtt: &RttEstimator,
        in_recovery: bool,
    ) -> (bool, Option<Time>) {
        let Some(newest) = self.newest else { return (false, None) };
        if board.sacked() == 0 && !board.has_retransmitted() {
            // Everything that is outstanding was sent after everything that was delivered.
            return (false, None);
        }
        let window = self.window(rtt, board.sacked_segments(), in_recovery);
        board.mark_lost_by_time(newest, now, self.rtt + window)
    }

    /// Section 6.3: at a retransmission timeout, what was sent so long ago is lost.
    pub(crate) fn age_of_lost(&self, board: &Scoreboard, rtt: &RttEstimator) -> Time {
        self.rtt + self.window(rtt, board.sacked_segments(), false)
    }
}

/// The state of tail loss probes.
#[derive(Clone, Debug, Default)]
pub(crate) struct TailProbe {
    /// The end of what was outstanding when the last probe was sent, and whether the probe was a retransmission.
    episode: Option<(Position, bool)>,
}

impl TailProbe {
    /// Whether an acknowledgment for a probe is still to come: no other probe is sent before.
    pub(crate) fn is_outstanding(&self) -> bool {
        self.episode.is_some()
    }

    /// A probe was sent; `end` is behind everything that was sent.
    pub(crate) fn on_probe(&mut self, end: Position, is_retransmission: bool) {
        self.episode = Some((end, is_retransmission));
    }

    /// Recovery makes probes meaningless.
    pub(crate) fn reset(&mut self) {
        self.episode = None;
    }

    /// Section 7.4.2: whether the probe repaired a loss, which congestion control would not notice otherwise.
    pub(crate) fn on_ack(&mut self, ack: Position, is_duplicate: bool, has_duplicate_report: bool) -> bool {
        let Some((end, is_retransmission)) = self.episode else { return false };
        if ack < end {
            return false;
        }
        // A probe of new data repairs nothing. If both the original and the probe arrived, nothing was lost. An
        // acknowledgment of just the end may answer either.
        let is_harmless = !is_retransmission || has_duplicate_report || ack == end && is_duplicate;
        let is_over = is_harmless || ack > end;
        if is_over {
            self.episode = None;
        }
        is_over && !is_harmless
    }

    /// Section 7.2: how long to wait for an acknowledgment before a probe.
    pub(crate) fn timeout(rtt: &RttEstimator, is_one_segment: bool, max_ack_delay: Time) -> Time {
        let Some(smoothed) = rtt.smoothed() else { return Time::from_s(1) };
        smoothed.times(2) + if is_one_segment { max_ack_delay } else { Time::ZERO }
    }
}
