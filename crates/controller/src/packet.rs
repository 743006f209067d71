//! Packets as bytes: what the router reads in those that reach it, and those that it makes.
//!
//! What enters: frames, and the fields of packets. What leaves: their parts, and packets with right checksums. What
//! is cut off or contradicts itself is not read.
//!
//! * [`arp`], [`nd`]: neighbours of IPv4 and IPv6; [`neighbour`]: of both. [`icmp`]: errors and echoes.
//! * [`ip`]: headers of both versions. [`tcp`]: whether a server listens.

use crate::address::Mac;

pub mod arp;
pub mod icmp;
pub mod ip;
pub mod nd;
pub mod neighbour;
pub mod tcp;

/// What a frame carries: IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// ARP of IPv4.
pub const ETHERTYPE_ARP: u16 = 0x0806;
/// IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86DD;

/// The addresses of a frame, and what is behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// To whom.
    pub destination: Mac,
    /// From whom.
    pub source: Mac,
    /// What it carries.
    pub ethertype: u16,
    /// That.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Reads a frame.
    pub fn parse(bytes: &[u8]) -> Option<Frame<'_>> {
        Some(Frame {
            destination: Mac(array(bytes, 0)?),
            source: Mac(array(bytes, 6)?),
            ethertype: u16::from_be_bytes(array(bytes, 12)?),
            payload: bytes.get(14..)?,
        })
    }

    /// Its bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        [&self.destination.0[..], &self.source.0, &self.ethertype.to_be_bytes(), self.payload].concat()
    }
}

/// The bytes from an offset on.
fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

fn word(bytes: &[u8], offset: usize) -> Option<u16> {
    array(bytes, offset).map(u16::from_be_bytes)
}

/// The checksum of the Internet (RFC 1071) over parts, of which all but the last have an even length. It is 0 where the
/// parts contain a right one.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = 0;
    for pair in parts.iter().flat_map(|part| part.chunks(2)) {
        sum += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}
