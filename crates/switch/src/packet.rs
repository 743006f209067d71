//! Packets in the core, and the pool they live in.
//!
//! What enters: received bytes. What leaves: [`Packet`]s, owned handles to one chunk of memory each, laid out as
//! [`cgen::abi::Packet`] defines: fixed part, the program's context, headroom, bytes, tailroom. The pool allocates
//! chunks in two sizes, keeps them, and hands them out again, so that the work per packet allocates nothing.
//!
//! A handle that is not given back is lost until the pool ends, which is a leak but no harm. Handles never leave the
//! crate, and the owner of handles owns the pool too, so no handle outlives its memory.

#![allow(unsafe_code, reason = "packet memory is shared with generated code through raw pointers")]

use crate::frame::Frame;
use base::limits::{HEADROOM_BYTES, PACKET_BYTES_MAX};
use cgen::abi::{self, CHUNK_ALIGN_BYTES, Decided, FLAG_ASSERT_FAILED, FLAG_KEEP_METADATA, FLAG_NO_SPACE, Received};
use ir::{INTRINSIC_SLOTS, IntrinsicSlot, Program, VarId};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Bytes of a packet that the small chunks hold: an Ethernet frame with space for tags and tunnels.
const SMALL_PACKET_BYTES: usize = 2048;

/// Free bytes kept after a received packet, for programs that add to its end of headers.
const TAILROOM_BYTES: usize = 64;

/// What frames have in common that were received together.
#[derive(Clone, Copy)]
pub(crate) struct Reception {
    pub port: u32,
    pub time_ns: u64,
}

/// An owned handle to a packet's chunk.
#[repr(transparent)]
pub struct Packet {
    chunk: NonNull<abi::Packet>,
}

// SAFETY: the handle is the only owner of its chunk, which is memory like any other and bound to no thread.
unsafe impl Send for Packet {}

impl Packet {
    fn header(&self) -> &abi::Packet {
        // SAFETY: the chunk is allocated and initialised as long as the handle exists (see the module's header), and
        // nothing else holds a reference to it: the handle is its only owner.
        unsafe { self.chunk.as_ref() }
    }

    fn header_mut(&mut self) -> &mut abi::Packet {
        // SAFETY: as in `header`; the handle is borrowed mutably.
        unsafe { self.chunk.as_mut() }
    }

    /// The chunks of packets, for generated code.
    pub(crate) fn chunks(packets: &mut [Packet]) -> &[*mut abi::Packet] {
        // SAFETY: a handle is a pointer that is not null and nothing else.
        unsafe { std::slice::from_raw_parts(packets.as_ptr().cast(), packets.len()) }
    }

    /// The packet's chunk, for generated code that reads it.
    pub(crate) fn chunk(&self) -> *const abi::Packet {
        self.chunk.as_ptr()
    }

    /// The value of an intrinsic variable.
    pub fn intrinsic(&self, slot: impl IntrinsicSlot) -> u64 {
        self.header().intrinsic[slot.number()]
    }

    /// Sets an intrinsic variable.
    pub fn set_intrinsic(&mut self, slot: impl IntrinsicSlot, value: u64) {
        self.header_mut().intrinsic[slot.number()] = value;
    }

    /// Copies the intrinsic variable of a slot from another packet.
    pub fn copy_intrinsic(&mut self, slot: u32, from: &Packet) {
        self.header_mut().intrinsic[slot as usize] = from.header().intrinsic[slot as usize];
    }

    /// The values of all intrinsic variables by slot.
    pub fn intrinsics(&self) -> &[u64; INTRINSIC_SLOTS] {
        &self.header().intrinsic
    }

    /// Sets all intrinsic variables.
    pub fn set_intrinsics(&mut self, values: [u64; INTRINSIC_SLOTS]) {
        self.header_mut().intrinsic = values;
    }

