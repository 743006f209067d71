//! Tables: rows of keys, and the actions of entries.
//!
//! The slot of an entry may hold a packed result ([`tables::PackedLayout`]); a lookup then returns that, and the entry
//! is not read.

use super::expr::Value;
use super::mask;
use super::scope::{Known, Scope};
use crate::plan::pre_encoded::Store;
use ir::{ActionId, HeaderRef, TableId, VarId};
use lir::{
    EnvArray, Expr as C, Stmt as S, Type, Variable, arrow, assign, binary, call, cast, conditional, constant, declare,
    declare_array, dot, index, int, long, name, plus, unary,
};
use tables::PackedLayout;

/// The declaration of a pointer to an entry.
fn entry_pointer(name: &str, value: Option<C>) -> S {
    S::Declare { variable: Variable::Changes, ty: Type::Entry, name: name.into(), length: None, value }
}

/// The number of cases up to which they are tested one after the other, as listed: a C compiler can vectorise a loop of
/// conditions, and programs usually list the most frequent action first.
const TRIED_MAX: usize = 4;

/// The result of a lookup.
#[derive(Clone)]
pub(crate) enum LookupResult {
    /// A pointer to the entry.
    Entry(C),
    /// The packed result.
    Packed(C),
}

impl LookupResult {
    /// 1 for an entry, 0 for the default action.
    fn hit(&self) -> C {
        match self {
            LookupResult::Entry(entry) => arrow(entry.clone(), "hit"),
            LookupResult::Packed(packed_result) => {
                binary("&", binary(">>", packed_result.clone(), int(PackedLayout::HIT_BIT)), int(1))
            }
        }
    }

    /// The position of the action among the table's.
    fn action(&self) -> C {
        match self {
            LookupResult::Entry(entry) => arrow(entry.clone(), "action"),
            LookupResult::Packed(packed_result) => {
                binary("&", packed_result.clone(), int((1 << PackedLayout::ACTION_BITS) - 1))
            }
        }
    }
}

