//! A stack that is deep enough to walk the highest tree that a program may have.
//!
//! Every stage recurses over syntax trees, typed trees and the statements of the IR, and those are at most
//! [`crate::limits::LOWERED_NESTING_MAX`] high. That is more than the stack of an ordinary thread carries, so whoever
//! takes programs from strangers does so inside of [`with_room`], once, around everything: trees are also walked when
//! they are copied, compared, printed and dropped.

use crate::limits::STACK_BYTES;
use std::thread;

/// Does the work on a thread with room for deep recursion, and waits for it. The memory is reserved, not used: only the
/// pages that the work touches exist. Where the system refuses even the reservation, the work is done right here.
pub fn with_room<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // The work is taken by the thread that starts; if none does, it is still here.
    let mut work = Some(work);
    let mut result = None;
    let outcome = thread::scope(|scope| {
        let (work, result) = (&mut work, &mut result);
        let run = move || *result = work.take().map(|work| work());
        let name = thread::current().name().unwrap_or("main").to_owned();
        let started = thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn_scoped(scope, run);
        started.map_or(Ok(()), |thread| thread.join())
    });
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
    match (result, work) {
        (Some(result), _) => result,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("work that was taken has ended, with a result or in a panic"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(levels: u32) -> u32 {
        let frame = std::hint::black_box([levels; 1024]);
        if levels == 0 { 0 } else { depth(frame[0] - 1) + 1 }
    }

    #[test]
    fn there_is_room_for_deep_recursion() {
        // 20,000 frames of 4 KiB: 40 times what a test's thread has.
        assert_eq!(with_room(|| depth(20_000)), 20_000);
    }

    #[test]
    #[should_panic(expected = "the canary")]
    fn a_panic_goes_on() {
        with_room(|| panic!("the canary"));
    }
}
