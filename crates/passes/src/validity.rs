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
//! A field of a header that is known to be invalid becomes zero, and is not emitted. A header becomes known by a test,
//! by being extracted, made valid or invalid, or copied from one that is known; local headers are invalid where a block
//! starts.
//!
//! Limits: elements of stacks are followed only where they are named directly, and pushing or popping forgets the
//! stack.

use crate::Pass;
use crate::effects::Writes;
use crate::flow::{self, Domain};
use base::Bits;
use ir::walk::Part;
use ir::{BinaryOp, Expr, ExprKind, HeaderId, HeaderRef, Program, StmtKind, UnaryOp};
use std::collections::BTreeMap;

/// See the module.
pub const PASS: Pass = Pass { name: "validity", description: "decides tests of headers whose validity is known", run };

fn run(program: &mut Program) {
    let locals = program.headers.iter_enumerated().filter(|(_, header)| !header.metadata).map(|(id, _)| id).collect();
    flow::walk_program(program, &Validity { locals });
}

struct Validity {
    locals: Vec<HeaderId>,
}

impl Domain for Validity {
    type State = BTreeMap<HeaderId, bool>;

    fn start(&self) -> Self::State {
        self.locals.iter().map(|header| (*header, false)).collect()
    }

    fn nothing(&self) -> Self::State {
        BTreeMap::new()
    }

    fn meet(&self, state: &mut Self::State, other: &Self::State) {
        state.retain(|header, valid| other.get(header) == Some(valid));
    }

    fn forget(&self, state: &mut Self::State, writes: &Writes) {
        state.retain(|header, _| !writes.validity.contains(header));
    }

    fn rewrite(&self, state: &Self::State, part: Part<'_>) {
        let Part::Expr(expr) = part else { return };
        match &expr.kind {
            ExprKind::IsValid(HeaderRef::Fixed(header)) => {
                if let Some(valid) = state.get(header) {
                    *expr = Expr::bool(*valid);
                }
            }
            ExprKind::Field(HeaderRef::Fixed(header), _) if state.get(header) == Some(&false) => {
                *expr = Expr::constant(expr.ty, Bits::zero(expr.ty.width()));
            }
            _ => {}
        }
    }

    fn is_idle(&self, state: &Self::State, stmt: &StmtKind) -> bool {
        match stmt {
            StmtKind::SetValid(HeaderRef::Fixed(header)) => state.get(header) == Some(&true),
            StmtKind::SetInvalid(HeaderRef::Fixed(header)) | StmtKind::Emit(HeaderRef::Fixed(header)) => {
                state.get(header) == Some(&false)
            }
            _ => false,
        }
    }

    fn rewrite_stmt(&self, state: &Self::State, stmt: &mut StmtKind) {
        let StmtKind::Hash { inputs, .. } = stmt else { return };
        inputs.retain_mut(|input| {
            let Some(HeaderRef::Fixed(guard)) = input.guard else { return true };
            match state.get(&guard) {
                Some(true) => input.guard = None,
                Some(false) => return false,
                None => {}
            }
            true
        });
    }

    fn learn(&self, state: &mut Self::State, stmt: &StmtKind) {
        match stmt {
            StmtKind::SetValid(HeaderRef::Fixed(header)) => _ = state.insert(*header, true),
            StmtKind::SetInvalid(HeaderRef::Fixed(header)) => _ = state.insert(*header, false),
            // Parsing goes on after an extraction only if it succeeds.
            StmtKind::Extract { dst: HeaderRef::Fixed(header), .. } => _ = state.insert(*header, true),
            StmtKind::CopyHeader { dst: HeaderRef::Fixed(dst), src: HeaderRef::Fixed(src) } => {
                if let Some(valid) = state.get(src).copied() {
                    state.insert(*dst, valid);
                }
            }
            _ => {}
        }
    }

    fn assume(&self, state: &mut Self::State, cond: &Expr, value: bool) {
        match &cond.kind {
            ExprKind::IsValid(HeaderRef::Fixed(header)) => _ = state.insert(*header, value),
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
