//! Register arrays.
//!
//! What enters: reads and writes of single cells; arrays that another thread has prepared, or that another program has
//! left. What leaves: the cells, which native code reads and writes in place. An array is large: what is done to all of
//! its cells is done word by word, at the speed of memory, and where that would delay packets a whole array is put in
//! the place of another.

use crate::externs::LINES_BYTES;
use crate::words::{CHUNK_WORDS, Words};
use base::Bits;
use base::limits::MARKED_WORDS_MIN;
use std::ops::Range;

/// What stays free behind an array, so that it is apart from what another thread touches.
const SPARE_WORDS: usize = LINES_BYTES / size_of::<u64>();

/// So many chunks are copied between two bursts without a noticeable pause.
const FEW_CHUNKS: usize = 256;

/// A register array. A cell takes whole 64-bit words, lowest first.
#[derive(Debug)]
pub struct RegisterArray {
    /// Width of a cell in bits.
    pub width_bits: u32,
    /// Number of cells.
    pub size: u64,
    pub(crate) cells: Words,
}

/// The value of a cell that another array has no place for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoPlace {
    /// Which cell.
    pub index: u64,
    /// What it is.
    pub value: Bits,
}

/// The number of the switch's start as a cell holds it: never 0, which programs may use for none.
fn start_number_cell(start_number: u64, width_bits: u32) -> Bits {
    let cut = Bits::from_u64(64, start_number).resize(width_bits);
    if cut.is_zero() { Bits::from_u64(width_bits, 1) } else { cut }
}

impl RegisterArray {
    pub(crate) fn new(register: &ir::Register, start_number: u64) -> RegisterArray {
        match register.is_start_number {
            true => {
                let value = start_number_cell(start_number, register.ty.width());
                RegisterArray::filled(register.ty.width(), register.size, &value)
            }
            false => RegisterArray::filled(register.ty.width(), register.size, &register.initial),
        }
    }

    /// An array of cells that all have this value, cut to their width. Of zeros it takes memory where it is written.
    pub fn filled(width_bits: u32, size: u64, value: &Bits) -> RegisterArray {
        let count = size as usize * words(width_bits);
        let cells = Words::zeros(count, SPARE_WORDS);
        let value = value.resize(width_bits);
        match value.limbs() {
            _ if value.is_zero() => {}
            &[word] => (0..count).for_each(|position| cells.set_unmarked(position, &[word])),
            value => (0..count).step_by(value.len().max(1)).for_each(|first| cells.set_unmarked(first, value)),
        }
        RegisterArray { width_bits, size, cells }
    }

    /// The value of a cell; none if there is no such cell.
    pub fn read(&self, index: u64) -> Option<Bits> {
        let range = self.range(index)?;
        Some(self.bits(range))
    }

    fn bits(&self, range: Range<usize>) -> Bits {
        Bits::from_limbs(self.width_bits, &self.cells.range(range).collect::<Vec<u64>>())
    }

    /// Sets a cell to the low bits of `value`; false if there is no such cell.
    pub fn write(&mut self, index: u64, value: &Bits) -> bool {
        let Some(range) = self.range(index) else { return false };
        self.cells.set(range.start, value.resize(self.width_bits).limbs());
        true
    }

