//! A host for the interpreter that gives tables the entries that packets miss.
//!
//! What enters: the lookups of packets, each with the values of its keys. What leaves: the entries, as lines of
//! commands, in the order in which they were made; and how many lookups hit. Of each entry only its key and its flow
//! remain, from which its arguments follow again.

use crate::choice::Choice;
use crate::expression::Context;
use crate::known::{Known, Origin};
use base::index::Id as _;
use base::limits::TABLE_ENTRIES_MAX;
use base::{Bits, FieldMatch, IndexVec, MatchKind, Rng};
use base::{OrderedMap, OrderedSet};
use interp::{Host, Lookup};
use ir::{
    CalculationId, CounterId, CrcParameters, DigestId, DirectCounterId, DirectMeterId, ExternFunctionId,
    ExternInstanceId, MeterId, Program, RegisterId, Table, TableId, Type, ValueSetId,
};
use std::io::{self, Write};
use values::Style;

/// The most cells of registers that are remembered.
const CELLS_MAX: usize = 1 << 20;

/// Lengths of IPv4 prefixes, with their shares in percent: about those of the Internet.
const PREFIXES4: [(u32, u64); 6] = [(24, 60), (23, 10), (22, 12), (21, 5), (20, 6), (16, 7)];
/// Lengths of IPv6 prefixes.
const PREFIXES6: [(u32, u64); 4] = [(48, 50), (40, 10), (44, 15), (64, 25)];

/// The entries of one table.
#[derive(Debug, Default)]
struct Contents {
    /// By what of the keys counts: entries, by those parts of the keys. The most specific come first.
    shapes: Vec<(Vec<Bits>, Known)>,
    count: u64,
    lookups: u64,
    hits: u64,
}

/// The fill level of a table after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// The entries that were made.
    pub entries: u64,
    /// Lookups of packets of the traffic, and how many of them hit.
    pub lookups: u64,
    /// See `lookups`.
    pub hits: u64,
}

/// The host.
pub(crate) struct Learning<'p> {
    program: &'p Program,
    /// Of each kind of traffic.
    choices: &'p [IndexVec<TableId, Option<Choice>>],
    tables: IndexVec<TableId, Contents>,
    registers: OrderedMap<(RegisterId, u64), Bits>,
    members: OrderedSet<(ValueSetId, Vec<Bits>)>,
    /// Members and groups of each action profile so far.
    profiles: Vec<(u64, u64)>,
    rng: Rng,
    out: &'p mut dyn Write,
    /// The first failure to write, after which nothing is written.
    pub failure: Option<io::Error>,
    /// What the present packet belongs to.
    pub context: Context<'static>,
    /// Its kind of traffic, and the ports to which each kind goes.
    pub traffic: usize,
    ports: Vec<(u32, u32)>,
    /// Whether lookups are counted.
    pub counts: bool,
    /// The words of a key.
    packed: Vec<u64>,
}

impl<'p> Learning<'p> {
    pub(crate) fn new(
        program: &'p Program,
        choices: &'p [IndexVec<TableId, Option<Choice>>],
        (context, ports): (Context<'static>, Vec<(u32, u32)>),
        out: &'p mut dyn Write,
    ) -> Learning<'p> {
        Learning {
            program,
            choices,
            tables: program.tables.iter().map(|_| Contents::default()).collect(),
            registers: OrderedMap::new(),
            members: OrderedSet::new(),
            profiles: program.action_profiles.iter().map(|_| (0, 0)).collect(),
            rng: Rng::new(context.seed),
            out,
            failure: None,
            context,
            traffic: 0,
            ports,
            counts: true,
            packed: Vec::new(),
        }
    }

    /// How full the tables are.
    pub(crate) fn report(&self) -> Vec<TableReport> {
        let used = self.tables.iter_enumerated().filter(|(_, it)| it.lookups > 0 || it.count > 0);
        let of = |(table, it): (TableId, &Contents)| TableReport {
            name: self.program.tables[table].name.clone(),
            entries: it.count,
            lookups: it.lookups,
            hits: it.hits,
        };
        used.map(of).collect()
    }

