//! Control planes that are restarted.

use super::*;
use crate::api::entity::{Cell, EntryName, TableEntry};
use crate::api::{Entity, Query};
use crate::entries::parse_entries;
use crate::test_program::program;
use base::Bits;
use base::index::Id as _;
use ir::{EntryKey, RegisterId};
use std::sync::{Arc, Mutex};
use switch::{Backend, Closed, Config, Door, Job, Switch};

/// Runs jobs at once.
struct Here(Arc<Mutex<Switch>>);

impl Door for Here {
    fn send(&self, job: Job) -> Result<(), Closed> {
        job(&mut self.0.lock().unwrap());
        Ok(())
    }
}

fn start(program: Program, folder: &Path) -> (Api, Arc<Mutex<Switch>>, Vec<String>) {
    let switch = Switch::new(Arc::new(program), Backend::Interpreter, Config::default()).unwrap();
    let switch = Arc::new(Mutex::new(switch));
    let api = Api::new(&switch.lock().unwrap(), Arc::new(Here(Arc::clone(&switch))));
    let (store, saved) = Store::open(folder).unwrap();
    let mut complaints = saved.complaints.clone();
    if saved.is_some() {
        assert_eq!(saved.program, json!("the program"));
        complaints.extend(saved.restore(&api));
    }
    api.keep_in(store, json!("the program")).unwrap();
    (api, switch, complaints)
}

/// Everything that a restart has to bring back.
fn everything(api: &Api) -> String {
    let program = api.program();
    let mut text = String::new();
    api.read_all(&mut |steps| {
        for (kind, entity) in steps {
            text += &format!("{}\n", format::to_json(&program, &Update { kind, entity }));
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

fn l2(api: &Api, key: u64) -> Update {
    let program = api.program();
    let (table, declared) = program.tables.iter_enumerated().find(|(_, it)| it.name == "MyIngress.l2").unwrap();
    let call = crate::api::entity::Call { action: declared.actions[1].action, args: vec![Bits::from_u64(9, 1)] };
    let name = EntryName { key: vec![EntryKey::Exact(Bits::from_u64(48, key))], priority: 0 };
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
    let log = folder.path().join("log-1.jsonl");
    let mut acknowledged = vec![(0, 0)];
    for key in 0..20 {
        let outcomes = api.write(vec![l2(&api, key), l2(&api, key)], Atomicity::ContinueOnError);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        acknowledged.push((std::fs::metadata(&log).unwrap().len() as usize, acknowledged.len()));
    }
    drop(api);
    let whole = std::fs::read(&log).unwrap();
    let snapshot = std::fs::read(folder.path().join("snapshot-1.jsonl")).unwrap();
    for length in (0..=whole.len()).step_by(37) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("snapshot-1.jsonl"), &snapshot).unwrap();
        std::fs::write(folder.path().join("log-1.jsonl"), &whole[..length]).unwrap();
        let (api, _, complaints) = start(program(), folder.path());
        let expected = acknowledged.iter().filter(|(bytes, _)| *bytes <= length).count() - 1;
        assert_eq!((entries(&api), complaints), (expected, vec![]), "{length}");
    }
}

#[test]
fn cells_that_packets_change_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (api, switch, _) = start(program(), folder.path());
    api.write(vec![l2(&api, 1)], Atomicity::ContinueOnError);
    let flows = RegisterId::from_index(0);
    {
        let mut switch = switch.lock().unwrap();
        switch.externs_mut().registers[flows].write(3, &Bits::from_u64(16, 9));
        switch.externs_mut().direct_counters.iter_mut().for_each(|cells| cells[0].count(60));
    }
    let log = folder.path().join("log-1.jsonl");
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
            "a value of 2 bytes, where 4 bits are wanted",
        ]
    "#]]
    .assert_debug_eq(&complaints);
    assert_eq!(entries(&api), 3);
}
