//! The rules of v1model: what happens to a packet between and around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows
//! v1model's operations: what a clone, a resubmission or a recirculation carries, and the standard metadata. When they
//! are due is decided by the program ([`ir::Program::decisions`]). Where the reference switch leaves an accident
//! visible, this file follows its documentation.
//!
//! A burst goes through parser, checksum verification and ingress; then what was decided about each packet is carried
//! out in order of arrival. What leaves the queues goes through egress, checksum computation and deparser.

use crate::coalescing::CoalescingBuffer;
use crate::engine::{Engine, Observability, Rules, observe, observe_copies, observe_packet};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::pipeline::{Execution, Step};
use crate::records::{is_records, records};
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::{Departure, InternalPort};
use crate::variables::Variables;
use base::index::Id as _;
use base::limits::PASSES_MAX;
use cgen::abi::Decided;
use ir::v1model::{Decisions, Gather, InstanceType, Scatter, Slot, Stage};
use ir::{BlockId, Effect, FieldListId, PointId, Program};

/// The architecture's own state.
pub(crate) struct V1Model {
    /// Copies of the present burst's packets as they were received; empty if the program never needs them.
    originals: Originals,
    needs_originals: bool,
    /// Packets whose requests have been carried out, about which is decided again, as the present burst and originals.
    rest: Vec<Packet>,
    rest_originals: Originals,
    /// Clones from ingress that they have requested.
    clones: Vec<IngressClone>,
    cloned: Vec<Packet>,
}

/// What becomes of a clone from ingress when it has been parsed.
struct IngressClone {
    /// The position of the packet that it is a clone of.
    of: usize,
    session: u32,
    list: Option<FieldListId>,
}

/// What a program shows of how packets are worked on.
pub(crate) fn observability(program: &Program) -> Observability {
    Observability {
        time: program.mentions_queues()
            || program.may_request(Effect::JoinsOrSplits)
            || !program.meters.is_empty()
            || !program.direct_meters.is_empty(),
        depths: program.mentions_queues(),
    }
}

impl V1Model {
    pub fn new(program: &Program) -> V1Model {
        V1Model {
            originals: Vec::new(),
            needs_originals: program.may_request(Effect::Original),
            rest: Vec::new(),
            rest_originals: Vec::new(),
            clones: Vec::new(),
            cloned: Vec::new(),
        }
    }

    /// Copies the packets as they were received, if the program may request that.
    fn save_originals(&mut self, engine: &mut Engine, burst: &[Packet], port: impl Fn(&Packet) -> u64) {
        if self.needs_originals {
            self.originals.extend(burst.iter().map(|packet| {
                let mut original = engine.pool.take(packet.bytes())?;
                original.set_intrinsic(Slot::IngressPort, port(packet));
                Some(original)
            }));
        }
    }
}

