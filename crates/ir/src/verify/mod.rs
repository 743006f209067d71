//! The verifier: the rules that every program must satisfy. It runs after lowering and after each pass in debug builds
//! and on request.
//!
//! What enters: any [`Program`], however broken. What leaves: nothing, or all violations found.
//!
//! # What is checked
//!
//! Numbers
//! * Every number of an entity (variable, header, state, table, ...) that is mentioned exists.
//!
//! Storage
//! * Types are 1 to `WIDTH_BITS_MAX` bits wide.
//! * An intrinsic variable has at most 64 bits and a slot of its own that the architecture knows.
//! * The first errors are those of core.p4, in order.
//! * A header type's fixed fields fill whole bytes; it has at most one varbit field and is no longer than the longest
//!   packet.
//! * A stack has 1 to `STACK_ELEMENTS_MAX` elements, all of one type and of one lifetime; no header is an element
//!   twice; its `next` is a `Bit(32)` variable.
//! * Local variables and local headers are used in one block only, the actions of its tables and the routines that
//!   either calls included.
//! * Field lists hold metadata and intrinsic variables only.
//! * A plug-in's function returns at most 64 bits; texts and objects only go in; its outputs have at most
//!   `WIDTH_BITS_MAX` bits in all. Objects are made by constructors, which have no outputs, from their inputs.
//! * Register, counter and meter arrays have at most `CELLS_MAX` cells.
//! * A calculation is a CRC of 16 or 32 bits. Only a profile with a selector is given inputs of a hash.
//! * A continued hash has its former value as its first input, of 32 bits and without a guard. No selector does.
//!
//! Expressions and places
//! * Every expression has the type that its operator gives to its operands, and these are of the types that the
//!   operator takes (see [`crate::ExprKind`] and [`crate::BinaryOp`]): arithmetic and bitwise operators on `Bit` and
//!   `Int`, division on `Bit`, logic on `Bool`, equality on all, order on numbers, shift amounts and stack indices of
//!   `Bit`.
//! * Slices lie inside of their base, which is a number.
//! * Fields that are read or written are not varbit; varbit inputs of hashes are.
//! * The packet's length is read in parsers only.
//!
//! Statements
//! * Each is in a kind of block that allows it: extract, advance, lookahead and verify in parsers; emit in the
//!   deparser; table application in controls other than the deparser, not in actions; loops not in parsers.
//! * Values have the width of the place, register or digest field that they go to; conditions are `Bool`.
//! * A label names one statement, and is left from inside of it; an action may also leave the `exit` label of every
//!   block that applies a table with it, if that label is around the application.
//! * Copied headers are of one type. An extraction gives a varbit length if and only if the type has a varbit field.
//! * Switch values are unique and of the width of the compared value.
//! * `random` has at most 64 bits.
//! * A call of a plug-in's function has its inputs and the width of its outputs, and an object if and only if it is a
//!   method.
//!
//! Routines
//! * A routine calls only routines before it, at most `LOWERED_NESTING_MAX` within one another.
//! * Its statements are of those that [`crate::StmtKind::may_be_in_routine`] allows, and leave no label beyond it.
//!
//! Parsers
//! * A select's cases have one set per key, of the key's type; value sets have the select's number of keys and widths.
//! * The error variable is a `Bit(32)`.
//!
//! Tables
//! * At most one longest-prefix key, unless another is matched with masks or ranges. Entries have one key set per key,
//!   of the key's kind and width, with no bits outside of their prefix or mask, and ranges that are not empty. A table
//!   without keys has no entries.
//! * Action calls have the number and widths of the action's parameters. The default action is not marked for entries
//!   only, nor an entry's action for the default only.
//! * A direct counter or meter belongs to one table.
//! * Parameters of actions are distinct local variables.
//!
//! Architecture
//! * The program has the blocks of its architecture, parsers where it has parsers.
//!
//! Decisions
//! * There are decisions at every point of the architecture, or at none.
//! * They consist of assignments, conditions, and the statements that end them ([`crate::StmtKind::is_decision`]),
//!   which are found nowhere else. They mention no header and no local variable.
//! * Every path ends where the architecture says so, and nothing follows an end.
//! * Packets are sent and dropped on the side of the queues on which they are, and enter queues from ingress.
//! * What is punted is a request of the architecture. No variable is assigned before.
//!
//! # What is not checked
//!
//! * That loops, parsers and recursion end (there are budgets), that registers' indices are in range, that headers are
//!   valid when they are used: these have a meaning at run time.
//! * That names are unique, and that source ranges lie in a source.
//! * That entries of the program do not cover one another.
//! * How deep statements and expressions nest.

mod body;
mod decisions;
mod expr;
mod routine;
mod storage;
mod table;

use crate::Program;
use base::Span;

/// A violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The entity in which it is (`table3`, `block0 state1`).
    pub place: String,
    /// Where it was written.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program against the catalogue at [`mod@crate::verify`].
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { program, errors: Vec::new(), place: String::new(), span: Span::NONE };
    verifier.storage();
    verifier.routines();
    verifier.actions_and_tables();
    verifier.blocks();
    verifier.decisions();
    verifier.local_use();
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'p> {
    program: &'p Program,
    errors: Vec<VerifyError>,
    /// The entity that is being checked.
    place: String,
    /// The statement that is being checked.
    span: Span,
}

impl Verifier<'_> {
    fn error(&mut self, message: impl Into<String>) {
        self.errors.push(VerifyError { place: self.place.clone(), span: self.span, message: message.into() });
    }

    /// Reports a violation unless `condition` holds.
    fn check(&mut self, condition: bool, message: impl FnOnce() -> String) {
        if !condition {
            self.error(message());
        }
    }

    fn enter(&mut self, place: impl Into<String>, span: Span) {
        self.place = place.into();
        self.span = span;
    }
}
