//! Two-rate three-colour markers (RFC 2698).
//!
//! What enters: a packet's size, the colour that it has so far, and the time. What leaves: its colour. A cell that
//! is not configured leaves the colour as it is; that of a packet without one is green. Every cell counts what it has
//! marked with each colour.

use crate::externs::CounterCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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
const LONG: u32 = 1 << 30;

/// In place of a burst: there are no rates.
const UNSET: u32 = cgen::abi::METER_UNSET;

/// Added to the peak burst while a worker has taken the cell.
const TAKEN: u32 = 1 << 31;

const _: () = assert!(SHORT_BURST_MAX < LONG as u64 && UNSET > LONG && UNSET < TAKEN);

/// How often a worker looks whether a cell is free before it offers its processor.
const LOOKS: usize = 200;

/// A word of a cell. Whoever has the cell reads and writes it, so it needs no order of its own.
#[derive(Default)]
struct Word(AtomicU64);

impl Word {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Packets of one colour, and their bytes.
#[derive(Default)]
#[repr(C)]
struct Count {
    packets: Word,
    bytes: Word,
}

impl Count {
    fn get(&self) -> CounterCell {
        CounterCell { packets: self.packets.get(), bytes: self.bytes.get() }
    }

    fn set(&self, count: CounterCell) {
        self.packets.set(count.packets);
        self.bytes.set(count.bytes);
    }
}

/// What a cell has in its second line: the bursts, and the high halves of tokens if bursts are long.
#[derive(Default)]
struct Long {
    high: [Word; 2],
    bursts: [Word; 2],
}

/// One cell of a meter: two cache lines. A packet meets one of many cells, at random; the first line has all that a
/// green packet needs, unless bursts are of more than 18 million units. Of pairs, the first is committed, the second is
/// peak.
///
/// Several workers may share a cell. Each then takes it for a packet (`MeterCell::take`), so that it marks the
/// packets of all workers one after the other, as it would in the order in which they took it.
#[repr(C, align(128))]
pub struct MeterCell {
    /// What the buckets hold: the low halves.
    tokens: [Word; 2],
    filled_ns: Word,
    rates_milliunits_per_s: [Word; 2],
    bursts: [AtomicU32; 2],
    green: Count,
    yellow: Count,
    red: Count,
    long: Long,
}

const _: () = {
    assert!(size_of::<MeterCell>() == cgen::abi::METER_CELL_BYTES);
    assert!(std::mem::offset_of!(MeterCell, bursts) == cgen::abi::METER_BURST_AT);
    assert!(std::mem::offset_of!(MeterCell, green) == cgen::abi::METER_GREEN_AT);
};

impl Default for MeterCell {
    fn default() -> MeterCell {
        let (tokens, filled_ns, rates_milliunits_per_s) = Default::default();
        let (green, yellow, red, long) = Default::default();
        let bursts = [UNSET; 2].map(AtomicU32::new);
        MeterCell { tokens, filled_ns, rates_milliunits_per_s, bursts, green, yellow, red, long }
    }
}

impl Clone for MeterCell {
    fn clone(&self) -> MeterCell {
        let copy = MeterCell::default();
        copy.copy_from(self);
        copy
    }
}

/// A cell that a worker has taken.
pub(crate) struct Taken<'a>(&'a MeterCell);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let [_, peak] = self.0.short_bursts();
        self.0.bursts[1].store(peak, Ordering::Release);
    }
}

