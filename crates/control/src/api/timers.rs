//! Timers of ports as controllers have set them; they are stored with the state.
//!
//! What enters: changes to a port's timer. What leaves: the timers, with a note of each change; after a restart the
//! same timers again. A note has everything that a timer needs, so that it does not depend on `--port`, and it
//! overrides `--port`, as stored entries override those of files.

use crate::api::fault::{Code, Fault};
use crate::api::{Api, Notes};
use serde_json::{Value, json};
use std::sync::Arc;
use switch::timers::{Timer, TimerError, Timers};

/// The keys of these notes begin with this: each is an array of this and the port.
const KIND: &str = "timer";

const PERIOD: &str = "period_ns";
const FRAMES: &str = "frames";

impl Api {
    /// The timers of ports, if the switch can have some.
    pub fn timers(&self) -> Option<Arc<Timers>> {
        self.timers.get().cloned()
    }

    /// Sets which timers ports have, once, and restores those that were set before a restart. Returns messages about
    /// those that cannot be restored.
    pub fn set_timers(&self, timers: Arc<Timers>) -> Vec<String> {
        let mut left_out = Vec::new();
        for (key, note) in self.notes() {
            let Some(port) = port_of(&key) else { continue };
            if let Err(why) = set_again(&timers, port, &note) {
                left_out.push(format!("the timer of port {port}: {why}"));
            }
        }
        // Said a second time, it would be the same.
        let _known = self.timers.set(timers);
        left_out
    }

    /// Gives a port's timer another period, and other frames if there are some; a period of 0 stops it.
    pub fn change_timer(&self, port: u32, period_ns: u64, frames: Vec<Vec<u8>>) -> Result<(), Fault> {
        let timers = self.timers().ok_or_else(|| Fault::new(Code::Unavailable, "the switch has no ports yet"))?;
        let changed = if period_ns == 0 { timers.stop(port) } else { timers.set(port, period_ns, frames) };
        changed.map_err(|error| Fault::new(code(error), error.to_string()))?;
        let timer = timers.all().into_iter().find(|(number, _)| *number == port);
        let notes = timer.map(|(_, timer)| (json!([KIND, port]).to_string(), note(&timer)));
        self.keep_notes(notes.into_iter().collect())
    }
}

/// The notes about timers: ports belong to the switch, whatever program it runs.
pub(super) fn notes_of_timers(notes: Notes) -> Notes {
    notes.into_iter().filter(|(key, _)| port_of(key).is_some()).collect()
}

fn code(error: TimerError) -> Code {
    match error {
        TimerError::Period | TimerError::Frames | TimerError::FrameLength(_) => Code::InvalidArgument,
        TimerError::Taken(_) => Code::FailedPrecondition,
        TimerError::NoPort(_) => Code::OutOfRange,
        TimerError::NoTimer(_) => Code::NotFound,
    }
}

fn note(timer: &Timer) -> Value {
    let digits = |frame: &Vec<u8>| -> String { frame.iter().map(|byte| format!("{byte:02x}")).collect() };
    let frames: Vec<String> = timer.frames().iter().map(digits).collect();
    json!({ PERIOD: timer.period_ns().unwrap_or(0), FRAMES: frames })
}

/// The port of a note's key; `None` if the note is not about a timer.
fn port_of(key: &str) -> Option<u32> {
    let (kind, port): (String, u32) = serde_json::from_str(key).ok()?;
    (kind == KIND).then_some(port)
}

fn set_again(timers: &Timers, port: u32, note: &Value) -> Result<(), String> {
    let unread = || "its stored state cannot be read".to_owned();
    let period_ns = note[PERIOD].as_u64().ok_or_else(unread)?;
    let frames: Option<Vec<Vec<u8>>> =
        note[FRAMES].as_array().and_then(|all| all.iter().map(|frame| bytes(frame.as_str()?)).collect());
    let frames = frames.ok_or_else(unread)?;
    match period_ns {
        // If `--port` does not define a stopped timer, there is none to stop.
        0 => timers.stop(port).or_else(|error| if error == TimerError::NoTimer(port) { Ok(()) } else { Err(error) }),
        _ => timers.set(port, period_ns, frames),
    }
    .map_err(|error| error.to_string())
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    digits.len().is_multiple_of(2).then(|| (0..digits.len()).step_by(2).map(digit).collect())?
}
