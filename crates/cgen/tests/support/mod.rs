//! Runs a program's packets through the interpreter and through native code, and reports where they differ.
#![allow(unsafe_code, reason = "generated code is called, and calls back, through raw pointers")]
#![allow(dead_code, reason = "each test file uses a part")]

use base::Bits;
use base::index::Id as _;
use cgen::abi::{self, Cells, Count, Counts, Crc, Env, Guard, Meters, Packet, Received, TableUse};
use cgen::{CompileOptions, Native, Optimise, Plan};
use interp::{Host, Interpreter, NoTrace, Outcome, PacketState};
use ir::{BlockId, DigestId, DirectMeterId, ExternFunctionId, ExternInstanceId, Program, TableId, Type, ValueSetId};
use std::cell::RefCell;
use std::ffi::c_void;
use std::path::Path;
use tables::{EntryHeader, LookupHandle};
use testkit::plain_host::PlainHost;

/// Reads a program from its text.
pub fn program(text: &str) -> Program {
    let program = ir::text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    ir::verify(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    program
}

/// A compiled program.
pub struct Compiled<'p> {
    pub program: &'p Program,
    pub plan: Plan,
    native: Native,
}

/// Options of tests: warnings are errors, undefined behaviour stops the process, results stay in the target folder.
pub fn options(optimise: Optimise) -> CompileOptions {
    CompileOptions {
        cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")),
        optimise,
        sanitize: true,
        deny_warnings: true,
        ..CompileOptions::default()
    }
}

impl<'p> Compiled<'p> {
    pub fn new(program: &'p Program, options: &CompileOptions) -> Compiled<'p> {
        let plan = Plan::new(program).unwrap_or_else(|error| panic!("{error}"));
        let text = cgen::emit_c(program, &plan, &|_| None);
        let object = cgen::compile(&text, options).unwrap_or_else(|error| panic!("{error}"));
        let native = Native::load(&object.path, &plan).unwrap_or_else(|error| panic!("{error}"));
        Compiled { program, plan, native }
    }

    /// Runs packets in bursts through all blocks.
    pub fn run(&self, packets: &[Vec<u8>], host: &PlainHost<'_>, burst: usize) -> (Vec<Seen>, World) {
        let mut world = NativeWorld::new(self, host.clone());
        let mut seen = Vec::new();
        for burst in packets.chunks(burst.min(self.plan.burst_max as usize)) {
            let mut chunks: Vec<Chunk> = burst.iter().map(|bytes| Chunk::new(&self.plan, bytes)).collect();
            for block in self.program.blocks.ids() {
                let alive = |chunk: &mut Chunk| {
                    (chunk.packet().received.flags & abi::FLAG_ASSERT_FAILED == 0).then(|| chunk.pointer())
                };
                let pointers: Vec<*mut Packet> = chunks.iter_mut().filter_map(alive).collect();
                world.run(block, &pointers);
            }
            seen.extend(chunks.iter_mut().map(|chunk| chunk.seen(self)));
        }
        (seen, world.finish())
    }
}

/// What one packet has become.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// The deparsed bytes; none if an assertion failed.
    pub output: Option<Vec<u8>>,
    /// Metadata variables.
    pub vars: Vec<(String, Bits)>,
    /// Intrinsic variables.
    pub intrinsics: Vec<u64>,
}

/// What packets have done to the world.
#[derive(Clone, PartialEq, Debug)]
pub struct World {
    pub registers: Vec<Vec<Bits>>,
    pub counters: Vec<Vec<u64>>,
    pub direct_counters: Vec<Vec<u64>>,
    /// How often each table was looked up, and how often an entry was hit.
    pub lookups: Vec<(u64, u64)>,
    /// The entries that were hit, for each table that supports idle timeouts.
    pub entries_hit: Vec<Vec<u64>>,
    pub messages: Vec<String>,
    pub calls: Vec<String>,
    pub assertions: Vec<String>,
}

