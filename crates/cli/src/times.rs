//! How long each stage of compiling takes.
//!
//! What enters: a program. What leaves: the time of each stage, from the text to the loaded code, and the most memory
//! that this process and any of the C compiler's had, as a table or as JSON. The C compiler uses a separate folder
//! for its output, so that the cache is not used.

use crate::Exit;
use crate::args::CompileArguments;
use crate::backend;
use crate::compile::system_error;
use crate::frontend;
use cgen::{CompileOptions, Native, Plan};
use nix::sys::resource::{UsageWho, getrusage};
use std::time::{Duration, Instant};
use wirespeed::Options;

/// Stages that have ended, with their times.
struct Times {
    stages: Vec<(&'static str, Duration)>,
}

impl Times {
    fn of<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.stages.push((stage, begin.elapsed()));
        result
    }

    fn total(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }

    /// The maximum memory so far: of this process, and of the largest child that has ended.
    fn memory() -> Vec<(&'static str, u64)> {
        let of = |who| getrusage(who).map_or(0, |usage| u64::try_from(usage.max_rss()).unwrap_or(0) << 10);
        vec![("own", of(UsageWho::RUSAGE_SELF)), ("cc", of(UsageWho::RUSAGE_CHILDREN))]
    }

    fn text(&self) -> String {
        let line = |(stage, time): &(&str, Duration)| format!("{stage:<8} {:>10.3} s\n", time.as_secs_f64());
        let total = line(&("total", self.total()));
        let memory: String = Times::memory().iter().map(|(who, bytes)| format!(", {who} {} MB", bytes >> 20)).collect();
        self.stages.iter().map(line).collect::<String>() + &total + "memory   " + memory.trim_start_matches(", ") + "\n"
    }

    fn json(&self) -> serde_json::Value {
        let seconds = |(stage, time): &(&'static str, Duration)| ((*stage).to_owned(), time.as_secs_f64().into());
        let stages: serde_json::Map<String, serde_json::Value> = self.stages.iter().map(seconds).collect();
        let memory: serde_json::Map<String, serde_json::Value> =
            Times::memory().into_iter().map(|(who, bytes)| (who.to_owned(), bytes.into())).collect();
        serde_json::json!({ "stages_s": stages, "total_s": self.total().as_secs_f64(), "memory_bytes": memory })
    }
}

/// Compiles the program, and measures each stage.
pub fn measured(arguments: &CompileArguments) -> Result<String, Exit> {
    let mut times = Times { stages: Vec::new() };
    let options = Options { optimise: false, ..arguments.source.options() };
    let mut source = times.of("parse", || frontend::parse(&arguments.file, &arguments.source));
    let typed = times.of("check", || source.check());
    let lowered = typed.and_then(|typed| {
        times.of("lint", || source.lint(&typed));
        times.of("lower", || source.lower(&typed, &options))
    });
    frontend::apply_warning_levels(&mut source, &arguments.warnings);
    frontend::show(&source);
    let Some(lowered) = lowered.filter(|_| !source.diagnostics.has_errors()) else { return Err(Exit::BadInput) };
    let (written, _) = source.into_program(lowered, &options);
    let program = match arguments.no_optimise {
        true => written,
        false => times.of("passes", || written.optimised()),
    };
    let plan = times.of("plan", || Plan::new(program.ir())).map_err(system_error)?;
    let text = times.of("c", || program.c_text(&plan));
    let folder = tempfile::tempdir().map_err(system_error)?;
    let options = CompileOptions {
        target: arguments.target.clone(),
        cache_dir: Some(folder.path().join("objects")),
        ..backend::compiler(arguments.cc.as_deref())
    };
    let object = times.of("cc", || cgen::compile(&text, &options)).map_err(system_error)?;
    if arguments.target.is_none() {
        times.of("load", || Native::load(&object.path, &plan)).map_err(system_error)?;
    }
    Ok(match arguments.json {
        true => serde_json::to_string_pretty(&times.json()).map_err(system_error)? + "\n",
        false => times.text(),
    })
}
