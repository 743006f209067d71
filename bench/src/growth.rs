//! Tables that grow entry by entry, and full tables whose entries change: the longest duration of a single update.
//!
//! What enters: random entries of each kind. What leaves: for insertions while a table grows, and for alternating
//! insertions and removals when it is full, the median, the 99.99th percentile, and the maximum; and the longest
//! burst of lookups between the insertions. All figures are processor time. The time of an update includes both
//! copies of the table and the control plane's record of the entry.

#![allow(unsafe_code, reason = "engines are called as generated C calls them")]

use crate::Arguments;
use crate::entries::{EntryOf, exact, ipv4, ipv6, key_of, table};
use crate::rules::{access_list_of_masks, firewall};
use base::Rng;
use base::limits::BURST_PACKETS_MAX;
use measure::figures::quantile;
use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::error::Error;
use std::time::Duration;
use tables::{EntryHeader, Operation, Outcome, TableSet};

/// A name, a generator of entries, and their number.
type CaseOf = (&'static str, EntryOf, usize);

const CASES: &[CaseOf] = &[
    ("exact 48", exact::<1>, 10_000_000),
    ("exact 2 words", exact::<2>, 1_000_000),
    ("lpm IPv4", ipv4, 1_000_000),
    ("lpm IPv6", ipv6, 200_000),
    ("ternary, access list", access_list_of_masks, 100_000),
    ("range, firewall", firewall, 10_000),
];

/// Removals and insertions in the full table.
const CHANGES: usize = 100_000;

/// Insertions between two bursts of lookups.
const LOOKUP_EVERY: usize = 16;

/// Grows every kind of table.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if !arguments.json {
        println!("single updates in microseconds: the median, what 9,999 of 10,000 stay below, the longest");
    }
    for case in CASES.iter().filter(|case| arguments.only.as_ref().is_none_or(|only| case.0.contains(only))) {
        grow(case, arguments)?;
    }
    Ok(())
}

fn grow(&(name, entry_of, count): &CaseOf, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(3);
    let mut set = TableSet::new(vec![table(&entry_of(&mut rng, 0), count)], 7)?;
    let layout = set.tables()[0].key_layout().clone();
    let (mut inserted, mut lookups, mut handles) = (Times::default(), Times::default(), Vec::with_capacity(count));
    let mut keys: Vec<u64> = Vec::new();
    let mut index = 0;
    while handles.len() < count {
        let entry = entry_of(&mut rng, index);
        index += 1;
        if keys.len() < BURST_PACKETS_MAX * layout.words() {
            keys.extend(layout.pack(&key_of(&entry, &mut rng)));
        }
        // An entry that exists already is refused.
        handles.extend(inserted.of(|| set.insert(0, entry)));
        if index % LOOKUP_EVERY == 0 && keys.len() == BURST_PACKETS_MAX * layout.words() {
            look_up(&set, &keys, &mut lookups);
        }
    }
    let (mut removed, mut again) = (Times::default(), Times::default());
    for _ in 0..CHANGES {
        let place = rng.below(handles.len() as u64) as usize;
        let handle = handles.swap_remove(place);
        removed.of(|| set.perform(0, Operation::Delete { handle }))?;
        let entry = entry_of(&mut rng, index);
        index += 1;
        if let Ok(Outcome::Inserted(handle)) = again.of(|| set.perform(0, Operation::Insert(entry))) {
            handles.push(handle);
        }
    }
    let all = [("insertion while it grows", inserted), ("removal", removed), ("insertion", again), ("burst", lookups)];
    print(arguments, name, count, &all);
    Ok(())
}

/// Looks a burst up.
fn look_up(set: &TableSet, keys: &[u64], lookups: &mut Times) {
    let mut results = [std::ptr::null::<EntryHeader>(); BURST_PACKETS_MAX];
    let mut reader = set.reader();
    let guard = reader.enter();
    let handle = guard.handles()[0];
    lookups.of(|| {
        keys.iter().for_each(|key| handle.root.fetch(*key));
        // SAFETY: `keys` are the rows of a burst, `results` has space for as many, and the guard holds the table.
        unsafe { (handle.function)(handle.context, keys.as_ptr(), BURST_PACKETS_MAX as u32, results.as_mut_ptr()) }
    });
}

/// The processor time of this thread, which excludes other threads.
pub fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// The duration of each repetition.
#[derive(Default)]
struct Times {
    all_us: Vec<f64>,
}

impl Times {
    fn of<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let before = processor_time();
        let given = body();
        self.all_us.push((processor_time() - before).as_secs_f64() * 1e6);
        given
    }

    /// The median, the 99.99th percentile, and the maximum.
    fn figures(&self) -> [f64; 3] {
        [0.5, 0.9999, 1.0].map(|part| quantile(&self.all_us, part))
    }

    /// The repetition with the maximum.
    fn longest_at(&self) -> usize {
        self.all_us.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(index, _)| index)
    }
}

fn print(arguments: &Arguments, name: &str, count: usize, all: &[(&str, Times)]) {
    for (what, times) in all {
        let [median, most, longest] = times.figures();
        if arguments.json {
            println!(
                "{}",
                json!({
                    "benchmark": "growth", "table": name, "entries": count, "what": what, "median_us": median,
                    "9999_of_10000_us": most, "longest_us": longest, "longest_at": times.longest_at(),
                })
            );
        } else {
            let at = times.longest_at() + 1;
            println!("{name:<22} {count:>9} {what:<25} {median:>9.2} {most:>9.1} {longest:>9.0} (the {at}th)");
        }
    }
}
