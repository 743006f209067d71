//! What tunnels cost: one program that forwards frames, puts them into VXLAN or GRE packets and takes them out again,
//! from memory to memory on one core, each kind of work by itself.
//!
//! What enters: how many frames. What leaves: nanoseconds per packet of each kind of work, beside those of a bridge
//! that knows nothing of tunnels, on the same frames: what a program declares should cost nothing, only what it does.
//! Frames to be taken out of tunnels are those that the program has put in.

use crate::Arguments;
use crate::compiled;
use crate::contest::LENT_FRAMES_MAX;
use base::Rng;
use live::traffic::udp_frame;
use measure::figures::{median, range};
use measure::memory;
use measure::traffic::{Lent, Trace};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use switch::{Output, Switch};

/// The program.
const TUNNELS: &str = "bench/programs/tunnels.p4";

/// One with the same table and no tunnels.
const BRIDGE: &str = "bench/programs/bridge.p4";

/// What the program does with a frame for each address, whose last byte is the position here.
const ENTRIES: [&str; 5] = [
    "forward {address} => 2",
    "into_vxlan {address} => 77 02:00:00:00:00:03 192.0.2.1 192.0.2.2 2",
    "out_of_vxlan {address} => 2",
    "into_gre {address} => 02:00:00:00:00:05 192.0.2.1 192.0.2.2 2",
    "out_of_gre {address} => 02:00:00:00:00:01 2",
];

/// Work that is measured.
struct Work {
    name: &'static str,
    switch: Switch,
    lent: Lent,
    packet_ns: Vec<f64>,
}

/// Keeps what is sent.
#[derive(Default)]
struct Sent(Vec<Vec<u8>>);

impl Output for Sent {
    fn transmit(&mut self, _port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push(frame.to_vec());
    }
}

/// Measures all work in turn and prints what a packet costs.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut all = work(arguments)?;
    let rounds = (arguments.packets as usize).div_ceil(arguments.destinations as usize);
    for _ in 0..arguments.runs {
        for Work { name, switch, lent, packet_ns } in &mut all {
            let pass = memory::drive(switch, lent, LENT_FRAMES_MAX, rounds, || 0);
            if pass.sent != pass.packets {
                return Err(format!("{name}: {} of {} packets were sent", pass.sent, pass.packets).into());
            }
            packet_ns.push(pass.packet_ns());
        }
    }
    if arguments.json {
        let works: serde_json::Map<_, _> = all.iter().map(|it| (it.name.to_owned(), json!(it.packet_ns))).collect();
        println!("{}", json!({ "benchmark": "tunnels", "frames": arguments.destinations, "packet_ns": works }));
        return Ok(());
    }
    println!("tunnels, {} frames of 60 bytes before they are put in one", arguments.destinations);
    for Work { name, packet_ns, .. } in &all {
        let (least, greatest) = range(packet_ns);
        println!("  {name:<28} {:>6.1} ns per packet  ({least:.1} to {greatest:.1})", median(packet_ns));
    }
    Ok(())
}

fn work(arguments: &Arguments) -> Result<Vec<Work>, Box<dyn Error>> {
    let tunnels = || {
        let entry = |(number, text): (usize, &&str)| {
            format!("table_add address {}\n", text.replace("{address}", &format!("02:00:00:00:00:0{}", number + 1)))
        };
        with_entries(TUNNELS, &ENTRIES.iter().enumerate().map(entry).collect::<String>())
    };
    let bridge = with_entries(BRIDGE, "table_add address forward 02:00:00:00:00:01 => 2\n")?;
    let plain = |address| frames(arguments.destinations, address);
    let (in_vxlan, in_gre) = (sent(&mut tunnels()?, &plain(2)), sent(&mut tunnels()?, &plain(4)));
    let work = |name, switch, frames: &[Vec<u8>]| {
        let mut trace = Trace::default();
        frames.iter().all(|frame| trace.push(1, frame)).then_some(()).ok_or("too many frames for the memory")?;
        Ok(Work { name, switch, lent: Lent::of(&trace, usize::MAX, 1), packet_ns: Vec::new() })
    };
    [
        work("bridge without tunnels", bridge, &plain(1)),
        work("forwarded", tunnels()?, &plain(1)),
        work("put into VXLAN", tunnels()?, &plain(2)),
        work("taken out of VXLAN", tunnels()?, &in_vxlan),
        work("put into GRE", tunnels()?, &plain(4)),
        work("taken out of GRE", tunnels()?, &in_gre),
    ]
    .into_iter()
    .collect()
}

fn with_entries(path: &str, entries: &str) -> Result<Switch, Box<dyn Error>> {
    let program = Arc::new(compiled::program(path)?);
    compiled::switch(&program, compiled::native(&program)?, entries)
}

/// Frames to an address, to random hosts behind it.
fn frames(count: u32, address: u8) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(1);
    let frame = |number| {
        let mut frame = udp_frame(10 << 24 | rng.below(1 << 24) as u32, 64, number);
        frame[5] = address;
        frame
    };
    (0..count).map(frame).collect()
}

/// What a switch makes of frames.
fn sent(switch: &mut Switch, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut sent = Sent::default();
    for frame in frames {
        switch.receive(0, 1, frame);
        switch.run(0, &mut sent);
    }
    sent.0
}
