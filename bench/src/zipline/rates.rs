//! The paper's Figure 4: what a switch forwards in a second with no operation, encoding and decoding, with frames
//! of 64, 1,500 and 9,000 bytes.
//!
//! What enters: frames and bases as in the benchmark beside. What leaves: a line for each size and operation, from
//! memory to memory on one core: nanoseconds per packet, packets and bits in a second. Sizes are those of frames as
//! they come into the encoder, with their checksum; what is decoded is what the encoder has sent, and counts with
//! the size that it has then again.
//!
//! Nothing copies what stands behind the chunk, so with large frames this is what the programs would let through, and
//! no network could carry it; [`interfaces`](super::interfaces) has the same between interfaces.

use super::{M, Traffic};
use crate::Arguments;
use crate::works::{self, Work};
use serde_json::json;
use std::error::Error;

/// Bytes of frames with their checksum of four bytes, as in the paper.
pub const SIZES: [usize; 3] = [64, 1_500, 9_000];
/// Bytes of a frame's checksum, which is not in the frames here.
pub const CHECKSUM_BYTES: usize = 4;

/// Bytes of all frames of a size, at most: they fit the last cache of a core.
const TRACE_BYTES_MAX: usize = 16 << 20;

/// What stands in a frame's way on the wire besides: preamble, start and gap.
const WIRE_BYTES: usize = 20;

/// Bits that frames of this size, with their checksum, are on a wire.
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
