//! Whole transfers: whatever the network does, all bytes arrive in order, the connection ends, and memory is bounded.

use crate::support::network::{Impairments, Network};
use base::{Rng, Time};
use tcp::{Config, Congestion, Event, State};

const PERFECT: Impairments = Impairments {
    loss: 0,
    duplication: 0,
    reordering: 0,
    marks: 0,
    delay: Time::from_ms(10),
    jitter: Time::ZERO,
    lateness: Time::ZERO,
    rewritten_window: None,
};

/// Runs a transfer to its end and checks it.
fn finish(network: &mut Network, bytes: [u64; 2], context: &str) {
    network.ends[0].to_write = bytes[0];
    network.ends[1].to_write = bytes[1];
    let is_over = network.run(Time::from_s(3_000_000));
    let states = [0, 1].map(|end| network.ends[end].connection.state());
    assert!(is_over, "{context}: still busy in {states:?} at {}", network.now);
    for (end, expected) in bytes.into_iter().enumerate() {
        let other = &network.ends[1 - end];
        assert_eq!(
            other.read, expected,
            "{context}: bytes from {end}, states {states:?}, {:?} {:?}",
            other.events, network.ends[end].events
        );
        assert_eq!(other.connection.state(), State::Closed, "{context}");
        assert!(other.events.contains(&Event::PeerFinished), "{context}: {:?}", other.events);
        assert!(other.events.contains(&Event::Closed), "{context}: {:?}", other.events);
    }
}

#[test]
fn a_perfect_network_loses_nothing() {
    for congestion in [Congestion::NewReno, Congestion::Cubic, Congestion::Dctcp] {
        let config = Config { congestion, ..Config::default() };
        let mut network = Network::new([&config, &config], PERFECT, 1);
        finish(&mut network, [3_000_000, 1], "perfect");
        let counters = network.ends[0].connection.statistics().counters;
        assert_eq!(counters.retransmitted_bytes, 0, "{congestion:?}: {counters:?}");
    }
}

/// A configuration and a network, both random.
fn random_case(rng: &mut Rng) -> (Config, Impairments) {
    let mut flag = || rng.chance(1, 2);
    let mut config = Config {
        sack: flag(),
        timestamps: flag(),
        window_scaling: flag(),
        rack: flag(),
        prr: flag(),
        undo: flag(),
        nagle: flag(),
        ecn: flag(),
        slow_start_after_idle: flag(),
        ..Config::default()
    };
    config.congestion = *rng.pick(&[Congestion::NewReno, Congestion::Cubic, Congestion::Dctcp]);
    config.mss = *rng.pick(&[100, 536, 1460, 8960]);
    config.receive_buffer_bytes = *rng.pick(&[1, 1000, 20_000, 65_535, 3 << 20]);
    config.send_buffer_bytes = *rng.pick(&[1, 3000, 100_000, 4 << 20]);
    config.delayed_ack = *rng.pick(&[Time::ZERO, Time::from_ms(40), Time::from_ms(500)]);
    config.quick_acks = *rng.pick(&[0, 16]);
    config.min_rto = *rng.pick(&[Time::from_ms(1), Time::from_ms(200), Time::from_s(1)]);
    config.min_rto_variance = *rng.pick(&[Time::ZERO, Time::from_ms(200)]);
    config.ranges = *rng.pick(&[1, 8, 128]);
    config.retries = 100;
    config.syn_retries = 100;
    // Longer than any timeout, so that a repeated FIN finds somebody.
    config.time_wait = Time::from_s(600);
    config.max_rto = *rng.pick(&[Time::from_s(2), Time::from_s(120)]);
    let impairments = Impairments {
        loss: *rng.pick(&[0, 1, 10, 50, 200]),
        duplication: *rng.pick(&[0, 10, 300]),
        reordering: *rng.pick(&[0, 10, 300]),
        marks: *rng.pick(&[0, 10, 300]),
        delay: Time::from_us(*rng.pick(&[0, 10, 1000, 100_000])),
        jitter: Time::from_us(*rng.pick(&[0, 1, 1000])),
        lateness: Time::from_us(*rng.pick(&[10, 1000, 1_000_000])),
        rewritten_window: *rng.pick(&[None, None, None, Some(10), Some(3000)]),
    };
    (config, impairments)
}

#[test]
fn every_network_delivers_everything() {
    let seeds = std::env::var("TCP_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut seen = [0; 6];
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let (first, impairments) = random_case(&mut rng);
        let (second, _) = random_case(&mut rng);
        let most = if first.send_buffer_bytes.min(second.receive_buffer_bytes) < 1000 { 200 } else { 300_000 };
        let bytes = [rng.between(0, most), rng.between(0, 100)];
        let mut network = Network::new([&first, &second], impairments, seed);
        network.ends[1].reads =
            *rng.pick(&[None, Some((10_000, Time::from_ms(3))), Some((100_000, Time::from_ms(700)))]);
        let context = format!("seed {seed}: {first:?} {second:?} {impairments:?}");
        finish(&mut network, bytes, &context);
        // A structure, and 48 bytes for each of twice as many ranges as the limit, in a vector that doubles.
        let limit = 2048 + 2 * 2 * 48 * usize::from(first.ranges.max(second.ranges).max(32));
        assert!(network.memory_max <= limit, "{context}: {} bytes", network.memory_max);
        for end in &network.ends {
            let counters = end.connection.statistics().counters;
            let found = [
                counters.timeouts,
                counters.fast_recoveries,
                counters.tail_probes,
                counters.spurious_recoveries,
                counters.ecn_reductions,
                counters.duplicate_reports,
            ];
            seen.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "the networks do not provoke everything: {seen:?}");
}
