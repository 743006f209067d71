//! The command `p4te`. `wirespeed p4te` is the same.

use clap::Parser;
use p4te::command::P4teArguments;
use std::process::ExitCode;

/// Controls switches that run P4TE.
#[derive(Parser, Debug)]
#[command(name = "p4te", version)]
struct Arguments {
    #[command(flatten)]
    p4te: P4teArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().p4te.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
