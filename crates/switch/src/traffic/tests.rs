//! Tests of the traffic manager: what leaves, when, and what is refused.

use super::*;
use std::num::NonZeroU32;

/// Every packet weighs 125 bytes: 1000 bits.
fn manager(priorities: usize, port_max: u32) -> TrafficManager<u32> {
    TrafficManager::new(priorities, port_max, |_| 125)
}

/// Sends all packets that are due, one by one.
fn drain(tm: &mut TrafficManager<u32>, now_ns: u64) -> Vec<u32> {
    let mut packets = Vec::new();
    while let Some((port, packet)) = send(tm, now_ns) {
        tm.sent(port, 125);
        tm.finish_departure(port);
        packets.push(packet);
    }
    packets
}

/// The next packet that is due, and its port.
fn send(tm: &mut TrafficManager<u32>, now_ns: u64) -> Option<(u32, u32)> {
    let mut taken = None;
    tm.dequeue(now_ns, 1, |departure| taken = Some((departure.port, departure.packet)));
    taken
}

#[test]
fn packets_without_a_rate_keep_the_order_of_their_arrival() {
    let mut tm = manager(2, PORT_MAX);
    for (packet, port, priority) in [(10, 1, 0), (11, 1, 1), (20, 2, 0), (12, 1, 0), (21, 2, 1)] {
        tm.enqueue(packet, port, priority, 0).unwrap();
    }
    assert_eq!((tm.queued(), tm.depth(1, 0), tm.depth(2, 1)), (5, 2, 1));
    assert_eq!(drain(&mut tm, 0), [10, 11, 20, 12, 21]);
    assert_eq!((tm.queued(), tm.depth(1, 0)), (0, 0));
}

#[test]
fn depths_of_the_line_may_be_left_out() {
    let mut tm = manager(2, u32::MAX).without_depths_of_line();
    for (packet, port, priority) in [(1, 1, 0), (2, 70_000, 1), (3, 1, 1), (4, 70_000, 1)] {
        tm.enqueue(packet, port, priority, 0).unwrap();
    }
    assert_eq!((tm.queued(), tm.depth(1, 0)), (4, 0));
    assert!(!tm.may_skip_queue(1, 0));
    assert_eq!(tm.enqueue(9, 1, 2, 0), Err((9, Refusal::NoPriority)));
    assert_eq!((drain(&mut tm, 0), tm.far.len()), (vec![1, 2, 3, 4], 0));
    assert_eq!(
        [(1, 0), (1, 2), (70_000, 0)].map(|(port, priority)| tm.may_skip_queue(port, priority)),
        [true, false, false]
    );
    // Those of queues with a rate count, and what comes behind them is held back.
    tm.set_queues(Some(1), None, |it| it.packets_per_s = 1_000_000).unwrap();
    for packet in 5..8 {
        tm.enqueue(packet, 1, 0, 0).unwrap();
    }
    assert_eq!(tm.depth(1, 0), 3);
    assert_eq!(drain(&mut tm, 0), [5]);
    tm.set_queues(Some(1), None, |it| it.packets_per_s = 0).unwrap();
    assert!(!tm.may_skip_queue(2, 0));
    tm.enqueue(8, 1, 0, 0).unwrap();
    assert_eq!((drain(&mut tm, 2000), tm.depth(1, 0)), (vec![6, 7, 8], 0));
}

#[test]
fn higher_priorities_leave_first() {
    let mut tm = manager(3, PORT_MAX);
    tm.set_queues(Some(1), None, |it| it.packets_per_s = 1_000).unwrap();
    for (packet, priority) in [(1, 0), (2, 2), (3, 1), (4, 2)] {
        tm.enqueue(packet, 1, priority, 0).unwrap();
    }
    // Each queue has its own pace.
    assert_eq!(drain(&mut tm, 0), [2, 3, 1]);
    assert_eq!(drain(&mut tm, 1_000_000), [4]);
    assert_eq!(tm.enqueue(9, 1, 3, 0), Err((9, Refusal::NoPriority)));
    assert_eq!(tm.enqueue(9, PORT_MAX + 1, 0, 0), Err((9, Refusal::NoPort)));
}

