//! The text and JSON forms of messages, as the printers of Protocol Buffers write them.
//!
//! What enters: a message whose type is declared in `proto`. What leaves: text that any implementation of Protocol
//! Buffers parses into the same message. Prost's messages do not have the names of their fields, so they are
//! converted to dynamic messages, which take the names from the descriptors.

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, Value};
use std::fmt::Write;
use std::sync::LazyLock;

/// The descriptors of all messages.
pub(crate) static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!("../generated/descriptors.bin");
    DescriptorPool::decode(bytes).expect("`tests/generated.rs` wrote valid descriptors")
});

/// The text form: one field per line, nested messages indented by two spaces, fields in the order of their numbers.
///
/// `name` is the full name of the message, such as `p4.config.v1.P4Info`.
///
/// # Panics
/// If no message is called `name`.
pub fn to_text(name: &str, message: &impl Message) -> String {
    let mut text = String::new();
    write_message(&mut text, 0, &dynamic(name, &message.encode_to_vec()));
    text
}

/// The JSON form, with fields in the order of their numbers. A `google.protobuf.Any` is written as its two fields.
///
/// # Panics
/// If no message is called `name`.
pub fn to_json(name: &str, message: &impl Message) -> String {
    let mut text = String::new();
    write_json_message(&mut text, 0, &dynamic(name, &message.encode_to_vec()));
    text.push('\n');
    text
}

/// Parses the text form, for tests.
///
/// # Panics
/// If no message is called `name`.
#[cfg(any(test, feature = "from-text"))]
pub fn from_text<M: Message + Default>(name: &str, text: &str) -> Result<M, String> {
    let descriptor = POOL.get_message_by_name(name).expect("the name of a declared message");
    let message = DynamicMessage::parse_text_format(descriptor, text).map_err(|error| error.to_string())?;
    M::decode(message.encode_to_vec().as_slice()).map_err(|error| error.to_string())
}

fn dynamic(name: &str, message: &[u8]) -> DynamicMessage {
    let descriptor = POOL.get_message_by_name(name).expect("the name of a declared message");
    DynamicMessage::decode(descriptor, message).expect("a message of that type")
}

/// The fields that are present, in the order of their numbers.
fn fields(message: &DynamicMessage) -> Vec<(FieldDescriptor, &Value)> {
    let mut fields: Vec<_> = message.fields().filter(|(field, _)| message.has_field(field)).collect();
    fields.sort_by_key(|(field, _)| field.number());
    fields
}

/// The entries of a map in the order of their keys.
fn sorted<'a>(map: impl IntoIterator<Item = (&'a MapKey, &'a Value)>) -> Vec<(&'a MapKey, &'a Value)> {
    let mut entries: Vec<_> = map.into_iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

fn write_message(out: &mut String, depth: usize, message: &DynamicMessage) {
    for (field, value) in fields(message) {
        match value {
            Value::List(values) => values.iter().for_each(|value| write_field(out, depth, &field, value)),
            Value::Map(map) => {
                for (key, value) in sorted(map) {
                    write_entry(out, depth, &field, key, value);
                }
            }
            _ => write_field(out, depth, &field, value),
        }
    }
}

/// Writes an entry of a map as a message with a key and a value.
fn write_entry(out: &mut String, depth: usize, field: &FieldDescriptor, key: &MapKey, value: &Value) {
    let Kind::Message(entry) = field.kind() else { unreachable!("a map's entries are messages") };
    indent(out, depth, "  ");
    let _ = writeln!(out, "{} {{", field.name());
    write_field(out, depth + 1, &entry.map_entry_key_field(), &Value::from(key.clone()));
    write_field(out, depth + 1, &entry.map_entry_value_field(), value);
    indent(out, depth, "  ");
    out.push_str("}\n");
}

fn write_field(out: &mut String, depth: usize, field: &FieldDescriptor, value: &Value) {
    indent(out, depth, "  ");
    out.push_str(field.name());
    if let Value::Message(message) = value {
        out.push_str(" {\n");
        write_message(out, depth + 1, message);
        indent(out, depth, "  ");
        out.push_str("}\n");
        return;
    }
    out.push_str(": ");
    match value {
        Value::EnumNumber(number) => match name_of(field, *number) {
            Some(name) => out.push_str(&name),
            None => push(out, number),
        },
        Value::String(text) => write_quoted(out, text.as_bytes()),
        Value::Bytes(bytes) => write_quoted(out, bytes),
        _ => write_number(out, value),
    }
    out.push('\n');
}

