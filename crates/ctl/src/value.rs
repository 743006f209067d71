//! Values: from text as users write it to P4Runtime's bytes, and back.
//!
//! Numbers and addresses are read and shown by [`values`]; what is added here are the representations that only
//! controllers see: text that the switch translates, and names of enum members.

use crate::schema::Schema;
use base::{Bits, MatchKind};
use control::Problem;
use ir::Type;
use p4runtime_proto::p4::config::v1;
use values::{Style, ValueTarget, canonical, declared_format};

/// The most steps when type names are resolved: a hostile P4Info could contain a cycle.
const NAMES_MAX: usize = 16;

/// The type of a value.
#[derive(Clone, Debug)]
pub struct ValueType<'a> {
    /// The role of the value: `key`, `parameter`, ...
    pub role: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its width in bits; 0 for text.
    pub width_bits: u32,
    /// Its representation for controllers.
    pub form: Form<'a>,
    style: Style,
}

/// The representation of a value for controllers.
#[derive(Clone, Debug)]
pub enum Form<'a> {
    /// A number.
    Bits,
    /// Text, which the switch translates.
    Text,
    /// A number whose values have names.
    Members(Vec<(&'a str, &'a [u8])>),
}

/// The description of a value in a P4Info: width, type name, annotations.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The width in bits.
    pub bitwidth: i32,
    /// The name of its type.
    pub type_name: Option<&'a v1::P4NamedType>,
    /// Its annotations.
    pub annotations: &'a [String],
}

impl<'a> ValueType<'a> {
    /// The type of a parameter or field of this name.
    pub fn new(schema: &'a Schema, role: &'static str, name: &'a str, said: Said<'a>) -> ValueType<'a> {
        let mut width_bits = u32::try_from(said.bitwidth).unwrap_or(0).min(base::limits::WIDTH_BITS_MAX);
        let mut form = Form::Bits;
        if let Some(named) = said.type_name {
            resolve(schema, &named.name, &mut width_bits, &mut form);
        }
        let style = Style::of(name, width_bits, declared_format(said.annotations));
        ValueType { role, name, width_bits, form, style }
    }

    /// The type of a key of this name and match kind.
    pub fn of_key(schema: &'a Schema, name: &'a str, said: Said<'a>, kind: Option<MatchKind>) -> ValueType<'a> {
        let ty = ValueType::new(schema, "key", name, said);
        ValueType { style: Style::of_key(name, ty.width_bits, declared_format(said.annotations), kind), ..ty }
    }

    /// The type of data in a register or digest, with the annotation that specifies its format.
    pub fn of_data(name: &'a str, width_bits: u32, form: Form<'a>, format: Option<&String>) -> ValueType<'a> {
        let annotations = format.map_or(&[][..], std::slice::from_ref);
        let style = Style::of_data(name, width_bits, declared_format(annotations));
        ValueType { role: "value", name, width_bits, form, style }
    }

    /// Whether it has no bits: its only value is 0.
    pub fn is_empty(&self) -> bool {
        self.width_bits == 0 && matches!(self.form, Form::Bits)
    }

    /// Parses a number.
    pub fn bits(&self, text: &str) -> Result<Bits, Problem> {
        values::value(text, &self.target(text))
    }

    /// What [`values`] reads this text as.
    pub fn target(&self, text: &str) -> ValueTarget<'_> {
        // A P4Info does not record which values are signed.
        let ty = match self.width_bits {
            1 => Type::Bool,
            width if text.starts_with('-') => Type::Int(width),
            width => Type::Bit(width),
        };
        ValueTarget { role: self.role, name: self.name, ty }
    }

    /// Parses a value into bytes.
    pub fn read(&self, text: &str) -> Result<Vec<u8>, Problem> {
        match &self.form {
            Form::Bits => self.bits(text).map(|bits| values::bytes(&bits)),
            Form::Text if text.is_empty() => {
                Err(Problem::new(format!("{} {} is text, not empty", self.role, self.name)))
            }
            Form::Text => Ok(text.as_bytes().to_vec()),
            Form::Members(members) => {
                let short = text.rsplit('.').next().unwrap_or(text);
                if let Some((_, value)) = members.iter().find(|(name, _)| *name == text || *name == short) {
                    return Ok(canonical(value));
                }
                self.bits(text).map(|bits| values::bytes(&bits)).map_err(|problem| {
                    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
                    let help = format!("its values are {}", control::names::listed(text, &names));
                    Problem { help: Some(help), ..problem }
                })
            }
        }
    }

    /// Formats a value so that it parses to the same value.
    pub fn show(&self, value: &[u8]) -> String {
        match &self.form {
            Form::Text => crate::words::quoted(&String::from_utf8_lossy(value)),
            Form::Members(members) => {
                let is_this = |(_, bytes): &&(&str, &[u8])| canonical(bytes) == canonical(value);
                members
                    .iter()
                    .find(is_this)
                    .map_or_else(|| self.style.show_bytes(value), |(name, _)| (*name).to_owned())
            }
            Form::Bits => self.style.show_bytes(value),
        }
    }

    /// Formats a value that has a mask, or the mask: as an address if the value is one, else in hexadecimal.
    pub fn show_masked(&self, value: &[u8]) -> String {
        self.style.masked().show_bytes(value)
    }
}

