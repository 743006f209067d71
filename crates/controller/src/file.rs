//! The files that describe what a controller is to do.
//!
//! What enters: TOML. What leaves: values, or what is wrong, with its place in the file.

use crate::address::Network;
use base::OrderedSet;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// The greatest port of v1model but for the drop port and the CPU port.
pub const PORT_MAX: u16 = 509;

/// Reads a file.
///
/// # Errors
/// What is wrong, with the name of the file.
pub fn read<T: FromStr<Err = String>>(path: &Path) -> Result<T, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    text.parse().map_err(|why: String| wrong(&why))
}

/// Parses the text of a file.
///
/// # Errors
/// What is wrong, and where.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

/// A value in a string.
///
/// # Errors
/// If the string is none.
pub fn from_text<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// A value in a string, or none.
///
/// # Errors
/// If the string is none.
pub fn optional_from_text<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    from_text(deserializer).map(Some)
}

/// Values in strings.
///
/// # Errors
/// If a string is none.
pub fn list_from_text<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

/// A time in seconds, of at most about eleven days.
///
/// # Errors
/// If it is out of range.
pub fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let is_right = (0.01..=1_000_000.0).contains(&seconds);
    is_right
        .then(|| Duration::from_secs_f64(seconds))
        .ok_or_else(|| D::Error::custom("it is from 0.01 to 1000000 seconds"))
}

/// Checks the ports and addresses of a gateway's interfaces, each of which has one address of IPv4.
///
/// # Errors
/// What is wrong, with the interface.
pub fn check_interfaces<'a>(interfaces: impl IntoIterator<Item = (u16, &'a Network)>) -> Result<(), String> {
    let mut ports = OrderedSet::new();
    for (port, address) in interfaces {
        if port > PORT_MAX || !ports.insert(port) {
            return Err(format!("interface {port}: a port is from 0 to {PORT_MAX}, and each is given once"));
        }
        if !address.address.is_ipv4() {
            return Err(format!("interface {port}: {address} is not of IPv4"));
        }
    }
    Ok(())
}
