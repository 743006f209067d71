//! The texts with which BMv2's tool answers questions.
//!
//! What enters: a question, and the control plane of a switch. What leaves: the tool's text, which scripts parse.

use crate::api::entity::{CloneSession, EntryName};
use crate::api::resolve::{entry, table_of_counter, table_of_meter};
use crate::api::{Entity, Fault, Pipeline, ProgramQueue, Query};
use crate::cli_text::turned_priority;
use crate::command::{Ask, ProfilePart};
use crate::problem::Problem;
use crate::show;
use base::index::Id as _;
use base::{Bits, FieldMatch};
use ir::{Program, TableId};
use std::fmt::Write as _;
use switch::MeterConfig;
use switch::externs::CounterCell;
use switch::replication::Replication;
use tables::{Entry, Handle, Profile, Table, TableKind, Target};

fn problem(fault: Fault) -> Problem {
    Problem::new(fault.message)
}

impl Pipeline {
    /// Answers a question. The switch forwards packets meanwhile.
    pub(crate) fn answer(&self, queue: ProgramQueue<'_>, ask: &Ask) -> Result<String, Problem> {
        let (program, tables) = (self.program(), self.tables());
        let stored = |handle: Handle, table: TableId| entry(&tables.lock().tables()[table.index()], handle).map(drop);
        match ask {
            Ask::Query(query) => self.answer_query(queue, query),
            Ask::EntryCount(table) => Ok(tables.lock().tables()[table.index()].len().to_string()),
            Ask::Table(table) => {
                let lives = Lives::of(program, queue, *table)?;
                let tables = tables.lock();
                Ok(dump(&tables.tables()[table.index()], tables.profiles(), program, *table, &lives))
            }
            Ask::Entry(table, handle) => {
                let lives = Lives::of(program, queue, *table)?;
                let tables = tables.lock();
                let stored = &tables.tables()[table.index()];
                Ok(dump_entry(stored, entry(stored, *handle)?, program, *table, &lives))
            }
            Ask::EntryOfKey(table, EntryName { key, priority }) => {
                let lives = Lives::of(program, queue, *table)?;
                let tables = tables.lock();
                let stored = &tables.tables()[table.index()];
                let handle = stored.find(key, *priority).map_err(|error| Problem::new(error.to_string()))?;
                let entry = handle.and_then(|handle| stored.get(handle));
                let entry = entry.ok_or_else(|| Problem::new("there is no entry with this key"))?;
                Ok(dump_entry(stored, entry, program, *table, &lives))
            }
            Ask::Profile(profile, part) => dump_part(&tables.lock().profiles()[profile.index()], *part),
            Ask::Multicast => queue.ask(|switch| mc_dump(switch.replication())).map_err(problem),
            Ask::DirectCounter(counter, handle) => {
                stored(*handle, table_of_counter(program, *counter)?)?;
                let (counter, index) = (*counter, handle.0 as usize);
                let cell = queue.ask(move |switch| switch.externs_mut().direct_counters[counter].get(index).copied());
                Ok(counted(cell.map_err(problem)?.unwrap_or_default()))
            }
            Ask::DirectMeter(meter, handle) => {
                stored(*handle, table_of_meter(program, *meter)?)?;
                let (meter, index) = (*meter, u64::from(handle.0));
                let cell = queue.ask(move |switch| switch.externs_mut().direct_meters[meter].cell(index)?.config());
                Ok(meter_rates(cell.map_err(problem)?))
            }
        }
    }

    /// The values of entities with commas between.
    fn answer_query(&self, queue: ProgramQueue<'_>, query: &Query) -> Result<String, Problem> {
        let (mut text, mut is_first) = (String::new(), true);
        let read = self.read(queue, query, &mut |entities| {
            for entity in &entities {
                text += if std::mem::take(&mut is_first) { "" } else { ", " };
                text += &value(entity);
            }
            true
        });
        read.map_err(problem)?;
        match query {
            Query::CloneSessions(Some(session)) if is_first => {
                Err(Problem::new(format!("there is no clone session {session}")))
            }
            _ => Ok(text),
        }
    }
}

