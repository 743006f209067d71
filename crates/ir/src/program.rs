//! A whole program.

use crate::architecture::{Architecture, BlockRole};
use crate::expr::{HeaderRef, Type};
use crate::stmt::{Body, HashAlgorithm, ParserState};
use crate::table::{Action, Table};
use base::index::Id as _;
use base::{Bits, IndexVec, MatchKind, Span, entity_id};

entity_id! {
    /// A scalar variable.
    pub struct VarId = "v";
    /// A header type.
    pub struct HeaderTypeId = "ht";
    /// A header instance.
    pub struct HeaderId = "h";
    /// A header stack.
    pub struct StackId = "stack";
    /// A block of the pipeline.
    pub struct BlockId = "block";
    /// A point between blocks.
    pub struct PointId = "point";
    /// A state of a parser block.
    pub struct StateId = "state";
    /// An action.
    pub struct ActionId = "action";
    /// A routine.
    pub struct RoutineId = "routine";
    /// A table.
    pub struct TableId = "table";
    /// A label of a `Block` or `Loop` statement.
    pub struct LabelId = "l";
    /// A register array.
    pub struct RegisterId = "register";
    /// A counter array.
    pub struct CounterId = "counter";
    /// A meter array.
    pub struct MeterId = "meter";
    /// A counter with a cell per table entry.
    pub struct DirectCounterId = "dcounter";
    /// A meter with a cell per table entry.
    pub struct DirectMeterId = "dmeter";
    /// A digest.
    pub struct DigestId = "digest";
    /// A parser value set.
    pub struct ValueSetId = "vset";
    /// A list of variables that survive a clone, resubmission or recirculation.
    pub struct FieldListId = "flist";
    /// An action profile, with or without a selector.
    pub struct ActionProfileId = "profile";
    /// A hash whose parameters the control plane sets.
    pub struct CalculationId = "calculation";
    /// A function that a plug-in implements.
    pub struct ExternFunctionId = "xfunction";
    /// An object that a plug-in makes.
    pub struct ExternInstanceId = "xinstance";
}

/// A program for an architecture.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The architecture that runs it.
    pub architecture: &'static Architecture,
    /// The port whose packets v1model drops.
    pub drop_port: u64,
    /// The ports that PNA's hosts are behind, first and last of each range; others belong to the network.
    pub host_ports: Vec<(u32, u32)>,
    /// Names of the program's errors by number; the first are [`ERROR_NAMES`].
    pub errors: Vec<String>,
    /// Scalar storage.
    pub vars: IndexVec<VarId, Var>,
    /// Header types.
    pub header_types: IndexVec<HeaderTypeId, HeaderType>,
    /// Header instances.
    pub headers: IndexVec<HeaderId, Header>,
    /// Header stacks.
    pub stacks: IndexVec<StackId, Stack>,
    /// The blocks, in the order that the architecture defines.
    pub blocks: IndexVec<BlockId, Block>,
    /// What the architecture decides about a packet at each of its points ([`Architecture::points`]), as far as the
    /// program can see or change it. Programs of which only the blocks are of interest have none.
    pub decisions: IndexVec<PointId, Body>,
    /// Code that several statements call. A routine calls only those before it.
    pub routines: IndexVec<RoutineId, Routine>,
    /// Actions that tables run (calls from controls are inlined, or become routines).
    pub actions: IndexVec<ActionId, Action>,
    /// Tables.
    pub tables: IndexVec<TableId, Table>,
    /// How many labels there are.
    pub labels: u32,
    /// Register arrays.
    pub registers: IndexVec<RegisterId, Register>,
    /// Counter arrays.
    pub counters: IndexVec<CounterId, Counter>,
    /// Meter arrays.
    pub meters: IndexVec<MeterId, Meter>,
    /// Direct counters.
    pub direct_counters: IndexVec<DirectCounterId, DirectCounter>,
    /// Direct meters.
    pub direct_meters: IndexVec<DirectMeterId, DirectMeter>,
    /// Digests.
    pub digests: IndexVec<DigestId, Digest>,
    /// Parser value sets.
    pub value_sets: IndexVec<ValueSetId, ValueSet>,
    /// Field lists.
    pub field_lists: IndexVec<FieldListId, FieldList>,
    /// Action profiles and selectors.
    pub action_profiles: IndexVec<ActionProfileId, ActionProfile>,
    /// Hashes whose parameters the control plane sets.
    pub calculations: IndexVec<CalculationId, Calculation>,
    /// Functions that a plug-in implements.
    pub extern_functions: IndexVec<ExternFunctionId, ExternFunction>,
    /// Objects that a plug-in makes.
    pub extern_instances: IndexVec<ExternInstanceId, ExternInstance>,
}

