//! The cost of an additional table: programs with one to ten tables, generated from one text, from memory to memory
//! on one core.
//!
//! What enters: the number of entries in a table. What leaves: nanoseconds per packet of each program and per
//! additional table, for tables with exact keys; for exact, longest prefix and ternary keys in turn; and for tables
//! that are declared and applied under a condition that is never true. Each table writes to the packet, so that none
//! can be optimised away.

use crate::Arguments;
use crate::compiled;
use crate::contest::{LENT_FRAMES_MAX, STRIDE_BYTES};
use crate::limit::Frames;
use crate::progress::Progress;
use base::Rng;
use live::traffic::udp_frame;
use measure::figures::{median, range};
use measure::memory;
use measure::traffic::Lent;
use serde_json::json;
use std::error::Error;
use std::fmt::Write as _;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use switch::Switch;
use tempfile::TempDir;
use wirespeed::Backend;

/// The program without its tables.
const FRAME: &str = include_str!("../programs/cascade.p4");

/// The places of its tables and of their applications.
const TABLES: &str = "    // TABLES\n";
const APPLICATIONS: &str = "        // APPLICATIONS\n";

/// The numbers of tables in the programs of a family.
const COUNTS: [usize; 5] = [1, 2, 4, 7, 10];

/// The most entries of a ternary table, which is not filled like the others in practice.
const TERNARY_ENTRIES_MAX: u32 = 30;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// All keys are exact.
    Exact,
    /// Exact, longest prefix, ternary, and so on.
    Mixed,
    /// One exact table; the others are never looked up.
    Idle,
}

impl Family {
    const ALL: [Family; 3] = [Family::Exact, Family::Mixed, Family::Idle];

    fn name(self) -> &'static str {
        match self {
            Family::Exact => "exact",
            Family::Mixed => "mixed",
            Family::Idle => "idle",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Family::Exact => "all exact",
            Family::Mixed => "exact, longest prefix and ternary in turn",
            Family::Idle => "one exact, others whose condition never holds",
        }
    }

    /// The match kind of a table.
    fn kind(self, table: usize) -> &'static str {
        match self {
            Family::Mixed => ["exact", "lpm", "ternary"][table % 3],
            Family::Exact | Family::Idle => "exact",
        }
    }

    /// The program with this many tables.
    fn program(self, count: usize) -> String {
        let (mut tables, mut applications) = (String::new(), String::new());
        for table in 0..count {
            let key = match self.kind(table) {
                "ternary" => "hdr.ipv4.destination: ternary; hdr.ipv4.protocol: ternary;".to_owned(),
                kind => format!("hdr.ipv4.destination: {kind};"),
            };
            let _ = writeln!(
                tables,
                "    action mark{table}(bit<8> value) {{ hdr.ethernet.source[{}:{}] = value; }}\n    \
                 table table{table} {{ key = {{ {key} }} actions = {{ mark{table}; NoAction; }} size = 1048576; }}",
                8 * (table % 6) + 7,
                8 * (table % 6)
            );
            // The TTL is 64 in all frames.
            let condition = if self == Family::Idle && table > 0 { "if (hdr.ipv4.ttl == 0) " } else { "" };
            let _ = writeln!(applications, "        {condition}table{table}.apply();");
        }
        FRAME.replace(TABLES, &tables).replace(APPLICATIONS, &applications)
    }

    /// The entries of its tables: each has one for each host of the traffic.
    fn commands(self, count: usize, hosts: u32) -> String {
        let mut text = String::new();
        for table in 0..count {
            let kind = self.kind(table);
            for host in 0..if kind == "ternary" { hosts.min(TERNARY_ENTRIES_MAX) } else { hosts } {
                let [a, b, c, d] = address(host).to_be_bytes();
                let entry = match kind {
                    "lpm" => format!("{a}.{b}.{c}.{d}/32 => {}", host % 251),
                    "ternary" => format!("0.0.0.{host}&&&0.0.0.31 17&&&255 => {} {}", host % 251, host + 1),
                    _ => format!("{a}.{b}.{c}.{d} => {}", host % 251),
                };
                let _ = writeln!(text, "table_add table{table} mark{table} {entry}");
            }
        }
        text
    }
}

/// Hosts are scattered over 10.0.0.0/8.
fn address(host: u32) -> u32 {
    10 << 24 | host.wrapping_mul(0x9e_3779) & 0xff_ffff
}

/// A program with its entries.
struct Contestant {
    family: Family,
    count: usize,
    switch: Switch,
    packet_ns: Vec<f64>,
}

