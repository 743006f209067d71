//! `wirespeed gen`: packets and entries for a program.
//!
//! What enters: a program or the name of a use case, and settings. What leaves: a capture for each port, a file with
//! commands for `--entries`, and what of the parser was reached. `generate` makes all of it.

use crate::Exit;
use crate::args::SourceArguments;
use crate::frontend;
use crate::ports;
use crate::terminal::{self, Progress, grouped, say};
use base::OrderedMap;
use clap::Args;
use generate::flows::{Distribution, Sizes};
use generate::{Generator, PRESETS, Preset, Report, Settings};
use live::pcap::CaptureWriter;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// The time between packets of a capture.
const INTERVAL_NS: u64 = 1_000;

/// Packets between two reports of progress.
const REPORT_PACKETS: u64 = 10_000;

/// `wirespeed gen`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed gen router.p4                         1,000 flows through every state of its parser, and entries for them
  wirespeed gen router.p4 --coverage              which states packets reach, and why others are not reached
  wirespeed gen router.p4 --path parse_ipv4 --field ipv4.ttl=64 --action 'routes=forward(port, random(1, 9))'
  wirespeed gen bng --flows 100000 --entries 100000 --count 1000000 --bytes imix --pick zipf:1.1
  wirespeed bench apps/bng/bng.p4 --entries bng.txt --trace 1=bng.1.pcap --trace 3=bng.3.pcap

Use cases: l2fwd, l3fwd, l3fwd6, dcg (dcg-in, dcg-out), bng (bng-up, bng-down), for the programs in apps. Their settings
can be changed by options, which come after them.

