//! Runs a script on a switch.

use crate::compare::{self, Expectation, Fault, Sent};
use crate::observation::Observation;
use crate::script::{Call, Command, CounterCell, CounterCheck, Script, Value};
use crate::{keys, names};
use base::index::Id as _;
use base::{Bits, OrderedMap};
use control::api::entity::{self, EntryAction, EntryName, TableEntry};
use control::api::{Entity, Update, UpdateKind};
use control::{Command as Control, CounterRef, Reply};
use ir::{DigestId, TableId};
use std::fmt;
use std::sync::Arc;
use switch::{Output, Switch};

/// The time from one packet to the next.
pub const PACKET_NS: u64 = 10_000;

/// The time that a `wait` takes.
pub const WAIT_NS: u64 = 1_000_000_000;

/// Bytes that `check_counter` adds to the length of each packet in the file: a frame check sequence.
const COUNTED_EXTRA_BYTES: u64 = 4;

/// The most packets and messages that a script may make the switch send. The limit stops endless loops.
const SENT_MAX: usize = 100_000;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// The expectations that were not met.
    pub failures: Vec<Failure>,
    /// Replies of the switch, such as refused commands, that do not affect the verdict.
    pub notes: Vec<Failure>,
    /// Packets that the script sent to the switch.
    pub packets: usize,
    /// Expectations that were checked, of packets and of counters.
    pub checks: usize,
}

impl Report {
    /// Whether all expectations were met.
    pub fn is_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} packets in, {} checks, {} failed", self.packets, self.checks, self.failures.len())
    }
}

/// A message about a line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The port, and the number of the packet, counted from 1.
    pub packet: Option<(u32, usize)>,
    /// The line of the received packet that caused it.
    pub cause_line: Option<u32>,
    /// What happened, and what was expected.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// The result of a run, and everything that the switch did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunResult {
    /// The expectations that were not met.
    pub report: Report,
    /// What the switch did.
    pub observation: Observation,
}

/// Makes a switch process its packets: [`Switch::run`], unless the caller observes the run.
pub type Work<'a> = dyn FnMut(&mut Switch, u64, &mut dyn Output) + 'a;

/// Runs a script on a switch that has no packets in flight.
pub fn run(script: &Script, switch: &mut Switch) -> RunResult {
    run_watched(script, switch, &mut |_, _| {}, &mut |switch, now_ns, output| switch.run(now_ns, output))
}

/// Runs a script for a caller that observes it: `before` is called with the line and the next command before it is
/// carried out, and `work` makes the switch process its packets.
pub fn run_watched(
    script: &Script,
    switch: &mut Switch,
    before: &mut dyn FnMut(u32, &Command),
    work: &mut Work<'_>,
) -> RunResult {
    let now_ns = switch.now_ns();
    let (recorder, ids, report) = (Recorder::default(), OrderedMap::new(), Report::default());
    let mut runner = Runner { script, switch, now_ns, work, recorder, ids, report };
    let mut expectations = Vec::new();
    let mut quiet_line = None;
    for (line, command) in &script.commands {
        before(*line, command);
        match command {
            Command::Expect { port, pattern } => {
                runner.report.checks += 1;
                expectations.push(Expectation { line: *line, port: *port, pattern: pattern.as_ref() });
            }
            Command::NoPacket => {
                runner.report.checks += 1;
                quiet_line = Some(*line);
            }
            _ => {
                runner.recorder.line = *line;
                if let Err(message) = runner.command(*line, command) {
                    runner.fail(*line, message);
                }
            }
        }
    }
    let in_ports = script.commands.iter().filter_map(|(line, command)| match command {
        Command::Packet { port, .. } => Some((*port, *line)),
        _ => None,
    });
    let in_ports: OrderedMap<u32, u32> = in_ports.collect();
    let Runner { mut report, recorder, switch, .. } = runner;
    let about = |line, message| Failure::about(script, line, message);
    // A failed assertion ends the reference switch, and with it the test.
    report.failures.extend(recorder.failed_assertions.iter().map(|(line, text)| {
        let message = format!("an assertion of the program failed: {text}");
        Failure { cause_line: Some(*line), ..about(*line, message) }
    }));
    let sent = Sent { frames: &recorder.observation.sent, lines: &recorder.lines };
    for Fault { line, packet, cause_line, message } in compare::faults(&expectations, &in_ports, quiet_line, sent) {
        report.failures.push(Failure { packet, cause_line, ..about(line, message) });
    }
    report.failures.sort_by_key(|failure| failure.line);
    let mut observation = recorder.observation;
    observation.look_at(switch);
    RunResult { report, observation }
}

impl Failure {
    fn about(script: &Script, line: u32, message: String) -> Failure {
        Failure { file: Arc::clone(&script.file), line, packet: None, cause_line: None, message }
    }
}

/// Records the switch's output, and for each packet the line that caused it.
#[derive(Default)]
struct Recorder {
    observation: Observation,
    /// The line of the current command.
    line: u32,
    /// The lines of the packets in `observation.sent`.
    lines: OrderedMap<u32, Vec<u32>>,
    /// Assertions that failed, with their lines.
    failed_assertions: Vec<(u32, String)>,
    /// The number of packets and messages so far.
    count: usize,
}

