//! Frames that are lent to the core: bytes that it may work on where they lie.
//!
//! What enters: a driver's buffer, or a packet's bytes in its chunk. What leaves: a [`Frame`], which generated code
//! reads and writes in place, and whose bytes are then what is sent.

#![allow(unsafe_code, reason = "generated code and drivers share bytes through raw pointers")]

use crate::packet::Packet;
use crate::replication::Replica;
use base::limits::PACKET_BYTES_MAX;
use cgen::abi;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes of a received packet, lent for as long as the core works on them.
#[repr(transparent)]
pub struct Frame<'a> {
    frame: abi::Frame,
    lender: PhantomData<&'a mut [u8]>,
}

// SAFETY: a frame is a mutable borrow of its bytes, which are bound to no thread.
unsafe impl Send for Frame<'_> {}

impl<'a> Frame<'a> {
    /// The bytes of a packet that was received on `port` at `time_ns`.
    ///
    /// # Panics
    /// If they are more than `base::limits::PACKET_BYTES_MAX`.
    #[inline]
    pub fn new(bytes: &'a mut [u8], port: u32, time_ns: u64) -> Frame<'a> {
        Frame::behind_headroom(bytes, 0, port, time_ns)
    }

    /// The same with memory before them, the first `headroom` bytes, into which the packet may grow. Programs that add
    /// headers have to copy packets with too little of it.
    ///
    /// # Panics
    /// If the packet has more bytes than `base::limits::PACKET_BYTES_MAX`, or the memory fewer than `headroom`.
    #[inline]
    pub fn behind_headroom(memory: &'a mut [u8], headroom: usize, port: u32, time_ns: u64) -> Frame<'a> {
        let frame = raw(memory, headroom, port, time_ns);
        assert!(frame.length as usize <= PACKET_BYTES_MAX, "a frame of {} bytes", frame.length);
        Frame { frame, lender: PhantomData }
    }

    /// The bytes: before the core has worked on them as they were received, afterwards as they are sent.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the frame borrows as many bytes as its length, also after generated code has moved its begin into the
        // headroom that is borrowed with it.
        unsafe { std::slice::from_raw_parts(self.frame.bytes.as_ptr(), self.frame.length as usize) }
    }

    /// Prefetches the first bytes.
    #[inline]
    pub(crate) fn fetch(&self) {
        tables::prefetch(self.frame.bytes.as_ptr());
    }

    /// Where the packet was received; of a replica, where it leaves.
    pub fn port(&self) -> u32 {
        self.frame.port
    }

    /// When it was received.
    #[inline]
    pub fn time_ns(&self) -> u64 {
        self.frame.time_ns
    }

    /// Bytes before it into which it may grow.
    #[inline]
    pub(crate) fn headroom(&self) -> u32 {
        self.frame.headroom
    }

    /// Frames for generated code, which may change their bytes and times, and move where they begin.
    pub(crate) fn raw<'f>(frames: &'f mut [Frame<'_>]) -> &'f mut [abi::Frame] {
        // SAFETY: a frame is its `abi::Frame` and nothing else, and where generated code moves its begin, it stays
        // within the headroom before it, and its end no further than it is (`Native::run_fast_path`).
        unsafe { std::slice::from_raw_parts_mut(frames.as_mut_ptr().cast(), frames.len()) }
    }
}

/// The bytes behind the first `headroom` of some memory, into which the packet may grow.
///
/// # Panics
/// If the memory has fewer bytes than `headroom`.
#[inline]
fn raw(memory: &mut [u8], headroom: usize, port: u32, time_ns: u64) -> abi::Frame {
    let length = memory[headroom..].len() as u32;
    // SAFETY: `headroom` is no more than the memory's bytes, as the slice above shows. The pointer is of all of it.
    let bytes = unsafe { NonNull::from(memory).cast().add(headroom) };
    abi::Frame { bytes, length, port, time_ns, headroom: headroom.min(PACKET_BYTES_MAX) as u32, rid: 0 }
}

/// The chunks of packets, for generated code, which may change all of them but, where their bytes are lent, those.
pub(crate) struct Chunks<'a>(&'a [*mut abi::Packet]);

impl<'a> Chunks<'a> {
    /// The chunks of packets.
    pub(crate) fn of(packets: &'a mut [Packet]) -> Chunks<'a> {
        Chunks(Packet::chunks(packets))
    }

    /// Pointers to them.
    pub(crate) fn pointers(&self) -> &'a [*mut abi::Packet] {
        self.0
    }
}

/// Memory for the frames of a burst, reused to avoid allocations. It holds none between two uses.
#[derive(Default)]
pub(crate) struct Lending(Vec<abi::Frame>);

// SAFETY: the pointers in it are of the use before: each use begins with its own.
unsafe impl Send for Lending {}

impl Lending {
    /// Lends the bytes of packets in their chunks, and those before them from `floor` on, beside the rest of those
    /// chunks.
    #[inline]
    pub(crate) fn lend<'a>(&'a mut self, packets: &'a mut [Packet], floor: usize) -> (Chunks<'a>, &'a mut [Frame<'a>]) {
        let frame = |packet: &mut Packet| {
            let (port, time_ns) = (packet.ingress_port(), packet.time_ns());
            let (bytes, headroom) = packet.bytes_with_headroom(floor);
            raw(bytes, headroom, port, time_ns)
        };
        self.0.clear();
        self.0.extend(packets.iter_mut().map(frame));
        // SAFETY: a frame is its `abi::Frame` and nothing else, and borrows its packet, as the result does. `Chunks`
        // stands for the rest of the packets' chunks.
        let frames = unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) };
        (Chunks::of(packets), frames)
    }

    /// The same for replicas: their frames have the port and the number of each.
    pub(crate) fn lend_replicas<'a>(
        &'a mut self,
        packets: &'a mut [Packet],
        replicas: &[Replica],
        floor: usize,
    ) -> (Chunks<'a>, &'a mut [Frame<'a>]) {
        let (chunks, frames) = self.lend(packets, floor);
        for (frame, replica) in frames.iter_mut().zip(replicas) {
            (frame.frame.port, frame.frame.rid) = (replica.port, replica.rid as u32);
        }
        (chunks, frames)
    }

    /// Sets where the bytes of packets that were lent begin now.
    pub(crate) fn take_back(&mut self, packets: &mut [Packet]) {
        for (frame, packet) in self.0.drain(..).zip(packets) {
            packet.begin_at(frame.bytes, frame.length);
        }
    }
}
