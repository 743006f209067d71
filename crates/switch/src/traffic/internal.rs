//! Internal ports: the paths of packets back into the switch, with a rate and a delay.
//!
//! What enters: packets that are resubmitted, recirculated, cloned or replicated. What leaves: the same packets, when
//! they have arrived. A port that is not set up takes no time, and no packet comes here. The queue before a port is a
//! FIFO with a known rate: when a packet enters it, the time of its arrival is known, and nothing has to be scheduled.

use super::pace::Pace;
use super::{QUEUE_CAPACITY_MAX, wire_bits};
use crate::replication::Replica;
use std::collections::VecDeque;

/// A path of packets inside the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum InternalPort {
    /// Back to ingress as they were received.
    Resubmission,
    /// Back to ingress as they would be sent.
    Recirculation,
    /// Clones: to the queues of their session's ports, or to ingress.
    Mirror,
    /// Replicas of a multicast group: to the queues of their ports.
    Replication,
}

impl InternalPort {
    /// All of them, in the order in which packets that arrive at the same time are worked on.
    pub const ALL: [InternalPort; 4] =
        [InternalPort::Resubmission, InternalPort::Recirculation, InternalPort::Mirror, InternalPort::Replication];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            InternalPort::Resubmission => "resubmission",
            InternalPort::Recirculation => "recirculation",
            InternalPort::Mirror => "mirror",
            InternalPort::Replication => "replication",
        }
    }
}

/// How an internal port is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InternalPortSettings {
    /// Bits that it carries in a second; 0 for no limit.
    pub bits_per_s: u64,
    /// What it carries beside each packet, as for other ports.
    pub overhead_bytes: u32,
    /// Packets that it carries in a second; 0 for no limit.
    pub packets_per_s: u64,
    /// From the last bit of a packet on the port to its arrival.
    pub delay_ns: u64,
    /// The most packets that its queue holds.
    pub capacity_packets: usize,
    /// The most bytes that its queue holds.
    pub capacity_bytes: u64,
}

impl Default for InternalPortSettings {
    fn default() -> Self {
        InternalPortSettings {
            bits_per_s: 0,
            overhead_bytes: 0,
            packets_per_s: 0,
            delay_ns: 0,
            capacity_packets: QUEUE_CAPACITY_MAX,
            capacity_bytes: u64::MAX,
        }
    }
}

/// What an internal port has done.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct InternalPortState {
    /// Packets that it took.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that came while its queue was full.
    pub refused_packets: u64,
    /// The most packets that waited for it.
    pub depth_packets_max: usize,
}

/// Where a packet goes from an internal port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// Through ingress.
    Ingress,
    /// To the ports of a clone session.
    Session(u32),
    /// To the queue of this replica.
    Replica(Replica),
}

/// A packet in the queue of the port or in transit behind it.
struct Passing<P> {
    packet: P,
    after: After,
    bytes: u32,
    starts_ns: u64,
    arrives_ns: u64,
}

/// One internal port with its packets.
struct Line<P> {
    settings: InternalPortSettings,
    packets: VecDeque<Passing<P>>,
    /// How many of them, from the first on, have left the queue.
    started: usize,
    queued_bytes: u64,
    wire: Pace,
    pace: Pace,
    state: InternalPortState,
}

impl<P> Line<P> {
    fn new(settings: InternalPortSettings) -> Line<P> {
        Line {
            settings,
            packets: VecDeque::new(),
            started: 0,
            queued_bytes: 0,
            wire: Pace::new(settings.bits_per_s),
            pace: Pace::new(settings.packets_per_s),
            state: InternalPortState::default(),
        }
    }

    fn set(&mut self, settings: InternalPortSettings) {
        self.wire.set(settings.bits_per_s);
        self.pace.set(settings.packets_per_s);
        self.settings = settings;
    }

    /// Takes packets that are due out of the queue; returns their bytes.
    fn start(&mut self, now_ns: u64) -> u64 {
        let mut bytes = 0;
        while let Some(next) = self.packets.get(self.started).filter(|next| next.starts_ns <= now_ns) {
            bytes += u64::from(next.bytes);
            self.started += 1;
        }
        self.queued_bytes -= bytes;
        bytes
    }

    /// When a packet would leave the queue that enters it now. The paces keep what it lacks of a nanosecond.
    fn starts_ns(&self, now_ns: u64) -> u64 {
        now_ns.max(self.wire.gone_ns()).max(self.pace.gone_ns())
    }

    fn has_space(&self, bytes: u32, now_ns: u64) -> bool {
        let queued = self.packets.len() - self.started;
        let fits = queued < self.settings.capacity_packets
            && self.queued_bytes + u64::from(bytes) <= self.settings.capacity_bytes;
        (fits || self.starts_ns(now_ns) <= now_ns) && self.packets.len() < QUEUE_CAPACITY_MAX
    }

    /// When a packet that enters now arrives.
    fn arrives_ns(&self, bytes: u32, now_ns: u64) -> u64 {
        let mut wire = self.wire;
        wire.begin_at(self.starts_ns(now_ns));
        wire.take(wire_bits(bytes, self.settings.overhead_bytes));
        let gone_ns = if wire.is_limited() { wire.due_ns() } else { self.starts_ns(now_ns) };
        let arrives_ns = gone_ns.saturating_add(self.settings.delay_ns);
        // Even with a shorter delay no packet overtakes those before it.
        self.packets.back().map_or(arrives_ns, |last| arrives_ns.max(last.arrives_ns))
    }

