//! Control planes that are restarted.

use super::*;
use crate::api::entity::{Cell, EntryName, TableEntry};
use crate::api::{Entity, Query, UpdateKind};
use crate::entries::parse_entries;
use crate::store::system::faults;
use crate::test_program::program;
use base::index::Id as _;
use base::{Bits, FieldMatch};
use ir::RegisterId;
use std::sync::Arc;
use switch::timers::{Timer, Timers};
use switch::{Backend, CommandQueue, Config, IdleOwner, Switch};

/// The control plane of a switch that no worker runs, and the switch.
pub(super) fn api_over(program: Program) -> (Api, Arc<IdleOwner>) {
    api_of_start(program, 1)
}

/// The same for a switch whose start has this number.
fn api_of_start(program: Program, start_number: u64) -> (Api, Arc<IdleOwner>) {
    let config = Config { start_number, ..Config::default() };
    let switch = Switch::new(Arc::new(program), Backend::Interpreter, config).unwrap();
    let parked = Arc::new(IdleOwner::default());
    let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
    parked.park(switch);
    (api, parked)
}

/// Does something with the switch, as packets would.
fn with_switch(switch: &Arc<IdleOwner>, work: impl FnOnce(&mut Switch) + Send + 'static) {
    let command_queue: &dyn CommandQueue = &**switch;
    command_queue.ask(work).unwrap();
}

fn start(program: Program, folder: &Path) -> (Api, Arc<IdleOwner>, Vec<String>) {
    let (api, switch) = api_over(program);
    let (store, saved) = Store::open(folder).unwrap();
    let mut complaints = saved.complaints.clone();
    if saved.is_some() {
        assert_eq!(saved.program, json!("the program"));
        complaints.extend(saved.restore(&api));
    }
    api.keep_in(store, json!("the program")).unwrap();
    (api, switch, complaints)
}

/// Everything that a restart must restore.
fn everything(api: &Api) -> String {
    let mut text = String::new();
    api.read_all(&mut |steps| {
        for update in steps {
            text += &format!("{update:?}\n");
        }
        true
    })
    .unwrap();
    text
}

const COMMANDS: &str = "
    table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 02:00:00:00:00:01 3
    table_add l2 set_port 02:00:00:00:00:01 => 4
    table_add MyIngress.acl.filter drop 1 10.0.0.0&&&255.0.0.0 1->9 7 => 5
    table_set_default ipv4_lpm ipv4_forward 02:00:00:00:00:09 9
    table_indirect_create_member balance set_port 3
    table_indirect_create_group balance
    act_prof_add_member_to_group hops 0 0
    table_indirect_add_with_group balance 5 => 0
    counter_write rx 3 4 5
    register_write flows 2 77
    meter_set_rates police 1 0.5:10 1:20
    mc_mgrp_create 4
    mc_node_create 1 2 3
    mc_node_associate 4 0
    mirroring_add 5 2";

fn commands(api: &Api, text: &str) {
    for (command, origin) in parse_entries("commands", text, &api.program()).unwrap() {
        api.command(command).unwrap_or_else(|problem| panic!("{origin:?}: {problem:?}"));
    }
}

#[test]
fn all_state_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    commands(&api, COMMANDS);
    let before = everything(&api);
    assert_eq!(before.lines().count(), 12, "{before}");
    drop(api);
    let (api, _, complaints) = start(program(), folder.path());
    assert_eq!((everything(&api), complaints), (before, vec![]));
}

