//! Tables.

use crate::arguments::Style;
use crate::calls::WrittenCall;
use crate::checker::{Checker, PlaceKind, expr, poisoned};
use crate::control_plane::given_name;
use crate::diagnostics as d;
use crate::hir::*;
use crate::key_names::key_name;
use crate::scopes::{Entity, did_you_mean};
use base::{OrderedMap, Span};
use num_bigint::BigInt;
use num_traits::Signed;
use std::rc::Rc;
use syntax::ast::{self, Direction, TablePropertyKind};

/// The use of a listed action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ActionUse {
    Default,
    Entry,
}

impl Checker<'_> {
    /// `table name { ... }`
    pub(crate) fn table(&mut self, written: &ast::Table, declaration: &ast::Declaration) -> TableId {
        let mut table = Table {
            name: written.name.name.clone(),
            keys: Vec::new(),
            actions: Vec::new(),
            entries: Vec::new(),
            const_entries: false,
            default_action: None,
            const_default: false,
            empty_group_action: None,
            size: None,
            properties: Vec::new(),
            annotations: self.known_annotations(&declaration.annotations),
            span: written.name.span,
        };
        self.check_property_order(written);
        self.table_keys_and_actions(written, &mut table);
        for property in &written.properties {
            match &property.kind {
                TablePropertyKind::Key(_) | TablePropertyKind::Actions(_) => {}
                TablePropertyKind::DefaultAction(action) => {
                    table.const_default = property.is_const;
                    table.default_action = self.default_action(&table, action);
                }
                TablePropertyKind::Entries(entries) => self.entries(&mut table, count_keys(written), entries, property),
                TablePropertyKind::Other { name, value } if is_priority_property(&name.name) => {
                    let value = self.priority_property(&name.name, value);
                    let (name, is_const, span) = (name.name.clone(), property.is_const, property.span);
                    let annotations = self.known_annotations(&property.annotations);
                    table.properties.push(Property { name, value, is_const, annotations, span });
                }
                TablePropertyKind::Size(size) => table.size = self.table_size(size),
                // The property for groups without members is written like a default action.
                TablePropertyKind::Other { name, value }
                    if matches!(&*name.name, "psa_empty_group_action" | "pna_empty_group_action") =>
                {
                    table.empty_group_action = self.default_action(&table, value);
                }
                TablePropertyKind::Other { name, value } => {
                    let value = self.property_value(value);
                    self.check_property_type(&name.name, &value);
                    let (name, is_const, span) = (name.name.clone(), property.is_const, property.span);
                    let annotations = self.known_annotations(&property.annotations);
                    table.properties.push(Property { name, value, is_const, annotations, span });
                }
            }
        }
        self.check_priority_range(&table);
        let id = self.hir.tables.push(table);
        self.declare(&written.name, Entity::Table(id));
        id
    }

    fn table_keys_and_actions(&mut self, written: &ast::Table, table: &mut Table) {
        let (mut has_actions, mut has_default) = (false, false);
        for property in &written.properties {
            self.check_annotations(&property.annotations);
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    table.keys = keys.iter().filter_map(|key| self.table_key(key)).collect();
                    self.check_key_names(&mut table.keys);
                }
                TablePropertyKind::Actions(actions) => {
                    has_actions = true;
                    self.table_actions(table, actions);
                }
                TablePropertyKind::DefaultAction(_) => has_default = true,
                _ => {}
            }
        }
        if !has_actions {
            self.report(d::table_without_actions(written.name.span, &written.name.name));
        } else if !has_default && !lists_no_action(written) && !self.has_no_action() {
            self.report(d::no_action_missing(written.name.span, &written.name.name));
        }
    }

    /// Whether the outermost scope has an action `NoAction` without parameters, which tables run by default.
    fn has_no_action(&self) -> bool {
        let is_it = |entity: &Entity| match entity {
            Entity::Action(id) => self.hir.actions[*id].params.is_empty(),
            Entity::Poisoned => true,
            _ => false,
        };
        self.scopes.outermost("NoAction").iter().any(|binding| is_it(&binding.entity))
    }

    /// Whether one of these actions is what tables run by default.
    pub(crate) fn is_no_action(&self, actions: &[ActionId]) -> bool {
        let is_it = |entity: &Entity| match entity {
            Entity::Action(id) => self.hir.actions[*id].params.is_empty() && actions.contains(id),
            _ => false,
        };
        self.scopes.outermost("NoAction").iter().any(|binding| is_it(&binding.entity))
    }

    /// Reports entries before the keys and actions that determine their types, and a default action before the list of
    /// actions. (The parser reports repeated properties.)
    fn check_property_order(&mut self, written: &ast::Table) {
        let mut seen: OrderedMap<Rc<str>, Span> = OrderedMap::new();
        for property in &written.properties {
            let name: Rc<str> = match &property.kind {
                TablePropertyKind::Key(_) => "key".into(),
                TablePropertyKind::Actions(_) => "actions".into(),
                TablePropertyKind::Entries(_) => "entries".into(),
                TablePropertyKind::DefaultAction(_) => "default_action".into(),
                TablePropertyKind::Size(_) => "size".into(),
                TablePropertyKind::Other { name, .. } => name.name.clone(),
            };
            if matches!(&*name, "key" | "actions")
                && let Some(entries) = seen.remove("entries")
            {
                self.report(d::property_before(entries, "entries", &name, property.span));
            }
            if &*name == "actions"
                && let Some(default) = seen.remove("default_action")
            {
                self.report(d::property_before(default, "default_action", &name, property.span));
            }
            seen.insert(name, property.span);
        }
    }

    fn table_key(&mut self, written: &ast::KeyElement) -> Option<TableKey> {
        // A key is evaluated where the table is applied, so it may apply another table.
        let key =
            self.with_place(PlaceKind::ControlBody, Type::Void, |checker| checker.operand(&written.expression, None));
        let kinds = &self.hir.match_kinds;
        let match_kind = kinds.iter().position(|kind| *kind == written.match_kind.name);
        let Some(match_kind) = match_kind else {
            let suggestion = did_you_mean(&written.match_kind.name, kinds.iter().map(|kind| &**kind));
            let known = kinds.join(", ");
            // Each name is reported once, because without the file that declares match kinds all of them are unknown.
            if self.unknown_match_kinds.insert(written.match_kind.name.clone()) {
                self.report(d::unknown_match_kind(&written.match_kind, suggestion, &known));
            }
            return None;
        };
        let key = if self.is_key_type(&key.ty) {
            key
        } else {
            let (shown, field) = (self.hir.show_type(&key.ty), self.first_field(&written.expression, &key.ty));
            self.report(d::invalid_key_type(key.span, &shown, field.as_deref()));
            poisoned(key.span)
        };
        self.check_annotations(&written.annotations);
        let annotations = self.known_annotations(&written.annotations);
        let name = match given_name(&annotations) {
            Some(name) => name.into(),
            None => {
                if key.ty != Type::Unknown && !self.names_itself(&written.expression, &key) {
                    self.report(d::key_without_name(written.expression.span));
                }
                self.name_of_key(&written.expression, &key).into()
            }
        };
        Some(TableKey { expr: key, match_kind, name, annotations, span: written.span })
    }

    /// Whether values of the type are scalars of a fixed width, which can be looked up.
    pub(crate) fn is_key_type(&self, ty: &Type) -> bool {
        let ty = self.hir.underlying(ty);
        let is_scalar = matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Bool | Type::Error | Type::Enum(_));
        // A type parameter is not bound yet, and an unknown type has been reported already.
        is_scalar || matches!(ty, Type::Param(_) | Type::Unknown)
    }

    /// The first scalar field of a struct or header, as in the source; an example of all of them in a help text.
    pub(crate) fn first_field(&self, written: &ast::Expr, ty: &Type) -> Option<String> {
        let mut path = key_name(written);
        let mut ty = ty.clone();
        while let Type::Struct(id, args) = &ty {
            let field = self.hir.structs[*id].fields.first()?;
            path = format!("{path}.{}", field.name);
            ty = self.hir.field_types(*id, args).into_iter().next()?;
        }
        // The name of a call lacks its type arguments, so it is not usable as an example.
        (self.is_key_type(&ty) && !path.contains('(')).then_some(path)
    }

    fn table_actions(&mut self, table: &mut Table, written: &[ast::ActionListElement]) {
        self.wrongly_listed_actions.clear();
        // The control plane uses their names, so actions of the same name in an inner and an outer scope cannot both be
        // listed.
        let mut listed = OrderedMap::new();
        for element in written {
            let Some(id) = self.action_named(&element.action.path) else { continue };
            let name = self.hir.actions[id].name.clone();
            if let Some(&first) = listed.get(&name) {
                self.report(d::duplicate_action(element.action.span, &element.action.path.name.name, first));
                continue;
            }
            self.check_annotations(&element.annotations);
            let arguments = element.action.arguments.as_deref().unwrap_or(&[]);
            let Some(args) = self.listed_arguments(id, arguments, element.action.span) else {
                self.wrongly_listed_actions.insert(id);
                continue;
            };
            let position = table.actions.len();
            listed.insert(name, element.action.span);
            let action = ActionRef { action: id, position, args, span: element.action.span };
            table.actions.push(TableAction { action, annotations: self.known_annotations(&element.annotations) });
        }
    }

    fn action_named(&mut self, path: &ast::Path) -> Option<ActionId> {
        let Some(binding) = self.scopes.lookup_path(path).first().cloned() else {
            self.report_unknown_name(&path.name, |entity| matches!(entity, Entity::Action(_)));
            return None;
        };
        self.warn_if_name_deprecated(&path.name, &binding);
        match binding.entity {
            Entity::Action(id) => Some(id),
            Entity::Poisoned => None,
            other => {
                self.report(d::wrong_kind_of_name(&path.name, "an action", other.kind_name(), binding.span));
                None
            }
        }
    }

    /// Arguments in the table's list: for all parameters with a direction.
    fn listed_arguments(&mut self, id: ActionId, arguments: &[ast::Argument], span: Span) -> Option<Vec<Option<Expr>>> {
        let signature = self.action_signature(id, Style::ActionRef);
        let surplus = self.arrange(&signature, arguments, span)?;
        let params = signature.params.iter().zip(&surplus);
        let given: Vec<(VarId, Span)> =
            params.filter_map(|(&param, argument)| argument.map(|argument| (param, argument.span))).collect();
        for (param, span) in given {
            if self.direction(param) == Direction::None {
                let (name, place) = (self.hir.vars[param].name.clone(), self.hir.vars[param].span);
                self.report(d::control_plane_argument(span, &name, place));
                return None;
            }
        }
        let mut args = self.bind_arguments(&signature, &[], arguments, span)?.args;
        for (&param, arg) in signature.params.iter().zip(&mut args) {
            if self.direction(param) == Direction::None {
                // A default value only applies to calls.
                *arg = None;
            }
        }
        Some(args)
    }

    fn default_action(&mut self, table: &Table, written: &ast::Expr) -> Option<ActionRef> {
        let (path, arguments) = match &written.kind {
            ast::ExprKind::Name(path) => (path, None),
            ast::ExprKind::Call { callee, arguments, .. } => match &callee.kind {
                ast::ExprKind::Name(path) => (path, Some(arguments.as_slice())),
                _ => {
                    self.report(d::not_an_action(written.span));
                    return None;
                }
            },
            _ => {
                self.report(d::not_an_action(written.span));
                return None;
            }
        };
        self.chosen_action(table, path, arguments, written.span, ActionUse::Default)
    }

    /// An action of the table's list with all its arguments: a default action, or that of an entry.
    fn chosen_action(
        &mut self,
        table: &Table,
        path: &ast::Path,
        arguments: Option<&[ast::Argument]>,
        span: Span,
        purpose: ActionUse,
    ) -> Option<ActionRef> {
        let id = self.action_named(path)?;
        let Some(listed) = table.actions.iter().find(|listed| listed.action.action == id) else {
            // Its errors have been reported where it is listed.
            if self.wrongly_listed_actions.contains(&id) {
                return None;
            }
            let names: Vec<_> =
                table.actions.iter().map(|listed| self.hir.actions[listed.action.action].name.clone()).collect();
            let suggestion = did_you_mean(&path.name.name, names.iter().map(|name| &**name));
            self.report(d::action_not_in_table(span, &path.name.name, &table.name, suggestion, table.span));
            return None;
        };
        let (position, listed_args, place) = (listed.action.position, listed.action.args.clone(), listed.action.span);
        let signature = self.action_signature(id, Style::ActionRef);
        let params = self.hir.actions[id].params.clone();
        // Without arguments it is the action as it is listed.
        let is_bound_by_list = params.iter().all(|param| self.direction(*param) != Direction::None);
        let args = match arguments {
            None if is_bound_by_list => listed_args.clone(),
            _ => self.bind_arguments(&signature, &[], arguments.unwrap_or(&[]), span)?.args,
        };
        for (param, arg) in params.iter().zip(&args) {
            match arg {
                None if self.direction(*param) == Direction::None => {
                    let (name, place) = (self.hir.vars[*param].name.clone(), self.hir.vars[*param].span);
                    self.report(d::missing_argument(span, &path.name.name, &name, place));
                    return None;
                }
                Some(arg) if self.direction(*param) == Direction::None && !self.is_known(arg) => {
                    self.report(d::not_constant(arg.span));
                    return None;
                }
                _ => {}
            }
        }
        // The list binds the parameters with a direction; a use of the action must repeat the same arguments.
        for ((param, arg), listed) in params.iter().zip(&args).zip(&listed_args) {
            let Some(listed) = listed else { continue };
            // `_` for an argument is not the one that is listed.
            if !arg.as_ref().is_some_and(|arg| self.is_same_expression(arg, listed)) {
                let name = self.hir.vars[*param].name.clone();
                let place = arg.as_ref().map_or(span, |arg| arg.span);
                self.report(d::action_argument_differs(place, &name, listed.span));
                return None;
            }
        }
        self.check_restriction(table, position, purpose, (span, &path.name.name), place);
        Some(ActionRef { action: id, position, args, span })
    }

    /// Reports a use of the action that its annotation in the list forbids.
    fn check_restriction(
        &mut self,
        table: &Table,
        position: usize,
        purpose: ActionUse,
        chosen: (Span, &str),
        listed: Span,
    ) {
        let (forbidding, place) = match purpose {
            ActionUse::Default => ("tableonly", "the default action"),
            ActionUse::Entry => ("defaultonly", "the action of an entry"),
        };
        let annotations = &table.actions[position].annotations;
        if annotations.iter().any(|annotation| annotation.name.as_str() == forbidding) {
            self.report(d::restricted_action(chosen.0, chosen.1, forbidding, place, listed));
        }
    }

    fn table_size(&mut self, written: &ast::Expr) -> Option<Expr> {
        let size = self.operand(written, None);
        if size.ty == Type::Unknown {
            return None;
        }
        if !matches!(size.ty, Type::Integer | Type::Bit(_) | Type::Int(_)) {
            let found = self.hir.show_type(&size.ty);
            self.report(d::mismatched_types(size.span, "a number", &found));
            return None;
        }
        if !self.is_known(&size) {
            self.report(d::not_constant(size.span));
            return None;
        }
        if self.fold(&size).and_then(|value| self.number(&value)).is_some_and(|value| value.is_negative()) {
            self.report(d::negative_table_size(size.span));
            return None;
        }
        Some(size)
    }

    /// The value of a property that the language does not define, so the architecture defines what is allowed. An
    /// action, as in PSA's `psa_empty_group_action`, is represented by its call, like a default action.
    fn property_value(&mut self, written: &ast::Expr) -> Expr {
        // A list of objects, as PSA's `psa_direct_counter` may have one.
        if let ast::ExprKind::List(elements) = &written.kind {
            let values: Vec<Expr> = elements.iter().map(|element| self.property_value(element)).collect();
            let types = values.iter().map(|value| value.ty.clone()).collect();
            return expr(ExprKind::Aggregate(values.into_iter().map(Some).collect()), Type::Tuple(types), written.span);
        }
        let named = match &written.kind {
            ast::ExprKind::Name(path) => Some((path, &[][..])),
            ast::ExprKind::Call { callee, arguments, .. } => match &callee.kind {
                ast::ExprKind::Name(path) => Some((path, arguments.as_slice())),
                _ => None,
            },
            _ => None,
        };
        if let Some((path, arguments)) = named {
            let found = self.scopes.lookup_path(path).to_vec();
            if found.iter().any(|binding| matches!(binding.entity, Entity::Action(_))) {
                let call = WrittenCall { type_arguments: &[], arguments, span: written.span };
                return self
                    .with_place(PlaceKind::ControlBody, Type::Void, |checker| checker.call_action(&found, call));
            }
        }
        self.with_construct(true, |checker| checker.expr(written, None))
    }

    /// `written_keys` is the number of keys, including those with errors; none if the table has no such property.
    fn entries(
        &mut self,
        table: &mut Table,
        written_keys: Option<usize>,
        written: &[ast::Entry],
        property: &ast::TableProperty,
    ) {
        table.const_entries = property.is_const;
        let has_faulty_keys = written_keys.is_some_and(|count| count > table.keys.len());
        if has_faulty_keys {
            return;
        }
        // An empty list is ignored, and without keys only `_` and `default` are possible.
        let is_any = |entry: &ast::Entry| {
            let elements = entry.keyset.elements.as_slice();
            matches!(elements, [ast::Expr { kind: ast::ExprKind::Default | ast::ExprKind::DontCare, .. }])
        };
        if table.keys.is_empty() && !(written.is_empty() || written_keys.is_some() && written.iter().all(is_any)) {
            self.report(d::entries_without_key(property.span, &table.name));
            return;
        }
        if table.keys.is_empty() {
            if let Some(first) = written.first() {
                self.warn("entries", d::entry_without_key(first.span, &table.name));
            }
            written.iter().for_each(|entry| drop(self.entry(table, entry, property.is_const)));
            return;
        }
        self.check_priorities(table, written, property.is_const);
        let is_exact = |key: &TableKey| self.hir.match_kinds.get(key.match_kind).is_some_and(|kind| &**kind == "exact");
        let is_exact = table.keys.iter().all(is_exact);
        let mut seen = OrderedMap::new();
        for entry in written {
            let Some(checked) = self.entry(table, entry, property.is_const) else { continue };
            let key = if checked.priority.is_none() || is_exact { self.exact_key(&checked) } else { None };
            match key.and_then(|key| seen.insert(key, checked.span)) {
                // The specification does not allow it, because neither of the two would take precedence.
                Some(first) if is_exact => self.report(d::entry_repeated(checked.span, first)),
                Some(first) => self.warn("duplicate", d::duplicate_entry(checked.span, first)),
                None => {}
            }
            table.entries.push(checked);
        }
    }

    /// `largest_priority_wins`, a boolean, or `priority_delta`, a positive number.
    fn priority_property(&mut self, name: &str, written: &ast::Expr) -> Expr {
        if name == "largest_priority_wins" {
            let value = self.value(written, &Type::Bool);
            if !self.is_known(&value) {
                self.report(d::not_constant(value.span));
            }
            return value;
        }
        let value = self.operand(written, None);
        let number = self.integer_value(&value);
        if number.is_some_and(|number| !number.is_positive()) {
            self.report(d::invalid_priority(value.span, "`priority_delta` must be positive"));
        }
        value
    }

    /// Reports priorities where none are allowed, and entries without a required one.
    fn check_priorities(&mut self, table: &Table, written: &[ast::Entry], all_const: bool) {
        let first_given = written.iter().find_map(|entry| entry.priority.as_ref());
        let (Some(given), Some(first)) = (first_given, written.first()) else { return };
        if all_const {
            let message = "entries of `const entries` have no priorities: an earlier one comes first";
            self.report(d::invalid_priority(given.span, message));
        } else if table.keys.iter().all(|key| matches!(&*self.hir.match_kinds[key.match_kind], "exact" | "lpm")) {
            let message = "entries with exact keys and prefixes have no priorities: at most one of them decides";
            self.report(d::invalid_priority(given.span, message));
        } else if first.priority.is_none() {
            self.report(d::invalid_priority(first.span, "the first entry needs a priority, because others have one"));
        }
    }

    /// Reports the first entry whose explicit or derived priority is out of range.
    fn check_priority_range(&mut self, table: &Table) {
        let property = |name: &str| table.properties.iter().find(|property| &*property.name == name);
        let delta = property("priority_delta").and_then(|delta| self.fold(&delta.value));
        let delta = delta.and_then(|delta| self.number(&delta)).unwrap_or_else(|| BigInt::from(1));
        let wins = property("largest_priority_wins").and_then(|wins| self.fold(&wins.value));
        let largest_wins = !wins.is_some_and(|wins| matches!(wins.kind, ExprKind::Bool(false)));
        let mut priority: Option<BigInt> = None;
        for entry in &table.entries {
            let given = entry.priority.as_ref().map(|given| self.fold(given).and_then(|given| self.number(&given)));
            priority = match (given, priority) {
                (Some(given), _) => given,
                (None, Some(before)) if largest_wins => Some(before - &delta),
                (None, Some(before)) => Some(before + &delta),
                (None, None) => return,
            };
            let is_out = |priority: &BigInt| priority.is_negative() || *priority > BigInt::from(i32::MAX);
            if let Some(priority) = priority.as_ref().filter(|priority| is_out(priority)) {
                let place = entry.priority.as_ref().map_or(entry.span, |given| given.span);
                let message = format!("the priority {priority} is out of range: it is from 0 to {}", i32::MAX);
                self.report(d::invalid_priority(place, &message));
                return;
            }
        }
    }

    fn entry_priority(&mut self, written: &ast::Expr) -> Option<Expr> {
        let checked = self.operand(written, None);
        let value = self.integer_value(&checked)?;
        if value.is_negative() {
            self.report(d::invalid_priority(checked.span, "a priority cannot be negative"));
            return None;
        }
        Some(checked)
    }

    fn entry(&mut self, table: &Table, written: &ast::Entry, all_const: bool) -> Option<Entry> {
        self.check_annotations(&written.annotations);
        let types: Vec<Type> = table.keys.iter().map(|key| key.expr.ty.clone()).collect();
        let keys = match written.keyset.elements.as_slice() {
            [ast::Expr { kind: ast::ExprKind::Default | ast::ExprKind::DontCare, .. }] => {
                Some(types.iter().map(|_| KeyElement::Any).collect())
            }
            _ => self.key_elements(&written.keyset, &types),
        };
        let priority = written.priority.as_ref().and_then(|priority| self.entry_priority(priority));
        let arguments = written.action.arguments.as_deref();
        let action = self.chosen_action(table, &written.action.path, arguments, written.action.span, ActionUse::Entry);
        let (keys, action) = (keys?, action?);
        for ((key, element), place) in table.keys.iter().zip(&keys).zip(&written.keyset.elements) {
            self.check_entry_element(key, element, place.span);
        }
        Some(Entry {
            is_const: all_const || written.is_const,
            priority,
            keys,
            action,
            annotations: self.known_annotations(&written.annotations),
            span: written.span,
        })
    }

    /// Reports an element that is not constant, and warns of a form that its key's match kind cannot match. The
    /// architecture defines what match kinds accept, so only a stage that runs the program rejects it.
    fn check_entry_element(&mut self, key: &TableKey, element: &KeyElement, span: Span) {
        let parts: Vec<&Expr> = match element {
            // Value sets are declared in parsers, which have no tables.
            KeyElement::Any | KeyElement::ValueSet(_) => Vec::new(),
            KeyElement::Value(value) => vec![value],
            KeyElement::Mask(a, b) | KeyElement::Range(a, b) => vec![a, b],
        };
        if let Some(unknown) = parts.iter().find(|part| !self.is_known(part)) {
            self.report(d::not_constant(unknown.span));
            return;
        }
        let kind = self.hir.match_kinds[key.match_kind].clone();
        let form = match element {
            KeyElement::Any => "`_`",
            KeyElement::Value(_) => "a value",
            KeyElement::Mask(..) => "a mask",
            KeyElement::Range(..) => "a range",
            KeyElement::ValueSet(_) => "a value set",
        };
        let is_fine = match (&*kind, element) {
            ("exact", KeyElement::Value(_)) => true,
            ("exact", _) => false,
            ("lpm" | "optional" | "ternary", KeyElement::Range(..)) | ("optional", KeyElement::Mask(..)) => false,
            ("range", KeyElement::Mask(..)) => false,
            ("lpm", KeyElement::Mask(_, mask)) => self.is_prefix_mask(mask),
            _ => true,
        };
        if !is_fine {
            let form = if &*kind == "lpm" && form == "a mask" { "a mask with ones after a zero" } else { form };
            self.warn("entries", d::unmatchable_entry_key(span, form, &kind));
        }
    }

    /// Whether the ones of a mask are its most significant bits.
    fn is_prefix_mask(&self, mask: &Expr) -> bool {
        let Some(value) = self.fold(mask).and_then(|mask| self.number(&mask)) else { return true };
        let Some(width) = crate::consts::type_width(&self.hir.underlying(&mask.ty)) else { return true };
        let value = crate::types::wrap(&value, &Type::Bit(width));
        let zeros = value.trailing_zeros().unwrap_or(u64::from(width));
        let ones = value >> zeros;
        let count = ones.bits();
        (&ones + 1u8).trailing_zeros().unwrap_or(0) == count && count + zeros == u64::from(width)
    }

    /// The values of an entry whose elements are all single values, to find a duplicate.
    fn exact_key(&self, entry: &Entry) -> Option<Vec<String>> {
        let value = |element: &KeyElement| match element {
            KeyElement::Value(value) => {
                let literal = self.fold(value)?;
                Some(self.number(&literal).map_or_else(|| format!("{:?}", literal.kind), |number| number.to_string()))
            }
            _ => None,
        };
        entry.keys.iter().map(value).collect()
    }
}

/// Whether the list of actions contains the name `NoAction`; if that is unknown, the list reports it.
fn lists_no_action(written: &ast::Table) -> bool {
    written.properties.iter().any(|property| match &property.kind {
        TablePropertyKind::Actions(actions) => actions.iter().any(|it| it.action.path.name.as_str() == "NoAction"),
        _ => false,
    })
}

/// Whether the property controls the priorities of entries.
fn is_priority_property(name: &str) -> bool {
    matches!(name, "largest_priority_wins" | "priority_delta")
}

/// The number of keys in the table's source.
fn count_keys(written: &ast::Table) -> Option<usize> {
    written.properties.iter().find_map(|property| match &property.kind {
        TablePropertyKind::Key(keys) => Some(keys.len()),
        _ => None,
    })
}
