//! Display forms of values, variables and entries of a program.
//!
//! What enters: a program with the types in its text. What leaves: text. A value is shown as an address if the types
//! say so, or otherwise if its width suggests it, as everywhere in Wirespeed. What its name is does not matter.

use super::places::Places;
use crate::frontend::Compiled;
use crate::written_types::{Format, WrittenTypes, annotation};
use base::index::Id as _;
use base::{Bits, FieldMatch};
use control::show;
use ctl::Schema;
use ctl::value::{Said, ValueType};
use ir::{ActionId, Expr, ExprKind, FieldType, HeaderRef, HeaderTypeId, Place, Program, TableId, Target, VarId};
use std::sync::Arc;
use tables::{ActionCall, Entry, Table};

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
        }
    }

    /// A value of this name.
    fn value(name: &str, value: &Bits, format: Option<Format>) -> String {
        value_type(name, value.width(), format, |ty| ty.show(&value.to_be_bytes()))
    }

    /// A header's field.
    pub fn field(&self, ty: HeaderTypeId, field: usize, value: &Bits) -> String {
        let header_type = &self.program.header_types[ty];
        let name = &header_type.fields[field].name;
        match header_type.fields[field].ty {
            FieldType::Fixed(_) => {
                let format = self.types.of_field(&header_type.name, name, value.width());
                Described::value(&format!("{}.{name}", header_type.name), value, format)
            }
            FieldType::Varbit(_) => value.to_string(),
        }
    }

    /// A variable's value.
    pub fn variable(&self, var: VarId, value: &Bits) -> String {
        let name = &self.program.vars[var].name;
        // Only a header's plain 48 bits are certainly no time.
        let plain = (value.width() == 48).then_some("DECIMAL");
        Described::value(name, value, self.types.of_path(name, value.width()).or(plain))
    }

    /// An argument of an action.
    pub fn argument(&self, action: ActionId, position: usize, value: &Bits) -> String {
        let action = &self.program.actions[action];
        let Some(&param) = action.params.get(position) else { return value.to_string() };
        let name = &self.program.vars[param].name;
        Described::value(name, value, self.types.of_parameter(&action.name, name, value.width()))
    }

    /// The value of a variable or field.
    pub fn at_place(&self, place: &Place, value: &Bits) -> String {
        match place {
            Place::Var(var) => self.variable(*var, value),
            Place::Field(header, field) => self.field(self.program.header_type_id(header), *field as usize, value),
            Place::Slice { .. } => value.to_string(),
        }
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
            Place::Var(var) => self.program.vars[*var].name.clone(),
            Place::Field(header, field) => {
                let field = &self.program.header_type(header).fields[*field as usize].name;
                format!("{}.{field}", self.header(header))
            }
            Place::Slice { base, high, low } => format!("{}[{high}:{low}]", self.place(base)),
        }
    }

    /// The value of a table's key.
    pub fn key(&self, table: TableId, position: usize, value: &Bits) -> String {
        self.key_type(table, position, value.width(), |ty| ty.show(&value.to_be_bytes()))
    }

    fn key_type<T>(&self, table: TableId, position: usize, width: u32, show: impl FnOnce(&ValueType<'_>) -> T) -> T {
        let Some(key) = self.program.tables[table].keys.get(position) else {
            return value_type("", width, None, show);
        };
        let by_type = match &key.expr.kind {
            ExprKind::Field(header, field) => {
                let ty = self.program.header_type(header);
                self.types.of_field(&ty.name, &ty.fields[*field as usize].name, width)
            }
            _ => None,
        };
        let format = by_type.or_else(|| self.types.of_path(&key.name, width));
        value_type(&key.name, width, format, |ty| match key.kind {
            base::MatchKind::Lpm => show(&ty.clone().of_prefixes()),
            _ => show(ty),
        })
    }

    /// What an entry matches in a key.
    fn wanted(&self, table: TableId, position: usize, wanted: &FieldMatch) -> String {
        let shown = |value: &Bits| self.key(table, position, value);
        match wanted {
            FieldMatch::Exact(value) | FieldMatch::Optional(Some(value)) => shown(value),
            FieldMatch::Lpm { value, prefix_len } => format!("{}/{prefix_len}", shown(value)),
            FieldMatch::Ternary { value, mask } => {
                let bytes = mask.to_be_bytes();
                let mask = self.key_type(table, position, mask.width(), |ty| ty.show_mask(&bytes));
                format!("{}&&&{mask}", shown(value))
            }
            FieldMatch::Range { low, high } => format!("{}..{}", shown(low), shown(high)),
            FieldMatch::Optional(None) => "*".to_owned(),
        }
    }

    /// An entry: its handle, its keys, its priority if it matters, its action.
    pub fn entry(&self, table: TableId, stored: &Table, entry: &Entry) -> String {
        let names = stored.spec().key.iter().map(|field| &field.name);
        let keys = names.zip(&entry.spec.key).enumerate();
        let keys: Vec<String> =
            keys.map(|(at, (name, wanted))| format!("{name}={}", self.wanted(table, at, wanted))).collect();
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
                let args = call.args.iter().enumerate();
                let args: Vec<String> = args.map(|(at, value)| self.argument(listed.action, at, value)).collect();
                format!("{}({})", self.program.actions[listed.action].name, args.join(", "))
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

fn value_type<T>(name: &str, width: u32, format: Option<Format>, show: impl FnOnce(&ValueType<'_>) -> T) -> T {
    let annotations: Vec<String> = format.map(annotation).into_iter().collect();
    let said = Said { bitwidth: i32::try_from(width).unwrap_or(0), type_name: None, annotations: &annotations };
    let schema = Schema::default();
    show(&ValueType::new(&schema, "value", name, said))
}
