//! Types as P4 text, for messages.

use crate::hir::*;
use crate::unify::is_variable;

impl Program {
    /// The type in P4 syntax.
    pub fn show_type(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Bool => "bool".into(),
            Type::Integer => "int".into(),
            Type::Bit(width) => format!("bit<{width}>"),
            Type::Int(width) => format!("int<{width}>"),
            Type::Varbit(width) => format!("varbit<{width}>"),
            Type::String => "string".into(),
            Type::Error => "error".into(),
            Type::MatchKind => "match_kind".into(),
            Type::Struct(id, args) => self.show_named(&self.structs[*id].name, args),
            Type::Enum(id) => self.enums[*id].name.to_string(),
            Type::NewType(id) => self.new_types[*id].name.to_string(),
            Type::Array(element, size) => format!("{}[{size}]", self.show_type(element)),
            Type::Tuple(elements) => format!("tuple<{}>", self.show_types(elements)),
            Type::List(element) => format!("list<{}>", self.show_type(element)),
            Type::Extern(id, args) => {
                let named = &self.externs[*id];
                self.show_generic(&named.name, &named.type_params, args)
            }
            Type::Parser(id, args) => {
                let named = &self.parsers[*id];
                self.show_generic(&named.name, &named.type_params, args)
            }
            Type::Control(id, args) => {
                let named = &self.controls[*id];
                self.show_generic(&named.name, &named.type_params, args)
            }
            Type::Apply(id, args) => {
                let named = &self.apply_types[*id];
                self.show_generic(&named.name, &named.type_params, args)
            }
            Type::Table(id) => format!("table {}", self.tables[*id].name),
            Type::ApplyResult(id) => format!("the result of {}.apply()", self.tables[*id].name),
            Type::ActionEnum(id) => format!("the actions of {}", self.tables[*id].name),
            Type::Action => "action".into(),
            Type::ValueSet(element) => format!("value_set<{}>", self.show_type(element)),
            Type::Set(element) => format!("set of {}", self.show_type(element)),
            Type::Param(id) if is_variable(*id) => "_".into(),
            Type::Param(id) => self.type_params[*id].name.to_string(),
            Type::Unknown => "unknown".into(),
        }
    }

    fn show_named(&self, name: &str, args: &[Type]) -> String {
        if args.is_empty() {
            return name.to_owned();
        }
        format!("{name}<{}>", self.show_types(args))
    }

    /// The type of a parser, control or extern object, without the types for each `_` of its declaration.
    fn show_generic(&self, name: &str, params: &[TypeParamId], args: &[Type]) -> String {
        self.show_named(name, &args[..self.named_count(params).min(args.len())])
    }

    /// Types, separated by commas.
    pub fn show_types(&self, types: &[Type]) -> String {
        types.iter().map(|ty| self.show_type(ty)).collect::<Vec<_>>().join(", ")
    }
}
