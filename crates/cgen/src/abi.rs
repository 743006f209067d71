//! The layouts that generated C and Rust share: the mirror of `runtime/c/wirespeed.h`.
//!
//! A packet is one chunk of memory, aligned to a cache line: [`Packet`], the program's context (metadata variables,
//! header offsets and valid bits, space for headers that are not in the packet), headroom, the packet's bytes. All
//! places in it are offsets from its start, so that copying a chunk copies the packet with its headers and metadata.
//! Sizes and offsets are asserted here and in the C header.

use ir::{CrcParameters, DropReason};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};
use tables::LookupHandle;

/// Version of these layouts. A shared object of another version is not loaded.
pub const ABI_VERSION: u32 = 23;

/// Alignment of a packet's chunk, in bytes.
pub const CHUNK_ALIGN_BYTES: usize = 64;

/// [`Received::flags`]: an assertion of the program failed; the core drops the packet.
pub const FLAG_ASSERT_FAILED: u32 = 1;
/// [`Received::flags`]: the deparsed headers did not fit the chunk; the core drops the packet.
pub const FLAG_NO_SPACE: u32 = 2;
/// [`Received::flags`], set by the core before a parser runs: the metadata are prepared (fields preserved from an
/// earlier pass), so that the parser does not zero them. Without it the parser zeroes the metadata range.
pub const FLAG_KEEP_METADATA: u32 = 4;

/// What is written for each received packet: adjacent members, so that a few wide stores write them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Offset of the packet's first byte in the chunk.
    pub data: u32,
    /// Bytes of the packet.
    pub length: u32,
    /// Offset of the first byte that the parser did not extract.
    pub payload: u32,
    /// Bytes as received in this pass: what counters and meters see, and `packet_in.length()`.
    pub ingress_length: u32,
    /// `FLAG_...`.
    pub flags: u32,
    /// Where it was received.
    pub ingress_port: u32,
    /// When it was received, or when a queue with a rate released it.
    pub time_ns: u64,
}

/// The fixed part at the start of a packet's chunk.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The packet as received, and its present state.
    pub received: Received,
    /// Bytes of the chunk.
    pub capacity: u32,
    /// The core's index of the packet.
    pub index: u32,
    /// The core's own; generated code does not access them.
    pub core: [u64; 2],
    /// What was decided about the packet at the last point that it passed: the word of a [`Decided`].
    pub decided: u64,
    /// The intrinsic variables by the number of their [`ir::IntrinsicSlot`].
    pub intrinsic: [u64; ir::INTRINSIC_SLOTS],
}

/// What was decided about a packet at a point between blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// It continues with the next block.
    Continues,
    /// It leaves.
    Send {
        /// On this port.
        port: u32,
        /// With this many bytes at most.
        bytes_max: Option<u32>,
    },
    /// It enters a queue.
    Enqueue {
        /// Of this port.
        port: u32,
        /// With this priority.
        priority: u32,
    },
    /// It ends.
    Drop(DropReason),
    /// The core carries out a request.
    Punt {
        /// The point at which it is made, and decided again.
        point: u32,
        /// The slot of the request.
        slot: u32,
    },
}

impl Decided {
    /// The kind of each, in the upper 8 bits of its word. Ports, slots and [`Decided::DROPS_EGRESS`] are in the lower
    /// 32 bits, other numbers between.
    pub const SENDS: u64 = 1 << 56;
    /// See [`Decided::SENDS`].
    pub const ENQUEUES: u64 = 2 << 56;
    /// See [`Decided::SENDS`].
    pub const DROPS: u64 = 3 << 56;
    /// See [`Decided::SENDS`].
    pub const PUNTS: u64 = 4 << 56;
    /// The packet is dropped behind the queues.
    pub const DROPS_EGRESS: u64 = 1;
    /// The greatest number between the kind and the lower 32 bits.
    pub const NUMBER_MAX: u64 = 0xff_ffff;

