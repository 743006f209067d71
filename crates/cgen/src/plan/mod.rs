//! The plan of a program: where everything is stored in a packet's chunk, how keys and action data are laid out, and
//! how many packets may run together.
//!
//! * `storage`: the context: metadata variables, valid bits and offsets of headers, space for headers outside the
//!   packet.
//! * `graph`: controls as nodes split at tables; `tail_duplication`: copies of nodes for batch stages that would share
//!   them.
//! * `state`: state whose order of use packets can observe; [`sharing`]: the part of it for which workers need a guard.
//! * `extracted`: what the parser determines about the places of headers.
//! * `fast_path`: one path from parser to deparser for packets that are only sent or dropped.
//! * `between`: what the architecture decides between blocks, for such packets.
//! * `reparse`: packets that are deparsed behind ingress and parsed again, without either.
//! * `pre_encoded`: action data that are copied to headers as they are stored.
//! * `checksums`: checksums that are verified and updated over the same fields.
//! * `walk`: one walk over all that statements mention.

mod between;
pub(crate) mod checksums;
pub(crate) mod extracted;
pub(crate) mod fast_path;
pub(crate) mod graph;
pub(crate) mod outcomes;
pub(crate) mod parts;
pub(crate) mod pre_encoded;
mod reparse;
pub mod sharing;
pub(crate) mod state;
mod storage;
mod tail_duplication;
pub(crate) mod walk;

pub(crate) use storage::{BlockPlan, MOVED_BIT, NAMED_ELEMENTS_MAX, Storage, private_params, stack_of};
pub use storage::{HeaderSlot, StackSlot};

use crate::tuning::Tuning;
use base::limits::BURST_PACKETS_MAX;
use base::{IndexVec, MatchKind, Span};
use ir::{BlockId, HeaderId, Program, StackId, StmtKind, TableId, Type, VarId};
use pre_encoded::PreEncoded;
use sharing::Sharing;
use std::ops::Range;
use tables::{ActionLayout, KeyField, KeyLayout, PackedLayout, ROW_WORDS_MAX};

/// The largest context of a packet, in bytes. Every packet in flight has one.
pub const CONTEXT_BYTES_MAX: u32 = 1 << 20;

/// The largest size of a table, in entries, whose slots and cells are assumed to fit the nearest caches.
const NEAR_ENTRIES_MAX: u64 = 256;

/// Why a program cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// Headers and metadata take too much space in each packet's chunk.
    ContextTooLarge {
        /// The space that they take.
        bytes: u64,
    },
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlanError::ContextTooLarge { bytes } => write!(
                f,
                "headers and metadata of one packet take {bytes} bytes, more than the {CONTEXT_BYTES_MAX} that native code \
                 allows; use smaller header stacks or fewer wide variables"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

/// Where a metadata variable is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VarSlot {
    /// First byte, from the start of the chunk.
    pub offset: u32,
    /// Bytes, the value in the machine's byte order: 1, 2, 4, 8 or (limbs, lowest first) a multiple of 8.
    pub bytes: u32,
    /// Width in bits; the bits above are zero.
    pub width_bits: u32,
}

/// The layouts of a table.
#[derive(Clone, Debug)]
pub struct TablePlan {
    /// The layout of its key.
    pub key: KeyLayout,
    /// Whether its keys are one word and matched exactly: generated code compares them itself.
    pub(crate) is_of_words: bool,
    /// The same for keys of a few words.
    pub(crate) is_of_rows: bool,
    /// Whether its keys are one word, of which prefixes are matched.
    pub(crate) is_of_prefixes: bool,
    /// Whether its keys are also so narrow that each has a slot of its own, which generated code indexes without a
    /// search.
    pub(crate) is_narrow: bool,
    /// Where generated code finds an entry's action and data without reading the entry.
    pub(crate) packed_results: Option<PackedLayout>,
    /// Whether the table has keys of one word and is so small that looking up a burst at once does not pay. Narrow
    /// tables are.
    pub(crate) is_near: bool,
    /// The layouts of its actions' data, by position in the table's list.
    pub actions: Vec<ActionLayout>,
    /// For each action, the pre-encoded data that are copied from the entry to headers.
    pub(crate) stores: Vec<Vec<pre_encoded::Store>>,
}

