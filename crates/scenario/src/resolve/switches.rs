//! From the sections of switches to what runs in each.

use super::{Draft, SwitchKind, SwitchPlan};
use crate::device::SwitchSections;
use crate::topology::NodeRef;
use scenario_file::ScenarioFile;
use scenario_file::device::TimingName;
use scenario_file::sections::{BackendName, SwitchKindName, SwitchSection, TablesName, TopologySection};
use std::ops::Range;
use toml::Spanned;

impl Draft<'_> {
    /// For each switch what it is.
    pub(super) fn switches(&mut self, file: &ScenarioFile) -> Vec<SwitchPlan> {
        for name in file.switch.keys() {
            if !matches!(self.topology.find(name.get_ref()), Some(NodeRef::Switch(_))) {
                self.fault(name.span(), format!("there is no switch `{}`; {}", name.get_ref(), self.known_switches()));
            }
        }
        let none = SwitchSection::default();
        let switches: Vec<SwitchPlan> = (0..self.topology.switches.len())
            .map(|index| {
                let name = &self.topology.switches[index].name;
                let own = file.switch.iter().find(|(key, _)| key.get_ref() == name).map_or(&none, |(_, own)| own);
                self.switch(index, own, &file.switches, &file.topology)
            })
            .collect();
        self.check_all_switches(&file.switches, &switches);
        switches
    }

    /// What of all switches means something for none is a fault.
    fn check_all_switches(&mut self, all: &SwitchSection, switches: &[SwitchPlan]) {
        let is_router = |plan: &SwitchPlan| plan.kind == SwitchKind::Router;
        if switches.iter().all(is_router) {
            // Of these two a latency follows.
            for (key, span) in keys_of_programs(all).filter(|(key, _)| !["cores", "cost"].contains(key)) {
                self.fault_once(span, format!("all switches are routers, which have no `{key}`"));
            }
        } else if let Some(at) = all.reroute.as_ref().filter(|_| !switches.iter().any(is_router)) {
            self.fault_once(at.span(), "all switches run programs: only routers have `reroute`");
        }
    }

    pub(crate) fn known_switches(&self) -> String {
        let names: Vec<&str> = self.topology.switches.iter().take(8).map(|switch| &*switch.name).collect();
        let more = if self.topology.switches.len() > names.len() { ", ..." } else { "" };
        format!("the switches are {}{more}", names.join(", "))
    }

    fn switch(
        &mut self,
        index: usize,
        own: &SwitchSection,
        all: &SwitchSection,
        topology: &Spanned<TopologySection>,
    ) -> SwitchPlan {
        let described = &self.topology.switches[index];
        let written = own.program.as_ref().or(all.program.as_ref());
        let program = written.map(|program| program.get_ref()).or(described.program.as_ref());
        let kind = own.kind.as_ref().or(all.kind.as_ref());
        let is_router = match kind.map(Spanned::get_ref) {
            Some(SwitchKindName::Router) => true,
            Some(SwitchKindName::Program) => false,
            None => program.is_none(),
        };
        let kind = match (is_router, program) {
            (true, _) => SwitchKind::Router,
            (false, Some(program)) => SwitchKind::Program {
                program: program.clone(),
                entries: entries(own, all, &described.name, &described.entries),
                is_interpreted: own.backend.as_ref().or(all.backend.as_ref()).map(Spanned::get_ref)
                    == Some(&BackendName::Interp),
            },
            (false, None) => {
                let span = kind.map_or(topology.span(), Spanned::span);
                self.fault(span, format!("switch {} has no program: write program = \"FILE.p4\"", described.name));
                SwitchKind::Router
            }
        };
        match kind {
            SwitchKind::Router => self.check_router(index, own),
            SwitchKind::Program { .. } => {
                if let Some(at) = &own.reroute {
                    let message = format!("switch {} runs a program: only routers have `reroute`", described.name);
                    self.fault_once(at.span(), message);
                }
            }
        }
        let (ingress_latency, egress_latency, device, unmeasured) = self.device(index, SwitchSections { own, all });
        let entries_at = own.entries.as_ref().or(all.entries.as_ref()).map(Spanned::span);
        let place = self.place(written.map(Spanned::span).or(entries_at.clone()).unwrap_or(topology.span()));
        let entries_place = entries_at.map_or(place.clone(), |at| self.place(at));
        SwitchPlan {
            kind,
            place,
            entries_place,
            command_places: Vec::new(),
            ingress_latency,
            egress_latency,
            device,
            unmeasured,
            reroute: own.reroute.as_ref().or(all.reroute.as_ref()).map(|it| it.get_ref().0),
            restarts: own.restarts.as_ref().or(all.restarts.as_ref()).map(|it| self.intervals(it)).unwrap_or_default(),
            keeps_tables: own.tables.as_ref().or(all.tables.as_ref()).map(Spanned::get_ref) != Some(&TablesName::Lost),
        }
    }
}

/// The keys of a section that mean something for a switch with a program only.
pub(crate) fn keys_of_programs(section: &SwitchSection) -> impl Iterator<Item = (&'static str, Range<usize>)> {
    let timing = section.timing.as_ref().filter(|it| *it.get_ref() == TimingName::Bmv2);
    let keys = [
        ("entries", section.entries.as_ref().map(Spanned::span)),
        ("backend", section.backend.as_ref().map(Spanned::span)),
        ("tables", section.tables.as_ref().map(Spanned::span)),
        ("control_latency", section.control_latency.as_ref().map(Spanned::span)),
        ("timing = \"bmv2\"", timing.map(Spanned::span)),
        ("buffer", section.buffer.as_ref().map(Spanned::span)),
        ("pipeline", section.pipeline.as_ref().map(Spanned::span)),
        ("priorities", section.priorities.as_ref().map(Spanned::span)),
        ("cores", section.cores.as_ref().map(Spanned::span)),
        ("cost", section.cost.as_ref().map(Spanned::span)),
        ("queue_rate", section.queue_rate.as_ref().map(Spanned::span)),
        ("resubmission", section.resubmission.as_ref().map(Spanned::span)),
        ("recirculation", section.recirculation.as_ref().map(Spanned::span)),
        ("mirror", section.mirror.as_ref().map(Spanned::span)),
        ("replication", section.replication.as_ref().map(Spanned::span)),
        ("queues", section.queues.first().map(Spanned::span)),
        ("port", section.port.keys().next().map(Spanned::span)),
    ];
    keys.into_iter().filter_map(|(key, span)| Some((key, span?)))
}

/// The files of a switch's entries. `{switch}` stands for its name.
fn entries(own: &SwitchSection, all: &SwitchSection, name: &str, described: &[String]) -> Vec<String> {
    match own.entries.as_ref().or(all.entries.as_ref()) {
        Some(names) => names.get_ref().0.iter().map(|file| file.replace("{switch}", name)).collect(),
        None => described.to_vec(),
    }
}
