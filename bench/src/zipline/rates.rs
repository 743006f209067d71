//! The paper's Figure 4: the rate at which a switch forwards with no operation, encoding and decoding, with frames of
//! 64, 1,500 and 9,000 bytes.
//!
//! What enters: frames and bases as in the other ZipLine benchmarks. What leaves: a line for each size and operation,
//! from memory to memory on one core: nanoseconds per packet, packets and bits per second. Sizes are those of frames
//! at the encoder's input, with their check sequence. The decoder's input is the encoder's output, and is counted
//! with the size that it has after decoding.
//!
//! The bytes after the chunk are not copied, so with large frames these are the rates of the programs, which no
//! network could carry; [`interfaces`](super::interfaces) measures the same between interfaces.

use super::{M, Traffic};
use crate::Arguments;
use crate::works::{self, Work};
use serde_json::json;
use std::error::Error;

/// Frame sizes in bytes with their check sequence of four bytes, as in the paper.
pub const SIZES: [usize; 3] = [64, 1_500, 9_000];
/// The size of a frame's check sequence, which the frames here do not include.
pub const CHECKSUM_BYTES: usize = 4;

/// The most bytes of all frames of a size: they fit into the last-level cache of a core.
const TRACE_BYTES_MAX: usize = 16 << 20;

/// The bytes that a frame takes on a link in addition: preamble, start delimiter and gap.
const WIRE_BYTES: usize = 20;

/// Bits per second on a link for frames of this size, with their check sequence.
pub fn wire_bits(packets: f64, size: usize) -> f64 {
    packets * 8.0 * (size + WIRE_BYTES) as f64
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.picture_of {
        return super::picture::print_rates(path);
    }
    if !arguments.json {
        println!("bytes,operation,ns per packet,least,greatest,million packets per second,Gbit/s");
    }
    for size in SIZES {
        let count = (arguments.destinations as usize).min(TRACE_BYTES_MAX / size);
        let traffic = Traffic::new(arguments.routes, count, size - CHECKSUM_BYTES)?;
        let (frames, compressed) = (&traffic.frames, works::sent(&mut traffic.encoder()?, &traffic.frames));
        if works::sent(&mut traffic.decoder()?, &compressed) != *frames {
            return Err("what was decoded is not what was encoded".into());
        }
        let all = vec![
            Work::new("no operation", super::bridge()?, frames)?,
            Work::new("encoding", traffic.encoder()?, frames)?,
            Work::new("decoding", traffic.decoder()?, &compressed)?,
        ];
        for (operation, (middle, least, greatest)) in works::medians(arguments, all)? {
            let packets = 1e9 / middle;
            let bits = wire_bits(packets, size);
            if arguments.json {
                let line = json!({
                    "benchmark": "zipline-rates", "m": M, "bytes": size, "operation": operation, "packet_ns": middle,
                    "least_ns": least, "greatest_ns": greatest, "packets_per_second": packets, "bits_per_second": bits,
                });
                println!("{line}");
            } else {
                let (millions, gigabits) = (packets / 1e6, bits / 1e9);
                println!("{size},{operation},{middle:.1},{least:.1},{greatest:.1},{millions:.2},{gigabits:.2}");
            }
        }
    }
    Ok(())
}
