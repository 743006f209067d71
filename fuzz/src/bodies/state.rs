//! Whatever a state folder contains, a switch starts with it, and the next start finds everything that the switch
//! stored.

use crate::mutate::mutated;
use crate::run::Notes;
use base::Rng;
use control::Api;
use control::api::{Atomicity, Query};
use control::store::Store;
use ir::Program;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::{Backend, CommandQueue, Config, IdleOwner, Switch};
use wirespeed::Options;

const PROGRAM: &str = "
    #include <v1model.p4>
    header h_t { bit<32> value; bit<9> port; bit<7> rest; }
    struct headers { h_t h; }
    struct meta_t { }
    parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t s) {
        value_set<bit<32>>(4) special;
        state start { p.extract(hdr.h); transition select(hdr.h.value) { special: accept; default: accept; } }
    }
    control V(inout headers hdr, inout meta_t m) { apply { } }
    control I(inout headers hdr, inout meta_t m, inout standard_metadata_t s) {
        direct_counter(CounterType.packets) hits;
        direct_meter<bit<2>>(MeterType.bytes) rate;
        register<bit<33>>(40) seen;
        counter(600, CounterType.packets_and_bytes) counts;
        meter(3, MeterType.packets) police;
        bit<2> color;
        action send(bit<9> port) { s.egress_spec = port; }
        action count(bit<9> port) { hits.count(); s.egress_spec = port; }
        action paint() { rate.read(color); }
        table exact_one { key = { hdr.h.value: exact; } actions = { count; } counters = hits; size = 64; }
        table prefixes { key = { hdr.h.value: lpm; } actions = { paint; } meters = rate; size = 64; }
        table rules { key = { hdr.h.value: ternary; hdr.h.port: range; hdr.h.rest: optional; } actions = { send; } }
        table choices {
            key = { hdr.h.port: exact; hdr.h.value: selector; }
            actions = { send; }
            implementation = action_selector(HashAlgorithm.crc16, 16, 8);
        }
        apply {
            exact_one.apply(); prefixes.apply(); rules.apply(); choices.apply();
            seen.write((bit<32>)hdr.h.port, (bit<33>)hdr.h.value); counts.count(3); police.execute_meter(1, color);
        }
    }
    control E(inout headers hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
    control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
    V1Switch(P(), V(), I(), E(), V(), D()) main;";

const COMMANDS: &str = "
    table_add exact_one count 7 => 3
    table_add exact_one count 8 => 4
    table_add prefixes paint 10.0.0.0/8 =>
    table_set_default rules send 5
    table_add rules send 1&&&3 2->9 5 => 6 1
    table_indirect_create_member choices send 3
    table_indirect_create_group choices
    table_indirect_add choices 7 => 0
    register_write seen 2 77
    counter_write counts 599 4 5
    meter_set_rates police 1 0.5:10 1:20
    mc_mgrp_create 4
    mirroring_add 5 2";

const WORDS: &[&str] = &["insert", "delete", "entry", "table", "key", "cells", "index", "value", "I.seen", "[", "{}"];

/// Starts a switch with the folder. Returns its warnings, too.
fn start(program: &Arc<Program>, folder: &Path) -> Result<(Api, Vec<String>), String> {
    let switch = Switch::new(Arc::clone(program), Backend::Interpreter, Config::default()).map_err(text)?;
    let parked = Arc::new(IdleOwner::default());
    let api = Api::new(&switch, Arc::clone(&parked) as Arc<dyn CommandQueue>);
    parked.park(switch);
    let (store, saved) = Store::open(folder).map_err(text)?;
    let mut complaints = saved.complaints.clone();
    complaints.extend(saved.restore(&api));
    api.keep_in(store, json!("the program")).map_err(text)?;
    Ok((api, complaints))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Everything that can be read.
fn everything(api: &Api) -> Result<String, String> {
    let mut all = String::new();
    let queries = [
        Query::Members { profile: None, id: None },
        Query::Groups { profile: None, id: None },
        Query::TableEntries(Default::default()),
        Query::Registers { array: None, index: None },
        Query::Counters { array: None, index: None },
        Query::Meters { array: None, index: None },
        Query::Multicast(None),
        Query::CloneSessions(None),
        Query::ValueSets(None),
    ];
    for query in &queries {
        api.read(query, &mut |entities| {
            all += &format!("{entities:?}\n");
            true
        })
        .map_err(text)?;
    }
    Ok(all)
}

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let program = Arc::new(compiled()?);
    let folder = tempfile::tempdir().map_err(text)?;
    let (api, _) = start(&program, folder.path())?;
    for (command, _) in control::parse_entries("commands", COMMANDS, &program).map_err(|all| format!("{all:?}"))? {
        // Half of the commands are in a snapshot, the later ones in the log.
        api.command(command).map_err(|problem| format!("{problem:?}"))?;
    }
    let mut entries = Vec::new();
    api.read(&Query::Registers { array: None, index: None }, &mut |cells| {
        entries.extend(cells);
        true
    })
    .map_err(text)?;
    let modify = |entity| control::api::Update { kind: control::api::UpdateKind::Modify, entity };
    api.write(entries.into_iter().map(modify).collect(), Atomicity::ContinueOnError);
    drop(api);
    for path in files(folder.path())? {
        damage(rng, &path)?;
    }
    let (api, complaints) = start(&program, folder.path())?;
    notes.add(if complaints.is_empty() { "nothing to complain of" } else { "complained" });
    let before = everything(&api)?;
    drop(api);
    let (api, complaints) = start(&program, folder.path())?;
    if !complaints.is_empty() {
        return Err(format!("what a start has kept is not whole: {complaints:?}"));
    }
    if everything(&api)? != before {
        return Err("what a start has kept is not what it had".to_owned());
    }
    Ok(())
}

fn compiled() -> Result<Program, String> {
    let compiled = Options::as_written().compile_text("state.p4", PROGRAM).map_err(text)?;
    Ok(Program::clone(compiled.ir()))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(text)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "state"));
    paths.sort();
    Ok(paths)
}