    /// The cells that are not zero, with their values.
    pub fn cells_in_use(&self) -> impl Iterator<Item = (u64, Bits)> + '_ {
        let words = words(self.width_bits);
        let range = move |cell: u64| cell as usize * words..(cell as usize + 1) * words;
        let in_use = (0..self.size).filter(move |&cell| self.cells.range(range(cell)).any(|word| word != 0));
        in_use.map(move |cell| (cell, self.bits(range(cell))))
    }

    /// How many cells have another value than this.
    pub fn count_others(&self, value: &Bits) -> usize {
        let value = value.resize(self.width_bits);
        match value.limbs() {
            &[word] => self.words(0..self.size).filter(|&it| it != word).count(),
            value => (0..self.size).filter(|&cell| !self.is(cell, value)).count(),
        }
    }

    /// The first cell that has another value than this.
    pub fn first_other(&self, value: &Bits) -> Option<NoPlace> {
        let value = value.resize(self.width_bits);
        let index = (0..self.size).find(|&cell| !self.is(cell, value.limbs()))?;
        Some(NoPlace { index, value: self.read(index)? })
    }

    fn is(&self, cell: u64, value: &[u64]) -> bool {
        self.words(cell..cell + 1).eq(value.iter().copied())
    }

    /// The words of these cells, or of those of them that are there.
    pub fn words(&self, cells: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let words = words(self.width_bits);
        let word = |cell: u64| cell.min(self.size) as usize * words;
        self.cells.range(word(cells.start)..word(cells.end))
    }

    /// Values of cells whose words these are, as [`RegisterArray::words`] gives them.
    pub fn values(width_bits: u32, of_cells: &[u64]) -> impl Iterator<Item = Bits> + '_ {
        of_cells.chunks_exact(words(width_bits).max(1)).map(move |words| Bits::from_limbs(width_bits, words))
    }

    /// Sets all cells to zero.
    pub fn reset(&mut self) {
        let zero = vec![0; words(self.width_bits)];
        (0..self.cells.len()).step_by(zero.len().max(1)).for_each(|first| self.cells.set(first, &zero));
    }

    /// The same array with zeros in it, of which a shard makes its part of the sum.
    pub(crate) fn part(&self) -> RegisterArray {
        let cells = Words::zeros(self.cells.len(), SPARE_WORDS);
        RegisterArray { width_bits: self.width_bits, size: self.size, cells }
    }

    /// Another handle of the same cells: for a shard that shares them behind a guard, for a program that takes them
    /// over, or for a thread that reads them while packets do.
    pub fn shared(&self) -> RegisterArray {
        RegisterArray { width_bits: self.width_bits, size: self.size, cells: self.cells.clone() }
    }

    /// The same cells for an array of this width and size, with zeros behind those that are there; none if cells would
    /// have another number of words, or if the memory behind them is too small.
    pub fn grown(&self, width_bits: u32, size: u64) -> Option<RegisterArray> {
        let is_alike = words(self.width_bits) == words(width_bits);
        let count = usize::try_from(size).ok()?.checked_mul(words(width_bits)).filter(|_| is_alike)?;
        Some(RegisterArray { width_bits, size, cells: self.cells.grown(count, SPARE_WORDS)? })
    }

    /// Has the cells of another array from now on, and zeros behind those, as by [`RegisterArray::grown`]; the caller
    /// gets those that it had, and drops them where that delays no packet. None if that cannot be, and nothing has
    /// changed.
    pub fn replace_cells(&mut self, other: &RegisterArray) -> Option<RegisterArray> {
        let grown = other.grown(self.width_bits, self.size)?;
        Some(std::mem::replace(self, grown))
    }

    /// The same for a shard's handle of its switch's array.
    pub(crate) fn share_cells_of(&mut self, other: &RegisterArray) {
        if !self.cells.are(&other.cells) {
            *self = other.shared();
        }
    }

    /// Adds the cells of a part, which become zero, to these.
    pub(crate) fn take_from(&mut self, part: &mut RegisterArray) {
        let zero = vec![0; words(self.width_bits)];
        // Most cells of a part are untouched; they are not written, so that they take no memory.
        if zero.len() == 1 {
            let mask = highest_mask(self.width_bits);
            for (index, counted) in part.words(0..part.size).enumerate().filter(|(_, counted)| *counted != 0) {
                let total = self.cells.range(index..index + 1).sum::<u64>().wrapping_add(counted) & mask;
                self.cells.set(index, &[total]);
                part.cells.set(index, &zero);
            }
            return;
        }
        for (cell, counted) in part.cells_in_use() {
            let first = cell as usize * zero.len();
            let total = self.bits(first..first + zero.len()).add(&counted);
            self.cells.set(first, total.limbs());
            part.cells.set(first, &zero);
        }
    }

    /// Gives each cell the value of the same cell of another array, which may have another width and size; the values
    /// of both are signed or those of neither. A value that has no place is refused, but for one: where the other array
    /// has the first of `excused`, cells get the second. A cell that has its value already is not written.
    ///
    /// If [`RegisterArray::follow`] has copied the cells of that array to this one, with the same arguments, only those
    /// are copied that were written meanwhile.
    pub fn take_values(&self, other: &RegisterArray, is_signed: bool, excused: (&Bits, &Bits)) -> Result<(), NoPlace> {
        let taking = Taking::new(self, other, is_signed, excused);
        match self.cells.is_copy(&other.cells) {
            true => taking.marked().try_for_each(|chunk| taking.cells(other.cells_of_chunk(chunk))),
            false => taking.cells(0..other.size),
        }
    }

    /// Copies the cells of another array while packets write them, until few are left that were written meanwhile, or
    /// too many are written all the time. [`RegisterArray::take_values`] does the rest. Nothing else may write to this
    /// array until then. Values that have no place are left to that, too: they may change.
    pub fn follow(&self, other: &RegisterArray, is_signed: bool, excused: (&Bits, &Bits)) {
        let taking = Taking::new(self, other, is_signed, excused);
        if (other.cells.len() as u64) < MARKED_WORDS_MIN {
            // What cannot be copied now is reported later.
            let _later = taking.cells(0..other.size);
            return;
        }
        self.cells.begin_copy(&other.cells);
        other.cells.chunks().for_each(|chunk| taking.chunk(chunk));
        let mut left = usize::MAX;
        loop {
            let marked: Vec<usize> = taking.marked().collect();
            if marked.len() <= FEW_CHUNKS || marked.len() >= left / 2 {
                return;
            }
            left = marked.len();
            marked.into_iter().for_each(|chunk| taking.chunk(chunk));
        }
    }

    /// The cells that have words in a chunk.
    fn cells_of_chunk(&self, chunk: usize) -> Range<u64> {
        let words = words(self.width_bits).max(1);
        let (first, end) = (chunk * CHUNK_WORDS / words, ((chunk + 1) * CHUNK_WORDS).div_ceil(words));
        first as u64..(end as u64).min(self.size)
    }

    fn range(&self, index: u64) -> Option<Range<usize>> {
        let words = words(self.width_bits);
        (index < self.size).then(|| index as usize * words..(index as usize + 1) * words)
    }
}

