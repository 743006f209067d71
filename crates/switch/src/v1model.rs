//! The rules of v1model: what happens to a packet between and around the program's blocks.
//!
//! What enters: bursts of packets with a time. What leaves: packets on ports. This is the only place that knows
//! v1model's rules: the order of decisions after ingress and egress, what a clone, a resubmission or a recirculation
//! carries, and the standard metadata. Where the reference switch leaves an accident visible, this file does what its
//! documentation says.
//!
//! A burst goes through parser, checksum verification and ingress; then each packet's fate is decided in order of
//! arrival. What leaves the queues goes through egress, checksum computation and deparser.

use crate::fabric::{Fabric, Rules, Visibility, tell};
use crate::frame::{Chunks, Frame, Lending};
use crate::output::Decision;
use crate::packet::{Originals, Packet};
use crate::piles::Pile;
use crate::pipeline::World;
use crate::records::{is_records, records};
use crate::replication::{Destination, Replica};
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use crate::traffic::{Departure, PORT_MAX};
use base::index::Id as _;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, PASSES_MAX};
use cgen::abi::{self, Unsent};
use ir::architecture::Request;
use ir::v1model::{ARCHITECTURE, Gather, InstanceType, Scatter, Slot, Stage};
use ir::{BlockId, Effect, FieldListId, Program};

/// The architecture's own state.
pub(crate) struct V1Model {
    /// Copies of the present burst's packets as they were received; empty if the program never needs them.
    originals: Originals,
    /// The first bytes of packets on the straight way as they were received, as far as it may write to them.
    saved: Saved,
    /// Packets that have left the straight way of lent frames, by their positions; kept to save its allocation.
    taken: Vec<(usize, Option<Packet>)>,
    /// The verdicts of a call, kept because to clear so many takes time that is seen.
    verdicts: Vec<abi::Verdict>,
    keeps_originals: bool,
}

/// What a program shows of how packets are worked on.
pub(crate) fn visibility(program: &Program) -> Visibility {
    Visibility {
        one_by_one: program.mentions_queues() || program.sends_again(),
        time: program.mentions_queues()
            || program.may_request(Effect::JoinsOrSplits)
            || !program.meters.is_empty()
            || !program.direct_meters.is_empty(),
        depths: program.mentions_queues(),
    }
}

/// The first bytes of the packets of a call.
#[derive(Default)]
struct Saved {
    bytes: Vec<u8>,
    /// How many of each packet are saved.
    each: usize,
}

impl Saved {
    /// Saves as many bytes of each packet as the straight way may write to.
    fn keep<'p>(&mut self, fabric: &Fabric, packets: impl Iterator<Item = &'p [u8]>) {
        self.each = fabric.pipeline.written_bytes_max().unwrap_or(0);
        self.bytes.resize(CALL_FRAMES_MAX * self.each, 0);
        for (saved, packet) in self.bytes.chunks_exact_mut(self.each.max(1)).zip(packets) {
            let bytes = self.each.min(packet.len());
            saved[..bytes].copy_from_slice(&packet[..bytes]);
        }
    }

    /// Makes the first bytes of the packet at this position what they were.
    fn restore(&self, position: usize, packet: &mut [u8]) {
        let bytes = self.each.min(packet.len());
        packet[..bytes].copy_from_slice(&self.bytes[position * self.each..][..bytes]);
    }
}

impl V1Model {
    pub fn new(program: &Program) -> V1Model {
        V1Model {
            originals: Vec::new(),
            saved: Saved::default(),
            taken: Vec::new(),
            verdicts: vec![0; CALL_FRAMES_MAX],
            keeps_originals: program.may_request(Effect::Original),
        }
    }
}

impl V1Model {
    /// Copies the packets as they were received, if the program may ask for that.
    fn keep_originals(&mut self, fabric: &mut Fabric, burst: &[Packet], port: impl Fn(&Packet) -> u64) {
        if self.keeps_originals {
            self.originals.extend(burst.iter().map(|packet| {
                let mut original = fabric.pool.take(packet.bytes())?;
                original.set_intrinsic(Slot::IngressPort, port(packet));
                Some(original)
            }));
        }
    }

