//! Congestion control: how the window grows, and how much of it is left after a sign of congestion.
//!
//! What enters: what each acknowledgment delivered, and signs of congestion. What leaves: the congestion window and the
//! slow start threshold. When to retransmit, and how the window comes down during recovery, is the subject of
//! [`crate::recovery`].
//!
//! Growth in slow start counts bytes without a limit per acknowledgment, as Linux does: a lost or rewritten
//! acknowledgment does not slow the start down. RFC 5681 would add at most one segment per acknowledgment.

mod cubic;
mod dctcp;
mod hystart;
mod newreno;

pub(crate) use dctcp::Alpha;

use crate::config::{Config, Congestion};
use base::Time;
use cubic::Cubic;
use dctcp::Dctcp;
use hystart::{Growth, HyStart};
use newreno::NewReno;

/// The windows of a sender, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    /// The congestion window.
    pub(crate) congestion: u64,
    /// The slow start threshold; the greatest number at first.
    pub(crate) threshold: u64,
    /// The sender's segment size.
    pub(crate) mss: u64,
}

impl Window {
    pub(crate) fn new(mss: u64, initial_segments: u32) -> Window {
        Window { congestion: mss * u64::from(initial_segments.max(1)), threshold: u64::MAX, mss }
    }

    pub(crate) fn is_slow_start(&self) -> bool {
        self.congestion < self.threshold
    }

    /// Grows in slow start; the result is what is left of `bytes` for congestion avoidance.
    fn slow_start(&mut self, bytes: u64) -> u64 {
        let growth = bytes.min(self.threshold.saturating_sub(self.congestion));
        self.congestion = (self.congestion + growth).min(WINDOW_MAX);
        bytes - growth
    }
}

/// No window grows further: more than the largest receive window cannot be used.
const WINDOW_MAX: u64 = 1 << 31;

/// What an acknowledgment means to congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) now: Time,
    /// Bytes that were acknowledged cumulatively.
    pub(crate) bytes: u64,
    /// The position up to which this is, and the one behind everything that was sent.
    pub(crate) to: i64,
    pub(crate) end: i64,
    /// The smoothed round-trip time, and that of this acknowledgment.
    pub(crate) rtt: Time,
    pub(crate) sample: Option<Time>,
    /// Whether the window was in use, so that it may grow.
    pub(crate) is_limited: bool,
}

/// A congestion control with its state.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    algorithm: Algorithm,
    /// Present in the initial slow start.
    hystart: Option<HyStart>,
}

#[derive(Clone, Debug)]
enum Algorithm {
    NewReno(NewReno),
    Cubic(Cubic),
    Dctcp(Dctcp),
}

impl Control {
    pub(crate) fn new(config: &Config) -> Control {
        let algorithm = match config.congestion {
            Congestion::NewReno => Algorithm::NewReno(NewReno::default()),
            Congestion::Cubic => Algorithm::Cubic(Cubic::default()),
            Congestion::Dctcp => Algorithm::Dctcp(Dctcp::default()),
        };
        let has_hystart = config.hystart && config.congestion == Congestion::Cubic;
        Control { algorithm, hystart: has_hystart.then(HyStart::default) }
    }

    /// Grows the window. The sender is not in recovery.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, acknowledged: Acknowledged) {
        let bytes = if window.is_slow_start() { self.hystart(window, &acknowledged) } else { acknowledged.bytes };
        if !acknowledged.is_limited {
            return;
        }
        let left = if window.is_slow_start() { window.slow_start(bytes) } else { bytes };
        if left == 0 {
            return;
        }
        match &mut self.algorithm {
            Algorithm::NewReno(reno) => reno.avoid(window, left),
            Algorithm::Cubic(cubic) => cubic.avoid(window, left, acknowledged.now, acknowledged.rtt),
            Algorithm::Dctcp(dctcp) => dctcp.avoid(window, left),
        }
    }

    /// By how many bytes slow start may grow. It may end here.
    fn hystart(&mut self, window: &mut Window, acknowledged: &Acknowledged) -> u64 {
        let Acknowledged { bytes, sample, to, end, .. } = *acknowledged;
        let Some(hystart) = &mut self.hystart else { return bytes };
        match hystart.on_ack(bytes, sample, to, end) {
            Growth::By(bytes) => bytes,
            Growth::End => {
                self.hystart = None;
                window.threshold = window.congestion;
                bytes
            }
        }
    }

    /// The new slow start threshold after a loss (`is_loss`) or an ECN mark. `flight` is what was outstanding, RFC
    /// 5681's FlightSize.
    pub(crate) fn threshold_after(&mut self, window: &Window, flight: u64, is_loss: bool) -> u64 {
        let used = flight.min(window.congestion);
        self.hystart = None;
        let threshold = match &mut self.algorithm {
            Algorithm::NewReno(_) => newreno::threshold(used),
            Algorithm::Cubic(cubic) => cubic.threshold(window, used),
            Algorithm::Dctcp(dctcp) => dctcp.threshold(used, is_loss),
        };
        threshold.max(2 * window.mss)
    }

    /// A retransmission timeout has reduced the window to its minimum.
    pub(crate) fn on_timeout(&mut self) {
        match &mut self.algorithm {
            Algorithm::NewReno(reno) => *reno = NewReno::default(),
            Algorithm::Cubic(cubic) => cubic.on_timeout(),
            Algorithm::Dctcp(dctcp) => dctcp.on_timeout(),
        }
    }

    /// A reduction was unnecessary and is taken back.
    pub(crate) fn on_undo(&mut self) {
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.on_undo();
        }
    }

    /// The sender begins to send after nothing had been in flight for a while.
    pub(crate) fn on_restart(&mut self, idle: Time) {
        if let Algorithm::Cubic(cubic) = &mut self.algorithm {
            cubic.on_idle(idle);
        }
    }

    /// Counts marks: `bytes` were acknowledged, with or without ECE; the acknowledgment is up to `to` and `end` is
    /// behind all that was sent.
    #[inline]
    pub(crate) fn count_marks(&mut self, bytes: u64, is_marked: bool, to: i64, end: i64) {
        if let Algorithm::Dctcp(dctcp) = &mut self.algorithm {
            dctcp.count(bytes, is_marked, to, end);
        }
    }

    /// DCTCP's estimate of the marked fraction.
    pub(crate) fn alpha(&self) -> Option<Alpha> {
        match &self.algorithm {
            Algorithm::Dctcp(dctcp) => Some(dctcp.alpha()),
            Algorithm::NewReno(_) | Algorithm::Cubic(_) => None,
        }
    }
}
