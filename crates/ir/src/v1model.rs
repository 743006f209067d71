//! The interface between `lower` and `switch` for v1model: the order of the blocks and the slots of the intrinsic
//! variables.
//!
//! The architecture's functions (`clone`, `resubmit`, ...) only set requests, so they are assignments to intrinsic
//! variables here, and the IR needs no statement for them.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, Point, Request, RequestedBy, SlotInfo, Source, block, point, slot,
};
use crate::expr::Type;
use crate::program::IntrinsicSlot;

/// The blocks of a v1model program by position in [`crate::Program::blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the parameters of package V1Switch")]
pub enum Stage {
    Parser,
    VerifyChecksum,
    Ingress,
    Egress,
    ComputeChecksum,
    Deparser,
}

/// The points at which v1model decides, by position in [`crate::Program::decisions`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decisions {
    /// Behind ingress.
    Ingress,
    /// Where a packet has left the queues.
    Queues,
    /// Behind egress.
    Egress,
    /// Behind the deparser.
    Deparser,
}

/// The slots of the intrinsic variables. The first are the fields of `standard_metadata_t`; those from
/// [`Slot::CloneIngressSession`] on are requests to the architecture, 0 if not made, where nothing else is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u32)]
#[allow(missing_docs, reason = "the fields of standard_metadata_t")]
pub enum Slot {
    IngressPort,
    EgressSpec,
    EgressPort,
    InstanceType,
    PacketLength,
    EnqTimestamp,
    EnqQdepth,
    DeqTimedelta,
    DeqQdepth,
    IngressGlobalTimestamp,
    EgressGlobalTimestamp,
    McastGrp,
    EgressRid,
    ChecksumError,
    ParserError,
    Priority,
    /// Clone from ingress to egress: the session plus 1.
    CloneIngressSession,
    /// Clone from egress to egress: the session plus 1.
    CloneEgressSession,
    /// The field list of either: the index in [`crate::Program::field_lists`] plus 1, or 0 for none. Requests of clones
    /// set both variables.
    CloneList,
    /// Clone to ingress, from either: 1 without a field list, else the list's index plus 2. P4_14 has it.
    CloneToIngress,
    /// Resubmit: as `CloneToIngress`.
    Resubmit,
    /// Recirculate: as `Resubmit`.
    Recirculate,
    /// Truncate: the smallest requested length plus 1.
    Truncate,
    /// Bytes that `setValid` and `setInvalid` have added to the packet in ingress, two's complement; used only by
    /// programs that read `packet_length` in egress.
    LengthDelta,
    /// Coalesce in a buffer instead of leaving: [`Gather`].
    Gather,
    /// Release a buffer: its number plus 1.
    Release,
    /// Split the packet: [`Scatter`].
    Scatter,
    /// Not a request: the buffer that the packet was, in the upper 16 bits, and the number of packets in it; 0 for
    /// packets that were not a buffer.
    Gathered,
    /// Not a request: the port of the queue that the packet has left, in programs that write `egress_port`.
    QueuePort,
}

impl Slot {
    /// All slots by number.
    pub const ALL: [Slot; SLOTS.len()] = [
        Slot::IngressPort,
        Slot::EgressSpec,
        Slot::EgressPort,
        Slot::InstanceType,
        Slot::PacketLength,
        Slot::EnqTimestamp,
        Slot::EnqQdepth,
        Slot::DeqTimedelta,
        Slot::DeqQdepth,
        Slot::IngressGlobalTimestamp,
        Slot::EgressGlobalTimestamp,
        Slot::McastGrp,
        Slot::EgressRid,
        Slot::ChecksumError,
        Slot::ParserError,
        Slot::Priority,
        Slot::CloneIngressSession,
        Slot::CloneEgressSession,
        Slot::CloneList,
        Slot::CloneToIngress,
        Slot::Resubmit,
        Slot::Recirculate,
        Slot::Truncate,
        Slot::LengthDelta,
        Slot::Gather,
        Slot::Release,
        Slot::Scatter,
        Slot::Gathered,
        Slot::QueuePort,
    ];

