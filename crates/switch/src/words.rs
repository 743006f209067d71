//! Memory of words that several threads may touch: the cells of registers.
//!
//! Native code reads and writes them in place, behind the guard of their shards where others do so too; everybody else
//! does it word by word with atomic operations, which cost no more than others. So nothing here can race, whoever
//! forgets to halt the workers.

#![allow(unsafe_code, reason = "zeros that the system has not given memory yet become atomic words in place")]

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// From so many words on, a mebibyte, more addresses are taken than words are in use.
const GROWS_FROM_WORDS: usize = 1 << 17;

/// Words that are in one place for all who have a handle of them.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    memory: Arc<Vec<AtomicU64>>,
    /// How many of them are in use; the others keep apart what lies behind.
    length: usize,
}

impl Words {
    /// So many zeros, with `room` behind them. They take memory where they are written. Of many, addresses are taken
    /// for twice as many, if the system has them, so that [`Words::grown`] need not move what is there.
    pub fn zeros(length: usize, room: usize) -> Words {
        let doubled =
            if length < GROWS_FROM_WORDS { None } else { zeroed(length.saturating_mul(2).saturating_add(room)) };
        let memory = doubled.or_else(|| zeroed(length + room)).unwrap_or_else(|| no_memory(length + room));
        Words { memory: Arc::new(memory), length }
    }

    /// A handle of the same words and of zeros behind them, `length` in all, with `room` behind those; none where there
    /// is no such room. Who has a handle with fewer never touches what is behind them.
    pub fn grown(&self, length: usize, room: usize) -> Option<Words> {
        let fits = length >= self.length && length.checked_add(room).is_some_and(|end| end <= self.memory.len());
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
        self.memory.as_ptr().cast_mut().cast()
    }

    /// Those of a range, which lies within.
    pub fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = u64> + '_ {
        self.memory[..self.length][range].iter().map(|word| word.load(Ordering::Relaxed))
    }

    pub fn set(&self, first: usize, words: &[u64]) {
        let places = &self.memory[..self.length][first..first + words.len()];
        places.iter().zip(words).for_each(|(place, word)| place.store(*word, Ordering::Relaxed));
    }

    /// One of them.
    pub fn get(&self, position: usize) -> u64 {
        self.memory[..self.length][position].load(Ordering::Relaxed)
    }

    /// Sets a word that has another value; one that has it already stays untouched, and takes no memory.
    pub fn set_if_other(&self, position: usize, word: u64) {
        let place = &self.memory[..self.length][position];
        if place.load(Ordering::Relaxed) != word {
            place.store(word, Ordering::Relaxed);
        }
    }
}

/// So many zeros, which the system gives memory when they are written; none if it has no addresses for them.
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
