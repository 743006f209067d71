//! Type parameters: substitution and unification.
//!
//! An inference variable is a [`Type::Param`] whose index lies above all type parameters of programs. It exists while
//! one call or instantiation is checked; [`Checker::resolve`] replaces it with the type that it is bound to.

use crate::checker::Checker;
use crate::hir::*;
use base::OrderedMap;
use base::index::Id;

/// The index of the first inference variable.
const FIRST_VARIABLE: usize = 1 << 31;

/// The bindings of type parameters.
pub(crate) type Substitution = OrderedMap<TypeParamId, Type>;

/// Whether this is an inference variable.
pub(crate) fn is_variable(id: TypeParamId) -> bool {
    id.index() >= FIRST_VARIABLE
}

/// Whether a type contains an inference variable.
pub(crate) fn has_variables(ty: &Type) -> bool {
    any_type(ty, &mut |part| matches!(part, Type::Param(id) if is_variable(*id)))
}

/// Whether `test` returns true for a type or a type inside it.
pub(crate) fn any_type(ty: &Type, test: &mut impl FnMut(&Type) -> bool) -> bool {
    test(ty)
        || match ty {
            Type::Struct(_, args)
            | Type::Extern(_, args)
            | Type::Parser(_, args)
            | Type::Control(_, args)
            | Type::Apply(_, args)
            | Type::Tuple(args) => args.iter().any(|arg| any_type(arg, test)),
            Type::Array(element, _) | Type::List(element) | Type::ValueSet(element) | Type::Set(element) => {
                any_type(element, test)
            }
            _ => false,
        }
}

/// The type with every type parameter replaced for which `replace` returns a type.
fn map_params(ty: &Type, replace: &impl Fn(TypeParamId) -> Option<Type>) -> Type {
    let list = |args: &[Type]| args.iter().map(|arg| map_params(arg, replace)).collect();
    let boxed = |element: &Type| Box::new(map_params(element, replace));
    match ty {
        Type::Param(id) => replace(*id).unwrap_or_else(|| ty.clone()),
        Type::Struct(id, args) => Type::Struct(*id, list(args)),
        Type::Extern(id, args) => Type::Extern(*id, list(args)),
        Type::Parser(id, args) => Type::Parser(*id, list(args)),
        Type::Control(id, args) => Type::Control(*id, list(args)),
        Type::Apply(id, args) => Type::Apply(*id, list(args)),
        Type::Tuple(elements) => Type::Tuple(list(elements)),
        Type::Array(element, size) => Type::Array(boxed(element), *size),
        Type::List(element) => Type::List(boxed(element)),
        Type::ValueSet(element) => Type::ValueSet(boxed(element)),
        Type::Set(element) => Type::Set(boxed(element)),
        _ => ty.clone(),
    }
}

/// The type with its type parameters replaced.
pub(crate) fn substitute(ty: &Type, substitution: &Substitution) -> Type {
    if substitution.is_empty() {
        return ty.clone();
    }
    map_params(ty, &|id| substitution.get(&id).cloned())
}

/// Pairs type parameters with their arguments.
pub(crate) fn substitution(params: &[TypeParamId], args: &[Type]) -> Substitution {
    params.iter().copied().zip(args.iter().cloned()).collect()
}

