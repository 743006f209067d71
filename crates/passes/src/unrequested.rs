//! Removes decisions about requests that the program does not make.
//!
//! Before:
//! ```text
//! if (v7 != 16w0x0) {
//!   punt 11
//! }
//! ```
//! After, where no statement of the program gives `v7` another value than zero:
//! ```text
//! if (16w0x0 != 16w0x0) {
//!   punt 11
//! }
//! ```
//! Lowering leaves out what the source does not request. Other passes remove statements that request something and are
//! never reached; then packets do not pay for the decision either. `simplify` and `dead_code` remove the rest.
//!
//! Limits: requests that are made by a certain value of a variable stay, since the architecture writes that variable,
//! too.

use crate::Pass;
use base::{Bits, OrderedSet};
use ir::architecture::RequestedBy;
use ir::walk::{self, Part};
use ir::{Expr, ExprKind, Program, VarId};

/// See the module.
pub const PASS: Pass =
    Pass { name: "unrequested", description: "removes decisions about requests that the program does not make", run };

fn run(program: &mut Program) {
    let unrequested = unrequested(program);
    for body in program.decisions.iter_mut() {
        walk::rewrite_body(body, &mut |part| {
            let Part::Expr(expr) = part else { return };
            if matches!(expr.kind, ExprKind::Var(var) if unrequested.contains(&var)) {
                *expr = Expr::constant(expr.ty, Bits::zero(expr.ty.width()));
            }
        });
    }
}

/// The variables of requests that are made by any value but zero, and never are.
fn unrequested(program: &Program) -> OrderedSet<VarId> {
    let is_unrequested = |slot: u32| {
        let requests = program.architecture.requests;
        let is_request = requests.iter().any(|request| request.slot == slot && request.by == RequestedBy::NonZero);
        is_request && !program.may_make(|request| request.slot == slot)
    };
    let vars = program.vars.iter_enumerated();
    vars.filter(|(_, var)| var.kind.slot().is_some_and(is_unrequested)).map(|(id, _)| id).collect()
}
