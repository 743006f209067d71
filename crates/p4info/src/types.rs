//! Types as P4Info represents them, and the named types that it describes.

use crate::annotations::{self, find, full_name};
use crate::codes;
use crate::mappings;
use base::OrderedMap;
use p4runtime_proto::p4::config::v1::{self, P4DataTypeSpec, P4NamedType, p4_data_type_spec::TypeSpec};
use sema::hir::{self, Type};
use syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, StructKind};
use syntax::{Diagnostic, Diagnostics};

/// The types described so far.
pub(crate) struct Types<'h, 'd> {
    pub program: &'h hir::Program,
    pub diagnostics: &'d mut Diagnostics,
    pub info: v1::P4TypeInfo,
    /// The names of the instances of generic structs, which are numbered.
    generic: OrderedMap<(hir::StructId, Vec<Type>), String>,
}

/// The bindings of type parameters.
pub(crate) type Bound = OrderedMap<hir::TypeParamId, Type>;

/// The controller's representation of a translated type.
enum SdnType {
    Bits(i32),
    Text,
}

impl<'h, 'd> Types<'h, 'd> {
    pub fn new(program: &'h hir::Program, diagnostics: &'d mut Diagnostics) -> Self {
        let generic = names_of_generic(program);
        Types { program, diagnostics, info: v1::P4TypeInfo::default(), generic }
    }

    /// Width in bits for controllers; 0 for text, and for values of zero width.
    pub fn width(&mut self, ty: &Type) -> i32 {
        match ty {
            Type::Bool => 1,
            Type::Bit(width) | Type::Int(width) => bits(*width),
            Type::NewType(id) => {
                let new_type = &self.program.new_types[*id];
                match self.translation(new_type) {
                    Some((_, SdnType::Bits(width))) => width,
                    Some((_, SdnType::Text)) => 0,
                    // A type that is not translated itself has the width of its values, whatever it contains.
                    None => {
                        let target = original(self.program, &new_type.target);
                        self.width(target)
                    }
                }
            }
            Type::Enum(id) => match &self.program.enums[*id].representation {
                Some(representation) => self.width(representation),
                None => 0,
            },
            _ => 0,
        }
    }

    /// The type name beside a value's width, if the type is declared with `type`. Adds the description of that type.
    pub fn named(&mut self, ty: &Type) -> Option<P4NamedType> {
        self.describe(ty);
        match ty {
            Type::NewType(id) => Some(self.name_of_new_type(*id)),
            _ => None,
        }
    }

    /// Adds the descriptions of all named types within a type.
    pub fn describe(&mut self, ty: &Type) {
        self.spec_of(ty, &Bound::new());
    }

    /// The complete type. None if P4Info cannot represent it.
    pub fn spec(&mut self, ty: &Type) -> Option<P4DataTypeSpec> {
        self.spec_of(ty, &Bound::new())
    }

    fn spec_of(&mut self, ty: &Type, bound: &Bound) -> Option<P4DataTypeSpec> {
        let spec = match ty {
            Type::Bool => TypeSpec::Bool(v1::P4BoolType {}),
            Type::Bit(_) | Type::Int(_) | Type::Varbit(_) => TypeSpec::Bitstring(bitstring(ty)?),
            Type::Error => {
                let members = self.program.errors.iter().map(|name| name.to_string()).collect();
                self.info.error.get_or_insert(v1::P4ErrorTypeSpec { members });
                TypeSpec::Error(v1::P4ErrorType {})
            }
            Type::Tuple(types) => {
                let members = types.iter().map(|ty| self.spec_of(ty, bound)).collect::<Option<_>>()?;
                TypeSpec::Tuple(v1::P4TupleTypeSpec { members })
            }
            Type::NewType(id) => {
                self.describe_new_type(*id)?;
                TypeSpec::NewType(self.name_of_new_type(*id))
            }
            Type::Enum(id) => self.enumeration(*id),
            Type::Struct(id, args) => {
                let args: Vec<Type> = args.iter().map(|arg| substituted(arg, bound)).collect();
                self.structure(*id, &args)?
            }
            Type::Array(element, size) => match self.spec_of(element, bound)?.type_spec? {
                TypeSpec::Header(header) => {
                    TypeSpec::HeaderStack(v1::P4HeaderStackTypeSpec { header: Some(header), size: bits(*size) })
                }
                TypeSpec::HeaderUnion(union) => TypeSpec::HeaderUnionStack(v1::P4HeaderUnionStackTypeSpec {
                    header_union: Some(union),
                    size: bits(*size),
                }),
                _ => return None,
            },
            Type::Param(id) => return self.spec_of(&bound.get(id)?.clone(), &Bound::new()),
            _ => return None,
        };
        Some(P4DataTypeSpec { type_spec: Some(spec) })
    }

