//! What tables refuse, in the words that users read; and what they accept in another form than it was given.

use crate::support;
use base::{Bits, FieldMatch, MatchKind};

use base::MatchKind::{Exact, Lpm, Optional, Range, Ternary};
use expect_test::{Expect, expect};
use support::*;
use tables::{ActionCall, ActionSpec, EntrySpec, Handle, InitialEntry, Operation, Table, TableSet, TableSpec, Update};

fn bits(width: u32, value: u64) -> Bits {
    Bits::from_u64(width, value)
}

fn exact(value: u64) -> FieldMatch {
    FieldMatch::Exact(bits(8, value))
}

fn entry(key: Vec<FieldMatch>) -> EntrySpec {
    EntrySpec { key, priority: 5, action: 0, args: vec![bits(32, 1)] }
}

fn table(key: &[(MatchKind, u32)]) -> Table {
    Table::new(table_spec(key, 2)).expect("the table is well formed")
}

fn check<T: std::fmt::Debug>(result: Result<T, tables::TableError>, expected: Expect) {
    expected.assert_eq(&result.expect_err("the table refuses").to_string());
}

#[test]
fn keys() {
    let mut exact8 = table(&[(Exact, 8)]);
    check(exact8.insert(entry(vec![])), expect!["table `t`: 0 key fields given, but it has 1: exact8"]);
    check(
        exact8.insert(entry(vec![FieldMatch::Exact(bits(16, 0x123))])),
        expect!["table `t`: the value 0x123 does not fit key field `exact8` of 8 bits (at most 0xff)"],
    );
    check(
        exact8.insert(entry(vec![FieldMatch::Optional(None)])),
        expect!["table `t`: a match of kind optional given for key field `exact8`, which takes exact"],
    );
    check(
        table(&[(Lpm, 32)]).insert(entry(vec![FieldMatch::Lpm { value: bits(32, 0), prefix_len: 33 }])),
        expect!["table `t`: a prefix length of 33 given for key field `lpm32`, which has 32 bits"],
    );
    check(
        table(&[(Range, 8)]).insert(entry(vec![FieldMatch::Range { low: bits(8, 2), high: bits(8, 1) }])),
        expect!["table `t`: the range 0x2 to 0x1 given for key field `range8` is empty: the lower bound comes first"],
    );
    check(
        table(&[]).insert(entry(vec![])),
        expect!["table `t`: it has no key and so takes no entries: set its default action instead"],
    );
}

#[test]
fn duplicates_and_size() {
    let mut table = table(&[(Exact, 8)]);
    table.insert(entry(vec![exact(1)])).expect("the entry is valid");
    check(
        table.insert(EntrySpec { priority: 9, ..entry(vec![exact(1)]) }),
        expect!["table `t`: there is already an entry with this key, of handle 0: modify it, or delete it first"],
    );
    table.insert(entry(vec![exact(2)])).expect("the entry is valid");
    check(table.insert(entry(vec![exact(3)])), expect!["table `t`: it is full: its size is 2 entries"]);
}

#[test]
fn equal_keys_of_unlike_priority_are_no_duplicates() {
    let mut table = table(&[(Ternary, 8)]);
    let with_value = |value| entry(vec![FieldMatch::Ternary { value: bits(8, value), mask: bits(8, 0xf0) }]);
    table.insert(with_value(0x12)).expect("the entry is valid");
    check(
        table.insert(with_value(0x13)),
        expect![
            "table `t`: there is already an entry with this key and priority 5, of handle 0: modify it, or give another priority"
        ],
    );
    table.insert(EntrySpec { priority: 6, ..with_value(0x13) }).expect("another priority");
}

#[test]
fn actions() {
    let mut spec = table_spec(&[(Exact, 8)], 2);
    spec.actions.push(ActionSpec { default_only: true, ..action("only_default", &[]) });
    spec.actions.push(ActionSpec { table_only: true, ..action("only_table", &[]) });
    let mut table = Table::new(spec).expect("the table is well formed");
    let with_action = |action, args| EntrySpec { action, args, ..entry(vec![exact(1)]) };
    check(
        table.insert(with_action(4, vec![])),
        expect!["table `t`: there is no action 4: it has set, wide, only_default, only_table"],
    );
    check(
        table.insert(with_action(1, vec![])),
        expect!["table `t`: 0 arguments given to action `wide`, which takes 2"],
    );
    check(
        table.insert(with_action(1, vec![bits(16, 512), bits(100, 0)])),
        expect![
            "table `t`: the value 0x200 does not fit parameter 0 of action `wide`, which has 9 bits (at most 0x1ff)"
        ],
    );
    check(
        table.insert(with_action(2, vec![])),
        expect![
            "table `t`: action `only_default` may only be the default action (`@defaultonly`), not that of an entry"
        ],
    );
    check(
        table.set_default(ActionCall { action: 3, args: vec![] }),
        expect!["table `t`: action `only_table` may only be that of an entry (`@tableonly`), not the default action"],
    );
    let handle = table.insert(with_action(3, vec![])).expect("the entry is valid");
    check(table.modify(handle, 1, vec![]), expect!["table `t`: 0 arguments given to action `wide`, which takes 2"]);
    check(table.delete(Handle(7)), expect!["table `t`: there is no entry of handle 7 among its 1 entries"]);
}

