//! From a program's file to native code, as `wirespeed run` does it.

use cgen::{CompileOptions, Native, Plan};
use ir::Program;
use std::error::Error;
use std::path::Path;
use switch::Backend;

/// A program of this repository, by its path from the root.
pub fn program(path: &str) -> Result<Program, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut map = syntax::SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_program(&mut map, &path, &syntax::Options::new(&syntax::DiskFiles));
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
    let object = cgen::compile(&text, &CompileOptions::default())?;
    let native = Native::load(&object.path, &plan)?;
    Ok(Backend::Native(Box::new(native), Box::new(plan)))
}
