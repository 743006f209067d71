//! Parser loops over header stacks become states of their own, in which each element has a name.
//!
//! Before:
//! ```text
//! state1 "labels" {
//!   extract stack0.next
//!   select (stack0.last.2) {
//!     case (1w0x1): accept
//!     case (any): state1
//!   }
//! }
//! ```
//! After (`stack0` is `h1`, `h2` with `next` `v0`):
//! ```text
//! state1 "labels" {
//!   extract h1
//!   v0 = 32w0x1
//!   select (h1.2) {
//!     case (1w0x1): accept
//!     case (any): state2
//!   }
//! }
//! state2 "labels" {
//!   extract h2
//!   v0 = 32w0x2
//!   select (h2.2) {
//!     case (1w0x1): accept
//!     case (any): state3
//!   }
//! }
//! state3 "labels" {
//!   verify false error 32w0x3
//!   goto reject
//! }
//! ```
//! A parser starts with every `next` at zero, and in most states its value is known. So a state is copied for each
//! value with which packets can enter it, and `next` and `last` become references to elements. Packets pass as many
//! states as before, each of which counts towards their budget of steps. After an extraction `next` is assigned, in
//! case it is read (pass `unread`). Native code then has a header where it had an array, and programs whose stacks are
//! never indexed at run time are processed in place.
//!
//! Limits: a parser that would become too large is unrolled only in part. States that contain loops are not copied,
//! since the budget of iterations covers all their runs. A stack that controls index at run time gains nothing.

use crate::effects::{Context, Writes};
use crate::unread::next_of;
use crate::{Pass, simplify};
use base::{Bits, IndexVec, index::Id as _};
use base::{OrderedMap, OrderedSet};
use ir::walk::{self, Item, Part};
use ir::{
    Block, BlockKind, Body, Expr, ExprKind, HeaderId, HeaderRef, LabelId, ParserState, Place, Program, StackId,
    StateId, Stmt, StmtKind, Target, Transition, VarId,
};

/// See the module.
pub const PASS: Pass =
    Pass { name: "unroll", description: "names the elements of header stacks that parsers go through in loops", run };

/// The most states of an unrolled parser.
const STATES_MAX: usize = 256;

/// The most statements in them.
const STATEMENTS_MAX: usize = 1000;

/// The values of `next` variables, as far as they are known.
type Positions = OrderedMap<VarId, u64>;

fn run(program: &mut Program) {
    let context = Context::new(program);
    for id in program.blocks.ids() {
        let mut nexts = followed(program, &program.blocks[id]);
        while !nexts.is_empty() {
            match unrolled(program, &context, &program.blocks[id].kind, &nexts) {
                Some((kind, labels)) => {
                    (program.blocks[id].kind, program.labels) = (kind, labels);
                    break;
                }
                None => drop_longest(program, &mut nexts),
            }
        }
    }
}

/// The `next` variables that a parser mentions, except those of stacks that other blocks index at run time.
fn followed(program: &Program, block: &Block) -> OrderedSet<VarId> {
    let BlockKind::Parser { states, .. } = &block.kind else { return OrderedSet::new() };
    if states.len() > STATES_MAX {
        return OrderedSet::new();
    }
    let mentioned: OrderedSet<VarId> = states.iter().flat_map(|state| mentioned(program, state)).collect();
    let mut named = OrderedSet::new();
    for other in program.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Control { .. })) {
        walk::visit_block(program, other, &mut |item| {
            if let Item::Header(HeaderRef::Element { stack, .. }) | Item::Field(HeaderRef::Element { stack, .. }, _) =
                item
            {
                named.insert(*stack);
            }
        });
    }
    let is_plain = |(id, _): &(StackId, &ir::Stack)| !named.contains(id);
    program
        .stacks
        .iter_enumerated()
        .filter(is_plain)
        .map(|(_, stack)| stack.next)
        .filter(|next| mentioned.contains(next))
        .collect()
}

/// Leaves out the stack that makes the most states.
fn drop_longest(program: &Program, nexts: &mut OrderedSet<VarId>) {
    let longest = program.stacks.iter().filter(|stack| nexts.contains(&stack.next));
    if let Some(stack) = longest.max_by_key(|stack| stack.elements.len()) {
        nexts.remove(&stack.next);
    } else {
        nexts.clear();
    }
}

