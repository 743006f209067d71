//! The language: from words to plans.
//!
//! A line begins with a command. A name is a control-plane name or a sufficient suffix of it. Values are written as
//! everywhere in Wirespeed. Keys, arguments and fields are given in order or as NAME=VALUE.
//!
//! * [`forms`]: the commands with their syntax; [`help`](mod@help): their help.
//! * `tables`: entries and default actions; `cells`: counters, meters, registers; `profiles`: members and groups;
//!   `replication`: multicast and clones; `dump`: the state of the switch; `trace`: packets as they arrive; `others`:
//!   all other commands.

mod cells;
mod dump;
pub mod forms;
pub mod help;
mod others;
mod profiles;
mod replication;
mod tables;
mod trace;

use crate::plan::Plan;
use crate::schema::{Schema, name};
use crate::value::{Said, ValueType};
use crate::words::{self, Word};
use control::{Problem, names};
use p4runtime_proto::p4::{config::v1 as config, v1};

pub(crate) use others::field_types;

/// Parses a line into a plan.
pub fn parse(line: &str, schema: &Schema) -> Result<Plan, Problem> {
    let words = words::split(line)?;
    let Some((first, rest)) = words.split_first() else { return Ok(Plan::Nothing) };
    let form = forms::find(&first.text)?;
    (form.parse)(&Arguments { schema, form, words: rest })
}

/// Whether parsing the line requires the P4Info of a program.
pub fn needs_program(line: &str) -> bool {
    let words = words::split(line).unwrap_or_default();
    words.first().and_then(|first| forms::find(&first.text).ok()).is_some_and(|form| form.needs_program)
}

/// The words after a command.
pub(crate) struct Arguments<'a> {
    pub schema: &'a Schema,
    form: &'static forms::Form,
    pub words: &'a [Word],
}

impl<'a> Arguments<'a> {
    /// An error with the command's usage.
    pub fn misuse(&self, message: impl Into<String>) -> Problem {
        Problem::new(message).with_help(self.form.usage.join("\n        "))
    }

    /// The word at this position, which is `what`.
    pub fn word(&self, index: usize, what: &str) -> Result<&'a str, Problem> {
        match self.words.get(index) {
            Some(word) => Ok(&word.text),
            None => Err(self.misuse(format!("{} needs {what}", self.form.name))),
        }
    }

    /// The words from this position.
    pub fn from(&self, index: usize) -> &'a [Word] {
        self.words.get(index..).unwrap_or_default()
    }

    /// Refuses words from this position.
    pub fn end(&self, index: usize) -> Result<(), Problem> {
        match self.words.get(index) {
            None => Ok(()),
            Some(word) => Err(self.misuse(format!("{} is one word too many", word.text))),
        }
    }

    /// The 32-bit number at this position, which is `what`.
    pub fn number(&self, index: usize, what: &str) -> Result<u32, Problem> {
        values::unsigned(self.word(index, what)?, u64::from(u32::MAX), what).map(|number| number as u32)
    }
}

/// The words before and after `do` or `=>`; `None` if there is neither.
pub(crate) fn around_do(words: &[Word]) -> (&[Word], Option<&[Word]>) {
    match words.iter().position(|word| word.is("do") || word.is("=>")) {
        Some(position) => (&words[..position], Some(&words[position + 1..])),
        None => (words, None),
    }
}

/// An action with all its arguments. Parameters of no bits may be left out; if there are words for all parameters, they
/// have theirs.
pub(crate) fn call(schema: &Schema, action: &config::Action, words: &[Word]) -> Result<v1::Action, Problem> {
    let owner = format!("action {}", name(&action.preamble));
    let params: Vec<&str> = action.params.iter().map(|param| param.name.as_str()).collect();
    let mut texts: Vec<Option<&str>> = vec![None; params.len()];
    let mut in_order = params_in_order(schema, action, words).into_iter();
    for word in words {
        let (index, text) = match word.named() {
            Some((name, text)) => (names::find("parameter", "parameters", name, &params, &owner)?, text),
            None => (in_order.next().unwrap_or(params.len()), word.text.as_str()),
        };
        match texts.get_mut(index) {
            Some(slot @ None) => *slot = Some(text),
            Some(_) => return Err(Problem::new(format!("parameter {} is given twice", params[index]))),
            None => return Err(argument_count(&owner, &params, words.len())),
        }
    }
    let or_nothing = |(param, text): (&_, Option<_>)| text.or(param_type(schema, param).is_empty().then_some("0"));
    let texts: Option<Vec<&str>> = action.params.iter().zip(texts).map(or_nothing).collect();
    let texts = texts.ok_or_else(|| argument_count(&owner, &params, words.len()))?;
    let argument = |(param, text): (&config::action::Param, &str)| {
        let value = param_type(schema, param).read(text)?;
        Ok(v1::action::Param { param_id: param.id, value })
    };
    let params = action.params.iter().zip(texts).map(argument).collect::<Result<_, Problem>>()?;
    Ok(v1::Action { action_id: crate::schema::id(&action.preamble), params })
}

