//! Runs `simple_switch_CLI` commands, line by line, on a running switch, and produces the tool's output.
//!
//! What enters: a line as users of that tool write it, and the control plane of a switch. What leaves: text in the
//! tool's form, which scripts parse: handles, values, dumps. The commands are those of entries files
//! ([`crate::cli_text`]); this module adds the commands that only read, and the text around results. Where the tool
//! reports an error without a reason, this module gives the reason.

use crate::api::entity::{Cell, Entity};
use crate::api::{Api, Atomicity, Update, UpdateKind};
use crate::apply::{Reply, meter_cell};
use crate::cli_text::{self, turned_priority};
use crate::command::{Command, CounterRef, ProfilePart};
use crate::names;
use crate::problem::Problem;
use base::index::Id as _;
use base::{Bits, FieldMatch};
use ir::{ActionCall, Program, TableId};
use std::fmt::Write as _;
use switch::externs::CounterCell;
use switch::replication::Replication;
use switch::{CloneTarget, MeterConfig, Switch};
use tables::{Entry, Handle, Profile, ProfileOperation, Table, TableKind, Target};

/// The result of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The output, without the line break at its end; empty for many commands that change something.
    pub text: String,
    /// The line was refused; the text says why.
    pub is_error: bool,
}

/// The identity of the switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its device id.
    pub device_id: u64,
    /// Ports, and what each is connected to.
    pub ports: Vec<(u32, String)>,
}

/// Carries out a line.
pub fn run(api: &Api, about: &About, line: &str) -> Answer {
    match answer(api, about, line) {
        Ok(text) => Answer { text, is_error: false },
        Err(problem) => Answer { text: problem.to_string(), is_error: true },
    }
}

/// The output of a command that only reads.
type Asks = fn(&Program, &[&str]) -> Result<String, Problem>;

/// Commands that depend only on the program, with their usage and the number of their arguments.
const OF_THE_PROGRAM: [(&str, &str, usize, Asks); 6] = [
    ("help", "[COMMAND]", 1, |_, words| words.first().map_or_else(|| Ok(help()), |name| help_of(name))),
    ("show_tables", "", 0, |program, _| Ok(lines(program.tables.ids().map(|table| show_table(program, table))))),
    ("show_actions", "", 0, |program, _| Ok(show_actions(program))),
    ("show_pvs", "", 0, |program, _| Ok(lines(program.value_sets.iter().map(|set| set.name.clone())))),
    ("table_show_actions", "TABLE", 1, |program, words| {
        names::table(program, words[0]).map(|table| lines(table_actions(program, table)))
    }),
    ("table_info", "TABLE", 1, |program, words| {
        let table = names::table(program, words[0])?;
        let actions = lines(table_actions(program, table));
        Ok(format!("{}\n{}\n{actions}", show_table(program, table), "*".repeat(80)))
    }),
];

/// Commands that need the switch, beside those of entries files.
const OF_THE_SWITCH: [&str; 5] =
    ["get_time_elapsed", "get_time_since_epoch", "reset_state", "show_ports", "switch_info"];

/// The names of all supported commands.
pub fn command_names() -> Vec<&'static str> {
    let local = OF_THE_PROGRAM.iter().map(|(name, ..)| *name).chain(OF_THE_SWITCH);
    let mut names: Vec<&str> = cli_text::command_names().chain(local).collect();
    names.sort_unstable();
    names
}

