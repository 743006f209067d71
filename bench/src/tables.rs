//! The match engines alone: the cost of a lookup in bursts of 64, and the memory of an entry.
//!
//! What enters: tables of each kind, filled with realistic entries, and random keys, most of which match. What
//! leaves: nanoseconds per lookup, including the read of the entry's argument; and, for tables that a person would
//! write by hand (`peers/tables.c`), the ratio to these.

#![allow(unsafe_code, reason = "engines are called as generated C calls them, and so is C by hand")]

use crate::Arguments;
use crate::entries::{
    EntryOf, a_mask_each, exact, ipv4, ipv6, key_of, one_mask, one_range, optional, ports, range_of_vlan, table,
    two_ranges,
};
use crate::growth::processor_time;
use crate::limit;
use crate::rules::{access_list, access_list_of_masks, chains, firewall};
use base::limits::BURST_PACKETS_MAX;
use base::{Bits, FieldMatch, Rng};
use libloading::{Library, Symbol};
use measure::figures::{median, range};
use serde_json::json;
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::c_void;
use std::time::Instant;
use tables::{EntryHeader, EntrySpec, Operation, TableSet};

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
    Ok(())
}

/// A name, a generator of entries, and their number.
type CaseOf = (&'static str, EntryOf, usize);

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
    ("ternary, one mask", one_mask, 10_000),
    ("ternary, one mask", one_mask, 100_000),
    ("ternary, access list", access_list_of_masks, 10),
    ("ternary, access list", access_list_of_masks, 100),
    ("ternary, access list", access_list_of_masks, 1000),
    ("ternary, access list", access_list_of_masks, 10_000),
    ("ternary, access list", access_list_of_masks, 100_000),
    ("ternary, a mask each", a_mask_each, 1000),
    ("ternary, a mask each", a_mask_each, 10_000),
    ("ternary, a mask each", a_mask_each, 100_000),
    ("range, one field", one_range, 10),
    ("range, one field", one_range, 100),
    ("range, one field", one_range, 1000),
    ("range, one field", one_range, 10_000),
    ("range, beside exact", range_of_vlan, 10),
    ("range, beside exact", range_of_vlan, 100),
    ("range, beside exact", range_of_vlan, 1000),
    ("range, beside exact", range_of_vlan, 10_000),
    ("range, two fields", two_ranges, 10),
    ("range, two fields", two_ranges, 100),
    ("range, two fields", two_ranges, 1000),
    ("range, two fields", two_ranges, 10_000),
    ("range, ports", ports, 100),
    ("range, ports", ports, 1000),
    ("range, ports", ports, 10_000),
    ("range, access list", access_list, 100),
    ("range, access list", access_list, 1000),
    ("range, access list", access_list, 10_000),
    ("range, access list", access_list, 100_000),
    ("range, firewall", firewall, 100),
    ("range, firewall", firewall, 1000),
    ("range, firewall", firewall, 10_000),
    ("range, firewall", firewall, 100_000),
    ("range, chains", chains, 100),
    ("range, chains", chains, 1000),
    ("range, chains", chains, 10_000),
    ("range, chains", chains, 100_000),
    ("optional, two fields", optional, 1000),
];

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

/// Looks all keys up in bursts and sums the arguments of the entries.
fn look_up(case: &Case) -> u64 {
    let mut reader = case.set.reader();
    let guard = reader.enter();
    let handle = guard.handles()[0];
    let words = case.keys.len() / KEYS;
    let mut results = [std::ptr::null::<EntryHeader>(); BURST_PACKETS_MAX];
    let mut sum = 0;
    for burst in case.keys.chunks(BURST_PACKETS_MAX * words) {
        let count = burst.len() / words;
        burst.iter().step_by(words).for_each(|key| handle.root.fetch(*key));
        // SAFETY: `burst` has `count` rows, `results` has space for as many results, which point into the tables that
        // the guard holds; each entry of this table has one word of data.
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

/// The result of `body`, and its processor time per key.
fn lookup_ns(body: impl FnOnce() -> u64) -> (u64, f64) {
    let before = processor_time();
    let given = body();
    (given, (processor_time() - before).as_nanos() as f64 / KEYS as f64)
}

fn measure(case: &Case, arguments: &Arguments) {
    let (mut own, mut by_hand) = (Vec::new(), Vec::new());
    // The first round warms the caches.
    for round in 0..=arguments.runs {
        let (sum, spent_ns) = lookup_ns(|| look_up(case));
        let other = case.by_hand.as_ref().map(|by_hand| {
            let (other, spent_ns) = lookup_ns(|| by_hand.look_up(&case.keys));
            assert_eq!(other, sum, "both find the same");
            spent_ns
        });
        if round > 0 {
            own.push(spent_ns);
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

/// The same table in hand-written C.
struct ByHand {
    table: *mut c_void,
    run: unsafe extern "C" fn(*const c_void, *const u64, u64) -> u64,
    free: unsafe extern "C" fn(*mut c_void),
}

impl ByHand {
    /// For tables that a person would write: addresses of one word, and IPv4 prefixes.
    fn new(entries: &[EntrySpec], library: &Library) -> Result<Option<ByHand>, Box<dyn Error>> {
        let port = |entry: &EntrySpec| entry.args[0].to_u64().unwrap_or_default() as u32;
        let value = |bits: &Bits| bits.to_u64().unwrap_or_default();
        // SAFETY: the functions have the types that they are given here; see `peers/tables.c`. There are as many
        // addresses as it was given, and none is 0; prefixes come from the shortest to the longest, of at most 24
        // bits.
        unsafe {
            match &entries[0].key[..] {
                [FieldMatch::Exact(_)] => {
                    let new: Symbol<'_, unsafe extern "C" fn(u32) -> *mut c_void> = library.get(b"exact_new")?;
                    let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u64, u32)> = library.get(b"exact_add")?;
                    let table = new(entries.len() as u32);
                    for entry in entries {
                        if let [FieldMatch::Exact(address)] = &entry.key[..] {
                            add(table, value(address), port(entry));
                        }
                    }
                    Ok(Some(ByHand { table, run: *library.get(b"exact_run")?, free: *library.get(b"exact_free")? }))
                }
                [FieldMatch::Lpm { value: first, .. }] if first.width() == 32 => {
                    let new: Symbol<'_, unsafe extern "C" fn() -> *mut c_void> = library.get(b"prefixes_new")?;
                    let add: Symbol<'_, unsafe extern "C" fn(*mut c_void, u32, u32, u32)> =
                        library.get(b"prefixes_add")?;
                    let table = new();
                    for length in 0..=24 {
                        for entry in entries {
                            match &entry.key[..] {
                                [FieldMatch::Lpm { value: network, prefix_len }] if *prefix_len == length => {
                                    add(table, value(network) as u32, length, port(entry));
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
        // SAFETY: the function has this type, and there are as many keys as it is given.
        unsafe { (self.run)(self.table, keys.as_ptr(), keys.len() as u64) }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        // SAFETY: the table was created by the same library and is not used any more.
        unsafe { (self.free)(self.table) };
    }
}