impl Rules for V1Model {
    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        engine.observe_ingress(burst, |packet| self.kind(packet), execution);
        self.save_originals(engine, burst, |packet| packet.intrinsic(Slot::IngressPort));
        engine.timer.start();
        let parser = &[block(Stage::Parser)][..];
        let verify_checksum = &[block(Stage::VerifyChecksum)][..];
        let ingress = &[block(Stage::Ingress), point(Decisions::Ingress)][..];
        let blocks =
            [(parser, CoreStage::Parser), (verify_checksum, CoreStage::VerifyChecksum), (ingress, CoreStage::Ingress)];
        engine.run_blocks(&blocks, burst, &mut self.originals, execution);
        let mut originals = std::mem::take(&mut self.originals);
        self.leave_ingress(engine, burst, &mut originals, execution);
        self.originals = originals;
        engine.timer.lap(CoreStage::Decide);
    }

    fn kind(&self, packet: &Packet) -> &'static str {
        match packet.intrinsic(Slot::InstanceType) {
            0 => "a normal packet",
            1 => "a clone from ingress",
            2 => "a clone from egress",
            3 => "a coalesced packet",
            4 => "a recirculated packet",
            5 => "a replica",
            6 => "a resubmitted packet",
            7 => "a record of a packet",
            8 => "a packet that is not made of records",
            _ => "a packet of unknown kind",
        }
    }

    fn begin_egress(
        &mut self,
        _variables: Variables,
        departure: Departure<Packet>,
        execution: &mut Execution<'_>,
    ) -> Packet {
        let Departure { mut packet, port, enqueued_ns, depth_packets, .. } = departure;
        leave_queue(&mut packet, port, execution.now_ns);
        let waited_us = execution.now_ns.saturating_sub(enqueued_ns) / 1000;
        packet.set_intrinsic(Slot::DeqTimedelta, waited_us & u64::from(u32::MAX));
        packet.set_intrinsic(Slot::DeqQdepth, depth_packets as u64);
        let rid = packet.intrinsic(Slot::EgressRid);
        observe_packet(&packet, execution);
        observe(execution, || Decision::EgressStarts { port, rid, kind: self.kind(&packet) });
        packet
    }

    fn egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        let steps = [point(Decisions::Queues), block(Stage::Egress), point(Decisions::Egress)];
        engine.pipeline.run(&steps, burst, execution);
        engine.end_failed(burst, &mut Vec::new(), execution);
        finish_egress(engine, burst, execution);
    }

    fn after_ingress(
        &mut self,
        engine: &mut Engine,
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    ) {
        engine.pipeline.run(&[point(Decisions::Ingress)], burst, execution);
        self.leave_ingress(engine, burst, originals, execution);
    }

    fn after_egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        engine.pipeline.run(&[point(Decisions::Egress)], burst, execution);
        finish_egress(engine, burst, execution);
    }

    fn after_mirror(&mut self, engine: &mut Engine, clone: Packet, session: u32, execution: &mut Execution<'_>) {
        replicate(engine, clone, Destination::Session(session), execution);
    }

    fn after_replication(
        &mut self,
        engine: &mut Engine,
        packet: Packet,
        replica: Replica,
        execution: &mut Execution<'_>,
    ) {
        enqueue_replica(engine, packet, replica, execution);
    }

    fn release(&mut self, engine: &mut Engine, number: u16, buffer: CoalescingBuffer, execution: &mut Execution<'_>) {
        leave(engine, number, buffer, execution);
    }
}

// -------------------------------------------------------------------------------------------- passes

/// Sets what a packet carries when a pass starts.
fn begin_pass(engine: &mut Engine, packet: &mut Packet, now_ns: u64, instance_type: InstanceType) {
    engine.begin_pass(packet, now_ns);
    packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
}

/// The same for a packet that comes from another one and keeps the variables of a field list.
fn begin_later_pass(
    engine: &mut Engine,
    packet: &mut Packet,
    from: &Packet,
    list: Option<FieldListId>,
    now_ns: u64,
    instance_type: InstanceType,
) {
    begin_pass(engine, packet, now_ns, instance_type);
    if let Some(list) = list {
        engine.pipeline.reset_metadata(packet);
        engine.pipeline.preserve(list, from, packet);
        // These two are always the new pass's own.
        packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
        packet.set_intrinsic(Slot::PacketLength, u64::from(packet.length()));
    }
}

impl V1Model {
    /// Carries out what was decided about packets behind ingress. (A digest was sent by the program's own last
    /// statement.) Packets are processed together, so a request of one is carried out before a later request of
    /// another.
    fn leave_ingress(
        &mut self,
        engine: &mut Engine,
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    ) {
        while !burst.is_empty() {
            let mut original_of = originals.drain(..);
            for packet in burst.drain(..) {
                let original = original_of.next().flatten();
                self.leave_ingress_or_stay(engine, packet, original, execution);
            }
            drop(original_of);
            self.send_clones(engine, execution);
            if !self.rest.is_empty() {
                std::mem::swap(burst, &mut self.rest);
                std::mem::swap(originals, &mut self.rest_originals);
                engine.pipeline.run(&[point(Decisions::Ingress)], burst, execution);
            }
        }
    }

