//! What a restart must restore.
//!
//! What enters: the state of the switch and of its control plane. What leaves: the whole state, as updates for an
//! empty switch; or the cells of registers and counters that packets have changed since the last scan. Cells are
//! scanned in blocks, of which only a hash is stored: between two bursts the worker spends some microseconds on many
//! cells, and copies only those that have changed.

use crate::api::arrays::sets_all_cells;
use crate::api::entity::{Cell, Direct, Entity, EntryName, MeterValue, TableEntry, Update, UpdateKind};
use crate::api::fault::Fault;
use crate::api::read::{Query, TableQuery, Which};
use crate::api::state::ControllerState;
use crate::api::{Pipeline, ProgramQueue};
use base::OrderedMap;
use base::index::Id as _;
use ir::{CounterId, DirectCounterId, RegisterId, TableId};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use switch::externs::{CounterCell, Externs, RegisterArray};
use tables::{Attributes, Handle};

/// Cells of a block.
const PIECE_CELLS: u64 = 512;

/// Blocks that the worker scans between two bursts.
const JOB_PIECES: usize = 64;

/// The hashes of the blocks that were stored last.
#[derive(Debug, Default)]
pub(crate) struct StoredCells {
    hashes: OrderedMap<Array, Vec<u64>>,
}

/// Receives updates that restore a state, some at a time; returns false to stop.
pub(crate) type Steps<'a> = &'a mut dyn FnMut(Vec<Update>) -> bool;

/// What a restart must restore, as it was at one moment, while the switch keeps forwarding. Cells are read later:
/// their later changes are found by the next scan, and what controllers write to them is in the log.
pub(crate) struct Frozen {
    pipeline: Pipeline,
    /// Multicast groups and clone sessions.
    replication: Vec<Entity>,
}

/// An array of cells that packets change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Array {
    Register(usize),
    Counter(usize),
    Direct(usize, usize),
    /// The default action's cell of a direct counter.
    Default(usize, usize),
}

impl Frozen {
    /// Passes everything to `sink`, in an order in which each update refers only to what exists.
    pub fn read_all(&self, command_queue: ProgramQueue<'_>, sink: Steps<'_>) -> Result<(), Fault> {
        let entries = |which| {
            let query = TableQuery { which, with_counter: true, with_meter: true, ..TableQuery::default() };
            Query::TableEntries(query)
        };
        let queries = [
            Query::Members { profile: None, id: None },
            Query::Groups { profile: None, id: None },
            entries(Which::All),
            entries(Which::Default),
            Query::DirectCounters { table: None, which: Which::Default },
            Query::DirectMeters { table: None, which: Which::Default },
            Query::Registers { array: None, index: None },
            Query::Counters { array: None, index: None },
            Query::Meters { array: None, index: None },
            Query::ValueSets(None),
            Query::Digests(None),
        ];
        let mut give = |entities: Vec<Entity>| {
            let steps: Vec<_> = entities.into_iter().filter_map(|entity| self.pipeline.step(entity)).collect();
            steps.is_empty() || sink(steps)
        };
        for query in &queries {
            let mut more = true;
            self.pipeline.read(command_queue, query, &mut |entities| {
                more = give(entities);
                more
            })?;
            if !more {
                return Ok(());
            }
        }
        give(self.replication.clone());
        Ok(())
    }
}

impl Pipeline {
    /// Captures the current state. Must be called while nothing is written.
    pub(crate) fn freeze(&self, command_queue: ProgramQueue<'_>) -> Result<Frozen, Fault> {
        // What a snapshot may miss is found to have changed later.
        self.changed_cells(command_queue, &mut |_| Ok(()))?;
        self.freeze_for_others(command_queue)
    }

    /// The same for a copy that is not stored: changes since the last snapshot are still found later.
    pub(crate) fn freeze_for_others(&self, command_queue: ProgramQueue<'_>) -> Result<Frozen, Fault> {
        let mut replication = Vec::new();
        for query in [Query::Multicast(None), Query::CloneSessions(None)] {
            self.read(command_queue, &query, &mut |entities| {
                replication.extend(entities);
                true
            })?;
        }
        Ok(Frozen { pipeline: self.copied(), replication })
    }