    fn enter(&mut self, packet: P, after: After, bytes: u32, now_ns: u64) {
        let (starts_ns, arrives_ns) = (self.starts_ns(now_ns), self.arrives_ns(bytes, now_ns));
        self.wire.begin_at(starts_ns);
        self.wire.take(wire_bits(bytes, self.settings.overhead_bytes));
        self.pace.begin_at(starts_ns);
        self.pace.take(1);
        self.packets.push_back(Passing { packet, after, bytes, starts_ns, arrives_ns });
        self.queued_bytes += u64::from(bytes);
        self.state.packets += 1;
        self.state.bytes += u64::from(bytes);
        let depth = self.packets.len() - self.started - usize::from(starts_ns <= now_ns);
        self.state.depth_packets_max = self.state.depth_packets_max.max(depth);
    }

    fn take(&mut self) -> Option<Passing<P>> {
        let passing = self.packets.pop_front()?;
        // What has arrived has left the queue.
        self.started -= 1;
        Some(passing)
    }
}

/// All internal ports of a switch.
pub(super) struct InternalPorts<P> {
    lines: [Option<Line<P>>; InternalPort::ALL.len()],
}

impl<P> Default for InternalPorts<P> {
    fn default() -> Self {
        InternalPorts { lines: [const { None }; InternalPort::ALL.len()] }
    }
}

impl<P> InternalPorts<P> {
    /// Sets a port up. Packets in transit arrive as they would have.
    pub fn set(&mut self, port: InternalPort, settings: InternalPortSettings) {
        match &mut self.lines[port as usize] {
            Some(line) => line.set(settings),
            line => *line = Some(Line::new(settings)),
        }
    }

    /// The ports that are set up.
    pub fn settings(&self) -> impl Iterator<Item = (InternalPort, InternalPortSettings)> {
        let set = |port: &InternalPort| self.lines[*port as usize].as_ref().map(|line| (*port, line.settings));
        InternalPort::ALL.iter().filter_map(set)
    }

    /// What each of these has done.
    pub fn states(&self) -> impl Iterator<Item = (InternalPort, InternalPortState)> {
        let state = |port: &InternalPort| self.lines[*port as usize].as_ref().map(|line| (*port, line.state));
        InternalPort::ALL.iter().filter_map(state)
    }

    /// Whether a port is set up.
    pub fn has(&self, port: InternalPort) -> bool {
        self.lines[port as usize].is_some()
    }

    /// The packets in queues or in transit.
    pub fn all(&self) -> impl Iterator<Item = &P> {
        self.lines.iter().flatten().flat_map(|line| line.packets.iter().map(|passing| &passing.packet))
    }

    /// How many these are.
    pub fn packets(&self) -> usize {
        self.lines.iter().flatten().map(|line| line.packets.len()).sum()
    }

    /// Takes packets that are due out of the queues; returns their bytes.
    pub fn start(&mut self, now_ns: u64) -> u64 {
        self.lines.iter_mut().flatten().map(|line| line.start(now_ns)).sum()
    }

    /// Bytes in the queue of a port, and whether `bytes` more fit.
    pub fn has_space(&self, port: InternalPort, bytes: u32, now_ns: u64) -> (u64, bool) {
        let line = self.lines[port as usize].as_ref();
        line.map_or((0, true), |line| (line.queued_bytes, line.has_space(bytes, now_ns)))
    }

    /// Counts a packet that was refused.
    pub fn refuse(&mut self, port: InternalPort) {
        if let Some(line) = &mut self.lines[port as usize] {
            line.state.refused_packets += 1;
        }
    }

    /// When a packet of `bytes` bytes that enters a port now arrives.
    pub fn arrives_ns(&self, port: InternalPort, bytes: u32, now_ns: u64) -> u64 {
        self.lines[port as usize].as_ref().map_or(now_ns, |line| line.arrives_ns(bytes, now_ns))
    }

    /// Takes a packet in; the port is set up.
    pub fn enter(&mut self, port: InternalPort, packet: P, after: After, bytes: u32, now_ns: u64) {
        self.lines[port as usize].as_mut().expect("a port that is set up").enter(packet, after, bytes, now_ns);
    }

    /// When the next packet arrives.
    pub fn next_arrival_ns(&self) -> Option<u64> {
        let first = |line: &Line<P>| line.packets.front().map(|first| first.arrives_ns);
        self.lines.iter().flatten().filter_map(first).min()
    }

    /// The next packet that has arrived, where it goes, and when it arrived.
    pub fn take(&mut self, now_ns: u64) -> Option<(P, After, u64)> {
        let next_ns = self.next_arrival_ns().filter(|next_ns| *next_ns <= now_ns)?;
        let is_next = |line: &&mut Line<P>| line.packets.front().is_some_and(|first| first.arrives_ns == next_ns);
        let passing = self.lines.iter_mut().flatten().find(is_next)?.take()?;
        Some((passing.packet, passing.after, passing.arrives_ns))
    }
}
