//! Reassembly of IPv4 and IPv6 packets that were fragmented on their path (RFC 791, RFC 815, RFC 8200).
//!
//! What enters: fragments, in any order. What leaves: whole packets. What never becomes whole is given up after a
//! while, or when others need its memory.
//!
//! * Of bytes that come twice in IPv4 the later ones count (RFC 791). IPv6 gives up a packet whose fragments overlap,
//!   also those of its fragments that are still to come (RFC 5722); a fragment that is only repeated is passed over.
//! * A packet has met congestion if one of its fragments has (RFC 3168, section 5.3).

use crate::time::Time;
use crate::wire::ip::{self, Datagram, Fragment};
use base::OrderedMap;
use base::ordered::Entry;
use std::ops::Range;

/// How long parts of a packet are held (RFC 8200, section 4.5; RFC 1122, section 3.3.2 recommends 60 to 120 s).
const TIMEOUT: Time = Time::from_s(60);

/// Memory for all parts that a host holds.
const BYTES_MAX: usize = 1 << 20;

/// What a packet takes of it besides its bytes.
const PARTIAL_BYTES: usize = 512;

/// The bytes of a first fragment that an error may quote.
const QUOTED_BYTES: usize = 1280;

/// The fragments of a host's packets that are not whole yet.
#[derive(Default)]
pub(super) struct Reassembly {
    partials: OrderedMap<Datagram, Partial>,
    /// In the order in which their first parts came, which is that of their deadlines.
    by_age: OrderedMap<u64, Datagram>,
    serial: u64,
    bytes: usize,
    /// Packets that were given up.
    given_up: u64,
}

/// What of a packet has come.
struct Partial {
    serial: u64,
    deadline: Time,
    /// What stands before the payload, from the first fragment.
    head: Vec<u8>,
    /// Up to the end of the fragment with the highest offset.
    payload: Vec<u8>,
    /// Which parts of the payload have come: sorted, with gaps between.
    pieces: Vec<Range<usize>>,
    /// The length of the payload, from the last fragment.
    end: Option<usize>,
    /// The codepoints of ECN that fragments had, a bit for each.
    codepoints: u8,
    /// The beginning of the first fragment, for an error.
    quote: Vec<u8>,
    /// Whether its fragments contradict each other.
    is_void: bool,
}

impl Reassembly {
    /// Takes a fragment; returns the packet if it is whole now.
    pub(super) fn take(&mut self, now: Time, fragment: &Fragment<'_>) -> Option<Vec<u8>> {
        let partial = match self.partials.entry(fragment.datagram) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                self.serial += 1;
                self.by_age.insert(self.serial, fragment.datagram);
                self.bytes += PARTIAL_BYTES;
                entry.insert(Partial::new(self.serial, now + TIMEOUT))
            }
        };
        let before = partial.bytes();
        partial.take(fragment);
        self.bytes += partial.bytes();
        self.bytes -= before;
        if partial.is_whole() {
            let packet = self.remove(fragment.datagram).and_then(Partial::join);
            self.given_up += u64::from(packet.is_none());
            return packet;
        }
        while self.bytes > BYTES_MAX {
            let (_, oldest) = self.by_age.first_key_value()?;
            self.remove(*oldest);
            self.given_up += 1;
        }
        None
    }

    fn remove(&mut self, datagram: Datagram) -> Option<Partial> {
        let partial = self.partials.remove(&datagram)?;
        self.by_age.remove(&partial.serial);
        self.bytes -= partial.bytes() + PARTIAL_BYTES;
        Some(partial)
    }

    /// Packets that were given up.
    pub(super) fn given_up(&self) -> u64 {
        self.given_up
    }

    /// When the next packet is given up.
    pub(super) fn next_timer(&self) -> Time {
        let oldest = self.by_age.first_key_value().and_then(|(_, datagram)| self.partials.get(datagram));
        oldest.map_or(Time::MAX, |partial| partial.deadline)
    }

    /// Gives up a packet whose time is over; returns the beginning of its first fragment, if that has come, for an
    /// ICMP error to its sender.
    pub(super) fn give_up(&mut self, now: Time) -> Option<Vec<u8>> {
        while self.next_timer() <= now {
            let (_, oldest) = self.by_age.first_key_value()?;
            let partial = self.remove(*oldest)?;
            self.given_up += 1;
            if !partial.quote.is_empty() {
                return Some(partial.quote);
            }
        }
        None
    }
}

