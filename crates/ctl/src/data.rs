//! The data of registers and digests, which may be structs of structs.

use crate::schema::Schema;
use crate::value::{Form, ValueType};
use crate::words::Word;
use control::{Problem, names};
use p4info::{Data, Value};
use p4runtime_proto::p4::config::v1::P4DataTypeSpec;
use p4runtime_proto::p4::v1::p4_data::Data as Sent;
use p4runtime_proto::p4::v1::{P4Data, P4Header, P4HeaderStack, P4StructLike};
use serde_json::{Value as Json, json};

/// The type that a P4Info tells of.
pub fn data_type(schema: &Schema, spec: Option<&P4DataTypeSpec>) -> Result<Data, Problem> {
    let spec = spec.ok_or_else(|| Problem::new("the P4Info does not say of which type it is"))?;
    Data::new(spec, schema.types()).map_err(|mismatch| Problem::new(mismatch.message))
}

/// A value that is made of nothing else.
fn leaf_type<'a>(name: &'a str, data: &'a Data) -> ValueType<'a> {
    match data {
        Data::Bits(Value { width_bits, translation: None }) => ValueType::of_data(name, *width_bits, Form::Bits),
        Data::Bits(Value { translation: Some(seen), .. }) => match seen.width_bits {
            Some(width_bits) => ValueType::of_data(name, width_bits, Form::Bits),
            None => ValueType::of_data(name, 0, Form::Text),
        },
        Data::SerializableEnum { width_bits, members } => {
            let members = members.iter().map(|(name, value)| (&**name, &**value)).collect();
            ValueType::of_data(name, *width_bits, Form::Members(members))
        }
        _ => ValueType::of_data(name, 1, Form::Bits),
    }
}

/// The paths of all leaves, in order.
fn paths(path: &str, data: &Data, found: &mut Vec<String>) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match data {
        Data::Struct(members) | Data::Header(members) | Data::HeaderUnion(members) => {
            members.iter().for_each(|(name, member)| paths(&join(name), member, found));
        }
        Data::Tuple(items) | Data::Stack(items) => {
            items.iter().enumerate().for_each(|(index, item)| paths(&join(&index.to_string()), item, found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// The data that the words spell: a word for each leaf, in order or by name. `owner` is what is written.
pub fn read(owner: &str, data: &Data, words: &[Word]) -> Result<P4Data, Problem> {
    let mut names = Vec::new();
    paths("", data, &mut names);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut texts: Vec<Option<&str>> = vec![None; names.len()];
    let mut position = 0;
    for word in words {
        let (index, text) = match word.named() {
            Some((name, text)) => (names::find("field", "fields", name, &names, owner)?, text),
            None => {
                position += 1;
                (position - 1, word.text.as_str())
            }
        };
        match texts.get_mut(index) {
            Some(slot @ None) => *slot = Some(text),
            Some(_) => return Err(Problem::new(format!("field {} is given twice", names[index]))),
            None => return Err(value_count(owner, &names, words.len())),
        }
    }
    let texts: Option<Vec<&str>> = texts.into_iter().collect();
    let texts = texts.ok_or_else(|| value_count(owner, &names, words.len()))?;
    build(owner, data, &mut texts.into_iter())
}

fn value_count(owner: &str, names: &[&str], given: usize) -> Problem {
    match names {
        [_] => Problem::new(format!("{owner} has one value; {given} given")),
        _ => Problem::new(format!("{owner} has {} values: {}; {given} given", names.len(), names.join(", "))),
    }
}

fn build<'w>(name: &str, data: &Data, texts: &mut impl Iterator<Item = &'w str>) -> Result<P4Data, Problem> {
    let mut text = || texts.next().unwrap_or_default();
    let of_names = |names: &[String], given: &str| match names.iter().any(|name| name == given) {
        true => Ok(given.to_owned()),
        false => Err(Problem::new(format!("{given} is no value of {name}"))
            .with_help(format!("its values are {}", names.join(", ")))),
    };
    let data = match data {
        Data::Bits(_) => Sent::Bitstring(leaf_type(name, data).read(text())?),
        Data::SerializableEnum { .. } => Sent::EnumValue(leaf_type(name, data).read(text())?),
        Data::Bool => Sent::Bool(!leaf_type(name, data).bits(text())?.is_zero()),
        Data::Enum(names) => Sent::Enum(of_names(names, text())?),
        Data::Error(names) => Sent::Error(of_names(names, text())?),
        Data::Struct(members) => Sent::Struct(P4StructLike { members: build_all(name, members, texts)? }),
        Data::Tuple(items) => {
            let members = items.iter().enumerate();
            let members = members.map(|(index, item)| build(&format!("{name}.{index}"), item, texts));
            Sent::Tuple(P4StructLike { members: members.collect::<Result<_, _>>()? })
        }
        Data::Header(members) => Sent::Header(header(name, members, texts)?),
        Data::Stack(items) => {
            let mut entries = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let Data::Header(members) = item else { return Err(not_written(name, "stacks of header unions")) };
                entries.push(header(&format!("{name}.{index}"), members, texts)?);
            }
            Sent::HeaderStack(P4HeaderStack { entries })
        }
        Data::HeaderUnion(_) => return Err(not_written(name, "header unions")),
        Data::Varbit { .. } => return Err(not_written(name, "type varbit")),
    };
    Ok(P4Data { data: Some(data) })
}

fn not_written(name: &str, what: &str) -> Problem {
    Problem::new(format!("{name}: values of {what} cannot be written"))
}

fn build_all<'w>(
    name: &str,
    members: &[(String, Data)],
    texts: &mut impl Iterator<Item = &'w str>,
) -> Result<Vec<P4Data>, Problem> {
    members.iter().map(|(member, data)| build(&format!("{name}.{member}"), data, texts)).collect()
}

fn header<'w>(
    name: &str,
    members: &[(String, Data)],
    texts: &mut impl Iterator<Item = &'w str>,
) -> Result<P4Header, Problem> {
    let bitstrings = members.iter().map(|(member, data)| {
        let name = format!("{name}.{member}");
        leaf_type(&name, data).read(texts.next().unwrap_or_default())
    });
    Ok(P4Header { is_valid: true, bitstrings: bitstrings.collect::<Result<_, _>>()? })
}

