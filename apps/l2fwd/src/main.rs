//! The command `l2fwd`. `wirespeed l2fwd` is the same.

use clap::Parser;
use l2fwd::command::L2fwdArguments;
use std::process::ExitCode;

/// Controls the Ethernet switch.
#[derive(Parser, Debug)]
#[command(name = "l2fwd", version)]
struct Arguments {
    #[command(flatten)]
    l2fwd: L2fwdArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().l2fwd.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
