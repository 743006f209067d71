//! The receiving half of an interface: from ring slots to frames as on a wire.

use super::fanout::{self, Fanout};
use super::ring::{ReceivedHeader, Ring};
use super::{AfPacketOptions, ETHERNET_BYTES, VLAN_TAG_BYTES};
use crate::counters::PortCounters;
use crate::driver::{Arrival, Deliver, Work};
use crate::interface::{Interface, Socket};
use crate::offload::{self, OffloadError, SEGMENT_BYTES_MAX, VNET_HEADER_BYTES, VnetHeader};
use crate::store::Store;
use base::limits::BURST_PACKETS_MAX;
use std::io;
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::Arc;
use switch::Burst;

/// All protocols, as packet sockets name them.
const PROTOCOL_ALL: u16 = libc::ETH_P_ALL as u16;
/// The size of the socket's queue for copies of long packets, in bytes.
const QUEUE_BYTES: libc::c_int = 32 << 20;
/// Headroom before a copied packet, so that a tag can be inserted by moving the addresses forward.
const COPY_START: usize = 16;
/// Since Linux 4.20; unknown to older headers.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// Where the addresses end and the tag goes.
const ADDRESS_BYTES: usize = 12;
const TPID_8021Q: u16 = 0x8100;

/// The receiving half of an interface.
#[derive(Debug)]
pub struct Receiver {
    ring: Ring,
    socket: Socket,
    next: usize,
    /// After reception was stopped: how many slots are still to be delivered.
    left_to_drain: Option<usize>,
    buffers: Buffers,
    counters: Arc<PortCounters>,
}

/// Memory for packets that are not delivered directly from their slot.
#[derive(Debug)]
struct Buffers {
    /// A packet fetched from the socket's queue.
    copy: Box<[u8]>,
    /// A frame being cut from a segment.
    frame: Box<[u8]>,
}