/// The cell of direct counters and meters: that of the entry with this handle if one was hit, else that of the default
/// action.
pub(crate) fn direct_cell(table: &ir::Table, hit: C, handle: C) -> C {
    conditional(hit, cast(Type::U64, handle), long(table.default_cell()))
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
                    let value = if slot.width_bits == 1 { cast(Type::U64, value) } else { value };
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

    /// The statements that look a table up, and count the lookups.
    pub(crate) fn lookup(&mut self, table: TableId, keys: C, count: C, results: C) -> [S; 2] {
        let handle = self.env_item(EnvArray::Tables, table);
        let plan = &self.emitter.plan.tables[table];
        let hits = if plan.packed_results.is_some() {
            let packed_result = name(pack_function(table));
            call("ws_find_packed_results", vec![unary("&", handle), keys, count.clone(), packed_result, results])
        } else if plan.is_of_words {
            call("ws_find_words", vec![unary("&", handle), keys, count.clone(), results])
        } else if plan.is_of_rows {
            let words = int(plan.key.words() as u32);
            call("ws_find_rows", vec![unary("&", handle), keys, count.clone(), words, results])
        } else {
            let function = dot(handle.clone(), "function");
            C::Call(Box::new(function), vec![dot(handle, "context"), keys, count.clone(), results])
        };
        let uses = self.env_item(EnvArray::Uses, table);
        let add = |member: &str, number: C| S::Assign(dot(uses.clone(), member), "+=", number);
        [add("hits", hits), add("lookups", count)]
    }

    /// Looks a table up for this packet alone and runs the entry's action.
    pub(crate) fn apply_inline(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        if self.emitter.plan.tables[table].is_of_words {
            return self.apply_words_inline(table, hit, action);
        }
        let words = self.emitter.plan.tables[table].key.words() as u32;
        let (row, entry) = (self.fresh("row"), self.fresh("entry"));
        self.push(declare_array(Type::U64, row.clone(), words.max(1), None));
        if words == 0 {
            self.push(assign(index(name(row.clone()), int(0)), int(0)));
        }
        self.key_row(table, &name(row.clone()));
        self.push(entry_pointer(&entry, None));
        let lookup = self.lookup(table, name(row), int(1), unary("&", name(entry.clone())));
        lookup.into_iter().for_each(|statement| self.push(statement));
        self.table_results(table, hit, action, &LookupResult::Entry(name(entry)));
    }

    /// The same for a table whose keys are one word.
    fn apply_words_inline(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        let row = self.fresh("row");
        self.push(declare_array(Type::U64, row.clone(), 1, None));
        self.key_row(table, &name(row.clone()));
        let mut arguments = vec![unary("&", self.env_item(EnvArray::Tables, table)), index(name(row), int(0))];
        let plan = &self.emitter.plan.tables[table];
        let result = if plan.packed_results.is_some() {
            arguments.push(name(pack_function(table)));
            let function = if plan.is_narrow { "ws_find_narrow_packed_result" } else { "ws_find_packed_result" };
            let packed_result = self.fresh("packed_result");
            self.push(constant(Type::U32, packed_result.clone(), call(function, arguments)));
            LookupResult::Packed(name(packed_result))
        } else {
            let function = if plan.is_narrow { "ws_find_narrow" } else { "ws_find_word" };
            let (entry, found) = (self.fresh("entry"), Some(call(function, arguments)));
            self.push(entry_pointer(&entry, found));
            LookupResult::Entry(name(entry))
        };
        let [lookups, hits] = if plan.is_near {
            [name(lookups_name(table)), name(hits_name(table))]
        } else {
            ["lookups", "hits"].map(|member| dot(self.env_item(EnvArray::Uses, table), member))
        };
        self.push(S::Assign(lookups, "+=", int(1)));
        self.push(S::Assign(hits, "+=", result.hit()));
        self.table_results(table, hit, action, &result);
    }

    /// The code after a lookup: direct counter and meter of the entry or default action, the time of the hit, results,
    /// the action.
    pub(crate) fn table_results(
        &mut self,
        table: TableId,
        hit: Option<VarId>,
        action: Option<VarId>,
        result: &LookupResult,
    ) {
        let ran = match result {
            LookupResult::Entry(entry) => {
                let ran = self.entry_that_runs(table, entry);
                self.note_entry(table, entry);
                LookupResult::Entry(ran)
            }
            LookupResult::Packed(_) => result.clone(),
        };
        if let Some(var) = hit {
            let value = conditional(result.hit(), int(1), int(0));
            self.write_var(var, Value::Narrow(cast(Type::U64, value)));
        }
        if let Some(var) = action {
            self.write_var(var, Value::Narrow(cast(Type::U64, ran.action())));
        }
        self.actions(table, result, &ran);
    }

    /// Direct counter and meter of the entry or default action, and the time of the hit.
    fn note_entry(&mut self, table: TableId, entry: &C) {
        let table_ir = &self.emitter.program.tables[table];
        let member = |member: &str| arrow(entry.clone(), member);
        if !table_ir.direct_counters.is_empty() {
            let cell = direct_cell(table_ir, member("hit"), member("index"));
            let cell = self.temporary(cell);
            for &counter in &table_ir.direct_counters {
                self.count_directly(counter, cell.clone());
            }
        }
        if let Some((meter, Some(dst))) = &table_ir.direct_meter {
            let cell = direct_cell(table_ir, member("hit"), member("index"));
            let bytes = self.received("ingress_length");
            let arguments = vec![int(super::header::number(*meter)), cell, bytes, int(ir::NO_COLOUR)];
            let colour = self.callback("direct_meter", arguments);
            let colour = self.temporary(cast(Type::U64, colour));
            let has_colour = binary("!=", colour.clone(), int(ir::NO_COLOUR));
            let write = self.take(|scope| scope.write_resized(dst, colour, 32));
            self.push(S::If(has_colour, write, Vec::new()));
        }
        if table_ir.support_timeout {
            let note = self.take(|scope| scope.note_hit(table, member("index")));
            self.push(S::If(member("hit"), note, Vec::new()));
        }
    }

    /// The action that runs.
    fn actions(&mut self, table: TableId, result: &LookupResult, ran: &LookupResult) {
        let table_ir = &self.emitter.program.tables[table];
        let rest = self.rest.take();
        let before = self.known.clone();
        let mut after = before.clone();
        let mut cases = Vec::new();
        for (position, listed) in table_ir.actions.iter().enumerate() {
            self.known = before.clone();
            self.forget_line();
            let outer = self.entry.clone();
            if let LookupResult::Entry(entry) = result {
                self.entry = Some((table, entry.clone()));
            }
            let write = |scope: &mut Self| scope.action(table, position, listed.action, ran);
            let body = self.action_and_rest(listed.action, rest, &write);
            self.entry = outer;
            after.join(&self.known);
            if !body.is_empty() {
                cases.push((int(position as u32), body));
            }
        }
        self.known = if after.reachable { after } else { Known::unreachable() };
        self.forget_line();
        if cases.len() > TRIED_MAX {
            let cases = cases.into_iter().map(|(value, body)| (vec![value], body)).collect();
            return self.push(S::Switch { value: ran.action(), cases, default: Vec::new() });
        }
        let tried = |rest, (value, body)| vec![S::If(binary("==", ran.action(), value), body, rest)];
        let tried = cases.into_iter().rev().fold(Vec::new(), tried);
        tried.into_iter().for_each(|statement| self.push(statement));
    }

    /// Counts a lookup whose result is known. Counts are summed over the burst in variables of the function.
    pub(crate) fn count_lookup(&mut self, table: TableId, hit: &ir::Expr, entry: &ir::Expr) {
        self.push(S::Assign(name(lookups_name(table)), "+=", int(1)));
        let table_ir = &self.emitter.program.tables[table];
        if hit.as_const().is_some_and(base::Bits::is_zero) {
            for &counter in &table_ir.direct_counters {
                self.count_directly(counter, long(table_ir.default_cell()));
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
            let cell = self.temporary(direct_cell(table_ir, hit.clone(), entry.clone()));
            for &counter in &table_ir.direct_counters {
                self.count_directly(counter, cell.clone());
            }
        }
        if table_ir.support_timeout {
            let note = self.take(|scope| scope.note_hit(table, entry));
            self.push(S::If(hit, note, Vec::new()));
        }
    }

    /// Records the time at which an entry is hit.
    fn note_hit(&mut self, table: TableId, position: C) {
        let cells = self.env_item(EnvArray::LastHits, table);
        let note = assign(index(dot(cells.clone(), "words"), position.clone()), self.now_ns());
        self.push(S::If(binary("<", position, dot(cells, "size")), vec![note], Vec::new()));
    }

    /// The entry whose action runs: the table's own, or the member of its action profile that the table's entry refers
    /// to.
    fn entry_that_runs(&mut self, table: TableId, entry: &C) -> C {
        let program = self.emitter.program;
        let Some(implementation) = &program.tables[table].implementation else { return entry.clone() };
        let ran = self.fresh("ran");
        self.push(entry_pointer(&ran, Some(entry.clone())));
        let is_named = |what: &str| binary("==", arrow(entry.clone(), "action"), name(what));
        let lookup = unary("&", self.env_item(EnvArray::Tables, table));
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
    fn action(&mut self, table: TableId, position: usize, action: ActionId, result: &LookupResult) {
        let program = self.emitter.program;
        let action = &program.actions[action];
        if action.body.is_empty() && action.params.is_empty() {
            return;
        }
        self.push(S::Comment(format!("action {}", action.name)));
        for (number, &param) in action.params.iter().enumerate() {
            let value = self.argument(table, position, number, result);
            self.begin_param(param, value);
        }
        let LookupResult::Entry(entry) = result else { return self.sequence(&action.body.iter().collect::<Vec<_>>()) };
        let layout = &self.emitter.plan.tables[table].actions[position];
        let stores = &self.emitter.plan.tables[table].stores[position];
        let mut others = Vec::new();
        for (number, stmt) in action.body.iter().enumerate() {
            let store = stores.iter().find(|store| store.statements.contains(&number));
            let store = store.filter(|store| !store.fields.iter().any(|&field| self.is_summed(store.header, field)));
            match store {
                Some(store) if store.statements[0] == number => {
                    self.sequence(&std::mem::take(&mut others));
                    self.comment(stmt.span);
                    self.copy_pre_encoded(store, plus(arrow(entry.clone(), "data"), layout.pre_encoded_word() as u32));
                }
                Some(_) => {}
                None => others.push(stmt),
            }
        }
        self.sequence(&others);
    }

    /// Sets a parameter. A parameter that only its action mentions is declared in the action's scope: a function with
    /// thousands of them would otherwise zero each for every packet.
    fn begin_param(&mut self, param: VarId, value: Value) {
        let width = self.emitter.program.vars[param].ty.width();
        if width == 0 || !self.is_local(param) || !self.emitter.private_params.contains(&param) {
            return self.write_var(param, value);
        }
        let text = self.emitter.var_name(param);
        match value {
            Value::Narrow(value) => self.push(declare(Type::U64, text, value)),
            Value::Wide(limbs) => {
                self.push(declare_array(Type::U64, text.clone(), width.div_ceil(64), None));
                self.push(S::Eval(call("ws_wide_copy", vec![name(text), limbs, int(width)])));
            }
        }
    }

    /// The argument for a parameter of an action.
    fn argument(&self, table: TableId, action: usize, number: usize, result: &LookupResult) -> Value {
        let plan = &self.emitter.plan.tables[table];
        let word = plan.actions[action].word(number);
        let listed = &self.emitter.program.tables[table].actions[action];
        let param = self.emitter.program.actions[listed.action].params[number];
        let width = self.emitter.program.vars[param].ty.width();
        match result {
            LookupResult::Entry(entry) if width > 64 => Value::Wide(plus(arrow(entry.clone(), "data"), word as u32)),
            LookupResult::Entry(entry) => Value::Narrow(index(arrow(entry.clone(), "data"), int(word as u32))),
            LookupResult::Packed(packed_result) => {
                let params = plan.packed_results.as_ref().map_or(&[][..], |layout| layout.params(action));
                let start = params.iter().find(|param| param.0 == word).filter(|_| width > 0).map(|param| param.1);
                let mask = int(mask(width) as u32);
                let above = |start| cast(Type::U64, binary("&", binary(">>", packed_result.clone(), int(start)), mask));
                Value::Narrow(start.map_or(long(0), above))
            }
        }
    }

    /// Copies pre-encoded data of an entry to a header, if that is valid.
    fn copy_pre_encoded(&mut self, store: &Store, pre_encoded: C) {
        if !self.known.reachable {
            return;
        }
        let access = self.access(&HeaderRef::Fixed(store.header));
        let valid = self.valid(&access);
        let (header, bits) = (self.pointer(&access), self.field_bits(&access, store.fields[0], None));
        let source = plus(cast(Type::ConstBytes, pre_encoded), store.start);
        let copy = call("memcpy", vec![plus(header, bits.offset / 8), source, int(store.bytes)]);
        self.guarded(valid, vec![S::Eval(copy)]);
    }
}

/// The C variable that counts the lookups of a table in a function.
pub(super) fn lookups_name(table: TableId) -> String {
    format!("lookups{}", super::header::number(table))
}

/// The C variable that counts the hits among them.
pub(super) fn hits_name(table: TableId) -> String {
    format!("hits{}", super::header::number(table))
}

/// The name of the C function that packs the result of a table's entry.
pub(crate) fn pack_function(table: TableId) -> String {
    format!("pack{}", super::header::number(table))
}
