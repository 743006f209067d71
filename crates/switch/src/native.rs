//! Compiled code as a backend.
//!
//! What enters: a burst and the execution. What leaves: the burst, worked on by the program's block function. This file
//! hands the function the addresses of registers and counters, and answers its callbacks: meters, random numbers,
//! digests, log lines, assertions, value sets.

#![allow(unsafe_code, reason = "generated code is called, and calls back, through raw pointers")]

use crate::externs::CounterCell;
use crate::frame::{Chunks, Frame};
use crate::meter::Color;
use crate::packet::Packet;
use crate::pipeline::{Execution, Pipeline, Step};
use crate::specialise::Specialisation;
use base::Bits;
use base::IndexVec;
use base::index::Id as _;
use cgen::abi::{self, Cells, Count, Counts, Decided, Env, Exceptions, FLAG_KEEP_METADATA, Meters, Verdict};
use cgen::{Native, Plan};
use ir::{
    DigestId, DirectMeterId, ExternFunctionId, ExternInstanceId, FieldListId, INTRINSIC_SLOTS, MeterId, PointId,
    Program, TableId, Type, ValueSetId, VarId,
};
use std::ffi::c_void;
use std::sync::Arc;
use tables::Handle;

const _: () = assert!(size_of::<CounterCell>() == size_of::<Count>());

/// Runs blocks by calling compiled code.
pub(crate) struct NativePipeline {
    program: Arc<Program>,
    native: Arc<Native>,
    plan: Arc<Plan>,
    /// What it was made with, which packets always may run.
    general: (Arc<Program>, Arc<Native>, Arc<Plan>),
    /// The points at which that decides anything.
    decides_at: IndexVec<PointId, bool>,
    /// What generated code is given with each call. Its addresses are those of the present run of the switch, which
    /// its first call collects; later ones change the time and the callbacks only.
    env: Env,
    /// The arrays of addresses that the environment leads to; kept to save their allocation.
    registers: Vec<Cells>,
    counters: Vec<Counts>,
    direct_counters: Vec<Counts>,
    meters: Vec<Meters>,
    last_hits: Vec<Cells>,
    /// Metadata that a packet keeps while the others become zero.
    kept: Vec<u8>,
    /// What packets keep of each field list.
    lists: IndexVec<FieldListId, Preserved>,
}

/// What a packet keeps of a field list.
struct Preserved {
    /// Where metadata lie in the chunk: the first byte, and how many. Adjacent variables are one range.
    ranges: Vec<(usize, usize)>,
    /// The intrinsic variables.
    slots: Vec<u32>,
}

impl Preserved {
    /// The variables of each list, laid out by a plan.
    fn of_lists(program: &Program, plan: &Plan) -> IndexVec<FieldListId, Preserved> {
        program.field_lists.iter().map(|list| Preserved::of(&list.vars, program, plan)).collect()
    }

    fn of(vars: &[VarId], program: &Program, plan: &Plan) -> Preserved {
        let slots = vars.iter().filter_map(|&var| program.vars[var].kind.slot()).collect();
        let places = vars.iter().filter_map(|&var| plan.vars[var]);
        let mut places: Vec<(usize, usize)> = places.map(|it| (it.offset as usize, it.bytes as usize)).collect();
        places.sort_unstable();
        places.dedup();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (offset, bytes) in places.into_iter().filter(|(_, bytes)| *bytes > 0) {
            match ranges.last_mut() {
                Some((first, length)) if *first + *length == offset => *length += bytes,
                _ => ranges.push((offset, bytes)),
            }
        }
        Preserved { ranges, slots }
    }
}

// SAFETY: the pointers in it are those of the run before: the first call of a run collects them anew from what the run
// is lent, and nothing reads them between runs.
unsafe impl Send for NativePipeline {}

