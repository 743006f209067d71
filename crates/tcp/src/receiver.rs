//! The receiving half: reassembly, the announced window, and when to acknowledge.
//!
//! What enters: the range of each acceptable segment, what the application has read. What leaves: the next expected
//! position, SACK blocks (RFC 2018, RFC 2883), the window (RFC 9293, section 3.8.6) and when an acknowledgment is due
//! (RFC 5681, section 4.2). Only ranges are stored, never payload.

use crate::config::Config;
use crate::segment::SackBlocks;
use crate::sequence::{Numbering, Position, Range};
use base::Time;
use std::collections::VecDeque;

/// When an acknowledgment is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// None is.
    Nothing,
    /// With the next segment, or at this time at the latest.
    Until(Time),
    /// With the next segment, which is sent now.
    Now,
    /// Now, in a segment without payload, so that the peer can count it as a duplicate.
    Alone,
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) numbering: Numbering,
    /// The next expected position (RCV.NXT).
    next: Position,
    /// The end of the window that was announced.
    edge: Position,
    /// What was last acknowledged.
    acknowledged: Position,
    /// The shift of announced windows.
    scale: u8,
    buffer: u64,
    unread: u64,
    /// What arrived out of order: sorted, with gaps between.
    pieces: VecDeque<Range>,
    pieces_max: usize,
    /// A position in each of the pieces that changed last, the latest first.
    recent: [Position; 4],
    /// What arrived twice, to be reported once.
    duplicate: Option<Range>,
    /// Where the FIN is.
    fin: Option<Position>,
    /// The longest segment so far.
    longest: u64,
    due: Due,
    delay: Time,
    quick: u8,
    quick_max: u8,
}

/// A position that is never in a piece.
const NOWHERE: Position = Position::MIN;

impl Receiver {
    pub(crate) fn new(config: &Config) -> Receiver {
        Receiver {
            numbering: Numbering::default(),
            next: 0,
            edge: 0,
            acknowledged: 0,
            scale: 0,
            buffer: config.receive_buffer_bytes,
            unread: 0,
            pieces: VecDeque::new(),
            pieces_max: usize::from(config.ranges.max(1)),
            recent: [NOWHERE; 4],
            duplicate: None,
            fin: None,
            longest: 0,
            due: Due::Nothing,
            delay: config.delayed_ack,
            quick: config.quick_acks,
            quick_max: config.quick_acks,
        }
    }

    /// The peer's SYN arrived.
    pub(crate) fn start(&mut self, initial: u32) {
        self.numbering = Numbering { initial };
        self.next = 1;
        self.acknowledged = 1;
        // What the own SYN announced counts from the peer's.
        self.edge += 1;
    }

    /// Windows are scaled from now on.
    pub(crate) fn set_scale(&mut self, scale: u8) {
        self.scale = scale;
    }

    /// The next expected position.
    #[inline]
    pub(crate) fn next(&self) -> Position {
        self.next
    }

