//! Datagrams: generators, and sinks that check and measure them.
//!
//! A datagram's payload begins with its number and the time at which it was sent, 8 bytes each. The rest is zero.

use crate::arrivals::{self, Arrivals, Sizes};
use crate::host::stack::Stack;
use crate::node::Context;
use crate::packet::Content;
use crate::statistics::Delays;
use crate::time::Time;
use crate::wire::udp::{self, HEADER_BYTES, Ports};
use crate::wire::{array, ip};
use base::Rng;
use core::net::IpAddr;

/// Number and time.
pub const PAYLOAD_BYTES_MIN: usize = 16;

/// Datagrams before the latest one that are distinguished.
const WINDOW: u64 = 1024;

/// What a host sends.
#[derive(Clone, Debug)]
pub struct UdpFlow {
    /// To whom.
    pub to: IpAddr,
    /// From which port to which.
    pub ports: Ports,
    /// When.
    pub arrivals: Arrivals,
    /// Bytes of payload, at least [`PAYLOAD_BYTES_MIN`].
    pub sizes: Sizes,
    /// Differentiated services and ECN.
    pub traffic_class: u8,
    /// From when on.
    pub start: Time,
    /// Before when.
    pub end: Time,
    /// At most this many datagrams.
    pub count: u64,
}

/// Sends the datagrams of a flow.
pub struct UdpGenerator {
    flow: UdpFlow,
    rng: Rng,
    next: Time,
    number: u64,
    /// Datagrams sent in the measured window.
    pub sent: u64,
    /// Their payload.
    pub bytes: u64,
}

impl UdpGenerator {
    pub(super) fn new(mut flow: UdpFlow, host: &str, seed: u64) -> UdpGenerator {
        let mut rng = arrivals::stream(seed, &format!("{host}:{}>{}", flow.ports.source, flow.ports.destination));
        let next = flow.start + flow.arrivals.first(&mut rng);
        let mut generator = UdpGenerator { flow, rng, next, number: 0, sent: 0, bytes: 0 };
        generator.end_if_due();
        generator
    }

    /// What it sends.
    pub fn flow(&self) -> &UdpFlow {
        &self.flow
    }

    /// When the next is sent.
    pub fn next(&self) -> Time {
        self.next
    }

    pub(super) fn begin_window(&mut self) {
        (self.sent, self.bytes) = (0, 0);
    }

    pub(super) fn send(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        let payload =
            self.flow.sizes.next(self.number, &mut self.rng).clamp(PAYLOAD_BYTES_MIN, u16::MAX as usize - 100);
        if let Some(header) = stack.header_to(self.flow.to, ip::UDP) {
            let header = ip::Header { traffic_class: self.flow.traffic_class, ..header };
            let (number, now, ports) = (self.number, context.now(), self.flow.ports);
            let zeros = payload - PAYLOAD_BYTES_MIN;
            stack.send_with(context, &header, HEADER_BYTES + PAYLOAD_BYTES_MIN, (zeros, Content::Zeros), |datagram| {
                datagram[HEADER_BYTES..][..8].copy_from_slice(&number.to_be_bytes());
                datagram[HEADER_BYTES + 8..][..8].copy_from_slice(&now.ps().to_be_bytes());
                udp::emit_before(&header, ports, datagram, zeros);
            });
        }
        self.number += 1;
        self.sent += 1;
        self.bytes += payload as u64;
        self.next += self.flow.arrivals.next(&mut self.rng);
        self.end_if_due();
    }

    fn end_if_due(&mut self) {
        if self.number >= self.flow.count || self.next >= self.flow.end {
            self.next = Time::MAX;
        }
    }
}

/// Receives the datagrams of one flow.
#[derive(Clone, Debug)]
pub struct UdpSink {
    window_begins: Time,
    /// The number that follows the greatest one so far.
    expected: u64,
    /// Which of the last `WINDOW` numbers have come.
    seen: [u64; (WINDOW / 64) as usize],
    last_delay: Option<Time>,
    /// Datagrams that were sent in the measured window, without duplicates.
    pub received: u64,
    /// The payload of all that arrived in the measured window, also of those sent before it, without duplicates.
    pub bytes: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Datagrams that came after one with a greater number.
    pub late: u64,
    /// Datagrams without a number, or from the future: not from a generator.
    pub foreign: u64,
    /// Their latencies.
    pub delays: Delays,
    /// Smoothed difference of successive delays (RFC 3550, section 6.4.1).
    pub jitter: Time,
}

impl Default for UdpSink {
    fn default() -> UdpSink {
        UdpSink {
            window_begins: Time::ZERO,
            expected: 0,
            seen: [0; (WINDOW / 64) as usize],
            last_delay: None,
            received: 0,
            bytes: 0,
            duplicates: 0,
            late: 0,
            foreign: 0,
            delays: Delays::default(),
            jitter: Time::ZERO,
        }
    }
}

/// How a number relates to those before.
enum Arrival {
    InOrder,
    Late,
    Duplicate,
}

