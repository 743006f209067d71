//! Puts the code of routines where they are called, if that makes a short program.
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
//! Lowering makes routines of callees that bring in much code, but cannot know what the other passes leave of it:
//! copies of arguments and what constants decide go away. So they are run on a copy of the program in which all calls
//! are replaced; if what is left is as short as programs are that native code may have in a second form
//! (`base::limits::SHORT_PROGRAM_STATEMENTS_MAX`), the program becomes that, and no program has that form only when its
//! calls are inlined by lowering.
//!
//! Limits: nothing is tried if more than 60,000 statements would stand for the calls.

use crate::{Pass, pipelines};
use base::IndexVec;
use base::index::Id as _;
use base::limits::SHORT_PROGRAM_STATEMENTS_MAX;
use ir::{Body, LabelId, Program, Routine, RoutineId, StmtKind, walk};
use std::collections::BTreeMap;

/// See the module.
pub const PASS: Pass =
    Pass { name: "inline", description: "puts routines where they are called if the program is short then", run };

/// Statements that may stand for calls while it is tried what becomes of them.
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

/// Replaces all calls of routines by what they call.
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
                rename_labels(&mut code, &mut BTreeMap::new(), labels);
                body.extend(code);
            }
            _ => body.push(stmt),
        }
    }
}

/// Gives the labels of a copy names of their own.
fn rename_labels(body: &mut Body, new: &mut BTreeMap<LabelId, LabelId>, labels: &mut u32) {
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } => {
                let fresh = LabelId::from_index(*labels as usize);
                *labels += 1;
                new.insert(*label, fresh);
                *label = fresh;
            }
            // A routine leaves only what is in it, and that stands around this statement.
            StmtKind::Leave(label) => *label = new.get(label).copied().unwrap_or(*label),
            _ => {}
        }
        stmt.kind.bodies_mut().into_iter().for_each(|inner| rename_labels(inner, new, labels));
    }
}
