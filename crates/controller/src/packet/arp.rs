//! ARP for IPv4 on Ethernet (RFC 826).

use super::array;
use crate::address::Mac;
use core::net::Ipv4Addr;

const HEAD: [u8; 6] = [0, 1, 8, 0, 6, 4];
/// Who has the target?
pub const REQUEST: u16 = 1;
/// The sender is here.
pub const REPLY: u16 = 2;

/// A request or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// [`REQUEST`] or [`REPLY`].
    pub operation: u16,
    /// Who speaks.
    pub sender_mac: Mac,
    /// Its address.
    pub sender: Ipv4Addr,
    /// To whom, or about whom.
    pub target_mac: Mac,
    /// The address of that.
    pub target: Ipv4Addr,
}

impl Arp {
    /// Reads one.
    pub fn parse(bytes: &[u8]) -> Option<Arp> {
        let operation = u16::from_be_bytes(array(bytes, 6)?);
        let arp = Arp {
            operation,
            sender_mac: Mac(array(bytes, 8)?),
            sender: Ipv4Addr::from(array::<4>(bytes, 14)?),
            target_mac: Mac(array(bytes, 18)?),
            target: Ipv4Addr::from(array::<4>(bytes, 24)?),
        };
        (bytes.starts_with(&HEAD) && matches!(operation, REQUEST | REPLY)).then_some(arp)
    }

    /// Its bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let (sender, target) = (self.sender.octets(), self.target.octets());
        [&HEAD[..], &self.operation.to_be_bytes(), &self.sender_mac.0, &sender, &self.target_mac.0, &target].concat()
    }
}