    /// The number of entries so far.
    pub(crate) fn entries(&self) -> u64 {
        self.tables.iter().map(|table| table.count).sum()
    }

    /// The number of entries of the fullest table.
    pub(crate) fn entries_max(&self) -> u64 {
        self.tables.iter().map(|table| table.count).max().unwrap_or(0)
    }

    /// Adds members to value sets.
    pub(crate) fn add_members(&mut self, members: &[(ValueSetId, Vec<Bits>)]) {
        for (set, member) in members {
            let declared = &self.program.value_sets[*set];
            let count = self.members.iter().filter(|(other, _)| other == set).count() as u64;
            if count < declared.size.max(1) && self.members.insert((*set, member.clone())) {
                let key = declared.keys.iter().zip(member).map(|((name, width, kind), value)| {
                    let style = Style::of(name, *width, None);
                    style.show_match(&FieldMatch::block(*kind, value, &Bits::ones(*width)))
                });
                let line = format!("pvs_add {} {}", declared.name, key.collect::<Vec<_>>().join(" "));
                self.line(&line);
            }
        }
    }

    fn line(&mut self, line: &str) {
        if self.failure.is_none()
            && let Err(error) = writeln!(self.out, "{line}")
        {
            self.failure = Some(error);
        }
    }

    /// The entry of a choice for these values.
    fn entry(&self, table: TableId, keys: &[Bits], origin: Origin) -> Option<Lookup> {
        let traffic = origin.traffic as usize;
        let choice = self.choices[traffic][table].as_ref()?;
        let (flow, ports) = (u64::from(origin.flow), self.ports[traffic]);
        let declared = &self.program.tables[table];
        let action = &self.program.actions[declared.actions[choice.action as usize].action];
        let context = Context { flow, ports, key: keys, ..self.context };
        let context = Context { seed: context.seed.wrapping_add(1 + table.index() as u64), ..context };
        let args = choice.arguments(self.program, action, &context);
        Some(Lookup { entry: Some(flow), action: choice.action, args })
    }

    /// Writes the commands for an entry.
    fn write_entry(&mut self, table: TableId, masks: &[Bits], keys: &[Bits], entry: &Lookup) {
        let declared = &self.program.tables[table];
        let action = &self.program.actions[declared.actions[entry.action as usize].action];
        let key = declared.keys.iter().zip(masks).zip(keys).map(|((key, mask), value)| shown_key(key, mask, value));
        let key: Vec<String> = key.collect();
        let arg = |(param, value): (&ir::VarId, &Bits)| {
            let var = &self.program.vars[*param];
            shown(&var.name, var.ty, value)
        };
        let args: Vec<String> = action.params.iter().zip(&entry.args).map(arg).collect();
        let (name, action, key, args) = (&declared.name, action.name.clone(), key.join(" "), args.join(" "));
        let priority = declared.keys.iter().any(|key| key.kind.has_priority()).then(|| priority(masks));
        let priority = priority.map_or(String::new(), |priority| format!(" {priority}"));
        let Some(implementation) = &declared.implementation else {
            self.line(format!("table_add {name} {action} {key} => {args}{priority}").trim_end());
            return;
        };
        let profile = &self.program.action_profiles[implementation.profile];
        let (member, group) = self.profiles[implementation.profile.index()];
        self.line(format!("act_prof_create_member {} {action} {args}", profile.name).trim_end());
        let has_selector = profile.selector.is_some();
        if has_selector {
            self.line(&format!("act_prof_create_group {}", profile.name));
            self.line(&format!("act_prof_add_member_to_group {} {member} {group}", profile.name));
            self.line(&format!("table_indirect_add_with_group {name} {key} => {group}{priority}"));
        } else {
            self.line(&format!("table_indirect_add {name} {key} => {member}{priority}"));
        }
        self.profiles[implementation.profile.index()] = (member + 1, group + u64::from(has_selector));
    }

    /// The entry that matches, if there is one.
    fn find(&mut self, table: TableId, keys: &[Bits]) -> Option<Lookup> {
        let mut packed = std::mem::take(&mut self.packed);
        let found = self.tables[table].shapes.iter().find_map(|(masks, known)| {
            pack(masks, keys, &mut packed);
            Some((masks, known.get(&packed)?))
        });
        let entry = found.and_then(|(masks, origin)| self.entry(table, &masked(masks, keys), origin));
        self.packed = packed;
        entry
    }

