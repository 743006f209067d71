//! Display formats of values, from the types in the program's text.
//!
//! What enters: the syntax tree of a program. What leaves: for a header's field, a path such as `meta.next_hop` or an
//! action's parameter, the format in which P4Info would announce it: an address, or a plain number. A `typedef` says
//! what a value is, but the checked program no longer contains it. If the text only says `bit<32>`, there is no
//! format here either; a `bit<48>` of a struct, which may be a time as well as an address, is a number.

use base::{OrderedMap, OrderedSet};
use p4runtime_proto::p4::config::v1::p4_data_type_spec::TypeSpec as Spec;
use p4runtime_proto::p4::config::v1::{P4BitstringLikeTypeSpec, P4DataTypeSpec, P4Info, p4_bitstring_like_type_spec};
use syntax::ast::{self, Declaration, DeclarationKind, Parameter, StructKind, TypeKind, TypedefTarget};

/// The most typedefs of typedefs that are resolved.
const CHAIN_MAX: usize = 16;

/// A format, as in `@format` of P4Info. `DECIMAL` is ours: a number that is not an address whatever its name is.
pub type Format = &'static str;

/// Stands for a type without a name, of a struct's field.
const PLAIN: &str = "";

/// The named types in a program's text.
#[derive(Clone, Debug, Default)]
pub struct WrittenTypes {
    /// The names that typedefs denote.
    typedefs: OrderedMap<String, String>,
    /// All typedefs.
    aliases: OrderedSet<String>,
    /// The type of each field of each struct and header.
    fields: OrderedMap<(String, String), String>,
    /// The types of the parameters of parsers and controls, by their names.
    roots: OrderedMap<String, String>,
    /// The types of the cells of registers.
    registers: OrderedMap<String, String>,
    /// The types of the parameters of actions.
    parameters: OrderedMap<(String, String), String>,
}

impl WrittenTypes {
    /// The types in a program.
    pub fn of(tree: &ast::Program) -> WrittenTypes {
        let mut types = WrittenTypes::default();
        types.declarations(&tree.declarations);
        types
    }

    fn declarations(&mut self, declarations: &[Declaration]) {
        declarations.iter().for_each(|declaration| self.declaration(&declaration.kind));
    }

    fn declaration(&mut self, kind: &DeclarationKind) {
        match kind {
            DeclarationKind::Struct(it) => {
                for field in &it.fields {
                    let plain = (it.kind == StructKind::Struct).then(|| PLAIN.to_owned());
                    if let Some(ty) = type_name(&field.type_ref).or(plain) {
                        self.fields.insert((it.name.as_str().to_owned(), field.name.as_str().to_owned()), ty);
                    }
                }
            }
            DeclarationKind::Typedef(it) => {
                let name = it.name.as_str().to_owned();
                match &it.target {
                    TypedefTarget::Type(ty) => {
                        type_name(ty).into_iter().for_each(|target| drop(self.typedefs.insert(name.clone(), target)));
                    }
                    TypedefTarget::Declaration(inner) => self.declaration(&inner.kind),
                }
                self.aliases.insert(name);
            }
            DeclarationKind::Instantiation(it) => {
                if let Some(ty) = cell_type(&it.type_ref) {
                    self.registers.insert(it.name.as_str().to_owned(), ty);
                }
            }
            DeclarationKind::Action(it) => {
                for (parameter, ty) in named(&it.parameters) {
                    self.parameters.insert((it.name.as_str().to_owned(), parameter), ty);
                }
            }
            DeclarationKind::Parser(it) => {
                self.add_roots(&it.signature.parameters);
                self.declarations(&it.locals);
            }
            DeclarationKind::Control(it) => {
                self.add_roots(&it.signature.parameters);
                self.declarations(&it.locals);
            }
            _ => {}
        }
    }

    fn add_roots(&mut self, parameters: &[Parameter]) {
        for (parameter, ty) in named(parameters) {
            self.roots.entry(parameter).or_insert(ty);
        }
    }

    /// The format of a field of a header type.
    pub fn of_field(&self, header_type: &str, field: &str, width_bits: u32) -> Option<Format> {
        self.format(self.field(header_type, field)?, width_bits)
    }

    /// The format of a path such as `hdr.ipv4.dstAddr`.
    pub fn of_path(&self, path: &str, width_bits: u32) -> Option<Format> {
        let mut parts = path.split('.').map(|part| part.split('[').next().unwrap_or(part));
        let mut ty = self.roots.get(parts.next()?)?.as_str();
        for part in parts {
            ty = self.field(self.resolved(ty), part)?;
        }
        self.format(ty, width_bits)
    }

    /// The format of an action's parameter; the action by its full name.
    pub fn of_parameter(&self, action: &str, parameter: &str, width_bits: u32) -> Option<Format> {
        let action = action.rsplit('.').next().unwrap_or(action).to_owned();
        self.format(self.parameters.get(&(action, parameter.to_owned()))?, width_bits)
    }

