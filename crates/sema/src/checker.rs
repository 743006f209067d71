//! The checker's state, and the functions that all its parts need.

use crate::control_plane::{Applied, Kind};
use crate::hir::*;
use crate::scopes::Scopes;
use base::{OrderedMap, OrderedSet, Span};
use std::rc::Rc;
use syntax::WarningLevel;
use syntax::ast::{self, Annotation, Base, Direction};
use syntax::diag::{Diagnostic, Diagnostics, Severity};

/// The kind of code being checked, which determines the permitted statements and calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PlaceKind {
    /// Declarations outside all blocks, or the declarations of a parser or control.
    Declarations,
    ParserState,
    ControlBody,
    Action,
    Function,
    /// An implementation of an abstract method.
    Method,
}

impl PlaceKind {
    /// The kind with its article, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PlaceKind::Declarations => "a declaration",
            PlaceKind::ParserState => "a parser state",
            PlaceKind::ControlBody => "a control's apply block",
            PlaceKind::Action => "an action",
            PlaceKind::Function => "a function",
            PlaceKind::Method => "a method",
        }
    }
}

/// The code that is being checked.
#[derive(Clone, Debug)]
pub(crate) struct CodeContext {
    pub(crate) kind: PlaceKind,
    pub(crate) return_type: Type,
    pub(crate) loop_depth: u32,
    /// Whether constructor calls are allowed: as arguments of constructors, and as values of table properties.
    pub(crate) allows_construct: bool,
    /// Whether this is in a branch of an `if`, or in the body of a loop.
    pub(crate) in_branch: bool,
    /// Whether this is inside a parser (its states or its declarations).
    pub(crate) in_parser: bool,
    /// The type of `this`.
    pub(crate) this: Option<Type>,
}

impl CodeContext {
    fn outermost() -> CodeContext {
        CodeContext {
            kind: PlaceKind::Declarations,
            return_type: Type::Void,
            loop_depth: 0,
            allows_construct: false,
            in_branch: false,
            in_parser: false,
            this: None,
        }
    }
}

/// The state of the checker.
pub(crate) struct Checker<'d> {
    pub(crate) hir: Program,
    diagnostics: &'d mut Diagnostics,
    pub(crate) scopes: Scopes,
    /// The bindings of inference variables.
    pub(crate) bindings: Vec<Option<Type>>,
    /// The values of constants that are known without instantiation.
    pub(crate) constants: OrderedMap<VarId, Expr>,
    /// The bases in which the numeric ones were written.
    pub(crate) constant_bases: OrderedMap<VarId, Base>,
    /// The total number of literals in all of them.
    pub(crate) constant_literals: usize,
    pub(crate) context: CodeContext,
    /// The type parameters for each `_` among the types of the parameters that are being declared.
    pub(crate) unnamed_type_params: Option<Vec<TypeParamId>>,
    /// Names of the outermost scope that are declared later, with the location of the declaration.
    pub(crate) declared_later: OrderedMap<Rc<str>, Span>,
    /// The name of the struct, header or union that is being declared.
    pub(crate) declared_type: Option<Span>,
    /// The declarations in progress: functions, actions, parsers and controls, to detect recursion.
    pub(crate) open_functions: Vec<FunctionId>,
    pub(crate) open_actions: Vec<ActionId>,
    pub(crate) open_parsers: Vec<ParserId>,
    pub(crate) open_controls: Vec<ControlId>,
    /// The warnings that enclosing declarations silence: `None` for all.
    silenced: Vec<Option<Rc<str>>>,
    /// The control-plane names that begin with a dot, which must be unique in the program.
    pub(crate) global_names: OrderedMap<(Kind, Rc<str>), Span>,
    /// The parsers and controls that the parser or control in progress applies directly, with the location of the first
    /// application; by both declarations.
    pub(crate) directly_applied: OrderedMap<(Applied, Applied), Span>,
    /// The parsers and controls that directly apply one with objects of the control plane.
    pub(crate) applying_controlled: OrderedSet<Applied>,
    /// The locations of the declarations of errors and match kinds.
    pub(crate) error_spans: Vec<Span>,
    pub(crate) match_kind_spans: Vec<Span>,
    /// Actions that the current table lists with invalid arguments.
    pub(crate) wrongly_listed_actions: OrderedSet<ActionId>,
    /// Whether the program has no `main`, and that has not been reported.
    pub(crate) lacks_main: bool,
    /// Match kinds that keys use without a declaration.
    pub(crate) unknown_match_kinds: OrderedSet<Rc<str>>,
}

