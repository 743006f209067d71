//! Random actions and tables.

use super::entries::{entry_keys, random_call};
use super::{Generator, Place, Scope};
use base::{MatchKind, Span};
use ir::{
    Action, ActionCall, ActionId, DirectCounter, DirectMeter, DirectMeterId, Entry, Expr, Key, LabelId, Stmt, Table,
    TableAction, Type, Unit, VarKind,
};

impl Generator<'_> {
    /// Actions and tables of a control. The tables are added to the scope to be applied.
    pub(super) fn tables(&mut self, control: &str, exit: Option<LabelId>) {
        if self.options.match_kinds.is_empty() {
            return;
        }
        for position in 0..self.rng.between(1, 3) {
            self.action(&format!("{control}.action{position}"), exit);
        }
        for position in 0..self.rng.between(1, 3) {
            self.table(&format!("{control}.table{position}"));
        }
    }

    fn direct_meter(&mut self, name: &str) -> DirectMeterId {
        let unit = *self.rng.pick(&[Unit::Packets, Unit::Bytes]);
        self.program.direct_meters.push(DirectMeter { name: format!("{name}_meter"), unit })
    }

    /// An action that executes a direct meter and uses the colour.
    fn executing_action(&mut self, name: &str, meter: DirectMeterId) -> ActionId {
        let saved = self.scope.clone();
        self.scope.place = Place::Action;
        self.scope.budget = 2;
        self.scope.labels.clear();
        let mut body: Vec<Stmt> = self.execute_direct(meter).into_iter().collect();
        body.extend(self.body());
        self.scope = saved;
        self.program.actions.push(Action {
            name: name.into(),
            params: Vec::new(),
            empty_params: Vec::new(),
            body,
            span: Span::NONE,
        })
    }

    fn action(&mut self, name: &str, exit: Option<LabelId>) {
        let saved = self.scope.clone();
        let mut params = Vec::new();
        for position in 0..self.rng.between(0, 3) {
            let ty = self.number_ty();
            let param = self.var(format!("{name}.p{position}"), ty, VarKind::Local);
            self.scope.readable.push(param);
            self.scope.writable.push(param);
            params.push(param);
        }
        self.scope.place = Place::Action;
        self.scope.budget = 4;
        self.scope.labels = exit.into_iter().collect();
        let body = self.body();
        self.scope = Scope { ..saved };
        let id = self.program.actions.push(Action {
            name: name.into(),
            params,
            empty_params: Vec::new(),
            body,
            span: Span::NONE,
        });
        self.scope.actions.push(id);
    }

    fn table(&mut self, name: &str) {
        let keys = self.keys();
        let mut actions = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let action = *self.rng.pick(&self.scope.actions);
            actions.push(TableAction { action, table_only: false, default_only: false });
        }
        let executed = self.options.externs && self.once_in(5);
        let executed = executed.then(|| self.direct_meter(name));
        if let Some(meter) = executed {
            // Only actions of this table may execute its meter.
            let action = self.executing_action(&format!("{name}_action"), meter);
            actions.push(TableAction { action, table_only: self.once_in(4), default_only: false });
        }
        actions[0].default_only = actions.len() > 1 && self.once_in(4);
        let mut table = Table {
            name: name.into(),
            keys,
            actions,
            entries: Vec::new(),
            const_entries: false,
            default_action: ActionCall { action: 0, args: Vec::new() },
            const_default: self.once_in(3),
            size: 64,
            direct_counters: Vec::new(),
            direct_meter: None,
            implementation: None,
            support_timeout: self.once_in(8),
            expires: false,
            adds_on_miss: false,
            span: Span::NONE,
        };
        table.default_action = random_call(self.rng, &self.program, &table, true);
        if self.options.externs && self.once_in(3) {
            let counter = DirectCounter { name: format!("{name}_counter"), unit: Unit::PacketsAndBytes };
            table.direct_counters.push(self.program.direct_counters.push(counter));
        }
        if let Some(meter) = executed {
            table.direct_meter = Some((meter, None));
        } else if let Some((place, _)) = self.small_place().filter(|_| self.options.externs && self.once_in(4)) {
            table.direct_meter = Some((self.direct_meter(name), Some(place)));
        }
        if self.options.externs && self.once_in(5) {
            table.implementation = Some(self.implementation(name));
        }
        if !table.keys.is_empty() && self.once_in(3) {
            table.const_entries = self.once_in(2);
            let count = self.rng.between(1, 6) as usize;
            for (position, key) in entry_keys(self.rng, &table, count).into_iter().enumerate() {
                let call = random_call(self.rng, &self.program, &table, false);
                table.entries.push(Entry {
                    key,
                    priority: 1000 - position as i32,
                    is_const: false,
                    call,
                    span: Span::NONE,
                });
            }
        }
        let id = self.program.tables.push(table);
        self.scope.tables.push(id);
    }

    /// Keys, with a preference for narrow ones so that entries match.
    fn keys(&mut self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for position in 0..self.rng.between(0, 3) {
            let mut kind = *self.rng.pick(&self.options.match_kinds);
            if kind == MatchKind::Lpm && keys.iter().any(|key| key.kind == MatchKind::Lpm) {
                kind = self.options.match_kinds[0];
                if kind == MatchKind::Lpm {
                    break;
                }
            }
            let expr: Expr = match self.below(4) {
                0 => self.any_leaf(),
                1 => {
                    let ty = self.ty();
                    self.expr(ty)
                }
                _ => {
                    let narrow = Type::Bit(self.rng.between(1, 6) as u32);
                    self.expr_of_height(narrow, 1)
                }
            };
            keys.push(Key { name: format!("key{position}"), expr, kind });
        }
        keys
    }
}
