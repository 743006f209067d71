//! ARP for IPv4 on Ethernet (RFC 826).

use crate::wire::Mac;
use crate::wire::array;
use core::net::Ipv4Addr;

/// The length of a message.
pub const BYTES: usize = 28;

/// Ethernet, IPv4, and the lengths of their addresses.
const PREFIX: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// A question, or an answer.
    pub is_request: bool,
    /// The sender's addresses.
    pub sender: (Mac, Ipv4Addr),
    /// The target's addresses; in a request its Ethernet address is unknown.
    pub target: (Mac, Ipv4Addr),
}

impl Message {
    /// Reads a message.
    pub fn parse(bytes: &[u8]) -> Option<Message> {
        let operation = u16::from_be_bytes(array(bytes, 6)?);
        let addresses = |at| Some((Mac(array(bytes, at)?), Ipv4Addr::from(array::<4>(bytes, at + 6)?)));
        let (sender, target) = (addresses(8)?, addresses(18)?);
        let is_known = bytes[..6] == PREFIX && matches!(operation, 1 | 2);
        is_known.then_some(Message { is_request: operation == 1, sender, target })
    }

    /// Writes the message into `bytes`.
    ///
    /// # Panics
    /// If they are fewer than [`BYTES`].
    pub fn emit(&self, bytes: &mut [u8]) {
        bytes[..6].copy_from_slice(&PREFIX);
        bytes[6..8].copy_from_slice(&[0, if self.is_request { 1 } else { 2 }]);
        for (at, (mac, ip)) in [(8, self.sender), (18, self.target)] {
            bytes[at..at + 6].copy_from_slice(&mac.0);
            bytes[at + 6..at + 10].copy_from_slice(&ip.octets());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_they_are_read() {
        let sender = (Mac::numbered(1), Ipv4Addr::new(10, 0, 0, 1));
        let message = Message { is_request: true, sender, target: (Mac::default(), Ipv4Addr::new(10, 0, 0, 2)) };
        let mut bytes = [0; BYTES];
        message.emit(&mut bytes);
        assert_eq!(Message::parse(&bytes), Some(message));
        assert_eq!(Message::parse(&bytes[..27]), None);
        bytes[7] = 3;
        assert_eq!(Message::parse(&bytes), None);
    }
}