impl MeterCell {
    /// Takes a cell that other workers may use.
    pub(crate) fn take(&self) -> Taken<'_> {
        let peak = &self.bursts[1];
        loop {
            for _ in 0..LOOKS {
                let free = peak.load(Ordering::Relaxed) & !TAKEN;
                if peak.compare_exchange_weak(free, free | TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return Taken(self);
                }
                std::hint::spin_loop();
            }
            // Who has it may have lost its processor.
            std::thread::yield_now();
        }
    }

    fn short_bursts(&self) -> [u32; 2] {
        let [committed, peak] = &self.bursts;
        [committed.load(Ordering::Relaxed), peak.load(Ordering::Relaxed) & !TAKEN]
    }

    fn is_long(&self) -> bool {
        self.short_bursts()[0] == LONG
    }

    pub(crate) fn has_rates(&self) -> bool {
        self.short_bursts()[0] != UNSET
    }

    /// All words but the bursts of the first line.
    fn words(&self) -> [&Word; 15] {
        let MeterCell { tokens: [a, b], filled_ns, rates_milliunits_per_s: [c, d], green, yellow, red, long, .. } =
            self;
        let counts = [green, yellow, red].map(|count| [&count.packets, &count.bytes]);
        let [[e, f], [g, h], [i, j]] = counts;
        let Long { high: [k, l], bursts: [m, n] } = long;
        [a, b, filled_ns, c, d, e, f, g, h, i, j, k, l, m, n]
    }

    /// Makes it equal to another one. No packet uses either meanwhile.
    pub fn copy_from(&self, other: &MeterCell) {
        self.words().into_iter().zip(other.words()).for_each(|(to, from)| to.set(from.get()));
        self.bursts.iter().zip(other.short_bursts()).for_each(|(to, from)| to.store(from, Ordering::Relaxed));
    }

    /// Sets the rates; both buckets are full at `now_ns`.
    pub fn configure(&self, config: MeterConfig, now_ns: u64) {
        let bursts = [config.committed_burst, config.peak_burst];
        let is_short = bursts.iter().all(|burst| *burst <= SHORT_BURST_MAX);
        let short = if is_short { bursts.map(|burst| burst as u32) } else { [LONG; 2] };
        self.bursts.iter().zip(short).for_each(|(to, burst)| to.store(burst, Ordering::Relaxed));
        self.long.bursts.iter().zip(bursts).for_each(|(to, burst)| to.set(burst));
        let [committed, peak] = &self.rates_milliunits_per_s;
        committed.set(config.committed_rate_milliunits_per_s);
        peak.set(config.peak_rate_milliunits_per_s);
        self.filled_ns.set(now_ns);
        self.set_tokens(bursts.map(tokens));
    }

    /// The rates, if they were set.
    pub fn config(&self) -> Option<MeterConfig> {
        let [committed_rate_milliunits_per_s, peak_rate_milliunits_per_s] = self.rates();
        let [committed_burst, peak_burst] = self.long.bursts.each_ref().map(Word::get);
        self.has_rates().then_some(MeterConfig {
            committed_rate_milliunits_per_s,
            committed_burst,
            peak_rate_milliunits_per_s,
            peak_burst,
        })
    }

    fn rates(&self) -> [u64; 2] {
        self.rates_milliunits_per_s.each_ref().map(Word::get)
    }

    /// How many packets of each colour it has made.
    pub fn counts(&self) -> ColorCounts {
        [&self.green, &self.yellow, &self.red].map(Count::get)
    }

    /// Sets these counts.
    pub fn set_counts(&self, counts: ColorCounts) {
        [&self.green, &self.yellow, &self.red].into_iter().zip(counts).for_each(|(to, count)| to.set(count));
    }

    /// Counts a packet that was marked.
    pub(crate) fn count(&self, color: Color, bytes: u64) {
        let counted = match color {
            Color::Green => &self.green,
            Color::Yellow => &self.yellow,
            Color::Red => &self.red,
        };
        let mut count = counted.get();
        count.count(bytes);
        counted.set(count);
    }

    /// Adds green packets.
    pub(crate) fn add_green(&self, more: CounterCell) {
        let CounterCell { packets, bytes } = self.green.get();
        let sum = CounterCell { packets: packets.wrapping_add(more.packets), bytes: bytes.wrapping_add(more.bytes) };
        self.green.set(sum);
    }

    fn set_tokens(&self, tokens: [u128; 2]) {
        self.tokens.iter().zip(tokens).for_each(|(to, it)| to.set(it as u64));
        if self.is_long() {
            self.long.high.iter().zip(tokens).for_each(|(to, it)| to.set((it >> 64) as u64));
        }
    }

    /// What the buckets hold after a time.
    fn filled(&self, elapsed_ns: u64) -> [u128; 2] {
        let (bursts, high) = match self.is_long() {
            true => [&self.long.bursts, &self.long.high].map(|pair| pair.each_ref().map(Word::get)).into(),
            false => (self.short_bursts().map(u64::from), [0; 2]),
        };
        let rates = self.rates();
        std::array::from_fn(|it| {
            let content = u128::from(high[it]) << 64 | u128::from(self.tokens[it].get());
            let gained = u128::from(elapsed_ns) * u128::from(rates[it]);
            content.saturating_add(gained).min(tokens(bursts[it]))
        })
    }

    /// Meters `units`, which have the colour `before`, at `now_ns`: the colour-aware mode of RFC 2698, which for green
    /// is the colour-blind one. A worker may come with a time before that of another one, which then is its time.
    pub fn execute(&self, units: u64, before: Color, now_ns: u64) -> Color {
        if !self.has_rates() {
            return before;
        }
        let filled_ns = self.filled_ns.get();
        let [mut committed, mut peak] = self.filled(now_ns.saturating_sub(filled_ns));
        self.filled_ns.set(filled_ns.max(now_ns));
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
        let cell = MeterCell::default();
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
        let cell = MeterCell::default();
        assert!((0..1000).all(|_| cell.execute(1500, Color::Green, 0) == Color::Green));
    }

    #[test]
    fn bursts_run_out_in_order() {
        let cell = cell(1000, 2, 2000, 3);
        let colors: Vec<Color> = (0..4).map(|_| cell.execute(1, Color::Green, 0)).collect();
        assert_eq!(colors, [Color::Green, Color::Green, Color::Yellow, Color::Red]);
    }

    #[test]
    fn no_packet_becomes_better_than_it_was() {
        let cell = cell(1000, 1, 2000, 3);
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
        let cell = cell(1000, 1, 2000, 1);
        assert_eq!(cell.execute(1, Color::Green, 0), Color::Green);
        assert_eq!(cell.execute(1, Color::Green, 100_000), Color::Red);
        assert_eq!(cell.execute(1, Color::Green, 500_000), Color::Yellow);
        assert_eq!(cell.execute(1, Color::Green, 1_000_000), Color::Green);
    }

    #[test]
    fn slow_rates_lose_nothing_to_rounding() {
        // One unit per second, read every microsecond: after two seconds two units have come.
        let cell = cell(1, 1, 1, 1);
        let greens = (0..=2_000_000u64).filter(|us| cell.execute(1, Color::Green, us * 1000) == Color::Green).count();
        assert_eq!(greens, 3);
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let cell = cell(u64::MAX, u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(cell.execute(u64::MAX, Color::Green, u64::MAX), Color::Green);
    }

    #[test]
    fn workers_that_share_a_cell_mark_as_one() {
        const PACKETS: u64 = 20_000;
        let cell = cell(0, PACKETS / 2, 0, PACKETS);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..PACKETS {
                        let taken = cell.take();
                        cell.count(cell.execute(1, Color::Green, 0), 100);
                        drop(taken);
                    }
                });
            }
        });
        let marked = cell.counts().map(|count| (count.packets, count.bytes));
        assert_eq!(marked, [PACKETS / 2, PACKETS / 2, PACKETS].map(|packets| (packets, 100 * packets)));
        assert_eq!(cell.config().unwrap().peak_burst, PACKETS);
    }

    #[test]
    fn a_copy_has_all_of_a_cell() {
        let it = cell(1, SHORT_BURST_MAX + 1, 2, SHORT_BURST_MAX + 2);
        it.count(Color::Yellow, 7);
        assert_eq!(it.execute(SHORT_BURST_MAX + 1, Color::Green, 0), Color::Green);
        let copy = it.clone();
        assert_eq!((copy.config(), copy.counts()), (it.config(), it.counts()));
        assert_eq!(copy.execute(1, Color::Green, 0), Color::Yellow);
        assert_eq!(copy.execute(1, Color::Green, 0), Color::Red);
    }

    #[test]
    fn bursts_of_both_sizes_mark_alike() {
        // The greatest short burst, and one more.
        for burst in [SHORT_BURST_MAX, SHORT_BURST_MAX + 1] {
            let it = cell(1000, burst, 2000, burst);
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
