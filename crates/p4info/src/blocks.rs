//! The contents of a program's blocks, in the order of the reference compiler.
//!
//! What enters: the typed tree. What leaves: every action, table, object and value set of the blocks in `main`, each
//! with the path of instances that contains it. The reference compiler inlines first. Therefore the contents of a
//! nested control stand where the control is declared, or before all others if the control is applied without an
//! instance name. Global actions come first, in the order of their use. Unused actions and tables are left out.

use crate::annotations::full_name;
use crate::types::{Bound, substituted};
use base::{OrderedMap, OrderedSet, Span};
use sema::hir::{self, Callee, ExprKind, Local, Type};
use sema::walk::for_each_call;
use std::collections::VecDeque;
use std::rc::Rc;
use syntax::ast::Annotation;

/// A declaration with the path of the instances that contain it; the path is empty in the outermost scope.
#[derive(Clone, Debug)]
pub(crate) struct Placed<'h, I> {
    pub owner: String,
    pub id: I,
    /// The arguments of the constructor of the enclosing parser or control.
    pub passed: Passed<'h>,
    /// The arguments for the type parameters of the enclosing parser or control.
    pub bound: Rc<Bound>,
}

impl<I> Placed<'_, I> {
    /// A declaration in the outermost scope.
    fn global(id: I) -> Self {
        Placed { owner: String::new(), id, passed: Rc::default(), bound: Rc::default() }
    }

    /// Its control-plane name.
    pub fn name(&self, name: &str, annotations: &[Annotation]) -> String {
        full_name(&self.owner, name, annotations)
    }
}

/// An action that the program uses.
#[derive(Debug)]
pub(crate) struct UsedAction<'h> {
    pub place: Placed<'h, hir::ActionId>,
    /// Whether a table lists it. An action that is only called has no parameters for the control plane.
    pub is_listed: bool,
}

/// An instance of an extern type.
#[derive(Clone, Debug)]
pub(crate) struct Object<'h> {
    /// Its control-plane name.
    pub name: String,
    pub ty: Type,
    pub annotations: &'h [Annotation],
    pub span: Span,
}

/// All contents, in order.
#[derive(Default)]
pub(crate) struct Contents<'h> {
    pub actions: Vec<UsedAction<'h>>,
    pub tables: Vec<Placed<'h, hir::TableId>>,
    pub objects: Vec<Object<'h>>,
    pub value_sets: Vec<Placed<'h, hir::ValueSetId>>,
    /// Calls of extern functions from controls.
    pub calls: Vec<ExternCall<'h>>,
    /// The actions that controls declare.
    pub actions_of_controls: OrderedMap<hir::ActionId, hir::ControlId>,
}

/// A call of an extern function.
pub(crate) struct ExternCall<'h> {
    pub function: hir::FunctionId,
    pub call: &'h hir::Call,
    pub span: Span,
    /// The arguments for the type parameters of the enclosing control.
    pub bound: Rc<Bound>,
}

/// A call in the body of a control, with its location.
type PlacedCall<'h> = (Placed<'h, hir::ControlId>, &'h hir::Call, Span);

/// Collects the contents. Only tables for whose name `is_applied` returns true count as applied.
pub(crate) fn contents<'h>(program: &'h hir::Program, is_applied: &dyn Fn(&str) -> bool) -> Contents<'h> {
    let no_action = |action: &hir::Action| &*action.name == "NoAction" && action.params.is_empty();
    let no_action = program.actions.iter_enumerated().find(|(_, action)| no_action(action)).map(|(id, _)| id);
    let contents = Contents { actions_of_controls: program.actions_of_controls(), ..Contents::default() };
    let mut walk = Walk { program, is_applied, no_action, contents, seen: OrderedSet::new() };
    let mut queue: VecDeque<Node<'h>> = VecDeque::new();
    let top = program.top.iter().filter_map(|local| match local {
        Local::Instance(id) => Some(*id),
        _ => None,
    });
    queue.extend(top.map(|id| Node::Instance(Placed::global(id))));
    while let Some(node) = queue.pop_front() {
        walk.visit(node, &mut queue);
    }
    walk.contents
}

