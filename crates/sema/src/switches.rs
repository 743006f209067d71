//! `switch`: on the action that a table ran, and on a value.

use crate::checker::{Checker, PlaceKind};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::{Entity, did_you_mean};
use base::ordered::Entry;
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use syntax::ast;

/// The identity of a literal among those of its type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LiteralKey {
    /// The position of a member of an enum, or of `error`.
    Member(usize),
    /// A number, or a boolean as one.
    Number(BigInt),
}

impl Checker<'_> {
    /// `switch (subject) { cases }`
    pub(crate) fn switch(&mut self, subject: &ast::Expr, cases: &[ast::SwitchCase], span: Span) -> Option<StmtKind> {
        if matches!(self.context.kind, PlaceKind::ParserState | PlaceKind::Action) {
            self.report(d::statement_not_allowed_here(span, "switch", self.context.kind.name()));
            return None;
        }
        self.check_default_last(cases);
        let subject = self.expr(subject, None);
        match subject.ty {
            Type::ActionEnum(table) => Some(self.switch_on_action(table, subject, cases)),
            Type::Bit(_) | Type::Int(_) | Type::Enum(_) | Type::Error | Type::NewType(_) => {
                Some(self.switch_on_value(subject, cases))
            }
            Type::Unknown => {
                self.skip_cases(cases);
                None
            }
            _ => {
                let shown = self.hir.show_type(&subject.ty);
                self.report(d::invalid_switch_subject(subject.span, &shown));
                self.skip_cases(cases);
                None
            }
        }
    }

    fn check_default_last(&mut self, cases: &[ast::SwitchCase]) {
        for (index, case) in cases.iter().enumerate() {
            if !is_default(case) {
                continue;
            }
            match cases.get(index + 1) {
                Some(next) if is_default(next) => self.report(d::duplicate_label(next.label.span, case.label.span)),
                Some(next) => self.report(d::default_not_last(case.label.span, next.label.span)),
                None => {}
            }
        }
    }

    /// Checks the bodies only.
    fn skip_cases(&mut self, cases: &[ast::SwitchCase]) {
        for body in cases.iter().filter_map(|case| case.body.as_ref()) {
            self.block(body);
        }
    }

    fn switch_on_action(&mut self, table: TableId, subject: Expr, cases: &[ast::SwitchCase]) -> StmtKind {
        let mut groups: Vec<(Vec<usize>, Block)> = Vec::new();
        let mut default = None;
        let mut labels = Vec::new();
        let mut has_default = false;
        let mut seen: Vec<(usize, Span)> = Vec::new();
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                has_default = true;
            } else if let Some(position) = self.action_label(table, &case.label) {
                match seen.iter().find(|(other, _)| *other == position) {
                    Some(&(_, first)) => self.report(d::duplicate_label(case.label.span, first)),
                    None => {
                        seen.push((position, case.label.span));
                        labels.push(position);
                    }
                }
            }
            if let Some(body) = &case.body {
                let body = self.block(body);
                let labels = std::mem::take(&mut labels);
                if std::mem::take(&mut has_default) {
                    default = Some(body);
                } else if !labels.is_empty() {
                    groups.push((labels, body));
                }
            }
        }
        let table = Expr { ty: Type::ApplyResult(table), ..subject };
        StmtKind::SwitchAction { table, cases: groups, default }
    }

    /// The position of the labelled action in the table's list.
    fn action_label(&mut self, table: TableId, label: &ast::Expr) -> Option<usize> {
        let ast::ExprKind::Name(path) = &label.kind else {
            self.report(d::invalid_switch_label(label.span, &self.hir.tables[table].name));
            return None;
        };
        let found = self.scopes.lookup_path(path).to_vec();
        if found.iter().any(|binding| matches!(binding.entity, Entity::Poisoned)) {
            return None;
        }
        let expected: Vec<ActionId> = found
            .iter()
            .filter_map(|binding| match binding.entity {
                Entity::Action(id) => Some(id),
                _ => None,
            })
            .collect();
        let listed = &self.hir.tables[table];
        let position = listed.actions.iter().position(|listed| expected.contains(&listed.action.action));
        // A table without a default action runs `NoAction`, which is behind those that it lists.
        let is_default = listed.default_action.is_none() && self.is_no_action(&expected);
        let position = position.or_else(|| is_default.then_some(listed.actions.len()));
        if position.is_none() {
            let names: Vec<_> =
                listed.actions.iter().map(|listed| self.hir.actions[listed.action.action].name.clone()).collect();
            let suggestion = did_you_mean(&path.name.name, names.iter().map(|name| &**name));
            let diagnostic = d::action_not_in_table(label.span, &path.name.name, &listed.name, suggestion, listed.span);
            self.report(diagnostic);
        }
        position
    }

    fn switch_on_value(&mut self, subject: Expr, cases: &[ast::SwitchCase]) -> StmtKind {
        let mut groups: Vec<SwitchValueCase> = Vec::new();
        let mut default = None;
        let mut labels: Vec<Expr> = Vec::new();
        let mut has_default = false;
        let mut seen = OrderedMap::new();
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                has_default = true;
            } else if let Some(label) = self.value_label(&subject.ty, &case.label, &mut seen) {
                labels.push(label);
            }
            if let Some(body) = &case.body {
                let body = self.block(body);
                let labels = std::mem::take(&mut labels);
                if std::mem::take(&mut has_default) {
                    default = Some(body);
                } else if !labels.is_empty() {
                    groups.push(SwitchValueCase { labels, body });
                }
            }
        }
        StmtKind::SwitchValue { subject, cases: groups, default }
    }

    fn value_label(&mut self, ty: &Type, written: &ast::Expr, seen: &mut OrderedMap<LiteralKey, Span>) -> Option<Expr> {
        let label = self.value(written, ty);
        if label.ty == Type::Unknown {
            return None;
        }
        let Some(value) = self.fold(&label) else {
            // A parameter of the constructor becomes known at instantiation.
            if self.is_known(&label) {
                return Some(label);
            }
            self.report(d::not_constant(written.span));
            return None;
        };
        let first = self.literal_key(&value).and_then(|key| match seen.entry(key) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(place) => {
                place.insert(value.span);
                None
            }
        });
        if let Some(first) = first {
            self.report(d::duplicate_label(written.span, first));
            return None;
        }
        Some(value)
    }

    /// A key that is the same for two literals of one type if and only if they are the same value.
    pub(crate) fn literal_key(&self, literal: &Expr) -> Option<LiteralKey> {
        match &literal.kind {
            ExprKind::Error(position) | ExprKind::EnumMember(position) => Some(LiteralKey::Member(*position)),
            _ => self.number(literal).map(LiteralKey::Number),
        }
    }
}

/// Whether the case is `default`.
fn is_default(case: &ast::SwitchCase) -> bool {
    matches!(case.label.kind, ast::ExprKind::Default)
}
