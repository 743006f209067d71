//! Warnings: what is legal but surely wrong.
//!
//! What enters: the typed tree of a program without errors, and its text. What leaves: warnings, ordered by their
//! places. A false alarm is worse than silence, so that each check asks only for what nobody can have meant;
//! `docs/design/warnings.md` says what is looked for and what is not.
//!
//! * `uses` finds out what the whole program uses; `unused` names the rest.
//! * `linter` walks through the program once, and asks `expressions`, `statements`, `choices` and `loops` on its way.
//! * `v1model` knows what the architecture ignores in ingress and in egress.
//! * `flow` follows values through each body: what is read before it is assigned, and headers that are not valid.
//! * `sink` takes the warnings, heeds `@noWarn`, and puts them in order.
//! * `diagnostics` has a file for each kind of warning.

mod choices;
mod diagnostics;
mod expressions;
mod flow;
mod linter;
mod loops;
mod sink;
mod statements;
#[cfg(test)]
mod testing;
mod unused;
mod uses;
mod v1model;
mod values;
mod walk;

use base::Span;
use sema::hir::Program;
use sink::Sink;
use syntax::{Diagnostics, SourceMap};

/// Adds the warnings about a program without errors.
pub fn lint<'a>(program: &'a Program, sources: &'a SourceMap, diagnostics: &mut Diagnostics) {
    // The program's own file is the one with `main`, or else the one that was read first.
    let main = program.main.map_or(Span::new(1, 1), |main| program.instances[main].span);
    let mut sink = Sink::new(sources, main, &program.warning_levels);
    linter::check(program, &mut sink);
    flow::check(program, &mut sink);
    sink.finish().into_iter().for_each(|warning| diagnostics.push(warning));
}
