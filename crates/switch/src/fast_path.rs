//! The fast path: packets that generated code takes from the parser to their end, and the way on for those that it
//! punts.
//!
//! What enters: packets that were just received, in chunks or lent frames. What leaves: those that are sent, and to the
//! rules of the architecture those about which it has to decide. A packet that is punted goes on with all that it
//! causes before the verdict about the next one is carried out.

use crate::engine::{Engine, Rules};
use crate::frame::{Chunks, Frame, Lending};
use crate::packet::{Originals, Packet};
use crate::pipeline::Execution;
use crate::stage_times::CoreStage;
use crate::stats::DropReason;
use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX};
use cgen::abi::{self, Exceptions};
use ir::architecture::Request;
use ir::{Effect, Program, Source};

/// What a core has for packets on the fast path.
pub(crate) struct FastPath {
    /// Copies of the present burst's packets as they were received, if generated code does not tell how many of their
    /// bytes it may write to.
    originals: Originals,
    /// The first bytes of packets as they were received, as far as it may write to them.
    saved: Saved,
    /// Packets that have left the fast path of lent frames, by their positions; kept to save its allocation.
    taken: Vec<(usize, Option<Packet>)>,
    /// The verdicts of a call, kept because to clear so many takes time that is seen.
    verdicts: Vec<abi::Verdict>,
    /// Whether the program may ask for packets as they were received.
    keeps_originals: bool,
    /// The requests that need them.
    asking: Vec<u32>,
    /// The slot with the port of reception.
    port: u32,
}

impl FastPath {
    pub fn new(program: &Program) -> FastPath {
        let needs_original = |request: &&Request| request.effects.contains(&Effect::Original);
        let asking = program.architecture.requests.iter().filter(needs_original).map(|request| request.slot);
        FastPath {
            originals: Vec::new(),
            saved: Saved::default(),
            taken: Vec::new(),
            verdicts: vec![0; CALL_FRAMES_MAX],
            keeps_originals: program.may_request(Effect::Original),
            asking: asking.collect(),
            port: program.architecture.slot_from(Source::IngressPort).unwrap_or(0),
        }
    }

