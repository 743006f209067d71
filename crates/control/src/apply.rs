//! Carries out commands on a switch that has no control plane yet: those of entries files and packet tests.
//!
//! What enters: commands and the switch they are for. What leaves: replies, or what the switch refused and why. Names
//! and widths were checked when the commands were read; what can still fail depends on the state of the switch:
//! handles, duplicates, full tables, const entries.

use crate::api::Pipeline;
use crate::api::at_hand::AtHand;
use crate::api::state::ControllerState;
use crate::api::write::Writer;
use crate::command::{Command, Queues, Setting};
use crate::problem::{EntryError, Origin, Problem};
use std::sync::{Arc, Mutex};
use switch::Switch;

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing beyond success.
    Done,
    /// The handle of a new entry, member, group or multicast node.
    Handle(u32),
    /// The requested information, in lines for people.
    Text(String),
}

/// Errors after which the rest of a batch is not tried.
const ERRORS_MAX: usize = 20;

/// Carries out the commands of an entries file in order. Packets see everything up to a question at once. Every refused
/// command is reported, up to a limit; the others take effect.
pub fn apply_all(switch: &mut Switch, commands: &[(Command, Origin)]) -> Result<Vec<Reply>, Vec<EntryError>> {
    let mut replies = Vec::with_capacity(commands.len());
    let mut errors = Vec::new();
    let is_alone = |command: &Command| matches!(command, Command::Ask(_) | Command::Set(_));
    for part in commands.chunk_by(|(one, _), (next, _)| !is_alone(one) && !is_alone(next)) {
        let before = errors.len();
        match &part[0].0 {
            command if is_alone(command) => match alone(switch, command) {
                Ok(reply) => replies.push(reply),
                Err(problem) => errors.push(EntryError { origin: part[0].1.clone(), problem }),
            },
            _ => write(switch, part, &mut replies, &mut errors),
        }
        if errors.len() > before && errors.len() >= ERRORS_MAX {
            break;
        }
    }
    if errors.is_empty() { Ok(replies) } else { Err(errors) }
}

/// Carries out one command.
pub fn apply(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let origin = Origin { file: "".into(), place: crate::FilePlace::File };
    match apply_all(switch, &[(command.clone(), origin)]) {
        Ok(mut replies) => Ok(replies.remove(0)),
        Err(mut errors) => Err(errors.remove(0).problem),
    }
}

/// Carries out updates as one batch; those that are refused are reported and skipped. After `ERRORS_MAX` of them the
/// whole batch is undone.
fn write(switch: &mut Switch, commands: &[(Command, Origin)], replies: &mut Vec<Reply>, errors: &mut Vec<EntryError>) {
    let (program, tables) = (Arc::clone(switch.program()), switch.shared_tables());
    let (mut state, mut tables) = (ControllerState::default(), tables.lock());
    let mut writer = Writer::new(&program, &mut state, tables.begin(), Some(switch)).for_tools().with_own_actions();
    let first = replies.len();
    for (command, origin) in commands {
        let outcome = match command {
            Command::Write(update) => writer.step(update),
            Command::Change(change) => writer.change(change).map(|(reply, _)| reply),
            Command::Ask(_) | Command::Set(_) => unreachable!("these are carried out alone"),
        };
        match outcome {
            Ok(reply) => replies.push(reply),
            Err(problem) => errors.push(EntryError { origin: origin.clone(), problem }),
        }
        if errors.len() >= ERRORS_MAX {
            replies.truncate(first);
            return writer.give_up();
        }
    }
    // Old arrays are freed here: no packet waits.
    drop(writer.finish());
}

/// Carries out what is no update.
fn alone(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    match command {
        Command::Ask(ask) => {
            let pipeline = Pipeline::of(switch);
            pipeline.answer(pipeline.queue(&AtHand(Mutex::new(switch))), ask).map(Reply::Text)
        }
        Command::Set(setting) => set(switch, setting).map(|()| Reply::Done),
        Command::Write(_) | Command::Change(_) => unreachable!("updates are carried out together"),
    }
}

/// Sets what is no entity.
pub(crate) fn set(switch: &mut Switch, setting: &Setting) -> Result<(), Problem> {
    let changed = match *setting {
        Setting::Crc { calculation, parameters } => {
            switch.externs_mut().calculations.set(calculation, parameters);
            Ok(())
        }
        Setting::ExpireTime { profile, time_ns } => {
            if !switch.program().tables.iter().any(|table| table.expires || table.adds_on_miss) {
                return Err(Problem::new("the program has no table whose entries have timers"));
            }
            switch.externs_mut().timers.set_profile_time_ns(profile, time_ns);
            Ok(())
        }
        Setting::QueueDepth { depth_packets, queues: Queues { port, priority } } => {
            let packets = usize::try_from(depth_packets).unwrap_or(usize::MAX);
            switch.set_queues(port, priority, |queue| queue.capacity_packets = packets)
        }
        Setting::QueueRate { rate_pps, queues: Queues { port, priority } } => {
            switch.set_queues(port, priority, |queue| queue.packets_per_s = rate_pps)
        }
    };
    changed.map_err(|refusal| {
        Problem::new(match refusal {
            switch::Refusal::NoPort => "there is no such port, or too many have queues of their own",
            switch::Refusal::NoPriority | switch::Refusal::Full => "there is no queue of this priority",
        })
    })
}
