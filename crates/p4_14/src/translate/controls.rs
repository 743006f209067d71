//! Ingress and egress: called controls are inlined, with the tables and actions that they use.
//!
//! A called control replaces its call, so a table that several controls apply remains one table.

use super::build::{self, Shape};
use super::exprs::Scope;
use super::{Done, Translator};
use crate::ast::{ApplyCase, BinaryOperator, Exception, Name, Statement, StatementKind};
use crate::codes;
use base::{OrderedSet, Span};
use num_bigint::BigInt;
use syntax::ast as p4;

/// The maximum nesting of statements, including those of called controls.
const LEVELS_MAX: u32 = 1200;

/// The value of `parser_status` for an error that does not correspond to an exception of P4_14.
const OTHER_STATUS: u32 = 255;

/// The state of a pipeline's translation.
#[derive(Default)]
struct Pipeline {
    /// The controls that begin the pipeline.
    roots: Vec<usize>,
    /// The controls that are being inlined, outermost first.
    open: Vec<usize>,
    tables: Distinct,
    /// For each of `open`, the variable that records whether it has returned; none if it never returns, or if it is the
    /// whole pipeline.
    returned: Vec<Option<Name>>,
    level: u32,
}

/// Tables or actions in the order of their first use.
#[derive(Default)]
struct Distinct {
    order: Vec<usize>,
    members: OrderedSet<usize>,
}

impl Distinct {
    fn add(&mut self, member: usize) {
        if self.members.insert(member) {
            self.order.push(member);
        }
    }
}

/// Whether a control may return in a statement of its body.
fn returns(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return => true,
        StatementKind::If { then_body, else_body, .. } => then_body.iter().chain(else_body).any(returns),
        StatementKind::Apply { cases, .. } => cases.iter().flat_map(|case| &case.body).any(returns),
        StatementKind::Call(_) | StatementKind::Control(_) => false,
    }
}

impl Translator<'_, '_> {
    /// Ingress: the controls in which the parser may end.
    pub(super) fn ingress(&mut self, entries: &[usize]) -> p4::Declaration {
        let mut pipeline = Pipeline::default();
        let entries: Vec<usize> = match entries {
            [] => self.symbols.controls.get("ingress").copied().into_iter().collect(),
            entries => entries.to_vec(),
        };
        let mut body = self.status_statements();
        let bodies: Vec<Vec<p4::Statement>> =
            entries.iter().map(|&control| self.control_body(control, &mut pipeline)).collect();
        let normal = self.dispatch(bodies);
        body.extend(self.handlers(normal, &mut pipeline));
        self.pipeline("ingress", pipeline, body)
    }

    pub(super) fn egress(&mut self) -> p4::Declaration {
        let mut pipeline = Pipeline::default();
        let mut body = self.initial_values_of_clones();
        if let Some(&egress) = self.symbols.controls.get("egress") {
            body.extend(self.control_body(egress, &mut pipeline));
        }
        self.pipeline("egress", pipeline, body)
    }

    /// Selects the control in which the parser ended, if there are several.
    fn dispatch(&self, bodies: Vec<Vec<p4::Statement>>) -> Vec<p4::Statement> {
        let span = self.program.end;
        let last = bodies.len().saturating_sub(1);
        let mut result = Vec::new();
        for (position, body) in bodies.into_iter().enumerate().rev() {
            if position == last {
                result = body;
                continue;
            }
            let flag = build::member(build::name(&self.own.metadata, span), &self.own.entry, span);
            let number = build::constant(&BigInt::from(position), Shape::bits(8), span);
            let is_it = build::binary(BinaryOperator::Equal, flag, number, span);
            result = vec![build::branch(is_it, body, result, span)];
        }
        result
    }

    /// `standard_metadata.parser_status` for programs that read it: 0, or 1 and up in the order of P4_14's list.
    fn status_statements(&mut self) -> Vec<p4::Statement> {
        let Some(&instance) = self.symbols.instances.get("standard_metadata") else { return Vec::new() };
        let header_type = self.symbols.all_instances[instance].header_type;
        let Some(field) = self.symbols.types[header_type].field("parser_status") else { return Vec::new() };
        let header = super::exprs::HeaderRef { instance, element: super::exprs::Element::Only };
        let span = self.program.end;
        let place = self.place(header, field, span);
        let status = |value: u32| build::constant(&BigInt::from(value), place.shape, span);
        let error = build::member(build::name(&self.own.standard, span), "parser_error", span);
        let is = |name: &str| {
            let wanted = build::enum_member("error", name, span);
            build::binary(BinaryOperator::Equal, error.clone(), wanted, span)
        };
        let mut value = build::conditional(is("NoError"), status(0), status(OTHER_STATUS), span);
        for (position, (_, name)) in super::states::STANDARD_EXCEPTIONS.iter().enumerate().rev() {
            value = build::conditional(is(name), status(position as u32 + 1), value, span);
        }
        vec![self.write(&place, value, span)]
    }

