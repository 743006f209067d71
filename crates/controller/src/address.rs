//! Addresses of stations and networks.
//!
//! What enters: text and bytes. What leaves: [`Mac`], [`Network`], and the addresses that follow from them by the rules
//! of IPv6: the link-local one (RFC 4291), the solicited-node group (RFC 4291) and its Ethernet address (RFC 2464).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

/// The address of a station on an Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Mac = Mac([0xFF; 6]);

    /// The address with this value.
    pub fn from_value(value: u128) -> Option<Mac> {
        let bytes = u64::try_from(value).ok().filter(|value| *value < 1 << 48)?.to_be_bytes();
        bytes[2..].try_into().ok().map(Mac)
    }

    /// Whether one station can have it.
    pub fn is_station(self) -> bool {
        self.0[0] & 1 == 0 && self.0 != [0; 6]
    }

    /// The address of the IPv6 interface on its link.
    pub fn link_local(self) -> Ipv6Addr {
        let [a, b, c, d, e, f] = self.0;
        Ipv6Addr::from([0xFE, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xFF, 0xFE, d, e, f])
    }

    /// The Ethernet address of an IPv6 group.
    pub fn of_group(group: Ipv6Addr) -> Mac {
        let [.., a, b, c, d] = group.octets();
        Mac([0x33, 0x33, a, b, c, d])
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Mac, String> {
        let bytes = text.split(':').map(|byte| match byte.len() {
            1 | 2 => u8::from_str_radix(byte, 16).ok(),
            _ => None,
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        let mac = bytes.and_then(|bytes| bytes.try_into().ok()).map(Mac).filter(|mac| mac.is_station());
        mac.ok_or_else(|| format!("{text} is not the address of a station, as 02:00:00:00:01:01"))
    }
}

/// The solicited-node multicast group of an IPv6 address.
pub fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::from([0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, a, b, c])
}

/// Whether an address has its meaning on one link only.
pub fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.octets()[0] == 0xFE && address.octets()[1] & 0xC0 == 0x80)
}

/// The value of an address as a number.
pub fn value(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address with this value, of IPv4 or IPv6.
pub fn from_value(value: u128, is_v6: bool) -> Option<IpAddr> {
    match is_v6 {
        true => Some(Ipv6Addr::from_bits(value).into()),
        false => u32::try_from(value).ok().map(|value| Ipv4Addr::from_bits(value).into()),
    }
}

/// An address with the length of its network's prefix, as `10.0.1.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    /// An address of the network.
    pub address: IpAddr,
    /// The bits of its prefix.
    pub length: u8,
}

impl Network {
    /// The network of one address.
    pub fn one(address: IpAddr) -> Network {
        Network { address, length: bits(address) }
    }

    /// The bits behind the prefix.
    fn host_bits(self) -> u32 {
        u32::from(bits(self.address) - self.length)
    }

    fn prefix_of(self, address: IpAddr) -> u128 {
        value(address).checked_shr(self.host_bits()).unwrap_or(0)
    }

    /// Whether an address belongs to it.
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && self.prefix_of(address) == self.prefix_of(self.address)
    }

    /// The same with the first address.
    pub fn first(self) -> Network {
        let first = self.prefix_of(self.address).checked_shl(self.host_bits()).unwrap_or(0);
        Network { address: from_value(first, self.address.is_ipv6()).unwrap_or(self.address), ..self }
    }

    /// The first and the last address of an IPv4 network, which no station has; none for links of two (RFC 3021).
    pub fn reserved(self) -> Vec<IpAddr> {
        let IpAddr::V4(first) = self.first().address else { return Vec::new() };
        if self.length >= 31 {
            return Vec::new();
        }
        let last = first.to_bits() | u32::MAX >> self.length;
        vec![first.into(), Ipv4Addr::from_bits(last).into()]
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let parse = || {
            let (address, length) = text.split_once('/')?;
            let address = address.parse().ok()?;
            let length = length.parse().ok().filter(|length| *length <= bits(address))?;
            Some(Network { address, length })
        };
        parse().ok_or_else(|| format!("{text} is not a network, as 10.0.1.1/24 or 2001:db8::1/64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_compared() {
        let network: Network = "10.0.1.77/26".parse().unwrap();
        assert_eq!(network.first().to_string(), "10.0.1.64/26");
        assert!(network.contains("10.0.1.127".parse().unwrap()));
        assert!(!network.contains("10.0.1.128".parse().unwrap()));
        assert!(!network.contains("::".parse().unwrap()));
        assert_eq!(network.reserved(), ["10.0.1.64", "10.0.1.127"].map(|it| it.parse::<IpAddr>().unwrap()));
        let all: Network = "::1/0".parse().unwrap();
        assert!(all.contains("ffff::".parse().unwrap()));
        assert_eq!(all.first().to_string(), "::/0");
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("255.0.0.1".parse().unwrap()));
        assert!("10.0.0.1/31".parse::<Network>().unwrap().reserved().is_empty());
        for wrong in ["10.0.0.1", "10.0.0.1/33", "10.0.0/8", "::/129", "x/1"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_follow_from_others() {
        let mac: Mac = "02:00:00:0a:01:01".parse().unwrap();
        assert_eq!(mac.link_local().to_string(), "fe80::ff:fe0a:101");
        let group = solicited_node("2001:db8::ab:cdef".parse().unwrap());
        assert_eq!(group.to_string(), "ff02::1:ffab:cdef");
        assert_eq!(Mac::of_group(group).to_string(), "33:33:ff:ab:cd:ef");
        for wrong in ["01:00:00:00:00:01", "00:00:00:00:00:00", "02:00:00:00:00", "02:00:00:00:00:001", ""] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
        assert!(is_link_local("febf::1".parse().unwrap()) && !is_link_local("fec0::1".parse().unwrap()));
    }
}
