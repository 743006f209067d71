//! The types of the values that controllers exchange with the switch: keys and parameters, which are bit strings, and
//! registers and digests, which may be nested structs.

use super::Mismatch;
use crate::mappings;
use base::OrderedMap;
use p4runtime_proto::p4::config::v1::{self, P4DataTypeSpec, P4TypeInfo};

/// The type of a key, of a parameter, or of a field of a controller header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its width in the switch, in bits.
    pub width_bits: u32,
    /// The representation that controllers use if it differs; without one, they use a value of the same width.
    pub translation: Option<Translation>,
    /// How to show it, if its type says so (`@format`); values of registers and digests only.
    pub format: Option<String>,
}

/// The representation that controllers use instead of the value itself (`@p4runtime_translation`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The name of the type.
    pub type_name: String,
    /// The mapping, if controller and switch share a name for it. Types without such a name, as SONiC's programs have
    /// them, share nothing: each type has a mapping of its own.
    pub uri: String,
    /// The width in bits of the controller's representation; none if controllers use text.
    pub width_bits: Option<u32>,
    /// The texts with fixed values (`@p4runtime_translation_mappings`).
    pub mappings: Vec<(String, u64)>,
}

/// The type of a register's cell, or of a digest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// `bit<W>` or `int<W>`; also the value of an enum with a representation, with its member names.
    Bits(Value),
    /// `bool`
    Bool,
    /// `varbit<W>`
    Varbit {
        /// The maximum width in bits.
        width_bits_max: u32,
    },
    /// A struct and the names of its fields.
    Struct(Vec<(String, Data)>),
    /// A tuple.
    Tuple(Vec<Data>),
    /// A header and the names of its fields.
    Header(Vec<(String, Data)>),
    /// A header union and its headers.
    HeaderUnion(Vec<(String, Data)>),
    /// A stack of headers or of unions.
    Stack(Vec<Data>),
    /// An enum without a representation: the names of its members, which the switch numbers from 0.
    Enum(Vec<String>),
    /// An enum with a representation, which is the form that is sent.
    SerializableEnum {
        /// Width of the values in bits.
        width_bits: u32,
        /// Names and values.
        members: OrderedMap<String, Vec<u8>>,
    },
    /// `error`: the names of all errors, which the switch numbers from 0.
    Error(Vec<String>),
}

/// The most types that a specification may expand to in total. A hostile specification could contain itself, or double
/// in size at each level.
const TYPES_MAX: u32 = 1 << 16;

impl Data {
    /// Resolves a type specification.
    pub fn new(spec: &P4DataTypeSpec, types: &P4TypeInfo) -> Result<Data, Mismatch> {
        Reader { types, left: TYPES_MAX, depth: 0 }.data(spec)
    }

    /// Its leaf values in order, as the IR has them. A varbit has two leaves, its length and its bits; a header's
    /// validity precedes its fields.
    pub fn leaves(&self) -> Vec<&Data> {
        let mut leaves = Vec::new();
        self.push_leaves(&mut leaves);
        leaves
    }

    /// Sets the widths that leaf values have in the switch if some are translated, because a P4Info does not contain
    /// these widths. `widths_bits` are those of a register's cell, where a validity bit precedes each header. If their
    /// number is wrong, the error is the expected number.
    pub(crate) fn set_widths(&mut self, widths_bits: &[u32]) -> Result<(), usize> {
        let mut parts = Vec::new();
        self.push_parts(&mut parts);
        let is_translated = |part: &Option<&mut Value>| part.as_ref().is_some_and(|it| it.translation.is_some());
        if !parts.iter().any(is_translated) {
            return Ok(());
        }
        if parts.len() != widths_bits.len() {
            return Err(parts.len());
        }
        for (part, width_bits) in parts.into_iter().zip(widths_bits) {
            if let Some(value) = part {
                value.width_bits = *width_bits;
            }
        }
        Ok(())
    }

