//! Statements, places, parser states.

use crate::expr::{Expr, HeaderRef};
use crate::program::{
    CalculationId, CounterId, DigestId, DirectMeterId, ExternFunctionId, ExternInstanceId, FieldListId, LabelId,
    MeterId, RegisterId, RoutineId, StackId, StateId, TableId, ValueSetId, VarId,
};
use base::{Bits, Span};

/// A sequence of statements.
pub type Body = Vec<Stmt>;

/// A statement and the source it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The statement.
    pub kind: StmtKind,
    /// Where it was written.
    pub span: Span,
}

/// Something that can be assigned to.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// A variable.
    Var(VarId),
    /// A header's field; nothing happens if the header is invalid.
    Field(HeaderRef, u32),
    /// Bits `high` to `low` of a place, both included.
    Slice {
        /// The whole.
        base: Box<Place>,
        /// Highest bit.
        high: u32,
        /// Lowest bit.
        low: u32,
    },
}

/// The forms of statement. Each states the blocks in which it is allowed; unmarked ones are allowed anywhere.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `place = value`. The value has the place's width.
    Assign {
        /// Target.
        dst: Place,
        /// Value.
        src: Expr,
    },
    /// Makes a header valid: all its fields become zero if it was invalid, nothing changes if it was valid. A varbit
    /// field becomes empty.
    SetValid(HeaderRef),
    /// Makes a header invalid.
    SetInvalid(HeaderRef),
    /// Copies contents and validity of a header to another of the same type.
    CopyHeader {
        /// Target.
        dst: HeaderRef,
        /// Source.
        src: HeaderRef,
    },
    /// Gives a varbit field the length and bits of another, whose greatest length is not larger. Nothing happens if the
    /// target's header is invalid; a field of an invalid header is empty.
    CopyVarbit {
        /// Target: a header and its field.
        dst: (HeaderRef, u32),
        /// Source.
        src: (HeaderRef, u32),
    },
    /// Gives a varbit field this length and the low bits of a value. The length is limited to the greatest one and
    /// rounded down to whole bytes. Nothing happens if the header is invalid.
    SetVarbit {
        /// Target: a header and its field.
        dst: (HeaderRef, u32),
        /// The length, `Bit(32)`.
        length_bits: Expr,
        /// The bits, as wide as the field's greatest length.
        value: Expr,
    },
    /// Moves the stack's elements `count` places up; the first `count` become invalid; `next` grows, clamped to the
    /// size.
    PushFront {
        /// The stack.
        stack: StackId,
        /// Places.
        count: u32,
    },
    /// Moves the stack's elements `count` places down; the last `count` become invalid; `next` shrinks, clamped to 0.
    PopFront {
        /// The stack.
        stack: StackId,
        /// Places.
        count: u32,
    },
    /// Executes one of two bodies.
    If {
        /// A `Bool`.
        cond: Expr,
        /// If true.
        then_body: Body,
        /// If false.
        else_body: Body,
    },
    /// Executes the body of the case with the value. Values are unique constants of the width of `value`; cases do not
    /// fall through.
    Switch {
        /// The value that is compared.
        value: Expr,
        /// The cases.
        cases: Vec<SwitchCase>,
        /// If no case has the value.
        default: Body,
    },
    /// A body that [`StmtKind::Leave`] can leave: what `return`, `exit`, `break` and `continue` become.
    Block {
        /// Its name.
        label: LabelId,
        /// The body.
        body: Body,
    },
    /// A body that is repeated until it is left. More than `base::limits::LOOP_STEPS_MAX` iterations end it; they are
    /// counted over the block's whole run, so that nested loops cannot multiply.
    Loop {
        /// Its name.
        label: LabelId,
        /// The body.
        body: Body,
    },
    /// Continues after the enclosing `Block` or `Loop` of this name. In an action that a table runs, a label of the
    /// block that applies the table is allowed (`exit`): only the label `exit` of the block ([`crate::Block::exit`]).
    Leave(LabelId),
    /// Runs the routine's body.
    Call(RoutineId),
    /// Looks the table's keys up and runs the action. Controls only.
    ApplyTable {
        /// The table.
        table: TableId,
        /// Gets whether an entry matched (`Bool`).
        hit: Option<VarId>,
        /// Gets the position of the action that ran in the table's list of actions (`Bit(32)`).
        action: Option<VarId>,
    },
    /// Counts a lookup whose result is known without searching the table: its use, the direct counters of the entry or
    /// of the default action and, if an entry is hit, the time. Controls only. Programs do not contain this; it remains
    /// of a table's application whose result is known (`passes::specialise`).
    CountLookup {
        /// The table.
        table: TableId,
        /// Whether an entry is hit (`Bool`).
        hit: Expr,
        /// The handle of the entry (`Bit(32)`), if one is hit.
        entry: Expr,
    },
    /// Parser: takes a header from the packet, all or nothing; too few bytes: `PacketTooShort`; a full stack:
    /// `StackOutOfBounds` (as is any stack element that does not exist; this is checked first). With `varbit_bits`: the
    /// length of the varbit field, `Bit(32)`; not a multiple of 8: `ParserInvalidArgument`; too few bytes:
    /// `PacketTooShort`; more than its maximum: `HeaderTooShort`, in this order. An extraction to `Next` advances the
    /// stack's `next`.
    Extract {
        /// Target.
        dst: HeaderRef,
        /// Length of the varbit field in bits.
        varbit_bits: Option<Expr>,
    },
    /// Parser: skips bits; not a multiple of 8: `ParserInvalidArgument`; too few: `PacketTooShort`.
    Advance {
        /// How many, `Bit(32)`.
        bits: Expr,
    },
    /// Parser: reads ahead without moving. Checked: fewer than `offset_bits + width` bits left is `PacketTooShort`;
    /// unchecked: missing bits read as zero.
    Lookahead {
        /// Target; its width says how many bits.
        dst: Place,
        /// First bit, from the cursor.
        offset_bits: u32,
        /// Whether the length is checked.
        checked: bool,
    },
    /// Parser: if the condition is false, parsing ends with the error (a `Bit(32)`).
    Verify {
        /// A `Bool`.
        cond: Expr,
        /// The error's number.
        error: Expr,
    },
    /// Deparser: appends the header if it is valid.
    Emit(HeaderRef),
    /// Reads a cell; out of range: the target does not change.
    RegisterRead {
        /// Target, of the register's width.
        dst: Place,
        /// The array.
        register: RegisterId,
        /// The cell.
        index: Expr,
    },
    /// Writes a cell; out of range: nothing.
    RegisterWrite {
        /// The array.
        register: RegisterId,
        /// The cell.
        index: Expr,
        /// Value, of the register's width.
        value: Expr,
    },
    /// Counts the packet; out of range: nothing.
    Count {
        /// The array.
        counter: CounterId,
        /// The cell.
        index: Expr,
    },
    /// Meters the packet: 0 green, 1 yellow, 2 red; out of range: the target does not change.
    ExecuteMeter {
        /// Target, any width of `Bit`: the colour is resized to it.
        dst: Place,
        /// The array.
        meter: MeterId,
        /// The cell.
        index: Expr,
        /// The packet's colour so far (`Bit(2)`): the result is not better, and only tokens of this colour or a worse
        /// one are taken. Green means no colour.
        before: Expr,
    },
    /// Meters the packet in the cell of the entry whose action this is, or of the default action if that has rates: 0
    /// green, 1 yellow, 2 red. In a default action without rates, and outside of a table's action, the result is the
    /// colour before. The meter is that of the table.
    ExecuteDirectMeter {
        /// Target, any width of `Bit`: the colour is resized to it.
        dst: Place,
        /// The meter.
        meter: DirectMeterId,
        /// As in [`StmtKind::ExecuteMeter`].
        before: Expr,
    },
    /// Adds an entry to a table with these values of its keys, all matched exactly. The target gets whether it could
    /// be added (`Bool`): not if the table is full, has an entry with this key or cannot be changed. Packets meet the
    /// entry only after the core has published it. Controls only.
    AddEntry {
        /// Target.
        dst: Place,
        /// The table.
        table: TableId,
        /// The values of its keys, in order.
        keys: Vec<Expr>,
        /// Position of the entry's action in the table's list of actions.
        action: u32,
        /// Values of the action's parameters.
        args: Vec<Expr>,
        /// The number of the profile with the time of the entry's timer or idle timeout, `Bit(8)`.
        profile: Expr,
    },
    /// Starts the timer anew of the entry whose action this is, with the time of a profile (`Bit(8)`), or of its
    /// present one, if it has one. Nothing happens in a default action, outside of a table's action, and in a table
    /// whose entries do not expire.
    SetTimer {
        /// The number of the profile.
        profile: Option<Expr>,
    },
    /// The hash of the inputs joined (first input most significant; padded with zero bits at the end to whole bytes),
    /// resized to the target's width.
    Hash {
        /// Target.
        dst: Place,
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Inputs.
        inputs: Vec<HashInput>,
        /// Whether all bytes that the parser did not extract are appended.
        payload: bool,
    },
    /// A uniform number from `low` to `high`, both included (up to 64 bits); if `low > high` the target does not
    /// change.
    Random {
        /// Target.
        dst: Place,
        /// Least, of the target's width.
        low: Expr,
        /// Greatest, of the target's width.
        high: Expr,
    },
    /// Sends a message to the control plane.
    Digest {
        /// Which.
        digest: DigestId,
        /// The values of its fields.
        values: Vec<Expr>,
    },
    /// Logs a message; `{}` is replaced by the arguments in order.
    Log {
        /// The text.
        message: String,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// Calls a function of a plug-in. The outputs are concatenated, the first most significant; outputs that the
    /// function does not set are zero.
    CallExtern {
        /// The target of the outputs, of their total width. None if there are none.
        dst: Option<Place>,
        /// The function, or a method.
        function: ExternFunctionId,
        /// The method's object.
        instance: Option<ExternInstanceId>,
        /// The inputs in order, each of its parameter's width.
        inputs: Vec<Expr>,
    },
    /// If the condition is false, the packet is dropped, counted and reported as a failed assertion.
    Assert {
        /// A `Bool`.
        cond: Expr,
        /// The condition's text, for the report.
        text: String,
    },
    /// Decisions: the packet leaves on this port, and the decisions end.
    Send {
        /// The port, an unsigned number.
        port: Expr,
        /// The most bytes of it that leave, plus 1, or 0 for all; an unsigned number. None: all leave.
        limit: Option<Expr>,
    },
    /// Decisions: the packet enters the queue of a port, behind which it continues, and the decisions end.
    Enqueue {
        /// The port, an unsigned number.
        port: Expr,
        /// The priority of the queue, an unsigned number; the lowest is 0.
        priority: Expr,
        /// The metadata that it keeps, where others become zero; none if it keeps all.
        keeps: Option<FieldListId>,
    },
    /// Decisions: the packet ends here, and the decisions end.
    Drop(DropReason),
    /// Decisions: the core carries out what the packet requests by the variable in this slot, and clears the request.
    /// Unless that ends the packet, these decisions are made again from their start. So no variable is assigned before.
    Punt(u32),
}

