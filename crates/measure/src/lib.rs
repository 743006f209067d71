//! What a switch costs per packet: the one code behind `wirespeed bench` and the project's own benchmarks.
//!
//! What enters: a switch, packets. What leaves: figures of runs. Nothing here knows of programs' sources, of arguments
//! or of a terminal.
//!
//! * [`traffic`]: packets in memory, from captures or made by a description, as bursts.
//! * [`memory`]: runs from memory to memory, with one worker or several; latencies; stages of the core.
//! * [`veth`]: runs between two pairs of virtual interfaces, by any driver that can carry their frames.
//! * [`events`]: what the processor counts of a thread, where it lets us.
//! * [`figures`], [`histogram`]: many figures as few.

pub mod events;
pub mod figures;
pub mod histogram;
pub mod memory;
pub mod traffic;
pub mod veth;
