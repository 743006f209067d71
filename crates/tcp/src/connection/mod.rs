//! A connection: the states of RFC 9293 around a sender and a receiver.
//!
//! What enters: segments, the application's calls, the time. What leaves: segments, events, the next timeout. [`input`]
//! processes segments, [`output`] makes them; state, calls and timeouts are here.

mod handshake;
mod input;
mod output;

use crate::config::Config;
use crate::ecn::EcnState;
use crate::events::{Event, EventSet, Statistics};
use crate::receiver::{Due, Receiver};
use crate::segment::Segment;
use crate::sender::{Context, Sender};
use crate::sequence::Position;
use crate::timestamps::TimestampState;
use base::Time;

/// The state of a connection (RFC 9293, section 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// There is no connection (any more).
    Closed,
    /// Waits for a connection request.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has received and sent a SYN.
    SynReceived,
    /// Data flows.
    Established,
    /// This side has finished; its FIN is not acknowledged yet.
    FinWait1,
    /// This side has finished, the peer has not.
    FinWait2,
    /// The peer has finished, this side has not.
    CloseWait,
    /// Both have finished at the same time; this side's FIN is not acknowledged yet.
    Closing,
    /// The peer finished first; this side's FIN is not acknowledged yet.
    LastAck,
    /// Both have finished; old segments may still arrive.
    TimeWait,
}

/// What a SYN needs until it is acknowledged.
#[derive(Clone, Copy, Default, Debug)]
struct Handshake {
    /// It must be sent (again).
    is_due: bool,
    /// When it was last sent, and how often it timed out.
    sent_at: Time,
    timeouts: u8,
    /// Whether both SYNs so far carried the option.
    sack: bool,
    window_scale: bool,
    /// Whether the SYN requests ECN, and whether the peer's did.
    requests_ecn: bool,
    peer_requests_ecn: bool,
}

/// At most this many challenge acknowledgments per [`CHALLENGE_INTERVAL`] (RFC 5961, section 7), so that
/// an attacker cannot make two endpoints flood each other.
const CHALLENGES_MAX: u8 = 10;
const CHALLENGE_INTERVAL: Time = Time::from_s(5);

/// One end of a connection. See the crate's documentation for how to drive it.
#[derive(Clone, Debug)]
pub struct Connection {
    config: Config,
    state: State,
    sender: Sender,
    receiver: Receiver,
    ecn: EcnState,
    timestamps: Option<TimestampState>,
    handshake: Handshake,
    /// An acknowledgment of what arrived before a change of the CE mark, with the ECE flag of that time.
    earlier_ack: Option<(Position, bool)>,
    /// A reset to be sent.
    reset: Option<Segment>,
    events: EventSet,
    /// The send buffer was too full for the application's last write.
    is_writer_blocked: bool,
    time_wait_until: Time,
    challenges: u8,
    challenges_since: Time,
}

impl Connection {
    /// Opens a connection actively. `initial_sequence` should differ between connections (RFC 9293, section 3.4.1).
    pub fn connect(config: &Config, initial_sequence: u32) -> Connection {
        let mut connection = Connection::new(config, initial_sequence, State::SynSent);
        connection.handshake.is_due = true;
        connection.handshake.requests_ecn = config.negotiates_ecn();
        connection
    }

    /// Opens a connection passively: it waits for one peer. A server makes one of these for each peer.
    pub fn listen(config: &Config, initial_sequence: u32) -> Connection {
        Connection::new(config, initial_sequence, State::Listen)
    }

    fn new(config: &Config, initial_sequence: u32, state: State) -> Connection {
        Connection {
            config: *config,
            state,
            sender: Sender::new(config, initial_sequence),
            receiver: Receiver::new(config),
            ecn: EcnState::default(),
            timestamps: config.timestamps.then(|| TimestampState::new(initial_sequence)),
            handshake: Handshake { sack: config.sack, window_scale: config.window_scaling, ..Handshake::default() },
            earlier_ack: None,
            reset: None,
            events: EventSet::default(),
            is_writer_blocked: false,
            time_wait_until: Time::MAX,
            challenges: 0,
            challenges_since: Time::ZERO,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the connection needs nothing any more and can be dropped.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed && self.reset.is_none()
    }

    /// Takes the next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.take()
    }

    /// Writes `bytes` of the synthetic stream. The result is how many of them the send buffer took: if fewer,
    /// [`Event::Writable`] follows when there is space. Nothing is taken once this side has closed.
    pub fn write(&mut self, bytes: u64) -> u64 {
        let may_write = matches!(
            self.state,
            State::Listen | State::SynSent | State::SynReceived | State::Established | State::CloseWait
        );
        if !may_write || self.sender.is_finishing() {
            return 0;
        }
        let accepted = self.sender.write(bytes, self.config.send_buffer_bytes);
        self.is_writer_blocked = accepted < bytes;
        accepted
    }

