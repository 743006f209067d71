//! Acknowledgments: what they deliver, which losses they show, and how the windows react.

use super::{Context, DUPLICATES, Sender};
use crate::config::Config;
use crate::congestion::Acknowledged;
use crate::recovery::Phase;
use crate::scoreboard::Delivered;
use crate::segment::{Flags, Segment};
use crate::sequence::{Position, Range};
use crate::timestamps;
use base::Time;

/// What the SACK option of a segment reported.
#[derive(Clone, Copy, Default)]
struct Reports {
    /// Something that was not known before.
    is_new: bool,
    /// Bytes that the peer received twice.
    duplicate: Option<Range>,
}

impl Sender {
    /// Processes an acknowledgment up to `to`, which was checked to be valid.
    pub(crate) fn on_ack(
        &mut self,
        context: &Context<'_>,
        segment: &Segment,
        to: Position,
        window_changed: bool,
        has_ece: bool,
    ) {
        let before = self.board.start();
        let flight = self.board.outstanding();
        // A delivered retransmission that was sent after this time is not what was acknowledged (RFC 8985, section 6.2,
        // step 2).
        let by_rtt = self.rtt.min().map_or(Time::MAX, |min| context.now - min);
        let mut delivered = Delivered::new(by_rtt.min(echoed_until(context, segment)));
        self.board.acknowledge(to, &mut delivered);
        // What is reported arrived out of order: the echo is older, whichever copy it was (RFC 7323, section 4.3).
        delivered.plausible_until = by_rtt;
        let reports = self.take_sack_blocks(segment, &mut delivered);
        let progress = to > before;
        let is_bare = segment.payload_bytes == 0 && !segment.flags.has_any(Flags::SYN | Flags::FIN);
        let is_new = if self.sack { reports.is_new } else { !window_changed };
        let is_duplicate = to == before && flight > 0 && is_bare && is_new;

        self.count_duplicates(progress, is_duplicate, &mut delivered);
        self.measure(context, segment, &delivered);
        if let Some(rack) = &mut self.rack {
            rack.update(context.now, &delivered);
        }
        self.control.count_marks(delivered.acknowledged, has_ece, to, self.board.end());
        self.note_duplicate_report(reports.duplicate);
        self.end_probe(to, before, is_bare, &reports);
        self.try_undo(context, segment, progress, reports.duplicate.is_some());
        self.end_phase(to);
        let found = self.detect_losses(context, progress, delivered.bytes > 0);
        self.enter_recovery_if_lost(flight);
        if has_ece {
            self.reduce_for_mark(flight, to);
        }
        self.adjust_window(context, &delivered, progress, found);
        self.set_timers(context, progress);
        self.unanswered_probes = 0;
        if progress {
            self.timeouts = 0;
        }
    }

    fn take_sack_blocks(&mut self, segment: &Segment, delivered: &mut Delivered) -> Reports {
        let mut reports = Reports::default();
        if !self.sack {
            return reports;
        }
        let blocks = segment.options.sack.as_slice();
        let to = self.board.start();
        let range = |(start, end): (u32, u32)| {
            let first = self.numbering.position(start, to);
            Range { start: first, end: first + i64::from(end.wrapping_sub(start) as i32) }
        };
        let ranges = [0, 1, 2, 3].map(|index| blocks.get(index).map(|block| range(*block)));
        for (index, range) in ranges.into_iter().enumerate() {
            let Some(range) = range.filter(|range| range.start < range.end && range.end <= self.board.end()) else {
                continue;
            };
            // RFC 2883, section 4: the first block reports a duplicate if it is acknowledged, or part of the second
            // block.
            let is_inner = index == 0 && ranges[1].is_some_and(|second| second.contains(range));
            if range.end <= to || is_inner {
                reports.duplicate = reports.duplicate.or((index == 0).then_some(range));
            } else if range.start >= to {
                reports.is_new |= self.board.sack(range, delivered);
            }
        }
        reports
    }

    /// Counts duplicate acknowledgments. Without SACK, each stands for a segment that has left the network (RFC 6582).
    fn count_duplicates(&mut self, progress: bool, is_duplicate: bool, delivered: &mut Delivered) {
        let mss = self.windows.mss;
        let recovery = &mut self.recovery;
        if is_duplicate {
            recovery.duplicates += 1;
        } else if progress {
            recovery.duplicates = 0;
        }
        if self.sack {
            return;
        }
        let is_all_lost = matches!(recovery.phase, Phase::TimeoutRecovery | Phase::PathRecovery);
        if is_duplicate && !is_all_lost {
            let most = self.board.outstanding().saturating_sub(mss);
            let inflation = (recovery.inflation + mss).min(most).max(recovery.inflation);
            delivered.bytes += inflation - recovery.inflation;
            recovery.inflation = inflation;
        } else if progress {
            // What was acknowledged beside the missing segment was counted by its duplicates.
            let counted = recovery.inflation.min(delivered.acknowledged.saturating_sub(mss));
            recovery.inflation = (recovery.inflation - counted).min(self.board.outstanding());
            delivered.bytes -= counted.min(delivered.bytes);
        }
    }