    /// Carries out what was decided about a packet. It stays in `rest` if more is to be decided about it.
    fn leave_ingress_or_stay(
        &mut self,
        engine: &mut Engine,
        packet: Packet,
        original: Option<Packet>,
        execution: &mut Execution<'_>,
    ) {
        match packet.decided() {
            Decided::Punt { slot, .. } => self.ingress_request(engine, slot, packet, original, execution),
            Decided::Enqueue { port, .. } => {
                original.into_iter().for_each(|original| engine.pool.give(original));
                observe(execution, || Decision::Unicast { port });
                enqueue(engine, packet, port, execution);
            }
            Decided::Continues | Decided::Send { .. } | Decided::Drop(_) => {
                engine.end_all(packet, original, DropReason::Ingress, execution);
            }
        }
    }

    /// Carries out and clears a request of ingress. The packet, and as it was received, stay in `rest` unless it ends.
    fn ingress_request(
        &mut self,
        engine: &mut Engine,
        slot: u32,
        mut packet: Packet,
        mut original: Option<Packet>,
        execution: &mut Execution<'_>,
    ) {
        let request = packet.intrinsic(slot);
        if slot == Slot::Release as u32 {
            packet.set_intrinsic(slot, 0);
            release_buffer(engine, (request - 1) as u16, &packet, execution);
        } else if slot == Slot::CloneIngressSession as u32 {
            packet.set_intrinsic(slot, 0);
            self.clone_ingress(engine, &packet, &mut original, (request - 1) as u32, execution);
        } else if slot == Slot::CloneToIngress as u32 {
            packet.set_intrinsic(slot, 0);
            match &original {
                Some(original) => {
                    let (port, list) = (original.intrinsic(Slot::IngressPort), field_list(request, 2));
                    let kind = InstanceType::IngressClone;
                    clone_to_ingress(engine, &packet, original.bytes(), port, list, kind, execution);
                }
                None => engine.count_drop(DropReason::NoBuffer, execution),
            }
        } else if slot == Slot::Resubmit as u32 {
            return resubmit(engine, packet, original, field_list(request, 2), execution);
        } else if let Some(request) = Scatter::of(request).filter(|_| slot == Slot::Scatter as u32) {
            return scatter(engine, packet, original, request, execution);
        } else {
            original.into_iter().for_each(|original| engine.pool.give(original));
            return multicast(engine, packet, request, execution);
        }
        self.rest.push(packet);
        self.rest_originals.push(original);
    }

    /// The copy is the packet as it was received, which is parsed again with others (`send_clones`). The packet is the
    /// next of `rest`.
    fn clone_ingress(
        &mut self,
        engine: &mut Engine,
        packet: &Packet,
        original: &mut Option<Packet>,
        session: u32,
        execution: &mut Execution<'_>,
    ) {
        if engine.replication.session(session).is_none() {
            observe(execution, || Decision::Cloned { session, copies: None });
            return;
        }
        let Some(received) = original.take() else {
            engine.count_drop(DropReason::NoBuffer, execution);
            return;
        };
        let port = received.intrinsic(Slot::IngressPort);
        // The last request that needs the packet as it was received gets it; others get copies.
        let needs_more = [Slot::CloneToIngress, Slot::Resubmit, Slot::Scatter];
        let copy = if needs_more.into_iter().any(|slot| packet.intrinsic(slot) != 0) {
            let copy = engine.again_from(received.bytes(), packet, execution);
            *original = Some(received);
            copy
        } else {
            engine.again_of(received, packet, execution)
        };
        let Some(mut copy) = copy else { return };
        // The parser sees what it saw of the packet, the port included, and so takes the same path.
        begin_pass(engine, &mut copy, execution.now_ns, InstanceType::Normal);
        copy.set_intrinsic(Slot::IngressPort, port);
        let list = field_list(packet.intrinsic(Slot::CloneList), 1);
        self.cloned.push(copy);
        self.clones.push(IngressClone { of: self.rest.len(), session, list });
    }

