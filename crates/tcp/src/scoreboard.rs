//! The scoreboard: what has been sent and is not acknowledged yet.
//!
//! What enters: transmissions, acknowledgments, SACK blocks, decisions about loss. What leaves: the bytes in flight,
//! and what to retransmit.
//!
//! The scoreboard stores **runs**: neighbouring bytes that share their fate. Bytes that were sent at the same time are
//! one run, so that a window that leaves in bursts needs few. When there are more than [`EXACT_RUNS`], new bytes join
//! the last run if it is not older than a given span (a small part of the round-trip time), and the times of bytes
//! within a run are interpolated. So the times that RACK compares are exact for short windows and right to a few
//! percent of a round trip for long ones, and memory does not depend on the window.
//!
//! A SACK block that would need more runs than the limit is ignored: its bytes are retransmitted although the receiver
//! has them.

use crate::sequence::{Position, Range};
use base::Time;
use std::collections::VecDeque;

/// Runs up to this number are distinguished by their exact times of transmission.
const EXACT_RUNS: usize = 24;

/// What the sender knows about bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// They are in flight.
    InFlight,
    /// The receiver has them out of order.
    Sacked,
    /// They are lost and not retransmitted yet.
    Lost,
}

/// Neighbouring bytes of the same fate. A run begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Run {
    end: Position,
    /// When its first and its last byte were last sent.
    first_sent: Time,
    last_sent: Time,
    segments: u32,
    fate: Fate,
    /// Whether they were sent more than once.
    retransmitted: bool,
}

/// What acknowledgments delivered: the input of RTT measurement, rate reduction and RACK.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    /// Bytes that were not known to have arrived before.
    pub(crate) bytes: u64,
    /// Bytes that were acknowledged cumulatively.
    pub(crate) acknowledged: u64,
    /// Whether any of them had been retransmitted.
    pub(crate) retransmitted: bool,
    /// The times at which the first and the last delivered bytes were sent, of those that were sent once.
    pub(crate) sent_once: Option<(Time, Time)>,
    /// The bytes of all that were sent last: when, and where they end.
    pub(crate) newest: Option<(Time, Position)>,
    /// Whether bytes that were sent once arrived after later ones.
    pub(crate) reordered: bool,
    /// A delivered retransmission that was sent after this time cannot have been the cause of the acknowledgment.
    pub(crate) plausible_until: Time,
}

impl Delivered {
    pub(crate) fn new(plausible_until: Time) -> Delivered {
        Delivered {
            bytes: 0,
            acknowledged: 0,
            retransmitted: false,
            sent_once: None,
            newest: None,
            reordered: false,
            plausible_until,
        }
    }

    fn add(&mut self, run: &Run, bytes: u64) {
        self.bytes += bytes;
        if run.retransmitted {
            self.retransmitted = true;
            if run.last_sent > self.plausible_until {
                return;
            }
        } else {
            let (first, last) = self.sent_once.unwrap_or((run.first_sent, run.last_sent));
            self.sent_once = Some((first.min(run.first_sent), last.max(run.last_sent)));
        }
        if self.newest.is_none_or(|newest| newest < (run.last_sent, run.end)) {
            self.newest = Some((run.last_sent, run.end));
        }
    }
}

/// The scoreboard of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    runs: VecDeque<Run>,
    start: Position,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
    /// The end of the highest bytes that were delivered.
    highest_delivered: Position,
    /// The end of the highest bytes that were retransmitted.
    highest_retransmitted: Position,
    runs_max: usize,
}

impl Scoreboard {
    /// An empty one.
    pub(crate) fn new(runs_max: u16) -> Scoreboard {
        Scoreboard {
            runs: VecDeque::new(),
            start: 0,
            sacked: 0,
            sacked_segments: 0,
            lost: 0,
            highest_delivered: 0,
            highest_retransmitted: 0,
            // Fewer would not even hold a hole and its neighbours.
            runs_max: usize::from(runs_max.max(8)),
        }
    }

