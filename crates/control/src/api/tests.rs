//! Writes and reads on a switch in the same thread.

use super::entity::{
    Call, Cell, Choice, CloneSession, Direct, EntryAction, EntryName, Group, GroupMember, Member, MeterValue,
    Multicast, Replica as Written, TableEntry,
};
use super::*;
use crate::names;
use crate::test_program::program;
use base::index::Id as _;
use base::{Bits, FieldMatch};
use expect_test::{Expect, expect};
use ir::{MeterId, RegisterId, ValueSetId};
use switch::externs::CounterCell;
use switch::{Backend, Config, IdleOwner, MeterConfig, Output, Replica};
use tables::Attributes;

/// The control plane of a switch that runs the test program.
pub(crate) fn api() -> Api {
    let switch = Switch::new(Arc::new(program()), Backend::Interpreter, Config::default()).unwrap();
    let parked = Arc::new(IdleOwner::default());
    let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
    parked.park(switch);
    api
}

fn bits(width: u32, value: u64) -> Bits {
    Bits::from_u64(width, value)
}

fn call(api: &Api, action: &str, args: &[(u32, u64)]) -> Call {
    let program = api.program();
    let (action, _) = program.actions.iter_enumerated().find(|(_, it)| it.name.ends_with(action)).unwrap();
    Call { action, args: args.iter().map(|&(width, value)| bits(width, value)).collect() }
}

/// An entry of a table whose only key is exact.
fn entry(api: &Api, table: &str, (width, key): (u32, u64), action: Option<EntryAction>) -> TableEntry {
    let table = names::table(&api.program(), table).unwrap();
    let name = EntryName { key: vec![FieldMatch::Exact(bits(width, key))], priority: 0 };
    TableEntry::new(table, Some(name), action)
}

fn port(api: &Api, port: u64) -> EntryAction {
    EntryAction::Call(call(api, "set_port", &[(9, port)]))
}

fn member(api: &Api, id: u32, port: u64) -> Entity {
    let call = Some(call(api, "set_port", &[(9, port)]));
    Entity::Member(Member { profile: names::profile(&api.program(), "hops").unwrap(), id, call })
}

fn group(api: &Api, id: u32, members: &[(u32, u32, Option<u32>)]) -> Entity {
    let member = |&(member, weight, watch_port): &_| GroupMember { member, weight, watch_port };
    let profile = names::profile(&api.program(), "hops").unwrap();
    Entity::Group(Group { profile, id, members: members.iter().map(member).collect(), size_max: 0 })
}

fn updates(updates: Vec<(UpdateKind, Entity)>) -> Vec<Update> {
    updates.into_iter().map(|(kind, entity)| Update { kind, entity }).collect()
}

fn text(outcomes: Vec<Result<(), Fault>>) -> String {
    let line = |outcome: Result<(), Fault>| match outcome {
        Ok(()) => "done\n".to_owned(),
        Err(fault) => format!("{:?}: {fault}\n", fault.code),
    };
    outcomes.into_iter().map(line).collect()
}

fn write(api: &Api, list: Vec<(UpdateKind, Entity)>, atomicity: Atomicity, expected: Expect) {
    expected.assert_eq(&text(api.write(updates(list), atomicity)));
}

fn read(api: &Api, query: &Query) -> Vec<Entity> {
    let mut all = Vec::new();
    api.read(query, &mut |entities| {
        all.extend(entities);
        true
    })
    .unwrap();
    all
}

fn entries(api: &Api) -> Vec<Entity> {
    read(api, &Query::TableEntries(TableQuery { with_counter: true, with_meter: true, ..TableQuery::default() }))
}

use Atomicity::{ContinueOnError, DataplaneAtomic, RollbackOnError};
use UpdateKind::{Delete, Insert, Modify};