impl TablePlan {
    /// How generated code prefetches the first slot of a search as soon as it knows the key, before it searches a burst
    /// of keys: the function that returns whether that pays for a table, and the one that does it. None for tables
    /// without them.
    pub(crate) fn fetch(&self) -> Option<[&'static str; 2]> {
        match self {
            TablePlan { is_of_words: true, .. } => Some(["ws_is_far", "ws_fetch_word"]),
            TablePlan { is_of_prefixes: true, .. } => Some(["ws_is_far_root", "ws_fetch_root"]),
            _ => None,
        }
    }
}

/// A `log_msg` in the program.
#[derive(Clone, PartialEq, Debug)]
pub struct LogSite {
    /// Its text; `{}` is replaced by the next argument.
    pub message: String,
    /// Types of its arguments; each takes `ceil(width / 64)` of the words that are passed to the callback.
    pub args: Vec<Type>,
    /// Where it was written.
    pub span: Span,
}

/// An `assert` in the program.
#[derive(Clone, PartialEq, Debug)]
pub struct AssertSite {
    /// Its condition's text.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

/// Where everything is stored and how it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Bytes between [`crate::abi::Packet`] and the headroom: a multiple of the cache line.
    pub context_size: u32,
    /// The metadata variables, from the start of the chunk: the range that is zeroed to reset a packet's metadata.
    pub metadata: Range<u32>,
    /// Where each variable of kind `Metadata` is stored.
    pub vars: IndexVec<VarId, Option<VarSlot>>,
    /// Where each header is stored.
    pub headers: IndexVec<HeaderId, HeaderSlot>,
    /// Where each stack is stored.
    pub stacks: IndexVec<StackId, StackSlot>,
    /// The layouts of each table.
    pub tables: IndexVec<TableId, TablePlan>,
    /// The most packets that may run through the program's blocks together: 1, or [`base::limits::BURST_PACKETS_MAX`].
    pub burst_max: u32,
    /// The most packets that may run together through the blocks behind the queues, once they are in the queues.
    pub egress_burst_max: u32,
    /// The sites that the first number of the `log` callback indexes.
    pub log_sites: Vec<LogSite>,
    /// The sites that the number of the `assert_failed` callback indexes.
    pub assert_sites: Vec<AssertSite>,
    /// The tuning that it was made with.
    pub tuning: Tuning,
    /// How several workers share the program's state.
    pub sharing: Sharing,
    pub(crate) storage: Storage,
    pub(crate) blocks: IndexVec<BlockId, BlockPlan>,
    /// Points at which the program decides.
    pub(crate) points: usize,
    pub(crate) fast_path: Option<fast_path::FastPath>,
    /// Why there is none.
    pub(crate) no_fast_path: Option<fast_path::NoFastPath>,
    /// The fast path for packets on a further pass.
    pub(crate) again_path: Option<fast_path::FastPath>,
    /// The part of the fast path behind the queues, for replicas.
    pub(crate) replica_path: Option<fast_path::FastPath>,
}

impl Plan {
    /// Plans a program, which must have passed the verifier.
    pub fn new(program: &Program) -> Result<Plan, PlanError> {
        Plan::tuned(program, Tuning::default())
    }

    /// The same, with a tuning that was measured for it.
    pub fn tuned(program: &Program, tuning: Tuning) -> Result<Plan, PlanError> {
        Plan::with_storage(program, program, 0, tuning)
    }

    /// Plans a program that is equivalent to `general` as long as its tables do not change, so that a packet that one
    /// of them has begun can be continued by the other: everything that it carries is at the same place. None if that
    /// is impossible.
    pub fn specialised(program: &Program, general: &Program, plan: &Plan) -> Option<Plan> {
        let special = Plan::with_storage(program, general, plan.storage.spilled_bytes, plan.tuning).ok()?;
        let count = plan.vars.len();
        let is_same = special.context_size == plan.context_size
            && special.metadata == plan.metadata
            && special.vars.iter().take(count).eq(plan.vars.iter())
            && special.vars.iter().skip(count).all(Option::is_none)
            && special.headers.iter().eq(plan.headers.iter())
            && special.stacks.iter().eq(plan.stacks.iter())
            && special.storage == plan.storage;
        is_same.then_some(special)
    }

