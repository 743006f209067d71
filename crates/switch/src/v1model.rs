//! The rules of v1model: what happens to a packet between and around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows
//! v1model's rules: the order of decisions after ingress and egress, what a clone, a resubmission or a recirculation
//! carries, and the standard metadata. Where the reference switch leaves an accident visible, this file does what its
//! documentation says.
//!
//! A burst goes through parser, checksum verification and ingress; then each packet's fate is decided in order of
//! arrival; then the queues are emptied through egress, checksum computation and deparser. Packets that go round again
//! form bursts of their own, which are worked on before new ones.

use crate::output::{Decision, Observer};
use crate::packet::{Packet, Pool};
use crate::pipeline::{Pipeline, World};
use crate::replication::{Destination, Replication};
use crate::stage_times::{CoreStage, StageTimer};
use crate::stats::{DropReason, Stats};
use crate::traffic::{Departure, Refusal, TrafficManager};
use base::index::Id as _;
use base::limits::{BURST_PACKETS_MAX, COPIES_MAX, PASSES_MAX};
use ir::v1model::{DROP_PORT, InstanceType, Slot, Stage};
use ir::walk::{Item, bodies, visit_block, visit_body};
use ir::{BlockId, FieldListId, Place, Program, StmtKind, VarId, VarKind};
use std::collections::VecDeque;

/// The budget that packets share which waited in a queue with a rate.
const PACED_ROOT: usize = BURST_PACKETS_MAX;

/// The state of the architecture: queues, groups, packets on their way.
pub(crate) struct V1Model {
    pub pipeline: Box<dyn Pipeline>,
    pub traffic: TrafficManager<Packet>,
    pub replication: Replication,
    pub pool: Pool,
    pub stats: Stats,
    pub timer: StageTimer,
    /// Packets that go through ingress again, before any new one.
    again: VecDeque<Packet>,
    /// The present burst, kept to save its allocation.
    burst: Vec<Packet>,
    /// Copies of the present burst's packets as they were received; empty if the program never needs them.
    originals: Vec<Option<Packet>>,
    keeps_originals: bool,
    has_assertions: bool,
    /// Whether packets go through one by one, because it would show how many were received together: the program reads
    /// what the queues write, or sends packets round again, which would then be overtaken by their neighbours.
    one_by_one: bool,
    /// Whether the program can tell at which moment a packet was worked on (beside the moment of its reception).
    pub shows_time: bool,
    /// Copies that each packet of the present burst may still become; the last is for packets out of paced queues.
    copies_left: [usize; BURST_PACKETS_MAX + 1],
}

impl V1Model {
    pub fn new(program: &Program, pipeline: Box<dyn Pipeline>, pool: Pool, priorities: usize) -> V1Model {
        V1Model {
            pipeline,
            traffic: TrafficManager::new(priorities),
            replication: Replication::default(),
            pool,
            stats: Stats::default(),
            timer: StageTimer::default(),
            again: VecDeque::new(),
            burst: Vec::with_capacity(BURST_PACKETS_MAX),
            originals: Vec::with_capacity(BURST_PACKETS_MAX),
            keeps_originals: writes_slot(program, Slot::CloneIngressSession) || writes_slot(program, Slot::Resubmit),
            has_assertions: has_assertions(program),
            one_by_one: reads_queues(program) || sends_round_again(program),
            shows_time: reads_queues(program) || !program.meters.is_empty() || !program.direct_meters.is_empty(),
            copies_left: [0; BURST_PACKETS_MAX + 1],
        }
    }

    /// Makes a packet of received bytes; none, counted, if there is no buffer for it.
    pub fn receive(&mut self, now_ns: u64, port: u32, frame: &[u8]) -> Option<Packet> {
        self.stats.received += 1;
        let Some(mut packet) = self.pool.take(frame) else {
            self.stats.count_drop(DropReason::NoBuffer);
            return None;
        };
        packet.clear_intrinsics();
        packet.set_passes(0);
        packet.set_time_ns(now_ns);
        packet.set_intrinsic(Slot::IngressPort, u64::from(port));
        self.begin_pass(&mut packet, now_ns, InstanceType::Normal);
        Some(packet)
    }

