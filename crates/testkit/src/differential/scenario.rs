//! A random program with everything that a run of it depends on.

use crate::pipeline::{Engine, specialise, switch_with};
use crate::random_ir::{Options, random_entries, random_packet, random_program};
use base::index::Id as _;
use base::{Bits, Rng};
use ir::{Entry, Program, TableId};
use std::sync::Arc;
use stf::Observation;
use switch::{CloneTarget, Config, Frame, Lane, MeterConfig, Output, Replica, Switch, match_value};
use tables::{ActionCall, EntrySpec, Handle, MatchValue, Operation, ProfileOperation};

/// Packets of a scenario: more than travel together.
const PACKETS: usize = 90;

/// Packets of a scenario where each may become thousands, by copies and further passes.
const PACKETS_WITH_COPIES: usize = 16;

/// Time between packets.
const STEP_NS: u64 = 3_000;

/// A program, its control plane's state, and packets.
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
    let mut packets = packets.to_vec();
    let mut frames: Vec<Frame<'_>> = packets.iter_mut().map(|(port, bytes)| Frame::new(bytes, *port, now_ns)).collect();
    switch.forward(now_ns, &mut frames, output);
}

impl Scenario {
    /// A scenario with a program of these options.
    pub fn random(rng: &mut Rng, options: &Options) -> Scenario {
        let program = random_program(rng, options);
        Scenario::of(rng, program, options.requests)
    }

    /// A scenario for a program; `makes_copies` says whether its packets may be copied or go round.
    pub fn of(rng: &mut Rng, program: Program, makes_copies: bool) -> Scenario {
        let entries = random_entries(rng, &program);
        let mut packets: Vec<(u32, Vec<u8>)> = Vec::new();
        for _ in 0..if makes_copies { PACKETS_WITH_COPIES } else { PACKETS } {
            // Some packets come again, so that state is used again.
            let again = (!packets.is_empty() && rng.chance(1, 4)).then(|| rng.pick(&packets).1.clone());
            let bytes = again.unwrap_or_else(|| random_packet(rng, &program));
            packets.push((rng.below(4) as u32, bytes));
        }
        Scenario { program: Arc::new(program), entries, packets, seed: rng.next_u64() }
    }

