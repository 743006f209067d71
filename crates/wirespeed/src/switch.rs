//! A switch that runs in the caller's thread.

use crate::error::{ControlErrors, NoSuchPort};
use crate::journey::{Journey, Recorder};
use crate::program::Program;
use base::Bits;
use control::{Api, EntryError, Reply};
use ir::DigestId;
use std::sync::Arc;
use switch::{Frame, IdleOwner, Observer, Output, Stats};

/// The most refused commands of one text that are reported.
const ERRORS_MAX: usize = 20;

/// A switch. Packets enter by [`Switch::process`] and leave in its result; time is an argument, in nanoseconds, and
/// must not run backwards (where it does, it stands still). Nothing happens between two calls.
pub struct Switch {
    program: Program,
    owner: Arc<IdleOwner>,
    api: Arc<Api>,
    cpu_port: Option<u32>,
    not_restored: Vec<String>,
}

/// A packet that left a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its port.
    pub port: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it left, in nanoseconds: at its reception, or when a queue with a rate let it go.
    pub time_ns: u64,
}

/// A digest that a program sent to its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The digest's name.
    pub name: String,
    /// Its fields, with their names.
    pub fields: Vec<(String, Bits)>,
}

/// What came out of a switch during a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The packets that left, in order.
    pub packets: Vec<Packet>,
    /// Those for the controller: packets that left on the CPU port, if the switch has one.
    pub packets_in: Vec<Packet>,
    /// Digests.
    pub digests: Vec<Digest>,
    /// Lines that the program logged.
    pub log: Vec<String>,
    /// The conditions of assertions that failed.
    pub failed_assertions: Vec<String>,
}

impl Switch {
    pub(crate) fn new(
        program: Program,
        owner: Arc<IdleOwner>,
        api: Arc<Api>,
        cpu_port: Option<u32>,
        not_restored: Vec<String>,
    ) -> Switch {
        Switch { program, owner, api, cpu_port, not_restored }
    }

    /// The program that it was built for.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The control plane, for typed updates and queries, from any thread. Requests of other threads are carried out
    /// while no call of the switch runs; an [`Output`] or [`Observer`] must make none. It can also put another program
    /// in the switch.
    pub fn control(&self) -> &Arc<Api> {
        &self.api
    }

    /// Carries out commands, a line each, in names of the program: `table_add`, `register_write`, `mc_mgrp_create` and
    /// all others of `simple_switch_CLI`, or runtime JSON. Returns a reply for each. If any cannot be read, none is
    /// carried out; one that is refused later leaves the others.
    pub fn apply(&mut self, commands: &str) -> Result<Vec<Reply>, ControlErrors> {
        let commands = control::parse_entries("commands", commands, &self.api.program()).map_err(ControlErrors)?;
        let (mut replies, mut errors) = (Vec::with_capacity(commands.len()), Vec::new());
        for (command, origin) in commands {
            match self.api.command(command) {
                Ok(reply) => replies.push(reply),
                Err(problem) if errors.len() < ERRORS_MAX => errors.push(EntryError { origin, problem }),
                Err(_) => {}
            }
        }
        if errors.is_empty() { Ok(replies) } else { Err(ControlErrors(errors)) }
    }

    /// Takes a packet in, works on it and on everything that it causes, and returns what leaves. Packets that wait in
    /// queues leave by a later [`Switch::run`].
    pub fn process(&mut self, now_ns: u64, port: u32, bytes: &[u8]) -> Result<Sent, NoSuchPort> {
        self.process_burst(now_ns, port, &[bytes])
    }

    /// The same for packets that arrived together, which is faster than one by one.
    pub fn process_burst(&mut self, now_ns: u64, port: u32, packets: &[&[u8]]) -> Result<Sent, NoSuchPort> {
        self.admit(port)?;
        Ok(self.collect(|core, sent| {
            for packet in packets {
                if core.receive(now_ns, port, packet) {
                    core.run(now_ns, sent);
                }
            }
            core.run(now_ns, sent);
        }))
    }

