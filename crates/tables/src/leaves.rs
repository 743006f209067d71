//! The leaves of decision trees: entries in order of rank, eight of which are compared with a key at once.
//!
//! What enters: the entries of a leaf. What leaves: for a key, the first of them that it matches. A leaf is a run of
//! blocks of eight entries. A block is columns of 32-bit numbers, of eight lanes each: value and mask for each half of
//! a word that masks test, low bound and span for each range field of at most 32 bits, and the cells and priorities.
//! Wider ranges are compared in the cell.

#![allow(unsafe_code, reason = "vector instructions take pointers")]

use crate::cells::{Cell, Cells, prefetch};
use crate::memory::Large;
use crate::ranked::RangeField;
use crate::shape::{Shape, rank_in};
use std::ops::Range;

/// Entries of a block.
pub(crate) const LANES: usize = 8;

/// Blocks of a leaf at most.
pub(crate) const BLOCKS_MAX: usize = 8;

/// Lines that the nearest caches have: 64 KiB.
const NEAR_LINES: usize = 1 << 10;

/// Lines up to which memory is moved at once: one MiB.
const MOVED_LINES_MAX: usize = 1 << 14;

/// Lines that are moved for each new one: all of them before the eighth of the memory that is left is full.
const MOVED_FOR_EACH: usize = 32;

/// Two columns of a block.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u32; 2 * LANES]);

/// An entry that never matches, or matches behind all others.
const FILLING: Line =
    Line([u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0, 0, 0, 0, 0, 0, 0, 0]);
const NOBODY: Line = Line([0; 2 * LANES]);

/// A candidate: its priority above its cell; 0 if there is none.
pub(crate) type Candidate = u64;

/// All leaves of a table.
#[derive(Clone, Debug)]
pub(crate) struct Leaves {
    lines: Large<Line>,
    /// The new memory while lines are moved to it: equal to the head of `lines`.
    successor: Large<Line>,
    block_lines: usize,
    /// The halves of words that masks test.
    halves: Vec<u32>,
    /// The range fields of at most 32 bits.
    ranges: Vec<RangeField>,
    /// Whether there are others.
    is_unfinished: bool,
    /// First blocks of free runs, by their numbers of blocks less one.
    free: [Vec<u32>; BLOCKS_MAX],
}

/// A leaf: its first block and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub block: u32,
    pub blocks: u32,
}

impl Leaves {
    pub fn new(shape: &Shape) -> Leaves {
        let has_bits = |half: &u32| shape.masked[*half as usize / 2] >> (half % 2 * 32) & 0xffff_ffff != 0;
        let halves: Vec<u32> = (0..2 * shape.key_words as u32).filter(has_bits).collect();
        let fields = shape.ranges.iter().zip(&shape.widths_bits);
        let ranges: Vec<RangeField> = fields.filter(|(_, width)| **width <= 32).map(|(field, _)| *field).collect();
        Leaves {
            lines: Large::default(),
            successor: Large::default(),
            block_lines: halves.len() + ranges.len() + 1,
            is_unfinished: ranges.len() < shape.range_slots.len(),
            halves,
            ranges,
            free: Default::default(),
        }
    }

    /// Gives up new memory that is not needed soon. If nothing waits, everything is moved to large pages.
    pub fn finish_build(&mut self, may_move: bool) {
        if may_move {
            self.lines = self.lines.clone();
        }
        let is_needed = self.lines.len() > self.lines.capacity() / 16 * 15;
        if !is_needed {
            self.successor = Large::default();
        }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        (self.lines.len() + self.successor.len()) * size_of::<Line>()
    }

    /// A leaf with these entries, in order of rank.
    pub fn add(&mut self, shape: &Shape, cells: &Cells, entries: &[Cell]) -> Leaf {
        let leaf = self.allocate(entries.len().div_ceil(LANES));
        self.write(shape, cells, leaf, entries);
        leaf
    }

    /// A leaf of this many blocks, whose contents are of no meaning.
    fn allocate(&mut self, blocks: usize) -> Leaf {
        if blocks == 0 {
            return Leaf { block: 0, blocks: 0 };
        }
        let block = self.free[blocks - 1].pop().unwrap_or_else(|| {
            let block = self.lines.len() / self.block_lines;
            self.grow(blocks * self.block_lines);
            block as u32
        });
        Leaf { block, blocks: blocks as u32 }
    }

