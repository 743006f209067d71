//! Commands of the other interfaces, and what is stored of them.
//!
//! What enters: a command, the switch. What leaves: the reply, and what a restart needs to restore the effect. A
//! command names things by handles, which are meaningless after a restart; most commands are equivalent to an update,
//! which uses stable names. After any other command the whole state is stored again.

use crate::api::Pipeline;
use crate::api::entity::{Call, Entity, EntryAction, TableEntry, Update, UpdateKind};
use crate::api::state::ControllerState;
use crate::api::write::Writer;
use crate::apply::{Reply, apply};
use crate::command::Command;
use crate::problem::Problem;
use base::index::Id as _;
use ir::TableId;
use switch::{LockedTables, Switch};
use tables::Handle;

/// What is stored of a command.
pub(crate) enum Kept {
    /// It has changed nothing that is stored.
    Nothing,
    /// This equivalent update.
    As(Box<Update>),
    /// The whole state is stored again.
    All,
}

impl Pipeline {
    /// Carries out a command in the thread that owns the switch.
    pub(crate) fn command(&self, switch: &mut Switch, command: &Command) -> Result<(Reply, Kept), Problem> {
        self.state().check_style(command)?;
        let deleted = match command {
            Command::TableDelete { table, handle } => self.entry_of(*table, Handle(*handle)),
            _ => None,
        };
        let reply = apply(switch, command)?;
        if command.only_asks() {
            return Ok((reply, Kept::Nothing));
        }
        let mut state = self.state();
        let mut tables = self.tables.lock();
        let kept = self.kept(&mut state, &tables, command, deleted);
        if may_take_away(command) {
            Writer::new(&self.program, &mut state, tables.begin(), None).sweep();
        }
        Ok((reply, kept))
    }

    fn entry_of(&self, table: TableId, handle: Handle) -> Option<TableEntry> {
        let (mut state, set) = (self.state(), self.tables.lock());
        let entry = set.tables()[table.index()].get(handle)?;
        Some(self.entry(&mut state, table, entry))
    }

    /// What is stored of a command that was carried out. `deleted` is the entry that it has deleted.
    fn kept(
        &self,
        state: &mut ControllerState,
        set: &LockedTables<'_>,
        command: &Command,
        deleted: Option<TableEntry>,
    ) -> Kept {
        use Command::*;
        let update = |kind, entity: Option<Entity>| {
            entity.map_or(Kept::All, |entity| Kept::As(Box::new(Update { kind, entity })))
        };
        let by_handle = |state: &mut ControllerState, table: TableId, handle: Handle| {
            let entry = set.tables()[table.index()].get(handle)?;
            Some(Entity::TableEntry(self.entry(state, table, entry)))
        };
        match command {
            TableAdd { table, key, priority, .. } | TableAddTimed { table, key, priority, .. } => {
                let handle = set.tables()[table.index()].find(key, *priority).ok().flatten();
                update(UpdateKind::Insert, handle.and_then(|handle| by_handle(state, *table, handle)))
            }
            TableModify { table, handle, .. } | TableSetTimeout { table, handle, .. } => {
                update(UpdateKind::Modify, by_handle(state, *table, Handle(*handle)))
            }
            TableDelete { .. } => {
                let entry = deleted.map(|entry| Entity::TableEntry(TableEntry { action: None, ..entry }));
                update(UpdateKind::Delete, entry)
            }
            TableSetDefault { table, call } if self.program.tables[*table].implementation.is_none() => {
                let listed = self.program.tables[*table].actions.get(call.action as usize);
                let action = listed.map(|it| EntryAction::Call(Call { action: it.action, args: call.args.clone() }));
                let entry = action.map(|action| Entity::TableEntry(TableEntry::new(*table, None, Some(action))));
                update(UpdateKind::Modify, entry)
            }
            TableResetDefault { table } => {
                update(UpdateKind::Modify, Some(Entity::TableEntry(TableEntry::new(*table, None, None))))
            }
            // No start brings these back.
            CrcSet { .. } | SetExpireTime { .. } | SetQueueDepth { .. } | SetQueueRate { .. } => Kept::Nothing,
            _ => Kept::All,
        }
    }
}

/// Whether a command may remove something that controllers have numbered, or the last entry of a group.
fn may_take_away(command: &Command) -> bool {
    use Command::*;
    matches!(
        command,
        TableModify { .. }
            | TableDelete { .. }
            | TableClear { .. }
            | TableSetDefault { .. }
            | TableResetDefault { .. }
            | ProfileChange { .. }
    )
}
