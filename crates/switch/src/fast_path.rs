//! The fast path: packets that generated code takes from the parser to their end, and how those that it punts
//! continue.
//!
//! What enters: packets that were just received, in chunks or lent frames. What leaves: those that are sent, and to the
//! rules of the architecture those about which it has to decide. Punted packets are processed together, as far as no
//! program can observe it; what comes of each is sent where it stands in its call.

use crate::engine::{Engine, Neighbours, Rules};
use crate::frame::{Chunks, Frame, Lending};
use crate::packet::{Originals, Packet, copy_frame};
use crate::pipeline::Execution;
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX};
use cgen::abi::{self, Exceptions};
use ir::architecture::Request;
use ir::{Effect, Program, Source};

/// The effects of requests after which a packet, or a copy other than a replica, meets more of the program.
const MEETING_MORE: [Effect; 4] =
    [Effect::IngressAgain, Effect::CopyToIngress, Effect::EgressAgain, Effect::ParsedCopy];

/// If one packet in this number is punted, many are.
const MANY_PUNTS: usize = 8;

/// How many frames a call takes where many are punted.
const PUNTING_CALL_FRAMES_MAX: usize = BURST_PACKETS_MAX / 2;

/// What a core has for packets on the fast path.
pub(crate) struct FastPath {
    /// Copies of the present burst's packets as they were received, if it is not known how many of their bytes
    /// generated code may write to.
    originals: Originals,
    /// The first bytes of packets as they were received, as far as it may write to them.
    saved: Saved,
    /// The same of packets on a further pass.
    saved_again: Saved,
    /// The ports of these.
    ports_again: Vec<u64>,
    /// Packets that have left the fast path of lent frames, by their positions; reused to avoid allocations.
    taken: Vec<(usize, Option<Packet>)>,
    /// Punted packets that are processed together; none while they are.
    punted: Option<Box<Punted>>,
    /// Whether they are, where the core allows it. Replicas alone leave sooner, and so while their bytes are in the
    /// cache, if they are not held back for those of others.
    go_together: bool,
    /// How many packets a call takes: few where many are punted, whose memory is then near until they have left.
    call_max: usize,
    /// The verdicts of a call, reused because clearing an array of this size takes measurable time.
    verdicts: Vec<abi::Verdict>,
    /// Whether the program may request packets as they were received.
    needs_originals: bool,
    /// The requests that need them.
    original_requests: Vec<u32>,
    /// The slot with the port of reception.
    port: u32,
}

impl FastPath {
    pub fn new(program: &Program) -> FastPath {
        let needs_original = |request: &&Request| request.effects.contains(&Effect::Original);
        let requests = program.architecture.requests.iter().filter(needs_original).map(|request| request.slot);
        FastPath {
            originals: Vec::new(),
            saved: Saved::default(),
            saved_again: Saved::default(),
            ports_again: Vec::new(),
            taken: Vec::new(),
            punted: Some(Box::default()),
            go_together: MEETING_MORE.iter().any(|&effect| program.may_request(effect)),
            call_max: CALL_FRAMES_MAX,
            verdicts: vec![0; CALL_FRAMES_MAX],
            needs_originals: program.may_request(Effect::Original),
            original_requests: requests.collect(),
            port: program.architecture.slot_from(Source::IngressPort).unwrap_or(0),
        }
    }

    /// Whether a request of a packet needs the packet as it was received.
    fn requests_original(&self, packet: &Packet) -> bool {
        self.original_requests.iter().any(|&slot| packet.intrinsics()[slot as usize] != 0)
    }
}

/// Punted packets.
#[derive(Default)]
struct Punted {
    /// Behind ingress, with the packets as they were received, as far as requests need them.
    in_ingress: Vec<Packet>,
    originals: Originals,
    /// Behind egress.
    in_egress: Vec<Packet>,
}

/// The first bytes of the packets of a call.
#[derive(Default)]
struct Saved {
    bytes: Vec<u8>,
    /// How many of each packet are saved.
    each: usize,
}

