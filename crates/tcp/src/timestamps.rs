//! Time stamps and protection against wrapped sequence numbers (RFC 7323, sections 3 to 5).
//!
//! What enters: the option of each segment. What leaves: the option of the next, and whether a segment is too old.

use crate::segment::Timestamps;
use base::Time;

/// A tick of the clock: 1 ms, as in Linux and the shortest that the RFC recommends.
const TICK: Time = Time::from_ms(1);

/// After this time without a segment, the recent time stamp is not valid any more (section 5.5).
const RECENT_VALID: Time = Time::from_s(24 * 86_400);

/// The time stamps of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimestampState {
    /// The value that is echoed (`TS.Recent`).
    recent: u32,
    recent_at: Time,
    /// Differs between connections, so that no peer depends on a common clock (section 5.4).
    offset: u32,
}

impl TimestampState {
    pub(crate) fn new(offset: u32) -> TimestampState {
        TimestampState { offset, ..TimestampState::default() }
    }

    /// The clock at a time.
    #[inline]
    pub(crate) fn clock(&self, now: Time) -> u32 {
        self.offset.wrapping_add((now.ps() / TICK.ps()) as u32)
    }

    /// The option of a segment that is sent now.
    #[inline]
    pub(crate) fn option(&self, now: Time) -> Timestamps {
        Timestamps { value: self.clock(now), echo: self.recent }
    }

    /// Whether a segment with this value is too old (section 5.3, R1).
    #[inline]
    pub(crate) fn is_old(&self, now: Time, value: u32) -> bool {
        is_before(value, self.recent) && now.since(self.recent_at) < RECENT_VALID
    }

    /// Remembers the value of a segment that begins at or before what was last acknowledged (section 4.3).
    #[inline]
    pub(crate) fn update(&mut self, now: Time, value: u32) {
        if !is_before(value, self.recent) || now.since(self.recent_at) >= RECENT_VALID {
            self.recent = value;
            self.recent_at = now;
        }
    }

    /// Takes the first value of a connection.
    pub(crate) fn start(&mut self, now: Time, value: u32) {
        self.recent = value;
        self.recent_at = now;
    }

    /// The latest time at which this connection can have sent a value.
    pub(crate) fn sent_at_latest(&self, now: Time, echo: u32) -> Option<Time> {
        let ticks = u64::from(self.clock(now).wrapping_sub(echo));
        let tick = (now.ps() / TICK.ps()).checked_sub(ticks)?;
        Some(Time::from_ps(tick * TICK.ps() + (TICK.ps() - 1)))
    }

    /// The time since this connection sent a value, to a tick; nothing if that cannot be.
    pub(crate) fn elapsed(&self, now: Time, echo: u32) -> Option<Time> {
        let ticks = self.clock(now).wrapping_sub(echo);
        (ticks < 1 << 31).then(|| TICK.times(u64::from(ticks).max(1)))
    }
}

/// Whether one value is before another, in their circular order.
#[inline]
pub(crate) fn is_before(value: u32, other: u32) -> bool {
    (value.wrapping_sub(other) as i32) < 0
}