    /// Whether the table's action profile, if there is one, takes another member.
    fn has_room(&self, table: &Table) -> bool {
        table.implementation.as_ref().is_none_or(|implementation| {
            let size = self.program.action_profiles[implementation.profile].size;
            size == 0 || self.profiles[implementation.profile.index()].0 < size
        })
    }

    fn add(&mut self, table: TableId, keys: &[Bits]) -> Option<Lookup> {
        let declared = &self.program.tables[table];
        let choices = self.choices;
        let choice = choices[self.traffic][table].as_ref()?;
        let limit = self.context.entries.min(declared.size).min(TABLE_ENTRIES_MAX as u64);
        if self.tables[table].count >= limit {
            return None;
        }
        if !self.has_room(declared) {
            return None;
        }
        let masks = masks(declared, choice, keys, &mut self.context.rng(!(table.index() as u64)));
        let keys = masked(&masks, keys);
        let origin = Origin { flow: self.context.flow as u32, traffic: self.traffic as u32 };
        let entry = self.entry(table, &keys, origin)?;
        self.write_entry(table, &masks, &keys, &entry);
        pack(&masks, &keys, &mut self.packed);
        let contents = &mut self.tables[table];
        contents.count += 1;
        let position = contents.shapes.iter().position(|(known, _)| *known == masks);
        let position = position.unwrap_or_else(|| {
            // The most specific is found first.
            let at = contents.shapes.partition_point(|(known, _)| ones(known) > ones(&masks));
            contents.shapes.insert(at, (masks.clone(), Known::new(self.packed.len())));
            at
        });
        contents.shapes[position].1.insert(&self.packed, origin);
        Some(entry)
    }
}

/// The part of each key that counts.
fn masks(table: &Table, choice: &Choice, keys: &[Bits], rng: &mut Rng) -> Vec<Bits> {
    let of = |(key, value): (&ir::Key, &Bits)| {
        let width = value.width();
        match key.kind {
            MatchKind::Lpm => {
                let length = choice.prefix_len.unwrap_or_else(|| prefix_len(width, rng)).min(width);
                Bits::leading_ones(width, length)
            }
            MatchKind::Ternary if rng.chance(1, 4) => Bits::leading_ones(width, width - width / 4),
            // A block of numbers around the value.
            MatchKind::Range => Bits::leading_ones(width, width - width / 4),
            _ => Bits::ones(width),
        }
    };
    table.keys.iter().zip(keys).map(of).collect()
}

/// A length of a prefix: of addresses as they are in the Internet, of other keys all bits.
fn prefix_len(width: u32, rng: &mut Rng) -> u32 {
    let shares: &[(u32, u64)] = match width {
        32 => &PREFIXES4,
        128 => &PREFIXES6,
        _ => return width,
    };
    let mut share = rng.below(100);
    for (length, percent) in shares {
        if share < *percent {
            return *length;
        }
        share -= percent;
    }
    width
}

fn masked(masks: &[Bits], keys: &[Bits]) -> Vec<Bits> {
    masks.iter().zip(keys).map(|(mask, key)| key.and(mask)).collect()
}

/// The words of what counts of some keys.
fn pack(masks: &[Bits], keys: &[Bits], packed: &mut Vec<u64>) {
    packed.clear();
    for (mask, key) in masks.iter().zip(keys) {
        packed.extend(mask.limbs().iter().zip(key.limbs()).map(|(mask, key)| mask & key));
    }
}

/// How many bits count.
fn ones(masks: &[Bits]) -> u32 {
    masks.iter().flat_map(Bits::limbs).map(|limb| limb.count_ones()).sum()
}

/// Of entries that overlap the more specific wins: the smaller number.
fn priority(masks: &[Bits]) -> u32 {
    let width: u32 = masks.iter().map(Bits::width).sum();
    1 + width - ones(masks)
}