/// The `next` variables that a state mentions.
fn mentioned(program: &Program, state: &ParserState) -> OrderedSet<VarId> {
    let mut found = OrderedSet::new();
    let mut see = |item: Item<'_>| match item {
        Item::Var(var) => _ = found.insert(var),
        _ => found.extend(next_of(program, item)),
    };
    walk::visit_used(program, &state.body, &mut see);
    walk::transition_exprs(&state.transition).into_iter().for_each(|expr| walk::visit_expr(expr, &mut see));
    let nexts: OrderedSet<VarId> = program.stacks.iter().map(|stack| stack.next).collect();
    found.intersection(&nexts).copied().collect()
}

/// The unrolled parser for these variables, and the number of labels of the program then. None if it would be too
/// large.
fn unrolled(
    program: &Program,
    context: &Context,
    parser: &BlockKind,
    nexts: &OrderedSet<VarId>,
) -> Option<(BlockKind, u32)> {
    let BlockKind::Parser { start, states, error } = parser else { return None };
    let mut unroll = Unroll {
        context,
        nexts,
        states,
        distinguishing: distinguishing(program, states, nexts),
        ids: OrderedMap::new(),
        made: IndexVec::new(),
        pending: Vec::new(),
        copied: OrderedSet::new(),
        labels: program.labels,
        named: OrderedSet::new(),
        names: OrderedMap::new(),
        exits: OrderedMap::new(),
    };
    let kept: OrderedSet<VarId> = program.field_lists.iter().flat_map(|list| list.vars.iter().copied()).collect();
    let is_zero = |var: &&VarId| !kept.contains(var) && program.vars[**var].kind.slot().is_none();
    let first: Positions = nexts.iter().filter(is_zero).map(|&var| (var, 0)).collect();
    let start = unroll.state(*start, &first)?;
    let mut statements = 0;
    while let Some((id, old, known)) = unroll.pending.pop() {
        let state = unroll.remade(&states[old], known)?;
        walk::visit_body(&state.body, &mut |_| statements += 1);
        if statements > STATEMENTS_MAX && unroll.made.len() > states.len() {
            return None;
        }
        unroll.made[id] = state;
    }
    let (states, labels) = (unroll.made, unroll.labels);
    Some((BlockKind::Parser { start, states, error: *error }, labels))
}

/// The variables that each state or a later state mentions: only these distinguish copies of the state.
fn distinguishing(
    program: &Program,
    states: &IndexVec<StateId, ParserState>,
    nexts: &OrderedSet<VarId>,
) -> IndexVec<StateId, OrderedSet<VarId>> {
    let own = |state: &ParserState| mentioned(program, state).intersection(nexts).copied().collect();
    let mut distinguishing: IndexVec<StateId, OrderedSet<VarId>> = states.iter().map(own).collect();
    loop {
        let mut is_fixpoint = true;
        for (id, state) in states.iter_enumerated() {
            for next in state.targets() {
                let more: Vec<VarId> = distinguishing[next].difference(&distinguishing[id]).copied().collect();
                is_fixpoint &= more.is_empty();
                distinguishing[id].extend(more);
            }
        }
        if is_fixpoint {
            return distinguishing;
        }
    }
}

/// A parser that is being unrolled.
struct Unroll<'u> {
    context: &'u Context,
    /// The variables that are followed.
    nexts: &'u OrderedSet<VarId>,
    /// The original parser.
    states: &'u IndexVec<StateId, ParserState>,
    distinguishing: IndexVec<StateId, OrderedSet<VarId>>,
    /// The copy of an original state, entered with these values.
    ids: OrderedMap<(StateId, Positions), StateId>,
    made: IndexVec<StateId, ParserState>,
    /// States that are still to be made: their originals, and the facts at their start.
    pending: Vec<(StateId, StateId, Positions)>,
    /// States that exist already.
    copied: OrderedSet<StateId>,
    labels: u32,
    /// Labels of blocks that exist already.
    named: OrderedSet<LabelId>,
    /// Labels of the state that is being made, with their new names.
    names: OrderedMap<LabelId, LabelId>,
    /// The facts where an open label is left; none if it is not left so far.
    exits: OrderedMap<LabelId, Option<Positions>>,
}

