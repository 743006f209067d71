//! The interface between `lower` and `switch` for v1model: the order of the blocks and the slots of the intrinsic
//! variables.
//!
//! The architecture's functions (`clone`, `resubmit`, ...) only set requests, so they are assignments to intrinsic
//! variables here, and the IR needs no statement for them.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, PackageInfo, Param, Point, Request, block, point, slots,
};
use crate::expr::Type::Bit;

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

impl Stage {
    /// All of them, by position.
    pub const ALL: [Stage; 6] =
        [Stage::Parser, Stage::VerifyChecksum, Stage::Ingress, Stage::Egress, Stage::ComputeChecksum, Stage::Deparser];
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

// The first are the fields of `standard_metadata_t`; those from `CloneIngressSession` on are requests to the
// architecture, 0 if not made, where nothing else is said.
slots! {
    IngressPort: Bit(9), IngressPort, "ingress_port";
    EgressSpec: Bit(9), Packet, "egress_spec";
    EgressPort: Bit(9), QueuePort, "egress_port";
    InstanceType: Bit(32), Packet, "instance_type";
    PacketLength: Bit(32), IngressLength, "packet_length";
    EnqTimestamp: Bit(32), QueueTime, "enq_timestamp";
    EnqQdepth: Bit(19), QueueState, "enq_qdepth";
    DeqTimedelta: Bit(32), QueueState, "deq_timedelta";
    DeqQdepth: Bit(19), QueueState, "deq_qdepth";
    IngressGlobalTimestamp: Bit(48), IngressTime, "ingress_global_timestamp";
    EgressGlobalTimestamp: Bit(48), QueueTime, "egress_global_timestamp";
    McastGrp: Bit(16), Packet, "mcast_grp";
    EgressRid: Bit(16), Replica, "egress_rid";
    ChecksumError: Bit(1), Packet, "checksum_error";
    ParserError: Bit(32), Packet, "parser_error";
    Priority: Bit(3), Packet, "priority";
    /// Clone from ingress to egress: the session plus 1.
    CloneIngressSession: Bit(32), Packet, "clone from ingress";
    /// Clone from egress to egress: the session plus 1.
    CloneEgressSession: Bit(32), Packet, "clone from egress";
    /// The field list of either: the index in [`crate::Program::field_lists`] plus 1, or 0 for none. Requests of clones
    /// set both variables.
    CloneList: Bit(32), Packet, "field list of the clone";
    /// Clone to ingress, from either: 1 without a field list, else the list's index plus 2. P4_14 has it.
    CloneToIngress: Bit(32), Packet, "clone to ingress";
    /// Resubmit: as `CloneToIngress`.
    Resubmit: Bit(32), Packet, "resubmit";
    /// Recirculate: as `Resubmit`.
    Recirculate: Bit(32), Packet, "recirculate";
    /// Truncate: the smallest requested length plus 1.
    Truncate: Bit(32), Packet, "truncate";
    /// Bytes that `setValid` and `setInvalid` have added to the packet in ingress, two's complement; used only by
    /// programs that read `packet_length` in egress.
    LengthDelta: Bit(32), Packet, "length delta";
    /// Coalesce in a buffer instead of leaving: [`Gather`].
    Gather: Bit(64), Packet, "gather";
    /// Release a buffer: its number plus 1.
    Release: Bit(32), Packet, "release";
    /// Split the packet: [`Scatter`].
    Scatter: Bit(64), Packet, "scatter";
    /// Not a request: the buffer that the packet was, in the upper 16 bits, and the number of packets in it; 0 for
    /// packets that were not a buffer.
    Gathered: Bit(32), Packet, "gathered";
    /// Not a request: the port of the queue that the packet has left, in programs that write `egress_port`.
    QueuePort: Bit(9), QueuePort, "port of the queue";
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

/// The greatest port.
pub const PORT_MAX: u32 = 511;

/// `egress_spec` of a packet to be dropped, unless the user chooses another port.
pub const DROP_PORT: u64 = 511;

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
    package: PackageInfo { name: "V1Switch", arguments: (6, 6) },
    table_properties: &["counters", "meters", "implementation", "support_timeout"],
    blocks: &BLOCKS,
    points: &POINTS,
    slots: SLOTS,
    fields: Slot::CloneIngressSession as usize,
    parser_error: Slot::ParserError as u32,
    priority: Slot::Priority as u32,
    requests: &REQUESTS,
    port_bits: 9,
    port_max: PORT_MAX,
    egress_port_max: PORT_MAX - 1,
    // The 9 bits of a port leave room for it, and 511 drops.
    cpu_port: 510,
    multicast_group_max: 0xffff,
};

/// In the order of [`Stage`].
const BLOCKS: [BlockInfo; 6] = {
    use Param::{Headers, Metadata, Packet};
    const STANDARD: Param = Param::Intrinsic { except: &[] };
    [
        block(BlockRole::Parser, false, &[Packet, Headers, Metadata, STANDARD]),
        block(BlockRole::Control, false, &[Headers, Metadata]),
        block(BlockRole::Control, false, &[Headers, Metadata, STANDARD]),
        block(BlockRole::Control, true, &[Headers, Metadata, STANDARD]),
        block(BlockRole::Control, true, &[Headers, Metadata]),
        block(BlockRole::Deparser, true, &[Packet, Headers]),
    ]
};

/// In the order of [`Decisions`].
const POINTS: [Point; 4] = [
    point("behind ingress", Stage::Egress as usize, false, true),
    point("behind the queues", Stage::Egress as usize, true, false),
    point("behind egress", Stage::ComputeChecksum as usize, true, false),
    point("behind the deparser", BLOCKS.len(), true, true),
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
