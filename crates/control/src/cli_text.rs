//! Lines of `simple_switch_CLI` commands, the form in which BMv2's users write their entries.
//!
//! A line is a command and its arguments, separated by white space; `#` begins a comment; an argument with white
//! space is quoted. In this form, as in BMv2, the numerically smaller priority wins; in [`Command`]s the greater
//! wins.

use crate::api::entity::{Call, CloneSession, EntryAction, EntryName, Multicast, TableEntry};
use crate::api::{Entity, Query, Update, UpdateKind};
use crate::cells_text;
use crate::command::{Ask, Change, Command, EntryChange, NodeChange, Queues, Setting};
use crate::entries::Collected;
use crate::names;
use crate::problem::{FilePlace, Origin, Problem};
use base::{Bits, FieldMatch, MatchKind};
use ir::{ActionId, Calculation, CrcParameters, Program, TableId, Type};
use std::sync::Arc;
use switch::Node;
use tables::Handle;
use values::ValueTarget;

/// The greatest number of a clone session.
pub(crate) const SESSION_MAX: u64 = switch::replication::SESSION_MAX as u64;

/// A command that is supported.
pub(crate) struct Form {
    name: &'static str,
    /// Its arguments, for people.
    usage: &'static str,
    /// Least and greatest number of arguments.
    count: (usize, usize),
    parse: fn(&Arguments<'_>) -> Result<Command, Problem>,
}

const ANY: usize = usize::MAX;

pub(crate) const fn form(
    name: &'static str,
    usage: &'static str,
    count: (usize, usize),
    parse: fn(&Arguments<'_>) -> Result<Command, Problem>,
) -> Form {
    Form { name, usage, count, parse }
}

/// Every command that is supported, except those about action profiles.
const FORMS: [Form; 43] = [
    form("table_add", "TABLE ACTION KEY... => [ARGUMENT...] [PRIORITY]", (2, ANY), table_add),
    form("table_set_default", "TABLE ACTION [ARGUMENT...]", (2, ANY), table_set_default),
    form("table_reset_default", "TABLE", (1, 1), |it| Ok(set_default(it.default_table()?, None))),
    form("table_modify", "TABLE ACTION HANDLE [=>] [ARGUMENT...]", (3, ANY), table_modify),
    form("table_delete", "TABLE HANDLE", (2, 2), table_delete),
    form("table_set_timeout", "TABLE HANDLE MILLISECONDS", (3, 3), table_set_timeout),
    form("table_clear", "TABLE", (1, 1), |it| {
        Ok(write(UpdateKind::Delete, Entity::AllEntries(it.changeable_table()?)))
    }),
    form("table_dump", "TABLE", (1, 1), |it| Ok(Command::Ask(Ask::Table(it.table()?)))),
    form("table_dump_entry", "TABLE HANDLE", (2, 2), |it| Ok(Command::Ask(Ask::Entry(it.table()?, it.entry(1)?)))),
    form("table_dump_entry_from_key", "TABLE KEY... [PRIORITY]", (1, ANY), table_dump_entry_from_key),
    form("table_num_entries", "TABLE", (1, 1), |it| Ok(Command::Ask(Ask::EntryCount(it.table()?)))),
    form("pvs_add", "VALUE_SET KEY...", (1, ANY), |it| value_set_member(it, true)),
    form("pvs_remove", "VALUE_SET KEY...", (1, ANY), |it| value_set_member(it, false)),
    form("pvs_get", "VALUE_SET", (1, 1), |it| {
        Ok(Command::Ask(Ask::Query(Query::ValueSets(Some(names::value_set(it.program, it.word(0))?)))))
    }),
    form("set_crc16_parameters", CRC_USAGE, (6, 6), |it| set_crc(it, 16)),
    form("set_crc32_parameters", CRC_USAGE, (6, 6), |it| set_crc(it, 32)),
    form("pvs_clear", "VALUE_SET", (1, 1), |it| {
        let set = names::value_set(it.program, it.word(0))?;
        Ok(write(UpdateKind::Modify, Entity::ValueSet { set, members: Vec::new() }))
    }),
    form("mc_mgrp_create", "GROUP", (1, 1), |it| multicast_group(it, UpdateKind::Insert)),
    form("mc_mgrp_destroy", "GROUP", (1, 1), |it| multicast_group(it, UpdateKind::Delete)),
    form("mc_node_create", "RID PORT...", (1, ANY), |it| {
        Ok(node(NodeChange::Create(Node { rid: it.number(0, 65_535, "replication number")?, ports: it.ports()? })))
    }),
    form("mc_node_update", "NODE PORT...", (1, ANY), |it| {
        Ok(node(NodeChange::SetPorts { node: it.handle(0, "node handle")?, ports: it.ports()? }))
    }),
    form("mc_node_destroy", "NODE", (1, 1), |it| Ok(node(NodeChange::Destroy { node: it.handle(0, "node handle")? }))),
    form("mc_node_associate", "GROUP NODE", (2, 2), |it| node_membership(it, true)),
    form("mc_node_dissociate", "GROUP NODE", (2, 2), |it| node_membership(it, false)),
    form("mc_dump", "", (0, 0), |_| Ok(Command::Ask(Ask::Multicast))),
    form("mirroring_add", "SESSION PORT", (2, 2), |it| {
        let replica = switch::Replica { rid: 0, port: it.port(1)? }.into();
        Ok(put(Entity::CloneSession(CloneSession { replicas: vec![replica], ..CloneSession::new(it.session()?) })))
    }),
    form("mirroring_add_mc", "SESSION GROUP", (2, 2), |it| {
        let group = Some(it.group(1)?);
        Ok(put(Entity::CloneSession(CloneSession { group, ..CloneSession::new(it.session()?) })))
    }),
    form("mirroring_delete", "SESSION", (1, 1), |it| {
        Ok(write(UpdateKind::Delete, Entity::CloneSession(CloneSession::new(it.session()?))))
    }),
    form("mirroring_get", "SESSION", (1, 1), |it| {
        Ok(Command::Ask(Ask::Query(Query::CloneSessions(Some(it.session()?)))))
    }),
    form("register_read", "REGISTER [INDEX]", (1, 2), cells_text::register_read),
    form("register_write", "REGISTER INDEX VALUE", (3, 3), cells_text::register_write),
    form("register_reset", "REGISTER", (1, 1), cells_text::register_reset),
    form("counter_read", "COUNTER INDEX", (2, 2), cells_text::counter_read),
    form("counter_write", "COUNTER INDEX PACKETS BYTES", (4, 4), cells_text::counter_write),
    form("counter_reset", "COUNTER", (1, 1), cells_text::counter_reset),
    form("meter_set_rates", "METER INDEX RATE:BURST RATE:BURST", (4, 4), cells_text::meter_set_rates),
    form("meter_array_set_rates", "METER RATE:BURST RATE:BURST", (3, 3), cells_text::meter_array_set_rates),
    form("meter_get_rates", "METER INDEX", (2, 2), cells_text::meter_get_rates),
    form("set_queue_depth", "PACKETS [PORT [PRIORITY]]", (1, 3), |it| {
        let depth_packets = it.number(0, u64::from(u32::MAX), "queue depth in packets")?;
        Ok(Command::Set(Setting::QueueDepth { depth_packets, queues: it.queues()? }))
    }),
    form("set_queue_rate", "PACKETS_PER_SECOND [PORT [PRIORITY]]", (1, 3), |it| {
        let rate_pps = it.number(0, 1_000_000_000_000, "rate in packets per second")?;
        Ok(Command::Set(Setting::QueueRate { rate_pps, queues: it.queues()? }))
    }),
    form("set_expire_time", "PROFILE MILLISECONDS", (2, 2), |it| {
        let profile = it.number(0, u64::from(u8::MAX), "profile of timers")? as u8;
        let time_ms = it.number(1, u64::MAX / 1_000_000, "time in milliseconds")?;
        Ok(Command::Set(Setting::ExpireTime { profile, time_ns: time_ms * 1_000_000 }))
    }),
    // Older versions of the tool call these two so.
    form("mc_group_create", "GROUP", (1, 1), |it| multicast_group(it, UpdateKind::Insert)),
    form("mc_group_destroy", "GROUP", (1, 1), |it| multicast_group(it, UpdateKind::Delete)),
];

const CRC_USAGE: &str = "NAME POLYNOMIAL INITIAL FINAL_XOR REFLECT_DATA REFLECT_REMAINDER";

/// Every command that is supported, including those about action profiles.
fn forms() -> impl Iterator<Item = &'static Form> {
    FORMS.iter().chain(&crate::profile_text::FORMS)
}

/// The names of all commands that are supported.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    forms().map(|form| form.name)
}

