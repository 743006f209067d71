//! Tests.

use super::*;
use crate::wire::ethernet::IPV4;

/// 1 Gb/s without overhead: a byte takes 8 ns.
fn config() -> ChannelConfig {
    ChannelConfig { bits_per_s: 1_000_000_000, overhead_bytes: 0, ..ChannelConfig::default() }
}

fn chance(probability: f64) -> Chance {
    Chance::new(probability).unwrap()
}

use crate::random::Chance;

struct Bench {
    transmitter: Transmitter,
    pool: Pool,
    arrivals: Vec<(u64, Vec<u8>)>,
}

impl Bench {
    fn new(config: ChannelConfig) -> Bench {
        Bench { transmitter: Transmitter::new(config, "a>b", 1), pool: Pool::default(), arrivals: Vec::new() }
    }

    /// Sends a packet of this many bytes.
    fn send(&mut self, now_ns: u64, bytes: usize) {
        let packet = self.pool.zeroed(bytes);
        self.send_packet(now_ns, packet);
    }

    fn send_packet(&mut self, now_ns: u64, packet: Packet) {
        let arrivals = &mut self.arrivals;
        let mut deliver = |time: Time, mut packet: Packet| arrivals.push((time.ns(), packet.bytes().to_vec()));
        self.transmitter.send(Time::from_ns(now_ns), packet, &mut self.pool, &mut deliver);
    }

    fn times(&self) -> Vec<u64> {
        self.arrivals.iter().map(|(time, _)| *time).collect()
    }
}

#[test]
fn packets_follow_each_other_on_the_line() {
    let mut bench = Bench::new(ChannelConfig { delay: Time::from_ns(50), ..config() });
    bench.send(0, 100);
    bench.send(0, 100);
    bench.send(5_000, 10);
    assert_eq!(bench.times(), [850, 1_650, 5_130]);
    let counters = bench.transmitter.counters(Time::MAX);
    assert_eq!((counters.packets, counters.bytes, counters.busy_ps), (3, 210, 1_680_000));
    assert_eq!((counters.queueing_ps, counters.queueing_byte_ps), (800_000, 80_000_000));
}

#[test]
fn times_are_counted_until_now() {
    let mut bench = Bench::new(config());
    (0..3).for_each(|_| bench.send(0, 100));
    let at = |ns| {
        let counters = bench.transmitter.counters(Time::from_ns(ns));
        (counters.busy_ps, counters.queueing_ps, counters.queueing_byte_ps)
    };
    assert_eq!(at(0), (0, 0, 0));
    assert_eq!(at(500), (500_000, 1_000_000, 100_000_000));
    assert_eq!(at(2_400), (2_400_000, 2_400_000, 240_000_000));
}

#[test]
fn framing_occupies_the_line_and_the_gap_delays_nothing() {
    let mut bench = Bench::new(ChannelConfig { overhead_bytes: 24, ..config() });
    bench.send(0, 20);
    bench.send(0, 100);
    // 84 bytes with the gap, 72 without; 124 and 112.
    assert_eq!(bench.times(), [72 * 8, (84 + 112) * 8]);
}

#[test]
fn the_queue_holds_what_it_may_without_the_packet_in_transmission() {
    let mut bench = Bench::new(ChannelConfig { queue_packets: 2, ..config() });
    (0..4).for_each(|_| bench.send(0, 100));
    assert_eq!((bench.arrivals.len(), bench.transmitter.backlog(Time::ZERO)), (3, (2, 200)));
    assert_eq!(bench.transmitter.counters(Time::MAX).drops, [1, 0, 0, 0]);
    // The second is in transmission from 800 ns on.
    bench.send(800, 100);
    assert_eq!(
        (bench.times(), bench.transmitter.counters(Time::MAX).queue_packets_max),
        (vec![800, 1_600, 2_400, 3_200], 2)
    );
    let mut bench = Bench::new(ChannelConfig { queue_bytes: 150, ..config() });
    [100, 100, 51, 50].into_iter().for_each(|bytes| bench.send(0, bytes));
    assert_eq!(bench.times(), [800, 1_600, 2_000]);
    // Without a queue, a packet still finds a free line.
    let mut bench = Bench::new(ChannelConfig { queue_packets: 0, ..config() });
    [0, 799, 800].into_iter().for_each(|now_ns| bench.send(now_ns, 100));
    assert_eq!(bench.times(), [800, 1_600]);
}

#[test]
fn a_long_queue_marks_packets_that_can_be_marked() {
    let mut bench = Bench::new(ChannelConfig { ecn_packets: 1, ..config() });
    for ecn in [2, 2, 2, 0] {
        let mut packet = bench.pool.zeroed(100);
        packet.bytes_mut()[12..14].copy_from_slice(&IPV4.to_be_bytes());
        packet.bytes_mut()[15] = ecn;
        bench.send_packet(0, packet);
    }
    let marks: Vec<u8> = bench.arrivals.iter().map(|(_, bytes)| bytes[15]).collect();
    assert_eq!((marks, bench.transmitter.counters(Time::MAX).marked), (vec![2, 2, 3, 0], 1));
}

