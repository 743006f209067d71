//! A ring of slots shared with the kernel (`PACKET_RX_RING`, `PACKET_TX_RING`, version 2).
//!
//! Each slot starts with a header whose first word identifies the owner of the slot. Only the owner accesses the
//! rest, and hands the slot over by writing that word last. [`Ring`] guarantees this by lending a slot's bytes only
//! through a borrow of the whole ring, and by reading and writing the word with acquire and release order.
//!
//! Version 2 because it hands over packets one by one: version 3 would wait until a block is full or some
//! milliseconds have passed, which a switch would add to the latency of every packet.
#![allow(unsafe_code, reason = "the ring is memory mapped from the kernel")]

use crate::interface::Socket;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory is allocated in blocks of at least this size; a slot never crosses a block's border, since both are powers
/// of 2.
const BLOCK_BYTES_MIN: usize = 1 << 16;

/// The offset of a slot's address structure, directly after its header.
const ADDRESS_OFFSET: usize = 32;
/// The offset of the packet type in the address structure.
const PACKET_TYPE_OFFSET: usize = ADDRESS_OFFSET + 10;
/// The length of the header and the address structure.
const HEADER_BYTES: usize = libc::TPACKET2_HDRLEN;
/// The offset of the frame in a transmit slot.
const TX_FRAME_OFFSET: usize = HEADER_BYTES - size_of::<libc::sockaddr_ll>();

const _: () = assert!(size_of::<libc::tpacket2_hdr>() == ADDRESS_OFFSET);
const _: () = assert!(HEADER_BYTES == ADDRESS_OFFSET + size_of::<libc::sockaddr_ll>());

/// The header of a received packet.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedHeader {
    /// The status bits except the owner's.
    pub status: u32,
    /// The packet's length on the wire.
    pub length: usize,
    /// How many of its bytes are in the slot.
    pub held: usize,
    /// The offset of the Ethernet header in the slot.
    pub frame_offset: usize,
    /// When the kernel received it, in nanoseconds since 1970.
    pub timestamp_ns: u64,
    /// The tag that the kernel took out of the frame.
    pub vlan_tci: u16,
    /// That tag's kind.
    pub vlan_tpid: u16,
    /// The packet's destination, one of Linux's `PACKET_` numbers.
    pub packet_type: u8,
}

/// Slots in memory shared with the kernel.
#[derive(Debug)]
pub struct Ring {
    base: NonNull<u8>,
    slot_bytes: usize,
    slot_count: usize,
}

