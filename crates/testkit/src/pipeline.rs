//! From P4 text to a switch, for tests.
//!
//! What enters: the text of a program. What leaves: its IR, optimised on request, and a [`Switch`] that runs it on
//! one of the engines. Errors are the texts that users would see.

use cgen::{CompileOptions, Native, Plan, Tuning};
use ir::Program;
use passes::Pass;
use passes::pipelines::STANDARD;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::{Backend, Config, Specialisation, Switch};
use syntax::{DiskFiles, Options, SourceMap};

/// The engine that runs a program's blocks.
#[derive(Clone, Debug)]
pub enum Engine {
    /// The reference interpreter.
    Interpreter,
    /// Native code, compiled with these options.
    Native(CompileOptions),
    /// Native code on the staged path, without the fast path.
    NativeStaged(CompileOptions),
    /// Native code with a plan that may be tuned, and specialised code for the contents of the tables after each call
    /// of [`specialise`].
    Specialised(CompileOptions, Tuning),
    /// Native code with a tuned plan.
    Tuned(CompileOptions, Tuning),
}

/// The program in a file, not optimised; or the rendered diagnostics.
pub fn program_of_file(path: &Path) -> Result<Program, String> {
    let mut sources = SourceMap::new();
    let (tree, diagnostics) = p4_14::parse_program(&mut sources, path, &Options::new(&DiskFiles), None);
    program_of_tree(&sources, &tree, diagnostics)
}

/// The program in `text`, not optimised; or the rendered diagnostics.
pub fn program_of_text(name: &str, text: &str) -> Result<Program, String> {
    let mut sources = SourceMap::new();
    let (tree, diagnostics) = p4_14::parse_text(&mut sources, name, text, &Options::new(&DiskFiles), None);
    program_of_tree(&sources, &tree, diagnostics)
}

fn program_of_tree(
    sources: &SourceMap,
    tree: &syntax::ast::Program,
    mut diagnostics: syntax::Diagnostics,
) -> Result<Program, String> {
    let mut lowered = None;
    if !diagnostics.has_errors() {
        let typed = sema::check(tree, &mut diagnostics);
        if !diagnostics.has_errors() {
            lowered = lower::lower(&typed, &mut diagnostics);
        }
    }
    match lowered {
        Some(program) if !diagnostics.has_errors() => {
            ir::verify(&program).map_err(|errors| format!("the lowered program is not valid: {errors:#?}"))?;
            Ok(program)
        }
        _ => Err(syntax::render_all(sources, &diagnostics, false)),
    }
}

/// The program after all passes, verified after each.
pub fn optimised(program: &Program) -> Result<Program, String> {
    after(program, STANDARD)
}

/// The program after all passes but the one that puts routines where they are called.
pub fn optimised_with_routines(program: &Program) -> Result<Program, String> {
    let others: Vec<Pass> = STANDARD.iter().filter(|pass| pass.name != passes::inline::PASS.name).copied().collect();
    after(program, &others)
}

fn after(program: &Program, pipeline: &[Pass]) -> Result<Program, String> {
    let mut program = program.clone();
    passes::run(&mut program, pipeline, true).map_err(|broken| broken.to_string())?;
    Ok(program)
}

/// A switch that runs the program.
pub fn switch_for(program: &Arc<Program>, engine: &Engine) -> Result<Switch, String> {
    switch_with(program, engine, Config::default())
}

/// The same with this configuration.
pub fn switch_with(program: &Arc<Program>, engine: &Engine, config: Config) -> Result<Switch, String> {
    let (backend, config) = match engine {
        Engine::Interpreter => (Backend::Interpreter, config),
        Engine::Native(options) => (native(program, options, Tuning::default())?, config),
        Engine::Tuned(options, tuning) | Engine::Specialised(options, tuning) => {
            (native(program, options, *tuning)?, config)
        }
        Engine::NativeStaged(options) => {
            (native(program, options, Tuning::default())?, Config { fast_path: false, ..config })
        }
    };
    Switch::new(Arc::clone(program), backend, config).map_err(|error| error.to_string())
}

/// Makes a switch run code that is specialised for the current contents of its tables, if its engine does so. Returns
/// false if that changes nothing.
pub fn specialise(switch: &mut Switch, engine: &Engine) -> Result<bool, String> {
    let Some(special) = specialisation(switch, engine)? else { return Ok(false) };
    match switch.specialise(Arc::new(special)) {
        true => Ok(true),
        false => Err("what was made for the present tables is refused".to_owned()),
    }
}

/// Code that is specialised for the current contents of a switch's tables, if its engine does so and if that changes
/// anything.
pub fn specialisation(switch: &Switch, engine: &Engine) -> Result<Option<Specialisation>, String> {
    let Engine::Specialised(options, _) = engine else { return Ok(None) };
    let Some(blueprint) = switch.subject().and_then(|subject| subject.draw()) else { return Ok(None) };
    ir::verify(blueprint.program()).map_err(|errors| format!("the specialised program is not valid: {errors:#?}"))?;
    let native = Native::build(&blueprint.c_text(), blueprint.plan(), options)
        .map_err(|error| format!("{error}\n{}", ir::text::print(blueprint.program())))?;
    Ok(Some(blueprint.build(native)))
}

fn native(program: &Program, options: &CompileOptions, tuning: Tuning) -> Result<Backend, String> {
    Compiled::of(program, options, tuning)?.backend()
}

/// A compiled program, which any number of switches can run.
#[derive(Debug)]
pub struct Compiled {
    object: PathBuf,
    plan: Plan,
}

impl Compiled {
    /// Compiles a program.
    pub fn of(program: &Program, options: &CompileOptions, tuning: Tuning) -> Result<Compiled, String> {
        let plan = Plan::tuned(program, tuning).map_err(|error| error.to_string())?;
        let text = cgen::emit_c(program, &plan, &|_| None);
        let object = cgen::compile(&text, options).map_err(|error| format!("{error}\n{}", ir::text::print(program)))?;
        Ok(Compiled { object: object.path, plan })
    }

    /// A backend for one switch.
    pub fn backend(&self) -> Result<Backend, String> {
        let native = Native::load(&self.object, &self.plan).map_err(|error| error.to_string())?;
        Ok(Backend::Native(Box::new(native), Box::new(self.plan.clone())))
    }
}
