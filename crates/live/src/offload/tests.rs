//! Segments cut, against a checksum and a reassembly written plainly here.

use super::*;
use base::Rng;

/// RFC 1071 as its text says it: 16-bit words, one at a time, carry around the end.
fn plain_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A segment under test: its headers are given, the payload counts upwards.
#[derive(Clone)]
struct Segment {
    tags: usize,
    version: u8,
    transport: Transport,
    options: usize,
    flags: u8,
    payload: Vec<u8>,
}

const SEQUENCE: u32 = 0xffff_fc00;
const IDENTIFICATION: u16 = 0xfffe;

impl Segment {
    fn tcp(version: u8, payload: usize) -> Segment {
        let payload = (0..payload).map(|number| (number * 7 + number / 251) as u8).collect();
        Segment { tags: 0, version, transport: Transport::Tcp, options: 12, flags: 0x18, payload }
    }

    fn udp(version: u8, payload: usize) -> Segment {
        Segment { transport: Transport::Udp, options: 0, ..Segment::tcp(version, payload) }
    }

    fn network_start(&self) -> usize {
        14 + 4 * self.tags
    }

    fn transport_start(&self) -> usize {
        self.network_start() + if self.version == 4 { 24 } else { 48 }
    }

    fn transport_header(&self) -> Vec<u8> {
        match self.transport {
            Transport::Udp => {
                [&[0x30, 0x39, 0, 53][..], &((8 + self.payload.len()) as u16).to_be_bytes(), &[0, 0]].concat()
            }
            Transport::Tcp => {
                let mut header = vec![0x30, 0x39, 0, 80];
                header.extend(SEQUENCE.to_be_bytes());
                header.extend([1, 2, 3, 4, (5 + self.options as u8 / 4) << 4, self.flags, 0x20, 0, 0, 0, 0, 0]);
                header.extend(vec![1; self.options]);
                header
            }
        }
    }

    /// The frame as the kernel hands it over: lengths of the whole, a partial checksum.
    fn frame(&self) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for tag in 0..self.tags {
            frame.extend([
                if tag + 1 == self.tags { 0x81 } else { 0x88 },
                if tag + 1 == self.tags { 0 } else { 0xa8 },
                0,
                5,
            ]);
        }
        let transport = self.transport_header();
        let transport_bytes = transport.len() + self.payload.len();
        let protocol = if self.transport == Transport::Tcp { 6 } else { 17 };
        if self.version == 4 {
            frame.extend([8, 0, 0x46, 0]);
            frame.extend(((24 + transport_bytes) as u16).to_be_bytes());
            frame.extend(IDENTIFICATION.to_be_bytes());
            frame.extend([0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0]);
        } else {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend(((8 + transport_bytes) as u16).to_be_bytes());
            frame.extend([60, 64]);
            frame.extend([0xfd; 32]);
            frame.extend([protocol, 0, 1, 4, 0, 0, 0, 0]);
        }
        let start = frame.len();
        frame.extend(transport);
        frame.extend(&self.payload);
        let partial = plain_sum(&self.pseudo_header(&frame, transport_bytes));
        let field = start + if self.transport == Transport::Tcp { 16 } else { 6 };
        frame[field..field + 2].copy_from_slice(&partial.to_be_bytes());
        frame
    }

    fn pseudo_header(&self, frame: &[u8], transport_bytes: usize) -> Vec<u8> {
        let at = self.network_start();
        let addresses = if self.version == 4 { &frame[at + 12..at + 20] } else { &frame[at + 8..at + 40] };
        let protocol = if self.transport == Transport::Tcp { 6 } else { 17 };
        [addresses, &(transport_bytes as u32).to_be_bytes(), &[0, 0, 0, protocol]].concat()
    }

    fn header(&self, segment_bytes: u16) -> VnetHeader {
        let segment_kind = match (self.transport, self.version) {
            (Transport::Udp, _) => 5,
            (Transport::Tcp, 4) => 1,
            _ => 4,
        };
        let checksum_offset = if self.transport == Transport::Tcp { 16 } else { 6 };
        VnetHeader {
            flags: 1,
            segment_kind,
            segment_bytes,
            checksum_start: self.transport_start() as u16,
            checksum_offset,
        }
    }

    fn cut(&self, header: &VnetHeader) -> Vec<Vec<u8>> {
        let frame = self.frame();
        let mut scratch = vec![0xee; frame.len()];
        let mut frames = Vec::new();
        let count = segment(&frame, header, &mut scratch, &mut |frame| frames.push(frame.to_vec())).unwrap();
        assert_eq!(count, frames.len());
        frames
    }

    /// Cuts at `segment_bytes` and checks every field of every frame that a wire's receiver looks at.
    fn check(&self, segment_bytes: u16) {
        let frames = self.cut(&self.header(segment_bytes));
        let payload_start = self.transport_start() + self.transport_header().len();
        let mut payload: Vec<u8> = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let part = &frame[payload_start..];
            let is_last = index + 1 == frames.len();
            assert!(is_last || part.len() == usize::from(segment_bytes), "only the last may be shorter");
            self.check_network(frame, index);
            let transport = &frame[self.transport_start()..];
            let covered = [&self.pseudo_header(frame, transport.len())[..], transport].concat();
            assert_eq!(plain_sum(&covered), 0xffff, "the checksum of frame {index}");
            match self.transport {
                Transport::Udp => assert_eq!(usize::from(read_u16(transport, 4)), transport.len()),
                Transport::Tcp => {
                    let sequence = u32::from_be_bytes(transport[4..8].try_into().unwrap());
                    assert_eq!(sequence, SEQUENCE.wrapping_add(payload.len() as u32));
                    let kept = if is_last { self.flags } else { self.flags & !0x09 };
                    assert_eq!(transport[13] & 0x7f, kept & 0x7f, "flags of frame {index}");
                }
            }
            payload.extend(part);
        }
        assert_eq!(payload, self.payload);
    }

    fn check_network(&self, frame: &[u8], index: usize) {
        let network = &frame[self.network_start()..];
        if self.version == 4 {
            assert_eq!(usize::from(read_u16(network, 2)), network.len());
            assert_eq!(read_u16(network, 4), IDENTIFICATION.wrapping_add(index as u16));
            assert_eq!(plain_sum(&network[..24]), 0xffff, "the IPv4 header checksum of frame {index}");
        } else {
            assert_eq!(usize::from(read_u16(network, 4)), network.len() - 40);
        }
    }
}

