//! The interface between `lower` and `switch` for the Portable Switch Architecture: the order of the blocks, the slots
//! of the intrinsic variables, and which field list carries which of the program's structs from one pipeline to
//! another.
//!
//! `resubmit`, `clone`, `drop` and the like are fields of the output metadata, so they are intrinsic variables without
//! change. The structs that a deparser hands to a later parser (`normal_meta`, `clone_i2e_meta`, ...) are metadata
//! variables that the deparser writes and the parser reads; each has a field list, and the architecture preserves the
//! one that belongs to the packet's path.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, PackageInfo, Param, Point, Request, RequestedBy, block, point, slots,
};
use crate::expr::Type::{Bit, Bool};
use crate::program::FieldListId;
use base::index::Id as _;

/// The blocks of a PSA program by position in [`crate::Program::blocks`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the parameters of packages IngressPipeline and EgressPipeline")]
pub enum Stage {
    IngressParser,
    Ingress,
    IngressDeparser,
    EgressParser,
    Egress,
    EgressDeparser,
}

/// The points at which PSA decides, by position in [`crate::Program::decisions`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decisions {
    /// Behind ingress.
    Ingress,
    /// Behind the ingress deparser.
    IngressDeparser,
    /// Where a packet has left the queues.
    Queues,
    /// Behind the egress deparser.
    EgressDeparser,
}

slots! {
    IngressPort: Bit(32), IngressPort, "ingress_port";
    EgressPort: Bit(32), QueuePort, "egress_port";
    PacketPath: Bit(32), Packet, "packet_path";
    IngressTimestamp: Bit(64), IngressTime, "ingress_timestamp";
    EgressTimestamp: Bit(64), QueueTime, "egress_timestamp";
    ParserError: Bit(32), Packet, "parser_error";
    ClassOfService: Bit(8), Packet, "class_of_service";
    Instance: Bit(16), Replica, "instance";
    Clone: Bool, Packet, "clone";
    CloneSessionId: Bit(16), Packet, "clone_session_id";
    /// True until ingress changes it.
    Drop: Bool, True, "drop";
    Resubmit: Bool, Packet, "resubmit";
    MulticastGroup: Bit(32), Packet, "multicast_group";
}

/// The path by which a packet arrived: `PSA_PacketPath_t`, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the members of PSA_PacketPath_t")]
pub enum PacketPath {
    Normal,
    NormalUnicast,
    NormalMulticast,
    CloneI2e,
    CloneE2e,
    Resubmit,
    Recirculate,
}

/// The structs that go from a deparser to a later parser. Each has the field list of its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the parameters of the deparsers and parsers")]
pub enum Carried {
    NormalMeta,
    CloneI2eMeta,
    CloneE2eMeta,
    ResubmitMeta,
    RecirculateMeta,
}

impl Carried {
    /// All of them, in the order of their field lists.
    pub const ALL: [Carried; 5] = [
        Carried::NormalMeta,
        Carried::CloneI2eMeta,
        Carried::CloneE2eMeta,
        Carried::ResubmitMeta,
        Carried::RecirculateMeta,
    ];

    /// Its field list.
    pub fn field_list(self) -> FieldListId {
        FieldListId::from_index(self as usize)
    }
}

/// `PSA_PORT_RECIRCULATE`: packets that leave egress to this port enter ingress once more.
pub const PORT_RECIRCULATE: u32 = 0xffff_fffa;

/// `PSA_PORT_CPU`: the port to controllers.
const PORT_CPU: u32 = 0xffff_fffd;

/// The architecture.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "psa",
    package: PackageInfo { name: "PSA_Switch", arguments: (4, 4) },
    table_properties: &[
        "psa_direct_counter",
        "psa_direct_meter",
        "psa_implementation",
        "psa_empty_group_action",
        "psa_idle_timeout",
    ],
    blocks: &BLOCKS,
    points: &POINTS,
    slots: SLOTS,
    fields: SLOTS.len(),
    parser_error: Slot::ParserError as u32,
    priority: Slot::ClassOfService as u32,
    requests: &REQUESTS,
    port_bits: 32,
    port_max: u32::MAX,
    egress_port_max: u32::MAX,
    cpu_port: PORT_CPU,
    multicast_group_max: u32::MAX,
};

/// In the order of [`Stage`].
const BLOCKS: [BlockInfo; 6] = {
    use Carried::{CloneE2eMeta, CloneI2eMeta, NormalMeta, RecirculateMeta, ResubmitMeta};
    use Param::{Headers, Metadata, Packet};
    const INTRINSIC: Param = Param::Intrinsic { except: &[] };
    const NORMAL: Param = Param::Handed(NormalMeta as u32);
    const CLONE_I2E: Param = Param::Handed(CloneI2eMeta as u32);
    const CLONE_E2E: Param = Param::Handed(CloneE2eMeta as u32);
    const RESUBMIT: Param = Param::Handed(ResubmitMeta as u32);
    const RECIRCULATE: Param = Param::Handed(RecirculateMeta as u32);
    const CONTROL: &[Param] = &[Headers, Metadata, INTRINSIC, INTRINSIC];
    [
        block(BlockRole::Parser, false, &[Packet, Headers, Metadata, INTRINSIC, RESUBMIT, RECIRCULATE]),
        block(BlockRole::Control, false, CONTROL),
        block(BlockRole::Deparser, false, &[Packet, CLONE_I2E, RESUBMIT, NORMAL, Headers, Metadata, INTRINSIC]),
        block(BlockRole::Parser, true, &[Packet, Headers, Metadata, INTRINSIC, NORMAL, CLONE_I2E, CLONE_E2E]),
        block(BlockRole::Control, true, CONTROL),
        block(BlockRole::Deparser, true, &[Packet, CLONE_E2E, RECIRCULATE, Headers, Metadata, INTRINSIC, INTRINSIC]),
    ]
};

/// In the order of [`Decisions`].
const POINTS: [Point; 4] = [
    point("behind ingress", Stage::IngressDeparser as usize, false, false),
    point("behind the ingress deparser", Stage::EgressParser as usize, false, true),
    point("behind the queues", Stage::EgressParser as usize, true, false),
    point("behind the egress deparser", BLOCKS.len(), true, true),
];

const REQUESTS: [Request; 5] = [
    request(Slot::Clone, &[Effect::EgressAgain, Effect::Original]),
    request(Slot::Resubmit, &[Effect::IngressAgain, Effect::Original]),
    Request { by: RequestedBy::Value(PORT_RECIRCULATE as u64), ..request(Slot::EgressPort, &[Effect::IngressAgain]) },
    request(Slot::MulticastGroup, &[Effect::Replicas]),
    request(Slot::ClassOfService, &[]),
];
