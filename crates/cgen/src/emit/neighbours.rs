//! Consecutive assignments to adjacent fields of a header, as one store.
//!
//! A program that makes a header sets its fields in order. Without merging, each field is a store, and two fields in
//! one byte are a load and a store each; a checksum or copy that then reads words of the header would stall until all
//! these stores have reached the cache.

use super::expr::Value;
use super::field::{Bits, store};
use super::scope::Scope;
use ir::walk::{Item, visit_expr};
use ir::{Expr, FieldType, HeaderId, HeaderRef, Place, Stmt, StmtKind};
use lir::{Stmt as S, Type, binary, cast, int, long};

/// Bits of the widest store.
const STORE_BITS_MAX: u32 = 64;

/// An assignment that may be part of a store.
struct Assignment<'s> {
    header: HeaderId,
    field: u32,
    offset_bits: u32,
    value: &'s Expr,
}

impl Scope<'_, '_> {
    /// Generates consecutive statements.
    pub(crate) fn sequence(&mut self, stmts: &[&Stmt]) {
        let mut rest = stmts;
        while let Some((first, others)) = rest.split_first() {
            let run = self.run_of_neighbours(rest);
            if run.len() > 1 && self.known.reachable {
                self.comment(first.span);
                self.store_together(&run);
                rest = &rest[run.len()..];
            } else {
                self.stmt(first);
                rest = others;
            }
        }
    }

    /// The most assignments at the start of `stmts` that one store can do.
    fn run_of_neighbours<'s>(&self, stmts: &[&'s Stmt]) -> Vec<Assignment<'s>> {
        let mut run: Vec<Assignment<'s>> = Vec::new();
        let (mut bits, mut best) = (0, 0);
        for stmt in stmts {
            let Some(next) = self.assignment(stmt) else { break };
            let follows = match run.first() {
                Some(first) => {
                    next.header == first.header
                        && next.field == first.field + run.len() as u32
                        && next.offset_bits == first.offset_bits + bits
                }
                None => next.offset_bits.is_multiple_of(8),
            };
            bits += next.value.ty.width();
            if !follows || bits > STORE_BITS_MAX {
                break;
            }
            run.push(next);
            if matches!(bits, 8 | 16 | 32 | 64) {
                best = run.len();
            }
        }
        run.truncate(best);
        run
    }

    /// The assignment of a statement, if it assigns a value that does not depend on the header to one of its fields.
    fn assignment<'s>(&self, stmt: &&'s Stmt) -> Option<Assignment<'s>> {
        let StmtKind::Assign { dst: Place::Field(HeaderRef::Fixed(header), field), src } = &stmt.kind else {
            return None;
        };
        let program = self.emitter.program;
        let ty = &program.header_types[program.headers[*header].ty];
        let FieldType::Fixed(of_field) = ty.fields[*field as usize].ty else { return None };
        let is_narrow = (1..=STORE_BITS_MAX).contains(&of_field.width());
        if !is_narrow || ty.varbit().is_some() || self.is_summed(*header, *field) || self.is_of_header(src, *header) {
            return None;
        }
        let offset_bits = ty.offset_bits(*field as usize);
        Some(Assignment { header: *header, field: *field, offset_bits, value: src })
    }

    /// Whether a value may depend on a header.
    fn is_of_header(&self, value: &Expr, header: HeaderId) -> bool {
        let mut found = false;
        visit_expr(value, &mut |item| {
            found |= match item {
                Item::Header(HeaderRef::Fixed(other)) | Item::Field(HeaderRef::Fixed(other), _) => *other == header,
                // The element may not be known at compile time.
                Item::Header(_) | Item::Field(..) => true,
                _ => false,
            };
        });
        found
    }

    /// Stores a run.
    fn store_together(&mut self, run: &[Assignment<'_>]) {
        let access = self.access(&HeaderRef::Fixed(run[0].header));
        let mut bits = Bits { width: 0, ..self.field_bits(&access, run[0].field, None) };
        let mut whole = None;
        for assignment in run {
            let width = assignment.value.ty.width();
            bits.width += width;
            let Value::Narrow(value) = self.value(assignment.value) else { continue };
            let value = if width == 1 { cast(Type::U64, value) } else { value };
            whole = Some(match whole {
                Some(before) => binary("|", binary("<<", before, int(width)), value),
                None => value,
            });
        }
        let whole = self.atom(whole.unwrap_or(long(0)));
        let valid = self.valid(&access);
        let stores: Vec<S> = self.take(|scope| {
            let base = scope.pointer(&access);
            store(&base, bits, &whole, &mut scope.out);
        });
        self.guarded(valid, stores);
    }
}