impl Output for Recorder {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        self.count += 1;
        self.lines.entry(port).or_default().push(self.line);
        self.observation.transmit(port, frame, time_ns);
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.count += 1;
        self.observation.digest(digest, values);
    }

    fn log(&mut self, line: &str) {
        self.count += 1;
        self.observation.log(line);
    }

    fn assertion_failed(&mut self, text: &str) {
        self.count += 1;
        if self.failed_assertions.last().is_none_or(|(line, _)| *line != self.line) {
            self.failed_assertions.push((self.line, text.to_owned()));
        }
        self.observation.assertion_failed(text);
    }
}

/// The state of a run.
struct Runner<'a, 'w> {
    script: &'a Script,
    switch: &'a mut Switch,
    now_ns: u64,
    work: &'a mut Work<'w>,
    recorder: Recorder,
    /// Entries that the script named.
    ids: OrderedMap<String, (TableId, u32)>,
    report: Report,
}

impl Runner<'_, '_> {
    fn about(&self, line: u32, message: String) -> Failure {
        Failure::about(self.script, line, message)
    }

    fn fail(&mut self, line: u32, message: String) {
        let failure = self.about(line, message);
        self.report.failures.push(failure);
    }

    fn command(&mut self, line: u32, command: &Command) -> Result<(), String> {
        match command {
            Command::Add { table, priority, keys, call, id } => {
                let table = self.table(table)?;
                let entry = self.entry(table, *priority, keys, call)?;
                let reply = self.perform(line, UpdateKind::Insert, Entity::TableEntry(entry));
                if let (Some(Reply::Handle(handle)), Some(id)) = (reply, id) {
                    self.ids.insert(id.clone(), (table, handle));
                }
                Ok(())
            }
            Command::SetDefault { table, call } => {
                let table = self.table(table)?;
                let action = Some(self.call(table, call)?);
                let default = Entity::TableEntry(TableEntry::new(table, None, action));
                self.perform(line, UpdateKind::Modify, default);
                Ok(())
            }
            Command::Packet { port, bytes } => self.packet(*port, bytes),
            Command::CheckCounter { counter, cell, check } => self.check_counter(counter, cell, check),
            Command::RemoveAll => self.remove_all(),
            Command::Wait => {
                self.now_ns += WAIT_NS;
                self.run_until_idle()
            }
            Command::Control(text) => {
                self.control(line, text);
                Ok(())
            }
            Command::Expect { .. } | Command::NoPacket => Ok(()),
        }
    }

    fn apply(&mut self, command: &Control) -> Result<Reply, String> {
        control::apply(self.switch, command).map_err(|problem| problem.to_string())
    }

    fn write(&mut self, kind: UpdateKind, entity: Entity) -> Result<Reply, String> {
        self.apply(&Control::Write(Box::new(Update { kind, entity })))
    }

    /// Carries out an update that the switch may refuse: a key that the table has already, an entry beyond the
    /// table's size, a change of a constant. The reference's runner ignores such errors, so they do not fail the
    /// test.
    fn perform(&mut self, line: u32, kind: UpdateKind, entity: Entity) -> Option<Reply> {
        match self.write(kind, entity) {
            Ok(reply) => Some(reply),
            Err(message) => {
                let note = self.about(line, message);
                self.report.notes.push(note);
                None
            }
        }
    }

    fn table(&self, given: &str) -> Result<TableId, String> {
        let tables = &self.switch.program().tables;
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        names::find("table", given, &names).map(TableId::from_index)
    }

    fn call(&self, table: TableId, call: &Call) -> Result<EntryAction, String> {
        let program = self.switch.program();
        let listed = &program.tables[table].actions;
        let actions: Vec<&str> = listed.iter().map(|it| program.actions[it.action].name.as_str()).collect();
        let position = names::find("action", &call.action, &actions)?;
        let action = &program.actions[listed[position].action];
        let params: Vec<&str> = action.params.iter().map(|&param| names::parameter(program, param)).collect();
        for (given, _) in &call.arguments {
            let is_empty = action.empty_params.iter().any(|param| param.name == *given);
            if !is_empty && !params.contains(&given.as_str()) {
                return Err(format!(
                    "action {} has no parameter {given}\n  help: it has {}",
                    action.name,
                    if params.is_empty() { "none".to_owned() } else { params.join(", ") }
                ));
            }
        }
        let mut args = Vec::new();
        for (&param, name) in action.params.iter().zip(&params) {
            let given = call.arguments.iter().rev().find(|(given, _)| given == name);
            let (_, number) =
                given.ok_or_else(|| format!("action {} needs a value for its parameter {name}", action.name))?;
            let target = keys::target("parameter", name, program.vars[param].ty.width());
            args.push(keys::exact(number, &target).map_err(|problem| problem.to_string())?);
        }
        Ok(EntryAction::Call(entity::Call { action: listed[position].action, args }))
    }

