//! Hostile peers: whatever arrives, nothing panics, memory is bounded, and the timers still make sense.

use base::{Rng, Time};
use core::net::{Ipv4Addr, Ipv6Addr};
use tcp::segment::{Options, SackBlocks, Timestamps};
use tcp::wire::{self, Addresses, Malformed, Ports};
use tcp::{Config, Congestion, Connection, Ecn, Event, Flags, Segment, State};

/// A number that is close to something that matters.
fn number(rng: &mut Rng, near: u32) -> u32 {
    match rng.below(8) {
        0 => rng.next_u64() as u32,
        1 => near.wrapping_add(1 << 31),
        2 => near.wrapping_sub(rng.below(70_000) as u32),
        3..5 => near,
        _ => near.wrapping_add(rng.below(5000) as u32).wrapping_sub(500),
    }
}

fn segment(rng: &mut Rng, sequence: u32, acknowledgment: u32) -> Segment {
    let mut sack = SackBlocks::default();
    for _ in 0..rng.below(5) {
        sack.push(number(rng, acknowledgment), number(rng, acknowledgment));
    }
    let mut flags = Flags::from_bits(rng.next_u64() as u8 & rng.next_u64() as u8);
    if rng.chance(9, 10) {
        flags = Flags::from_bits((flags | Flags::ACK).bits() & !(Flags::RST | Flags::SYN).bits());
    }
    let value = rng.below(3000) as u32;
    Segment {
        sequence: number(rng, sequence),
        acknowledgment: number(rng, acknowledgment),
        flags,
        window: *rng.pick(&[0, 1, 1000, 65_535]),
        options: Options {
            mss: rng.chance(1, 2).then(|| rng.next_u64() as u16),
            window_scale: rng.chance(1, 2).then(|| rng.next_u64() as u8),
            sack_permitted: rng.chance(3, 4),
            timestamps: rng.chance(1, 2).then_some(Timestamps { value, echo: rng.below(3000) as u32 }),
            sack,
        },
        payload_bytes: *rng.pick(&[0, 0, 1, 100, 1460, 65_495]),
        stream_position: 0,
        ecn: Ecn::from_bits(rng.next_u64() as u8),
    }
}

fn config(rng: &mut Rng) -> Config {
    Config {
        congestion: *rng.pick(&[Congestion::NewReno, Congestion::Cubic, Congestion::Dctcp]),
        ecn: rng.chance(1, 2),
        sack: rng.chance(3, 4),
        rack: rng.chance(1, 2),
        prr: rng.chance(1, 2),
        timestamps: rng.chance(1, 2),
        mss: *rng.pick(&[0, 1, 1460, u16::MAX]),
        initial_window_segments: *rng.pick(&[0, 10, u32::MAX]),
        receive_buffer_bytes: *rng.pick(&[0, 5000, u64::MAX]),
        send_buffer_bytes: *rng.pick(&[0, 5000, u64::MAX]),
        min_rto: *rng.pick(&[Time::ZERO, Time::from_ms(200), Time::MAX]),
        initial_rto: *rng.pick(&[Time::ZERO, Time::from_s(1), Time::MAX]),
        max_rto: *rng.pick(&[Time::ZERO, Time::from_s(120), Time::MAX]),
        delayed_ack: *rng.pick(&[Time::ZERO, Time::MAX]),
        max_ack_delay: *rng.pick(&[Time::ZERO, Time::MAX]),
        ranges: *rng.pick(&[0, 1, 20, 200]),
        ..Config::default()
    }
}

#[test]
fn random_segments_cause_no_harm() {
    let (mut established, mut delivered) = (0, 0);
    let seeds = std::env::var("TCP_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let config = config(&mut rng);
        let start = rng.next_u64() as u32;
        let mut connection = match rng.below(2) {
            0 => Connection::connect(&config, start),
            _ => Connection::listen(&config, start),
        };
        let (mut now, mut sequence, mut acknowledgment) = (Time::ZERO, 7, start.wrapping_add(1));
        for _ in 0..500 {
            match rng.below(16) {
                0 => _ = connection.write(*rng.pick(&[1, 3000, u64::MAX])),
                1 => _ = connection.read(*rng.pick(&[1, 3000, u64::MAX])),
                2 if rng.chance(1, 40) => connection.close(),
                3 if rng.chance(1, 200) => connection.abort(),
                4 => {
                    now = now.max(connection.next_timeout().unwrap_or(now));
                    connection.on_timer(now);
                }
                5 => now += Time::from_us(rng.below(100_000)),
                _ => {
                    let mut segment = segment(&mut rng, sequence, acknowledgment);
                    if matches!(connection.state(), State::Listen | State::SynSent) && rng.chance(1, 2) {
                        let reply = connection.state() == State::SynSent;
                        segment.flags = if reply { Flags::SYN | Flags::ACK } else { Flags::SYN };
                        segment.acknowledgment = start.wrapping_add(1);
                        segment.sequence = 6;
                    }
                    connection.on_segment(now, &segment);
                }
            }
            for _ in 0..20 {
                let Some(sent) = connection.poll_transmit(now) else { break };
                sequence = if sent.flags.has(Flags::ACK) { sent.acknowledgment } else { sequence };
                acknowledgment = sent.sequence.wrapping_add(sent.payload_bytes);
            }
            while let Some(event) = connection.poll_event() {
                established += u64::from(event == Event::Established);
            }
            connection.statistics();
            let limit = 2048 + 2 * 2 * 48 * usize::from(config.ranges.max(40));
            assert!(connection.memory_bytes() <= limit, "seed {seed}: {}", connection.memory_bytes());
        }
        let statistics = connection.statistics();
        delivered += u64::from(statistics.acknowledged_bytes > 0 && statistics.received_bytes > 0);
    }
    // The inputs reach what they are meant to test.
    assert!(established > seeds / 2 && delivered > seeds / 4, "{established}, {delivered} of {seeds}");
}

