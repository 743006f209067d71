//! An interpreter of the low IR, for tests of its passes.
//!
//! What enters: the unit of a fast path that works in place, the plan of its program, packets. What leaves: each
//! packet's verdict and bytes. It runs the unit statement by statement, stage by stage, and knows nothing of the
//! program's IR, so that the unit before a pass, the same after it, and the IR's own interpreter can be compared.
//!
//! State that was not saved is garbage where a stage reads it, so that a store which a pass removes in error shows.
//! Values over 64 bits, hashes and calls of the switch core are not implemented: such a program is
//! [`Stop::Unsupported`].

mod comparison;
mod expr;
mod functions;
mod memory;

use crate::plain_host::PlainHost;
use base::index::Id as _;
use cgen::Plan;
pub use comparison::{Case, Compared};
use interp::{Host as _, Lookup};
use ir::{Program, RegisterId, TableId};
use lir::{Arrival, Entry, Expr, Node, NodeId, Stage, StatePart, Stmt, Unit, walk};
use memory::{Memory, Pointer, Value};
use std::collections::{BTreeMap, BTreeSet};
use tables::PackedLayout;

/// Why a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The interpreter does not know this function or form.
    Unsupported(String),
    /// The unit does what none may do.
    Wrong(String),
}

/// What becomes of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It leaves on this port with these bytes.
    Sent(u64, Vec<u8>),
    /// It ends for the reason with this name.
    Ended(String),
    /// The core continues with it.
    Punted(String),
}

/// The time of all runs.
pub const NOW_NS: u64 = 1_000_000;

/// The headroom before each packet, and the space behind it.
const ROOM_BYTES: usize = 512;

/// The most statements that a packet may run.
const STEPS_MAX: u32 = 1_000_000;

/// Where a packet goes.
enum Flow {
    Next,
    Goto(String),
    Go(NodeId),
    Pass(NodeId),
    LookUp(NodeId, Vec<u64>),
    End(Verdict),
    Leave,
}

/// A packet between stages.
struct Packet {
    saved: BTreeMap<StatePart, Value>,
    /// Members of structs, by the names of the struct's pointer and the member.
    members: BTreeMap<(String, String), usize>,
    /// Its first byte and length, as the path may change them.
    bytes: Pointer,
    length: u64,
    port: u64,
    steps: u32,
}

/// The state of a packet within a stage.
struct Run {
    number: usize,
    states: BTreeMap<StatePart, Value>,
    names: BTreeMap<String, Value>,
    /// The places of variables that are numbers.
    places: BTreeMap<String, Pointer>,
}

/// The interpreter of a unit.
pub struct Machine<'m, 'p> {
    unit: &'m Unit,
    program: &'p Program,
    plan: &'m Plan,
    host: PlainHost<'p>,
    memory: Memory,
    packets: Vec<Packet>,
    registers: BTreeMap<u32, usize>,
    /// Entries that were found, each with its data.
    entries: Vec<(Lookup, Pointer)>,
}

impl<'m, 'p> Machine<'m, 'p> {
    /// Prepares to run a unit. Tables are those of the host.
    pub fn new(unit: &'m Unit, program: &'p Program, plan: &'m Plan, host: PlainHost<'p>) -> Self {
        let (memory, packets, registers) = (Memory::default(), Vec::new(), BTreeMap::new());
        Machine { unit, program, plan, host, memory, packets, registers, entries: Vec::new() }
    }

    /// Runs packets, each with its port, as one burst.
    pub fn run(&mut self, packets: &[(u64, Vec<u8>)]) -> Result<Vec<Verdict>, Stop> {
        for (port, bytes) in packets {
            let mut memory = vec![0; ROOM_BYTES];
            memory.extend(bytes);
            memory.extend([0; ROOM_BYTES]);
            let bytes_at = Pointer { region: self.memory.add(memory), at: ROOM_BYTES as i64, item: 1 };
            let (saved, members) = (BTreeMap::new(), BTreeMap::new());
            let length = bytes.len() as u64;
            self.packets.push(Packet { saved, members, bytes: bytes_at, length, port: *port, steps: 0 });
        }
        let mut verdicts: Vec<Option<Verdict>> = vec![None; packets.len()];
        let mut passed = Passed::new();
        for (position, stage) in self.unit.stages.iter().enumerate() {
            for (number, entry, key) in arrivals(position, stage, packets.len(), &mut passed)? {
                match self.stage(stage, number, entry, &key)? {
                    Flow::Pass(_) | Flow::LookUp(..) if stage.ends_all => {
                        return Err(Stop::Wrong("a packet continues from a stage in which all end".into()));
                    }
                    Flow::Pass(node) => passed.entry(node).or_default().push((number, Vec::new())),
                    Flow::LookUp(node, key) => passed.entry(node).or_default().push((number, key)),
                    Flow::End(verdict) if verdicts[number].is_none() => verdicts[number] = Some(verdict),
                    _ => return Err(Stop::Wrong("a packet does not end, or ends twice".into())),
                }
            }
        }
        let verdicts: Option<Vec<Verdict>> = verdicts.into_iter().collect();
        verdicts.ok_or_else(|| Stop::Wrong("a packet waits for a stage that does not run".into()))
    }