    /// Begins at a position with nothing sent.
    pub(crate) fn start_at(&mut self, position: Position) {
        debug_assert!(self.runs.is_empty(), "nothing has been sent");
        self.start = position;
        self.highest_delivered = position;
        self.highest_retransmitted = position;
    }

    /// The first position that is not acknowledged.
    #[inline]
    pub(crate) fn start(&self) -> Position {
        self.start
    }

    /// The position behind all that was sent.
    #[inline]
    pub(crate) fn end(&self) -> Position {
        self.runs.back().map_or(self.start, |run| run.end)
    }

    /// Bytes that are believed to be in the network (RFC 6675's *pipe*).
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.outstanding() - self.sacked - self.lost
    }

    /// Bytes that were sent and not acknowledged cumulatively (RFC 5681's *FlightSize*).
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        (self.end() - self.start) as u64
    }

    /// Bytes that the receiver has out of order.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments that the receiver has out of order.
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Lost bytes that are not retransmitted yet.
    #[inline]
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether all that is outstanding is a single segment.
    pub(crate) fn is_one_segment(&self) -> bool {
        self.runs.len() == 1 && self.runs[0].segments == 1
    }

    /// Whether something that is not acknowledged was sent more than once.
    #[inline]
    pub(crate) fn has_retransmitted(&self) -> bool {
        self.highest_retransmitted > self.start
    }

    /// Whether the first byte is marked as received although it was not acknowledged: the receiver dropped what it had
    /// reported.
    pub(crate) fn is_reneged(&self) -> bool {
        self.runs.front().is_some_and(|run| run.fate == Fate::Sacked)
    }

    /// Bytes of memory beside the structure.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
    }

    /// A new segment was sent; it ends at `end`. Bytes may share a run if it began no longer than `span` ago.
    pub(crate) fn push(&mut self, end: Position, now: Time, span: Time) {
        let crowded = self.runs.len() >= EXACT_RUNS;
        let full = self.runs.len() >= self.runs_max;
        if let Some(last) = self.runs.back_mut()
            && last.fate == Fate::InFlight
            && !last.retransmitted
            && (last.last_sent == now || full || crowded && now.since(last.first_sent) <= span)
        {
            last.end = end;
            last.last_sent = now;
            last.segments += 1;
            return;
        }
        let run = Run { end, first_sent: now, last_sent: now, segments: 1, fate: Fate::InFlight, retransmitted: false };
        self.runs.push_back(run);
    }

    /// Everything before `to` is acknowledged.
    pub(crate) fn acknowledge(&mut self, to: Position, delivered: &mut Delivered) {
        let to = to.min(self.end());
        if to <= self.start {
            return;
        }
        delivered.acknowledged += (to - self.start) as u64;
        while let Some(first) = self.runs.front()
            && self.start < to
        {
            if first.end > to {
                self.split(0, self.start, to);
            }
            let Some(run) = self.runs.pop_front() else { break };
            let bytes = (run.end - self.start) as u64;
            self.start = run.end;
            match run.fate {
                Fate::InFlight => self.deliver(&run, bytes, delivered),
                Fate::Lost => {
                    self.lost -= bytes;
                    self.deliver(&run, bytes, delivered);
                }
                Fate::Sacked => {
                    self.sacked -= bytes;
                    self.sacked_segments = self.sacked_segments.saturating_sub(run.segments);
                }
            }
        }
    }

    /// The receiver has these bytes. False if it was known, or does not fit into the scoreboard.
    pub(crate) fn sack(&mut self, range: Range, delivered: &mut Delivered) -> bool {
        let range = Range { start: range.start.max(self.start), end: range.end.min(self.end()) };
        if range.start >= range.end || self.runs.len() + 2 > self.runs_max && !self.touches_edges(range) {
            return false;
        }
        let (first, last) = self.isolate(range);
        let mut is_new = false;
        for index in first..last {
            let bytes = self.bytes_of(index);
            let run = self.runs[index];
            match run.fate {
                Fate::Sacked => continue,
                Fate::Lost => self.lost -= bytes,
                Fate::InFlight => {}
            }
            is_new = true;
            self.runs[index].fate = Fate::Sacked;
            self.sacked += bytes;
            self.sacked_segments += run.segments;
            self.deliver(&run, bytes, delivered);
        }
        self.merge(first.saturating_sub(1), last + 1);
        is_new
    }

    /// Whether a range begins and ends at borders of runs, so that no run has to be split.
    fn touches_edges(&self, range: Range) -> bool {
        let is_border = |position| position == self.start || self.runs.iter().any(|run| run.end == position);
        is_border(range.start) && is_border(range.end)
    }

    fn deliver(&mut self, run: &Run, bytes: u64, delivered: &mut Delivered) {
        delivered.add(run, bytes);
        if run.end > self.highest_delivered {
            self.highest_delivered = run.end;
        } else if !run.retransmitted {
            delivered.reordered = true;
        }
    }

    /// Marks what RFC 6675's `IsLost` finds: enough was received above it. True if that was something.
    pub(crate) fn mark_lost_by_sacks(&mut self, mss: u64, threshold: u64) -> bool {
        let (mut bytes_above, mut ranges_above) = (0, 0);
        let mut found = false;
        for index in (0..self.runs.len()).rev() {
            if self.runs[index].fate == Fate::Sacked {
                bytes_above += self.bytes_of(index);
                ranges_above += 1;
            } else if ranges_above >= threshold || bytes_above > (threshold - 1) * mss {
                found |= !self.runs[index].retransmitted && self.lose(index);
            }
        }
        self.merge_if(found);
        found
    }

    /// Marks what RFC 8985 finds: sent before the newest delivered bytes, at least `window` ago. The first result is
    /// true if that was something; the second is when the last of the others will be lost.
    pub(crate) fn mark_lost_by_time(
        &mut self,
        newest: (Time, Position),
        now: Time,
        window: Time,
    ) -> (bool, Option<Time>) {
        let (mut found, mut deadline) = (false, None);
        for index in 0..self.runs.len() {
            let run = &self.runs[index];
            if run.fate != Fate::InFlight || (run.last_sent, run.end) >= newest {
                continue;
            }
            let lost_at = run.last_sent + window;
            if lost_at <= now {
                found |= self.lose(index);
            } else {
                deadline = deadline.max(Some(lost_at));
            }
        }
        self.merge_if(found);
        (found, deadline)
    }

    /// Marks the first segment as lost.
    pub(crate) fn mark_first_lost(&mut self, mss: u64) -> bool {
        let end = self.runs.front().map_or(self.start, |run| run.end.min(self.start + mss as i64));
        let (first, last) = self.isolate(Range { start: self.start, end });
        first < last && self.lose(first)
    }

    /// Marks what a retransmission timeout means: the first segment is lost, and all whose time of transmission is old.
    pub(crate) fn mark_lost_on_timeout(&mut self, mss: u64, is_old: impl Fn(Time) -> bool) {
        if self.is_reneged() {
            self.forget_sacks();
        }
        self.mark_first_lost(mss);
        for index in 0..self.runs.len() {
            if is_old(self.runs[index].last_sent) {
                self.lose(index);
            }
        }
        self.merge_if(true);
    }

    /// Marks everything as lost that is not known to have arrived.
    pub(crate) fn lose_all(&mut self) {
        for index in 0..self.runs.len() {
            self.lose(index);
        }
        self.merge_if(true);
    }

    fn forget_sacks(&mut self) {
        for run in self.runs.iter_mut().filter(|run| run.fate == Fate::Sacked) {
            run.fate = Fate::InFlight;
        }
        self.sacked = 0;
        self.sacked_segments = 0;
    }

    /// Takes back all decisions about loss.
    pub(crate) fn unmark_lost(&mut self) {
        for run in self.runs.iter_mut().filter(|run| run.fate == Fate::Lost) {
            run.fate = Fate::InFlight;
        }
        self.lost = 0;
    }

    /// The first bytes that are lost and not retransmitted.
    pub(crate) fn first_lost(&self) -> Option<Range> {
        if self.lost == 0 {
            return None;
        }
        self.first(|run| run.fate == Fate::Lost)
    }

    /// The first bytes below what was received that were sent once and are not known to be lost (RFC 6675, `NextSeg`,
    /// rule 3).
    pub(crate) fn first_doubtful(&self) -> Option<Range> {
        let last = self.runs.iter().rposition(|run| run.fate == Fate::Sacked)?;
        let below = self.runs.get(last)?.end;
        self.first(|run| run.fate == Fate::InFlight && !run.retransmitted).filter(|range| range.start < below)
    }

    fn first(&self, matches: impl Fn(&Run) -> bool) -> Option<Range> {
        let index = self.runs.iter().position(matches)?;
        Some(Range { start: self.start_of(index), end: self.runs[index].end })
    }

    /// Bytes were sent again.
    pub(crate) fn retransmit(&mut self, range: Range, now: Time, span: Time) {
        self.highest_retransmitted = self.highest_retransmitted.max(range.end);
        let (first, last) = self.isolate(range);
        for index in first..last {
            let bytes = self.bytes_of(index);
            let run = &mut self.runs[index];
            if run.fate == Fate::Sacked {
                continue;
            }
            if run.fate == Fate::Lost {
                self.lost -= bytes;
            }
            run.fate = Fate::InFlight;
            run.retransmitted = true;
            run.first_sent = now;
            run.last_sent = now;
            run.segments = 1;
        }
        self.join_retransmitted(first, now, span);
    }

    /// Joins a retransmitted run with the one before it, as [`Scoreboard::push`] does.
    fn join_retransmitted(&mut self, index: usize, now: Time, span: Time) {
        let Some(previous) = index.checked_sub(1) else { return };
        let (Some(&before), Some(&run)) = (self.runs.get(previous), self.runs.get(index)) else { return };
        let crowded = self.runs.len() >= EXACT_RUNS;
        let full = self.runs.len() >= self.runs_max;
        let is_same = [before, run].iter().all(|run| run.fate == Fate::InFlight && run.retransmitted);
        if is_same && (before.last_sent == now || full || crowded && now.since(before.first_sent) <= span) {
            self.runs[previous] =
                Run { first_sent: before.first_sent, segments: before.segments + run.segments, ..run };
            self.runs.remove(index);
        }
    }

    fn start_of(&self, index: usize) -> Position {
        index.checked_sub(1).map_or(self.start, |previous| self.runs[previous].end)
    }

    fn bytes_of(&self, index: usize) -> u64 {
        (self.runs[index].end - self.start_of(index)) as u64
    }

    /// Marks a run as lost if it is in flight.
    fn lose(&mut self, index: usize) -> bool {
        let is_lost = self.runs[index].fate == Fate::InFlight;
        if is_lost {
            self.lost += self.bytes_of(index);
            self.runs[index].fate = Fate::Lost;
        }
        is_lost
    }

    /// Splits runs so that `range`, which lies within the scoreboard, consists of whole ones: their indices.
    fn isolate(&mut self, range: Range) -> (usize, usize) {
        let mut first = 0;
        let mut start = self.start;
        while first < self.runs.len() && self.runs[first].end <= range.start {
            start = self.runs[first].end;
            first += 1;
        }
        if first < self.runs.len() && start < range.start {
            self.split(first, start, range.start);
            first += 1;
            start = range.start;
        }
        let mut last = first;
        while last < self.runs.len() && self.runs[last].end <= range.end {
            start = self.runs[last].end;
            last += 1;
        }
        if last < self.runs.len() && start < range.end {
            self.split(last, start, range.end);
            last += 1;
        }
        (first, last)
    }

    /// Splits a run, which begins at `start`, at a position within it.
    fn split(&mut self, index: usize, start: Position, at: Position) {
        let run = self.runs[index];
        let (part, whole) = ((at - start) as u64, (run.end - start) as u64);
        let scaled = |value: u64| (u128::from(value) * u128::from(part) / u128::from(whole)) as u64;
        let sent = run.first_sent + Time::from_ps(scaled(run.last_sent.since(run.first_sent).ps()));
        let segments = (scaled(u64::from(run.segments)) as u32).max(1);
        self.runs[index] = Run { first_sent: sent, segments: run.segments.saturating_sub(segments).max(1), ..run };
        self.runs.insert(index, Run { end: at, last_sent: sent, segments, ..run });
    }

    fn merge_if(&mut self, changed: bool) {
        if changed {
            self.merge(0, self.runs.len());
        }
    }

    /// Joins neighbours of the same fate among runs `first..last`, if their times do not matter any more.
    fn merge(&mut self, first: usize, last: usize) {
        let mut index = first;
        let mut last = last.min(self.runs.len());
        while index + 1 < last {
            let (run, next) = (self.runs[index], self.runs[index + 1]);
            let is_same = run.fate == next.fate
                && (run.fate == Fate::Sacked || run.fate == Fate::Lost && run.retransmitted == next.retransmitted);
            if is_same {
                self.runs[index] = Run {
                    first_sent: run.first_sent.min(next.first_sent),
                    last_sent: run.last_sent.max(next.last_sent),
                    segments: run.segments + next.segments,
                    ..next
                };
                self.runs.remove(index + 1);
                last -= 1;
            } else {
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// A byte of the model.
    #[derive(Clone, Copy, Debug)]
    struct Byte {
        fate: Fate,
        retransmitted: bool,
        sent: Time,
    }

    /// The scoreboard, byte by byte.
    struct Model {
        start: Position,
        bytes: Vec<Byte>,
    }

    impl Model {
        fn slice(&mut self, range: Range) -> &mut [Byte] {
            let end = self.start + self.bytes.len() as Position;
            let (first, last) = (range.start.clamp(self.start, end), range.end.clamp(self.start, end));
            &mut self.bytes[(first - self.start) as usize..(last.max(first) - self.start) as usize]
        }

        fn count(&self, fate: Fate) -> u64 {
            self.bytes.iter().filter(|byte| byte.fate == fate).count() as u64
        }

        fn check(&self, board: &Scoreboard, context: &str) {
            assert_eq!(board.start(), self.start, "{context}");
            assert_eq!(board.outstanding(), self.bytes.len() as u64, "{context}");
            assert_eq!(board.in_flight(), self.count(Fate::InFlight), "{context}");
            assert_eq!(board.sacked(), self.count(Fate::Sacked), "{context}");
            assert_eq!(board.lost(), self.count(Fate::Lost), "{context}");
            let lost = self.bytes.iter().position(|byte| byte.fate == Fate::Lost);
            let first = board.first_lost().map(|range| (range.start - self.start) as usize);
            assert_eq!(first, lost, "{context}");
            let mut start = board.start;
            for run in &board.runs {
                assert!(run.end > start, "{context}: an empty run in {board:?}");
                start = run.end;
            }
        }
    }

    fn some_range(rng: &mut Rng, model: &Model) -> Range {
        let start = model.start + rng.below(model.bytes.len() as u64 + 5) as Position - 2;
        Range { start, end: start + rng.below(30) as Position }
    }

    /// A loss by time is decided byte by byte, as long as each run has one time of transmission.
    fn lose_by_time(model: &mut Model, newest: (Time, Position), now: Time, window: Time, board: &Scoreboard) {
        for (index, run) in board.runs.iter().enumerate() {
            let range = Range { start: board.start_of(index), end: run.end };
            for byte in model.slice(range) {
                if byte.fate == Fate::InFlight && (byte.sent, run.end) < newest && byte.sent + window <= now {
                    byte.fate = Fate::Lost;
                }
            }
        }
    }

    #[test]
    fn the_scoreboard_is_right_byte_by_byte() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut board = Scoreboard::new(u16::MAX);
            board.start_at(1);
            let mut model = Model { start: 1, bytes: Vec::new() };
            let mut now = Time::ZERO;
            for step in 0..200 {
                let context = format!("seed {seed}, step {step}");
                now += Time::from_ms(rng.below(3));
                let mut delivered = Delivered::new(Time::MAX);
                match rng.below(6) {
                    0 | 1 => {
                        let length = rng.between(1, 20) as usize;
                        model
                            .bytes
                            .extend([Byte { fate: Fate::InFlight, retransmitted: false, sent: now }].repeat(length));
                        board.push(model.start + model.bytes.len() as Position, now, Time::ZERO);
                    }
                    2 => {
                        let to = some_range(&mut rng, &model).start;
                        let gone: Vec<Byte> = model.slice(Range { start: model.start, end: to }).to_vec();
                        model.bytes.drain(..gone.len());
                        model.start += gone.len() as Position;
                        board.acknowledge(to, &mut delivered);
                        let new = gone.iter().filter(|byte| byte.fate != Fate::Sacked);
                        assert_eq!(delivered.bytes, new.clone().count() as u64, "{context}");
                        assert_eq!(delivered.acknowledged, gone.len() as u64, "{context}");
                        // Lost bytes share runs, whatever their times.
                        if new.clone().all(|byte| byte.fate == Fate::InFlight) {
                            let newest = new.clone().map(|byte| byte.sent).max();
                            assert_eq!(delivered.newest.map(|(sent, _)| sent), newest, "{context}");
                        }
                        assert_eq!(delivered.retransmitted, new.clone().any(|byte| byte.retransmitted), "{context}");
                    }
                    3 => {
                        let range = some_range(&mut rng, &model);
                        let slice = model.slice(range);
                        let new = slice.iter().filter(|byte| byte.fate != Fate::Sacked).count() as u64;
                        slice.iter_mut().for_each(|byte| byte.fate = Fate::Sacked);
                        assert_eq!(board.sack(range, &mut delivered), new > 0, "{context}");
                        assert_eq!(delivered.bytes, new, "{context}");
                    }
                    4 => {
                        let newest = (now - Time::from_ms(rng.below(9)), model.start + 50);
                        let window = Time::from_ms(rng.below(20));
                        let before = board.clone();
                        board.mark_lost_by_time(newest, now, window);
                        lose_by_time(&mut model, newest, now, window, &before);
                    }
                    _ => {
                        if let Some(lost) = board.first_lost() {
                            let range = Range { start: lost.start, end: lost.end.min(lost.start + 10) };
                            board.retransmit(range, now, Time::ZERO);
                            let sent_again = Byte { fate: Fate::InFlight, retransmitted: true, sent: now };
                            model.slice(range).fill(sent_again);
                        }
                    }
                }
                model.check(&board, &context);
            }
        }
    }

    #[test]
    fn many_transmissions_share_runs() {
        let mut board = Scoreboard::new(128);
        board.start_at(0);
        let rtt = Time::from_ms(100);
        for segment in 0..10_000 {
            let now = rtt.times(segment).divided(10_000);
            board.push((segment as Position + 1) * 1000, now, rtt.divided(24));
        }
        assert!(board.runs.len() < 2 * EXACT_RUNS, "{} runs", board.runs.len());
        assert_eq!(board.runs.iter().map(|run| run.segments).sum::<u32>(), 10_000);
        // The time of a byte within a run is interpolated.
        let mut delivered = Delivered::new(Time::MAX);
        board.acknowledge(7_123_000, &mut delivered);
        let (sent, _) = delivered.newest.unwrap();
        let exact = rtt.times(7_123).divided(10_000);
        let error = (sent - exact).max(exact - sent);
        assert!(error < rtt.divided(1000), "{sent} instead of {exact}");
    }

    #[test]
    fn a_scoreboard_without_space_ignores_blocks() {
        let mut board = Scoreboard::new(8);
        board.start_at(0);
        board.push(100_000, Time::ZERO, Time::ZERO);
        let mut delivered = Delivered::new(Time::MAX);
        let accepted = (1..50).filter(|block| {
            let start = 2000 * block;
            board.sack(Range { start, end: start + 1000 }, &mut delivered)
        });
        assert_eq!(accepted.count(), 3);
        assert_eq!(board.sacked(), 3000);
        // One that fills a gap needs no space.
        assert!(board.sack(Range { start: 3000, end: 4000 }, &mut delivered));
    }
}