/// Writes a number, in the same way in both forms.
fn write_number(out: &mut String, value: &Value) {
    match value {
        Value::Bool(value) => push(out, value),
        Value::I32(value) => push(out, value),
        Value::I64(value) => push(out, value),
        Value::U32(value) => push(out, value),
        Value::U64(value) => push(out, value),
        _ => unreachable!("the interface has no other numbers"),
    }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// The name of an enum value of the field's type; `None` for a number that only a newer version names.
fn name_of(field: &FieldDescriptor, number: i32) -> Option<String> {
    let Kind::Enum(descriptor) = field.kind() else { return None };
    descriptor.get_value(number).map(|value| value.name().to_owned())
}

/// Writes a string with C escapes; bytes that are not printable ASCII become three octal digits.
fn write_quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => push(out, format_args!("\\{byte:03o}")),
        }
    }
    out.push('"');
}

fn write_json_message(out: &mut String, depth: usize, message: &DynamicMessage) {
    let fields = fields(message);
    write_list(out, depth, ['{', '}'], &fields, |out, (field, value)| {
        push(out, format_args!("\"{}\": ", field.json_name()));
        match value {
            Value::List(values) => {
                write_list(out, depth + 1, ['[', ']'], values, |out, value| write_json(out, depth + 2, field, value));
            }
            Value::Map(map) => {
                let Kind::Message(entry) = field.kind() else { unreachable!("a map's entries are messages") };
                let [key_field, value_field] = [entry.map_entry_key_field(), entry.map_entry_value_field()];
                write_list(out, depth + 1, ['{', '}'], &sorted(map), |out, (key, value)| {
                    write_json(out, depth + 2, &key_field, &Value::from((*key).clone()));
                    out.push_str(": ");
                    write_json(out, depth + 2, &value_field, value);
                });
            }
            _ => write_json(out, depth + 1, field, value),
        }
    });
}

/// Writes items between brackets, one per line.
fn write_list<T>(out: &mut String, depth: usize, brackets: [char; 2], items: &[T], write: impl Fn(&mut String, &T)) {
    out.push(brackets[0]);
    for (position, item) in items.iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
        indent(out, depth + 1, " ");
        write(out, item);
    }
    if !items.is_empty() {
        out.push('\n');
        indent(out, depth, " ");
    }
    out.push(brackets[1]);
}

/// Writes one value. 64-bit numbers are strings, since many JSON readers would round them; bytes are in base64.
fn write_json(out: &mut String, depth: usize, field: &FieldDescriptor, value: &Value) {
    match value {
        Value::Message(message) => write_json_message(out, depth, message),
        Value::I64(_) | Value::U64(_) => {
            out.push('"');
            write_number(out, value);
            out.push('"');
        }
        Value::EnumNumber(number) => match name_of(field, *number) {
            Some(name) => push(out, format_args!("\"{name}\"")),
            None => push(out, number),
        },
        Value::String(text) => push(out, serde_json::Value::from(text.as_str())),
        Value::Bytes(bytes) => push(out, format_args!("\"{}\"", base64(bytes))),
        _ => write_number(out, value),
    }
}

