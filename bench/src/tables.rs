//! The match engines by themselves: what a lookup costs in bursts of 64, what an entry takes of memory, and how long
//! the longest insertion takes while a table grows.
//!
//! What enters: tables of each kind, filled with entries as they are in practice, and random keys most of which match.
//! What leaves: nanoseconds per lookup, the reading of the found entry's argument included; and, where a person would
//! write a table by hand (`peers/tables.c`), the ratio to that.

#![allow(unsafe_code, reason = "engines are called as generated C calls them, and so is C by hand")]

use crate::Arguments;
use crate::limit;
use base::limits::BURST_PACKETS_MAX;
use base::{Bits, Rng};
use libloading::{Library, Symbol};
use measure::figures::{median, range};
use serde_json::json;
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::c_void;
use std::time::Instant;
use tables::{ActionSpec, EntryHeader, EntrySpec, KeyField, MatchKind, MatchValue, Operation, TableSet, TableSpec};

/// Keys of a run.
const KEYS: usize = 1 << 18;

/// A table to be measured.
struct Case {
    name: String,
    set: TableSet,
    entries: usize,
    build_ms: f64,
    /// Rows of words.
    keys: Vec<u64>,
    by_hand: Option<ByHand>,
}

/// Measures every kind of table.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let library = limit::library(include_str!("../peers/tables.c"))?;
    if !arguments.json {
        println!(
            "lookups in bursts of {BURST_PACKETS_MAX}, one core; median of {} runs (least to greatest)",
            arguments.runs
        );
        println!("{:<34} {:>9} {:>9} {:>7}  ns per lookup", "table", "entries", "build ms", "bytes");
    }
    let mut rng = Rng::new(1);
    for case in CASES.iter().filter(|case| arguments.only.as_ref().is_none_or(|only| case.0.contains(only))) {
        let case = build(case, &mut rng, &library)?;
        measure(&case, arguments);
    }
    if arguments.only.is_none() {
        growth(arguments);
    }
    Ok(())
}