    /// The parts of a register's cell. Values of a known width only take their position.
    fn push_parts<'a>(&'a mut self, parts: &mut Vec<Option<&'a mut Value>>) {
        match self {
            Data::Struct(members) | Data::HeaderUnion(members) => {
                members.iter_mut().for_each(|(_, member)| member.push_parts(parts));
            }
            Data::Header(members) => {
                parts.push(None);
                members.iter_mut().for_each(|(_, member)| member.push_parts(parts));
            }
            Data::Tuple(items) | Data::Stack(items) => items.iter_mut().for_each(|item| item.push_parts(parts)),
            Data::Varbit { .. } => parts.extend([None, None]),
            Data::Bits(value) => parts.push(Some(value)),
            _ => parts.push(None),
        }
    }

    fn push_leaves<'a>(&'a self, leaves: &mut Vec<&'a Data>) {
        match self {
            Data::Struct(members) | Data::HeaderUnion(members) => {
                members.iter().for_each(|(_, member)| member.push_leaves(leaves));
            }
            Data::Header(members) => {
                leaves.push(self);
                members.iter().for_each(|(_, member)| member.push_leaves(leaves));
            }
            Data::Tuple(items) | Data::Stack(items) => items.iter().for_each(|item| item.push_leaves(leaves)),
            Data::Varbit { .. } => leaves.extend([self, self]),
            leaf => leaves.push(leaf),
        }
    }
}

/// The translation of a named type, if it has one.
pub fn translation(name: &v1::P4NamedType, types: &P4TypeInfo) -> Result<Option<Translation>, Mismatch> {
    use v1::{p4_new_type_spec::Representation, p4_new_type_translation::SdnType};
    let Some(spec) = types.new_types.get(&name.name) else { return Ok(None) };
    let Some(Representation::TranslatedType(translated)) = &spec.representation else { return Ok(None) };
    let type_name = name.name.clone();
    let Some(mappings) = spec.annotations.iter().find_map(|it| mappings::of(it)).unwrap_or(Some(Vec::new())) else {
        return mismatch(format!("type {type_name}: {}", mappings::EXPECTED));
    };
    Ok(Some(Translation {
        uri: if translated.uri.is_empty() { format!("type {type_name}") } else { translated.uri.clone() },
        type_name,
        width_bits: match translated.sdn_type {
            Some(SdnType::SdnBitwidth(width)) => Some(width.try_into().unwrap_or(0)),
            _ => None,
        },
        mappings,
    }))
}

fn mismatch<T>(message: String) -> Result<T, Mismatch> {
    Err(Mismatch { message })
}

fn unknown<T>(kind: &str, name: &v1::P4NamedType) -> Result<T, Mismatch> {
    mismatch(format!("the type information has no {kind} called {}", name.name))
}

fn width(bits: i32) -> Result<u32, Mismatch> {
    u32::try_from(bits).or_else(|_| mismatch(format!("{bits} is not a width")))
}

fn bits(width_bits: i32) -> Result<Data, Mismatch> {
    Ok(Data::Bits(Value { width_bits: width(width_bits)?, translation: None, format: None }))
}

/// The maximum nesting of types.
const DEPTH_MAX: u32 = 64;

struct Reader<'a> {
    types: &'a P4TypeInfo,
    left: u32,
    depth: u32,
}

/// The named fields or elements.
type Members = Result<Vec<(String, Data)>, Mismatch>;

