//! The command `l3fwd`, also `wirespeed l3fwd`: controls a switch with `router.p4`.

use crate::config::Config;
use crate::router::Router;
use clap::Args;
use command_line::{Exit, terminal};
use controller::{Running, SwitchArguments};
use std::path::PathBuf;

/// Arguments of `l3fwd`.
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed run apps/l3fwd/router.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 --p4runtime
  wirespeed l3fwd --config apps/l3fwd/router.toml

  The same in one process:
  wirespeed run apps/l3fwd/router.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 \\
      --with \"l3fwd --switch here --config apps/l3fwd/router.toml\"

It may be stopped and started again at any time, also with another file: it reads the switch's state and continues. Routes
that the operator has added stay.")]
pub struct L3fwdArguments {
    #[command(flatten)]
    switch: SwitchArguments,
    /// The file with interfaces and routes, as apps/l3fwd/router.toml
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Report each neighbour that is found, or lost
    #[arg(long, short)]
    verbose: bool,
}

impl L3fwdArguments {
    /// Runs the controller until it is interrupted.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        self.switch.run(Box::new(self.router()?))
    }

    /// Prepares the controller to run within a switch, which is reached by these options.
    ///
    /// # Errors
    /// If an argument is wrong; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        self.switch.within(here, Box::new(self.router()?))
    }

    fn router(&self) -> Result<Router, Exit> {
        let wrong = |why: String| {
            terminal::error(why);
            Exit::BadInput
        };
        let config: Config = controller::file::read(&self.config).map_err(wrong)?;
        Router::new(config, self.verbose).map_err(|why| wrong(format!("{}: {why}", self.config.display())))
    }
}
