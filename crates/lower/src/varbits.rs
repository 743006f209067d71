//! Varbit fields as lengths and numbers.
//!
//! The IR's header types have at most one varbit field, which is all that an extraction can fill. A header with several
//! is never extracted. In the IR it has two fields in place of each: the length in bits, and a number whose low bits
//! are the field's and whose others are zero. To emit such a header, its fields are joined in the one varbit field of a
//! local header, which is emitted instead.

use crate::places::{VarbitParts, VarbitPlace};
use crate::storage::Life;
use crate::types::{FieldShape, HeaderShape};
use crate::values::{HeaderKind, HeaderValue, Value, zero};
use crate::{Lowered, Lowerer, codes, fold};
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use ir::{BinaryOp, Expr, ExprKind, HeaderRef, Place, StmtKind, Type};

/// The type of a length.
pub(crate) const LENGTH: Type = Type::Bit(32);

/// The length of a varbit field (32 bits), and its bits as a number of its greatest width.
pub(crate) fn varbit_parts(header: &HeaderRef, field: u32, max: u32) -> [Expr; 2] {
    let length = ExprKind::VarbitLength(header.clone(), field);
    let bits = ExprKind::VarbitBits(header.clone(), field);
    [Expr { kind: length, ty: LENGTH }, Expr { kind: bits, ty: Type::Bit(max) }]
}

/// The same for a varbit value of this greatest length, where an empty tuple is an empty one; `None` for other values.
pub(crate) fn parts_of(value: &Value, max: u32) -> Option<[Expr; 2]> {
    match value {
        Value::Varbit { header, field, max } => Some(varbit_parts(header, *field, *max)),
        Value::VarbitParts { length, bits } => Some([length.clone(), bits.clone()]),
        Value::Tuple(items) if items.is_empty() => Some([zero(LENGTH), zero(Type::Bit(max))]),
        _ => None,
    }
}

/// The greatest length of a varbit value; `None` for other values, and for an empty tuple.
fn length_max(value: &Value) -> Option<u32> {
    match value {
        Value::Varbit { max, .. } => Some(*max),
        Value::VarbitParts { bits, .. } => Some(bits.ty.width()),
        _ => None,
    }
}

/// Whether two varbit values are equal, one of which the IR has as length and number; `None` for other values.
pub(crate) fn parts_equal(a: &Value, b: &Value) -> Option<Expr> {
    if !matches!((a, b), (Value::VarbitParts { .. }, _) | (_, Value::VarbitParts { .. })) {
        return None;
    }
    let max = length_max(a).or(length_max(b))?;
    let ([a_length, a_bits], [b_length, b_bits]) = (parts_of(a, max)?, parts_of(b, max)?);
    let same_bits = fold::binary(BinaryOp::Eq, a_bits, b_bits);
    Some(fold::and(fold::binary(BinaryOp::Eq, a_length, b_length), same_bits))
}

impl HeaderShape {
    /// Bits of the header while its varbit fields are empty, without padding at the end.
    pub fn fixed_bits(&self) -> u32 {
        self.leaves()
            .into_iter()
            .map(|leaf| if let FieldShape::Scalar { ty, .. } = leaf { ty.width() } else { 0 })
            .sum()
    }

    /// Whether it has several varbit fields.
    pub fn has_varbit_parts(&self) -> bool {
        self.leaves().iter().any(|leaf| matches!(leaf, FieldShape::VarbitParts { .. }))
    }

    /// The fields in order, those of structs in their place.
    fn leaves(&self) -> Vec<&FieldShape> {
        fn add<'s>(shapes: &'s [FieldShape], leaves: &mut Vec<&'s FieldShape>) {
            for shape in shapes {
                match shape {
                    FieldShape::Struct(fields) => add(fields, leaves),
                    _ => leaves.push(shape),
                }
            }
        }
        let mut leaves = Vec::new();
        add(&self.fields, &mut leaves);
        leaves
    }
}