    /// Sends clones from ingress: their metadata are reset, but for those of the list, the port of reception, which the
    /// parser looks at, and the time of the pass.
    fn send_clones(&mut self, engine: &mut Engine, execution: &mut Execution<'_>) {
        if self.clones.is_empty() {
            return;
        }
        engine.pipeline.run(&[block(Stage::Parser)], &mut self.cloned, execution);
        for (mut copy, clone) in self.cloned.drain(..).zip(self.clones.drain(..)) {
            if copy.assertion_failed() {
                engine.end(copy, DropReason::AssertionFailed, execution);
                continue;
            }
            // What the parser has written to metadata goes, its error included: the headers are what it is there for.
            engine.pipeline.reset_metadata(&mut copy);
            let [port, time] = [Slot::IngressPort, Slot::IngressGlobalTimestamp].map(|slot| copy.intrinsic(slot));
            copy.clear_intrinsics();
            copy.set_intrinsic(Slot::IngressPort, port);
            copy.set_intrinsic(Slot::IngressGlobalTimestamp, time);
            if let Some(list) = clone.list {
                engine.pipeline.preserve(list, &self.rest[clone.of], &mut copy);
            }
            copy.set_intrinsic(Slot::InstanceType, InstanceType::IngressClone as u64);
            copy.set_intrinsic(Slot::PacketLength, u64::from(copy.ingress_length()));
            send_clone(engine, copy, clone.session, execution);
        }
    }
}

/// The copy is a packet of its own that was received on `port` with these bytes, and has the metadata of the list from
/// the start. No session is looked up: there is only one place that it can go to.
fn clone_to_ingress(
    engine: &mut Engine,
    packet: &Packet,
    bytes: &[u8],
    port: u64,
    list: Option<FieldListId>,
    instance_type: InstanceType,
    execution: &mut Execution<'_>,
) {
    let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Mirror, bytes.len() as u32, execution) else {
        engine.count_drop(DropReason::QueueFull, execution);
        return;
    };
    let Some(mut copy) = engine.again_from(bytes, packet, execution) else { return };
    copy.set_intrinsic(Slot::IngressPort, port);
    begin_later_pass(engine, &mut copy, packet, list, arrives_ns, instance_type);
    observe(execution, || Decision::ClonedToIngress);
    engine.inject_through(InternalPort::Mirror, copy, execution);
}

fn resubmit(
    engine: &mut Engine,
    packet: Packet,
    original: Option<Packet>,
    list: Option<FieldListId>,
    execution: &mut Execution<'_>,
) {
    let Some(mut fresh) = original else {
        engine.end(packet, DropReason::NoBuffer, execution);
        return;
    };
    if packet.passes() >= PASSES_MAX {
        engine.end_all(packet, Some(fresh), DropReason::PassLimit, execution);
        return;
    }
    if !engine.charge(packet.root()) {
        engine.end_all(packet, Some(fresh), DropReason::CopyLimit, execution);
        return;
    }
    let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Resubmission, fresh.length(), execution) else {
        engine.end_all(packet, Some(fresh), DropReason::QueueFull, execution);
        return;
    };
    fresh.inherit(&packet);
    begin_later_pass(engine, &mut fresh, &packet, list, arrives_ns, InstanceType::Resubmitted);
    observe(execution, || Decision::Resubmitted);
    engine.inject_instead(InternalPort::Resubmission, fresh, packet, execution);
}

fn multicast(engine: &mut Engine, mut packet: Packet, group: u64, execution: &mut Execution<'_>) {
    let destination = Destination::Group(group);
    observe(execution, || Decision::Multicast { group, replicas: engine.replication.replicas(destination).len() });
    packet.set_intrinsic(Slot::InstanceType, InstanceType::Replicated as u64);
    // Replicas inherit no request of what they replicate: neither its truncation nor its recirculation.
    packet.set_intrinsic(Slot::Truncate, 0);
    packet.set_intrinsic(Slot::Recirculate, 0);
    replicate(engine, packet, destination, execution);
}

