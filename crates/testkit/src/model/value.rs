//! Values of any type, with reads and writes of their parts.

use super::{HEADERS, METADATA, Model, Shape, Ty, VarId};
use crate::calculation::Ty as Scalar;
use crate::calculation::operators::{pattern, slice, with_slice, wrap};
use num_bigint::BigInt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Number(BigInt),
    Header(Header),
    /// A struct or an array.
    Parts(Vec<Value>),
    /// The members, at most one of which is valid.
    Union(Vec<Value>),
}

#[derive(Clone, Debug)]
pub struct Header {
    pub is_valid: bool,
    /// The fields, which an invalid header may have kept.
    fields: Vec<Value>,
    contents: Contents,
}

/// What is known of the fields of an invalid header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Contents {
    /// They have these values.
    Known,
    /// They have these values, or are zero: it depends on whether a parameter or variable is treated as the packet's
    /// header that it stands for, or as one of the metadata that it is copied from or to.
    KnownOrZero,
    Unknown,
    /// This is `{#}`, which leaves the contents of what it is assigned to as they are.
    Literal,
}

/// Headers are the same if both are invalid, whatever they hold.
impl PartialEq for Header {
    fn eq(&self, other: &Header) -> bool {
        self.is_valid == other.is_valid && (!self.is_valid || self.fields == other.fields)
    }
}

impl Eq for Header {}

/// Whose a place is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Invalid headers read as zero and ignore writes.
    Packet,
    /// Invalid headers keep what is written.
    Metadata,
    /// A variable or parameter: either.
    Other,
}

impl Owner {
    pub fn of(var: VarId) -> Owner {
        match var {
            HEADERS => Owner::Packet,
            METADATA => Owner::Metadata,
            _ => Owner::Other,
        }
    }
}

impl Header {
    /// Zeros, of which it is invalid.
    fn invalid(fields: usize) -> Header {
        Header { is_valid: false, fields: vec![zero(); fields], contents: Contents::Known }
    }

    fn is_zero(&self) -> bool {
        self.fields.iter().all(|field| *field == zero())
    }

    /// The header becomes invalid, as its owner's do.
    fn invalidate(&mut self, owner: Owner) {
        match owner {
            Owner::Packet => *self = Header::invalid(self.fields.len()),
            _ if !self.is_valid => {}
            Owner::Metadata => self.contents = Contents::Known,
            Owner::Other if self.is_zero() => self.contents = Contents::Known,
            Owner::Other => self.contents = Contents::KnownOrZero,
        }
        self.is_valid = false;
    }

    /// What a field reads as; none if that is not certain.
    fn field(&self, field: usize, owner: Owner) -> Option<Value> {
        let value = &self.fields[field];
        let is_certain = match self.contents {
            _ if self.is_valid || owner == Owner::Packet => true,
            Contents::Known => true,
            Contents::KnownOrZero => *value == zero(),
            Contents::Unknown | Contents::Literal => false,
        };
        is_certain.then(|| value.clone())
    }

    fn set_field(&mut self, field: usize, rest: &[ResolvedStep], new: Value, owner: Owner) {
        if self.is_valid {
            self.fields[field].write(rest, new, owner);
            return;
        }
        if owner == Owner::Packet {
            return;
        }
        let is_kept = owner == Owner::Metadata || !self.is_zero();
        self.contents = match self.contents {
            Contents::Known if is_kept || new == zero() => Contents::Known,
            Contents::KnownOrZero if !rest.is_empty() && self.fields[field] != zero() => Contents::Unknown,
            Contents::Known | Contents::KnownOrZero => Contents::KnownOrZero,
            Contents::Unknown | Contents::Literal => Contents::Unknown,
        };
        self.fields[field].write(rest, new, owner);
    }

    /// The header is assigned to.
    fn become_as(&mut self, new: Header, owner: Owner) {
        match (new.is_valid, new.contents) {
            (false, _) if owner == Owner::Packet => self.invalidate(owner),
            (false, Contents::Literal) => self.invalidate(owner),
            _ => *self = new,
        }
    }
}

