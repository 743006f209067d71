//! Every engine against the linear scan, under interleaved insertions, changes, deletions and batches.

use crate::support;
use base::{Bits, FieldMatch, MatchKind, Rng};

use base::MatchKind::{Exact, Lpm, Optional, Range, Ternary};
use support::*;
use tables::{ActionCall, EntrySpec, Handle, Operation, Reader, Table, TableKind, TableSet, TableSpec, Update};

/// A random operation, most of which are valid.
fn random_operation(rng: &mut Rng, table: &Table) -> Operation {
    let handle = Handle(rng.below(table.len() as u64 + 3) as u32);
    let spec = table.spec();
    let action = rng.below(spec.actions.len() as u64) as usize;
    match rng.below(100) {
        0..55 => Operation::Insert(random_entry(rng, spec)),
        55..65 => Operation::InsertMany((0..rng.below(20)).map(|_| random_entry(rng, spec)).collect()),
        65..75 => Operation::Modify { handle, action, args: random_args(rng, &spec.actions[action]) },
        75..97 => Operation::Delete { handle },
        97 if rng.chance(1, 4) => Operation::Clear,
        98 => Operation::ResetDefault,
        _ => Operation::SetDefault(ActionCall { action, args: random_args(rng, &spec.actions[action]) }),
    }
}

/// Random operations on one table of this key, with lookups in between.
fn check_key(rng: &mut Rng, key: &[(MatchKind, u32)], steps: usize) {
    // Else entries may share what they run.
    let keeps_cells = rng.chance(1, 2);
    let spec = TableSpec { keeps_cells, ..table_spec(key, 600) };
    let mut set = TableSet::new(vec![spec], rng.next_u64()).expect("the table is well formed");
    let mut reader = set.reader();
    for _ in 0..steps {
        let before = set.tables()[0].clone();
        let updates: Vec<Update> = (0..rng.between(1, 3))
            .map(|_| Update { table: 0, operation: random_operation(rng, &set.tables()[0]) })
            .collect();
        if set.apply(updates).is_err() {
            let same = before.entries().eq(set.tables()[0].entries());
            assert!(same && before.default_action() == set.tables()[0].default_action(), "a refusal changes nothing");
        }
        check_lookups(rng, &reader.enter(), 0, &set.tables()[0], 8);
    }
    check_lookups(rng, &reader.enter(), 0, &set.tables()[0], 300);
}

#[test]
fn single_fields_of_boundary_widths() {
    let mut rng = Rng::new(1);
    for kind in [Exact, Lpm, Ternary, Range, Optional] {
        for width in [1, 6, 7, 8, 9, 14, 20, 31, 32, 33, 63, 64, 65, 128, 129, 256, 257, 2048] {
            check_key(&mut rng, &[(kind, width)], 60);
        }
    }
}

#[test]
fn random_keys_of_several_fields() {
    let mut rng = Rng::new(2);
    for _ in 0..40 {
        for kind in [TableKind::Exact, TableKind::Lpm, TableKind::Ternary, TableKind::Range] {
            let key = random_key_fields(&mut rng, kind);
            check_key(&mut rng, &key, 40);
        }
    }
}

/// Long runs, so that tuples, lists of equal values and larger roots come and go.
#[test]
fn long_runs() {
    let mut rng = Rng::new(3);
    for key in [
        &[(Lpm, 32)][..],
        &[(Exact, 12), (Lpm, 32)],
        &[(Lpm, 16)],
        &[(Lpm, 128)],
        &[(Exact, 48)],
        &[(Ternary, 8)],
        &[(Ternary, 32), (Ternary, 32), (Optional, 8)],
        &[(Range, 16)],
        &[(Exact, 8), (Range, 16)],
        &[(Range, 32)],
        &[(Range, 64)],
        &[(Ternary, 8), (Range, 16), (Optional, 8)],
        &[(Exact, 8), (Range, 16), (Range, 16)],
        &[(Range, 16), (Range, 8), (Range, 9)],
        &[(Exact, 4), (Range, 65), (Range, 16)],
    ] {
        check_key(&mut rng, key, 1500);
    }
}

/// An entry of these ranges.
fn ranges_entry(rng: &mut Rng, spec: &TableSpec, ranges: &[(u64, u64)]) -> EntrySpec {
    let fields = spec.key.iter().zip(ranges).map(|(field, &(low, high))| {
        let [low, high] = [low, high].map(|bound| Bits::from_u64(field.width_bits, bound));
        FieldMatch::Range { low, high }
    });
    EntrySpec { key: fields.collect(), ..random_entry(rng, spec) }
}