impl Partial {
    fn new(serial: u64, deadline: Time) -> Partial {
        Partial {
            serial,
            deadline,
            head: Vec::new(),
            payload: Vec::new(),
            pieces: Vec::new(),
            end: None,
            codepoints: 0,
            quote: Vec::new(),
            is_void: false,
        }
    }

    fn bytes(&self) -> usize {
        self.head.len() + self.payload.len() + self.quote.len() + self.pieces.len() * size_of::<Range<usize>>()
    }

    fn take(&mut self, fragment: &Fragment<'_>) {
        if self.is_void {
            return;
        }
        let range = fragment.start..fragment.start + fragment.payload.len();
        let is_beyond = self.end.is_some_and(|end| range.end > end || (fragment.is_last && range.end != end))
            || (fragment.is_last && self.payload.len() > range.end);
        let is_known = self.pieces.iter().any(|piece| piece.start <= range.start && range.end <= piece.end);
        if is_known && !is_beyond && self.payload[range.clone()] == *fragment.payload {
            return;
        }
        let overlaps = self.pieces.iter().any(|piece| piece.start < range.end && range.start < piece.end);
        if is_beyond || (overlaps && !fragment.datagram.is_v4()) {
            let Partial { serial, deadline, .. } = *self;
            *self = Partial { is_void: true, ..Partial::new(serial, deadline) };
            return;
        }
        if fragment.is_last {
            self.end = Some(range.end);
        }
        if fragment.start == 0 {
            self.head = fragment.head();
            self.quote = fragment.packet[..fragment.packet.len().min(QUOTED_BYTES)].to_vec();
        }
        self.codepoints |= 1 << fragment.codepoint();
        self.payload.resize(self.payload.len().max(range.end), 0);
        self.payload[range.clone()].copy_from_slice(fragment.payload);
        self.note(range);
    }

    /// Notes that a part has come: it joins those that it touches.
    fn note(&mut self, range: Range<usize>) {
        let first = self.pieces.partition_point(|piece| piece.end < range.start);
        let last = self.pieces.partition_point(|piece| piece.start <= range.end);
        let touched = &self.pieces[first..last];
        let start = touched.first().map_or(range.start, |piece| piece.start.min(range.start));
        let end = touched.last().map_or(range.end, |piece| piece.end.max(range.end));
        self.pieces.splice(first..last, std::iter::once(start..end));
    }

    fn is_whole(&self) -> bool {
        matches!((&self.pieces[..], self.end), ([piece], Some(end)) if *piece == (0..end))
    }

