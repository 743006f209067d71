//! `cost = "measured"`: what a packet costs a core of a software switch, measured before the run as `wirespeed bench`
//! does.
//!
//! What enters: a scenario, its programs and entries. What leaves: the scenario with costs of this machine, and a note
//! of each, so that a scenario can have it in writing. Switches with the same program and entries cost the same.

use super::Session;
use crate::Exit;
use crate::terminal::{self, Progress};
use measure::figures::median;
use measure::memory::Bench;
use measure::traffic::Trace;
use scenario::{Scenario, SwitchKind};
use sim::Time;
use std::time::Duration;

/// Runs of a measurement, the median of which counts, and how long each takes: as `wirespeed bench`.
const RUNS: usize = 7;
const RUN: Duration = Duration::from_millis(100);
/// Packets that are given to the switch at once, as it gets them from a busy driver.
const BURST: usize = 256;

/// Measures what the scenario leaves to a measurement.
pub fn measure(session: &Session<'_>, scenario: &mut Scenario) -> Result<(), Exit> {
    let mut known: Vec<(SwitchKind, Time)> = Vec::new();
    for switch in scenario.unmeasured() {
        let kind = scenario.switches[switch].kind.clone();
        let cost = match known.iter().find(|(other, _)| *other == kind) {
            Some((_, cost)) => *cost,
            None => {
                let cost = measure_switch(session, scenario, switch).map_err(|message| {
                    terminal::error(format!("switch {}: {message}", scenario.topology.switches[switch].name));
                    Exit::BadInput
                })?;
                known.push((kind, cost));
                cost
            }
        };
        scenario.set_cost(switch, cost);
    }
    Ok(())
}

fn measure_switch(session: &Session<'_>, scenario: &Scenario, switch: usize) -> Result<Time, String> {
    let name = &scenario.topology.switches[switch].name;
    let mut core = session.programs().switch(name, &scenario.switches[switch])?;
    let mut trace = Trace::default();
    for (port, frame) in scenario.frames_through(switch) {
        trace.push(port, &frame);
    }
    if trace.is_empty() {
        return Err(
            "no packets of hosts pass it, so no cost can be measured: write it, as in cost = \"80ns\"".to_owned()
        );
    }
    let _progress = Progress::start(format!("measuring what a packet costs {name}"));
    let before = core.stats().sent;
    let mut bench = Bench::new(&mut core, &trace, BURST, RUN);
    let mut figures = Vec::new();
    for _ in 0..RUNS {
        let run = bench.run(1).map_err(|error| format!("its cost cannot be measured: {error}"))?;
        figures.extend(run.iter().map(|worker| worker.pass.packet_ns()));
    }
    if core.stats().sent == before {
        return Err("its program drops all packets between hosts, so their cost says nothing: measure it with \
                    `wirespeed bench --trace`, and write it, as in cost = \"80ns\""
            .to_owned());
    }
    // A tenth of a nanosecond, so that the cost that is shown gives the same results.
    let tenths = (median(&figures) * 10.0).round().max(1.0);
    let ns = tenths / 10.0;
    terminal::note(format!(
        "a packet costs {name} {ns:.1} ns on this machine; with cost = \"{ns:.1}ns\" results are the same everywhere"
    ));
    Ok(Time::from_ps(tenths as u64 * 100))
}
