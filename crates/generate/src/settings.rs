//! The settings of traffic and entries.
//!
//! What enters: lines of text, one setting each, as the options of `wirespeed gen` have them too. What leaves:
//! settings. A line `traffic` begins another kind of packets, with fields and paths of its own.

use crate::choice::ActionSetting;
use crate::expression::Expression;
use crate::flows::{Distribution, FLOWS_MAX, Sizes};

/// What is generated.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Flows of each kind of traffic.
    pub flows: u64,
    /// Entries of each table, as far as there are as many different keys.
    pub entries: u64,
    /// Packets.
    pub count: u64,
    /// How packets are distributed over flows.
    pub distribution: Distribution,
    /// How long frames are, without the checksum of Ethernet.
    pub sizes: Sizes,
    /// The seed of everything.
    pub seed: u64,
    /// Kinds of traffic, at least one.
    pub traffic: Vec<Traffic>,
}

/// A kind of packets, and the entries for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The port at which packets arrive, if it is not left to the parser.
    pub port: Option<u32>,
    /// The ports to which packets go, first and last.
    pub ports: (u32, u32),
    /// States of the parser that packets go through.
    pub through: Vec<String>,
    /// States that they do not go through.
    pub not_through: Vec<String>,
    /// Values of fields.
    pub fields: Vec<(String, Expression)>,
    /// Actions of entries.
    pub actions: Vec<ActionSetting>,
    /// Tables without entries.
    pub without_entries: Vec<String>,
    /// Lengths of prefixes, by table.
    pub prefixes: Vec<(String, u32)>,
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            port: None,
            ports: (2, 2),
            through: Vec::new(),
            not_through: Vec::new(),
            fields: Vec::new(),
            actions: Vec::new(),
            without_entries: Vec::new(),
            prefixes: Vec::new(),
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            flows: 1_000,
            entries: 1_000,
            count: 10_000,
            distribution: Distribution::InTurn,
            sizes: Sizes::Between(64, 64),
            seed: 1,
            traffic: vec![Traffic::default()],
        }
    }
}

impl Settings {
    /// Adds settings, a line each: a word, and what it is about. `#` begins a comment.
    pub fn read(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in text.lines().enumerate() {
            let line = line.split_once('#').map_or(line, |(line, _)| line).trim();
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            self.setting(word, rest.trim()).map_err(|why| format!("line {}: {why}", number + 1))?;
        }
        Ok(())
    }

    /// Adds one setting, to the last kind of traffic.
    pub fn setting(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "traffic" => {
                // Unless the one that is there has no settings yet.
                if *self.last_mut() != Traffic::default() {
                    self.traffic.push(Traffic::default());
                }
                Ok(())
            }
            _ => self.last_mut().setting(word, rest),
        }
    }

    /// Adds one setting to all kinds of traffic.
    pub fn setting_of_all(&mut self, word: &str, rest: &str) -> Result<(), String> {
        self.traffic.iter_mut().try_for_each(|traffic| traffic.setting(word, rest))
    }

    fn last_mut(&mut self) -> &mut Traffic {
        self.traffic.last_mut().expect("there is always one")
    }

    /// Whether all numbers are within bounds.
    pub fn check(&self) -> Result<(), String> {
        match () {
            () if !(1..=FLOWS_MAX).contains(&self.flows) => Err(format!("flows: 1 to {FLOWS_MAX}")),
            () if self.entries > base::limits::TABLE_ENTRIES_MAX as u64 => {
                Err(format!("entries: at most {}", base::limits::TABLE_ENTRIES_MAX))
            }
            () => Ok(()),
        }
    }
}

impl Traffic {
    fn setting(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "" => {}
            "port" => self.port = Some(rest.parse().map_err(|_| format!("`{rest}` is not a port"))?),
            "ports" => self.ports = ports(rest)?,
            "path" => self.through.extend(names(rest)),
            "not" => self.not_through.extend(names(rest)),
            "field" => {
                let parts = rest.split_once('=');
                let (name, value) = parts.ok_or_else(|| format!("`{rest}`: a field is NAME=EXPRESSION"))?;
                self.fields.push((name.trim().to_owned(), Expression::parse(value.trim())?));
            }
            "action" => self.actions.push(ActionSetting::parse(rest)?),
            "no-entries" => self.without_entries.extend(names(rest)),
            "prefix" => self.prefixes.push(prefix(rest)?),
            _ => {
                let words = "traffic, port, ports, path, not, field, action, no-entries, prefix";
                return Err(format!("`{word}` is not a setting; there are {words}"));
            }
        }
        Ok(())
    }
}

fn names(text: &str) -> impl Iterator<Item = String> {
    text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Reads `TABLE=LENGTH`.
fn prefix(text: &str) -> Result<(String, u32), String> {
    let parts = text.split_once('=').and_then(|(table, length)| Some((table.trim(), length.trim().parse().ok()?)));
    let (table, length) = parts.ok_or_else(|| format!("`{text}`: lengths of prefixes are TABLE=LENGTH"))?;
    Ok((table.to_owned(), length))
}

/// Reads a port, or a range of ports.
fn ports(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.trim().parse().ok().zip(last.trim().parse().ok());
    range.filter(|(first, last)| first <= last).ok_or_else(|| format!("`{text}` is neither a port nor a range as 2-4"))
}
