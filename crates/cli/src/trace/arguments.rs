//! The arguments of `wirespeed trace`.

use crate::args::SwitchArguments;
use clap::Args;
use command_line::tls::TlsArguments;
use std::path::PathBuf;

/// `wirespeed trace`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  wirespeed trace router.p4 --entries s1-runtime.json --packet 1:080000000200080000000100080045...
  wirespeed trace router.p4 --pcap 2=in.pcap --count 3
  wirespeed trace router.p4 --stf router.stf
  wirespeed trace --from 127.0.0.1:9559 --pcap 1=in.pcap      with the program and the tables of a running switch
  wirespeed trace --state /var/lib/router --pcap 1=in.pcap    with those of a state folder

`wirespeed ctl trace` shows packets as they arrive at a running switch.")]
pub struct TraceArguments {
    /// The program [default: that of --from or --state]
    #[arg(value_name = "FILE", required_unless_present_any = ["from", "state"], conflicts_with_all = ["from", "state"])]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub switch: SwitchArguments,
    /// Take the program, the tables and the registers of the running switch with this address for controllers
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["state", "entries", "stf"])]
    pub from: Option<String>,
    #[command(flatten)]
    pub tls: TlsArguments,
    /// Take the program, the tables and the registers from a switch's state folder, which is not changed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["entries", "stf"])]
    pub state: Option<PathBuf>,
    /// A packet: its port and its bytes in hexadecimal; may be repeated
    #[arg(long = "packet", value_name = "PORT:HEX", required_unless_present_any = ["pcap", "stf"])]
    pub packets: Vec<String>,
    /// A capture: the port its packets enter at, and the file
    #[arg(long, value_name = "PORT=FILE")]
    pub pcap: Option<String>,
    /// Packets and entries of a packet test; each command completes before the next
    #[arg(long, value_name = "FILE", conflicts_with_all = ["packets", "pcap"])]
    pub stf: Option<PathBuf>,
    /// How many packets of the capture to show
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub count: usize,
    /// A line of JSON for each packet
    #[arg(long)]
    pub json: bool,
}