/// Handles are numbers of the moment: each change is in the log under names that outlive them.
#[test]
fn what_is_changed_by_handle_is_logged_as_updates() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    let files = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<base::OrderedSet<_>>()
    };
    let before = files();
    commands(&api, COMMANDS);
    commands(
        &api,
        "table_modify l2 tunnel 0 1
         table_set_timeout l2 0 5000
         counter_write hits 0 5 640
         table_add l2 set_port 7 => 1
         table_delete l2 1
         table_clear ipv4_lpm
         act_prof_create_member hops set_port 5
         act_prof_add_member_to_group hops 1 0
         act_prof_remove_member_from_group hops 0 0
         act_prof_modify_member hops set_port 0 9
         table_indirect_set_default balance 1
         pvs_add tunnels 0x800 1->5
         pvs_add tunnels 0x801 1->5
         pvs_remove tunnels 0x800 1->5
         mc_node_create 2 3 4
         mc_node_associate 4 1
         mc_node_update 0 7
         mc_node_create 2 3 4
         mc_node_associate 4 2
         mc_mgrp_create 5
         mc_node_associate 5 1
         mc_node_destroy 1
         mirroring_add_mc 6 4
         mirroring_add 5 3",
    );
    let state = everything(&api);
    assert_eq!(files(), before, "no snapshot");
    drop(api);
    let (api, _, complaints) = start(program(), folder.path());
    assert_eq!((everything(&api), complaints), (state, vec![]));
    let text = |line| crate::switch_cli::run(&api, &Default::default(), line).text;
    assert_eq!(text("mirroring_get 6"), "MirroringSessionConfig(port=None, mgid=4)");
    assert_eq!(text("counter_read hits 0"), "MyIngress.hits[0]=  BmCounterValue(packets=5, bytes=640)");
    // What is written to all entries, too.
    commands(&api, "counter_reset hits\ntable_clear l2\ntable_add l2 set_port 9 => 1");
    let state = everything(&api);
    drop(api);
    let (api, _, complaints) = start(program(), folder.path());
    assert_eq!((everything(&api), complaints), (state, vec![]));
}

/// A copy of this switch, from its snapshot.
fn replica(api: &Api) -> (Api, Value) {
    let mut records: Vec<Box<[u8]>> = Vec::new();
    api.stream_snapshot(true, &mut |record| {
        records.push(record.into());
        Ok(())
    })
    .unwrap();
    let saved = Saved::of_records(records);
    let (other, _) = api_over(program());
    assert_eq!((saved.restore(&other), saved.complaints.is_empty()), (vec![], true));
    (other, saved.program)
}

#[test]
fn a_snapshot_makes_another_switch_and_leaves_the_store_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (api, switch, _) = start(program(), folder.path());
    let fault = api.stream_snapshot(false, &mut |_| Ok(())).unwrap_err();
    assert_eq!(fault.message, "the switch has no program");
    api.set_program_note(json!({"file": "p.p4"}));
    commands(&api, COMMANDS);
    // As packets would, so that the store notices only with the next save.
    let flows = RegisterId::from_index(0);
    with_switch(&switch, move |switch| {
        switch.externs_mut().registers[flows].write(1, &Bits::from_u64(16, 5));
    });
    let (other, note) = replica(&api);
    assert_eq!(note, json!({"file": "p.p4"}));
    api.save().unwrap();
    drop(api);
    let (restarted, ..) = start(program(), folder.path());
    let state = everything(&restarted);
    assert_eq!(state.lines().count(), 13, "{state}");
    assert_eq!(everything(&other), state);
}

fn l2(api: &Api, key: u64) -> Update {
    let program = api.program();
    let (table, declared) = program.tables.iter_enumerated().find(|(_, it)| it.name == "MyIngress.l2").unwrap();
    let call = crate::api::entity::Call { action: declared.actions[1].action, args: vec![Bits::from_u64(9, 1)] };
    let name = EntryName { key: vec![FieldMatch::Exact(Bits::from_u64(48, key))], priority: 0 };
    let action = crate::api::entity::EntryAction::Call(call);
    Update { kind: UpdateKind::Insert, entity: Entity::TableEntry(TableEntry::new(table, Some(name), Some(action))) }
}

fn entries(api: &Api) -> usize {
    let mut count = 0;
    api.read(&Query::TableEntries(Default::default()), &mut |entities| {
        count += entities.len();
        true
    })
    .unwrap();
    count
}

