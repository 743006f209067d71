//! Whether servers answer, for each service that they have.
//!
//! What enters: the time, answers. What leaves: probes to send, servers that are up or not. All are up at first: a
//! controller that begins moves no flows.

use crate::config::{Config, ProbeKind, ProbeSettings};
use base::OrderedMap;
use core::net::IpAddr;
use std::time::Duration;

/// A server with a service.
#[derive(Clone, Debug)]
pub struct Target {
    /// The number of the service.
    pub service: u32,
    /// The number of the server.
    pub server: u32,
    /// How it is probed.
    pub kind: ProbeKind,
    /// The address of the service.
    pub address: IpAddr,
    /// The port of the service.
    pub port: u16,
    is_up: bool,
    /// Answers in a row that contradict `is_up`.
    contrary: u32,
    /// The number in the last probe, until it is answered.
    sent: Option<u32>,
}

/// A target that has become up, or is up no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the service.
    pub service: u32,
    /// The number of the server.
    pub server: u32,
    /// Whether it is up.
    pub is_up: bool,
}

/// All targets.
#[derive(Debug)]
pub struct Probes {
    settings: ProbeSettings,
    targets: Vec<Target>,
    index: OrderedMap<(u32, u32), usize>,
    next: Duration,
    rounds: u32,
}

impl Probes {
    /// The probes of a gateway.
    pub fn new(config: &Config) -> Probes {
        let mut targets = Vec::new();
        for service in config.services.iter().filter(|it| it.probe() != ProbeKind::None) {
            let (number, kind, address, port) = (service.number, service.probe(), service.address, service.port);
            targets.extend(service.servers.iter().map(|server| Target {
                service: number,
                server: *server,
                kind,
                address,
                port,
                is_up: true,
                contrary: 0,
                sent: None,
            }));
        }
        let index = targets.iter().enumerate().map(|(index, it)| ((it.service, it.server), index)).collect();
        Probes { settings: config.probes.clone(), targets, index, next: Duration::ZERO, rounds: 0 }
    }

    /// How many probes are sent in a second, at most.
    pub fn rate(&self) -> u32 {
        (self.targets.len() as f64 / self.settings.interval.as_secs_f64()).ceil() as u32
    }

    /// The time until all servers that do not answer are known.
    pub fn detection_time(&self) -> Duration {
        self.settings.interval * (self.settings.failures + 1)
    }

    /// When [`Probes::timer`] is to be called.
    pub fn next_timer(&self) -> Option<Duration> {
        (!self.targets.is_empty()).then_some(self.next)
    }

    /// A target by its position.
    pub fn target(&self, index: usize) -> Option<&Target> {
        self.targets.get(index)
    }

    /// Whether a server is up for a service: by its own probes, or by those for other services.
    pub fn is_up(&self, service: u32, server: u32) -> bool {
        if let Some(index) = self.index.get(&(service, server)) {
            return self.targets[*index].is_up;
        }
        let mut others = self.targets.iter().filter(|it| it.server == server).peekable();
        others.peek().is_none() || others.any(|it| it.is_up)
    }

    /// The probes that are due, by position and with a number each; and those that were not answered.
    pub fn timer(&mut self, now: Duration) -> (Vec<(usize, u32)>, Vec<Change>) {
        if now < self.next {
            return Default::default();
        }
        self.next = now + self.settings.interval;
        self.rounds = self.rounds.wrapping_add(1);
        let mut changes = Vec::new();
        for index in 0..self.targets.len() {
            if self.targets[index].sent.is_some() {
                changes.extend(self.judge(index, false));
            }
        }
        let mut probes = Vec::new();
        for (index, target) in self.targets.iter_mut().enumerate() {
            // Another one each time, and for each target.
            let number = (self.rounds.wrapping_mul(0x9E37_79B9) ^ index as u32).wrapping_mul(0x85EB_CA6B);
            // An echo has sixteen bits for it.
            let number = if target.kind == ProbeKind::Echo { number & 0xFFFF } else { number };
            target.sent = Some(number);
            probes.push((index, number));
        }
        (probes, changes)
    }

    /// A probe with this number was answered, well or with a refusal.
    pub fn answered(&mut self, index: usize, number: u32, is_well: bool) -> Option<Change> {
        let target = self.targets.get_mut(index)?;
        if target.sent != Some(number) {
            return None;
        }
        target.sent = None;
        self.judge(index, is_well)
    }

    fn judge(&mut self, index: usize, is_well: bool) -> Option<Change> {
        let target = &mut self.targets[index];
        if is_well == target.is_up {
            target.contrary = 0;
            return None;
        }
        target.contrary += 1;
        let enough = if is_well { self.settings.successes } else { self.settings.failures };
        if target.contrary < enough {
            return None;
        }
        (target.is_up, target.contrary) = (is_well, 0);
        Some(Change { service: target.service, server: target.server, is_up: is_well })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes() -> Probes {
        let mut config: Config = include_str!("../dcg.toml").parse().unwrap();
        config.services.truncate(2);
        Probes::new(&config)
    }

    /// A round in which only these targets answer.
    fn round(probes: &mut Probes, second: u64, answers: &[usize]) -> Vec<Change> {
        let (asked, mut changes) = probes.timer(Duration::from_secs(second));
        for (index, number) in asked.into_iter().filter(|(index, _)| answers.contains(index)) {
            changes.extend(probes.answered(index, number, true));
        }
        changes
    }

    #[test]
    fn a_server_is_out_after_some_failures_and_back_after_some_answers() {
        let mut it = probes();
        assert_eq!(it.detection_time(), Duration::from_secs(4));
        let changed: Vec<usize> = (0..5).map(|second| round(&mut it, second, &[0, 2, 3]).len()).collect();
        assert_eq!(changed, [0, 0, 0, 1, 0]);
        assert!(it.is_up(1, 1) && !it.is_up(1, 2) && it.is_up(2, 2));
        // Its other service answers: so it is up for those that are not probed.
        assert!(it.is_up(9, 2));
        let changes: Vec<Change> = (5..8).flat_map(|second| round(&mut it, second, &[0, 1, 2, 3])).collect();
        assert_eq!(changes, [Change { service: 1, server: 2, is_up: true }]);
    }

    #[test]
    fn late_and_forged_answers_do_not_count() {
        let mut it = probes();
        let (asked, _) = it.timer(Duration::ZERO);
        let (index, number) = asked[0];
        it.timer(Duration::from_secs(1));
        assert_eq!(it.answered(index, number, true), None);
        assert_eq!(it.targets[0].contrary, 1);
        assert_eq!(it.answered(99, number, true), None);
    }

    #[test]
    fn a_refusal_is_a_failure_at_once() {
        let mut it = probes();
        let mut out = Vec::new();
        for second in 0..3 {
            let (asked, _) = it.timer(Duration::from_secs(second));
            out.extend(it.answered(0, asked[0].1, false));
        }
        assert_eq!(out, [Change { service: 1, server: 1, is_up: false }]);
    }
}
