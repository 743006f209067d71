//! Stations that answer, stop answering, and are too many.

use super::*;

const HOST: Station = Station { port: 1, address: IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 1, 2)) };
const MAC: Mac = Mac([2, 0, 0, 0, 1, 2]);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn neighbours() -> Neighbours {
    Neighbours::new(NeighbourSettings { of_link: 20, unresolved: 10, ..NeighbourSettings::default() })
}

fn packet(number: u8) -> Waiting {
    Waiting { port: 2, frame: vec![number] }
}

fn other(number: u32) -> Station {
    Station { port: 1, address: core::net::Ipv4Addr::from_bits(0x0A00_0100 + number).into() }
}

/// All that happens until nothing does, or until an hour has passed.
fn run(neighbours: &mut Neighbours) -> Vec<(Duration, Event)> {
    let mut events = Vec::new();
    while let Some(next) = neighbours.next_timer().filter(|next| *next < seconds(3600)) {
        events.extend(neighbours.timer(next).into_iter().map(|event| (next, event)));
    }
    events
}

#[test]
fn packets_wait_for_the_answer_the_newest_of_them() {
    let mut it = neighbours();
    assert_eq!(it.look_for(seconds(0), HOST, packet(0)), [Event::Solicit(HOST, None)]);
    for number in 1..=4 {
        assert_eq!(it.look_for(seconds(0), HOST, packet(number)), []);
    }
    let sent = [2, 3, 4].map(|number| Event::Send(packet(number)));
    assert_eq!(it.received(seconds(1), HOST, MAC, false), [&[Event::Found(HOST, MAC)][..], &sent].concat());
    assert_eq!((it.waiting(), it.mac(HOST)), (0, Some(MAC)));
    // One that was on its way, and a repeated message.
    assert_eq!(it.look_for(seconds(1), HOST, packet(5)), [Event::Found(HOST, MAC), Event::Send(packet(5))]);
    assert_eq!(it.received(seconds(2), HOST, MAC, false), []);
    // Another place.
    let moved = Mac([2, 0, 0, 0, 1, 9]);
    assert_eq!(it.received(seconds(3), HOST, moved, false), [Event::Found(HOST, moved)]);
}

#[test]
fn who_does_not_answer_is_asked_three_times() {
    let mut it = neighbours();
    it.look_for(seconds(0), HOST, packet(0));
    let solicit = |second| (seconds(second), Event::Solicit(HOST, None));
    assert_eq!(run(&mut it), [solicit(1), solicit(2), (seconds(3), Event::Unreachable(packet(0)))]);
    assert!(it.is_empty());
}

#[test]
fn a_station_that_stops_answering_is_lost() {
    let mut it = neighbours();
    it.received(seconds(0), HOST, MAC, true);
    let solicit = |second, whom| (seconds(second), Event::Solicit(HOST, whom));
    let expected =
        [solicit(30, Some(MAC)), solicit(31, Some(MAC)), solicit(32, None), (seconds(33), Event::Lost(HOST))];
    assert_eq!(run(&mut it), expected);
    assert!(it.is_empty());
}

#[test]
fn a_gateway_is_asked_for_ever_and_comes_back() {
    let mut it = neighbours();
    it.add_gateway(seconds(0), HOST);
    for second in [0, 1, 2, 3, 5, 7] {
        assert_eq!(it.next_timer(), Some(seconds(second)));
        assert_eq!(it.timer(seconds(second)), [Event::Solicit(HOST, None)]);
    }
    assert_eq!(it.received(seconds(8), HOST, MAC, false), [Event::Found(HOST, MAC)]);
    assert!(!it.forget(HOST));
    for (second, event) in [(10, Event::Solicit(HOST, Some(MAC))), (11, Event::Solicit(HOST, Some(MAC)))] {
        assert_eq!(it.timer(seconds(second)), [event]);
    }
    assert_eq!(it.timer(seconds(12)), [Event::Solicit(HOST, None)]);
    assert_eq!(it.timer(seconds(13)), [Event::Lost(HOST), Event::Solicit(HOST, None)]);
    // A packet for it is not without hope: it is asked anew.
    assert_eq!(it.look_for(seconds(14), HOST, packet(1)), [Event::Solicit(HOST, None)]);
}

#[test]
fn strangers_fill_neither_the_link_nor_memory() {
    let mut it = neighbours();
    for number in 0..1000 {
        it.look_for(seconds(0), other(number), packet(0));
    }
    assert_eq!((it.len(), it.waiting(), it.take_refused()), (10, 10, 990));
    for number in 0..1000 {
        it.received(seconds(0), other(number), MAC, true);
    }
    // Those that were looked for answer; half of the room is for such.
    assert_eq!((it.len(), it.waiting()), (10, 0));
    for number in 1000..2000 {
        it.look_for(seconds(0), other(number), packet(0));
    }
    assert_eq!(it.len(), 20);
    // Unsolicited answers have no effect.
    let mut it = neighbours();
    assert_eq!(it.received(seconds(0), HOST, MAC, false), []);
    assert!(it.is_empty());
    // A link that is full takes nothing away from another, nor from gateways.
    for number in 0..1000 {
        it.look_for(seconds(0), other(number), packet(0));
    }
    assert_eq!(it.look_for(seconds(0), Station { port: 2, ..HOST }, packet(1)).len(), 1);
    it.add_gateway(seconds(0), other(2000));
    assert!(it.is_gateway(other(2000)));
}

#[test]
fn what_a_controller_before_has_found_is_asked_soon() {
    let mut it = neighbours();
    it.take_in(seconds(0), HOST, MAC);
    assert_eq!(it.timer(seconds(1)), [Event::Solicit(HOST, Some(MAC))]);
    assert!(it.forget(HOST) && it.is_empty() && it.next_timer().is_none());
}
