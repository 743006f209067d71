//! The state of extern instances: registers, counters, meters, value sets, and the random generator; and what is noted
//! of tables and their entries.
//!
//! What enters: reads and writes of the data plane (by cell) and of the control plane (by name, through `control`).
//! Cells lie flat in memory, because native code reads and writes registers and counters in place.

use crate::added::AddedEntries;
use crate::entry_timers::EntryTimers;
use crate::meter::{Color, MeterCell};
use base::index::Id as _;
use base::{Bits, FieldMatch, IndexVec, Rng};
use cgen::PlugIn;
use cgen::abi::Guard;
use ir::{
    CalculationId, CounterId, CrcParameters, DirectCounterId, DirectMeterId, ExternFunctionId, ExternInstanceId,
    MeterId, Program, RegisterId, TableId, Unit, ValueSetId,
};
use std::sync::Arc;
use tables::{Arrival, Handle};

pub use crate::registers::{NoPlace, RegisterArray};
pub use cgen::abi::TableUse;

/// Bytes of the two lines of the cache that processors fetch together.
pub(crate) const LINES_BYTES: usize = 128;

/// `count` zeros with unused space behind them, so that nothing that another thread writes lies in the same line of the
/// cache.
pub(crate) fn apart<T: Clone + Default>(count: usize) -> Vec<T> {
    let mut zeros = vec![T::default(); count + LINES_BYTES.div_ceil(size_of::<T>())];
    zeros.truncate(count);
    zeros
}

/// What a counter's cell holds. Both are kept whatever the counter's unit is; readers show what it counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CounterCell {
    /// Packets.
    pub packets: u64,
    /// Their bytes, as received.
    pub bytes: u64,
}

impl CounterCell {
    /// Counts a packet.
    pub fn count(&mut self, bytes: u64) {
        self.packets = self.packets.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(bytes);
    }
}

/// A meter array.
pub struct MeterArray {
    /// What it measures.
    pub unit: Unit,
    /// All workers have the same cells.
    cells: Arc<Vec<MeterCell>>,
    /// While several workers run, green packets of cells without rates, which each worker counts by itself: such a cell
    /// is only read. A worker takes other cells before it uses them. Without further workers there are none.
    green: Vec<CounterCell>,
}

impl MeterArray {
    fn new(unit: Unit, size: u64) -> MeterArray {
        let cells = tables::in_large_pages(size as usize, MeterCell::default());
        MeterArray { unit, cells: Arc::new(cells), green: Vec::new() }
    }

    /// The same for another worker.
    pub(crate) fn shared(&self) -> MeterArray {
        MeterArray { unit: self.unit, cells: Arc::clone(&self.cells), green: apart(self.cells.len()) }
    }

    /// Takes over the cells of an array of the same form, which may have been exchanged as a whole.
    pub(crate) fn share_cells_of(&mut self, other: &MeterArray) {
        self.cells = Arc::clone(&other.cells);
    }

    /// Notes whether other workers use the cells from now on.
    pub(crate) fn be_shared(&mut self, is_shared: bool) {
        if is_shared == self.green.is_empty() {
            self.green = if is_shared { apart(self.cells.len()) } else { Vec::new() };
        }
    }

    /// Adds what a worker has counted by itself to the cells.
    pub(crate) fn add_up(&mut self) {
        for (green, cell) in self.green.iter_mut().zip(&*self.cells) {
            // Most are untouched; they are not written, so that they take no memory.
            if *green != CounterCell::default() {
                cell.add_green(std::mem::take(green));
            }
        }
    }

    pub(crate) fn cells_pointer(&self) -> *const MeterCell {
        self.cells.as_ptr()
    }

    /// What counts green packets of cells without rates instead of the cells, or null.
    pub(crate) fn green_pointer(&mut self) -> *mut CounterCell {
        if self.green.is_empty() { std::ptr::null_mut() } else { self.green.as_mut_ptr() }
    }

    /// Meters a packet that has the colour `before`; none if there is no such cell.
    pub fn execute(&mut self, index: u64, bytes: u64, before: Color, now_ns: u64) -> Option<Color> {
        let units = if self.unit == Unit::Packets { 1 } else { bytes };
        let index = usize::try_from(index).ok()?;
        let cell = self.cells.get(index)?;
        let own = self.green.get_mut(index);
        let is_shared = own.is_some();
        if let Some(green) = own
            && before == Color::Green
            && !cell.has_rates()
        {
            green.count(bytes);
            return Some(Color::Green);
        }
        let _taken = is_shared.then(|| cell.take());
        let color = cell.execute(units, before, now_ns);
        cell.count(color, bytes);
        Some(color)
    }