    /// Works on received packets and everything they cause, and on queued packets that are due.
    pub fn run(&mut self, received: &mut Vec<Packet>, world: &mut World<'_>) {
        self.copies_left[PACED_ROOT] = COPIES_MAX;
        let one_by_one = self.one_by_one || self.traffic.has_rates();
        let burst_max = if one_by_one { 1 } else { self.pipeline.burst_max().clamp(1, BURST_PACKETS_MAX) };
        let mut received = received.drain(..);
        self.egress(burst_max, world);
        loop {
            let mut burst = std::mem::take(&mut self.burst);
            while burst.len() < burst_max
                && let Some(packet) = self.again.pop_front()
            {
                burst.push(packet);
            }
            if burst.is_empty() {
                burst.extend(received.by_ref().take(burst_max));
                for (root, packet) in burst.iter_mut().enumerate() {
                    packet.set_root(root);
                    self.copies_left[root] = COPIES_MAX;
                }
            }
            if burst.is_empty() {
                self.burst = burst;
                return;
            }
            self.ingress(&mut burst, world);
            self.burst = burst;
            self.egress(burst_max, world);
        }
    }

    // ------------------------------------------------------------------------------------------------ ingress

    /// Sets what a packet carries when a pass starts.
    fn begin_pass(&mut self, packet: &mut Packet, now_ns: u64, instance_type: InstanceType) {
        let length = packet.length();
        packet.set_ingress_length(length);
        packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
        packet.set_intrinsic(Slot::PacketLength, u64::from(length));
        packet.set_intrinsic(Slot::IngressGlobalTimestamp, now_ns / 1000);
        self.pipeline.begin_pass(packet);
    }

    /// The same for a packet that comes from another one and keeps the variables of a field list.
    fn begin_later_pass(
        &mut self,
        packet: &mut Packet,
        from: &Packet,
        list: Option<FieldListId>,
        now_ns: u64,
        instance_type: InstanceType,
    ) {
        self.begin_pass(packet, now_ns, instance_type);
        if let Some(list) = list {
            self.pipeline.reset_metadata(packet);
            self.pipeline.preserve(list, from, packet);
            // These two are always the new pass's own.
            packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
            packet.set_intrinsic(Slot::PacketLength, u64::from(packet.length()));
        }
    }

    fn ingress(&mut self, burst: &mut Vec<Packet>, world: &mut World<'_>) {
        for packet in burst.iter() {
            let port = packet.intrinsic(Slot::IngressPort) as u32;
            let instance_type = packet.intrinsic(Slot::InstanceType);
            tell(world, || Decision::IngressStarts { port, bytes: packet.length(), instance_type });
        }
        if self.keeps_originals {
            self.originals.extend(burst.iter().map(|packet| self.pool.take(packet.bytes())));
        }
        self.timer.start();
        for (stage, lap) in [
            (Stage::Parser, CoreStage::Parser),
            (Stage::VerifyChecksum, CoreStage::VerifyChecksum),
            (Stage::Ingress, CoreStage::Ingress),
        ] {
            self.pipeline.run(block(stage), burst, world);
            self.end_failed(burst, world);
            self.timer.lap(lap);
        }
        let mut originals = std::mem::take(&mut self.originals);
        let mut original_of = originals.drain(..);
        for packet in burst.drain(..) {
            let original = original_of.next().flatten();
            self.after_ingress(packet, original, world);
        }
        drop(original_of);
        self.originals = originals;
        self.timer.lap(CoreStage::Decide);
    }

