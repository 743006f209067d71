//! The memory of a table's entries for lookups.
//!
//! Cell 0 is the default entry, cell `handle + 1` an entry, unless entries share cells ([`crate::shared`]): so a lookup
//! without a match returns 0, and every number is that of a valid entry. A cell is the header, the action data, and a
//! tail that belongs to the engine (the entry's match). Its size is rounded so that a cell of up to 64 bytes lies in
//! one cache line: matching an entry by its tail fetches its data too.
//!
//! If many cells need more memory, they are moved incrementally: each following change moves some cells, and the new
//! memory replaces the old one when it has all. Until then changes are made in both, as far as the new memory has been
//! filled.

#![allow(unsafe_code, reason = "cells are words to the engines and headers to C: two views of the same memory")]

use crate::abi::{EntryHeader, HEADER_WORDS};
use crate::memory::{Large, prefer_large_pages};

const LINE_WORDS: usize = 8;

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u64; LINE_WORDS]);

/// The number of a cell.
pub(crate) type Cell = u32;

/// All cells of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    lines: Large<Line>,
    stride_words: usize,
    tail_start: usize,
    tail_words: usize,
    count: usize,
    /// The new memory while cells are moved: equal to the head of `lines`.
    successor: Large<Line>,
}

/// Lines up to which memory is moved at once: one MiB.
const MOVED_LINES_MAX: usize = 1 << 14;

/// Cells that each change moves.
const MOVED_AT_ONCE: usize = 16;

impl Cells {
    /// One cell, the default entry, all zero.
    pub fn new(data_words: usize, tail_words: usize) -> Cells {
        let stride_words = Cells::stride_for(data_words, tail_words);
        let tail_start = HEADER_WORDS + data_words;
        let mut cells = Cells {
            lines: Large::default(),
            stride_words,
            tail_start,
            tail_words,
            count: 0,
            successor: Large::default(),
        };
        cells.grow(1);
        cells
    }

    /// Words from one cell to the next, for these numbers of words of data and tail.
    pub fn stride_for(data_words: usize, tail_words: usize) -> usize {
        let words = HEADER_WORDS + data_words + tail_words;
        match words {
            0..=LINE_WORDS => words.next_power_of_two(),
            _ => words.next_multiple_of(LINE_WORDS),
        }
    }

    /// Makes room for cells up to `count` at once.
    pub fn reserve(&mut self, count: usize) {
        let lines = self.lines_for(count);
        if lines > self.lines.capacity() {
            self.successor = Large::default();
            let more = lines.saturating_sub(self.lines.len());
            self.lines.reserve_exact(more);
            prefer_large_pages(&self.lines);
        }
    }

    fn lines_for(&self, count: usize) -> usize {
        (count * self.stride_words).div_ceil(LINE_WORDS)
    }

    /// Forgets all cells but the default entry.
    pub fn truncate(&mut self) {
        self.shrink(1);
    }

    /// Forgets the cells from `count` on, none of which holds an entry.
    pub fn shrink(&mut self, count: usize) {
        if count < self.count {
            self.count = count;
            self.successor = Large::default();
            let lines = self.lines_for(count);
            self.lines.truncate(lines);
            self.lines.shrink_to_fit();
        }
    }

