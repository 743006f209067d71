//! The interface between `lower` and `switch` for the Portable NIC Architecture: the order of the blocks, the points of
//! decision, and the slots of the intrinsic variables.
//!
//! All four blocks are in front of the queues: a packet is deparsed before it waits for its port. `send_to_port`,
//! `drop_packet`, `recirculate` and `mirror_packet` only request something, so `lower` turns them into assignments to
//! intrinsic variables. The same holds for the publication of entries that a packet has added
//! ([`crate::StmtKind::AddEntry`]): the core makes them visible before the next packet begins.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, Point, Request, RequestedBy, SlotInfo, Source, block, point, slot,
};
use crate::program::IntrinsicSlot;

/// The blocks of a PNA program by position in [`crate::Program::blocks`]. A program without a pre control has an empty
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the parameters of package PNA_NIC")]
pub enum Stage {
    MainParser,
    PreControl,
    MainControl,
    MainDeparser,
}

/// The points at which PNA decides, by position in [`crate::Program::decisions`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decisions {
    /// Behind the deparser.
    Deparser,
    /// Where a packet has left the queues.
    Queues,
}

/// The slots of the intrinsic variables: the fields of the `pna_..._metadata_t` structs, and what programs request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u32)]
pub enum Slot {
    /// `input_port`.
    InputPort,
    /// `direction`: [`NET_TO_HOST`] or [`HOST_TO_NET`].
    Direction,
    /// `pass`.
    Pass,
    /// `loopedback`.
    Loopedback,
    /// `recirculated`.
    Recirculated,
    /// `timestamp`.
    Timestamp,
    /// `parser_error`.
    ParserError,
    /// `class_of_service` of the output.
    ClassOfService,
    /// The argument of `send_to_port`.
    DestPort,
    /// Whether the packet is dropped: until a port is given, and after `drop_packet`.
    Drop,
    /// `recirculate`.
    Recirculate,
    /// The destination is on the side that the packet came from, so it turns round before it is sent.
    Turn,
    /// Whether the packet goes the other way than packets from its port do, because it has turned round.
    Turned,
    /// The packet has added entries to tables.
    Added,
    /// The session of mirror slot 0, plus 1; 0 for none. The other slots follow.
    Mirror0,
    /// That of slot 1.
    Mirror1,
    /// That of slot 2.
    Mirror2,
    /// That of slot 3.
    Mirror3,
}

impl IntrinsicSlot for Slot {
    fn number(self) -> usize {
        self as usize
    }
}

impl Slot {
    /// The mirror slots, by number.
    pub const MIRRORS: [Slot; 4] = [Slot::Mirror0, Slot::Mirror1, Slot::Mirror2, Slot::Mirror3];

    /// The slot of a field of the metadata structs.
    pub fn of_field(name: &str) -> Option<Slot> {
        let fields = [
            Slot::InputPort,
            Slot::Direction,
            Slot::Pass,
            Slot::Loopedback,
            Slot::Recirculated,
            Slot::Timestamp,
            Slot::ParserError,
            Slot::ClassOfService,
        ];
        fields.into_iter().find(|slot| slot.name() == name)
    }

    /// The name of its field or request.
    pub fn name(self) -> &'static str {
        SLOTS[self as usize].name
    }
}

/// `PNA_Direction_t.NET_TO_HOST`.
pub const NET_TO_HOST: u64 = 0;

/// `PNA_Direction_t.HOST_TO_NET`.
pub const HOST_TO_NET: u64 = 1;

/// `PNA_PORT_CPU`: the port to controllers, on neither side.
pub const PORT_CPU: u32 = 0xffff_fffd;

/// The architecture.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "pna",
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
const BLOCKS: [BlockInfo; 4] = [
    block(BlockRole::Parser, false),
    block(BlockRole::Control, false),
    block(BlockRole::Control, false),
    block(BlockRole::Deparser, false),
];

/// In the order of [`Decisions`].
const POINTS: [Point; 2] =
    [point("behind the deparser", BLOCKS.len(), false, true), point("behind the queues", BLOCKS.len(), true, true)];

/// In the order of [`Slot`], each with the name of its field or request.
const SLOTS: [SlotInfo; Slot::Mirror3 as usize + 1] = [
    slot("input_port", Source::IngressPort),
    slot("direction", Source::Packet),
    slot("pass", Source::Packet),
    slot("loopedback", Source::Packet),
    slot("recirculated", Source::Packet),
    slot("timestamp", Source::IngressTime),
    slot("parser_error", Source::Packet),
    slot("class_of_service", Source::Packet),
    slot("send_to_port", Source::QueuePort),
    // Until the program gives a port.
    slot("drop_packet", Source::True),
    slot("recirculate", Source::Packet),
    slot("turn", Source::Packet),
    slot("turned", Source::Packet),
    slot("add_entry", Source::Packet),
    slot("mirror_slot_0", Source::Packet),
    slot("mirror_slot_1", Source::Packet),
    slot("mirror_slot_2", Source::Packet),
    slot("mirror_slot_3", Source::Packet),
];

/// A mirrored packet may have to turn round, like any other.
const REQUESTS: [Request; 8] = [
    request(Slot::Added, &[]),
    request(Slot::Mirror0, &[Effect::IngressAgain]),
    request(Slot::Mirror1, &[Effect::IngressAgain]),
    request(Slot::Mirror2, &[Effect::IngressAgain]),
    request(Slot::Mirror3, &[Effect::IngressAgain]),
    request(Slot::Recirculate, &[Effect::IngressAgain]),
    request(Slot::Turn, &[Effect::IngressAgain]),
    request(Slot::ClassOfService, &[]),
];

const fn request(slot: Slot, effects: &'static [Effect]) -> Request {
    Request { slot: slot as u32, by: RequestedBy::NonZero, effects }
}
