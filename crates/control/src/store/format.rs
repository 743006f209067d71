//! Updates as bytes, by the names of the program, so that they survive a recompilation of the program.
//!
//! What enters: updates and the program that they refer to, or a record that was written for this or another program.
//! What leaves: a record, or updates; or why there is none: the program does not have the object any more, or its
//! widths differ.
//!
//! A record is the byte [`UPDATES`], then updates to its end. Numbers have seven bits in a byte, the least
//! significant first; the eighth bit says that more bytes follow. Lists, names and values have their length in front;
//! a value has all bytes of its width, the most significant first. A reference to an object of the program is a
//! number: 0 introduces a new name, `n` is the `n`th name of the record. So each record can be decoded alone, and a
//! name is looked up once per record. Each part can be skipped without the program: an update that does not fit the
//! program is the only one that is lost.

use crate::api::entity::{
    Call, Cell, Choice, CloneSession, DigestConfig, Direct, EntryAction, EntryName, Group, GroupMember, Member,
    MeterValue, Multicast, Replica, TableEntry,
};
use crate::api::{Entity, Update, UpdateKind, Which};
use base::index::Id;
use base::{Bits, FieldMatch, MatchKind, OrderedMap};
use ir::{Program, TableId};
use switch::MeterConfig;
use switch::externs::CounterCell;
use tables::Attributes;

/// Why a stored update does not fit the program.
pub(crate) type Mismatch = String;

/// The first byte of a record with updates.
pub(crate) const UPDATES: u8 = 1;

/// What an update is about.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Tag {
    Entry,
    Default,
    DirectCounter,
    DirectMeter,
    Member,
    Group,
    Counter,
    Meter,
    Register,
    Multicast,
    CloneSession,
    ValueSet,
    Digest,
    DefaultCounter,
    DefaultMeter,
    AllEntries,
    AllDirectCounters,
    AllDirectMeters,
    SessionOfGroup,
}

const TAGS: [Tag; 19] = [
    Tag::Entry,
    Tag::Default,
    Tag::DirectCounter,
    Tag::DirectMeter,
    Tag::Member,
    Tag::Group,
    Tag::Counter,
    Tag::Meter,
    Tag::Register,
    Tag::Multicast,
    Tag::CloneSession,
    Tag::ValueSet,
    Tag::Digest,
    Tag::DefaultCounter,
    Tag::DefaultMeter,
    Tag::AllEntries,
    Tag::AllDirectCounters,
    Tag::AllDirectMeters,
    Tag::SessionOfGroup,
];

/// A kind of objects that have names in a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Table,
    Action,
    Profile,
    Counter,
    Meter,
    Register,
    ValueSet,
    Digest,
}

impl Kind {
    fn describe(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Action => "action",
            Kind::Profile => "action profile",
            Kind::Counter => "counter",
            Kind::Meter => "meter",
            Kind::Register => "register",
            Kind::ValueSet => "value set",
            Kind::Digest => "digest",
        }
    }

    fn name(self, program: &Program, index: usize) -> &str {
        match self {
            Kind::Table => &program.tables[Id::from_index(index)].name,
            Kind::Action => &program.actions[Id::from_index(index)].name,
            Kind::Profile => &program.action_profiles[Id::from_index(index)].name,
            Kind::Counter => &program.counters[Id::from_index(index)].name,
            Kind::Meter => &program.meters[Id::from_index(index)].name,
            Kind::Register => &program.registers[Id::from_index(index)].name,
            Kind::ValueSet => &program.value_sets[Id::from_index(index)].name,
            Kind::Digest => &program.digests[Id::from_index(index)].name,
        }
    }

    fn find(self, program: &Program, name: &str) -> Option<usize> {
        match self {
            Kind::Table => program.tables.iter().position(|it| it.name == name),
            Kind::Action => program.actions.iter().position(|it| it.name == name),
            Kind::Profile => program.action_profiles.iter().position(|it| it.name == name),
            Kind::Counter => program.counters.iter().position(|it| it.name == name),
            Kind::Meter => program.meters.iter().position(|it| it.name == name),
            Kind::Register => program.registers.iter().position(|it| it.name == name),
            Kind::ValueSet => program.value_sets.iter().position(|it| it.name == name),
            Kind::Digest => program.digests.iter().position(|it| it.name == name),
        }
    }
}