    /// Adds lines. If there are many, those before them are moved to larger memory incrementally.
    fn grow(&mut self, more: usize) {
        let (len, capacity) = (self.lines.len() + more, self.lines.capacity());
        if len > capacity {
            self.successor = Large::default();
            let mut larger = Large::from(Vec::with_capacity(len + len / 2 + LANES * self.block_lines));
            larger.extend_from_slice(&self.lines);
            self.lines = larger;
        } else if capacity > MOVED_LINES_MAX && len > capacity / 8 * 7 && self.successor.capacity() == 0 {
            self.successor = Large::in_any_pages(Vec::with_capacity(capacity + capacity / 2));
        }
        self.lines.resize(len, NOBODY);
        if self.successor.capacity() > 0 {
            let start = self.successor.len();
            let end = len.min(start + MOVED_FOR_EACH * more);
            self.successor.extend_from_slice(&self.lines[start..end]);
            if end == len {
                self.lines = std::mem::take(&mut self.successor);
            }
        }
    }

    /// Copies the changes of a leaf to the new memory.
    fn follow(&mut self, leaf: Leaf) {
        let lines = self.lines_of(leaf);
        let lines = lines.start..lines.end.min(self.successor.len());
        if lines.start < lines.end {
            self.successor[lines.clone()].copy_from_slice(&self.lines[lines]);
        }
    }

    /// The lines of a leaf.
    fn lines_of(&self, leaf: Leaf) -> Range<usize> {
        let first = leaf.block as usize * self.block_lines;
        first..first + leaf.blocks as usize * self.block_lines
    }

    /// Removes all entries from a leaf but those that stay. Their cells are not read.
    pub fn retain(&mut self, leaf: Leaf, stays: impl Fn(Cell) -> bool) -> Leaf {
        let (block_lines, lines) = (self.block_lines, self.lines_of(leaf));
        let lines = &mut self.lines[lines];
        let mut kept = 0;
        for place in 0..leaf.blocks as usize * LANES {
            let (from, lane) = (place / LANES * block_lines, place % LANES);
            let cell = lines[from + block_lines - 1].0[lane];
            if cell == 0 || !stays(cell) {
                continue;
            }
            let (to, to_lane) = (kept / LANES * block_lines, kept % LANES);
            for line in 0..block_lines {
                let Line(columns) = lines[from + line];
                (lines[to + line].0[to_lane], lines[to + line].0[LANES + to_lane]) =
                    (columns[lane], columns[LANES + lane]);
            }
            kept += 1;
        }
        for place in kept..leaf.blocks as usize * LANES {
            let (block, lane) = (place / LANES * block_lines, place % LANES);
            for line in &mut lines[block..block + block_lines - 1] {
                (line.0[lane], line.0[LANES + lane]) = (FILLING.0[lane], FILLING.0[LANES + lane]);
            }
            let names = &mut lines[block + block_lines - 1].0;
            (names[lane], names[LANES + lane]) = (0, 0);
        }
        self.follow(leaf);
        self.shortened(leaf, kept.div_ceil(LANES))
    }

    /// A leaf without its last blocks, which are empty.
    fn shortened(&mut self, leaf: Leaf, blocks: usize) -> Leaf {
        if blocks == leaf.blocks as usize {
            return leaf;
        }
        let shorter = self.allocate(blocks);
        let (from, to) = (self.lines_of(leaf).start, self.lines_of(shorter));
        self.lines.copy_within(from..from + to.len(), to.start);
        self.follow(shorter);
        self.remove(leaf);
        shorter
    }

    /// Removes a leaf.
    pub fn remove(&mut self, leaf: Leaf) {
        if leaf.blocks > 0 {
            self.free[leaf.blocks as usize - 1].push(leaf.block);
        }
    }

    /// Replaces the entries of a leaf.
    pub fn replace(&mut self, shape: &Shape, cells: &Cells, leaf: Leaf, entries: &[Cell]) -> Leaf {
        if entries.len().div_ceil(LANES) == leaf.blocks as usize {
            self.write(shape, cells, leaf, entries);
            return leaf;
        }
        self.remove(leaf);
        self.add(shape, cells, entries)
    }

    fn write(&mut self, shape: &Shape, cells: &Cells, leaf: Leaf, entries: &[Cell]) {
        let lines = self.lines_of(leaf);
        let lines = &mut self.lines[lines];
        for (block, entries) in lines.chunks_exact_mut(self.block_lines).zip(entries.chunks(LANES)) {
            block.fill(FILLING);
            block[self.block_lines - 1] = NOBODY;
            for (lane, &cell) in entries.iter().enumerate() {
                let entry = shape.of(cells, cell);
                let of_half = |row: &[u64], half: u32| (row[half as usize / 2] >> (half % 2 * 32)) as u32;
                let masks = self.halves.iter().map(|half| (of_half(entry.value, *half), of_half(entry.mask, *half)));
                let bounds = self.ranges.iter().map(|field| {
                    let (low, high) = entry.bounds(field);
                    (low as u32, (high - low) as u32)
                });
                let names = std::iter::once((cell, (rank_in(cells, cell) >> 64) as u32));
                for (line, (first, second)) in block.iter_mut().zip(masks.chain(bounds).chain(names)) {
                    (line.0[lane], line.0[LANES + lane]) = (first, second);
                }
            }
        }
        self.follow(leaf);
    }

