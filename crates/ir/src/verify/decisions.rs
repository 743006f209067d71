//! Checks of what the architecture decides between blocks.

use super::Verifier;
use super::body::Place;
use crate::architecture::Point;
use crate::walk::{Item, visit_own};
use crate::*;
use base::Span;

/// How a body can be left.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ways {
    /// Whether a packet can reach its end.
    reach_end: bool,
    /// Whether a variable may have been assigned there.
    assign: bool,
}

impl<'p> Verifier<'p> {
    pub(super) fn decisions(&mut self) {
        let program = self.program;
        let points = program.architecture.points;
        self.enter("program", Span::NONE);
        let count = program.decisions.len();
        let (name, expected) = (program.architecture.name, points.len());
        self.check(count == 0 || count == expected, || {
            format!("decisions at {count} points, {name} has {expected} points")
        });
        for ((id, body), point) in program.decisions.iter_enumerated().zip(points) {
            self.enter(id.to_string(), Span::NONE);
            self.body(body, Place::Decisions, &mut Vec::new());
            let before = Ways { reach_end: true, assign: false };
            let ways = self.decided(body, point, before);
            self.check(!(point.ends && ways.reach_end), || "decisions that do not end".into());
        }
    }

    /// Checks the statements of a body that packets reach in one of these ways, and returns how they leave it.
    fn decided(&mut self, body: &'p [Stmt], point: &Point, before: Ways) -> Ways {
        let mut ways = before;
        for stmt in body {
            self.span = stmt.span;
            self.check(ways.reach_end, || "a statement behind the end of decisions".into());
            self.of_variables(&stmt.kind);
            match &stmt.kind {
                StmtKind::Assign { .. } => ways.assign = true,
                StmtKind::If { then_body, else_body, .. } => {
                    let arms = [then_body, else_body].map(|arm| self.decided(arm, point, ways));
                    ways = Ways {
                        reach_end: arms.iter().any(|arm| arm.reach_end),
                        assign: arms.iter().any(|arm| arm.reach_end && arm.assign),
                    };
                }
                end if end.is_decision() => {
                    self.end(end, point, ways);
                    ways.reach_end = false;
                }
                _ => self.error("a statement that is not part of decisions"),
            }
        }
        ways
    }

    /// Checks a statement that ends decisions.
    fn end(&mut self, end: &StmtKind, point: &Point, ways: Ways) {
        let fits = match end {
            StmtKind::Send { .. } | StmtKind::Drop(DropReason::Egress) => point.is_behind_queues,
            StmtKind::Enqueue { .. } | StmtKind::Drop(DropReason::Ingress) => !point.is_behind_queues,
            _ => true,
        };
        self.check(fits, || "an end of decisions on the other side of the queues".into());
        if let StmtKind::Punt(slot) = end {
            let is_known = self.program.architecture.requests.iter().any(|request| request.slot == *slot);
            self.check(is_known, || format!("the architecture has no request {slot}"));
            self.check(!ways.assign, || "a request behind an assignment".into());
        }
    }

    /// Checks the numbers of a statement that ends decisions.
    pub(super) fn numbers_of(&mut self, end: &StmtKind) {
        match end {
            StmtKind::Send { port, limit } => {
                self.expr_unsigned(port, true, "the port");
                limit.iter().for_each(|limit| self.expr_unsigned(limit, true, "the limit"));
            }
            StmtKind::Enqueue { port, priority, keeps } => {
                self.expr_unsigned(port, true, "the port");
                self.expr_unsigned(priority, true, "the priority");
                keeps.iter().for_each(|list| _ = self.exists(&self.program.field_lists, *list));
            }
            _ => {}
        }
    }

    /// Decisions are about variables that outlive a block.
    fn of_variables(&mut self, stmt: &'p StmtKind) {
        let program = self.program;
        visit_own(stmt, &mut |item| match item {
            Item::Var(var) => {
                let local = program.vars.get(var).is_some_and(|var| var.kind == VarKind::Local);
                self.check(!local, || format!("the local {var} in decisions"));
            }
            Item::Header(_) | Item::Field(..) => self.error("a header in decisions"),
            Item::Table(_) | Item::Expr(_) | Item::Place(_) => {}
        });
    }
}