    /// Takes the first `count` packets the straight way, the first of which is the `first` of its burst, and all that
    /// they cause. Those that came to their end are gone then: one behind another that asked for more may not have.
    fn straight_from(
        &mut self,
        first: usize,
        fabric: &mut Fabric,
        burst: &mut Vec<Packet>,
        count: usize,
        world: &mut World<'_>,
    ) {
        fabric.timer.start();
        let packets = &mut burst[..count];
        let mut verdicts = [0; BURST_PACKETS_MAX];
        let verdicts = &mut verdicts[..count];
        let mut lending = std::mem::take(&mut fabric.lending);
        let floor = fabric.pool.floor();
        let (frames, unsent) = if fabric.pipeline.is_in_place() {
            let (chunks, frames) = lending.lend(packets, floor);
            let unsent = fabric.pipeline.run_straight(chunks, frames, verdicts, world);
            (frames, unsent)
        } else {
            let unsent = fabric.pipeline.run_straight(Chunks::of(packets), &mut [], verdicts, world);
            (lending.lend(packets, floor).1, unsent)
        };
        fabric.timer.lap(CoreStage::Straight);
        if unsent.asks() == 0 {
            fabric.obey(frames, verdicts, unsent, world);
            fabric.pool.give_all(burst.drain(..count));
        } else {
            if fabric.pipeline.is_in_place() {
                lending.take_back(packets);
            }
            self.obey_in_turn(first, fabric, burst, &mut lending, ended(fabric, verdicts), world);
        }
        fabric.lending = lending;
        fabric.timer.lap(CoreStage::Transmit);
    }

    /// Ends packets of the straight way, some of which ask for more: whatever those cause leaves where they stand.
    fn obey_in_turn(
        &mut self,
        first: usize,
        fabric: &mut Fabric,
        burst: &mut Vec<Packet>,
        lending: &mut Lending,
        verdicts: &[abi::Verdict],
        world: &mut World<'_>,
    ) {
        let mut originals = std::mem::take(&mut self.originals);
        let mut done = 0;
        while done < verdicts.len() {
            let of_rest = &verdicts[done..];
            let more = of_rest.iter().position(|verdict| abi::asks_for_more(*verdict)).unwrap_or(of_rest.len());
            let (_, frames) = lending.lend(&mut burst[..more], fabric.pool.floor());
            fabric.obey(frames, &of_rest[..more], Unsent::of(&of_rest[..more]), world);
            fabric.pool.give_all(burst.drain(..more));
            done += more;
            if done < verdicts.len() {
                let packet = burst.remove(0);
                let (verdict, root) = (verdicts[done], first + done);
                let kept = originals.get_mut(root).and_then(Option::take);
                let original = kept.or_else(|| self.original(fabric, &packet, verdict, root));
                self.go_on(fabric, packet, original, verdict, root, world);
                done += 1;
            }
        }
        self.originals = originals;
    }

    /// Takes lent frames the straight way, the first of which is the `first` of its call, and all that they cause.
    /// There is a free chunk for each. Returns how many came to their end: those behind one that asked for more may not
    /// have.
    fn forward_from(
        &mut self,
        first: usize,
        fabric: &mut Fabric,
        frames: &mut [Frame<'_>],
        world: &mut World<'_>,
    ) -> usize {
        fabric.timer.start();
        let mut all_verdicts = std::mem::take(&mut self.verdicts);
        let mut verdicts = &mut all_verdicts[..frames.len()];
        let spare = fabric.pool.spare(frames.len());
        let unsent = fabric.pipeline.run_straight(Chunks::of(spare), frames, verdicts, world);
        fabric.timer.lap(CoreStage::Straight);
        if unsent.asks() == 0 {
            fabric.obey(frames, verdicts, unsent, world);
        } else {
            let ended = ended(fabric, verdicts).len();
            let asks = |position| position < ended && abi::asks_for_more(verdicts[position]);
            let mut taken = std::mem::take(&mut self.taken);
            fabric.pool.take_spare(frames, asks, &mut taken);
            verdicts = &mut verdicts[..ended];
            let mut done = 0;
            while let Some((position, packet)) = taken.pop() {
                let before = &verdicts[done..position];
                fabric.obey(&frames[done..position], before, Unsent::of(before), world);
                match packet {
                    Some(packet) => {
                        let (verdict, root) = (verdicts[position], first + position);
                        let original = self.original(fabric, &packet, verdict, root);
                        self.go_on(fabric, packet, original, verdict, root, world);
                    }
                    None => fabric.count_drop(DropReason::NoBuffer, world),
                }
                done = position + 1;
            }
            self.taken = taken;
            fabric.obey(&frames[done..ended], &verdicts[done..], Unsent::of(&verdicts[done..]), world);
        }
        let count = verdicts.len();
        self.verdicts = all_verdicts;
        fabric.timer.lap(CoreStage::Transmit);
        count
    }

    /// Goes on with a packet that asked for more on the straight way; it was the `root`th of its burst.
    fn go_on(
        &mut self,
        fabric: &mut Fabric,
        mut packet: Packet,
        original: Option<Packet>,
        verdict: abi::Verdict,
        root: usize,
        world: &mut World<'_>,
    ) {
        if verdict == abi::ASSERTION_FAILED {
            fabric.end_all(packet, original, DropReason::AssertionFailed, world);
            return;
        }
        fabric.allow_copies(&mut packet, root);
        if verdict == abi::DECIDE_INGRESS {
            after_ingress(fabric, packet, original, world);
        } else {
            original.into_iter().for_each(|original| fabric.pool.give(original));
            self.finish_egress(fabric, packet, world);
        }
        fabric.finish(self, world);
    }

    /// A packet as it was received, if that has been saved and may be asked for.
    fn original(&self, fabric: &mut Fabric, packet: &Packet, verdict: abi::Verdict, position: usize) -> Option<Packet> {
        let is_saved = self.keeps_originals && fabric.pipeline.written_bytes_max().is_some();
        if !is_saved || verdict != abi::DECIDE_INGRESS || !asks_for_original(packet) {
            return None;
        }
        let mut original = fabric.pool.take(packet.bytes())?;
        self.saved.restore(position, original.bytes_mut());
        original.set_intrinsic(Slot::IngressPort, u64::from(packet.ingress_port()));
        Some(original)
    }

    /// Goes on with a packet that has been through egress.
    fn finish_egress(&mut self, fabric: &mut Fabric, mut packet: Packet, world: &mut World<'_>) {
        if let Some(reason) = after_egress(fabric, &mut packet, world) {
            fabric.end(packet, reason, world);
            return;
        }
        for stage in [Stage::ComputeChecksum, Stage::Deparser] {
            fabric.pipeline.run(block(stage), std::slice::from_mut(&mut packet), world);
            if packet.assertion_failed() {
                fabric.end(packet, DropReason::AssertionFailed, world);
                return;
            }
        }
        after_deparser(fabric, packet, world);
    }
}

impl Rules for V1Model {
    fn begin(&mut self, fabric: &mut Fabric, packet: &mut Packet) {
        packet.clear_intrinsics();
        packet.set_intrinsic(Slot::IngressPort, u64::from(packet.ingress_port()));
        begin_pass(fabric, packet, packet.time_ns(), InstanceType::Normal);
    }

