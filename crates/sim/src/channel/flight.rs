//! The packets in flight on the channels of a partition.
//!
//! What enters: packets with the times of their arrivals. What leaves: for each channel its packets by these times;
//! those of the same time in the order in which they were sent.
//!
//! In a large network nothing of a channel is in the cache when a packet comes. So what each event looks at is small
//! (`Flight`), and a packet in flight takes one line of the cache: a place in a list that all channels share. The
//! places of a channel are linked; a place that becomes free is the next that is taken, and is in the cache then.

use crate::packet::Packet;
use crate::time::Time;

/// No place.
const NONE: u32 = u32::MAX;

/// The channels of a partition by the ports at which they end.
#[derive(Debug)]
pub struct Flights {
    flights: Vec<Flight>,
    places: Vec<Place>,
    /// The first free place.
    free: u32,
}

/// The packets of one channel.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// When the first and the last arrive, if there are any.
    first_time: Time,
    last_time: Time,
    first: u32,
    last: u32,
}

/// A packet in flight.
#[derive(Debug)]
#[repr(align(64))]
struct Place {
    packet: Option<Packet>,
    time: Time,
    /// When the next one arrives.
    next_time: Time,
    next: u32,
    /// The one before it; anything for the first one.
    previous: u32,
}

impl Default for Flights {
    fn default() -> Flights {
        Flights { flights: Vec::new(), places: Vec::new(), free: NONE }
    }
}

impl Flights {
    /// Adds a channel.
    pub fn add(&mut self) {
        self.flights.push(Flight { first_time: Time::MAX, last_time: Time::ZERO, first: NONE, last: NONE });
    }

    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.flights.len()
    }

    /// When the first packet of a channel arrives; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self, channel: usize) -> Time {
        self.flights[channel].first_time
    }

    /// Takes a packet in; returns whether it is the first of its channel to arrive.
    #[inline]
    pub fn push(&mut self, channel: usize, arrival: Time, packet: Packet) -> bool {
        let Flight { last_time, last, .. } = self.flights[channel];
        let before = if arrival >= last_time || last == NONE { last } else { self.last_until(channel, arrival) };
        self.insert(channel, before, arrival, packet);
        before == NONE
    }

    /// The first packet of a channel.
    #[inline]
    pub fn pop(&mut self, channel: usize) -> Option<Packet> {
        let flight = &mut self.flights[channel];
        let index = flight.first;
        let place = self.places.get_mut(index as usize)?;
        (flight.first, flight.first_time) = (place.next, place.next_time);
        if place.next == NONE {
            (flight.last, flight.last_time) = (NONE, Time::ZERO);
        }
        place.next = std::mem::replace(&mut self.free, index);
        place.packet.take()
    }

    /// Puts the packet back that was taken last.
    pub fn put_back(&mut self, channel: usize, arrival: Time, packet: Packet) {
        self.insert(channel, NONE, arrival, packet);
    }

    /// Has the processor fetch the place of the first packet of a channel.
    #[inline]
    pub fn fetch(&self, channel: usize) {
        self.fetch_place(self.flights[channel].first);
    }

    /// Has the processor fetch the place of the last packet of a channel, behind which another one will come.
    #[inline]
    pub fn fetch_last(&self, channel: usize) {
        self.fetch_place(self.flights[channel].last);
    }

    #[inline]
    fn fetch_place(&self, place: u32) {
        if let Some(place) = self.places.get(place as usize) {
            tables::prefetch(&raw const *place);
        }
    }

    /// The last packet of a channel that arrives no later than `arrival`; almost all do.
    #[cold]
    fn last_until(&self, channel: usize, arrival: Time) -> u32 {
        let Flight { first, mut last, .. } = self.flights[channel];
        while self.places[last as usize].time > arrival {
            if last == first {
                return NONE;
            }
            last = self.places[last as usize].previous;
        }
        last
    }

    /// Puts a packet behind another one of its channel, or before all.
    #[inline]
    fn insert(&mut self, channel: usize, before: u32, time: Time, packet: Packet) {
        let flight = &mut self.flights[channel];
        let (next, next_time) = match self.places.get(before as usize) {
            Some(before) => (before.next, before.next_time),
            None => (flight.first, flight.first_time),
        };
        let place = Place { packet: Some(packet), time, next_time, next, previous: before };
        let index = match self.places.get_mut(self.free as usize) {
            Some(free) => {
                let index = std::mem::replace(&mut self.free, free.next);
                *free = place;
                index
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        };
        match self.places.get_mut(before as usize) {
            Some(before) => (before.next, before.next_time) = (index, time),
            None => (flight.first, flight.first_time) = (index, time),
        }
        match self.places.get_mut(next as usize) {
            Some(next) => next.previous = index,
            None => (flight.last, flight.last_time) = (index, time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Pool;
    use base::Rng;

    #[test]
    fn packets_come_in_the_order_of_their_arrival() {
        let (mut flights, mut pool) = (Flights::default(), Pool::default());
        (0..2).for_each(|_| flights.add());
        let pushed = [(5, 0), (7, 1), (5, 2), (3, 3), (7, 4)].map(|(time, number)| {
            flights.push(0, Time::from_ps(time), pool.copy_of(&[number + 100]));
            flights.push(1, Time::from_ps(time), pool.copy_of(&[number]))
        });
        assert_eq!(pushed, [true, false, false, true, false]);
        let order: Vec<u8> = std::iter::from_fn(|| flights.pop(1)).map(|packet| packet.head()[0]).collect();
        assert_eq!(order, [3, 0, 2, 1, 4]);
        assert_eq!((flights.next(0), flights.next(1)), (Time::from_ps(3), Time::MAX));
    }

    /// Against lists that are sorted anew.
    #[test]
    fn channels_share_places_and_nothing_else() {
        let (mut flights, mut pool, mut rng) = (Flights::default(), Pool::default(), Rng::new(1));
        let mut lists: [Vec<(Time, u8)>; 3] = Default::default();
        lists.iter().for_each(|_| flights.add());
        for number in 0..5_000_u32 {
            let channel = rng.below(3) as usize;
            let list = &mut lists[channel];
            if rng.chance(1, 2) {
                let (time, number) = (Time::from_ps(rng.below(20) + u64::from(number / 4)), number as u8);
                let is_first = list.first().is_none_or(|(first, _)| time < *first);
                assert_eq!(flights.push(channel, time, pool.copy_of(&[number])), is_first);
                list.insert(list.partition_point(|(other, _)| *other <= time), (time, number));
            } else if let Some(packet) = flights.pop(channel) {
                let (time, number) = list.remove(0);
                assert_eq!(packet.head(), [number]);
                match rng.chance(1, 4) {
                    true => {
                        flights.put_back(channel, time, packet);
                        list.insert(0, (time, number));
                    }
                    false => pool.give(packet),
                }
            }
            assert_eq!(flights.next(channel), lists[channel].first().map_or(Time::MAX, |(time, _)| *time));
        }
    }
}
