//! From the names of BMv2's tools to updates.
//!
//! What enters: changes that name entries, members, groups and nodes by handles, or that change a part of an entity.
//! What leaves: updates, which name entities as all clients do and are carried out under the same lock, so that no
//! other client can change between the two what the handle stood for.

use crate::api::entity::{CloneSession, EntryAction, EntryName, GroupMember, Multicast, TableEntry};
use crate::api::read::{self, Which};
use crate::api::write::Writer;
use crate::api::{Entity, Update, UpdateKind};
use crate::apply::Reply;
use crate::command::{Change, Command, EntryChange, NodeChange};
use crate::problem::Problem;
use base::FieldMatch;
use base::index::Id as _;
use ir::{ActionProfileId, Program, TableId, ValueSetId};
use switch::{Destination, Node, Switch};
use tables::{Attributes, Entry, Handle, Table};

/// Whether a change is one of tables and profiles only.
pub(crate) fn is_of_tables(change: &Change) -> bool {
    matches!(change, Change::ByHandle(_) | Change::Entry { .. } | Change::Membership { .. })
}

/// The table with this direct counter.
pub(crate) fn table_of_counter(program: &Program, counter: ir::DirectCounterId) -> Result<TableId, Problem> {
    let mut tables = program.tables.iter_enumerated();
    let found = tables.find(|(_, table)| table.direct_counters.contains(&counter)).map(|(id, _)| id);
    found.ok_or_else(|| no_table("counter", &program.direct_counters[counter].name))
}

/// The table with this direct meter.
pub(crate) fn table_of_meter(program: &Program, meter: ir::DirectMeterId) -> Result<TableId, Problem> {
    let mut tables = program.tables.iter_enumerated();
    let of = |table: &ir::Table| table.direct_meter.as_ref().is_some_and(|(id, _)| *id == meter);
    let found = tables.find(|(_, table)| of(table)).map(|(id, _)| id);
    found.ok_or_else(|| no_table("meter", &program.direct_meters[meter].name))
}

fn no_table(what: &str, name: &str) -> Problem {
    Problem::new(format!("no table has the direct {what} {name}"))
}

/// The entry of a handle.
pub(crate) fn entry(table: &Table, handle: Handle) -> Result<&Entry, Problem> {
    table.get(handle).ok_or_else(|| {
        let (name, entries) = (&table.spec().name, table.len());
        let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        Problem::new(format!("table {name} has no entry with handle {handle}: it has {entries}"))
    })
}

fn modify(entity: Entity) -> Update {
    Update { kind: UpdateKind::Modify, entity }
}

impl Writer<'_, '_> {
    /// Carries out a command that is an update or becomes some. Returns these, too.
    pub fn command(&mut self, command: &Command) -> Result<(Reply, Vec<Update>), Problem> {
        match command {
            Command::Write(update) => Ok((self.step(update)?, vec![(**update).clone()])),
            Command::Change(change) => self.change(change),
            Command::Ask(_) | Command::Set(_) => unreachable!("these are no updates"),
        }
    }

    /// Carries out a change: all of it, or nothing.
    pub fn change(&mut self, change: &Change) -> Result<(Reply, Vec<Update>), Problem> {
        if let Change::Node(change) = change {
            return self.node(change);
        }
        let update = self.resolve(change)?;
        Ok((self.step(&update)?, vec![update]))
    }

    fn resolve(&mut self, change: &Change) -> Result<Update, Problem> {
        match change {
            Change::Put(entity) => Ok(self.put(entity)),
            Change::ByHandle(update) => self.by_handle(update),
            Change::Entry { table, handle, change } => self.entry_change(*table, *handle, change),
            Change::Membership { profile, group, member, joins } => self.membership(*profile, *group, *member, *joins),
            Change::ValueSetMember { set, member, joins } => self.value_set_member(*set, member, *joins),
            Change::Direct { handle, entity } => {
                let mut entity = entity.clone();
                match &mut entity {
                    Entity::DirectCounter(it) => it.which = Which::Named(name(self.entry(it.table, *handle)?)),
                    Entity::DirectMeter(it) => it.which = Which::Named(name(self.entry(it.table, *handle)?)),
                    _ => {}
                }
                Ok(modify(entity))
            }
            Change::Node(_) => unreachable!("nodes are no entities"),
        }
    }

    fn put(&mut self, entity: &Entity) -> Update {
        let replication = self.switch().replication();
        let exists = match entity {
            Entity::Multicast(Multicast { group, .. }) => replication.has_group(*group),
            Entity::CloneSession(CloneSession { session, .. }) => replication.session(*session).is_some(),
            _ => false,
        };
        let kind = if exists { UpdateKind::Modify } else { UpdateKind::Insert };
        Update { kind, entity: entity.clone() }
    }

    fn switch(&mut self) -> &mut Switch {
        self.switch.as_deref_mut().expect("changes that need the switch are carried out where it is")
    }

    // ------------------------------------------------------------------------------------------------- tables

