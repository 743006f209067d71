//! The sending half of an interface: copies frames into ring slots, and makes one system call per burst.
//!
//! The kernel sends slots strictly in order and stops at one that it cannot send now; that slot and those after it
//! stay requested until the next call. Therefore the state of the ring is described by the slot that the kernel sends
//! next, the slot that is filled next, and the number of slots between them.

use super::ring::Ring;
use super::{AfPacketOptions, ETHERNET_BYTES, VLAN_TAG_BYTES};
use crate::counters::PortCounters;
use crate::interface::{Interface, Socket};
use crate::waiting::{FINISH_WAIT, FULL_WAIT, retry};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The size of the socket's send buffer, in bytes.
const QUEUE_BYTES: libc::c_int = 16 << 20;

/// The sending half of an interface.
#[derive(Debug)]
pub struct Transmitter {
    ring: Option<Ring>,
    socket: Socket,
    interface: Interface,
    /// The slot that the kernel looks at next.
    kernel_next: usize,
    /// The slot to fill next.
    next: usize,
    /// Slots between the two.
    waiting: usize,
    /// The ring stayed full for [`FULL_WAIT`]: until the kernel makes progress, frames are dropped at once.
    stalled: bool,
    counters: Arc<PortCounters>,
}

/// The result of a call to the kernel.
enum SendOutcome {
    /// It took what it could.
    Done,
    /// The interface is down or gone.
    LinkDown,
}

impl Transmitter {
    /// Creates a socket that only sends, with a ring if the system permits one.
    pub fn open(
        interface: Interface,
        options: &AfPacketOptions,
        counters: Arc<PortCounters>,
    ) -> io::Result<Transmitter> {
        let mut socket = Transmitter::bare_socket(interface.index, options)?;
        let ring = match options.tx_ring.then(|| Transmitter::ring(&socket, interface.mtu, options)) {
            Some(Ok(ring)) => Some(ring),
            // After a failed attempt to set up a ring, the socket would not send single frames: use a new one.
            Some(Err(_)) => {
                socket = Transmitter::bare_socket(interface.index, options)?;
                None
            }
            None => None,
        };
        Ok(Transmitter { ring, socket, interface, kernel_next: 0, next: 0, waiting: 0, stalled: false, counters })
    }

