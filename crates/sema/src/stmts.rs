//! Statements.

use crate::calls::WrittenCall;
use crate::checker::{Checker, PlaceKind, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::types::Omitted;
use crate::walk;
use base::Span;
use syntax::ast;

impl Checker<'_> {
    /// `{ ... }` in a new scope.
    pub(crate) fn block(&mut self, written: &ast::Block) -> Block {
        self.check_annotations(&written.annotations);
        let stmts = self.with_scope(|checker| checker.statements(&written.statements));
        Block { stmts, annotations: self.known_annotations(&written.annotations), span: written.span }
    }

    /// Statements in the current scope.
    pub(crate) fn statements(&mut self, written: &[ast::Statement]) -> Vec<Stmt> {
        written.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    /// A statement as a block: the branch of an `if`, the body of a loop.
    fn body(&mut self, written: &ast::Statement) -> Block {
        let outer = std::mem::replace(&mut self.context.in_branch, true);
        let body = match &written.kind {
            ast::StatementKind::Block(block) => self.block(block),
            // It contains no declarations itself, and a scope for each of many `else if` would make lookups slow.
            ast::StatementKind::If { .. } => {
                let stmts = self.statement(written).into_iter().collect();
                Block { stmts, annotations: Vec::new(), span: written.span }
            }
            _ => {
                let stmts = self.with_scope(|checker| checker.statements(std::slice::from_ref(written)));
                Block { stmts, annotations: Vec::new(), span: written.span }
            }
        };
        self.context.in_branch = outer;
        body
    }

    /// A statement; `None` for one that does nothing or had an error.
    fn statement(&mut self, written: &ast::Statement) -> Option<Stmt> {
        let span = written.span;
        let kind = match &written.kind {
            ast::StatementKind::Empty => return None,
            ast::StatementKind::Block(block) => StmtKind::Block(self.block(block)),
            ast::StatementKind::Declaration(declaration) => StmtKind::Local(self.local_declaration(declaration)?),
            ast::StatementKind::Assignment { target, operator, value } => {
                self.assignment(target, *operator, value, span)?
            }
            ast::StatementKind::Call(call) => self.call_statement(call)?,
            ast::StatementKind::DirectApplication { type_ref, arguments } => {
                self.direct_application(type_ref, arguments, span)?
            }
            ast::StatementKind::If { condition, then_branch, else_branch } => {
                let condition = self.condition(condition);
                let then_body = self.body(then_branch);
                let else_body = else_branch.as_ref().map(|branch| self.body(branch)).unwrap_or_default();
                StmtKind::If { condition, then_body, else_body }
            }
            ast::StatementKind::Switch { subject, cases } => self.switch(subject, cases, span)?,
            ast::StatementKind::For(_) | ast::StatementKind::ForIn(_)
                if self.context.kind == PlaceKind::ParserState && !self.context.in_branch =>
            {
                self.report(d::loop_in_state(span));
                return None;
            }
            ast::StatementKind::For(written) => self.for_loop(written),
            ast::StatementKind::ForIn(written) => self.for_in_loop(written),
            ast::StatementKind::Break => self.loop_exit(StmtKind::Break, "break", span)?,
            ast::StatementKind::Continue => self.loop_exit(StmtKind::Continue, "continue", span)?,
            ast::StatementKind::Return(value) => self.return_statement(value.as_ref(), span)?,
            ast::StatementKind::Exit => {
                if !matches!(self.context.kind, PlaceKind::ControlBody | PlaceKind::Action) {
                    self.report(d::statement_not_allowed_here(span, "exit", self.context.kind.name()));
                    return None;
                }
                StmtKind::Exit
            }
        };
        Some(Stmt { kind, span })
    }

    /// A declaration among statements.
    fn local_declaration(&mut self, declaration: &ast::Declaration) -> Option<Local> {
        self.check_annotations(&declaration.annotations);
        let local = match &declaration.kind {
            ast::DeclarationKind::Constant(constant) => self.constant(constant, &declaration.annotations),
            ast::DeclarationKind::Variable(variable) => self.variable_declaration(variable, &declaration.annotations),
            ast::DeclarationKind::Instantiation(instantiation) => {
                self.instantiation(instantiation, &declaration.annotations, declaration.span).map(Local::Instance)
            }
            _ => {
                self.report(d::declaration_not_allowed_here(declaration.span, self.context.kind.name()));
                None
            }
        };
        self.note_deprecated(declaration);
        local
    }

    fn assignment(
        &mut self,
        target: &ast::Expr,
        operator: Option<ast::BinaryOperator>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let mut target = self.expr(target, None);
        let is_lvalue = self.check_lvalue(&target);
        let Some(operator) = operator else {
            let value = self.value(value, &target.ty);
            return is_lvalue.then_some(StmtKind::Assign { target, value });
        };
        let mut kept = Vec::new();
        if walk::has_call(&target) {
            self.hoist_indices(&mut target, &mut kept);
        }
        let value = self.operand(value, Some(&target.ty));
        let whole = match operator {
            ast::BinaryOperator::And | ast::BinaryOperator::Or => {
                let (left, right) = (self.coerce(target.clone(), &Type::Bool), self.coerce(value, &Type::Bool));
                expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), Type::Bool, span)
            }
            _ => self.binary_checked(operator, target.clone(), value, span),
        };
        let value = self.coerce(whole, &target.ty);
        let assignment = is_lvalue.then_some(StmtKind::Assign { target, value })?;
        if kept.is_empty() {
            return Some(assignment);
        }
        kept.push(Stmt { kind: assignment, span });
        Some(StmtKind::Block(Block { stmts: kept, annotations: Vec::new(), span }))
    }

    /// Moves the indices of an l-value to variables, so that they are evaluated once although the l-value occurs twice.
    fn hoist_indices(&mut self, place: &mut Expr, kept: &mut Vec<Stmt>) {
        let index = match &mut place.kind {
            ExprKind::Field(base, _)
            | ExprKind::TupleIndex(base, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::Slice(base, ..)
            | ExprKind::Cast(base) => return self.hoist_indices(base, kept),
            ExprKind::Index(base, index) | ExprKind::IndexedSlice { base, low: index, .. } => {
                self.hoist_indices(base, kept);
                index
            }
            _ => return,
        };
        if index.ty == Type::Integer {
            return;
        }
        let (ty, span) = (index.ty.clone(), index.span);
        let name = ast::Ident { name: "index".into(), span };
        let var = self.new_var(&name, ty.clone(), VarKind::Variable, &[]);
        let value = std::mem::replace(&mut **index, expr(ExprKind::Var(var), ty, span));
        kept.push(Stmt { kind: StmtKind::Local(Local::Var(var, Some(value))), span });
    }

    fn call_statement(&mut self, call: &ast::Expr) -> Option<StmtKind> {
        let call = self.expr(call, None);
        match call.kind {
            ExprKind::Call(_) => Some(StmtKind::Call(call)),
            // Evaluated at compile time (`static_assert`), or an error.
            _ => None,
        }
    }

    /// `T.apply(...);`
    fn direct_application(
        &mut self,
        type_ref: &ast::Type,
        arguments: &[ast::Argument],
        span: Span,
    ) -> Option<StmtKind> {
        let construction = WrittenCall { type_arguments: &[], arguments: &[], span: type_ref.span };
        let hint = self.applied_type(type_ref, WrittenCall { type_arguments: &[], arguments, span });
        let instance = self.with_construct(true, |checker| checker.construct(type_ref, construction, hint.as_ref()));
        if instance.ty == Type::Unknown {
            self.check_arguments_alone(arguments);
            return None;
        }
        self.check_applied_once(&instance.ty, type_ref.span);
        let apply = ast::Ident { name: "apply".into(), span: type_ref.span };
        let call = self.apply_block(instance, &apply, WrittenCall { type_arguments: &[], arguments, span });
        (call.ty != Type::Unknown).then_some(StmtKind::Call(call))
    }

    /// The applied type, if its type arguments are omitted: inferred from the arguments.
    fn applied_type(&mut self, type_ref: &ast::Type, call: WrittenCall) -> Option<Type> {
        let ast::TypeKind::Named(path) = &type_ref.kind else { return None };
        let entity = self.scopes.lookup_path(path).first()?.entity.clone();
        let type_params = match entity {
            Entity::Parser(id) => self.hir.parsers[id].type_params.len(),
            Entity::Control(id) => self.hir.controls[id].type_params.len(),
            _ => 0,
        };
        if type_params == 0 {
            return None;
        }
        let ty = self.resolve_type_with(type_ref, Omitted::Infer);
        let signature = self.apply_signature(&ty);
        self.bind_arguments(&signature, call.type_arguments, call.arguments, call.span)?;
        Some(self.resolve(&ty))
    }

    fn for_loop(&mut self, written: &ast::ForLoop) -> StmtKind {
        self.with_scope(|checker| {
            let init = checker.statements(&written.init);
            let condition = checker.condition(&written.condition);
            let update = checker.statements(&written.update);
            let body = checker.loop_body(&written.body);
            StmtKind::For { init, condition, update, body }
        })
    }

    fn loop_body(&mut self, written: &ast::Statement) -> Block {
        self.context.loop_depth += 1;
        let body = self.body(written);
        self.context.loop_depth -= 1;
        body
    }

    fn for_in_loop(&mut self, written: &ast::ForInLoop) -> StmtKind {
        let ty = self.resolve_type(&written.type_ref);
        self.check_variable_type(&ty, written.type_ref.span, "a loop's variable");
        let collection = self.collection(&written.collection, &ty);
        self.with_scope(|checker| {
            let var = checker.new_var(&written.name, ty, VarKind::Loop, &[]);
            checker.declare(&written.name, Entity::Var(var));
            let body = checker.loop_body(&written.body);
            StmtKind::ForIn { var, collection, body }
        })
    }

    /// The collection of a loop.
    fn collection(&mut self, written: &ast::Expr, element: &Type) -> Collection {
        if let ast::ExprKind::Range { low, high } = &written.kind {
            if !matches!(self.hir.underlying(element), Type::Bit(_) | Type::Int(_) | Type::Unknown) {
                let shown = self.hir.show_type(element);
                self.report(d::mismatched_types(written.span, &shown, "a range of numbers"));
                return Collection::Items(poisoned(written.span));
            }
            let (low, high) = (self.value(low, element), self.value(high, element));
            self.check_range_order(&low, &high, written.span);
            return Collection::Range(low, high);
        }
        if let ast::ExprKind::List(elements) = &written.kind {
            let hint = Type::List(Box::new(element.clone()));
            let items: Vec<Option<Expr>> =
                elements.iter().map(|element_expr| Some(self.value(element_expr, element))).collect();
            return Collection::Items(expr(ExprKind::Aggregate(items), hint, written.span));
        }
        let items = self.expr(written, None);
        match &items.ty {
            Type::Array(found, _) | Type::List(found) => {
                if **found != *element && **found != Type::Unknown && *element != Type::Unknown {
                    let (expected, found) = (self.hir.show_type(element), self.hir.show_type(found));
                    self.report(d::mismatched_types(written.span, &expected, &found));
                }
            }
            Type::Unknown => {}
            other => {
                let shown = self.hir.show_type(other);
                self.report(d::not_iterable(written.span, &shown));
            }
        }
        Collection::Items(items)
    }

    fn loop_exit(&mut self, kind: StmtKind, name: &str, span: Span) -> Option<StmtKind> {
        if self.context.loop_depth == 0 {
            self.report(d::outside_loop(span, name));
            return None;
        }
        Some(kind)
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StmtKind> {
        let expected = self.context.return_type.clone();
        match (self.context.kind, value) {
            (PlaceKind::ParserState | PlaceKind::Declarations, _) => {
                self.report(d::statement_not_allowed_here(span, "return", self.context.kind.name()));
                None
            }
            (_, None) if matches!(expected, Type::Void | Type::Unknown) => Some(StmtKind::Return(None)),
            (_, None) => {
                let shown = self.hir.show_type(&expected);
                self.report(d::missing_return_value(span, &shown));
                Some(StmtKind::Return(None))
            }
            (_, Some(value)) if expected == Type::Void => {
                self.expr(value, None);
                self.report(d::unexpected_return_value(value.span, self.context.kind.name()));
                None
            }
            (_, Some(value)) => Some(StmtKind::Return(Some(self.value(value, &expected)))),
        }
    }

    /// Whether the end of a block is unreachable.
    pub(crate) fn always_leaves(block: &Block) -> bool {
        block.stmts.iter().any(|stmt| match &stmt.kind {
            StmtKind::Return(_) | StmtKind::Exit => true,
            StmtKind::Block(inner) => Self::always_leaves(inner),
            StmtKind::If { then_body, else_body, .. } => {
                Self::always_leaves(then_body) && Self::always_leaves(else_body)
            }
            StmtKind::SwitchValue { cases, default: Some(default), .. } => {
                Self::always_leaves(default) && cases.iter().all(|case| Self::always_leaves(&case.body))
            }
            StmtKind::SwitchAction { cases, default: Some(default), .. } => {
                Self::always_leaves(default) && cases.iter().all(|(_, body)| Self::always_leaves(body))
            }
            _ => false,
        })
    }
}
