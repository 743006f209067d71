//! The steps of a packet's processing as events.
//!
//! Events borrow the data that they describe, so that a tracer that ignores them costs little. Each event comes with
//! the source position of the statement that caused it.

use crate::host::Lookup;
use crate::state::HeaderState;
use base::{Bits, Span};
use ir::{
    ActionId, BlockId, CounterId, DigestId, DirectCounterId, DirectMeterId, ExternFunctionId, HashAlgorithm, HeaderId,
    LabelId, MeterId, Place, RegisterId, StackId, StateId, TableId, Target, VarId,
};

/// A step of a packet's processing.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the ids and values of what the variant says")]
pub enum Event<'a> {
    /// A block starts.
    BlockEntered(BlockId),
    /// The parser enters a state.
    StateEntered { block: BlockId, state: StateId },
    /// A header was extracted from byte `offset_bytes` of the packet.
    Extracted { header: HeaderId, contents: &'a HeaderState, offset_bytes: usize },
    /// The parser skipped bytes.
    Advanced { bytes: usize },
    /// A select evaluated its keys. `chosen` is the case that matched and its target; `None` if no case matched.
    Selected { keys: &'a [Bits], chosen: Option<(usize, Target)> },
    /// Parsing ended with the error of this number.
    ParserError { error: u64 },
    /// Parsing ended with `Accept` or `Reject`.
    ParserDone { accepted: bool },
    /// A table was looked up.
    TableApplied { table: TableId, keys: &'a [Bits], lookup: &'a Lookup },
    /// The direct counter of an entry, or of the default action, counted the packet.
    DirectCounted { counter: DirectCounterId, entry: Option<u64> },
    /// The direct meter of an entry, or of the default action, coloured the packet.
    DirectMetered { meter: DirectMeterId, entry: Option<u64>, colour: u8 },
    /// An action runs with these values of its parameters.
    ActionEntered { action: ActionId, args: &'a [Bits] },
    /// A value was written to a place (by an assignment or by a statement that has a result). It is not kept if the
    /// place is in an invalid header, or in an element outside of its stack.
    Assigned { place: &'a Place, value: &'a Bits, is_kept: bool },
    /// A result of a table's application was written to a variable.
    VarSet { var: VarId, value: &'a Bits },
    /// A header became valid or invalid.
    ValiditySet { header: HeaderId, valid: bool },
    /// A header was copied. `src` is `None` if the source was an element outside its stack.
    HeaderCopied { dst: HeaderId, src: Option<HeaderId> },
    /// A value was written to a varbit field. It is not kept if the header is invalid.
    VarbitCopied { header: HeaderId, field: u32, value: &'a Bits, is_kept: bool },
    /// A stack was pushed (`up`) or popped.
    StackMoved { stack: StackId, count: u32, up: bool },
    /// An `if` evaluated its condition.
    Branched { taken: bool },
    /// A `switch` chose this case, or its default if there is none. `label` is the position of the value among those
    /// of all cases.
    Switched { value: &'a Bits, case: Option<usize>, label: Option<usize> },
    /// A block or loop was left by its label.
    Left { label: LabelId },
    /// A loop has used up its iterations.
    LoopExhausted { label: LabelId },
    /// A valid header was emitted.
    Emitted { header: HeaderId, bytes: &'a [u8] },
    /// An invalid header was not emitted.
    EmitSkipped { header: HeaderId },
    /// A register's cell was read; `value` is `None` if the cell does not exist.
    RegisterRead { register: RegisterId, index: &'a Bits, value: Option<&'a Bits> },
    /// A register's cell was written.
    RegisterWritten { register: RegisterId, index: &'a Bits, value: &'a Bits },
    /// A counter counted the packet.
    Counted { counter: CounterId, index: &'a Bits },
    /// A meter coloured the packet; `colour` is `None` if the cell does not exist.
    Metered { meter: MeterId, index: &'a Bits, colour: Option<u8> },
    /// A hash was computed over these bytes.
    Hashed { algorithm: HashAlgorithm, bytes: &'a [u8], value: &'a Bits },
    /// The packet added an entry to a table, or could not.
    EntryAdded { table: TableId, keys: &'a [Bits], action: u32, args: &'a [Bits], is_added: bool },
    /// The timer of an entry started anew, with the time of a profile if that is given.
    TimerSet { table: TableId, entry: u64, profile: Option<u8> },
    /// A digest was sent to the control plane.
    Digested { digest: DigestId, values: &'a [Bits] },
    /// A message was logged.
    Logged { message: &'a str },
    /// A plug-in's function was called.
    ExternCalled { function: ExternFunctionId, inputs: &'a [Bits], outputs: &'a Bits },
    /// An assertion failed.
    AssertFailed { text: &'a str },
}

/// Receives the steps of a packet.
pub trait Tracer {
    /// Reports a step at this source position ([`Span::NONE`] if it has none).
    fn event(&mut self, span: Span, event: Event<'_>);
}

/// A tracer that ignores all events.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoTrace;

impl Tracer for NoTrace {
    fn event(&mut self, _span: Span, _event: Event<'_>) {}
}
