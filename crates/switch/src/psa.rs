//! The rules of the Portable Switch Architecture: what happens to a packet between and around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows PSA's
//! rules; where the specification leaves a choice, or the reference switch differs from it, `docs/design/psa.md` says
//! what is done here and why.
//!
//! A burst goes through the ingress parser, ingress, and the ingress deparser as far as anything comes of it; then each
//! packet's fate is decided in order of arrival. What leaves the queues is parsed anew, as bytes: egress parser,
//! egress, egress deparser. A packet keeps its memory on the way, but of its metadata only the struct that belongs to
//! its path.

use crate::engine::{Engine, Observability, Rules, tell};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::pipeline::Execution;
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::Departure;
use base::index::Id as _;
use base::limits::PASSES_MAX;
use ir::psa::{Carried, PORT_RECIRCULATE, PacketPath, Slot, Stage};
use ir::{BlockId, Effect, Program};

/// The architecture's own state.
pub(crate) struct Psa {
    /// Copies of the present burst's packets as they were received; empty if the program never needs them.
    originals: Originals,
    keeps_originals: bool,
    /// Whether each of the structs of [`Carried`] has anything in it.
    carries: [bool; Carried::ALL.len()],
}

/// What a program shows of how packets are worked on.
pub(crate) fn observability(program: &Program) -> Observability {
    Observability {
        serialised: program.mentions_queues() || program.sends_again(),
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
            keeps_originals: program.may_request(Effect::Original),
            carries: Carried::ALL.map(carries),
        }
    }

    /// Whether anything comes of the ingress deparser: the packet goes on, or a struct that it hands out does.
    fn needs_ingress_deparser(&self, packet: &Packet) -> bool {
        match Fate::of(packet) {
            Fate::Egress => true,
            Fate::Resubmit if self.carries[Carried::ResubmitMeta as usize] => true,
            _ => is_set(packet, Slot::Clone) && self.carries[Carried::CloneI2eMeta as usize],
        }
    }
}

/// What becomes of a packet after ingress, beside its clone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Drop,
    Resubmit,
    Egress,
}

impl Fate {
    fn of(packet: &Packet) -> Fate {
        if is_set(packet, Slot::Drop) {
            Fate::Drop
        } else if is_set(packet, Slot::Resubmit) {
            Fate::Resubmit
        } else {
            Fate::Egress
        }
    }
}

fn is_set(packet: &Packet, slot: Slot) -> bool {
    packet.intrinsic(slot) != 0
}

