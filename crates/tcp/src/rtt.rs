//! Round-trip times and the retransmission timeout (RFC 6298).
//!
//! What enters: measurements, timeouts. What leaves: the smoothed round-trip time and the timeout with its back-off.

use crate::config::Config;
use base::Time;

/// How long a measurement can be the minimum. RFC 8985 leaves the length to implementations; Linux has 300 s.
const MIN_WINDOW: Time = Time::from_s(300);

/// The estimator of a connection.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    smoothed: Time,
    variation: Time,
    min: Time,
    min_since: Time,
    timeout: Time,
    is_measured: bool,
}

impl RttEstimator {
    pub(crate) fn new(initial: Time) -> RttEstimator {
        RttEstimator {
            smoothed: Time::ZERO,
            variation: Time::ZERO,
            min: Time::MAX,
            min_since: Time::ZERO,
            timeout: initial,
            is_measured: false,
        }
    }

    /// Takes a measurement. `least` is the shortest time among what was acknowledged together, which does not contain
    /// the delay of acknowledgments.
    pub(crate) fn measure(&mut self, now: Time, rtt: Time, least: Time, config: &Config) {
        if least <= self.min || now.since(self.min_since) > MIN_WINDOW {
            self.min = least;
            self.min_since = now;
        }
        self.measure_coarsely(rtt, config);
    }

    /// Takes a measurement that is as coarse as the clock of time stamps, so that it does not count for the minimum
    /// (RFC 6298, (2.2) and (2.3)).
    pub(crate) fn measure_coarsely(&mut self, rtt: Time, config: &Config) {
        if self.is_measured {
            let difference = if rtt > self.smoothed { rtt - self.smoothed } else { self.smoothed - rtt };
            self.variation = self.variation - self.variation.divided(4) + difference.divided(4);
            self.smoothed = self.smoothed - self.smoothed.divided(8) + rtt.divided(8);
        } else {
            self.is_measured = true;
            self.smoothed = rtt;
            self.variation = rtt.divided(2);
        }
        let timeout = self.smoothed + self.variation.times(4).max(config.min_rto_variance);
        self.timeout = timeout.clamp(config.min_rto, config.max_rto.max(config.min_rto));
    }

    /// Doubles the timeout ((5.5)). By Karn's algorithm it stays doubled until the next measurement.
    pub(crate) fn back_off(&mut self, max: Time) {
        self.timeout = self.timeout.times(2).min(max).max(Time::from_ns(1));
    }

    /// Begins anew after a handshake whose SYN timed out ((5.7)).
    pub(crate) fn restart(&mut self, timeout: Time) {
        self.timeout = timeout;
    }

    /// The retransmission timeout.
    pub(crate) fn timeout(&self) -> Time {
        self.timeout
    }

    /// The smoothed round-trip time, once there is one.
    pub(crate) fn smoothed(&self) -> Option<Time> {
        self.is_measured.then_some(self.smoothed)
    }

    /// The variation.
    pub(crate) fn variation(&self) -> Time {
        self.variation
    }

    /// The smallest round-trip time of the last minutes, once one was measured exactly.
    pub(crate) fn min(&self) -> Option<Time> {
        (self.min < Time::MAX).then_some(self.min)
    }
}
