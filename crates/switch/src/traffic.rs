//! The traffic manager: queues per egress port and priority.
//!
//! What enters: packets with a port and a priority. What leaves: the packets that are due. A queue with a rate spaces
//! its departures evenly by `1 / rate` and holds at most its capacity; of a port's queues the highest priority goes
//! first, and within a queue packets keep their order. A port with a rate, in bits per second, is a slow wire behind
//! them: a packet goes when the one before it has passed, with what the wire carries beside it
//! ([`ETHERNET_OVERHEAD_BYTES`]).
//!
//! A queue without a rate, of a port without one, lets a packet go at once. All such packets wait in one line, whatever
//! their port and priority: the line is emptied in the same run of the core that filled it, so any other order, and a
//! length at which to drop, would only show how many packets were received together. Its bound protects the memory.

use crate::pace::Pace;
use std::collections::{BTreeMap, VecDeque};

/// Packets that a queue with a rate holds unless told otherwise.
pub const QUEUE_CAPACITY_DEFAULT: usize = 64;

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
    /// The queue is full.
    Full,
}

/// A queue as it is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueState {
    /// Its port.
    pub port: u32,
    /// Its priority.
    pub priority: u32,
    /// Packets that wait in it.
    pub depth_packets: usize,
    /// How many it holds while it or its port has a rate.
    pub capacity_packets: usize,
    /// Whether it or its port has a rate.
    pub is_paced: bool,
    /// Packets that it refused because it was full. Ports above [`PORT_MAX`] forget this some time after their last
    /// packet.
    pub refused_packets: u64,
}

struct Queue<P> {
    /// Packets that wait for the queue's rate, with the time at which they came.
    packets: VecDeque<(P, u64)>,
    /// Packets of this queue, here or in the line.
    depth: usize,
    capacity: usize,
    /// In packets.
    pace: Pace,
    /// Packets that came while it was full.
    refused: u64,
}

impl<P> Queue<P> {
    fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns().is_some_and(|due_ns| due_ns <= now_ns)
    }

    /// When the queue's rate lets its first packet go, if it has one.
    fn due_ns(&self) -> Option<u64> {
        (!self.packets.is_empty()).then_some(self.pace.due_ns())
    }
}

/// How the queues of a priority are set up.
#[derive(Clone, Copy)]
struct QueueSetting {
    capacity: usize,
    packets_per_s: u64,
}

struct Port<P> {
    queues: Vec<Queue<P>>,
    /// Packets in the port's queues, without those in the line.
    waiting: usize,
    /// What the wire behind the port carries, in bits.
    wire: Pace,
    /// What it carries beside each packet.
    overhead_bytes: u32,
    /// Whether a command has set up a queue of this port, so that it must not be forgotten.
    is_configured: bool,
}

impl<P> Port<P> {
    fn new(settings: &[QueueSetting]) -> Port<P> {
        let queue = |setting: &QueueSetting| Queue {
            packets: VecDeque::new(),
            depth: 0,
            capacity: setting.capacity,
            pace: Pace::new(setting.packets_per_s),
            refused: 0,
        };
        Port {
            queues: settings.iter().map(queue).collect(),
            waiting: 0,
            wire: Pace::default(),
            overhead_bytes: ETHERNET_OVERHEAD_BYTES,
            is_configured: false,
        }
    }

    /// Whether a port made anew would be the same.
    fn is_fresh(&self, now_ns: u64) -> bool {
        !self.is_configured && self.queues.iter().all(|queue| queue.depth == 0 && queue.pace.is_due(now_ns))
    }
}

