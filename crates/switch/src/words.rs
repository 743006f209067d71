//! Memory of words that several threads may touch: the cells of registers.
//!
//! Native code reads and writes them in place, behind the guard of their shards where others do so too; all other
//! code does it word by word with atomic operations, which cost no more than others. So nothing here can race, even if
//! the workers are not halted.
//!
//! In front of the words lie their marks, one byte for each chunk of 64 words, backwards, so that they stay where they
//! are when an array grows: `wirespeed.h` writes them, too. A mark says that a word of the chunk was written since the
//! mark was cleared. To copy the words while they change is to clear the mark of a chunk, then copy the chunk, and to
//! copy only those chunks once more that are marked again.

#![allow(unsafe_code, reason = "memory that has not been written yet becomes atomic words and marks in place")]

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering, fence};

/// From this many words on, a mebibyte, more addresses are reserved than words are in use.
const GROWS_FROM_WORDS: usize = 1 << 17;

/// Words that have a mark in common.
pub(crate) const CHUNK_WORDS: usize = 64;

/// A handle of words; its clones are handles of the same words.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    memory: Arc<Memory>,
    /// How many of them are in use; the others keep apart what lies behind.
    length: usize,
}

#[derive(Debug)]
struct Memory {
    /// The marks, then the words.
    all: Vec<AtomicU64>,
    /// The position of the first word.
    first: usize,
    /// The number of the copy that was made of the words, or that they are; 0 if there is none.
    copy: AtomicU64,
}

impl Memory {
    /// Zeros; none if the system has no addresses for them.
    fn zeroed(count: usize) -> Option<Memory> {
        // Marks are apart from the words: other threads may look at them.
        let first = count.div_ceil(CHUNK_WORDS).div_ceil(size_of::<u64>()).next_multiple_of(8);
        let all = zeroed(count.checked_add(first)?)?;
        Some(Memory { all, first, copy: AtomicU64::new(0) })
    }

    fn words(&self) -> &[AtomicU64] {
        &self.all[self.first..]
    }

    fn mark(&self, chunk: usize) -> &AtomicU8 {
        let bytes = self.first * size_of::<u64>();
        assert!(chunk < bytes, "each chunk has a mark");
        // SAFETY: the byte lies in the words in front of the first one, which are only accessed here, byte by byte.
        unsafe { AtomicU8::from_ptr(self.all.as_ptr().cast_mut().cast::<u8>().add(bytes - 1 - chunk)) }
    }
}

impl Words {
    /// `length` zeros, with `spare` more behind them. They take memory where they are written. For a large array twice
    /// the addresses are reserved, if the system has them, so that [`Words::grown`] need not move what is there.
    pub fn zeros(length: usize, spare: usize) -> Words {
        let doubled = length.saturating_mul(2).saturating_add(spare);
        let doubled = if length < GROWS_FROM_WORDS { None } else { Memory::zeroed(doubled) };
        let memory = doubled.or_else(|| Memory::zeroed(length + spare)).unwrap_or_else(|| no_memory(length + spare));
        Words { memory: Arc::new(memory), length }
    }

    /// A handle of the same words and of zeros behind them, `length` in all, with `spare` behind those; none if the
    /// memory is too small. A handle with fewer words never accesses what is behind them.
    pub fn grown(&self, length: usize, spare: usize) -> Option<Words> {
        let fits =
            length >= self.length && length.checked_add(spare).is_some_and(|end| end <= self.memory.words().len());
        fits.then(|| Words { memory: Arc::clone(&self.memory), length })
    }