impl NativePipeline {
    /// A pipeline for packets that begin at `first_byte` of their chunks when they are received.
    pub fn new(program: Arc<Program>, native: Arc<Native>, plan: Arc<Plan>, first_byte: usize) -> NativePipeline {
        NativePipeline {
            lists: Preserved::of_lists(&program, &plan),
            decides_at: program.decisions.iter().map(|body| !body.is_empty()).collect(),
            general: (Arc::clone(&program), Arc::clone(&native), Arc::clone(&plan)),
            program,
            native,
            plan,
            env: Env {
                core: std::ptr::null_mut(),
                tables: std::ptr::null(),
                registers: std::ptr::null(),
                counters: std::ptr::null(),
                direct_counters: std::ptr::null(),
                meters: std::ptr::null(),
                meter,
                direct_meter,
                random,
                digest,
                log,
                assert_failed,
                value_set,
                calculations: std::ptr::null(),
                call_extern,
                add_entry,
                set_timer,
                uses: std::ptr::null_mut(),
                last_hits: std::ptr::null(),
                now_ns: 0,
                guard: std::ptr::null(),
                wait: crate::guard::wait,
                first_byte: first_byte as u32,
            },
            registers: Vec::new(),
            counters: Vec::new(),
            direct_counters: Vec::new(),
            meters: Vec::new(),
            last_hits: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Prepares what generated code works on, for `run` to call it. The packets are chunks of the pool, laid out by
    /// this plan, and borrowed mutably meanwhile. The arrays in the environment have an item for each instance of the
    /// program.
    fn call<T>(
        &mut self,
        chunks: Chunks<'_>,
        execution: &mut Execution<'_>,
        run: impl FnOnce(&NativePipeline, &Env, &[*mut abi::Packet]) -> T,
    ) -> T {
        // They are the same for the whole of a run: it has the state for itself, and makes no array anew.
        if !std::mem::replace(&mut execution.has_addresses, true) {
            self.collect_addresses(execution);
        }
        self.env.now_ns = execution.now_ns;
        let mut callbacks = Callbacks { program: &self.program, plan: &self.plan, execution };
        self.env.core = (&raw mut callbacks).cast();
        run(self, &self.env, chunks.pointers())
    }

    /// Whether anything is decided at a point.
    fn decides(&self, point: PointId) -> bool {
        self.decides_at.get(point).is_some_and(|&decides| decides)
    }

    /// Decides about packets at a point.
    ///
    /// # Safety
    /// As for [`Native::run_block`].
    unsafe fn decide(&self, point: PointId, env: &Env, packets: &[*mut abi::Packet]) {
        if self.decides(point) {
            // Always of the program as it is: a packet may have made a request before it was specialised to make none.
            // SAFETY: the caller guarantees what the function requires.
            unsafe { self.general.1.run_decisions(point, env, packets) }
        } else {
            for &packet in packets {
                // SAFETY: each pointer leads to a packet that this call alone uses.
                unsafe { (*packet).decided = Decided::Continues.word() }
            }
        }
    }

    fn collect_addresses(&mut self, execution: &mut Execution<'_>) {
        let externs = &mut *execution.externs;
        self.registers.clear();
        let registers = externs.registers.iter_mut();
        self.registers.extend(registers.map(|it| Cells { words: it.cells.as_mut_ptr(), size: it.size }));
        collect_counts(&mut self.counters, &mut externs.counters);
        collect_counts(&mut self.direct_counters, &mut externs.direct_counters);
        self.meters.clear();
        let meters = externs.meters.iter_mut();
        self.meters.extend(meters.map(|it| Meters {
            cells: it.cells_pointer().cast(),
            green: it.green_pointer().cast(),
            size: it.size(),
        }));
        self.last_hits.clear();
        let times = externs.last_hits_ns.iter_mut();
        self.last_hits.extend(times.map(|it| Cells { words: it.as_mut_ptr(), size: it.len() as u64 }));
        self.env = Env {
            tables: execution.entries.handles().as_ptr(),
            registers: self.registers.as_ptr(),
            counters: self.counters.as_ptr(),
            direct_counters: self.direct_counters.as_ptr(),
            meters: self.meters.as_ptr(),
            calculations: externs.calculations.prepared().as_ptr(),
            uses: externs.table_uses.iter_mut().into_slice().as_mut_ptr(),
            last_hits: self.last_hits.as_ptr(),
            guard: externs.guard.as_ref().map_or(std::ptr::null(), Arc::as_ptr),
            ..self.env
        };
    }
}

/// Sets the metadata of a packet to zero.
fn clear_metadata(plan: &Plan, packet: &mut Packet) {
    let range = plan.metadata.clone();
    packet.chunk_bytes_mut(range.start as usize, range.len()).fill(0);
}

fn collect_counts<I: base::index::Id>(to: &mut Vec<Counts>, from: &mut IndexVec<I, Vec<CounterCell>>) {
    to.clear();
    let counts = |cells: &mut Vec<CounterCell>| Counts { cells: cells.as_mut_ptr().cast(), size: cells.len() as u64 };
    to.extend(from.iter_mut().map(counts));
}

impl Pipeline for NativePipeline {
    fn begin_pass(&mut self, packet: &mut Packet) {
        packet.set_flags(0);
    }

    fn reset_metadata(&mut self, packet: &mut Packet) {
        clear_metadata(&self.plan, packet);
        packet.set_flags(packet.flags() | FLAG_KEEP_METADATA);
    }

    fn keep_only(&mut self, list: FieldListId, packet: &mut Packet) {
        let NativePipeline { plan, kept, lists, .. } = self;
        let ranges = &lists[list].ranges;
        kept.clear();
        for &(offset, bytes) in ranges {
            kept.extend_from_slice(packet.chunk_bytes(offset, bytes));
        }
        clear_metadata(plan, packet);
        packet.set_flags(FLAG_KEEP_METADATA);
        let mut kept = &kept[..];
        for &(offset, bytes) in ranges {
            let (now, rest) = kept.split_at(bytes);
            packet.chunk_bytes_mut(offset, bytes).copy_from_slice(now);
            kept = rest;
        }
    }

    fn keep_intrinsics(&mut self, list: FieldListId, before: &[u64; INTRINSIC_SLOTS], packet: &mut Packet) {
        for &slot in &self.lists[list].slots {
            packet.set_intrinsic(slot, before[slot as usize]);
        }
    }

    fn run(&mut self, steps: &[Step], packets: &mut [Packet], execution: &mut Execution<'_>) {
        if let [Step::Decide(point)] = *steps
            && !self.decides(point)
        {
            packets.iter_mut().for_each(|packet| packet.set_decided(Decided::Continues));
            return;
        }
        self.call(Chunks::of(packets), execution, |pipeline, env, pointers| {
            for step in steps {
                match *step {
                    // SAFETY: what `call` hands out is what the function requires.
                    Step::Block(block) => unsafe { pipeline.native.run_block(block, env, pointers) },
                    // SAFETY: as above.
                    Step::Decide(point) => unsafe { pipeline.decide(point, env, pointers) },
                }
            }
        });
    }

    fn has_fast_path(&self) -> bool {
        self.plan.has_fast_path()
    }

    fn is_in_place(&self) -> bool {
        self.plan.is_in_place()
    }

    fn headroom_bytes(&self) -> u32 {
        self.plan.headroom_bytes()
    }

    fn run_fast_path(
        &mut self,
        chunks: Chunks<'_>,
        frames: &mut [Frame<'_>],
        verdicts: &mut [Verdict],
        execution: &mut Execution<'_>,
    ) -> Exceptions {
        self.call(chunks, execution, |pipeline, env, pointers| {
            // SAFETY: as above; the core takes only packets here that were just received, and lends their bytes.
            unsafe { pipeline.native.run_fast_path(env, pointers, Frame::raw(frames), verdicts) }
        })
    }

    fn has_again_path(&self) -> bool {
        self.plan.has_again_path()
    }

    fn run_again_path(
        &mut self,
        chunks: Chunks<'_>,
        frames: &mut [Frame<'_>],
        verdicts: &mut [Verdict],
        execution: &mut Execution<'_>,
    ) -> Exceptions {
        self.call(chunks, execution, |pipeline, env, pointers| {
            // SAFETY: as above; the core has prepared these packets for a further pass, and lends their bytes.
            unsafe { pipeline.native.run_again_path(env, pointers, Frame::raw(frames), verdicts) }
        })
    }

    fn has_replica_path(&self) -> bool {
        self.plan.has_replica_path()
    }

    fn run_replica_path(
        &mut self,
        packet: &Packet,
        chunks: Chunks<'_>,
        frames: &mut [Frame<'_>],
        verdicts: &mut [Verdict],
        execution: &mut Execution<'_>,
    ) -> Exceptions {
        self.call(chunks, execution, |pipeline, env, pointers| {
            // SAFETY: as above; the packet has been through ingress, and the core lends the bytes of its replicas,
            // which are copies of the packet's.
            unsafe { pipeline.native.run_replica_path(env, packet.chunk(), pointers, Frame::raw(frames), verdicts) }
        })
    }

    fn copy_context(&mut self, _from: &Packet, _to: &mut Packet) {}

    fn preserve(&mut self, list: FieldListId, from: &Packet, to: &mut Packet) {
        let Preserved { ranges, slots } = &self.lists[list];
        for &slot in slots {
            to.copy_intrinsic(slot, from);
        }
        for &(offset, bytes) in ranges {
            to.chunk_bytes_mut(offset, bytes).copy_from_slice(from.chunk_bytes(offset, bytes));
        }
    }

    fn run_code(&mut self, special: Option<&Specialisation>) {
        let (program, native, plan) = special.map_or(&self.general, Specialisation::code);
        self.program = Arc::clone(program);
        self.native = Arc::clone(native);
        self.plan = Arc::clone(plan);
        self.lists = Preserved::of_lists(&self.program, &self.plan);
    }

    fn plan(&self) -> Option<&Arc<Plan>> {
        Some(&self.general.2)
    }

    fn reads_store(&self) -> bool {
        false
    }

    fn shard(&self) -> Option<(Box<dyn Pipeline>, usize)> {
        let (program, native, plan) = &self.general;
        let shard = NativePipeline::new(
            Arc::clone(program),
            Arc::clone(native),
            Arc::clone(plan),
            self.env.first_byte as usize,
        );
        Some((Box::new(shard), self.plan.context_size as usize))
    }

    fn written_bytes_max(&self) -> Option<usize> {
        self.plan.written_bytes_max().map(|bytes| bytes as usize)
    }

    fn burst_max(&self) -> usize {
        self.plan.burst_max as usize
    }

    fn egress_burst_max(&self) -> usize {
        self.plan.egress_burst_max as usize
    }

    fn fast_path_burst_max(&self) -> usize {
        self.plan.fast_path_burst_max() as usize
    }

    fn stops_at_punt(&self) -> bool {
        self.plan.stops_at_punt()
    }
}

/// What the callbacks work on.
struct Callbacks<'a, 'w> {
    program: &'a Program,
    plan: &'a Plan,
    execution: &'a mut Execution<'w>,
}

/// The callbacks' state from the first argument of each.
///
/// # Safety
/// `core` is the `Env::core` of a running call, and no other reference from this function lives.
unsafe fn callbacks<'a>(core: *mut c_void) -> &'a mut Callbacks<'a, 'a> {
    // SAFETY: `core` points to the `Callbacks` in `NativePipeline::run`, which waits for the call; its parts are not
    // used there meanwhile. The lifetimes are cut to the callback's, which lies within theirs.
    unsafe { &mut *core.cast::<Callbacks<'a, 'a>>() }
}

/// Splits words into values of these types.
///
/// # Safety
/// `words` points to `ceil(width / 64)` words for each type.
unsafe fn values(words: *const u64, types: impl IntoIterator<Item = Type>) -> Vec<Bits> {
    let mut offset = 0;
    let mut value = |ty: Type| {
        let count = ty.width().div_ceil(64) as usize;
        // SAFETY: within what the caller promises.
        let limbs = unsafe { std::slice::from_raw_parts(words.add(offset), count) };
        offset += count;
        Bits::from_limbs(ty.width(), limbs)
    };
    types.into_iter().map(&mut value).collect()
}

unsafe extern "C" fn meter(core: *mut c_void, id: u32, index: u64, bytes: u32, before: u32) -> u32 {
    // SAFETY: called by generated code during `run`.
    let callbacks = unsafe { callbacks(core) };
    let bytes = u64::from(bytes);
    let meters = &mut callbacks.execution.externs.meters;
    let color =
        meters[MeterId::from_index(id as usize)].execute(index, bytes, Color::of(before), callbacks.execution.now_ns);
    color.map_or(0, |color| color as u32)
}

unsafe extern "C" fn direct_meter(core: *mut c_void, id: u32, index: u64, bytes: u32, before: u32) -> u32 {
    // SAFETY: as in `meter`.
    let callbacks = unsafe { callbacks(core) };
    let bytes = u64::from(bytes);
    let meter = &mut callbacks.execution.externs.direct_meters[DirectMeterId::from_index(id as usize)];
    meter.execute_direct(index, bytes, before, callbacks.execution.now_ns)
}

unsafe extern "C" fn random(core: *mut c_void, low: u64, high: u64) -> u64 {
    // SAFETY: called by generated code during `run`.
    let callbacks = unsafe { callbacks(core) };
    callbacks.execution.externs.rng.between(low.min(high), high)
}

unsafe extern "C" fn add_entry(core: *mut c_void, table: u32, action: u32, words: *const u64) -> u32 {
    // SAFETY: called by generated code during `run`, with the words of the keys, the arguments and the profile.
    let callbacks = unsafe { callbacks(core) };
    let (id, program) = (TableId::from_index(table as usize), callbacks.program);
    let declared = &program.tables[id];
    let keys = declared.keys.iter().map(|key| key.expr.ty);
    let params = &program.actions[declared.actions[action as usize].action].params;
    let types = keys.chain(params.iter().map(|&param| program.vars[param].ty)).chain([Type::Bit(8)]);
    // SAFETY: as above.
    let mut keys = unsafe { values(words, types) };
    let mut args = keys.split_off(declared.keys.len());
    let profile = args.pop().map_or(0, |profile| profile.low_u64() as u8);
    u32::from(callbacks.execution.externs.add_entry(id, keys, action as usize, args, profile))
}

unsafe extern "C" fn set_timer(core: *mut c_void, table: u32, entry: u32, profile: u32) {
    // SAFETY: called by generated code during `run`.
    let callbacks = unsafe { callbacks(core) };
    let (table, profile) = (TableId::from_index(table as usize), u8::try_from(profile).ok());
    let now_ns = callbacks.execution.now_ns;
    callbacks.execution.externs.timers.set(table, Handle(entry), profile, now_ns);
}

unsafe extern "C" fn digest(core: *mut c_void, id: u32, _packet: *const abi::Packet, words: *const u64) {
    // SAFETY: called by generated code during `run`, with the words of the digest's fields.
    let callbacks = unsafe { callbacks(core) };
    let id = DigestId::from_index(id as usize);
    let types = callbacks.program.digests[id].fields.iter().map(|(_, ty)| *ty);
    // SAFETY: as above.
    let values = unsafe { values(words, types) };
    callbacks.execution.output.digest(id, values);
}

unsafe extern "C" fn log(core: *mut c_void, site: u32, _packet: *const abi::Packet, words: *const u64) {
    // SAFETY: called by generated code during `run`, with the words of the site's arguments.
    let callbacks = unsafe { callbacks(core) };
    let site = &callbacks.plan.log_sites[site as usize];
    // SAFETY: as above.
    let values = unsafe { values(words, site.args.iter().copied()) };
    let line = interp::log_line(&site.message, &site.args, &values);
    callbacks.execution.output.log(&line);
}

unsafe extern "C" fn assert_failed(core: *mut c_void, site: u32, _packet: *const abi::Packet) {
    // SAFETY: called by generated code during `run`.
    let callbacks = unsafe { callbacks(core) };
    callbacks.execution.output.assertion_failed(&callbacks.plan.assert_sites[site as usize].text);
}

unsafe extern "C" fn call_extern(core: *mut c_void, id: u32, instance: u32, inputs: *const u64, outputs: *mut u64) {
    // SAFETY: called by generated code during `run`.
    let callbacks = unsafe { callbacks(core) };
    let id = ExternFunctionId::from_index(id as usize);
    let function = &callbacks.program.extern_functions[id];
    let is_method = function.kind == ir::ExternFunctionKind::Method;
    let instance = is_method.then(|| ExternInstanceId::from_index(instance as usize));
    // SAFETY: `inputs` has the words of the function's inputs.
    let inputs = unsafe { values(inputs, function.inputs()) };
    let joined = callbacks.execution.externs.call_plug_in(id, instance, &inputs);
    let limbs = joined.limbs();
    // SAFETY: `outputs` has `ceil(width / 64)` words for the joined outputs, and those are the limbs of `joined`.
    unsafe { std::slice::from_raw_parts_mut(outputs, limbs.len()) }.copy_from_slice(limbs);
}

unsafe extern "C" fn value_set(core: *mut c_void, id: u32, words: *const u64) -> u32 {
    // SAFETY: called by generated code during `run`, with the words of the set's keys.
    let callbacks = unsafe { callbacks(core) };
    let id = ValueSetId::from_index(id as usize);
    let types = callbacks.program.value_sets[id].keys.iter().map(|&(_, width, _)| Type::Bit(width));
    // SAFETY: as above.
    let keys = unsafe { values(words, types) };
    u32::from(callbacks.execution.externs.value_set_contains(id, &keys))
}
