//! Mutants of the programs under `tests` in every stage of the compiler. Each gives errors with positions, or a
//! program whose printed text is stable, that is valid after each step, compiles to C, and behaves the same when it
//! is optimised.

use crate::mutants::Mutant;
use crate::reduce::reduce;
use crate::run::{Notes, caught, cpu_time, same_kind};
use base::Rng;
use ir::Program;
use std::sync::Arc;
use std::time::Duration;
use stf::observation::{Order, difference};
use syntax::{Diagnostics, FileLoader, Options, Severity, SourceMap, ast};
use testkit::differential::BuildFolder;
use testkit::differential::scenario::Scenario;
use testkit::pipeline::{Engine, optimised, switch_for};
use wirespeed::Source;

/// The most changes of a mutant.
const CHANGES_MAX: u64 = 5;

/// The most changes of a mutant that should still be accepted.
const FEW_CHANGES_MAX: u64 = 2;

/// Packets for each accepted mutant.
const PACKETS: usize = 8;

/// The limit of the compiler's processor time for a mutant. Debug builds take longer.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// The most cells of registers, counters and meters with which a mutant is run.
const CELLS_MAX: u64 = 1 << 20;

/// The most loops with which a mutant is run: each may take tens of thousands of steps per packet.
const LOOPS_MAX: usize = 6;

pub(crate) fn run(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let mutant = Mutant::random(rng, CHANGES_MAX);
    check(rng, &mutant, notes, false).map_err(|what| describe(&mutant, &what))
}

/// The same with native code, for mutants that are likely to be accepted.
pub(crate) fn run_native(rng: &mut Rng, notes: &mut Notes) -> Result<(), String> {
    let mutant = Mutant::random(rng, FEW_CHANGES_MAX);
    check(rng, &mutant, notes, true).map_err(|what| describe(&mutant, &what))
}

/// Reduces the mutant of a failing seed; `None` if it does not fail.
pub(crate) fn reduced(rng: &mut Rng) -> Option<String> {
    reduced_mutant(rng, CHANGES_MAX, false)
}

/// The same for a mutant that fails with native code.
pub(crate) fn reduced_native(rng: &mut Rng) -> Option<String> {
    reduced_mutant(rng, FEW_CHANGES_MAX, true)
}

fn reduced_mutant(rng: &mut Rng, changes_max: u64, is_native: bool) -> Option<String> {
    let mutant = Mutant::random(rng, changes_max);
    let failure_of = |text: &str| {
        let mutant = mutant.with_changed_text(text);
        caught(|| check(&mut rng.clone(), &mutant, &mut Notes::default(), is_native)).err()
    };
    let failure = failure_of(mutant.changed_text())?;
    let text =
        reduce(mutant.changed_text(), &mut |text| failure_of(text).is_some_and(|found| same_kind(&found, &failure)));
    let what = failure_of(&text)?;
    Some(describe(&mutant.with_changed_text(&text), &what))
}

fn describe(mutant: &Mutant, what: &str) -> String {
    format!("{what}\n{}", mutant.shown())
}

fn check(rng: &mut Rng, mutant: &Mutant, notes: &mut Notes, is_native: bool) -> Result<(), String> {
    let start = cpu_time();
    let program = compiled(mutant, notes);
    let time = cpu_time().saturating_sub(start);
    if time > COMPILE_TIME_MAX {
        return Err(format!("compiling takes {:.1} s", time.as_secs_f64()));
    }
    let Some((program, better)) = program? else { return Ok(()) };
    if cells(&program) > CELLS_MAX || loops(&program) > LOOPS_MAX {
        notes.add("accepted, too costly to run");
        return Ok(());
    }
    let program = Arc::new(program);
    if switch_for(&program, &Engine::Interpreter).is_err() {
        // Conflicts between entries are only detected when they are installed.
        notes.add("refused by the switch");
        return Ok(());
    }
    notes.add("accepted and run");
    runs_agree(rng, program, &Arc::new(better), is_native)
}

/// The lowered and the optimised program; `None` if the mutant is refused or cannot be run.
fn compiled(mutant: &Mutant, notes: &mut Notes) -> Result<Option<(Program, Program)>, String> {
    let mut source = mutant.parsed();
    let step = |source: &Source, notes: &mut Notes, stage: &str| {
        errors_have_places(&source.map, &source.diagnostics)?;
        if source.diagnostics.has_errors() {
            notes.add(stage);
        }
        Ok::<bool, String>(source.diagnostics.has_errors())
    };
    if step(&source, notes, "refused by the parser")? {
        return Ok(None);
    }
    // P4_14 allows names that are keywords of P4_16.
    if !mutant.is_p4_14() {
        prints_to_itself(&source.tree, mutant)?;
    }
    let typed = source.check();
    if step(&source, notes, "refused by the checker")? {
        return Ok(None);
    }
    let typed = typed.ok_or("no typed tree and no error")?;
    source.lint(&typed);
    // Printing the whole tree of each mutant would take long, and small ones find the same faults.
    if mutant.text.len() < 3_000 {
        let printed = format!("{typed:?}");
        if let Some(word) = ["Poisoned", "Unknown", "tparam2147"].into_iter().find(|word| printed.contains(word)) {
            return Err(format!("{word} is left in the typed tree"));
        }
    }
    if typed.main.is_none() {
        notes.add("accepted, without `main`");
        return Ok(None);
    }
    let lowered = source.lower(&typed, &Default::default());
    if step(&source, notes, "refused by the lowering")? {
        return Ok(None);
    }
    let program = lowered.ok_or("no program and no error")?;
    ir::verify(&program).map_err(|errors| format!("the program lowered is not valid: {errors:?}"))?;
    let better = optimised(&program)?;
    emitted(&better)?;
    Ok(Some((program, better)))
}

