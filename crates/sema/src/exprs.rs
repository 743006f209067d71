//! Expressions: literals, names, aggregates, indexing, slices, casts. Operators, members and calls have their own
//! files.

use crate::checker::{Checker, expr, poisoned};
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use crate::types::{Omitted, fits, wrap};
use crate::unify::has_variables;
use base::Span;
use base::limits::WIDTH_BITS_MAX;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use syntax::ast;

impl Checker<'_> {
    /// Checks an expression and converts it to `target`.
    pub(crate) fn value(&mut self, written: &ast::Expr, target: &Type) -> Expr {
        let checked = self.expr(written, Some(target));
        self.coerce(checked, target)
    }

    /// Checks an expression that must be a value, and whose type is its own.
    pub(crate) fn operand(&mut self, written: &ast::Expr, hint: Option<&Type>) -> Expr {
        let checked = self.expr(written, hint);
        if !is_value_type(&checked.ty) {
            let found = self.hir.show_type(&checked.ty);
            self.report(d::not_a_value(checked.span, &found));
            return poisoned(checked.span);
        }
        checked
    }

    /// Checks an expression. `hint` is the expected type, as far as it is known: it determines the type of `{...}`,
    /// `...` and `{#}`, and does not convert.
    pub(crate) fn expr(&mut self, written: &ast::Expr, hint: Option<&Type>) -> Expr {
        let span = written.span;
        match &written.kind {
            ast::ExprKind::Bool(value) => expr(ExprKind::Bool(*value), Type::Bool, span),
            ast::ExprKind::Integer(literal) => self.integer_literal(literal, span),
            ast::ExprKind::String(text) => expr(ExprKind::String(text.clone()), Type::String, span),
            ast::ExprKind::Name(path) => self.name(path),
            ast::ExprKind::Type(_) => {
                self.report(d::not_a_value(span, "a type"));
                poisoned(span)
            }
            ast::ExprKind::This => self.this(span),
            ast::ExprKind::DontCare => {
                self.report(d::misplaced_dont_care(span));
                poisoned(span)
            }
            ast::ExprKind::Default => {
                self.report(d::not_a_value(span, "`default`"));
                poisoned(span)
            }
            ast::ExprKind::Dots => self.default_value_of(hint, span),
            ast::ExprKind::List(elements) => self.list(elements, hint, span),
            ast::ExprKind::Struct { fields, has_dots } => self.struct_value(fields, *has_dots, hint, span),
            ast::ExprKind::Invalid => self.invalid(hint, span),
            ast::ExprKind::Member { base, member } => self.member(base, member, span),
            ast::ExprKind::Index { base, index } => self.index(base, index, span),
            ast::ExprKind::Slice { base, high, low } => self.slice(base, high, low, span),
            ast::ExprKind::IndexedSlice { base, low, width } => self.indexed_slice(base, low, width, span),
            ast::ExprKind::Unary { operator, operand } => self.unary(*operator, operand, span),
            ast::ExprKind::Binary { operator, left, right } => self.binary(*operator, left, right, span),
            ast::ExprKind::Conditional { condition, then_value, else_value } => {
                self.conditional([condition, then_value, else_value], hint, span)
            }
            ast::ExprKind::Cast { type_ref, operand } => {
                let target = self.resolve_type_with(type_ref, Omitted::Infer);
                let operand = self.operand(operand, Some(&target));
                let mut cast = self.explicit_cast(operand, &target, span);
                self.resolve_expr(&mut cast);
                cast
            }
            ast::ExprKind::Call { callee, type_arguments, arguments } => {
                self.call(callee, type_arguments, arguments, hint, span)
            }
            ast::ExprKind::Mask { value, mask } => self.mask(value, mask, span),
            ast::ExprKind::Range { low, high } => self.range(low, high, span),
        }
    }

    /// Checks a condition.
    pub(crate) fn condition(&mut self, written: &ast::Expr) -> Expr {
        self.value(written, &Type::Bool)
    }

    fn integer_literal(&mut self, literal: &ast::IntegerLiteral, span: Span) -> Expr {
        let Some(width) = literal.width else {
            return expr(ExprKind::Int(literal.value.clone()), Type::Integer, span);
        };
        if width == 0 && literal.is_signed || width > WIDTH_BITS_MAX {
            let name = if literal.is_signed { "int" } else { "bit" };
            self.report(d::width_out_of_range(span, name, &BigInt::from(width)));
            return poisoned(span);
        }
        let ty = if literal.is_signed { Type::Int(width) } else { Type::Bit(width) };
        let wrapped = wrap(&literal.value, &ty);
        // Bits in another base than ten are a pattern: `8s0b1010_1010` is -86.
        let is_pattern = literal.base != ast::Base::Decimal && fits(&literal.value, &Type::Bit(width));
        if !fits(&literal.value, &ty) && !is_pattern {
            let warning = d::literal_does_not_fit(span, &literal.value, &self.hir.show_type(&ty), &wrapped, false);
            self.warn("overflow", warning);
        }
        expr(ExprKind::Int(wrapped), ty, span)
    }

    fn name(&mut self, path: &ast::Path) -> Expr {
        let Some(binding) = self.scopes.lookup_path(path).first().cloned() else {
            if let Some(position) = self.hir.match_kinds.iter().position(|kind| *kind == path.name.name) {
                return expr(ExprKind::MatchKind(position), Type::MatchKind, path.span);
            }
            self.report_unknown_name(&path.name, |entity| matches!(entity, Entity::Var(_) | Entity::Instance(_)));
            return poisoned(path.span);
        };
        self.warn_if_name_deprecated(&path.name, &binding);
        match binding.entity {
            Entity::Var(id) => self.variable(id, path.span),
            Entity::Instance(id) => expr(ExprKind::Instance(id), self.hir.instances[id].ty.clone(), path.span),
            Entity::Table(id) => expr(ExprKind::Table(id), Type::Table(id), path.span),
            Entity::Poisoned => poisoned(path.span),
            other => {
                self.report(d::wrong_kind_of_name(&path.name, "a value", other.kind_name(), binding.span));
                poisoned(path.span)
            }
        }
    }

    fn variable(&mut self, id: VarId, span: Span) -> Expr {
        self.hir.named_vars.insert(id);
        let ty = self.hir.vars[id].ty.clone();
        let reference = expr(ExprKind::Var(id), ty, span);
        if reference.ty == Type::Integer
            && let Some(value) = self.fold(&reference)
        {
            return value;
        }
        reference
    }

    fn this(&mut self, span: Span) -> Expr {
        match self.context.this.clone() {
            Some(ty) => expr(ExprKind::This, ty, span),
            None => {
                self.report(d::misplaced_this(span));
                poisoned(span)
            }
        }
    }

    fn default_value_of(&mut self, hint: Option<&Type>, span: Span) -> Expr {
        match hint.map(|ty| self.resolve(ty)) {
            Some(Type::Unknown) => poisoned(span),
            Some(ty) if !has_variables(&ty) && self.has_default(&ty) => expr(ExprKind::Default, ty, span),
            Some(ty) if !has_variables(&ty) => {
                let shown = self.hir.show_type(&ty);
                self.report(d::no_default_value(span, &shown));
                poisoned(span)
            }
            _ => {
                self.report(d::type_not_known(span, "`...`"));
                poisoned(span)
            }
        }
    }

    /// Whether values of the type have a default.
    fn has_default(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Varbit(_) | Type::String => true,
            Type::Error | Type::Enum(_) | Type::Param(_) | Type::Unknown => true,
            Type::NewType(id) => self.has_default(&self.hir.new_types[*id].target),
            Type::Struct(id, args) => self.hir.field_types(*id, args).iter().all(|field| self.has_default(field)),
            Type::Tuple(elements) => elements.iter().all(|element| self.has_default(element)),
            Type::Array(element, _) => self.has_default(element),
            _ => false,
        }
    }

    fn invalid(&mut self, hint: Option<&Type>, span: Span) -> Expr {
        match hint.map(|ty| self.resolve(ty)) {
            Some(Type::Unknown) => poisoned(span),
            Some(ty) if self.is_header(&ty) || self.is_union(&ty) => expr(ExprKind::Invalid, ty, span),
            Some(ty) if !has_variables(&ty) => {
                let shown = self.hir.show_type(&ty);
                self.report(d::mismatched_types(span, &shown, "{#} (an invalid header)"));
                poisoned(span)
            }
            _ => {
                self.report(d::type_not_known(span, "`{#}`"));
                poisoned(span)
            }
        }
    }

    /// `{ a, b, ... }`
    fn list(&mut self, elements: &[ast::Expr], hint: Option<&Type>, span: Span) -> Expr {
        let hint = hint.map(|ty| self.resolve(ty));
        let dots = elements.last().filter(|last| matches!(last.kind, ast::ExprKind::Dots));
        let elements = if dots.is_some() { &elements[..elements.len() - 1] } else { elements };
        if let Some(early) = elements.iter().find(|element| matches!(element.kind, ast::ExprKind::Dots)) {
            self.report(d::misplaced_dots(early.span));
            return poisoned(span);
        }
        let expected = hint.as_ref().and_then(|ty| self.part_types(ty, elements.len()));
        let Some(expected) = expected else {
            if let Some(dots) = dots {
                self.report(d::type_not_known(dots.span, "`...`"));
            }
            let parts: Vec<Expr> = elements.iter().map(|element| self.operand(element, None)).collect();
            let types = parts.iter().map(|part| part.ty.clone()).collect();
            let tuple = expr(ExprKind::Aggregate(parts.into_iter().map(Some).collect()), Type::Tuple(types), span);
            return tuple;
        };
        let ty = hint.unwrap_or(Type::Unknown);
        let is_count_right =
            if dots.is_some() { elements.len() <= expected.len() } else { elements.len() == expected.len() };
        if !is_count_right {
            let shown = self.hir.show_type(&ty);
            self.report(d::initializer_count(span, &shown, expected.len(), elements.len()));
            return poisoned(span);
        }
        let mut parts: Vec<Option<Expr>> =
            elements.iter().zip(&expected).map(|(element, ty)| Some(self.part(element, ty))).collect();
        for missing in &expected[parts.len()..] {
            self.default_value_of(Some(missing), dots.map_or(span, |dots| dots.span));
        }
        parts.resize_with(expected.len(), || None);
        expr(ExprKind::Aggregate(parts), ty, span)
    }

    /// An element of a list, or a field's value. Its type need not be final while type inference is in progress.
    fn part(&mut self, written: &ast::Expr, expected: &Type) -> Expr {
        if has_variables(&self.resolve(expected)) {
            let part = self.operand(written, Some(expected));
            if part.ty == Type::Integer {
                return part;
            }
            return self.coerce(part, expected);
        }
        self.value(written, expected)
    }

    /// `{ a = x, b = y, ... }`
    fn struct_value(&mut self, fields: &[ast::KeyValue], has_dots: bool, hint: Option<&Type>, span: Span) -> Expr {
        let ty = hint.map(|ty| self.resolve(ty));
        let (id, args) = match &ty {
            Some(Type::Struct(id, args)) if !self.is_union(ty.as_ref().unwrap_or(&Type::Unknown)) => {
                (*id, args.clone())
            }
            Some(other) if !has_variables(other) => {
                if *other != Type::Unknown {
                    let shown = self.hir.show_type(other);
                    self.report(d::mismatched_types(span, &shown, "a list of named fields"));
                }
                return poisoned(span);
            }
            _ => return self.anonymous_struct(fields, has_dots, span),
        };
        let types = self.hir.field_types(id, &args);
        let mut parts: Vec<Option<Expr>> = vec![None; types.len()];
        let mut has_wrong_name = false;
        for field in fields {
            let position = self.hir.structs[id].fields.iter().position(|it| it.name == field.key.name);
            let Some(position) = position else {
                self.report_unknown_field(&field.key, id);
                has_wrong_name = true;
                continue;
            };
            let value = self.part(&field.value, &types[position]);
            if parts[position].replace(value).is_some() {
                self.report(d::duplicate_initializer(&field.key));
                has_wrong_name = true;
            }
        }
        // A misspelt name is most often meant for the missing one.
        if !has_wrong_name {
            self.check_missing_fields(id, &types, &parts, has_dots, span);
        }
        expr(ExprKind::Aggregate(parts), ty.unwrap_or(Type::Unknown), span)
    }

    /// `{ a = x, b = y }` without an expected struct, as in an argument of a generic function: it gets a struct type of
    /// its own. The specification does not define the type; the reference compiler uses the fields.
    fn anonymous_struct(&mut self, written: &[ast::KeyValue], has_dots: bool, span: Span) -> Expr {
        if has_dots {
            self.report(d::type_not_known(span, "a list of named fields with `...`"));
            return poisoned(span);
        }
        let mut fields: Vec<Field> = Vec::with_capacity(written.len());
        let mut parts = Vec::with_capacity(written.len());
        for field in written {
            let value = self.operand(&field.value, None);
            let value = if value.ty == Type::Integer { self.with_default_width(value) } else { value };
            if fields.iter().any(|other| other.name == field.key.name) {
                self.report(d::duplicate_initializer(&field.key));
                continue;
            }
            let (name, ty) = (field.key.name.clone(), value.ty.clone());
            fields.push(Field { name, ty, annotations: Vec::new(), span: field.key.span });
            parts.push(Some(value));
        }
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        let name = format!("{{{}}}", names.join(", "));
        let (kind, type_params, annotations) = (ast::StructKind::Struct, Vec::new(), Vec::new());
        let id = self.hir.structs.push(Struct { kind, name: name.into(), type_params, fields, annotations, span });
        expr(ExprKind::Aggregate(parts), Type::Struct(id, Vec::new()), span)
    }

    fn check_missing_fields(
        &mut self,
        id: StructId,
        types: &[Type],
        parts: &[Option<Expr>],
        has_dots: bool,
        span: Span,
    ) {
        let missing: Vec<usize> = (0..parts.len()).filter(|&position| parts[position].is_none()).collect();
        if missing.is_empty() {
            return;
        }
        if has_dots {
            for position in missing {
                self.default_value_of(Some(&types[position]), span);
            }
            return;
        }
        let owner = &self.hir.structs[id];
        let names: Vec<&str> = missing.iter().map(|&position| &*owner.fields[position].name).collect();
        let diagnostic = d::missing_initializer(span, &owner.name, &names, owner.span);
        self.report(diagnostic);
    }

    fn conditional(&mut self, parts: [&ast::Expr; 3], hint: Option<&Type>, span: Span) -> Expr {
        let condition = self.condition(parts[0]);
        let (yes, no) = (self.operand(parts[1], hint), self.operand(parts[2], hint));
        let (yes, no) = self.balance(yes, no);
        if !self.unify(&yes.ty, &no.ty) {
            let (a, b) = (self.hir.show_type(&yes.ty), self.hir.show_type(&no.ty));
            self.report(d::branches_differ(span, (yes.span, &a), (no.span, &b)));
            return poisoned(span);
        }
        if yes.ty == Type::Integer && self.fold(&condition).is_none() {
            self.report(d::width_not_known(span));
            return poisoned(span);
        }
        let ty = self.resolve(if yes.ty == Type::Unknown { &no.ty } else { &yes.ty });
        let whole = expr(ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)), ty, span);
        self.folded_integer(whole)
    }

    /// An `int` expression as a literal if its value is known.
    pub(crate) fn folded_integer(&mut self, e: Expr) -> Expr {
        if e.ty == Type::Integer
            && let Some(value) = self.fold(&e)
        {
            return value;
        }
        e
    }

    /// `base[index]`
    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base, None);
        let index = self.operand(index, None);
        match &base.ty {
            Type::Unknown => poisoned(span),
            Type::Array(element, size) => {
                let (element, size) = ((**element).clone(), *size);
                self.array_index(base, index, element, size, span)
            }
            Type::Tuple(elements) => {
                let elements = elements.clone();
                let Some(position) = self.integer_value(&index) else { return poisoned(span) };
                match position.to_usize().filter(|&position| position < elements.len()) {
                    Some(position) => {
                        let ty = elements[position].clone();
                        expr(ExprKind::TupleIndex(Box::new(base), position), ty, span)
                    }
                    None => {
                        self.report(d::index_out_of_range(index.span, &position, elements.len()));
                        poisoned(span)
                    }
                }
            }
            other => {
                let shown = self.hir.show_type(other);
                let diagnostic = d::not_indexable(base.span, &shown);
                let methods = self.method_names(other);
                self.report(match methods.is_empty() {
                    true => diagnostic,
                    false => diagnostic.help(format!("use its methods: {}", methods.join(", "))),
                });
                poisoned(span)
            }
        }
    }

    /// The methods of an extern object, as calls in the source.
    fn method_names(&self, ty: &Type) -> Vec<String> {
        let Type::Extern(id, _) = ty else { return Vec::new() };
        let params = |method: &Method| {
            let names: Vec<&str> = method.params.iter().map(|param| &*self.hir.vars[*param].name).collect();
            format!("`{}({})`", method.name, names.join(", "))
        };
        self.hir.externs[*id].methods.iter().map(params).collect()
    }

    fn array_index(&mut self, base: Expr, index: Expr, element: Type, size: u32, span: Span) -> Expr {
        let index_type = self.hir.underlying(&index.ty);
        if !matches!(index_type, Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Unknown) {
            let found = self.hir.show_type(&index.ty);
            self.report(d::mismatched_types(index.span, "a number", &found));
            return poisoned(span);
        }
        if let Some(position) = self.fold(&index).and_then(|literal| self.number(&literal))
            && (position.is_negative() || position >= BigInt::from(size))
        {
            self.report(d::index_out_of_range(index.span, &position, size as usize));
            return poisoned(span);
        }
        let index = match index.ty {
            Type::Integer => self.coerce(index, &Type::Bit(32)),
            Type::Enum(_) => self.coerce(index, &index_type),
            _ => index,
        };
        expr(ExprKind::Index(Box::new(base), Box::new(index)), element, span)
    }

    /// `base[high:low]`
    fn slice(&mut self, base: &ast::Expr, high: &ast::Expr, low: &ast::Expr, span: Span) -> Expr {
        let base = self.sliced(base);
        let (high_value, low_value) = (self.constant_integer(high), self.constant_integer(low));
        let (Some(base), Some(high_value), Some(low_value)) = (base, high_value, low_value) else {
            return poisoned(span);
        };
        let width = sliced_width(&base.ty);
        let is_fine = !low_value.is_negative() && high_value >= low_value && high_value < BigInt::from(width);
        if !is_fine {
            self.report(d::slice_out_of_range(high.span.to(low.span), &high_value, &low_value, width, base.span));
            return poisoned(span);
        }
        let (high, low) = (high_value.to_u32().unwrap_or(0), low_value.to_u32().unwrap_or(0));
        self.finish_slice(base, high, low, span)
    }

    /// A slice with known bounds. That of an `int` is a literal, because an `int` has no value at run time.
    fn finish_slice(&self, base: Expr, high: u32, low: u32, span: Span) -> Expr {
        let is_plain = base.ty == Type::Integer;
        let whole = expr(ExprKind::Slice(Box::new(base), high, low), Type::Bit(high - low + 1), span);
        if is_plain { self.fold(&whole).unwrap_or(whole) } else { whole }
    }

    /// `base[low +: width]`
    fn indexed_slice(&mut self, base: &ast::Expr, low: &ast::Expr, width: &ast::Expr, span: Span) -> Expr {
        let base = self.sliced(base);
        let low = self.operand(low, None);
        let width_value = self.constant_integer(width);
        let (Some(base), Some(width_value)) = (base, width_value) else { return poisoned(span) };
        let base_width = sliced_width(&base.ty);
        let low_type = self.hir.underlying(&low.ty);
        if !matches!(low_type, Type::Integer | Type::Bit(_) | Type::Unknown) {
            let found = self.hir.show_type(&low.ty);
            self.report(d::mismatched_types(low.span, "an unsigned number", &found));
            return poisoned(span);
        }
        let known_low = self.fold(&low).and_then(|literal| self.number(&literal));
        let lowest = known_low.clone().unwrap_or_default();
        let high = &lowest + &width_value - 1;
        if !width_value.is_positive() || lowest.is_negative() || high >= BigInt::from(base_width) {
            self.report(d::slice_out_of_range(low.span.to(width.span), &high, &lowest, base_width, base.span));
            return poisoned(span);
        }
        let width = width_value.to_u32().unwrap_or(1);
        if known_low.is_some() {
            let (high, low) = (high.to_u32().unwrap_or(0), lowest.to_u32().unwrap_or(0));
            return self.finish_slice(base, high, low, span);
        }
        if base.ty == Type::Integer {
            self.report(d::not_constant(low.span));
            return poisoned(span);
        }
        let low = if low.ty == Type::Integer { self.coerce(low, &Type::Bit(32)) } else { self.coerce(low, &low_type) };
        expr(ExprKind::IndexedSlice { base: Box::new(base), low: Box::new(low), width }, Type::Bit(width), span)
    }

    /// The base of a slice: a number with a width, or a known one without.
    fn sliced(&mut self, written: &ast::Expr) -> Option<Expr> {
        let base = self.operand(written, None);
        match self.hir.underlying(&base.ty) {
            Type::Unknown => None,
            Type::Integer if self.fold(&base).is_some() => Some(base),
            sized @ (Type::Bit(_) | Type::Int(_)) if !matches!(base.ty, Type::NewType(_)) => {
                Some(self.coerce(base, &sized))
            }
            _ => {
                let shown = self.hir.show_type(&base.ty);
                self.report(d::not_sliceable(base.span, &shown));
                None
            }
        }
    }
}

/// The number of bits from which a slice may select. An `int` has as many sign bits as it takes.
fn sliced_width(base: &Type) -> u32 {
    if *base == Type::Integer { WIDTH_BITS_MAX } else { crate::consts::type_width(base).unwrap_or(0) }
}

/// Whether expressions of this type have a value, at least at compile time.
fn is_value_type(ty: &Type) -> bool {
    !matches!(
        ty,
        Type::Void
            | Type::Table(_)
            | Type::Action
            | Type::ApplyResult(_)
            | Type::ActionEnum(_)
            | Type::Extern(..)
            | Type::Parser(..)
            | Type::Control(..)
            | Type::Apply(..)
            | Type::Set(_)
            | Type::ValueSet(_)
    )
}
