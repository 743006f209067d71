//! A million entries: built at once, looked up, changed one at a time, without growing slow.
//!
//! The linear scan would take minutes here, so each expectation is known from how the entries were made.

use crate::support;
use base::{Bits, FieldMatch, MatchKind, Rng};

use base::MatchKind::{Exact, Lpm, Range, Ternary};
use std::collections::BTreeMap;
use support::*;
use tables::{EntrySpec, Handle, Operation, Outcome, TableSet};

const COUNT: usize = 1_000_000;

fn bits(value: u64) -> Bits {
    Bits::from_u64(32, value)
}

/// Entry `index` runs `set(index)`.
fn entry(key: FieldMatch, index: usize, priority: i32) -> EntrySpec {
    EntrySpec { key: vec![key], priority, action: 0, args: vec![bits(index as u64)] }
}

/// Distinct numbers that look random: an odd multiplier is a bijection modulo 2^32.
fn scattered(index: usize) -> u64 {
    u64::from((index as u32).wrapping_mul(0x9e37_79b1))
}

struct Case {
    set: TableSet,
    rng: Rng,
}

impl Case {
    fn new(kind: MatchKind, entry_of: impl Fn(usize) -> EntrySpec) -> Case {
        Case::of(kind, COUNT, entry_of)
    }

    fn of(kind: MatchKind, count: usize, entry_of: impl Fn(usize) -> EntrySpec) -> Case {
        let mut set = TableSet::new(vec![table_spec(&[(kind, 32)], COUNT)], 7).expect("the table is well formed");
        let entries = (0..count).map(entry_of).collect();
        let outcome = set.perform(0, Operation::InsertMany(entries)).expect("all entries are valid");
        let Outcome::InsertedMany(handles) = outcome else { panic!("many entries have many handles") };
        assert!(handles.iter().enumerate().all(|(index, handle)| handle.0 as usize == index));
        Case { set, rng: Rng::new(9) }
    }

    /// Looks up keys in bursts; each must run `set` of its number, or miss.
    fn check(&mut self, expectations: impl Iterator<Item = (u64, Option<usize>)>) {
        let mut reader = self.set.reader();
        let guard = reader.enter();
        let (keys, wanted): (Vec<u64>, Vec<Option<usize>>) = expectations.unzip();
        for ((key, wanted), result) in keys.iter().zip(wanted).zip(burst(&guard, 0, &keys, keys.len())) {
            let (header, data) = read(result, 1);
            let is = (header.hit == 1).then_some(data[0] as usize);
            assert_eq!(is, wanted, "key {key:#x}");
        }
    }

    /// Deletes and inserts again, an entry at a time.
    fn churn(&mut self, entry_of: impl Fn(usize) -> EntrySpec) {
        for _ in 0..20_000 {
            let index = self.rng.below(COUNT as u64) as usize;
            let handle = Handle(index as u32);
            self.set.perform(0, Operation::Delete { handle }).expect("the entry exists");
            assert_eq!(self.set.insert(0, entry_of(index)), Ok(handle));
        }
    }

    fn sample(&mut self) -> Vec<usize> {
        (0..50_000).map(|_| self.rng.below(COUNT as u64) as usize).collect()
    }
}

#[test]
fn exact() {
    let entry_of = |index| entry(FieldMatch::Exact(bits(scattered(index))), index, 0);
    let mut case = Case::new(Exact, entry_of);
    for _ in 0..2 {
        let sample = case.sample();
        case.check(sample.into_iter().map(|index| (scattered(index), Some(index))));
        case.check((COUNT..COUNT + 50_000).map(|index| (scattered(index), None)));
        case.churn(entry_of);
    }
}

/// Half a million prefixes of 19 bits, and inside each of them a longer one.
#[test]
fn lpm() {
    let place = |index: usize| ((index / 2) as u64) << 13;
    let prefix_len = |index: usize| if index.is_multiple_of(2) { 19 } else { 20 + (index / 2 % 13) as u32 };
    let entry_of =
        |index| entry(FieldMatch::Lpm { value: bits(place(index)), prefix_len: prefix_len(index) }, index, 0);
    let mut case = Case::new(Lpm, entry_of);
    for _ in 0..2 {
        let sample = case.sample();
        case.check(sample.into_iter().map(|index| {
            // The last address of the shorter prefix, or the last of the longer one.
            let last = place(index) + (1 << (32 - prefix_len(index))) - 1;
            (last, Some(index))
        }));
        case.check((0..50_000).map(|step| ((500_000 << 13) + step * 997, None)));
        case.churn(entry_of);
    }
}

