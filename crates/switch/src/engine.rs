//! What all architectures share: packets in progress, the queues between ingress and egress, copies, and the order in
//! which packets are worked on.
//!
//! What enters: received packets and the [`Rules`] of an architecture. What leaves: whatever the rules send. The
//! rules take a burst through ingress; then the queues are emptied through egress. Packets that enter ingress again
//! form bursts of their own, which are worked on before new ones. `roots` has the order in which all this is sent.

use crate::coalescing::{CoalescingBuffer, CoalescingBuffers};
use crate::fast_path::FastPath;
use crate::frame::{Frame, Lending};
use crate::output::{Decision, Departures, Observer};
use crate::packet::{Originals, Packet, Pool, Reception};
use crate::pipeline::{Execution, Pipeline, Step};
use crate::replicas::Replicas;
use crate::replication::{Destination, Replica, Replication};
use crate::roots::{PACED_ROOT, Roots, Together};
use crate::specialise::Specialisation;
use crate::stage_times::{CoreStage, StageTimer};
use crate::stats::{DropReason, Stats};
use crate::traffic::{After, Departure, InternalPort, QUEUE_CAPACITY_MAX, Refusal, TrafficManager};
use crate::variables::Variables;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, COPIES_MAX, PASSES_MAX};
use cgen::abi::{self, Exceptions, Verdict};
use ir::walk::has_assertions;
use ir::{Effect, Program};
use std::sync::Arc;

/// What an architecture does with packets between and around the program's blocks.
pub(crate) trait Rules: Send {
    /// Takes a burst through ingress, up to the queues.
    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>);

    /// What kind of packet it is, in words.
    fn kind(&self, packet: &Packet) -> &'static str;

    /// Sets the metadata of a packet that leaves a queue.
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

    /// Continues with packets that have been through the control of ingress on the fast path. `originals` are the
    /// packets as they were received, as far as requests need them.
    fn after_ingress(
        &mut self,
        engine: &mut Engine,
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    );

    /// Continues with packets that have been through the control of egress on the fast path.
    fn after_egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>);

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

    /// Releases a buffer whose timeout has expired. Not called for architectures without buffers.
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
    /// Whether the program can observe when a packet was worked on (beside the moment of its reception).
    pub time: bool,
    /// Whether the program can observe how many packets are in a queue, which would show how many are worked on
    /// together. The fast path has no queue; packets that leave it, and those that do not take it, are then processed
    /// one by one.
    pub depths: bool,
}

/// The packets in progress and the state that processing them needs.
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
    /// The received packets that are worked on, and what they have led to.
    pub roots: Roots,
    /// What is sent together, with its ports; reused to avoid allocations.
    departing: (Vec<Packet>, Vec<Verdict>),
    /// The present burst, reused to avoid allocations.
    burst: Vec<Packet>,
    /// A burst of one packet that leaves a path within a burst, for the same reason.
    pub one: Vec<Packet>,
    /// The same for the fast path, whose packets may continue through the queues.
    fresh: Vec<Packet>,
    /// Memory for frames.
    pub lending: Lending,
    /// What packets on the fast path need.
    pub fast: FastPath,
    /// Memory for replicas on their own path.
    pub replicas: Replicas,
    allows_fast_path: bool,
    takes_fast_path: bool,
    has_assertions: bool,
    /// Whether packets are split, so that the number of their copies is not known.
    splits: bool,
}

