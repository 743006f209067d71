//! The controller of a scenario: from its section to a plan, and from the plan to nodes and links.

use crate::resolve::{Draft, SwitchKind, SwitchPlan};
use crate::topology::NodeRef;
use scenario_file::controller::{ControllerKindName, ControllerSection, LearnName};
use scenario_file::values::Names;
use scenario_file::{Place, ScenarioFault};
use sim::channel::Interval;
use sim::controller::learning::Setting;
use sim::controller::link::{ControllerEnd, join};
use sim::controller::{
    Controller, ControllerNode, Latencies, Learning, LearningConfig, LearningSource, SwitchFacts, WorkTimes,
};
use sim::network::{NetworkBuilder, NodeId};
use sim::switch_node::SwitchNode;
use sim::time::Time;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// The default latency of a message: through the network of a building and two kernels.
const LATENCY_DEFAULT: Time = Time::from_us(100);

/// The name of the node, which no host or switch has: it is not one of a topology.
pub const NODE_NAME: &str = "the controller";

/// A controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerPlan {
    /// Its switches, by their positions.
    pub switches: Vec<usize>,
    /// The port behind which it is, if not the one that programs of the architecture expect.
    pub cpu_port: Option<u32>,
    /// The latencies of messages.
    pub latencies: Latencies,
    /// What requests take in a switch.
    pub work_times: WorkTimes,
    /// What the controller needs for each packet or message.
    pub event_time: Time,
    /// When it does nothing: disjoint, in order.
    pub pauses: Vec<Interval>,
    /// What it does.
    pub kind: ControllerKind,
    /// Where the scenario has what a program may not fit.
    pub places: ControllerPlaces,
}

/// What a controller does, with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerKind {
    /// It learns addresses, and writes entries for them.
    Learning(LearningConfig),
    /// It controls programs of P4TE. The simulator does not have it: the caller makes it.
    P4te(P4tePlan),
    /// It is outside of the simulation: the caller makes what stands for it.
    Outside,
}

/// What is set of a controller of P4TE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct P4tePlan {
    /// By how many packets a queue has changed when it is reported.
    pub delta: Option<u32>,
    /// The pause after which a flow takes another path.
    pub flowlet: Option<Time>,
    /// For how many bytes a flow's rate is controlled once; 0 for never.
    pub control_window: u32,
    /// Packets in a queue from which on others are marked (ECN).
    pub mark_from: Option<u32>,
}

/// Where a scenario has the settings of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerPlaces {
    section: Place,
    cpu_port: Place,
    source: Place,
    lines: Place,
    idle: Place,
}

impl ControllerPlan {
    /// A controller outside of the simulation, to which messages take no time of the simulation.
    pub fn outside(switches: Vec<usize>) -> ControllerPlan {
        let places = ControllerPlaces {
            section: Place::Elsewhere,
            cpu_port: Place::Elsewhere,
            source: Place::Elsewhere,
            lines: Place::Elsewhere,
            idle: Place::Elsewhere,
        };
        ControllerPlan {
            switches,
            cpu_port: None,
            latencies: Latencies { to_controller: Time::ZERO, to_switch: Time::ZERO },
            work_times: WorkTimes::default(),
            event_time: Time::ZERO,
            pauses: Vec::new(),
            kind: ControllerKind::Outside,
            places,
        }
    }

    /// What is wrong with the controller as a whole.
    pub fn fault(&self, message: String) -> ScenarioFault {
        ScenarioFault { place: self.places.section.clone(), message }
    }
}