    /// Meters a packet in a cell of a direct meter, of which the last is the default action's. That one gives the
    /// colour before back, or [`ir::NO_COLOUR`], if it has no rates.
    pub(crate) fn execute_direct(&mut self, index: u64, bytes: u64, before: u32, now_ns: u64) -> u32 {
        let is_default = index + 1 == self.size();
        if is_default && self.cell(index).is_none_or(|cell| cell.config().is_none()) {
            return before;
        }
        let color = if before == ir::NO_COLOUR { Color::Green } else { Color::of(before) };
        self.execute(index, bytes, color, now_ns).map_or(0, |color| color as u32)
    }

    /// A cell, to be configured or read while no packet uses it.
    pub fn cell(&self, index: u64) -> Option<&MeterCell> {
        self.cells.get(usize::try_from(index).ok()?)
    }

    /// Number of cells.
    pub fn size(&self) -> u64 {
        self.cells.len() as u64
    }
}

/// The parameters of the program's calculations.
#[derive(Clone)]
pub struct Calculations {
    parameters: IndexVec<CalculationId, CrcParameters>,
    /// The same as native code takes them.
    prepared: Vec<cgen::abi::Crc>,
}

impl Calculations {
    fn new(program: &Program) -> Calculations {
        let parameters: IndexVec<CalculationId, CrcParameters> =
            program.calculations.iter().map(|it| CrcParameters::standard(it.width_bits)).collect();
        let both = program.calculations.iter().zip(&parameters);
        let prepared = both.map(|(it, parameters)| cgen::abi::Crc::new(it.width_bits, parameters)).collect();
        Calculations { parameters, prepared }
    }

    /// The parameters that a calculation has now.
    pub fn get(&self, calculation: CalculationId) -> CrcParameters {
        self.parameters[calculation]
    }

    /// Takes over the parameters of another core of the same program.
    pub(crate) fn adopt(&mut self, other: &Calculations) {
        if self.prepared != other.prepared {
            self.clone_from(other);
        }
    }

    /// Gives a calculation other parameters; bits above its width do not count.
    pub fn set(&mut self, calculation: CalculationId, parameters: CrcParameters) {
        self.parameters[calculation] = parameters;
        let prepared = &mut self.prepared[calculation.index()];
        *prepared = cgen::abi::Crc::new(prepared.width, &parameters);
    }

    pub(crate) fn prepared(&self) -> &[cgen::abi::Crc] {
        &self.prepared
    }
}

/// Everything that outlives a packet but for tables and queues.
pub struct Externs {
    /// Register arrays.
    pub registers: IndexVec<RegisterId, RegisterArray>,
    /// Counter arrays.
    pub counters: IndexVec<CounterId, Vec<CounterCell>>,
    /// Direct counters: a cell per entry, by the entry's handle, and one for the default action
    /// ([`ir::Table::default_cell`]).
    pub direct_counters: IndexVec<DirectCounterId, Vec<CounterCell>>,
    /// Meter arrays.
    pub meters: IndexVec<MeterId, MeterArray>,
    /// Direct meters: cells as above.
    pub direct_meters: IndexVec<DirectMeterId, MeterArray>,
    /// How often each table was applied.
    pub table_uses: IndexVec<TableId, TableUse>,
    /// For each table that supports idle timeouts, when its entries were last hit, or came if they never were, in the
    /// switch's time, by handle; empty for the others.
    pub last_hits_ns: IndexVec<TableId, Vec<u64>>,
    /// Entries that packets have added and that are not published yet.
    pub(crate) added: AddedEntries,
    /// The timers of entries that expire.
    pub timers: EntryTimers,
    /// Members of parser value sets.
    pub value_sets: IndexVec<ValueSetId, Vec<Vec<FieldMatch>>>,
    /// Parameters of hashes.
    pub calculations: Calculations,
    /// The random generator of this core.
    pub rng: Rng,
    /// What shards take around the registers that they share, while there are shards elsewhere.
    pub(crate) guard: Option<Arc<Guard>>,
    /// What supplies the program's own extern functions.
    pub(crate) plug_in: Option<PlugIn>,
}

