//! Packets in VXLAN tunnels (RFC 7348), and without one, as the gateway's program hands them over.
//!
//! What enters: a frame. What leaves: the packet in it, and its tunnel; and packets put into tunnels.

use controller::address::Mac;
use controller::packet::ip::{self, Packet};
use controller::packet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame};
use core::net::{IpAddr, Ipv4Addr};

const PORT: [u8; 2] = 4789_u16.to_be_bytes();
/// The first byte of VXLAN: there is a VNI.
const HAS_VNI: u8 = 8;

/// A tunnel, from the gateway's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The gateway's Ethernet address on the link.
    pub mac: Mac,
    /// The next station's.
    pub next_mac: Mac,
    /// The gateway's end.
    pub local: Ipv4Addr,
    /// The other end.
    pub remote: Ipv4Addr,
    /// The segment.
    pub vni: u32,
}

impl Tunnel {
    /// A frame in the tunnel, whose UDP source port is this one.
    pub fn carry(&self, source_port: u16, frame: &[u8]) -> Option<Vec<u8>> {
        let [_, vni @ ..] = self.vni.to_be_bytes();
        let length = u16::try_from(16 + frame.len()).ok()?.to_be_bytes();
        let udp = [&source_port.to_be_bytes()[..], &PORT, &length, &[0, 0], &[HAS_VNI, 0, 0, 0], &vni, &[0], frame];
        let packet = ip::build(self.local.into(), self.remote.into(), ip::UDP, 64, &udp.concat())?;
        let Tunnel { mac, next_mac, .. } = *self;
        Some(Frame { destination: next_mac, source: mac, ethertype: ETHERTYPE_IPV4, payload: &packet }.to_bytes())
    }
}

/// A frame that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The frame: that in the tunnel if there is one.
    pub frame: Frame<'a>,
    /// The packet in it.
    pub packet: Packet<'a>,
    /// The tunnel back.
    pub tunnel: Option<Tunnel>,
}

impl Arrived<'_> {
    /// Reads a frame.
    pub fn parse(bytes: &[u8]) -> Option<Arrived<'_>> {
        let frame = Frame::parse(bytes).filter(|it| matches!(it.ethertype, ETHERTYPE_IPV4 | ETHERTYPE_IPV6))?;
        let packet = Packet::parse(frame.payload)?;
        match tunnel(&frame, &packet) {
            None => Some(Arrived { frame, packet, tunnel: None }),
            Some((tunnel, inner)) => {
                let frame = Frame::parse(inner)?;
                Some(Arrived { frame, packet: Packet::parse(frame.payload)?, tunnel: Some(tunnel) })
            }
        }
    }

    /// A frame that brings a packet to where this one came from, through the same tunnel.
    pub fn reply(&self, packet: &[u8]) -> Option<Vec<u8>> {
        let Frame { destination, source, ethertype, .. } = self.frame;
        self.back(Frame { destination: source, source: destination, ethertype, payload: packet }.to_bytes())
    }

    /// A frame on the way back: through the tunnel if this one came through one.
    pub fn back(&self, frame: Vec<u8>) -> Option<Vec<u8>> {
        match self.tunnel {
            Some(tunnel) => tunnel.carry(0xC000, &frame),
            None => Some(frame),
        }
    }
}

/// The tunnel that a packet is, and the frame in it.
fn tunnel<'a>(frame: &Frame<'_>, packet: &Packet<'a>) -> Option<(Tunnel, &'a [u8])> {
    let (IpAddr::V4(remote), IpAddr::V4(local)) = (packet.source, packet.destination) else { return None };
    let is_vxlan = packet.protocol == ip::UDP && packet.payload.get(2..4) == Some(&PORT);
    let &[_, _, _, _, vni0, vni1, vni2, _] = packet.payload.get(8..16).filter(|_| is_vxlan)? else { return None };
    let vni = u32::from_be_bytes([0, vni0, vni1, vni2]);
    let tunnel = Tunnel { mac: frame.destination, next_mac: frame.source, local, remote, vni };
    Some((tunnel, packet.payload.get(16..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_read_again() {
        let (mac, next_mac) = (Mac([2, 0, 0, 0, 3, 1]), Mac([2, 0, 0, 0, 3, 11]));
        let (local, remote) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 11));
        let there = Tunnel { mac, next_mac, local, remote, vni: 0x1_0203 };
        let packet = ip::build(local.into(), remote.into(), 17, 64, &[0; 8]).unwrap();
        let inner = Frame { destination: mac, source: next_mac, ethertype: ETHERTYPE_IPV4, payload: &packet };
        let bytes = there.carry(50_000, &inner.to_bytes()).unwrap();
        let arrived = Arrived::parse(&bytes).unwrap();
        assert_eq!((arrived.frame, arrived.packet.whole), (inner, &packet[..]));
        let back = Tunnel { mac: next_mac, next_mac: mac, local: remote, remote: local, vni: 0x1_0203 };
        assert_eq!(arrived.tunnel, Some(back));
        for length in 0..bytes.len() {
            assert!(Arrived::parse(&bytes[..length]).is_none_or(|it| it.tunnel.is_none()));
        }
    }
}
