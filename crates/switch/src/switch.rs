//! The core as its users see it.

use crate::added::Published;
use crate::engine::{Engine, Observability, Rules};
use crate::externs::{CounterCell, Externs};
use crate::frame::Frame;
use crate::interpreted::Interpreted;
use crate::meter::MeterCell;
use crate::native::NativePipeline;
use crate::output::{Observer, Output};
use crate::packet::{Packet, Pool, PoolLimits, Reception};
use crate::pipeline::{Entries, Execution, Pipeline};
use crate::pna::{self, Pna};
use crate::psa::{self, Psa};
use crate::replication::Replication;
use crate::shards::Shard;
use crate::shared_tables::{LockedTables, SharedTables};
use crate::specialise::Special;
use crate::stage_times::CoreStage;
use crate::stats::{DropReason, Stats};
use crate::table_specs::{profile_specs, table_specs};
use crate::tap::{Arrival, Tap};
use crate::traffic::{
    BufferSettings, InternalPort, InternalPortSettings, InternalPortState, QueueSettings, QueueState, Refusal,
};
use crate::v1model::{self, V1Model};
use base::index::Id as _;
use base::limits::{BURST_PACKETS_MAX, CELLS_MAX, PACKET_BYTES_MAX, STATE_BYTES_MAX};
use cgen::{PlugIn, Sharing};
use ir::Program;
use std::sync::{Arc, OnceLock};
use tables::{Arrivals, Operation, Reader, TableError, TableSet};

/// What runs the program's blocks. Switches may share it.
#[derive(Clone)]
pub enum Backend {
    /// The reference interpreter.
    Interpreter,
    /// A pipeline compiled by `cgen` from this very program, and its plan.
    Native(Arc<cgen::Native>, Arc<cgen::Plan>),
}

/// How a core is set up.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Seed of the program's random numbers and of the tables' hashes.
    pub seed: u64,
    /// The value of registers that are to hold the number of the switch's start. The caller passes another one each
    /// time.
    pub start_number: u64,
    /// Queues per port (`standard_metadata.priority` chooses one).
    pub priorities: usize,
    /// How many packets the core may hold.
    pub pool: PoolLimits,
    /// Whether packets may take the fast path, if the program has one. The packets that leave are the same.
    pub fast_path: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config { seed: 1, start_number: 1, priorities: 1, pool: PoolLimits::default(), fast_path: true }
    }
}

/// Why a core could not be made.
#[derive(Debug)]
pub enum SwitchError {
    /// A table of the program cannot be run.
    Table(TableError),
    /// A register, counter or meter has more cells than `base::limits::CELLS_MAX`.
    TooManyCells {
        /// Its name.
        name: String,
        /// The cells that it has.
        cells: u64,
    },
    /// All registers, counters and meters together take more than `base::limits::STATE_BYTES_MAX`.
    TooMuchState {
        /// The largest.
        name: String,
        /// What all of them take.
        bytes: u64,
    },
    /// The program calls extern functions of its own, and there is no plug-in: their prototypes.
    NoPlugIn(Vec<String>),
}

impl std::fmt::Display for SwitchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SwitchError::Table(error) => error.fmt(f),
            SwitchError::TooManyCells { name, cells } => {
                write!(f, "{name} has {cells} cells; the most is {CELLS_MAX}")
            }
            SwitchError::TooMuchState { name, bytes } => write!(
                f,
                "the registers, counters and meters of the program take {} MiB; the most is {} MiB; the largest is \
                 {name}",
                bytes >> 20,
                STATE_BYTES_MAX >> 20
            ),
            SwitchError::NoPlugIn(prototypes) => f.write_str(&cgen::plug_in::missing(prototypes)),
        }
    }
}

impl std::error::Error for SwitchError {}

/// A switch that runs one program.
pub struct Switch {
    pub(crate) program: Arc<Program>,
    pub(crate) engine: Engine,
    pub(crate) rules: Box<dyn Rules>,
    pub(crate) tables: SharedTables,
    pub(crate) reader: Reader,
    pub(crate) new_entries: NewEntries,
    pub(crate) externs: Externs,
    pub(crate) received: Vec<Packet>,
    pub(crate) now_ns: u64,
    /// What shards are made with.
    pub(crate) config: Config,
    pub(crate) growth_bytes: usize,
    /// Computed on first use: most switches are run by one worker.
    pub(crate) sharing: OnceLock<Arc<Sharing>>,
    /// Those that are parked, while the control plane works on the switch.
    pub(crate) shards: Vec<Shard>,
    /// The code for the tables as they are, while they are so.
    pub(crate) special: Special,
    /// Where others look at packets that arrive.
    pub(crate) tap: Arc<Tap>,
    /// Follows every packet.
    pub(crate) observer: Option<Box<dyn Observer + Send>>,
}