    /// Whether a request of a packet needs the packet as it was received.
    fn asks_for_original(&self, packet: &Packet) -> bool {
        self.asking.iter().any(|&slot| packet.intrinsics()[slot as usize] != 0)
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
    /// Saves so many bytes of each packet.
    fn keep<'p>(&mut self, each: usize, packets: impl Iterator<Item = &'p [u8]>) {
        self.each = each;
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

impl Engine {
    /// Whether packets may have to be as they were received after they have been on the fast path.
    pub fn needs_originals(&self) -> bool {
        self.fast.keeps_originals
    }

    /// Takes a burst of packets that were just received to the end, and all that they cause. Those behind one that has
    /// added entries remain.
    pub fn fast_path(&mut self, rules: &mut dyn Rules, burst: &mut Vec<Packet>, execution: &mut Execution<'_>) {
        if self.fast.keeps_originals {
            match self.pipeline.written_bytes_max() {
                Some(each) => self.fast.saved.keep(each, burst.iter().map(Packet::bytes)),
                None => self.copy_originals(burst),
            }
        }
        let (mut done, mut next) = (0, burst.len());
        while !burst.is_empty() && !execution.externs.has_added() {
            let (count, before) = (next.min(burst.len()), burst.len());
            self.fast_path_from(done, rules, burst, count, execution);
            let ended = before - burst.len();
            (done, next) = (done + ended, after_so_many(ended));
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
            let verdicts = self.ended(verdicts);
            let mut originals = std::mem::take(&mut self.fast.originals);
            self.end_in_order(burst, verdicts, &mut lending, execution, |engine, packet, position, execution| {
                let (verdict, root) = (verdicts[position], first + position);
                let kept = originals.get_mut(root).and_then(Option::take);
                let original = kept.or_else(|| engine.original(&packet, verdict, root));
                engine.go_on(rules, packet, original, verdict, root, execution);
            });
            self.fast.originals = originals;
        }
        self.lending = lending;
        self.timer.lap(CoreStage::Transmit);
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

    /// Takes lent frames to the end, in place, and all that they cause. Allowed only if [`Engine::forwards`] says so.
    /// They are at most as many as generated code takes at once. Returns how many came to their end: not those behind
    /// one that has added entries.
    pub fn forward(&mut self, rules: &mut dyn Rules, frames: &mut [Frame<'_>], execution: &mut Execution<'_>) -> usize {
        if self.fast.keeps_originals {
            let each = self.pipeline.written_bytes_max().unwrap_or(0);
            self.fast.saved.keep(each, frames.iter().map(Frame::bytes));
        }
        let (mut done, mut next) = (0, frames.len());
        while done < frames.len() && !execution.externs.has_added() {
            let rest = &mut frames[done..];
            let spare = self.pool.spare(next.min(rest.len())).len();
            if spare == 0 {
                self.stats.count_drops(DropReason::NoBuffer, rest.len() as u64);
                return frames.len();
            }
            let ended = self.forward_from(done, rules, &mut rest[..spare], execution);
            (done, next) = (done + ended, after_so_many(ended));
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
        if exceptions.punts() == 0 {
            self.apply_verdicts(frames, verdicts, exceptions, execution);
        } else {
            let ended = self.ended(verdicts).len();
            let asks = |position| position < ended && abi::is_punt(verdicts[position]);
            let mut taken = std::mem::take(&mut self.fast.taken);
            self.pool.take_spare(frames, asks, &mut taken);
            verdicts = &mut verdicts[..ended];
            let mut done = 0;
            while let Some((position, packet)) = taken.pop() {
                let before = &verdicts[done..position];
                self.apply_verdicts(&frames[done..position], before, Exceptions::of(before), execution);
                match packet {
                    Some(packet) => {
                        let (verdict, root) = (verdicts[position], first + position);
                        let original = self.original(&packet, verdict, root);
                        self.go_on(rules, packet, original, verdict, root, execution);
                    }
                    None => self.count_drop(DropReason::NoBuffer, execution),
                }
                done = position + 1;
            }
            self.fast.taken = taken;
            let rest = &verdicts[done..];
            self.apply_verdicts(&frames[done..ended], rest, Exceptions::of(rest), execution);
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
        let asking = verdicts.iter().position(|verdict| abi::is_punt(*verdict));
        asking.map_or(verdicts, |asking| &verdicts[..=asking])
    }

    /// Goes on with a punted packet; it was the `root`th of its burst.
    fn go_on(
        &mut self,
        rules: &mut dyn Rules,
        mut packet: Packet,
        original: Option<Packet>,
        verdict: abi::Verdict,
        root: usize,
        execution: &mut Execution<'_>,
    ) {
        if verdict == abi::ASSERTION_FAILED {
            self.end_all(packet, original, DropReason::AssertionFailed, execution);
            return;
        }
        self.allow_copies(&mut packet, root);
        if verdict == abi::PUNT_INGRESS {
            rules.after_ingress(self, packet, original, execution);
        } else {
            original.into_iter().for_each(|original| self.pool.give(original));
            rules.after_egress(self, packet, execution);
        }
        self.finish(rules, execution);
    }

    /// A packet as it was received, if that has been saved and may be asked for.
    fn original(&mut self, packet: &Packet, verdict: abi::Verdict, position: usize) -> Option<Packet> {
        let is_saved = self.fast.keeps_originals && self.pipeline.written_bytes_max().is_some();
        if !is_saved || verdict != abi::PUNT_INGRESS || !self.fast.asks_for_original(packet) {
            return None;
        }
        let mut original = self.pool.take(packet.bytes())?;
        self.fast.saved.restore(position, original.bytes_mut());
        original.set_intrinsic(self.fast.port, u64::from(packet.ingress_port()));
        Some(original)
    }
}

/// How many packets a call of the fast path takes after one in which so many came to their end: where many ask for
/// more, each call prepares few for nothing.
fn after_so_many(ended: usize) -> usize {
    2 * ended
}
