//! A switch in its network: its ports and what is behind them.

use core::net::IpAddr;

/// Addresses that begin alike. IPv4 addresses are `::ffff:a.b.c.d`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Prefix {
    /// The first of them.
    pub address: u128,
    /// Bits that are alike, of 128.
    pub bits: u32,
}

impl Prefix {
    /// Addresses that begin with the first bits of this one, counted as its version does.
    pub fn new(address: IpAddr, bits: u32) -> Prefix {
        let (address, bits) = match address {
            IpAddr::V4(v4) => (u128::from(v4.to_ipv6_mapped()), (bits + 96).min(128)),
            IpAddr::V6(v6) => (u128::from(v6), bits.min(128)),
        };
        let mask = if bits == 0 { 0 } else { u128::MAX << (128 - bits) };
        Prefix { address: address & mask, bits }
    }
}

/// What is behind a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behind {
    /// A host.
    Host,
    /// A switch below.
    Down,
    /// A switch above.
    Up,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number in the program.
    pub number: u32,
    /// What is behind it.
    pub behind: Behind,
    /// What leaves by it at most, in units of meters (bytes or packets) a second.
    pub units_per_s: u64,
    /// What comes in by it at most.
    pub units_per_s_in: u64,
    /// Whom it leads to, if not up.
    pub prefixes: Vec<Prefix>,
    /// Ethernet addresses for frames that leave: its own, and that of the other side.
    pub addresses: [u64; 2],
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its ports.
    pub ports: Vec<Port>,
    /// What all hosts' addresses begin with: one prefix for each version.
    pub common: Vec<Prefix>,
    /// The number of this leaf, from 1; `None` for switches without hosts.
    pub leaf: Option<u32>,
    /// The addresses behind each leaf, by its number.
    pub leaves: Vec<(u32, Prefix)>,
    /// The numbers of leaves, and the ports that lead up but not there: a link behind them is down.
    pub unreachable: Vec<(u32, u32)>,
}

impl Place {
    /// The ports that lead up.
    pub fn up(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.behind == Behind::Up)
    }

    /// The leaves that some ports do not lead to, with their addresses and those ports.
    pub fn cut_off(&self) -> Vec<(u32, Vec<Prefix>, Vec<u32>)> {
        let mut leaves: Vec<u32> = self.unreachable.iter().map(|(leaf, _)| *leaf).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let of = |leaf: u32| {
            let prefixes = self.leaves.iter().filter(|(other, _)| *other == leaf).map(|(_, prefix)| *prefix).collect();
            let ports = self.unreachable.iter().filter(|(other, _)| *other == leaf).map(|(_, port)| *port).collect();
            (leaf, prefixes, ports)
        };
        leaves.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_one_form_for_both_versions() {
        let v4 = Prefix::new("10.1.2.3".parse().unwrap(), 16);
        assert_eq!(v4, Prefix { address: 0xffff_0a01_0000, bits: 112 });
        let v6 = Prefix::new("fd00:1:2::3".parse().unwrap(), 32);
        assert_eq!(v6, Prefix { address: 0xfd00_0001 << 96, bits: 32 });
        assert_eq!(Prefix::new("::1".parse().unwrap(), 0), Prefix { address: 0, bits: 0 });
    }
}
