//! The traffic manager: what happens to packets between ingress and egress.
//!
//! What enters: packets with a port and a priority. What leaves: the packets that are due, one by one. Each port has a
//! queue per priority ([`QueueSettings`]: bounds in packets and bytes, rate, class, weight), a scheduler that chooses
//! among them (`port`), and a wire with a rate in bits per second behind it, which also carries what the medium adds to
//! each packet ([`ETHERNET_OVERHEAD_BYTES`]). All queues share a buffer ([`BufferSettings`]). A packet is refused if
//! its queue or the buffer is full, or if its queue is above the buffer's dynamic threshold.
//!
//! Packets that enter the switch again, or are copied, may have a rate and a delay of their own (`internal`).
//!
//! A packet leaves a queue without a rate, of a port without one, immediately. All such packets are in one line,
//! whatever their port and priority: the line is emptied in the same run of the core that filled it, so any other
//! order, and a length at which to drop, would only show how many packets were received together. Its bound protects
//! the memory.

mod internal;
pub mod pace;
mod port;
mod queue;
mod settings;

pub(crate) use internal::After;
pub use internal::{InternalPort, InternalPortSettings, InternalPortState};
pub use settings::{BufferSettings, DynamicThreshold, QUEUE_CAPACITY_DEFAULT, QueueSettings};

use base::OrderedMap;
use internal::InternalPorts;
use port::Port;
use queue::{Queue, Queued};
use std::collections::VecDeque;

/// Packets that any queue holds.
pub(crate) const QUEUE_CAPACITY_MAX: usize = 65_536;

/// What Ethernet carries beside a frame as packets have it: 8 bytes of preamble before it, the checksum of 4 bytes
/// behind it, and a gap of 12 bytes.
pub const ETHERNET_OVERHEAD_BYTES: u32 = 24;

/// The shortest frame on Ethernet, without its checksum: shorter ones are filled up.
const ETHERNET_FRAME_BYTES_MIN: u32 = 60;

/// What a packet takes of a wire that carries `overhead_bytes` beside it. One that carries as much as Ethernet does, or
/// more, is taken for Ethernet.
fn wire_bits(packet_bytes: u32, overhead_bytes: u32) -> u64 {
    let least = if overhead_bytes >= ETHERNET_OVERHEAD_BYTES { ETHERNET_FRAME_BYTES_MIN } else { 0 };
    8 * (u64::from(packet_bytes.max(least)) + u64::from(overhead_bytes))
}

/// The greatest port of architectures with ports of 9 bits: up to it, ports have queues from the start.
pub const PORT_MAX: u32 = 511;

/// Ports above [`PORT_MAX`] that have queues at the same time.
const FAR_PORTS_MAX: usize = 4_096;

/// A packet that leaves its queue.
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// Its port.
    pub port: u32,
    /// Its queue.
    pub priority: u32,
    /// When it entered the queue.
    pub enqueued_ns: u64,
    /// Packets left in the queue.
    pub depth_packets: usize,
    /// Whether the queue or its port has a rate, and so decided when the packet leaves.
    pub is_paced: bool,
}

/// Why a packet was not queued; the packet comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such port.
    NoPort,
    /// There is no queue for the priority.
    NoPriority,
    /// The queue or the buffer is full.
    Full,
}

/// What is counted of the packets of a queue while it or its port has a rate. Ports above [`PORT_MAX`] forget it some
/// time after their last packet.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct QueueCounts {
    /// Packets that have left it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long they had waited, all together.
    pub waited_ns: u64,
    /// The sum of the arrival times of the packets that are queued now.
    pub waiting_since_ns: u128,
    /// The most packets that waited in it.
    pub depth_packets_max: usize,
    /// The most bytes that waited in it.
    pub depth_bytes_max: u64,
}

