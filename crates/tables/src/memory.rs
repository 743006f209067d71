//! Large memory: in large pages, and from the system itself.
//!
//! Lookups in a large table go to random places. In pages of 4 KiB each of them also misses what the processor keeps of
//! the page table, which costs as much as the memory itself. The system is asked for larger pages; whether it has them
//! shows in nothing but time.
//!
//! Memory that the allocator has kept must be cleared before it is used again, and grows by being copied, all while one
//! update waits. What comes from the system is clear, page by page when it is touched, and grows by being moved in the
//! page table.

#![allow(unsafe_code, reason = "asks system and allocator to treat memory of ours in a certain way")]

/// Bytes from which it is worth a call.
const LARGE_BYTES: usize = 4 << 20;

/// Has the allocator take large pieces from the system from now on, and give them back, whatever was freed before. For
/// the whole process; others than that of GNU do so anyway, or have nothing of the kind.
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

/// Asks for large pages for the memory of a vector, best before it is written for the first time.
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
        // SAFETY: the pages lie within memory that the vector owns; the advice changes nothing that can be read there.
        // A system that has no large pages, or other pages, refuses, which is no loss.
        unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), end - start, libc::MADV_HUGEPAGE) };
    }
}
