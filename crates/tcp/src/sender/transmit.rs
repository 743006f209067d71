//! What to send next.

use super::{Context, Sender};
use crate::rack::TailProbe;
use crate::recovery::Phase;
use crate::sequence::{Position, Range};
use base::Time;

/// Why a segment is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// It is new.
    New,
    /// It was lost, or may be.
    Retransmission,
    /// The peer's window is closed and may have opened.
    WindowProbe,
}

/// A range to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) range: Range,
    /// Whether its last position is the FIN.
    pub(crate) fin: bool,
    /// Whether it contains the last byte that was written.
    pub(crate) is_last: bool,
    pub(crate) reason: Reason,
}

impl Outgoing {
    /// Bytes of payload.
    pub(crate) fn payload(&self) -> u32 {
        (self.range.end - self.range.start - Position::from(self.fin)) as u32
    }
}

/// Why new data cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blocked {
    /// There is none, or too little for a full segment (Nagle).
    NoData,
    /// The peer's window is closed.
    Window,
}

impl Sender {
    /// The next segment with data or FIN, and the bookkeeping of its transmission. `options` are the bytes of its
    /// options.
    pub(crate) fn next_segment(&mut self, context: &Context<'_>, options: u32) -> Option<Outgoing> {
        let payload_max = i64::from(self.segment_bytes - options.min(self.segment_bytes - 1));
        self.restart_after_idle(context);
        let outgoing = self.choose(context, payload_max);
        if outgoing.is_none() {
            self.arm_persist(context, payload_max);
        }
        outgoing
    }

    fn choose(&mut self, context: &Context<'_>, payload_max: i64) -> Option<Outgoing> {
        if self.window_probe_due {
            self.window_probe_due = false;
            if self.is_window_closed(payload_max) {
                // A position that the peer has: it must answer (Linux does the same).
                let position = self.board.end() - 1;
                let range = Range { start: position, end: position };
                return Some(Outgoing { range, fin: false, is_last: false, reason: Reason::WindowProbe });
            }
        }
        if self.probe_due {
            self.probe_due = false;
            if let Some(probe) = self.tail_probe(context, payload_max) {
                return Some(probe);
            }
        }
        if let Some(lost) = self.board.first_lost() {
            return self.retransmit_lost(context, lost, payload_max);
        }
        match self.new_range(payload_max) {
            Ok(outgoing) if self.fits(outgoing.range) => {
                self.note_sent_new(context, &outgoing, payload_max);
                Some(outgoing)
            }
            Ok(_) => {
                self.note_usage(true);
                None
            }
            Err(_) => {
                self.note_usage(false);
                self.retransmit_doubtful(context, payload_max)
            }
        }
    }

    fn is_window_closed(&self, payload_max: i64) -> bool {
        self.board.outstanding() == 0 && self.new_range(payload_max).err() == Some(Blocked::Window)
    }

    /// Starts the timer that probes a closed window, if nothing else would ever open it (RFC 9293, section 3.8.6.1).
    fn arm_persist(&mut self, context: &Context<'_>, payload_max: i64) {
        if self.timers.persist == Time::MAX && self.is_window_closed(payload_max) {
            let timeout = self.rtt.timeout().times(1 << self.persist_backoff.min(16));
            self.timers.persist = context.now + timeout.min(context.config.max_rto);
        }
    }

    /// Whether a range fits into the congestion window.
    fn fits(&self, range: Range) -> bool {
        let pipe = self.pipe();
        // One more: a FIN has a position, but is not a byte.
        pipe == 0 || pipe + (range.end - range.start) as u64 <= self.windows.congestion + 1
    }

    fn window_end(&self) -> Position {
        self.board.start() + self.window as i64
    }

    /// The next range that was never sent, if the peer's window and Nagle's algorithm allow it.
    fn new_range(&self, payload_max: i64) -> Result<Outgoing, Blocked> {
        let start = self.board.end();
        let unsent = self.written - start;
        let is_fin_due = self.fin && unsent >= 0;
        if unsent <= 0 {
            // A FIN needs no space in the peer's buffer.
            let range = Range { start, end: start + 1 };
            let outgoing = Outgoing { range, fin: true, is_last: false, reason: Reason::New };
            return if is_fin_due { Ok(outgoing) } else { Err(Blocked::NoData) };
        }
        let usable = self.window_end() - start;
        if usable <= 0 {
            return Err(Blocked::Window);
        }
        let length = unsent.min(payload_max).min(usable);
        let fin = is_fin_due && length == unsent;
        let may_be_small = fin || self.small_end <= self.board.start();
        if length < payload_max && !may_be_small && self.nagle {
            return Err(Blocked::NoData);
        }
        let range = Range { start, end: start + length + i64::from(fin) };
        Ok(Outgoing { range, fin, is_last: length == unsent, reason: Reason::New })
    }

    fn note_sent_new(&mut self, context: &Context<'_>, outgoing: &Outgoing, payload_max: i64) {
        let payload = outgoing.payload();
        self.board.push(outgoing.range.end, context.now, self.span());
        if i64::from(payload) < payload_max {
            self.small_end = outgoing.range.end;
        }
        self.timers.persist = Time::MAX;
        self.persist_backoff = 0;
        self.note_sent(context, u64::from(payload));
        self.schedule_probe(context);
    }

    fn note_sent(&mut self, context: &Context<'_>, bytes: u64) {
        self.recovery.on_sent(bytes);
        self.last_sent = Some(context.now);
        if self.timers.retransmit == Time::MAX {
            self.timers.retransmit = context.now + self.rtt.timeout();
        }
    }

