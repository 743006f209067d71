//! What has a value where: variables that are read before they are assigned, `out` parameters that are not, and headers
//! that are used while they are invalid.
//!
//! What enters: the typed tree. What leaves: warnings. Each body (a control with its actions, a parser, a function) is
//! followed once, statement by statement, with two sets of bits ([`state`]) over the parts of its variables
//! ([`layout`]).
//!
//! * An action of a control is followed first, from the empty and from the full state; that gives its
//!   [`state::Effect`] and the variables of the control that it reads first. A call or a table then costs one step, not
//!   one walk.
//! * A parser's states have effects too; a fixpoint over the transitions gives the state in which each is entered, and
//!   a last walk warns.
//! * An outermost loop is followed twice; in loops inside it everything may have a value.
//!
//! A read is only worth a warning if no way to it assigns the variable ([`Fault::Unassigned`]), or if the read is
//! always executed and the assignment is not ([`Fault::PerhapsUnassigned`]): a read under a condition may well be under
//! the same condition as the assignment.

mod body;
mod calls;
pub(crate) mod layout;
pub(crate) mod state;
mod units;

pub(crate) use units::targets;

use crate::sink::Sink;
use base::Span;
use layout::Layout;
use sema::hir::*;
use state::{Effect, State};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with a use of a variable's part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fault {
    /// It has no value on any way here.
    Unassigned,
    /// It has no value on some way here.
    PerhapsUnassigned,
    /// The header of which it is a field is not valid on any way here.
    InvalidRead,
    /// The same, for an assignment.
    InvalidWrite,
    /// An invalid header is emitted.
    InvalidEmit,
}

/// A use in an action that is wrong if the action is called where the leaf has no value.
#[derive(Clone, Debug)]
struct Exposure {
    fault: Fault,
    leaf: usize,
    var: VarId,
    span: Span,
    name: String,
}

/// What calling an action of the control does to the control's variables.
struct Summary {
    effect: Effect,
    exposures: Vec<Exposure>,
}

/// What is done with a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Nothing: another walk will come here.
    Silent,
    /// It is remembered as an [`Exposure`].
    Expose,
    /// It is warned of.
    Report,
}

/// Where the ways out of a loop's body go.
#[derive(Default)]
struct LoopExits {
    breaks: Option<State>,
    continues: Option<State>,
}

/// A body that is being followed.
pub(crate) struct Flow<'s, 'a> {
    program: &'a Program,
    sink: &'s mut Sink<'a>,
    layout: Layout<'a>,
    mode: Mode,
    /// What is known here; `None` where nothing comes.
    state: Option<State>,
    /// What is known at the `return`s so far.
    returns: Option<State>,
    loops: Vec<LoopExits>,
    /// The number of the branch that is being followed; 0 is what is always executed.
    branch: u32,
    last_branch: u32,
    /// In which branch each variable is declared.
    declared_in: BTreeMap<VarId, u32>,
    /// Whether reads that only may be wrong are worth a warning.
    follows_doubt: bool,
    /// The actions of the control.
    summaries: BTreeMap<ActionId, Summary>,
    exposures: Vec<Exposure>,
    /// The places that have been warned of.
    reported: BTreeSet<(Fault, Span)>,
    /// The leaves that have been warned of, each once.
    reported_leaves: BTreeSet<usize>,
}

/// Follows all bodies of a program.
pub(crate) fn check<'a>(program: &'a Program, sink: &mut Sink<'a>) {
    Flow::new(program, sink).program();
}