    /// The greatest priority in a leaf; 0 if it is empty.
    pub fn top(&self, leaf: Leaf) -> u32 {
        if leaf.blocks == 0 { 0 } else { self.lines[self.lines_of(leaf).start + self.block_lines - 1].0[LANES] }
    }

    /// The entries of a leaf, in order of rank.
    pub fn entries(&self, leaf: Leaf) -> impl Iterator<Item = Cell> {
        let lines = &self.lines[self.lines_of(leaf)];
        let cells = lines.chunks_exact(self.block_lines).flat_map(|block| &block[self.block_lines - 1].0[..LANES]);
        cells.copied().filter(|cell| *cell != 0)
    }

    /// Whether leaves are more than the nearest caches have.
    #[inline(always)]
    pub fn are_far(&self) -> bool {
        self.lines.len() > NEAR_LINES
    }

    /// Prefetches the first block of a leaf.
    #[inline(always)]
    pub fn prefetch(&self, leaf: Leaf) {
        let first = self.lines.as_ptr().wrapping_add(leaf.block as usize * self.block_lines);
        for line in 0..self.block_lines {
            prefetch(first.wrapping_add(line));
        }
    }

    /// The first entry of a leaf that a key matches. With `VECTORS` the processor has AVX2.
    #[inline(always)]
    pub fn find<const VECTORS: bool>(&self, shape: &Shape, cells: &Cells, leaf: Leaf, key: &[u64]) -> Candidate {
        let mut start = leaf.block as usize * self.block_lines;
        for _ in 0..leaf.blocks {
            let block = &self.lines[start..start + self.block_lines];
            let mut matches = self.matches::<VECTORS>(block, key);
            let names = &block[self.block_lines - 1].0;
            if self.is_unfinished {
                while matches != 0 && {
                    let cell = names[matches.trailing_zeros() as usize];
                    cell != 0 && !shape.in_ranges(cells, cell, key)
                } {
                    matches &= matches - 1;
                }
            }
            if matches != 0 {
                let lane = matches.trailing_zeros() as usize % LANES;
                return u64::from(names[LANES + lane]) << 32 | u64::from(names[lane]);
            }
            start += self.block_lines;
        }
        0
    }

    /// Which entries of a block a key matches.
    #[inline(always)]
    fn matches<const VECTORS: bool>(&self, block: &[Line], key: &[u64]) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if VECTORS {
            // SAFETY: the processor has AVX2, as the caller promises.
            return unsafe { self.matches_avx2(block, key) };
        }
        let mut unlike = [false; LANES];
        for (half, Line(line)) in self.halves.iter().zip(block) {
            let word = (key[*half as usize / 2] >> (half % 2 * 32)) as u32;
            for lane in 0..LANES {
                unlike[lane] |= (word ^ line[lane]) & line[LANES + lane] != 0;
            }
        }
        for (field, Line(line)) in self.ranges.iter().zip(&block[self.halves.len()..]) {
            let value = field.value(key) as u32;
            for lane in 0..LANES {
                unlike[lane] |= value.wrapping_sub(line[lane]) > line[LANES + lane];
            }
        }
        unlike.iter().enumerate().map(|(lane, unlike)| u32::from(!unlike) << lane).sum()
    }

    /// The same for x86 processors with AVX2.
    ///
    /// # Safety
    /// The processor has it.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn matches_avx2(&self, block: &[Line], key: &[u64]) -> u32 {
        use std::arch::x86_64::{
            __m256i, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_load_si256, _mm256_max_epu32,
            _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sub_epi32,
            _mm256_xor_si256,
        };
        let columns = |Line(line): &Line| -> [__m256i; 2] {
            // SAFETY: a line is aligned, and has two columns of eight numbers.
            unsafe { [_mm256_load_si256(line.as_ptr().cast()), _mm256_load_si256(line[LANES..].as_ptr().cast())] }
        };
        let mut unlike = _mm256_setzero_si256();
        for (half, line) in self.halves.iter().zip(block) {
            let [value, mask] = columns(line);
            let word = _mm256_set1_epi32((key[*half as usize / 2] >> (half % 2 * 32)) as i32);
            unlike = _mm256_or_si256(unlike, _mm256_and_si256(_mm256_xor_si256(word, value), mask));
        }
        for (field, line) in self.ranges.iter().zip(&block[self.halves.len()..]) {
            let [low, span] = columns(line);
            let above = _mm256_sub_epi32(_mm256_set1_epi32(field.value(key) as i32), low);
            // Not 0 if the value is further above the low bound than the span.
            let outside = _mm256_xor_si256(_mm256_max_epu32(above, span), span);
            unlike = _mm256_or_si256(unlike, outside);
        }
        let like = _mm256_cmpeq_epi32(unlike, _mm256_setzero_si256());
        _mm256_movemask_ps(_mm256_castsi256_ps(like)) as u32
    }
}
