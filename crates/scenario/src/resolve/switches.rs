//! From the sections of switches to what runs in each.

use super::{Draft, SwitchKind, SwitchPlan};
use crate::device::SwitchSections;
use crate::topology::NodeRef;
use scenario_file::ScenarioFile;
use scenario_file::sections::{BackendName, SwitchKindName, SwitchSection, TablesName, TopologySection};
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
        (0..self.topology.switches.len())
            .map(|index| {
                let name = &self.topology.switches[index].name;
                let own = file.switch.iter().find(|(key, _)| key.get_ref() == name).map_or(&none, |(_, own)| own);
                self.switch(index, own, &file.switches, &file.topology)
            })
            .collect()
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
        if kind == SwitchKind::Router {
            self.check_router(index, own);
        }
        let (ingress_latency, egress_latency, device, unmeasured) = self.device(index, SwitchSections { own, all });
        let entries_at = own.entries.as_ref().or(all.entries.as_ref()).map(Spanned::span);
        let place = self.place(written.map(Spanned::span).or(entries_at).unwrap_or(topology.span()));
        SwitchPlan {
            kind,
            place,
            ingress_latency,
            egress_latency,
            device,
            unmeasured,
            reroute: own.reroute.or(all.reroute).map(|it| it.0),
            restarts: own.restarts.as_ref().or(all.restarts.as_ref()).map(|it| self.intervals(it)).unwrap_or_default(),
            keeps_tables: own.tables.or(all.tables) != Some(TablesName::Lost),
        }
    }
}

/// The files of a switch's entries. `{switch}` stands for its name.
fn entries(own: &SwitchSection, all: &SwitchSection, name: &str, described: &[String]) -> Vec<String> {
    match own.entries.as_ref().or(all.entries.as_ref()) {
        Some(names) => names.get_ref().0.iter().map(|file| file.replace("{switch}", name)).collect(),
        None => described.to_vec(),
    }
}
