//! The log of a running switch.
//!
//! What enters: events of all crates (`tracing`), and the messages of [`crate::terminal`] once logging has begun.
//! What leaves: lines on standard error, in one of three formats: messages as of all commands; text with time, level
//! and place; JSON. Nothing is logged per packet.

use crate::{Exit, terminal};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The environment variable for the log level, if `--log-level` is not given.
pub const FILTER_VARIABLE: &str = "WIRESPEED_LOG";

/// The default log level.
const FILTER: &str = "info";

/// The part that messages of the command itself come from.
pub(crate) const COMMAND: &str = "wirespeed";

/// The format of lines, once logging has begun.
static FORM: OnceLock<Form> = OnceLock::new();

/// The format of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// As for all commands: `warning: ...`.
    Messages,
    Text,
    Json,
}

/// The log of a running switch on standard error.
#[derive(Args, Debug, Clone, Default)]
pub struct LogArguments {
    /// The format of log lines about controllers, programs, links and state [default: messages without a time]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// The log level: error, warn, info, debug, trace or off, or levels of parts, as warn,p4runtime=debug [default:
    /// $WIRESPEED_LOG, else info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
}

/// The format of log lines.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// Time, level, part, message, fields
    Text,
    /// An object of JSON
    Json,
}

impl LogFormat {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }
    }
}

/// Begins logging: from here on all messages are in the requested format.
pub fn start(arguments: &LogArguments) -> Result<(), Exit> {
    let variable = std::env::var(FILTER_VARIABLE).ok().filter(|text| !text.is_empty());
    let (filter, source) = match (&arguments.log_level, &variable) {
        (Some(filter), _) => (filter.as_str(), "--log-level"),
        (None, Some(filter)) => (filter.as_str(), FILTER_VARIABLE),
        (None, None) => (FILTER, ""),
    };
    let targets = targets(filter).ok_or_else(|| {
        terminal::error(format!(
            "{source} `{filter}`: it is error, warn, info, debug, trace or off, or levels of parts, as warn,p4runtime=debug"
        ));
        Exit::Usage
    })?;
    let form = match arguments.log_format {
        None => Form::Messages,
        Some(LogFormat::Text) => Form::Text,
        Some(LogFormat::Json) => Form::Json,
    };
    let subscriber = tracing_subscriber::registry().with(Lines.with_filter(targets));
    // A second start in a process changes nothing.
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let _first = FORM.set(form);
    }
    Ok(())
}

/// Libraries that log each frame at the level `debug`: users who request that look for messages of the switch.
const LIBRARIES: [&str; 8] = ["h2", "hyper", "hyper_util", "mio", "rustls", "rustyline", "tonic", "tower"];

/// The events that a filter accepts; `None` if it cannot be parsed.
fn targets(filter: &str) -> Option<Targets> {
    let is_right = |part: &str| {
        let (name, level) = part.split_once('=').unwrap_or(("all", part));
        !name.trim().is_empty() && !level.trim().is_empty() && level.trim().parse::<LevelFilter>().is_ok()
    };
    let targets: Targets = filter.split(',').all(is_right).then(|| filter.parse().ok())??;
    let of_all = filter.split(',').filter(|part| !part.contains('='));
    let is_debug = of_all.filter_map(|part| part.trim().parse().ok()).next_back() == Some(LevelFilter::DEBUG);
    let is_named = |library: &str| filter.split(',').any(|part| part.split('=').next().map(str::trim) == Some(library));
    let quiet = LIBRARIES.iter().filter(|library| is_debug && !is_named(library));
    Some(quiet.fold(targets, |targets, library| targets.with_target(*library, LevelFilter::INFO)))
}

/// Logs a message if logging has begun; otherwise does nothing.
pub fn log(level: Level, message: &str) -> bool {
    if FORM.get().is_none() {
        return false;
    }
    match level {
        Level::ERROR => tracing::error!(target: COMMAND, "{message}"),
        Level::WARN => tracing::warn!(target: COMMAND, "{message}"),
        _ => tracing::info!(target: COMMAND, "{message}"),
    }
    true
}

/// Whether every line must be JSON.
pub fn is_json() -> bool {
    FORM.get() == Some(&Form::Json)
}

/// Writes events as lines.
struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let target = metadata.target().split("::").next().unwrap_or_default();
        let form = FORM.get().copied().unwrap_or(Form::Messages);
        let line = line(form, now_ns(), *metadata.level(), target, &fields, terminal::is_coloured());
        // One call, so that lines of several threads do not mix; a terminal may show the line of rates just now.
        let clear = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        let _unheard = std::io::stderr().write_all(format!("{clear}{line}\n").as_bytes());
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.others.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, Value::String(format!("{value:?}")));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, json!(value));
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, json!(value));
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, json!(value));
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, json!(value));
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, json!(value));
    }
    fn record_u128(&mut self, field: &Field, value: u128) {
        // Integers that JSON readers cannot represent exactly.
        self.add(field, json!(value.to_string()));
    }
}