    fn field(&self, record: &str, field: &str) -> Option<&str> {
        self.fields.get(&(record.to_owned(), field.to_owned())).map(String::as_str)
    }

    /// The name with all typedefs resolved.
    fn resolved<'a>(&'a self, name: &'a str) -> &'a str {
        self.chain(name).last().unwrap_or(name)
    }

    /// A name, the type that it denotes, and so on.
    fn chain<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::successors(Some(name), |name| self.typedefs.get(*name).map(String::as_str)).take(CHAIN_MAX)
    }

    /// The format of values of a type with this name.
    fn format(&self, ty: &str, width_bits: u32) -> Option<Format> {
        if ty == PLAIN {
            return (width_bits == 48).then_some("DECIMAL");
        }
        if !self.aliases.contains(ty) {
            return None;
        }
        let names: Vec<String> = self.chain(ty).map(str::to_ascii_lowercase).collect();
        let says = |words: &[&str]| names.iter().any(|name| words.iter().any(|word| name.contains(word)));
        let is_address = says(&["addr", "ipv4", "ip4", "ipv6", "ip6", "ip_"])
            || names.iter().any(|name| name.starts_with("ip") || name.ends_with("ip"));
        match width_bits {
            48 if !says(&["time", "stamp"]) => Some("MAC_ADDRESS"),
            32 if is_address => Some("IPV4_ADDRESS"),
            128 if is_address => Some("IPV6_ADDRESS"),
            32 | 48 => Some("DECIMAL"),
            128 => Some("HEX_STRING"),
            _ => None,
        }
    }

    /// Adds the formats to a P4Info where it has none.
    pub fn annotate(&self, info: &mut P4Info) {
        let add = |annotations: &mut Vec<String>, format: Option<Format>| {
            if let (Some(format), false) = (format, annotations.iter().any(|it| it.trim().starts_with("@format("))) {
                annotations.push(annotation(format));
            }
        };
        let width = |bitwidth: i32| u32::try_from(bitwidth).unwrap_or(0);
        for table in &mut info.tables {
            for field in &mut table.match_fields {
                add(&mut field.annotations, self.of_path(&field.name, width(field.bitwidth)));
            }
        }
        let data = |spec: &mut Option<P4DataTypeSpec>, ty: Option<&str>| {
            if let (Some(Spec::Bitstring(it)), Some(ty)) = (spec.as_mut().and_then(|it| it.type_spec.as_mut()), ty) {
                let format = self.format(ty, bitwidth(it));
                add(&mut it.annotations, format);
            }
        };
        for register in &mut info.registers {
            let name = register.preamble.as_ref().map_or("", |preamble| &preamble.name);
            let ty = self.registers.get(name.rsplit('.').next().unwrap_or(name));
            data(&mut register.type_spec, ty.map(String::as_str));
        }
        for (record, spec) in info.type_info.iter_mut().flat_map(|it| &mut it.structs) {
            for member in &mut spec.members {
                data(&mut member.type_spec, self.field(record, &member.name));
            }
        }
        for action in &mut info.actions {
            let name = action.preamble.as_ref().map_or("", |preamble| &preamble.name).to_owned();
            for parameter in &mut action.params {
                let format = self.of_parameter(&name, &parameter.name, width(parameter.bitwidth));
                add(&mut parameter.annotations, format);
            }
        }
    }
}

fn bitwidth(spec: &P4BitstringLikeTypeSpec) -> u32 {
    match &spec.type_spec {
        Some(p4_bitstring_like_type_spec::TypeSpec::Bit(it)) => u32::try_from(it.bitwidth).unwrap_or(0),
        _ => 0,
    }
}

/// A format as an annotation.
fn annotation(format: Format) -> String {
    format!("@format({format})")
}

fn named(parameters: &[Parameter]) -> impl Iterator<Item = (String, String)> {
    let of = |it: &Parameter| Some((it.name.as_str().to_owned(), type_name(&it.type_ref)?));
    parameters.iter().filter_map(of)
}

/// The name of the type of a register's cells, if the declaration is one.
fn cell_type(ty: &ast::Type) -> Option<String> {
    match &ty.kind {
        TypeKind::Specialized { base, arguments } if matches!(base.name.as_str(), "register" | "Register") => {
            type_name(arguments.first()?)
        }
        _ => None,
    }
}

