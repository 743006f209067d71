//! Warnings about code that is legal but surely wrong.
//!
//! What enters: the typed tree of a program without errors, and its text. What leaves: warnings, sorted by location. A
//! false positive is worse than a missed mistake, so each check only reports code that cannot be intended.
//! `docs/design/warnings.md` lists what is checked and what is not.
//!
//! * `uses` collects what the whole program uses; `unused` reports the rest.
//! * `linter` traverses the program once and calls `expressions`, `statements`, `choices` and `loops`.
//! * `v1model` reports assignments that the architecture ignores in ingress or egress.
//! * `flow` tracks values through each body: reads before assignments, and uses of invalid headers.
//! * `sink` collects the warnings, applies `@noWarn`, and sorts them.
//! * `diagnostics` has a file for each kind of warning.

mod choices;
mod coverage;
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

/// The beginning of the first file behind the text that options stand for, whose name is in angle brackets.
fn first_file(sources: &SourceMap) -> Span {
    let mut start = 1;
    while sources.location(start).is_some_and(|place| place.file.starts_with('<')) {
        // Files lie one after the other, with a byte between them.
        start += sources.text(Span::new(start, u32::MAX)).len() as u32 + 1;
    }
    Span::new(start, start)
}

/// Adds the warnings about a program without errors.
pub fn lint<'a>(program: &'a Program, sources: &'a SourceMap, diagnostics: &mut Diagnostics) {
    // The program's own file is the one with `main`, or otherwise the first one that its author wrote.
    let main = program.main.map_or_else(|| first_file(sources), |main| program.instances[main].span);
    let mut sink = Sink::new(sources, main, &program.warning_levels);
    linter::check(program, &mut sink);
    flow::check(program, &mut sink);
    sink.finish().into_iter().for_each(|warning| diagnostics.push(warning));
}