An expression is a number or an address, `flow` (the number of the flow), `entries`, `port` (one of --ports), `key(N)`
(the entry's key), random(LOW, HIGH), with + - * / % and parentheses. More is in docs/guide/gen.md.")]
pub struct GenArguments {
    /// The program, or the name of a use case
    #[arg(value_name = "FILE|USE_CASE")]
    pub subject: String,
    /// The program of a use case [default: the one in apps]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub source: SourceArguments,
    /// The flows of each kind of traffic
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub flows: u64,
    /// The entries of each table, as far as packets have as many different keys [default: as many as flows]
    #[arg(long, value_name = "N")]
    pub entries: Option<u64>,
    /// The packets [default: ten of each flow, at most 1,000,000]
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// The length of frames without their checksum: a number, a range as 60-1514, or imix; no shorter than the headers
    #[arg(long, default_value = "60", value_name = "N|LOW-HIGH|imix")]
    pub bytes: Sizes,
    /// Which flow the next packet belongs to: turn, uniform, zipf or zipf:EXPONENT
    #[arg(long, default_value = "turn", value_name = "DISTRIBUTION")]
    pub pick: Distribution,
    /// The seed of everything random
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// The port at which packets arrive, if the parser does not require one [default: 1, or that of the use case]
    #[arg(long, value_name = "PORT")]
    pub in_port: Option<u32>,
    /// The ports to which entries send packets: a number or a range as 2-4 [default: 2, or those of the use case]
    #[arg(long, value_name = "PORTS")]
    pub ports: Option<String>,
    /// States of the parser that packets go through, separated by commas; may be repeated
    #[arg(long = "path", value_name = "STATES")]
    pub through: Vec<String>,
    /// States of the parser that packets do not go through
    #[arg(long = "not", value_name = "STATES")]
    pub not_through: Vec<String>,
    /// The value of a field: its name, or the end of it, and an expression; may be repeated
    #[arg(long = "field", value_name = "NAME=EXPRESSION")]
    pub fields: Vec<String>,
    /// The action of a table's entries, and its arguments as expressions; may be repeated
    #[arg(long = "action", value_name = "TABLE=ACTION[(ARGUMENT, ...)]")]
    pub actions: Vec<String>,
    /// Tables without entries, separated by commas; may be repeated
    #[arg(long, value_name = "TABLES")]
    pub no_entries: Vec<String>,
    /// The length of a table's prefixes [default: as they are in the Internet]; may be repeated
    #[arg(long = "prefix", value_name = "TABLE=LENGTH")]
    pub prefixes: Vec<String>,
    /// A file with settings, a line each, as those of use cases; may be repeated
    #[arg(long = "settings", value_name = "FILE")]
    pub settings: Vec<PathBuf>,
    /// Where files go: NAME.txt for entries, NAME.PORT.pcap for packets [default: the subject's name, in this folder]
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Show all states of the parser, and all kinds of packets; write no packets
    #[arg(long)]
    pub coverage: bool,
    /// One JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Generates packets and entries.
pub fn generate(arguments: &GenArguments) -> Result<Exit, Exit> {
    let preset = Preset::named(&arguments.subject).filter(|_| !Path::new(&arguments.subject).is_file());
    let program = match (preset, &arguments.program) {
        (_, Some(program)) => program.clone(),
        (Some(preset), None) => PathBuf::from(preset.program),
        (None, None) => PathBuf::from(&arguments.subject),
    };
    if preset.is_none() && arguments.program.is_none() && !program.exists() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        return Err(usage(format!(
            "`{}` is neither a program nor a use case: {}",
            arguments.subject,
            names.join(", ")
        )));
    }
    let settings = settings(arguments, preset)?;
    let source = SourceArguments { as_written: true, ..arguments.source.clone() };
    let compiled = frontend::load(&program, &source, true)?;
    let base = arguments.output.clone().unwrap_or_else(|| {
        PathBuf::from(Path::new(&arguments.subject).file_stem().unwrap_or(arguments.subject.as_ref()))
    });
    let generator = Generator::new(compiled.program.ir(), &settings).map_err(usage)?;
    let (report, entries) = write_entries(&generator, &with_ending(&base, "txt"))?;
    let captures = if arguments.coverage { Vec::new() } else { write_packets(&generator, &base, settings.count)? };
    match arguments.json {
        true => say!("{}", json(&report, &entries, &captures)),
        false => print(arguments, &report, &entries, &captures),
    }
    report_lack(arguments.entries, compiled.program.ir(), &report);
    Ok(Exit::Success)
}

/// The settings of the use case, then those of files and options.
fn settings(arguments: &GenArguments, preset: Option<&Preset>) -> Result<Settings, Exit> {
    let mut settings = Settings {
        flows: arguments.flows,
        entries: arguments.entries.unwrap_or(arguments.flows),
        count: arguments.count.unwrap_or(arguments.flows.saturating_mul(10).min(1_000_000)),
        distribution: arguments.pick,
        sizes: arguments.bytes,
        seed: arguments.seed,
        ..Settings::default()
    };
    if let Some(preset) = preset {
        preset.apply(&mut settings).map_err(usage)?;
    }
    for file in &arguments.settings {
        let text = base::files::open(file).and_then(std::io::read_to_string).map_err(|error| {
            terminal::error(format!("cannot read {}: {error}", file.display()));
            Exit::BadInput
        })?;
        settings.read(&text).map_err(|why| usage(format!("{}: {why}", file.display())))?;
    }
    let number = |port: &u32| vec![port.to_string()];
    let options: [(&str, &str, Vec<String>); 8] = [
        ("--in-port", "port", arguments.in_port.as_ref().map(number).unwrap_or_default()),
        ("--ports", "ports", arguments.ports.iter().cloned().collect()),
        ("--path", "path", arguments.through.clone()),
        ("--not", "not", arguments.not_through.clone()),
        ("--field", "field", arguments.fields.clone()),
        ("--action", "action", arguments.actions.clone()),
        ("--no-entries", "no-entries", arguments.no_entries.clone()),
        ("--prefix", "prefix", arguments.prefixes.clone()),
    ];
    for (option, word, values) in options {
        for value in values {
            settings.setting_of_all(word, &value).map_err(|why| usage(format!("{option}: {why}")))?;
        }
    }
    Ok(settings)
}

fn usage(message: impl std::fmt::Display) -> Exit {
    terminal::error(message);
    Exit::Usage
}

/// Reports if no table has as many entries as requested, and why the fullest has fewer.
fn report_lack(asked: Option<u64>, program: &ir::Program, report: &Report) {
    let Some(fullest) = report.tables.iter().max_by_key(|table| table.entries) else { return };
    let Some(asked) = asked.filter(|asked| fullest.entries < *asked) else { return };
    let size = program.tables.iter().find(|table| table.name == fullest.name).map_or(0, |table| table.size);
    let why = match fullest.entries >= size {
        true => format!("the program gives it a size of {}", grouped(size)),
        false => "packets have no more different keys for it, or its entries cover all of them".to_owned(),
    };
    let (made, asked) = (grouped(fullest.entries), grouped(asked));
    terminal::warning(format!("no table has {asked} entries: {} has {made}: {why}", fullest.name));
}

/// A path with one more ending.
fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}

