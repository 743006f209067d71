//! Rings of AF_XDP: entries in memory shared with the kernel, and two indices that only grow.
//!
//! One side writes entries and moves the producer's index, the other reads them and moves the consumer's. The two
//! indices determine which side owns an entry; they are read with acquire and written with release order, so that an
//! entry's content is seen with the index that covers it. [`Producer`] is our end of a ring that the kernel reads,
//! [`Consumer`] of one that it writes. What the kernel writes is never trusted to be in range: counts are limited to
//! the ring's size, and positions are masked.
#![allow(unsafe_code, reason = "rings are memory shared with the kernel")]

use super::system::{Mapping, RingMemory};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The type of a ring's entries: plain numbers.
///
/// # Safety
///
/// Every bit pattern of the type must be a value, and it must have no padding.
pub unsafe trait Entry: Copy {}
// SAFETY: an integer.
unsafe impl Entry for u64 {}
// SAFETY: a word of 64 bits and two of 32.
unsafe impl Entry for libc::xdp_desc {}

/// A ring's parts.
#[derive(Debug)]
struct Shared<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    mask: u32,
    /// Owns the memory that the pointers point into.
    _mapping: Mapping,
    _entries: PhantomData<T>,
}

// SAFETY: the pointers lead into the mapping, which is owned; our ends of rings are used by one thread at a time.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T: Entry> Shared<T> {
    /// The parts of a ring of `size` entries, a power of two.
    fn new(memory: RingMemory, size: u32) -> Shared<T> {
        assert!(size.is_power_of_two(), "{size} entries");
        let RingMemory { mapping, places } = memory;
        let end = places.desc as usize + size as usize * size_of::<T>();
        assert!(end <= mapping.bytes(), "the entries lie in the mapping");
        let word = |place: u64| {
            assert!(
                place as usize + size_of::<u32>() <= mapping.bytes() && place.is_multiple_of(4),
                "a word of the mapping"
            );
            // SAFETY: within the mapping, as just checked.
            unsafe { mapping.base().add(place as usize).cast::<AtomicU32>() }
        };
        let (producer, consumer, flags) = (word(places.producer), word(places.consumer), word(places.flags));
        assert!(places.desc.is_multiple_of(align_of::<T>() as u64), "entries are aligned");
        // SAFETY: within the mapping, as checked above.
        let entries = unsafe { mapping.base().add(places.desc as usize).cast::<T>() };
        Shared { producer, consumer, flags, entries, mask: size - 1, _mapping: mapping, _entries: PhantomData }
    }

    fn size(&self) -> u32 {
        self.mask + 1
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: an aligned word of the mapping that `self` holds; both sides only touch it atomically.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { self.consumer.as_ref() }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.flags.as_ref() }.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn read(&self, index: u32) -> T {
        // SAFETY: the masked position lies in the ring; any bytes are a value of `T`. The caller has seen by the
        // indices that the kernel does not write this entry now; if it did, the value would be wrong but still a value.
        unsafe { self.entries.add((index & self.mask) as usize).read_volatile() }
    }
}

/// Our end of a ring that the kernel reads.
#[derive(Debug)]
pub struct Producer<T> {
    shared: Shared<T>,
    /// The index of the entry to be written next; ahead of the shared one until it is published.
    next: u32,
    /// The consumer's index at the last check.
    consumed: u32,
}

impl<T: Entry> Producer<T> {
    /// The end of a fresh ring with this many entries.
    pub fn new(memory: RingMemory, size: u32) -> Producer<T> {
        Producer { shared: Shared::new(memory, size), next: 0, consumed: 0 }
    }

    /// How many entries there is room for.
    pub fn room(&mut self) -> u32 {
        self.consumed = self.shared.consumer().load(Ordering::Acquire);
        self.shared.size().saturating_sub(self.next.wrapping_sub(self.consumed))
    }

    /// Whether there is room for this many entries; reads the kernel's index only if the last check is not enough.
    pub fn has_room(&mut self, entries: u32) -> bool {
        self.shared.size().saturating_sub(self.next.wrapping_sub(self.consumed)) >= entries || self.room() >= entries
    }

    /// Writes an entry; [`Producer::publish`] hands it over. The caller knows that there is room.
    pub fn push(&mut self, entry: T) {
        debug_assert!(self.next.wrapping_sub(self.consumed) < self.shared.size(), "the ring is full");
        // SAFETY: the masked position lies in the ring, and the kernel does not read beyond the published index.
        unsafe { self.shared.entries.add((self.next & self.shared.mask) as usize).write_volatile(entry) };
        self.next = self.next.wrapping_add(1);
    }

    /// Hands over what was written.
    pub fn publish(&mut self) {
        self.shared.producer().store(self.next, Ordering::Release);
    }

    /// Entries written that the kernel has not taken.
    pub fn waiting(&mut self) -> u32 {
        self.shared.size() - self.room()
    }

    /// The index up to which the kernel had taken entries at the last check; an entry before it stays readable until
    /// as many have been written again.
    pub fn taken(&self) -> u32 {
        self.consumed
    }

    /// The entry that was written at an index.
    pub fn written(&self, index: u32) -> T {
        self.shared.read(index)
    }

    /// Takes back entries that the kernel has not taken, the last first, if there are any. The kernel must not be
    /// reading: it does so only within a call where it copies.
    pub fn take_back(&mut self) -> Option<T> {
        if self.waiting() == 0 {
            return None;
        }
        self.next = self.next.wrapping_sub(1);
        self.publish();
        Some(self.shared.read(self.next))
    }

    /// Whether the kernel must be called to process the ring.
    pub fn needs_wakeup(&self) -> bool {
        self.shared.needs_wakeup()
    }
}

/// Our end of a ring that the kernel writes.
#[derive(Debug)]
pub struct Consumer<T> {
    shared: Shared<T>,
    /// The index of the entry to be read next; ahead of the shared one until it is released.
    next: u32,
    /// The producer's index at the last check.
    produced: u32,
}

impl<T: Entry> Consumer<T> {
    /// The end of a fresh ring with this many entries.
    pub fn new(memory: RingMemory, size: u32) -> Consumer<T> {
        Consumer { shared: Shared::new(memory, size), next: 0, produced: 0 }
    }

    /// How many entries there are.
    pub fn available(&mut self) -> u32 {
        self.produced = self.shared.producer().load(Ordering::Acquire);
        self.produced.wrapping_sub(self.next).min(self.shared.size())
    }

    /// The next entry, if there is one. The kernel does not overwrite it before [`Consumer::release`].
    pub fn pop(&mut self) -> Option<T> {
        if self.next == self.produced && self.available() == 0 {
            return None;
        }
        let entry = self.shared.read(self.next);
        self.next = self.next.wrapping_add(1);
        Some(entry)
    }

    /// Returns the entries that were read.
    pub fn release(&mut self) {
        self.shared.consumer().store(self.next, Ordering::Release);
    }
}
