//! The cost of tunnels: one program that forwards frames, encapsulates them in VXLAN or GRE packets and decapsulates
//! them again, from memory to memory on one core, each kind of work separately.
//!
//! What enters: the number of frames. What leaves: nanoseconds per packet of each kind of work, beside those of a
//! bridge without tunnels on the same frames (declarations that a packet does not use should cost nothing), and those
//! of hand-written C for VXLAN (`peers/vxlan.c`), whose output must be the same for each frame. The frames to be
//! decapsulated are those that the program has encapsulated.

use crate::Arguments;
use crate::limit::{OUTER_BYTES, Resizing};
use crate::works::{self, Work};
use base::Rng;
use live::traffic::udp_frame;
use std::error::Error;

/// The program.
const TUNNELS: &str = "bench/programs/tunnels.p4";

/// A program with the same table and no tunnels.
const BRIDGE: &str = "bench/programs/bridge.p4";

/// The program's action for each address, whose last byte is the position in this list.
const ENTRIES: [&str; 5] = [
    "forward {address} => 2",
    "into_vxlan {address} => 77 02:00:00:00:00:03 192.0.2.1 192.0.2.2 2",
    "out_of_vxlan {address} => 2",
    "into_gre {address} => 02:00:00:00:00:05 192.0.2.1 192.0.2.2 2",
    "out_of_gre {address} => 02:00:00:00:00:01 2",
];

/// The headers that `into_vxlan` adds before a frame, without its source address, lengths and the checksum.
const OUTER: [u8; OUTER_BYTES] = [
    2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 8, 0, // Ethernet
    0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, // IPv4
    0xc0, 0, 0x12, 0xb5, 0, 0, 0, 0, // UDP
    8, 0, 0, 0, 0, 0, 77, 0, // VXLAN
];

/// Measures all kinds of work in turn and prints the cost of a packet.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let entry = |(number, text): (usize, &&str)| {
        format!("table_add address {}\n", text.replace("{address}", &format!("02:00:00:00:00:0{}", number + 1)))
    };
    let entries: String = ENTRIES.iter().enumerate().map(entry).collect();
    let tunnels = || works::switch(TUNNELS, &[], &entries);
    let bridge = works::switch(BRIDGE, &[], "table_add address forward 02:00:00:00:00:01 => 2\n")?;
    let plain = |address| frames(arguments.destinations, address);
    let in_vxlan = works::sent(&mut tunnels()?, &plain(2));
    let in_gre = works::sent(&mut tunnels()?, &plain(4));
    let all = vec![
        Work::new("bridge without tunnels", bridge, &plain(1))?,
        Work::new("forwarded", tunnels()?, &plain(1))?,
        Work::new("put into VXLAN", tunnels()?, &plain(2))?,
        by_hand("put into VXLAN by hand", &plain(2), &in_vxlan)?,
        Work::new("taken out of VXLAN", tunnels()?, &in_vxlan)?,
        by_hand("taken out of VXLAN by hand", &in_vxlan, &plain(2))?,
        Work::new("put into GRE", tunnels()?, &plain(4))?,
        Work::new("taken out of GRE", tunnels()?, &in_gre)?,
    ];
    works::measure(arguments, "tunnels", "tunnels, around frames of 60 bytes", all)
}

/// VXLAN in hand-written C, with the addresses of [`ENTRIES`]. Its output for the frames must be `expected`.
fn by_hand(name: &'static str, frames: &[Vec<u8>], expected: &[Vec<u8>]) -> Result<Work, Box<dyn Error>> {
    let hand = Resizing::vxlan(frames)?;
    hand.tunnel(0x0200_0000_0002, Some(&OUTER), 2)?;
    hand.tunnel(0x0200_0000_0003, None, 2)?;
    hand.into_work(name, expected)
}

/// Frames to an address, from random hosts.
fn frames(count: u32, address: u8) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(1);
    let frame = |number| {
        let mut frame = udp_frame(10 << 24 | rng.below(1 << 24) as u32, 64, number);
        frame[5] = address;
        frame
    };
    (0..count).map(frame).collect()
}
