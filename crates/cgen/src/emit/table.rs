//! Tables: rows of keys, and what is done with an entry.

use super::expr::Value;
use super::scope::{Known, Scope};
use crate::ctree::{
    Expr as C, Stmt as S, arrow, assign, binary, call, cast, conditional, declare, declare_array, dot, index, int,
    long, name, plus, unary,
};
use crate::plan::spelled::Store;
use ir::{ActionId, HeaderRef, TableId, VarId};
use std::collections::BTreeSet;

/// The type of pointers to entries.
pub(crate) const ENTRY: &str = "const struct ws_entry *";

/// Where the direct counters and meter are of the entry of this handle if one was hit, of the default action if not.
pub(crate) fn direct_cell(table: &ir::Table, hit: C, handle: C) -> C {
    conditional(hit, cast("uint64_t", handle), long(table.default_cell()))
}

impl Scope<'_, '_> {
    /// Writes the table's key into a row of words.
    pub(crate) fn key_row(&mut self, table: TableId, row: &C) {
        let program = self.emitter.program;
        let layout = &self.emitter.plan.tables[table].key;
        let mut words: Vec<Option<C>> = vec![None; layout.words()];
        for (key, slot) in program.tables[table].keys.iter().zip(layout.slots()) {
            match self.value(&key.expr) {
                _ if slot.width_bits == 0 => {}
                Value::Narrow(value) => {
                    let value = if slot.width_bits == 1 { cast("uint64_t", value) } else { value };
                    let part = if slot.shift_bits == 0 { value } else { binary("<<", value, int(slot.shift_bits)) };
                    let word = &mut words[slot.word];
                    *word = Some(match word.take() {
                        Some(below) => binary("|", below, part),
                        None => part,
                    });
                }
                Value::Wide(limbs) => {
                    let target = plus(row.clone(), slot.word as u32);
                    self.push(S::Eval(call("ws_wide_copy", vec![target, limbs, int(slot.width_bits)])));
                }
            }
        }
        for (position, word) in words.into_iter().enumerate() {
            if let Some(word) = word {
                self.push(assign(index(row.clone(), int(position as u32)), word));
            }
        }
    }

    /// The statements that ask a table, and count that.
    pub(crate) fn lookup(&self, table: TableId, keys: C, count: C, results: C) -> [S; 2] {
        let handle = self.env_item("tables", table);
        let function = dot(handle.clone(), "function");
        let arguments = vec![dot(handle, "context"), keys, count.clone(), results];
        let add = |member: &str, number: C| S::Assign(dot(self.env_item("uses", table), member), "+=", number);
        [add("hits", C::Call(Box::new(function), arguments)), add("lookups", count)]
    }

    /// Asks a table for this packet alone and does what the entry says.
    pub(crate) fn apply_inline(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        if self.emitter.plan.tables[table].is_of_words {
            return self.apply_words_inline(table, hit, action);
        }
        let words = self.emitter.plan.tables[table].key.words() as u32;
        let (row, entry) = (self.fresh("row"), self.fresh("entry"));
        self.push(declare_array("uint64_t", row.clone(), words.max(1), None));
        if words == 0 {
            self.push(assign(index(name(row.clone()), int(0)), int(0)));
        }
        self.key_row(table, &name(row.clone()));
        self.push(S::Declare { ty: ENTRY.into(), name: entry.clone(), length: None, value: None });
        let asked = self.lookup(table, name(row), int(1), unary("&", name(entry.clone())));
        asked.into_iter().for_each(|statement| self.push(statement));
        self.table_results(table, hit, action, &name(entry));
    }

    /// The same for a table of words.
    fn apply_words_inline(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        let (row, entry) = (self.fresh("row"), self.fresh("entry"));
        self.push(declare_array("uint64_t", row.clone(), 1, None));
        self.key_row(table, &name(row.clone()));
        let key = index(name(row), int(0));
        if self.emitter.plan.tables[table].is_narrow {
            let found = call("ws_find_narrow", vec![unary("&", self.env_item("tables", table)), key]);
            self.push(S::Declare { ty: ENTRY.into(), name: entry.clone(), length: None, value: Some(found) });
            self.push(S::Assign(name(lookups_name(table)), "+=", int(1)));
            self.push(S::Assign(name(hits_name(table)), "+=", arrow(name(entry.clone()), "hit")));
            return self.table_results(table, hit, action, &name(entry));
        }
        let words = unary("&", dot(self.env_item("tables", table), "words"));
        let place = call("ws_word_place", vec![words.clone(), key.clone()]);
        let found = self.find_word(table, words, key, place);
        self.push(S::Declare { ty: ENTRY.into(), name: entry.clone(), length: None, value: Some(found) });
        let uses = self.env_item("uses", table);
        self.push(S::Assign(dot(uses.clone(), "lookups"), "+=", int(1)));
        self.push(S::Assign(dot(uses, "hits"), "+=", arrow(name(entry.clone()), "hit")));
        self.table_results(table, hit, action, &name(entry));
    }