#[test]
fn what_was_acknowledged_is_there_whatever_was_cut_off_later() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    let log = folder.path().join("log-1.state");
    let mut acknowledged = vec![(0, 0)];
    for key in 0..20 {
        let outcomes = api.write(vec![l2(&api, key), l2(&api, key)], Atomicity::ContinueOnError);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        acknowledged.push((std::fs::metadata(&log).unwrap().len() as usize, acknowledged.len()));
    }
    drop(api);
    let whole = std::fs::read(&log).unwrap();
    let snapshot = std::fs::read(folder.path().join("snapshot-1.state")).unwrap();
    for length in (0..=whole.len()).step_by(7) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("snapshot-1.state"), &snapshot).unwrap();
        std::fs::write(folder.path().join("log-1.state"), &whole[..length]).unwrap();
        let (api, _, complaints) = start(program(), folder.path());
        let expected = acknowledged.iter().filter(|(bytes, _)| *bytes <= length).count() - 1;
        let is_reported = length == 0 || !is_border(length, &whole);
        assert_eq!((entries(&api), !complaints.is_empty()), (expected, is_reported), "{length}");
        assert!(complaints.iter().all(|it| is_usual(it) || length == 0), "{length}: {complaints:?}");
    }
}

/// The number of durable records is noted once a second: a log that something has truncated since is reported,
/// wherever it is cut.
#[test]
fn a_log_that_was_cut_between_two_records_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    let log = folder.path().join("log-1.state");
    let write = |key| assert!(api.write(vec![l2(&api, key)], Atomicity::ContinueOnError)[0].is_ok());
    write(1);
    let length = std::fs::metadata(&log).unwrap().len() as usize;
    write(2);
    api.save().unwrap();
    write(3);
    drop(api);
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..length]).unwrap();
    let (api, _, complaints) = start(program(), folder.path());
    assert_eq!(entries(&api), 1);
    let expected = "log-1.state: only 2 of 3 stored records are left, because something has truncated it; kept";
    assert!(complaints.len() == 1 && complaints[0].contains(expected), "{complaints:?}");
}

/// The program and the notes are in two places, so that no single damage loses both.
#[test]
fn a_damaged_bit_of_the_program_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    commands(&api, COMMANDS);
    api.keep_notes([("name".to_owned(), json!("a number"))].into()).unwrap();
    drop(api);
    let (api, _, _) = start(program(), folder.path());
    let before = everything(&api);
    drop(api);
    let number = (1..100).find(|number| folder.path().join(format!("log-{number}.state")).exists()).unwrap();
    let (snapshot, log) = (format!("snapshot-{number}.state"), format!("log-{number}.state"));
    for (file, flipped, held) in [
        (&snapshot, &b"program"[..], "record 2 (the program) is damaged"),
        (&snapshot, b"notes", "record 3 (names and timers) is damaged"),
        (&log, b"program", "record 1 (the beginning of the file) is damaged, and nothing of it could be read"),
    ] {
        let damaged = tempfile::tempdir().unwrap();
        for name in [&snapshot, &log] {
            std::fs::copy(folder.path().join(name), damaged.path().join(name)).unwrap();
        }
        let path = damaged.path().join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(flipped.len()).position(|window| window == flipped).unwrap();
        // After the name of the record.
        bytes[at + flipped.len() + 4] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        let (api, _, complaints) = start(program(), damaged.path());
        assert!(complaints.len() == 1 && complaints[0].contains(held), "{complaints:?}");
        assert_eq!((everything(&api), api.notes()["name"].clone()), (before.clone(), json!("a number")));
    }
}

#[test]
fn the_contents_of_a_damaged_record_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    let updates: Vec<_> = (0..3).map(|key| l2(&api, key)).collect();
    assert!(api.write(updates, Atomicity::ContinueOnError).iter().all(Result::is_ok));
    assert!(api.write(vec![l2(&api, 9)], Atomicity::ContinueOnError)[0].is_ok());
    commands(&api, "register_write flows 2 77");
    drop(api);
    let log = folder.path().join("log-1.state");
    let whole = std::fs::read(&log).unwrap();
    let at = |what: &[u8]| whole.windows(what.len()).position(|window| window == what).unwrap();
    let (l2, flows) = (at(b"MyIngress.l2"), at(b"MyIngress.flows"));
    for (flipped, expected) in [
        (vec![l2 - 10], "record 2 (3 updates of table MyIngress.l2) is damaged; 3 other records were read"),
        // A length in the middle of it: what follows cannot be read.
        (vec![l2 + 12 + 3], "record 2 (as far as it can be read 1 update of table MyIngress.l2) is damaged; 3"),
        (
            vec![l2 - 10, flows - 10],
            "2 places are damaged: record 2 (3 updates of table MyIngress.l2), \
             record 4 (1 update of register MyIngress.flows); 2",
        ),
    ] {
        let mut bytes = whole.clone();
        flipped.iter().for_each(|&at| bytes[at] ^= 0x40);
        std::fs::write(&log, bytes).unwrap();
        let (_, saved) = Store::open(folder.path()).unwrap();
        assert!(saved.complaints[0].contains(expected), "{:?}", saved.complaints);
    }
}

