//! Values in the names of the program.
//!
//! What enters: expressions of the IR, in which everything has a number. What leaves: text as people would write it in
//! P4: `hdr.ipv4.isValid()`, `hdr.ipv4.ttl == 1`, and `MyIngress.route hit` for what remains of `route.apply().hit`. It
//! is for readers: casts are left out.

use base::{Bits, OrderedMap, OrderedSet};
use ir::walk::{self, Item};
use ir::{
    BinaryOp, Expr, ExprKind, HashValue, HeaderRef, Place, Program, StmtKind, TableId, Type, UnaryOp, VarId, VarKind,
};

/// Numbers from here on are printed in hexadecimal, so that Ethernet types are, and lengths and well-known ports are
/// not.
const HEXADECIMAL_FROM: u64 = 1024;

/// The names of a program's variables.
pub(super) struct Names<'p> {
    program: &'p Program,
    vars: OrderedMap<VarId, String>,
    /// Variables that hold whether a table hit.
    hits: OrderedMap<VarId, TableId>,
}

impl<'p> Names<'p> {
    pub(super) fn new(program: &'p Program) -> Names<'p> {
        let hits = hits(program);
        let mut vars = OrderedMap::new();
        let mut uses: OrderedMap<String, usize> = OrderedMap::new();
        for var in mentioned(program) {
            let name = match (hits.get(&var), owner(program, var)) {
                (Some(&table), _) => format!("{} hit", program.tables[table].name),
                (None, Some(action)) => format!("{action}.{}", program.vars[var].name),
                (None, None) => program.vars[var].name.clone(),
            };
            let count = uses.entry(name.clone()).or_default();
            *count += 1;
            vars.insert(var, if *count == 1 { name } else { format!("{name}#{count}") });
        }
        Names { program, vars, hits }
    }

    /// The unique name of a variable that the program mentions; none for others.
    pub(super) fn var(&self, var: VarId) -> Option<&str> {
        self.vars.get(&var).map(String::as_str)
    }

    /// An expression.
    pub(super) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Const(value) => constant(value, expr.ty),
            ExprKind::Var(var) if self.hits.contains_key(var) => {
                format!("{} hit", self.program.tables[self.hits[var]].name)
            }
            ExprKind::Var(var) => self.var(*var).unwrap_or(&self.program.vars[*var].name).to_owned(),
            ExprKind::Field(header, field)
            | ExprKind::VarbitBits(header, field)
            | ExprKind::VarbitLength(header, field) => {
                let length = if matches!(expr.kind, ExprKind::VarbitLength(..)) { " (its length)" } else { "" };
                self.field(header, *field) + length
            }
            ExprKind::IsValid(header) => format!("{}.isValid()", self.header(header)),
            ExprKind::VarbitEqual(one, other) => {
                format!("{} == {}", self.field(&one.0, one.1), self.field(&other.0, other.1))
            }
            ExprKind::Unary(UnaryOp::Not, operand) => match &operand.kind {
                ExprKind::Var(var) if self.hits.contains_key(var) => {
                    format!("{} missed", self.program.tables[self.hits[var]].name)
                }
                _ => format!("!{}", self.operand(operand)),
            },
            ExprKind::Unary(UnaryOp::Neg, operand) => format!("-{}", self.operand(operand)),
            ExprKind::Unary(UnaryOp::BitNot, operand) => format!("~{}", self.operand(operand)),
            ExprKind::Binary(op, left, right) => {
                format!("{} {} {}", self.side(*op, left, true), op.sign(), self.side(*op, right, false))
            }
            ExprKind::Mux(cond, yes, no) => {
                format!("{} ? {} : {}", self.operand(cond), self.operand(yes), self.operand(no))
            }
            // Declarations show the widths.
            ExprKind::Cast(operand) => self.expr(operand),
            ExprKind::Slice { base, high, low } => format!("{}[{high}:{low}]", self.operand(base)),
            ExprKind::Concat(high, low) => format!("{} ++ {}", self.operand(high), self.operand(low)),
            ExprKind::PacketLength => "the packet's length".to_owned(),
        }
    }

    /// An input of a hash.
    pub(super) fn hash_input(&self, value: &HashValue) -> String {
        match value {
            HashValue::Expr(expr) => self.expr(expr),
            HashValue::Varbit(header, field) => self.field(header, *field),
        }
    }

    /// A part of a larger expression.
    fn operand(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Binary(..) | ExprKind::Mux(..) | ExprKind::Concat(..) | ExprKind::VarbitEqual(..) => {
                format!("({})", self.expr(expr))
            }
            ExprKind::Cast(operand) => self.operand(operand),
            _ => self.expr(expr),
        }
    }

    /// An operand of a binary operator, without parentheses where they are not needed to avoid confusion.
    fn side(&self, op: BinaryOp, expr: &Expr, is_left: bool) -> String {
        let is_logical = matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr);
        let is_clear = match &expr.kind {
            ExprKind::Binary(inner, ..) => (*inner == op && is_left) || (is_logical && inner.is_comparison()),
            ExprKind::VarbitEqual(..) => is_logical,
            _ => false,
        };
        if is_clear { self.expr(expr) } else { self.operand(expr) }
    }

    fn field(&self, header: &HeaderRef, field: u32) -> String {
        format!("{}.{}", self.header(header), self.program.header_type(header).fields[field as usize].name)
    }

    fn header(&self, header: &HeaderRef) -> String {
        let stack = |stack: &ir::StackId| &self.program.stacks[*stack].name;
        match header {
            HeaderRef::Fixed(id) => self.program.headers[*id].name.clone(),
            HeaderRef::Element { stack: id, index } => format!("{}[{}]", stack(id), self.expr(index)),
            HeaderRef::Next(id) => format!("{}.next", stack(id)),
            HeaderRef::Last(id) => format!("{}.last", stack(id)),
        }
    }
}

