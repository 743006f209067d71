//! What all architectures share: packets on their way, the queues between ingress and egress, copies, and the order in
//! which packets are worked on.
//!
//! What enters: received packets and the [`Rules`] of an architecture. What leaves: whatever the rules send. A burst
//! goes through ingress as the rules say; then the queues are emptied through egress. Packets that go round again form
//! bursts of their own, which are worked on before new ones.

use crate::coalescing::{CoalescingBuffer, CoalescingBuffers};
use crate::fast_path::FastPath;
use crate::frame::{Frame, Lending};
use crate::output::{Decision, Departures, Observer};
use crate::packet::{Originals, Packet, Pool, Reception};
use crate::pipeline::{Execution, Pipeline, Step};
use crate::replicas::Replicas;
use crate::replication::{Destination, Replica, Replication};
use crate::specialise::Specialisation;
use crate::stage_times::{CoreStage, StageTimer};
use crate::stats::{DropReason, Stats};
use crate::traffic::{After, Departure, InternalPort, QUEUE_CAPACITY_MAX, Refusal, TrafficManager};
use crate::variables::Variables;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, COPIES_MAX, PASSES_MAX};
use cgen::abi::{Exceptions, Verdict};
use ir::Program;
use ir::walk::has_assertions;
use std::collections::VecDeque;
use std::sync::Arc;

/// The budget that packets share which waited in a queue with a rate.
const PACED_ROOT: usize = CALL_FRAMES_MAX;

/// What an architecture does with packets between and around the program's blocks.
pub(crate) trait Rules: Send {
    /// Takes a burst through ingress, up to the queues.
    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>);

    /// What kind of packet it is, in words.
    fn kind(&self, packet: &Packet) -> &'static str;

    /// Sets the metadata of a packet that leaves a queue in which it waited.
    fn begin_egress(
        &mut self,
        variables: Variables,
        departure: Departure<Packet>,
        execution: &mut Execution<'_>,
    ) -> Packet {
        let Departure { mut packet, port, .. } = departure;
        variables.begin_egress(&mut packet, port, |packet| self.kind(packet), execution);
        packet
    }

    /// Takes a burst from the queues to the end.
    fn egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>);

    /// Goes on with a packet that has been through the control of ingress on the fast path. `original` is the packet as
    /// it was received, if a request needs it.
    fn after_ingress(
        &mut self,
        engine: &mut Engine,
        packet: Packet,
        original: Option<Packet>,
        execution: &mut Execution<'_>,
    );

    /// Goes on with a packet that has been through the control of egress on the fast path.
    fn after_egress(&mut self, engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>);

    /// Sends a clone that has come through the mirror port to the ports of its session.
    fn after_mirror(&mut self, engine: &mut Engine, clone: Packet, session: u32, execution: &mut Execution<'_>);

    /// Queues a replica that has come through the replication port.
    fn after_replication(
        &mut self,
        engine: &mut Engine,
        packet: Packet,
        replica: Replica,
        execution: &mut Execution<'_>,
    );

    /// Lets a buffer go that has waited long enough. Architectures without buffers are not asked.
    fn release(
        &mut self,
        _engine: &mut Engine,
        _number: u16,
        _buffer: CoalescingBuffer,
        _execution: &mut Execution<'_>,
    ) {
        unreachable!("the architecture has no buffers");
    }
}

/// What the program of a core shows of how packets are worked on.
#[derive(Clone, Copy)]
pub(crate) struct Observability {
    /// Whether packets go through blocks and queues one by one: the program can tell how many packets are in a queue,
    /// which would show how many were received together, or sends packets round again, which would be overtaken by
    /// their neighbours. The fast path has no queue, and a packet that leaves it is taken to its end before what
    /// becomes of the next is carried out.
    pub serialised: bool,
    /// Whether the program can tell at which moment a packet was worked on (beside the moment of its reception).
    pub time: bool,
    /// Whether the program can tell how many packets are in a queue.
    pub depths: bool,
}