/// Whether the tool has such a command, supported here or not.
pub(crate) fn is_known(name: &str) -> bool {
    forms().any(|form| form.name == name) || not_carried_out(name).is_some()
}

/// Commands of `simple_switch_CLI` that show something at a prompt ([`crate::switch_cli`]) and have no effect in a
/// file.
const SHOWS: [&str; 11] = [
    "get_time_elapsed",
    "get_time_since_epoch",
    "help",
    "show_actions",
    "show_ports",
    "show_pvs",
    "show_tables",
    "switch_info",
    "table_info",
    "table_show_actions",
    "mirroring_mapping_get_egress_port",
];

/// Commands of the tool that are replaced by something else here, or that only a running switch has: what to do
/// instead.
const INSTEAD: [(&str, &str); 14] = [
    ("load_new_config_file", "another program is loaded in P4: `wirespeed ctl load PROGRAM.p4 save`, then `commit`"),
    ("swap_configs", "a program that was saved is run by `wirespeed ctl commit`"),
    ("write_config_to_file", "`wirespeed ctl dump` writes what was written to the switch"),
    (
        "serialize_state",
        "`wirespeed ctl dump with-data` writes the state; `wirespeed run --state DIR` keeps it through restarts",
    ),
    ("port_add", "ports are given when the switch is started: `wirespeed run --port NUMBER=INTERFACE`"),
    ("port_remove", "ports are given when the switch is started; `ip link set INTERFACE down` takes one out of use"),
    ("mc_set_lag_membership", "there are no link aggregation groups: name the ports of a node one by one"),
    ("shell", "commands of the system are typed in a shell of the system"),
    ("mirroring_mapping_add", "mirroring_add SESSION PORT does the same; newer versions of the tool have it"),
    ("mirroring_mapping_delete", "mirroring_delete SESSION does the same"),
    ("mirroring_mapping_get_egress_port", "mirroring_get SESSION shows where clones of a session go"),
    ("mirroring_add_coalesce", "clones are not put together: mirroring_add SESSION PORT sends each by itself"),
    ("mirroring_add_truncate", "`wirespeed ctl mirror add SESSION PORT bytes N` limits what is sent of a clone"),
    ("reset_state", "a switch begins without state; one that runs takes this command at its prompt"),
];

/// What to do instead of a command of the tool that is not supported.
pub(crate) fn not_carried_out(name: &str) -> Option<Problem> {
    let (_, instead) = INSTEAD.iter().find(|(known, _)| *known == name)?;
    Some(Problem::new(format!("the command {name} is not supported")).with_help(*instead))
}

/// The usage of a command; `None` if it is not supported.
pub(crate) fn usage(name: &str) -> Option<String> {
    let form = forms().find(|form| form.name == name)?;
    Some(format!("{} {}", form.name, form.usage).trim_end().to_owned())
}

