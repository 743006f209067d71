//! Random P4 programs: both backends, bursts, and optimised programs must behave as the definition says.

use super::scenario::{Scenario, Workers};
use super::{BURST, BuildFolder};
use crate::pipeline::{Engine, optimised, optimised_with_routines};
use crate::random_p4::{Options, RandomP4, random_p4};
use base::Rng;
use cgen::Plan;
use ir::Program;
use std::sync::Arc;
use stf::observation::{Order, difference};
use syntax::{MemoryFiles, SourceMap};
use wirespeed::Source;

/// How a comparison without a difference ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All results agree.
    Agreed,
    /// The program is valid and compiles to C, but running it requires a plug-in.
    Compiled,
    /// The program is valid, but uses features that are not supported yet: the texts of the diagnostics.
    Unsupported(Vec<String>),
}

/// The code of diagnostics for features that are not supported yet.
const UNSUPPORTED: &str = "E0801";

/// Checks that a random P4 program behaves the same in every execution mode. `statements` is the approximate number
/// of statements of a control.
pub fn p4_agrees(rng: &mut Rng, statements: u32) -> Result<Verdict, String> {
    let program = random_p4(rng, &Options { statements, ..Options::default() });
    p4_program_agrees(rng, &program)
}

/// The same for a given program, under random entries and packets.
pub fn p4_program_agrees(rng: &mut Rng, source: &RandomP4) -> Result<Verdict, String> {
    let with_text = |what: String| format!("{what}\n{}", source.text);
    let program = match compiled(&source.text).map_err(with_text)? {
        Ok(program) => program,
        Err(gaps) => return Ok(Verdict::Unsupported(gaps)),
    };
    let sharing = lower::Options { inlined_statements_max: 0, ..lower::Options::default() };
    let shared = match compiled_with(&source.text, sharing).map_err(with_text)? {
        Ok(shared) => Arc::new(optimised_with_routines(&shared).map_err(with_text)?),
        Err(gaps) => return Err(with_text(format!("not supported where all calls are of routines: {gaps:?}"))),
    };
    // P4_14 allows names that are not valid in P4_16.
    if !source.is_p4_14() {
        printed_means_the_same(&source.text, &program).map_err(with_text)?;
    }
    let better = Arc::new(optimised(&program).map_err(with_text)?);
    let folder = BuildFolder::new(rng.chance(1, 3))?;
    if !program.extern_functions.is_empty() {
        compiles(&better, &folder).map_err(with_text)?;
        return Ok(Verdict::Compiled);
    }
    let scenario = Scenario::of(rng, program, source.makes_copies);
    let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1).map_err(with_text)?;
    // Compilation takes most of the time, so native code is not tried for both forms of every program.
    let native = if rng.chance(1, 2) { &better } else { &scenario.program };
    let ways = [
        ("optimised", &better, Engine::Interpreter, 1),
        ("with routines", &shared, Engine::Interpreter, 1),
        ("native with routines", &shared, folder.engine(), BURST),
        ("native", native, folder.engine(), 1),
        ("native in bursts", native, folder.engine(), BURST),
        ("specialised", native, folder.engine_specialised(), 1),
        ("specialised in bursts", native, folder.engine_specialised(), BURST),
    ];
    for (name, program, engine, burst) in ways {
        if Arc::ptr_eq(program, &shared) && program.routines.is_empty() {
            continue;
        }
        let found = scenario.observe(program, &engine, burst).map_err(with_text)?;
        if let Some(text) = difference(&expected, &found, Order::Same) {
            let form = if Arc::ptr_eq(program, &scenario.program) { "as lowered" } else { "optimised" };
            return Err(with_text(format!("the interpreter and the way \"{name}\" (program {form}) differ: {text}")));
        }
    }
    let (plain, special) = (folder.engine(), folder.engine_specialised());
    let ways = [
        (Workers::InTurn, &plain, 1, Order::Same),
        (Workers::InTurn, &plain, 7, Order::Same),
        (Workers::AtOnce, &plain, 7, Order::Any),
        (Workers::AtOnce, &special, 7, Order::Any),
    ];
    for (workers, engine, burst, order) in ways {
        let different = scenario.difference_by_workers(&expected, native, engine, burst, workers, order);
        if let Some(text) = different.map_err(with_text)? {
            let code = if matches!(engine, Engine::Specialised(..)) { "specialised" } else { "native" };
            return Err(with_text(format!(
                "one core and several, {workers:?} in bursts of {burst}, {code}, differ: {text}"
            )));
        }
    }
    Ok(Verdict::Agreed)
}

/// Checks that the program's C code compiles.
fn compiles(program: &Program, folder: &BuildFolder) -> Result<(), String> {
    let program = wirespeed::Program::of_ir(Arc::new(program.clone()));
    let plan = Plan::new(program.ir()).map_err(|error| error.to_string())?;
    cgen::compile(&program.c_text(&plan), &folder.options()).map_err(|error| error.to_string()).map(drop)
}

/// The program; or, if it has no other errors, the features that are not supported yet.
pub(super) fn compiled(text: &str) -> Result<Result<Program, Vec<String>>, String> {
    compiled_with(text, lower::Options::default())
}

/// The same with options of the lowering.
fn compiled_with(text: &str, options: lower::Options) -> Result<Result<Program, Vec<String>>, String> {
    let mut source = Source::parse("random.p4", text, &wirespeed::Options::default(), &MemoryFiles::new());
    let lowered = source.check().and_then(|typed| source.lower_with(&typed, options));
    if source.diagnostics.has_errors() {
        let is_error = |it: &&syntax::Diagnostic| it.severity == syntax::Severity::Error;
        let errors: Vec<_> = source.diagnostics.iter().filter(is_error).collect();
        if errors.iter().all(|error| error.code == UNSUPPORTED) {
            return Ok(Err(errors.iter().map(|error| error.message.clone()).collect()));
        }
        return Err(format!("a program that should be right is refused:\n{}", source.rendered(false)));
    }
    let program = lowered.ok_or("no program and no error")?;
    ir::verify(&program).map_err(|errors| format!("the lowered program is not valid: {errors:#?}"))?;
    Ok(Ok(program))
}

/// Checks that the printed tree, when it is parsed again, gives the same IR except for source positions.
fn printed_means_the_same(text: &str, program: &Program) -> Result<(), String> {
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (tree, _) = syntax::parse_text(&mut sources, "random.p4", text, &syntax::Options::new(&files));
    let printed = syntax::print(&tree);
    let again = match compiled(&printed)? {
        Ok(again) => again,
        Err(gaps) => return Err(format!("not supported once it is printed: {gaps:?}\n{printed}")),
    };
    let (before, after) = (without_places(&ir::text::print(program)), without_places(&ir::text::print(&again)));
    if before == after {
        return Ok(());
    }
    let line = before.lines().zip(after.lines()).find(|(before, after)| before != after);
    Err(format!("the printed program means something else: {line:?}\nprinted:\n{printed}"))
}

/// The text of an IR program without the source positions `@12..34`.
fn without_places(text: &str) -> String {
    let is_place = |word: &&str| word.starts_with('@') && word.contains("..");
    let line = |line: &str| line.split(' ').filter(|word| !is_place(word)).collect::<Vec<_>>().join(" ");
    text.lines().map(|text| line(text) + "\n").collect()
}
