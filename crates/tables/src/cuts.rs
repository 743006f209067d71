//! The choice of the bits by which a set of entries is cut.
//!
//! What enters: entries, and what is known of the keys that reach them. What leaves: a window of neighbouring bits of
//! one word, so that a key has to be compared only with the entries that agree with its bits there. An entry that does
//! not test all bits of the window is copied to several parts. A good window makes the parts small, and few copies.

use crate::cells::{Cell, Cells};
use crate::ranked::RangeField;
use crate::shape::{Match, Shape};

/// Bits of a window at most.
pub(crate) const BITS_MAX: u32 = 12;

/// Entries that are counted at most.
const SAMPLE: usize = 256;

/// A window: bits of a word, which belong to the range field of this number, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub word: usize,
    pub shift: u32,
    pub bits: u32,
    pub range: Option<usize>,
}

/// The bits that all keys at a node have in common.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub mask: Vec<u64>,
    pub value: Vec<u64>,
}

/// An entry, and the copies of it that there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub cell: Cell,
    pub budget: u32,
}

impl Known {
    pub fn nothing(shape: &Shape) -> Known {
        Known { mask: vec![0; shape.key_words], value: vec![0; shape.key_words] }
    }

    /// Sets the bits of a window.
    pub fn enter(&mut self, window: &Window, part: u64) {
        self.mask[window.word] |= window.mask();
        self.value[window.word] = self.value[window.word] & !window.mask() | part << window.shift;
    }

    /// Forgets them.
    pub fn leave(&mut self, window: &Window) {
        self.mask[window.word] &= !window.mask();
        self.value[window.word] &= !window.mask();
    }

    /// The least and the greatest value that a range field can have by the bits from its first one on that are known.
    fn bounds(&self, field: &RangeField) -> (u64, u64) {
        let unknown = field.mask & !self.mask[field.word];
        let open = unknown.checked_ilog2().map_or(0, |bit| u64::MAX >> (63 - bit)) & field.mask;
        let low = self.value[field.word] & field.mask & !open;
        (low >> field.shift_bits, (low | open) >> field.shift_bits)
    }
}

/// The parts of a window that an entry belongs to.
pub(crate) enum Parts {
    /// The first part, the number of parts from it on, and the mask of part numbers, which wrap round.
    Run(u64, u64, u64),
    /// Those with this value in the bits that are not in the second number.
    Free(u64, u64),
    None,
}

impl Parts {
    pub fn count(&self) -> u32 {
        match self {
            Parts::Run(_, count, _) => *count as u32,
            Parts::Free(_, free) => 1 << free.count_ones(),
            Parts::None => 0,
        }
    }

    #[inline(always)]
    pub fn each(&self, mut visit: impl FnMut(usize)) {
        match *self {
            Parts::Run(first, count, full) => (first..first + count).for_each(|part| visit((part & full) as usize)),
            Parts::Free(value, free) => {
                let mut bits = free;
                loop {
                    visit((value | bits) as usize);
                    if bits == 0 {
                        break;
                    }
                    bits = (bits - 1) & free;
                }
            }
            Parts::None => {}
        }
    }
}

impl Window {
    fn mask(&self) -> u64 {
        self.full() << self.shift
    }

