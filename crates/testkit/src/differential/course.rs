//! The programs of the corpus under hostile packets: random, truncated and changed ones, on unexpected ports.

use super::BuildFolder;

use crate::corpus::{Case, cases, groups};
use crate::pipeline::{Engine, optimised, program_of_file, switch_for};
use base::Rng;
use ir::Program;
use std::sync::Arc;
use stf::observation::{Observation, Order, difference};
use stf::{Command, Script};
use switch::Switch;

/// The most changes of a packet.
const CHANGES_MAX: u64 = 4;

/// The longest random packet.
const NOISE_BYTES_MAX: u64 = 300;

/// Hostile packets for each packet of a script.
const PACKETS_FOR_EACH: u64 = 4;

/// Packets that arrive together at the end.
const LAST_BURST: u64 = 64;

/// Checks that a random program of the corpus behaves the same on both backends, whatever packets it receives.
pub fn hostile_packets(rng: &mut Rng) -> Result<(), String> {
    let cases: Vec<Case> = groups().iter().flat_map(|group| cases(group)).collect();
    let case = rng.pick(&cases).clone();
    hostile_packets_for(rng, &case)
}

/// The same for one program.
pub fn hostile_packets_for(rng: &mut Rng, case: &Case) -> Result<(), String> {
    let folder = BuildFolder::new(rng.chance(1, 2))?;
    let program = program_of_file(&case.program)?;
    let program = Arc::new(if rng.chance(1, 2) { optimised(&program)? } else { program });
    let script = rng.pick(&case.scripts);
    let text = std::fs::read_to_string(script).map_err(|error| format!("{}: {error}", script.display()))?;
    let script = stf::parse(&script.display().to_string(), &text).map_err(|errors| errors[0].to_string())?;
    let hostile = hostile_script(rng, &script);
    let burst: Vec<(u32, Vec<u8>)> = (0..LAST_BURST).map(|_| hostile_packet(rng, &hostile)).collect();
    let expected = observe(case, &program, &Engine::Interpreter, &hostile, &burst)?;
    let found = observe(case, &program, &folder.engine(), &hostile, &burst)?;
    match difference(&expected, &found, Order::Any) {
        None => Ok(()),
        Some(text) => Err(format!("{}: interpreter and native code differ: {text}", case.program.display())),
    }
}

fn observe(
    case: &Case,
    program: &Arc<Program>,
    engine: &Engine,
    script: &Script,
    burst: &[(u32, Vec<u8>)],
) -> Result<Observation, String> {
    let mut switch = switch_for(program, engine)?;
    if let Some(entries) = &case.entries {
        let commands = control::load_entries(entries, program).map_err(|errors| errors[0].to_string())?;
        control::apply_all(&mut switch, &commands).map_err(|errors| errors[0].to_string())?;
    }
    // The state of the switch is observed at the end.
    let Observation { sent, messages, .. } = stf::run(script, &mut switch).observation;
    let mut observation = Observation { sent, messages, ..Observation::default() };
    let now_ns = switch.now_ns() + 1_000_000;
    for (port, bytes) in burst {
        if switch.receive(now_ns, *port, bytes) {
            switch.run(now_ns, &mut observation);
        }
    }
    finish(&mut switch, now_ns, &mut observation);
    observation.look_at(&mut switch);
    Ok(observation)
}

fn finish(switch: &mut Switch, now_ns: u64, observation: &mut Observation) {
    switch.run(now_ns, observation);
    while let Some(next_ns) = switch.next_event_ns() {
        switch.run(next_ns, observation);
    }
}

/// The script's commands with hostile packets instead of its own.
fn hostile_script(rng: &mut Rng, script: &Script) -> Script {
    let mut commands = Vec::new();
    for (line, command) in &script.commands {
        match command {
            Command::Packet { .. } => {
                commands.push((*line, command.clone()));
                for _ in 0..PACKETS_FOR_EACH {
                    let (port, bytes) = hostile_packet(rng, script);
                    commands.push((*line, Command::Packet { port, bytes }));
                }
            }
            Command::Expect { .. } | Command::NoPacket | Command::CheckCounter { .. } => {}
            other => commands.push((*line, other.clone())),
        }
    }
    Script { file: Arc::clone(&script.file), commands }
}

fn hostile_packet(rng: &mut Rng, script: &Script) -> (u32, Vec<u8>) {
    let packets: Vec<(u32, &Vec<u8>)> = script
        .commands
        .iter()
        .filter_map(|(_, command)| match command {
            Command::Packet { port, bytes } => Some((*port, bytes)),
            _ => None,
        })
        .collect();
    if packets.is_empty() || rng.chance(1, 8) {
        let mut noise = vec![0; rng.below(NOISE_BYTES_MAX) as usize];
        rng.fill(&mut noise);
        return (rng.below(511) as u32, noise);
    }
    let (port, bytes) = *rng.pick(&packets);
    let mut bytes = bytes.clone();
    for _ in 0..rng.below(CHANGES_MAX) {
        change(rng, &mut bytes);
    }
    (if rng.chance(1, 8) { rng.below(511) as u32 } else { port }, bytes)
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let position = rng.below(bytes.len() as u64 + 1) as usize;
    match rng.below(5) {
        0 => bytes.truncate(position),
        1 => bytes.insert(position, rng.next_u64() as u8),
        2 => bytes.extend_from_within(position..),
        3 => {
            if let Some(byte) = bytes.get_mut(position) {
                *byte ^= 1 << rng.below(8);
            }
        }
        _ => {
            if let Some(byte) = bytes.get_mut(position) {
                *byte = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff]);
            }
        }
    }
    // Duplicated packets stay below the maximum size.
    bytes.truncate(4_000);
}
