//! What `lower` and `switch` agree on for the Portable Switch Architecture: the order of the blocks, the slots of the
//! intrinsic variables, and which field list carries which of the program's structs from one pipeline to another.
//!
//! `resubmit`, `clone`, `drop` and the like are fields of the output metadata, so they are intrinsic variables as they
//! stand. The structs that a deparser hands to a later parser (`normal_meta`, `clone_i2e_meta`, ...) are metadata
//! variables that the deparser writes and the parser reads; each has a field list, and the architecture preserves the
//! one that belongs to the packet's path.

use crate::expr::Expr;
use crate::program::{FieldListId, IntrinsicSlot, Program};
use crate::stmt::{Place, StmtKind};
use crate::walk;
use base::index::Id as _;

/// The blocks of a PSA program by position in [`Program::blocks`].
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

/// How many slots there are.
pub const SLOT_COUNT: usize = Slot::MulticastGroup as usize + 1;

impl IntrinsicSlot for Slot {
    fn number(self) -> usize {
        self as usize
    }
}

/// Name and slot of each field of the metadata structs.
pub const INTRINSIC_METADATA: [(&str, Slot); SLOT_COUNT] = [
    ("ingress_port", Slot::IngressPort),
    ("egress_port", Slot::EgressPort),
    ("packet_path", Slot::PacketPath),
    ("ingress_timestamp", Slot::IngressTimestamp),
    ("egress_timestamp", Slot::EgressTimestamp),
    ("parser_error", Slot::ParserError),
    ("class_of_service", Slot::ClassOfService),
    ("instance", Slot::Instance),
    ("clone", Slot::Clone),
    ("clone_session_id", Slot::CloneSessionId),
    ("drop", Slot::Drop),
    ("resubmit", Slot::Resubmit),
    ("multicast_group", Slot::MulticastGroup),
];

/// How a packet came to where it is: `PSA_PacketPath_t`, by number.
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

/// `PSA_PORT_RECIRCULATE`: what leaves egress for it enters ingress once more.
pub const PORT_RECIRCULATE: u32 = 0xffff_fffa;

/// Whether a packet of the program, or a copy of it, may enter a block that it has left: the program clones, resubmits,
/// or chooses a port that may be that of recirculation.
pub fn passes_again(program: &Program) -> bool {
    let mut again = false;
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |statement| {
            let (Some(dst), kind) = (statement.kind.dst(), &statement.kind) else { return };
            again |= match walk::slot_of(program, dst) {
                Some(slot) if slot == Slot::Clone as u32 || slot == Slot::Resubmit as u32 => {
                    !matches!(kind, StmtKind::Assign { src, .. } if constant(src) == Some(0))
                }
                Some(slot) if slot == Slot::EgressPort as u32 => {
                    let port = match kind {
                        StmtKind::Assign { dst: Place::Var(_), src } => constant(src),
                        _ => None,
                    };
                    port.is_none_or(|port| port == u64::from(PORT_RECIRCULATE))
                }
                _ => false,
            };
        });
    }
    again
}

/// Whether the program reads the time at which a packet left its queue.
pub fn reads_egress_time(program: &Program) -> bool {
    walk::mentions_slot(program, |slot| slot == Slot::EgressTimestamp as u32)
}

fn constant(expr: &Expr) -> Option<u64> {
    expr.as_const().and_then(|value| value.to_u64())
}
