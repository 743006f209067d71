//! The low IR of fast paths: before its passes and after each of them, packets become what the IR's interpreter makes
//! of them.

use base::{Rng, Span};
use control::api::Entity;
use control::api::entity::{EntryAction, TableEntry};
use control::{Command, load_entries};
use ir::{ActionCall, Entry, Program, TableId};
use lir::{Arrival, Expr, Stmt, Unit};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use testkit::corpus::folder;
use testkit::low_ir::{Case, Compared};
use testkit::pipeline::{optimised, program_of_file, program_of_text};
use testkit::random_ir::{Options, random_entries, random_packet, random_program};
use testkit::random_p4;

/// Random packets for each random program.
const PACKETS: usize = 20;

/// Random programs. About one in ten has a fast path in place that the interpreter knows.
const SEEDS: u64 = 240;

/// A random program that the test's interpreter may know.
fn program_of(seed: u64, rng: &mut Rng) -> Program {
    if seed.is_multiple_of(4) {
        let (random, messages, indexed_stacks) = (false, false, false);
        let options = Options { width_bits_max: 64, random, messages, indexed_stacks, ..Options::default() };
        return optimised(&random_program(rng, &options)).unwrap();
    }
    let options = random_p4::Options { statements: rng.between(2, 10) as u32, ..random_p4::Options::default() };
    let text = random_p4::random_p4(rng, &options).text;
    optimised(&program_of_text("random.p4", &text).unwrap()).unwrap()
}

#[test]
fn random_programs_are_the_same_before_and_after_each_pass() {
    let (mut programs, mut packets, mut unsupported) = (0, 0, BTreeMap::<String, u32>::new());
    for seed in 0..SEEDS {
        let mut rng = Rng::new(seed);
        let program = program_of(seed, &mut rng);
        let entries = random_entries(&mut rng, &program);
        let sent = (0..PACKETS).map(|_| (rng.below(4), random_packet(&mut rng, &program))).collect();
        let Some(case) = Case::new(&program, entries, sent).unwrap() else { continue };
        match case.check() {
            Ok(Compared::Unsupported(why)) => *unsupported.entry(why).or_default() += 1,
            Ok(Compared::Packets(count)) => {
                programs += 1;
                packets += count;
            }
            Err(why) => panic!("seed {seed}, {why}"),
        }
    }
    assert!(programs >= 18 && packets >= 300, "{programs} programs, {packets} packets, unsupported: {unsupported:?}");
}

/// The entries in a file of commands.
fn entries_of(path: &Path, program: &Arc<Program>) -> Vec<(TableId, Entry)> {
    let entry = |command| {
        let Command::Write(update) = command else { return None };
        let Entity::TableEntry(TableEntry { table, name: Some(name), action: Some(action), .. }) = update.entity else {
            return None;
        };
        let EntryAction::Call(call) = action else { return None };
        let position = program.tables[table].actions.iter().position(|listed| listed.action == call.action)?;
        let call = ActionCall { action: position as u32, args: call.args };
        Some((table, Entry { key: name.key, priority: name.priority, is_const: false, call, span: Span::NONE }))
    };
    load_entries(path, program).unwrap().into_iter().filter_map(|(command, _)| entry(command)).collect()
}

/// A program of `apps`, optimised, with its entries.
fn app(name: &str) -> (Arc<Program>, Vec<(TableId, Entry)>) {
    let folder = folder().join("../apps").join(name);
    let program = program_of_file(&folder.join(name).with_extension("p4")).unwrap();
    let program = Arc::new(optimised(&program).unwrap());
    let entries = entries_of(&folder.join("entries.txt"), &program);
    (program, entries)
}

/// An IPv4 packet from 10.0.1.2 with this many words of options.
fn ipv4(destination: [u8; 4], ttl: u8, options: u8) -> Vec<u8> {
    let mut header = vec![0x45 + options, 0, 0, 28 + 4 * options, 0, 1, 0, 0, ttl, 17, 0, 0, 10, 0, 1, 2];
    header.extend(destination);
    header.extend(vec![1; 4 * usize::from(options)]);
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    [&[2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0], &header[..], b"contents"].concat()
}

/// A request for the link address of an IPv4 address.
fn arp(target: [u8; 4]) -> Vec<u8> {
    let ethernet = [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 1, 2, 8, 6];
    let body = [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 1, 2, 10, 0, 1, 2, 0, 0, 0, 0, 0, 0];
    [&ethernet[..], &body, &target].concat()
}

