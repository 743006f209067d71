//! One queue of an interface: a socket and its four rings.
//!
//! Reception: the kernel takes chunks from the fill ring, puts frames in them and hands them over in the receive
//! ring; once delivered, a chunk goes straight back to the fill ring, which has room for all of them. Transmission: a
//! frame is copied to a free chunk and handed over in the transmit ring; the chunk comes back in the completion ring.

use super::memory::FrameMemory;
use super::ring::{Consumer, Producer};
use super::system::{Binding, RingKind, XdpSocket};
use crate::counters::PortCounters;
use crate::driver::{Arrival, Work};
use crate::store::Store;
use crate::waiting::{FINISH_WAIT, FULL_WAIT, retry};
use base::limits::BURST_PACKETS_MAX;
use std::io;
use std::os::fd::RawFd;
use std::thread;
use std::time::{Duration, Instant};
use switch::Burst;

/// How long a queue may be held by a socket that is being closed.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// The longest frame that may span several chunks, in bytes.
const FRAME_BYTES_MAX: usize = 65_535 + 18;

/// A socket that is bound to a queue, and its rings.
#[derive(Debug)]
pub struct Queue {
    // The rings are dropped before the socket, and all of it before the memory that the kernel writes to.
    rx: Consumer<libc::xdp_desc>,
    tx: Producer<libc::xdp_desc>,
    fill: Producer<u64>,
    completion: Consumer<u64>,
    socket: XdpSocket,
    is_zero_copy: bool,
    /// After reception was stopped: how many entries of the receive ring are still to be delivered.
    left_to_drain: Option<u32>,
    /// The fragments so far of a frame in several chunks.
    pieces: Vec<u8>,
    /// The index of the transmit ring up to which sent frames were counted.
    counted: u32,
    /// The ring stayed full for [`FULL_WAIT`]: until the kernel makes progress, frames are dropped at once.
    stalled: bool,
    /// The losses that the kernel had counted at the last reading.
    lost_before: u64,
}

/// The configuration of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueSetup {
    /// What it is bound to.
    pub binding: Binding,
    /// Entries of each ring, a power of two.
    pub ring_entries: u32,
    /// Headroom before each received frame, beside what the kernel always leaves.
    pub headroom_bytes: u32,
}

/// Binds a socket. The kernel takes a moment to release a queue whose socket was closed, as by a switch that is
/// restarted: if the queue is busy, this is repeated for a bounded time.
fn bind(socket: &XdpSocket, binding: &Binding) -> io::Result<()> {
    let deadline = Instant::now() + BUSY_WAIT;
    loop {
        match socket.bind(binding) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(5));
            }
            answer => return answer,
        }
    }
}

impl Queue {
    /// Binds a socket to a queue, with `ring_entries` chunks of the memory for reception, and lends the memory to the
    /// kernel.
    pub fn open(setup: &QueueSetup, memory: &mut FrameMemory) -> io::Result<Queue> {
        let socket = XdpSocket::new()?;
        socket.register(memory.mapping(), memory.chunk_bytes() as u32, setup.headroom_bytes)?;
        let entries = setup.ring_entries;
        let (frame, place) = (size_of::<libc::xdp_desc>(), size_of::<u64>());
        // Twice the number of entries that are ever used: the kernel may report late that it has taken a chunk.
        let mut fill = Producer::new(socket.make_ring(RingKind::Fill, 2 * entries, place)?, 2 * entries);
        let completion = Consumer::new(socket.make_ring(RingKind::Completion, entries, place)?, entries);
        let rx = Consumer::new(socket.make_ring(RingKind::Rx, entries, frame)?, entries);
        let tx = Producer::new(socket.make_ring(RingKind::Tx, entries, frame)?, entries);
        for _ in 0..entries {
            let Some(chunk) = memory.take() else { break };
            fill.push(chunk);
        }
        fill.publish();
        bind(&socket, &setup.binding)?;
        socket.set_send_budget(entries);
        let is_zero_copy = socket.is_zero_copy()?;
        let queue = Queue {
            rx,
            tx,
            fill,
            completion,
            socket,
            is_zero_copy,
            left_to_drain: None,
            pieces: Vec::new(),
            counted: 0,
            stalled: false,
            lost_before: 0,
        };
        queue.wake_to_receive();
        Ok(queue)
    }

    /// The socket's descriptor.
    pub fn fd(&self) -> RawFd {
        self.socket.raw()
    }

    /// Whether the interface reads and writes the memory itself.
    pub fn is_zero_copy(&self) -> bool {
        self.is_zero_copy
    }

    fn wake_to_receive(&self) {
        if self.fill.needs_wakeup() {
            self.socket.wake_to_receive();
        }
    }

    // ---------------------------------------------------------------------------------------------- reception

