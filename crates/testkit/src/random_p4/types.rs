//! Types: their declarations, their texts, and the parts of their values.

use super::{Feature, Generator, Value};
use crate::lines::Lines as _;
use std::fmt::Write as _;

/// A type of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Bool,
    Bit(u32),
    Int(u32),
    Varbit(u32),
    Error,
    /// The number of a declaration in the generator's list.
    Declared(usize),
    /// An array. An array of headers or unions is a stack.
    Array(Box<Ty>, u32),
    Tuple(Vec<Ty>),
}

/// A declared type.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub name: String,
    pub shape: Shape,
}

/// The kind of a declared type.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Header(Vec<(String, Ty)>),
    Struct(Vec<(String, Ty)>),
    Union(Vec<(String, Ty)>),
    Enum(Vec<String>),
    Serializable { width: u32, members: Vec<String> },
    NewType(Ty),
}

/// Widths around the sizes of machine words.
const PREFERRED: [u32; 20] = [1, 2, 3, 4, 7, 8, 9, 12, 16, 16, 17, 31, 32, 32, 33, 48, 63, 64, 65, 128];

/// The widest values where wide ones are preferred.
const WIDTH_MAX: u64 = 2048;

/// The widest values. A header with one still fits into most of the random packets.
const WIDEST: u64 = 2600;

