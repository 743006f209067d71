//! The interpreter as a backend: the definition of what the core does with a packet.
//!
//! Each packet's headers and metadata live in an [`interp::PacketState`] beside the pool, found by the packet's index;
//! the intrinsic variables are copied in and out around each block. Lookups go through the linear scan of the stored
//! entries, so that neither generated code nor match engines have a part in it.

use crate::externs::Externs;
use crate::meter::Color;
use crate::output::Output;
use crate::packet::Packet;
use crate::pipeline::{Execution, Pipeline, Step};
use base::Bits;
use base::index::Id as _;
use cgen::abi::{Decided, FLAG_ASSERT_FAILED, FLAG_KEEP_METADATA};
use interp::{Host, Interpreter, Lookup, NoTrace, Outcome, PacketState, Tracer};
use ir::{
    BlockId, BlockRole, CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId,
    ExternFunctionId, ExternInstanceId, FieldListId, INTRINSIC_SLOTS, MeterId, PointId, Program, RegisterId, TableId,
    ValueSetId, VarKind,
};
use std::sync::Arc;
use tables::TableSet;

/// Runs blocks in the interpreter.
pub(crate) struct Interpreted {
    program: Arc<Program>,
    states: Vec<Option<PacketState>>,
    /// Where a deparsed packet is put in its chunk: from `start`, or from `floor` if it needs the space.
    floor: usize,
    start: usize,
}

impl Interpreted {
    /// `floor` and `start` are where the headroom and the bytes of a packet start in its chunk.
    pub fn new(program: Arc<Program>, floor: usize, start: usize) -> Interpreted {
        Interpreted { program, states: Vec::new(), floor, start }
    }

    fn state(&mut self, packet: &Packet) -> &mut Option<PacketState> {
        let index = packet.index() as usize;
        if self.states.len() <= index {
            self.states.resize_with(index + 1, || None);
        }
        &mut self.states[index]
    }

    fn run_packet(&mut self, block: BlockId, packet: &mut Packet, execution: &mut Execution<'_>) {
        let program = Arc::clone(&self.program);
        let kept = self.state(packet).take();
        let mut state = kept.unwrap_or_else(|| PacketState::new(&program, packet.bytes().to_vec()));
        let role = program.role(block);
        if role == BlockRole::Parser {
            state = restart(&program, state, packet);
        }
        state.set_intrinsics(*packet.intrinsics());
        let mut host = WorldHost {
            program: &program,
            externs: execution.externs,
            tables: execution.entries.stored(),
            now_ns: execution.now_ns,
            bytes: u64::from(packet.ingress_length()),
            output: execution.output,
        };
        let mut silent = NoTrace;
        let tracer: &mut dyn Tracer = match &mut execution.observer {
            Some(observer) => &mut **observer,
            None => &mut silent,
        };
        let outcome = Interpreter::new(&program).run_block(block, &mut state, &mut host, tracer);
        packet.set_intrinsics(*state.intrinsics());
        if outcome == Outcome::AssertionFailed {
            packet.set_flags(packet.flags() | FLAG_ASSERT_FAILED);
        }
        if role == BlockRole::Deparser {
            packet.set_bytes(self.floor, self.start, &state.output);
        }
        *self.state(packet) = Some(state);
    }

    fn decide(&mut self, point: PointId, packet: &mut Packet) {
        let program = Arc::clone(&self.program);
        let kept = self.state(packet).take();
        let mut state = kept.unwrap_or_else(|| PacketState::new(&program, packet.bytes().to_vec()));
        state.set_intrinsics(*packet.intrinsics());
        let decision = Interpreter::new(&program).decide(point, &mut state);
        packet.set_intrinsics(*state.intrinsics());
        packet.set_decided(decided(decision, point));
        *self.state(packet) = Some(state);
    }
}

