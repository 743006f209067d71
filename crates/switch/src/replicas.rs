//! Replicas that take the fast path from the queues on.
//!
//! What enters: a packet that has been through ingress, and where its replicas go. What leaves: the replicas. They
//! share the packet's context, which none of them changes, so only its bytes are copied for each. The result is that of
//! copies of the whole packet in queues that do not delay them. Where a program could observe the difference, or a
//! queue might delay a replica, [`Engine::replicate`] makes such copies.

use crate::engine::Engine;
use crate::packet::Packet;
use crate::pipeline::Execution;
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::InternalPort;
use base::limits::BURST_PACKETS_MAX;
use cgen::abi::{self, Verdict};

/// The replicas of a burst, reused to avoid allocations.
#[derive(Default)]
pub(crate) struct Replicas {
    packets: Vec<Packet>,
    /// Where all replicas of the packet go; copied, so that the groups need not be held meanwhile.
    all: Vec<Replica>,
    /// Where those go that there were buffers for.
    made: Vec<Replica>,
    /// Whether replicas are being sent: what they cause stays in the queues until all have left.
    is_busy: bool,
}

impl Engine {
    /// Whether the replicas of a packet take the path of their own. Then [`Engine::send_replicas`] sends them.
    pub fn takes_replica_path(
        &mut self,
        root: usize,
        destination: Destination,
        priority: u32,
        execution: &Execution<'_>,
    ) -> bool {
        let is_free = self.takes_fast_path()
            && self.pipeline.has_replica_path()
            && execution.observer.is_none()
            && !self.replicas.is_busy
            && self.roots.passed_of(root) == 0
            && !self.traffic.has_internal_port(InternalPort::Replication);
        if !is_free {
            return false;
        }
        let all = &mut self.replicas.all;
        all.clear();
        all.extend_from_slice(self.replication.replicas(destination));
        !all.is_empty() && all.iter().all(|replica| self.traffic.may_skip_queue(replica.port, priority))
    }

    /// Takes the replicas of a packet to their end, after [`Engine::takes_replica_path`]. `finish` continues with those
    /// that request something behind egress.
    pub fn send_replicas(
        &mut self,
        packet: Packet,
        execution: &mut Execution<'_>,
        finish: impl Fn(&mut Engine, Packet, &mut Execution<'_>),
    ) {
        self.replicas.is_busy = true;
        let all = std::mem::take(&mut self.replicas.all);
        let mut left = all.len();
        for burst in all.chunks(BURST_PACKETS_MAX) {
            self.timer.start();
            left -= burst.len();
            // The packet itself counts as the last replica.
            self.make_replicas(&packet, burst, left == 0);
            self.timer.lap(CoreStage::Replicate);
            self.send_burst(&packet, execution, &finish);
        }
        self.replicas.all = all;
        self.replicas.is_busy = false;
        self.pool.give(packet);
    }

    /// Copies the packet's bytes for each replica, but for those over the budget or without a buffer. With
    /// `has_original` the last one costs nothing.
    fn make_replicas(&mut self, packet: &Packet, burst: &[Replica], has_original: bool) {
        let copies = burst.len() - usize::from(has_original);
        let granted = self.charge_up_to(packet.root(), copies);
        self.stats.count_drops(DropReason::CopyLimit, (copies - granted) as u64);
        let made = &mut self.replicas.made;
        made.extend(&burst[..granted]);
        made.extend(&burst[copies..]);
        let count = self.pool.copy_bytes(packet, made.len(), &mut self.replicas.packets);
        self.stats.count_drops(DropReason::NoBuffer, (made.len() - count) as u64);
        made.truncate(count);
        self.stats.copies += granted.min(count) as u64;
    }

    fn send_burst(
        &mut self,
        packet: &Packet,
        execution: &mut Execution<'_>,
        finish: &impl Fn(&mut Engine, Packet, &mut Execution<'_>),
    ) {
        let mut packets = std::mem::take(&mut self.replicas.packets);
        let mut lending = std::mem::take(&mut self.lending);
        let mut verdicts: [Verdict; BURST_PACKETS_MAX] = [0; BURST_PACKETS_MAX];
        let verdicts = &mut verdicts[..packets.len()];
        let (chunks, frames) = lending.lend_replicas(&mut packets, &self.replicas.made, self.pool.floor());
        let exceptions = self.pipeline.run_replica_path(packet, chunks, frames, verdicts, execution);
        self.timer.lap(CoreStage::ReplicaPath);
        if self.roots.defers() {
            lending.take_back(&mut packets);
            for (replica, &verdict) in packets.drain(..).zip(&*verdicts) {
                match verdict {
                    abi::ASSERTION_FAILED => self.end(replica, DropReason::AssertionFailed, execution),
                    _ if abi::is_punt(verdict) => finish(self, replica, execution),
                    _ => self.end_by_verdict(replica, verdict, execution),
                }
            }
        } else if exceptions.punts() == 0 {
            self.apply_verdicts(frames, verdicts, exceptions, execution);
            self.pool.give_all(packets.drain(..));
        } else {
            lending.take_back(&mut packets);
            self.end_in_order(
                &mut packets,
                verdicts,
                &mut lending,
                execution,
                |engine, replica, position, execution| {
                    if verdicts[position] == abi::ASSERTION_FAILED {
                        engine.end(replica, DropReason::AssertionFailed, execution);
                    } else {
                        finish(engine, replica, execution);
                    }
                },
            );
        }
        self.timer.lap(CoreStage::Transmit);
        self.lending = lending;
        self.replicas.packets = packets;
        self.replicas.made.clear();
    }
}