    /// The meaning of a word.
    #[inline]
    pub fn of(word: u64) -> Decided {
        let (low, number) = (word as u32, (word >> 32 & Decided::NUMBER_MAX) as u32);
        match word & 0xff << 56 {
            Decided::SENDS => Decided::Send { port: low, bytes_max: number.checked_sub(1) },
            Decided::ENQUEUES => Decided::Enqueue { port: low, priority: number },
            Decided::DROPS if low == 0 => Decided::Drop(DropReason::Ingress),
            Decided::DROPS => Decided::Drop(DropReason::Egress),
            Decided::PUNTS => Decided::Punt { point: number, slot: low },
            _ => Decided::Continues,
        }
    }

    /// Its word.
    #[inline]
    pub fn word(self) -> u64 {
        let word = |kind: u64, number: u64, low: u32| kind | number.min(Decided::NUMBER_MAX) << 32 | u64::from(low);
        match self {
            Decided::Continues => 0,
            Decided::Send { port, bytes_max } => {
                word(Decided::SENDS, bytes_max.map_or(0, |bytes| u64::from(bytes) + 1), port)
            }
            Decided::Enqueue { port, priority } => word(Decided::ENQUEUES, u64::from(priority), port),
            Decided::Drop(DropReason::Ingress) => Decided::DROPS,
            Decided::Drop(DropReason::Egress) => Decided::DROPS | Decided::DROPS_EGRESS,
            Decided::Punt { point, slot } => word(Decided::PUNTS, u64::from(point), slot),
        }
    }
}

/// The bytes of a received packet, wherever they lie. A program that relocates headers in place writes to the headroom,
/// too, and sets `bytes` to the new first byte. Every program sets `length` to the new length.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The first byte.
    pub bytes: NonNull<u8>,
    /// Bytes.
    pub length: u32,
    /// The port on which it was received; of a replica, the port on which it leaves.
    pub port: u32,
    /// When it was received.
    pub time_ns: u64,
    /// Bytes before the first one that may be written.
    pub headroom: u32,
    /// A replica's number.
    pub rid: u32,
}

/// The result of the fast path for a packet: the port on which it leaves, or one of the following.
pub type Verdict = u32;
/// [`Verdict`]: the program dropped it in ingress.
pub const DROP_INGRESS: Verdict = 0xffff_fff0;
/// [`Verdict`]: the program dropped it in egress.
pub const DROP_EGRESS: Verdict = 0xffff_fff1;
/// [`Verdict`]: it makes a request after ingress; its headers, metadata and intrinsic variables are as they were then.
pub const PUNT_INGRESS: Verdict = 0xffff_fff2;
/// [`Verdict`]: the same after egress.
pub const PUNT_EGRESS: Verdict = 0xffff_fff3;

/// [`Verdict`]: its deparsed headers did not fit the chunk.
pub const DROP_TOO_LONG: Verdict = 0xffff_fff4;
/// [`Verdict`]: an assertion of the program failed; the core drops the packet. It is rare, and counted as a punt.
pub const ASSERTION_FAILED: Verdict = 0xffff_fff5;

/// A summary of the verdicts of a call, so that the caller need not read all of them: how many packets are dropped, by
/// reason, and how many are punted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Exceptions(u64);

impl Exceptions {
    /// The summary of these verdicts.
    #[inline]
    pub fn of(verdicts: &[Verdict]) -> Exceptions {
        let number = |verdict: &Verdict| match *verdict {
            DROP_INGRESS => 1,
            DROP_EGRESS => 1 << 16,
            DROP_TOO_LONG => 1 << 32,
            PUNT_INGRESS | PUNT_EGRESS | ASSERTION_FAILED => 1 << 48,
            _ => 0,
        };
        Exceptions(verdicts.iter().map(number).sum())
    }

    /// Whether all packets are sent.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Packets that are dropped with [`DROP_INGRESS`], [`DROP_EGRESS`] and [`DROP_TOO_LONG`].
    #[inline]
    pub fn drops(self) -> [u64; 3] {
        [0, 16, 32].map(|bit| self.0 >> bit & 0xffff)
    }

    /// Packets that are punted.
    #[inline]
    pub fn punts(self) -> u64 {
        self.0 >> 48
    }
}

