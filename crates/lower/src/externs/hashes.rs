//! Hashes: the algorithms by name, their inputs, and the functions of v1model that compute them.

use super::v1model::scalar_type;
use crate::values::{HeaderKind, Value, number};
use crate::{Lowered, Lowerer, Refused, codes, fold};
use base::limits::WIDTH_BITS_MAX;
use base::{Bits, OrderedMap, Span};
use ir::v1model::Slot;
use ir::{BinaryOp, CalculationId, HashAlgorithm, HashInput, HashValue, HeaderRef, StmtKind};
use sema::hir::Call;

/// The state about a program's hashes while it is lowered.
#[derive(Default)]
pub(crate) struct HashState {
    /// Calls in the typed tree that compute a hash, and the calculations of those whose parameters can be set. A call
    /// that is inlined several times is one; those from one use of a macro have one source range.
    sites: OrderedMap<*const Call, Option<CalculationId>>,
}

/// How a hash is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Algorithm {
    /// From the data.
    Of(HashAlgorithm),
    /// By drawing a random number, independent of the data.
    Random,
}

/// Bits of a random number that replaces a hash.
pub(crate) const DRAWN: ir::Type = ir::Type::Bit(64);

impl<'h> Lowerer<'h> {
    /// The algorithm of a call's argument. A custom one is a calculation of its own, called `calc`, `calc_0`, `calc_1`,
    /// ... by the position of the call among the program's hashes, as the reference compiler calls them.
    fn algorithm(&mut self, call: &'h Call, position: usize, span: Span) -> Lowered<Algorithm> {
        let name = self.member_argument(call, position, span)?;
        let site = std::ptr::from_ref(call);
        let count = self.externs.hashes.sites.len();
        let known = *self.externs.hashes.sites.entry(site).or_insert(None);
        if let (Some(calculation), true) = (known, name.ends_with("_custom")) {
            return Ok(Algorithm::Of(HashAlgorithm::Custom(calculation)));
        }
        let calculation_name = if count == 0 { "calc".to_owned() } else { format!("calc_{}", count - 1) };
        let algorithm = self.named_algorithm(&name, &calculation_name, span)?;
        if let Algorithm::Of(HashAlgorithm::Custom(calculation)) = algorithm {
            self.externs.hashes.sites.insert(site, Some(calculation));
        }
        Ok(algorithm)
    }

    /// The algorithm of this name. The parameters of a custom one are set under `calculation_name`.
    pub(super) fn named_algorithm(&mut self, name: &str, calculation_name: &str, span: Span) -> Lowered<Algorithm> {
        Ok(Algorithm::Of(match name {
            "crc32" => HashAlgorithm::Crc32,
            "crc16" => HashAlgorithm::Crc16,
            "crc32_custom" => self.calculation(calculation_name, 32),
            "crc16_custom" => self.calculation(calculation_name, 16),
            "crcCCITT" => HashAlgorithm::CrcCcitt,
            "csum16" => HashAlgorithm::Csum16,
            "xor16" => HashAlgorithm::Xor16,
            "identity" => HashAlgorithm::Identity,
            "random" => return Ok(Algorithm::Random),
            _ => return self.unsupported(span, format!("the hash algorithm `{name}`")),
        }))
    }

    /// A CRC whose parameters the control plane sets under this name.
    pub(super) fn calculation(&mut self, name: &str, width_bits: u32) -> HashAlgorithm {
        let calculation = ir::Calculation { name: name.to_owned(), width_bits };
        HashAlgorithm::Custom(self.ir.calculations.push(calculation))
    }

    /// Draws a random number into a new variable.
    pub(super) fn draw(&mut self, span: Span) -> Lowered<ir::VarId> {
        let drawn = self.temporary(DRAWN, span)?;
        self.emit(draw_into(drawn), span);
        Ok(drawn)
    }

