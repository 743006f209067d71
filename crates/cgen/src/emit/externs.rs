//! Statements that read or change state that outlives the packet: registers, counters, meters, random numbers,
//! messages.

use super::expr::Value;
use super::fast_path::PUNTS;
use super::scope::Scope;
use crate::abi;
use base::index::Id;
use base::limits::MARKED_WORDS_MIN;
use ir::{
    CounterId, DigestId, DirectCounterId, DirectMeterId, Expr, ExternFunctionId, ExternInstanceId, MeterId, Place,
    RegisterId, Stmt, TableId,
};
use lir::{
    EnvArray, Expr as C, Stmt as S, Type, arrow, assign, binary, call, cast, declare, declare_array, dot, index, int,
    long, name, unary,
};

const NOW_NS: &str = "now_ns";

/// The position of a cell's first word.
fn word_of(cell: C, limbs: u32) -> C {
    if limbs == 1 { cell } else { binary("*", cell, int(limbs)) }
}

impl Scope<'_, '_> {
    /// An item of an array in the environment.
    pub(crate) fn env_item(&self, array: EnvArray, id: impl Id) -> C {
        C::Env(array, super::header::number(id))
    }

    /// The time of the burst.
    pub(crate) fn now_ns(&self) -> C {
        if self.path.is_some() { name(NOW_NS) } else { arrow(name("env"), NOW_NS) }
    }

    /// Calls a callback with the core as its first argument.
    pub(crate) fn callback(&self, function: &str, mut arguments: Vec<C>) -> C {
        arguments.insert(0, arrow(name("env"), "core"));
        C::Call(Box::new(arrow(name("env"), function)), arguments)
    }

    /// The first word of a register's cell.
    fn cell(&mut self, register: RegisterId, position: &C) -> (C, u32) {
        let limbs = self.emitter.program.registers[register].ty.width().div_ceil(64);
        let words = dot(self.env_item(EnvArray::Registers, register), "words");
        (binary("+", words, word_of(position.clone(), limbs)), limbs)
    }

    fn exists(&mut self, array: EnvArray, id: impl Id, position: &C) -> C {
        binary("<", position.clone(), dot(self.env_item(array, id), "size"))
    }

    pub(crate) fn register_read(&mut self, dst: &Place, register: RegisterId, position: &Expr) {
        let position = self.number(position);
        let position = self.atom(position);
        let width = self.emitter.program.registers[register].ty.width();
        let (cell, limbs) = self.cell(register, &position);
        let statements = self.take(|scope| {
            let value = match limbs {
                0 => Value::Narrow(long(0)),
                1 => Value::Narrow(super::masked(unary("*", cell), width)),
                _ => Value::Wide(cell),
            };
            let to = scope.place_width(dst);
            let value = scope.resized(value, width, to);
            scope.write(dst, value);
        });
        let exists = self.exists(EnvArray::Registers, register, &position);
        self.push(S::If(exists, statements, Vec::new()));
    }

    pub(crate) fn register_write(&mut self, register: RegisterId, position: &Expr, value: &Expr) {
        let position = self.number(position);
        let position = self.atom(position);
        let width = self.emitter.program.registers[register].ty.width();
        let value = self.value(value);
        let (cell, limbs) = self.cell(register, &position);
        let store = match value {
            _ if limbs == 0 => return,
            Value::Narrow(value) => assign(unary("*", cell), value),
            Value::Wide(words) => S::Eval(call("ws_wide_copy", vec![cell, words, int(width)])),
        };
        let exists = self.exists(EnvArray::Registers, register, &position);
        let mut statements = vec![store];
        let words = self.emitter.program.registers[register].size.saturating_mul(u64::from(limbs));
        if words >= MARKED_WORDS_MIN {
            let words = dot(self.env_item(EnvArray::Registers, register), "words");
            statements.push(S::Eval(call("ws_mark_written", vec![words, word_of(position, limbs)])));
        }
        self.push(S::If(exists, statements, Vec::new()));
    }

    pub(crate) fn count(&mut self, counter: CounterId, position: &Expr) {
        let position = self.number(position);
        let position = self.atom(position);
        let exists = binary("<", position.clone(), long(self.emitter.program.counters[counter].size));
        self.count_at(EnvArray::Counters, counter, position, exists);
    }

    /// Counts the packet in a cell of a direct counter.
    pub(crate) fn count_directly(&mut self, counter: DirectCounterId, position: C) {
        let exists = self.exists(EnvArray::DirectCounters, counter, &position);
        self.count_at(EnvArray::DirectCounters, counter, position, exists);
    }

    /// Counts the packet in a cell, if there is such a cell.
    fn count_at(&mut self, array: EnvArray, id: impl Id, position: C, exists: C) {
        let cell = index(dot(self.env_item(array, id), "cells"), position);
        let statements = vec![
            S::Assign(dot(cell.clone(), "packets"), "+=", int(1)),
            S::Assign(dot(cell, "bytes"), "+=", self.received("ingress_length")),
        ];
        self.push(S::If(exists, statements, Vec::new()));
    }

