//! ICMP errors of a router: a packet has passed too many routers, has no route, or is too long for the next link.

use crate::node::Context;
use crate::router::{Router, header};
use crate::time::Time;
use crate::wire::ethernet::{self, HEADER_BYTES};
use crate::wire::{Mac, icmp, ip};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The time to live of errors.
const TTL: u8 = 64;

/// The address of routers that have none (RFC 7600, section 4.8).
const NO_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 0, 8));

/// How many errors a router may send: at most [`Budget::MOST`] at once, and one more in each [`Budget::INTERVAL`] (RFC
/// 1812, section 4.3.2.8; the numbers are Linux's).
#[derive(Default)]
pub(super) struct Budget {
    /// The time at which all of them may be sent again.
    full_at: Time,
}

impl Budget {
    const MOST: u64 = 50;
    const INTERVAL: Time = Time::from_ms(1);

    fn take(&mut self, now: Time) -> bool {
        let next = self.full_at.max(now) + Budget::INTERVAL;
        let is_allowed = next <= now + Budget::INTERVAL.times(Budget::MOST);
        if is_allowed {
            self.full_at = next;
        }
        is_allowed
    }
}

impl Router {
    /// Reports to the sender of a frame, which came in on port `from`, that it ends here.
    pub(super) fn send_error(&mut self, context: &mut Context<'_>, from: usize, reason: icmp::Reason, frame: &[u8]) {
        let Some((ethertype, at)) = ethernet::payload(frame) else { return };
        let packet = &frame[at..];
        let Ok((cause, transport)) = ip::Header::parse(ethertype, packet) else { return };
        if !icmp::may_cause_error(&cause, transport) || !self.budget.take(context.now()) {
            return;
        }
        let to = cause.source;
        let protocol = icmp::protocol(to);
        let source = self.address(from, to.is_ipv4());
        let error = ip::Header { source, destination: to, protocol, ttl: TTL, traffic_class: 0 };
        let quoted = &packet[..packet.len().min(icmp::quoted_bytes_max(&error))];
        let message_at = HEADER_BYTES + error.bytes();
        let mut answer = context.pool().zeroed(message_at + icmp::HEADER_BYTES + quoted.len());
        let bytes = answer.bytes_mut();
        error.emit(&mut bytes[HEADER_BYTES..], icmp::HEADER_BYTES + quoted.len());
        bytes[message_at + icmp::HEADER_BYTES..].copy_from_slice(quoted);
        icmp::emit_error(&error, reason, &mut bytes[message_at..]);
        header(Mac::default(), Mac::default(), error.ethertype()).emit(bytes);
        match self.route(answer.bytes()) {
            Ok(port) => {
                let (mac, peer) = (self.config.ports[port].mac, self.config.ports[port].peer);
                header(peer, mac, error.ethertype()).emit(answer.bytes_mut());
                self.counters.errors += 1;
                context.send(port, answer);
            }
            Err(_) => context.end(answer),
        }
    }

    /// The own address with which an error is sent: of the port at which its cause came in, or of another one.
    fn address(&self, port: usize, is_v4: bool) -> IpAddr {
        let ports = std::iter::once(&self.config.ports[port]).chain(&self.config.ports);
        let own = ports.flat_map(|port| &port.addresses).find(|address| address.is_ipv4() == is_v4);
        own.copied().unwrap_or_else(|| if is_v4 { NO_ADDRESS } else { link_local(self.config.ports[port].mac) })
    }
}

/// The address of a station on its link (RFC 4291, appendix A).
fn link_local(mac: Mac) -> IpAddr {
    let [a, b, c, d, e, f] = mac.0.map(u16::from);
    let words = [(a ^ 2) << 8 | b, c << 8 | 0xff, 0xfe00 | d, e << 8 | f];
    IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, words[0], words[1], words[2], words[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_limited() {
        let mut budget = Budget::default();
        let mut sent = |now| (0..100).filter(|_| budget.take(now)).count();
        assert_eq!(sent(Time::from_s(1)), 50);
        assert_eq!(sent(Time::from_s(1) + Time::from_us(5_500)), 5);
        assert_eq!(sent(Time::from_s(2)), 50);
    }

    #[test]
    fn routers_without_an_address_have_one_on_the_link() {
        assert_eq!(link_local(Mac([0x02, 0x01, 0, 3, 0, 9])).to_string(), "fe80::1:ff:fe03:9");
    }
}
