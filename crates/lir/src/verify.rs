//! What holds of every unit:
//!
//! * A stage has at least one entry; an entry is at a node of its stage, and the first at the first node.
//! * Nodes have different numbers. [`Stmt::Go`] leads to a node of the same stage, [`Stmt::Pass`] and
//!   [`Stmt::LookUp`] to an entry of a later one. A node begins with a table's result if and only if packets are looked
//!   up for it.
//! * On every path a node's body ends the packet's run through it, except in the last node of a stage.
//! * A label is in its stage once, and every [`Stmt::Goto`] leads to one.
//! * State that a stage mentions has a value at each entry, unless it is an array; state in its saved place, and what
//!   is spilled or live out, has such a place.
//! * A name is that of a constant or variable declared before, in the same scope or one around it, of a function of the
//!   runtime, or [given](GIVEN).
//!
//! Not checked: types, and that a declaration is not jumped over.

use crate::{Expr, Stage, StatePart, Stmt, Unit, walk};
use base::{OrderedMap, OrderedSet};

/// Names that the printer declares, besides those with upper-case letters only (constants of the runtime) and those of
/// functions of the runtime: the environment, the packet, its frame and bytes, the place of its context.
pub const GIVEN: [&str; 21] = [
    "env",
    "p",
    "c",
    "w",
    "i",
    "bytes",
    "frame",
    "frames",
    "coming",
    "count",
    "packet",
    "packets",
    "entry",
    "packed_result",
    "entries",
    "packed_results",
    "exceptions",
    "staged",
    "homes",
    "now_ns",
    "0",
];

/// What a unit violates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation(pub String);

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Checks a unit; the error is the first violation.
pub fn verify(unit: &Unit) -> Result<(), Violation> {
    let mut nodes = OrderedMap::new();
    for (number, stage) in unit.stages.iter().enumerate() {
        for node in &stage.nodes {
            ensure(nodes.insert(node.id, number).is_none(), || format!("node {} is there twice", node.id))?;
        }
    }
    let saved = unit.live_out.iter().chain(unit.stages.iter().flat_map(|stage| &stage.spills));
    for state in saved {
        has_place(unit, *state)?;
    }
    let looked_up = looked_up(unit);
    let shared = declared(&unit.before);
    for (number, stage) in unit.stages.iter().enumerate() {
        Verifier { unit, number, stage, nodes: &nodes, shared: &shared }.stage(&looked_up)?;
    }
    Ok(())
}

fn ensure(holds: bool, violation: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(violation())) }
}

fn has_place(unit: &Unit, state: StatePart) -> Result<(), Violation> {
    ensure(unit.saved.contains_key(&state), || format!("{} has no saved place", unit.state_name(state)))
}

/// The nodes that begin with the result of a table in which packets are looked up.
fn looked_up(unit: &Unit) -> OrderedSet<usize> {
    let mut found = OrderedSet::new();
    for node in unit.stages.iter().flat_map(|stage| &stage.nodes) {
        walk::stmts(&node.body, &mut |stmt| {
            if let Stmt::LookUp { node, .. } = stmt {
                found.insert(*node);
            }
        });
    }
    found
}

/// The names that the statements of a body declare.
fn declared(body: &[Stmt]) -> OrderedSet<&str> {
    let mut names = OrderedSet::new();
    for stmt in body {
        if let Stmt::Declare { name, .. } = stmt {
            names.insert(name.as_str());
        }
    }
    names
}

struct Verifier<'u> {
    unit: &'u Unit,
    number: usize,
    stage: &'u Stage,
    /// The stage of each node.
    nodes: &'u OrderedMap<usize, usize>,
    /// The names that all stages share.
    shared: &'u OrderedSet<&'u str>,
}

impl<'u> Verifier<'u> {
    fn stage(&self, looked_up: &OrderedSet<usize>) -> Result<(), Violation> {
        let stage = self.stage;
        let first = stage.nodes.first().map(|node| node.id);
        let entered = stage.entries.first().map(|entry| entry.node);
        ensure(first.is_some() && first == entered, || {
            format!("stage {} is not entered at its first node", self.number)
        })?;
        for entry in &stage.entries {
            ensure(self.nodes.get(&entry.node) == Some(&self.number), || {
                format!("entry {} is not in its stage", entry.node)
            })?;
            entry.values.values().try_for_each(|value| self.expr(value))?;
        }
        self.labels()?;
        let mut names = self.shared.clone();
        self.body(&stage.before, &mut names)?;
        let last = stage.nodes.len() - 1;
        for (position, node) in stage.nodes.iter().enumerate() {
            ensure(node.found.is_some() == looked_up.contains(&node.id), || {
                format!(
                    "node {} begins with a result for which no packet is looked up, or without one for which packets are",
                    node.id
                )
            })?;
            ensure(position == last || walk::ends(&node.body), || {
                format!("node {} does not end on every path", node.id)
            })?;
            self.body(&node.body, &mut names)?;
        }
        self.body(&stage.after, &mut names)
    }

