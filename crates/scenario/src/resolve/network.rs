//! From the section of the topology to hosts, switches and links: those of a file, or generated ones.

use super::{ReadFile, read_text};
use crate::topology::generate::LinkKind;
use crate::topology::{Shape, Topology};
use scenario_file::sections::{TopologyKind, TopologySection};
use scenario_file::{Place, ScenarioFault, Sources};
use std::ops::Range;
use toml::Spanned;

/// The most links: each takes about a kilobyte.
const LINKS_MAX: usize = 1 << 20;
/// The most hosts times switches: each switch has a route to each host.
pub(super) const ROUTES_MAX: usize = 1 << 28;

/// The topology that a section names or describes, if it fits into memory; all faults.
pub(super) fn topology(
    sources: &Sources,
    section: &Spanned<TopologySection>,
    read: ReadFile<'_>,
) -> Result<Topology, Vec<ScenarioFault>> {
    let topology = described(sources, section, read)?;
    let (hosts, switches, links) = (topology.hosts.len(), topology.switches.len(), topology.links.len());
    if hosts.saturating_mul(switches) > ROUTES_MAX || links > LINKS_MAX {
        let message = format!(
            "a network of {hosts} hosts, {switches} switches and {links} links is too large: there are at most {LINKS_MAX} \
             links, and {ROUTES_MAX} routes of switches to hosts"
        );
        return Err(vec![sources.fault(Some(section.span()), message)]);
    }
    Ok(topology)
}

fn described(
    sources: &Sources,
    section: &Spanned<TopologySection>,
    read: ReadFile<'_>,
) -> Result<Topology, Vec<ScenarioFault>> {
    let fault = |span: Range<usize>, message: String| vec![sources.fault(Some(span), message)];
    let topology = section.get_ref();
    match (&topology.file, &topology.kind) {
        (Some(file), None) => {
            if let Some(key) = generator_keys(topology).into_iter().find(|(_, value, _)| value.is_some()) {
                let message = format!("a topology from a file has no `{}`: the file sets it, or [links]", key.0);
                return Err(fault(section.span(), message));
            }
            let text = read_text(read, file.get_ref()).map_err(|message| fault(file.span(), message))?;
            let described = crate::topology::file::parse(&text).map_err(|faults| {
                let shown = |it: &net::located::Fault| ScenarioFault {
                    place: Place::File,
                    message: format!("{}:{}: {}", file.get_ref(), it.line, it.message),
                };
                faults.iter().map(shown).collect::<Vec<_>>()
            })?;
            Ok(Topology { file: Some(file.get_ref().clone()), ..described })
        }
        (None, Some(kind)) => {
            let shape = shape(topology, kind).map_err(|(span, message)| fault(span, message))?;
            let near = LinkKind { bits_per_s: topology.rate.map(|it| it.0), delay: topology.delay.map(|it| it.0) };
            let far = LinkKind {
                bits_per_s: topology.core_rate.or(topology.rate).map(|it| it.0),
                delay: topology.core_delay.or(topology.delay).map(|it| it.0),
            };
            shape.generate(near, far).map_err(|error| fault(culprit(topology, kind), error.to_string()))
        }
        _ => Err(fault(section.span(), "a topology has either a `file` or a `kind`".to_owned())),
    }
}

/// A key of a generator, its value, and where that is.
type GeneratorKey = (&'static str, Option<u64>, Option<Range<usize>>);

/// The numbers of generators.
fn generator_keys(topology: &TopologySection) -> [GeneratorKey; 11] {
    let number = |name: &'static str, value: &Option<Spanned<u32>>| {
        (name, value.as_ref().map(|it| u64::from(*it.get_ref())), value.as_ref().map(Spanned::span))
    };
    [
        number("pairs", &topology.pairs),
        number("hosts", &topology.hosts),
        number("switches", &topology.switches),
        number("hosts_per_switch", &topology.hosts_per_switch),
        number("leaves", &topology.leaves),
        number("spines", &topology.spines),
        number("hosts_per_leaf", &topology.hosts_per_leaf),
        number("k", &topology.k),
        ("rate", topology.rate.map(|it| it.0), None),
        ("core_rate", topology.core_rate.map(|it| it.0), None),
        ("delay", topology.delay.or(topology.core_delay).map(|it| it.0.ps()), None),
    ]
}

/// The number for which there is no such network: one that is 0, or the first.
fn culprit(topology: &TopologySection, kind: &Spanned<TopologyKind>) -> Range<usize> {
    let given = generator_keys(topology).into_iter().filter_map(|(_, value, span)| Some((value?, span?)));
    given.min_by_key(|(value, _)| *value > 0).map_or(kind.span(), |(_, span)| span)
}

/// The shape with its numbers: none missing, none for another shape.
fn shape(topology: &TopologySection, kind: &Spanned<TopologyKind>) -> Result<Shape, (Range<usize>, String)> {
    let (name, keys): (&str, &[&str]) = match kind.get_ref() {
        TopologyKind::Dumbbell => ("dumbbell", &["pairs"]),
        TopologyKind::Star => ("star", &["hosts"]),
        TopologyKind::Chain => ("chain", &["switches", "hosts_per_switch"]),
        TopologyKind::LeafSpine => ("leaf-spine", &["leaves", "spines", "hosts_per_leaf"]),
        TopologyKind::FatTree => ("fat-tree", &["k"]),
    };
    let given = generator_keys(topology);
    for (key, _, span) in &given {
        if let Some(span) = span.as_ref().filter(|_| !keys.contains(key)) {
            return Err((span.clone(), format!("a {name} has no `{key}`; it has {}", keys.join(", "))));
        }
    }
    let value = |required: &str| {
        let value = given.iter().find(|(key, ..)| *key == required).and_then(|(_, value, _)| *value);
        let missing = || (kind.span(), format!("a {name} has {}: `{required}` is missing", keys.join(", ")));
        value.map(|value| value as u32).ok_or_else(missing)
    };
    Ok(match kind.get_ref() {
        TopologyKind::Dumbbell => Shape::Dumbbell { pairs: value("pairs")? },
        TopologyKind::Star => Shape::Star { hosts: value("hosts")? },
        TopologyKind::Chain => {
            Shape::Chain { switches: value("switches")?, hosts_per_switch: value("hosts_per_switch")? }
        }
        TopologyKind::LeafSpine => Shape::LeafSpine {
            leaves: value("leaves")?,
            spines: value("spines")?,
            hosts_per_leaf: value("hosts_per_leaf")?,
        },
        TopologyKind::FatTree => Shape::FatTree { k: value("k")? },
    })
}
