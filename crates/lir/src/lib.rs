//! The low IR: what generated code does for a packet, as statements over the packet's state.
//!
//! It stands between the planner's decisions and C. What enters it: the code of a block or of the fast path, generated
//! once by `cgen`. What leaves: the same code with what its passes found, which `cgen` prints as C statement by
//! statement.
//!
//! * A [`Unit`] is the code of one function over a burst. It has [batch stages](Stage), each with a loop over the
//!   packets that reach it, and a stage has [nodes](Node). A packet goes from node to node of its stage ([`Stmt::Go`]),
//!   to a node of a later stage ([`Stmt::Pass`]), where it is looked up in a table that all packets of the burst are
//!   looked up in together ([`Stmt::LookUp`]), or it ends ([`Stmt::End`], [`Stmt::Punt`], [`Stmt::Leave`]).
//! * Within a stage, each part of a packet's [state](StatePart) is a variable: the program's variables, words of valid
//!   bits, pointers to headers, the sums of incremental checksums. Between stages it is where [`Unit::saved`] says, if
//!   it is live ([`passes`]).
//! * Fields are loads and stores from a header's pointer, by functions of the runtime (`runtime/c`). Expressions have
//!   no side effects, except calls in [`Stmt::Eval`] and the callbacks of the environment.
//!
//! [`text`] prints and reads units, [`verify`](mod@verify) checks them.

mod build;
pub mod passes;
pub mod text;
mod types;
pub mod verify;
pub mod walk;

use base::{OrderedMap, OrderedSet};
pub use build::*;
use ir::{HeaderId, LabelId, TableId, VarId};
pub use types::{Type, Variable};
pub use verify::verify;

/// The number of a node, unique within its unit.
pub type NodeId = usize;

/// A part of a packet's state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StatePart {
    /// A word of valid bits.
    Valid(u32),
    /// The place of a header: a pointer within a stage, an offset or pointer where it is saved.
    Header(HeaderId),
    /// A variable of the program. One of more than 64 bits is an array of words.
    Var(VarId),
    /// The sum of an incremental checksum.
    Sum(u32),
    /// How often the body of a loop has run.
    Steps(LabelId),
    /// Where the payload begins. It has only a saved place.
    Payload,
    /// The valid bits of the headers that the parser has extracted. They have only a saved place.
    Parsed,
}

/// An array of the environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EnvArray {
    /// The tables' engines.
    Tables,
    /// Cells of registers.
    Registers,
    /// Cells of counters.
    Counters,
    /// Cells of direct counters.
    DirectCounters,
    /// Cells of meters.
    Meters,
    /// The times at which entries were last hit.
    LastHits,
    /// The tables of custom hash functions.
    Calculations,
    /// The numbers of lookups.
    Uses,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A constant or variable that a statement declares, or that the printer does ([`verify::GIVEN`]).
    Name(String),
    /// A part of the packet's state.
    State(StatePart),
    /// The same in its saved place.
    Saved(StatePart),
    /// An item of an array of the environment.
    Env(EnvArray, u32),
    /// A number of 32 bits.
    Int(u32),
    /// A number of 64 bits.
    Long(u64),
    /// An operator before its operand.
    Unary(&'static str, Box<Expr>),
    /// An operator between its operands.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `condition ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value of a function of the runtime, or of a callback of the environment.
    Call(Box<Expr>, Vec<Expr>),
    /// An array's item.
    Index(Box<Expr>, Box<Expr>),
    /// A member of the struct that a pointer points to.
    Arrow(Box<Expr>, String),
    /// A member of a struct.
    Dot(Box<Expr>, String),
    /// A conversion to a type.
    Cast(Type, Box<Expr>),
    /// Initial values of an array or struct.
    List(Vec<Expr>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// A variable or constant of the enclosing scope, or an array of `length` items.
    Declare {
        /// Whether it changes.
        variable: Variable,
        /// Its type, or that of its items.
        ty: Type,
        /// Its name.
        name: String,
        /// How many items it has, if it is an array.
        length: Option<u32>,
        /// Its initial value.
        value: Option<Expr>,
    },
    /// `place op value`, such as `a |= b`.
    Assign(Expr, &'static str, Expr),
    /// An expression that is evaluated for its effect.
    Eval(Expr),
    /// `if`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// The case with the value, or the default.
    Switch {
        /// The value.
        value: Expr,
        /// The values of each case and its statements.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// The statements for all other values.
        default: Vec<Stmt>,
    },
    /// A loop that only jumps end.
    Loop(Vec<Stmt>),
    /// A scope.
    Block(Vec<Stmt>),
    /// A jump within the stage.
    Goto(String),
    /// Its target.
    Label(String),
    /// A line of the program, for readers.
    Comment(String),
    /// The packet continues in this node of its stage.
    Go(NodeId),
    /// It continues in this node of a later stage.
    Pass(NodeId),
    /// It is looked up in the table whose results the node begins with, and continues there.
    LookUp {
        /// The node.
        node: NodeId,
        /// The name of the pointer to the words of the key, if it has words.
        row: Option<String>,
        /// The statements that write the key there.
        key: Vec<Stmt>,
    },
    /// It ends with this verdict: a port, or why it is not sent.
    End(Expr),
    /// The same; the switch core continues with it.
    Punt(Expr),
    /// It reaches the end of its block.
    Leave,
}

/// The result of a table, with which a node begins.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The table.
    pub table: TableId,
    /// Whether the result is one number, not a pointer to an entry.
    pub is_packed: bool,
    /// The lookup of all packets that are looked up for the node.
    pub lookup: Vec<Stmt>,
}

/// Statements that a packet runs through independently of others.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// The table whose result it begins with.
    pub found: Option<Found>,
    /// The statements. They end the packet's run through the node on every path, but a stage's last node may end where
    /// the stage does.
    pub body: Vec<Stmt>,
}

