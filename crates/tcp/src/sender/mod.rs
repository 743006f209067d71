//! The sending half of a connection.
//!
//! What enters: bytes to send, acknowledgments, timeouts. What leaves: ranges to transmit. [`ack`] processes
//! acknowledgments, [`transmit`] decides what to send next; the state is here.

mod ack;
mod transmit;

use crate::config::{Config, MSS_MIN};
use crate::congestion::{Control, Window};
use crate::events::Counters;
use crate::rack::{Rack, TailProbe};
use crate::recovery::{Phase, Recovery, Undo};
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::sequence::{Numbering, Position};
use crate::timestamps::TimestampState;
use base::Time;

pub(crate) use transmit::{Outgoing, Reason};

/// Duplicate acknowledgments that show a loss (RFC 5681's threshold).
const DUPLICATES: u32 = 3;

/// What every decision depends on.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) config: &'a Config,
    pub(crate) timestamps: Option<&'a TimestampState>,
}

/// When the sender has something to do on its own; [`Time::MAX`] for never.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// Retransmission (RFC 6298).
    pub(crate) retransmit: Time,
    /// Tail loss probe (RFC 8985, section 7).
    pub(crate) probe: Time,
    /// The end of RACK's reordering window.
    pub(crate) reorder: Time,
    /// Probe of a closed window (RFC 9293, section 3.8.6.1).
    pub(crate) persist: Time,
}

impl Timers {
    fn off() -> Timers {
        Timers { retransmit: Time::MAX, probe: Time::MAX, reorder: Time::MAX, persist: Time::MAX }
    }

    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.retransmit.min(self.probe).min(self.reorder).min(self.persist)
    }
}

/// The sending half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) numbering: Numbering,
    pub(crate) board: Scoreboard,
    /// The end of what the application has written.
    written: Position,
    /// Whether a FIN follows.
    fin: bool,
    /// The peer's window, its maximum so far, and the segment that announced it (SND.WND, SND.WL1, SND.WL2).
    window: u64,
    window_max: u64,
    window_sequence: Position,
    window_ack: Position,
    scale: u8,
    /// The most bytes of payload and options in a segment.
    segment_bytes: u32,
    sack: bool,
    nagle: bool,
    pub(crate) windows: Window,
    pub(crate) control: Control,
    pub(crate) rtt: RttEstimator,
    pub(crate) recovery: Recovery,
    rack: Option<Rack>,
    probe: TailProbe,
    probe_due: bool,
    /// Whether the congestion window limited the sender in the last round trip, and the most that was outstanding.
    is_limited: bool,
    limited_until: Position,
    flight_max: u64,
    /// When data was last sent, and since when nothing has been outstanding.
    last_sent: Option<Time>,
    idle_since: Time,
    /// The end of the last segment that was not full (Minshall's variant of Nagle's algorithm).
    small_end: Position,
    /// The next new segment carries CWR.
    pub(crate) cwr_due: bool,
    /// Retransmission timeouts since something was acknowledged.
    pub(crate) timeouts: u8,
    /// Probes of a closed window since it closed, and since the peer last answered.
    persist_backoff: u8,
    unanswered_probes: u8,
    window_probe_due: bool,
    pub(crate) timers: Timers,
    pub(crate) counters: Counters,
}

impl Sender {
    pub(crate) fn new(config: &Config, initial: u32) -> Sender {
        let mss = u32::from(config.mss).max(MSS_MIN);
        Sender {
            numbering: Numbering { initial },
            board: Scoreboard::new(config.ranges),
            written: 1,
            fin: false,
            window: 0,
            window_max: 0,
            window_sequence: 0,
            window_ack: 0,
            scale: 0,
            segment_bytes: mss,
            sack: false,
            nagle: config.nagle,
            windows: Window::new(u64::from(mss), config.initial_window_segments),
            control: Control::new(config),
            rtt: RttEstimator::new(config.initial_rto),
            recovery: Recovery::default(),
            rack: None,
            probe: TailProbe::default(),
            probe_due: false,
            is_limited: false,
            limited_until: 0,
            flight_max: 0,
            last_sent: None,
            idle_since: Time::MAX,
            small_end: 0,
            cwr_due: false,
            timeouts: 0,
            persist_backoff: 0,
            unanswered_probes: 0,
            window_probe_due: false,
            timers: Timers::off(),
            counters: Counters::default(),
        }
    }