/// Ranges as somebody would choose them to do harm: nested, as stairs, all of one value; loaded at once and one by one,
/// and deleted in the order in which each of them uncovers most.
#[test]
fn ranges_that_overlap_as_much_as_they_can() {
    let mut rng = Rng::new(8);
    let shapes: [fn(u64) -> (u64, u64); 4] =
        [|index| (index, 60_000 - index), |index| (0, index * 7), |index| (index * 9, index * 9 + 700), |_| (700, 700)];
    for shape in shapes {
        for (count, rising) in [(40, true), (300, true), (300, false)] {
            let mut set = TableSet::new(vec![table_spec(&[(Range, 16)], 400)], 5).expect("the table is well formed");
            let mut reader = set.reader();
            let spec = set.tables()[0].spec().clone();
            let entries = (0..count).map(|index| EntrySpec {
                priority: if rising { index } else { -index },
                ..ranges_entry(&mut rng, &spec, &[shape(index as u64)])
            });
            let mut entries: Vec<EntrySpec> = entries.collect();
            let rest = entries.split_off(entries.len() / 2);
            set.perform(0, Operation::InsertMany(entries)).expect("the entries are valid");
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
            for entry in rest {
                set.insert(0, entry).expect("the entry is valid");
                check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 4);
            }
            for index in 0..count {
                let handle = Handle(if rising { count - 1 - index } else { index } as u32);
                set.perform(0, Operation::Delete { handle }).expect("the entry exists");
                check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 4);
            }
        }
    }
}

/// More entries with masks of their own than a burst is compared with at once.
#[test]
fn ranges_in_a_long_list() {
    let mut rng = Rng::new(9);
    let key = [(Ternary, 16), (Range, 16), (Range, 8)];
    let mut set = TableSet::new(vec![table_spec(&key, 600)], 5).expect("the table is well formed");
    let mut reader = set.reader();
    for count in [100, 100, 400] {
        let spec = set.tables()[0].spec().clone();
        let random = (0..count).map(|_| {
            let mut entry = random_entry(&mut rng, &spec);
            let [value, mask] = [rng.next_u64(), rng.next_u64() & 0xff].map(|bits| Bits::from_u64(16, bits));
            entry.key[0] = FieldMatch::Ternary { value: value.and(&mask), mask };
            entry
        });
        let entries: Vec<EntrySpec> = random.collect();
        entries.into_iter().for_each(|entry| drop(set.insert(0, entry)));
        check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 300);
    }
}

/// 16-bit prefixes, nearly all of which are there: the root is rebuilt, filled and emptied again.
#[test]
fn dense_prefixes() {
    let mut rng = Rng::new(4);
    for (width, keeps_cells) in [(16, false), (32, false), (32, true)] {
        let spec = TableSpec { keeps_cells, ..table_spec(&[(Lpm, width)], 40_000) };
        let mut set = TableSet::new(vec![spec], 1).expect("the table is well formed");
        let mut reader = set.reader();
        let mut handles = Vec::new();
        for round in 0..6 {
            for _ in 0..4000 {
                let prefix_len = rng.between(0, 16) as u32;
                let value = Bits::from_u64(16, rng.below(1 << 16)).resize(width).shl(u64::from(width - 16));
                let mut entry = random_entry(&mut rng, set.tables()[0].spec());
                entry.key = vec![FieldMatch::Lpm { value, prefix_len }];
                handles.extend(set.insert(0, entry));
            }
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
            let keep = if round == 5 { 0 } else { handles.len() / 2 };
            while handles.len() > keep {
                let handle = handles.swap_remove(rng.below(handles.len() as u64) as usize);
                set.perform(0, Operation::Delete { handle }).expect("the entry exists");
            }
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
        }
        assert!(set.tables()[0].is_empty());
    }
}

/// Prefixes that share long runs of bits with many others, and differ from them anywhere: nodes skip bits, and part and
/// become one again as entries come and go.
#[test]
fn clustered_prefixes() {
    let mut rng = Rng::new(7);
    for (exact, width) in [(24, 32), (0, 64), (0, 128), (16, 128)] {
        let key: Vec<_> = [(Exact, exact), (Lpm, width)].into_iter().filter(|(_, width)| *width > 0).collect();
        let mut set = TableSet::new(vec![table_spec(&key, 3000)], 1).expect("the table is well formed");
        let mut reader = set.reader();
        let bases: Vec<Bits> = (0..3).map(|_| random_bits(&mut rng, width)).collect();
        let mut handles = Vec::new();
        for round in 0..12 {
            for _ in 0..if round % 3 == 0 { 200 } else { 20 } {
                let other = Bits::from_u64(width, 1).shl(rng.below(u64::from(width)));
                let value = if rng.chance(1, 8) { rng.pick(&bases).clone() } else { rng.pick(&bases).xor(&other) };
                let lpm = FieldMatch::Lpm { value, prefix_len: rng.between(0, u64::from(width)) as u32 };
                let network = (exact > 0).then(|| FieldMatch::Exact(Bits::from_u64(exact, 100 + rng.below(2))));
                let mut entry = random_entry(&mut rng, set.tables()[0].spec());
                entry.key = network.into_iter().chain([lpm]).collect();
                handles.extend(set.insert(0, entry));
            }
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 100);
            let keep = if round == 11 { 0 } else { handles.len() / 3 };
            while handles.len() > keep {
                let handle = handles.swap_remove(rng.below(handles.len() as u64) as usize);
                set.perform(0, Operation::Delete { handle }).expect("the entry exists");
                check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 2);
            }
        }
        assert!(set.tables()[0].is_empty());
    }
}

