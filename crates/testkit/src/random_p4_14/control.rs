//! Tables, and the controls that apply them.

use super::{Action, Generator};
use std::fmt::Write as _;

/// The nesting depth of conditions and of blocks of tables.
const DEPTH_MAX: u32 = 3;

/// A table that can be applied.
#[derive(Clone, Debug)]
struct Table {
    name: String,
    actions: Vec<String>,
}

impl Generator<'_> {
    /// Both controls with their tables, and the controls that they call.
    pub fn controls(&mut self) {
        let again = self.again_actions();
        for (control, is_ingress) in [("ingress", true), ("egress", false)] {
            let mut tables: Vec<Table> = (0..self.rng.between(1, 5)).map(|_| self.table()).collect();
            let rounds: Vec<Action> =
                again.iter().filter(|(_, wanted)| *wanted == is_ingress).map(|(action, _)| action.clone()).collect();
            tables.extend(self.pick(&rounds).map(|action| self.again_table(&action)));
            let send = is_ingress.then(|| self.sending_table());
            let mut body = String::new();
            if let Some(send) = send {
                let _ = writeln!(body, "    apply({send});");
            }
            self.statements(&mut body, &mut tables, 0);
            while !tables.is_empty() {
                self.statements(&mut body, &mut tables, 0);
            }
            self.line(format!("control {control} {{\n{body}}}"));
        }
    }

    /// A table that gives most packets a destination.
    fn sending_table(&mut self) -> String {
        let (action, table) = (self.name("send"), self.name("sends"));
        self.line(format!("action {action}(port) {{ modify_field(standard_metadata.egress_spec, port & 3); }}"));
        let key = self.field();
        self.line(format!(
            "table {table} {{ reads {{ {key} : exact; }} actions {{ {action}; }} default_action : {action}(2); }}"
        ));
        table
    }

    /// A table whose action only runs for packets that were received on a port.
    fn again_table(&mut self, action: &Action) -> Table {
        let name = self.name("table");
        let key = self.field();
        self.line(format!(
            "table {name} {{ reads {{ standard_metadata.instance_type : exact; {key} : ternary; }} actions {{ {}; }} }}",
            action.name
        ));
        Table { name, actions: vec![action.name.clone()] }
    }

    fn table(&mut self) -> Table {
        let name = self.name("table");
        let mut actions: Vec<Action> = self.actions.clone();
        actions.retain(|_| self.rng.chance(1, 2));
        if actions.is_empty() {
            actions.push(self.actions[0].clone());
        }
        let direct = self.direct_objects(&name);
        let mut reads = String::new();
        let mut used = Vec::new();
        let mut has_lpm = false;
        for _ in 0..self.rng.below(4) {
            let kind = *self.rng.pick(&["exact", "exact", "lpm", "ternary", "range", "valid"]);
            let key = if kind == "valid" { self.valid_key() } else { self.field() };
            if (kind == "lpm" && has_lpm) || used.contains(&key) {
                continue;
            }
            has_lpm |= kind == "lpm";
            let mask = if kind == "exact" && self.once_in(5) { " mask 0x7" } else { "" };
            let _ = writeln!(reads, "        {key}{mask} : {kind};");
            used.push(key);
        }
        let names: Vec<String> = actions.iter().map(|action| action.name.clone()).collect();
        let reads = if reads.is_empty() { reads } else { format!("    reads {{\n{reads}    }}\n") };
        let profile = self.profile(&names, !reads.is_empty());
        let list = profile.clone().unwrap_or_else(|| format!("actions {{ {}; }}", names.join("; ")));
        let default = self.rng.pick(&actions).clone();
        let args: Vec<String> = (0..default.params).map(|_| self.number()).collect();
        let default = match profile.is_none() && self.once_in(2) {
            true => format!("    default_action : {}({});\n", default.name, args.join(", ")),
            false => String::new(),
        };
        self.line(format!("table {name} {{\n{reads}    {list}\n{default}}}"));
        for text in direct {
            self.line(text);
        }
        Table { name, actions: names }
    }

    /// A header whose validity is a key.
    fn valid_key(&mut self) -> String {
        let header = self.rng.pick(&self.headers).clone();
        if header.size.is_some() { format!("{}[0]", header.name) } else { header.name }
    }

    /// An action profile with or without a selector, and the table's reference to it.
    fn profile(&mut self, actions: &[String], has_key: bool) -> Option<String> {
        if !has_key || !self.once_in(5) {
            return None;
        }
        let calculations = self.calculations.clone();
        let mut dynamic = String::new();
        if let Some((calculation, _)) = self.pick(&calculations).filter(|_| self.once_in(2)) {
            let selector = self.name("selector");
            self.line(format!("action_selector {selector} {{ selection_key : {calculation}; }}"));
            dynamic = format!(" dynamic_action_selection : {selector};");
        }
        let name = self.name("profile");
        self.line(format!("action_profile {name} {{ actions {{ {}; }} size : 16;{dynamic} }}", actions.join("; ")));
        Some(format!("action_profile : {name};"))
    }

    /// Counters and meters of a table's entries.
    fn direct_objects(&mut self, table: &str) -> Vec<String> {
        let mut objects = Vec::new();
        if self.once_in(4) {
            let name = self.name("direct_counter");
            objects.push(format!("counter {name} {{ type : packets_and_bytes; direct : {table}; }}"));
        }
        if self.once_in(6) {
            let (name, result) = (self.name("direct_meter"), self.field());
            objects.push(format!("meter {name} {{ type : packets; direct : {table}; result : {result}; }}"));
        }
        objects
    }

    fn condition(&mut self, height: u32) -> String {
        match self.rng.below(6) {
            0 => {
                let header = self.rng.pick(&self.headers).clone();
                let index = if header.size.is_some() { "[0]" } else { "" };
                format!("valid({}{index})", header.name)
            }
            1 if height > 0 => {
                let operator = *self.rng.pick(&["and", "or"]);
                format!("({} {operator} {})", self.condition(height - 1), self.condition(height - 1))
            }
            2 if height > 0 => format!("not ({})", self.condition(height - 1)),
            _ => {
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let left = if self.once_in(3) { self.value(&[], 1) } else { self.field() };
                let right = if self.once_in(2) { self.field() } else { self.number() };
                format!("{left} {operator} {right}")
            }
        }
    }

    /// Statements that apply some of the tables.
    fn statements(&mut self, body: &mut String, tables: &mut Vec<Table>, depth: u32) {
        let indent = "    ".repeat(depth as usize + 1);
        for _ in 0..self.rng.between(1, 3) {
            if depth < DEPTH_MAX && self.once_in(3) {
                let condition = self.condition(2);
                let _ = writeln!(body, "{indent}if ({condition}) {{");
                self.statements(body, tables, depth + 1);
                if self.once_in(2) {
                    let _ = writeln!(body, "{indent}}} else {{");
                    self.statements(body, tables, depth + 1);
                }
                let _ = writeln!(body, "{indent}}}");
                continue;
            }
            let Some(table) = tables.pop() else { return };
            if depth >= DEPTH_MAX || self.once_in(2) {
                let _ = writeln!(body, "{indent}apply({});", table.name);
                continue;
            }
            let _ = writeln!(body, "{indent}apply({}) {{", table.name);
            let first = self.rng.pick(&table.actions).clone();
            let labels =
                if self.once_in(2) { ["hit".to_owned(), "miss".to_owned()] } else { [first, "default".to_owned()] };
            for label in labels {
                let _ = writeln!(body, "{indent}    {label} {{");
                self.statements(body, tables, depth + 2);
                let _ = writeln!(body, "{indent}    }}");
            }
            let _ = writeln!(body, "{indent}}}");
        }
    }
}
