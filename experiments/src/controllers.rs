//! Controllers in modelled time: the orders of `te` and `p4te` as writes of a simulated controller.
//!
//! A node has all switches of a network; what it knows of one it uses for no other, as local controllers would.

use p4te::{Priorities, Report, Settings};
use sim::Time;
use sim::controller::{Controller, Controls, SwitchFacts};
use te::{Order, Place, Translator};

/// A switch under control.
pub struct Controlled {
    translator: Translator,
    /// What it begins with.
    first: Vec<Order>,
    priorities: Option<Priorities>,
    /// Whether probes begin here.
    has_probes: bool,
}

impl Controlled {
    /// One with these first orders.
    pub fn new(facts: &SwitchFacts, first: Vec<Order>, has_probes: bool) -> Controlled {
        Controlled { translator: Translator::new(facts.program.clone()), first, priorities: None, has_probes }
    }

    /// One of P4TE.
    pub fn p4te(facts: &SwitchFacts, place: &Place, settings: &Settings) -> Controlled {
        let (priorities, first) = p4te::set_up(place, settings, facts.cpu_port);
        Controlled { priorities: Some(priorities), ..Controlled::new(facts, first, false) }
    }

    fn write(&self, controls: &mut Controls<'_, '_>, switch: usize, orders: &[Order]) {
        // Names were checked when the network was built.
        if let Ok(updates) = self.translator.updates(orders)
            && !updates.is_empty()
        {
            controls.write(switch, updates);
        }
    }
}

/// The controller of all switches.
pub struct Local {
    switches: Vec<Controlled>,
    probe_interval: Option<Time>,
    next_probe: Time,
}

impl Local {
    /// With probes at this interval, or none; or the name that a program does not have.
    pub fn new(switches: Vec<Controlled>, probe_interval: Option<Time>) -> Result<Local, String> {
        for switch in &switches {
            switch.translator.updates(&switch.first)?;
        }
        Ok(Local { switches, probe_interval, next_probe: probe_interval.unwrap_or(Time::MAX) })
    }
}

impl Controller for Local {
    fn connected(&mut self, controls: &mut Controls<'_, '_>, switch: usize) {
        let controlled = &self.switches[switch];
        controlled.write(controls, switch, &controlled.first);
    }

    fn packet_in(&mut self, controls: &mut Controls<'_, '_>, switch: usize, frame: &[u8]) {
        let controlled = &mut self.switches[switch];
        let Some((priorities, report)) = controlled.priorities.as_mut().zip(Report::parse(frame)) else { return };
        let orders = priorities.report(&report);
        controlled.write(controls, switch, &orders);
    }

    fn timer(&mut self, controls: &mut Controls<'_, '_>) {
        let Some(interval) = self.probe_interval else { return };
        self.next_probe += interval;
        for (index, _) in self.switches.iter().enumerate().filter(|(_, switch)| switch.has_probes) {
            controls.packet_out(index, &PROBE);
        }
    }

    fn next_timer(&self) -> Time {
        self.next_probe
    }
}

/// A probe as a controller sends it: the switch writes its number and the utilisation.
const PROBE: [u8; 20] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 0, 0, 0, 0, 0, 0];