/// A name, what entries look like, and how many they are.
type CaseOf = (&'static str, fn(&mut Rng, usize) -> EntrySpec, usize);

const CASES: &[CaseOf] = &[
    ("exact 48", exact::<1>, 100),
    ("exact 48", exact::<1>, 10_000),
    ("exact 48", exact::<1>, 1_000_000),
    ("exact 2 words", exact::<2>, 100),
    ("exact 2 words", exact::<2>, 10_000),
    ("exact 2 words", exact::<2>, 1_000_000),
    ("exact 3 words", exact::<3>, 10_000),
    ("exact 3 words", exact::<3>, 1_000_000),
    ("exact 4 words", exact::<4>, 10_000),
    ("exact 4 words", exact::<4>, 1_000_000),
    ("exact 8 words", exact::<8>, 10_000),
    ("lpm IPv4", ipv4, 100),
    ("lpm IPv4", ipv4, 10_000),
    ("lpm IPv4", ipv4, 1_000_000),
    ("lpm IPv6", ipv6, 100),
    ("lpm IPv6", ipv6, 10_000),
    ("lpm IPv6", ipv6, 200_000),
    ("ternary, one mask", one_mask, 16),
    ("ternary, access list", access_list, 10),
    ("ternary, access list", access_list, 100),
    ("ternary, access list", access_list, 1000),
    ("ternary, access list", access_list, 10_000),
    ("ternary, access list", access_list, 100_000),
    ("ternary, a mask each", a_mask_each, 1000),
    ("ternary, a mask each", a_mask_each, 10_000),
    ("ternary, a mask each", a_mask_each, 100_000),
    ("range, ports", ports, 100),
    ("range, ports", ports, 1000),
    ("range, ports", ports, 10_000),
    ("optional, two fields", optional, 1000),
];

fn call(key: Vec<MatchValue>, priority: i32, rng: &mut Rng) -> EntrySpec {
    EntrySpec { key, priority, action: 0, args: vec![Bits::from_u64(9, rng.between(1, 500))] }
}

fn exact<const WORDS: usize>(rng: &mut Rng, _index: usize) -> EntrySpec {
    // Addresses of stations, or whole words.
    let first = MatchValue::Exact(Bits::from_u64(48, rng.next_u64() >> 16 | 1));
    let rest = (1..WORDS).map(|_| rng.next_u64()).collect::<Vec<_>>();
    let rest = rest.into_iter().map(|word| MatchValue::Exact(Bits::from_u64(64, word)));
    call(std::iter::once(first).chain(rest).collect(), 0, rng)
}

fn ipv4(rng: &mut Rng, _index: usize) -> EntrySpec {
    // As in the Internet's tables: half of the prefixes have 24 bits.
    let prefix_len = if rng.chance(1, 2) { 24 } else { rng.between(12, 24) as u32 };
    let value = Bits::from_u64(32, (rng.next_u64() >> 32) >> (32 - prefix_len) << (32 - prefix_len));
    call(vec![MatchValue::Lpm { value, prefix_len }], 0, rng)
}

fn ipv6(rng: &mut Rng, _index: usize) -> EntrySpec {
    let prefix_len = match rng.below(10) {
        0..5 => 48,
        5..7 => 32,
        7 => 64,
        _ => rng.between(20, 64) as u32,
    };
    // Within 2000::/3, registries give neighbouring blocks.
    let high = 0x2001_0000_0000_0000 + (rng.below(0x1000) << 48) + (rng.next_u64() >> 16 & 0x0fff_ffff_ffff);
    let high = high >> (64 - prefix_len) << (64 - prefix_len);
    call(vec![MatchValue::Lpm { value: Bits::from_limbs(128, &[0, high]), prefix_len }], 0, rng)
}

fn ternary(width: u32, value: u64, mask: u64) -> MatchValue {
    MatchValue::Ternary { value: Bits::from_u64(width, value & mask), mask: Bits::from_u64(width, mask) }
}

fn prefix(width: u32, value: u64, len: u32) -> MatchValue {
    ternary(width, value, if len == 0 { 0 } else { !0 << (width - len) & (!0 >> (64 - width)) })
}

fn one_mask(rng: &mut Rng, index: usize) -> EntrySpec {
    call(vec![prefix(32, rng.next_u64(), 24)], index as i32, rng)
}

/// Addresses by prefixes, ports and protocol by their value or not at all; the first entry wins.
fn access_list(rng: &mut Rng, index: usize) -> EntrySpec {
    const LENGTHS: [u32; 8] = [0, 8, 16, 16, 24, 24, 32, 32];
    let [source, destination] = [*rng.pick(&LENGTHS), *rng.pick(&LENGTHS)].map(|len| len.max(8));
    let key = vec![
        prefix(32, rng.next_u64(), source),
        prefix(32, rng.next_u64(), destination),
        ternary(8, if rng.chance(1, 2) { 6 } else { 17 }, if rng.chance(3, 4) { 0xff } else { 0 }),
        ternary(16, rng.next_u64(), if rng.chance(1, 5) { 0xffff } else { 0 }),
        ternary(16, rng.below(1024), if rng.chance(2, 3) { 0xffff } else { 0 }),
    ];
    call(key, -(index as i32), rng)
}

/// What somebody would write who wants to do harm.
fn a_mask_each(rng: &mut Rng, index: usize) -> EntrySpec {
    let words = [(); 2].map(|()| ternary(64, rng.next_u64(), rng.next_u64()));
    call(words.into(), -(index as i32), rng)
}

fn ports(rng: &mut Rng, index: usize) -> EntrySpec {
    let bounds = [rng.below(1 << 16), rng.below(1 << 16)];
    let [low, high] = [bounds[0].min(bounds[1]), bounds[0].max(bounds[1])].map(|port| Bits::from_u64(16, port));
    call(vec![prefix(32, rng.next_u64(), 24), MatchValue::Range { low, high }], -(index as i32), rng)
}

fn optional(rng: &mut Rng, index: usize) -> EntrySpec {
    let field = |rng: &mut Rng| MatchValue::Optional(rng.chance(2, 3).then(|| Bits::from_u64(32, rng.below(4096))));
    let key = vec![field(rng), field(rng)];
    call(key, -(index as i32), rng)
}

fn field_of(value: &MatchValue) -> KeyField {
    let (kind, width_bits) = match value {
        MatchValue::Exact(value) => (MatchKind::Exact, value.width()),
        MatchValue::Lpm { value, .. } => (MatchKind::Lpm, value.width()),
        MatchValue::Ternary { value, .. } => (MatchKind::Ternary, value.width()),
        MatchValue::Range { low, .. } => (MatchKind::Range, low.width()),
        MatchValue::Optional(value) => (MatchKind::Optional, value.as_ref().map_or(32, Bits::width)),
    };
    KeyField { name: format!("{kind}{width_bits}"), width_bits, kind }
}

fn table(like: &EntrySpec, size: usize) -> TableSpec {
    TableSpec {
        name: "t".into(),
        key: like.key.iter().map(field_of).collect(),
        actions: vec![ActionSpec { name: "forward".into(), param_widths_bits: vec![9], ..ActionSpec::default() }],
        size,
        default_action: None,
        ..TableSpec::default()
    }
}

fn build(case: &CaseOf, rng: &mut Rng, library: &Library) -> Result<Case, Box<dyn Error>> {
    let (name, entry_of, count) = *case;
    let mut seen = BTreeSet::new();
    let mut entries = Vec::with_capacity(count);
    while entries.len() < count {
        let entry = entry_of(rng, entries.len());
        if seen.insert(format!("{:?}", entry.key)) {
            entries.push(entry);
        }
    }
    drop(seen);
    let by_hand = ByHand::new(&entries, library)?;
    let mut set = TableSet::new(vec![table(&entries[0], count)], 7)?;
    let layout = set.tables()[0].key_layout().clone();
    let picks: Vec<usize> = (0..KEYS).map(|_| rng.below(count as u64) as usize).collect();
    let keys = picks.iter().flat_map(|&pick| layout.pack(&key_of(&entries[pick], rng))).collect();
    let started = Instant::now();
    set.perform(0, Operation::InsertMany(entries))?;
    let build_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(Case { name: name.into(), set, entries: count, build_ms, keys, by_hand })
}

/// A key that an entry matches, or, one time in twenty, perhaps not.
fn key_of(entry: &EntrySpec, rng: &mut Rng) -> Vec<Bits> {
    let stray = rng.chance(1, 20);
    let value = |wanted: &MatchValue| {
        let width = field_of(wanted).width_bits;
        let random = Bits::from_limbs(width, &[rng.next_u64(), rng.next_u64()]);
        let under = |value: &Bits, mask: &Bits| value.or(&random.and(&mask.not()));
        match wanted {
            _ if stray => random,
            MatchValue::Exact(value) | MatchValue::Optional(Some(value)) => value.clone(),
            MatchValue::Optional(None) => random,
            MatchValue::Lpm { value, prefix_len } => {
                under(value, &Bits::ones(width).shl(u64::from(width - prefix_len)))
            }
            MatchValue::Ternary { value, mask } => under(value, mask),
            MatchValue::Range { low, .. } => low.clone(),
        }
    };
    entry.key.iter().map(value).collect()
}

/// Looks all keys up in bursts and sums what the entries found say.
fn look_up(case: &Case) -> u64 {
    let mut reader = case.set.reader();
    let guard = reader.enter();
    let handle = guard.handles()[0];
    let words = case.keys.len() / KEYS;
    let mut results = [std::ptr::null::<EntryHeader>(); BURST_PACKETS_MAX];
    let mut sum = 0;
    for burst in case.keys.chunks(BURST_PACKETS_MAX * words) {
        let count = burst.len() / words;
        // SAFETY: `burst` has `count` rows, there is room for as many results, which lie in the tables that the guard
        // holds; each entry of this table has one word of data.
        unsafe {
            (handle.function)(handle.context, burst.as_ptr(), count as u32, results.as_mut_ptr());
            for result in &results[..count] {
                let data = *result.add(1).cast::<u64>();
                sum += data * u64::from((**result).hit);
            }
        }
    }
    sum
}

fn measure(case: &Case, arguments: &Arguments) {
    let (mut own, mut by_hand) = (Vec::new(), Vec::new());
    // The first round warms the caches.
    for round in 0..=arguments.runs {
        let started = Instant::now();
        let sum = look_up(case);
        let spent = started.elapsed().as_nanos() as f64 / KEYS as f64;
        let other = case.by_hand.as_ref().map(|by_hand| {
            let started = Instant::now();
            assert_eq!(by_hand.look_up(&case.keys), sum, "both find the same");
            started.elapsed().as_nanos() as f64 / KEYS as f64
        });
        if round > 0 {
            own.push(spent);
            by_hand.extend(other);
        }
    }
    let entry_bytes = case.set.lookup_bytes()[0] as f64 / case.entries as f64;
    let Case { name, entries, build_ms, .. } = case;
    if arguments.json {
        println!(
            "{}",
            json!({
                "benchmark": "tables", "table": name, "entries": entries, "build_ms": build_ms,
                "entry_bytes": entry_bytes, "lookup_ns": own, "by_hand_ns": by_hand,
            })
        );
        return;
    }
    let (least, greatest) = range(&own);
    let ratio = if by_hand.is_empty() {
        String::new()
    } else {
        format!(", by hand {:.1}: {:.2} times", median(&by_hand), median(&own) / median(&by_hand))
    };
    println!(
        "{name:<34} {entries:>9} {build_ms:>9.1} {entry_bytes:>7.0}  {:.1} ({least:.1} to {greatest:.1}){ratio}",
        median(&own)
    );
}

/// How long single insertions take while a table grows to a million entries.
fn growth(arguments: &Arguments) {
    /// A random entry, one after the other.
    type EntryOf = fn(&mut Rng, usize) -> EntrySpec;
    let cases: [(&str, EntryOf, usize); 4] = [
        ("exact 48", exact::<1>, 1_000_000),
        ("lpm IPv4", ipv4, 300_000),
        ("lpm IPv6", ipv6, 200_000),
        ("ternary, access list", access_list, 100_000),
    ];
    for (name, entry_of, count) in cases {
        let mut rng = Rng::new(3);
        let Ok(mut set) = TableSet::new(vec![table(&entry_of(&mut rng, 0), count)], 7) else { continue };
        let mut times_us: Vec<(f64, usize)> = Vec::with_capacity(count);
        for index in 0..count {
            let entry = entry_of(&mut rng, index);
            let started = Instant::now();
            // An entry that is there already is refused.
            let _refused = set.insert(0, entry);
            times_us.push((started.elapsed().as_secs_f64() * 1e6, index));
        }
        times_us.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| times_us[((count - 1) as f64 * share) as usize].0;
        let (middle, most, worst) = (at(0.5), at(0.9999), times_us[count - 1]);
        if arguments.json {
            println!(
                "{}",
                json!({
                    "benchmark": "growth", "table": name, "entries": count,
                    "insertion_us": { "median": middle, "9999 of 10000": most, "longest": worst.0 },
                })
            );
        } else {
            println!(
                "{name:<34} grows to {count}: an insertion takes {middle:.2} us in the median, 9999 of 10000 at most \
                 {most:.0} us, the longest ({}th) {:.0} us",
                worst.1, worst.0
            );
        }
    }
}

/// The same table by hand.
struct ByHand {
    table: *mut c_void,
    run: unsafe extern "C" fn(*const c_void, *const u64, u64) -> u64,
    free: unsafe extern "C" fn(*mut c_void),
}

impl ByHand {
    /// For what a person would write: addresses of one word, and prefixes of IPv4.
    fn new(entries: &[EntrySpec], library: &Library) -> Result<Option<ByHand>, Box<dyn Error>> {
        let port = |entry: &EntrySpec| entry.args[0].to_u64().unwrap_or_default() as u32;
        let value = |bits: &Bits| bits.to_u64().unwrap_or_default();
        // SAFETY: the functions have the types that they are given here; see `peers/tables.c`. Addresses are as many as
        // was told, none is 0; prefixes come from the shortest to the longest, of at most 24 bits.
        unsafe {
            match &entries[0].key[..] {
                [MatchValue::Exact(_)] => {
                    let new: Symbol<'_, unsafe extern "C" fn(u32) -> *mut c_void> = library.get(b"exact_new")?;
                    let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u64, u32)> = library.get(b"exact_add")?;
                    let table = new(entries.len() as u32);
                    for entry in entries {
                        if let [MatchValue::Exact(address)] = &entry.key[..] {
                            add(table, value(address), port(entry));
                        }
                    }
                    Ok(Some(ByHand { table, run: *library.get(b"exact_run")?, free: *library.get(b"exact_free")? }))
                }
                [MatchValue::Lpm { value: first, .. }] if first.width() == 32 => {
                    let new: Symbol<'_, unsafe extern "C" fn() -> *mut c_void> = library.get(b"prefixes_new")?;
                    let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, u32, u32)> =
                        library.get(b"prefixes_add")?;
                    let table = new();
                    for wanted in 0..=24 {
                        for entry in entries {
                            match &entry.key[..] {
                                [MatchValue::Lpm { value: network, prefix_len }] if *prefix_len == wanted => {
                                    add(table, value(network) as u32, wanted, port(entry));
                                }
                                _ => {}
                            }
                        }
                    }
                    let (run, free) = (*library.get(b"prefixes_run")?, *library.get(b"prefixes_free")?);
                    Ok(Some(ByHand { table, run, free }))
                }
                _ => Ok(None),
            }
        }
    }

    fn look_up(&self, keys: &[u64]) -> u64 {
        // SAFETY: the function has this type, and the keys are as many as is told.
        unsafe { (self.run)(self.table, keys.as_ptr(), keys.len() as u64) }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        // SAFETY: it was made by the same library and is not used any more.
        unsafe { (self.free)(self.table) };
    }
}
