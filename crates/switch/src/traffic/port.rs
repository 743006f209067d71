//! One port: its queues, the scheduler that chooses among them, and the wire behind it.
//!
//! Queues of a higher class go first. Within a class, queues take turns by deficit round robin (Shreedhar and
//! Varghese, 1996): in each turn a queue may send its weight's share of bytes, and what it leaves is added to its next.

use super::pace::Pace;
use super::queue::{Queue, Queued};
use super::settings::QueueSettings;
use super::{Departure, ETHERNET_OVERHEAD_BYTES, wire_bits};

/// Bytes that a queue of weight 1 may send in a turn.
const TURN_BYTES: u64 = 1_514;

pub(super) struct Port<P> {
    pub queues: Vec<Queue<P>>,
    /// Packets in the port's queues, without those in the line.
    pub queued: usize,
    /// What the wire behind the port carries, in bits.
    pub wire: Pace,
    /// What it carries beside each packet.
    pub overhead_bytes: u32,
    /// Whether a packet was handed over that may still come to the wire.
    is_sending: bool,
    /// Whether a command has set up the port or a queue of it, so that it must not be forgotten.
    pub is_configured: bool,
    /// The queue whose turn it is in its class, if it has one.
    turn: Option<usize>,
}

impl<P> Port<P> {
    pub fn new(settings: &[QueueSettings]) -> Port<P> {
        Port {
            queues: settings.iter().map(|settings| Queue::new(*settings)).collect(),
            queued: 0,
            wire: Pace::default(),
            overhead_bytes: ETHERNET_OVERHEAD_BYTES,
            is_sending: false,
            is_configured: false,
            turn: None,
        }
    }

    /// Whether a port made anew would be the same.
    pub fn is_fresh(&self, now_ns: u64) -> bool {
        !self.is_configured && self.queues.iter().all(|queue| queue.is_fresh(now_ns))
    }

    pub fn has_rate(&self) -> bool {
        self.wire.is_limited() || self.queues.iter().any(Queue::is_paced)
    }

    pub fn push(&mut self, priority: usize, queued: Queued<P>) {
        self.queued += 1;
        self.queues[priority].push(queued);
    }

    /// The packet that leaves next, if it may leave now. Of a port with a rate none follows before
    /// [`Port::finish_departure`].
    pub fn pop_due(&mut self, number: u32, now_ns: u64) -> Option<Departure<P>> {
        if self.is_sending || !self.wire.is_due(now_ns) {
            return None;
        }
        let priority = self.choose(now_ns)?;
        let queue = &mut self.queues[priority];
        let (Queued { packet, enqueued_ns, .. }, leaves_ns) = queue.pop(self.wire.gone_ns(), self.overhead_bytes)?;
        let (depth_packets, is_paced) = (queue.depth, queue.is_paced() || self.wire.is_limited());
        self.wire.begin_at(leaves_ns);
        self.is_sending = self.wire.is_limited();
        self.queued -= 1;
        Some(Departure { packet, port: number, priority: priority as u32, enqueued_ns, depth_packets, is_paced })
    }

    /// The wire carries a packet of `bytes` bytes.
    pub fn sent(&mut self, bytes: u32) {
        self.wire.take(wire_bits(bytes, self.overhead_bytes));
    }

    /// The packet that was handed over last is done.
    pub fn finish_departure(&mut self) {
        self.is_sending = false;
    }

    /// The queue that is served next.
    fn choose(&mut self, now_ns: u64) -> Option<usize> {
        let due = |queue: &Queue<P>| queue.is_due(now_ns);
        let class = self.queues.iter().filter(|queue| due(queue)).map(|queue| queue.settings().class).max()?;
        let is_of_class = |queue: &Queue<P>| queue.settings().class == class;
        if self.queues.iter().filter(|queue| is_of_class(queue)).count() == 1 {
            return self.queues.iter().position(is_of_class);
        }
        let mut at = self.turn.filter(|&turn| self.queues.get(turn).is_some_and(is_of_class));
        loop {
            let Some(turn) = at else {
                at = self.begin_turn(0, class);
                continue;
            };
            let queue = &mut self.queues[turn];
            if let Some(bytes) = queue.first_bytes().filter(|_| queue.is_due(now_ns)) {
                if u64::from(bytes) <= queue.deficit_bytes {
                    queue.deficit_bytes -= u64::from(bytes);
                    self.turn = Some(turn);
                    return Some(turn);
                }
            } else {
                // Who has nothing to send saves nothing up.
                queue.deficit_bytes = 0;
            }
            at = self.begin_turn(turn + 1, class);
        }
    }

    /// Gives the next queue of a class from this one on its share of bytes; none if no queue follows.
    fn begin_turn(&mut self, from: usize, class: u32) -> Option<usize> {
        let mut queues = self.queues.iter_mut().enumerate().skip(from);
        let (turn, queue) = queues.find(|(_, queue)| queue.settings().class == class)?;
        queue.deficit_bytes += TURN_BYTES * u64::from(queue.settings().weight.get());
        Some(turn)
    }

    /// When the first of the queued packets is due, unless one is being sent.
    pub fn next_departure_ns(&self) -> Option<u64> {
        if self.is_sending {
            return None;
        }
        let first_ns = self.queues.iter().filter_map(Queue::due_ns).min()?;
        Some(first_ns.max(self.wire.due_ns()))
    }
}