/// The work list. Entries nearer to the outermost scope come first.
enum Node<'h> {
    Instance(Placed<'h, hir::InstanceId>),
    Object(Object<'h>),
    Control(BlockInstance<'h, hir::ControlId>),
    Parser(BlockInstance<'h, hir::ParserId>),
    Table(Placed<'h, hir::TableId>),
}

/// A control or parser at a path, with the arguments of its constructor.
#[derive(Clone)]
struct BlockInstance<'h, I> {
    id: I,
    path: String,
    passed: Passed<'h>,
    bound: Rc<Bound>,
}

impl<'h, I> BlockInstance<'h, I> {
    /// A declaration inside it.
    fn placed<L>(&self, id: L) -> Placed<'h, L> {
        let (passed, bound) = (Rc::clone(&self.passed), Rc::clone(&self.bound));
        Placed { owner: self.path.clone(), id, passed, bound }
    }
}

/// The arguments of a constructor, by parameter.
pub(crate) type Passed<'h> = Rc<Vec<(hir::VarId, Argument<'h>)>>;

/// An argument of a constructor: an instance or a value that is known at compile time.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'h> {
    /// The expression that makes the instance or has the value.
    pub made: &'h hir::Expr,
    /// The name of an instance that is made here: the parameter's, within the instance that receives it.
    path: String,
    /// The bindings of the names in the expression.
    pub passed: Passed<'h>,
    /// The arguments for the type parameters in its type.
    pub bound: Rc<Bound>,
    /// Whether it is an instance that was made for this receiver, not passed on from another.
    is_own: bool,
}

struct Walk<'a, 'h> {
    program: &'h hir::Program,
    is_applied: &'a dyn Fn(&str) -> bool,
    no_action: Option<hir::ActionId>,
    contents: Contents<'h>,
    /// The instances that have been visited.
    seen: OrderedSet<(String, hir::InstanceId)>,
}

/// What a control at a path, or one that is inlined into it, declares.
enum Declared<'h> {
    Action(Placed<'h, hir::ActionId>),
    Table(Placed<'h, hir::TableId>, hir::ControlId),
    Instance(Placed<'h, hir::InstanceId>),
    Object(Object<'h>),
}

/// The target of an `apply`: a control or a parser, with its declared name.
struct Applied<'h, I> {
    place: BlockInstance<'h, I>,
    by: By,
}

/// The target of an `apply`, resolved: type and path, the arguments of its constructor and of its type parameters, and
/// its name.
struct AppliedObject<'h> {
    ty: &'h Type,
    path: String,
    passed: Passed<'h>,
    bound: Rc<Bound>,
    by: By,
}

/// How an applied block is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Instance(hir::InstanceId),
    Parameter(hir::VarId),
    /// By its type.
    Type,
}

/// The bindings of type parameters to these arguments, which `outer` resolves.
fn bind(params: &[hir::TypeParamId], types: &[Type], outer: &Bound) -> Rc<Bound> {
    Rc::new(params.iter().copied().zip(types.iter().map(|ty| substituted(ty, outer))).collect())
}

