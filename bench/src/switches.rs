//! Many switches of one program in one process, as a simulator has them: what each costs to make and to hold.
//!
//! What enters: a program. What leaves, for native code and for the interpreter: the time to make a switch, the memory
//! that it holds when it is new, and after a burst of 64 packets. Memory is what the process has resident, so it is
//! measured while all switches live; the native ones live on while the others are made.

use crate::Arguments;
use crate::compiled;
use base::limits::BURST_PACKETS_MAX;
use live::traffic::udp_frame;
use serde_json::json;
use std::error::Error;
use std::time::Instant;
use switch::Output;
use wirespeed::{Backend, Program};

/// What a switch costs.
struct Cost {
    make_ms: f64,
    new_kb: f64,
    /// After a burst of packets.
    used_kb: f64,
}

/// Makes the switches and prints the cost of each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let path = arguments.program.as_deref().unwrap_or("bench/programs/router.p4");
    let program = compiled::program(path)?;
    let mut switches = Vec::new();
    if !arguments.json {
        println!("{} switches of {path}", arguments.switches);
    }
    for (name, backend) in [("native", Backend::Native), ("interpreter", Backend::Interpreter)] {
        let Cost { make_ms, new_kb, used_kb } = cost(&program, backend, arguments.switches, &mut switches)?;
        if arguments.json {
            let figures = json!({"make_ms": make_ms, "new_kb": new_kb, "used_kb": used_kb});
            println!("{}", json!({"benchmark": "switches", "program": path, "backend": name, "each": figures}));
        } else {
            println!("{name:<12} {make_ms:>7.3} ms to make, {new_kb:>7.1} kB new, {used_kb:>7.1} kB after a burst");
        }
    }
    Ok(())
}

fn cost(
    program: &Program,
    backend: Backend,
    count: u32,
    switches: &mut Vec<switch::Switch>,
) -> Result<Cost, Box<dyn Error>> {
    // The first compiles the program.
    switches.push(compiled::switch(program, backend, "")?);
    let first = switches.len();
    switches.reserve(count as usize);
    let (before_kb, start) = (resident_kb()?, Instant::now());
    for _ in 0..count {
        switches.push(compiled::switch(program, backend, "")?);
    }
    let (make_ms, new_kb) = (start.elapsed().as_secs_f64() * 1e3, resident_kb()?);
    let frame = udp_frame(0x0a00_0001, 64, 0);
    for switch in &mut switches[first..] {
        switch.receive_burst(0, 1, &[&frame[..]; BURST_PACKETS_MAX]);
        switch.run(0, &mut Nowhere);
    }
    let each = |kb: f64| (kb - before_kb) / f64::from(count);
    Ok(Cost { make_ms: make_ms / f64::from(count), new_kb: each(new_kb), used_kb: each(resident_kb()?) })
}

/// What the process has in memory.
pub fn resident_kb() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

struct Nowhere;

impl Output for Nowhere {
    fn transmit(&mut self, _port: u32, _frame: &[u8], _time_ns: u64) {}
}
