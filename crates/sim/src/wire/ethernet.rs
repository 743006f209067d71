//! Ethernet II.

use crate::wire::{array, u16_at};
use std::fmt;

/// The length of the header.
pub const HEADER_BYTES: usize = 14;

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherTypes of VLAN tags.
const TAGS: [u16; 2] = [0x8100, 0x88a8];

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// A locally administered address for a number.
    pub fn numbered(number: u32) -> Mac {
        let [a, b, c, d] = number.to_be_bytes();
        Mac([0x02, 0, a, b, c, d])
    }

    /// Whether it stands for a group of stations.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// A header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// For whom.
    pub destination: Mac,
    /// From whom.
    pub source: Mac,
    /// What follows.
    pub ethertype: u16,
}

impl Header {
    /// The header of a frame, and what follows it.
    #[inline]
    pub fn parse(frame: &[u8]) -> Option<(Header, &[u8])> {
        let (destination, source) = (Mac(array(frame, 0)?), Mac(array(frame, 6)?));
        let header = Header { destination, source, ethertype: u16_at(frame, 12)? };
        Some((header, &frame[HEADER_BYTES..]))
    }

    /// Writes the header at the begin of `frame`.
    ///
    /// # Panics
    /// If the frame is shorter.
    pub fn emit(&self, frame: &mut [u8]) {
        frame[0..6].copy_from_slice(&self.destination.0);
        frame[6..12].copy_from_slice(&self.source.0);
        frame[12..14].copy_from_slice(&self.ethertype.to_be_bytes());
    }
}

/// The EtherType behind VLAN tags, and where its protocol begins.
#[inline]
pub(crate) fn payload(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = HEADER_BYTES;
    let mut ethertype = u16_at(frame, 12)?;
    while TAGS.contains(&ethertype) {
        ethertype = u16_at(frame, at + 2)?;
        at += 4;
    }
    Some((ethertype, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_written_as_they_are_read() {
        let header = Header { destination: Mac::BROADCAST, source: Mac::numbered(0x0102_0304), ethertype: ARP };
        let mut frame = [7; 20];
        header.emit(&mut frame);
        assert_eq!(Header::parse(&frame), Some((header, &[7; 6][..])));
        assert_eq!(Header::parse(&frame[..13]), None);
        assert_eq!(header.source.to_string(), "02:00:01:02:03:04");
    }

    #[test]
    fn protocols_are_found_behind_tags() {
        let mut frame = [0; 30];
        frame[12..22].copy_from_slice(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x08, 0]);
        assert_eq!(payload(&frame), Some((IPV4, 22)));
        assert_eq!(payload(&frame[..20]), None);
    }
}