#[test]
fn a_rate_spaces_departures_and_a_full_queue_refuses() {
    let mut tm = manager(1, PORT_MAX);
    tm.set_queues(Some(1), None, |it| it.packets_per_s = 1_000_000).unwrap();
    tm.set_queues(Some(1), None, |it| it.capacity_packets = 3).unwrap();
    for packet in 0..3 {
        tm.enqueue(packet, 1, 0, 0).unwrap();
    }
    assert_eq!(tm.enqueue(3, 1, 0, 0), Err((3, Refusal::Full)));
    let queue = QueueState {
        port: 1,
        priority: 0,
        depth_packets: 3,
        depth_bytes: 375,
        capacity_packets: 3,
        is_paced: true,
        refused_packets: 1,
        counts: QueueCounts { depth_packets_max: 3, depth_bytes_max: 375, ..QueueCounts::default() },
    };
    assert_eq!(tm.queues().collect::<Vec<_>>(), [queue]);
    assert_eq!(drain(&mut tm, 0), [0]);
    assert_eq!(tm.next_departure_ns(), Some(1000));
    assert_eq!(drain(&mut tm, 999), []);
    assert_eq!(drain(&mut tm, 1000), [1]);
    assert_eq!(drain(&mut tm, 5000), [2]);
    assert_eq!(tm.next_departure_ns(), None);
}

#[test]
fn a_slow_wire_takes_the_packets_of_all_queues_one_by_one() {
    let mut tm = manager(2, PORT_MAX);
    // A thousand bits take a microsecond.
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    for (packet, port, priority) in [(1, 1, 0), (2, 1, 0), (3, 1, 1), (9, 2, 0)] {
        tm.enqueue(packet, port, priority, 500).unwrap();
    }
    assert_eq!((tm.depth(1, 0), tm.depth(1, 1)), (2, 1));
    assert_eq!(drain(&mut tm, 500), [9, 3]);
    assert_eq!((drain(&mut tm, 1499), tm.next_departure_ns()), (vec![], Some(1500)));
    // A late look does not slow the wire down; a wire that was idle does not catch up.
    assert_eq!(drain(&mut tm, 2600), [1, 2]);
    tm.enqueue(4, 1, 0, 9000).unwrap();
    tm.enqueue(5, 1, 0, 9000).unwrap();
    assert_eq!((drain(&mut tm, 9000), tm.next_departure_ns()), (vec![4], Some(10_000)));
    tm.set_port_rate(1, 0, 0).unwrap();
    assert_eq!((drain(&mut tm, 9000), tm.has_rates()), (vec![5], false));
    assert_eq!(tm.set_port_rate(PORT_MAX + 1, 1, 0), Err(Refusal::NoPort));
}

/// How many packets of 64 bytes a port of this rate sends in a millisecond.
fn in_a_millisecond(bits_per_s: u64, overhead_bytes: u32) -> u64 {
    let mut tm = TrafficManager::new(1, PORT_MAX, |_: &u32| 64);
    tm.set_port_rate(1, bits_per_s, overhead_bytes).unwrap();
    let (mut now_ns, mut sent) = (0, 0);
    while now_ns < 1_000_000 {
        // It never runs empty.
        while tm.enqueue(0, 1, 0, now_ns).is_ok() {}
        let due = tm.dequeue(now_ns, usize::MAX, |departure| assert!(departure.is_paced));
        assert!(due <= 1);
        if due == 1 {
            tm.sent(1, 64);
            tm.finish_departure(1);
            sent += 1;
            continue;
        }
        now_ns = now_ns.max(tm.next_departure_ns().unwrap_or(now_ns + 1));
    }
    sent
}

#[test]
fn a_port_sends_exactly_as_much_as_its_rate() {
    // 12.8 and 1.28 nanoseconds each, the first of them immediately.
    assert_eq!(in_a_millisecond(40_000_000_000, 0), 78_125);
    assert_eq!(in_a_millisecond(400_000_000_000, 0), 781_250);
    // On Ethernet 88 bytes.
    assert_eq!(in_a_millisecond(40_000_000_000, ETHERNET_OVERHEAD_BYTES), 56_819);
    assert_eq!(in_a_millisecond(10_000_000_000, ETHERNET_OVERHEAD_BYTES), 14_205);
}

#[test]
fn a_short_packet_takes_as_much_of_a_wire_as_the_shortest_frame() {
    let bytes = |packet, overhead| wire_bits(packet, overhead) / 8;
    assert_eq!([0, 20, 60, 61].map(|packet| bytes(packet, ETHERNET_OVERHEAD_BYTES)), [84, 84, 84, 85]);
    assert_eq!([bytes(20, 28), bytes(20, 23), bytes(20, 0)], [88, 43, 20]);
    let mut tm = by_bytes(1);
    tm.set_port_rate(1, 1_000_000_000, ETHERNET_OVERHEAD_BYTES).unwrap();
    for _ in 0..2 {
        tm.enqueue(20, 1, 0, 0).unwrap();
    }
    assert_eq!((served(&mut tm, 1), tm.next_departure_ns()), (vec![0], Some(672)));
}

