//! Where addresses live.
//!
//! What enters: digests with a source, its VLAN and its port; entries that have become idle. What leaves: an entry of
//! `source_known` and one of `destination` for each address. The first has an idle timeout; both go when it has passed.
//! The number of addresses, and of those of one port, is bounded, so a station that makes up addresses fills neither
//! tables nor memory: its further frames are flooded.

use crate::vlans::Vlans;
use base::{OrderedMap, OrderedSet};
use control::Problem;
use controller::{Entry, Fields, Logic, Orders};
use std::time::Duration;

/// Marks the entries of `destination` that were learned: all others are those of the operator.
const LEARNED: &[u8] = &[1];

/// How often it is reported that a port has too many addresses.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// What is learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The time without a frame after which an address is forgotten.
    pub age: Duration,
    /// The most addresses.
    pub addresses_max: usize,
    /// The most addresses of a port.
    pub of_port_max: usize,
    /// Whether each address that is learned, moves or is forgotten is reported.
    pub is_verbose: bool,
}

/// An address in a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Station {
    mac: u64,
    vlan: u16,
}

impl std::fmt::Display for Station {
    /// As the keys of both tables.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.mac.to_be_bytes();
        let mac: Vec<String> = bytes[2..].iter().map(|byte| format!("{byte:02x}")).collect();
        write!(f, "{} {}", mac.join(":"), self.vlan)
    }
}

/// A controller that learns where addresses live.
#[derive(Debug)]
pub struct Learning {
    settings: Settings,
    vlans: Vlans,
    /// The ports of learned addresses.
    ports: OrderedMap<Station, u16>,
    /// How many each port has.
    counts: OrderedMap<u16, usize>,
    /// Those whose entries the operator has made.
    fixed: OrderedSet<Station>,
    /// When the user last saw that a port has too many.
    last_report: Option<Duration>,
}

impl Learning {
    /// Knows no address yet.
    pub fn new(settings: Settings, vlans: Vlans) -> Learning {
        let (ports, counts, fixed) = Default::default();
        Learning { settings, vlans, ports, counts, fixed, last_report: None }
    }

    /// How many addresses it has learned.
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether it has learned none.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    fn set(&mut self, station: Station, port: u16) -> Option<u16> {
        let before = self.forget(station);
        self.ports.insert(station, port);
        *self.counts.entry(port).or_default() += 1;
        before
    }

    fn forget(&mut self, station: Station) -> Option<u16> {
        let port = self.ports.remove(&station)?;
        if let Some(count) = self.counts.get_mut(&port) {
            *count -= 1;
        }
        Some(port)
    }

    /// Why a further address of this port is not learned.
    fn excess(&self, port: u16) -> Option<String> {
        let Settings { addresses_max, of_port_max, .. } = self.settings;
        if self.ports.len() >= addresses_max {
            return Some(format!("{addresses_max} addresses are known"));
        }
        let count = self.counts.get(&port).copied().unwrap_or(0);
        (count >= of_port_max).then(|| format!("port {port} has {of_port_max} addresses"))
    }

    fn learn(&mut self, now: Duration, station: Station, port: u16, orders: &mut Orders) {
        if self.fixed.contains(&station) {
            return;
        }
        let known = self.ports.get(&station).copied();
        if known.is_none_or(|known| known != port)
            && let Some(why) = self.excess(port)
        {
            if self.last_report.is_none_or(|last_report| now.saturating_sub(last_report) >= REPORT_INTERVAL) {
                self.last_report = Some(now);
                orders.note(format!("{why}: further ones are not learned, and their frames are flooded"));
            }
            return;
        }
        // Known at this port, and reported all the same: the entries are written again.
        let before = self.set(station, port).filter(|before| *before != port);
        let age_ms = self.settings.age.as_millis();
        let learned: String = LEARNED.iter().map(|byte| format!("{byte:02x}")).collect();
        orders.command(format!("add source_known {station} {port} do NoAction timeout {age_ms}ms"));
        orders.command(format!("add destination {station} do forward {port} metadata {learned}"));
        if let Some(before) = before {
            orders.command(format!("delete source_known {station} {before}"));
        }
        if self.settings.is_verbose {
            match before {
                Some(before) => orders.note(format!("{station} has moved from port {before} to port {port}")),
                None => orders.note(format!("{station} is at port {port}")),
            }
        }
    }

    /// Takes in the entries of a switch: those learned by a controller before, and those of the operator.
    fn take_in(&mut self, entries: &[Entry], orders: &mut Orders) {
        self.ports.clear();
        self.counts.clear();
        self.fixed.clear();
        let of_table = |name: &'static str| entries.iter().filter(move |entry| entry.table.ends_with(name));
        for entry in of_table(".source_known").filter(|entry| entry.has_timeout) {
            if let Some((station, port)) = station(&entry.keys, "source").zip(port(&entry.keys, "ingress_port")) {
                self.set(station, port);
            }
        }
        for entry in of_table(".destination") {
            let Some(station) = station(&entry.keys, "destination") else { continue };
            if entry.metadata != LEARNED {
                self.fixed.insert(station);
                self.forget(station);
            } else if self.ports.get(&station).copied() != port(&entry.arguments, "port") {
                // Without the entry that ages, it would stay for ever.
                orders.command(format!("delete destination {station}"));
                if let Some(port) = self.forget(station) {
                    orders.command(format!("delete source_known {station} {port}"));
                }
            }
        }
    }
}

impl Logic for Learning {
    fn tables(&self) -> Vec<&'static str> {
        vec!["source_known", "destination", "classify", "flooding", "tagged"]
    }

    fn joined(&mut self, _now: Duration, entries: &[Entry], orders: &mut Orders) -> Result<(), Problem> {
        self.vlans.set_up(entries, orders);
        self.take_in(entries, orders);
        // A list waits for at most 10 ms, and what was not acknowledged is reported again after a second.
        orders.command("digests learn_t on timeout 10ms size 100 ack 1s");
        orders.command("default source_known do learn");
        Ok(())
    }

    fn digest(&mut self, now: Duration, _name: &str, fields: &Fields, orders: &mut Orders) {
        if let Some((station, port)) = station(fields, "source").zip(port(fields, "port")) {
            self.learn(now, station, port, orders);
        }
    }

    fn idle(&mut self, _now: Duration, entry: &Entry, orders: &mut Orders) {
        let Some((station, port)) = station(&entry.keys, "source").zip(port(&entry.keys, "ingress_port")) else {
            return;
        };
        if self.ports.get(&station) != Some(&port) {
            return;
        }
        self.forget(station);
        orders.command(format!("delete destination {station}"));
        orders.command(format!("delete source_known {station} {port}"));
        if self.settings.is_verbose {
            orders.note(format!("{station} is forgotten: no frame for {} s", self.settings.age.as_secs_f64()));
        }
    }
}

fn station(fields: &Fields, address: &str) -> Option<Station> {
    let mac = u64::try_from(fields.get(address)?).ok()?;
    Some(Station { mac, vlan: u16::try_from(fields.get("vlan")?).ok()? })
}

fn port(fields: &Fields, name: &str) -> Option<u16> {
    fields.get(name).and_then(|port| u16::try_from(port).ok())
}

#[cfg(test)]
mod tests;
