//! The interface between `lower` and `switch` for the Portable NIC Architecture: the order of the blocks, the points of
//! decision, and the slots of the intrinsic variables.
//!
//! All four blocks are in front of the queues: a packet is deparsed before it waits for its port. `send_to_port`,
//! `drop_packet`, `recirculate` and `mirror_packet` only request something, so `lower` turns them into assignments to
//! intrinsic variables. The same holds for the publication of entries that a packet has added
//! ([`crate::StmtKind::AddEntry`]): the core makes them visible before the next packet begins.

use crate::architecture::{
    Architecture, BlockInfo, BlockRole, Effect, PackageInfo, Param, Point, Request, block, point, slots,
};
use crate::expr::Type::{Bit, Bool};

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

slots! {
    InputPort: Bit(32), IngressPort, "input_port";
    /// [`NET_TO_HOST`] or [`HOST_TO_NET`].
    Direction: Bit(32), Packet, "direction";
    Pass: Bit(3), Packet, "pass";
    Loopedback: Bool, Packet, "loopedback";
    Recirculated: Bool, Packet, "recirculated";
    Timestamp: Bit(64), IngressTime, "timestamp";
    ParserError: Bit(32), Packet, "parser_error";
    /// That of the output.
    ClassOfService: Bit(8), Packet, "class_of_service";
    /// The argument of `send_to_port`.
    DestPort: Bit(32), QueuePort, "send_to_port";
    /// Whether the packet is dropped: until a port is given, and after `drop_packet`.
    Drop: Bool, True, "drop_packet";
    Recirculate: Bool, Packet, "recirculate";
    /// The destination is on the side that the packet came from, so it turns round before it is sent.
    Turn: Bool, Packet, "turn";
    /// Whether the packet goes the other way than packets from its port do, because it has turned round.
    Turned: Bool, Packet, "turned";
    /// The packet has added entries to tables.
    Added: Bool, Packet, "add_entry";
    /// The session of mirror slot 0, plus 1; 0 for none. The other slots follow.
    Mirror0: Bit(32), Packet, "mirror_slot_0";
    Mirror1: Bit(32), Packet, "mirror_slot_1";
    Mirror2: Bit(32), Packet, "mirror_slot_2";
    Mirror3: Bit(32), Packet, "mirror_slot_3";
}

impl Slot {
    /// The mirror slots, by number.
    pub const MIRRORS: [Slot; 4] = [Slot::Mirror0, Slot::Mirror1, Slot::Mirror2, Slot::Mirror3];
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
    package: PackageInfo { name: "PNA_NIC", arguments: (3, 4) },
    table_properties: &[
        "add_on_miss",
        "default_idle_timeout_for_data_plane_added_entries",
        "idle_timeout_with_auto_delete",
        "pna_direct_counter",
        "pna_direct_meter",
        "pna_empty_group_action",
        "pna_idle_timeout",
        "pna_implementation",
    ],
    blocks: &BLOCKS,
    points: &POINTS,
    slots: SLOTS,
    fields: Slot::DestPort as usize,
    parser_error: Slot::ParserError as u32,
    priority: Slot::ClassOfService as u32,
    requests: &REQUESTS,
    port_bits: 32,
    port_max: u32::MAX,
    egress_port_max: u32::MAX,
    cpu_port: PORT_CPU,
    multicast_group_max: u32::MAX,
};

/// In the order of [`Stage`]. Packets arrive without a class of service.
const BLOCKS: [BlockInfo; 4] = {
    use Param::{Headers, Metadata, Packet};
    const INPUT: Param = Param::Intrinsic { except: &[Slot::ClassOfService as u32] };
    const OUTPUT: Param = Param::Intrinsic { except: &[] };
    [
        block(BlockRole::Parser, false, &[Packet, Headers, Metadata, INPUT]),
        block(BlockRole::Control, false, &[Headers, Metadata, INPUT, OUTPUT]),
        block(BlockRole::Control, false, &[Headers, Metadata, INPUT, OUTPUT]),
        block(BlockRole::Deparser, false, &[Packet, Headers, Metadata, OUTPUT]),
    ]
};

/// In the order of [`Decisions`].
const POINTS: [Point; 2] =
    [point("behind the deparser", BLOCKS.len(), false, true), point("behind the queues", BLOCKS.len(), true, true)];

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