    fn entry(&self, table: TableId, handle: Handle) -> Result<&Entry, Problem> {
        entry(&self.batch.tables()[table.index()], handle)
    }

    fn entry_change(&self, table: TableId, handle: Handle, change: &EntryChange) -> Result<Update, Problem> {
        let stored = self.entry(table, handle)?;
        let attributes = stored.attributes.as_deref().cloned().unwrap_or_default();
        let (kind, action, attributes) = match change {
            EntryChange::Action(action) => (UpdateKind::Modify, Some(action.clone()), attributes),
            EntryChange::Timeout { timeout_ns } => {
                (UpdateKind::Modify, None, Attributes { idle_timeout_ns: *timeout_ns, ..attributes })
            }
            EntryChange::Delete => (UpdateKind::Delete, None, Attributes::default()),
        };
        let entry = TableEntry { attributes, ..TableEntry::new(table, Some(name(stored)), action) };
        Ok(Update { kind, entity: Entity::TableEntry(entry) })
    }

    // ----------------------------------------------------------------------------------------------- profiles

    /// The update with controllers' numbers in place of handles.
    fn by_handle(&mut self, update: &Update) -> Result<Update, Problem> {
        let (mut update, is_new) = (update.clone(), update.kind == UpdateKind::Insert);
        match &mut update.entity {
            Entity::TableEntry(TableEntry { table, action: Some(action), .. }) => self.target(*table, action)?,
            Entity::Member(member) if is_new => {
                let next = self.batch.profiles()[member.profile.index()].next_member();
                member.id = self.state.members.free_for(member.profile, next);
            }
            Entity::Member(member) => member.id = self.member_number(member.profile, Handle(member.id))?,
            Entity::Group(group) if is_new => {
                let next = self.batch.profiles()[group.profile.index()].next_group();
                group.id = self.state.groups.free_for(group.profile, next);
            }
            Entity::Group(group) => group.id = self.group_number(group.profile, Handle(group.id))?,
            _ => {}
        }
        Ok(update)
    }

    /// BMv2 refuses an entry for a group without members; an entry of a controller may precede the members.
    fn target(&mut self, table: TableId, action: &mut EntryAction) -> Result<(), Problem> {
        let Some(used) = &self.program.tables[table].implementation else { return Ok(()) };
        match action {
            EntryAction::Member(id) => *id = self.member_number(used.profile, Handle(*id))?,
            EntryAction::Group(id) => {
                let handle = Handle(*id);
                *id = self.group_number(used.profile, handle)?;
                let members = self.batch.profiles()[used.profile.index()].group(handle);
                if members.is_none_or(|members| members.is_empty()) {
                    return Err(Problem::new(format!("group {handle} is empty: add members to it first")));
                }
            }
            EntryAction::Call(_) | EntryAction::OneShot(_) => {}
        }
        Ok(())
    }

    fn member_number(&mut self, profile: ActionProfileId, handle: Handle) -> Result<u32, Problem> {
        let own = read::owned_members(self.state, profile);
        let stored = self.batch.profiles()[profile.index()].member(handle);
        match stored.is_some() && !own.contains(&handle) {
            true => Ok(self.state.members.number(profile, handle)),
            false => Err(self.unknown(profile, "member", handle)),
        }
    }

    fn group_number(&mut self, profile: ActionProfileId, handle: Handle) -> Result<u32, Problem> {
        let is_own = self.state.one_shots.contains_key(&(profile.index(), handle));
        let stored = self.batch.profiles()[profile.index()].group(handle);
        match stored.is_some() && !is_own {
            true => Ok(self.state.groups.number(profile, handle)),
            false => Err(self.unknown(profile, "group", handle)),
        }
    }

    /// Those that belong to entries with action sets of their own are not there for others.
    fn unknown(&self, profile: ActionProfileId, what: &str, handle: Handle) -> Problem {
        let spec = self.batch.profiles()[profile.index()].spec();
        let name = &spec.name;
        Problem::new(match what == "group" && !spec.has_groups {
            true => format!("action profile {name} has no selector and so no groups"),
            false => format!("action profile {name} has no {what} with handle {handle}"),
        })
    }

    fn membership(
        &mut self,
        profile: ActionProfileId,
        group: Handle,
        member: Handle,
        joins: bool,
    ) -> Result<Update, Problem> {
        self.group_number(profile, group)?;
        let number = self.member_number(profile, member)?;
        let stored = self.batch.profiles()[profile.index()].group(group).cloned().unwrap_or_default();
        let mut written = read::group(self.state, profile, group, &stored);
        let position = written.members.iter().position(|it| it.member == number);
        let name = &self.program.action_profiles[profile].name;
        let refused =
            |is: &str| Err(Problem::new(format!("action profile {name}: member {member} is {is} group {group}")));
        match (position, joins) {
            (Some(_), true) => return refused("already in"),
            (None, false) => return refused("not in"),
            (None, true) => written.members.push(GroupMember { member: number, weight: 1, watch_port: None }),
            (Some(position), false) => drop(written.members.remove(position)),
        }
        Ok(modify(Entity::Group(written)))
    }

