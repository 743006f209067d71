//! Generates tables (keys, actions, entries, properties) and statements that apply them.

use super::types::{Shape, Ty};
use super::{Block, Callable, Code, Direction, Feature, Generator, Table};
use crate::lines::Lines as _;
use base::Bits;

/// A table's key as entries see it.
struct Key {
    kind: &'static str,
    ty: Ty,
}

/// The annotation of an action that is not allowed as the default action.
const TABLE_ONLY: &str = "@tableonly ";

impl Generator<'_> {
    /// A table over the actions in scope.
    pub fn table(&mut self) {
        let mut actions: Vec<Callable> = Vec::new();
        for action in self.scope.actions.clone() {
            if self.once_in(2) && actions.len() < 4 {
                actions.push(action);
            }
        }
        let name = self.name("t");
        let direct = self.direct_objects(&mut actions);
        let Some((listed, directed)) = self.action_list(&actions) else { return };
        let profile = self.profile();
        self.annotation();
        self.open(format!("table {name} {{"));
        if self.has(Feature::Annotations) && self.once_in(3) {
            self.line("made_up = 5 + 3;");
        }
        let has_selector = profile.as_ref().is_some_and(|(_, has_selector)| *has_selector);
        let keys = self.keys(has_selector);
        self.open("actions = {");
        for line in &listed {
            self.line(line);
        }
        self.close("}");
        if !actions.is_empty() && profile.is_none() && self.once_in(2) {
            let position = self.below(actions.len());
            let is_for_entries = listed[position].starts_with(TABLE_ONLY);
            let call = match is_for_entries {
                true => "NoAction()".to_owned(),
                false => self.entry_call(&actions[position], &directed[position]),
            };
            let constant = if self.once_in(3) { "const " } else { "" };
            self.line(format!("{constant}default_action = {call};"));
        }
        if !keys.is_empty() {
            match &profile {
                Some((property, _)) => self.line(format!("{property};")),
                None => self.entries(&keys, &actions, &directed),
            }
            if self.once_in(3) {
                let size = self.rng.between(8, 2000);
                self.line(format!("size = {size};"));
            }
            for (property, object) in direct {
                self.line(format!("{property} = {object};"));
            }
        }
        self.close("}");
        let actions = actions.into_iter().map(|action| action.name).collect();
        self.scope.tables.push(Table { name, actions });
    }

    /// The lines of the list, and for each action the arguments in the list.
    fn action_list(&mut self, actions: &[Callable]) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let mut lines = Vec::new();
        let mut directed = Vec::new();
        for action in actions {
            let mut args = Vec::new();
            for param in action.params.iter().filter(|param| param.direction != Direction::None) {
                let ty = param.ty.clone();
                args.push(match param.direction {
                    Direction::In => self.pure(|this| this.any_expr(&ty, 1))?.to_string(),
                    _ => {
                        let values = self.values(|value| value.writable && value.ty == ty);
                        self.pick(&values)?.text
                    }
                });
            }
            let call =
                if args.is_empty() && self.once_in(2) { String::new() } else { format!("({})", args.join(", ")) };
            let only = if self.has(Feature::Annotations) && self.once_in(6) { TABLE_ONLY } else { "" };
            lines.push(format!("{only}{}{call};", action.name));
            directed.push(args);
        }
        lines.push(if self.once_in(4) { "@defaultonly NoAction;" } else { "NoAction;" }.into());
        Some((lines, directed))
    }

    /// A call of an action with values for its control-plane parameters.
    fn entry_call(&mut self, action: &Callable, directed: &[String]) -> String {
        let mut args = directed.to_vec();
        for param in action.params.iter().filter(|param| param.direction == Direction::None) {
            args.push(self.constant(&param.ty).to_string());
        }
        format!("{}({})", action.name, args.join(", "))
    }

    /// A direct counter and a direct meter: properties and names. Actions that use them are added to the table's.
    fn direct_objects(&mut self, actions: &mut Vec<Callable>) -> Vec<(String, String)> {
        let mut objects = Vec::new();
        if !self.has(Feature::DirectObjects) {
            return objects;
        }
        if self.once_in(2) {
            let name = self.name("direct");
            let kind = *self.rng.pick(&["packets", "bytes", "packets_and_bytes"]);
            let (text, property) = match self.is_v1model() {
                false => {
                    let (prefix, kind) = (self.prefix(), kind.to_uppercase());
                    let text = format!("DirectCounter<bit<40>>({prefix}_CounterType_t.{kind}) {name};");
                    (text, format!("{}_direct_counter", prefix.to_lowercase()))
                }
                true => (format!("direct_counter(CounterType.{kind}) {name};"), "counters".to_owned()),
            };
            self.line(text);
            if self.once_in(2) {
                actions.push(self.action_of(format!("{name}.count();")));
            }
            objects.push((property, name));
        }
        if self.once_in(3) {
            objects.extend(self.direct_meter(actions));
        }
        objects
    }

    fn direct_meter(&mut self, actions: &mut Vec<Callable>) -> Option<(String, String)> {
        let kind = *self.rng.pick(&["packets", "bytes"]);
        let name = self.name("direct");
        if !self.is_v1model() {
            let prefix = self.prefix();
            self.line(format!("DirectMeter({prefix}_MeterType_t.{}) {name};", kind.to_uppercase()));
            actions.push(self.action_of(format!("{prefix}_MeterColor_t colour = {name}.execute();")));
            return Some((format!("{}_direct_meter", prefix.to_lowercase()), name));
        }
        let results = self.values(|value| value.writable && matches!(value.ty, Ty::Bit(width) if width >= 2));
        let result = self.pick(&results)?;
        let text = self.type_text(&result.ty);
        self.line(format!("direct_meter<{text}>(MeterType.{kind}) {name};"));
        actions.push(self.action_of(format!("{name}.read({});", result.text)));
        Some(("meters".to_owned(), name))
    }

    /// An action of one table.
    fn action_of(&mut self, statement: String) -> Callable {
        let name = self.name("act");
        self.line(format!("action {name}() {{ {statement} }}"));
        Callable { name, params: Vec::new(), returns: None }
    }

    /// An action profile: the property, and whether it has a selector.
    fn profile(&mut self) -> Option<(String, bool)> {
        if !self.has(Feature::Profiles) || !self.once_in(3) {
            return None;
        }
        let size = self.rng.between(2, 20);
        let has_selector = self.once_in(2);
        if !self.is_v1model() {
            let (name, prefix) = (self.name("profile"), self.prefix());
            let algorithm = *self.rng.pick(&["CRC32", "CRC16", "IDENTITY"]);
            self.line(match has_selector {
                true => format!("ActionSelector({prefix}_HashAlgorithm_t.{algorithm}, {size}, 16) {name};"),
                false => format!("ActionProfile({size}) {name};"),
            });
            return Some((format!("{}_implementation = {name}", prefix.to_lowercase()), has_selector));
        }
        let algorithm = *self.rng.pick(&["crc32", "crc16", "identity", "csum16", "xor16"]);
        let object = match has_selector {
            true => format!("action_selector(HashAlgorithm.{algorithm}, {size}, 14)"),
            false => format!("action_profile({size})"),
        };
        if self.once_in(2) {
            return Some((format!("implementation = {object}"), has_selector));
        }
        let name = self.name("profile");
        self.line(format!("{object} {name};"));
        Some((format!("implementation = {name}"), has_selector))
    }

    /// The keys of the table, and the inputs of its selector.
    fn keys(&mut self, has_selector: bool) -> Vec<Key> {
        let mut keys = Vec::new();
        if !has_selector && self.once_in(8) {
            return keys;
        }
        self.open("key = {");
        let mut has_lpm = false;
        for _ in 0..self.rng.between(1, 3) {
            let kind = *self.rng.pick(&["exact", "exact", "lpm", "ternary", "range", "optional"]);
            if kind == "lpm" && has_lpm {
                continue;
            }
            has_lpm |= kind == "lpm";
            let ty = match (kind, self.scalar()) {
                (_, Ty::Error) => Ty::Bit(9),
                (_, Ty::Declared(index)) if matches!(self.types[index].shape, Shape::Enum(_)) => Ty::Bit(3),
                ("exact", ty) => ty,
                (_, Ty::Bit(width)) => Ty::Bit(width),
                _ => Ty::Bit(16),
            };
            let expression = self.pure(|this| if this.once_in(3) { this.expr(&ty, 2) } else { this.expr(&ty, 0) });
            let name = self.name("key");
            self.line(format!("{expression}: {kind} @name(\"{name}\");"));
            keys.push(Key { kind, ty });
        }
        for _ in 0..if has_selector { self.rng.between(1, 3) } else { 0 } {
            let ty = self.number();
            let (expression, name) = (self.pure(|this| this.expr(&ty, 1)), self.name("key"));
            self.line(format!("{expression}: selector @name(\"{name}\");"));
        }
        self.close("}");
        keys
    }

    fn entries(&mut self, keys: &[Key], actions: &[Callable], directed: &[Vec<String>]) {
        if !self.once_in(2) || actions.is_empty() {
            return;
        }
        let is_constant = !self.once_in(3);
        let has_priority = keys.iter().any(|key| matches!(key.kind, "ternary" | "range" | "optional"));
        let with_priority = has_priority && !is_constant && self.once_in(2);
        if with_priority && self.once_in(3) {
            self.line("largest_priority_wins = false;");
        }
        let mut used: Vec<Vec<String>> = Vec::new();
        self.open(format!("{}entries = {{", if is_constant { "const " } else { "" }));
        for number in 0..self.rng.between(1, 6) {
            let sets: Vec<(String, String)> = keys.iter().map(|key| self.entry_set(key)).collect();
            let identity: Vec<String> = sets.iter().map(|(_, identity)| identity.clone()).collect();
            if used.contains(&identity) {
                continue;
            }
            used.push(identity);
            let sets: Vec<String> = sets.into_iter().map(|(text, _)| text).collect();
            let sets =
                if sets.len() == 1 && !self.once_in(4) { sets[0].clone() } else { format!("({})", sets.join(", ")) };
            let position = self.below(actions.len());
            let call = self.entry_call(&actions[position], &directed[position]);
            let priority = if with_priority { format!("priority = {}: ", 10 + number * 3) } else { String::new() };
            self.line(format!("{priority}{sets}: {call};"));
        }
        self.close("}");
    }

    /// An entry's key set: its text, and an identity to compare it with others.
    fn entry_set(&mut self, key: &Key) -> (String, String) {
        let width = self.width_of(&key.ty);
        let plain = |value: &Bits| value.to_bigint().to_string();
        match key.kind {
            "lpm" => {
                let prefix = self.rng.between(0, u64::from(width));
                let mask = Bits::ones(width).shl(u64::from(width) - prefix);
                let value = self.bits(width).and(&mask);
                let text = format!("{} &&& {}", plain(&value), plain(&mask));
                (text.clone(), text)
            }
            "ternary" if self.once_in(5) => ("_".into(), "_".into()),
            "ternary" => {
                let mask = self.bits(width);
                let value = self.bits(width).and(&mask);
                let text = format!("{} &&& {}", plain(&value), plain(&mask));
                (text.clone(), text)
            }
            "range" => {
                let mut ends = [self.bits(width).to_bigint(), self.bits(width).to_bigint()];
                ends.sort();
                let text = format!("{} .. {}", ends[0], ends[1]);
                (text.clone(), text)
            }
            "optional" if self.once_in(4) => ("_".into(), "_".into()),
            _ => match &key.ty {
                Ty::Bit(_) => {
                    let value = self.bits(width);
                    (plain(&value), plain(&value))
                }
                ty => {
                    let text = self.constant(ty).to_string();
                    (text.clone(), self.identity(ty, &text))
                }
            },
        }
    }

    /// Texts of the same constant must have the same identity.
    fn identity(&self, ty: &Ty, text: &str) -> String {
        match ty {
            // Numbers may be written in several bases, so a table gets at most one entry for each such key.
            Ty::Int(_) => String::new(),
            Ty::Declared(_) if matches!(self.shape(ty), Some(Shape::NewType(_))) => String::new(),
            _ => text.to_owned(),
        }
    }

    /// Applies a table that has not been applied yet.
    pub fn table_statement(&mut self) -> bool {
        if self.scope.code != Code::Control || self.scope.tables.is_empty() || self.scope.loops > 0 {
            return false;
        }
        let position = self.below(self.scope.tables.len());
        let table = self.scope.tables.remove(position);
        let name = &table.name;
        match self.below(5) {
            0 => {
                let outcome = *self.rng.pick(&["hit", "miss"]);
                let not = if self.once_in(4) { "!" } else { "" };
                self.open(format!("if ({not}{name}.apply().{outcome}) {{"));
                self.scoped(|this| this.statements(3));
                self.close("} else {");
                self.indent += 1;
                self.scoped(|this| this.statements(2));
                self.close("}");
            }
            1 if self.has(Feature::Switches) => {
                let mut labels = table.actions.clone();
                labels.retain(|_| !self.once_in(3));
                if self.once_in(2) || labels.is_empty() {
                    labels.push("default".into());
                }
                self.open(format!("switch ({name}.apply().action_run) {{"));
                self.cases(labels);
                self.close("}");
            }
            2 => {
                let variable = self.name("x");
                self.line(format!("bool {variable} = {name}.apply().hit;"));
                self.declare(&variable, Ty::Bool, true);
            }
            _ => self.line(format!("{name}.apply();")),
        }
        true
    }

    /// A constant that has to outlive a table, a loop, and a table that only some packets reach.
    pub fn staged_tables(&mut self) -> bool {
        if self.scope.code != Code::Control || self.scope.tables.len() < 2 || self.scope.loops > 0 {
            return false;
        }
        match self.scope.standard_metadata.filter(|_| self.scope.block == Block::Ingress) {
            Some(standard) => {
                let port = self.below(4);
                self.line(format!("{standard}.egress_spec = {port};"));
            }
            None => _ = self.number_assignment(),
        }
        self.table_statement();
        let condition = self.some_expr(&Ty::Bool);
        self.open(format!("if ({condition}) {{"));
        self.scoped(|this| {
            this.loop_statement();
            this.table_statement();
        });
        self.close("}");
        true
    }
}
