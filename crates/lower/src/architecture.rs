//! The blocks of a v1model program, and the storage that they share.
//!
//! The headers, the user's metadata and `standard_metadata` exist once; the parameters of every block refer to them.

use crate::inline::{Argument, Sight};
use crate::names::find;
use crate::objects::{ObjectId, ObjectKind};
use crate::places::{Place, footprint_of_place, headers_of};
use crate::storage::Life;
use crate::types::Form;
use crate::values::Value;
use crate::varbits::varbit_parts;
use crate::{BlockState, Lowered, Lowerer, Refused, codes, fold};
use base::Span;
use ir::v1model::{InstanceType, STANDARD_METADATA, Slot, Stage};
use num_traits::ToPrimitive;
use sema::hir::{self, Type};
use std::collections::BTreeSet;
use syntax::{Diagnostic, ast};

/// The blocks in the order of the package's parameters.
const STAGES: [Stage; 6] =
    [Stage::Parser, Stage::VerifyChecksum, Stage::Ingress, Stage::Egress, Stage::ComputeChecksum, Stage::Deparser];

/// The package of `main`, which determines the architecture of extern objects and table properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Package {
    /// `V1Switch`.
    V1Model,
    /// `PSA_Switch`.
    Psa,
    /// `PNA_NIC`.
    Pna,
}

/// The help for a program that cannot be run.
const CHECKED_ONLY: &str = "`wirespeed check` checks it, and `wirespeed compile --emit ast` shows its syntax tree";

/// The storage that the blocks share, in the order of the ingress control's parameters: headers, metadata, standard
/// metadata.
type Shared = [Place; 3];

impl<'h> Lowerer<'h> {
    /// Lowers the package called `main`.
    pub fn program(&mut self) -> Lowered<()> {
        let Some(main) = self.hir.main else {
            let message = "the program has no package instance called `main`, so there is nothing to run";
            self.diagnostics.push(Diagnostic::error(codes::ARCHITECTURE, Span::NONE, message).help(CHECKED_ONLY));
            return Err(Refused);
        };
        let main = &self.hir.instances[main];
        let package = match &main.ty {
            Type::Apply(id, _) => self.hir.apply_types[*id].name.clone(),
            _ => return self.refuse(codes::ARCHITECTURE, main.span, "`main` is not a package"),
        };
        if &*package == "PSA_Switch" && main.args.len() == 4 {
            return self.psa_program(main);
        }
        if &*package == "PNA_NIC" && matches!(main.args.len(), 3 | 4) {
            return self.pna_program(main);
        }
        if &*package != "V1Switch" || main.args.len() != STAGES.len() {
            let message = format!("a program for package `{package}` cannot be run, only checked");
            let help =
                "programs that can be run are for V1Switch of v1model.p4, PSA_Switch of psa.p4 or PNA_NIC of pna.p4";
            let diagnostic = Diagnostic::error(codes::ARCHITECTURE, main.span, message).help(help);
            self.diagnostics.push(diagnostic.help(CHECKED_ONLY));
            return Err(Refused);
        }
        self.make_top_instances();
        let mut blocks = Vec::new();
        for arg in &main.args {
            let Some(arg) = arg else {
                return self.unsupported(main.span, "leaving out a block");
            };
            blocks.push((self.eval_object(arg)?, arg.span));
        }
        self.make_blocks_distinct(&mut blocks)?;
        let shared = self.shared_storage(blocks[0].0, main.span)?;
        let mut result = Ok(());
        for (stage, (object, span)) in STAGES.into_iter().zip(blocks) {
            if self.lower_stage(stage, object, &shared, span).is_err() {
                result = Err(Refused);
            }
        }
        result?;
        self.warn_of_direct_calls();
        self.learn_length();
        Ok(())
    }

    /// Gives each block an object of its own.
    pub fn make_blocks_distinct(&mut self, blocks: &mut [(ObjectId, Span)]) -> Lowered<()> {
        for position in 0..blocks.len() {
            let (object, span) = blocks[position];
            if blocks[..position].iter().any(|(other, _)| *other == object) {
                blocks[position].0 = self.instance_again(object, span)?;
            }
        }
        Ok(())
    }