fn send_clone(engine: &mut Engine, copy: Packet, session: u32, execution: &mut Execution<'_>) {
    if let Some((copy, destination)) = prepare_clone(engine, copy, session, execution) {
        replicate(engine, copy, destination, execution);
    }
}

/// A clone with what its session gives it, and where it goes; none if it goes through the mirror port first.
fn prepare_clone(
    engine: &mut Engine,
    mut copy: Packet,
    session: u32,
    execution: &mut Execution<'_>,
) -> Option<(Packet, Destination)> {
    // A session that shortens its clones has the effect of a program that truncates them.
    let length_bytes_max = engine.replication.clone_properties(session).length_bytes_max;
    copy.set_intrinsic(Slot::Truncate, length_bytes_max.map_or(0, |length| u64::from(length.saturating_add(1))));
    let destination = Destination::Session(session);
    let copies = engine.replication.replicas(destination).len();
    observe(execution, || Decision::Cloned { session, copies: Some(copies) });
    engine.mirror(copy, session, execution).map(|copy| (copy, destination))
}

// ------------------------------------------------------------------------------------------------- queues

/// Sends a packet's replicas through the queues or, where no queue delays them, on a path of their own.
fn replicate(engine: &mut Engine, mut packet: Packet, destination: Destination, execution: &mut Execution<'_>) {
    let priority = packet.intrinsic(Slot::Priority) as u32;
    if !engine.takes_replica_path(packet.root(), destination, priority, execution) {
        engine.replicate(packet, destination, execution, enqueue_replica);
        return;
    }
    let now_ns = execution.now_ns;
    enter_queue(&mut packet, 0, now_ns);
    // Each replica's port is in its frame.
    leave_queue(&mut packet, 0, now_ns);
    engine.run_one(&[point(Decisions::Queues)], &mut packet, execution);
    engine.send_replicas(packet, execution, finish_replica);
}

fn enqueue_replica(engine: &mut Engine, mut packet: Packet, replica: Replica, execution: &mut Execution<'_>) {
    packet.set_intrinsic(Slot::EgressRid, replica.rid);
    enqueue(engine, packet, replica.port, execution);
}

#[inline]
fn enqueue(engine: &mut Engine, mut packet: Packet, port: u32, execution: &mut Execution<'_>) {
    let (priority, now_ns) = (packet.intrinsic(Slot::Priority) as u32, execution.now_ns);
    enter_queue(&mut packet, engine.traffic.depth(port, priority), now_ns);
    engine.enqueue(packet, port, priority, execution, |packet| leave_queue(packet, port, now_ns));
}

/// Sets the metadata of a packet that enters a queue which holds `depth_packets` packets.
#[inline]
fn enter_queue(packet: &mut Packet, depth_packets: usize, now_ns: u64) {
    packet.set_intrinsic(Slot::EnqTimestamp, (now_ns / 1000) & u64::from(u32::MAX));
    packet.set_intrinsic(Slot::EnqQdepth, depth_packets as u64);
}

/// Sets the metadata of a packet that has left its queue without delay.
#[inline]
fn leave_queue(packet: &mut Packet, port: u32, now_ns: u64) {
    packet.set_intrinsic(Slot::EgressPort, u64::from(port));
    packet.set_intrinsic(Slot::DeqTimedelta, 0);
    packet.set_intrinsic(Slot::DeqQdepth, 0);
    packet.set_intrinsic(Slot::EgressGlobalTimestamp, now_ns / 1000);
}

// ------------------------------------------------------------------------------------------------- egress

