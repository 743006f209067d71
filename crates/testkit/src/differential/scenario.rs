//! A random program with everything on which a run depends.

use super::plane;
use crate::pipeline::{Engine, specialisation, switch_with};
use crate::random_ir::{Options, random_entries, random_packet, random_program};
use base::Rng;
use base::limits::LENT_HEADROOM_BYTES;
use cgen::Sharing;
use ir::walk::{bodies, visit_body};
use ir::{Entry, Program, StmtKind, TableId};
use std::sync::Arc;
use stf::Observation;
use stf::observation::{Order, difference};
use switch::{Config, Frame, Output, Shard, SharedTables, Switch};

/// Packets of a scenario: more than a burst.
const PACKETS: usize = 90;

/// Packets of a scenario in which each may become thousands, by copies and further passes.
const PACKETS_WITH_COPIES: usize = 16;

/// The time between packets.
const STEP_NS: u64 = 3_000;

/// A program, the state of its control plane, and packets.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The program.
    pub program: Arc<Program>,
    /// Entries to install.
    pub entries: Vec<(TableId, Entry)>,
    /// The port and the bytes of each packet.
    pub packets: Vec<(u32, Vec<u8>)>,
    /// The seed of the switch, and of the members of its groups and sets.
    pub seed: u64,
}

/// Lends packets to a switch.
pub fn forward(switch: &mut Switch, now_ns: u64, packets: &[(u32, Vec<u8>)], output: &mut dyn Output) {
    let with_room = |(port, bytes): &(u32, Vec<u8>)| (*port, [&[0xa5; LENT_HEADROOM_BYTES], &bytes[..]].concat());
    let mut packets: Vec<(u32, Vec<u8>)> = packets.iter().map(with_room).collect();
    let frames =
        packets.iter_mut().map(|(port, memory)| Frame::behind_headroom(memory, LENT_HEADROOM_BYTES, *port, now_ns));
    let mut frames: Vec<Frame<'_>> = frames.collect();
    switch.forward(now_ns, &mut frames, output);
}

impl Scenario {
    /// A scenario with a random program with these options.
    pub fn random(rng: &mut Rng, options: &Options) -> Scenario {
        let program = random_program(rng, options);
        Scenario::of(rng, program, options.requests)
    }

    /// A scenario for a program. `makes_copies` means that its packets may be copied, resubmitted or recirculated.
    pub fn of(rng: &mut Rng, program: Program, makes_copies: bool) -> Scenario {
        let entries = random_entries(rng, &program);
        let mut packets: Vec<(u32, Vec<u8>)> = Vec::new();
        for _ in 0..if makes_copies { PACKETS_WITH_COPIES } else { PACKETS } {
            // Some packets are repeated, so that state is used again.
            let again = (!packets.is_empty() && rng.chance(1, 4)).then(|| rng.pick(&packets).1.clone());
            let bytes = again.unwrap_or_else(|| random_packet(rng, &program));
            packets.push((rng.below(4) as u32, bytes));
        }
        Scenario { program: Arc::new(program), entries, packets, seed: rng.next_u64() }
    }

    /// Observes a switch that runs `program` (the scenario's, or one that must be equivalent), `burst` packets at a
    /// time. All packets of a burst have the same time; so do, for comparison, the same packets when they are
    /// processed one by one.
    pub fn observe(&self, program: &Arc<Program>, engine: &Engine, burst: usize) -> Result<Observation, String> {
        self.observe_groups(program, engine, |switch, group, observation| {
            group.change_tables(&switch.shared_tables());
            for (number, together) in group.packets.chunks(burst).enumerate() {
                // Every other burst is lent to native code.
                if matches!(engine, Engine::Native(_) | Engine::Specialised(..) | Engine::Tuned(..)) && number % 2 == 0
                {
                    forward(switch, group.now_ns, together, observation);
                    continue;
                }
                for (port, bytes) in together {
                    switch.receive(group.now_ns, *port, bytes);
                }
                switch.run(group.now_ns, observation);
            }
        })
    }

