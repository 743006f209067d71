//! Walks over expressions, places, statements and bodies.
//!
//! What enters: a part of a program and a function. What leaves: the function was called for (or has changed) every
//! part of the given kind. "Own" parts of a statement are those outside of the bodies that it contains.

use crate::expr::{Expr, ExprKind, HeaderRef};
use crate::program::{BlockKind, Program, RoutineId, TableId, VarId};
use crate::stmt::{Body, HashInput, HashValue, KeySet, ParserState, Place, Stmt, StmtKind, Transition};
use base::{Bits, OrderedSet, Span};

/// Something that a statement mentions.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A variable, read or written.
    Var(VarId),
    /// A header as a whole (its validity or all its contents).
    Header(&'a HeaderRef),
    /// A field of a header.
    Field(&'a HeaderRef, u32),
    /// A table that is applied.
    Table(TableId),
    /// Any expression, before its parts.
    Expr(&'a Expr),
    /// Any place, before its parts.
    Place(&'a Place),
}

/// Calls `see` for everything in an expression, itself included.
pub fn visit_expr<'a>(expr: &'a Expr, see: &mut dyn FnMut(Item<'a>)) {
    see(Item::Expr(expr));
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::PacketLength => {}
        ExprKind::Var(var) => see(Item::Var(*var)),
        ExprKind::Field(header, field)
        | ExprKind::VarbitLength(header, field)
        | ExprKind::VarbitBits(header, field) => {
            visit_field(header, *field, see);
        }
        ExprKind::IsValid(header) => visit_header(header, see),
        ExprKind::VarbitEqual((left, left_field), (right, right_field)) => {
            visit_field(left, *left_field, see);
            visit_field(right, *right_field, see);
        }
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) | ExprKind::Slice { base: operand, .. } => {
            visit_expr(operand, see);
        }
        ExprKind::Binary(_, left, right) | ExprKind::Concat(left, right) => {
            visit_expr(left, see);
            visit_expr(right, see);
        }
        ExprKind::Mux(cond, yes, no) => {
            visit_expr(cond, see);
            visit_expr(yes, see);
            visit_expr(no, see);
        }
    }
}

fn visit_index<'a>(header: &'a HeaderRef, see: &mut dyn FnMut(Item<'a>)) {
    if let HeaderRef::Element { index, .. } = header {
        visit_expr(index, see);
    }
}

fn visit_header<'a>(header: &'a HeaderRef, see: &mut dyn FnMut(Item<'a>)) {
    see(Item::Header(header));
    visit_index(header, see);
}

fn visit_field<'a>(header: &'a HeaderRef, field: u32, see: &mut dyn FnMut(Item<'a>)) {
    see(Item::Field(header, field));
    visit_index(header, see);
}

/// Calls `see` for everything in a place, itself included.
pub fn visit_place<'a>(place: &'a Place, see: &mut dyn FnMut(Item<'a>)) {
    see(Item::Place(place));
    match place {
        Place::Var(var) => see(Item::Var(*var)),
        Place::Field(header, field) => visit_field(header, *field, see),
        Place::Slice { base, .. } => visit_place(base, see),
    }
}

/// Calls `see` for everything that a statement itself mentions, without the bodies in it.
pub fn visit_own<'a>(stmt: &'a StmtKind, see: &mut dyn FnMut(Item<'a>)) {
    if let Some(dst) = stmt.dst() {
        visit_place(dst, see);
    }
    for expr in stmt.own_exprs() {
        visit_expr(expr, see);
    }
    match stmt {
        StmtKind::SetValid(header) | StmtKind::SetInvalid(header) | StmtKind::Emit(header) => visit_header(header, see),
        StmtKind::Extract { dst, .. } => visit_header(dst, see),
        StmtKind::CopyHeader { dst, src } => {
            visit_header(dst, see);
            visit_header(src, see);
        }
        StmtKind::CopyVarbit { dst, src } => {
            visit_field(&dst.0, dst.1, see);
            visit_field(&src.0, src.1, see);
        }
        StmtKind::SetVarbit { dst, .. } => visit_field(&dst.0, dst.1, see),
        StmtKind::ApplyTable { table, hit, action } => {
            see(Item::Table(*table));
            for var in [hit, action].into_iter().flatten() {
                see(Item::Var(*var));
            }
        }
        StmtKind::CountLookup { table, .. } => see(Item::Table(*table)),
        StmtKind::Hash { inputs, .. } => inputs.iter().for_each(|input| visit_input_headers(input, see)),
        _ => {}
    }
}

/// Calls `see` for the headers that a hash's input names outside of its expression.
fn visit_input_headers<'a>(input: &'a HashInput, see: &mut dyn FnMut(Item<'a>)) {
    if let Some(header) = &input.guard {
        visit_header(header, see);
    }
    if let HashValue::Varbit(header, field) = &input.value {
        visit_field(header, *field, see);
    }
}

/// Calls `see` for everything that a table evaluates before the lookup: its keys, and the inputs of its selector.
pub fn visit_table_inputs<'a>(table: &'a crate::Table, see: &mut dyn FnMut(Item<'a>)) {
    for key in &table.keys {
        visit_expr(&key.expr, see);
    }
    for input in table.selector_inputs() {
        if let HashValue::Expr(expr) = &input.value {
            visit_expr(expr, see);
        }
        visit_input_headers(input, see);
    }
}

/// Changes every expression and header reference that a table evaluates before the lookup.
pub fn rewrite_table_inputs(table: &mut crate::Table, change: &mut dyn FnMut(Part<'_>)) {
    for key in &mut table.keys {
        rewrite_expr(&mut key.expr, change);
    }
    if let Some(implementation) = &mut table.implementation {
        implementation.inputs.iter_mut().for_each(|input| rewrite_input(input, change));
    }
}

fn rewrite_input(input: &mut HashInput, change: &mut dyn FnMut(Part<'_>)) {
    if let Some(guard) = &mut input.guard {
        rewrite_header(guard, change);
    }
    match &mut input.value {
        HashValue::Expr(expr) => rewrite_expr(expr, change),
        HashValue::Varbit(header, _) => rewrite_header(header, change),
    }
}

impl StmtKind {
    /// The place that the statement writes a value to, if it has one.
    pub fn dst(&self) -> Option<&Place> {
        match self {
            StmtKind::Assign { dst, .. }
            | StmtKind::Lookahead { dst, .. }
            | StmtKind::RegisterRead { dst, .. }
            | StmtKind::ExecuteMeter { dst, .. }
            | StmtKind::ExecuteDirectMeter { dst, .. }
            | StmtKind::Hash { dst, .. }
            | StmtKind::Random { dst, .. }
            | StmtKind::AddEntry { dst, .. }
            | StmtKind::CallExtern { dst: Some(dst), .. } => Some(dst),
            _ => None,
        }
    }

    /// The place that the statement writes a value to, to be changed.
    pub fn dst_mut(&mut self) -> Option<&mut Place> {
        match self {
            StmtKind::Assign { dst, .. }
            | StmtKind::Lookahead { dst, .. }
            | StmtKind::RegisterRead { dst, .. }
            | StmtKind::ExecuteMeter { dst, .. }
            | StmtKind::ExecuteDirectMeter { dst, .. }
            | StmtKind::Hash { dst, .. }
            | StmtKind::Random { dst, .. }
            | StmtKind::AddEntry { dst, .. }
            | StmtKind::CallExtern { dst: Some(dst), .. } => Some(dst),
            _ => None,
        }
    }

    /// The expressions that the statement itself evaluates, but for the indices in header references.
    pub fn own_exprs(&self) -> Vec<&Expr> {
        match self {
            StmtKind::Assign { src: expr, .. }
            | StmtKind::If { cond: expr, .. }
            | StmtKind::Switch { value: expr, .. }
            | StmtKind::Extract { varbit_bits: Some(expr), .. }
            | StmtKind::Advance { bits: expr }
            | StmtKind::RegisterRead { index: expr, .. }
            | StmtKind::Count { index: expr, .. }
            | StmtKind::ExecuteDirectMeter { before: expr, .. }
            | StmtKind::Assert { cond: expr, .. } => vec![expr],
            StmtKind::Verify { cond: a, error: b }
            | StmtKind::RegisterWrite { index: a, value: b, .. }
            | StmtKind::ExecuteMeter { index: a, before: b, .. }
            | StmtKind::Random { low: a, high: b, .. }
            | StmtKind::CountLookup { hit: a, entry: b, .. }
            | StmtKind::Enqueue { port: a, priority: b, .. }
            | StmtKind::SetVarbit { length_bits: a, value: b, .. } => vec![a, b],
            StmtKind::Send { port, limit } => [port].into_iter().chain(limit).collect(),
            StmtKind::AddEntry { keys, args, profile, .. } => keys.iter().chain(args).chain([profile]).collect(),
            StmtKind::SetTimer { profile } => profile.iter().collect(),
            StmtKind::Digest { values, .. }
            | StmtKind::Log { args: values, .. }
            | StmtKind::CallExtern { inputs: values, .. } => values.iter().collect(),
            StmtKind::Hash { inputs, .. } => inputs
                .iter()
                .filter_map(|input| match &input.value {
                    HashValue::Expr(expr) => Some(expr),
                    HashValue::Varbit(..) => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the statement, without its bodies, is allowed in a routine: it needs no entry of a table, no position in
    /// the packet and no count over the whole block, and control always continues after it.
    pub fn may_be_in_routine(&self) -> bool {
        !matches!(
            self,
            StmtKind::Loop { .. }
                | StmtKind::ApplyTable { .. }
                | StmtKind::CountLookup { .. }
                | StmtKind::ExecuteDirectMeter { .. }
                | StmtKind::AddEntry { .. }
                | StmtKind::SetTimer { .. }
                | StmtKind::Extract { .. }
                | StmtKind::Advance { .. }
                | StmtKind::Lookahead { .. }
                | StmtKind::Verify { .. }
                | StmtKind::Emit(_)
                | StmtKind::Assert { .. }
                | StmtKind::Hash { payload: true, .. }
        ) && !self.is_decision()
    }

    /// Whether the statement ends decisions, which alone may have it.
    pub fn is_decision(&self) -> bool {
        matches!(self, StmtKind::Send { .. } | StmtKind::Enqueue { .. } | StmtKind::Drop(_) | StmtKind::Punt(_))
    }

    /// The bodies in the statement.
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            StmtKind::If { then_body, else_body, .. } => vec![then_body, else_body],
            StmtKind::Switch { cases, default, .. } => {
                cases.iter().map(|case| &case.body).chain(std::iter::once(default)).collect()
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The bodies in the statement, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            StmtKind::If { then_body, else_body, .. } => vec![then_body, else_body],
            StmtKind::Switch { cases, default, .. } => {
                cases.iter_mut().map(|case| &mut case.body).chain(std::iter::once(default)).collect()
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Calls `see` for every statement in a body, those inside others included, outer before inner.
pub fn visit_body<'a>(body: &'a [Stmt], see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        see(stmt);
        for inner in stmt.kind.bodies() {
            visit_body(inner, see);
        }
    }
}

/// How many statements a program has, those inside others included.
pub fn statement_count(program: &Program) -> usize {
    let mut count = 0;
    bodies(program).into_iter().for_each(|body| visit_body(body, &mut |_| count += 1));
    count
}

/// The top-level expressions of a transition.
pub fn transition_exprs(transition: &Transition) -> Vec<&Expr> {
    let mut exprs = Vec::new();
    if let Transition::Select { keys, cases } = transition {
        exprs.extend(keys);
        for case in cases {
            exprs.extend(case.sets.iter().flat_map(KeySet::exprs));
        }
    }
    exprs
}

impl KeySet {
    /// The expressions in the set.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            KeySet::Any | KeySet::ValueSet(_) => Vec::new(),
            KeySet::Value(value) => vec![value],
            KeySet::Mask(a, b) | KeySet::Range(a, b) => vec![a, b],
        }
    }
}

/// Every body of a program but its decisions, to be changed: of blocks, parser states, routines and actions, these
/// last.
pub fn bodies_mut(program: &mut Program) -> Vec<&mut Body> {
    let mut bodies: Vec<&mut Body> = Vec::new();
    for block in program.blocks.iter_mut() {
        match &mut block.kind {
            BlockKind::Parser { states, .. } => bodies.extend(states.iter_mut().map(|state| &mut state.body)),
            BlockKind::Control { body } => bodies.push(body),
        }
    }
    bodies.extend(program.routines.iter_mut().map(|routine| &mut routine.body));
    bodies.extend(program.actions.iter_mut().map(|action| &mut action.body));
    bodies
}

/// Calls `change` for every source position in a program.
pub fn change_spans(program: &mut Program, change: &mut dyn FnMut(&mut Span)) {
    for block in program.blocks.iter_mut() {
        let BlockKind::Parser { states, .. } = &mut block.kind else { continue };
        for state in states.iter_mut() {
            change(&mut state.span);
            let Transition::Select { cases, .. } = &mut state.transition else { continue };
            cases.iter_mut().for_each(|case| change(&mut case.span));
        }
    }
    program.routines.iter_mut().for_each(|routine| change(&mut routine.span));
    program.actions.iter_mut().for_each(|action| change(&mut action.span));
    program.field_lists.iter_mut().for_each(|list| change(&mut list.span));
    program.extern_functions.iter_mut().for_each(|function| change(&mut function.span));
    for table in program.tables.iter_mut() {
        change(&mut table.span);
        table.entries.iter_mut().for_each(|entry| change(&mut entry.span));
    }
    bodies_mut(program).into_iter().for_each(|body| change_spans_of(body, change));
}

fn change_spans_of(body: &mut Body, change: &mut dyn FnMut(&mut Span)) {
    for stmt in body {
        change(&mut stmt.span);
        stmt.kind.bodies_mut().into_iter().for_each(|inner| change_spans_of(inner, change));
    }
}

/// Every body of a program but its decisions.
pub fn bodies(program: &Program) -> Vec<&Body> {
    let mut bodies: Vec<&Body> = Vec::new();
    for block in &program.blocks {
        match &block.kind {
            BlockKind::Parser { states, .. } => bodies.extend(states.iter().map(|state| &state.body)),
            BlockKind::Control { body } => bodies.push(body),
        }
    }
    bodies.extend(program.routines.iter().map(|routine| &routine.body));
    bodies.extend(program.actions.iter().map(|action| &action.body));
    bodies
}

/// The variable that a place is, or is part of.
pub fn base_var(place: &Place) -> Option<VarId> {
    match place {
        Place::Var(var) => Some(*var),
        Place::Slice { base, .. } => base_var(base),
        Place::Field(..) => None,
    }
}

/// The slot of the intrinsic variable that a place is, or is part of.
pub fn slot_of(program: &Program, place: &Place) -> Option<u32> {
    program.vars[base_var(place)?].kind.slot()
}

/// Calls `see` for every place that the program itself writes (not its decisions), including those of direct meters,
/// with the constant where a whole variable is set to one.
pub fn visit_writes(program: &Program, see: &mut dyn FnMut(&Place, Option<&Bits>)) {
    for body in bodies(program) {
        visit_body(body, &mut |statement| match &statement.kind {
            StmtKind::Assign { dst: dst @ Place::Var(_), src: Expr { kind: ExprKind::Const(value), .. } } => {
                see(dst, Some(value));
            }
            kind => kind.dst().into_iter().for_each(|dst| see(dst, None)),
        });
    }
    for (_, place) in program.tables.iter().filter_map(|table| table.direct_meter.as_ref()) {
        place.iter().for_each(|place| see(place, None));
    }
}

/// Whether the program mentions an intrinsic variable in such a slot.
pub fn mentions_slot(program: &Program, is_such: impl Fn(u32) -> bool) -> bool {
    let mut found = false;
    for block in &program.blocks {
        visit_block(program, block, &mut |item| {
            if let Item::Var(var) = item {
                found |= program.vars[var].kind.slot().is_some_and(&is_such);
            }
        });
    }
    found
}

/// Whether the program asserts anything.
pub fn has_assertions(program: &Program) -> bool {
    let mut found = false;
    for body in bodies(program) {
        visit_body(body, &mut |statement| found |= matches!(statement.kind, StmtKind::Assert { .. }));
    }
    found
}

/// Something that a rewrite may change.
#[derive(Debug)]
pub enum Part<'a> {
    /// An expression.
    Expr(&'a mut Expr),
    /// A reference to a header, in an expression, a place or a statement.
    Header(&'a mut HeaderRef),
}

/// Changes every expression and header reference in a program, inner ones first: those of bodies, transitions, keys,
/// indices and places, and of decisions.
pub fn rewrite_program(program: &mut Program, change: &mut dyn FnMut(Part<'_>)) {
    for block in program.blocks.iter_mut() {
        match &mut block.kind {
            BlockKind::Parser { states, .. } => {
                for state in states.iter_mut() {
                    rewrite_state(state, change);
                }
            }
            BlockKind::Control { body } => rewrite_body(body, change),
        }
    }
    program.decisions.iter_mut().for_each(|body| rewrite_body(body, change));
    for routine in program.routines.iter_mut() {
        rewrite_body(&mut routine.body, change);
    }
    for action in program.actions.iter_mut() {
        rewrite_body(&mut action.body, change);
    }
    for table in program.tables.iter_mut() {
        rewrite_table_inputs(table, change);
        if let Some((_, Some(place))) = &mut table.direct_meter {
            rewrite_place(place, change);
        }
    }
}

/// Changes every expression of a parser state.
pub fn rewrite_state(state: &mut ParserState, change: &mut dyn FnMut(Part<'_>)) {
    rewrite_body(&mut state.body, change);
    rewrite_transition(&mut state.transition, change);
}

/// Changes every expression of a transition.
pub fn rewrite_transition(transition: &mut Transition, change: &mut dyn FnMut(Part<'_>)) {
    let Transition::Select { keys, cases } = transition else { return };
    for key in keys {
        rewrite_expr(key, change);
    }
    for case in cases {
        for set in &mut case.sets {
            match set {
                KeySet::Any | KeySet::ValueSet(_) => {}
                KeySet::Value(value) => rewrite_expr(value, change),
                KeySet::Mask(a, b) | KeySet::Range(a, b) => {
                    rewrite_expr(a, change);
                    rewrite_expr(b, change);
                }
            }
        }
    }
}

/// Changes every expression in a body, those of inner bodies included.
pub fn rewrite_body(body: &mut [Stmt], change: &mut dyn FnMut(Part<'_>)) {
    for stmt in body {
        rewrite_own(&mut stmt.kind, change);
        for inner in stmt.kind.bodies_mut() {
            rewrite_body(inner, change);
        }
    }
}

/// Changes the expressions that a statement itself contains, indices in places and header references included.
pub fn rewrite_own(stmt: &mut StmtKind, change: &mut dyn FnMut(Part<'_>)) {
    if let Some(dst) = stmt.dst_mut() {
        rewrite_place(dst, change);
    }
    match stmt {
        StmtKind::Assign { src: expr, .. }
        | StmtKind::If { cond: expr, .. }
        | StmtKind::Switch { value: expr, .. }
        | StmtKind::Advance { bits: expr }
        | StmtKind::RegisterRead { index: expr, .. }
        | StmtKind::Count { index: expr, .. }
        | StmtKind::ExecuteDirectMeter { before: expr, .. }
        | StmtKind::Assert { cond: expr, .. } => rewrite_expr(expr, change),
        StmtKind::Verify { cond: a, error: b }
        | StmtKind::RegisterWrite { index: a, value: b, .. }
        | StmtKind::ExecuteMeter { index: a, before: b, .. }
        | StmtKind::CountLookup { hit: a, entry: b, .. }
        | StmtKind::Enqueue { port: a, priority: b, .. }
        | StmtKind::Random { low: a, high: b, .. } => {
            rewrite_expr(a, change);
            rewrite_expr(b, change);
        }
        StmtKind::Send { port, limit } => {
            rewrite_expr(port, change);
            limit.iter_mut().for_each(|limit| rewrite_expr(limit, change));
        }
        StmtKind::AddEntry { keys, args, profile, .. } => {
            keys.iter_mut().chain(args).chain([profile]).for_each(|expr| rewrite_expr(expr, change));
        }
        StmtKind::SetTimer { profile } => profile.iter_mut().for_each(|expr| rewrite_expr(expr, change)),
        StmtKind::Digest { values, .. }
        | StmtKind::Log { args: values, .. }
        | StmtKind::CallExtern { inputs: values, .. } => {
            values.iter_mut().for_each(|value| rewrite_expr(value, change));
        }
        StmtKind::Hash { inputs, .. } => inputs.iter_mut().for_each(|input| rewrite_input(input, change)),
        StmtKind::SetValid(header) | StmtKind::SetInvalid(header) | StmtKind::Emit(header) => {
            rewrite_header(header, change);
        }
        StmtKind::CopyHeader { dst, src } => {
            rewrite_header(dst, change);
            rewrite_header(src, change);
        }
        StmtKind::CopyVarbit { dst, src } => {
            rewrite_header(&mut dst.0, change);
            rewrite_header(&mut src.0, change);
        }
        StmtKind::SetVarbit { dst, length_bits, value } => {
            rewrite_header(&mut dst.0, change);
            rewrite_expr(length_bits, change);
            rewrite_expr(value, change);
        }
        StmtKind::Extract { dst, varbit_bits } => {
            rewrite_header(dst, change);
            if let Some(bits) = varbit_bits {
                rewrite_expr(bits, change);
            }
        }
        StmtKind::PushFront { .. }
        | StmtKind::PopFront { .. }
        | StmtKind::Block { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Leave(_)
        | StmtKind::Call(_)
        | StmtKind::ApplyTable { .. }
        | StmtKind::Drop(_)
        | StmtKind::Punt(_)
        | StmtKind::Lookahead { .. } => {}
    }
}

/// Changes the expressions in a place.
pub fn rewrite_place(place: &mut Place, change: &mut dyn FnMut(Part<'_>)) {
    match place {
        Place::Var(_) => {}
        Place::Field(header, _) => rewrite_header(header, change),
        Place::Slice { base, .. } => rewrite_place(base, change),
    }
}

/// Changes a header reference after its index.
pub fn rewrite_header(header: &mut HeaderRef, change: &mut dyn FnMut(Part<'_>)) {
    if let HeaderRef::Element { index, .. } = header {
        rewrite_expr(index, change);
    }
    change(Part::Header(header));
}

/// Changes an expression after its parts.
pub fn rewrite_expr(expr: &mut Expr, change: &mut dyn FnMut(Part<'_>)) {
    match &mut expr.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::PacketLength => {}
        ExprKind::Field(header, _)
        | ExprKind::IsValid(header)
        | ExprKind::VarbitLength(header, _)
        | ExprKind::VarbitBits(header, _) => rewrite_header(header, change),
        ExprKind::VarbitEqual((left, _), (right, _)) => {
            rewrite_header(left, change);
            rewrite_header(right, change);
        }
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) | ExprKind::Slice { base: operand, .. } => {
            rewrite_expr(operand, change);
        }
        ExprKind::Binary(_, left, right) | ExprKind::Concat(left, right) => {
            rewrite_expr(left, change);
            rewrite_expr(right, change);
        }
        ExprKind::Mux(cond, yes, no) => {
            rewrite_expr(cond, change);
            rewrite_expr(yes, change);
            rewrite_expr(no, change);
        }
    }
    change(Part::Expr(expr));
}

/// Calls `see` for everything that a block uses: in its own statements and transitions, and in the keys, results and
/// actions of the tables that it applies.
pub fn visit_block<'a>(program: &'a Program, block: &'a crate::Block, see: &mut dyn FnMut(Item<'a>)) {
    match &block.kind {
        BlockKind::Parser { states, error, .. } => {
            see(Item::Var(*error));
            for state in states {
                visit_used(program, &state.body, see);
                for expr in transition_exprs(&state.transition) {
                    visit_expr(expr, see);
                }
            }
        }
        BlockKind::Control { body } => visit_used(program, body, see),
    }
}

/// Calls `see` for everything that a body uses, the routines that it calls and the tables that it applies with their
/// actions included.
pub fn visit_used<'a>(program: &'a Program, body: &'a [Stmt], see: &mut dyn FnMut(Item<'a>)) {
    visit_called(program, body, see);
    visit_body(body, &mut |stmt| {
        visit_own(&stmt.kind, see);
        match &stmt.kind {
            StmtKind::ApplyTable { table, .. } => {
                if let Some(table) = program.tables.get(*table) {
                    visit_table(program, table, see);
                }
            }
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => {
                if let Some(stack) = program.stacks.get(*stack) {
                    see(Item::Var(stack.next));
                }
            }
            _ => {}
        }
    });
}

fn visit_table<'a>(program: &'a Program, table: &'a crate::Table, see: &mut dyn FnMut(Item<'a>)) {
    visit_table_inputs(table, see);
    if let Some((_, Some(place))) = &table.direct_meter {
        visit_place(place, see);
    }
    for listed in &table.actions {
        if let Some(action) = program.actions.get(listed.action) {
            for param in &action.params {
                see(Item::Var(*param));
            }
            // Actions apply no tables, so this goes no deeper.
            visit_called(program, &action.body, see);
            visit_body(&action.body, &mut |stmt| visit_own(&stmt.kind, see));
        }
    }
}

/// Calls `see` for everything in the routines that a body calls.
fn visit_called<'a>(program: &'a Program, body: &'a [Stmt], see: &mut dyn FnMut(Item<'a>)) {
    for id in called(program, [body]) {
        visit_body(&program.routines[id].body, &mut |stmt| {
            visit_own(&stmt.kind, see);
            if let StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } = &stmt.kind
                && let Some(stack) = program.stacks.get(*stack)
            {
                see(Item::Var(stack.next));
            }
        });
    }
}

/// The routines that bodies call, and those that these call, each once, in the order of their numbers.
pub fn called<'a>(program: &'a Program, bodies: impl IntoIterator<Item = &'a [Stmt]>) -> OrderedSet<RoutineId> {
    let mut found = OrderedSet::new();
    if program.routines.is_empty() {
        return found;
    }
    let mut waiting: Vec<&[Stmt]> = bodies.into_iter().collect();
    while let Some(body) = waiting.pop() {
        visit_body(body, &mut |stmt| {
            let StmtKind::Call(id) = stmt.kind else { return };
            if let Some(routine) = program.routines.get(id).filter(|_| found.insert(id)) {
                waiting.push(&routine.body);
            }
        });
    }
    found
}