fn v4() -> Addresses {
    Addresses::V4 { source: Ipv4Addr::new(192, 0, 2, 1), destination: Ipv4Addr::new(192, 0, 2, 2) }
}

fn v6() -> Addresses {
    let host = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
    Addresses::V6 { source: host(1), destination: host(2) }
}

#[test]
fn segments_survive_the_wire() {
    let mut rng = Rng::new(1);
    for addresses in [v4(), v6()] {
        for _ in 0..2000 {
            let mut segment = segment(&mut rng, 1, 1);
            let blocks = if segment.options.timestamps.is_some() { 1 } else { 3 };
            let mut sack = SackBlocks::default();
            for (start, end) in segment.options.sack.as_slice().iter().take(blocks) {
                sack.push(*start, *end);
            }
            segment.options.sack = sack;
            segment.payload_bytes %= 1461;
            segment.stream_position = rng.next_u64() >> 8;
            let ports = Ports { source: rng.next_u64() as u16, destination: rng.next_u64() as u16 };
            let mut bytes = vec![0; wire::length(&segment)];
            wire::emit(&segment, ports, &addresses, 5, &mut bytes);
            let (parsed_ports, parsed, payload) = wire::parse(&bytes, &addresses, segment.ecn).unwrap();
            assert_eq!(parsed_ports, ports);
            assert_eq!(parsed, Segment { stream_position: 0, ..segment });
            assert_eq!(tcp::payload::first_difference(5, segment.stream_position, payload), None);
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng.below(8);
            assert!(wire::parse(&bytes, &addresses, segment.ecn).is_err(), "a changed bit at {at}");
        }
    }
}

/// A SYN as Linux sends it, whose checksum was computed by hand from RFC 9293, section 3.1.
#[test]
fn bytes_are_as_the_rfcs_say() {
    let segment = Segment {
        sequence: 0x0102_0304,
        flags: Flags::SYN,
        window: 64_240,
        options: Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x0a0b_0c0d, echo: 0 }),
            ..Options::default()
        },
        ..Segment::default()
    };
    let mut bytes = vec![0; wire::length(&segment)];
    wire::emit(&segment, Ports { source: 0x1234, destination: 80 }, &v4(), 0, &mut bytes);
    let expected = [
        0x12, 0x34, 0x00, 0x50, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0, 0xb0, 0x02, 0xfa, 0xf0, bytes[16], bytes[17], 0, 0,
        2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 1, 8, 10, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0, 1, 3, 3, 7,
    ];
    assert_eq!(bytes, expected);
    // The sum of all words with the pseudo header, in the plain form of the RFC.
    let pseudo = [192, 0, 2, 1, 192, 0, 2, 2, 0, 6, 0, 44];
    let all: Vec<u8> = pseudo.into_iter().chain(bytes).collect();
    let sum: u32 = all.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
}

#[test]
fn damaged_segments_are_refused_or_read_in_part() {
    let with_options = |options: &[u8]| {
        let mut bytes = vec![0; 20 + options.len()];
        bytes[12] = ((bytes.len() / 4) << 4) as u8;
        bytes[20..].copy_from_slice(options);
        let sum = wire::checksum(&v4(), &bytes);
        bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        wire::parse(&bytes, &v4(), Ecn::NotEct).unwrap().1.options
    };
    // Lengths of 0, 1 and beyond the end end the options; unknown ones and wrong lengths are skipped.
    for options in [[3, 0, 4, 2], [3, 1, 4, 2], [8, 10, 4, 2], [1, 1, 1, 3], [0, 0, 4, 2]] {
        assert_eq!(with_options(&options), Options::default(), "{options:?}");
    }
    assert!(with_options(&[254, 4, 0, 0, 2, 3, 0, 4, 2, 0, 0, 0]).sack_permitted);
    assert_eq!(with_options(&[5, 2, 1, 1]).sack, SackBlocks::default());

    let parse = |bytes: &[u8]| wire::parse(bytes, &v4(), Ecn::NotEct).map(|_| ());
    assert_eq!(parse(&[]), Err(Malformed::Short));
    assert_eq!(parse(&[0; 12]), Err(Malformed::Short));
    assert_eq!(parse(&[0; 20]), Err(Malformed::DataOffset));
    assert_eq!(parse(&[0xf0; 59]), Err(Malformed::Short));
    assert_eq!(parse(&[0x50; 20]), Err(Malformed::Checksum));

    let mut rng = Rng::new(3);
    for _ in 0..20_000 {
        let mut bytes = vec![0; rng.below(80) as usize];
        rng.fill(&mut bytes);
        if bytes.len() >= 20 {
            bytes[16..18].fill(0);
            let sum = wire::checksum(&v4(), &bytes);
            bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        }
        let _ = parse(&bytes);
    }
}