impl Reader<'_> {
    fn data(&mut self, spec: &P4DataTypeSpec) -> Result<Data, Mismatch> {
        use v1::p4_data_type_spec::TypeSpec;
        self.count(1)?;
        if self.depth == DEPTH_MAX {
            return mismatch("the type information has types within one another without end".to_owned());
        }
        match spec.type_spec.as_ref() {
            Some(TypeSpec::Bitstring(it)) => bitstring(it),
            Some(TypeSpec::Bool(_)) => Ok(Data::Bool),
            Some(TypeSpec::Tuple(it)) => {
                Ok(Data::Tuple(it.members.iter().map(|it| self.inner(it)).collect::<Result<_, _>>()?))
            }
            Some(TypeSpec::Struct(name)) => self.structure(name),
            Some(TypeSpec::Header(name)) => self.header(name),
            Some(TypeSpec::HeaderUnion(name)) => self.header_union(name),
            Some(TypeSpec::HeaderStack(it)) => {
                let element = self.header(&it.header.clone().unwrap_or_default())?;
                self.stack(element, it.size)
            }
            Some(TypeSpec::HeaderUnionStack(it)) => {
                let element = self.header_union(&it.header_union.clone().unwrap_or_default())?;
                self.stack(element, it.size)
            }
            Some(TypeSpec::Enum(name)) => match self.types.enums.get(&name.name) {
                Some(it) => Ok(Data::Enum(it.members.iter().map(|member| member.name.clone()).collect())),
                None => unknown("enum", name),
            },
            Some(TypeSpec::SerializableEnum(name)) => {
                let Some(it) = self.types.serializable_enums.get(&name.name) else { return unknown("enum", name) };
                let members = it.members.iter().map(|member| (member.name.clone(), member.value.clone())).collect();
                let width_bits = width(it.underlying_type.map_or(0, |it| it.bitwidth))?;
                Ok(Data::SerializableEnum { width_bits, members })
            }
            Some(TypeSpec::Error(_)) => Ok(Data::Error(self.types.error.clone().unwrap_or_default().members)),
            Some(TypeSpec::NewType(name)) => self.new_type(name),
            None => mismatch("a type is empty".to_owned()),
        }
    }

    fn count(&mut self, types: u32) -> Result<(), Mismatch> {
        match self.left.checked_sub(types) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => mismatch(format!("the type information has a type of more than {TYPES_MAX} parts")),
        }
    }

    fn inner(&mut self, spec: &P4DataTypeSpec) -> Result<Data, Mismatch> {
        self.depth += 1;
        let data = self.data(spec);
        self.depth -= 1;
        data
    }

    fn structure(&mut self, name: &v1::P4NamedType) -> Result<Data, Mismatch> {
        let Some(it) = self.types.structs.get(&name.name) else { return unknown("struct", name) };
        let member = |it: &v1::p4_struct_type_spec::Member| {
            let spec = it.type_spec.clone().unwrap_or_default();
            Ok((it.name.clone(), self.inner(&spec)?))
        };
        Ok(Data::Struct(it.members.iter().map(member).collect::<Members>()?))
    }

    fn header(&mut self, name: &v1::P4NamedType) -> Result<Data, Mismatch> {
        let Some(it) = self.types.headers.get(&name.name) else { return unknown("header", name) };
        self.count(it.members.len() as u32)?;
        let member = |it: &v1::p4_header_type_spec::Member| {
            let spec = it.type_spec.clone().unwrap_or_default();
            Ok((it.name.clone(), bitstring(&spec)?))
        };
        Ok(Data::Header(it.members.iter().map(member).collect::<Members>()?))
    }

    fn header_union(&mut self, name: &v1::P4NamedType) -> Result<Data, Mismatch> {
        let Some(it) = self.types.header_unions.get(&name.name) else { return unknown("header union", name) };
        let member = |it: &v1::p4_header_union_type_spec::Member| {
            let header = it.header.clone().unwrap_or_default();
            Ok((it.name.clone(), self.header(&header)?))
        };
        Ok(Data::HeaderUnion(it.members.iter().map(member).collect::<Members>()?))
    }

    fn stack(&mut self, element: Data, size: i32) -> Result<Data, Mismatch> {
        let size = width(size)?;
        let parts = element.leaves().len() as u32;
        self.count(size.saturating_mul(parts.max(1)))?;
        Ok(Data::Stack(vec![element; size as usize]))
    }

    /// A new type has the data of its underlying type, except for the controller's representation.
    fn new_type(&mut self, name: &v1::P4NamedType) -> Result<Data, Mismatch> {
        use v1::p4_new_type_spec::Representation;
        match self.types.new_types.get(&name.name).and_then(|it| it.representation.as_ref()) {
            Some(Representation::OriginalType(spec)) => self.inner(spec),
            // A P4Info does not contain its width in the switch; the model sets it when it is joined to a program.
            Some(Representation::TranslatedType(_)) => {
                Ok(Data::Bits(Value { width_bits: 0, translation: translation(name, self.types)?, format: None }))
            }
            None => unknown("type", name),
        }
    }
}

fn bitstring(spec: &v1::P4BitstringLikeTypeSpec) -> Result<Data, Mismatch> {
    use v1::p4_bitstring_like_type_spec::TypeSpec;
    let mut data = match &spec.type_spec {
        Some(TypeSpec::Bit(it)) => bits(it.bitwidth),
        Some(TypeSpec::Int(it)) => bits(it.bitwidth),
        Some(TypeSpec::Varbit(it)) => Ok(Data::Varbit { width_bits_max: width(it.max_bitwidth)? }),
        None => mismatch("a type of bits is empty".to_owned()),
    }?;
    if let Data::Bits(value) = &mut data {
        value.format = spec.annotations.iter().find(|it| it.trim().starts_with("@format(")).cloned();
    }
    Ok(data)
}