impl Rules for Psa {
    fn begin(&mut self, engine: &mut Engine, packet: &mut Packet) {
        packet.clear_intrinsics();
        packet.set_intrinsic(Slot::IngressPort, u64::from(packet.ingress_port()));
        begin_ingress(packet, PacketPath::Normal, packet.time_ns());
        engine.pipeline.begin_pass(packet);
    }

    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        for packet in burst.iter() {
            let port = packet.intrinsic(Slot::IngressPort) as u32;
            tell(execution, || Decision::IngressStarts { port, bytes: packet.length(), kind: kind(packet) });
        }
        if self.keeps_originals {
            self.originals.extend(burst.iter().map(|packet| engine.pool.take(packet.bytes())));
        }
        engine.timer.start();
        for (stage, lap) in [(Stage::IngressParser, CoreStage::Parser), (Stage::Ingress, CoreStage::Ingress)] {
            engine.pipeline.run(block(stage), burst, execution);
            engine.end_failed(burst, &mut self.originals, execution);
            engine.timer.lap(lap);
        }
        let is_same = |a: &Packet, b: &Packet| self.needs_ingress_deparser(a) == self.needs_ingress_deparser(b);
        for packets in burst.chunk_by_mut(is_same) {
            if packets.first().is_some_and(|packet| self.needs_ingress_deparser(packet)) {
                engine.pipeline.run(block(Stage::IngressDeparser), packets, execution);
            }
        }
        engine.end_failed(burst, &mut self.originals, execution);
        engine.timer.lap(CoreStage::Deparser);
        let mut originals = std::mem::take(&mut self.originals);
        let mut original_of = originals.drain(..);
        for packet in burst.drain(..) {
            let original = original_of.next().flatten();
            self.after_ingress_deparser(engine, packet, original, execution);
        }
        drop(original_of);
        self.originals = originals;
        engine.timer.lap(CoreStage::Decide);
    }

    fn begin_egress(&mut self, departure: Departure<Packet>, _drop_port: u64, execution: &mut Execution<'_>) -> Packet {
        let Departure { mut packet, port, .. } = departure;
        leave_queue(&mut packet, port, execution.now_ns);
        let rid = packet.intrinsic(Slot::Instance);
        tell(execution, || Decision::EgressStarts { port, rid, kind: kind(&packet) });
        packet
    }

    fn egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        for (stage, lap) in [
            (Stage::EgressParser, CoreStage::Parser),
            (Stage::Egress, CoreStage::Egress),
            (Stage::EgressDeparser, CoreStage::Deparser),
        ] {
            engine.pipeline.run(block(stage), burst, execution);
            engine.end_failed(burst, &mut Vec::new(), execution);
            engine.timer.lap(lap);
        }
        for packet in burst.drain(..) {
            self.after_egress_deparser(engine, packet, execution);
        }
        engine.timer.lap(CoreStage::Transmit);
    }

    fn after_ingress(
        &mut self,
        engine: &mut Engine,
        mut packet: Packet,
        original: Option<Packet>,
        execution: &mut Execution<'_>,
    ) {
        if self.needs_ingress_deparser(&packet) {
            engine.pipeline.run(block(Stage::IngressDeparser), std::slice::from_mut(&mut packet), execution);
            if packet.assertion_failed() {
                engine.end_all(packet, original, DropReason::AssertionFailed, execution);
                return;
            }
        }
        self.after_ingress_deparser(engine, packet, original, execution);
    }

    fn after_egress(&mut self, engine: &mut Engine, mut packet: Packet, execution: &mut Execution<'_>) {
        engine.pipeline.run(block(Stage::EgressDeparser), std::slice::from_mut(&mut packet), execution);
        if packet.assertion_failed() {
            engine.end(packet, DropReason::AssertionFailed, execution);
            return;
        }
        self.after_egress_deparser(engine, packet, execution);
    }
}

impl Psa {
    /// The decisions after ingress, in the order of the reference: clone, drop, resubmit, multicast, unicast.
    fn after_ingress_deparser(
        &self,
        engine: &mut Engine,
        mut packet: Packet,
        original: Option<Packet>,
        execution: &mut Execution<'_>,
    ) {
        if is_set(&packet, Slot::Clone) {
            let bytes = original.as_ref().map(|original| original.bytes());
            self.clone_packet(engine, &packet, bytes, (PacketPath::CloneI2e, Carried::CloneI2eMeta), execution);
        }
        match Fate::of(&packet) {
            Fate::Resubmit => self.resubmit(engine, packet, original, execution),
            Fate::Drop => engine.end_all(packet, original, DropReason::Ingress, execution),
            Fate::Egress => {
                if let Some(original) = original {
                    engine.pool.give(original);
                }
                if packet.is_too_long() {
                    return engine.end(packet, DropReason::TooLong, execution);
                }
                let (group, port) = (packet.intrinsic(Slot::MulticastGroup), packet.intrinsic(Slot::EgressPort) as u32);
                let path = if group != 0 { PacketPath::NormalMulticast } else { PacketPath::NormalUnicast };
                self.leave_ingress(engine, &mut packet, path);
                if group != 0 {
                    let destination = Destination::Group(group);
                    let replicas = engine.replication.replicas(destination).len();
                    tell(execution, || Decision::Multicast { group, replicas });
                    engine.replicate(packet, destination, execution, enqueue_replica);
                } else {
                    tell(execution, || Decision::Unicast { port });
                    enqueue(engine, packet, port, execution);
                }
            }
        }
    }

