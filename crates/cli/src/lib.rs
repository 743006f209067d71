//! The `wirespeed` command. It and the commands of applications read arguments and use a terminal; [`command_line`] is
//! what they share. It is a library, which cargo compiles beside the last crates that it uses; a program would wait
//! until they are done.
//!
//! * [`args`]: the arguments.
//! * [`frontend`]: from a source file to a program, with its diagnostics shown.
//! * [`backend`]: from a program to a switch.
//! * [`check`], [`compile`], [`run`], [`mod@ctl`], [`mod@net`], [`mod@test`], [`mod@top`], [`trace`], [`mod@bench`],
//!   [`packets_and_entries`], [`mod@tune`], [`mod@sim`], [`explain`], [`demo`]: the commands.
//! * [`called`]: links by the names of other tools; [`tool_links`] makes them. [`generated`]: completions and pages.
//! * [`ports`], [`ready`]: preparations before the first packet.
//! * [`prompt`]: input lines.
//! * [`explanations`]: the pages about diagnostics.
//! * [`starting`]: the first program of a run. [`reporter`]: its output for the user.
//! * [`controllers`]: the P4Runtime server of `run`. [`links`]: link changes while it runs.
//! * [`server_tls`]: certificates of P4Runtime servers.
//! * [`state`], [`stored_program`]: the state that a switch stores for its next start.
//! * [`written_types`]: display formats of values, from the types in a program's text.
//! * [`trial`]: programs of controllers, compiled in a process that can be ended.
//! * [`caught`]: panics as messages.
//! * [`applications`]: controllers of applications within a running switch.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that speaks to the terminal")]

mod applications;
mod args;
mod backend;
mod bench;
mod called;
mod caught;
mod check;
mod compile;
mod controllers;
mod ctl;
mod demo;
mod explain;
mod explanations;
mod frontend;
mod generated;
mod links;
mod net;
mod p4c;
mod packets_and_entries;
mod ports;
mod prompt;
mod ready;
mod reporter;
mod run;
mod server_tls;
mod sim;
mod starting;
mod state;
mod stored_program;
mod test;
mod times;
mod tool_links;
mod top;
mod trace;
mod trial;
mod tune;
mod written_types;

use command_line::{Exit, logging, terminal};
use std::process::ExitCode;

/// Carries out the command that the process was started with, and returns its exit status.
pub fn main() -> ExitCode {
    let words = match called::arguments() {
        Ok(words) => words,
        Err(exit) => return ExitCode::from(exit as u8),
    };
    let arguments = called::parse(words);
    if matches!(arguments.command, args::Command::NetKeeper) {
        // The keeper changes the namespaces of its first thread, which other processes see.
        return ExitCode::from(net::keep().unwrap_or_else(|exit| exit) as u8);
    }
    // Programs may be deeply nested.
    let exit = base::stack::with_deep_stack(|| execute(arguments));
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}

fn execute(arguments: args::Arguments) -> Result<Exit, Exit> {
    match arguments.command {
        args::Command::Check(arguments) => check::check(&arguments),
        args::Command::Compile(arguments) => compile::compile(&arguments),
        args::Command::P4c(arguments) => p4c::p4c(&arguments),
        args::Command::Run(arguments) => run::run(&arguments),
        args::Command::Ctl(arguments) => ctl::ctl(&arguments),
        args::Command::Net(arguments) => net::net(&arguments),
        args::Command::NetKeeper => net::keep(),
        args::Command::Sim(arguments) => sim::sim(&arguments),
        args::Command::TryProgram(arguments) => trial::carry_out(&arguments),
        args::Command::Top(arguments) => top::top(&arguments),
        args::Command::Test(arguments) => test::test(&arguments),
        args::Command::Trace(arguments) => trace::trace(&arguments),
        args::Command::Bench(arguments) => bench::bench(&arguments),
        args::Command::Gen(arguments) => packets_and_entries::generate(&arguments),
        args::Command::Tune(arguments) => tune::tune(&arguments),
        args::Command::Explain(arguments) => explain::explain(&arguments),
        args::Command::Demo(arguments) => demo::demo(&arguments),
        args::Command::Application(application) => application.run(),
        args::Command::Links(arguments) => tool_links::links(&arguments),
        args::Command::Completions(arguments) => generated::completions(&arguments),
        args::Command::Man(arguments) => generated::man(&arguments),
    }
}