    /// The decisions after ingress, in the order of the reference: clone, resubmit, multicast, drop, unicast. (A digest
    /// was sent by the program's own last statement.)
    fn after_ingress(&mut self, mut packet: Packet, mut original: Option<Packet>, world: &mut World<'_>) {
        let session = packet.intrinsic(Slot::CloneIngressSession);
        if session != 0 {
            let list = field_list(packet.intrinsic(Slot::CloneIngressList), 1);
            self.clone_ingress(&packet, original.as_ref(), (session - 1) as u32, list, world);
        }
        packet.set_intrinsic(Slot::CloneIngressSession, 0);
        let resubmit = packet.intrinsic(Slot::Resubmit);
        if resubmit != 0 {
            self.resubmit(packet, original, field_list(resubmit, 2), world);
            return;
        }
        if let Some(original) = original.take() {
            self.pool.give(original);
        }
        let group = packet.intrinsic(Slot::McastGrp);
        if group != 0 {
            self.multicast(packet, group, world);
        } else if packet.intrinsic(Slot::EgressSpec) == DROP_PORT {
            self.end(packet, DropReason::Ingress, world);
        } else {
            let port = packet.intrinsic(Slot::EgressSpec) as u32;
            tell(world, || Decision::Unicast { port });
            self.enqueue(packet, port, world);
        }
    }

    /// The copy is the packet as it was received, parsed again, with no metadata but those of the list.
    fn clone_ingress(
        &mut self,
        packet: &Packet,
        original: Option<&Packet>,
        session: u32,
        list: Option<FieldListId>,
        world: &mut World<'_>,
    ) {
        if self.replication.session(session).is_none() {
            tell(world, || Decision::Cloned { session, copies: None });
            return;
        }
        let Some(original) = original else {
            self.count_drop(DropReason::NoBuffer, world);
            return;
        };
        let Some(mut copy) = self.again_from(original.bytes(), packet, world) else { return };
        self.begin_later_pass(&mut copy, packet, list, world.now_ns, InstanceType::IngressClone);
        self.pipeline.run(block(Stage::Parser), std::slice::from_mut(&mut copy), world);
        if copy.assertion_failed() {
            self.end(copy, DropReason::AssertionFailed, world);
            return;
        }
        self.send_clone(copy, session, world);
    }

    fn resubmit(&mut self, packet: Packet, original: Option<Packet>, list: Option<FieldListId>, world: &mut World<'_>) {
        let Some(mut fresh) = original else {
            self.end(packet, DropReason::NoBuffer, world);
            return;
        };
        if packet.passes() >= PASSES_MAX {
            self.end_all(packet, Some(fresh), DropReason::PassLimit, world);
            return;
        }
        fresh.clear_intrinsics();
        fresh.set_passes(packet.passes() + 1);
        fresh.set_time_ns(packet.time_ns());
        fresh.set_root(packet.root());
        self.begin_later_pass(&mut fresh, &packet, list, world.now_ns, InstanceType::Resubmitted);
        self.stats.passes += 1;
        tell(world, || Decision::Resubmitted);
        self.pool.give(packet);
        self.again.push_back(fresh);
    }

    fn multicast(&mut self, mut packet: Packet, group: u64, world: &mut World<'_>) {
        let destination = Destination::Group(group);
        let replicas = self.replication.replicas(destination).len();
        tell(world, || Decision::Multicast { group, replicas });
        packet.set_intrinsic(Slot::InstanceType, InstanceType::Replicated as u64);
        // Replicas do not inherit the truncation of what they replicate.
        packet.set_intrinsic(Slot::Truncate, 0);
        self.replicate(packet, destination, world);
    }

    fn send_clone(&mut self, copy: Packet, session: u32, world: &mut World<'_>) {
        let destination = Destination::Session(session);
        let copies = self.replication.replicas(destination).len();
        tell(world, || Decision::Cloned { session, copies: Some(copies) });
        self.replicate(copy, destination, world);
    }

    /// Queues a copy of the packet for each replica; the last gets the packet itself.
    fn replicate(&mut self, mut packet: Packet, destination: Destination, world: &mut World<'_>) {
        let count = self.replication.replicas(destination).len();
        let Some(last) = count.checked_sub(1) else {
            self.end(packet, DropReason::NoReplicas, world);
            return;
        };
        for position in 0..last {
            let replica = self.replication.replicas(destination)[position];
            if let Some(mut copy) = self.copy(&packet, world) {
                copy.set_intrinsic(Slot::EgressRid, replica.rid);
                self.enqueue(copy, replica.port, world);
            }
        }
        let replica = self.replication.replicas(destination)[last];
        packet.set_intrinsic(Slot::EgressRid, replica.rid);
        self.enqueue(packet, replica.port, world);
    }

