//! What the core requires of a backend: run a block of the program over a burst. Native code and the interpreter are
//! the two.

use crate::externs::Externs;
use crate::frame::{Chunks, Frame};
use crate::output::{Observer, Output};
use crate::packet::Packet;
use crate::shared_tables::LockedTables;
use crate::specialise::Specialisation;
use cgen::Plan;
use cgen::abi::{Exceptions, Verdict};
use ir::{BlockId, FieldListId, INTRINSIC_SLOTS, PointId};
use std::sync::Arc;
use tables::{Guard, LookupHandle, TableSet};

/// What a block reaches beyond its packets.
pub struct Execution<'a> {
    /// Registers, counters, meters, ...
    pub externs: &'a mut Externs,
    /// Whether compiled code has the addresses of this state.
    pub has_addresses: bool,
    /// The entries, in the form that the backend requires.
    pub entries: Entries<'a>,
    /// The present time.
    pub now_ns: u64,
    /// Receives digests and log lines.
    pub output: &'a mut dyn Output,
    /// Receives the packets' steps, if there is an observer.
    pub observer: Option<&'a mut dyn Observer>,
}

/// The state of all tables that a run sees.
pub enum Entries<'a> {
    /// As the control plane stored them, locked against changes.
    Stored(LockedTables<'a>),
    /// As lookups.
    Lookups(Guard<'a>),
}

impl Entries<'_> {
    /// The stored entries, for a backend with [`Pipeline::reads_store`].
    pub fn stored(&self) -> &TableSet {
        match self {
            Entries::Stored(tables) => tables,
            Entries::Lookups(_) => unreachable!("the backend does not read the store"),
        }
    }

    /// The number of the state ([`TableSet::version`]).
    pub fn version(&self) -> u64 {
        match self {
            Entries::Stored(tables) => tables.version(),
            Entries::Lookups(lookups) => lookups.version(),
        }
    }

    /// The lookups, for the other backends.
    pub fn handles(&self) -> &[LookupHandle] {
        match self {
            Entries::Lookups(lookups) => lookups.handles(),
            Entries::Stored(_) => unreachable!("the backend reads the store"),
        }
    }
}

/// A part of the program that a burst runs through.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A block.
    Block(BlockId),
    /// The decision at a point between blocks, which [`Packet::decided`] returns afterwards. In a program without
    /// decisions there, packets continue. Nothing else is done, so packets that a block has just failed may be decided
    /// about.
    Decide(PointId),
}

/// A backend. Packets keep their headers and metadata in a form that only their backend knows.
pub trait Pipeline: Send {
    /// Starts a pass: the parser, which runs next, makes metadata zero and all headers invalid.
    fn begin_pass(&mut self, packet: &mut Packet);

    /// Sets metadata to zero and keeps headers. A parser that runs next leaves metadata as they are.
    fn reset_metadata(&mut self, packet: &mut Packet);

    /// Sets metadata to zero but for those of a field list. A parser that runs next leaves metadata as they are.
    fn keep_only(&mut self, list: FieldListId, packet: &mut Packet);

    /// Gives the intrinsic variables of a field list the values that they had before.
    fn keep_intrinsics(&mut self, list: FieldListId, before: &[u64; INTRINSIC_SLOTS], packet: &mut Packet);