    // ----------------------------------------------------------------------------------------------------- new types

    fn name_of_new_type(&self, id: hir::NewTypeId) -> P4NamedType {
        let new_type = &self.program.new_types[id];
        P4NamedType { name: full_name("", &new_type.name, &new_type.annotations) }
    }

    fn describe_new_type(&mut self, id: hir::NewTypeId) -> Option<()> {
        use v1::p4_new_type_spec::Representation;
        let new_type = &self.program.new_types[id];
        let name = self.name_of_new_type(id).name;
        if self.info.new_types.contains_key(&name) {
            return Some(());
        }
        // The underlying type may itself be a new type.
        let target = original(self.program, &new_type.target);
        let original = self.spec_of(target, &Bound::new())?;
        let representation = match self.translation(new_type) {
            None => Representation::OriginalType(original),
            Some((uri, sdn_type)) => {
                if !matches!(target, Type::Bit(_)) {
                    let message =
                        format!("type `{name}` is translated for controllers, but its values are not `bit<W>`");
                    self.diagnostics.push(Diagnostic::error(codes::TYPE, new_type.span, message));
                }
                use v1::p4_new_type_translation::{SdnString, SdnType as Proto};
                let sdn_type = Some(match sdn_type {
                    SdnType::Bits(width) => Proto::SdnBitwidth(width),
                    SdnType::Text => Proto::SdnString(SdnString {}),
                });
                Representation::TranslatedType(v1::P4NewTypeTranslation { uri, sdn_type })
            }
        };
        let listed = annotations::listed(self.program, &new_type.annotations, &["p4runtime_translation"]);
        let spec = v1::P4NewTypeSpec {
            representation: Some(representation),
            annotations: listed.plain,
            annotation_locations: Vec::new(),
            structured_annotations: listed.structured,
        };
        self.info.new_types.insert(name, spec);
        Some(())
    }

    /// The meaning of `@p4runtime_translation(uri, type)`.
    fn translation(&mut self, new_type: &hir::NewType) -> Option<(String, SdnType)> {
        let annotation = find(&new_type.annotations, "p4runtime_translation")?;
        let translation = read_translation(annotation);
        if translation.is_none() {
            let message = "`@p4runtime_translation` takes a string and a type: `bit<W>`, a number of bits, or `string`";
            self.diagnostics.push(Diagnostic::error(codes::ANNOTATION, annotation.span, message));
        }
        if let Some(annotation) = find(&new_type.annotations, mappings::NAME) {
            self.check_mappings(annotation, &new_type.target);
        }
        translation
    }

    /// Rejects mappings that cannot be parsed or that do not fit into the values' width.
    fn check_mappings(&mut self, annotation: &Annotation, target: &Type) {
        let read = mappings::of(&annotations::text_of(annotation)).flatten();
        let message = match (read, target) {
            (None, _) => mappings::EXPECTED.to_owned(),
            (Some(pairs), Type::Bit(width)) => match mappings::that_does_not_fit(pairs.iter(), *width) {
                Some((text, number)) => format!("{text:?} stands for {number}, which is not a `bit<{width}>`"),
                None => return,
            },
            (Some(_), _) => return,
        };
        self.diagnostics.push(Diagnostic::error(codes::ANNOTATION, annotation.span, message));
    }