/// A switch may be made by one thread and run by another.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Switch>();
};

impl Switch {
    /// A switch with the program's own entries and nothing else.
    pub fn new(program: Arc<Program>, backend: Backend, config: Config) -> Result<Switch, SwitchError> {
        Switch::with_plug_in(program, backend, config, None)
    }

    /// The same, with what supplies the program's own extern functions: loaded for this very program.
    pub fn with_plug_in(
        program: Arc<Program>,
        backend: Backend,
        config: Config,
        plug_in: Option<PlugIn>,
    ) -> Result<Switch, SwitchError> {
        if plug_in.is_none() && !program.extern_functions.is_empty() {
            return Err(SwitchError::NoPlugIn(cgen::plug_in::prototypes(&program)));
        }
        check_state(&program)?;
        let tables = TableSet::with_profiles(table_specs(&program), profile_specs(&program), config.seed);
        let mut tables = tables.map_err(SwitchError::Table)?;
        let reader = tables.reader();
        let mut externs = Externs::new(&program, config.seed, config.start_number);
        externs.plug_in = plug_in;
        let growth_bytes = emitted_bytes_max(&program);
        let (pool, pipeline): (Pool, Box<dyn Pipeline>) = match backend {
            Backend::Interpreter => {
                let pool = Pool::new(0, growth_bytes, config.pool);
                let (floor, start) = (pool.floor(), pool.start());
                (pool, Box::new(Interpreted::new(Arc::clone(&program), floor, start)))
            }
            Backend::Native(native, plan) => {
                let pool = Pool::new(plan.context_size as usize, growth_bytes, config.pool);
                let first_byte = pool.start();
                (pool, Box::new(NativePipeline::new(Arc::clone(&program), native, plan, first_byte)))
            }
        };
        let (rules, observability) = rules_of(&program);
        let engine = Engine::new(&program, pipeline, pool, config.priorities, observability, config.fast_path);
        let received = Vec::with_capacity(BURST_PACKETS_MAX);
        let new_entries = NewEntries::new(tables.arrivals());
        let tables = SharedTables::new(tables);
        Ok(Switch {
            program,
            engine,
            rules,
            tables,
            reader,
            new_entries,
            externs,
            received,
            now_ns: 0,
            config,
            growth_bytes,
            sharing: OnceLock::new(),
            shards: Vec::new(),
            special: Special::default(),
            tap: Arc::default(),
            observer: None,
        })
    }

    /// Where others look at packets that arrive. It stays the same when another program is put in.
    pub fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    /// Has an observer follow every packet from now on. Packets are then worked on one by one. Only the interpreter
    /// reports the steps of a packet: of native code an observer gets the architecture's decisions.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.observer = Some(observer);
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What supplies the program's own extern functions, if it has some.
    pub fn plug_in(&self) -> Option<&PlugIn> {
        self.externs.plug_in.as_ref()
    }

    /// Takes a packet in. It is worked on by the next [`Switch::run`]; call that at the latest when this returns true:
    /// a full burst has been received. Frames longer than `base::limits::PACKET_BYTES_MAX` are dropped and counted.
    pub fn receive(&mut self, now_ns: u64, port: u32, frame: &[u8]) -> bool {
        self.receive_burst(now_ns, port, &[frame])
    }

