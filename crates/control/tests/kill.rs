//! A switch that is killed at any moment: what was acknowledged is restored.
//!
//! The test starts itself as another process, which writes and reports each acknowledged write. That process is
//! killed, and another continues with its state.

use base::index::Id as _;
use base::{Bits, FieldMatch};
use control::Api;
use control::api::entity::{Call, EntryAction, EntryName, TableEntry};
use control::api::{Atomicity, Entity, Query, Update, UpdateKind};
use control::store::Store;
use ir::TableId;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use switch::{Backend, CommandQueue, Config, IdleOwner, Switch};

/// Tells the other process its folder and its first key.
const FOLDER: &str = "WIRESPEED_KILL_FOLDER";
const FIRST: &str = "WIRESPEED_KILL_FIRST";

/// The number of processes: few in the checks, as many as requested by hand.
fn rounds() -> u64 {
    std::env::var("WIRESPEED_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

const PROGRAM: &str = "
    #include <v1model.p4>
    header h_t { bit<32> value; }
    struct headers { h_t h; }
    struct meta_t { }
    parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t s) {
        state start { p.extract(hdr.h); transition accept; }
    }
    control V(inout headers hdr, inout meta_t m) { apply { } }
    control I(inout headers hdr, inout meta_t m, inout standard_metadata_t s) {
        action send(bit<9> port) { s.egress_spec = port; }
        table t { key = { hdr.h.value: exact; } actions = { send; NoAction; } size = 100000; }
        apply { t.apply(); }
    }
    control E(inout headers hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
    control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
    V1Switch(P(), V(), I(), E(), V(), D()) main;";

/// A control plane with the contents of the folder.
fn start(folder: &Path) -> Api {
    let mut map = syntax::SourceMap::new();
    let loader = syntax::MemoryFiles::new();
    let (tree, mut diagnostics) = syntax::parse_text(&mut map, "kill.p4", PROGRAM, &syntax::Options::new(&loader));
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics).unwrap();
    let switch = Switch::new(Arc::new(program), Backend::Interpreter, Config::default()).unwrap();
    let parked = Arc::new(IdleOwner::default());
    let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
    parked.park(switch);
    let (store, saved) = Store::open(folder).unwrap();
    assert!(saved.complaints.is_empty(), "{:?}", saved.complaints);
    let left_out = saved.restore(&api);
    assert!(left_out.is_empty(), "{left_out:?}");
    api.keep_in(store, serde_json::json!("kill.p4")).unwrap();
    api
}

fn insert(api: &Api, key: u64) -> Update {
    let table = TableId::from_index(0);
    let action = api.program().tables[table].actions[0].action;
    let name = EntryName { key: vec![FieldMatch::Exact(Bits::from_u64(32, key))], priority: 0 };
    let call = Call { action, args: vec![Bits::from_u64(9, key % 500)] };
    let entry = TableEntry::new(table, Some(name), Some(EntryAction::Call(call)));
    Update { kind: UpdateKind::Insert, entity: Entity::TableEntry(entry) }
}

/// The other process until it is killed: writes, and from time to time a command, some of which require a snapshot.
fn write_without_end(folder: &Path, first: u64) {
    let api = start(folder);
    // The harness has printed a line without its end.
    let mut output = std::io::stdout();
    writeln!(output).unwrap();
    for key in first.. {
        let is_done = if key % 16 == 5 {
            let line = format!("table_add t send {key} => 1");
            let commands = control::parse_entries("line", &line, &api.program()).unwrap();
            commands.into_iter().all(|(command, _)| api.command(command).is_ok())
        } else {
            api.write(vec![insert(&api, key)], Atomicity::ContinueOnError)[0].is_ok()
        };
        assert!(is_done, "{key}");
        // Not `println!`, which the harness may buffer.
        writeln!(output, "done {key}").unwrap();
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    if let (Some(folder), Some(first)) = (std::env::var_os(FOLDER), std::env::var(FIRST).ok()) {
        return write_without_end(Path::new(&folder), first.parse().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeSet::new();
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::what_was_acknowledged_is_there_after_a_kill", "--nocapture", "--test-threads=1"])
            .env(FOLDER, folder.path())
            .env(FIRST, (round * 100_000).to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut keys = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("done ")?.parse::<u64>().ok());
        // In some rounds it is killed while it starts.
        if round % 4 != 3 {
            acknowledged.extend(keys.next());
        }
        std::thread::sleep(Duration::from_micros(round * 7_919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(keys);
    }
    let api = start(folder.path());
    let mut there = BTreeSet::new();
    api.read(&Query::TableEntries(Default::default()), &mut |entities| {
        there.extend(entities.into_iter().filter_map(|entity| match entity {
            Entity::TableEntry(TableEntry { name: Some(name), .. }) => match &name.key[0] {
                FieldMatch::Exact(value) => value.to_u64(),
                _ => None,
            },
            _ => None,
        }));
        true
    })
    .unwrap();
    assert!(acknowledged.len() as u64 >= rounds() / 2, "{}", acknowledged.len());
    assert!(there.is_superset(&acknowledged), "missing: {:?}", acknowledged.difference(&there).collect::<Vec<_>>());
    // One more than was acknowledged may have been written in each round.
    assert!(there.len() as u64 <= acknowledged.len() as u64 + rounds());
}
