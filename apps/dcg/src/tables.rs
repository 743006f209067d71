//! The entries of a gateway.
//!
//! What enters: [`Config`]. What leaves: the entries for it, and the commands of what changes: groups, next hops.

use crate::config::{Config, Interface, Service, Side, Tenant};
use crate::slots::{ServerState, assign};
use base::OrderedSet;
use controller::desired::Desired;
use controller::hops::{Change, Hops};
use core::net::IpAddr;

/// Why packets go to the controller, as in the program: the TTL has expired.
pub const TTL_EXPIRED: u128 = 1;
/// It is longer than the link or the tunnel takes.
pub const TOO_BIG: u128 = 2;
/// There is no route.
pub const NO_ROUTE: u128 = 3;
/// It is for the gateway.
pub const LOCAL: u128 = 5;
/// It is neighbour discovery.
pub const ND: u128 = 6;
/// It is an ARP answer.
pub const ARP: u128 = 7;

/// The first byte of the metadata of groups.
pub const OF_GROUP: u8 = 5;

const OUTSIDE: u32 = 0;
const UNDERLAY: u32 = 0xFF_FFFF;

/// The entries of a gateway, with the numbers of its next hops and end points.
///
/// # Errors
/// If a next hop is on no link, or there are too many.
pub fn desired(config: &Config, hops: &mut Hops) -> Result<Desired, String> {
    let mut desired = Desired::new();
    for interface in &config.interfaces {
        add_interface(interface, &mut desired);
    }
    for tenant in &config.tenants {
        add_tenant(tenant, hops, &mut desired).map_err(|why| format!("tenant {}: {why}", tenant.number))?;
    }
    let mut numbers = Vec::new();
    for end_point in &config.end_points {
        let (number, _) = hops.number_at(end_point.port, end_point.address.into())?;
        numbers.push((end_point.address, number));
        desired.add(format!("known_end_points {} do known", end_point.address));
    }
    for server in &config.servers {
        let Some(tenant) = config.tenant(server.tenant) else { continue };
        let number = numbers.iter().find(|(address, _)| *address == server.end_point).map_or(0, |(_, number)| *number);
        let (vni, mac) = (tenant.number, tenant.mac);
        desired.add(format!("segments {} {vni} do tenant {vni} {mac}", server.end_point));
        desired.add(format!("servers {} do server {number} {vni} {mac} {}", server.number, server.mac));
    }
    for service in &config.services {
        add_service(config, service, &mut desired);
    }
    Ok(desired)
}

fn add_interface(interface: &Interface, desired: &mut Desired) {
    let Interface { port, side, mac, address, address6, .. } = interface;
    let own = address.address;
    let (action, network) = match side {
        Side::Outside => ("outside", OUTSIDE),
        Side::Underlay => ("underlay", UNDERLAY),
    };
    desired.add(format!("interfaces {port} do {action} {mac}"));
    desired.add(format!("own_addresses4 {network} {own} do own"));
    if let Some(own) = address6 {
        desired.add(format!("own_addresses6 {network} {} do own", own.address));
    }
    if *side == Side::Underlay {
        desired.add(format!("own_end_points {own} do own"));
    }
}

fn add_tenant(tenant: &Tenant, hops: &mut Hops, desired: &mut Desired) -> Result<(), String> {
    let Tenant { number, address, address6, sources, routes, .. } = tenant;
    desired.add(format!("own_addresses4 {number} {address} do own"));
    desired.add(format!("routes4 {number} {address}/32 do local"));
    if let Some(address) = address6 {
        desired.add(format!("routes6 {number} {address}/128 do local"));
    }
    for network in sources {
        desired.add(format!("sources{} {number} {} do permit", version(network.address), network.first()));
    }
    for route in routes {
        let action = match route.via {
            Some(via) => format!("via {}", hops.number(via)?.0),
            None => "discard".to_owned(),
        };
        desired.add(format!("routes{} {number} {} do {action}", version(route.to.address), route.to.first()));
    }
    Ok(())
}

fn add_service(config: &Config, service: &Service, desired: &mut Desired) {
    let Service { number, address, protocol, port, .. } = service;
    let (version, bits) = if address.is_ipv4() { (4, 32) } else { (6, 128) };
    desired.add(format!("services{version} {address} {protocol} {port} do serve{version} {number}"));
    let tenants: OrderedSet<u32> = service.servers.iter().filter_map(|it| Some(config.server(*it)?.tenant)).collect();
    for tenant in tenants {
        desired.add(format!("sources{version} {tenant} {address}/{bits} do permit"));
    }
}

fn version(address: IpAddr) -> u8 {
    if address.is_ipv4() { 4 } else { 6 }
}

/// The command of a next hop outside, or of an end point, that was found or lost.
pub fn station(config: &Config, change: &Change, hops: &Hops) -> String {
    let Change { number, link, mac } = change;
    let Some(interface) = config.interface(link.port) else { return String::new() };
    let table = if interface.side == Side::Outside { "next_hops" } else { "end_points" };
    let Some(mac) = mac else { return format!("delete {table} {number}") };
    let (port, own, mtu, metadata) = (link.port, link.mac, interface.mtu(), hops.metadata(*number));
    let action = match (interface.side, hops.address(*number)) {
        (Side::Underlay, Some(remote)) => {
            format!("tunnel {port} {own} {mac} {} {remote} {mtu}", link.address.address)
        }
        _ => format!("forward {port} {own} {mac} {mtu}"),
    };
    format!("add {table} {number} do {action} metadata {metadata}")
}

/// The command of the group of a service.
pub fn group(service: &Service, state: impl Fn(u32) -> ServerState) -> String {
    let states: Vec<ServerState> = service.servers.iter().map(|server| state(*server)).collect();
    let slot = |(position, is_draining): (usize, bool)| {
        format!("{} {}", if is_draining { "drain" } else { "use_server" }, service.servers[position])
    };
    let slots: Vec<String> = assign(&states, service.slots()).into_iter().map(slot).collect();
    format!("add balancing {} do one-of {} metadata {OF_GROUP:02x}", service.number, slots.join(" | "))
}