    /// Replaces ingress for packets with a parser error that has a handler.
    fn handlers(&mut self, normal: Vec<p4::Statement>, pipeline: &mut Pipeline) -> Vec<p4::Statement> {
        let program = self.program;
        let mut result = normal;
        let is_default = |exception: &&Exception| exception.name.as_str() == "p4_pe_default";
        let others = program.exceptions.iter().filter(|exception| !is_default(exception)).rev();
        // The default handler is tested last, so it is the innermost.
        for exception in program.exceptions.iter().filter(is_default).chain(others) {
            let span = exception.name.span;
            let standard = build::name(&self.own.standard, span);
            let condition = match exception.name.as_str() {
                "p4_pe_checksum" => {
                    let one = build::constant(&BigInt::from(1), Shape::bits(1), span);
                    let found = build::member(standard, "checksum_error", span);
                    build::binary(BinaryOperator::Equal, found, one, span)
                }
                "p4_pe_default" => {
                    let none = build::enum_member("error", "NoError", span);
                    let found = build::member(standard, "parser_error", span);
                    build::binary(BinaryOperator::NotEqual, found, none, span)
                }
                _ => {
                    let wanted = self.error_of(&exception.name);
                    let found = build::member(standard, "parser_error", span);
                    build::binary(BinaryOperator::Equal, found, wanted, span)
                }
            };
            let mut body = Vec::new();
            for (field, value) in &exception.sets {
                let _ = self.set(field, value, Scope::parser(None), &mut body);
            }
            match &exception.control {
                Some(name) => {
                    if let Some(control) = self.lookup(|symbols| &symbols.controls, name, "control") {
                        body.extend(self.control_body(control, pipeline));
                    }
                }
                None => {
                    let standard = build::name(&self.own.standard, span);
                    body.push(build::do_call(build::name("mark_to_drop", span), vec![standard], span));
                }
            }
            result = vec![build::branch(condition, body, result, span)];
        }
        result
    }

    /// A control of v1model with its actions and tables.
    fn pipeline(&mut self, wanted: &str, pipeline: Pipeline, body: Vec<p4::Statement>) -> p4::Declaration {
        let program = self.program;
        let is_ingress = wanted == "ingress";
        let mut locals = Vec::new();
        let tables = self.declared_order(&pipeline);
        let mut actions = Distinct::default();
        for &table in &tables {
            let own = self.actions_of(table).unwrap_or_default();
            let default = self.default_of(table).flatten();
            own.into_iter().chain(default).for_each(|action| actions.add(action));
        }
        for action in actions.order {
            locals.extend(self.action_declaration(action));
        }
        for &table in &tables {
            let name = &program.tables[table].name.name;
            let known_as = match is_ingress || !self.ingress_tables.contains(&table) {
                true => name.to_string(),
                false => format!("egress.{name}"),
            };
            let _ = self.table_declarations(table, &known_as, &mut locals);
        }
        if is_ingress {
            self.ingress_tables = pipeline.tables.members;
        }
        let span = self.symbols.controls.get(wanted).map_or(program.end, |&it| program.controls[it].name.span);
        let parameters = self.block_parameters(true, span);
        self.control_block(wanted, parameters, locals, body, span)
    }

    /// The tables of a pipeline in the order of the reference compiler, which translates each control to a control: a
    /// control's own tables precede those of the controls that it calls.
    fn declared_order(&self, pipeline: &Pipeline) -> Vec<usize> {
        let mut tables = Distinct::default();
        let mut seen = OrderedSet::new();
        let mut controls: Vec<usize> = pipeline.roots.iter().rev().copied().collect();
        while let Some(control) = controls.pop() {
            if seen.insert(control) {
                let called = self.order_tables(control, &mut tables);
                controls.extend(called.into_iter().rev());
            }
        }
        tables.order.retain(|table| pipeline.tables.members.contains(table));
        pipeline.tables.order.iter().for_each(|&table| tables.add(table));
        tables.order
    }

    /// Adds the tables that a control applies itself, and returns the controls that it calls.
    fn order_tables(&self, control: usize, tables: &mut Distinct) -> Vec<usize> {
        let mut called = Vec::new();
        let mut pending: Vec<&Statement> = self.program.controls[control].body.iter().rev().collect();
        while let Some(statement) = pending.pop() {
            match &statement.kind {
                StatementKind::Control(name) => called.extend(self.symbols.controls.get(&name.name).copied()),
                StatementKind::If { then_body, else_body, .. } => {
                    pending.extend(then_body.iter().chain(else_body).rev());
                }
                StatementKind::Apply { table, cases } => {
                    if let Some(&table) = self.symbols.tables.get(&table.name) {
                        tables.add(table);
                    }
                    pending.extend(cases.iter().flat_map(|case| &case.body).rev());
                }
                StatementKind::Call(_) | StatementKind::Return => {}
            }
        }
        called
    }