impl Receiver {
    /// Sets up the ring and starts reception. Everything is in place before the socket is bound, so that no packet
    /// bypasses the ring. A member of a group receives nothing before [`Receiver::begin`].
    pub fn open(
        socket: Socket,
        interface: &Interface,
        options: &AfPacketOptions,
        counters: Arc<PortCounters>,
        group: Option<&mut Fanout>,
    ) -> io::Result<Receiver> {
        let packet = libc::SOL_PACKET;
        socket.set(packet, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        socket.set(packet, libc::PACKET_VNET_HDR, &1)?;
        socket.set(packet, libc::PACKET_COPY_THRESH, &1)?;
        // Older kernels do not know the option; the packet's type provides the same information.
        let _ = socket.set(packet, PACKET_IGNORE_OUTGOING, &1);
        // Beyond the system's limit if permitted, else up to it.
        if socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &QUEUE_BYTES).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, &QUEUE_BYTES)?;
        }
        let frame_bytes = interface.mtu + ETHERNET_BYTES + VLAN_TAG_BYTES;
        let ring = Ring::new(&socket, libc::PACKET_RX_RING, frame_bytes, options.rx_ring_bytes)?;
        socket.set_promiscuous(interface.index)?;
        if let Some(group) = group {
            fanout::deafen(&socket)?;
            socket.bind(interface.index, PROTOCOL_ALL)?;
            group.join(&socket)?;
        } else {
            socket.bind(interface.index, PROTOCOL_ALL)?;
        }
        let buffers = Buffers {
            copy: vec![0; COPY_START + VNET_HEADER_BYTES + SEGMENT_BYTES_MAX].into_boxed_slice(),
            frame: vec![0; SEGMENT_BYTES_MAX].into_boxed_slice(),
        };
        Ok(Receiver { ring, socket, next: 0, left_to_drain: None, buffers, counters })
    }

    /// Lets a member of a group receive, once all are in it.
    pub fn begin(&self) -> io::Result<()> {
        fanout::listen(&self.socket)
    }

    pub fn fd(&self) -> RawFd {
        self.socket.raw()
    }

    /// True if nothing more will be delivered: reception was stopped, and what was in the ring then has been delivered.
    pub fn is_drained(&self) -> bool {
        self.left_to_drain == Some(0)
    }

    /// Ends reception: what is in the ring now is still delivered, what the kernel adds from now on is not.
    pub fn stop(&mut self) {
        if self.left_to_drain.is_some() {
            return;
        }
        let (mut slot, mut count) = (self.next, 0);
        while count < self.ring.slot_count() && self.ring.status(slot) & libc::TP_STATUS_USER != 0 {
            slot = self.ring.after(slot);
            count += 1;
        }
        self.left_to_drain = Some(count);
    }

    /// Whether the interface of this index is still there.
    pub fn interface_exists(&self, index: i32) -> bool {
        self.socket.interface_exists(index)
    }

    /// Whether the interface is up and has a carrier; not if it is gone.
    pub fn has_link(&self, name: &str) -> bool {
        self.socket.is_running(name).unwrap_or(false)
    }

    /// Clears the error that the socket reported.
    pub fn clear_error(&self) {
        let mut error = 0;
        // Reading the option clears it; the error itself adds nothing to the interface's state.
        let _ = self.socket.get(libc::SOL_SOCKET, libc::SO_ERROR, &mut error);
    }

    /// Adds the drops that the kernel counted since the last call.
    pub fn count_kernel_drops(&self) {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        if self.socket.get(libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut statistics).is_ok() {
            self.counters.rx_dropped_no_room.add(u64::from(statistics.tp_drops));
        }
    }

    /// Delivers waiting frames from the ring until `limit` frames were delivered or each slot was visited once.
    pub fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> usize {
        let (mut count, mut bytes) = (0, 0u64);
        for _ in 0..self.left_to_drain.unwrap_or(self.ring.slot_count()) {
            let status = self.ring.status(self.next);
            if count >= limit || status & libc::TP_STATUS_USER == 0 {
                break;
            }
            count += self.take_slot(status, &mut |frame, timestamp_ns| {
                bytes += frame.len() as u64;
                deliver(frame, timestamp_ns);
            });
            self.ring.set_status(self.next, libc::TP_STATUS_KERNEL);
            self.next = self.ring.after(self.next);
            if let Some(left) = &mut self.left_to_drain {
                *left -= 1;
            }
        }
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        count
    }

    /// Lends the frames that wait in the ring, about a burst, in place. A frame that is not complete in its slot is
    /// copied to the store.
    pub fn lend(&mut self, arrival: Arrival, store: &mut Store, work: Work<'_>) -> usize {
        let (mut count, mut bytes) = (0, 0u64);
        let mut slots_left = self.left_to_drain.unwrap_or(self.ring.slot_count());
        while count < BURST_PACKETS_MAX && slots_left > 0 {
            let mut burst = Burst::new(arrival.port, arrival.time_ns);
            let taken = self.gather(&mut burst, (BURST_PACKETS_MAX - count).min(slots_left));
            let (slots, is_special) = taken;
            count += burst.len();
            bytes += burst.frames().iter().map(|frame| frame.bytes().len() as u64).sum::<u64>();
            if !burst.is_empty() {
                work(&mut burst);
            }
            self.give_back(slots);
            slots_left -= slots;
            if !is_special || slots_left == 0 {
                break;
            }
            store.clear();
            let status = self.ring.status(self.next);
            count += self.take_slot(status, &mut |frame, _| {
                bytes += frame.len() as u64;
                store.push(frame);
            });
            self.give_back(1);
            slots_left -= 1;
            store.lend(arrival, work);
        }
        self.counters.rx_packets.add(count as u64);
        self.counters.rx_bytes.add(bytes);
        count
    }

    /// Collects the frames of up to `limit` slots. Returns how many slots those are, and whether the next one has
    /// something that cannot be lent.
    fn gather<'a>(&'a mut self, burst: &mut Burst<'a>, limit: usize) -> (usize, bool) {
        let mut slots = self.ring.lend(self.next);
        let mut count = 0;
        while count < limit
            && let Some(slot) = slots.next()
        {
            let Some((header, held)) = slot else { return (count, true) };
            let frame = held.frame_start..held.frame_start + header.held;
            if !is_whole(&header, held.bytes, frame.start) {
                return (count, true);
            }
            count += 1;
            if header.packet_type == libc::PACKET_OUTGOING {
                continue;
            }
            match make(&header, held.bytes, frame) {
                Ok((frame, _)) => burst.push(frame),
                Err(_) => self.counters.rx_dropped_offload.add(1),
            }
        }
        (count, false)
    }

    /// Returns the next slots to the kernel.
    fn give_back(&mut self, slots: usize) {
        for _ in 0..slots {
            self.ring.set_status(self.next, libc::TP_STATUS_KERNEL);
            self.next = self.ring.after(self.next);
        }
        if let Some(left) = &mut self.left_to_drain {
            *left -= slots;
        }
    }

    /// Delivers the packet of one slot; returns the number of frames.
    fn take_slot(&mut self, status: u32, deliver: Deliver<'_>) -> usize {
        let Some((header, held)) = self.ring.received(self.next, status) else {
            self.counters.rx_dropped_offload.add(1);
            return 0;
        };
        let (bytes, frame_start, end) = if status & libc::TP_STATUS_COPY != 0 {
            // The queue has one copy for each slot that says so, in the order of the slots.
            let copy = &mut self.buffers.copy;
            match self.socket.receive(&mut copy[COPY_START..]) {
                Ok(length) if length >= VNET_HEADER_BYTES && COPY_START + length <= copy.len() => {
                    (&mut copy[..], COPY_START + VNET_HEADER_BYTES, COPY_START + length)
                }
                _ => {
                    self.counters.rx_dropped_offload.add(1);
                    return 0;
                }
            }
        } else if header.held < header.length {
            // The queue had no room for the copy.
            self.counters.rx_dropped_no_room.add(1);
            return 0;
        } else {
            (held.bytes, held.frame_start, held.frame_start + header.held)
        };
        if header.packet_type == libc::PACKET_OUTGOING {
            return 0;
        }
        match complete(&header, bytes, frame_start..end, &mut self.buffers.frame, deliver) {
            Ok(count) => {
                self.counters.rx_segments_cut.add(u64::from(count > 1));
                count
            }
            Err(_) => {
                self.counters.rx_dropped_offload.add(1);
                0
            }
        }
    }
}

