//! Shards: cores of the same switch for further workers, which run at the same time and know nothing of each other.
//!
//! What enters: a switch whose program has no state that workers must use one at a time ([`cgen::Sharing`]). What
//! leaves: [`Shard`]s. A shard has packets, queues and counts of its own; it shares the tables, the multicast groups,
//! the compiled code, the meters, whose cells it takes one packet at a time, and the registers that are no sums, which
//! that code touches behind a guard. What it counts is a part of a sum: counters, sums of registers, uses of tables
//! begin at zero in it. Its random numbers are of a sequence of its own. The control plane does not depend on this.
//! Before it does something, the shards are parked ([`Switch::quiesce`]), which moves a pointer for each and adds
//! nothing up; access to counters or registers ([`Switch::externs_mut`]) then adds them to the switch's own first.
//! Afterwards the shards are resumed ([`Switch::resume_shards`]) with the settings as they are then.
//!
//! Queues with a rate are one for all packets to a port. Other state that must be in one place, direct meters for
//! example, has no guard, and the interpreter runs in one thread. Such a switch has no shards: its workers use the one
//! core in exclusive mode.

use crate::added::AddedEntries;
use crate::engine::Engine;
use crate::entry_timers::EntryTimers;
use crate::externs::{CounterCell, Externs, MeterArray, RegisterArray, TableUse, apart};
use crate::frame::Frame;
use crate::output::Output;
use crate::packet::Pool;
use crate::specialise::Special;
use crate::switch::{NewEntries, Switch, rules_of};
use base::limits::BURST_PACKETS_MAX;
use base::{IndexVec, Rng};
use cgen::Sharing;
use ir::RegisterId;
use std::sync::Arc;

/// A core of a switch for another worker.
pub struct Shard(Switch);

impl Shard {
    /// As [`Switch::receive_burst`].
    pub fn receive_burst(&mut self, now_ns: u64, port: u32, frames: &[&[u8]]) -> bool {
        self.0.receive_burst(now_ns, port, frames)
    }

    /// As [`Switch::receive`].
    pub fn receive(&mut self, now_ns: u64, port: u32, frame: &[u8]) -> bool {
        self.0.receive(now_ns, port, frame)
    }

    /// As [`Switch::forward`].
    pub fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) {
        self.0.forward(now_ns, frames, output);
    }

    /// As [`Switch::refuse`].
    pub fn refuse(&mut self, count: u64) {
        self.0.refuse(count);
    }

    /// As [`Switch::run`].
    pub fn run(&mut self, now_ns: u64, output: &mut dyn Output) {
        self.0.run(now_ns, output);
    }
}

/// Why a switch has no shards, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShardable {
    /// The interpreter takes one packet at a time.
    Interpreter,
    /// This state must be guarded.
    State(Vec<String>),
    /// A queue or a port has a rate.
    Rates,
}

impl std::fmt::Display for NotShardable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotShardable::Interpreter => f.write_str("the interpreter takes one packet at a time"),
            NotShardable::State(names) => write!(f, "packets must take turns at {}", names.join(", ")),
            NotShardable::Rates => f.write_str("a queue or a port has a rate, which is one for all workers"),
        }
    }
}

impl Switch {
    fn sharing(&self) -> &Arc<Sharing> {
        self.sharing.get_or_init(|| Arc::new(Sharing::of(&self.program)))
    }

    /// Whether one worker must have all packets, since their order is one of all flows.
    pub fn is_ordered(&self) -> bool {
        self.sharing().is_ordered
    }

    /// Whether the switch as it is set up now can have shards, or why not.
    pub fn divides(&self) -> Result<(), NotShardable> {
        if self.engine.pipeline.reads_store() {
            return Err(NotShardable::Interpreter);
        }
        let turns = &self.sharing().turns;
        if !turns.is_empty() {
            return Err(NotShardable::State(turns.iter().cloned().collect()));
        }
        if self.engine.traffic.has_rates() || self.engine.traffic.has_internal_ports() {
            return Err(NotShardable::Rates);
        }
        Ok(())
    }

    /// Takes shards in for as long as the control plane works on the switch. They must be of this switch, or of one
    /// that it has taken the place of, whose shards are forgotten with it.
    pub fn quiesce(&mut self, shards: impl IntoIterator<Item = Shard>) {
        for mut shard in shards {
            self.engine.stats.add(&std::mem::take(&mut shard.0.engine.stats));
            self.now_ns = self.now_ns.max(shard.0.now_ns);
            self.shards.push(shard);
        }
    }

    /// Resumes `count` shards, with everything set up as in this switch now; they may be fewer or more than were
    /// parked. None if the switch is not shardable.
    pub fn resume_shards(&mut self, count: usize) -> Vec<Shard> {
        let count = if self.divides().is_ok() { count } else { 0 };
        if self.shards.len() > count {
            self.add_up();
            self.shards.truncate(count);
        }
        while self.shards.len() < count
            && let Some(shard) = self.new_shard()
        {
            self.shards.push(shard);
        }
        let mut shards = std::mem::take(&mut self.shards);
        let has_guarded = !shards.is_empty() && !self.sharing().guarded.is_empty();
        // The same guard as before, since its time continues.
        let guard = self.externs.guard.take();
        self.externs.guard = has_guarded.then(|| guard.unwrap_or_default());
        let is_shared = !shards.is_empty();
        self.externs.meters.iter_mut().for_each(|meters| meters.be_shared(is_shared));
        shards.iter_mut().for_each(|shard| self.set_up(&mut shard.0));
        shards
    }