    fn bare_socket(interface_index: i32, options: &AfPacketOptions) -> io::Result<Socket> {
        let socket = Socket::new()?;
        if socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &QUEUE_BYTES).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &QUEUE_BYTES)?;
        }
        if options.qdisc_bypass {
            socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        }
        socket.bind(interface_index, 0)?;
        Ok(socket)
    }

    fn ring(socket: &Socket, mtu: usize, options: &AfPacketOptions) -> io::Result<Ring> {
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        // A frame that the kernel refuses is discarded instead of blocking the ring. The lengths are checked before,
        // so this happens only while the MTU changes.
        socket.set(libc::SOL_PACKET, libc::PACKET_LOSS, &1)?;
        Ring::new(socket, libc::PACKET_TX_RING, mtu + ETHERNET_BYTES + VLAN_TAG_BYTES, options.tx_ring_bytes)
    }

    /// The longest frame without a VLAN tag.
    pub fn frame_bytes_max(&self) -> usize {
        self.interface.frame_bytes_max()
    }

    /// Follows a change of the MTU. The ring's slots stay as they are, so it cannot grow beyond them.
    pub fn refresh_mtu(&mut self) {
        self.interface.refresh_mtu(&self.socket);
        if let Some(ring) = &self.ring {
            self.interface.mtu = self.interface.mtu.min(ring.send_bytes_max() - ETHERNET_BYTES - VLAN_TAG_BYTES);
        }
    }

    /// Queues a frame.
    pub fn transmit(&mut self, frame: &[u8]) -> io::Result<()> {
        if !self.interface.takes(frame, &self.counters) {
            return Ok(());
        }
        if self.ring.is_none() {
            return self.send_alone(frame);
        }
        if !self.has_room() && !self.wait_for_room()? {
            self.counters.tx_dropped_no_room.add(1);
            return Ok(());
        }
        let Some(ring) = &mut self.ring else { return Ok(()) };
        ring.put(self.next, frame);
        ring.set_status(self.next, libc::TP_STATUS_SEND_REQUEST);
        self.next = ring.after(self.next);
        self.waiting += 1;
        Ok(())
    }

    fn send_alone(&self, frame: &[u8]) -> io::Result<()> {
        match self.socket.send(frame) {
            Ok(_) => self.count_sent(1, frame.len() as u64),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => self.counters.tx_dropped_no_room.add(1),
                Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => self.counters.tx_dropped_link_down.add(1),
                Some(libc::EMSGSIZE) => self.counters.tx_dropped_too_long.add(1),
                _ => return Err(error),
            },
        }
        Ok(())
    }

    fn count_sent(&self, packets: u64, bytes: u64) {
        self.counters.tx_packets.add(packets);
        self.counters.tx_bytes.add(bytes);
    }

    fn has_room(&self) -> bool {
        self.ring
            .as_ref()
            .is_some_and(|ring| self.waiting < ring.slot_count() && ring.status(self.next) == libc::TP_STATUS_AVAILABLE)
    }

    /// Lets the kernel send until a slot is free, for a bounded time; false if none became free.
    fn wait_for_room(&mut self) -> io::Result<bool> {
        let limit = if self.stalled { Duration::ZERO } else { FULL_WAIT };
        let has_room = retry(limit, || {
            self.flush()?;
            Ok(self.has_room())
        })?;
        self.stalled = !has_room;
        Ok(has_room)
    }

    /// Hands waiting frames to the kernel. Those that it cannot take now stay for the next call; those that it will
    /// never send, because the link is down, are dropped and counted.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        let outcome = match self.socket.send_ring() {
            Ok(_) => SendOutcome::Done,
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => SendOutcome::Done,
                Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => SendOutcome::LinkDown,
                _ => return Err(error),
            },
        };
        self.count_progress();
        if matches!(outcome, SendOutcome::LinkDown) {
            let dropped = self.take_back();
            self.counters.tx_dropped_link_down.add(dropped);
        }
        Ok(())
    }

    /// Counts the slots that the kernel has taken since the last call.
    fn count_progress(&mut self) {
        let Some(ring) = &self.ring else { return };
        let (mut packets, mut bytes) = (0, 0);
        while self.waiting > 0 && ring.status(self.kernel_next) != libc::TP_STATUS_SEND_REQUEST {
            packets += 1;
            bytes += ring.put_length(self.kernel_next) as u64;
            self.kernel_next = ring.after(self.kernel_next);
            self.waiting -= 1;
        }
        self.count_sent(packets, bytes);
    }

    /// Takes back every waiting slot and returns their number. The next frame goes to the slot that the kernel sends
    /// next.
    fn take_back(&mut self) -> u64 {
        let Some(ring) = &mut self.ring else { return 0 };
        let mut slot = self.kernel_next;
        for _ in 0..self.waiting {
            ring.set_status(slot, libc::TP_STATUS_AVAILABLE);
            slot = ring.after(slot);
        }
        self.next = self.kernel_next;
        std::mem::take(&mut self.waiting) as u64
    }

    /// True while the kernel or the hardware still reads from a slot.
    fn is_sending(&self) -> bool {
        self.ring
            .as_ref()
            .is_some_and(|ring| (0..ring.slot_count()).any(|slot| ring.status(slot) & libc::TP_STATUS_SENDING != 0))
    }

    /// Sends waiting frames and lets the hardware finish, for a bounded time; the rest is dropped and counted.
    pub fn finish(&mut self) -> io::Result<()> {
        retry(FINISH_WAIT, || {
            self.flush()?;
            Ok(self.waiting == 0 && !self.is_sending())
        })?;
        let dropped = self.take_back();
        self.counters.tx_dropped_no_room.add(dropped);
        Ok(())
    }
}
