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

fn tokens(units: u64) -> u128 {
    u128::from(units) * TOKENS_PER_UNIT
}

/// The greatest burst whose tokens are a word.
const SHORT_BURST_MAX: u64 = (u64::MAX as u128 / TOKENS_PER_UNIT) as u64;

/// In place of a short burst: bursts and the high halves of tokens are in the second line.
const LONG: u32 = u32::MAX;

/// In place of a burst: there are no rates.
const UNSET: u32 = u32::MAX - 1;

/// What a cell has in its second line: the bursts, and the high halves of tokens if bursts are long.
#[derive(Clone, Copy, Default)]
struct Long {
    high: [u64; 2],
    bursts: [u64; 2],
}

/// One cell of a meter: two cache lines. A packet meets one of many cells, at random; the first line has all that a
/// green packet needs, unless bursts are of more than 18 million units. Of pairs, the first is committed, the second is
/// peak.
#[derive(Clone)]
#[repr(C, align(128))]
pub struct MeterCell {
    /// What the buckets hold: the low halves.
    tokens: [u64; 2],
    filled_ns: u64,
    rates_milliunits_per_s: [u64; 2],
    bursts: [u32; 2],
    green: CounterCell,
    yellow: CounterCell,
    red: CounterCell,
    long: Long,
}

const _: () = assert!(size_of::<MeterCell>() == cgen::abi::METER_CELL_BYTES);

impl Default for MeterCell {
    fn default() -> MeterCell {
        let (green, yellow, red) = Default::default();
        MeterCell {
            tokens: [0; 2],
            filled_ns: 0,
            rates_milliunits_per_s: [0; 2],
            bursts: [UNSET; 2],
            green,
            yellow,
            red,
            long: Long::default(),
        }
    }
}

impl MeterCell {
    /// Sets the rates; both buckets are full at `now_ns`.
    pub fn configure(&mut self, config: MeterConfig, now_ns: u64) {
        let bursts = [config.committed_burst, config.peak_burst];
        let is_short = bursts.iter().all(|burst| *burst <= SHORT_BURST_MAX);
        self.bursts = if is_short { bursts.map(|burst| burst as u32) } else { [LONG; 2] };
        self.long.bursts = bursts;
        self.rates_milliunits_per_s = [config.committed_rate_milliunits_per_s, config.peak_rate_milliunits_per_s];
        self.filled_ns = now_ns;
        self.set_tokens(bursts.map(tokens));
    }

    /// The rates, if they were set.
    pub fn config(&self) -> Option<MeterConfig> {
        let [committed_rate_milliunits_per_s, peak_rate_milliunits_per_s] = self.rates_milliunits_per_s;
        let [committed_burst, peak_burst] = self.long.bursts;
        (self.bursts[0] != UNSET).then_some(MeterConfig {
            committed_rate_milliunits_per_s,
            committed_burst,
            peak_rate_milliunits_per_s,
            peak_burst,
        })
    }

    /// How many packets of each colour it has made.
    pub fn counts(&self) -> ColorCounts {
        [self.green, self.yellow, self.red]
    }

    /// Sets these counts.
    pub fn set_counts(&mut self, counts: ColorCounts) {
        [self.green, self.yellow, self.red] = counts;
    }

    /// Counts a packet that was marked.
    pub(crate) fn count(&mut self, color: Color, bytes: u64) {
        match color {
            Color::Green => self.green.count(bytes),
            Color::Yellow => self.yellow.count(bytes),
            Color::Red => self.red.count(bytes),
        }
    }

    fn set_tokens(&mut self, tokens: [u128; 2]) {
        self.tokens = tokens.map(|it| it as u64);
        if self.bursts[0] == LONG {
            self.long.high = tokens.map(|it| (it >> 64) as u64);
        }
    }

    /// What the buckets hold after a time.
    fn filled(&self, elapsed_ns: u64) -> [u128; 2] {
        let (bursts, high) = match self.bursts[0] {
            LONG => (self.long.bursts, self.long.high),
            _ => (self.bursts.map(u64::from), [0; 2]),
        };
        std::array::from_fn(|it| {
            let content = u128::from(high[it]) << 64 | u128::from(self.tokens[it]);
            let gained = u128::from(elapsed_ns) * u128::from(self.rates_milliunits_per_s[it]);
            content.saturating_add(gained).min(tokens(bursts[it]))
        })
    }

    /// Meters `units`, which have the colour `before`, at `now_ns`: the colour-aware mode of RFC 2698, which for green
    /// is the colour-blind one.
    pub fn execute(&mut self, units: u64, before: Color, now_ns: u64) -> Color {
        if self.bursts[0] == UNSET {
            return before;
        }
        let [mut committed, mut peak] = self.filled(now_ns.saturating_sub(self.filled_ns));
        self.filled_ns = self.filled_ns.max(now_ns);
        let wanted = tokens(units);
        let color = if before == Color::Red || peak < wanted {
            Color::Red
        } else if before == Color::Yellow || committed < wanted {
            peak -= wanted;
            Color::Yellow
        } else {
            (committed, peak) = (committed - wanted, peak - wanted);
            Color::Green
        };
        self.set_tokens([committed, peak]);
        color
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

    #[test]
    fn bursts_of_both_sizes_mark_alike() {
        // The greatest short burst, and one more.
        for burst in [SHORT_BURST_MAX, SHORT_BURST_MAX + 1] {
            let mut it = cell(1000, burst, 2000, burst);
            assert_eq!(it.execute(burst, Color::Green, 0), Color::Green);
            assert_eq!(it.execute(1, Color::Green, 0), Color::Red);
            // A second brings a thousand, and two thousand.
            let second = 1_000_000_000;
            assert_eq!(it.execute(1000, Color::Green, second), Color::Green);
            assert_eq!(it.execute(1000, Color::Green, second), Color::Yellow);
            assert_eq!(it.execute(1, Color::Green, second), Color::Red);
            assert_eq!(it.config().unwrap().peak_burst, burst);
            // Never more than the burst.
            assert_eq!(it.execute(burst, Color::Green, u64::MAX), Color::Green);
            assert_eq!(it.execute(1, Color::Green, u64::MAX), Color::Red);
        }
    }
}
