//! The blocks of a PNA program, the storage that they share, and the directions of its packets.
//!
//! Headers and user's metadata exist once; where the pre control has other types than the main blocks, it has its own,
//! which are invalid and zero. The fields of the `pna_..._metadata_t` structs are intrinsic variables.
//!
//! Which ports belong to hosts is known when the program is lowered. Without any, nothing turns round, and directions
//! cost nothing. With some, the parser begins by setting the direction, and the main control ends by finding out
//! whether the packet must turn round:
//!
//! ```text
//! direction = (is_host(input_port) != turned) ? HOST_TO_NET : NET_TO_HOST
//! turn = is_host(dest_port) == (direction == HOST_TO_NET) && dest_port != PNA_PORT_CPU
//! ```

use crate::architecture::Package;
use crate::inline::Argument;
use crate::names::find;
use crate::objects::{ObjectId, ObjectKind};
use crate::places::{Place, footprint_of_place};
use crate::storage::Life;
use crate::types::Form;
use crate::values::Value;
use crate::{BlockState, Lowered, Lowerer, Refused, fold};
use base::{Bits, Span};
use ir::pna::{HOST_TO_NET, NET_TO_HOST, PORT_CPU, Slot, Stage};
use ir::{BinaryOp, StmtKind, VarId};
use sema::hir::{self, Type};
use std::collections::BTreeMap;
use syntax::ast::Direction;

/// The annotation of `main` that names the ports of hosts.
const HOST_PORTS: &str = "host_ports";

/// The kind of a block's parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Packet,
    Headers,
    Metadata,
    Input,
    Output,
}

/// The blocks and their parameters, in the order of the package's parameters.
const STAGES: [(Stage, &[Role]); 4] = {
    use Role::{Headers, Input, Metadata, Output, Packet};
    [
        (Stage::MainParser, &[Packet, Headers, Metadata, Input]),
        (Stage::PreControl, &[Headers, Metadata, Input, Output]),
        (Stage::MainControl, &[Headers, Metadata, Input, Output]),
        (Stage::MainDeparser, &[Packet, Headers, Metadata, Output]),
    ]
};

/// The state about a PNA program while it is lowered.
#[derive(Default)]
pub(crate) struct State {
    intrinsics: BTreeMap<Slot, VarId>,
    /// Headers and metadata by type.
    headers: Vec<(Type, Place)>,
    metadata: Vec<(Type, Place)>,
    /// The table whose actions are lowered, if they may add entries to it.
    pub adding: Option<Adding>,
    /// Whether the action that is lowered adds entries.
    pub has_added: bool,
    /// The register from which flow ids come.
    pub flow_ids: Option<ir::RegisterId>,
}

/// A table to which its default action may add entries.
#[derive(Clone)]
pub(crate) struct Adding {
    /// The table, which is made when its actions are.
    pub id: ir::TableId,
    pub declaration: hir::TableId,
    /// The values of the keys that were looked up.
    pub keys: Vec<ir::Expr>,
}

impl<'h> Lowerer<'h> {
    /// Lowers the blocks of package `PNA_NIC`: three, or four with a pre control.
    pub fn pna_program(&mut self, main: &'h hir::Instance) -> Lowered<()> {
        self.package = Package::Pna;
        self.ir.architecture = &ir::pna::ARCHITECTURE;
        self.ir.host_ports = match self.host_ports.clone() {
            Some(given) => given,
            None => self.annotated_host_ports(main)?,
        };
        self.make_top_instances();
        let mut blocks = Vec::new();
        for block in &main.args {
            let Some(block) = block else {
                return self.unsupported(main.span, "leaving out a block");
            };
            blocks.push((self.eval_object(block)?, block.span));
        }
        self.make_blocks_distinct(&mut blocks)?;
        let has_pre_control = blocks.len() == STAGES.len();
        let mut blocks = blocks.into_iter();
        let mut result = Ok(());
        for (stage, roles) in STAGES {
            if stage == Stage::PreControl && !has_pre_control {
                let kind = ir::BlockKind::Control { body: Vec::new() };
                self.ir.blocks.push(ir::Block { name: "pre_control".to_owned(), kind, exit: None });
                continue;
            }
            let Some((object, span)) = blocks.next() else { return Err(Refused) };
            if self.lower_pna_stage(stage, roles, object, span).is_err() {
                result = Err(Refused);
            }
        }
        result?;
        self.warn_of_direct_calls();
        Ok(())
    }

