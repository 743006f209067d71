//! The data of registers and digests, which may be nested structs.

use crate::schema::Schema;
use crate::value::{Form, ValueType};
use crate::words::Word;
use control::{Problem, names};
use p4info::{Data, Value};
use p4runtime_proto::p4::config::v1::P4DataTypeSpec;
use p4runtime_proto::p4::v1::p4_data::Data as Sent;
use p4runtime_proto::p4::v1::{
    P4Data, P4Header, P4HeaderStack, P4HeaderUnion, P4HeaderUnionStack, P4StructLike, P4Varbit,
};
use serde_json::{Value as Json, json};

/// The most bytes of a varbit value that are shown, whatever length the server reports.
const VARBIT_BYTES_MAX: usize = 65_536;

/// The type that a P4Info describes.
pub fn data_type(schema: &Schema, spec: Option<&P4DataTypeSpec>) -> Result<Data, Problem> {
    let spec = spec.ok_or_else(|| Problem::new("the P4Info does not give its type"))?;
    Data::new(spec, schema.types()).map_err(|mismatch| Problem::new(mismatch.message))
}

/// The type of a leaf value.
fn leaf_type<'a>(name: &'a str, data: &'a Data) -> ValueType<'a> {
    match data {
        Data::Bits(Value { width_bits, translation: None, format }) => {
            ValueType::of_data(name, *width_bits, Form::Bits, format.as_ref())
        }
        Data::Bits(Value { translation: Some(seen), format, .. }) => match seen.width_bits {
            Some(width_bits) => ValueType::of_data(name, width_bits, Form::Bits, format.as_ref()),
            None => ValueType::of_data(name, 0, Form::Text, None),
        },
        Data::SerializableEnum { width_bits, members } => {
            let members = members.iter().map(|(name, value)| (&**name, &**value)).collect();
            ValueType::of_data(name, *width_bits, Form::Members(members), None)
        }
        _ => ValueType::of_data(name, 1, Form::Bits, None),
    }
}

/// The bytes of a varbit value, written as two hexadecimal digits per byte: the number of digits determines its
/// length.
fn read_varbit(name: &str, text: &str) -> Result<Vec<u8>, Problem> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let is_hexadecimal = text.starts_with("0x") && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes: Option<Vec<u8>> =
        digits.as_bytes().chunks(2).map(|pair| (pair.len() == 2).then(|| byte(pair))?).collect();
    bytes.filter(|_| is_hexadecimal).ok_or_else(|| {
        Problem::new(format!("{name}: {text} is not a valid varbit value"))
            .with_help("write 0x and two digits for each byte, as 0x0a1b; 0x alone is an empty one")
    })
}

fn show_varbit(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// All bytes of a varbit value. Servers omit leading zeros, and send one zero byte for an empty value.
fn whole_bytes(sent: &P4Varbit) -> Vec<u8> {
    let length = (sent.bitwidth.unsigned_abs() as usize / 8).min(VARBIT_BYTES_MAX);
    let spare = sent.bitstring.len().saturating_sub(length);
    let mut bytes = vec![0; length.saturating_sub(sent.bitstring.len())];
    bytes.extend(&sent.bitstring[spare..]);
    bytes
}

/// The path of a part of a value.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The paths of all leaves, and of all headers and unions, in order.
fn paths(path: &str, data: &Data, leaves: &mut Vec<String>, headers: &mut Vec<String>) {
    if let Data::Header(_) | Data::HeaderUnion(_) = data {
        headers.push(path.to_owned());
    }
    match data {
        Data::Struct(members) | Data::Header(members) | Data::HeaderUnion(members) => {
            members.iter().for_each(|(name, member)| paths(&join(path, name), member, leaves, headers));
        }
        Data::Tuple(items) | Data::Stack(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| paths(&join(path, &index.to_string()), item, leaves, headers));
        }
        _ => leaves.push(path.to_owned()),
    }
}

/// The keyword for a header that is not valid.
const INVALID: &str = "invalid";

