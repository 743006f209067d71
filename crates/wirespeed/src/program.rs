//! Compiled programs, and their native code.

use crate::builder::{Backend, SwitchBuilder};
use crate::error::CodeError;
use base::Span;
use cgen::{CacheNote, CompileOptions, Native, Plan, SourceLine, Tuning};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use switch::{Specialisation, SpecialisedProgram};
use syntax::{Diagnostics, Location, SourceMap};

/// A compiled program. A clone is another handle to the same: switches on any threads share its code.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    ir: Arc<ir::Program>,
    map: Arc<SourceMap>,
    warnings: Diagnostics,
    /// The native code so far, by the options that it was made with.
    codes: Mutex<Vec<(CompileOptions, Code)>>,
}

/// Programs are shared between threads.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Program>();
};

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("ir", &self.0.ir).finish_non_exhaustive()
    }
}

/// Native code of a program, with the plan that it was made by. A clone shares both.
#[derive(Clone, Debug)]
pub struct Code {
    native: Arc<Native>,
    plan: Arc<Plan>,
}

impl Code {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What was wrong with the cache when it was compiled, if anything was.
    pub fn cache_note(&self) -> Option<&CacheNote> {
        self.native.cache_note()
    }

    /// The backend of a switch that runs it.
    pub fn backend(&self) -> switch::Backend {
        switch::Backend::Native(Arc::clone(&self.native), Arc::clone(&self.plan))
    }
}

impl Program {
    pub(crate) fn new(mut ir: ir::Program, map: SourceMap, warnings: Diagnostics, optimise: bool) -> Program {
        if optimise {
            passes::optimise(&mut ir);
        }
        Program::of(Arc::new(ir), Arc::new(map), warnings)
    }

    fn of(ir: Arc<ir::Program>, map: Arc<SourceMap>, warnings: Diagnostics) -> Program {
        Program(Arc::new(Inner { ir, map, warnings, codes: Mutex::default() }))
    }

    /// A program of which there is only the IR: its code has no source lines.
    pub fn of_ir(ir: Arc<ir::Program>) -> Program {
        Program::of(ir, Arc::default(), Diagnostics::new())
    }

    /// The program after all passes. Its source is the same.
    pub fn optimised(&self) -> Program {
        let mut ir = ir::Program::clone(&self.0.ir);
        passes::optimise(&mut ir);
        Program::of(Arc::new(ir), Arc::clone(&self.0.map), self.0.warnings.clone())
    }

    /// Its intermediate representation: tables, actions, headers and the architecture, by name.
    pub fn ir(&self) -> &Arc<ir::Program> {
        &self.0.ir
    }

    /// Its source text.
    pub fn source(&self) -> &Arc<SourceMap> {
        &self.0.map
    }

    /// The warnings of compiling it, as text with source lines; empty if there were none.
    pub fn warnings(&self) -> String {
        syntax::render_all(&self.0.map, &self.0.warnings, false)
    }

    /// Where a span of the IR was written; `None` if it was not.
    pub fn location(&self, span: Span) -> Option<Location> {
        if span.is_none() { None } else { self.0.map.location(span.lo) }
    }

    /// Switches that run the program.
    pub fn switch(&self) -> SwitchBuilder {
        SwitchBuilder::new(self.clone())
    }

    /// The C text for a plan of the program.
    pub fn c_text(&self, plan: &Plan) -> String {
        cgen::emit_c(&self.0.ir, plan, &|span| self.source_line(span))
    }

    /// The text of the low IR of native code for this plan.
    pub fn lir_text(&self, plan: &Plan) -> String {
        cgen::emit_lir(&self.0.ir, plan, &|span| self.source_line(span))
    }

    fn source_line(&self, span: Span) -> Option<SourceLine> {
        let location = self.location(span)?;
        let text = self.0.map.line_text(span.lo).trim().chars().take(cgen::COMMENT_LETTERS_MAX).collect();
        Some(SourceLine { file: location.file.to_string(), line: location.line, text })
    }

    /// Its native code, with the tuning that is stored for it. It is compiled on the first call, unless it is in the
    /// cache, and loaded once for all switches.
    pub fn code(&self, options: &CompileOptions) -> Result<Code, CodeError> {
        // Whoever comes meanwhile waits for the same code instead of compiling it, too.
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = codes.iter().find(|(known, _)| known == options) {
            return Ok(code.clone());
        }
        let code = self.tuned_code(Tuning::stored(&self.0.ir, options).unwrap_or_default(), options)?;
        codes.push((options.clone(), code.clone()));
        Ok(code)
    }

    /// Its native code with this tuning.
    pub fn tuned_code(&self, tuning: Tuning, options: &CompileOptions) -> Result<Code, CodeError> {
        let plan = Plan::tuned(&self.0.ir, tuning)?;
        let native = Native::build(&self.c_text(&plan), &plan, options)?;
        Ok(Code { native: Arc::new(native), plan: Arc::new(plan) })
    }

    /// What runs the program's blocks. If native code is requested but not required and cannot be made, it is the
    /// interpreter, and the reason comes with it.
    pub fn backend(
        &self,
        wanted: Backend,
        options: &CompileOptions,
    ) -> Result<(switch::Backend, Option<CodeError>), CodeError> {
        match (wanted, (wanted != Backend::Interpreter).then(|| self.code(options))) {
            (_, Some(Ok(code))) => Ok((code.backend(), None)),
            (Backend::Native, Some(Err(error))) => Err(error),
            (_, error) => Ok((switch::Backend::Interpreter, error.and_then(Result::err))),
        }
    }
}

/// Compiles specialised code for the contents of a switch's tables.
pub fn specialise(specialised: SpecialisedProgram, options: &CompileOptions) -> Result<Specialisation, CodeError> {
    let native = Native::build(&specialised.c_text(), specialised.plan(), options)?;
    Ok(specialised.build(native))
}
