//! What a program can observe of its switch: where the queues are, and when it works on packets.
//!
//! What enters: a program. What leaves:
//! * whether packets are the same if egress works on them before the queue and not behind it. Then their queue can be
//!   that of the channel behind the switch, and the core takes a packet from the parser to its end in one call, where
//!   its bytes lie.
//! * whether packets are the same if the core works on one with the next one. Then it takes several in a call.

use ir::walk::{self, Item};
use ir::{BlockKind, BlockRole, Expr, ExprKind, Program, StmtKind};

/// Whether what is behind the queues only rewrites headers: it reads nothing that the queues write, has no state,
/// requests nothing (not even a drop), and leaves packets as long as they are.
pub(crate) fn only_rewrites(program: &Program) -> bool {
    let mut behind = program.architecture.blocks.iter().filter(|it| it.is_behind_queues);
    let parses_again = behind.any(|it| it.role == BlockRole::Parser);
    if parses_again || program.mentions_queues() {
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

/// Whether nothing that happens to a packet depends on the time at which the core works on it, other than on the time
/// of its reception, and each packet leaves once at most, in the order in which packets came.
pub(crate) fn knows_no_time(program: &Program) -> bool {
    let has_meters = !program.meters.is_empty() || !program.direct_meters.is_empty();
    // What plug-ins do is not known.
    let has_plug_ins = !program.extern_functions.is_empty() || !program.extern_instances.is_empty();
    let makes_others = || program.may_make(|request| !request.effects.is_empty());
    !has_meters && !has_plug_ins && program.digests.is_empty() && !makes_others()
}