    /// The body of a control. When a called control returns, execution continues after the call: statements after a
    /// `return` are guarded by the variable that records it.
    fn control_body(&mut self, control: usize, pipeline: &mut Pipeline) -> Vec<p4::Statement> {
        let program = self.program;
        let declared = &program.controls[control];
        let span = declared.name.span;
        let is_root = pipeline.open.is_empty();
        if is_root {
            pipeline.roots.push(control);
        }
        let returned = (!is_root && declared.body.iter().any(returns)).then(|| self.fresh("returned"));
        let mut body = Vec::new();
        if let Some(name) = &returned {
            let ty = p4::Type { kind: p4::TypeKind::Bool, span };
            body.push(build::variable(ty, name, Some(build::truth(false, span)), span));
        }
        pipeline.open.push(control);
        pipeline.returned.push(returned);
        body.extend(self.statements(&declared.body, pipeline, span));
        pipeline.returned.pop();
        pipeline.open.pop();
        body
    }

    fn statements(&mut self, statements: &[Statement], pipeline: &mut Pipeline, span: Span) -> Vec<p4::Statement> {
        if pipeline.level >= LEVELS_MAX {
            let message = "controls call each other too deeply";
            let _: Done<()> = self.error(codes::NESTING_LIMIT, span, message);
            return Vec::new();
        }
        pipeline.level += 1;
        let mut result = Vec::new();
        for (position, statement) in statements.iter().enumerate() {
            if self.count_nodes(1, statement.span).is_none() {
                break;
            }
            let _ = self.statement(statement, pipeline, &mut result);
            let rest = &statements[position + 1..];
            if let Some(Some(returned)) = pipeline.returned.last().cloned()
                && !rest.is_empty()
                && returns(statement)
            {
                let rest = self.statements(rest, pipeline, span);
                let goes_on = build::not(build::name(&returned, statement.span));
                result.push(build::branch(goes_on, rest, Vec::new(), statement.span));
                break;
            }
        }
        pipeline.level -= 1;
        result
    }