/// Continues with packets that have been through egress, and about which was decided.
fn finish_egress(engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
    leave_egress(engine, burst, execution);
    engine.timer.lap(CoreStage::Egress);
    if burst.is_empty() {
        return;
    }
    let compute_checksum = &[block(Stage::ComputeChecksum)][..];
    let deparser = &[block(Stage::Deparser), point(Decisions::Deparser)][..];
    let blocks = [(compute_checksum, CoreStage::ComputeChecksum), (deparser, CoreStage::Deparser)];
    engine.run_blocks(&blocks, burst, &mut Vec::new(), execution);
    for packet in burst.drain(..) {
        leave_deparser(engine, packet, execution);
    }
    engine.timer.lap(CoreStage::Transmit);
}

/// Carries out what was decided about packets behind egress. Those that end are gone then.
fn leave_egress(engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
    let is_punted = |packet: &Packet| matches!(packet.decided(), Decided::Punt { .. });
    while burst.iter().any(is_punted) {
        for packets in burst.chunk_by_mut(|a, b| is_punted(a) == is_punted(b)).filter(|it| is_punted(&it[0])) {
            for packet in &mut *packets {
                if let Decided::Punt { slot, .. } = packet.decided() {
                    egress_request(engine, slot, packet, execution);
                }
            }
            engine.pipeline.run(&[point(Decisions::Egress)], packets, execution);
        }
    }
    let mut position = 0;
    while position < burst.len() {
        if burst[position].decided() == Decided::Continues {
            position += 1;
        } else {
            let packet = burst.remove(position);
            engine.end(packet, DropReason::Egress, execution);
        }
    }
}

/// Continues with a replica that has left its path behind egress.
fn finish_replica(engine: &mut Engine, replica: Packet, execution: &mut Execution<'_>) {
    let mut one = std::mem::take(&mut engine.one);
    one.push(replica);
    engine.pipeline.run(&[point(Decisions::Egress)], &mut one, execution);
    finish_egress(engine, &mut one, execution);
    engine.one = one;
}

/// Carries out and clears a request of egress: a copy of the packet.
fn egress_request(engine: &mut Engine, slot: u32, packet: &mut Packet, execution: &mut Execution<'_>) {
    let request = packet.intrinsic(slot);
    packet.set_intrinsic(slot, 0);
    observe_packet(packet, execution);
    if slot == Slot::CloneEgressSession as u32 {
        let list = field_list(packet.intrinsic(Slot::CloneList), 1);
        clone_egress(engine, packet, (request - 1) as u32, list, execution);
    } else {
        clone_egress_to_ingress(engine, packet, field_list(request, 2), execution);
    }
}

/// The copy has the headers as they are and no metadata but those of the list; it starts at the queue.
fn clone_egress(
    engine: &mut Engine,
    packet: &Packet,
    session: u32,
    list: Option<FieldListId>,
    execution: &mut Execution<'_>,
) {
    if engine.replication.session(session).is_none() {
        observe(execution, || Decision::Cloned { session, copies: None });
        return;
    }
    if packet.passes() >= PASSES_MAX {
        engine.count_drop(DropReason::PassLimit, execution);
        return;
    }
    let Some(mut copy) = engine.copy(packet, execution) else { return };
    copy.inherit(packet);
    engine.pipeline.reset_metadata(&mut copy);
    if let Some(list) = list {
        engine.pipeline.preserve(list, packet, &mut copy);
    }
    copy.set_intrinsic(Slot::InstanceType, InstanceType::EgressClone as u64);
    copy.set_intrinsic(Slot::PacketLength, packet.intrinsic(Slot::PacketLength));
    if let Some((copy, destination)) = prepare_clone(engine, copy, session, execution) {
        // The packet has not left yet, so the copy goes through its queue: on a path of its own it would be first.
        engine.replicate(copy, destination, execution, enqueue_replica);
    }
}