    /// Another object for an instance that is used as two blocks. Each has its own variables; objects with
    /// control-plane names cannot exist twice.
    fn instance_again(&mut self, object: ObjectId, span: Span) -> Lowered<ObjectId> {
        let ObjectKind::Control { control, type_args, args, .. } = &self.objects[object].kind else {
            return Err(Refused);
        };
        let is_named = |local: &hir::Local| matches!(local, hir::Local::Table(_) | hir::Local::Instance(_));
        if self.hir.controls[*control].locals.iter().any(is_named) {
            let message = "an instance with tables or instances of its own cannot be used for two blocks";
            return self.refuse(codes::CONTROL_PLANE, span, message);
        }
        let kind =
            ObjectKind::Control { control: *control, type_args: type_args.clone(), args: args.clone(), first: None };
        let name = self.objects[object].name.clone();
        Ok(self.objects.push(crate::objects::Object { name, kind }))
    }

    /// The extern objects of the outermost scope; the package itself is not made.
    pub fn make_top_instances(&mut self) {
        for local in &self.hir.top {
            if let hir::Local::Instance(id) = local
                && matches!(self.hir.instances[*id].ty, Type::Extern(..))
            {
                // An error has been reported; the other objects are checked as well.
                let _ = self.instance(*id, self.hir.instances[*id].span);
            }
        }
    }

    /// The storage for the parser's parameters after the packet.
    fn shared_storage(&mut self, parser: ObjectId, span: Span) -> Lowered<Shared> {
        let ObjectKind::Parser { parser, type_args, .. } = &self.objects[parser].kind else {
            return self.unsupported(span, "a first block that is not a parser");
        };
        let (parser, type_args) = (&self.hir.parsers[*parser], type_args.clone());
        self.types = parser.type_params.iter().copied().zip(type_args).collect();
        let [_, headers, metadata, standard] = parser.params[..] else {
            return self.unsupported(parser.span, "a parser with these parameters");
        };
        let (headers, metadata, standard) =
            (&self.hir.vars[headers], &self.hir.vars[metadata], &self.hir.vars[standard]);
        let places = [
            self.allocate(&headers.ty, &headers.name, Life::Metadata, headers.span)?,
            self.allocate(&metadata.ty, &metadata.name, Life::Metadata, metadata.span)?,
            self.standard_metadata(&standard.ty, &standard.name, standard.span)?,
        ];
        self.externs.packet_headers.extend(footprint_of_place(&self.ir, &places[0]).headers());
        self.note_field_lists(&metadata.ty.clone(), &places[1], &[])?;
        self.note_field_lists(&standard.ty.clone(), &places[2], &[])?;
        self.types.clear();
        Ok(places)
    }

    /// The fields that v1model defines become intrinsic variables, others are metadata.
    fn standard_metadata(&mut self, ty: &Type, name: &str, span: Span) -> Lowered<Place> {
        let Form::Tuple(fields) = self.form(ty, span)? else {
            return self.unsupported(span, "standard metadata of this type");
        };
        let mut places = Vec::new();
        for (field, ty) in fields {
            let known = STANDARD_METADATA.iter().find(|(known, ..)| **known == *field);
            let path = format!("{name}.{field}");
            places.push(match (known, self.form(&ty, span)?) {
                (Some((_, slot, _)), Form::Scalar(ty)) if ty.width() <= 64 => {
                    let kind = ir::VarKind::Intrinsic(*slot as u32);
                    let var = self.ir.vars.push(ir::Var { name: path, ty, kind });
                    self.externs.v1model.intrinsics.insert(*slot, var);
                    Place::Scalar { place: ir::Place::Var(var), ty }
                }
                _ => self.allocate(&ty, &path, Life::Metadata, span)?,
            });
        }
        Ok(Place::Tuple(places))
    }