    /// Makes the deparsed packet one that enters egress.
    fn leave_ingress(&self, engine: &mut Engine, packet: &mut Packet, path: PacketPath) {
        if self.carries[Carried::NormalMeta as usize] {
            engine.pipeline.keep_only(Carried::NormalMeta.field_list(), packet);
        } else {
            engine.pipeline.begin_pass(packet);
        }
        packet.set_intrinsic(Slot::Clone, 0);
        packet.set_intrinsic(Slot::CloneSessionId, 0);
        packet.set_intrinsic(Slot::ParserError, 0);
        packet.set_intrinsic(Slot::Instance, 0);
        packet.set_intrinsic(Slot::PacketPath, path as u64);
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
            tell(execution, || Decision::Cloned { session, copies: None });
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
        tell(execution, || Decision::Cloned { session, copies: Some(copies) });
        engine.replicate(copy, destination, execution, enqueue_replica);
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
        fresh.inherit(&packet);
        begin_ingress(&mut fresh, PacketPath::Resubmit, execution.now_ns);
        self.carry(engine, Carried::ResubmitMeta, &packet, &mut fresh);
        tell(execution, || Decision::Resubmitted);
        engine.inject_instead(fresh, packet);
    }

    /// The decisions after egress: clone, drop, recirculate, transmit.
    fn after_egress_deparser(&self, engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
        if packet.is_too_long() {
            return engine.end(packet, DropReason::TooLong, execution);
        }
        if is_set(&packet, Slot::Clone) {
            let bytes = Some(packet.bytes());
            self.clone_packet(engine, &packet, bytes, (PacketPath::CloneE2e, Carried::CloneE2eMeta), execution);
        }
        if is_set(&packet, Slot::Drop) {
            return engine.end(packet, DropReason::Egress, execution);
        }
        let port = packet.intrinsic(Slot::EgressPort) as u32;
        if port == PORT_RECIRCULATE {
            return self.recirculate(engine, packet, execution);
        }
        let length = packet.bytes().len();
        engine.transmit(packet, port, length, execution);
    }

    fn recirculate(&self, engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
        let Some(mut fresh) = engine.again_from(packet.bytes(), &packet, execution) else {
            engine.pool.give(packet);
            return;
        };
        fresh.set_intrinsic(Slot::IngressPort, u64::from(PORT_RECIRCULATE));
        begin_ingress(&mut fresh, PacketPath::Recirculate, execution.now_ns);
        self.carry(engine, Carried::RecirculateMeta, &packet, &mut fresh);
        tell(execution, || Decision::Recirculated);
        engine.inject_instead(fresh, packet);
    }
}

/// Sets the intrinsic variables that ingress starts with.
fn begin_ingress(packet: &mut Packet, path: PacketPath, now_ns: u64) {
    packet.set_ingress_length(packet.length());
    packet.set_intrinsic(Slot::PacketPath, path as u64);
    packet.set_intrinsic(Slot::IngressTimestamp, now_ns / 1000);
    packet.set_intrinsic(Slot::Drop, 1);
}

fn enqueue_replica(engine: &mut Engine, mut packet: Packet, replica: Replica, execution: &mut Execution<'_>) {
    packet.set_intrinsic(Slot::Instance, replica.rid);
    enqueue(engine, packet, replica.port, execution);
}

/// The class of service is the priority, as far as there are queues.
fn enqueue(engine: &mut Engine, packet: Packet, port: u32, execution: &mut Execution<'_>) {
    let priority = (packet.intrinsic(Slot::ClassOfService) as u32).min(engine.traffic.priority_max());
    let now_ns = execution.now_ns;
    engine.enqueue(packet, port, priority, execution, |packet, _| leave_queue(packet, port, now_ns));
}

/// Sets the metadata of a packet that has left its queue.
fn leave_queue(packet: &mut Packet, port: u32, now_ns: u64) {
    packet.set_intrinsic(Slot::EgressPort, u64::from(port));
    packet.set_intrinsic(Slot::EgressTimestamp, now_ns / 1000);
}

/// What kind of packet it is, in words.
fn kind(packet: &Packet) -> &'static str {
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

fn block(stage: Stage) -> BlockId {
    BlockId::from_index(stage as usize)
}
