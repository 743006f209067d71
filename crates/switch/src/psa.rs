//! The rules of the Portable Switch Architecture: what happens to a packet between and around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows what
//! PSA's requests do. When they are due is decided by the program ([`ir::Program::decisions`]); where the specification
//! leaves a choice, or the reference switch differs from it, `docs/design/psa.md` describes what is done here and why.
//!
//! A burst goes through the ingress parser, ingress, and the ingress deparser as far as anything comes of it; then what
//! was decided about each packet is carried out in order of arrival. What leaves the queues is parsed anew, as bytes:
//! egress parser, egress, egress deparser. A packet keeps its memory throughout, but of its metadata only the struct
//! that belongs to its path.

use crate::engine::{Engine, Observability, Rules, observe};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::pipeline::{Execution, Step};
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::InternalPort;
use base::index::Id as _;
use base::limits::PASSES_MAX;
use cgen::abi::Decided;
use ir::psa::{Carried, Decisions, PORT_RECIRCULATE, PacketPath, Slot, Stage};
use ir::{BlockId, Effect, PointId, Program};

/// The architecture's own state.
pub(crate) struct Psa {
    /// Copies of the present burst's packets as they were received; empty if the program never needs them.
    originals: Originals,
    needs_originals: bool,
    /// Packets whose requests have been carried out, about which is decided again, as the present burst and originals.
    rest: Vec<Packet>,
    rest_originals: Originals,
    /// Whether each of the structs of [`Carried`] has anything in it.
    carries: [bool; Carried::ALL.len()],
}

/// What a program shows of how packets are worked on.
pub(crate) fn observability(program: &Program) -> Observability {
    Observability {
        time: program.mentions_queues() || !program.meters.is_empty() || !program.direct_meters.is_empty(),
        depths: false,
    }
}

impl Psa {
    pub fn new(program: &Program) -> Psa {
        let carries =
            |carried: Carried| program.field_lists.get(carried.field_list()).is_some_and(|it| !it.vars.is_empty());
        Psa {
            originals: Vec::new(),
            needs_originals: program.may_request(Effect::Original),
            rest: Vec::new(),
            rest_originals: Vec::new(),
            carries: Carried::ALL.map(carries),
        }
    }
}

impl Rules for Psa {
    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        engine.observe_ingress(burst, |packet| self.kind(packet), execution);
        if self.needs_originals {
            self.originals.extend(burst.iter().map(|packet| engine.pool.take(packet.bytes())));
        }
        engine.timer.start();
        let parser = &[block(Stage::IngressParser)][..];
        let ingress = &[block(Stage::Ingress), point(Decisions::Ingress)][..];
        let blocks = [(parser, CoreStage::Parser), (ingress, CoreStage::Ingress)];
        engine.run_blocks(&blocks, burst, &mut self.originals, execution);
        deparse_ingress(engine, burst, &mut self.originals, execution);
        engine.timer.lap(CoreStage::Deparser);
        let mut originals = std::mem::take(&mut self.originals);
        self.leave_ingress(engine, burst, &mut originals, execution);
        self.originals = originals;
        engine.timer.lap(CoreStage::Decide);
    }

    fn kind(&self, packet: &Packet) -> &'static str {
        const NORMAL: u64 = PacketPath::Normal as u64;
        const UNICAST: u64 = PacketPath::NormalUnicast as u64;
        const MULTICAST: u64 = PacketPath::NormalMulticast as u64;
        const CLONE_I2E: u64 = PacketPath::CloneI2e as u64;
        const CLONE_E2E: u64 = PacketPath::CloneE2e as u64;
        const RESUBMIT: u64 = PacketPath::Resubmit as u64;
        match packet.intrinsic(Slot::PacketPath) {
            NORMAL | UNICAST => "a normal packet",
            MULTICAST => "a replica",
            CLONE_I2E => "a clone from ingress",
            CLONE_E2E => "a clone from egress",
            RESUBMIT => "a resubmitted packet",
            _ => "a recirculated packet",
        }
    }

    fn egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        let parser = &[block(Stage::EgressParser)][..];
        let egress = &[block(Stage::Egress)][..];
        let deparser = &[block(Stage::EgressDeparser), point(Decisions::EgressDeparser)][..];
        let blocks = [(parser, CoreStage::Parser), (egress, CoreStage::Egress), (deparser, CoreStage::Deparser)];
        engine.run_blocks(&blocks, burst, &mut Vec::new(), execution);
        self.leave_egress(engine, burst, execution);
        engine.timer.lap(CoreStage::Transmit);
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
        let deparser = &[block(Stage::EgressDeparser), point(Decisions::EgressDeparser)][..];
        engine.run_blocks(&[(deparser, CoreStage::Deparser)], burst, &mut Vec::new(), execution);
        self.leave_egress(engine, burst, execution);
    }

    fn after_mirror(&mut self, engine: &mut Engine, clone: Packet, session: u32, execution: &mut Execution<'_>) {
        engine.replicate(clone, Destination::Session(session), execution, enqueue_replica);
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
}

