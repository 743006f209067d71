//! Packets as the gateway's program hands them over: as they arrived, with or without the tunnel.
//!
//! What enters: a frame. What leaves: the packet in it, and its tunnel; and packets put back into it.

use crate::bindings::Inner;
use controller::packet::ip::{self, Packet};
use controller::packet::{ETHERTYPE_IPV4, Frame};
use core::net::IpAddr;

const GRE: u8 = 47;
/// The bit of a GRE header that says that there is a key.
const HAS_KEY: u8 = 0x20;

/// A frame that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// The packet: that in the tunnel if there is one.
    pub packet: Packet<'a>,
    /// The packet that is the tunnel, and its GRE header.
    tunnel: Option<(Packet<'a>, &'a [u8])>,
}

impl Arrived<'_> {
    /// Reads a frame.
    pub fn parse(bytes: &[u8]) -> Option<Arrived<'_>> {
        let frame = Frame::parse(bytes).filter(|frame| frame.ethertype == ETHERTYPE_IPV4)?;
        let outer = Packet::parse(frame.payload).filter(|packet| packet.source.is_ipv4())?;
        if outer.protocol != GRE {
            return Some(Arrived { frame, packet: outer, tunnel: None });
        }
        let length = if outer.payload.first()? & HAS_KEY != 0 { 8 } else { 4 };
        let (header, inner) = (outer.payload.get(..length)?, outer.payload.get(length..)?);
        let packet = Packet::parse(inner).filter(|packet| packet.source.is_ipv4())?;
        Some(Arrived { frame, packet, tunnel: Some((outer, header)) })
    }

    /// What the binding of the packet is about.
    pub fn inner(&self, subscriber: u32) -> Option<Inner> {
        let IpAddr::V4(address) = self.packet.source else { return None };
        let protocol = self.packet.protocol;
        // An echo has its identifier behind type, code and checksum.
        let offset = if protocol == ip::ICMP { 4 } else { 0 };
        let bytes = self.packet.payload.get(offset..offset + 2)?;
        Some(Inner { subscriber, address, protocol, port: u16::from_be_bytes([bytes[0], bytes[1]]) })
    }

    /// The gateway's address at which the tunnel ends.
    pub fn tunnel_end(&self) -> Option<IpAddr> {
        self.tunnel.map(|(outer, _)| outer.destination)
    }

    /// A frame that brings a packet to where this one came from, through the same tunnel.
    pub fn reply(&self, packet: Vec<u8>) -> Option<Vec<u8>> {
        let payload = match self.tunnel {
            Some((outer, header)) => {
                let content = [header, &packet].concat();
                ip::build(outer.destination, outer.source, GRE, 64, &content)?
            }
            None => packet,
        };
        let Frame { destination, source, ethertype, .. } = self.frame;
        Some(Frame { destination: source, source: destination, ethertype, payload: &payload }.to_bytes())
    }
}