    fn new_shard(&mut self) -> Option<Shard> {
        let (pipeline, context_bytes) = self.engine.pipeline.shard()?;
        let pool = Pool::new(context_bytes, self.growth_bytes, self.config.pool);
        let seed = self.externs.rng.next_u64();
        let (rules, observability) = rules_of(&self.program);
        let (config, program) = (&self.config, &self.program);
        let engine = Engine::new(program, pipeline, pool, config.priorities, observability, config.fast_path);
        let (reader, arrivals) = {
            let mut tables = self.tables.lock();
            (tables.reader(), tables.arrivals())
        };
        Some(Shard(Switch {
            program: Arc::clone(program),
            engine,
            rules,
            tables: self.tables.clone(),
            reader,
            new_entries: NewEntries::of_shard(arrivals),
            externs: self.externs.part(self.sharing(), seed),
            received: Vec::with_capacity(BURST_PACKETS_MAX),
            now_ns: self.now_ns,
            config: self.config,
            growth_bytes: self.growth_bytes,
            sharing: self.sharing.clone(),
            shards: Vec::new(),
            special: Special::default(),
            tap: Arc::clone(&self.tap),
            observer: None,
        }))
    }

    /// Gives a shard the settings of this switch.
    fn set_up(&self, shard: &mut Switch) {
        shard.engine.replication = Arc::clone(&self.engine.replication);
        shard.now_ns = self.now_ns;
        shard.run_as(&self.special);
        let (from, to) = (&self.externs, &mut shard.externs);
        to.guard.clone_from(&from.guard);
        if to.value_sets != from.value_sets {
            to.value_sets.clone_from(&from.value_sets);
        }
        to.calculations.adopt(&from.calculations);
        let sums = &self.sharing().sums;
        let shared = from.registers.iter_enumerated().zip(to.registers.iter_mut());
        for ((_, from), to) in shared.filter(|((id, _), _)| !sums.contains(id)) {
            // An array that was written as a whole is another one since.
            to.share_cells_of(from);
        }
        for (to, from) in to.meters.iter_mut().zip(from.meters.iter()) {
            to.share_cells_of(from);
        }
    }

    /// Adds what the shards at home have counted to what the switch itself has. All have met the same state of the
    /// tables then: cells of entries that went are not added to those of entries that came.
    pub(crate) fn add_up(&mut self) {
        if self.shards.is_empty() {
            return;
        }
        let sharing = Arc::clone(self.sharing());
        let version = self.reader.enter().version();
        self.new_entries.reset_cells(&self.program, &mut self.externs, version, self.now_ns);
        self.externs.meters.iter_mut().for_each(MeterArray::add_up);
        for shard in &mut self.shards {
            shard.0.new_entries.reset_cells(&self.program, &mut shard.0.externs, version, self.now_ns);
            self.externs.add(&mut shard.0.externs, &sharing);
        }
    }
}

impl Externs {
    /// The state of a shard: parts of sums that are zero, settings as they are here, the registers themselves that are
    /// guarded or only read, the cells of meters, and nothing of what there are no shards for. It draws random numbers
    /// from this seed.
    fn part(&self, sharing: &Sharing, seed: u64) -> Externs {
        let zeros = |from: &Vec<CounterCell>| apart(from.len());
        let register = |(id, register): (RegisterId, &RegisterArray)| match sharing.sums.contains(&id) {
            true => register.part(),
            false => register.shared(),
        };
        Externs {
            registers: self.registers.iter_enumerated().map(register).collect(),
            counters: self.counters.iter().map(zeros).collect(),
            direct_counters: self.direct_counters.iter().map(zeros).collect(),
            meters: self.meters.iter().map(MeterArray::shared).collect(),
            direct_meters: self.direct_meters.iter().map(MeterArray::shared).collect(),
            table_uses: apart::<TableUse>(self.table_uses.len()).into_iter().collect(),
            last_hits_ns: self.last_hits_ns.iter().map(|times| apart(times.len())).collect(),
            added: AddedEntries::default(),
            timers: EntryTimers::default(),
            value_sets: self.value_sets.clone(),
            calculations: self.calculations.clone(),
            rng: Rng::new(seed),
            guard: None,
            plug_in: None,
        }
    }

    /// Takes everything that a shard has counted.
    fn add(&mut self, part: &mut Externs, sharing: &Sharing) {
        add_counters(&mut self.counters, &mut part.counters);
        add_counters(&mut self.direct_counters, &mut part.direct_counters);
        part.meters.iter_mut().for_each(MeterArray::add_up);
        for &register in &sharing.sums {
            self.registers[register].take_from(&mut part.registers[register]);
        }
        for (sum, part) in self.table_uses.iter_mut().zip(part.table_uses.iter_mut()) {
            sum.lookups = sum.lookups.wrapping_add(part.lookups);
            sum.hits = sum.hits.wrapping_add(part.hits);
            *part = TableUse::default();
        }
        let times = self.last_hits_ns.iter_mut().zip(part.last_hits_ns.iter_mut());
        for (last, part) in times.flat_map(|(sum, part)| sum.iter_mut().zip(part)) {
            if *part != 0 {
                *last = (*last).max(std::mem::take(part));
            }
        }
    }
}

fn add_counters<I: base::index::Id>(
    sums: &mut IndexVec<I, Vec<CounterCell>>,
    parts: &mut IndexVec<I, Vec<CounterCell>>,
) {
    for (sum, part) in sums.iter_mut().zip(parts.iter_mut()).flat_map(|(sums, parts)| sums.iter_mut().zip(parts)) {
        // Most cells of a shard are untouched; they are not written, so that they take no memory.
        if *part != CounterCell::default() {
            sum.packets = sum.packets.wrapping_add(part.packets);
            sum.bytes = sum.bytes.wrapping_add(part.bytes);
            *part = CounterCell::default();
        }
    }
}
