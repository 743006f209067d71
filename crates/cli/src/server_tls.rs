//! The options of TLS for P4Runtime servers, which `wirespeed run` and `wirespeed sim` share.
//!
//! What enters: files with certificates and a key. What leaves: the settings of a server, and messages that name the
//! file that cannot be used.

use crate::Exit;
use crate::terminal;
use clap::Args;
use command_line::pem;
use p4runtime::{StartError, Tls};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The TLS settings of a P4Runtime server.
#[derive(Args, Debug, Clone, Default)]
pub struct ServerTlsArguments {
    /// The server's certificate (PEM): clients must use TLS
    #[arg(long, value_name = "FILE", requires_all = ["p4runtime_key", "p4runtime"])]
    pub p4runtime_cert: Option<PathBuf>,
    /// The private key for the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "p4runtime_cert")]
    pub p4runtime_key: Option<PathBuf>,
    /// The authority that must have signed clients' certificates (PEM)
    #[arg(long, value_name = "FILE", requires = "p4runtime_cert")]
    pub p4runtime_ca: Option<PathBuf>,
}

impl ServerTlsArguments {
    /// The settings of a server at an address, with the contents of the files; `None` without TLS, which others than
    /// this machine should not reach.
    pub fn settings(&self, address: SocketAddr) -> Result<Option<Tls>, Exit> {
        let (Some(certificate), Some(key)) = (&self.p4runtime_cert, &self.p4runtime_key) else {
            if !address.ip().is_loopback() {
                terminal::warning(format!(
                    "anyone who reaches {address} can take the switch over: require certificates with --p4runtime-cert and --p4runtime-ca"
                ));
            }
            return Ok(None);
        };
        let client_ca = self.p4runtime_ca.as_deref().map(pem::certificate).transpose()?;
        Ok(Some(Tls { certificate: pem::certificate(certificate)?, key: pem::key(key)?, client_ca }))
    }

    /// Reports why a server did not start.
    pub fn refuse(&self, error: &StartError) -> Exit {
        match (error, &self.p4runtime_cert, &self.p4runtime_key) {
            (StartError::Tls(_), Some(certificate), Some(key)) => {
                terminal::error(format!("{} with {}: {error}", certificate.display(), key.display()));
            }
            _ => terminal::error(error),
        }
        Exit::System
    }
}