    /// The packet, unless some of its fragments could be marked and others had met congestion: then what marks mean
    /// would be lost.
    fn join(self) -> Option<Vec<u8>> {
        let has = |codepoint: u8| self.codepoints & 1 << codepoint != 0;
        let is_marked = has(ip::CONGESTION_EXPERIENCED);
        if is_marked && has(0) {
            return None;
        }
        ip::join(self.head, &self.payload, is_marked)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wire::checksum;
    use crate::wire::ethernet::{IPV4, IPV6};
    use base::Rng;

    const PAIRS: [[&str; 2]; 2] = [["10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2"]];

    /// A packet that may be divided, with this payload and class.
    fn packet(ips: [&str; 2], payload: &[u8], traffic_class: u8) -> Vec<u8> {
        let [source, destination] = ips.map(|ip| ip.parse().unwrap());
        let header = ip::Header { source, destination, protocol: ip::UDP, ttl: 64, traffic_class };
        let mut bytes = vec![0; header.bytes()];
        header.emit(&mut bytes, payload.len());
        if source.is_ipv4() {
            bytes[6] = 0;
            seal(&mut bytes);
        }
        bytes.extend(payload);
        bytes
    }

    fn seal(header: &mut [u8]) {
        header[10..12].fill(0);
        let sum = checksum::of(&header[..20]);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    fn ethertype(packet: &[u8]) -> u16 {
        if packet[0] >> 4 == 4 { IPV4 } else { IPV6 }
    }

    /// The fragment with these bytes of a packet's payload.
    pub(in crate::host) fn fragment(packet: &[u8], id: u16, range: Range<usize>, is_last: bool) -> Vec<u8> {
        let head_bytes = if ethertype(packet) == IPV4 { 20 } else { 40 };
        let (mut bytes, payload) = (packet[..head_bytes].to_vec(), &packet[head_bytes..][range.clone()]);
        if head_bytes == 20 {
            bytes[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
            bytes[4..6].copy_from_slice(&id.to_be_bytes());
            let word = (range.start / 8) as u16 | if is_last { 0 } else { 0x2000 };
            bytes[6..8].copy_from_slice(&word.to_be_bytes());
            seal(&mut bytes);
        } else {
            bytes[4..6].copy_from_slice(&(8 + payload.len() as u16).to_be_bytes());
            let [high, low] = (range.start as u16 | u16::from(!is_last)).to_be_bytes();
            let [id_high, id_low] = id.to_be_bytes();
            let next = std::mem::replace(&mut bytes[6], 44);
            bytes.extend([next, 0, high, low, 0, 0, id_high, id_low]);
        }
        bytes.extend(payload);
        bytes
    }

    fn take(reassembly: &mut Reassembly, at: Time, bytes: &[u8]) -> Option<Vec<u8>> {
        reassembly.take(at, &Fragment::parse(ethertype(bytes), bytes).unwrap())
    }

    /// What a packet is when it has been put together: the identification stays.
    fn whole(packet: &[u8], id: u16) -> Vec<u8> {
        let mut packet = packet.to_vec();
        if ethertype(&packet) == IPV4 {
            packet[4..6].copy_from_slice(&id.to_be_bytes());
            seal(&mut packet);
        }
        packet
    }

    #[test]
    fn fragments_come_in_any_order_and_again() {
        let mut rng = Rng::new(1);
        for round in 0..400 {
            let payload: Vec<u8> = (0..rng.between(1, 2_999)).map(|_| rng.next_u64() as u8).collect();
            let packet = packet(PAIRS[round % 2], &payload, 0);
            let step = 8 * rng.between(1, 59) as usize;
            let starts = (0..payload.len()).step_by(step);
            let ranges = starts.map(|start| start..payload.len().min(start + step));
            let mut pieces: Vec<_> =
                ranges.map(|it| fragment(&packet, 7, it.clone(), it.end == payload.len())).collect();
            pieces.extend_from_within(..pieces.len() / 2);
            for last in (1..pieces.len()).rev() {
                pieces.swap(last, rng.below(last as u64 + 1) as usize);
            }
            let mut reassembly = Reassembly::default();
            let found: Vec<Vec<u8>> = pieces.iter().filter_map(|it| take(&mut reassembly, Time::ZERO, it)).collect();
            // Repetitions may make it whole a second time.
            assert!(!found.is_empty() && found.iter().all(|it| *it == whole(&packet, 7)), "{round}");
        }
    }

    #[test]
    fn packets_do_not_mix() {
        for ips in PAIRS {
            let mut reassembly = Reassembly::default();
            let packets = [[1; 24], [2; 24]].map(|payload| packet(ips, &payload, 0));
            for (packet, id) in packets.iter().zip(0..) {
                assert_eq!(take(&mut reassembly, Time::ZERO, &fragment(packet, id, 0..16, false)), None);
            }
            for (packet, id) in packets.iter().zip(0..) {
                let last = fragment(packet, id, 16..24, true);
                assert_eq!(take(&mut reassembly, Time::ZERO, &last), Some(whole(packet, id)));
            }
            assert_eq!((reassembly.bytes, reassembly.next_timer()), (0, Time::MAX));
        }
    }

    #[test]
    fn fragments_that_overlap() {
        for ips in PAIRS {
            let mut reassembly = Reassembly::default();
            let [first, second] = [[1; 32], [2; 32]].map(|payload| packet(ips, &payload, 0));
            take(&mut reassembly, Time::ZERO, &fragment(&first, 0, 0..16, false));
            take(&mut reassembly, Time::ZERO, &fragment(&second, 0, 8..24, false));
            let found = take(&mut reassembly, Time::ZERO, &fragment(&first, 0, 24..32, true));
            match ethertype(&first) == IPV4 {
                true => {
                    let payload: Vec<u8> = [1; 8].into_iter().chain([2; 16]).chain([1; 8]).collect();
                    assert_eq!(found, Some(packet(ips, &payload, 0)));
                }
                false => {
                    assert_eq!(found, None);
                    // Not even if the rest comes again.
                    for range in [0..16, 16..32] {
                        let again = fragment(&first, 0, range.clone(), range.end == 32);
                        assert_eq!(take(&mut reassembly, Time::from_s(59), &again), None);
                    }
                    assert_eq!((reassembly.give_up(Time::from_s(60)), reassembly.given_up()), (None, 1));
                }
            }
        }
    }

    #[test]
    fn ends_that_contradict_each_other_void_a_packet() {
        for ips in PAIRS {
            for (one, other) in [(16..24, 24..32), (24..32, 16..24)] {
                let mut reassembly = Reassembly::default();
                let packet = packet(ips, &[1; 32], 0);
                for (range, is_last) in [(one.clone(), true), (other.clone(), true), (0..16, false), (0..24, false)] {
                    assert_eq!(take(&mut reassembly, Time::ZERO, &fragment(&packet, 0, range, is_last)), None);
                }
            }
        }
    }

    #[test]
    fn what_does_not_become_whole_is_given_up() {
        for ips in PAIRS {
            let packet = packet(ips, &[5; 32], 0);
            let mut reassembly = Reassembly::default();
            let first = fragment(&packet, 1, 0..16, false);
            take(&mut reassembly, Time::from_s(1), &first);
            take(&mut reassembly, Time::from_s(2), &fragment(&packet, 2, 16..32, true));
            assert_eq!(reassembly.next_timer(), Time::from_s(61));
            assert_eq!(reassembly.give_up(Time::from_s(60)), None);
            assert_eq!(reassembly.give_up(Time::from_s(61)), Some(first));
            // Without a first fragment there is nothing to quote.
            assert_eq!(reassembly.give_up(Time::from_s(62)), None);
            assert_eq!((reassembly.given_up(), reassembly.bytes, reassembly.next_timer()), (2, 0, Time::MAX));
        }
    }

    #[test]
    fn memory_is_limited() {
        for ips in PAIRS {
            let packet = packet(ips, &[9; 60_008], 0);
            let mut reassembly = Reassembly::default();
            for id in 0..2_000 {
                take(&mut reassembly, Time::ZERO, &fragment(&packet, id, 60_000..60_008, true));
                take(&mut reassembly, Time::ZERO, &fragment(&packet, id + 10_000, 0..8, false));
                assert!(reassembly.bytes <= BYTES_MAX && reassembly.partials.len() == reassembly.by_age.len());
            }
            assert_eq!(reassembly.given_up() + reassembly.partials.len() as u64, 4_000);
            // The newest are there.
            assert_eq!(
                take(&mut reassembly, Time::ZERO, &fragment(&packet, 1_999, 0..60_000, false)).unwrap().len(),
                packet.len()
            );
        }
    }

    #[test]
    fn congestion_of_a_fragment_is_congestion_of_the_packet() {
        for ips in PAIRS {
            let [marked, capable, other] = [3, 2, 0].map(|ecn| packet(ips, &[0; 16], 0xb8 | ecn));
            let join = |first, last| {
                let mut reassembly = Reassembly::default();
                take(&mut reassembly, Time::ZERO, &fragment(first, 0, 0..8, false));
                take(&mut reassembly, Time::ZERO, &fragment(last, 0, 8..16, true))
            };
            assert_eq!(join(&capable, &marked), Some(marked.clone()));
            assert_eq!(join(&marked, &capable), Some(marked.clone()));
            assert_eq!(join(&capable, &capable), Some(capable.clone()));
            assert_eq!(join(&other, &marked), None);
        }
    }

    #[test]
    fn no_fragments_make_it_panic() {
        let mut rng = Rng::new(5);
        let mut reassembly = Reassembly::default();
        let packets = PAIRS.map(|ips| packet(ips, &[3; 96], 0));
        for step in 0..200_000 {
            let start = 8 * rng.below(12) as usize;
            let end = rng.between(start as u64, 96) as usize;
            let is_last = rng.chance(1, 3);
            let mut bytes = fragment(&packets[rng.below(2) as usize], rng.below(4) as u16, start..end, is_last);
            for _ in 0..rng.below(3) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            bytes.truncate(rng.between(bytes.len() as u64 - 3, bytes.len() as u64) as usize);
            for ethertype in [IPV4, IPV6] {
                if let Some(fragment) = Fragment::parse(ethertype, &bytes) {
                    reassembly.take(Time::from_ms(step), &fragment);
                }
            }
            reassembly.give_up(Time::from_ms(step));
            assert!(reassembly.bytes <= BYTES_MAX);
        }
    }
}
