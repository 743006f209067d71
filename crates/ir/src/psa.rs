//! The interface between `lower` and `switch` for the Portable Switch Architecture: the order of the blocks, the slots
//! of the intrinsic variables, and which field list carries which of the program's structs from one pipeline to
//! another.
//!
//! `resubmit`, `clone`, `drop` and the like are fields of the output metadata, so they are intrinsic variables without
//! change. The structs that a deparser hands to a later parser (`normal_meta`, `clone_i2e_meta`, ...) are metadata
//! variables that the deparser writes and the parser reads; each has a field list, and the architecture preserves the
//! one that belongs to the packet's path.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, Point, Request, RequestedBy, SlotInfo, Source, block, point, slot,
};
use crate::program::{FieldListId, IntrinsicSlot};
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

/// The slots of the intrinsic variables: the fields of the `psa_..._metadata_t` structs. Fields of one name in several
/// structs have one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u32)]
#[allow(missing_docs, reason = "the fields of the psa_..._metadata_t structs")]
pub enum Slot {
    IngressPort,
    EgressPort,
    PacketPath,
    IngressTimestamp,
    EgressTimestamp,
    ParserError,
    ClassOfService,
    Instance,
    Clone,
    CloneSessionId,
    Drop,
    Resubmit,
    MulticastGroup,
}

impl IntrinsicSlot for Slot {
    fn number(self) -> usize {
        self as usize
    }
}

impl Slot {
    /// The slot of a field of the metadata structs.
    pub fn of_field(name: &str) -> Option<Slot> {
        let position = SLOTS.iter().position(|slot| slot.name == name)?;
        ALL.get(position).copied()
    }

    /// The name of its field.
    pub fn name(self) -> &'static str {
        SLOTS[self as usize].name
    }
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
    blocks: &BLOCKS,
    points: &POINTS,
    slots: &SLOTS,
    requests: &REQUESTS,
    port_bits: 32,
    port_max: u32::MAX,
    egress_port_max: u32::MAX,
    cpu_port: PORT_CPU,
    multicast_group_max: u32::MAX,
};

/// In the order of [`Stage`].
const BLOCKS: [BlockInfo; 6] = [
    block(BlockRole::Parser, false),
    block(BlockRole::Control, false),
    block(BlockRole::Deparser, false),
    block(BlockRole::Parser, true),
    block(BlockRole::Control, true),
    block(BlockRole::Deparser, true),
];

/// In the order of [`Decisions`].
const POINTS: [Point; 4] = [
    point("behind ingress", Stage::IngressDeparser as usize, false, false),
    point("behind the ingress deparser", Stage::EgressParser as usize, false, true),
    point("behind the queues", Stage::EgressParser as usize, true, false),
    point("behind the egress deparser", BLOCKS.len(), true, true),
];

const SLOT_COUNT: usize = Slot::MulticastGroup as usize + 1;

/// The slots by number.
const ALL: [Slot; SLOT_COUNT] = [
    Slot::IngressPort,
    Slot::EgressPort,
    Slot::PacketPath,
    Slot::IngressTimestamp,
    Slot::EgressTimestamp,
    Slot::ParserError,
    Slot::ClassOfService,
    Slot::Instance,
    Slot::Clone,
    Slot::CloneSessionId,
    Slot::Drop,
    Slot::Resubmit,
    Slot::MulticastGroup,
];

/// In the order of [`Slot`], each with the name of its field.
const SLOTS: [SlotInfo; SLOT_COUNT] = [
    slot("ingress_port", Source::IngressPort),
    slot("egress_port", Source::QueuePort),
    slot("packet_path", Source::Packet),
    slot("ingress_timestamp", Source::IngressTime),
    slot("egress_timestamp", Source::QueueTime),
    slot("parser_error", Source::Packet),
    slot("class_of_service", Source::Packet),
    slot("instance", Source::Replica),
    slot("clone", Source::Packet),
    slot("clone_session_id", Source::Packet),
    // Until ingress says otherwise.
    slot("drop", Source::True),
    slot("resubmit", Source::Packet),
    slot("multicast_group", Source::Packet),
];

const REQUESTS: [Request; 5] = [
    request(Slot::Clone, RequestedBy::NonZero, &[Effect::EgressAgain, Effect::Original]),
    request(Slot::Resubmit, RequestedBy::NonZero, &[Effect::IngressAgain, Effect::Original]),
    request(Slot::EgressPort, RequestedBy::Value(PORT_RECIRCULATE as u64), &[Effect::IngressAgain]),
    request(Slot::MulticastGroup, RequestedBy::NonZero, &[Effect::Replicas]),
    request(Slot::ClassOfService, RequestedBy::NonZero, &[]),
];

const fn request(slot: Slot, by: RequestedBy, effects: &'static [Effect]) -> Request {
    Request { slot: slot as u32, by, effects }
}
