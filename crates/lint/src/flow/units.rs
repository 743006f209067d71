//! The units of analysis: controls with their actions, parsers, functions.

use super::layout::Layout;
use super::state::{Assigned, Effect, join};
use super::{Flow, Mode, Summary};
use crate::diagnostics as d;
use crate::sink::{Sink, UNINITIALIZED_OUT};
use crate::values::Values;
use crate::walk::{blocks_of, direction};
use base::index::Id as _;
use base::{OrderedMap, OrderedSet};
use sema::hir::*;
use syntax::ast::{Annotation, Direction};

/// The maximum number of visits for each state of a parser. Every visit adds information, so far fewer are needed.
const VISITS_PER_STATE_MAX: usize = 64;

impl<'s, 'a> Flow<'s, 'a> {
    pub(super) fn new(program: &'a Program, sink: &'s mut Sink<'a>) -> Flow<'s, 'a> {
        Flow {
            program,
            sink,
            layout: Layout::new(program),
            values: Values::new(program),
            mode: Mode::Report,
            state: None,
            returns: None,
            loops: Vec::new(),
            branch: 0,
            last_branch: 0,
            declared_in: OrderedMap::new(),
            reports_possible: true,
            summaries: OrderedMap::new(),
            exposures: Vec::new(),
            reported: OrderedSet::new(),
            reported_leaves: OrderedSet::new(),
        }
    }

    pub(super) fn program(&mut self) {
        let program = self.program;
        let mut is_local = vec![false; program.actions.len()];
        let outer = outer_controls(program);
        program.top.iter().for_each(|local| self.constant(local));
        for (id, control) in program.controls.iter_enumerated() {
            let silenced = self.sink.enter(&control.annotations);
            self.control(control, &mut is_local);
            // The architecture declares the parameters of its blocks, so a control need not assign all of them.
            if program.main.is_some() && !outer.contains(&id) {
                self.check_results(&control.params);
            }
            self.sink.leave(silenced);
        }
        for (id, action) in program.actions.iter_enumerated() {
            if !is_local[id.index()] {
                self.callable(&action.params, &action.body, &action.annotations, true);
            }
        }
        let methods = crate::walk::method_implementations(program);
        for (id, function) in program.functions.iter_enumerated() {
            if let Some(body) = &function.body {
                // The extern declares the parameters of its methods.
                self.callable(&function.params, body, &function.annotations, !methods.contains(&id));
            }
        }
        for parser in program.parsers.iter() {
            let silenced = self.sink.enter(&parser.annotations);
            self.parser(parser);
            self.sink.leave(silenced);
        }
    }

    /// Starts a body without variables.
    fn begin(&mut self) {
        self.layout.clear();
        self.declared_in.clear();
        self.summaries.clear();
        self.reported.clear();
        self.reported_leaves.clear();
        (self.branch, self.last_branch, self.reports_possible) = (0, 0, true);
    }

    /// Assigns leaves to parameters.
    fn add_params(&mut self, params: &[VarId]) {
        for &param in params {
            self.layout.add(param);
            self.declared_in.insert(param, self.branch);
        }
    }

