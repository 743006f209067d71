//! The externs of v1model: counters, meters, registers, hashes, checksums, digests, and the requests to the switch.
//!
//! Requests (`clone`, `resubmit`, ...) only set a variable that the switch reads when the block ends, so they are
//! assignments to intrinsic variables; see [`ir::v1model`].

use crate::architecture::Package;
use crate::condition_text::condition_text;
use crate::externs::hashes::Algorithm;
use crate::externs::profiles::name_in_place;
use crate::externs::{Construction, DirectUse, ExternKind, ExternObject};
use crate::objects::ObjectKind;
use crate::places::{Place, VarbitPlace};
use crate::storage::Life;
use crate::types::Form;
use crate::values::{Value, number};
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::index::Id as _;
use base::limits::{CELLS_MAX, WIDTH_BITS_MAX};
use base::{Bits, OrderedMap, OrderedSet, Span};
use ir::v1model::{Slot, Stage};
use ir::{BinaryOp, HashAlgorithm, HeaderRef, StmtKind, Unit};
use num_bigint::BigInt;
use sema::hir::{self, Call, Expr, Type};
use std::rc::Rc;
use syntax::diag::Diagnostic;

/// Headers that a field list preserves, or one field of each.
type ListedFields = OrderedSet<(ir::HeaderId, Option<u32>)>;

/// The state about a v1model program while it is lowered.
#[derive(Default)]
pub(crate) struct V1ModelState {
    /// The block that is being lowered.
    pub stage: Option<Stage>,
    /// The variables of each `@field_list` number.
    pub annotated: OrderedMap<u64, Vec<ir::VarId>>,
    /// The headers among the metadata that have such a number.
    pub annotated_headers: OrderedMap<u64, Vec<ir::HeaderId>>,
    /// The lists that are used, with each of these headers, or one field of one.
    pub listed_headers: OrderedSet<(ir::FieldListId, ir::HeaderId, Option<u32>)>,
    /// The varbit fields of the user's metadata, and the length and the bits of each between two blocks.
    pub carried_varbits: Vec<(VarbitPlace, [ir::VarId; 2])>,
    /// The variable with the digest to be sent: its position in `digests` plus 1.
    pub digest_request: Option<ir::VarId>,
    /// The digests that are sent when ingress ends.
    pub digests: Vec<(ir::DigestId, Vec<ir::Expr>)>,
    /// The fields for the results of direct meters.
    meter_targets: OrderedMap<ir::DirectMeterId, ir::Place>,
}

impl<'h> Lowerer<'h> {
    /// The variable in which ingress counts the bytes that it adds, if it does.
    pub fn length_delta(&mut self) -> Option<ir::VarId> {
        let is_wanted = self.facts.length_is_read && self.externs.v1model.stage == Some(Stage::Ingress);
        is_wanted.then(|| self.intrinsic(Slot::LengthDelta))
    }

    // ------------------------------------------------------------------------------------------------- objects