#[test]
fn segments_are_cut_into_frames_that_a_receiver_accepts() {
    for version in [4, 6] {
        for tags in 0..=2 {
            for (payload, step) in [(65_000, 1448), (2896, 1448), (2897, 1448), (1447, 1448), (10, 1), (9001, 333)] {
                Segment { tags, ..Segment::tcp(version, payload) }.check(step);
                Segment { tags, ..Segment::udp(version, payload) }.check(step);
            }
        }
    }
}

#[test]
fn flags_go_to_the_frames_that_may_carry_them() {
    let segment = Segment { flags: 0x80 | 0x18 | 0x01, ..Segment::tcp(4, 3000) };
    segment.check(1000);
    let flags = |header: &VnetHeader| -> Vec<u8> {
        segment.cut(header).iter().map(|frame| frame[segment.transport_start() + 13]).collect()
    };
    let plain = segment.header(1000);
    assert_eq!(flags(&plain), [0x90, 0x90, 0x99]);
    let ecn = VnetHeader { segment_kind: plain.segment_kind | SEGMENT_ECN, ..plain };
    assert_eq!(flags(&ecn), [0x90, 0x10, 0x19]);
}

#[test]
fn a_segment_without_partial_checksum_is_summed_from_its_addresses() {
    let segment = Segment::tcp(4, 3000);
    let partial = segment.cut(&segment.header(1000));
    let full = segment.cut(&VnetHeader { flags: 0, checksum_start: 0, checksum_offset: 0, ..segment.header(1000) });
    assert_eq!(partial, full);
}

#[test]
fn a_partial_checksum_is_completed() {
    for segment in [Segment::tcp(4, 101), Segment::tcp(6, 100), Segment::udp(4, 33), Segment::udp(6, 0)] {
        let header = VnetHeader { segment_kind: 0, ..segment.header(0) };
        let mut frame = segment.frame();
        complete_checksum(&mut frame, &header).unwrap();
        let transport = &frame[segment.transport_start()..];
        let covered = [&segment.pseudo_header(&frame, transport.len())[..], transport].concat();
        assert_eq!(plain_sum(&covered), 0xffff);
    }
}

