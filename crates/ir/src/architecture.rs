//! An architecture as data: its blocks, its intrinsic metadata, what a program may request of it, and its numbers.
//!
//! What enters: nothing; each architecture is one constant ([`crate::v1model::ARCHITECTURE`],
//! [`crate::psa::ARCHITECTURE`], [`crate::pna::ARCHITECTURE`]). What leaves: the properties of a program's packet
//! paths, for the planner, the switch core, the control plane and the command. Code that uses these properties works
//! for every architecture; only `lower`, which reads the package, and the architecture modules of the switch know one
//! by name.

use crate::expr::Type;
use crate::program::Program;
use crate::walk;
use crate::{BlockId, VarId, VarKind};
use base::Bits;
use base::index::Id as _;
use std::fmt;

/// Every architecture.
pub const ALL: [&Architecture; 3] =
    [&crate::v1model::ARCHITECTURE, &crate::psa::ARCHITECTURE, &crate::pna::ARCHITECTURE];

/// The number of slots for intrinsic variables, for all architectures.
pub const INTRINSIC_SLOTS: usize = 32;

/// An architecture, without the rules in the switch.
pub struct Architecture {
    /// Its name: in the text form of the IR, in P4Info, and in messages.
    pub name: &'static str,
    /// The package of its programs.
    pub package: PackageInfo,
    /// The table properties that it adds to those of the language.
    pub table_properties: &'static [&'static str],
    /// Its blocks, in the order of [`Program::blocks`].
    pub blocks: &'static [BlockInfo],
    /// The points between blocks at which it decides what becomes of a packet, in the order in which a packet passes
    /// them. [`Program::decisions`] has the decisions.
    pub points: &'static [Point],
    /// The slots of the intrinsic variables, by number.
    pub slots: &'static [SlotInfo],
    /// How many of them, from the first on, are fields of the architecture's metadata; what follows are requests.
    pub fields: usize,
    /// The slot with the error that ended the parser.
    pub parser_error: u32,
    /// The slot with the priority of a packet in the queue of its port.
    pub priority: u32,
    /// The requests that a program may make. Packets of a program without requests are only sent or dropped.
    pub requests: &'static [Request],
    /// Bits of a port number.
    pub port_bits: u32,
    /// The greatest number of a port that can have an interface.
    pub port_max: u32,
    /// The greatest number of a port that replicas, clones and packets of controllers can be sent to.
    pub egress_port_max: u32,
    /// The default port for packets to and from controllers.
    pub cpu_port: u32,
    /// The greatest number of a multicast group.
    pub multicast_group_max: u32,
}

/// The package of an architecture's programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackageInfo {
    /// Its name.
    pub name: &'static str,
    /// The fewest arguments and the most. A package of the same name with another number is the program's own.
    pub arguments: (usize, usize),
}

impl PackageInfo {
    /// Whether it is the package of this name with this many arguments.
    pub fn is(&self, name: &str, arguments: usize) -> bool {
        self.name == name && (self.arguments.0..=self.arguments.1).contains(&arguments)
    }
}

/// A block of an architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockInfo {
    /// What kind of block it is.
    pub role: BlockRole,
    /// Whether packets enter it from the queues.
    pub is_behind_queues: bool,
    /// Its parameters.
    pub params: &'static [Param],
}

/// A parameter of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// The packet that is parsed, or the one that is made.
    Packet,
    /// The packet's headers.
    Headers,
    /// The user's metadata.
    Metadata,
    /// A struct of intrinsic metadata: its fields are the intrinsic variables of their names. Those of some slots are
    /// metadata of their own here, which are never set.
    Intrinsic {
        /// These slots.
        except: &'static [u32],
    },
    /// A struct that a deparser hands to later parsers: the field list of this number keeps it.
    Handed(u32),
}

/// The role of a block of an architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockRole {
    /// A parser.
    Parser,
    /// A control.
    Control,
    /// A control that emits headers.
    Deparser,
}

/// A point between blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Its name in messages.
    pub name: &'static str,
    /// The position of the block that comes next; the number of blocks behind the last.
    pub before: usize,
    /// Whether packets pass it after they have left the queues.
    pub is_behind_queues: bool,
    /// Whether every packet's way ends there: it is sent, dropped, punted or put in a queue.
    pub ends: bool,
}

