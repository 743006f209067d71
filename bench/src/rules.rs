//! Random rule sets in the manner of ClassBench: access lists, firewalls and IP chains.
//!
//! A rule has a prefix of each address, a protocol, and a range of each port. The addresses are of hosts in subnets of
//! a few hundred sites, some of which are used far more often than others, so that prefixes nest and share their first
//! bits. The kinds differ in how specific their fields are. Ports are exact, any, above 1023, or ranges. The more bits
//! a rule matches, the earlier it tends to stand, as in lists that people write: else most rules would never match.

use crate::entries::{call, prefix, range16, ternary};
use base::{Bits, FieldMatch, Rng};
use tables::EntrySpec;

/// Shares of a choice: a weight and a value each.
type Shares<T> = &'static [(u64, T)];

/// What a rule requires of a port.
#[derive(Clone, Copy)]
enum Port {
    Any,
    /// One of the ports that many rules name.
    Known,
    /// Above 1023.
    High,
    /// A range within two powers of ten.
    Some,
}

/// How the fields of a kind of rules are distributed.
struct Kind {
    /// Prefix lengths of source and destination, chosen together; `ANY_LENGTH` for any from 8 to 32.
    lengths: Shares<(u32, u32)>,
    protocols: Shares<Option<u64>>,
    ports: Shares<(Port, Port)>,
}

const ANY_LENGTH: u32 = u32::MAX;
const TCP: Option<u64> = Some(6);
const UDP: Option<u64> = Some(17);
const ICMP: Option<u64> = Some(1);

/// Who may reach which servers: destinations are hosts and small networks, sources rarely any; source ports do not
/// count.
const ACCESS_LIST: Kind = Kind {
    lengths: &[
        (30, (32, 32)),
        (18, (24, 32)),
        (10, (16, 32)),
        (6, (0, 32)),
        (8, (24, 24)),
        (6, (32, 24)),
        (4, (16, 24)),
        (3, (8, 16)),
        (13, (ANY_LENGTH, ANY_LENGTH)),
        (2, (32, 0)),
    ],
    protocols: &[(75, TCP), (17, UDP), (3, ICMP), (5, None)],
    ports: &[
        (62, (Port::Any, Port::Known)),
        (24, (Port::Any, Port::Any)),
        (8, (Port::Any, Port::Some)),
        (6, (Port::Any, Port::High)),
    ],
};

/// What passes between networks: many rules leave one of the addresses open, and ports of both sides count.
const FIREWALL: Kind = Kind {
    lengths: &[
        (20, (0, 32)),
        (10, (0, 24)),
        (8, (32, 0)),
        (5, (24, 0)),
        (24, (32, 32)),
        (10, (24, 24)),
        (6, (16, 32)),
        (16, (ANY_LENGTH, ANY_LENGTH)),
        (1, (0, 0)),
    ],
    protocols: &[(66, TCP), (22, UDP), (2, ICMP), (10, None)],
    ports: &[
        (48, (Port::Any, Port::Known)),
        (14, (Port::Known, Port::Any)),
        (12, (Port::High, Port::Known)),
        (10, (Port::Any, Port::Some)),
        (6, (Port::Any, Port::High)),
        (10, (Port::Any, Port::Any)),
    ],
};

/// The chains of a packet filter: something of both.
const CHAINS: Kind = Kind {
    lengths: &[
        (32, (32, 32)),
        (12, (24, 32)),
        (12, (32, 24)),
        (6, (0, 32)),
        (6, (32, 0)),
        (10, (24, 24)),
        (6, (16, 16)),
        (16, (ANY_LENGTH, ANY_LENGTH)),
    ],
    protocols: &[(56, TCP), (28, UDP), (6, ICMP), (10, None)],
    ports: &[
        (38, (Port::Any, Port::Known)),
        (16, (Port::Known, Port::Any)),
        (26, (Port::Any, Port::Any)),
        (8, (Port::Known, Port::Known)),
        (8, (Port::Any, Port::Some)),
        (4, (Port::High, Port::Known)),
    ],
};