    fn straight(&mut self, fabric: &mut Fabric, burst: &mut Vec<Packet>, world: &mut World<'_>) {
        match fabric.pipeline.written_bytes_max() {
            Some(_) if self.keeps_originals => self.saved.keep(fabric, burst.iter().map(Packet::bytes)),
            _ => self.keep_originals(fabric, burst, |packet| u64::from(packet.ingress_port())),
        }
        let (mut done, mut next) = (0, burst.len());
        while !burst.is_empty() {
            let (count, before) = (next.min(burst.len()), burst.len());
            self.straight_from(done, fabric, burst, count, world);
            let ended = before - burst.len();
            (done, next) = (done + ended, after_so_many(ended));
        }
        self.originals.drain(..).flatten().for_each(|original| fabric.pool.give(original));
    }

    fn asks_for_originals(&self) -> bool {
        self.keeps_originals
    }

    fn forward(&mut self, fabric: &mut Fabric, frames: &mut [Frame<'_>], world: &mut World<'_>) {
        if self.keeps_originals {
            self.saved.keep(fabric, frames.iter().map(Frame::bytes));
        }
        let (mut done, mut next) = (0, frames.len());
        while done < frames.len() {
            let rest = &mut frames[done..];
            let spare = fabric.pool.spare(next.min(rest.len())).len();
            if spare == 0 {
                fabric.stats.count_drops(DropReason::NoBuffer, rest.len() as u64);
                return;
            }
            let ended = self.forward_from(done, fabric, &mut rest[..spare], world);
            (done, next) = (done + ended, after_so_many(ended));
        }
    }

    fn ingress(&mut self, fabric: &mut Fabric, burst: &mut Vec<Packet>, world: &mut World<'_>) {
        for packet in burst.iter() {
            let port = packet.intrinsic(Slot::IngressPort) as u32;
            tell(world, || Decision::IngressStarts { port, bytes: packet.length(), kind: kind(packet) });
        }
        self.keep_originals(fabric, burst, |packet| packet.intrinsic(Slot::IngressPort));
        fabric.timer.start();
        for (stage, lap) in [
            (Stage::Parser, CoreStage::Parser),
            (Stage::VerifyChecksum, CoreStage::VerifyChecksum),
            (Stage::Ingress, CoreStage::Ingress),
        ] {
            fabric.pipeline.run(block(stage), burst, world);
            fabric.end_failed(burst, &mut self.originals, world);
            fabric.timer.lap(lap);
        }
        let mut originals = std::mem::take(&mut self.originals);
        let mut original_of = originals.drain(..);
        for packet in burst.drain(..) {
            let original = original_of.next().flatten();
            after_ingress(fabric, packet, original, world);
        }
        drop(original_of);
        self.originals = originals;
        fabric.timer.lap(CoreStage::Decide);
    }

    fn begin_egress(&mut self, departure: Departure<Packet>, drop_port: u64, world: &mut World<'_>) -> Packet {
        let Departure { mut packet, port, enqueued_ns, depth_packets, .. } = departure;
        leave_queue(&mut packet, port, drop_port, world.now_ns);
        let waited_us = world.now_ns.saturating_sub(enqueued_ns) / 1000;
        packet.set_intrinsic(Slot::DeqTimedelta, waited_us & u64::from(u32::MAX));
        packet.set_intrinsic(Slot::DeqQdepth, depth_packets as u64);
        let rid = packet.intrinsic(Slot::EgressRid);
        tell(world, || Decision::EgressStarts { port, rid, kind: kind(&packet) });
        packet
    }

    fn egress(&mut self, fabric: &mut Fabric, burst: &mut Vec<Packet>, world: &mut World<'_>) {
        fabric.pipeline.run(block(Stage::Egress), burst, world);
        fabric.end_failed(burst, &mut Vec::new(), world);
        let mut position = 0;
        while position < burst.len() {
            if only_leaves_egress(&burst[position], fabric.drop_port) {
                position += 1;
                continue;
            }
            match after_egress(fabric, &mut burst[position], world) {
                None => position += 1,
                Some(reason) => {
                    let packet = burst.remove(position);
                    fabric.end(packet, reason, world);
                }
            }
        }
        fabric.timer.lap(CoreStage::Egress);
        if burst.is_empty() {
            return;
        }
        fabric.pipeline.run(block(Stage::ComputeChecksum), burst, world);
        fabric.end_failed(burst, &mut Vec::new(), world);
        fabric.timer.lap(CoreStage::ComputeChecksum);
        fabric.pipeline.run(block(Stage::Deparser), burst, world);
        fabric.end_failed(burst, &mut Vec::new(), world);
        fabric.timer.lap(CoreStage::Deparser);
        for packet in burst.drain(..) {
            after_deparser(fabric, packet, world);
        }
        fabric.timer.lap(CoreStage::Transmit);
    }

    fn release(&mut self, fabric: &mut Fabric, number: u16, pile: Pile, world: &mut World<'_>) {
        leave(fabric, number, pile, world);
    }
}

/// The verdicts of a call of the straight way, in which a packet asks for more, of packets that came to their end.
fn ended<'v>(fabric: &Fabric, verdicts: &'v [abi::Verdict]) -> &'v [abi::Verdict] {
    if !fabric.pipeline.stops_at_asking() {
        return verdicts;
    }
    let asking = verdicts.iter().position(|verdict| abi::asks_for_more(*verdict));
    asking.map_or(verdicts, |asking| &verdicts[..=asking])
}

