//! A controller that learns behind which port of each switch an Ethernet address is, and writes entries for it.
//!
//! What enters: digests with an address and a port, or packets whose header has the port that they came from. What
//! leaves: entries, which are written once for each address, again when it appears at another port, and deleted when
//! they have become idle. Packets are sent on by the controller itself: to the port of the destination, or to all.
//!
//! Which entries these are depends on the program: they are lines of `simple_switch_CLI` commands in which `{mac}` and
//! `{port}` stand for what was learnt.

use super::{Controller, Controls, SwitchFacts, WriteId};
use base::index::Id as _;
use base::{Bits, OrderedMap};
use control::api::entity::TableEntry;
use control::api::{Code, Entity, Fault, Update, UpdateKind};
use control::{Command, parse_entries};
use ir::{DigestId, FieldType, HeaderType, Program};

/// Bits of an Ethernet address.
const ADDRESS_BITS: u32 = 48;
/// Bytes of two of them, with which a frame begins.
const ADDRESSES_BYTES: usize = 12;

/// What it learns from, and what it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearningConfig {
    /// What reports addresses to it.
    pub source: LearningSource,
    /// Lines of commands with `{mac}` and `{port}`.
    pub lines: Vec<String>,
    /// The timeout of entries in tables that have timeouts; 0 for none.
    pub idle_timeout_ns: u64,
}

/// What reports addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearningSource {
    /// A digest: of this name, or the only one.
    Digest(Option<String>),
    /// Packets for the controller.
    Packets {
        /// The type of the header before them.
        header_in: String,
        /// That of the header before those that it sends; it sends none without it.
        header_out: Option<String>,
    },
}

/// Which setting a program does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// What it learns from.
    Source,
    /// The lines.
    Lines,
    /// The timeout.
    Idle,
}

/// A controller that learns addresses.
pub struct Learning {
    config: LearningConfig,
    switches: Vec<Known>,
}

/// What is known of a switch.
struct Known {
    facts: SwitchFacts,
    source: Source,
    addresses: OrderedMap<u64, Learnt>,
    /// Writes that were not answered, with what they are for.
    writes: OrderedMap<WriteId, (u64, Vec<Update>)>,
}

/// Where an address is.
struct Learnt {
    port: u32,
    /// What was written for it.
    entries: Vec<TableEntry>,
}

/// What reports addresses, in a program.
enum Source {
    /// A digest, with the positions of its address and its port.
    Digest {
        digest: DigestId,
        address: usize,
        port: usize,
    },
    Packets {
        header_in: Layout,
        header_out: Option<Layout>,
    },
}

/// Where a header has its port.
#[derive(Clone, Copy)]
struct Layout {
    bytes: usize,
    offset_bits: usize,
    width: u32,
}

impl Learning {
    /// A controller for these switches; or which setting does not fit a program, and what would.
    pub fn new(config: LearningConfig, switches: &[SwitchFacts]) -> Result<Learning, (Setting, String)> {
        let known = |facts: &SwitchFacts| {
            let of_switch = |message: String| format!("switch {}: {message}", facts.name);
            let source = source(&config.source, &facts.program).map_err(|it| (Setting::Source, of_switch(it)))?;
            let port = facts.ports.first().copied().unwrap_or_default();
            let entries = entries(&config, &facts.program, 1, port);
            let entries = entries.map_err(|it| (Setting::Lines, of_switch(it)))?;
            let has_timeout = |entry: &TableEntry| facts.program.tables[entry.table].support_timeout;
            if config.idle_timeout_ns > 0 && !entries.iter().any(has_timeout) {
                let message = "none of the tables that are written has timeouts: in P4 a table has \
                               `support_timeout = true`";
                return Err((Setting::Idle, of_switch(message.to_owned())));
            }
            Ok(Known { facts: facts.clone(), source, addresses: OrderedMap::new(), writes: OrderedMap::new() })
        };
        let switches = switches.iter().map(known).collect::<Result<_, _>>()?;
        Ok(Learning { config, switches })
    }

    /// Where it believes an address to be.
    pub fn port(&self, switch: usize, address: u64) -> Option<u32> {
        self.switches[switch].addresses.get(&address).map(|learnt| learnt.port)
    }

    fn learn(&mut self, controls: &mut Controls<'_, '_>, switch: usize, address: u64, port: u32) {
        let known = &mut self.switches[switch];
        let is_group = address >> 40 & 1 == 1;
        if is_group || known.addresses.get(&address).is_some_and(|learnt| learnt.port == port) {
            return;
        }
        // The lines were tried; what depends on the values is refused by the switch.
        let Ok(entries) = entries(&self.config, &known.facts.program, address, port) else { return };
        let before = known.addresses.insert(address, Learnt { port, entries: entries.clone() });
        let updates = changes(before.map(|it| it.entries).unwrap_or_default(), entries);
        let write = controls.write(switch, updates.clone());
        known.writes.insert(write, (address, updates));
    }