impl UdpSink {
    /// Forgets what was measured. Of datagrams that were sent before `now` only the bytes count.
    pub(super) fn begin_window(&mut self, now: Time) {
        let (expected, seen) = (self.expected, self.seen);
        *self = UdpSink { window_begins: now, expected, seen, ..UdpSink::default() };
    }

    /// A datagram has come: how its payload begins, and how many bytes it has.
    pub(super) fn receive(&mut self, now: Time, payload: &[u8], payload_bytes: usize) {
        let numbers = array(payload, 0).map(u64::from_be_bytes).zip(array(payload, 8).map(u64::from_be_bytes));
        let Some((number, sent)) = numbers.filter(|(number, sent)| *number < u64::MAX && *sent <= now.ps()) else {
            self.foreign += 1;
            return;
        };
        let sent = Time::from_ps(sent);
        let counts = sent >= self.window_begins;
        match self.place(number) {
            Arrival::Duplicate => {
                self.duplicates += u64::from(counts);
                return;
            }
            Arrival::Late => self.late += u64::from(counts),
            Arrival::InOrder => {}
        }
        self.bytes += payload_bytes as u64;
        if counts {
            self.received += 1;
            self.note_delay(now - sent);
        }
    }

    fn note_delay(&mut self, delay: Time) {
        self.delays.record(delay);
        if let Some(last) = self.last_delay.replace(delay) {
            let difference = delay.ps().abs_diff(last.ps());
            let jitter = self.jitter.ps();
            self.jitter = Time::from_ps(jitter - jitter / 16 + difference / 16);
        }
    }

    /// Notes a number. Those before the last `WINDOW` count as duplicates: they are that late.
    fn place(&mut self, number: u64) -> Arrival {
        if number >= self.expected {
            let passed_over = number - self.expected;
            // The bits of numbers that leave the window are reused for those that enter it.
            for entering in self.expected..=number.min(self.expected.saturating_add(WINDOW)) {
                self.set(entering, false);
            }
            if passed_over >= WINDOW {
                self.seen = [0; (WINDOW / 64) as usize];
            }
            self.expected = number + 1;
            self.set(number, true);
            return Arrival::InOrder;
        }
        if self.expected - number > WINDOW || self.has(number) {
            return Arrival::Duplicate;
        }
        self.set(number, true);
        Arrival::Late
    }

    fn set(&mut self, number: u64, is_seen: bool) {
        let (word, bit) = ((number % WINDOW / 64) as usize, number % 64);
        self.seen[word] = (self.seen[word] & !(1 << bit)) | u64::from(is_seen) << bit;
    }

    fn has(&self, number: u64) -> bool {
        self.seen[(number % WINDOW / 64) as usize] >> (number % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(numbers: &[u64]) -> UdpSink {
        let mut sink = UdpSink::default();
        for (index, number) in (0..).zip(numbers) {
            let mut payload = number.to_be_bytes().to_vec();
            payload.extend(u64::to_be_bytes(1_000 * index));
            sink.receive(Time::from_ps(1_000 * index + 500), &payload, payload.len());
        }
        sink
    }

    #[test]
    fn sinks_distinguish_late_and_repeated_datagrams() {
        let counts = |numbers: &[u64]| {
            let sink = sink(numbers);
            [sink.received, sink.late, sink.duplicates]
        };
        assert_eq!(counts(&[0, 1, 2, 3]), [4, 0, 0]);
        assert_eq!(counts(&[0, 3, 1, 3, 1]), [3, 1, 2]);
        assert_eq!(counts(&[0, 5_000, 4_999, 10, 4_999]), [3, 1, 2]);
        let in_a_row: Vec<u64> = (0..3_000).collect();
        assert_eq!(counts(&in_a_row), [3_000, 0, 0]);
    }

    #[test]
    fn foreign_datagrams_do_no_harm() {
        let mut sink = sink(&[0]);
        sink.receive(Time::ZERO, b"short", 5);
        sink.receive(Time::ZERO, &[0xff; 16], 16);
        let mut future = [0; 16];
        future[15] = 1;
        sink.receive(Time::ZERO, &future, 16);
        assert_eq!((sink.foreign, sink.received), (3, 1));
        let far = [&(u64::MAX - 1).to_be_bytes()[..], &[0; 8]].concat();
        sink.receive(Time::ZERO, &far, 16);
        sink.receive(Time::ZERO, &far, 16);
        assert_eq!((sink.received, sink.duplicates), (2, 1));
    }

    #[test]
    fn of_what_was_sent_before_the_window_only_the_bytes_count() {
        let mut sink = sink(&[0, 1]);
        sink.begin_window(Time::from_ps(10_000));
        let mut send = |number: u64, sent: u64| {
            let payload = [number.to_be_bytes(), sent.to_be_bytes()].concat();
            sink.receive(Time::from_ps(20_000), &payload, payload.len());
        };
        send(3, 9_999);
        send(4, 10_000);
        send(6, 10_001);
        assert_eq!((sink.received, sink.bytes, sink.delays.mean()), (2, 48, Some(Time::from_ps(9_999))));
    }
}