/// The words that were given for the parts of a value.
struct Given<'w> {
    /// What the value belongs to, for messages.
    owner: &'w str,
    leaves: Vec<String>,
    /// The word given for each leaf.
    texts: Vec<Option<&'w str>>,
    /// The headers and unions that were given as invalid.
    invalid: Vec<String>,
    words: usize,
}

/// Parses words into data: one word for each leaf, in order or by name. `NAME=invalid` makes a header invalid. At
/// most one header of a union may be given. `owner` is what the data is written to.
pub fn read(owner: &str, data: &Data, words: &[Word]) -> Result<P4Data, Problem> {
    let (mut leaves, mut headers) = (Vec::new(), Vec::new());
    paths("", data, &mut leaves, &mut headers);
    let texts = vec![None; leaves.len()];
    let mut given = Given { owner, leaves, texts, invalid: Vec::new(), words: words.len() };
    let names: Vec<String> = given.leaves.clone();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut position = 0;
    for word in words {
        let (index, text) = match word.named() {
            Some((name, INVALID)) if headers.iter().any(|it| it == name) => {
                given.invalid.push(name.to_owned());
                continue;
            }
            None if word.is(INVALID) && words.len() == 1 && headers.first().is_some_and(String::is_empty) => {
                given.invalid.push(String::new());
                continue;
            }
            Some((name, text)) => (names::find("field", "fields", name, &names, owner)?, text),
            None => {
                position += 1;
                (position - 1, word.text.as_str())
            }
        };
        match given.texts.get_mut(index) {
            Some(slot @ None) => *slot = Some(text),
            Some(_) => return Err(Problem::new(format!("field {} is given twice", names[index]))),
            None => return Err(given.count()),
        }
    }
    let built = given.build("", data)?;
    match given.texts.iter().position(Option::is_some) {
        None => Ok(built),
        Some(unused) => {
            let name = &given.leaves[unused];
            Err(Problem::new(format!("{owner}: {name} is given, and belongs to a header that is not valid")))
        }
    }
}