/// How many packets a call of the straight way takes after one in which so many came to their end: where many ask for
/// more, each call prepares few for nothing.
fn after_so_many(ended: usize) -> usize {
    2 * ended
}

// -------------------------------------------------------------------------------------------- passes

/// Sets what a packet carries when a pass starts.
fn begin_pass(fabric: &mut Fabric, packet: &mut Packet, now_ns: u64, instance_type: InstanceType) {
    let length = packet.length();
    packet.set_ingress_length(length);
    packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
    packet.set_intrinsic(Slot::PacketLength, u64::from(length));
    packet.set_intrinsic(Slot::IngressGlobalTimestamp, now_ns / 1000);
    fabric.pipeline.begin_pass(packet);
}

/// The same for a packet that comes from another one and keeps the variables of a field list.
fn begin_later_pass(
    fabric: &mut Fabric,
    packet: &mut Packet,
    from: &Packet,
    list: Option<FieldListId>,
    now_ns: u64,
    instance_type: InstanceType,
) {
    begin_pass(fabric, packet, now_ns, instance_type);
    if let Some(list) = list {
        fabric.pipeline.reset_metadata(packet);
        fabric.pipeline.preserve(list, from, packet);
        // These two are always the new pass's own.
        packet.set_intrinsic(Slot::InstanceType, instance_type as u64);
        packet.set_intrinsic(Slot::PacketLength, u64::from(packet.length()));
    }
}

/// Whether a request of a packet needs the packet as it was received.
fn asks_for_original(packet: &Packet) -> bool {
    let is_made = |request: &&Request| packet.intrinsics()[request.slot as usize] != 0;
    ARCHITECTURE.requests.iter().filter(is_made).any(|request| request.effects.contains(&Effect::Original))
}

