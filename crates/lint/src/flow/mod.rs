//! Data-flow analysis of assignments and validity: it finds variables that are read before they are assigned, `out`
//! parameters without a value, and uses of invalid headers.
//!
//! What enters: the typed tree. What leaves: warnings. Each body (a control with its actions, a parser, a function) is
//! analysed once, statement by statement, with two bit sets ([`state`]) over the parts of its variables ([`layout`]).
//!
//! * The actions of a control come first. Each is analysed from the empty and from the full state, which gives its
//!   [`state::Effect`] and the variables of the control that it reads before it assigns them. A call or a table then
//!   costs one step.
//! * A parser's states have effects too. A fixpoint over the transitions gives the entry state of each parser state,
//!   and a final traversal reports warnings.
//! * An outermost loop is analysed twice; inside nested loops every variable may have a value. A loop whose first
//!   iteration is certain assigns what its body assigns.
//!
//! A read is reported only if no path to it assigns the variable ([`Fault::Unassigned`]), or if the read is always
//! executed and the assignment is not ([`Fault::PerhapsUnassigned`]). A conditional read may have the same condition as
//! the assignment.

mod body;
mod calls;
pub(crate) mod layout;
pub(crate) mod state;
mod units;

pub(crate) use units::targets;

use crate::sink::Sink;
use crate::values::Values;
use base::{OrderedMap, OrderedSet, Span};
use layout::Layout;
use sema::hir::*;
use state::{Assigned, Effect};

/// An error in the use of a variable's part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fault {
    /// It is unassigned on every path to this point.
    Unassigned,
    /// It is unassigned on some path to this point.
    PerhapsUnassigned,
    /// The header that contains the field is invalid on every path to this point.
    InvalidRead,
    /// The same, for an assignment.
    InvalidWrite,
    /// An invalid header is emitted.
    InvalidEmit,
}

/// A use in an action that is an error if the action is called while the leaf is unassigned.
#[derive(Clone, Debug)]
struct Exposure {
    fault: Fault,
    leaf: usize,
    var: VarId,
    span: Span,
    name: String,
}

/// The effect of an action on the variables of its control.
struct Summary {
    effect: Effect,
    exposures: Vec<Exposure>,
}

/// How a fault is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// It is ignored, because a later traversal reports it.
    Silent,
    /// It is recorded as an [`Exposure`].
    Expose,
    /// It is reported.
    Report,
}

/// The states at the `break`s and `continue`s of a loop.
#[derive(Default)]
struct LoopExits {
    breaks: Option<Assigned>,
    continues: Option<Assigned>,
}

/// The analysis of a body.
pub(crate) struct Flow<'s, 'a> {
    program: &'a Program,
    sink: &'s mut Sink<'a>,
    layout: Layout<'a>,
    /// The constants so far.
    values: Values<'a>,
    mode: Mode,
    /// The current state; `None` where code is unreachable.
    state: Option<Assigned>,
    /// The joined state at the `return`s so far.
    returns: Option<Assigned>,
    loops: Vec<LoopExits>,
    /// The number of the current branch; 0 is unconditional code.
    branch: u32,
    last_branch: u32,
    /// The branch in which each variable is declared.
    declared_in: OrderedMap<VarId, u32>,
    /// Whether reads that are only possibly unassigned are reported.
    reports_possible: bool,
    /// The summaries of the control's actions.
    summaries: OrderedMap<ActionId, Summary>,
    exposures: Vec<Exposure>,
    /// The faults that have been reported.
    reported: OrderedSet<(Fault, Span)>,
    /// The leaves that have been reported, each once.
    reported_leaves: OrderedSet<usize>,
}

/// Analyses all bodies of a program.
pub(crate) fn check<'a>(program: &'a Program, sink: &mut Sink<'a>) {
    Flow::new(program, sink).program();
}
