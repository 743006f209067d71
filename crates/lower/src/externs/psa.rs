//! The externs of PSA: counters, meters, registers, random numbers, hashes, checksums, digests.
//!
//! Checksums have no statement of their own. The state of one is a local variable of the block that uses it, and what
//! is added goes through the hash statements:
//! * The ones' complement sum of the state and the data is the inverted `csum16` of both; what is taken away is added
//!   inverted (RFC 1624, equation 3).
//! * A cyclic redundancy check that has reached `h` goes on with data of `n` bytes as the check of the data, in whose
//!   first bytes `h` is added, plus what of `h` is left over beyond `n` bytes. That is so because the check is linear.
//! * `identity` keeps the first 8 bytes.
//!
//! Data are padded with zero bits in front. A header that is invalid adds nothing.

use crate::externs::hashes::Algorithm;
use crate::externs::{Construction, DirectUse, ExternKind, ExternObject};
use crate::objects::{ObjectId, ObjectKind};
use crate::storage::Life;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, fold};
use base::Bits;
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use ir::{BinaryOp, ExprKind, HashAlgorithm, HashInput, HashValue, HeaderRef, StmtKind, UnaryOp};
use num_bigint::BigInt;
use sema::hir::{self, Call};
use std::collections::BTreeMap;

/// What is remembered of PSA's objects while a program is lowered.
#[derive(Default)]
pub(crate) struct Objects {
    /// The ranges of the generators of random numbers.
    randoms: Vec<(ir::Type, BigInt, BigInt)>,
    /// The state of each checksum in each block.
    checksums: BTreeMap<(ObjectId, usize), ir::VarId>,
}

impl<'h> Lowerer<'h> {
    // ------------------------------------------------------------------------------------------------- objects

    /// Makes an object, if PSA has its type.
    pub(super) fn construct_psa(
        &mut self,
        type_name: &str,
        made: &Construction,
        name: &str,
    ) -> Lowered<Option<ExternKind>> {
        let name = name.to_owned();
        let span = made.span;
        Ok(Some(match type_name {
            "PacketReplicationEngine" | "BufferingQueueingEngine" => ExternKind::Engine,
            "Register" => {
                let size = self.cells(made, 0)?;
                let ty = self.made_type(made)?;
                let initial = match made.args.get(1) {
                    Some(Some(value)) => Bits::from_bigint(ty.width(), &self.constant_number(value, span)?),
                    _ => Bits::zero(ty.width()),
                };
                ExternKind::Register(self.ir.registers.push(ir::Register { name, ty, size, initial }))
            }
            "Counter" => {
                let (size, unit) = (self.cells(made, 0)?, self.unit(made, 1)?);
                ExternKind::Counter(self.ir.counters.push(ir::Counter { name, unit, size }))
            }
            "Meter" => {
                let (size, unit) = (self.cells(made, 0)?, self.unit(made, 1)?);
                ExternKind::Meter(self.ir.meters.push(ir::Meter { name, unit, size }))
            }
            "DirectCounter" => {
                let unit = self.unit(made, 0)?;
                ExternKind::DirectCounter(self.ir.direct_counters.push(ir::DirectCounter { name, unit }))
            }
            "DirectMeter" => {
                let unit = self.unit(made, 0)?;
                ExternKind::DirectMeter(self.ir.direct_meters.push(ir::DirectMeter { name, unit }))
            }
            "Random" => ExternKind::Random(self.random_range(made)?),
            "Hash" => ExternKind::Hash(self.made_algorithm(made, &name)?, self.made_type(made)?),
            "Checksum" => match self.made_algorithm(made, &name)? {
                HashAlgorithm::Identity => return self.unsupported(span, "`IDENTITY` as a checksum"),
                HashAlgorithm::Custom(_) => return self.unsupported(span, "a checksum whose parameters can be set"),
                algorithm => ExternKind::Checksum(algorithm, self.made_type(made)?),
            },
            "InternetChecksum" => ExternKind::InternetChecksum,
            "ActionProfile" => {
                let size = self.cells(made, 0)?;
                self.action_profile(name, size, None)
            }
            "ActionSelector" => {
                let algorithm = self.made_algorithm(made, &name)?;
                let size = self.cells(made, 1)?;
                self.action_profile(name, size, Some(Algorithm::Of(algorithm)))
            }
            "Digest" => {
                let Some(ty) = made.type_args.first() else {
                    return self.unsupported(span, "a digest without a type");
                };
                let mut fields = Vec::new();
                self.digest_fields(ty, "", &mut fields, span)?;
                let receiver = self.ir.digests.len() as u64;
                ExternKind::Digest(self.ir.digests.push(ir::Digest { name, receiver, fields }))
            }
            _ => return Ok(None),
        }))
    }