    /// Plans a program with places for everything that `general` stores, and a spill area of at least `spilled_bytes`.
    fn with_storage(
        program: &Program,
        general: &Program,
        spilled_bytes: u32,
        tuning: Tuning,
    ) -> Result<Plan, PlanError> {
        let tables: IndexVec<TableId, TablePlan> =
            program.tables.iter().map(|table| table_plan(program, general, table)).collect();
        let built = storage::build(program, general, spilled_bytes, &|table| cut_words(&tables, tuning, table))?;
        let (mut log_sites, mut assert_sites) = (Vec::new(), Vec::new());
        state::walk_program(program, &mut |stmt| match &stmt.kind {
            StmtKind::Log { message, args } => {
                let args = args.iter().map(|arg| arg.ty).collect();
                log_sites.push(LogSite { message: message.clone(), args, span: stmt.span });
            }
            StmtKind::Assert { text, .. } => assert_sites.push(AssertSite { text: text.clone(), span: stmt.span }),
            _ => {}
        });
        Ok(Plan {
            context_size: built.context_size,
            metadata: built.metadata,
            vars: built.vars,
            headers: built.headers,
            stacks: built.stacks,
            tables,
            burst_max: state::burst_max(program).min(tuning.burst_packets.max(1)),
            egress_burst_max: state::egress_burst_max(program).min(tuning.burst_packets.max(1)),
            tuning,
            // A specialised program has the state of the general one and shares it likewise.
            sharing: Sharing::of(general),
            log_sites,
            assert_sites,
            storage: built.storage,
            blocks: built.blocks,
            points: program.decisions.len(),
            no_fast_path: built.fast_path.as_ref().err().copied(),
            fast_path: built.fast_path.ok(),
            again_path: built.again_path,
            replica_path: built.replica_path,
        })
    }

    /// Words of a table's key, which decide whether a control is split at the table.
    pub(crate) fn cut_words(&self, table: TableId) -> usize {
        cut_words(&self.tables, self.tuning, table)
    }

    /// Whether the program has a fast path: one function for packets that are only sent or dropped.
    #[inline]
    pub fn has_fast_path(&self) -> bool {
        self.fast_path.is_some()
    }

    /// Whether packets on a further pass have a fast path of their own.
    #[inline]
    pub fn has_again_path(&self) -> bool {
        self.again_path.is_some()
    }

    /// Whether replicas of a packet have a fast path of their own from the queues on.
    #[inline]
    pub fn has_replica_path(&self) -> bool {
        self.replica_path.is_some()
    }

    /// The most packets that run together on the fast path.
    #[inline]
    pub fn fast_path_burst_max(&self) -> u32 {
        self.tuning.burst_packets.clamp(1, BURST_PACKETS_MAX as u32)
    }

    /// Whether the fast path returns after a punted packet, so that the core completes it before the next one begins.
    #[inline]
    pub fn stops_at_punt(&self) -> bool {
        self.fast_path.as_ref().is_some_and(|fast_path| fast_path.run_to_completion.is_some())
    }

    /// Whether the fast path processes packets where their bytes lie, which need not be in a chunk.
    #[inline]
    pub fn is_in_place(&self) -> bool {
        self.fast_path.as_ref().is_some_and(|fast_path| fast_path.in_place)
    }

    /// Bytes of headroom that the fast path may write, because it relocates headers in place.
    #[inline]
    pub fn headroom_bytes(&self) -> u32 {
        if self.fast_path.as_ref().is_some_and(|fast_path| fast_path.moves) { self.storage.scratch_bytes } else { 0 }
    }

