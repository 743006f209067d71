//! Keys of entries and members of value sets: between words and field matches.

use crate::schema::{Schema, match_kind};
use crate::value::{Form, Said, ValueType};
use crate::words::Word;
use base::{FieldMatch, MatchKind};
use control::{Problem, names};
use p4runtime_proto::matches;
use p4runtime_proto::p4::config::v1::MatchField;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::field_match::{Exact, FieldMatchType, Optional};
use values::bytes;

/// The word given for a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// No word: the key was left out.
    Absent,
    /// `*`: matches anything.
    Any,
    /// A match.
    Match(v1::FieldMatch),
}

/// The type of a key's values.
pub fn value_type<'a>(schema: &'a Schema, field: &'a MatchField) -> ValueType<'a> {
    let (type_name, annotations) = (field.type_name.as_ref(), field.annotations.as_slice());
    let said = Said { bitwidth: field.bitwidth, type_name, annotations };
    ValueType::of_key(schema, &field.name, said, match_kind(field))
}

/// The words given for each key, in order or by name.
pub fn given(schema: &Schema, owner: &str, fields: &[MatchField], words: &[Word]) -> Result<Vec<Given>, Problem> {
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let mut found = vec![Given::Absent; fields.len()];
    let mut position = 0;
    for word in words {
        let (index, text) = match word.named() {
            Some((name, text)) => (names::find("key", "keys", name, &names, owner)?, text),
            None if position == fields.len() => return Err(key_count(words.len(), owner, &names)),
            None => {
                position += 1;
                (position - 1, word.text.as_str())
            }
        };
        if found[index] != Given::Absent {
            return Err(Problem::new(format!("key {} is given twice", names[index])));
        }
        found[index] = read(schema, &fields[index], text)?;
    }
    Ok(found)
}

/// The words as the complete key of an entry. Keys that are left out match anything. Leaving out is allowed only if
/// the other keys are named, so that a forgotten word does not become a wildcard.
pub fn whole(
    schema: &Schema,
    owner: &str,
    fields: &[MatchField],
    words: &[Word],
) -> Result<Vec<v1::FieldMatch>, Problem> {
    let found = given(schema, owner, fields, words)?;
    let is_exact = |field: &MatchField| match_kind(field) == Some(MatchKind::Exact);
    let mut pairs = found.iter().zip(fields);
    let is_named = words.iter().any(|word| word.named().is_some());
    if pairs.any(|(given, field)| *given == Given::Absent && (is_exact(field) || !is_named)) {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        return Err(key_count(words.len(), owner, &names));
    }
    Ok(found.into_iter().filter_map(Given::into_match).collect())
}

impl Given {
    /// The match, unless the key matches anything.
    pub fn into_match(self) -> Option<v1::FieldMatch> {
        match self {
            Given::Match(it) => Some(it),
            Given::Absent | Given::Any => None,
        }
    }
}

fn key_count(given: usize, owner: &str, names: &[&str]) -> Problem {
    let keys = if names.len() == 1 { "key" } else { "keys" };
    Problem::new(format!("{owner} has {} {keys}: {}; {given} given", names.len(), names.join(", ")))
}

/// Parses the word for a key.
fn read(schema: &Schema, field: &MatchField, text: &str) -> Result<Given, Problem> {
    let ty = value_type(schema, field);
    let Some(kind) = match_kind(field) else {
        return Err(Problem::new(format!("P4Runtime does not have the match kind of key {}", field.name)));
    };
    let is_named_value = |text: &str| match &ty.form {
        Form::Bits => false,
        Form::Text => true,
        Form::Members(members) => members.iter().any(|(name, _)| text.rsplit('.').next() == Some(*name)),
    };
    let asked = match kind {
        MatchKind::Optional if text == "*" => return Ok(Given::Any),
        MatchKind::Exact if is_named_value(text) => FieldMatchType::Exact(Exact { value: ty.read(text)? }),
        MatchKind::Optional if is_named_value(text) => FieldMatchType::Optional(Optional { value: ty.read(text)? }),
        _ => {
            let wanted = values::entry_key(text, &ty.target(text), kind)?;
            check_ignored_bits(&ty, text, &wanted)?;
            match matches::write(&wanted, bytes) {
                Some(asked) => asked,
                None => return Ok(Given::Any),
            }
        }
    };
    Ok(Given::Match(v1::FieldMatch { field_id: field.id, field_match_type: Some(asked) }))
}

/// Refuses a value with bits that the prefix length or the mask ignores. P4Runtime requires them to be zero, and
/// whether the value or the length is wrong is not known.
fn check_ignored_bits(ty: &ValueType<'_>, text: &str, wanted: &FieldMatch) -> Result<(), Problem> {
    let Some((value, _)) = text.split_once("&&&").or_else(|| text.split_once('/')) else { return Ok(()) };
    let (matched, what) = match wanted {
        FieldMatch::Lpm { value, .. } => (value.clone(), "prefix"),
        FieldMatch::Ternary { value, mask } => (value.and(mask), "mask"),
        FieldMatch::Exact(_) | FieldMatch::Range { .. } | FieldMatch::Optional(_) => return Ok(()),
    };
    if ty.bits(value)? == matched {
        return Ok(());
    }
    let (right, rest) = (ty.show(&bytes(&matched)), &text[value.len()..]);
    Err(Problem::new(format!("{text}: {} {} must have zero bits outside the {what}", ty.role, ty.name))
        .with_help(format!("write {right}{rest}")))
}

/// The match of an entry for each key, in the order of the keys, as text that can be parsed again.
pub fn show_all(schema: &Schema, fields: &[MatchField], matches: &[v1::FieldMatch]) -> Vec<String> {
    let one = |field: &MatchField| show(schema, field, matches.iter().find(|it| it.field_id == field.id));
    fields.iter().map(one).collect()
}

fn show(schema: &Schema, field: &MatchField, found: Option<&v1::FieldMatch>) -> String {
    let ty = value_type(schema, field);
    match found.and_then(|it| it.field_match_type.as_ref()) {
        None => "*".to_owned(),
        Some(found) => matches::text(found, |value| ty.show(value), |masked| ty.show_masked(masked)),
    }
}