/// The decisions after ingress, in the order of the reference: clone, resubmit, multicast, drop, unicast. (A digest
/// was sent by the program's own last statement.) Before them a pile leaves, so that a packet that is resubmitted then
/// follows it; a packet is taken apart where it would else be sent.
fn after_ingress(fabric: &mut Fabric, mut packet: Packet, mut original: Option<Packet>, world: &mut World<'_>) {
    let released = packet.intrinsic(Slot::Release);
    if released != 0 {
        packet.set_intrinsic(Slot::Release, 0);
        let_go(fabric, (released - 1) as u16, &packet, world);
    }
    let session = packet.intrinsic(Slot::CloneIngressSession);
    if session != 0 {
        let list = field_list(packet.intrinsic(Slot::CloneList), 1);
        clone_ingress(fabric, &packet, original.as_ref(), (session - 1) as u32, list, world);
    }
    packet.set_intrinsic(Slot::CloneIngressSession, 0);
    let request = packet.intrinsic(Slot::CloneToIngress);
    if request != 0 {
        packet.set_intrinsic(Slot::CloneToIngress, 0);
        match &original {
            Some(original) => {
                let port = original.intrinsic(Slot::IngressPort);
                let list = field_list(request, 2);
                clone_to_ingress(fabric, &packet, original.bytes(), port, list, InstanceType::IngressClone, world);
            }
            None => fabric.count_drop(DropReason::NoBuffer, world),
        }
    }
    let request = packet.intrinsic(Slot::Resubmit);
    if request != 0 {
        resubmit(fabric, packet, original, field_list(request, 2), world);
        return;
    }
    if let Some(request) = Scatter::of(packet.intrinsic(Slot::Scatter)) {
        scatter(fabric, packet, original, request, world);
        return;
    }
    if let Some(original) = original.take() {
        fabric.pool.give(original);
    }
    let group = packet.intrinsic(Slot::McastGrp);
    if group != 0 {
        multicast(fabric, packet, group, world);
    } else if packet.intrinsic(Slot::EgressSpec) == fabric.drop_port {
        fabric.end(packet, DropReason::Ingress, world);
    } else {
        let port = packet.intrinsic(Slot::EgressSpec) as u32;
        tell(world, || Decision::Unicast { port });
        // Egress sees a packet of one port as a normal one, however it came to ingress.
        packet.set_intrinsic(Slot::InstanceType, InstanceType::Normal as u64);
        enqueue(fabric, packet, port, world);
    }
}

/// The copy is the packet as it was received, parsed again. Its metadata are then reset, but for those of the list, the
/// port of its reception, which the parser looks at, and the time of the pass.
fn clone_ingress(
    fabric: &mut Fabric,
    packet: &Packet,
    original: Option<&Packet>,
    session: u32,
    list: Option<FieldListId>,
    world: &mut World<'_>,
) {
    if fabric.replication.session(session).is_none() {
        tell(world, || Decision::Cloned { session, copies: None });
        return;
    }
    let Some(original) = original else {
        fabric.count_drop(DropReason::NoBuffer, world);
        return;
    };
    let Some(mut copy) = fabric.again_from(original.bytes(), packet, world) else { return };
    // The parser sees what it saw of the packet, the port included, and so takes the same way.
    begin_pass(fabric, &mut copy, world.now_ns, InstanceType::Normal);
    copy.set_intrinsic(Slot::IngressPort, original.intrinsic(Slot::IngressPort));
    fabric.pipeline.run(block(Stage::Parser), std::slice::from_mut(&mut copy), world);
    if copy.assertion_failed() {
        fabric.end(copy, DropReason::AssertionFailed, world);
        return;
    }
    // What the parser has written to metadata goes, its error included: the headers are what it is there for.
    fabric.pipeline.reset_metadata(&mut copy);
    let [port, time] = [Slot::IngressPort, Slot::IngressGlobalTimestamp].map(|slot| copy.intrinsic(slot));
    copy.clear_intrinsics();
    copy.set_intrinsic(Slot::IngressPort, port);
    copy.set_intrinsic(Slot::IngressGlobalTimestamp, time);
    if let Some(list) = list {
        fabric.pipeline.preserve(list, packet, &mut copy);
    }
    copy.set_intrinsic(Slot::InstanceType, InstanceType::IngressClone as u64);
    copy.set_intrinsic(Slot::PacketLength, u64::from(copy.ingress_length()));
    send_clone(fabric, copy, session, world);
}

/// The copy is a packet of its own that was received on `port` with these bytes, and has the metadata of the list from
/// the start. No session is asked for: there is only one place that it can go to.
fn clone_to_ingress(
    fabric: &mut Fabric,
    packet: &Packet,
    bytes: &[u8],
    port: u64,
    list: Option<FieldListId>,
    instance_type: InstanceType,
    world: &mut World<'_>,
) {
    let Some(mut copy) = fabric.again_from(bytes, packet, world) else { return };
    copy.set_intrinsic(Slot::IngressPort, port);
    begin_later_pass(fabric, &mut copy, packet, list, world.now_ns, instance_type);
    tell(world, || Decision::ClonedToIngress);
    fabric.also_go(copy);
}

