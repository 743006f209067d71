//! Neighbours of both versions of IP: solicitations, what stations announce of themselves, and replies.
//!
//! What enters: addresses, and frames of ARP or neighbour discovery. What leaves: frames, and [`NeighbourMessage`].

use super::arp::{self, Arp};
use super::ip::Packet;
use super::{ETHERTYPE_ARP, ETHERTYPE_IPV6, Frame, nd};
use crate::address::Mac;
use crate::logic::Orders;
use crate::neighbours::Station;
use core::net::IpAddr;

/// A message of ARP or neighbour discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourMessage {
    /// The address of the station that sent it.
    pub address: IpAddr,
    /// Its Ethernet address, if the message has it.
    pub mac: Option<Mac>,
    /// The target address: the sender's own, or the one that it solicits.
    pub target: IpAddr,
    /// Whether the message is a request for the target's Ethernet address.
    pub is_request: bool,
    /// The source of the frame.
    sender: Mac,
}

impl NeighbourMessage {
    /// Reads a frame of ARP or neighbour discovery.
    pub fn parse(bytes: &[u8]) -> Option<NeighbourMessage> {
        let frame = Frame::parse(bytes)?;
        match frame.ethertype {
            ETHERTYPE_ARP => Arp::parse(frame.payload).map(|arp| NeighbourMessage {
                address: arp.sender.into(),
                mac: Some(arp.sender_mac),
                target: arp.target.into(),
                is_request: arp.operation == arp::REQUEST,
                sender: arp.sender_mac,
            }),
            ETHERTYPE_IPV6 => {
                let packet = Packet::parse(frame.payload)?;
                let (address, mac, target, is_request) = match nd::parse(&packet)? {
                    nd::Message::Solicitation { target, mac } => (packet.source, mac, target.into(), true),
                    nd::Message::Advertisement { target, mac } => {
                        (target.into(), Some(mac.unwrap_or(frame.source)), target.into(), false)
                    }
                };
                Some(NeighbourMessage { address, mac, target, is_request, sender: frame.source })
            }
            _ => None,
        }
    }

    /// The reply to a request: the target has this Ethernet address.
    pub fn answer(&self, here: Mac) -> Option<Vec<u8>> {
        match (self.address, self.target) {
            (IpAddr::V4(requester), IpAddr::V4(target)) => {
                let (sender_mac, sender) = (here, target);
                let reply =
                    Arp { operation: arp::REPLY, sender_mac, sender, target_mac: self.sender, target: requester };
                let payload = &reply.to_bytes()[..];
                Some(Frame { destination: self.sender, source: here, ethertype: ETHERTYPE_ARP, payload }.to_bytes())
            }
            (requester, IpAddr::V6(target)) => nd::advertisement(here, target, requester, self.sender),
            _ => None,
        }
    }
}

/// Solicits a station: by multicast on its link, or at its last Ethernet address. `mac` and `source` are the switch's
/// own addresses; without a source address of this version of IP nothing is sent.
pub fn solicit(station: Station, whom: Option<Mac>, mac: Mac, source: Option<IpAddr>, orders: &mut Orders) {
    if let Some(frame) = source.and_then(|source| solicitation(mac, source, station.address, whom)) {
        orders.packet(&[("port", station.port.into())], frame);
    }
}

/// The request for the Ethernet address of a station, by ARP or neighbour discovery.
fn solicitation(mac: Mac, source: IpAddr, target: IpAddr, whom: Option<Mac>) -> Option<Vec<u8>> {
    match (source, target) {
        (IpAddr::V4(sender), IpAddr::V4(target)) => {
            let arp = Arp { operation: arp::REQUEST, sender_mac: mac, sender, target_mac: Mac([0; 6]), target };
            let destination = whom.unwrap_or(Mac::BROADCAST);
            let payload = &arp.to_bytes()[..];
            Some(Frame { destination, source: mac, ethertype: ETHERTYPE_ARP, payload }.to_bytes())
        }
        (IpAddr::V6(source), IpAddr::V6(target)) => nd::solicitation(mac, source, target, whom),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Mac = Mac([2, 0, 0, 0, 1, 1]);
    const THERE: Mac = Mac([2, 0, 0, 0, 1, 9]);

    #[test]
    fn a_reply_has_the_address_that_the_request_solicits() {
        for [requester, target] in [["10.0.1.9", "10.0.1.1"], ["2001:db8::9", "2001:db8::1"]] {
            let [requester, target]: [IpAddr; 2] = [requester, target].map(|it| it.parse().unwrap());
            let message = NeighbourMessage::parse(&solicitation(THERE, requester, target, None).unwrap()).unwrap();
            let expected =
                NeighbourMessage { address: requester, mac: Some(THERE), target, is_request: true, sender: THERE };
            assert_eq!(message, expected);
            let answer = message.answer(HERE).unwrap();
            assert_eq!(Frame::parse(&answer).unwrap().destination, THERE);
            let message = NeighbourMessage::parse(&answer).unwrap();
            assert_eq!((message.address, message.mac, message.is_request), (target, Some(HERE), false));
        }
    }
}