/// The positions of the parameters that words without a name stand for: those that have bits, or all if there are more
/// words.
fn params_in_order(schema: &Schema, action: &config::Action, words: &[Word]) -> Vec<usize> {
    let all = 0..action.params.len();
    let with_bits: Vec<usize> =
        all.clone().filter(|&index| !param_type(schema, &action.params[index]).is_empty()).collect();
    let unnamed = words.iter().filter(|word| word.named().is_none()).count();
    if unnamed > with_bits.len() { all.collect() } else { with_bits }
}

fn argument_count(owner: &str, params: &[&str], given: usize) -> Problem {
    let list = if params.is_empty() { String::new() } else { format!(": {}", params.join(", ")) };
    let plural = if params.len() == 1 { "argument" } else { "arguments" };
    Problem::new(format!("{owner} takes {} {plural}{list}; {given} given", params.len()))
}

/// The type of a parameter's values.
pub(crate) fn param_type<'a>(schema: &'a Schema, param: &'a config::action::Param) -> ValueType<'a> {
    let (type_name, annotations) = (param.type_name.as_ref(), param.annotations.as_slice());
    ValueType::new(schema, "parameter", &param.name, Said { bitwidth: param.bitwidth, type_name, annotations })
}

/// A port in P4Runtime's form.
pub(crate) fn port(text: &str) -> Result<Vec<u8>, Problem> {
    let number = values::unsigned(text, u64::from(u32::MAX), "port")?;
    Ok(values::canonical(&number.to_be_bytes()))
}

/// Units of time, and nanoseconds in each.
const TIME_UNITS: [(&str, f64); 6] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("min", 6e10), ("s", 1e9), ("h", 3.6e12)];

/// A time with its unit, in nanoseconds.
pub(crate) fn duration_ns(text: &str) -> Result<i64, Problem> {
    let broken = || {
        Problem::new(format!("{text} is not a valid time"))
            .with_help("a time is a number with a unit: 10s, 500ms, 5min")
    };
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let (_, factor) = TIME_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(broken)?;
    let number = &text[..text.len() - unit.len()];
    if let Ok(number) = number.parse::<i64>() {
        return number.checked_mul(*factor as i64).ok_or_else(broken);
    }
    let number: f64 = number.parse().map_err(|_| broken())?;
    let ns = (number * factor).round();
    // Below 2^63, converting to an integer cannot overflow.
    if (0.0..9.2e18).contains(&ns) { Ok(ns as i64) } else { Err(broken()) }
}

/// Formats a time with the largest unit in which it is a whole number.
pub(crate) fn duration_text(ns: i64) -> String {
    let units =
        [("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    match units.iter().find(|(_, factor)| ns != 0 && ns % factor == 0) {
        Some((unit, factor)) => format!("{}{unit}", ns / factor),
        None => format!("{ns}ns"),
    }
}

/// Bytes in hexadecimal digits, with or without `0x`, colons and spaces.
pub(crate) fn hex_bytes(text: &str, what: &str) -> Result<Vec<u8>, Problem> {
    let digits: Vec<u32> = text
        .strip_prefix("0x")
        .unwrap_or(text)
        .chars()
        .filter(|it| !it.is_whitespace() && *it != ':')
        .map(|it| it.to_digit(16).ok_or(it))
        .collect::<Result<_, char>>()
        .map_err(|it| Problem::new(format!("{it} is not a hexadecimal digit of {what}")))?;
    match digits.len() % 2 {
        0 => Ok(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()),
        _ => Err(Problem::new(format!("{what} has half a byte: there is an odd number of hexadecimal digits"))),
    }
}