    /// Takes packets in that came together, as [`Switch::receive`] does.
    pub fn receive_burst(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]) -> bool {
        if self.tap.is_on() {
            self.tap.show(frames.iter().map(|bytes| Arrival { port, time_ns: now_ns, bytes }));
        }
        self.take_in(now_ns, port, frames)
    }

    /// Takes a packet in that an [`Observer`] of the next run knows by this tag, which all that becomes of the packet
    /// inherits. The tags of all packets mean something only if all are received in this way. False if the packet was
    /// dropped since there was no buffer for it.
    pub fn receive_tagged(&mut self, now_ns: u64, port: u32, frame: &[u8], tag: u32) -> bool {
        let before = self.received.len();
        self.receive(now_ns, port, frame);
        self.received[before..].iter_mut().for_each(|packet| packet.set_tag(tag));
        self.received.len() > before
    }

    /// Whether a packet with this tag is in a queue. What a coalescing buffer holds has no tag any more.
    pub fn holds(&self, tag: u32) -> bool {
        self.engine.traffic.packets().any(|packet| packet.tag() == tag)
    }

    fn take_in(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]) -> bool {
        self.engine.receive(Reception { port, time_ns: now_ns }, frames, &mut self.received);
        self.received.len() >= BURST_PACKETS_MAX || self.observer.is_some()
    }

    /// Bytes before a frame into which the program may move its headers: frames with less are copied by
    /// [`Switch::forward`].
    pub fn headroom_bytes(&self) -> usize {
        self.engine.pipeline.headroom_bytes() as usize
    }

    /// Takes packets in and works on them, and does all that [`Switch::run`] does. Their bytes are worked on where they
    /// lie if the program allows that, and else in a copy; they mean nothing any more afterwards. Packets that leave
    /// are handed to `output` meanwhile.
    pub fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) {
        if self.tap.is_on() {
            let arrival = |frame| {
                let frame: &Frame<'_> = frame;
                Arrival { port: frame.port(), time_ns: frame.time_ns(), bytes: frame.bytes() }
            };
            self.tap.show(frames.iter().map(arrival));
        }
        if self.forwards_in_place(frames) && self.run_with(now_ns, frames, output, None) {
            return;
        }
        frames.iter().take(BURST_PACKETS_MAX).for_each(Frame::fetch);
        let mut bursts = frames.chunks(BURST_PACKETS_MAX).peekable();
        while let Some(burst) = bursts.next() {
            bursts.peek().into_iter().copied().flatten().for_each(Frame::fetch);
            for frame in burst {
                let is_due = self.take_in(frame.time_ns(), frame.port(), &[frame.bytes()]);
                if is_due && self.observer.is_some() {
                    self.run(now_ns, output);
                }
            }
            self.run(now_ns, output);
        }
    }

    /// Whether [`Switch::forward`] works on these frames where they lie, unless tables change meanwhile.
    pub fn forwards_in_place(&self, frames: &[Frame<'_>]) -> bool {
        self.observer.is_none() && self.received.is_empty() && self.engine.forwards(frames)
    }

    /// Counts packets that were received and are too long for the core.
    pub fn refuse(&mut self, count: u64) {
        self.engine.stats.received += count;
        self.engine.stats.count_drops(DropReason::NoBuffer, count);
    }

    /// Works on all packets received since the last run, on everything they cause, and on queued packets that are due.
    /// Time must not run backwards; if it does it is taken as standing still.
    pub fn run(&mut self, now_ns: u64, output: &mut dyn Output) {
        self.run_with(now_ns, &mut [], output, None);
    }

    /// The same, reported to an observer step by step.
    pub fn run_observed(&mut self, now_ns: u64, output: &mut dyn Output, observer: &mut dyn Observer) {
        self.run_with(now_ns, &mut [], output, Some(observer));
    }

    /// Returns whether it has run: not if the frames may no more be lent, since a table has changed and the code that
    /// runs from now on cannot work on them where they lie.
    fn run_with(
        &mut self,
        now_ns: u64,
        mut lent: &mut [Frame<'_>],
        output: &mut dyn Output,
        mut observer: Option<&mut dyn Observer>,
    ) -> bool {
        self.now_ns = self.now_ns.max(now_ns);
        self.expire_entries();
        let mut is_begun = false;
        loop {
            self.measure_free_entries();
            // Rebuilt, so that its lifetime shrinks to the call's.
            let observer = observer.as_mut().map(|observer| &mut **observer as &mut dyn Observer);
            match self.run_until_added(lent, output, observer) {
                Progress::Done => return true,
                Progress::Added(rest) => lent = rest,
                // A table has changed: the rest is copied.
                Progress::NotLendable(rest) if is_begun => {
                    for frame in rest {
                        self.take_in(frame.time_ns(), frame.port(), &[frame.bytes()]);
                    }
                    lent = &mut [];
                    continue;
                }
                Progress::NotLendable(_) => return false,
            }
            self.publish_added();
            is_begun = true;
        }
    }

    /// Works on everything, or stops behind a packet that has added entries to tables.
    fn run_until_added<'f, 'b>(
        &mut self,
        lent: &'f mut [Frame<'b>],
        output: &mut dyn Output,
        observer: Option<&mut dyn Observer>,
    ) -> Progress<'f, 'b> {
        let entries = match self.engine.pipeline.reads_store() {
            true => Entries::Stored(self.tables.lock()),
            false => Entries::Lookups(self.reader.enter()),
        };
        if let Entries::Lookups(lookups) = &entries
            && !self.special.holds(lookups)
        {
            self.special.end(&self.program, &mut self.engine, &mut self.rules);
            if !lent.is_empty() && !self.engine.forwards(lent) {
                return Progress::NotLendable(lent);
            }
        }
        self.new_entries.reset_cells(&self.program, &mut self.externs, entries.version(), self.now_ns);
        let mut execution = Execution {
            externs: &mut self.externs,
            has_addresses: false,
            entries,
            now_ns: self.now_ns,
            output,
            // Rebuilt, so that its lifetime shrinks to the execution's.
            observer: match (observer, &mut self.observer) {
                (Some(observer), _) => Some(observer),
                (None, Some(observer)) => Some(&mut **observer),
                (None, None) => None,
            },
        };
        let rest = self.engine.run(&mut *self.rules, &mut self.received, lent, &mut execution);
        if let (Some(observer), Entries::Stored(tables)) = (&mut execution.observer, &execution.entries) {
            observer.finish(tables, execution.now_ns);
        }
        if matches!(execution.entries, Entries::Stored(_)) && self.engine.queued() == 0 {
            self.engine.pipeline.forget_packets();
        }
        rest.map_or(Progress::Done, Progress::Added)
    }

    /// Deletes the entries whose timers have run out.
    fn expire_entries(&mut self) {
        if self.externs.timers.next_ns().is_none_or(|next_ns| next_ns > self.now_ns) {
            return;
        }
        let mut tables = self.tables.lock();
        self.new_entries.reset_cells(&self.program, &mut self.externs, tables.version(), self.now_ns);
        let mut transaction = tables.begin();
        while let Some((table, handle)) = self.externs.timers.take_due(self.now_ns) {
            // One that a controller has deleted is gone already.
            let _ = transaction.perform(table.index(), Operation::Delete { handle });
        }
        transaction.commit();
    }

    /// Finds out how many entries packets may add.
    fn measure_free_entries(&mut self) {
        if !self.externs.added.is_unused() {
            self.externs.added.measure(&self.tables.lock());
        }
    }

    /// Publishes the entries that a packet has added, and starts their timers.
    fn publish_added(&mut self) {
        let mut tables = self.tables.lock();
        let published = self.externs.added.publish(&self.program, &mut tables, &self.externs.timers);
        self.new_entries.reset_cells(&self.program, &mut self.externs, tables.version(), self.now_ns);
        for Published { table, handle, profile } in published {
            self.externs.timers.set(table, handle, Some(profile), self.now_ns);
        }
    }

    /// Advances time without working on anything, for what the control plane does next. Time must not run backwards;
    /// if it does it is taken as standing still.
    pub fn advance(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Puts a switch with another program in this one's place and returns the old one. Time, counts and the settings of
    /// queues are carried over. Packets that were received or queued are dropped and counted: what they carry is known
    /// to the old program alone.
    pub fn replace(&mut self, mut next: Switch) -> Switch {
        next.advance(self.now_ns);
        next.tap = Arc::clone(&self.tap);
        next.engine.traffic.adopt_settings(&self.engine.traffic);
        next.engine.stats = self.engine.stats;
        let queued = self.received.len() + self.queued();
        next.engine.stats.count_drops(DropReason::ProgramChanged, queued as u64);
        std::mem::replace(self, next)
    }

    /// When [`Switch::run`] has something to do next though nothing is received: the departure of a queued packet, or
    /// that of a buffer, or the end of an entry's time.
    pub fn next_event_ns(&self) -> Option<u64> {
        let others = [self.engine.buffers.next_due_ns(), self.externs.timers.next_ns()];
        self.next_departure_ns().into_iter().chain(others.into_iter().flatten()).min()
    }

    /// Releases every coalescing buffer at the next [`Switch::run`], for a switch that is about to end: packets in
    /// buffers would be lost.
    pub fn release_buffers(&mut self) {
        self.engine.buffers.hasten();
    }

    /// When the next queued packet departs.
    pub fn next_departure_ns(&self) -> Option<u64> {
        self.engine.traffic.next_departure_ns()
    }

    /// Whether it can be seen at which moment a packet is worked on: the program meters, gathers packets or reads
    /// queueing time stamps, or a queue or an internal port has a rate. Otherwise packets that were received at
    /// different times may go through one run together.
    pub fn shows_time(&self) -> bool {
        self.engine.observability.time || self.engine.traffic.has_rates() || self.engine.traffic.has_internal_ports()
    }

    /// Packets in queues and buffers.
    pub fn queued(&self) -> usize {
        self.engine.queued()
    }

    /// The queues that were set up, or that have or refused packets.
    pub fn queues(&self) -> impl Iterator<Item = QueueState> {
        self.engine.traffic.queues()
    }

    /// What the core has counted.
    pub fn stats(&self) -> &Stats {
        &self.engine.stats
    }

    /// Measures the stages of the core from now on with a clock in nanoseconds, or stops measuring.
    pub fn measure_stages(&mut self, clock: Option<fn() -> u64>) {
        self.engine.timer.set_clock(clock);
    }

    /// What a stage has taken since measuring began.
    pub fn stage_ns(&self, stage: CoreStage) -> u64 {
        self.engine.timer.spent_ns(stage)
    }

    /// The time of the last run.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The tables, by position in the program, locked to be read and changed. Changes show from the next run on. The
    /// lock must be released before it is taken again.
    pub fn tables(&self) -> LockedTables<'_> {
        self.tables.lock()
    }

    /// The tables for other threads, which may change them while the switch runs.
    pub fn shared_tables(&self) -> SharedTables {
        self.tables.clone()
    }

    /// Registers, counters, meters, value sets, to be read and changed. New entries have fresh cells.
    pub fn externs_mut(&mut self) -> &mut Externs {
        let version = self.reader.enter().version();
        self.new_entries.reset_cells(&self.program, &mut self.externs, version, self.now_ns);
        self.add_up();
        &mut self.externs
    }

    /// Multicast groups and clone sessions.
    pub fn replication(&self) -> &Replication {
        &self.engine.replication
    }

    /// The same, to be changed.
    pub fn replication_mut(&mut self) -> &mut Replication {
        Arc::make_mut(&mut self.engine.replication)
    }

    /// Changes the settings of the queues of a port, or of all ports; of one priority or all.
    pub fn set_queues(
        &mut self,
        port: Option<u32>,
        priority: Option<u32>,
        change: impl Fn(&mut QueueSettings),
    ) -> Result<(), Refusal> {
        self.engine.traffic.set_queues(port, priority, change)
    }

    /// Gives an internal port a rate and a delay: without them packets take no time on it.
    pub fn set_internal_port(&mut self, port: InternalPort, settings: InternalPortSettings) {
        self.engine.traffic.set_internal_port(port, settings);
    }

    /// What the internal ports that are set up have done.
    pub fn internal_ports(&self) -> impl Iterator<Item = (InternalPort, InternalPortState)> {
        self.engine.traffic.internal_ports()
    }

    /// Sets the buffer that the queues of all ports share.
    pub fn set_buffer(&mut self, buffer: BufferSettings) {
        self.engine.traffic.set_buffer(buffer);
    }

    /// Sets what the wire behind a port carries, in bits per second, 0 for no limit, and how many bytes beside each
    /// packet: [`ETHERNET_OVERHEAD_BYTES`](crate::traffic::ETHERNET_OVERHEAD_BYTES) on Ethernet. Packets are held in
    /// the port's queues, whose depths the program can read.
    pub fn set_port_rate(&mut self, port: u32, bits_per_s: u64, overhead_bytes: u32) -> Result<(), Refusal> {
        self.engine.traffic.set_port_rate(port, bits_per_s, overhead_bytes)
    }
}

