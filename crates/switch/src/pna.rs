//! The rules of the Portable NIC Architecture: what happens to a packet around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows what
//! PNA's requests do. When they are due is decided by the program ([`ir::Program::decisions`]); where the specification
//! leaves a choice, `docs/design/pna.md` describes what is done here and why.
//!
//! A burst goes through all blocks: main parser, pre control, main control, main deparser. Then what was decided about
//! each packet is carried out in order of arrival. The queues hold bytes, which are only sent from there.

use crate::engine::{Engine, Observability, Rules, observe};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::pipeline::{Execution, Step};
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::InternalPort;
use base::index::Id as _;
use cgen::abi::Decided;
use ir::pna::{Decisions, HOST_TO_NET, PORT_CPU, Slot, Stage};
use ir::{BlockId, PointId, Program};

/// `PNA_MIRROR_SESSION_TO_CPU`.
const SESSION_TO_CPU: u32 = 0;

/// The greatest number of a pass, which has 3 bits; 0 follows.
const PASS_MAX: u64 = 7;

/// The architecture's own state.
pub(crate) struct Pna {
    /// The ports of hosts: first and last of each range.
    host_ports: Vec<(u32, u32)>,
    /// Packets whose requests have been carried out, about which is decided again, as the present burst.
    rest: Vec<Packet>,
}

/// What a program shows of how packets are worked on.
pub(crate) fn observability(program: &Program) -> Observability {
    let expires = program.tables.iter().any(|table| table.expires || table.support_timeout);
    Observability { time: expires || !program.meters.is_empty() || !program.direct_meters.is_empty(), depths: false }
}

impl Pna {
    pub fn new(program: &Program) -> Pna {
        Pna { host_ports: program.host_ports.clone(), rest: Vec::new() }
    }
}

impl Rules for Pna {
    fn ingress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        engine.observe_ingress(burst, |packet| self.kind(packet), execution);
        engine.timer.start();
        let deparser = [block(Stage::MainDeparser), point(Decisions::Deparser)];
        let blocks = [
            (&[block(Stage::MainParser)][..], CoreStage::Parser),
            (&[block(Stage::PreControl)], CoreStage::Ingress),
            (&[block(Stage::MainControl)], CoreStage::Ingress),
            (&deparser, CoreStage::Deparser),
        ];
        engine.run_blocks(&blocks, burst, &mut Vec::new(), execution);
        self.leave(engine, burst, execution);
        engine.timer.lap(CoreStage::Decide);
    }

    fn kind(&self, packet: &Packet) -> &'static str {
        if packet.intrinsic(Slot::Recirculated) != 0 {
            "a recirculated packet"
        } else if packet.intrinsic(Slot::Loopedback) != 0 {
            "a looped back packet"
        } else {
            "a normal packet"
        }
    }

    fn egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        engine.pipeline.run(&[point(Decisions::Queues)], burst, execution);
        for packet in burst.drain(..) {
            match packet.decided() {
                Decided::Send { port, .. } => {
                    let length = packet.bytes().len();
                    engine.transmit(packet, port, length, execution);
                }
                _ => engine.end(packet, DropReason::Egress, execution),
            }
        }
        engine.timer.lap(CoreStage::Transmit);
    }

    fn after_ingress(
        &mut self,
        engine: &mut Engine,
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    ) {
        originals.drain(..).flatten().for_each(|original| engine.pool.give(original));
        self.after_egress(engine, burst, execution);
    }

    /// Packets leave the fast path in front of the deparser only.
    fn after_egress(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        let deparser = &[block(Stage::MainDeparser), point(Decisions::Deparser)][..];
        engine.run_blocks(&[(deparser, CoreStage::Deparser)], burst, &mut Vec::new(), execution);
        self.leave(engine, burst, execution);
    }

    fn after_mirror(&mut self, engine: &mut Engine, clone: Packet, session: u32, execution: &mut Execution<'_>) {
        self.send_mirrored(engine, clone, session, execution);
    }

    /// The architecture has no multicast.
    fn after_replication(
        &mut self,
        engine: &mut Engine,
        packet: Packet,
        replica: Replica,
        execution: &mut Execution<'_>,
    ) {
        self.send_copy(engine, packet, replica.port, execution);
    }
}

impl Pna {
    /// Carries out what was decided about deparsed packets.
    fn leave(&mut self, engine: &mut Engine, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        while !burst.is_empty() {
            for packet in burst.drain(..) {
                self.leave_or_stay(engine, packet, execution);
            }
            std::mem::swap(burst, &mut self.rest);
            if !burst.is_empty() {
                engine.pipeline.run(&[point(Decisions::Deparser)], burst, execution);
            }
        }
    }

    /// Carries out what was decided about a packet. It stays in `rest` if more is to be decided about it.
    fn leave_or_stay(&mut self, engine: &mut Engine, mut packet: Packet, execution: &mut Execution<'_>) {
        if packet.is_too_long() {
            return engine.end(packet, DropReason::TooLong, execution);
        }
        match packet.decided() {
            Decided::Punt { slot, .. } if slot == Slot::Recirculate as u32 => recirculate(engine, packet, execution),
            Decided::Punt { slot, .. } if slot == Slot::Turn as u32 => turn_round(engine, packet, execution),
            Decided::Punt { slot, .. } => {
                // Added entries are published when the core has stopped behind this packet.
                if let Some(mirror) = Slot::MIRRORS.into_iter().find(|&mirror| mirror as u32 == slot) {
                    self.mirror(engine, &packet, mirror, execution);
                }
                packet.set_intrinsic(slot, 0);
                self.rest.push(packet);
            }
            Decided::Enqueue { port, .. } => {
                observe(execution, || Decision::Unicast { port });
                engine.enqueue_by_class(packet, port, execution);
            }
            Decided::Continues | Decided::Send { .. } | Decided::Drop(_) => {
                engine.end(packet, DropReason::Ingress, execution);
            }
        }
    }