impl Psa {
    /// Carries out what was decided about packets behind ingress, and behind its deparser if it comes to that. Packets
    /// are processed together, so a request of one is carried out before a later request of another.
    fn leave_ingress(
        &mut self,
        engine: &mut Engine,
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    ) {
        while !burst.is_empty() {
            deparse_ingress(engine, burst, originals, execution);
            let mut original_of = originals.drain(..);
            for packet in burst.drain(..) {
                let original = original_of.next().flatten();
                self.leave_ingress_or_stay(engine, packet, original, execution);
            }
            drop(original_of);
            std::mem::swap(burst, &mut self.rest);
            std::mem::swap(originals, &mut self.rest_originals);
            decide_again(engine, burst, execution);
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
                if packet.is_too_long() {
                    return engine.end(packet, DropReason::TooLong, execution);
                }
                let mut packet = packet;
                self.keep_metadata(engine, &mut packet);
                observe(execution, || Decision::Unicast { port });
                engine.enqueue_by_class(packet, port, execution);
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
        original: Option<Packet>,
        execution: &mut Execution<'_>,
    ) {
        if slot == Slot::Clone as u32 {
            let bytes = original.as_ref().map(|original| original.bytes());
            self.clone_packet(engine, &packet, bytes, (PacketPath::CloneI2e, Carried::CloneI2eMeta), execution);
            packet.set_intrinsic(slot, 0);
            self.rest.push(packet);
            self.rest_originals.push(original);
            return;
        }
        if slot == Slot::Resubmit as u32 {
            return self.resubmit(engine, packet, original, execution);
        }
        original.into_iter().for_each(|original| engine.pool.give(original));
        if packet.is_too_long() {
            return engine.end(packet, DropReason::TooLong, execution);
        }
        let group = packet.intrinsic(Slot::MulticastGroup);
        self.keep_metadata(engine, &mut packet);
        for slot in [Slot::Clone, Slot::CloneSessionId, Slot::ParserError, Slot::Instance] {
            packet.set_intrinsic(slot, 0);
        }
        packet.set_intrinsic(Slot::PacketPath, PacketPath::NormalMulticast as u64);
        let destination = Destination::Group(group);
        let replicas = engine.replication.replicas(destination).len();
        observe(execution, || Decision::Multicast { group, replicas });
        engine.replicate(packet, destination, execution, enqueue_replica);
    }

    /// Leaves a deparsed packet, which enters egress, of its metadata what the deparser handed out.
    fn keep_metadata(&self, engine: &mut Engine, packet: &mut Packet) {
        if self.carries[Carried::NormalMeta as usize] {
            engine.pipeline.keep_only(Carried::NormalMeta.field_list(), packet);
        } else {
            engine.pipeline.begin_pass(packet);
        }
    }

    /// Sends a copy of these bytes to the ports of the packet's session; it starts at the egress parser.
    fn clone_packet(
        &self,
        engine: &mut Engine,
        packet: &Packet,
        bytes: Option<&[u8]>,
        (path, carried): (PacketPath, Carried),
        execution: &mut Execution<'_>,
    ) {
        let session = packet.intrinsic(Slot::CloneSessionId) as u32;
        if engine.replication.session(session).is_none() {
            observe(execution, || Decision::Cloned { session, copies: None });
            return;
        }
        let Some(bytes) = bytes else {
            engine.count_drop(DropReason::NoBuffer, execution);
            return;
        };
        let properties = engine.replication.clone_properties(session);
        let length = properties.length_bytes_max.map_or(bytes.len(), |length| bytes.len().min(length as usize));
        let bytes = &bytes[..length];
        let Some(mut copy) = engine.again_from(bytes, packet, execution) else { return };
        copy.set_ingress_length(bytes.len() as u32);
        copy.set_intrinsic(Slot::PacketPath, path as u64);
        copy.set_intrinsic(Slot::ClassOfService, u64::from(properties.class_of_service));
        self.carry(engine, carried, packet, &mut copy);
        let destination = Destination::Session(session);
        let copies = engine.replication.replicas(destination).len();
        observe(execution, || Decision::Cloned { session, copies: Some(copies) });
        if let Some(copy) = engine.mirror(copy, session, execution) {
            engine.replicate(copy, destination, execution, enqueue_replica);
        }
    }

    /// Prepares a packet for the parser that it comes to next, which sees what the deparser behind it handed out.
    fn carry(&self, engine: &mut Engine, carried: Carried, from: &Packet, to: &mut Packet) {
        engine.pipeline.begin_pass(to);
        if self.carries[carried as usize] {
            engine.pipeline.reset_metadata(to);
            engine.pipeline.preserve(carried.field_list(), from, to);
        }
    }

    fn resubmit(&self, engine: &mut Engine, packet: Packet, original: Option<Packet>, execution: &mut Execution<'_>) {
        let Some(mut fresh) = original else {
            return engine.end(packet, DropReason::NoBuffer, execution);
        };
        if packet.passes() >= PASSES_MAX {
            return engine.end_all(packet, Some(fresh), DropReason::PassLimit, execution);
        }
        if !engine.charge(packet.root()) {
            return engine.end_all(packet, Some(fresh), DropReason::CopyLimit, execution);
        }
        let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Resubmission, fresh.length(), execution) else {
            return engine.end_all(packet, Some(fresh), DropReason::QueueFull, execution);
        };
        fresh.inherit(&packet);
        begin_ingress(engine, &mut fresh, PacketPath::Resubmit, arrives_ns);
        self.carry(engine, Carried::ResubmitMeta, &packet, &mut fresh);
        observe(execution, || Decision::Resubmitted);
        engine.inject_instead(InternalPort::Resubmission, fresh, packet, execution);
    }

