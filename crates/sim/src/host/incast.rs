//! Incasts: a host sends a request to many others at the same time, waits for all answers, pauses, and begins
//! again. The answers meet in the queue of the host's link.
//!
//! The connections are endpoints of their own ([`crate::host::tcp`]) and stay open from round to round; here is which
//! round it is, and how long each took.

use crate::host::tcp::Exchange;
use crate::statistics::Delays;
use crate::time::Time;
use crate::wire::udp::Ports;
use core::net::IpAddr;
use std::sync::Arc;
use tcp::Config;

/// The requests of a host to others.
#[derive(Clone, Debug)]
pub struct IncastFlow {
    /// The receivers of requests, each with the ports of the connection.
    pub to: Vec<(IpAddr, Ports)>,
    /// Requests and answers.
    pub exchange: Exchange,
    /// How often.
    pub rounds: u64,
    /// From the last answer of a round to the next round.
    pub pause: Time,
    /// When the first round begins.
    pub start: Time,
    /// The settings of the connections.
    pub config: Config,
}

/// An incast that runs.
#[derive(Clone, Debug)]
pub struct Incast {
    /// The tasks of the host that are its connections.
    connections: Arc<[usize]>,
    pause: Time,
    /// Rounds that have not begun.
    left: u64,
    /// Answers that are missing in this round.
    missing: usize,
    round_start: Time,
    next: Time,
    window_begins: Time,
    /// Rounds that began in the measured window.
    pub begun: u64,
    /// From the requests of each of these rounds to its last answer.
    pub times: Delays,
}

impl Incast {
    pub(super) fn new(flow: &IncastFlow, connections: Arc<[usize]>) -> Incast {
        Incast {
            connections,
            pause: flow.pause,
            left: flow.rounds,
            missing: 0,
            round_start: Time::ZERO,
            next: if flow.rounds == 0 { Time::MAX } else { flow.start },
            window_begins: Time::ZERO,
            begun: 0,
            times: Delays::default(),
        }
    }

    /// When the next round begins, if that is known.
    pub fn next(&self) -> Time {
        self.next
    }

    pub(super) fn begin_window(&mut self, now: Time) {
        (self.window_begins, self.begun, self.times) = (now, 0, Delays::default());
    }

    /// Begins a round: returns the connections that are to send a request.
    pub(super) fn begin_round(&mut self, now: Time) -> Arc<[usize]> {
        self.left -= 1;
        self.missing = self.connections.len();
        self.begun += u64::from(now >= self.window_begins);
        (self.round_start, self.next) = (now, Time::MAX);
        Arc::clone(&self.connections)
    }

    /// An answer is complete.
    pub(super) fn note_answer(&mut self, now: Time) {
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        if self.round_start >= self.window_begins {
            self.times.record(now.since(self.round_start));
        }
        self.next = if self.left == 0 { Time::MAX } else { now + self.pause };
    }
}
