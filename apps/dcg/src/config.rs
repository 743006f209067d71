//! The file that describes a gateway, as `dcg.toml`.
//!
//! What enters: its text. What leaves: [`Config`], whose parts fit each other; or what is wrong, with its place.

use base::OrderedSet;
use controller::address::{Mac, Network, is_link_local};
use controller::file::{check_interfaces, from_text, list_from_text, optional_from_text, parse, seconds};
use controller::neighbours::NeighbourSettings;
use controller::packet::ip;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::str::FromStr;
use std::time::Duration;

/// The numbers of networks that are no tenants: outside and underlay.
const OUTSIDE: u32 = 0;
const UNDERLAY: u32 = 0xFF_FFFF;

/// The most slots of all services: the members of the program's selector.
const SLOTS_MAX: usize = 1_048_576;

/// The most flows that keep their server: the entries of the program's table.
const FLOWS_MAX: usize = 1_048_576;

/// A gateway.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The links.
    #[serde(rename = "interface", default)]
    pub interfaces: Vec<Interface>,
    /// The machines behind tunnels.
    #[serde(rename = "end_point", default)]
    pub end_points: Vec<EndPoint>,
    /// Who has servers.
    #[serde(rename = "tenant", default)]
    pub tenants: Vec<Tenant>,
    /// Virtual machines on them.
    #[serde(rename = "server", default)]
    pub servers: Vec<Server>,
    /// What clients reach.
    #[serde(rename = "service", default)]
    pub services: Vec<Service>,
    /// How servers are asked whether they are there.
    #[serde(default)]
    pub probes: ProbeSettings,
    /// How servers leave.
    #[serde(default)]
    pub draining: DrainSettings,
    /// How next hops and end points are found.
    #[serde(default)]
    pub neighbours: NeighbourSettings,
    /// How much the controller does.
    #[serde(default)]
    pub limits: Limits,
}

/// Where a link leads to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// To clients.
    Outside,
    /// To the machines.
    Underlay,
}

/// A link, and the gateway's address there. Underlay links may share one, at which tunnels end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The port of the switch.
    pub port: u16,
    /// Where it leads to.
    pub side: Side,
    /// Its Ethernet address.
    #[serde(deserialize_with = "from_text")]
    pub mac: Mac,
    /// Its address with the network of the link.
    #[serde(deserialize_with = "from_text")]
    pub address: Network,
    /// Outside: its address of IPv6 with the network of the link.
    #[serde(default, deserialize_with = "optional_from_text")]
    pub address6: Option<Network>,
    /// The longest packet of the link.
    pub mtu: Option<u16>,
}

impl Interface {
    /// The longest packet of the link.
    pub fn mtu(&self) -> u16 {
        self.mtu.unwrap_or(if self.side == Side::Underlay { 1550 } else { 1500 })
    }
}

/// A machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndPoint {
    /// Its address, at which its tunnels end.
    pub address: Ipv4Addr,
    /// The port of its link.
    pub port: u16,
}

/// A tenant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// Its number, which is also its VNI.
    pub number: u32,
    /// The gateway's Ethernet address in its segments.
    #[serde(deserialize_with = "from_text")]
    pub mac: Mac,
    /// The gateway's address there.
    pub address: Ipv4Addr,
    /// Its address of IPv6, from which services of IPv6 are probed.
    pub address6: Option<Ipv6Addr>,
    /// What its servers may send from, besides the addresses of their services.
    #[serde(default, deserialize_with = "list_from_text")]
    pub sources: Vec<Network>,
    /// Where its packets go.
    #[serde(default)]
    pub routes: Vec<Route>,
}

/// Where packets of a tenant go.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The network.
    #[serde(deserialize_with = "from_text")]
    pub to: Network,
    /// The router outside, on the link of an interface; packets without one are dropped.
    pub via: Option<IpAddr>,
}

/// A server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its number.
    pub number: u32,
    /// Its tenant.
    pub tenant: u32,
    /// Its machine.
    pub end_point: Ipv4Addr,
    /// Its Ethernet address in the tunnel.
    #[serde(deserialize_with = "from_text")]
    pub mac: Mac,
    /// Whether it is to leave: it gets no new flows, and those that it has stay.
    #[serde(default)]
    pub drain: bool,
}

/// How a service is probed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ProbeKind {
    /// By the first segment of a connection.
    Tcp,
    /// By an echo request to its address.
    Echo,
    /// Not at all: its servers are up as long as they are for other services.
    None,
}

/// A service.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Its number.
    pub number: u32,
    /// Its address, which all its servers have.
    pub address: IpAddr,
    /// Its protocol.
    #[serde(deserialize_with = "protocol")]
    pub protocol: u8,
    /// Its port; 0 where the protocol has none.
    #[serde(default)]
    pub port: u16,
    /// The numbers of its servers.
    pub servers: Vec<u32>,
    /// How many parts its flows are divided into; a server has some of them.
    pub slots: Option<usize>,
    /// How it is probed.
    pub probe: Option<ProbeKind>,
}

