//! Prints units.

use super::CHAINS;
use crate::{Arrival, Entry, Expr, Node, Stage, StatePart, Stmt, Unit};
use std::fmt::Write as _;

/// The text of a unit.
pub fn print(unit: &Unit) -> String {
    let mut printer = Printer { unit, text: String::new(), indent: 0 };
    printer.head();
    unit.stages.iter().for_each(|stage| printer.stage(stage));
    printer.text
}

/// The deepest indentation.
const INDENT_MAX: usize = 40;

struct Printer<'u> {
    unit: &'u Unit,
    text: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let width = 2 * self.indent.min(INDENT_MAX);
        let _ = writeln!(self.text, "{:width$}{text}", "");
    }

    fn head(&mut self) {
        let unit = self.unit;
        self.line(&format!("unit {}", unit.name));
        let place =
            |state: StatePart| unit.saved.get(&state).map_or(String::new(), |at| format!(" at {}", self.expr(at)));
        let vars = unit.vars.iter().map(|(&id, var)| {
            let at = place(StatePart::Var(id));
            format!("var {} {}{at}", var.name, var.width_bits)
        });
        let headers = unit.headers.iter().map(|(&id, name)| format!("header {name}{}", place(StatePart::Header(id))));
        let is_other = |state: &&StatePart| !matches!(state, StatePart::Var(_) | StatePart::Header(_));
        let others = unit.saved.keys().filter(is_other);
        let others = others.map(|&state| format!("state {}{}", unit.state_name(state), place(state)));
        let lines: Vec<String> = vars.chain(headers).chain(others).collect();
        lines.iter().for_each(|line| self.line(line));
        if !unit.live_out.is_empty() {
            let live_out: Vec<String> = unit.live_out.iter().map(|&state| unit.state_name(state)).collect();
            self.line(&format!("live_out {}", live_out.join(" ")));
        }
        self.part("before", &unit.before);
    }

    fn stage(&mut self, stage: &Stage) {
        let mut head = format!("stage by {}", arrival(stage.arrival));
        if stage.ends_all {
            head.push_str(" ends");
        }
        if !stage.spills.is_empty() {
            head.push_str(" spills");
            stage.spills.iter().for_each(|&state| _ = write!(head, " {}", self.unit.state_name(state)));
        }
        self.braces(&head, |printer| {
            stage.entries.iter().for_each(|entry| printer.entry(entry));
            printer.part("before", &stage.before);
            stage.nodes.iter().for_each(|node| printer.node(node));
            printer.part("after", &stage.after);
        });
    }

    fn entry(&mut self, entry: &Entry) {
        self.braces(&format!("entry {}", entry.node), |printer| {
            for (&state, value) in &entry.values {
                printer.line(&format!("{} = {}", printer.unit.state_name(state), printer.expr(value)));
            }
        });
    }

    fn part(&mut self, head: &str, body: &[Stmt]) {
        if !body.is_empty() {
            self.block(head, body);
        }
    }

    fn node(&mut self, node: &Node) {
        let Some(found) = &node.found else { return self.block(&format!("node {}", node.id), &node.body) };
        let packed = if found.is_packed { " packed" } else { "" };
        self.block(&format!("node {} found {}{packed}", node.id, found.table), &node.body);
        self.block("lookup", &found.lookup);
    }

    /// A head, statements in braces.
    fn block(&mut self, head: &str, body: &[Stmt]) {
        self.braces(head, |printer| printer.body(body));
    }

    fn braces(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        inside(self);
        self.indent -= 1;
        self.line("}");
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { variable, ty, name, length, value } => {
                let length = length.map_or(String::new(), |length| format!("[{length}]"));
                let value = value.as_ref().map_or(String::new(), |value| format!(" = {}", self.expr(value)));
                self.line(&format!("{} {} {name}{length}{value}", variable.keyword(), ty.name()));
            }
            Stmt::Assign(place, op, value) => {
                self.line(&format!("{} {op} {}", self.expr(place), self.expr(value)));
            }
            Stmt::Eval(value) => self.line(&format!("do {}", self.expr(value))),
            Stmt::If(condition, yes, no) => self.braces(&format!("if {}", self.expr(condition)), |printer| {
                printer.body(yes);
                if !no.is_empty() {
                    printer.indent -= 1;
                    printer.line("} else {");
                    printer.indent += 1;
                    printer.body(no);
                }
            }),
            Stmt::Switch { value, cases, default } => self.braces(&format!("switch {}", self.expr(value)), |printer| {
                for (values, body) in cases {
                    printer.block(&format!("case {}", printer.list(values)), body);
                }
                printer.block("default", default);
            }),
            Stmt::Loop(body) => self.block("loop", body),
            Stmt::Block(body) => self.block("block", body),
            Stmt::Goto(label) => self.line(&format!("goto {label}")),
            Stmt::Label(label) => self.line(&format!("label {label}")),
            Stmt::Comment(text) => self.line(&format!("# {}", text.replace(['\n', '\r'], " "))),
            Stmt::Go(node) => self.line(&format!("go {node}")),
            Stmt::Pass(node) => self.line(&format!("pass {node}")),
            Stmt::LookUp { node, row, key } => {
                let row = row.as_ref().map_or(String::new(), |row| format!(" row {row}"));
                self.block(&format!("look_up {node}{row}"), key);
            }
            Stmt::End(value) => self.line(&format!("end {}", self.expr(value))),
            Stmt::Punt(value) => self.line(&format!("punt {}", self.expr(value))),
            Stmt::Leave => self.line("leave"),
        }
    }

    fn expr(&self, value: &Expr) -> String {
        match value {
            Expr::Name(text) => text.clone(),
            Expr::State(state) => self.unit.state_name(*state),
            Expr::Saved(state) => format!("saved({})", self.unit.state_name(*state)),
            Expr::Env(array, number) => format!("env.{}[{number}]", array.name()),
            Expr::Int(number) => format!("{number}"),
            Expr::Long(number) if *number < 1000 => format!("{number}L"),
            Expr::Long(number) => format!("{number:#x}L"),
            Expr::Unary(op, inner) => format!("{op}{}", self.operand(inner)),
            Expr::Binary(op, left, right) => {
                let left = match &**left {
                    Expr::Binary(inner, ..) if inner == op && CHAINS.contains(op) => self.expr(left),
                    _ => self.operand(left),
                };
                format!("{left} {op} {}", self.operand(right))
            }
            Expr::Conditional(condition, yes, no) => {
                format!("{} ? {} : {}", self.operand(condition), self.operand(yes), self.operand(no))
            }
            Expr::Call(function, arguments) => format!("{}({})", self.operand(function), self.list(arguments)),
            Expr::Index(array, position) => format!("{}[{}]", self.operand(array), self.expr(position)),
            Expr::Arrow(pointer, member) => format!("{}->{member}", self.operand(pointer)),
            Expr::Dot(base, member) => format!("{}.{member}", self.operand(base)),
            Expr::Cast(ty, inner) => format!("{}({})", ty.name(), self.expr(inner)),
            Expr::List(items) => format!("{{ {} }}", self.list(items)),
        }
    }

    fn operand(&self, value: &Expr) -> String {
        match value {
            Expr::Binary(..) | Expr::Conditional(..) | Expr::Unary(..) => format!("({})", self.expr(value)),
            _ => self.expr(value),
        }
    }

    fn list(&self, items: &[Expr]) -> String {
        items.iter().map(|item| self.expr(item)).collect::<Vec<_>>().join(", ")
    }
}

/// The word for how a stage finds its packets.
pub(super) fn arrival(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Burst => "burst",
        Arrival::Masks => "masks",
        Arrival::List => "list",
        Arrival::WholeBurst => "whole-burst",
    }
}
