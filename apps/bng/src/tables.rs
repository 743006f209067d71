//! The entries of a gateway.
//!
//! What enters: [`Config`]. What leaves: the entries and rates for it, and the commands of bindings.

use crate::bindings::{Inner, Public};
use crate::config::{Config, Interface, Limits, Nat, Side, Subscriber};
use controller::Orders;
use controller::address::{Network, value};
use controller::desired::Desired;
use controller::hops::{Change, Hops};
use core::net::IpAddr;

/// Why packets go to the controller, as in the program: the TTL has expired.
pub const TTL_EXPIRED: u128 = 1;
/// There is no binding.
pub const NO_BINDING: u128 = 2;
/// It is for the gateway.
pub const LOCAL: u128 = 3;
/// It is longer than the tunnel takes.
pub const TOO_LONG: u128 = 4;
/// It is an ARP answer.
pub const ARP: u128 = 5;

/// What the program does with a packet of the controller: it leaves as it is.
pub const MODE_PORT: u128 = 0;
/// It is handled as if it had just arrived.
pub const MODE_ARRIVE: u128 = 1;

/// The metadata of bindings.
const OF_BINDING: &str = "03";

/// The entries of a gateway, with the numbers of its next hops.
///
/// # Errors
/// If a next hop is on no link, or there are too many.
pub fn desired(config: &Config, hops: &mut Hops) -> Result<Desired, String> {
    let mut desired = Desired::new();
    for interface in &config.interfaces {
        add_interface(config, interface, &mut desired);
    }
    for network in &config.nat.pool {
        desired.add(format!("addresses {} do pool", network.first()));
    }
    for route in &config.routes {
        let (number, link) =
            hops.number(route.via.into()).map_err(|why| format!("the route to {}: {why}", route.to))?;
        let table = match side_of(config, link.port) {
            Side::Access => "access_routes",
            Side::Core => "core_routes",
        };
        desired.add(format!("{table} {} do via {number}", route.to.first()));
    }
    for subscriber in &config.subscribers {
        add_subscriber(config, subscriber, hops, &mut desired)
            .map_err(|why| format!("subscriber {}: {why}", subscriber.number))?;
    }
    Ok(desired)
}

fn side_of(config: &Config, port: u16) -> Side {
    config.interfaces.iter().find(|it| it.port == port).map_or(Side::Core, |it| it.side)
}

fn add_interface(config: &Config, interface: &Interface, desired: &mut Desired) {
    let Interface { port, side, mac, address } = interface;
    let action = if *side == Side::Access { "access" } else { "core" };
    desired.add(format!("interfaces {port} do {action} {mac}"));
    let own = Network::one(address.address);
    desired.add(format!("addresses {own} do local"));
    desired.add(format!("arp_proxy {port} {own} do answer"));
    if *side == Side::Core {
        // In place of subscribers.
        for network in &config.nat.pool {
            desired.add(format!("arp_proxy {port} {} do answer", network.first()));
        }
    }
}

fn add_subscriber(config: &Config, it: &Subscriber, hops: &mut Hops, desired: &mut Desired) -> Result<(), String> {
    let Subscriber { number, remote, local, network, .. } = it;
    let (has_key, key) = (u8::from(it.key.is_some()), it.key.unwrap_or(0));
    let mask = u32::MAX.checked_shl(32 - u32::from(network.length)).unwrap_or(0);
    let first = value(network.first().address);
    desired.add_with(
        &[rate("upload_rate", *number, it.upload)],
        format!("tunnels {remote} {local} {has_key} {key} do subscriber {number} {first:#x} {mask:#x}"),
    );
    let action = match it.key {
        Some(key) => format!("tunnel_with_key {local} {remote} {} {key}", it.mtu()),
        None => format!("tunnel {local} {remote} {}", it.mtu()),
    };
    desired.add_with(&[rate("download_rate", *number, it.download)], format!("subscribers {number} do {action}"));
    // The end of a tunnel on a link of the gateway is its own next hop; others are behind routes.
    match hops.link_of((*remote).into()) {
        Some(_) => {
            let (hop, _) = hops.number((*remote).into())?;
            desired.add(format!("access_routes {remote}/32 do via {hop}"));
            Ok(())
        }
        None if config.routes.iter().any(|route| route.to.contains(IpAddr::V4(*remote))) => Ok(()),
        None => Err(format!("there is no route to {remote}")),
    }
}

/// The rate of a subscriber in one direction. A burst of a tenth of a second leaves TCP the whole rate.
fn rate(meter: &str, number: u32, mbit: Option<f64>) -> String {
    match mbit {
        Some(mbit) => {
            let bytes = (mbit * 125_000.0).ceil() as u64;
            let burst = (bytes / 10).max(3000);
            format!("meters {meter} {number} set {bytes} {burst} {bytes} {}", 2 * burst)
        }
        None => format!("meters {meter} {number} reset"),
    }
}

/// How much may go to the controller.
pub fn limits(limits: &Limits, orders: &mut Orders) {
    let Limits { packets, in_all, .. } = *limits;
    let mut set = |meter: &str, rate: u32, burst: u32| {
        orders.command(format!("meters {meter} set {rate} {burst} {rate} {burst}"));
    };
    let burst = packets.div_ceil(10).max(1);
    set("to_controller", packets, burst);
    set("arp_to_controller", packets, burst);
    // All stations of a port may answer at once; subscribers leave room in the queue to the controller.
    set("to_controller_in_all", in_all, in_all.max(1));
    orders.command(of_subscribers(in_all));
}

/// How much all subscribers together may send to the controller.
pub fn of_subscribers(rate: u32) -> String {
    let burst = rate.div_ceil(10).max(1);
    format!("meters to_controller_in_all 511 set {rate} {burst} {rate} {burst}")
}

/// The command of a next hop that was found, or lost.
pub fn next_hop(change: &Change, hops: &Hops) -> String {
    let Change { number, link, mac } = change;
    match mac {
        Some(mac) => {
            let metadata = hops.metadata(*number);
            format!("add next_hops {number} do forward {} {} {mac} metadata {metadata}", link.port, link.mac)
        }
        None => format!("delete next_hops {number}"),
    }
}

/// The upper half of a binding, as a command names it.
pub fn up(inner: Inner) -> String {
    let Inner { subscriber, address, protocol, port } = inner;
    format!("bindings_up {subscriber} {address} {protocol} {port}")
}

/// The lower half of a binding.
pub fn down(public: Public) -> String {
    let Public { address, protocol, port } = public;
    format!("bindings_down {address} {protocol} {port}")
}

/// Makes a binding, for both directions.
pub fn bind(nat: &Nat, inner: Inner, public: Public, orders: &mut Orders) {
    let idle = nat.idle(inner.protocol).as_millis();
    let rest = format!("timeout {idle}ms metadata {OF_BINDING}");
    // First down: the answer to the first packet finds its way.
    let Inner { subscriber, address, port, .. } = inner;
    orders.command(format!("add {} do to_inner {subscriber} {address} {port} {rest}", down(public)));
    orders.command(format!("add {} do to_public {} {} {rest}", up(inner), public.address, public.port));
}

/// Ends the upper half of a binding.
pub fn delete_up(inner: Inner) -> String {
    format!("delete {}", up(inner))
}

/// Ends the lower half of a binding.
pub fn delete_down(public: Public) -> String {
    format!("delete {}", down(public))
}

/// Whether an entry is that of a binding of the controller.
pub fn is_binding(metadata: &[u8]) -> bool {
    metadata == [3]
}