    /// A cell of a register, if the register was used. One that was not has its initial value.
    pub fn cell(&self, register: RegisterId, index: u64) -> Option<u64> {
        let region = *self.registers.get(&(register.index() as u32))?;
        self.memory.load(Pointer { region, at: 8 * index as i64, item: 8 }).ok()
    }

    /// Runs a packet through a stage.
    fn stage(&mut self, stage: &Stage, number: usize, entry: &Entry, key: &[u64]) -> Result<Flow, Stop> {
        let (states, names, places) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut run = Run { number, states, names, places };
        for (&state, value) in &entry.values {
            let value = self.expr(value, &mut run)?;
            run.states.insert(state, value);
        }
        self.no_arrays(stage)?;
        self.body(&stage.before, &mut run)?;
        let mut node = entry.node;
        loop {
            let Some(at) = stage.nodes.iter().find(|it| it.id == node) else {
                return Err(Stop::Wrong(format!("node {node} is not in its stage")));
            };
            self.find(at, key, &mut run)?;
            match self.body(&at.body, &mut run)? {
                Flow::Go(next) => node = next,
                Flow::Goto(label) => return Err(Stop::Wrong(format!("no label {label}"))),
                end => {
                    self.body(&stage.after, &mut run)?;
                    let spills = stage.spills.iter().map(|state| (*state, run.states.get(state).cloned()));
                    let packet = &mut self.packets[number];
                    spills.for_each(|(state, value)| _ = packet.saved.insert(state, value.unwrap_or(Value::Garbage)));
                    return Ok(end);
                }
            }
        }
    }

    /// Looks up the result with which a node begins.
    fn find(&mut self, node: &Node, key: &[u64], run: &mut Run) -> Result<(), Stop> {
        let Some(found) = &node.found else { return Ok(()) };
        let result = self.look_up(found.table, key, found.is_packed)?;
        run.names.insert(if found.is_packed { "packed_result" } else { "entry" }.to_owned(), result);
        Ok(())
    }

    /// The result of a table for the words of a key: an entry, or its packed result.
    fn look_up(&mut self, table: TableId, key: &[u64], is_packed: bool) -> Result<Value, Stop> {
        if self.program.tables[table].implementation.is_some() {
            return Err(Stop::Unsupported("action profiles".into()));
        }
        let plan = &self.plan.tables[table];
        let lookup = self.host.lookup(table, &plan.key.unpack(key), 0);
        let layout = plan.actions.get(lookup.action as usize);
        let words = layout.map_or_else(Vec::new, |layout| layout.pack(&lookup.args));
        if is_packed {
            return Ok(Value::short(self.packed(table, &lookup, &words)));
        }
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let data = Pointer { region: self.memory.add(bytes), at: 0, item: 8 };
        self.entries.push((lookup, data));
        Ok(Value::Entry(self.entries.len() - 1))
    }

    /// The packed result of an entry.
    fn packed(&self, table: TableId, lookup: &Lookup, words: &[u64]) -> u64 {
        let width = |&param: &ir::VarId| self.program.vars[param].ty.width();
        let of_action = |listed: &ir::TableAction| {
            self.program.actions[listed.action].params.iter().map(width).collect::<Vec<u32>>()
        };
        let widths: Vec<Vec<u32>> = self.program.tables[table].actions.iter().map(of_action).collect();
        let layout = PackedLayout::new(&widths);
        let params = layout.as_ref().map_or(&[][..], |layout| layout.params(lookup.action as usize));
        let data = params.iter().fold(0, |all, &(word, start)| all | words[word] << start);
        data | u64::from(lookup.hit()) << PackedLayout::HIT_BIT | u64::from(lookup.action)
    }