/// Eight masks, of one to 128 addresses, at the begin of each block of 256: up to eight entries match a key, and the
/// narrowest has the greatest priority.
#[test]
fn ternary() {
    let block = |index: usize| ((index / 8) as u64) << 8;
    let entry_of = |index: usize| {
        let mask = bits(u64::MAX << (index % 8));
        entry(FieldMatch::Ternary { value: bits(block(index)), mask }, index, 7 - (index % 8) as i32)
    };
    let mut case = Case::new(Ternary, entry_of);
    for _ in 0..2 {
        let sample = case.sample();
        case.check(sample.iter().map(|&index| (block(index) + (1 << (index % 8)) - 1, Some(index))));
        case.check(sample.iter().map(|&index| (block(index) + 128 + index as u64 % 128, None)));
        case.churn(entry_of);
    }
}

/// Neighbouring ranges of four numbers with a gap of one between them.
#[test]
fn range() {
    let low = |index: usize| index as u64 * 5;
    let entry_of = |index| entry(FieldMatch::Range { low: bits(low(index)), high: bits(low(index) + 3) }, index, 0);
    let mut case = Case::new(Range, entry_of);
    for _ in 0..2 {
        let sample = case.sample();
        case.check(sample.iter().map(|&index| (low(index) + index as u64 % 4, Some(index))));
        case.check(sample.iter().map(|&index| (low(index) + 4, None)));
        case.churn(entry_of);
    }
}

/// The trie has a large root for many entries, and the small one again when few are left.
#[test]
fn lpm_that_becomes_small_again() {
    const MANY: usize = 60_000;
    let entry_of = |index| {
        let key = match index % 100 {
            0 => FieldMatch::Lpm { value: bits((index as u64 / 100) << 16), prefix_len: 16 },
            _ => FieldMatch::Lpm { value: bits(scattered(index) | 1 << 31), prefix_len: 32 },
        };
        entry(key, index, 0)
    };
    let mut case = Case::of(Lpm, MANY, entry_of);
    let key = |index: usize| {
        if index.is_multiple_of(100) { ((index as u64 / 100) << 16) + 5 } else { scattered(index) | 1 << 31 }
    };
    let expectations = |left: usize| (0..MANY).map(move |index| (key(index), (index < left).then_some(index)));
    for left in [MANY, 30_000, 5_000, 0, MANY] {
        let there = case.set.tables()[0].len();
        for index in left..there {
            case.set.perform(0, Operation::Delete { handle: Handle(index as u32) }).expect("it exists");
        }
        for index in there..left {
            case.set.insert(0, entry_of(index)).expect("there is room");
        }
        case.check(expectations(left));
    }
}

/// Prefixes that come and go one by one, until there are more than small roots are for, and few again; within each
/// other, so that removals uncover shorter ones.
fn check_roots(width: u32, most: usize, rng: &mut Rng) {
    let spec = table_spec(&[(Lpm, width)], most);
    let mut set = TableSet::new(vec![spec], 7).expect("the table is well formed");
    let mut there: BTreeMap<(u32, u64), (Handle, u64)> = BTreeMap::new();
    let mut listed: Vec<(u32, u64)> = Vec::new();
    let (mut step, mut grows) = (0u64, true);
    while grows || listed.len() > most / 8 {
        step += 1;
        grows &= listed.len() < most;
        if rng.chance(if grows { 9 } else { 1 }, 10) {
            let len = rng.between(8, 28) as u32;
            let leading = rng.below(1 << len);
            let value = Bits::from_u64(width, leading).shl(u64::from(width - len));
            let entry = entry(FieldMatch::Lpm { value, prefix_len: len }, step as usize, 0);
            if let Ok(handle) = set.insert(0, entry) {
                there.insert((len, leading), (handle, step & 0xffff_ffff));
                listed.push((len, leading));
            }
        } else if !listed.is_empty() {
            let key = listed.swap_remove(rng.below(listed.len() as u64) as usize);
            let (handle, _) = there.remove(&key).expect("it was inserted");
            set.perform(0, Operation::Delete { handle }).expect("the entry exists");
        }
        if step.is_multiple_of(97) {
            let near: Vec<u64> = (0..64).map(|_| near_key(&listed, rng)).collect();
            check_prefixes(&set, width, &near, &there);
        }
    }
}