/// Routes of more networks than have tries of their own, which come and go: networks change their places. The exact
/// fields are before, behind, and around the lpm field.
#[test]
fn prefixes_of_many_networks() {
    let mut rng = Rng::new(9);
    for key in [
        &[(Exact, 24), (Lpm, 32)][..],
        &[(Lpm, 32), (Exact, 32)],
        &[(Exact, 20), (Lpm, 13), (Exact, 9)],
        &[(Exact, 63), (Lpm, 1)],
    ] {
        let mut set = TableSet::new(vec![table_spec(key, 3000)], 1).expect("the table is well formed");
        let mut reader = set.reader();
        let mut handles = Vec::new();
        for round in 0..24 {
            let networks = if round % 4 == 0 { 1 } else { 20 };
            for _ in 0..60 {
                let network = rng.below(networks) + round / 8 * 5;
                let mut entry = random_entry(&mut rng, set.tables()[0].spec());
                for (field, (_, width)) in entry.key.iter_mut().zip(key) {
                    if let FieldMatch::Exact(value) = field {
                        *value = Bits::from_u64(*width, network % (1 << width.min(&9)));
                    }
                }
                handles.extend(set.insert(0, entry));
            }
            check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
            let keep = if round % 8 == 7 { 0 } else { handles.len() / 2 };
            while handles.len() > keep {
                let handle = handles.swap_remove(rng.below(handles.len() as u64) as usize);
                set.perform(0, Operation::Delete { handle }).expect("the entry exists");
                check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 3);
            }
        }
        assert!(set.tables()[0].is_empty());
    }
}

/// Two masks with many entries each, and a key that both match. An entry that is added later, or deleted, changes which
/// mask has the greater priority.
#[test]
fn the_order_of_masks_follows_their_priorities() {
    let mut rng = Rng::new(6);
    let mut set = TableSet::new(vec![table_spec(&[(Ternary, 16)], 200)], 1).expect("the table is well formed");
    let mut reader = set.reader();
    let entry = |value, mask, priority| EntrySpec {
        key: vec![FieldMatch::Ternary { value: Bits::from_u64(16, value), mask: Bits::from_u64(16, mask) }],
        priority,
        action: 0,
        args: vec![Bits::zero(32)],
    };
    for value in 0..40 {
        set.insert(0, entry(value << 8, 0xff00, 0)).expect("the entry is valid");
        set.insert(0, entry(value, 0x00ff, 100)).expect("the entry is valid");
    }
    let winner = |reader: &mut Reader| reader.enter().snapshot(0).map(|snapshot| snapshot.lookup(&[0x0707]).index);
    let low = winner(&mut reader);
    let high = set.insert(0, entry(0x0700, 0xff00, 1000)).expect("the entry is valid");
    assert_eq!(winner(&mut reader), Some(high.0));
    check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
    set.perform(0, Operation::Delete { handle: high }).expect("the entry exists");
    assert_eq!(winner(&mut reader), low);
    check_lookups(&mut rng, &reader.enter(), 0, &set.tables()[0], 64);
}

#[test]
fn a_table_without_key_runs_its_default() {
    let mut rng = Rng::new(5);
    let mut spec = table_spec(&[], 10);
    let mut set = TableSet::new(vec![spec.clone()], 0).expect("the table is well formed");
    check_lookups(&mut rng, &set.reader().enter(), 0, &set.tables()[0], 70);
    let call = ActionCall { action: 1, args: vec![Bits::from_u64(9, 5), Bits::from_u64(100, 6)] };
    set.perform(0, Operation::SetDefault(call)).expect("the action exists");
    check_lookups(&mut rng, &set.reader().enter(), 0, &set.tables()[0], 70);
    spec.default_action = None;
    let set = TableSet::new(vec![spec], 0).expect("the table is well formed");
    check_lookups(&mut rng, &set.reader().enter(), 0, &set.tables()[0], 1);
}
