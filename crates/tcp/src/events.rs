//! What a connection reports to its application, and what it counts.

use crate::recovery::Phase;
use base::Time;

/// Something that happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Both sides have agreed to communicate.
    Established,
    /// Bytes can be read.
    Readable,
    /// Bytes were acknowledged, so that more can be written.
    Writable,
    /// The peer has sent everything, and all of it has arrived.
    PeerFinished,
    /// The connection has ended in order.
    Closed,
    /// The peer or the network has reset the connection.
    Reset,
    /// The peer has not answered for too long.
    TimedOut,
}

const EVENTS: [Event; 7] = [
    Event::Established,
    Event::Readable,
    Event::Writable,
    Event::PeerFinished,
    Event::Closed,
    Event::Reset,
    Event::TimedOut,
];

/// Events that were not reported yet, each at most once.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EventSet(u8);

impl EventSet {
    #[inline]
    pub(crate) fn add(&mut self, event: Event) {
        self.0 |= 1 << event as u8;
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<Event> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        EVENTS.get(index as usize).copied()
    }
}

/// Counters of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Segments that were sent, of any kind.
    pub segments_sent: u64,
    /// Segments that arrived, of any kind.
    pub segments_received: u64,
    /// Segments that were retransmitted after fast retransmit.
    pub fast_retransmissions: u64,
    /// Segments that were retransmitted after a timeout.
    pub timeout_retransmissions: u64,
    /// Tail loss probes.
    pub tail_probes: u64,
    /// Bytes that were retransmitted.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub fast_recoveries: u64,
    /// Recoveries that were unnecessary and taken back.
    pub spurious_recoveries: u64,
    /// Reports of the peer that it received bytes twice.
    pub duplicate_reports: u64,
    /// Reductions because of ECN.
    pub ecn_reductions: u64,
    /// Segments that arrived with a CE mark.
    pub ce_received: u64,
    /// Acknowledgments that arrived with ECE.
    pub ece_received: u64,
    /// Segments that were dropped because their time stamp was too old.
    pub paws_dropped: u64,
    /// Challenge acknowledgments.
    pub challenges: u64,
}

/// A view of a connection for plots and tests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Statistics {
    /// The congestion window in bytes.
    pub congestion_window: u64,
    /// The slow start threshold in bytes; the greatest number before the first loss.
    pub slow_start_threshold: u64,
    /// Bytes of payload in a full segment.
    pub mss: u64,
    /// The peer's window in bytes.
    pub send_window: u64,
    /// Bytes that are believed to be in the network.
    pub in_flight: u64,
    /// The smoothed round-trip time, once measured.
    pub smoothed_rtt: Option<Time>,
    /// Its variation.
    pub rtt_variation: Time,
    /// The smallest round-trip time of the last minutes, once measured.
    pub min_rtt: Option<Time>,
    /// The retransmission timeout.
    pub retransmission_timeout: Time,
    /// The phase of the sender.
    pub phase: Phase,
    /// DCTCP's estimate of the marked fraction.
    pub alpha: Option<f64>,
    /// Payload bytes that the peer acknowledged.
    pub acknowledged_bytes: u64,
    /// Payload bytes that arrived in order.
    pub received_bytes: u64,
    /// Counters.
    pub counters: Counters,
}
