//! The simplest possible host for the interpreter: tables are lists that are searched from the front.
//!
//! What enters: a program and its tables' entries. What leaves: the effects of a run on registers, counters and the
//! control plane, for comparison. There is no time: meters are always green, and random numbers come from a seed.

use base::index::Id as _;
use base::{Bits, FieldMatch, IndexVec, MatchKind, Rng};
use interp::{Host, Lookup};
use ir::{
    CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId, Entry, ExternFunctionId,
    ExternInstanceId, MeterId, Program, RegisterId, Table, TableId, ValueSetId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The state outside of a packet.
#[derive(Clone, Debug)]
pub struct PlainHost<'p> {
    program: &'p Program,
    entries: IndexVec<TableId, Vec<Entry>>,
    rng: Rng,
    /// The effects of all runs.
    pub effects: Effects,
}

/// The effects of runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effects {
    /// Cells of registers that were written.
    pub registers: BTreeMap<(RegisterId, u64), Bits>,
    /// Packets counted, by cell of a counter.
    pub counters: BTreeMap<(CounterId, u64), u64>,
    /// Packets counted, by entry of a direct counter.
    pub direct_counters: BTreeMap<(DirectCounterId, u64), u64>,
    /// How often each table was looked up, and how often an entry matched.
    pub lookups: BTreeMap<TableId, (u64, u64)>,
    /// The entries that were hit, of tables that support idle timeouts.
    pub entries_hit: BTreeSet<(TableId, u64)>,
    /// Digests, log lines and failed assertions in order.
    pub messages: Vec<String>,
    /// Calls of extern functions with shared state. The order of these calls is observable, and so is that of
    /// messages, but not how the two are interleaved.
    pub calls: Vec<String>,
}

impl<'p> PlainHost<'p> {
    /// A host whose tables hold the program's entries, followed by `added`.
    pub fn new(program: &'p Program, added: Vec<(TableId, Entry)>, seed: u64) -> PlainHost<'p> {
        let mut entries: IndexVec<TableId, Vec<Entry>> =
            program.tables.iter().map(|table| table.entries.clone()).collect();
        for (table, entry) in added {
            entries[table].push(entry);
        }
        PlainHost { program, entries, rng: Rng::new(seed), effects: Effects::default() }
    }
}

/// Whether an entry's key set contains a value.
fn contains(set: &FieldMatch, value: &Bits) -> bool {
    match set {
        FieldMatch::Exact(wanted) | FieldMatch::Optional(Some(wanted)) => value == wanted,
        FieldMatch::Optional(None) => true,
        FieldMatch::Lpm { value: wanted, prefix_len } => {
            let dropped = u64::from(value.width() - prefix_len);
            value.shr(dropped) == wanted.shr(dropped)
        }
        FieldMatch::Ternary { value: wanted, mask } => value.and(mask) == wanted.and(mask),
        FieldMatch::Range { low, high } => value.cmp_unsigned(low).is_ge() && value.cmp_unsigned(high).is_le(),
    }
}

/// The rank of an entry that matches; the highest one wins.
fn strength(table: &Table, entry: &Entry) -> i64 {
    let by_priority = |kind: MatchKind| matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    if table.keys.iter().any(|key| by_priority(key.kind)) {
        return i64::from(entry.priority);
    }
    let prefix = |set: &FieldMatch| match set {
        FieldMatch::Lpm { prefix_len, .. } => i64::from(*prefix_len),
        _ => 0,
    };
    entry.key.iter().map(prefix).sum()
}

impl Host for PlainHost<'_> {
    fn lookup(&mut self, table: TableId, keys: &[Bits], _hash: u64) -> Lookup {
        let declared = &self.program.tables[table];
        let mut best: Option<(usize, &Entry)> = None;
        for (position, entry) in self.entries[table].iter().enumerate() {
            let matches = entry.key.iter().zip(keys).all(|(set, value)| contains(set, value));
            if matches && best.is_none_or(|(_, best)| strength(declared, entry) > strength(declared, best)) {
                best = Some((position, entry));
            }
        }
        let (lookups, hits) = self.effects.lookups.entry(table).or_default();
        (*lookups, *hits) = (*lookups + 1, *hits + u64::from(best.is_some()));
        match best {
            Some((position, entry)) => {
                if declared.support_timeout {
                    self.effects.entries_hit.insert((table, position as u64));
                }
                let call = entry.call.clone();
                Lookup { entry: Some(position as u64), action: call.action, args: call.args }
            }
            None => {
                let call = declared.default_action.clone();
                Lookup { entry: None, action: call.action, args: call.args }
            }
        }
    }

