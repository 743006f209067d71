//! The cost of an action selector: a router with one hop for each route, and with a group of hops from which a hash
//! of the flow selects one, from memory to memory on one core.
//!
//! What enters: the numbers of routes and of frames. What leaves: nanoseconds per packet of each, and the ratio to
//! the router without a selector.

use crate::Arguments;
use crate::router;
use crate::works::{self, Work};
use base::Rng;
use live::traffic::Routes;
use std::error::Error;
use std::fmt::Write as _;

/// The program.
const BALANCE: &str = "bench/programs/balance.p4";

/// The contestants with a selector: the name, the hash algorithm, and the number of hops in a group.
const BALANCED: [(&str, &str, u32); 5] = [
    ("a group of one hop, crc16", "crc16", 1),
    ("4 hops, crc16", "crc16", 4),
    ("16 hops, crc16", "crc16", 16),
    ("4 hops, crc32", "crc32", 4),
    ("4 hops, csum16", "csum16", 4),
];

/// Measures all in turn and prints the cost of a packet.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1);
    let routes = Routes::everywhere(arguments.routes, 2..=4, &mut rng);
    let frames: Vec<Vec<u8>> =
        router::frames(&routes, arguments.destinations, &mut rng).frames().map(<[u8]>::to_vec).collect();
    let alone = works::switch(BALANCE, &[], &routes.commands())?;
    let mut all = vec![Work::new("one hop for each route", alone, &frames)?];
    for (name, algorithm, hops) in BALANCED {
        let macros = [("BALANCED", String::new()), ("ALGORITHM", algorithm.to_owned())];
        all.push(Work::new(name, works::switch(BALANCE, &macros, &groups(&routes, hops))?, &frames)?);
    }
    works::measure(arguments, "balance", &format!("router with groups of hops, {} routes", arguments.routes), all)
}

/// The routes, all of which use one group with this many hops.
fn groups(routes: &Routes, hops: u32) -> String {
    let mut text = String::from("act_prof_create_group hops\n");
    for hop in 0..hops {
        let port = 2 + hop % 3;
        let _ = writeln!(
            text,
            "act_prof_create_member hops forward {port} 02:00:00:00:00:{hop:02x} 02:00:00:00:01:{hop:02x}"
        );
        let _ = writeln!(text, "act_prof_add_member_to_group hops {hop} 0");
    }
    for route in &routes.0 {
        let [a, b, c, d] = route.network.to_be_bytes();
        let _ = writeln!(text, "table_indirect_add_with_group route {a}.{b}.{c}.{d}/{} => 0", route.prefix_len);
    }
    text
}
