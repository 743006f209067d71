//! Orders as updates of a switch's state, with the names of a program resolved.
//!
//! What enters: a program, orders. What leaves: updates as `control` carries them out, or the name that the program
//! does not have.

use crate::order::{Match, Order, Rates};
use base::{Bits, FieldMatch};
use control::api::entity::{
    Call, Cell, CloneSession, EntryAction, EntryName, Group, GroupMember, Member, Multicast, TableEntry,
};
use control::api::{Entity, Update, UpdateKind};
use ir::{ActionId, ActionProfileId, CounterId, Program, TableId};
use std::sync::Arc;
use switch::{MeterConfig, Replica};

/// Translates orders for switches that run one program.
#[derive(Clone, Debug)]
pub struct Translator {
    program: Arc<Program>,
}

impl Translator {
    /// For this program.
    pub fn new(program: Arc<Program>) -> Translator {
        Translator { program }
    }

    /// The updates that orders are, in their order; or what the program lacks.
    pub fn updates(&self, orders: &[Order]) -> Result<Vec<Update>, String> {
        orders.iter().map(|order| self.update(order)).collect()
    }

    fn update(&self, order: &Order) -> Result<Update, String> {
        match order {
            Order::Default { table, action, args } => {
                let call = self.call(self.table(table)?, action, args)?;
                let entry = TableEntry::new(self.table(table)?, None, Some(EntryAction::Call(call)));
                Ok(Update { kind: UpdateKind::Modify, entity: Entity::TableEntry(entry) })
            }
            Order::Entry { table, key, class, action, args, rates } => {
                let id = self.table(table)?;
                let mut keys = vec![self.key(id, 0, *key)?];
                if let Some(class) = class {
                    keys.push(self.key(id, 1, Match::Exact((*class).into()))?);
                }
                let name = EntryName { key: keys, priority: 0 };
                let call = self.call(id, action, args)?;
                let mut entry = TableEntry::new(id, Some(name), Some(EntryAction::Call(call)));
                entry.meter = rates.map(|rates| Some(config(rates)));
                Ok(insert(Entity::TableEntry(entry)))
            }
            Order::Member { table, action, port } => {
                let id = self.table(table)?;
                let call = Some(self.call(id, action, &[u128::from(*port)])?);
                Ok(insert(Entity::Member(Member { profile: self.profile(id)?, id: *port, call })))
            }
            Order::Group { table, group, ports, is_new } => {
                let member = |port: &u32| GroupMember { member: *port, weight: 1, watch_port: Some(*port) };
                let members = ports.iter().map(member).collect();
                let profile = self.profile(self.table(table)?)?;
                let kind = if *is_new { UpdateKind::Insert } else { UpdateKind::Modify };
                Ok(Update { kind, entity: Entity::Group(Group { profile, id: *group, members, size_max: 0 }) })
            }
            Order::Route { table, key, priority, group, is_new } => {
                let id = self.table(table)?;
                let name = EntryName { key: vec![self.key(id, 0, *key)?], priority: *priority };
                let action = is_new.then_some(EntryAction::Group(*group));
                let kind = if *is_new { UpdateKind::Insert } else { UpdateKind::Delete };
                Ok(Update { kind, entity: Entity::TableEntry(TableEntry::new(id, Some(name), action)) })
            }
            Order::Register { register, index, value } => {
                let found = self.program.registers.iter_enumerated().find(|(_, it)| last(&it.name) == *register);
                let (array, declared) = found.ok_or_else(|| format!("the program has no register `{register}`"))?;
                let value = Bits::from_u128(declared.ty.width(), *value);
                Ok(Update {
                    kind: UpdateKind::Modify,
                    entity: Entity::Register(Cell { array, index: Some(*index), value }),
                })
            }
            Order::Session { session, replicas } => {
                let session = CloneSession { replicas: copies(replicas), ..CloneSession::new(*session) };
                Ok(insert(Entity::CloneSession(session)))
            }
            Order::Multicast { group, replicas } => {
                let group = Multicast { group: *group, replicas: copies(replicas), metadata: Vec::new() };
                Ok(insert(Entity::Multicast(group)))
            }
        }
    }

    /// A counter array by its name.
    pub fn counter(&self, name: &str) -> Result<CounterId, String> {
        let found = self.program.counters.iter_enumerated().find(|(_, counter)| last(&counter.name) == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("the program has no counter `{name}`"))
    }

    fn table(&self, name: &str) -> Result<TableId, String> {
        let found = self.program.tables.iter_enumerated().find(|(_, table)| last(&table.name) == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("the program has no table `{name}`"))
    }

    fn profile(&self, table: TableId) -> Result<ActionProfileId, String> {
        let table = &self.program.tables[table];
        let implementation = table.implementation.as_ref();
        implementation.map(|it| it.profile).ok_or_else(|| format!("table `{}` has no selector", table.name))
    }

    /// An action of a table with arguments, which are cut to the widths of the parameters.
    fn call(&self, table: TableId, name: &str, args: &[u128]) -> Result<Call, String> {
        let table = &self.program.tables[table];
        let ids = table.actions.iter().map(|action| action.action);
        let action: ActionId = ids
            .into_iter()
            .find(|id| last(&self.program.actions[*id].name) == name)
            .ok_or_else(|| format!("table `{}` has no action `{name}`", table.name))?;
        let params = &self.program.actions[action].params;
        if params.len() != args.len() {
            return Err(format!("action `{name}` has {} parameters", params.len()));
        }
        let args = params.iter().zip(args).map(|(param, arg)| {
            let width = self.program.vars[*param].ty.width();
            Bits::from_u128(width, *arg)
        });
        Ok(Call { action, args: args.collect() })
    }

    fn key(&self, table: TableId, position: usize, key: Match) -> Result<FieldMatch, String> {
        let table = &self.program.tables[table];
        let found = table.keys.get(position).ok_or_else(|| format!("table `{}` has too few keys", table.name))?;
        let width = found.expr.ty.width();
        Ok(match key {
            Match::Exact(value) => FieldMatch::Exact(Bits::from_u128(width, value)),
            Match::Prefix(value, prefix_len) => FieldMatch::Lpm { value: Bits::from_u128(width, value), prefix_len },
            Match::Masked(value, bits) => {
                FieldMatch::Ternary { value: Bits::from_u128(width, value), mask: Bits::leading_ones(width, bits) }
            }
        })
    }
}

fn insert(entity: Entity) -> Update {
    Update { kind: UpdateKind::Insert, entity }
}

fn copies(replicas: &[(u32, u64)]) -> Vec<control::api::entity::Replica> {
    replicas.iter().map(|&(port, rid)| Replica { rid, port }.into()).collect()
}

fn config(rates: Rates) -> MeterConfig {
    MeterConfig {
        committed_rate_milliunits_per_s: rates.committed_milliunits_per_s,
        committed_burst: rates.committed_burst,
        peak_rate_milliunits_per_s: rates.peak_milliunits_per_s,
        peak_burst: rates.peak_burst,
    }
}

/// The last part of a name with dots.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