    /// The ports that `@host_ports(...)` of `main` names.
    fn annotated_host_ports(&mut self, main: &'h hir::Instance) -> Lowered<Vec<(u32, u32)>> {
        let Some(annotation) = find(&main.annotations, HOST_PORTS) else { return Ok(Vec::new()) };
        let numbers = annotation.expressions().map(|list| list.iter().map(|expr| self.list_number(expr)).collect());
        let ports = match numbers {
            Some(Some(numbers)) => numbers,
            _ => Vec::<u64>::new(),
        };
        let ports: Option<Vec<u32>> = ports.into_iter().map(|port| u32::try_from(port).ok()).collect();
        match ports {
            Some(ports) if !ports.is_empty() => Ok(ports.into_iter().map(|port| (port, port)).collect()),
            _ => self.unsupported(annotation.span, "host ports that are not given as numbers of ports"),
        }
    }

    fn lower_pna_stage(&mut self, stage: Stage, roles: &[Role], object: ObjectId, span: Span) -> Lowered<()> {
        let is_parser = stage == Stage::MainParser;
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
        let args = self.pna_arguments(roles, params);
        self.types.clear();
        let args = args?;
        let kind = if is_parser {
            self.set_direction(span);
            let error = self.pna_intrinsic(Slot::ParserError, ir::Type::Bit(32));
            let first = std::mem::take(&mut self.body);
            self.lower_parser_block(object, args, first, error)?
        } else {
            self.lower_control_body(object, args, span)?;
            if stage == Stage::MainControl {
                self.find_turn(span);
            }
            ir::BlockKind::Control { body: std::mem::take(&mut self.body) }
        };
        let exit = self.block.exit_is_used.then_some(exit_label);
        self.ir.blocks.push(ir::Block { name, kind, exit });
        Ok(())
    }

    /// The bindings of a block's parameters.
    fn pna_arguments(&mut self, roles: &[Role], params: &[hir::VarId]) -> Lowered<Vec<Argument>> {
        let mut args = Vec::new();
        for (role, param) in roles.iter().zip(params) {
            let declaration = &self.hir.vars[*param];
            let (ty, name, span) = (self.resolve(&declaration.ty), &declaration.name, declaration.span);
            let place = match role {
                Role::Packet => {
                    let Type::Extern(id, _) = &ty else {
                        return self.unsupported(span, "a packet of this type");
                    };
                    args.push(Argument::Value(Value::Object(self.packet_object(*id, span)?)));
                    continue;
                }
                Role::Headers => match self.externs.pna.headers.iter().find(|(known, _)| *known == ty) {
                    Some((_, place)) => place.clone(),
                    None => {
                        let place = self.allocate(&ty, name, Life::Metadata, span)?;
                        self.externs.packet_headers.extend(footprint_of_place(&self.ir, &place).headers());
                        self.externs.pna.headers.push((ty, place.clone()));
                        place
                    }
                },
                Role::Metadata => match self.externs.pna.metadata.iter().find(|(known, _)| *known == ty) {
                    Some((_, place)) => place.clone(),
                    None => {
                        let place = self.allocate(&ty, name, Life::Metadata, span)?;
                        self.externs.pna.metadata.push((ty, place.clone()));
                        place
                    }
                },
                Role::Input | Role::Output => self.pna_intrinsics(*role, &ty, name, span)?,
            };
            args.push(match self.direction(*param) {
                Direction::None | Direction::In => Argument::Value(self.read(&place)),
                // Everything is zero and invalid when the parser starts.
                Direction::Out | Direction::InOut => Argument::Place(place, Direction::InOut),
            });
        }
        Ok(args)
    }

