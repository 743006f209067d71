//! The intrinsic variables that the core sets, whatever the architecture: which slots they have follows from the
//! sources in its description.

use crate::engine::{Engine, observe, observe_packet};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::pipeline::{Execution, Step};
use crate::stage_times::CoreStage;
use ir::{Architecture, Source};

/// The slots of an architecture's variables.
#[derive(Clone, Copy)]
pub(crate) struct Variables {
    ingress_port: Option<u32>,
    ingress_length: Option<u32>,
    ingress_time: Option<u32>,
    is_true: Option<u32>,
    queue_port: Option<u32>,
    queue_time: Option<u32>,
    replica: Option<u32>,
    priority: u32,
}

impl Variables {
    pub fn of(architecture: &Architecture) -> Variables {
        let slot = |source| architecture.slot_from(source);
        Variables {
            ingress_port: slot(Source::IngressPort),
            ingress_length: slot(Source::IngressLength),
            ingress_time: slot(Source::IngressTime),
            is_true: slot(Source::True),
            queue_port: slot(Source::QueuePort),
            queue_time: slot(Source::QueueTime),
            replica: slot(Source::Replica),
            priority: architecture.priority,
        }
    }

    /// Continues with a packet that has left the queue of a port.
    pub fn begin_egress(
        self,
        packet: &mut Packet,
        port: u32,
        kind: impl Fn(&Packet) -> &'static str,
        execution: &mut Execution<'_>,
    ) {
        self.leave_queue(packet, port, execution.now_ns);
        let rid = self.replica.map_or(0, |slot| packet.intrinsic(slot));
        observe_packet(packet, execution);
        observe(execution, || Decision::EgressStarts { port, rid, kind: kind(packet) });
    }

    /// Sets what a packet finds that has left the queue of a port.
    fn leave_queue(self, packet: &mut Packet, port: u32, now_ns: u64) {
        set(packet, self.queue_port, u64::from(port));
        set(packet, self.queue_time, now_ns / 1000);
    }
}

fn set(packet: &mut Packet, slot: Option<u32>, value: u64) {
    if let Some(slot) = slot {
        packet.set_intrinsic(slot, value);
    }
}

impl Engine {
    /// Sets what a packet carries into ingress that was just received.
    pub fn begin(&mut self, packet: &mut Packet) {
        packet.clear_intrinsics();
        set(packet, self.variables.ingress_port, u64::from(packet.ingress_port()));
        set(packet, self.variables.is_true, 1);
        self.begin_pass(packet, packet.time_ns());
    }

    /// Sets what every packet carries into ingress, in each of its passes.
    pub fn begin_pass(&mut self, packet: &mut Packet, now_ns: u64) {
        self.begin_variables(packet, now_ns);
        self.pipeline.begin_pass(packet);
    }

    /// The same without the backend's part.
    pub fn begin_variables(&mut self, packet: &mut Packet, now_ns: u64) {
        let length = packet.length();
        packet.set_ingress_length(length);
        set(packet, self.variables.ingress_length, u64::from(length));
        set(packet, self.variables.ingress_time, now_ns / 1000);
    }

    /// Reports packets that enter ingress to the observer.
    pub fn observe_ingress(
        &self,
        burst: &[Packet],
        kind: impl Fn(&Packet) -> &'static str,
        execution: &mut Execution<'_>,
    ) {
        for packet in burst {
            let port = self.variables.ingress_port.map_or(0, |slot| packet.intrinsic(slot) as u32);
            observe_packet(packet, execution);
            observe(execution, || Decision::IngressStarts { port, bytes: packet.length(), kind: kind(packet) });
        }
    }

    /// Runs steps over a burst, one after the other, and ends packets on which assertions fail between them.
    pub fn run_blocks(
        &mut self,
        blocks: &[(&[Step], CoreStage)],
        burst: &mut Vec<Packet>,
        originals: &mut Originals,
        execution: &mut Execution<'_>,
    ) {
        for &(steps, lap) in blocks {
            self.pipeline.run(steps, burst, execution);
            self.end_failed(burst, originals, execution);
            self.timer.lap(lap);
        }
    }

    /// Puts a packet in the queue of a port, with the priority that it requests, as far as there are queues.
    pub fn enqueue_by_class(&mut self, packet: Packet, port: u32, execution: &mut Execution<'_>) {
        let priority = (packet.intrinsic(self.variables.priority) as u32).min(self.traffic.priority_max());
        let (variables, now_ns) = (self.variables, execution.now_ns);
        self.enqueue(packet, port, priority, execution, |packet| variables.leave_queue(packet, port, now_ns));
    }
}
