//! The file that describes a gateway, as `bng.toml`.
//!
//! What enters: its text. What leaves: [`Config`], whose parts fit each other; or what is wrong, with its place.

use base::OrderedSet;
use controller::address::{Mac, Network};
use controller::file::{check_interfaces, from_text, list_from_text, parse, seconds};
use controller::neighbours::NeighbourSettings;
use controller::packet::ip;
use core::net::{IpAddr, Ipv4Addr};
use serde::Deserialize;
use std::str::FromStr;
use std::time::Duration;

/// Numbers of subscribers are less, as in the program.
pub const SUBSCRIBERS: u32 = 131_072;

/// The most entries of the tables of bindings.
pub const BINDINGS_MAX: usize = 1_048_576;

/// The most public addresses.
const ADDRESSES_MAX: u64 = 65_536;

/// A gateway.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The links.
    #[serde(rename = "interface", default)]
    pub interfaces: Vec<Interface>,
    /// The networks behind gateways.
    #[serde(rename = "route", default)]
    pub routes: Vec<Route>,
    /// The translation.
    pub nat: Nat,
    /// Who sends through tunnels.
    #[serde(rename = "subscriber", default)]
    pub subscribers: Vec<Subscriber>,
    /// How next hops are found.
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
    /// To subscribers.
    Access,
    /// To the Internet.
    Core,
}

/// A link, and the gateway's address there.
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
}

/// A network behind a gateway.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The network.
    #[serde(deserialize_with = "from_text")]
    pub to: Network,
    /// Its gateway, on the link of an interface.
    pub via: Ipv4Addr,
}

/// The translation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nat {
    /// The public addresses.
    #[serde(deserialize_with = "list_from_text")]
    pub pool: Vec<Network>,
    /// The first and the last of their ports.
    pub ports: [u16; 2],
    /// The most bindings of a subscriber.
    pub of_subscriber: u32,
    /// The most bindings.
    pub in_all: usize,
    /// How long a binding may be idle, in seconds: of TCP (RFC 5382),
    #[serde(deserialize_with = "seconds")]
    pub tcp: Duration,
    /// of UDP (RFC 4787),
    #[serde(deserialize_with = "seconds")]
    pub udp: Duration,
    /// of echoes (RFC 5508).
    #[serde(deserialize_with = "seconds")]
    pub echo: Duration,
}

impl Default for Nat {
    fn default() -> Nat {
        Nat {
            pool: Vec::new(),
            ports: [1024, 65535],
            of_subscriber: 1000,
            in_all: 500_000,
            tcp: Duration::from_secs(7440),
            udp: Duration::from_secs(300),
            echo: Duration::from_secs(60),
        }
    }
}

impl Nat {
    /// How long a binding of a protocol may be idle.
    pub fn idle(&self, protocol: u8) -> Duration {
        match protocol {
            ip::ICMP => self.echo,
            ip::TCP => self.tcp,
            _ => self.udp,
        }
    }

    /// How many public addresses there are.
    pub fn addresses(&self) -> u64 {
        self.pool.iter().map(size).sum()
    }

    /// One of them.
    pub fn address(&self, mut index: u64) -> Option<Ipv4Addr> {
        for network in &self.pool {
            if let (true, IpAddr::V4(first)) = (index < size(network), network.first().address) {
                return Some(Ipv4Addr::from_bits(first.to_bits() + index as u32));
            }
            index -= size(network);
        }
        None
    }

    /// Whether an address is one of them.
    pub fn has(&self, address: Ipv4Addr) -> bool {
        self.pool.iter().any(|network| network.contains(address.into()))
    }
}

/// The addresses of an IPv4 network.
fn size(network: &Network) -> u64 {
    1 << 32_u8.saturating_sub(network.length)
}

/// A subscriber.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscriber {
    /// Its number.
    pub number: u32,
    /// Its end of the tunnel.
    pub remote: Ipv4Addr,
    /// The gateway's end of the tunnel.
    pub local: Ipv4Addr,
    /// The tunnel's key, if it has one.
    pub key: Option<u32>,
    /// The inner addresses that it may send from.
    #[serde(deserialize_with = "from_text")]
    pub network: Network,
    /// The longest packet that the tunnel takes.
    pub mtu: Option<u16>,
    /// The rate of its uploads, in Mb/s; none for no limit.
    pub upload: Option<f64>,
    /// The rate of its downloads.
    pub download: Option<f64>,
}

impl Subscriber {
    /// The longest packet that the tunnel takes: an Ethernet frame holds it if nothing is said.
    pub fn mtu(&self) -> u16 {
        self.mtu.unwrap_or(if self.key.is_some() { 1472 } else { 1476 })
    }
}

