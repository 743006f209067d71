//! Decisions of the architecture between blocks.

use crate::eval::{eval, eval_bool, write_place};
use crate::state::PacketState;
use ir::{DropReason, Expr, FieldListId, Program, Stmt, StmtKind};

/// What was decided about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It continues.
    GoesOn,
    /// It leaves.
    Send {
        /// On this port.
        port: u64,
        /// With this many bytes at most.
        bytes_max: Option<u64>,
    },
    /// It enters a queue.
    Enqueue {
        /// Of this port.
        port: u64,
        /// With this priority.
        priority: u64,
        /// With only the metadata of this list.
        keeps: Option<FieldListId>,
    },
    /// It ends.
    Drop(DropReason),
    /// The core carries out the request in this slot.
    Punt(u32),
}

/// Makes the decisions of a body.
pub(crate) fn decide(program: &Program, state: &mut PacketState, body: &[Stmt]) -> Decision {
    let number = |state: &PacketState, expr: &Expr| eval(program, state, expr).low_u64();
    for stmt in body {
        let decision = match &stmt.kind {
            StmtKind::Assign { dst, src } => {
                let value = eval(program, state, src);
                write_place(program, state, dst, &value);
                Decision::GoesOn
            }
            StmtKind::If { cond, then_body, else_body } => {
                let taken = if eval_bool(program, state, cond) { then_body } else { else_body };
                decide(program, state, taken)
            }
            StmtKind::Send { port, limit } => Decision::Send {
                port: number(state, port),
                bytes_max: limit.as_ref().and_then(|limit| number(state, limit).checked_sub(1)),
            },
            StmtKind::Enqueue { port, priority, keeps } => {
                let (port, priority) = (number(state, port), number(state, priority));
                Decision::Enqueue { port, priority, keeps: *keeps }
            }
            StmtKind::Drop(reason) => Decision::Drop(*reason),
            StmtKind::Punt(slot) => Decision::Punt(*slot),
            _ => unreachable!("decisions consist of assignments, conditions and ends"),
        };
        if decision != Decision::GoesOn {
            return decision;
        }
    }
    Decision::GoesOn
}
