//! Random packets that get far in a parser.
//!
//! A packet starts as random bytes. The interpreter parses it. At each select a case is chosen at random, and the
//! fields in the select's keys are overwritten so that they match the case. The packet is then parsed again up to the
//! next select, since the change may have moved other headers.

use crate::plain_host::PlainHost;
use base::{Bits, Rng, Span};
use interp::{Event, HeaderState, Interpreter, PacketState, Tracer};
use ir::{BlockId, BlockKind, Expr, ExprKind, HeaderId, HeaderRef, KeySet, ParserState, Program, StateId, Transition};

/// The most selects for which a packet is changed.
const SELECTS_STEERED_MAX: usize = 8;

/// A packet for a program. Most packets pass several states of its parser; some are truncated, some are random.
pub fn random_packet(rng: &mut Rng, program: &Program) -> Vec<u8> {
    let mut bytes = vec![0; 400];
    rng.fill(&mut bytes);
    if rng.chance(1, 3) {
        // Runs of small numbers match constants and lengths more often than random bytes.
        bytes.iter_mut().for_each(|byte| *byte &= 0x07);
    }
    let mut used = 0;
    for select in 0..SELECTS_STEERED_MAX {
        let mut steer =
            Steer { program, select, seen: 0, state: None, extracted: Vec::new(), patches: Vec::new(), rng };
        let mut state = PacketState::new(program, bytes.clone());
        let parser = program.blocks.ids().next();
        let Some(parser) = parser else { return bytes };
        let mut host = PlainHost::new(program, Vec::new(), 0);
        Interpreter::new(program).run_block(parser, &mut state, &mut host, &mut steer);
        used = state.cursor;
        let (patches, done) = (std::mem::take(&mut steer.patches), steer.seen <= select);
        if done {
            break;
        }
        for (offset_bits, value) in patches {
            value.to_packet(&mut bytes, offset_bits);
        }
    }
    let length = match rng.below(6) {
        0 => rng.below(used as u64 + 1) as usize,
        1 => used,
        _ => used + rng.below(61) as usize,
    };
    bytes.truncate(length);
    bytes
}

/// A tracer that observes a parser up to one of its selects and records what would make one of its cases match.
struct Steer<'s> {
    program: &'s Program,
    /// The number of the select, counted from 0.
    select: usize,
    seen: usize,
    state: Option<(BlockId, StateId)>,
    /// Headers in the order of extraction, with the first bit of each of their fields.
    extracted: Vec<(HeaderId, Vec<usize>)>,
    /// Values to write, with their offsets in bits.
    patches: Vec<(usize, Bits)>,
    rng: &'s mut Rng,
}

impl Tracer for Steer<'_> {
    fn event(&mut self, _span: Span, event: Event<'_>) {
        match event {
            Event::StateEntered { block, state } => self.state = Some((block, state)),
            Event::Extracted { header, contents, offset_bytes } => {
                self.extracted.push((header, field_offsets(contents, offset_bytes * 8)));
            }
            Event::Selected { .. } => {
                if self.seen == self.select {
                    self.steer();
                }
                self.seen += 1;
            }
            _ => {}
        }
    }
}

fn field_offsets(contents: &HeaderState, start_bits: usize) -> Vec<usize> {
    let mut offset = start_bits;
    let next = |field: &Bits| {
        let here = offset;
        offset += field.width() as usize;
        here
    };
    contents.fields.iter().map(next).collect()
}

impl<'s> Steer<'s> {
    fn steer(&mut self) {
        let Some(Transition::Select { keys, cases }) = self.current().map(|state| &state.transition) else { return };
        if cases.is_empty() {
            return;
        }
        let case = self.rng.pick(cases);
        for (key, set) in keys.iter().zip(&case.sets) {
            let wanted = match set {
                KeySet::Value(value) | KeySet::Mask(value, _) | KeySet::Range(value, _) => value.as_const(),
                KeySet::Any | KeySet::ValueSet(_) => None,
            };
            if let (Some(wanted), Some((offset, width))) = (wanted, self.position(key)) {
                self.patches.push((offset, wanted.resize(width)));
            }
        }
    }

    fn current(&self) -> Option<&'s ParserState> {
        let (block, state) = self.state?;
        let program: &'s Program = self.program;
        match &program.blocks[block].kind {
            BlockKind::Parser { states, .. } => states.get(state),
            BlockKind::Control { .. } => None,
        }
    }

    /// The position of a key in the packet, if it is a field or a part of one: offset and width in bits.
    fn position(&self, key: &Expr) -> Option<(usize, u32)> {
        match &key.kind {
            ExprKind::Field(header, field) => {
                let is_meant = |id: HeaderId| match header {
                    HeaderRef::Fixed(fixed) => id == *fixed,
                    HeaderRef::Element { stack, .. } | HeaderRef::Next(stack) | HeaderRef::Last(stack) => {
                        self.program.stacks[*stack].elements.contains(&id)
                    }
                };
                let (_, offsets) = self.extracted.iter().rev().find(|(id, _)| is_meant(*id))?;
                Some((*offsets.get(*field as usize)?, key.ty.width()))
            }
            ExprKind::Cast(operand) => {
                let (offset, width) = self.position(operand)?;
                let kept = key.ty.width().min(width);
                Some((offset + (width - kept) as usize, kept))
            }
            ExprKind::Slice { base, high, low } => {
                let (offset, width) = self.position(base)?;
                (*high < width).then(|| (offset + (width - 1 - high) as usize, high - low + 1))
            }
            _ => None,
        }
    }
}