    /// Takes round-trip times (RFC 6298, section 3: not from what was retransmitted, unless time stamps show which copy
    /// arrived).
    fn measure(&mut self, context: &Context<'_>, segment: &Segment, delivered: &Delivered) {
        if let Some((first, last)) = delivered.sent_once
            && !delivered.retransmitted
        {
            self.rtt.measure(context.now, context.now - first, context.now - last, context.config);
            return;
        }
        let echo = context.timestamps.zip(segment.options.timestamps);
        if delivered.acknowledged > 0
            && let Some(rtt) = echo.and_then(|(clock, option)| clock.elapsed(context.now, option.echo))
        {
            self.rtt.measure_coarsely(rtt, context.config);
        }
    }

    fn note_duplicate_report(&mut self, duplicate: Option<Range>) {
        let Some(range) = duplicate else { return };
        self.counters.duplicate_reports += 1;
        if let Some(rack) = &mut self.rack {
            rack.note_duplicate(self.board.start(), self.board.end());
        }
        if let Some(undo) = &mut self.recovery.undo
            && range.start >= undo.from
        {
            undo.doubtful = undo.doubtful.saturating_sub((range.end - range.start) as u64);
        }
    }

    /// A probe that repaired a loss is a sign of congestion (RFC 8985, section 7.4.2).
    fn end_probe(&mut self, to: Position, before: Position, is_bare: bool, reports: &Reports) {
        let is_duplicate = to == before && is_bare && !reports.is_new;
        let is_repaired = self.probe.on_ack(to, is_duplicate, reports.duplicate.is_some());
        if is_repaired && self.recovery.phase == Phase::Open {
            self.recovery.undo = None;
            self.windows.threshold = self.control.threshold_after(&self.windows, self.windows.congestion, true);
            self.windows.congestion = self.windows.congestion.min(self.windows.threshold);
            self.cwr_due = true;
        }
    }

    /// Takes a reduction back if the acknowledgment answers the original of what was retransmitted (RFC 3522), or if
    /// all that was retransmitted arrived twice (RFC 3708).
    fn try_undo(&mut self, context: &Context<'_>, segment: &Segment, progress: bool, has_report: bool) {
        let Some(undo) = self.recovery.undo else { return };
        let Some(at) = undo.retransmitted_at else { return };
        let echo = context.timestamps.and(segment.options.timestamps).map(|option| option.echo);
        let by_echo =
            progress && self.recovery.is_recovering() && echo.is_some_and(|echo| timestamps::is_before(echo, at));
        if !context.config.undo || !(by_echo || has_report && undo.doubtful == 0) {
            return;
        }
        self.windows.congestion = self.windows.congestion.max(undo.window.congestion);
        self.windows.threshold = self.windows.threshold.max(undo.window.threshold);
        self.control.on_undo();
        self.board.unmark_lost();
        self.recovery.undo = None;
        self.recovery.phase = Phase::Open;
        self.recovery.inflation = 0;
        self.recovery.duplicates = 0;
        self.counters.spurious_recoveries += 1;
    }

    /// Ends a phase whose end is acknowledged.
    fn end_phase(&mut self, to: Position) {
        if self.recovery.phase == Phase::Open || to < self.recovery.until {
            return;
        }
        if self.recovery.is_reducing() {
            // Without SACK, not enough at once to cause a burst (RFC 6582, section 3.2, step 3, full
            // acknowledgment, option 1).
            let mss = self.windows.mss;
            let limit = if self.sack { u64::MAX } else { self.board.outstanding().max(mss) + mss };
            self.windows.congestion = self.windows.threshold.min(limit);
        }
        if self.recovery.is_recovering()
            && let Some(rack) = &mut self.rack
        {
            rack.on_recovered();
        }
        self.recovery.phase = Phase::Open;
        self.recovery.duplicates = 0;
        self.recovery.inflation = 0;
        self.recovery.forced = false;
    }