#[test]
fn queues_behind_a_slow_port_are_paced() {
    let mut tm = manager(2, PORT_MAX);
    tm.set_port_rate(1, 1_000_000, ETHERNET_OVERHEAD_BYTES).unwrap();
    tm.set_queues(Some(2), Some(1), |it| it.packets_per_s = 7).unwrap();
    let paced: Vec<_> = tm.queues().filter(|it| it.is_paced).map(|it| (it.port, it.priority)).collect();
    assert_eq!(paced, [(1, 0), (1, 1), (2, 1)]);
    let mut other = manager(2, PORT_MAX);
    other.adopt_settings(&tm);
    let adopted: Vec<_> = other.queues().filter(|it| it.is_paced).map(|it| (it.port, it.priority)).collect();
    assert_eq!(adopted, paced);
}

#[test]
fn any_number_can_be_a_port() {
    let mut tm = manager(1, u32::MAX);
    for (packet, port) in [(1, u32::MAX), (2, 512), (3, u32::MAX)] {
        tm.enqueue(packet, port, 0, 0).unwrap();
    }
    assert_eq!((tm.depth(u32::MAX, 0), tm.far.len()), (2, 2));
    assert_eq!(drain(&mut tm, 0), [1, 2, 3]);
    // Nothing is left of ports that have no settings of their own.
    assert_eq!(tm.far.len(), 0);
    tm.set_queues(Some(1000), None, |it| it.packets_per_s = 1_000_000).unwrap();
    for packet in 0..2 {
        tm.enqueue(packet, 1000, 0, 0).unwrap();
    }
    assert_eq!((drain(&mut tm, 0), drain(&mut tm, 1000)), (vec![0], vec![1]));
    assert_eq!(tm.far.len(), 1);
}

#[test]
fn what_is_set_for_all_ports_holds_for_those_to_come() {
    let mut tm = manager(1, u32::MAX);
    tm.set_queues(None, None, |it| it.packets_per_s = 1_000_000).unwrap();
    tm.set_queues(None, Some(0), |it| it.capacity_packets = 1).unwrap();
    for port in [3, 70_000] {
        tm.enqueue(1, port, 0, 0).unwrap();
        assert_eq!(tm.enqueue(2, port, 0, 0), Err((2, Refusal::Full)));
    }
    assert_eq!(drain(&mut tm, 0), [1, 1]);
    assert!(tm.has_rates());
}

#[test]
fn ports_without_packets_make_space() {
    let mut tm = manager(1, u32::MAX);
    tm.set_queues(None, None, |it| it.packets_per_s = 1_000_000).unwrap();
    for port in 0..FAR_PORTS_MAX as u32 {
        tm.enqueue(1, 1000 + port, 0, 0).unwrap();
    }
    assert_eq!(tm.enqueue(2, 999, 0, 0), Err((2, Refusal::NoPort)));
    assert_eq!(drain(&mut tm, 0).len(), FAR_PORTS_MAX);
    assert_eq!(tm.enqueue(2, 999, 0, 999), Err((2, Refusal::NoPort)));
    assert_eq!(tm.enqueue(2, 999, 0, 1000), Ok(()));
}

/// Packets whose number is their length in bytes.
fn by_bytes(priorities: usize) -> TrafficManager<u32> {
    TrafficManager::new(priorities, PORT_MAX, |bytes| *bytes)
}

/// The priorities of the next `count` packets of port 1, whose wire carries a bit in a nanosecond.
fn served(tm: &mut TrafficManager<u32>, count: usize) -> Vec<u32> {
    let mut priorities = Vec::new();
    let mut now_ns = 0;
    while priorities.len() < count {
        let mut bytes = None;
        tm.dequeue(now_ns, 1, |departure| {
            priorities.push(departure.priority);
            bytes = Some(departure.packet);
        });
        bytes.into_iter().for_each(|bytes| tm.sent(1, bytes));
        tm.finish_departure(1);
        now_ns = tm.next_departure_ns().unwrap_or(now_ns);
    }
    priorities
}

