//! Commands that a switch gets at given times, as from a controller that writes by a plan.
//!
//! What enters: texts of `simple_switch_CLI` commands with the times at which they take effect. What leaves: a core
//! that has carried them out at these times, after the packets that arrived before.

use super::SwitchCounters;
use crate::time::Time;
use control::{Command, Origin};
use ir::Program;
use std::collections::VecDeque;
use switch::Switch;

/// The commands that have not been carried out.
#[derive(Debug, Default)]
pub(super) struct Commands(VecDeque<(Time, Vec<(Command, Origin)>)>);

impl Commands {
    /// Commands for switches that run this program, in the order of their times.
    pub(super) fn read(texts: &[(Time, String)], program: &Program) -> Result<Commands, String> {
        let read = |(at, text): &(Time, String)| {
            let commands = control::parse_entries(&format!("commands at {at}"), text, program);
            let commands =
                commands.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
            Ok((*at, commands))
        };
        texts.iter().map(read).collect::<Result<_, String>>().map(Commands)
    }

    /// When the next ones take effect.
    pub(super) fn next(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// Carries out those that are due.
    pub(super) fn carry_out(&mut self, now: Time, core: &mut Switch, counters: &mut SwitchCounters) {
        while self.next() <= now
            && let Some((_, commands)) = self.0.pop_front()
        {
            core.advance(now.ns());
            let refused = control::apply_all(core, &commands).err().map_or(0, |errors| errors.len());
            counters.commands_refused += refused as u64;
            counters.commands += (commands.len() - refused.min(commands.len())) as u64;
        }
    }
}