impl Program {
    /// An empty program, even without the names of errors.
    pub fn new(architecture: &'static Architecture) -> Program {
        Program {
            architecture,
            drop_port: crate::v1model::DROP_PORT,
            host_ports: Vec::new(),
            errors: Vec::new(),
            vars: IndexVec::new(),
            header_types: IndexVec::new(),
            headers: IndexVec::new(),
            stacks: IndexVec::new(),
            blocks: IndexVec::new(),
            decisions: IndexVec::new(),
            routines: IndexVec::new(),
            actions: IndexVec::new(),
            tables: IndexVec::new(),
            labels: 0,
            registers: IndexVec::new(),
            counters: IndexVec::new(),
            meters: IndexVec::new(),
            direct_counters: IndexVec::new(),
            direct_meters: IndexVec::new(),
            digests: IndexVec::new(),
            value_sets: IndexVec::new(),
            field_lists: IndexVec::new(),
            action_profiles: IndexVec::new(),
            calculations: IndexVec::new(),
            extern_functions: IndexVec::new(),
            extern_instances: IndexVec::new(),
        }
    }

    /// The type of the header that a reference refers to, whichever instance that is at run time. A stack without
    /// elements has none; the verifier rejects it.
    pub fn header_type_id(&self, header: &HeaderRef) -> HeaderTypeId {
        let id = match header {
            HeaderRef::Fixed(id) => *id,
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                self.stacks[*stack].elements[0]
            }
        };
        self.headers[id].ty
    }

    /// The role of a block; a control, if the architecture does not have it.
    pub fn role(&self, block: BlockId) -> BlockRole {
        self.architecture.blocks.get(block.index()).map_or(BlockRole::Control, |block| block.role)
    }

    /// The type of the header that a reference names.
    pub fn header_type(&self, header: &HeaderRef) -> &HeaderType {
        &self.header_types[self.header_type_id(header)]
    }
}

/// The slot of an intrinsic variable, by the architecture's numbers.
pub trait IntrinsicSlot: Copy {
    /// Its number.
    fn number(self) -> usize;
}

impl IntrinsicSlot for u32 {
    fn number(self) -> usize {
        self as usize
    }
}

/// The errors of core.p4, at the numbers that the parser statements use.
pub const ERROR_NAMES: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];
/// Number of `NoError`.
pub const ERROR_NO_ERROR: u64 = 0;
/// Number of `PacketTooShort`.
pub const ERROR_PACKET_TOO_SHORT: u64 = 1;
/// Number of `NoMatch`.
pub const ERROR_NO_MATCH: u64 = 2;
/// Number of `StackOutOfBounds`.
pub const ERROR_STACK_OUT_OF_BOUNDS: u64 = 3;
/// Number of `HeaderTooShort`.
pub const ERROR_HEADER_TOO_SHORT: u64 = 4;
/// Number of `ParserTimeout`.
pub const ERROR_PARSER_TIMEOUT: u64 = 5;
/// Number of `ParserInvalidArgument`.
pub const ERROR_PARSER_INVALID_ARGUMENT: u64 = 6;

/// A scalar variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// For people: the P4 path (`meta.nhop`); need not be unique.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its lifetime and storage.
    pub kind: VarKind,
}

/// The lifetime and storage of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VarKind {
    /// Shared with the architecture, in this slot of the packet's intrinsic variables. At most 64 bits wide.
    Intrinsic(u32),
    /// The program's metadata: lives as long as the packet's pass (ingress to egress), copied with it.
    Metadata,
    /// Lives within one block's run; used in one block (and the actions that its tables run) only; zero when the block
    /// starts.
    Local,
}

impl VarKind {
    /// Its slot, if it is shared with the architecture.
    pub fn slot(&self) -> Option<u32> {
        match self {
            VarKind::Intrinsic(slot) => Some(*slot),
            VarKind::Metadata | VarKind::Local => None,
        }
    }
}

/// A header type: fields laid out without gaps, most significant bit first, whole bytes in all.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderType {
    /// Its name.
    pub name: String,
    /// Fields in order.
    pub fields: Vec<HeaderField>,
}

/// A field of a header type.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: String,
    /// The type of its contents.
    pub ty: FieldType,
}

/// The contents of a header's field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldType {
    /// A value of fixed width.
    Fixed(Type),
    /// Up to this many bits. At most one per header type.
    Varbit(u32),
}

impl HeaderType {
    /// Bits of all fixed fields.
    pub fn fixed_width(&self) -> u32 {
        let fixed = |field: &HeaderField| match field.ty {
            FieldType::Fixed(ty) => ty.width(),
            FieldType::Varbit(_) => 0,
        };
        self.fields.iter().map(fixed).sum()
    }