impl Draft<'_> {
    /// The plan of the controller, if there is one.
    pub(super) fn controller(
        &mut self,
        section: Option<&Spanned<ControllerSection>>,
        switches: &[SwitchPlan],
    ) -> Option<ControllerPlan> {
        let spanned = section?;
        let section = spanned.get_ref();
        let controlled = self.controlled(spanned, switches);
        self.refuse_keys_of_other_kinds(section);
        let (kind, source_span) = match section.kind {
            ControllerKindName::Learning => {
                let (learning, source_span) = self.learning(spanned);
                (ControllerKind::Learning(learning), source_span)
            }
            ControllerKindName::P4te => (ControllerKind::P4te(p4te_plan(section)), None),
        };
        let place = |span: Option<Range<usize>>| self.place(span.unwrap_or(spanned.span()));
        let places = ControllerPlaces {
            section: place(None),
            cpu_port: place(section.cpu_port.as_ref().map(Spanned::span)),
            source: place(source_span),
            lines: place(section.write.as_ref().map(Spanned::span)),
            idle: place(section.idle.as_ref().map(Spanned::span)),
        };
        Some(ControllerPlan {
            switches: controlled,
            cpu_port: section.cpu_port.as_ref().map(|it| *it.get_ref()),
            latencies: Latencies {
                to_controller: section.to_controller.map_or(LATENCY_DEFAULT, |it| it.0),
                to_switch: section.to_switch.map_or(LATENCY_DEFAULT, |it| it.0),
            },
            work_times: WorkTimes {
                write: section.write_time.map_or(Time::ZERO, |it| it.0),
                read: section.read_time.map_or(Time::ZERO, |it| it.0),
            },
            event_time: section.event_time.map_or(Time::ZERO, |it| it.0),
            pauses: section.pauses.as_ref().map(|it| self.intervals(it)).unwrap_or_default(),
            kind,
            places,
        })
    }

    /// What a learning controller learns, and where its source is set.
    fn learning(&mut self, spanned: &Spanned<ControllerSection>) -> (LearningConfig, Option<Range<usize>>) {
        let (source, source_span) = self.learning_source(spanned);
        let lines = self.lines(spanned);
        let idle_timeout_ns = spanned.get_ref().idle.as_ref().map_or(0, |it| it.get_ref().0.ns());
        (LearningConfig { source, lines, idle_timeout_ns }, source_span)
    }

    fn refuse_keys_of_other_kinds(&mut self, section: &ControllerSection) {
        for (kind, key, span) in keys_of_kinds(section) {
            if kind != section.kind
                && let Some(span) = span
            {
                self.fault_once(span, format!("`{key}` is for a controller of kind \"{}\"", kind.name()));
            }
        }
        if section.delta.as_ref().is_some_and(|delta| *delta.get_ref() == 0) {
            let span = section.delta.as_ref().map_or(0..0, Spanned::span);
            self.fault_once(span, "a queue is reported when it has changed by at least 1 packet");
        }
    }

    /// The switches that it has: those that it names, or all that run a program.
    fn controlled(&mut self, section: &Spanned<ControllerSection>, switches: &[SwitchPlan]) -> Vec<usize> {
        let runs_program = |index: &usize| switches[*index].kind != SwitchKind::Router;
        let Some(names) = &section.get_ref().switches else {
            let all: Vec<usize> = (0..switches.len()).filter(runs_program).collect();
            if all.is_empty() {
                let message = "no switch has a program: a controller has switches with programs, as in [switches] \
                               program = \"FILE.p4\"";
                self.fault_once(section.span(), message);
            }
            return all;
        };
        let mut controlled = Vec::new();
        for name in &names.get_ref().0 {
            match self.topology.find(name) {
                Some(NodeRef::Switch(index)) if !runs_program(&index) => {
                    self.fault_once(names.span(), format!("switch {name} is a router, which has no controller"));
                }
                Some(NodeRef::Switch(index)) if controlled.contains(&index) => {
                    self.fault_once(names.span(), format!("switch {name} is named twice"));
                }
                Some(NodeRef::Switch(index)) => controlled.push(index),
                _ => self.fault_once(names.span(), format!("there is no switch `{name}`; {}", self.known_switches())),
            }
        }
        if names.get_ref().0.is_empty() {
            self.fault_once(names.span(), "a controller has at least one switch");
        }
        controlled
    }

    /// What reports addresses, and where the scenario sets it.
    fn learning_source(&mut self, spanned: &Spanned<ControllerSection>) -> (LearningSource, Option<Range<usize>>) {
        let section = spanned.get_ref();
        let text = |it: &Option<Spanned<String>>| it.as_ref().map(|it| it.get_ref().clone());
        let span = |it: &Option<Spanned<String>>| it.as_ref().map(Spanned::span);
        let learn = section.learn.as_ref().map_or(LearnName::Digest, |it| *it.get_ref());
        let wrong: &[(&str, &Option<Spanned<String>>)] = match learn {
            LearnName::Digest => &[("packet_in", &section.packet_in), ("packet_out", &section.packet_out)],
            LearnName::PacketIn => &[("digest", &section.digest)],
        };
        let other = if learn == LearnName::Digest { "packet-in" } else { "digest" };
        for (key, at) in wrong.iter().filter_map(|(key, it)| Some((key, span(it)?))) {
            self.fault_once(at, format!("`{key}` is for a controller with learn = \"{other}\""));
        }
        match learn {
            LearnName::Digest => (LearningSource::Digest(text(&section.digest)), span(&section.digest)),
            LearnName::PacketIn => {
                let at = span(&section.packet_in).or_else(|| section.learn.as_ref().map(Spanned::span));
                let header_in = text(&section.packet_in).unwrap_or_else(|| {
                    let message = "name the type of the header before packets for the controller, as in packet_in = \
                                   \"packet_in_t\"";
                    self.fault_once(at.clone().unwrap_or(spanned.span()), message);
                    String::new()
                });
                (LearningSource::Packets { header_in, header_out: text(&section.packet_out) }, at)
            }
        }
    }

    fn lines(&mut self, spanned: &Spanned<ControllerSection>) -> Vec<String> {
        let lines = spanned.get_ref().write.as_ref();
        let is_good = |lines: &&Spanned<Names>| lines.get_ref().0.iter().any(|line| line.contains("{mac}"));
        if lines.is_none_or(|lines| !is_good(&lines)) {
            let message = "a learning controller has lines that it writes for an address, as in write = [\"table_add dmac \
                           forward {mac} => {port}\"]";
            self.fault_once(lines.map_or(spanned.span(), Spanned::span), message);
        }
        lines.map(|it| it.get_ref().0.clone()).unwrap_or_default()
    }
}

