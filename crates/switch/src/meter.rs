//! Two-rate three-colour markers (RFC 2698).
//!
//! What enters: a packet's size, the colour that it has so far, and the time. What leaves: its colour. A cell that
//! nobody configured leaves the colour as it is; that of a packet without one is green. Every cell counts what it has
//! marked with each colour.

use crate::externs::CounterCell;

/// Packets that a meter has marked green, yellow and red.
pub type ColorCounts = [CounterCell; 3];

/// A packet's colour, at the number that v1model and PSA programs see in a `bit` field of v1model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u64)]
pub enum Color {
    /// Within the committed rate.
    Green = 0,
    /// Above the committed rate, within the peak rate.
    Yellow = 1,
    /// Above the peak rate.
    Red = 2,
}

impl Color {
    /// The colour of this number; the worst, if there is none.
    pub fn of(number: u32) -> Color {
        match number {
            0 => Color::Green,
            1 => Color::Yellow,
            _ => Color::Red,
        }
    }
}

/// Rates and bursts of one cell. A unit is a packet or a byte, as the meter measures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeterConfig {
    /// Committed rate, thousandths of a unit per second.
    pub committed_rate_milliunits_per_s: u64,
    /// Committed burst, units.
    pub committed_burst: u64,
    /// Peak rate, thousandths of a unit per second; not below the committed one.
    pub peak_rate_milliunits_per_s: u64,
    /// Peak burst, units.
    pub peak_burst: u64,
}

/// Tokens are integers, this many to a unit, so that a rate of one thousandth of a unit per second is one token per
/// nanosecond: nothing is rounded.
const TOKENS_PER_UNIT: u128 = 1_000_000_000_000;

#[derive(Clone, Copy, Default)]
struct Bucket {
    tokens: u128,
    tokens_max: u128,
    tokens_per_ns: u128,
}

impl Bucket {
    fn new(rate_milliunits_per_s: u64, burst: u64) -> Bucket {
        let tokens_max = u128::from(burst) * TOKENS_PER_UNIT;
        Bucket { tokens: tokens_max, tokens_max, tokens_per_ns: u128::from(rate_milliunits_per_s) }
    }

    fn fill(&mut self, elapsed_ns: u64) {
        let gained = u128::from(elapsed_ns).saturating_mul(self.tokens_per_ns);
        self.tokens = self.tokens.saturating_add(gained).min(self.tokens_max);
    }

    fn holds(&self, units: u64) -> bool {
        self.tokens >= u128::from(units) * TOKENS_PER_UNIT
    }

    fn take(&mut self, units: u64) {
        self.tokens -= u128::from(units) * TOKENS_PER_UNIT;
    }
}

/// One cell of a meter.
#[derive(Clone, Default)]
pub struct MeterCell {
    config: Option<MeterConfig>,
    committed: Bucket,
    peak: Bucket,
    filled_ns: u64,
    counts: ColorCounts,
}

impl MeterCell {
    /// Sets the rates; both buckets are full at `now_ns`.
    pub fn configure(&mut self, config: MeterConfig, now_ns: u64) {
        *self = MeterCell {
            config: Some(config),
            committed: Bucket::new(config.committed_rate_milliunits_per_s, config.committed_burst),
            peak: Bucket::new(config.peak_rate_milliunits_per_s, config.peak_burst),
            filled_ns: now_ns,
            counts: self.counts,
        };
    }

    /// The rates, if they were set.
    pub fn config(&self) -> Option<MeterConfig> {
        self.config
    }

    /// How many packets of each colour it has made.
    pub fn counts(&self) -> ColorCounts {
        self.counts
    }

    /// Sets these counts.
    pub fn set_counts(&mut self, counts: ColorCounts) {
        self.counts = counts;
    }

    /// Counts a packet that was marked.
    pub(crate) fn count(&mut self, color: Color, bytes: u64) {
        self.counts[color as usize].count(bytes);
    }

    /// Meters `units`, which have the colour `before`, at `now_ns`: the colour-aware mode of RFC 2698, which for green
    /// is the colour-blind one.
    pub fn execute(&mut self, units: u64, before: Color, now_ns: u64) -> Color {
        if self.config.is_none() {
            return before;
        }
        let elapsed_ns = now_ns.saturating_sub(self.filled_ns);
        self.filled_ns = self.filled_ns.max(now_ns);
        self.committed.fill(elapsed_ns);
        self.peak.fill(elapsed_ns);
        if before == Color::Red || !self.peak.holds(units) {
            return Color::Red;
        }
        self.peak.take(units);
        if before == Color::Yellow || !self.committed.holds(units) {
            return Color::Yellow;
        }
        self.committed.take(units);
        Color::Green
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(committed_per_s: u64, committed_burst: u64, peak_per_s: u64, peak_burst: u64) -> MeterCell {
        let mut cell = MeterCell::default();
        let config = MeterConfig {
            committed_rate_milliunits_per_s: committed_per_s.saturating_mul(1000),
            committed_burst,
            peak_rate_milliunits_per_s: peak_per_s.saturating_mul(1000),
            peak_burst,
        };
        cell.configure(config, 0);
        cell
    }

    #[test]
    fn an_unconfigured_cell_is_green() {
        let mut cell = MeterCell::default();
        assert!((0..1000).all(|_| cell.execute(1500, Color::Green, 0) == Color::Green));
    }

    #[test]
    fn bursts_run_out_in_order() {
        let mut cell = cell(1000, 2, 2000, 3);
        let colors: Vec<Color> = (0..4).map(|_| cell.execute(1, Color::Green, 0)).collect();
        assert_eq!(colors, [Color::Green, Color::Green, Color::Yellow, Color::Red]);
    }

    #[test]
    fn no_packet_becomes_better_than_it_was() {
        let mut cell = cell(1000, 1, 2000, 3);
        // A red packet takes nothing, a yellow one only of the peak bucket.
        assert_eq!(cell.execute(1, Color::Red, 0), Color::Red);
        assert_eq!(cell.execute(1, Color::Yellow, 0), Color::Yellow);
        assert_eq!(cell.execute(1, Color::Green, 0), Color::Green);
        assert_eq!(cell.execute(1, Color::Green, 0), Color::Yellow);
        assert_eq!(cell.execute(1, Color::Yellow, 0), Color::Red);
        assert_eq!(MeterCell::default().execute(1, Color::Yellow, 0), Color::Yellow);
    }

    #[test]
    fn tokens_come_back_at_the_rate() {
        let mut cell = cell(1000, 1, 2000, 1);
        assert_eq!(cell.execute(1, Color::Green, 0), Color::Green);
        assert_eq!(cell.execute(1, Color::Green, 100_000), Color::Red);
        assert_eq!(cell.execute(1, Color::Green, 500_000), Color::Yellow);
        assert_eq!(cell.execute(1, Color::Green, 1_000_000), Color::Green);
    }

    #[test]
    fn slow_rates_lose_nothing_to_rounding() {
        // One unit per second, asked every microsecond: after two seconds two units have come.
        let mut cell = cell(1, 1, 1, 1);
        let greens = (0..=2_000_000u64).filter(|us| cell.execute(1, Color::Green, us * 1000) == Color::Green).count();
        assert_eq!(greens, 3);
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let mut cell = cell(u64::MAX, u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(cell.execute(u64::MAX, Color::Green, u64::MAX), Color::Green);
    }
}
