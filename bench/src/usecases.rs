//! The use cases in `apps`, from memory to memory: as compiled programs, and by hand in C (`peers/usecases.c`).
//!
//! What enters: the number of entries, the length of frames, the number of workers. What leaves: nanoseconds per packet
//! of each, in turn, and their ratio. The traffic and the entries are those of `wirespeed gen`; the C gets the same
//! entries, and its output for each frame must be that of the program.

mod picture;

use crate::Arguments;
use crate::compiled;
use crate::limit::{UseCase, UseCaseFrames};
use crate::progress::Progress;
use generate::expression::{Context, Expression};
use generate::flows::Distribution;
use generate::{Generator, Preset, Settings};
use measure::figures::{median, range};
use measure::memory::Bench;
use measure::traffic::Trace;
use measure::veth::{Carrier, Pairs};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::Duration;
use switch::{Output, Switch};
use wirespeed::{Backend, Options};

/// How long a run is.
const RUN: Duration = Duration::from_millis(300);

/// Frames that are lent to the switch at once.
const BURST: usize = 256;

/// A table of a program, and the one of the peer.
struct Table {
    /// The end of its name.
    name: &'static str,
    number: u32,
    form: Form,
}

/// How the peer has the entries of a table.
#[derive(Clone, Copy)]
enum Form {
    /// By one key.
    Key,
    /// By several keys, of these widths in bits, packed into two words.
    Keys(&'static [u32]),
    /// By a prefix of IPv4: the first argument, or 0.
    Route4,
    /// The same for each tenant, whose number comes first in the key.
    TenantRoute4,
    /// By a prefix of IPv6.
    Route6,
}

const fn table(name: &'static str, number: u32, form: Form) -> Table {
    Table { name, number, form }
}

/// The use cases: name, function of the peer, its tables.
const JOBS: &[(&str, &str, &[Table])] = &[
    ("l2fwd", "l2fwd", &[table("destination", 0, Form::Keys(&[0, 0, 64, 0]))]),
    ("l3fwd", "l3fwd", ROUTER4),
    ("l3fwd6", "l3fwd6", ROUTER6),
    ("dcg-in", "dcg_in", DCG_IN),
    ("dcg-out", "dcg_out", DCG_OUT),
    ("bng-up", "bng_up", BNG_UP),
    ("bng-down", "bng_down", BNG_DOWN),
];
const ROUTER4: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("route4", 1, Form::Route4),
    table("groups", 2, Form::Key),
    table("next_hops", 3, Form::Key),
];
const ROUTER6: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("route6", 1, Form::Route6),
    table("groups", 2, Form::Key),
    table("next_hops", 3, Form::Key),
];
const DCG_IN: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("services4", 1, Form::Keys(&[32, 8, 16])),
    table("balancing", 2, Form::Key),
    table("servers", 3, Form::Key),
    table("end_points", 4, Form::Key),
];
const DCG_OUT: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("own_end_points", 1, Form::Key),
    table("known_end_points", 2, Form::Key),
    table("segments", 3, Form::Keys(&[32, 24])),
    table("sources4", 4, Form::TenantRoute4),
    table("routes4", 5, Form::TenantRoute4),
    table("next_hops", 6, Form::Key),
];
const BNG_UP: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("tunnels", 1, Form::Keys(&[32, 32, 1, 32])),
    table("bindings_up", 2, Form::Keys(&[32, 32, 8, 16])),
    table("core_routes", 3, Form::Route4),
    table("next_hops", 4, Form::Key),
];
const BNG_DOWN: &[Table] = &[
    table("interfaces", 0, Form::Key),
    table("addresses", 1, Form::Route4),
    table("bindings_down", 2, Form::Keys(&[32, 8, 16])),
    table("subscribers", 3, Form::Key),
    table("access_routes", 4, Form::Route4),
    table("next_hops", 5, Form::Key),
];