    // --------------------------------------------------------------------------------------------- enums and structs

    fn enumeration(&mut self, id: hir::EnumId) -> TypeSpec {
        let declaration = &self.program.enums[id];
        let name = full_name("", &declaration.name, &declaration.annotations);
        let reference = P4NamedType { name: name.clone() };
        let Some(representation) = &declaration.representation else {
            let member = |(name, _): &(_, _)| v1::p4_enum_type_spec::Member {
                name: ToString::to_string(name),
                ..Default::default()
            };
            let members = declaration.members.iter().map(member).collect();
            self.info.enums.entry(name).or_insert(v1::P4EnumTypeSpec { members, ..Default::default() });
            return TypeSpec::Enum(reference);
        };
        let width = self.width(&representation.clone());
        let member = |(name, value): &(std::rc::Rc<str>, num_bigint::BigInt)| {
            let value = base::Bits::from_bigint(width.unsigned_abs(), value).to_be_bytes();
            v1::p4_serializable_enum_type_spec::Member { name: name.to_string(), value, ..Default::default() }
        };
        let members = declaration.members.iter().map(member).collect();
        let underlying_type = Some(v1::P4BitTypeSpec { bitwidth: width });
        let spec = v1::P4SerializableEnumTypeSpec { underlying_type, members, ..Default::default() };
        self.info.serializable_enums.entry(name).or_insert(spec);
        TypeSpec::SerializableEnum(reference)
    }

    fn structure(&mut self, id: hir::StructId, args: &[Type]) -> Option<TypeSpec> {
        let declaration = &self.program.structs[id];
        let name = self.name_of_struct(id, args);
        let reference = P4NamedType { name: name.clone() };
        let bound: Bound = declaration.type_params.iter().copied().zip(args.iter().cloned()).collect();
        let field_name = |field: &hir::Field| full_name("", &field.name, &field.annotations);
        match declaration.kind {
            StructKind::Struct => {
                if !self.info.structs.contains_key(&name) {
                    let mut members = Vec::new();
                    for field in &declaration.fields {
                        let type_spec = Some(self.spec_of(&field.ty, &bound)?);
                        members.push(v1::p4_struct_type_spec::Member { name: field_name(field), type_spec });
                    }
                    self.info.structs.insert(name, v1::P4StructTypeSpec { members, ..Default::default() });
                }
                Some(TypeSpec::Struct(reference))
            }
            StructKind::Header => {
                if !self.info.headers.contains_key(&name) {
                    let mut members = Vec::new();
                    for field in flat_fields(self.program, id, args) {
                        let type_spec = Some(bitstring(&self.underlying(&field.ty))?);
                        members.push(v1::p4_header_type_spec::Member { name: field.name, type_spec });
                    }
                    self.info.headers.insert(name, v1::P4HeaderTypeSpec { members, ..Default::default() });
                }
                Some(TypeSpec::Header(reference))
            }
            StructKind::HeaderUnion => {
                if !self.info.header_unions.contains_key(&name) {
                    let mut members = Vec::new();
                    for field in &declaration.fields {
                        let Some(TypeSpec::Header(header)) = self.spec_of(&field.ty, &bound)?.type_spec else {
                            return None;
                        };
                        let member =
                            v1::p4_header_union_type_spec::Member { name: field_name(field), header: Some(header) };
                        members.push(member);
                    }
                    self.info.header_unions.insert(name, v1::P4HeaderUnionTypeSpec { members, ..Default::default() });
                }
                Some(TypeSpec::HeaderUnion(reference))
            }
        }
    }