/// Packets on their way, and what they meet.
pub(crate) struct Engine {
    pub pipeline: Box<dyn Pipeline>,
    pub traffic: TrafficManager<Packet>,
    /// Shared with the shards of this core, and copied when it is changed while they have it.
    pub replication: Arc<Replication>,
    pub pool: Pool,
    pub buffers: CoalescingBuffers,
    pub stats: Stats,
    pub timer: StageTimer,
    pub observability: Observability,
    /// The variables that the core sets.
    pub variables: Variables,
    /// Packets that go through ingress again, before any new one.
    again: VecDeque<Packet>,
    /// Packets that did not have to wait in a queue and are ready for egress.
    passed: VecDeque<Packet>,
    /// The present burst, kept to save its allocation.
    burst: Vec<Packet>,
    /// The same on the fast path, from which packets go on through the queues.
    fresh: Vec<Packet>,
    /// Memory for frames.
    pub lending: Lending,
    /// What packets on the fast path need.
    pub fast: FastPath,
    /// Memory for replicas on their own path.
    pub replicas: Replicas,
    wants_fast_path: bool,
    takes_fast_path: bool,
    has_assertions: bool,
    /// Copies that each packet of the present burst may still become; the last is for packets out of paced queues.
    copies_left: [usize; CALL_FRAMES_MAX + 1],
}

impl Engine {
    pub fn new(
        program: &Program,
        pipeline: Box<dyn Pipeline>,
        pool: Pool,
        priorities: usize,
        observability: Observability,
        wants_fast_path: bool,
    ) -> Engine {
        let takes_fast_path = wants_fast_path && pipeline.has_fast_path();
        let traffic = TrafficManager::new(priorities, program.architecture.port_max, Packet::length);
        Engine {
            pipeline,
            traffic: if observability.depths { traffic } else { traffic.without_depths_of_line() },
            replication: Arc::default(),
            pool,
            buffers: CoalescingBuffers::default(),
            stats: Stats::default(),
            timer: StageTimer::default(),
            observability,
            variables: Variables::of(program.architecture),
            again: VecDeque::new(),
            passed: VecDeque::new(),
            burst: Vec::with_capacity(BURST_PACKETS_MAX),
            fresh: Vec::with_capacity(BURST_PACKETS_MAX),
            lending: Lending::default(),
            fast: FastPath::new(program),
            replicas: Replicas::default(),
            wants_fast_path,
            takes_fast_path,
            has_assertions: has_assertions(program),
            copies_left: [0; CALL_FRAMES_MAX + 1],
        }
    }

    /// Runs other code of the same program, between two bursts.
    pub fn run_code(&mut self, special: Option<&Specialisation>, observability: Observability) {
        self.pipeline.run_code(special);
        self.observability = observability;
        self.takes_fast_path = self.wants_fast_path && self.pipeline.has_fast_path();
    }

    /// Makes packets of received frames; those for which there is no buffer are counted.
    pub fn receive(&mut self, reception: Reception, frames: &[&[u8]], received: &mut Vec<Packet>) {
        self.stats.received += frames.len() as u64;
        let refused = self.pool.receive(frames, reception, received);
        self.stats.count_drops(DropReason::NoBuffer, refused as u64);
    }

