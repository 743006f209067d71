//! The commands of applications, and their controllers within a running switch: `run --with`.
//!
//! What enters: the command of an application, as arguments or as text. What leaves: its exit status, or its
//! controller, which runs in the thread of the switch's P4Runtime server and reaches that server without a connection.
//!
//! An application has a command of its own: its arguments (`clap::Args`), with `run`, and with `within`, which prepares
//! a controller. It is named here and nowhere else.

use crate::Exit;
use bng::command::BngArguments;
use clap::{Parser, Subcommand};
use controller::Running;
use dcg::command::DcgArguments;
use l2fwd::command::L2fwdArguments;
use l3fwd::command::L3fwdArguments;
use p4runtime::Server;
use p4te::command::P4teArguments;
use zipline::command::ZiplineArguments;

/// The command of a controller.
#[derive(Parser, Debug, Clone)]
#[command(name = "wirespeed", disable_help_subcommand = true)]
pub struct Controller {
    #[command(subcommand)]
    application: Application,
}

/// The commands of applications.
#[derive(Subcommand, Debug, Clone)]
pub enum Application {
    /// Control the Ethernet switch of apps/l2fwd: learn addresses, age them, set up VLANs
    L2fwd(L2fwdArguments),
    /// Control the broadband network gateway of apps/bng, and read its accounts
    Bng(BngArguments),
    /// Control the data centre gateway of apps/dcg: servers, their health, draining
    Dcg(DcgArguments),
    /// Control the router of apps/l3fwd: neighbours, routes, gateways, ICMP
    L3fwd(L3fwdArguments),
    /// Control the switches of apps/p4te: parameters, and the priorities of paths
    P4te(P4teArguments),
    /// Fit the ZipLine programs to traffic: the code and the tables
    Zipline(ZiplineArguments),
}

impl Application {
    /// Carries out the command.
    pub fn run(&self) -> Result<Exit, Exit> {
        match self {
            Application::L2fwd(arguments) => arguments.run(),
            Application::Bng(arguments) => arguments.run(),
            Application::Dcg(arguments) => arguments.run(),
            Application::L3fwd(arguments) => arguments.run(),
            Application::P4te(arguments) => arguments.run(),
            Application::Zipline(arguments) => arguments.run(),
        }
    }

    /// Prepares its controller, to run within the switch that `here` reaches.
    fn within(&self, here: &ctl::Options) -> Result<Running, Exit> {
        match self {
            Application::L2fwd(arguments) => arguments.within(here),
            Application::Bng(arguments) => arguments.within(here),
            Application::Dcg(arguments) => arguments.within(here),
            Application::L3fwd(arguments) => arguments.within(here),
            Application::P4te(arguments) => arguments.within(here),
            Application::Zipline(arguments) => arguments.within(here),
        }
    }
}

/// Parses a command: words, of which those with spaces are in quotes.
pub fn controller(text: &str) -> Result<Controller, String> {
    let words = std::iter::once("wirespeed".to_owned()).chain(words(text)?);
    Controller::try_parse_from(words).map_err(|error| error.to_string().trim_start_matches("error: ").to_owned())
}

/// Starts the controllers. They end when the server does.
pub fn start(controllers: &[Controller], device_id: u64, server: &Server) -> Result<(), Exit> {
    let address = server.address().to_string();
    let here = ctl::Options { near: Some(server.near()), address, device_id, ..ctl::Options::default() };
    for Controller { application } in controllers {
        server.spawn(application.within(&here)?);
    }
    Ok(())
}

/// The words of a command. Quotes, single or double, surround words with spaces.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let (word, behind) = match first {
            '\'' | '"' => {
                let inner = &rest[1..];
                inner.split_once(first).ok_or_else(|| format!("there is no second {first} behind {inner}"))?
            }
            _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_have_spaces_in_quotes() {
        let is = |text: &str, expected: &[&str]| assert_eq!(words(text).unwrap(), expected);
        is("  zipline learn  --ca 'my ca.crt' ", &["zipline", "learn", "--ca", "my ca.crt"]);
        is("\"\" a", &["", "a"]);
        is("", &[]);
        assert!(words("a 'b").is_err());
    }
}
