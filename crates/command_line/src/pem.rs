//! Files of certificates and keys in PEM (RFC 7468), which are checked here so that errors name the file.

use crate::{Exit, terminal};
use std::path::Path;

/// A file with certificates.
pub fn certificate(path: &Path) -> Result<Vec<u8>, Exit> {
    read(path, "certificate", "CERTIFICATE-----")
}

/// A file with a private key, of whatever kind.
pub fn key(path: &Path) -> Result<Vec<u8>, Exit> {
    read(path, "private key", "PRIVATE KEY-----")
}

fn read(path: &Path, what: &str, label_end: &str) -> Result<Vec<u8>, Exit> {
    let refuse = |message: String| {
        terminal::error(message);
        Exit::BadInput
    };
    let bytes =
        base::files::read(path, 1 << 20).map_err(|error| refuse(format!("cannot read {}: {error}", path.display())))?;
    let text = String::from_utf8_lossy(&bytes);
    match text.lines().any(|line| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(label_end)) {
        true => Ok(bytes),
        false => {
            let message =
                format!("{} has no {what} in PEM: it has no line `-----BEGIN ...{label_end}`", path.display());
            Err(refuse(message))
        }
    }
}
