//! Arriving segments (RFC 9293, section 3.10.7, with RFC 5961's answers to blind attacks and RFC 7323's protection
//! against old segments).

use super::{CHALLENGE_INTERVAL, CHALLENGES_MAX, Connection, State};
use crate::events::Event;
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::Context;
use crate::sequence::{Position, Range};
use base::Time;

impl Connection {
    /// Takes a segment for this connection. Call [`Connection::poll_transmit`] before the next one: each segment that
    /// is out of order must be answered by an acknowledgment of its own.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.sender.counters.segments_received += 1;
        self.sender.counters.ce_received += u64::from(segment.ecn == Ecn::Ce);
        match self.state {
            State::Closed => self.reset = segment.reset_in_answer(),
            State::Listen => self.on_segment_in_listen(now, segment),
            State::SynSent => self.on_segment_in_syn_sent(now, segment),
            _ => self.on_synchronized(now, segment),
        }
    }

    /// Where a segment lies in the peer's stream.
    fn range(&self, segment: &Segment) -> Range {
        let start = self.receiver.numbering.position(segment.sequence, self.receiver.next());
        Range { start, end: start + Position::from(segment.length()) }
    }

    fn on_synchronized(&mut self, now: Time, segment: &Segment) {
        let mut range = self.range(segment);
        let mut is_syn = segment.flags.has(Flags::SYN);
        if self.state == State::SynReceived && is_syn && range.start == 0 {
            if !segment.flags.has(Flags::ACK) {
                // The peer has not seen our answer.
                self.handshake.is_due = true;
                return;
            }
            // The answer of a peer that opened at the same time: its SYN is known.
            range.start = 1;
            is_syn = false;
        }
        if !self.is_current(now, segment, range) {
            return;
        }
        if segment.flags.has(Flags::RST) {
            return self.on_reset(now, range.start);
        }
        if is_syn {
            return self.challenge(now);
        }
        if !segment.flags.has(Flags::ACK) || !self.on_ack(now, segment, range) {
            return;
        }
        if range.start < range.end {
            self.on_data(now, segment, range);
        }
    }

    /// The checks of time stamp and sequence number. What fails them is answered and dropped.
    fn is_current(&mut self, now: Time, segment: &Segment, range: Range) -> bool {
        let is_reset = segment.flags.has(Flags::RST);
        if let (Some(state), Some(option)) = (&mut self.timestamps, segment.options.timestamps)
            && !is_reset
        {
            if state.is_old(now, option.value) {
                self.sender.counters.paws_dropped += 1;
                self.answer_unacceptable(now, segment, range);
                return false;
            }
            // RFC 7323, section 4.3: the value that is echoed does not change while something is missing. As in Linux,
            // a repetition of the last segment changes it, so that a lost acknowledgment does not look like a long
            // round trip.
            if (range.start..=range.end).contains(&self.receiver.acknowledged()) {
                state.update(now, option.value);
            }
        }
        if is_reset {
            return self.receiver.is_in_window(range.start);
        }
        if !self.receiver.is_acceptable(range) {
            self.restart_time_wait(now, segment);
            self.answer_unacceptable(now, segment, range);
            return false;
        }
        true
    }

    /// Answers a segment that is not acceptable with an acknowledgment.
    fn answer_unacceptable(&mut self, now: Time, segment: &Segment, range: Range) {
        if segment.payload_bytes > 0 || segment.flags.has(Flags::FIN) {
            self.receiver.note_duplicate(range);
            self.receiver.acknowledge_now(true);
        } else {
            self.challenge(now);
        }
    }

    /// A challenge acknowledgment; their number is limited (RFC 5961, section 7).
    fn challenge(&mut self, now: Time) {
        if now.since(self.challenges_since) >= CHALLENGE_INTERVAL {
            self.challenges_since = now;
            self.challenges = 0;
        }
        if self.challenges < CHALLENGES_MAX {
            self.challenges += 1;
            self.sender.counters.challenges += 1;
            self.receiver.acknowledge_now(true);
        }
    }

    /// A reset in the window (RFC 5961, section 3.2): only the exact next number is believed.
    fn on_reset(&mut self, now: Time, position: Position) {
        if position == self.receiver.next() {
            self.end(if self.state == State::TimeWait { Event::Closed } else { Event::Reset });
        } else {
            self.challenge(now);
        }
    }

    /// The acknowledgment of a segment. False if the segment must be dropped.
    fn on_ack(&mut self, now: Time, segment: &Segment, range: Range) -> bool {
        let una = self.sender.board.start();
        let to = self.sender.numbering.position(segment.acknowledgment, una);
        if self.state == State::SynReceived {
            if to != 1 {
                self.reset = segment.reset_in_answer();
                return false;
            }
            self.establish(now, segment);
            self.sender.update_window(segment.window, segment.flags.has(Flags::SYN), range.start, to);
            return true;
        }
        let oldest = una - self.sender.window_max() as Position;
        if to > self.sender.board.end() || to < oldest {
            // RFC 5961, section 5.2.
            self.challenge(now);
            return false;
        }
        if to < una {
            return true;
        }
        let has_ece = self.ecn.is_on() && segment.flags.has(Flags::ECE);
        self.sender.counters.ece_received += u64::from(has_ece);
        let window_changed = self.sender.update_window(segment.window, false, range.start, to);
        let context = Context { now, config: &self.config, timestamps: self.timestamps.as_ref() };
        self.sender.on_ack(&context, segment, to, window_changed, has_ece);
        if self.is_writer_blocked && to > una {
            self.is_writer_blocked = false;
            self.events.add(Event::Writable);
        }
        if self.sender.is_finished() {
            self.on_finished(now);
        }
        true
    }

    /// Our FIN was acknowledged.
    fn on_finished(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.end(Event::Closed),
            _ => {}
        }
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.time_wait_until = now + self.config.time_wait;
    }

    /// A FIN that is repeated shows that the peer has not seen its acknowledgment.
    fn restart_time_wait(&mut self, now: Time, segment: &Segment) {
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.enter_time_wait(now);
        }
    }

    fn on_data(&mut self, now: Time, segment: &Segment, range: Range) {
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            // The peer has finished. What it repeats is acknowledged again.
            if self.state != State::Closed {
                self.answer_unacceptable(now, segment, range);
            }
            return;
        }
        let next = self.receiver.next();
        let was_echoing = self.ecn.echoes();
        if self.ecn.receive(segment) {
            if self.receiver.acknowledged() < next {
                self.earlier_ack = Some((next, was_echoing));
            }
            self.receiver.acknowledge_now(false);
        }
        let unread = self.receiver.unread();
        self.receiver.receive(range, segment.flags.has(Flags::FIN), now);
        if self.receiver.unread() > unread {
            self.events.add(Event::Readable);
        }
        if self.receiver.is_finished() {
            self.on_peer_finished(now);
        }
    }

    /// The peer's FIN has arrived, and everything before it.
    fn on_peer_finished(&mut self, now: Time) {
        self.events.add(Event::PeerFinished);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }
}
