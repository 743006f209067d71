//! The reference interpreter: the definition of what the IR means.
//!
//! What enters: a verified [`ir::Program`], a packet's state, and the state outside of the packet as a [`Host`]
//! (table entries, registers, counters, ...). What leaves: the packet's state after a block; each step is reported to
//! a [`Tracer`]. The code is written for clarity, not speed: where native code and this crate differ, native code is
//! wrong until shown otherwise.
//!
//! * [`state`]: what a packet carries through the blocks.
//! * [`host`]: the interface to the switch.
//! * [`trace`]: the events.
//! * [`hash`]: the hash functions, bit by bit from their definitions.
//! * `eval`, `exec`, `parse`: expressions and places, statements, parser states.
//! * `decide`: what the architecture decides between blocks.
//!
//! # What the IR's description leaves open and this crate defines
//!
//! * An extraction first determines its header: a full stack, an index out of range or the `last` of an empty stack
//!   gives `StackOutOfBounds` before any length is checked.
//! * Parsing that ends with `Accept` or `Reject` does not change the error variable.
//! * The iterations of a loop are counted over the whole run of the block, so that nested loops cannot multiply. A
//!   loop that has used up its iterations ends, and execution continues after it.
//! * Applying a table writes, in this order: the direct meter's colour, whether it hit, which action runs, the
//!   action's parameters. Then the action runs. The direct counter counts before all of this. A miss uses the cells
//!   of the default action; its meter does not colour the packet if it has no rates.
//! * An assertion that fails ends the block at once with [`Outcome::AssertionFailed`].
//! * The bytes of a hashed payload follow the padding of the inputs.
//! * A header that becomes invalid loses its contents.

mod decide;
mod eval;
mod exec;
pub mod hash;
pub mod host;
mod parse;
pub mod state;
pub mod trace;

pub use decide::Decision;
pub use eval::{binary, cast, unary};
pub use host::{Host, Lookup, NO_ACTION, log_line};
pub use state::{HeaderState, PacketState};
pub use trace::{Event, NoTrace, Tracer};

use ir::{BlockId, BlockKind, BlockRole, PointId, Program};

/// Runs the blocks of a program.
pub struct Interpreter<'p> {
    program: &'p Program,
}

/// How the run of a block ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Normally.
    Finished,
    /// An assertion failed: the packet must be dropped.
    AssertionFailed,
}

impl<'p> Interpreter<'p> {
    /// Creates an interpreter of a program, which must have passed the verifier.
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

    /// Decides what becomes of a packet at a point between blocks. In a program without decisions every packet
    /// continues.
    pub fn decide(&self, point: PointId, state: &mut PacketState) -> Decision {
        let decisions = self.program.decisions.get(point);
        decisions.map_or(Decision::GoesOn, |body| decide::decide(self.program, state, body))
    }
}