    /// What a switch does that runs `program` (the scenario's, or one that is to do the same), `burst` packets at a
    /// time. All packets of a burst come at once; so do, for comparison, those that come one by one.
    pub fn observe(&self, program: &Arc<Program>, engine: &Engine, burst: usize) -> Result<Observation, String> {
        self.observe_groups(program, engine, |switch, group, observation| {
            for (number, together) in group.packets.chunks(burst).enumerate() {
                // Every other burst is lent to native code.
                if matches!(engine, Engine::Native(_) | Engine::Specialised(_) | Engine::Tuned(..)) && number % 2 == 0 {
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

    /// The same with several cores of one switch, where there can be such: each works on a burst of its own, one core
    /// after the other, or all at the same time. The control plane meets them together.
    pub fn observe_by_workers(
        &self,
        program: &Arc<Program>,
        engine: &Engine,
        burst: usize,
        workers: Workers,
    ) -> Result<Observation, String> {
        self.observe_groups(program, engine, |switch, group, observation| {
            // Their number changes too.
            let mut lanes = switch.send_out(2 + group.index % 2);
            let mut bursts = group.packets.chunks(burst).peekable();
            while bursts.peek().is_some() {
                run_each(switch, &mut lanes, &mut bursts, group.now_ns, workers, observation);
            }
            switch.call_in(lanes);
        })
    }

    /// What a switch does that runs `program`, if `work` has it work on the packets, group by group. Entries change
    /// between two groups.
    fn observe_groups(
        &self,
        program: &Arc<Program>,
        engine: &Engine,
        mut work: impl FnMut(&mut Switch, Group<'_>, &mut Observation),
    ) -> Result<Observation, String> {
        let config = Config { seed: self.seed, ..Config::default() };
        let mut switch = switch_with(program, engine, config)?;
        self.set_up(&mut switch);
        specialise(&mut switch, engine)?;
        let mut observation = Observation::default();
        let mut rng = Rng::new(self.seed);
        // Entries change at least once.
        let together = super::BURST.min(self.packets.len().div_ceil(2)).max(1);
        for (index, packets) in self.packets.chunks(together).enumerate() {
            if index > 0 {
                self.change_entries(&mut rng, &switch);
                // In every other scenario the first change ends what code was made for.
                if self.seed.is_multiple_of(2) {
                    specialise(&mut switch, engine)?;
                }
            }
            let now_ns = (index as u64 + 1) * STEP_NS;
            work(&mut switch, Group { index, now_ns, packets }, &mut observation);
        }
        observation.look_at(&mut switch);
        Ok(observation)
    }

    fn set_up(&self, switch: &mut Switch) {
        let mut rng = Rng::new(self.seed);
        set_up_profiles(&mut rng, switch);
        for (table, entry) in &self.entries {
            let spec = self.entry_spec(&mut rng, *table, entry);
            // What the table has no room for is refused in every switch alike.
            let _refused = switch.tables().insert(table.index(), spec);
        }
        set_up_replication(&mut rng, switch);
        set_up_value_sets(&mut rng, switch);
        set_up_meters(&mut rng, switch);
    }

    fn entry_spec(&self, rng: &mut Rng, table: TableId, entry: &Entry) -> EntrySpec {
        let has_profile = self.program.tables[table].implementation.is_some();
        let call = if has_profile { member_or_group(rng) } else { entry.call.clone() };
        EntrySpec {
            key: entry.key.iter().map(match_value).collect(),
            priority: entry.priority,
            action: call.action as usize,
            args: call.args,
        }
    }

    /// Deletes and modifies some entries, and inserts some that were deleted. What is refused, is in every switch
    /// alike.
    fn change_entries(&self, rng: &mut Rng, switch: &Switch) {
        let mut tables = switch.tables();
        for (table, entry) in &self.entries {
            let handle = Handle(rng.below(tables.tables()[table.index()].len() as u64 + 2) as u32);
            let spec = self.entry_spec(rng, *table, entry);
            let operation = match rng.below(4) {
                0 => Operation::Insert(spec),
                1 => Operation::Delete { handle },
                2 => Operation::Modify { handle, action: spec.action, args: spec.args },
                _ => continue,
            };
            let _refused = tables.perform(table.index(), operation);
        }
    }
}

/// Packets between two changes of the entries.
struct Group<'a> {
    index: usize,
    now_ns: u64,
    packets: Burst<'a>,
}

/// How several cores of a switch work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// One core after the other, so that packets are in one order.
    InTurn,
    /// At the same time, if they share nothing.
    AtOnce,
}

/// A burst that came on some ports.
type Burst<'a> = &'a [(u32, Vec<u8>)];

/// Gives each core the next burst.
fn run_each<'a>(
    switch: &mut Switch,
    lanes: &mut [Lane],
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
    let run_lane = |lane: &mut Lane, burst: Burst<'_>, observation: &mut Observation| {
        for (port, bytes) in burst {
            lane.receive(now_ns, *port, bytes);
        }
        lane.run(now_ns, observation);
    };
    let own = bursts.next().unwrap_or_default();
    if workers == Workers::InTurn {
        run_own(own, observation);
        lanes.iter_mut().zip(bursts).for_each(|(lane, burst)| run_lane(lane, burst, observation));
        return;
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = lanes
            .iter_mut()
            .zip(bursts)
            .map(|(lane, burst)| {
                scope.spawn(move || {
                    let mut seen = Observation::default();
                    run_lane(lane, burst, &mut seen);
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

/// Handles of members and groups, those of some that do not exist among them.
const PROFILE_HANDLES: u64 = 5;

/// Members with random arguments, and groups of them.
fn set_up_profiles(rng: &mut Rng, switch: &Switch) {
    let mut tables = switch.tables();
    for profile in 0..tables.profiles().len() {
        let spec = tables.profiles()[profile].spec().clone();
        for _ in 0..PROFILE_HANDLES - 1 {
            let action = rng.below(spec.actions.len().max(1) as u64) as usize;
            let widths = spec.actions.get(action).map_or(&[][..], |action| &action.param_widths_bits);
            let args = widths.iter().map(|&width| Bits::from_u64(64, rng.next_u64()).resize(width)).collect();
            let call = ActionCall { action, args };
            // What the profile has no room for is refused in every switch alike; so are groups where there are none.
            let _refused = tables.perform_profile(profile, ProfileOperation::CreateMember(call));
        }
        for group in 0..PROFILE_HANDLES - 1 {
            let _refused = tables.perform_profile(profile, ProfileOperation::CreateGroup);
            for member in 0..PROFILE_HANDLES - 1 {
                let (group, member) = (Handle(group as u32), Handle(member as u32));
                if rng.chance(1, 2) {
                    let operation = ProfileOperation::AddToGroup { group, member };
                    let _refused = tables.perform_profile(profile, operation);
                }
            }
        }
    }
}

/// What an entry of a table with a profile runs.
fn member_or_group(rng: &mut Rng) -> ir::ActionCall {
    let handle = rng.below(PROFILE_HANDLES) as u32;
    if rng.chance(1, 2) { ir::ActionCall::member(handle) } else { ir::ActionCall::group(handle) }
}

fn set_up_replication(rng: &mut Rng, switch: &mut Switch) {
    let replication = switch.replication_mut();
    for group in 1..3 {
        let replica = |rng: &mut Rng| Replica { rid: rng.below(4), port: rng.below(4) as u32 };
        let replicas = (0..rng.below(4)).map(|_| replica(rng)).collect();
        replication.set_group(group, replicas).expect("few replicas are allowed");
    }
    for session in 0..3 {
        let target = match rng.chance(1, 2) {
            true => CloneTarget::Group(rng.between(1, 3)),
            false => CloneTarget::Replicas(vec![Replica { rid: 0, port: rng.below(4) as u32 }]),
        };
        replication.set_session(session, target).expect("small sessions are allowed");
    }
}

fn set_up_value_sets(rng: &mut Rng, switch: &mut Switch) {
    let program = Arc::clone(switch.program());
    for (id, set) in program.value_sets.iter_enumerated() {
        for _ in 0..rng.below(3) {
            let small = |rng: &mut Rng, width: u32| Bits::from_u64(64, rng.below(8)).resize(width);
            let key = |(_, width, kind): &(String, u32, ir::MatchKind)| match kind {
                ir::MatchKind::Exact => MatchValue::Exact(small(rng, *width)),
                ir::MatchKind::Optional => MatchValue::Optional(Some(small(rng, *width))),
                ir::MatchKind::Range => MatchValue::Range { low: Bits::zero(*width), high: small(rng, *width) },
                ir::MatchKind::Lpm => {
                    MatchValue::Lpm { value: Bits::zero(*width), prefix_len: rng.between(0, u64::from(*width)) as u32 }
                }
                ir::MatchKind::Ternary => {
                    let mask = small(rng, *width);
                    MatchValue::Ternary { value: small(rng, *width).and(&mask), mask }
                }
            };
            let member = set.keys.iter().map(key).collect();
            switch.externs_mut().value_sets[id].push(member);
        }
    }
}

/// Meters whose buckets run dry within a few packets.
fn set_up_meters(rng: &mut Rng, switch: &mut Switch) {
    let externs = switch.externs_mut();
    for meter in externs.meters.iter_mut().chain(externs.direct_meters.iter_mut()) {
        for index in 0..meter.size().min(64) {
            let committed_rate_milliunits_per_s = rng.below(1_000_000_000);
            let config = MeterConfig {
                committed_rate_milliunits_per_s,
                committed_burst: rng.below(500),
                peak_rate_milliunits_per_s: committed_rate_milliunits_per_s + rng.below(1_000_000_000),
                peak_burst: 500 + rng.below(500),
            };
            if let Some(cell) = meter.cell_mut(index).filter(|_| rng.chance(1, 2)) {
                cell.configure(config, 0);
            }
        }
    }
}