/// Base64: six bits per character, four characters for three bytes, padded with `=`.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0, |bits, (index, &byte)| bits | u32::from(byte) << (16 - 8 * index));
        for index in 0..4 {
            let sextet = (bits >> (18 - 6 * index)) & 63;
            text.push(if index <= group.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    text
}

fn indent(out: &mut String, depth: usize, step: &str) {
    out.extend(std::iter::repeat_n(step, depth));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::p4::config::v1::{self, p4_data_type_spec::TypeSpec};
    use expect_test::{Expect, expect};

    const P4_INFO: &str = "p4.config.v1.P4Info";

    /// A message with everything that the printers treat specially: bytes, enums, maps, fields with presence that are
    /// empty.
    fn example() -> v1::P4Info {
        let doc = v1::Documentation { brief: "\"a\"\n\t\\ ü'".into(), description: String::new() };
        let pkg_info = v1::PkgInfo { arch: "v1model".into(), doc: Some(doc), ..Default::default() };
        let action = v1::TableActionCall {
            action_id: 7,
            arguments: vec![v1::table_action_call::Argument { param_id: 1, value: vec![0, 1, 65, 255] }],
        };
        let table = v1::Table {
            preamble: Some(v1::Preamble { id: 0xFFFF_FFFF, name: "c.t".into(), ..Default::default() }),
            match_fields: vec![v1::MatchField {
                id: 1,
                r#match: Some(v1::match_field::Match::MatchType(3)),
                ..Default::default()
            }],
            initial_default_action: Some(action),
            direct_resource_ids: vec![5, 6],
            size: 1 << 40,
            idle_timeout_behavior: 99,
            ..Default::default()
        };
        let mut types = v1::P4TypeInfo::default();
        for name in ["z", "a", "m"] {
            types.structs.insert(name.into(), v1::P4StructTypeSpec::default());
        }
        let member = v1::p4_struct_type_spec::Member {
            name: "b".into(),
            type_spec: Some(v1::P4DataTypeSpec { type_spec: Some(TypeSpec::Bool(v1::P4BoolType {})) }),
        };
        types.structs.get_mut("m").unwrap().members.push(member);
        v1::P4Info { pkg_info: Some(pkg_info), tables: vec![table], type_info: Some(types), ..Default::default() }
    }

    fn check(actual: &str, expect: Expect) {
        expect.assert_eq(actual);
    }

    #[test]
    fn text() {
        let text = to_text(P4_INFO, &example());
        assert_eq!(from_text(P4_INFO, &text), Ok(example()));
        assert!(from_text::<v1::P4Info>(P4_INFO, "tables: 1").is_err());
        check(
            &text,
            expect![[r#"
            pkg_info {
              doc {
                brief: "\"a\"\n\t\\ \303\274\'"
              }
              arch: "v1model"
            }
            tables {
              preamble {
                id: 4294967295
                name: "c.t"
              }
              match_fields {
                id: 1
                match_type: LPM
              }
              initial_default_action {
                action_id: 7
                arguments {
                  param_id: 1
                  value: "\000\001A\377"
                }
              }
              direct_resource_ids: 5
              direct_resource_ids: 6
              size: 1099511627776
              idle_timeout_behavior: 99
            }
            type_info {
              structs {
                key: "a"
                value {
                }
              }
              structs {
                key: "m"
                value {
                  members {
                    name: "b"
                    type_spec {
                      bool {
                      }
                    }
                  }
                }
              }
              structs {
                key: "z"
                value {
                }
              }
            }
        "#]],
        );
    }

    #[test]
    fn json() {
        let json = to_json(P4_INFO, &example());
        let mut reader = serde_json::Deserializer::from_str(&json);
        let read = DynamicMessage::deserialize(POOL.get_message_by_name(P4_INFO).unwrap(), &mut reader).unwrap();
        assert_eq!(read.transcode_to::<v1::P4Info>().unwrap(), example());
        check(
            &json,
            expect![[r#"
                {
                 "pkgInfo": {
                  "doc": {
                   "brief": "\"a\"\n\t\\ ü'"
                  },
                  "arch": "v1model"
                 },
                 "tables": [
                  {
                   "preamble": {
                    "id": 4294967295,
                    "name": "c.t"
                   },
                   "matchFields": [
                    {
                     "id": 1,
                     "matchType": "LPM"
                    }
                   ],
                   "initialDefaultAction": {
                    "actionId": 7,
                    "arguments": [
                     {
                      "paramId": 1,
                      "value": "AAFB/w=="
                     }
                    ]
                   },
                   "directResourceIds": [
                    5,
                    6
                   ],
                   "size": "1099511627776",
                   "idleTimeoutBehavior": 99
                  }
                 ],
                 "typeInfo": {
                  "structs": {
                   "a": {},
                   "m": {
                    "members": [
                     {
                      "name": "b",
                      "typeSpec": {
                       "bool": {}
                      }
                     }
                    ]
                   },
                   "z": {}
                  }
                 }
                }
            "#]],
        );
    }

    #[test]
    fn base_64() {
        let texts: Vec<String> = (0..5).map(|count| base64(&[0xFB, 0xEF, 0xBE, 0x01][..count.min(4)])).collect();
        check(&texts.join(" "), expect![" +w== ++8= ++++ ++++AQ=="]);
    }
}
