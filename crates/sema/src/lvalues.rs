//! L-values: what may be written.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use syntax::ast::Direction;

impl Checker<'_> {
    /// Reports an error unless the expression is storage that may be written here.
    pub(crate) fn check_lvalue(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Poisoned => true,
            ExprKind::Var(id) => self.check_writable(*id, e),
            ExprKind::Field(base, _)
            | ExprKind::TupleIndex(base, _)
            | ExprKind::Index(base, _)
            | ExprKind::Slice(base, _, _)
            | ExprKind::IndexedSlice { base, .. }
            | ExprKind::StackNext(base) => self.check_lvalue(base),
            ExprKind::StackLast(_) => {
                let help = "the last element can only be read; write to it by its index: `stack[stack.lastIndex]`";
                self.report(d::not_an_lvalue(e.span).help(help));
                false
            }
            _ => {
                self.report(d::not_an_lvalue(e.span));
                false
            }
        }
    }

    fn check_writable(&mut self, id: VarId, e: &Expr) -> bool {
        let var = &self.hir.vars[id];
        let what = match &var.kind {
            VarKind::Variable | VarKind::Loop => return true,
            VarKind::Parameter { direction: Direction::Out | Direction::InOut, .. } => return true,
            VarKind::Constant => "a constant",
            VarKind::ConstructorParameter { .. } => "a parameter of a constructor",
            VarKind::Parameter { direction: Direction::In, .. } => "an `in` parameter",
            VarKind::Parameter { .. } => "a parameter without direction",
        };
        let diagnostic = d::read_only(e.span, &var.name, what, var.span);
        self.report(diagnostic);
        false
    }
}