/// Entries that a direct counter is compared for.
const ENTRIES_MAX: u64 = 256;

/// The time at which all packets run.
const NOW_NS: u64 = 42;

/// The same in the interpreter, packet by packet.
pub fn interpret(program: &Program, packets: &[Vec<u8>], host: &PlainHost<'_>) -> (Vec<Seen>, World) {
    let mut host = host.clone();
    let interpreter = Interpreter::new(program);
    let mut seen = Vec::new();
    for bytes in packets {
        let mut state = PacketState::new(program, bytes.clone());
        let ended = program
            .blocks
            .ids()
            .all(|block| interpreter.run_block(block, &mut state, &mut host, &mut NoTrace) == Outcome::Finished);
        let vars = program.vars.iter_enumerated().filter(|(_, var)| var.kind == ir::VarKind::Metadata);
        seen.push(Seen {
            output: ended.then(|| state.output.clone()),
            vars: vars.map(|(id, var)| (format!("{id} {}", var.name), state.var(id))).collect(),
            intrinsics: slots().map(|slot| state.intrinsic(slot)).collect(),
        });
    }
    let effects = host.effects;
    let (assertions, messages) =
        effects.messages.into_iter().partition(|message| message.starts_with("assertion failed"));
    let world = World {
        registers: program
            .registers
            .iter_enumerated()
            .map(|(id, register)| {
                let cell = |cell| effects.registers.get(&(id, cell)).cloned();
                (0..register.size).map(|at| cell(at).unwrap_or(Bits::zero(register.ty.width()))).collect()
            })
            .collect(),
        counters: program
            .counters
            .iter_enumerated()
            .map(|(id, counter)| {
                (0..counter.size).map(|at| effects.counters.get(&(id, at)).copied().unwrap_or(0)).collect()
            })
            .collect(),
        direct_counters: program
            .direct_counters
            .ids()
            .map(|id| (0..ENTRIES_MAX).map(|at| effects.direct_counters.get(&(id, at)).copied().unwrap_or(0)).collect())
            .collect(),
        lookups: program.tables.ids().map(|id| effects.lookups.get(&id).copied().unwrap_or_default()).collect(),
        entries_hit: program
            .tables
            .ids()
            .map(|id| (0..ENTRIES_MAX).filter(|&entry| effects.entries_hit.contains(&(id, entry))).collect())
            .collect(),
        messages,
        calls: effects.calls,
        assertions: sorted(assertions),
    };
    (seen, world)
}

/// The entries that were hit at the time of the packets; none at any other.
fn hit_entries(times: &[u64]) -> Vec<u64> {
    assert!(times.iter().all(|time| [0, NOW_NS].contains(time)), "{times:?}");
    (0..).zip(times).filter(|(_, time)| **time == NOW_NS).map(|(entry, _)| entry).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn slots() -> impl Iterator<Item = ir::v1model::Slot> {
    ir::v1model::Slot::ALL.into_iter()
}

/// Panics if native code does other than the interpreter with these packets; `what` names the test.
pub fn check_same(what: &str, compiled: &Compiled<'_>, packets: &[Vec<u8>], host: &PlainHost<'_>, burst: usize) {
    let (expected, expected_world) = interpret(compiled.program, packets, host);
    let (found, found_world) = compiled.run(packets, host, burst);
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if expected.output.is_none() {
            assert_eq!(found.output, None, "{what}, packet {number} {:02x?}", packets[number]);
        } else {
            assert_eq!(found, expected, "{what}, packet {number} {:02x?}", packets[number]);
        }
    }
    assert_eq!(found_world, expected_world, "{what}");
}

/// A packet's chunk, followed by memory that must not be written.
struct Chunk {
    lines: Vec<Line>,
}

/// A cache line, so that chunks are aligned as packets are.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u64; 8]);

