//! The blocks of a PSA program, the storage that they share, and the structs that go from a deparser to a later parser.
//!
//! Headers and user's metadata exist once for each pipeline; where both pipelines have the same type they share one,
//! since everything is reset at the start of the egress parser. The fields of the `psa_..._metadata_t` structs are
//! intrinsic variables.
//!
//! The outputs of a deparser (`normal_meta`, `clone_i2e_meta`, ...) are metadata variables with a field list, so that
//! the architecture preserves them and nothing else. Headers do not survive a parser's start; a struct with headers or
//! varbit fields is therefore packed into variables (a validity and the fields for each header, a length and the bits
//! for each varbit field) when the deparser ends, and unpacked when the parser starts.

use crate::architecture::Package;
use crate::inline::Argument;
use crate::objects::{ObjectId, ObjectKind};
use crate::places::{HeaderPlace, Place, VarbitPlace, footprint_of_place};
use crate::storage::Life;
use crate::types::Form;
use crate::varbits::varbit_parts;
use crate::{BlockState, Lowered, Lowerer, Refused, codes};
use base::Span;
use ir::psa::{Carried, Slot, Stage};
use ir::{ExprKind, FieldType, StmtKind, VarId};
use sema::hir::{self, Expr, Type};
use std::collections::BTreeMap;
use syntax::ast::Direction;

/// The kind of a block's parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Packet,
    Headers,
    Metadata,
    Intrinsic,
    Carried(Carried),
}

/// The blocks and their parameters.
const STAGES: [(Stage, &[Role]); 6] = {
    use Carried::{CloneE2eMeta, CloneI2eMeta, NormalMeta, RecirculateMeta, ResubmitMeta};
    use Role::{Carried as Struct, Headers, Intrinsic, Metadata, Packet};
    [
        (Stage::IngressParser, &[Packet, Headers, Metadata, Intrinsic, Struct(ResubmitMeta), Struct(RecirculateMeta)]),
        (Stage::Ingress, &[Headers, Metadata, Intrinsic, Intrinsic]),
        (
            Stage::IngressDeparser,
            &[Packet, Struct(CloneI2eMeta), Struct(ResubmitMeta), Struct(NormalMeta), Headers, Metadata, Intrinsic],
        ),
        (
            Stage::EgressParser,
            &[Packet, Headers, Metadata, Intrinsic, Struct(NormalMeta), Struct(CloneI2eMeta), Struct(CloneE2eMeta)],
        ),
        (Stage::Egress, &[Headers, Metadata, Intrinsic, Intrinsic]),
        (
            Stage::EgressDeparser,
            &[Packet, Struct(CloneE2eMeta), Struct(RecirculateMeta), Headers, Metadata, Intrinsic, Intrinsic],
        ),
    ]
};

/// The state about a PSA program while it is lowered.
#[derive(Default)]
pub(crate) struct State {
    intrinsics: BTreeMap<Slot, VarId>,
    /// Headers and metadata by type: those of both pipelines, if they differ.
    headers: Vec<(Type, Place)>,
    metadata: Vec<(Type, Place)>,
    /// The structs of [`Carried`], by position.
    carried: [Option<Carrier>; Carried::ALL.len()],
}

/// The storage of a struct between a deparser and a parser.
#[derive(Clone)]
enum Carrier {
    /// Unpacked.
    Plain(Place),
    /// Packed into these variables.
    Packed(Vec<VarId>),
}

/// The items of a packed struct.
enum Leaf {
    Scalar(ir::Place, ir::Type),
    Varbit(VarbitPlace),
    Header(HeaderPlace),
}

/// The packed structs of a block: the block's own copy, and the variables.
type Copies = Vec<(Place, Vec<VarId>)>;