    /// What is not in the switch itself, as it is now. Must be called while nothing is written.
    pub(crate) fn copied(&self) -> Pipeline {
        let (tables, state) = {
            let mut state = self.state();
            self.number_all(&mut state);
            (self.tables.frozen(), state.clone())
        };
        Pipeline {
            program: Arc::clone(&self.program),
            tables,
            state: Mutex::new(state),
            stored_cells: Mutex::default(),
            original: Some(self.tables.clone()),
        }
    }

    /// The snapshot was not stored: all cells count as changed.
    pub(crate) fn forget_stored_cells(&self) {
        let mut stored = self.stored_cells.lock().unwrap_or_else(PoisonError::into_inner);
        // Zero would be that of cells that are zero, which need not be stored in a switch that begins.
        stored.hashes.values_mut().for_each(|hashes| hashes.fill(u64::MAX));
    }

    /// Gives a number to each member and group that no controller has numbered, so that it keeps the same number.
    fn number_all(&self, state: &mut ControllerState) {
        let set = self.tables.lock();
        for profile in self.program.action_profiles.ids() {
            let stored = &set.profiles()[profile.index()];
            for (handle, _) in stored.members() {
                state.members.number(profile, handle);
            }
            for (handle, _) in stored.groups() {
                state.groups.number(profile, handle);
            }
        }
    }

    /// What restores an entity; `None` if it exists anyway.
    fn step(&self, entity: Entity) -> Option<Update> {
        let is_there = match &entity {
            Entity::TableEntry(TableEntry { name: None, table, attributes, .. }) => {
                let set = self.tables.lock();
                let stored = &set.tables()[table.index()];
                let is_own = stored.default_action() == stored.spec().default_action.as_ref();
                stored.spec().default_const || (is_own && *attributes == Attributes::default())
            }
            // What the program has not fixed of it is all that is brought back.
            Entity::TableEntry(entry) if entry.is_const => {
                entry.counter.is_none_or(|value| value == CounterCell::default()) && entry.meter.flatten().is_none()
            }
            Entity::DirectCounter(direct) => direct.value == CounterCell::default(),
            Entity::DirectMeter(direct) => direct.value.config.is_none(),
            Entity::Register(cell) => {
                let register = &self.program.registers[cell.array];
                register.is_start_number || cell.value == register.initial
            }
            Entity::Counter(cell) => cell.value == CounterCell::default(),
            Entity::Meter(cell) => cell.value.config.is_none(),
            Entity::ValueSet { members, .. } => members.is_empty(),
            _ => false,
        };
        let kind = match &entity {
            Entity::TableEntry(entry) if entry.name.is_none() || entry.is_const => UpdateKind::Modify,
            Entity::Register(_) | Entity::Counter(_) | Entity::Meter(_) | Entity::ValueSet { .. } => UpdateKind::Modify,
            Entity::DirectCounter(_) | Entity::DirectMeter(_) => UpdateKind::Modify,
            _ => UpdateKind::Insert,
        };
        let entity = match entity {
            // Packets that meters have marked are counted from zero.
            Entity::TableEntry(entry) => {
                let action = entry.action.filter(|_| !entry.is_const);
                // Those of default actions are read for themselves.
                let is_default = entry.name.is_none();
                let (counter, meter) = if is_default { (None, None) } else { (entry.counter, entry.meter) };
                Entity::TableEntry(TableEntry { action, counter, meter, meter_counts: None, ..entry })
            }
            Entity::DirectMeter(direct) => {
                let value = MeterValue { counts: None, ..direct.value };
                Entity::DirectMeter(Direct { value, ..direct })
            }
            Entity::Meter(cell) => Entity::Meter(Cell { value: MeterValue { counts: None, ..cell.value }, ..cell }),
            other => other,
        };
        (!is_there).then_some(Update { kind, entity })
    }