impl Service {
    /// How many parts its flows are divided into.
    pub fn slots(&self) -> usize {
        self.slots.unwrap_or_else(|| 64.max(8 * self.servers.len()))
    }

    /// How it is probed.
    pub fn probe(&self) -> ProbeKind {
        self.probe.unwrap_or(if self.protocol == ip::TCP { ProbeKind::Tcp } else { ProbeKind::Echo })
    }
}

/// How servers are probed, in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProbeSettings {
    /// The time between probes, and the time for an answer.
    #[serde(deserialize_with = "seconds")]
    pub interval: Duration,
    /// The failures in a row that take a server out.
    pub failures: u32,
    /// The answers in a row that bring it back.
    pub successes: u32,
}

impl Default for ProbeSettings {
    fn default() -> ProbeSettings {
        ProbeSettings { interval: Duration::from_secs(1), failures: 3, successes: 2 }
    }
}

/// How servers leave, in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DrainSettings {
    /// For so long the flows of a server that is to leave are taken down; then its slots go to others.
    #[serde(deserialize_with = "seconds")]
    pub time: Duration,
    /// A flow that is idle for so long has ended.
    #[serde(deserialize_with = "seconds")]
    pub idle: Duration,
    /// The most flows that keep their server.
    pub flows: usize,
}

impl Default for DrainSettings {
    fn default() -> DrainSettings {
        DrainSettings { time: Duration::from_secs(60), idle: Duration::from_secs(300), flows: 100_000 }
    }
}

/// Rates, per second.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Packets to the controller, of each port and for each reason.
    pub packets: u32,
    /// ICMP messages in all.
    pub errors: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { packets: 500, errors: 100 }
    }
}

fn protocol<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.as_str() {
        "icmp" => Ok(ip::ICMP),
        "tcp" => Ok(ip::TCP),
        "udp" => Ok(ip::UDP),
        "icmpv6" => Ok(ip::ICMPV6),
        number => number.parse().map_err(|_| D::Error::custom("a protocol is tcp, udp, icmp, icmpv6 or its number")),
    }
}

impl FromStr for Config {
    type Err = String;

    fn from_str(text: &str) -> Result<Config, String> {
        let config: Config = parse(text)?;
        config.check_interfaces()?;
        config.check_tenants()?;
        config.check_servers()?;
        config.check_services()?;
        if config.draining.flows > FLOWS_MAX || config.probes.failures == 0 || config.probes.successes == 0 {
            return Err(format!("there are up to {FLOWS_MAX} draining flows, and at least 1 failure and 1 success"));
        }
        Ok(config)
    }
}

impl Tenant {
    /// The gateway's address in its network, for stations of a version of IP.
    pub fn address_for(&self, other: IpAddr) -> Option<IpAddr> {
        match other {
            IpAddr::V4(_) => Some(self.address.into()),
            IpAddr::V6(_) => self.address6.map(IpAddr::V6),
        }
    }
}

impl Config {
    /// The interface at a port.
    pub fn interface(&self, port: u16) -> Option<&Interface> {
        self.interfaces.iter().find(|it| it.port == port)
    }

    /// The tenant of this number.
    pub fn tenant(&self, number: u32) -> Option<&Tenant> {
        self.tenants.iter().find(|it| it.number == number)
    }

    /// The server of this number.
    pub fn server(&self, number: u32) -> Option<&Server> {
        self.servers.iter().find(|it| it.number == number)
    }

    /// The machine with this address.
    pub fn end_point(&self, address: Ipv4Addr) -> Option<&EndPoint> {
        self.end_points.iter().find(|it| it.address == address)
    }

    fn check_interfaces(&self) -> Result<(), String> {
        check_interfaces(self.interfaces.iter().map(|it| (it.port, &it.address)))?;
        for Interface { port, side, address6, .. } in &self.interfaces {
            let Some(address) = address6 else { continue };
            let wrong = |why: &str| Err(format!("interface {port}: {address}: {why}"));
            if *side == Side::Underlay {
                return wrong("the underlay has no IPv6");
            }
            check_address6(address.address).or_else(|why| wrong(&why))?;
        }
        let mut addresses = OrderedSet::new();
        for EndPoint { address, port } in &self.end_points {
            if self.interface(*port).is_none_or(|it| it.side != Side::Underlay) {
                return Err(format!("end point {address}: {port} is no interface of the underlay"));
            }
            if !addresses.insert(*address) {
                return Err(format!("end point {address} is given twice"));
            }
        }
        Ok(())
    }

