//! UDP (RFC 768).

use crate::wire::checksum::pseudo_header;
use crate::wire::ip::{self, UDP};
use crate::wire::u16_at;

/// The length of the header.
pub const HEADER_BYTES: usize = 8;

/// The ports of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

/// The ports and the payload of a datagram, if its lengths and its checksum are right.
pub fn parse<'a>(ip: &ip::Header, datagram: &'a [u8]) -> Option<(Ports, &'a [u8])> {
    let ports = Ports { source: u16_at(datagram, 0)?, destination: u16_at(datagram, 2)? };
    let (length, sum) = (usize::from(u16_at(datagram, 4)?), u16_at(datagram, 6)?);
    let datagram = datagram.get(..length).filter(|_| length >= HEADER_BYTES)?;
    // IPv4 datagrams may do without.
    let is_unchecked = sum == 0 && ip.source.is_ipv4();
    let is_right = || pseudo_header(ip.source, ip.destination, UDP, length).with(datagram).finish() == 0;
    (is_unchecked || is_right()).then(|| (ports, &datagram[HEADER_BYTES..]))
}

/// The same for a datagram that ends with this many bytes that are zero. The payload is what comes before them.
pub(crate) fn parse_before<'a>(ip: &ip::Header, datagram: &'a [u8], zeros: usize) -> Option<(Ports, &'a [u8])> {
    let ports = Ports { source: u16_at(datagram, 0)?, destination: u16_at(datagram, 2)? };
    let length = usize::from(u16_at(datagram, 4)?);
    let is_right = || pseudo_header(ip.source, ip.destination, UDP, length).with(datagram).finish() == 0;
    (length == datagram.len() + zeros && is_right()).then(|| (ports, &datagram[HEADER_BYTES..]))
}

/// Writes the header of a datagram whose payload is in its place.
///
/// # Panics
/// If the datagram is shorter than a header or longer than 65,535 bytes.
pub fn emit(ip: &ip::Header, ports: Ports, datagram: &mut [u8]) {
    emit_before(ip, ports, datagram, 0);
}

/// The same for a datagram whose further bytes, this many, are zero.
///
/// # Panics
/// If it is shorter than a header or longer than 65,535 bytes.
pub(crate) fn emit_before(ip: &ip::Header, ports: Ports, datagram: &mut [u8], zeros: usize) {
    let length = u16::try_from(datagram.len() + zeros).expect("a datagram fits its length");
    datagram[0..2].copy_from_slice(&ports.source.to_be_bytes());
    datagram[2..4].copy_from_slice(&ports.destination.to_be_bytes());
    datagram[4..6].copy_from_slice(&length.to_be_bytes());
    datagram[6..8].fill(0);
    let sum = pseudo_header(ip.source, ip.destination, UDP, length.into()).with(datagram).finish();
    // A checksum of 0 would mean that there is none.
    let sum = if sum == 0 { 0xffff } else { sum };
    datagram[6..8].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_written_as_they_are_read_and_changes_are_found() {
        for ips in [["10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2"]] {
            let [source, destination] = ips.map(|ip| ip.parse().unwrap());
            let ip = ip::Header { source, destination, protocol: UDP, ttl: 64, traffic_class: 0 };
            let ports = Ports { source: 1_000, destination: 2_000 };
            let mut datagram = *b"........hello";
            emit(&ip, ports, &mut datagram);
            assert_eq!(parse(&ip, &datagram), Some((ports, &b"hello"[..])));
            for bit in 0..8 * datagram.len() {
                datagram[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(parse(&ip, &datagram), None, "bit {bit}");
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
            assert_eq!(parse(&ip, &datagram[..12]), None);
            datagram[6..8].fill(0);
            assert_eq!(parse(&ip, &datagram).is_some(), source.is_ipv4());
        }
    }
}
