//! Neighbours of both versions of IP: questions about them, what they say of themselves, answers to their questions.
//!
//! What enters: addresses, and frames of ARP or neighbour discovery. What leaves: frames, and [`Said`].

use super::arp::{self, Arp};
use super::ip::Packet;
use super::{ETHERTYPE_ARP, ETHERTYPE_IPV6, Frame, nd};
use crate::address::Mac;
use crate::logic::Orders;
use crate::neighbours::Station;
use core::net::IpAddr;

/// What a station says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its address.
    pub address: IpAddr,
    /// Where it is, if it says so.
    pub mac: Option<Mac>,
    /// The address that it speaks about: its own, or the one that it asks for.
    pub target: IpAddr,
    /// Whether it asks where the target is.
    pub is_question: bool,
    /// Who has sent the frame.
    sender: Mac,
}

impl Said {
    /// Reads a frame of ARP or neighbour discovery.
    pub fn parse(bytes: &[u8]) -> Option<Said> {
        let frame = Frame::parse(bytes)?;
        match frame.ethertype {
            ETHERTYPE_ARP => Arp::parse(frame.payload).map(|arp| Said {
                address: arp.sender.into(),
                mac: Some(arp.sender_mac),
                target: arp.target.into(),
                is_question: arp.operation == arp::REQUEST,
                sender: arp.sender_mac,
            }),
            ETHERTYPE_IPV6 => {
                let packet = Packet::parse(frame.payload)?;
                let (address, mac, target, is_question) = match nd::parse(&packet)? {
                    nd::Message::Solicitation { target, mac } => (packet.source, mac, target.into(), true),
                    nd::Message::Advertisement { target, mac } => {
                        (target.into(), Some(mac.unwrap_or(frame.source)), target.into(), false)
                    }
                };
                Some(Said { address, mac, target, is_question, sender: frame.source })
            }
            _ => None,
        }
    }

    /// The frame that answers a question: the target is here.
    pub fn answer(&self, here: Mac) -> Option<Vec<u8>> {
        match (self.address, self.target) {
            (IpAddr::V4(asked), IpAddr::V4(target)) => {
                let (sender_mac, sender) = (here, target);
                let reply = Arp { operation: arp::REPLY, sender_mac, sender, target_mac: self.sender, target: asked };
                let payload = &reply.to_bytes()[..];
                Some(Frame { destination: self.sender, source: here, ethertype: ETHERTYPE_ARP, payload }.to_bytes())
            }
            (asked, IpAddr::V6(target)) => nd::advertisement(here, target, asked, self.sender),
            _ => None,
        }
    }
}

/// Asks where a station is: all stations of its link, or the place where it was. Who asks is at an Ethernet address,
/// and asks nothing where it has no address of this version of IP.
pub fn ask(station: Station, whom: Option<Mac>, mac: Mac, source: Option<IpAddr>, orders: &mut Orders) {
    if let Some(frame) = source.and_then(|source| question(mac, source, station.address, whom)) {
        orders.packet(&[("port", station.port.into())], frame);
    }
}

/// A frame that asks for the Ethernet address of a station, by ARP or neighbour discovery.
fn question(mac: Mac, source: IpAddr, target: IpAddr, whom: Option<Mac>) -> Option<Vec<u8>> {
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
    fn an_answer_says_what_the_question_asks() {
        for [asked, target] in [["10.0.1.9", "10.0.1.1"], ["2001:db8::9", "2001:db8::1"]] {
            let [asked, target]: [IpAddr; 2] = [asked, target].map(|it| it.parse().unwrap());
            let said = Said::parse(&question(THERE, asked, target, None).unwrap()).unwrap();
            let expected = Said { address: asked, mac: Some(THERE), target, is_question: true, sender: THERE };
            assert_eq!(said, expected);
            let answer = said.answer(HERE).unwrap();
            assert_eq!(Frame::parse(&answer).unwrap().destination, THERE);
            let said = Said::parse(&answer).unwrap();
            assert_eq!((said.address, said.mac, said.is_question), (target, Some(HERE), false));
        }
    }
}