    fn body(&mut self, body: &[Stmt], run: &mut Run) -> Result<Flow, Stop> {
        let mut at = 0;
        while at < body.len() {
            self.packets[run.number].steps += 1;
            if self.packets[run.number].steps > STEPS_MAX {
                return Err(Stop::Wrong("a packet runs without end".into()));
            }
            match self.stmt(&body[at], run)? {
                Flow::Next => at += 1,
                Flow::Goto(label) => match body.iter().position(|it| *it == Stmt::Label(label.clone())) {
                    Some(position) => at = position,
                    None => return Ok(Flow::Goto(label)),
                },
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt, run: &mut Run) -> Result<Flow, Stop> {
        match stmt {
            Stmt::Declare { ty, name, length, value, .. } => self.declare(*ty, name, *length, value.as_ref(), run)?,
            Stmt::Assign(place, op, value) => self.assign(place, op, value, run)?,
            Stmt::Eval(value) => self.effect(value, run)?,
            Stmt::If(condition, yes, no) => {
                let body = if self.number(condition, run)? != 0 { yes } else { no };
                return self.body(body, run);
            }
            Stmt::Switch { value, cases, default } => {
                let value = self.number(value, run)?;
                let mut chosen = default;
                for (values, body) in cases {
                    for it in values {
                        if self.number(it, run)? == value {
                            chosen = body;
                        }
                    }
                }
                return self.body(chosen, run);
            }
            Stmt::Loop(body) => loop {
                match self.body(body, run)? {
                    Flow::Next => {}
                    flow => return Ok(flow),
                }
            },
            Stmt::Block(body) => return self.body(body, run),
            Stmt::Label(_) | Stmt::Comment(_) => {}
            Stmt::Goto(label) => return Ok(Flow::Goto(label.clone())),
            Stmt::Go(node) => return Ok(Flow::Go(*node)),
            Stmt::Pass(node) => return Ok(Flow::Pass(*node)),
            Stmt::LookUp { node, row, key } => {
                let words = self.key(row.as_deref(), *node, key, run)?;
                return Ok(Flow::LookUp(*node, words));
            }
            Stmt::End(value) => {
                let verdict = match value {
                    Expr::Name(name) if name.starts_with("WS_") => Verdict::Ended(name.clone()),
                    _ => {
                        let port = self.number(value, run)?;
                        let packet = &self.packets[run.number];
                        Verdict::Sent(port, self.memory.bytes(packet.bytes, packet.length as usize)?)
                    }
                };
                return Ok(Flow::End(verdict));
            }
            Stmt::Punt(Expr::Name(name)) => return Ok(Flow::End(Verdict::Punted(name.clone()))),
            Stmt::Punt(_) => return Err(Stop::Wrong("a packet is punted for no reason".into())),
            Stmt::Leave => return Ok(Flow::Leave),
        }
        Ok(Flow::Next)
    }

    /// The words of a key.
    fn key(&mut self, row: Option<&str>, node: NodeId, key: &[Stmt], run: &mut Run) -> Result<Vec<u64>, Stop> {
        let nodes = self.unit.stages.iter().flat_map(|stage| &stage.nodes);
        let table = nodes.filter(|it| it.id == node).find_map(|it| it.found.as_ref()).map(|found| found.table);
        let count = table.map_or(0, |table| self.plan.tables[table].key.words());
        let Some(row) = row else { return Ok(Vec::new()) };
        let words = Pointer { region: self.memory.add(vec![0xa5; 8 * count]), at: 0, item: 8 };
        run.names.insert(row.to_owned(), Value::Pointer(words));
        run.names.insert(format!("far{node}"), Value::number(0));
        self.body(key, run)?;
        (0..count).map(|word| self.memory.load(Pointer { at: 8 * word as i64, ..words })).collect()
    }

    /// Arrays of the program's variables are not implemented.
    fn no_arrays(&self, stage: &Stage) -> Result<(), Stop> {
        let mut wide = BTreeSet::new();
        for node in &stage.nodes {
            walk::all_exprs(&node.body, &mut |value| {
                if let Expr::State(state) | Expr::Saved(state) = value
                    && self.unit.is_wide(*state)
                {
                    wide.insert(*state);
                }
            });
        }
        match wide.first() {
            Some(state) => Err(Stop::Unsupported(format!("the array {}", self.unit.state_name(*state)))),
            None => Ok(()),
        }
    }
}

/// A packet that a stage runs for: its number, its entry, the key that it has written.
type Arrived<'s> = (usize, &'s Entry, Vec<u64>);

/// Packets that are passed to each entry, in the order in which they came, with the keys that they have written.
type Passed = BTreeMap<NodeId, Vec<(usize, Vec<u64>)>>;

/// The packets of a stage in the order in which they run.
fn arrivals<'s>(
    position: usize,
    stage: &'s Stage,
    count: usize,
    passed: &mut Passed,
) -> Result<Vec<Arrived<'s>>, Stop> {
    let mut all = Vec::new();
    for entry in &stage.entries {
        let here = match position {
            0 => (0..count).map(|number| (number, Vec::new())).collect(),
            _ => passed.remove(&entry.node).unwrap_or_default(),
        };
        all.extend(here.into_iter().map(|(number, key)| (number, entry, key)));
    }
    let is_as_found = match stage.arrival {
        Arrival::Masks => {
            all.sort_by_key(|(number, ..)| *number);
            true
        }
        Arrival::List => stage.entries.len() == 1,
        Arrival::Burst | Arrival::WholeBurst => all.len() == count,
    };
    match is_as_found {
        true => Ok(all),
        false => Err(Stop::Wrong(format!("{} of {count} packets reach stage {position}", all.len()))),
    }
}