    /// Assigns leaves to the variables that a block declares.
    fn add_variables(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Local(Local::Var(var, _)) | StmtKind::ForIn { var, .. } => self.layout.add(*var),
                StmtKind::For { init, update, .. } => {
                    self.add_variables(init);
                    self.add_variables(update);
                }
                _ => {}
            }
            blocks_of(stmt).into_iter().for_each(|block| self.add_variables(&block.stmts));
        }
    }

    fn constant(&mut self, local: &Local) {
        if let Local::Const(var, value) = local {
            self.values.declare(*var, value);
        }
    }

    fn add_locals(&mut self, locals: &[Local]) {
        for local in locals {
            if let Local::Var(var, _) = local {
                self.layout.add(*var);
            }
        }
    }

    /// Initialises parameters as a call does.
    fn enter_params(&mut self, params: &[VarId]) {
        for &param in params {
            self.set_variable(param, direction(self.program, param) != Direction::Out);
        }
    }

    /// A function, or an action outside all controls. If `must_assign_results`, it declares its `out` parameters
    /// itself and must assign them.
    fn callable(&mut self, params: &[VarId], body: &Block, annotations: &[Annotation], must_assign_results: bool) {
        let silenced = self.sink.enter(annotations);
        self.begin();
        self.add_params(params);
        self.add_variables(&body.stmts);
        self.mode = Mode::Report;
        self.run_callable(params, body, false);
        if must_assign_results {
            self.check_results(params);
        }
        self.sink.leave(silenced);
    }

    /// Analyses a body from its beginning to its end, where the `return`s lead, too. Variables from outside are all
    /// assigned, or all unassigned.
    fn run_callable(&mut self, params: &[VarId], body: &Block, is_full: bool) {
        self.state = Some(Assigned::filled(self.layout.leaf_count, is_full));
        self.enter_params(params);
        self.returns = None;
        self.block(body);
        let returns = self.returns.take();
        join(&mut self.state, returns);
    }

    fn check_results(&mut self, params: &[VarId]) {
        for (param, span, is_never) in self.missing_results(params) {
            let declared = &self.program.vars[param];
            let warning = d::result_not_assigned(span, &declared.name, is_never);
            self.sink.warn_about(UNINITIALIZED_OUT, &declared.annotations, warning);
        }
    }

    fn control(&mut self, control: &'a Control, is_local: &mut [bool]) {
        self.begin();
        self.add_params(&control.params);
        self.add_locals(&control.locals);
        self.add_variables(&control.body.stmts);
        let own_leaf_count = self.layout.leaf_count;
        let program = self.program;
        let actions: Vec<ActionId> = control
            .locals
            .iter()
            .filter_map(|local| match local {
                Local::Action(id) => Some(*id),
                _ => None,
            })
            .collect();
        for &id in &actions {
            is_local[id.index()] = true;
            self.add_params(&program.actions[id].params);
            self.add_variables(&program.actions[id].body.stmts);
        }
        // Actions use constants, which stand before them.
        control.locals.iter().for_each(|local| self.constant(local));
        for id in actions {
            self.local_action(id, own_leaf_count);
        }
        self.branch = 0;
        self.mode = Mode::Report;
        self.state = Some(Assigned::filled(self.layout.leaf_count, true));
        self.enter_params(&control.params);
        self.returns = None;
        control.locals.iter().for_each(|local| self.local(local));
        self.block(&control.body);
        let returns = self.returns.take();
        join(&mut self.state, returns);
    }

    /// Analyses an action of a control: reports its own faults, and computes its effect on the control's variables,
    /// which are the leaves below `outer_leaf_count`.
    fn local_action(&mut self, id: ActionId, outer_leaf_count: usize) {
        let action = &self.program.actions[id];
        let silenced = self.sink.enter(&action.annotations);
        self.last_branch += 1;
        self.branch = self.last_branch;
        for param in &action.params {
            self.declared_in.insert(*param, self.branch);
        }
        self.mode = Mode::Expose;
        self.exposures.clear();
        self.run_callable(&action.params, &action.body, false);
        let from_empty = self.state.take();
        self.mode = Mode::Report;
        self.run_callable(&action.params, &action.body, true);
        self.check_results(&action.params);
        let from_full = self.state.take();
        self.sink.leave(silenced);
        let mut exposures = std::mem::take(&mut self.exposures);
        exposures.retain(|exposure| exposure.leaf < outer_leaf_count);
        exposures.sort_by_key(|exposure| (exposure.leaf, exposure.span));
        exposures.dedup_by_key(|exposure| exposure.leaf);
        self.summaries.insert(id, Summary { effect: Effect::new(from_empty, from_full), exposures });
    }

    fn parser(&mut self, parser: &'a Parser) {
        self.begin();
        self.reports_possible = false;
        self.add_params(&parser.params);
        self.add_locals(&parser.locals);
        parser.states.iter().for_each(|state| self.add_variables(&state.body));
        let Some(start) = parser.states.iter().position(|state| &*state.name == "start") else { return };
        self.mode = Mode::Report;
        self.state = Some(Assigned::filled(self.layout.leaf_count, true));
        self.enter_params(&parser.params);
        parser.locals.iter().for_each(|local| self.local(local));
        let first = self.state.take();
        for (state, entered) in parser.states.iter().zip(self.entries(parser, start, first)) {
            if entered.is_some() {
                let silenced = self.sink.enter(&state.annotations);
                self.state = entered;
                self.mode = Mode::Report;
                self.statements(&state.body);
                if let Transition::Select { keys, .. } = &state.transition {
                    keys.iter().for_each(|key| self.read(key));
                }
                self.sink.leave(silenced);
            }
        }
    }

    /// The entry state of each state of a parser.
    fn entries(&mut self, parser: &Parser, start: usize, first: Option<Assigned>) -> Vec<Option<Assigned>> {
        self.mode = Mode::Silent;
        let effects: Vec<Effect> = parser.states.iter().map(|state| self.effect(state)).collect();
        let mut entered: Vec<Option<Assigned>> = vec![None; parser.states.len()];
        entered[start] = first;
        let mut pending = OrderedSet::from([start]);
        let mut visits_left = VISITS_PER_STATE_MAX * parser.states.len();
        while let Some(position) = pending.pop_first() {
            let Some(left) = visits_left.checked_sub(1) else { return vec![None; parser.states.len()] };
            visits_left = left;
            let Some(after) = entered[position].as_ref().and_then(|state| effects[position].apply(state)) else {
                continue;
            };
            for target in targets(&parser.states[position].transition) {
                let before = entered[target].clone();
                join(&mut entered[target], Some(after.clone()));
                if entered[target] != before {
                    pending.insert(target);
                }
            }
        }
        entered
    }

    fn effect(&mut self, state: &ParserState) -> Effect {
        let mut run = |is_full| {
            self.state = Some(Assigned::filled(self.layout.leaf_count, is_full));
            self.statements(&state.body);
            self.state.take()
        };
        let from_empty = run(false);
        Effect::new(from_empty, run(true))
    }
}

/// The controls in the program's package.
fn outer_controls(program: &Program) -> OrderedSet<ControlId> {
    let is_package =
        |ty: &Type| matches!(ty, Type::Apply(id, _) if program.apply_types[*id].kind == ApplyTypeKind::Package);
    let packages = program.instances.iter().filter(|instance| is_package(&instance.ty));
    packages
        .flat_map(|package| package.args.iter().flatten())
        .filter_map(|arg| match &arg.ty {
            Type::Control(id, _) => Some(*id),
            _ => None,
        })
        .collect()
}

/// The targets of a transition, each once.
pub(crate) fn targets(transition: &Transition) -> OrderedSet<usize> {
    let position = |target: &Target| match target {
        Target::State(position) => Some(*position),
        Target::Accept | Target::Reject => None,
    };
    match transition {
        Transition::Direct(target) => position(target).into_iter().collect(),
        Transition::Select { cases, .. } => cases.iter().filter_map(|case| position(&case.target)).collect(),
    }
}
