//! NewReno's window (RFC 5681): a segment more per round trip, half of it after a loss.

use super::{WINDOW_MAX, Window};

/// The state of congestion avoidance.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno {
    /// Bytes that were acknowledged since the window last grew.
    acknowledged: u64,
}

impl NewReno {
    /// Congestion avoidance by byte counting (RFC 5681, section 3.1): a segment for each window of acknowledged bytes.
    pub(super) fn avoid(&mut self, window: &mut Window, bytes: u64) {
        self.acknowledged += bytes;
        while self.acknowledged >= window.congestion && window.congestion < WINDOW_MAX {
            self.acknowledged -= window.congestion;
            window.congestion += window.mss;
        }
        self.acknowledged = self.acknowledged.min(WINDOW_MAX);
    }
}

/// The threshold after a loss (RFC 5681, equation 4), without its minimum.
pub(super) fn threshold(used: u64) -> u64 {
    used / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acknowledgments_adds_a_segment() {
        let mut reno = NewReno::default();
        let mut window = Window { congestion: 10_000, threshold: 10_000, mss: 1000 };
        for _ in 0..9 {
            reno.avoid(&mut window, 1000);
        }
        assert_eq!(window.congestion, 10_000);
        reno.avoid(&mut window, 1000);
        assert_eq!(window.congestion, 11_000);
        reno.avoid(&mut window, 11_000 + 12_000);
        assert_eq!(window.congestion, 13_000);
    }
}