    fn full(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The parts that an entry belongs to, for keys with these known bits.
    #[inline(always)]
    pub fn parts(&self, shape: &Shape, known: &Known, entry: &Match<'_>) -> Parts {
        let Some(range) = self.range else {
            let value = entry.value[self.word] >> self.shift & self.full();
            return Parts::Free(value, !(entry.mask[self.word] >> self.shift) & self.full());
        };
        let field = &shape.ranges[range];
        let (low, high) = entry.bounds(field);
        let (least, most) = known.bounds(field);
        if low > most || high < least {
            return Parts::None;
        }
        let shift = self.shift - field.shift_bits;
        let (first, last) = (low.max(least) >> shift, high.min(most) >> shift);
        Parts::Run(first & self.full(), (last - first).min(self.full()) + 1, self.full())
    }
}

/// The window that is best for these entries, and how good it is, if it is good enough. Entries for which the budget
/// does not suffice will be taken out, where that is possible.
pub(crate) fn choose(
    shape: &Shape,
    cells: &Cells,
    known: &Known,
    items: &[Item],
    takes_out: bool,
) -> Option<(f32, Window)> {
    let step = items.len().div_ceil(SAMPLE);
    let sample: Vec<(Match<'_>, u32)> =
        items.iter().step_by(step).map(|item| (shape.of(cells, item.cell), item.budget)).collect();
    let most_bits = (items.len() / PART_ENTRIES).max(1).ilog2().clamp(1, BITS_MAX);
    let mut best = (MIN_SCORE, None);
    let mut counts = Vec::new();
    let mut consider = |window: Window| {
        let score = score(shape, known, &sample, &window, takes_out, &mut counts);
        if score > best.0 {
            best = (score, Some((score, window)));
        }
    };
    for word in 0..shape.key_words {
        let usable = shape.masked[word] & !known.mask[word];
        let asked = |entry: &Match<'_>| (entry.value[word], entry.mask[word]);
        windows(&sample, word, None, usable, most_bits, asked).for_each(&mut consider);
    }
    for (range, field) in shape.ranges.iter().enumerate() {
        let usable = field.mask & !known.mask[field.word];
        // The bits that both bounds share are tested.
        let asked = |entry: &Match<'_>| {
            let (low, high) = entry.bounds(field);
            let open = (low ^ high).checked_ilog2().map_or(0, |bit| u64::MAX >> (63 - bit));
            (low << field.shift_bits, !(open << field.shift_bits))
        };
        windows(&sample, field.word, Some(range), usable, most_bits, asked).for_each(&mut consider);
        if let Some(top) = usable.checked_ilog2() {
            let bits = most_bits.min(usable.count_ones());
            let window = Window { word: field.word, shift: top + 1 - bits, bits, range: Some(range) };
            if window.mask() & !usable == 0 {
                consider(window);
            }
        }
    }
    best.1
}

/// How good a cut must be, in bits.
const MIN_SCORE: f32 = 0.4;

/// The prices of twice as many copies, and of all entries that are taken out, in bits. Each tree is searched.
const COPIED_PRICE: f32 = 0.8;
const TAKEN_PRICE: f32 = 5.0;

/// Entries of a part for a key, on average, that a window may leave: fewer would make leaves that are nearly empty.
const PART_ENTRIES: usize = 4;

/// Windows of some sizes that may be good: for each size those two that separate most by themselves.
fn windows<'e>(
    sample: &[(Match<'e>, u32)],
    word: usize,
    range: Option<usize>,
    usable: u64,
    most_bits: u32,
    asked: impl Fn(&Match<'e>) -> (u64, u64),
) -> impl Iterator<Item = Window> {
    let separated = if usable == 0 { [0; 64] } else { separated(sample, usable, asked) };
    let sizes = std::iter::successors(Some(most_bits), |bits| Some(bits * 2 / 3)).take_while(|bits| *bits > 0);
    let sizes = sizes.take_while(move |_| usable != 0);
    sizes.flat_map(move |bits| best_two(word, range, usable, bits, &separated)).flatten()
}

/// For each bit, how many entries of a sample it excludes for a key at least, less what it copies.
fn separated<'e>(sample: &[(Match<'e>, u32)], usable: u64, asked: impl Fn(&Match<'e>) -> (u64, u64)) -> [i32; 64] {
    let (mut asked_for, mut ones) = (Counters::default(), Counters::default());
    for (entry, _) in sample {
        let (value, mask) = asked(entry);
        asked_for.add(mask & usable);
        ones.add(value & mask & usable);
    }
    let of_bit = |bit: usize| {
        let (asked, ones) = (asked_for.of(bit), ones.of(bit));
        4 * ones.min(asked - ones) - (sample.len() as i32 - asked)
    };
    std::array::from_fn(of_bit)
}

/// How often each bit of some words is set: a counter for each, whose digits are in as many words.
#[derive(Default)]
struct Counters([u64; SAMPLE.ilog2() as usize + 1]);

impl Counters {
    fn add(&mut self, word: u64) {
        let mut carry = word;
        for digits in &mut self.0 {
            (*digits, carry) = (*digits ^ carry, *digits & carry);
            if carry == 0 {
                break;
            }
        }
    }

    fn of(&self, bit: usize) -> i32 {
        self.0.iter().enumerate().map(|(digit, digits)| ((digits >> bit & 1) << digit) as i32).sum()
    }
}

/// The two windows of this number of usable bits that separate most by themselves.
fn best_two(word: usize, range: Option<usize>, usable: u64, bits: u32, separated: &[i32; 64]) -> [Option<Window>; 2] {
    let mut best: [(i32, Option<Window>); 2] = [(i32::MIN, None); 2];
    for shift in 0..=64 - bits {
        let window = Window { word, shift, bits, range };
        if window.mask() & !usable != 0 {
            continue;
        }
        let sum = separated[shift as usize..(shift + bits) as usize].iter().sum();
        if sum > best[0].0 {
            best = [(sum, Some(window)), best[0]];
        } else if sum > best[1].0 {
            best[1] = (sum, Some(window));
        }
    }
    best.map(|(_, window)| window)
}

/// How good a window is: the bits by which the entries that a key is compared with become fewer, less a price for
/// copies and for entries that are taken out.
fn score(
    shape: &Shape,
    known: &Known,
    sample: &[(Match<'_>, u32)],
    window: &Window,
    takes_out: bool,
    counts: &mut Vec<u32>,
) -> f32 {
    counts.clear();
    counts.resize(1 << window.bits, 0);
    let (mut out, mut copies) = (0, 0);
    for (entry, budget) in sample {
        let parts = window.parts(shape, known, entry);
        let count = parts.count();
        if count > *budget {
            out += 1;
            continue;
        }
        copies += count;
        parts.each(|part| counts[part] += 1);
    }
    let there = sample.len() - out;
    if out > 0 && !takes_out || there == 0 || copies == 0 {
        return f32::MIN;
    }
    let squares: u64 = counts.iter().map(|count| u64::from(*count).pow(2)).sum();
    let compared = squares as f32 / copies as f32;
    let gain = (sample.len() as f32 / compared.max(1.0)).log2();
    let copied = (copies as f32 / there as f32).log2();
    let taken = out as f32 / sample.len() as f32;
    gain - COPIED_PRICE * copied - TAKEN_PRICE * taken
}
