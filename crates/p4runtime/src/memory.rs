//! Memory that goes back to the system.
//!
//! What enters: that a large request is over. What leaves: nothing; the process takes less memory. The allocator of the
//! GNU C library keeps what was given back to it in the middle of its heaps, of which it has one for every few threads:
//! after some large requests, each in another thread, that is gigabytes that nobody uses. It gives them back when
//! asked.

#![allow(unsafe_code, reason = "asks the C library's allocator")]

/// Gives memory that nobody uses back to the system. Takes some milliseconds for each hundred mebibytes.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time from any thread; it takes a number and touches free memory alone.
    unsafe {
        libc::malloc_trim(0);
    }
}