const TAILROOM_BYTES: usize = 64;
/// Lines of [`GUARD`] after every chunk.
const GUARD_LINES: usize = 2;
const GUARD: u64 = 0x6775_6172_6467_7561;

impl Chunk {
    fn new(plan: &Plan, bytes: &[u8]) -> Chunk {
        let data = plan.headroom_offset() as usize + base::limits::HEADROOM_BYTES;
        let capacity = (data + bytes.len() + TAILROOM_BYTES).next_multiple_of(64);
        // What a chunk holds before its first use must not matter.
        let mut chunk = Chunk { lines: vec![Line([0xa5a5_a5a5_a5a5_a5a5; 8]); capacity / 64] };
        chunk.lines.extend([Line([GUARD; 8]); GUARD_LINES]);
        let packet = chunk.packet();
        *packet = Packet {
            intrinsic: [0; ir::INTRINSIC_SLOTS],
            received: Received {
                data: data as u32,
                length: bytes.len() as u32,
                payload: 0,
                ingress_length: bytes.len() as u32,
                flags: 0,
                ingress_port: 0,
                time_ns: 0,
            },
            capacity: capacity as u32,
            index: 0,
            core: [0; 2],
            decided: 0,
        };
        chunk.bytes()[data..data + bytes.len()].copy_from_slice(bytes);
        chunk
    }

    fn pointer(&mut self) -> *mut Packet {
        self.lines.as_mut_ptr().cast()
    }

    fn packet(&mut self) -> &mut Packet {
        // SAFETY: aligned as lines are, large enough, and every bit pattern is a `Packet`.
        unsafe { &mut *self.pointer() }
    }

    fn bytes(&mut self) -> &mut [u8] {
        let length = (self.lines.len() - GUARD_LINES) * 64;
        // SAFETY: the lines are as many bytes, and any bytes are lines.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), length) }
    }

    fn seen(&mut self, compiled: &Compiled<'_>) -> Seen {
        let guards = &self.lines[self.lines.len() - GUARD_LINES..];
        assert!(guards.iter().flat_map(|line| line.0).all(|word| word == GUARD), "written behind the chunk");
        let packet = *self.packet();
        assert_eq!(packet.received.flags & abi::FLAG_NO_SPACE, 0, "headers without space");
        let (data, length) = (packet.received.data as usize, packet.received.length as usize);
        assert!(data >= compiled.plan.headroom_offset() as usize && data + length <= packet.capacity as usize);
        let output =
            (packet.received.flags & abi::FLAG_ASSERT_FAILED == 0).then(|| self.bytes()[data..data + length].to_vec());
        let vars = compiled.program.vars.iter_enumerated().filter_map(|(id, var)| {
            let slot = compiled.plan.vars[id]?;
            let place = slot.offset as usize..(slot.offset + slot.bytes) as usize;
            let little_endian: Vec<u8> = self.bytes()[place].iter().rev().copied().collect();
            let value = Bits::from_be_bytes(slot.bytes * 8, &little_endian);
            assert_eq!(
                value,
                value.resize(slot.width_bits).resize(slot.bytes * 8),
                "bits above the width of {}",
                var.name
            );
            Some((format!("{id} {}", var.name), value.resize(slot.width_bits)))
        });
        Seen { output, vars: vars.collect(), intrinsics: slots().map(|slot| packet.intrinsic[slot as usize]).collect() }
    }
}

/// The environment of native code, answered by a [`PlainHost`].
struct NativeWorld<'c, 'p> {
    compiled: &'c Compiled<'p>,
    host: RefCell<PlainHost<'p>>,
    registers: Vec<Vec<u64>>,
    counters: Vec<Vec<Count>>,
    direct_counters: Vec<Vec<Count>>,
    uses: Vec<TableUse>,
    last_hits: Vec<Vec<u64>>,
    /// Entries that native code has been given.
    entries: RefCell<Vec<Box<[u64]>>>,
    assertions: RefCell<Vec<String>>,
}

