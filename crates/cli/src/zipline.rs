//! `wirespeed zipline`: configures the programs of `apps/zipline` for the traffic, from a capture of it, or from the
//! traffic itself.
//!
//! * [`sample`]: which transform suits the packets of a capture, and the entries for it; [`traffic`]: which packets
//!   these are.
//! * [`learn`]: the controller, which needs no capture, and [`beside`], the same within a running switch. [`learner`]
//!   controls the switches, [`place`] is the connection to one, [`terms`] the parameters that all must share.

pub mod beside;
mod learn;
mod learner;
mod place;
mod sample;
mod terms;
mod traffic;

use crate::Exit;
use clap::{Args, Subcommand};

/// Arguments of `zipline`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed zipline fit apps/zipline/readings.pcap --udp 5683 --encoder encoder.txt --decoder decoder.txt
  wirespeed zipline tables --m 8 --both-ways --encoder encoder.txt --decoder decoder.txt
  wirespeed zipline learn --encoder 127.0.0.1:9559 --decoder 127.0.0.1:9560

apps/zipline/README.md says what the programs do, and how they are run.")]
pub struct ZiplineArguments {
    /// The subcommand
    #[command(subcommand)]
    command: ZiplineCommand,
}

#[derive(Subcommand, Debug)]
enum ZiplineCommand {
    /// Compare all transforms on the packets of a capture, and write the entries for the best
    Fit(sample::Fit),
    /// Write the entries of encoder and decoder for the packets of a capture, or the initial entries for learning
    Tables(sample::Tables),
    /// Learn bases from encoders while they run, and configure encoders and decoders with them
    Learn(learn::LearnArguments),
}

/// Runs the command.
pub fn zipline(arguments: &ZiplineArguments) -> Result<Exit, Exit> {
    match &arguments.command {
        ZiplineCommand::Fit(arguments) => sample::fit(arguments),
        ZiplineCommand::Tables(arguments) => sample::tables(arguments),
        ZiplineCommand::Learn(arguments) => learn::learn(arguments),
    }
}