    // ------------------------------------------------------------------------------------------------- queues

    fn enqueue(&mut self, mut packet: Packet, port: u32, world: &mut World<'_>) {
        let priority = packet.intrinsic(Slot::Priority) as u32;
        packet.set_intrinsic(Slot::EnqTimestamp, (world.now_ns / 1000) & u64::from(u32::MAX));
        packet.set_intrinsic(Slot::EnqQdepth, self.traffic.depth(port, priority) as u64);
        if let Err((packet, refusal)) = self.traffic.enqueue(packet, port, priority, world.now_ns) {
            let reason = match refusal {
                Refusal::NoPort => DropReason::NoPort,
                Refusal::NoPriority => DropReason::NoPriority,
                Refusal::Full => DropReason::QueueFull,
            };
            self.end(packet, reason, world);
        }
    }

    // ------------------------------------------------------------------------------------------------- egress

    /// Empties the queues as far as packets are due, burst by burst.
    fn egress(&mut self, burst_max: usize, world: &mut World<'_>) {
        self.timer.start();
        loop {
            let mut burst = std::mem::take(&mut self.burst);
            let now_ns = world.now_ns;
            self.traffic.dequeue(now_ns, burst_max, |departure| burst.push(begin_egress(departure, world)));
            if burst.is_empty() {
                self.burst = burst;
                return;
            }
            self.timer.lap(CoreStage::Dequeue);
            self.egress_burst(&mut burst, world);
            self.burst = burst;
        }
    }

    fn egress_burst(&mut self, burst: &mut Vec<Packet>, world: &mut World<'_>) {
        self.pipeline.run(block(Stage::Egress), burst, world);
        self.end_failed(burst, world);
        let mut position = 0;
        while position < burst.len() {
            match self.after_egress(&mut burst[position], world) {
                None => position += 1,
                Some(reason) => {
                    let packet = burst.remove(position);
                    self.end(packet, reason, world);
                }
            }
        }
        self.timer.lap(CoreStage::Egress);
        if burst.is_empty() {
            return;
        }
        self.pipeline.run(block(Stage::ComputeChecksum), burst, world);
        self.end_failed(burst, world);
        self.timer.lap(CoreStage::ComputeChecksum);
        self.pipeline.run(block(Stage::Deparser), burst, world);
        self.end_failed(burst, world);
        self.timer.lap(CoreStage::Deparser);
        for packet in burst.drain(..) {
            self.after_deparser(packet, world);
        }
        self.timer.lap(CoreStage::Transmit);
    }

    /// The decisions after egress: clone, then drop.
    fn after_egress(&mut self, packet: &mut Packet, world: &mut World<'_>) -> Option<DropReason> {
        let session = packet.intrinsic(Slot::CloneEgressSession);
        if session != 0 {
            let list = field_list(packet.intrinsic(Slot::CloneEgressList), 1);
            packet.set_intrinsic(Slot::CloneEgressSession, 0);
            self.clone_egress(packet, (session - 1) as u32, list, world);
        }
        (packet.intrinsic(Slot::EgressSpec) == DROP_PORT).then_some(DropReason::Egress)
    }

    /// The copy has the headers as they are and no metadata but those of the list; it starts at the queue.
    fn clone_egress(&mut self, packet: &Packet, session: u32, list: Option<FieldListId>, world: &mut World<'_>) {
        if self.replication.session(session).is_none() {
            tell(world, || Decision::Cloned { session, copies: None });
            return;
        }
        if packet.passes() >= PASSES_MAX {
            self.count_drop(DropReason::PassLimit, world);
            return;
        }
        let Some(mut copy) = self.copy(packet, world) else { return };
        copy.clear_intrinsics();
        copy.set_passes(packet.passes() + 1);
        self.pipeline.reset_metadata(&mut copy);
        if let Some(list) = list {
            self.pipeline.preserve(list, packet, &mut copy);
        }
        copy.set_intrinsic(Slot::InstanceType, InstanceType::EgressClone as u64);
        copy.set_intrinsic(Slot::PacketLength, packet.intrinsic(Slot::PacketLength));
        self.send_clone(copy, session, world);
    }

