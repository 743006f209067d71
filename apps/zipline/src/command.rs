//! The command `zipline`, also `wirespeed zipline`: configures the programs of this folder for the traffic, from a
//! capture of it, or from the traffic itself.
//!
//! * `sample`: which transform suits the packets of a capture, and the entries for it; `traffic`: which packets
//!   these are.
//! * `learn`: the controller, which needs no capture, by itself or within a running switch. `learner` controls the
//!   switches, `connection` is the connection to one, `parameters` is what their programs and entries must have in
//!   common.

mod connection;
mod learn;
mod learner;
mod parameters;
mod sample;
mod traffic;

use clap::{Args, Subcommand};
use command_line::{Exit, terminal};
use controller::Running;

/// Arguments of `zipline`.
#[derive(Args, Debug, Clone)]
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

#[derive(Subcommand, Debug, Clone)]
enum ZiplineCommand {
    /// Compare all transforms on the packets of a capture, and write the entries for the best
    Fit(sample::Fit),
    /// Write the entries of encoder and decoder for the packets of a capture, or the initial entries for learning
    Tables(sample::Tables),
    /// Learn bases from encoders while they run, and configure encoders and decoders with them
    Learn(learn::LearnArguments),
}

impl ZiplineArguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        match &self.command {
            ZiplineCommand::Fit(arguments) => sample::fit(arguments),
            ZiplineCommand::Tables(arguments) => sample::tables(arguments),
            ZiplineCommand::Learn(arguments) => learn::learn(arguments),
        }
    }

    /// Prepares the command's controller to run within a switch, which is reached by these options and is called
    /// `here` in its arguments.
    ///
    /// # Errors
    /// If the command is not a controller, or one of its files cannot be read; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        match &self.command {
            ZiplineCommand::Learn(arguments) => learn::learn_within(arguments, here),
            ZiplineCommand::Fit(_) | ZiplineCommand::Tables(_) => {
                terminal::error("only `zipline learn` is a controller, which runs within a switch");
                Err(Exit::Usage)
            }
        }
    }
}
