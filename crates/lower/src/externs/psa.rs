//! The externs of PSA: counters, meters, registers, random numbers, hashes, checksums, digests.
//!
//! Checksums have no statement of their own. The state of one is a local variable of the block that uses it, and data
//! are added by hash statements:
//! * The ones' complement sum of the state and the data is the inverted `csum16` of both; data are subtracted by adding
//!   their complement (RFC 1624, equation 3).
//! * The hash statement of a cyclic redundancy check continues from the value reached so far.
//! * `identity` keeps the first 8 bytes.
//!
//! Data are padded with zero bits in front. An invalid header adds nothing.

use crate::architecture::Package;
use crate::externs::hashes::Algorithm;
use crate::externs::{Construction, DirectUse, ExternKind, ExternObject};
use crate::objects::{ObjectId, ObjectKind, listed};
use crate::storage::Life;
use crate::values::Value;
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::{Bits, OrderedMap, Span};
use ir::{BinaryOp, ExprKind, HashAlgorithm, HashInput, HashValue, HeaderRef, StmtKind, UnaryOp};
use num_bigint::BigInt;
use sema::hir::{self, Call, Expr, Type};

/// The state about PSA's objects while a program is lowered.
#[derive(Default)]
pub(crate) struct Objects {
    /// The ranges of the generators of random numbers.
    randoms: Vec<(ir::Type, BigInt, BigInt)>,
    /// The state of each checksum in each block.
    checksums: OrderedMap<(ObjectId, usize), ir::VarId>,
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
                let (ty, parts_bits) = match made.type_args.first() {
                    Some(ty) => self.cell_type(ty, span)?,
                    None => return self.unsupported(span, "a register without a type"),
                };
                let initial = match made.args.get(1) {
                    Some(Some(value)) => self.constant_cell(&made.type_args[0], value, ty, span)?,
                    _ => Bits::zero(ty.width()),
                };
                let register = ir::Register { name, ty, parts_bits, size, initial, is_start_number: false };
                ExternKind::Register(self.ir.registers.push(register))
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
            "Checksum" => ExternKind::Checksum(self.made_algorithm(made, &name)?, self.made_type(made)?),
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

    /// The first type argument, which must be a scalar type.
    fn made_type(&mut self, made: &Construction) -> Lowered<ir::Type> {
        match made.type_args.first() {
            Some(ty) => self.scalar_or_refuse(ty, made.span),
            None => self.unsupported(made.span, "an object without a type"),
        }
    }

