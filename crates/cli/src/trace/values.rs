//! Display forms of values, variables and entries of a program.
//!
//! What enters: a program with the types in its text. What leaves: text. A value is shown as an address if the types
//! say so, or otherwise if its width suggests it, as everywhere in Wirespeed. What its name is does not matter.

use super::labels;
use super::places::Places;
use crate::frontend::Compiled;
use crate::written_types::WrittenTypes;
use base::index::Id as _;
use base::{Bits, OrderedMap, Span};
use control::show;
use ir::{ActionId, Expr, ExprKind, FieldType, HeaderRef, HeaderTypeId, Place, Program, TableId, Target, Type, VarId};
use std::sync::Arc;
use tables::{ActionCall, Entry, Table};
use values::Style;

/// A program and its text.
#[derive(Clone, Debug)]
pub struct Described {
    /// The compiled program, as it was written: passes would hide steps.
    pub compiled: wirespeed::Program,
    /// Its IR.
    pub program: Arc<Program>,
    /// Its text.
    pub places: Places,
    types: WrittenTypes,
    /// The labels of each `switch`, by its place.
    labels: OrderedMap<(u32, u32), Vec<Span>>,
}

impl Described {
    /// A compiled program with its text.
    pub fn new(compiled: &Compiled) -> Described {
        let program = &compiled.program;
        Described {
            compiled: program.clone(),
            program: Arc::clone(program.ir()),
            places: Places(Arc::clone(program.source())),
            types: WrittenTypes::of(&compiled.tree),
            labels: labels::of(&compiled.tree),
        }
    }

    /// A header's field.
    pub fn field(&self, ty: HeaderTypeId, field: usize, value: &Bits) -> String {
        let header_type = &self.program.header_types[ty];
        let name = &header_type.fields[field].name;
        match header_type.fields[field].ty {
            FieldType::Fixed(Type::Bool) => truth(value),
            FieldType::Fixed(_) => {
                let format = self.types.of_field(&header_type.name, name, value.width());
                Style::of(name, value.width(), format).show(value)
            }
            FieldType::Varbit(_) => value.to_string(),
        }
    }

    /// A variable's value.
    pub fn variable(&self, var: VarId, value: &Bits) -> String {
        let ir::Var { name, ty, .. } = &self.program.vars[var];
        if *ty == Type::Bool {
            return truth(value);
        }
        // Only a header's plain 48 bits are certainly no time.
        let plain = (value.width() == 48).then_some("DECIMAL");
        Style::of(name, value.width(), self.types.of_path(name, value.width()).or(plain)).show(value)
    }

    /// The arguments of an action, also those of parameters of no bits.
    pub fn arguments(&self, action: ActionId, args: &[Bits]) -> Vec<String> {
        let shown = args.iter().enumerate().map(|(at, value)| self.argument(action, at, value));
        self.program.actions[action].with_empty(shown, |_| "0".to_owned())
    }

    /// An argument of an action.
    fn argument(&self, action: ActionId, position: usize, value: &Bits) -> String {
        let action = &self.program.actions[action];
        let Some(&param) = action.params.get(position) else { return value.to_string() };
        let ir::Var { name, ty, .. } = &self.program.vars[param];
        if *ty == Type::Bool {
            return truth(value);
        }
        let format = self.types.of_parameter(&action.name, name, value.width());
        Style::of(name, value.width(), format).show(value)
    }

    /// The value of a variable or field.
    pub fn at_place(&self, place: &Place, value: &Bits) -> String {
        match place {
            Place::Var(var) => self.variable(*var, value),
            Place::Field(header, field) => self.field(self.program.header_type_id(header), *field as usize, value),
            Place::Slice { .. } => value.to_string(),
        }
    }

    /// The label of the `switch` at a span with this position among its labels.
    pub fn label(&self, span: Span, position: usize, value: &Bits) -> String {
        let label = self.labels.get(&(span.lo, span.hi)).and_then(|labels| labels.get(position));
        label.map_or_else(|| value.to_string(), |&label| self.places.written(label))
    }

    /// The value of an expression, and the variable or field that it reads, if it is only that.
    pub fn of_expr(&self, expr: &Expr, value: &Bits) -> (Option<String>, String) {
        let place = match &expr.kind {
            ExprKind::Var(var) => Place::Var(*var),
            ExprKind::Field(header, field) => Place::Field(header.clone(), *field),
            _ => return (None, value.to_string()),
        };
        (Some(self.place(&place)), self.at_place(&place, value))
    }