    /// The entry that a command adds.
    fn entry(
        &self,
        id: TableId,
        priority: Option<i32>,
        keys: &[(String, Value)],
        call: &Call,
    ) -> Result<TableEntry, String> {
        let program = Arc::clone(self.switch.program());
        let table = &program.tables[id];
        let mut given: Vec<Option<&Value>> = vec![None; table.keys.len()];
        for (name, value) in keys {
            given[names::key(table, name)?] = Some(value);
        }
        let key = table.keys.iter().zip(given).map(|(key, value)| {
            let width = key.expr.ty.width();
            let result = match value {
                Some(value) => keys::entry_key(value, key.kind, &keys::target("key", &key.name, width)),
                None => Ok(keys::unnamed(width, key.kind)),
            };
            result.map_err(|problem| problem.to_string())
        });
        let key = key.collect::<Result<Vec<_>, _>>()?;
        let has_priority = self.switch.tables().tables()[id.index()].kind().has_priority();
        // The original format does not define tables with range keys; their entries may omit the priority.
        let has_range = table.keys.iter().any(|key| key.kind == base::MatchKind::Range);
        let priority = match priority {
            Some(priority) if has_priority => priority,
            None if has_priority && !has_range => {
                return Err(format!("table {} has ternary or optional keys: the entry needs a priority", table.name));
            }
            _ => 0,
        };
        Ok(TableEntry::new(id, Some(EntryName { key, priority }), Some(self.call(id, call)?)))
    }

    fn packet(&mut self, port: u32, bytes: &[u8]) -> Result<(), String> {
        self.report.packets += 1;
        self.now_ns += PACKET_NS;
        self.switch.receive(self.now_ns, port, bytes);
        self.run_until_idle()
    }

    /// Runs the switch until nothing is in flight except coalescing buffers that wait for more packets.
    fn run_until_idle(&mut self) -> Result<(), String> {
        loop {
            (self.work)(self.switch, self.now_ns, &mut self.recorder);
            if self.recorder.count > SENT_MAX {
                return Err(format!("the switch has sent more than {SENT_MAX} packets and messages"));
            }
            match self.switch.next_departure_ns() {
                Some(next_ns) => self.now_ns = self.now_ns.max(next_ns),
                None => return Ok(()),
            }
        }
    }

    fn remove_all(&mut self) -> Result<(), String> {
        let program = Arc::clone(self.switch.program());
        let changeable = program.tables.iter_enumerated().filter(|(_, table)| !table.const_entries);
        for (table, _) in changeable {
            self.write(UpdateKind::Delete, Entity::AllEntries(table))?;
        }
        self.ids.clear();
        Ok(())
    }

    /// Carries out a command of the switch's command line. Whether it succeeds does not affect the verdict.
    fn control(&mut self, line: u32, text: &str) {
        let parsed = control::parse_entries(&self.script.file, text, self.switch.program());
        let result = match parsed {
            Ok(commands) => commands.iter().try_for_each(|(command, _)| match self.apply(command)? {
                Reply::Text(answer) => {
                    let note = self.about(line, answer);
                    self.report.notes.push(note);
                    Ok(())
                }
                Reply::Done | Reply::Handle(_) => Ok(()),
            }),
            Err(errors) => Err(errors.iter().map(|error| error.problem.to_string()).collect::<Vec<_>>().join("\n")),
        };
        if let Err(message) = result {
            let note = self.about(line, message);
            self.report.notes.push(note);
        }
    }

    fn check_counter(&mut self, given: &str, cell: &CounterCell, check: &CounterCheck) -> Result<(), String> {
        self.report.checks += 1;
        let program = self.switch.program();
        let arrays = program.counters.iter_enumerated().map(|(id, it)| (it.name.as_str(), CounterRef::Array(id)));
        let direct = program.direct_counters.iter_enumerated();
        let direct = direct.map(|(id, it)| (it.name.as_str(), CounterRef::Direct(id)));
        let (names, counters): (Vec<&str>, Vec<CounterRef>) = arrays.chain(direct).unzip();
        let counter = counters[names::find("counter", given, &names)?];
        let index = match cell {
            CounterCell::Index(index) => *index,
            CounterCell::Entry(id) => {
                let entry = self.ids.get(id).ok_or_else(|| format!("no entry was added as {id} (`add ... = {id}`)"))?;
                u64::from(entry.1)
            }
        };
        let externs = self.switch.externs_mut();
        let cells = match counter {
            CounterRef::Array(id) => &externs.counters[id],
            CounterRef::Direct(id) => &externs.direct_counters[id],
        };
        let cell = usize::try_from(index).ok().and_then(|index| cells.get(index));
        let cell = cell.ok_or_else(|| format!("counter {given} has no cell {index}; it has {}", cells.len()))?;
        let (unit, count) = match check.is_bytes {
            true => ("bytes", cell.bytes.wrapping_add(cell.packets.wrapping_mul(COUNTED_EXTRA_BYTES))),
            false => ("packets", cell.packets),
        };
        if check.relation.holds(count, check.number) {
            return Ok(());
        }
        let CounterCheck { relation, number, .. } = check;
        Err(format!("counter {given}({index}) has counted {count} {unit}, expected {} {number}", relation.symbol()))
    }
}