impl Given<'_> {
    fn count(&self) -> Problem {
        let (owner, given) = (self.owner, self.words);
        match &self.leaves[..] {
            [_] => Problem::new(format!("{owner} has one value; {given} given")),
            all => Problem::new(format!("{owner} has {} values: {}; {given} given", all.len(), all.join(", "))),
        }
    }

    /// Takes the word given for a leaf. Each word can be taken only once.
    fn text(&mut self, path: &str) -> Result<&str, Problem> {
        let found = self.leaves.iter().position(|leaf| leaf == path).and_then(|index| self.texts[index].take());
        found.ok_or_else(|| self.count())
    }

    /// The name of a part, for messages.
    fn name(&self, path: &str) -> String {
        join(self.owner, path).trim_end_matches('.').to_owned()
    }

    fn build(&mut self, path: &str, data: &Data) -> Result<P4Data, Problem> {
        let name = self.name(path);
        let of_names = |names: &[String], given: &str| match names.iter().any(|name| name == given) {
            true => Ok(given.to_owned()),
            false => Err(Problem::new(format!("{given} is not a value of {name}"))
                .with_help(format!("its values are {}", names.join(", ")))),
        };
        let data = match data {
            Data::Bits(_) => Sent::Bitstring(leaf_type(&name, data).read(self.text(path)?)?),
            Data::SerializableEnum { .. } => Sent::EnumValue(leaf_type(&name, data).read(self.text(path)?)?),
            Data::Bool => Sent::Bool(!leaf_type(&name, data).bits(self.text(path)?)?.is_zero()),
            Data::Enum(names) => Sent::Enum(of_names(names, self.text(path)?)?),
            Data::Error(names) => Sent::Error(of_names(names, self.text(path)?)?),
            Data::Struct(members) => {
                let members = members.iter().map(|(name, member)| self.build(&join(path, name), member));
                Sent::Struct(P4StructLike { members: members.collect::<Result<_, _>>()? })
            }
            Data::Tuple(items) => {
                let members = items.iter().enumerate();
                let members = members.map(|(index, item)| self.build(&join(path, &index.to_string()), item));
                Sent::Tuple(P4StructLike { members: members.collect::<Result<_, _>>()? })
            }
            Data::Header(members) => Sent::Header(self.header(path, members)?),
            Data::HeaderUnion(members) => Sent::HeaderUnion(self.union(path, members)?),
            Data::Stack(items) => self.stack(path, items)?,
            Data::Varbit { .. } => {
                let bitstring = read_varbit(&name, self.text(path)?)?;
                Sent::Varbit(P4Varbit { bitwidth: bitstring.len() as i32 * 8, bitstring })
            }
        };
        Ok(P4Data { data: Some(data) })
    }

    fn header(&mut self, path: &str, members: &[(String, Data)]) -> Result<P4Header, Problem> {
        if self.invalid.iter().any(|it| it == path) {
            return Ok(P4Header::default());
        }
        let bitstrings = members.iter().map(|(member, data)| {
            let path = join(path, member);
            let name = self.name(&path);
            match data {
                Data::Varbit { .. } => read_varbit(&name, self.text(&path)?),
                _ => leaf_type(&name, data).read(self.text(&path)?),
            }
        });
        Ok(P4Header { is_valid: true, bitstrings: bitstrings.collect::<Result<_, _>>()? })
    }

    fn union(&mut self, path: &str, members: &[(String, Data)]) -> Result<P4HeaderUnion, Problem> {
        let is_said = |this: &Self, member: &str| {
            let prefix = join(path, member) + ".";
            this.leaves.iter().zip(&this.texts).any(|(leaf, text)| text.is_some() && leaf.starts_with(&prefix))
        };
        let is_invalid = self.invalid.iter().any(|it| it == path);
        let valid = members.iter().find(|(member, _)| !is_invalid && is_said(self, member));
        Ok(match valid {
            Some((member, Data::Header(fields))) => P4HeaderUnion {
                valid_header_name: member.clone(),
                valid_header: Some(self.header(&join(path, member), fields)?),
            },
            _ => P4HeaderUnion::default(),
        })
    }

    fn stack(&mut self, path: &str, items: &[Data]) -> Result<Sent, Problem> {
        let path_of = |index: usize| join(path, &index.to_string());
        if let Some(Data::HeaderUnion(_)) = items.first() {
            let unions = items.iter().enumerate().filter_map(|(index, item)| match item {
                Data::HeaderUnion(members) => Some(self.union(&path_of(index), members)),
                _ => None,
            });
            return Ok(Sent::HeaderUnionStack(P4HeaderUnionStack { entries: unions.collect::<Result<_, _>>()? }));
        }
        let headers = items.iter().enumerate().filter_map(|(index, item)| match item {
            Data::Header(members) => Some(self.header(&path_of(index), members)),
            _ => None,
        });
        Ok(Sent::HeaderStack(P4HeaderStack { entries: headers.collect::<Result<_, _>>()? }))
    }
}

/// Data in which all values are zero and all headers are invalid.
pub fn zero(data: &Data) -> P4Data {
    let first = |names: &[String]| names.first().cloned().unwrap_or_default();
    let data = match data {
        Data::Bits(Value { translation: Some(seen), .. }) if seen.width_bits.is_none() => Sent::Bitstring(vec![]),
        Data::Bits(_) => Sent::Bitstring(vec![0]),
        Data::Varbit { .. } => Sent::Varbit(P4Varbit::default()),
        Data::SerializableEnum { .. } => Sent::EnumValue(vec![0]),
        Data::Bool => Sent::Bool(false),
        Data::Enum(names) => Sent::Enum(first(names)),
        Data::Error(names) => Sent::Error(first(names)),
        Data::Struct(members) => {
            Sent::Struct(P4StructLike { members: members.iter().map(|(_, data)| zero(data)).collect() })
        }
        Data::Tuple(items) => Sent::Tuple(P4StructLike { members: items.iter().map(zero).collect() }),
        Data::Header(_) => Sent::Header(P4Header::default()),
        Data::HeaderUnion(_) => Sent::HeaderUnion(P4HeaderUnion::default()),
        Data::Stack(items) => match items.first() {
            Some(Data::HeaderUnion(_)) => {
                let entries = vec![P4HeaderUnion::default(); items.len()];
                Sent::HeaderUnionStack(P4HeaderUnionStack { entries })
            }
            _ => Sent::HeaderStack(P4HeaderStack { entries: vec![P4Header::default(); items.len()] }),
        },
    };
    P4Data { data: Some(data) }
}

