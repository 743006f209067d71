//! Runs `simple_switch_CLI` commands, line by line, on a running switch, and produces the tool's output.
//!
//! What enters: a line as users of that tool write it, and the control plane of a switch. What leaves: text in the
//! tool's form, which scripts parse. The commands are those of entries files ([`crate::cli_text`]), the answers those
//! of `ask`; this module adds the commands about the switch and its program, and the text around results.
//! Where the tool reports an error without a reason, this module gives the reason.

use crate::api::entity::{Call, Cell, Direct, EntryAction, MeterValue, TableEntry};
use crate::api::{Api, Atomicity, Entity, Query, Update, UpdateKind, Which};
use crate::apply::Reply;
use crate::ask::{bmv2_kind, bmv2_match, hex};
use crate::cli_text;
use crate::command::{Ask, Change, Command, EntryChange, NodeChange};
use crate::names;
use crate::problem::Problem;
use base::{Bits, FieldMatch};
use ir::{Program, TableId};
use switch::externs::CounterCell;
use switch::{Node, Switch};
use tables::TableKind;

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
            let now_ns = api.command_queue().ask(|switch: &mut Switch| switch.now_ns()).map_err(closed)?;
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
    let intent = intent(program, &command);
    let reply = api.command(command.clone())?;
    let outcome = outcome(program, &command, reply);
    Ok(match (intent.is_empty(), outcome.is_empty()) {
        (true, _) => outcome,
        (_, true) => intent,
        _ => format!("{intent}\n{outcome}"),
    })
}

/// What the tool announces before it runs the command.
fn intent(program: &Program, command: &Command) -> String {
    let name = |table: &TableId| &program.tables[*table].name;
    let change = match command {
        Command::Write(update) => return intent_of(program, update),
        Command::Change(change) => &**change,
        Command::Ask(_) | Command::Set(_) => return String::new(),
    };
    match change {
        Change::ByHandle(update) => intent_of(program, update),
        Change::Entry { table, handle, change: EntryChange::Action(_) } => {
            format!("Modifying entry {handle} for {} match table {}", table_kind(program, *table), name(table))
        }
        Change::Entry { table, handle, change: EntryChange::Delete } => {
            format!("Deleting entry {handle} from {}", name(table))
        }
        Change::Node(NodeChange::Create(Node { rid, ports })) => {
            format!("Creating node with rid {rid} , port map {} and lag map ", port_map(ports))
        }
        Change::Node(NodeChange::SetPorts { node, ports }) => {
            format!("Updating node {node} with port map {} and lag map ", port_map(ports))
        }
        Change::Node(NodeChange::Destroy { node }) => format!("Destroying node {node}"),
        Change::Node(NodeChange::Membership { group, node, joins: true }) => {
            format!("Associating node {node} to multicast group {group}")
        }
        Change::Node(NodeChange::Membership { group, node, joins: false }) => {
            format!("Dissociating node {node} from multicast group {group}")
        }
        _ => String::new(),
    }
}

fn intent_of(program: &Program, Update { kind, entity }: &Update) -> String {
    match (entity, kind) {
        (Entity::TableEntry(TableEntry { table, name: Some(name), action: Some(action), .. }), _) => {
            let keys: Vec<String> = name.key.iter().map(key_text).collect();
            format!(
                "Adding entry to {} match table {}\nmatch key:           {}\n{}",
                table_kind(program, *table),
                program.tables[*table].name,
                keys.join("\t"),
                action_text(program, action)
            )
        }
        (Entity::TableEntry(TableEntry { table, action: Some(action), .. }), _) => {
            format!("Setting default action of {}\n{}", program.tables[*table].name, action_text(program, action))
        }
        (Entity::TableEntry(TableEntry { table, .. }), _) => {
            format!("Resetting default entry for table {}", program.tables[*table].name)
        }
        (Entity::Multicast(it), UpdateKind::Insert) => format!("Creating multicast group {}", it.group),
        (Entity::Multicast(it), UpdateKind::Delete) => format!("Destroying multicast group {}", it.group),
        _ => String::new(),
    }
}

/// The result.
fn outcome(program: &Program, command: &Command, reply: Reply) -> String {
    match reply {
        Reply::Done => String::new(),
        Reply::Handle(handle) => match command {
            Command::Change(change) => match &**change {
                Change::Node(_) => format!("node was created with handle {handle}"),
                Change::ByHandle(Update { entity: Entity::Group(_), .. }) => {
                    format!("Group has been created with handle {handle}")
                }
                Change::ByHandle(Update { entity: Entity::Member(_), .. }) => {
                    format!("Member has been created with handle {handle}")
                }
                _ => format!("Entry has been added with handle {handle}"),
            },
            _ => format!("Entry has been added with handle {handle}"),
        },
        Reply::Text(text) => match command {
            Command::Ask(ask) => answer_text(program, ask, text),
            _ => text,
        },
    }
}