    /// Passes up to `limit` frames to `deliver`, which may change them, and returns their number.
    pub fn receive(
        &mut self,
        memory: &mut FrameMemory,
        limit: usize,
        counters: &PortCounters,
        deliver: &mut dyn FnMut(&mut [u8]),
    ) -> usize {
        let (mut count, mut popped) = (0, 0);
        while count < limit && self.left_to_drain != Some(popped) {
            let Some(entry) = self.rx.pop() else { break };
            popped += 1;
            let is_alone = entry.options & libc::XDP_PKT_CONTD == 0 && self.pieces.is_empty();
            match memory.bytes_mut(entry.addr, entry.len as usize).filter(|_| is_alone) {
                Some(frame) => {
                    deliver(frame);
                    count += 1;
                }
                None => count += self.take_piece(memory, entry, counters, deliver),
            }
            self.give_back(memory, entry.addr);
        }
        self.received(popped);
        count
    }

    /// Lends about a burst of frames in their chunks. `prepare` gets each of them first. A frame in several chunks is
    /// joined in the store. Returns the number of frames and of bytes.
    pub fn lend(
        &mut self,
        memory: &mut FrameMemory,
        arrival: Arrival,
        store: &mut Store,
        counters: &PortCounters,
        prepare: impl Fn(&mut [u8]),
        work: Work<'_>,
    ) -> (usize, u64) {
        let (mut count, mut bytes, mut popped) = (0, 0, 0);
        while count < BURST_PACKETS_MAX {
            let mut places = [0; BURST_PACKETS_MAX];
            let mut burst = Burst::new(arrival.port, arrival.time_ns);
            let mut lender = memory.lend();
            let mut piece = None;
            let mut taken = 0;
            while count + taken < BURST_PACKETS_MAX && self.left_to_drain != Some(popped) {
                let Some(entry) = self.rx.pop() else { break };
                popped += 1;
                if entry.options & libc::XDP_PKT_CONTD != 0 || !self.pieces.is_empty() {
                    piece = Some(entry);
                    break;
                }
                places[taken] = entry.addr;
                taken += 1;
                match lender.bytes_behind_room(entry.addr, entry.len as usize) {
                    Some((memory, room)) => {
                        prepare(&mut memory[room..]);
                        bytes += u64::from(entry.len);
                        burst.push_behind_headroom(memory, room);
                    }
                    None => counters.rx_dropped_offload.add(1),
                }
            }
            count += burst.len();
            if !burst.is_empty() {
                work(&mut burst);
            }
            places[..taken].iter().for_each(|&place| self.give_back(memory, place));
            let Some(piece) = piece else { break };
            store.clear();
            self.take_piece(memory, piece, counters, &mut |frame| {
                prepare(frame);
                bytes += frame.len() as u64;
                store.push(frame);
            });
            self.give_back(memory, piece.addr);
            count += store.len();
            store.lend(arrival, work);
        }
        self.received(popped);
        (count, bytes)
    }

    /// Lets the kernel receive into a chunk again.
    fn give_back(&mut self, memory: &mut FrameMemory, place: u64) {
        match self.fill.has_room(1) {
            true => self.fill.push(memory.chunk_of(place)),
            false => memory.give(place),
        }
    }

    /// Adds a fragment to those of a frame, and delivers the frame with its last one. Returns the number of delivered
    /// frames.
    fn take_piece(
        &mut self,
        memory: &mut FrameMemory,
        entry: libc::xdp_desc,
        counters: &PortCounters,
        deliver: &mut dyn FnMut(&mut [u8]),
    ) -> usize {
        let Some(piece) = memory.bytes_mut(entry.addr, entry.len as usize) else {
            counters.rx_dropped_offload.add(1);
            return 0;
        };
        // One byte beyond the limit shows that there were more.
        let room = (FRAME_BYTES_MAX + 1).saturating_sub(self.pieces.len());
        self.pieces.extend_from_slice(&piece[..piece.len().min(room)]);
        let is_last = entry.options & libc::XDP_PKT_CONTD == 0;
        usize::from(is_last && self.deliver_pieces(counters, deliver))
    }

    /// This many entries of the receive ring have been processed.
    fn received(&mut self, popped: u32) {
        if popped == 0 {
            return;
        }
        self.rx.release();
        self.fill.publish();
        self.wake_to_receive();
        if let Some(left) = &mut self.left_to_drain {
            *left -= popped;
        }
    }

    /// Delivers the frame whose last fragment has come, unless it is too long.
    fn deliver_pieces(&mut self, counters: &PortCounters, deliver: &mut dyn FnMut(&mut [u8])) -> bool {
        let fits = self.pieces.len() <= FRAME_BYTES_MAX;
        match fits {
            true => deliver(&mut self.pieces),
            false => counters.rx_dropped_offload.add(1),
        }
        self.pieces.clear();
        fits
    }

    /// Ends reception: what is in the ring now is still delivered, what the kernel adds from now on is not.
    pub fn stop(&mut self) {
        if self.left_to_drain.is_none() {
            self.left_to_drain = Some(self.rx.available());
        }
    }

    /// Ends reception at once.
    pub fn abandon(&mut self) {
        self.left_to_drain = Some(0);
    }

    /// True if nothing more will be delivered.
    pub fn is_drained(&self) -> bool {
        self.left_to_drain == Some(0)
    }

