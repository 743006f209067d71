//! Tests.

use super::*;
use crate::arrivals::{Arrivals, Sizes};
use crate::channel::{ChannelConfig, ChannelDrop, Interval};
use crate::generator::{Sink, Source};
use crate::node::Context;
use crate::packet::Packet;
use crate::random::Chance;

/// Sends what arrives on the next port; answers a timer after a while by sending a frame of its own.
struct Relay {
    ports: usize,
    turns: usize,
    next: Time,
}

impl Node for Relay {
    fn receive(&mut self, context: &mut Context<'_>, port: usize, packet: Packet) {
        self.turns += 1;
        context.send((port + 1 + self.turns % (self.ports - 1)) % self.ports, packet);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        let packet = context.pool().copy_of(&[self.turns as u8; 64]);
        context.send(self.turns % self.ports, packet);
        self.next = context.now() + Time::from_us(3);
    }

    fn next_timer(&self) -> Time {
        self.next
    }
}

/// A ring of relays, each with a source and a sink, on lossy, jittering links.
fn ring(relays: u32, seed: u64, threads: usize) -> Network {
    let mut builder = NetworkBuilder::default();
    let config = ChannelConfig {
        bits_per_s: 1_000_000_000,
        delay: Time::from_us(2),
        queue_packets: 20,
        loss: Chance::new(0.02).unwrap(),
        duplication: Chance::new(0.01).unwrap(),
        corruption: Chance::new(0.01).unwrap(),
        jitter: Time::from_us(1),
        reordering: Chance::new(0.05).unwrap(),
        reordering_delay: Time::from_us(20),
        down: vec![Interval { start: Time::from_us(700), end: Time::from_us(800) }],
        ..ChannelConfig::default()
    };
    let near = ChannelConfig { bits_per_s: 1_000_000_000, delay: Time::from_ns(500), ..ChannelConfig::default() };
    let ids: Vec<NodeId> = (0..relays).map(|relay| builder.add(&format!("r{relay}"))).collect();
    for (index, &id) in ids.iter().enumerate() {
        builder.link(id, ids[(index + 1) % ids.len()], [config.clone(), config.clone()]);
        let name = format!("source{index}");
        let (source, sink) = (builder.add(&name), builder.add(&format!("sink{index}")));
        builder.link(source, id, [near.clone(), near.clone()]);
        builder.link(id, sink, [near.clone(), near.clone()]);
        let arrivals = Arrivals::poisson(400_000_000, 500);
        builder.place(source, Box::new(Source::new(arrivals, Sizes::Uniform(64, 936), &name, seed)));
        builder.place(sink, Box::new(Sink { digest: Some(0), ..Sink::default() }));
    }
    for &id in &ids {
        builder.place(id, Box::new(Relay { ports: 4, turns: 0, next: Time::from_us(1) }));
    }
    builder.build(seed, threads)
}

/// Everything that can be seen of a network.
fn state(network: &Network) -> Vec<u64> {
    let sinks = (0..network.nodes.len() as u32).filter_map(|node| network.node::<Sink>(NodeId(node)));
    let mut state: Vec<u64> =
        sinks.flat_map(|sink| [sink.packets, sink.bytes, sink.last.ps(), sink.digest.unwrap_or(0)]).collect();
    for channel in 0..network.channels().len() {
        let counters = network.counters(channel);
        state.extend([counters.packets, counters.bytes, counters.queueing_ps as u64, counters.dropped()]);
        state.extend(counters.drops);
    }
    state.push(network.events());
    state
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let run = |seed, threads| {
        let mut network = ring(7, seed, threads);
        assert_eq!(network.threads(), threads);
        network.run_until(Time::from_us(1_000));
        let middle = state(&network);
        network.run_until(Time::from_us(1_500));
        (middle, state(&network))
    };
    let sequential = run(1, 1);
    assert_eq!(run(1, 1), sequential);
    for threads in [2, 3, 5] {
        assert_eq!(run(1, threads), sequential, "{threads} threads");
    }
    assert_ne!(run(2, 1), sequential);
}

#[test]
fn the_places_where_a_run_stops_change_nothing() {
    let mut network = ring(3, 1, 1);
    network.run_until(Time::from_us(900));
    let whole = state(&network);
    for threads in [1, 2] {
        let mut network = ring(3, 1, threads);
        (1..=900).for_each(|step| network.run_until(Time::from_us(step)));
        assert_eq!(state(&network), whole);
    }
}

#[test]
fn nodes_that_are_joined_without_delay_stay_together() {
    let mut builder = NetworkBuilder::default();
    let ids: Vec<NodeId> = (0..4).map(|node| builder.add(&format!("n{node}"))).collect();
    let delays = [Time::ZERO, Time::from_ns(7), Time::ZERO];
    for (index, delay) in delays.into_iter().enumerate() {
        let config = ChannelConfig { delay, ..ChannelConfig::default() };
        builder.link(ids[index], ids[index + 1], [config.clone(), config]);
    }
    ids.iter().for_each(|&id| builder.place(id, Box::<Sink>::default()));
    let network = builder.build(1, 4);
    assert_eq!((network.threads(), network.look_ahead), (2, Time::from_ns(7)));
    let names: Vec<&str> = network.channels().iter().map(|channel| &*channel.name).collect();
    assert_eq!(names, ["n0>n1", "n1>n0", "n1>n2", "n2>n1", "n2>n3", "n3>n2"]);
}

#[test]
fn impairments_and_failures_happen_in_a_network() {
    let mut network = ring(3, 5, 1);
    network.run_until(Time::from_ms(2));
    let ids = 0..network.nodes.len() as u32;
    let sent: u64 = ids.clone().filter_map(|node| network.node::<Source>(NodeId(node))).map(|source| source.sent).sum();
    let received: u64 = ids.filter_map(|node| network.node::<Sink>(NodeId(node))).map(|sink| sink.packets).sum();
    let count = |what: fn(&ChannelCounters) -> u64| -> u64 {
        (0..network.channels().len()).map(|channel| what(&network.counters(channel))).sum()
    };
    assert!(sent > 500 && received > 100, "{sent} {received}");
    for reason in [ChannelDrop::Down, ChannelDrop::Loss] {
        let dropped: u64 =
            (0..network.channels().len()).map(|channel| network.counters(channel).drops[reason as usize]).sum();
        assert!(dropped > 0, "{}", reason.name());
    }
    assert!(count(|it| it.reordered) > 0 && count(|it| it.duplicated) > 0 && count(|it| it.corrupted) > 0);
}