impl<P> Port<P> {
    /// The first packet of the highest priority that has one due.
    fn pop_due(&mut self, number: u32, now_ns: u64, bytes_of: fn(&P) -> u32) -> Option<Departure<P>> {
        if !self.wire.is_due(now_ns) {
            return None;
        }
        let priority = self.queues.iter().rposition(|queue| queue.is_due(now_ns))?;
        let queue = &mut self.queues[priority];
        let (packet, enqueued_ns) = queue.packets.pop_front()?;
        // From when the wire was free, not from now: who is called a little late still fills the wire.
        self.wire.take(wire_bits(bytes_of(&packet), self.overhead_bytes));
        let is_paced = queue.pace.is_limited() || self.wire.is_limited();
        queue.pace.begin_at(now_ns);
        queue.pace.take(1);
        queue.depth -= 1;
        self.waiting -= 1;
        let depth_packets = queue.depth;
        Some(Departure { packet, port: number, priority: priority as u32, enqueued_ns, depth_packets, is_paced })
    }

    /// When the first of the waiting packets is due.
    fn next_departure_ns(&self) -> Option<u64> {
        let first_ns = self.queues.iter().filter_map(Queue::due_ns).min()?;
        Some(first_ns.max(self.wire.due_ns()))
    }
}

/// A packet that may go at once.
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
    far: BTreeMap<u32, Port<P>>,
    port_max: u32,
    /// What the queues of a port start with, by priority.
    settings: Vec<QueueSetting>,
    /// The line of packets that may go at once, in the order of their arrival.
    ready: VecDeque<Ready<P>>,
    /// Ports with packets that wait for a rate, in the order of their turns.
    active: VecDeque<u32>,
    has_rates: bool,
    /// Whether anybody looks at how many packets of a queue are in the line.
    shows_line: bool,
    bytes_of: fn(&P) -> u32,
}

impl<P> TrafficManager<P> {
    /// Queues for `priorities` priorities (at least one) per port, for ports up to `port_max`. `bytes_of` is what a
    /// packet weighs on a wire.
    pub fn new(priorities: usize, port_max: u32, bytes_of: fn(&P) -> u32) -> TrafficManager<P> {
        let setting = QueueSetting { capacity: QUEUE_CAPACITY_DEFAULT, packets_per_s: 0 };
        TrafficManager {
            near: Vec::new(),
            far: BTreeMap::new(),
            port_max,
            settings: vec![setting; priorities.max(1)],
            ready: VecDeque::new(),
            active: VecDeque::new(),
            has_rates: false,
            shows_line: true,
            bytes_of,
        }
    }

    /// Queues whose depths nobody asks for while packets are in the line: those need not be counted then.
    pub fn without_depths_of_line(self) -> TrafficManager<P> {
        TrafficManager { shows_line: false, ..self }
    }

    /// Packets in all queues.
    pub fn queued(&self) -> usize {
        self.ready.len() + self.all_ports().map(|port| port.waiting).sum::<usize>()
    }

