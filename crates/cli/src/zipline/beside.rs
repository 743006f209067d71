//! ZipLine's controller within a running switch, `wirespeed run --zipline-decoder`: it uses the P4Runtime service of
//! its own switch without a connection, and controls the others over the network.
//!
//! What enters: the arguments, the server of the switch. What leaves: a controller that runs in the server's thread
//! until the switch ends; its events are in the switch's log.

use super::learn::{endpoint, seconds};
use super::learner::{Learner, Team, Voice};
use super::terms::is_gateway;
use crate::Exit;
use crate::args::TlsArguments;
use crate::pem;
use crate::terminal;
use clap::Args;
use p4runtime::Server;
use p4runtime_proto::p4::config::v1::P4Info;
use std::path::PathBuf;
use std::time::Duration;

/// The interval of debug log lines with the number of identifiers in use.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// Which other switches learn with this one.
#[derive(Args, Debug, Clone, Default)]
pub struct BesideArguments {
    /// Control ZipLine from this switch, whose program is the encoder, the decoder or the gateway of apps/zipline:
    /// the address of a decoder for controllers; may be repeated
    #[arg(long = "zipline-decoder", value_name = "HOST:PORT", requires = "p4runtime", value_parser = endpoint)]
    decoders: Vec<String>,
    /// The same for an encoder
    #[arg(long = "zipline-encoder", value_name = "HOST:PORT", requires = "p4runtime", value_parser = endpoint)]
    encoders: Vec<String>,
    /// How long one of ZipLine's identifiers rests before it is reused [default: 1]
    #[arg(long = "zipline-quarantine", value_name = "SECONDS", value_parser = seconds)]
    quarantine: Option<f64>,
    /// The idle time after which a basis of ZipLine may be replaced by another [default: 10]
    #[arg(long = "zipline-idle", value_name = "SECONDS", value_parser = seconds)]
    idle: Option<f64>,
    /// Connect to ZipLine's other switches with TLS: the authority of their certificates (PEM)
    #[arg(long, value_name = "FILE")]
    zipline_ca: Option<PathBuf>,
    /// The client's certificate (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["zipline_key", "zipline_ca"])]
    zipline_cert: Option<PathBuf>,
    /// The key of the client's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "zipline_cert")]
    zipline_key: Option<PathBuf>,
    /// The name in their certificates [default: that of the address]
    #[arg(long, value_name = "NAME", requires = "zipline_ca")]
    zipline_server_name: Option<String>,
}

impl BesideArguments {
    /// Whether this switch controls others.
    pub fn leads(&self) -> bool {
        !(self.decoders.is_empty() && self.encoders.is_empty())
    }

    fn tls(&self) -> TlsArguments {
        TlsArguments {
            ca: self.zipline_ca.clone(),
            cert: self.zipline_cert.clone(),
            key: self.zipline_key.clone(),
            server_name: self.zipline_server_name.clone(),
        }
    }

    /// The teams of switches to control, if the program with this P4Info is suitable. A gateway may belong to two
    /// teams: the decoders of what it encodes, and the encoders of what it decodes.
    pub fn teams(&self, info: Option<&P4Info>, device_id: u64, server: &Server) -> Result<Vec<Team>, Exit> {
        let refused = |message: &str| {
            terminal::error(message);
            Err(Exit::Usage)
        };
        let Some(info) = info else {
            return refused("--zipline-decoder and --zipline-encoder: the switch needs its program from the start");
        };
        let tls = pem::of_client(&self.tls())?;
        let member = |address: &String| ctl::Options {
            address: address.clone(),
            device_id,
            tls: tls.clone(),
            tls_prefix: "zipline-",
            address_option: None,
            ..ctl::Options::default()
        };
        let own = ctl::Options { near: Some(server.near()), ..member(&server.address().to_string()) };
        let decoders: Vec<ctl::Options> = self.decoders.iter().map(member).collect();
        let encoders: Vec<ctl::Options> = self.encoders.iter().map(member).collect();
        let is_encoder = info.digests.iter().any(|digest| ctl::schema::name(&digest.preamble) == "learn_t");
        let both = |own: &ctl::Options, others: Vec<ctl::Options>| [vec![own.clone()], others].concat();
        let sides = match (is_gateway(info), is_encoder) {
            (true, _) => {
                let ways = [(vec![own.clone()], decoders), (encoders, vec![own])];
                ways.into_iter().filter(|(encoders, decoders)| !encoders.is_empty() && !decoders.is_empty()).collect()
            }
            (false, true) if decoders.is_empty() => {
                return refused(
                    "--zipline-encoder: this switch runs an encoder: give the address of a decoder (--zipline-decoder)",
                );
            }
            (false, true) => vec![(both(&own, encoders), decoders)],
            (false, false) if encoders.is_empty() => {
                return refused(
                    "--zipline-decoder: this switch runs no encoder: give the address of one (--zipline-encoder)",
                );
            }
            (false, false) => vec![(encoders, both(&own, decoders))],
        };
        let time = |given: Option<f64>, usual| given.map_or(usual, Duration::from_secs_f64);
        let team = |(encoders, decoders)| Team {
            encoders,
            decoders,
            quarantine: time(self.quarantine, Duration::from_secs(1)),
            idle: time(self.idle, Duration::from_secs(10)),
            every: TOLD_EVERY,
            voice: Voice::Log,
        };
        Ok(sides.into_iter().map(team).collect())
    }
}

/// Controls the teams until the server ends.
pub fn start(teams: Vec<Team>, server: &Server) {
    for team in teams {
        server.spawn(async move { Learner::new(team).lead().await });
    }
}
