//! The command `dcg`, also `wirespeed dcg`: controls a switch with `dcg.p4`.

use crate::config::Config;
use crate::gateway::Gateway;
use clap::Args;
use command_line::{Exit, terminal};
use controller::{Running, SwitchArguments, file};
use std::path::PathBuf;

/// Arguments of `dcg`.
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed run apps/dcg/dcg.p4 --port 1=eth1 --port 3=eth3 --port 4=eth4 --p4runtime
  wirespeed dcg --config apps/dcg/dcg.toml

  The same in one process:
  wirespeed run apps/dcg/dcg.p4 --port 1=eth1 --port 3=eth3 --port 4=eth4 --p4runtime \\
      --with \"dcg --switch here --config apps/dcg/dcg.toml\"

It may be stopped and started again at any time, also with another file: flows stay where they are unless their server
is out.")]
pub struct DcgArguments {
    #[command(flatten)]
    switch: SwitchArguments,
    /// The file with interfaces, tenants, servers and services, as apps/dcg/dcg.toml
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

impl DcgArguments {
    /// Runs the controller until it is interrupted.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        self.switch.run(Box::new(self.gateway()?))
    }

    /// Prepares the controller to run within a switch, which is reached by these options.
    ///
    /// # Errors
    /// If an argument is wrong; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        self.switch.within(here, Box::new(self.gateway()?))
    }

    fn gateway(&self) -> Result<Gateway, Exit> {
        let wrong = |why: String| {
            terminal::error(why);
            Exit::BadInput
        };
        let config: Config = file::read(&self.config).map_err(wrong)?;
        Gateway::new(config).map_err(|why| wrong(format!("{}: {why}", self.config.display())))
    }
}
