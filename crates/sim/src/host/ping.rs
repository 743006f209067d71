//! Echo requests at regular intervals, and the times until their replies.

use crate::host::stack::Stack;
use crate::node::Context;
use crate::statistics::Delays;
use crate::time::Time;
use core::net::IpAddr;

/// Identifier, sequence, and the time of sending.
const ECHO_BYTES_MIN: usize = 12;

/// Pings of one host by another.
#[derive(Clone, Debug)]
pub struct Ping {
    to: IpAddr,
    identifier: u16,
    interval: Time,
    /// Requests that are still to be sent.
    left: u64,
    next: Time,
    echo_bytes: usize,
    sequence: u16,
    /// Requests that were sent.
    pub sent: u64,
    /// Replies that came.
    pub received: u64,
    /// The times until they came.
    pub delays: Delays,
}

impl Ping {
    /// Sends `count` requests with this many bytes of data (at least 8: the time of sending), from `start` on. The
    /// identifier distinguishes the pings of a host.
    pub fn new(to: IpAddr, identifier: u16, start: Time, interval: Time, count: u64, data_bytes: usize) -> Ping {
        let echo_bytes = (4 + data_bytes).max(ECHO_BYTES_MIN);
        let next = if count == 0 { Time::MAX } else { start };
        let delays = Delays::default();
        Ping { to, identifier, interval, left: count, next, echo_bytes, sequence: 0, sent: 0, received: 0, delays }
    }

    /// What distinguishes it from other pings of its host.
    pub fn identifier(&self) -> u16 {
        self.identifier
    }

    /// When the next request is sent.
    pub fn next(&self) -> Time {
        self.next
    }

    pub(super) fn begin_window(&mut self) {
        (self.sent, self.received, self.delays) = (0, 0, Delays::default());
    }

    pub(super) fn send(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        let mut echo = vec![0; self.echo_bytes];
        echo[..2].copy_from_slice(&self.identifier.to_be_bytes());
        echo[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        echo[4..12].copy_from_slice(&context.now().ps().to_be_bytes());
        stack.send_echo(context, self.to, true, &echo);
        self.sequence = self.sequence.wrapping_add(1);
        self.sent += 1;
        self.left -= 1;
        self.next = if self.left == 0 { Time::MAX } else { self.next + self.interval };
    }

    pub(super) fn note_reply(&mut self, now: Time, from: IpAddr, echo: &[u8]) {
        let (Some(identifier), Some(sent)) = (crate::wire::u16_at(echo, 0), crate::wire::array(echo, 4)) else {
            return;
        };
        if from == self.to && identifier == self.identifier {
            self.received += 1;
            self.delays.record(now - Time::from_ps(u64::from_be_bytes(sent)));
        }
    }
}
