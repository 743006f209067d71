//! Measures what a switch costs per packet. `wirespeed bench` and the project's own benchmarks share this code.
//!
//! What enters: a switch and packets. What leaves: figures of runs. The crate does not depend on programs' sources,
//! on command-line arguments or on a terminal.
//!
//! * [`traffic`]: packets in memory, from captures or generated from a description, as bursts.
//! * [`memory`]: runs from memory to memory, with one worker or several; latencies; stages of the core.
//! * [`veth`]: runs between two pairs of virtual interfaces, with any driver that can carry their frames.
//! * [`events`]: hardware performance counters of a thread, where they are available.
//! * [`figures`], [`histogram`]: statistics.

pub mod events;
pub mod figures;
pub mod histogram;
pub mod memory;
pub mod traffic;
pub mod veth;
