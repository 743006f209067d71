//! DCTCP's window (RFC 8257): it falls in proportion to the fraction of marked bytes. Otherwise it is NewReno's.
//!
//! Fractions are integers in units of `2^-20`.

use super::Window;
use super::newreno::{self, NewReno};

/// One, in the units of [`Alpha`].
const ONE: u64 = 1 << 20;
/// *g* is `2^-4` (section 4.2).
const GAIN_SHIFT: u32 = 4;

/// A fraction of marked bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alpha(u32);

impl Alpha {
    /// As a number between 0 and 1.
    pub(crate) fn fraction(self) -> f64 {
        f64::from(self.0) / ONE as f64
    }
}

/// The state of DCTCP.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    reno: NewReno,
    alpha: Alpha,
    acknowledged: u64,
    marked: u64,
    /// Where the observation window ends.
    window_end: i64,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        // Section 4.2 begins at 1, so that the first sign of congestion halves the window. 0 is a position before all
        // data.
        Dctcp { reno: NewReno::default(), alpha: Alpha(ONE as u32), acknowledged: 0, marked: 0, window_end: 0 }
    }
}

impl Dctcp {
    pub(super) fn avoid(&mut self, window: &mut Window, bytes: u64) {
        self.reno.avoid(window, bytes);
    }

    /// Section 3.3, steps 1 to 7.
    pub(super) fn count(&mut self, bytes: u64, is_marked: bool, to: i64, end: i64) {
        self.acknowledged += bytes;
        if is_marked {
            self.marked += bytes;
        }
        if to <= self.window_end || self.acknowledged == 0 {
            return;
        }
        let fraction = self.marked * ONE / self.acknowledged;
        let alpha = u64::from(self.alpha.0);
        self.alpha = Alpha((alpha - (alpha >> GAIN_SHIFT) + (fraction >> GAIN_SHIFT)).min(ONE) as u32);
        self.window_end = end;
        self.acknowledged = 0;
        self.marked = 0;
    }

    /// Section 3.3, step 9, for a mark; section 3.4 for a loss.
    pub(super) fn threshold(&mut self, used: u64, is_loss: bool) -> u64 {
        self.reno = NewReno::default();
        if is_loss { newreno::threshold(used) } else { used - used * u64::from(self.alpha.0) / (2 * ONE) }
    }

    pub(super) fn on_timeout(&mut self) {
        self.reno = NewReno::default();
    }

    pub(super) fn alpha(&self) -> Alpha {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_follows_the_marks() {
        // Ten segments of 1000 bytes are always in flight. The acknowledgment that ends an observation window is the
        // first of data that was sent after it began, so each window is eleven acknowledgments long, but the first ends
        // at once.
        let mut dctcp = Dctcp::default();
        let mut expected = 1.0 - 1.0 / 16.0;
        let mut to = 1000;
        dctcp.count(1000, false, to, to + 10_000);
        assert!((dctcp.alpha.fraction() - expected).abs() < 1e-5);
        for marked in [0, 3, 11, 1, 0, 5] {
            for segment in 0..11 {
                to += 1000;
                dctcp.count(1000, segment < marked, to, to + 10_000);
            }
            expected = expected * (15.0 / 16.0) + f64::from(marked) / 11.0 / 16.0;
            assert!((dctcp.alpha.fraction() - expected).abs() < 1e-5, "{marked}: {}", dctcp.alpha.fraction());
        }
    }

    #[test]
    fn the_window_falls_by_half_of_alpha() {
        let mut dctcp = Dctcp::default();
        assert_eq!(dctcp.threshold(100_000, false), 50_000);
        dctcp.alpha = Alpha((ONE / 4) as u32);
        assert_eq!(dctcp.threshold(100_000, false), 87_500);
        assert_eq!(dctcp.threshold(100_000, true), 50_000);
    }
}