    fn count_lookup(&mut self, table: TableId, entry: Option<u64>) {
        let (lookups, hits) = self.effects.lookups.entry(table).or_default();
        (*lookups, *hits) = (*lookups + 1, *hits + u64::from(entry.is_some()));
        if let Some(position) = entry.filter(|_| self.program.tables[table].support_timeout) {
            self.effects.entries_hit.insert((table, position));
        }
    }

    fn crc_parameters(&self, calculation: CalculationId) -> CrcParameters {
        CrcParameters::standard(self.program.calculations[calculation].width_bits)
    }

    fn count_direct(&mut self, _table: TableId, counter: DirectCounterId, cell: u64) {
        *self.effects.direct_counters.entry((counter, cell)).or_insert(0) += 1;
    }

    /// The meters of entries are green, and those of default actions have no rates.
    fn execute_direct_meter(&mut self, table: TableId, _meter: DirectMeterId, cell: u64, before: u8) -> u8 {
        if cell == self.program.tables[table].default_cell() { before } else { 0 }
    }

    fn register_read(&mut self, register: RegisterId, index: &Bits) -> Option<Bits> {
        let declared = &self.program.registers[register];
        let index = index.to_u64().filter(|index| *index < declared.size)?;
        let written = self.effects.registers.get(&(register, index)).cloned();
        Some(written.unwrap_or_else(|| declared.initial.clone()))
    }

    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits) {
        if let Some(index) = index.to_u64().filter(|index| *index < self.program.registers[register].size) {
            self.effects.registers.insert((register, index), value.clone());
        }
    }

    fn count(&mut self, counter: CounterId, index: &Bits) {
        if let Some(index) = index.to_u64().filter(|index| *index < self.program.counters[counter].size) {
            *self.effects.counters.entry((counter, index)).or_insert(0) += 1;
        }
    }

    fn execute_meter(&mut self, meter: MeterId, index: &Bits, _before: u8) -> Option<u8> {
        index.to_u64().filter(|index| *index < self.program.meters[meter].size).map(|_| 0)
    }

    fn random(&mut self, low: u64, high: u64) -> u64 {
        self.rng.between(low, high)
    }

    /// There is room for every entry, and none is published.
    fn add_entry(&mut self, table: TableId, keys: &[Bits], action: u32, args: &[Bits], profile: u8) -> bool {
        self.effects.messages.push(format!("add to {table} {keys:?} {action}({args:?}) timer {profile}"));
        true
    }

    fn set_timer(&mut self, table: TableId, entry: u64, profile: Option<u8>) {
        self.effects.messages.push(format!("timer of {table} {entry} {profile:?}"));
    }

    fn digest(&mut self, digest: DigestId, values: &[Bits]) {
        self.effects.messages.push(format!("{digest} {values:?}"));
    }

    fn log(&mut self, message: &str) {
        self.effects.messages.push(message.into());
    }

    fn assert_failed(&mut self, text: &str) {
        self.effects.messages.push(format!("assertion failed: {text}"));
    }

    /// The outputs depend only on the inputs.
    fn call_extern(&mut self, function: ExternFunctionId, instance: Option<ExternInstanceId>, inputs: &[Bits]) -> Bits {
        // The order in which pure functions are called is not observable.
        if !self.program.extern_functions[function].is_pure {
            self.effects.calls.push(format!("{function} {instance:?} {inputs:?}"));
        }
        let sum = inputs.iter().map(Bits::low_u64).fold(function.index() as u64, u64::wrapping_add);
        Bits::from_u64(64, sum).resize(self.program.extern_functions[function].output_width())
    }

    /// A pseudo-random quarter of all values are members, determined by the set's number and the keys.
    fn value_set_contains(&mut self, value_set: ValueSetId, keys: &[Bits]) -> bool {
        let sum = keys.iter().map(Bits::low_u64).fold(value_set.index() as u64, u64::wrapping_add);
        sum.is_multiple_of(4)
    }
}
