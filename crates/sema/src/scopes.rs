//! Names and their meanings.
//!
//! A scope maps a name to its bindings: several for overloaded functions, one for anything else. Declarations are added
//! to their scope when they are reached, so a use before the declaration fails.

use crate::checker::Checker;
use crate::diagnostics as d;
use crate::hir::*;
use base::{OrderedMap, Span};
use std::rc::Rc;
use syntax::ast;
use syntax::diag::Diagnostics;

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entity {
    Struct(StructId),
    Enum(EnumId),
    NewType(NewTypeId),
    /// A `typedef`.
    Alias(Type),
    Extern(ExternId),
    Parser(ParserId),
    Control(ControlId),
    ApplyType(ApplyTypeId),
    TypeParam(TypeParamId),
    Function(FunctionId),
    Action(ActionId),
    Table(TableId),
    Instance(InstanceId),
    ValueSet(ValueSetId),
    Var(VarId),
    /// Position in `Parser::states`.
    State,
    /// The declaration had an error that makes it unusable.
    Poisoned,
}

impl Entity {
    /// The kind with its article, for messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self {
            Entity::Struct(_) => "a struct or header type",
            Entity::Enum(_) => "an enum",
            Entity::NewType(_) | Entity::Alias(_) => "a type",
            Entity::Extern(_) => "an extern type",
            Entity::Parser(_) => "a parser",
            Entity::Control(_) => "a control",
            Entity::ApplyType(_) => "a parser type, control type or package",
            Entity::TypeParam(_) => "a type parameter",
            Entity::Function(_) => "a function",
            Entity::Action(_) => "an action",
            Entity::Table(_) => "a table",
            Entity::Instance(_) => "an instance",
            Entity::ValueSet(_) => "a value set",
            Entity::Var(_) => "a variable",
            Entity::State => "a parser state",
            Entity::Poisoned => "a declaration with an error",
        }
    }

    /// Whether the name refers to a type.
    pub(crate) fn is_type(&self) -> bool {
        matches!(
            self,
            Entity::Struct(_)
                | Entity::Enum(_)
                | Entity::NewType(_)
                | Entity::Alias(_)
                | Entity::Extern(_)
                | Entity::Parser(_)
                | Entity::Control(_)
                | Entity::ApplyType(_)
                | Entity::TypeParam(_)
        )
    }

    /// Whether a local name that hides this one deserves a warning: it is a value or something executable.
    fn warns_when_shadowed(&self) -> bool {
        matches!(
            self,
            Entity::Var(_) | Entity::Table(_) | Entity::Action(_) | Entity::Instance(_) | Entity::ValueSet(_)
        )
    }
}

/// A name's meaning and the location of its declaration.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) entity: Entity,
    pub(crate) span: Span,
    /// Whether the declaration is marked `@deprecated`, and its advice. Functions and methods are found by their own
    /// annotations, because several may have the same name.
    pub(crate) deprecated: Option<Option<Rc<str>>>,
}

impl Binding {
    pub(crate) fn new(entity: Entity, span: Span) -> Binding {
        Binding { entity, span, deprecated: None }
    }
}

/// The open scopes, outermost first.
#[derive(Default)]
pub(crate) struct Scopes {
    stack: Vec<OrderedMap<Rc<str>, Vec<Binding>>>,
}

impl Scopes {
    pub(crate) fn push(&mut self) {
        self.stack.push(OrderedMap::new());
    }

    pub(crate) fn pop(&mut self) {
        self.stack.pop();
    }

    /// Removes the innermost scope temporarily.
    pub(crate) fn suspend(&mut self) -> OrderedMap<Rc<str>, Vec<Binding>> {
        self.stack.pop().unwrap_or_default()
    }

    /// Restores a scope that [`Scopes::suspend`] removed.
    pub(crate) fn resume(&mut self, scope: OrderedMap<Rc<str>, Vec<Binding>>) {
        self.stack.push(scope);
    }

    /// Adds a binding to the innermost scope.
    pub(crate) fn add(&mut self, name: &Rc<str>, binding: Binding) {
        if let Some(scope) = self.stack.last_mut() {
            scope.entry(name.clone()).or_default().push(binding);
        }
    }

    /// Marks what the innermost scope calls by this name as deprecated.
    pub(crate) fn deprecate(&mut self, name: &str, advice: Option<Rc<str>>) {
        if let Some(found) = self.stack.last_mut().and_then(|scope| scope.get_mut(name)) {
            found.iter_mut().for_each(|binding| binding.deprecated = Some(advice.clone()));
        }
    }

    /// Binds a name of the outermost scope to a declaration with an error.
    fn poison(&mut self, name: &ast::Ident) {
        if let Some(scope) = self.stack.first_mut() {
            scope.entry(name.name.clone()).or_default().push(Binding::new(Entity::Poisoned, name.span));
        }
    }

