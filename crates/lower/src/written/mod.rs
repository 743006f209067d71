//! Headers in the metadata keep their contents, valid or not.
//!
//! What enters: a lowered program, and which headers are the packet's. What leaves: the same, in which the fields of
//! headers of the metadata are variables.
//!
//! In the IR a field of an invalid header reads as zero and ignores writes. Programs rely on something else for headers
//! that they declare in their metadata, often where a struct was meant: the reference switch keeps what is written,
//! whether the header is valid or not. So each field of such a header becomes a variable, wherever it is read or
//! written: in expressions, keys of tables, inputs of hashes. The header itself remains, for its validity; statements
//! that make it valid also set its variables (see `rewrite`). Local variables and parameters that such a header is
//! copied to or from are treated alike, so that they pass the values on.
//!
//! A header whose fields are never written individually, and that is never made invalid, is not changed: it reads as
//! zero while it is invalid anyway. In v1model, clones from egress have the headers of the metadata as they are, while
//! variables are reset: between the two blocks the contents are in the headers.
//!
//! Limit: a varbit field of an invalid header is empty.

mod find;
mod rewrite;
mod stacks;

use crate::{Lowerer, STATEMENTS_MAX, STORAGE_MAX, fold};
use base::{OrderedMap, OrderedSet, Span};
use find::Found;
use ir::v1model::{InstanceType, Slot, Stage};
use ir::walk;
use ir::{Body, Expr, ExprKind, FieldType, HeaderId, HeaderRef, Place, Program, Stmt, StmtKind, Type, VarId, VarKind};
use rewrite::Rewriter;

/// The variable of a field, and its type; a varbit field has none.
type Variable = Option<(VarId, Type)>;

/// The headers whose fields are variables.
struct Kept {
    /// The variables, by the fields' positions.
    vars: OrderedMap<HeaderId, Vec<Variable>>,
    /// Those among them that are never made valid.
    never_valid: OrderedSet<HeaderId>,
}

impl Lowerer<'_> {
    /// Replaces the fields of headers in the metadata by variables. Fails with a position if the program would become
    /// too large.
    pub(crate) fn keep_written_fields(&mut self) -> Result<(), Span> {
        let listed = self.externs.v1model.listed_headers.iter().map(|(_, header, _)| *header);
        let found = Found::new(&self.ir, &self.externs.packet_headers, listed);
        let headers = found.kept(&self.ir);
        if headers.is_empty() {
            return Ok(());
        }
        let fields = headers.iter().map(|id| self.ir.header_types[self.ir.headers[*id].ty].fields.len());
        if self.ir.vars.len() + fields.sum::<usize>() > STORAGE_MAX {
            return Err(self.hir.main.map_or(Span::NONE, |main| self.hir.instances[main].span));
        }
        let kept = declare(&mut self.ir, &headers, &found);
        for (list, header, field) in &self.externs.v1model.listed_headers {
            let vars = kept.vars.get(header).into_iter().flatten().enumerate();
            let named = vars.filter(|(position, _)| field.is_none_or(|field| field as usize == *position));
            let list = &mut self.ir.field_lists[*list].vars;
            list.extend(named.filter_map(|(_, var)| var.map(|(var, _)| var)));
            list.sort_unstable();
            list.dedup();
        }
        Rewriter::new(&mut self.ir, &kept, STATEMENTS_MAX).program()?;
        self.hand_to_clones(&kept);
        Ok(())
    }

    /// Passes the contents of headers to clones from egress: egress writes them to the headers at its end, and a clone
    /// reads them at its start.
    fn hand_to_clones(&mut self, kept: &Kept) {
        if self.known_intrinsic(Slot::CloneEgressSession).is_none() {
            return;
        }
        let kind = self.intrinsic(Slot::InstanceType);
        let number = Expr::bit(32, InstanceType::EgressClone as u64);
        let cond = fold::binary(ir::BinaryOp::Eq, fold::cast(number.ty, self.read_var(kind)), number);
        let egress = self.ir.blocks.iter_mut().nth(Stage::Egress as usize);
        let Some(ir::Block { kind: ir::BlockKind::Control { body }, .. }) = egress else { return };
        let span = body.first().map_or(Span::NONE, |stmt| stmt.span);
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for (id, vars) in &kept.vars {
            if self.ir.headers[*id].metadata && !kept.never_valid.contains(id) {
                let header = HeaderRef::Fixed(*id);
                let cond = Expr { kind: ExprKind::IsValid(header.clone()), ty: Type::Bool };
                let then_body = loaded(vars, &header, span);
                taken.push(Stmt { kind: StmtKind::If { cond, then_body, else_body: Vec::new() }, span });
                left.extend(stored(vars, &header, span));
            }
        }
        if !taken.is_empty() {
            body.insert(0, Stmt { kind: StmtKind::If { cond, then_body: taken, else_body: Vec::new() }, span });
            body.extend(left);
        }
    }
}

fn declare(program: &mut Program, headers: &OrderedSet<HeaderId>, found: &Found) -> Kept {
    let mut kept = Kept { vars: OrderedMap::new(), never_valid: OrderedSet::new() };
    for &id in headers {
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
        kept.vars.insert(id, of_fields);
        if !found.may_be_valid(id) {
            kept.never_valid.insert(id);
        }
    }
    kept
}

fn assignment(dst: Place, src: Expr, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Assign { dst, src }, span }
}

/// Copies the header's fields to the variables.
fn loaded(vars: &[Variable], header: &HeaderRef, span: Span) -> Body {
    let load = |(position, var): (usize, &Variable)| {
        let (var, ty) = (*var)?;
        let src = Expr { kind: ExprKind::Field(header.clone(), position as u32), ty };
        Some(assignment(Place::Var(var), src, span))
    };
    vars.iter().enumerate().filter_map(load).collect()
}

/// Copies the variables to the fields of a valid header.
fn stored(vars: &[Variable], header: &HeaderRef, span: Span) -> Body {
    let store = |(position, var): (usize, &Variable)| {
        let (var, ty) = (*var)?;
        let src = Expr { kind: ExprKind::Var(var), ty };
        Some(assignment(Place::Field(header.clone(), position as u32), src, span))
    };
    vars.iter().enumerate().filter_map(store).collect()
}

/// Every body of the program, taken out of it, to be put back by [`put_back`].
fn take_bodies(program: &mut Program) -> Vec<Body> {
    walk::bodies_mut(program).into_iter().map(std::mem::take).collect()
}

fn put_back(program: &mut Program, bodies: Vec<Body>) {
    for (place, body) in walk::bodies_mut(program).into_iter().zip(bodies) {
        *place = body;
    }
}