/// An intrinsic variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotInfo {
    /// Its name in messages and traces: the field of the architecture's metadata, or the request.
    pub name: &'static str,
    /// Where its value comes from.
    pub source: Source,
    /// The type of its variable, unless the program declares the field with another one.
    pub ty: Type,
}

/// Where the value of an intrinsic variable comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// From the program, or from the architecture's decisions about this packet alone. It is zero when a packet
    /// arrives.
    Packet,
    /// The same, but it is true when a packet arrives.
    True,
    /// The port on which the packet arrived.
    IngressPort,
    /// The bytes of the packet when it arrived.
    IngressLength,
    /// The time at which the packet arrived, in microseconds.
    IngressTime,
    /// The port of the queue that the packet has left.
    QueuePort,
    /// The number of a replica.
    Replica,
    /// A time that the queues write, in microseconds.
    QueueTime,
    /// Other values that the queues write: depths, and how long the packet waited. It is zero if the packet does not
    /// wait.
    QueueState,
}

impl Source {
    /// Whether the queues write it.
    pub fn is_queue(self) -> bool {
        matches!(self, Source::QueueTime | Source::QueueState)
    }
}

/// Something that a program requests by the value of an intrinsic variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The variable's slot.
    pub slot: u32,
    /// The values that request it.
    pub by: RequestedBy,
    /// Its effects.
    pub effects: &'static [Effect],
}

/// The values of a variable that are a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestedBy {
    /// All but zero.
    NonZero,
    /// This one.
    Value(u64),
}

/// The effects of a request that are visible outside of the architecture's rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The packet, or one made from it, enters ingress once more.
    IngressAgain,
    /// A copy of the packet enters ingress once more, and the packet continues.
    CopyToIngress,
    /// A copy of a packet that has left the queues enters them once more.
    EgressAgain,
    /// A copy of a packet in ingress is parsed again and enters the queues.
    ParsedCopy,
    /// Replicas go through egress one after the other.
    Replicas,
    /// The packet as it was received is needed.
    Original,
    /// The packet joins, ends or leaves a coalescing buffer that later packets see.
    Coalescing,
    /// Packets are coalesced, or split into packets.
    JoinsOrSplits,
}

impl Architecture {
    /// The blocks behind the queues.
    pub fn blocks_behind_queues(&self) -> impl Iterator<Item = BlockId> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter(|(_, block)| block.is_behind_queues).map(|(position, _)| BlockId::from_index(position))
    }

    /// The first block of a role.
    pub fn first(&self, role: BlockRole) -> Option<BlockId> {
        self.blocks.iter().position(|block| block.role == role).map(BlockId::from_index)
    }

    /// The control of ingress: the last block before the queues in which programs apply their tables.
    pub fn ingress(&self) -> Option<BlockId> {
        let is_ingress = |block: &BlockInfo| block.role == BlockRole::Control && !block.is_behind_queues;
        self.blocks.iter().rposition(is_ingress).map(BlockId::from_index)
    }

    /// The control of egress: the first block behind the queues in which programs apply their tables.
    pub fn egress(&self) -> Option<BlockId> {
        let is_egress = |block: &BlockInfo| block.role == BlockRole::Control && block.is_behind_queues;
        self.blocks.iter().position(is_egress).map(BlockId::from_index)
    }

    /// The last deparser, which writes the headers with which packets leave.
    pub fn last_deparser(&self) -> Option<BlockId> {
        self.blocks.iter().rposition(|block| block.role == BlockRole::Deparser).map(BlockId::from_index)
    }

    /// The slot of a field of the architecture's metadata.
    pub fn field(&self, name: &str) -> Option<u32> {
        self.slots[..self.fields].iter().position(|slot| slot.name == name).map(|slot| slot as u32)
    }

    /// Where the value of an intrinsic variable comes from.
    pub fn source(&self, slot: u32) -> Source {
        self.slots.get(slot as usize).map_or(Source::Packet, |slot| slot.source)
    }

    /// The slot whose value has this source.
    pub fn slot_from(&self, source: Source) -> Option<u32> {
        self.slots.iter().position(|slot| slot.source == source).map(|position| position as u32)
    }
}