impl Checker<'_> {
    /// Creates an inference variable.
    pub(crate) fn fresh_variable(&mut self) -> Type {
        self.bindings.push(None);
        Type::Param(TypeParamId::from_index(FIRST_VARIABLE + self.bindings.len() - 1))
    }

    fn binding(&self, id: TypeParamId) -> Option<&Type> {
        let index = id.index().checked_sub(FIRST_VARIABLE)?;
        self.bindings.get(index).and_then(Option::as_ref)
    }

    /// The type with all bound inference variables replaced.
    pub(crate) fn resolve(&self, ty: &Type) -> Type {
        if !has_variables(ty) {
            return ty.clone();
        }
        map_params(ty, &|id| self.binding(id).map(|bound| self.resolve(bound)))
    }

    /// Replaces inference variables inside an expression that was built before they were bound.
    pub(crate) fn resolve_expr(&self, expr: &mut Expr) {
        expr.ty = self.resolve(&expr.ty);
        match &mut expr.kind {
            ExprKind::Aggregate(elements) | ExprKind::Construct { args: elements, .. } => {
                elements.iter_mut().flatten().for_each(|element| self.resolve_expr(element));
            }
            ExprKind::Cast(inner) => self.resolve_expr(inner),
            ExprKind::Conditional(_, a, b) => {
                self.resolve_expr(a);
                self.resolve_expr(b);
            }
            _ => {}
        }
    }

    /// Makes two types equal by binding inference variables, and returns whether that succeeded. Bindings made before a
    /// failure remain.
    pub(crate) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (&a, &b) {
            (Type::Param(x), Type::Param(y)) if x == y => true,
            (Type::Param(id), other) | (other, Type::Param(id)) if is_variable(*id) => self.bind(*id, other),
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            (Type::Struct(x, xs), Type::Struct(y, ys)) if x == y => self.unify_all(xs, ys),
            (Type::Extern(x, xs), Type::Extern(y, ys)) if x == y => self.unify_all(xs, ys),
            (Type::Parser(x, xs), Type::Parser(y, ys)) if x == y => self.unify_all(xs, ys),
            (Type::Control(x, xs), Type::Control(y, ys)) if x == y => self.unify_all(xs, ys),
            (Type::Apply(x, xs), Type::Apply(y, ys)) if x == y => self.unify_all(xs, ys),
            (Type::Apply(..), Type::Parser(..) | Type::Control(..) | Type::Apply(..)) => self.unify_apply(&a, &b),
            (Type::Parser(..) | Type::Control(..), Type::Apply(..)) => self.unify_apply(&b, &a),
            (Type::Tuple(xs), Type::Tuple(ys)) => self.unify_all(xs, ys),
            (Type::Array(x, n), Type::Array(y, m)) => n == m && self.unify(x, y),
            (Type::List(x), Type::List(y)) => self.unify(x, y),
            (Type::ValueSet(x), Type::ValueSet(y)) | (Type::Set(x), Type::Set(y)) => self.unify(x, y),
            _ => a == b,
        }
    }

    /// Marks the inference variables of a type as erroneous, because what they depend on had an error.
    pub(crate) fn poison_variables(&mut self, ty: &Type) {
        let mut open = Vec::new();
        any_type(&self.resolve(ty), &mut |part| {
            if let Type::Param(id) = part
                && is_variable(*id)
            {
                open.push(*id);
            }
            false
        });
        for id in open {
            self.bindings[id.index() - FIRST_VARIABLE] = Some(Type::Unknown);
        }
    }

    fn bind(&mut self, id: TypeParamId, ty: &Type) -> bool {
        if any_type(ty, &mut |part| matches!(part, Type::Param(inner) if *inner == id)) {
            return false;
        }
        self.bindings[id.index() - FIRST_VARIABLE] = Some(ty.clone());
        true
    }

    /// Unifies two lists of types.
    pub(crate) fn unify_all(&mut self, a: &[Type], b: &[Type]) -> bool {
        a.len() == b.len() && a.iter().zip(b).fold(true, |good, (a, b)| self.unify(a, b) && good)
    }

    /// Unifies a parser or control (or another type of them) with the expected parser or control type.
    fn unify_apply(&mut self, expected: &Type, found: &Type) -> bool {
        if self.apply_kind(expected) != self.apply_kind(found) {
            return false;
        }
        let (expected, found) = (self.apply_params(expected), self.apply_params(found));
        let (Some(expected), Some(found)) = (expected, found) else { return false };
        let required = |checker: &Checker, params: &[(VarId, Type)]| {
            params.iter().filter(|(param, _)| !checker.is_optional(*param)).count()
        };
        if found.len() > expected.len() || found.len() < required(self, &expected) {
            return false;
        }
        expected.iter().zip(&found).fold(true, |good, ((w, wanted_type), (f, found_type))| {
            self.direction(*w) == self.direction(*f) && self.unify(wanted_type, found_type) && good
        })
    }

    fn apply_kind(&self, ty: &Type) -> Option<ApplyTypeKind> {
        match ty {
            Type::Parser(..) => Some(ApplyTypeKind::Parser),
            Type::Control(..) => Some(ApplyTypeKind::Control),
            Type::Apply(id, _) => Some(self.hir.apply_types[*id].kind),
            _ => None,
        }
    }

    /// The parameters of a parser's or control's `apply`, with the type arguments substituted.
    pub(crate) fn apply_params(&self, ty: &Type) -> Option<Vec<(VarId, Type)>> {
        let (type_params, params, args) = match ty {
            Type::Parser(id, args) => (&self.hir.parsers[*id].type_params, &self.hir.parsers[*id].params, args),
            Type::Control(id, args) => (&self.hir.controls[*id].type_params, &self.hir.controls[*id].params, args),
            Type::Apply(id, args) => (&self.hir.apply_types[*id].type_params, &self.hir.apply_types[*id].params, args),
            _ => return None,
        };
        let map = substitution(type_params, args);
        Some(params.iter().map(|&param| (param, substitute(&self.hir.vars[param].ty, &map))).collect())
    }

    /// Whether a parameter may be omitted because of `@optional`.
    pub(crate) fn is_optional(&self, param: VarId) -> bool {
        match self.hir.vars[param].kind {
            VarKind::Parameter { is_optional, .. } | VarKind::ConstructorParameter { is_optional, .. } => is_optional,
            _ => false,
        }
    }

    /// The default value of a parameter.
    pub(crate) fn default_value(&self, param: VarId) -> Option<&Expr> {
        match &self.hir.vars[param].kind {
            VarKind::Parameter { default, .. } | VarKind::ConstructorParameter { default, .. } => default.as_ref(),
            _ => None,
        }
    }
}