/// A value, and the length of the prefix if it is one.
type KeyPart = (u128, Option<u32>);

/// An entry as the commands have it.
struct Entry {
    table: String,
    key: Vec<KeyPart>,
    args: Vec<u64>,
}

/// Measures all use cases, or the one that is named, and prints a row for each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &arguments.picture_of {
        return picture::print(file);
    }
    let jobs = JOBS.iter().filter(|(name, ..)| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str())));
    let mut rows = Vec::new();
    for (name, job, tables) in jobs {
        rows.push(measure(arguments, name, job, tables)?);
    }
    match arguments.json {
        true => rows.iter().for_each(|row| println!("{row}")),
        false => print(arguments, &rows),
    }
    Ok(())
}

/// Packets and entries of a use case.
fn traffic(arguments: &Arguments, name: &str) -> Result<(String, Trace), Box<dyn Error>> {
    let preset = Preset::named(name).ok_or("there is no such use case")?;
    let entries = u64::from(arguments.routes);
    let mut settings = Settings {
        flows: entries,
        entries,
        count: u64::from(arguments.destinations),
        distribution: Distribution::Uniform,
        sizes: arguments.bytes,
        seed: arguments.seed,
        ..Settings::default()
    };
    preset.apply(&mut settings)?;
    let program = Options::as_written().compile_file(compiled::file(preset.program))?;
    let generator = Generator::new(program.ir(), &settings)?;
    let (mut text, mut trace) = (Vec::new(), Trace::default());
    generator.entries(&mut text, &mut |_, _| {})?;
    generator.packets(|port, frame| if trace.push(port, frame) { Ok(()) } else { Err("too many packets") })?;
    Ok((with_pairs(&String::from_utf8(text)?), trace))
}

/// A use case, ready to be measured.
struct Ready {
    trace: Trace,
    switch: Switch,
    peer: UseCase,
    frames: UseCaseFrames,
    /// The capacity of the peer's tables, in entries.
    capacity: u32,
}