#[test]
fn cells_that_packets_change_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (api, switch, _) = start(program(), folder.path());
    api.write(vec![l2(&api, 1)], Atomicity::ContinueOnError);
    let flows = RegisterId::from_index(0);
    with_switch(&switch, move |switch| {
        switch.externs_mut().registers[flows].write(3, &Bits::from_u64(16, 9));
        switch.externs_mut().direct_counters.iter_mut().for_each(|cells| cells[0].count(60));
    });
    let log = folder.path().join("log-1.state");
    let bytes = || std::fs::metadata(&log).unwrap().len();
    let before = bytes();
    api.save().unwrap();
    let after = bytes();
    api.save().unwrap();
    assert!(before < after && after == bytes(), "what has not changed is not stored again");
    let state = everything(&api);
    drop(api);
    let (api, _, _) = start(program(), folder.path());
    assert_eq!(everything(&api), state);
    let query = Query::Registers { array: Some(flows), index: Some(3) };
    api.read(&query, &mut |entities| {
        let value = Bits::from_u64(16, 9);
        assert_eq!(entities, [Entity::Register(Cell { array: flows, index: Some(3), value })]);
        true
    })
    .unwrap();
}

/// For a write of all cells the log has the write, and then the cells that packets change.
#[test]
fn arrays_that_are_written_as_a_whole_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut large = program();
    let flows = RegisterId::from_index(0);
    large.registers[flows].size = 100_000;
    let (api, switch, _) = start(large.clone(), folder.path());
    let log_bytes = || std::fs::metadata(folder.path().join("log-1.state")).unwrap().len();
    let all = |value| Update {
        kind: UpdateKind::Modify,
        entity: Entity::Register(Cell { array: flows, index: None, value: Bits::from_u64(16, value) }),
    };
    assert!(api.write(vec![all(7)], Atomicity::ContinueOnError)[0].is_ok());
    let written = log_bytes();
    api.save().unwrap();
    assert_eq!(log_bytes(), written, "the log has it already");
    with_switch(&switch, move |switch| {
        let cells = &mut switch.externs_mut().registers[flows];
        assert!(cells.write(0, &Bits::from_u64(16, 8)) && cells.write(99_999, &Bits::from_u64(16, 9)));
    });
    api.save().unwrap();
    assert!((1000..4096).contains(&(log_bytes() - written)), "the pieces of both cells: {}", log_bytes() - written);
    let state = everything(&api);
    drop((api, switch));
    let (api, switch, complaints) = start(large, folder.path());
    assert_eq!((everything(&api) == state, complaints), (true, vec![]));
    with_switch(&switch, move |switch| {
        let cells = &switch.externs_mut().registers[flows];
        let value = |index| cells.read(index).and_then(|value| value.to_u64());
        assert_eq!([0, 1, 99_998, 99_999].map(value), [Some(8), Some(7), Some(7), Some(9)]);
    });
}

/// A register that holds the number of the start has that of this start, whatever was written to it before.
#[test]
fn the_number_of_a_start_is_not_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let flows = RegisterId::from_index(0);
    let mut program = program();
    for (start_number, seen) in [(7, 7), (0x1_0008, 8), (0x1_0000, 1)] {
        program.registers[flows].is_start_number = true;
        let (api, switch) = api_of_start(program.clone(), start_number);
        let (store, saved) = Store::open(folder.path()).unwrap();
        assert_eq!(saved.restore(&api), Vec::<String>::new());
        with_switch(&switch, move |switch| {
            let cells: Vec<Bits> =
                (0..4).map(|cell| switch.externs_mut().registers[flows].read(cell).unwrap()).collect();
            assert_eq!(cells, vec![Bits::from_u64(16, seen); 4], "cut to the register's width, and never 0");
        });
        api.keep_in(store, json!("the program")).unwrap();
        commands(&api, "register_write flows 2 77");
        with_switch(&switch, move |switch| {
            switch.externs_mut().registers[flows].write(3, &Bits::from_u64(16, 78));
        });
        api.save().unwrap();
    }
}