/// The first record of a file, and the bytes after it.
fn first_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    bytes.get(12..)?.split_at_checked(length as usize)
}

/// A record as stored in a file.
fn frame(record: &[u8]) -> Vec<u8> {
    let length = (record.len() as u32).to_le_bytes();
    let sum = crc32fast::hash(&[&length, record].concat());
    [&b"\x93WSR"[..], &length, &sum.to_le_bytes(), record].concat()
}

/// A record with some bytes replaced, removed or duplicated; or, if it is text, with other words.
fn other_bytes(rng: &mut Rng, record: &[u8]) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(record).map(|text| mutated(rng, text, WORDS)) {
        return text.into_bytes();
    }
    let mut bytes = record.to_vec();
    for _ in 0..1 + rng.below(3) {
        let position = rng.below(bytes.len() as u64) as usize;
        match rng.below(3) {
            0 => bytes[position] = rng.next_u64() as u8,
            1 if bytes.len() > 1 => drop(bytes.remove(position)),
            _ => bytes.insert(position, rng.below(16) as u8),
        }
    }
    bytes
}

/// Damages a file: wrong bytes, a truncated file, or complete records with different contents.
fn damage(rng: &mut Rng, path: &Path) -> Result<(), String> {
    let mut bytes = std::fs::read(path).map_err(text)?;
    match rng.below(4) {
        0 => {
            for _ in 0..rng.below(4) {
                let position = rng.below(bytes.len() as u64 + 1) as usize;
                bytes.get_mut(position).into_iter().for_each(|byte| *byte = rng.next_u64() as u8);
            }
        }
        1 => bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize),
        2 => {
            bytes.resize(rng.below(300) as usize, 0);
            rng.fill(&mut bytes);
        }
        _ => {
            let mut changed = Vec::new();
            let mut rest = bytes.as_slice();
            while let Some((record, behind)) = first_record(rest) {
                let record = if rng.chance(1, 2) { other_bytes(rng, record) } else { record.to_vec() };
                changed.extend(frame(&record));
                rest = behind;
            }
            bytes = changed;
        }
    }
    std::fs::write(path, bytes).map_err(text)
}
