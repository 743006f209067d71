//! The handshake: SYNs and what they negotiate.

use super::{Connection, State};
use crate::config::{MSS_DEFAULT, WINDOW_SCALE_MAX};
use crate::events::Event;
use crate::segment::{Flags, Options, Segment};
use crate::timestamps::TimestampState;
use base::Time;

impl Connection {
    /// A segment in LISTEN (RFC 9293, section 3.10.7.2).
    pub(super) fn on_segment_in_listen(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.reset = segment.reset_in_answer();
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.take_syn(now, segment);
            self.state = State::SynReceived;
            self.handshake.is_due = true;
        }
    }

    /// A segment in SYN-SENT (section 3.10.7.3).
    pub(super) fn on_segment_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let has_ack = segment.flags.has(Flags::ACK);
        if has_ack && segment.acknowledgment != self.sender.numbering.number(1) {
            self.reset = segment.reset_in_answer();
            return;
        }
        if segment.flags.has(Flags::RST) {
            if has_ack {
                self.end(Event::Reset);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        if has_ack {
            // RFC 3168, section 6.1.1: ECE without CWR is consent.
            let consents = segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR);
            if self.handshake.requests_ecn && consents {
                self.ecn.enable(self.config.congestion);
            }
            self.establish(now, segment);
            self.receiver.acknowledge_now(false);
        } else {
            // Both sides opened at the same time.
            self.state = State::SynReceived;
            self.handshake.is_due = true;
        }
    }

    /// Adopts the options of the peer's SYN.
    fn take_syn(&mut self, now: Time, segment: &Segment) {
        let options = &segment.options;
        self.receiver.start(segment.sequence);
        self.handshake.sack &= options.sack_permitted;
        self.handshake.window_scale &= options.window_scale.is_some();
        let requests = segment.flags.has(Flags::ECE | Flags::CWR) && !segment.flags.has(Flags::ACK);
        self.handshake.peer_requests_ecn = requests && self.config.negotiates_ecn();
        self.timestamps = self.timestamps.take().zip(options.timestamps).map(|(mut state, option)| {
            state.start(now, option.value);
            state
        });
        let scale = if self.handshake.window_scale { options.window_scale.unwrap_or(0) } else { 0 };
        let mss = options.mss.unwrap_or(MSS_DEFAULT);
        let has_timestamps = self.timestamps.is_some();
        self.sender.negotiate(&self.config, mss, scale.min(WINDOW_SCALE_MAX), self.handshake.sack, has_timestamps);
        if self.handshake.window_scale {
            self.receiver.set_scale(self.config.window_scale());
        }
        // Positions: the peer's SYN is at 0, ours too.
        self.sender.update_window(segment.window, true, 0, 0);
    }

    /// Our SYN was acknowledged by a segment.
    pub(super) fn establish(&mut self, now: Time, segment: &Segment) {
        self.handshake.is_due = false;
        self.sender.start();
        self.measure_handshake(now, segment);
        if self.handshake.timeouts > 1 {
            self.sender.windows.congestion = self.sender.windows.mss;
        }
        if self.state == State::SynReceived && self.handshake.peer_requests_ecn {
            self.ecn.enable(self.config.congestion);
        }
        self.state = if self.sender.is_finishing() { State::FinWait1 } else { State::Established };
        self.events.add(Event::Established);
    }

    /// How long the answer to our SYN took (RFC 6298, section 3). After a timeout only time stamps show which SYN it
    /// answers.
    fn measure_handshake(&mut self, now: Time, segment: &Segment) {
        let rtt = &mut self.sender.rtt;
        if self.handshake.timeouts == 0 {
            let took = now.since(self.handshake.sent_at);
            return rtt.measure(now, took, took, &self.config);
        }
        let stamps = self.timestamps.as_ref().zip(segment.options.timestamps);
        match stamps.and_then(|(clock, option)| clock.elapsed(now, option.echo)) {
            Some(took) => rtt.measure_coarsely(took, &self.config),
            None => rtt.restart(self.config.initial_rto.max(AFTER_SYN_TIMEOUT)),
        }
    }

    /// The SYN was not answered.
    pub(super) fn on_syn_timeout(&mut self, now: Time) {
        if self.handshake.timeouts >= self.config.syn_retries {
            return self.end(Event::TimedOut);
        }
        self.handshake.timeouts += 1;
        // Something on the path may drop SYNs that request ECN (RFC 3168, section 6.1.1.1).
        self.handshake.requests_ecn = false;
        self.handshake.is_due = true;
        self.sender.rtt.back_off(self.config.max_rto);
        self.sender.timers.retransmit = now + self.sender.rtt.timeout();
    }

    /// The SYN, or the SYN with an acknowledgment.
    pub(super) fn syn_segment(&mut self, now: Time) -> Segment {
        self.handshake.is_due = false;
        self.handshake.sent_at = now;
        if self.sender.timers.retransmit == Time::MAX {
            self.sender.timers.retransmit = now + self.sender.rtt.timeout();
        }
        let has_ack = self.state == State::SynReceived;
        let flags = if has_ack {
            (Flags::SYN | Flags::ACK).with(Flags::ECE, self.handshake.peer_requests_ecn)
        } else {
            Flags::SYN.with(Flags::ECE | Flags::CWR, self.handshake.requests_ecn)
        };
        let options = Options {
            mss: Some(self.config.mss),
            window_scale: self.handshake.window_scale.then(|| self.config.window_scale()),
            sack_permitted: self.handshake.sack,
            timestamps: self.timestamps.as_ref().map(|state: &TimestampState| state.option(now)),
            ..Options::default()
        };
        let acknowledgment = if has_ack { self.receiver.numbering.number(self.receiver.next()) } else { 0 };
        let window = self.receiver.announce(true);
        if has_ack {
            self.receiver.on_acknowledged();
        }
        let sequence = self.sender.numbering.number(0);
        Segment { sequence, acknowledgment, flags, window, options, ..Segment::default() }
    }
}

/// The retransmission timeout for data if a SYN timed out (RFC 6298, (5.7)) and no time stamp measured a round trip.
/// That exception is Linux's.
const AFTER_SYN_TIMEOUT: Time = Time::from_s(3);
