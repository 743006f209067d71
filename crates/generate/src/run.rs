//! The generator: packets and entries of one program.
//!
//! What enters: a program and settings. What leaves: lines of commands, frames with their ports, and a report. Nothing
//! is kept of a frame; of an entry, its key.

use crate::choice::{self, Choice};
use crate::expression::Context;
use crate::flows::Draw;
use crate::host::{Learning, TableReport};
use crate::settings::{Settings, Traffic};
use crate::template::{Template, state_names};
use crate::walk::{self, Walk};
use base::index::Id as _;
use base::{IndexVec, OrderedSet, Rng, Span};
use interp::{Decision, Event, Interpreter, Outcome, PacketState, Tracer};
use ir::{BlockId, BlockRole, ParserState, PointId, Program, Source, StateId, TableId, VarKind};
use std::io::{self, Write};

/// Flows that are tried for each entry that a table is to have: keys may be the same.
const TRIED_MAX: u64 = 4;

/// A state of the parser, and whether a packet has entered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateReport {
    /// Its name.
    pub name: String,
    /// Why it was not entered; `None`: it was.
    pub why_not: Option<String>,
}

/// What was generated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The states of the parser.
    pub states: Vec<StateReport>,
    /// The tables that packets have met.
    pub tables: Vec<TableReport>,
    /// The kinds of packets: the states that each goes through.
    pub kinds: Vec<String>,
    /// Whether there is a second parser, which was not walked.
    pub has_other_parser: bool,
}

/// The generator.
pub struct Generator<'p> {
    program: &'p Program,
    settings: &'p Settings,
    walk: Walk,
    /// Of each kind of traffic.
    templates: Vec<Vec<Template>>,
    choices: Vec<IndexVec<TableId, Option<Choice>>>,
}

/// The states of the first parser that were entered.
struct Entered {
    block: Option<BlockId>,
    states: OrderedSet<StateId>,
}

impl Tracer for Entered {
    fn event(&mut self, _span: Span, event: Event<'_>) {
        if let Event::StateEntered { block, state } = event
            && Some(block) == self.block
        {
            self.states.insert(state);
        }
    }
}

