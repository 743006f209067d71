//! Arrays for updates that set every cell.
//!
//! What enters: updates, in the thread that requests them. What leaves: for each update that sets all cells of a
//! register or counter, a new array with these values, which replaces the old one between two bursts. Writing the
//! cells in place would occupy the worker for as long as the memory takes, and packets would be lost.

use crate::api::entity::{Cell, Entity, Update, UpdateKind};
use base::{OrderedMap, OrderedSet};
use ir::{CounterId, Program, RegisterId};
use switch::Switch;
use switch::externs::{CounterCell, RegisterArray};

/// The cells of one array.
pub(crate) enum Array {
    Register(RegisterId, RegisterArray),
    Counter(CounterId, Vec<CounterCell>),
}

impl Array {
    /// Installs it in the switch and becomes the array that was there.
    pub fn swap(&mut self, switch: &mut Switch) {
        let externs = switch.externs_mut();
        match self {
            Array::Register(id, cells) => std::mem::swap(&mut externs.registers[*id], cells),
            Array::Counter(id, cells) => std::mem::swap(&mut externs.counters[*id], cells),
        }
    }

    fn of(program: &Program, update: &Update) -> Option<Array> {
        match &update.entity {
            Entity::Register(Cell { array, index: None, value }) => {
                let declared = &program.registers[*array];
                let cells = RegisterArray::filled(declared.ty.width(), declared.size, value);
                Some(Array::Register(*array, cells))
            }
            Entity::Counter(Cell { array, index: None, value }) => {
                Some(Array::Counter(*array, vec![*value; program.counters[*array].size as usize]))
            }
            _ => None,
        }
    }
}

/// Whether an update sets all cells of a register or a counter.
pub(crate) fn sets_all_cells(update: &Update) -> bool {
    update.kind == UpdateKind::Modify
        && matches!(
            update.entity,
            Entity::Register(Cell { index: None, .. }) | Entity::Counter(Cell { index: None, .. })
        )
}

/// Prepared arrays, by the positions of their updates. An update that a later one of the same part overrides has
/// none, so that each array of the program is prepared at most once.
#[derive(Default)]
pub(crate) struct FreshArrays(OrderedMap<usize, Option<Array>>);

impl FreshArrays {
    /// Prepares what the updates need that are carried out between the same two bursts.
    pub fn of(program: &Program, updates: &[Update]) -> FreshArrays {
        let (mut fresh, mut seen) = (OrderedMap::new(), OrderedSet::new());
        for (position, update) in updates.iter().enumerate().rev().filter(|(_, update)| sets_all_cells(update)) {
            let array = match &update.entity {
                Entity::Register(cell) => (Some(cell.array), None),
                Entity::Counter(cell) => (None, Some(cell.array)),
                _ => continue,
            };
            let is_last = seen.insert(array);
            fresh.insert(position, if is_last { Array::of(program, update) } else { None });
        }
        FreshArrays(fresh)
    }

    /// What was prepared for the update at this position: the array, or nothing to do, if the update sets all cells.
    pub fn take(&mut self, position: usize) -> Option<Option<Array>> {
        self.0.remove(&position)
    }

    /// The arrays that were not used.
    pub fn rest(&mut self) -> impl Iterator<Item = Array> {
        std::mem::take(&mut self.0).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::tests::api;
    use crate::api::{Api, Atomicity, Query};
    use crate::command::Command;
    use base::Bits;
    use base::index::Id as _;

    const FLOWS: fn() -> RegisterId = || RegisterId::from_index(0);
    const RX: fn() -> CounterId = || CounterId::from_index(0);

    fn register(index: Option<u64>, value: u64) -> Update {
        let cell = Cell { array: FLOWS(), index, value: Bits::from_u64(16, value) };
        Update { kind: UpdateKind::Modify, entity: Entity::Register(cell) }
    }

    fn counter(index: Option<u64>, packets: u64) -> Update {
        let cell = Cell { array: RX(), index, value: CounterCell { packets, bytes: 0 } };
        Update { kind: UpdateKind::Modify, entity: Entity::Counter(cell) }
    }

    /// The cells of the register, and the packets of the counter.
    fn cells(api: &Api) -> (Vec<u64>, Vec<u64>) {
        let (mut registers, mut counters) = (Vec::new(), Vec::new());
        for query in [Query::Registers { array: None, index: None }, Query::Counters { array: None, index: None }] {
            api.read(&query, &mut |entities| {
                for entity in entities {
                    match entity {
                        Entity::Register(cell) => registers.extend(cell.value.to_u64()),
                        Entity::Counter(cell) => counters.push(cell.value.packets),
                        _ => {}
                    }
                }
                true
            })
            .unwrap();
        }
        (registers, counters)
    }

    #[test]
    fn all_cells_are_set_in_the_order_of_the_updates() {
        let api = api();
        let updates = vec![register(Some(1), 5), register(None, 7), register(Some(2), 9), counter(None, 3)];
        assert!(api.write(updates, Atomicity::ContinueOnError).iter().all(Result::is_ok));
        assert_eq!(cells(&api), (vec![7, 7, 9, 7], vec![3; 8]));
        for update in [register(None, 0), counter(None, 0)] {
            api.command(Command::Write(Box::new(update))).unwrap();
        }
        assert_eq!(cells(&api), (vec![0; 4], vec![0; 8]));
        assert_eq!(api.update_counts(), (6, 0));
    }

    #[test]
    fn what_is_refused_leaves_all_cells_as_they_were() {
        let api = api();
        api.write(vec![register(Some(1), 5), counter(Some(6), 2)], Atomicity::ContinueOnError);
        let before = cells(&api);
        let inserted = Update { kind: UpdateKind::Insert, ..register(None, 1) };
        let outcomes = api.write(vec![inserted.clone(), register(None, 8)], Atomicity::ContinueOnError);
        assert!(outcomes[0].is_err() && outcomes[1].is_ok(), "{outcomes:?}");
        api.write(vec![register(None, 0), register(Some(1), 5)], Atomicity::ContinueOnError);
        for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
            let refused = register(Some(99), 1);
            let updates = vec![register(None, 4), register(Some(0), 6), counter(None, 1), register(None, 2), refused];
            let outcomes = api.write([updates, vec![register(None, 3)]].concat(), atomicity);
            assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
            assert_eq!(cells(&api), before);
        }
    }

    /// A write that may be split has one array in memory beside those of the switch, and no more.
    #[test]
    fn arrays_are_made_one_at_a_time() {
        let program = crate::test_program::program();
        let updates = [register(Some(0), 1), register(None, 2), counter(None, 3), register(Some(1), 4)];
        let mut first = 0;
        while first < updates.len() {
            let count = crate::api::piece(&updates[first..]);
            assert!(FreshArrays::of(&program, &updates[first..first + count]).rest().count() <= 1);
            first += count;
        }
        // One that may not be cut needs one for each array, however often it is written.
        let batch = [&updates[..], &updates[..], &updates[..]].concat();
        assert_eq!(FreshArrays::of(&program, &batch).rest().count(), 2);
        let api = api();
        let outcomes = api.write(batch, Atomicity::DataplaneAtomic);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(cells(&api), (vec![2, 4, 2, 2], vec![3; 8]));
    }
}
