//! The command `zipline`. `wirespeed zipline` is the same.

use clap::Parser;
use std::process::ExitCode;
use zipline::command::ZiplineArguments;

/// Configures encoders and decoders of ZipLine.
#[derive(Parser, Debug)]
#[command(name = "zipline", version)]
struct Arguments {
    #[command(flatten)]
    zipline: ZiplineArguments,
}

fn main() -> ExitCode {
    let exit = Arguments::parse().zipline.run();
    ExitCode::from(exit.unwrap_or_else(|exit| exit) as u8)
}