    /// Position and greatest width of the varbit field.
    pub fn varbit(&self) -> Option<(usize, u32)> {
        self.fields.iter().enumerate().find_map(|(index, field)| match field.ty {
            FieldType::Varbit(max) => Some((index, max)),
            FieldType::Fixed(_) => None,
        })
    }

    /// Greatest size in bytes.
    pub fn bytes_max(&self) -> u32 {
        (self.fixed_width() + self.varbit().map_or(0, |(_, max)| max)).div_ceil(8)
    }

    /// First bit of a field, if the varbit field before it (if there is one) is empty.
    pub fn offset_bits(&self, field: usize) -> u32 {
        let fixed = |field: &HeaderField| match field.ty {
            FieldType::Fixed(ty) => ty.width(),
            FieldType::Varbit(_) => 0,
        };
        self.fields[..field].iter().map(fixed).sum()
    }
}

/// A header instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Header {
    /// For people: the P4 path (`hdr.ipv4`, `hdr.mpls[0]`).
    pub name: String,
    /// Its type.
    pub ty: HeaderTypeId,
    /// Whether it lives as long as the packet's pass; otherwise it is a local variable of one block.
    pub metadata: bool,
}

/// A header stack. Stacks of unions become one stack per member, all with the same `next`.
#[derive(Clone, PartialEq, Debug)]
pub struct Stack {
    /// For people: the P4 path.
    pub name: String,
    /// The elements, all of one type.
    pub elements: Vec<HeaderId>,
    /// The `nextIndex`, a `Bit(32)` variable.
    pub next: VarId,
}

/// A block of the pipeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Its P4 name (`MyIngress`).
    pub name: String,
    /// What it is.
    pub kind: BlockKind,
    /// The label of the `Block` statement that surrounds a control's whole body, for `exit` in actions.
    pub exit: Option<LabelId>,
}

/// Code that several statements of one block, or of the actions that its tables run, call ([`crate::StmtKind::Call`]):
/// a function or action that is too long to be inlined.
///
/// It has no parameters: the caller assigns the arguments to local variables that it reads, and copies results from
/// local variables that it writes.
#[derive(Clone, PartialEq, Debug)]
pub struct Routine {
    /// For people: its P4 name.
    pub name: String,
    /// What it does. Only what [`crate::StmtKind::may_be_in_routine`] allows; no label beyond it is left.
    pub body: Body,
    /// Where it was written.
    pub span: Span,
}

/// What a block is.
#[derive(Clone, PartialEq, Debug)]
pub enum BlockKind {
    /// A parser: a state machine.
    Parser {
        /// Where it starts.
        start: StateId,
        /// The states.
        states: IndexVec<StateId, ParserState>,
        /// The variable (`Bit(32)`) that gets the number of the error that ended parsing.
        error: VarId,
    },
    /// A control, or a deparser (the only one with `Emit`).
    Control {
        /// What it does.
        body: Body,
    },
}

/// A register array.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Control-plane name.
    pub name: String,
    /// Type of a cell.
    pub ty: Type,
    /// Widths of the values in a cell, the first most significant: one value, or those of a struct, tuple, header,
    /// union or stack. A header's fields follow its valid bit, and a varbit field is its length in 32 bits and its
    /// greatest width. None if values have no bits: then a cell is one bit that stays 0.
    pub parts_bits: Vec<u32>,
    /// Cells.
    pub size: u64,
    /// The initial value of each cell, of the type's width.
    pub initial: Bits,
    /// Whether the initial value is the number of the switch's start instead, truncated to the type's width and never
    /// 0: it differs each time a switch is started.
    pub is_start_number: bool,
}

impl Register {
    /// The bits of a value: those of a cell, unless values have none.
    pub fn value_bits(&self) -> u32 {
        if self.parts_bits.is_empty() { 0 } else { self.ty.width() }
    }
}

/// What a counter counts or a meter measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unit {
    Packets,
    Bytes,
    PacketsAndBytes,
}

/// A counter array.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    /// Control-plane name.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Cells.
    pub size: u64,
}

/// A meter array (two-rate three-colour, RFC 2698, colour-blind).
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// Control-plane name.
    pub name: String,
    /// What it measures.
    pub unit: Unit,
    /// Cells.
    pub size: u64,
}

/// A counter with a cell per entry of the table that names it.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectCounter {
    /// Control-plane name.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
}

/// A meter with a cell per entry of the table that names it.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectMeter {
    /// Control-plane name.
    pub name: String,
    /// What it measures.
    pub unit: Unit,
}

/// A message to the control plane.
#[derive(Clone, PartialEq, Debug)]
pub struct Digest {
    /// Control-plane name.
    pub name: String,
    /// Its number on the control plane (v1model: the `receiver` argument).
    pub receiver: u64,
    /// Names and types of its fields.
    pub fields: Vec<(String, Type)>,
}