impl<'p> Generator<'p> {
    /// Prepares to generate. The program should not be optimised, so that all states are there.
    pub fn new(program: &'p Program, settings: &'p Settings) -> Result<Generator<'p>, String> {
        settings.check()?;
        settings.traffic.iter().try_for_each(|traffic| check_ports(program, traffic))?;
        let choices = settings.traffic.iter().map(|traffic| choice::choices(program, traffic));
        let choices = choices.collect::<Result<_, _>>()?;
        let walk = walk::walk(program, &|_| false);
        let of = |traffic: &Traffic| templates_of(program, &walk, traffic);
        let templates = settings.traffic.iter().map(of).collect::<Result<_, _>>()?;
        Ok(Generator { program, settings, walk, templates, choices })
    }

    /// How many kinds of packets there are: paths through the parser.
    pub fn kinds(&self) -> usize {
        self.templates.iter().map(Vec::len).sum()
    }

    /// Makes the entries: writes their commands. `progress` gets the flows so far and their number.
    pub fn entries(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> io::Result<Report> {
        let ports = self.settings.traffic.iter().map(|traffic| traffic.ports).collect();
        let mut host = Learning::new(self.program, &self.choices, (self.context(0, 0), ports), out);
        self.templates.iter().flatten().for_each(|template| host.add_members(&template.members));
        let block = walk::parser_of(self.program).map(|(block, ..)| block);
        let mut entered = Entered { block, states: OrderedSet::new() };
        let interpreter = Interpreter::new(self.program);
        let mut state = PacketState::new(self.program, Vec::new());
        let flows = self.settings.flows.max(self.kinds() as u64);
        let most = flows.max(self.settings.entries.saturating_mul(TRIED_MAX));
        let (mut frame, mut idle, mut entries) = (Vec::new(), 0, 0);
        for flow in 0..most {
            if flow % 1_024 == 0 {
                progress(flow, most);
            }
            // Beyond the traffic, flows only make entries: until a table has all, or there seem to be no more keys.
            let is_enough = host.entries_max() >= self.settings.entries || idle > flows.min(1_024);
            if flow >= flows && is_enough || host.failure.is_some() {
                break;
            }
            host.counts = flow < flows;
            for traffic in 0..self.templates.len() {
                (host.context, host.traffic) = (self.context(traffic, flow), traffic);
                if let Some(port) = self.frame(traffic, flow, 0, &mut frame) {
                    arrive(self.program, &mut state, &frame, port);
                    run(&interpreter, &mut state, &mut host, &mut entered);
                }
            }
            idle = if host.entries() > entries { 0 } else { idle + 1 };
            entries = host.entries();
        }
        match host.failure.take() {
            Some(error) => Err(error),
            None => Ok(self.report(host.report(), &entered.states)),
        }
    }

    /// Makes the packets: calls `send` with the port and the bytes of each, until it fails.
    pub fn packets<E>(&self, mut send: impl FnMut(u32, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut rng = Rng::new(self.settings.seed);
        let mut draws = vec![Draw::new(self.settings.distribution, self.settings.flows); self.templates.len()];
        let mut frame = Vec::new();
        let traffics = self.templates.len() as u64;
        for number in 0..self.settings.count {
            let traffic = (number % traffics) as usize;
            let flow = draws[traffic].draw(&mut rng);
            let bytes = self.settings.sizes.draw(&mut rng);
            if let Some(port) = self.frame(traffic, flow, bytes, &mut frame) {
                send(port, &frame)?;
            }
        }
        Ok(())
    }

    /// The port and the frame of a flow.
    fn frame(&self, traffic: usize, flow: u64, bytes: usize, frame: &mut Vec<u8>) -> Option<u32> {
        let templates = &self.templates[traffic];
        let template = templates.get((flow % templates.len().max(1) as u64) as usize)?;
        template.frame(&self.context(traffic, flow), bytes, frame);
        let (usual, is_required) = template.port;
        Some(self.settings.traffic[traffic].port.filter(|_| !is_required).unwrap_or(usual))
    }

    fn context(&self, traffic: usize, flow: u64) -> Context<'static> {
        let Settings { seed, entries, .. } = *self.settings;
        Context { seed, flow, entries, ports: self.settings.traffic[traffic].ports, key: &[] }
    }

    fn report(&self, tables: Vec<TableReport>, entered: &OrderedSet<StateId>) -> Report {
        let blocks = self.program.architecture.blocks.iter();
        let has_other_parser = blocks.filter(|block| block.role == BlockRole::Parser).count() > 1;
        let kinds = self.templates.iter().flatten();
        let kinds = kinds.map(|template| state_names(self.program, &template.states).join(" ")).collect();
        let states = walk::parser_of(self.program).map_or_else(Vec::new, |(.., states)| {
            let of = |state: StateId| {
                let why = || match self.walk.reasons.get(&state) {
                    Some(why) => why.clone(),
                    None => "no packet of this traffic goes there".to_owned(),
                };
                let why_not = (!entered.contains(&state)).then(why);
                StateReport { name: states[state].name.clone(), why_not }
            };
            states.ids().map(of).collect()
        });
        Report { states, tables, kinds, has_other_parser }
    }
}