    /// Whether both are handles of the same words.
    pub fn are(&self, other: &Words) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory) && self.length == other.length
    }

    pub fn len(&self) -> usize {
        self.length
    }

    /// For native code.
    pub fn as_mut_ptr(&self) -> *mut u64 {
        // SAFETY: there are as many words in front of it.
        unsafe { self.memory.all.as_ptr().add(self.memory.first).cast_mut().cast() }
    }

    fn all(&self) -> &[AtomicU64] {
        &self.memory.words()[..self.length]
    }

    /// Those of a range, which lies within.
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        self.all()[range].iter().map(|word| word.load(Ordering::Relaxed))
    }

    pub fn set(&self, first: usize, words: &[u64]) {
        self.set_unmarked(first, words);
        for chunk in chunks(first..first + words.len()) {
            // As `ws_mark_written` does.
            self.memory.mark(chunk).store(1, Ordering::Release);
        }
    }

    /// The same for words of which no copy is being made.
    pub fn set_unmarked(&self, first: usize, words: &[u64]) {
        let places = &self.all()[first..first + words.len()];
        places.iter().zip(words).for_each(|(place, word)| place.store(*word, Ordering::Relaxed));
    }

    /// One of them.
    pub fn get(&self, position: usize) -> u64 {
        self.all()[position].load(Ordering::Relaxed)
    }

    /// Sets a word that has another value, while no copy is being made; one that has this value stays untouched, and
    /// takes no memory.
    pub fn set_if_other(&self, position: usize, word: u64) {
        let place = &self.all()[position];
        if place.load(Ordering::Relaxed) != word {
            place.store(word, Ordering::Relaxed);
        }
    }

    /// The chunks of all words.
    pub fn chunks(&self) -> Range<usize> {
        chunks(0..self.length)
    }

    /// Whether a word of the chunk was written since its mark was cleared.
    pub fn is_marked(&self, chunk: usize) -> bool {
        self.memory.mark(chunk).load(Ordering::Relaxed) != 0
    }

    /// Marks a chunk.
    pub fn mark(&self, chunk: usize) {
        self.memory.mark(chunk).store(1, Ordering::Release);
    }

    /// Clears the mark of a chunk. What is read of the chunk afterwards is what was written before the mark was set.
    pub fn clear_mark(&self, chunk: usize) {
        if self.is_marked(chunk) {
            self.memory.mark(chunk).swap(0, Ordering::AcqRel);
            // The words are not read before the mark is cleared.
            fence(Ordering::SeqCst);
        }
    }

    /// From now on these words are the copy of others, whose marks only the caller clears.
    pub fn begin_copy(&self, of: &Words) {
        static COPIES: AtomicU64 = AtomicU64::new(1);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        [self, of].iter().for_each(|it| it.memory.copy.store(number, Ordering::Relaxed));
    }

    /// Whether these words are the copy of the others that was begun last.
    pub fn is_copy(&self, of: &Words) -> bool {
        let [own, other] = [self, of].map(|it| it.memory.copy.load(Ordering::Relaxed));
        own == other && own != 0
    }
}

/// The chunks that have words of this range.
fn chunks(words: Range<usize>) -> Range<usize> {
    words.start / CHUNK_WORDS..words.end.div_ceil(CHUNK_WORDS)
}

/// `count` zeros, which the system gives memory when they are written; none if it has no addresses for them.
fn zeroed(count: usize) -> Option<Vec<AtomicU64>> {
    let layout = Layout::array::<AtomicU64>(count).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
    // SAFETY: the memory is of the global allocator, for an array of `count` of them, which are zeros: valid ones.
    (!memory.is_null()).then(|| unsafe { Vec::from_raw_parts(memory, count, count) })
}

fn no_memory(count: usize) -> ! {
    let layout = Layout::array::<AtomicU64>(count);
    handle_alloc_error(layout.unwrap_or_else(|_| Layout::new::<AtomicU64>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_grow_where_they_are_and_few_do_not() {
        let (few, many) = (Words::zeros(100, 8), Words::zeros(GROWS_FROM_WORDS, 8));
        assert!(few.grown(101, 8).is_none() && many.grown(2 * GROWS_FROM_WORDS + 1, 8).is_none());
        assert!(few.grown(99, 8).is_none() && few.grown(100, 8).is_some());
        many.set(GROWS_FROM_WORDS - 1, &[7]);
        let grown = many.grown(2 * GROWS_FROM_WORDS, 8).unwrap();
        assert_eq!((grown.get(GROWS_FROM_WORDS - 1), grown.get(GROWS_FROM_WORDS)), (7, 0));
        assert!(!grown.are(&many) && grown.are(&grown.clone()) && grown.len() == 2 * many.len());
        many.set(0, &[5]);
        assert_eq!(grown.get(0), 5, "they are the same words");
        assert_eq!((zeroed(0).map(|it| it.len()), zeroed(usize::MAX / 4).is_none()), (Some(0), true));
    }
}
