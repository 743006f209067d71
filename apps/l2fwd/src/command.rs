//! The command `l2fwd`, also `wirespeed l2fwd`: controls a switch with `l2fwd.p4`.

use crate::learning::{Learning, Settings};
use crate::vlans::{Vlan, Vlans, port};
use clap::Args;
use command_line::{Exit, terminal};
use controller::{Running, SwitchArguments};
use std::time::Duration;

/// Arguments of `l2fwd`.
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  wirespeed run apps/l2fwd/l2fwd.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 --p4runtime
  wirespeed l2fwd --ports 1,2,3

  The same in one process:
  wirespeed run apps/l2fwd/l2fwd.p4 --port 1=eth1 --port 2=eth2 --port 3=eth3 --with \"l2fwd --switch here --ports 1,2,3\"

  Two VLANs, both on port 3, where frames have tags:
  wirespeed l2fwd --vlan 10=1,3t --vlan 20=2,3t

It may be stopped and started again at any time: it reads the switch's state and continues. Addresses that the operator's
entries give to ports are not learned.")]
pub struct L2fwdArguments {
    #[command(flatten)]
    switch: SwitchArguments,
    /// The ports of one network; tags of VLANs are payload
    #[arg(long, value_name = "PORTS", value_delimiter = ',', value_parser = port, required_unless_present = "vlans")]
    ports: Vec<u16>,
    /// A VLAN and its ports, as 10=1,2,3t; frames have tags on ports with a t. May be repeated
    #[arg(long = "vlan", value_name = "VLAN=PORTS", conflicts_with = "ports")]
    vlans: Vec<Vlan>,
    /// The time without a frame after which an address is forgotten (IEEE 802.1Q recommends 300)
    #[arg(long, default_value_t = 300.0, value_name = "SECONDS", value_parser = seconds)]
    age: f64,
    /// The most addresses that are learned
    #[arg(long, default_value_t = 60_000, value_name = "N")]
    addresses: usize,
    /// The most addresses that are learned at one port
    #[arg(long, default_value_t = 16_384, value_name = "N")]
    addresses_of_port: usize,
    /// Report each address that is learned, moves, or is forgotten
    #[arg(long, short)]
    verbose: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=1_000_000.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds, from 0.1 to 1000000".to_owned())
}

impl L2fwdArguments {
    /// Runs the controller until it is interrupted.
    ///
    /// # Errors
    /// The exit status; the message has been shown.
    pub fn run(&self) -> Result<Exit, Exit> {
        self.switch.run(Box::new(self.learning()?))
    }

    /// Prepares the controller to run within a switch, which is reached by these options.
    ///
    /// # Errors
    /// If an argument is wrong; the message has been shown.
    pub fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        self.switch.within(here, Box::new(self.learning()?))
    }

    fn learning(&self) -> Result<Learning, Exit> {
        let vlans = match self.vlans.is_empty() {
            true => Ok(Vlans::none(&self.ports)),
            false => Vlans::new(self.vlans.clone()),
        };
        let vlans = vlans.map_err(|why| {
            terminal::error(why);
            Exit::Usage
        })?;
        let settings = Settings {
            age: Duration::from_secs_f64(self.age),
            addresses_max: self.addresses,
            of_port_max: self.addresses_of_port,
            is_verbose: self.verbose,
        };
        Ok(Learning::new(settings, vlans))
    }
}