/// The copy has the bytes that the packet would be sent with, even if it is dropped.
fn clone_egress_to_ingress(
    engine: &mut Engine,
    packet: &Packet,
    list: Option<FieldListId>,
    execution: &mut Execution<'_>,
) {
    let Some(mut sent) = engine.copy(packet, execution) else { return };
    for stage in [Stage::ComputeChecksum, Stage::Deparser] {
        engine.run_one(&[block(stage)], &mut sent, execution);
        if sent.assertion_failed() {
            engine.end(sent, DropReason::AssertionFailed, execution);
            return;
        }
    }
    if sent.is_too_long() {
        engine.end(sent, DropReason::TooLong, execution);
        return;
    }
    let port = packet.intrinsic(Slot::IngressPort);
    clone_to_ingress(engine, packet, sent.bytes(), port, list, InstanceType::EgressClone, execution);
    engine.pool.give(sent);
}

/// Carries out what was decided about a packet behind the deparser.
fn leave_deparser(engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
    if packet.is_too_long() {
        engine.end(packet, DropReason::TooLong, execution);
        return;
    }
    let all = packet.bytes().len();
    match packet.decided() {
        Decided::Send { port, bytes_max } => {
            let length = bytes_max.map_or(all, |bytes| all.min(bytes as usize));
            engine.transmit(packet, port, length, execution);
        }
        Decided::Punt { slot, .. } => {
            match Gather::of(packet.intrinsic(slot)).filter(|_| slot == Slot::Gather as u32) {
                Some(request) => {
                    let length = packet.intrinsic(Slot::Truncate).checked_sub(1);
                    let length = length.map_or(all, |length| all.min(length as usize));
                    gather(engine, packet, length, request, execution);
                }
                None => {
                    let list = field_list(packet.intrinsic(slot), 2);
                    recirculate(engine, packet, list, execution);
                }
            }
        }
        Decided::Continues | Decided::Enqueue { .. } | Decided::Drop(_) => {
            engine.end(packet, DropReason::Egress, execution);
        }
    }
}

/// The packet goes round in its own memory, with the variables of the list.
fn recirculate(engine: &mut Engine, packet: Packet, list: Option<FieldListId>, execution: &mut Execution<'_>) {
    if packet.passes() >= PASSES_MAX {
        engine.end(packet, DropReason::PassLimit, execution);
        return;
    }
    let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Recirculation, packet.length(), execution) else {
        engine.end(packet, DropReason::QueueFull, execution);
        return;
    };
    let Some(mut packet) = engine.again_in_place(packet, execution) else { return };
    let before = *packet.intrinsics();
    packet.clear_intrinsics();
    engine.begin_variables(&mut packet, arrives_ns);
    match list {
        Some(list) => {
            engine.pipeline.keep_only(list, &mut packet);
            engine.pipeline.keep_intrinsics(list, &before, &mut packet);
        }
        None => engine.pipeline.begin_pass(&mut packet),
    }
    // These two are always the new pass's own.
    packet.set_intrinsic(Slot::InstanceType, InstanceType::Recirculated as u64);
    packet.set_intrinsic(Slot::PacketLength, u64::from(packet.length()));
    observe(execution, || Decision::Recirculated);
    engine.inject_through(InternalPort::Recirculation, packet, execution);
}

// -------------------------------------------------------------------------------------------------- buffers

/// Adds a packet's first `length` bytes to its buffer. The buffer leaves before that if it would become too long, and
/// after it if nothing more fits or if its timeout has expired.
fn gather(engine: &mut Engine, packet: Packet, length: usize, request: Gather, execution: &mut Execution<'_>) {
    if engine.buffers.is_full(request, length) {
        release_buffer(engine, request.buffer, &packet, execution);
    }
    if !engine.buffers.add(request, &packet.bytes()[..length], &packet, &mut engine.pool) {
        engine.end(packet, DropReason::NoBuffer, execution);
        return;
    }
    let packets = engine.buffers.packets_in(request.buffer);
    observe_packet(&packet, execution);
    observe_copies(execution);
    observe(execution, || Decision::Gathered { buffer: request.buffer, packets });
    if engine.buffers.is_full(request, 1) || engine.buffers.is_due(request.buffer, execution.now_ns) {
        release_buffer(engine, request.buffer, &packet, execution);
    }
    engine.pool.give(packet);
}