    pub(crate) fn execute_meter(&mut self, dst: &Place, meter: MeterId, position: &Expr, before: &Expr) {
        let position = self.number(position);
        let position = self.atom(position);
        let before = self.low_word(before);
        let before = self.atom(before);
        let exists = binary("<", position.clone(), long(self.emitter.program.meters[meter].size));
        let statements = self.take(|scope| {
            let (number, colour) = (int(super::header::number(meter)), scope.fresh("colour"));
            let (bytes, before) = (scope.received("ingress_length"), cast(Type::U32, before));
            scope.push(declare(Type::U32, colour.clone(), int(0)));
            // The meter runs whether or not there is a header to write to.
            let arguments = vec![name("env"), number, position, bytes, before, unary("&", name(colour.clone()))];
            scope.push(S::Eval(call("ws_meter", arguments)));
            scope.write_resized(dst, cast(Type::U64, name(colour)), 32);
        });
        self.push(S::If(exists, statements, Vec::new()));
    }

    pub(crate) fn execute_direct_meter(&mut self, dst: &Place, meter: DirectMeterId, before: &Expr) {
        let before = self.low_word(before);
        let before = self.atom(before);
        let colour = match self.entry.clone() {
            Some((table, entry)) => {
                let table = &self.emitter.program.tables[table];
                let cell = super::table::direct_cell(table, arrow(entry.clone(), "hit"), arrow(entry, "index"));
                let bytes = self.received("ingress_length");
                let arguments = vec![int(super::header::number(meter)), cell, bytes, cast(Type::U32, before)];
                cast(Type::U64, self.callback("direct_meter", arguments))
            }
            None => before,
        };
        let colour = self.temporary(colour);
        self.write_resized(dst, colour, 32);
    }

    /// Adds an entry. The core gets its values as words: keys, arguments, profile.
    pub(crate) fn add_entry<'x>(
        &mut self,
        dst: &Place,
        (table, action): (TableId, u32),
        values: impl IntoIterator<Item = &'x Expr>,
    ) {
        let words = self.words(values);
        let arguments = vec![int(super::header::number(table)), int(action), words];
        let added = self.temporary(cast(Type::U64, self.callback("add_entry", arguments)));
        self.write(dst, Value::Narrow(added));
    }

    /// Starts the timer anew of the entry whose action runs.
    pub(crate) fn set_timer(&mut self, profile: Option<&Expr>) {
        let Some((table, entry)) = self.entry.clone() else { return };
        let statements = self.take(|scope| {
            let profile = match profile {
                Some(profile) => scope.low_word(profile),
                None => int(abi::SAME_PROFILE),
            };
            let number = int(super::header::number(table));
            let arguments = vec![number, arrow(entry.clone(), "index"), cast(Type::U32, profile)];
            scope.push(S::Eval(scope.callback("set_timer", arguments)));
        });
        self.push(S::If(arrow(entry, "hit"), statements, Vec::new()));
    }

    pub(crate) fn random(&mut self, dst: &Place, low: &Expr, high: &Expr) {
        let low = self.low_word(low);
        let low = self.atom(low);
        let high = self.low_word(high);
        let high = self.atom(high);
        let in_order = binary("<=", low.clone(), high.clone());
        let statements = self.take(|scope| {
            let drawn = scope.callback("random", vec![low, high]);
            let drawn = scope.temporary(drawn);
            scope.write_resized(dst, drawn, 64);
        });
        self.push(S::If(in_order, statements, Vec::new()));
    }

    pub(crate) fn digest(&mut self, digest: DigestId, values: &[Expr]) {
        let words = self.words(values);
        let number = int(super::header::number(digest));
        self.push(S::Eval(self.callback("digest", vec![number, name("p"), words])));
    }

    pub(crate) fn log(&mut self, stmt: &Stmt, args: &[Expr]) {
        let words = self.words(args);
        self.push(S::Eval(self.callback("log", vec![self.site(stmt), name("p"), words])));
    }

    /// A plug-in's function takes its inputs as words, and returns its outputs as the words of one concatenated value.
    pub(crate) fn call_extern(
        &mut self,
        dst: Option<&Place>,
        function: ExternFunctionId,
        instance: Option<ExternInstanceId>,
        inputs: &[Expr],
    ) {
        let words = self.words(inputs);
        let width = self.emitter.program.extern_functions[function].output_width();
        let outputs = self.fresh("outputs");
        let zero = Some(C::List(vec![long(0)]));
        self.push(declare_array(Type::U64, outputs.clone(), width.div_ceil(64).max(1), zero));
        let instance = int(instance.map_or(0, super::header::number));
        let numbers = [int(super::header::number(function)), instance];
        let arguments = numbers.into_iter().chain([words, name(outputs.clone())]).collect();
        self.push(S::Eval(self.callback("call_extern", arguments)));
        let Some(dst) = dst else { return };
        let value = match width {
            ..=64 => Value::Narrow(index(name(outputs), int(0))),
            _ => Value::Wide(name(outputs)),
        };
        let value = self.resized(value, width, self.place_width(dst));
        self.write(dst, value);
    }

    /// A false condition ends the block, or the fast path, for this packet.
    pub(crate) fn assert(&mut self, stmt: &Stmt, cond: &Expr) {
        let condition = self.narrow(cond);
        let before = self.known.clone();
        let statements = self.take(|scope| {
            scope.push(S::Eval(scope.callback("assert_failed", vec![scope.site(stmt), name("p")])));
            if scope.path.is_some() {
                scope.end_with_verdict("WS_ASSERTION_FAILED", PUNTS);
            } else {
                scope.push(S::Assign(arrow(name("p"), "flags"), "|=", int(abi::FLAG_ASSERT_FAILED)));
                scope.leave();
            }
        });
        self.known = before;
        self.assume(cond, true);
        self.push(S::If(unary("!", condition), statements, Vec::new()));
    }
}