#[test]
fn longer_packets_than_the_mtu_are_dropped() {
    let mut bench = Bench::new(ChannelConfig { mtu: 1_500, ..config() });
    bench.send(0, 1_514);
    bench.send(0, 1_515);
    assert_eq!((bench.arrivals.len(), bench.transmitter.counters(Time::MAX).drops), (1, [0, 1, 0, 0]));
}

#[test]
fn a_link_that_goes_down_loses_what_waits_and_what_is_on_the_wire() {
    let ns = Time::from_ns;
    let down = vec![Interval { start: ns(2_000), end: ns(3_000) }, Interval { start: ns(3_500), end: ns(3_600) }];
    let mut bench = Bench::new(ChannelConfig { delay: ns(300), down, ..config() });
    // Arrive at 1,100 and 1,900; the third would be on the wire, the fourth in the queue.
    (0..4).for_each(|_| bench.send(0, 100));
    bench.send(2_500, 10);
    // The queue is empty again, and the link goes down once more before it arrives.
    bench.send(3_000, 100);
    bench.send(3_600, 100);
    bench.send(10_000, 100);
    assert_eq!(bench.times(), [1_100, 1_900, 4_700, 11_100]);
    let counters = bench.transmitter.counters(Time::MAX);
    assert_eq!(counters.drops, [0, 0, 4, 0]);
    // 2,000 ns before the link goes down, then 500, 800 and 800.
    assert_eq!((counters.busy_ps, counters.queueing_ps), (4_100_000, 800_000 + 1_600_000 + 2_000_000));
}

#[test]
fn what_is_read_while_a_link_is_down_does_not_change_afterwards() {
    let ns = Time::from_ns;
    let down = vec![Interval { start: ns(2_000), end: ns(3_000) }];
    let mut bench = Bench::new(ChannelConfig { delay: ns(300), down, ..config() });
    (0..4).for_each(|_| bench.send(0, 100));
    let meanwhile = bench.transmitter.counters(ns(2_500));
    assert_eq!(meanwhile.busy_ps, 2_000_000);
    assert_eq!(bench.transmitter.backlog(ns(2_500)), (0, 0));
    bench.send(4_000, 100);
    assert_eq!(bench.transmitter.counters(ns(4_000)).busy_ps, meanwhile.busy_ps);
}

#[test]
fn impairments_happen_as_often_as_they_should() {
    let mut bench =
        Bench::new(ChannelConfig { loss: chance(0.1), corruption: chance(0.2), duplication: chance(0.3), ..config() });
    (0..10_000).for_each(|number| bench.send(number * 1_000, 100));
    let counters = bench.transmitter.counters(Time::MAX);
    let lost = counters.drops[ChannelDrop::Loss as usize];
    // Four standard deviations.
    assert!(lost.abs_diff(1_000) < 120, "{lost}");
    let arrived = 10_000 - lost;
    assert!(counters.corrupted.abs_diff(arrived / 5) < 155, "{}", counters.corrupted);
    assert!(counters.duplicated.abs_diff(arrived * 3 / 10) < 180, "{}", counters.duplicated);
    assert_eq!(bench.arrivals.len() as u64, arrived + counters.duplicated);
    let inverted = |bytes: &Vec<u8>| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
    assert!(bench.arrivals.iter().all(|(_, bytes)| inverted(bytes) <= 1));
}

#[test]
fn one_impairment_does_not_change_another() {
    let lost = |corruption: f64| {
        let mut bench = Bench::new(ChannelConfig { loss: chance(0.3), corruption: chance(corruption), ..config() });
        (0..100).for_each(|number| bench.send(number * 1_000, 100));
        bench.times()
    };
    assert_eq!(lost(0.0), lost(0.9));
}

#[test]
fn jitter_keeps_the_order_and_reordering_does_not() {
    let mut bench = Bench::new(ChannelConfig { jitter: Time::from_us(10), ..config() });
    (0..1_000).for_each(|number| bench.send(number * 1_000, 100));
    assert!(bench.times().is_sorted());
    let late = bench.times().iter().zip(0..).filter(|(time, number)| **time > number * 1_000 + 800).count();
    assert!(late > 900, "{late}");
    let reordering_delay = Time::from_us(5);
    let mut bench = Bench::new(ChannelConfig { reordering: chance(0.1), reordering_delay, ..config() });
    (0..1_000).for_each(|number| bench.send(number * 1_000, 100));
    let delayed =
        bench.times().iter().zip(0..).filter(|(time, number)| **time == number * 1_000 + 5_800).count() as u64;
    assert_eq!(delayed, bench.transmitter.counters(Time::MAX).reordered);
    assert!(delayed.abs_diff(100) < 38, "{delayed}");
}