/// Releases a buffer, if there is one, because of a packet.
fn release_buffer(engine: &mut Engine, number: u16, cause: &Packet, execution: &mut Execution<'_>) {
    if let Some(mut buffer) = engine.buffers.take(number) {
        buffer.packet.set_root(cause.root());
        buffer.packet.set_time_ns(cause.time_ns());
        leave(engine, number, buffer, execution);
    }
}

/// A buffer goes through ingress as a packet.
fn leave(engine: &mut Engine, number: u16, buffer: CoalescingBuffer, execution: &mut Execution<'_>) {
    let CoalescingBuffer { mut packet, packets, .. } = buffer;
    if packet.passes() >= PASSES_MAX {
        engine.end(packet, DropReason::PassLimit, execution);
        return;
    }
    if !engine.charge(packet.root()) {
        engine.end(packet, DropReason::CopyLimit, execution);
        return;
    }
    packet.clear_intrinsics();
    packet.set_passes(packet.passes() + 1);
    begin_pass(engine, &mut packet, execution.now_ns, InstanceType::Coalesced);
    packet.set_intrinsic(Slot::Gathered, u64::from(number) << 16 | u64::from(packets));
    observe(execution, || Decision::BufferLeaves { buffer: number, packets });
    engine.inject(packet);
}

/// Splits a packet as it was received: each record goes through ingress as a packet of its own, all of them or
/// none. A packet that is not made of this many records goes through ingress once more as it was.
fn scatter(
    engine: &mut Engine,
    packet: Packet,
    original: Option<Packet>,
    request: Scatter,
    execution: &mut Execution<'_>,
) {
    let Some(original) = original else {
        engine.end(packet, DropReason::NoBuffer, execution);
        return;
    };
    if packet.passes() >= PASSES_MAX {
        engine.end_all(packet, Some(original), DropReason::PassLimit, execution);
        return;
    }
    let bytes = original.bytes().get(usize::from(request.first_byte)..);
    let Some(bytes) = bytes.filter(|bytes| is_records(bytes, request.records)) else {
        not_scattered(engine, packet, original, execution);
        return;
    };
    if !engine.charge_all(packet.root(), usize::from(request.records)) {
        engine.end_all(packet, Some(original), DropReason::CopyLimit, execution);
        return;
    }
    observe_copies(execution);
    observe(execution, || Decision::Scattered { records: request.records });
    for record in records(bytes) {
        let Some(mut part) = engine.pool.take(record) else {
            engine.count_drop(DropReason::NoBuffer, execution);
            continue;
        };
        part.inherit(&packet);
        part.set_intrinsic(Slot::IngressPort, original.intrinsic(Slot::IngressPort));
        begin_pass(engine, &mut part, execution.now_ns, InstanceType::Scattered);
        engine.inject(part);
    }
    engine.pool.give(packet);
    engine.pool.give(original);
}

fn not_scattered(engine: &mut Engine, packet: Packet, mut whole: Packet, execution: &mut Execution<'_>) {
    if !engine.charge(packet.root()) {
        engine.end_all(packet, Some(whole), DropReason::CopyLimit, execution);
        return;
    }
    let port = whole.intrinsic(Slot::IngressPort);
    whole.inherit(&packet);
    whole.set_intrinsic(Slot::IngressPort, port);
    begin_pass(engine, &mut whole, execution.now_ns, InstanceType::NotScattered);
    observe(execution, || Decision::NotScattered);
    engine.pool.give(packet);
    engine.inject(whole);
}

fn point(decisions: Decisions) -> Step {
    Step::Decide(PointId::from_index(decisions as usize))
}

fn block(stage: Stage) -> Step {
    Step::Block(BlockId::from_index(stage as usize))
}

/// The field list in a request that counts lists from `first`.
fn field_list(request: u64, first: u64) -> Option<FieldListId> {
    (request >= first).then(|| FieldListId::from_index((request - first) as usize))
}