    /// The name of a struct; instances of a generic struct are numbered.
    fn name_of_struct(&mut self, id: hir::StructId, args: &[Type]) -> String {
        let declaration = &self.program.structs[id];
        let name = full_name("", &declaration.name, &declaration.annotations);
        if args.is_empty() {
            return name;
        }
        let names = &mut self.generic;
        add_generic(self.program, (id, args.to_vec()), names);
        names.get(&(id, args.to_vec())).cloned().unwrap_or(name)
    }

    /// The field of a header as a bit string.
    fn underlying(&self, ty: &Type) -> Type {
        match ty {
            Type::NewType(id) => self.underlying(&self.program.new_types[*id].target),
            Type::Enum(id) => match &self.program.enums[*id].representation {
                Some(representation) => self.underlying(representation),
                None => ty.clone(),
            },
            Type::Bool => Type::Bit(1),
            _ => ty.clone(),
        }
    }
}

/// The names of the instances of generic structs. They are numbered for each struct in the order in which the program
/// writes them; instances that occur only inside others come last.
fn names_of_generic(program: &hir::Program) -> OrderedMap<(hir::StructId, Vec<Type>), String> {
    let mut names = OrderedMap::new();
    let mut all: Vec<(hir::StructId, Vec<Type>)> = Vec::new();
    // The type arguments in a generic parser or control are only known where it is instantiated.
    let is_whole = |instance: &&(hir::StructId, Vec<Type>)| !instance.1.iter().any(has_parameter);
    let mut written: Vec<_> = program.generic_structs.iter().collect();
    written.sort_by_key(|(_, place)| **place);
    for instance in written.into_iter().map(|(instance, _)| instance).filter(is_whole) {
        if add_generic(program, instance.clone(), &mut names) {
            all.push(instance.clone());
        }
    }
    // The loop appends the instances inside each element, so the list grows.
    let mut next = 0;
    while let Some((id, args)) = all.get(next).cloned() {
        next += 1;
        let declaration = &program.structs[id];
        let bound: Bound = declaration.type_params.iter().copied().zip(args).collect();
        for field in &declaration.fields {
            if let Type::Struct(inner, args) = substituted(&field.ty, &bound)
                && !args.is_empty()
                && all.len() < GENERIC_MAX
                && add_generic(program, (inner, args.clone()), &mut names)
            {
                all.push((inner, args));
            }
        }
    }
    names
}

/// The most instances of generic structs that are searched for others.
const GENERIC_MAX: usize = 10_000;

/// Names an instance with its struct's next number for which no other struct has the name; false if it is named
/// already.
fn add_generic(
    program: &hir::Program,
    instance: (hir::StructId, Vec<Type>),
    names: &mut OrderedMap<(hir::StructId, Vec<Type>), String>,
) -> bool {
    if names.contains_key(&instance) {
        return false;
    }
    let declaration = &program.structs[instance.0];
    let base = full_name("", &declaration.name, &declaration.annotations);
    let first = names.keys().filter(|(other, _)| *other == instance.0).count();
    let is_free = |name: &String| {
        program.structs.iter().all(|it| *it.name != **name) && names.values().all(|other| other != name)
    };
    let mut numbered = (first..=first + program.structs.len() + names.len()).map(|number| format!("{base}_{number}"));
    let name = numbered.find(is_free).unwrap_or(base);
    names.insert(instance, name);
    true
}

/// The underlying type of a `type` declaration, resolved completely.
fn original<'h>(program: &'h hir::Program, mut ty: &'h Type) -> &'h Type {
    while let Type::NewType(id) = ty {
        ty = &program.new_types[*id].target;
    }
    ty
}

/// A field of a header; the name of a field in a nested struct contains both names.
pub(crate) struct FlatField<'h> {
    pub name: String,
    pub ty: Type,
    pub annotations: Vec<&'h Annotation>,
}