/// A set that the control plane fills and a parser's select tests.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSet {
    /// Control-plane name.
    pub name: String,
    /// Name, width and match kind of each key.
    pub keys: Vec<(String, u32, MatchKind)>,
    /// The most members.
    pub size: u64,
}

/// Variables that survive a clone, resubmission or recirculation.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldList {
    /// The number that the program gives it (`@field_list(1)`).
    pub number: u64,
    /// The variables, of kind `Metadata` or `Intrinsic`.
    pub vars: Vec<VarId>,
    /// Where it was written.
    pub span: Span,
}

/// Actions with their arguments that entries share: members, and groups of members if there is a selector. The control
/// plane makes both. Tables name a profile in [`crate::Table::implementation`]; several may name the same.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionProfile {
    /// Control-plane name.
    pub name: String,
    /// The most members; 0 if the program does not say.
    pub size: u64,
    /// The selector's hash, which selects a member of a group, if entries may also refer to groups.
    pub selector: Option<HashAlgorithm>,
}

/// A hash whose parameters the control plane sets: a CRC that starts as the standard one of its width.
#[derive(Clone, PartialEq, Debug)]
pub struct Calculation {
    /// Control-plane name.
    pub name: String,
    /// Bits of the CRC: 16 or 32.
    pub width_bits: u32,
}

/// The parameters of a CRC, as catalogues of CRCs give them: polynomial and start unreflected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrcParameters {
    /// Without its highest term.
    pub polynomial: u32,
    /// The remainder at the start.
    pub initial: u32,
    /// The value with which the remainder is xored at the end.
    pub final_xor: u32,
    /// Whether the bits of each byte are processed lowest first.
    pub reflects_data: bool,
    /// Whether the bits of the remainder are reversed at the end.
    pub reflects_remainder: bool,
}

impl CrcParameters {
    /// The initial parameters of a calculation: CRC-16 (ARC), or the CRC-32 of Ethernet.
    pub fn standard(width_bits: u32) -> CrcParameters {
        let (polynomial, ones) = if width_bits == 16 { (0x8005, 0) } else { (0x04C1_1DB7, 0xFFFF_FFFF) };
        let (initial, final_xor) = (ones, ones);
        CrcParameters { polynomial, initial, final_xor, reflects_data: true, reflects_remainder: true }
    }
}
/// A function, method or constructor that the program declares `extern` and a plug-in implements.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternFunction {
    /// Its name in the plug-in.
    pub symbol: String,
    /// What it is.
    pub kind: ExternFunctionKind,
    /// Parameters in order; those of structs and headers are flattened to their fields.
    pub params: Vec<ExternParam>,
    /// What it returns, at most 64 bits wide.
    pub result: Option<Type>,
    /// Whether it is a function of its inputs alone, so that the order in which packets call it is not observable.
    pub is_pure: bool,
    /// Where it was declared.
    pub span: Span,
}

/// What a plug-in's function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternFunctionKind {
    /// A function of its own.
    Function,
    /// Makes an object.
    Constructor,
    /// A method of an object.
    Method,
}

/// A parameter of a plug-in's function.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternParam {
    /// Its P4 name; `h_f` for field `f` of parameter `h`.
    pub name: String,
    /// The direction of values.
    pub direction: ExternDirection,
    /// The type of its contents.
    pub ty: ExternType,
}

/// The direction of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ExternDirection {
    In,
    Out,
    InOut,
}

/// The kind of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExternType {
    /// A value.
    Value(Type),
    /// This text; nothing is passed at run time.
    Text(String),
    /// This object; nothing is passed at run time.
    Object(ExternInstanceId),
}

impl ExternFunction {
    /// Types of the values that go in, in order.
    pub fn inputs(&self) -> impl Iterator<Item = Type> + '_ {
        self.params.iter().filter(|param| param.direction != ExternDirection::Out).filter_map(ExternParam::value)
    }

    /// Types of the outputs, in order; the result is the last.
    pub fn outputs(&self) -> impl Iterator<Item = Type> + '_ {
        let out = self.params.iter().filter(|param| param.direction != ExternDirection::In);
        out.filter_map(ExternParam::value).chain(self.result)
    }

    /// The width of all outputs.
    pub fn output_width(&self) -> u32 {
        self.outputs().map(Type::width).fold(0, u32::saturating_add)
    }
}

impl ExternParam {
    /// The type, if it is a value.
    fn value(&self) -> Option<Type> {
        match self.ty {
            ExternType::Value(ty) => Some(ty),
            ExternType::Text(_) | ExternType::Object(_) => None,
        }
    }
}

/// An object that a plug-in makes.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternInstance {
    /// Control-plane name.
    pub name: String,
    /// Its constructor.
    pub constructor: ExternFunctionId,
    /// The constructor's inputs.
    pub args: Vec<Bits>,
}
