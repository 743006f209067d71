//! What the commands of controllers share: where the switch is, and running until the end.
//!
//! What enters: arguments and a logic. What leaves: lines on standard output, or the log of the switch within which the
//! controller runs.

use crate::connection::{self, Reporter};
use crate::logic::Logic;
use clap::Args;
use command_line::Exit;
use command_line::terminal::{self, say};
use command_line::tls::TlsArguments;
use control::Problem;
use ctl::{Failure, Plan, Session};
use p4runtime_proto::p4::v1::Entity;
use std::pin::Pin;
use tokio::signal::unix::{SignalKind, signal};

/// The address of the switch within which a controller runs.
pub const HERE: &str = "here";

/// A controller within a switch, which runs until the switch ends.
pub type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The switch to control.
#[derive(Args, Debug, Clone)]
pub struct SwitchArguments {
    /// The address of the switch for controllers; `here` is the switch within which the controller runs (run --with)
    #[arg(long = "switch", value_name = "HOST:PORT", default_value = "127.0.0.1:9559", value_parser = endpoint)]
    address: String,
    /// The device id of the switch [default: what it reports]
    #[arg(long, value_name = "N")]
    device_id: Option<u64>,
    #[command(flatten)]
    tls: TlsArguments,
}

/// Reads the address of a switch, or [`HERE`].
///
/// # Errors
/// What an address is.
pub fn endpoint(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':').filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    let is_right = text == HERE || parts.is_some();
    let wrong = || "it is HOST:PORT, as 10.0.0.1:9559 or [::1]:9559, or `here` within a switch (run --with)".to_owned();
    is_right.then(|| text.to_owned()).ok_or_else(wrong)
}

impl SwitchArguments {
    fn options(&self, here: Option<&ctl::Options>) -> Result<ctl::Options, Exit> {
        match (here, self.address.as_str()) {
            (Some(here), HERE) => Ok(here.clone()),
            (None, HERE) => {
                terminal::error(
                    "`here` is the switch within which a controller runs: start it with `wirespeed run --with`",
                );
                Err(Exit::Usage)
            }
            _ => Ok(ctl::Options {
                address: self.address.clone(),
                device_id: self.device_id.unwrap_or_default(),
                any_device: self.device_id.is_none(),
                tls: self.tls.settings()?,
                address_option: Some("--switch"),
                ..ctl::Options::default()
            }),
        }
    }

    /// Runs a controller until it is interrupted. Its lines are on standard output.
    ///
    /// # Errors
    /// If the switch runs another program, or an argument is wrong; the message has been shown.
    pub fn run(&self, logic: Box<dyn Logic>) -> Result<Exit, Exit> {
        let cannot = |error: std::io::Error| {
            terminal::error(format_args!("the controller cannot start: {error}"));
            Exit::System
        };
        let options = self.options(None)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        runtime.block_on(async {
            let mut ended = signal(SignalKind::terminate()).map_err(cannot)?;
            let reporter: Reporter = Box::new(|line| say!("{line}"));
            tokio::select! {
                problem = connection::keep(logic, options, reporter) => {
                    terminal::error(problem);
                    Err(Exit::BadInput)
                }
                _interrupted = tokio::signal::ctrl_c() => Ok(Exit::Success),
                _terminated = ended.recv() => Ok(Exit::Success),
            }
        })
    }

    /// Reads what these commands of `wirespeed ctl` show, each by itself.
    ///
    /// # Errors
    /// If the switch cannot be reached, or runs another program; the message has been shown.
    pub fn read(&self, commands: &[&str]) -> Result<Vec<Vec<Entity>>, Exit> {
        let failed = |why: Failure| {
            terminal::error(why);
            Exit::System
        };
        let options = self.options(None)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(Problem::new(error.to_string()).into()))?;
        runtime
            .block_on(async {
                let mut session = Session::connect(options).await?;
                let schema = session.schema().await?;
                let mut found = Vec::new();
                for command in commands {
                    let Plan::Read(read) = ctl::parse(command, &schema)? else { continue };
                    found.push(session.read_all(read.entities).await?);
                }
                Ok(found)
            })
            .map_err(failed)
    }

    /// Prepares a controller to run within the switch `here`, until that ends. Its lines are in the log.
    ///
    /// # Errors
    /// If an argument is wrong; the message has been shown.
    pub fn within(&self, here: &ctl::Options, logic: Box<dyn Logic>) -> Result<Running, Exit> {
        let options = self.options(Some(here))?;
        Ok(Box::pin(async move {
            let reporter: Reporter = Box::new(|line| tracing::info!("{line}"));
            let problem = connection::keep(logic, options, reporter).await;
            tracing::error!("the controller has ended: {problem}");
        }))
    }
}
