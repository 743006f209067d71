//! `wirespeed zipline learn`: the controller for encoders and decoders that learn bases while they run.
//!
//! What enters: where the switches are. What leaves: lines about events, until it is interrupted, or until the switch
//! ends within which it runs. The control logic is in [`learner`](super::learner).

use super::learner::{Learner, ReportFormat, Switches};
use clap::Args;
use command_line::Exit;
use command_line::terminal;
use command_line::tls::TlsArguments;
use controller::Running;
use controller::command::{HERE, endpoint};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Which switches learn, and the settings.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub struct LearnArguments {
    /// The address of a switch with the encoder for controllers; may be repeated
    #[arg(long = "encoder", value_name = "HOST:PORT", required = true, value_parser = endpoint)]
    encoders: Vec<String>,
    /// The address of a switch with the decoder; may be repeated. Each may receive packets of each encoder
    #[arg(long = "decoder", value_name = "HOST:PORT", required = true, value_parser = endpoint)]
    decoders: Vec<String>,
    /// The device id of these switches
    #[arg(long, value_name = "N", default_value_t = 1)]
    device_id: u64,
    #[command(flatten)]
    tls: TlsArguments,
    /// How long an identifier rests before it is reused: longer than any packet is in transit
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds)]
    quarantine: f64,
    /// The idle time after which a basis may be replaced by another
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", value_parser = seconds)]
    idle: f64,
    /// The interval of reports on identifiers in use
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", value_parser = seconds)]
    every: f64,
    /// Print a JSON object per line instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  wirespeed zipline tables --m 8 --both-ways --encoder encoder.txt --decoder decoder.txt
  wirespeed run apps/zipline/decoder.p4 --entries decoder.txt --port 1=eth0 --port 2=eth1 --p4runtime 9560
  wirespeed run apps/zipline/encoder.p4 --entries encoder.txt --port 1=eth0 --port 2=eth1 --p4runtime 9559
  wirespeed zipline learn --encoder 127.0.0.1:9559 --decoder 127.0.0.1:9560

  The same within the encoder's switch, which saves a process and time:
  wirespeed run apps/zipline/encoder.p4 --entries encoder.txt --port 1=eth0 --port 2=eth1 --p4runtime 9559 \\
      --with \"zipline learn --encoder here --decoder 127.0.0.1:9560\"

  One encoder whose packets go to two decoders, over links on which no packet is late by more than 5 seconds:
  wirespeed zipline learn --encoder 10.0.0.1:9559 --decoder 10.0.0.2:9559 --decoder 10.0.0.3:9559 --quarantine 5

  Switches that require a certificate, as with --p4runtime-cert, --p4runtime-key and --p4runtime-ca:
  wirespeed zipline learn --encoder 10.0.0.1:9559 --decoder 10.0.0.2:9559 --ca ca.crt --cert own.crt --key own.key

  Two classes of traffic, each with a transform of its own; the programs are compiled with the -D ... that `tables` says:
  wirespeed zipline tables --m 8 --also udp=5683,transform=hamming-6 --both-ways --encoder e.txt --decoder d.txt

  Two gateways, each of which encodes one way and decodes the other: a controller for each way:
  wirespeed zipline learn --encoder 10.0.0.1:9559 --decoder 10.0.0.2:9559
  wirespeed zipline learn --encoder 10.0.0.2:9559 --decoder 10.0.0.1:9559

It may be stopped and started again at any time: it reads the state of the switches and continues. Identifiers that entries
files give to bases keep that meaning; only the others are learned.";

/// A valid time.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds, from 0.001 to 86400".to_owned())
}

/// Runs until it is interrupted.
pub fn learn(arguments: &LearnArguments) -> Result<Exit, Exit> {
    let cannot = |error: std::io::Error| {
        terminal::error(format_args!("the controller cannot start: {error}"));
        Exit::System
    };
    let format = if arguments.json { ReportFormat::Json } else { ReportFormat::Text };
    let switches = arguments.switches(None, format)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    runtime.block_on(async {
        let mut ended = signal(SignalKind::terminate()).map_err(cannot)?;
        let mut learner = Learner::new(switches);
        learner.report_start();
        tokio::select! {
            () = learner.run() => {}
            _interrupted = tokio::signal::ctrl_c() => {}
            _terminated = ended.recv() => {}
        }
        learner.report_counts();
        Ok(Exit::Success)
    })
}

/// The same within the switch `here`, until that ends. Events are in its log.
pub fn learn_within(arguments: &LearnArguments, here: &ctl::Options) -> Result<Running, Exit> {
    let switches = arguments.switches(Some(here), ReportFormat::Log)?;
    Ok(Box::pin(async move { Learner::new(switches).run().await }))
}

impl LearnArguments {
    fn switches(&self, here: Option<&ctl::Options>, format: ReportFormat) -> Result<Switches, Exit> {
        let tls = self.tls.settings()?;
        let reach = |address: &String| match (here, address.as_str()) {
            (Some(here), HERE) => Ok(here.clone()),
            (None, HERE) => {
                terminal::error(
                    "`here` is the switch within which a controller runs: start it with `wirespeed run --with`",
                );
                Err(Exit::Usage)
            }
            _ => {
                let (address, device_id) = (address.clone(), self.device_id);
                Ok(ctl::Options { address, device_id, tls: tls.clone(), ..ctl::Options::default() })
            }
        };
        Ok(Switches {
            encoders: self.encoders.iter().map(reach).collect::<Result<_, Exit>>()?,
            decoders: self.decoders.iter().map(reach).collect::<Result<_, Exit>>()?,
            quarantine: Duration::from_secs_f64(self.quarantine),
            idle: Duration::from_secs_f64(self.idle),
            every: Duration::from_secs_f64(self.every),
            format,
        })
    }
}