    /// Passes the cells that have changed since the last call to `sink`, some at a time, as updates that set them.
    pub(crate) fn changed_cells(
        &self,
        command_queue: ProgramQueue<'_>,
        sink: &mut dyn FnMut(Vec<Update>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut stored = self.stored_cells.lock().unwrap_or_else(PoisonError::into_inner);
        for (array, cells) in self.arrays() {
            let hashes = stored.hashes.entry(array).or_default();
            hashes.resize(cells.div_ceil(PIECE_CELLS) as usize, 0);
            for first in (0..hashes.len()).step_by(JOB_PIECES) {
                let pieces = first..hashes.len().min(first + JOB_PIECES);
                let known = hashes[pieces.clone()].to_vec();
                let (now, changed) =
                    command_queue.ask(move |switch| look(switch.externs_mut(), array, cells, first, known))?;
                hashes[pieces].copy_from_slice(&now);
                let updates = self.named(changed);
                if !updates.is_empty() {
                    sink(updates)?;
                }
            }
        }
        Ok(())
    }

    /// All arrays of cells that packets change, with their sizes.
    fn arrays(&self) -> Vec<(Array, u64)> {
        let registers = self.program.registers.iter_enumerated().filter(|(_, it)| !it.is_start_number);
        let registers = registers.map(|(id, it)| (Array::Register(id.index()), it.size));
        let counters = self.program.counters.iter_enumerated();
        let counters = counters.map(|(id, it)| (Array::Counter(id.index()), it.size));
        let set = self.tables.lock();
        let direct = self.program.tables.iter_enumerated().filter_map(|(id, table)| {
            let counter = table.direct_counters.first()?;
            let handles = set.tables()[id.index()].handles_end();
            Some((Array::Direct(id.index(), counter.index()), u64::from(handles)))
        });
        let defaults =
            self.program.tables.iter_enumerated().filter_map(|(id, table)| {
                Some((Array::Default(id.index(), table.direct_counters.first()?.index()), 1))
            });
        registers.chain(counters).chain(direct).chain(defaults).collect()
    }

    /// Names changed cells; those of deleted entries are dropped.
    fn named(&self, changed: Vec<Changed>) -> Vec<Update> {
        let set = self.tables.lock();
        let direct = |table: TableId, handle: Handle, value| {
            let entry = set.tables()[table.index()].get(handle)?;
            let key = entry.spec.key.clone();
            let which = Which::Named(EntryName { key, priority: entry.spec.priority });
            // A const entry has no other name; its counter is brought back like any.
            Some(Entity::DirectCounter(Direct { table, which, value }))
        };
        let mut entities = Vec::new();
        for Changed { array, first, cells } in changed {
            match (array, cells) {
                (Array::Register(id), Cells::Words(words)) => {
                    let array = RegisterId::from_index(id);
                    let values = RegisterArray::values(self.program.registers[array].ty.width(), &words);
                    let cell = |(index, value)| Entity::Register(Cell { array, index: Some(index), value });
                    entities.extend((first..).zip(values).map(cell));
                }
                (Array::Counter(id), Cells::Counts(values)) => {
                    let array = CounterId::from_index(id);
                    let cell = |(index, value)| Entity::Counter(Cell { array, index: Some(index), value });
                    entities.extend((first..).zip(values).map(cell));
                }
                (Array::Direct(table, _), Cells::Counts(values)) => {
                    let table = TableId::from_index(table);
                    let cells = (first as u32..).zip(values);
                    entities.extend(cells.filter_map(|(index, value)| direct(table, Handle(index), value)));
                }
                (Array::Default(table, _), Cells::Counts(values)) => {
                    let table = TableId::from_index(table);
                    let cell = |value| Entity::DirectCounter(Direct { table, which: Which::Default, value });
                    entities.extend(values.into_iter().map(cell));
                }
                (Array::Register(_), Cells::Counts(_)) | (_, Cells::Words(_)) => {
                    unreachable!("registers have words and counters have counts")
                }
            }
        }
        entities.into_iter().map(|entity| Update { kind: UpdateKind::Modify, entity }).collect()
    }

    /// These updates are in the log, or will be before anything else is: cells of arrays that they have set need not
    /// be stored until packets change them.
    pub(crate) fn note_set_arrays<'u>(&self, updates: impl Iterator<Item = &'u Update>) {
        let mut stored = self.stored_cells.lock().unwrap_or_else(PoisonError::into_inner);
        for update in updates.filter(|update| sets_all_cells(update)) {
            let (array, size, words) = match &update.entity {
                Entity::Register(cell) => {
                    let register = &self.program.registers[cell.array];
                    let value = cell.value.resize(register.ty.width());
                    (Array::Register(cell.array.index()), register.size, value.limbs().to_vec())
                }
                Entity::Counter(cell) => {
                    let size = self.program.counters[cell.array].size;
                    (Array::Counter(cell.array.index()), size, vec![cell.value.packets, cell.value.bytes])
                }
                _ => continue,
            };
            let hash = |cells: u64| (0..cells).flat_map(|_| words.iter().copied()).fold(0, mix);
            let mut hashes = vec![hash(PIECE_CELLS.min(size)); size.div_ceil(PIECE_CELLS) as usize];
            if let Some(last) = hashes.last_mut() {
                *last = hash(size - (size - 1) / PIECE_CELLS * PIECE_CELLS);
            }
            stored.hashes.insert(array, hashes);
        }
    }
}