#[test]
fn timers_keep_their_settings() {
    let folder = tempfile::tempdir().unwrap();
    let ports = || {
        let timer = |period_ns| Some(Arc::new(Timer::new(period_ns, Vec::new()).unwrap()));
        Arc::new(Timers::new([(1, None), (8, timer(2_000_000)), (9, timer(3_000_000))], 510))
    };
    let (api, _, _) = start(program(), folder.path());
    assert_eq!(api.change_timer(10, 1_000_000, vec![]).unwrap_err().code, Code::Unavailable);
    assert_eq!(api.set_timers(ports()), Vec::<String>::new());
    api.change_timer(10, 1_000_000, vec![vec![7; 20], vec![8; 14]]).unwrap();
    api.change_timer(10, 5_000_000, vec![]).unwrap();
    api.change_timer(11, 6_000_000, vec![vec![9; 60]]).unwrap();
    api.change_timer(11, 0, vec![]).unwrap();
    api.change_timer(9, 0, vec![]).unwrap();
    for (port, code) in [(1, Code::FailedPrecondition), (511, Code::OutOfRange)] {
        assert_eq!(api.change_timer(port, 1_000_000, vec![]).unwrap_err().code, code);
    }
    // Ports do not depend on the program.
    let new = Switch::new(api.program(), Backend::Interpreter, Config::default()).unwrap();
    api.replace(new, json!("the program")).unwrap();
    drop(api);
    let (api, _, complaints) = start(program(), folder.path());
    assert_eq!((complaints, api.set_timers(ports())), (vec![], vec![]));
    let all = api.timers().unwrap().all();
    let all: Vec<_> = all.iter().map(|(port, timer)| (*port, timer.period_ns(), timer.frames().len())).collect();
    assert_eq!(all, [(8, Some(2_000_000), 1), (9, None, 1), (10, Some(5_000_000), 2)]);
    assert_eq!(api.timers().unwrap().all()[2].1.frames()[..], [vec![7; 20], vec![8; 14]]);
    drop(api);
    // The port has another driver by now.
    let (api, _, _) = start(program(), folder.path());
    let taken = api.set_timers(Arc::new(Timers::new([(9, None), (10, None)], 510)));
    let why = "the timer of port 10: something else is behind port 10; a timer needs a port of its own";
    assert_eq!(taken, [why]);
}