impl<'h> Walk<'_, 'h> {
    fn visit(&mut self, node: Node<'h>, queue: &mut VecDeque<Node<'h>>) {
        match node {
            Node::Instance(instance) => self.visit_instance(&instance, queue),
            Node::Object(object) => self.contents.objects.push(object),
            Node::Control(control) => self.visit_control(&control, queue),
            Node::Parser(parser) => self.inline_parser(&parser, queue),
            Node::Table(table) => self.contents.tables.push(table),
        }
    }

    fn visit_instance(&mut self, place: &Placed<'h, hir::InstanceId>, queue: &mut VecDeque<Node<'h>>) {
        if !self.seen.insert((place.owner.clone(), place.id)) {
            return;
        }
        let instance = &self.program.instances[place.id];
        match &instance.ty {
            Type::Extern(..) => self.contents.objects.push(Object {
                name: place.name(&instance.name, &instance.annotations),
                ty: substituted(&instance.ty, &place.bound),
                annotations: &instance.annotations,
                span: instance.span,
            }),
            Type::Apply(..) => self.visit_arguments(&instance.args, queue),
            _ => {}
        }
    }

    /// The blocks in a package.
    fn visit_arguments(&mut self, args: &'h [Option<hir::Expr>], queue: &mut VecDeque<Node<'h>>) {
        let nothing = Passed::default();
        for arg in args.iter().flatten() {
            match (&arg.kind, &arg.ty) {
                (ExprKind::Instance(id), _) => {
                    queue.push_back(Node::Instance(Placed::global(*id)));
                }
                (ExprKind::Construct { args, .. }, Type::Control(id, types)) => {
                    let control = &self.program.controls[*id];
                    let path = control.name.to_string();
                    let passed = self.pass(&control.constructor_params, args, &path, &nothing, &Rc::default());
                    let bound = bind(&control.type_params, types, &Bound::new());
                    queue.push_back(Node::Control(BlockInstance { id: *id, path, passed, bound }));
                }
                (ExprKind::Construct { args, .. }, Type::Parser(id, types)) => {
                    let parser = &self.program.parsers[*id];
                    let path = parser.name.to_string();
                    let passed = self.pass(&parser.constructor_params, args, &path, &nothing, &Rc::default());
                    let bound = bind(&parser.type_params, types, &Bound::new());
                    queue.push_back(Node::Parser(BlockInstance { id: *id, path, passed, bound }));
                }
                // A nested package.
                (ExprKind::Construct { args, .. }, Type::Apply(..)) => self.visit_arguments(args, queue),
                _ => {}
            }
        }
    }

    // ------------------------------------------------------------------------------------- arguments of constructors

    /// The bindings of a constructor's parameters to the arguments for an instance at `path`.
    fn pass(
        &self,
        params: &[hir::VarId],
        args: &'h [Option<hir::Expr>],
        path: &str,
        outer: &Passed<'h>,
        bound: &Rc<Bound>,
    ) -> Passed<'h> {
        let argument = |(param, arg): (&hir::VarId, &'h Option<hir::Expr>)| {
            let arg = arg.as_ref()?;
            let passed_on = outer.iter().find(|(known, _)| matches!(&arg.kind, ExprKind::Var(var) if var == known));
            let argument = match (&arg.kind, passed_on) {
                (ExprKind::Construct { .. }, _) => {
                    let declaration = &self.program.vars[*param];
                    let path = full_name(path, &declaration.name, &declaration.annotations);
                    Argument { made: arg, path, passed: Rc::clone(outer), bound: Rc::clone(bound), is_own: true }
                }
                (_, Some((_, passed_on))) => Argument { is_own: false, ..passed_on.clone() },
                _ => {
                    let (passed, bound) = (Rc::clone(outer), Rc::clone(bound));
                    Argument { made: arg, path: String::new(), passed, bound, is_own: false }
                }
            };
            Some((*param, argument))
        };
        Rc::new(params.iter().zip(args).filter_map(argument).collect())
    }

    /// Resolves the target of an `apply`, and how it is named.
    fn applied_object<I>(&self, object: &'h hir::Expr, at: &BlockInstance<'h, I>) -> Option<AppliedObject<'h>> {
        let (ty, args, path, (outer, bound), by) = match &object.kind {
            ExprKind::Instance(id) => {
                let instance = &self.program.instances[*id];
                let path = full_name(&at.path, &instance.name, &instance.annotations);
                (&instance.ty, &instance.args[..], path, (&at.passed, &at.bound), By::Instance(*id))
            }
            ExprKind::Construct { args, .. } => {
                let name = match &object.ty {
                    Type::Control(id, _) => &self.program.controls[*id].name,
                    Type::Parser(id, _) => &self.program.parsers[*id].name,
                    _ => return None,
                };
                (&object.ty, &args[..], full_name(&at.path, name, &[]), (&at.passed, &at.bound), By::Type)
            }
            ExprKind::Var(param) => {
                let (_, argument) = at.passed.iter().find(|(known, _)| known == param)?;
                let ExprKind::Construct { args, .. } = &argument.made.kind else { return None };
                let outer = (&argument.passed, &argument.bound);
                (&argument.made.ty, &args[..], argument.path.clone(), outer, By::Parameter(*param))
            }
            _ => return None,
        };
        let (params, type_params, types) = match ty {
            Type::Control(id, types) => {
                let control = &self.program.controls[*id];
                (&control.constructor_params, &control.type_params, types)
            }
            Type::Parser(id, types) => {
                let parser = &self.program.parsers[*id];
                (&parser.constructor_params, &parser.type_params, types)
            }
            _ => return None,
        };
        let passed = self.pass(params, args, &path, outer, bound);
        let bound = bind(type_params, types, bound);
        Some(AppliedObject { ty, path, passed, bound, by })
    }

    /// The extern object that was made as an argument.
    fn object_of(argument: &Argument<'h>) -> Object<'h> {
        let ty = substituted(&argument.made.ty, &argument.bound);
        Object { name: argument.path.clone(), ty, annotations: &[], span: argument.made.span }
    }

    // ----------------------------------------------------------------------------------------------------- controls

    fn visit_control(&mut self, control: &BlockInstance<'h, hir::ControlId>, queue: &mut VecDeque<Node<'h>>) {
        let mut declared = Vec::new();
        self.inline(control, &mut declared);
        let mut calls = Vec::new();
        self.inline_calls(control, &mut calls);
        self.use_actions(&declared, &calls);
        for declared in declared {
            match declared {
                Declared::Action(_) => {}
                Declared::Table(table, _) if self.is_there(&table) => queue.push_back(Node::Table(table)),
                Declared::Table(..) => {}
                Declared::Instance(instance) => queue.push_back(Node::Instance(instance)),
                Declared::Object(object) => queue.push_back(Node::Object(object)),
            }
        }
    }

    fn is_there(&self, table: &Placed<'_, hir::TableId>) -> bool {
        let declaration = &self.program.tables[table.id];
        (self.is_applied)(&table.name(&declaration.name, &declaration.annotations))
    }

    /// The control that a call applies.
    fn applied_control(
        &self,
        call: &'h hir::Call,
        at: &BlockInstance<'h, hir::ControlId>,
    ) -> Option<Applied<'h, hir::ControlId>> {
        let Callee::Apply(object) = &call.callee else { return None };
        let AppliedObject { ty, path, passed, bound, by } = self.applied_object(object, at)?;
        let Type::Control(id, _) = ty else { return None };
        Some(Applied { place: BlockInstance { id: *id, path, passed, bound }, by })
    }

    /// Adds the declarations of a control and of the controls that it applies.
    fn inline(&self, at: &BlockInstance<'h, hir::ControlId>, to: &mut Vec<Declared<'h>>) {
        let control = &self.program.controls[at.id];
        let mut applied = Vec::new();
        for_each_call(&control.body.stmts, &mut |_, call| applied.extend(self.applied_control(call, at)));
        let mut done = OrderedSet::new();
        for inner in applied.iter().filter(|inner| inner.by == By::Type) {
            if done.insert(&inner.place.path) {
                self.inline(&inner.place, to);
            }
        }
        for (param, argument) in at.passed.iter().filter(|(_, argument)| argument.is_own) {
            match argument.made.ty {
                Type::Extern(..) => to.push(Declared::Object(Self::object_of(argument))),
                _ => self.inline_by(By::Parameter(*param), &applied, to),
            }
        }
        for local in &control.locals {
            match local {
                Local::Action(id) => to.push(Declared::Action(at.placed(*id))),
                Local::Table(table) => to.push(Declared::Table(at.placed(*table), at.id)),
                Local::Instance(instance) => match &self.program.instances[*instance].ty {
                    Type::Extern(..) => to.push(Declared::Instance(at.placed(*instance))),
                    _ => self.inline_by(By::Instance(*instance), &applied, to),
                },
                Local::Var(..) | Local::Const(..) | Local::ValueSet(_) => {}
            }
        }
    }

    /// Adds the declarations of the control that is applied by this name.
    fn inline_by(&self, by: By, applied: &[Applied<'h, hir::ControlId>], to: &mut Vec<Declared<'h>>) {
        if let Some(inner) = applied.iter().find(|applied| applied.by == by) {
            self.inline(&inner.place, to);
        }
    }

    /// The calls in a control's body, with the calls of applied controls inlined; each with its control.
    fn inline_calls(&self, at: &BlockInstance<'h, hir::ControlId>, to: &mut Vec<PlacedCall<'h>>) {
        for_each_call(&self.program.controls[at.id].body.stmts, &mut |e, call| match &call.callee {
            Callee::Apply(_) => {
                if let Some(inner) = self.applied_control(call, at) {
                    self.inline_calls(&inner.place, to);
                }
            }
            _ => to.push((at.placed(at.id), call, e.span)),
        });
    }

    // ------------------------------------------------------------------------------------------------------ actions

    /// Adds the actions that tables and calls use, and the calls of extern functions.
    fn use_actions(&mut self, declared: &[Declared<'h>], calls: &[PlacedCall<'h>]) {
        // Whether a table lists an action, by owner and action.
        let mut used: OrderedMap<(String, hir::ActionId), bool> = OrderedMap::new();
        let mut global = Vec::new();
        let mut note = |owner: &str, control: hir::ControlId, action: hir::ActionId, is_listed: bool| {
            let is_local = self.contents.actions_of_controls.get(&action) == Some(&control);
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
        for (place, call, _) in calls {
            if let Callee::Action(action) = &call.callee {
                note(&place.owner, place.id, *action, false);
            }
        }
        let local = declared.iter().filter_map(|declared| match declared {
            Declared::Action(place) => Some(place.clone()),
            _ => None,
        });
        let global = global.into_iter().map(Placed::global);
        let mut extern_calls = Vec::new();
        for place in global.chain(local) {
            if let Some(is_listed) = used.get(&(place.owner.clone(), place.id)) {
                let body = &self.program.actions[place.id].body.stmts;
                self.extern_calls(body, &place.bound, &mut OrderedSet::new(), &mut extern_calls);
                self.contents.actions.push(UsedAction { place, is_listed: *is_listed });
            }
        }
        for (place, call, span) in calls {
            self.extern_calls_of((call, *span), &place.bound, &mut OrderedSet::new(), &mut extern_calls);
        }
        self.contents.calls.extend(extern_calls);
    }

    /// The calls of extern functions, including indirect ones. `seen` contains the functions that were visited.
    fn extern_calls(
        &self,
        stmts: &'h [hir::Stmt],
        bound: &Rc<Bound>,
        seen: &mut OrderedSet<hir::FunctionId>,
        to: &mut Vec<ExternCall<'h>>,
    ) {
        for_each_call(stmts, &mut |e, call| self.extern_calls_of((call, e.span), bound, seen, to));
    }

    fn extern_calls_of(
        &self,
        (call, span): (&'h hir::Call, Span),
        bound: &Rc<Bound>,
        seen: &mut OrderedSet<hir::FunctionId>,
        to: &mut Vec<ExternCall<'h>>,
    ) {
        if let Callee::Function(id) = &call.callee {
            match &self.program.functions[*id].body {
                None => to.push(ExternCall { function: *id, call, span, bound: Rc::clone(bound) }),
                Some(body) if seen.insert(*id) => {
                    let function = &self.program.functions[*id];
                    let bound = bind(&function.type_params, &call.type_args, bound);
                    self.extern_calls(&body.stmts, &bound, seen, to);
                }
                Some(_) => {}
            }
        }
    }

    // ------------------------------------------------------------------------------------------------------ parsers

    fn inline_parser(&mut self, at: &BlockInstance<'h, hir::ParserId>, queue: &mut VecDeque<Node<'h>>) {
        let parser = &self.program.parsers[at.id];
        let mut applied = Vec::new();
        for state in &parser.states {
            for_each_call(&state.body, &mut |_, call| applied.extend(self.applied_parser(call, at)));
        }
        let mut done = OrderedSet::new();
        for inner in applied.iter().filter(|inner| inner.by == By::Type) {
            if done.insert(&inner.place.path) {
                self.inline_parser(&inner.place, queue);
            }
        }
        for (param, argument) in at.passed.iter().filter(|(_, argument)| argument.is_own) {
            match argument.made.ty {
                Type::Extern(..) => queue.push_back(Node::Object(Self::object_of(argument))),
                _ => self.inline_parser_by(By::Parameter(*param), &applied, queue),
            }
        }
        for local in &parser.locals {
            match local {
                Local::ValueSet(id) => self.contents.value_sets.push(at.placed(*id)),
                Local::Instance(id) if matches!(self.program.instances[*id].ty, Type::Extern(..)) => {
                    queue.push_back(Node::Instance(at.placed(*id)));
                }
                Local::Instance(id) => self.inline_parser_by(By::Instance(*id), &applied, queue),
                _ => {}
            }
        }
    }

    fn inline_parser_by(&mut self, by: By, applied: &[Applied<'h, hir::ParserId>], queue: &mut VecDeque<Node<'h>>) {
        if let Some(inner) = applied.iter().find(|applied| applied.by == by) {
            self.inline_parser(&inner.place, queue);
        }
    }

    /// The parser that a call applies.
    fn applied_parser(
        &self,
        call: &'h hir::Call,
        at: &BlockInstance<'h, hir::ParserId>,
    ) -> Option<Applied<'h, hir::ParserId>> {
        let Callee::Apply(object) = &call.callee else { return None };
        let AppliedObject { ty, path, passed, bound, by } = self.applied_object(object, at)?;
        let Type::Parser(id, _) = ty else { return None };
        Some(Applied { place: BlockInstance { id: *id, path, passed, bound }, by })
    }
}