impl Saved {
    /// Saves the first `each` bytes of each packet.
    fn save<'p>(&mut self, each: usize, packets: impl Iterator<Item = &'p [u8]>) {
        self.each = each;
        self.bytes.resize(CALL_FRAMES_MAX * self.each, 0);
        for (saved, packet) in self.bytes.chunks_exact_mut(self.each.max(1)).zip(packets) {
            let bytes = self.each.min(packet.len());
            copy_frame(&mut saved[..bytes], &packet[..bytes]);
        }
    }

    /// Makes the first bytes of the packet at this position what they were.
    fn restore(&self, position: usize, packet: &mut [u8]) {
        let bytes = self.each.min(packet.len());
        packet[..bytes].copy_from_slice(&self.bytes[position * self.each..][..bytes]);
    }
}

impl Engine {
    /// Whether packets may have to be as they were received after they have been on the fast path.
    pub fn needs_originals(&self) -> bool {
        self.fast.needs_originals
    }

    /// Takes a burst of packets that were just received to the end, and all that they cause. Those behind one that has
    /// added entries remain.
    pub fn fast_path(&mut self, rules: &mut dyn Rules, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        if self.fast.needs_originals {
            match self.pipeline.written_bytes_max() {
                Some(each) => self.fast.saved.save(each, burst.iter().map(Packet::bytes)),
                None => self.copy_originals(burst),
            }
        }
        let (mut done, mut next) = (0, burst.len());
        while !burst.is_empty() && !execution.externs.has_added() {
            let (count, before) = (next.min(burst.len()), burst.len());
            self.fast_path_from(done, rules, burst, count, execution);
            let ended = before - burst.len();
            (done, next) = (done + ended, next_call_max(ended));
        }
        let originals = self.fast.originals.drain(..).flatten();
        originals.for_each(|original| self.pool.give(original));
    }

    fn copy_originals(&mut self, burst: &[Packet]) {
        let port = self.fast.port;
        let copy = |packet: &Packet| {
            let mut original = self.pool.take(packet.bytes())?;
            original.set_intrinsic(port, u64::from(packet.ingress_port()));
            Some(original)
        };
        self.fast.originals.extend(burst.iter().map(copy));
    }

    /// Takes the first `count` packets, the first of which is the `first` of its burst, and all that they cause. Those
    /// that came to their end are gone then: one behind a punted one may not have.
    fn fast_path_from(
        &mut self,
        first: usize,
        rules: &mut dyn Rules,
        burst: &mut Vec<Packet>,
        count: usize,
        execution: &mut Execution<'_>,
    ) {
        self.timer.start();
        let packets = &mut burst[..count];
        let mut verdicts = [0; BURST_PACKETS_MAX];
        let verdicts = &mut verdicts[..count];
        let mut lending = std::mem::take(&mut self.lending);
        let floor = self.pool.floor();
        let (frames, exceptions) = if self.pipeline.is_in_place() {
            let (chunks, frames) = lending.lend(packets, floor);
            let exceptions = self.pipeline.run_fast_path(chunks, frames, verdicts, execution);
            (frames, exceptions)
        } else {
            let exceptions = self.pipeline.run_fast_path(Chunks::of(packets), &mut [], verdicts, execution);
            (lending.lend(packets, floor).1, exceptions)
        };
        self.timer.lap(CoreStage::FastPath);
        if exceptions.punts() == 0 {
            self.apply_verdicts(frames, verdicts, exceptions, execution);
            self.pool.give_all(burst.drain(..count));
        } else {
            if self.pipeline.is_in_place() {
                lending.take_back(packets);
            }
            self.lending = lending;
            let verdicts = self.ended(verdicts);
            self.end_punting(first, rules, burst, verdicts, execution);
            self.timer.lap(CoreStage::Transmit);
            return;
        }
        self.lending = lending;
        self.timer.lap(CoreStage::Transmit);
    }

    /// Takes the first packets of a burst to their end and all that they cause. One at least was punted.
    fn end_punting(
        &mut self,
        first: usize,
        rules: &mut dyn Rules,
        burst: &mut Vec<Packet>,
        verdicts: &[abi::Verdict],
        execution: &mut Execution<'_>,
    ) {
        let together_max = self.punted_max(execution);
        for (group, verdicts) in verdicts.chunks(together_max).enumerate().filter(|_| together_max > 1) {
            self.end_together(burst, verdicts, first + group * together_max, execution);
            self.finish_punted(&mut Neighbours::default(), rules, execution);
        }
        if together_max == 1 {
            let mut lending = std::mem::take(&mut self.lending);
            self.end_in_order(burst, verdicts, &mut lending, execution, |engine, packet, position, execution| {
                engine.keep_punted(packet, verdicts[position], first + position, execution);
                engine.finish_punted(&mut Neighbours::default(), rules, execution);
            });
            self.lending = lending;
        }
    }