/// Where decisions drop a packet: what it is counted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// Before the queues.
    Ingress,
    /// Behind the queues.
    Egress,
}

/// A case of a [`StmtKind::Switch`].
#[derive(Clone, PartialEq, Debug)]
pub struct SwitchCase {
    /// The values, any of which selects the case.
    pub values: Vec<Bits>,
    /// The body.
    pub body: Body,
}

/// One input of a hash.
#[derive(Clone, PartialEq, Debug)]
pub struct HashInput {
    /// Left out of the hash when this header is invalid.
    pub guard: Option<HeaderRef>,
    /// The value that is hashed.
    pub value: HashValue,
}

/// The value that is hashed.
#[derive(Clone, PartialEq, Debug)]
pub enum HashValue {
    /// A value.
    Expr(Expr),
    /// The present bits of a varbit field.
    Varbit(HeaderRef, u32),
}

/// Hash and checksum functions. Widths of results: 16 for the 16-bit ones, 32 for those of CRC-32, 64 for `Identity`,
/// the calculation's for `Custom`, the polynomial's degree for `Remainder`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashAlgorithm {
    /// Polynomial 0x04C11DB7 reflected, as Ethernet.
    Crc32,
    /// Polynomial 0x8005 reflected, start 0.
    Crc16,
    /// Polynomial 0x1021, start 0xFFFF, not reflected.
    CrcCcitt,
    /// Ones' complement of the ones' complement sum (RFC 1071), odd byte padded on the right.
    Csum16,
    /// 16-bit words xored, odd byte padded on the right.
    Xor16,
    /// The first 8 bytes as a number (of fewer bytes, their number).
    Identity,
    /// A CRC with the parameters that the calculation has now.
    Custom(CalculationId),
    /// As [`HashAlgorithm::Crc32`], but the first 32 bits of the data are its value for the preceding data, from which
    /// it continues.
    Crc32Continued,
    /// [`HashAlgorithm::Crc16`] in the same way.
    Crc16Continued,
    /// [`HashAlgorithm::Custom`] in the same way.
    Continued(CalculationId),
    /// The remainder of the data, a polynomial over the field of two elements whose highest power is the first bit, on
    /// division by x^`width_bits` + `polynomial`. Unlike in a CRC, the data are not multiplied by x^`width_bits`
    /// before. They are one value of whole bytes without a guard.
    Remainder {
        /// Degree of the divisor, 1 to 32.
        width_bits: u32,
        /// The divisor without its highest power, lower than 2^`width_bits`.
        polynomial: u32,
    },
}