// ------------------------------------------------------------------------------------------------------ writing

/// Updates as a record; `None` if there are none. Adjacent cells of an array become one part.
pub(crate) fn record(program: &Program, updates: &mut dyn Iterator<Item = &Update>) -> Option<Vec<u8>> {
    let mut updates = updates.peekable();
    updates.peek()?;
    let mut writer = Writer { program, bytes: vec![UPDATES], names: OrderedMap::new() };
    while let Some(update) = updates.next() {
        let Some((array, mut index)) = cell(update) else {
            writer.update(update);
            continue;
        };
        let mut cells = vec![update];
        while let Some(next) = updates.next_if(|next| cell(next) == index.checked_add(1).map(|it| (array, it))) {
            cells.push(next);
            index += 1;
        }
        writer.cells(&cells);
    }
    Some(writer.bytes)
}

/// The kind and number of the array and the index, if the update sets one cell that packets can change.
fn cell(update: &Update) -> Option<((u8, usize), u64)> {
    match &update.entity {
        Entity::Register(cell) => Some(((0, cell.array.index()), cell.index?)),
        Entity::Counter(cell) => Some(((1, cell.array.index()), cell.index?)),
        _ => None,
    }
}

struct Writer<'a> {
    program: &'a Program,
    bytes: Vec<u8>,
    /// The numbers of the names in the record.
    names: OrderedMap<(Kind, usize), u64>,
}