impl PartialEq for Architecture {
    fn eq(&self, other: &Architecture) -> bool {
        self.name == other.name
    }
}

impl Eq for Architecture {}

impl fmt::Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Program {
    /// Whether a packet of the program may make a request with this effect.
    pub fn may_request(&self, effect: Effect) -> bool {
        self.may_make(|request| request.effects.contains(&effect))
    }

    /// Whether a packet of the program may make such a request. A part of a variable may get any value.
    pub fn may_make(&self, is_such: impl Fn(&Request) -> bool) -> bool {
        let requests: Vec<&Request> = self.architecture.requests.iter().filter(|&request| is_such(request)).collect();
        if requests.is_empty() {
            return false;
        }
        let mut found = false;
        walk::visit_writes(self, &mut |place, constant| {
            let slot = walk::slot_of(self, place);
            let is_made = |request: &&Request| Some(request.slot) == slot && request.may_be_made_by(constant);
            found |= requests.iter().any(is_made);
        });
        found
    }

    /// Whether a packet, or a copy of it other than a clone from ingress to egress, can come back to ingress or to a
    /// queue that it has left.
    pub fn sends_again(&self) -> bool {
        self.may_request(Effect::IngressAgain) || self.may_request(Effect::EgressAgain)
    }

    /// Whether the program reads or writes anything that the queues write.
    pub fn mentions_queues(&self) -> bool {
        walk::mentions_slot(self, |slot| self.architecture.source(slot).is_queue())
    }

    /// The intrinsic variable with this source, if the program has it.
    pub fn var_from(&self, source: Source) -> Option<VarId> {
        let slot = self.architecture.slot_from(source)?;
        self.vars.ids().find(|var| self.vars[*var].kind == VarKind::Intrinsic(slot))
    }
}

impl Request {
    /// Whether it may be made by setting its variable to a constant, or to a value that is not known.
    fn may_be_made_by(&self, constant: Option<&Bits>) -> bool {
        constant.is_none_or(|value| match self.by {
            RequestedBy::NonZero => !value.is_zero(),
            RequestedBy::Value(requested) => value.to_u64() == Some(requested),
        })
    }
}

/// A block for the tables of architectures.
pub(crate) const fn block(role: BlockRole, is_behind_queues: bool, params: &'static [Param]) -> BlockInfo {
    BlockInfo { role, is_behind_queues, params }
}

/// A point for the tables of architectures.
pub(crate) const fn point(name: &'static str, before: usize, is_behind_queues: bool, ends: bool) -> Point {
    Point { name, before, is_behind_queues, ends }
}

/// Declares the slots of an architecture as a table of their names in the code, types, sources, and names in the
/// architecture's metadata or, of requests, in messages.
macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident: $ty:expr, $source:ident, $name:literal;)*) => {
        /// The slots of the intrinsic variables.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
        #[repr(u32)]
        #[allow(missing_docs, reason = "fields have the names that the architecture gives them")]
        pub enum Slot {
            $($(#[$doc])* $slot,)*
        }

        impl Slot {
            /// All of them, by number.
            pub const ALL: [Slot; SLOTS.len()] = [$(Slot::$slot,)*];

            /// The type of its variable.
            pub fn ty(self) -> $crate::Type {
                SLOTS[self as usize].ty
            }

            /// The name of its field or request.
            pub fn name(self) -> &'static str {
                SLOTS[self as usize].name
            }
        }

        impl $crate::IntrinsicSlot for Slot {
            fn number(self) -> usize {
                self as usize
            }
        }

        /// In the order of [`Slot`].
        const SLOTS: &[$crate::architecture::SlotInfo] = &[$($crate::architecture::SlotInfo {
            name: $name,
            source: $crate::architecture::Source::$source,
            ty: $ty,
        },)*];

        /// A request by any value of a slot but zero.
        const fn request(
            slot: Slot,
            effects: &'static [$crate::architecture::Effect],
        ) -> $crate::architecture::Request {
            let by = $crate::architecture::RequestedBy::NonZero;
            $crate::architecture::Request { slot: slot as u32, by, effects }
        }
    };
}
pub(crate) use slots;
