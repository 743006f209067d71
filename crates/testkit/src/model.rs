//! Random programs that move structured values about, and what they make of a packet: an oracle that shares nothing
//! with the compiler.
//!
//! What enters: a seeded `Rng`. What leaves: a P4 program as text, and the bytes that become of given bytes. Where
//! [`crate::calculation`] is about operators on numbers, this is about places: headers, stacks, unions, structures and
//! arrays that are copied in and out of functions, actions, parsers and controls while arguments overlap, indices that
//! are calculated with effects, tables whose keys and arguments have effects, and jumps out of all of it. The bytes
//! come from walking the model's own tree by the words of the specification (evaluation from left to right, copy-in
//! and copy-out), so that a fault of the checker or the lowering is seen, which the interpreter and native code share.
//!
//! What the specification leaves open is settled as the project does: a field of an invalid header reads as zero and
//! ignores what is assigned to it, and a header that becomes valid starts with zeros. No index is out of range, and
//! what has no value is not read.
//!
//! The way through: `make` makes models, `text` writes them as P4, `meaning` carries them out on the values of `value`.

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
    /// A header, structure or union: the number of its declaration.
    Declared(usize),
    /// A header stack, or an array of something else.
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

/// The number of a variable or parameter: no two have the same, wherever they are declared.
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
    /// Of a number of this type: high and low.
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
    /// Of numbers.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `==`, or `!=` if not the first, of values of any type.
    Same(bool, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(usize, Arguments),
    IsValid(Place),
    /// A valid header, a structure or an array, from its parts; whether they are written with their names.
    List(bool, Vec<Expr>),
    /// An invalid header, or a union without a valid member.
    Invalid,
    /// The next bits of the packet.
    Lookahead,
    /// Whether a table that is applied finds an entry, or whether it does not if not the second.
    Hit(usize, bool),
}

#[derive(Clone, Debug)]
enum Argument {
    In(Expr),
    Place(Place),
}

/// The arguments of a call as they are written, each with the position of its parameter. Where those are not the first
/// ones in order, the arguments are written with names. A parameter without an argument has a default value.
type Arguments = Vec<(usize, Argument)>;

#[derive(Clone, Debug)]
enum Stmt {
    Assign(Place, Expr),
    Compound(&'static str, Place, Expr),
    /// Without a value: headers and unions start invalid.
    Local(VarId, Option<Expr>),
    /// `setValid` or `setInvalid`.
    SetValid(Place, bool),
    /// `push_front` or `pop_front`.
    Move(Place, bool, u32),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Applies the table; whether the first body is for a hit.
    IfHit(usize, bool, Vec<Stmt>, Vec<Stmt>),
    /// Labels of each case; none: `default`. Cases without a body fall through to the next.
    Switch(Expr, Vec<(Option<BigInt>, Option<Vec<Stmt>>)>),
    /// The same for the action that a table runs, by its position in the table's list.
    SwitchRun(usize, Vec<(Option<usize>, Option<Vec<Stmt>>)>),
    /// A variable that takes the values from the first to the second.
    ForIn(VarId, u32, u32, Vec<Stmt>),
    /// A variable that grows from 0 while it is below the number and the condition holds; then what is done with it.
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
    /// Data of an action.
    None,
    In,
    Out,
    InOut,
}

/// What kind of code something is.
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
    /// Parsers or controls that it has instances of.
    instances: Vec<usize>,
    actions: Vec<usize>,
    tables: Vec<usize>,
    body: Vec<Stmt>,
    /// Of a parser, what follows the body.
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

/// What follows the first state of a parser: the keys, the sets of each case with the state that it leads to. A state
/// goes on to the one after it; after the last, and where no case matches (the last matches always), parsing ends.
#[derive(Clone, Debug)]
struct Select {
    keys: Vec<Expr>,
    cases: Vec<(Vec<KeySet>, usize)>,
    states: Vec<Vec<Stmt>>,
}

/// A set of values of a key.
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
    /// Each with its match kind.
    keys: Vec<(Expr, &'static str)>,
    /// Actions with the arguments of their parameters that have a direction.
    actions: Vec<(usize, Arguments)>,
    /// Sets of the keys, the position of the action, its data. The first that matches wins.
    entries: Vec<(Vec<KeySet>, ActionCall)>,
    /// None: `NoAction`.
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
    /// The blocks of the architecture that do something.
    parser: usize,
    ingress: usize,
    egress: usize,
}

impl Model {
    /// A model whose ingress has roughly so many statements.
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
        // Small numbers meet each other and the tables' entries more often.
        for byte in &mut bytes {
            match rng.below(6) {
                0 | 1 => *byte &= 0x03,
                2 => *byte = 0xff,
                _ => {}
            }
        }
        bytes
    }

    /// What becomes of a packet; nothing if the parser finds it too short.
    pub fn result(&self, packet: &[u8]) -> Option<Vec<u8>> {
        meaning::result(self, packet, None)
    }

    /// The same if a compiler had this fault: where it differs from the right result, the model tells the fault.
    pub fn result_of_fault(&self, packet: &[u8], fault: Fault) -> Option<Vec<u8>> {
        meaning::result(self, packet, Some(fault))
    }

    /// The bytes of all headers.
    fn headers_bytes(&self) -> usize {
        self.width(&self.vars[HEADERS].ty) as usize / 8
    }

    /// Bits of all that a value has in it.
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
    /// The value of an assignment is calculated before the indices of its place.
    ValueBeforePlace,
    /// The value of a compound assignment is calculated before what it is added to is read.
    CompoundReadsLate,
    /// An `inout` argument is read when all arguments have been calculated.
    InOutReadLate,
    /// An `in` argument that is only read is read when all arguments have been calculated.
    InReadLate,
    /// Arguments are calculated from right to left.
    ArgumentsBackwards,
    /// Arguments are copied out from right to left.
    CopyOutBackwards,
    /// The indices of an argument are calculated once more when it is copied out.
    PlaceAtCopyOut,
    /// What `exit` leaves is not copied out.
    ExitCopiesNothing,
    /// The right operand is calculated first.
    RightBeforeLeft,
    /// The left operand, if it is only read, is read after the right one has been calculated.
    LeftReadLate,
    /// Both operands of `&&` and `||` are calculated.
    BothOperands,
    /// Keys of tables are calculated from right to left.
    KeysBackwards,
    /// A field of a list that is only read is read after the others have been calculated.
    ListReadLate,
}

impl Fault {
    /// All of them.
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

/// Bytes after the headers that the first states of the main parser take.
const PAYLOAD_BYTES: usize = 160;