impl Writer<'_> {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        numbers.into_iter().for_each(|number| self.number(number));
    }

    /// What may be missing.
    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.bytes.push(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|item| write(self, item));
    }

    fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    fn value(&mut self, value: &Bits) {
        let count = value.width().div_ceil(8);
        self.number(u64::from(count));
        let limbs = value.limbs();
        let byte = |position: u32| limbs.get(position as usize / 8).map_or(0, |limb| limb >> (position % 8 * 8)) as u8;
        self.bytes.extend((0..count).rev().map(byte));
    }

    fn name(&mut self, kind: Kind, index: usize) {
        if let Some(&number) = self.names.get(&(kind, index)) {
            return self.number(number);
        }
        let number = self.names.len() as u64 + 1;
        self.names.insert((kind, index), number);
        self.number(0);
        self.text(kind.name(self.program, index).as_bytes());
    }

    fn head(&mut self, kind: UpdateKind, tag: Tag) {
        self.bytes.extend([kind as u8, tag as u8]);
    }

    /// Adjacent cells, or one.
    fn cells(&mut self, cells: &[&Update]) {
        let Some(first) = cells.first() else { return };
        match &first.entity {
            Entity::Register(cell) => {
                self.head(first.kind, Tag::Register);
                self.name(Kind::Register, cell.array.index());
                self.option(cell.index, Self::number);
            }
            Entity::Counter(cell) => {
                self.head(first.kind, Tag::Counter);
                self.name(Kind::Counter, cell.array.index());
                self.option(cell.index, Self::number);
            }
            _ => unreachable!("only cells are side by side"),
        }
        self.list(cells, |writer, update| match &update.entity {
            Entity::Register(cell) => writer.value(&cell.value),
            Entity::Counter(cell) => writer.counter(cell.value),
            _ => unreachable!("only cells are side by side"),
        });
    }

    fn update(&mut self, update: &Update) {
        let kind = update.kind;
        match &update.entity {
            Entity::Register(_) | Entity::Counter(_) => self.cells(&[update]),
            Entity::TableEntry(entry) => self.table_entry(kind, entry),
            Entity::AllEntries(table) => {
                self.head(kind, Tag::AllEntries);
                self.name(Kind::Table, table.index());
            }
            Entity::DirectCounter(direct) => {
                self.direct(kind, direct, [Tag::DirectCounter, Tag::DefaultCounter, Tag::AllDirectCounters]);
                self.counter(direct.value);
            }
            Entity::DirectMeter(direct) => {
                self.direct(kind, direct, [Tag::DirectMeter, Tag::DefaultMeter, Tag::AllDirectMeters]);
                self.option(direct.value.config, Self::rates);
            }
            Entity::Member(it) => {
                self.head(kind, Tag::Member);
                self.name(Kind::Profile, it.profile.index());
                self.number(u64::from(it.id));
                self.option(it.call.as_ref(), Self::call);
            }
            Entity::Group(it) => {
                self.head(kind, Tag::Group);
                self.name(Kind::Profile, it.profile.index());
                self.numbers([u64::from(it.id), u64::from(it.size_max)]);
                self.list(&it.members, |writer, it| {
                    writer.numbers([u64::from(it.member), u64::from(it.weight)]);
                    writer.option(it.watch_port.map(u64::from), Self::number);
                });
            }
            Entity::Meter(cell) => {
                self.head(kind, Tag::Meter);
                self.name(Kind::Meter, cell.array.index());
                self.option(cell.index, Self::number);
                self.option(cell.value.config, Self::rates);
            }
            Entity::Multicast(it) => {
                self.head(kind, Tag::Multicast);
                self.number(it.group);
                self.list(&it.replicas, Self::replica);
                self.text(&it.metadata);
            }
            Entity::CloneSession(it) => {
                self.head(kind, if it.group.is_none() { Tag::CloneSession } else { Tag::SessionOfGroup });
                self.numbers([it.session, it.class_of_service, it.length_bytes_max].map(u64::from));
                match it.group {
                    Some(group) => self.number(group),
                    None => self.list(&it.replicas, Self::replica),
                }
            }
            Entity::ValueSet { set, members } => {
                self.head(kind, Tag::ValueSet);
                self.name(Kind::ValueSet, set.index());
                self.list(members, |writer, keys| writer.list(keys, Self::key));
            }
            Entity::Digest { digest, config } => {
                self.head(kind, Tag::Digest);
                self.name(Kind::Digest, digest.index());
                self.numbers([config.timeout_max_ns, u64::from(config.list_size_max), config.ack_timeout_ns]);
            }
        }
    }

    fn table_entry(&mut self, kind: UpdateKind, entry: &TableEntry) {
        match &entry.name {
            Some(name) => {
                self.head(kind, Tag::Entry);
                self.named(entry.table, name);
            }
            None => {
                self.head(kind, Tag::Default);
                self.name(Kind::Table, entry.table.index());
            }
        }
        match &entry.action {
            None => self.number(0),
            Some(EntryAction::Call(it)) => {
                self.number(1);
                self.call(it);
            }
            Some(EntryAction::Member(id)) => self.numbers([2, u64::from(*id)]),
            Some(EntryAction::Group(id)) => self.numbers([3, u64::from(*id)]),
            Some(EntryAction::OneShot(choices)) => {
                self.number(4);
                self.list(choices, |writer, it| {
                    writer.call(&it.call);
                    writer.number(u64::from(it.weight));
                    writer.option(it.watch_port.map(u64::from), Self::number);
                });
            }
        }
        let attributes = Some(&entry.attributes).filter(|it| **it != Attributes::default());
        self.option(attributes, |writer, it| {
            writer.text(&it.metadata);
            writer.numbers([it.controller_metadata, it.idle_timeout_ns]);
        });
        self.option(entry.counter, Self::counter);
        self.option(entry.meter, |writer, meter| writer.option(meter, Self::rates));
    }

    /// The owner of a direct resource: an entry, the default action, or all entries.
    fn direct<T>(&mut self, kind: UpdateKind, direct: &Direct<T>, [of_entry, of_default, of_all]: [Tag; 3]) {
        let tag = match &direct.which {
            Which::Named(name) => {
                self.head(kind, of_entry);
                return self.named(direct.table, name);
            }
            Which::Default => of_default,
            Which::All => of_all,
        };
        self.head(kind, tag);
        self.name(Kind::Table, direct.table.index());
    }

    fn named(&mut self, table: TableId, name: &EntryName) {
        self.name(Kind::Table, table.index());
        self.number(u64::from(name.priority as u32));
        self.list(&name.key, Self::key);
    }

    fn key(&mut self, key: &FieldMatch) {
        match key {
            FieldMatch::Exact(value) => {
                self.bytes.push(0);
                self.value(value);
            }
            FieldMatch::Lpm { value, prefix_len } => {
                self.bytes.push(1);
                self.value(value);
                self.number(u64::from(*prefix_len));
            }
            FieldMatch::Ternary { value, mask } => {
                self.bytes.push(2);
                self.value(value);
                self.value(mask);
            }
            FieldMatch::Range { low, high } => {
                self.bytes.push(3);
                self.value(low);
                self.value(high);
            }
            FieldMatch::Optional(Some(value)) => {
                self.bytes.push(4);
                self.value(value);
            }
            FieldMatch::Optional(None) => self.bytes.push(5),
        }
    }

    fn call(&mut self, call: &Call) {
        self.name(Kind::Action, call.action.index());
        self.list(&call.args, Self::value);
    }

    fn counter(&mut self, value: CounterCell) {
        self.numbers([value.packets, value.bytes]);
    }

    fn rates(&mut self, value: MeterConfig) {
        self.numbers([
            value.committed_rate_milliunits_per_s,
            value.committed_burst,
            value.peak_rate_milliunits_per_s,
            value.peak_burst,
        ]);
    }

    fn replica(&mut self, replica: &Replica) {
        let copy = |writer: &mut Self, it: &switch::Replica| writer.numbers([u64::from(it.port), it.rid]);
        copy(self, &replica.primary);
        self.list(&replica.backups, copy);
    }
}