    /// The name of a header.
    pub fn header(&self, header: &HeaderRef) -> String {
        match header {
            HeaderRef::Fixed(id) => self.program.headers[*id].name.clone(),
            HeaderRef::Element { stack, .. } => format!("{}[...]", self.program.stacks[*stack].name),
            HeaderRef::Next(stack) => format!("{}.next", self.program.stacks[*stack].name),
            HeaderRef::Last(stack) => format!("{}.last", self.program.stacks[*stack].name),
        }
    }

    /// The name of a variable or field.
    pub fn place(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => as_written(&self.program.vars[*var].name),
            Place::Field(header, field) => {
                let field = &self.program.header_type(header).fields[*field as usize].name;
                format!("{}.{}", self.header(header), as_written(field))
            }
            Place::Slice { base, high, low } => format!("{}[{high}:{low}]", self.place(base)),
        }
    }

    /// The value of a table's key.
    pub fn key(&self, table: TableId, position: usize, value: &Bits) -> String {
        if self.program.tables[table].keys.get(position).is_some_and(|key| key.expr.ty == Type::Bool) {
            return truth(value);
        }
        self.key_style(table, position, value.width()).show(value)
    }

    fn key_style(&self, table: TableId, position: usize, width: u32) -> Style {
        let Some(key) = self.program.tables[table].keys.get(position) else { return Style::of("", width, None) };
        let by_type = match &key.expr.kind {
            ExprKind::Field(header, field) => {
                let ty = self.program.header_type(header);
                self.types.of_field(&ty.name, &ty.fields[*field as usize].name, width)
            }
            _ => None,
        };
        let format = by_type.or_else(|| self.types.of_path(&key.name, width));
        Style::of_key(&key.name, width, format, Some(key.kind))
    }

    /// An entry: its handle, its keys, its priority if it matters, its action.
    pub fn entry(&self, table: TableId, stored: &Table, entry: &Entry) -> String {
        let fields = &stored.spec().key;
        let shown = |at: usize, wanted| self.key_style(table, at, fields[at].width_bits).show_match(wanted);
        let names = fields.iter().map(|field| &field.name);
        let keys = names.zip(&entry.spec.key).enumerate();
        let keys: Vec<String> = keys.map(|(at, (name, wanted))| format!("{name}={}", shown(at, wanted))).collect();
        let priority = match stored.kind().has_priority() {
            true => format!(" priority {}", entry.spec.priority),
            false => String::new(),
        };
        let call = ActionCall { action: entry.spec.action, args: entry.spec.args.clone() };
        format!("{}: {}{priority} -> {}", entry.handle, keys.join(" "), self.call(table, stored, &call))
    }

    fn call(&self, table: TableId, stored: &Table, call: &ActionCall) -> String {
        let listed = self.program.tables[table].actions.get(call.action);
        match (tables::Target::of(call.action, &call.args), listed) {
            (None, Some(listed)) => {
                let args = self.arguments(listed.action, &call.args).join(", ");
                format!("{}({args})", self.program.actions[listed.action].name)
            }
            _ => show::action(stored, call),
        }
    }

    /// The entry with this handle, as text; empty if it was deleted.
    pub fn entry_of(&self, table: TableId, tables: &tables::TableSet, handle: tables::Handle) -> String {
        let stored = &tables.tables()[table.index()];
        stored.get(handle).map(|entry| self.entry(table, stored, entry)).unwrap_or_default()
    }

    /// The name of a parser's target state.
    pub fn target(&self, block: Option<ir::BlockId>, target: Target) -> String {
        let block = block.map(|block| &self.program.blocks[block].kind);
        match (target, block) {
            (Target::Accept, _) => "accept".to_owned(),
            (Target::State(state), Some(ir::BlockKind::Parser { states, .. })) => states[state].name.clone(),
            _ => "reject".to_owned(),
        }
    }
}

/// A path with its elements of arrays and tuples in brackets. No name of a field begins with a digit.
pub fn as_written(path: &str) -> String {
    let mut parts = path.split('.');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_index = part.bytes().next().is_some_and(|first| first.is_ascii_digit());
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        match is_index {
            true => written += &format!("[{}]{}", &part[..digits], &part[digits..]),
            false => written += &format!(".{part}"),
        }
    }
    written
}

fn truth(value: &Bits) -> String {
    (!value.is_zero()).to_string()
}
