//! A switch that runs a program: the switch core as a node.
//!
//! What enters: packets on ports; the core's next event is the node's timer. What leaves: what the core transmits. The
//! core works on packets where they lie if the program allows that. Queues are inside the core, whose ports have the
//! rates of the channels behind them, so that programs see modelled depths and times.
//!
//! * `commands`: commands at given times. `agent`: what it does for a controller.
//! * `burst`: several packets in one call. `inside`: the labels of packets in the core.

mod agent;
mod burst;
mod commands;
mod egress;
mod inside;

pub(crate) use egress::only_rewrites;

use crate::channel::{ChannelConfig, Interval};
use crate::controller::link::{SwitchEnd, WorkTimes};
use crate::device::{Device, QueuePlace};
use crate::node::{Arrival, Context, Node};
use crate::packet::{Packet, Pool};
use crate::pipeline::{Admission, Pipeline, PipelineCounters};
use crate::record::{Event, Loss};
use crate::time::Time;
use agent::Agent;
use base::{Bits, OrderedMap};
use burst::Bursts;
use commands::Commands;
use inside::Inside;
use ir::DigestId;
use std::cell::Cell;
use std::collections::VecDeque;
use switch::{Departing, Departures, DropReason, Fate, Following, Frame, Observer, Output, Switch};

/// What a switch counts beside the core's own counters.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct SwitchCounters {
    /// Packets for ports that have no link.
    pub no_link: u64,
    /// Digests for the control plane.
    pub digests: u64,
    /// Assertions of the program that failed.
    pub assertions_failed: u64,
    /// Commands at given times that were carried out.
    pub commands: u64,
    /// Commands that were refused.
    pub commands_refused: u64,
}

/// In place of a port's number: the port for messages of the controller.
const NO_NUMBER: u32 = u32::MAX;

/// Describes what a program does with a packet, step by step.
pub trait StepTracer: Send {
    /// Who gets the steps of traced packets, and which tags these have.
    fn observer(&mut self) -> &mut dyn Observer;

    /// The steps since the last call, by the tags of the packets in the order in which they came, for people.
    fn take(&mut self) -> Vec<(u32, Vec<String>)>;
}

/// A switch that runs a program.
pub struct SwitchNode {
    core: Switch,
    /// When it is down, and the core that it has afterwards; in order.
    restarts: VecDeque<(Interval, Switch)>,
    tracer: Option<Box<dyn StepTracer>>,
    inside: Inside,
    /// By port: the most packets that a recorded queue had.
    deepest: OrderedMap<u32, usize>,
    /// The program's number of each port.
    numbers: Vec<u32>,
    /// The ports in the order of the program's numbers.
    ports: Vec<(u32, usize)>,
    ingress_latency: Time,
    queue_place: QueuePlace,
    /// The queues and service before the core.
    pipeline: Option<Pipeline>,
    commands: Commands,
    agent: Option<Box<Agent>>,
    /// If packets may be worked on several at a time.
    bursts: Option<Bursts>,
    /// When it was woken from outside; [`Time::MAX`] if it was not.
    woken_at: Time,
    sent: Vec<Sent>,
    /// What became of followed packets in the last call of the core.
    fates: Vec<Fate>,
    /// The labels of those of which a copy has left and another one waits.
    waiting: Vec<u64>,
    /// For the controller.
    digests: Vec<(DigestId, Vec<Bits>)>,
    counters: SwitchCounters,
}

/// A packet that leaves.
#[derive(Debug)]
struct Sent {
    number: u32,
    packet: Packet,
    /// What the core calls it, if packets are followed.
    tag: u32,
}