fn answer(api: &Api, about: &About, line: &str) -> Result<String, Problem> {
    let program = api.program();
    let words = cli_text::words(line)?;
    let Some((&name, words)) = words.split_first() else { return Ok(String::new()) };
    if let Some((_, usage, count, ask)) = OF_THE_PROGRAM.iter().find(|(known, ..)| *known == name) {
        if words.len() != *count && (name != "help" || words.len() > *count) {
            let least = if name == "help" { 0 } else { *count };
            let message = cli_text::count_message(name, words.len(), least, *count);
            return Err(Problem::new(message).with_help(format!("{name} {usage}").trim_end().to_owned()));
        }
        return ask(&program, words);
    }
    let closed = |closed: switch::Closed| Problem::new(closed.to_string());
    match name {
        // Both clocks of the tool begin with the switch.
        "get_time_elapsed" | "get_time_since_epoch" => {
            let now_ns = api.door().ask(|switch: &mut Switch| switch.now_ns()).map_err(closed)?;
            Ok((now_ns / 1000).to_string())
        }
        "show_ports" => Ok(show_ports(api, about)),
        "switch_info" => Ok(switch_info(about)),
        "reset_state" => reset_state(api, &program).map(|()| String::new()),
        _ if !cli_text::is_known(name) => Err(no_command(name)),
        _ => match cli_text::parse_line(line, &program)? {
            None => Ok(String::new()),
            Some(command) => carry_out(api, &program, command),
        },
    }
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

fn help() -> String {
    let names = command_names();
    let row = |row: &[&str]| row.iter().map(|name| format!("{name:40}")).collect::<String>().trim_end().to_owned();
    format!("Commands:\n{}", lines(names.chunks(3).map(row)))
}

fn no_command(name: &str) -> Problem {
    let all = names::listed(name, &command_names());
    Problem::new(format!("there is no command {name}")).with_help(format!("commands are {all}"))
}

/// The usage of a command, or what to do instead.
fn help_of(name: &str) -> Result<String, Problem> {
    let of_the_program = OF_THE_PROGRAM.iter().find(|(known, ..)| *known == name);
    let of_the_program = of_the_program.map(|(name, usage, ..)| format!("{name} {usage}").trim_end().to_owned());
    let of_the_switch = || OF_THE_SWITCH.iter().find(|known| **known == name).map(|name| (*name).to_owned());
    let usage = cli_text::usage(name).or(of_the_program).or_else(of_the_switch);
    usage.ok_or_else(|| cli_text::not_carried_out(name).unwrap_or_else(|| no_command(name)))
}

// ------------------------------------------------------------------------------------------------- what the switch has

fn show_ports(api: &Api, about: &About) -> String {
    let down = api.ports_down();
    let row = |number: &str, name: &str, status: &str, more: &str| {
        format!("{number:^10}{name:^20}{status:^10}{more}").trim_end().to_owned()
    };
    let ports = about
        .ports
        .iter()
        .map(|(number, name)| row(&number.to_string(), name, if down.contains(number) { "DOWN" } else { "UP" }, ""));
    let head = [row("port #", "iface name", "status", "extra info"), "=".repeat(50)];
    lines(head.into_iter().chain(ports))
}

fn switch_info(about: &About) -> String {
    let ports: Vec<String> = about.ports.iter().map(|(number, name)| format!("{number}@{name}")).collect();
    let rows = [("device_id", about.device_id.to_string()), ("ports", ports.join(" "))];
    lines(rows.iter().map(|(name, value)| format!("{name:25}: {value}")))
}

// ------------------------------------------------------------------------------------------------ what the program has

fn show_table(program: &Program, table: TableId) -> String {
    let table = &program.tables[table];
    let profile = table.implementation.as_ref().map(|used| program.action_profiles[used.profile].name.as_str());
    let keys = table.keys.iter().map(|key| format!("{}({}, {})", key.name, key.kind.name(), key.expr.ty.width()));
    let keys: Vec<String> = keys.collect();
    format!("{:30} [implementation={}, mk={}]", table.name, profile.unwrap_or("None"), keys.join(",\t"))
}

fn show_action(program: &Program, action: ir::ActionId) -> String {
    let action = &program.actions[action];
    let params = action.params.iter().map(|&var| {
        let var = &program.vars[var];
        format!("{}({})", names::last_part(&var.name), var.ty.width())
    });
    format!("{:30} [{}]", action.name, params.collect::<Vec<_>>().join(",\t"))
}

/// Each action once: the program may have several copies of one.
fn show_actions(program: &Program) -> String {
    let mut shown: Vec<String> = program.actions.ids().map(|action| show_action(program, action)).collect();
    shown.sort_unstable();
    shown.dedup();
    lines(shown)
}

fn table_actions(program: &Program, table: TableId) -> Vec<String> {
    program.tables[table].actions.iter().map(|listed| show_action(program, listed.action)).collect()
}

// ----------------------------------------------------------------------------------------------------------- commands

/// Carries out a command and formats its result.
fn carry_out(api: &Api, program: &Program, command: Command) -> Result<String, Problem> {
    use Command::*;
    match &command {
        TableDump { table } => {
            let lives = Lives::of(api, program, *table)?;
            let (tables, index) = (api.tables(), table.index());
            let tables = tables.lock();
            Ok(dump(&tables.tables()[index], tables.profiles(), program, *table, &lives))
        }
        TableDumpEntry { table, handle } => {
            let lives = Lives::of(api, program, *table)?;
            let (tables, index) = (api.tables(), table.index());
            let tables = tables.lock();
            let stored = &tables.tables()[index];
            let entry = stored.get(Handle(*handle));
            let entry = entry.ok_or_else(|| Problem::new(format!("there is no entry with handle {handle}")))?;
            Ok(dump_entry(stored, entry, program, *table, &lives))
        }
        TableDumpEntryFromKey { table, key, priority } => {
            let lives = Lives::of(api, program, *table)?;
            let (tables, index) = (api.tables(), table.index());
            let tables = tables.lock();
            let stored = &tables.tables()[index];
            let handle = stored.find(key, *priority).map_err(|error| Problem::new(error.to_string()))?;
            let entry = handle.and_then(|handle| stored.get(handle));
            let entry = entry.ok_or_else(|| Problem::new("there is no entry with this key"))?;
            Ok(dump_entry(stored, entry, program, *table, &lives))
        }
        ProfileDump { profile, part } => {
            let tables = api.tables();
            let tables = tables.lock();
            dump_part(&tables.profiles()[profile.index()], *part)
        }
        MeterGetRates { meter, index } => {
            let (meter, index) = (*meter, *index);
            let config =
                api.door().ask(move |switch: &mut Switch| meter_cell(switch, meter, index).map(|it| it.config()));
            config.map_err(|closed| Problem::new(closed.to_string()))?.map(meter_rates)
        }
        McDump => {
            let text = api.door().ask(|switch: &mut Switch| mc_dump(switch.replication()));
            text.map_err(|closed| Problem::new(closed.to_string()))
        }
        MirroringGet { session } => {
            let session = u32::from(*session);
            let found = api.door().ask(move |switch: &mut Switch| switch.replication().session(session).map(mirroring));
            let found = found.map_err(|closed| Problem::new(closed.to_string()))?;
            found.ok_or_else(|| Problem::new(format!("there is no clone session {session}")))
        }
        _ => {
            let intent = intent(program, &command);
            let reply = api.command(command.clone())?;
            let outcome = outcome(program, &command, reply);
            Ok(match (intent.is_empty(), outcome.is_empty()) {
                (true, _) => outcome,
                (_, true) => intent,
                _ => format!("{intent}\n{outcome}"),
            })
        }
    }
}

/// What the tool announces before it runs the command.
fn intent(program: &Program, command: &Command) -> String {
    use Command::*;
    let name = |table: &TableId| &program.tables[*table].name;
    match command {
        TableAdd { table, key, call, .. } => {
            let keys: Vec<String> = key.iter().map(key_text).collect();
            format!(
                "Adding entry to {} match table {}\nmatch key:           {}\n{}",
                table_kind(program, *table),
                name(table),
                keys.join("\t"),
                call_text(program, *table, call)
            )
        }
        TableModify { table, handle, .. } => {
            format!("Modifying entry {handle} for {} match table {}", table_kind(program, *table), name(table))
        }
        TableDelete { table, handle } => format!("Deleting entry {handle} from {}", name(table)),
        TableSetDefault { table, call } => {
            format!("Setting default action of {}\n{}", name(table), call_text(program, *table, call))
        }
        TableResetDefault { table } => format!("Resetting default entry for table {}", name(table)),
        McGroupCreate { group } => format!("Creating multicast group {group}"),
        McGroupDestroy { group } => format!("Destroying multicast group {group}"),
        McNodeCreate { rid, ports } => {
            format!("Creating node with rid {rid} , port map {} and lag map ", port_map(ports))
        }
        McNodeUpdate { node, ports } => format!("Updating node {node} with port map {} and lag map ", port_map(ports)),
        McNodeDestroy { node } => format!("Destroying node {node}"),
        McNodeAssociate { group, node } => format!("Associating node {node} to multicast group {group}"),
        McNodeDissociate { group, node } => format!("Dissociating node {node} from multicast group {group}"),
        _ => String::new(),
    }
}

/// The result.
fn outcome(program: &Program, command: &Command, reply: Reply) -> String {
    use Command::*;
    match (command, reply) {
        (TableAdd { .. }, Reply::Handle(handle)) => format!("Entry has been added with handle {handle}"),
        (McNodeCreate { .. }, Reply::Handle(handle)) => format!("node was created with handle {handle}"),
        (ProfileChange { operation, .. }, Reply::Handle(handle)) => match operation {
            ProfileOperation::CreateGroup => format!("Group has been created with handle {handle}"),
            _ => format!("Member has been created with handle {handle}"),
        },
        (RegisterRead { register, index: Some(index) }, Reply::Text(text)) => {
            format!("{}[{index}]=  {text}", program.registers[*register].name)
        }
        (RegisterRead { register, index: None }, Reply::Text(text)) => {
            format!("{}= {text}", program.registers[*register].name)
        }
        (CounterRead { counter, index }, Reply::Text(text)) => {
            let name = match counter {
                CounterRef::Array(id) => &program.counters[*id].name,
                CounterRef::Direct(id) => &program.direct_counters[*id].name,
            };
            format!("{name}[{index}]=  BmCounterValue({text})")
        }
        (_, Reply::Text(text)) => text,
        (_, Reply::Handle(handle)) => handle.to_string(),
        (_, Reply::Done) => String::new(),
    }
}

fn table_kind(program: &Program, table: TableId) -> &'static str {
    match program.tables[table].keys.iter().map(|key| TableKind::from(key.kind)).max() {
        None | Some(TableKind::Keyless | TableKind::Exact) => "exact",
        Some(TableKind::Lpm) => "lpm",
        Some(TableKind::Ternary) => "ternary",
        Some(TableKind::Range) => "range",
    }
}

