//! Packets that are deparsed behind ingress and parsed again before egress, without either.
//!
//! What enters: a program with a deparser before the queues and a parser behind them. What leaves: the statements that
//! run instead of the two. The parser is followed through the headers that the deparser emits: where it extracts a
//! header, and the next one that is valid is this very header, nothing has to be done. Whether that is so is tested
//! for each packet; one for which it is not is punted, and the core deparses and parses it.
//!
//! A parser that extracts nothing leaves the headers of ingress to the end, if egress has no headers of its own.

use super::fast_path::changes_headers;
use super::walk::{Item, Tables, Walk, walk_block};
use base::{Bits, OrderedMap, OrderedSet, Span};
use ir::walk::{base_var, visit_body};
use ir::{
    BinaryOp, BlockId, BlockKind, BlockRole, Body, Expr, ExprKind, HeaderId, HeaderRef, KeySet, Place, Program,
    SelectCase, StateId, Stmt, StmtKind, Target, Transition, Type, UnaryOp, VarId, VarKind,
};

/// The most conditions and states on all paths through the parser.
const STEPS_MAX: u32 = 256;

/// What runs instead of the deparser and the parser.
#[derive(Clone, Debug)]
pub(crate) struct Reparsed {
    /// The deparser behind ingress. What it does beside emitting headers is done.
    pub(crate) deparser: BlockId,
    /// The parser before egress.
    pub(crate) parser: BlockId,
    /// In front of both: punts packets that have to be deparsed and parsed.
    pub(crate) tests: Body,
    /// Instead of the parser.
    pub(crate) parsed: Body,
    /// Whether packets leave with the headers that this deparser emits, not those of the last one.
    pub(crate) is_last: bool,
}

/// What is known of variables where the parser starts.
pub(crate) struct Known {
    /// The values of variables that the architecture sets between the two.
    pub(crate) values: OrderedMap<VarId, Expr>,
    /// The metadata that it preserves; others are zero.
    pub(crate) preserved: OrderedSet<VarId>,
}

/// The paths of packets through the parser, as a tree of decisions.
enum Paths {
    /// It cannot be followed.
    Lost,
    /// It ends after these statements.
    Ends(Body),
    /// It depends on a condition.
    If(Expr, Box<Paths>, Box<Paths>),
}

/// Where the parser is.
#[derive(Clone, Default)]
struct Cursor {
    /// How many of the emitted headers are behind it.
    passed: usize,
    /// The headers that it has extracted.
    extracted: OrderedSet<HeaderId>,
    /// What it has assigned, in terms of the state before it.
    values: OrderedMap<VarId, Expr>,
    /// The assignments that outlive it.
    assigned: Body,
}

struct Follower<'p> {
    program: &'p Program,
    states: &'p base::IndexVec<StateId, ir::ParserState>,
    emitted: Vec<HeaderId>,
    /// What the deparser writes beside the packet.
    written_vars: OrderedSet<VarId>,
    written_headers: OrderedSet<HeaderId>,
    /// Metadata that packets preserve.
    preserved: OrderedSet<VarId>,
    /// Headers that may be valid before the parser, beside those that are emitted, and are used behind it.
    others: Vec<HeaderId>,
    steps: u32,
}

impl Reparsed {
    /// What runs instead of deparsing and parsing, if the parser can be followed. `punt` is the statement that punts a
    /// packet.
    pub(crate) fn of(program: &Program, parser: BlockId, known: Known, punt: &Stmt) -> Option<Reparsed> {
        let is_deparser = |block: &BlockId| program.role(*block) == BlockRole::Deparser && *block < parser;
        let deparser = program.blocks.ids().find(is_deparser)?;
        let (BlockKind::Control { body }, BlockKind::Parser { start, states, .. }) =
            (&program.blocks[deparser].kind, &program.blocks[parser].kind)
        else {
            return None;
        };
        let emitted = emitted(program, body)?;
        let (mut written_vars, mut written_headers) = (OrderedSet::new(), OrderedSet::new());
        written_by(program, body, &mut written_vars, &mut written_headers)?;
        let is_last = !states.iter().any(|state| extracts(&state.body));
        if is_last && !leaves_headers_alone(program, parser) {
            return None;
        }
        let mut follower = Follower {
            program,
            states,
            others: if is_last { Vec::new() } else { others(program, parser, &emitted) },
            emitted: if is_last { Vec::new() } else { emitted },
            written_vars,
            written_headers,
            preserved: known.preserved,
            steps: 0,
        };
        let paths = follower.state(*start, Cursor { values: known.values, ..Cursor::default() })?;
        let mut parsed = follower.resets(parser);
        parsed.extend(paths.assignments());
        Some(Reparsed { deparser, parser, tests: paths.tests(punt), parsed, is_last })
    }
}