impl SwitchNode {
    /// A switch whose ports have these numbers, each with the channel that follows it. Its packets have been in the
    /// device for `ingress_latency` when they arrive at the core.
    pub fn new(
        mut core: Switch,
        ports: &[(u32, ChannelConfig)],
        ingress_latency: Time,
        device: &Device,
    ) -> Result<SwitchNode, String> {
        device.set_up(&mut core, ports)?;
        let queue_place = device.queue_place(&core);
        let commands = Commands::read(&device.commands, core.program())?;
        let numbers: Vec<u32> = ports.iter().map(|(number, _)| *number).collect();
        let mut by_number: Vec<(u32, usize)> = numbers.iter().copied().zip(0..).collect();
        by_number.sort_unstable();
        let takes_bursts =
            queue_place == QueuePlace::Behind && device.pipeline.is_none() && egress::knows_no_time(core.program());
        Ok(SwitchNode {
            core,
            restarts: VecDeque::new(),
            tracer: None,
            inside: Inside::default(),
            deepest: OrderedMap::new(),
            numbers,
            ports: by_number,
            ingress_latency,
            queue_place,
            pipeline: device.pipeline.clone().map(Pipeline::new),
            commands,
            agent: None,
            bursts: takes_bursts.then(Bursts::default),
            woken_at: Time::MAX,
            sent: Vec::new(),
            fates: Vec::new(),
            waiting: Vec::new(),
            digests: Vec::new(),
            counters: SwitchCounters::default(),
        })
    }

    /// Lets it restart: it loses what it has at the begin of the interval, and afterwards is this core. Intervals come
    /// in order.
    pub fn add_restart(&mut self, at: Interval, core: Switch) {
        self.restarts.push_back((at, core));
    }

    /// Joins it with a controller, which is behind the port with this number and whose requests take these times.
    pub fn attach(&mut self, end: SwitchEnd, cpu_port: u32, times: WorkTimes) {
        assert!((end.port, end.frames) == (self.numbers.len(), self.numbers.len() + 1), "the last two ports");
        let place = self.ports.partition_point(|(number, _)| *number < cpu_port);
        self.ports.insert(place, (cpu_port, end.frames));
        self.numbers.extend([NO_NUMBER, cpu_port]);
        self.agent = Some(Box::new(Agent::new(end, &self.core, times)));
    }

    /// Has it describe what it does with traced packets.
    pub fn trace(&mut self, tracer: Box<dyn StepTracer>) {
        self.tracer = Some(tracer);
    }

    /// The core.
    pub fn core(&self) -> &Switch {
        &self.core
    }

    /// The core, to be changed between two runs.
    pub fn core_mut(&mut self) -> &mut Switch {
        &mut self.core
    }

    /// Has the core run at this time, with what it was given from outside.
    pub fn wake(&mut self, at: Time) {
        self.woken_at = at;
    }

    /// Where the queues of its ports are.
    pub fn queue_place(&self) -> QueuePlace {
        self.queue_place
    }

    /// Packets and bytes in the core's queues of a port.
    pub fn backlog(&self, port: usize) -> (usize, u64) {
        let queues = self.core.queues().filter(|queue| Some(&queue.port) == self.numbers.get(port));
        queues.fold((0, 0), |sum, queue| (sum.0 + queue.depth_packets, sum.1 + queue.depth_bytes))
    }

    /// The labels of the followed packets that are in it.
    pub fn labels(&self) -> impl Iterator<Item = u64> {
        let queued = self.pipeline.iter().flat_map(Pipeline::packets);
        self.inside.labels().chain(queued.map(Packet::label))
    }

    /// What was counted of packets before the core, if there are queues.
    pub fn pipeline(&self) -> Option<&PipelineCounters> {
        self.pipeline.as_ref().map(Pipeline::counters)
    }

    /// What it has counted.
    pub fn counters(&self) -> &SwitchCounters {
        &self.counters
    }

    fn send(&mut self, context: &mut Context<'_>) {
        if context.follows() {
            self.note_packets_in(context);
        }
        let mut sent = std::mem::take(&mut self.sent);
        sent.drain(..).for_each(|Sent { number, packet, .. }| self.send_on(context, number, packet));
        self.sent = sent;
        self.waiting.drain(..).for_each(|label| context.note(label, Event::Waits));
        match &self.agent {
            Some(agent) => agent.send_digests(context, &mut self.digests),
            None => self.digests.clear(),
        }
    }