    /// The number of cells ever used, the default entry included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        (self.lines.capacity() + self.successor.capacity()) * size_of::<Line>()
    }

    fn grow(&mut self, count: usize) {
        self.count = self.count.max(count);
        let lines = self.lines_for(self.count);
        let capacity = self.lines.capacity();
        if lines > capacity {
            // Moves the remaining cells now.
            self.successor = Large::default();
        } else if lines > capacity / 4 * 3 && capacity > MOVED_LINES_MAX && self.successor.capacity() == 0 {
            self.successor = Vec::with_capacity(2 * capacity).into();
        }
        if lines > self.lines.len() {
            self.lines.resize(lines, Line([0; LINE_WORDS]));
        }
        if self.successor.capacity() > 0 {
            let start = self.successor.len();
            let end = (start + self.lines_for(MOVED_AT_ONCE)).min(self.lines.len());
            self.successor.extend_from_slice(&self.lines[start..end]);
            if end == self.lines.len() {
                self.lines = std::mem::take(&mut self.successor);
            }
        }
    }

    /// Copies the changes of a cell to the new memory.
    fn follow(&mut self, cell: Cell) {
        let start = cell as usize * self.stride_words / LINE_WORDS;
        let end = self.lines_for(cell as usize + 1).min(self.successor.len());
        if start < end {
            self.successor[start..end].copy_from_slice(&self.lines[start..end]);
        }
    }

    fn words(&self) -> &[u64] {
        // SAFETY: `Line` is `repr(C)` and has the size of its eight words, so the lines are that many words in a row.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * LINE_WORDS) }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `words`; `&mut self` makes the view the only one.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * LINE_WORDS) }
    }

    /// Writes header and data of the default entry, or of an entry's own cell, which may be new.
    pub fn set_action(&mut self, cell: Cell, action: u32, data: &[u64]) {
        self.set(cell, cell.saturating_sub(1), action, data);
    }

    /// Writes header and data of a cell that entries share, which may be new.
    pub fn set_shared(&mut self, cell: Cell, action: u32, data: &[u64]) {
        self.set(cell, 0, action, data);
    }

    fn set(&mut self, cell: Cell, index: u32, action: u32, data: &[u64]) {
        self.grow(cell as usize + 1);
        let hit = u32::from(cell != 0);
        let start = cell as usize * self.stride_words;
        let tail_start = self.tail_start;
        let words = &mut self.words_mut()[start..start + tail_start];
        // The memory layout of `EntryHeader`, in either byte order.
        words[0] = pair(action, hit);
        words[1] = pair(index, 0);
        let (used, spare) = words[HEADER_WORDS..].split_at_mut(data.len());
        used.copy_from_slice(data);
        spare.fill(0);
        self.follow(cell);
    }

    /// Writes the head of a cell's tail.
    pub fn set_tail(&mut self, cell: Cell, parts: &[&[u64]]) {
        let tail = self.tail_mut(cell);
        let mut start = 0;
        for part in parts {
            tail[start..start + part.len()].copy_from_slice(part);
            start += part.len();
        }
        self.follow(cell);
    }

    /// Writes the last word of a cell's tail.
    pub fn set_last_tail_word(&mut self, cell: Cell, word: u64) {
        self.tail_mut(cell).last_mut().into_iter().for_each(|last| *last = word);
        self.follow(cell);
    }

    /// Marks a cell as holding no entry.
    pub fn kill(&mut self, cell: Cell) {
        let start = cell as usize * self.stride_words;
        self.words_mut()[start] = 0;
        self.follow(cell);
    }

    /// The cells from this one on that hold an entry.
    pub fn live_from(&self, start: Cell) -> impl Iterator<Item = Cell> {
        (start..self.count as u32).filter(|&cell| self.is_live(cell))
    }

    /// Whether a cell holds an entry.
    pub fn is_live(&self, cell: Cell) -> bool {
        (cell as usize) < self.count && self.header(cell).hit == 1
    }

    /// The engine's part of a cell.
    #[inline(always)]
    pub fn tail(&self, cell: Cell) -> &[u64] {
        let start = cell as usize * self.stride_words + self.tail_start;
        &self.words()[start..start + self.tail_words]
    }

    fn tail_mut(&mut self, cell: Cell) -> &mut [u64] {
        let start = cell as usize * self.stride_words + self.tail_start;
        let tail_words = self.tail_words;
        &mut self.words_mut()[start..start + tail_words]
    }

    /// The entry, valid until the cells change.
    #[inline(always)]
    pub fn pointer(&self, cell: Cell) -> *const EntryHeader {
        debug_assert!((cell as usize) < self.count, "cell {cell} of {}", self.count);
        self.address(cell).cast()
    }

    /// The same for a burst; returns how many of them are not the default entry. The entries are prefetched, since most
    /// engines do not read them all.
    #[inline(always)]
    pub fn pointers(&self, cells: &[Cell], pointers: &mut [*const EntryHeader]) -> u32 {
        let (first, stride_words) = (self.lines.as_ptr().cast::<u64>(), self.stride_words);
        // Two loops, so that the first becomes vector instructions.
        let stride_bytes = (stride_words * size_of::<u64>()) as u32;
        let mut hits = 0;
        for (pointer, cell) in pointers.iter_mut().zip(cells) {
            debug_assert!((*cell as usize) < self.count, "cell {cell} of {}", self.count);
            let offset_bytes = u64::from(*cell) * u64::from(stride_bytes);
            *pointer = first.wrapping_byte_add(offset_bytes as usize).cast();
            hits += u32::from(*cell != 0);
        }
        pointers.iter().for_each(|pointer| prefetch(*pointer));
        hits
    }

    /// The head of an entry.
    pub fn header(&self, cell: Cell) -> &EntryHeader {
        assert!((cell as usize) < self.count, "cell {cell} of {}", self.count);
        // SAFETY: the cell exists and begins with two words written by `set_action` (or zero) as the header's four
        // numbers; a word's alignment is the header's.
        unsafe { &*self.pointer(cell) }
    }

    /// The action data of an entry.
    pub fn data(&self, cell: Cell) -> &[u64] {
        let start = cell as usize * self.stride_words;
        &self.words()[start + HEADER_WORDS..start + self.tail_start]
    }

    /// Prefetches a cell.
    #[inline(always)]
    pub fn prefetch(&self, cell: Cell) {
        prefetch(self.address(cell));
    }

    /// Words from one cell to the next.
    pub fn stride_words(&self) -> usize {
        self.stride_words
    }

    /// Where the tail of cell 0 lies, and the bytes from one cell to the next.
    pub fn tails(&self) -> (*const u64, u32) {
        (self.words()[self.tail_start..].as_ptr(), (self.stride_words * size_of::<u64>()) as u32)
    }

    /// Where a cell lies.
    #[inline(always)]
    pub fn address(&self, cell: Cell) -> *const u64 {
        self.lines.as_ptr().cast::<u64>().wrapping_add(cell as usize * self.stride_words)
    }
}