/// Packets to hosts that the entries know and to others, and variants of each with one byte changed or cut off.
fn packets_of_apps() -> Vec<(u64, Vec<u8>)> {
    let mut all = vec![arp([10, 0, 1, 1]), arp([10, 0, 1, 9])];
    for destination in [[10, 0, 2, 2], [192, 168, 3, 4], [10, 9, 9, 9]] {
        all.extend([ipv4(destination, 64, 0), ipv4(destination, 1, 0), ipv4(destination, 9, 1)]);
    }
    for host in 1..=4 {
        all.push([&[2, 0, 0, 0, 0, host, 2, 0, 0, 0, 0, 1, 9, 9], &b"contents"[..]].concat());
    }
    let mut rng = Rng::new(1);
    for position in 0..all.len() {
        let mut changed = all[position].clone();
        let at = rng.below(changed.len() as u64) as usize;
        changed[at] ^= 1;
        let mut short = all[position].clone();
        short.truncate(rng.below(short.len() as u64) as usize);
        all.extend([changed, short]);
    }
    all.into_iter().map(|packet| (1, packet)).collect()
}

#[test]
fn programs_of_apps_are_the_same_before_and_after_each_pass() {
    // The switch floods most of these packets, which the core does.
    for (name, packets_min) in [("l2fwd", 10), ("l3fwd", 40)] {
        let (program, entries) = app(name);
        let case = Case::new(&program, entries, packets_of_apps()).unwrap().unwrap();
        match case.check() {
            Ok(Compared::Packets(count)) if count >= packets_min => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Leaves out one spill.
fn without_spill(unit: &mut Unit, number: usize) -> bool {
    let all = unit.stages.iter().enumerate().flat_map(|(stage, it)| it.spills.iter().map(move |state| (stage, *state)));
    let Some((stage, state)) = all.collect::<Vec<_>>().get(number).copied() else { return false };
    unit.stages[stage].spills.remove(&state)
}

/// Takes the packets of one list for the whole burst.
fn whole_burst(unit: &mut Unit, number: usize) -> bool {
    let mut lists = unit.stages.iter_mut().filter(|stage| stage.arrival == Arrival::List);
    lists.nth(number).map(|stage| stage.arrival = Arrival::WholeBurst).is_some()
}

/// Removes one store to a variable.
fn without_store(unit: &mut Unit, number: usize) -> bool {
    let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Assign(Expr::State(_), ..));
    let mut before = 0;
    for node in unit.stages.iter_mut().flat_map(|stage| &mut stage.nodes) {
        let stores = node.body.iter().enumerate().filter(|(_, it)| is_store(it)).map(|(at, _)| at);
        let stores: Vec<usize> = stores.collect();
        if number - before < stores.len() {
            node.body.remove(stores[number - before]);
            return true;
        }
        before += stores.len();
    }
    false
}

/// How many errors of this kind the comparison finds and the verifier does not, made one at a time in the units of
/// `apps`, and how many there are.
fn found(what: &str, wrong: fn(&mut Unit, usize) -> bool) -> (usize, usize) {
    let (mut found, mut all) = (0, 0);
    for name in ["l2fwd", "l3fwd"] {
        let (program, entries) = app(name);
        let case = Case::new(&program, entries, packets_of_apps()).unwrap().unwrap();
        let mut right = case.unit.clone();
        lir::passes::run(&mut right);
        for number in 0.. {
            let mut unit = right.clone();
            if !wrong(&mut unit, number) {
                break;
            }
            all += 1;
            found += usize::from(lir::verify(&unit).is_ok() && case.compare(&unit, what).is_err());
        }
    }
    (found, all)
}

#[test]
fn wrong_passes_are_found() {
    // State that only punted packets need is not compared.
    let (spills, all) = found("without a spill", without_spill);
    assert!(spills >= 2, "{spills} of {all} spills left out");
    let (lists, all) = found("whole burst", whole_burst);
    assert!(all >= 4 && lists == all, "{lists} of {all} lists taken for the whole burst");
    // Not every store matters to a packet that is compared here.
    let (stores, all) = found("without a store", without_store);
    assert!(stores >= 10, "{stores} of {all} stores removed");
}
