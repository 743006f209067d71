//! A packet's journey through a switch, as data.
//!
//! What enters: the steps of the interpreter and the decisions of the architecture. What leaves: [`Step`]s in names of
//! the program, with source lines, that outlive the packet.

use crate::program::Program;
use base::{Bits, Span};
use interp::{Event, Tracer};
use ir::{HeaderRef, Place, Target};
use std::sync::Arc;
use switch::{Decision, DropReason, Observer};
use syntax::Location;

/// What happened to a packet and to all that it caused, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journey {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it was written, if it was.
    pub location: Option<Location>,
    /// What happened.
    pub what: What,
}

/// Names with values.
pub type Named = Vec<(String, Bits)>;

/// What happened in a step. The names are the program's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are what the variant says")]
pub enum What {
    /// A pass through ingress starts; `kind` says in words how the packet came to it.
    Ingress { port: u32, bytes: u32, kind: &'static str },
    /// A pass through egress starts.
    Egress { port: u32, replica: u64, kind: &'static str },
    /// A block starts.
    Block { name: String },
    /// The parser enters a state.
    State { name: String },
    /// A header was extracted.
    Extract { header: String, offset_bytes: usize, fields: Named },
    /// A select compared its keys and chose a state, `accept` or `reject`; `None`: no case matched.
    Select { keys: Vec<Bits>, next: Option<String> },
    /// Parsing ended, with the name of the error if there is one.
    Parsed { is_accepted: bool },
    /// Parsing ended with this error.
    ParserError { error: String },
    /// A table was looked up; `entry` is the handle of the entry that was hit.
    Table { name: String, keys: Named, entry: Option<u64> },
    /// An action runs.
    Action { name: String, arguments: Named },
    /// A condition was evaluated.
    Condition { is_true: bool },
    /// A value was written to a variable or field. It is not kept in the fields of an invalid header.
    Assigned { name: String, value: Bits, is_kept: bool },
    /// A header became valid or invalid.
    Validity { header: String, is_valid: bool },
    /// A register's cell was read; `None`: there is no such cell.
    RegisterRead { register: String, index: Bits, value: Option<Bits> },
    /// A register's cell was written.
    RegisterWritten { register: String, index: Bits, value: Bits },
    /// A header was emitted.
    Emit { header: String, bytes: usize },
    /// A message was logged.
    Log { message: String },
    /// An assertion failed.
    AssertionFailed { text: String },
    /// Another step in a block, as text.
    Other { text: String },
    /// The packet was queued to a port.
    Queued { port: u32 },
    /// It left on a port.
    Sent { port: u32, bytes: u32 },
    /// It was dropped.
    Dropped { reason: DropReason },
    /// The architecture decided something else: copies, another pass, coalescing.
    Decided(Decision),
}

/// Records a journey.
pub(crate) struct Recorder {
    program: Program,
    ir: Arc<ir::Program>,
    journey: Journey,
    /// The parser that runs, for the names of its states.
    block: Option<ir::BlockId>,
}

impl Recorder {
    /// For a switch that runs `ir`; `program`, for which it was built, has the source unless it was replaced.
    pub(crate) fn new(program: &Program, ir: Arc<ir::Program>) -> Recorder {
        Recorder { program: program.clone(), ir, journey: Journey::default(), block: None }
    }

    pub(crate) fn finish(self) -> Journey {
        self.journey
    }

    fn step(&mut self, span: Span, what: What) {
        let has_source = Arc::ptr_eq(self.program.ir(), &self.ir);
        let location = if has_source { self.program.location(span) } else { None };
        self.journey.steps.push(Step { location, what });
    }

    fn state(&self, block: ir::BlockId, state: ir::StateId) -> String {
        match &self.ir.blocks[block].kind {
            ir::BlockKind::Parser { states, .. } => states[state].name.clone(),
            ir::BlockKind::Control { .. } => String::new(),
        }
    }

    fn target(&self, target: Target) -> String {
        match (target, self.block) {
            (Target::Accept, _) => "accept".to_owned(),
            (Target::State(state), Some(block)) => self.state(block, state),
            _ => "reject".to_owned(),
        }
    }

    fn header(&self, header: &HeaderRef) -> String {
        match header {
            HeaderRef::Fixed(id) => self.ir.headers[*id].name.clone(),
            HeaderRef::Element { stack, .. } => format!("{}[...]", self.ir.stacks[*stack].name),
            HeaderRef::Next(stack) => format!("{}.next", self.ir.stacks[*stack].name),
            HeaderRef::Last(stack) => format!("{}.last", self.ir.stacks[*stack].name),
        }
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => self.ir.vars[*var].name.clone(),
            Place::Field(header, field) => {
                let field = &self.ir.header_type(header).fields[*field as usize].name;
                format!("{}.{field}", self.header(header))
            }
            Place::Slice { base, high, low } => format!("{}[{high}:{low}]", self.place(base)),
        }
    }

    /// A step in a block; `None` for those that only repeat others.
    fn what(&self, event: &Event<'_>) -> Option<What> {
        let ir = &*self.ir;
        Some(match event {
            Event::BlockEntered(block) => What::Block { name: ir.blocks[*block].name.clone() },
            Event::StateEntered { block, state } => What::State { name: self.state(*block, *state) },
            Event::Extracted { header, contents, offset_bytes } => {
                let declared = &ir.headers[*header];
                let names = ir.header_types[declared.ty].fields.iter().map(|field| &field.name);
                let (header, fields) = (declared.name.clone(), named(names, &contents.fields));
                What::Extract { header, offset_bytes: *offset_bytes, fields }
            }
            Event::Selected { keys, chosen } => {
                What::Select { keys: keys.to_vec(), next: chosen.map(|(_, target)| self.target(target)) }
            }
            Event::ParserError { error } => {
                let name = ir.errors.get(*error as usize).map_or("an unknown error", |name| name);
                What::ParserError { error: name.to_owned() }
            }
            Event::ParserDone { accepted } => What::Parsed { is_accepted: *accepted },
            Event::TableApplied { table, keys, lookup } => {
                let declared = &ir.tables[*table];
                let keys = named(declared.keys.iter().map(|key| &key.name), keys);
                What::Table { name: declared.name.clone(), keys, entry: lookup.entry }
            }
            Event::ActionEntered { action, args } => {
                let declared = &ir.actions[*action];
                let names = declared.params.iter().map(|&param| &ir.vars[param].name);
                let arguments = declared.with_empty(named(names, args), |name| (name.to_owned(), Bits::zero(0)));
                What::Action { name: declared.name.clone(), arguments }
            }
            Event::Assigned { place, value, is_kept } => {
                What::Assigned { name: self.place(place), value: Bits::clone(value), is_kept: *is_kept }
            }
            Event::ValiditySet { header, valid } => {
                What::Validity { header: ir.headers[*header].name.clone(), is_valid: *valid }
            }
            Event::Branched { taken } => What::Condition { is_true: *taken },
            Event::Emitted { header, bytes } => {
                What::Emit { header: ir.headers[*header].name.clone(), bytes: bytes.len() }
            }
            Event::RegisterRead { register, index, value } => {
                let (register, index) = (ir.registers[*register].name.clone(), Bits::clone(index));
                What::RegisterRead { register, index, value: value.cloned() }
            }
            Event::RegisterWritten { register, index, value } => {
                let register = ir.registers[*register].name.clone();
                What::RegisterWritten { register, index: Bits::clone(index), value: Bits::clone(value) }
            }
            Event::Logged { message } => What::Log { message: (*message).to_owned() },
            Event::AssertFailed { text } => What::AssertionFailed { text: (*text).to_owned() },
            Event::VarSet { .. } | Event::Left { .. } | Event::EmitSkipped { .. } => return None,
            other => What::Other { text: format!("{other:?}") },
        })
    }
}

/// Values with their names.
fn named<'n>(names: impl Iterator<Item = &'n String>, values: &[Bits]) -> Named {
    names.cloned().zip(values.iter().cloned()).collect()
}

impl Tracer for Recorder {
    fn event(&mut self, span: Span, event: Event<'_>) {
        if let Event::BlockEntered(block) = event {
            self.block = Some(block);
        }
        if let Some(what) = self.what(&event) {
            self.step(span, what);
        }
    }
}

impl Observer for Recorder {
    fn decision(&mut self, decision: Decision) {
        let what = match decision {
            Decision::IngressStarts { port, bytes, kind } => What::Ingress { port, bytes, kind },
            Decision::EgressStarts { port, rid, kind } => What::Egress { port, replica: rid, kind },
            Decision::Unicast { port } => What::Queued { port },
            Decision::Transmitted { port, bytes } => What::Sent { port, bytes },
            Decision::Dropped(reason) => What::Dropped { reason },
            other => What::Decided(other),
        };
        self.step(Span::NONE, what);
    }
}
