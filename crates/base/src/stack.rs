//! A thread stack that is deep enough to recurse over the deepest tree that a program may have.
//!
//! Every stage recurses over syntax trees, typed trees or the statements of the IR. Their depth is at most
//! [`crate::limits::LOWERED_NESTING_MAX`], which exceeds the stack of an ordinary thread. Code that accepts untrusted
//! programs therefore runs inside [`with_deep_stack`], once, around everything: trees are also traversed when they are
//! copied, compared, printed and dropped.

use crate::limits::STACK_BYTES;
use std::thread;

/// Runs `work` on a thread with a stack for deep recursion, and waits for it. The memory is reserved, not used: only
/// the pages that `work` touches are allocated. If the system refuses even the reservation, `work` runs on the
/// calling thread.
pub fn with_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // The thread takes the work when it starts. If no thread could be started, the work is still here.
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
        // 20,000 frames of 4 KiB: 40 times the stack of a test's thread.
        assert_eq!(with_deep_stack(|| depth(20_000)), 20_000);
    }

    #[test]
    #[should_panic(expected = "the canary")]
    fn a_panic_goes_on() {
        with_deep_stack(|| panic!("the canary"));
    }
}
