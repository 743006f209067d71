//! Statements of the low IR as C, one by one.

use super::burst::{done_label, list_name, mask_name, node_label, rows_name};
use super::{Emitter, burst};
use crate::ctree::{self, Expr as C, Stmt as S, assign, binary, cast, declare, index, int, name};
use crate::plan::fast_path::FastPath;
use base::OrderedMap;
use ir::BlockId;
use lir::{Arrival, EnvArray, Expr, NodeId, Stage, Stmt, Type, Unit, Variable};

/// Prints the statements of a unit.
pub(super) struct Printer<'u> {
    pub(super) emitter: &'u Emitter<'u>,
    /// The block whose code it is.
    pub(super) block: BlockId,
    pub(super) unit: &'u Unit,
    pub(super) fast_path: Option<&'u FastPath>,
    /// How each stage finds its packets, by its entries.
    arrivals: OrderedMap<NodeId, Arrival>,
}

/// The arrays of the environment whose items the fast path copies to constants, and the types of these: none of them
/// changes during a burst, but a C compiler cannot prove that no store to a packet aliases them.
const CONSTANTS: [(EnvArray, &str); 6] = [
    (EnvArray::Tables, "struct ws_lookup"),
    (EnvArray::Registers, "struct ws_cells"),
    (EnvArray::Counters, "struct ws_counts"),
    (EnvArray::DirectCounters, "struct ws_counts"),
    (EnvArray::Meters, "struct ws_meters"),
    (EnvArray::LastHits, "struct ws_cells"),
];

/// Statements outside of stages, which mention no state.
pub(super) fn stmts(emitter: &Emitter<'_>, block: BlockId, body: &[Stmt]) -> Vec<S> {
    let (unit, stage) = (Unit::default(), Stage::default());
    Printer::new(emitter, block, &unit, None).body(body, &stage)
}

/// The constant with an item of the environment, if the fast path has one for it.
pub(super) fn env_constant(array: EnvArray, number: u32) -> Option<S> {
    let (_, ty) = CONSTANTS.iter().find(|(constant, _)| *constant == array)?;
    let item = index(ctree::arrow(name("env"), array.name()), int(number));
    Some(declare(&format!("const {ty} "), format!("{}{number}", array.name()), item))
}

