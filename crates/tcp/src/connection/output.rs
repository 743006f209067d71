//! Departing segments.

use super::{Connection, State};
use crate::receiver::Due;
use crate::segment::{Flags, Options, SACK_BLOCKS_MAX, Segment};
use crate::sender::{Context, Outgoing, Reason};
use crate::sequence::Position;
use crate::wire;
use base::Time;

impl Connection {
    /// The next segment to send. Call it until there is none, after each segment, timer and call of the application.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let segment = self.next_segment(now);
        self.sender.counters.segments_sent += u64::from(segment.is_some());
        segment
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(reset);
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => {
                return if self.handshake.is_due { Some(self.syn_segment(now)) } else { self.due_ack(now) };
            }
            _ => {}
        }
        if let Some((position, echoes)) = self.earlier_ack.take() {
            return Some(self.earlier_ack_segment(now, position, echoes));
        }
        if self.receiver.due() == Due::Alone {
            return self.due_ack(now);
        }
        let options = self.options(now, false);
        let context = Context { now, config: &self.config, timestamps: self.timestamps.as_ref() };
        match self.sender.next_segment(&context, wire::options_length(&options) as u32) {
            Some(outgoing) => Some(self.data_segment(now, outgoing)),
            None => self.due_ack(now),
        }
    }

    /// A segment that only acknowledges, if one is due now.
    fn due_ack(&mut self, now: Time) -> Option<Segment> {
        if !matches!(self.receiver.due(), Due::Now | Due::Alone) || self.state == State::SynSent {
            return None;
        }
        let sequence = self.sender.numbering.number(self.sender.board.end().max(1));
        let ecn = self.ecn.codepoint(false);
        Some(Segment { ecn, ..self.acknowledging(now, sequence, Flags::ACK) })
    }

    /// A segment that acknowledges everything.
    fn acknowledging(&mut self, now: Time, sequence: u32, flags: Flags) -> Segment {
        let options = self.options(now, true);
        let window = self.receiver.announce(false);
        let acknowledgment = self.receiver.numbering.number(self.receiver.next());
        self.receiver.on_acknowledged();
        let flags = flags.with(Flags::ECE, self.ecn.echoes());
        Segment { sequence, acknowledgment, flags, window, options, ..Segment::default() }
    }

    /// The options of a segment; if it is `final`, duplicates are reported in it and not again.
    fn options(&mut self, now: Time, is_final: bool) -> Options {
        let mut options =
            Options { timestamps: self.timestamps.as_ref().map(|state| state.option(now)), ..Options::default() };
        if self.handshake.sack && self.receiver.has_blocks() {
            let count = SACK_BLOCKS_MAX - usize::from(options.timestamps.is_some());
            options.sack = self.receiver.sack_blocks(count, is_final);
        }
        options
    }

    /// The acknowledgment of what arrived before the CE mark changed (RFC 8257, section 3.2).
    fn earlier_ack_segment(&mut self, now: Time, position: Position, echoes: bool) -> Segment {
        let sequence = self.sender.numbering.number(self.sender.board.end());
        let acknowledgment = self.receiver.numbering.number(position);
        let options =
            Options { timestamps: self.timestamps.as_ref().map(|state| state.option(now)), ..Options::default() };
        let flags = Flags::ACK.with(Flags::ECE, echoes);
        // The window counts from what is acknowledged.
        let window = self.receiver.announce_from(position);
        Segment {
            sequence,
            acknowledgment,
            flags,
            window,
            options,
            ecn: self.ecn.codepoint(false),
            ..Segment::default()
        }
    }

    fn data_segment(&mut self, now: Time, outgoing: Outgoing) -> Segment {
        let is_new = outgoing.reason == Reason::New;
        let payload_bytes = outgoing.payload();
        let is_new_data = is_new && payload_bytes > 0;
        let reduced = is_new_data && std::mem::take(&mut self.sender.cwr_due) && self.ecn.is_on();
        let flags =
            Flags::ACK.with(Flags::FIN, outgoing.fin).with(Flags::PSH, outgoing.is_last).with(Flags::CWR, reduced);
        let sequence = self.sender.numbering.number(outgoing.range.start);
        Segment {
            payload_bytes,
            stream_position: (outgoing.range.start - 1).max(0) as u64,
            ecn: self.ecn.codepoint(is_new_data),
            ..self.acknowledging(now, sequence, flags)
        }
    }

    /// A reset of this connection.
    pub(super) fn reset_segment(&mut self) -> Segment {
        let sequence = self.sender.numbering.number(self.sender.board.end().max(1));
        let acknowledgment = self.receiver.numbering.number(self.receiver.next());
        Segment { sequence, acknowledgment, flags: Flags::RST | Flags::ACK, ..Segment::default() }
    }
}