/// What the interpreter decided at a point. Ports and priorities have at most 32 bits.
fn decided(decision: interp::Decision, point: PointId) -> Decided {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    match decision {
        interp::Decision::GoesOn => Decided::Continues,
        interp::Decision::Send { port, bytes_max } => {
            Decided::Send { port: port as u32, bytes_max: bytes_max.map(number) }
        }
        interp::Decision::Enqueue { port, priority, .. } => {
            Decided::Enqueue { port: port as u32, priority: number(priority) }
        }
        interp::Decision::Drop(reason) => Decided::Drop(reason),
        interp::Decision::Punt(slot) => Decided::Punt { point: point.index() as u32, slot },
    }
}

/// A state at the start of the parser; metadata are kept if the packet's flags require it.
fn restart(program: &Program, old: PacketState, packet: &Packet) -> PacketState {
    let mut state = PacketState::new(program, packet.bytes().to_vec());
    if packet.flags() & FLAG_KEEP_METADATA != 0 {
        for (id, _) in program.vars.iter_enumerated().filter(|(_, var)| var.kind == VarKind::Metadata) {
            state.set_var(id, old.var(id));
        }
    }
    state
}

impl Pipeline for Interpreted {
    fn begin_pass(&mut self, packet: &mut Packet) {
        packet.set_flags(0);
        *self.state(packet) = None;
    }

    fn forget_packets(&mut self) {
        self.states.clear();
    }

    fn reset_metadata(&mut self, packet: &mut Packet) {
        let program = Arc::clone(&self.program);
        let state = self.state(packet);
        match state {
            Some(state) => {
                for (id, _) in program.vars.iter_enumerated().filter(|(_, var)| var.kind == VarKind::Metadata) {
                    state.set_var(id, Bits::zero(program.vars[id].ty.width()));
                }
            }
            None => *state = Some(PacketState::new(&program, packet.bytes().to_vec())),
        }
        packet.set_flags(packet.flags() | FLAG_KEEP_METADATA);
    }

    fn keep_only(&mut self, list: FieldListId, packet: &mut Packet) {
        let program = Arc::clone(&self.program);
        let old = self.state(packet).take();
        packet.set_flags(0);
        self.reset_metadata(packet);
        if let (Some(old), Some(state)) = (old, self.state(packet)) {
            for &var in &program.field_lists[list].vars {
                state.set_var(var, old.var(var));
            }
        }
    }

    fn keep_intrinsics(&mut self, list: FieldListId, before: &[u64; INTRINSIC_SLOTS], packet: &mut Packet) {
        packet.keep_intrinsics(&self.program.field_lists[list].vars, &self.program, before);
    }

    fn run(&mut self, steps: &[Step], packets: &mut [Packet], execution: &mut Execution<'_>) {
        for step in steps {
            for packet in &mut *packets {
                match *step {
                    Step::Block(block) => self.run_packet(block, packet, execution),
                    Step::Decide(point) => self.decide(point, packet),
                }
            }
        }
    }

    fn copy_context(&mut self, from: &Packet, to: &mut Packet) {
        let state = self.state(from).clone();
        *self.state(to) = state;
    }

    fn preserve(&mut self, list: FieldListId, from: &Packet, to: &mut Packet) {
        let program = Arc::clone(&self.program);
        let Some(source) = self.state(from).clone() else { return };
        for &var in &program.field_lists[list].vars {
            match program.vars[var].kind {
                VarKind::Intrinsic(slot) => {
                    to.copy_intrinsic(slot, from);
                }
                VarKind::Metadata | VarKind::Local => {
                    let target = self.state(to);
                    let target = target.get_or_insert_with(|| PacketState::new(&program, Vec::new()));
                    target.set_var(var, source.var(var));
                }
            }
        }
    }

    fn reads_store(&self) -> bool {
        true
    }

    /// One: packet by packet is the meaning that bursts must not change.
    fn burst_max(&self) -> usize {
        1
    }
}

/// The core's state as the interpreter sees it while one packet runs.
struct WorldHost<'a> {
    program: &'a Program,
    externs: &'a mut Externs,
    tables: &'a TableSet,
    now_ns: u64,
    bytes: u64,
    output: &'a mut dyn Output,
}