/// How far a run has come.
enum Progress<'f, 'b> {
    /// To the end.
    Done,
    /// To a packet that has added entries; these frames are left.
    Added(&'f mut [Frame<'b>]),
    /// Nowhere: the code that runs from now on cannot work on these frames where they lie.
    NotLendable(&'f mut [Frame<'b>]),
}

/// Entries that are new, whose cells others may have used.
pub(crate) struct NewEntries {
    arrivals: Arrivals,
    /// The state of the tables whose new entries have had their cells reset.
    reset_version: u64,
    /// Whether their insertion counts as a hit. In shards it does not: it is noted once.
    notes_coming: bool,
}

impl NewEntries {
    fn new(arrivals: Arrivals) -> NewEntries {
        NewEntries { arrivals, reset_version: 0, notes_coming: true }
    }

    /// The same for a shard.
    pub(crate) fn of_shard(arrivals: Arrivals) -> NewEntries {
        NewEntries { notes_coming: false, ..NewEntries::new(arrivals) }
    }

    /// Resets the cells of entries that are new in this state of the tables.
    pub(crate) fn reset_cells(&mut self, program: &Program, externs: &mut Externs, version: u64, now_ns: u64) {
        if version != self.reset_version {
            self.reset_version = version;
            let came_ns = if self.notes_coming { now_ns } else { 0 };
            externs.reset_cells(program, &self.arrivals.take(version), came_ns);
        }
    }
}