    /// Makes this packet, whose bytes are set, one that `parent` has led to: one pass older, with no intrinsic
    /// variables of its own.
    pub fn inherit(&mut self, parent: &Packet) {
        self.clear_intrinsics();
        self.set_passes(parent.passes() + 1);
        self.set_tag(parent.tag());
        self.set_time_ns(parent.time_ns());
        self.set_root(parent.root());
    }

    /// Gives those of these variables that are intrinsic the values that they had before.
    pub(crate) fn keep_intrinsics(&mut self, vars: &[VarId], program: &Program, before: &[u64; INTRINSIC_SLOTS]) {
        for slot in vars.iter().filter_map(|&var| program.vars[var].kind.slot()) {
            self.set_intrinsic(slot, before[slot as usize]);
        }
    }

    /// Sets all intrinsic variables to zero.
    pub fn clear_intrinsics(&mut self) {
        self.header_mut().intrinsic = [0; INTRINSIC_SLOTS];
    }

    /// Makes this the packet of a frame that was received and fits the chunk.
    #[inline(always)]
    fn receive(&mut self, frame: &[u8], received: Received) {
        copy_frame(self.chunk_bytes_mut(received.data as usize, frame.len()), frame);
        self.header_mut().received = received;
    }

    /// Bytes of the packet.
    pub fn length(&self) -> u32 {
        self.header().received.length
    }

    /// The packet's bytes.
    pub fn bytes(&self) -> &[u8] {
        let header = self.header();
        self.chunk_bytes(header.received.data as usize, header.received.length as usize)
    }

