//! The plan of a program: where everything lives in a packet's chunk, how keys and action data are laid out, and how
//! many packets may run together.
//!
//! * `storage`: the context: metadata variables, valid bits and offsets of headers, space for headers outside the
//!   packet.
//! * `graph`: controls as nodes cut at tables; `own_nodes`: copies of nodes for regions that would share them.
//! * `state`: which state packets could see the order of; [`sharing`]: what of it several workers need a guard for.
//! * `extracted`: what the parser tells of where headers are.
//! * `fast_path`: the way of a packet that asks for nothing but to be sent or dropped, from parser to deparser.
//! * `spelled`: action data that are copied to headers as they stand.
//! * `sums`: checksums that are verified and updated over the same fields.
//! * `walk`: one walk over all that statements mention.

mod extracted;
pub(crate) mod fast_path;
pub(crate) mod graph;
pub(crate) mod parts;
pub mod sharing;
pub(crate) mod spelled;
pub(crate) mod state;
mod storage;
pub(crate) mod sums;
mod tail_duplication;
pub(crate) mod walk;

pub(crate) use storage::{BlockPlan, MOVED_BIT, NAMED_ELEMENTS_MAX, Storage, private_params, stack_of};
pub use storage::{HeaderSlot, StackSlot};

use crate::tuning::Tuning;
use base::limits::BURST_PACKETS_MAX;
use base::{IndexVec, Span};
use ir::{BlockId, HeaderId, MatchKind, Program, StackId, StmtKind, TableId, Type, VarId};
use sharing::Sharing;
use spelled::Spelled;
use std::ops::Range;
use tables::{ActionLayout, BriefLayout, KeyField, KeyLayout, ROW_WORDS_MAX};

/// The largest context of a packet, in bytes. Every packet in flight has one.
pub const CONTEXT_BYTES_MAX: u32 = 1 << 20;

/// Entries that a table has room for whose slots and cells are taken to lie in the nearest caches.
const NEAR_ENTRIES_MAX: u64 = 256;

/// Why a program cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// Headers and metadata take too much space in each packet.
    ContextTooLarge {
        /// What they take.
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

/// Where a metadata variable lives.
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
    /// Of its key.
    pub key: KeyLayout,
    /// Whether its keys are one word and matched as they are: generated code compares them itself.
    pub(crate) is_of_words: bool,
    /// The same for keys of some more words.
    pub(crate) is_of_rows: bool,
    /// Whether they are one word, of which prefixes are matched.
    pub(crate) is_of_prefixes: bool,
    /// Whether they are narrow, too, so that generated code goes to the place of each: there is nothing to wait for.
    pub(crate) is_narrow: bool,
    /// Where generated code finds what an entry says without reading the entry.
    pub(crate) briefs: Option<BriefLayout>,
    /// Whether they are one word of a table so small that a search is worth no waiting for others; narrow ones are.
    pub(crate) is_near: bool,
    /// Of the data of its actions, by position in the table's list.
    pub actions: Vec<ActionLayout>,
    /// For each action, what is copied to headers as it stands in the entry.
    pub(crate) stores: Vec<Vec<spelled::Store>>,
}

impl TablePlan {
    /// How generated code fetches where the search for a key begins as soon as it knows the key, before a burst of them
    /// is searched: the functions that say of a table whether that is better, and that do it; none if there are none.
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
    /// Its text; `{}` stands for the next argument.
    pub message: String,
    /// Types of its arguments; each takes `ceil(width / 64)` of the words that the callback gets.
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

/// Where everything lives and how it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Bytes between [`crate::abi::Packet`] and the headroom: a multiple of the cache line.
    pub context_size: u32,
    /// The metadata variables, from the start of the chunk: what is made zero to reset a packet's metadata.
    pub metadata: Range<u32>,
    /// Where each variable of kind `Metadata` lives.
    pub vars: IndexVec<VarId, Option<VarSlot>>,
    /// Where each header lives.
    pub headers: IndexVec<HeaderId, HeaderSlot>,
    /// Where each stack lives.
    pub stacks: IndexVec<StackId, StackSlot>,
    /// The layouts of each table.
    pub tables: IndexVec<TableId, TablePlan>,
    /// The most packets that may run through the program's blocks together: 1, or [`base::limits::BURST_PACKETS_MAX`].
    pub burst_max: u32,
    /// The most packets that may run through the blocks behind the queues together, once they are in the queues.
    pub egress_burst_max: u32,
    /// What the first number of the `log` callback speaks of.
    pub log_sites: Vec<LogSite>,
    /// What the number of the `assert_failed` callback speaks of.
    pub assert_sites: Vec<AssertSite>,
    /// What it was made with.
    pub tuning: Tuning,
    /// How several workers share the program's state.
    pub sharing: Sharing,
    pub(crate) storage: Storage,
    pub(crate) blocks: IndexVec<BlockId, BlockPlan>,
    pub(crate) fast_path: Option<fast_path::FastPath>,
    /// Its part behind the queues, for replicas.
    pub(crate) replica_path: Option<fast_path::FastPath>,
}

