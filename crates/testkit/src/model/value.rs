//! Values of any type, with reads and writes of their parts.

use super::{Model, Shape, Ty};
use crate::calculation::Ty as Scalar;
use crate::calculation::operators::{pattern, slice, with_slice, wrap};
use num_bigint::BigInt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Number(BigInt),
    /// `None`: invalid.
    Header(Option<Vec<Value>>),
    /// A struct or an array.
    Parts(Vec<Value>),
    /// The members, at most one of which is valid.
    Union(Vec<Value>),
}

/// A step to a part of a value, with its index evaluated.
#[derive(Clone, Copy, Debug)]
pub enum ResolvedStep {
    Part(usize),
    Slice(Scalar, u32, u32),
}

impl Value {
    /// The initial value of a variable without an assignment.
    pub fn initial(model: &Model, ty: &Ty) -> Value {
        match ty {
            Ty::Scalar(_) => Value::Number(BigInt::from(0)),
            Ty::Array(element, size) => Value::Parts(vec![Value::initial(model, element); *size as usize]),
            Ty::Declared(number) => {
                let declared = &model.types[*number];
                let parts = || declared.fields.iter().map(|(_, ty)| Value::initial(model, ty)).collect();
                match declared.shape {
                    Shape::Header => Value::Header(None),
                    Shape::Struct => Value::Parts(parts()),
                    Shape::Union => Value::Union(parts()),
                }
            }
        }
    }

    /// A valid header whose fields are zero.
    pub fn valid_header(model: &Model, ty: &Ty) -> Value {
        let Ty::Declared(number) = ty else { unreachable!("headers are declared") };
        Value::Header(Some(vec![Value::Number(BigInt::from(0)); model.types[*number].fields.len()]))
    }

    pub fn number(&self) -> &BigInt {
        match self {
            Value::Number(number) => number,
            other => unreachable!("a number is expected, not {other:?}"),
        }
    }

    pub fn is_valid(&self) -> bool {
        matches!(self, Value::Header(Some(_)))
    }

    pub fn read(&self, ways: &[ResolvedStep]) -> Value {
        let Some((way, rest)) = ways.split_first() else { return self.clone() };
        match (self, way) {
            (Value::Number(number), ResolvedStep::Slice(ty, high, low)) => {
                Value::Number(slice(*ty, number, *high, *low))
            }
            // A slice of zero is zero, too.
            (Value::Header(None), ResolvedStep::Part(_)) => Value::Number(BigInt::from(0)),
            (Value::Header(Some(parts)) | Value::Parts(parts) | Value::Union(parts), ResolvedStep::Part(part)) => {
                parts[*part].read(rest)
            }
            _ => unreachable!("{way:?} into {self:?}"),
        }
    }

    pub fn write(&mut self, ways: &[ResolvedStep], new: Value) {
        let Some((way, rest)) = ways.split_first() else {
            *self = new;
            return;
        };
        match (self, way) {
            (Value::Number(number), ResolvedStep::Slice(ty, high, low)) => {
                *number = with_slice(*ty, number, *high, *low, new.number());
            }
            (Value::Header(None), _) => {}
            (Value::Header(Some(parts)) | Value::Parts(parts), ResolvedStep::Part(part)) => {
                parts[*part].write(rest, new)
            }
            (Value::Union(members), ResolvedStep::Part(part)) => {
                members[*part].write(rest, new);
                if members[*part].is_valid() {
                    let others = members.iter_mut().enumerate().filter(|(number, _)| number != part);
                    others.for_each(|(_, other)| *other = Value::Header(None));
                }
            }
            (value, way) => unreachable!("{way:?} into {value:?}"),
        }
    }

    /// Appends the valid headers to a sequence of bits, as a deparser emits them.
    pub fn emit(&self, model: &Model, ty: &Ty, bits: &mut Vec<bool>) {
        match (self, ty) {
            (Value::Number(number), Ty::Scalar(scalar)) => {
                let number = pattern(*scalar, number);
                bits.extend((0..scalar.width()).rev().map(|bit| number.bit(u64::from(bit))));
            }
            (Value::Parts(parts), Ty::Array(element, _)) => {
                parts.iter().for_each(|part| part.emit(model, element, bits));
            }
            (Value::Header(Some(parts)) | Value::Parts(parts) | Value::Union(parts), Ty::Declared(number)) => {
                let fields = &model.types[*number].fields;
                parts.iter().zip(fields).for_each(|(part, (_, ty))| part.emit(model, ty, bits));
            }
            _ => {}
        }
    }
}

/// The number that the bits represent.
pub fn number_of(ty: Scalar, bits: &[bool]) -> BigInt {
    wrap(ty, &bits.iter().fold(BigInt::from(0), |number, bit| (number << 1) + u8::from(*bit)))
}