/// The headers that a deparser emits, in order: if it emits each once, without a condition, none of them is its own,
/// and no header changes after the first is emitted. Then it does the same if it emits them at its end.
pub(crate) fn emitted(program: &Program, body: &[Stmt]) -> Option<Vec<HeaderId>> {
    let mut emitted = Vec::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Emit(HeaderRef::Fixed(header)) => {
                if emitted.contains(header) || !program.headers[*header].metadata {
                    return None;
                }
                emitted.push(*header);
            }
            _ => {
                let mut is_allowed = true;
                visit_body(std::slice::from_ref(stmt), &mut |inner| {
                    is_allowed &= !matches!(inner.kind, StmtKind::Emit(_));
                    is_allowed &= emitted.is_empty() || is_of_variables(&inner.kind);
                });
                if !is_allowed {
                    return None;
                }
            }
        }
    }
    Some(emitted)
}

/// The statements of a deparser that emit headers, or its others.
pub(crate) fn parts(body: &[Stmt], emit: bool) -> impl Iterator<Item = &[Stmt]> {
    let emits = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Emit(_));
    body.chunk_by(move |one, other| emits(one) == emits(other)).filter(move |part| emits(&part[0]) == emit)
}

/// Whether a statement, without those inside of it, changes no header.
fn is_of_variables(stmt: &StmtKind) -> bool {
    let is_var = stmt.dst().is_none_or(|dst| base_var(dst).is_some());
    is_var && !changes_headers(stmt) && !matches!(stmt, StmtKind::Call(_) | StmtKind::ApplyTable { .. })
}

/// Adds what a body writes; none if that is not known.
fn written_by(
    program: &Program,
    body: &[Stmt],
    vars: &mut OrderedSet<VarId>,
    headers: &mut OrderedSet<HeaderId>,
) -> Option<()> {
    let mut is_known = true;
    visit_body(body, &mut |stmt| {
        is_known &= !changes_headers(&stmt.kind);
        is_known &= !matches!(stmt.kind, StmtKind::Call(_) | StmtKind::ApplyTable { .. });
        let Some(mut dst) = stmt.kind.dst() else { return };
        while let Place::Slice { base, .. } = dst {
            dst = base;
        }
        match dst {
            Place::Var(var) => _ = vars.insert(*var),
            Place::Field(HeaderRef::Fixed(header), _) => _ = headers.insert(*header),
            Place::Field(..) | Place::Slice { .. } => is_known = false,
        }
    });
    vars.extend(program.stacks.iter().map(|stack| stack.next));
    is_known.then_some(())
}

/// Whether a body extracts anything.
fn extracts(body: &[Stmt]) -> bool {
    let mut found = false;
    visit_body(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Extract { .. } | StmtKind::Advance { .. }));
    found
}

/// Whether the blocks from a parser on only name headers where the deparser emits them.
fn leaves_headers_alone(program: &Program, parser: BlockId) -> bool {
    let mut found = false;
    for block in program.blocks.ids().filter(|&block| block >= parser) {
        let (mut named, mut emitted) = (0, 0);
        walk_block(program, &program.blocks[block], Tables::Inside, &mut |item| match item {
            Item::Header(_) => named += 1,
            Item::Stmt(Stmt { kind: StmtKind::Emit(HeaderRef::Fixed(_)), .. }) => emitted += 1,
            Item::Stmt(Stmt { kind: StmtKind::Hash { payload: true, .. }, .. }) => found = true,
            Item::Stmt(stmt) => found |= matches!(stmt.kind, StmtKind::Emit(_)),
            Item::Var(_) => {}
        });
        found |= named != emitted;
    }
    !found
}