/// A file that was written, and how many entries or packets it has.
struct Written {
    path: PathBuf,
    port: Option<u32>,
    count: u64,
}

fn write_entries(generator: &Generator<'_>, path: &Path) -> Result<(Report, Written), Exit> {
    let refused = |error: std::io::Error| {
        terminal::error(format!("cannot write {}: {error}", path.display()));
        Exit::System
    };
    let progress = Progress::start("making entries");
    let mut file = BufWriter::new(File::create(path).map_err(refused)?);
    let report = generator.entries(&mut file, &mut |flow, flows| {
        progress.set(format!("making entries: flow {} of at most {}", grouped(flow), grouped(flows)));
    });
    let report = report.and_then(|report| file.flush().map(|()| report)).map_err(refused)?;
    let count = report.tables.iter().map(|table| table.entries).sum();
    Ok((report, Written { path: path.to_owned(), port: None, count }))
}

fn write_packets(generator: &Generator<'_>, base: &Path, count: u64) -> Result<Vec<Written>, Exit> {
    let progress = Progress::start("making packets");
    let mut files: OrderedMap<u32, (CaptureWriter, Written)> = OrderedMap::new();
    let mut number = 0;
    let made = generator.packets(|port, frame| {
        if number % REPORT_PACKETS == 0 {
            progress.set(format!("making packets: {} of {}", grouped(number), grouped(count)));
        }
        if let base::ordered::Entry::Vacant(place) = files.entry(port) {
            let path = with_ending(base, &format!("{port}.pcap"));
            let writer = CaptureWriter::create(&path)?;
            place.insert((writer, Written { path, port: Some(port), count: 0 }));
        }
        if let Some((writer, written)) = files.get_mut(&port) {
            writer.write(frame, number * INTERVAL_NS)?;
            written.count += 1;
        }
        number += 1;
        Ok(())
    });
    let failed = |error: live::DriverError| {
        terminal::error(&error);
        ports::exit_of(&error)
    };
    made.map_err(failed)?;
    files.values_mut().try_for_each(|(writer, _)| writer.flush()).map_err(failed)?;
    Ok(files.into_values().map(|(_, written)| written).collect())
}

fn print(arguments: &GenArguments, report: &Report, entries: &Written, captures: &[Written]) {
    say!("{}: {} entries", entries.path.display(), grouped(entries.count));
    for written in captures {
        let port = written.port.map_or(String::new(), |port| format!(" for port {port}"));
        say!("{}: {} packets{port}", written.path.display(), grouped(written.count));
    }
    if !report.tables.is_empty() {
        let width = report.tables.iter().map(|table| table.name.len()).max().unwrap_or(0).max(6);
        say!();
        say!("{:width$}  {:>12}  {:>12}  {:>12}", "tables", "entries", "lookups", "hits");
        for table in &report.tables {
            let [entries, lookups, hits] = [table.entries, table.lookups, table.hits].map(grouped);
            say!("{:width$}  {entries:>12}  {lookups:>12}  {hits:>12}", table.name);
        }
    }
    let reached = report.states.iter().filter(|state| state.why_not.is_none()).count();
    say!();
    let all = report.states.len();
    let hint = if reached == all || arguments.coverage { "" } else { "; --coverage shows which, and why" };
    say!("{reached} of {all} states of the parser are reached{hint}");
    for state in report.states.iter().filter(|_| arguments.coverage) {
        match &state.why_not {
            None => say!("  {}", state.name),
            Some(why) => say!("  {}: not reached: {why}", state.name),
        }
    }
    if report.has_other_parser {
        say!("the parser behind the queues was not walked");
    }
    if arguments.coverage {
        say!();
        say!("kinds of packets, by the states that they go through");
        report.kinds.iter().for_each(|kind| say!("  {kind}"));
    }
}

fn json(report: &Report, entries: &Written, captures: &[Written]) -> serde_json::Value {
    let captures = captures.iter().map(|it| json!({"file": it.path, "port": it.port, "packets": it.count}));
    let states = report.states.iter().map(|it| json!({"state": it.name, "why_not": it.why_not}));
    let tables = report.tables.iter();
    let tables =
        tables.map(|it| json!({"table": it.name, "entries": it.entries, "lookups": it.lookups, "hits": it.hits}));
    json!({
        "entries": {"file": entries.path, "entries": entries.count},
        "captures": captures.collect::<Vec<_>>(),
        "tables": tables.collect::<Vec<_>>(),
        "states": states.collect::<Vec<_>>(),
        "kinds": report.kinds,
    })
}
