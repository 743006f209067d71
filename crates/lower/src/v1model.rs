//! What is particular to v1model: field lists, varbit fields of the metadata, the clone that has been parsed again, and
//! the length that egress reads.

use crate::names::find;
use crate::places::{Place, headers_of};
use crate::storage::Life;
use crate::varbits::varbit_parts;
use crate::{Lowered, Lowerer, fold};
use base::{OrderedSet, Span};
use ir::v1model::{InstanceType, Slot, Stage};
use num_traits::ToPrimitive;
use sema::hir::Type;
use syntax::ast;

impl Lowerer<'_> {
    /// What runs before a block's own code.
    pub fn begin_v1model_block(&mut self, stage: Stage, span: Span) {
        if stage == Stage::Egress {
            self.forget_parsed_metadata(span);
        }
        if matches!(stage, Stage::Parser | Stage::Egress) {
            self.restore_varbits(span);
        }
    }

    /// What runs behind a control's own code.
    pub fn end_v1model_block(&mut self, stage: Stage, span: Span) {
        self.send_digests(span);
        if matches!(stage, Stage::Ingress | Stage::Egress) {
            self.save_varbits(span);
        }
    }

    /// Collects the variables of the fields that are annotated `@field_list(number, ...)`. What is inside a struct is
    /// in the lists of the struct, too.
    pub fn note_field_lists(&mut self, ty: &Type, place: &Place, inherited: &[u64]) -> Lowered<()> {
        let resolved = self.resolve(ty);
        match (&resolved, place) {
            (Type::Struct(id, args), Place::Tuple(items)) => {
                let types = self.field_types(*id, args);
                let fields = &self.hir.structs[*id].fields;
                for ((field, (_, ty)), place) in fields.iter().zip(&types).zip(items) {
                    let mut numbers = self.field_list_numbers(&field.annotations)?;
                    numbers.extend_from_slice(inherited);
                    numbers.sort_unstable();
                    numbers.dedup();
                    self.nested(field.span, |l| l.note_field_lists(ty, place, &numbers))?;
                }
                Ok(())
            }
            (_, Place::Tuple(items)) => {
                let element = match &resolved {
                    Type::Array(element, _) => (**element).clone(),
                    _ => Type::Void,
                };
                items.iter().try_for_each(|item| self.note_field_lists(&element, item, inherited))
            }
            (_, Place::Scalar { place: ir::Place::Var(var), .. }) => {
                for number in inherited {
                    self.externs.v1model.annotated.entry(*number).or_default().push(*var);
                }
                Ok(())
            }
            (_, Place::Varbit(varbit)) => {
                let ir::HeaderRef::Fixed(header) = varbit.header else { return Ok(()) };
                let name = self.ir.headers[header].name.clone();
                let length = self.new_var(&format!("{name}.$length"), ir::Type::Bit(32), Life::Metadata);
                let bits = self.new_var(&name, ir::Type::Bit(varbit.max), Life::Metadata);
                for number in inherited {
                    self.externs.v1model.annotated.entry(*number).or_default().extend([length, bits]);
                }
                self.externs.v1model.carried_varbits.push((varbit.clone(), [length, bits]));
                Ok(())
            }
            // They are invalid when the next pass begins, but keep their contents.
            (_, place @ (Place::Header(_) | Place::Union(_) | Place::Stack(_))) => {
                for header in crate::places::footprint_of_place(&self.ir, place).headers() {
                    for number in inherited {
                        self.externs.v1model.annotated_headers.entry(*number).or_default().push(header);
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// At the end of ingress and egress: varbit fields of the metadata are copied to variables, which clones and
    /// further passes preserve or reset like any other metadata. The architecture has no varbit metadata.
    fn save_varbits(&mut self, span: Span) {
        for (varbit, vars) in self.externs.v1model.carried_varbits.clone() {
            for (var, src) in vars.into_iter().zip(varbit_parts(&varbit.header, varbit.field, varbit.max)) {
                self.emit(ir::StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
            }
        }
    }

    /// The reverse, at the start of the parser and of egress.
    fn restore_varbits(&mut self, span: Span) {
        for (varbit, [length, bits]) in self.externs.v1model.carried_varbits.clone() {
            self.set_varbit(&varbit, self.read_var(length), self.read_var(bits), span);
        }
    }

    /// At the start of egress: a clone from ingress has been parsed again and its metadata reset, so headers in the
    /// metadata that the parser made valid become invalid.
    fn forget_parsed_metadata(&mut self, span: Span) {
        if self.known_intrinsic(Slot::CloneIngressSession).is_none() {
            return;
        }
        let Some(ir::Block { kind: ir::BlockKind::Parser { states, .. }, .. }) = self.ir.blocks.iter().next() else {
            return;
        };
        let mut parsed = OrderedSet::new();
        for state in states {
            ir::walk::visit_body(&state.body, &mut |stmt| {
                if let ir::StmtKind::SetValid(header)
                | ir::StmtKind::Extract { dst: header, .. }
                | ir::StmtKind::CopyHeader { dst: header, .. } = &stmt.kind
                {
                    parsed.extend(headers_of(&self.ir, header));
                }
            });
        }
        let is_metadata =
            |header: &ir::HeaderId| self.ir.headers[*header].metadata && !self.externs.packet_headers.contains(header);
        let invalid = parsed.into_iter().filter(is_metadata).map(ir::HeaderRef::Fixed);
        let body: ir::Body = invalid.map(|header| ir::Stmt { kind: ir::StmtKind::SetInvalid(header), span }).collect();
        if !body.is_empty() {
            let kind = self.intrinsic(Slot::InstanceType);
            let clone = ir::Expr::bit(32, InstanceType::IngressClone as u64);
            let is_clone = fold::binary(ir::BinaryOp::Eq, fold::cast(clone.ty, self.read_var(kind)), clone);
            self.emit_if(is_clone, body, Vec::new(), span);
        }
    }

    /// The numbers of `@field_list(...)`: literals, constants, members of enums.
    fn field_list_numbers(&mut self, annotations: &[ast::Annotation]) -> Lowered<Vec<u64>> {
        let Some(annotation) = find(annotations, "field_list") else { return Ok(Vec::new()) };
        let numbers = annotation.expressions().map(|list| list.iter().map(|expr| self.list_number(expr)).collect());
        match numbers {
            Some(Some(numbers)) => Ok(numbers),
            _ => self.unsupported(annotation.span, "field lists that are not given as numbers"),
        }
    }

    pub fn list_number(&mut self, expr: &ast::Expr) -> Option<u64> {
        match &expr.kind {
            ast::ExprKind::Integer(literal) => literal.value.to_u64(),
            ast::ExprKind::Cast { operand, .. } => self.list_number(operand),
            ast::ExprKind::Binary { operator, left, right } => {
                let (left, right) = (self.list_number(left)?, self.list_number(right)?);
                match operator {
                    ast::BinaryOperator::Add => left.checked_add(right),
                    ast::BinaryOperator::Subtract => left.checked_sub(right),
                    ast::BinaryOperator::Multiply => left.checked_mul(right),
                    ast::BinaryOperator::BitOr => Some(left | right),
                    ast::BinaryOperator::ShiftLeft => left.checked_mul(2_u64.checked_pow(u32::try_from(right).ok()?)?),
                    _ => None,
                }
            }
            ast::ExprKind::Name(path) => {
                let mut constants = self.memo.constants.iter();
                let (var, value) = constants.find(|(var, _)| *self.hir.vars[**var].name == *path.name.name)?;
                let (span, value) = (self.hir.vars[*var].span, *value);
                let value = self.eval(value).ok()?;
                self.constant_count(&value, u64::MAX, span).ok()
            }
            ast::ExprKind::Member { base, member } => {
                let name = match &base.kind {
                    ast::ExprKind::Name(path) => &path.name.name,
                    ast::ExprKind::Type(ty) => match &ty.kind {
                        ast::TypeKind::Named(path) => &path.name.name,
                        _ => return None,
                    },
                    _ => return None,
                };
                let found = self.hir.enums.iter().find(|it| *it.name == **name)?;
                let (_, value) = found.members.iter().find(|(name, _)| **name == *member.name)?;
                value.to_u64()
            }
            _ => None,
        }
    }

    /// Records whether egress reads the packet's length, for the next attempt.
    pub fn learn_length(&mut self) {
        let Some(length) = self.known_intrinsic(Slot::PacketLength) else { return };
        let mut is_read = false;
        for block in self.ir.blocks.iter().skip(Stage::Egress as usize).take(1) {
            ir::walk::visit_block(&self.ir, block, &mut |item| {
                is_read |= matches!(item, ir::walk::Item::Var(var) if var == length);
            });
        }
        self.learned.length_is_read |= is_read;
    }
}