#[test]
fn another_program_takes_what_it_has_a_place_for() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    commands(&api, COMMANDS);
    drop(api);
    let mut other = program();
    other.tables[ir::TableId::from_index(1)].name = "MyIngress.renamed".into();
    other.registers[RegisterId::from_index(0)].ty = ir::Type::Bit(4);
    let (api, _, complaints) = start(other, folder.path());
    expect_test::expect![[r#"
        [
            "the program has no table MyIngress.l2",
            "a value of 2 bytes, where 4 bits are expected",
        ]
    "#]]
    .assert_debug_eq(&complaints);
    assert_eq!(entries(&api), 3);
}

/// A switch after writes of every kind, and which of its entries were acknowledged. Returns whether the deletion of
/// entry 0 was.
fn some_work(folder: &Path, acknowledged: &mut Vec<u64>) -> bool {
    let (api, _) = api_over(program());
    let Ok((store, saved)) = Store::open(folder) else { return false };
    saved.restore(&api);
    if api.keep_in(store, json!("the program")).is_err() {
        return false;
    }
    let write = |kind, key| {
        let update = Update { kind, ..l2(&api, key) };
        api.write(vec![update], Atomicity::ContinueOnError)[0].is_ok()
    };
    for key in 0..4 {
        if write(UpdateKind::Insert, key) {
            acknowledged.push(key);
        }
    }
    // An unacknowledged write was carried out all the same, and a later snapshot has it.
    let is_deleted = write(UpdateKind::Delete, 0);
    acknowledged.retain(|&key| key != 0);
    let lines = "table_add l2 set_port 00:00:00:00:00:63 => 4\nmc_mgrp_create 5";
    let commands = parse_entries("c", lines, &api.program()).unwrap();
    if api.command(commands[0].0.clone()).is_ok() {
        acknowledged.push(0x63);
    }
    let _may_fail = api.command(commands[1].0.clone());
    let _may_fail = api.save();
    for key in 4..6 {
        if write(UpdateKind::Insert, key) {
            acknowledged.push(key);
        }
    }
    let _may_fail = api.save();
    is_deleted
}

fn keys(api: &Api) -> Vec<u64> {
    let mut keys = Vec::new();
    api.read(&Query::TableEntries(Default::default()), &mut |entities| {
        keys.extend(entities.iter().map(|entity| match entity {
            Entity::TableEntry(TableEntry { name: Some(EntryName { key, .. }), .. }) => match &key[0] {
                FieldMatch::Exact(value) => value.to_u64().unwrap(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }));
        true
    })
    .unwrap();
    keys
}

#[test]
fn whatever_the_system_refuses_what_was_acknowledged_is_there() {
    let steps = {
        let folder = tempfile::tempdir().unwrap();
        faults::refuse(0..0);
        some_work(folder.path(), &mut Vec::new());
        faults::end()
    };
    assert!(steps > 25, "{steps}");
    // One step fails, some do, or all from there on, as when the disk is full or the switch is killed.
    for (first, length) in (0..steps).flat_map(|first| [1, 2, 5, u32::MAX].map(|length| (first, length))) {
        let folder = tempfile::tempdir().unwrap();
        let mut acknowledged = Vec::new();
        faults::refuse(first..first.saturating_add(length));
        let is_deleted = some_work(folder.path(), &mut acknowledged);
        faults::end();
        let (api, _, complaints) = start(program(), folder.path());
        let there = keys(&api);
        let missing: Vec<_> = acknowledged.iter().filter(|key| !there.contains(key)).collect();
        assert!(missing.is_empty(), "{length} from {first}: {missing:x?} of {acknowledged:x?}, there: {there:x?}");
        assert!(!(is_deleted && there.contains(&0)), "{length} from {first}");
        assert!(complaints.iter().all(|it| is_usual(it)), "{length} from {first}: {complaints:?}");
        if length == u32::MAX && first == 0 {
            assert!(acknowledged.is_empty(), "nothing can be stored");
        }
    }
}

#[test]
fn counts_of_entries_that_the_program_fixes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let fixed = || {
        let mut program = program();
        let (hits, tiny) = (program.tables[ir::TableId::from_index(1)].direct_counters[0], ir::TableId::from_index(5));
        program.tables[tiny].direct_counters.push(hits);
        program.tables[ir::TableId::from_index(1)].direct_counters.clear();
        let key = vec![FieldMatch::Exact(Bits::from_u64(12, 7))];
        let call = ir::ActionCall { action: 1, args: vec![] };
        program.tables[tiny].entries.push(ir::Entry {
            key,
            priority: 0,
            is_const: false,
            call,
            span: base::Span::NONE,
        });
        program
    };
    let (api, switch, _) = start(fixed(), folder.path());
    with_switch(&switch, |switch| {
        switch.externs_mut().direct_counters.iter_mut().for_each(|cells| cells[0].count(60));
    });
    api.save().unwrap();
    let before = everything(&api);
    assert!(before.contains("counter: Some(CounterCell { packets: 1, bytes: 60 })"), "{before}");
    drop(api);
    // Once from the log, once from a snapshot.
    for _ in 0..2 {
        drop(api_of(start(fixed(), folder.path()), &before));
    }
}

fn api_of((api, _, complaints): (Api, Arc<IdleOwner>, Vec<String>), expected: &str) -> Api {
    assert_eq!((everything(&api).as_str(), complaints), (expected, vec![]));
    api
}

#[test]
fn groups_of_single_entries_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), folder.path());
    let table = ir::TableId::from_index(6);
    let call = |port| crate::api::entity::Call {
        action: api.program().tables[table].actions[1].action,
        args: vec![Bits::from_u64(9, port)],
    };
    let choice = |port, weight| crate::api::entity::Choice { call: call(port), weight, watch_port: Some(port as u32) };
    let action = crate::api::entity::EntryAction::OneShot(vec![choice(1, 2), choice(2, 1)]);
    let insert = |key, action| {
        let name = EntryName { key: vec![FieldMatch::Exact(Bits::from_u64(12, key))], priority: 0 };
        let entity = Entity::TableEntry(TableEntry::new(table, Some(name), Some(action)));
        Update { kind: UpdateKind::Insert, entity }
    };
    let member = |id, port| {
        let profile = ir::ActionProfileId::from_index(0);
        let entity = Entity::Member(crate::api::entity::Member { profile, id, call: Some(call(port)) });
        Update { kind: UpdateKind::Insert, entity }
    };
    let to_member = crate::api::entity::EntryAction::Member(77);
    let delete = |update: Update| Update { kind: UpdateKind::Delete, ..update };
    // Numbers that are far from handles, and a handle that is free again.
    let with_members = vec![member(900, 1), member(77, 2), insert(2, to_member.clone()), delete(member(900, 1))];
    let with_sets =
        vec![delete(insert(2, to_member)), delete(member(77, 2)), insert(1, action.clone()), insert(2, action)];
    let mut api = api;
    for updates in [with_members, with_sets] {
        let outcomes = api.write(updates, Atomicity::ContinueOnError);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let before = everything(&api);
        drop(api);
        drop(api_of(start(program(), folder.path()), &before));
        api = api_of(start(program(), folder.path()), &before);
    }
}

