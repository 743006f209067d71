//! Captures in, captures out: round trips, cuts at every byte, damage of every kind.

use super::*;
use base::Rng;
use expect_test::{Expect, expect};

/// A pcap of the given words' byte order: two packets of 4 and 3 bytes.
fn pcap(big: bool, nanoseconds: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let word = |bytes: &mut Vec<u8>, value: u32| {
        bytes.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
    };
    word(&mut bytes, if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 });
    bytes.extend(if big { [0, 2, 0, 4] } else { [2, 0, 4, 0] });
    for value in [0, 0, 65535, 1] {
        word(&mut bytes, value);
    }
    for (second, packet, original) in [(7, &b"abcd"[..], 4), (8, b"xyz", 1500)] {
        for value in [second, 123, packet.len() as u32, original] {
            word(&mut bytes, value);
        }
        bytes.extend(packet);
    }
    bytes
}

/// A builder of pcapng blocks in one byte order.
struct Blocks {
    big: bool,
    bytes: Vec<u8>,
}

impl Blocks {
    fn new(big: bool) -> Blocks {
        let mut blocks = Blocks { big, bytes: Vec::new() };
        blocks.section();
        blocks
    }

    fn word(&self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn half(&self, value: u16) -> [u8; 2] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> &mut Blocks {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(12 + body.len() as u32);
        let kind = self.word(kind);
        for part in [&kind[..], &length, &body, &length] {
            self.bytes.extend(part);
        }
        self
    }

    fn section(&mut self) -> &mut Blocks {
        let mut body = self.word(0x1a2b_3c4d).to_vec();
        body.extend([self.half(1), self.half(0)].concat());
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body)
    }

    /// An interface with options `(code, value)`; no end-of-options mark, which readers must not need.
    fn interface(&mut self, link_type: u16, options: &[(u16, &[u8])]) -> &mut Blocks {
        let mut body = [self.half(link_type), [0; 2]].concat();
        body.extend(self.word(0));
        for (code, value) in options {
            body.extend([self.half(*code), self.half(value.len() as u16)].concat());
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    fn enhanced(&mut self, interface: u32, units: u64, packet: &[u8], original: u32) -> &mut Blocks {
        let words = [interface, (units >> 32) as u32, units as u32, packet.len() as u32, original];
        let mut body: Vec<u8> = words.iter().flat_map(|word| self.word(*word)).collect();
        body.extend(packet);
        self.block(6, &body)
    }
}

/// Reads a capture and renders what came out: packets, then the error if any.
fn render(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut reader = match CaptureReader::new(bytes, Path::new("in.pcap")) {
        Ok(reader) => reader,
        Err(error) => return format!("{error}\n"),
    };
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                let text = String::from_utf8_lossy(packet.data);
                let cut = if packet.cut_by_snap_length { " (cut)" } else { "" };
                out += &format!("{} {text}{cut}\n", packet.timestamp_ns);
            }
            Ok(None) => return out,
            Err(error) => return out + &format!("{error}\n"),
        }
    }
}