    /// Sends a packet on for a switch.
    fn forward(&self, controls: &mut Controls<'_, '_>, switch: usize, from: u32, payload: &[u8], out: Layout) {
        let known = &self.switches[switch];
        let destination = known.addresses.get(&address(&payload[..6])).map(|learnt| learnt.port);
        let ports = known.facts.ports.iter().copied();
        for port in ports.filter(|port| *port != from && destination.is_none_or(|it| it == *port)) {
            let mut frame = vec![0; out.bytes];
            Bits::from_u64(out.width, port.into()).to_packet(&mut frame, out.offset_bits);
            frame.extend_from_slice(payload);
            controls.packet_out(switch, &frame);
        }
    }
}

impl Controller for Learning {
    fn connected(&mut self, _controls: &mut Controls<'_, '_>, switch: usize) {
        let known = &mut self.switches[switch];
        known.addresses.clear();
        known.writes.clear();
    }

    fn packet_in(&mut self, controls: &mut Controls<'_, '_>, switch: usize, frame: &[u8]) {
        let Source::Packets { header_in, header_out } = &self.switches[switch].source else { return };
        let (header_in, header_out) = (*header_in, *header_out);
        let Some((header, payload)) = frame.split_at_checked(header_in.bytes) else { return };
        if payload.len() < ADDRESSES_BYTES {
            return;
        }
        let port = Bits::from_packet(header_in.width, header, header_in.offset_bits).low_u64() as u32;
        self.learn(controls, switch, address(&payload[6..ADDRESSES_BYTES]), port);
        if let Some(out) = header_out {
            self.forward(controls, switch, port, payload, out);
        }
    }

    fn digest(&mut self, controls: &mut Controls<'_, '_>, switch: usize, digest: DigestId, values: &[Bits]) {
        match self.switches[switch].source {
            Source::Digest { digest: own, address, port } if own == digest => {
                let value = |index: usize| values.get(index).map_or(0, Bits::low_u64);
                self.learn(controls, switch, value(address), value(port) as u32);
            }
            _ => {}
        }
    }

    fn idle(&mut self, controls: &mut Controls<'_, '_>, switch: usize, entry: &TableEntry) {
        let known = &mut self.switches[switch];
        let is_for = |learnt: &Learnt| learnt.entries.iter().any(|it| is_same(it, entry));
        let found = known.addresses.iter().find(|(_, learnt)| is_for(learnt)).map(|(address, _)| *address);
        if let Some(learnt) = found.and_then(|address| known.addresses.remove(&address)) {
            controls.write(switch, changes(learnt.entries, Vec::new()));
        }
    }

    fn written(
        &mut self,
        controls: &mut Controls<'_, '_>,
        switch: usize,
        write: WriteId,
        outcomes: &[Result<(), Fault>],
    ) {
        let known = &mut self.switches[switch];
        let Some((address, updates)) = known.writes.remove(&write) else { return };
        let refused = updates.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_err());
        // What is there already was written before a restart, or by another file.
        let is_there = |(update, outcome): &(Update, &Result<(), Fault>)| {
            update.kind == UpdateKind::Insert && outcome.as_ref().is_err_and(|fault| fault.code == Code::AlreadyExists)
        };
        let (there, others): (Vec<_>, Vec<_>) = refused.partition(is_there);
        if !others.is_empty() {
            // The next packet of this address brings it up again.
            known.addresses.remove(&address);
        } else if !there.is_empty() {
            let modify = |(update, _): (Update, _)| Update { kind: UpdateKind::Modify, ..update };
            let updates: Vec<Update> = there.into_iter().map(modify).collect();
            let write = controls.write(switch, updates.clone());
            known.writes.insert(write, (address, updates));
        }
    }
}

fn address(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |address, byte| address << 8 | u64::from(*byte))
}

/// Whether two entries have the same table and key.
fn is_same(a: &TableEntry, b: &TableEntry) -> bool {
    a.table == b.table && a.name == b.name
}

/// The updates that put entries in the place of others.
fn changes(before: Vec<TableEntry>, after: Vec<TableEntry>) -> Vec<Update> {
    let is_in = |entry: &TableEntry, all: &[TableEntry]| all.iter().any(|it| is_same(it, entry));
    let update = |kind: UpdateKind, entry: TableEntry| Update { kind, entity: Entity::TableEntry(entry) };
    let gone = before.iter().filter(|entry| !is_in(entry, &after));
    let mut updates: Vec<Update> = gone.map(|entry| update(UpdateKind::Delete, entry.clone())).collect();
    updates.extend(after.into_iter().map(|entry| match is_in(&entry, &before) {
        true => update(UpdateKind::Modify, entry),
        false => update(UpdateKind::Insert, entry),
    }));
    updates
}

