//! Declarations of the outermost scope, and those that parsers, controls and blocks share with it.

use crate::annotations::{joined_string, warning_level};
use crate::checker::{Checker, PlaceKind, poisoned};
use crate::consts::{CONSTANT_LITERALS_MAX, literal_count};
use crate::diagnostics as d;
use crate::hir::*;
use crate::params::ParamOwner;
use crate::scopes::Entity;
use crate::types::Omitted;
use crate::unify::has_variables;
use base::Span;
use syntax::ast::{self, Annotation, Declaration, DeclarationKind};

impl Checker<'_> {
    /// The whole program.
    pub(crate) fn program(&mut self, program: &ast::Program) {
        self.expect_later(&program.declarations);
        self.lacks_main = !self.declared_later.contains_key("main");
        for declaration in &program.declarations {
            self.hir.warning_levels.extend(declaration.annotations.iter().filter_map(warning_level));
        }
        for declaration in &program.declarations {
            self.with_annotations(&declaration.annotations, |checker| checker.declaration(declaration));
            self.note_deprecated(declaration);
            self.reached(declaration);
        }
        self.check_names_of_instances();
    }

    /// Records the names of later declarations, to explain a use before the declaration.
    fn expect_later(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            if let Some(name) = declaration.name() {
                self.declared_later.entry(name.name.clone()).or_insert(name.span);
            }
        }
    }

    fn reached(&mut self, declaration: &Declaration) {
        if let Some(name) = declaration.name() {
            self.declared_later.remove(&name.name);
        }
    }

    /// Marks the name of a declaration that was just checked, if it is `@deprecated`.
    pub(crate) fn note_deprecated(&mut self, declaration: &Declaration) {
        let is_function = matches!(declaration.kind, DeclarationKind::Function(_) | DeclarationKind::ExternFunction(_));
        let marked = declaration.annotations.iter().find(|annotation| annotation.name.as_str() == "deprecated");
        if let (false, Some(marked), Some(name)) = (is_function, marked, declaration.name()) {
            self.scopes.deprecate(&name.name, joined_string(&self.known_annotation(marked)).map(Into::into));
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let annotations = &declaration.annotations;
        if let Some(name) = declaration.name()
            && name.as_str() == "main"
            && !matches!(declaration.kind, DeclarationKind::Instantiation(_))
        {
            self.report(d::main_not_a_package(name.span, "another declaration"));
        }
        match &declaration.kind {
            DeclarationKind::Constant(constant) => {
                let local = self.constant(constant, annotations);
                self.hir.top.extend(local);
            }
            DeclarationKind::Instantiation(instantiation) => {
                if let Some(id) = self.instantiation(instantiation, annotations, declaration.span) {
                    self.hir.top.push(Local::Instance(id));
                    if instantiation.name.as_str() == "main" {
                        self.set_main(id);
                    }
                }
            }
            DeclarationKind::Struct(written) => self.struct_declaration(written, annotations),
            DeclarationKind::Typedef(typedef) => self.typedef(typedef, annotations),
            DeclarationKind::Enum(written) => self.enum_declaration(written, annotations),
            DeclarationKind::Error(names) => self.errors(names),
            DeclarationKind::MatchKind(names) => self.match_kinds(names),
            DeclarationKind::ExternObject(written) => self.extern_object(written, annotations),
            DeclarationKind::ExternFunction(prototype) => {
                let id = self.function(prototype, None, declaration, PlaceKind::Function);
                self.declare(&prototype.name, Entity::Function(id));
            }
            DeclarationKind::Action(action) => {
                self.action(action, declaration);
            }
            DeclarationKind::Function(written) => {
                let prototype = &written.prototype;
                self.function(prototype, Some(&written.body), declaration, PlaceKind::Function);
            }
            DeclarationKind::ParserType(ty) => self.apply_type(ty, ApplyTypeKind::Parser, annotations),
            DeclarationKind::ControlType(ty) => self.apply_type(ty, ApplyTypeKind::Control, annotations),
            DeclarationKind::Package(ty) => self.apply_type(ty, ApplyTypeKind::Package, annotations),
            DeclarationKind::Parser(parser) => self.parser(parser, declaration),
            DeclarationKind::Control(control) => self.control(control, declaration),
            DeclarationKind::Variable(_) | DeclarationKind::Table(_) | DeclarationKind::ValueSet(_) => {
                // The parser has already reported a variable.
                if !matches!(declaration.kind, DeclarationKind::Variable(_)) || self.error_count() == 0 {
                    self.report(d::declaration_not_allowed_here(declaration.span, "the outermost scope"));
                }
                if let Some(name) = declaration.name() {
                    self.declare(name, Entity::Poisoned);
                }
            }
        }
    }

    fn set_main(&mut self, id: InstanceId) {
        let is_package = matches!(&self.hir.instances[id].ty, Type::Apply(..));
        if is_package {
            self.hir.main = Some(id);
        } else {
            let (span, shown) = (self.hir.instances[id].span, self.hir.show_type(&self.hir.instances[id].ty));
            self.report(d::main_not_a_package(span, &shown));
        }
    }

    /// Declarations of a parser or control, in order.
    pub(crate) fn locals(&mut self, declarations: &[Declaration], owner: &str) -> Vec<Local> {
        let saved = self.declared_later.clone();
        self.expect_later(declarations);
        let mut locals = Vec::new();
        for declaration in declarations {
            let local = self.with_annotations(&declaration.annotations, |checker| checker.local(declaration, owner));
            self.note_deprecated(declaration);
            locals.extend(local);
            self.reached(declaration);
        }
        self.declared_later = saved;
        self.check_control_plane_names(&locals);
        locals
    }

    fn local(&mut self, declaration: &Declaration, owner: &str) -> Option<Local> {
        let annotations = &declaration.annotations;
        let in_parser = owner == "a parser";
        match &declaration.kind {
            DeclarationKind::Constant(constant) => self.constant(constant, annotations),
            DeclarationKind::Variable(variable) => self.variable_declaration(variable, annotations),
            DeclarationKind::Instantiation(written) => {
                self.instantiation(written, annotations, declaration.span).map(Local::Instance)
            }
            DeclarationKind::Action(action) if !in_parser => Some(Local::Action(self.action(action, declaration))),
            DeclarationKind::Table(table) if !in_parser => Some(Local::Table(self.table(table, declaration))),
            DeclarationKind::ValueSet(set) if in_parser => Some(Local::ValueSet(self.value_set(set, annotations))),
            _ => {
                self.report(d::declaration_not_allowed_here(declaration.span, owner));
                if let Some(name) = declaration.name() {
                    self.declare(name, Entity::Poisoned);
                }
                None
            }
        }
    }

    /// `const T name = value;`
    pub(crate) fn constant(&mut self, written: &ast::Constant, annotations: &[Annotation]) -> Option<Local> {
        let ty = self.resolve_type_with(&written.type_ref, Omitted::DontCare);
        let is_object = matches!(ty, Type::Extern(..));
        let is_constant_type = matches!(ty, Type::Integer | Type::String | Type::List(_) | Type::MatchKind)
            || is_object
            || crate::types::has_compile_time_element(&ty);
        let is_fine = is_constant_type || self.check_variable_type(&ty, written.type_ref.span, "a constant");
        let ty = if is_fine { ty } else { Type::Unknown };
        let value = self.with_construct(is_object, |checker| checker.value(&written.value, &ty));
        let (value, ty) = self.with_inferred_type(Some(value), ty, written.type_ref.span);
        let mut value = value.unwrap_or_else(|| poisoned(written.value.span));
        if !self.is_known(&value) {
            self.report(d::not_constant(written.value.span));
            value = poisoned(written.value.span);
        }
        let mut folded = self.fold(&value);
        self.constant_literals += folded.as_ref().map_or(0, literal_count);
        if self.constant_literals > CONSTANT_LITERALS_MAX {
            self.report(d::constants_too_large(written.value.span));
            (value, folded) = (poisoned(written.value.span), None);
        }
        if written.name.as_str() == "__v1model_version" {
            self.check_v1model_version(folded.as_ref(), written.value.span);
        }
        let var = self.new_var(&written.name, ty, VarKind::Constant, annotations);
        if let Some(folded) = folded {
            self.constants.insert(var, folded);
            self.constant_bases.insert(var, self.base_of(&written.value));
        }
        self.declare(&written.name, Entity::Var(var));
        Some(Local::Const(var, value))
    }

    /// `T name = value;`
    pub(crate) fn variable_declaration(
        &mut self,
        written: &ast::Variable,
        annotations: &[Annotation],
    ) -> Option<Local> {
        let omitted = if written.value.is_some() { Omitted::DontCare } else { Omitted::Refuse };
        let mut ty = self.resolve_type_with(&written.type_ref, omitted);
        if !self.check_variable_type(&ty, written.type_ref.span, "a variable") {
            ty = Type::Unknown;
        }
        let value = written.value.as_ref().map(|value| self.initial_value(value, &ty));
        let (value, ty) = self.with_inferred_type(value, ty, written.type_ref.span);
        let var = self.new_var(&written.name, ty, VarKind::Variable, annotations);
        self.declare(&written.name, Entity::Var(var));
        Some(Local::Var(var, value))
    }

    /// The initial value of a variable. At the head of a control it is evaluated when the control is applied, so it may
    /// apply tables.
    fn initial_value(&mut self, written: &ast::Expr, ty: &Type) -> Expr {
        let is_in_control = !self.open_controls.is_empty() && !self.context.in_parser;
        if self.context.kind == PlaceKind::Declarations && is_in_control {
            return self.with_place(PlaceKind::ControlBody, Type::Void, |checker| checker.value(written, ty));
        }
        self.value(written, ty)
    }

    /// The value and the type of a declaration with a `_` in its type, which is inferred from the value.
    fn with_inferred_type(&mut self, mut value: Option<Expr>, ty: Type, span: Span) -> (Option<Expr>, Type) {
        if !has_variables(&ty) {
            return (value, ty);
        }
        if let Some(value) = &mut value {
            if value.ty == Type::Unknown {
                self.poison_variables(&ty);
            }
            self.resolve_expr(value);
        }
        let ty = self.resolve(&ty);
        if has_variables(&ty) {
            self.report(d::misplaced_dont_care_type(span));
            return (value, Type::Unknown);
        }
        (value, ty)
    }

    fn errors(&mut self, names: &[ast::Ident]) {
        for name in names {
            match self.hir.errors.iter().position(|known| *known == name.name) {
                Some(first) => self.report(d::duplicate_declaration(name, self.error_spans[first])),
                None => {
                    self.hir.errors.push(name.name.clone());
                    self.error_spans.push(name.span);
                }
            }
        }
    }

    fn match_kinds(&mut self, names: &[ast::Ident]) {
        for name in names {
            match self.hir.match_kinds.iter().position(|known| *known == name.name) {
                Some(first) => self.report(d::duplicate_declaration(name, self.match_kind_spans[first])),
                None => {
                    self.hir.match_kinds.push(name.name.clone());
                    self.match_kind_spans.push(name.span);
                }
            }
        }
    }

    /// `parser name<...>(...);`, `control ...`, `package ...`
    fn apply_type(&mut self, written: &ast::ApplyType, kind: ApplyTypeKind, annotations: &[Annotation]) {
        let owner = match kind {
            ApplyTypeKind::Package => ParamOwner::Package,
            ApplyTypeKind::Parser | ApplyTypeKind::Control => ParamOwner::Block,
        };
        let (mut type_params, (params, unnamed)) = self.with_scope(|checker| {
            let type_params = checker.type_params(&written.type_parameters);
            let params = checker.with_unnamed_types(|checker| checker.params(&written.parameters, owner));
            (type_params, params)
        });
        type_params.extend(unnamed);
        let id = self.hir.apply_types.push(ApplyType {
            kind,
            name: written.name.name.clone(),
            type_params,
            params,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::ApplyType(id));
    }

    /// `extern name<...> { ... }`
    fn extern_object(&mut self, written: &ast::ExternObject, annotations: &[Annotation]) {
        let id = self.hir.externs.push(Extern {
            name: written.name.name.clone(),
            type_params: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::Extern(id));
        self.with_scope(|checker| {
            checker.hir.externs[id].type_params = checker.type_params(&written.type_parameters);
            for member in &written.members {
                checker.extern_member(id, member);
            }
        });
    }

    fn extern_member(&mut self, id: ExternId, member: &ast::ExternMember) {
        self.check_annotations(&member.annotations);
        match &member.kind {
            ast::ExternMemberKind::Constructor { name, parameters } => {
                let (params, unnamed) = self.with_unnamed_types(|checker| {
                    checker.with_scope(|checker| checker.params(parameters, ParamOwner::ExternConstructor))
                });
                self.hir.externs[id].type_params.extend(unnamed);
                let owner = &self.hir.externs[id];
                if owner.constructors.iter().any(|other| !self.params_differ(other, &params)) {
                    let span = owner.span;
                    self.report(d::duplicate_declaration(name, span));
                    return;
                }
                self.hir.externs[id].constructors.push(params);
            }
            ast::ExternMemberKind::Method { prototype, .. } if prototype.name.name == self.hir.externs[id].name => {
                self.report(d::constructor_with_result(&prototype.name));
            }
            ast::ExternMemberKind::Method { is_abstract, prototype } => {
                let (mut type_params, (params, unnamed), return_type) = self.with_scope(|checker| {
                    let type_params = checker.type_params(&prototype.type_parameters);
                    let return_type = checker.resolve_type(&prototype.return_type);
                    let params =
                        checker.with_unnamed_types(|checker| checker.params(&prototype.parameters, ParamOwner::Extern));
                    (type_params, params, return_type)
                });
                type_params.extend(unnamed);
                let owner = &self.hir.externs[id];
                let clash = owner
                    .methods
                    .iter()
                    .find(|other| other.name == prototype.name.name && !self.params_differ(&other.params, &params));
                if let Some(clash) = clash {
                    let span = clash.span;
                    self.report(d::duplicate_declaration(&prototype.name, span));
                    return;
                }
                let annotations = self.known_annotations(&member.annotations);
                self.hir.externs[id].methods.push(Method {
                    name: prototype.name.name.clone(),
                    is_abstract: *is_abstract,
                    type_params,
                    params,
                    return_type,
                    annotations,
                    span: prototype.name.span,
                });
            }
        }
    }

    /// A function with its body, or an extern function. A method's name is not added to the scope; the caller adds an
    /// extern function's.
    pub(crate) fn function(
        &mut self,
        prototype: &ast::FunctionPrototype,
        body: Option<&ast::Block>,
        declaration: &Declaration,
        kind: PlaceKind,
    ) -> FunctionId {
        let id = self.hir.functions.push(Function {
            name: prototype.name.name.clone(),
            type_params: Vec::new(),
            params: Vec::new(),
            return_type: Type::Unknown,
            body: body.map(|_| Block::default()),
            annotations: self.known_annotations(&declaration.annotations),
            span: prototype.name.span,
        });
        self.scopes.push();
        let mut type_params = self.type_params(&prototype.type_parameters);
        let return_type = self.resolve_type(&prototype.return_type);
        self.check_return_type(&return_type, prototype.return_type.span, body.is_some());
        // A method's parameters are those of its extern.
        let is_function = body.is_some() && kind == PlaceKind::Function;
        let owner = if is_function { ParamOwner::Function } else { ParamOwner::Extern };
        let (params, unnamed) = self.with_unnamed_types(|checker| checker.params(&prototype.parameters, owner));
        type_params.extend(unnamed);
        let function = &mut self.hir.functions[id];
        (function.type_params, function.params, function.return_type) = (type_params, params, return_type.clone());
        if let Some(body) = body {
            if kind == PlaceKind::Function {
                self.check_not_optional(&prototype.parameters, "a function");
                self.declare_outside(&prototype.name, Entity::Function(id));
            }
            self.open_functions.push(id);
            let checked = self.with_place(kind, return_type.clone(), |checker| checker.block(body));
            self.open_functions.pop();
            if !matches!(return_type, Type::Void | Type::Unknown) && !Self::always_leaves(&checked) {
                self.report(d::missing_return(prototype.name.span, &prototype.name.name));
            }
            self.hir.functions[id].body = Some(checked);
        }
        self.scopes.pop();
        id
    }

    /// Adds a name to the scope around the innermost one.
    fn declare_outside(&mut self, name: &ast::Ident, entity: Entity) {
        let inner = self.scopes.suspend();
        self.declare(name, entity);
        self.scopes.resume(inner);
    }

    fn check_return_type(&mut self, ty: &Type, span: Span, has_body: bool) {
        let is_for_target_code = !has_body && matches!(ty, Type::Integer | Type::String | Type::Extern(..));
        if *ty != Type::Void && !is_for_target_code {
            self.check_variable_type(ty, span, "a function's result");
        }
    }

    /// `action name(...) { ... }`
    pub(crate) fn action(&mut self, written: &ast::ActionDeclaration, declaration: &Declaration) -> ActionId {
        let id = self.hir.actions.push(Action {
            name: written.name.name.clone(),
            params: Vec::new(),
            body: Block::default(),
            annotations: self.known_annotations(&declaration.annotations),
            span: written.name.span,
        });
        self.scopes.push();
        let params = self.params(&written.parameters, ParamOwner::Action);
        self.hir.actions[id].params = params;
        self.declare_outside(&written.name, Entity::Action(id));
        self.open_actions.push(id);
        let body = self.with_place(PlaceKind::Action, Type::Void, |checker| checker.block(&written.body));
        self.open_actions.pop();
        self.scopes.pop();
        self.hir.actions[id].body = body;
        id
    }

    /// `control name(...)(...) { ... }`
    fn control(&mut self, written: &ast::ControlDeclaration, declaration: &Declaration) {
        let signature = &written.signature;
        let id = self.hir.controls.push(Control {
            name: signature.name.name.clone(),
            type_params: Vec::new(),
            params: Vec::new(),
            constructor_params: Vec::new(),
            locals: Vec::new(),
            body: Block::default(),
            annotations: self.known_annotations(&declaration.annotations),
            span: signature.name.span,
        });
        self.declare(&signature.name, Entity::Control(id));
        self.open_controls.push(id);
        self.with_scope(|checker| {
            checker.check_not_optional(&written.constructor_parameters, "a control's constructor");
            let found =
                checker.block_params(signature, &written.constructor_parameters, ParamOwner::ControlConstructor);
            let control = &mut checker.hir.controls[id];
            (control.type_params, control.params, control.constructor_params) = found;
            checker.with_scope(|checker| {
                let locals = checker.locals(&written.locals, "a control");
                let body =
                    checker.with_place(PlaceKind::ControlBody, Type::Void, |checker| checker.block(&written.body));
                checker.hir.controls[id].locals = locals;
                checker.hir.controls[id].body = body;
            });
        });
        self.open_controls.pop();
    }
}
