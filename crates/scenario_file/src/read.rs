//! From the texts of a scenario to its sections.

use crate::sections::ScenarioFile;
use crate::sources::{ScenarioFault, Sources};
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a scenario, with the values that the caller sets.
pub fn read(sources: &Sources) -> Result<ScenarioFile, ScenarioFault> {
    let fault = |error: toml::de::Error| sources.fault(error.span(), plain(error.message()));
    let padded: Vec<String> = (0..sources.sets.len()).map(|index| padded(sources, index)).collect();
    let mut table = DeTable::parse(&sources.text).map_err(fault)?;
    for (index, text) in padded.iter().enumerate() {
        let set = DeTable::parse(text).map_err(|error| sources.fault(error.span(), error.message()))?;
        merge(table.get_mut(), set.into_inner())
            .map_err(|message| sources.fault(Some(sources.set_offset(index)..0), message))?;
    }
    ScenarioFile::deserialize(toml::Deserializer::from(table)).map_err(fault)
}

/// A message of the reader in which types have names for people.
fn plain(message: &str) -> String {
    if message == "recursion limit" {
        return "tables or lists lie too deeply in each other".to_owned();
    }
    let Some((before, expected)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let plain = match expected {
        "u8" => "a whole number from 0 to 255",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "f64" => "a number",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "a sequence" => "a list",
        "a map" => "a table",
        expected if expected.starts_with("struct ") => "a table",
        expected => expected,
    };
    format!("{before}expected {plain}")
}

/// The text of a set value at the place where it would follow the file. A value may lack its quotes, as `10Gbps` does.
fn padded(sources: &Sources, index: usize) -> String {
    let blank = " ".repeat(sources.set_offset(index));
    let plain = format!("{blank}{}", sources.sets[index]);
    let quoted = sources.sets[index]
        .split_once('=')
        .map(|(key, value)| format!("{blank}{key}={}", serde_json::Value::from(value.trim())))
        .filter(|quoted| DeTable::parse(&plain).is_err() && DeTable::parse(quoted).is_ok());
    quoted.unwrap_or(plain)
}

/// Puts the values of a table in the place of those of another one. In a list of tables a number, from 0, names one.
fn merge<'a>(table: &mut DeTable<'a>, set: DeTable<'a>) -> Result<(), String> {
    for (key, value) in set {
        match (table.get_mut(&key), value) {
            (Some(old), value) => merge_value(old, value)?,
            (None, value) => drop(table.insert(key, value)),
        }
    }
    Ok(())
}

fn merge_value<'a>(old: &mut Spanned<DeValue<'a>>, value: Spanned<DeValue<'a>>) -> Result<(), String> {
    let span = value.span();
    match (old.get_mut(), value.into_inner()) {
        (DeValue::Table(old), DeValue::Table(new)) => merge(old, new),
        (DeValue::Array(elements), DeValue::Table(new)) => {
            for (key, value) in new {
                let count = elements.len();
                let element = key.get_ref().parse().ok().and_then(|index: usize| elements.get_mut(index));
                let element =
                    element.ok_or_else(|| format!("`{}` is not one of 0 to {}", key.get_ref(), count.max(1) - 1))?;
                merge_value(element, value)?;
            }
            Ok(())
        }
        (_, new) => {
            *old = Spanned::new(span, new);
            Ok(())
        }
    }
}
