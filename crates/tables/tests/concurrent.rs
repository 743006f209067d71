//! Readers on other threads while the control plane writes.

use crate::support;
use base::{Bits, FieldMatch, MatchKind};

use std::sync::atomic::{AtomicBool, Ordering};
use support::*;
use tables::{EntrySpec, Operation, TableSet, Update};

/// Two tables are always changed together to the same value. Readers must see equal values in both, never an older one
/// than before, and the same throughout a guard.
#[test]
fn batches_over_several_tables_are_atomic() {
    let specs = vec![table_spec(&[(MatchKind::Exact, 16)], 10), table_spec(&[(MatchKind::Lpm, 32)], 10)];
    let mut set = TableSet::new(specs, 1).expect("the tables are well formed");
    let entry = |key: FieldMatch, value: u64| EntrySpec {
        key: vec![key],
        priority: 0,
        action: 0,
        args: vec![Bits::from_u64(32, value)],
    };
    let exact = |value| entry(FieldMatch::Exact(Bits::from_u64(16, 7)), value);
    let lpm = |value| entry(FieldMatch::Lpm { value: Bits::zero(32), prefix_len: 0 }, value);
    let exact_handle = set.insert(0, exact(0)).expect("the entry is valid");
    set.insert(1, lpm(0)).expect("the entry is valid");

    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let mut reader = set.reader();
            let stop = &stop;
            scope.spawn(move || {
                let mut newest = 0;
                while !stop.load(Ordering::Relaxed) {
                    let guard = reader.enter();
                    let value = |table| read(burst(&guard, table, &[7], 1)[0], 1).1[0];
                    let first = value(0);
                    assert!(first >= newest, "{first} after {newest}");
                    for _ in 0..4 {
                        assert_eq!((value(0), value(1)), (first, first));
                    }
                    newest = first;
                    drop(guard);
                    // On fewer cores than threads a reader would else mostly be suspended inside, for a whole time
                    // slice.
                    std::thread::yield_now();
                }
            });
        }
        for value in 1..=2_000 {
            // One table keeps its entry, the other's is replaced by a new one.
            let args = vec![Bits::from_u64(32, value)];
            let updates = vec![
                Update { table: 0, operation: Operation::Modify { handle: exact_handle, action: 0, args } },
                Update { table: 1, operation: Operation::Clear },
                Update { table: 1, operation: Operation::Insert(lpm(value)) },
            ];
            set.apply(updates).expect("the batch is valid");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(read(burst(&set.reader().enter(), 1, &[7], 1)[0], 1).1[0], 2_000);
}

/// A guard keeps what it saw while the control plane makes changes, and later guards see the new state at once.
#[test]
fn a_guard_sees_one_state() {
    let mut set = TableSet::new(vec![table_spec(&[(MatchKind::Exact, 16)], 10)], 1).expect("the table is well formed");
    let key = FieldMatch::Exact(Bits::from_u64(16, 7));
    let entry = EntrySpec { key: vec![key], priority: 0, action: 0, args: vec![Bits::from_u64(32, 1)] };
    let (mut early, mut late) = (set.reader(), set.reader());
    let guard = early.enter();
    let handle = set.insert(0, entry).expect("the entry is valid");
    let hit = |result| read(result, 1).0.hit;
    assert_eq!(hit(burst(&guard, 0, &[7], 1)[0]), 0);
    assert_eq!(hit(burst(&late.enter(), 0, &[7], 1)[0]), 1);
    drop(guard);
    set.perform(0, Operation::Delete { handle }).expect("the entry exists");
    assert_eq!(hit(burst(&early.enter(), 0, &[7], 1)[0]), 0);
    drop(early);
    assert_eq!(hit(burst(&late.enter(), 0, &[7], 1)[0]), 0);
}