    /// The inputs of a hash. Fields of invalid headers are left out.
    pub(crate) fn hash_inputs(&mut self, value: &Value, span: Span) -> Lowered<Vec<HashInput>> {
        Ok(match value {
            Value::Scalar(expr) => {
                let guard = match &expr.kind {
                    ir::ExprKind::Field(header, _) => Some(header.clone()),
                    _ => None,
                };
                vec![HashInput { guard, value: HashValue::Expr(expr.clone()) }]
            }
            Value::Varbit { header, field, .. } => {
                vec![HashInput { guard: Some(header.clone()), value: HashValue::Varbit(header.clone(), *field) }]
            }
            Value::VarbitParts { length, bits } => {
                let guard = match &length.kind {
                    ir::ExprKind::Field(header, _) => Some(header.clone()),
                    _ => None,
                };
                let joined = self.joined_varbit(length.clone(), bits.clone(), span)?;
                vec![HashInput { guard, value: HashValue::Varbit(joined.header, joined.field) }]
            }
            Value::Header(header) if header.kind == HeaderKind::Invalid => Vec::new(),
            Value::Header(header) => {
                let fields: Vec<Value> =
                    (0..header.shape.fields.len()).filter_map(|field| header.field(field, self)).collect();
                self.all_hash_inputs(&fields, span)?
            }
            Value::Union(members) => {
                let members: Vec<Value> = members.iter().cloned().map(Value::Header).collect();
                self.all_hash_inputs(&members, span)?
            }
            Value::Tuple(items) => self.all_hash_inputs(items, span)?,
            Value::Stack(_) => {
                let items = self.elements(value, span)?;
                self.all_hash_inputs(&items, span)?
            }
            Value::Integer(_) => {
                return self.refuse(codes::NOT_CONSTANT, span, "a number in the data needs a width, such as `8w1`");
            }
            _ => return self.unsupported(span, "data of this type"),
        })
    }

    fn all_hash_inputs(&mut self, items: &[Value], span: Span) -> Lowered<Vec<HashInput>> {
        let mut inputs = Vec::new();
        for item in items {
            inputs.extend(self.nested(span, |l| l.hash_inputs(item, span))?);
        }
        Ok(inputs)
    }

    /// Two values as run-time numbers; values of type `int` get the type `ty`, or a sufficiently wide one.
    fn numbers<const N: usize>(&mut self, values: Vec<Value>, ty: ir::Type, span: Span) -> Lowered<[ir::Expr; N]> {
        let sized = values.into_iter().map(|value| match value {
            Value::Integer(value) => {
                let bits = u32::try_from(value.bits()).unwrap_or(WIDTH_BITS_MAX).clamp(ty.width(), WIDTH_BITS_MAX);
                Value::Scalar(if ty.is_signed() { number(ty, &value) } else { number(ir::Type::Bit(bits), &value) })
            }
            value => value,
        });
        self.scalars(sized.collect(), span)
    }

    /// Computes a hash into a variable of the type.
    pub(super) fn hash_of(
        &mut self,
        data: &Value,
        algorithm: Algorithm,
        ty: ir::Type,
        payload: bool,
        span: Span,
    ) -> Lowered<ir::Expr> {
        let Algorithm::Of(algorithm) = algorithm else {
            let drawn = self.draw(span)?;
            return Ok(fold::cast(ty, self.read_var(drawn)));
        };
        let inputs = self.hash_inputs(data, span)?;
        let result = self.temporary(ty, span)?;
        self.emit(StmtKind::Hash { dst: ir::Place::Var(result), algorithm, inputs, payload }, span);
        Ok(self.read_var(result))
    }

    /// `hash`: base + H mod max, in 64 bits or the width of base and max. Remainders by 0 are 0.
    pub(super) fn call_hash(&mut self, call: &'h Call, payload: bool, span: Span) -> Lowered<()> {
        let target = self.target(call, 0, span)?;
        let algorithm = self.algorithm(call, 1, span)?;
        let args = [self.argument(call, 2, span)?, self.argument(call, 3, span)?, self.argument(call, 4, span)?];
        let mut values = self.eval_in_order(&args)?.into_iter();
        let (Some(base), Some(data), Some(max)) = (values.next(), values.next(), values.next()) else {
            return Err(Refused);
        };
        let [base, max] = self.numbers(vec![base, max], DRAWN, span)?;
        let ty = ir::Type::Bit(base.ty.width().max(max.ty.width()).max(64));
        let hash = self.hash_of(&data, algorithm, ir::Type::Bit(64), payload, span)?;
        let bounded = fold::binary(BinaryOp::Rem, fold::cast(ty, hash), fold::cast(ty, max));
        let sum = match base.as_const() {
            Some(bits) if bits.is_zero() => bounded,
            _ => fold::binary(BinaryOp::Add, fold::cast(ty, base), bounded),
        };
        let value = fold::cast(scalar_type(&target), sum);
        self.assign(&target, Value::Scalar(value), span)
    }