fn resubmit(
    fabric: &mut Fabric,
    packet: Packet,
    original: Option<Packet>,
    list: Option<FieldListId>,
    world: &mut World<'_>,
) {
    let Some(mut fresh) = original else {
        fabric.end(packet, DropReason::NoBuffer, world);
        return;
    };
    if packet.passes() >= PASSES_MAX {
        fabric.end_all(packet, Some(fresh), DropReason::PassLimit, world);
        return;
    }
    if !fabric.charge(packet.root()) {
        fabric.end_all(packet, Some(fresh), DropReason::CopyLimit, world);
        return;
    }
    fresh.inherit(&packet);
    begin_later_pass(fabric, &mut fresh, &packet, list, world.now_ns, InstanceType::Resubmitted);
    tell(world, || Decision::Resubmitted);
    fabric.go_again(fresh, packet);
}

fn multicast(fabric: &mut Fabric, mut packet: Packet, group: u64, world: &mut World<'_>) {
    let destination = Destination::Group(group);
    let replicas = fabric.replication.replicas(destination).len();
    tell(world, || Decision::Multicast { group, replicas });
    packet.set_intrinsic(Slot::InstanceType, InstanceType::Replicated as u64);
    // Replicas inherit no request of what they replicate: neither its truncation nor its recirculation.
    packet.set_intrinsic(Slot::Truncate, 0);
    packet.set_intrinsic(Slot::Recirculate, 0);
    fabric.replicate(packet, destination, world, enqueue_replica);
}

fn send_clone(fabric: &mut Fabric, mut copy: Packet, session: u32, world: &mut World<'_>) {
    // A session that shortens its clones is as good as a program that asks for it.
    let length_bytes_max = fabric.replication.clone_properties(session).length_bytes_max;
    copy.set_intrinsic(Slot::Truncate, length_bytes_max.map_or(0, |length| u64::from(length.saturating_add(1))));
    let destination = Destination::Session(session);
    let copies = fabric.replication.replicas(destination).len();
    tell(world, || Decision::Cloned { session, copies: Some(copies) });
    fabric.replicate(copy, destination, world, enqueue_replica);
}

// ------------------------------------------------------------------------------------------------- queues

fn enqueue_replica(fabric: &mut Fabric, mut packet: Packet, replica: Replica, world: &mut World<'_>) {
    packet.set_intrinsic(Slot::EgressRid, replica.rid);
    enqueue(fabric, packet, replica.port, world);
}

#[inline]
fn enqueue(fabric: &mut Fabric, mut packet: Packet, port: u32, world: &mut World<'_>) {
    let (priority, now_ns) = (packet.intrinsic(Slot::Priority) as u32, world.now_ns);
    packet.set_intrinsic(Slot::EnqTimestamp, (now_ns / 1000) & u64::from(u32::MAX));
    packet.set_intrinsic(Slot::EnqQdepth, fabric.traffic.depth(port, priority) as u64);
    fabric.enqueue(packet, port, priority, world, |packet, drop_port| leave_queue(packet, port, drop_port, now_ns));
}

/// Sets the metadata of a packet that has left its queue without waiting.
#[inline]
fn leave_queue(packet: &mut Packet, port: u32, drop_port: u64, now_ns: u64) {
    let delta = packet.intrinsic(Slot::LengthDelta) as u32;
    let length = packet.intrinsic(Slot::PacketLength) as u32;
    let length = if length == 0 { packet.ingress_length() } else { length };
    packet.set_intrinsic(Slot::EgressPort, u64::from(port));
    // The reference switch sets the port after the drop port, which for the usual one leaves nothing of 9 bits.
    packet.set_intrinsic(Slot::EgressSpec, drop_port.wrapping_add(1) & u64::from(PORT_MAX));
    packet.set_intrinsic(Slot::PacketLength, u64::from(length.wrapping_add(delta)));
    packet.set_intrinsic(Slot::LengthDelta, 0);
    packet.set_intrinsic(Slot::DeqTimedelta, 0);
    packet.set_intrinsic(Slot::DeqQdepth, 0);
    packet.set_intrinsic(Slot::EgressGlobalTimestamp, now_ns / 1000);
}

// ------------------------------------------------------------------------------------------------- egress

/// Whether a packet requests nothing after egress and is not dropped.
#[inline]
fn only_leaves_egress(packet: &Packet, drop_port: u64) -> bool {
    let requests = packet.intrinsic(Slot::CloneEgressSession) | packet.intrinsic(Slot::CloneToIngress);
    requests == 0 && packet.intrinsic(Slot::EgressSpec) != drop_port
}

