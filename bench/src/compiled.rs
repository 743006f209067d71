//! Programs of this repository, and switches that run them as `wirespeed run` does.

use p4info::v1::P4Info;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::{Config, Switch};
use wirespeed::{Backend, CompileOptions, DiskFiles, Options, Program, Source};

/// A file by its path from the root.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A program, by its path from the root.
pub fn program(path: &str) -> Result<Program, Box<dyn Error>> {
    program_with(path, &[])
}

/// The same, with its P4Info.
pub fn shown_program(path: &str) -> Result<(Program, P4Info), Box<dyn Error>> {
    let options = Options::default();
    let mut source = Source::read(&file(path), &options, &DiskFiles);
    let made = source.check().and_then(|typed| {
        let program = source.lower(&typed, &options)?;
        let info = p4info::generate(&typed, &program, &mut source.diagnostics)?;
        Some((program, info))
    });
    let (program, info) = made.ok_or_else(|| source.rendered(false))?;
    Ok((source.into_program(program, &options).0, info))
}

/// The same with macros.
pub fn program_with(path: &str, macros: &[(&str, String)]) -> Result<Program, Box<dyn Error>> {
    let define = macros.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Ok(Options { define, ..Options::default() }.compile_file(file(path))?)
}

/// A switch with these entries in its tables.
pub fn switch(program: &Program, backend: Backend, entries: &str) -> Result<Switch, Box<dyn Error>> {
    switch_with(program, backend, entries, Config::default())
}

/// The same with a configuration.
pub fn switch_with(
    program: &Program,
    backend: Backend,
    entries: &str,
    config: Config,
) -> Result<Switch, Box<dyn Error>> {
    Ok(program.switch().backend(backend).config(config).entries("entries", entries).build_core()?)
}

/// Makes a switch run code that is specialised for its entries, as a running switch does when its tables no longer
/// change.
pub fn specialise(switch: &mut Switch) -> Result<(), Box<dyn Error>> {
    let Some(specialised) = switch.specialisation_input().and_then(|input| input.specialised_program()) else {
        return Ok(());
    };
    switch.specialise(Arc::new(wirespeed::specialise(specialised, &CompileOptions::default())?));
    Ok(())
}