    /// The type of the slot's variable.
    pub fn ty(self) -> Type {
        match STANDARD_METADATA.iter().find(|(_, slot, _)| *slot == self) {
            Some((_, _, ty)) => *ty,
            None if matches!(self, Slot::Gather | Slot::Scatter) => Type::Bit(64),
            None if self == Slot::QueuePort => Type::Bit(ARCHITECTURE.port_bits),
            None => Type::Bit(32),
        }
    }
}

/// The request in [`Slot::Gather`]. The lowest 8 bits of the word distinguish a request from none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gather {
    /// The buffer.
    pub buffer: u16,
    /// The most bytes of the buffer, this packet's included.
    pub bytes_max: u16,
    /// How long this packet may wait from its reception on: 24 bits.
    pub wait_us: u32,
}

impl Gather {
    /// The request in a slot, if one was made.
    #[inline]
    pub fn of(word: u64) -> Option<Gather> {
        let gather = Gather { buffer: (word >> 48) as u16, bytes_max: (word >> 32) as u16, wait_us: word as u32 >> 8 };
        (word != 0).then_some(gather)
    }

    /// The word for the slot.
    pub fn word(self) -> u64 {
        u64::from(self.buffer) << 48 | u64::from(self.bytes_max) << 32 | u64::from(self.wait_us) << 8 & 0xffff_ff00 | 1
    }
}

/// The request in [`Slot::Scatter`]. The upper half of the word distinguishes a request from none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scatter {
    /// The offset of the first record.
    pub first_byte: u16,
    /// The number of records.
    pub records: u16,
}

impl Scatter {
    /// The request in a slot, if one was made.
    #[inline]
    pub fn of(word: u64) -> Option<Scatter> {
        (word != 0).then_some(Scatter { first_byte: (word >> 16) as u16, records: word as u16 })
    }

    /// The word for the slot.
    pub fn word(self) -> u64 {
        1 << 32 | u64::from(self.first_byte) << 16 | u64::from(self.records)
    }
}

impl IntrinsicSlot for Slot {
    fn number(self) -> usize {
        self as usize
    }
}

/// The greatest port.
pub const PORT_MAX: u32 = 511;

/// `egress_spec` of a packet to be dropped, unless the user chooses another port.
pub const DROP_PORT: u64 = 511;

/// Name, slot and type of each field of `standard_metadata_t`.
pub const STANDARD_METADATA: [(&str, Slot, Type); 16] = [
    ("ingress_port", Slot::IngressPort, Type::Bit(9)),
    ("egress_spec", Slot::EgressSpec, Type::Bit(9)),
    ("egress_port", Slot::EgressPort, Type::Bit(9)),
    ("instance_type", Slot::InstanceType, Type::Bit(32)),
    ("packet_length", Slot::PacketLength, Type::Bit(32)),
    ("enq_timestamp", Slot::EnqTimestamp, Type::Bit(32)),
    ("enq_qdepth", Slot::EnqQdepth, Type::Bit(19)),
    ("deq_timedelta", Slot::DeqTimedelta, Type::Bit(32)),
    ("deq_qdepth", Slot::DeqQdepth, Type::Bit(19)),
    ("ingress_global_timestamp", Slot::IngressGlobalTimestamp, Type::Bit(48)),
    ("egress_global_timestamp", Slot::EgressGlobalTimestamp, Type::Bit(48)),
    ("mcast_grp", Slot::McastGrp, Type::Bit(16)),
    ("egress_rid", Slot::EgressRid, Type::Bit(16)),
    ("checksum_error", Slot::ChecksumError, Type::Bit(1)),
    ("parser_error", Slot::ParserError, Type::Bit(32)),
    ("priority", Slot::Priority, Type::Bit(3)),
];