    /// Remembers whether the congestion window limits the sender, so that a window that is not used does not grow (RFC
    /// 5681, section 4.1; RFC 7661; the rule is Linux's).
    fn note_usage(&mut self, is_limited: bool) {
        let flight = self.board.outstanding();
        let is_over = self.board.start() >= self.limited_until;
        if is_over || is_limited || !self.is_limited && flight > self.flight_max {
            self.is_limited = is_limited;
            self.flight_max = flight;
            self.limited_until = self.board.end();
        }
    }

    /// After idle time the window is not trusted (RFC 5681, section 4.1): it is halved for each timeout that has
    /// passed, down to the initial window, as in RFC 2861 and Linux.
    fn restart_after_idle(&mut self, context: &Context<'_>) {
        if self.board.outstanding() > 0 || self.unsent() == 0 {
            return;
        }
        let Some(last_sent) = self.last_sent else { return };
        self.control.on_restart(context.now.since(self.idle_since));
        self.idle_since = Time::MAX;
        // A window that stays closed does not let this happen again.
        self.last_sent = None;
        let idle = context.now.since(last_sent);
        let timeout = self.rtt.timeout();
        if !context.config.slow_start_after_idle || idle <= timeout {
            return;
        }
        let initial = self.windows.mss * u64::from(context.config.initial_window_segments.max(1));
        let restart = initial.min(self.windows.congestion);
        self.windows.threshold = self.windows.threshold.max(self.windows.congestion / 4 * 3);
        let halvings = (idle.ps() / timeout.ps().max(1)).min(63);
        self.windows.congestion = (self.windows.congestion >> halvings).max(restart);
    }

    fn retransmit_lost(&mut self, context: &Context<'_>, lost: Range, payload_max: i64) -> Option<Outgoing> {
        let range = self.cut(lost, payload_max);
        // If the window has shrunk, only the first segment is retransmitted.
        let is_allowed = range.start == self.board.start() || range.end <= self.window_end();
        if !is_allowed || !(self.recovery.forced || self.fits(range)) {
            self.note_usage(is_allowed);
            return None;
        }
        self.recovery.forced = false;
        if range.start == self.board.start() {
            // RFC 6675, section 6: recovery may take longer than the timeout. Linux does it for the first segment.
            self.timers.retransmit = context.now + self.rtt.timeout();
        }
        Some(self.note_retransmitted(context, range))
    }

    /// RFC 6675, `NextSeg`, rule 3: with nothing else to send, what may be lost.
    fn retransmit_doubtful(&mut self, context: &Context<'_>, payload_max: i64) -> Option<Outgoing> {
        if self.rack.is_some() || self.recovery.phase != Phase::FastRecovery {
            return None;
        }
        let range = self.cut(self.board.first_doubtful()?, payload_max);
        (self.fits(range) && range.end <= self.window_end()).then(|| self.note_retransmitted(context, range))
    }

    /// The first segment of a range.
    fn cut(&self, range: Range, payload_max: i64) -> Range {
        let fin = i64::from(range.end > self.written && range.end - range.start <= payload_max + 1);
        Range { start: range.start, end: range.end.min(range.start + payload_max + fin) }
    }

    fn note_retransmitted(&mut self, context: &Context<'_>, range: Range) -> Outgoing {
        let is_last = range.end >= self.written && range.start < self.written;
        let outgoing = Outgoing { range, fin: range.end > self.written, is_last, reason: Reason::Retransmission };
        let bytes = u64::from(outgoing.payload());
        self.board.retransmit(range, context.now, self.span());
        let clock = context.timestamps.map_or(0, |timestamps| timestamps.clock(context.now));
        if let Some(undo) = &mut self.recovery.undo {
            undo.retransmitted_at.get_or_insert(clock);
            undo.doubtful += bytes;
        }
        match self.recovery.phase {
            Phase::TimeoutRecovery => self.counters.timeout_retransmissions += 1,
            Phase::FastRecovery => self.counters.fast_retransmissions += 1,
            Phase::Open | Phase::Reduction | Phase::PathRecovery => {}
        }
        self.counters.retransmitted_bytes += bytes;
        self.note_sent(context, bytes);
        outgoing
    }

    /// Sets the timer of the next tail loss probe (RFC 8985, section 7.2).
    pub(super) fn schedule_probe(&mut self, context: &Context<'_>) {
        self.timers.probe = Time::MAX;
        let is_quiet = !self.recovery.is_recovering() && self.board.sacked() == 0 && self.board.lost() == 0;
        if self.rack.is_none() || !is_quiet || self.probe.is_outstanding() || self.board.outstanding() == 0 {
            return;
        }
        let timeout = TailProbe::timeout(&self.rtt, self.board.is_one_segment(), context.config.max_ack_delay);
        self.timers.probe = (context.now + timeout).min(self.timers.retransmit);
    }

    /// A tail loss probe: new data if there is some, or the last segment again (RFC 8985, section 7.3).
    fn tail_probe(&mut self, context: &Context<'_>, payload_max: i64) -> Option<Outgoing> {
        if self.board.outstanding() == 0 || self.recovery.is_recovering() {
            return None;
        }
        self.counters.tail_probes += 1;
        if let Ok(outgoing) = self.new_range(payload_max) {
            self.note_sent_new(context, &outgoing, payload_max);
            self.probe.on_probe(self.board.end(), false);
            self.timers.probe = Time::MAX;
            return Some(outgoing);
        }
        let end = self.board.end();
        let fin = i64::from(end > self.written);
        let range = Range { start: (end - payload_max - fin).max(self.board.start()), end };
        self.probe.on_probe(end, true);
        Some(self.note_retransmitted(context, range))
    }
}