    /// Applies the verdicts of the first packets, the first of which is the `first` of its burst. Punted packets
    /// remain, to be processed together.
    fn end_together(
        &mut self,
        packets: &mut Vec<Packet>,
        verdicts: &[abi::Verdict],
        first: usize,
        execution: &mut Execution<'_>,
    ) {
        if verdicts.len() > 1 {
            self.roots.defer();
        }
        for ((root, packet), &verdict) in (first..).zip(packets.drain(..verdicts.len())).zip(verdicts) {
            if abi::is_punt(verdict) {
                self.keep_punted(packet, verdict, root, execution);
            } else {
                let mut packet = packet;
                self.roots.begin(&mut packet, root);
                self.end_by_verdict(packet, verdict, execution);
            }
        }
    }

    /// Ends packets of generated code in their order. `go_on` gets those that are punted, with their positions:
    /// whatever they cause leaves where they stand.
    pub fn end_in_order(
        &mut self,
        packets: &mut Vec<Packet>,
        verdicts: &[abi::Verdict],
        lending: &mut Lending,
        execution: &mut Execution<'_>,
        mut go_on: impl FnMut(&mut Engine, Packet, usize, &mut Execution<'_>),
    ) {
        let mut done = 0;
        while done < verdicts.len() {
            let of_rest = &verdicts[done..];
            let more = of_rest.iter().position(|verdict| abi::is_punt(*verdict)).unwrap_or(of_rest.len());
            let (_, frames) = lending.lend(&mut packets[..more], self.pool.floor());
            self.apply_verdicts(frames, &of_rest[..more], Exceptions::of(&of_rest[..more]), execution);
            self.pool.give_all(packets.drain(..more));
            done += more;
            if done < verdicts.len() {
                go_on(self, packets.remove(0), done, execution);
                done += 1;
            }
        }
    }

    /// Takes lent frames to the end, in place, and all that they cause. Only for frames that [`Engine::forwards`]
    /// allows, and at most as many as generated code takes in one call. Returns how many came to their end: not those
    /// behind one that has added entries.
    pub fn forward(&mut self, rules: &mut dyn Rules, frames: &mut [Frame<'_>], execution: &mut Execution<'_>) -> usize {
        if self.fast.needs_originals {
            let each = self.pipeline.written_bytes_max().unwrap_or(0);
            self.fast.saved.save(each, frames.iter().map(Frame::bytes));
        }
        let (mut done, mut next) = (0, frames.len());
        while done < frames.len() && !execution.externs.has_added() {
            let rest = &mut frames[done..];
            let spare = self.pool.spare(next.min(self.fast.call_max).min(rest.len())).len();
            if spare == 0 {
                self.stats.count_drops(DropReason::NoBuffer, rest.len() as u64);
                return frames.len();
            }
            let ended = self.forward_from(done, rules, &mut rest[..spare], execution);
            (done, next) = (done + ended, next_call_max(ended));
        }
        done
    }

    /// The same for frames the first of which is the `first` of its call, with a free chunk for each. Returns how many
    /// came to their end: those behind one that was punted may not have.
    fn forward_from(
        &mut self,
        first: usize,
        rules: &mut dyn Rules,
        frames: &mut [Frame<'_>],
        execution: &mut Execution<'_>,
    ) -> usize {
        self.timer.start();
        let mut all_verdicts = std::mem::take(&mut self.fast.verdicts);
        let mut verdicts = &mut all_verdicts[..frames.len()];
        let spare = self.pool.spare(frames.len());
        let exceptions = self.pipeline.run_fast_path(Chunks::of(spare), frames, verdicts, execution);
        self.timer.lap(CoreStage::FastPath);
        let are_many = self.fast.go_together && exceptions.punts() as usize * MANY_PUNTS > frames.len();
        self.fast.call_max = if are_many { PUNTING_CALL_FRAMES_MAX } else { CALL_FRAMES_MAX };
        if exceptions.punts() == 0 {
            self.apply_verdicts(frames, verdicts, exceptions, execution);
        } else {
            let ended = self.ended(verdicts).len();
            let is_punted = |position| position < ended && abi::is_punt(verdicts[position]);
            let mut taken = std::mem::take(&mut self.fast.taken);
            self.pool.take_spare(frames, is_punted, &mut taken);
            verdicts = &mut verdicts[..ended];
            let mut neighbours = Neighbours { frames: &frames[..ended], verdicts, first, done: 0 };
            while !taken.is_empty() {
                self.keep_together(&mut taken, &mut neighbours, execution);
                self.finish_punted(&mut neighbours, rules, execution);
            }
            self.fast.taken = taken;
            self.send_before(&mut neighbours, first + ended, execution);
        }
        let count = verdicts.len();
        self.fast.verdicts = all_verdicts;
        self.timer.lap(CoreStage::Transmit);
        count
    }

    /// The verdicts of a call in which a packet is punted, of packets that came to their end.
    fn ended<'v>(&self, verdicts: &'v [abi::Verdict]) -> &'v [abi::Verdict] {
        if !self.pipeline.stops_at_punt() {
            return verdicts;
        }
        let punted = verdicts.iter().position(|verdict| abi::is_punt(*verdict));
        punted.map_or(verdicts, |punted| &verdicts[..=punted])
    }

    /// How many punted packets are processed together.
    fn punted_max(&self, execution: &Execution<'_>) -> usize {
        if self.fast.go_together { self.together_max(execution) } else { 1 }
    }

    /// Takes the next punted packets that may be processed together.
    fn keep_together(
        &mut self,
        taken: &mut Vec<(usize, Option<Packet>)>,
        neighbours: &mut Neighbours<'_>,
        execution: &mut Execution<'_>,
    ) {
        let count = self.punted_max(execution).min(taken.len());
        if count > 1 {
            self.roots.defer();
        }
        for (position, packet) in taken.drain(taken.len() - count..).rev() {
            let root = neighbours.first + position;
            if count == 1 {
                self.send_before(neighbours, root, execution);
            }
            match packet {
                Some(packet) => self.keep_punted(packet, neighbours.verdicts[position], root, execution),
                None => {
                    self.roots.join(root);
                    self.count_drop(DropReason::NoBuffer, execution);
                }
            }
        }
    }

    /// Keeps a punted packet, the `root`th of its call, to be processed with others.
    fn keep_punted(&mut self, mut packet: Packet, verdict: abi::Verdict, root: usize, execution: &mut Execution<'_>) {
        self.roots.begin(&mut packet, root);
        let kept = self.fast.originals.get_mut(root).and_then(Option::take);
        let original = kept.or_else(|| self.original(&packet, verdict, root));
        if verdict == abi::PUNT_INGRESS {
            let punted = self.fast.punted.get_or_insert_default();
            punted.in_ingress.push(packet);
            punted.originals.push(original);
            return;
        }
        original.into_iter().for_each(|original| self.pool.give(original));
        if verdict == abi::ASSERTION_FAILED {
            self.end(packet, DropReason::AssertionFailed, execution);
        } else {
            self.fast.punted.get_or_insert_default().in_egress.push(packet);
        }
    }

    /// Takes the punted packets that have been collected to the end, and all that they cause.
    fn finish_punted(&mut self, neighbours: &mut Neighbours<'_>, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        let mut punted = self.fast.punted.take().unwrap_or_default();
        self.decide_about(&mut punted, rules, execution);
        self.fast.punted = Some(punted);
        self.finish_between(neighbours, rules, execution);
    }

    /// Processes punted packets as far as the next queue.
    fn decide_about(&mut self, punted: &mut Punted, rules: &mut dyn Rules, execution: &mut Execution<'_>) {
        if !punted.in_ingress.is_empty() {
            rules.after_ingress(self, &mut punted.in_ingress, &mut punted.originals, execution);
        }
        if !punted.in_egress.is_empty() {
            rules.after_egress(self, &mut punted.in_egress, execution);
        }
    }

    /// Ends a packet of generated code that is not punted.
    pub fn end_by_verdict(&mut self, packet: Packet, verdict: abi::Verdict, execution: &mut Execution<'_>) {
        match verdict {
            abi::DROP_INGRESS => self.end(packet, DropReason::Ingress, execution),
            abi::DROP_EGRESS => self.end(packet, DropReason::Egress, execution),
            abi::DROP_TOO_LONG => self.end(packet, DropReason::TooLong, execution),
            port => {
                self.stats.sent += 1;
                self.roots.send_later(packet, port);
            }
        }
    }

    /// A packet as it was received, if that has been saved and may be requested.
    fn original(&mut self, packet: &Packet, verdict: abi::Verdict, position: usize) -> Option<Packet> {
        let is_saved = self.fast.needs_originals && self.pipeline.written_bytes_max().is_some();
        if !is_saved || verdict != abi::PUNT_INGRESS || !self.fast.requests_original(packet) {
            return None;
        }
        let mut original = self.pool.take(packet.bytes())?;
        self.fast.saved.restore(position, original.bytes_mut());
        original.set_intrinsic(self.fast.port, u64::from(packet.ingress_port()));
        Some(original)
    }

    /// Whether packets that enter ingress again may take the fast path.
    pub fn takes_again_path(&self, burst: &[Packet], execution: &Execution<'_>) -> bool {
        let has_originals = !self.fast.needs_originals || self.pipeline.written_bytes_max().is_some();
        self.takes_fast_path()
            && self.pipeline.has_again_path()
            && has_originals
            && execution.observer.is_none()
            && !self.traffic.has_rates()
            && burst.iter().all(|packet| packet.begins_at(self.pool.start()))
    }

    /// Takes packets on a further pass through ingress and egress. The core continues with those that are punted.
    pub fn again_path(&mut self, rules: &mut dyn Rules, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        self.timer.start();
        if self.fast.needs_originals {
            let each = self.pipeline.written_bytes_max().unwrap_or(0);
            self.fast.saved_again.save(each, burst.iter().map(Packet::bytes));
            self.fast.ports_again.clear();
            self.fast.ports_again.extend(burst.iter().map(|packet| packet.intrinsic(self.fast.port)));
        }
        for packet in burst.iter_mut().filter(|packet| !packet.keeps_metadata()) {
            self.pipeline.reset_metadata(packet);
        }
        let mut verdicts = [0; BURST_PACKETS_MAX];
        let verdicts = &mut verdicts[..burst.len()];
        let mut lending = std::mem::take(&mut self.lending);
        let (chunks, frames) = lending.lend(burst, self.pool.floor());
        let exceptions = self.pipeline.run_again_path(chunks, frames, verdicts, execution);
        self.timer.lap(CoreStage::FastPath);
        if exceptions.punts() == 0 && !self.roots.defers() {
            self.apply_verdicts(frames, verdicts, exceptions, execution);
            self.pool.give_all(burst.drain(..));
        } else {
            lending.take_back(burst);
        }
        self.lending = lending;
        let mut punted = self.fast.punted.take().unwrap_or_default();
        for (position, (packet, &verdict)) in burst.drain(..).zip(&*verdicts).enumerate() {
            match verdict {
                abi::ASSERTION_FAILED => self.end(packet, DropReason::AssertionFailed, execution),
                abi::PUNT_EGRESS => punted.in_egress.push(packet),
                abi::PUNT_INGRESS => {
                    punted.originals.push(self.original_of_pass(&packet, position));
                    punted.in_ingress.push(packet);
                }
                _ => self.end_by_verdict(packet, verdict, execution),
            }
        }
        self.decide_about(&mut punted, rules, execution);
        self.fast.punted = Some(punted);
        self.timer.lap(CoreStage::Transmit);
    }

    /// A packet as it entered ingress again, if that may be requested.
    fn original_of_pass(&mut self, packet: &Packet, position: usize) -> Option<Packet> {
        if !self.fast.needs_originals || !self.fast.requests_original(packet) {
            return None;
        }
        let mut original = self.pool.take(packet.bytes())?;
        self.fast.saved_again.restore(position, original.bytes_mut());
        original.set_intrinsic(self.fast.port, self.fast.ports_again[position]);
        Some(original)
    }
}

/// How many packets a call of the fast path takes after one that completed `ended` packets: where many punt, each call
/// prepares few in vain.
fn next_call_max(ended: usize) -> usize {
    2 * ended
}
