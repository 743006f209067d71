//! Controllers in the simulator: of P4TE and of its baselines.
//!
//! What enters: a topology of the simulator, what is set of a scenario's controller. What leaves: a simulated
//! controller.
//!
//! * [`local`]: controllers of switches, each with what it knows of its own. `places`: switches in a topology.

pub mod local;
pub mod places;

pub use local::{Controlled, Local};
pub use places::{is_leaf, places};

use crate::Settings;
use scenario::controller::{ControllerPlan, P4tePlan};
use scenario::topology::NodeRef;
use scenario::{Scenario, ScenarioFault};
use sim::controller::{Controller, SwitchFacts};

/// What a link carries that has no rate.
const UNLIMITED_BITS_PER_S: u64 = 400_000_000_000;

/// The controller of a scenario with `kind = "p4te"`. The meters of its programs count bytes.
pub fn of_scenario(
    scenario: &Scenario,
    plan: &ControllerPlan,
    p4te: &P4tePlan,
    facts: &[SwitchFacts],
) -> Result<Box<dyn Controller>, ScenarioFault> {
    let settings = Settings {
        delta: p4te.delta.unwrap_or(Settings::default().delta),
        flowlet_us: p4te.flowlet.map_or(Settings::default().flowlet_us, |flowlet| flowlet.ns() / 1_000),
        control_window: p4te.control_window,
        mark_from: p4te.mark_from,
        ..Settings::default()
    };
    let topology = &scenario.topology;
    let rate = |from: NodeRef, to: NodeRef| {
        let link = topology.links.iter().position(|link| {
            let ends = link.ends.map(|(end, _)| end);
            ends == [from, to] || ends == [to, from]
        });
        let channel = link.map(|link| {
            let is_first = topology.links[link].ends[0].0 == from;
            &scenario.channels[link][usize::from(!is_first)]
        });
        let bits_per_s = channel.map_or(0, |channel| channel.bits_per_s);
        (if bits_per_s == 0 { UNLIMITED_BITS_PER_S } else { bits_per_s }) / 8
    };
    let places = places(topology, &rate, &[]);
    let own = plan.switches.iter().zip(facts);
    let switches = own.map(|(switch, facts)| Controlled::p4te(facts, &places[*switch], &settings)).collect();
    let local = Local::new(switches, None).map_err(|message| {
        plan.fault(format!("{message}: a controller of kind \"p4te\" has switches with the programs of apps/p4te"))
    })?;
    Ok(Box::new(local))
}
