//! Headers in the metadata that are used as structs.
//!
//! What enters: a lowered program, and which headers are the packet's. What leaves: the same, in which a header of the
//! metadata that nothing can make valid keeps what is written to its fields.
//!
//! A field of an invalid header reads as zero and takes no value. Programs rely on something else for headers that they
//! declare among their metadata and never make valid, because a header type was at hand where a struct was meant: the
//! reference switch keeps what is written. So each field of such a header becomes a variable, wherever it is read or
//! written: in expressions, keys of tables, inputs of hashes. The header itself stays as it is: it is not valid, is
//! not emitted, and what it is assigned to becomes invalid. Local variables and parameters that such a header is copied
//! to or from, and that nothing can make valid either, are treated alike, and the copy is one of all fields.
//!
//! Limits: stacks that are accessed at a run-time index, pushed or popped are left alone; so are varbit fields.

use crate::Lowerer;
use crate::places::headers_of;
use base::Span;
use base::index::Id as _;
use ir::walk::{self, Item, Part};
use ir::{
    Body, Expr, ExprKind, FieldType, HeaderId, HeaderRef, Place, Program, StackId, Stmt, StmtKind, Type, VarId, VarKind,
};
use std::collections::{BTreeMap, BTreeSet};

impl Lowerer<'_> {
    /// Gives the fields of headers that are used as structs variables of their own.
    pub(crate) fn keep_written_fields(&mut self) {
        let kept = Found::new(&self.ir, &self.externs.packet_headers).kept(&self.ir);
        if kept.is_empty() {
            return;
        }
        let vars = declare(&mut self.ir, &kept);
        for (list, header) in &self.externs.v1model.listed_headers {
            let list = &mut self.ir.field_lists[*list].vars;
            list.extend(vars.get(header).into_iter().flatten().flatten().map(|(var, _)| var));
            list.sort_unstable();
            list.dedup();
        }
        use_variables(&mut self.ir, &vars);
    }
}

/// The variable of a field, and its type; a varbit field has none.
type Variable = Option<(VarId, Type)>;

/// The variables of headers' fields, by position.
type Variables = BTreeMap<HeaderId, Vec<Variable>>;

/// What a program does to headers as a whole.
struct Found {
    /// What something may make valid.
    valid: BTreeSet<HeaderId>,
    /// The packet's, and elements of stacks that something accesses by other means than a number known here.
    excluded: BTreeSet<HeaderId>,
    /// A field is written.
    written: BTreeSet<HeaderId>,
    /// Target and source of each copy.
    copies: Vec<(HeaderId, HeaderId)>,
}

impl Found {
    fn new(program: &Program, packet_headers: &BTreeSet<HeaderId>) -> Found {
        let mut found = Found {
            valid: BTreeSet::new(),
            excluded: packet_headers.clone(),
            written: BTreeSet::new(),
            copies: Vec::new(),
        };
        for body in walk::bodies(program) {
            walk::visit_body(body, &mut |stmt| found.stmt(program, &stmt.kind));
        }
        for block in &program.blocks {
            walk::visit_block(program, block, &mut |item| found.item(program, item));
        }
        found.spread();
        found
    }

    fn stmt(&mut self, program: &Program, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(header) | StmtKind::Extract { dst: header, .. } => {
                self.valid.extend(headers_of(program, header));
            }
            StmtKind::CopyHeader { dst, src } => {
                for to in headers_of(program, dst) {
                    self.copies.extend(headers_of(program, src).iter().map(|from| (to, *from)));
                }
            }
            StmtKind::PushFront { stack, .. } | StmtKind::PopFront { stack, .. } => self.moves(program, *stack),
            _ => {}
        }
        let mut place = stmt.dst();
        while let Some(Place::Slice { base, .. }) = place {
            place = Some(base);
        }
        if let Some(Place::Field(HeaderRef::Fixed(header), _)) = place {
            self.written.insert(*header);
        }
    }

    fn item(&mut self, program: &Program, item: Item<'_>) {
        let (Item::Header(header) | Item::Field(header, _)) = item else { return };
        match header {
            HeaderRef::Fixed(_) => {}
            HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                self.moves(program, *stack);
            }
        }
    }

    fn moves(&mut self, program: &Program, stack: StackId) {
        self.excluded.extend(&program.stacks[stack].elements);
    }

    /// A copy of what may be valid may be valid.
    fn spread(&mut self) {
        loop {
            let before = self.valid.len();
            let to_valid = self.copies.iter().filter(|(_, from)| self.valid.contains(from)).map(|(to, _)| *to);
            let to_valid: Vec<HeaderId> = to_valid.collect();
            self.valid.extend(to_valid);
            if self.valid.len() == before {
                return;
            }
        }
    }

    /// The headers whose fields become variables: what can never be valid and is written, in the metadata, and what is
    /// copied from or to such a header.
    fn kept(&self, program: &Program) -> BTreeSet<HeaderId> {
        let may_be = |header: &HeaderId| !self.valid.contains(header) && !self.excluded.contains(header);
        let mut groups: Vec<HeaderId> = program.headers.ids().collect();
        let find = |groups: &[HeaderId], mut header: HeaderId| {
            while groups[header.index()] != header {
                header = groups[header.index()];
            }
            header
        };
        for (to, from) in self.copies.iter().filter(|(to, from)| may_be(to) && may_be(from)) {
            let (to, from) = (find(&groups, *to), find(&groups, *from));
            groups[to.max(from).index()] = to.min(from);
        }
        let is_metadata = |header: HeaderId| program.headers[header].metadata;
        let groups_of = |wanted: &dyn Fn(HeaderId) -> bool| -> BTreeSet<HeaderId> {
            let headers = program.headers.ids().filter(|header| may_be(header) && wanted(*header));
            headers.map(|header| find(&groups, header)).collect()
        };
        let wanted = &groups_of(&is_metadata) & &groups_of(&|header| self.written.contains(&header));
        program.headers.ids().filter(|header| may_be(header) && wanted.contains(&find(&groups, *header))).collect()
    }
}