impl QueueState {
    /// The mean number of packets that waited in it from 0 to `now_ns`, while it had a rate: what all of them have
    /// waited until now, divided by the time (Little).
    pub fn depth_mean(&self, now_ns: u64) -> f64 {
        let QueueCounts { waited_ns, waiting_since_ns, .. } = self.counts;
        let of_queued = (self.depth_packets as u128 * u128::from(now_ns)).saturating_sub(waiting_since_ns);
        (u128::from(waited_ns) + of_queued) as f64 / now_ns.max(1) as f64
    }
}

/// A queue as it is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueState {
    /// Its port.
    pub port: u32,
    /// Its priority.
    pub priority: u32,
    /// Packets in it.
    pub depth_packets: usize,
    /// Bytes of packets that a rate holds back in it.
    pub depth_bytes: u64,
    /// How many packets it holds while it or its port has a rate.
    pub capacity_packets: usize,
    /// Whether it or its port has a rate.
    pub is_paced: bool,
    /// Packets that it refused because it was full. Ports above [`PORT_MAX`] forget this some time after their last
    /// packet.
    pub refused_packets: u64,
    /// What was counted of its packets.
    pub counts: QueueCounts,
}

/// A packet that may leave immediately.
struct Ready<P> {
    packet: P,
    port: u32,
    priority: u32,
    enqueued_ns: u64,
}

/// All queues of a switch.
pub struct TrafficManager<P> {
    /// The ports up to [`PORT_MAX`], as far as they were used.
    near: Vec<Port<P>>,
    /// Greater ports that have packets or a setting of their own.
    far: OrderedMap<u32, Port<P>>,
    port_max: u32,
    /// What the queues of a port start with, by priority.
    settings: Vec<QueueSettings>,
    /// The line of packets that may leave immediately, in the order of their arrival.
    ready: VecDeque<Ready<P>>,
    /// Ports with packets that a rate holds back, in round-robin order.
    active: VecDeque<u32>,
    /// When the first of those packets is due, or earlier.
    next_due_ns: u64,
    buffer: BufferSettings,
    /// Bytes of packets that rates hold back.
    buffered_bytes: u64,
    /// The internal ports, once one is set up.
    internal: Option<Box<InternalPorts<P>>>,
    has_rates: bool,
    /// Whether depths count the packets of a queue that are in the line.
    shows_line: bool,
    bytes_of: fn(&P) -> u32,
}

impl<P> TrafficManager<P> {
    /// Queues for `priorities` priorities (at least one) per port, for ports up to `port_max`. `bytes_of` is what a
    /// packet takes of the buffer.
    pub fn new(priorities: usize, port_max: u32, bytes_of: fn(&P) -> u32) -> TrafficManager<P> {
        TrafficManager {
            near: Vec::new(),
            far: OrderedMap::new(),
            port_max,
            settings: (0..priorities.max(1) as u32).map(QueueSettings::of_priority).collect(),
            ready: VecDeque::new(),
            active: VecDeque::new(),
            next_due_ns: u64::MAX,
            buffer: BufferSettings::default(),
            buffered_bytes: 0,
            internal: None,
            has_rates: false,
            shows_line: true,
            bytes_of,
        }
    }

    /// Queues whose depths are not read while packets are in the line: those need not be counted then.
    pub fn without_depths_of_line(self) -> TrafficManager<P> {
        TrafficManager { shows_line: false, ..self }
    }

    /// Packets in all queues, and on internal ports.
    pub fn queued(&self) -> usize {
        let internal = self.internal.as_ref().map_or(0, |internal| internal.packets());
        self.ready.len() + self.all_ports().map(|(_, port)| port.queued).sum::<usize>() + internal
    }