    /// The queues that were set up, or that have or refused packets.
    pub fn queues(&self) -> impl Iterator<Item = QueueState> {
        let far = self.far.iter().map(|(&number, port)| (number, port));
        let ports = (0..).zip(&self.near).chain(far);
        ports.flat_map(|(number, port)| {
            let is_worth_telling = |queue: &&Queue<P>| port.is_configured || queue.depth > 0 || queue.refused > 0;
            let state = move |(priority, queue): (u32, &Queue<P>)| QueueState {
                port: number,
                priority,
                depth_packets: queue.depth,
                capacity_packets: queue.capacity,
                is_paced: queue.pace.is_limited() || port.wire.is_limited(),
                refused_packets: queue.refused,
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

    /// Sets how many packets the queues of a port, or of all ports, hold while they have a rate; of all priorities or
    /// of one.
    pub fn set_capacity(&mut self, port: Option<u32>, priority: Option<u32>, packets: usize) -> Result<(), Refusal> {
        self.each_queue(port, priority, |setting| setting.capacity = packets.min(QUEUE_CAPACITY_MAX))
    }

    /// Sets the rate of the queues of a port, or of all ports, in packets per second; 0 for no limit.
    pub fn set_rate(
        &mut self,
        port: Option<u32>,
        priority: Option<u32>,
        packets_per_second: u64,
    ) -> Result<(), Refusal> {
        self.each_queue(port, priority, |setting| setting.packets_per_s = packets_per_second)?;
        self.note_rates();
        Ok(())
    }

    /// Sets the queues up as those of another core are, as far as these ports and priorities exist.
    pub fn adopt_settings<Q>(&mut self, other: &TrafficManager<Q>) {
        for (setting, adopted) in self.settings.iter_mut().zip(&other.settings) {
            *setting = *adopted;
        }
        let far = other.far.iter().map(|(&number, port)| (number, port));
        for (number, port) in (0..).zip(&other.near).chain(far).filter(|(_, port)| port.is_configured) {
            if number > self.port_max || (number > PORT_MAX && !self.makes_room(number, 0)) {
                continue;
            }
            let slot = port_mut(&mut self.near, &mut self.far, number, &self.settings);
            slot.is_configured = true;
            for (queue, adopted) in slot.queues.iter_mut().zip(&port.queues) {
                queue.capacity = adopted.capacity;
                queue.pace.set(adopted.pace.per_s());
            }
            slot.wire.set(port.wire.per_s());
            slot.overhead_bytes = port.overhead_bytes;
        }
        self.note_rates();
    }

    /// Sets what the wire behind a port carries, in bits per second, 0 for no limit, and how many bytes beside each
    /// packet: on one that carries as many as Ethernet ([`ETHERNET_OVERHEAD_BYTES`]), packets have at least 60.
    pub fn set_port_rate(&mut self, port: u32, bits_per_s: u64, overhead_bytes: u32) -> Result<(), Refusal> {
        let slot = self.configure(port)?;
        slot.wire.set(bits_per_s);
        slot.overhead_bytes = overhead_bytes;
        self.note_rates();
        Ok(())
    }

    fn note_rates(&mut self) {
        let paced = |port: &Port<P>| port.wire.is_limited() || port.queues.iter().any(|queue| queue.pace.is_limited());
        self.has_rates = self.all_ports().any(paced) || self.settings.iter().any(|setting| setting.packets_per_s != 0);
    }

    /// Whether any queue or port has a rate.
    pub fn has_rates(&self) -> bool {
        self.has_rates
    }

    /// Whether a packet may skip this queue: no packet waits anywhere, no queue or port has a rate, and the program
    /// does not read queue depths.
    #[inline]
    pub fn lets_pass(&self, port: u32, priority: u32) -> bool {
        let is_idle = !self.shows_line && !self.has_rates && self.active.is_empty() && self.ready.is_empty();
        is_idle && port <= PORT_MAX && (priority as usize) < self.settings.len()
    }

    /// Queues a packet.
    pub fn enqueue(&mut self, packet: P, port: u32, priority: u32, now_ns: u64) -> Result<(), (P, Refusal)> {
        if port > self.port_max || (port > PORT_MAX && !self.makes_room(port, now_ns)) {
            return Err((packet, Refusal::NoPort));
        }
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        let Some(queue) = slot.queues.get_mut(priority as usize) else {
            return Err((packet, Refusal::NoPriority));
        };
        if !queue.pace.is_limited() && !slot.wire.is_limited() && queue.packets.is_empty() {
            if self.ready.len() >= QUEUE_CAPACITY_MAX {
                queue.refused += 1;
                return Err((packet, Refusal::Full));
            }
            self.ready.push_back(Ready { packet, port, priority, enqueued_ns: now_ns });
            queue.depth += usize::from(self.shows_line);
        } else {
            if queue.packets.len() >= queue.capacity {
                queue.refused += 1;
                return Err((packet, Refusal::Full));
            }
            queue.packets.push_back((packet, now_ns));
            if slot.waiting == 0 {
                self.active.push_back(port);
                slot.wire.begin_at(now_ns);
            }
            slot.waiting += 1;
            queue.depth += 1;
        }
        Ok(())
    }

    /// Hands over packets that are due, at most `packets_max`, and returns how many: first the line, then the ports
    /// with rates, which take turns.
    pub fn dequeue(&mut self, now_ns: u64, packets_max: usize, mut take: impl FnMut(Departure<P>)) -> usize {
        let mut taken = 0;
        while taken < packets_max
            && let Some(Ready { packet, port, priority, enqueued_ns }) = self.ready.pop_front()
        {
            let depth_packets = self.leaves_line(port, priority, now_ns);
            take(Departure { packet, port, priority, enqueued_ns, depth_packets, is_paced: false });
            taken += 1;
        }
        for _ in 0..self.active.len() {
            let Some(port) = self.active.pop_front() else { break };
            let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
            while taken < packets_max
                && let Some(departure) = slot.pop_due(port, now_ns, self.bytes_of)
            {
                take(departure);
                taken += 1;
            }
            if slot.waiting > 0 {
                self.active.push_back(port);
            }
        }
        taken
    }

    /// Counts a packet of the line out of its queue. Returns how many are left there, if anybody looks at that.
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

    /// When the next waiting packet is due, if any waits.
    pub fn next_departure_ns(&self) -> Option<u64> {
        if !self.ready.is_empty() {
            return Some(0);
        }
        let ports = self.active.iter().filter_map(|&port| self.port(port));
        ports.filter_map(Port::next_departure_ns).min()
    }

    fn port(&self, port: u32) -> Option<&Port<P>> {
        if port > PORT_MAX { self.far.get(&port) } else { self.near.get(port as usize) }
    }

    fn all_ports(&self) -> impl Iterator<Item = &Port<P>> {
        self.near.iter().chain(self.far.values())
    }

    /// Whether a port above [`PORT_MAX`] may have queues. Ports whose last packet has gone, and which would be the same
    /// if they were made anew, make room for it.
    fn makes_room(&mut self, port: u32, now_ns: u64) -> bool {
        if self.far.len() >= FAR_PORTS_MAX && !self.far.contains_key(&port) {
            self.far.retain(|_, port| !port.is_fresh(now_ns));
        }
        self.far.len() < FAR_PORTS_MAX || self.far.contains_key(&port)
    }

    /// A port that a command sets up.
    fn configure(&mut self, port: u32) -> Result<&mut Port<P>, Refusal> {
        if port > self.port_max || (port > PORT_MAX && !self.makes_room(port, 0)) {
            return Err(Refusal::NoPort);
        }
        let slot = port_mut(&mut self.near, &mut self.far, port, &self.settings);
        slot.is_configured = true;
        Ok(slot)
    }

    fn each_queue(
        &mut self,
        port: Option<u32>,
        priority: Option<u32>,
        change: impl Fn(&mut QueueSetting),
    ) -> Result<(), Refusal> {
        let queues = match priority {
            None => 0..self.settings.len(),
            Some(priority) if (priority as usize) < self.settings.len() => priority as usize..priority as usize + 1,
            Some(_) => return Err(Refusal::NoPriority),
        };
        let change_port = |slot: &mut Port<P>| {
            for queue in &mut slot.queues[queues.clone()] {
                let mut setting = QueueSetting { capacity: queue.capacity, packets_per_s: queue.pace.per_s() };
                change(&mut setting);
                queue.capacity = setting.capacity;
                queue.pace.set(setting.packets_per_s);
            }
        };
        match port {
            None => {
                self.near.iter_mut().chain(self.far.values_mut()).for_each(change_port);
                self.settings[queues.clone()].iter_mut().for_each(change);
            }
            Some(port) => {
                change_port(self.configure(port)?);
            }
        }
        Ok(())
    }
}

/// A port, made if it was not used yet.
#[inline]
fn port_mut<'a, P>(
    near: &'a mut Vec<Port<P>>,
    far: &'a mut BTreeMap<u32, Port<P>>,
    port: u32,
    settings: &[QueueSetting],
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
    far: &'a mut BTreeMap<u32, Port<P>>,
    port: u32,
    settings: &[QueueSetting],
) -> &'a mut Port<P> {
    if port > PORT_MAX {
        return far.entry(port).or_insert_with(|| Port::new(settings));
    }
    let index = port as usize;
    near.resize_with(near.len().max(index + 1), || Port::new(settings));
    &mut near[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every packet weighs 125 bytes: 1000 bits.
    fn manager(priorities: usize, port_max: u32) -> TrafficManager<u32> {
        TrafficManager::new(priorities, port_max, |_| 125)
    }

    fn drain(tm: &mut TrafficManager<u32>, now_ns: u64) -> Vec<u32> {
        let mut packets = Vec::new();
        while tm.dequeue(now_ns, 2, |departure| packets.push(departure.packet)) > 0 {}
        packets
    }

    #[test]
    fn packets_without_a_rate_keep_the_order_of_their_arrival() {
        let mut tm = manager(2, PORT_MAX);
        for (packet, port, priority) in [(10, 1, 0), (11, 1, 1), (20, 2, 0), (12, 1, 0), (21, 2, 1)] {
            tm.enqueue(packet, port, priority, 0).unwrap();
        }
        assert_eq!((tm.queued(), tm.depth(1, 0), tm.depth(2, 1)), (5, 2, 1));
        assert_eq!(drain(&mut tm, 0), [10, 11, 20, 12, 21]);
        assert_eq!((tm.queued(), tm.depth(1, 0)), (0, 0));
    }

    #[test]
    fn depths_of_the_line_may_be_left_out() {
        let mut tm = manager(2, u32::MAX).without_depths_of_line();
        for (packet, port, priority) in [(1, 1, 0), (2, 70_000, 1), (3, 1, 1), (4, 70_000, 1)] {
            tm.enqueue(packet, port, priority, 0).unwrap();
        }
        assert_eq!((tm.queued(), tm.depth(1, 0)), (4, 0));
        assert!(!tm.lets_pass(1, 0));
        assert_eq!(tm.enqueue(9, 1, 2, 0), Err((9, Refusal::NoPriority)));
        assert_eq!((drain(&mut tm, 0), tm.far.len()), (vec![1, 2, 3, 4], 0));
        assert_eq!(
            [(1, 0), (1, 2), (70_000, 0)].map(|(port, priority)| tm.lets_pass(port, priority)),
            [true, false, false]
        );
        // Those of queues with a rate count, and what comes behind them waits.
        tm.set_rate(Some(1), None, 1_000_000).unwrap();
        for packet in 5..8 {
            tm.enqueue(packet, 1, 0, 0).unwrap();
        }
        assert_eq!(tm.depth(1, 0), 3);
        assert_eq!(drain(&mut tm, 0), [5]);
        tm.set_rate(Some(1), None, 0).unwrap();
        assert!(!tm.lets_pass(2, 0));
        tm.enqueue(8, 1, 0, 0).unwrap();
        assert_eq!((drain(&mut tm, 2000), tm.depth(1, 0)), (vec![6, 7, 8], 0));
    }

    #[test]
    fn higher_priorities_leave_first() {
        let mut tm = manager(3, PORT_MAX);
        tm.set_rate(Some(1), None, 1_000).unwrap();
        for (packet, priority) in [(1, 0), (2, 2), (3, 1), (4, 2)] {
            tm.enqueue(packet, 1, priority, 0).unwrap();
        }
        // Each queue has its own pace.
        assert_eq!(drain(&mut tm, 0), [2, 3, 1]);
        assert_eq!(drain(&mut tm, 1_000_000), [4]);
        assert_eq!(tm.enqueue(9, 1, 3, 0), Err((9, Refusal::NoPriority)));
        assert_eq!(tm.enqueue(9, PORT_MAX + 1, 0, 0), Err((9, Refusal::NoPort)));
    }

    #[test]
    fn a_rate_spaces_departures_and_a_full_queue_refuses() {
        let mut tm = manager(1, PORT_MAX);
        tm.set_rate(Some(1), None, 1_000_000).unwrap();
        tm.set_capacity(Some(1), None, 3).unwrap();
        for packet in 0..3 {
            tm.enqueue(packet, 1, 0, 0).unwrap();
        }
        assert_eq!(tm.enqueue(3, 1, 0, 0), Err((3, Refusal::Full)));
        let queue = QueueState {
            port: 1,
            priority: 0,
            depth_packets: 3,
            capacity_packets: 3,
            is_paced: true,
            refused_packets: 1,
        };
        assert_eq!(tm.queues().collect::<Vec<_>>(), [queue]);
        assert_eq!(drain(&mut tm, 0), [0]);
        assert_eq!(tm.next_departure_ns(), Some(1000));
        assert_eq!(drain(&mut tm, 999), []);
        assert_eq!(drain(&mut tm, 1000), [1]);
        assert_eq!(drain(&mut tm, 5000), [2]);
        assert_eq!(tm.next_departure_ns(), None);
    }

    #[test]
    fn a_slow_wire_takes_the_packets_of_all_queues_one_by_one() {
        let mut tm = manager(2, PORT_MAX);
        // A thousand bits take a microsecond.
        tm.set_port_rate(1, 1_000_000_000, 0).unwrap();
        for (packet, port, priority) in [(1, 1, 0), (2, 1, 0), (3, 1, 1), (9, 2, 0)] {
            tm.enqueue(packet, port, priority, 500).unwrap();
        }
        assert_eq!((tm.depth(1, 0), tm.depth(1, 1)), (2, 1));
        assert_eq!(drain(&mut tm, 500), [9, 3]);
        assert_eq!((drain(&mut tm, 1499), tm.next_departure_ns()), (vec![], Some(1500)));
        // A late look does not slow the wire down; a wire that was idle does not catch up.
        assert_eq!(drain(&mut tm, 2600), [1, 2]);
        tm.enqueue(4, 1, 0, 9000).unwrap();
        tm.enqueue(5, 1, 0, 9000).unwrap();
        assert_eq!((drain(&mut tm, 9000), tm.next_departure_ns()), (vec![4], Some(10_000)));
        tm.set_port_rate(1, 0, 0).unwrap();
        assert_eq!((drain(&mut tm, 9000), tm.has_rates()), (vec![5], false));
        assert_eq!(tm.set_port_rate(PORT_MAX + 1, 1, 0), Err(Refusal::NoPort));
    }

    /// How many packets of 64 bytes a port of this rate sends in a millisecond.
    fn in_a_millisecond(bits_per_s: u64, overhead_bytes: u32) -> u64 {
        let mut tm = TrafficManager::new(1, PORT_MAX, |_: &u32| 64);
        tm.set_port_rate(1, bits_per_s, overhead_bytes).unwrap();
        let (mut now_ns, mut sent) = (0, 0);
        while now_ns < 1_000_000 {
            // It never runs empty.
            while tm.enqueue(0, 1, 0, now_ns).is_ok() {}
            tm.dequeue(now_ns, usize::MAX, |departure| {
                assert!(departure.is_paced);
                sent += 1;
            });
            now_ns = now_ns.max(tm.next_departure_ns().unwrap_or(now_ns + 1));
        }
        sent
    }

    #[test]
    fn a_port_sends_exactly_as_much_as_its_rate() {
        // 12.8 and 1.28 nanoseconds each, the first of them at once.
        assert_eq!(in_a_millisecond(40_000_000_000, 0), 78_125);
        assert_eq!(in_a_millisecond(400_000_000_000, 0), 781_250);
        // On Ethernet 88 bytes.
        assert_eq!(in_a_millisecond(40_000_000_000, ETHERNET_OVERHEAD_BYTES), 56_819);
        assert_eq!(in_a_millisecond(10_000_000_000, ETHERNET_OVERHEAD_BYTES), 14_205);
    }

    #[test]
    fn a_short_packet_takes_as_much_of_a_wire_as_the_shortest_frame() {
        let bytes = |packet, overhead| wire_bits(packet, overhead) / 8;
        assert_eq!([0, 20, 60, 61].map(|packet| bytes(packet, ETHERNET_OVERHEAD_BYTES)), [84, 84, 84, 85]);
        assert_eq!([bytes(20, 28), bytes(20, 23), bytes(20, 0)], [88, 43, 20]);
        let mut tm = TrafficManager::new(1, PORT_MAX, |_: &u32| 20);
        tm.set_port_rate(1, 1_000_000_000, ETHERNET_OVERHEAD_BYTES).unwrap();
        for packet in 0..2 {
            tm.enqueue(packet, 1, 0, 0).unwrap();
        }
        assert_eq!((drain(&mut tm, 0), tm.next_departure_ns()), (vec![0], Some(672)));
    }

    #[test]
    fn queues_behind_a_slow_port_are_paced() {
        let mut tm = manager(2, PORT_MAX);
        tm.set_port_rate(1, 1_000_000, ETHERNET_OVERHEAD_BYTES).unwrap();
        tm.set_rate(Some(2), Some(1), 7).unwrap();
        let paced: Vec<_> = tm.queues().filter(|it| it.is_paced).map(|it| (it.port, it.priority)).collect();
        assert_eq!(paced, [(1, 0), (1, 1), (2, 1)]);
        let mut other = manager(2, PORT_MAX);
        other.adopt_settings(&tm);
        let adopted: Vec<_> = other.queues().filter(|it| it.is_paced).map(|it| (it.port, it.priority)).collect();
        assert_eq!(adopted, paced);
    }

    #[test]
    fn any_number_can_be_a_port() {
        let mut tm = manager(1, u32::MAX);
        for (packet, port) in [(1, u32::MAX), (2, 512), (3, u32::MAX)] {
            tm.enqueue(packet, port, 0, 0).unwrap();
        }
        assert_eq!((tm.depth(u32::MAX, 0), tm.far.len()), (2, 2));
        assert_eq!(drain(&mut tm, 0), [1, 2, 3]);
        // Nothing is left of ports that nobody has set up.
        assert_eq!(tm.far.len(), 0);
        tm.set_rate(Some(1000), None, 1_000_000).unwrap();
        for packet in 0..2 {
            tm.enqueue(packet, 1000, 0, 0).unwrap();
        }
        assert_eq!((drain(&mut tm, 0), drain(&mut tm, 1000)), (vec![0], vec![1]));
        assert_eq!(tm.far.len(), 1);
    }

    #[test]
    fn what_is_set_for_all_ports_holds_for_those_to_come() {
        let mut tm = manager(1, u32::MAX);
        tm.set_rate(None, None, 1_000_000).unwrap();
        tm.set_capacity(None, Some(0), 1).unwrap();
        for port in [3, 70_000] {
            tm.enqueue(1, port, 0, 0).unwrap();
            assert_eq!(tm.enqueue(2, port, 0, 0), Err((2, Refusal::Full)));
        }
        assert_eq!(drain(&mut tm, 0), [1, 1]);
        assert!(tm.has_rates());
    }

    #[test]
    fn ports_without_packets_make_room() {
        let mut tm = manager(1, u32::MAX);
        tm.set_rate(None, None, 1_000_000).unwrap();
        for port in 0..FAR_PORTS_MAX as u32 {
            tm.enqueue(1, 1000 + port, 0, 0).unwrap();
        }
        assert_eq!(tm.enqueue(2, 999, 0, 0), Err((2, Refusal::NoPort)));
        assert_eq!(drain(&mut tm, 0).len(), FAR_PORTS_MAX);
        assert_eq!(tm.enqueue(2, 999, 0, 999), Err((2, Refusal::NoPort)));
        assert_eq!(tm.enqueue(2, 999, 0, 1000), Ok(()));
    }
}