    /// Collects the variables of the fields that are annotated `@field_list(number, ...)`. What is inside a struct is
    /// in the lists of the struct, too.
    fn note_field_lists(&mut self, ty: &Type, place: &Place, inherited: &[u64]) -> Lowered<()> {
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
                for header in footprint_of_place(&self.ir, place).headers() {
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
        if !self.externs.v1model.intrinsics.contains_key(&Slot::CloneIngressSession) {
            return;
        }
        let Some(ir::Block { kind: ir::BlockKind::Parser { states, .. }, .. }) = self.ir.blocks.iter().next() else {
            return;
        };
        let mut parsed = BTreeSet::new();
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

    fn lower_stage(&mut self, stage: Stage, object: ObjectId, shared: &Shared, span: Span) -> Lowered<()> {
        self.externs.v1model.stage = Some(stage);
        let (name, params) = match &self.objects[object].kind {
            ObjectKind::Parser { parser, .. } => {
                let parser = &self.hir.parsers[*parser];
                (parser.name.to_string(), &parser.params)
            }
            ObjectKind::Control { control, .. } => {
                let control = &self.hir.controls[*control];
                (control.name.to_string(), &control.params)
            }
            _ => return self.unsupported(span, "this object as a block"),
        };
        let exit_label = self.new_label();
        self.block = BlockState { exit_label, exit_is_used: false, exit_flag: None };
        let args = self.stage_arguments(params, shared)?;
        let kind = match (stage, &self.objects[object].kind) {
            (Stage::Parser, ObjectKind::Parser { .. }) => {
                let error = self.intrinsic(Slot::ParserError);
                self.body.clear();
                self.restore_varbits(span);
                let first = std::mem::take(&mut self.body);
                self.lower_parser_block(object, args, first, error)?
            }
            (Stage::Parser, _) | (_, ObjectKind::Parser { .. }) => {
                return self.unsupported(span, "a parser or control in the other's place");
            }
            _ => {
                self.body.clear();
                if stage == Stage::Egress {
                    self.forget_parsed_metadata(span);
                    self.restore_varbits(span);
                }
                self.lower_control_body(object, args, span)?;
                self.send_digests(span);
                if matches!(stage, Stage::Ingress | Stage::Egress) {
                    self.save_varbits(span);
                }
                ir::BlockKind::Control { body: std::mem::take(&mut self.body) }
            }
        };
        let exit = self.block.exit_is_used.then_some(exit_label);
        self.ir.blocks.push(ir::Block { name, kind, exit });
        Ok(())
    }

    /// The bindings of a block's parameters: the packet first, in blocks that have one, then the shared storage.
    fn stage_arguments(&mut self, params: &[hir::VarId], shared: &Shared) -> Lowered<Vec<Argument>> {
        let mut places = shared.iter();
        let mut args = Vec::new();
        for param in params {
            let declaration = &self.hir.vars[*param];
            if let Type::Extern(id, _) = &declaration.ty {
                args.push(Argument::Value(Value::Object(self.packet_object(*id, declaration.span)?)));
                continue;
            }
            let Some(place) = places.next() else {
                return self.unsupported(declaration.span, "another parameter here");
            };
            args.push(match self.direction(*param) {
                ast::Direction::None | ast::Direction::In => Argument::Value(self.read(place)),
                // Everything is invalid and zero when a parser starts, so `out` parameters need no reset.
                ast::Direction::Out | ast::Direction::InOut => Argument::Place(place.clone(), ast::Direction::InOut),
            });
        }
        Ok(args)
    }

    /// Appends the body of a control that is a block. `exit` and `return` continue after it.
    pub fn lower_control_body(&mut self, object: ObjectId, args: Vec<Argument>, span: Span) -> Lowered<()> {
        let ObjectKind::Control { control, .. } = self.objects[object].kind else { return Err(Refused) };
        let params = &self.hir.controls[control].params;
        let (body, ()) = self.collect(|l| l.apply_control(object, (params, args), Sight::Parameters, span))?;
        let label = self.block.exit_label;
        if self.block.exit_is_used {
            self.emit(ir::StmtKind::Block { label, body }, span);
        } else {
            self.body.extend(body);
        }
        Ok(())
    }

    /// Records whether egress reads the packet's length, for the next attempt.
    fn learn_length(&mut self) {
        let Some(length) = self.externs.v1model.intrinsics.get(&Slot::PacketLength).copied() else { return };
        let mut is_read = false;
        for block in self.ir.blocks.iter().skip(Stage::Egress as usize).take(1) {
            ir::walk::visit_block(&self.ir, block, &mut |item| {
                is_read |= matches!(item, ir::walk::Item::Var(var) if var == length);
            });
        }
        self.learned.length_is_read |= is_read;
    }
}
