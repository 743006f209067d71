//! Gives a tap interface the addresses of its host, so that programs use it at once.
//!
//! What enters: a new interface and the host in whose place it is. What leaves: the interface with the host's Ethernet
//! address, IP addresses and neighbours, and a route to the network of each other host. Nothing else of the namespace
//! is changed: there is no default route, and a route that exists is an error.

use super::{Namespace, TappedHost};
use base::OrderedSet;
use scenario::Scenario;
use scenario::stations::host_config;
use sim::host::{HostAddress, HostConfig};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The setting of a namespace for IPv6.
const IPV6_OFF: &str = "/proc/sys/net/ipv6/conf/all/disable_ipv6";

/// Sets up an interface for a host. `neighbours` are the hosts whose taps are in the same namespace, which reaches
/// their networks directly.
pub fn set_up(
    namespace: &Namespace,
    interface: &str,
    scenario: &Scenario,
    host: usize,
    neighbours: &[usize],
) -> Result<(), String> {
    let speaks_ipv6 = namespace.inside(|| std::fs::read_to_string(IPV6_OFF).is_ok_and(|text| text.trim() == "0"))?;
    let script = script(interface, scenario, host, neighbours, speaks_ipv6);
    net::network::run_ip_in(namespace.0.as_ref(), interface, &script).map_err(|error| {
        let message = error.to_string();
        match message.contains("File exists") {
            true => format!(
                "{message}; the system has that already: give the tap a network namespace of its own, as in HOST=NETNS/{interface}"
            ),
            false => message,
        }
    })
}

/// For the user: what the interface is.
pub fn describe(tap: &TappedHost, scenario: &Scenario, host: usize, is_new: bool) -> String {
    let HostConfig { mac, addresses, .. } = host_config(scenario, host);
    let addresses: Vec<String> = addresses.iter().map(shown).collect();
    let place = tap.namespace.as_ref().map(|it| format!(" in {}", it.display())).unwrap_or_default();
    let addresses = addresses.join(", ");
    let host = format!("host {}: {}{place}", tap.host, tap.interface);
    match is_new {
        true => format!("{host}, {addresses}, {mac}"),
        false => format!("{host}, which exists and is left as it is; the network expects {addresses}, {mac}"),
    }
}

fn shown(address: &HostAddress) -> String {
    format!("{}/{}", address.ip, address.prefix_bits)
}

/// The lines for `ip`.
fn script(interface: &str, scenario: &Scenario, host: usize, neighbours: &[usize], speaks_ipv6: bool) -> String {
    let config = host_config(scenario, host);
    let speaks = |ip: &IpAddr| ip.is_ipv4() || speaks_ipv6;
    // The address first: it is part of that of the link, which IPv6 makes when the interface comes up.
    let mut script = format!("link set dev {interface} down\nlink set dev {interface} address {}\n", config.mac);
    let _ = writeln!(script, "link set dev {interface} mtu {}\nlink set dev {interface} up", scenario.mtu);
    for address in config.addresses.iter().filter(|it| speaks(&it.ip)) {
        // Without `nodad`, an IPv6 address cannot be used before duplicate address detection has finished.
        let at_once = if address.ip.is_ipv6() { " nodad" } else { "" };
        let _ = writeln!(script, "address add {} dev {interface}{at_once}", shown(address));
    }
    for (ip, mac) in config.neighbours.iter().filter(|(ip, _)| speaks(ip)) {
        let _ = writeln!(script, "neighbour replace {ip} lladdr {mac} dev {interface} nud permanent");
    }
    let near: Vec<HostAddress> = std::iter::once(host)
        .chain(neighbours.iter().copied())
        .flat_map(|it| scenario.topology.hosts[it].addresses.clone())
        .collect();
    let is_near = |ip: IpAddr| near.iter().any(|own| own.has_in_network(ip));
    let far = scenario.topology.hosts.iter().flat_map(|it| &it.addresses).filter(|it| !is_near(it.ip));
    let networks: OrderedSet<(IpAddr, u8)> = far.map(|it| (network(it), it.prefix_bits)).collect();
    for (ip, prefix_bits) in networks.iter().filter(|(ip, _)| speaks(ip)) {
        let gateway = config.gateways.iter().find(|gateway| gateway.is_ipv4() == ip.is_ipv4());
        if let Some(gateway) = gateway {
            let _ = writeln!(script, "route add {ip}/{prefix_bits} via {gateway} dev {interface}");
        }
    }
    script
}

/// The address of a host's network.
fn network(address: &HostAddress) -> IpAddr {
    match address.ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(address.prefix_bits)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(ip) & mask))
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(address.prefix_bits)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(ip) & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(neighbours: &[usize], speaks_ipv6: bool, expected: Expect) {
        let text = "duration = \"1s\"\n[hosts]\nmtu = 9000\n[topology]\nkind = \"star\"\nhosts = 3\n";
        let scenario = Scenario::read(text, &[], &|_| Err(String::new())).unwrap();
        expected.assert_eq(&script("tap0", &scenario, 0, neighbours, speaks_ipv6));
    }

    #[test]
    fn an_interface_gets_what_its_host_has() {
        check(
            &[0],
            true,
            expect![[r#"
            link set dev tap0 down
            link set dev tap0 address 02:00:00:01:00:01
            link set dev tap0 mtu 9000
            link set dev tap0 up
            address add 10.1.1.2/24 dev tap0
            address add fd00:1:1::2/64 dev tap0 nodad
            neighbour replace 10.1.1.1 lladdr 02:01:00:01:00:01 dev tap0 nud permanent
            neighbour replace fd00:1:1::1 lladdr 02:01:00:01:00:01 dev tap0 nud permanent
            route add 10.1.2.0/24 via 10.1.1.1 dev tap0
            route add 10.1.3.0/24 via 10.1.1.1 dev tap0
            route add fd00:1:2::/64 via fd00:1:1::1 dev tap0
            route add fd00:1:3::/64 via fd00:1:1::1 dev tap0
        "#]],
        );
    }

    #[test]
    fn what_the_system_reaches_otherwise_has_no_route() {
        check(
            &[0, 2],
            false,
            expect![[r#"
            link set dev tap0 down
            link set dev tap0 address 02:00:00:01:00:01
            link set dev tap0 mtu 9000
            link set dev tap0 up
            address add 10.1.1.2/24 dev tap0
            neighbour replace 10.1.1.1 lladdr 02:01:00:01:00:01 dev tap0 nud permanent
            route add 10.1.2.0/24 via 10.1.1.1 dev tap0
        "#]],
        );
    }
}