    /// Frames that the kernel lost since the last call, because a ring was full or no chunk was free.
    pub fn lost(&mut self) -> u64 {
        let Ok(statistics) = self.socket.statistics() else { return 0 };
        let lost = statistics.rx_dropped + statistics.rx_ring_full;
        lost.saturating_sub(std::mem::replace(&mut self.lost_before, lost))
    }

    // ------------------------------------------------------------------------------------------- transmission

    /// Queues a frame in as many chunks as it needs; drops and counts it if there is no room.
    pub fn transmit(&mut self, memory: &mut FrameMemory, frame: &[u8], counters: &PortCounters) -> io::Result<()> {
        let chunks = frame.len().div_ceil(memory.chunk_bytes()) as u32;
        if !self.has_room(memory, chunks, counters) && !self.wait_for_room(memory, chunks, counters)? {
            counters.tx_dropped_no_room.add(1);
            return Ok(());
        }
        let mut pieces = frame.chunks(memory.chunk_bytes()).peekable();
        while let Some(piece) = pieces.next() {
            let Some(chunk) = memory.take() else { break };
            if let Some(bytes) = memory.bytes_mut(chunk, piece.len()) {
                bytes.copy_from_slice(piece);
            }
            let options = if pieces.peek().is_some() { libc::XDP_PKT_CONTD } else { 0 };
            self.tx.push(libc::xdp_desc { addr: chunk, len: piece.len() as u32, options });
        }
        Ok(())
    }

    fn has_room(&mut self, memory: &FrameMemory, chunks: u32, counters: &PortCounters) -> bool {
        let has_room = memory.free_chunks() >= chunks as usize && self.tx.has_room(chunks);
        self.count_sent(counters);
        has_room
    }

    /// Lets the kernel send until there is room, for a bounded time; false if there is none then.
    fn wait_for_room(&mut self, memory: &mut FrameMemory, chunks: u32, counters: &PortCounters) -> io::Result<bool> {
        let limit = if self.stalled { Duration::ZERO } else { FULL_WAIT };
        let has_room = retry(limit, || {
            self.flush(memory, counters)?;
            Ok(self.has_room(memory, chunks, counters))
        })?;
        self.stalled = !has_room;
        Ok(has_room)
    }

    /// Hands waiting frames to the kernel. Those that it cannot take now stay for the next call; those that it will
    /// never send, because the link is down, are dropped and counted.
    pub fn flush(&mut self, memory: &mut FrameMemory, counters: &PortCounters) -> io::Result<()> {
        self.tx.publish();
        let mut waiting = self.tx.waiting();
        while waiting > 0 && self.tx.needs_wakeup() {
            let answer = self.socket.wake_to_send();
            self.take_completed(memory);
            if let Err(error) = answer {
                match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::ENOBUFS | libc::EBUSY | libc::EINTR) => {}
                    Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                        let dropped = self.take_back(memory);
                        counters.tx_dropped_link_down.add(dropped);
                        break;
                    }
                    _ => return Err(error),
                }
            }
            // A call sends a bounded number of frames: continue while there is progress.
            let left = self.tx.waiting();
            if left >= waiting {
                break;
            }
            waiting = left;
        }
        self.take_completed(memory);
        self.count_sent(counters);
        Ok(())
    }

    fn take_completed(&mut self, memory: &mut FrameMemory) {
        let mut any = false;
        while let Some(place) = self.completion.pop() {
            memory.give(place);
            any = true;
        }
        if any {
            self.completion.release();
        }
    }

    /// Counts the frames that the kernel had taken at the last check of the ring. It must be called before a frame is
    /// written, which may overwrite the entry of a taken frame.
    fn count_sent(&mut self, counters: &PortCounters) {
        let taken = self.tx.taken();
        let (mut packets, mut bytes) = (0, 0);
        while self.counted != taken {
            let entry = self.tx.written(self.counted);
            bytes += u64::from(entry.len);
            packets += u64::from(entry.options & libc::XDP_PKT_CONTD == 0);
            self.counted = self.counted.wrapping_add(1);
        }
        counters.tx_packets.add(packets);
        counters.tx_bytes.add(bytes);
    }

    /// Takes back waiting frames and returns their number. If the interface reads the memory itself it may be doing
    /// so now, and nothing is taken back.
    fn take_back(&mut self, memory: &mut FrameMemory) -> u64 {
        let mut frames = 0;
        while !self.is_zero_copy
            && let Some(entry) = self.tx.take_back()
        {
            memory.give(entry.addr);
            frames += u64::from(entry.options & libc::XDP_PKT_CONTD == 0);
        }
        frames
    }

    /// Sends waiting frames and lets the hardware finish, for a bounded time; the rest is dropped and counted.
    pub fn finish(&mut self, memory: &mut FrameMemory, counters: &PortCounters) -> io::Result<()> {
        retry(FINISH_WAIT, || {
            self.flush(memory, counters)?;
            Ok(self.tx.waiting() == 0)
        })?;
        let waiting = u64::from(self.tx.waiting());
        let dropped = if self.is_zero_copy { waiting } else { self.take_back(memory) };
        counters.tx_dropped_no_room.add(dropped);
        Ok(())
    }
}