impl Externs {
    /// The state at the start: everything zero, meters not configured, value sets empty.
    pub fn new(program: &Program, seed: u64, start_number: u64) -> Externs {
        // The table of a direct object is its own. Its last cell is that of the default action.
        let table_cells = |named: &dyn Fn(&ir::Table) -> bool| {
            program.tables.iter().find(|table| named(table)).map_or(0, |table| table.default_cell() + 1)
        };
        let direct_counter = |id| {
            let cells = table_cells(&|table| table.direct_counters.contains(&id));
            vec![CounterCell::default(); cells as usize]
        };
        let direct_meter = |id| {
            let cells = table_cells(&|table| table.direct_meter.as_ref().is_some_and(|(meter, _)| *meter == id));
            MeterArray::new(program.direct_meters[id].unit, cells)
        };
        let last_hits = |table: &ir::Table| match table.support_timeout {
            true => vec![0; table.default_cell() as usize],
            false => Vec::new(),
        };
        Externs {
            registers: program.registers.iter().map(|it| RegisterArray::new(it, start_number)).collect(),
            counters: program.counters.iter().map(|it| vec![CounterCell::default(); it.size as usize]).collect(),
            direct_counters: program.direct_counters.ids().map(direct_counter).collect(),
            meters: program.meters.iter().map(|it| MeterArray::new(it.unit, it.size)).collect(),
            direct_meters: program.direct_meters.ids().map(direct_meter).collect(),
            table_uses: program.tables.iter().map(|_| TableUse::default()).collect(),
            last_hits_ns: program.tables.iter().map(last_hits).collect(),
            added: AddedEntries::new(program),
            timers: EntryTimers::new(program),
            value_sets: program.value_sets.iter().map(|_| Vec::new()).collect(),
            calculations: Calculations::new(program),
            rng: Rng::new(seed),
            guard: None,
            plug_in: None,
        }
    }

    /// Whether packets have added entries that are not published yet.
    pub(crate) fn has_added(&self) -> bool {
        !self.added.is_empty()
    }

    /// Records an entry that a packet adds; false if it cannot be added.
    pub(crate) fn add_entry(
        &mut self,
        table: TableId,
        keys: Vec<Bits>,
        action: usize,
        args: Vec<Bits>,
        profile: u8,
    ) -> bool {
        self.added.add(table, keys, action, args, profile)
    }

    /// Notes that an entry is hit now, if its table supports idle timeouts.
    pub(crate) fn note_hit(&mut self, table: TableId, entry: Handle, now_ns: u64) {
        if let Some(time_ns) = self.last_hits_ns[table].get_mut(entry.0 as usize) {
            *time_ns = now_ns;
        }
    }

    /// Makes the cells of new entries fresh, whatever entries had their handles before.
    pub(crate) fn reset_cells(&mut self, program: &Program, arrivals: &[Arrival], now_ns: u64) {
        for arrival in arrivals {
            let (id, cell) = (TableId::from_index(arrival.table), arrival.handle.0 as usize);
            let table = &program.tables[id];
            for &counter in &table.direct_counters {
                self.direct_counters[counter].get_mut(cell).into_iter().for_each(|cell| *cell = CounterCell::default());
            }
            if let Some((meter, _)) = table.direct_meter {
                let fresh = self.direct_meters[meter].cell(cell as u64);
                fresh.into_iter().for_each(|cell| cell.copy_from(&MeterCell::default()));
            }
            self.note_hit(id, arrival.handle, now_ns);
            self.timers.forget(id, arrival.handle);
        }
    }

    /// Calls a plug-in's function. A core without a plug-in has no program that calls one.
    pub(crate) fn call_plug_in(
        &mut self,
        function: ExternFunctionId,
        instance: Option<ExternInstanceId>,
        inputs: &[Bits],
    ) -> Bits {
        let plug_in = self.plug_in.as_mut().expect("a switch with such a program is made with its plug-in only");
        plug_in.call(function, instance, inputs)
    }

    /// Whether a value set has a member that matches the keys.
    pub fn value_set_contains(&self, id: ValueSetId, keys: &[Bits]) -> bool {
        let member_matches = |member: &Vec<FieldMatch>| member.iter().zip(keys).all(|(key, value)| key.matches(value));
        self.value_sets[id].iter().any(member_matches)
    }
}
