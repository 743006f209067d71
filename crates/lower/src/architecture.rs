//! The blocks of a program, whatever its architecture: the package that it is for, the storage that its blocks share,
//! and the code around theirs.
//!
//! Which block a package has and what its parameters are is in the architecture's description ([`Param`]). Headers,
//! user's metadata and structs of intrinsic metadata exist once for each type: all blocks with a parameter of the type
//! refer to the same. Fields of intrinsic metadata that the architecture knows are intrinsic variables. What else an
//! architecture does at the start and the end of a block is in the modules `v1model`, `psa` and `pna`.

use crate::inline::{Argument, Sight};
use crate::objects::{ObjectId, ObjectKind};
use crate::places::{Place, footprint_of_place};
use crate::storage::Life;
use crate::types::Form;
use crate::values::Value;
use crate::{BlockState, Lowered, Lowerer, Refused, codes};
use base::{Bits, OrderedMap, Span};
use ir::architecture::Param;
use ir::{Architecture, BlockRole, IntrinsicSlot, VarId, v1model};
use sema::hir::{self, Expr, Type};
use syntax::Diagnostic;
use syntax::ast::Direction;

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

/// The rules for the blocks of each architecture.
const PACKAGES: [(Package, &Architecture); 3] = [
    (Package::V1Model, &v1model::ARCHITECTURE),
    (Package::Psa, &ir::psa::ARCHITECTURE),
    (Package::Pna, &ir::pna::ARCHITECTURE),
];

/// The help for a program that cannot be run.
const CHECKED_ONLY: &str = "`wirespeed check` checks it, and `wirespeed compile --emit ast` shows its syntax tree";

/// The storage that blocks share.
#[derive(Default)]
pub(crate) struct BlockStorage {
    intrinsics: OrderedMap<usize, VarId>,
    /// The structs that are parameters of one kind and type.
    shared: Vec<(Param, Type, Place)>,
}

impl<'h> Lowerer<'h> {
    /// Lowers the package called `main`.
    pub fn program(&mut self) -> Lowered<()> {
        let Some(main) = self.hir.main else {
            let message = "the program has no package instance called `main`, so there is nothing to run";
            self.diagnostics.push(Diagnostic::error(codes::ARCHITECTURE, Span::NONE, message).help(CHECKED_ONLY));
            return Err(Refused);
        };
        let main = &self.hir.instances[main];
        self.choose_architecture(main)?;
        self.make_top_instances();
        let mut blocks = Vec::new();
        for block in self.given_blocks(main)? {
            blocks.push(match block {
                Some(block) => Some((self.eval_object(block)?, block.span)),
                None => None,
            });
        }
        self.make_blocks_distinct(&mut blocks)?;
        let mut result = Ok(());
        for (position, block) in blocks.into_iter().enumerate() {
            match block {
                Some((object, span)) => result = self.lower_stage(position, object, span).and(result),
                None => self.leave_block_out(),
            }
        }
        result?;
        match self.package {
            Package::V1Model => self.learn_length(),
            Package::Psa => self.make_carried_lists(main.span),
            Package::Pna => {}
        }
        if self.package != Package::Psa {
            self.warn_of_direct_calls();
        }
        Ok(())
    }

    /// Sets the architecture of the package that an instance is of.
    fn choose_architecture(&mut self, main: &'h hir::Instance) -> Lowered<()> {
        let name = match &main.ty {
            Type::Apply(id, _) => self.hir.apply_types[*id].name.clone(),
            _ => return self.refuse(codes::ARCHITECTURE, main.span, "`main` is not a package"),
        };
        let mut packages = PACKAGES.into_iter();
        let Some((package, architecture)) = packages.find(|(_, it)| it.package.is(&name, main.args.len())) else {
            let message = format!("a program for package `{name}` cannot be run, only checked");
            let [first, second, third] = PACKAGES.map(|(_, it)| format!("{} of {}.p4", it.package.name, it.name));
            let help = format!("programs that can be run are for {first}, {second} or {third}");
            let diagnostic = Diagnostic::error(codes::ARCHITECTURE, main.span, message).help(help);
            self.diagnostics.push(diagnostic.help(CHECKED_ONLY));
            return Err(Refused);
        };
        (self.package, self.ir.architecture) = (package, architecture);
        if package == Package::Pna {
            self.choose_host_ports(main)?;
        }
        Ok(())
    }