/// A state of a parser.
#[derive(Clone, PartialEq, Debug)]
pub struct ParserState {
    /// Its name, for traces.
    pub name: String,
    /// What it does. No table or deparser statement; an error in any statement ends parsing.
    pub body: Body,
    /// Its transition.
    pub transition: Transition,
    /// Where it was written.
    pub span: Span,
}

impl ParserState {
    /// The states that it leads to, in the order of its cases.
    pub fn targets(&self) -> impl Iterator<Item = StateId> {
        let (always, cases) = match &self.transition {
            Transition::Goto(target) => (Some(target), &[][..]),
            Transition::Select { cases, .. } => (None, &cases[..]),
        };
        let targets = always.into_iter().chain(cases.iter().map(|case| &case.target));
        targets.filter_map(|target| match target {
            Target::State(id) => Some(*id),
            Target::Accept | Target::Reject => None,
        })
    }
}

/// The transition after a state.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// Always this.
    Goto(Target),
    /// The first case that matches; none: parsing ends with `NoMatch`.
    Select {
        /// The keys.
        keys: Vec<Expr>,
        /// The cases in order.
        cases: Vec<SelectCase>,
    },
}

/// The target of a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Another state.
    State(StateId),
    /// Parsing ends successfully.
    Accept,
    /// Parsing ends; the error is not changed.
    Reject,
}

/// One case of a select.
#[derive(Clone, PartialEq, Debug)]
pub struct SelectCase {
    /// One set per key; all must contain their key.
    pub sets: Vec<KeySet>,
    /// Its target.
    pub target: Target,
    /// Where it was written.
    pub span: Span,
}

/// A set of values of one key, all operands of the key's type.
#[derive(Clone, PartialEq, Debug)]
pub enum KeySet {
    /// Everything.
    Any,
    /// One value.
    Value(Expr),
    /// `key & mask == value & mask`.
    Mask(Expr, Expr),
    /// `low <= key <= high`.
    Range(Expr, Expr),
    /// The set that the control plane fills contains this key and, if its members have several, as many keys after it;
    /// the sets of those are [`KeySet::Any`].
    ValueSet(ValueSetId),
}