    /// The entry that a table of words has for a key whose search begins at `place`.
    pub(crate) fn find_word(&self, table: TableId, words: C, key: C, place: C) -> C {
        call("ws_find_word", vec![unary("&", self.env_item("tables", table)), words, key, place])
    }

    /// What follows a lookup: direct counter and meter of the entry or default action, the time of the hit,
    /// results, the action.
    pub(crate) fn table_results(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>, entry: &C) {
        let program = self.emitter.program;
        let member = |member: &str| arrow(entry.clone(), member);
        let table_ir = &program.tables[table];
        let ran = self.what_runs(table, entry);
        if !table_ir.direct_counters.is_empty() {
            let cell = direct_cell(table_ir, member("hit"), member("index"));
            let cell = self.spill(cell);
            for &counter in &table_ir.direct_counters {
                self.count_at("direct_counters", counter, cell.clone());
            }
        }
        if let Some((meter, Some(dst))) = &table_ir.direct_meter {
            let cell = direct_cell(table_ir, member("hit"), member("index"));
            let arguments = vec![int(super::header::number(*meter)), cell, name("p"), int(ir::NO_COLOUR)];
            let colour = self.callback("direct_meter", arguments);
            let colour = self.spill(cast("uint64_t", colour));
            let has_colour = binary("!=", colour.clone(), int(ir::NO_COLOUR));
            let write = self.take(|scope| scope.write_resized(dst, colour, 32));
            self.push(S::If(has_colour, write, Vec::new()));
        }
        if table_ir.support_timeout {
            let note = self.take(|scope| scope.note_hit(table, member("index")));
            self.push(S::If(member("hit"), note, Vec::new()));
        }
        if let Some(var) = hit {
            let value = conditional(member("hit"), int(1), int(0));
            self.write_var(var, Value::Narrow(cast("uint64_t", value)));
        }
        if let Some(var) = action {
            self.write_var(var, Value::Narrow(cast("uint64_t", arrow(ran.clone(), "action"))));
        }
        let before = self.known.clone();
        let mut after = before.clone();
        let mut cases = Vec::new();
        for (position, listed) in table_ir.actions.iter().enumerate() {
            self.known = before.clone();
            self.forget_line();
            let outer = self.entry.replace((table, entry.clone()));
            let body = self.take(|scope| scope.action(table, position, listed.action, &ran));
            self.entry = outer;
            after.join(&self.known);
            if !body.is_empty() {
                cases.push((vec![int(position as u32)], body));
            }
        }
        self.known = if after.reachable { after } else { Known::unreachable() };
        self.forget_line();
        if !cases.is_empty() {
            self.push(S::Switch { value: arrow(ran, "action"), cases, default: Vec::new() });
        }
    }

    /// Counts a lookup whose answer is known. Uses are summed over the burst in variables of the function.
    pub(crate) fn count_lookup(&mut self, table: TableId, hit: &ir::Expr, entry: &ir::Expr) {
        self.push(S::Assign(name(lookups_name(table)), "+=", int(1)));
        let table_ir = &self.emitter.program.tables[table];
        if hit.as_const().is_some_and(base::Bits::is_zero) {
            for &counter in &table_ir.direct_counters {
                self.count_at("direct_counters", counter, long(table_ir.default_cell()));
            }
            return;
        }
        let hit = self.narrow(hit);
        let hit = self.atom(hit);
        self.push(S::Assign(name(hits_name(table)), "+=", conditional(hit.clone(), int(1), int(0))));
        if table_ir.direct_counters.is_empty() && !table_ir.support_timeout {
            return;
        }
        let entry = self.number(entry);
        let entry = self.atom(entry);
        if !table_ir.direct_counters.is_empty() {
            let cell = self.spill(direct_cell(table_ir, hit.clone(), entry.clone()));
            for &counter in &table_ir.direct_counters {
                self.count_at("direct_counters", counter, cell.clone());
            }
        }
        if table_ir.support_timeout {
            let note = self.take(|scope| scope.note_hit(table, entry));
            self.push(S::If(hit, note, Vec::new()));
        }
    }

    /// Notes that an entry is hit now.
    fn note_hit(&mut self, table: TableId, position: C) {
        let cells = self.env_item("last_hits", table);
        let note = assign(index(dot(cells.clone(), "words"), position.clone()), arrow(name("env"), "now_ns"));
        self.push(S::If(binary("<", position, dot(cells, "size")), vec![note], Vec::new()));
    }