/// The decisions after egress: clones, then drop.
fn after_egress(fabric: &mut Fabric, packet: &mut Packet, world: &mut World<'_>) -> Option<DropReason> {
    let session = packet.intrinsic(Slot::CloneEgressSession);
    if session != 0 {
        let list = field_list(packet.intrinsic(Slot::CloneList), 1);
        packet.set_intrinsic(Slot::CloneEgressSession, 0);
        clone_egress(fabric, packet, (session - 1) as u32, list, world);
    }
    let request = packet.intrinsic(Slot::CloneToIngress);
    if request != 0 {
        packet.set_intrinsic(Slot::CloneToIngress, 0);
        clone_egress_to_ingress(fabric, packet, field_list(request, 2), world);
    }
    (packet.intrinsic(Slot::EgressSpec) == fabric.drop_port).then_some(DropReason::Egress)
}

/// The copy has the headers as they are and no metadata but those of the list; it starts at the queue.
fn clone_egress(fabric: &mut Fabric, packet: &Packet, session: u32, list: Option<FieldListId>, world: &mut World<'_>) {
    if fabric.replication.session(session).is_none() {
        tell(world, || Decision::Cloned { session, copies: None });
        return;
    }
    if packet.passes() >= PASSES_MAX {
        fabric.count_drop(DropReason::PassLimit, world);
        return;
    }
    let Some(mut copy) = fabric.copy(packet, world) else { return };
    copy.inherit(packet);
    fabric.pipeline.reset_metadata(&mut copy);
    if let Some(list) = list {
        fabric.pipeline.preserve(list, packet, &mut copy);
    }
    copy.set_intrinsic(Slot::InstanceType, InstanceType::EgressClone as u64);
    copy.set_intrinsic(Slot::PacketLength, packet.intrinsic(Slot::PacketLength));
    send_clone(fabric, copy, session, world);
}

/// The copy has the bytes that the packet would be sent with, even if it is dropped.
fn clone_egress_to_ingress(fabric: &mut Fabric, packet: &Packet, list: Option<FieldListId>, world: &mut World<'_>) {
    let Some(mut sent) = fabric.copy(packet, world) else { return };
    for stage in [Stage::ComputeChecksum, Stage::Deparser] {
        fabric.pipeline.run(block(stage), std::slice::from_mut(&mut sent), world);
        if sent.assertion_failed() {
            fabric.end(sent, DropReason::AssertionFailed, world);
            return;
        }
    }
    if sent.is_too_long() {
        fabric.end(sent, DropReason::TooLong, world);
        return;
    }
    let port = packet.intrinsic(Slot::IngressPort);
    clone_to_ingress(fabric, packet, sent.bytes(), port, list, InstanceType::EgressClone, world);
    fabric.pool.give(sent);
}

fn after_deparser(fabric: &mut Fabric, packet: Packet, world: &mut World<'_>) {
    if packet.is_too_long() {
        fabric.end(packet, DropReason::TooLong, world);
        return;
    }
    let length = match packet.intrinsic(Slot::Truncate) {
        0 => packet.bytes().len(),
        limit => packet.bytes().len().min((limit - 1) as usize),
    };
    if let Some(request) = Gather::of(packet.intrinsic(Slot::Gather)) {
        gather(fabric, packet, length, request, world);
        return;
    }
    let request = packet.intrinsic(Slot::Recirculate);
    if request != 0 {
        recirculate(fabric, packet, field_list(request, 2), world);
        return;
    }
    let port = packet.intrinsic(Slot::EgressPort) as u32;
    fabric.transmit(packet, port, length, world);
}

fn recirculate(fabric: &mut Fabric, packet: Packet, list: Option<FieldListId>, world: &mut World<'_>) {
    if packet.passes() >= PASSES_MAX {
        fabric.end(packet, DropReason::PassLimit, world);
        return;
    }
    let Some(mut fresh) = fabric.again_from(packet.bytes(), &packet, world) else {
        fabric.pool.give(packet);
        return;
    };
    begin_later_pass(fabric, &mut fresh, &packet, list, world.now_ns, InstanceType::Recirculated);
    tell(world, || Decision::Recirculated);
    fabric.go_again(fresh, packet);
}

// -------------------------------------------------------------------------------------------------- piles