/// Rates, per second.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Packets to the controller, of each subscriber and for each reason, and ARP answers of each station.
    pub packets: u32,
    /// Packets to the controller of all subscribers, and ARP answers of each port.
    pub in_all: u32,
    /// ICMP errors in all.
    pub errors: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { packets: 200, in_all: 4000, errors: 100 }
    }
}

impl FromStr for Config {
    type Err = String;

    fn from_str(text: &str) -> Result<Config, String> {
        let config: Config = parse(text)?;
        config.check_interfaces()?;
        config.check_nat()?;
        let (mut numbers, mut tunnels) = (OrderedSet::new(), OrderedSet::new());
        for subscriber in &config.subscribers {
            let wrong = |why: &str| format!("subscriber {}: {why}", subscriber.number);
            config.check(subscriber).map_err(|why| wrong(&why))?;
            if !numbers.insert(subscriber.number) {
                return Err(wrong("the number is given twice"));
            }
            if !tunnels.insert((subscriber.remote, subscriber.local, subscriber.key)) {
                return Err(wrong("another one has this tunnel"));
            }
        }
        Ok(config)
    }
}

impl Config {
    fn check_interfaces(&self) -> Result<(), String> {
        check_interfaces(self.interfaces.iter().map(|it| (it.port, &it.address)))?;
        for side in [Side::Access, Side::Core] {
            if !self.interfaces.iter().any(|it| it.side == side) {
                return Err(format!("there is no [[interface]] of the {} side", format!("{side:?}").to_lowercase()));
            }
        }
        match self.routes.iter().find(|route| !route.to.address.is_ipv4()) {
            Some(route) => Err(format!("the route to {} is not of IPv4", route.to)),
            None => Ok(()),
        }
    }

    fn check_nat(&self) -> Result<(), String> {
        let Nat { pool, ports, in_all, .. } = &self.nat;
        if pool.iter().any(|network| !network.address.is_ipv4()) || !(1..=ADDRESSES_MAX).contains(&self.nat.addresses())
        {
            return Err(format!("nat: a pool has from 1 to {ADDRESSES_MAX} addresses of IPv4"));
        }
        if ports[0] > ports[1] || ports[0] == 0 {
            return Err("nat: the first port is at least 1, and not after the last".to_owned());
        }
        if *in_all > BINDINGS_MAX {
            return Err(format!("nat: there may be up to {BINDINGS_MAX} bindings in all"));
        }
        Ok(())
    }

    fn check(&self, subscriber: &Subscriber) -> Result<(), String> {
        if !(1..SUBSCRIBERS).contains(&subscriber.number) {
            return Err(format!("numbers are from 1 to {}", SUBSCRIBERS - 1));
        }
        if !subscriber.network.address.is_ipv4() {
            return Err(format!("{} is not a network of IPv4", subscriber.network));
        }
        let is_local = |it: &Interface| it.address.address == IpAddr::V4(subscriber.local);
        if !self.interfaces.iter().any(|it| it.side == Side::Access && is_local(it)) {
            return Err(format!("local = \"{}\" is not the address of an access interface", subscriber.local));
        }
        let is_rate = |rate: Option<f64>| rate.is_none_or(|rate| (0.001..=1_000_000.0).contains(&rate));
        match is_rate(subscriber.upload) && is_rate(subscriber.download) {
            true => Ok(()),
            false => Err("a rate is from 0.001 to 1000000 Mb/s; without one there is no limit".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../bng.toml");

    fn wrong(from: &str, to: &str, expected: &str) {
        assert!(FILE.contains(from), "{from}");
        let why = Config::from_str(&FILE.replacen(from, to, 1)).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn the_file_of_the_readme_is_right() {
        let config: Config = FILE.parse().unwrap();
        assert_eq!((config.subscribers.len(), config.nat.addresses()), (2, 16));
        assert_eq!(config.nat.address(15), Some(Ipv4Addr::new(198, 51, 100, 15)));
        assert_eq!(config.nat.address(16), None);
    }

    #[test]
    fn errors_have_their_place() {
        wrong("number = 2", "number = 1", "subscriber 1: the number is given twice");
        wrong("number = 2", "number = 131072", "subscriber 131072: numbers are from 1 to 131071");
        wrong("local = \"10.0.2.1\"", "local = \"192.0.2.1\"", "is not the address of an access interface");
        wrong("198.51.100.0/28", "198.51.0.0/15", "nat: a pool has from 1 to 65536 addresses");
        wrong("side = \"core\"", "side = \"access\"", "there is no [[interface]] of the core side");
        wrong("upload = 10", "upload = 0", "subscriber 1: a rate is from 0.001");
        wrong("upload = 10", "uplaod = 10", "unknown field `uplaod`");
    }
}
