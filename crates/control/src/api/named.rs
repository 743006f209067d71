//! What only the switch knows of entries, and entries that are read by their names.
//!
//! What enters: entries of tables, with the requested parts; queries that name an entry each. What leaves:
//! the entries with their parts. One job of the switch reads many of them, from any tables.

use crate::api::entity::{Entity, EntryName, TableEntry};
use crate::api::fault::Fault;
use crate::api::read::{Found, Query, TableQuery, Which, direct_entity};
use crate::api::{Pipeline, ProgramQueue};
use base::index::Id as _;
use ir::{DirectCounterId, DirectMeterId, Program, TableId};
use switch::externs::{CounterCell, Externs};
use switch::meter::ColorCounts;
use switch::{MeterConfig, SharedTables};
use tables::Handle;

/// The parts of an entry that are asked of the switch.
pub(super) struct Parts {
    table: TableId,
    handle: Handle,
    counter: Option<DirectCounterId>,
    meter: Option<DirectMeterId>,
    with_idle: bool,
}

type Values = (Option<CounterCell>, Option<(Option<MeterConfig>, ColorCounts)>, Option<u64>);

impl Parts {
    pub(super) fn of(program: &Program, table: TableId, handle: Handle, query: &TableQuery) -> Parts {
        let declared = &program.tables[table];
        let counter = declared.direct_counters.first().copied().filter(|_| query.with_counter);
        let meter = declared.direct_meter.as_ref().map(|(id, _)| *id).filter(|_| query.with_meter);
        Parts { table, handle, counter, meter, with_idle: declared.support_timeout && query.with_idle }
    }

    fn is_none(&self) -> bool {
        self.counter.is_none() && self.meter.is_none() && !self.with_idle
    }

    fn values(&self, now_ns: u64, externs: &Externs) -> Values {
        let index = u64::from(self.handle.0);
        let last_hit_ns = externs.last_hits_ns[self.table].get(index as usize).filter(|_| self.with_idle);
        let idle = last_hit_ns.map(|hit_ns| now_ns.saturating_sub(*hit_ns));
        let counted = self.counter.and_then(|id| externs.direct_counters[id].get(index as usize).copied());
        let cell = self.meter.and_then(|id| externs.direct_meters[id].cell(index));
        let metered = cell.map(|cell| (cell.config(), cell.counts()));
        (counted, metered, idle)
    }
}

/// A query that names an entry.
struct Named<'a> {
    query: TableQuery,
    name: &'a EntryName,
    table: TableId,
    is_direct: bool,
}

impl Query {
    /// Whether it names an entry of a table, so that many of them are answered together.
    pub fn is_named(&self) -> bool {
        self.named().is_some()
    }

    fn named(&self) -> Option<Named<'_>> {
        let (table, which, query, is_direct) = match self {
            Query::TableEntries(it) => (it.table, &it.which, TableQuery { which: Which::All, ..it.clone() }, false),
            Query::DirectCounters { table, which } => {
                (*table, which, TableQuery { with_counter: true, ..TableQuery::default() }, true)
            }
            Query::DirectMeters { table, which } => {
                (*table, which, TableQuery { with_meter: true, ..TableQuery::default() }, true)
            }
            _ => return None,
        };
        let Which::Named(name) = which else { return None };
        Some(Named { query, name, table: table?, is_direct })
    }
}

impl Pipeline {
    /// What these queries name, in their order; none for an entity that does not exist, or lacks the requested part.
    /// Each must be one that [`Query::is_named`].
    pub(crate) fn read_named(
        &self,
        command_queue: ProgramQueue<'_>,
        queries: &[&Query],
    ) -> Result<Vec<Option<Entity>>, Fault> {
        let named: Vec<Option<Named<'_>>> = queries.iter().map(|query| query.named()).collect();
        let mut places = Vec::new();
        let mut found = Vec::new();
        {
            let (mut state, set) = (self.state(), self.tables.lock());
            for (place, named) in named.iter().enumerate() {
                let Some(Named { query, name, table, .. }) = named else { continue };
                let stored = &set.tables()[table.index()];
                let handle = stored.find(&name.key, name.priority)?;
                let Some(entry) = handle.and_then(|handle| stored.get(handle)) else { continue };
                let parts = Parts::of(&self.program, *table, entry.handle, query);
                found.push((parts, self.entry(&mut state, *table, entry)));
                places.push(place);
            }
        }
        let mut answers = vec![None; queries.len()];
        for (place, entry) in places.into_iter().zip(self.with_parts(command_queue, found)?) {
            let is_direct = named[place].as_ref().is_some_and(|it| it.is_direct);
            answers[place] = if is_direct { direct_entity(entry) } else { Some(Entity::TableEntry(entry)) };
        }
        Ok(answers)
    }