    /// The same with several shards of one switch, if it is shardable: each processes a burst of its own, one shard
    /// after the other or all concurrently. Tables change while the shards are separate; all other changes of the
    /// control plane happen while they are merged.
    pub fn observe_by_workers(
        &self,
        program: &Arc<Program>,
        engine: &Engine,
        burst: usize,
        workers: Workers,
    ) -> Result<Observation, String> {
        self.observe_groups(program, engine, |switch, group, observation| {
            // The number of shards changes, too.
            let mut shards = switch.resume_shards(2 + group.index % 2);
            group.change_tables(&switch.shared_tables());
            let mut bursts = group.packets.chunks(burst).peekable();
            while bursts.peek().is_some() {
                run_each(switch, &mut shards, &mut bursts, group.now_ns, workers, observation);
            }
            switch.quiesce(shards);
        })
    }

    /// Runs the packets through several shards and returns the difference from the observation of one core. Where
    /// results may differ, the packets run but nothing is compared: each shard has its own random numbers, and
    /// concurrent shards access guarded registers in any order.
    pub fn difference_by_workers(
        &self,
        expected: &Observation,
        program: &Arc<Program>,
        engine: &Engine,
        burst: usize,
        workers: Workers,
        order: Order,
    ) -> Result<Option<String>, String> {
        let found = self.observe_by_workers(program, engine, burst, workers)?;
        let may_differ = draws(program) || workers == Workers::AtOnce && !Sharing::of(program).guarded.is_empty();
        Ok(if may_differ { None } else { difference(expected, &found, order) })
    }

    /// Observes a switch that runs `program`; `work` makes it process the packets, group by group. Between two groups
    /// the control plane makes changes, and sometimes another pipeline of the same program is installed.
    fn observe_groups(
        &self,
        program: &Arc<Program>,
        engine: &Engine,
        mut work: impl FnMut(&mut Switch, Group<'_>, &mut Observation),
    ) -> Result<Observation, String> {
        let mut switch = self.new_switch(program, engine)?;
        let mut observation = Observation::default();
        let mut rng = Rng::new(self.seed);
        // A separate generator, so that the time of specialisation does not influence the control plane.
        let mut moments = Rng::new(!self.seed);
        // Tables change at least once.
        let together = self.packets.len().div_ceil(2 + (self.seed % 4) as usize).clamp(1, super::BURST);
        for (index, packets) in self.packets.chunks(together).enumerate() {
            let now_ns = (index as u64 + 1) * STEP_NS;
            // The control plane acts at the current time.
            switch.advance(now_ns);
            let mut change = None;
            if index > 0 {
                if rng.chance(1, 8) {
                    switch.replace(self.new_switch(program, engine)?);
                }
                plane::change_rest(&mut rng, &mut switch);
                change = Some(rng.next_u64());
            }
            let moment = if index == 0 { Moment::BeforeChange } else { Moment::random(&mut moments) };
            let mut group = Group { scenario: self, index, now_ns, packets, change };
            make_code(&mut switch, engine, moment, &mut group)?;
            work(&mut switch, group, &mut observation);
        }
        observation.look_at(&mut switch);
        Ok(observation)
    }

    fn new_switch(&self, program: &Arc<Program>, engine: &Engine) -> Result<Switch, String> {
        let config = Config { seed: self.seed, ..Config::default() };
        let mut switch = switch_with(program, engine, config)?;
        plane::set_up(&mut Rng::new(self.seed), &mut switch, &self.entries);
        Ok(switch)
    }
}

/// When code is specialised for the contents of tables, and when a switch begins to run it.
#[derive(Clone, Copy, Debug)]
enum Moment {
    Never,
    /// It runs before the tables change. The change may invalidate it.
    BeforeChange,
    /// The tables change while it is compiled. A switch uses it if it is still valid.
    DuringChange,
    AfterChange,
}

impl Moment {
    fn random(rng: &mut Rng) -> Moment {
        *rng.pick(&[
            Moment::Never,
            Moment::Never,
            Moment::Never,
            Moment::BeforeChange,
            Moment::DuringChange,
            Moment::AfterChange,
        ])
    }
}

/// Makes a switch run specialised code, if its engine does. If the change of the tables does not happen here, it is
/// left to the group.
fn make_code(switch: &mut Switch, engine: &Engine, moment: Moment, group: &mut Group<'_>) -> Result<(), String> {
    let tables = switch.shared_tables();
    let code = match moment {
        Moment::Never => return Ok(()),
        Moment::BeforeChange => specialisation(switch, engine)?,
        Moment::DuringChange => {
            let code = specialisation(switch, engine)?;
            group.change_tables(&tables);
            group.change = None;
            code
        }
        Moment::AfterChange => {
            group.change_tables(&tables);
            group.change = None;
            specialisation(switch, engine)?
        }
    };
    let Some(code) = code else { return Ok(()) };
    let is_taken = switch.specialise(Arc::new(code));
    if is_taken || matches!(moment, Moment::DuringChange) {
        Ok(())
    } else {
        Err("what was made for the present tables is refused".to_owned())
    }
}

/// The packets between two times at which the control plane makes changes.
struct Group<'a> {
    scenario: &'a Scenario,
    index: usize,
    now_ns: u64,
    packets: Burst<'a>,
    /// The seed of the changes of tables before the packets arrive.
    change: Option<u64>,
}