/// What a lookup's context points to.
struct TableContext<'w, 'c, 'p> {
    world: &'w NativeWorld<'c, 'p>,
    table: TableId,
}

impl<'c, 'p> NativeWorld<'c, 'p> {
    fn new(compiled: &'c Compiled<'p>, host: PlainHost<'p>) -> Self {
        let program = compiled.program;
        let words = |register: &ir::Register| vec![0; register.size as usize * limbs(register.ty)];
        let entries = vec![Count::default(); ENTRIES_MAX as usize];
        NativeWorld {
            compiled,
            host: RefCell::new(host),
            registers: program.registers.iter().map(words).collect(),
            counters: program.counters.iter().map(|it| vec![Count::default(); it.size as usize]).collect(),
            direct_counters: program.direct_counters.iter().map(|_| entries.clone()).collect(),
            uses: vec![TableUse::default(); program.tables.len()],
            last_hits: program.tables.iter().map(|_| vec![0; ENTRIES_MAX as usize]).collect(),
            entries: RefCell::new(Vec::new()),
            assertions: RefCell::new(Vec::new()),
        }
    }

    fn run(&mut self, block: BlockId, packets: &[*mut Packet]) {
        let sizes: Vec<u64> = self.compiled.program.registers.iter().map(|register| register.size).collect();
        let cells = self.registers.iter_mut().zip(sizes);
        let registers: Vec<Cells> = cells.map(|(words, size)| Cells { words: words.as_mut_ptr(), size }).collect();
        let counts = |cells: &mut Vec<Count>| Counts { cells: cells.as_mut_ptr(), size: cells.len() as u64 };
        let counters: Vec<Counts> = self.counters.iter_mut().map(counts).collect();
        let direct_counters: Vec<Counts> = self.direct_counters.iter_mut().map(counts).collect();
        // Cells whose bursts are 0, so that the callback runs the meter.
        let cells = |meter: &ir::Meter| vec![[0u8; abi::METER_CELL_BYTES]; meter.size as usize];
        let meter_cells: Vec<_> = self.compiled.program.meters.iter().map(cells).collect();
        let array = |cells: &Vec<[u8; abi::METER_CELL_BYTES]>| Meters {
            cells: cells.as_ptr(),
            green: std::ptr::null_mut(),
            size: cells.len() as u64,
        };
        let meters: Vec<Meters> = meter_cells.iter().map(array).collect();
        let uses = self.uses.as_mut_ptr();
        let times = |words: &mut Vec<u64>| Cells { words: words.as_mut_ptr(), size: words.len() as u64 };
        let last_hits: Vec<Cells> = self.last_hits.iter_mut().map(times).collect();
        let contexts: Vec<TableContext<'_, '_, '_>> =
            self.compiled.program.tables.ids().map(|table| TableContext { world: self, table }).collect();
        let handle = |context: &TableContext<'_, '_, '_>| LookupHandle {
            function: lookup,
            context: (&raw const *context).cast(),
            profile: tables::ProfileHandle::NONE,
            words: tables::WordsHandle::NONE,
            rows: tables::RowsHandle::NONE,
            root: tables::RootHandle::NONE,
        };
        let handles: Vec<LookupHandle> = contexts.iter().map(handle).collect();
        let crc = |it: &ir::Calculation| Crc::new(it.width_bits, &ir::CrcParameters::standard(it.width_bits));
        let calculations: Vec<Crc> = self.compiled.program.calculations.iter().map(crc).collect();
        let env = Env {
            core: (&raw const *self).cast_mut().cast(),
            tables: handles.as_ptr(),
            registers: registers.as_ptr(),
            counters: counters.as_ptr(),
            direct_counters: direct_counters.as_ptr(),
            meters: meters.as_ptr(),
            meter,
            direct_meter,
            random,
            digest,
            log,
            assert_failed,
            value_set,
            calculations: calculations.as_ptr(),
            call_extern,
            add_entry,
            set_timer,
            uses,
            last_hits: last_hits.as_ptr(),
            now_ns: NOW_NS,
            guard: std::ptr::null(),
            wait,
            first_byte: 0,
        };
        // SAFETY: chunks of the plan's layout with one owner each; arrays for all instances; callbacks take `self`.
        unsafe { self.compiled.native.run_block(block, &env, packets) };
    }

    fn finish(self) -> World {
        let program = self.compiled.program;
        let cells = |(register, words): (&ir::Register, &Vec<u64>)| {
            let cells = words.chunks(limbs(register.ty));
            cells.map(|words| Bits::from_limbs(register.ty.width(), words)).collect()
        };
        let packets = |cells: &Vec<Count>| cells.iter().map(|cell| cell.packets).collect();
        let effects = self.host.into_inner().effects;
        World {
            registers: program.registers.iter().zip(&self.registers).map(cells).collect(),
            counters: self.counters.iter().map(packets).collect(),
            direct_counters: self.direct_counters.iter().map(packets).collect(),
            lookups: self.uses.iter().map(|it| (it.lookups, it.hits)).collect(),
            entries_hit: self.last_hits.iter().map(|times| hit_entries(times)).collect(),
            messages: effects.messages,
            calls: effects.calls,
            assertions: sorted(self.assertions.into_inner()),
        }
    }
}