    /// The packet's bytes, to be changed.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let received = self.header().received;
        self.chunk_bytes_mut(received.data as usize, received.length as usize)
    }

    /// The packet's bytes with their headroom, from `floor` of the chunk on, and how many bytes of headroom there are.
    pub(crate) fn bytes_with_headroom(&mut self, floor: usize) -> (&mut [u8], usize) {
        let received = self.header().received;
        let (data, length) = (received.data as usize, received.length as usize);
        let headroom = data.saturating_sub(floor);
        (self.chunk_bytes_mut(data - headroom, headroom + length), headroom)
    }

    /// Sets where the packet begins, and how long it is, after generated code has moved its headers.
    ///
    /// # Panics
    /// If that is outside of its chunk.
    pub(crate) fn begin_at(&mut self, first: NonNull<u8>, length: u32) {
        let data = first.as_ptr().addr().wrapping_sub(self.chunk.as_ptr().addr());
        let header = self.header_mut();
        let is_inside = data.checked_add(length as usize).is_some_and(|end| end <= header.capacity as usize);
        assert!(is_inside && data >= size_of::<abi::Packet>(), "a packet outside of its chunk");
        (header.received.data, header.received.length) = (data as u32, length);
    }

    /// Replaces the packet's bytes, from `start` or as far before it as they need to fit behind `floor`. False, and
    /// `FLAG_NO_SPACE`, if they do not.
    pub(crate) fn set_bytes(&mut self, floor: usize, start: usize, bytes: &[u8]) -> bool {
        let Some(latest) = (self.header().capacity as usize).checked_sub(bytes.len()).filter(|&at| at >= floor) else {
            self.header_mut().received.flags |= FLAG_NO_SPACE;
            return false;
        };
        let start = start.min(latest);
        copy_frame(self.chunk_bytes_mut(start, bytes.len()), bytes);
        let header = self.header_mut();
        header.received.data = start as u32;
        header.received.length = bytes.len() as u32;
        header.received.payload = start as u32;
        true
    }

    /// Whether the packet begins at this byte of its chunk.
    pub(crate) fn begins_at(&self, start: usize) -> bool {
        self.header().received.data as usize == start
    }

    /// Moves the packet to where received packets begin, if it fits there.
    pub(crate) fn move_to(&mut self, start: usize) {
        let received = self.header().received;
        let (data, length) = (received.data as usize, received.length as usize);
        if data == start || start + length > self.header().capacity as usize {
            return;
        }
        let (first, end) = (start.min(data), start.max(data) + length);
        self.chunk_bytes_mut(first, end - first).copy_within(data - first..data - first + length, start - first);
        self.header_mut().received.data = start as u32;
    }

    /// Cuts the packet to at most this many bytes.
    pub(crate) fn cut(&mut self, length: u32) {
        let received = &mut self.header_mut().received;
        received.length = received.length.min(length);
    }

    /// Whether `bytes` more bytes fit at the packet's end.
    pub(crate) fn has_tailroom(&self, bytes: usize) -> bool {
        let header = self.header();
        (header.received.data + header.received.length) as usize + bytes <= header.capacity as usize
    }

    /// Adds bytes to the packet's end, where they fit.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let received = self.header().received;
        copy_frame(self.chunk_bytes_mut((received.data + received.length) as usize, bytes.len()), bytes);
        self.header_mut().received.length += bytes.len() as u32;
    }

    /// Length in bytes when the present pass started.
    pub fn ingress_length(&self) -> u32 {
        self.header().received.ingress_length
    }

    /// Sets the length in bytes at the start of the pass.
    pub fn set_ingress_length(&mut self, bytes: u32) {
        self.header_mut().received.ingress_length = bytes;
    }

    /// Where it was received.
    pub fn ingress_port(&self) -> u32 {
        self.header().received.ingress_port
    }

    /// How many passes, or clones of clones, have led to this packet.
    pub fn passes(&self) -> u32 {
        self.header().core[0] as u32
    }

    /// Sets it.
    pub fn set_passes(&mut self, passes: u32) {
        let word = &mut self.header_mut().core[0];
        *word = *word & !u64::from(u32::MAX) | u64::from(passes);
    }

    /// The tag by which an observer knows it ([`crate::Switch::receive_tagged`]); undefined if there is none.
    pub fn tag(&self) -> u32 {
        (self.header().core[0] >> 32) as u32
    }

    /// Sets it.
    pub fn set_tag(&mut self, tag: u32) {
        let word = &mut self.header_mut().core[0];
        *word = u64::from(tag) << 32 | *word & u64::from(u32::MAX);
    }

    /// When it was received, or when it left a queue with a rate.
    pub fn time_ns(&self) -> u64 {
        self.header().received.time_ns
    }

    /// Sets it.
    pub fn set_time_ns(&mut self, time_ns: u64) {
        self.header_mut().received.time_ns = time_ns;
    }

    /// Which of the packets received together it comes from, for the budget of copies.
    pub fn root(&self) -> usize {
        self.header().core[1] as usize
    }

    /// Sets it.
    pub fn set_root(&mut self, root: usize) {
        self.header_mut().core[1] = root as u64;
    }

    /// What was decided about it at the last point that it passed.
    #[inline]
    pub fn decided(&self) -> Decided {
        Decided::of(self.header().decided)
    }

    /// Sets it.
    pub(crate) fn set_decided(&mut self, decided: Decided) {
        self.header_mut().decided = decided.word();
    }

    /// A number that no other living packet has.
    pub fn index(&self) -> u32 {
        self.header().index
    }

    /// Whether an assertion of the program has failed on it.
    pub fn assertion_failed(&self) -> bool {
        self.header().received.flags & FLAG_ASSERT_FAILED != 0
    }

    /// Whether the deparsed packet did not fit.
    pub fn is_too_long(&self) -> bool {
        self.header().received.flags & FLAG_NO_SPACE != 0
    }

    /// `cgen::abi::FLAG_...` of the packet.
    pub(crate) fn flags(&self) -> u32 {
        self.header().received.flags
    }

    /// Whether its metadata are prepared for a parser.
    pub(crate) fn keeps_metadata(&self) -> bool {
        self.flags() & FLAG_KEEP_METADATA != 0
    }

    /// Sets the flags.
    pub(crate) fn set_flags(&mut self, flags: u32) {
        self.header_mut().received.flags = flags;
    }

    /// Copies what another packet has in the first `floor` bytes of its chunk, but not its name.
    fn copy_before(&mut self, packet: &Packet, floor: usize) {
        let (index, capacity) = (self.header().index, self.header().capacity);
        assert!(floor >= size_of::<abi::Packet>() && floor <= capacity.min(packet.header().capacity) as usize);
        // SAFETY: both chunks have `floor` initialised bytes, and are different ones since both are owned. The fixed
        // part is plain numbers; those that belong to this chunk are put back.
        unsafe { self.chunk.cast::<u8>().copy_from_nonoverlapping(packet.chunk.cast::<u8>(), floor) };
        (self.header_mut().index, self.header_mut().capacity) = (index, capacity);
    }

    /// `length` bytes of the chunk from `offset`.
    pub(crate) fn chunk_bytes(&self, offset: usize, length: usize) -> &[u8] {
        assert!(offset + length <= self.header().capacity as usize, "outside of the chunk");
        // SAFETY: the range lies in the chunk, which has `capacity` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.chunk.as_ptr().cast::<u8>().add(offset), length) }
    }

    /// `length` bytes of the chunk from `offset`, which must lie behind the fixed part.
    pub(crate) fn chunk_bytes_mut(&mut self, offset: usize, length: usize) -> &mut [u8] {
        assert!(offset >= size_of::<abi::Packet>() && offset + length <= self.header().capacity as usize);
        // SAFETY: as above; the fixed part is not in the range, so that its fields keep their meaning.
        unsafe { std::slice::from_raw_parts_mut(self.chunk.as_ptr().cast::<u8>().add(offset), length) }
    }
}