/// Data as the words that [`read`] takes.
pub fn words(name: &str, data: &Data, sent: &P4Data) -> String {
    let mut found = Vec::new();
    add_words(name, "", data, sent, &mut found);
    found.join(" ")
}

fn add_words(name: &str, path: &str, data: &Data, sent: &P4Data, found: &mut Vec<String>) {
    let word = |text: &str| if path.is_empty() { text.to_owned() } else { format!("{path}={text}") };
    match parts(data, sent) {
        Some(parts) if parts.is_empty() => found.push(word(INVALID)),
        Some(parts) => {
            parts.iter().for_each(|(part, data, sent)| add_words(name, &join(path, part), data, sent, found));
        }
        None => found.push(word(&text_of(&to_json(name, data, sent)))),
    }
}

/// The parts of data with their names: `None` for a leaf, and an empty list for a header or union that is not valid.
fn parts<'d>(data: &'d Data, sent: &P4Data) -> Option<Vec<(String, &'d Data, P4Data)>> {
    let of = |data: Sent| P4Data { data: Some(data) };
    let numbered = |items: &'d [Data], sent: &mut dyn Iterator<Item = Sent>| {
        let parts = items.iter().zip(sent).enumerate();
        parts.map(|(index, (data, sent))| (index.to_string(), data, of(sent))).collect()
    };
    Some(match (data, &sent.data) {
        (Data::Struct(members), Some(Sent::Struct(it))) => {
            let parts = members.iter().zip(&it.members);
            parts.map(|((part, data), sent)| (part.clone(), data, sent.clone())).collect()
        }
        (Data::Tuple(items), Some(Sent::Tuple(it))) => {
            numbered(items, &mut it.members.iter().filter_map(|sent| sent.data.clone()))
        }
        (Data::Header(_), Some(Sent::Header(it))) if !it.is_valid => Vec::new(),
        (Data::Header(members), Some(Sent::Header(it))) => {
            let parts = members.iter().zip(&it.bitstrings);
            parts.map(|((part, data), bytes)| (part.clone(), data, of(Sent::Bitstring(bytes.clone())))).collect()
        }
        (Data::HeaderUnion(members), Some(Sent::HeaderUnion(it))) => {
            let valid =
                members.iter().find(|(member, _)| *member == it.valid_header_name).zip(it.valid_header.as_ref());
            valid.map(|((part, data), sent)| (part.clone(), data, of(Sent::Header(sent.clone())))).into_iter().collect()
        }
        (Data::Stack(items), Some(Sent::HeaderStack(it))) => {
            numbered(items, &mut it.entries.iter().map(|sent| Sent::Header(sent.clone())))
        }
        (Data::Stack(items), Some(Sent::HeaderUnionStack(it))) => {
            numbered(items, &mut it.entries.iter().map(|sent| Sent::HeaderUnion(sent.clone())))
        }
        _ => return None,
    })
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

/// Data as JSON: values as the strings that users write, booleans as booleans, invalid headers as null.
pub fn to_json(name: &str, data: &Data, sent: &P4Data) -> Json {
    match (data, &sent.data) {
        (Data::Varbit { .. }, Some(Sent::Bitstring(bytes))) => json!(show_varbit(bytes)),
        (_, Some(Sent::Bitstring(bytes) | Sent::EnumValue(bytes))) => json!(leaf_type(name, data).show(bytes)),
        (_, Some(Sent::Bool(is_true))) => json!(is_true),
        (_, Some(Sent::Enum(member) | Sent::Error(member))) => json!(crate::words::quoted(member)),
        (_, Some(Sent::Varbit(it))) => json!(show_varbit(&whole_bytes(it))),
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
    let shown = |name: &str, data: &Data, bytes: &[u8]| match data {
        Data::Varbit { .. } => show_varbit(bytes),
        _ => leaf_type(name, data).show(bytes),
    };
    let fields = fields.map(|((name, data), bytes)| (name.clone(), json!(shown(name, data, bytes))));
    Json::Object(fields.collect())
}