    /// The first type argument, which must be of one value.
    fn made_type(&mut self, made: &Construction) -> Lowered<ir::Type> {
        match made.type_args.first() {
            Some(ty) => self.scalar_or_refuse(ty, made.span),
            None => self.unsupported(made.span, "an object without a type"),
        }
    }

    /// The algorithm that an object of this name is made with. The parameters of a custom one are set under the name.
    fn made_algorithm(&mut self, made: &Construction, name: &str) -> Lowered<HashAlgorithm> {
        let member = self.member_of(made, 0)?;
        Ok(match &*member {
            "IDENTITY" => HashAlgorithm::Identity,
            "CRC32" | "TARGET_DEFAULT" => HashAlgorithm::Crc32,
            "CRC16" => HashAlgorithm::Crc16,
            "CRC32_CUSTOM" => self.calculation(name, 32),
            "CRC16_CUSTOM" => self.calculation(name, 16),
            "ONES_COMPLEMENT16" => HashAlgorithm::Csum16,
            _ => return self.unsupported(made.span, format!("the hash algorithm `{member}`")),
        })
    }

    fn random_range(&mut self, made: &Construction) -> Lowered<usize> {
        let ty = self.made_type(made)?;
        if ty.width() > 64 {
            return self.unsupported(made.span, "random numbers of more than 64 bits");
        }
        let [Some(low), Some(high)] = &made.args[..] else {
            return self.unsupported(made.span, "leaving out a limit of the numbers");
        };
        let (low, high) = (self.constant_number(low, made.span)?, self.constant_number(high, made.span)?);
        self.externs.psa_objects.randoms.push((ty, low, high));
        Ok(self.externs.psa_objects.randoms.len() - 1)
    }

    // ------------------------------------------------------------------------------------------------- methods

