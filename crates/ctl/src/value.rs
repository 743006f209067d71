//! Values: from text as users write it to P4Runtime's bytes, and back.
//!
//! Parsing is done by `control::values`: numbers and addresses, which are refused if they do not fit. Bytes are
//! canonical: as few as the number needs. Values are shown as their type and width suggest (an address as an
//! address), and always in a form that parses to the same value. Names of fields mean nothing.

use crate::schema::Schema;
use base::Bits;
use control::Problem;
use control::values::{self, ValueTarget};
use ir::Type;
use p4runtime_proto::p4::config::v1;
use std::net::{Ipv4Addr, Ipv6Addr};

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
    /// Whether the program specifies the format in which it is shown.
    has_format: bool,
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

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Decimal,
    Hexadecimal,
    Ipv4,
    Ipv6,
    Mac,
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
    /// The type of a key, parameter or field of this name.
    pub fn new(schema: &'a Schema, role: &'static str, name: &'a str, said: Said<'a>) -> ValueType<'a> {
        let mut width_bits = u32::try_from(said.bitwidth).unwrap_or(0).min(base::limits::WIDTH_BITS_MAX);
        let mut form = Form::Bits;
        if let Some(named) = said.type_name {
            resolve(schema, &named.name, &mut width_bits, &mut form);
        }
        let style = style(name, width_bits, said.annotations);
        ValueType { role, name, width_bits, form, style, has_format: declared_format(said.annotations).is_some() }
    }

    /// The type of data in a register or digest, with the annotation that specifies its format.
    pub fn of_data(name: &'a str, width_bits: u32, form: Form<'a>, format: Option<&String>) -> ValueType<'a> {
        let annotations = format.map_or(&[][..], std::slice::from_ref);
        let has_format = declared_format(annotations).is_some();
        let style = match style(name, width_bits, annotations) {
            // 48-bit data are often times.
            Style::Mac if !has_format => Style::Decimal,
            Style::Ipv6 if !has_format => Style::Hexadecimal,
            style => style,
        };
        ValueType { role: "value", name, width_bits, form, style, has_format }
    }

    /// The same type for a key that is matched by prefix: 32 bits are shown as an IPv4 address, unless the program
    /// specifies another format.
    pub fn of_prefixes(self) -> ValueType<'a> {
        let is_address = self.width_bits == 32 && !self.has_format;
        ValueType { style: if is_address { Style::Ipv4 } else { self.style }, ..self }
    }

    /// Parses a number.
    pub fn bits(&self, text: &str) -> Result<Bits, Problem> {
        // A P4Info does not record which values are signed.
        let ty = match self.width_bits {
            1 => Type::Bool,
            width if text.starts_with('-') => Type::Int(width),
            width => Type::Bit(width),
        };
        values::value(text, &self.target(ty))
    }

    /// The target of `control::values`, for its messages.
    pub fn target(&self, ty: Type) -> ValueTarget<'_> {
        ValueTarget { role: self.role, name: self.name, ty }
    }

    /// Parses a value into bytes.
    pub fn read(&self, text: &str) -> Result<Vec<u8>, Problem> {
        match &self.form {
            Form::Bits => self.bits(text).map(|bits| bytes(&bits)),
            Form::Text if text.is_empty() => {
                Err(Problem::new(format!("{} {} is text, not empty", self.role, self.name)))
            }
            Form::Text => Ok(text.as_bytes().to_vec()),
            Form::Members(members) => {
                let short = text.rsplit('.').next().unwrap_or(text);
                if let Some((_, value)) = members.iter().find(|(name, _)| *name == text || *name == short) {
                    return Ok(canonical(value));
                }
                self.bits(text).map(|bits| bytes(&bits)).map_err(|problem| {
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
                members.iter().find(is_this).map_or_else(|| self.show_bits(value), |(name, _)| (*name).to_owned())
            }
            Form::Bits => self.show_bits(value),
        }
    }

    fn show_bits(&self, value: &[u8]) -> String {
        let value = canonical(value);
        let padded = |width: usize| {
            let mut all = vec![0; width.saturating_sub(value.len())];
            all.extend_from_slice(&value);
            (all.len() == width).then_some(all)
        };
        let address = match self.style {
            Style::Ipv4 => {
                padded(4).and_then(|it| <[u8; 4]>::try_from(it).ok()).map(|it| Ipv4Addr::from(it).to_string())
            }
            Style::Ipv6 => {
                padded(16).and_then(|it| <[u8; 16]>::try_from(it).ok()).map(|it| Ipv6Addr::from(it).to_string())
            }
            Style::Mac => padded(6).map(|it| it.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")),
            Style::Decimal => {
                padded(8).and_then(|it| <[u8; 8]>::try_from(it).ok()).map(|it| u64::from_be_bytes(it).to_string())
            }
            Style::Hexadecimal => None,
        };
        address.unwrap_or_else(|| hexadecimal(&value))
    }

    /// Formats a mask: as an address if the value is one, else in hexadecimal.
    pub fn show_mask(&self, mask: &[u8]) -> String {
        match self.style {
            Style::Decimal => hexadecimal(&canonical(mask)),
            _ => self.show_bits(mask),
        }
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

/// The bytes of a number: as few as it needs, and at least one.
pub fn bytes(bits: &Bits) -> Vec<u8> {
    canonical(&bits.to_be_bytes())
}

/// The same number in as few bytes as it needs, and at least one.
pub(crate) fn canonical(value: &[u8]) -> Vec<u8> {
    let zeros = value.iter().take_while(|&&byte| byte == 0).count();
    if zeros == value.len() { vec![0] } else { value[zeros..].to_vec() }
}

fn hexadecimal(value: &[u8]) -> String {
    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    match digits.trim_start_matches('0') {
        "" => "0x0".to_owned(),
        digits => format!("0x{digits}"),
    }
}

fn has_any(name: &str, parts: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    parts.iter().any(|part| name.contains(part))
}

/// The format that the program declares.
fn declared_format(annotations: &[String]) -> Option<&str> {
    let said = annotations.iter().find_map(|it| it.trim().strip_prefix("@format(")?.strip_suffix(')'));
    said.map(|it| it.trim_matches('"'))
}

/// How to show a number: according to `@format` in the program, else the width. A number of 32 bits is not an address
/// unless somebody says so. The name only tells the types of Ethernet frames and checksums.
fn style(name: &str, width_bits: u32, annotations: &[String]) -> Style {
    match (declared_format(annotations), width_bits) {
        (Some("IPV4_ADDRESS"), 32) => return Style::Ipv4,
        (Some("IPV6_ADDRESS"), 128) => return Style::Ipv6,
        (Some("MAC_ADDRESS"), 48) => return Style::Mac,
        (Some("HEX_STRING"), _) => return Style::Hexadecimal,
        (Some("DECIMAL"), 0..=64) => return Style::Decimal,
        _ => {}
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    match width_bits {
        48 => Style::Mac,
        128 => Style::Ipv6,
        16 if has_any(last, &["ethertype", "ether_type", "etype", "checksum", "csum"]) => Style::Hexadecimal,
        0..=64 => Style::Decimal,
        _ => Style::Hexadecimal,
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
    fn prefixes_of_32_bits_are_addresses_unless_the_program_says_otherwise() {
        let schema = Schema::default();
        let shown = |annotations: &[String]| {
            let said = Said { bitwidth: 32, type_name: None, annotations };
            ValueType::new(&schema, "key", "meta.x", said).of_prefixes().show(&[10, 0, 0, 1])
        };
        assert_eq!(shown(&[]), "10.0.0.1");
        assert_eq!(shown(&["@format(DECIMAL)".to_owned()]), "167772161");
    }

    #[test]
    fn data_are_addresses_if_their_type_says_so() {
        let shown = |width_bits, format: Option<&str>| {
            let format = format.map(|it| format!("@format({it})"));
            ValueType::of_data("ip_addr", width_bits, Form::Bits, format.as_ref()).show(&[10, 0, 0, 1])
        };
        assert_eq!(shown(32, None), "167772161");
        assert_eq!(shown(32, Some("IPV4_ADDRESS")), "10.0.0.1");
        assert_eq!(shown(48, None), "167772161");
        assert_eq!(shown(48, Some("MAC_ADDRESS")), "00:00:0a:00:00:01");
        assert_eq!(shown(128, None), "0xa000001");
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
