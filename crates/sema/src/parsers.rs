//! Parsers: states, transitions, selects, value sets.

use crate::checker::{Checker, PlaceKind};
use crate::diagnostics as d;
use crate::hir::*;
use crate::params::ParamOwner;
use crate::scopes::{Entity, did_you_mean};
use num_traits::Signed;
use std::rc::Rc;
use syntax::ast;

impl Checker<'_> {
    /// `parser name(...)(...) { ... }`
    pub(crate) fn parser(&mut self, written: &ast::ParserDeclaration, declaration: &ast::Declaration) {
        let signature = &written.signature;
        let errors_before = self.error_count();
        let id = self.hir.parsers.push(Parser {
            name: signature.name.name.clone(),
            type_params: Vec::new(),
            params: Vec::new(),
            constructor_params: Vec::new(),
            locals: Vec::new(),
            states: Vec::new(),
            annotations: self.known_annotations(&declaration.annotations),
            span: signature.name.span,
        });
        self.declare(&signature.name, Entity::Parser(id));
        self.open_parsers.push(id);
        let outer = std::mem::replace(&mut self.context.in_parser, true);
        self.with_scope(|checker| {
            checker.check_not_optional(&written.constructor_parameters, "a parser's constructor");
            let found = checker.block_params(signature, &written.constructor_parameters, ParamOwner::ParserConstructor);
            let parser = &mut checker.hir.parsers[id];
            (parser.type_params, parser.params, parser.constructor_params) = found;
            let names: Vec<Rc<str>> = written.states.iter().map(|state| state.name.name.clone()).collect();
            let locals = checker.with_scope(|checker| {
                let locals = checker.locals(&written.locals, "a parser");
                checker.declare_states(&written.states, signature);
                let states = written.states.iter().map(|state| checker.state(state, &names)).collect();
                checker.hir.parsers[id].states = states;
                locals
            });
            checker.hir.parsers[id].locals = locals;
        });
        self.context.in_parser = outer;
        self.open_parsers.pop();
        if self.error_count() == errors_before {
            self.warn_of_unreachable_states(id);
        }
    }

    fn declare_states(&mut self, states: &[ast::ParserState], signature: &ast::ApplyType) {
        for state in states {
            if matches!(state.name.as_str(), "accept" | "reject") {
                self.report(d::reserved_state(&state.name));
                continue;
            }
            self.declare(&state.name, Entity::State);
        }
        if !states.iter().any(|state| state.name.as_str() == "start") {
            self.report(d::no_start_state(signature.name.span, &signature.name.name));
        }
    }

    fn state(&mut self, written: &ast::ParserState, names: &[Rc<str>]) -> ParserState {
        self.with_annotations(&written.annotations, |checker| {
            checker.with_scope(|checker| {
                checker.with_place(PlaceKind::ParserState, Type::Void, |checker| {
                    let body = checker.statements(&written.statements);
                    let transition = match &written.transition {
                        Some(transition) => checker.transition(transition, names),
                        None => Transition::Direct(Target::Reject),
                    };
                    ParserState {
                        name: written.name.name.clone(),
                        body,
                        transition,
                        has_transition: written.transition.is_some(),
                        annotations: checker.known_annotations(&written.annotations),
                        span: written.name.span,
                    }
                })
            })
        })
    }

    fn transition(&mut self, written: &ast::Transition, names: &[Rc<str>]) -> Transition {
        match &written.kind {
            ast::TransitionKind::Direct(name) => Transition::Direct(self.target(name, names)),
            ast::TransitionKind::Select { keys, cases } => {
                let keys: Vec<Expr> = keys.iter().map(|key| self.select_key(key)).collect();
                let types: Vec<Type> = keys.iter().map(|key| key.ty.clone()).collect();
                let cases = cases.iter().filter_map(|case| self.select_case(case, &types, names)).collect();
                Transition::Select { keys, cases, span: written.span }
            }
        }
    }

    fn select_key(&mut self, written: &ast::Expr) -> Expr {
        let key = self.operand(written, None);
        if key.ty == Type::Integer {
            self.report(d::width_not_known(key.span));
            return crate::checker::poisoned(key.span);
        }
        if !self.is_select_type(&key.ty) {
            let (shown, field) = (self.hir.show_type(&key.ty), self.first_field(written, &key.ty));
            self.report(d::invalid_select_key(key.span, &shown, field.as_deref()));
            return crate::checker::poisoned(key.span);
        }
        key
    }

    /// Whether a `select` can match values of the type.
    fn is_select_type(&self, ty: &Type) -> bool {
        match ty {
            Type::Tuple(elements) => elements.iter().all(|element| self.is_select_type(element)),
            Type::Struct(id, args) if self.hir.structs[*id].kind == ast::StructKind::Struct => {
                self.hir.field_types(*id, args).iter().all(|field| self.is_select_type(field))
            }
            _ => self.is_key_type(ty),
        }
    }

    fn select_case(&mut self, written: &ast::SelectCase, keys: &[Type], names: &[Rc<str>]) -> Option<SelectCase> {
        let keyset = self.select_keyset(&written.keyset, keys);
        let target = self.target(&written.next, names);
        Some(SelectCase { keyset: keyset?, target, span: written.span })
    }

    fn target(&mut self, name: &ast::Ident, names: &[Rc<str>]) -> Target {
        match name.as_str() {
            "accept" => return Target::Accept,
            "reject" => return Target::Reject,
            _ => {}
        }
        // A variable of the state hides a state of the same name.
        let is_hidden = self.scopes.local(&name.name).iter().any(|local| matches!(local.entity, Entity::Var(_)));
        if !is_hidden && let Some(position) = names.iter().position(|state| *state == name.name) {
            return Target::State(position);
        }
        let known = names.iter().map(|name| &**name).chain(["accept", "reject"]).filter(|known| *known != &*name.name);
        let suggestion = did_you_mean(&name.name, known);
        let found = self.scopes.lookup(&name.name).first().cloned();
        self.report(d::unknown_state(name, suggestion, found.map(|found| (found.entity.kind_name(), found.span))));
        Target::Reject
    }

    fn warn_of_unreachable_states(&mut self, id: ParserId) {
        let states = &self.hir.parsers[id].states;
        let Some(start) = states.iter().position(|state| &*state.name == "start") else { return };
        let mut reached = vec![false; states.len()];
        let mut pending = vec![start];
        while let Some(position) = pending.pop() {
            if std::mem::replace(&mut reached[position], true) {
                continue;
            }
            let targets: Vec<Target> = match &states[position].transition {
                Transition::Direct(target) => vec![*target],
                Transition::Select { cases, .. } => cases.iter().map(|case| case.target).collect(),
            };
            for target in targets {
                if let Target::State(next) = target {
                    pending.push(next);
                }
            }
        }
        let warnings: Vec<_> = states
            .iter()
            .zip(&reached)
            .filter(|(_, reached)| !**reached)
            .map(|(state, _)| d::unreachable_state(state.span, &state.name))
            .collect();
        warnings.into_iter().for_each(|warning| self.warn("unreachable", warning));
    }

    /// `value_set<T>(size) name;`
    pub(crate) fn value_set(&mut self, written: &ast::ValueSet, annotations: &[ast::Annotation]) -> ValueSetId {
        let element = self.resolve_type(&written.element_type);
        self.check_variable_type(&element, written.element_type.span, "an element of a value set");
        let size = self.operand(&written.size, None);
        if !matches!(self.hir.underlying(&size.ty), Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Unknown) {
            let found = self.hir.show_type(&size.ty);
            self.report(d::mismatched_types(size.span, "a number", &found));
        }
        if self.fold(&size).and_then(|value| self.number(&value)).is_some_and(|value| value.is_negative()) {
            self.report(d::negative_table_size(size.span));
        }
        if size.ty != Type::Unknown && !self.is_known(&size) {
            self.report(d::not_constant(written.size.span));
        }
        let id = self.hir.value_sets.push(ValueSet {
            name: written.name.name.clone(),
            element,
            size,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::ValueSet(id));
        id
    }
}