impl Plan {
    /// Plans a program, which must have passed the verifier.
    pub fn new(program: &Program) -> Result<Plan, PlanError> {
        Plan::tuned(program, Tuning::default())
    }

    /// The same, with what was found to be best for it.
    pub fn tuned(program: &Program, tuning: Tuning) -> Result<Plan, PlanError> {
        Plan::with_storage(program, program, 0, tuning)
    }

    /// Plans a program that does what another one does as long as its tables stay as they are, so that packets which
    /// were begun with one may be gone on with by the other: everything that they carry lies at the same place. None if
    /// that cannot be.
    pub fn specialised(program: &Program, general: &Program, plan: &Plan) -> Option<Plan> {
        let special = Plan::with_storage(program, general, plan.storage.waiting_bytes, plan.tuning).ok()?;
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

    /// Plans a program with places for everything that `general` stores, and for `waiting_bytes` of what waits.
    fn with_storage(
        program: &Program,
        general: &Program,
        waiting_bytes: u32,
        tuning: Tuning,
    ) -> Result<Plan, PlanError> {
        let tables: IndexVec<TableId, TablePlan> =
            program.tables.iter().map(|table| table_plan(program, general, table)).collect();
        let built = storage::build(program, general, waiting_bytes, &|table| cut_words(&tables, tuning, table))?;
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
            // Whatever program takes the place of another for a while, the state is the same and is shared as before.
            sharing: Sharing::of(general),
            log_sites,
            assert_sites,
            storage: built.storage,
            blocks: built.blocks,
            fast_path: built.fast_path,
            replica_path: built.replica_path,
        })
    }

    /// Words of a table's key, by which it is decided whether a control is cut at the table.
    pub(crate) fn cut_words(&self, table: TableId) -> usize {
        cut_words(&self.tables, self.tuning, table)
    }

    /// Whether the program has a fast path: one function for packets that ask for nothing but to be sent or dropped.
    pub fn has_fast_path(&self) -> bool {
        self.fast_path.is_some()
    }

    /// Whether replicas of a packet have a fast path of their own from the queues on.
    pub fn has_replica_path(&self) -> bool {
        self.replica_path.is_some()
    }

    /// The most packets that run together on the fast path.
    pub fn fast_path_burst_max(&self) -> u32 {
        self.tuning.burst_packets.clamp(1, BURST_PACKETS_MAX as u32)
    }

    /// Whether the fast path ends behind a punted packet, so that the core
    /// takes it to its end before the next one begins.
    pub fn stops_at_punt(&self) -> bool {
        self.fast_path.as_ref().is_some_and(|fast_path| fast_path.in_turn.is_some())
    }

    /// Whether packets on the fast path are worked on where their bytes lie, which need not be in a chunk.
    pub fn is_in_place(&self) -> bool {
        self.fast_path.as_ref().is_some_and(|fast_path| fast_path.in_place)
    }

    /// Bytes before a packet's first one that may be written on the fast path, since headers are moved in place.
    pub fn room_bytes(&self) -> u32 {
        if self.fast_path.as_ref().is_some_and(|fast_path| fast_path.moves) { self.storage.scratch_bytes } else { 0 }
    }

    /// Bytes at a packet's begin behind which the fast path writes nothing before the packet has been through
    /// ingress, where it works in place, that is certain and they are few: who keeps these has the packet as it was
    /// received.
    pub fn written_bytes_max(&self) -> Option<u32> {
        self.fast_path.as_ref().filter(|fast_path| fast_path.in_place)?.written_bytes_max
    }

    /// Offset of the headroom from the start of the chunk: [`crate::abi::Received::data`] is never less.
    pub fn headroom_offset(&self) -> u32 {
        size_of::<crate::abi::Packet>() as u32 + self.context_size
    }
}