    /// Sends a packet on the port with this number.
    #[inline]
    fn send_on(&mut self, context: &mut Context<'_>, number: u32, packet: Packet) {
        match self.ports.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) => context.send(self.ports[index].1, packet),
            Err(_) => {
                self.counters.no_link += 1;
                context.lose(packet, Loss::NoLink);
            }
        }
    }

    /// A packet for the controller is followed no further: what the controller makes of it is another packet.
    fn note_packets_in(&mut self, context: &mut Context<'_>) {
        let Some(frames) = self.agent.as_ref().map(|agent| agent.end.frames) else { return };
        let cpu_port = self.numbers[frames];
        for index in 0..self.sent.len() {
            let label = self.sent[index].packet.label();
            if self.sent[index].number != cpu_port || label == 0 {
                continue;
            }
            self.sent[index].packet.set_label(0);
            let is_left = self.sent.iter().any(|sent| sent.packet.label() == label) || self.waiting.contains(&label);
            if !is_left {
                context.note(label, Event::Lost(Loss::Controller));
            }
        }
    }
}

impl SwitchNode {
    /// Has the core work on a packet that had arrived at this time.
    fn process(&mut self, context: &mut Context<'_>, port: usize, packet: Packet, arrived: Time) {
        let label = packet.label();
        match context.follows() {
            true => self.work_followed(context, port, packet, arrived),
            false => self.work(context, port, packet, arrived),
        }
        if context.records_queues() {
            self.note_queues(context, label);
        }
        self.send(context);
    }

    /// The same, by a server of the pipeline.
    fn process_on(&mut self, server: usize, context: &mut Context<'_>, port: usize, packet: Packet, arrived: Time) {
        let passes = self.core.stats().passes;
        self.process(context, port, packet, arrived);
        self.charge_passes(server, passes);
    }

    /// Charges a server of the pipeline for the passes since there were `before`.
    fn charge_passes(&mut self, server: usize, before: u64) {
        let passes = self.core.stats().passes.saturating_sub(before);
        if let Some(pipeline) = self.pipeline.as_mut().filter(|_| passes > 0) {
            pipeline.charge(server, passes);
        }
    }

    /// Has the core work on a packet, and records what becomes of it and of others.
    fn work_followed(&mut self, context: &mut Context<'_>, port: usize, mut packet: Packet, arrived: Time) {
        let received_ns = arrived.since(self.ingress_latency).ns();
        let tag = self.inside.enter(packet.label());
        let is_taken = self.core.receive_tagged(received_ns, self.numbers[port], packet.bytes(), tag);
        context.end(packet);
        if !is_taken {
            self.fates.push(Fate { tag, drop: Some(DropReason::NoBuffer), is_copied: false });
        }
        self.run_followed(context);
    }

    /// Has the core do what is due, and records what becomes of packets.
    fn run_followed(&mut self, context: &mut Context<'_>) {
        let (now_ns, tag, first) = (context.now().ns(), Cell::new(0), self.sent.len());
        let mut collector = Collector {
            sent: &mut self.sent,
            counters: &mut self.counters,
            digests: &mut self.digests,
            pool: context.pool(),
            lent: (0, 0),
            in_place: None,
            tag: Some(&tag),
        };
        let steps = self.tracer.as_mut().map(|tracer| (tracer.observer(), inside::is_traced as fn(u32) -> bool));
        let mut following = Following::new(&tag, &mut self.fates, steps);
        self.core.run_observed(now_ns, &mut collector, &mut following);
        for (tag, steps) in self.tracer.as_mut().map(|tracer| tracer.take()).into_iter().flatten() {
            context.note(self.inside.label(tag), Event::Steps(steps));
        }
        for sent in &mut self.sent[first..] {
            sent.packet.set_label(self.inside.label(sent.tag));
        }
        let mut fates = std::mem::take(&mut self.fates);
        fates.drain(..).for_each(|fate| self.settle(context, fate, first));
        self.fates = fates;
    }

