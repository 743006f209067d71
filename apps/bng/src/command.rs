//! The command `bng`, also `wirespeed bng`: controls a switch with `bng.p4`, and reads its accounts.

use crate::config::Config;
use crate::gateway::Gateway;
use crate::report;
use clap::{Args, Subcommand};
use command_line::{Exit, terminal, terminal::say};
use controller::{Running, SwitchArguments, file};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wirespeed run apps/bng/bng.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 --p4runtime
  wirespeed bng control --config apps/bng/bng.toml
  wirespeed bng report --json

  The same in one process:
  wirespeed run apps/bng/bng.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 --p4runtime \\
      --with \"bng control --switch here --config apps/bng/bng.toml\"

The controller may be stopped and started again at any time, also with another file: it reads what the switch has, and
bindings stay.";

/// Arguments of `bng`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub struct BngArguments {
    /// The subcommand
    #[command(subcommand)]
    command: BngCommand,
}

#[derive(Subcommand, Debug, Clone)]
enum BngCommand {
    /// Load subscribers, make bindings on demand, find next hops
    Control(ControlArguments),
    /// Show what subscribers have sent and received, and what was not forwarded
    Report(ReportArguments),
}

#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed bng control --config apps/bng/bng.toml
  wirespeed bng control --config apps/bng/bng.toml --switch 10.0.0.1:9559 --verbose")]
struct ControlArguments {
    #[command(flatten)]
    switch: SwitchArguments,
    /// The file with interfaces, public addresses and subscribers, as apps/bng/bng.toml
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Report each next hop that is found, or lost
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed bng report
  wirespeed bng report --json")]
struct ReportArguments {
    #[command(flatten)]
    switch: SwitchArguments,
    /// A line of JSON for each subscriber and each reason
    #[arg(long)]
    json: bool,
}

impl BngArguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        match &self.command {
            BngCommand::Control(arguments) => arguments.switch.run(Box::new(arguments.gateway()?)),
            BngCommand::Report(arguments) => {
                let read = arguments.switch.read(&report::READ)?;
                for line in report::lines(&read, arguments.json) {
                    say!("{line}");
                }
                Ok(Exit::Success)
            }
        }
    }

    /// Prepares the controller to run within a switch, which is reached by these options.
    ///
    /// # Errors
    /// If an argument is wrong; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        match &self.command {
            BngCommand::Control(arguments) => arguments.switch.within(here, Box::new(arguments.gateway()?)),
            BngCommand::Report(_) => {
                terminal::error("a report ends at once: within a switch runs `bng control`");
                Err(Exit::Usage)
            }
        }
    }
}

impl ControlArguments {
    fn gateway(&self) -> Result<Gateway, Exit> {
        let wrong = |why: String| {
            terminal::error(why);
            Exit::BadInput
        };
        let config: Config = file::read(&self.config).map_err(wrong)?;
        Gateway::new(config, self.verbose).map_err(|why| wrong(format!("{}: {why}", self.config.display())))
    }
}
