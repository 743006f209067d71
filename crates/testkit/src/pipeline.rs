//! From P4 text to a switch, for tests.
//!
//! What enters: the text of a program. What leaves: its IR, optimised on request, and a [`Switch`] that runs it on
//! one of the engines. Errors are the texts that users would see.

use cgen::{CompileOptions, Tuning};
use ir::Program;
use passes::Pass;
use passes::pipelines::STANDARD;
use std::path::Path;
use std::sync::Arc;
use switch::{Backend, Config, Specialisation, Switch};
use wirespeed::{Code, CompileError, Options};

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
    verified(Options::as_written().compile_file(path))
}

/// The program in `text`, not optimised; or the rendered diagnostics.
pub fn program_of_text(name: &str, text: &str) -> Result<Program, String> {
    verified(Options::as_written().compile_text(name, text))
}

fn verified(compiled: Result<wirespeed::Program, CompileError>) -> Result<Program, String> {
    let program = Program::clone(compiled.map_err(|error| error.to_string())?.ir());
    ir::verify(&program).map_err(|errors| format!("the lowered program is not valid: {errors:#?}"))?;
    Ok(program)
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
    let (code, config) = match engine {
        Engine::Interpreter => (None, config),
        Engine::Native(options) => (Some(code(program, options, Tuning::default())?), config),
        Engine::Tuned(options, tuning) | Engine::Specialised(options, tuning) => {
            (Some(code(program, options, *tuning)?), config)
        }
        Engine::NativeStaged(options) => {
            (Some(code(program, options, Tuning::default())?), Config { fast_path: false, ..config })
        }
    };
    let backend = code.map_or(Backend::Interpreter, |code| code.backend());
    Switch::new(Arc::clone(program), backend, config).map_err(|error| error.to_string())
}

/// The native code of a program, which any number of switches can run.
pub fn code(program: &Arc<Program>, options: &CompileOptions, tuning: Tuning) -> Result<Code, String> {
    let code = wirespeed::Program::of_ir(Arc::clone(program)).tuned_code(tuning, options);
    code.map_err(|error| format!("{error}\n{}", ir::text::print(program)))
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
    let Some(specialised) = switch.specialisation_input().and_then(|input| input.specialised_program()) else {
        return Ok(None);
    };
    ir::verify(specialised.program()).map_err(|errors| format!("the specialised program is not valid: {errors:#?}"))?;
    let text = ir::text::print(specialised.program());
    wirespeed::specialise(specialised, options).map(Some).map_err(|error| format!("{error}\n{text}"))
}
