//! Returns memory to the system.
//!
//! What enters: the end of a large request. What leaves: nothing; the process uses less memory. The allocator of the
//! GNU C library keeps freed memory in the middle of its heaps, of which it has one for every few threads: after some
//! large requests, each in another thread, this can be gigabytes. It returns the memory on request.

#![allow(unsafe_code, reason = "asks the C library's allocator")]

/// Returns unused memory to the system. Takes some milliseconds for each hundred mebibytes.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time from any thread; it takes a number and touches free memory alone.
    unsafe {
        libc::malloc_trim(0);
    }
}
