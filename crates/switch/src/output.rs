//! What comes out of the core while it runs: packets, messages to the control plane, and, on request, the path of
//! each packet.

use crate::frame::Frame;
use crate::stats::DropReason;
use base::Bits;
use cgen::abi::{self, Verdict};
use ir::DigestId;
use tables::TableSet;

/// Receives what the core puts out. A frame is borrowed for the call.
pub trait Output {
    /// A packet leaves on a port, at this time: that of its reception, or that at which it left a queue with a rate.
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64);

    /// Packets leave one after the other.
    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        for Departing { port, frame, time_ns } in departures.iter() {
            self.transmit(port, frame, time_ns);
        }
    }

    /// A digest for the control plane: the values of its fields in order.
    fn digest(&mut self, _digest: DigestId, _values: Vec<Bits>) {}

    /// A line that the program logs.
    fn log(&mut self, _line: &str) {}

    /// An assertion of the program failed, with the text of its condition.
    fn assertion_failed(&mut self, _text: &str) {}
}

/// Packets that leave together, in order.
pub struct Departures<'a> {
    /// Those that leave, and others.
    pub(crate) frames: &'a [Frame<'a>],
    /// For each the port that it leaves on, or that it does not.
    pub(crate) verdicts: &'a [Verdict],
    /// How many leave.
    pub(crate) sent: u64,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Departing<'a> {
    /// Its port.
    pub port: u32,
    /// Its bytes.
    pub frame: &'a [u8],
    /// As in [`Output::transmit`].
    pub time_ns: u64,
}

impl<'a> Departures<'a> {
    /// How many packets leave.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// For each packet of a burst, also of those that do not leave, the port that it leaves on.
    #[inline]
    pub fn ports(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        self.verdicts.iter().map(|&verdict| (verdict < abi::DROP_INGRESS).then_some(verdict))
    }

    /// The packets that leave.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Departing<'a>> {
        let of = |(frame, &port): (&'a Frame<'a>, &Verdict)| {
            (port < abi::DROP_INGRESS).then(|| Departing { port, frame: frame.bytes(), time_ns: frame.time_ns() })
        };
        self.frames.iter().zip(self.verdicts).filter_map(of)
    }
}

/// What the architecture did with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the variant documents its fields")]
pub enum Decision {
    /// A pass through ingress starts; `kind` describes the kind of packet in words.
    IngressStarts { port: u32, bytes: u32, kind: &'static str },
    /// Queued to a port.
    Unicast { port: u32 },
    /// Replicated to a multicast group.
    Multicast { group: u64, replicas: usize },
    /// Cloned to a session; none: the session is not configured.
    Cloned { session: u32, copies: Option<usize> },
    /// A copy goes through ingress as a packet of its own.
    ClonedToIngress,
    /// Sent back to ingress with its original bytes.
    Resubmitted,
    /// Sent back to ingress with its deparsed bytes.
    Recirculated,
    /// Added to a coalescing buffer, which holds `packets` packets with it.
    Gathered { buffer: u16, packets: u16 },
    /// A buffer of `packets` packets goes through ingress as one.
    BufferLeaves { buffer: u16, packets: u16 },
    /// Split into records, which go through ingress.
    Scattered { records: u16 },
    /// Not made of the records that it was to be split into: goes through ingress once more as a whole.
    NotScattered,
    /// A pass through egress starts.
    EgressStarts { port: u32, rid: u64, kind: &'static str },
    /// Left on a port.
    Transmitted { port: u32, bytes: u32 },
    /// Ended.
    Dropped(DropReason),
}

/// Follows packets through the core: the interpreter's steps and the architecture's decisions, in order.
pub trait Observer: interp::Tracer {
    /// The architecture decided.
    fn decision(&mut self, decision: Decision);

    /// What follows happens to a packet with this tag ([`crate::Switch::receive_tagged`]).
    fn packet(&mut self, _tag: u32) {}

    /// Copies are made of that packet, or would have been if there were buffers for them.
    fn copied(&mut self) {}

    /// A run of the core has ended, at this time, with these tables.
    fn finish(&mut self, _tables: &TableSet, _now_ns: u64) {}
}