/// Where packets enter a stage from earlier ones.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The node.
    pub node: NodeId,
    /// The values of all state that the stage mentions: from its saved place, or what is known of it at compile time.
    pub values: OrderedMap<StatePart, Expr>,
}

/// How a stage finds its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arrival {
    /// It runs for all packets of the burst.
    Burst,
    /// Each entry has a mask with a bit for each packet.
    #[default]
    Masks,
    /// Its only entry begins with a table's result; the packets are listed in the order in which they were looked up.
    List,
    /// The same, and all packets of the burst are looked up.
    WholeBurst,
}

/// Code that runs for each packet that reaches it before later stages do.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stage {
    /// How it finds its packets (pass `arrivals`).
    pub arrival: Arrival,
    /// Whether all packets end here, so that one statement stores their verdicts (pass `arrivals`).
    pub ends_all: bool,
    /// State that is stored to its saved place at the end (pass `spills`).
    pub spills: OrderedSet<StatePart>,
    /// Where packets enter; the first is the first node.
    pub entries: Vec<Entry>,
    /// Statements for each packet before it goes to its entry.
    pub before: Vec<Stmt>,
    /// The nodes in the order of the code.
    pub nodes: Vec<Node>,
    /// Statements for each packet at the end, before state is stored.
    pub after: Vec<Stmt>,
}

/// A variable of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its width.
    pub width_bits: u32,
}

/// The code of a function over a burst.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The variables of the program.
    pub vars: OrderedMap<VarId, Var>,
    /// The names of headers.
    pub headers: OrderedMap<HeaderId, String>,
    /// Where state is between stages, and after the unit.
    pub saved: OrderedMap<StatePart, Expr>,
    /// State that others read in its saved place when a packet has left the unit or was punted.
    pub live_out: OrderedSet<StatePart>,
    /// Statements that run once for the burst, before the stages.
    pub before: Vec<Stmt>,
    /// The batch stages, in order.
    pub stages: Vec<Stage>,
}

impl Unit {
    /// The name of a part of the state.
    pub fn state_name(&self, state: StatePart) -> String {
        match state {
            StatePart::Valid(word) => format!("valid{word}"),
            StatePart::Header(header) => self.headers.get(&header).cloned().unwrap_or_else(|| format!("{header}")),
            StatePart::Var(var) => self.vars.get(&var).map_or_else(|| format!("{var}"), |var| var.name.clone()),
            StatePart::Sum(sum) => format!("sum{sum}"),
            StatePart::Steps(label) => format!("steps_{label}"),
            StatePart::Payload => "payload".into(),
            StatePart::Parsed => "parsed".into(),
        }
    }

    /// Whether it is an array: a variable of more than 64 bits.
    pub fn is_wide(&self, state: StatePart) -> bool {
        matches!(state, StatePart::Var(var) if self.vars.get(&var).is_some_and(|var| var.width_bits > 64))
    }

    /// The stage of each node.
    pub fn stage_of_nodes(&self) -> OrderedMap<NodeId, usize> {
        let of_stage = |(number, stage): (usize, &Stage)| {
            stage.nodes.iter().map(move |node| (node.id, number)).collect::<Vec<_>>()
        };
        self.stages.iter().enumerate().flat_map(of_stage).collect()
    }
}