/// Makes the rules of an architecture for a program of it.
type MakeRules = fn(&Program) -> (Box<dyn Rules>, Observability);

/// The rules of each architecture.
const RULES: [(&ir::Architecture, MakeRules); 3] = [
    (&ir::v1model::ARCHITECTURE, |program| (Box::new(V1Model::new(program)), v1model::observability(program))),
    (&ir::psa::ARCHITECTURE, |program| (Box::new(Psa::new(program)), psa::observability(program))),
    (&ir::pna::ARCHITECTURE, |program| (Box::new(Pna::new(program)), pna::observability(program))),
];

/// The rules of a program's architecture, and what it shows of how packets are worked on.
pub(crate) fn rules_of(program: &Program) -> (Box<dyn Rules>, Observability) {
    let of_program = RULES.iter().find(|(architecture, _)| *architecture == program.architecture);
    let (_, make) = of_program.expect("every architecture has rules");
    make(program)
}

/// Refuses arrays that would not fit the memory.
fn check_state(program: &Program) -> Result<(), SwitchError> {
    let register = |it: &ir::Register| (it.name.clone(), it.size, u64::from(it.ty.width().div_ceil(64)) * 8);
    let counter = |it: &ir::Counter| (it.name.clone(), it.size, size_of::<CounterCell>() as u64);
    let meter = |it: &ir::Meter| (it.name.clone(), it.size, size_of::<MeterCell>() as u64);
    let direct = |it: &ir::Table| {
        let counter = it.direct_counters.len() * size_of::<CounterCell>();
        let meter = if it.direct_meter.is_some() { size_of::<MeterCell>() } else { 0 };
        let last_hit = if it.support_timeout { size_of::<u64>() } else { 0 };
        (it.name.clone(), it.size.min(CELLS_MAX), (counter + meter + last_hit) as u64)
    };
    let arrays = program.registers.iter().map(register).chain(program.counters.iter().map(counter));
    let arrays = arrays.chain(program.meters.iter().map(meter)).chain(program.tables.iter().map(direct));
    let (mut total, mut largest) = (0u64, (0, String::new()));
    for (name, cells, cell_bytes) in arrays {
        if cells > CELLS_MAX {
            return Err(SwitchError::TooManyCells { name, cells });
        }
        let bytes = cells * cell_bytes;
        total = total.saturating_add(bytes);
        largest = largest.max((bytes, name));
    }
    if total > STATE_BYTES_MAX {
        return Err(SwitchError::TooMuchState { name: largest.1, bytes: total });
    }
    Ok(())
}

/// The most bytes that deparsing can put before a payload if each deparser emits every header once.
fn emitted_bytes_max(program: &Program) -> usize {
    let bytes = |header: &ir::Header| program.header_types[header.ty].bytes_max() as usize;
    let all: usize = program.headers.iter().filter(|header| header.metadata).map(bytes).sum();
    let deparsers = program.architecture.blocks.iter().filter(|block| block.role == ir::BlockRole::Deparser).count();
    (all * deparsers).min(PACKET_BYTES_MAX)
}
