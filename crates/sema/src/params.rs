//! Parameters and type parameters.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::unify::{Substitution, any_type, is_variable, substitute};
use syntax::ast::{self, Direction};

/// The owner of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParamOwner {
    /// `apply` of a parser or control, or of a parser or control type.
    Block,
    Action,
    /// A function.
    Function,
    /// An extern function or a method.
    Extern,
    /// The constructor of a parser.
    ParserConstructor,
    /// The constructor of a control.
    ControlConstructor,
    /// The constructor of an extern object.
    ExternConstructor,
    /// A package.
    Package,
}

impl ParamOwner {
    /// Whether the parameters are bound at compile time.
    fn is_constructor(self) -> bool {
        !matches!(self, ParamOwner::Block | ParamOwner::Action | ParamOwner::Function | ParamOwner::Extern)
    }

    /// Whether a parameter may be a parser, control or package.
    fn takes(self, object: ApplyTypeKind) -> bool {
        match self {
            ParamOwner::Package => true,
            ParamOwner::ParserConstructor => object == ApplyTypeKind::Parser,
            ParamOwner::ControlConstructor => object == ApplyTypeKind::Control,
            _ => false,
        }
    }
}

impl Checker<'_> {
    /// Declares type parameters in the current scope.
    pub(crate) fn type_params(&mut self, names: &[ast::Ident]) -> Vec<TypeParamId> {
        let mut params = Vec::with_capacity(names.len());
        for name in names {
            let id = self.hir.type_params.push(TypeParam { name: name.name.clone(), span: name.span });
            self.declare(name, Entity::TypeParam(id));
            params.push(id);
        }
        params
    }

    /// Reports parameters marked `@optional` in code written in P4, which cannot test whether there is an argument. The
    /// annotation is for packages, for types of parsers and controls, and for externs.
    pub(crate) fn check_not_optional(&mut self, written: &[ast::Parameter], what: &str) {
        for annotation in written.iter().filter_map(optional) {
            self.report(d::invalid_direction(annotation.span, &format!("a parameter of {what}"), "no `@optional`"));
        }
    }

    /// The type parameters of a parser or control, including one for each `_` among its types; the parameters of its
    /// `apply`; those of its constructor, whose owner this is.
    pub(crate) fn block_params(
        &mut self,
        signature: &ast::ApplyType,
        constructor: &[ast::Parameter],
        owner: ParamOwner,
    ) -> (Vec<TypeParamId>, Vec<VarId>, Vec<VarId>) {
        let mut type_params = self.type_params(&signature.type_parameters);
        let ((params, constructor_params), unnamed) = self.with_unnamed_types(|checker| {
            let params = checker.params(&signature.parameters, ParamOwner::Block);
            (params, checker.params(constructor, owner))
        });
        type_params.extend(unnamed);
        (type_params, params, constructor_params)
    }

    /// Declares parameters in the current scope.
    pub(crate) fn params(&mut self, written: &[ast::Parameter], owner: ParamOwner) -> Vec<VarId> {
        let mut params = Vec::with_capacity(written.len());
        let mut has_control_plane_params = false;
        for param in written {
            params.push(self.param(param, owner));
            if owner == ParamOwner::Action {
                if param.direction == Direction::None {
                    has_control_plane_params = true;
                } else if has_control_plane_params {
                    self.report(d::direction_after_control_plane(param.span, &param.name.name));
                }
            }
        }
        params
    }

    fn param(&mut self, param: &ast::Parameter, owner: ParamOwner) -> VarId {
        self.check_annotations(&param.annotations);
        let mut ty = self.resolve_type(&param.type_ref);
        if !self.check_no_recursion(&ty, param.type_ref.span) || !self.check_param_type(param, &ty, owner) {
            ty = Type::Unknown;
        }
        let default = param.default.as_ref().map(|default| {
            // An object as a default value is created for each instance without an argument.
            // Each instance of a package determines its type parameters, so the default value may do that, too.
            let expected = if owner == ParamOwner::Package { self.with_open_params(&ty) } else { ty.clone() };
            let mut value = self.with_construct(owner.is_constructor(), |checker| checker.value(default, &expected));
            self.resolve_expr(&mut value);
            if !self.is_known(&value) {
                self.report(d::not_constant(default.span));
            }
            value
        });
        let is_optional = has_optional(param);
        let kind = match owner {
            owner if owner.is_constructor() => VarKind::ConstructorParameter { default, is_optional },
            _ => VarKind::Parameter { direction: param.direction, default, is_optional },
        };
        if owner.is_constructor() && param.direction != Direction::None {
            self.report(d::invalid_direction(param.span, "a constructor's parameter", "no direction"));
        }
        if param.default.is_some() && matches!(param.direction, Direction::Out | Direction::InOut) {
            self.report(d::invalid_direction(param.span, "a parameter with a default value", "`in` or no direction"));
        }
        if is_optional && owner == ParamOwner::Action {
            self.report(d::invalid_direction(param.span, "a parameter of an action", "no `@optional`"));
        }
        if is_optional && param.default.is_some() {
            self.report(d::invalid_direction(param.span, "an `@optional` parameter", "no default value"));
        }
        let id = self.new_var(&param.name, ty, kind, &param.annotations);
        self.declare(&param.name, Entity::Var(id));
        id
    }

    /// The type with an inference variable in place of each type parameter.
    fn with_open_params(&mut self, ty: &Type) -> Type {
        let mut map = Substitution::new();
        any_type(ty, &mut |part| {
            if let Type::Param(id) = part
                && !is_variable(*id)
            {
                map.insert(*id, Type::Unknown);
            }
            false
        });
        for bound in map.values_mut() {
            *bound = self.fresh_variable();
        }
        substitute(ty, &map)
    }

    fn check_param_type(&mut self, param: &ast::Parameter, ty: &Type, owner: ParamOwner) -> bool {
        let what = match owner {
            ParamOwner::Action => "a parameter of an action",
            ParamOwner::ParserConstructor => "a parameter of a parser's constructor",
            ParamOwner::ControlConstructor => "a parameter of a control's constructor",
            ParamOwner::ExternConstructor => "a parameter of an extern object's constructor",
            _ => "a parameter",
        };
        if matches!(ty, Type::Extern(..)) && param.direction != Direction::None {
            let shown = format!("a parameter of the extern type `{}`", self.hir.show_type(ty));
            self.report(d::invalid_direction(param.span, &shown, "no direction"));
            return true;
        }
        let object = match ty {
            Type::Parser(..) => Some(ApplyTypeKind::Parser),
            Type::Control(..) => Some(ApplyTypeKind::Control),
            Type::Apply(id, _) => Some(self.hir.apply_types[*id].kind),
            _ => None,
        };
        let needs_value = param.direction != Direction::None || owner == ParamOwner::Action;
        if needs_value {
            // Target code may read `string` and lists. An `int` has no value at run time, so one with a direction could
            // not be passed.
            let is_constant = matches!(ty, Type::String | Type::List(_)) && owner == ParamOwner::Extern;
            return is_constant && param.direction == Direction::In
                || self.check_variable_type(ty, param.type_ref.span, what);
        }
        if *ty == Type::Void || object.is_some_and(|object| !owner.takes(object)) {
            let shown = self.hir.show_type(ty);
            self.report(d::invalid_variable_type(param.type_ref.span, what, &shown));
            return false;
        }
        true
    }
}

fn has_optional(param: &ast::Parameter) -> bool {
    optional(param).is_some()
}

/// The annotation `@optional` of a parameter.
fn optional(param: &ast::Parameter) -> Option<&ast::Annotation> {
    param.annotations.iter().find(|annotation| annotation.name.as_str() == "optional")
}