/// Copies a frame. Short ones, which are most where speed counts, take two moves of a fixed size that may overlap, and
/// no call.
#[inline(always)]
pub(crate) fn copy_frame(to: &mut [u8], from: &[u8]) {
    match from.len() {
        32..=64 => copy_ends::<32>(to, from),
        65..=128 => copy_ends::<64>(to, from),
        129..=256 => copy_ends::<128>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Copies the first and the last `N` of at least `N` and at most `2 * N` bytes.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    let rest = from.len() - N;
    to[..N].copy_from_slice(&from[..N]);
    to[rest..][..N].copy_from_slice(&from[rest..][..N]);
}

/// Makes these chunks packets with the same bytes, which another packet has led to.
fn receive_all(chunks: &mut [Packet], bytes: &[u8], received: Received, from: &abi::Packet) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { receive_all_avx2(chunks, bytes, received, from) };
    }
    receive_each(chunks, bytes, received, from);
}

/// The same with moves of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn receive_all_avx2(chunks: &mut [Packet], bytes: &[u8], received: Received, from: &abi::Packet) {
    receive_each(chunks, bytes, received, from);
}

#[inline(always)]
fn receive_each(chunks: &mut [Packet], bytes: &[u8], received: Received, from: &abi::Packet) {
    for chunk in chunks {
        chunk.header_mut().core = from.core;
        chunk.receive(bytes, received);
    }
}

/// Copies of a burst's packets as they were received, as far as there were buffers.
pub(crate) type Originals = Vec<Option<Packet>>;

/// Chunks of one size.
struct Class {
    layout: Layout,
    free: Vec<Packet>,
    all: Vec<NonNull<abi::Packet>>,
    chunks_max: usize,
}

// SAFETY: a class owns its chunks; those that are out belong to the one handle of each, which stays with the core that
// has the class (see the module's header).
unsafe impl Send for Class {}

impl Class {
    fn new(bytes: usize, chunks_max: usize) -> Class {
        let size = bytes.next_multiple_of(CHUNK_ALIGN_BYTES);
        let layout = Layout::from_size_align(size, CHUNK_ALIGN_BYTES).expect("a chunk is far below isize::MAX");
        Class { layout, free: Vec::new(), all: Vec::new(), chunks_max }
    }

    #[inline]
    fn take(&mut self, next_index: &mut u32) -> Option<Packet> {
        self.provide(1, next_index);
        self.free.pop()
    }