/// The headers that may be valid behind ingress though the deparser does not emit them, and that are used later.
fn others(program: &Program, parser: BlockId, emitted: &[HeaderId]) -> Vec<HeaderId> {
    let (mut before, mut behind) = (OrderedSet::new(), OrderedSet::new());
    for (id, block) in program.blocks.iter_enumerated() {
        let found = if id < parser { &mut before } else { &mut behind };
        walk_block(program, block, Tables::Inside, &mut |item| {
            if let Item::Header(header) = item {
                found.extend(headers_of(program, header));
            }
        });
    }
    before.retain(|header| !emitted.contains(header));
    before.intersection(&behind).copied().filter(|&header| program.headers[header].metadata).collect()
}

fn headers_of(program: &Program, header: &HeaderRef) -> Vec<HeaderId> {
    match (header, super::stack_of(header)) {
        (HeaderRef::Fixed(header), _) => vec![*header],
        (_, Some(stack)) => program.stacks[stack].elements.clone(),
        _ => Vec::new(),
    }
}

impl Follower<'_> {
    /// The paths from a state on; none if there are too many.
    fn state(&mut self, state: StateId, place: Cursor) -> Option<Paths> {
        self.statements(state, 0, place)
    }

    /// The paths from a statement of a state on.
    fn statements(&mut self, state: StateId, first: usize, mut place: Cursor) -> Option<Paths> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return None;
        }
        let states = self.states;
        for (position, stmt) in states[state].body.iter().enumerate().skip(first) {
            match &stmt.kind {
                StmtKind::Assign { dst: Place::Var(var), src } => self.assign(*var, src, &mut place)?,
                StmtKind::Extract { dst: HeaderRef::Fixed(header), varbit_bits: None } => {
                    return self.extract(*header, state, position + 1, place);
                }
                _ => return None,
            }
        }
        match &states[state].transition {
            Transition::Goto(target) => self.target(*target, place),
            Transition::Select { keys, cases } => self.select(keys, cases, place),
        }
    }

    fn assign(&mut self, var: VarId, src: &Expr, place: &mut Cursor) -> Option<()> {
        let value = self.value(src, place)?;
        if self.program.vars[var].kind != VarKind::Local {
            // Assignments run one after the other; none may read what one before it has changed.
            let mut is_read = false;
            Walk::new(self.program, Tables::Inside).expr(&value, &mut |item| {
                is_read |= matches!(item, Item::Var(read) if place.assigned.iter().any(|stmt| assigns(stmt, read)));
            });
            if is_read {
                return None;
            }
            let kind = StmtKind::Assign { dst: Place::Var(var), src: value.clone() };
            place.assigned.push(Stmt { kind, span: Span::NONE });
        }
        place.values.insert(var, value);
        Some(())
    }

    /// The paths after the extraction of a header, the next of those that are emitted.
    fn extract(&mut self, header: HeaderId, state: StateId, next: usize, place: Cursor) -> Option<Paths> {
        let Some(found) = self.emitted[place.passed..].iter().position(|emitted| *emitted == header) else {
            return Some(Paths::Lost);
        };
        let between = &self.emitted[place.passed..][..found];
        let none_between = none_valid(between);
        let mut then = place;
        then.passed += found + 1;
        then.extracted.insert(header);
        let is_there = is_valid(header);
        let is_next = match none_between {
            Some(none_between) => Expr::binary(BinaryOp::LogicalAnd, none_between, is_there),
            None => is_there,
        };
        let paths = self.statements(state, next, then)?;
        Some(Paths::If(is_next, Box::new(paths), Box::new(Paths::Lost)))
    }

    fn target(&mut self, target: Target, place: Cursor) -> Option<Paths> {
        match target {
            Target::State(state) => self.state(state, place),
            Target::Accept | Target::Reject => {
                let mut body = place.assigned;
                let invalid = self.others.iter().filter(|header| !place.extracted.contains(header));
                let set = |header: &HeaderId| StmtKind::SetInvalid(HeaderRef::Fixed(*header));
                body.extend(invalid.map(|header| Stmt { kind: set(header), span: Span::NONE }));
                let ends = Paths::Ends(body);
                Some(match none_valid(&self.emitted[place.passed..]) {
                    Some(none_left) => Paths::If(none_left, Box::new(ends), Box::new(Paths::Lost)),
                    None => ends,
                })
            }
        }
    }

    fn select(&mut self, keys: &[Expr], cases: &[SelectCase], place: Cursor) -> Option<Paths> {
        let keys: Vec<Expr> = keys.iter().map(|key| self.tested(key, &place)).collect::<Option<_>>()?;
        let mut found = Vec::new();
        let mut otherwise = Paths::Lost;
        for case in cases {
            let mut condition = None;
            for (key, set) in keys.iter().zip(&case.sets) {
                let Some(contains) = self.contains(key, set, &place)? else { continue };
                condition = Some(match condition {
                    Some(both) => Expr::binary(BinaryOp::LogicalAnd, both, contains),
                    None => contains,
                });
            }
            match condition {
                Some(condition) if condition.as_const().is_some_and(Bits::is_zero) => {}
                Some(condition) => found.push((condition, self.target(case.target, place.clone())?)),
                None => {
                    otherwise = self.target(case.target, place.clone())?;
                    break;
                }
            }
        }
        let chain = |otherwise, (condition, paths)| Paths::If(condition, Box::new(paths), Box::new(otherwise));
        Some(found.into_iter().rev().fold(otherwise, chain))
    }

    /// Whether a set contains a key; the inner none stands for always.
    fn contains(&self, key: &Expr, set: &KeySet, place: &Cursor) -> Option<Option<Expr>> {
        let compare = |op, right: &Expr| Some(folded(Expr::binary(op, key.clone(), self.tested(right, place)?)));
        let contains = match set {
            KeySet::Any => return Some(None),
            KeySet::ValueSet(_) => return None,
            KeySet::Value(value) => compare(BinaryOp::Eq, value)?,
            KeySet::Mask(value, mask) => {
                let (value, mask) = (self.tested(value, place)?, self.tested(mask, place)?);
                let [key, value] = [key.clone(), value].map(|it| Expr::binary(BinaryOp::And, it, mask.clone()));
                Expr::binary(BinaryOp::Eq, key, value)
            }
            KeySet::Range(low, high) => {
                let (above, below) = (compare(BinaryOp::Ge, low)?, compare(BinaryOp::Le, high)?);
                Expr::binary(BinaryOp::LogicalAnd, above, below)
            }
        };
        let is_always = contains.as_const().is_some_and(|value| !value.is_zero());
        Some((!is_always).then_some(contains))
    }

    /// A value that is tested before the deparser, in terms of the state then; none if that is not known.
    fn tested(&self, expr: &Expr, place: &Cursor) -> Option<Expr> {
        let value = self.value(expr, place)?;
        let mut is_written = false;
        Walk::new(self.program, Tables::Inside).expr(&value, &mut |item| match item {
            Item::Var(var) => is_written |= self.written_vars.contains(&var),
            Item::Header(HeaderRef::Fixed(header)) => is_written |= self.written_headers.contains(header),
            Item::Header(_) | Item::Stmt(_) => {}
        });
        (!is_written).then_some(value)
    }

    /// A value in terms of the state before the parser, where only variables of the architecture have been set; none if
    /// that is not known.
    fn value(&self, expr: &Expr, place: &Cursor) -> Option<Expr> {
        let boxed = |expr: &Expr| self.value(expr, place).map(Box::new);
        let zero = || Expr::constant(expr.ty, Bits::zero(expr.ty.width()));
        let kind = match &expr.kind {
            ExprKind::Const(_) => expr.kind.clone(),
            ExprKind::Var(var) => match place.values.get(var) {
                Some(value) => return Some(value.clone()),
                None => match self.program.vars[*var].kind {
                    VarKind::Local => return Some(zero()),
                    VarKind::Metadata if !self.preserved.contains(var) => return Some(zero()),
                    VarKind::Intrinsic(slot) if self.program.architecture.source(slot).is_queue() => return None,
                    _ => expr.kind.clone(),
                },
            },
            ExprKind::Field(HeaderRef::Fixed(header), _) if !place.extracted.contains(header) => return Some(zero()),
            ExprKind::Field(HeaderRef::Fixed(_), _) => expr.kind.clone(),
            ExprKind::IsValid(HeaderRef::Fixed(header)) => return Some(Expr::bool(place.extracted.contains(header))),
            ExprKind::Unary(op, operand) => ExprKind::Unary(*op, boxed(operand)?),
            ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left)?, boxed(right)?),
            ExprKind::Mux(cond, yes, no) => ExprKind::Mux(boxed(cond)?, boxed(yes)?, boxed(no)?),
            ExprKind::Cast(operand) => ExprKind::Cast(boxed(operand)?),
            ExprKind::Slice { base, high, low } => ExprKind::Slice { base: boxed(base)?, high: *high, low: *low },
            ExprKind::Concat(high, low) => ExprKind::Concat(boxed(high)?, boxed(low)?),
            _ => return None,
        };
        Some(Expr { kind, ty: expr.ty })
    }

    /// Assignments of zero to metadata that are used from the parser on and preserve nothing of ingress.
    fn resets(&self, parser: BlockId) -> Body {
        let mut used = OrderedSet::new();
        for (id, block) in self.program.blocks.iter_enumerated() {
            if id >= parser {
                walk_block(self.program, block, Tables::Inside, &mut |item| {
                    if let Item::Var(var) = item {
                        used.insert(var);
                    }
                });
            }
        }
        let is_reset = |var: &VarId| self.program.vars[*var].kind == VarKind::Metadata && !self.preserved.contains(var);
        let zero = |var: VarId| {
            let ty = self.program.vars[var].ty;
            let src = Expr::constant(ty, Bits::zero(ty.width()));
            Stmt { kind: StmtKind::Assign { dst: Place::Var(var), src }, span: Span::NONE }
        };
        used.into_iter().filter(is_reset).map(zero).collect()
    }
}