/// A table's key as the match engines know it. Generated code stores keys by the layout of these fields, so whoever
/// makes the engine's table must take them from here.
pub fn key_fields(table: &ir::Table) -> Vec<KeyField> {
    let field = |key: &ir::Key| KeyField {
        name: key.name.clone(),
        width_bits: key.expr.ty.width(),
        kind: match key.kind {
            MatchKind::Exact => tables::MatchKind::Exact,
            MatchKind::Lpm => tables::MatchKind::Lpm,
            MatchKind::Ternary => tables::MatchKind::Ternary,
            MatchKind::Range => tables::MatchKind::Range,
            MatchKind::Optional => tables::MatchKind::Optional,
        },
    };
    table.keys.iter().map(field).collect()
}

/// Widths of the parameters of an action in a table's list, in bits: generated code reads action data by their layout.
pub fn param_widths_bits(program: &Program, listed: &ir::TableAction) -> Vec<u32> {
    let params = &program.actions[listed.action].params;
    params.iter().map(|&param| program.vars[param].ty.width()).collect()
}

/// Positions of the parameters that stand in the table's entries once more, spelled in network order, because
/// generated code copies them to headers ([`tables::ActionLayout`]).
pub fn spelled_params(program: &Program, table: &ir::Table, listed: &ir::TableAction) -> Vec<usize> {
    spelled::spelled(program, table, listed).params
}

/// A key that takes more words than any burst has room for keeps its table from being cut at: that is also so where a
/// search is few loads, of what lies near.
fn cut_words(tables: &IndexVec<TableId, TablePlan>, tuning: Tuning, table: TableId) -> usize {
    if tuning.cuts && !tables[table].is_near { tables[table].key.words() } else { 1 << 20 }
}

/// The layouts are those of the general program, by which the entries are stored.
fn table_plan(program: &Program, general: &Program, table: &ir::Table) -> TablePlan {
    let spelled: Vec<Spelled> = table.actions.iter().map(|listed| spelled::spelled(general, table, listed)).collect();
    let layout = |(listed, spelled): (&ir::TableAction, &Spelled)| {
        ActionLayout::new(&param_widths_bits(general, listed), &spelled.params)
    };
    let stores =
        |(listed, stored): (&ir::TableAction, &Spelled)| spelled::spelled(program, table, listed).stores_of(stored);
    let key = KeyLayout::new(&key_fields(table));
    let is_exact = table.keys.iter().all(|key| key.kind == MatchKind::Exact);
    let (is_of_words, is_narrow) = (key.words() == 1 && is_exact, key.is_narrow() && is_exact);
    TablePlan {
        is_of_words,
        is_of_rows: is_exact && (2..=ROW_WORDS_MAX).contains(&key.words()),
        is_of_prefixes: key.words() == 1 && matches!(&table.keys[..], [ir::Key { kind: MatchKind::Lpm, .. }]),
        is_narrow,
        is_near: is_narrow || is_of_words && table.size <= NEAR_ENTRIES_MAX,
        briefs: if is_of_words { brief_layout(general, table) } else { None },
        key,
        actions: table.actions.iter().zip(&spelled).map(layout).collect(),
        stores: table.actions.iter().zip(&spelled).map(stores).collect(),
    }
}

/// How slots say in brief what entries run. None if that does not fit, or if something is kept for each entry, whose
/// number is not told then.
fn brief_layout(general: &Program, table: &ir::Table) -> Option<BriefLayout> {
    let is_counted = !table.direct_counters.is_empty() || table.direct_meter.is_some() || table.support_timeout;
    let widths: Vec<Vec<u32>> = table.actions.iter().map(|listed| param_widths_bits(general, listed)).collect();
    BriefLayout::new(&widths).filter(|_| !is_counted && table.implementation.is_none())
}
