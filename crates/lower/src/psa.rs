//! What is particular to PSA: pipelines, and the structs that go from a deparser to a later parser.
//!
//! The outputs of a deparser (`normal_meta`, `clone_i2e_meta`, ...) are metadata variables with a field list, so that
//! the architecture preserves them and nothing else. Headers do not survive a parser's start; a struct with headers or
//! varbit fields is therefore packed into variables (a validity and the fields for each header, a length and the bits
//! for each varbit field) when the deparser ends, and unpacked when the parser starts.

use crate::places::{HeaderPlace, Place, VarbitPlace};
use crate::storage::Life;
use crate::varbits::varbit_parts;
use crate::{Lowered, Lowerer, codes};
use base::Span;
use ir::psa::Carried;
use ir::{ExprKind, FieldType, StmtKind, VarId};
use sema::hir::{self, Expr, Type};

/// The state about a PSA program while it is lowered.
#[derive(Default)]
pub(crate) struct PsaState {
    /// The structs of [`Carried`], by position.
    carried: [Option<Carrier>; Carried::ALL.len()],
    /// The packed structs of the block that is lowered: its own copy, and the variables.
    pub copies: Vec<(Place, Vec<VarId>)>,
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

impl<'h> Lowerer<'h> {
    /// The blocks of both pipelines, each with the place of its pipeline.
    pub fn pipelines_blocks(&mut self, main: &'h hir::Instance) -> Lowered<Vec<(Option<&'h Expr>, Span)>> {
        let [Some(ingress), _, Some(egress), _] = &main.args[..] else {
            return self.unsupported(main.span, "leaving out a pipeline");
        };
        let mut blocks = Vec::new();
        for (pipeline, name) in [(ingress, "IngressPipeline"), (egress, "EgressPipeline")] {
            let of_pipeline = self.pipeline_blocks(pipeline, name)?;
            blocks.extend(of_pipeline.iter().map(|block| (block.as_ref(), pipeline.span)));
        }
        Ok(blocks)
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

    // ------------------------------------------------------------------------------------- structs that are passed on

    /// The place in the block that is being lowered of the struct that a field list keeps.
    pub fn carried_place(&mut self, list: u32, ty: &Type, name: &str, span: Span) -> Lowered<Place> {
        let position = list as usize;
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
                self.externs.psa.copies.push((place.clone(), vars));
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
    pub fn pack(&mut self, span: Span) {
        for (place, vars) in &self.externs.psa.copies.clone() {
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
    pub fn unpack(&mut self, span: Span) {
        for (place, vars) in &self.externs.psa.copies.clone() {
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
    pub fn make_carried_lists(&mut self, span: Span) {
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