/// Data as text: one value, or its parts in brackets.
pub fn show(name: &str, data: &Data, sent: &P4Data) -> String {
    text_of(&to_json(name, data, sent))
}

pub(crate) fn text_of(json: &Json) -> String {
    match json {
        Json::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", text_of(value))).collect();
            format!("{{{}}}", fields.join(" "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(text_of).collect::<Vec<_>>().join(" ")),
        Json::String(text) => text.clone(),
        Json::Null => "invalid".to_owned(),
        other => other.to_string(),
    }
}

/// Data as JSON: values as the strings that users write, truth values as such, headers that are not valid as null.
pub fn to_json(name: &str, data: &Data, sent: &P4Data) -> Json {
    match (data, &sent.data) {
        (_, Some(Sent::Bitstring(bytes) | Sent::EnumValue(bytes))) => json!(leaf_type(name, data).show(bytes)),
        (_, Some(Sent::Bool(is_true))) => json!(is_true),
        (_, Some(Sent::Enum(member) | Sent::Error(member))) => json!(crate::value::quoted(member)),
        (_, Some(Sent::Varbit(it))) => json!(ValueType::of_data(name, 0, Form::Bits).show(&it.bitstring)),
        (Data::Struct(members), Some(Sent::Struct(it))) => object(members, it.members.iter()),
        (Data::Tuple(items), Some(Sent::Tuple(it))) => {
            items.iter().zip(&it.members).map(|(item, sent)| to_json(name, item, sent)).collect()
        }
        (Data::Header(members), Some(Sent::Header(it))) => header_json(members, it),
        (Data::HeaderUnion(members), Some(Sent::HeaderUnion(it))) => {
            let header = members.iter().find(|(name, _)| *name == it.valid_header_name);
            match (header, &it.valid_header) {
                (Some((name, Data::Header(fields))), Some(sent)) => json!({ name.as_str(): header_json(fields, sent) }),
                _ => Json::Null,
            }
        }
        (Data::Stack(items), Some(Sent::HeaderStack(it))) => {
            let one = |(item, sent): (&Data, &P4Header)| match item {
                Data::Header(members) => header_json(members, sent),
                _ => Json::Null,
            };
            items.iter().zip(&it.entries).map(one).collect()
        }
        (Data::Stack(items), Some(Sent::HeaderUnionStack(it))) => {
            let union = |sent: &_| P4Data { data: Some(Sent::HeaderUnion(Clone::clone(sent))) };
            items.iter().zip(&it.entries).map(|(item, sent)| to_json(name, item, &union(sent))).collect()
        }
        _ => json!("?"),
    }
}

fn object<'s>(members: &[(String, Data)], sent: impl Iterator<Item = &'s P4Data>) -> Json {
    let pairs = members.iter().zip(sent);
    Json::Object(pairs.map(|((name, data), sent)| (name.clone(), to_json(name, data, sent))).collect())
}

fn header_json(members: &[(String, Data)], sent: &P4Header) -> Json {
    if !sent.is_valid {
        return Json::Null;
    }
    let fields = members.iter().zip(&sent.bitstrings);
    let fields = fields.map(|((name, data), bytes)| (name.clone(), json!(leaf_type(name, data).show(bytes))));
    Json::Object(fields.collect())
}
