//! Traffic for an IPv4 router: routes, and UDP frames to hosts behind them. For demonstrations and benchmarks.

use base::{OrderedMap, Rng};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// A route: the network, its prefix length, the port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The network; bits after the prefix are zero.
    pub network: u32,
    /// Length of the prefix.
    pub prefix_len: u32,
    /// The port.
    pub port: u32,
}

/// Routes of an IPv4 router.
#[derive(Clone, Debug)]
pub struct Routes(pub Vec<Route>);

impl Routes {
    /// `count` prefixes of 16 to 24 bits below 10.0.0.0/8 (at most 60,000), without duplicates, over these ports.
    pub fn random(count: u32, ports: RangeInclusive<u32>, rng: &mut Rng) -> Routes {
        assert!(count <= 60_000, "there are not many more prefixes than this");
        Routes::below(10 << 24, 8, count, ports, rng)
    }

    /// The same for at most two million prefixes below 0.0.0.0/1.
    pub fn everywhere(count: u32, ports: RangeInclusive<u32>, rng: &mut Rng) -> Routes {
        assert!(count <= 2_000_000, "there are not many more prefixes than this");
        Routes::below(0, 1, count, ports, rng)
    }

    fn below(base: u32, base_len: u32, count: u32, ports: RangeInclusive<u32>, rng: &mut Rng) -> Routes {
        let mut prefixes = OrderedMap::new();
        while (prefixes.len() as u32) < count {
            let prefix_len = rng.between(16, 24) as u32;
            let below = rng.below(1 << (32 - base_len)) as u32;
            let network = (base | below) & (u32::MAX << (32 - prefix_len));
            prefixes.insert((network, prefix_len), rng.between((*ports.start()).into(), (*ports.end()).into()) as u32);
        }
        let route = |((network, prefix_len), port)| Route { network, prefix_len, port };
        Routes(prefixes.into_iter().map(route).collect())
    }

    /// The routes as switch commands for the table `route` of the example router.
    pub fn commands(&self) -> String {
        let mut text = String::from("# table_add TABLE ACTION PREFIX => PORT SOURCE DESTINATION\n");
        for Route { network, prefix_len, port } in &self.0 {
            let [a, b, c, d] = network.to_be_bytes();
            let macs = format!("02:00:00:00:00:{port:02x} 02:00:00:00:01:{port:02x}");
            let _ = writeln!(text, "table_add route forward {a}.{b}.{c}.{d}/{prefix_len} => {port} {macs}");
        }
        text
    }

    /// `count` frames to hosts behind the routes; the last of each twenty has no route, the last of each hundred an
    /// expired TTL.
    pub fn frames(&self, count: u32, rng: &mut Rng) -> Vec<Vec<u8>> {
        let frame = |number: u32| {
            let route = rng.pick(&self.0);
            let host = rng.next_u64() as u32 & !(u32::MAX << (32 - route.prefix_len));
            let destination = if number % 20 == 19 { 192 << 24 | host } else { route.network | host };
            let ttl = if number % 100 == 99 { 1 } else { 64 };
            udp_frame(destination, ttl, number)
        };
        (0..count).map(frame).collect()
    }
}

/// An Ethernet frame of 60 bytes with IPv4 and UDP, its number in the payload. The IPv4 checksum is correct; UDP has
/// none.
pub fn udp_frame(destination: u32, ttl: u8, number: u32) -> Vec<u8> {
    let mut frame = Vec::with_capacity(60);
    frame.extend_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0]);
    frame.extend_from_slice(&[0x45, 0, 0, 46, (number >> 8) as u8, number as u8, 0, 0, ttl, 17, 0, 0]);
    frame.extend_from_slice(&[172, 16, (number >> 16) as u8, 1]);
    frame.extend_from_slice(&destination.to_be_bytes());
    let words = frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame.extend_from_slice(&[0x30, 0x39, 0x30, 0x3a, 0, 26, 0, 0]);
    frame.resize(60, 0);
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_a_right_checksum() {
        for number in [0, 1, 65_535, 1_000_000] {
            let frame = udp_frame(0x0a01_0203, 64, number);
            let words = frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        }
    }

    #[test]
    fn routes_are_distinct_and_canonical() {
        let routes = Routes::random(1000, 2..=4, &mut Rng::new(1));
        assert_eq!(routes.0.len(), 1000);
        assert!(routes.0.iter().all(|it| it.network & !(u32::MAX << (32 - it.prefix_len)) == 0));
        assert!(routes.0.iter().all(|it| (2..=4).contains(&it.port)));
    }
}
