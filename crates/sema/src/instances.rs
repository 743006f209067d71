//! Constructor calls, instances, and the implementations of abstract methods.

use crate::arguments::{Bound, Signature, Style};
use crate::calls::WrittenCall;
use crate::checker::{Checker, PlaceKind, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::types::Omitted;
use crate::unify::{any_type, has_variables, is_variable, substitute, substitution};
use base::Span;
use syntax::ast::{self, Annotation};

/// An instance without a name so far.
struct Made {
    ty: Type,
    constructor: usize,
    args: Vec<Option<Expr>>,
}

impl Checker<'_> {
    /// `T(arguments)` in an expression.
    pub(crate) fn construct(&mut self, written: &ast::Type, call: WrittenCall, hint: Option<&Type>) -> Expr {
        let ty = self.resolve_type_with(written, Omitted::Infer);
        if ty == Type::Unknown {
            self.check_arguments_alone(call.arguments);
            return poisoned(call.span);
        }
        if !self.context.allows_construct {
            let is_value = matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Bool);
            let shown = is_value.then(|| self.hir.show_type(&ty));
            self.report(d::constructor_not_allowed_here(call.span, shown.as_deref()));
            return poisoned(call.span);
        }
        let Some(made) = self.instantiate(&ty, call, hint) else { return poisoned(call.span) };
        if let Type::Extern(id, _) = &made.ty
            && let Some(method) = self.hir.externs[*id].methods.iter().find(|method| must_be_given(method))
        {
            let diagnostic = d::missing_method(call.span, &method.name, method.span);
            self.report(diagnostic);
        }
        expr(ExprKind::Construct { constructor: made.constructor, args: made.args }, made.ty, call.span)
    }

    /// Selects the constructor, checks its arguments, infers type arguments.
    fn instantiate(&mut self, ty: &Type, call: WrittenCall, hint: Option<&Type>) -> Option<Made> {
        self.check_no_recursion(ty, call.span);
        let ty = &self.choose_package(ty, call)?;
        let Some(constructors) = self.constructors(ty) else {
            let shown = self.hir.show_type(ty);
            self.report(d::not_instantiable(call.span, &shown));
            return None;
        };
        let chosen = self.select_overload(&constructors, call.arguments, call.span)?;
        let Bound { args, .. } = self.bind_arguments(&constructors[chosen], &[], call.arguments, call.span)?;
        let mut resolved = self.resolve(ty);
        if has_variables(&resolved)
            && let Some(hint) = hint
        {
            self.unify(hint, &resolved.clone());
            resolved = self.resolve(&resolved);
        }
        if args.iter().any(Option::is_none) {
            resolved = self.bind_unused_to_void(&resolved);
        }
        if has_variables(&resolved) && !self.is_determined_by(hint, &resolved) {
            let shown = self.hir.show_type(&resolved);
            self.report(d::cannot_infer_instance(call.span, &shown, self.type_span(&resolved)));
            return None;
        }
        let mut args = args;
        args.iter_mut().flatten().for_each(|arg| self.resolve_expr(arg));
        Some(Made { ty: resolved, constructor: chosen, args })
    }

    /// Whether the remaining inference variables of a type also occur in the expected type, so that other arguments
    /// will determine them.
    fn is_determined_by(&self, hint: Option<&Type>, ty: &Type) -> bool {
        let Some(hint) = hint.map(|hint| self.resolve(hint)) else { return false };
        let is_wanted = |variable: &Type| any_type(&hint, &mut |part| part == variable);
        !any_type(ty, &mut |part| matches!(part, Type::Param(id) if is_variable(*id)) && !is_wanted(part))
    }

    /// Binds the type parameters of a package that only omitted arguments would determine to `void`, because there are
    /// no values of such a type. Other types are unchanged.
    fn bind_unused_to_void(&mut self, ty: &Type) -> Type {
        if let Type::Apply(id, type_args) = ty
            && self.hir.apply_types[*id].kind == ApplyTypeKind::Package
        {
            for argument in type_args.iter().filter(|argument| has_variables(argument)) {
                self.unify(argument, &Type::Void);
            }
        }
        self.resolve(ty)
    }

    /// The overloaded package that fits the arguments. Other types are unchanged.
    fn choose_package(&mut self, ty: &Type, call: WrittenCall) -> Option<Type> {
        let Type::Apply(id, type_args) = ty else { return Some(ty.clone()) };
        let named = &self.hir.apply_types[*id];
        let same = |other: &&ApplyType| other.kind == ApplyTypeKind::Package && other.name == named.name;
        let all: Vec<(ApplyTypeId, usize)> = self
            .hir
            .apply_types
            .ids()
            .filter(|&id| same(&&self.hir.apply_types[id]))
            .map(|id| (id, self.hir.apply_types[id].type_params.len()))
            .collect();
        if named.kind != ApplyTypeKind::Package || all.len() < 2 {
            return Some(ty.clone());
        }
        let mut candidates = Vec::new();
        for (other, arity) in all {
            let is_like = other == *id || arity == type_args.len();
            let type_args =
                if is_like { type_args.clone() } else { (0..arity).map(|_| self.fresh_variable()).collect() };
            candidates.push(Type::Apply(other, type_args));
        }
        let signatures: Vec<Signature> =
            candidates.iter().filter_map(|candidate| self.constructors(candidate)).flatten().collect();
        let chosen = self.select_overload(&signatures, call.arguments, call.span)?;
        Some(candidates.swap_remove(chosen))
    }

    /// The constructors of a type; `None` if it has none.
    fn constructors(&self, ty: &Type) -> Option<Vec<Signature>> {
        let (name, span, lists, map) = match ty {
            Type::Extern(id, args) => {
                let it = &self.hir.externs[*id];
                (&it.name, it.span, it.constructors.clone(), substitution(&it.type_params, args))
            }
            Type::Parser(id, args) => {
                let it = &self.hir.parsers[*id];
                (&it.name, it.span, vec![it.constructor_params.clone()], substitution(&it.type_params, args))
            }
            Type::Control(id, args) => {
                let it = &self.hir.controls[*id];
                (&it.name, it.span, vec![it.constructor_params.clone()], substitution(&it.type_params, args))
            }
            Type::Apply(id, args) if self.hir.apply_types[*id].kind == ApplyTypeKind::Package => {
                let it = &self.hir.apply_types[*id];
                (&it.name, it.span, vec![it.params.clone()], substitution(&it.type_params, args))
            }
            _ => return None,
        };
        if lists.is_empty() {
            return None;
        }
        let signature = |params| Signature {
            name: name.clone(),
            type_params: Vec::new(),
            params,
            outer: map.clone(),
            span,
            style: Style::Construct,
        };
        Some(lists.into_iter().map(signature).collect())
    }

    /// Reports a parser or control that would contain itself.
    pub(crate) fn check_no_recursion(&mut self, ty: &Type, span: Span) -> bool {
        let diagnostic = match ty {
            Type::Parser(id, _) if self.open_parsers.contains(id) => {
                d::recursion(span, &self.hir.parsers[*id].name, self.hir.parsers[*id].span)
            }
            Type::Control(id, _) if self.open_controls.contains(id) => {
                d::recursion(span, &self.hir.controls[*id].name, self.hir.controls[*id].span)
            }
            _ => return true,
        };
        self.report(diagnostic);
        false
    }

    /// `T(arguments) name;`
    pub(crate) fn instantiation(
        &mut self,
        written: &ast::Instantiation,
        annotations: &[Annotation],
        span: Span,
    ) -> Option<InstanceId> {
        let ty = self.resolve_type_with(&written.type_ref, Omitted::Infer);
        let call = WrittenCall { type_arguments: &[], arguments: &written.arguments, span };
        let made = if ty == Type::Unknown {
            self.check_arguments_alone(call.arguments);
            None
        } else if self.check_instance_place(&ty, span) {
            self.instantiate(&ty, call, None)
        } else {
            None
        };
        let Some(made) = made else {
            self.declare(&written.name, Entity::Poisoned);
            return None;
        };
        let (methods, locals) = self.initializer(&made.ty, written, span);
        let id = self.hir.instances.push(Instance {
            name: written.name.name.clone(),
            ty: made.ty,
            constructor: made.constructor,
            args: made.args,
            methods,
            locals,
            annotations: self.known_annotations(annotations),
            span: written.name.span,
        });
        self.declare(&written.name, Entity::Instance(id));
        Some(id)
    }

    /// Reports an instance of this type that is not allowed here.
    fn check_instance_place(&mut self, ty: &Type, span: Span) -> bool {
        let is_top = self.open_parsers.is_empty() && self.open_controls.is_empty();
        let here = match self.context.kind {
            PlaceKind::Declarations if is_top => "the outermost scope",
            PlaceKind::Declarations if !self.open_parsers.is_empty() => "a parser",
            PlaceKind::Declarations => "a control",
            other => other.name(),
        };
        let is_allowed = match ty {
            Type::Extern(..) => self.context.kind == PlaceKind::Declarations,
            Type::Parser(..) => here == "a parser",
            Type::Control(..) => here == "a control",
            Type::Apply(..) => here == "the outermost scope",
            // If the type has no instances at all, the constructor call reports it.
            _ => true,
        };
        if !is_allowed {
            let shown = self.hir.show_type(ty);
            self.report(d::instance_not_allowed_here(span, &shown, here));
        }
        is_allowed
    }

    /// `= { ... }` after an instance: implementations of abstract methods, and instances for them.
    fn initializer(
        &mut self,
        ty: &Type,
        written: &ast::Instantiation,
        span: Span,
    ) -> (Vec<(usize, FunctionId)>, Vec<Local>) {
        let (mut methods, mut locals) = (Vec::new(), Vec::new());
        if let Some(declarations) = &written.initializer {
            let outer = self.context.this.replace(ty.clone());
            self.with_scope(|checker| {
                for declaration in declarations {
                    checker.initializer_member(ty, declaration, &mut methods, &mut locals);
                }
            });
            self.context.this = outer;
        }
        if let Type::Extern(id, _) = ty {
            for position in 0..self.hir.externs[*id].methods.len() {
                let method = &self.hir.externs[*id].methods[position];
                if must_be_given(method) && !methods.iter().any(|(implemented, _)| *implemented == position) {
                    let diagnostic = d::missing_method(span, &method.name, method.span);
                    self.report(diagnostic);
                }
            }
        }
        (methods, locals)
    }

    fn initializer_member(
        &mut self,
        ty: &Type,
        declaration: &ast::Declaration,
        methods: &mut Vec<(usize, FunctionId)>,
        locals: &mut Vec<Local>,
    ) {
        match &declaration.kind {
            ast::DeclarationKind::Function(function) => {
                let id = self.function(&function.prototype, Some(&function.body), declaration, PlaceKind::Method);
                let name = &function.prototype.name;
                match self.implemented_method(ty, id, name) {
                    Some(position) if methods.iter().any(|(other, _)| *other == position) => {
                        let first = methods.iter().find(|(other, _)| *other == position).map(|(_, id)| *id);
                        let place = first.map_or(Span::NONE, |id| self.hir.functions[id].span);
                        self.report(d::duplicate_declaration(name, place));
                    }
                    Some(position) => methods.push((position, id)),
                    None => {}
                }
            }
            ast::DeclarationKind::Instantiation(instantiation) => {
                if let Some(id) = self.instantiation(instantiation, &declaration.annotations, declaration.span) {
                    locals.push(Local::Instance(id));
                }
            }
            _ => self.report(d::declaration_not_allowed_here(declaration.span, "an instance's initializer")),
        }
    }

    /// The abstract method that a function implements; reports an error if there is none, or one with another
    /// signature.
    fn implemented_method(&mut self, ty: &Type, function: FunctionId, name: &ast::Ident) -> Option<usize> {
        let Type::Extern(id, args) = ty else {
            self.report(d::no_such_abstract_method(name, &self.hir.show_type(ty), self.type_span(ty)));
            return None;
        };
        let owner = &self.hir.externs[*id];
        let count = self.hir.functions[function].params.len();
        let named = |method: &&Method| method.is_abstract && method.name == name.name;
        let position = owner
            .methods
            .iter()
            .position(|method| named(&method) && method.params.len() == count)
            .or_else(|| owner.methods.iter().position(|method| named(&method)));
        let Some(position) = position else {
            let diagnostic = d::no_such_abstract_method(name, &owner.name, owner.span);
            self.report(diagnostic);
            return None;
        };
        let method = &owner.methods[position];
        let implementation = &self.hir.functions[function];
        let mut map = substitution(&owner.type_params, args);
        // Both may be generic; the names of their type parameters are irrelevant.
        let own_params: Vec<Type> = implementation.type_params.iter().map(|&param| Type::Param(param)).collect();
        map.extend(substitution(&method.type_params, &own_params));
        let same = |(expected, found): (&VarId, &VarId)| {
            let wanted_type = substitute(&self.hir.vars[*expected].ty, &map);
            let found_type = &self.hir.vars[*found].ty;
            let agrees = wanted_type == *found_type || *found_type == Type::Unknown || wanted_type == Type::Unknown;
            agrees && self.direction(*expected) == self.direction(*found)
        };
        let left_out = method.params.get(count..).unwrap_or(&[]);
        let is_same = count <= method.params.len()
            && method.type_params.len() == own_params.len()
            && left_out.iter().all(|&param| self.is_optional(param))
            && method.params.iter().zip(&implementation.params).all(same)
            && substitute(&method.return_type, &map) == implementation.return_type;
        if !is_same {
            let diagnostic = d::method_signature_differs(name, method.span);
            self.report(diagnostic);
        }
        Some(position)
    }
}

/// Whether each instance must implement the method: it is abstract, and not `@optional`.
fn must_be_given(method: &Method) -> bool {
    method.is_abstract && !method.annotations.iter().any(|annotation| annotation.name.as_str() == "optional")
}