/// An access list whose ports are exact or any, as tables without ranges can have it.
pub fn access_list_of_masks(rng: &mut Rng, index: usize) -> EntrySpec {
    ACCESS_LIST.rule(rng, index, false)
}

pub fn access_list(rng: &mut Rng, index: usize) -> EntrySpec {
    ACCESS_LIST.rule(rng, index, true)
}

pub fn firewall(rng: &mut Rng, index: usize) -> EntrySpec {
    FIREWALL.rule(rng, index, true)
}

pub fn chains(rng: &mut Rng, index: usize) -> EntrySpec {
    CHAINS.rule(rng, index, true)
}

impl Kind {
    fn rule(&self, rng: &mut Rng, index: usize, has_ranges: bool) -> EntrySpec {
        let lengths = pick(rng, self.lengths);
        let [source_len, destination_len] = [lengths.0, lengths.1].map(|len| match len {
            ANY_LENGTH => rng.between(8, 32) as u32,
            len => len,
        });
        let protocol = pick(rng, self.protocols);
        let ports = pick(rng, self.ports);
        let [source_port, destination_port] = [ports.0, ports.1].map(|port| bounds(rng, port));
        let matched_bits = [source_port, destination_port].map(|(low, high)| 16 - (high - low + 1).ilog2());
        let matched_bits = source_len + destination_len + matched_bits[0] + matched_bits[1];
        let port = |(low, high): (u64, u64)| match has_ranges {
            true => range16(low, high),
            false => ternary(16, low, if low == high { 0xffff } else { 0 }),
        };
        let key: Vec<FieldMatch> = vec![
            prefix(32, address(rng), source_len),
            prefix(32, address(rng), destination_len),
            ternary(8, protocol.unwrap_or(0), if protocol.is_some() { 0xff } else { 0 }),
            port(source_port),
            port(destination_port),
        ];
        let order = (u64::from(matched_bits) + rng.below(12)) << 22;
        call(key, (order as i32) - index as i32, rng)
    }
}

/// A value by its weight.
fn pick<T: Copy>(rng: &mut Rng, shares: Shares<T>) -> T {
    let all: u64 = shares.iter().map(|(weight, _)| weight).sum();
    let mut left = rng.below(all);
    for (weight, value) in shares {
        if left < *weight {
            return *value;
        }
        left -= weight;
    }
    shares[0].1
}

/// A number below `count`; the first ones come far more often.
fn skewed(rng: &mut Rng, count: u64) -> u64 {
    let bound = rng.between(1, count);
    rng.below(bound)
}

/// An address of a host in one of 400 sites.
fn address(rng: &mut Rng) -> u64 {
    // The same sites in every rule set: half of them have a first byte in common with others.
    let site = skewed(rng, 400);
    let network = ((site * 0x9e37) ^ (site >> 3)) & 0xff;
    let first = if site.is_multiple_of(2) { 10 + site % 7 } else { 20 + site % 180 };
    let subnet = skewed(rng, 256);
    let host = rng.below(256);
    first << 24 | network << 16 | subnet << 8 | host
}

fn bounds(rng: &mut Rng, port: Port) -> (u64, u64) {
    const KNOWN: [u64; 12] = [80, 443, 53, 22, 25, 110, 143, 1433, 1521, 3306, 8080, 161];
    match port {
        Port::Any => (0, 0xffff),
        Port::High => (1024, 0xffff),
        Port::Known if rng.chance(2, 3) => {
            let port = *rng.pick(&KNOWN);
            (port, port)
        }
        Port::Known => {
            let port = rng.between(1, 10_000);
            (port, port)
        }
        Port::Some => {
            let low = rng.below(50_000);
            let width = *rng.pick(&[1, 9, 99, 999]);
            (low, low + width)
        }
    }
}

/// The bits of a key that a range does not fix.
pub fn within(rng: &mut Rng, low: &Bits, high: &Bits) -> Bits {
    match (low.to_u64(), high.to_u64()) {
        (Some(low_value), Some(high_value)) => Bits::from_u64(low.width(), rng.between(low_value, high_value)),
        _ => low.clone(),
    }
}
