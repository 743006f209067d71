//! The entries of a router.
//!
//! What enters: [`Config`], and the entries that a switch has. What leaves: the commands that make the entries what the
//! file says. Entries of other origin stay, as they have no metadata: those of the controller have [`OURS`], of routes
//! with the length of the prefix behind it, and of next hops the gateway.

use crate::config::{Config, GATEWAYS_MAX, GROUPS_MAX, Interface};
use base::OrderedMap;
use controller::address::{Mac, Network, is_link_local, solicited_node};
use controller::neighbours::Station;
use controller::{Entry, Orders};
use core::net::{IpAddr, Ipv6Addr};

/// Marks an entry of the controller.
pub const OURS: u8 = Station::METADATA;

/// Why packets go to the controller, as in the program: the TTL has expired.
pub const TTL_EXPIRED: u128 = 1;
/// There is no route.
pub const NO_ROUTE: u128 = 2;
/// The neighbour is not known.
pub const UNRESOLVED: u128 = 3;
/// It is for the router.
pub const LOCAL: u128 = 4;
/// It is ARP about an address of the router.
pub const ARP: u128 = 5;
/// It is neighbour discovery.
pub const ND: u128 = 6;

/// What the program does with a packet of the controller: it leaves as it is.
pub const MODE_PORT: u128 = 0;
/// It is routed as if it had just arrived.
pub const MODE_FORWARD: u128 = 1;
/// It is routed as one of the router's own.
pub const MODE_OWN: u128 = 2;

/// Routes, gateways and their groups, with their numbers: from 1, as they occur in the file.
#[derive(Clone, Debug)]
pub struct Tables {
    routes: OrderedMap<Network, String>,
    gateways: Vec<Station>,
    hop_of: OrderedMap<Station, u16>,
    groups: Vec<Vec<u16>>,
    /// The groups of each gateway.
    groups_of: OrderedMap<u16, Vec<u16>>,
}

impl Tables {
    /// Those of a router.
    ///
    /// # Errors
    /// If there are too many gateways or groups.
    pub fn new(config: &Config) -> Result<Tables, String> {
        let (routes, gateways, hop_of, groups, groups_of) = Default::default();
        let mut tables = Tables { routes, gateways, hop_of, groups, groups_of };
        for interface in &config.interfaces {
            tables.add_interface(interface);
        }
        let mut numbers = OrderedMap::new();
        for route in &config.routes {
            let stations = route
                .via
                .iter()
                .filter_map(|gateway| Some(Station { port: config.port_of(*gateway)?, address: gateway.address }));
            let mut hops: Vec<u16> = stations.map(|station| tables.hop(station)).collect::<Result<_, _>>()?;
            hops.sort_unstable();
            hops.dedup();
            let action = match hops.is_empty() {
                true => "discard".to_owned(),
                false => format!("via {}", tables.group(hops, &mut numbers)?),
            };
            tables.routes.insert(route.to.first(), action);
        }
        Ok(tables)
    }