/// The entries of the lines for an address behind a port.
fn entries(config: &LearningConfig, program: &Program, address: u64, port: u32) -> Result<Vec<TableEntry>, String> {
    let mac: Vec<String> = address.to_be_bytes()[2..].iter().map(|byte| format!("{byte:02x}")).collect();
    let fill = |line: &String| line.replace("{mac}", &mac.join(":")).replace("{port}", &port.to_string());
    let mut entries = Vec::new();
    for line in &config.lines {
        let commands = parse_entries("write", &fill(line), program);
        let commands = commands.map_err(|errors| format!("`{line}`: {}", errors[0].problem))?;
        for (command, _) in commands {
            entries.push(entry(config, program, command).ok_or_else(|| {
                format!("`{line}` is no table_add: write lines such as \"table_add TABLE ACTION {{mac}} => {{port}}\"")
            })?);
        }
    }
    Ok(entries)
}

/// The entry that a command inserts, with the timeout.
fn entry(config: &LearningConfig, program: &Program, command: Command) -> Option<TableEntry> {
    match command {
        Command::Write(update) if update.kind == UpdateKind::Insert => match update.entity {
            Entity::TableEntry(mut entry) => {
                if program.tables[entry.table].support_timeout {
                    entry.attributes.idle_timeout_ns = config.idle_timeout_ns;
                }
                Some(entry)
            }
            _ => None,
        },
        _ => None,
    }
}

fn source(source: &LearningSource, program: &Program) -> Result<Source, String> {
    match source {
        LearningSource::Digest(name) => digest(name.as_deref(), program),
        LearningSource::Packets { header_in, header_out } => {
            let header_in = layout(header_in, "ingress_port", program)?;
            let header_out = header_out.as_ref().map(|it| layout(it, "egress_port", program)).transpose()?;
            Ok(Source::Packets { header_in, header_out })
        }
    }
}

/// The digest of this name, or the only one, with its address and its port.
fn digest(name: Option<&str>, program: &Program) -> Result<Source, String> {
    let known: Vec<&str> = program.digests.iter().map(|it| &*it.name).collect();
    let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let position = match (name, known.len()) {
        (None, 1) => Some(0),
        (None, _) => return Err(format!("name one digest of the program with digest = \"NAME\"; it has {listed}")),
        (Some(name), _) => known.iter().position(|it| *it == name),
    };
    let Some(position) = position else {
        let name = name.unwrap_or_default();
        return Err(format!("the program has no digest `{name}`; it has {listed}"));
    };
    let digest = DigestId::from_index(position);
    let fields = &program.digests[digest].fields;
    let of_width = |width: u32| fields.iter().position(|(_, ty)| ty.width() == width);
    let port_bits = program.architecture.port_bits;
    match (of_width(ADDRESS_BITS), of_width(port_bits)) {
        (Some(address), Some(port)) => Ok(Source::Digest { digest, address, port }),
        _ => Err(format!(
            "the digest {} must have an address of {ADDRESS_BITS} bits and a port of {port_bits}",
            known[position]
        )),
    }
}

/// Where a header of this type has its port: in the field of this name, or in the only one that is as wide as a port.
fn layout(name: &str, field: &str, program: &Program) -> Result<Layout, String> {
    let Some(header) = program.header_types.iter().find(|it| it.name == name) else {
        let known: Vec<&str> = program.header_types.iter().map(|it| &*it.name).collect();
        return Err(format!("the program has no header type `{name}`; it has {}", known.join(", ")));
    };
    let fields = fields(header);
    let port_bits = program.architecture.port_bits;
    let named = fields.iter().find(|(own, ..)| *own == field);
    let mut wide = fields.iter().filter(|(_, _, width)| *width == port_bits);
    let found = named.or_else(|| wide.next().filter(|_| wide.next().is_none()));
    let Some((_, offset_bits, width)) = found else {
        return Err(format!("the header {name} has no field `{field}`, nor a single one of {port_bits} bits"));
    };
    let bytes = header.fixed_width().div_ceil(8) as usize;
    Ok(Layout { bytes, offset_bits: *offset_bits, width: *width })
}

/// Names, offsets and widths of the fields.
fn fields(header: &HeaderType) -> Vec<(&str, usize, u32)> {
    let mut offset_bits = 0;
    let mut fields = Vec::new();
    for field in &header.fields {
        let FieldType::Fixed(ty) = field.ty else { continue };
        fields.push((&*field.name, offset_bits, ty.width()));
        offset_bits += ty.width() as usize;
    }
    fields
}
