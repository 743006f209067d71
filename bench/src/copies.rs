//! The cost of packets that are copied or take another pass: one program for each operation, from memory to memory on
//! one core, with frames of 64 and of 1,500 bytes.
//!
//! What enters: the number of frames. What leaves: nanoseconds per frame of each operation, and how much longer a frame
//! takes than one that is only forwarded, for each operation that happens: where it happens to one frame in 16 or in
//! 1,024, that is the cost for this frame and its neighbours.

mod picture;

use crate::Arguments;
use crate::works::{self, Work};
use live::traffic::udp_frame;
use serde_json::json;
use std::error::Error;

/// The program.
const COPIES: &str = "bench/programs/copies.p4";

/// Clones go to port 3; a multicast group has the ports 2 and 3.
const ENTRIES: &str = "mirroring_add 5 3\nmc_mgrp_create 1\nmc_node_create 0 2 3\nmc_node_associate 1 0\n";

/// Lengths of frames in bytes, without their checksum.
const LENGTHS_BYTES: [usize; 2] = [60, 1_496];

/// An operation of the program.
struct Operation {
    name: &'static str,
    /// Its number in the program.
    number: u32,
    /// It happens to one frame in this many, a power of two.
    one_in: u32,
    /// Frames that leave where it happens.
    sent: u64,
}

const OPERATIONS: [Operation; 12] = [
    Operation { name: "forwarded", number: 0, one_in: 1, sent: 1 },
    Operation { name: "recirculated", number: 1, one_in: 1, sent: 1 },
    Operation { name: "recirculated twice", number: 2, one_in: 1, sent: 1 },
    Operation { name: "resubmitted", number: 3, one_in: 1, sent: 1 },
    Operation { name: "cloned in ingress", number: 4, one_in: 1, sent: 2 },
    Operation { name: "cloned in egress", number: 5, one_in: 1, sent: 2 },
    Operation { name: "two replicas", number: 6, one_in: 1, sent: 2 },
    Operation { name: "digest", number: 7, one_in: 1, sent: 1 },
    Operation { name: "truncated", number: 8, one_in: 1, sent: 1 },
    Operation { name: "1 in 16 recirculated", number: 1, one_in: 16, sent: 1 },
    Operation { name: "1 in 16 cloned in ingress", number: 4, one_in: 16, sent: 2 },
    Operation { name: "1 in 1024 cloned in ingress", number: 4, one_in: 1_024, sent: 2 },
];

/// Measures all operations in turn and prints their costs.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &arguments.picture_of {
        return picture::print(file);
    }
    // Where an operation happens to a part of the frames, it is to be the part that was meant.
    let frames = arguments.destinations.next_multiple_of(1_024).min(65_536);
    for bytes in LENGTHS_BYTES {
        let frames: Vec<Vec<u8>> = (0..frames).map(|number| frame(number, bytes)).collect();
        let operations: Vec<&Operation> = OPERATIONS.iter().filter(|it| it.is_selected(arguments)).collect();
        let works = operations.iter().map(|operation| operation.work(&frames)).collect::<Result<_, _>>()?;
        show(arguments, bytes, frames.len(), &operations, &works::medians(arguments, works)?);
    }
    Ok(())
}

impl Operation {
    /// Whether it is selected; forwarding, which all are compared with, always is.
    fn is_selected(&self, arguments: &Arguments) -> bool {
        self.number == 0 || arguments.only.as_ref().is_none_or(|only| self.name.contains(only.as_str()))
    }

    fn work(&self, frames: &[Vec<u8>]) -> Result<Work, Box<dyn Error>> {
        let macros = [("OPERATION", self.number.to_string()), ("MASK", (self.one_in - 1).to_string())];
        let switch = works::switch(COPIES, &macros, ENTRIES)?;
        let happens = frames.len() as u64 / u64::from(self.one_in);
        Work::sending(self.name, switch, frames, frames.len() as u64 + happens * (self.sent - 1))
    }
}

fn frame(number: u32, bytes: usize) -> Vec<u8> {
    let mut frame = udp_frame(0x0a00_0001, 64, number);
    frame.resize(bytes, 0);
    frame
}

fn show(arguments: &Arguments, bytes: usize, frames: usize, operations: &[&Operation], medians: &works::Medians) {
    let forwarded_ns = medians.first().map_or(0.0, |(_, (middle, ..))| *middle);
    if !arguments.json {
        println!("frames of {bytes} bytes, {frames} frames");
    }
    for (operation, (name, (middle, least, greatest))) in operations.iter().zip(medians) {
        let more_ns = (middle - forwarded_ns) * f64::from(operation.one_in);
        if arguments.json {
            let figures = json!({
                "benchmark": "copies", "bytes": bytes, "operation": name, "packet_ns": middle, "least_ns": least,
                "greatest_ns": greatest, "operation_ns": more_ns,
            });
            println!("{figures}");
        } else {
            println!(
                "  {name:<28} {middle:>7.1} ns per frame  ({least:.1} to {greatest:.1})  {more_ns:>7.1} ns each time"
            );
        }
    }
}