impl<'d> Checker<'d> {
    pub(crate) fn new(diagnostics: &'d mut Diagnostics) -> Checker<'d> {
        let mut scopes = Scopes::default();
        scopes.push();
        Checker {
            hir: Program::default(),
            diagnostics,
            scopes,
            bindings: Vec::new(),
            constants: OrderedMap::new(),
            constant_bases: OrderedMap::new(),
            constant_literals: 0,
            context: CodeContext::outermost(),
            unnamed_type_params: None,
            declared_later: OrderedMap::new(),
            declared_type: None,
            open_functions: Vec::new(),
            open_actions: Vec::new(),
            open_parsers: Vec::new(),
            open_controls: Vec::new(),
            silenced: Vec::new(),
            global_names: OrderedMap::new(),
            directly_applied: OrderedMap::new(),
            applying_controlled: OrderedSet::new(),
            error_spans: Vec::new(),
            match_kind_spans: Vec::new(),
            wrongly_listed_actions: OrderedSet::new(),
            lacks_main: false,
            unknown_match_kinds: OrderedSet::new(),
        }
    }

    /// Adds a diagnostic.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds a warning, unless an enclosing declaration has `@noWarn("group")` or names its code.
    pub(crate) fn warn(&mut self, group: &str, warning: Diagnostic) {
        let is_named = |name: &str| name == group || name == warning.code;
        let is_silenced = self.silenced.iter().any(|name| name.as_deref().is_none_or(is_named));
        let levels = &self.hir.warning_levels;
        match levels.get(warning.code).or_else(|| levels.get(group)) {
            Some(WarningLevel::Silent) => {}
            _ if is_silenced => {}
            Some(WarningLevel::Error) => self.diagnostics.push(Diagnostic { severity: Severity::Error, ..warning }),
            _ => self.diagnostics.push(warning),
        }
    }

    /// The number of errors found so far.
    pub(crate) fn error_count(&self) -> usize {
        self.diagnostics.error_count()
    }

    /// Runs `work` for a declaration with these annotations, which are checked. The warnings in `@noWarn` are silenced.
    pub(crate) fn with_annotations<R>(&mut self, annotations: &[Annotation], work: impl FnOnce(&mut Self) -> R) -> R {
        self.check_bodies(annotations);
        let before = self.silenced.len();
        for annotation in &self.known_annotations(annotations) {
            if matches!(annotation.name.as_str(), "noWarn" | "noWarnings") {
                self.silenced.push(annotation.single_string().map(Into::into));
            }
        }
        self.warn_of_annotations(annotations);
        let result = work(self);
        self.silenced.truncate(before);
        result
    }

    /// Runs `work` in a new scope.
    pub(crate) fn with_scope<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push();
        let result = work(self);
        self.scopes.pop();
        result
    }

    /// Runs `work` for code of the given kind.
    pub(crate) fn with_place<R>(&mut self, kind: PlaceKind, return_type: Type, work: impl FnOnce(&mut Self) -> R) -> R {
        let context = CodeContext {
            kind,
            return_type,
            loop_depth: 0,
            allows_construct: false,
            in_branch: false,
            ..self.context.clone()
        };
        let outer = std::mem::replace(&mut self.context, context);
        let result = work(self);
        self.context = outer;
        result
    }

    /// Runs `work` with constructor calls allowed or not.
    pub(crate) fn with_construct<R>(&mut self, allowed: bool, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.context.allows_construct, allowed);
        let result = work(self);
        self.context.allows_construct = outer;
        result
    }

    /// Creates a variable, parameter or constant without adding its name to a scope.
    pub(crate) fn new_var(&mut self, name: &ast::Ident, ty: Type, kind: VarKind, annotations: &[Annotation]) -> VarId {
        self.hir.vars.push(Var {
            name: name.name.clone(),
            ty,
            kind,
            annotations: self.known_annotations(annotations),
            span: name.span,
        })
    }

    /// The direction of a parameter; `None` for one of a constructor.
    pub(crate) fn direction(&self, param: VarId) -> Direction {
        match self.hir.vars[param].kind {
            VarKind::Parameter { direction, .. } => direction,
            _ => Direction::None,
        }
    }
}

/// The placeholder for an expression with an error.
pub(crate) fn poisoned(span: Span) -> Expr {
    Expr { kind: ExprKind::Poisoned, ty: Type::Unknown, span }
}

/// Builds an expression.
pub(crate) fn expr(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}