/// Makes the contestants, and compares what they make of all frames.
fn prepare(
    arguments: &Arguments,
    (name, job, tables): (&str, &'static str, &[Table]),
    backend: Backend,
) -> Result<Ready, Box<dyn Error>> {
    let (entries, trace) = traffic(arguments, name)?;
    let preset = Preset::named(name).ok_or("there is no such use case")?;
    let program = compiled::program(preset.program)?;
    let mut switch = compiled::switch(&program, backend, &entries)?;
    let capacity = arguments.routes.max(128);
    let peer = peer(job, tables, &parse(&entries)?, capacity)?;
    let mut frames = UseCaseFrames::new(&trace, capacity);
    compare(name, &mut switch, &trace, &peer, &mut frames)?;
    Ok(Ready { trace, switch, peer, frames, capacity })
}

fn measure(arguments: &Arguments, name: &str, job: &'static str, tables: &[Table]) -> Result<Value, Box<dyn Error>> {
    let Ready { trace, mut switch, peer, mut frames, capacity } =
        prepare(arguments, (name, job, tables), Backend::Native)?;
    compiled::specialise(&mut switch)?;
    let workers = arguments.workers as usize;
    let several = if switch.divides().is_ok() { vec![1, workers] } else { vec![1] };
    let hindrance = switch.divides().err().map(|why| why.to_string());
    let mut bench = Bench::new(&mut switch, &trace, BURST, RUN);
    // [one worker, several]: nanoseconds per packet of a worker.
    let (mut native, mut by_hand) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let rounds = (arguments.packets as usize).div_ceil(trace.len());
    let mut others: Vec<UseCaseFrames> = (1..workers).map(|_| UseCaseFrames::new(&trace, capacity)).collect();
    let progress = Progress::new("runs", arguments.runs);
    for _ in 0..arguments.runs {
        for (position, count) in several.iter().enumerate() {
            let done = bench.run(*count)?;
            if done.iter().any(|worker| worker.pass.sent != worker.pass.packets) {
                return Err(format!("{name}: packets were dropped").into());
            }
            let total: f64 = done.iter().map(|worker| worker.pass.packet_ns()).sum();
            native[position].push(total / done.len() as f64);
        }
        for (position, count) in [1, workers].into_iter().enumerate() {
            by_hand[position].push(drive(&peer, &mut frames, &mut others[..count - 1], rounds)? / trace.len() as f64);
        }
        progress.step();
    }
    drop(progress);
    let interfaces = if arguments.interfaces { between_interfaces(arguments, &mut switch, &trace)? } else { json!({}) };
    Ok(json!({
        "benchmark": "usecases", "entries": arguments.routes, "frames": arguments.destinations, "usecase": name, "frame_bytes": trace.frame_bytes() as f64 / trace.len() as f64,
        "native_ns": native[0], "by_hand_ns": by_hand[0], "workers": workers,
        "native_workers_ns": native[1], "by_hand_workers_ns": by_hand[1], "one_worker_only": hindrance,
        "interfaces_ns": interfaces,
    }))
}

/// Processor time of the switch for a frame between virtual interfaces, by driver. All frames arrive at one port.
fn between_interfaces(arguments: &Arguments, switch: &mut Switch, trace: &Trace) -> Result<Value, Box<dyn Error>> {
    let first = trace.frames().next().map_or(0, |(port, _)| port);
    let frames: Vec<&[u8]> = trace.frames().filter(|(port, _)| *port == first).map(|(_, frame)| frame).collect();
    let pairs = Pairs::with_frames_of(frames.iter().map(|frame| frame.len()).max().unwrap_or(0))?;
    let mut figures = BTreeMap::<&str, Vec<f64>>::new();
    for _ in 0..arguments.runs {
        for carrier in [Carrier::PacketSocket, Carrier::Xdp] {
            let outcome = pairs.measure(carrier, switch, first, &frames)?;
            figures.entry(carrier.name()).or_default().push(outcome.switch_ns);
        }
    }
    Ok(json!(figures))
}

/// Runs the peer in one thread, and in one more for each of `others`. Returns nanoseconds of a round, on average.
fn drive(
    peer: &UseCase,
    frames: &mut UseCaseFrames,
    others: &mut [UseCaseFrames],
    rounds: usize,
) -> Result<f64, Box<dyn Error>> {
    let all = others.len() + 1;
    let spent = thread::scope(|scope| -> Result<Duration, String> {
        let run = |frames| peer.run(frames, rounds).map(|(spent, _)| spent).map_err(|error| error.to_string());
        let started: Vec<_> = others.iter_mut().map(|frames| scope.spawn(move || run(frames))).collect();
        let mut spent = run(frames)?;
        for other in started {
            spent += other.join().map_err(|_| "a worker failed")??;
        }
        Ok(spent)
    })?;
    Ok(spent.as_nanos() as f64 / (rounds * all) as f64)
}

/// Whether the peer makes of each frame what the program makes of it.
fn compare(
    name: &str,
    switch: &mut Switch,
    trace: &Trace,
    peer: &UseCase,
    frames: &mut UseCaseFrames,
) -> Result<(), Box<dyn Error>> {
    let (_, sent) = peer.run(frames, 1)?;
    let mut made = Made::default();
    for (number, (port, frame)) in trace.frames().enumerate() {
        switch.receive(0, port, frame);
        switch.run(0, &mut made);
        if made.0.len() != number + 1 {
            return Err(format!("{name}: the program sends {} packets for frame {number}", made.0.len()).into());
        }
    }
    let differs = frames.sent().into_iter().zip(&made.0).position(|(by_hand, made)| by_hand != *made);
    match differs {
        Some(number) => {
            let (port, bytes) = &frames.sent()[number];
            let (expected_port, expected) = &made.0[number];
            Err(format!(
                "{name}: frame {number} is another by hand ({sent} of {} are sent)\n  {port} {bytes:02x?}\n  {expected_port} {expected:02x?}",
                trace.len()
            )
            .into())
        }
        None => Ok(()),
    }
}

/// Stores ports and packets.
#[derive(Default)]
struct Made(Vec<(u32, Vec<u8>)>);

impl Output for Made {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

/// Adds to the entries of a use case a second member to each group: that of the next group.
fn with_pairs(entries: &str) -> String {
    let groups: Vec<(&str, &str)> = entries
        .lines()
        .filter_map(|line| line.strip_prefix("act_prof_add_member_to_group ")?.split_once(' '))
        .collect();
    let mut out = entries.to_owned();
    // A group of its own alone has one.
    let pairs = if groups.len() > 1 { &groups[..] } else { &[] };
    for (number, (profile, _)) in pairs.iter().enumerate() {
        let next = (number + 1) % groups.len();
        out.push_str(&format!("act_prof_add_member_to_group {profile} {next} {number}\n"));
    }
    out
}

/// The entries of commands. What refers to a group has the number of its members, then their arguments.
fn parse(text: &str) -> Result<Vec<Entry>, Box<dyn Error>> {
    let number = |word: &str| -> Result<u128, Box<dyn Error>> {
        let context = Context { seed: 0, flow: 0, entries: 0, ports: (0, 0), key: &[] };
        Ok(Expression::parse(word)?.value(&context))
    };
    let (mut entries, mut members) = (Vec::new(), Vec::<Vec<u64>>::new());
    let (mut groups, mut to_groups) = (BTreeMap::<usize, Vec<usize>>::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let arrow = words.iter().position(|word| *word == "=>").unwrap_or(words.len());
        let args = |words: &[&str]| -> Result<Vec<u64>, Box<dyn Error>> {
            words.iter().map(|word| Ok(number(word)? as u64)).collect()
        };
        let key = |words: &[&str]| -> Result<Vec<KeyPart>, Box<dyn Error>> {
            let one = |word: &&str| match word.split_once('/') {
                Some((value, length)) => Ok((number(value)?, Some(length.parse()?))),
                None => Ok((number(word)?, None)),
            };
            words.iter().map(one).collect()
        };
        match words[0] {
            "table_add" => entries.push(Entry {
                table: words[1].to_owned(),
                key: key(&words[3..arrow])?,
                args: args(words.get(arrow + 1..).unwrap_or_default())?,
            }),
            "act_prof_create_member" => members.push(args(&words[3..])?),
            "act_prof_add_member_to_group" => groups.entry(words[3].parse()?).or_default().push(words[2].parse()?),
            "table_indirect_add_with_group" => {
                to_groups.push((words[1].to_owned(), key(&words[2..arrow])?, words[arrow + 1].parse::<usize>()?));
            }
            _ => {}
        }
    }
    // A switch has the members of a group in the order of their numbers.
    groups.values_mut().for_each(|members| members.sort_unstable());
    for (table, key, group) in to_groups {
        let its = &groups[&group];
        let args = its.iter().flat_map(|&member| members[member].iter().copied());
        entries.push(Entry { table, key, args: std::iter::once(its.len() as u64).chain(args).collect() });
    }
    // Shorter prefixes first.
    entries.sort_by_key(|entry| entry.key.iter().filter_map(|(_, length)| *length).max());
    Ok(entries)
}

/// The peer with these entries.
fn peer(job: &'static str, tables: &[Table], entries: &[Entry], capacity: u32) -> Result<UseCase, Box<dyn Error>> {
    let mut peer = UseCase::new(job, capacity)?;
    for entry in entries {
        let is_it = |table: &&Table| entry.table.rsplit('.').next() == Some(table.name);
        let Some(table) = tables.iter().find(is_it) else { continue };
        let (value, length) = *entry.key.last().ok_or("an entry has no key")?;
        let first = entry.args.first().copied().unwrap_or(0);
        match table.form {
            Form::Key => peer.add(table.number, [0, entry.key[0].0 as u64], &entry.args)?,
            Form::Keys(widths) => peer.add(table.number, packed(&entry.key, widths), &entry.args)?,
            Form::Route4 => peer.route4(table.number, value as u32, length.unwrap_or(32), first as u32)?,
            Form::TenantRoute4 => {
                let (tenant, length) = (entry.key[0].0 as u32, length.unwrap_or(32));
                peer.tenant_route4(table.number, tenant, value as u32, length, first as u32)?;
            }
            Form::Route6 => peer.route6(table.number, (value >> 64) as u64, length.unwrap_or(64), first)?,
        }
    }
    Ok(peer)
}

/// The keys in two words, as `peers/usecases.c` has them.
fn packed(key: &[KeyPart], widths: &[u32]) -> [u64; 2] {
    let values: Vec<u64> = key.iter().map(|(value, _)| *value as u64).collect();
    match (widths, &values[..]) {
        // Source and destination of a tunnel; there is a key; the key.
        ([32, 32, 1, 32], [a, b, _, d]) => [a << 32 | b, *d],
        ([32, 32, 8, 16], [a, b, c, d]) => [a << 32 | b, c << 16 | d],
        ([32, 8, 16], [a, b, c]) => [*a, b << 16 | c],
        (_, [a, b]) if widths.len() == 2 => [*a, *b],
        _ => [0, values[0]],
    }
}

fn print(arguments: &Arguments, rows: &[Value]) {
    let (entries, runs) = (arguments.routes, arguments.runs);
    println!("use cases with {entries} entries, memory to memory; ns per packet of a worker, median of {runs} runs");
    println!(
        "{:10} {:>6} {:>8} {:>18} {:>8} {:>6} {:>10} {:>10} {:>6}",
        "", "bytes", "program", "range", "by hand", "ratio", "program", "by hand", "ratio"
    );
    let figures = |row: &Value, name: &str| -> Vec<f64> {
        row[name].as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_f64).collect())
    };
    for row in rows {
        let [one, one_by_hand] = ["native_ns", "by_hand_ns"].map(|name| figures(row, name));
        let [several, several_by_hand] = ["native_workers_ns", "by_hand_workers_ns"].map(|name| figures(row, name));
        let ((least, greatest), by_hand) = (range(&one), median(&one_by_hand));
        let spread = format!("{least:.1} to {greatest:.1}");
        let (name, bytes) = (row["usecase"].as_str().unwrap_or_default(), row["frame_bytes"].as_f64().unwrap_or(0.0));
        let ns = median(&one);
        print!("{name:10} {bytes:>6.0} {ns:>8.1} {spread:>18} {by_hand:>8.1} {:>6.2}", ns / by_hand);
        let by_hand = median(&several_by_hand);
        match several.is_empty() {
            true => println!(" {:>10} {by_hand:>10.1}", "-"),
            false => println!(" {:>10.1} {by_hand:>10.1} {:>6.2}", median(&several), median(&several) / by_hand),
        }
        for (driver, figures) in row["interfaces_ns"].as_object().into_iter().flatten() {
            let figures: Vec<f64> = figures.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
            let (least, greatest) = range(&figures);
            println!("  {driver}: {:.0} ns ({least:.0} to {greatest:.0})", median(&figures));
        }
    }
    println!("the last three columns are those of {} workers at once", arguments.workers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[test]
    fn what_is_done_by_hand_is_what_the_programs_do() {
        let arguments = Arguments::parse_from(["bench", "usecases", "--routes=40", "--destinations=100"]);
        for (name, job, tables) in JOBS {
            prepare(&arguments, (name, job, tables), Backend::Interpreter).unwrap();
        }
    }
}