    /// What was last acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&self) -> Position {
        self.acknowledged
    }

    /// Bytes that the application can read.
    #[inline]
    pub(crate) fn unread(&self) -> u64 {
        self.unread
    }

    /// Bytes of payload that arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        let fin = self.fin.is_some_and(|fin| self.next > fin);
        (self.next - 1 - Position::from(fin)).max(0) as u64
    }

    /// Whether everything up to the FIN has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Bytes of memory beside the structure.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pieces.capacity() * size_of::<Range>()
    }

    /// Whether a segment may be processed (RFC 9293, section 3.10.7.4). A segment without length at the end of a full
    /// window is accepted as well, since its acknowledgment is valid.
    #[inline]
    pub(crate) fn is_acceptable(&self, range: Range) -> bool {
        if range.start == range.end {
            return self.next <= range.start && range.start <= self.edge;
        }
        range.start <= self.edge && range.end > self.next
    }

    /// Whether a position lies in the window.
    pub(crate) fn is_in_window(&self, position: Position) -> bool {
        self.next <= position && position < self.edge.max(self.next + 1)
    }

    /// Notes that an unacceptable segment repeated what had arrived.
    pub(crate) fn note_duplicate(&mut self, range: Range) {
        if 0 < range.start && range.start < range.end && range.end <= self.next {
            self.duplicate = Some(range);
        }
    }

    /// Takes the range of an acceptable segment, with `fin` if its last position is a FIN.
    pub(crate) fn receive(&mut self, range: Range, fin: bool, now: Time) {
        let length = (range.end - range.start - Position::from(fin)) as u64;
        self.longest = self.longest.max(length);
        let range = self.trimmed(range, fin);
        if range.start >= range.end {
            self.acknowledge_now(true);
            return;
        }
        if range.start > self.next {
            self.buffer_out_of_order(range);
            self.quick = self.quick_max;
            self.acknowledge_now(true);
            return;
        }
        let fills = !self.pieces.is_empty();
        let before = self.delivered();
        self.advance(range.end);
        self.unread += self.delivered() - before;
        self.schedule(fills || fin, now);
    }

    /// What of a segment is new and within the window. Repeated bytes are noted, a FIN within the window is remembered.
    fn trimmed(&mut self, range: Range, fin: bool) -> Range {
        if range.start < self.next {
            self.note_duplicate(Range { start: range.start, end: range.end.min(self.next) });
        }
        // A FIN takes no space in the buffer.
        let payload_end = range.end - Position::from(fin);
        let is_whole = payload_end <= self.edge;
        if fin && is_whole && self.fin.is_none() {
            self.fin = Some(payload_end);
        }
        let mut end = if is_whole { range.end } else { self.edge };
        if let Some(fin) = self.fin {
            // Nothing follows a FIN.
            end = end.min(fin + 1);
        }
        Range { start: range.start.max(self.next), end }
    }

    /// Everything up to `end` is there, and what follows it without a gap.
    fn advance(&mut self, end: Position) {
        self.next = end;
        while let Some(piece) = self.pieces.front()
            && piece.start <= self.next
        {
            self.next = self.next.max(piece.end);
            self.pieces.pop_front();
        }
        if let Some(fin) = self.fin
            && self.next > fin
        {
            self.next = fin + 1;
            self.pieces.clear();
        }
    }

    /// Stores a range that arrived out of order; if there are too many, it is as if it had not arrived.
    fn buffer_out_of_order(&mut self, mut range: Range) {
        let first = self.pieces.partition_point(|piece| piece.end < range.start);
        if self.pieces.get(first).is_some_and(|piece| piece.contains(range)) {
            self.duplicate = Some(range);
        }
        let mut last = first;
        while let Some(piece) = self.pieces.get(last)
            && piece.start <= range.end
        {
            range = Range { start: range.start.min(piece.start), end: range.end.max(piece.end) };
            last += 1;
        }
        if first == last {
            if self.pieces.len() >= self.pieces_max {
                return;
            }
            self.pieces.insert(first, range);
        } else {
            self.pieces[first] = range;
            self.pieces.drain(first + 1..last);
        }
        self.remember(range);
    }

    /// Puts a piece in front of those that changed before it.
    fn remember(&mut self, range: Range) {
        let is_other = |position: &Position| !(range.start <= *position && *position < range.end);
        let others = self.recent.into_iter().filter(is_other);
        let mut recent = [NOWHERE; 4];
        for (slot, position) in recent.iter_mut().zip(std::iter::once(range.start).chain(others)) {
            *slot = position;
        }
        self.recent = recent;
    }

    /// Decides when to acknowledge new data.
    fn schedule(&mut self, at_once: bool, now: Time) {
        let pending = (self.next - self.acknowledged) as u64;
        if at_once || pending > self.longest || self.quick > 0 || self.delay == Time::ZERO {
            self.quick = self.quick.saturating_sub(1);
            self.acknowledge_now(false);
        } else if self.due == Due::Nothing {
            self.due = Due::Until(now + self.delay);
        }
    }

    /// Demands an acknowledgment, `alone` if it may not travel with payload.
    pub(crate) fn acknowledge_now(&mut self, alone: bool) {
        if self.due != Due::Alone {
            self.due = if alone { Due::Alone } else { Due::Now };
        }
    }

    /// When an acknowledgment is due.
    #[inline]
    pub(crate) fn due(&self) -> Due {
        self.due
    }

    /// The application read bytes. If the window was small and can be at least doubled, a window update is sent (RFC
    /// 9293, section 3.8.6.2.2, with Linux's threshold: an update for each segment would double the number of
    /// acknowledgments).
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.min(self.unread);
        self.unread -= bytes;
        let open = (self.edge - self.next).max(0) as u64;
        let free = self.buffer.saturating_sub(self.unread);
        if bytes > 0 && 2 * open <= self.buffer && free >= 2 * open && self.is_significant(free - open) {
            self.acknowledge_now(false);
        }
        bytes
    }

    /// Whether the window may grow by this much: small steps would lead to small segments.
    fn is_significant(&self, growth: u64) -> bool {
        growth >= self.longest.max(1).min(self.buffer / 2)
    }

    /// The window field of a segment that acknowledges everything now. The end of the window never moves back.
    pub(crate) fn announce(&mut self, is_syn: bool) -> u16 {
        let scale = if is_syn { 0 } else { self.scale };
        let free = (self.buffer.saturating_sub(self.unread) >> scale) << scale;
        let open = (self.edge - self.next).max(0) as u64;
        if free > open && self.is_significant(free - open) {
            self.edge = self.next + free.min(0xffff_u64 << scale) as Position;
        }
        let open = (self.edge - self.next).max(0) as u64;
        // Rounded up: less would move the end back.
        let field = open.div_ceil(1 << scale).min(0xffff);
        self.edge = self.edge.max(self.next + (field << scale) as Position);
        field as u16
    }

    /// The window field of a segment that acknowledges everything before `position` only.
    pub(crate) fn announce_from(&self, position: Position) -> u16 {
        let open = (self.edge - position).max(0) as u64;
        (open >> self.scale).min(0xffff) as u16
    }

    /// An acknowledgment of everything was sent.
    #[inline]
    pub(crate) fn on_acknowledged(&mut self) {
        self.acknowledged = self.next;
        self.due = Due::Nothing;
    }

    /// The SACK blocks of the next segment, at most `count`: first what arrived twice, then the pieces that changed
    /// last. If they are `final`, the duplicate is not reported again.
    pub(crate) fn sack_blocks(&mut self, count: usize, is_final: bool) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let duplicate = self.duplicate;
        if is_final {
            self.duplicate = None;
        }
        let recent = self.recent.iter().filter_map(|position| self.piece_at(*position));
        for range in duplicate.into_iter().chain(recent).take(count) {
            blocks.push(self.numbering.number(range.start), self.numbering.number(range.end));
        }
        blocks
    }

    /// Whether there is something to report in SACK blocks.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.pieces.is_empty()
    }

    fn piece_at(&self, position: Position) -> Option<Range> {
        let index = self.pieces.partition_point(|piece| piece.end <= position);
        self.pieces.get(index).copied().filter(|piece| piece.start <= position)
    }
}