    /// Adopts what the peer offers in its SYN.
    pub(crate) fn negotiate(&mut self, config: &Config, mss: u16, scale: u8, sack: bool, timestamps: bool) {
        self.segment_bytes = u32::from(mss.min(config.mss)).max(MSS_MIN);
        self.scale = scale;
        self.sack = sack;
        self.rack = (sack && config.rack).then(Rack::default);
        let payload = self.segment_bytes - if timestamps { 12 } else { 0 };
        self.windows = Window::new(u64::from(payload), config.initial_window_segments);
    }

    /// Segments were too long for the path: they have at most this many bytes of payload and options from now on,
    /// and what is in flight is sent again. The network is not congested, so the window stays (as in Linux).
    pub(crate) fn limit_segments(&mut self, mss: u16) {
        let bytes = u32::from(mss).max(MSS_MIN);
        if bytes >= self.segment_bytes {
            return;
        }
        let options = self.segment_bytes.saturating_sub(self.windows.mss as u32);
        self.segment_bytes = bytes;
        self.windows.mss = u64::from(bytes - options.min(bytes - 1));
        self.board.lose_all();
        if !self.recovery.is_recovering() {
            if self.recovery.is_reducing() {
                self.windows.congestion = self.windows.congestion.min(self.windows.threshold);
            }
            self.recovery.phase = Phase::PathRecovery;
            self.recovery.until = self.board.end();
            self.recovery.recover = self.board.end();
        }
        self.recovery.undo = None;
        self.recovery.duplicates = 0;
        self.recovery.inflation = 0;
        self.probe.reset();
        self.timers.probe = Time::MAX;
        self.timers.reorder = Time::MAX;
    }

    /// The SYN was acknowledged: data can be sent.
    pub(crate) fn start(&mut self) {
        self.board.start_at(1);
        self.timers.retransmit = Time::MAX;
    }

    /// The application writes bytes; the result is how many fit into the buffer.
    pub(crate) fn write(&mut self, bytes: u64, buffer: u64) -> u64 {
        let space = buffer.saturating_sub(self.buffered());
        // Positions stay far from overflow, whatever the size of the buffer.
        let limit = (i64::MAX / 2 - self.written) as u64;
        let accepted = bytes.min(space).min(limit);
        self.written += accepted as i64;
        accepted
    }

    /// Bytes that are not acknowledged or not sent yet.
    pub(crate) fn buffered(&self) -> u64 {
        (self.written - self.board.start().max(1)).max(0) as u64
    }

    /// Bytes that were never sent.
    pub(crate) fn unsent(&self) -> u64 {
        (self.written - self.board.end().max(1)).max(0) as u64
    }

    /// A FIN follows what was written.
    pub(crate) fn finish(&mut self) {
        self.fin = true;
    }

    /// Whether a FIN follows what was written.
    pub(crate) fn is_finishing(&self) -> bool {
        self.fin
    }

