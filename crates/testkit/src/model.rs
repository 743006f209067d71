//! Random programs that move structured values, and their results: an oracle that shares no code with the compiler.
//!
//! What enters: a seeded `Rng`. What leaves: a P4 program as text, and its output for given packets. While
//! [`crate::calculation`] is about operators on numbers, this module is about places: headers, stacks, unions,
//! structs and arrays that are copied in and out of functions, actions, parsers and controls while arguments overlap;
//! indices whose calculation has side effects; tables whose keys and arguments have side effects; and jumps out of
//! all of these. The output comes from evaluating the model's own tree by the text of the specification (evaluation
//! from left to right, copy-in and copy-out). It therefore also exposes faults of the checker or the lowering, which
//! the interpreter and native code share.
//!
//! What the specification leaves open is defined as in the project: a field of an invalid header of the packet reads
//! as zero and ignores assignments, one of the metadata keeps what it is given, and a header that becomes valid starts
//! with zeros. Where a result depends on an invalid header in a variable or parameter, which may be either, there is
//! none. No index is out of range, and undefined values are not read.
//!
//! The modules: `make` generates models, `text` writes them as P4, `meaning` evaluates them on the values of `value`.

mod make;
mod meaning;
mod text;
mod value;

use crate::calculation::Ty as Scalar;
use base::Rng;
use num_bigint::BigInt;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Ty {
    Scalar(Scalar),
    /// A header, struct or union: the number of its declaration.
    Declared(usize),
    /// A header stack, or an array of another type.
    Array(Box<Ty>, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Header,
    Struct,
    Union,
}

#[derive(Clone, Debug)]
struct Declared {
    name: String,
    shape: Shape,
    fields: Vec<(String, Ty)>,
}

/// The number of a variable or parameter. It is unique, wherever the variable is declared.
type VarId = usize;

/// The headers of the packet.
const HEADERS: VarId = 0;

/// The metadata of the program.
const METADATA: VarId = 1;

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Ty,
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
struct Place {
    var: VarId,
    steps: Vec<Step>,
    ty: Ty,
}

#[derive(Clone, Debug)]
enum Step {
    Field(usize),
    Element(Box<Expr>),
    /// A slice of a number of this type: the high and the low bit.
    Slice(Scalar, u32, u32),
}

#[derive(Clone, Debug)]
struct Expr {
    ty: Ty,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Constant(BigInt),
    Read(Place),
    Unary(&'static str, Box<Expr>),
    /// An operator on numbers.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `==` if the first is true, else `!=`; on values of any type.
    Same(bool, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(usize, Arguments),
    IsValid(Place),
    /// A valid header, a struct or an array, from its parts. The first is whether they are written with their
    /// names.
    List(bool, Vec<Expr>),
    /// An invalid header, or a union without a valid member.
    Invalid,
    /// The next bits of the packet.
    Lookahead,
    /// Applies a table: whether it hits if the second is true, else whether it misses.
    Hit(usize, bool),
}

#[derive(Clone, Debug)]
enum Argument {
    In(Expr),
    Place(Place),
}

/// The arguments of a call as written, each with the position of its parameter. If these are not the first parameters
/// in order, the arguments are written with names. A parameter without an argument has a default value.
type Arguments = Vec<(usize, Argument)>;

#[derive(Clone, Debug)]
enum Stmt {
    Assign(Place, Expr),
    Compound(&'static str, Place, Expr),
    /// A variable. Without a value, headers and unions start invalid.
    Local(VarId, Option<Expr>),
    /// `setValid` or `setInvalid`.
    SetValid(Place, bool),
    /// `push_front` or `pop_front`.
    Move(Place, bool, u32),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Applies a table. If the first is true, the first body is for a hit, else for a miss.
    IfHit(usize, bool, Vec<Stmt>, Vec<Stmt>),
    /// The cases with their labels (`None`: `default`). A case without a body falls through to the next one.
    Switch(Expr, Vec<(Option<BigInt>, Option<Vec<Stmt>>)>),
    /// The same for the action that a table runs, by its position in the table's list.
    SwitchRun(usize, Vec<(Option<usize>, Option<Vec<Stmt>>)>),
    /// A variable that takes the values from the first to the second number.
    ForIn(VarId, u32, u32, Vec<Stmt>),
    /// A variable that grows from 0 while it is below the number and the condition holds; the body, then the update.
    For(VarId, u32, Option<Expr>, Vec<Stmt>, Vec<Stmt>),
    Call(usize, Arguments),
    Apply(usize),
    Extract(Place),
    Return(Option<Expr>),
    Exit,
    Break,
    Continue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    /// The data of an action.
    None,
    In,
    Out,
    InOut,
}

/// The kind of a callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    Function,
    Action,
    Parser,
    Control,
}

/// A function, action, parser or control.
#[derive(Clone, Debug)]
struct Callee {
    code: Code,
    name: String,
    params: Vec<(Direction, VarId)>,
    /// Default values of parameters.
    defaults: Vec<(VarId, Expr)>,
    returns: Option<Ty>,
    /// Variables of a control.
    locals: Vec<(VarId, Option<Expr>)>,
    /// The parsers or controls that it instantiates.
    instances: Vec<usize>,
    actions: Vec<usize>,
    tables: Vec<usize>,
    body: Vec<Stmt>,
    /// In a parser, the `select` after the body.
    select: Option<Select>,
}

impl Callee {
    fn new(code: Code, name: String, params: Vec<(Direction, VarId)>) -> Callee {
        Callee {
            code,
            name,
            params,
            defaults: Vec::new(),
            returns: None,
            locals: Vec::new(),
            instances: Vec::new(),
            actions: Vec::new(),
            tables: Vec::new(),
            body: Vec::new(),
            select: None,
        }
    }
}

/// The `select` of a parser's first state: the keys, and for each case the key sets and the next state. Each state
/// continues with the one after it. Parsing ends after the last one, and if no case matches (the last case always
/// matches).
#[derive(Clone, Debug)]
struct Select {
    keys: Vec<Expr>,
    cases: Vec<(Vec<KeySet>, usize)>,
    states: Vec<Vec<Stmt>>,
}

/// The set of values of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
enum KeySet {
    Any,
    Value(BigInt),
    Mask(BigInt, BigInt),
    Range(BigInt, BigInt),
}

#[derive(Clone, Debug)]
struct Table {
    name: String,
    /// The keys with their match kinds.
    keys: Vec<(Expr, &'static str)>,
    /// Actions with the arguments of their directional parameters.
    actions: Vec<(usize, Arguments)>,
    /// Key sets, the action's position, its data. The first entry that matches wins.
    entries: Vec<(Vec<KeySet>, ActionCall)>,
    /// `None`: `NoAction`.
    default: Option<ActionCall>,
}

/// A position in a table's list of actions, and the action's data.
#[derive(Clone, Debug)]
struct ActionCall {
    action: usize,
    data: Vec<Expr>,
}

/// A program with its meaning.
#[derive(Clone, Debug)]
pub struct Model {
    types: Vec<Declared>,
    vars: Vec<Variable>,
    callees: Vec<Callee>,
    tables: Vec<Table>,
    /// The blocks of the architecture that are not empty.
    parser: usize,
    ingress: usize,
    egress: usize,
}

impl Model {
    /// Generates a model whose ingress has roughly this many statements.
    pub fn random(rng: &mut Rng, statements: u32) -> Model {
        make::model(rng, statements)
    }

    /// The P4 program. Packets leave on port 1.
    pub fn text(&self) -> String {
        text::program(self)
    }

    /// A packet that is long enough for the parser.
    pub fn packet(&self, rng: &mut Rng) -> Vec<u8> {
        let mut bytes = vec![0; self.headers_bytes() + PAYLOAD_BYTES];
        rng.fill(&mut bytes);
        // Small numbers are more often equal to each other and to the tables' entries.
        for byte in &mut bytes {
            match rng.below(6) {
                0 | 1 => *byte &= 0x03,
                2 => *byte = 0xff,
                _ => {}
            }
        }
        bytes
    }

    /// The output for a packet; `None` if the packet is too short for the parser, or the output is not certain.
    pub fn result(&self, packet: &[u8]) -> Option<Vec<u8>> {
        meaning::result(self, packet, None)
    }

    /// The output of a compiler with this fault. If it differs from the right one, the model detects the fault.
    pub fn result_of_fault(&self, packet: &[u8], fault: Fault) -> Option<Vec<u8>> {
        meaning::result(self, packet, Some(fault))
    }

    /// The size of all headers in bytes.
    fn headers_bytes(&self) -> usize {
        self.width(&self.vars[HEADERS].ty) as usize / 8
    }

    /// The total number of bits in a value.
    fn width(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Scalar(scalar) => scalar.width(),
            Ty::Declared(number) => self.types[*number].fields.iter().map(|(_, ty)| self.width(ty)).sum(),
            Ty::Array(element, size) => size * self.width(element),
        }
    }

    fn shape(&self, ty: &Ty) -> Option<Shape> {
        match ty {
            Ty::Declared(number) => Some(self.types[*number].shape),
            Ty::Scalar(_) | Ty::Array(..) => None,
        }
    }

    fn is_header(&self, ty: &Ty) -> bool {
        self.shape(ty) == Some(Shape::Header)
    }

    /// The type of a part of a value.
    fn part(&self, ty: &Ty, step: &Step) -> Ty {
        match (ty, step) {
            (_, Step::Slice(_, high, low)) => Ty::Scalar(Scalar::Bit(high - low + 1)),
            (Ty::Declared(number), Step::Field(field)) => self.types[*number].fields[*field].1.clone(),
            (Ty::Array(element, _), _) => (**element).clone(),
            _ => ty.clone(),
        }
    }
}

/// A fault that a compiler might have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The value of an assignment is evaluated before the indices of its target.
    ValueBeforePlace,
    /// The value of a compound assignment is evaluated before the target is read.
    CompoundReadsLate,
    /// An `inout` argument is read after all arguments have been evaluated.
    InOutReadLate,
    /// An `in` argument that is a plain read is read after all arguments have been evaluated.
    InReadLate,
    /// Arguments are evaluated from right to left.
    ArgumentsBackwards,
    /// Arguments are copied out from right to left.
    CopyOutBackwards,
    /// The indices of an argument are evaluated again when it is copied out.
    PlaceAtCopyOut,
    /// Arguments of a callee that ends by `exit` are not copied out.
    ExitCopiesNothing,
    /// The right operand is evaluated first.
    RightBeforeLeft,
    /// A left operand that is a plain read is read after the right one has been evaluated.
    LeftReadLate,
    /// Both operands of `&&` and `||` are evaluated.
    BothOperands,
    /// Keys of tables are evaluated from right to left.
    KeysBackwards,
    /// An element of a list that is a plain read is read after the others have been evaluated.
    ListReadLate,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 13] = [
        Fault::ValueBeforePlace,
        Fault::CompoundReadsLate,
        Fault::InOutReadLate,
        Fault::InReadLate,
        Fault::ArgumentsBackwards,
        Fault::CopyOutBackwards,
        Fault::PlaceAtCopyOut,
        Fault::ExitCopiesNothing,
        Fault::RightBeforeLeft,
        Fault::LeftReadLate,
        Fault::BothOperands,
        Fault::KeysBackwards,
        Fault::ListReadLate,
    ];
}

/// The payload in bytes, which the first states of the main parser extract.
const PAYLOAD_BYTES: usize = 160;