    /// The bindings of a name in the innermost scope.
    pub(crate) fn local(&self, name: &str) -> &[Binding] {
        self.stack.last().and_then(|scope| scope.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The bindings of a name here: those of the innermost scope that contains it.
    pub(crate) fn lookup(&self, name: &str) -> &[Binding] {
        self.stack.iter().rev().find_map(|scope| scope.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The bindings of a path.
    pub(crate) fn lookup_path(&self, path: &ast::Path) -> &[Binding] {
        if path.is_global { self.outermost(&path.name.name) } else { self.lookup(&path.name.name) }
    }

    /// The meaning of a name in the outermost scope.
    pub(crate) fn outermost(&self, name: &str) -> &[Binding] {
        self.stack.first().and_then(|scope| scope.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The binding that a new name of the innermost scope would hide.
    fn hidden(&self, name: &str) -> Option<&Binding> {
        let outer = self.stack.len().saturating_sub(1);
        self.stack[..outer].iter().rev().find_map(|scope| scope.get(name)).and_then(|found| found.first())
    }

    /// All visible names whose meaning satisfies `expected`.
    pub(crate) fn visible(&self, expected: impl Fn(&Entity) -> bool) -> Vec<Rc<str>> {
        let all = self.stack.iter().rev().flatten();
        all.filter(|(_, found)| found.iter().any(|binding| expected(&binding.entity)))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// The maximum number of names for which a suggestion is searched, to bound the time.
const CANDIDATES_MAX: usize = 1 << 14;

/// The candidate that `name` is probably a misspelling of: the closest one, if it is close.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Names of one or two letters are all similar; only the case may differ.
    let limit = match name.chars().count() {
        0..3 => 0,
        length => (length / 3).max(1),
    };
    candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        .filter(|candidate| *candidate != name)
        .map(|candidate| (edit_distance(name, candidate, limit), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// The number of letters that must be inserted, removed, replaced or swapped to make `b` of `a`; `limit + 1` if it is
/// clearly more than `limit`. A different case alone does not count.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 0;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

impl Checker<'_> {
    /// Adds a name to the innermost scope; reports an error if it is there already.
    pub(crate) fn declare(&mut self, name: &ast::Ident, entity: Entity) {
        if let Some(first) = self.scopes.local(&name.name).first().cloned() {
            let both_callable = |checker: &Checker| {
                let others = checker.scopes.local(&name.name);
                others.iter().all(|other| checker.can_overload(&other.entity, &entity))
            };
            if !both_callable(self) {
                self.report(d::duplicate_declaration(name, first.span));
                return;
            }
        } else {
            self.warn_if_shadowing(name, &entity);
        }
        self.scopes.add(&name.name, Binding::new(entity, name.span));
    }

    fn warn_if_shadowing(&mut self, name: &ast::Ident, entity: &Entity) {
        if !matches!(entity, Entity::Var(_) | Entity::Table(_) | Entity::Action(_) | Entity::Instance(_)) {
            return;
        }
        if let Some(hidden) = self.scopes.hidden(&name.name)
            && hidden.entity.warns_when_shadowed()
        {
            let warning = d::shadowed_name(name, hidden.span);
            self.warn("shadow", warning);
        }
    }

    /// Whether two functions or packages of the same name can be distinguished by the number or the names of
    /// parameters. The specification has no overloaded packages, but the reference compiler accepts them. Other
    /// declarations, including actions, cannot share a name.
    fn can_overload(&self, old: &Entity, new: &Entity) -> bool {
        let params = |entity: &Entity| match entity {
            Entity::Function(id) => Some((0, &self.hir.functions[*id].params)),
            Entity::ApplyType(id) => {
                let declared = &self.hir.apply_types[*id];
                (declared.kind == ApplyTypeKind::Package).then_some((1, &declared.params))
            }
            _ => None,
        };
        match (params(old), params(new)) {
            (Some((old_kind, old)), Some((new_kind, new))) => old_kind == new_kind && self.params_differ(old, new),
            _ => false,
        }
    }

    /// Whether two lists of parameters differ in number or in a name.
    pub(crate) fn params_differ(&self, a: &[VarId], b: &[VarId]) -> bool {
        let differ = |(&a, &b): (&VarId, &VarId)| self.hir.vars[a].name != self.hir.vars[b].name;
        a.len() != b.len() || a.iter().zip(b).any(differ)
    }

    /// Reports an unknown name, with a suggestion among the names whose meaning satisfies `expected`.
    pub(crate) fn report_unknown_name(&mut self, name: &ast::Ident, expected: impl Fn(&Entity) -> bool) {
        if let Some(&span) = self.declared_later.get(&name.name) {
            let is_own = self.declared_type == Some(span);
            let report = if is_own { d::contains_itself } else { d::used_before_declaration };
            self.report(report(name, span));
            return;
        }
        // After this many errors no more are shown.
        let visible = match self.error_count() {
            0..Diagnostics::ERRORS_KEPT_MAX => self.scopes.visible(expected),
            _ => Vec::new(),
        };
        let suggestion = did_you_mean(&name.name, visible.iter().map(|name| &**name));
        if suggestion.is_none() && d::include_of(&name.name).is_some() {
            // A missing include is reported once, not for each of its names.
            self.scopes.poison(name);
        }
        let is_known = suggestion.is_some() || d::is_common_name(&name.name);
        let diagnostic = d::unknown_name(name, suggestion);
        if is_known || !std::mem::take(&mut self.lacks_main) {
            self.report(diagnostic);
            return;
        }
        let note = "there is no `main` in this file: if it is a part of a program, check the file that includes it";
        self.report(diagnostic.note(note));
    }
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn the_closest_name_is_proposed_only_if_it_is_close() {
        let names = ["ipv4", "ethernet", "NoAction"];
        assert_eq!(did_you_mean("ethrenet", names), Some("ethernet".into()));
        assert_eq!(did_you_mean("noaction", names), Some("NoAction".into()));
        assert_eq!(did_you_mean("udp", names), None);
    }
}