/// Damage to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    CutAt(usize),
    FlippedAt(usize),
    Missing,
    IsFolder,
    Unreadable,
}

impl Damage {
    fn all(length: usize) -> Vec<Damage> {
        let some = || (0..length).step_by(length / 8 + 1).chain(length.saturating_sub(2)..length);
        let whole = [Damage::Missing, Damage::IsFolder, Damage::Unreadable];
        some().map(Damage::CutAt).chain(some().map(Damage::FlippedAt)).chain(whole).collect()
    }

    fn inflict(self, path: &Path, bytes: &[u8]) {
        use std::os::unix::fs::PermissionsExt as _;
        let write = |bytes: &[u8]| std::fs::write(path, bytes).unwrap();
        match self {
            Damage::CutAt(length) => write(&bytes[..length]),
            Damage::FlippedAt(position) => {
                let mut bytes = bytes.to_vec();
                bytes[position] ^= 4;
                write(&bytes);
            }
            Damage::Missing => {}
            Damage::IsFolder => std::fs::create_dir(path).unwrap(),
            Damage::Unreadable => {
                write(bytes);
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
            }
        }
    }

    /// Whether a crash can have the same effect, or not for somebody who can read everything.
    fn is_usual(self, path: &Path, bytes: &[u8]) -> bool {
        match self {
            Damage::CutAt(length) => is_log(path) && length > 0 && is_border(length, bytes),
            Damage::Unreadable => File::open(path).is_ok(),
            Damage::FlippedAt(_) | Damage::Missing | Damage::IsFolder => false,
        }
    }
}

/// Whether a file that is cut here ends with a complete record.
fn is_border(position: usize, bytes: &[u8]) -> bool {
    let length = |start: usize| u32::from_le_bytes(bytes[start + 4..start + 8].try_into().unwrap()) as usize;
    let mut border = 0;
    while border < position {
        border += 12 + length(border);
    }
    border == position
}

/// The reports on the torn end of a log, and on a folder that never got a state.
fn is_usual(complaint: &str) -> bool {
    complaint.contains(" is incomplete and was ignored; kept as ")
        || complaint.ends_with("its state is gone: it starts empty")
}

fn is_log(path: &Path) -> bool {
    path.to_str().unwrap().contains("log-")
}