    /// The packets in all queues, and on internal ports.
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        let of_ports = self.all_ports().filter(|(_, port)| port.queued > 0);
        let held = of_ports.flat_map(|(_, port)| port.queues.iter().flat_map(Queue::packets));
        let internal = self.internal.iter().flat_map(|internal| internal.all());
        self.ready.iter().map(|ready| &ready.packet).chain(held).chain(internal)
    }

    /// Bytes of packets that rates hold back.
    pub fn buffered_bytes(&self) -> u64 {
        self.buffered_bytes
    }

    /// The queues that were set up, or that have or refused packets.
    pub fn queues(&self) -> impl Iterator<Item = QueueState> {
        self.all_ports().flat_map(|(number, port)| {
            let is_worth_telling = |queue: &&Queue<P>| port.is_configured || queue.depth > 0 || queue.refused > 0;
            let state = move |(priority, queue): (u32, &Queue<P>)| QueueState {
                port: number,
                priority,
                depth_packets: queue.depth,
                depth_bytes: queue.bytes(),
                capacity_packets: queue.settings().capacity_packets,
                is_paced: queue.is_paced() || port.wire.is_limited(),
                refused_packets: queue.refused,
                counts: queue.counts,
            };
            (0..).zip(&port.queues).filter(move |(_, queue)| is_worth_telling(queue)).map(state)
        })
    }

    /// The highest priority that has a queue.
    pub fn priority_max(&self) -> u32 {
        self.settings.len() as u32 - 1
    }

    /// Packets in one queue.
    pub fn depth(&self, port: u32, priority: u32) -> usize {
        let queue = self.port(port).and_then(|port| port.queues.get(priority as usize));
        queue.map_or(0, |queue| queue.depth)
    }

    /// Changes the settings of the queues of a port, or of all ports, those to come included; of one priority or all.
    pub fn set_queues(
        &mut self,
        port: Option<u32>,
        priority: Option<u32>,
        change: impl Fn(&mut QueueSettings),
    ) -> Result<(), Refusal> {
        let priorities = match priority {
            None => 0..self.settings.len(),
            Some(priority) if (priority as usize) < self.settings.len() => priority as usize..priority as usize + 1,
            Some(_) => return Err(Refusal::NoPriority),
        };
        let changed = |mut settings: QueueSettings| {
            change(&mut settings);
            settings.bounded()
        };
        let change_port = |port: &mut Port<P>| {
            port.queues[priorities.clone()].iter_mut().for_each(|it| it.set(changed(it.settings())))
        };
        match port {
            None => {
                self.near.iter_mut().chain(self.far.values_mut()).for_each(change_port);
                self.settings[priorities.clone()].iter_mut().for_each(|it| *it = changed(*it));
            }
            Some(port) => change_port(self.configure(port)?),
        }
        self.note_change();
        Ok(())
    }

    /// Sets what the wire behind a port carries, in bits per second, 0 for no limit, and how many bytes beside each
    /// packet: on one that carries as many as Ethernet ([`ETHERNET_OVERHEAD_BYTES`]), packets have at least 60.
    pub fn set_port_rate(&mut self, port: u32, bits_per_s: u64, overhead_bytes: u32) -> Result<(), Refusal> {
        let slot = self.configure(port)?;
        slot.wire.set(bits_per_s);
        slot.overhead_bytes = overhead_bytes;
        self.note_change();
        Ok(())
    }

    /// Sets what all queues share.
    pub fn set_buffer(&mut self, buffer: BufferSettings) {
        self.buffer = buffer;
    }

    /// Sets queues, ports and buffer up as those of another core are, as far as these ports and priorities exist.
    pub fn adopt_settings<Q>(&mut self, other: &TrafficManager<Q>) {
        self.buffer = other.buffer;
        for (settings, adopted) in self.settings.iter_mut().zip(&other.settings) {
            *settings = *adopted;
        }
        for (number, port) in other.all_ports().filter(|(_, port)| port.is_configured) {
            if let Ok(slot) = self.configure(number) {
                slot.queues.iter_mut().zip(&port.queues).for_each(|(queue, adopted)| queue.set(adopted.settings()));
                slot.wire.set(port.wire.per_s());
                slot.overhead_bytes = port.overhead_bytes;
            }
        }
        for (port, settings) in other.internal.iter().flat_map(|internal| internal.settings()) {
            self.set_internal_port(port, settings);
        }
        self.note_change();
    }

    /// Other settings may make packets due earlier.
    fn note_change(&mut self) {
        self.has_rates =
            self.all_ports().any(|(_, port)| port.has_rate()) || self.settings.iter().any(QueueSettings::is_paced);
        self.next_due_ns = self.earliest_ns();
    }

    /// Whether any queue or port has a rate.
    pub fn has_rates(&self) -> bool {
        self.has_rates
    }

    /// Whether a packet may skip this queue: all queues are empty, no queue or port has a rate, and the program
    /// does not read queue depths.
    #[inline]
    pub fn may_skip_queue(&self, port: u32, priority: u32) -> bool {
        let is_free = !self.shows_line && !self.has_rates && self.is_idle();
        is_free && port <= PORT_MAX && (priority as usize) < self.settings.len()
    }

    /// Whether all queues are empty.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.active.is_empty() && self.ready.is_empty()
    }

    /// Queues a packet.
    pub fn enqueue(&mut self, packet: P, port: u32, priority: u32, now_ns: u64) -> Result<(), (P, Refusal)> {
        if port > self.port_max || (port > PORT_MAX && !self.makes_space(port, now_ns)) {
            return Err((packet, Refusal::NoPort));
        }
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        let Some(queue) = slot.queues.get_mut(priority as usize) else {
            return Err((packet, Refusal::NoPriority));
        };
        if !queue.is_paced() && !slot.wire.is_limited() && queue.is_empty() {
            if self.ready.len() >= QUEUE_CAPACITY_MAX {
                queue.refused += 1;
                return Err((packet, Refusal::Full));
            }
            self.ready.push_back(Ready { packet, port, priority, enqueued_ns: now_ns });
            queue.depth += usize::from(self.shows_line);
            return Ok(());
        }
        let bytes = (self.bytes_of)(&packet);
        if let Some(internal) = &mut self.internal {
            self.buffered_bytes -= internal.start(now_ns);
        }
        if !queue.fits(bytes) || !admits(self.buffer, self.buffered_bytes, queue.bytes(), bytes) {
            queue.refused += 1;
            return Err((packet, Refusal::Full));
        }
        self.buffered_bytes += u64::from(bytes);
        if slot.queued == 0 {
            self.active.push_back(port);
        }
        slot.push(priority as usize, Queued { packet, bytes, enqueued_ns: now_ns });
        self.next_due_ns = self.next_due_ns.min(slot.next_departure_ns().unwrap_or(u64::MAX));
        Ok(())
    }

    /// Hands over packets that are due, at most `packets_max`, and returns how many: first the line, then the ports
    /// with rates, which take turns. Of a port with a rate the next one follows after
    /// [`TrafficManager::finish_departure`].
    pub fn dequeue(&mut self, now_ns: u64, packets_max: usize, mut take: impl FnMut(Departure<P>)) -> usize {
        let mut taken = 0;
        while taken < packets_max
            && let Some(Ready { packet, port, priority, enqueued_ns }) = self.ready.pop_front()
        {
            let depth_packets = self.leaves_line(port, priority, now_ns);
            take(Departure { packet, port, priority, enqueued_ns, depth_packets, is_paced: false });
            taken += 1;
        }
        if self.next_due_ns > now_ns {
            return taken;
        }
        for _ in 0..self.active.len() {
            if taken == packets_max {
                return taken;
            }
            taken += self.dequeue_from_next_port(now_ns, packets_max - taken, &mut take);
        }
        self.next_due_ns = self.earliest_ns();
        taken
    }

    /// The same for the port whose turn it is, which gets its next turn after all others.
    fn dequeue_from_next_port(
        &mut self,
        now_ns: u64,
        packets_max: usize,
        take: &mut impl FnMut(Departure<P>),
    ) -> usize {
        let Some(port) = self.active.pop_front() else { return 0 };
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        let mut taken = 0;
        while taken < packets_max
            && let Some(departure) = slot.pop_due(port, now_ns)
        {
            self.buffered_bytes -= u64::from((self.bytes_of)(&departure.packet));
            take(departure);
            taken += 1;
        }
        if slot.queued > 0 {
            self.active.push_back(port);
        }
        taken
    }

    /// The wire behind a port carries a packet of `bytes` bytes. Before it leaves the switch, a packet may grow and
    /// shrink, or be dropped: what left the queue is not what the wire carries.
    #[inline]
    pub fn sent(&mut self, port: u32, bytes: u32) {
        if self.has_rates
            && let Some(slot) = self.used_port_mut(port)
        {
            slot.sent(bytes);
        }
    }

    /// The packet that a port has handed over last is done: the next one may leave.
    pub fn finish_departure(&mut self, port: u32) {
        if let Some(slot) = self.used_port_mut(port) {
            slot.finish_departure();
            let next_due_ns = slot.next_departure_ns();
            self.next_due_ns = next_due_ns.unwrap_or(u64::MAX).min(self.next_due_ns);
        }
    }

    fn used_port_mut(&mut self, port: u32) -> Option<&mut Port<P>> {
        if port > PORT_MAX { self.far.get_mut(&port) } else { self.near.get_mut(port as usize) }
    }

    /// Counts a packet of the line out of its queue. Returns how many are left there, if depths count them.
    #[inline]
    fn leaves_line(&mut self, port: u32, priority: u32, now_ns: u64) -> usize {
        if !self.shows_line && port <= PORT_MAX {
            return 0;
        }
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        let queue = &mut slot.queues[priority as usize];
        queue.depth -= usize::from(self.shows_line);
        let depth_packets = queue.depth;
        if port > PORT_MAX && slot.is_fresh(now_ns) {
            self.far.remove(&port);
        }
        depth_packets
    }

    /// When the next queued packet is due, if there is any.
    pub fn next_departure_ns(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(0);
        }
        let of_ports = (!self.active.is_empty()).then_some(self.next_due_ns);
        let arrival_ns = self.internal.as_ref().and_then(|internal| internal.next_arrival_ns());
        of_ports.into_iter().chain(arrival_ns).min()
    }

    /// When the first packet that a rate holds back is due.
    fn earliest_ns(&self) -> u64 {
        let ports = self.active.iter().filter_map(|&port| self.port(port));
        ports.filter_map(Port::next_departure_ns).min().unwrap_or(u64::MAX)
    }

    /// Sets an internal port up: packets take time on it from now on. Those in transit arrive as they would have.
    pub fn set_internal_port(&mut self, port: InternalPort, settings: InternalPortSettings) {
        self.internal.get_or_insert_default().set(port, settings);
    }

    /// What the internal ports that are set up have done.
    pub fn internal_ports(&self) -> impl Iterator<Item = (InternalPort, InternalPortState)> {
        self.internal.iter().flat_map(|internal| internal.states())
    }

    /// Whether an internal port is set up: if not, packets take no time on it and do not enter it.
    pub fn has_internal_port(&self, port: InternalPort) -> bool {
        self.internal.as_ref().is_some_and(|internal| internal.has(port))
    }

    /// Whether any is set up.
    pub fn has_internal_ports(&self) -> bool {
        self.internal.is_some()
    }

    /// When a packet of `bytes` bytes that enters an internal port now arrives: now if the port is not set up.
    /// None, and counted, if its queue or the buffer is full.
    pub fn internal_arrival_ns(&mut self, port: InternalPort, bytes: u32, now_ns: u64) -> Option<u64> {
        let Some(internal) = &mut self.internal else { return Some(now_ns) };
        self.buffered_bytes -= internal.start(now_ns);
        let (queued_bytes, has_space) = internal.has_space(port, bytes, now_ns);
        if !has_space || (internal.has(port) && !admits(self.buffer, self.buffered_bytes, queued_bytes, bytes)) {
            internal.refuse(port);
            return None;
        }
        Some(internal.arrives_ns(port, bytes, now_ns))
    }

    /// Takes a packet to an internal port that is set up and whose queue is not full.
    pub(crate) fn enter_internal(&mut self, port: InternalPort, packet: P, after: After, now_ns: u64) {
        let bytes = (self.bytes_of)(&packet);
        if let Some(internal) = &mut self.internal {
            internal.enter(port, packet, after, bytes, now_ns);
            self.buffered_bytes += u64::from(bytes);
            self.buffered_bytes -= internal.start(now_ns);
        }
    }

    /// The next packet that has arrived from an internal port, where it goes, and when it arrived.
    pub(crate) fn take_arrived(&mut self, now_ns: u64) -> Option<(P, After, u64)> {
        let internal = self.internal.as_mut()?;
        self.buffered_bytes -= internal.start(now_ns);
        internal.take(now_ns)
    }

    fn port(&self, port: u32) -> Option<&Port<P>> {
        if port > PORT_MAX { self.far.get(&port) } else { self.near.get(port as usize) }
    }

    fn all_ports(&self) -> impl Iterator<Item = (u32, &Port<P>)> {
        let far = self.far.iter().map(|(&number, port)| (number, port));
        (0..).zip(&self.near).chain(far)
    }

    /// Whether a port above [`PORT_MAX`] may have queues. Ports whose last packet has gone, and which would be the same
    /// if they were made anew, are removed for it.
    fn makes_space(&mut self, port: u32, now_ns: u64) -> bool {
        if self.far.len() >= FAR_PORTS_MAX && !self.far.contains_key(&port) {
            self.far.retain(|_, port| !port.is_fresh(now_ns));
        }
        self.far.len() < FAR_PORTS_MAX || self.far.contains_key(&port)
    }

    /// A port that a command sets up.
    fn configure(&mut self, port: u32) -> Result<&mut Port<P>, Refusal> {
        if port > self.port_max || (port > PORT_MAX && !self.makes_space(port, 0)) {
            return Err(Refusal::NoPort);
        }
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        slot.is_configured = true;
        Ok(slot)
    }
}

