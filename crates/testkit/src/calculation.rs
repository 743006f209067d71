//! Random calculations with known results: an oracle that shares no code with the compiler.
//!
//! What enters: a seeded `Rng`. What leaves: the text of a P4 program that computes with the fields of a header, and
//! the result for given fields. The result comes from evaluating the calculation's own tree with integers of any
//! size. It therefore also exposes faults that the interpreter and native code share: in constant folding by the
//! checker or the lowering, in the order of evaluation, in copying arguments in and out.
//!
//! The modules: `make` generates calculations, `text` writes them as P4, `meaning` evaluates them.

mod make;
mod meaning;
pub(crate) mod operators;
pub(crate) mod text;

use base::Rng;
use num_bigint::BigInt;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    Bool,
    Bit(u32),
    Int(u32),
}

impl Ty {
    pub(crate) fn width(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::Bit(width) | Ty::Int(width) => width,
        }
    }
}

/// The number of a variable, field, constant or parameter. It is unique, wherever the variable is declared.
type VarId = usize;

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Ty,
}

#[derive(Clone, Debug)]
struct Expr {
    ty: Ty,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A literal.
    Constant(BigInt),
    /// A calculation with `int`s that is already evaluated: its text and its value, cast to the type.
    Whole(String, BigInt),
    Var(VarId),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    /// The high and the low bit.
    Slice(Box<Expr>, u32, u32),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The number of the function, and the arguments.
    Call(usize, Vec<Argument>),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
struct Place {
    var: VarId,
    /// The high and the low bit.
    slice: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
enum Argument {
    In(Expr),
    Place(Place),
}

#[derive(Clone, Debug)]
enum Stmt {
    Assign(Place, Expr),
    Compound(&'static str, Place, Expr),
    Local(VarId, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Cases with labels (`None`: `default`). A case without a body falls through to the next one.
    Switch(Expr, Vec<(Option<BigInt>, Option<Vec<Stmt>>)>),
    /// A variable that takes the values from the first to the second number.
    For(VarId, u32, u32, Vec<Stmt>),
    Call(usize, Vec<Argument>),
    Return(Option<Expr>),
    Exit,
    Break,
    Continue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    In,
    Out,
    InOut,
}

/// A function or action.
#[derive(Clone, Debug)]
struct Callee {
    name: String,
    is_action: bool,
    params: Vec<(Direction, VarId)>,
    returns: Option<Ty>,
    body: Vec<Stmt>,
}

/// A calculation with the fields of a header.
#[derive(Clone, Debug)]
pub struct Calculation {
    vars: Vec<Variable>,
    /// The fields of the header, in order. Together they are a whole number of bytes.
    fields: Vec<VarId>,
    /// Constants of the program, in order.
    constants: Vec<(VarId, Expr)>,
    callees: Vec<Callee>,
    /// Variables of the control.
    locals: Vec<(VarId, Expr)>,
    body: Vec<Stmt>,
}

impl Calculation {
    /// Generates a calculation with roughly this many statements.
    pub fn random(rng: &mut Rng, statements: u32) -> Calculation {
        make::calculation(rng, statements)
    }

    /// The P4 program. Packets leave on port 1.
    pub fn text(&self) -> String {
        text::program(self)
    }

    /// The size of the header in bytes.
    pub fn header_bytes(&self) -> usize {
        let bits: u32 = self.fields.iter().map(|field| self.vars[*field].ty.width()).sum();
        bits as usize / 8
    }

    /// The header after the calculation.
    pub fn result(&self, header: &[u8]) -> Vec<u8> {
        meaning::result(self, header)
    }
}