#[test]
fn const_tables() {
    let initial = |value, is_const| InitialEntry { entry: entry(vec![exact(value)]), is_const };
    let spec = TableSpec {
        const_entries: true,
        default_const: true,
        initial_entries: vec![initial(1, false), initial(2, false), initial(3, false)],
        ..table_spec(&[(Exact, 8)], 2)
    };
    let mut table = Table::new(spec.clone()).expect("initial entries always fit");
    assert_eq!(table.len(), 3);
    let refused = [
        table.insert(entry(vec![exact(9)])).map(drop),
        table.delete(Handle(0)),
        table.modify(Handle(0), 0, vec![bits(32, 2)]),
        table.clear(),
    ];
    assert!(refused.iter().all(|result| *result == refused[0]));
    check(table.clear(), expect!["table `t`: its entries are const and cannot be changed"]);
    check(table.reset_default(), expect!["table `t`: its default action is const and cannot be changed"]);

    let initial_entries = vec![initial(1, true), initial(2, false)];
    let mut table = Table::new(TableSpec { const_entries: false, initial_entries, ..spec }).expect("well formed");
    check(table.delete(Handle(0)), expect!["table `t`: the entry of handle 0 is const and cannot be changed"]);
    table.clear().expect("entries that are not const can be deleted");
    assert_eq!(table.entries().map(|entry| entry.handle).collect::<Vec<_>>(), [Handle(0)]);
}

#[test]
fn declarations() {
    check(
        Table::new(table_spec(&[(Lpm, 32), (Lpm, 16)], 1)),
        expect![
            "table `t`: the key has 2 lpm fields (lpm32, lpm16): at most one, or a ternary or range field so that priorities decide"
        ],
    );
    Table::new(table_spec(&[(Lpm, 32), (Lpm, 16), (Optional, 1)], 1)).expect("priorities decide");
    check(
        Table::new(table_spec(&[(Exact, 8)], 1 << 40)),
        expect!["table `t`: a size of 1099511627776 entries, but at most 33554431 are possible"],
    );
}

#[test]
fn values_are_brought_into_canonical_form() {
    let mut table = table(&[(Lpm, 16)]);
    let lpm = |width, value| FieldMatch::Lpm { value: bits(width, value), prefix_len: 8 };
    let handle = table.insert(entry(vec![lpm(24, 0x1234)])).expect("the value fits");
    assert_eq!(table.get(handle).expect("it is there").spec.key, [lpm(16, 0x1200)]);
    assert_eq!(table.get(handle).expect("it is there").spec.priority, 0);
    assert_eq!(table.find(&[lpm(16, 0x12ff)], 77), Ok(Some(handle)));
    assert_eq!(table.find(&[lpm(16, 0x1300)], 0), Ok(None));
}

#[test]
fn the_lowest_free_handle_is_used_again() {
    let mut table = Table::new(table_spec(&[(Exact, 8)], 10)).expect("the table is well formed");
    let handles = table.insert_many((0..4).map(|value| entry(vec![exact(value)])).collect()).expect("valid entries");
    assert_eq!(handles, [0, 1, 2, 3].map(Handle));
    for handle in [3, 2, 0] {
        table.delete(Handle(handle)).expect("the entry exists");
    }
    let next = [10, 11, 12, 13].map(|value| table.insert(entry(vec![exact(value)])).expect("the entry is valid"));
    assert_eq!(next, [0, 2, 3, 4].map(Handle));
}

#[test]
fn a_refused_batch_leaves_everything_as_it_was() {
    let spec = TableSpec { size: 4, ..table_spec(&[(Exact, 8)], 4) };
    let mut set = TableSet::new(vec![spec.clone(), TableSpec { name: "u".into(), ..spec }], 0).expect("well formed");
    for value in 0..4 {
        set.insert(0, entry(vec![exact(value)])).expect("the entry is valid");
    }
    let before: Vec<_> = set.tables()[0].entries().cloned().collect();
    let update = |table, operation| Update { table, operation };
    let refused = set.apply(vec![
        update(1, Operation::Insert(entry(vec![exact(1)]))),
        update(0, Operation::Delete { handle: Handle(3) }),
        update(0, Operation::Delete { handle: Handle(1) }),
        update(0, Operation::Modify { handle: Handle(0), action: 0, args: vec![bits(32, 77)] }),
        update(0, Operation::SetDefault(ActionCall { action: 0, args: vec![bits(32, 78)] })),
        update(0, Operation::Insert(entry(vec![exact(50)]))),
        update(0, Operation::Clear),
        update(0, Operation::InsertMany(vec![entry(vec![exact(60)]), entry(vec![exact(60)])])),
    ]);
    expect!["7: table `t`: there is already an entry with this key, of handle 0: modify it, or delete it first"]
        .assert_eq(&refused.map_err(|refused| format!("{}: {refused}", refused.update)).expect_err("60 twice"));
    assert!(set.tables()[0].entries().eq(&before));
    assert_eq!(set.tables()[0].default_action().map(|call| call.args[0].low_u64()), Some(0xdef));
    assert!(set.tables()[1].is_empty());
    let unknown = set.apply(vec![update(2, Operation::Clear)]).expect_err("there is no such table");
    expect!["there is no table 2: the program has 2"].assert_eq(&unknown.to_string());
    // The indexes of what is unique were taken back too.
    check(
        set.insert(0, entry(vec![exact(3)])),
        expect!["table `t`: there is already an entry with this key, of handle 3: modify it, or delete it first"],
    );
    assert_eq!(set.insert(1, entry(vec![exact(1)])), Ok(Handle(0)));
}