impl Lowerer<'_> {
    /// Stores a varbit value as length and number.
    pub(crate) fn store_varbit_parts(&mut self, place: &VarbitParts, value: &Value, span: Span) -> Lowered<()> {
        let Some([length, bits]) = parts_of(value, place.max) else {
            return self.unsupported(span, "an assignment of this type");
        };
        for (dst, src) in [(&place.length, length), (&place.bits, bits)] {
            if self.read_ir_place(dst) != src {
                self.emit(StmtKind::Assign { dst: dst.clone(), src }, span);
            }
        }
        Ok(())
    }

    /// Sets a varbit field or variable to this length and the low bits of a value.
    pub(crate) fn set_varbit(&mut self, place: &VarbitPlace, length_bits: Expr, value: Expr, span: Span) {
        if place.is_variable {
            self.emit(StmtKind::SetValid(place.header.clone()), span);
        }
        let dst = (place.header.clone(), place.field);
        self.emit(StmtKind::SetVarbit { dst, length_bits, value }, span);
    }

    /// A new local variable with this length and the low bits of a value.
    pub(crate) fn joined_varbit(&mut self, length_bits: Expr, value: Expr, span: Span) -> Lowered<VarbitPlace> {
        self.check_storage(span)?;
        let variable = self.new_varbit("tmp", value.ty.width(), Life::Local);
        self.set_varbit(&variable, length_bits, value, span);
        Ok(variable)
    }

    /// Sets a varbit field to a length and bits from a source that may hold any: the length is limited to the greatest
    /// one and rounded down to whole bytes.
    pub(crate) fn set_varbit_parts(
        &mut self,
        place: &VarbitParts,
        length_bits: Expr,
        value: Expr,
        span: Span,
    ) -> Lowered<()> {
        let VarbitPlace { header, field, max, .. } = self.joined_varbit(length_bits, value, span)?;
        self.store_varbit_parts(place, &Value::Varbit { header, field, max }, span)
    }

    /// Emits a header in storage.
    pub(crate) fn emit_header(&mut self, header: &HeaderValue, span: Span) -> Lowered<()> {
        let HeaderKind::Ref(stored) = &header.kind else { return self.unsupported(span, "emitting this value") };
        if !header.shape.has_varbit_parts() {
            self.emit(StmtKind::Emit(stored.clone()), span);
            return Ok(());
        }
        let (body, ()) = self.collect(|l| l.emit_joined(stored, &header.shape, span))?;
        self.emit_if(header.is_valid(), body, Vec::new(), span);
        Ok(())
    }

    /// Emits a valid header with several varbit fields.
    fn emit_joined(&mut self, header: &HeaderRef, shape: &HeaderShape, span: Span) -> Lowered<()> {
        let of_varbits = shape.leaves().into_iter().map(|leaf| match leaf {
            FieldShape::VarbitParts { max, .. } => u64::from(*max),
            _ => 0,
        });
        let fixed = shape.fixed_bits().next_multiple_of(8);
        let width = u64::from(fixed) + of_varbits.sum::<u64>();
        if width > u64::from(WIDTH_BITS_MAX) {
            let message = format!("a header with several varbit fields of {width} bits; the most is {WIDTH_BITS_MAX}");
            return self.refuse(codes::LIMIT, span, message);
        }
        let field = |index: u32, ty: Type| Expr { kind: ExprKind::Field(header.clone(), index), ty };
        let whole = Type::Bit(width as u32);
        let (mut joined, mut length) = (zero(whole), Expr::bit(32, u64::from(fixed)));
        let append = |joined: Expr, count: Expr, bits: Expr| {
            let bits = fold::cast(whole, fold::cast(Type::Bit(bits.ty.width()), bits));
            fold::binary(BinaryOp::Or, fold::binary(BinaryOp::Shl, joined, count), bits)
        };
        for leaf in shape.leaves() {
            match *leaf {
                FieldShape::Scalar { index, ty } => {
                    joined = append(joined, Expr::bit(32, u64::from(ty.width())), field(index, ty));
                }
                FieldShape::VarbitParts { index, max } => {
                    let bits = field(index, LENGTH);
                    length = fold::binary(BinaryOp::Add, length, bits.clone());
                    joined = append(joined, bits, field(index + 1, Type::Bit(max)));
                }
                FieldShape::Varbit { .. } | FieldShape::Struct(_) => {}
            }
            // Stored in variables, so that expressions do not nest without bounds.
            (joined, length) = (self.pin_expr(joined, span)?, self.pin_expr(length, span)?);
        }
        let padding = Expr::bit(32, u64::from(fixed - shape.fixed_bits()));
        let joined = fold::binary(BinaryOp::Shl, joined, padding);
        let emitted = self.joined_varbit(length, joined, span)?;
        self.emit(StmtKind::Emit(emitted.header), span);
        Ok(())
    }
}

impl VarbitParts {
    /// The field whose length is the IR's field `index` of a header.
    pub fn new(header: &HeaderRef, index: u32, max: u32) -> VarbitParts {
        let field = |index| Place::Field(header.clone(), index);
        VarbitParts { length: field(index), bits: field(index + 1), max }
    }
}
