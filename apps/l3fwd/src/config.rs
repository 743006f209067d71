//! The file that describes a router, as `router.toml`.
//!
//! What enters: its text. What leaves: [`Config`], whose parts fit each other; or what is wrong, with its place.

use base::OrderedSet;
use controller::address::{Mac, Network, is_link_local};
use controller::file::{PORT_MAX, from_text, list_from_text, parse};
use controller::neighbours::NeighbourSettings;
use core::net::IpAddr;
use serde::Deserialize;
use std::str::FromStr;

/// The most interfaces.
pub const INTERFACES_MAX: usize = 256;
/// The most gateways.
pub const GATEWAYS_MAX: usize = 60_000;
/// The most groups of gateways.
pub const GROUPS_MAX: usize = 16_000;

/// A router.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The links.
    #[serde(rename = "interface", default)]
    pub interfaces: Vec<Interface>,
    /// What is behind them.
    #[serde(rename = "route", default)]
    pub routes: Vec<Route>,
    /// How neighbours are found.
    #[serde(default)]
    pub neighbours: NeighbourSettings,
    /// How much the controller does.
    #[serde(default)]
    pub limits: Limits,
}

/// A link, and the router's addresses there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The port of the switch.
    pub port: u16,
    /// Its Ethernet address.
    #[serde(deserialize_with = "from_text")]
    pub mac: Mac,
    /// Its addresses with the networks of the link.
    #[serde(deserialize_with = "list_from_text")]
    pub addresses: Vec<Network>,
}

/// A network behind gateways.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The network.
    #[serde(deserialize_with = "from_text")]
    pub to: Network,
    /// Its gateways; flows divide among them.
    #[serde(default, deserialize_with = "list_from_text")]
    pub via: Vec<Gateway>,
    /// Whether packets to it are dropped without an ICMP error.
    #[serde(default)]
    pub discard: bool,
}

/// The address of a gateway, with its port where that does not follow from the address: `fe80::1%2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gateway {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: Option<u16>,
}

impl FromStr for Gateway {
    type Err = String;

    fn from_str(text: &str) -> Result<Gateway, String> {
        let (address, port) = text.split_once('%').map_or((text, None), |(address, port)| (address, Some(port)));
        let port = port.map(str::parse).transpose().map_err(|_| format!("{text}: what follows % is a port"))?;
        let address = address.parse().map_err(|_| format!("{text} is not an address, as 10.0.2.9 or fe80::1%2"))?;
        if is_link_local(address) && port.is_none() {
            return Err(format!("{text} may be on any link: write {text}%PORT"));
        }
        Ok(Gateway { address, port })
    }
}

/// Rates, per second.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Packets to the controller, of each port and for each reason.
    pub packets: u32,
    /// ICMP errors in all.
    pub errors: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { packets: 500, errors: 100 }
    }
}

impl FromStr for Config {
    type Err = String;

    fn from_str(text: &str) -> Result<Config, String> {
        let config: Config = parse(text)?;
        config.check_interfaces()?;
        for route in &config.routes {
            config.check_route(route).map_err(|why| format!("the route to {}: {why}", route.to))?;
        }
        Ok(config)
    }
}

impl Config {
    fn check_interfaces(&self) -> Result<(), String> {
        if self.interfaces.is_empty() || self.interfaces.len() > INTERFACES_MAX {
            return Err(format!("a router has from 1 to {INTERFACES_MAX} interfaces: write [[interface]] for each"));
        }
        let (mut ports, mut addresses) = (OrderedSet::new(), OrderedSet::new());
        for Interface { port, addresses: own, .. } in &self.interfaces {
            if *port > PORT_MAX {
                return Err(format!("interface {port}: a port is from 0 to {PORT_MAX}"));
            }
            if !ports.insert(*port) {
                return Err(format!("interface {port} is given twice"));
            }
            for own in own {
                let wrong = |why: &str| Err(format!("interface {port}: {own} {why}"));
                if own.address.is_multicast() || own.address.is_unspecified() || own.address.is_loopback() {
                    return wrong("is not the address of one station");
                }
                if is_link_local(own.address) {
                    return wrong("is not needed: the link-local address follows from the Ethernet address");
                }
                if own.reserved().contains(&own.address) {
                    return wrong("is the first or last address of its network, which no station has");
                }
                if !addresses.insert(own.address) {
                    return wrong("is the address of another interface");
                }
            }
        }
        Ok(())
    }

    fn check_route(&self, route: &Route) -> Result<(), String> {
        if route.discard != route.via.is_empty() {
            return Err("it has either gateways (via) or discard = true".to_owned());
        }
        for gateway in &route.via {
            if gateway.address.is_ipv4() != route.to.address.is_ipv4() {
                return Err(format!("the gateway {} is of the other version of IP", gateway.address));
            }
            let port = self
                .port_of(*gateway)
                .ok_or_else(|| format!("no interface has the network of the gateway {}", gateway.address))?;
            if self.is_own(gateway.address) {
                return Err(format!("the gateway {} is the router itself, at port {port}", gateway.address));
            }
        }
        Ok(())
    }

