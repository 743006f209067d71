//! The reference interpreter: the definition of what the IR means.
//!
//! What enters: a verified [`ir::Program`], a packet's state, and the world outside of it as a [`Host`] (table entries,
//! registers, counters, ...). What leaves: the packet's state after a block, and what happened on the way as events to
//! a [`Tracer`]. Everything is written for obviousness and nothing for speed: where native code and this crate differ,
//! native code is wrong until shown otherwise.
//!
//! * [`state`]: what a packet carries through the blocks.
//! * [`host`]: what the interpreter asks of the switch.
//! * [`trace`]: the events.
//! * [`hash`]: the hash functions, bit by bit from their definitions.
//! * `eval`, `exec`, `parse`: expressions and places, statements, parser states.
//!
//! # What the IR's own description leaves open, settled here
//!
//! * An extraction first finds its header: a full stack, an index out of range or an empty stack's `last` is
//!   `StackOutOfBounds` before any length is looked at.
//! * Parsing that ends with `Accept` or `Reject` leaves the error variable as it is.
//! * The iterations of a loop are counted over the block's whole run, so that nested loops cannot multiply; a loop
//!   whose budget is spent is left, and execution goes on after it.
//! * A table's application writes, in this order: the direct meter's colour, whether it hit, which action runs, the
//!   action's parameters. Then the action runs. The direct counter counts first of all. On a miss the default
//!   action's cells are meant; its meter colours nothing if it has no rates.
//! * An assertion that fails ends the block at once with [`Outcome::AssertionFailed`].
//! * The bytes of a payload that is hashed follow the padding of the inputs.
//! * A header that becomes invalid loses its contents.

mod eval;
mod exec;
pub mod hash;
pub mod host;
mod parse;
pub mod state;
pub mod trace;

pub use eval::{binary, cast, unary};
pub use host::{Host, Lookup, NO_ACTION, log_line};
pub use state::{HeaderState, PacketState};
pub use trace::{Event, NoTrace, Tracer};

use ir::{BlockId, BlockKind, BlockRole, Program};

/// Runs the blocks of a program.
pub struct Interpreter<'p> {
    program: &'p Program,
}

/// How a block's run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// As it should.
    Finished,
    /// By an assertion that failed: the packet is to be dropped.
    AssertionFailed,
}

impl<'p> Interpreter<'p> {
    /// An interpreter of a program, which must have passed the verifier.
    pub fn new(program: &'p Program) -> Interpreter<'p> {
        Interpreter { program }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Runs a block on a packet. Local variables are zero and local headers invalid when it starts. A parser moves
    /// [`PacketState::cursor`] and sets its error variable; the deparser fills [`PacketState::output`] with the headers
    /// it emits and the payload.
    pub fn run_block(
        &self,
        block: BlockId,
        state: &mut PacketState,
        host: &mut dyn Host,
        tracer: &mut dyn Tracer,
    ) -> Outcome {
        state.reset_locals(self.program);
        let is_deparser = self.program.role(block) == BlockRole::Deparser;
        if is_deparser {
            state.output.clear();
        }
        let mut run = exec::Run::new(self.program, state, host, tracer);
        run.trace(Event::BlockEntered(block));
        let outcome = match &self.program.blocks[block].kind {
            BlockKind::Parser { start, states, error } => run.run_parser(block, *start, states, *error),
            BlockKind::Control { body } => run.run_control(body),
        };
        if is_deparser {
            let payload = state.payload().to_vec();
            state.output.extend(payload);
        }
        outcome
    }
}
