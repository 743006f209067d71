//! From the sections of links to their channels, with the latencies of the switches at their ends.

use super::{Draft, SwitchPlan};
use crate::topology::NodeRef;
use scenario_file::ScenarioFile;
use scenario_file::sections::LinkSection;
use scenario_file::values::Probability;
use sim::channel::ChannelConfig;
use sim::random::Chance;
use sim::time::Time;

/// The default rate of links.
const RATE_DEFAULT: u64 = 10_000_000_000;
/// Their propagation delay.
const DELAY_DEFAULT: Time = Time::from_us(1);

impl Draft<'_> {
    /// For each link the channel from its first end to its second, and the one back.
    pub(super) fn channels(&mut self, file: &ScenarioFile, switches: &[SwitchPlan]) -> Vec<[ChannelConfig; 2]> {
        self.check_link_names(file);
        let topology = self.topology;
        let latency = |node: NodeRef, latency: fn(&SwitchPlan) -> Time| match node {
            NodeRef::Host(_) => Time::ZERO,
            NodeRef::Switch(index) => latency(&switches[index]),
        };
        let mut channels = Vec::new();
        for link in &topology.links {
            let config = |this: &mut Self, from: usize| {
                let ends = [link.ends[from].0, link.ends[1 - from].0];
                let names = ends.map(|end| topology.name(end));
                let mut config = this.channel(file, names, link.bits_per_s, link.delay);
                config.delay += latency(ends[0], |plan| plan.egress_latency);
                config.delay += latency(ends[1], |plan| plan.ingress_latency);
                config
            };
            channels.push([config(self, 0), config(self, 1)]);
        }
        channels
    }

    /// Every name of a link names one.
    fn check_link_names(&mut self, file: &ScenarioFile) {
        for name in file.link.keys() {
            let is_known = self.topology.links.iter().any(|link| {
                let [a, b] = link.ends.map(|(end, _)| self.topology.name(end));
                is_name_of(name.get_ref(), [a, b]) || is_name_of(name.get_ref(), [b, a])
            });
            if !is_known {
                let example = self.topology.links.first().map(|link| {
                    let [a, b] = link.ends.map(|(end, _)| self.topology.name(end));
                    format!(", such as \"{a}-{b}\", or \"{a}>{b}\" for one direction")
                });
                let message =
                    format!("there is no link `{}`: write its ends{}", name.get_ref(), example.unwrap_or_default());
                self.fault(name.span(), message);
            }
        }
    }

    /// The channel between nodes of these names.
    fn channel(
        &mut self,
        file: &ScenarioFile,
        ends: [&str; 2],
        rate: Option<u64>,
        delay: Option<Time>,
    ) -> ChannelConfig {
        let mut config = ChannelConfig { bits_per_s: RATE_DEFAULT, delay: DELAY_DEFAULT, ..ChannelConfig::default() };
        self.apply(&file.links, &mut config);
        config.bits_per_s = rate.unwrap_or(config.bits_per_s);
        config.delay = delay.unwrap_or(config.delay);
        // The settings of one direction have precedence over those of the link.
        for is_direction in [false, true] {
            for (name, section) in &file.link {
                let name = name.get_ref();
                if name.contains('>') == is_direction && is_name_of(name, ends) {
                    self.apply(section, &mut config);
                }
            }
        }
        config
    }

    fn apply(&mut self, section: &LinkSection, config: &mut ChannelConfig) {
        fn set<T: Clone>(value: &Option<T>, place: &mut T) {
            if let Some(value) = value {
                *place = value.clone();
            }
        }
        let chance = |it: Option<Probability>| it.and_then(|it| Chance::new(it.0));
        set(&section.rate.map(|it| it.0), &mut config.bits_per_s);
        set(&section.delay.map(|it| it.0), &mut config.delay);
        set(&section.overhead, &mut config.overhead_bytes);
        set(&section.queue_packets, &mut config.queue_packets);
        set(&section.queue_bytes, &mut config.queue_bytes);
        set(&section.ecn_packets, &mut config.ecn_packets);
        set(&section.ecn_bytes, &mut config.ecn_bytes);
        set(&section.mtu, &mut config.mtu);
        set(&chance(section.loss), &mut config.loss);
        set(&chance(section.corruption), &mut config.corruption);
        set(&chance(section.duplication), &mut config.duplication);
        set(&section.jitter.map(|it| it.0), &mut config.jitter);
        set(&chance(section.reordering), &mut config.reordering);
        set(&section.reordering_delay.map(|it| it.0), &mut config.reordering_delay);
        if let Some(down) = &section.down {
            config.down = self.intervals(down);
        }
    }
}

/// Whether `A-B`, `B-A` or `A>B` names the channel from the first of two nodes to the second.
fn is_name_of(name: &str, [from, to]: [&str; 2]) -> bool {
    let is = |a: &str, separator: char, b: &str| {
        name.strip_prefix(a).and_then(|rest| rest.strip_prefix(separator)).is_some_and(|rest| rest == b)
    };
    is(from, '-', to) || is(to, '-', from) || is(from, '>', to)
}
