//! Controllers in modelled time: the orders of `te` and `p4te` as writes of a simulated controller.
//!
//! A node has all switches of a network; what it knows of one it uses for no other, as local controllers would.

use crate::{Priorities, Report, Settings, set_up};
use base::OrderedMap;
use control::api::{Entity, Fault, Query};
use sim::Time;
use sim::controller::{Controller, Controls, ReadId, SwitchFacts};
use te::{Order, Place, Polling, Translator, fabric};

/// A switch under control.
pub struct Controlled {
    translator: Translator,
    /// What it begins with.
    first: Vec<Order>,
    logic: Logic,
}

/// What is done after the first orders.
enum Logic {
    Nothing,
    P4te(Box<Priorities>),
    /// Probes begin here.
    Probes,
    Polls(Polling),
    /// CONGA: the switch has entries for ports that do not lead to a leaf.
    Reports,
}

impl Controlled {
    /// One with these first orders.
    pub fn new(facts: &SwitchFacts, first: Vec<Order>) -> Controlled {
        Controlled { translator: Translator::new(facts.program.clone()), first, logic: Logic::Nothing }
    }

    /// One of P4TE.
    pub fn p4te(facts: &SwitchFacts, place: &Place, settings: &Settings) -> Controlled {
        let (priorities, first) = set_up(place, settings, facts.cpu_port);
        Controlled { logic: Logic::P4te(Box::new(priorities)), ..Controlled::new(facts, first) }
    }

    /// One of HULA: probes begin in leaves.
    pub fn hula(facts: &SwitchFacts, place: &Place, first: Vec<Order>) -> Controlled {
        let logic = if place.leaf.is_some() { Logic::Probes } else { Logic::Nothing };
        Controlled { logic, ..Controlled::new(facts, first) }
    }

    /// One that polls.
    pub fn polled(facts: &SwitchFacts, place: &Place, mut first: Vec<Order>) -> Controlled {
        let polling = Polling::new(place);
        first.extend(polling.orders());
        Controlled { logic: Logic::Polls(polling), ..Controlled::new(facts, first) }
    }

    /// One of CONGA.
    pub fn conga(facts: &SwitchFacts, first: Vec<Order>) -> Controlled {
        Controlled { logic: Logic::Reports, ..Controlled::new(facts, first) }
    }

    /// What changes when this is known of the network: ports that do not lead to some leaves any more.
    fn learn(&mut self, place: &Place) -> Vec<Order> {
        let cut_off = place.cut_off().into_iter();
        let orders = cut_off.map(|(leaf, prefixes, lost)| match &mut self.logic {
            Logic::P4te(priorities) => priorities.avoid(prefixes, &lost),
            Logic::Polls(polling) => polling.avoid(leaf, &lost),
            Logic::Reports => lost.iter().map(|port| fabric::blocked(leaf, *port)).collect(),
            Logic::Nothing | Logic::Probes => fabric::avoid(place, leaf, &prefixes, &lost),
        });
        orders.flatten().collect()
    }

    fn write(&self, controls: &mut Controls<'_, '_>, switch: usize, orders: &[Order]) {
        // Names were checked when the network was built.
        if let Ok(updates) = self.translator.updates(orders)
            && !updates.is_empty()
        {
            controls.write(switch, updates);
        }
    }

    /// What is due at each interval.
    fn tick(&self, controls: &mut Controls<'_, '_>, switch: usize) {
        match &self.logic {
            Logic::Probes => controls.packet_out(switch, &PROBE),
            Logic::Polls(_) => {
                let array = self.translator.counter(te::polling::COUNTER).ok();
                controls.read(switch, Query::Counters { array, index: None });
            }
            Logic::Nothing | Logic::P4te(_) | Logic::Reports => {}
        }
    }
}

/// The controller of all switches.
pub struct Local {
    switches: Vec<Controlled>,
    interval: Option<Time>,
    next: Time,
    /// When something is known of the network, and what then.
    news: Option<(Time, Vec<Place>)>,
}

impl Local {
    /// With probes or polls at this interval, or none; or the name that a program does not have.
    pub fn new(switches: Vec<Controlled>, interval: Option<Time>) -> Result<Local, String> {
        for switch in &switches {
            switch.translator.updates(&switch.first)?;
        }
        Ok(Local { switches, interval, next: interval.unwrap_or(Time::MAX), news: None })
    }

    /// The same, to which it is known from this time on that the places of its switches are these.
    pub fn with_news(self, at: Time, places: Vec<Place>) -> Local {
        Local { news: Some((at, places)), ..self }
    }
}

impl Controller for Local {
    fn connected(&mut self, controls: &mut Controls<'_, '_>, switch: usize) {
        let controlled = &self.switches[switch];
        controlled.write(controls, switch, &controlled.first);
    }

    fn packet_in(&mut self, controls: &mut Controls<'_, '_>, switch: usize, frame: &[u8]) {
        let controlled = &mut self.switches[switch];
        let Logic::P4te(priorities) = &mut controlled.logic else { return };
        let Some(report) = Report::parse(frame) else { return };
        let orders = priorities.report(&report);
        controlled.write(controls, switch, &orders);
    }

    fn answered(
        &mut self,
        controls: &mut Controls<'_, '_>,
        switch: usize,
        _read: ReadId,
        outcome: Result<Vec<Entity>, Fault>,
    ) {
        let controlled = &mut self.switches[switch];
        let Logic::Polls(polling) = &mut controlled.logic else { return };
        let cells = outcome.unwrap_or_default().into_iter().filter_map(|entity| match entity {
            Entity::Counter(cell) => Some((cell.index?, cell.value.packets)),
            _ => None,
        });
        let cells: OrderedMap<u64, u64> = cells.collect();
        let orders = polling.poll(&|index| cells.get(&index).copied().unwrap_or(0));
        controlled.write(controls, switch, &orders);
    }

    fn timer(&mut self, controls: &mut Controls<'_, '_>) {
        if self.news.as_ref().is_some_and(|(at, _)| *at <= controls.now()) {
            for (index, place) in self.news.take().into_iter().flat_map(|(_, places)| places).enumerate() {
                let orders = self.switches[index].learn(&place);
                self.switches[index].write(controls, index, &orders);
            }
        }
        let Some(interval) = self.interval.filter(|_| self.next <= controls.now()) else { return };
        self.next += interval;
        for (index, switch) in self.switches.iter().enumerate() {
            switch.tick(controls, index);
        }
    }

    fn next_timer(&self) -> Time {
        self.news.as_ref().map_or(self.next, |(at, _)| self.next.min(*at))
    }
}

/// A probe as a controller sends it: the switch writes its number and the utilisation.
const PROBE: [u8; 20] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 0, 0, 0, 0, 0, 0];