    /// Works on packets where they lie, if the program allows that, and hands those that leave to `output` meanwhile:
    /// the fastest way, without a copy.
    pub fn forward(&mut self, now_ns: u64, frames: &mut [Frame<'_>], output: &mut dyn Output) {
        self.core(|core| core.forward(now_ns, frames, output));
    }

    /// Takes a packet in and returns what leaves, with its journey. The interpreter reports every step; of native code
    /// there are the decisions between the blocks.
    pub fn trace(&mut self, now_ns: u64, port: u32, bytes: &[u8]) -> Result<(Sent, Journey), NoSuchPort> {
        self.admit(port)?;
        let mut recorder = Recorder::new(&self.program, self.api.program());
        let sent = self.collect(|core, sent| {
            core.receive(now_ns, port, bytes);
            core.run_observed(now_ns, sent, &mut recorder);
        });
        Ok((sent, recorder.finish()))
    }

    /// Works on queued packets that are due by now, and returns what leaves.
    pub fn run(&mut self, now_ns: u64) -> Sent {
        self.collect(|core, sent| core.run(now_ns, sent))
    }

    /// When [`Switch::run`] has something to do next, if no packet arrives until then.
    pub fn next_event_ns(&mut self) -> Option<u64> {
        self.core(|core| core.next_event_ns())
    }

    /// What the switch has counted: packets received, sent and dropped, with the reasons.
    pub fn stats(&mut self) -> Stats {
        self.core(|core| *core.stats())
    }

    /// Has an observer follow every packet from now on, one by one.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.core(|core| core.observe(observer));
    }

    /// Stores what packets have changed since the last call, if the switch has a folder for its state; what the
    /// control plane changes is stored at once.
    pub fn save(&mut self) -> Result<(), control::api::Fault> {
        self.api.save()
    }

    /// What could not be restored from the folder of the state, for people.
    pub fn not_restored(&self) -> &[String] {
        &self.not_restored
    }

    /// Works with the switch core itself.
    pub fn core<T>(&mut self, work: impl FnOnce(&mut switch::Switch) -> T) -> T {
        self.owner.with(work).expect("the core stays here as long as the switch lives")
    }

    fn admit(&self, port: u32) -> Result<(), NoSuchPort> {
        let architecture = self.api.program().architecture;
        let is_cpu_port = self.cpu_port == Some(port) && port <= architecture.egress_port_max;
        match port <= architecture.port_max || is_cpu_port {
            true => Ok(()),
            false => Err(NoSuchPort { port, port_max: architecture.port_max }),
        }
    }

    fn collect(&mut self, work: impl FnOnce(&mut switch::Switch, &mut Collector<'_>)) -> Sent {
        let program = self.api.program();
        let mut collector = Collector { program: &program, cpu_port: self.cpu_port, sent: Sent::default() };
        let done = self.owner.with(|core| work(core, &mut collector));
        done.expect("the core stays here as long as the switch lives");
        collector.sent
    }
}

/// Collects what comes out.
struct Collector<'a> {
    program: &'a ir::Program,
    cpu_port: Option<u32>,
    sent: Sent,
}

impl Output for Collector<'_> {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        let packet = Packet { port, bytes: frame.to_vec(), time_ns };
        match self.cpu_port == Some(port) {
            true => self.sent.packets_in.push(packet),
            false => self.sent.packets.push(packet),
        }
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        let declared = &self.program.digests[digest];
        let names = declared.fields.iter().map(|(name, _)| name.clone());
        let fields = names.zip(values).collect();
        self.sent.digests.push(Digest { name: declared.name.clone(), fields });
    }

    fn log(&mut self, line: &str) {
        self.sent.log.push(line.to_owned());
    }

    fn assertion_failed(&mut self, text: &str) {
        self.sent.failed_assertions.push(text.to_owned());
    }
}