impl Host for WorldHost<'_> {
    fn lookup(&mut self, table: TableId, keys: &[Bits], hash: u64) -> Lookup {
        let stored = &self.tables.tables()[table.index()];
        let runs = |entry: Option<u64>, action: usize, args: &[Bits]| match self.tables.resolve(
            table.index(),
            action,
            args,
            hash,
        ) {
            Some(call) => Lookup { entry, action: call.action as u32, args: call.args },
            None => Lookup { entry, action: interp::NO_ACTION, args: Vec::new() },
        };
        let found = tables::reference::find(stored, keys).filter(|_| !keys.is_empty());
        let counted = &mut self.externs.table_uses[table];
        counted.lookups += 1;
        counted.hits += u64::from(found.is_some());
        match found {
            Some(entry) => {
                self.externs.note_hit(table, entry.handle, self.now_ns);
                runs(Some(u64::from(entry.handle.0)), entry.spec.action, &entry.spec.args)
            }
            None => match stored.default_action() {
                Some(call) => runs(None, call.action, &call.args),
                None => {
                    let call = &self.program.tables[table].default_action;
                    Lookup { entry: None, action: call.action, args: call.args.clone() }
                }
            },
        }
    }

    fn count_lookup(&mut self, table: TableId, entry: Option<u64>) {
        let counted = &mut self.externs.table_uses[table];
        counted.lookups += 1;
        counted.hits += u64::from(entry.is_some());
        if let Some(entry) = entry {
            self.externs.note_hit(table, tables::Handle(entry as u32), self.now_ns);
        }
    }

    fn crc_parameters(&self, calculation: CalculationId) -> CrcParameters {
        self.externs.calculations.get(calculation)
    }

    fn count_direct(&mut self, _table: TableId, counter: DirectCounterId, cell: u64) {
        if let Some(cell) = self.externs.direct_counters[counter].get_mut(cell as usize) {
            cell.count(self.bytes);
        }
    }

    fn execute_direct_meter(&mut self, _table: TableId, meter: DirectMeterId, cell: u64, before: u8) -> u8 {
        let meter = &mut self.externs.direct_meters[meter];
        meter.execute_direct(cell, self.bytes, u32::from(before), self.now_ns) as u8
    }

    fn register_read(&mut self, register: RegisterId, index: &Bits) -> Option<Bits> {
        self.externs.registers[register].read(index.to_u64()?)
    }

    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits) {
        if let Some(index) = index.to_u64() {
            self.externs.registers[register].write(index, value);
        }
    }

    fn count(&mut self, counter: CounterId, index: &Bits) {
        let cells = &mut self.externs.counters[counter];
        if let Some(cell) = index.to_u64().and_then(|index| cells.get_mut(index as usize)) {
            cell.count(self.bytes);
        }
    }

    fn execute_meter(&mut self, meter: MeterId, index: &Bits, before: u8) -> Option<u8> {
        let before = Color::of(u32::from(before));
        let color = self.externs.meters[meter].execute(index.to_u64()?, self.bytes, before, self.now_ns);
        color.map(|color| color as u8)
    }

    fn random(&mut self, low: u64, high: u64) -> u64 {
        self.externs.rng.between(low, high)
    }

    fn add_entry(&mut self, table: TableId, keys: &[Bits], action: u32, args: &[Bits], profile: u8) -> bool {
        self.externs.add_entry(table, keys.to_vec(), action as usize, args.to_vec(), profile)
    }

    fn set_timer(&mut self, table: TableId, entry: u64, profile: Option<u8>) {
        self.externs.timers.set(table, tables::Handle(entry as u32), profile, self.now_ns);
    }

    fn digest(&mut self, digest: DigestId, values: &[Bits]) {
        self.output.digest(digest, values.to_vec());
    }

    fn log(&mut self, message: &str) {
        self.output.log(message);
    }

    fn assert_failed(&mut self, text: &str) {
        self.output.assertion_failed(text);
    }

    fn call_extern(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits {
        self.externs.call_plug_in(function, instance, inputs)
    }

    fn value_set_contains(&mut self, value_set: ValueSetId, keys: &[Bits]) -> bool {
        self.externs.value_set_contains(value_set, keys)
    }
}