/// Two numbers in one word, `first` at the lower address.
fn pair(first: u32, second: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

/// Prefetches the cache line at `address`. Any address is allowed.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect that the program can observe and never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// Cells that are moved while they change, against a list of what each holds.
    #[test]
    fn nothing_is_lost_while_cells_move() {
        let mut rng = Rng::new(3);
        let mut cells = Cells::new(1, 3);
        let mut plain: Vec<Option<(u64, [u64; 3])>> = vec![None];
        let mut moving = 0;
        for step in 0..150_000u64 {
            moving += u32::from(cells.successor.capacity() > 0);
            let cell = if rng.chance(2, 3) { plain.len() } else { rng.between(1, plain.len() as u64) as usize };
            plain.resize(plain.len().max(cell + 1), None);
            match (rng.below(4), plain[cell]) {
                (0, Some(_)) => {
                    cells.kill(cell as Cell);
                    plain[cell] = None;
                }
                (1, Some((_, tail))) => {
                    cells.set_last_tail_word(cell as Cell, step);
                    plain[cell] = Some((cells.data(cell as Cell)[0], [tail[0], tail[1], step]));
                }
                _ => {
                    cells.set_action(cell as Cell, 1, &[step]);
                    cells.set_tail(cell as Cell, &[&[step, cell as u64], &[7]]);
                    plain[cell] = Some((step, [step, cell as u64, 7]));
                }
            }
        }
        assert!(moving > 100, "{moving} steps while moving");
        assert!(cells.live_from(1).eq((1..plain.len() as u32).filter(|&cell| plain[cell as usize].is_some())));
        for (cell, wanted) in plain.iter().enumerate() {
            if let Some((data, tail)) = wanted {
                assert_eq!((cells.data(cell as Cell), cells.tail(cell as Cell)), (&[*data][..], &tail[..]));
            }
        }
    }
}
