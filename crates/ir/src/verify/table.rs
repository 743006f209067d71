//! Checks of actions, tables and their entries.

use super::Verifier;
use super::body::Place as Where;
use crate::*;
use base::{Bits, MatchKind, OrderedSet, Span};

impl<'p> Verifier<'p> {
    pub(super) fn actions_and_tables(&mut self) {
        let program = self.program;
        for (id, action) in program.actions.iter_enumerated() {
            self.enter(id.to_string(), action.span);
            let mut seen = OrderedSet::new();
            for &param in &action.params {
                if self.exists(&program.vars, param) {
                    let local = program.vars[param].kind == VarKind::Local;
                    self.check(local && seen.insert(param), || {
                        format!("the parameter {param} is not a local of its own")
                    });
                }
            }
            self.body(&action.body, Where::Action, &mut Vec::new());
        }
        let (mut counters, mut meters) = (OrderedSet::new(), OrderedSet::new());
        for (id, table) in program.tables.iter_enumerated() {
            self.enter(id.to_string(), table.span);
            self.table(table);
            for &counter in &table.direct_counters {
                self.exists(&program.direct_counters, counter);
                self.check(counters.insert(counter), || format!("{counter} belongs to another table too"));
            }
            if let Some((meter, place)) = &table.direct_meter {
                self.exists(&program.direct_meters, *meter);
                self.check(meters.insert(*meter), || format!("{meter} belongs to another table too"));
                let ty = place.as_ref().and_then(|place| self.place(place, false));
                self.check(matches!(ty, None | Some(Type::Bit(_))), || format!("{meter} colours a {ty:?}"));
            }
        }
    }

    fn table(&mut self, table: &'p Table) {
        for key in &table.keys {
            self.expr(&key.expr, false);
        }
        if let Some(Implementation { profile, inputs }) = &table.implementation {
            inputs.iter().for_each(|input| self.hash_input(input, false));
            if self.exists(&self.program.action_profiles, *profile) {
                let has_selector = self.program.action_profiles[*profile].selector.is_some();
                self.check(has_selector || inputs.is_empty(), || format!("{profile} has no selector for the inputs"));
            }
        }
        let prefixes = table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).count();
        let has_masks = table.keys.iter().any(|key| key.kind.has_priority());
        self.check(prefixes <= 1 || has_masks, || format!("{prefixes} longest-prefix keys"));
        for listed in &table.actions {
            self.exists(&self.program.actions, listed.action);
        }
        if let Some(listed) = self.call(table, &table.default_action) {
            self.check(!listed.table_only, || "the default action is for entries only".into());
        }
        self.check(!table.keys.is_empty() || table.entries.is_empty(), || "entries without keys".into());
        let outer: Span = self.span;
        for entry in &table.entries {
            self.span = entry.span;
            let (found, wanted) = (entry.key.len(), table.keys.len());
            self.check(found == wanted, || format!("an entry of {found} keys, the table has {wanted}"));
            for (set, key) in entry.key.iter().zip(&table.keys) {
                let fits = set.fits(key.kind, key.expr.ty.width());
                self.check(fits, || format!("{set:?} for a key that is {:?} of {:?}", key.kind, key.expr.ty));
            }
            if let Some(listed) = self.call(table, &entry.call) {
                self.check(!listed.default_only, || "an entry's action is for the default only".into());
            }
        }
        self.span = outer;
    }

    fn call(&mut self, table: &'p Table, call: &ActionCall) -> Option<&'p TableAction> {
        let listed = table.actions.get(call.action as usize);
        self.check(listed.is_some(), || format!("the table lists no action {}", call.action));
        let listed = listed?;
        let action = self.program.actions.get(listed.action)?;
        let params = action.params.iter().filter_map(|param| Some(self.program.vars.get(*param)?.ty.width()));
        let fits = params.eq(call.args.iter().map(Bits::width));
        self.check(fits, || format!("the arguments {:?} do not fit {}", call.args, listed.action));
        Some(listed)
    }
}