impl Group<'_> {
    fn change_tables(&self, tables: &SharedTables) {
        if let Some(seed) = self.change {
            let Scenario { program, entries, .. } = self.scenario;
            plane::change_tables(&mut Rng::new(seed), program, tables, entries);
        }
    }
}

/// Whether a program uses random numbers.
fn draws(program: &Program) -> bool {
    let mut found = false;
    for body in bodies(program) {
        visit_body(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Random { .. }));
    }
    found
}

/// How several shards of a switch run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// One after the other, so that packets have a defined order.
    InTurn,
    /// Concurrently, if they share nothing.
    AtOnce,
}

/// A burst of packets with their ports.
type Burst<'a> = &'a [(u32, Vec<u8>)];

/// Gives each shard the next burst.
fn run_each<'a>(
    switch: &mut Switch,
    shards: &mut [Shard],
    bursts: &mut impl Iterator<Item = Burst<'a>>,
    now_ns: u64,
    workers: Workers,
    observation: &mut Observation,
) {
    let mut run_own = |burst: Burst<'_>, observation: &mut Observation| {
        for (port, bytes) in burst {
            switch.receive(now_ns, *port, bytes);
        }
        switch.run(now_ns, observation);
    };
    let run_lane = |shard: &mut Shard, burst: Burst<'_>, observation: &mut Observation| {
        for (port, bytes) in burst {
            shard.receive(now_ns, *port, bytes);
        }
        shard.run(now_ns, observation);
    };
    let own = bursts.next().unwrap_or_default();
    if workers == Workers::InTurn {
        run_own(own, observation);
        shards.iter_mut().zip(bursts).for_each(|(shard, burst)| run_lane(shard, burst, observation));
        return;
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = shards
            .iter_mut()
            .zip(bursts)
            .map(|(shard, burst)| {
                scope.spawn(move || {
                    let mut seen = Observation::default();
                    run_lane(shard, burst, &mut seen);
                    seen
                })
            })
            .collect();
        run_own(own, observation);
        for other in others {
            let seen = other.join().expect("a core does not panic");
            seen.sent.into_iter().for_each(|(port, frames)| observation.sent.entry(port).or_default().extend(frames));
            observation.messages.extend(seen.messages);
        }
    });
}