fn declare(program: &mut Program, kept: &BTreeSet<HeaderId>) -> Variables {
    let mut vars = Variables::new();
    for &id in kept {
        let header = &program.headers[id];
        let kind = if header.metadata { VarKind::Metadata } else { VarKind::Local };
        let mut of_fields = Vec::new();
        for field in &program.header_types[header.ty].fields {
            of_fields.push(match field.ty {
                FieldType::Fixed(ty) => {
                    let name = format!("{}.{}", header.name, field.name);
                    Some((program.vars.push(ir::Var { name, ty, kind }), ty))
                }
                FieldType::Varbit(_) => None,
            });
        }
        vars.insert(id, of_fields);
    }
    vars
}

fn use_variables(program: &mut Program, vars: &Variables) {
    walk::rewrite_program(program, &mut |part| {
        let Part::Expr(expr) = part else { return };
        match &expr.kind {
            ExprKind::Field(header, field) => {
                if let Some(var) = variable(vars, header, *field) {
                    expr.kind = ExprKind::Var(var);
                }
            }
            ExprKind::IsValid(HeaderRef::Fixed(header)) if vars.contains_key(header) => *expr = Expr::bool(false),
            _ => {}
        }
    });
    for table in program.tables.iter_mut() {
        if let Some((_, Some(place))) = &mut table.direct_meter {
            use_in_place(place, vars);
        }
        if let Some(implementation) = &mut table.implementation {
            implementation.inputs.iter_mut().for_each(|input| drop_guard(input, vars));
        }
    }
    for body in walk::bodies_mut(program) {
        use_in_body(body, vars);
    }
}

fn variable(vars: &Variables, header: &HeaderRef, field: u32) -> Option<VarId> {
    let HeaderRef::Fixed(header) = header else { return None };
    vars.get(header)?.get(field as usize)?.map(|(var, _)| var)
}

fn use_in_place(place: &mut Place, vars: &Variables) {
    match place {
        Place::Var(_) => {}
        Place::Field(header, field) => {
            if let Some(var) = variable(vars, header, *field) {
                *place = Place::Var(var);
            }
        }
        Place::Slice { base, .. } => use_in_place(base, vars),
    }
}

/// What is hashed as it is, as a struct's field.
fn drop_guard(input: &mut ir::HashInput, vars: &Variables) {
    let is_kept = matches!(&input.guard, Some(HeaderRef::Fixed(header)) if vars.contains_key(header));
    if is_kept && matches!(input.value, ir::HashValue::Expr(_)) {
        input.guard = None;
    }
}

fn use_in_body(body: &mut Body, vars: &Variables) {
    for stmt in std::mem::take(body) {
        let mut stmt = stmt;
        if let Some(dst) = stmt.kind.dst_mut() {
            use_in_place(dst, vars);
        }
        if let StmtKind::Hash { inputs, .. } = &mut stmt.kind {
            inputs.iter_mut().for_each(|input| drop_guard(input, vars));
        }
        stmt.kind.bodies_mut().into_iter().for_each(|inner| use_in_body(inner, vars));
        if let StmtKind::CopyHeader { dst: HeaderRef::Fixed(to), src: HeaderRef::Fixed(from) } = stmt.kind {
            body.extend(copies(vars, to, from, stmt.span));
        }
        body.push(stmt);
    }
}

/// Copies all fields, if both headers have variables.
fn copies(vars: &Variables, to: HeaderId, from: HeaderId, span: Span) -> Vec<Stmt> {
    let (Some(to), Some(from)) = (vars.get(&to), vars.get(&from)) else { return Vec::new() };
    let copy = |(to, from): (&Variable, &Variable)| {
        let ((to, _), (from, ty)) = ((*to)?, (*from)?);
        let src = Expr { kind: ExprKind::Var(from), ty };
        Some(Stmt { kind: StmtKind::Assign { dst: Place::Var(to), src }, span })
    };
    to.iter().zip(from).filter_map(copy).collect()
}