    /// Reads up to `bytes` of what has arrived in order. The result is how many there were.
    #[inline]
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Bytes that can be read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Closes this side: what was written is still sent, and more can be received (as `shutdown(SHUT_WR)`).
    pub fn close(&mut self) {
        match self.state {
            State::Listen | State::SynSent => self.end(Event::Closed),
            State::SynReceived => self.sender.finish(),
            State::Established => {
                self.sender.finish();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.finish();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Ends the connection at once; the peer is reset if it knows of the connection.
    pub fn abort(&mut self) {
        let is_known = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        let reset = is_known.then(|| self.reset_segment());
        self.end(Event::Closed);
        self.reset = reset;
    }

    /// The connection is over.
    fn end(&mut self, event: Event) {
        self.state = State::Closed;
        self.events.add(event);
    }

    /// The next time at which [`Connection::on_timer`] has something to do.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        if self.state == State::Closed {
            return None;
        }
        let acknowledge = match self.receiver.due() {
            Due::Until(time) => time,
            Due::Nothing | Due::Now | Due::Alone => Time::MAX,
        };
        let next = self.sender.timers.next().min(acknowledge).min(self.time_wait_until);
        (next != Time::MAX).then_some(next)
    }

    /// Does what is due. Calls before [`Connection::next_timeout`] do nothing.
    pub fn on_timer(&mut self, now: Time) {
        if self.state == State::Closed {
            return;
        }
        if now >= self.time_wait_until {
            self.time_wait_until = Time::MAX;
            return self.end(Event::Closed);
        }
        if let Due::Until(time) = self.receiver.due()
            && now >= time
        {
            self.receiver.acknowledge_now(false);
        }
        let timers = self.sender.timers.clone();
        if now >= timers.persist && !self.sender.on_persist_timeout(&self.config) {
            return self.end(Event::TimedOut);
        }
        if now >= timers.reorder {
            let context = Context { now, config: &self.config, timestamps: self.timestamps.as_ref() };
            self.sender.on_reordering_timeout(&context);
        }
        if now >= timers.probe {
            self.sender.on_probe_timeout(now);
        } else if now >= timers.retransmit {
            self.on_retransmission_timeout(now);
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            return self.on_syn_timeout(now);
        }
        if self.sender.timeouts >= self.config.retries {
            return self.end(Event::TimedOut);
        }
        let context = Context { now, config: &self.config, timestamps: self.timestamps.as_ref() };
        self.sender.on_retransmission_timeout(&context);
    }

    /// The network reports that a segment was too long for a link of its path (RFC 1191, RFC 8201): segments have at
    /// most `mss` bytes of payload and TCP options from now on. `sequence` is that of the segment, which reports quote;
    /// a report about nothing that is outstanding is not believed (RFC 5927, section 7.2). The path may get a longer
    /// MTU again; nothing is sent to find out.
    pub fn on_packet_too_big(&mut self, sequence: u32, mss: u16) {
        let board = &self.sender.board;
        let position = self.sender.numbering.position(sequence, board.start());
        if (board.start()..board.end()).contains(&position) {
            self.sender.limit_segments(mss);
        }
    }

    /// How many bytes of the peer's stream precede the payload of an arriving segment, for
    /// [`crate::payload::is_expected`].
    pub fn stream_position(&self, segment: &Segment) -> u64 {
        let position = self.receiver.numbering.position(segment.sequence, self.receiver.next());
        (position - 1).max(0) as u64
    }

    /// Figures for plots and tests.
    pub fn statistics(&self) -> Statistics {
        let sender = &self.sender;
        Statistics {
            congestion_window: sender.windows.congestion,
            slow_start_threshold: sender.windows.threshold,
            mss: sender.windows.mss,
            send_window: sender.window(),
            in_flight: sender.pipe(),
            smoothed_rtt: sender.rtt.smoothed(),
            rtt_variation: sender.rtt.variation(),
            min_rtt: sender.rtt.min(),
            retransmission_timeout: sender.rtt.timeout(),
            phase: sender.recovery.phase,
            alpha: sender.control.alpha().map(|alpha| alpha.fraction()),
            acknowledged_bytes: sender.acknowledged_bytes(),
            received_bytes: self.receiver.delivered(),
            counters: sender.counters,
        }
    }

    /// The memory of this connection in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Connection>() + self.sender.board.memory_bytes() + self.receiver.memory_bytes()
    }

    /// Bytes that were written and not acknowledged.
    pub fn send_buffer_used(&self) -> u64 {
        self.sender.buffered()
    }
}