/// Reads all lines of `text`.
pub(crate) fn read(file: &Arc<str>, text: &str, program: &Program, collected: &mut Collected) {
    for (index, line) in text.lines().enumerate() {
        let origin = Origin { file: file.clone(), place: FilePlace::Line(index as u32 + 1) };
        if let Some(name) = words(line).ok().and_then(|words| SHOWS.iter().find(|it| words.first() == Some(*it))) {
            let help = "`wirespeed ctl simple` queries a running switch";
            collected
                .pass_over(origin, Problem::new(format!("{name} shows nothing in a file of entries")).with_help(help));
            continue;
        }
        collected.take(origin, parse_line(line, program));
    }
}

/// The command on a line; `None` if there is none on it.
pub fn parse_line(line: &str, program: &Program) -> Result<Option<Command>, Problem> {
    let words = words(line)?;
    let Some((&name, words)) = words.split_first() else {
        return Ok(None);
    };
    let Some(form) = forms().find(|form| form.name == name) else {
        if let Some(problem) = not_carried_out(name) {
            return Err(problem);
        }
        let known: Vec<&str> = command_names().collect();
        let help = format!("commands are {}", names::listed(name, &known));
        return Err(Problem::new(format!("there is no command {name}")).with_help(help));
    };
    let arguments = Arguments { program, form, words };
    let (least, most) = form.count;
    if words.len() < least || words.len() > most {
        return Err(arguments.misuse(&count_message(name, words.len(), least, most)));
    }
    (form.parse)(&arguments).map(Some)
}

/// `NAME takes ... arguments, ... given`
pub(crate) fn count_message(name: &str, given: usize, least: usize, most: usize) -> String {
    let wanted = match (least, most) {
        (least, ANY) => format!("at least {least}"),
        (least, most) if least == most => format!("{least}"),
        (least, most) => format!("{least} to {most}"),
    };
    let plural = if wanted == "1" { "argument" } else { "arguments" };
    format!("{name} takes {wanted} {plural}, {given} given")
}

/// The words of a line.
pub(crate) fn words(line: &str) -> Result<Vec<&str>, Problem> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..]
                .split_once(quote)
                .ok_or_else(|| Problem::new(format!("the quoted argument {rest} has no end")))?,
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// The arguments of one command.
pub(crate) struct Arguments<'a> {
    pub program: &'a Program,
    form: &'static Form,
    words: &'a [&'a str],
}

impl<'a> Arguments<'a> {
    pub fn word(&self, index: usize) -> &'a str {
        self.words[index]
    }

    /// The arguments from `first` on.
    pub fn from(&self, first: usize) -> &'a [&'a str] {
        &self.words[first..]
    }

    /// The arguments from `first` on, before and after the arrow.
    pub fn around_arrow(&self, first: usize) -> Result<(&'a [&'a str], &'a [&'a str]), Problem> {
        let rest = self.from(first);
        match rest.iter().position(|&word| word == "=>") {
            Some(arrow) => Ok((&rest[..arrow], &rest[arrow + 1..])),
            None => Err(self.misuse("there is no => between the keys and the arguments")),
        }
    }

    /// An error with the command's usage.
    pub fn misuse(&self, message: &str) -> Problem {
        Problem::new(message).with_help(format!("{} {}", self.form.name, self.form.usage).trim_end().to_string())
    }

    pub fn number(&self, index: usize, greatest: u64, what: &str) -> Result<u64, Problem> {
        values::unsigned(self.word(index), greatest, what)
    }

    pub fn handle(&self, index: usize, what: &str) -> Result<u32, Problem> {
        self.number(index, u64::from(u32::MAX), what).map(|handle| handle as u32)
    }

    /// The handle of an entry.
    pub fn entry(&self, index: usize) -> Result<Handle, Problem> {
        self.handle(index, "entry handle").map(Handle)
    }

    fn group(&self, index: usize) -> Result<u64, Problem> {
        self.number(index, 65_535, "multicast group")
    }

    fn session(&self) -> Result<u32, Problem> {
        self.number(0, SESSION_MAX, "clone session").map(|session| session as u32)
    }

    fn port(&self, index: usize) -> Result<u32, Problem> {
        self.number(index, u64::from(self.program.architecture.egress_port_max), "port").map(|port| port as u32)
    }

    /// The ports from the second argument on.
    fn ports(&self) -> Result<Vec<u32>, Problem> {
        if self.words.contains(&"|") {
            return Err(Problem::new("link aggregation groups (after `|`) are not supported yet"));
        }
        let mut ports = (1..self.words.len()).map(|index| self.port(index)).collect::<Result<Vec<u32>, Problem>>()?;
        ports.sort_unstable();
        match ports.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Problem::new(format!("port {} is given twice: a node sends a port one copy", pair[0]))),
            None => Ok(ports),
        }
    }

    /// Those of port and priority, where given, after the first argument.
    fn queues(&self) -> Result<Queues, Problem> {
        let port = (self.words.len() > 1).then(|| self.port(1)).transpose()?;
        let priority = (self.words.len() > 2).then(|| self.number(2, 7, "queue priority")).transpose()?;
        Ok(Queues { port, priority: priority.map(|priority| priority as u32) })
    }

    fn table(&self) -> Result<TableId, Problem> {
        names::table(self.program, self.word(0))
    }

    /// The table, if the control plane may change its entries.
    pub fn changeable_table(&self) -> Result<TableId, Problem> {
        let table = self.table()?;
        check_changeable(self.program, table)?;
        Ok(table)
    }

    /// The table, if the control plane may change its default action.
    pub fn default_table(&self) -> Result<TableId, Problem> {
        let table = self.table()?;
        check_default_changeable(self.program, table)?;
        Ok(table)
    }

    /// A value set and one match per key of it.
    fn member(&self) -> Result<(ir::ValueSetId, Vec<FieldMatch>), Problem> {
        let id = names::value_set(self.program, self.word(0))?;
        let set = &self.program.value_sets[id];
        let given = &self.words[1..];
        if given.len() != set.keys.len() {
            let names: Vec<&str> = set.keys.iter().map(|(name, ..)| name.as_str()).collect();
            return Err(key_count(given.len(), &format!("value set {}", set.name), &names));
        }
        let key = |(text, (name, width, kind)): (&&str, &(String, u32, MatchKind))| {
            values::entry_key(text, &ValueTarget { role: "key", name, ty: Type::Bit(*width) }, *kind)
        };
        Ok((id, given.iter().zip(&set.keys).map(key).collect::<Result<_, _>>()?))
    }
}

