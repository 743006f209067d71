//! `simple_switch_CLI`: BMv2's command line of a running switch.
//!
//! What enters: that tool's options. What leaves: those of `ctl --simple-switch-cli`. The tool is given a Thrift
//! port. A switch that was started as `simple_switch` or `simple_switch_grpc` listens there; the switches of a
//! network (`wirespeed net`) do not; their ports are computed. Scripts call the tool right after they have started a
//! switch, which listens once its program is compiled: the link waits for that.

use super::{Given, Word};
use crate::terminal;
use std::ffi::OsString;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

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

/// The port of P4Runtime, to which `ctl` connects by default.
const P4RUNTIME: u16 = 9559;

/// How long the link waits for a switch, and how often it tries.
const SWITCH_TIMEOUT: Duration = Duration::from_secs(30);
const BETWEEN_TRIALS: Duration = Duration::from_millis(100);

/// Waits until `is_there` finds a switch that listens, or for [`SWITCH_TIMEOUT`].
pub fn wait(is_there: &mut dyn FnMut() -> bool) {
    let end = Instant::now() + SWITCH_TIMEOUT;
    let mut is_noted = false;
    while !is_there() && Instant::now() < end {
        if !std::mem::replace(&mut is_noted, true) {
            terminal::note(format!("no switch listens yet; waiting {} s at most", SWITCH_TIMEOUT.as_secs()));
        }
        std::thread::sleep(BETWEEN_TRIALS);
    }
}

/// Whether a port is open.
pub fn listens(host: &str, port: u16) -> bool {
    let Ok(mut addresses) = (host, port).to_socket_addrs() else { return false };
    addresses.any(|address| TcpStream::connect_timeout(&address, CONNECT_PATIENCE).is_ok())
}

/// Where the switch of a Thrift port is, as options of `ctl`; none if nothing listens.
fn place(ip: &str, port: Option<u16>, listens: &dyn Fn(&str, u16) -> bool) -> Option<Vec<String>> {
    let address = |port: u16| vec!["--address".to_owned(), format!("{ip}:{port}")];
    let Some(port) = port else {
        let first = || listens(ip, THRIFT_FIRST).then(|| address(THRIFT_FIRST));
        return first().or_else(|| listens("127.0.0.1", P4RUNTIME).then(Vec::new));
    };
    if listens(ip, port) {
        return Some(address(port));
    }
    let number = port.checked_sub(THRIFT_FIRST).filter(|&number| number < SWITCHES_MAX)?;
    let device_id = ["--device-id".to_owned(), number.to_string()];
    listens(ip, NET_FIRST + number).then(|| address(NET_FIRST + number).into_iter().chain(device_id).collect())
}

/// The arguments of our command; those that are not options of the tool stay. `wait` waits until its argument, which
/// looks for a switch, has found one, or not for ever.
pub fn meant(
    given: Vec<OsString>,
    listens: &dyn Fn(&str, u16) -> bool,
    wait: &dyn Fn(&mut dyn FnMut() -> bool),
) -> Vec<OsString> {
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
    let has = |names: &[&str]| rest.iter().any(|word| names.iter().any(|name| word == name));
    // A question about the tool needs no switch, and who says where the switch is needs no search.
    let is_searched = !has(&["--help", "-h", "--version", "-V"]) && (port.is_some() || !has(&["--address", "-a"]));
    if is_searched {
        let mut found = None;
        wait(&mut || {
            found = place(&ip, port, listens);
            found.is_some()
        });
        // If nothing listens, the address that was given is the one that the error should name.
        let given = || port.map(|port| vec!["--address".to_owned(), format!("{ip}:{port}")]);
        all.extend(found.or_else(given).unwrap_or_default().into_iter().map(OsString::from));
    }
    all.extend(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::super::{line, words};
    use super::*;
    use std::cell::Cell;

    #[test]
    fn switches_are_found_by_their_thrift_ports() {
        let once = |is_there: &mut dyn FnMut() -> bool| {
            is_there();
        };
        let meant = |text: &str, listening: u16| line(&meant(words(text), &|_, port| port == listening, &once));
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

    #[test]
    fn a_switch_that_does_not_listen_yet_is_waited_for() {
        for (text, opens, expected) in [
            ("--thrift-port 9091", 9091, "ctl --simple-switch-cli --address 127.0.0.1:9091"),
            ("--thrift-port 9091", 50052, "ctl --simple-switch-cli --address 127.0.0.1:50052 --device-id 1"),
            ("", 9090, "ctl --simple-switch-cli --address 127.0.0.1:9090"),
            ("", 9559, "ctl --simple-switch-cli"),
        ] {
            let trials = Cell::new(0);
            let wait = |is_there: &mut dyn FnMut() -> bool| {
                while !is_there() {
                    trials.set(trials.get() + 1);
                }
            };
            let listens = |_: &str, port: u16| trials.get() == 3 && port == opens;
            assert_eq!(line(&meant(words(text), &listens, &wait)), expected);
            assert_eq!(trials.get(), 3, "{text}");
        }
        let never = |_: &mut dyn FnMut() -> bool| panic!("it waits");
        for text in ["--help", "--thrift-port 9091 --help", "--address 10.0.0.1:9559"] {
            meant(words(text), &|_, _| false, &never);
        }
    }
}