/// The templates of one kind of traffic.
fn templates_of(program: &Program, walk: &Walk, traffic: &Traffic) -> Result<Vec<Template>, String> {
    // A walk of its own finds more of the requested paths.
    let own = (!traffic.not_through.is_empty()).then(|| {
        let is_out = |state: &ParserState| traffic.not_through.iter().any(|name| choice::is_named(&state.name, name));
        walk::walk(program, &is_out)
    });
    let walk = own.as_ref().unwrap_or(walk);
    let is_limited = !traffic.through.is_empty() || !traffic.not_through.is_empty();
    let is_wanted = |finished: &walk::Finished| {
        let names = state_names(program, &finished.path.states);
        let has = |name: &String| names.iter().any(|state| choice::is_named(state, name));
        traffic.through.iter().all(has) && !traffic.not_through.iter().any(has) && (finished.is_accepted || !is_limited)
    };
    let needed = walk.needed(is_wanted).into_iter();
    let mut chosen: Vec<Template> = needed.map(|it| Template::of_path(program, &it.path, it.is_accepted)).collect();
    if chosen.is_empty() && is_limited {
        let [through, not] = [&traffic.through, &traffic.not_through].map(|names| names.join(", "));
        return Err(match not.is_empty() {
            true => format!("no path through the parser has all of the states {through}"),
            false => format!("no path through the parser has all of the states {through}, without {not}"),
        });
    }
    let mut names: Vec<String> = chosen.iter().flat_map(|it| &it.places).map(|place| place.name.clone()).collect();
    // Of packets that differ in what the program does not parse, those are meant that have the fields.
    chosen.retain_mut(|template| traffic.fields.iter().all(|(name, value)| template.set(name, value)));
    if chosen.is_empty() && !traffic.fields.is_empty() {
        names.sort_unstable();
        names.dedup();
        let fields: Vec<&str> = traffic.fields.iter().map(|(name, _)| name.as_str()).collect();
        return Err(format!("no packet has the fields {}; there are {}", fields.join(", "), names.join(", ")));
    }
    for (name, value) in &traffic.fields {
        for place in chosen.iter().flat_map(|template| &template.places).filter(|it| choice::is_named(&it.name, name)) {
            value.fits(place.width).map_err(|why| format!("field {}: {why}", place.name))?;
        }
    }
    Ok(chosen)
}

/// Refuses ports that the architecture does not have.
fn check_ports(program: &Program, traffic: &Traffic) -> Result<(), String> {
    let most = program.architecture.port_max;
    match traffic.port.into_iter().chain([traffic.ports.1]).find(|port| *port > most) {
        Some(port) => Err(format!("there is no port {port}; the greatest is {most}")),
        None => Ok(()),
    }
}

/// Makes the state that of a packet that has just arrived.
fn arrive(program: &Program, state: &mut PacketState, frame: &[u8], port: u32) {
    let architecture = program.architecture;
    state.reset(program, frame);
    let length = frame.len() as u64;
    for var in program.vars.iter() {
        let VarKind::Intrinsic(slot) = var.kind else { continue };
        match architecture.source(slot) {
            Source::IngressPort => state.set_intrinsic(slot, u64::from(port)),
            Source::IngressLength => state.set_intrinsic(slot, length),
            Source::True => state.set_intrinsic(slot, 1),
            _ => {}
        }
    }
}

/// Runs a packet through the blocks, up to the first point at which it does not simply continue.
fn run(interpreter: &Interpreter<'_>, state: &mut PacketState, host: &mut Learning<'_>, tracer: &mut Entered) {
    let architecture = interpreter.program().architecture;
    let has_second_parser = architecture.blocks.iter().any(|it| it.is_behind_queues && it.role == BlockRole::Parser);
    for (position, block) in architecture.blocks.iter().enumerate() {
        for (point, info) in architecture.points.iter().enumerate().filter(|(_, info)| info.before == position) {
            match interpreter.decide(PointId::from_index(point), state) {
                Decision::GoesOn => {}
                Decision::Enqueue { port, .. } if !has_second_parser && info.before < architecture.blocks.len() => {
                    if let Some(slot) = architecture.slot_from(Source::QueuePort) {
                        state.set_intrinsic(slot, port);
                    }
                }
                _ => return,
            }
        }
        let is_last = block.role == BlockRole::Deparser || position >= interpreter.program().blocks.len();
        if is_last || interpreter.run_block(BlockId::from_index(position), state, host, tracer) != Outcome::Finished {
            return;
        }
    }
}