    /// The variables of a `pna_..._metadata_t`. Fields that PNA does not define are metadata, and so is the class of
    /// service with which a packet arrives: none has one.
    fn pna_intrinsics(&mut self, role: Role, ty: &Type, name: &str, span: Span) -> Lowered<Place> {
        let Form::Tuple(fields) = self.form(ty, span)? else {
            return self.unsupported(span, "intrinsic metadata of this type");
        };
        let mut places = Vec::new();
        for (field, ty) in fields {
            let is_of_role = |slot: &Slot| (*slot == Slot::ClassOfService) == (role == Role::Output);
            let known = Slot::of_field(&field).filter(is_of_role);
            places.push(match (known, self.form(&ty, span)?) {
                (Some(slot), Form::Scalar(ty)) if ty.width() <= 64 => {
                    let var = self.pna_intrinsic(slot, ty);
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

    /// The intrinsic variable of a slot.
    pub fn pna_intrinsic(&mut self, slot: Slot, ty: ir::Type) -> VarId {
        if let Some(var) = self.externs.pna.intrinsics.get(&slot) {
            return *var;
        }
        let kind = ir::VarKind::Intrinsic(slot as u32);
        let var = self.ir.vars.push(ir::Var { name: slot.name().to_owned(), ty, kind });
        self.externs.pna.intrinsics.insert(slot, var);
        var
    }

    /// Assigns a number to an intrinsic variable, which has this type if it is new.
    pub fn set_pna_intrinsic(&mut self, slot: Slot, ty: ir::Type, number: u64, span: Span) {
        let var = self.pna_intrinsic(slot, ty);
        let ty = self.ir.vars[var].ty;
        let src = ir::Expr::constant(ty, Bits::from_u64(ty.width(), number));
        self.emit(StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
    }

    // ------------------------------------------------------------------------------------------------- directions

    /// Whether a port belongs to a host.
    pub fn is_host_port(&self, port: &ir::Expr) -> ir::Expr {
        let number = |number: u32| {
            let width = port.ty.width();
            ir::Expr::constant(port.ty, Bits::from_u64(width.max(32), u64::from(number)).resize(width))
        };
        let is_in = |&(first, last): &(u32, u32)| match first == last {
            true => fold::binary(BinaryOp::Eq, port.clone(), number(first)),
            false => {
                let from = fold::binary(BinaryOp::Ge, port.clone(), number(first));
                fold::and(from, fold::binary(BinaryOp::Le, port.clone(), number(last)))
            }
        };
        self.ir.host_ports.iter().map(is_in).fold(ir::Expr::bool(false), fold::or)
    }

    /// At the start of the parser: the direction of a packet.
    fn set_direction(&mut self, span: Span) {
        if self.ir.host_ports.is_empty() {
            return;
        }
        let port = self.pna_intrinsic(Slot::InputPort, ir::Type::Bit(32));
        let turned = self.pna_intrinsic(Slot::Turned, ir::Type::Bool);
        let direction = self.pna_intrinsic(Slot::Direction, ir::Type::Bit(32));
        let is_host = self.is_host_port(&self.read_var(port));
        let is_from_host = ir::Expr::binary(BinaryOp::Ne, is_host, self.read_var(turned));
        let ty = self.ir.vars[direction].ty;
        let number = |number| ir::Expr::constant(ty, Bits::from_u64(ty.width(), number));
        let src = fold::mux(is_from_host, number(HOST_TO_NET), number(NET_TO_HOST));
        self.emit(StmtKind::Assign { dst: ir::Place::Var(direction), src }, span);
    }

    /// At the end of the main control: whether the packet turns round.
    fn find_turn(&mut self, span: Span) {
        let Some(dest) = self.externs.pna.intrinsics.get(&Slot::DestPort).copied() else { return };
        if self.ir.host_ports.is_empty() {
            return;
        }
        let dest = self.read_var(dest);
        let direction = self.pna_intrinsic(Slot::Direction, ir::Type::Bit(32));
        let direction = self.read_var(direction);
        let host_to_net = ir::Expr::constant(direction.ty, Bits::from_u64(direction.ty.width(), HOST_TO_NET));
        let is_to_net = fold::binary(BinaryOp::Eq, direction, host_to_net);
        let is_near = ir::Expr::binary(BinaryOp::Eq, self.is_host_port(&dest), is_to_net);
        let cpu = ir::Expr::constant(dest.ty, Bits::from_u64(dest.ty.width(), u64::from(PORT_CPU)));
        let src = fold::and(is_near, fold::binary(BinaryOp::Ne, dest, cpu));
        let turn = self.pna_intrinsic(Slot::Turn, ir::Type::Bool);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(turn), src }, span);
    }
}