    /// `random`: of values wider than 64 bits only the lower 64 are drawn, as the reference switch does; the others are
    /// 0. Signed bounds are turned into unsigned ones of the same order by inverting the sign.
    pub(super) fn call_random(&mut self, call: &'h Call, span: Span) -> Lowered<()> {
        let target = self.target(call, 0, span)?;
        let ty = scalar_type(&target);
        let args = [self.argument(call, 1, span)?, self.argument(call, 2, span)?];
        let values = self.eval_in_order(&args)?;
        let [low, high] = self.numbers(values, ty, span)?;
        let drawn = ir::Type::Bit(ty.width().min(DRAWN.width()));
        if drawn == ty {
            return self.through(target, ty, span, |dst| StmtKind::Random { dst, low, high });
        }
        let is_signed = ty.is_signed() && drawn.width() == ty.width();
        let moved = |expr: ir::Expr| match is_signed {
            true => {
                let sign = Bits::from_u64(drawn.width(), 1 << (drawn.width() - 1));
                fold::binary(BinaryOp::Xor, expr, ir::Expr::constant(drawn, sign))
            }
            false => expr,
        };
        let (low, high) = (moved(fold::cast(drawn, low)), moved(fold::cast(drawn, high)));
        let result = self.temporary(drawn, span)?;
        let old = self.read(&target);
        let old = moved(fold::cast(drawn, self.scalar_value(old, span)?));
        let result_place = ir::Place::Var(result);
        let in_order = fold::binary(BinaryOp::Le, low.clone(), high.clone());
        self.emit(StmtKind::Assign { dst: result_place.clone(), src: old }, span);
        self.emit(StmtKind::Random { dst: result_place, low, high }, span);
        let value = fold::cast(ty, moved(self.read_var(result)));
        let (body, ()) = self.collect(|l| l.assign(&target, Value::Scalar(value), span))?;
        self.emit_if(in_order, body, Vec::new(), span);
        Ok(())
    }

    pub(super) fn verify_checksum(&mut self, call: &'h Call, payload: bool, span: Span) -> Lowered<()> {
        let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?, self.argument(call, 2, span)?];
        let mut values = self.eval_in_order(&args)?.into_iter();
        let (Some(cond), Some(data), Some(checksum)) = (values.next(), values.next(), values.next()) else {
            return Err(Refused);
        };
        let algorithm = self.algorithm(call, 3, span)?;
        let [cond, checksum] = self.scalars(vec![cond, checksum], span)?;
        let cond = match &checksum.kind {
            ir::ExprKind::Field(header, _) => fold::and(cond, is_valid(header)),
            _ => cond,
        };
        let (body, ()) = self.collect(|l| {
            let computed = l.hash_of(&data, algorithm, checksum.ty, payload, span)?;
            let wrong = fold::binary(BinaryOp::Ne, computed, checksum);
            let (then_body, ()) = l.collect(|l| {
                l.set_intrinsic(Slot::ChecksumError, 1, span);
                Ok(())
            })?;
            l.emit_if(wrong, then_body, Vec::new(), span);
            Ok(())
        })?;
        self.emit_if(cond, body, Vec::new(), span);
        Ok(())
    }

    pub(super) fn update_checksum(&mut self, call: &'h Call, payload: bool, span: Span) -> Lowered<()> {
        let args = [self.argument(call, 0, span)?, self.argument(call, 1, span)?];
        let mut values = self.eval_in_order(&args)?.into_iter();
        let (Some(cond), Some(data)) = (values.next(), values.next()) else { return Err(Refused) };
        let cond = self.scalar_value(cond, span)?;
        let target = self.target(call, 2, span)?;
        let algorithm = self.algorithm(call, 3, span)?;
        let inputs = self.hash_inputs(&data, span)?;
        let ty = scalar_type(&target);
        let (body, ()) = self.collect(|l| match algorithm {
            Algorithm::Of(algorithm) => {
                l.through(target, ty, span, |dst| StmtKind::Hash { dst, algorithm, inputs, payload })
            }
            Algorithm::Random => {
                let drawn = l.draw(span)?;
                let value = fold::cast(ty, l.read_var(drawn));
                l.assign(&target, Value::Scalar(value), span)
            }
        })?;
        self.emit_if(cond, body, Vec::new(), span);
        Ok(())
    }
}

/// Draws a number into a variable of type [`DRAWN`].
pub(crate) fn draw_into(var: ir::VarId) -> StmtKind {
    let (low, high) = (Bits::zero(DRAWN.width()), Bits::ones(DRAWN.width()));
    let [low, high] = [low, high].map(|bits| ir::Expr::constant(DRAWN, bits));
    StmtKind::Random { dst: ir::Place::Var(var), low, high }
}

fn is_valid(header: &HeaderRef) -> ir::Expr {
    ir::Expr { kind: ir::ExprKind::IsValid(header.clone()), ty: ir::Type::Bool }
}