fn limbs(ty: Type) -> usize {
    ty.width().div_ceil(64) as usize
}

/// # Safety
/// `core` is the `Env::core` of `NativeWorld::run`.
unsafe fn world<'w>(core: *mut c_void) -> &'w NativeWorld<'w, 'w> {
    // SAFETY: the world outlives the run that calls back, and only shared references to it exist meanwhile.
    unsafe { &*core.cast::<NativeWorld<'w, 'w>>() }
}

/// # Safety
/// `words` points to the words of values of these types.
unsafe fn values(words: *const u64, types: impl IntoIterator<Item = Type>) -> Vec<Bits> {
    let mut at = 0;
    let value = |ty: Type| {
        // SAFETY: the caller guarantees it.
        let words = unsafe { std::slice::from_raw_parts(words.add(at), limbs(ty)) };
        at += limbs(ty);
        let value = Bits::from_limbs(ty.width(), words);
        assert_eq!(value.limbs(), words, "bits above the width");
        value
    };
    types.into_iter().map(value).collect()
}

unsafe extern "C" fn lookup(
    context: *const tables::Snapshot,
    keys: *const u64,
    count: u32,
    results: *mut *const EntryHeader,
) -> u32 {
    // SAFETY: generated code hands over the context of `NativeWorld::run`, the stated number of rows, and space for
    // results.
    unsafe {
        let context = &*context.cast::<TableContext<'_, '_, '_>>();
        let (world, table) = (context.world, context.table);
        let plan = &world.compiled.plan.tables[table];
        let words = plan.key.words();
        let mut hits = 0;
        for number in 0..count as usize {
            let row = std::slice::from_raw_parts(keys.add(number * words), words);
            let values = plan.key.unpack(row);
            assert_eq!(plan.key.pack(&values), row, "bits between the fields of a key");
            let found = world.host.borrow_mut().lookup(table, &values, 0);
            let hit = u64::from(found.hit());
            let mut entry = vec![u64::from(found.action) | hit << 32, found.entry.unwrap_or(0)];
            entry.extend(plan.actions[found.action as usize].pack(&found.args));
            let entry = entry.into_boxed_slice();
            *results.add(number) = entry.as_ptr().cast();
            world.entries.borrow_mut().push(entry);
            hits += u32::from(found.hit());
        }
        hits
    }
}

unsafe extern "C" fn meter(_core: *mut c_void, _meter: u32, _index: u64, _bytes: u32, _before: u32) -> u32 {
    0
}

