//! The options of TLS connections to switches.

use crate::{Exit, pem};
use clap::Args;
use ctl::Tls;
use std::path::PathBuf;

/// The TLS settings of a P4Runtime client.
#[derive(Args, Debug, Clone, Default)]
pub struct TlsArguments {
    /// Connect with TLS: the authority of the switch's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The client's certificate (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["key", "ca"])]
    pub cert: Option<PathBuf>,
    /// The key of the client's certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The name in the switch's certificate [default: that of the address]
    #[arg(long, value_name = "NAME", requires = "ca")]
    pub server_name: Option<String>,
}

impl TlsArguments {
    /// The settings, with the contents of the files; `None` without TLS.
    ///
    /// # Errors
    /// If a file cannot be read or is not in PEM; the message has been shown.
    pub fn settings(&self) -> Result<Option<Tls>, Exit> {
        let Some(ca) = &self.ca else { return Ok(None) };
        let identity = match (&self.cert, &self.key) {
            (Some(certificate), Some(key)) => Some((pem::certificate(certificate)?, pem::key(key)?)),
            _ => None,
        };
        Ok(Some(Tls { ca: pem::certificate(ca)?, identity, name: self.server_name.clone() }))
    }
}