/// Whatever has happened to the files: a switch starts, the damage is reported and preserved, and the next start has
/// nothing to report.
#[test]
fn damage_of_any_kind_is_no_reason_not_to_start() {
    let original = tempfile::tempdir().unwrap();
    let (api, _, _) = start(program(), original.path());
    commands(&api, COMMANDS);
    drop(api);
    let (api, _, _) = start(program(), original.path());
    for key in 0x70..0x74 {
        assert!(api.write(vec![l2(&api, key)], Atomicity::ContinueOnError)[0].is_ok());
    }
    drop(api);
    let number = (1..100).find(|number| original.path().join(format!("log-{number}.state")).exists()).unwrap();
    let files = ["snapshot", "log"].map(|name| format!("{name}-{number}.state"));
    let contents = files.each_ref().map(|name| std::fs::read(original.path().join(name)).unwrap());
    for damaged in 0..2 {
        for damage in Damage::all(contents[damaged].len()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(&files[damaged]);
            std::fs::write(folder.path().join(&files[1 - damaged]), &contents[1 - damaged]).unwrap();
            damage.inflict(&path, &contents[damaged]);
            let is_usual = damage.is_usual(&path, &contents[damaged]);
            let (api, _) = api_over(program());
            let (store, saved) = Store::open(folder.path()).unwrap();
            assert_eq!(saved.complaints.is_empty(), is_usual, "{} {damage:?}: {:?}", files[damaged], saved.complaints);
            saved.restore(&api);
            api.keep_in(store, json!("the program")).unwrap();
            let kept = std::fs::read_dir(folder.path()).unwrap();
            let is_kept = |entry: std::fs::DirEntry| entry.path().to_str().unwrap().ends_with(".damaged-1");
            let is_kept = kept.filter_map(Result::ok).any(is_kept);
            let is_lost = matches!(damage, Damage::Missing) && damaged == 1;
            assert_eq!(is_kept, !is_usual && !is_lost, "{} {damage:?}", files[damaged]);
            let before = everything(&api);
            drop(api);
            drop(api_of(start(program(), folder.path()), &before));
        }
    }
}

/// While a snapshot is written beside the log, more is appended, of which nothing is lost, whenever it ends.
#[test]
fn a_snapshot_beside_the_log_loses_nothing() {
    let steps = |stop: Option<u32>| {
        let folder = tempfile::tempdir().unwrap();
        let (api, switch, _) = start(program(), folder.path());
        commands(&api, COMMANDS);
        let write = |kind, key| api.write(vec![Update { kind, ..l2(&api, key) }], Atomicity::ContinueOnError).remove(0);
        for key in 0x100..0x400 {
            write(UpdateKind::Insert, key).unwrap();
        }
        with_switch(&switch, |switch| {
            switch.externs_mut().direct_counters.iter_mut().for_each(|cells| cells[5].count(60));
        });
        faults::refuse(stop.map_or(0..0, |stop| stop..u32::MAX));
        let begun = api.begin_beside();
        let count = faults::end();
        // A deleted entry's handle is reused by another, which has other counts.
        write(UpdateKind::Delete, 0x105).unwrap();
        write(UpdateKind::Insert, 0x900).unwrap();
        write(UpdateKind::Delete, 0x200).unwrap();
        commands(&api, "register_write flows 1 99");
        let finished = begun.is_ok_and(|begun| {
            faults::refuse(stop.map_or(0..0, |stop| stop.saturating_sub(count)..u32::MAX));
            begun.finish().is_ok()
        });
        let count = count + faults::end();
        write(UpdateKind::Insert, 0x901).unwrap();
        api.save().unwrap();
        let before = everything(&api);
        drop(api);
        let (api, _, complaints) = start(program(), folder.path());
        assert!(complaints.iter().all(|it| is_usual(it)), "{stop:?}: {complaints:?}");
        let sorted = |text: String| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (after, before) = (sorted(everything(&api)), sorted(before));
        let differences: Vec<_> = after.symmetric_difference(&before).collect();
        assert!(differences.is_empty(), "{stop:?}: {differences:?}");
        (count, finished)
    };
    let (count, finished) = steps(None);
    assert!(finished && count > 5, "{count}");
    for stop in 0..count {
        steps(Some(stop));
    }
}

#[test]
fn files_of_any_bytes_are_no_reason_not_to_start() {
    for content in [
        &b""[..],
        b"\n\n",
        b"00000000 {}\n",
        b"\x93WSR",
        b"\x93WSR\xFF\xFF\xFF\x3F\0\0\0\0",
        b"\x93WSR\0\0\0\0\0\0\0\0",
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["snapshot-3.state", "log-3.state", "log-18446744073709551615.state", "snapshot-9.unfinished"] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let (api, _, complaints) = start(program(), folder.path());
        assert!(!complaints.is_empty(), "{content:?}");
        assert_eq!(entries(&api), 0);
        assert!(!folder.path().join("snapshot-9.unfinished").exists());
    }
}