/// Whether a packet with this verdict is punted.
#[inline]
pub fn is_punt(verdict: Verdict) -> bool {
    matches!(verdict, PUNT_INGRESS | PUNT_EGRESS | ASSERTION_FAILED)
}

const _: () = {
    assert!(size_of::<Packet>() == 320 && align_of::<Packet>() == CHUNK_ALIGN_BYTES);
    assert!(size_of::<Received>() == 32 && std::mem::offset_of!(Received, time_ns) == 24);
    assert!(std::mem::offset_of!(Packet, core) == 40 && std::mem::offset_of!(Packet, decided) == 56);
    assert!(std::mem::offset_of!(Packet, intrinsic) == 64);
    assert!(ir::INTRINSIC_SLOTS == 32);
    assert!(size_of::<Frame>() == 24 + size_of::<usize>());
    assert!(size_of::<tables::EntryHeader>() == 16);
    assert!(size_of::<LookupHandle>() == 12 * size_of::<usize>() + 64);
    assert!(size_of::<Crc>() == 4120);
};

/// A register array: each cell takes `ceil(width / 64)` words, lowest first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// The first word.
    pub words: *mut u64,
    /// Cells.
    pub size: u64,
}

/// A cell of a counter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets counted.
    pub packets: u64,
    /// Their bytes, as received.
    pub bytes: u64,
}

/// A counter array. In a direct counter the cell is [`tables::EntryHeader::index`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// The first cell.
    pub cells: *mut Count,
    /// Cells.
    pub size: u64,
}

/// How often a table was looked up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Lookups.
    pub lookups: u64,
    /// Lookups that hit an entry.
    pub hits: u64,
}

/// A CRC with the parameters of a calculation, prepared so that one step processes four bytes. If data are processed
/// lowest bit first, the remainder is stored with its bits reversed.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crc {
    /// The effect of a byte that as many more bytes follow as the table's index.
    pub tables: [[u32; 256]; 4],
    /// The remainder at the start.
    pub start: u32,
    /// What the remainder is xored with at the end.
    pub final_xor: u32,
    /// Bits of the remainder: 16 or 32.
    pub width: u32,
    /// 1 if data are processed lowest bit first.
    pub is_reflected: u32,
    /// 1 if the bits of the remainder are reversed at the end.
    pub is_reversed: u32,
    /// Zero.
    pub reserved: u32,
}

impl Crc {
    /// Prepares a CRC of `width` bits.
    pub fn new(width: u32, parameters: &CrcParameters) -> Crc {
        let mask = u32::MAX >> (32 - width);
        let reversed = |value: u32| (value & mask).reverse_bits() >> (32 - width);
        let is_reflected = parameters.reflects_data;
        let effect = |byte: usize| {
            // A reflected byte is the highest of the unreflected remainder, with its bits reversed.
            let byte = if is_reflected { (byte as u8).reverse_bits() } else { byte as u8 };
            let mut remainder = u32::from(byte) << (width - 8);
            for _ in 0..8 {
                let carry = remainder >> (width - 1) & 1;
                remainder = (remainder << 1 ^ if carry == 1 { parameters.polynomial } else { 0 }) & mask;
            }
            if is_reflected { reversed(remainder) } else { remainder }
        };
        let mut tables = [std::array::from_fn(effect); 4];
        for number in 1..tables.len() {
            let before = tables[number - 1];
            tables[number] = before.map(|remainder| match is_reflected {
                true => remainder >> 8 ^ tables[0][(remainder & 0xff) as usize],
                false => (remainder << 8 ^ tables[0][(remainder >> (width - 8) & 0xff) as usize]) & mask,
            });
        }
        Crc {
            tables,
            start: if is_reflected { reversed(parameters.initial) } else { parameters.initial & mask },
            final_xor: parameters.final_xor & mask,
            width,
            is_reflected: u32::from(is_reflected),
            is_reversed: u32::from(parameters.reflects_remainder != is_reflected),
            reserved: 0,
        }
    }
}

