//! What the blocks of a program contain, in the order of the reference compiler.
//!
//! What enters: the typed tree. What leaves: every action, table, object and value set of the blocks that `main` names,
//! with the path of the instances that it stands in. The reference compiler inlines before it looks: what a nested
//! control declares stands where the control is declared, or first of all if the control is applied without a name;
//! global actions stand first, in the order of their use; of actions and tables there are only those that are used.

use crate::annotations::full_name;
use sema::hir::{self, Callee, ExprKind, Local, Type};
use sema::walk::for_each_call;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use syntax::ast::Annotation;

/// Something that is declared, with the path of what it stands in; nothing for the outermost scope.
#[derive(Clone, Debug)]
pub(crate) struct Placed<I> {
    pub owner: String,
    pub id: I,
}

impl<I> Placed<I> {
    /// The name that controllers know it by.
    pub fn name(&self, name: &str, annotations: &[Annotation]) -> String {
        full_name(&self.owner, name, annotations)
    }
}

/// An action that is used.
#[derive(Debug)]
pub(crate) struct UsedAction {
    pub place: Placed<hir::ActionId>,
    /// Whether a table lists it. Of one that is only called nothing is left for the control plane to give.
    pub is_listed: bool,
}

/// Everything, in order.
#[derive(Default)]
pub(crate) struct Contents<'h> {
    pub actions: Vec<UsedAction>,
    pub tables: Vec<Placed<hir::TableId>>,
    /// Instances of extern types.
    pub objects: Vec<Placed<hir::InstanceId>>,
    pub value_sets: Vec<Placed<hir::ValueSetId>>,
    /// Calls of extern functions from controls, with the function.
    pub calls: Vec<(hir::FunctionId, &'h hir::Call)>,
}

/// Collects everything. Only tables of which `is_applied` knows the name are applied.
pub(crate) fn contents<'h>(program: &'h hir::Program, is_applied: &dyn Fn(&str) -> bool) -> Contents<'h> {
    let no_action = |action: &hir::Action| &*action.name == "NoAction" && action.params.is_empty();
    let no_action = program.actions.iter_enumerated().find(|(_, action)| no_action(action)).map(|(id, _)| id);
    let mut walk = Walk { program, is_applied, no_action, contents: Contents::default(), seen: BTreeSet::new() };
    let mut queue: VecDeque<Node> = VecDeque::new();
    let top = program.top.iter().filter_map(|local| match local {
        Local::Instance(id) => Some(*id),
        _ => None,
    });
    queue.extend(top.map(|id| Node::Instance(Placed { owner: String::new(), id })));
    while let Some(node) = queue.pop_front() {
        walk.visit(node, &mut queue);
    }
    walk.contents
}

/// What waits for its turn. What is nearer to the outermost scope comes first.
enum Node {
    Instance(Placed<hir::InstanceId>),
    Control(Placed<hir::ControlId>),
    Parser(Placed<hir::ParserId>),
    Table(Placed<hir::TableId>),
}

struct Walk<'a, 'h> {
    program: &'h hir::Program,
    is_applied: &'a dyn Fn(&str) -> bool,
    no_action: Option<hir::ActionId>,
    contents: Contents<'h>,
    /// Instances that have been visited.
    seen: BTreeSet<(String, hir::InstanceId)>,
}

/// What a control declares at a path, or another that is inlined into it.
enum Declared {
    Action(Placed<hir::ActionId>),
    Table(Placed<hir::TableId>, hir::ControlId),
    Object(Placed<hir::InstanceId>),
}