/// The values of cells with the name of their array.
fn answer_text(program: &Program, ask: &Ask, text: String) -> String {
    match ask {
        Ask::Query(Query::Registers { array: Some(array), index: Some(index) }) => {
            format!("{}[{index}]=  {text}", program.registers[*array].name)
        }
        Ask::Query(Query::Registers { array: Some(array), index: None }) => {
            format!("{}= {text}", program.registers[*array].name)
        }
        Ask::Query(Query::Counters { array: Some(array), index: Some(index) }) => {
            format!("{}[{index}]=  BmCounterValue({text})", program.counters[*array].name)
        }
        Ask::DirectCounter(counter, handle) => {
            format!("{}[{handle}]=  BmCounterValue({text})", program.direct_counters[*counter].name)
        }
        _ => text,
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

fn key_text(key: &FieldMatch) -> String {
    format!("{}-{}", bmv2_kind(key), bmv2_match(key, ":"))
}

fn action_text(program: &Program, action: &EntryAction) -> String {
    match action {
        EntryAction::Member(member) => format!("member:              {member}"),
        EntryAction::Group(group) => format!("group:               {group}"),
        EntryAction::OneShot(_) => String::new(),
        EntryAction::Call(Call { action, args }) => {
            let args: Vec<String> = args.iter().map(|arg| hex(arg, ":")).collect();
            format!("action:              {}\nruntime data:        {}", program.actions[*action].name, args.join("\t"))
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- reset

/// Resets entries, default actions, members, groups, cells and copies to their state when the program begins.
fn reset_state(api: &Api, program: &Program) -> Result<(), Problem> {
    let mut updates = Vec::new();
    for (id, table) in program.tables.iter_enumerated() {
        if !table.const_entries && !table.keys.is_empty() {
            updates.push(Update { kind: UpdateKind::Delete, entity: Entity::AllEntries(id) });
        }
        if !table.const_default {
            updates.push(modify(Entity::TableEntry(TableEntry::new(id, None, None))));
        }
    }
    let queries = [
        Query::Groups { profile: None, id: None },
        Query::Members { profile: None, id: None },
        Query::Multicast(None),
        Query::CloneSessions(None),
    ];
    for query in &queries {
        let read = api.read(query, &mut |entities| {
            updates.extend(entities.into_iter().map(|entity| Update { kind: UpdateKind::Delete, entity }));
            true
        });
        read.map_err(|fault| Problem::new(fault.message))?;
    }
    updates.extend(zeros(program).into_iter().map(modify));
    let outcomes = api.write(updates, Atomicity::ContinueOnError);
    outcomes.into_iter().collect::<Result<(), _>>().map_err(|fault| Problem::new(fault.message))
}

fn modify(entity: Entity) -> Update {
    Update { kind: UpdateKind::Modify, entity }
}

/// All registers, counters, meters and value sets as they begin: meters have no rates.
fn zeros(program: &Program) -> Vec<Entity> {
    let value = CounterCell::default();
    let registers = program
        .registers
        .iter_enumerated()
        .map(|(array, declared)| Entity::Register(Cell { array, index: None, value: Bits::zero(declared.ty.width()) }));
    let counters = program.counters.ids().map(|array| Entity::Counter(Cell { array, index: None, value }));
    let counted = program.tables.iter_enumerated().filter(|(_, table)| !table.direct_counters.is_empty());
    let direct = counted.flat_map(|(table, _)| {
        [Which::All, Which::Default].map(|which| Entity::DirectCounter(Direct { table, which, value }))
    });
    let sets = program.value_sets.ids().map(|set| Entity::ValueSet { set, members: Vec::new() });
    let zeros = registers.chain(counters).chain(direct).chain(sets);
    zeros.chain(meters_without_rates(program)).collect()
}

fn meters_without_rates(program: &Program) -> impl Iterator<Item = Entity> {
    let value = MeterValue::default();
    let meters = program.meters.ids().map(move |array| Entity::Meter(Cell { array, index: None, value }));
    let metered = program.tables.iter_enumerated().filter(|(_, table)| table.direct_meter.is_some());
    let direct = metered.flat_map(move |(table, _)| {
        [Which::All, Which::Default].map(|which| Entity::DirectMeter(Direct { table, which, value }))
    });
    meters.chain(direct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::entity::Multicast;
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
                Error: table MyIngress.acl.filter has no entry with handle 1: it has 1 entry
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
                Error: table MyIngress.l2 has no entry with handle 7: it has 1 entry
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
    fn nodes_compose_groups() {
        let api = api();
        let about = About::default();
        let text = |lines: &str| {
            let answers = lines.lines().map(|line| run(&api, &about, line).text);
            answers.filter(|text| !text.contains("ing ")).collect::<Vec<_>>().join("\n")
        };
        let replicas = vec![switch::Replica { rid: 1, port: 9 }.into(), switch::Replica { rid: 1, port: 8 }.into()];
        let group = Entity::Multicast(Multicast { group: 1, replicas, metadata: vec![7] });
        let insertion = Update { kind: UpdateKind::Insert, entity: group };
        assert_eq!(api.write(vec![insertion], Atomicity::ContinueOnError), [Ok(())]);
        expect![[r#"
            there is no multicast node with handle 0
            there is no multicast group 3; create it first
            multicast node 0 is in group 1 already
            multicast node 1 is not in group 2
            there is no multicast node with handle 7
            ==========
            MC ENTRIES
            **********
            mgrp(1)
              -> (L1h=0, rid=0) -> (ports=[2, 4], lags=[])
              -> (L1h=1, rid=0) -> (ports=[2], lags=[])
              -> (L1h=-, rid=1) -> (ports=[9, 8], lags=[])
            **********
            mgrp(2)
              -> (L1h=0, rid=0) -> (ports=[2, 4], lags=[])
            ==========
            LAGS
            =========="#]]
        .assert_eq(&text(
            "mc_node_destroy 0
             mc_node_create 0 1
             mc_node_create 0 2
             mc_mgrp_create 2
             mc_node_associate 1 0
             mc_node_associate 3 0
             mc_node_associate 1 0
             mc_node_associate 1 1
             mc_node_associate 2 0
             mc_node_dissociate 2 1
             mc_node_update 0 4 2
             mc_node_update 7 1
             mc_dump",
        ));
        expect![[r#"
            ==========
            MC ENTRIES
            **********
            mgrp(1)
              -> (L1h=1, rid=0) -> (ports=[2], lags=[])
              -> (L1h=-, rid=1) -> (ports=[9, 8], lags=[])
            **********
            mgrp(2)
            ==========
            LAGS
            =========="#]]
        .assert_eq(&text("mc_node_destroy 0\nmc_dump"));
        let mut metadata = Vec::new();
        api.read(&Query::Multicast(Some(1)), &mut |entities| {
            metadata.extend(
                entities.into_iter().map(|it| if let Entity::Multicast(it) = it { it.metadata } else { vec![] }),
            );
            true
        })
        .unwrap();
        assert_eq!(metadata, [[7]], "a node leaves what a controller has attached");
    }

    #[test]
    fn what_handles_do_not_name_is_refused() {
        check(
            "table_modify l2 tunnel 3 1
             table_delete l2 3
             counter_write hits 3 1 1
             counter_read hits 3
             table_indirect_add balance 1 => 0
             table_indirect_add_with_group balance 1 => 0
             act_prof_delete_member hops 4
             act_prof_create_member hops set_port 3
             act_prof_create_group hops
             table_indirect_add_with_group balance 1 => 0
             act_prof_remove_member_from_group hops 0 0
             act_prof_add_member_to_group hops 0 0
             act_prof_add_member_to_group hops 0 0
             act_prof_delete_member hops 0
             table_indirect_add_with_group balance 1 => 0
             act_prof_delete_group hops 0
             table_modify balance set_port 0 1",
            expect![[r#"
                Error: table MyIngress.l2 has no entry with handle 3: it has 0 entries
                Error: table MyIngress.l2 has no entry with handle 3: it has 0 entries
                Error: table MyIngress.l2 has no entry with handle 3: it has 0 entries
                Error: table MyIngress.l2 has no entry with handle 3: it has 0 entries
                Error: action profile MyIngress.hops has no member with handle 0
                Error: action profile MyIngress.hops has no group with handle 0
                Error: action profile MyIngress.hops has no member with handle 4
                Member has been created with handle 0
                Group has been created with handle 0
                Error: group 0 is empty: add members to it first
                Error: action profile MyIngress.hops: member 0 is not in group 0

                Error: action profile MyIngress.hops: member 0 is already in group 0
                Error: action profile `MyIngress.hops`: member 0 is in group 0
                Adding entry to exact match table MyIngress.balance
                match key:           EXACT-00:01
                group:               0
                Entry has been added with handle 0
                Error: action profile `MyIngress.hops`: an entry names group 0: change that first
                Error: table MyIngress.balance takes its actions from action profile MyIngress.hops: an entry names a member or a group of it
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
             meter_set_rates police 0 0.0005:10 1:20
             mc_mgrp_create 1
             mirroring_add 5 3
             reset_state
             meter_get_rates police 0
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


                WARNING: expected 2 rates but only received 0
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