fn constant(value: &Bits, ty: Type) -> String {
    match (ty, value.to_u64()) {
        (Type::Bool, _) => (!value.is_zero()).to_string(),
        (Type::Int(_), _) => value.to_signed_bigint().to_string(),
        (Type::Bit(_), Some(small)) if small < HEXADECIMAL_FROM => small.to_string(),
        (Type::Bit(_), _) => value.to_string(),
    }
}

/// The variables that blocks mention.
fn mentioned(program: &Program) -> OrderedSet<VarId> {
    let mut mentioned = OrderedSet::new();
    for block in &program.blocks {
        walk::visit_block(program, block, &mut |item| {
            if let Item::Var(var) = item {
                mentioned.insert(var);
            }
        });
    }
    mentioned
}

/// The action that a variable is a parameter of.
fn owner(program: &Program, var: VarId) -> Option<&str> {
    program.actions.iter().find(|action| action.params.contains(&var)).map(|action| action.name.as_str())
}

/// Where a variable's values come from. Constants are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Hit(TableId),
    Copy(VarId),
    Other,
}

/// The variables that hold only constants or whether one certain table hit. The result of `a && t.apply().hit` is one,
/// too: it is false where the table is not applied.
fn hits(program: &Program) -> OrderedMap<VarId, TableId> {
    let mut sources: OrderedMap<VarId, Vec<Source>> = OrderedMap::new();
    let mut note = |var: VarId, source: Source| sources.entry(var).or_default().push(source);
    for body in walk::bodies(program) {
        walk::visit_body(body, &mut |stmt| match &stmt.kind {
            StmtKind::ApplyTable { table, hit, action } => {
                hit.iter().for_each(|&var| note(var, Source::Hit(*table)));
                action.iter().for_each(|&var| note(var, Source::Other));
            }
            StmtKind::Assign { dst: Place::Var(_), src } if src.as_const().is_some() => {}
            StmtKind::Assign { dst: Place::Var(var), src: Expr { kind: ExprKind::Var(from), .. } } => {
                note(*var, Source::Copy(*from));
            }
            kind => {
                kind.dst().into_iter().for_each(|place| {
                    walk::visit_place(place, &mut |item| {
                        if let Item::Var(var) = item {
                            note(var, Source::Other);
                        }
                    });
                });
            }
        });
    }
    let is_local = |var: &VarId| program.vars[*var].kind == VarKind::Local;
    let table = |var: &VarId| Some((*var, only_hit(&sources, *var, &mut OrderedSet::new())?));
    sources.keys().filter(|var| is_local(var)).filter_map(table).collect()
}

/// The table whose hits, or copies of them, are the only values of a variable; none if it has other values.
fn only_hit(sources: &OrderedMap<VarId, Vec<Source>>, var: VarId, seen: &mut OrderedSet<VarId>) -> Option<TableId> {
    if !seen.insert(var) {
        return None;
    }
    let mut found = None;
    for source in sources.get(&var)? {
        let table = match source {
            Source::Hit(table) => *table,
            Source::Copy(from) => only_hit(sources, *from, seen)?,
            Source::Other => return None,
        };
        if found.is_some_and(|other| other != table) {
            return None;
        }
        found = Some(table);
    }
    found
}
