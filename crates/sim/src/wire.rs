//! The formats of packets: Ethernet, ARP, IPv4, IPv6, ICMP, ICMPv6 with neighbour discovery, UDP.
//!
//! What enters: bytes, however malformed. What leaves: values that can only be sensible, or `None`. In the other
//! direction, values are written into bytes of the right length. No function here panics for any bytes that are parsed.
//!
//! * [`ethernet`], [`arp`], [`ip`], [`icmp`], [`udp`]: one format each.
//! * [`checksum`]: the Internet checksum. [`flow`]: which packet of which flow a frame is.

pub mod arp;
pub mod checksum;
pub mod ethernet;
pub mod flow;
pub mod icmp;
pub mod ip;
pub mod udp;

pub use ethernet::Mac;

/// `N` bytes at a position, if they are there.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// Two bytes in network order.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}