// ------------------------------------------------------------------------------------------------------ reading

/// The updates of a record for this program, one by one: those that fit the program.
pub(crate) struct Updates<'a> {
    program: &'a Program,
    bytes: &'a [u8],
    /// The names of the record, as far as the program has them.
    names: Vec<(Kind, Option<usize>, &'a str)>,
    /// Why the update that is being read does not fit the program.
    mismatch: Option<Mismatch>,
    /// Remaining cells of a part.
    run: Option<Run>,
    /// The first name of the update that was read last: its owner.
    owner: Option<(Kind, &'a str)>,
}

/// Adjacent cells.
struct Run {
    kind: UpdateKind,
    tag: Tag,
    array: Option<usize>,
    index: Option<u64>,
    left: u64,
}

/// The most objects of the program that are named when a damaged record is described.
const OWNERS_MAX: usize = 4;

/// A record that does not have this form.
struct Broken;

type Read<T> = Result<T, Broken>;

impl<'a> Updates<'a> {
    /// The updates of a record, which begins with [`UPDATES`].
    pub fn of(program: &'a Program, record: &'a [u8]) -> Updates<'a> {
        let bytes = record.get(1..).unwrap_or_default();
        Updates { program, bytes, names: Vec::new(), mismatch: None, run: None, owner: None }
    }
}