    /// Whether these frames may be lent to [`Engine::run`].
    pub fn forwards(&self, frames: &[Frame<'_>]) -> bool {
        let fast_path = self.takes_fast_path && !self.traffic.has_rates();
        let room = self.pipeline.headroom_bytes();
        let has_room = || room == 0 || frames.iter().all(|frame| frame.room() >= room);
        let has_originals = || !self.needs_originals() || self.pipeline.written_bytes_max().is_some();
        fast_path && self.pipeline.is_in_place() && has_originals() && has_room()
    }

    /// Works on received packets and lent frames, on everything they cause, and on queued packets and buffers that are
    /// due. Frames may be lent only if [`Engine::forwards`] says so and nobody observes. If a packet has added entries
    /// to tables, it stops behind that packet, for its caller to publish them and to run it again with the frames that
    /// are returned; none if all is done.
    pub fn run<'f, 'b>(
        &mut self,
        rules: &mut dyn Rules,
        received: &mut Vec<Packet>,
        mut lent: &'f mut [Frame<'b>],
        execution: &mut Execution<'_>,
    ) -> Option<&'f mut [Frame<'b>]> {
        self.copies_left[PACED_ROOT] = COPIES_MAX;
        let (fast_path_max, burst_max) = (self.fast_path_max(), self.blocks_max());
        let fast_path = self.takes_fast_path && !self.traffic.has_rates() && execution.observer.is_none();
        self.arrive_from_internal_ports(rules, execution);
        self.empty_queues(rules, execution);
        while let Some((number, mut buffer)) = self.buffers.take_due(execution.now_ns) {
            buffer.packet.set_root(PACED_ROOT);
            buffer.packet.set_time_ns(execution.now_ns);
            rules.release(self, number, buffer, execution);
        }
        loop {
            if execution.externs.has_added() {
                return Some(lent);
            }
            let mut burst = std::mem::take(&mut self.burst);
            while burst.len() < burst_max
                && let Some(packet) = self.again.pop_front()
            {
                burst.push(packet);
            }
            if burst.is_empty() && fast_path {
                self.burst = burst;
                if received.is_empty() {
                    if lent.is_empty() {
                        return None;
                    }
                    let count = CALL_FRAMES_MAX.min(lent.len());
                    let (now, later) = lent.split_at_mut(count);
                    // Generated code fetches the other bursts of a call.
                    later.iter().take(fast_path_max).for_each(Frame::fetch);
                    let done = self.forward(rules, now, execution);
                    self.stats.received += done as u64;
                    lent = &mut std::mem::take(&mut lent)[done..];
                    continue;
                }
                if received.len() <= fast_path_max {
                    self.fast_path(rules, received, execution);
                    continue;
                }
                let mut fresh = std::mem::take(&mut self.fresh);
                fresh.extend(received.drain(..fast_path_max));
                self.fast_path(rules, &mut fresh, execution);
                received.splice(..0, fresh.drain(..));
                self.fresh = fresh;
                continue;
            }
            if burst.is_empty() {
                burst.extend(received.drain(..burst_max.min(received.len())));
                for (root, packet) in burst.iter_mut().enumerate() {
                    self.allow_copies(packet, root);
                    self.begin(packet);
                }
            }
            if burst.is_empty() {
                self.burst = burst;
                return None;
            }
            rules.ingress(self, &mut burst, execution);
            self.burst = burst;
            self.empty_queues(rules, execution);
        }
    }

    /// Packets that wait in queues and coalescing buffers.
    pub fn waiting(&self) -> usize {
        self.traffic.queued() + self.buffers.packets()
    }

    /// Whether packets take a fast path where there is one.
    pub fn takes_fast_path(&self) -> bool {
        self.takes_fast_path
    }

    /// Whether no packet has left its queue that has not been through egress.
    pub fn is_line_empty(&self) -> bool {
        self.passed.is_empty()
    }

    /// How many packets may take the fast path together.
    fn fast_path_max(&self) -> usize {
        self.pipeline.fast_path_burst_max().clamp(1, BURST_PACKETS_MAX)
    }

    /// How many may go through blocks and queues together.
    fn blocks_max(&self) -> usize {
        let is_seen = self.observability.serialised || self.traffic.has_rates();
        if is_seen { 1 } else { self.pipeline.burst_max().clamp(1, BURST_PACKETS_MAX) }
    }

    /// How many packets of the queues may go through the blocks behind them together. Replicas of a packet may also
    /// where packets go one by one: nothing comes between them.
    fn egress_max(&self) -> usize {
        if self.traffic.has_rates() { 1 } else { self.pipeline.egress_burst_max().clamp(1, BURST_PACKETS_MAX) }
    }

    /// Gives a received packet, the `root`th of its burst, its budget of copies and passes.
    pub fn allow_copies(&mut self, packet: &mut Packet, root: usize) {
        packet.set_passes(0);
        packet.set_root(root);
        self.copies_left[root] = COPIES_MAX;
    }

    /// Works on all that a packet of the fast path has caused, unless entries must be published before.
    pub fn finish(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        loop {
            self.empty_queues(rules, execution);
            if execution.externs.has_added() {
                return;
            }
            let Some(packet) = self.again.pop_front() else { return };
            let mut burst = std::mem::take(&mut self.burst);
            burst.push(packet);
            rules.ingress(self, &mut burst, execution);
            self.burst = burst;
        }
    }

    /// Empties the queues as far as packets are due, burst by burst.
    pub fn empty_queues(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        self.timer.start();
        let burst_max = self.egress_max();
        loop {
            let mut burst = std::mem::take(&mut self.burst);
            let (variables, now_ns) = (self.variables, execution.now_ns);
            burst.extend(self.passed.drain(..burst_max.min(self.passed.len())));
            // Of queues with rates, packets leave one by one.
            let mut paced_port = None;
            if burst.is_empty() {
                self.traffic.dequeue(now_ns, burst_max, |mut departure| {
                    if departure.is_paced {
                        paced_port = Some(departure.port);
                        departure.packet.set_root(PACED_ROOT);
                        departure.packet.set_time_ns(now_ns);
                    }
                    burst.push(rules.begin_egress(variables, departure, execution));
                });
            }
            if burst.is_empty() {
                self.burst = burst;
                return;
            }
            self.timer.lap(CoreStage::Dequeue);
            rules.egress(self, &mut burst, execution);
            self.burst = burst;
            paced_port.into_iter().for_each(|port| self.traffic.finish_departure(port));
        }
    }

    /// Puts a packet in the queue of a port. A packet that need not wait there skips the queue: `begin_egress`
    /// sets its metadata at once. An observer sees packets leave queues: with one, none skips.
    #[inline]
    pub fn enqueue(
        &mut self,
        mut packet: Packet,
        port: u32,
        priority: u32,
        execution: &mut Execution<'_>,
        begin_egress: impl FnOnce(&mut Packet),
    ) {
        let has_room = self.passed.len() < QUEUE_CAPACITY_MAX;
        if has_room && self.traffic.lets_pass(port, priority) && execution.observer.is_none() {
            begin_egress(&mut packet);
            self.passed.push_back(packet);
        } else {
            self.enqueue_to_wait(packet, port, priority, execution);
        }
    }

    /// The same for a packet that may have to wait.
    #[inline(never)]
    fn enqueue_to_wait(&mut self, packet: Packet, port: u32, priority: u32, execution: &mut Execution<'_>) {
        if let Err((packet, refusal)) = self.traffic.enqueue(packet, port, priority, execution.now_ns) {
            let reason = match refusal {
                Refusal::NoPort => DropReason::NoPort,
                Refusal::NoPriority => DropReason::NoPriority,
                Refusal::Full => DropReason::QueueFull,
            };
            self.end(packet, reason, execution);
        }
    }

    /// Runs steps over one packet.
    pub fn run_one(&mut self, steps: &[Step], packet: &mut Packet, execution: &mut Execution<'_>) {
        self.pipeline.run(steps, std::slice::from_mut(packet), execution);
    }

    /// Hands a copy of the packet for each replica to `enqueue`; the last gets the packet itself.
    pub fn replicate(
        &mut self,
        packet: Packet,
        destination: Destination,
        execution: &mut Execution<'_>,
        enqueue: impl Fn(&mut Engine, Packet, Replica, &mut Execution<'_>),
    ) {
        let replication = Arc::clone(&self.replication);
        let Some((&last, others)) = replication.replicas(destination).split_last() else {
            self.end(packet, DropReason::NoReplicas, execution);
            return;
        };
        if matches!(destination, Destination::Group(_)) && self.traffic.has_internal_port(InternalPort::Replication) {
            return self.replicate_in_time(packet, others, last, execution);
        }
        for &replica in others {
            if let Some(copy) = self.copy(&packet, execution) {
                enqueue(self, copy, replica, execution);
            }
        }
        enqueue(self, packet, last, execution);
    }

    /// Hands a copy of the packet for each replica to the replication port.
    fn replicate_in_time(&mut self, packet: Packet, others: &[Replica], last: Replica, execution: &mut Execution<'_>) {
        for &replica in others {
            if let Some(copy) = self.copy(&packet, execution) {
                self.enter_internal(InternalPort::Replication, copy, After::Replica(replica), execution);
            }
        }
        self.enter_internal(InternalPort::Replication, packet, After::Replica(last), execution);
    }

    /// When a packet of so many bytes arrives that enters an internal port now; now, if the port takes no time. None if
    /// it has no room.
    #[inline]
    pub fn internal_arrival_ns(
        &mut self,
        port: InternalPort,
        bytes: u32,
        execution: &mut Execution<'_>,
    ) -> Option<u64> {
        if !self.traffic.has_internal_ports() {
            return Some(execution.now_ns);
        }
        self.traffic.internal_arrival_ns(port, bytes, execution.now_ns)
    }

    /// Takes a packet to an internal port that is set up; without room there, it ends.
    fn enter_internal(&mut self, port: InternalPort, packet: Packet, after: After, execution: &mut Execution<'_>) {
        match self.traffic.internal_arrival_ns(port, packet.length(), execution.now_ns) {
            Some(_) => self.traffic.enter_internal(port, packet, after, execution.now_ns),
            None => self.end(packet, DropReason::QueueFull, execution),
        }
    }

    /// Takes a clone through the mirror port. Returns it, to be sent at once, if the port takes no time.
    #[inline]
    pub fn mirror(&mut self, clone: Packet, session: u32, execution: &mut Execution<'_>) -> Option<Packet> {
        if !self.traffic.has_internal_port(InternalPort::Mirror) {
            return Some(clone);
        }
        self.enter_internal(InternalPort::Mirror, clone, After::Session(session), execution);
        None
    }

    /// Goes on with packets that have arrived from internal ports.
    fn arrive_from_internal_ports(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        while let Some((mut packet, after, arrived_ns)) = self.traffic.take_arrived(execution.now_ns) {
            packet.set_root(PACED_ROOT);
            packet.set_time_ns(arrived_ns);
            match after {
                After::Ingress => self.again.push_back(packet),
                After::Session(session) => rules.after_mirror(self, packet, session, execution),
                After::Replica(replica) => rules.after_replication(self, packet, replica, execution),
            }
        }
    }

    /// Lets a packet, made from one that ends here, go through ingress again, by way of an internal port that has room.
    pub fn inject_instead(&mut self, port: InternalPort, fresh: Packet, old: Packet, execution: &Execution<'_>) {
        self.pool.give(old);
        self.inject_through(port, fresh, execution);
    }

    /// Lets a packet go through ingress beside the one that it was made from, by way of an internal port that has room.
    pub fn inject_through(&mut self, port: InternalPort, fresh: Packet, execution: &Execution<'_>) {
        if self.traffic.has_internal_port(port) {
            self.stats.passes += 1;
            self.traffic.enter_internal(port, fresh, After::Ingress, execution.now_ns);
        } else {
            self.inject(fresh);
        }
    }

    /// Lets a packet go through ingress at once.
    pub fn inject(&mut self, fresh: Packet) {
        self.stats.passes += 1;
        self.again.push_back(fresh);
    }

    /// Sends a packet's first `length` bytes out of a port.
    pub fn transmit(&mut self, packet: Packet, port: u32, length: usize, execution: &mut Execution<'_>) {
        self.stats.sent += 1;
        self.traffic.sent(port, length as u32);
        tell(execution, || Decision::Transmitted { port, bytes: length as u32 });
        execution.output.transmit(port, &packet.bytes()[..length], packet.time_ns());
        self.pool.give(packet);
    }

    /// Ends packets whose verdict is to be sent or dropped. `exceptions` is what their verdicts say together.
    /// Nobody observes them.
    pub fn apply_verdicts(
        &mut self,
        frames: &[Frame<'_>],
        verdicts: &[Verdict],
        exceptions: Exceptions,
        execution: &mut Execution<'_>,
    ) {
        let mut sent = frames.len() as u64;
        for (count, reason) in
            exceptions.drops().into_iter().zip([DropReason::Ingress, DropReason::Egress, DropReason::TooLong])
        {
            self.stats.count_drops(reason, count);
            sent -= count;
        }
        self.stats.sent += sent;
        execution.output.transmit_burst(&Departures { frames, verdicts, sent });
    }

    /// A new packet of `bytes`, with no metadata, one pass older than `parent`.
    pub fn again_from(&mut self, bytes: &[u8], parent: &Packet, execution: &mut Execution<'_>) -> Option<Packet> {
        if parent.passes() >= PASSES_MAX {
            self.count_drop(DropReason::PassLimit, execution);
            return None;
        }
        let taken = self.take_copy(parent.root(), |pool| pool.take(bytes), execution);
        taken.map(|mut packet| {
            packet.inherit(parent);
            packet
        })
    }

    /// A copy of a packet with headers and metadata.
    pub fn copy(&mut self, packet: &Packet, execution: &mut Execution<'_>) -> Option<Packet> {
        let mut copy = self.take_copy(packet.root(), |pool| pool.copy(packet), execution)?;
        self.pipeline.copy_context(packet, &mut copy);
        Some(copy)
    }

    /// Takes so many copies from the budget of `root`; false, and takes none, if it has fewer.
    pub fn charge_all(&mut self, root: usize, copies: usize) -> bool {
        let left = self.copies_left[root].checked_sub(copies);
        self.copies_left[root] = left.unwrap_or(self.copies_left[root]);
        left.is_some()
    }

    /// Takes so many copies from the budget of `root`, or as many as it has, and returns how many.
    pub fn charge_up_to(&mut self, root: usize, copies: usize) -> usize {
        let granted = copies.min(self.copies_left[root]);
        self.copies_left[root] -= granted;
        granted
    }

    /// Takes one copy, or one pass that starts anew, from the budget of `root`; false if nothing is left. Both are
    /// counted together, because copies that go round make copies.
    pub fn charge(&mut self, root: usize) -> bool {
        let left = self.copies_left[root].checked_sub(1);
        self.copies_left[root] = left.unwrap_or(0);
        left.is_some()
    }

    /// A packet that is charged to the budget of `root`.
    fn take_copy(
        &mut self,
        root: usize,
        take: impl Fn(&mut Pool) -> Option<Packet>,
        execution: &mut Execution<'_>,
    ) -> Option<Packet> {
        if !self.charge(root) {
            self.count_drop(DropReason::CopyLimit, execution);
            return None;
        }
        let taken = take(&mut self.pool);
        match taken {
            Some(_) => self.stats.copies += 1,
            None => self.count_drop(DropReason::NoBuffer, execution),
        }
        taken
    }

    /// Ends the packets on which an assertion has failed: no further block may see them. `originals` belong to the
    /// packets one by one, or are empty.
    pub fn end_failed(&mut self, burst: &mut Vec<Packet>, originals: &mut Originals, execution: &mut Execution<'_>) {
        if !self.has_assertions {
            return;
        }
        let mut position = 0;
        while position < burst.len() {
            if !burst[position].assertion_failed() {
                position += 1;
                continue;
            }
            let packet = burst.remove(position);
            let original = if originals.is_empty() { None } else { originals.remove(position) };
            self.end_all(packet, original, DropReason::AssertionFailed, execution);
        }
    }

    pub fn count_drop(&mut self, reason: DropReason, execution: &mut Execution<'_>) {
        self.stats.count_drop(reason);
        tell(execution, || Decision::Dropped(reason));
    }

    pub fn end(&mut self, packet: Packet, reason: DropReason, execution: &mut Execution<'_>) {
        self.count_drop(reason, execution);
        self.pool.give(packet);
    }

    pub fn end_all(
        &mut self,
        packet: Packet,
        other: Option<Packet>,
        reason: DropReason,
        execution: &mut Execution<'_>,
    ) {
        self.end(packet, reason, execution);
        if let Some(other) = other {
            self.pool.give(other);
        }
    }
}

/// Tells the observer, if there is one.
pub(crate) fn tell(execution: &mut Execution<'_>, decision: impl FnOnce() -> Decision) {
    if let Some(observer) = &mut execution.observer {
        Observer::decision(*observer, decision());
    }
}