/// Whether a slot contains one complete frame.
fn is_whole(header: &ReceivedHeader, bytes: &[u8], frame_start: usize) -> bool {
    header.status & libc::TP_STATUS_COPY == 0
        && header.held >= header.length
        && vnet_header(bytes, frame_start).is_ok_and(|vnet| !vnet.is_segment())
}

/// The virtio header, which is directly before the frame.
fn vnet_header(bytes: &[u8], frame_start: usize) -> Result<VnetHeader, OffloadError> {
    let vnet_bytes = frame_start.checked_sub(VNET_HEADER_BYTES).and_then(|at| bytes[at..].first_chunk());
    vnet_bytes.map(|bytes| VnetHeader::read(*bytes)).ok_or(OffloadError::OutOfFrame)
}

/// Converts a packet to the form of a wire: a frame, or, as its header says, a segment that is still to be cut.
fn make<'b>(
    header: &ReceivedHeader,
    bytes: &'b mut [u8],
    frame: Range<usize>,
) -> Result<(&'b mut [u8], VnetHeader), OffloadError> {
    let Range { mut start, end } = frame;
    let mut vnet = vnet_header(bytes, start)?;
    if header.status & libc::TP_STATUS_VLAN_VALID != 0 && end - start >= ADDRESS_BYTES {
        start = put_tag_back(header, bytes, start);
        vnet = vnet.shifted(VLAN_TAG_BYTES as u16);
    }
    let frame = &mut bytes[start..end];
    if !vnet.is_segment() && !vnet.is_complete() {
        offload::complete_checksum(frame, &vnet)?;
    }
    Ok((frame, vnet))
}

/// Converts a packet to the form of a wire and delivers it; returns the number of frames.
fn complete(
    header: &ReceivedHeader,
    bytes: &mut [u8],
    frame: Range<usize>,
    scratch: &mut [u8],
    deliver: Deliver<'_>,
) -> Result<usize, OffloadError> {
    let (frame, vnet) = make(header, bytes, frame)?;
    if vnet.is_segment() {
        return offload::segment(frame, &vnet, scratch, &mut |frame| deliver(frame, header.timestamp_ns));
    }
    deliver(frame, header.timestamp_ns);
    Ok(1)
}

/// Moves the addresses forward over the virtio header, which has been read, and writes the tag after them; returns
/// where the frame starts now.
fn put_tag_back(header: &ReceivedHeader, bytes: &mut [u8], start: usize) -> usize {
    let tagged = start - VLAN_TAG_BYTES;
    bytes.copy_within(start..start + ADDRESS_BYTES, tagged);
    let tpid = if header.status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { header.vlan_tpid } else { TPID_8021Q };
    let tag = tagged + ADDRESS_BYTES;
    bytes[tag..tag + 2].copy_from_slice(&tpid.to_be_bytes());
    bytes[tag + 2..tag + 4].copy_from_slice(&header.vlan_tci.to_be_bytes());
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ReceivedHeader = ReceivedHeader {
        status: 0,
        length: 60,
        held: 60,
        frame_offset: 0,
        timestamp_ns: 5,
        vlan_tci: 0x2064,
        vlan_tpid: 0x88a8,
        packet_type: 0,
    };

    /// Completes a frame of 60 bytes counting upwards, preceded by an empty virtio header.
    fn completed(status: u32) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes.extend(0..60);
        let mut delivered = Vec::new();
        let header = ReceivedHeader { status, ..PLAIN };
        let count = complete(&header, &mut bytes, 16..76, &mut [0; 100], &mut |frame, timestamp_ns| {
            assert_eq!(timestamp_ns, 5);
            delivered.extend_from_slice(frame);
        });
        assert_eq!(count, Ok(1));
        delivered
    }

    #[test]
    fn a_frame_without_tag_passes_as_it_is() {
        assert_eq!(completed(0), (0..60).collect::<Vec<u8>>());
    }

    #[test]
    fn a_tag_taken_out_is_put_back_behind_the_addresses() {
        let expected = |tpid: [u8; 2]| {
            [&(0..12).collect::<Vec<u8>>()[..], &tpid, &[0x20, 0x64], &(12..60).collect::<Vec<u8>>()].concat()
        };
        assert_eq!(completed(libc::TP_STATUS_VLAN_VALID), expected([0x81, 0]));
        assert_eq!(completed(libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID), expected([0x88, 0xa8]));
    }
}
