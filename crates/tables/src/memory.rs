//! Large memory: in large pages, and directly from the system.
//!
//! Lookups in a large table go to random places. In pages of 4 KiB each access also misses the TLB, which costs as much
//! as the memory access. Larger pages are requested from the system; whether it has them affects only the time.
//!
//! Memory that the allocator reuses must be cleared first, and grows by copying, all while one update waits. Memory
//! from the system is cleared page by page when it is touched, and grows by remapping.

#![allow(unsafe_code, reason = "makes system and allocator treat memory of ours in a certain way")]

use std::ops::{Deref, DerefMut};

/// The number of bytes from which a system call pays.
const LARGE_BYTES: usize = 4 << 20;

/// Makes the allocator take large blocks directly from the system, and return them, for the whole process. Allocators
/// other than GNU's do so anyway, or have no such setting.
pub(crate) fn prefer_system_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: the call may be made at any time by any thread; a refusal changes nothing.
        ONCE.call_once(|| unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES as i32 / 4);
        });
    }
}

/// A vector whose clone has its capacity, and is in large pages, too.
#[derive(Debug)]
pub(crate) struct Large<T>(Vec<T>);

impl<T> Default for Large<T> {
    fn default() -> Large<T> {
        Large(Vec::new())
    }
}

impl<T: Copy> Clone for Large<T> {
    fn clone(&self) -> Large<T> {
        let mut items = Vec::with_capacity(self.0.capacity());
        prefer_large_pages(&items);
        items.extend_from_slice(&self.0);
        Large(items)
    }
}

impl<T> Large<T> {
    /// A vector in pages of any size. Of memory that is written while an update waits: the system may take
    /// milliseconds to find a large page.
    pub fn in_any_pages(items: Vec<T>) -> Large<T> {
        Large(items)
    }
}

impl<T> From<Vec<T>> for Large<T> {
    fn from(items: Vec<T>) -> Large<T> {
        prefer_large_pages(&items);
        Large(items)
    }
}

impl<T> Deref for Large<T> {
    type Target = Vec<T>;
    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Large<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

/// A vector of equal items, in large pages if it takes much memory.
pub fn in_large_pages<T: Clone>(count: usize, item: T) -> Vec<T> {
    let mut items = Vec::with_capacity(count);
    prefer_large_pages(&items);
    items.resize(count, item);
    items
}

/// Requests large pages for the memory of a vector, preferably before it is first written.
pub(crate) fn prefer_large_pages<T>(items: &Vec<T>) {
    let bytes = items.capacity() * size_of::<T>();
    if bytes < LARGE_BYTES {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE_BYTES: usize = 4096;
        let start = items.as_ptr().addr().next_multiple_of(PAGE_BYTES);
        let end = (items.as_ptr().addr() + bytes) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: the pages lie within memory that the vector owns; the advice does not change its contents. A system
        // without large pages refuses, which is harmless.
        unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), end - start, libc::MADV_HUGEPAGE) };
    }
}