impl Generator<'_> {
    pub fn width(&mut self) -> u32 {
        let widest = if self.has(Feature::Wide) { 128 } else { 64 };
        match self.below(8) {
            0 => self.rng.between(1, widest) as u32,
            1 if self.has(Feature::Wide) && self.once_in(3) => {
                let widest = if self.once_in(4) { WIDEST } else { WIDTH_MAX };
                self.rng.between(129, widest) as u32
            }
            _ => {
                let width = *self.rng.pick(&PREFERRED);
                if u64::from(width) <= widest { width } else { 8 }
            }
        }
    }

    pub fn number(&mut self) -> Ty {
        let width = self.width();
        if self.has(Feature::Signed) && self.once_in(4) { Ty::Int(width) } else { Ty::Bit(width) }
    }

    /// A scalar type.
    pub fn scalar(&mut self) -> Ty {
        match self.below(10) {
            0 => Ty::Bool,
            1 if self.once_in(4) => Ty::Error,
            2 | 3 => {
                let single = self
                    .declared(|shape| matches!(shape, Shape::Enum(_) | Shape::Serializable { .. } | Shape::NewType(_)));
                self.pick(&single).unwrap_or(Ty::Bit(8))
            }
            _ => self.number(),
        }
    }

    /// A type for a variable.
    pub fn any_type(&mut self) -> Ty {
        match self.below(12) {
            0 if self.has(Feature::Structs) => {
                let structs = self.declared(|shape| matches!(shape, Shape::Struct(_)));
                self.pick(&structs).unwrap_or(Ty::Bool)
            }
            1 if self.has(Feature::Tuples) => self.tuple(),
            2 if self.has(Feature::ArraysOfValues) => {
                let element = self.scalar();
                Ty::Array(Box::new(element), self.rng.between(1, 4) as u32)
            }
            3 => {
                let headers = self.declared(|shape| matches!(shape, Shape::Header(_)));
                self.pick(&headers).filter(|header| !self.has_varbit(header)).unwrap_or(Ty::Bit(1))
            }
            4 if self.has(Feature::Stacks) && self.once_in(2) => {
                let headers = self.declared(|shape| matches!(shape, Shape::Header(_)));
                let header = self.pick(&headers).filter(|header| !self.has_varbit(header));
                let size = self.rng.between(1, 4) as u32;
                header.map_or(Ty::Bool, |header| Ty::Array(Box::new(header), size))
            }
            _ => self.scalar(),
        }
    }

    fn tuple(&mut self) -> Ty {
        let parts = self.rng.between(1, 4);
        Ty::Tuple((0..parts).map(|_| self.scalar()).collect())
    }

    /// The declared types with a given shape.
    pub fn declared(&self, is_wanted: impl Fn(&Shape) -> bool) -> Vec<Ty> {
        (0..self.types.len()).filter(|&index| is_wanted(&self.types[index].shape)).map(Ty::Declared).collect()
    }

    pub fn shape(&self, ty: &Ty) -> Option<&Shape> {
        match ty {
            Ty::Declared(index) => Some(&self.types[*index].shape),
            _ => None,
        }
    }

    pub fn is_header(&self, ty: &Ty) -> bool {
        matches!(self.shape(ty), Some(Shape::Header(_)))
    }

    pub fn has_varbit(&self, ty: &Ty) -> bool {
        self.varbit_count(ty) > 0
    }

    /// The number of a header's varbit fields.
    pub fn varbit_count(&self, ty: &Ty) -> usize {
        match self.shape(ty) {
            Some(Shape::Header(fields)) => fields.iter().filter(|(_, ty)| matches!(ty, Ty::Varbit(_))).count(),
            _ => 0,
        }
    }

    pub fn is_scalar(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Bool | Ty::Bit(_) | Ty::Int(_) | Ty::Error => true,
            Ty::Declared(_) => {
                matches!(self.shape(ty), Some(Shape::Enum(_) | Shape::Serializable { .. } | Shape::NewType(_)))
            }
            Ty::Varbit(_) | Ty::Array(..) | Ty::Tuple(_) => false,
        }
    }

    /// The text of the type, sometimes by another name.
    pub fn type_text(&mut self, ty: &Ty) -> String {
        let aliases: Vec<String> =
            self.aliases.iter().filter(|(_, meant)| meant == ty).map(|(name, _)| name.clone()).collect();
        if let Some(alias) = self.pick(&aliases).filter(|_| self.once_in(3)) {
            return alias;
        }
        match ty {
            Ty::Bool => "bool".into(),
            Ty::Bit(1) if self.once_in(3) => "bit".into(),
            Ty::Bit(width) => format!("bit<{width}>"),
            Ty::Int(width) => format!("int<{width}>"),
            Ty::Varbit(width) => format!("varbit<{width}>"),
            Ty::Error => "error".into(),
            Ty::Declared(index) => self.types[*index].name.clone(),
            Ty::Array(element, size) => format!("{}[{size}]", self.type_text(element)),
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.type_text(part)).collect();
                format!("tuple<{}>", parts.join(", "))
            }
        }
    }

    /// A value and all its parts with their texts; elements of arrays are at constant indices.
    pub fn parts(&self, value: &Value, found: &mut Vec<Value>) {
        found.push(value.clone());
        // Parts of a tuple are not l-values.
        let writable = value.writable && !matches!(value.ty, Ty::Tuple(_));
        let mut part = |text: String, ty: &Ty| self.parts(&Value { text, ty: ty.clone(), writable }, found);
        match &value.ty {
            Ty::Array(element, size) => {
                for index in 0..*size {
                    part(format!("{}[{index}]", value.text), element);
                }
            }
            Ty::Tuple(parts) => {
                for (index, ty) in parts.iter().enumerate() {
                    part(format!("{}[{index}]", value.text), ty);
                }
            }
            Ty::Declared(index) => match &self.types[*index].shape {
                Shape::Header(fields) | Shape::Struct(fields) | Shape::Union(fields) => {
                    for (name, ty) in fields {
                        part(format!("{}.{name}", value.text), ty);
                    }
                }
                Shape::Enum(_) | Shape::Serializable { .. } | Shape::NewType(_) => {}
            },
            Ty::Bool | Ty::Bit(_) | Ty::Int(_) | Ty::Varbit(_) | Ty::Error => {}
        }
    }

    /// All values in scope, and their parts, with a given property.
    pub fn values(&self, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut found = Vec::new();
        for value in &self.scope.values {
            self.parts(value, &mut found);
        }
        found.retain(is_wanted);
        found
    }

    /// Declares the program's types, errors and type names.
    pub fn declare_types(&mut self) {
        for _ in 0..self.below(3) {
            let ty = self.number();
            let name = self.name("alias");
            let text = self.type_text(&ty);
            self.line(format!("typedef {text} {name};"));
            self.aliases.push((name, ty));
        }
        if self.once_in(2) {
            let names = [self.name("Trouble"), self.name("Trouble")];
            self.line(format!("error {{ {}, {} }}", names[0], names[1]));
            self.errors.extend(names);
        }
        if self.has(Feature::Enums) {
            self.declare_enums();
        }
        if self.has(Feature::NewTypes) {
            for _ in 0..self.rng.between(1, 2) {
                let ty = Ty::Bit(self.width());
                let name = self.name("New");
                let text = self.type_text(&ty);
                self.line(format!("type {text} {name};"));
                self.types.push(Declared { name, shape: Shape::NewType(ty) });
            }
        }
        if self.has(Feature::Structs) {
            self.declare_struct(2);
        }
        for _ in 0..self.rng.between(2, 4) {
            self.declare_header();
        }
        if self.has(Feature::Generics) {
            self.declare_generic_types();
        }
        if self.has(Feature::Varbit) {
            self.declare_varbit_header();
        }
        if self.has(Feature::Unions) {
            self.declare_union();
        }
        if self.has(Feature::Structs) {
            for _ in 0..self.rng.between(1, 2) {
                self.declare_struct(4);
            }
        }
    }

    fn declare_enums(&mut self) {
        let count = self.rng.between(1, 4);
        let members: Vec<String> = (0..count).map(|index| format!("m{index}")).collect();
        let name = self.name("Enum");
        self.line(format!("enum {name} {{ {} }}", members.join(", ")));
        self.types.push(Declared { name, shape: Shape::Enum(members) });
        let width = *self.rng.pick(&[1, 3, 8, 8, 16, 32]);
        let name = self.name("Serial");
        let mut text = format!("enum bit<{width}> {name} {{ ");
        let mut members = Vec::new();
        let mut used = Vec::new();
        for index in 0..self.rng.between(1, 4) {
            let value = self.rng.below(1 << width.min(6));
            if !used.contains(&value) {
                used.push(value);
                members.push(format!("s{index}"));
                let _ = write!(text, "s{index} = {value}, ");
            }
        }
        let text = text.trim_end_matches(", ").to_owned();
        self.line(format!("{text} }}"));
        self.types.push(Declared { name, shape: Shape::Serializable { width, members } });
    }

    fn declare_struct(&mut self, fields_max: u64) {
        let count = self.rng.between(1, fields_max);
        let fields: Vec<(String, Ty)> = (0..count).map(|_| (self.name("f"), self.any_type())).collect();
        self.declare_fields("struct", "Struct", fields, Shape::Struct);
    }

    /// A type that headers may contain, with its width.
    fn header_field(&mut self) -> (Ty, u32) {
        match self.below(12) {
            0 if self.has(Feature::Enums) => {
                let enums = self.declared(|shape| matches!(shape, Shape::Serializable { .. }));
                let ty = self.pick(&enums).unwrap_or(Ty::Bit(8));
                let width = self.width_of(&ty);
                (ty, width)
            }
            1 if self.has(Feature::NewTypes) => {
                let types = self.declared(|shape| matches!(shape, Shape::NewType(_)));
                let ty = self.pick(&types).unwrap_or(Ty::Bit(8));
                let width = self.width_of(&ty);
                (ty, width)
            }
            2 => (Ty::Bool, 1),
            _ => {
                let ty = self.number();
                let width = self.width_of(&ty);
                (ty, width)
            }
        }
    }

    /// The width of a scalar.
    pub fn width_of(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Bit(width) | Ty::Int(width) | Ty::Varbit(width) => *width,
            Ty::Bool => 1,
            Ty::Declared(_) => match self.shape(ty) {
                Some(Shape::Serializable { width, .. }) => *width,
                Some(Shape::NewType(inner)) => self.width_of(inner),
                _ => 0,
            },
            Ty::Error | Ty::Array(..) | Ty::Tuple(_) => 0,
        }
    }

    /// Random fields, padded to whole bytes.
    fn header_fields(&mut self, count_max: u64) -> Vec<(String, Ty)> {
        let mut fields = Vec::new();
        let mut total = 0;
        for _ in 0..self.rng.between(1, count_max) {
            let (ty, width) = self.header_field();
            total += width;
            fields.push((self.name("f"), ty));
        }
        if total % 8 != 0 {
            let position = self.below(fields.len() + 1);
            let name = self.name("f");
            fields.insert(position, (name, Ty::Bit(8 - total % 8)));
        }
        fields
    }

    fn declare_header(&mut self) {
        let fields = self.header_fields(6);
        self.declare_fields("header", "Header", fields, Shape::Header);
    }

    fn declare_varbit_header(&mut self) {
        let mut fields = self.header_fields(2);
        // The first field holds the length of the other.
        fields.insert(0, (self.name("f"), Ty::Bit(8)));
        let width = 8 * self.rng.between(1, 40) as u32;
        fields.push((self.name("v"), Ty::Varbit(width)));
        self.declare_fields("header", "Varied", fields, Shape::Header);
        if self.once_in(2) {
            self.declare_header_of_varbits(width);
        }
    }

    /// A header with several varbit fields, which cannot be extracted.
    fn declare_header_of_varbits(&mut self, width: u32) {
        let mut fields = self.header_fields(3);
        for _ in 0..self.rng.between(2, 3) {
            let position = self.below(fields.len() + 1);
            let name = self.name("v");
            fields.insert(position, (name, Ty::Varbit(width)));
        }
        self.declare_fields("header", "Several", fields, Shape::Header);
    }

    fn declare_union(&mut self) {
        let headers = self.declared(|shape| matches!(shape, Shape::Header(_)));
        let headers: Vec<Ty> = headers.into_iter().filter(|header| !self.has_varbit(header)).collect();
        let count = self.rng.between(1, headers.len().min(3) as u64);
        let mut fields = Vec::new();
        for _ in 0..count {
            let ty = self.rng.pick(&headers).clone();
            fields.push((self.name("u"), ty));
        }
        self.declare_fields("header_union", "Union", fields, Shape::Union);
    }

    pub fn declare_fields(
        &mut self,
        keyword: &str,
        stem: &str,
        fields: Vec<(String, Ty)>,
        shape: impl Fn(Vec<(String, Ty)>) -> Shape,
    ) -> Ty {
        let name = self.name(stem);
        self.annotation();
        self.open(format!("{keyword} {name} {{"));
        for (field, ty) in &fields {
            let text = self.type_text(ty);
            self.line(format!("{text} {field};"));
        }
        self.close("}");
        self.types.push(Declared { name, shape: shape(fields) });
        Ty::Declared(self.types.len() - 1)
    }
}
