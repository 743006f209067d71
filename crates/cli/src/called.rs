//! The name by which the command was called: links stand for tools that people's scripts call.
//!
//! What enters: the arguments of the process. What leaves: those of the command that a link stands for. A link
//! `p4c-bm2-ss` is the hidden command of that name; a link `simple_switch_CLI` is `ctl --simple-switch-cli`, with that
//! tool's own options.

use crate::p4c;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// BMv2's command line of a running switch.
const SIMPLE_SWITCH_CLI: &str = "simple_switch_CLI";

/// Where scripts look for the first switch of a network, by Thrift, and where `net` has it, by P4Runtime; the others
/// follow one by one.
const THRIFT_FIRST: u16 = 9090;
const NET_FIRST: u16 = 50051;

/// Switches that are told by their Thrift ports.
const SWITCHES_MAX: u16 = 100;

/// The arguments of the process, with the command in its place if a link stands for it.
pub fn arguments() -> Vec<OsString> {
    meant(std::env::args_os().collect())
}

fn meant(mut all: Vec<OsString>) -> Vec<OsString> {
    let name = all.first().and_then(|name| Path::new(name).file_name()).unwrap_or_default().to_owned();
    if name == p4c::COMMAND {
        all.insert(1, p4c::COMMAND.into());
    }
    if name == SIMPLE_SWITCH_CLI {
        let rest = all.split_off(1);
        all.extend(["ctl", "--simple-switch-cli"].map(OsString::from));
        all.extend(of_simple_switch(rest));
    }
    all
}

/// The tool's own options in our words; what is not its own stays.
fn of_simple_switch(given: Vec<OsString>) -> Vec<OsString> {
    let (mut ip, mut port, mut rest) = ("127.0.0.1".to_owned(), None, Vec::new());
    let mut given = given.into_iter();
    while let Some(word) = given.next() {
        let text = word.to_string_lossy().into_owned();
        let (option, value) = text.split_once('=').map_or((text.as_str(), None), |(it, value)| (it, Some(value)));
        let is_own = matches!(option, "--thrift-port" | "--thrift-ip" | "--json" | "--pre");
        if !is_own {
            rest.push(word);
            continue;
        }
        let next = || given.next().map(|it| OsStr::to_string_lossy(&it).into_owned());
        let value = value.map(str::to_owned).or_else(next).unwrap_or_default();
        match option {
            "--thrift-port" => port = value.parse::<u16>().ok(),
            "--thrift-ip" => ip = value,
            // The program is the one that runs, and there is one kind of replication.
            _ => {}
        }
    }
    let Some(port) = port else { return rest };
    let mut options = vec![OsString::from("--address")];
    match port.checked_sub(THRIFT_FIRST).filter(|&number| number < SWITCHES_MAX) {
        Some(number) => {
            options.push(format!("{ip}:{}", NET_FIRST + number).into());
            options.extend(["--device-id".into(), number.to_string().into()]);
        }
        None => options.push(format!("{ip}:{port}").into()),
    }
    options.extend(rest);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stand_for_tools() {
        let meant = |line: &str| -> String {
            let words = meant(line.split(' ').map(OsString::from).collect());
            words.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(meant("/x/wirespeed run --json"), "/x/wirespeed run --json");
        assert_eq!(meant("bin/p4c-bm2-ss x.p4"), "bin/p4c-bm2-ss p4c-bm2-ss x.p4");
        assert_eq!(meant("simple_switch_CLI"), "simple_switch_CLI ctl --simple-switch-cli");
        assert_eq!(
            meant("simple_switch_CLI --thrift-port 9091 --json x.json --pre SimplePreLAG"),
            "simple_switch_CLI ctl --simple-switch-cli --address 127.0.0.1:50052 --device-id 1"
        );
        assert_eq!(
            meant("simple_switch_CLI --thrift-ip=10.0.0.1 --thrift-port=9559 --device-id 7"),
            "simple_switch_CLI ctl --simple-switch-cli --address 10.0.0.1:9559 --device-id 7"
        );
    }
}
