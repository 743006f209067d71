//! Decides tests of headers whose validity is known.
//!
//! Before:
//! ```text
//! if valid(h1) {
//!   if valid(h1) {
//!     set_valid h1
//!     set_invalid h2
//!   }
//!   hash v0 = csum16(h1.2 if h1, h2.0 if h2)
//! }
//! ```
//! After:
//! ```text
//! if valid(h1) {
//!   if true {
//!     set_invalid h2
//!   }
//!   hash v0 = csum16(h1.2)
//! }
//! ```
//! Programs test a header in each control that uses it, and again around each statement once those are inlined; every
//! input of a checksum carries a test. `dead-code` removes the branches that are decided.
//!
//! A field of a header that is known to be invalid becomes zero, and is not emitted. The validity of a header becomes
//! known by a test, by extraction, by being made valid or invalid, or by a copy from a header of known validity; local
//! headers are invalid where a block starts.
//!
//! Limits: elements of stacks are followed only where they are named directly, and pushing or popping forgets the
//! stack.

use crate::Pass;
use crate::effects::Writes;
use crate::flow::{self, Domain};
use crate::shared_map::SharedMap;
use base::Bits;
use base::index::Id as _;
use ir::walk::Part;
use ir::{BinaryOp, Expr, ExprKind, HeaderRef, Program, StmtKind, UnaryOp};

/// See the module.
pub const PASS: Pass = Pass { name: "validity", description: "decides tests of headers whose validity is known", run };

fn run(program: &mut Program) {
    let mut start = SharedMap::new(program.headers.len());
    for (id, _) in program.headers.iter_enumerated().filter(|(_, header)| !header.metadata) {
        start.set(id.index(), Some(false));
    }
    let domain = Validity { nothing: SharedMap::new(program.headers.len()), start };
    flow::walk_program(program, &domain);
}

/// The known validity of headers, by their index.
struct Validity {
    nothing: SharedMap<bool>,
    start: SharedMap<bool>,
}

impl Domain for Validity {
    type State = SharedMap<bool>;

    fn start(&self) -> Self::State {
        self.start.clone()
    }

    fn nothing(&self) -> Self::State {
        self.nothing.clone()
    }

    fn meet(&self, state: &mut Self::State, other: &Self::State) {
        state.meet(other, &mut |_, here, there| here.filter(|_| here == there).copied());
    }

    fn forget(&self, state: &mut Self::State, writes: &Writes) {
        writes.validity.iter().for_each(|header| state.set(header.index(), None));
    }

    fn rewrite(&self, state: &Self::State, part: Part<'_>) {
        let Part::Expr(expr) = part else { return };
        match &expr.kind {
            ExprKind::IsValid(HeaderRef::Fixed(header)) => {
                if let Some(valid) = state.get(header.index()) {
                    *expr = Expr::bool(*valid);
                }
            }
            ExprKind::Field(HeaderRef::Fixed(header), _) if state.get(header.index()) == Some(&false) => {
                *expr = Expr::constant(expr.ty, Bits::zero(expr.ty.width()));
            }
            _ => {}
        }
    }

    fn is_idle(&self, state: &Self::State, stmt: &StmtKind) -> bool {
        match stmt {
            StmtKind::SetValid(HeaderRef::Fixed(header)) => state.get(header.index()) == Some(&true),
            StmtKind::SetInvalid(HeaderRef::Fixed(header)) | StmtKind::Emit(HeaderRef::Fixed(header)) => {
                state.get(header.index()) == Some(&false)
            }
            _ => false,
        }
    }

    fn rewrite_stmt(&self, state: &Self::State, stmt: &mut StmtKind) {
        let StmtKind::Hash { inputs, .. } = stmt else { return };
        inputs.retain_mut(|input| {
            let Some(HeaderRef::Fixed(guard)) = input.guard else { return true };
            match state.get(guard.index()) {
                Some(true) => input.guard = None,
                Some(false) => return false,
                None => {}
            }
            true
        });
    }

    fn learn(&self, state: &mut Self::State, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(HeaderRef::Fixed(header)) => state.set(header.index(), Some(true)),
            StmtKind::SetInvalid(HeaderRef::Fixed(header)) => state.set(header.index(), Some(false)),
            // Parsing continues after an extraction only if it succeeds.
            StmtKind::Extract { dst: HeaderRef::Fixed(header), .. } => state.set(header.index(), Some(true)),
            StmtKind::CopyHeader { dst: HeaderRef::Fixed(dst), src: HeaderRef::Fixed(src) } => {
                if let Some(valid) = state.get(src.index()).copied() {
                    state.set(dst.index(), Some(valid));
                }
            }
            _ => {}
        }
    }

    fn assume(&self, state: &mut Self::State, cond: &Expr, value: bool) {
        match &cond.kind {
            ExprKind::IsValid(HeaderRef::Fixed(header)) => state.set(header.index(), Some(value)),
            ExprKind::Unary(UnaryOp::Not, operand) => self.assume(state, operand, !value),
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) if value => {
                self.assume(state, left, true);
                self.assume(state, right, true);
            }
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) if !value => {
                self.assume(state, left, false);
                self.assume(state, right, false);
            }
            _ => {}
        }
    }
}