/// A copy of one array's values to another one.
struct Taking<'a> {
    from: &'a RegisterArray,
    to: &'a RegisterArray,
    is_signed: bool,
    /// The value of the one array that becomes another value of the other one if it has no place there.
    unless: Bits,
    instead: Bits,
}

impl<'a> Taking<'a> {
    fn new(to: &'a RegisterArray, from: &'a RegisterArray, is_signed: bool, excused: (&Bits, &Bits)) -> Taking<'a> {
        let (unless, instead) = (excused.0.resize(from.width_bits), excused.1.resize(to.width_bits));
        Taking { from, to, is_signed, unless, instead }
    }

    /// The chunks that were written since they were copied.
    fn marked(&self) -> impl Iterator<Item = usize> + '_ {
        self.from.cells.chunks().filter(|&chunk| self.from.cells.is_marked(chunk))
    }

    /// Copies a chunk while packets write it.
    fn chunk(&self, chunk: usize) {
        self.from.cells.clear_mark(chunk);
        if self.cells(self.from.cells_of_chunk(chunk)).is_err() {
            // To be looked at again.
            self.from.cells.mark(chunk);
        }
    }

    /// Copies these cells.
    fn cells(&self, cells: Range<u64>) -> Result<(), NoPlace> {
        let both = self.to.size.min(self.from.size);
        let there = cells.start.min(both)..cells.end.min(both);
        let taken = match self.is_signed {
            true => self.signed(there),
            false => self.unsigned(there),
        };
        let unless = self.unless.limbs();
        let left = || (cells.start.max(both)..cells.end).find(|&index| !self.from.is(index, unless));
        match taken.err().or_else(left) {
            None => Ok(()),
            Some(index) => Err(NoPlace { index, value: self.from.read(index).unwrap_or_else(|| Bits::zero(0)) }),
        }
    }

    /// The error is the first cell whose value has no place.
    fn unsigned(&self, indices: Range<u64>) -> Result<(), u64> {
        let (other, cells) = (self.from, &self.to.cells);
        let (unless, instead) = (self.unless.limbs(), self.instead.limbs());
        let beyond = !highest_mask(self.to.width_bits);
        if let (&[unless], &[instead]) = (unless, instead) {
            for (index, word) in indices.clone().zip(other.words(indices)) {
                match word & beyond {
                    0 => cells.set_if_other(index as usize, word),
                    _ if word == unless => cells.set_if_other(index as usize, instead),
                    _ => return Err(index),
                }
            }
            return Ok(());
        }
        let (from, to) = (unless.len(), instead.len());
        for index in indices {
            let (source, target) = (index as usize * from, index as usize * to);
            let word = |word: usize| if word < from { other.cells.get(source + word) } else { 0 };
            let fits = (to..from).all(|it| word(it) == 0) && (to == 0 || word(to - 1) & beyond == 0);
            if !fits && !other.is(index, unless) {
                return Err(index);
            }
            (0..to).for_each(|it| cells.set_if_other(target + it, if fits { word(it) } else { instead[it] }));
        }
        Ok(())
    }

    /// The same for signed values, which have their sign in the highest bit of their width and zeros above it.
    fn signed(&self, indices: Range<u64>) -> Result<(), u64> {
        let (unless, instead) = (self.unless.limbs(), self.instead.limbs());
        let (mut source, mut target) = (vec![0; unless.len()], vec![0; instead.len()]);
        for index in indices {
            source.iter_mut().zip(self.from.words(index..index + 1)).for_each(|(to, word)| *to = word);
            if !convert_signed(&source, self.from.width_bits, &mut target, self.to.width_bits) {
                if source != unless {
                    return Err(index);
                }
                target.copy_from_slice(instead);
            }
            let first = index as usize * target.len();
            target.iter().enumerate().for_each(|(word, &value)| self.to.cells.set_if_other(first + word, value));
        }
        Ok(())
    }
}