    /// How many of a packet's first bytes the fast path may write before the packet has been through ingress: a copy of
    /// these is enough to restore the packet as it was received. None if it does not work in place, or if they are
    /// unknown or many.
    #[inline]
    pub fn written_bytes_max(&self) -> Option<u32> {
        self.fast_path.as_ref().filter(|fast_path| fast_path.in_place)?.written_bytes_max
    }

    /// Offset of the headroom from the start of the chunk: [`crate::abi::Received::data`] is never less.
    pub fn headroom_offset(&self) -> u32 {
        size_of::<crate::abi::Packet>() as u32 + self.context_size
    }
}

/// A table's key in the terms of the match engines. Generated code stores keys by the layout of these fields, so the
/// engine's table must be made from them.
pub fn key_fields(table: &ir::Table) -> Vec<KeyField> {
    let field = |key: &ir::Key| KeyField { name: key.name.clone(), width_bits: key.expr.ty.width(), kind: key.kind };
    table.keys.iter().map(field).collect()
}

/// Widths of the parameters of an action in a table's list, in bits. They determine the layout of action data.
pub fn param_widths_bits(program: &Program, listed: &ir::TableAction) -> Vec<u32> {
    let params = &program.actions[listed.action].params;
    params.iter().map(|&param| program.vars[param].ty.width()).collect()
}

/// Positions of the parameters that the table's entries also hold pre-encoded, in network order, because generated code
/// copies them to headers ([`tables::ActionLayout`]).
pub fn pre_encoded_params(program: &Program, table: &ir::Table, listed: &ir::TableAction) -> Vec<usize> {
    pre_encoded::pre_encoded(program, table, listed).params
}

/// Words of a table's key. For a table that is looked up packet by packet, because its search is a few loads from the
/// nearest caches, it is more than fits any burst, so that no control is split there.
fn cut_words(tables: &IndexVec<TableId, TablePlan>, tuning: Tuning, table: TableId) -> usize {
    if tuning.cuts && !tables[table].is_near { tables[table].key.words() } else { 1 << 20 }
}

/// Plans a table. The layouts are those of the general program, which the entries are stored in.
fn table_plan(program: &Program, general: &Program, table: &ir::Table) -> TablePlan {
    let pre_encoded: Vec<PreEncoded> =
        table.actions.iter().map(|listed| pre_encoded::pre_encoded(general, table, listed)).collect();
    let layout = |(listed, pre_encoded): (&ir::TableAction, &PreEncoded)| {
        ActionLayout::new(&param_widths_bits(general, listed), &pre_encoded.params)
    };
    let stores = |(listed, stored): (&ir::TableAction, &PreEncoded)| {
        pre_encoded::pre_encoded(program, table, listed).stores_of(stored)
    };
    let key = KeyLayout::new(&key_fields(table));
    let is_exact = table.keys.iter().all(|key| key.kind == MatchKind::Exact);
    let (is_of_words, is_narrow) = (key.words() == 1 && is_exact, key.is_narrow() && is_exact);
    TablePlan {
        is_of_words,
        is_of_rows: is_exact && (2..=ROW_WORDS_MAX).contains(&key.words()),
        is_of_prefixes: key.words() == 1 && matches!(&table.keys[..], [ir::Key { kind: MatchKind::Lpm, .. }]),
        is_narrow,
        is_near: is_narrow || is_of_words && table.size <= NEAR_ENTRIES_MAX,
        packed_results: if is_of_words { packed_layout(general, table) } else { None },
        key,
        actions: table.actions.iter().zip(&pre_encoded).map(layout).collect(),
        stores: table.actions.iter().zip(&pre_encoded).map(stores).collect(),
    }
}

/// How slots hold packed results. None if they do not fit, or if the program has state for each entry: a packed result
/// lacks the entry's number.
fn packed_layout(general: &Program, table: &ir::Table) -> Option<PackedLayout> {
    let is_timed = table.support_timeout || table.expires;
    let is_counted = !table.direct_counters.is_empty() || table.direct_meter.is_some() || is_timed;
    let widths: Vec<Vec<u32>> = table.actions.iter().map(|listed| param_widths_bits(general, listed)).collect();
    PackedLayout::new(&widths).filter(|_| !is_counted && table.implementation.is_none())
}
