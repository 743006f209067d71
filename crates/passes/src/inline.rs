//! Inlines routines, if that makes a short program.
//!
//! Before:
//! ```text
//! v6 = 8w0x1
//! call routine0
//! ```
//! After (`routine0` is one that adds `v6` to `v2` where `v6` is below 100):
//! ```text
//! v6 = 8w0x1
//! if (v6 < 8w0x64) {
//!   v2 = (v2 + v6)
//! }
//! ```
//! Lowering makes routines of callees with much code, but cannot know how much of it the other passes remove: copies of
//! arguments, and branches that constants decide. So these passes run on a copy of the program in which all calls are
//! inlined. If the result is short enough for a fast path (`base::limits::SHORT_PROGRAM_STATEMENTS_MAX`), it replaces
//! the program. So whether a program has a fast path does not depend on which calls lowering inlines.
//!
//! Limits: nothing is tried if inlining would make more than 60,000 statements.

use crate::{Pass, pipelines};
use base::index::Id as _;
use base::limits::SHORT_PROGRAM_STATEMENTS_MAX;
use base::{IndexVec, OrderedMap};
use ir::{Body, LabelId, Program, Routine, RoutineId, StmtKind, walk};

/// See the module.
pub const PASS: Pass =
    Pass { name: "inline", description: "puts routines where they are called if the program is short then", run };

/// The most statements that the trial may inline.
const STATEMENTS_MAX: usize = 60_000;

fn run(program: &mut Program) {
    if program.routines.is_empty() || statements_inlined(program) > STATEMENTS_MAX {
        return;
    }
    let mut inlined = program.clone();
    inline_all(&mut inlined);
    pipelines::STANDARD.iter().filter(|pass| pass.name != PASS.name).for_each(|pass| (pass.run)(&mut inlined));
    if walk::statement_count(&inlined) <= SHORT_PROGRAM_STATEMENTS_MAX {
        *program = inlined;
    }
}

/// How many statements a program has when all calls are replaced.
fn statements_inlined(program: &Program) -> usize {
    let mut of_routines: IndexVec<RoutineId, usize> = IndexVec::new();
    // A routine calls only those before it.
    for routine in &program.routines {
        let count = statements_of(&routine.body, &of_routines);
        of_routines.push(count);
    }
    let others = walk::bodies(program).into_iter().map(|body| statements_of(body, &of_routines));
    others.fold(0, usize::saturating_add)
}

fn statements_of(body: &Body, of_routines: &IndexVec<RoutineId, usize>) -> usize {
    let mut count = 0_usize;
    walk::visit_body(body, &mut |stmt| {
        let more = match stmt.kind {
            StmtKind::Call(routine) => of_routines[routine],
            _ => 1,
        };
        count = count.saturating_add(more);
    });
    count
}

/// Inlines all calls of routines.
pub fn inline_all(program: &mut Program) {
    let mut routines = std::mem::take(&mut program.routines);
    let mut labels = program.labels;
    for id in routines.ids() {
        let mut body = std::mem::take(&mut routines[id].body);
        expand(&routines, &mut labels, &mut body);
        routines[id].body = body;
    }
    walk::bodies_mut(program).into_iter().for_each(|body| expand(&routines, &mut labels, body));
    program.labels = labels;
}

fn expand(routines: &IndexVec<RoutineId, Routine>, labels: &mut u32, body: &mut Body) {
    for mut stmt in std::mem::take(body) {
        stmt.kind.bodies_mut().into_iter().for_each(|inner| expand(routines, labels, inner));
        match stmt.kind {
            StmtKind::Call(routine) => {
                let mut code = routines[routine].body.clone();
                rename_labels(&mut code, &mut OrderedMap::new(), labels);
                body.extend(code);
            }
            _ => body.push(stmt),
        }
    }
}

/// Renames the labels of a copy.
fn rename_labels(body: &mut Body, new: &mut OrderedMap<LabelId, LabelId>, labels: &mut u32) {
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } => {
                let fresh = LabelId::from_index(*labels as usize);
                *labels += 1;
                new.insert(*label, fresh);
                *label = fresh;
            }
            // A routine leaves only its own labels, whose statements enclose this one.
            StmtKind::Leave(label) => *label = new.get(label).copied().unwrap_or(*label),
            _ => {}
        }
        stmt.kind.bodies_mut().into_iter().for_each(|inner| rename_labels(inner, new, labels));
    }
}