fn key_count(given: usize, owner: &str, names: &[&str]) -> Problem {
    let keys = if names.len() == 1 { "key" } else { "keys" };
    Problem::new(format!("{owner} has {} {keys}: {}; {given} given", names.len(), names.join(", ")))
}

/// Refuses a table whose entries only the program defines.
pub(crate) fn check_changeable(program: &Program, table: TableId) -> Result<(), Problem> {
    let table = &program.tables[table];
    if table.const_entries {
        return Err(Problem::new(format!("the entries of table {} are const and cannot be changed", table.name)));
    }
    if table.keys.is_empty() {
        let message = format!("table {} has no key and cannot have entries", table.name);
        return Err(Problem::new(message).with_help("set its default action instead"));
    }
    Ok(())
}

/// Refuses a table whose default action only the program defines.
pub(crate) fn check_default_changeable(program: &Program, table: TableId) -> Result<(), Problem> {
    let table = &program.tables[table];
    match table.const_default {
        true => Err(Problem::new(format!("the default action of table {} is const and cannot be changed", table.name))),
        false => Ok(()),
    }
}

/// The action of this name; refuses one that is not allowed there.
pub(crate) fn table_action(program: &Program, table: TableId, given: &str, default: bool) -> Result<ActionId, Problem> {
    let position = names::action(program, table, given)?;
    let entry = &program.tables[table].actions[position];
    let name = &program.actions[entry.action].name;
    if default && entry.table_only {
        return Err(Problem::new(format!("action {name} is for entries only (@tableonly), not for the default")));
    }
    if !default && entry.default_only {
        return Err(Problem::new(format!("action {name} is for the default only (@defaultonly), not for entries")));
    }
    Ok(entry.action)
}

/// Whether entries of this table have a priority.
pub(crate) fn has_priority(program: &Program, table: TableId) -> bool {
    program.tables[table].keys.iter().any(|key| key.kind.has_priority())
}

fn call(program: &Program, action: ActionId, words: &[&str]) -> Result<EntryAction, Problem> {
    Ok(EntryAction::Call(Call { action, args: action_arguments(program, action, words)? }))
}

/// An update.
pub(crate) fn write(kind: UpdateKind, entity: Entity) -> Command {
    Command::Write(Box::new(Update { kind, entity }))
}

/// Inserts an entity, or modifies it if it exists.
pub(crate) fn put(entity: Entity) -> Command {
    Command::change(Change::Put(entity))
}

/// An entry of a table.
pub(crate) fn entry(table: TableId, key: Vec<FieldMatch>, priority: i32, action: EntryAction) -> Entity {
    Entity::TableEntry(TableEntry::new(table, Some(EntryName { key, priority }), Some(action)))
}

/// Sets the default action, or resets it.
pub(crate) fn set_default(table: TableId, action: Option<EntryAction>) -> Command {
    write(UpdateKind::Modify, Entity::TableEntry(TableEntry::new(table, None, action)))
}

/// The arguments without those for zero-width parameters, which may be written, too.
fn without_empty<'w>(action: &ir::Action, words: &[&'w str]) -> Result<Vec<&'w str>, Problem> {
    let mut words = words.to_vec();
    if words.len() != action.params.len() + action.empty_params.len() {
        return Ok(words);
    }
    for param in action.empty_params.iter().rev() {
        let word = words.remove((param.position as usize).min(words.len() - 1));
        names::check_empty(&param.name, &values::value(word, &names::empty_target(&param.name))?)?;
    }
    Ok(words)
}

/// The arguments of an action, all of them.
pub(crate) fn action_arguments(program: &Program, action: ActionId, words: &[&str]) -> Result<Vec<Bits>, Problem> {
    let definition = &program.actions[action];
    let target = |var: ir::VarId| {
        let var = &program.vars[var];
        ValueTarget { role: "parameter", name: names::last_part(&var.name), ty: var.ty }
    };
    let words = &without_empty(definition, words)?[..];
    if words.len() != definition.params.len() {
        let params: Vec<&str> = definition.params.iter().map(|&var| target(var).name).collect();
        let list = if params.is_empty() { String::new() } else { format!(": {}", params.join(", ")) };
        let plural = if params.len() == 1 { "argument" } else { "arguments" };
        let message =
            format!("action {} takes {} {plural}{list}; {} given", definition.name, params.len(), words.len());
        return Err(Problem::new(message));
    }
    words.iter().zip(&definition.params).map(|(word, &var)| values::value(word, &target(var))).collect()
}

/// One match per key of the table.
pub(crate) fn key(program: &Program, table: TableId, words: &[&str]) -> Result<Vec<FieldMatch>, Problem> {
    let table = &program.tables[table];
    if words.len() != table.keys.len() {
        let names: Vec<&str> = table.keys.iter().map(|key| key.name.as_str()).collect();
        return Err(key_count(words.len(), &format!("table {}", table.name), &names));
    }
    let one = |(word, key): (&&str, &ir::Key)| {
        values::entry_key(word, &ValueTarget { role: "key", name: &key.name, ty: key.expr.ty }, key.kind)
    };
    words.iter().zip(&table.keys).map(one).collect()
}