/// The fields of a header, with those of nested structs. An annotation of an inner field takes precedence over one of
/// the same name on the outer field.
pub(crate) fn flat_fields<'h>(program: &'h hir::Program, id: hir::StructId, args: &[Type]) -> Vec<FlatField<'h>> {
    let declaration = &program.structs[id];
    let bound: Bound = declaration.type_params.iter().copied().zip(args.iter().cloned()).collect();
    let mut flat = Vec::new();
    for field in &declaration.fields {
        match substituted(&field.ty, &bound) {
            Type::Struct(inner, args) => {
                for mut inner in flat_fields(program, inner, &args) {
                    inner.name = format!("{}.{}", field.name, inner.name);
                    let is_new =
                        |outer: &&Annotation| inner.annotations.iter().all(|it| it.name.name != outer.name.name);
                    let outer: Vec<&Annotation> = field.annotations.iter().filter(is_new).collect();
                    inner.annotations.extend(outer);
                    flat.push(inner);
                }
            }
            ty => flat.push(FlatField {
                name: full_name("", &field.name, &field.annotations),
                ty,
                annotations: field.annotations.iter().collect(),
            }),
        }
    }
    flat
}

fn read_translation(annotation: &Annotation) -> Option<(String, SdnType)> {
    let AnnotationBody::Unstructured { tokens, .. } = &annotation.body else { return None };
    let [uri, comma, ty @ ..] = &tokens[..] else { return None };
    if uri.kind != AnnotationTokenKind::String || &*comma.text != "," {
        return None;
    }
    let ty: Vec<&str> = ty.iter().map(|token| &*token.text).collect();
    let width = |text: &str| text.parse().ok().filter(|width: &i32| *width > 0);
    let sdn_type = match ty[..] {
        ["string"] => SdnType::Text,
        [bits] => SdnType::Bits(width(bits)?),
        ["bit", "<", bits, ">"] => SdnType::Bits(width(bits)?),
        _ => return None,
    };
    Some((uri.text.to_string(), sdn_type))
}

fn bitstring(ty: &Type) -> Option<v1::P4BitstringLikeTypeSpec> {
    use v1::p4_bitstring_like_type_spec::TypeSpec;
    let type_spec = match ty {
        Type::Bit(width) => TypeSpec::Bit(v1::P4BitTypeSpec { bitwidth: bits(*width) }),
        Type::Int(width) => TypeSpec::Int(v1::P4IntTypeSpec { bitwidth: bits(*width) }),
        Type::Varbit(width) => TypeSpec::Varbit(v1::P4VarbitTypeSpec { max_bitwidth: bits(*width) }),
        _ => return None,
    };
    Some(v1::P4BitstringLikeTypeSpec { type_spec: Some(type_spec), ..Default::default() })
}

/// A type with its type parameters replaced.
pub(crate) fn substituted(ty: &Type, bound: &Bound) -> Type {
    let all = |types: &[Type]| types.iter().map(|ty| substituted(ty, bound)).collect();
    match ty {
        Type::Param(id) => bound.get(id).cloned().unwrap_or(Type::Unknown),
        Type::Struct(id, args) => Type::Struct(*id, all(args)),
        Type::Extern(id, args) => Type::Extern(*id, all(args)),
        Type::Tuple(types) => Type::Tuple(all(types)),
        Type::Array(element, size) => Type::Array(Box::new(substituted(element, bound)), *size),
        _ => ty.clone(),
    }
}

/// Whether a type parameter occurs in a type.
fn has_parameter(ty: &Type) -> bool {
    match ty {
        Type::Param(_) => true,
        Type::Struct(_, types) | Type::Tuple(types) => types.iter().any(has_parameter),
        Type::Array(element, _) => has_parameter(element),
        _ => false,
    }
}

/// Converts a width or size. The compiler's limits are far below the field's maximum.
fn bits(width: u32) -> i32 {
    width.try_into().unwrap_or(i32::MAX)
}