    /// Allocates until `count` chunks are free, within the limit of the pool.
    #[inline]
    fn provide(&mut self, count: usize, next_index: &mut u32) {
        while self.free.len() < count && self.all.len() < self.chunks_max {
            self.allocate(next_index);
        }
    }

    /// Whether any chunk is out.
    fn is_out(&self) -> bool {
        self.all.len() > self.free.len()
    }

    /// How many chunks can be taken before half of the limit is in use.
    fn chunks_to_half(&self) -> usize {
        (self.chunks_max / 2).saturating_sub(self.all.len() - self.free.len())
    }

    #[cold]
    fn allocate(&mut self, next_index: &mut u32) {
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(self.layout) };
        let chunk = NonNull::new(memory.cast::<abi::Packet>()).unwrap_or_else(|| handle_alloc_error(self.layout));
        self.all.push(chunk);
        self.free.reserve(self.all.len() - self.free.len());
        let mut packet = Packet { chunk };
        let header = packet.header_mut();
        header.capacity = self.layout.size() as u32;
        header.index = *next_index;
        *next_index += 1;
        self.free.push(packet);
    }
}

impl Drop for Class {
    fn drop(&mut self) {
        for chunk in self.all.drain(..) {
            // SAFETY: allocated in `take` with this layout, and freed only here.
            unsafe { dealloc(chunk.as_ptr().cast(), self.layout) };
        }
    }
}

/// The memory of all packets of a core.
pub(crate) struct Pool {
    small: Class,
    large: Class,
    floor: usize,
    start: usize,
    next_index: u32,
}

/// How many chunks of each size a pool may have.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    /// Chunks for packets up to 2,048 bytes.
    pub small_max: usize,
    /// Chunks for longer packets.
    pub large_max: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits { small_max: 65_536, large_max: 2_048 }
    }
}

impl Pool {
    /// A pool for packets with `context_bytes` of context whose headers may grow by `growth_bytes`.
    pub fn new(context_bytes: usize, growth_bytes: usize, limits: PoolLimits) -> Pool {
        let headroom = HEADROOM_BYTES.max(growth_bytes).next_multiple_of(CHUNK_ALIGN_BYTES);
        let floor = (size_of::<abi::Packet>() + context_bytes).next_multiple_of(CHUNK_ALIGN_BYTES);
        let start = floor + headroom;
        Pool {
            small: Class::new(start + SMALL_PACKET_BYTES + TAILROOM_BYTES, limits.small_max),
            large: Class::new(start + PACKET_BYTES_MAX + TAILROOM_BYTES, limits.large_max),
            floor,
            start,
            next_index: 0,
        }
    }

    /// Where the bytes of a received packet start in its chunk.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The first byte of a chunk that packet bytes may use: its headroom starts here.
    pub fn floor(&self) -> usize {
        self.floor
    }

    /// A packet of these bytes, with whatever metadata an earlier packet left; none if the bytes are too many or no
    /// chunk is free.
    pub fn take(&mut self, bytes: &[u8]) -> Option<Packet> {
        self.take_with_capacity(bytes, bytes.len())
    }

    /// The same, in a chunk with a capacity of at least `capacity` bytes, which are no fewer than the packet's.
    pub fn take_with_capacity(&mut self, bytes: &[u8], capacity: usize) -> Option<Packet> {
        if capacity > PACKET_BYTES_MAX {
            return None;
        }
        let mut packet = self.take_chunk(capacity <= SMALL_PACKET_BYTES)?;
        packet.header_mut().received.flags = 0;
        packet.set_bytes(self.floor, self.start, bytes);
        Some(packet)
    }