/// `instance_type` of packets by their origin. A buffer that leaves is `Coalesced`, for which v1model has a number that
/// the reference switch does not use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names of PktInstanceType in v1model programs")]
pub enum InstanceType {
    Normal,
    IngressClone,
    EgressClone,
    Coalesced,
    Recirculated,
    Replicated,
    Resubmitted,
    /// Beyond v1model's: a record of a packet that was split.
    Scattered,
    /// And a packet that was to be split, but does not consist of such records.
    NotScattered,
}

/// The architecture.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "v1model",
    blocks: &BLOCKS,
    points: &POINTS,
    slots: &SLOTS,
    requests: &REQUESTS,
    port_bits: 9,
    port_max: PORT_MAX,
    egress_port_max: PORT_MAX - 1,
    // The 9 bits of a port leave room for it, and 511 drops.
    cpu_port: 510,
    multicast_group_max: 0xffff,
};

/// In the order of [`Stage`].
const BLOCKS: [BlockInfo; 6] = [
    block(BlockRole::Parser, false),
    block(BlockRole::Control, false),
    block(BlockRole::Control, false),
    block(BlockRole::Control, true),
    block(BlockRole::Control, true),
    block(BlockRole::Deparser, true),
];

/// In the order of [`Decisions`].
const POINTS: [Point; 4] = [
    point("behind ingress", Stage::Egress as usize, false, true),
    point("behind the queues", Stage::Egress as usize, true, false),
    point("behind egress", Stage::ComputeChecksum as usize, true, false),
    point("behind the deparser", BLOCKS.len(), true, true),
];

/// In the order of [`Slot`].
const SLOTS: [SlotInfo; Slot::QueuePort as usize + 1] = [
    slot("ingress_port", Source::IngressPort),
    slot("egress_spec", Source::Packet),
    slot("egress_port", Source::QueuePort),
    slot("instance_type", Source::Packet),
    slot("packet_length", Source::IngressLength),
    slot("enq_timestamp", Source::QueueTime),
    slot("enq_qdepth", Source::QueueState),
    slot("deq_timedelta", Source::QueueState),
    slot("deq_qdepth", Source::QueueState),
    slot("ingress_global_timestamp", Source::IngressTime),
    slot("egress_global_timestamp", Source::QueueTime),
    slot("mcast_grp", Source::Packet),
    slot("egress_rid", Source::Replica),
    slot("checksum_error", Source::Packet),
    slot("parser_error", Source::Packet),
    slot("priority", Source::Packet),
    slot("clone from ingress", Source::Packet),
    slot("clone from egress", Source::Packet),
    slot("field list of the clone", Source::Packet),
    slot("clone to ingress", Source::Packet),
    slot("resubmit", Source::Packet),
    slot("recirculate", Source::Packet),
    slot("truncate", Source::Packet),
    slot("length delta", Source::Packet),
    slot("gather", Source::Packet),
    slot("release", Source::Packet),
    slot("scatter", Source::Packet),
    slot("gathered", Source::Packet),
    slot("port of the queue", Source::QueuePort),
];

const REQUESTS: [Request; 10] = [
    request(Slot::CloneIngressSession, &[Effect::ParsedCopy, Effect::Original]),
    request(Slot::CloneEgressSession, &[Effect::EgressAgain]),
    request(Slot::CloneToIngress, &[Effect::IngressAgain, Effect::CopyToIngress, Effect::Original]),
    request(Slot::Resubmit, &[Effect::IngressAgain, Effect::Original]),
    request(Slot::Recirculate, &[Effect::IngressAgain]),
    request(Slot::Gather, &[Effect::IngressAgain, Effect::Coalescing, Effect::JoinsOrSplits]),
    request(Slot::Release, &[Effect::IngressAgain, Effect::Coalescing]),
    request(Slot::Scatter, &[Effect::IngressAgain, Effect::Original, Effect::JoinsOrSplits]),
    request(Slot::McastGrp, &[Effect::Replicas]),
    request(Slot::Priority, &[]),
];

const fn request(slot: Slot, effects: &'static [Effect]) -> Request {
    Request { slot: slot as u32, by: RequestedBy::NonZero, effects }
}