    fn after_deparser(&mut self, packet: Packet, world: &mut World<'_>) {
        if packet.is_too_long() {
            self.end(packet, DropReason::TooLong, world);
            return;
        }
        let recirculate = packet.intrinsic(Slot::Recirculate);
        if recirculate != 0 {
            self.recirculate(packet, field_list(recirculate, 2), world);
            return;
        }
        let port = packet.intrinsic(Slot::EgressPort) as u32;
        let bytes = packet.bytes();
        let length = match packet.intrinsic(Slot::Truncate) {
            0 => bytes.len(),
            limit => bytes.len().min((limit - 1) as usize),
        };
        self.stats.sent += 1;
        tell(world, || Decision::Transmitted { port, bytes: length as u32 });
        world.output.transmit(port, &bytes[..length], packet.time_ns());
        self.pool.give(packet);
    }

    fn recirculate(&mut self, packet: Packet, list: Option<FieldListId>, world: &mut World<'_>) {
        if packet.passes() >= PASSES_MAX {
            self.end(packet, DropReason::PassLimit, world);
            return;
        }
        let Some(mut fresh) = self.again_from(packet.bytes(), &packet, world) else {
            self.pool.give(packet);
            return;
        };
        self.begin_later_pass(&mut fresh, &packet, list, world.now_ns, InstanceType::Recirculated);
        self.stats.passes += 1;
        tell(world, || Decision::Recirculated);
        self.pool.give(packet);
        self.again.push_back(fresh);
    }

    // ------------------------------------------------------------------------------------------------- shared

    /// A new packet of `bytes`, with no metadata, one pass older than `parent`.
    fn again_from(&mut self, bytes: &[u8], parent: &Packet, world: &mut World<'_>) -> Option<Packet> {
        if parent.passes() >= PASSES_MAX {
            self.count_drop(DropReason::PassLimit, world);
            return None;
        }
        let taken = self.take_copy(parent.root(), |pool| pool.take(bytes), world);
        taken.map(|mut packet| {
            packet.clear_intrinsics();
            packet.set_passes(parent.passes() + 1);
            packet.set_time_ns(parent.time_ns());
            packet.set_root(parent.root());
            packet
        })
    }

    /// A copy of a packet with headers and metadata.
    fn copy(&mut self, packet: &Packet, world: &mut World<'_>) -> Option<Packet> {
        let mut copy = self.take_copy(packet.root(), |pool| pool.copy(packet), world)?;
        // A copy does not inherit its original's truncation.
        copy.set_intrinsic(Slot::Truncate, 0);
        self.pipeline.copy_context(packet, &mut copy);
        Some(copy)
    }

    /// A packet that is charged to the budget of `root`.
    fn take_copy(
        &mut self,
        root: usize,
        take: impl Fn(&mut Pool) -> Option<Packet>,
        world: &mut World<'_>,
    ) -> Option<Packet> {
        if self.copies_left[root] == 0 {
            self.count_drop(DropReason::CopyLimit, world);
            return None;
        }
        self.copies_left[root] -= 1;
        let taken = take(&mut self.pool);
        match taken {
            Some(_) => self.stats.copies += 1,
            None => self.count_drop(DropReason::NoBuffer, world),
        }
        taken
    }

    /// Ends the packets on which an assertion has failed: no further block may see them.
    fn end_failed(&mut self, burst: &mut Vec<Packet>, world: &mut World<'_>) {
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
            let original = if self.originals.is_empty() { None } else { self.originals.remove(position) };
            self.end_all(packet, original, DropReason::AssertionFailed, world);
        }
    }

    fn count_drop(&mut self, reason: DropReason, world: &mut World<'_>) {
        self.stats.count_drop(reason);
        tell(world, || Decision::Dropped(reason));
    }

    fn end(&mut self, packet: Packet, reason: DropReason, world: &mut World<'_>) {
        self.count_drop(reason, world);
        self.pool.give(packet);
    }

    fn end_all(&mut self, packet: Packet, other: Option<Packet>, reason: DropReason, world: &mut World<'_>) {
        self.end(packet, reason, world);
        if let Some(other) = other {
            self.pool.give(other);
        }
    }
}