pub(super) fn errors_have_places(sources: &SourceMap, diagnostics: &Diagnostics) -> Result<(), String> {
    let shown = syntax::render_all(sources, diagnostics, false);
    if shown.is_empty() != diagnostics.is_empty() {
        return Err("diagnostics are lost when they are shown".into());
    }
    let is_nowhere = |error: &&syntax::Diagnostic| {
        let span = error.primary.span;
        error.severity == Severity::Error
            && (span.is_none() || sources.location(span.lo).is_none() || span.hi < span.lo)
    };
    match diagnostics.iter().find(is_nowhere) {
        Some(error) => Err(format!("an error has no place: {} {}", error.code, error.message)),
        None => Ok(()),
    }
}

/// The printed tree, when it is parsed and printed again, gives the same text.
fn prints_to_itself(tree: &ast::Program, loader: &dyn FileLoader) -> Result<(), String> {
    let printed = syntax::print(tree);
    let mut sources = SourceMap::new();
    let (again, diagnostics) = syntax::parse_text(&mut sources, "printed.p4", &printed, &Options::new(loader));
    if diagnostics.has_errors() {
        let errors = syntax::render_all(&sources, &diagnostics, false);
        return Err(format!("the printed tree does not parse\n{errors}"));
    }
    let once_more = syntax::print(&again);
    let differing = printed.lines().zip(once_more.lines()).find(|(before, after)| !is_same_line(before, after));
    match differing {
        None if printed.lines().count() == once_more.lines().count() => Ok(()),
        lines => Err(format!("the printed tree is another one: {lines:?}")),
    }
}

/// Whether a line printed from a tree equals the line that is printed after parsing it. A very long chain of one
/// operator is parsed into a tree of a fixed shape, whatever its original shape was.
pub(super) fn is_same_line(before: &str, after: &str) -> bool {
    const LONG_BYTES: usize = 1000;
    let bare = |line: &str| line.replace(['(', ')'], "");
    before == after || before.len() > LONG_BYTES && bare(before) == bare(after)
}

/// The program survives the text form of the IR, and C is generated for it.
fn emitted(program: &Program) -> Result<(), String> {
    let text = ir::text::print(program);
    match ir::text::parse(&text) {
        Ok(read) if read == *program => {}
        Ok(_) => return Err("the IR read is another one than the one printed".into()),
        Err(error) => return Err(format!("the IR printed is not read: {error}")),
    }
    // A backend refuses what it does not support; that is not a fault of the program.
    if let Ok(plan) = cgen::Plan::new(program) {
        cgen::emit_c(program, &plan, &|_| None);
    }
    Ok(())
}

fn runs_agree(rng: &mut Rng, program: Arc<Program>, better: &Arc<Program>, is_native: bool) -> Result<(), String> {
    let mut scenario = Scenario::of(rng, Arc::unwrap_or_clone(program), true);
    scenario.packets.truncate(PACKETS);
    let expected = scenario.observe(&scenario.program, &Engine::Interpreter, 1)?;
    let found = scenario.observe(better, &Engine::Interpreter, 1)?;
    if let Some(text) = difference(&expected, &found, Order::Same) {
        return Err(format!("not optimised and optimised differ: {text}"));
    }
    if is_native {
        let folder = BuildFolder::new(rng.chance(1, 3))?;
        let found = scenario.observe(better, &folder.engine(), 1)?;
        if let Some(text) = difference(&expected, &found, Order::Same) {
            return Err(format!("the interpreter and native code differ: {text}"));
        }
    }
    Ok(())
}

/// The total number of cells of registers, counters and meters.
fn cells(program: &Program) -> u64 {
    let sizes = program.registers.iter().map(|array| array.size).chain(program.counters.iter().map(|array| array.size));
    let sizes = sizes.chain(program.meters.iter().map(|array| array.size));
    sizes.chain(program.tables.iter().map(|table| table.size)).fold(0, u64::saturating_add)
}

fn loops(program: &Program) -> usize {
    let mut count = 0;
    for body in ir::walk::bodies(program) {
        ir::walk::visit_body(body, &mut |stmt| count += usize::from(matches!(stmt.kind, ir::StmtKind::Loop { .. })));
    }
    count
}
