//! Panics as messages: a panic for one file must not end the work on the others.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

thread_local! {
    /// The message of the last panic of this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does the work; if it panics, returns the message and the place. A panic is a bug of ours and never the user's
/// fault.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = take_hook();
    set_hook(Box::new(remember));
    let result = catch_unwind(AssertUnwindSafe(work));
    set_hook(before);
    result.map_err(|_| {
        let what = LAST.with_borrow_mut(Option::take).unwrap_or_default();
        format!("internal error: {what}; please report this as a bug, with the file")
    })
}

fn remember(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    LAST.set(Some(format!("{message}{place}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message_and_work_goes_on() {
        let message = caught(|| panic!("the canary {}", "sings")).map(|_: ()| ()).unwrap_err();
        assert!(message.starts_with("internal error: the canary sings (crates/cli/src/caught.rs:"), "{message}");
        assert_eq!(caught(|| 1 + 1), Ok(2));
    }
}
