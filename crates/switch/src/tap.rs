//! Taps: copies of packets as they arrive, to watch a switch that runs.
//!
//! What enters: watches, from any thread, each with a filter and a sink; every burst that the switch receives. What
//! leaves: packets that a filter admits, at its sink. Without watches, a burst costs one load. A sink never blocks:
//! a packet that does not fit is counted, and forwarded like any other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest pattern.
pub const PATTERN_BYTES_MAX: usize = 64;

/// Bytes that a packet must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    value: Vec<u8>,
    mask: Vec<u8>,
    /// Where they must be; anywhere if there is none.
    offset: Option<usize>,
}

impl Pattern {
    /// The bytes of `value` where `mask` has ones; none if the two differ in length, or have no or too many bytes.
    pub fn new(value: &[u8], mask: &[u8], offset: Option<usize>) -> Option<Pattern> {
        let is_right = value.len() == mask.len() && (1..=PATTERN_BYTES_MAX).contains(&value.len());
        let value = value.iter().zip(mask).map(|(value, mask)| value & mask).collect();
        is_right.then(|| Pattern { value, mask: mask.to_vec(), offset })
    }

    /// Whether a packet has them.
    pub fn is_in(&self, packet: &[u8]) -> bool {
        let is_here = |bytes: &[u8]| {
            let masked = bytes.iter().zip(&self.mask).map(|(byte, mask)| byte & mask);
            masked.eq(self.value.iter().copied())
        };
        match self.offset {
            Some(offset) => {
                let end = offset.checked_add(self.value.len());
                end.and_then(|end| packet.get(offset..end)).is_some_and(is_here)
            }
            // Most places differ in the first byte already.
            None => {
                let (value, mask) = (self.value[0], self.mask[0]);
                packet.windows(self.value.len()).any(|bytes| bytes[0] & mask == value && is_here(bytes))
            }
        }
    }
}

/// Which packets a watch gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapFilter {
    /// Those of these ports; of all ports if there is none.
    pub ports: Vec<u32>,
    /// Those that have all of these.
    pub patterns: Vec<Pattern>,
}

impl TapFilter {
    fn admits(&self, arrival: &Arrival<'_>) -> bool {
        (self.ports.is_empty() || self.ports.contains(&arrival.port))
            && self.patterns.iter().all(|pattern| pattern.is_in(arrival.bytes))
    }
}

/// A packet as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its port.
    pub port: u32,
    /// When.
    pub time_ns: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// What a sink did with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It has it.
    Kept,
    /// The sink is full.
    Full,
    /// The receiver has gone.
    Closed,
}

/// Takes packets. It is called between the packets that are forwarded and must not block.
pub type TapSink = Box<dyn FnMut(Arrival<'_>) -> Taken + Send>;

struct Watch {
    id: u64,
    filter: TapFilter,
    /// How many packets it still takes.
    left: u64,
    sink: TapSink,
}

#[derive(Default)]
struct Watches {
    all: Vec<Watch>,
    last_id: u64,
}

/// The tap of a switch, which its workers share.
#[derive(Default)]
pub struct Tap {
    /// Whether there is any watch.
    is_on: AtomicBool,
    watches: Mutex<Watches>,
}

impl Tap {
    /// Watches the next `count` packets that the filter admits, until the result is dropped. The sink is dropped with
    /// the last of them.
    pub fn watch(self: &Arc<Tap>, filter: TapFilter, count: u64, sink: TapSink) -> Watching {
        let mut watches = self.lock();
        watches.last_id += 1;
        let id = watches.last_id;
        if count > 0 {
            watches.all.push(Watch { id, filter, left: count, sink });
            self.is_on.store(true, Ordering::Relaxed);
        }
        Watching { tap: Arc::clone(self), id }
    }

    /// Whether there is any watch.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Shows packets to all watches.
    #[cold]
    pub(crate) fn show<'a>(&self, arrivals: impl Iterator<Item = Arrival<'a>>) {
        let mut watches = self.lock();
        for arrival in arrivals {
            watches.all.retain_mut(|watch| watch.show(arrival));
        }
        self.is_on.store(!watches.all.is_empty(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        // Each change is one insertion or removal.
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Whether it stays.
    fn show(&mut self, arrival: Arrival<'_>) -> bool {
        if self.filter.admits(&arrival) {
            match (self.sink)(arrival) {
                Taken::Kept => self.left -= 1,
                Taken::Full => {}
                Taken::Closed => self.left = 0,
            }
        }
        self.left > 0
    }
}

/// A watch, which ends when this is dropped.
pub struct Watching {
    tap: Arc<Tap>,
    id: u64,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watches = self.tap.lock();
        watches.all.retain(|watch| watch.id != self.id);
        self.tap.is_on.store(!watches.all.is_empty(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn patterns_are_somewhere_or_anywhere() {
        let here = |value: &[u8], mask: &[u8], offset| Pattern::new(value, mask, offset).unwrap();
        let packet = [0x10, 0x22, 0x33, 0x45];
        assert!(here(&[0x22, 0x33], &[0xff, 0xff], Some(1)).is_in(&packet));
        assert!(!here(&[0x22, 0x33], &[0xff, 0xff], Some(2)).is_in(&packet));
        assert!(!here(&[0x45], &[0xff], Some(usize::MAX)).is_in(&packet));
        assert!(here(&[0xff, 0x40], &[0x0f, 0xf0], None).is_in(&[0xdf, 0x4f]));
        assert!(!here(&[0x45, 0x00], &[0xff, 0x00], None).is_in(&packet));
        assert!(here(&[0x45], &[0xff], None).is_in(&packet));
        assert_eq!(Pattern::new(&[1], &[1, 2], None), None);
        assert_eq!(Pattern::new(&[], &[], None), None);
        assert_eq!(Pattern::new(&[0; 65], &[0; 65], None), None);
    }

    #[test]
    fn a_watch_ends_with_its_last_packet_or_when_it_is_dropped() {
        let tap = Arc::<Tap>::default();
        let (sender, packets) = mpsc::sync_channel(2);
        let sink = move |arrival: Arrival<'_>| match sender.try_send(arrival.bytes.to_vec()) {
            Ok(()) => Taken::Kept,
            Err(mpsc::TrySendError::Full(_)) => Taken::Full,
            Err(mpsc::TrySendError::Disconnected(_)) => Taken::Closed,
        };
        let show = |port, bytes: &[u8]| tap.show([Arrival { port, time_ns: 0, bytes }].into_iter());
        let filter = TapFilter { ports: vec![2], patterns: Vec::new() };
        let watching = tap.watch(filter.clone(), 3, Box::new(sink));
        assert!(tap.is_on());
        show(1, &[1]);
        show(2, &[2]);
        show(2, &[3]);
        // The sink is full for this one, which does not count.
        show(2, &[4]);
        assert_eq!(packets.try_iter().collect::<Vec<_>>(), [[2], [3]]);
        show(2, &[5]);
        assert!(!tap.is_on());
        assert_eq!(packets.iter().collect::<Vec<_>>(), [[5]]);
        drop(watching);
        let watching = tap.watch(filter.clone(), u64::MAX, Box::new(|_| Taken::Kept));
        drop(watching);
        assert!(!tap.is_on());
        let _watching = tap.watch(filter, u64::MAX, Box::new(|_| Taken::Closed));
        show(2, &[6]);
        assert!(!tap.is_on());
    }
}