/// The value of an entity that the tool can query.
fn value(entity: &Entity) -> String {
    match entity {
        Entity::Register(cell) => cell.value.to_bigint().to_string(),
        Entity::Counter(cell) => counted(cell.value),
        Entity::Meter(cell) => meter_rates(cell.value.config),
        Entity::ValueSet { members, .. } => show::value_set(members),
        Entity::CloneSession(session) => mirroring(session),
        _ => String::new(),
    }
}

fn counted(CounterCell { packets, bytes }: CounterCell) -> String {
    format!("packets={packets}, bytes={bytes}")
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// All bytes of a value, as two hexadecimal digits each.
pub(crate) fn hex(value: &Bits, separator: &str) -> String {
    let bytes: Vec<String> = value.to_be_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(separator)
}

/// The match kind as the tool writes it.
pub(crate) fn bmv2_kind(key: &FieldMatch) -> String {
    key.kind().name().to_ascii_uppercase()
}

pub(crate) fn bmv2_match(key: &FieldMatch, separator: &str) -> String {
    key.text([" &&& ", " -> "], |value, _| hex(value, separator))
}

const RULE: &str = "==========";
const STARS: &str = "**********";

/// What a table with timeouts needs to show its entries' age: the switch's time, and that of each entry's last hit.
#[derive(Default)]
struct Lives {
    now_ns: u64,
    last_hits_ns: Vec<u64>,
}

impl Lives {
    fn of(program: &Program, queue: ProgramQueue<'_>, table: TableId) -> Result<Lives, Problem> {
        if !program.tables[table].support_timeout {
            return Ok(Lives::default());
        }
        let lives = queue.ask(move |switch| Lives {
            now_ns: switch.now_ns(),
            last_hits_ns: switch.externs_mut().last_hits_ns[table].clone(),
        });
        lives.map_err(problem)
    }
}

fn dump(table: &Table, profiles: &[Profile], program: &Program, id: TableId, lives: &Lives) -> String {
    let mut text = format!("{RULE}\nTABLE ENTRIES\n");
    for entry in table.entries() {
        let _ = writeln!(text, "{STARS}\n{}", dump_entry(table, entry, program, id, lives));
    }
    if let Some(used) = &program.tables[id].implementation
        && let Some(profile) = profiles.get(used.profile.index())
    {
        let _ = writeln!(text, "{}", dump_profile(profile));
    }
    let default =
        table.default_action().map_or_else(|| "EMPTY".to_owned(), |call| action_entry(table, call.action, &call.args));
    let _ = write!(text, "{RULE}\nDumping default entry\n{default}\n{RULE}");
    text
}

fn dump_entry(table: &Table, entry: &Entry, program: &Program, id: TableId, lives: &Lives) -> String {
    let mut text = format!("Dumping entry {:#x}\nMatch key:\n", entry.handle.0);
    let keys = &program.tables[id].keys;
    let width = keys.iter().map(|key| key.name.chars().count()).max().unwrap_or(0).max(20);
    for (key, value) in keys.iter().zip(&entry.spec.key) {
        let _ = writeln!(text, "* {:width$}: {}", key.name, match_text(value));
    }
    if matches!(table.kind(), TableKind::Ternary | TableKind::Range) {
        let _ = writeln!(text, "Priority: {}", turned_priority(entry.spec.priority));
    }
    text += &action_entry(table, entry.spec.action, &entry.spec.args);
    if program.tables[id].support_timeout {
        let last_hit_ns = lives.last_hits_ns.get(entry.handle.0 as usize).copied().unwrap_or(lives.now_ns);
        let idle_ms = lives.now_ns.saturating_sub(last_hit_ns) / 1_000_000;
        let timeout_ms = entry.attributes.as_ref().map_or(0, |it| it.idle_timeout_ns) / 1_000_000;
        let _ = write!(text, "\nLife: {idle_ms}ms since hit, timeout is {timeout_ms}ms");
    }
    text
}

fn dump_profile(profile: &Profile) -> String {
    let members = profile.members().map(|(handle, call)| format!("{STARS}\n{}", dump_member(profile, handle, call)));
    let head = [RULE.to_owned(), "MEMBERS".to_owned()];
    let members = head.into_iter().chain(members);
    if !profile.spec().has_groups {
        return lines(members);
    }
    let groups = profile.groups().map(|(handle, members)| format!("{STARS}\n{}", dump_group(handle, members)));
    lines(members.chain([RULE.to_owned(), "GROUPS".to_owned()]).chain(groups))
}

fn dump_part(profile: &Profile, part: ProfilePart) -> Result<String, Problem> {
    let none = |what: &str, handle: Handle| Problem::new(format!("there is no {what} with handle {handle}"));
    match part {
        ProfilePart::All => Ok(dump_profile(profile)),
        ProfilePart::Member(handle) => {
            profile.member(handle).map(|call| dump_member(profile, handle, call)).ok_or_else(|| none("member", handle))
        }
        ProfilePart::Group(handle) => {
            profile.group(handle).map(|members| dump_group(handle, members)).ok_or_else(|| none("group", handle))
        }
    }
}

fn dump_member(profile: &Profile, handle: Handle, call: &tables::ActionCall) -> String {
    let name = profile.spec().actions.get(call.action).map_or("?", |action| action.name.as_str());
    format!("Dumping member {handle}\nAction entry: {name} - {}", arguments(&call.args))
}

/// The tool does not support weights; one other than 1 follows its member.
fn dump_group(handle: Handle, members: &tables::Group) -> String {
    let member = |(member, &weight): (&Handle, &u32)| match weight {
        1 => member.to_string(),
        _ => format!("{member} (weight {weight})"),
    };
    let members: Vec<String> = members.iter().map(member).collect();
    format!("Dumping group {handle}\nMembers: [{}]", members.join(", "))
}

fn arguments(args: &[Bits]) -> String {
    args.iter().map(|arg| hex(arg, "")).collect::<Vec<_>>().join(", ")
}

fn match_text(value: &FieldMatch) -> String {
    format!("{:10}{}", bmv2_kind(value), bmv2_match(value, ""))
}

fn action_entry(table: &Table, action: usize, args: &[Bits]) -> String {
    match Target::of(action, args) {
        Some(Target::Member(member)) => format!("Index: member({member})"),
        Some(Target::Group(group)) => format!("Index: group({group})"),
        None => {
            let name = table.spec().actions.get(action).map_or("NoAction", |action| action.name.as_str());
            format!("Action entry: {name} - {}", arguments(args))
        }
    }
}

/// Replicas that come from no node, such as those of P4Runtime, are shown with their number alone.
fn mc_dump(replication: &Replication) -> String {
    let mut text = format!("{RULE}\nMC ENTRIES\n");
    for (group, replicas) in replication.groups() {
        let _ = writeln!(text, "{STARS}\nmgrp({group})");
        let mut line = |node: &str, rid: u64, ports: &mut dyn Iterator<Item = u32>| {
            let ports: Vec<String> = ports.map(|port| port.to_string()).collect();
            let _ = writeln!(text, "  -> (L1h={node}, rid={rid}) -> (ports=[{}], lags=[])", ports.join(", "));
        };
        for &handle in replication.nodes_of(group) {
            if let Some(node) = replication.node(handle) {
                line(&handle.to_string(), node.rid, &mut node.ports.iter().copied());
            }
        }
        let own = replicas.get(replication.replicas_of_nodes(group)..).unwrap_or_default();
        for replicas in own.chunk_by(|one, other| one.rid == other.rid) {
            line("-", replicas[0].rid, &mut replicas.iter().map(|replica| replica.port));
        }
    }
    text + RULE + "\nLAGS\n" + RULE
}

/// The committed rate and the peak rate, in units per microsecond, each with its burst.
fn meter_rates(config: Option<MeterConfig>) -> String {
    let Some(config) = config else { return "WARNING: expected 2 rates but only received 0".to_owned() };
    let rates = [
        (config.committed_rate_milliunits_per_s, config.committed_burst),
        (config.peak_rate_milliunits_per_s, config.peak_burst),
    ];
    let row = |(number, (rate, burst)): (usize, (u64, u64))| {
        format!("{number}: info rate = {:?}, burst size = {burst}", rate as f64 / 1e9)
    };
    lines(rates.into_iter().enumerate().map(row))
}

fn mirroring(session: &CloneSession) -> String {
    match session.group {
        Some(group) => format!("MirroringSessionConfig(port=None, mgid={group})"),
        None => {
            let ports = session.replicas.iter().map(|it| it.primary.port.to_string());
            format!("MirroringSessionConfig(port={}, mgid=None)", ports.collect::<Vec<_>>().join(","))
        }
    }
}