/// Sets what a packet carries when egress starts.
fn begin_egress(departure: Departure<Packet>, world: &mut World<'_>) -> Packet {
    let Departure { mut packet, port, enqueued_ns, depth_packets, is_paced, .. } = departure;
    if is_paced {
        packet.set_root(PACED_ROOT);
        packet.set_time_ns(world.now_ns);
    }
    let waited_us = world.now_ns.saturating_sub(enqueued_ns) / 1000;
    let delta = packet.intrinsic(Slot::LengthDelta) as u32;
    let length = packet.intrinsic(Slot::PacketLength) as u32;
    let length = if length == 0 { packet.ingress_length() } else { length };
    packet.set_intrinsic(Slot::EgressPort, u64::from(port));
    packet.set_intrinsic(Slot::EgressSpec, 0);
    packet.set_intrinsic(Slot::PacketLength, u64::from(length.wrapping_add(delta)));
    packet.set_intrinsic(Slot::LengthDelta, 0);
    packet.set_intrinsic(Slot::DeqTimedelta, waited_us & u64::from(u32::MAX));
    packet.set_intrinsic(Slot::DeqQdepth, depth_packets as u64);
    packet.set_intrinsic(Slot::EgressGlobalTimestamp, world.now_ns / 1000);
    let (rid, instance_type) = (packet.intrinsic(Slot::EgressRid), packet.intrinsic(Slot::InstanceType));
    tell(world, || Decision::EgressStarts { port, rid, instance_type });
    packet
}

/// Tells the observer, if there is one.
fn tell(world: &mut World<'_>, decision: impl FnOnce() -> Decision) {
    if let Some(observer) = &mut world.observer {
        Observer::decision(*observer, decision());
    }
}

fn block(stage: Stage) -> BlockId {
    BlockId::from_index(stage as usize)
}

/// The field list in a request that counts lists from `first`.
fn field_list(request: u64, first: u64) -> Option<FieldListId> {
    (request >= first).then(|| FieldListId::from_index((request - first) as usize))
}

/// Whether any statement of the program writes the intrinsic variable in `slot`.
fn writes_slot(program: &Program, slot: Slot) -> bool {
    let is_slot = |place: Option<&Place>| match place {
        Some(Place::Var(var)) => program.vars[*var].kind == VarKind::Intrinsic(slot as u32),
        _ => false,
    };
    let mut found = false;
    for body in bodies(program) {
        visit_body(body, &mut |statement| found |= is_slot(statement.kind.dst()));
    }
    found
}

/// Whether the program resubmits, recirculates, or clones from egress.
fn sends_round_again(program: &Program) -> bool {
    [Slot::Resubmit, Slot::Recirculate, Slot::CloneEgressSession].iter().any(|&slot| writes_slot(program, slot))
}

/// Whether the program reads what the queues write: depths and time stamps.
fn reads_queues(program: &Program) -> bool {
    let written =
        [Slot::EnqTimestamp, Slot::EnqQdepth, Slot::DeqTimedelta, Slot::DeqQdepth, Slot::EgressGlobalTimestamp];
    let is_written = |var: VarId| match program.vars[var].kind {
        VarKind::Intrinsic(slot) => written.iter().any(|&queue| queue as u32 == slot),
        _ => false,
    };
    let mut found = false;
    for block in &program.blocks {
        visit_block(program, block, &mut |item| {
            if let Item::Var(var) = item {
                found |= is_written(var);
            }
        });
    }
    found
}

/// Whether the program asserts anything.
fn has_assertions(program: &Program) -> bool {
    let mut found = false;
    for body in bodies(program) {
        visit_body(body, &mut |statement| found |= matches!(statement.kind, StmtKind::Assert { .. }));
    }
    found
}