impl Unroll<'_> {
    /// The copy of an original state. None if there are too many, or it must not be copied.
    fn state(&mut self, old: StateId, known: &Positions) -> Option<StateId> {
        let known: Positions = known
            .iter()
            .filter(|(var, _)| self.distinguishing[old].contains(var))
            .map(|(&var, &at)| (var, at))
            .collect();
        if let Some(&id) = self.ids.get(&(old, known.clone())) {
            return Some(id);
        }
        let is_first = self.copied.insert(old);
        if !is_first && (self.made.len() >= STATES_MAX || has_loop(&self.states[old].body)) {
            return None;
        }
        let id = self.made.push(self.states[old].clone());
        self.ids.insert((old, known.clone()), id);
        self.pending.push((id, old, known));
        Some(id)
    }

    fn remade(&mut self, old: &ParserState, known: Positions) -> Option<ParserState> {
        let mut state = old.clone();
        self.names.clear();
        let end = self.body(&mut state.body, Some(known));
        let Some(known) = end else {
            state.transition = Transition::Goto(Target::Reject);
            return Some(state);
        };
        walk::rewrite_transition(&mut state.transition, &mut |part| self.rewrite(&known, part));
        let targets: Vec<&mut Target> = match &mut state.transition {
            Transition::Goto(target) => vec![target],
            Transition::Select { cases, .. } => cases.iter_mut().map(|case| &mut case.target).collect(),
        };
        for target in targets {
            if let Target::State(next) = target {
                *next = self.state(*next, &known)?;
            }
        }
        Some(state)
    }

    /// Rewrites a body, and returns the facts after it; none if its end is unreachable.
    fn body(&mut self, body: &mut Body, mut known: Option<Positions>) -> Option<Positions> {
        let mut out = Vec::new();
        for mut stmt in std::mem::take(body) {
            let (after, then) = self.stmt(&mut stmt.kind, known?);
            let span = stmt.span;
            if !matches!(&stmt.kind, StmtKind::Verify { cond, .. } if cond.as_const().is_some_and(|it| !it.is_zero())) {
                out.push(stmt);
            }
            out.extend(then.map(|kind| Stmt { kind, span }));
            known = after;
            if known.is_none() {
                break;
            }
        }
        *body = out;
        known
    }

    /// Rewrites a statement. Returns the facts after it, and statements to insert there.
    fn stmt(&mut self, kind: &mut StmtKind, mut known: Positions) -> (Option<Positions>, Option<StmtKind>) {
        match kind {
            StmtKind::If { .. } | StmtKind::Switch { .. } => (self.ways(kind, known), None),
            StmtKind::Block { label, body } => {
                let old = *label;
                *label = self.name_anew(old);
                self.exits.insert(old, None);
                let end = self.body(body, Some(known));
                let left = self.exits.remove(&old).flatten();
                (joined(end, left), None)
            }
            StmtKind::Loop { label, body } => {
                let mut writes = Writes::default();
                self.context.body_writes(body, &mut writes);
                known.retain(|var, _| !writes.vars.contains(var));
                self.exits.insert(*label, None);
                self.body(body, Some(known.clone()));
                let left = self.exits.remove(label).flatten();
                // A loop that has used up its iterations ends at its start.
                (joined(Some(known), left), None)
            }
            StmtKind::Leave(label) => {
                if let Some(exit) = self.exits.remove(label) {
                    self.exits.insert(*label, joined(exit, Some(known)));
                }
                *label = self.names.get(label).copied().unwrap_or(*label);
                (None, None)
            }
            StmtKind::Extract { .. } => self.extract(kind, known),
            StmtKind::PushFront { stack, count } => {
                (Some(self.moved(*stack, known, |at, size| (at + u64::from(*count)).min(size))), None)
            }
            StmtKind::PopFront { stack, count } => {
                (Some(self.moved(*stack, known, |at, _| at.saturating_sub(u64::from(*count)))), None)
            }
            _ => {
                walk::rewrite_own(kind, &mut |part| self.rewrite(&known, part));
                let ends = matches!(kind, StmtKind::Verify { cond, .. } if cond.as_const().is_some_and(Bits::is_zero));
                self.after(kind, &mut known);
                ((!ends).then_some(known), None)
            }
        }
    }

    /// Rewrites the ways of a statement that has several; of those only that are not taken, no more is known.
    fn ways(&mut self, kind: &mut StmtKind, known: Positions) -> Option<Positions> {
        walk::rewrite_own(kind, &mut |part| self.rewrite(&known, part));
        if let StmtKind::If { cond, then_body, else_body } = kind
            && let Some(value) = cond.as_const()
        {
            let (taken, other) = if value.is_zero() { (else_body, then_body) } else { (then_body, else_body) };
            other.clear();
            return self.body(taken, Some(known));
        }
        let mut after = None;
        for body in kind.bodies_mut() {
            let end = self.body(body, Some(known.clone()));
            after = joined(after, end);
        }
        after
    }

    fn extract(&mut self, kind: &mut StmtKind, mut known: Positions) -> (Option<Positions>, Option<StmtKind>) {
        let to_next = match kind {
            StmtKind::Extract { dst: HeaderRef::Next(stack), .. } => Some(self.context.stacks[*stack].next),
            _ => None,
        };
        walk::rewrite_own(kind, &mut |part| self.rewrite(&known, part));
        if let StmtKind::Extract { dst: HeaderRef::Next(stack) | HeaderRef::Last(stack), .. } = kind
            && known.contains_key(&self.context.stacks[*stack].next)
        {
            let error = Expr::bit(32, ir::ERROR_STACK_OUT_OF_BOUNDS);
            *kind = StmtKind::Verify { cond: Expr::bool(false), error };
            return (None, None);
        }
        let Some((next, at)) = to_next.and_then(|next| Some((next, known.get_mut(&next)?))) else {
            return (Some(known), None);
        };
        *at += 1;
        let assign = StmtKind::Assign { dst: Place::Var(next), src: Expr::bit(32, *at) };
        (Some(known), Some(assign))
    }

    /// The facts after a statement that moves a stack, which changes `next` itself.
    fn moved(&self, stack: StackId, mut known: Positions, change: impl Fn(u64, u64) -> u64) -> Positions {
        let stack = &self.context.stacks[stack];
        if let Some(at) = known.get_mut(&stack.next) {
            *at = change(*at, stack.elements.len() as u64);
        }
        known
    }

    /// The facts after a statement without bodies.
    fn after(&self, kind: &StmtKind, known: &mut Positions) {
        let mut writes = Writes::default();
        self.context.own_writes(kind, &mut writes);
        known.retain(|var, _| !writes.vars.contains(var));
        if let StmtKind::Assign { dst: Place::Var(var), src } = kind
            && self.nexts.contains(var)
            && let Some(at) = src.as_const().and_then(Bits::to_u64)
        {
            known.insert(*var, at);
        }
    }

    /// Substitutes known values.
    fn rewrite(&self, known: &Positions, part: Part<'_>) {
        match part {
            Part::Header(header) => {
                if let Some(id) = self.element(known, header) {
                    *header = HeaderRef::Fixed(id);
                }
                simplify::change(&self.context.stacks, Part::Header(header));
            }
            Part::Expr(expr) => {
                if let ExprKind::Var(var) = expr.kind
                    && let Some(&at) = known.get(&var)
                {
                    *expr = Expr::constant(expr.ty, Bits::from_u64(expr.ty.width(), at));
                }
                simplify::change(&self.context.stacks, Part::Expr(expr));
            }
        }
    }

    /// The element that a reference refers to, if that is known and it exists.
    fn element(&self, known: &Positions, header: &HeaderRef) -> Option<HeaderId> {
        let (stack, back) = match header {
            HeaderRef::Next(stack) => (*stack, 0),
            HeaderRef::Last(stack) => (*stack, 1),
            HeaderRef::Fixed(_) | HeaderRef::Element { .. } => return None,
        };
        let stack = &self.context.stacks[stack];
        let at = known.get(&stack.next)?.checked_sub(back)?;
        stack.elements.get(usize::try_from(at).ok()?).copied()
    }

    /// The label of a block: a new one if it is used already.
    fn name_anew(&mut self, label: LabelId) -> LabelId {
        let name = if self.named.insert(label) {
            label
        } else {
            self.labels += 1;
            LabelId::from_index(self.labels as usize - 1)
        };
        self.names.insert(label, name);
        name
    }
}

/// The facts where two paths join.
fn joined(a: Option<Positions>, b: Option<Positions>) -> Option<Positions> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.retain(|var, at| b.get(var) == Some(at));
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

fn has_loop(body: &[Stmt]) -> bool {
    let mut found = false;
    walk::visit_body(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Loop { .. }));
    found
}
