//! From a program's file to native code, as in `wirespeed run`.

use cgen::{CompileOptions, Native, Plan};
use ir::Program;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use switch::{Backend, Config, Switch};

/// A program of this repository, by its path from the root.
pub fn program(path: &str) -> Result<Program, Box<dyn Error>> {
    program_with(path, &[])
}

/// The same, with its P4Info.
pub fn shown_program(path: &str) -> Result<(Program, p4info::v1::P4Info), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut map = syntax::SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_program(&mut map, &path, &syntax::Options::new(&syntax::DiskFiles));
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics);
    let made = program.and_then(|program| {
        let info = p4info::generate(&typed, &program, &mut diagnostics)?;
        Some((program, info))
    });
    let (mut program, info) = made.ok_or_else(|| syntax::render_all(&map, &diagnostics, false))?;
    passes::run(&mut program, passes::pipelines::STANDARD, false)?;
    Ok((program, info))
}

/// The same with macros.
pub fn program_with(path: &str, macros: &[(&str, String)]) -> Result<Program, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut map = syntax::SourceMap::new();
    let defines = macros.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let options = syntax::Options { defines, ..syntax::Options::new(&syntax::DiskFiles) };
    let (tree, mut diagnostics) = syntax::parse_program(&mut map, &path, &options);
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics);
    let mut program = program.ok_or_else(|| syntax::render_all(&map, &diagnostics, false))?;
    passes::run(&mut program, passes::pipelines::STANDARD, false)?;
    Ok(program)
}

/// The program as native code.
pub fn native(program: &Program) -> Result<Backend, Box<dyn Error>> {
    let plan = Plan::new(program)?;
    let text = cgen::emit_c(program, &plan, &|_| None);
    let native = Native::build(&text, &plan, &CompileOptions::default())?;
    Ok(Backend::Native(Box::new(native), Box::new(plan)))
}

/// A switch with these entries in its tables.
pub fn switch(program: &Arc<Program>, backend: Backend, entries: &str) -> Result<Switch, Box<dyn Error>> {
    switch_with(program, backend, entries, Config::default())
}

/// The same with a configuration.
pub fn switch_with(
    program: &Arc<Program>,
    backend: Backend,
    entries: &str,
    config: Config,
) -> Result<Switch, Box<dyn Error>> {
    let mut switch = Switch::new(Arc::clone(program), backend, config)?;
    let joined =
        |errors: Vec<control::EntryError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let commands = control::parse_entries("entries", entries, program).map_err(joined)?;
    control::apply_all(&mut switch, &commands).map_err(joined)?;
    Ok(switch)
}

/// Makes a switch run code that is specialised for its entries, as a running switch does when its tables no longer
/// change.
pub fn settle(switch: &mut Switch) -> Result<(), Box<dyn Error>> {
    let Some(blueprint) = switch.subject().and_then(|subject| subject.draw()) else { return Ok(()) };
    let native = Native::build(&blueprint.c_text(), blueprint.plan(), &CompileOptions::default())?;
    switch.specialise(Arc::new(blueprint.build(native)));
    Ok(())
}
