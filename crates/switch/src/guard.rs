//! Waiting for the guard that shards take around the registers which they share.
//!
//! Generated code takes it where it is free, for the part of a burst's work that touches such registers, and comes here
//! where it is not. A part is short, so it spins; but the worker that holds the guard may have lost its
//! processor, so it yields after a while.

#![allow(unsafe_code, reason = "generated code calls this with a pointer")]

use cgen::abi::Guard;
use std::sync::atomic::Ordering;

/// How often the guard is read before the loop yields, and pauses between two reads: each read takes the guard's cache
/// line from the worker that holds it.
const LOOKS: usize = 200;
const PAUSES: usize = 4;

/// Waits until the guard is free, and takes it.
///
/// # Safety
/// `guard` is that of a running call's environment.
pub(crate) unsafe extern "C" fn wait(guard: *const Guard) {
    // SAFETY: the caller's word; a guard is shared and atomic throughout.
    let is_taken = unsafe { &(*guard).is_taken };
    loop {
        for _ in 0..LOOKS {
            if is_taken.load(Ordering::Relaxed) == 0 && is_taken.swap(1, Ordering::Acquire) == 0 {
                return;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        std::thread::yield_now();
    }
}