/// A value as commands have it.
fn shown(name: &str, ty: Type, value: &Bits) -> String {
    match ty.is_signed() {
        true => value.to_signed_bigint().to_string(),
        false => Style::of(name, ty.width(), None).show(value),
    }
}

/// A key as commands have it.
fn shown_key(key: &ir::Key, mask: &Bits, value: &Bits) -> String {
    if key.expr.ty.is_signed() && matches!(key.kind, MatchKind::Exact | MatchKind::Optional) {
        return shown(&key.name, key.expr.ty, value);
    }
    let matched = FieldMatch::block(key.kind, value, mask);
    Style::of_key(&key.name, value.width(), None, Some(key.kind)).show_match(&matched)
}

impl Host for Learning<'_> {
    fn lookup(&mut self, table: TableId, keys: &[Bits], _hash: u64) -> Lookup {
        let declared = &self.program.tables[table];
        let own = declared
            .entries
            .iter()
            .position(|entry| entry.key.iter().zip(keys).all(|(wanted, value)| wanted.matches(value)));
        let found = match own {
            Some(position) => {
                let call = &declared.entries[position].call;
                Some(Lookup { entry: Some(position as u64), action: call.action, args: call.args.clone() })
            }
            None => self.find(table, keys).or_else(|| self.add(table, keys)),
        };
        let contents = &mut self.tables[table];
        if self.counts {
            contents.lookups += 1;
            contents.hits += u64::from(found.is_some());
        }
        found.unwrap_or_else(|| {
            let call = declared.default_action.clone();
            Lookup { entry: None, action: call.action, args: call.args }
        })
    }

    fn count_lookup(&mut self, _table: TableId, _entry: Option<u64>) {}

    fn count_direct(&mut self, _table: TableId, _counter: DirectCounterId, _cell: u64) {}

    /// Everything is green; default actions have no rates.
    fn execute_direct_meter(&mut self, table: TableId, _meter: DirectMeterId, cell: u64, before: u8) -> u8 {
        if cell == self.program.tables[table].default_cell() { before } else { 0 }
    }

    fn register_read(&mut self, register: RegisterId, index: &Bits) -> Option<Bits> {
        let declared = &self.program.registers[register];
        let index = index.to_u64().filter(|index| *index < declared.size)?;
        Some(self.registers.get(&(register, index)).unwrap_or(&declared.initial).clone())
    }

    fn register_write(&mut self, register: RegisterId, index: &Bits, value: &Bits) {
        let index = index.to_u64().filter(|index| *index < self.program.registers[register].size);
        if let Some(index) = index.filter(|_| self.registers.len() < CELLS_MAX) {
            self.registers.insert((register, index), value.clone());
        }
    }

    fn count(&mut self, _counter: CounterId, _index: &Bits) {}

    fn execute_meter(&mut self, meter: MeterId, index: &Bits, _before: u8) -> Option<u8> {
        index.to_u64().filter(|index| *index < self.program.meters[meter].size).map(|_| 0)
    }

    fn crc_parameters(&self, calculation: CalculationId) -> CrcParameters {
        CrcParameters::standard(self.program.calculations[calculation].width_bits)
    }

    fn random(&mut self, low: u64, high: u64) -> u64 {
        self.rng.between(low, high)
    }

    fn add_entry(&mut self, _table: TableId, _keys: &[Bits], _action: u32, _args: &[Bits], _profile: u8) -> bool {
        true
    }

    fn set_timer(&mut self, _table: TableId, _entry: u64, _profile: Option<u8>) {}

    fn digest(&mut self, _digest: DigestId, _values: &[Bits]) {}

    fn log(&mut self, _message: &str) {}

    fn assert_failed(&mut self, _text: &str) {}

    /// A plug-in is not called here: its results are zero.
    fn call_extern(&mut self, function: ExternFunctionId, _: Option<ExternInstanceId>, _: &[Bits]) -> Bits {
        Bits::zero(self.program.extern_functions[function].output_width())
    }

    fn value_set_contains(&mut self, value_set: ValueSetId, keys: &[Bits]) -> bool {
        self.members.contains(&(value_set, keys.to_vec()))
    }
}