    // --------------------------------------------------------------------------------------------- value sets

    fn value_set_member(&mut self, set: ValueSetId, member: &[FieldMatch], joins: bool) -> Result<Update, Problem> {
        let size = self.program.value_sets[set].size;
        let mut members = self.switch().externs_mut().value_sets[set].clone();
        match (members.iter().position(|present| present == member), joins) {
            (Some(_), true) => return Err(Problem::new("the value set has this member already")),
            (None, false) => return Err(Problem::new("the value set has no such member")),
            (None, true) if members.len() as u64 >= size => {
                return Err(Problem::new(format!("the value set is full: it holds {size} members")));
            }
            (None, true) => members.push(member.to_vec()),
            (Some(position), false) => drop(members.remove(position)),
        }
        Ok(modify(Entity::ValueSet { set, members }))
    }

    // -------------------------------------------------------------------------------------------------- nodes

    /// Changes a node, and the groups that have it: each gets the replicas of its nodes by then.
    fn node(&mut self, change: &NodeChange) -> Result<(Reply, Vec<Update>), Problem> {
        let point = self.point();
        let done = self.try_node(change);
        done.inspect_err(|_| self.roll_back(point))
    }

    fn try_node(&mut self, change: &NodeChange) -> Result<(Reply, Vec<Update>), Problem> {
        let replication = self.switch().replication();
        let known = |node: u32| {
            let found = replication.node(node).cloned();
            found.ok_or_else(|| Problem::new(format!("there is no multicast node with handle {node}")))
        };
        let groups_with = |node: u32| {
            let groups = replication.groups_with(node);
            groups.map(|group| (group, replication.nodes_of(group).to_vec())).collect::<Vec<_>>()
        };
        let (handle, node, groups) = match change {
            NodeChange::Create(node) => (replication.next_node(), Some(node.clone()), Vec::new()),
            NodeChange::SetPorts { node, ports } => {
                (*node, Some(Node { ports: ports.clone(), ..known(*node)? }), groups_with(*node))
            }
            NodeChange::Destroy { node } => {
                known(*node)?;
                let mut groups = groups_with(*node);
                groups.iter_mut().for_each(|(_, nodes)| nodes.retain(|it| it != node));
                (*node, None, groups)
            }
            NodeChange::Membership { group, node, joins } => {
                let found = known(*node)?;
                let mut nodes = replication.nodes_of(*group).to_vec();
                match (nodes.iter().position(|it| it == node), joins) {
                    (Some(_), true) => {
                        return Err(Problem::new(format!("multicast node {node} is in group {group} already")));
                    }
                    (None, false) if replication.has_group(*group) => {
                        return Err(Problem::new(format!("multicast node {node} is not in group {group}")));
                    }
                    (Some(position), false) => drop(nodes.remove(position)),
                    // An unknown group is refused as such.
                    (None, _) => nodes.push(*node),
                }
                (*node, Some(found), vec![(*group, nodes)])
            }
        };
        let of_nodes: Vec<usize> = groups.iter().map(|(group, _)| replication.replicas_of_nodes(*group)).collect();
        self.set_node(handle, node)?;
        let mut updates = Vec::with_capacity(groups.len());
        for ((group, nodes), of_nodes) in groups.into_iter().zip(of_nodes) {
            let update = self.composed(group, &nodes, of_nodes);
            self.step(&update)?;
            self.switch().replication_mut().link(group, nodes);
            updates.push(update);
        }
        let reply = if let NodeChange::Create(_) = change { Reply::Handle(handle) } else { Reply::Done };
        Ok((reply, updates))
    }

    fn set_node(&mut self, handle: u32, node: Option<Node>) -> Result<(), Problem> {
        let replication = self.switch().replication_mut();
        let old = replication.node(handle).cloned();
        replication.set_node(handle, node).map_err(|error| Problem::new(error.to_string()))?;
        self.note_in_switch(move |switch| {
            // What was there fits again.
            let _done = switch.replication_mut().set_node(handle, old);
        });
        Ok(())
    }

    /// A group of these nodes, with what it has beside the first replicas, which were those of its nodes.
    fn composed(&mut self, group: u64, nodes: &[u32], of_nodes: usize) -> Update {
        let replication = self.switch().replication();
        let now = replication.replicas(Destination::Group(group)).to_vec();
        let nodes = nodes.iter().filter_map(|node| replication.node(*node));
        let mut replicas: Vec<_> = nodes.flat_map(Node::replicas).map(Into::into).collect();
        let written = self.state.replicas(Destination::Group(group), now);
        replicas.extend_from_slice(written.get(of_nodes..).unwrap_or_default());
        let metadata = self.state.multicast_metadata.get(&group).cloned().unwrap_or_default();
        modify(Entity::Multicast(Multicast { group, replicas, metadata }))
    }
}

fn name(entry: &Entry) -> EntryName {
    EntryName { key: entry.spec.key.clone(), priority: entry.spec.priority }
}
