//! Packets through a unit of the low IR and through the IR's own interpreter, for comparison.
//!
//! What enters: a program, entries of its tables, packets. What leaves: how many packets were compared, or the first
//! difference. Compared are verdicts, bytes, and the registers' cells that were written.

use super::{Machine, NOW_NS, Stop, Verdict};
use crate::plain_host::PlainHost;
use base::index::Id as _;
use cgen::Plan;
use interp::{Decision, Interpreter, NoTrace, Outcome, PacketState};
use ir::{DropReason, Program, Source, TableId};
use lir::Unit;
use lir::passes::PASSES;

/// What the interpreter of the IR makes of a packet: none if that takes the switch core.
fn through_ir(program: &Program, host: &mut PlainHost<'_>, port: u64, bytes: &[u8]) -> Option<Verdict> {
    let interpreter = Interpreter::new(program);
    let mut state = PacketState::new(program, bytes.to_vec());
    for slot in 0..ir::INTRINSIC_SLOTS as u32 {
        let value = match program.architecture.source(slot) {
            Source::IngressPort => port,
            Source::IngressLength => bytes.len() as u64,
            Source::IngressTime => NOW_NS / 1000,
            Source::True => 1,
            _ => 0,
        };
        set(&mut state, slot, value);
    }
    for block in program.blocks.ids() {
        if interpreter.run_block(block, &mut state, host, &mut NoTrace) != Outcome::Finished {
            return None;
        }
        for (point, info) in program.decisions.ids().zip(program.architecture.points) {
            if info.before != block.index() + 1 {
                continue;
            }
            match interpreter.decide(point, &mut state) {
                Decision::GoesOn => {}
                Decision::Send { port, bytes_max } => {
                    let mut bytes = state.output.clone();
                    bytes.truncate(bytes_max.map_or(usize::MAX, |most| most as usize));
                    return Some(Verdict::Sent(port, bytes));
                }
                Decision::Enqueue { port, priority: 0, keeps: None } => enter_queue(program, &mut state, port),
                Decision::Drop(reason) => {
                    let ingress = matches!(reason, DropReason::Ingress);
                    let name = if ingress { "WS_DROP_INGRESS" } else { "WS_DROP_EGRESS" };
                    return Some(Verdict::Ended(name.into()));
                }
                Decision::Enqueue { .. } | Decision::Punt(_) => return None,
            }
        }
    }
    None
}

fn set(state: &mut PacketState, slot: u32, value: u64) {
    let mut values = *state.intrinsics();
    values[slot as usize] = value;
    state.set_intrinsics(values);
}

/// A packet leaves the queue of a port at once.
fn enter_queue(program: &Program, state: &mut PacketState, port: u64) {
    for slot in 0..ir::INTRINSIC_SLOTS as u32 {
        match program.architecture.source(slot) {
            Source::QueuePort => set(state, slot, port),
            Source::QueueTime => set(state, slot, NOW_NS / 1000),
            Source::Replica | Source::QueueState => set(state, slot, 0),
            _ => {}
        }
    }
}

/// The unit of the fast path before its passes, if it works in place.
fn fast_path(program: &Program, plan: &Plan) -> Option<Unit> {
    let units = cgen::lir_units(program, plan, &|_| None);
    units.into_iter().find(|unit| unit.name == "fast_path" && unit.live_out.is_empty())
}

/// How far a program was compared.
#[derive(Debug)]
pub enum Compared {
    /// The test's interpreter does not know it.
    Unsupported(String),
    /// The number of packets that were not punted.
    Packets(usize),
}

/// A program with entries and packets, and what the IR's interpreter makes of them.
pub struct Case<'p> {
    program: &'p Program,
    plan: Plan,
    /// Its fast path, before all passes.
    pub unit: Unit,
    host: PlainHost<'p>,
    packets: Vec<(u64, Vec<u8>)>,
    expected: Vec<Option<Verdict>>,
    host_after: PlainHost<'p>,
}

impl<'p> Case<'p> {
    /// None if the program has no fast path that works in place.
    pub fn new(
        program: &'p Program,
        entries: Vec<(TableId, ir::Entry)>,
        packets: Vec<(u64, Vec<u8>)>,
    ) -> Result<Option<Case<'p>>, String> {
        let plan = Plan::new(program).map_err(|error| error.to_string())?;
        let Some(unit) = fast_path(program, &plan) else { return Ok(None) };
        let host = PlainHost::new(program, entries, 0);
        let mut host_after = host.clone();
        let verdict = |(port, bytes): &(u64, Vec<u8>)| through_ir(program, &mut host_after, *port, bytes);
        let expected = packets.iter().map(verdict).collect();
        Ok(Some(Case { program, plan, unit, host, packets, expected, host_after }))
    }

    /// Compares the fast path before and after each pass, or returns what is wrong.
    pub fn check(&self) -> Result<Compared, String> {
        let mut unit = self.unit.clone();
        let mut compared = self.compare(&unit, "before all passes")?;
        for pass in &PASSES {
            (pass.run)(&mut unit);
            compared = self.compare(&unit, pass.name)?;
        }
        Ok(compared)
    }

    /// Compares a unit of the program's fast path, or returns what is wrong. `when` names the pass.
    pub fn compare(&self, unit: &Unit, when: &str) -> Result<Compared, String> {
        let wrong = |why: String| format!("{when}: {why}\n{}", lir::text::print(unit));
        lir::verify(unit).map_err(|errors| wrong(format!("{errors:?}")))?;
        let mut machine = Machine::new(unit, self.program, &self.plan, self.host.clone());
        let found = match machine.run(&self.packets) {
            Ok(found) => found,
            Err(Stop::Unsupported(why)) => return Ok(Compared::Unsupported(why)),
            Err(Stop::Wrong(why)) => return Err(wrong(why)),
        };
        let is_punted = |verdict: &&Verdict| matches!(verdict, Verdict::Punted(_));
        let punted = found.iter().filter(is_punted).count();
        // The core's work on the rest of a punted packet is missing here.
        if punted > 0 && !self.host_after.effects.registers.is_empty() {
            return Ok(Compared::Unsupported("registers of punted packets".into()));
        }
        for ((packet, found), expected) in self.packets.iter().zip(&found).zip(&self.expected) {
            if !is_punted(&found) && Some(found) != expected.as_ref() {
                return Err(wrong(format!("{packet:02x?}\nfound {found:02x?}\nexpected {expected:02x?}")));
            }
        }
        for ((register, index), expected) in &self.host_after.effects.registers {
            let found = machine.cell(*register, *index);
            if found != Some(expected.low_u64()) {
                return Err(wrong(format!("{register}[{index}] is {found:?}, not {expected:?}")));
            }
        }
        Ok(Compared::Packets(found.len() - punted))
    }
}