/// A description of a record that may be damaged, as far as it can be read; `None` if nothing can be read.
pub(crate) fn held(record: &[u8]) -> String {
    for (start, what) in [(&b"{\"program\""[..], "the program"), (b"{\"notes\"", "names and timers")] {
        if record.starts_with(start) {
            return what.to_owned();
        }
    }
    if record.first() != Some(&UPDATES) {
        return String::new();
    }
    // The program itself is not available; an empty one of any architecture reads what does not depend on it.
    let program = Program::new(ir::architecture::ALL[0]);
    let mut updates = Updates::of(&program, record);
    let (mut counts, mut is_broken) = (OrderedMap::<String, u64>::new(), false);
    while !updates.bytes.is_empty() && !is_broken {
        updates.owner = None;
        is_broken = updates.update().is_err();
        if !is_broken || updates.owner.is_some() {
            let of = updates.owner.map(|(kind, name)| format!(" of {} {name}", kind.describe()));
            *counts.entry(of.unwrap_or_default()).or_default() += 1;
        }
    }
    let one = |(of, count): (&String, &u64)| format!("{count} update{}{of}", if *count == 1 { "" } else { "s" });
    let owners: Vec<String> = counts.iter().take(OWNERS_MAX).map(one).collect();
    let more = if counts.len() > OWNERS_MAX { ", ..." } else { "" };
    let as_far = if is_broken { "as far as it can be read " } else { "" };
    if owners.is_empty() { String::new() } else { format!("{as_far}{}{more}", owners.join(", ")) }
}

impl Iterator for Updates<'_> {
    type Item = Result<Update, Mismatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() && self.run.is_none() {
            return None;
        }
        let read = self.update();
        let mismatch = self.mismatch.take();
        Some(match read {
            Ok(update) => mismatch.map_or(Ok(update), Err),
            Err(Broken) => {
                (self.bytes, self.run) = (&[], None);
                Err("a record does not have this form; the rest of it is ignored".to_owned())
            }
        })
    }
}

