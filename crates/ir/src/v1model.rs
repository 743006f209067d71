//! What `lower` and `switch` agree on for v1model: the order of the blocks and the slots of the intrinsic variables.
//!
//! The architecture's functions (`clone`, `resubmit`, ...) only raise requests, so they are assignments to intrinsic
//! variables here, and the IR needs no statement for them.

use crate::expr::Type;
use crate::program::{IntrinsicSlot, Program, VarId, VarKind};
use crate::walk::{Item, visit_block};

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

/// The slots of the intrinsic variables. The first are the fields of `standard_metadata_t`; those from
/// [`Slot::CloneIngressSession`] on are requests to the architecture, 0 if not made.
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
    /// The field list of either: the index in [`crate::Program::field_lists`] plus 1, or 0 for none. Whoever asks for a
    /// clone sets both.
    CloneList,
    /// Clone to ingress, from either: 1 without a field list, else the list's index plus 2. P4_14 has it.
    CloneToIngress,
    /// Resubmit: as `CloneToIngress`.
    Resubmit,
    /// Recirculate: as `Resubmit`.
    Recirculate,
    /// Truncate: the least length asked for plus 1.
    Truncate,
    /// Bytes that `setValid` and `setInvalid` have added to the packet in ingress, two's complement; kept only by
    /// programs that read `packet_length` in egress.
    LengthDelta,
}

impl Slot {
    /// All slots by number.
    pub const ALL: [Slot; SLOT_COUNT] = [
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
    ];
}

impl IntrinsicSlot for Slot {
    fn number(self) -> usize {
        self as usize
    }
}

/// How many slots there are.
pub const SLOT_COUNT: usize = Slot::LengthDelta as usize + 1;

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

/// `instance_type` of packets by how they came to be.
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
}

/// Whether the program reads what the queues write: depths and time stamps.
pub fn reads_queues(program: &Program) -> bool {
    let written =
        [Slot::EnqTimestamp, Slot::EnqQdepth, Slot::DeqTimedelta, Slot::DeqQdepth, Slot::EgressGlobalTimestamp];
    let is_written = |var: VarId| match program.vars[var].kind {
        VarKind::Intrinsic(slot) => written.iter().any(|&queue| queue as u32 == slot),
        _ => false,
    };
    let mut found = false;
    for block in &program.blocks {
        visit_block(program, block, &mut |item| {
            if let Item::Var(var) = item {
                found |= is_written(var);
            }
        });
    }
    found
}