/// Resolves the name of a type to the representation for controllers.
fn resolve<'a>(schema: &'a Schema, name: &'a str, width_bits: &mut u32, form: &mut Form<'a>) {
    use v1::{p4_data_type_spec::TypeSpec, p4_new_type_spec::Representation, p4_new_type_translation::SdnType};
    let types = schema.types();
    let mut name = name;
    for _ in 0..NAMES_MAX {
        if let Some(it) = types.serializable_enums.get(name) {
            let members = it.members.iter().map(|member| (&*member.name, &*member.value)).collect();
            *form = Form::Members(members);
            return;
        }
        match types.new_types.get(name).and_then(|it| it.representation.as_ref()) {
            Some(Representation::TranslatedType(translated)) => {
                match translated.sdn_type {
                    Some(SdnType::SdnBitwidth(bits)) => *width_bits = u32::try_from(bits).unwrap_or(*width_bits),
                    Some(SdnType::SdnString(_)) => *form = Form::Text,
                    None => {}
                }
                return;
            }
            Some(Representation::OriginalType(spec)) => match &spec.type_spec {
                Some(TypeSpec::NewType(next) | TypeSpec::SerializableEnum(next)) => name = &next.name,
                _ => return,
            },
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Parses the text as a value of this name and width, and formats it again.
    fn check(name: &str, bitwidth: i32, text: &str, expected: Expect) {
        let schema = Schema::default();
        let said = Said { bitwidth, type_name: None, annotations: &[] };
        let ty = ValueType::new(&schema, "key", name, said);
        let shown = match ty.read(text) {
            Ok(bytes) => format!("{bytes:02x?} {}", ty.show(&bytes)),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn bytes_are_as_few_as_the_number_needs() {
        check("meta.x", 16, "0", expect!["[00] 0"]);
        check("meta.x", 16, "255", expect!["[ff] 255"]);
        check("meta.x", 16, "0x0100", expect!["[01, 00] 256"]);
        check("meta.x", 9, "512", expect!["512 needs 10 bits, key meta.x has 9"]);
    }

    #[test]
    fn negative_numbers_are_their_bits() {
        check("meta.x", 8, "-1", expect!["[ff] 255"]);
        check("meta.x", 8, "-129", expect!["-129 is not between -128 and 127, the values of key meta.x"]);
    }

    #[test]
    fn addresses_are_shown_as_addresses() {
        // Names mean nothing, in either direction.
        check("hdr.ipv4.ip_len", 32, "10.0.0.1", expect!["[0a, 00, 00, 01] 167772161"]);
        check("hdr.ipv4.dstAddr", 32, "10.0.0.1", expect!["[0a, 00, 00, 01] 167772161"]);
        check("hdr.ethernet.dstAddr", 48, "00:00:00:00:01:02", expect!["[01, 02] 00:00:00:00:01:02"]);
        check("meta.time", 48, "7", expect!["[07] 00:00:00:00:00:07"]);
        check("hdr.ipv6.dst", 128, "::1", expect!["[01] ::1"]);
        check("hdr.ethernet.etherType", 16, "2048", expect!["[08, 00] 0x800"]);
        check("meta.wide", 100, "1", expect!["[01] 0x1"]);
    }
}