    /// Sends copies of a deparsed packet to the ports of a mirror slot's session. Session 0 is the port to controllers,
    /// unless a controller has set it up.
    fn mirror(&self, engine: &mut Engine, packet: &Packet, mirror: Slot, execution: &mut Execution<'_>) {
        let session = (packet.intrinsic(mirror) as u32).wrapping_sub(1);
        let is_known = engine.replication.session(session).is_some();
        if !is_known && session != SESSION_TO_CPU {
            observe(execution, || Decision::Cloned { session, copies: None });
            return;
        }
        let properties = engine.replication.clone_properties(session);
        let bytes = packet.bytes();
        let length = properties.length_bytes_max.map_or(bytes.len(), |length| bytes.len().min(length as usize));
        let Some(mut copy) = engine.again_from(&bytes[..length], packet, execution) else { return };
        for slot in [Slot::InputPort, Slot::Direction, Slot::Turned] {
            copy.set_intrinsic(slot, packet.intrinsic(slot));
        }
        copy.set_intrinsic(Slot::ClassOfService, u64::from(properties.class_of_service));
        engine.pipeline.begin_pass(&mut copy);
        let copies = if is_known { engine.replication.replicas(Destination::Session(session)).len() } else { 1 };
        observe(execution, || Decision::Cloned { session, copies: Some(copies) });
        if let Some(copy) = engine.mirror(copy, session, execution) {
            self.send_mirrored(engine, copy, session, execution);
        }
    }

    /// Sends a mirrored packet to the ports of its session; to controllers, if the session is not set up.
    fn send_mirrored(&self, engine: &mut Engine, copy: Packet, session: u32, execution: &mut Execution<'_>) {
        if engine.replication.session(session).is_none() {
            return self.send_copy(engine, copy, PORT_CPU, execution);
        }
        engine.replicate(copy, Destination::Session(session), execution, |engine, copy, replica, execution| {
            self.send_copy(engine, copy, replica.port, execution);
        });
    }

    /// Sends a mirrored packet to a port, through the blocks if the port is on the other side.
    fn send_copy(&self, engine: &mut Engine, mut copy: Packet, port: u32, execution: &mut Execution<'_>) {
        copy.set_intrinsic(Slot::DestPort, u64::from(port));
        let is_host = self.host_ports.iter().any(|(first, last)| (first..=last).contains(&&port));
        let is_to_net = copy.intrinsic(Slot::Direction) == HOST_TO_NET;
        if !self.host_ports.is_empty() && is_host == is_to_net && port != PORT_CPU {
            turn_round(engine, copy, execution);
        } else {
            engine.enqueue_by_class(copy, port, execution);
        }
    }
}

/// Sends a deparsed packet through the blocks again, in the same direction and without a destination.
fn recirculate(engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
    let Some(mut fresh) = engine.again_from(packet.bytes(), &packet, execution) else {
        engine.pool.give(packet);
        return;
    };
    for slot in [Slot::InputPort, Slot::Turned, Slot::Loopedback] {
        fresh.set_intrinsic(slot, packet.intrinsic(slot));
    }
    fresh.set_intrinsic(Slot::Recirculated, 1);
    fresh.set_intrinsic(Slot::Pass, (packet.intrinsic(Slot::Pass) + 1) & PASS_MAX);
    fresh.set_intrinsic(Slot::Drop, 1);
    go_round(engine, fresh, packet, execution);
}

/// Sends a deparsed packet through the blocks in the other direction. Its destination remains, so that it need not be
/// given again.
fn turn_round(engine: &mut Engine, packet: Packet, execution: &mut Execution<'_>) {
    let Some(mut fresh) = engine.again_from(packet.bytes(), &packet, execution) else {
        engine.pool.give(packet);
        return;
    };
    for slot in [Slot::InputPort, Slot::DestPort] {
        fresh.set_intrinsic(slot, packet.intrinsic(slot));
    }
    fresh.set_intrinsic(Slot::Turned, packet.intrinsic(Slot::Turned) ^ 1);
    fresh.set_intrinsic(Slot::Loopedback, 1);
    go_round(engine, fresh, packet, execution);
}

fn go_round(engine: &mut Engine, mut fresh: Packet, packet: Packet, execution: &mut Execution<'_>) {
    let Some(arrives_ns) = engine.internal_arrival_ns(InternalPort::Recirculation, fresh.length(), execution) else {
        return engine.end_all(packet, Some(fresh), DropReason::QueueFull, execution);
    };
    engine.begin_pass(&mut fresh, arrives_ns);
    observe(execution, || Decision::Recirculated);
    engine.inject_instead(InternalPort::Recirculation, fresh, packet, execution);
}

fn point(decisions: Decisions) -> Step {
    Step::Decide(PointId::from_index(decisions as usize))
}

fn block(stage: Stage) -> Step {
    Step::Block(BlockId::from_index(stage as usize))
}