    /// Makes packets of frames that were just received, as `reception` describes them, as far as there are chunks, and
    /// returns how many frames got none. What else a packet has is set by the parser.
    pub fn receive(&mut self, mut frames: &[&[u8]], reception: Reception, received: &mut Vec<Packet>) -> usize {
        let mut refused = 0;
        while let Some(first) = frames.first() {
            let longest = frames.iter().map(|frame| frame.len()).max().unwrap_or(0);
            // One by one if not all are small.
            let (now, later) = frames.split_at(if longest <= SMALL_PACKET_BYTES { frames.len() } else { 1 });
            frames = later;
            let is_small = first.len() <= SMALL_PACKET_BYTES;
            let class = if is_small { &mut self.small } else { &mut self.large };
            class.provide(now.len(), &mut self.next_index);
            let fit = if first.len() <= PACKET_BYTES_MAX { now.len().min(class.free.len()) } else { 0 };
            refused += now.len() - fit;
            let taken = class.free.len() - fit;
            let mut fresh = Received {
                data: self.start as u32,
                length: 0,
                payload: self.start as u32,
                ingress_length: 0,
                flags: 0,
                ingress_port: reception.port,
                time_ns: reception.time_ns,
            };
            for (chunk, frame) in class.free[taken..].iter_mut().zip(now) {
                (fresh.length, fresh.ingress_length) = (frame.len() as u32, frame.len() as u32);
                chunk.receive(frame, fresh);
            }
            received.extend(class.free.drain(taken..));
        }
        refused
    }

    /// A copy of a packet, its context and its bytes, under an index of its own.
    pub fn copy(&mut self, packet: &Packet) -> Option<Packet> {
        let mut copy = self.take_chunk(self.is_small(packet))?;
        copy.copy_before(packet, self.floor);
        // Parsed headers may lie before the packet's present begin, which is where they were received.
        let end = (packet.header().received.data + packet.length()) as usize;
        let begin = self.start.min(packet.header().received.data as usize);
        copy.chunk_bytes_mut(begin, end - begin).copy_from_slice(packet.chunk_bytes(begin, end - begin));
        Some(copy)
    }

    /// Adds `count` packets with the bytes of another that has not been deparsed, and with what was received of that,
    /// but without its context; as many as there are chunks for. Returns how many these are.
    pub fn copy_bytes(&mut self, packet: &Packet, count: usize, copies: &mut Vec<Packet>) -> usize {
        let class = if self.is_small(packet) { &mut self.small } else { &mut self.large };
        class.provide(count, &mut self.next_index);
        let rest = class.free.len().saturating_sub(count);
        let (from, bytes) = (packet.header(), packet.bytes());
        let received = Received { data: self.start as u32, ..from.received };
        receive_all(&mut class.free[rest..], bytes, received, from);
        let made = class.free.len() - rest;
        copies.extend(class.free.drain(rest..));
        made
    }

    /// Chunks that are free, for as many packets of `count` as there may be.
    pub fn spare(&mut self, count: usize) -> &mut [Packet] {
        self.small.provide(count, &mut self.next_index);
        let first = self.small.free.len().saturating_sub(count);
        &mut self.small.free[first..]
    }

