//! Register arrays.
//!
//! What enters: reads and writes of single cells; arrays that another thread has prepared, or that another program has
//! left. What leaves: the cells, which native code reads and writes in place. An array is large: what is done to all of
//! its cells is done word by word, at the speed of memory, and where packets would wait for it a whole array is put in
//! the place of another.

use crate::externs::LINES_BYTES;
use crate::words::Words;
use base::Bits;
use std::ops::Range;

/// What stays free behind an array, so that it is apart from what another thread touches.
const ROOM_WORDS: usize = LINES_BYTES / size_of::<u64>();

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
        let cells = Words::zeros(count, ROOM_WORDS);
        let value = value.resize(width_bits);
        match value.limbs() {
            _ if value.is_zero() => {}
            &[word] => (0..count).for_each(|position| cells.set(position, &[word])),
            value => (0..count).step_by(value.len().max(1)).for_each(|first| cells.set(first, value)),
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
        let cells = Words::zeros(self.cells.len(), ROOM_WORDS);
        RegisterArray { width_bits: self.width_bits, size: self.size, cells }
    }

    /// The same cells once more: for a shard that touches them in turn with others, for a program that goes on with
    /// them, or for a thread that looks at them while packets do.
    pub fn shared(&self) -> RegisterArray {
        RegisterArray { width_bits: self.width_bits, size: self.size, cells: self.cells.clone() }
    }

    /// The same cells for an array of this width and so many cells, with zeros behind those that are there; none if
    /// cells have another number of words then, or if there is no room behind them.
    pub fn grown(&self, width_bits: u32, size: u64) -> Option<RegisterArray> {
        let is_alike = words(self.width_bits) == words(width_bits);
        let count = usize::try_from(size).ok()?.checked_mul(words(width_bits)).filter(|_| is_alike)?;
        Some(RegisterArray { width_bits, size, cells: self.cells.grown(count, ROOM_WORDS)? })
    }

    /// Has the cells of another array from now on, and zeros behind those, as [`RegisterArray::grown`] says; those that
    /// it had go to the caller, who drops them where nobody waits for that. None if that cannot be, and nothing has
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
    pub fn take_values(&self, other: &RegisterArray, is_signed: bool, excused: (&Bits, &Bits)) -> Result<(), NoPlace> {
        let both = self.size.min(other.size);
        let (unless, instead) = (excused.0.resize(other.width_bits), excused.1.resize(self.width_bits));
        let no_place = |index: u64| NoPlace { index, value: other.read(index).unwrap_or_else(|| Bits::zero(0)) };
        let taken = match is_signed {
            true => self.take_signed(other, both, unless.limbs(), instead.limbs()),
            false => self.take_unsigned(other, both, unless.limbs(), instead.limbs()),
        };
        taken.map_err(no_place)?;
        let left = (both..other.size).find(|&index| !other.is(index, unless.limbs()));
        left.map_or(Ok(()), |index| Err(no_place(index)))
    }

    /// The error is the first cell whose value has no place.
    fn take_unsigned(&self, other: &RegisterArray, count: u64, unless: &[u64], instead: &[u64]) -> Result<(), u64> {
        let beyond = !highest_mask(self.width_bits);
        if let (&[unless], &[instead]) = (unless, instead) {
            for (index, word) in other.words(0..count).enumerate() {
                match word & beyond {
                    0 => self.cells.set_if_other(index, word),
                    _ if word == unless => self.cells.set_if_other(index, instead),
                    _ => return Err(index as u64),
                }
            }
            return Ok(());
        }
        let (from, to) = (unless.len(), instead.len());
        for index in 0..count {
            let (source, target) = (index as usize * from, index as usize * to);
            let word = |word: usize| if word < from { other.cells.get(source + word) } else { 0 };
            let fits = (to..from).all(|it| word(it) == 0) && (to == 0 || word(to - 1) & beyond == 0);
            if !fits && !other.is(index, unless) {
                return Err(index);
            }
            (0..to).for_each(|it| self.cells.set_if_other(target + it, if fits { word(it) } else { instead[it] }));
        }
        Ok(())
    }

    /// The same for signed values, which have their sign in the highest bit of their width and zeros above it.
    fn take_signed(&self, other: &RegisterArray, count: u64, unless: &[u64], instead: &[u64]) -> Result<(), u64> {
        let (mut source, mut target) = (vec![0; unless.len()], vec![0; instead.len()]);
        for index in 0..count {
            source.iter_mut().zip(other.words(index..index + 1)).for_each(|(to, word)| *to = word);
            if !convert_signed(&source, other.width_bits, &mut target, self.width_bits) {
                if source != unless {
                    return Err(index);
                }
                target.copy_from_slice(instead);
            }
            let first = index as usize * target.len();
            target.iter().enumerate().for_each(|(word, &value)| self.cells.set_if_other(first + word, value));
        }
        Ok(())
    }

    fn range(&self, index: u64) -> Option<Range<usize>> {
        let words = words(self.width_bits);
        (index < self.size).then(|| index as usize * words..(index as usize + 1) * words)
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

    #[test]
    fn cells_go_on_in_another_array() {
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