/// The name of a type, or of the elements of an array; none for one without a name.
fn type_name(ty: &ast::Type) -> Option<String> {
    match &ty.kind {
        TypeKind::Named(path) => Some(path.name.as_str().to_owned()),
        TypeKind::Specialized { base, .. } => Some(base.name.as_str().to_owned()),
        TypeKind::Array { element, .. } => type_name(element),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4runtime_proto::p4::config::v1;
    use std::path::Path;
    use syntax::MemoryFiles;
    use wirespeed::{Options, Source};

    fn types(text: &str) -> WrittenTypes {
        let path = Path::new("p.p4");
        let files = MemoryFiles::new().with(path, text);
        WrittenTypes::of(&Source::read(path, &Options::default(), &files).tree)
    }

    #[test]
    fn types_say_what_names_do_not() {
        let types = types(
            "typedef bit<32> ip4Addr_t; typedef ip4Addr_t hop_t; typedef bit<48> mac_t; typedef bit<48> time_t;
             typedef bit<32> count_t; type bit<32> tagged_ip;
             header ipv4_t { ip4Addr_t dst; count_t ip_count; bit<32> addr; }
             struct headers_t { ipv4_t ipv4; ipv4_t[2] inner; }
             struct meta_t { hop_t next; mac_t station; time_t seen; tagged_ip who; bit<48> plain_mac; }
             control C(inout headers_t hdr, inout meta_t meta) {
                 action forward(mac_t to, bit<9> port, hop_t hop) { }
                 apply { }
             }",
        );
        let path = |path, width| types.of_path(path, width);
        assert_eq!(path("hdr.ipv4.dst", 32), Some("IPV4_ADDRESS"));
        assert_eq!(path("hdr.inner[1].dst", 32), Some("IPV4_ADDRESS"));
        assert_eq!(path("meta.next", 32), Some("IPV4_ADDRESS"));
        assert_eq!(path("meta.who", 32), Some("IPV4_ADDRESS"));
        assert_eq!(path("hdr.ipv4.ip_count", 32), Some("DECIMAL"));
        assert_eq!(path("meta.station", 48), Some("MAC_ADDRESS"));
        assert_eq!(path("meta.seen", 48), Some("DECIMAL"));
        assert_eq!(path("meta.plain_mac", 48), Some("DECIMAL"), "it may be a time");
        // The text has no more than the width.
        assert_eq!(path("hdr.ipv4.addr", 32), None);
        assert_eq!(path("hdr.ipv6.dst", 128), None);
        assert_eq!(types.of_field("ipv4_t", "dst", 32), Some("IPV4_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "to", 48), Some("MAC_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "hop", 32), Some("IPV4_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "port", 9), None);
    }

    #[test]
    fn registers_and_digests_have_formats() {
        let path = Path::new("p.p4");
        let text = "typedef bit<32> ip4Addr_t; struct learn_t { ip4Addr_t who; bit<32> ip_len; }
                    control C() { register<ip4Addr_t>(8) last; register<bit<32>>(8) ip_addr; apply { } }";
        let files = MemoryFiles::new().with(path, text);
        let types = WrittenTypes::of(&Source::read(path, &Options::default(), &files).tree);
        let bits = |bitwidth| {
            let bit = p4_bitstring_like_type_spec::TypeSpec::Bit(v1::P4BitTypeSpec { bitwidth });
            let bits = P4BitstringLikeTypeSpec { type_spec: Some(bit), ..Default::default() };
            Some(P4DataTypeSpec { type_spec: Some(Spec::Bitstring(bits)) })
        };
        let register = |name: &str| {
            let preamble = Some(v1::Preamble { name: name.to_owned(), ..Default::default() });
            v1::Register { preamble, type_spec: bits(32), ..Default::default() }
        };
        let member = |name: &str| v1::p4_struct_type_spec::Member { name: name.to_owned(), type_spec: bits(32) };
        let learn = v1::P4StructTypeSpec { members: vec![member("who"), member("ip_len")], ..Default::default() };
        let mut info = P4Info { registers: vec![register("C.last"), register("C.ip_addr")], ..Default::default() };
        info.type_info.get_or_insert_default().structs.insert("learn_t".to_owned(), learn);
        types.annotate(&mut info);
        let format = |spec: &Option<P4DataTypeSpec>| match spec.as_ref().and_then(|it| it.type_spec.as_ref()) {
            Some(Spec::Bitstring(it)) => it.annotations.concat(),
            _ => String::new(),
        };
        let registers: Vec<String> = info.registers.iter().map(|it| format(&it.type_spec)).collect();
        assert_eq!(registers, ["@format(IPV4_ADDRESS)", ""]);
        let members = &info.type_info.unwrap().structs["learn_t"].members;
        assert_eq!(members.iter().map(|it| format(&it.type_spec)).collect::<Vec<_>>(), ["@format(IPV4_ADDRESS)", ""]);
    }

    #[test]
    fn typedefs_in_a_circle_end() {
        let types = types("typedef a b; typedef b a; struct s { a x; } control C(in s m) { apply { } }");
        assert_eq!(types.of_path("m.x", 32), Some("DECIMAL"));
    }
}