    fn labels(&self) -> Result<(), Violation> {
        let (mut labels, mut jumps, mut twice) = (OrderedSet::new(), OrderedSet::new(), None);
        for node in &self.stage.nodes {
            walk::stmts(&node.body, &mut |stmt| match stmt {
                Stmt::Label(label) if !labels.insert(label) => twice = Some(label),
                Stmt::Goto(label) => _ = jumps.insert(label),
                _ => {}
            });
        }
        if let Some(label) = twice {
            return Err(Violation(format!("label {label} is there twice")));
        }
        match jumps.difference(&labels).next() {
            Some(label) => Err(Violation(format!("there is no label {label}"))),
            None => Ok(()),
        }
    }

    fn body(&self, body: &'u [Stmt], names: &mut OrderedSet<&'u str>) -> Result<(), Violation> {
        body.iter().try_for_each(|stmt| self.stmt(stmt, names))
    }

    fn stmt(&self, stmt: &'u Stmt, names: &mut OrderedSet<&'u str>) -> Result<(), Violation> {
        let mut checked = Ok(());
        walk::exprs(stmt, &mut |value| {
            if checked.is_ok() {
                checked = self.expr(value).and_then(|()| self.names(value, names));
            }
        });
        checked?;
        match stmt {
            Stmt::Declare { name, .. } => {
                names.insert(name);
            }
            Stmt::Go(node) => {
                ensure(self.nodes.get(node) == Some(&self.number), || format!("go {node} leaves its stage"))?;
            }
            Stmt::Pass(node) => self.leads_on(*node)?,
            Stmt::LookUp { node, row, .. } => {
                self.leads_on(*node)?;
                names.extend(row.as_deref());
            }
            _ => {}
        }
        let mut result = Ok(());
        walk::bodies(stmt, &mut |inner| {
            if result.is_ok() {
                result = self.body(inner, &mut names.clone());
            }
        });
        result
    }

    /// A node that packets go to from an earlier stage is an entry.
    fn leads_on(&self, node: usize) -> Result<(), Violation> {
        let is_entry = self
            .nodes
            .get(&node)
            .is_some_and(|&to| to > self.number && self.unit.stages[to].entries.iter().any(|entry| entry.node == node));
        ensure(is_entry, || format!("node {node} is not an entry of a later stage"))
    }

    fn expr(&self, value: &Expr) -> Result<(), Violation> {
        let mut checked = Ok(());
        walk::expr(value, &mut |it| {
            if checked.is_err() {
                return;
            }
            checked = match it {
                Expr::State(state) => self.has_value(*state),
                Expr::Saved(state) => has_place(self.unit, *state),
                _ => Ok(()),
            };
        });
        checked
    }

    fn has_value(&self, state: StatePart) -> Result<(), Violation> {
        let has_value = self.stage.entries.iter().all(|entry| entry.values.contains_key(&state));
        ensure(has_value || self.unit.is_wide(state), || {
            format!("{} has no value where packets enter stage {}", self.unit.state_name(state), self.number)
        })
    }

    fn names(&self, value: &Expr, names: &OrderedSet<&str>) -> Result<(), Violation> {
        let mut unknown = None;
        walk::expr(value, &mut |it| {
            if let Expr::Name(name) = it
                && !names.contains(&**name)
                && !is_given(name)
            {
                unknown = Some(name);
            }
        });
        ensure(unknown.is_none(), || format!("the name {} is not declared", unknown.map_or("", |name| name)))
    }
}

/// Whether a name is declared outside of the unit.
fn is_given(name: &str) -> bool {
    let is_constant = !name.contains(|c: char| c.is_ascii_lowercase());
    is_constant || GIVEN.contains(&name) || is_function(name)
}

/// Whether a name is that of a function, a type, or a variable of the function around the stages.
fn is_function(name: &str) -> bool {
    name.starts_with("ws_")
        || name.starts_with("__builtin_")
        || ["pack", "lookups", "hits", "keys", "rows", "far", "block_"].iter().any(|it| name.starts_with(it))
        || ["memcpy", "memset", "memmove", "sizeof"].contains(&name)
}
