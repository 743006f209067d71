//! Makes a program read and write variables in place of fields.
//!
//! Before (`h1`, of the metadata, with the field `v5`):
//! ```text
//! set_valid h1
//! h1.0 = 8w0x7
//! h1 = h0
//! h0 = h1
//! ```
//! After:
//! ```text
//! if !valid(h1) {
//!   v5 = 8w0x0
//! }
//! set_valid h1
//! v5 = 8w0x7
//! h1 = h0
//! v5 = h0.0
//! h0 = h1
//! h0.0 = v5
//! ```
//! A copy copies the values that the source's fields read as: the contents of an invalid header of the metadata, zero
//! for an invalid header of the packet.

use super::stacks::{self, is_plain};
use super::{Kept, Variable, assignment, loaded, put_back, stored, take_bodies};
use crate::fold;
use crate::places::headers_of;
use base::{Bits, OrderedMap, Span};
use ir::walk::{self, Part};
use ir::{
    BlockKind, Body, Expr, ExprKind, HashInput, HashValue, HeaderId, HeaderRef, Place, Program, Stmt, StmtKind,
    TableId, Type, VarId, VarKind,
};

/// The rewrite of one header.
type ForHeader<'f> = &'f mut dyn FnMut(&mut Rewriter<'_>, HeaderId) -> Body;

pub(super) struct Rewriter<'a> {
    pub program: &'a mut Program,
    kept: &'a Kept,
    /// The statements to insert before the statement that is rewritten.
    before: Body,
    /// The statements to insert before each application of a table.
    before_tables: OrderedMap<TableId, Body>,
    /// The remaining limit of statements, and of selections among elements of stacks.
    pub left: usize,
    /// The statement that is rewritten.
    span: Span,
}