    /// Records whether anything is left of a packet to which something has happened. What has left from `first` on has
    /// done so in the same call.
    fn settle(&mut self, context: &mut Context<'_>, fate: Fate, first: usize) {
        let (tag, label) = (fate.tag, self.inside.label(fate.tag));
        if label == 0 {
            return;
        }
        let is_sent = self.sent[first..].iter().any(|sent| sent.tag == tag);
        let waits = match self.inside.note_copied(tag, fate.is_copied) {
            true => self.core.holds(tag),
            false => !is_sent && fate.drop.is_none(),
        };
        match (waits, is_sent) {
            (true, true) => self.waiting.push(label),
            (true, false) => {}
            (false, true) => self.inside.leave(tag),
            (false, false) => {
                self.inside.leave(tag);
                context.note(label, Event::Lost(fate.drop.map_or(Loss::Joined, Loss::Switch)));
            }
        }
    }

    /// Records queues that are longer than they were so far.
    fn note_queues(&mut self, context: &mut Context<'_>, label: u64) {
        for queue in self.core.queues().filter(|queue| queue.depth_packets > 0 && queue.is_paced) {
            let deepest = self.deepest.entry(queue.port).or_default();
            if queue.depth_packets > *deepest {
                *deepest = queue.depth_packets;
                context.note(label, Event::Queue(queue.port, queue.depth_packets, queue.depth_bytes));
            }
        }
    }

    /// Begins a restart that is due.
    fn restart(&mut self, context: &mut Context<'_>) {
        while self.restarts.front().is_some_and(|(at, _)| at.start <= context.now()) {
            let Some((at, core)) = self.restarts.pop_front() else { return };
            self.core.advance(context.now().ns());
            // Packets in it are lost; settings of queues and counts stay.
            self.core.replace(core);
            for label in self.inside.clear() {
                context.note(label, Event::Lost(Loss::Restart));
            }
            let queued = self.pipeline.as_mut().map(Pipeline::clear).unwrap_or_default();
            queued.into_iter().for_each(|packet| context.lose(packet, Loss::Restart));
            if let Some(agent) = &mut self.agent {
                agent.restart(&self.core, at.end);
            }
        }
    }
}

/// Collects what the core puts out during one call.
struct Collector<'a> {
    sent: &'a mut Vec<Sent>,
    counters: &'a mut SwitchCounters,
    digests: &'a mut Vec<(DigestId, Vec<Bits>)>,
    pool: &'a mut Pool,
    /// The memory that was lent to the core: where it begins and ends.
    lent: (usize, usize),
    /// The packet in that memory that leaves: its port, its place and its length.
    in_place: Option<(u32, usize, usize)>,
    /// The tag of the packet that leaves, if packets are followed.
    tag: Option<&'a Cell<u32>>,
}

impl Collector<'_> {
    fn copy(&mut self, number: u32, frame: &[u8]) {
        let packet = self.pool.copy_of(frame);
        let tag = self.tag.map_or(0, Cell::get);
        self.sent.push(Sent { number, packet, tag });
    }
}

impl Output for Collector<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.copy(port, frame);
    }

    fn transmit_burst(&mut self, departures: &Departures<'_>) {
        for Departing { port, frame, .. } in departures.iter() {
            let begin = frame.as_ptr() as usize;
            let is_lent = self.lent.0 <= begin && begin + frame.len() <= self.lent.1;
            // One packet was lent, and a packet of a burst leaves once: its bytes are final.
            if is_lent && self.in_place.is_none() {
                self.in_place = Some((port, begin, frame.len()));
            } else {
                self.copy(port, frame);
            }
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        self.counters.digests += 1;
        self.digests.push((digest, values));
    }

    fn assertion_failed(&mut self, _text: &str) {
        self.counters.assertions_failed += 1;
    }
}