    /// The package's arguments for the architecture's blocks. A block that may be left out is none.
    fn given_blocks(&mut self, main: &'h hir::Instance) -> Lowered<Vec<Option<&'h Expr>>> {
        let arguments = match self.package {
            Package::Psa => self.pipelines_blocks(main)?,
            Package::V1Model | Package::Pna => main.args.iter().map(|block| (block.as_ref(), main.span)).collect(),
        };
        let mut blocks = Vec::new();
        for (block, span) in arguments {
            match block {
                Some(_) => blocks.push(block),
                None => return self.unsupported(span, "leaving out a block"),
            }
        }
        // Only PNA has packages of several sizes: without a pre control, which is the second block.
        if blocks.len() < self.ir.architecture.blocks.len() {
            blocks.insert(ir::pna::Stage::PreControl as usize, None);
        }
        Ok(blocks)
    }

    /// Gives each block an object of its own.
    fn make_blocks_distinct(&mut self, blocks: &mut [Option<(ObjectId, Span)>]) -> Lowered<()> {
        for position in 0..blocks.len() {
            let Some((object, span)) = blocks[position] else { continue };
            if blocks[..position].iter().flatten().any(|(other, _)| *other == object) {
                blocks[position] = Some((self.instance_again(object, span)?, span));
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

    /// An empty block in place of one that is left out.
    fn leave_block_out(&mut self) {
        let kind = ir::BlockKind::Control { body: Vec::new() };
        self.ir.blocks.push(ir::Block { name: "pre_control".to_owned(), kind, exit: None });
    }

    fn lower_stage(&mut self, position: usize, object: ObjectId, span: Span) -> Lowered<()> {
        let architecture = self.ir.architecture;
        let info = &architecture.blocks[position];
        let is_parser = info.role == BlockRole::Parser;
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
        if params.len() != info.params.len() {
            return self.unsupported(span, "a block with these parameters");
        }
        let exit_label = self.new_label();
        self.block = BlockState { exit_label, exit_is_used: false, exit_flag: None };
        self.types = types;
        self.body.clear();
        self.externs.psa.copies.clear();
        let given = info.params.iter().zip(params);
        let args: Lowered<Vec<Argument>> = given.map(|(param, var)| self.block_argument(*param, *var)).collect();
        self.types.clear();
        let args = args?;
        self.begin_block(position, span);
        let kind = if is_parser {
            let error = self.intrinsic(architecture.parser_error);
            let first = std::mem::take(&mut self.body);
            self.lower_parser_block(object, args, first, error)?
        } else {
            self.lower_control_body(object, args, span)?;
            self.end_block(position, span);
            ir::BlockKind::Control { body: std::mem::take(&mut self.body) }
        };
        let exit = self.block.exit_is_used.then_some(exit_label);
        self.ir.blocks.push(ir::Block { name, kind, exit });
        Ok(())
    }

    /// What the architecture does before a block's own code.
    fn begin_block(&mut self, position: usize, span: Span) {
        match self.package {
            Package::V1Model => {
                let stage = v1model::Stage::ALL[position];
                self.externs.v1model.stage = Some(stage);
                self.begin_v1model_block(stage, span);
            }
            Package::Psa => self.unpack(span),
            Package::Pna if position == ir::pna::Stage::MainParser as usize => self.set_direction(span),
            Package::Pna => {}
        }
    }

    /// What it does behind a control's own code.
    fn end_block(&mut self, position: usize, span: Span) {
        match self.package {
            Package::V1Model => self.end_v1model_block(v1model::Stage::ALL[position], span),
            Package::Psa => self.pack(span),
            Package::Pna if position == ir::pna::Stage::MainControl as usize => self.find_turn(span),
            Package::Pna => {}
        }
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

    // --------------------------------------------------------------------------------------------------- parameters

    /// The binding of a block's parameter.
    fn block_argument(&mut self, param: Param, var: hir::VarId) -> Lowered<Argument> {
        let declaration = &self.hir.vars[var];
        let (ty, name, span) = (self.resolve(&declaration.ty), &declaration.name, declaration.span);
        let direction = self.direction(var);
        let place = match param {
            Param::Packet => {
                let Type::Extern(id, _) = &ty else {
                    return self.unsupported(span, "a packet of this type");
                };
                return Ok(Argument::Value(Value::Object(self.packet_object(*id, span)?)));
            }
            Param::Handed(list) => {
                let place = self.carried_place(list, &ty, name, span)?;
                if matches!(direction, Direction::Out) {
                    self.reset(&place, span);
                }
                place
            }
            Param::Headers | Param::Metadata | Param::Intrinsic { .. } => self.shared_place(param, ty, name, span)?,
        };
        Ok(match direction {
            Direction::None | Direction::In => Argument::Value(self.read(&place)),
            // Everything is invalid and zero when a parser starts, and what is handed on was reset above.
            Direction::Out | Direction::InOut => Argument::Place(place, Direction::InOut),
        })
    }

    /// The storage of the blocks' parameters of a kind and type.
    fn shared_place(&mut self, param: Param, ty: Type, name: &str, span: Span) -> Lowered<Place> {
        let mut known = self.externs.blocks.shared.iter();
        if let Some((.., place)) = known.find(|(other, of_type, _)| *other == param && *of_type == ty) {
            return Ok(place.clone());
        }
        let place = match param {
            Param::Intrinsic { except } => self.intrinsic_struct(except, &ty, name, span)?,
            _ => self.allocate(&ty, name, Life::Metadata, span)?,
        };
        if param == Param::Headers {
            self.externs.packet_headers.extend(footprint_of_place(&self.ir, &place).headers());
        } else if self.package == Package::V1Model {
            self.note_field_lists(&ty, &place, &[])?;
        }
        self.externs.blocks.shared.push((param, ty, place.clone()));
        Ok(place)
    }

    /// A struct of intrinsic metadata. Fields that the architecture does not define are metadata.
    fn intrinsic_struct(&mut self, except: &[u32], ty: &Type, name: &str, span: Span) -> Lowered<Place> {
        let Form::Tuple(fields) = self.form(ty, span)? else {
            return self.unsupported(span, "intrinsic metadata of this type");
        };
        let mut places = Vec::new();
        for (field, ty) in fields {
            let slot = self.ir.architecture.field(&field).filter(|slot| !except.contains(slot));
            let path = format!("{name}.{field}");
            places.push(match (slot, self.form(&ty, span)?) {
                (Some(slot), Form::Scalar(ty)) if ty.width() <= 64 => {
                    // v1model has one such struct. Elsewhere several have fields of one name.
                    let name = if self.package == Package::V1Model { path } else { field.to_string() };
                    let var = self.intrinsic_declared(slot as usize, name, ty);
                    if self.ir.vars[var].ty != ty {
                        return self.unsupported(span, format!("a field `{field}` of two types"));
                    }
                    Place::Scalar { place: ir::Place::Var(var), ty }
                }
                _ => self.allocate(&ty, &path, Life::Metadata, span)?,
            });
        }
        Ok(Place::Tuple(places))
    }

    /// The intrinsic variable of a slot, which gets this name and type if it is new.
    fn intrinsic_declared(&mut self, slot: usize, name: String, ty: ir::Type) -> VarId {
        let vars = &mut self.ir.vars;
        let kind = ir::VarKind::Intrinsic(slot as u32);
        *self.externs.blocks.intrinsics.entry(slot).or_insert_with(|| vars.push(ir::Var { name, ty, kind }))
    }

    /// The intrinsic variable of a slot.
    pub fn intrinsic(&mut self, slot: impl IntrinsicSlot) -> VarId {
        let info = &self.ir.architecture.slots[slot.number()];
        self.intrinsic_declared(slot.number(), info.name.to_owned(), info.ty)
    }

    /// The intrinsic variable of a slot, if the program has used it so far.
    pub fn known_intrinsic(&self, slot: impl IntrinsicSlot) -> Option<VarId> {
        self.externs.blocks.intrinsics.get(&slot.number()).copied()
    }

    /// Assigns a number to an intrinsic variable.
    pub fn set_intrinsic(&mut self, slot: impl IntrinsicSlot, number: u64, span: Span) {
        let var = self.intrinsic(slot);
        let ty = self.ir.vars[var].ty;
        let src = ir::Expr::constant(ty, Bits::from_u64(ty.width(), number));
        self.emit(ir::StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
    }
}