/// Ports as the tool writes them: a digit for each, the highest first.
fn port_map(ports: &[u32]) -> String {
    let highest = ports.iter().max().map_or(0, |port| port + 1);
    (0..highest).rev().map(|port| if ports.contains(&port) { '1' } else { '0' }).collect()
}

/// All bytes of a value, as two hexadecimal digits each.
fn hex(value: &Bits, separator: &str) -> String {
    let bytes: Vec<String> = value.to_be_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(separator)
}

fn key_text(key: &FieldMatch) -> String {
    format!("{}-{}", bmv2_kind(key), bmv2_match(key, ":"))
}

/// The match kind as the tool writes it.
fn bmv2_kind(key: &FieldMatch) -> String {
    key.kind().name().to_ascii_uppercase()
}

fn bmv2_match(key: &FieldMatch, separator: &str) -> String {
    key.text([" &&& ", " -> "], |value, _| hex(value, separator))
}

fn call_text(program: &Program, table: TableId, call: &ActionCall) -> String {
    match Target::of(call.action as usize, &call.args) {
        Some(Target::Member(member)) => return format!("member:              {member}"),
        Some(Target::Group(group)) => return format!("group:               {group}"),
        None => {}
    }
    let listed = program.tables[table].actions.get(call.action as usize);
    let name = listed.map_or("?", |listed| program.actions[listed.action].name.as_str());
    let args: Vec<String> = call.args.iter().map(|arg| hex(arg, ":")).collect();
    format!("action:              {name}\nruntime data:        {}", args.join("\t"))
}

