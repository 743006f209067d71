//! Tests of internal ports and of queues that are shaped: when packets arrive, and what is refused.

use super::*;
use std::num::NonZeroU32;

/// Every packet weighs 125 bytes: 1000 bits.
fn manager() -> TrafficManager<u32> {
    TrafficManager::new(1, PORT_MAX, |_| 125)
}

const GIGABIT: InternalPortSettings = InternalPortSettings {
    bits_per_s: 1_000_000_000,
    overhead_bytes: 0,
    packets_per_s: 0,
    delay_ns: 500,
    capacity_packets: 2,
    capacity_bytes: u64::MAX,
};

/// Takes a packet to a port; when it will arrive, if it is not refused.
fn enter(tm: &mut TrafficManager<u32>, port: InternalPort, packet: u32, now_ns: u64) -> Option<u64> {
    let arrives_ns = tm.internal_arrival_ns(port, 125, now_ns)?;
    tm.enter_internal(port, packet, After::Ingress, now_ns);
    Some(arrives_ns)
}

/// The packets that have arrived, with their times.
fn arrived(tm: &mut TrafficManager<u32>, now_ns: u64) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| tm.take_arrived(now_ns).map(|(packet, _, at_ns)| (packet, at_ns))).collect()
}

#[test]
fn a_packet_waits_for_the_port_and_travels_behind_it() {
    let mut tm = manager();
    assert_eq!(
        (tm.internal_arrival_ns(InternalPort::Recirculation, 125, 7), tm.has_internal_ports()),
        (Some(7), false)
    );
    tm.set_internal_port(InternalPort::Recirculation, GIGABIT);
    assert_eq!(tm.internal_arrival_ns(InternalPort::Mirror, 125, 7), Some(7), "only one port was set up");
    // One on the wire, two in the queue, no space for a fourth until the second has begun.
    let times: Vec<_> = (0..4).map(|packet| enter(&mut tm, InternalPort::Recirculation, packet, 0)).collect();
    assert_eq!(times, [Some(1_500), Some(2_500), Some(3_500), None]);
    assert_eq!((tm.queued(), tm.buffered_bytes(), tm.next_departure_ns()), (3, 250, Some(1_500)));
    assert_eq!(enter(&mut tm, InternalPort::Recirculation, 4, 1_000), Some(4_500));
    assert_eq!(arrived(&mut tm, 2_499), [(0, 1_500)]);
    assert_eq!(arrived(&mut tm, 9_000), [(1, 2_500), (2, 3_500), (4, 4_500)]);
    assert_eq!((tm.queued(), tm.buffered_bytes(), tm.next_departure_ns()), (0, 0, None));
    // An idle port saves nothing up.
    assert_eq!(enter(&mut tm, InternalPort::Recirculation, 5, 9_000), Some(10_500));
    let state = InternalPortState { packets: 5, bytes: 625, refused_packets: 1, depth_packets_max: 2 };
    assert_eq!(tm.internal_ports().collect::<Vec<_>>(), [(InternalPort::Recirculation, state)]);
}

#[test]
fn a_port_carries_exactly_its_packets_a_second() {
    let mut tm = manager();
    let settings = InternalPortSettings { packets_per_s: 3_000_000, ..InternalPortSettings::default() };
    tm.set_internal_port(InternalPort::Replication, settings);
    for packet in 0..3_000 {
        enter(&mut tm, InternalPort::Replication, packet, 10).unwrap();
    }
    assert_eq!(arrived(&mut tm, 10 + 999_999).len(), 3_000);
    assert_eq!(enter(&mut tm, InternalPort::Replication, 9, 999_999), Some(10 + 1_000_000));
}

#[test]
fn packets_on_several_ports_arrive_in_the_order_of_their_times() {
    let mut tm = manager();
    for (port, delay_ns) in
        [(InternalPort::Mirror, 300), (InternalPort::Resubmission, 300), (InternalPort::Recirculation, 200)]
    {
        tm.set_internal_port(port, InternalPortSettings { delay_ns, ..InternalPortSettings::default() });
    }
    enter(&mut tm, InternalPort::Mirror, 1, 0);
    enter(&mut tm, InternalPort::Resubmission, 2, 0);
    enter(&mut tm, InternalPort::Recirculation, 3, 0);
    assert_eq!(arrived(&mut tm, 299), [(3, 200)]);
    assert_eq!(arrived(&mut tm, 300), [(2, 300), (1, 300)]);
    // With a delay that becomes shorter nothing overtakes.
    enter(&mut tm, InternalPort::Mirror, 4, 1_000);
    tm.set_internal_port(InternalPort::Mirror, InternalPortSettings::default());
    assert_eq!(enter(&mut tm, InternalPort::Mirror, 5, 1_001), Some(1_300));
}