impl<'u> Printer<'u> {
    pub(super) fn new(
        emitter: &'u Emitter<'u>,
        block: BlockId,
        unit: &'u Unit,
        fast_path: Option<&'u FastPath>,
    ) -> Printer<'u> {
        let of_stage = |stage: &'u Stage| stage.entries.iter().map(|entry| (entry.node, stage.arrival));
        let arrivals = unit.stages.iter().flat_map(of_stage).collect();
        Printer { emitter, block, unit, fast_path, arrivals }
    }

    /// The statements of a node, or of other code of a stage.
    pub(super) fn body(&self, body: &[Stmt], stage: &Stage) -> Vec<S> {
        let mut out = Vec::new();
        body.iter().for_each(|stmt| self.stmt(stmt, stage, &mut out));
        out
    }

    fn stmt(&self, stmt: &Stmt, stage: &Stage, out: &mut Vec<S>) {
        let printed = match stmt {
            Stmt::Declare { variable, ty, name, length, value } => {
                let value = value.as_ref().map(|value| self.expr(value));
                S::Declare { ty: declared_type(*variable, *ty), name: name.clone(), length: *length, value }
            }
            Stmt::Assign(place, op, value) => S::Assign(self.expr(place), op, self.expr(value)),
            Stmt::Eval(value) => S::Eval(self.expr(value)),
            Stmt::If(condition, yes, no) => S::If(self.expr(condition), self.body(yes, stage), self.body(no, stage)),
            Stmt::Switch { value, cases, default } => {
                let cases = cases.iter().map(|(values, body)| (self.exprs(values), self.body(body, stage))).collect();
                S::Switch { value: self.expr(value), cases, default: self.body(default, stage) }
            }
            Stmt::Loop(body) => S::Loop(self.body(body, stage)),
            Stmt::Block(body) => S::Block(self.body(body, stage)),
            Stmt::Goto(label) => S::Goto(label.clone()),
            Stmt::Label(label) => S::Label(label.clone()),
            Stmt::Comment(text) => S::Comment(text.clone()),
            Stmt::Go(node) => S::Goto(node_label(*node)),
            Stmt::Pass(node) => {
                out.push(S::Assign(name(mask_name(*node)), "|=", name("bit")));
                S::Goto(done_label(stage))
            }
            Stmt::LookUp { node, row, key } => {
                self.look_up(*node, row.as_deref(), self.body(key, stage), out);
                S::Goto(done_label(stage))
            }
            Stmt::End(verdict) | Stmt::Punt(verdict) => {
                let place = if stage.ends_all { name("verdict") } else { index(name("verdicts"), name("i")) };
                out.push(assign(place, self.expr(verdict)));
                S::Goto(done_label(stage))
            }
            Stmt::Leave => S::Goto(done_label(stage)),
        };
        out.push(printed);
    }

    /// Writes the packet's key to the next row of the table whose result the node begins with.
    fn look_up(&self, node: NodeId, row: Option<&str>, key: Vec<S>, out: &mut Vec<S>) {
        let arrival = self.arrivals.get(&node).copied().unwrap_or_default();
        let is_whole_burst = arrival == Arrival::WholeBurst;
        let rows = if is_whole_burst { name("i") } else { name(rows_name(node)) };
        if let Some(row) = row {
            let words = burst::key_words(self, node);
            let place = binary("+", name(burst::keys_name(node)), binary("*", rows.clone(), int(words)));
            out.push(declare("uint64_t *const ", row, place));
        }
        out.extend(key);
        match arrival {
            Arrival::WholeBurst => return,
            Arrival::List => {
                let place = index(name(list_name(node)), rows.clone());
                out.push(assign(place, cast("uint8_t", name("i"))));
            }
            Arrival::Masks | Arrival::Burst => {}
        }
        out.push(S::Assign(rows, "+=", int(1)));
        if arrival == Arrival::Masks {
            out.push(S::Assign(name(mask_name(node)), "|=", name("bit")));
        }
    }

    fn exprs(&self, values: &[Expr]) -> Vec<C> {
        values.iter().map(|value| self.expr(value)).collect()
    }

    pub(super) fn expr(&self, value: &Expr) -> C {
        let boxed = |value: &Expr| Box::new(self.expr(value));
        match value {
            Expr::Name(text) => C::Name(text.clone()),
            Expr::State(state) => C::Name(self.unit.state_name(*state)),
            Expr::Saved(state) => self.unit.saved.get(state).map_or_else(|| int(0), |place| self.expr(place)),
            Expr::Env(array, number) => match env_constant(*array, *number).filter(|_| self.fast_path.is_some()) {
                Some(_) => name(format!("{}{number}", array.name())),
                None => index(ctree::arrow(name("env"), array.name()), int(*number)),
            },
            Expr::Int(number) => C::Int(*number),
            Expr::Long(number) => C::Long(*number),
            Expr::Unary(op, inner) => C::Unary(op, boxed(inner)),
            Expr::Binary(op, left, right) => C::Binary(op, boxed(left), boxed(right)),
            Expr::Conditional(condition, yes, no) => C::Conditional(boxed(condition), boxed(yes), boxed(no)),
            Expr::Call(function, arguments) => C::Call(boxed(function), self.exprs(arguments)),
            Expr::Index(array, position) => C::Index(boxed(array), boxed(position)),
            Expr::Arrow(pointer, member) => C::Arrow(boxed(pointer), member.clone()),
            Expr::Dot(base, member) => C::Dot(boxed(base), member.clone()),
            Expr::Cast(ty, inner) => C::Cast(c_type(*ty), boxed(inner)),
            Expr::List(items) => C::List(self.exprs(items)),
        }
    }
}

/// A type in C.
fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::U8 => "uint8_t",
        Type::U16 => "uint16_t",
        Type::U32 => "uint32_t",
        Type::U64 => "uint64_t",
        Type::Sixteen => "ws_sixteen",
        Type::Bytes => "uint8_t *",
        Type::ConstBytes => "const uint8_t *",
        Type::Words => "uint64_t *",
        Type::Entry => "const struct ws_entry *",
        Type::Pointer => "void *",
        Type::ConstPointer => "const void *",
        Type::Context => "struct context *",
        Type::ConstContext => "const struct context *",
        Type::Short => "struct ws_short",
        Type::Joined => "struct ws_joined",
        Type::Segment => "struct ws_segment",
        Type::Staged => "struct ws_staged",
    }
}

/// The type of a declaration. What is not a number may be unused.
fn declared_type(variable: Variable, ty: Type) -> String {
    let (is_number, c) = (matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64), c_type(ty));
    match variable {
        Variable::Static => format!("static const {c}"),
        Variable::Constant if is_number => format!("const {c}"),
        Variable::Constant if c.ends_with('*') => format!("WS_UNUSED {c}const "),
        Variable::Constant => format!("WS_UNUSED const {c}"),
        Variable::Changes => format!("WS_UNUSED {c}"),
    }
}