    /// The algorithm of an object of this name. The parameters of a custom one are set under the name.
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
        let [Some(low), Some(high)] = &made.args[..] else {
            return self.unsupported(made.span, "leaving out a limit of the numbers");
        };
        let (low, high) = (self.constant_number(low, made.span)?, self.constant_number(high, made.span)?);
        self.externs.psa_objects.randoms.push((ty, low, high));
        Ok(self.externs.psa_objects.randoms.len() - 1)
    }

    /// `read` of a generator of random numbers: the minimum plus a random number below the size of the range. Where the
    /// range has more than 64 bits, it is the remainder of a number with 64 bits more, which is almost uniform.
    fn read_random(&mut self, number: usize, span: Span) -> Lowered<Value> {
        let (ty, low, high) = self.externs.psa_objects.randoms[number].clone();
        let span_of_values: BigInt = &high - &low;
        let least = crate::values::number(ty, &low);
        if span_of_values.sign() != num_bigint::Sign::Plus {
            return Ok(Value::Scalar(least));
        }
        let draw = |l: &mut Self, high: &BigInt| {
            let drawn = ir::Type::Bit(64);
            let (low, high) = (ir::Expr::bit(64, 0), crate::values::number(drawn, high));
            let value = l.value_of_stmt(drawn, span, |dst| StmtKind::Random { dst, low, high })?;
            l.scalar_value(value, span)
        };
        let count: BigInt = &span_of_values + 1;
        let offset = if count.bits() <= 64 {
            draw(self, &span_of_values)?
        } else {
            let words = count.bits().div_ceil(64) + 1;
            let mut wide = draw(self, &BigInt::from(u64::MAX))?;
            for _ in 1..words {
                let next = draw(self, &BigInt::from(u64::MAX))?;
                wide = self.pin_expr(fold::concat(wide, next), span)?;
            }
            let count = crate::values::number(wide.ty, &count);
            fold::binary(BinaryOp::Rem, wide, count)
        };
        let offset = fold::cast(ty, fold::cast(ir::Type::Bit(ty.width()), offset));
        Ok(Value::Scalar(self.pin_expr(fold::binary(BinaryOp::Add, least, offset), span)?))
    }

    // ------------------------------------------------------------------------------------------------- methods

    /// Calls a method; `None` if there is none of this name.
    pub(super) fn call_psa_method(
        &mut self,
        id: ObjectId,
        object: &ExternObject,
        name: &str,
        call: &'h Call,
        ty: &Type,
        span: Span,
    ) -> Lowered<Option<Value>> {
        Ok(Some(match (object.kind, name) {
            (ExternKind::Register(register), "read") => self.read_psa_register(register, call, ty, span)?,
            (ExternKind::Register(register), "write") => {
                let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?];
                let mut values = self.eval_in_order(&args)?;
                let (Some(value), Some(index)) = (values.pop(), values.pop()) else { return Err(Refused) };
                let index = self.index(index, span)?;
                self.write_cell(register, index, value, &args[1].ty, span)?;
                Value::Void
            }
            (ExternKind::Counter(counter), "count") => {
                // The parameter that DPDK adds is the length of the packet, which counters know.
                let args: Vec<_> = call.args.iter().flatten().collect();
                let Some(index) = self.eval_in_order(&args)?.into_iter().next() else { return Err(Refused) };
                let index = self.index(index, span)?;
                self.emit(StmtKind::Count { counter, index }, span);
                Value::Void
            }
            (ExternKind::DirectCounter(counter), "count") => {
                self.direct_call(DirectUse::Counter(counter), object.is_attached, span);
                Value::Void
            }
            (ExternKind::Meter(meter), "execute" | "dpdk_execute") => {
                self.execute_psa_meter(meter, call, colored(name, call, 1), span)?
            }
            (ExternKind::DirectMeter(meter), "execute" | "dpdk_execute") => {
                self.direct_call(DirectUse::Meter(meter), object.is_attached, span);
                self.execute_psa_direct_meter(meter, call, colored(name, call, 0), span)?
            }
            (ExternKind::Random(number), "read") => self.read_random(number, span)?,
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
                let value = self.convert(value, &data.ty, data.span)?;
                let mut leaves = Vec::new();
                self.digest_leaves(&value, &data.ty, "", &mut leaves, data.span)?;
                let fields = &self.ir.digests[digest].fields;
                if !leaves.iter().map(|(_, leaf)| leaf.ty.width()).eq(fields.iter().map(|(_, ty)| ty.width())) {
                    return self.unsupported(data.span, "a digest of this data");
                }
                let values = leaves.into_iter().map(|(_, leaf)| leaf).collect();
                self.emit(StmtKind::Digest { digest, values }, span);
                Value::Void
            }
            _ => return Ok(None),
        }))
    }

    /// `read` of a register whose cells have the type: scalars by one statement, structs and headers by fields.
    fn read_psa_register(&mut self, register: ir::RegisterId, call: &'h Call, ty: &Type, span: Span) -> Lowered<Value> {
        let index = self.index_argument(call, 0, span)?;
        if let Some(ty) = self.scalar(&self.resolve(ty)).filter(|ty| ty.width() > 0) {
            return self.value_of_stmt(ty, span, |dst| StmtKind::RegisterRead { dst, register, index });
        }
        let place = self.temporary_place(ty, span)?;
        self.reset(&place, span);
        self.read_cell(place.clone(), register, index, span)?;
        Ok(self.read(&place))
    }

    /// `execute` of a meter of an array, with the colour that the packet has already as its second argument.
    fn execute_psa_meter(
        &mut self,
        meter: ir::MeterId,
        call: &'h Call,
        is_colored: bool,
        span: Span,
    ) -> Lowered<Value> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let mut values = self.eval_in_order(&args)?.into_iter();
        let Some(index) = values.next() else { return Err(Refused) };
        let index = self.index(index, span)?;
        let before = match values.next().filter(|_| is_colored) {
            Some(color) => from_psa_color(self.scalar_value(color, span)?),
            None => ir::Expr::bit(2, 0),
        };
        let stmt = |dst| StmtKind::ExecuteMeter { dst, meter, index, before };
        let color = self.value_of_stmt(ir::Type::Bit(2), span, stmt)?;
        let color = self.scalar_value(color, span)?;
        Ok(Value::Scalar(to_psa_color(color)))
    }

    /// `execute` of a direct meter, in an action.
    fn execute_psa_direct_meter(
        &mut self,
        meter: ir::DirectMeterId,
        call: &'h Call,
        is_colored: bool,
        span: Span,
    ) -> Lowered<Value> {
        let args: Vec<_> = call.args.iter().flatten().collect();
        let before = match self.eval_in_order(&args)?.into_iter().next().filter(|_| is_colored) {
            Some(before) => from_psa_color(self.scalar_value(before, span)?),
            None => ir::Expr::bit(2, 0),
        };
        let stmt = |dst| StmtKind::ExecuteDirectMeter { dst, meter, before };
        let color = self.value_of_stmt(ir::Type::Bit(2), span, stmt)?;
        let color = self.scalar_value(color, span)?;
        Ok(Value::Scalar(to_psa_color(color)))
    }

    /// The value that a statement writes, or zero if it writes none.
    fn value_of_stmt(&mut self, ty: ir::Type, span: Span, stmt: impl FnOnce(ir::Place) -> StmtKind) -> Lowered<Value> {
        let temporary = self.temporary(ty, span)?;
        let zero = ir::Expr::constant(ty, Bits::zero(ty.width()));
        self.emit(StmtKind::Assign { dst: ir::Place::Var(temporary), src: zero }, span);
        self.emit(stmt(ir::Place::Var(temporary)), span);
        Ok(Value::Scalar(self.read_var(temporary)))
    }

    // -------------------------------------------------------------------------------------- hashes and checksums

    /// `get_hash(data)`, or `get_hash(base, data, max)`: base + H mod max, in the greatest width of its operands.
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

    /// The inputs of a hash.
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
        let var = self.new_var(&name, self.state_type(algorithm), Life::Local);
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
            let ty = self.state_type(algorithm);
            self.set_state(state, zero(ty), span);
        }
    }

    /// The type of a checksum's state.
    fn state_type(&self, algorithm: HashAlgorithm) -> ir::Type {
        ir::Type::Bit(match algorithm {
            HashAlgorithm::Crc32 => 32,
            HashAlgorithm::Custom(calculation) => self.ir.calculations[calculation].width_bits,
            HashAlgorithm::Identity => 72,
            _ => 16,
        })
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
                    (HashAlgorithm::Identity, _) => self.update_identity(state, inputs, span)?,
                    _ => self.update_crc(state, algorithm, inputs, span)?,
                }
            }
            "get" => {
                let value = match algorithm {
                    HashAlgorithm::Csum16 => fold::unary(UnaryOp::BitNot, reached),
                    HashAlgorithm::Identity => fold::slice(reached, 63, 0),
                    _ => self.restarted(reached, algorithm, span)?,
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

    /// Subtracts data from a ones' complement sum: the complement of each word is added. A varbit field cannot be
    /// inverted, so its sum is.
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

    /// The state of a custom check has the value for no data added to it, so that the state at the start is 0; this
    /// adds it, or takes it away. The other checks of no data are 0.
    fn restarted(&mut self, state: ir::Expr, algorithm: HashAlgorithm, span: Span) -> Lowered<ir::Expr> {
        if !matches!(algorithm, HashAlgorithm::Custom(_)) {
            return Ok(state);
        }
        let nothing = self.value_of_stmt(state.ty, span, |dst| hash(dst, algorithm, Vec::new()))?;
        let nothing = self.scalar_value(nothing, span)?;
        Ok(fold::binary(BinaryOp::Xor, state, nothing))
    }

    /// Continues a cyclic redundancy check.
    fn update_crc(
        &mut self,
        state: ir::VarId,
        algorithm: HashAlgorithm,
        mut inputs: Vec<HashInput>,
        span: Span,
    ) -> Lowered<()> {
        let reached = self.read_var(state);
        let (ty, before) = (reached.ty, self.restarted(reached, algorithm, span)?);
        let before = HashValue::Expr(fold::cast(ir::Type::Bit(32), before));
        inputs.insert(0, HashInput { guard: None, value: before });
        let continued = match algorithm {
            HashAlgorithm::Custom(calculation) => HashAlgorithm::Continued(calculation),
            HashAlgorithm::Crc16 => HashAlgorithm::Crc16Continued,
            _ => HashAlgorithm::Crc32Continued,
        };
        let found = self.value_of_stmt(ty, span, |dst| hash(dst, continued, inputs))?;
        let found = self.scalar_value(found, span)?;
        let found = self.restarted(found, algorithm, span)?;
        self.set_state(state, found, span);
        Ok(())
    }

    /// Stores the first 8 bytes, header by header. The state is their number, then the bytes.
    fn update_identity(&mut self, state: ir::VarId, inputs: Vec<HashInput>, span: Span) -> Lowered<()> {
        for group in inputs.chunk_by(|a, b| a.guard == b.guard) {
            let guard = group.first().and_then(|input| input.guard.clone());
            let size = bytes_at_most_8(group);
            let inputs = group.iter().map(|input| HashInput { guard: None, value: input.value.clone() }).collect();
            let (body, ()) = self.collect(|l| {
                let found = ir::Type::Bit(64);
                let data = l.value_of_stmt(found, span, |dst| hash(dst, HashAlgorithm::Identity, inputs))?;
                let data = l.scalar_value(data, span)?;
                let have = l.pin_expr(fold::slice(l.read_var(state), 71, 64), span)?;
                let kept = l.pin_expr(fold::slice(l.read_var(state), 63, 0), span)?;
                let (byte, size) = (|value| ir::Expr::bit(8, value), l.pin_expr(size, span)?);
                let room = fold::binary(BinaryOp::Sub, byte(8), have.clone());
                let is_enough = fold::binary(BinaryOp::Ge, room.clone(), size.clone());
                let taken = l.pin_expr(fold::mux(is_enough, size.clone(), room), span)?;
                let bits = |count: ir::Expr| fold::binary(BinaryOp::Mul, count, byte(8));
                let left = fold::binary(BinaryOp::Sub, size, taken.clone());
                let data = fold::binary(BinaryOp::Shr, data, bits(left));
                let moved = fold::binary(BinaryOp::Shl, kept, bits(taken.clone()));
                let kept = fold::binary(BinaryOp::Or, moved, data);
                let have = fold::binary(BinaryOp::Add, have, taken);
                l.set_state(state, fold::concat(have, kept), span);
                Ok(())
            })?;
            self.emit_if(is_valid(guard), body, Vec::new(), span);
        }
        Ok(())
    }

    // -------------------------------------------------------------------------------------------------- tables

    /// Applies a property of a table that PSA defines; whether it is one.
    pub(super) fn psa_property(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<bool> {
        match &*property.name {
            "psa_direct_counter" | "psa_direct_counters" | "psa_direct_meter" | "psa_direct_meters" => {
                self.attach_listed(table, property)?;
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

    /// Attaches the direct counters or meters that a property lists to its table.
    pub(super) fn attach_listed(&mut self, table: &mut ir::Table, property: &'h hir::Property) -> Lowered<()> {
        listed(&property.value).into_iter().try_for_each(|value| self.attach(table, value))
    }

    /// Attaches a direct counter or meter to its table.
    fn attach(&mut self, table: &mut ir::Table, value: &'h Expr) -> Lowered<()> {
        let object = self.eval_object(value)?;
        let kind = match &self.objects[object].kind {
            ObjectKind::Extern(object) => Some(object.kind),
            _ => None,
        };
        match kind {
            Some(ExternKind::DirectCounter(counter)) => table.direct_counters.push(counter),
            Some(ExternKind::DirectMeter(meter)) if table.direct_meter.is_none() => {
                table.direct_meter = Some((meter, None));
            }
            Some(ExternKind::DirectMeter(_)) => {
                let message = "a table has one direct meter; this would be its second";
                return self.refuse(codes::DIRECT, value.span, message);
            }
            _ => return self.unsupported(value.span, "this object as a table's counter or meter"),
        }
        Ok(())
    }

    /// The action that runs if an entry refers to a group without members.
    pub(crate) fn empty_group_action(
        &self,
        declaration: &'h hir::Table,
        table: &ir::Table,
    ) -> Option<&'h hir::ActionRef> {
        let profile = table.implementation.as_ref()?.profile;
        let is_selector = self.ir.action_profiles[profile].selector.is_some();
        declaration.empty_group_action.as_ref().filter(|_| is_selector && self.package != Package::V1Model)
    }
}

/// Whether a call of a meter's method has a colour, as its argument at `position`. The parameter that DPDK adds is the
/// length of the packet, which comes last and which meters know.
fn colored(name: &str, call: &Call, position: usize) -> bool {
    call.args.len() > position + usize::from(name == "dpdk_execute")
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

/// The number of bytes of one header's inputs, at most 8 (8 bits).
fn bytes_at_most_8(inputs: &[HashInput]) -> ir::Expr {
    let (mut fixed, mut variable) = (0, None);
    for input in inputs {
        match &input.value {
            HashValue::Expr(value) => fixed += value.ty.width(),
            // A header has one such field, but it may be named twice.
            HashValue::Varbit(header, field) => {
                let length = ExprKind::VarbitLength(header.clone(), *field);
                let length = ir::Expr { kind: length, ty: ir::Type::Bit(32) };
                variable = Some(match variable {
                    Some(before) => fold::binary(BinaryOp::SaturatingAdd, before, length),
                    None => length,
                });
            }
        }
    }
    let fixed = u64::from(fixed / 8).min(8);
    let Some(variable) = variable else { return ir::Expr::bit(8, fixed) };
    let variable = fold::binary(BinaryOp::Shr, variable, ir::Expr::bit(32, 3));
    let bytes = fold::binary(BinaryOp::SaturatingAdd, variable, ir::Expr::bit(32, fixed));
    let eight = ir::Expr::bit(32, 8);
    let is_less = fold::binary(BinaryOp::Lt, bytes.clone(), eight.clone());
    fold::cast(ir::Type::Bit(8), fold::mux(is_less, bytes, eight))
}

/// Whether the header is valid, if there is one.
fn is_valid(guard: Option<HeaderRef>) -> ir::Expr {
    match guard {
        Some(header) => ir::Expr { kind: ExprKind::IsValid(header), ty: ir::Type::Bool },
        None => ir::Expr::bool(true),
    }
}

fn zero(ty: ir::Type) -> ir::Expr {
    ir::Expr::constant(ty, Bits::zero(ty.width()))
}

fn hash(dst: ir::Place, algorithm: HashAlgorithm, inputs: Vec<HashInput>) -> StmtKind {
    StmtKind::Hash { dst, algorithm, inputs, payload: false }
}

/// The inputs of a hash, padded to whole bytes with leading zero bits. Where several headers share a byte, their
/// validity is ignored: the fields of invalid headers are zero.
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