impl<'a> Rewriter<'a> {
    pub fn new(program: &'a mut Program, kept: &'a Kept, statements_max: usize) -> Rewriter<'a> {
        let left = statements_max.saturating_sub(walk::statement_count(program));
        Rewriter { program, kept, before: Vec::new(), before_tables: OrderedMap::new(), left, span: Span::NONE }
    }

    /// Fails with a position if there are too many statements.
    pub fn program(mut self) -> Result<(), Span> {
        self.tables();
        let mut bodies = take_bodies(self.program);
        for body in &mut bodies {
            self.body(body)?;
        }
        put_back(self.program, bodies);
        self.transitions();
        if self.left == 0 { Err(self.span) } else { Ok(()) }
    }

    fn tables(&mut self) {
        for id in self.program.tables.ids() {
            let mut table = self.program.tables[id].clone();
            self.span = table.span;
            walk::rewrite_table_inputs(&mut table, &mut |part| self.part(part));
            if let Some((_, Some(place))) = &mut table.direct_meter {
                self.fixed_place(place);
            }
            if let Some(implementation) = &mut table.implementation {
                implementation.inputs.iter_mut().for_each(|input| self.drop_guard(input));
            }
            self.program.tables[id] = table;
            let before = std::mem::take(&mut self.before);
            self.before_tables.insert(id, before);
        }
    }

    /// Statements that a `select` needs are at the end of its state.
    fn transitions(&mut self) {
        for block in self.program.blocks.ids() {
            let BlockKind::Parser { states, .. } = &mut self.program.blocks[block].kind else { continue };
            let mut states = std::mem::take(states);
            for state in states.iter_mut() {
                self.span = state.span;
                walk::rewrite_transition(&mut state.transition, &mut |part| self.part(part));
                state.body.append(&mut self.before);
            }
            if let BlockKind::Parser { states: place, .. } = &mut self.program.blocks[block].kind {
                *place = states;
            }
        }
    }

    fn body(&mut self, body: &mut Body) -> Result<(), Span> {
        for stmt in std::mem::take(body) {
            self.span = stmt.span;
            let had = body.len();
            self.stmt(stmt, body)?;
            // One of them was there.
            self.spend(body.len() - had - 1);
            if self.left == 0 {
                return Err(self.span);
            }
        }
        Ok(())
    }

    /// Counts statements against the limit.
    pub fn spend(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count);
    }

    /// Appends the rewritten statement.
    fn stmt(&mut self, mut stmt: Stmt, out: &mut Body) -> Result<(), Span> {
        walk::rewrite_own(&mut stmt.kind, &mut |part| self.part(part));
        let mut behind = self.result(&mut stmt.kind);
        match &mut stmt.kind {
            StmtKind::SetValid(header) => {
                self.pin(header);
                let start = self.for_header(header, &mut |this, id| this.zeroed(id));
                self.before.extend(start);
            }
            StmtKind::Extract { dst, .. } => {
                self.pin_extracted(dst);
                let got = stacks::extracted(dst);
                behind = self.for_header(&got, &mut |this, id| this.load(id));
            }
            StmtKind::CopyHeader { dst, src } => behind = self.copied(dst, src),
            StmtKind::PushFront { stack, count } => behind = self.moved(*stack, *count, true),
            StmtKind::PopFront { stack, count } => behind = self.moved(*stack, *count, false),
            StmtKind::Emit(header) => {
                self.pin(header);
                let stored = self.for_header(header, &mut |this, id| this.store(id));
                self.before.extend(stored);
            }
            StmtKind::Hash { inputs, .. } => inputs.iter_mut().for_each(|input| self.drop_guard(input)),
            StmtKind::ApplyTable { table, .. } => {
                self.before.extend(self.before_tables.get(table).into_iter().flatten().cloned());
            }
            _ => {}
        }
        out.append(&mut self.before);
        for inner in stmt.kind.bodies_mut() {
            self.body(inner)?;
        }
        out.push(stmt);
        out.append(&mut behind);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>) {
        let Part::Expr(expr) = part else { return };
        match &mut expr.kind {
            ExprKind::Field(header, field) => {
                let field = *field;
                if let Some(value) = self.value(header, field, expr.ty) {
                    *expr = value;
                }
            }
            ExprKind::IsValid(HeaderRef::Fixed(header)) if self.kept.never_valid.contains(header) => {
                *expr = Expr::bool(false);
            }
            _ => {}
        }
    }

    /// The value of a field, if it has a variable.
    fn value(&mut self, header: &mut HeaderRef, field: u32, ty: Type) -> Option<Expr> {
        if let HeaderRef::Fixed(id) = header {
            return Some(Expr { kind: ExprKind::Var(self.variable(*id, field)?.0), ty });
        }
        self.variable(stacks::first(self.program, header)?, field)?;
        let elements = headers_of(self.program, header);
        let index = self.pin(header)?;
        let vars = elements.iter().filter_map(|id| self.variable(*id, field));
        let items: Vec<Expr> = vars.map(|(var, ty)| Expr { kind: ExprKind::Var(var), ty }).collect();
        self.spend(items.len());
        Some(stacks::choose(&index, &items, ty))
    }

    pub fn variable(&self, header: HeaderId, field: u32) -> Variable {
        *self.kept.vars.get(&header)?.get(field as usize)?
    }

    fn is_kept(&self, header: &HeaderRef) -> bool {
        stacks::first(self.program, header).is_some_and(|id| self.kept.vars.contains_key(&id))
    }

    /// Stores the index of an element of a stack in a variable that the surrounding statements do not change, and
    /// returns it.
    fn pin(&mut self, header: &mut HeaderRef) -> Option<Expr> {
        let (stack, index) = stacks::index(self.program, header)?;
        let index = if is_plain(&index) { index } else { self.keep(index) };
        *header = HeaderRef::Element { stack, index: Box::new(index.clone()) };
        Some(index)
    }

    /// An extraction to `next` advances it, and the following statements use the new value.
    fn pin_extracted(&mut self, header: &mut HeaderRef) {
        if matches!(header, HeaderRef::Element { .. }) && self.is_kept(header) {
            self.pin(header);
        }
    }

    /// The value, stored in a variable from here on.
    fn keep(&mut self, value: Expr) -> Expr {
        let (ty, var) = (value.ty, self.temporary(value.ty));
        self.before.push(assignment(Place::Var(var), value, self.span));
        Expr { kind: ExprKind::Var(var), ty }
    }

    fn temporary(&mut self, ty: Type) -> VarId {
        self.program.vars.push(ir::Var { name: "tmp".to_owned(), ty, kind: VarKind::Local })
    }

    /// The rewrite for a header reference, if the fields have variables.
    fn for_header(&mut self, header: &HeaderRef, f: ForHeader<'_>) -> Body {
        if !self.is_kept(header) {
            return Vec::new();
        }
        if let HeaderRef::Fixed(id) = header {
            return f(self, *id);
        }
        let Some((_, index)) = stacks::index(self.program, header) else { return Vec::new() };
        let elements = headers_of(self.program, header);
        let ways: Vec<Body> = elements.into_iter().map(|id| f(self, id)).collect();
        self.spend(ways.iter().map(Vec::len).sum());
        stacks::choice(&index, ways, self.span)
    }

    fn vars(&self, header: HeaderId) -> &'a [Variable] {
        self.kept.vars.get(&header).map_or(&[], Vec::as_slice)
    }

    /// A header that becomes valid starts with zeros.
    fn zeroed(&self, id: HeaderId) -> Body {
        let zero = |(var, ty): (VarId, Type)| {
            assignment(Place::Var(var), Expr::constant(ty, Bits::zero(ty.width())), self.span)
        };
        let then_body: Body = self.vars(id).iter().flatten().copied().map(zero).collect();
        let is_valid = Expr { kind: ExprKind::IsValid(HeaderRef::Fixed(id)), ty: Type::Bool };
        let kind = StmtKind::If { cond: fold::not(is_valid), then_body, else_body: Vec::new() };
        vec![Stmt { kind, span: self.span }]
    }

    fn load(&self, id: HeaderId) -> Body {
        loaded(self.vars(id), &HeaderRef::Fixed(id), self.span)
    }

    fn store(&self, id: HeaderId) -> Body {
        stored(self.vars(id), &HeaderRef::Fixed(id), self.span)
    }

    /// The statements after the copy of a header.
    fn copied(&mut self, dst: &mut HeaderRef, src: &mut HeaderRef) -> Body {
        let (to_kept, from_kept) = (self.is_kept(dst), self.is_kept(src));
        if !to_kept && !from_kept {
            return Vec::new();
        }
        self.pin(dst);
        self.pin(src);
        let fields = self.program.header_type(dst).fields.clone();
        let mut values = Vec::new();
        for (position, field) in fields.iter().enumerate() {
            let ir::FieldType::Fixed(ty) = field.ty else { continue };
            let mut read = Expr { kind: ExprKind::Field(src.clone(), position as u32), ty };
            self.part(Part::Expr(&mut read));
            // A selection among elements is made once, and not in each of several branches.
            let is_chosen = from_kept && !matches!(src, HeaderRef::Fixed(_));
            values.push((position as u32, if is_chosen { self.keep(read) } else { read }));
        }
        let span = self.span;
        if !to_kept {
            let set = |(field, value): (u32, Expr)| assignment(Place::Field(dst.clone(), field), value, span);
            return values.into_iter().map(set).collect();
        }
        self.for_header(dst, &mut |this, id| {
            let set = |(field, value): &(u32, Expr)| {
                let (var, _) = this.variable(id, *field)?;
                Some(assignment(Place::Var(var), value.clone(), span))
            };
            values.iter().filter_map(set).collect()
        })
    }

    /// The statements after a move of a stack's elements.
    fn moved(&mut self, stack: ir::StackId, count: u32, is_push: bool) -> Body {
        let elements = &self.program.stacks[stack].elements;
        let moves = stacks::moves(elements, count as usize, is_push);
        let mut body = Vec::new();
        for (to, from) in moves {
            for (position, var) in self.vars(to).iter().enumerate() {
                let Some((var, ty)) = *var else { continue };
                let src = match from.and_then(|from| self.variable(from, position as u32)) {
                    Some((from, _)) => Expr { kind: ExprKind::Var(from), ty },
                    None => Expr::constant(ty, Bits::zero(ty.width())),
                };
                body.push(assignment(Place::Var(var), src, self.span));
            }
        }
        body
    }

    /// Replaces the field that a statement writes by a variable. Returns the statements after it, if the field is an
    /// element's.
    fn result(&mut self, stmt: &mut StmtKind) -> Body {
        let is_whole = matches!(stmt, StmtKind::Assign { dst: Place::Field(..), .. });
        let Some(place) = stmt.dst_mut() else { return Vec::new() };
        if self.fixed_place(place) {
            return Vec::new();
        }
        let Some((header, field)) = field_of(place) else { return Vec::new() };
        let first = stacks::first(self.program, header);
        let Some((_, ty)) = first.and_then(|first| self.variable(first, field)) else { return Vec::new() };
        let Some(index) = self.pin(header) else { return Vec::new() };
        let elements = headers_of(self.program, header);
        let header = header.clone();
        let new = self.temporary(ty);
        if !is_whole {
            // Not every statement writes its result, nor all bits of it.
            let mut old = Expr { kind: ExprKind::Field(header.clone(), field), ty };
            self.part(Part::Expr(&mut old));
            self.before.push(assignment(Place::Var(new), old, self.span));
        }
        replace_field(place, new);
        let ways = elements.into_iter().map(|id| {
            let var = self.variable(id, field)?.0;
            Some(vec![assignment(Place::Var(var), Expr { kind: ExprKind::Var(new), ty }, self.span)])
        });
        let ways: Vec<Body> = ways.map(Option::unwrap_or_default).collect();
        self.spend(ways.len());
        stacks::choice(&index, ways, self.span)
    }

    /// Replaces a field of a header that is named directly by a variable. Returns whether it did.
    fn fixed_place(&self, place: &mut Place) -> bool {
        let Some((HeaderRef::Fixed(id), field)) = field_of(place) else { return false };
        let Some((var, _)) = self.variable(*id, field) else { return false };
        replace_field(place, var);
        true
    }

    /// A field of a header that can never be valid is hashed like a struct's field.
    fn drop_guard(&self, input: &mut HashInput) {
        let guard = input.guard.as_ref().and_then(|guard| stacks::first(self.program, guard));
        let is_never = guard.is_some_and(|id| self.kept.never_valid.contains(&id));
        if is_never && matches!(input.value, HashValue::Expr(_)) {
            input.guard = None;
        }
    }
}

/// The field that a place is, or is part of.
fn field_of(place: &mut Place) -> Option<(&mut HeaderRef, u32)> {
    match place {
        Place::Var(_) => None,
        Place::Field(header, field) => Some((header, *field)),
        Place::Slice { base, .. } => field_of(base),
    }
}

fn replace_field(place: &mut Place, var: VarId) {
    match place {
        Place::Slice { base, .. } => replace_field(base, var),
        _ => *place = Place::Var(var),
    }
}