impl<'h> Walk<'_, 'h> {
    fn visit(&mut self, node: Node, queue: &mut VecDeque<Node>) {
        match node {
            Node::Instance(instance) => self.visit_instance(&instance, queue),
            Node::Control(control) => self.visit_control(&control, queue),
            Node::Parser(parser) => self.visit_parser(&parser, queue),
            Node::Table(table) => self.contents.tables.push(table),
        }
    }

    fn visit_instance(&mut self, place: &Placed<hir::InstanceId>, queue: &mut VecDeque<Node>) {
        if !self.seen.insert((place.owner.clone(), place.id)) {
            return;
        }
        let instance = &self.program.instances[place.id];
        match &instance.ty {
            Type::Extern(..) => self.contents.objects.push(place.clone()),
            Type::Apply(..) => self.visit_arguments(&instance.args, queue),
            _ => {}
        }
    }

    /// The blocks that a package is made of.
    fn visit_arguments(&mut self, args: &'h [Option<hir::Expr>], queue: &mut VecDeque<Node>) {
        for arg in args.iter().flatten() {
            match (&arg.kind, &arg.ty) {
                (ExprKind::Instance(id), _) => {
                    queue.push_back(Node::Instance(Placed { owner: String::new(), id: *id }));
                }
                (ExprKind::Construct { .. }, Type::Control(id, _)) => {
                    let owner = self.program.controls[*id].name.to_string();
                    queue.push_back(Node::Control(Placed { owner, id: *id }));
                }
                (ExprKind::Construct { .. }, Type::Parser(id, _)) => {
                    let owner = self.program.parsers[*id].name.to_string();
                    queue.push_back(Node::Parser(Placed { owner, id: *id }));
                }
                // A package within a package.
                (ExprKind::Construct { args, .. }, Type::Apply(..)) => self.visit_arguments(args, queue),
                _ => {}
            }
        }
    }

    // ----------------------------------------------------------------------------------------------------- controls

    fn visit_control(&mut self, control: &Placed<hir::ControlId>, queue: &mut VecDeque<Node>) {
        let mut declared = Vec::new();
        self.inline(control.id, &control.owner, &mut declared);
        let mut calls = Vec::new();
        self.inline_calls(control.id, &control.owner, &mut calls);
        self.use_actions(&declared, &calls);
        for declared in declared {
            match declared {
                Declared::Action(_) => {}
                Declared::Table(table, _) if self.is_there(&table) => queue.push_back(Node::Table(table)),
                Declared::Table(..) => {}
                Declared::Object(object) => queue.push_back(Node::Instance(object)),
            }
        }
    }

    fn is_there(&self, table: &Placed<hir::TableId>) -> bool {
        let declaration = &self.program.tables[table.id];
        (self.is_applied)(&table.name(&declaration.name, &declaration.annotations))
    }

    /// The controls that a control applies, in the order of the calls: their types, the paths of their instances, and
    /// the instances if they have names.
    fn applied(&self, id: hir::ControlId, path: &str) -> Vec<(hir::ControlId, String, Option<hir::InstanceId>)> {
        let mut applied = Vec::new();
        for_each_call(&self.program.controls[id].body.stmts, &mut |_, call| {
            if let Callee::Apply(object) = &call.callee
                && let Type::Control(inner, _) = &object.ty
            {
                applied.extend(self.instance_path(object, path).map(|(path, instance)| (*inner, path, instance)));
            }
        });
        applied
    }

    /// The path of an instance that is applied, and the instance if it has a name.
    fn instance_path(&self, object: &hir::Expr, path: &str) -> Option<(String, Option<hir::InstanceId>)> {
        match (&object.kind, &object.ty) {
            (ExprKind::Instance(id), _) => {
                let instance = &self.program.instances[*id];
                Some((full_name(path, &instance.name, &instance.annotations), Some(*id)))
            }
            (ExprKind::Construct { .. }, Type::Control(id, _)) => {
                Some((full_name(path, &self.program.controls[*id].name, &[]), None))
            }
            (ExprKind::Construct { .. }, Type::Parser(id, _)) => {
                Some((full_name(path, &self.program.parsers[*id].name, &[]), None))
            }
            _ => None,
        }
    }

    /// Adds what a control declares, and what those declare that it applies.
    fn inline(&self, id: hir::ControlId, path: &str, to: &mut Vec<Declared>) {
        let applied = self.applied(id, path);
        let mut done = BTreeSet::new();
        for (control, path, instance) in &applied {
            if instance.is_none() && done.insert(path) {
                self.inline(*control, path, to);
            }
        }
        for local in &self.program.controls[id].locals {
            let owner = path.to_owned();
            match local {
                Local::Action(id) => to.push(Declared::Action(Placed { owner, id: *id })),
                Local::Table(table) => to.push(Declared::Table(Placed { owner, id: *table }, id)),
                Local::Instance(instance) => match &self.program.instances[*instance].ty {
                    Type::Extern(..) => to.push(Declared::Object(Placed { owner, id: *instance })),
                    _ => {
                        let is_it = |(_, _, applied): &&(_, _, Option<hir::InstanceId>)| *applied == Some(*instance);
                        if let Some((control, path, _)) = applied.iter().find(is_it) {
                            self.inline(*control, path, to);
                        }
                    }
                },
                Local::Var(..) | Local::Const(..) | Local::ValueSet(_) => {}
            }
        }
    }

    /// The calls of a control's body, with those of the controls that it applies in their place; each with its control.
    fn inline_calls(&self, id: hir::ControlId, path: &str, to: &mut Vec<(Placed<hir::ControlId>, &'h hir::Call)>) {
        for_each_call(&self.program.controls[id].body.stmts, &mut |_, call| match &call.callee {
            Callee::Apply(object) => {
                if let Type::Control(inner, _) = &object.ty
                    && let Some((path, _)) = self.instance_path(object, path)
                {
                    self.inline_calls(*inner, &path, to);
                }
            }
            _ => to.push((Placed { owner: path.to_owned(), id }, call)),
        });
    }

    // ------------------------------------------------------------------------------------------------------ actions

    /// Adds the actions that are used by tables and calls, and the calls of extern functions.
    fn use_actions(&mut self, declared: &[Declared], calls: &[(Placed<hir::ControlId>, &'h hir::Call)]) {
        // Whether a table lists them, by owner and action.
        let mut used: BTreeMap<(String, hir::ActionId), bool> = BTreeMap::new();
        let mut global = Vec::new();
        let mut note = |owner: &str, control: hir::ControlId, action: hir::ActionId, is_listed: bool| {
            let is_local = |local: &Local| matches!(local, Local::Action(local) if *local == action);
            let is_local = self.program.controls[control].locals.iter().any(is_local);
            let key = (if is_local { owner.to_owned() } else { String::new() }, action);
            if !is_local && !used.contains_key(&key) {
                global.push(action);
            }
            *used.entry(key).or_default() |= is_listed;
        };
        for declared in declared {
            let Declared::Table(place, control) = declared else { continue };
            if !self.is_there(place) {
                continue;
            }
            let table = &self.program.tables[place.id];
            for listed in &table.actions {
                note(&place.owner, *control, listed.action.action, true);
            }
            if let (None, Some(no_action)) = (&table.default_action, self.no_action) {
                note(&place.owner, *control, no_action, true);
            }
        }
        for (place, call) in calls {
            if let Callee::Action(action) = &call.callee {
                note(&place.owner, place.id, *action, false);
            }
        }
        let local = declared.iter().filter_map(|declared| match declared {
            Declared::Action(place) => Some(place.clone()),
            _ => None,
        });
        let global = global.into_iter().map(|id| Placed { owner: String::new(), id });
        let mut extern_calls = Vec::new();
        for place in global.chain(local) {
            if let Some(is_listed) = used.get(&(place.owner.clone(), place.id)) {
                self.extern_calls(&self.program.actions[place.id].body.stmts, &mut BTreeSet::new(), &mut extern_calls);
                self.contents.actions.push(UsedAction { place, is_listed: *is_listed });
            }
        }
        for (_, call) in calls {
            self.extern_calls_of(call, &mut BTreeSet::new(), &mut extern_calls);
        }
        self.contents.calls.extend(extern_calls);
    }

    /// The calls of extern functions, also those in what is called. `seen` has the functions that were looked into.
    fn extern_calls(
        &self,
        stmts: &'h [hir::Stmt],
        seen: &mut BTreeSet<hir::FunctionId>,
        to: &mut Vec<(hir::FunctionId, &'h hir::Call)>,
    ) {
        for_each_call(stmts, &mut |_, call| self.extern_calls_of(call, seen, to));
    }

    fn extern_calls_of(
        &self,
        call: &'h hir::Call,
        seen: &mut BTreeSet<hir::FunctionId>,
        to: &mut Vec<(hir::FunctionId, &'h hir::Call)>,
    ) {
        if let Callee::Function(id) = &call.callee {
            match &self.program.functions[*id].body {
                None => to.push((*id, call)),
                Some(body) if seen.insert(*id) => self.extern_calls(&body.stmts, seen, to),
                Some(_) => {}
            }
        }
    }

    // ------------------------------------------------------------------------------------------------------ parsers

    fn visit_parser(&mut self, parser: &Placed<hir::ParserId>, queue: &mut VecDeque<Node>) {
        self.inline_parser(parser.id, &parser.owner, queue);
    }

    fn inline_parser(&mut self, id: hir::ParserId, path: &str, queue: &mut VecDeque<Node>) {
        let parser = &self.program.parsers[id];
        let mut applied = Vec::new();
        for state in &parser.states {
            for_each_call(&state.body, &mut |_, call| {
                if let Callee::Apply(object) = &call.callee
                    && let Type::Parser(inner, _) = &object.ty
                {
                    applied.extend(self.instance_path(object, path).map(|(path, instance)| (*inner, path, instance)));
                }
            });
        }
        let mut done = BTreeSet::new();
        for (inner, path, instance) in &applied {
            if instance.is_none() && done.insert(path) {
                self.inline_parser(*inner, path, queue);
            }
        }
        for local in &parser.locals {
            let owner = path.to_owned();
            match local {
                Local::ValueSet(id) => self.contents.value_sets.push(Placed { owner, id: *id }),
                Local::Instance(id) if matches!(self.program.instances[*id].ty, Type::Extern(..)) => {
                    queue.push_back(Node::Instance(Placed { owner, id: *id }));
                }
                Local::Instance(instance) => {
                    let is_it = |(_, _, applied): &&(_, _, Option<hir::InstanceId>)| *applied == Some(*instance);
                    if let Some((inner, path, _)) = applied.iter().find(is_it).cloned() {
                        self.inline_parser(inner, &path, queue);
                    }
                }
                _ => {}
            }
        }
    }
}
