//! Rules with prefixes, masks and ranges in tables large enough for decision trees, against the linear scan: trees are
//! built, their leaves become nodes, entries move on to other trees and to the list, and all of it ends again.

use crate::support::*;
use base::MatchKind::{self, Exact, Optional, Range, Ternary};
use base::{Bits, FieldMatch, Rng};
use std::collections::BTreeMap;
use tables::{EntrySpec, Guard, Handle, Operation, Part, Table, TableSet, TableSpec, Update};

/// A value of few networks and hosts, in its first and last bits.
fn near(rng: &mut Rng, width: u32) -> Bits {
    let network = Bits::from_u64(width, rng.below(12) % (1 << width.min(4))).shl(u64::from(width.saturating_sub(4)));
    let subnet = Bits::from_u64(width, rng.below(64) % (1 << width.min(6))).shl(u64::from(width / 2));
    let subnet = if width > 12 { subnet } else { Bits::zero(width) };
    network.or(&subnet).or(&Bits::from_u64(width, rng.below(16) % (1 << width.min(4))))
}

fn rule_field(rng: &mut Rng, kind: MatchKind, width: u32) -> FieldMatch {
    let value = near(rng, width);
    match kind {
        Range => {
            let high = match rng.below(4) {
                0 => value.clone(),
                1 => Bits::ones(width),
                2 => near(rng, width),
                _ => value.or(&Bits::from_u64(width, rng.below(64) % (1 << width.min(6)))),
            };
            let in_order = value.cmp_unsigned(&high).is_le();
            let (low, high) = if in_order { (value, high) } else { (high, value) };
            FieldMatch::Range { low: if rng.chance(1, 5) { Bits::zero(width) } else { low }, high }
        }
        Ternary => {
            let len = if rng.chance(1, 3) { width } else { rng.between(0, u64::from(width)) as u32 };
            let mask = Bits::leading_ones(width, len);
            let mask = if rng.chance(1, 10) { random_bits(rng, width) } else { mask };
            FieldMatch::Ternary { value, mask }
        }
        Optional => FieldMatch::Optional(rng.chance(2, 3).then_some(value)),
        _ => FieldMatch::Exact(value),
    }
}

fn rule(rng: &mut Rng, spec: &TableSpec) -> EntrySpec {
    let key = spec.key.iter().map(|field| rule_field(rng, field.kind, field.width_bits)).collect();
    EntrySpec { key, priority: rng.between(0, 40) as i32 - 20, ..random_entry(rng, spec) }
}

/// How often a winner was in each part of an engine, and how often new trees were being built.
#[derive(Default)]
struct Reached {
    winners: BTreeMap<Part, usize>,
    building: usize,
}

impl Reached {
    /// Looks keys up, compares the winners with those of the linear scan, and counts where they are.
    fn check(&mut self, rng: &mut Rng, guard: &Guard<'_>, table: &Table, count: usize) {
        check_lookups(rng, guard, 0, table, count);
        let snapshot = guard.snapshot(0).expect("the table exists");
        self.building += usize::from(snapshot.is_building());
        for _ in 0..count {
            let header = snapshot.lookup(&table.key_layout().pack(&random_key(rng, table)));
            if header.hit == 1 {
                *self.winners.entry(snapshot.part_of(Handle(header.index))).or_default() += 1;
            }
        }
    }

    /// Fails unless entries of this many trees, and of the list, have won, and trees were built while entries came and
    /// went.
    fn assert_all(&self, trees: usize) {
        let parts = (0..trees).map(Part::Tree).chain([Part::List]);
        let missing: Vec<Part> = parts.filter(|part| !self.winners.contains_key(part)).collect();
        assert!(missing.is_empty() && self.building > 3, "{missing:?}, {} times building", self.building);
    }
}

/// Tables that grow at once and one by one, are changed, and shrink.
fn check_rules(rng: &mut Rng, key: &[(MatchKind, u32)], most: usize) -> Reached {
    let mut reached = Reached::default();
    let mut set = TableSet::new(vec![table_spec(key, 4 * most)], rng.next_u64()).expect("the table is well formed");
    let mut reader = set.reader();
    let spec = set.tables()[0].spec().clone();
    let mut handles: Vec<Handle> = Vec::new();
    for (at_once, singly, left) in [(0, most / 2, most / 3), (most, most / 4, 100), (40, 200, 0), (150, 0, 0)] {
        let entries: Vec<EntrySpec> = (0..at_once).map(|_| rule(rng, &spec)).collect();
        // A batch with a duplicate would be refused as a whole.
        let mut seen = std::collections::BTreeSet::new();
        let is_new = |entry: &EntrySpec| seen.insert(format!("{:?} {}", entry.key, entry.priority));
        let entries: Vec<EntrySpec> = entries.into_iter().filter(is_new).collect();
        if set.perform(0, Operation::InsertMany(entries.clone())).is_err() {
            entries.into_iter().for_each(|entry| drop(set.insert(0, entry)));
        }
        reached.check(rng, &reader.enter(), &set.tables()[0], 100);
        for step in 0..singly {
            drop(set.insert(0, rule(rng, &spec)));
            if step.is_multiple_of(3) {
                change_some(rng, &mut set, &spec);
            }
            if step.is_multiple_of(16) {
                reached.check(rng, &reader.enter(), &set.tables()[0], 4);
            }
        }
        reached.check(rng, &reader.enter(), &set.tables()[0], 200);
        handles.clear();
        handles.extend(set.tables()[0].entries().map(|entry| entry.handle));
        while handles.len() > left {
            let handle = handles.swap_remove(rng.below(handles.len() as u64) as usize);
            set.perform(0, Operation::Delete { handle }).expect("the entry exists");
            if handles.len().is_multiple_of(32) {
                reached.check(rng, &reader.enter(), &set.tables()[0], 4);
            }
        }
        reached.check(rng, &reader.enter(), &set.tables()[0], 64);
    }
    reached
}