    /// Whether the FIN was acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin && self.board.start() > self.written
    }

    /// Payload bytes that the peer acknowledged.
    pub(crate) fn acknowledged_bytes(&self) -> u64 {
        (self.board.start().min(self.written) - 1).max(0) as u64
    }

    /// The peer's window.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// The greatest window that the peer announced.
    pub(crate) fn window_max(&self) -> u64 {
        self.window_max
    }

    /// Bytes in the network (RFC 6675's *pipe*).
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        self.board.in_flight().saturating_sub(self.recovery.inflation)
    }

    /// Takes the window of a segment, exactly as it arrived (RFC 9293, section 3.10.7.4): windows may shrink. True if
    /// it changed.
    pub(crate) fn update_window(&mut self, field: u16, is_syn: bool, sequence: Position, ack: Position) -> bool {
        if (sequence, ack) < (self.window_sequence, self.window_ack) {
            return false;
        }
        let window = u64::from(field) << if is_syn { 0 } else { self.scale };
        let changed = window != self.window;
        self.window = window;
        self.window_max = self.window_max.max(window);
        self.window_sequence = sequence;
        self.window_ack = ack;
        changed
    }

    /// The span within which neighbouring transmissions may share a run of the scoreboard.
    fn span(&self) -> Time {
        self.rtt.smoothed().unwrap_or(Time::ZERO).divided(24)
    }

    /// A retransmission timeout (RFC 5681, section 3.1; RFC 8985, section 6.3; RFC 6582, section 3.2, step 4).
    pub(crate) fn on_retransmission_timeout(&mut self, context: &Context<'_>) {
        self.counters.timeouts += 1;
        let flight = self.board.outstanding();
        let is_first = self.recovery.phase != Phase::TimeoutRecovery || self.board.start() >= self.recovery.until;
        if is_first || self.timeouts == 0 {
            self.remember_for_undo();
            self.windows.threshold = self.control.threshold_after(&self.windows, flight, true);
        }
        self.control.on_timeout();
        // Without RACK, everything is lost.
        let age = self.rack.as_ref().map_or(Time::ZERO, |rack| rack.age_of_lost(&self.board, &self.rtt));
        self.board.mark_lost_on_timeout(self.windows.mss, |sent| sent + age <= context.now);
        self.recovery.phase = Phase::TimeoutRecovery;
        self.recovery.until = self.board.end();
        self.recovery.recover = self.board.end();
        self.recovery.duplicates = 0;
        self.recovery.inflation = 0;
        self.recovery.forced = true;
        self.probe.reset();
        self.cwr_due = true;
        // What is still in the network does not prevent transmission of the first segment (as in Linux).
        self.windows.congestion = self.pipe() + self.windows.mss;
        self.timeouts = self.timeouts.saturating_add(1);
        self.rtt.back_off(context.config.max_rto);
        self.timers.retransmit = context.now + self.rtt.timeout();
        self.timers.probe = Time::MAX;
        self.timers.reorder = Time::MAX;
    }

    /// Remembers the windows before a reduction. A second reduction before the first has ended preserves the
    /// windows before both.
    fn remember_for_undo(&mut self) {
        let earlier = self.recovery.undo.filter(|_| self.recovery.is_recovering());
        let window = earlier.map_or(self.windows, |undo| undo.window);
        self.recovery.undo = Some(Undo { window, retransmitted_at: None, doubtful: 0, from: self.board.start() });
    }

    /// RACK's reordering window has ended: what is still missing is lost.
    pub(crate) fn on_reordering_timeout(&mut self, context: &Context<'_>) {
        self.timers.reorder = Time::MAX;
        let flight = self.board.outstanding();
        self.detect_losses(context, false, false);
        self.enter_recovery_if_lost(flight);
        if self.recovery.is_reducing() {
            // Nothing was delivered, so no more leaves than the first retransmission.
            self.reduce_window(context.config, 0, false);
        }
    }

    /// The time for a tail loss probe has come.
    pub(crate) fn on_probe_timeout(&mut self, now: Time) {
        self.timers.probe = Time::MAX;
        self.probe_due = true;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// The time to probe a closed window has come. False if the peer answers no more.
    pub(crate) fn on_persist_timeout(&mut self, config: &Config) -> bool {
        self.timers.persist = Time::MAX;
        self.window_probe_due = true;
        self.persist_backoff = self.persist_backoff.saturating_add(1);
        self.unanswered_probes = self.unanswered_probes.saturating_add(1);
        self.unanswered_probes <= config.retries
    }
}