/// Whether a buffer with `buffered_bytes` in it takes a packet for a queue that has `queue_bytes` of them.
fn admits(buffer: BufferSettings, buffered_bytes: u64, queue_bytes: u64, packet_bytes: u32) -> bool {
    let free_bytes = buffer.bytes.saturating_sub(buffered_bytes);
    let is_below = |threshold: DynamicThreshold| queue_bytes < threshold.of(free_bytes);
    u64::from(packet_bytes) <= free_bytes && buffer.threshold.is_none_or(is_below)
}

/// A port, made if it was not used yet.
#[inline]
fn port_mut<'a, P>(
    near: &'a mut Vec<Port<P>>,
    far: &'a mut OrderedMap<u32, Port<P>>,
    port: u32,
    settings: &[QueueSettings],
) -> &'a mut Port<P> {
    let index = port as usize;
    if index < near.len() {
        return &mut near[index];
    }
    further_port_mut(near, far, port, settings)
}

/// The same for one that is far, or not there yet. It is apart so that the other is small.
#[inline(never)]
fn further_port_mut<'a, P>(
    near: &'a mut Vec<Port<P>>,
    far: &'a mut OrderedMap<u32, Port<P>>,
    port: u32,
    settings: &[QueueSettings],
) -> &'a mut Port<P> {
    if port > PORT_MAX {
        return far.entry(port).or_insert_with(|| Port::new(settings));
    }
    let index = port as usize;
    near.resize_with(near.len().max(index + 1), || Port::new(settings));
    &mut near[index]
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod internal_tests;