impl<'h> Lowerer<'h> {
    /// Lowers the blocks of package `PSA_Switch`.
    pub fn psa_program(&mut self, main: &'h hir::Instance) -> Lowered<()> {
        self.package = Package::Psa;
        self.ir.architecture = &ir::psa::ARCHITECTURE;
        self.make_top_instances();
        let [Some(ingress), _, Some(egress), _] = &main.args[..] else {
            return self.unsupported(main.span, "leaving out a pipeline");
        };
        let mut blocks = Vec::new();
        for (pipeline, name) in [(ingress, "IngressPipeline"), (egress, "EgressPipeline")] {
            for block in self.pipeline_blocks(pipeline, name)? {
                let Some(block) = block else {
                    return self.unsupported(pipeline.span, "leaving out a block");
                };
                blocks.push((self.eval_object(block)?, block.span));
            }
        }
        self.make_blocks_distinct(&mut blocks)?;
        let mut result = Ok(());
        for ((stage, roles), (object, span)) in STAGES.into_iter().zip(blocks) {
            if self.lower_psa_stage(stage, roles, object, span).is_err() {
                result = Err(Refused);
            }
        }
        result?;
        self.make_carried_lists(main.span);
        Ok(())
    }

    /// The blocks of a pipeline, which is an instance of a package or made in the argument.
    fn pipeline_blocks(&mut self, pipeline: &'h Expr, name: &str) -> Lowered<&'h [Option<Expr>]> {
        let (ty, args) = match &pipeline.kind {
            hir::ExprKind::Instance(id) => {
                let instance = &self.hir.instances[*id];
                (&instance.ty, &instance.args)
            }
            hir::ExprKind::Construct { args, .. } => (&pipeline.ty, args),
            _ => return self.unsupported(pipeline.span, "this as a pipeline"),
        };
        match ty {
            Type::Apply(id, _) if *self.hir.apply_types[*id].name == *name && args.len() == 3 => Ok(args),
            _ => self.refuse(codes::ARCHITECTURE, pipeline.span, format!("this is not a `{name}`")),
        }
    }

    fn lower_psa_stage(&mut self, stage: Stage, roles: &[Role], object: ObjectId, span: Span) -> Lowered<()> {
        let is_parser = matches!(stage, Stage::IngressParser | Stage::EgressParser);
        let (name, params, types) = match &self.objects[object].kind {
            ObjectKind::Parser { parser, type_args, .. } if is_parser => {
                let parser = &self.hir.parsers[*parser];
                let types = parser.type_params.iter().copied().zip(type_args.iter().cloned());
                (parser.name.to_string(), &parser.params, types.collect())
            }
            ObjectKind::Control { control, type_args, .. } if !is_parser => {
                let control = &self.hir.controls[*control];
                let types = control.type_params.iter().copied().zip(type_args.iter().cloned());
                (control.name.to_string(), &control.params, types.collect())
            }
            _ => return self.unsupported(span, "this object as a block"),
        };
        if params.len() != roles.len() {
            return self.unsupported(span, "a block with these parameters");
        }
        let exit_label = self.new_label();
        self.block = BlockState { exit_label, exit_is_used: false, exit_flag: None };
        self.types = types;
        self.body.clear();
        let mut copies = Vec::new();
        let args = self.psa_arguments(roles, params, &mut copies);
        self.types.clear();
        let args = args?;
        let kind = if is_parser {
            self.unpack(&copies, span);
            let error = self.psa_intrinsic(Slot::ParserError, ir::Type::Bit(32));
            let first = std::mem::take(&mut self.body);
            self.lower_parser_block(object, args, first, error)?
        } else {
            self.lower_control_body(object, args, span)?;
            self.pack(&copies, span);
            ir::BlockKind::Control { body: std::mem::take(&mut self.body) }
        };
        let exit = self.block.exit_is_used.then_some(exit_label);
        self.ir.blocks.push(ir::Block { name, kind, exit });
        Ok(())
    }

    /// The bindings of a block's parameters. Outputs of a deparser are zeroed here.
    fn psa_arguments(&mut self, roles: &[Role], params: &[hir::VarId], copies: &mut Copies) -> Lowered<Vec<Argument>> {
        let mut args = Vec::new();
        for (role, param) in roles.iter().zip(params) {
            let declaration = &self.hir.vars[*param];
            let (ty, name, span) = (self.resolve(&declaration.ty), &declaration.name, declaration.span);
            let direction = self.direction(*param);
            let place = match role {
                Role::Packet => {
                    let Type::Extern(id, _) = &ty else {
                        return self.unsupported(span, "a packet of this type");
                    };
                    args.push(Argument::Value(crate::values::Value::Object(self.packet_object(*id, span)?)));
                    continue;
                }
                Role::Headers => {
                    let known = self.externs.psa.headers.iter().find(|(known, _)| *known == ty);
                    match known.map(|(_, place)| place.clone()) {
                        Some(place) => place,
                        None => {
                            let place = self.allocate(&ty, name, Life::Metadata, span)?;
                            self.externs.packet_headers.extend(footprint_of_place(&self.ir, &place).headers());
                            self.externs.psa.headers.push((ty, place.clone()));
                            place
                        }
                    }
                }
                Role::Metadata => {
                    let known = self.externs.psa.metadata.iter().find(|(known, _)| *known == ty);
                    match known.map(|(_, place)| place.clone()) {
                        Some(place) => place,
                        None => {
                            let place = self.allocate(&ty, name, Life::Metadata, span)?;
                            self.externs.psa.metadata.push((ty, place.clone()));
                            place
                        }
                    }
                }
                Role::Intrinsic => self.psa_intrinsics(&ty, name, span)?,
                Role::Carried(carried) => {
                    let place = self.carried_place(*carried, &ty, name, copies, span)?;
                    if matches!(direction, Direction::Out) {
                        self.reset(&place, span);
                    }
                    place
                }
            };
            args.push(match direction {
                Direction::None | Direction::In => Argument::Value(self.read(&place)),
                // Everything is already zero and invalid: at a parser's start, or as zeroed above.
                Direction::Out | Direction::InOut => Argument::Place(place, Direction::InOut),
            });
        }
        Ok(args)
    }

    /// The intrinsic variable of a slot.
    fn psa_intrinsic(&mut self, slot: Slot, ty: ir::Type) -> VarId {
        if let Some(var) = self.externs.psa.intrinsics.get(&slot) {
            return *var;
        }
        let kind = ir::VarKind::Intrinsic(slot as u32);
        let var = self.ir.vars.push(ir::Var { name: slot.name().to_owned(), ty, kind });
        self.externs.psa.intrinsics.insert(slot, var);
        var
    }

    /// The variables of a `psa_..._metadata_t`. Fields that PSA does not define are metadata.
    fn psa_intrinsics(&mut self, ty: &Type, name: &str, span: Span) -> Lowered<Place> {
        let Form::Tuple(fields) = self.form(ty, span)? else {
            return self.unsupported(span, "intrinsic metadata of this type");
        };
        let mut places = Vec::new();
        for (field, ty) in fields {
            let known = Slot::of_field(&field);
            places.push(match (known, self.form(&ty, span)?) {
                (Some(slot), Form::Scalar(ty)) if ty.width() <= 64 => {
                    let var = self.psa_intrinsic(slot, ty);
                    if self.ir.vars[var].ty != ty {
                        return self.unsupported(span, format!("a field `{field}` of two types"));
                    }
                    Place::Scalar { place: ir::Place::Var(var), ty }
                }
                _ => self.allocate(&ty, &format!("{name}.{field}"), Life::Metadata, span)?,
            });
        }
        Ok(Place::Tuple(places))
    }

    // ------------------------------------------------------------------------------------- structs that are passed on

    /// The place of a struct in the block that is being lowered.
    fn carried_place(
        &mut self,
        carried: Carried,
        ty: &Type,
        name: &str,
        copies: &mut Copies,
        span: Span,
    ) -> Lowered<Place> {
        let position = carried as usize;
        let carrier = match self.externs.psa.carried[position].clone() {
            Some(carrier) => carrier,
            None => {
                let carrier = self.new_carrier(ty, name, span)?;
                self.externs.psa.carried[position] = Some(carrier.clone());
                carrier
            }
        };
        match carrier {
            Carrier::Plain(place) => Ok(place),
            Carrier::Packed(vars) => {
                let place = self.allocate(ty, name, Life::Local, span)?;
                copies.push((place.clone(), vars));
                Ok(place)
            }
        }
    }

    fn new_carrier(&mut self, ty: &Type, name: &str, span: Span) -> Lowered<Carrier> {
        let mut types = Vec::new();
        if !self.packed_types(ty, name, &mut types, span)? {
            return Ok(Carrier::Plain(self.allocate(ty, name, Life::Metadata, span)?));
        }
        let vars = types.into_iter().map(|(name, ty)| self.new_var(&name, ty, Life::Metadata)).collect();
        Ok(Carrier::Packed(vars))
    }

    /// Names and types of the variables that a struct is packed into; whether it must be, for it has headers or varbit
    /// fields.
    fn packed_types(
        &mut self,
        ty: &Type,
        name: &str,
        types: &mut Vec<(String, ir::Type)>,
        span: Span,
    ) -> Lowered<bool> {
        // A local variable of the type shows its parts; it is not used, so it costs nothing.
        let place = self.allocate(ty, name, Life::Local, span)?;
        let leaves = self.packed_leaves(&place);
        let mut has_headers = false;
        for leaf in leaves {
            match leaf {
                Leaf::Scalar(ir::Place::Var(var), ty) => types.push((self.ir.vars[var].name.clone(), ty)),
                Leaf::Scalar(_, ty) => types.push((name.to_owned(), ty)),
                Leaf::Varbit(varbit) => {
                    has_headers = true;
                    types.push((format!("{name}.$length"), ir::Type::Bit(32)));
                    types.push((name.to_owned(), ir::Type::Bit(varbit.max)));
                }
                Leaf::Header(header) => {
                    has_headers = true;
                    types.push((format!("{name}.$valid"), ir::Type::Bool));
                    for field in &self.ir.header_types[header.shape.ty].fields {
                        let path = format!("{name}.{}", field.name);
                        match field.ty {
                            FieldType::Fixed(ty) => types.push((path, ty)),
                            FieldType::Varbit(max) => {
                                types.push((format!("{path}.$length"), ir::Type::Bit(32)));
                                types.push((path, ir::Type::Bit(max)));
                            }
                        }
                    }
                }
            }
        }
        Ok(has_headers)
    }

    fn packed_leaves(&self, place: &Place) -> Vec<Leaf> {
        match place {
            Place::Scalar { place, ty } => vec![Leaf::Scalar(place.clone(), *ty)],
            // A variable as a whole is not bits of a value.
            Place::Bits(_) => Vec::new(),
            Place::Varbit(varbit) => vec![Leaf::Varbit(varbit.clone())],
            // It is packed with its header.
            Place::VarbitParts(_) => Vec::new(),
            Place::Header(header) => vec![Leaf::Header(header.clone())],
            Place::Tuple(items) | Place::Choice { items, .. } => {
                items.iter().flat_map(|item| self.packed_leaves(item)).collect()
            }
            Place::Union(members) => members.iter().cloned().map(Leaf::Header).collect(),
            Place::Stack(stack) => {
                let next = Leaf::Scalar(ir::Place::Var(stack.next), ir::Type::Bit(32));
                let elements = (0..stack.size).flat_map(|at| self.packed_leaves(&stack.at_position(&self.ir, at)));
                elements.chain([next]).collect()
            }
        }
    }

    /// Copies the deparser's own structs to the variables.
    fn pack(&mut self, copies: &Copies, span: Span) {
        for (place, vars) in copies {
            let mut vars = vars.iter();
            let mut set = |l: &mut Self, src: ir::Expr| {
                if let Some(var) = vars.next() {
                    l.emit(StmtKind::Assign { dst: ir::Place::Var(*var), src }, span);
                }
            };
            for leaf in self.packed_leaves(place) {
                match leaf {
                    Leaf::Scalar(place, _) => {
                        let value = self.read_ir_place(&place);
                        set(self, value);
                    }
                    Leaf::Varbit(varbit) => {
                        let parts = varbit_parts(&varbit.header, varbit.field, varbit.max);
                        parts.into_iter().for_each(|part| set(self, part));
                    }
                    Leaf::Header(header) => {
                        let valid = ExprKind::IsValid(header.header.clone());
                        set(self, ir::Expr { kind: valid, ty: ir::Type::Bool });
                        for (field, ty) in self.field_types_of(&header) {
                            match ty {
                                FieldType::Fixed(ty) => {
                                    let kind = ExprKind::Field(header.header.clone(), field);
                                    set(self, ir::Expr { kind, ty });
                                }
                                FieldType::Varbit(max) => {
                                    let parts = varbit_parts(&header.header, field, max);
                                    parts.into_iter().for_each(|part| set(self, part));
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Copies the variables to the parser's own structs, which are invalid and zero.
    fn unpack(&mut self, copies: &Copies, span: Span) {
        for (place, vars) in copies {
            let mut vars = vars.iter().copied();
            for leaf in self.packed_leaves(place) {
                let Some(var) = vars.next() else { return };
                let value = self.read_var(var);
                match leaf {
                    Leaf::Scalar(dst, _) => self.emit(StmtKind::Assign { dst, src: value }, span),
                    Leaf::Varbit(varbit) => {
                        let Some(bits) = vars.next() else { return };
                        self.set_varbit(&varbit, value, self.read_var(bits), span);
                    }
                    Leaf::Header(header) => {
                        let Some(body) = self.unpacked_header(&header, &mut vars, span) else { return };
                        self.emit_if(value, body, Vec::new(), span);
                    }
                }
            }
        }
    }

    /// The statements that make a header valid and set its fields from the variables.
    fn unpacked_header(
        &self,
        header: &HeaderPlace,
        vars: &mut dyn Iterator<Item = VarId>,
        span: Span,
    ) -> Option<ir::Body> {
        let mut body = vec![ir::Stmt { kind: StmtKind::SetValid(header.header.clone()), span }];
        for (field, ty) in self.field_types_of(header) {
            let value = self.read_var(vars.next()?);
            let kind = match ty {
                FieldType::Fixed(_) => {
                    StmtKind::Assign { dst: ir::Place::Field(header.header.clone(), field), src: value }
                }
                FieldType::Varbit(_) => {
                    let (dst, bits) = ((header.header.clone(), field), self.read_var(vars.next()?));
                    StmtKind::SetVarbit { dst, length_bits: value, value: bits }
                }
            };
            body.push(ir::Stmt { kind, span });
        }
        Some(body)
    }

    /// Positions and types of the fields of a header.
    fn field_types_of(&self, header: &HeaderPlace) -> Vec<(u32, FieldType)> {
        let fields = &self.ir.header_types[header.shape.ty].fields;
        (0..).zip(fields).map(|(position, field)| (position, field.ty)).collect()
    }

    /// One field list for each struct that is passed on.
    fn make_carried_lists(&mut self, span: Span) {
        for carried in Carried::ALL {
            let vars = match self.externs.psa.carried[carried as usize].clone() {
                Some(Carrier::Plain(place)) => {
                    let leaves = self.packed_leaves(&place);
                    let var = |leaf: Leaf| match leaf {
                        Leaf::Scalar(ir::Place::Var(var), _) => Some(var),
                        _ => None,
                    };
                    leaves.into_iter().filter_map(var).collect()
                }
                Some(Carrier::Packed(vars)) => vars,
                None => Vec::new(),
            };
            self.ir.field_lists.push(ir::FieldList { number: carried as u64, vars, span });
        }
    }
}
