//! Tables: keys, actions, sizes, and the stateful memories that belong to them.
//!
//! A key keeps the name of its field for the control plane; the name of a validity key is that of the header with
//! `.$valid$`. A masked key is the field with the other bits cleared, so its values have their bits in the field's
//! positions.

use super::arrays::SIZE_DEFAULT;
use super::build::{self, Shape};
use super::exprs::{Element, HeaderRef, Operand, Place, Scope};
use super::lists::Entry;
use super::{Done, Translator};
use crate::ast::{ArrayKind, BinaryOperator, Expr, ExprKind, Ident, Key, Name, Table};
use crate::codes;
use base::OrderedSet;
use base::limits::TABLE_ENTRIES_MAX;
use num_bigint::BigInt;
use syntax::ast as p4;

impl Translator<'_, '_> {
    /// The actions of a table: its own, or those of its action profile.
    pub(super) fn actions_of(&mut self, table: usize) -> Done<Vec<usize>> {
        let program = self.program;
        let declared = &program.tables[table];
        let mut names: Vec<&Ident> = declared.actions.iter().flatten().collect();
        if let Some(profile) = &declared.profile {
            let profile = self.lookup(|symbols| &symbols.profiles, profile, "action profile")?;
            names.extend(&program.profiles[profile].actions);
        }
        let mut actions = Vec::new();
        for name in names {
            if let Some(action) = self.lookup(|symbols| &symbols.actions, name, "action")
                && !actions.contains(&action)
            {
                actions.push(action);
            }
        }
        Some(actions)
    }

    /// The table's default action, if it declares one.
    pub(super) fn default_of(&mut self, table: usize) -> Done<Option<usize>> {
        let program = self.program;
        match &program.tables[table].default_action {
            Some((name, _)) => self.lookup(|symbols| &symbols.actions, name, "action").map(Some),
            None => Some(None),
        }
    }

    /// The size of a table, if it declares one.
    pub(super) fn table_size(&mut self, table: usize) -> Done<Option<u64>> {
        let program = self.program;
        let declared = &program.tables[table];
        let mut first = None;
        for size in [&declared.size, &declared.max_size].into_iter().flatten() {
            let size = self.count(size, 0, TABLE_ENTRIES_MAX as u64)?;
            first = first.or(Some(size).filter(|&size| size > 0));
        }
        // A table with a minimum size may be larger.
        if let Some(least) = &declared.min_size {
            let least = self.count(least, 0, TABLE_ENTRIES_MAX as u64)?;
            first = first.or(Some(least).filter(|&least| least > SIZE_DEFAULT));
        }
        Some(first)
    }

    pub(super) fn table_name(&mut self, index: usize) -> Name {
        if let Some(name) = self.table_names.get(&index) {
            return name.clone();
        }
        let wanted = self.program.tables[index].name.name.clone();
        let name = self.fresh(&wanted);
        self.table_names.insert(index, name.clone());
        name
    }

    /// A table as declarations of a control: an action that names the target of a direct meter, and the table.
    pub(super) fn table_declarations(
        &mut self,
        index: usize,
        known_as: &str,
        out: &mut Vec<p4::Declaration>,
    ) -> Done<()> {
        let program = self.program;
        let declared = &program.tables[index];
        let span = declared.name.span;
        let mut properties = Vec::new();
        let mut add = |kind: p4::TablePropertyKind| {
            properties.push(p4::TableProperty { annotations: Vec::new(), is_const: false, kind, span });
        };
        let (keys, actions) = (self.keys(declared), self.actions_of(index));
        let (keys, _) = (keys?, actions?);
        if !keys.is_empty() {
            add(p4::TablePropertyKind::Key(keys));
        }
        let meter = self.direct_array(index, ArrayKind::Meter);
        let reader = match meter {
            Some(meter) => self.meter_reader(meter, out)?,
            None => None,
        };
        let (actions, default) = self.action_list(index, reader)?;
        add(p4::TablePropertyKind::Actions(actions));
        properties.push(p4::TableProperty {
            annotations: Vec::new(),
            is_const: declared.is_default_const,
            kind: p4::TablePropertyKind::DefaultAction(default),
            span,
        });
        let mut add = |kind: p4::TablePropertyKind| {
            properties.push(p4::TableProperty { annotations: Vec::new(), is_const: false, kind, span });
        };
        if let Some(size) = self.table_size(index)? {
            add(p4::TablePropertyKind::Size(build::number(&BigInt::from(size), span)));
        }
        let mut other = |name: &str, value: p4::Expr| {
            add(p4::TablePropertyKind::Other { name: build::ident(name, span), value });
        };
        if declared.support_timeout {
            other("support_timeout", build::truth(true, span));
        }
        if let Some(counter) = self.direct_array(index, ArrayKind::Counter) {
            other("counters", self.array(counter, span)?);
        }
        if let Some(meter) = meter {
            other("meters", self.array(meter, span)?);
        }
        if let Some(profile) = &declared.profile {
            let profile = self.lookup(|symbols| &symbols.profiles, profile, "action profile")?;
            other("implementation", build::name(self.profile_names.get(&profile)?, span));
        }
        let name = build::ident(&self.table_name(index), span);
        let kind = p4::DeclarationKind::Table(p4::Table { name, properties });
        let mut declaration = build::declaration(kind, span);
        declaration.annotations = build::pragmas(&declared.pragmas);
        declaration.annotations.push(build::control_plane_name(known_as, span));
        out.push(declaration);
        Some(())
    }

