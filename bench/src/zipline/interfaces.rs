//! The paper's Figure 4 between interfaces: the rate at which a switch forwards from one pair of virtual interfaces
//! to another with no operation, encoding and decoding, with frames of 64, 1,500 and 9,000 bytes, through AF_XDP and
//! packet sockets.
//!
//! What enters: bases as in the other ZipLine benchmarks. What leaves: a line for each size, operation and carrier:
//! processor time per frame of the switch, including its system calls, and of the sender; and the packets and bits
//! per second of one core that follow from the first. [`measure::veth`] describes the method. A run has a fixed
//! number of frames, and the interfaces are deleted afterwards. Sizes are those of frames at the encoder's input,
//! with their check sequence. Requires root and `ip`. A carrier that does not support a size on this machine is left
//! out, with a message.

use super::rates::{CHECKSUM_BYTES, SIZES, wire_bits};
use super::{M, Traffic};
use crate::Arguments;
use crate::progress::Progress;
use crate::works;
use measure::figures::{median, range};
use measure::veth::{Carrier, Failure, Outcome, Pairs};
use serde_json::json;
use std::error::Error;
use switch::Switch;

/// Distinct frames of a size.
const FRAMES: usize = 1024;

/// The carriers of frames and their names here.
const CARRIERS: [(Carrier, &str); 2] = [(Carrier::Xdp, "AF_XDP"), (Carrier::PacketSocket, "AF_PACKET")];

/// A switch with one operation, and its frames.
struct Operation {
    name: &'static str,
    switch: Switch,
    frames: Vec<Vec<u8>>,
}

/// The runs of an operation with a carrier.
struct Contestant {
    operation: usize,
    carrier: Carrier,
    name: &'static str,
    outcomes: Vec<Outcome>,
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_rates(path);
    }
    if !arguments.json {
        println!(
            "bytes,operation,carrier,switch's ns per packet,least,greatest,sender's,\
             million packets per second,Gbit/s"
        );
    }
    let progress = Progress::new("runs", SIZES.len() * arguments.runs);
    for size in SIZES {
        let mut operations = operations(arguments, size)?;
        let pairs = Pairs::with_frames_of(size)?;
        let works = |&(carrier, name): &(Carrier, &'static str)| works_here(&pairs, carrier, name, &mut operations[0]);
        let carriers: Vec<_> = CARRIERS.into_iter().filter(works).collect();
        let of = |operation| carriers.iter().map(move |&(carrier, name)| (operation, carrier, name));
        let contestant = |(operation, carrier, name)| Contestant { operation, carrier, name, outcomes: Vec::new() };
        let mut contestants: Vec<Contestant> = (0..operations.len()).flat_map(of).map(contestant).collect();
        for _ in 0..arguments.runs {
            for contestant in &mut contestants {
                let outcome = measure(&pairs, contestant.carrier, &mut operations[contestant.operation])?;
                contestant.outcomes.push(outcome);
            }
            progress.step();
        }
        contestants.iter().for_each(|it| print(arguments, size, operations[it.operation].name, it));
    }
    Ok(())
}

/// The operations with frames of a size.
fn operations(arguments: &Arguments, size: usize) -> Result<Vec<Operation>, Box<dyn Error>> {
    let traffic = Traffic::new(arguments.routes, FRAMES, size - CHECKSUM_BYTES)?;
    let compressed = works::sent(&mut traffic.encoder()?, &traffic.frames);
    if works::sent(&mut traffic.decoder()?, &compressed) != traffic.frames {
        return Err("what was decoded is not what was encoded".into());
    }
    let operation = |name, switch, frames: &[Vec<u8>]| Operation { name, switch, frames: frames.to_vec() };
    Ok(vec![
        operation("no operation", super::bridge()?, &traffic.frames),
        operation("encoding", traffic.encoder()?, &traffic.frames),
        operation("decoding", traffic.decoder()?, &compressed),
    ])
}

/// Whether a carrier supports such frames; prints the reason if it does not.
fn works_here(pairs: &Pairs, carrier: Carrier, name: &str, operation: &mut Operation) -> bool {
    match measure(pairs, carrier, operation) {
        Ok(_) => true,
        Err(failure) => {
            eprintln!("{name} is left out: {failure}");
            false
        }
    }
}

fn measure(pairs: &Pairs, carrier: Carrier, operation: &mut Operation) -> Result<Outcome, Failure> {
    let frames: Vec<&[u8]> = operation.frames.iter().map(Vec::as_slice).collect();
    let outcome = pairs.measure(carrier, &mut operation.switch, 1, &frames)?;
    // The system also sends a few frames of its own on an interface, which the switch drops.
    match outcome.sent < outcome.received * 99 / 100 {
        true => Err(Failure::Lost { received: outcome.sent as usize, sent: outcome.received as usize }),
        false => Ok(outcome),
    }
}

fn print(arguments: &Arguments, size: usize, operation: &str, contestant: &Contestant) {
    let figures = |of: fn(&Outcome) -> f64| contestant.outcomes.iter().map(of).collect::<Vec<f64>>();
    let (switch_ns, sender_ns) = (figures(|it| it.switch_ns), median(&figures(|it| it.sender_ns)));
    let (middle, (least, greatest)) = (median(&switch_ns), range(&switch_ns));
    let packets = 1e9 / middle;
    let bits = wire_bits(packets, size);
    let carrier = contestant.name;
    if arguments.json {
        let line = json!({
            "benchmark": "zipline-interfaces", "m": M, "bytes": size, "operation": operation, "carrier": carrier,
            "switch_ns": middle, "least_ns": least, "greatest_ns": greatest, "sender_ns": sender_ns,
            "packets_per_second": packets, "bits_per_second": bits,
        });
        return println!("{line}");
    }
    let (millions, gigabits) = (packets / 1e6, bits / 1e9);
    println!(
        "{size},{operation},{carrier},{middle:.0},{least:.0},{greatest:.0},{sender_ns:.0},{millions:.3},{gigabits:.2}"
    );
}
