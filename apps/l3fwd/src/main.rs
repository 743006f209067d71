//! The command `l3fwd`. `wirespeed l3fwd` is the same.

use clap::Parser;
use l3fwd::command::L3fwdArguments;
use std::process::ExitCode;

/// Controls the router.
#[derive(Parser, Debug)]
#[command(name = "l3fwd", version)]
struct Arguments {
    #[command(flatten)]
    l3fwd: L3fwdArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().l3fwd.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
