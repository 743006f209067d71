//! Changed STF files and entries files of the corpus on their programs: they are accepted or refused, and accepted
//! ones are carried out without a panic.

use crate::mutate::mutated;
use crate::run::Notes;
use base::Rng;
use std::path::Path;
use std::sync::Arc;
use testkit::corpus::{Case, cases, groups};
use testkit::pipeline::{Engine, optimised, program_of_file, switch_for};

/// Words that occur in STF and entries files.
const WORDS: [&str; 34] = [
    "add",
    "setdefault",
    "packet",
    "expect",
    "no_packet",
    "wait",
    "check_counter",
    "check_register",
    "mirroring_add",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_associate",
    "remove",
    "all",
    "$",
    "*",
    "**",
    "0x*f",
    "0b1*",
    "/8",
    "->",
    "&&&",
    "..",
    ":",
    "=",
    "(",
    ")",
    "\"",
    "-1",
    "4294967296",
    "packets",
    "bytes",
    "==",
    "register_write",
];

/// Changed texts for each program.
const TRIES: usize = 6;

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let group = rng.pick(&groups()).clone();
    let case = rng.pick(&cases(&group)).clone();
    let Ok(program) = program_of_file(&case.program) else { return Ok(()) };
    let program = Arc::new(if rng.chance(1, 2) { optimised(&program)? } else { program });
    for _ in 0..TRIES {
        stf_file(rng, notes, &case, &program)?;
        entries_file(rng, notes, &case, &program)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn stf_file(rng: &mut Rng, notes: &mut Notes, case: &Case, program: &Arc<ir::Program>) -> Result<(), String> {
    if case.scripts.is_empty() {
        return Ok(());
    }
    let script = rng.pick(&case.scripts[..]).clone();
    let text = mutated(rng, &read(&script)?, &WORDS);
    let Ok(script) = stf::parse("fuzz.stf", &text) else {
        notes.add("STF refused");
        return Ok(());
    };
    notes.add("STF run");
    let run = || {
        let mut switch = switch_for(program, &Engine::Interpreter)?;
        Ok::<_, String>(stf::run(&script, &mut switch).report.to_string())
    };
    match run()? == run()? {
        true => Ok(()),
        false => Err(format!("two runs differ of\n{text}")),
    }
}

fn entries_file(rng: &mut Rng, notes: &mut Notes, case: &Case, program: &Arc<ir::Program>) -> Result<(), String> {
    let Some(path) = &case.entries else { return Ok(()) };
    let text = mutated(rng, &read(path)?, &WORDS);
    let Ok(commands) = control::parse_entries("fuzz.json", &text, program) else {
        notes.add("entries refused");
        return Ok(());
    };
    notes.add("entries read");
    let mut switch = switch_for(program, &Engine::Interpreter)?;
    // Whether the commands succeed does not matter; they must succeed or fail without a panic.
    let _verdict = control::apply_all(&mut switch, &commands);
    Ok(())
}
