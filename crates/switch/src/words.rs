//! Memory of words that several threads may touch: the cells of registers.
//!
//! Native code reads and writes them in place, behind the guard of their lanes where others do so too; everybody else
//! does it word by word with atomic operations, which cost no more than others. So nothing here can race, whoever
//! forgets to halt the workers.

#![allow(unsafe_code, reason = "zeros that the system has not given memory yet become atomic words in place")]

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words that are in one place for all who have a handle of them.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    memory: Arc<Vec<AtomicU64>>,
    /// How many of them are in use; the others keep apart what lies behind.
    length: usize,
}

impl Words {
    /// So many zeros, with `room` behind them. They take memory where they are written.
    pub fn zeros(length: usize, room: usize) -> Words {
        const { assert!(size_of::<AtomicU64>() == size_of::<u64>() && align_of::<AtomicU64>() == align_of::<u64>()) };
        let mut zeros = ManuallyDrop::new(vec![0u64; length + room]);
        // SAFETY: the vector's memory changes hands, with its length and capacity; the two types have one layout.
        let memory =
            unsafe { Vec::from_raw_parts(zeros.as_mut_ptr().cast::<AtomicU64>(), zeros.len(), zeros.capacity()) };
        Words { memory: Arc::new(memory), length }
    }

    /// Whether both are handles of the same words.
    pub fn are(&self, other: &Words) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
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