    fn check_tenants(&self) -> Result<(), String> {
        let mut numbers = OrderedSet::new();
        for Tenant { number, address6, .. } in &self.tenants {
            if let Some(address) = address6 {
                check_address6((*address).into()).map_err(|why| format!("tenant {number}: {address}: {why}"))?;
            }
            if !(OUTSIDE + 1..UNDERLAY).contains(number) || !numbers.insert(*number) {
                return Err(format!("tenant {number}: numbers are from 1 to {}, and each is given once", UNDERLAY - 1));
            }
        }
        Ok(())
    }

    fn check_servers(&self) -> Result<(), String> {
        let mut numbers = OrderedSet::new();
        for Server { number, tenant, end_point, .. } in &self.servers {
            let wrong = |why: &str| Err(format!("server {number}: {why}"));
            if !numbers.insert(*number) {
                return wrong("the number is given twice");
            }
            if self.tenant(*tenant).is_none() {
                return wrong(&format!("there is no tenant {tenant}"));
            }
            if self.end_point(*end_point).is_none() {
                return wrong(&format!("there is no end point {end_point}"));
            }
        }
        Ok(())
    }

    fn check_services(&self) -> Result<(), String> {
        let (mut numbers, mut keys) = (OrderedSet::new(), OrderedSet::new());
        for service in &self.services {
            let Service { number, address, protocol, port, servers, .. } = service;
            let wrong = |why: &str| Err(format!("service {number}: {why}"));
            if !numbers.insert(*number) || !keys.insert((*address, *protocol, *port)) {
                return wrong("the number, or address, protocol and port, are given twice");
            }
            if servers.is_empty() || servers.len() != servers.iter().collect::<OrderedSet<_>>().len() {
                return wrong("it has at least one server, and each once");
            }
            let mut tenants = OrderedSet::new();
            for server in servers {
                match self.server(*server) {
                    Some(it) => tenants.insert(it.tenant),
                    None => return wrong(&format!("there is no server {server}")),
                };
            }
            if tenants.len() > 1 {
                return wrong("its servers belong to several tenants");
            }
            if service.slots() < servers.len() {
                return wrong("it has fewer slots than servers");
            }
            let tenant = tenants.first().and_then(|it| self.tenant(*it));
            if service.probe() != ProbeKind::None && tenant.is_some_and(|it| it.address_for(*address).is_none()) {
                return wrong(
                    "it is probed from the tenant's address6: give the tenant one, or write probe = \"none\"",
                );
            }
        }
        match self.services.iter().map(Service::slots).sum::<usize>() > SLOTS_MAX {
            true => Err(format!("there are more than {SLOTS_MAX} slots")),
            false => Ok(()),
        }
    }
}

/// Whether the gateway can have an address of IPv6.
fn check_address6(address: IpAddr) -> Result<(), String> {
    let IpAddr::V6(it) = address else { return Err("it is not of IPv6".to_owned()) };
    match it.is_unspecified() || it.is_loopback() || it.is_multicast() || is_link_local(address) {
        true => Err("no station has it, or on one link only".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../dcg.toml");

    fn wrong(from: &str, to: &str, expected: &str) {
        assert!(FILE.contains(from), "{from}");
        let why = Config::from_str(&FILE.replacen(from, to, 1)).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn the_file_of_the_readme_is_right() {
        let config: Config = FILE.parse().unwrap();
        assert_eq!((config.services[0].slots(), config.services[0].probe()), (64, ProbeKind::Tcp));
    }

    #[test]
    fn errors_have_their_place() {
        wrong("number = 2\ntenant", "number = 1\ntenant", "server 1: the number is given twice");
        wrong("servers = [1, 2]", "servers = [1, 9]", "service 1: there is no server 9");
        wrong("servers = [1, 2]", "servers = []", "service 1: it has at least one server");
        wrong("servers = [1, 2]", "servers = [1, 2]\nslots = 1", "service 1: it has fewer slots than servers");
        wrong("end_point = \"10.0.0.12\"", "end_point = \"10.0.0.13\"", "server 2: there is no end point 10.0.0.13");
        wrong("port = 4\n\n[[tenant]]", "port = 1\n\n[[tenant]]", "1 is no interface of the underlay");
        wrong("protocol = \"tcp\"", "protocol = \"sctp\"", "a protocol is tcp, udp");
        wrong("address6 = \"fd00:100::1\"\n", "", "service 3: it is probed from the tenant's address6");
        wrong("address6 = \"fd00:100::1\"", "address6 = \"fe80::1\"", "tenant 100: fe80::1: no station has it");
        wrong("address6 = \"2001:db8:2::1/64\"", "address6 = \"192.0.2.1/24\"", "interface 1: 192.0.2.1/24: it is not");
        wrong("10.0.0.1/24\"", "10.0.0.1/24\"\naddress6 = \"fd00::1/64\"", "interface 3: fd00::1/64: the underlay has");
    }
}