fn check(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&render(bytes));
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_resolutions() {
    for big in [false, true] {
        check(
            &pcap(big, false),
            expect![[r#"
                7000123000 abcd
                8000123000 xyz (cut)
            "#]],
        );
        check(
            &pcap(big, true),
            expect![[r#"
                7000000123 abcd
                8000000123 xyz (cut)
            "#]],
        );
    }
}

#[test]
fn pcapng_is_read_with_each_interfaces_clock() {
    let mut blocks = Blocks::new(false);
    blocks.interface(1, &[]).interface(1, &[(2, b"\xff\xfe"), (9, &[9])]).interface(1, &[(9, &[0x80 | 1])]);
    let offset = 3u64.to_le_bytes();
    blocks.interface(1, &[(9, &[0]), (14, &offset)]);
    blocks.enhanced(0, 5, b"micro", 5).enhanced(1, 5, b"nano", 9).enhanced(2, 5, b"half", 4).enhanced(3, 5, b"off", 3);
    check(
        &blocks.bytes,
        expect![[r#"
            5000 micro
            5 nano (cut)
            2500000000 half
            8000000000 off
        "#]],
    );
}

#[test]
fn pcapng_sections_may_change_byte_order_and_other_blocks_are_skipped() {
    let mut first = Blocks::new(true);
    first.interface(1, &[]).block(0x0bad, &[7; 1_000_000]).enhanced(0, 1, b"big", 3);
    first.block(3, &[&5u32.to_be_bytes()[..], b"plain"].concat());
    first.block(
        2,
        &[&[0; 4][..], &[0; 4], &2u32.to_be_bytes(), &3u32.to_be_bytes(), &3u32.to_be_bytes(), b"old"].concat(),
    );
    let mut second = Blocks::new(false);
    second.interface(1, &[]).enhanced(0, 2, b"little", 6);
    check(
        &[first.bytes, second.bytes].concat(),
        expect![[r#"
            1000 big
            0 plain
            2000 old
            2000 little
        "#]],
    );
}

#[test]
fn damage_is_reported_with_its_place() {
    check(
        b"",
        expect![[r#"
        `in.pcap` is neither a pcap nor a pcapng capture (its first bytes match neither format)
    "#]],
    );
    check(
        b"#include <core.p4>",
        expect![[r#"
        `in.pcap` is neither a pcap nor a pcapng capture (its first bytes match neither format)
    "#]],
    );
    check(
        &pcap(false, false)[..20],
        expect![[r#"
        capture `in.pcap`: the header at byte 0 is cut short by the end of the file; everything before it was read
    "#]],
    );
    check(
        &pcap(false, false)[..62],
        expect![[r#"
        7000123000 abcd
        capture `in.pcap`: record 2 at byte 44 is cut short by the end of the file; everything before it was read
    "#]],
    );
    let mut raw = pcap(false, false);
    raw[20] = 101;
    check(
        &raw,
        expect![[r#"
        capture `in.pcap`: the header at byte 0 has link type RAW; only Ethernet captures can be read
    "#]],
    );
    let mut long = pcap(false, false);
    long[55] = 0x7f;
    check(
        &long,
        expect![[r#"
        7000123000 abcd
        capture `in.pcap`: record 2 at byte 44 claims 2130706435 bytes, more than any packet has (262144); the file is damaged
    "#]],
    );
}

#[test]
fn damage_of_pcapng_is_reported_with_its_place() {
    let mut blocks = Blocks::new(false);
    blocks.interface(113, &[]).enhanced(0, 0, b"cooked", 6);
    check(
        &blocks.bytes,
        expect![[r#"
        capture `in.pcap`: record 1 at byte 48 has link type LINUX_SLL; only Ethernet captures can be read
    "#]],
    );
    check(
        &Blocks::new(false).enhanced(3, 0, b"x", 1).bytes,
        expect![[r#"
        capture `in.pcap`: record 1 at byte 28 is damaged: it names an interface that the capture does not describe
    "#]],
    );
    check(
        &Blocks::new(false).interface(1, &[(9, &[127])]).bytes,
        expect![[r#"
        capture `in.pcap`: record 1 at byte 28 is damaged: its interface's time resolution is absurdly fine
    "#]],
    );
    let mut blocks = Blocks::new(false);
    blocks.interface(1, &[]).enhanced(0, 0, b"good", 4).block(6, &[0; 40]);
    let last = blocks.bytes.len() - 1;
    blocks.bytes[last] = 1;
    check(
        &blocks.bytes,
        expect![[r#"
        0 good
        capture `in.pcap`: record 2 at byte 84 is damaged: its block's first and last length differ
    "#]],
    );
}

/// Reads to the end or to the error; returns the number of packets and whether there was an error.
fn count(bytes: &[u8]) -> (usize, bool) {
    let Ok(mut reader) = CaptureReader::new(bytes, Path::new("in.pcap")) else { return (0, true) };
    let mut packets = 0;
    loop {
        match reader.next_packet() {
            Ok(Some(_)) => packets += 1,
            Ok(None) => return (packets, false),
            Err(_) => return (packets, true),
        }
    }
}

#[test]
fn a_capture_cut_at_any_byte_gives_the_whole_packets_before_the_cut() {
    let file = pcap(false, true);
    let ends = [24, 44, 63];
    for cut in 0..=file.len() {
        let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        assert_eq!(count(&file[..cut]), (whole, !ends.contains(&cut)), "cut at {cut}");
    }

    let mut blocks = Blocks::new(true);
    blocks.interface(1, &[]);
    let mut ends = vec![28, blocks.bytes.len()];
    for packet in [&b"one"[..], b"two22"] {
        blocks.enhanced(0, 1, packet, 5);
        ends.push(blocks.bytes.len());
    }
    for cut in 0..=blocks.bytes.len() {
        let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(2);
        assert_eq!(count(&blocks.bytes[..cut]), (whole, !ends.contains(&cut)), "cut at {cut}");
    }
}

#[test]
fn random_damage_never_panics_and_never_lengthens_a_capture() {
    let mut rng = Rng::new(11);
    let mut blocks = Blocks::new(false);
    blocks.interface(1, &[(9, &[6])]).enhanced(0, 1, b"one", 3).section().interface(1, &[]).enhanced(0, 1, b"two", 3);
    for original in [pcap(false, false), pcap(true, true), blocks.bytes] {
        for _ in 0..400 {
            let mut bytes = original.clone();
            for _ in 0..rng.between(1, 4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            let (packets, _) = count(&bytes);
            assert!(packets <= bytes.len() / 12);
        }
    }
}

/// Copies frames through a capture port's output and reads them back.
fn round_trip(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let frames =
        [(vec![1; 60], 1_700_000_000_123_456_789), (vec![2; 1514], 0), (vec![3; 65_000], 4_000_000_000_000_000_001)];
    let mut driver = CaptureDriver::open(None, Some(&path)).unwrap();
    assert!(driver.exhausted(), "a port without input delivers nothing");
    let header_bytes = std::fs::metadata(&path).unwrap().len();
    assert!(header_bytes >= 24, "the header is on disk before the first packet");
    for (frame, timestamp_ns) in &frames {
        driver.transmit(frame, *timestamp_ns).unwrap();
    }
    driver.transmit(&vec![0; PACKET_BYTES_MAX + 1], 0).unwrap();
    driver.finish().unwrap();
    let counters = driver.counters().snapshot();
    assert_eq!((counters.tx_packets, counters.tx_dropped_too_long), (3, 1));

    let mut driver = CaptureDriver::open(Some(&path), None).unwrap();
    let mut read = Vec::new();
    while !driver.exhausted() {
        driver.receive(2, &mut |frame, timestamp_ns| read.push((frame.to_vec(), timestamp_ns))).unwrap();
    }
    assert_eq!(read, frames);
    driver.transmit(&[0; 60], 0).unwrap();
    assert_eq!(driver.counters().snapshot().tx_dropped_no_output, 1);
}

#[test]
fn pcap_output_reads_back_with_its_nanoseconds() {
    round_trip("out.pcap");
}

#[test]
fn pcapng_output_reads_back_with_its_nanoseconds() {
    round_trip("out.pcapng");
}

#[test]
fn a_driver_reports_a_cut_once_and_is_then_exhausted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    std::fs::write(&path, &pcap(false, false)[..50]).unwrap();
    let mut driver = CaptureDriver::open(Some(&path), None).unwrap();
    let mut packets = 0;
    let error = driver.receive(64, &mut |_, _| packets += 1).unwrap_err();
    assert!(matches!(&error, DriverError::Capture(error) if error.is_truncation() && error.record == 2), "{error}");
    assert_eq!(packets, 1, "what came before the cut is delivered");
    assert!(driver.exhausted());
    assert_eq!(driver.receive(64, &mut |_, _| ()).unwrap(), 0);
}

#[test]
fn a_failed_input_leaves_the_output_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("absent.pcap"), folder.path().join("out.pcap"));
    std::fs::write(&output, "precious").unwrap();
    assert!(CaptureDriver::open(Some(&input), Some(&output)).is_err());
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
}