/// Words of a register's cell.
fn words(width_bits: u32) -> usize {
    width_bits.div_ceil(64) as usize
}

/// The bits of the highest word of a value.
fn highest_mask(width_bits: u32) -> u64 {
    match width_bits % 64 {
        0 => u64::MAX,
        bits => u64::MAX >> (64 - bits),
    }
}

/// A signed value of one width as one of another; false if it does not fit.
fn convert_signed(source: &[u64], from_bits: u32, target: &mut [u64], to_bits: u32) -> bool {
    let is_negative =
        |words: &[u64], bits: u32| bits > 0 && words[(bits as usize - 1) / 64] >> ((bits - 1) % 64) & 1 == 1;
    // What a word of the value is with all the bits of its sign.
    let extended = |words: &[u64], bits: u32, position: usize| {
        let sign = if is_negative(words, bits) { u64::MAX } else { 0 };
        match words.get(position) {
            Some(word) if position + 1 == words.len() => word | sign & !highest_mask(bits),
            Some(word) => *word,
            None => sign,
        }
    };
    let last = target.len();
    for (position, word) in target.iter_mut().enumerate() {
        let mask = if position + 1 == last { highest_mask(to_bits) } else { u64::MAX };
        *word = extended(source, from_bits, position) & mask;
    }
    (0..source.len().max(last)).all(|it| extended(source, from_bits, it) == extended(target, to_bits, it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    fn array(width_bits: u32, values: &[Bits]) -> RegisterArray {
        let mut array = RegisterArray::filled(width_bits, values.len() as u64, &Bits::zero(width_bits));
        (0..).zip(values).for_each(|(index, value)| assert!(array.write(index, value)));
        array
    }

    #[test]
    fn all_cells_have_the_value_that_an_array_is_filled_with() {
        for width in [0, 1, 8, 63, 64, 65, 130] {
            for value in [Bits::zero(width), Bits::ones(width), Bits::from_u64(64, 5).resize(width)] {
                let array = RegisterArray::filled(width, 7, &value);
                assert!((0..7).all(|index| array.read(index).unwrap() == value), "{width}");
                assert_eq!(array.read(7), None);
                assert_eq!(array.count_others(&value), 0, "{width}");
            }
        }
        let mut array = RegisterArray::filled(65, 7, &Bits::ones(65));
        array.write(3, &Bits::zero(65));
        assert_eq!((array.count_others(&Bits::ones(65)), array.count_others(&Bits::zero(65))), (1, 6));
    }

    #[test]
    fn values_keep_their_meaning_in_cells_of_another_width() {
        let mut rng = Rng::new(7);
        let widths = [1, 7, 8, 63, 64, 65, 127, 128, 200];
        for (from, to, is_signed) in
            widths.iter().flat_map(|&from| widths.iter().flat_map(move |&to| [(from, to, false), (from, to, true)]))
        {
            let resize = |it: &Bits, width| if is_signed { it.sign_resize(width) } else { it.resize(width) };
            for _ in 0..50 {
                let limbs: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
                let random = Bits::from_limbs(256, &limbs).resize(1 + (rng.below(u64::from(from)) as u32));
                let value = if is_signed { random.sign_resize(from) } else { random.resize(from) };
                let taken = RegisterArray::filled(to, 1, &Bits::zero(to));
                let (other, nothing) = (resize(&value, from).add(&Bits::from_u64(from, 1)), Bits::zero(to));
                let source = array(from, std::slice::from_ref(&value));
                let done = taken.take_values(&source, is_signed, (&other, &nothing));
                let wanted = resize(&value, to);
                match resize(&wanted, from) == value {
                    true => assert_eq!((done, taken.read(0).unwrap()), (Ok(()), wanted), "{from} {to} {is_signed}"),
                    false => assert_eq!(done, Err(NoPlace { index: 0, value }), "{from} {to} {is_signed}"),
                }
            }
        }
    }

    #[test]
    fn what_has_no_place_is_named_unless_it_is_excused() {
        let value = |value| Bits::from_u64(16, value);
        let old = array(16, &[value(5), value(300), value(7), value(300)]);
        let (no_such, own) = (value(999), Bits::from_u64(8, 9));
        let first = |index, number| Err(NoPlace { index, value: value(number) });
        let new = |width, size| RegisterArray::filled(width, size, &Bits::zero(width));
        assert_eq!(new(8, 4).take_values(&old, false, (&no_such, &own)), first(1, 300));
        assert_eq!(new(65, 3).take_values(&old, false, (&no_such, &own)), first(3, 300));
        assert_eq!(new(8, 1).take_values(&old, false, (&value(300), &own)), first(2, 7));
        for width in [8, 70] {
            let new = new(width, 5);
            new.cells.set(0, &[99]);
            assert_eq!(new.take_values(&old, false, (&value(300), &own)), Ok(()));
            let cells: Vec<u64> = (0..5).map(|index| new.read(index).unwrap().to_u64().unwrap()).collect();
            assert_eq!(cells, if width == 8 { [5, 9, 7, 9, 0] } else { [5, 300, 7, 300, 0] });
        }
    }

    /// Arrays with as many words as are marked, of other widths and sizes.
    fn long_arrays() -> impl Iterator<Item = (RegisterArray, RegisterArray)> {
        let size = MARKED_WORDS_MIN;
        let forms = [(64, 96, 0), (96, 64, 0), (130, 200, 0), (64, 33, 7), (40, 70, -9), (70, 40, 0)];
        forms.into_iter().map(move |(from, to, more)| {
            let new = |width, size| RegisterArray::filled(width, size, &Bits::zero(width));
            (new(from, size), new(to, size.strict_add_signed(more)))
        })
    }

    #[test]
    fn what_is_written_while_an_array_is_followed_is_copied_in_the_end() {
        let unsigned = |to: &RegisterArray, from: &RegisterArray| {
            let none = (Bits::zero(from.width_bits), Bits::zero(to.width_bits));
            to.take_values(from, false, (&none.0, &none.1))
        };
        for (mut old, new) in long_arrays() {
            let width = old.width_bits;
            let value = |number| Bits::from_u64(width, number);
            let common = old.size.min(new.size);
            let (few, more) = (value(5), value(6));
            let cells = [0, 21, 22, 63, 64, 1000, common - 1];
            cells.iter().for_each(|&cell| assert!(old.write(cell, &few)));
            let none = (value(0), Bits::zero(new.width_bits));
            new.follow(&old, false, (&none.0, &none.1));
            assert!(cells.iter().all(|&cell| new.read(cell).unwrap().to_u64() == Some(5)));
            cells.iter().for_each(|&cell| assert!(old.write(cell, &more)));
            // Only what was written is looked at.
            let unmarked = RegisterArray { width_bits: new.width_bits, size: new.size, cells: new.cells.clone() };
            unmarked.cells.set_unmarked(40_000, &[99]);
            assert_eq!(unsigned(&new, &old), Ok(()));
            assert!(cells.iter().all(|&cell| new.read(cell).unwrap().to_u64() == Some(6)));
            assert_eq!(new.cells.get(40_000), 99);
            // A copy of something else, or a later one, is no copy of it.
            new.cells.begin_copy(&RegisterArray::filled(64, 1, &value(0)).cells);
            assert_eq!(unsigned(&new, &old), Ok(()));
            assert_eq!(new.cells.get(40_000), 0);
        }
    }

    #[test]
    fn what_has_no_place_while_an_array_is_followed_is_looked_at_again() {
        for is_put_right in [true, false] {
            for (mut old, new) in long_arrays().filter(|(old, new)| new.width_bits < old.width_bits) {
                let none = (Bits::zero(old.width_bits), Bits::zero(new.width_bits));
                let large = Bits::ones(old.width_bits);
                assert!(old.write(12_345, &large));
                new.follow(&old, false, (&none.0, &none.1));
                if is_put_right {
                    assert!(old.write(12_345, &none.0));
                }
                let expected = if is_put_right { Ok(()) } else { Err(NoPlace { index: 12_345, value: large }) };
                assert_eq!(new.take_values(&old, false, (&none.0, &none.1)), expected);
            }
        }
        // So is a value behind the last cell of the new array.
        let mut old = RegisterArray::filled(64, MARKED_WORDS_MIN, &Bits::zero(64));
        let (new, last) = (RegisterArray::filled(64, 9, &Bits::zero(64)), old.size - 1);
        let zero = Bits::zero(64);
        new.follow(&old, false, (&zero, &zero));
        assert!(old.write(last, &Bits::from_u64(64, 3)));
        let expected = Err(NoPlace { index: last, value: Bits::from_u64(64, 3) });
        assert_eq!(new.take_values(&old, false, (&zero, &zero)), expected);
    }

    /// A thread writes while another one copies.
    #[test]
    fn no_write_is_lost_while_an_array_is_followed() {
        for (old, new) in long_arrays() {
            let none = (Bits::zero(old.width_bits), Bits::zero(new.width_bits));
            let common = old.size.min(new.size);
            let (stop, begun) = (std::sync::atomic::AtomicBool::new(false), std::sync::Barrier::new(2));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut shared, mut rng) = (old.shared(), Rng::new(3));
                    for number in 1.. {
                        shared.write(rng.below(common), &Bits::from_u64(old.width_bits, number));
                        if number == 1 {
                            begun.wait();
                        }
                        if stop.load(std::sync::atomic::Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                begun.wait();
                new.follow(&old, false, (&none.0, &none.1));
                new.follow(&old, false, (&none.0, &none.1));
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            assert_eq!(new.take_values(&old, false, (&none.0, &none.1)), Ok(()));
            let differ = (0..common).find(|&cell| new.read(cell).unwrap().to_u64() != old.read(cell).unwrap().to_u64());
            assert_eq!(differ, None, "{} to {} bits", old.width_bits, new.width_bits);
        }
    }

    #[test]
    fn cells_continue_in_another_array() {
        let old = array(30, &[Bits::from_u64(30, 5), Bits::from_u64(30, 6)]);
        let mut new = RegisterArray::filled(31, 2, &Bits::zero(31));
        assert!(new.replace_cells(&array(65, &[Bits::zero(65), Bits::zero(65)])).is_none());
        assert!(new.replace_cells(&array(30, &[Bits::zero(30)])).is_none());
        let before = new.replace_cells(&old).unwrap();
        assert_eq!((before.width_bits, before.read(1)), (31, Some(Bits::zero(31))));
        new.write(1, &Bits::from_u64(31, 9));
        assert_eq!(new.read(0), Some(Bits::from_u64(31, 5)));
        assert_eq!(old.read(1), Some(Bits::from_u64(30, 9)), "they are the same cells");
    }
}
