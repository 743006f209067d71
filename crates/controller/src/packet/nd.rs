//! Neighbour discovery of IPv6 (RFC 4861): solicitations and advertisements.

use super::ip::{self, Packet};
use super::{ETHERTYPE_IPV6, Frame, array};
use crate::address::{Mac, solicited_node};
use core::net::{IpAddr, Ipv6Addr};

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_MAC: u8 = 1;
const TARGET_MAC: u8 = 2;
/// Flags of advertisements: from a router, because of a solicitation, instead of what was known.
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;
/// What has this hop limit has not passed any router.
const HOP_LIMIT: u8 = 255;
/// All stations of the link.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1);

/// A message about a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Who has the target?
    Solicitation {
        /// The address in question.
        target: Ipv6Addr,
        /// The Ethernet address of the sender.
        mac: Option<Mac>,
    },
    /// The target is here.
    Advertisement {
        /// The address in question.
        target: Ipv6Addr,
        /// Where it is.
        mac: Option<Mac>,
    },
}

/// Reads a message that is valid.
pub fn parse(packet: &Packet<'_>) -> Option<Message> {
    let is_valid = packet.protocol == ip::ICMPV6
        && packet.hop_limit == HOP_LIMIT
        && !packet.is_later_fragment
        && packet.payload.get(1) == Some(&0)
        && packet.icmp_sum() == 0;
    let target = Ipv6Addr::from(array::<16>(packet.payload, 8)?);
    let is_from_one = matches!(packet.source, IpAddr::V6(source) if !source.is_multicast());
    if !is_valid || !is_from_one || target.is_multicast() {
        return None;
    }
    let options = packet.payload.get(24..)?;
    let mac = |kind: u8| option(options, kind).filter(|mac| mac.is_station());
    // A length of 0 would make a message invalid.
    are_whole(options).then_some(())?;
    match packet.payload[0] {
        SOLICITATION => {
            // A sender without an address cannot announce its Ethernet address.
            let mac = mac(SOURCE_MAC).filter(|_| packet.source != IpAddr::V6(Ipv6Addr::UNSPECIFIED));
            Some(Message::Solicitation { target, mac })
        }
        ADVERTISEMENT => Some(Message::Advertisement { target, mac: mac(TARGET_MAC) }),
        _ => None,
    }
}

/// The options one by one: kind, and bytes with the two of their head; ends at what is not whole.
fn options(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let length = 8 * usize::from(*rest.get(1)?);
        let (option, behind) = rest.split_at_checked(length).filter(|_| length > 0)?;
        rest = behind;
        Some((option[0], option))
    })
}

fn are_whole(bytes: &[u8]) -> bool {
    options(bytes).map(|(_, option)| option.len()).sum::<usize>() == bytes.len()
}

fn option(bytes: &[u8], kind_sought: u8) -> Option<Mac> {
    let found = options(bytes).find(|(kind, _)| *kind == kind_sought);
    found.and_then(|(_, option)| array(option, 2)).map(Mac)
}

/// The frame that solicits a neighbour: by multicast on the link, or at its last Ethernet address.
pub fn solicitation(mac: Mac, source: Ipv6Addr, target: Ipv6Addr, whom: Option<Mac>) -> Option<Vec<u8>> {
    let group = solicited_node(target);
    let (to, destination) = whom.map_or((Mac::of_group(group), group), |whom| (whom, target));
    let packet = message(SOLICITATION, 0, target, (SOURCE_MAC, mac), source, destination)?;
    Some(frame(to, mac, &packet))
}

/// A frame that answers a solicitation from these addresses: the target is here. If the sender has no address yet, all
/// stations get it.
pub fn advertisement(mac: Mac, target: Ipv6Addr, asked: IpAddr, asked_mac: Mac) -> Option<Vec<u8>> {
    let IpAddr::V6(asked) = asked else { return None };
    asked_mac.is_station().then_some(())?;
    let (to, destination, flags) = match asked.is_unspecified() {
        true => (Mac::of_group(ALL_NODES), ALL_NODES, ROUTER | OVERRIDE),
        false => (asked_mac, asked, ROUTER | SOLICITED | OVERRIDE),
    };
    let packet = message(ADVERTISEMENT, flags, target, (TARGET_MAC, mac), target, destination)?;
    Some(frame(to, mac, &packet))
}

fn frame(destination: Mac, source: Mac, packet: &[u8]) -> Vec<u8> {
    Frame { destination, source, ethertype: ETHERTYPE_IPV6, payload: packet }.to_bytes()
}

fn message(
    kind: u8,
    flags: u8,
    target: Ipv6Addr,
    (option, mac): (u8, Mac),
    source: Ipv6Addr,
    destination: Ipv6Addr,
) -> Option<Vec<u8>> {
    let head = [kind, 0, 0, 0, flags, 0, 0, 0];
    let payload = [&head[..], &target.octets(), &[option, 1], &mac.0].concat();
    ip::build(source.into(), destination.into(), ip::ICMPV6, HOP_LIMIT, &payload)
}