/// 32 bits, most of which an entry tests.
fn near_key(listed: &[(u32, u64)], rng: &mut Rng) -> u64 {
    let random = rng.next_u64() >> 32;
    if listed.is_empty() || rng.chance(1, 5) {
        return random;
    }
    let (len, leading) = *rng.pick(listed);
    leading << (32 - len) | random & ((1 << (32 - len)) - 1)
}

/// Looks up keys with these first bits; each must run the cell of the longest of all entries.
fn check_prefixes(set: &TableSet, width: u32, keys: &[u64], there: &BTreeMap<(u32, u64), (Handle, u64)>) {
    let mut reader = set.reader();
    let guard = reader.enter();
    let layout = set.tables()[0].key_layout();
    let rows: Vec<u64> =
        keys.iter().flat_map(|key| layout.pack(&[Bits::from_u64(width, *key).shl(u64::from(width - 32))])).collect();
    for (key, result) in keys.iter().zip(burst(&guard, 0, &rows, keys.len())) {
        let (header, data) = read(result, 1);
        let longest = (0..=32).rev().find_map(|len| there.get(&(len, key >> (32 - len))));
        let is = (header.hit == 1).then_some(data[0]);
        assert_eq!(is, longest.map(|(_, step)| *step), "key {key:#x} among {} entries", there.len());
    }
}

#[test]
fn roots_change_while_prefixes_come_and_go() {
    let mut rng = Rng::new(21);
    check_roots(32, 70_000, &mut rng);
    check_roots(128, 20_000, &mut rng);
}

/// Rules with many masks, some of which come and go as a whole: more than are tried one by one, and more than a segment
/// of them.
#[test]
fn many_masks_come_and_go() {
    let mut rng = Rng::new(22);
    for (masks, rounds) in [(20, 60), (700, 4)] {
        let spec = table_spec(&[(Ternary, 32), (Ternary, 48)], 60_000);
        let mut set = TableSet::new(vec![spec], 3).expect("the table is well formed");
        let all: Vec<[u64; 2]> = (0..masks).map(|_| [rng.next_u64() >> 32, rng.next_u64() >> 16]).collect();
        let mut handles: Vec<Vec<Handle>> = vec![Vec::new(); all.len()];
        for round in 0..rounds {
            for _ in 0..masks * 2 / 3 {
                let which = rng.below(masks as u64) as usize;
                if handles[which].is_empty() {
                    for _ in 0..rng.between(30, 60) {
                        handles[which].extend(set.insert(0, masked_entry(&mut rng, all[which])));
                    }
                } else {
                    let few = rng.below(3) as usize;
                    let kept = few.min(handles[which].len());
                    for handle in handles[which].split_off(kept) {
                        set.perform(0, Operation::Delete { handle }).expect("the entry exists");
                    }
                }
            }
            let count = if round + 1 == rounds { 200 } else { 30 };
            check_lookups(&mut rng, &set.reader().enter(), 0, &set.tables()[0], count);
        }
    }
}

fn masked_entry(rng: &mut Rng, masks: [u64; 2]) -> EntrySpec {
    let field = |width: u32, value: u64, mask: u64| FieldMatch::Ternary {
        value: Bits::from_u64(width, value & mask),
        mask: Bits::from_u64(width, mask),
    };
    // Few values, so that keys of one entry match others.
    let values = [rng.below(16) * 0x1111_1111, rng.below(16) * 0x1111_1111_1111];
    EntrySpec {
        key: vec![field(32, values[0], masks[0]), field(48, values[1], masks[1])],
        priority: rng.between(1, 1000) as i32,
        action: 0,
        args: vec![Bits::from_u64(32, rng.next_u64() >> 32)],
    }
}