    /// Adds the values that only the switch knows of entries of a table.
    pub(super) fn with_cells(
        &self,
        command_queue: ProgramQueue<'_>,
        table: TableId,
        found: Vec<Found>,
        query: &TableQuery,
    ) -> Result<Vec<TableEntry>, Fault> {
        let of = |(handle, entry)| (Parts::of(&self.program, table, handle, query), entry);
        self.with_parts(command_queue, found.into_iter().map(of).collect())
    }

    fn with_parts(
        &self,
        command_queue: ProgramQueue<'_>,
        found: Vec<(Parts, TableEntry)>,
    ) -> Result<Vec<TableEntry>, Fault> {
        let (asked, mut entries): (Vec<Parts>, Vec<TableEntry>) = found.into_iter().unzip();
        if asked.iter().all(Parts::is_none) {
            return Ok(entries);
        }
        let (asked, values) = command_queue.ask(move |switch| {
            let now_ns = switch.now_ns();
            let externs = switch.externs_mut();
            let values: Vec<Values> = asked.iter().map(|it| it.values(now_ns, externs)).collect();
            (asked, values)
        })?;
        for ((entry, values), parts) in entries.iter_mut().zip(values).zip(asked) {
            if entry.name.is_none() || self.is_still(parts.table, parts.handle) {
                let (counter, meter, idle_ns) = values;
                (entry.counter, entry.idle_ns) = (counter, idle_ns);
                (entry.meter, entry.meter_counts) = meter.unzip();
            }
        }
        Ok(entries)
    }

    /// Whether the cells of this handle belong to the entry that has it here: since the tables were frozen, the
    /// handle may have been reused.
    fn is_still(&self, table: TableId, handle: Handle) -> bool {
        let Some(original) = &self.original else { return true };
        let sequence = |tables: &SharedTables| tables.lock().tables()[table.index()].get(handle).map(|it| it.sequence);
        sequence(original) == sequence(&self.tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::entity::{Call, Direct, EntryAction};
    use crate::api::{Api, Atomicity, Update, UpdateKind};
    use crate::names;
    use crate::test_program::program;
    use base::{Bits, FieldMatch};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use switch::{Backend, Closed, CommandQueue, Config, IdleOwner, Job, Switch};

    /// Counts the jobs for a switch.
    #[derive(Default)]
    struct Counting {
        owner: IdleOwner,
        jobs: AtomicUsize,
    }

    impl CommandQueue for Counting {
        fn send(&self, job: Job) -> Result<(), Closed> {
            self.jobs.fetch_add(1, Ordering::Relaxed);
            self.owner.send(job)
        }
    }

    fn exact(key: u64) -> Which {
        Which::Named(EntryName { key: vec![FieldMatch::Exact(Bits::from_u64(48, key))], priority: 0 })
    }

    #[test]
    fn the_switch_is_asked_once_for_many_entries() {
        let queue = Arc::new(Counting::default());
        let switch = Switch::new(Arc::new(program()), Backend::Interpreter, Config::default()).unwrap();
        let api = Api::new(&switch, Arc::clone(&queue) as Arc<dyn CommandQueue>);
        queue.owner.park(switch);
        let program = api.program();
        let table = names::table(&program, "l2").unwrap();
        let (action, _) = program.actions.iter_enumerated().find(|(_, it)| it.name.ends_with("set_port")).unwrap();
        let insertion = |key| {
            let Which::Named(name) = exact(key) else { unreachable!() };
            let action = EntryAction::Call(Call { action, args: vec![Bits::from_u64(9, 1)] });
            let entity = Entity::TableEntry(TableEntry::new(table, Some(name), Some(action)));
            Update { kind: UpdateKind::Insert, entity }
        };
        let written = api.write((0..100).map(insertion).collect(), Atomicity::DataplaneAtomic);
        assert!(written.iter().all(Result::is_ok));
        queue.jobs.store(0, Ordering::Relaxed);
        let with_idle = |key| {
            Query::TableEntries(TableQuery {
                table: Some(table),
                which: exact(key),
                with_idle: true,
                ..TableQuery::default()
            })
        };
        let queries: Vec<Query> = (0..200)
            .map(with_idle)
            .chain([3, 300].map(|key| Query::DirectCounters { table: Some(table), which: exact(key) }))
            .collect();
        let answers = api.read_named(&program, &queries.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(queue.jobs.load(Ordering::Relaxed), 1);
        for (key, answer) in answers[..200].iter().enumerate() {
            let name = answer.as_ref().map(|it| match it {
                Entity::TableEntry(TableEntry { name: Some(name), idle_ns: Some(_), .. }) => Which::Named(name.clone()),
                other => panic!("{other:?}"),
            });
            assert_eq!(name, (key < 100).then(|| exact(key as u64)));
        }
        let is_counter = |it: &Entity| matches!(it, Entity::DirectCounter(Direct { which, .. }) if *which == exact(3));
        assert!(answers[200].as_ref().is_some_and(is_counter) && answers[201].is_none());
        assert!(queries.iter().all(Query::is_named) && !Query::TableEntries(TableQuery::default()).is_named());
    }
}
