//! The command `dcg`. `wirespeed dcg` is the same.

use clap::Parser;
use dcg::command::DcgArguments;
use std::process::ExitCode;

/// Controls the data centre gateway.
#[derive(Parser, Debug)]
#[command(name = "dcg", version)]
struct Arguments {
    #[command(flatten)]
    dcg: DcgArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().dcg.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