#[test]
fn queues_of_a_class_share_by_weight_in_bytes() {
    let mut tm = by_bytes(4);
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    tm.set_queues(Some(1), None, |it| (it.class, it.capacity_packets) = (0, 1000)).unwrap();
    tm.set_queues(Some(1), Some(2), |it| it.weight = NonZeroU32::new(3).unwrap()).unwrap();
    tm.set_queues(Some(1), Some(3), |it| it.class = 1).unwrap();
    for (bytes, priority, count) in [(1514, 0, 100), (757, 1, 200), (1514, 2, 300), (1514, 3, 2)] {
        for _ in 0..count {
            tm.enqueue(bytes, 1, priority, 0).unwrap();
        }
    }
    // The higher class first; then for each packet of queue 0 two of half its length of queue 1, three of queue 2.
    assert_eq!(served(&mut tm, 14), [3, 3, 0, 1, 1, 2, 2, 2, 0, 1, 1, 2, 2, 2]);
}

#[test]
fn a_long_packet_waits_for_its_share() {
    let mut tm = by_bytes(2);
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    tm.set_queues(Some(1), None, |it| it.class = 0).unwrap();
    tm.enqueue(9000, 1, 0, 0).unwrap();
    for _ in 0..8 {
        tm.enqueue(1514, 1, 1, 0).unwrap();
    }
    assert_eq!(served(&mut tm, 9), [1, 1, 1, 1, 1, 0, 1, 1, 1]);
}

#[test]
fn a_queue_is_bounded_in_bytes() {
    let mut tm = by_bytes(1);
    tm.set_port_rate(1, 1_000_000, 0).unwrap();
    tm.set_queues(Some(1), None, |it| it.capacity_bytes = 1000).unwrap();
    tm.enqueue(600, 1, 0, 0).unwrap();
    assert_eq!(tm.enqueue(401, 1, 0, 0), Err((401, Refusal::Full)));
    tm.enqueue(400, 1, 0, 0).unwrap();
    assert_eq!(tm.enqueue(1, 1, 0, 0), Err((1, Refusal::Full)));
    assert_eq!((tm.buffered_bytes(), served(&mut tm, 1).len(), tm.buffered_bytes()), (1000, 1, 400));
    tm.enqueue(600, 1, 0, 0).unwrap();
}

#[test]
fn queues_share_a_buffer() {
    let mut tm = by_bytes(1);
    for port in 1..4 {
        tm.set_port_rate(port, 1_000_000, 0).unwrap();
    }
    let threshold = DynamicThreshold { numerator: 1, denominator: NonZeroU32::MIN };
    tm.set_buffer(BufferSettings { bytes: 4000, threshold: Some(threshold) });
    let mut fill = |port| (0..).take_while(|_| tm.enqueue(100, port, 0, 0).is_ok()).count();
    // With α = 1 a single queue gets half of the buffer, the next one half of what is left.
    assert_eq!([fill(1), fill(2), fill(3)], [20, 10, 5]);
    tm.set_buffer(BufferSettings { bytes: 4000, threshold: None });
    let mut fill = |port| (0..).take_while(|_| tm.enqueue(100, port, 0, 0).is_ok()).count();
    assert_eq!([fill(1), fill(2)], [5, 0]);
    assert_eq!(tm.buffered_bytes(), 4000);
}

#[test]
fn a_wire_carries_what_is_sent_not_what_was_queued() {
    let mut tm = by_bytes(1);
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    for _ in 0..3 {
        tm.enqueue(125, 1, 0, 0).unwrap();
    }
    // The first grows before the wire, the second is dropped.
    assert_eq!(send(&mut tm, 0), Some((1, 125)));
    assert_eq!((send(&mut tm, 0), tm.next_departure_ns()), (None, Some(u64::MAX)));
    tm.sent(1, 250);
    tm.finish_departure(1);
    assert_eq!((send(&mut tm, 1999), tm.next_departure_ns()), (None, Some(2000)));
    assert_eq!(send(&mut tm, 2000), Some((1, 125)));
    tm.finish_departure(1);
    assert_eq!((send(&mut tm, 2000), tm.next_departure_ns()), (Some((1, 125)), None));
}

#[test]
fn a_wire_behind_a_slow_queue_saves_nothing_up() {
    let mut tm = by_bytes(2);
    tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
    tm.set_queues(Some(1), Some(0), |it| it.packets_per_s = 1_000).unwrap();
    for _ in 0..3 {
        tm.enqueue(125, 1, 0, 0).unwrap();
    }
    assert_eq!([0, 1_000_000].map(|now_ns| drain(&mut tm, now_ns).len()), [1, 1]);
    for _ in 0..2 {
        tm.enqueue(125, 1, 1, 1_000_000).unwrap();
    }
    assert_eq!((drain(&mut tm, 1_000_000), tm.next_departure_ns()), (vec![], Some(1_001_000)));
    assert_eq!((drain(&mut tm, 1_001_000).len(), drain(&mut tm, 1_002_000).len()), (1, 1));
}