    /// Carries out what was decided about packets behind the egress deparser.
    fn leave_egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        while !burst.is_empty() {
            for packet in burst.drain(..) {
                self.leave_egress_or_stay(engine, packet, execution);
            }
            std::mem::swap(burst, &mut self.rest);
            decide_again(engine, burst, execution);
        }
    }

    /// Carries out what was decided about a packet. It stays in `rest` if more is to be decided about it.
    fn leave_egress_or_stay(&mut self, engine: &mut Engine, mut packet: Packet, execution: &mut Execution<'_>) {
        if packet.is_too_long() {
            return engine.end(packet, DropReason::TooLong, execution);
        }
        match packet.decided() {
            Decided::Punt { slot, .. } if slot == Slot::Clone as u32 => {
                let bytes = Some(packet.bytes());
                self.clone_packet(engine, &packet, bytes, (PacketPath::CloneE2e, Carried::CloneE2eMeta), execution);
                packet.set_intrinsic(slot, 0);
                self.rest.push(packet);
            }
            Decided::Punt { .. } => self.recirculate(engine, packet, execution),
            Decided::Send { port, .. } => {
                let length = packet.bytes().len();
                engine.transmit(packet, port, length, execution);
            }
            Decided::Continues | Decided::Enqueue { .. } | Decided::Drop(_) => {
                engine.end(packet, DropReason::Egress, execution);
            }
        }
    }

    fn recirculate(&self, engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
        let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Recirculation, packet.length(), execution)
        else {
            return engine.end(packet, DropReason::QueueFull, execution);
        };
        let Some(mut fresh) = engine.again_from(packet.bytes(), &packet, execution) else {
            engine.pool.give(packet);
            return;
        };
        fresh.set_intrinsic(Slot::IngressPort, u64::from(PORT_RECIRCULATE));
        begin_ingress(engine, &mut fresh, PacketPath::Recirculate, arrives_ns);
        self.carry(engine, Carried::RecirculateMeta, &packet, &mut fresh);
        observe(execution, || Decision::Recirculated);
        engine.inject_instead(InternalPort::Recirculation, fresh, packet, execution);
    }
}

/// Runs the ingress deparser for packets about which nothing was decided before.
fn deparse_ingress(
    engine: &mut Engine,
    burst: &mut Vec<Packet>,
    originals: &mut Originals,
    execution: &mut Execution<'_>,
) {
    let continues = |packet: &Packet| packet.decided() == Decided::Continues;
    for packets in burst.chunk_by_mut(|a, b| continues(a) == continues(b)).filter(|packets| continues(&packets[0])) {
        let steps = [block(Stage::IngressDeparser), point(Decisions::IngressDeparser)];
        engine.pipeline.run(&steps, packets, execution);
    }
    engine.end_failed(burst, originals, execution);
}

/// Decides about packets again whose requests have been carried out, at the points where these were made.
fn decide_again(engine: &mut Engine, burst: &mut [Packet], execution: &mut Execution<'_>) {
    let point_of = |packet: &Packet| match packet.decided() {
        Decided::Punt { point, .. } => Some(PointId::from_index(point as usize)),
        _ => None,
    };
    for packets in burst.chunk_by_mut(|a, b| point_of(a) == point_of(b)) {
        if let Some(point) = point_of(&packets[0]) {
            engine.pipeline.run(&[Step::Decide(point)], packets, execution);
        }
    }
}

/// Sets what a packet carries into ingress on this path.
fn begin_ingress(engine: &mut Engine, packet: &mut Packet, path: PacketPath, now_ns: u64) {
    engine.begin_pass(packet, now_ns);
    packet.set_intrinsic(Slot::PacketPath, path as u64);
    packet.set_intrinsic(Slot::Drop, 1);
}

fn enqueue_replica(engine: &mut Engine, mut packet: Packet, replica: Replica, execution: &mut Execution<'_>) {
    packet.set_intrinsic(Slot::Instance, replica.rid);
    engine.enqueue_by_class(packet, replica.port, execution);
}

fn point(decisions: Decisions) -> Step {
    Step::Decide(PointId::from_index(decisions as usize))
}

fn block(stage: Stage) -> Step {
    Step::Block(BlockId::from_index(stage as usize))
}