    /// The entry whose action runs: that of the table itself, or the member of its action profile that this names.
    fn what_runs(&mut self, table: TableId, entry: &C) -> C {
        let program = self.emitter.program;
        let Some(implementation) = &program.tables[table].implementation else { return entry.clone() };
        let ran = self.fresh("ran");
        // Nobody looks at it where no action does anything.
        let declared = format!("{ran} WS_UNUSED");
        self.push(S::Declare { ty: ENTRY.into(), name: declared, length: None, value: Some(entry.clone()) });
        let is_named = |what: &str| binary("==", arrow(entry.clone(), "action"), name(what));
        let lookup = unary("&", self.env_item("tables", table));
        let handle = index(arrow(entry.clone(), "data"), int(0));
        let picked = call("ws_member", vec![lookup.clone(), handle.clone()]);
        self.push(S::If(is_named("WS_TO_MEMBER"), vec![assign(name(ran.clone()), picked)], Vec::new()));
        if let Some(algorithm) = program.action_profiles[implementation.profile].selector {
            let before = self.known.clone();
            self.forget_line();
            let statements = self.take(|scope| {
                let hash = scope.hash_value(algorithm, &implementation.inputs, false);
                let picked = call("ws_group_member", vec![lookup, handle, hash]);
                scope.push(assign(name(ran.clone()), picked));
            });
            self.known = before;
            self.forget_line();
            self.push(S::If(is_named("WS_TO_GROUP"), statements, Vec::new()));
        }
        name(ran)
    }

    /// The body of an action, its parameters first.
    fn action(&mut self, table: TableId, position: usize, action: ActionId, entry: &C) {
        let program = self.emitter.program;
        let action = &program.actions[action];
        if action.body.is_empty() && action.params.is_empty() {
            return;
        }
        self.push(S::Comment(format!("action {}", action.name)));
        let layout = &self.emitter.plan.tables[table].actions[position];
        for (number, &param) in action.params.iter().enumerate() {
            let word = layout.word(number) as u32;
            let data = arrow(entry.clone(), "data");
            let value = match program.vars[param].ty.width() {
                0..=64 => Value::Narrow(index(data, int(word))),
                _ => Value::Wide(plus(data, word)),
            };
            self.write_var(param, value);
        }
        let stores = &self.emitter.plan.tables[table].stores[position];
        let mut others = Vec::new();
        for (number, stmt) in action.body.iter().enumerate() {
            let store = stores.iter().find(|store| store.statements.contains(&number));
            let store = store.filter(|store| !store.fields.iter().any(|&field| self.is_summed(store.header, field)));
            match store {
                Some(store) if store.statements[0] == number => {
                    self.sequence(&std::mem::take(&mut others));
                    self.comment(stmt.span);
                    self.copy_spelled(store, plus(arrow(entry.clone(), "data"), layout.spelled_word() as u32));
                }
                Some(_) => {}
                None => others.push(stmt),
            }
        }
        self.sequence(&others);
    }

    /// Copies what is spelled in an entry to a header, if that is valid.
    fn copy_spelled(&mut self, store: &Store, spelled: C) {
        if !self.known.reachable {
            return;
        }
        let access = self.access(&HeaderRef::Fixed(store.header));
        let valid = self.valid(&access);
        let (header, bits) = (self.pointer(&access), self.field_bits(&access, store.fields[0], None));
        let source = plus(cast("const uint8_t *", spelled), store.start);
        let copy = call("memcpy", vec![plus(header, bits.offset / 8), source, int(store.bytes)]);
        self.guarded(valid, vec![S::Eval(copy)]);
    }
}

/// Puts around a function's body what sums the uses of the tables whose lookups it counts without asking them.
pub(crate) fn sum_uses(tables: &BTreeSet<TableId>, mut body: Vec<S>) -> Vec<S> {
    let result = body.pop_if(|last| matches!(last, S::Return(_)));
    let sums = |table: &TableId| [(lookups_name(*table), "lookups"), (hits_name(*table), "hits")];
    let begin = tables.iter().flat_map(sums).map(|(sum, _)| declare("uint64_t WS_UNUSED", sum, long(0)));
    let add = |table: &TableId| {
        let uses = index(arrow(name("env"), "uses"), int(super::header::number(*table)));
        sums(table).map(|(sum, member)| S::Assign(dot(uses.clone(), member), "+=", name(sum)))
    };
    let end = tables.iter().flat_map(add);
    begin.chain(body).chain(end).chain(result).collect()
}

/// The C variable that counts the lookups of a table in a function.
fn lookups_name(table: TableId) -> String {
    format!("lookups{}", super::header::number(table))
}

/// The C variable that counts the hits among them.
fn hits_name(table: TableId) -> String {
    format!("hits{}", super::header::number(table))
}

/// `const struct ws_entry *const entry = value`.
pub(crate) fn declare_entry(value: C) -> S {
    declare("const struct ws_entry *const ", "entry WS_UNUSED", value)
}
