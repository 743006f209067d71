//! Parser blocks: states, transitions, and the statements that occur only in parsers.

use crate::Outcome;
use crate::eval::{eval_bool, place_width, resolve, write_place};
use crate::exec::{Flow, Run};
use crate::state::HeaderState;
use crate::trace::Event;
use base::limits::PARSER_STEPS_MAX;
use base::{Bits, IndexVec};
use ir::{BlockId, Expr, FieldType, HeaderRef, KeySet, ParserState, Place, StateId, Target, Transition, VarId};

impl Run<'_> {
    /// Runs a parser from its start state to its end.
    pub(crate) fn run_parser(
        &mut self,
        block: BlockId,
        start: StateId,
        states: &IndexVec<StateId, ParserState>,
        error: VarId,
    ) -> Outcome {
        let mut state = start;
        for _ in 0..PARSER_STEPS_MAX {
            self.span = states[state].span;
            self.trace(Event::StateEntered { block, state });
            let target = match self.run_body(&states[state].body) {
                Flow::Next | Flow::Leave(_) => self.transition(&states[state].transition),
                Flow::AssertionFailed => return Outcome::AssertionFailed,
                Flow::ParserError(number) => Err(number),
            };
            match target {
                Ok(Target::State(next)) => state = next,
                Ok(end) => {
                    self.trace(Event::ParserDone { accepted: end == Target::Accept });
                    return Outcome::Finished;
                }
                Err(number) => return self.parser_error(error, number),
            }
        }
        self.parser_error(error, Bits::from_u64(32, ir::ERROR_PARSER_TIMEOUT))
    }

    fn parser_error(&mut self, error: VarId, number: Bits) -> Outcome {
        self.trace(Event::ParserError { error: number.low_u64() });
        self.state.set_var(error, number);
        Outcome::Finished
    }

    /// The next state, or the number of the error that ends the parser.
    fn transition(&mut self, transition: &Transition) -> Result<Target, Bits> {
        let (keys, cases) = match transition {
            Transition::Goto(target) => return Ok(*target),
            Transition::Select { keys, cases } => (keys, cases),
        };
        let values: Vec<Bits> = keys.iter().map(|key| self.eval(key)).collect();
        for (position, case) in cases.iter().enumerate() {
            let mut sets = case.sets.iter().enumerate();
            if sets.all(|(at, set)| self.contains(set, &values[at..], keys[at].ty.is_signed())) {
                self.trace(Event::Selected { keys: &values, chosen: Some((position, case.target)) });
                return Ok(case.target);
            }
        }
        self.trace(Event::Selected { keys: &values, chosen: None });
        Err(Bits::from_u64(32, ir::ERROR_NO_MATCH))
    }

    /// Whether the key set matches the first of the keys or, for a value set, as many keys as it has fields.
    fn contains(&mut self, set: &KeySet, keys: &[Bits], signed: bool) -> bool {
        let key = &keys[0];
        match set {
            KeySet::ValueSet(id) => {
                let count = self.program.value_sets[*id].keys.len();
                self.host.value_set_contains(*id, &keys[..count])
            }
            KeySet::Any => true,
            KeySet::Value(value) => *key == self.eval(value),
            KeySet::Mask(value, mask) => {
                let mask = self.eval(mask);
                key.and(&mask) == self.eval(value).and(&mask)
            }
            KeySet::Range(low, high) => {
                let (low, high) = (self.eval(low), self.eval(high));
                if signed {
                    key.cmp_signed(&low).is_ge() && key.cmp_signed(&high).is_le()
                } else {
                    key.cmp_unsigned(&low).is_ge() && key.cmp_unsigned(&high).is_le()
                }
            }
        }
    }

    /// Extracts a header from the packet. If it fails, nothing changes except the error.
    pub(crate) fn extract(&mut self, dst: &HeaderRef, varbit_bits: Option<&Expr>) -> Flow {
        let Some(id) = resolve(self.program, self.state, dst) else {
            return parser_error(ir::ERROR_STACK_OUT_OF_BOUNDS);
        };
        let ty = &self.program.header_types[self.program.headers[id].ty];
        let varbit_bits = varbit_bits.map_or(0, |bits| self.eval(bits).low_u64());
        if !varbit_bits.is_multiple_of(8) {
            return parser_error(ir::ERROR_PARSER_INVALID_ARGUMENT);
        }
        let bytes = (u64::from(ty.fixed_width()) + varbit_bits) / 8;
        if bytes > self.state.payload().len() as u64 {
            return parser_error(ir::ERROR_PACKET_TOO_SHORT);
        }
        if varbit_bits > ty.varbit().map_or(0, |(_, max)| u64::from(max)) {
            return parser_error(ir::ERROR_HEADER_TOO_SHORT);
        }
        let mut offset_bits = 0;
        let mut fields = Vec::new();
        for field in &ty.fields {
            let width = match field.ty {
                FieldType::Fixed(ty) => ty.width(),
                FieldType::Varbit(_) => varbit_bits as u32,
            };
            fields.push(Bits::from_packet(width, self.state.payload(), offset_bits));
            offset_bits += width as usize;
        }
        let contents = HeaderState { valid: true, fields };
        self.trace(Event::Extracted { header: id, contents: &contents, offset_bytes: self.state.cursor });
        *self.state.header_mut(id) = contents;
        self.state.cursor += bytes as usize;
        if let HeaderRef::Next(stack) = dst {
            let next = self.state.stack_next(self.program, *stack) as u64 + 1;
            self.state.set_var(self.program.stacks[*stack].next, Bits::from_u64(32, next));
        }
        Flow::Next
    }

    /// Skips bits of the packet.
    pub(crate) fn advance(&mut self, bits: &Expr) -> Flow {
        let bits = self.eval(bits).low_u64();
        if !bits.is_multiple_of(8) {
            return parser_error(ir::ERROR_PARSER_INVALID_ARGUMENT);
        }
        if bits / 8 > self.state.payload().len() as u64 {
            return parser_error(ir::ERROR_PACKET_TOO_SHORT);
        }
        self.state.cursor += (bits / 8) as usize;
        self.trace(Event::Advanced { bytes: (bits / 8) as usize });
        Flow::Next
    }

    /// Reads bits of the packet without consuming them.
    pub(crate) fn lookahead(&mut self, dst: &Place, offset_bits: u32, checked: bool) -> Flow {
        let width = place_width(self.program, dst);
        let bits_left = self.state.payload().len() as u64 * 8;
        if checked && u64::from(offset_bits) + u64::from(width) > bits_left {
            return parser_error(ir::ERROR_PACKET_TOO_SHORT);
        }
        let value = Bits::from_packet(width, self.state.payload(), offset_bits as usize);
        let is_kept = write_place(self.program, self.state, dst, &value);
        self.trace(Event::Assigned { place: dst, value: &value, is_kept });
        Flow::Next
    }

    /// Ends parsing unless a condition holds.
    pub(crate) fn verify(&mut self, cond: &Expr, error: &Expr) -> Flow {
        if eval_bool(self.program, self.state, cond) { Flow::Next } else { Flow::ParserError(self.eval(error)) }
    }
}

fn parser_error(number: u64) -> Flow {
    Flow::ParserError(Bits::from_u64(32, number))
}