/// The result of a thread that compiles a program.
type Made = Result<Contestant, String>;

fn lock(made: &Mutex<Option<Made>>) -> MutexGuard<'_, Option<Made>> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Contestant {
    /// Compiles its program in this folder.
    fn new(folder: &Path, family: Family, count: usize, hosts: u32) -> Result<Contestant, Box<dyn Error>> {
        let path = folder.join(format!("{}{count}.p4", family.name()));
        std::fs::write(&path, family.program(count))?;
        let program = compiled::program(&path.display().to_string())?;
        let switch = compiled::switch(&program, Backend::Native, &family.commands(count, hosts))?;
        Ok(Contestant { family, count, switch, packet_ns: Vec::new() })
    }

    /// Compiles all programs, one per processor at a time: compilation takes most of the time.
    fn all(hosts: u32) -> Result<Vec<Contestant>, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let selected = Family::ALL.iter().flat_map(|&family| COUNTS.map(|count| (family, count)));
        let selected: Vec<(Family, usize)> = selected.collect();
        let (progress, next) = (Progress::new("programs compiled", selected.len()), AtomicUsize::new(0));
        let made: Vec<Mutex<Option<Made>>> = selected.iter().map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
                scope.spawn(|| {
                    // The largest first.
                    while let Some(position) = selected.len().checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) {
                        let (family, count) = selected[position];
                        let contestant = Contestant::new(folder.path(), family, count, hosts);
                        *lock(&made[position]) = Some(contestant.map_err(|error| error.to_string()));
                        progress.step();
                    }
                });
            }
        });
        let contestant = |it: &Mutex<Option<Made>>| {
            let made = lock(it).take().unwrap_or_else(|| Err("a program was not compiled".to_owned()));
            made.map_err(Into::into)
        };
        made.iter().map(contestant).collect()
    }
}

/// Runs all programs in turn and prints the cost of a packet for each, and of an additional table.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut contestants = Contestant::all(arguments.routes)?;
    let frames = frames(arguments);
    let rounds = (arguments.packets as usize).div_ceil(frames.count());
    let mut lent = Lent::of(&frames.trace(), usize::MAX, 1, 0);
    let progress = Progress::new("runs", arguments.runs);
    for _ in 0..arguments.runs {
        for contestant in &mut contestants {
            let pass = memory::drive(&mut contestant.switch, &mut lent, LENT_FRAMES_MAX, rounds, || 0);
            if pass.sent != pass.packets {
                return Err(format!("{} of {} packets were sent", pass.sent, pass.packets).into());
            }
            contestant.packet_ns.push(pass.packet_ns());
        }
        progress.step();
    }
    drop(progress);
    Family::ALL.into_iter().for_each(|family| print(arguments, family, &contestants));
    Ok(())
}

fn frames(arguments: &Arguments) -> Frames {
    let mut rng = Rng::new(1);
    let mut bytes = Vec::new();
    for number in 0..arguments.destinations {
        let host = rng.below(u64::from(arguments.routes)) as u32;
        bytes.extend(udp_frame(address(host), 64, number));
        bytes.resize((number as usize + 1) * STRIDE_BYTES, 0);
    }
    Frames { bytes, stride: STRIDE_BYTES }
}

fn print(arguments: &Arguments, family: Family, contestants: &[Contestant]) {
    let members: Vec<&Contestant> = contestants.iter().filter(|it| it.family == family).collect();
    let [first, .., last] = members[..] else { return };
    // Computed for each run, so that both figures include the same load of the machine.
    let added = (last.count - first.count) as f64;
    let per_table: Vec<f64> =
        last.packet_ns.iter().zip(&first.packet_ns).map(|(last, one)| (last - one) / added).collect();
    if arguments.json {
        let by_count: serde_json::Map<_, _> =
            members.iter().map(|it| (it.count.to_string(), json!(it.packet_ns))).collect();
        println!(
            "{}",
            json!({
                "benchmark": "cascade", "tables": family.name(), "entries": arguments.routes,
                "destinations": arguments.destinations, "packet_ns": by_count, "added_table_ns": per_table,
            })
        );
        return;
    }
    println!("{}, {} entries each", family.describe(), arguments.routes);
    for Contestant { count, packet_ns, .. } in &members {
        let (least, greatest) = range(packet_ns);
        println!("  {count:>2} tables  {:>7.1} ns per packet  ({least:.1} to {greatest:.1})", median(packet_ns));
    }
    let (least, greatest) = range(&per_table);
    println!("  an added table  {:.2} ns  ({least:.2} to {greatest:.2})", median(&per_table));
}