    /// Calls a method; `None` if there is none of this name.
    pub(super) fn call_psa_method(
        &mut self,
        id: ObjectId,
        object: &ExternObject,
        name: &str,
        call: &'h Call,
        span: Span,
    ) -> Lowered<Option<Value>> {
        Ok(Some(match (object.kind, name) {
            (ExternKind::Register(register), "read") => {
                let index = self.index_argument(call, 0, span)?;
                let ty = self.ir.registers[register].ty;
                self.value_of_stmt(ty, span, |dst| StmtKind::RegisterRead { dst, register, index })?
            }
            (ExternKind::Register(register), "write") => {
                let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?];
                let mut values = self.eval_in_order(&args)?;
                let value = values.pop().map_or(Err(Refused), |value| self.scalar_value(value, span))?;
                let index = values.pop().map_or(Err(Refused), |index| self.index(index, span))?;
                self.emit(StmtKind::RegisterWrite { register, index, value }, span);
                Value::Void
            }
            (ExternKind::Counter(counter), "count") => {
                let index = self.index_argument(call, 0, span)?;
                self.emit(StmtKind::Count { counter, index }, span);
                Value::Void
            }
            (ExternKind::DirectCounter(counter), "count") => {
                if !object.is_attached {
                    self.externs.direct_uses.push(DirectUse::Counter(counter));
                }
                Value::Void
            }
            (ExternKind::Meter(meter), "execute") => self.execute_psa_meter(meter, call, span)?,
            (ExternKind::DirectMeter(meter), "execute") => {
                if !object.is_attached {
                    self.externs.direct_uses.push(DirectUse::Meter(meter));
                }
                self.execute_psa_direct_meter(meter, call, span)?
            }
            (ExternKind::Random(number), "read") => {
                let (ty, low, high) = self.externs.psa_objects.randoms[number].clone();
                let (low, high) = (crate::values::number(ty, &low), crate::values::number(ty, &high));
                self.value_of_stmt(ty, span, |dst| StmtKind::Random { dst, low, high })?
            }
            (ExternKind::Hash(algorithm, ty), "get_hash") => self.get_hash(algorithm, ty, call, span)?,
            (ExternKind::Checksum(algorithm, ty), _) => {
                return self.checksum_method(id, (algorithm, ty), name, call, span);
            }
            (ExternKind::InternetChecksum, _) => {
                return self.checksum_method(id, (HashAlgorithm::Csum16, ir::Type::Bit(16)), name, call, span);
            }
            (ExternKind::Digest(digest), "pack") => {
                let data = self.argument(call, 0, span)?;
                let value = self.eval(data)?;
                let values = self.leaves(&value, data.span)?;
                if values.len() != self.ir.digests[digest].fields.len() {
                    return self.unsupported(data.span, "a digest of this data");
                }
                self.emit(StmtKind::Digest { digest, values }, span);
                Value::Void
            }
            _ => return Ok(None),
        }))
    }

    /// `execute` of a meter of an array, with the colour that the packet has already as its second argument.
    fn execute_psa_meter(&mut self, meter: ir::MeterId, call: &'h Call, span: Span) -> Lowered<Value> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let mut values = self.eval_in_order(&args)?.into_iter();
        let Some(index) = values.next() else { return Err(Refused) };
        let index = self.index(index, span)?;
        let before = match values.next() {
            Some(color) => from_psa_color(self.scalar_value(color, span)?),
            None => ir::Expr::bit(2, 0),
        };
        let stmt = |dst| StmtKind::ExecuteMeter { dst, meter, index, before };
        let color = self.value_of_stmt(ir::Type::Bit(2), span, stmt)?;
        let color = self.scalar_value(color, span)?;
        Ok(Value::Scalar(to_psa_color(color)))
    }

    /// `execute` of a direct meter. It has run with the lookup, before the action knew of a colour; the worse one
    /// counts.
    fn execute_psa_direct_meter(&mut self, meter: ir::DirectMeterId, call: &'h Call, span: Span) -> Lowered<Value> {
        let target = self.meter_target(meter);
        let color = fold::cast(ir::Type::Bit(2), self.read_ir_place(&target));
        let color = match call.args.first() {
            Some(Some(before)) => {
                let before = from_psa_color(self.eval_scalar(before)?);
                let is_worse = fold::binary(BinaryOp::Gt, before.clone(), color.clone());
                self.pin_expr(fold::mux(is_worse, before, color), span)?
            }
            _ => color,
        };
        Ok(Value::Scalar(to_psa_color(color)))
    }

    /// The value that a statement gives, or zero if it gives none.
    fn value_of_stmt(&mut self, ty: ir::Type, span: Span, stmt: impl FnOnce(ir::Place) -> StmtKind) -> Lowered<Value> {
        let temporary = self.temporary(ty, span)?;
        let zero = ir::Expr::constant(ty, Bits::zero(ty.width()));
        self.emit(StmtKind::Assign { dst: ir::Place::Var(temporary), src: zero }, span);
        self.emit(stmt(ir::Place::Var(temporary)), span);
        Ok(Value::Scalar(self.read_var(temporary)))
    }

    // -------------------------------------------------------------------------------------- hashes and checksums

    /// `get_hash(data)`, or `get_hash(base, data, max)`: base + H mod max, with as many bits as anything in it has.
    fn get_hash(&mut self, algorithm: HashAlgorithm, ty: ir::Type, call: &'h Call, span: Span) -> Lowered<Value> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let mut values = self.eval_in_order(&args)?;
        if values.len() == 1 {
            let inputs = self.padded_inputs(&values.remove(0), span)?;
            return self.value_of_stmt(ty, span, |dst| hash(dst, algorithm, inputs));
        }
        let [base, data, max] = <[Value; 3]>::try_from(values).map_err(|_| Refused)?;
        let [base, max] = self.scalars(vec![base, max], span)?;
        let inputs = self.padded_inputs(&data, span)?;
        let wide = ir::Type::Bit(base.ty.width().max(max.ty.width()).max(64));
        let found = self.value_of_stmt(ir::Type::Bit(64), span, |dst| hash(dst, algorithm, inputs))?;
        let found = fold::cast(wide, self.scalar_value(found, span)?);
        let bounded = fold::binary(BinaryOp::Rem, found, fold::cast(wide, max));
        let sum = fold::binary(BinaryOp::Add, fold::cast(wide, base), bounded);
        Ok(Value::Scalar(fold::cast(ty, sum)))
    }

    /// What is hashed of the data.
    fn padded_inputs(&mut self, data: &Value, span: Span) -> Lowered<Vec<HashInput>> {
        Ok(padded(self.hash_inputs(data, span)?))
    }

    /// The state of a checksum in the present block.
    fn checksum_state(&mut self, id: ObjectId, algorithm: HashAlgorithm) -> ir::VarId {
        let key = (id, self.ir.blocks.len());
        if let Some(var) = self.externs.psa_objects.checksums.get(&key) {
            return *var;
        }
        let name = format!("{}.state", self.objects[id].name);
        let var = self.new_var(&name, state_type(algorithm), Life::Local);
        self.externs.psa_objects.checksums.insert(key, var);
        var
    }

    /// Clears a checksum that is declared here, if it may have been used before in this block.
    pub fn clear_declared_checksum(&mut self, id: ObjectId, span: Span) {
        let ObjectKind::Extern(object) = &self.objects[id].kind else { return };
        let algorithm = match object.kind {
            ExternKind::Checksum(algorithm, _) => algorithm,
            ExternKind::InternetChecksum => HashAlgorithm::Csum16,
            _ => return,
        };
        let is_old = self.externs.psa_objects.checksums.contains_key(&(id, self.ir.blocks.len()));
        if is_old || self.repeats() {
            let state = self.checksum_state(id, algorithm);
            self.set_state(state, zero(state_type(algorithm)), span);
        }
    }

    fn set_state(&mut self, state: ir::VarId, src: ir::Expr, span: Span) {
        self.emit(StmtKind::Assign { dst: ir::Place::Var(state), src }, span);
    }

    fn checksum_method(
        &mut self,
        id: ObjectId,
        (algorithm, ty): (HashAlgorithm, ir::Type),
        name: &str,
        call: &'h Call,
        span: Span,
    ) -> Lowered<Option<Value>> {
        let state = self.checksum_state(id, algorithm);
        let reached = self.read_var(state);
        match name {
            "clear" => self.set_state(state, zero(reached.ty), span),
            "update" | "add" | "subtract" => {
                let data = self.argument(call, 0, span)?;
                let data = self.eval(data)?;
                let inputs = self.padded_inputs(&data, span)?;
                match (algorithm, name) {
                    (HashAlgorithm::Csum16, "subtract") => self.subtract(state, inputs, span)?,
                    (HashAlgorithm::Csum16, _) => self.add(state, inputs, span)?,
                    _ => self.update_crc(state, algorithm, inputs, span)?,
                }
            }
            "get" => {
                let value = match algorithm {
                    HashAlgorithm::Csum16 => fold::unary(UnaryOp::BitNot, reached),
                    _ => reached,
                };
                return self.pin_expr(fold::cast(ty, value), span).map(Value::Scalar).map(Some);
            }
            "get_state" => return self.pin_expr(reached, span).map(Value::Scalar).map(Some),
            "set_state" => {
                let value = self.argument(call, 0, span)?;
                let value = fold::cast(reached.ty, self.eval_scalar(value)?);
                self.set_state(state, value, span);
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Void))
    }

    /// Adds data to a ones' complement sum.
    fn add(&mut self, state: ir::VarId, mut inputs: Vec<HashInput>, span: Span) -> Lowered<()> {
        inputs.insert(0, HashInput { guard: None, value: HashValue::Expr(self.read_var(state)) });
        let inverted = self.value_of_stmt(ir::Type::Bit(16), span, |dst| hash(dst, HashAlgorithm::Csum16, inputs))?;
        let inverted = self.scalar_value(inverted, span)?;
        self.set_state(state, fold::unary(UnaryOp::BitNot, inverted), span);
        Ok(())
    }

    /// Takes data away from a ones' complement sum: each word is added inverted. A varbit field cannot be inverted, so
    /// its sum is.
    fn subtract(&mut self, state: ir::VarId, inputs: Vec<HashInput>, span: Span) -> Lowered<()> {
        let mut inverted = Vec::new();
        for input in inputs {
            let (guard, value) = match input.value {
                HashValue::Expr(value) => (input.guard, fold::unary(UnaryOp::BitNot, value)),
                HashValue::Varbit(..) => {
                    let sum = self
                        .value_of_stmt(ir::Type::Bit(16), span, |dst| hash(dst, HashAlgorithm::Csum16, vec![input]))?;
                    (None, self.scalar_value(sum, span)?)
                }
            };
            inverted.push(HashInput { guard, value: HashValue::Expr(value) });
        }
        self.add(state, inverted, span)
    }

    /// Goes on with a cyclic redundancy check, header by header.
    fn update_crc(
        &mut self,
        state: ir::VarId,
        algorithm: HashAlgorithm,
        inputs: Vec<HashInput>,
        span: Span,
    ) -> Lowered<()> {
        for group in inputs.chunk_by(|a, b| a.guard == b.guard) {
            let guard = group.first().and_then(|input| input.guard.clone());
            let group: Vec<HashValue> = group.iter().map(|input| input.value.clone()).collect();
            let (body, ()) = self.collect(|l| l.update_crc_with(state, algorithm, group, span))?;
            let cond = match guard {
                Some(header) => ir::Expr { kind: ExprKind::IsValid(header), ty: ir::Type::Bool },
                None => ir::Expr::bool(true),
            };
            self.emit_if(cond, body, Vec::new(), span);
        }
        Ok(())
    }

    fn update_crc_with(
        &mut self,
        state: ir::VarId,
        algorithm: HashAlgorithm,
        values: Vec<HashValue>,
        span: Span,
    ) -> Lowered<()> {
        let width = state_type(algorithm).width();
        let mut first: Option<ir::Expr> = None;
        let mut values = values.into_iter().peekable();
        while first.as_ref().is_none_or(|first| first.ty.width() < width || first.ty.width() % 8 != 0)
            && let Some(HashValue::Expr(value)) = values.next_if(|value| matches!(value, HashValue::Expr(_)))
        {
            first = Some(match first {
                None => fold::cast(ir::Type::Bit(value.ty.width()), value),
                Some(first) => fold::concat(first, value),
            });
        }
        let have = first.as_ref().map_or(0, |first| first.ty.width());
        if have > WIDTH_BITS_MAX || (have < width && values.peek().is_some()) {
            return self.unsupported(span, "a checksum that goes on with a varbit field");
        }
        let Some(first) = first else { return Ok(()) };
        // The first byte of the data meets the lowest byte of the check.
        let reached = self.read_var(state);
        let swapped = (0..width / 8).map(|byte| fold::slice(reached.clone(), byte * 8 + 7, byte * 8));
        let Some(swapped) = swapped.reduce(fold::concat) else { return Err(Refused) };
        let (added, left) = if have >= width {
            let zeros = have - width;
            let added = if zeros == 0 { swapped } else { fold::concat(swapped, ir::Expr::bit(zeros, 0)) };
            (added, None)
        } else {
            let left = fold::binary(BinaryOp::Shr, reached, ir::Expr::bit(32, u64::from(have)));
            (fold::slice(swapped, width - 1, width - have), Some(left))
        };
        let first = HashValue::Expr(fold::binary(BinaryOp::Xor, first, added));
        let inputs = [first].into_iter().chain(values).map(|value| HashInput { guard: None, value }).collect();
        let found = self.value_of_stmt(state_type(algorithm), span, |dst| hash(dst, algorithm, inputs))?;
        let found = self.scalar_value(found, span)?;
        let found = match left {
            Some(left) => fold::binary(BinaryOp::Xor, found, left),
            None => found,
        };
        self.set_state(state, found, span);
        Ok(())
    }

    // -------------------------------------------------------------------------------------------------- tables

    /// Applies a property of a table that PSA defines; whether it is one.
    pub(super) fn psa_property(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<bool> {
        match &*property.name {
            "psa_direct_counter" | "psa_direct_counters" | "psa_direct_meter" | "psa_direct_meters" => {
                let object = self.eval_object(&property.value)?;
                let kind = match &self.objects[object].kind {
                    ObjectKind::Extern(object) => Some(object.kind),
                    _ => None,
                };
                match kind {
                    Some(ExternKind::DirectCounter(counter)) => table.direct_counter = Some(counter),
                    Some(ExternKind::DirectMeter(meter)) => {
                        table.direct_meter = Some((meter, self.meter_target(meter)));
                    }
                    _ => return self.unsupported(property.span, "this object as a table's counter or meter"),
                }
            }
            "psa_idle_timeout" => {
                let value = self.eval(&property.value)?;
                table.support_timeout =
                    &*self.member_name(&property.value.ty, &value, property.span)? == "NOTIFY_CONTROL";
            }
            "psa_implementation" | "implementation" => self.implementation(table, property)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A meter's colour (green, yellow, red) as a `PSA_MeterColor_t` (red, green, yellow).
fn to_psa_color(color: ir::Expr) -> ir::Expr {
    let is_red = fold::binary(BinaryOp::Eq, color.clone(), ir::Expr::bit(2, 2));
    let number = fold::binary(BinaryOp::Add, color, ir::Expr::bit(2, 1));
    fold::cast(ir::Type::Bit(32), fold::mux(is_red, ir::Expr::bit(2, 0), number))
}

/// A `PSA_MeterColor_t` as a meter's colour.
fn from_psa_color(color: ir::Expr) -> ir::Expr {
    let color = fold::cast(ir::Type::Bit(2), color);
    let is_red = fold::binary(BinaryOp::Eq, color.clone(), ir::Expr::bit(2, 0));
    fold::mux(is_red, ir::Expr::bit(2, 2), fold::binary(BinaryOp::Sub, color, ir::Expr::bit(2, 1)))
}

/// The type of a checksum's state.
fn state_type(algorithm: HashAlgorithm) -> ir::Type {
    match algorithm {
        HashAlgorithm::Crc32 => ir::Type::Bit(32),
        _ => ir::Type::Bit(16),
    }
}

fn zero(ty: ir::Type) -> ir::Expr {
    ir::Expr::constant(ty, Bits::zero(ty.width()))
}

fn hash(dst: ir::Place, algorithm: HashAlgorithm, inputs: Vec<HashInput>) -> StmtKind {
    StmtKind::Hash { dst, algorithm, inputs, payload: false }
}

/// What is hashed, padded to whole bytes with zero bits in front. Where several headers have a share in broken
/// bytes their validity does not count: their fields are zero if they are invalid.
pub(super) fn padded(mut inputs: Vec<HashInput>) -> Vec<HashInput> {
    let mut bits: Vec<(Option<HeaderRef>, u32)> = Vec::new();
    for input in &inputs {
        let HashValue::Expr(value) = &input.value else { continue };
        match bits.iter_mut().find(|(guard, _)| *guard == input.guard) {
            Some((_, bits)) => *bits += value.ty.width(),
            None => bits.push((input.guard.clone(), value.ty.width())),
        }
    }
    bits.retain(|(_, bits)| bits % 8 != 0);
    let (guard, broken) = match &bits[..] {
        [] => return inputs,
        [(guard, bits)] => (guard.clone(), *bits),
        _ => {
            for input in &mut inputs {
                if bits.iter().any(|(guard, _)| *guard == input.guard) && matches!(input.value, HashValue::Expr(_)) {
                    input.guard = None;
                }
            }
            (None, bits.iter().map(|(_, bits)| bits).sum())
        }
    };
    if broken % 8 != 0 {
        inputs.insert(0, HashInput { guard, value: HashValue::Expr(ir::Expr::bit(8 - broken % 8, 0)) });
    }
    inputs
}