fn zero() -> Value {
    Value::Number(BigInt::from(0))
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
                    Shape::Header => Value::Header(Header::invalid(declared.fields.len())),
                    Shape::Struct => Value::Parts(parts()),
                    Shape::Union => Value::Union(parts()),
                }
            }
        }
    }

    /// A valid header whose fields are zero.
    pub fn valid_header(model: &Model, ty: &Ty) -> Value {
        let Ty::Declared(number) = ty else { unreachable!("headers are declared") };
        Value::header(vec![zero(); model.types[*number].fields.len()])
    }

    /// A valid header.
    pub fn header(fields: Vec<Value>) -> Value {
        Value::Header(Header { is_valid: true, fields, contents: Contents::Known })
    }

    /// `{#}`
    pub fn invalid(model: &Model, ty: &Ty) -> Value {
        let mut value = Value::initial(model, ty);
        value.set_contents(&mut |header| header.contents = Contents::Literal);
        value
    }

    /// The value, of whose invalid headers nothing is known unless `is_certain`.
    pub fn undefined(model: &Model, ty: &Ty, is_certain: bool) -> Value {
        let mut value = Value::initial(model, ty);
        if !is_certain {
            value.set_contents(&mut |header| header.contents = Contents::Unknown);
        }
        value
    }

    /// The value in a variable of its own, in which nothing is known of what `{#}` left there.
    pub fn stored(mut self) -> Value {
        self.set_contents(&mut |header| {
            if header.contents == Contents::Literal {
                header.contents = Contents::Unknown;
            }
        });
        self
    }

    /// Whether all headers in it are invalid and hold zeros for certain.
    pub fn holds_nothing(&self) -> bool {
        match self {
            Value::Number(_) => true,
            Value::Header(header) => !header.is_valid && header.contents == Contents::Known && header.is_zero(),
            Value::Parts(parts) | Value::Union(parts) => parts.iter().all(Value::holds_nothing),
        }
    }

    fn set_contents(&mut self, set: &mut dyn FnMut(&mut Header)) {
        match self {
            Value::Number(_) => {}
            Value::Header(header) => set(header),
            Value::Parts(parts) | Value::Union(parts) => parts.iter_mut().for_each(|part| part.set_contents(set)),
        }
    }

    /// A header that is made invalid.
    pub fn invalidate(&mut self, ways: &[ResolvedStep], owner: Owner) {
        match (self, ways.split_first()) {
            (Value::Header(header), _) => header.invalidate(owner),
            (Value::Parts(parts) | Value::Union(parts), Some((ResolvedStep::Part(part), rest))) => {
                parts[*part].invalidate(rest, owner);
            }
            (value, way) => unreachable!("{way:?} into {value:?}"),
        }
    }

    pub fn number(&self) -> &BigInt {
        match self {
            Value::Number(number) => number,
            other => unreachable!("a number is expected, not {other:?}"),
        }
    }

    pub fn is_valid(&self) -> bool {
        matches!(self, Value::Header(header) if header.is_valid)
    }

    /// None if the value is not certain.
    pub fn read(&self, ways: &[ResolvedStep], owner: Owner) -> Option<Value> {
        let Some((way, rest)) = ways.split_first() else { return Some(self.clone()) };
        match (self, way) {
            (Value::Number(number), ResolvedStep::Slice(ty, high, low)) => {
                Some(Value::Number(slice(*ty, number, *high, *low)))
            }
            (Value::Header(header), ResolvedStep::Part(part)) => header.field(*part, owner)?.read(rest, owner),
            (Value::Parts(parts) | Value::Union(parts), ResolvedStep::Part(part)) => parts[*part].read(rest, owner),
            _ => unreachable!("{way:?} into {self:?}"),
        }
    }

    pub fn write(&mut self, ways: &[ResolvedStep], new: Value, owner: Owner) {
        let Some((way, rest)) = ways.split_first() else {
            self.become_as(new, owner);
            return;
        };
        match (self, way) {
            (Value::Number(number), ResolvedStep::Slice(ty, high, low)) => {
                *number = with_slice(*ty, number, *high, *low, new.number());
            }
            (Value::Header(header), ResolvedStep::Part(part)) => header.set_field(*part, rest, new, owner),
            (Value::Parts(parts), ResolvedStep::Part(part)) => parts[*part].write(rest, new, owner),
            (Value::Union(members), ResolvedStep::Part(part)) => {
                members[*part].write(rest, new, owner);
                if members[*part].is_valid() {
                    let others = members.iter_mut().enumerate().filter(|(number, _)| number != part);
                    others.for_each(|(_, other)| other.invalidate(&[], owner));
                }
            }
            (value, way) => unreachable!("{way:?} into {value:?}"),
        }
    }

    fn become_as(&mut self, new: Value, owner: Owner) {
        match (self, new) {
            (Value::Header(header), Value::Header(new)) => header.become_as(new, owner),
            (Value::Parts(parts), Value::Parts(new)) | (Value::Union(parts), Value::Union(new)) => {
                parts.iter_mut().zip(new).for_each(|(part, new)| part.become_as(new, owner));
            }
            (value, new) => *value = new,
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
            (Value::Header(Header { is_valid: false, .. }), _) => {}
            (
                Value::Header(Header { fields: parts, .. }) | Value::Parts(parts) | Value::Union(parts),
                Ty::Declared(number),
            ) => {
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