/// Whether a statement assigns a variable.
fn assigns(stmt: &Stmt, var: VarId) -> bool {
    stmt.kind.dst().and_then(base_var) == Some(var)
}

fn is_valid(header: HeaderId) -> Expr {
    Expr { kind: ExprKind::IsValid(HeaderRef::Fixed(header)), ty: Type::Bool }
}

/// Whether none of some headers is valid; none if there are none.
fn none_valid(headers: &[HeaderId]) -> Option<Expr> {
    let is_invalid = |&header: &HeaderId| Expr::unary(UnaryOp::Not, is_valid(header));
    headers.iter().map(is_invalid).reduce(|all, more| Expr::binary(BinaryOp::LogicalAnd, all, more))
}

/// A comparison, computed if its operands are constants.
fn folded(comparison: Expr) -> Expr {
    if let ExprKind::Binary(BinaryOp::Eq, left, right) = &comparison.kind
        && let (Some(left), Some(right)) = (left.as_const(), right.as_const())
    {
        return Expr::bool(left == right);
    }
    comparison
}

impl Paths {
    /// Statements that punt packets on paths on which the parser is lost.
    fn tests(&self, punt: &Stmt) -> Body {
        match self {
            Paths::Lost => vec![punt.clone()],
            Paths::Ends(_) => Vec::new(),
            Paths::If(cond, yes, no) => choice(cond, yes.tests(punt), no.tests(punt)),
        }
    }

    /// Statements that assign what the parser does on the other paths.
    fn assignments(&self) -> Body {
        match self {
            Paths::Lost => Vec::new(),
            Paths::Ends(body) => body.clone(),
            Paths::If(cond, yes, no) => {
                let (then_body, else_body) = (yes.assignments(), no.assignments());
                // Packets for which the parser is lost were punted before.
                match (&**yes, &**no) {
                    (_, Paths::Lost) => then_body,
                    (Paths::Lost, _) => else_body,
                    _ if then_body == else_body => then_body,
                    _ => choice(cond, then_body, else_body),
                }
            }
        }
    }
}

fn choice(cond: &Expr, then_body: Body, else_body: Body) -> Body {
    let (cond, then_body, else_body) = match (then_body.is_empty(), else_body.is_empty()) {
        (true, true) => return Vec::new(),
        (true, false) => (Expr::unary(UnaryOp::Not, cond.clone()), else_body, Vec::new()),
        _ => (cond.clone(), then_body, else_body),
    };
    vec![Stmt { kind: StmtKind::If { cond, then_body, else_body }, span: Span::NONE }]
}
