//! Neighbour discovery of IPv6 (RFC 4861): solicitations and advertisements.

use super::array;
use super::ip::{self, Packet};
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
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1);

/// A message about a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Who has the target?
    Solicitation {
        /// The address in question.
        target: Ipv6Addr,
        /// Where who asks is.
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
    if !is_valid || target.is_multicast() {
        return None;
    }
    let options = packet.payload.get(24..)?;
    let mac = |kind: u8| option(options, kind).filter(|mac| mac.is_station());
    // A length of 0 would make a message invalid.
    are_whole(options).then_some(())?;
    match packet.payload[0] {
        SOLICITATION => {
            // Who has no address yet cannot say where it is.
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

fn option(bytes: &[u8], wanted: u8) -> Option<Mac> {
    let found = options(bytes).find(|(kind, _)| *kind == wanted);
    found.and_then(|(_, option)| array(option, 2)).map(Mac)
}

/// Asks for a neighbour, of all or of where it was.
pub fn solicitation(mac: Mac, source: Ipv6Addr, target: Ipv6Addr, is_to_all: bool) -> Option<Vec<u8>> {
    let destination = if is_to_all { solicited_node(target) } else { target };
    message(SOLICITATION, 0, target, (SOURCE_MAC, mac), source, destination)
}

/// Says that an address of the router is here. Who asked may have no address yet.
pub fn advertisement(mac: Mac, target: Ipv6Addr, asked: Ipv6Addr) -> Option<Vec<u8>> {
    let (destination, flags) = match asked.is_unspecified() {
        true => (ALL_NODES, ROUTER | OVERRIDE),
        false => (asked, ROUTER | SOLICITED | OVERRIDE),
    };
    message(ADVERTISEMENT, flags, target, (TARGET_MAC, mac), target, destination)
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
