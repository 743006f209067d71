//! Checks of routines.

use super::Verifier;
use super::body::{Place, free_labels};
use crate::*;
use base::IndexVec;
use base::limits::LOWERED_NESTING_MAX;

impl Verifier<'_> {
    pub(super) fn routines(&mut self) {
        let program = self.program;
        let mut depths: IndexVec<RoutineId, u32> = IndexVec::new();
        for (id, routine) in program.routines.iter_enumerated() {
            self.enter(id.to_string(), routine.span);
            self.body(&routine.body, Place::Routine, &mut Vec::new());
            let mut depth = 1;
            walk::visit_body(&routine.body, &mut |stmt| {
                let StmtKind::Call(called) = stmt.kind else { return };
                self.span = stmt.span;
                let known = depths.get(called).copied();
                self.check(known.is_some(), || format!("{called} is called before it is complete"));
                depth = depth.max(known.unwrap_or(0) + 1);
            });
            self.span = routine.span;
            self.check(depth <= LOWERED_NESTING_MAX, || format!("{depth} routines call one another"));
            for label in free_labels(&routine.body) {
                self.error(format!("{label} is left from a routine that does not have it"));
            }
            depths.push(depth);
        }
    }
}