/// Changed cells, from this one on.
struct Changed {
    array: Array,
    first: u64,
    cells: Cells,
}

/// As they lie in memory: the worker copies them and does nothing else with them.
enum Cells {
    Words(Vec<u64>),
    Counts(Vec<CounterCell>),
}

/// Scans blocks of an array from number `first` on, whose previous hashes are given. Runs in the thread that owns the
/// switch.
fn look(externs: &Externs, array: Array, cells: u64, first: usize, known: Vec<u64>) -> (Vec<u64>, Vec<Changed>) {
    let mut now = Vec::with_capacity(known.len());
    let mut changed = Vec::new();
    for (position, known) in known.into_iter().enumerate() {
        let start = (first + position) as u64 * PIECE_CELLS;
        let range = start..cells.min(start + PIECE_CELLS);
        let hash = hash(externs, array, range.clone());
        if hash != known {
            changed.push(take(externs, array, range));
        }
        now.push(hash);
    }
    (now, changed)
}

fn counter_cells(externs: &Externs, array: Array, range: Range<u64>) -> &[CounterCell] {
    let cells = match array {
        Array::Counter(id) => externs.counters[CounterId::from_index(id)].as_slice(),
        Array::Direct(_, id) => externs.direct_counters[DirectCounterId::from_index(id)].as_slice(),
        // Behind those of entries.
        Array::Default(_, id) => {
            let cells = externs.direct_counters[DirectCounterId::from_index(id)].as_slice();
            &cells[cells.len().saturating_sub(1)..]
        }
        Array::Register(_) => return &[],
    };
    let end = cells.len().min(range.end as usize);
    &cells[end.min(range.start as usize)..end]
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Of cells that are all zero it is 0: those of a fresh switch are as they were stored.
fn hash(externs: &Externs, array: Array, range: Range<u64>) -> u64 {
    match array {
        Array::Register(id) => externs.registers[RegisterId::from_index(id)].words(range).fold(0, mix),
        _ => {
            let cells = counter_cells(externs, array, range);
            cells.iter().fold(0, |hash, cell| mix(mix(hash, cell.packets), cell.bytes))
        }
    }
}

fn take(externs: &Externs, array: Array, range: Range<u64>) -> Changed {
    let first = range.start;
    let cells = match array {
        Array::Register(id) => Cells::Words(externs.registers[RegisterId::from_index(id)].words(range).collect()),
        _ => Cells::Counts(counter_cells(externs, array, range).to_vec()),
    };
    Changed { array, first, cells }
}