// SAFETY: the ring owns its mapping; nothing in it belongs to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Sets up a ring of slots that hold `slot_payload_bytes` after their header, in about `ring_bytes` of memory.
    /// `kind` is `PACKET_RX_RING` or `PACKET_TX_RING`; the socket must use version 2 and have no mapping yet.
    pub fn new(socket: &Socket, kind: libc::c_int, slot_payload_bytes: usize, ring_bytes: usize) -> io::Result<Ring> {
        // The kernel aligns the network header, after the virtio header: 64 bytes are enough.
        let slot_bytes = (HEADER_BYTES + 64 + slot_payload_bytes).next_power_of_two();
        let block_bytes = slot_bytes.max(BLOCK_BYTES_MIN);
        let block_count = (ring_bytes / block_bytes).max(2);
        let slot_count = block_count * (block_bytes / slot_bytes);
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: block_count as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: slot_count as u32,
        };
        socket.set(libc::SOL_PACKET, kind, &request)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, of the size that was just agreed on.
        let base = unsafe {
            libc::mmap(ptr::null_mut(), block_bytes * block_count, protection, libc::MAP_SHARED, socket.raw(), 0)
        };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(Ring { base, slot_bytes, slot_count }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The number of slots.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// The slot after this one.
    pub fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slot_count { 0 } else { slot + 1 }
    }

    fn slot_pointer(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slot_count, "slot {slot} of {}", self.slot_count);
        // SAFETY: the slot lies in the mapping, which holds `slot_count` slots without gaps.
        unsafe { self.base.as_ptr().add(slot * self.slot_bytes) }
    }

    fn status_word(&self, slot: usize) -> &AtomicU32 {
        // SAFETY: a slot starts with its status word, aligned to 16 bytes, shared with the kernel and only ever
        // accessed as an atomic: `read_header` does not read it, and lent bytes start behind the header.
        unsafe { AtomicU32::from_ptr(self.slot_pointer(slot).cast()) }
    }

    /// The owner of the slot, and the other status bits. What the other side wrote before is visible after this.
    pub fn status(&self, slot: usize) -> u32 {
        self.status_word(slot).load(Ordering::Acquire)
    }

    /// Hands the slot over, with everything written to it before.
    pub fn set_status(&mut self, slot: usize, status: u32) {
        self.status_word(slot).store(status, Ordering::Release);
    }

    fn header(&self, slot: usize) -> *mut libc::tpacket2_hdr {
        self.slot_pointer(slot).cast()
    }

    /// Lends slots that hold received packets, one after the other from `first` on, each as [`Ring::received`] does and
    /// all for as long as the ring is borrowed.
    pub fn lend(&mut self, first: usize) -> Slots<'_> {
        Slots { slot: first, left: self.slot_count, ring: self }
    }

    /// The header of a slot with a received packet, and all the slot's bytes after the header. The offsets in the
    /// header are checked to be in the slot.
    pub fn received(&mut self, slot: usize, status: u32) -> Option<(ReceivedHeader, ReceivedBytes<'_>)> {
        self.lend_slot(slot, status)
    }

    /// The same for longer than this borrow: the caller lends each slot once, and not for longer than it has the
    /// ring.
    fn lend_slot<'a>(&self, slot: usize, status: u32) -> Option<(ReceivedHeader, ReceivedBytes<'a>)> {
        let header = self.header(slot);
        // SAFETY: the slot is in the mapping and at least as long as a header and an address. The kernel has given it
        // to us (the caller saw so in `status`), so that no other thread writes to it now.
        let header = unsafe {
            ReceivedHeader {
                status,
                length: (*header).tp_len as usize,
                held: (*header).tp_snaplen as usize,
                frame_offset: usize::from((*header).tp_mac),
                timestamp_ns: u64::from((*header).tp_sec) * 1_000_000_000 + u64::from((*header).tp_nsec),
                vlan_tci: (*header).tp_vlan_tci,
                vlan_tpid: (*header).tp_vlan_tpid,
                packet_type: *self.slot_pointer(slot).add(PACKET_TYPE_OFFSET),
            }
        };
        // SAFETY: the bytes behind the header up to the slot's end lie in the mapping; they are lent for as long as the
        // ring is borrowed, which the callers see to, and the kernel does not touch them before `set_status`, which
        // needs the same borrow.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(self.slot_pointer(slot).add(HEADER_BYTES), self.slot_bytes - HEADER_BYTES)
        };
        let fits = header.frame_offset >= HEADER_BYTES && header.frame_offset + header.held <= self.slot_bytes;
        let frame_start = header.frame_offset.wrapping_sub(HEADER_BYTES);
        fits.then_some((header, ReceivedBytes { bytes, frame_start }))
    }

    /// The longest frame that fits into a transmit slot.
    pub fn send_bytes_max(&self) -> usize {
        self.slot_bytes - TX_FRAME_OFFSET
    }

    /// Puts a frame of at most [`Ring::send_bytes_max`] bytes into a slot that the caller owns.
    pub fn put(&mut self, slot: usize, frame: &[u8]) {
        assert!(frame.len() <= self.send_bytes_max(), "a frame of {} bytes fits no slot", frame.len());
        // SAFETY: the frame's end is within the slot, as just checked, and the slot in the mapping; the mapping cannot
        // overlap `frame`, which is borrowed elsewhere. The caller owns the slot.
        unsafe {
            (*self.header(slot)).tp_len = frame.len() as u32;
            ptr::copy_nonoverlapping(frame.as_ptr(), self.slot_pointer(slot).add(TX_FRAME_OFFSET), frame.len());
        }
    }

    /// The length of the frame that was put in a slot; the kernel leaves it there.
    pub fn put_length(&self, slot: usize) -> usize {
        // SAFETY: the header lies in the mapping; the kernel does not write this member of a slot to be sent.
        unsafe { (*self.header(slot)).tp_len as usize }
    }
}

/// Slots that are lent one after the other.
#[derive(Debug)]
pub struct Slots<'a> {
    ring: &'a mut Ring,
    slot: usize,
    left: usize,
}

impl<'a> Slots<'a> {
    /// The next slot, if it has a packet: the inner value is `None` if the kernel's offsets are not in the slot.
    pub fn next(&mut self) -> Option<Option<(ReceivedHeader, ReceivedBytes<'a>)>> {
        let status = self.ring.status(self.slot);
        if self.left == 0 || status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.slot;
        self.slot = self.ring.after(slot);
        self.left -= 1;
        Some(self.ring.lend_slot(slot, status))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; no borrow of the ring outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.slot_bytes * self.slot_count) };
    }
}

/// A received packet's bytes with what precedes them in the slot.
#[derive(Debug)]
pub struct ReceivedBytes<'a> {
    /// The slot's bytes after its header.
    pub bytes: &'a mut [u8],
    /// The offset of the Ethernet header in them.
    pub frame_start: usize,
}