    /// The counter or meter with a cell for each entry of the table.
    fn direct_array(&mut self, table: usize, kind: ArrayKind) -> Option<usize> {
        let program = self.program;
        let name = &program.tables[table].name.name;
        let is_it = |array: &crate::ast::Array| {
            array.kind == kind && array.direct.as_ref().is_some_and(|direct| direct.name == *name)
        };
        let mut found = program.arrays.iter().enumerate().filter(|(_, array)| is_it(array)).map(|(index, _)| index);
        let first = found.next();
        for other in found {
            let message = format!("table `{name}` has one already: only the first counts");
            self.warn(codes::NO_EFFECT, program.arrays[other].name.span, message);
        }
        first
    }

    /// `action read() { meter.read(result); }`: no entry uses it. It determines where the meter stores its colour.
    fn meter_reader(&mut self, meter: usize, out: &mut Vec<p4::Declaration>) -> Done<Option<Name>> {
        let program = self.program;
        let Some(result) = &program.arrays[meter].result else { return Some(None) };
        let span = program.arrays[meter].name.span;
        let place = self.fixed_field(result, Scope::PLAIN)?;
        let wanted = format!("read_{}", program.arrays[meter].name.name);
        let name = self.fresh(&wanted);
        let shape = Shape::bits(place.shape.width);
        let mut body = Vec::new();
        let object = self.array(meter, span)?;
        let last = self.through(&place, shape, span, &mut body, |place| {
            build::do_call(build::member(object, "read", span), vec![place], span)
        })?;
        body.extend(last);
        let kind = p4::DeclarationKind::Action(p4::ActionDeclaration {
            name: build::ident(&name, span),
            parameters: Vec::new(),
            body: build::block(body, span),
        });
        let mut declaration = build::declaration(kind, span);
        declaration.annotations.push(build::plain_annotation("hidden", span));
        out.push(declaration);
        Some(Some(name))
    }

    /// The list of actions, and the default action. An action that is not listed can only be the default.
    fn action_list(&mut self, table: usize, reader: Option<Name>) -> Done<(Vec<p4::ActionListElement>, p4::Expr)> {
        let program = self.program;
        let declared = &program.tables[table];
        let span = declared.name.span;
        let actions = self.actions_of(table)?;
        let element = |name: &str, annotations: Vec<p4::Annotation>| p4::ActionListElement {
            annotations,
            action: p4::ActionRef { path: build::path(name, span), arguments: None, span },
        };
        let default_only = || vec![build::plain_annotation("defaultonly", span)];
        let mut elements = Vec::new();
        for &action in &actions {
            elements.push(element(&self.action_name(action), Vec::new()));
        }
        let default = match &declared.default_action {
            None => {
                elements.push(element("NoAction", default_only()));
                build::call(build::name("NoAction", span), Vec::new(), span)
            }
            Some((name, arguments)) => {
                let action = self.lookup(|symbols| &symbols.actions, name, "action")?;
                let own = self.action_name(action);
                if !actions.contains(&action) {
                    let message = format!("`{}` is not among the table's actions; no entry can have it", name.name);
                    self.warn(codes::DEFAULT_ONLY, name.span, message);
                    elements.push(element(&own, default_only()));
                }
                let arguments = self.default_arguments(action, name, arguments.as_deref().unwrap_or_default())?;
                build::call(build::name(&own, name.span), arguments, name.span)
            }
        };
        if let Some(reader) = reader {
            elements.push(element(&reader, default_only()));
        }
        Some((elements, default))
    }