/// Converts between BMv2's priority, of which the smaller wins, and P4Runtime's, of which the greater wins and 0
/// means none. BMv2's own P4Runtime server uses the same conversion.
pub(crate) fn turned_priority(priority: i32) -> i32 {
    i32::MAX.saturating_sub(priority)
}

fn priority(text: &str) -> Result<i32, Problem> {
    values::unsigned(text, i32::MAX as u64 - 1, "priority").map(|priority| turned_priority(priority as i32))
}

/// Splits the priority off the end of `words`. If it is missing, an argument is missing.
pub(crate) fn split_priority<'w>(
    it: &Arguments<'_>,
    table: TableId,
    words: &'w [&'w str],
    others: usize,
) -> Result<(&'w [&'w str], i32), Problem> {
    if !has_priority(it.program, table) {
        return Ok((words, 0));
    }
    match words.split_last() {
        Some((last, rest)) if rest.len() == others => Ok((rest, priority(last)?)),
        _ if words.len() == others => {
            let name = &it.program.tables[table].name;
            Err(it.misuse(&format!("an entry of table {name} needs a priority at the end (the smaller wins)")))
        }
        Some((_, rest)) => Ok((rest, 0)),
        None => Ok((words, 0)),
    }
}

fn table_add(it: &Arguments<'_>) -> Result<Command, Problem> {
    let table = it.changeable_table()?;
    let action = table_action(it.program, table, it.word(1), false)?;
    let (keys, rest) = it.around_arrow(2)?;
    let key = key(it.program, table, keys)?;
    let definition = &it.program.actions[action];
    let params = definition.params.len();
    // Those of no bits may be left out.
    let all = params + definition.empty_params.len();
    let params = if rest.len() > all { all } else { params };
    let (args, priority) = split_priority(it, table, rest, params)?;
    let action = call(it.program, action, args)?;
    Ok(write(UpdateKind::Insert, entry(table, key, priority, action)))
}

fn table_set_default(it: &Arguments<'_>) -> Result<Command, Problem> {
    let table = it.default_table()?;
    let action = table_action(it.program, table, it.word(1), true)?;
    Ok(set_default(table, Some(call(it.program, action, without_arrow(&it.words[2..]))?)))
}

fn table_set_timeout(it: &Arguments<'_>) -> Result<Command, Problem> {
    let table = it.changeable_table()?;
    let declared = &it.program.tables[table];
    if !declared.support_timeout {
        let message = format!("table {} has no idle timeouts", declared.name);
        return Err(Problem::new(message).with_help("the program must declare `support_timeout = true` in it"));
    }
    let handle = it.entry(1)?;
    let timeout_ns = it.number(2, u64::from(u32::MAX), "timeout in milliseconds")? * 1_000_000;
    Ok(Command::change(Change::Entry { table, handle, change: EntryChange::Timeout { timeout_ns } }))
}

fn table_modify(it: &Arguments<'_>) -> Result<Command, Problem> {
    let table = it.changeable_table()?;
    let action = table_action(it.program, table, it.word(1), false)?;
    let handle = it.entry(2)?;
    let action = call(it.program, action, without_arrow(&it.words[3..]))?;
    Ok(Command::change(Change::Entry { table, handle, change: EntryChange::Action(action) }))
}

pub(crate) fn table_delete(it: &Arguments<'_>) -> Result<Command, Problem> {
    let (table, handle) = (it.changeable_table()?, it.entry(1)?);
    Ok(Command::change(Change::Entry { table, handle, change: EntryChange::Delete }))
}

fn value_set_member(it: &Arguments<'_>, joins: bool) -> Result<Command, Problem> {
    let (set, member) = it.member()?;
    Ok(Command::change(Change::ValueSetMember { set, member, joins }))
}

fn multicast_group(it: &Arguments<'_>, kind: UpdateKind) -> Result<Command, Problem> {
    let group = Multicast { group: it.group(0)?, replicas: Vec::new(), metadata: Vec::new() };
    Ok(write(kind, Entity::Multicast(group)))
}

fn node(change: NodeChange) -> Command {
    Command::change(Change::Node(change))
}

fn node_membership(it: &Arguments<'_>, joins: bool) -> Result<Command, Problem> {
    Ok(node(NodeChange::Membership { group: it.group(0)?, node: it.handle(1, "node handle")?, joins }))
}

/// The arrow that some users write before arguments.
fn without_arrow<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    match words {
        [first, rest @ ..] if *first == "=>" => rest,
        _ => words,
    }
}

fn table_dump_entry_from_key(it: &Arguments<'_>) -> Result<Command, Problem> {
    let table = it.table()?;
    let keys = it.program.tables[table].keys.len();
    let (words, priority) = split_priority(it, table, &it.words[1..], keys)?;
    Ok(Command::Ask(Ask::EntryOfKey(table, EntryName { key: key(it.program, table, words)?, priority })))
}

/// `NAME POLYNOMIAL INITIAL FINAL_XOR REFLECT_DATA REFLECT_REMAINDER`
fn set_crc(it: &Arguments<'_>, width_bits: u32) -> Result<Command, Problem> {
    let calculation = names::calculation(it.program, it.word(0))?;
    let Calculation { name, width_bits: own } = &it.program.calculations[calculation];
    if *own != width_bits {
        let message = format!("calculation {name} is a CRC of {own} bits");
        return Err(Problem::new(message).with_help(format!("set_crc{own}_parameters {CRC_USAGE}")));
    }
    let number = |index, what| it.number(index, u64::from(u32::MAX >> (32 - width_bits)), what);
    let flag = |index: usize| match it.word(index).to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(Problem::new(format!("{other} is neither true nor false"))),
    };
    let parameters = CrcParameters {
        polynomial: number(1, "polynomial")? as u32,
        initial: number(2, "initial remainder")? as u32,
        final_xor: number(3, "final value to xor")? as u32,
        reflects_data: flag(4)?,
        reflects_remainder: flag(5)?,
    };
    Ok(Command::Set(Setting::Crc { calculation, parameters }))
}