    /// The port behind which a gateway is.
    pub fn port_of(&self, gateway: Gateway) -> Option<u16> {
        match gateway.port {
            Some(port) => self.interface(port).map(|it| it.port),
            None => self.link_of(gateway.address).map(|it| it.port),
        }
    }

    /// The interface at a port.
    pub fn interface(&self, port: u16) -> Option<&Interface> {
        self.interfaces.iter().find(|it| it.port == port)
    }

    /// The interface whose link has an address: that with the longest prefix.
    pub fn link_of(&self, address: IpAddr) -> Option<&Interface> {
        let length = |it: &Interface| {
            it.addresses.iter().filter(|network| network.contains(address)).map(|network| network.length).max()
        };
        self.interfaces.iter().filter(|it| length(it).is_some()).max_by_key(|it| length(it))
    }

    /// Whether the router has an address.
    pub fn is_own(&self, address: IpAddr) -> bool {
        self.interfaces.iter().any(|it| it.has(address))
    }
}

impl Interface {
    /// Whether it has an address.
    pub fn has(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|own| own.address == address) || IpAddr::V6(self.mac.link_local()) == address
    }

    /// Whether an address is one of its link.
    pub fn is_on_link(&self, address: IpAddr) -> bool {
        is_link_local(address) || self.addresses.iter().any(|own| own.contains(address))
    }

    /// Its address for who has another: in the same network if there is one.
    pub fn address_for(&self, other: IpAddr) -> Option<IpAddr> {
        if is_link_local(other) {
            return Some(self.mac.link_local().into());
        }
        let same = self.addresses.iter().filter(|own| own.address.is_ipv4() == other.is_ipv4());
        let near = same.clone().find(|own| own.contains(other));
        near.or_else(|| same.clone().next()).map(|own| own.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const INTERFACE: &str = "[[interface]]\nport = 1\nmac = \"02:00:00:00:01:01\"\n\
        addresses = [\"10.0.1.1/24\", \"2001:db8:1::1/64\"]\n";

    fn wrong(text: &str, expected: Expect) {
        expected.assert_eq(&Config::from_str(text).unwrap_err());
    }

    #[test]
    fn gateways_are_behind_the_interface_of_their_network() {
        let text = format!("{INTERFACE}[[route]]\nto = \"::/0\"\nvia = [\"fe80::9%1\", \"2001:db8:1::9\"]\n");
        let config: Config = text.parse().unwrap();
        assert_eq!(config.routes[0].via.iter().map(|it| config.port_of(*it)).collect::<Vec<_>>(), [Some(1); 2]);
        assert!(config.is_own("fe80::ff:fe00:101".parse().unwrap()));
        let far = config.interfaces[0].address_for("192.0.2.1".parse().unwrap());
        assert_eq!(far, Some("10.0.1.1".parse().unwrap()));
    }

    #[test]
    fn errors_have_their_place() {
        wrong("", expect!["a router has from 1 to 256 interfaces: write [[interface]] for each"]);
        wrong(
            &INTERFACE.replace("10.0.1.1/24", "10.0.1.1"),
            expect![[r#"
                TOML parse error at line 4, column 13
                  |
                4 | addresses = ["10.0.1.1", "2001:db8:1::1/64"]
                  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                10.0.1.1 is not a network, as 10.0.1.1/24 or 2001:db8::1/64"#]],
        );
        wrong(&[INTERFACE, INTERFACE].concat(), expect!["interface 1 is given twice"]);
        wrong(
            &INTERFACE.replace("10.0.1.1/24", "10.0.1.255/24"),
            expect!["interface 1: 10.0.1.255/24 is the first or last address of its network, which no station has"],
        );
        let route = |rest: &str| format!("{INTERFACE}[[route]]\nto = \"10.0.0.0/8\"\n{rest}\n");
        wrong(&route(""), expect!["the route to 10.0.0.0/8: it has either gateways (via) or discard = true"]);
        wrong(
            &route("via = [\"10.0.2.9\"]"),
            expect!["the route to 10.0.0.0/8: no interface has the network of the gateway 10.0.2.9"],
        );
        wrong(
            &route("via = [\"10.0.1.1\"]"),
            expect!["the route to 10.0.0.0/8: the gateway 10.0.1.1 is the router itself, at port 1"],
        );
        wrong(
            &route("via = [\"2001:db8:1::9\"]"),
            expect!["the route to 10.0.0.0/8: the gateway 2001:db8:1::9 is of the other version of IP"],
        );
        assert!(Config::from_str(&route("via = [\"fe80::9\"]")).unwrap_err().contains("write fe80::9%PORT"));
    }
}