/// Adds a packet's first `length` bytes to its pile. The pile leaves before that if it would become too long, and after
/// it if nothing more fits or if it may wait no longer.
fn gather(fabric: &mut Fabric, packet: Packet, length: usize, request: Gather, world: &mut World<'_>) {
    if fabric.piles.is_full(request, length) {
        let_go(fabric, request.pile, &packet, world);
    }
    if !fabric.piles.add(request, &packet.bytes()[..length], &packet, &mut fabric.pool) {
        fabric.end(packet, DropReason::NoBuffer, world);
        return;
    }
    let packets = fabric.piles.packets_in(request.pile);
    tell(world, || Decision::Gathered { pile: request.pile, packets });
    if fabric.piles.is_full(request, 1) || fabric.piles.is_due(request.pile, world.now_ns) {
        let_go(fabric, request.pile, &packet, world);
    }
    fabric.pool.give(packet);
}

/// Lets a pile go, if there is one, because of a packet.
fn let_go(fabric: &mut Fabric, number: u16, cause: &Packet, world: &mut World<'_>) {
    if let Some(mut pile) = fabric.piles.take(number) {
        pile.packet.set_root(cause.root());
        pile.packet.set_time_ns(cause.time_ns());
        leave(fabric, number, pile, world);
    }
}

/// A pile goes through ingress as a packet.
fn leave(fabric: &mut Fabric, number: u16, pile: Pile, world: &mut World<'_>) {
    let Pile { mut packet, packets, .. } = pile;
    if packet.passes() >= PASSES_MAX {
        fabric.end(packet, DropReason::PassLimit, world);
        return;
    }
    if !fabric.charge(packet.root()) {
        fabric.end(packet, DropReason::CopyLimit, world);
        return;
    }
    packet.clear_intrinsics();
    packet.set_passes(packet.passes() + 1);
    begin_pass(fabric, &mut packet, world.now_ns, InstanceType::Coalesced);
    packet.set_intrinsic(Slot::Gathered, u64::from(number) << 16 | u64::from(packets));
    tell(world, || Decision::PileLeaves { pile: number, packets });
    fabric.also_go(packet);
}

/// Takes a packet apart as it was received: each record goes through ingress as a packet of its own, all of them or
/// none. What is not made of so many records goes through ingress once more as it was.
fn scatter(fabric: &mut Fabric, packet: Packet, original: Option<Packet>, request: Scatter, world: &mut World<'_>) {
    let Some(original) = original else {
        fabric.end(packet, DropReason::NoBuffer, world);
        return;
    };
    if packet.passes() >= PASSES_MAX {
        fabric.end_all(packet, Some(original), DropReason::PassLimit, world);
        return;
    }
    let bytes = original.bytes().get(usize::from(request.first_byte)..);
    let Some(bytes) = bytes.filter(|bytes| is_records(bytes, request.records)) else {
        not_scattered(fabric, packet, original, world);
        return;
    };
    if !fabric.charge_all(packet.root(), usize::from(request.records)) {
        fabric.end_all(packet, Some(original), DropReason::CopyLimit, world);
        return;
    }
    tell(world, || Decision::Scattered { records: request.records });
    for record in records(bytes) {
        let Some(mut part) = fabric.pool.take(record) else {
            fabric.count_drop(DropReason::NoBuffer, world);
            continue;
        };
        part.inherit(&packet);
        part.set_intrinsic(Slot::IngressPort, original.intrinsic(Slot::IngressPort));
        begin_pass(fabric, &mut part, world.now_ns, InstanceType::Scattered);
        fabric.also_go(part);
    }
    fabric.pool.give(packet);
    fabric.pool.give(original);
}

fn not_scattered(fabric: &mut Fabric, packet: Packet, mut whole: Packet, world: &mut World<'_>) {
    if !fabric.charge(packet.root()) {
        fabric.end_all(packet, Some(whole), DropReason::CopyLimit, world);
        return;
    }
    let port = whole.intrinsic(Slot::IngressPort);
    whole.inherit(&packet);
    whole.set_intrinsic(Slot::IngressPort, port);
    begin_pass(fabric, &mut whole, world.now_ns, InstanceType::NotScattered);
    tell(world, || Decision::NotScattered);
    fabric.go_again(whole, packet);
}

/// What kind of packet it is, in words.
fn kind(packet: &Packet) -> &'static str {
    match packet.intrinsic(Slot::InstanceType) {
        0 => "a normal packet",
        1 => "a clone from ingress",
        2 => "a clone from egress",
        3 => "a pile of packets",
        4 => "a recirculated packet",
        5 => "a replica",
        6 => "a resubmitted packet",
        7 => "a record of a packet",
        8 => "a packet that is not made of records",
        _ => "a packet of unknown kind",
    }
}

fn block(stage: Stage) -> BlockId {
    BlockId::from_index(stage as usize)
}

/// The field list in a request that counts lists from `first`.
fn field_list(request: u64, first: u64) -> Option<FieldListId> {
    (request >= first).then(|| FieldListId::from_index((request - first) as usize))
}