impl<'a> Updates<'a> {
    fn take(&mut self, count: u64) -> Read<&'a [u8]> {
        let count = usize::try_from(count).map_err(|_| Broken)?;
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Broken)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Broken)
    }

    fn number32(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| Broken)
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        match self.byte()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(Broken),
        }
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.number()?;
        // Whatever the number says, items come as long as there are bytes.
        let mut items = Vec::with_capacity(count.min(64) as usize);
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn text(&mut self) -> Read<&'a [u8]> {
        let count = self.number()?;
        self.take(count)
    }

    /// Notes why the update does not fit. The first reason counts.
    fn misfit(&mut self, why: impl FnOnce() -> Mismatch) {
        self.mismatch.get_or_insert_with(why);
    }

    /// The object with the next name; `None`, with the reason noted, if the program does not have it.
    fn name<I: Id>(&mut self, kind: Kind) -> Read<Option<I>> {
        let (of, index, name) = match self.number()? {
            0 => {
                let name = std::str::from_utf8(self.text()?).map_err(|_| Broken)?;
                let found = (kind, kind.find(self.program, name), name);
                self.names.push(found);
                found
            }
            number => *self.names.get(usize::try_from(number - 1).map_err(|_| Broken)?).ok_or(Broken)?,
        };
        if of != kind {
            return Err(Broken);
        }
        self.owner.get_or_insert((kind, name));
        if index.is_none() {
            self.misfit(|| format!("the program has no {} {name}", kind.describe()));
        }
        Ok(index.map(I::from_index))
    }

    /// A value of this width; any value, with the reason noted, if its width differs. No width means that it is not
    /// known.
    fn value(&mut self, width: Option<u32>, what: impl FnOnce() -> String) -> Read<Bits> {
        let bytes = self.text()?;
        let Some(width) = width else { return Ok(Bits::zero(0)) };
        if bytes.len() != (width as usize).div_ceil(8) {
            let count = bytes.len();
            self.misfit(|| format!("{}a value of {count} bytes, where {width} bits are expected", what()));
            return Ok(Bits::zero(width));
        }
        if width % 8 != 0 && bytes.first().is_some_and(|first| first >> (width % 8) != 0) {
            self.misfit(|| format!("{}a value of more than {width} bits", what()));
        }
        Ok(Bits::from_be_bytes(width, bytes))
    }

    fn update(&mut self) -> Read<Update> {
        if let Some(run) = self.run.take() {
            return self.next_cell(run);
        }
        let kind = match self.byte()? {
            0 => UpdateKind::Insert,
            1 => UpdateKind::Modify,
            2 => UpdateKind::Delete,
            _ => return Err(Broken),
        };
        let tag = *TAGS.get(usize::from(self.byte()?)).ok_or(Broken)?;
        if let Tag::Register | Tag::Counter = tag {
            let array = match tag {
                Tag::Register => self.name::<ir::RegisterId>(Kind::Register)?.map(Id::index),
                _ => self.name::<ir::CounterId>(Kind::Counter)?.map(Id::index),
            };
            let index = self.option(Self::number)?;
            let left = self.number()?;
            if left == 0 || (index.is_none() && left > 1) {
                return Err(Broken);
            }
            return self.next_cell(Run { kind, tag, array, index, left });
        }
        Ok(Update { kind, entity: self.entity(tag)? })
    }

    fn next_cell(&mut self, run: Run) -> Read<Update> {
        let Run { kind, tag, array, index, left } = run;
        let Some(array) = array else {
            // None of them fits, for the one reason that was noted with the name.
            for _ in 0..left {
                if tag == Tag::Register { self.text().map(drop)? } else { self.counter().map(drop)? }
            }
            return Ok(Update { kind, entity: nothing() });
        };
        let entity = match tag {
            Tag::Register => {
                let array = Id::from_index(array);
                let width = self.program.registers[array].ty.width();
                Entity::Register(Cell { array, index, value: self.value(Some(width), String::new)? })
            }
            _ => Entity::Counter(Cell { array: Id::from_index(array), index, value: self.counter()? }),
        };
        if left > 1 {
            let index = Some(index.and_then(|index| index.checked_add(1)).ok_or(Broken)?);
            self.run = Some(Run { kind, tag, array: Some(array), index, left: left - 1 });
        }
        Ok(Update { kind, entity })
    }

    fn entity(&mut self, tag: Tag) -> Read<Entity> {
        Ok(match tag {
            Tag::Entry => {
                let (table, name) = self.named()?;
                Entity::TableEntry(self.table_entry(table, Some(name))?)
            }
            Tag::Default => {
                let table = self.name(Kind::Table)?;
                Entity::TableEntry(self.table_entry(table, None)?)
            }
            Tag::AllEntries => Entity::AllEntries(known(self.name(Kind::Table)?)),
            Tag::DirectCounter | Tag::DefaultCounter | Tag::AllDirectCounters => {
                let (table, which) = self.owner(tag)?;
                Entity::DirectCounter(Direct { table, which, value: self.counter()? })
            }
            Tag::DirectMeter | Tag::DefaultMeter | Tag::AllDirectMeters => {
                let (table, which) = self.owner(tag)?;
                let value = MeterValue { config: self.option(Self::rates)?, counts: None };
                Entity::DirectMeter(Direct { table, which, value })
            }
            Tag::Member => {
                let (profile, id) = (self.name(Kind::Profile)?, self.number32()?);
                let call = self.option(|reader| reader.call(None))?;
                Entity::Member(Member { profile: known(profile), id, call })
            }
            Tag::Group => {
                let (profile, id, size_max) = (self.name(Kind::Profile)?, self.number32()?, self.number32()?);
                let members = self.list(|reader| {
                    let (member, weight) = (reader.number32()?, reader.number32()?);
                    Ok(GroupMember { member, weight, watch_port: reader.option(Self::number32)? })
                })?;
                Entity::Group(Group { profile: known(profile), id, members, size_max })
            }
            Tag::Meter => {
                let (array, index) = (self.name(Kind::Meter)?, self.option(Self::number)?);
                let value = MeterValue { config: self.option(Self::rates)?, counts: None };
                Entity::Meter(Cell { array: known(array), index, value })
            }
            Tag::Multicast => {
                let (group, replicas) = (self.number()?, self.list(Self::replica)?);
                Entity::Multicast(Multicast { group, replicas, metadata: self.text()?.to_vec() })
            }
            Tag::CloneSession | Tag::SessionOfGroup => {
                let (session, class_of_service) = (self.number32()?, self.number32()?);
                let length_bytes_max = self.number32()?;
                let (group, replicas) = match tag {
                    Tag::SessionOfGroup => (Some(self.number()?), Vec::new()),
                    _ => (None, self.list(Self::replica)?),
                };
                Entity::CloneSession(CloneSession { session, replicas, group, class_of_service, length_bytes_max })
            }
            Tag::ValueSet => self.value_set()?,
            Tag::Digest => {
                let digest = self.name(Kind::Digest)?;
                let (timeout_max_ns, list_size_max) = (self.number()?, self.number32()?);
                let config = DigestConfig { timeout_max_ns, list_size_max, ack_timeout_ns: self.number()? };
                Entity::Digest { digest: known(digest), config }
            }
            Tag::Register | Tag::Counter => return Err(Broken),
        })
    }

    /// The owner of a direct resource.
    fn owner(&mut self, tag: Tag) -> Read<(TableId, Which)> {
        let which = match tag {
            Tag::DirectCounter | Tag::DirectMeter => {
                let (table, name) = self.named()?;
                return Ok((known(table), Which::Named(name)));
            }
            Tag::DefaultCounter | Tag::DefaultMeter => Which::Default,
            _ => Which::All,
        };
        Ok((known(self.name(Kind::Table)?), which))
    }

    fn named(&mut self) -> Read<(Option<TableId>, EntryName)> {
        let id: Option<TableId> = self.name(Kind::Table)?;
        let priority = self.number32()? as i32;
        let program = self.program;
        let table = id.map(|id| &program.tables[id]);
        let mut position = 0;
        let key = self.list(|reader| {
            let declared = table.and_then(|table| table.keys.get(position));
            position += 1;
            let what = || match (table, declared) {
                (Some(table), Some(key)) => format!("table {}, key {}: ", table.name, key.name),
                _ => String::new(),
            };
            reader.key(declared.map(|key| (key.expr.ty.width(), key.kind)), what)
        })?;
        if let Some(table) = table.filter(|table| table.keys.len() != key.len()) {
            self.misfit(|| format!("table {} has {} keys, not {}", table.name, table.keys.len(), key.len()));
        }
        Ok((id, EntryName { key, priority }))
    }

    /// A key of this width and kind. `None` means that they are not known.
    fn key(&mut self, declared: Option<(u32, MatchKind)>, what: impl Fn() -> String) -> Read<FieldMatch> {
        let width = declared.map(|(width, _)| width);
        let (kind, key) = match self.byte()? {
            0 => (MatchKind::Exact, FieldMatch::Exact(self.value(width, &what)?)),
            1 => {
                let (value, prefix_len) = (self.value(width, &what)?, self.number32()?);
                if let Some(width) = width.filter(|width| prefix_len > *width) {
                    self.misfit(|| format!("{}a prefix of {prefix_len} bits, where the key has {width}", what()));
                }
                (MatchKind::Lpm, FieldMatch::Lpm { value, prefix_len })
            }
            2 => {
                let (value, mask) = (self.value(width, &what)?, self.value(width, &what)?);
                (MatchKind::Ternary, FieldMatch::Ternary { value, mask })
            }
            3 => {
                let (low, high) = (self.value(width, &what)?, self.value(width, &what)?);
                (MatchKind::Range, FieldMatch::Range { low, high })
            }
            4 => (MatchKind::Optional, FieldMatch::Optional(Some(self.value(width, &what)?))),
            5 => (MatchKind::Optional, FieldMatch::Optional(None)),
            _ => return Err(Broken),
        };
        if let Some((_, wanted)) = declared.filter(|(_, wanted)| *wanted != kind) {
            self.misfit(|| format!("{}a key that is matched as {}, not as {}", what(), kind.name(), wanted.name()));
        }
        Ok(key)
    }

    fn table_entry(&mut self, table: Option<TableId>, name: Option<EntryName>) -> Read<TableEntry> {
        let action = self.action(table)?;
        let attributes = self.option(|reader| {
            let metadata = reader.text()?.to_vec();
            let (controller_metadata, idle_timeout_ns) = (reader.number()?, reader.number()?);
            Ok(Attributes { metadata, controller_metadata, idle_timeout_ns })
        })?;
        let counter = self.option(Self::counter)?;
        let meter = self.option(|reader| reader.option(Self::rates))?;
        let attributes = attributes.unwrap_or_default();
        Ok(TableEntry { attributes, counter, meter, ..TableEntry::new(known(table), name, action) })
    }

    fn action(&mut self, table: Option<TableId>) -> Read<Option<EntryAction>> {
        Ok(Some(match self.number()? {
            0 => return Ok(None),
            1 => EntryAction::Call(self.call(table)?),
            2 => EntryAction::Member(self.number32()?),
            3 => EntryAction::Group(self.number32()?),
            4 => EntryAction::OneShot(self.list(|reader| {
                let (call, weight) = (reader.call(None)?, reader.number32()?);
                Ok(Choice { call, weight, watch_port: reader.option(Self::number32)? })
            })?),
            _ => return Err(Broken),
        }))
    }

    fn call(&mut self, table: Option<TableId>) -> Read<Call> {
        let mut id: Option<ir::ActionId> = self.name(Kind::Action)?;
        let program = self.program;
        if let (Some(table), Some(named)) = (table, id) {
            // The same action in several controls is several in the program: the table's own is meant.
            let mut listed = program.tables[table].actions.iter().map(|listed| listed.action);
            let name = &program.actions[named].name;
            id = listed.find(|&it| it == named || program.actions[it].name == *name).or(id);
        }
        let params = id.map(|id| program.actions[id].params.as_slice());
        let mut position = 0;
        let args = self.list(|reader| {
            let param = params.and_then(|params| params.get(position)).map(|&param| &program.vars[param]);
            position += 1;
            let what = || param.map_or_else(String::new, |param| format!("parameter {}: ", param.name));
            reader.value(param.map(|param| param.ty.width()), what)
        })?;
        if let (Some(id), Some(params)) = (id, params.filter(|params| params.len() != args.len())) {
            let name = &program.actions[id].name;
            self.misfit(|| format!("action {name} has {} parameters, not {}", params.len(), args.len()));
        }
        Ok(Call { action: known(id), args })
    }

    fn value_set(&mut self) -> Read<Entity> {
        let set: Option<ir::ValueSetId> = self.name(Kind::ValueSet)?;
        let program = self.program;
        let declared = set.map(|set| &program.value_sets[set]);
        let members = self.list(|reader| {
            let mut position = 0;
            let keys = reader.list(|reader| {
                let key = declared.and_then(|set| set.keys.get(position)).map(|&(_, width, kind)| (width, kind));
                position += 1;
                reader.key(key, String::new)
            })?;
            if let Some(set) = declared.filter(|set| set.keys.len() != keys.len()) {
                reader.misfit(|| format!("value set {} has {} keys", set.name, set.keys.len()));
            }
            Ok(keys)
        })?;
        Ok(Entity::ValueSet { set: known(set), members })
    }

    fn counter(&mut self) -> Read<CounterCell> {
        Ok(CounterCell { packets: self.number()?, bytes: self.number()? })
    }

    fn rates(&mut self) -> Read<MeterConfig> {
        Ok(MeterConfig {
            committed_rate_milliunits_per_s: self.number()?,
            committed_burst: self.number()?,
            peak_rate_milliunits_per_s: self.number()?,
            peak_burst: self.number()?,
        })
    }

    fn replica(&mut self) -> Read<Replica> {
        let copy = |reader: &mut Self| {
            let port = reader.number32()?;
            Ok(switch::Replica { rid: reader.number()?, port })
        };
        Ok(Replica { primary: copy(self)?, backups: self.list(copy)? })
    }
}

/// The value, or any value if it was not found: the update is then skipped.
fn known<I: Id>(id: Option<I>) -> I {
    id.unwrap_or_else(|| I::from_index(0))
}

/// An entity for an update that is skipped.
fn nothing() -> Entity {
    Entity::Multicast(Multicast { group: 0, replicas: Vec::new(), metadata: Vec::new() })
}
