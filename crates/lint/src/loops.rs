//! Cycles of parser states in which nothing changes: a packet that completes such a cycle once repeats it forever.

use crate::diagnostics as d;
use crate::flow::targets;
use crate::linter::Linter;
use crate::sink::UNREACHABLE;
use crate::walk::{for_each_part, is_pure};
use sema::hir::*;

/// The progress of the search at a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Open,
    Done,
}

impl Linter<'_, '_> {
    pub(crate) fn check_parser_loops(&mut self, parser: &Parser) {
        let is_idle: Vec<bool> = parser.states.iter().map(|state| self.is_idle(state)).collect();
        let mut progress = vec![Progress::New; parser.states.len()];
        for start in 0..parser.states.len() {
            if progress[start] != Progress::New || !is_idle[start] {
                continue;
            }
            // Depth first with an explicit stack, because a parser may have thousands of consecutive states.
            let mut stack = vec![(start, next_states(&parser.states[start], &is_idle))];
            progress[start] = Progress::Open;
            while let Some((position, pending)) = stack.last_mut() {
                let position = *position;
                let Some(next) = pending.pop() else {
                    progress[position] = Progress::Done;
                    stack.pop();
                    continue;
                };
                match progress[next] {
                    Progress::New => {
                        progress[next] = Progress::Open;
                        stack.push((next, next_states(&parser.states[next], &is_idle)));
                    }
                    Progress::Open => {
                        let state = &parser.states[next];
                        let warning = d::endless_loop(state.span, &state.name);
                        self.sink.warn_about(UNREACHABLE, &state.annotations, warning);
                    }
                    Progress::Done => {}
                }
            }
        }
    }

    /// Whether a state neither extracts from the packet nor changes anything.
    fn is_idle(&self, state: &ParserState) -> bool {
        let is_idle = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Local(Local::Var(_, value)) => value.as_ref().is_none_or(is_pure),
            StmtKind::Local(_) => true,
            _ => false,
        };
        let keys_are_idle = match &state.transition {
            Transition::Direct(_) => true,
            Transition::Select { keys, .. } => keys.iter().all(|key| self.only_looks(key)),
        };
        state.body.iter().all(is_idle) && keys_are_idle
    }

    /// Whether an expression only reads variables and looks ahead in the packet.
    fn only_looks(&self, e: &Expr) -> bool {
        if let ExprKind::Call(call) = &e.kind
            && let Callee::Method(object, position) = &call.callee
            && let Type::Extern(id, _) = &object.ty
        {
            let owner = &self.program.externs[*id];
            return &*owner.name == "packet_in"
                && owner.methods.get(*position).is_some_and(|method| &*method.name == "lookahead");
        }
        let mut all = is_pure(e) || !matches!(e.kind, ExprKind::Call(_));
        for_each_part(e, &mut |part| all = all && self.only_looks(part));
        all
    }
}

/// The idle states among a state's successors.
fn next_states(state: &ParserState, is_idle: &[bool]) -> Vec<usize> {
    targets(&state.transition).into_iter().filter(|next| is_idle[*next]).collect()
}
