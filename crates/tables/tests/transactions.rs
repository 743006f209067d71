//! Batches over tables and profiles: what is taken back leaves no trace, what is committed is there.

use base::{Bits, FieldMatch, MatchKind, OrderedMap, Rng};
use expect_test::expect;
use tables::{
    ActionCall, ActionSpec, Attributes, EntrySpec, Handle, KeyField, Operation, ProfileOperation, ProfileSpec,
    ProfileUse, TO_GROUP, TO_MEMBER, TableSet, TableSpec,
};

fn bits(width: u32, value: u64) -> Bits {
    Bits::from_u64(width, value)
}

/// Table `plain` with a key of 4 bits, and `chosen` with an action profile.
fn set() -> TableSet {
    let action = |name: &str| ActionSpec { name: name.into(), param_widths_bits: vec![8], ..ActionSpec::default() };
    let table = |name: &str, profile| TableSpec {
        name: name.into(),
        key: vec![KeyField { name: "k".into(), kind: MatchKind::Exact, width_bits: 4 }],
        actions: vec![action("a"), action("b")],
        size: 10,
        profile,
        ..TableSpec::default()
    };
    let profile = ProfileSpec { name: "p".into(), size: 4, has_groups: true, actions: vec![action("a"), action("b")] };
    let used = ProfileUse { profile: 0, actions: vec![0, 1] };
    TableSet::with_profiles(vec![table("plain", None), table("chosen", Some(used))], vec![profile], 1).unwrap()
}

/// Everything that the stores hold.
fn state(set: &TableSet) -> String {
    let tables = set.tables().iter().map(|table| {
        let entries: Vec<_> = table.entries().collect();
        format!("{entries:?} {:?}\n", table.default_action())
    });
    let profiles = set.profiles().iter().map(|profile| {
        let (members, groups): (Vec<_>, Vec<_>) = (profile.members().collect(), profile.groups().collect());
        format!("{members:?} {groups:?}\n")
    });
    tables.chain(profiles).collect()
}

/// What packets find for each key of each table.
fn seen(set: &mut TableSet) -> String {
    let mut reader = set.reader();
    let guard = reader.enter();
    let line = |table: usize| {
        let snapshot = guard.snapshot(table).unwrap();
        let found = (0..16).map(|key| {
            let header = snapshot.lookup(&[key]);
            format!("{}.{}.{:?} ", header.hit, header.action, snapshot.lookup_data(&[key]))
        });
        found.collect::<String>() + "\n"
    };
    line(0) + &line(1)
}

/// Does something, which may be refused, to a table or to the profile.
fn step(rng: &mut Rng, batch: &mut tables::Transaction<'_>) {
    let handle = Handle(rng.below(6) as u32);
    let call = ActionCall { action: rng.below(2) as usize, args: vec![bits(8, rng.below(256))] };
    let member = Handle(rng.below(5) as u32);
    let group = Handle(rng.below(3) as u32);
    let table = rng.below(2) as usize;
    let spec = |rng: &mut Rng| {
        let (action, args) = match (table, rng.below(2)) {
            (0, _) => (call.action, call.args.clone()),
            (_, 0) => (TO_MEMBER, vec![bits(32, u64::from(member.0))]),
            _ => (TO_GROUP, vec![bits(32, u64::from(group.0))]),
        };
        EntrySpec { key: vec![FieldMatch::Exact(bits(4, rng.below(16)))], priority: 0, action, args }
    };
    let operation = match rng.below(8) {
        0 | 1 => Operation::Insert(spec(rng)),
        2 => Operation::InsertMany((0..3).map(|_| spec(rng)).collect()),
        3 => {
            let EntrySpec { action, args, .. } = spec(rng);
            Operation::Modify { handle, action, args }
        }
        4 => Operation::Delete { handle },
        5 if rng.chance(1, 4) => Operation::Clear,
        5 => Operation::SetDefault(call.clone()),
        6 => {
            let attributes = Attributes { metadata: vec![rng.below(9) as u8], ..Attributes::default() };
            Operation::SetAttributes { handle, attributes }
        }
        _ => {
            let operation = match rng.below(7) {
                0 | 1 => ProfileOperation::CreateMember(call),
                2 => ProfileOperation::ModifyMember { member, call },
                3 => ProfileOperation::DeleteMember { member },
                4 => ProfileOperation::CreateGroup,
                5 => ProfileOperation::DeleteGroup { group },
                _ => {
                    let members = (0..2).map(|_| (Handle(rng.below(5) as u32), rng.below(3) as u32)).collect();
                    ProfileOperation::SetGroup { group, members }
                }
            };
            let _refused = batch.perform_profile(0, operation);
            return;
        }
    };
    let _refused = batch.perform(table, operation);
}

#[test]
fn what_is_taken_back_leaves_no_trace() {
    let mut rng = Rng::new(5);
    let mut set = set();
    for round in 0..2000 {
        let (stored, found) = (state(&set), seen(&mut set));
        let mut batch = set.begin();
        (0..rng.below(6)).for_each(|_| step(&mut rng, &mut batch));
        let half = batch.mark();
        let at_half: Vec<_> = batch.tables().iter().flat_map(|table| table.entries().cloned()).collect();
        (0..rng.below(6)).for_each(|_| step(&mut rng, &mut batch));
        if rng.chance(1, 2) {
            drop(batch);
            assert_eq!((state(&set), seen(&mut set)), (stored, found), "round {round}");
            continue;
        }
        batch.roll_back_to(half);
        let after: Vec<_> = batch.tables().iter().flat_map(|table| table.entries().cloned()).collect();
        assert_eq!(after, at_half, "round {round}");
        batch.commit();
    }
}

#[test]
fn a_refused_operation_leaves_the_rest_of_the_batch() {
    let mut set = set();
    let entry = |key| EntrySpec {
        key: vec![FieldMatch::Exact(bits(4, key))],
        priority: 0,
        action: 0,
        args: vec![bits(8, key)],
    };
    let mut batch = set.begin();
    batch.perform(0, Operation::Insert(entry(1))).unwrap();
    let refused = batch.perform(0, Operation::InsertMany(vec![entry(2), entry(1)])).unwrap_err();
    expect!["table `plain`: there is already an entry with this key, of handle 0: modify it, or delete it first"]
        .assert_eq(&refused.to_string());
    batch.perform(0, Operation::Insert(entry(3))).unwrap();
    batch.commit();
    assert_eq!(set.tables()[0].len(), 2);
}

#[test]
fn members_are_chosen_by_their_weights() {
    let mut set = set();
    let call = |value| ActionCall { action: 0, args: vec![bits(8, value)] };
    for value in 0..3 {
        set.perform_profile(0, ProfileOperation::CreateMember(call(value))).unwrap();
    }
    set.perform_profile(0, ProfileOperation::CreateGroup).unwrap();
    let members: OrderedMap<_, _> = [(Handle(0), 1), (Handle(1), 0), (Handle(2), 3)].into();
    set.perform_profile(0, ProfileOperation::SetGroup { group: Handle(0), members }).unwrap();
    let picks: Vec<_> = (0..8).map(|hash| set.profiles()[0].pick(Handle(0), hash).unwrap().0).collect();
    assert_eq!(picks, [0, 2, 2, 2, 0, 2, 2, 2]);
    let members = [(Handle(0), u32::MAX), (Handle(2), u32::MAX)].into();
    let refused = set.perform_profile(0, ProfileOperation::SetGroup { group: Handle(0), members }).unwrap_err();
    expect!["action profile `p`: the weights of the members of all its groups may sum up to 1048576 at most"]
        .assert_eq(&refused.to_string());
}