    /// Runs steps one after the other, each over a burst of at most `base::limits::BURST_PACKETS_MAX` packets. Steps
    /// that are handed over together cost one preparation.
    fn run(&mut self, steps: &[Step], packets: &mut [Packet], execution: &mut Execution<'_>);

    /// Whether there is a fast path: one piece of code for packets that are only sent or dropped.
    fn has_fast_path(&self) -> bool {
        false
    }

    /// Whether packets on the fast path are worked on in their frames, and not in their chunks.
    fn is_in_place(&self) -> bool {
        false
    }

    /// Bytes that there must be before each frame, since headers are moved there.
    fn headroom_bytes(&self) -> u32 {
        0
    }

    /// Takes a burst of packets that were just received through the fast path; `verdicts` gets what became of each.
    /// Must not be called without [`Pipeline::has_fast_path`]. In place, `frames` are the packets' bytes; else there
    /// are none. `coming` are frames that come next. Returns the summary of the verdicts.
    fn run_fast_path(
        &mut self,
        _chunks: Chunks<'_>,
        _frames: &mut [Frame<'_>],
        _verdicts: &mut [Verdict],
        _execution: &mut Execution<'_>,
    ) -> Exceptions {
        unreachable!("the backend has no fast path");
    }

    /// Whether packets on a further pass have a fast path of their own, which works in their frames.
    fn has_again_path(&self) -> bool {
        false
    }

    /// Takes packets that enter ingress again along that path, as [`Pipeline::run_fast_path`] does. Must not be called
    /// without [`Pipeline::has_again_path`]. Their chunks have the intrinsic variables and metadata of the new pass.
    fn run_again_path(
        &mut self,
        _chunks: Chunks<'_>,
        _frames: &mut [Frame<'_>],
        _verdicts: &mut [Verdict],
        _execution: &mut Execution<'_>,
    ) -> Exceptions {
        unreachable!("the backend has no path for further passes");
    }

    /// Whether replicas have a fast path of their own, from the queues to the deparser, which works in their frames.
    fn has_replica_path(&self) -> bool {
        false
    }

    /// Takes replicas of a packet that has been through ingress along that path. Must not be called without
    /// [`Pipeline::has_replica_path`]. Each frame has the packet's bytes, and where and as which replica it leaves.
    /// Returns the summary of the verdicts.
    fn run_replica_path(
        &mut self,
        _packet: &Packet,
        _chunks: Chunks<'_>,
        _frames: &mut [Frame<'_>],
        _verdicts: &mut [Verdict],
        _execution: &mut Execution<'_>,
    ) -> Exceptions {
        unreachable!("the backend has no path for replicas");
    }

    /// Called after a packet's memory was copied: copies what the backend keeps elsewhere.
    fn copy_context(&mut self, from: &Packet, to: &mut Packet);

    /// Called when no packet is in the core: forgets what the backend keeps of packets elsewhere.
    fn forget_packets(&mut self) {}

    /// Copies the variables of a field list, intrinsic ones too, from one packet to another.
    fn preserve(&mut self, list: FieldListId, from: &Packet, to: &mut Packet);

    /// Runs other code of the same program from the next packet on; none: the code that it was made with. Backends
    /// without compiled code do nothing.
    fn run_code(&mut self, _special: Option<&Specialisation>) {}

    /// The plan of the code that it was made with, if it is compiled.
    fn plan(&self) -> Option<&Arc<Plan>> {
        None
    }

    /// The same backend for a shard of the core, and the bytes of context that its packets need; none if its packets
    /// are worked on one after the other.
    fn shard(&self) -> Option<(Box<dyn Pipeline>, usize)> {
        None
    }

    /// Whether it looks up in the store of entries rather than in what the match engines made of it.
    fn reads_store(&self) -> bool;

    /// How many bytes of a packet must be saved to restore it as it was received when it requests that on the fast
    /// path, if a few are enough.
    fn written_bytes_max(&self) -> Option<usize> {
        None
    }

    /// The most packets that may go through blocks together without that being seen.
    fn burst_max(&self) -> usize;

    /// The most packets of the queues that may go through the blocks behind them together without that being seen.
    fn egress_burst_max(&self) -> usize {
        self.burst_max()
    }

    /// The most that may take the fast path together.
    fn fast_path_burst_max(&self) -> usize {
        self.burst_max()
    }

    /// Whether the fast path ends behind a punted packet: those behind it
    /// have then not begun, and have no verdict.
    fn stops_at_punt(&self) -> bool {
        false
    }
}