/// Colour of a packet at `(core, meter, index, bytes as received, colour so far)`: 0 green, 1 yellow, 2 red.
pub type MeterFunction = unsafe extern "C" fn(*mut c_void, u32, u64, u32, u32) -> u32;
/// Acquires a guard, and blocks until it is free.
pub type WaitFunction = unsafe extern "C" fn(*const Guard);
/// A uniform number from `low` to `high`: `(core, low, high)`.
pub type RandomFunction = unsafe extern "C" fn(*mut c_void, u64, u64) -> u64;
/// A message: `(core, digest or site, packet, words)`. Each value takes `ceil(width / 64)` words, lowest first.
pub type MessageFunction = unsafe extern "C" fn(*mut c_void, u32, *const Packet, *const u64);
/// A failed assertion: `(core, site, packet)`.
pub type AssertFunction = unsafe extern "C" fn(*mut c_void, u32, *const Packet);
/// Membership in a value set: `(core, value set, words of the keys)`; 1 if in the set, else 0.
pub type ValueSetFunction = unsafe extern "C" fn(*mut c_void, u32, *const u64) -> u32;

/// A plug-in's function: `(core, function, instance, words of the inputs, words of the joined outputs)`.
pub type ExternFunction = unsafe extern "C" fn(*mut c_void, u32, u32, *const u64, *mut u64);

/// The profile that leaves a timer's time as it is; profiles have 8 bits.
pub const SAME_PROFILE: u32 = 256;

/// An entry that a packet adds: `(core, table, action, words of keys, arguments and profile)`; 1 if it could be added,
/// else 0.
pub type AddFunction = unsafe extern "C" fn(*mut c_void, u32, u32, *const u64) -> u32;
/// The timer of an entry: `(core, table, entry's index, profile or [`SAME_PROFILE`])`.
pub type TimerFunction = unsafe extern "C" fn(*mut c_void, u32, u32, u32);

/// The bytes of a cell of a meter.
pub const METER_CELL_BYTES: usize = 128;

/// Where a cell of a meter has its first burst, a number of 32 bits.
pub const METER_BURST_AT: usize = 40;

/// What is there if the cell has no rates.
pub const METER_UNSET: u32 = 0x4000_0001;

/// Where a cell of a meter has its count of green packets, a [`Count`].
pub const METER_GREEN_AT: usize = 48;

/// A meter array. Generated code prefetches its cells, and counts green packets of cells without rates.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Meters {
    /// Cells of [`METER_CELL_BYTES`].
    pub cells: *const [u8; METER_CELL_BYTES],
    /// What counts green packets of cells without rates instead of the cells, or null.
    pub green: *mut Count,
    /// The number of cells.
    pub size: u64,
}

/// The environment of a burst. Each array is indexed by the IR's numbers and has an item for each.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// First argument of every callback.
    pub core: *mut c_void,
    /// One for each table, acquired for this burst.
    pub tables: *const LookupHandle,
    /// One for each register array.
    pub registers: *const Cells,
    /// One for each counter array.
    pub counters: *const Counts,
    /// One for each direct counter.
    pub direct_counters: *const Counts,
    /// One for each meter array.
    pub meters: *const Meters,
    /// Runs a meter; the index is below the meter's size.
    pub meter: MeterFunction,
    /// Runs a direct meter at an entry's index, or at the default action's cell ([`ir::Table::default_cell`]).
    pub direct_meter: MeterFunction,
    /// Draws a random number.
    pub random: RandomFunction,
    /// Sends a digest.
    pub digest: MessageFunction,
    /// Logs a message; the site is an index into [`crate::Plan::log_sites`].
    pub log: MessageFunction,
    /// Reports a failed assertion; the site is an index into [`crate::Plan::assert_sites`].
    pub assert_failed: AssertFunction,
    /// Looks up keys in a value set.
    pub value_set: ValueSetFunction,
    /// One for each calculation.
    pub calculations: *const Crc,
    /// Calls a plug-in.
    pub call_extern: ExternFunction,
    /// Adds an entry to a table.
    pub add_entry: AddFunction,
    /// Starts the timer of an entry anew.
    pub set_timer: TimerFunction,
    /// One for each table.
    pub uses: *mut TableUse,
    /// For each table the times at which its entries were last hit, by [`tables::EntryHeader::index`]. Read only if a
    /// table supports idle timeouts; no cells for one that does not.
    pub last_hits: *const Cells,
    /// The time that is written there.
    pub now_ns: u64,
    /// The guard that this worker shares with others; null if there are none.
    pub guard: *const Guard,
    /// Acquires it, and blocks until it is free.
    pub wait: WaitFunction,
    /// The offset in its chunk at which a received packet begins.
    pub first_byte: u32,
}