    /// Marks what is lost by the strongest method that the connection has. True if that was something.
    pub(super) fn detect_losses(&mut self, context: &Context<'_>, progress: bool, is_delivered: bool) -> bool {
        let mss = self.windows.mss;
        let is_recovering = self.recovery.is_recovering();
        if let Some(rack) = &self.rack {
            let (found, deadline) = rack.detect(&mut self.board, context.now, &self.rtt, is_recovering);
            self.timers.reorder = deadline.unwrap_or(Time::MAX);
            return found;
        }
        if self.sack {
            let found = is_delivered && self.board.mark_lost_by_sacks(mss, u64::from(DUPLICATES));
            let is_third = self.recovery.duplicates == DUPLICATES && !is_recovering;
            return found || is_third && self.board.lost() == 0 && self.board.mark_first_lost(mss);
        }
        let is_partial = progress && self.recovery.phase == Phase::FastRecovery && self.board.outstanding() > 0;
        if is_partial {
            // RFC 6582, section 3.2, step 3, partial acknowledgment: the next hole.
            self.recovery.forced = true;
            return self.board.mark_first_lost(mss);
        }
        let is_third = self.recovery.duplicates == DUPLICATES && self.board.start() > self.recovery.recover;
        is_third && !is_recovering && self.board.mark_first_lost(mss)
    }

    /// Begins fast recovery if something is lost and no recovery is in progress.
    pub(super) fn enter_recovery_if_lost(&mut self, flight: u64) {
        if self.board.lost() == 0 || self.recovery.is_recovering() {
            return;
        }
        self.counters.fast_recoveries += 1;
        if self.recovery.phase == Phase::Open {
            self.remember_for_undo();
            self.windows.threshold = self.control.threshold_after(&self.windows, flight, true);
            self.recovery.start_reduction(flight);
        } else {
            // The window comes down for a mark already. This would be the same sign of congestion.
            self.recovery.undo = None;
        }
        self.recovery.phase = Phase::FastRecovery;
        self.recovery.until = self.board.end();
        self.recovery.recover = self.board.end();
        self.recovery.forced = true;
        self.cwr_due = true;
        self.probe.reset();
        self.timers.probe = Time::MAX;
    }

    /// Reduces the window for an ECN mark, once per window of data (RFC 3168, section 6.1.2).
    fn reduce_for_mark(&mut self, flight: u64, to: Position) {
        // What was outstanding at the last reduction may have been marked before it had an effect.
        if self.recovery.phase != Phase::Open || to <= self.recovery.until {
            return;
        }
        self.counters.ecn_reductions += 1;
        self.windows.threshold = self.control.threshold_after(&self.windows, flight, false);
        self.recovery.start_reduction(flight);
        self.recovery.undo = None;
        self.recovery.phase = Phase::Reduction;
        self.recovery.until = self.board.end();
        self.cwr_due = true;
    }

    fn adjust_window(&mut self, context: &Context<'_>, delivered: &Delivered, progress: bool, found: bool) {
        if self.recovery.is_reducing() {
            if delivered.bytes > 0 || !context.config.prr {
                self.reduce_window(context.config, delivered.bytes, progress && !found);
            }
        } else if progress {
            let is_limited = if self.windows.is_slow_start() {
                self.windows.congestion < 2 * self.flight_max
            } else {
                self.is_limited
            };
            let rtt = self.rtt.smoothed().unwrap_or(Time::ZERO);
            let acknowledged = Acknowledged {
                now: context.now,
                bytes: delivered.bytes,
                to: self.board.start(),
                end: self.board.end(),
                rtt,
                sample: delivered.sent_once.map(|(_, last)| context.now - last),
                is_limited,
            };
            self.control.grow(&mut self.windows, acknowledged);
        }
    }

    /// Brings the window down during fast recovery and after marks. It is safe to send more if the acknowledgment
    /// advanced and showed no further loss.
    pub(super) fn reduce_window(&mut self, config: &Config, delivered: u64, is_safe: bool) {
        self.windows.congestion = if config.prr {
            let pipe = self.pipe();
            self.recovery.reduced(&self.windows, pipe, delivered, is_safe)
        } else {
            self.windows.congestion.min(self.windows.threshold)
        };
    }

    fn set_timers(&mut self, context: &Context<'_>, progress: bool) {
        if self.board.outstanding() == 0 {
            if progress {
                self.idle_since = context.now;
            }
            self.timers.retransmit = Time::MAX;
            self.timers.probe = Time::MAX;
            self.timers.reorder = Time::MAX;
            self.probe_due = false;
        } else if progress {
            self.timers.retransmit = context.now + self.rtt.timeout();
            self.schedule_probe(context);
        }
    }
}

/// When what an acknowledgment's time stamp echoes was sent at the latest.
fn echoed_until(context: &Context<'_>, segment: &Segment) -> Time {
    let echo = context.timestamps.zip(segment.options.timestamps);
    echo.and_then(|(clock, option)| clock.sent_at_latest(context.now, option.echo)).unwrap_or(Time::MAX)
}
