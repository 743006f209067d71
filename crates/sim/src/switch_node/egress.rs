//! Whether a program can tell where its packets wait for a line.
//!
//! What enters: a program. What leaves: whether packets are the same if egress works on them before they wait and not
//! afterwards. Then their queue can be that of the channel behind the switch, and the core takes a packet from the
//! parser to its end in one call, where its bytes lie.

use ir::walk::{self, Item};
use ir::{BlockKind, Expr, ExprKind, Program, StmtKind};

/// Whether what is behind the queues only rewrites headers: it reads nothing that the queues write, keeps no state,
/// requests nothing (not even a drop), and leaves packets as long as they are.
pub(crate) fn only_rewrites(program: &Program) -> bool {
    // Other architectures parse packets a second time behind their queues.
    if program.architecture.name != "v1model" || program.mentions_queues() {
        return false;
    }
    let Some(BlockKind::Control { body }) = program.architecture.egress().map(|egress| &program.blocks[egress].kind)
    else {
        return false;
    };
    let mut is_plain = true;
    walk::visit_body(body, &mut |statement| {
        is_plain &= match &statement.kind {
            StmtKind::Assign { dst, .. } => walk::slot_of(program, dst).is_none(),
            kind => matches!(
                kind,
                StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Block { .. } | StmtKind::Leave(_)
            ),
        };
        walk::visit_own(&statement.kind, &mut |item| {
            is_plain &= !matches!(item, Item::Expr(Expr { kind: ExprKind::PacketLength, .. }));
        });
    });
    is_plain
}
