//! How much memory the packets of a simulation may need.
//!
//! What enters: the arguments, and the memory that the system reports. What leaves: a limit for each run, so that a
//! link without a limit which gets more than its rate ends the run with a message, before the system ends it without.

use crate::Exit;
use crate::sim::{SimArguments, jobs};
use crate::terminal;
use scenario::{Simulation, TooManyPackets};
use std::fs;

/// What packets may need where the system does not report how much memory is free.
const UNKNOWN_BYTES: u64 = 4 << 30;

/// Limits the packets of a run to `--packet-memory`, or to its part of half the memory that is free now.
pub fn limit(simulation: &mut Simulation, arguments: &SimArguments) {
    let bytes = arguments.packet_memory.map_or_else(
        || {
            let has_several = arguments.seeds.is_some() || !arguments.sweep.is_empty();
            let runs = if has_several { jobs::at_once(arguments, usize::MAX) } else { 1 };
            available_bytes() / 2 / runs as u64
        },
        |mebibytes| mebibytes << 20,
    );
    simulation.network.limit_packets(bytes);
}

/// Reports why a run cannot end.
pub fn report(fault: &TooManyPackets) -> Exit {
    terminal::error(format!("{fault}; --packet-memory lets them have more"));
    Exit::BadInput
}

/// Bytes that programs can get without others losing theirs (proc_meminfo(5)).
fn available_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    kibibytes(&text).map_or(UNKNOWN_BYTES, |kibibytes| kibibytes << 10)
}

fn kibibytes(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read() {
        assert_eq!(kibibytes("MemTotal:  24 kB\nMemAvailable:    22883 kB\n"), Some(22_883));
        assert_eq!(kibibytes("MemTotal:  24 kB\n"), None);
    }
}