// -------------------------------------------------------------------------------------------------------------- dumps

const RULE: &str = "==========";
const STARS: &str = "**********";

/// What a table with timeouts needs to show its entries' age: the switch's time, and that of each entry's last hit.
#[derive(Default)]
struct Lives {
    now_ns: u64,
    last_hits_ns: Vec<u64>,
}

impl Lives {
    fn of(api: &Api, program: &Program, table: TableId) -> Result<Lives, Problem> {
        if !program.tables[table].support_timeout {
            return Ok(Lives::default());
        }
        let lives = api.door().ask(move |switch: &mut Switch| Lives {
            now_ns: switch.now_ns(),
            last_hits_ns: switch.externs_mut().last_hits_ns[table].clone(),
        });
        lives.map_err(|closed| Problem::new(closed.to_string()))
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

/// A group that P4Runtime has created has no nodes: its copies are shown with their number alone.
fn mc_dump(replication: &Replication) -> String {
    let mut text = format!("{RULE}\nMC ENTRIES\n");
    for (group, _) in replication.groups() {
        let _ = writeln!(text, "{STARS}\nmgrp({group})");
        for (node, rid, ports) in replication.nodes(group) {
            let node = node.map_or_else(|| "-".to_owned(), |node| node.to_string());
            let ports: Vec<String> = ports.iter().map(u32::to_string).collect();
            let _ = writeln!(text, "  -> (L1h={node}, rid={rid}) -> (ports=[{}], lags=[])", ports.join(", "));
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

fn mirroring(target: &CloneTarget) -> String {
    match target {
        CloneTarget::Group(group) => format!("MirroringSessionConfig(port=None, mgid={group})"),
        CloneTarget::Replicas(replicas) => {
            let ports: Vec<String> = replicas.iter().map(|it| it.port.to_string()).collect();
            format!("MirroringSessionConfig(port={}, mgid=None)", ports.join(","))
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- reset

/// Resets entries, default actions, members, groups, cells and copies to their state when the program begins.
fn reset_state(api: &Api, program: &Program) -> Result<(), Problem> {
    for table in program.tables.ids() {
        let declared = &program.tables[table];
        if !declared.const_entries && !declared.keys.is_empty() {
            api.command(Command::TableClear { table })?;
        }
        if !declared.const_default {
            api.command(Command::TableResetDefault { table })?;
        }
    }
    for profile in program.action_profiles.ids() {
        reset_profile(api, profile)?;
    }
    let arrays = api.write(zeros(program), Atomicity::ContinueOnError);
    arrays.into_iter().collect::<Result<(), _>>().map_err(|fault| Problem::new(fault.message))?;
    for set in program.value_sets.ids() {
        api.command(Command::ValueSetClear { set })?;
    }
    for counter in program.direct_counters.ids() {
        api.command(Command::CounterReset { counter })?;
    }
    let numbers = api.door().ask(|switch: &mut Switch| {
        let replication = switch.replication();
        let groups: Vec<u64> = replication.groups().map(|(group, _)| group).collect();
        let sessions: Vec<u32> = replication.sessions().map(|(session, ..)| session).collect();
        (groups, sessions)
    });
    let (groups, sessions) = numbers.map_err(|closed| Problem::new(closed.to_string()))?;
    for group in groups.into_iter().filter_map(|group| u16::try_from(group).ok()) {
        api.command(Command::McGroupDestroy { group })?;
    }
    for session in sessions.into_iter().filter_map(|session| u16::try_from(session).ok()) {
        api.command(Command::MirroringDelete { session })?;
    }
    Ok(())
}

/// Updates that set all cells of all registers and counters to 0.
fn zeros(program: &Program) -> Vec<Update> {
    let registers = program
        .registers
        .iter_enumerated()
        .map(|(array, declared)| Entity::Register(Cell { array, index: None, value: Bits::zero(declared.ty.width()) }));
    let counters = program.counters.ids();
    let counters = counters.map(|array| Entity::Counter(Cell { array, index: None, value: CounterCell::default() }));
    registers.chain(counters).map(|entity| Update { kind: UpdateKind::Modify, entity }).collect()
}

fn reset_profile(api: &Api, profile: ir::ActionProfileId) -> Result<(), Problem> {
    let (groups, members) = {
        let tables = api.tables();
        let tables = tables.lock();
        let stored = &tables.profiles()[profile.index()];
        let groups: Vec<Handle> = stored.groups().map(|(handle, _)| handle).collect();
        let members: Vec<Handle> = stored.members().map(|(handle, _)| handle).collect();
        (groups, members)
    };
    let groups = groups.into_iter().map(|group| ProfileOperation::DeleteGroup { group });
    for operation in groups.chain(members.into_iter().map(|member| ProfileOperation::DeleteMember { member })) {
        api.command(Command::ProfileChange { profile, operation })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::tests::api;
    use expect_test::{Expect, expect};

    /// Lines of input, and their output.
    fn check(text: &str, expected: Expect) {
        let api = api();
        let about = About { device_id: 7, ports: vec![(1, "s1-eth1".to_owned()), (2, "s1-eth2".to_owned())] };
        let mut shown = String::new();
        for line in text.lines() {
            let answer = run(&api, &about, line);
            shown += if answer.is_error { "Error: " } else { "" };
            shown += &(answer.text + "\n");
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn ports_and_what_is_not_carried_out() {
        check(
            "show_ports\nswitch_info\nswap_configs\nport_add veth0 1\nshell ls\nshow_port",
            expect![[r#"
                  port #       iface name       status  extra info
                ==================================================
                    1           s1-eth1           UP
                    2           s1-eth2           UP
                device_id                : 7
                ports                    : 1@s1-eth1 2@s1-eth2
                Error: the command swap_configs is not supported
                  help: a program that was saved is run by `wirespeed ctl commit`
                Error: the command port_add is not supported
                  help: ports are given when the switch is started: `wirespeed run --port NUMBER=INTERFACE`
                Error: the command shell is not supported
                  help: commands of the system are typed in a shell of the system
                Error: there is no command show_port
                  help: commands are show_ports, show_pvs, show_actions, show_tables, help, pvs_get, mc_dump, pvs_add and 71 more
            "#]],
        );
    }

    #[test]
    fn entries() {
        check(
            "table_add ipv4_lpm ipv4_forward 10.0.1.1/32 => 08:00:00:00:01:11 1
             table_add ipv4_lpm drop 10.0.1.1/32 =>
             table_modify ipv4_lpm drop 0 =>
             table_set_default ipv4_lpm drop
             table_dump ipv4_lpm
             table_num_entries ipv4_lpm
             table_delete ipv4_lpm 0
             table_reset_default ipv4_lpm
             table_add MyIngress.acl.filter drop 1 10.0.0.0&&&0xff000000 80->90 * => 10
             table_dump_entry MyIngress.acl.filter 0
             table_dump_entry MyIngress.acl.filter 1",
            expect![[r#"
                Adding entry to lpm match table MyIngress.ipv4_lpm
                match key:           LPM-0a:00:01:01/32
                action:              MyIngress.ipv4_forward
                runtime data:        08:00:00:00:01:11	00:01
                Entry has been added with handle 0
                Error: table `MyIngress.ipv4_lpm`: there is already an entry with this key, of handle 0: modify it, or delete it first
                Modifying entry 0 for lpm match table MyIngress.ipv4_lpm
                Setting default action of MyIngress.ipv4_lpm
                action:              MyIngress.drop
                runtime data:        
                ==========
                TABLE ENTRIES
                **********
                Dumping entry 0x0
                Match key:
                * hdr.ipv4.dstAddr    : LPM       0a000101/32
                Action entry: MyIngress.drop - 
                ==========
                Dumping default entry
                Action entry: MyIngress.drop - 
                ==========
                1
                Deleting entry 0 from MyIngress.ipv4_lpm
                Resetting default entry for table MyIngress.ipv4_lpm
                Adding entry to range match table MyIngress.acl.filter
                match key:           EXACT-01	TERNARY-0a:00:00:00 &&& ff:00:00:00	RANGE-00:50 -> 00:5a	OPTIONAL-*
                action:              MyIngress.drop
                runtime data:        
                Entry has been added with handle 0
                Dumping entry 0x0
                Match key:
                * hdr.ipv4.isValid()  : EXACT     01
                * hdr.ipv4.srcAddr    : TERNARY   0a000000 &&& ff000000
                * hdr.tcp.dstPort     : RANGE     0050 -> 005a
                * meta.tag            : OPTIONAL  *
                Priority: 10
                Action entry: MyIngress.drop - 
                Error: there is no entry with handle 1
            "#]],
        );
    }

    #[test]
    fn entries_that_are_not_used_for_their_time() {
        check(
            "table_add l2 set_port 1 => 1
             table_set_timeout l2 0 5000
             table_dump_entry l2 0
             table_set_timeout l2 7 5000
             table_set_timeout ipv4_lpm 0 5000",
            expect![[r#"
                Adding entry to exact match table MyIngress.l2
                match key:           EXACT-00:00:00:00:00:01
                action:              MyIngress.set_port
                runtime data:        00:01
                Entry has been added with handle 0

                Dumping entry 0x0
                Match key:
                * hdr.ethernet.dstAddr: EXACT     000000000001
                Action entry: MyIngress.set_port - 0001
                Life: 0ms since hit, timeout is 5000ms
                Error: there is no entry with handle 7
                Error: table MyIngress.ipv4_lpm has no idle timeouts
                  help: the program must declare `support_timeout = true` in it
            "#]],
        );
    }

    #[test]
    fn profiles() {
        check(
            "act_prof_create_member hops set_port 3
             act_prof_create_group hops
             act_prof_add_member_to_group hops 0 0
             table_indirect_add_with_group balance 7 => 0
             act_prof_dump hops
             act_prof_dump_member hops 0
             act_prof_dump_group hops 0
             act_prof_dump_group hops 1
             table_dump balance",
            expect![[r#"
                Member has been created with handle 0
                Group has been created with handle 0

                Adding entry to exact match table MyIngress.balance
                match key:           EXACT-00:07
                group:               0
                Entry has been added with handle 0
                ==========
                MEMBERS
                **********
                Dumping member 0
                Action entry: MyIngress.set_port - 0003
                ==========
                GROUPS
                **********
                Dumping group 0
                Members: [0]
                Dumping member 0
                Action entry: MyIngress.set_port - 0003
                Dumping group 0
                Members: [0]
                Error: there is no group with handle 1
                ==========
                TABLE ENTRIES
                **********
                Dumping entry 0x0
                Match key:
                * meta.tag            : EXACT     0007
                Index: group(0)
                ==========
                MEMBERS
                **********
                Dumping member 0
                Action entry: MyIngress.set_port - 0003
                ==========
                GROUPS
                **********
                Dumping group 0
                Members: [0]
                ==========
                Dumping default entry
                Action entry: NoAction - 
                ==========
            "#]],
        );
    }

    #[test]
    fn cells() {
        check(
            "register_write flows 3 0xffff
             register_read flows 3
             register_read flows
             counter_write rx 7 5 640
             counter_read rx 7
             meter_get_rates police 0
             meter_set_rates police 0 0.0005:10 1:20
             meter_get_rates police 0",
            expect![[r#"

                MyIngress.flows[3]=  65535
                MyIngress.flows= 0, 0, 0, 65535

                MyIngress.rx[7]=  BmCounterValue(packets=5, bytes=640)
                WARNING: expected 2 rates but only received 0

                0: info rate = 0.0005, burst size = 10
                1: info rate = 1.0, burst size = 20
            "#]],
        );
    }

    #[test]
    fn copies() {
        check(
            "mc_mgrp_create 1
             mc_node_create 7 1 3
             mc_node_associate 1 0
             mc_dump
             mirroring_add 5 3
             mirroring_get 5
             mirroring_get 6",
            expect![[r#"
                Creating multicast group 1
                Creating node with rid 7 , port map 1010 and lag map 
                node was created with handle 0
                Associating node 0 to multicast group 1
                ==========
                MC ENTRIES
                **********
                mgrp(1)
                  -> (L1h=0, rid=7) -> (ports=[1, 3], lags=[])
                ==========
                LAGS
                ==========

                MirroringSessionConfig(port=3, mgid=None)
                Error: there is no clone session 6
            "#]],
        );
    }

    #[test]
    fn what_the_program_has() {
        check(
            "show_tables\nshow_actions\nshow_pvs\ntable_info l2\ntable_info\n\n# nothing",
            expect![[r#"
                MyIngress.ipv4_lpm             [implementation=None, mk=hdr.ipv4.dstAddr(lpm, 32)]
                MyIngress.l2                   [implementation=None, mk=hdr.ethernet.dstAddr(exact, 48)]
                MyIngress.acl.filter           [implementation=None, mk=hdr.ipv4.isValid()(exact, 1),	hdr.ipv4.srcAddr(ternary, 32),	hdr.tcp.dstPort(range, 16),	meta.tag(optional, 12)]
                MyEgress.acl.filter            [implementation=None, mk=meta.delta(exact, 8)]
                MyEgress.mark                  [implementation=None, mk=]
                MyIngress.tiny                 [implementation=None, mk=meta.tag(exact, 12)]
                MyIngress.balance              [implementation=MyIngress.hops, mk=meta.tag(exact, 12)]
                MyEgress.mark_ecn              []
                MyIngress.drop                 []
                MyIngress.ipv4_forward         [dstAddr(48),	port(9)]
                MyIngress.set_port             [port(9)]
                MyIngress.tunnel               [source(128)]
                NoAction                       []
                MyParser.tunnels
                MyIngress.l2                   [implementation=None, mk=hdr.ethernet.dstAddr(exact, 48)]
                ********************************************************************************
                MyIngress.drop                 []
                MyIngress.set_port             [port(9)]
                MyIngress.tunnel               [source(128)]
                Error: table_info takes 1 argument, 0 given
                  help: table_info TABLE


            "#]],
        );
    }

    #[test]
    fn help_names_what_is_carried_out() {
        check(
            "help\nswap_configs\nfrobnicate\nhelp table_add\nhelp table_info\nhelp switch_info\nhelp swap_configs
help x\nhelp table_add table_info\nmirroring_mapping_add 1 2",
            expect![[r#"
                Commands:
                act_prof_add_member_to_group            act_prof_create_group                   act_prof_create_member
                act_prof_delete_group                   act_prof_delete_member                  act_prof_dump
                act_prof_dump_group                     act_prof_dump_member                    act_prof_modify_member
                act_prof_remove_member_from_group       counter_read                            counter_reset
                counter_write                           get_time_elapsed                        get_time_since_epoch
                help                                    mc_dump                                 mc_group_create
                mc_group_destroy                        mc_mgrp_create                          mc_mgrp_destroy
                mc_node_associate                       mc_node_create                          mc_node_destroy
                mc_node_dissociate                      mc_node_update                          meter_array_set_rates
                meter_get_rates                         meter_set_rates                         mirroring_add
                mirroring_add_mc                        mirroring_delete                        mirroring_get
                pvs_add                                 pvs_clear                               pvs_get
                pvs_remove                              register_read                           register_reset
                register_write                          reset_state                             set_crc16_parameters
                set_crc32_parameters                    set_expire_time                         set_queue_depth
                set_queue_rate                          show_actions                            show_ports
                show_pvs                                show_tables                             switch_info
                table_add                               table_clear                             table_delete
                table_dump                              table_dump_entry                        table_dump_entry_from_key
                table_dump_group                        table_dump_member                       table_indirect_add
                table_indirect_add_member_to_group      table_indirect_add_with_group           table_indirect_create_group
                table_indirect_create_member            table_indirect_delete                   table_indirect_delete_group
                table_indirect_delete_member            table_indirect_modify_member            table_indirect_remove_member_from_group
                table_indirect_reset_default            table_indirect_set_default              table_indirect_set_default_with_group
                table_info                              table_modify                            table_num_entries
                table_reset_default                     table_set_default                       table_set_timeout
                table_show_actions
                Error: the command swap_configs is not supported
                  help: a program that was saved is run by `wirespeed ctl commit`
                Error: there is no command frobnicate
                  help: commands are reset_state, show_ports, table_add, mc_group_create, mc_node_create, mirroring_add, pvs_add, pvs_clear and 71 more
                table_add TABLE ACTION KEY... => [ARGUMENT...] [PRIORITY]
                table_info TABLE
                switch_info
                Error: the command swap_configs is not supported
                  help: a program that was saved is run by `wirespeed ctl commit`
                Error: there is no command x
                  help: commands are help, mc_dump, pvs_add, pvs_get, show_pvs, pvs_clear, table_add, pvs_remove and 71 more
                Error: help takes 0 to 1 arguments, 2 given
                  help: help [COMMAND]
                Error: the command mirroring_mapping_add is not supported
                  help: mirroring_add SESSION PORT does the same; newer versions of the tool have it
            "#]],
        );
    }

    #[test]
    fn a_reset_leaves_nothing() {
        check(
            "table_add l2 tunnel 1 => 1
             act_prof_create_member hops set_port 3
             table_indirect_add balance 7 => 0
             register_write flows 3 1
             mc_mgrp_create 1
             mirroring_add 5 3
             reset_state
             table_num_entries l2
             act_prof_dump hops
             register_read flows
             mc_dump
             mirroring_get 5
             get_time_elapsed",
            expect![[r#"
                Adding entry to exact match table MyIngress.l2
                match key:           EXACT-00:00:00:00:00:01
                action:              MyIngress.tunnel
                runtime data:        00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:01
                Entry has been added with handle 0
                Member has been created with handle 0
                Adding entry to exact match table MyIngress.balance
                match key:           EXACT-00:07
                member:              0
                Entry has been added with handle 0

                Creating multicast group 1


                0
                ==========
                MEMBERS
                ==========
                GROUPS
                MyIngress.flows= 0, 0, 0, 0
                ==========
                MC ENTRIES
                ==========
                LAGS
                ==========
                Error: there is no clone session 5
                0
            "#]],
        );
    }
}