#[cfg(test)]
mod tests {
    use crate::entries::tests::check;
    use expect_test::expect;

    #[test]
    fn entries_of_every_match_kind() {
        check(
            "# a router
             table_add ipv4_lpm ipv4_forward 10.0.1.1/32 => 08:00:00:00:01:11 1   # host 1
             table_add MyIngress.l2 tunnel 00:00:00:00:00:01 => fe80::1
             table_add MyIngress.acl.filter drop 1 10.0.0.0&&&0xff000000 80->90 * => 10
             table_add MyEgress.acl.filter mark_ecn -3 =>",
            expect![[r#"
                entries:2: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table0, name: Some(EntryName { key: [Lpm { value: 32w0xa000101, prefix_len: 32 }], priority: 0 }), action: Some(Call(Call { action: action1, args: [48w0x80000000111, 9w0x1] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:3: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table1, name: Some(EntryName { key: [Exact(48w0x1)], priority: 0 }), action: Some(Call(Call { action: action5, args: [128w0xfe800000000000000000000000000001] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:4: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table2, name: Some(EntryName { key: [Exact(1w0x1), Ternary { value: 32w0xa000000, mask: 32w0xff000000 }, Range { low: 16w0x50, high: 16w0x5a }, Optional(None)], priority: 2147483637 }), action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:5: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table3, name: Some(EntryName { key: [Exact(8w0xfd)], priority: 0 }), action: Some(Call(Call { action: action4, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
            "#]],
        );
    }

    #[test]
    fn arguments_of_no_bits_may_be_left_out() {
        check(
            "table_add l2 tunnel 1 => 7 0
             table_add l2 tunnel 2 => 7
             table_add l2 tunnel 3 => 7 1
             table_add l2 tunnel 4 => 7 0 0",
            expect![[r#"
                entries:3: parameter rest has no bits, so its value is 0
                entries:4: action MyIngress.tunnel takes 1 argument: source; 3 given
            "#]],
        );
    }

    #[test]
    fn the_smaller_priority_becomes_the_greater() {
        check(
            "table_add MyIngress.acl.filter drop true 0&&&0 0->1 5 => 1
             table_dump_entry_from_key MyIngress.acl.filter true 0&&&0 0->1 5 2
             table_add MyIngress.acl.filter drop true 0&&&0 0->1 5 => 2147483647",
            expect![[r#"
                entries:3: 2147483647 is not a valid priority
                  help: it is a number from 0 to 2147483646
            "#]],
        );
    }

    #[test]
    fn entries_are_changed_and_read() {
        check(
            "table_set_default ipv4_lpm drop
             table_set_default ipv4_lpm ipv4_forward => 1 2
             table_reset_default ipv4_lpm
             table_modify ipv4_lpm ipv4_forward 3 1 2
             table_modify ipv4_lpm drop 3 =>
             table_delete l2 0
             table_clear l2
             table_dump tiny
             table_dump_entry tiny 1
             table_num_entries tiny",
            expect![[r#"
                entries:1: Write(Update { kind: Modify, entity: TableEntry(TableEntry { table: table0, name: None, action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:2: Write(Update { kind: Modify, entity: TableEntry(TableEntry { table: table0, name: None, action: Some(Call(Call { action: action1, args: [48w0x1, 9w0x2] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:3: Write(Update { kind: Modify, entity: TableEntry(TableEntry { table: table0, name: None, action: None, attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:4: Change(Entry { table: table0, handle: Handle(3), change: Action(Call(Call { action: action1, args: [48w0x1, 9w0x2] })) })
                entries:5: Change(Entry { table: table0, handle: Handle(3), change: Action(Call(Call { action: action0, args: [] })) })
                entries:6: Change(Entry { table: table1, handle: Handle(0), change: Delete })
                entries:7: Write(Update { kind: Delete, entity: AllEntries(table1) })
                entries:8: Ask(Table(table5))
                entries:9: Ask(Entry(table5, Handle(1)))
                entries:10: Ask(EntryCount(table5))
            "#]],
        );
    }

    #[test]
    fn groups_sessions_and_queues() {
        check(
            "mc_mgrp_create 1
             mc_node_create 7 3 1 2
             mc_node_associate 1 0
             mc_node_dissociate 1 0
             mc_node_update 0 4
             mc_node_destroy 0
             mc_mgrp_destroy 1
             mc_dump
             mirroring_add 5 3
             mirroring_add_mc 5 1
             mirroring_get 5
             mirroring_delete 5
             set_queue_depth 128
             set_queue_depth 128 1 2
             set_queue_rate 1000 1
             set_expire_time 2 1500",
            expect![[r#"
                entries:1: Write(Update { kind: Insert, entity: Multicast(Multicast { group: 1, replicas: [], metadata: [] }) })
                entries:2: Change(Node(Create(Node { rid: 7, ports: [1, 2, 3] })))
                entries:3: Change(Node(Membership { group: 1, node: 0, joins: true }))
                entries:4: Change(Node(Membership { group: 1, node: 0, joins: false }))
                entries:5: Change(Node(SetPorts { node: 0, ports: [4] }))
                entries:6: Change(Node(Destroy { node: 0 }))
                entries:7: Write(Update { kind: Delete, entity: Multicast(Multicast { group: 1, replicas: [], metadata: [] }) })
                entries:8: Ask(Multicast)
                entries:9: Change(Put(CloneSession(CloneSession { session: 5, replicas: [Replica { primary: Replica { rid: 0, port: 3 }, backups: [] }], group: None, class_of_service: 0, length_bytes_max: 0 })))
                entries:10: Change(Put(CloneSession(CloneSession { session: 5, replicas: [], group: Some(1), class_of_service: 0, length_bytes_max: 0 })))
                entries:11: Ask(Query(CloneSessions(Some(5))))
                entries:12: Write(Update { kind: Delete, entity: CloneSession(CloneSession { session: 5, replicas: [], group: None, class_of_service: 0, length_bytes_max: 0 }) })
                entries:13: Set(QueueDepth { depth_packets: 128, queues: Queues { port: None, priority: None } })
                entries:14: Set(QueueDepth { depth_packets: 128, queues: Queues { port: Some(1), priority: Some(2) } })
                entries:15: Set(QueueRate { rate_pps: 1000, queues: Queues { port: Some(1), priority: None } })
                entries:16: Set(ExpireTime { profile: 2, time_ns: 1500000000 })
            "#]],
        );
    }

    #[test]
    fn stateful_objects() {
        check(
            "register_write flows 3 0xffff
             register_read flows
             register_read flows 0
             register_reset flows
             counter_read rx 7
             counter_write hits 12 5 640
             counter_reset MyIngress.rx
             meter_set_rates police 1 0.000001:10 1.5:2000
             meter_array_set_rates police 0:0 0:0
             meter_get_rates police 0
             pvs_add tunnels 0x800 1->5
             pvs_remove tunnels 0x800 1->5
             pvs_clear tunnels",
            expect![[r#"
                entries:1: Write(Update { kind: Modify, entity: Register(Cell { array: register0, index: Some(3), value: 16w0xffff }) })
                entries:2: Ask(Query(Registers { array: Some(register0), index: None }))
                entries:3: Ask(Query(Registers { array: Some(register0), index: Some(0) }))
                entries:4: Write(Update { kind: Modify, entity: Register(Cell { array: register0, index: None, value: 16w0x0 }) })
                entries:5: Ask(Query(Counters { array: Some(counter0), index: Some(7) }))
                entries:6: Change(Direct { handle: Handle(12), entity: DirectCounter(Direct { table: table1, which: All, value: CounterCell { packets: 5, bytes: 640 } }) })
                entries:7: Write(Update { kind: Modify, entity: Counter(Cell { array: counter0, index: None, value: CounterCell { packets: 0, bytes: 0 } }) })
                entries:8: Write(Update { kind: Modify, entity: Meter(Cell { array: meter0, index: Some(1), value: MeterValue { config: Some(MeterConfig { committed_rate_milliunits_per_s: 1000, committed_burst: 10, peak_rate_milliunits_per_s: 1500000000, peak_burst: 2000 }), counts: None } }) })
                entries:9: Write(Update { kind: Modify, entity: Meter(Cell { array: meter0, index: None, value: MeterValue { config: Some(MeterConfig { committed_rate_milliunits_per_s: 0, committed_burst: 0, peak_rate_milliunits_per_s: 0, peak_burst: 0 }), counts: None } }) })
                entries:10: Ask(Query(Meters { array: Some(meter0), index: Some(0) }))
                entries:11: Change(ValueSetMember { set: vset0, member: [Exact(16w0x800), Range { low: 16w0x1, high: 16w0x5 }], joins: true })
                entries:12: Change(ValueSetMember { set: vset0, member: [Exact(16w0x800), Range { low: 16w0x1, high: 16w0x5 }], joins: false })
                entries:13: Write(Update { kind: Modify, entity: ValueSet { set: vset0, members: [] } })
            "#]],
        );
    }

    #[test]
    fn parameters_of_crcs() {
        check(
            "set_crc16_parameters calc 0x1021 0xffff 0 true false
             set_crc32_parameters calc_0 0xffffffff 1 2 False 1
             set_crc32_parameters calc 1 2 3 true true
             set_crc16_parameters calc 0x10000 0 0 true true
             set_crc16_parameters calc 1 0 0 yes true
             set_crc16_parameters crc 1 0 0 true true
             pvs_get tunnels",
            expect![[r#"
                entries:3: calculation calc is a CRC of 16 bits
                  help: set_crc16_parameters NAME POLYNOMIAL INITIAL FINAL_XOR REFLECT_DATA REFLECT_REMAINDER
                entries:4: 0x10000 is not a valid polynomial
                  help: it is a number from 0 to 65535
                entries:5: yes is neither true nor false
                entries:6: there is no calculation crc
                  help: the program has the calculations with parameters calc, calc_0
            "#]],
        );
    }

    #[test]
    fn every_bad_line_is_reported() {
        check(
            "table_add ipv4_lmp drop 10.0.0.0/8 =>

             table_add ipv4_lpm set_port 10.0.0.0/8 => 1
             table_add ipv4_lpm drop 10.0.0.300/8 =>
             table_ad ipv4_lpm drop 10.0.0.0/8 =>
             table_clear l2",
            expect![[r#"
                entries:1: there is no table ipv4_lmp
                  help: the program has the tables MyIngress.ipv4_lpm, MyIngress.l2, MyIngress.acl.filter, MyEgress.acl.filter, MyEgress.mark, MyIngress.tiny, MyIngress.balance
                entries:3: action set_port is not one of the actions of table MyIngress.ipv4_lpm
                  help: table MyIngress.ipv4_lpm has the actions MyIngress.drop, NoAction, MyIngress.ipv4_forward
                entries:4: 10.0.0.300 is not an IPv4 address
                entries:5: there is no command table_ad
                  help: commands are table_add, table_clear, table_dump, table_modify, table_delete, pvs_add, pvs_clear, pvs_get and 60 more
            "#]],
        );
    }

    #[test]
    fn counts_that_do_not_fit() {
        check(
            "table_add ipv4_lpm
             table_clear
             table_add ipv4_lpm drop 10.0.0.0/8
             table_add ipv4_lpm drop => 1
             table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 1
             table_add ipv4_lpm drop 10.0.0.0/8 => 1
             table_add MyIngress.acl.filter drop 1 0&&&0 0->1 * =>
             table_add MyIngress.acl.filter drop 1 0&&&0 0->1 * => 1 2
             pvs_add tunnels 1",
            expect![[r#"
                entries:1: table_add takes at least 2 arguments, 1 given
                  help: table_add TABLE ACTION KEY... => [ARGUMENT...] [PRIORITY]
                entries:2: table_clear takes 1 argument, 0 given
                  help: table_clear TABLE
                entries:3: there is no => between the keys and the arguments
                  help: table_add TABLE ACTION KEY... => [ARGUMENT...] [PRIORITY]
                entries:4: table MyIngress.ipv4_lpm has 1 key: hdr.ipv4.dstAddr; 0 given
                entries:5: action MyIngress.ipv4_forward takes 2 arguments: dstAddr, port; 1 given
                entries:6: action MyIngress.drop takes 0 arguments; 1 given
                entries:7: an entry of table MyIngress.acl.filter needs a priority at the end (the smaller wins)
                  help: table_add TABLE ACTION KEY... => [ARGUMENT...] [PRIORITY]
                entries:8: action MyIngress.drop takes 0 arguments; 1 given
                entries:9: value set MyParser.tunnels has 2 keys: type, port; 1 given
            "#]],
        );
    }

    #[test]
    fn values_that_do_not_fit() {
        check(
            "table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 1 512
             table_add l2 tunnel 0x1000000000000 => 1
             register_write flows 4 0
             register_write flows 0 0x10000
             mirroring_add 1 511
             mirroring_add 40000 1
             mc_node_create 1 1 1
             mc_node_create 1 1 | 2
             meter_set_rates police 0 2:1 1:1
             meter_set_rates police 0 fast 1:1
             meter_set_rates police 0 nan:1 1:1
             table_delete l2 x",
            expect![[r#"
                entries:1: 512 needs 10 bits, parameter port has 9
                entries:2: 0x1000000000000 needs 49 bits, key hdr.ethernet.dstAddr has 48
                entries:3: index 4 is out of range, MyIngress.flows has 4 cells (0 to 3)
                entries:4: 0x10000 needs 17 bits, register MyIngress.flows has 16
                entries:5: 511 is not a valid port
                  help: it is a number from 0 to 510
                entries:6: 40000 is not a valid clone session
                  help: it is a number from 0 to 32767
                entries:7: port 1 is given twice: a node sends a port one copy
                entries:8: link aggregation groups (after `|`) are not supported yet
                entries:9: the peak rate (second) is lower than the committed rate (first)
                  help: meter_set_rates METER INDEX RATE:BURST RATE:BURST
                entries:10: fast is not a valid rate
                  help: a rate is RATE:BURST, units per microsecond and units at once, such as 0.001:10
                entries:11: nan:1 is not a valid rate
                  help: a rate is RATE:BURST, units per microsecond and units at once, such as 0.001:10
                entries:12: x is not a valid entry handle
                  help: it is a number
            "#]],
        );
    }

    #[test]
    fn what_the_program_forbids() {
        check(
            "table_add tiny drop 1 =>
             table_set_default tiny drop
             table_add mark mark_ecn =>
             table_set_default l2 set_port 1
             table_add l2 drop 1 =>",
            expect![[r#"
                entries:1: the entries of table MyIngress.tiny are const and cannot be changed
                entries:2: the default action of table MyIngress.tiny is const and cannot be changed
                entries:3: table MyEgress.mark has no key and cannot have entries
                  help: set its default action instead
                entries:4: action MyIngress.set_port is for entries only (@tableonly), not for the default
                entries:5: action MyIngress.drop is for the default only (@defaultonly), not for entries
            "#]],
        );
    }

    #[test]
    fn commands_of_the_tool_that_a_file_does_not_have_say_what_to_do_instead() {
        check(
            "table_set_timeout ipv4_lpm 0 1\nmirroring_mapping_add 1 2\nswap_configs",
            expect![[r#"
                entries:1: table MyIngress.ipv4_lpm has no idle timeouts
                  help: the program must declare `support_timeout = true` in it
                entries:2: the command mirroring_mapping_add is not supported
                  help: mirroring_add SESSION PORT does the same; newer versions of the tool have it
                entries:3: the command swap_configs is not supported
                  help: a program that was saved is run by `wirespeed ctl commit`
            "#]],
        );
    }

    #[test]
    fn commands_that_show_something_are_passed_over_in_a_file() {
        check(
            "show_tables\ntable_clear l2\n  help table_add # how\nswitch_info\ntable_info l2",
            expect![[r#"
                entries:2: Write(Update { kind: Delete, entity: AllEntries(table1) })
                entries:1: show_tables shows nothing in a file of entries
                  help: `wirespeed ctl simple` queries a running switch
                entries:3: help shows nothing in a file of entries
                  help: `wirespeed ctl simple` queries a running switch
                entries:4: switch_info shows nothing in a file of entries
                  help: `wirespeed ctl simple` queries a running switch
                entries:5: table_info shows nothing in a file of entries
                  help: `wirespeed ctl simple` queries a running switch
            "#]],
        );
    }

    #[test]
    fn arguments_may_be_quoted() {
        check(
            "table_clear \"l2\" # all\ntable_clear 'l2\ntable_clear \"l2\"\"x\"",
            expect![[r#"
                entries:2: the quoted argument 'l2 has no end
                entries:3: table_clear takes 1 argument, 2 given
                  help: table_clear TABLE
            "#]],
        );
    }
}