/// A line without its end.
fn line(form: Form, now_ns: u64, level: Level, target: &str, fields: &Fields, is_coloured: bool) -> String {
    let (word, color) = match level {
        Level::ERROR => ("error", "31"),
        Level::WARN => ("warning", "33"),
        Level::INFO => ("note", "36"),
        Level::DEBUG => ("debug", "34"),
        Level::TRACE => ("trace", "35"),
    };
    let (strong, end) = if is_coloured { (format!("\x1b[1;{color}m"), "\x1b[0m") } else { (String::new(), "") };
    match form {
        Form::Messages if is_coloured => {
            format!("{strong}{word}{end}\x1b[1m:\x1b[0m {}{}", fields.message, shown(fields))
        }
        Form::Messages => format!("{word}: {}{}", fields.message, shown(fields)),
        Form::Text => {
            let level = level.as_str();
            format!("{} {strong}{level:<5}{end} {target}: {}{}", timestamp(now_ns), fields.message, shown(fields))
        }
        Form::Json => {
            let mut object = Map::new();
            object.insert("time".to_owned(), json!(timestamp(now_ns)));
            object.insert("level".to_owned(), json!(level.as_str().to_ascii_lowercase()));
            object.insert("target".to_owned(), json!(target));
            object.insert("message".to_owned(), json!(fields.message));
            for (name, value) in &fields.others {
                object.entry(*name).or_insert_with(|| value.clone());
            }
            Value::Object(object).to_string()
        }
    }
}

/// The fields after the message.
fn shown(fields: &Fields) -> String {
    let mut text = String::new();
    for (name, value) in &fields.others {
        let is_plain = |text: &str| !text.is_empty() && !text.contains(|it: char| it.is_whitespace() || it == '"');
        let _infallible = match value {
            Value::String(value) if is_plain(value) => write!(text, " {name}={value}"),
            value => write!(text, " {name}={value}"),
        };
    }
    text
}

/// A time in UTC, as RFC 3339 writes it.
fn timestamp(since_epoch_ns: u64) -> String {
    let (seconds, microseconds) = (since_epoch_ns / 1_000_000_000, since_epoch_ns / 1_000 % 1_000_000);
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microseconds:06}Z")
}

/// Year, month and day of a day since 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(form: Form, expect: Expect) {
        let others = vec![("port", json!(2)), ("name", json!("eth\"0 x")), ("client", json!("127.0.0.1:5"))];
        let fields = Fields { message: "it \"went\"\n".trim().to_owned(), others };
        expect.assert_eq(&line(form, 1_763_761_231_000_042_000, Level::WARN, "live", &fields, false));
    }

    #[test]
    fn forms() {
        check(Form::Messages, expect![[r#"warning: it "went" port=2 name="eth\"0 x" client=127.0.0.1:5"#]]);
        check(
            Form::Text,
            expect![[r#"2025-11-21T21:40:31.000042Z WARN  live: it "went" port=2 name="eth\"0 x" client=127.0.0.1:5"#]],
        );
        check(
            Form::Json,
            expect![[
                r#"{"client":"127.0.0.1:5","level":"warn","message":"it \"went\"","name":"eth\"0 x","port":2,"target":"live","time":"2025-11-21T21:40:31.000042Z"}"#
            ]],
        );
    }

    #[test]
    fn filters() {
        for right in ["info", "off", "WARN", "warn,p4runtime=debug", "p4runtime=off"] {
            assert!(targets(right).is_some(), "{right}");
        }
        for wrong in ["", "verbose", "warn,", "p4runtime", "p4runtime=", "=info", "a=b"] {
            assert!(targets(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn libraries_tell_their_frames_only_to_who_names_them() {
        let enables = |filter: &str, target: &str| targets(filter).unwrap().would_enable(target, &Level::DEBUG);
        for filter in ["debug", "warn,debug", "debug,p4runtime=info"] {
            assert!(enables(filter, "live::worker"), "{filter}");
            assert!(!enables(filter, "h2::codec::framed_read"), "{filter}");
            assert!(!enables(filter, "tonic::transport"), "{filter}");
        }
        assert!(!enables("info", "live"));
        assert!(enables("debug,h2=debug", "h2::codec"));
        assert!(enables("trace", "h2::codec"));
    }

    #[test]
    fn dates() {
        let day = |days: u64| timestamp(days * 86_400_000_000_000)[..10].to_owned();
        assert_eq!(
            [0, 58, 59, 789, 19_782, 47_540].map(day),
            ["1970-01-01", "1970-02-28", "1970-03-01", "1972-02-29", "2024-02-29", "2100-02-28",]
        );
    }
}
