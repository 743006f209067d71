//! Display formats of values, from the types in the program's text.
//!
//! What enters: the syntax tree of a program. What leaves: for a header's field, a path such as `meta.next_hop` or an
//! action's parameter, the format in which P4Info would announce it: an address, or a plain number. A `typedef` says
//! what a value is, but the checked program no longer contains it. If the text only says `bit<32>`, there is no
//! format here either.

use p4runtime_proto::p4::config::v1::P4Info;
use std::collections::{BTreeMap, BTreeSet};
use syntax::ast::{self, Declaration, DeclarationKind, Parameter, TypeKind, TypedefTarget};

/// The most typedefs of typedefs that are resolved.
const CHAIN_MAX: usize = 16;

/// A format, as in `@format` of P4Info. `DECIMAL` is ours: a number that is not an address whatever its name is.
pub type Format = &'static str;

/// The named types in a program's text.
#[derive(Clone, Debug, Default)]
pub struct WrittenTypes {
    /// The names that typedefs denote.
    typedefs: BTreeMap<String, String>,
    /// All typedefs.
    aliases: BTreeSet<String>,
    /// The type of each field of each struct and header.
    fields: BTreeMap<(String, String), String>,
    /// The types of the parameters of parsers and controls, by their names.
    roots: BTreeMap<String, String>,
    /// The types of the parameters of actions.
    parameters: BTreeMap<(String, String), String>,
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
                    if let Some(ty) = type_name(&field.type_ref) {
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
        for action in &mut info.actions {
            let name = action.preamble.as_ref().map_or("", |preamble| &preamble.name).to_owned();
            for parameter in &mut action.params {
                let format = self.of_parameter(&name, &parameter.name, width(parameter.bitwidth));
                add(&mut parameter.annotations, format);
            }
        }
    }
}

/// A format as an annotation.
pub fn annotation(format: Format) -> String {
    format!("@format({format})")
}

fn named(parameters: &[Parameter]) -> impl Iterator<Item = (String, String)> {
    let of = |it: &Parameter| Some((it.name.as_str().to_owned(), type_name(&it.type_ref)?));
    parameters.iter().filter_map(of)
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
    use crate::args::SourceArguments;
    use crate::frontend;
    use std::path::Path;
    use syntax::MemoryFiles;

    fn types(text: &str) -> WrittenTypes {
        let path = Path::new("p.p4");
        let files = MemoryFiles::new().with(path, text);
        WrittenTypes::of(&frontend::parse_from(path, &SourceArguments::plain(), &files).tree)
    }

    #[test]
    fn types_say_what_names_do_not() {
        let types = types(
            "typedef bit<32> ip4Addr_t; typedef ip4Addr_t hop_t; typedef bit<48> mac_t; typedef bit<48> time_t;
             typedef bit<32> count_t; type bit<32> tagged_ip;
             header ipv4_t { ip4Addr_t dst; count_t ip_count; bit<32> addr; }
             struct headers_t { ipv4_t ipv4; ipv4_t[2] inner; }
             struct meta_t { hop_t next; mac_t station; time_t seen; tagged_ip who; }
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
        // The text says no more than the width.
        assert_eq!(path("hdr.ipv4.addr", 32), None);
        assert_eq!(path("hdr.ipv6.dst", 128), None);
        assert_eq!(types.of_field("ipv4_t", "dst", 32), Some("IPV4_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "to", 48), Some("MAC_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "hop", 32), Some("IPV4_ADDRESS"));
        assert_eq!(types.of_parameter("C.forward", "port", 9), None);
    }

    #[test]
    fn typedefs_in_a_circle_end() {
        let types = types("typedef a b; typedef b a; struct s { a x; } control C(in s m) { apply { } }");
        assert_eq!(types.of_path("m.x", 32), Some("DECIMAL"));
    }
}