/// # Safety
/// As the interface requires.
unsafe extern "C" fn direct_meter(core: *mut c_void, meter: u32, cell: u64, _bytes: u32, before: u32) -> u32 {
    // SAFETY: called by generated code during a run.
    let world = unsafe { world(core) };
    let meter = DirectMeterId::from_index(meter as usize);
    let is_of = |table: &ir::Table| table.direct_meter.as_ref().is_some_and(|(it, _)| *it == meter);
    let mut tables = world.compiled.program.tables.iter_enumerated();
    let (table, _) = tables.find(|(_, it)| is_of(it)).expect("each direct meter has a table");
    world.host.borrow_mut().execute_direct_meter(table, meter, cell, before as u8).into()
}

/// There is no guard to acquire.
unsafe extern "C" fn wait(_guard: *const Guard) {
    unreachable!("the environment has no guard");
}

unsafe extern "C" fn random(core: *mut c_void, low: u64, high: u64) -> u64 {
    // SAFETY: called by generated code during a run.
    unsafe { world(core) }.host.borrow_mut().random(low, high)
}

unsafe extern "C" fn digest(core: *mut c_void, digest: u32, _packet: *const Packet, words: *const u64) {
    // SAFETY: called by generated code during a run, with the digest's values.
    unsafe {
        let world = world(core);
        let digest = DigestId::from_index(digest as usize);
        let types = world.compiled.program.digests[digest].fields.iter().map(|(_, ty)| *ty);
        world.host.borrow_mut().digest(digest, &values(words, types));
    }
}

unsafe extern "C" fn log(core: *mut c_void, site: u32, _packet: *const Packet, words: *const u64) {
    // SAFETY: called by generated code during a run, with the site's arguments.
    unsafe {
        let world = world(core);
        let site = &world.compiled.plan.log_sites[site as usize];
        let values = values(words, site.args.iter().copied());
        world.host.borrow_mut().log(&interp::log_line(&site.message, &site.args, &values));
    }
}

unsafe extern "C" fn assert_failed(core: *mut c_void, site: u32, _packet: *const Packet) {
    // SAFETY: called by generated code during a run.
    let world = unsafe { world(core) };
    let text = &world.compiled.plan.assert_sites[site as usize].text;
    world.assertions.borrow_mut().push(format!("assertion failed: {text}"));
}

unsafe extern "C" fn call_extern(core: *mut c_void, id: u32, instance: u32, inputs: *const u64, outputs: *mut u64) {
    // SAFETY: called by generated code during a run, with the function's inputs and space for its outputs.
    unsafe {
        let world = world(core);
        let id = ExternFunctionId::from_index(id as usize);
        let function = &world.compiled.program.extern_functions[id];
        let is_method = function.kind == ir::ExternFunctionKind::Method;
        let instance = is_method.then(|| ExternInstanceId::from_index(instance as usize));
        let joined = world.host.borrow_mut().call_extern(id, instance, &values(inputs, function.inputs()));
        let limbs = joined.limbs();
        std::slice::from_raw_parts_mut(outputs, limbs.len()).copy_from_slice(limbs);
    }
}

unsafe extern "C" fn add_entry(_core: *mut c_void, _table: u32, _action: u32, _words: *const u64) -> u32 {
    unreachable!("no program of these tests adds entries");
}

unsafe extern "C" fn set_timer(_core: *mut c_void, _table: u32, _entry: u32, _profile: u32) {
    unreachable!("no program of these tests sets timers");
}

unsafe extern "C" fn value_set(core: *mut c_void, set: u32, words: *const u64) -> u32 {
    // SAFETY: called by generated code during a run, with the keys.
    unsafe {
        let world = world(core);
        let set = ValueSetId::from_index(set as usize);
        let types = world.compiled.program.value_sets[set].keys.iter().map(|&(_, width, _)| Type::Bit(width));
        u32::from(world.host.borrow_mut().value_set_contains(set, &values(words, types)))
    }
}
