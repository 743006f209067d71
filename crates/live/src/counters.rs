//! Per-port counters, written by the worker and read by any thread.
//!
//! Each counter has one writer. An addition is therefore a plain load and store of an atomic, with no bus lock, and a
//! reader on another thread sees values that only grow.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A number that one thread adds to and any thread reads.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `amount`. Only the thread that owns the counter's port may call it: additions of two threads can be lost.
    pub fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// The value now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one port, or of one queue, in cache lines that no other thread writes to.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub struct PortCounters {
            $($(#[$doc])* pub $name: Counter,)*
            /// The counters of the port's further queues, which have other writers.
            queues: Mutex<Vec<Arc<PortCounters>>>,
        }

        /// One port's counters at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CounterSnapshot {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl PortCounters {
            /// The present values, the sum over all queues.
            pub fn snapshot(&self) -> CounterSnapshot {
                let mut sum = CounterSnapshot { $($name: self.$name.get(),)* };
                for queue in self.queues.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    let queue = queue.snapshot();
                    $(sum.$name += queue.$name;)*
                }
                sum
            }

            /// How many queues the port has.
            pub fn queues(&self) -> usize {
                1 + self.queues.lock().unwrap_or_else(PoisonError::into_inner).len()
            }

            /// Includes the counters of a further queue in those of the port.
            pub fn add_queue(&self, queue: Arc<PortCounters>) {
                self.queues.lock().unwrap_or_else(PoisonError::into_inner).push(queue);
            }
        }

        impl CounterSnapshot {
            /// Every counter with its name, in a fixed order.
            pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Frames delivered to the worker.
    rx_packets,
    /// Length of those frames.
    rx_bytes,
    /// Frames that the kernel dropped because the worker was too slow.
    rx_dropped_no_room,
    /// Segments or partial checksums that could not be converted to frames of a wire.
    rx_dropped_offload,
    /// Segments longer than a frame that the sender left uncut, and that were cut here.
    rx_segments_cut,
    /// Frames of a capture that are shorter than on the wire (a snap length was set); delivered as captured.
    rx_cut_by_snap_length,
    /// Ticks of a timer that were skipped because the worker was too slow.
    rx_missed_ticks,
    /// Frames sent or written.
    tx_packets,
    /// Length of those frames.
    tx_bytes,
    /// Frames dropped because they are longer than the port's maximum.
    tx_dropped_too_long,
    /// Frames dropped because they are shorter than an Ethernet header.
    tx_dropped_too_short,
    /// Frames dropped because the transmit queue stayed full.
    tx_dropped_no_room,
    /// Frames dropped because the link was down.
    tx_dropped_link_down,
    /// Frames dropped because the port has no output (a capture port without an output file).
    tx_dropped_no_output,
}

/// Frames that a port lost for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// On reception, rather than on transmission.
    pub is_received: bool,
    /// A short, stable name: `too_long`.
    pub reason: &'static str,
    /// How many.
    pub frames: u64,
}

impl CounterSnapshot {
    /// The lost frames, by the reasons that occurred.
    pub fn losses(&self) -> impl Iterator<Item = Loss> + use<> {
        let loss = |(name, frames): (&'static str, u64)| {
            let (is_received, reason) = match name.strip_prefix("rx_dropped_") {
                Some(reason) => (true, reason),
                None => (false, name.strip_prefix("tx_dropped_")?),
            };
            Some(Loss { is_received, reason, frames })
        };
        self.fields().filter_map(loss).filter(|loss| loss.frames > 0)
    }

    /// All frames lost on reception.
    pub fn rx_dropped(&self) -> u64 {
        self.rx_dropped_no_room + self.rx_dropped_offload
    }

    /// All frames lost on transmission.
    pub fn tx_dropped(&self) -> u64 {
        self.tx_dropped_too_long
            + self.tx_dropped_too_short
            + self.tx_dropped_no_room
            + self.tx_dropped_link_down
            + self.tx_dropped_no_output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_names_what_was_counted() {
        let counters = PortCounters::default();
        counters.rx_packets.add(2);
        counters.rx_packets.add(3);
        counters.tx_dropped_too_long.add(7);
        let snapshot = counters.snapshot();
        let named: Vec<_> = snapshot.fields().filter(|(_, value)| *value != 0).collect();
        assert_eq!(named, [("rx_packets", 5), ("tx_dropped_too_long", 7)]);
        assert_eq!((snapshot.rx_dropped(), snapshot.tx_dropped()), (0, 7));
        let losses: Vec<Loss> = snapshot.losses().collect();
        assert_eq!(losses, [Loss { is_received: false, reason: "too_long", frames: 7 }]);
        let queue = Arc::new(PortCounters::default());
        counters.add_queue(Arc::clone(&queue));
        queue.rx_packets.add(4);
        assert_eq!(counters.snapshot().rx_packets, 9);
    }
}
