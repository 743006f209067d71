//! `simple_switch_CLI`: BMv2's command line of a running switch.
//!
//! What enters: that tool's options. What leaves: those of `ctl --simple-switch-cli`. The tool is given a Thrift
//! port. A switch that was started as `simple_switch` or `simple_switch_grpc` listens there; the switches of a
//! network (`wirespeed net`) do not; their ports are computed.

use super::{Given, Word};
use std::ffi::OsString;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How the tool is used.
pub const USAGE: &str = "simple_switch_CLI [--thrift-ip HOST] [--thrift-port PORT] [OPTIONS] < LINES";

/// The Thrift port of the first switch of a network in scripts, and its P4Runtime port in `net`; the others follow in
/// order.
const THRIFT_FIRST: u16 = 9090;
const NET_FIRST: u16 = 50051;

/// How many switches have such Thrift ports.
const SWITCHES_MAX: u16 = 100;

/// The timeout of a connection that only tests whether a port is open.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// Whether a port is open.
pub fn listens(host: &str, port: u16) -> bool {
    let Ok(mut addresses) = (host, port).to_socket_addrs() else { return false };
    addresses.any(|address| TcpStream::connect_timeout(&address, CONNECT_PATIENCE).is_ok())
}

/// The arguments of our command; those that are not options of the tool stay.
pub fn meant(given: Vec<OsString>, listens: &dyn Fn(&str, u16) -> bool) -> Vec<OsString> {
    let (mut ip, mut port, mut rest) = ("127.0.0.1".to_owned(), None, Vec::new());
    let mut given = Given::new(given);
    while let Some(word) = given.next("") {
        match word {
            Word::Option(option) if option == "--thrift-port" => {
                port = given.value().and_then(|value| value.parse::<u16>().ok());
            }
            Word::Option(option) if option == "--thrift-ip" => ip = given.value().unwrap_or(ip),
            // The program is the one that runs, and there is one kind of replication.
            Word::Option(option) if matches!(option.as_str(), "--json" | "--pre") => drop(given.value()),
            Word::Option(option) => match given.value.take() {
                Some(value) => rest.push(format!("{option}={value}").into()),
                None => rest.push(option.into()),
            },
            Word::Plain(word) => rest.push(word),
        }
    }
    let mut all: Vec<OsString> = ["ctl", "--simple-switch-cli"].map(OsString::from).into();
    let is_told = rest.iter().any(|word| word == "--address" || word == "-a");
    let is_first = port.is_none() && !is_told && listens(&ip, THRIFT_FIRST);
    if let Some(port) = port.or(is_first.then_some(THRIFT_FIRST)) {
        all.push("--address".into());
        // If nothing listens, the address that was given is the one that the error should name.
        let is_of_network = |number: &u16| *number < SWITCHES_MAX && listens(&ip, NET_FIRST + number);
        let is_there = is_first || listens(&ip, port);
        match port.checked_sub(THRIFT_FIRST).filter(|number| !is_there && is_of_network(number)) {
            Some(number) => {
                all.push(format!("{ip}:{}", NET_FIRST + number).into());
                all.extend(["--device-id".into(), number.to_string().into()]);
            }
            None => all.push(format!("{ip}:{port}").into()),
        }
    }
    all.extend(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::super::{line, words};
    use super::*;

    #[test]
    fn switches_are_found_by_their_thrift_ports() {
        let meant = |text: &str, listening: u16| line(&meant(words(text), &|_, port| port == listening));
        assert_eq!(meant("", 0), "ctl --simple-switch-cli");
        assert_eq!(meant("", 9090), "ctl --simple-switch-cli --address 127.0.0.1:9090");
        assert_eq!(
            meant("--thrift-port 9091 --json x.json --pre SimplePreLAG", 50052),
            "ctl --simple-switch-cli --address 127.0.0.1:50052 --device-id 1"
        );
        assert_eq!(
            meant("--address 10.0.0.1:9559", 9090),
            "ctl --simple-switch-cli --address 10.0.0.1:9559",
            "who says where needs no search"
        );
        assert_eq!(
            meant("--thrift-port 9091", 0),
            "ctl --simple-switch-cli --address 127.0.0.1:9091",
            "an error names the port that was given"
        );
        assert_eq!(meant("--thrift-port 9091", 9091), "ctl --simple-switch-cli --address 127.0.0.1:9091");
        assert_eq!(
            meant("--thrift-ip=10.0.0.1 --thrift-port=9559 --device-id 7", 0),
            "ctl --simple-switch-cli --address 10.0.0.1:9559 --device-id 7"
        );
    }
}