/// The keys that only controllers of one kind have, and where they are if they are set.
fn keys_of_kinds(section: &ControllerSection) -> [(ControllerKindName, &'static str, Option<Range<usize>>); 10] {
    fn span<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
        value.as_ref().map(Spanned::span)
    }
    let learning = |key, span| (ControllerKindName::Learning, key, span);
    let p4te = |key, span| (ControllerKindName::P4te, key, span);
    [
        learning("learn", span(&section.learn)),
        learning("digest", span(&section.digest)),
        learning("packet_in", span(&section.packet_in)),
        learning("packet_out", span(&section.packet_out)),
        learning("write", span(&section.write)),
        learning("idle", span(&section.idle)),
        p4te("delta", span(&section.delta)),
        p4te("flowlet", span(&section.flowlet)),
        p4te("control_window", span(&section.control_window)),
        p4te("mark_from", span(&section.mark_from)),
    ]
}

fn p4te_plan(section: &ControllerSection) -> P4tePlan {
    P4tePlan {
        delta: section.delta.as_ref().map(|it| *it.get_ref()),
        flowlet: section.flowlet.as_ref().map(|it| it.get_ref().0),
        control_window: section.control_window.as_ref().map_or(0, |it| *it.get_ref()),
        mark_from: section.mark_from.as_ref().map(|it| *it.get_ref()),
    }
}

/// Makes the controller of a plan, for these switches.
pub type ControllerMaker<'a> =
    &'a mut dyn FnMut(&ControllerPlan, &[SwitchFacts]) -> Result<Box<dyn Controller>, ScenarioFault>;

/// The controller that the plan describes, if the simulator has it.
pub fn built_in(plan: &ControllerPlan, switches: &[SwitchFacts]) -> Result<Box<dyn Controller>, ScenarioFault> {
    let ControllerKind::Learning(config) = &plan.kind else {
        return Err(plan.fault("the simulator alone has only controllers of kind \"learning\"".to_owned()));
    };
    let learning = Learning::new(config.clone(), switches).map_err(|(setting, message)| {
        let place = match setting {
            Setting::Source => &plan.places.source,
            Setting::Lines => &plan.places.lines,
            Setting::Idle => &plan.places.idle,
        };
        ScenarioFault { place: place.clone(), message }
    })?;
    Ok(Box::new(learning))
}

/// A switch that gets a controller.
pub(super) struct Controlled<'a> {
    pub(super) id: NodeId,
    pub(super) name: &'a str,
    pub(super) node: &'a mut SwitchNode,
    /// The numbers of its ports.
    pub(super) ports: Vec<u32>,
}

/// Joins the controller of a plan with its switches.
pub(super) fn attach(
    builder: &mut NetworkBuilder,
    plan: &ControllerPlan,
    switches: Vec<Controlled<'_>>,
    make: ControllerMaker<'_>,
) -> Result<NodeId, ScenarioFault> {
    let id = builder.add(NODE_NAME);
    let (mut ends, mut facts): (Vec<ControllerEnd>, Vec<SwitchFacts>) = (Vec::new(), Vec::new());
    for Controlled { id: switch, name, node, ports } in switches {
        let program = Arc::clone(node.core().program());
        let architecture = program.architecture;
        let cpu_port = plan.cpu_port.unwrap_or(architecture.cpu_port);
        let refuse = |message: String| ScenarioFault { place: plan.places.cpu_port.clone(), message };
        if ports.contains(&cpu_port) {
            return Err(refuse(format!(
                "switch {name}: port {cpu_port} has a link, so no controller can be behind it"
            )));
        }
        if plan.cpu_port.is_some() && cpu_port > architecture.port_max {
            let most = architecture.port_max;
            return Err(refuse(format!("switch {name}: ports of {} are at most {most}", architecture.name)));
        }
        let (end, of_switch) = join(builder, id, switch, plan.latencies);
        node.attach(of_switch, cpu_port, plan.work_times);
        ends.push(end);
        facts.push(SwitchFacts { name: name.to_owned(), program, ports, cpu_port });
    }
    let controller = make(plan, &facts)?;
    builder.place(id, Box::new(ControllerNode::new(controller, ends, plan.event_time, plan.pauses.clone())));
    Ok(id)
}
