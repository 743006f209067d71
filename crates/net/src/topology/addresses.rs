//! The addresses of a host.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// An IP address with the prefix length of its network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// The prefix length in bits.
    pub prefix_bits: u8,
}

/// The prefix length of an address that is written without one, as in Mininet.
const PREFIX_BITS_DEFAULT: u8 = 8;

impl Address {
    /// The address of a host for which the file gives none, derived from its number and that of its switch.
    pub fn numbered(switch: u8, host: u8) -> Address {
        Address { ip: IpAddr::V4(Ipv4Addr::new(10, 0, switch, host)), prefix_bits: 24 }
    }

    /// Parses an address such as `10.0.1.1/24`.
    pub fn parse(text: &str) -> Option<Address> {
        let (ip, prefix_bits) = match text.split_once('/') {
            Some((ip, prefix)) => (ip.parse().ok()?, prefix.parse().ok()?),
            None => (text.parse().ok()?, PREFIX_BITS_DEFAULT),
        };
        let bits_max = match ip {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        (prefix_bits <= bits_max).then_some(Address { ip, prefix_bits })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix_bits)
    }
}

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The Ethernet address of a host for which the file gives none.
    pub fn numbered(switch: u8, host: u8) -> Mac {
        Mac([0, 0, 0, 0, switch, host])
    }

    /// The address of a switch's port: locally administered, and the same in every run.
    pub fn of_port(switch: usize, port: u32) -> Mac {
        let ([.., first, second], [.., third, fourth]) = ((switch as u32 + 1).to_be_bytes(), port.to_be_bytes());
        Mac([2, 0, first, second, third, fourth])
    }

    /// Parses an address such as `08:00:00:00:01:11`, also with `-`.
    pub fn parse(text: &str) -> Option<Mac> {
        let mut bytes = [0; 6];
        let mut parts = text.split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next().filter(|part| matches!(part.len(), 1 | 2))?;
            *byte = u8::from_str_radix(part, 16).ok().filter(|_| !part.starts_with('+'))?;
        }
        parts.next().is_none().then_some(Mac(bytes))
    }

    /// Whether the address is a group address, which no single station can have.
    pub fn is_group(&self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
