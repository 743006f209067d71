//! A plain bridge from memory to memory on one core: exact match of addresses.

use crate::Arguments;
use crate::compiled;
use crate::contest::{Contest, STRIDE_BYTES};
use crate::limit::{Frames, Limit};
use base::Rng;
use live::traffic::udp_frame;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use wirespeed::Backend;

/// Runs the contestants in turn and prints the cost of a packet for each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let mut known = BTreeMap::new();
    while known.len() < arguments.routes as usize {
        // Addresses of stations: they are not group addresses, and not zero.
        let address = (rng.next_u64() >> 16) & !(1 << 40) | 1 << 41;
        known.insert(address, rng.between(2, 4) as u32);
    }
    let addresses: Vec<(u64, u32)> = known.into_iter().collect();
    let path = arguments.program.as_deref().unwrap_or("bench/programs/bridge.p4");
    let program = compiled::program(path)?;
    let commands = commands(&addresses);
    let contest = Contest {
        benchmark: "bridge",
        title: format!("bridge, {} addresses", arguments.routes),
        program: path,
        frames: frames(&addresses, arguments.destinations, &mut rng),
        native: compiled::switch(&program, Backend::Native, &commands)?,
        interpreter: compiled::switch(&program, Backend::Interpreter, &commands)?,
        limit: Limit::bridge(&addresses)?,
    };
    contest.run(arguments)
}

/// The addresses as switch commands.
fn commands(addresses: &[(u64, u32)]) -> String {
    addresses.iter().fold(String::new(), |mut text, (address, port)| {
        let _ = writeln!(text, "table_add address forward {address:#x} => {port}");
        text
    })
}

/// Frames to random stations; one in twenty has an unknown destination.
fn frames(addresses: &[(u64, u32)], count: u32, rng: &mut Rng) -> Frames {
    let mut bytes = Vec::with_capacity(count as usize * STRIDE_BYTES);
    for number in 0..count {
        let (address, _) = rng.pick(addresses);
        let address = if number.is_multiple_of(20) { address & !(1 << 41) } else { *address };
        let mut frame = udp_frame(number, 64, number);
        frame[..6].copy_from_slice(&address.to_be_bytes()[2..]);
        bytes.extend(frame);
        bytes.resize((number as usize + 1) * STRIDE_BYTES, 0);
    }
    Frames { bytes, stride: STRIDE_BYTES }
}