    fn statement(&mut self, statement: &Statement, pipeline: &mut Pipeline, out: &mut Vec<p4::Statement>) -> Done<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Control(name) => {
                let control = self.lookup(|symbols| &symbols.controls, name, "control")?;
                if pipeline.open.contains(&control) {
                    return self.error(codes::RECURSION, span, format!("control `{}` calls itself", name.name));
                }
                out.extend(self.control_body(control, pipeline));
            }
            StatementKind::If { .. } => out.push(self.conditional(statement, pipeline)?),
            StatementKind::Call(call) => self.method_statement(call, Scope::PLAIN, out)?,
            StatementKind::Return => out.push(match pipeline.returned.last() {
                Some(Some(returned)) => build::assign(build::name(returned, span), build::truth(true, span), span),
                _ => build::statement(p4::StatementKind::Return(None), span),
            }),
            StatementKind::Apply { table, cases } => {
                let index = self.lookup(|symbols| &symbols.tables, table, "table")?;
                pipeline.tables.add(index);
                let name = self.table_name(index);
                let apply = build::method(build::name(&name, table.span), "apply", Vec::new(), span);
                if cases.is_empty() {
                    out.push(build::statement(p4::StatementKind::Call(apply), span));
                } else {
                    out.push(self.application(index, apply, cases, pipeline, span)?);
                }
            }
        }
        Some(())
    }

    /// `if` with all `else if` that follow, in a loop.
    fn conditional(&mut self, first: &Statement, pipeline: &mut Pipeline) -> Done<p4::Statement> {
        let mut arms = Vec::new();
        let mut next = first;
        let mut rest = loop {
            let StatementKind::If { condition, then_body, else_body } = &next.kind else { break Vec::new() };
            self.count_nodes(1, next.span)?;
            let condition = self.condition(condition, Scope::PLAIN);
            arms.push((condition, self.statements(then_body, pipeline, next.span), next.span));
            match else_body.as_slice() {
                [only @ Statement { kind: StatementKind::If { .. }, .. }] => next = only,
                _ => break self.statements(else_body, pipeline, next.span),
            }
        };
        // After an error in one condition the others have still been checked.
        let arms: Option<Vec<_>> = arms
            .into_iter()
            .map(|(condition, body, span)| condition.map(|condition| (condition, body, span)))
            .collect();
        for (condition, then_body, span) in arms?.into_iter().rev() {
            rest = vec![build::branch(condition, then_body, rest, span)];
        }
        rest.pop()
    }

    /// `apply(table) { ... }`: by hit and miss, or by action.
    fn application(
        &mut self,
        table: usize,
        apply: p4::Expr,
        cases: &[ApplyCase],
        pipeline: &mut Pipeline,
        span: Span,
    ) -> Done<p4::Statement> {
        let is_outcome = |case: &ApplyCase| case.labels.iter().all(|it| matches!(it.as_str(), "hit" | "miss"));
        if cases.iter().all(is_outcome) {
            return self.by_outcome(apply, cases, pipeline, span);
        }
        let mut switch_cases = Vec::new();
        let mut default = None;
        let mut is_whole = true;
        for case in cases {
            let body = self.statements(&case.body, pipeline, span);
            let last = case.labels.len() - 1;
            for (position, label) in case.labels.iter().enumerate() {
                let body = (position == last).then(|| build::block(body.clone(), label.span));
                if label.as_str() == "default" {
                    if default.is_some() {
                        return self.error(codes::REPEATED_PART, label.span, "`default` is given twice");
                    }
                    let body = Some(body.unwrap_or_else(|| build::block(Vec::new(), label.span)));
                    let expr = p4::Expr { kind: p4::ExprKind::Default, span: label.span };
                    default = Some(p4::SwitchCase { label: expr, body, span: label.span });
                    continue;
                }
                match self.case_label(table, label) {
                    Some(name) => switch_cases.push(p4::SwitchCase { label: name, body, span: label.span }),
                    None => is_whole = false,
                }
            }
        }
        if !is_whole {
            return None;
        }
        // P4_16 requires `default` to be the last.
        switch_cases.extend(default);
        let subject = build::member(apply, "action_run", span);
        Some(build::statement(p4::StatementKind::Switch { subject, cases: switch_cases }, span))
    }

    /// An action of the table as a label.
    fn case_label(&mut self, table: usize, label: &crate::ast::Ident) -> Done<p4::Expr> {
        if matches!(label.as_str(), "hit" | "miss") && !self.symbols.actions.contains_key(&label.name) {
            let message = format!("`{}` does not go together with names of actions", label.name);
            return self.error(codes::TABLE_ACTIONS, label.span, message);
        }
        let action = self.lookup(|symbols| &symbols.actions, label, "action")?;
        let is_own = self.actions_of(table)?.contains(&action) || self.default_of(table)? == Some(action);
        if !is_own {
            let table = self.program.tables[table].name.name.clone();
            let message = format!("`{}` is not an action of table `{table}`", label.name);
            return self.error(codes::TABLE_ACTIONS, label.span, message);
        }
        Some(build::name(&self.action_name(action), label.span))
    }

    fn by_outcome(
        &mut self,
        apply: p4::Expr,
        cases: &[ApplyCase],
        pipeline: &mut Pipeline,
        span: Span,
    ) -> Done<p4::Statement> {
        let (mut hit, mut miss) = (None, None);
        for case in cases {
            let body = self.statements(&case.body, pipeline, span);
            for label in &case.labels {
                let slot = if label.as_str() == "hit" { &mut hit } else { &mut miss };
                if slot.replace(body.clone()).is_some() {
                    let message = format!("`{}` is given twice", label.name);
                    return self.error(codes::REPEATED_PART, label.span, message);
                }
            }
        }
        Some(match (hit, miss) {
            (Some(hit), miss) => build::branch(build::member(apply, "hit", span), hit, miss.unwrap_or_default(), span),
            (None, miss) => {
                build::branch(build::member(apply, "miss", span), miss.unwrap_or_default(), Vec::new(), span)
            }
        })
    }

    /// Checks actions, tables and controls that no pipeline uses. They are translated like the others, and the result
    /// is dropped.
    pub(super) fn check_unused(&mut self) {
        let program = self.program;
        let mut pipeline = Pipeline::default();
        let lists = self.list_numbers.clone();
        let (preserved, objects) = (self.preserved.clone(), self.objects.len());
        let digests = self.digests.clone();
        for control in 0..program.controls.len() {
            self.control_body(control, &mut pipeline);
        }
        for action in 0..program.actions.len() {
            // Inlining replaces an action's parameters with arguments, so a called action is checked with its callers.
            if !self.flat_actions[action].is_called {
                self.action_declaration(action);
            }
        }
        for (table, declared) in program.tables.iter().enumerate() {
            let _ = self.table_declarations(table, &declared.name.name, &mut Vec::new());
        }
        self.list_numbers = lists;
        self.preserved = preserved;
        self.digests = digests;
        self.objects.truncate(objects);
    }
}