/// A batch that changes entries, and ends with one that is refused half of the time.
fn change_some(rng: &mut Rng, set: &mut TableSet, spec: &TableSpec) {
    let all: Vec<Handle> = set.tables()[0].entries().map(|entry| entry.handle).collect();
    let update = |operation| Update { table: 0, operation };
    let mut updates = vec![update(Operation::Insert(rule(rng, spec)))];
    if let Some(handle) = (!all.is_empty()).then(|| *rng.pick(&all)) {
        updates.push(update(Operation::Modify { handle, action: 0, args: random_args(rng, &spec.actions[0]) }));
        updates.push(update(Operation::Delete { handle }));
        if rng.chance(1, 2) {
            updates.push(update(Operation::Delete { handle }));
        }
    }
    let before: Vec<_> = set.tables()[0].entries().cloned().collect();
    if set.apply(updates).is_err() {
        assert!(before.iter().eq(set.tables()[0].entries()), "a refusal changes nothing");
    }
}

#[test]
fn rules_of_masks() {
    let mut rng = Rng::new(31);
    let key = [(Ternary, 32), (Ternary, 32), (Optional, 8), (Ternary, 16), (Ternary, 16)];
    check_rules(&mut rng, &key, 1200).assert_all(3);
    check_rules(&mut rng, &[(Ternary, 12)], 600);
    check_rules(&mut rng, &[(Exact, 9), (Ternary, 128), (Optional, 33)], 700);
}

#[test]
fn rules_of_masks_and_ranges() {
    let mut rng = Rng::new(32);
    let key = [(Ternary, 32), (Ternary, 32), (Ternary, 8), (Range, 16), (Range, 16)];
    check_rules(&mut rng, &key, 1200).assert_all(3);
    check_rules(&mut rng, &[(Range, 16), (Range, 32)], 800);
    check_rules(&mut rng, &[(Ternary, 20), (Range, 64), (Range, 40)], 500);
    check_rules(&mut rng, &[(Ternary, 16), (Range, 65), (Range, 5)], 400);
}

/// Rules that come one by one, more than are moved to larger memory at once.
#[test]
fn rules_come_one_by_one() {
    let mut rng = Rng::new(35);
    let key = [(Ternary, 32), (Ternary, 32), (Ternary, 8), (Range, 16), (Range, 16)];
    let mut set = TableSet::new(vec![table_spec(&key, 20_000)], 5).expect("the table is well formed");
    let (mut reader, mut reached) = (set.reader(), Reached::default());
    let spec = set.tables()[0].spec().clone();
    let mut step = 0;
    while set.tables()[0].len() < 9000 {
        step += 1;
        drop(set.insert(0, rule(&mut rng, &spec)));
        if step % 7 == 0 {
            let handle = Handle(rng.below(u64::from(set.tables()[0].handles_end())) as u32);
            drop(set.perform(0, Operation::Delete { handle }));
        }
        if step % 64 == 0 {
            reached.check(&mut rng, &reader.enter(), &set.tables()[0], 2);
        }
    }
    reached.check(&mut rng, &reader.enter(), &set.tables()[0], 300);
    reached.assert_all(4);
}

/// Keys of more words than lookups are compiled for.
#[test]
fn rules_of_long_keys() {
    let mut rng = Rng::new(33);
    check_rules(&mut rng, &[(Ternary, 128), (Ternary, 128), (Ternary, 128), (Range, 16)], 500);
}

/// Rules that nothing separates: more than a leaf takes, and more than all trees.
#[test]
fn rules_that_are_alike() {
    let mut rng = Rng::new(34);
    let key = [(Ternary, 32), (Range, 16), (Range, 16)];
    let mut set = TableSet::new(vec![table_spec(&key, 4000)], 5).expect("the table is well formed");
    let mut reader = set.reader();
    let spec = set.tables()[0].spec().clone();
    let entry = |rng: &mut Rng, index: u64| {
        let bits = |value| Bits::from_u64(16, value);
        let address = Bits::from_u64(32, if index.is_multiple_of(4) { rng.below(1 << 32) } else { 0x0a00_0001 });
        let range = FieldMatch::Range { low: bits(rng.below(1000)), high: bits(64_000 + rng.below(1000)) };
        let key = vec![FieldMatch::Ternary { value: address, mask: Bits::ones(32) }, range.clone(), range];
        EntrySpec { key, priority: index as i32 % 700 - 350, ..random_entry(rng, &spec) }
    };
    let entries: Vec<EntrySpec> = (0..900).map(|index| entry(&mut rng, index)).collect();
    set.perform(0, Operation::InsertMany(entries)).expect("the entries are valid");
    check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 200);
    for index in 900..1500 {
        drop(set.insert(0, entry(&mut rng, index)));
        check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 1);
    }
    let handles: Vec<Handle> = set.tables()[0].entries().map(|entry| entry.handle).collect();
    for (index, handle) in handles.into_iter().enumerate() {
        set.perform(0, Operation::Delete { handle }).expect("the entry exists");
        if index.is_multiple_of(16) {
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 4);
        }
    }
    assert!(set.tables()[0].is_empty());
}
