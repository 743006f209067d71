//! The command `bng`. `wirespeed bng` is the same.

use bng::command::BngArguments;
use clap::Parser;
use std::process::ExitCode;

/// Controls the broadband network gateway.
#[derive(Parser, Debug)]
#[command(name = "bng", version)]
struct Arguments {
    #[command(flatten)]
    bng: BngArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().bng.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