impl Node for SwitchNode {
    fn receive(&mut self, context: &mut Context<'_>, port: usize, packet: Packet) {
        let now = context.now();
        if let Some(agent) = self.agent.as_mut().filter(|agent| port >= agent.end.port) {
            if port == agent.end.port {
                context.end(packet);
                return agent.receive(context, &mut self.core);
            }
            if !agent.is_reachable(now) {
                return context.lose(packet, Loss::Restart);
            }
        }
        let Some(pipeline) = &mut self.pipeline else { return self.process(context, port, packet, now) };
        match pipeline.admit(now, packet, port) {
            Admission::Now(packet, server) => self.process_on(server, context, port, packet, now),
            Admission::Queued => {}
            Admission::Refused(packet) => context.lose(packet, Loss::Pipeline),
        }
    }

    fn takes_bursts(&self) -> bool {
        self.bursts.is_some() && self.agent.is_none()
    }

    fn receive_burst(&mut self, context: &mut Context<'_>, arrivals: &mut Vec<Arrival>) {
        self.forward_burst(context, arrivals);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        self.restart(context);
        let now = context.now();
        self.woken_at = Time::MAX;
        self.commands.carry_out(now, &mut self.core, &mut self.counters);
        if let Some(agent) = &mut self.agent {
            agent.work(context, &mut self.core);
        }
        while let Some((queued, server)) = self.pipeline.as_mut().and_then(|pipeline| pipeline.take(now)) {
            self.process_on(server, context, queued.port, queued.packet, queued.arrived);
        }
        let passes = self.core.stats().passes;
        match context.follows() {
            true => self.run_followed(context),
            false => self.run(context),
        }
        self.charge_passes(0, passes);
        self.send(context);
    }

    fn next_timer(&self) -> Time {
        let restart = self.restarts.front().map_or(Time::MAX, |(at, _)| at.start);
        let pipeline = self.pipeline.as_ref().map_or(Time::MAX, Pipeline::next);
        let agent = self.agent.as_ref().map_or(Time::MAX, |agent| agent.next());
        let others = restart.min(pipeline).min(self.commands.next()).min(agent).min(self.woken_at);
        self.core.next_event_ns().map_or(Time::MAX, Time::from_ns).min(others)
    }
}

impl SwitchNode {
    /// Has the core do what is due.
    fn run(&mut self, context: &mut Context<'_>) {
        let now_ns = context.now().ns();
        let mut collector = Collector {
            sent: &mut self.sent,
            counters: &mut self.counters,
            digests: &mut self.digests,
            pool: context.pool(),
            lent: (0, 0),
            in_place: None,
            tag: None,
        };
        self.core.run(now_ns, &mut collector);
    }

    /// Has the core work on a packet.
    fn work(&mut self, context: &mut Context<'_>, port: usize, mut packet: Packet, arrived: Time) {
        let now = context.now();
        let received_ns = arrived.since(self.ingress_latency).ns();
        let (memory, headroom) = packet.memory_with_headroom();
        let range = memory.as_ptr_range();
        let mut collector = Collector {
            sent: &mut self.sent,
            counters: &mut self.counters,
            digests: &mut self.digests,
            pool: context.pool(),
            lent: (range.start as usize, range.end as usize),
            in_place: None,
            tag: None,
        };
        let mut frames = [Frame::behind_headroom(memory, headroom, self.numbers[port], received_ns)];
        self.core.forward(now.ns(), &mut frames, &mut collector);
        let in_place = collector.in_place;
        match in_place.filter(|(_, begin, length)| packet.resize_to(*begin, *length)) {
            Some((number, ..)) => self.sent.push(Sent { number, packet, tag: 0 }),
            None => context.end(packet),
        }
    }
}