#[test]
fn a_udp_checksum_of_zero_is_sent_as_all_ones() {
    let mut frame = vec![0; 14 + 20 + 8];
    frame[14 + 20 + 6..].copy_from_slice(&[0xff, 0xff]);
    let header = VnetHeader { flags: 1, checksum_start: 34, checksum_offset: 6, ..VnetHeader::default() };
    complete_checksum(&mut frame, &header).unwrap();
    assert_eq!(frame[40..], [0xff, 0xff]);
}

#[test]
fn a_tag_put_in_front_moves_the_checksum_along() {
    let header = VnetHeader { flags: 1, checksum_start: 34, checksum_offset: 16, ..VnetHeader::default() };
    assert_eq!(header.shifted(4).checksum_start, 38);
    assert_eq!(VnetHeader::default().shifted(4), VnetHeader::default());
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let segment = Segment::tcp(4, 3000);
    let refuse = |frame: &[u8], header: VnetHeader| {
        let mut scratch = vec![0; frame.len()];
        super::segment(frame, &header, &mut scratch, &mut |_| panic!("nothing is delivered")).unwrap_err().to_string()
    };
    let (frame, header) = (segment.frame(), segment.header(1000));
    assert_eq!(refuse(&frame, VnetHeader { segment_kind: 3, ..header }), "segments of kind 3 are not cut");
    assert_eq!(
        refuse(&frame, VnetHeader { segment_kind: 4, ..header }),
        "the segment's network protocol is not the one announced"
    );
    assert_eq!(refuse(&frame, VnetHeader { checksum_start: 90, ..header }), "the segment is inside a tunnel");
    assert_eq!(
        refuse(&frame, VnetHeader { segment_bytes: 0, ..header }),
        "the segment's frames would have no payload or no room"
    );
    assert_eq!(refuse(&frame[..40], header), "the TCP header is shorter than 20 bytes");
    assert_eq!(refuse(&frame[..13], header), "the checksum or header lies outside the frame");
}

#[test]
fn hostile_frames_and_headers_never_panic() {
    let mut rng = Rng::new(3);
    let bases: Vec<Segment> =
        vec![Segment::tcp(4, 200), Segment::tcp(6, 200), Segment::udp(4, 200), Segment::udp(6, 50)];
    for round in 0..20_000 {
        let base = &bases[round % bases.len()];
        let mut frame = base.frame();
        let mut header = base.header(rng.below(80) as u16);
        frame.truncate(rng.between(0, frame.len() as u64) as usize);
        for _ in 0..rng.below(4) {
            if !frame.is_empty() {
                let at = rng.below(frame.len().min(80) as u64) as usize;
                frame[at] = rng.next_u64() as u8;
            }
        }
        if rng.below(3) == 0 {
            header.checksum_start = rng.next_u64() as u16;
            header.checksum_offset = rng.below(100) as u16;
            header.flags = rng.below(2) as u8;
            header.segment_kind = rng.below(6) as u8;
        }
        let mut scratch = vec![0; frame.len()];
        let mut bytes = 0;
        let _ = segment(&frame, &header, &mut scratch, &mut |part| bytes += part.len());
        assert!(bytes <= (frame.len() + 1) * 200);
        let _ = complete_checksum(&mut frame, &header);
    }
}

#[test]
fn the_kernels_header_is_read_field_by_field() {
    let mut bytes = [0; VNET_HEADER_BYTES];
    bytes[0] = 1;
    bytes[1] = 0x81;
    for (at, value) in [(2, 66u16), (4, 1448), (6, 34), (8, 16)] {
        bytes[at..at + 2].copy_from_slice(&value.to_ne_bytes());
    }
    let header = VnetHeader::read(bytes);
    let expected =
        VnetHeader { flags: 1, segment_kind: 0x81, segment_bytes: 1448, checksum_start: 34, checksum_offset: 16 };
    assert_eq!(header, expected);
    assert!(header.is_segment() && !header.is_complete());
    assert!(VnetHeader::default().is_complete());
}