    fn default_arguments(&mut self, action: usize, name: &Ident, arguments: &[Expr]) -> Done<Vec<p4::Expr>> {
        let program = self.program;
        let parameters = &program.actions[action].parameters;
        if parameters.len() != arguments.len() {
            let wanted = super::actions::arguments_text(parameters.len());
            let message = format!("action `{}` takes {wanted}, and is given {}", name.name, arguments.len());
            return self.error(codes::ARGUMENT_COUNT, name.span, message);
        }
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let shape = *self.flat_actions[action].shapes.get(&parameter.name.name)?;
            if crate::symbols::fold(argument).is_none() {
                return self.error(
                    codes::NOT_CONSTANT,
                    argument.span,
                    "a default action's argument must be a constant",
                );
            }
            values.push(self.value(argument, shape, Scope::PLAIN)?);
        }
        Some(values)
    }

    // ------------------------------------------------------------------------------------------------------ keys

    fn keys(&mut self, declared: &Table) -> Done<Vec<p4::KeyElement>> {
        let mut keys = Vec::new();
        let mut names = OrderedSet::new();
        let mut is_whole = true;
        for key in &declared.keys {
            match self.key(key, &mut names) {
                Some(key) => keys.push(key),
                None => is_whole = false,
            }
        }
        if !is_whole {
            return None;
        }
        self.only_one_prefix(&mut keys);
        if let Some(profile) = &declared.profile {
            let profile = self.lookup(|symbols| &symbols.profiles, profile, "action profile")?;
            self.selector_keys(profile, &mut names, &mut keys)?;
        }
        Some(keys)
    }

    /// Of several keys of kind `lpm` all but the first become `ternary`: longest-prefix match is only defined for one
    /// key, so the entries have priorities.
    fn only_one_prefix(&mut self, keys: &mut [p4::KeyElement]) {
        if keys.iter().any(|key| matches!(key.match_kind.as_str(), "ternary" | "range")) {
            return;
        }
        for key in keys.iter_mut().filter(|key| key.match_kind.as_str() == "lpm").skip(1) {
            let message = "a table has one key of kind `lpm`: this one is `ternary`, and entries have priorities";
            self.warn(codes::SECOND_PREFIX, key.span, message);
            key.match_kind.name = "ternary".into();
        }
    }

    fn key(&mut self, key: &Key, names: &mut OrderedSet<Name>) -> Done<p4::KeyElement> {
        let kind = match key.kind.as_str() {
            kind @ ("exact" | "ternary" | "lpm" | "range" | "valid") => kind,
            // The field is the number of the entry: an exact key whose values are those numbers.
            "index" => "exact",
            other => {
                let message = format!("there is no match kind `{other}`");
                return self.error(codes::MATCH_KIND, key.kind.span, message);
            }
        };
        let span = key.span;
        if let ExprKind::Member(base, member) = &key.expression.kind
            && self.is_validity(base, member)
        {
            let expression = Expr { kind: ExprKind::Valid(base.clone()), span: key.expression.span };
            return self.validity_key(&Key { expression, ..key.clone() }, kind, names);
        }
        let names_header = match &key.expression.kind {
            ExprKind::Valid(_) => true,
            ExprKind::Member(..) => false,
            _ if self.last_in(&key.expression).is_some() => true,
            _ => self.try_header(&key.expression, Scope::PLAIN).is_some(),
        };
        if names_header || kind == "valid" {
            return self.validity_key(key, kind, names);
        }
        let (value, bits, name) = self.key_value(&key.expression)?;
        let value = match &key.mask {
            None => value,
            Some(mask) => match self.operand(mask, Scope::PLAIN)? {
                Operand::Number(mask, _) => {
                    let mask = build::constant(&mask, bits, span);
                    build::binary(BinaryOperator::BitAnd, value, mask, span)
                }
                _ => return self.error(codes::NOT_CONSTANT, mask.span, "a mask must be a constant number"),
            },
        };
        Some(key_element(value, kind, &unique(names, &name), span))
    }

    /// The field that a key refers to, as a number, its shape, and the key's name.
    fn key_value(&mut self, expression: &Expr) -> Done<(p4::Expr, Shape, String)> {
        if let (Some(stack), ExprKind::Member(_, field)) = (self.last_in(expression), &expression.kind) {
            let name = format!("{}.last.{}", self.symbols.all_instances[stack].name.name, field.name);
            let Operand::Bits(value, shape) = self.operand(expression, Scope::PLAIN)? else { return None };
            let bits = Shape::bits(shape.width);
            return Some((build::convert(value, shape, bits), bits, name));
        }
        let place = self.fixed_field(expression, Scope::PLAIN)?;
        let bits = Shape::bits(place.shape.width);
        Some((build::convert(self.read(&place), place.shape, bits), bits, self.key_name(&place)))
    }

    /// `header : valid`, and a header as a key of another kind, which means the same.
    fn validity_key(&mut self, key: &Key, kind: &str, names: &mut OrderedSet<Name>) -> Done<p4::KeyElement> {
        if matches!(kind, "lpm" | "range") || key.mask.is_some() {
            let message = format!("validity is matched as `valid`, `exact` or `ternary`, not as `{kind}`");
            return self.error(codes::MATCH_KIND, key.kind.span, message);
        }
        let named = match &key.expression.kind {
            ExprKind::Valid(header) => header.clone(),
            _ => Box::new(key.expression.clone()),
        };
        let named = &named;
        if let Some(stack) = self.last_in(named) {
            let valid = Expr { kind: ExprKind::Valid(named.clone()), span: key.span };
            let Operand::Truth(value) = self.operand(&valid, Scope::PLAIN)? else { return None };
            let name = format!("{}.last.$valid$", self.symbols.all_instances[stack].name.name);
            return Some(key_element(value, validity_kind(kind), &unique(names, &name), key.span));
        }
        let value = self.validity(named, Scope::PLAIN, key.span)?;
        let header = match &named.kind {
            ExprKind::Member(..) => self.field(named, Scope::PLAIN)?.header,
            _ => self.header(named, Scope::PLAIN)?,
        };
        let name = format!("{}.$valid$", self.header_name(header));
        Some(key_element(value, validity_kind(kind), &unique(names, &name), key.span))
    }

    /// The keys that are a selector's hash inputs.
    fn selector_keys(
        &mut self,
        profile: usize,
        names: &mut OrderedSet<Name>,
        keys: &mut Vec<p4::KeyElement>,
    ) -> Done<()> {
        let program = self.program;
        let Some(selector) = &program.profiles[profile].selector else { return Some(()) };
        let calculation = self.selector_calculation(selector)?;
        for input in &program.calculations[calculation].inputs {
            let list = self.lookup(|symbols| &symbols.field_lists, input, "field list")?;
            for entry in self.entries(list)? {
                let (value, name) = match &entry {
                    Entry::Field(place) if place.is_variable => {
                        let message = "a selector's key has a fixed width";
                        return self.error(codes::VARIABLE_LENGTH, place.expr.span, message);
                    }
                    Entry::Field(place) => (self.read(place), self.key_name(place)),
                    Entry::Number(value, width, span) => {
                        (build::constant(value, Shape::bits(*width), *span), "value".to_owned())
                    }
                    Entry::Payload => continue,
                };
                let span = selector.span;
                keys.push(key_element(value, "selector", &unique(names, &name), span));
            }
        }
        Some(())
    }

    fn header_name(&self, header: HeaderRef) -> String {
        let name = &self.symbols.all_instances[header.instance].name.name;
        match header.element {
            Element::At(index) => format!("{name}[{index}]"),
            _ => name.to_string(),
        }
    }

    fn key_name(&self, place: &Place) -> String {
        let instance = &self.symbols.all_instances[place.header.instance];
        let field = &self.symbols.types[instance.header_type].fields[place.field].name.name;
        format!("{}.{field}", self.header_name(place.header))
    }
}

/// The name, with as many `$` appended as it takes to be unique.
fn unique(names: &mut OrderedSet<Name>, wanted: &str) -> Name {
    let mut name: Name = wanted.into();
    while !names.insert(name.clone()) {
        name = format!("{name}$").into();
    }
    name
}

fn key_element(expression: p4::Expr, kind: &str, name: &str, span: base::Span) -> p4::KeyElement {
    let annotations = vec![build::name_annotation(name, span)];
    p4::KeyElement { expression, match_kind: build::ident(kind, span), annotations, span }
}

/// How the validity of a header is matched, as a match kind of P4_16.
fn validity_kind(kind: &str) -> &'static str {
    if kind == "ternary" { "ternary" } else { "exact" }
}
