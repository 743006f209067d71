//! The name by which the command was called: links with the names of tools that scripts call.
//!
//! What enters: the arguments of the process. What leaves: those of the corresponding command. [`LINKS`] has all
//! names; `wirespeed links` makes the links.
//!
//! * `simple_switch`, `simple_switch_grpc` ([`simple_switch`]): `run`, with the options of BMv2's switches.
//! * `simple_switch_CLI` ([`simple_switch_cli`]): `ctl --simple-switch-cli`, with that tool's own options.
//! * `p4c`, `p4c-bm2-ss` ([`p4c_options`]): the hidden command `p4c-bm2-ss`.

mod p4c_options;
mod simple_switch;
mod simple_switch_cli;

use crate::args::Arguments;
use crate::p4c;
use crate::{Exit, terminal};
use clap::{CommandFactory as _, FromArgMatches as _};
use std::ffi::OsString;
use std::path::Path;

/// The names of links.
pub const LINKS: [&str; 5] = ["p4c", p4c::COMMAND, "simple_switch", "simple_switch_grpc", "simple_switch_CLI"];

/// The arguments of the process, with the command inserted if it was called by a link.
pub fn arguments() -> Result<Vec<OsString>, Exit> {
    let mut all: Vec<OsString> = std::env::args_os().collect();
    let name = all.first().map(|name| Path::new(name).file_name().unwrap_or_default().to_owned()).unwrap_or_default();
    let Some(name) = name.to_str().filter(|name| LINKS.contains(name)) else { return Ok(all) };
    let given = all.split_off(1);
    all.extend(match name {
        "simple_switch" => simple_switch::meant(simple_switch::Kind::Thrift, given)?,
        "simple_switch_grpc" => simple_switch::meant(simple_switch::Kind::Grpc, given)?,
        "simple_switch_CLI" => simple_switch_cli::meant(given, &simple_switch_cli::listens, &simple_switch_cli::wait),
        "p4c" => p4c_options::of_driver(given),
        _ => p4c_options::of_compiler(given),
    });
    Ok(all)
}

/// The command's arguments. What is said about their usage has the name by which the command was called.
pub fn parse(words: Vec<OsString>) -> Arguments {
    let called = words.first().map(|name| Path::new(name).file_name().unwrap_or_default().to_owned());
    let mut command = Arguments::command();
    command = match called.as_ref().and_then(|name| name.to_str()) {
        Some(name @ ("p4c" | p4c::COMMAND)) => {
            command.mut_subcommand(p4c::COMMAND, |it| it.override_usage(format!("{name} [OPTIONS] <FILE>")))
        }
        Some(name @ ("simple_switch" | "simple_switch_grpc")) => {
            command.mut_subcommand("run", |it| it.override_usage(format!("{name} {}", simple_switch::USAGE)))
        }
        Some("simple_switch_CLI") => command.mut_subcommand("ctl", |it| it.override_usage(simple_switch_cli::USAGE)),
        _ => command,
    };
    let matches = command.clone().get_matches_from(words);
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// Options in the syntax of the tools: `--name value`, `--name=value`, `-n value`, `-nvalue`, and words between them.
struct Given {
    words: std::vec::IntoIter<OsString>,
    /// A value that was written with its option.
    value: Option<String>,
}

/// One word of a command line.
enum Word {
    /// The name of an option, with its hyphens.
    Option(String),
    /// Anything else.
    Plain(OsString),
}

impl Given {
    fn new(words: Vec<OsString>) -> Given {
        Given { words: words.into_iter(), value: None }
    }

    /// The next word. `short` are the letters of options whose value may follow without a blank.
    fn next(&mut self, short: &str) -> Option<Word> {
        let word = self.words.next()?;
        self.value = None;
        let Some(text) = word.to_str().filter(|text| text.len() > 1 && text.starts_with('-')) else {
            return Some(Word::Plain(word));
        };
        if let (Some((name, value)), true) = (text.split_once('='), text.starts_with("--")) {
            self.value = Some(value.to_owned());
            return Some(Word::Option(name.to_owned()));
        }
        let letter = text.chars().nth(1).filter(|&letter| short.contains(letter));
        if let Some(letter) = letter.filter(|letter| text.len() > 1 + letter.len_utf8()) {
            self.value = Some(text[1 + letter.len_utf8()..].to_owned());
            return Some(Word::Option(format!("-{letter}")));
        }
        Some(Word::Option(text.to_owned()))
    }

    /// The value of the option that came last.
    fn value(&mut self) -> Option<String> {
        self.value.take().or_else(|| Some(self.words.next()?.to_string_lossy().into_owned()))
    }

    /// The same for an optional value.
    fn optional(&mut self, is_value: impl Fn(&str) -> bool) -> Option<String> {
        if self.value.is_some() {
            return self.value.take();
        }
        let next = self.words.as_slice().first()?.to_string_lossy().into_owned();
        if next.starts_with('-') || !is_value(&next) {
            return None;
        }
        self.words.next();
        Some(next)
    }
}

fn usage(message: String) -> Exit {
    terminal::error(message);
    Exit::Usage
}

#[cfg(test)]
fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

#[cfg(test)]
fn line(words: &[OsString]) -> String {
    words.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