const _: () = assert!(size_of::<Env>() == 21 * size_of::<usize>() + 16);

/// The lock for the registers that workers share. It has cache lines of its own.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct Guard {
    /// 1 while a worker holds it.
    pub is_taken: AtomicU32,
    /// Zero.
    pub reserved: u32,
    /// The latest time, in nanoseconds, of a packet that held the guard. Only the holder reads and writes it.
    pub time_ns: AtomicU64,
}

const _: () = assert!(std::mem::offset_of!(Guard, time_ns) == 8);

/// A program's description of itself, exported as `ws_program`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramInfo {
    /// [`ABI_VERSION`] of the headers it was compiled with.
    pub abi_version: u32,
    /// Bytes between [`Packet`] and the headroom.
    pub context_size: u32,
    /// First byte of the metadata variables, from the chunk's start.
    pub metadata_offset: u32,
    /// Their bytes.
    pub metadata_size: u32,
    /// The number of functions `ws_block_0`, `ws_block_1`, ...: the blocks, and then the decisions at each point.
    pub block_count: u32,
    /// 1 if there is a function `ws_fast_path`, 2 if it works in place.
    pub fast_path: u32,
    /// 1 if there is a function `ws_again_path`.
    pub again_path: u32,
    /// 1 if there is a function `ws_replica_path`.
    pub replica_path: u32,
}

const _: () = assert!(size_of::<ProgramInfo>() == 32);

/// A block over a burst: `(env, packets, count)`, `count` at most [`base::limits::BURST_PACKETS_MAX`].
pub type BlockFunction = unsafe extern "C" fn(*const Env, *const *mut Packet, u32);

/// The fast path of received packets, from the parser to the deparser: `(env, packets, frames, count, verdicts)`. It
/// processes burst by burst, and prefetches the first bytes of the next burst's frames. When it takes a guard, frames
/// get the guard's time, if that is later. Returns a summary of the verdicts.
pub type FastPathFunction =
    unsafe extern "C" fn(*const Env, *const *mut Packet, *mut Frame, u32, *mut Verdict) -> Exceptions;

/// Replicas of a packet that has been through ingress, from the queues to the deparser: `(env, packet, packets, frames,
/// count, verdicts)`, `count` at most [`base::limits::BURST_PACKETS_MAX`]. Each frame has the packet's bytes, and the
/// replica's port and number. Returns a summary of the verdicts.
pub type ReplicaPathFunction =
    unsafe extern "C" fn(*const Env, *const Packet, *const *mut Packet, *mut Frame, u32, *mut Verdict) -> Exceptions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_survive_their_words() {
        let port = u32::MAX;
        for decided in [
            Decided::Continues,
            Decided::Send { port, bytes_max: None },
            Decided::Send { port: 0, bytes_max: Some(0) },
            Decided::Send { port: 7, bytes_max: Some(0xff_fffe) },
            Decided::Enqueue { port, priority: 0 },
            Decided::Enqueue { port: 1, priority: 7 },
            Decided::Drop(DropReason::Ingress),
            Decided::Drop(DropReason::Egress),
            Decided::Punt { point: 3, slot: 20 },
        ] {
            assert_eq!(Decided::of(decided.word()), decided);
        }
        let longer = Decided::Send { port: 1, bytes_max: Some(u32::MAX) };
        assert_eq!(Decided::of(longer.word()), Decided::Send { port: 1, bytes_max: Some(0xff_fffe) });
    }
}