#[test]
fn the_shared_buffer_holds_what_waits_for_internal_ports() {
    let mut tm = manager();
    tm.set_internal_port(InternalPort::Recirculation, InternalPortSettings { capacity_packets: 9, ..GIGABIT });
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    tm.set_buffer(BufferSettings { bytes: 250, threshold: None });
    for packet in 0..2 {
        tm.enqueue(packet, 1, 0, 0).unwrap();
    }
    assert_eq!(enter(&mut tm, InternalPort::Recirculation, 2, 0), None, "the queue has taken the buffer");
    let mut tm = manager();
    tm.set_internal_port(InternalPort::Recirculation, GIGABIT);
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    tm.set_buffer(BufferSettings { bytes: 125, threshold: None });
    assert!(enter(&mut tm, InternalPort::Recirculation, 0, 0).is_some(), "it is on the wire immediately");
    assert!(enter(&mut tm, InternalPort::Recirculation, 1, 0).is_some());
    assert_eq!(tm.enqueue(2, 1, 0, 999), Err((2, Refusal::Full)));
    tm.enqueue(2, 1, 0, 1_000).unwrap();
}

/// What a port with these queues sends of packets that are always there, within this many nanoseconds.
fn shares(settings: &[QueueSettings], port_bits_per_s: u64, time_ns: u64) -> Vec<u64> {
    let mut tm = TrafficManager::new(settings.len(), PORT_MAX, |_: &u32| 125);
    for (priority, wanted) in (0..).zip(settings) {
        tm.set_queues(Some(1), Some(priority), |it| *it = *wanted).unwrap();
    }
    tm.set_port_rate(1, port_bits_per_s, 0).unwrap();
    let mut sent = vec![0; settings.len()];
    (0..settings.len() as u32).for_each(|priority| tm.enqueue(priority, 1, priority, 0).unwrap());
    while let Some(now_ns) = tm.next_departure_ns().filter(|at_ns| *at_ns < time_ns) {
        let mut taken = None;
        tm.dequeue(now_ns, 1, |departure| taken = Some(departure.packet));
        let Some(priority) = taken else { continue };
        sent[priority as usize] += 1;
        // Another one is always there before the queue is chosen again.
        tm.enqueue(priority, 1, priority, now_ns).unwrap();
        tm.enqueue(priority, 1, priority, now_ns).ok();
        tm.sent(1, 125);
        tm.finish_departure(1);
    }
    sent
}

#[test]
fn a_shaped_queue_gets_its_rate_and_others_the_rest() {
    let queue = |class, bits_per_s, weight| QueueSettings {
        bits_per_s,
        class,
        weight: NonZeroU32::new(weight).unwrap(),
        ..QueueSettings::of_priority(0)
    };
    // 1 Gb/s for 10 ms: 10,000 packets. The first goes first, but with 200 Mb/s only.
    let sent = shares(&[queue(1, 200_000_000, 1), queue(0, 0, 3), queue(0, 0, 1)], 1_000_000_000, 10_000_000);
    assert_eq!(sent[0], 2_000, "{sent:?}");
    assert_eq!(sent.iter().sum::<u64>(), 10_000);
    let part = sent[1] as f64 / (sent[1] + sent[2]) as f64;
    assert!((part - 0.75).abs() < 0.005, "{sent:?}");
    // Neither a rate in packets nor one in bits is lost where a packet of another queue is on the wire.
    let paced = QueueSettings { packets_per_s: 70_000, class: 1, ..QueueSettings::of_priority(0) };
    assert_eq!(shares(&[paced, queue(0, 0, 1)], 1_000_000_000, 100_000_000), [7_000, 93_000]);
    assert_eq!(shares(&[queue(1, 333_000_000, 1), queue(0, 0, 1)], 1_000_000_000, 100_000_000), [33_300, 66_700]);
    // Alone, a shaped queue of a port without a rate.
    assert_eq!(shares(&[queue(0, 300_000_000, 1)], 0, 10_000_000), [3_000]);
}

/// Choudhury and Hahne: with `n` queues that never empty, each has α B / (1 + n α) bytes, and the rest stays free.
#[test]
fn dynamic_thresholds_reach_their_fixed_point() {
    for (queues, numerator, denominator) in [(1, 1, 1), (2, 1, 1), (4, 1, 2), (3, 2, 1), (8, 1, 1)] {
        let mut tm = manager();
        let buffer_bytes = 1_000_000;
        let threshold = DynamicThreshold { numerator, denominator: NonZeroU32::new(denominator).unwrap() };
        tm.set_buffer(BufferSettings { bytes: buffer_bytes, threshold: Some(threshold) });
        tm.set_queues(None, None, |it| it.capacity_packets = usize::MAX).unwrap();
        (1..=queues).for_each(|port| tm.set_port_rate(port, 1_000_000_000, 0).unwrap());
        for _ in 0..9_000 {
            (1..=queues).for_each(|port| tm.enqueue(0, port, 0, 0).unwrap_or(()));
        }
        let alpha = f64::from(numerator) / f64::from(denominator);
        let expected = alpha * buffer_bytes as f64 / (1.0 + f64::from(queues) * alpha);
        for port in 1..=queues {
            let bytes = 125.0 * tm.depth(port, 0) as f64;
            assert!((bytes - expected).abs() <= 250.0, "{queues} queues, alpha {alpha}: {bytes} {expected}");
        }
    }
}
