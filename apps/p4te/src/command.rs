//! The command `p4te`, also `wirespeed p4te`: the local controllers of switches that run the programs of this folder.
//!
//! * `control`: the controllers of all switches of a topology, one for each, which share nothing.
//! * `places`: where each switch is in the topology. `requests`: orders as updates of P4Runtime.

mod control;
mod places;
mod requests;

use clap::{Args, Subcommand};
use command_line::{Exit, terminal};
use controller::Running;

const EXAMPLES: &str = "\
Examples:
  sudo wirespeed net apps/p4te/topology.json      the network, in another terminal
  wirespeed p4te control apps/p4te/topology.json";

/// Arguments of `p4te`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub struct P4teArguments {
    /// The subcommand
    #[command(subcommand)]
    command: P4teCommand,
}

#[derive(Subcommand, Debug, Clone)]
enum P4teCommand {
    /// Configure the switches of a topology, and move their ports between routing groups
    Control(control::ControlArguments),
}

impl P4teArguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        let P4teCommand::Control(arguments) = &self.command;
        control::control(arguments)
    }

    /// Prepares the command's controller to run within a switch, which is reached by these options.
    ///
    /// # Errors
    /// If a file cannot be read, or the topology has no such switch; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        let P4teCommand::Control(arguments) = &self.command;
        if arguments.only.len() != 1 {
            terminal::error("within a switch, --only names the switch of the topology that it is");
            return Err(Exit::Usage);
        }
        control::control_within(arguments, here)
    }
}
