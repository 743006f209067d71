//! Random packets in random programs: a second run must give the same result.

use base::Rng;
use interp::{Interpreter, NoTrace, PacketState};
use testkit::plain_host::PlainHost;
use testkit::random_ir::{Options, random_entries, random_packet, random_program};

pub(crate) fn run(rng: &mut Rng) -> Result<(), String> {
    let options = Options { requests: rng.chance(1, 2), ..Options::default() };
    let program = random_program(rng, &options);
    let entries = random_entries(rng, &program);
    let seed = rng.next_u64();
    let packets: Vec<Vec<u8>> = (0..8).map(|_| random_packet(rng, &program)).collect();
    let run = || {
        let mut host = PlainHost::new(&program, entries.clone(), seed);
        let mut states = Vec::new();
        for packet in &packets {
            let mut state = PacketState::new(&program, packet.clone());
            for block in program.blocks.ids() {
                Interpreter::new(&program).run_block(block, &mut state, &mut host, &mut NoTrace);
            }
            states.push(state);
        }
        (states, host.effects)
    };
    match run() == run() {
        true => Ok(()),
        false => Err(format!("two runs differ\n{}", ir::text::print(&program))),
    }
}