    fn add_interface(&mut self, interface: &Interface) {
        let mut local = |address: IpAddr| self.routes.insert(Network::one(address), "local".to_owned());
        let link_local = interface.mac.link_local();
        let groups = [Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 2)];
        for address in groups.into_iter().chain([link_local, solicited_node(link_local)]) {
            local(address.into());
        }
        for own in &interface.addresses {
            local(own.address);
            if let IpAddr::V6(address) = own.address {
                local(solicited_node(address).into());
            }
        }
        for own in interface.addresses.iter().filter(|own| **own != Network::one(own.address)) {
            self.routes.insert(own.first(), "attached".to_owned());
            for address in own.reserved() {
                self.routes.insert(Network::one(address), "discard".to_owned());
            }
        }
    }

    fn hop(&mut self, station: Station) -> Result<u16, String> {
        if let Some(hop) = self.hop_of.get(&station) {
            return Ok(*hop);
        }
        self.gateways.push(station);
        let hop = u16::try_from(self.gateways.len()).ok().filter(|hop| usize::from(*hop) <= GATEWAYS_MAX);
        let hop = hop.ok_or_else(|| format!("there are more than {GATEWAYS_MAX} gateways"))?;
        self.hop_of.insert(station, hop);
        Ok(hop)
    }

    fn group(&mut self, hops: Vec<u16>, numbers: &mut OrderedMap<Vec<u16>, usize>) -> Result<usize, String> {
        let next = self.groups.len() + 1;
        let number = *numbers.entry(hops.clone()).or_insert(next);
        if number > GROUPS_MAX {
            return Err(format!("there are more than {GROUPS_MAX} groups of gateways"));
        }
        if number == next {
            for hop in &hops {
                self.groups_of.entry(*hop).or_default().push(number as u16);
            }
            self.groups.push(hops);
        }
        Ok(number)
    }

    /// The gateways, by their numbers from 1 on.
    pub fn gateways(&self) -> &[Station] {
        &self.gateways
    }

    /// The gateway of a number.
    pub fn gateway(&self, hop: u16) -> Option<Station> {
        self.gateways.get(usize::from(hop).checked_sub(1)?).copied()
    }

    /// The number of a gateway.
    pub fn hop_of(&self, station: Station) -> Option<u16> {
        self.hop_of.get(&station).copied()
    }

    /// The numbers of all groups.
    pub fn groups(&self) -> impl Iterator<Item = u16> + use<> {
        1..=self.groups.len() as u16
    }

    /// The numbers of the groups that a gateway belongs to.
    pub fn groups_of(&self, hop: u16) -> &[u16] {
        self.groups_of.get(&hop).map_or(&[], |groups| groups)
    }

    /// Sets up interfaces in a switch.
    pub fn set_up_interfaces(&self, config: &Config, orders: &mut Orders) {
        for Interface { port, mac, .. } in &config.interfaces {
            orders.command(format!("add interfaces {port} do interface {mac} metadata {OURS:02x}"));
            let (rate, burst) = (config.limits.packets, config.limits.packets.div_ceil(10).max(1));
            for reason in TTL_EXPIRED..=ND {
                let cell = u128::from(*port) << 3 | reason;
                orders.command(format!("meters to_controller {cell} set {rate} {burst} {rate} {burst}"));
            }
        }
    }

    /// Sets up routes in a switch that has these entries, and removes what is not of this router.
    pub fn set_up_routes(&self, config: &Config, present: &[Entry], orders: &mut Orders) {
        for (network, action) in &self.routes {
            let (table, length) = (table("route", network.address), network.length);
            orders.command(format!("add {table} {network} do {action} metadata {OURS:02x}{length:02x}"));
        }
        for entry in present {
            self.remove_stale(config, entry, orders);
        }
    }

    fn remove_stale(&self, config: &Config, entry: &Entry, orders: &mut Orders) {
        if entry.metadata.first() != Some(&OURS) {
            return;
        }
        let number = |name: &str| entry.keys.get(name).and_then(|key| u16::try_from(key).ok());
        match entry.table.rsplit('.').next().unwrap_or_default() {
            "interfaces" => {
                if let Some(port) = number("ingress_port").filter(|port| config.interface(*port).is_none()) {
                    orders.command(format!("delete interfaces {port}"));
                }
            }
            "groups" => {
                if let Some(group) = number("group").filter(|group| usize::from(*group) > self.groups.len()) {
                    orders.command(format!("delete groups {group}"));
                }
            }
            name @ ("route4" | "route6") => {
                let [OURS, length] = entry.metadata[..] else { return };
                let address =
                    entry.keys.get("destination").and_then(|it| controller::address::from_value(it, name == "route6"));
                let network = address.map(|address| Network { address, length });
                if let Some(network) = network.filter(|network| !self.routes.contains_key(network)) {
                    orders.command(format!("delete {name} {network}"));
                }
            }
            _ => {}
        }
    }

    /// Gives a group those of its gateways that are up; all of them if none is.
    pub fn group_command(&self, number: u16, is_up: impl Fn(Station) -> bool) -> String {
        let all = self.groups.get(usize::from(number).wrapping_sub(1)).map_or(&[][..], |hops| hops);
        let up: Vec<u16> = all.iter().copied().filter(|hop| self.gateway(*hop).is_some_and(&is_up)).collect();
        let members = if up.is_empty() { all } else { &up };
        let members: Vec<String> = members.iter().map(|hop| format!("use_hop {hop}")).collect();
        format!("add groups {number} do one-of {} metadata {OURS:02x}", members.join(" | "))
    }
}

/// The table of this name for an address.
fn table(name: &str, address: IpAddr) -> String {
    format!("{name}{}", if address.is_ipv4() { 4 } else { 6 })
}

/// The commands of a station that was found.
pub fn found(interface: &Interface, station: Station, mac: Mac, hop: Option<u16>, age_ms: u128) -> Vec<String> {
    let forward = format!("forward {} {} {mac}", station.port, interface.mac);
    let mut commands = Vec::new();
    if let Some(hop) = hop {
        let metadata: String = station.metadata().iter().map(|byte| format!("{byte:02x}")).collect();
        commands.push(format!("add next_hops {hop} do {forward} metadata {metadata}"));
    }
    // Packets to a link-local address are not forwarded beyond the link.
    if !is_link_local(station.address) {
        let table = table("neighbours", station.address);
        let timeout = if hop.is_some() { String::new() } else { format!(" timeout {age_ms}ms") };
        commands.push(format!("add {table} {} do {forward}{timeout} metadata {OURS:02x}", station.address));
    }
    commands
}

/// The commands of a station that was lost.
pub fn lost(station: Station, hop: Option<u16>) -> Vec<String> {
    let mut commands: Vec<String> = hop.map(|hop| format!("delete next_hops {hop}")).into_iter().collect();
    if !is_link_local(station.address) {
        commands.push(format!("delete {} {}", table("neighbours", station.address), station.address));
    }
    commands
}