#[test]
fn entries_are_inserted_modified_and_deleted() {
    let api = api();
    let l2 = |key, action| Entity::TableEntry(entry(&api, "l2", (48, key), action));
    write(
        &api,
        vec![
            (Insert, l2(1, Some(port(&api, 3)))),
            (Insert, l2(1, Some(port(&api, 4)))),
            (Modify, l2(2, Some(port(&api, 4)))),
            (Delete, l2(2, None)),
            (Insert, l2(2, Some(EntryAction::Call(call(&api, "drop", &[]))))),
            (Insert, l2(2, Some(EntryAction::Call(call(&api, "mark_ecn", &[]))))),
            (Insert, l2(2, Some(EntryAction::Member(1)))),
            (Insert, l2(2, None)),
            (Insert, l2(2, Some(port(&api, 5)))),
            (Modify, l2(2, Some(port(&api, 6)))),
            (Delete, l2(1, None)),
        ],
        ContinueOnError,
        expect![[r#"
            done
            AlreadyExists: table MyIngress.l2: there is already an entry with hdr.ethernet.dstAddr = 0x1: modify it, or delete it first
            NotFound: table MyIngress.l2: there is no entry with hdr.ethernet.dstAddr = 0x2
            NotFound: table MyIngress.l2: there is no entry with hdr.ethernet.dstAddr = 0x2
            PermissionDenied: table `MyIngress.l2`: action `MyIngress.drop` may only be the default action (`@defaultonly`), not that of an entry
            InvalidArgument: action MyEgress.mark_ecn is not one of the actions of table MyIngress.l2: it has MyIngress.drop, MyIngress.set_port, MyIngress.tunnel
            InvalidArgument: table MyIngress.l2 has no action profile: an entry names an action
            InvalidArgument: table MyIngress.l2: the entry needs an action
            done
            done
            done
        "#]],
    );
    let mut left = entry(&api, "l2", (48, 2), Some(port(&api, 6)));
    left.counter = Some(CounterCell::default());
    assert_eq!(entries(&api), [Entity::TableEntry(left)]);
}

#[test]
fn the_default_action_is_set_and_reset() {
    let api = api();
    let table = names::table(&api.program(), "balance").unwrap();
    let l2 = names::table(&api.program(), "l2").unwrap();
    let default = |table, action| Entity::TableEntry(TableEntry::new(table, None, action));
    let query =
        |table| Query::TableEntries(TableQuery { table: Some(table), which: Which::Default, ..TableQuery::default() });
    let before = read(&api, &query(l2));
    let tunnel = EntryAction::Call(call(&api, "tunnel", &[(128, 7)]));
    write(
        &api,
        vec![
            (Insert, default(l2, Some(tunnel.clone()))),
            (Modify, default(l2, Some(port(&api, 1)))),
            (Modify, default(l2, Some(tunnel.clone()))),
            (Insert, member(&api, 9, 1)),
            (Modify, default(table, Some(EntryAction::Member(9)))),
        ],
        ContinueOnError,
        expect![[r#"
            InvalidArgument: table MyIngress.l2: the default action can be modified, not inserted or deleted
            PermissionDenied: table `MyIngress.l2`: action `MyIngress.set_port` may only be that of an entry (`@tableonly`), not the default action
            done
            done
            done
        "#]],
    );
    assert_eq!(read(&api, &query(l2)), [default(l2, Some(tunnel))]);
    assert_eq!(read(&api, &query(table)), [default(table, Some(EntryAction::Member(9)))]);
    write(&api, vec![(Modify, default(l2, None))], ContinueOnError, expect!["done\n"]);
    assert_eq!(read(&api, &query(l2)), before);
}

/// All that can be read.
fn everything(api: &Api) -> Vec<Entity> {
    let queries = [
        Query::TableEntries(TableQuery::default()),
        Query::Members { profile: None, id: None },
        Query::Groups { profile: None, id: None },
        Query::Registers { array: None, index: None },
        Query::Multicast(None),
        Query::ValueSets(None),
        Query::CloneSessions(None),
        Query::Meters { array: None, index: None },
        Query::Counters { array: None, index: None },
        Query::Digests(None),
    ];
    queries.iter().flat_map(|query| read(api, query)).collect()
}

#[test]
fn a_batch_is_taken_back_as_a_whole() {
    let api = api();
    let l2 = |key| Entity::TableEntry(entry(&api, "l2", (48, key), Some(port(&api, key))));
    let balance = |key, id| Entity::TableEntry(entry(&api, "balance", (12, key), Some(EntryAction::Group(id))));
    let cell = |index, value| Cell { array: RegisterId::from_index(0), index, value: bits(16, value) };
    let multicast = |group| {
        let replicas = vec![Replica { rid: 1, port: 2 }.into()];
        Entity::Multicast(Multicast { group, replicas, metadata: vec![7] })
    };
    write(
        &api,
        vec![(Insert, member(&api, 1, 1)), (Insert, group(&api, 1, &[(1, 2, None)])), (Insert, balance(1, 1))],
        RollbackOnError,
        expect!["done\ndone\ndone\n"],
    );
    let before = everything(&api);
    let session = CloneSession { class_of_service: 1, length_bytes_max: 64, ..CloneSession::new(5) };
    let config = MeterConfig {
        committed_rate_milliunits_per_s: 1,
        committed_burst: 2,
        peak_rate_milliunits_per_s: 3,
        peak_burst: 4,
    };
    let meter = Cell {
        array: MeterId::from_index(0),
        index: Some(1),
        value: MeterValue { config: Some(config), counts: None },
    };
    let tunnels =
        vec![vec![FieldMatch::Exact(bits(16, 0x800)), FieldMatch::Range { low: bits(16, 1), high: bits(16, 9) }]];
    write(
        &api,
        vec![
            (Insert, l2(1)),
            (Insert, l2(2)),
            (Insert, member(&api, 2, 2)),
            (Modify, member(&api, 1, 7)),
            (Modify, group(&api, 1, &[(1, 1, None), (2, 3, None)])),
            (Delete, balance(1, 1)),
            (Delete, group(&api, 1, &[])),
            (Modify, Entity::Register(cell(None, 9))),
            (Modify, Entity::Meter(meter)),
            (Insert, multicast(3)),
            (Insert, Entity::CloneSession(session)),
            (Modify, Entity::ValueSet { set: ValueSetId::from_index(0), members: tunnels }),
            (Modify, Entity::Register(cell(Some(4), 9))),
            (Delete, l2(1)),
        ],
        DataplaneAtomic,
        expect![[r#"
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            Aborted: taken back: update 12 of the batch was refused
            OutOfRange: register MyIngress.flows has no cell 4: its cells are 0 to 3
            Aborted: not tried: update 12 of the batch was refused
        "#]],
    );
    assert_eq!(everything(&api), before);
}

#[test]
fn members_groups_and_their_refusals() {
    let api = api();
    let balance = |key, action| Entity::TableEntry(entry(&api, "balance", (12, key), action));
    write(
        &api,
        vec![
            (Insert, member(&api, 70, 1)),
            (Insert, member(&api, 70, 1)),
            (Insert, group(&api, 5, &[(70, 1, None), (71, 1, None)])),
            (Insert, group(&api, 5, &[(70, 0, None)])),
            (Insert, group(&api, 5, &[(70, 1, None), (70, 2, None)])),
            (Insert, group(&api, 5, &[(70, 3, Some(2))])),
            (Insert, balance(1, Some(EntryAction::Group(6)))),
            (Insert, balance(1, Some(port(&api, 1)))),
            (Insert, balance(1, Some(EntryAction::Group(5)))),
            (Delete, group(&api, 5, &[])),
            (Delete, member(&api, 70, 0)),
        ],
        ContinueOnError,
        expect![[r#"
            done
            AlreadyExists: action profile MyIngress.hops has member 70 already
            NotFound: action profile MyIngress.hops has no member 71
            InvalidArgument: action profile MyIngress.hops: the weight of member 70 is 0
            InvalidArgument: action profile MyIngress.hops: member 70 is given twice
            done
            NotFound: action profile MyIngress.hops has no group 6
            InvalidArgument: table MyIngress.balance takes its actions from action profile MyIngress.hops: an entry names a member or a group of it
            done
            FailedPrecondition: action profile `MyIngress.hops`: an entry names group 5: change that first
            FailedPrecondition: action profile `MyIngress.hops`: member 70 is in group 5
        "#]],
    );
    let choices = |api: &Api| {
        let tables = api.tables();
        let set = tables.lock();
        let profile = &set.profiles()[0];
        profile.groups().map(|(group, _)| profile.pick(group, 0)).collect::<Vec<_>>()
    };
    let before = choices(&api);
    api.port_changed(2, false);
    assert_eq!(choices(&api), [None]);
    // A member that cannot be chosen now remains one of the group.
    let delete = api.write(updates(vec![(Delete, member(&api, 70, 7))]), ContinueOnError);
    assert_eq!(delete[0].as_ref().unwrap_err().code, Code::FailedPrecondition);
    // What the controller wrote is what it reads.
    assert_eq!(read(&api, &Query::Groups { profile: None, id: Some(5) }), [group(&api, 5, &[(70, 3, Some(2))])]);
    api.port_changed(2, true);
    assert_eq!(choices(&api), before);
}

#[test]
fn a_backup_is_another_replica() {
    let copy = |port, rid| Replica { rid, port };
    for (backups, expected) in [
        (&[2][..], "multicast group 1: the replica of port 2 has a backup of the same port"),
        (&[3, 3], "multicast group 1: the replica of port 3 and instance 9 is given twice"),
    ] {
        let backups = backups.iter().map(|&port| copy(port, 9)).collect();
        let replicas = [Written { primary: copy(2, 1), backups }, copy(5, 1).into()];
        assert_eq!(Written::check_all("multicast group 1", &replicas), Err(Fault::invalid(expected)));
    }
}

#[test]
fn backups_take_the_place_of_ports_without_links() {
    let api = api();
    let copy = |port, rid| Replica { rid, port };
    let written = |backups: &[u32]| {
        let backups = backups.iter().map(|&port| copy(port, 9)).collect();
        let replicas = vec![Written { primary: copy(2, 1), backups }, copy(5, 1).into()];
        Entity::Multicast(Multicast { group: 1, replicas, metadata: vec![] })
    };
    let session = |port| {
        let replicas = vec![Written { primary: copy(2, 1), backups: vec![copy(port, 3)] }];
        Entity::CloneSession(CloneSession {
            replicas,
            class_of_service: 1,
            length_bytes_max: 64,
            ..CloneSession::new(7)
        })
    };
    write(
        &api,
        vec![(Insert, written(&[3, 4])), (Insert, session(3)), (Modify, session(3))],
        ContinueOnError,
        expect![[r#"
            done
            done
            done
        "#]],
    );
    let copies = |api: &Api| {
        let of = |switch: &mut Switch, destination| switch.replication().replicas(destination).to_vec();
        api.command_queue()
            .ask(move |switch| {
                let [group, session] = [switch::Destination::Group(1), switch::Destination::Session(7)];
                [of(switch, group), of(switch, session)].map(|all| all.iter().map(|it| it.port).collect::<Vec<_>>())
            })
            .unwrap()
    };
    let mut seen = String::new();
    for (port, is_up) in [(2, false), (3, false), (4, false), (3, true), (4, true), (2, true), (5, false)] {
        api.port_changed(port, is_up);
        seen += &format!("{port} {is_up}: {:?}\n", copies(&api));
        // A read returns what was written, whatever is chosen from it.
        assert_eq!(read(&api, &Query::Multicast(None)), [written(&[3, 4])]);
        assert_eq!(read(&api, &Query::CloneSessions(None)), [session(3)]);
    }
    expect![[r#"
        2 false: [[3, 5], [3]]
        3 false: [[4, 5], []]
        4 false: [[5], []]
        3 true: [[3, 5], [3]]
        4 true: [[3, 5], [3]]
        2 true: [[2, 5], [2]]
        5 false: [[2, 5], [2]]
    "#]]
    .assert_eq(&seen);
    // A batch that is undone leaves the backups, one without any removes them.
    let mut batch = updates(vec![(Modify, written(&[])), (Delete, session(3)), (Insert, written(&[]))]);
    assert!(api.write(batch.clone(), RollbackOnError).iter().all(Result::is_err));
    api.port_changed(2, false);
    assert_eq!(copies(&api), [vec![3, 5], vec![3]]);
    batch.pop();
    assert!(api.write(batch, RollbackOnError).iter().all(Result::is_ok));
    api.port_changed(3, false);
    assert_eq!(copies(&api), [vec![2, 5], vec![]]);
}

#[test]
fn meters_count_what_they_mark() {
    let api = api();
    let array = MeterId::from_index(0);
    let config = MeterConfig {
        committed_rate_milliunits_per_s: 1,
        committed_burst: 100,
        peak_rate_milliunits_per_s: 1,
        peak_burst: 200,
    };
    let meter = |config, counts| Entity::Meter(Cell { array, index: Some(1), value: MeterValue { config, counts } });
    let pass = |api: &Api| {
        let execute = move |switch: &mut Switch| {
            let meters = &mut switch.externs_mut().meters[array];
            meters.execute(1, 100, switch::meter::Color::Green, 0);
        };
        api.command_queue().ask(execute).unwrap();
    };
    let counts = |api: &Api| match read(api, &Query::Meters { array: Some(array), index: Some(1) }).remove(0) {
        Entity::Meter(Cell { value: MeterValue { counts: Some(counts), .. }, .. }) => {
            counts.map(|it| (it.packets, it.bytes))
        }
        other => panic!("{other:?}"),
    };
    pass(&api);
    assert_eq!(counts(&api), [(1, 100), (0, 0), (0, 0)], "one without rates marks as it finds");
    let steps = [(meter(Some(config), None), 4, [(2, 200), (1, 100), (2, 200)])];
    for (update, packets, expected) in steps {
        assert!(api.write(updates(vec![(Modify, update)]), ContinueOnError)[0].is_ok());
        (0..packets).for_each(|_| pass(&api));
        assert_eq!(counts(&api), expected, "other rates leave the counts");
    }
    let reset = updates(vec![(Modify, meter(Some(config), Some(Default::default()))), (Insert, meter(None, None))]);
    assert!(api.write(reset.clone(), RollbackOnError).iter().all(Result::is_err));
    assert_eq!(counts(&api), [(2, 200), (1, 100), (2, 200)], "taken back");
    api.write(reset, ContinueOnError);
    assert_eq!(counts(&api), [(0, 0); 3]);
}

#[test]
fn members_and_one_shot_groups_are_not_mixed() {
    let api = api();
    let choices = vec![Choice { call: call(&api, "set_port", &[(9, 1)]), weight: 1, watch_port: None }];
    let shot = |key| Entity::TableEntry(entry(&api, "balance", (12, key), Some(EntryAction::OneShot(choices.clone()))));
    let mut sized = group(&api, 6, &[(70, 1, None)]);
    if let Entity::Group(sized) = &mut sized {
        sized.size_max = 3;
    }
    write(
        &api,
        vec![
            (Insert, member(&api, 70, 1)),
            (Insert, group(&api, 6, &[(70, 1, None)])),
            (Modify, sized),
            (Insert, shot(1)),
            (Delete, group(&api, 6, &[])),
            (Delete, member(&api, 70, 1)),
            (Insert, shot(1)),
            (Insert, shot(2)),
            (Insert, member(&api, 71, 1)),
            (Insert, group(&api, 7, &[])),
            (Delete, shot(1)),
            (Delete, shot(2)),
            (Insert, member(&api, 71, 1)),
        ],
        ContinueOnError,
        expect![[r#"
            done
            done
            InvalidArgument: action profile MyIngress.hops: the max_size of group 6 is 0 since it was inserted, and cannot become 3
            InvalidArgument: action profile MyIngress.hops has members or groups; entries with action sets of their own cannot be used beside them: delete the members and groups first
            done
            done
            done
            done
            InvalidArgument: action profile MyIngress.hops: entries of its tables have action sets of their own; members and groups cannot be used beside them: delete those entries first
            InvalidArgument: action profile MyIngress.hops: entries of its tables have action sets of their own; members and groups cannot be used beside them: delete those entries first
            done
            done
            done
        "#]],
    );
    write(
        &api,
        vec![(Delete, member(&api, 71, 1)), (Insert, shot(1))],
        ContinueOnError,
        expect![[r#"
        done
        done
    "#]],
    );
    let simple = |line| crate::switch_cli::run(&api, &Default::default(), line);
    for line in [
        "act_prof_create_member hops set_port 1",
        "act_prof_modify_member hops set_port 0 1",
        "act_prof_add_member_to_group hops 0 0",
        "table_indirect_add balance 9 => 0",
        "table_indirect_add_with_group balance 9 => 0",
    ] {
        let answer = simple(line);
        assert!(answer.is_error, "{}", answer.text);
    }
    // The group goes with its entry, whoever deletes that.
    assert!(!simple("table_delete balance 0").is_error);
    write(&api, vec![(Insert, member(&api, 72, 1))], ContinueOnError, expect!["done\n"]);
}

#[test]
fn one_shot_groups_come_and_go_with_their_entries() {
    let api = api();
    let choice = |weight, to| Choice { call: call(&api, "set_port", &[(9, to)]), weight, watch_port: None };
    let shot =
        |choices: Vec<Choice>| Entity::TableEntry(entry(&api, "balance", (12, 1), Some(EntryAction::OneShot(choices))));
    let first = shot(vec![choice(1, 1), choice(1, 1), choice(2, 3)]);
    let stored = |api: &Api| {
        let tables = api.tables();
        let set = tables.lock();
        (set.profiles()[0].members().count(), set.profiles()[0].groups().count())
    };
    write(&api, vec![(Insert, first.clone())], ContinueOnError, expect!["done\n"]);
    assert_eq!((entries(&api), stored(&api)), (vec![first.clone()], (3, 1)));
    // They belong to no other entry.
    assert_eq!(read(&api, &Query::Members { profile: None, id: None }), []);
    assert_eq!(read(&api, &Query::Groups { profile: None, id: None }), []);
    let second = shot(vec![choice(5, 2)]);
    write(
        &api,
        vec![(Insert, second.clone())],
        ContinueOnError,
        expect![[r#"
            AlreadyExists: table MyIngress.balance: there is already an entry with meta.tag = 0x1: modify it, or delete it first
        "#]],
    );
    write(&api, vec![(Modify, second.clone())], ContinueOnError, expect!["done\n"]);
    assert_eq!((entries(&api), stored(&api)), (vec![second.clone()], (1, 1)));
    write(&api, vec![(Delete, second.clone()), (Insert, first.clone())], DataplaneAtomic, expect!["done\ndone\n"]);
    let table = names::table(&api.program(), "balance").unwrap();
    write(&api, vec![(Delete, Entity::AllEntries(table))], ContinueOnError, expect!["done\n"]);
    assert_eq!((entries(&api), stored(&api)), (vec![], (0, 0)));
}

#[test]
fn direct_counters_are_the_entrys_own() {
    let api = api();
    let l2 = |key| entry(&api, "l2", (48, key), Some(port(&api, 3)));
    let counted = |packets| CounterCell { packets, bytes: 9 };
    let with = |key, packets| TableEntry { counter: Some(counted(packets)), ..l2(key) };
    write(
        &api,
        vec![
            (Insert, Entity::TableEntry(with(1, 5))),
            (Insert, Entity::TableEntry(l2(2))),
            (Delete, Entity::TableEntry(l2(1))),
            (Insert, Entity::TableEntry(l2(3))),
        ],
        ContinueOnError,
        expect!["done\ndone\ndone\ndone\n"],
    );
    // The third took the place of the first.
    let which = |key| l2(key).name.map_or(Which::Default, Which::Named);
    let cell = |key, value| Entity::DirectCounter(Direct { table: l2(key).table, which: which(key), value });
    let query = Query::DirectCounters { table: None, which: Which::All };
    assert_eq!(read(&api, &query), [cell(3, CounterCell::default()), cell(2, CounterCell::default())]);
    write(&api, vec![(Modify, cell(2, counted(8)))], ContinueOnError, expect!["done\n"]);
    assert_eq!(read(&api, &query)[1], cell(2, counted(8)));
    // All, and not one that comes later in the same batch.
    let all = Entity::DirectCounter(Direct { table: l2(2).table, which: Which::All, value: counted(6) });
    let batch = vec![(Insert, Entity::TableEntry(l2(7))), (Modify, all), (Insert, Entity::TableEntry(l2(8)))];
    write(&api, batch, DataplaneAtomic, expect!["done\ndone\ndone\n"]);
    let both = [cell(3, counted(6)), cell(2, counted(6)), cell(7, counted(6)), cell(8, CounterCell::default())];
    assert_eq!(read(&api, &query), both);
    let default = Query::DirectCounters { table: None, which: Which::Default };
    assert!(matches!(&read(&api, &default)[..], [Entity::DirectCounter(it)] if it.value == CounterCell::default()));
    let undo = [7, 8].map(|key| (Delete, Entity::TableEntry(l2(key)))).to_vec();
    write(&api, undo, DataplaneAtomic, expect!["done\ndone\n"]);
    write(&api, vec![(Modify, cell(2, counted(8)))], ContinueOnError, expect!["done\n"]);
    let with_value = vec![(Delete, Entity::TableEntry(l2(3))), (Insert, Entity::TableEntry(with(4, 7)))];
    write(&api, with_value, DataplaneAtomic, expect!["done\ndone\n"]);
    assert_eq!(read(&api, &query), [cell(4, counted(7)), cell(2, counted(8))]);
    write(
        &api,
        vec![(Insert, cell(2, counted(8))), (Modify, cell(9, counted(8)))],
        ContinueOnError,
        expect![[r#"
            InvalidArgument: a direct counter of table MyIngress.l2 can be modified, not inserted or deleted
            NotFound: table MyIngress.l2: there is no entry with hdr.ethernet.dstAddr = 0x9
        "#]],
    );
}

#[test]
fn attributes_stay_with_their_entries() {
    let api = api();
    let attributes = Attributes { metadata: vec![1, 2], controller_metadata: 3, idle_timeout_ns: 0 };
    let first = TableEntry { attributes: attributes.clone(), ..entry(&api, "tiny", (12, 1), None) };
    let balance = TableEntry { attributes, ..entry(&api, "balance", (12, 1), Some(EntryAction::Member(1))) };
    let timed = Attributes { idle_timeout_ns: 5, ..Attributes::default() };
    let timed = TableEntry { attributes: timed, ..balance.clone() };
    write(
        &api,
        vec![
            (Modify, Entity::TableEntry(first)),
            (Insert, member(&api, 1, 1)),
            (Insert, Entity::TableEntry(balance.clone())),
            (Modify, Entity::TableEntry(timed)),
        ],
        ContinueOnError,
        expect![[r#"
            NotFound: table MyIngress.tiny: there is no entry with meta.tag = 0x1
            done
            done
            InvalidArgument: table MyIngress.balance has no idle timeouts: the program must declare `support_timeout = true` in it
        "#]],
    );
    assert_eq!(entries(&api), [Entity::TableEntry(balance)]);
}

#[test]
fn large_tables_are_read_in_pieces() {
    let api = api();
    let program = api.program();
    let table = names::table(&program, "ipv4_lpm").unwrap();
    let name = |value| EntryName { key: vec![FieldMatch::Lpm { value: bits(32, value), prefix_len: 32 }], priority: 0 };
    let action = || Some(EntryAction::Call(call(&api, "NoAction", &[])));
    let list = (0..1024).map(|key| (Insert, Entity::TableEntry(TableEntry::new(table, Some(name(key)), action()))));
    let outcomes = api.write(updates(list.collect()), DataplaneAtomic);
    assert!(outcomes.iter().all(Result::is_ok));
    let query = Query::TableEntries(TableQuery::default());
    assert_eq!(read(&api, &query).len(), 1024);
    let mut pieces = 0;
    api.read(&query, &mut |_| {
        pieces += 1;
        false
    })
    .unwrap();
    assert_eq!(pieces, 1);
}

struct Nowhere;
impl Output for Nowhere {
    fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {}
}

#[test]
fn idle_entries_are_reported_at_each_multiple_of_their_time() {
    let api = api();
    let timed = |key, idle_timeout_ns| {
        let attributes = Attributes { idle_timeout_ns, ..Attributes::default() };
        TableEntry { attributes, ..entry(&api, "l2", (48, key), Some(port(&api, 3))) }
    };
    // An entry is as old as the first run that sees it; a worker runs many times a second.
    let at = |now_ns| api.command_queue().ask(move |switch| switch.run(now_ns, &mut Nowhere)).unwrap();
    let hit = |handle: usize| {
        let note = move |switch: &mut Switch| {
            let now_ns = switch.now_ns();
            switch.externs_mut().last_hits_ns.iter_mut().find(|times| !times.is_empty()).unwrap()[handle] = now_ns;
        };
        api.command_queue().ask(note).unwrap();
    };
    let idle = || {
        let mut reported = Vec::new();
        let due_in_ns = api.idle_entries(&api.program(), &mut |entries| reported.extend(entries)).unwrap();
        (reported, due_in_ns)
    };
    at(100);
    let entries = [timed(1, 50), timed(2, 100), timed(3, 0)];
    let insertions = entries.iter().map(|entry| (Insert, Entity::TableEntry(entry.clone()))).collect();
    write(&api, insertions, ContinueOnError, expect!["done\ndone\ndone\n"]);
    at(100);
    at(149);
    assert_eq!(idle(), (vec![], Some(1)));
    at(150);
    assert_eq!(idle(), (vec![timed(1, 50)], Some(50)));
    hit(1);
    at(199);
    assert_eq!(idle(), (vec![], Some(1)), "the first was reported, the second was hit");
    at(220);
    assert_eq!(idle(), (vec![timed(1, 50)], Some(30)), "twice its time");
    hit(0);
    at(270);
    assert_eq!(idle(), (vec![timed(1, 50), timed(2, 100)], Some(50)));
    // A new entry under the handle of one that was reported.
    let replacement = vec![(Delete, Entity::TableEntry(timed(1, 50))), (Insert, Entity::TableEntry(timed(4, 1)))];
    write(&api, replacement, DataplaneAtomic, expect!["done\ndone\n"]);
    at(270);
    assert_eq!(idle(), (vec![], Some(1)));
    at(300);
    assert_eq!(idle(), (vec![timed(4, 1)], Some(1)));
    let read_idle = Query::TableEntries(TableQuery { with_idle: true, ..TableQuery::default() });
    let times: Vec<Option<u64>> = (read(&api, &read_idle).into_iter())
        .filter_map(|entity| if let Entity::TableEntry(entry) = entity { Some(entry.idle_ns) } else { None })
        .collect();
    assert_eq!(times, [Some(30), Some(150), Some(270 - 70)]);
}

#[test]
fn a_caller_that_would_wait_gets_an_error() {
    let api = api();
    assert!(api.is_at_hand());
    let turn = api.turn();
    assert!(!api.is_at_hand(), "somebody writes");
    drop(turn);
    let (shared, pipeline) = (api.tables(), api.pipeline());
    let tables = shared.lock();
    assert!(!api.is_at_hand(), "somebody looks through the tables");
    drop(tables);
    let state = pipeline.state();
    assert!(!api.is_at_hand(), "or at what goes with them");
    drop(state);
    assert!(api.is_at_hand());
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(folder.path()).unwrap();
    api.keep_in(store, serde_json::json!("the program")).unwrap();
    assert!(!api.is_at_hand(), "there is a disk to wait for");
}