    /// Makes an object; `None` if there is no type of this name.
    pub(super) fn construct_v1model(
        &mut self,
        type_name: &str,
        made: &Construction,
        name: &str,
    ) -> Lowered<Option<ExternKind>> {
        let name = name.to_owned();
        Ok(Some(match type_name {
            "register" => {
                let size = self.cells(made, 0)?;
                let (ty, parts_bits) = match made.type_args.first() {
                    Some(ty) => self.cell_type(ty, made.span)?,
                    None => return self.unsupported(made.span, "a register without a type"),
                };
                let initial = Bits::zero(ty.width());
                let register = ir::Register { name, ty, parts_bits, size, initial, is_start_number: false };
                ExternKind::Register(self.ir.registers.push(register))
            }
            "counter" => {
                let (size, unit) = (self.cells(made, 0)?, self.unit(made, 1)?);
                ExternKind::Counter(self.ir.counters.push(ir::Counter { name, unit, size }))
            }
            "meter" => {
                let (size, unit) = (self.cells(made, 0)?, self.unit(made, 1)?);
                ExternKind::Meter(self.ir.meters.push(ir::Meter { name, unit, size }))
            }
            "direct_counter" => {
                let unit = self.unit(made, 0)?;
                ExternKind::DirectCounter(self.ir.direct_counters.push(ir::DirectCounter { name, unit }))
            }
            "direct_meter" => {
                let unit = self.unit(made, 0)?;
                ExternKind::DirectMeter(self.ir.direct_meters.push(ir::DirectMeter { name, unit }))
            }
            "Checksum16" => ExternKind::Checksum16,
            "action_profile" => {
                let size = self.cells(made, 0)?;
                self.action_profile(name, size, None)
            }
            "action_selector" => {
                let algorithm = self.member_of(made, 0)?;
                let size = self.cells(made, 1)?;
                let algorithm = self.named_algorithm(&algorithm, &name, made.span)?;
                self.action_profile(name, size, Some(algorithm))
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn cells(&mut self, made: &Construction, position: usize) -> Lowered<u64> {
        match made.args.get(position) {
            Some(Some(size)) => self.constant_count(size, CELLS_MAX, made.span),
            _ => self.unsupported(made.span, "leaving out the size"),
        }
    }

    /// The name of the enum's member that is an argument of a constructor.
    pub(super) fn member_of(&mut self, made: &Construction, position: usize) -> Lowered<Rc<str>> {
        let constructor = self.hir.externs[made.id].constructors.get(made.constructor);
        let ty = constructor.and_then(|params| params.get(position)).map(|param| self.hir.vars[*param].ty.clone());
        match (ty, made.args.get(position)) {
            (Some(ty), Some(Some(value))) => self.member_name(&ty, value, made.span),
            _ => self.unsupported(made.span, "leaving out this argument"),
        }
    }

    pub(super) fn unit(&mut self, made: &Construction, position: usize) -> Lowered<Unit> {
        let name = self.member_of(made, position)?;
        match &*name {
            "packets" | "PACKETS" => Ok(Unit::Packets),
            "bytes" | "BYTES" => Ok(Unit::Bytes),
            "packets_and_bytes" | "PACKETS_AND_BYTES" => Ok(Unit::PacketsAndBytes),
            _ => self.unsupported(made.span, format!("counting `{name}`")),
        }
    }

    /// The name of an enum's member that is known at compile time.
    pub(super) fn member_name(&mut self, ty: &Type, value: &Value, span: Span) -> Lowered<Rc<str>> {
        let Type::Enum(id) = self.resolve(ty) else { return Err(Refused) };
        let declared = &self.hir.enums[id];
        let value = Self::known_number(value);
        match declared.members.iter().find(|(_, number)| value.as_ref() == Some(number)) {
            Some((name, _)) => Ok(name.clone()),
            None => {
                let members: Vec<String> = declared.members.iter().map(|(name, _)| format!("`{name}`")).collect();
                let (name, members) = (&declared.name, members.join(", "));
                let message = format!("this must be a member of `{name}` that is known at compile time: {members}");
                self.refuse(codes::NOT_CONSTANT, span, message)
            }
        }
    }

    pub(super) fn member_argument(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<Rc<str>> {
        let arg = self.argument(call, position, span)?;
        let value = self.eval(arg)?;
        self.member_name(&arg.ty, &value, arg.span)
    }

    /// Calls a method; `None` if there is none of this name.
    pub(super) fn call_v1model_method(
        &mut self,
        object: &ExternObject,
        name: &str,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Option<Value>> {
        match (object.kind, name) {
            (ExternKind::Register(register), "read") => {
                let place = self.result_place(call, 0, span)?;
                let index = self.index_argument(call, 1, span)?;
                self.read_cell(place, register, index, span)?;
            }
            (ExternKind::Register(register), "write") => {
                let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?];
                let mut values = self.eval_in_order(&args)?;
                let (Some(value), Some(index)) = (values.pop(), values.pop()) else { return Err(Refused) };
                let index = self.index(index, span)?;
                self.write_cell(register, index, value, &args[1].ty, span)?;
            }
            (ExternKind::Counter(counter), "count") => {
                let index = self.index_argument(call, 0, span)?;
                self.emit(StmtKind::Count { counter, index }, span);
            }
            (ExternKind::Meter(meter), "execute_meter") => {
                let index = self.index_argument(call, 0, span)?;
                let place = self.target(call, 1, span)?;
                let ty = ir::Type::Bit(scalar_type(&place).width());
                self.through(place, ty, span, |dst| StmtKind::ExecuteMeter {
                    dst,
                    meter,
                    index,
                    before: ir::Expr::bit(2, 0),
                })?;
            }
            (ExternKind::DirectCounter(counter), "count") => {
                self.direct_call(DirectUse::Counter(counter), object.is_attached, span);
            }
            (ExternKind::DirectMeter(meter), "read") => {
                let place = self.target(call, 0, span)?;
                self.direct_call(DirectUse::Meter(meter), object.is_attached, span);
                self.read_direct_meter(meter, &place, span)?;
            }
            (ExternKind::Checksum16, "get") => {
                let data = self.argument(call, 0, span)?;
                let data = self.eval(data)?;
                let result = self.scalar_or_refuse(ty, span)?;
                let result = self.hash_of(&data, Algorithm::Of(HashAlgorithm::Csum16), result, false, span)?;
                return Ok(Some(Value::Scalar(result)));
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Void))
    }

    /// The place of an `out` argument.
    fn result_place(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<Place> {
        let arg = self.argument(call, position, span)?;
        let place = self.place(arg)?;
        match call.args[position + 1..].iter().flatten().any(|arg| self.has_effects(arg)) {
            true => self.pin(place, span),
            false => Ok(place),
        }
    }

    /// The place of an `out` argument that is one value.
    pub(super) fn target(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<Place> {
        match self.result_place(call, position, span)? {
            place @ (Place::Scalar { .. } | Place::Bits(_) | Place::Choice { .. }) => Ok(place),
            _ => self.unsupported(span, "a result of this type"),
        }
    }

    pub(super) fn index_argument(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<ir::Expr> {
        let arg = self.argument(call, position, span)?;
        let value = self.eval(arg)?;
        self.index(value, arg.span)
    }

    pub(super) fn index(&mut self, value: Value, span: Span) -> Lowered<ir::Expr> {
        let index = match value {
            Value::Integer(index) => number(ir::Type::Bit(64), &index),
            value => self.scalar_value(value, span)?,
        };
        Ok(fold::cast(ir::Type::Bit(index.ty.width()), index))
    }

    /// Emits a statement that writes one value to `place`, or does not change it.
    pub(super) fn through(
        &mut self,
        place: Place,
        ty: ir::Type,
        span: Span,
        stmt: impl FnOnce(ir::Place) -> StmtKind,
    ) -> Lowered<()> {
        match place {
            Place::Scalar { place, ty: own } if own == ty => {
                self.emit(stmt(place), span);
                Ok(())
            }
            place => {
                let temporary = self.temporary(ty, span)?;
                let old = self.read(&place);
                let old = fold::cast(ty, self.scalar_value(old, span)?);
                self.emit(StmtKind::Assign { dst: ir::Place::Var(temporary), src: old }, span);
                self.emit(stmt(ir::Place::Var(temporary)), span);
                let value = self.read_var(temporary);
                self.assign(&place, Value::Scalar(value), span)
            }
        }
    }

    /// `read` of a direct meter. The meter runs with the lookup and then writes its result field, whichever action
    /// runs; so this field must outlive the action. It is the first field that `read` writes; others are assigned its
    /// value when `read` writes them.
    fn read_direct_meter(&mut self, meter: ir::DirectMeterId, place: &Place, span: Span) -> Lowered<()> {
        let wanted = match place {
            Place::Scalar { place, ty: ir::Type::Bit(_) } if self.is_metadata(place) => Some(place.clone()),
            _ => None,
        };
        match (self.externs.v1model.meter_targets.get(&meter).cloned(), wanted) {
            (Some(target), Some(wanted)) if target == wanted => Ok(()),
            (None, Some(wanted)) => {
                self.externs.v1model.meter_targets.insert(meter, wanted);
                Ok(())
            }
            _ => {
                let target = self.meter_target(meter);
                let value = self.read_ir_place(&target);
                let value = fold::cast(scalar_type(place), value);
                self.assign(place, Value::Scalar(value), span)
            }
        }
    }

    fn is_metadata(&self, place: &ir::Place) -> bool {
        match place {
            ir::Place::Var(var) => self.ir.vars[*var].kind != ir::VarKind::Local,
            ir::Place::Field(HeaderRef::Fixed(header), _) => self.ir.headers[*header].metadata,
            _ => false,
        }
    }

    pub(super) fn meter_target(&mut self, meter: ir::DirectMeterId) -> ir::Place {
        if let Some(place) = self.externs.v1model.meter_targets.get(&meter) {
            return place.clone();
        }
        let place = ir::Place::Var(self.new_var("color", ir::Type::Bit(32), Life::Local));
        self.externs.v1model.meter_targets.insert(meter, place.clone());
        place
    }

    // -------------------------------------------------------------------------------------------------- tables

    /// Applies a property of a table that the architecture defines; whether it is one.
    pub fn architecture_property(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<bool> {
        match self.package {
            Package::V1Model => {}
            Package::Psa => return self.psa_property(table, property),
            Package::Pna => return self.pna_property(table, property),
        }
        match &*property.name {
            "counters" | "meters" => {
                let object = self.eval_object(&property.value)?;
                let name = name_in_place(table, property);
                match &self.objects[object].kind {
                    ObjectKind::Extern(object) => match object.kind {
                        ExternKind::DirectCounter(counter) => {
                            table.direct_counters = vec![counter];
                            let counter = &mut self.ir.direct_counters[counter];
                            counter.name = name.unwrap_or_else(|| counter.name.clone());
                        }
                        ExternKind::DirectMeter(meter) => {
                            let made = &mut self.ir.direct_meters[meter];
                            made.name = name.unwrap_or_else(|| made.name.clone());
                            table.direct_meter = Some((meter, Some(self.meter_target(meter))));
                        }
                        _ => return self.unsupported(property.span, "this object as a table's counter or meter"),
                    },
                    _ => return self.unsupported(property.span, "this object as a table's counter or meter"),
                }
            }
            "implementation" => self.implementation(table, property)?,
            "support_timeout" => {
                let value = self.eval_scalar(&property.value)?;
                table.support_timeout = fold::truth(&value).unwrap_or(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Records a call of a direct object's method.
    pub(super) fn direct_call(&mut self, used: DirectUse, is_attached: bool, span: Span) {
        self.externs.direct_calls.push((used, span));
        if !is_attached {
            self.externs.direct_uses.push(used);
        }
    }

    /// Warns about calls of direct objects that belong to no table, and so have no cell. A meter's result would not be
    /// defined, so reading it is an error.
    pub fn warn_of_direct_calls(&mut self) {
        for (used, span) in std::mem::take(&mut self.externs.direct_calls) {
            let tables = self.ir.tables.iter();
            let (has_table, name) = match used {
                DirectUse::Counter(id) => {
                    (tables.clone().any(|table| table.direct_counters.contains(&id)), &self.ir.direct_counters[id].name)
                }
                DirectUse::Meter(id) => (
                    tables.clone().any(|table| table.direct_meter.as_ref().is_some_and(|(meter, _)| *meter == id)),
                    &self.ir.direct_meters[id].name,
                ),
            };
            if has_table {
                continue;
            }
            if matches!(used, DirectUse::Meter(_)) && self.package == Package::V1Model {
                let message = format!("there is no result: no table has `{name}`, which has a cell for each entry");
                let help = "name it in the property `meters` of a table, or call it in an action of one";
                self.diagnostics.push(Diagnostic::error(codes::DIRECT, span, message).help(help));
            } else {
                let message = format!("this has no effect: no table has `{name}`, which has a cell for each entry");
                let help = "name it in a property of a table, or call it in an action of one";
                self.diagnostics.push(Diagnostic::warning(codes::NO_EFFECT, span, message).help(help));
            }
        }
    }

    /// Attaches the direct objects that a table's actions use to the table.
    pub fn attach_direct(&mut self, table: &mut ir::Table) -> Lowered<()> {
        let uses = table.actions.iter().filter_map(|action| self.externs.action_uses.get(&action.action));
        let uses: Vec<DirectUse> = uses.flatten().copied().collect();
        for used in uses {
            let is_other = match used {
                DirectUse::Counter(counter) => {
                    let first = table.direct_counters.first().copied();
                    if first.is_none() {
                        table.direct_counters.push(counter);
                    }
                    first.is_some_and(|first| first != counter)
                }
                DirectUse::Meter(meter) => {
                    // In PSA and PNA the actions execute the meter.
                    let is_v1model = self.package == Package::V1Model;
                    let target = is_v1model.then(|| self.meter_target(meter));
                    table.direct_meter.get_or_insert((meter, target)).0 != meter
                }
            };
            if is_other {
                let message = "the actions of this table use two direct counters, or two direct meters";
                return self.refuse(codes::DIRECT, table.span, message);
            }
        }
        // Most tables have neither, and there may be thousands.
        if table.direct_counters.is_empty() && table.direct_meter.is_none() {
            return Ok(());
        }
        let is_taken = |other: &ir::Table| {
            other.direct_counters.iter().any(|counter| table.direct_counters.contains(counter))
                || matches!((&other.direct_meter, &table.direct_meter), (Some((a, _)), Some((b, _))) if a == b)
        };
        if self.ir.tables.iter().any(is_taken) {
            let message = "the direct counter or meter of this table belongs to another table already";
            return self.refuse(codes::DIRECT, table.span, message);
        }
        Ok(())
    }

    // ----------------------------------------------------------------------------------------------- functions

    /// Calls a function; `None` if there is none of this name.
    pub(super) fn call_v1model_function(
        &mut self,
        name: &str,
        call: &'h Call,
        _ty: &Type,
        span: Span,
    ) -> Lowered<Option<Value>> {
        match name {
            "mark_to_drop" => self.mark_to_drop(call, span)?,
            // The second is declared for programs in P4_14.
            "hash" | "hash_with_payload" => self.call_hash(call, name != "hash", span)?,
            "random" => self.call_random(call, span)?,
            "verify_checksum" => self.verify_checksum(call, false, span)?,
            "verify_checksum_with_payload" => self.verify_checksum(call, true, span)?,
            "update_checksum" => self.update_checksum(call, false, span)?,
            "update_checksum_with_payload" => self.update_checksum(call, true, span)?,
            "digest" => self.call_digest(call, span)?,
            "clone" | "clone3" | "clone_preserving_field_list" => self.call_clone(name, call, span)?,
            "resubmit" | "resubmit_preserving_field_list" => {
                if self.takes_effect(&[Stage::Ingress], name, span) {
                    self.call_again(Slot::Resubmit, name, call, span)?;
                }
            }
            "recirculate" | "recirculate_preserving_field_list" => {
                if self.takes_effect(&[Stage::Ingress, Stage::Egress], name, span) {
                    self.call_again(Slot::Recirculate, name, call, span)?;
                }
            }
            "truncate" => self.call_truncate(call, span)?,
            "pile_gather" | "pile_release" | "pile_read" | "scatter_records" => self.call_piles(name, call, span)?,
            "crc_remainder" => self.call_remainder(call, span)?,
            "bits_gather" | "bits_scatter" => return Ok(Some(self.call_bits(name, call, span)?)),
            "log_msg" => self.call_log(call, span)?,
            "assert" | "assume" => {
                let written = self.argument(call, 0, span)?;
                let text = format!("{name}({})", condition_text(self.hir, written));
                let cond = self.eval_condition(written)?;
                self.emit(StmtKind::Assert { cond, text }, span);
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Void))
    }

    /// Whether a request has an effect in the block that is being lowered. The reference compiler accepts such a call
    /// anywhere, and the reference switch reads the request at the end of the right block, so elsewhere it gets a
    /// warning only.
    pub(super) fn takes_effect(&mut self, stages: &[Stage], name: &str, span: Span) -> bool {
        if self.externs.v1model.stage.is_some_and(|stage| stages.contains(&stage)) {
            return true;
        }
        let places: Vec<String> = stages.iter().map(|stage| format!("{stage:?}").to_lowercase()).collect();
        let message = format!("`{name}` has no effect here, only in {}", places.join(" and "));
        self.diagnostics.push(Diagnostic::warning(codes::NO_EFFECT, span, message));
        false
    }

    /// `mark_to_drop`: writes two fields of its argument, which may be a copy of the packet's metadata: this drops
    /// nothing until it is assigned back. The older form has no argument and writes the packet's metadata.
    fn mark_to_drop(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let Some(Some(arg)) = call.args.first() else {
            self.set_intrinsic(Slot::EgressSpec, self.ir.drop_port, span);
            self.set_intrinsic(Slot::McastGrp, 0, span);
            return Ok(());
        };
        let place = self.place(arg)?;
        let Form::Tuple(fields) = self.form(&arg.ty, span)? else {
            return self.unsupported(span, "`mark_to_drop` of this type");
        };
        for (name, value) in [("egress_spec", self.ir.drop_port), ("mcast_grp", 0)] {
            let Some(position) = fields.iter().position(|(field, _)| **field == *name) else {
                return self.unsupported(span, format!("`mark_to_drop` of metadata without a field `{name}`"));
            };
            let Some(field) = crate::exprs::field_of(place.clone(), position) else {
                return self.unsupported(span, "`mark_to_drop` of this place");
            };
            let src = number(scalar_type(&field), &BigInt::from(value));
            self.assign(&field, Value::Scalar(src), span)?;
        }
        Ok(())
    }

    /// `clone`, `clone3`, `clone_preserving_field_list`. In the reference switch the block where it is called decides
    /// which clone is made. Only P4_14 programs clone to ingress, without a session (`docs/design/p4_14.md`).
    fn call_clone(&mut self, name: &str, call: &'h Call, span: Span) -> Lowered<()> {
        let kind = self.member_argument(call, 0, span)?;
        let meant = if kind.starts_with('E') { Stage::Egress } else { Stage::Ingress };
        let shown = format!("{name}(CloneType.{kind})");
        let session_slot = match self.externs.v1model.stage {
            Some(Stage::Ingress) => Slot::CloneIngressSession,
            Some(Stage::Egress) => Slot::CloneEgressSession,
            _ => {
                self.takes_effect(&[Stage::Ingress, Stage::Egress], &shown, span);
                return Ok(());
            }
        };
        if self.externs.v1model.stage != Some(meant) {
            let message =
                format!("`{shown}` is for {}; here it clones as the block does", format!("{meant:?}").to_lowercase());
            self.diagnostics.push(Diagnostic::warning(codes::NO_EFFECT, span, message));
        }
        if matches!(&*kind, "I2I" | "E2I") {
            let list = self.preserved(name, call, 2, span)?;
            self.set_intrinsic(Slot::CloneToIngress, list.map_or(1, |list| list + 2), span);
            return Ok(());
        }
        let session = self.argument(call, 1, span)?;
        let session = fold::cast(ir::Type::Bit(32), self.eval_scalar(session)?);
        let list = self.preserved(name, call, 2, span)?;
        let src = fold::binary(BinaryOp::Add, session, ir::Expr::bit(32, 1));
        let var = self.intrinsic(session_slot);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
        self.set_intrinsic(Slot::CloneList, list.map_or(0, |list| list + 1), span);
        Ok(())
    }

    /// `resubmit` and `recirculate`.
    fn call_again(&mut self, slot: Slot, name: &str, call: &'h Call, span: Span) -> Lowered<()> {
        let list = self.preserved(name, call, 0, span)?;
        self.set_intrinsic(slot, list.map_or(1, |list| list + 2), span);
        Ok(())
    }

    /// The position of the field list that an argument gives by number, or as a list.
    fn preserved(&mut self, name: &str, call: &'h Call, position: usize, span: Span) -> Lowered<Option<u64>> {
        let Some(Some(arg)) = call.args.get(position) else { return Ok(None) };
        let is_numbered = name.ends_with("_preserving_field_list");
        let (list_number, (vars, fields)) = if is_numbered {
            let list_number = self.count_argument(call, position, 255, span)?;
            (list_number, self.annotated_fields(list_number))
        } else {
            (0, self.stated_fields(arg)?)
        };
        if vars.is_empty() && fields.is_empty() {
            return Ok(None);
        }
        let is_same = |id: ir::FieldListId, list: &ir::FieldList| {
            list.number == list_number && list.vars == vars && self.listed_in(id) == fields
        };
        let known = self.ir.field_lists.iter_enumerated().find(|(id, list)| is_same(*id, list)).map(|(id, _)| id);
        let list = known.unwrap_or_else(|| self.ir.field_lists.push(ir::FieldList { number: list_number, vars, span }));
        let fields = fields.into_iter().map(|(header, field)| (list, header, field));
        self.externs.v1model.listed_headers.extend(fields);
        Ok(Some(list.index() as u64))
    }

    /// The headers that a list preserves.
    fn listed_in(&self, list: ir::FieldListId) -> ListedFields {
        let listed = self.externs.v1model.listed_headers.iter().filter(|(id, ..)| *id == list);
        listed.map(|(_, header, field)| (*header, *field)).collect()
    }

    /// The fields that are annotated with a list's number.
    fn annotated_fields(&self, number: u64) -> (Vec<ir::VarId>, ListedFields) {
        let state = &self.externs.v1model;
        let headers = state.annotated_headers.get(&number).into_iter().flatten();
        (state.annotated.get(&number).cloned().unwrap_or_default(), headers.map(|header| (*header, None)).collect())
    }

    /// The metadata in a list of fields. The packet's headers are not preserved, as the packet is parsed again; neither
    /// are constants and local variables of the block.
    fn stated_fields(&mut self, arg: &'h Expr) -> Lowered<(Vec<ir::VarId>, ListedFields)> {
        let value = self.eval(arg)?;
        let (mut vars, mut fields) = (Vec::new(), ListedFields::new());
        for leaf in self.shown_values(&value, arg.span)? {
            let mut expr = &leaf;
            while let ir::ExprKind::Cast(inner) | ir::ExprKind::Slice { base: inner, .. } = &expr.kind {
                expr = inner;
            }
            match &expr.kind {
                ir::ExprKind::Var(var) if self.ir.vars[*var].kind == ir::VarKind::Local => {}
                ir::ExprKind::Var(var) => vars.push(*var),
                ir::ExprKind::Field(HeaderRef::Fixed(header), field) if self.is_kept_metadata(*header) => {
                    fields.insert((*header, Some(*field)));
                }
                ir::ExprKind::Const(_) | ir::ExprKind::Field(..) | ir::ExprKind::IsValid(_) => {}
                _ => return self.unsupported(arg.span, "preserving the value of an expression"),
            }
        }
        for (varbit, carried) in &self.externs.v1model.carried_varbits {
            if names_varbit(&value, varbit) {
                vars.extend(carried);
            }
        }
        vars.sort_unstable();
        vars.dedup();
        Ok((vars, fields))
    }

    /// Whether a header is one of the metadata.
    fn is_kept_metadata(&self, header: ir::HeaderId) -> bool {
        self.ir.headers[header].metadata && !self.externs.packet_headers.contains(&header)
    }

    /// `truncate`: the smallest of all lengths counts.
    fn call_truncate(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let length = self.argument(call, 0, span)?;
        let length = fold::cast(ir::Type::Bit(32), self.eval_scalar(length)?);
        let asked = self.pin_expr(fold::binary(BinaryOp::SaturatingAdd, length, ir::Expr::bit(32, 1)), span)?;
        let var = self.intrinsic(Slot::Truncate);
        let old = self.read_var(var);
        let is_first = fold::binary(BinaryOp::Eq, old.clone(), ir::Expr::bit(32, 0));
        let is_less = fold::binary(BinaryOp::Lt, asked.clone(), old.clone());
        let src = fold::mux(fold::or(is_first, is_less), asked, old);
        self.emit(StmtKind::Assign { dst: ir::Place::Var(var), src }, span);
        Ok(())
    }

    fn call_log(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let message = self.argument(call, 0, span)?;
        let Value::String(message) = self.eval(message)? else { return Err(Refused) };
        let args = match call.args.get(1) {
            Some(Some(data)) => {
                let value = self.eval(data)?;
                self.shown_values(&value, data.span)?
            }
            _ => Vec::new(),
        };
        let places = message.matches("{}").count();
        if places > args.len() || places == 0 && !args.is_empty() {
            let plural = if args.len() == 1 { "" } else { "s" };
            let text = format!("the message has {places} `{{}}`, and {} value{plural} for them", args.len());
            let diagnostic = Diagnostic::warning(codes::LOG_FORMAT, span, text);
            self.diagnostics.push(diagnostic.help("each value stands where the message has `{}`"));
        }
        self.emit(StmtKind::Log { message: message.to_string(), args }, span);
        Ok(())
    }

    /// The scalars of data of any type, in order; varbit fields are left out.
    fn shown_values(&mut self, value: &Value, span: Span) -> Lowered<Vec<ir::Expr>> {
        let items = match value {
            Value::Integer(number) => {
                let width = u32::try_from(number.bits() + 1).unwrap_or(WIDTH_BITS_MAX).min(WIDTH_BITS_MAX);
                return Ok(vec![crate::values::number(ir::Type::Int(width), number)]);
            }
            Value::Varbit { .. } | Value::VarbitParts { .. } => return Ok(Vec::new()),
            Value::Tuple(items) => items.clone(),
            Value::Stack(_) => self.elements(value, span)?,
            Value::Union(members) => members.iter().cloned().map(Value::Header).collect(),
            Value::Header(header) => {
                (0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect()
            }
            _ => return self.leaves(value, span),
        };
        let mut values = Vec::new();
        for item in &items {
            values.extend(self.nested(span, |l| l.shown_values(item, span))?);
        }
        Ok(values)
    }
}

/// The type of a place that is one value.
pub(super) fn scalar_type(place: &Place) -> ir::Type {
    match place {
        Place::Scalar { ty, .. } => *ty,
        Place::Bits(bits) => ir::Type::Bit(bits.width),
        Place::Choice { items, .. } => items.first().map_or(ir::Type::Bool, scalar_type),
        _ => ir::Type::Bool,
    }
}

/// Whether the varbit field is part of the value.
fn names_varbit(value: &Value, varbit: &VarbitPlace) -> bool {
    match value {
        Value::Varbit { header, field, .. } => (header, *field) == (&varbit.header, varbit.field),
        Value::Tuple(items) => items.iter().any(|item| names_varbit(item, varbit)),
        _ => false,
    }
}
