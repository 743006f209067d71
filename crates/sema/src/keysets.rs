//! Keysets: the sets of values that the keys of a `select` or of a table's entry are matched with.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use crate::scopes::Entity;
use base::Span;
use syntax::ast;

impl Checker<'_> {
    /// One element of a keyset, for a key of this type. `None` after an error.
    pub(crate) fn key_element(&mut self, written: &ast::Expr, key: &Type) -> Option<KeyElement> {
        match &written.kind {
            ast::ExprKind::DontCare | ast::ExprKind::Default => Some(KeyElement::Any),
            ast::ExprKind::Dots => {
                self.report(d::dots_as_keyset(written.span));
                None
            }
            ast::ExprKind::Mask { value, mask } => {
                let (value, mask) = self.key_pair(value, mask, key, "&&&", written.span)?;
                Some(KeyElement::Mask(value, mask))
            }
            ast::ExprKind::Range { low, high } => {
                let (low, high) = self.key_pair(low, high, key, "..", written.span)?;
                self.check_range_order(&low, &high, written.span);
                Some(KeyElement::Range(low, high))
            }
            ast::ExprKind::Name(path) if self.value_set_named(path).is_some() => {
                let id = self.value_set_named(path)?;
                let element = self.hir.value_sets[id].element.clone();
                if !self.unify(&element, key) {
                    self.report_value_set_mismatch(written.span, &element, std::slice::from_ref(key));
                    return None;
                }
                Some(KeyElement::ValueSet(id))
            }
            _ => {
                let value = self.value(written, key);
                (value.ty != Type::Unknown).then_some(KeyElement::Value(value))
            }
        }
    }

    /// The two sides of a mask or range, converted to the key's type.
    fn key_pair(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        key: &Type,
        operator: &str,
        span: Span,
    ) -> Option<(Expr, Expr)> {
        let plain = self.hir.underlying(key);
        if !matches!(plain, Type::Bit(_) | Type::Int(_) | Type::Unknown) {
            let shown = self.hir.show_type(key);
            self.report(d::invalid_operand(span, operator, &shown, "numbers with a width"));
            return None;
        }
        let target = if matches!(key, Type::Enum(_)) { plain } else { key.clone() };
        let (a, b) = (self.value(a, &target), self.value(b, &target));
        (a.ty != Type::Unknown && b.ty != Type::Unknown).then_some((a, b))
    }

    /// Warns of a range that is known to be empty.
    pub(crate) fn check_range_order(&mut self, low: &Expr, high: &Expr, span: Span) {
        let number = |e| self.fold(e).and_then(|literal| self.number(&literal));
        if let (Some(low), Some(high)) = (number(low), number(high))
            && low > high
        {
            self.warn("range", d::empty_range(span, &low, &high));
        }
    }

    /// The value set that a path refers to.
    pub(crate) fn value_set_named(&self, path: &ast::Path) -> Option<ValueSetId> {
        match self.scopes.lookup_path(path).first()?.entity {
            Entity::ValueSet(id) => Some(id),
            _ => None,
        }
    }

    fn report_value_set_mismatch(&mut self, span: Span, element: &Type, keys: &[Type]) {
        let (expected, found) = (self.hir.show_types(keys), self.hir.show_type(element));
        self.report(d::value_set_mismatch(span, &found, &expected));
    }

    /// The keyset of a case of a `select`. `None` after an error.
    pub(crate) fn select_keyset(&mut self, written: &ast::Keyset, keys: &[Type]) -> Option<Keyset> {
        if let [only] = written.elements.as_slice() {
            match &only.kind {
                ast::ExprKind::DontCare | ast::ExprKind::Default => return Some(Keyset::Default),
                ast::ExprKind::Name(path) if self.value_set_named(path).is_some() => {
                    let id = self.value_set_named(path)?;
                    let element = self.hir.value_sets[id].element.clone();
                    if !self.value_set_fits(&element, keys) {
                        self.report_value_set_mismatch(only.span, &element, keys);
                        return None;
                    }
                    return Some(Keyset::ValueSet(id));
                }
                // A bare list is a keyset for several keys; a struct is one key.
                ast::ExprKind::List(_) if matches!(keys, [key] if self.is_plain_struct(key)) => {
                    let shown = self.hir.show_types(keys);
                    let help = format!("write a value of the struct, `({shown}){{ ... }}`, or select on its fields");
                    self.report(d::mismatched_types(only.span, &shown, "a list").help(help));
                    return None;
                }
                _ => {}
            }
        }
        self.key_elements(written, keys).map(Keyset::Keys)
    }

    /// One element for each key; reports an error if there are more or fewer.
    pub(crate) fn key_elements(&mut self, written: &ast::Keyset, keys: &[Type]) -> Option<Vec<KeyElement>> {
        // A tuple in parentheses may also be written as a list.
        let elements: &[ast::Expr] = match written.elements.as_slice() {
            [ast::Expr { kind: ast::ExprKind::List(inner), .. }] if keys.len() > 1 => inner,
            other => other,
        };
        if elements.len() != keys.len() {
            self.report(d::keyset_count(written.span, elements.len(), keys.len()));
            return None;
        }
        let checked: Vec<Option<KeyElement>> =
            elements.iter().zip(keys).map(|(element, key)| self.key_element(element, key)).collect();
        checked.into_iter().collect()
    }

    /// Whether members of this type are compared with the keys: as one key, or part by part, so that a nested struct
    /// stands for its fields. A key of a struct type is compared with that type, or as the only key with a tuple.
    fn value_set_fits(&self, element: &Type, keys: &[Type]) -> bool {
        let fields = match keys {
            [key] if matches!(element, Type::Tuple(_)) && key != element => self.parts(key),
            _ => None,
        };
        let mut keys: Vec<Type> = fields.as_deref().unwrap_or(keys).iter().rev().cloned().collect();
        let is_unknown = *element == Type::Unknown || keys.contains(&Type::Unknown);
        is_unknown || self.takes_keys(element, &mut keys) && keys.is_empty()
    }

    /// Takes the keys that a part of a value set's members is compared with off the end of the list, which holds the
    /// next key last.
    fn takes_keys(&self, part: &Type, keys: &mut Vec<Type>) -> bool {
        if keys.last().is_some_and(|key| key == part) || *part == Type::Unknown {
            keys.pop();
            return true;
        }
        if let Some(Type::Tuple(parts)) = keys.last().cloned() {
            keys.pop();
            keys.extend(parts.into_iter().rev());
            return self.takes_keys(part, keys);
        }
        self.parts(part).is_some_and(|parts| parts.iter().all(|part| self.takes_keys(part, keys)))
    }

    /// The types of the parts of a struct or tuple.
    fn parts(&self, ty: &Type) -> Option<Vec<Type>> {
        match ty {
            Type::Tuple(parts) => Some(parts.clone()),
            Type::Struct(id, args) if self.hir.structs[*id].kind == ast::StructKind::Struct => {
                Some(self.hir.field_types(*id, args))
            }
            _ => None,
        }
    }
}
