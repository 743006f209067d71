//! Two copies of a value: readers use one without a lock while the writer changes the other, then they swap.
//!
//! # Why it is correct
//!
//! Each reader owns an epoch counter, even while it is outside and odd while it is inside. On entering it makes its
//! epoch odd, passes a sequentially consistent fence, then loads which copy is active. The writer stores the new active
//! copy, passes a sequentially consistent fence, then loads all epochs. Of the two fences one comes first in their
//! total order: if the reader's does, the writer sees the odd epoch and counts the reader as possibly inside the old
//! copy; if the writer's does, the reader sees the new active copy. So a reader inside the old copy is always seen.
//!
//! The writer touches the old copy only after every reader seen with an odd epoch has another epoch. A reader leaves
//! with a release store that the writer's acquire load reads, so its reads happen before the writer's writes. The
//! writer's writes to a copy happen before its release store of `active`, which the reader's load acquires.
//!
//! A reader that registers later is not in the writer's list. It registers under the same lock under which the writer
//! reads the list after its swap, so that it either is in the list or happens after the swap and enters the new copy.

#![allow(unsafe_code, reason = "shared access to the copies is guarded by the epochs, as argued above")]

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

/// A reader's epoch, on a cache line of its own: workers write theirs once or twice per burst.
#[derive(Debug)]
#[repr(align(128))]
struct Epoch(AtomicU64);

#[derive(Debug)]
struct Shared<T> {
    active: AtomicUsize,
    copies: [UnsafeCell<T>; 2],
    epochs: Mutex<Vec<Arc<Epoch>>>,
}

// SAFETY: readers share `&T` across threads (T: Sync), the writer has `&mut T` on its own thread (T: Send); the epochs
// keep the two apart.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

/// The writer's side.
#[derive(Debug)]
pub(crate) struct LeftRight<T> {
    shared: Arc<Shared<T>>,
    /// Readers that were inside at the last swap, with the epoch they had: they may still be in the hidden copy.
    lingering: Vec<(Arc<Epoch>, u64)>,
}

/// One reader's side.
#[derive(Debug)]
pub(crate) struct Registration<T> {
    shared: Arc<Shared<T>>,
    epoch: Arc<Epoch>,
}

/// The active copy, held while this exists.
#[derive(Debug)]
pub(crate) struct Entered<'a, T> {
    registration: &'a Registration<T>,
    copy: &'a T,
}

impl<T> LeftRight<T> {
    /// Two copies that must be equal.
    pub fn new(copies: [T; 2]) -> LeftRight<T> {
        let copies = copies.map(UnsafeCell::new);
        let shared = Shared { active: AtomicUsize::new(0), copies, epochs: Mutex::new(Vec::new()) };
        LeftRight { shared: Arc::new(shared), lingering: Vec::new() }
    }

    /// A new reader.
    pub fn register(&self) -> Registration<T> {
        let epoch = Arc::new(Epoch(AtomicU64::new(0)));
        self.shared.epochs.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&epoch));
        Registration { shared: Arc::clone(&self.shared), epoch }
    }

    /// Whether all readers have left the hidden copy.
    pub fn is_free(&mut self) -> bool {
        self.lingering.retain(|(epoch, seen)| epoch.0.load(Ordering::Acquire) == *seen);
        self.lingering.is_empty()
    }

    /// The hidden copy, as soon as all readers have left it. A reader stays for a burst, which takes microseconds; the
    /// thread yields meanwhile. Must not be called by a thread that itself is inside with a copy from before the last
    /// swap.
    pub fn hidden(&mut self) -> &mut T {
        while !self.is_free() {
            std::thread::yield_now();
        }
        let active = self.shared.active.load(Ordering::Relaxed);
        // SAFETY: only this writer stores `active`; no reader is inside the other copy (`is_free`), none can enter it
        // before the next swap, which needs `&mut self`, and there is one writer.
        unsafe { &mut *self.shared.copies[1 - active].get() }
    }

    /// The same, and the copy that readers see.
    pub fn both(&mut self) -> (&mut T, &T) {
        let active = self.shared.active.load(Ordering::Relaxed);
        // SAFETY: readers share the active copy, and no one else has it: `hidden` and this method give the other one
        // to be changed, and a swap needs `&mut self`.
        let shown = unsafe { &*self.shared.copies[active].get() };
        let hidden: *mut T = self.hidden();
        // SAFETY: the reference that `hidden` gave, which borrows `self` as long as this one.
        (unsafe { &mut *hidden }, shown)
    }

    /// Shows the hidden copy to readers and hides the other.
    pub fn swap(&mut self) {
        debug_assert!(self.lingering.is_empty(), "a swap follows changes to a free copy");
        let active = self.shared.active.load(Ordering::Relaxed);
        self.shared.active.store(1 - active, Ordering::Release);
        fence(Ordering::SeqCst);
        let epochs = self.shared.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        let inside =
            epochs.iter().map(|epoch| (epoch, epoch.0.load(Ordering::Acquire))).filter(|(_, seen)| seen % 2 == 1);
        self.lingering = inside.map(|(epoch, seen)| (Arc::clone(epoch), seen)).collect();
    }
}

impl<T> Registration<T> {
    /// Enters the active copy. `&mut self`: a reader is inside at most once.
    pub fn enter(&mut self) -> Entered<'_, T> {
        let registration = &*self;
        let outside = registration.epoch.0.load(Ordering::Relaxed);
        // A writer that sees this must also see that the reader was outside before it.
        registration.epoch.0.store(outside + 1, Ordering::Release);
        fence(Ordering::SeqCst);
        let active = registration.shared.active.load(Ordering::Acquire);
        // SAFETY: the epoch is odd until `Entered` is dropped, so the writer leaves this copy alone (see the module).
        let copy = unsafe { &*registration.shared.copies[active].get() };
        Entered { registration, copy }
    }
}

impl<T> Drop for Registration<T> {
    fn drop(&mut self) {
        // A guard that was forgotten leaves the epoch odd; the reader is gone, so it is outside.
        self.epoch.0.store(0, Ordering::Release);
        let mut epochs = self.shared.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        epochs.retain(|epoch| !Arc::ptr_eq(epoch, &self.epoch));
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.copy
    }
}

impl<T> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        let epoch = &self.registration.epoch.0;
        epoch.store(epoch.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
}