    /// Makes packets of those spare chunks, one for each of these frames, in which generated code has written a
    /// context where `is_punted`, and of the frames' bytes. `taken` gets them with their positions, the last first;
    /// none where no chunk is free that is large enough.
    pub fn take_spare(
        &mut self,
        frames: &[Frame<'_>],
        is_punted: impl Fn(usize) -> bool,
        taken: &mut Vec<(usize, Option<Packet>)>,
    ) {
        let first = self.small.free.len() - frames.len();
        // From the end, so that the chunk that fills a gap is none that still has to be taken.
        for (position, frame) in frames.iter().enumerate().rev().filter(|(position, _)| is_punted(*position)) {
            let packet = self.small.free.swap_remove(first + position);
            taken.push((position, self.with_frame(packet, frame)));
        }
    }

    /// Puts a frame in a small chunk behind its context, or both in a large one.
    fn with_frame(&mut self, mut packet: Packet, frame: &Frame<'_>) -> Option<Packet> {
        let (length, payload) = (frame.bytes().len() as u32, packet.header().received.payload);
        if frame.bytes().len() > SMALL_PACKET_BYTES {
            let context = size_of::<abi::Packet>()..self.floor;
            let large = self.large.take(&mut self.next_index).map(|mut large| {
                large.set_intrinsics(*packet.intrinsics());
                let bytes = packet.chunk_bytes(context.start, context.len());
                large.chunk_bytes_mut(context.start, context.len()).copy_from_slice(bytes);
                large
            });
            self.small.free.push(packet);
            packet = large?;
        }
        packet.header_mut().received = Received {
            data: self.start as u32,
            length,
            payload,
            ingress_length: length,
            flags: 0,
            ingress_port: frame.port(),
            time_ns: frame.time_ns(),
        };
        packet.bytes_mut().copy_from_slice(frame.bytes());
        Some(packet)
    }

    /// How many chunks can be taken before half of the limit is in use.
    pub fn chunks_to_half(&self) -> usize {
        let large = if self.large.is_out() { self.large.chunks_to_half() } else { usize::MAX };
        self.small.chunks_to_half().min(large)
    }

    /// Takes a packet back.
    pub fn give(&mut self, packet: Packet) {
        let class = if self.is_small(&packet) { &mut self.small } else { &mut self.large };
        class.free.push(packet);
    }

    /// Takes packets back.
    #[inline(always)]
    pub fn give_all(&mut self, packets: impl ExactSizeIterator<Item = Packet>) {
        if self.large.all.is_empty() {
            self.small.free.extend(packets);
        } else {
            packets.for_each(|packet| self.give(packet));
        }
    }

    fn take_chunk(&mut self, small: bool) -> Option<Packet> {
        let class = if small { &mut self.small } else { &mut self.large };
        class.take(&mut self.next_index)
    }

    fn is_small(&self, packet: &Packet) -> bool {
        packet.header().capacity as usize == self.small.layout.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::v1model::Slot;

    #[test]
    fn chunks_are_used_again_and_bounded() {
        let mut pool = Pool::new(100, 0, PoolLimits { small_max: 2, large_max: 1 });
        let first = pool.take(&[1, 2, 3]).unwrap();
        let second = pool.take(&[4; 2048]).unwrap();
        assert!(pool.take(&[5]).is_none());
        assert_ne!(first.index(), second.index());
        assert_eq!(first.bytes(), [1, 2, 3]);
        pool.give(second);
        assert_eq!(pool.take(&[6]).unwrap().bytes(), [6]);
        let large = pool.take(&[7; 9000]).unwrap();
        assert!(pool.take(&[7; 9000]).is_none());
        pool.give(large);
        assert!(pool.take(&[7; PACKET_BYTES_MAX]).is_some());
        assert!(pool.take(&[7; PACKET_BYTES_MAX + 1]).is_none());
    }

    #[test]
    fn a_copy_has_the_same_contents_and_its_own_memory() {
        let mut pool = Pool::new(64, 0, PoolLimits::default());
        let mut packet = pool.take(b"hello").unwrap();
        packet.set_intrinsic(Slot::McastGrp, 9);
        packet.chunk_bytes_mut(320, 4).copy_from_slice(b"ctxt");
        let copy = pool.copy(&packet).unwrap();
        packet.set_intrinsic(Slot::McastGrp, 1);
        packet.chunk_bytes_mut(320, 4).fill(0);
        assert_eq!((copy.bytes(), copy.intrinsic(Slot::McastGrp)), (&b"hello"[..], 9));
        assert_eq!(copy.chunk_bytes(320, 4), b"ctxt");
    }

    #[test]
    fn bytes_that_do_not_fit_are_refused() {
        let mut pool = Pool::new(0, 0, PoolLimits::default());
        let mut packet = pool.take(&[0; 64]).unwrap();
        assert!(!packet.set_bytes(pool.floor(), pool.start(), &[0; 4000]));
        assert!(packet.is_too_long());
        assert_eq!(packet.length(), 64);
        // What is longer than the space behind the start reaches into the headroom.
        assert!(packet.set_bytes(pool.floor(), pool.start(), &[7; 2300]));
        assert_eq!(packet.bytes(), [7; 2300]);
    }
}