impl Engine {
    pub fn new(
        program: &Program,
        pipeline: Box<dyn Pipeline>,
        pool: Pool,
        priorities: usize,
        observability: Observability,
        allows_fast_path: bool,
    ) -> Engine {
        let takes_fast_path = allows_fast_path && pipeline.has_fast_path();
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
            roots: Roots::default(),
            departing: Default::default(),
            burst: Vec::with_capacity(BURST_PACKETS_MAX),
            one: Vec::with_capacity(1),
            fresh: Vec::with_capacity(BURST_PACKETS_MAX),
            lending: Lending::default(),
            fast: FastPath::new(program),
            replicas: Replicas::default(),
            allows_fast_path,
            takes_fast_path,
            has_assertions: has_assertions(program),
            splits: program.may_request(Effect::JoinsOrSplits),
        }
    }

    /// Runs other code of the same program, between two bursts.
    pub fn run_code(&mut self, special: Option<&Specialisation>, observability: Observability) {
        self.pipeline.run_code(special);
        self.observability = observability;
        self.takes_fast_path = self.allows_fast_path && self.pipeline.has_fast_path();
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
        let headroom = self.pipeline.headroom_bytes();
        let has_headroom = || headroom == 0 || frames.iter().all(|frame| frame.headroom() >= headroom);
        let has_originals = || !self.needs_originals() || self.pipeline.written_bytes_max().is_some();
        fast_path && self.pipeline.is_in_place() && has_originals() && has_headroom()
    }

    /// Works on received packets and lent frames, on everything they cause, and on queued packets and buffers that are
    /// due. Frames may be lent only if [`Engine::forwards`] allows it and there is no observer. If a packet has added
    /// entries to tables, it stops behind that packet, for its caller to publish them and to run it again with the
    /// frames that are returned; none if all is done.
    pub fn run<'f, 'b>(
        &mut self,
        rules: &mut dyn Rules,
        received: &mut Vec<Packet>,
        mut lent: &'f mut [Frame<'b>],
        execution: &mut Execution<'_>,
    ) -> Option<&'f mut [Frame<'b>]> {
        self.roots.allow_copies(PACED_ROOT);
        let fast_path_max = self.fast_path_max();
        let fast_path = self.takes_fast_path && !self.traffic.has_rates() && execution.observer.is_none();
        self.arrive_from_internal_ports(rules, execution);
        self.empty_queues(rules, execution);
        while let Some((number, mut buffer)) = self.buffers.take_due(execution.now_ns) {
            buffer.packet.set_root(PACED_ROOT);
            buffer.packet.set_time_ns(execution.now_ns);
            rules.release(self, number, buffer, execution);
        }
        loop {
            if self.roots.has_work() && !execution.externs.has_added() {
                self.finish(rules, execution);
            }
            if execution.externs.has_added() {
                return Some(lent);
            }
            if !fast_path {
                if received.is_empty() {
                    return None;
                }
                self.blocks(rules, received, execution);
            } else if received.is_empty() {
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
            } else if received.len() <= fast_path_max {
                self.fast_path(rules, received, execution);
            } else {
                let mut fresh = std::mem::take(&mut self.fresh);
                fresh.extend(received.drain(..fast_path_max));
                self.fast_path(rules, &mut fresh, execution);
                received.splice(..0, fresh.drain(..));
                self.fresh = fresh;
            }
        }
    }

    /// Takes the first received packets through the blocks and the queues, and all that they cause.
    fn blocks(&mut self, rules: &mut dyn Rules, received: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        let mut burst = std::mem::take(&mut self.burst);
        burst.extend(received.drain(..self.together_max(execution).min(received.len())));
        for (root, packet) in burst.iter_mut().enumerate() {
            self.roots.begin(packet, root);
            self.begin(packet);
        }
        if burst.len() > 1 {
            self.roots.defer();
        }
        rules.ingress(self, &mut burst, execution);
        self.burst = burst;
        self.finish(rules, execution);
    }

    /// Packets in queues and coalescing buffers.
    pub fn queued(&self) -> usize {
        self.traffic.queued() + self.buffers.packets()
    }

    /// Whether packets take a fast path where there is one.
    pub fn takes_fast_path(&self) -> bool {
        self.takes_fast_path
    }

    /// How many packets may take the fast path together.
    fn fast_path_max(&self) -> usize {
        self.pipeline.fast_path_burst_max().clamp(1, BURST_PACKETS_MAX)
    }

    /// How many received packets may be worked on together outside of the fast path.
    pub fn together_max(&self, execution: &Execution<'_>) -> usize {
        let burst_max = self.pipeline.burst_max();
        let is_seen = self.observability.depths || execution.observer.is_some();
        if burst_max <= 1 || is_seen || self.traffic.has_rates() || self.traffic.has_internal_ports() {
            return 1;
        }
        burst_max.min(self.roots_max().clamp(1, BURST_PACKETS_MAX))
    }

    /// How many of them can be worked on together without running out of buffers for their copies in one step, so that
    /// each becomes as many copies as if it were alone: half of the buffers are reserved for the first.
    fn roots_max(&self) -> usize {
        let at_once = 2 * self.replication.replicas_max() + 2;
        let copies = if self.splits { COPIES_MAX } else { COPIES_MAX.min(BURST_PACKETS_MAX * at_once) };
        let free = self.pool.chunks_to_half();
        // A burst has no more roots. To divide takes longer than to see that it is not necessary.
        if free >= BURST_PACKETS_MAX * copies { BURST_PACKETS_MAX } else { free / copies }
    }

    /// Which of the roots are worked on next: the first alone where buffers are scarce.
    fn together(&self) -> Together {
        match self.roots_max() {
            0 => Together { roots_max: 1, first_of: 1 },
            roots_max => Together { roots_max, first_of: usize::MAX },
        }
    }

    /// How many packets of the queues may go through the blocks behind them together. Replicas of a packet may also
    /// where packets go one by one: nothing comes between them.
    fn egress_max(&self) -> usize {
        if self.traffic.has_rates() { 1 } else { self.pipeline.egress_burst_max().clamp(1, BURST_PACKETS_MAX) }
    }

    /// Works on all that packets have caused, unless entries must be published before, and sends what comes of it.
    pub fn finish(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        self.finish_between(&mut Neighbours::default(), rules, execution);
    }

    /// The same for packets of a call that have neighbours, which are sent with what comes of them.
    pub fn finish_between(
        &mut self,
        neighbours: &mut Neighbours<'_>,
        rules: &mut dyn Rules,
        execution: &mut Execution<'_>,
    ) {
        while self.roots.has_work() || !self.traffic.is_idle() {
            let together = self.together();
            if together.first_of == 1 {
                self.send_done(neighbours, execution);
            }
            if self.leave_queues(together, rules, execution) {
                continue;
            }
            if execution.externs.has_added() {
                break;
            }
            let mut burst = std::mem::take(&mut self.burst);
            self.roots.take_again(together, &mut burst);
            let is_done = burst.is_empty();
            if !is_done && self.takes_again_path(&burst, execution) {
                self.again_path(rules, &mut burst, execution);
            } else if !is_done {
                rules.ingress(self, &mut burst, execution);
            }
            self.burst = burst;
            if is_done {
                break;
            }
        }
        self.send_done(neighbours, execution);
        self.roots.end();
    }

    /// Sends what comes of the roots that are done, and their neighbours before them.
    fn send_done(&mut self, neighbours: &mut Neighbours<'_>, execution: &mut Execution<'_>) {
        while let Some(root) = self.roots.next_done() {
            self.send_before(neighbours, root, execution);
            let (packets, ports) = &mut self.departing;
            self.roots.take_sent(root, packets, ports);
        }
        self.send_departing(execution);
    }

    /// Ends the neighbours before a root.
    pub fn send_before(&mut self, neighbours: &mut Neighbours<'_>, root: usize, execution: &mut Execution<'_>) {
        let (frames, verdicts) = neighbours.before(root);
        if !frames.is_empty() {
            self.send_departing(execution);
            self.apply_verdicts(frames, verdicts, Exceptions::of(verdicts), execution);
        }
    }

    /// Sends packets that have been counted.
    fn send_departing(&mut self, execution: &mut Execution<'_>) {
        let (packets, ports) = &mut self.departing;
        if packets.is_empty() {
            return;
        }
        let mut first = 0;
        // A port may have the number of another verdict.
        for ports in ports.chunk_by(|&a, &b| a.max(b) < abi::DROP_INGRESS) {
            let packets = &mut packets[first..first + ports.len()];
            first += ports.len();
            if let ([packet], &[port]) = (&*packets, ports)
                && port >= abi::DROP_INGRESS
            {
                execution.output.transmit(port, packet.bytes(), packet.time_ns());
                continue;
            }
            for (packets, verdicts) in packets.chunks_mut(CALL_FRAMES_MAX).zip(ports.chunks(CALL_FRAMES_MAX)) {
                let (_, frames) = self.lending.lend(packets, self.pool.floor());
                let sent = frames.len() as u64;
                execution.output.transmit_burst(&Departures { frames, verdicts, sent });
            }
        }
        ports.clear();
        self.pool.give_all(packets.drain(..));
    }

    /// Empties the queues as far as packets are due, burst by burst.
    fn empty_queues(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        while self.leave_queues(self.together(), rules, execution) {}
    }

    /// Takes the next burst from the queues to the end, as far as packets are due; false if none is.
    fn leave_queues(&mut self, together: Together, rules: &mut dyn Rules, execution: &mut Execution<'_>) -> bool {
        self.timer.start();
        let burst_max = self.egress_max();
        let mut burst = std::mem::take(&mut self.burst);
        let (variables, now_ns) = (self.variables, execution.now_ns);
        self.roots.take_passed(together, burst_max, &mut burst);
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
        let is_due = !burst.is_empty();
        if is_due {
            self.timer.lap(CoreStage::Dequeue);
            rules.egress(self, &mut burst, execution);
        }
        self.burst = burst;
        paced_port.into_iter().for_each(|port| self.traffic.finish_departure(port));
        is_due
    }

    /// Puts a packet in the queue of a port. A packet that would leave immediately skips the queue: `begin_egress`
    /// sets its metadata. An observer is shown how packets leave queues: with one, none skips.
    #[inline]
    pub fn enqueue(
        &mut self,
        mut packet: Packet,
        port: u32,
        priority: u32,
        execution: &mut Execution<'_>,
        begin_egress: impl FnOnce(&mut Packet),
    ) {
        let has_space = self.roots.passed_of(packet.root()) < QUEUE_CAPACITY_MAX;
        if has_space && self.traffic.may_skip_queue(port, priority) && execution.observer.is_none() {
            begin_egress(&mut packet);
            self.roots.pass(packet);
        } else {
            self.enqueue_to_wait(packet, port, priority, execution);
        }
    }

    /// The same for a packet that may be delayed there.
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

    /// When a packet of `bytes` bytes that enters an internal port now arrives; now, if the port takes no time. None if
    /// its queue is full.
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

    /// Takes a packet to an internal port that is set up; if its queue is full, the packet is dropped.
    fn enter_internal(&mut self, port: InternalPort, packet: Packet, after: After, execution: &mut Execution<'_>) {
        match self.traffic.internal_arrival_ns(port, packet.length(), execution.now_ns) {
            Some(_) => self.traffic.enter_internal(port, packet, after, execution.now_ns),
            None => self.end(packet, DropReason::QueueFull, execution),
        }
    }

    /// Takes a clone through the mirror port. Returns it, to be sent immediately, if the port takes no time.
    #[inline]
    pub fn mirror(&mut self, clone: Packet, session: u32, execution: &mut Execution<'_>) -> Option<Packet> {
        if !self.traffic.has_internal_port(InternalPort::Mirror) {
            return Some(clone);
        }
        self.enter_internal(InternalPort::Mirror, clone, After::Session(session), execution);
        None
    }

    /// Continues with packets that have arrived from internal ports.
    fn arrive_from_internal_ports(&mut self, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        while let Some((mut packet, after, arrived_ns)) = self.traffic.take_arrived(execution.now_ns) {
            packet.set_root(PACED_ROOT);
            packet.set_time_ns(arrived_ns);
            observe_packet(&packet, execution);
            match after {
                After::Ingress => self.roots.inject(packet),
                After::Session(session) => rules.after_mirror(self, packet, session, execution),
                After::Replica(replica) => rules.after_replication(self, packet, replica, execution),
            }
        }
    }

    /// Injects a packet, made from one that ends here, into ingress through an internal port, whose queue is not full.
    pub fn inject_instead(&mut self, port: InternalPort, fresh: Packet, old: Packet, execution: &Execution<'_>) {
        self.pool.give(old);
        self.inject_through(port, fresh, execution);
    }

    /// Injects a packet, beside the one that it was made from, into ingress through an internal port, whose queue is
    /// not full.
    pub fn inject_through(&mut self, port: InternalPort, fresh: Packet, execution: &Execution<'_>) {
        if self.traffic.has_internal_port(port) {
            self.stats.passes += 1;
            self.traffic.enter_internal(port, fresh, After::Ingress, execution.now_ns);
        } else {
            self.inject(fresh);
        }
    }

    /// Injects a packet into ingress directly.
    pub fn inject(&mut self, fresh: Packet) {
        self.stats.passes += 1;
        self.roots.inject(fresh);
    }

    /// Sends a packet's first `length` bytes out of a port, when those before it have left.
    pub fn transmit(&mut self, mut packet: Packet, port: u32, length: usize, execution: &mut Execution<'_>) {
        self.stats.sent += 1;
        self.traffic.sent(port, length as u32);
        observe_packet(&packet, execution);
        observe(execution, || Decision::Transmitted { port, bytes: length as u32 });
        if self.roots.defers() {
            packet.cut(length as u32);
            self.roots.send_later(packet, port);
            return;
        }
        execution.output.transmit(port, &packet.bytes()[..length], packet.time_ns());
        self.pool.give(packet);
    }

    /// Ends packets whose verdict is to be sent or dropped. `exceptions` is the summary of their verdicts.
    /// There is no observer.
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
        self.again_by(|pool| pool.take(bytes), parent, execution)
    }

    /// The same of a packet that was taken out of the pool for it.
    pub fn again_of(&mut self, fresh: Packet, parent: &Packet, execution: &mut Execution<'_>) -> Option<Packet> {
        let mut fresh = Some(fresh);
        let again = self.again_by(|_| fresh.take(), parent, execution);
        fresh.into_iter().for_each(|unused| self.pool.give(unused));
        again
    }

    fn again_by(
        &mut self,
        take: impl FnOnce(&mut Pool) -> Option<Packet>,
        parent: &Packet,
        execution: &mut Execution<'_>,
    ) -> Option<Packet> {
        observe_packet(parent, execution);
        if parent.passes() >= PASSES_MAX {
            self.count_drop(DropReason::PassLimit, execution);
            return None;
        }
        let taken = self.take_copy(parent.root(), take, execution);
        taken.map(|mut packet| {
            packet.inherit(parent);
            packet
        })
    }

    /// Takes a packet's bytes for its next pass. None if it has no pass left; it ends then.
    pub fn again_in_place(&mut self, mut packet: Packet, execution: &mut Execution<'_>) -> Option<Packet> {
        if packet.passes() >= PASSES_MAX {
            self.end(packet, DropReason::PassLimit, execution);
            return None;
        }
        if !self.charge(packet.root()) {
            self.end(packet, DropReason::CopyLimit, execution);
            return None;
        }
        self.stats.copies += 1;
        packet.set_passes(packet.passes() + 1);
        packet.move_to(self.pool.start());
        Some(packet)
    }

    /// A copy of a packet with headers and metadata.
    pub fn copy(&mut self, packet: &Packet, execution: &mut Execution<'_>) -> Option<Packet> {
        observe_packet(packet, execution);
        let mut copy = self.take_copy(packet.root(), |pool| pool.copy(packet), execution)?;
        self.pipeline.copy_context(packet, &mut copy);
        Some(copy)
    }

    /// Takes `copies` copies from the budget of `root`; false, and takes none, if it has fewer.
    pub fn charge_all(&mut self, root: usize, copies: usize) -> bool {
        let copies_left = self.roots.copies_left(root);
        let left = copies_left.checked_sub(copies);
        *copies_left = left.unwrap_or(*copies_left);
        left.is_some()
    }

    /// Takes `copies` copies from the budget of `root`, or as many as it has, and returns how many.
    pub fn charge_up_to(&mut self, root: usize, copies: usize) -> usize {
        let copies_left = self.roots.copies_left(root);
        let granted = copies.min(*copies_left);
        *copies_left -= granted;
        granted
    }

    /// Takes one copy, or one pass that starts anew, from the budget of `root`; false if nothing is left. Both are
    /// counted together, because copies that enter ingress again make copies.
    pub fn charge(&mut self, root: usize) -> bool {
        self.charge_all(root, 1)
    }

    /// A packet that is charged to the budget of `root`.
    fn take_copy(
        &mut self,
        root: usize,
        take: impl FnOnce(&mut Pool) -> Option<Packet>,
        execution: &mut Execution<'_>,
    ) -> Option<Packet> {
        observe_copies(execution);
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

    /// Counts a copy that was not made.
    pub fn count_drop(&mut self, reason: DropReason, execution: &mut Execution<'_>) {
        observe_copies(execution);
        self.stats.count_drop(reason);
        observe(execution, || Decision::Dropped(reason));
    }

    pub fn end(&mut self, packet: Packet, reason: DropReason, execution: &mut Execution<'_>) {
        observe_packet(&packet, execution);
        self.stats.count_drop(reason);
        observe(execution, || Decision::Dropped(reason));
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

/// Packets of a call that lie between those which have left the fast path: frames and verdicts of the call.
#[derive(Default)]
pub(crate) struct Neighbours<'a> {
    pub frames: &'a [Frame<'a>],
    pub verdicts: &'a [Verdict],
    /// The root of the first.
    pub first: usize,
    /// How many have been sent.
    pub done: usize,
}

impl<'a> Neighbours<'a> {
    /// Those before this root that have not been sent. It is one of the call, or there are none.
    fn before(&mut self, root: usize) -> (&'a [Frame<'a>], &'a [Verdict]) {
        if self.frames.is_empty() {
            return (&[], &[]);
        }
        let end = root - self.first;
        let these = self.done.min(end)..end;
        self.done = end + 1;
        (&self.frames[these.clone()], &self.verdicts[these])
    }
}

/// Names the packet to which the next decisions belong to the observer, if there is one.
pub(crate) fn observe_packet(packet: &Packet, execution: &mut Execution<'_>) {
    if let Some(observer) = &mut execution.observer {
        observer.packet(packet.tag());
    }
}

/// Reports to the observer, if there is one, that the packet becomes several.
pub(crate) fn observe_copies(execution: &mut Execution<'_>) {
    if let Some(observer) = &mut execution.observer {
        observer.copied();
    }
}

/// Reports a decision to the observer, if there is one.
pub(crate) fn observe(execution: &mut Execution<'_>, decision: impl FnOnce() -> Decision) {
    if let Some(observer) = &mut execution.observer {
        Observer::decision(*observer, decision());
    }
}
