//! The authoritative store of an action profile: members, and groups of members. Snapshots follow it.
//!
//! What enters: operations of the control plane. What leaves: outcomes and rejections. Handles are numbered from 0;
//! after deletions the lowest free number is reused. Whether an entry still refers to a member or a group is checked by
//! [`crate::TableSet`], which has the tables.

use crate::canonical;
use crate::error::{Problem, TableError};
use crate::set::Outcome;
use crate::spec::{ActionCall, ActionSpec, Handle};
use base::limits::{PROFILE_CHOICES_MAX, TABLE_ENTRIES_MAX};
use base::{OrderedMap, OrderedSet};

/// An action profile, as the program declares it.
#[derive(Clone, Debug, Default)]
pub struct ProfileSpec {
    /// The name that users know.
    pub name: String,
    /// Members that it holds at most; 0 for as many as a table may have entries.
    pub size: usize,
    /// Whether there may be groups.
    pub has_groups: bool,
    /// The actions that members may run. Members name an action by its position here.
    pub actions: Vec<ActionSpec>,
}

/// An operation on a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileOperation {
    /// Make a member. Returns [`Outcome::Inserted`].
    CreateMember(ActionCall),
    /// Change the action or the arguments of a member.
    ModifyMember {
        /// The member.
        member: Handle,
        /// Its new action and arguments.
        call: ActionCall,
    },
    /// Delete a member that is in no group and that no entry refers to.
    DeleteMember {
        /// The member.
        member: Handle,
    },
    /// Make an empty group. Returns [`Outcome::Inserted`].
    CreateGroup,
    /// Delete a group that no entry refers to.
    DeleteGroup {
        /// The group.
        group: Handle,
    },
    /// Replace the members of a group.
    SetGroup {
        /// The group.
        group: Handle,
        /// Each with its weight: the number of choices that are the member's; with 0 it is never chosen.
        members: OrderedMap<Handle, u32>,
    },
}

/// A change of a profile, for snapshots.
#[derive(Clone, Debug)]
pub(crate) enum ProfileChange {
    Member {
        member: Handle,
        call: ActionCall,
    },
    /// Each member, repeated by its weight.
    Group {
        group: Handle,
        choices: Vec<Handle>,
    },
}

/// How to undo an operation.
#[derive(Debug)]
pub(crate) enum ProfileUndo {
    CreateMember(Handle),
    ModifyMember(Handle, ActionCall),
    DeleteMember(Handle, ActionCall),
    CreateGroup(Handle),
    DeleteGroup(Handle, Group),
    ChangeGroup(Handle, Group),
}

/// The members of a group, ascending, each with its weight; with 0 it is a member and never chosen.
pub type Group = OrderedMap<Handle, u32>;

/// The outcome of an operation, its changes for snapshots, and how to undo it.
pub(crate) type Performed = (Outcome, Option<ProfileChange>, ProfileUndo);

/// Numbered things, the lowest free number first.
#[derive(Clone, Debug)]
struct Numbered<T> {
    slots: Vec<Option<T>>,
    free: OrderedSet<u32>,
}

impl<T> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered { slots: Vec::new(), free: OrderedSet::new() }
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn get(&self, handle: Handle) -> Option<&T> {
        self.slots.get(handle.0 as usize)?.as_ref()
    }

    fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        self.slots.get_mut(handle.0 as usize)?.as_mut()
    }

    /// The number that the next gets.
    fn next(&self) -> Handle {
        Handle(self.free.first().copied().unwrap_or(self.slots.len() as u32))
    }

    fn put(&mut self, item: T) -> Handle {
        match self.free.pop_first() {
            Some(number) => {
                self.slots[number as usize] = Some(item);
                Handle(number)
            }
            None => {
                self.slots.push(Some(item));
                Handle(self.slots.len() as u32 - 1)
            }
        }
    }

    fn remove(&mut self, handle: Handle) -> Option<T> {
        let item = self.slots.get_mut(handle.0 as usize)?.take()?;
        self.free.insert(handle.0);
        Some(item)
    }

    /// Puts back what was removed.
    fn restore(&mut self, handle: Handle, item: T) {
        if self.free.remove(&handle.0) {
            self.slots[handle.0 as usize] = Some(item);
        }
    }

    fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.slots.iter().enumerate().filter_map(|(number, slot)| Some((Handle(number as u32), slot.as_ref()?)))
    }
}

/// A profile with its members and groups.
#[derive(Clone, Debug)]
pub struct Profile {
    spec: ProfileSpec,
    members: Numbered<ActionCall>,
    groups: Numbered<Group>,
    /// Each member with each group that it is in.
    memberships: OrderedSet<(Handle, Handle)>,
    /// The weights of all members of all groups together: the choices that snapshots hold.
    choices: usize,
}

impl Profile {
    /// An empty profile.
    pub fn new(spec: ProfileSpec) -> Profile {
        let (members, groups) = (Numbered::new(), Numbered::new());
        Profile { spec, members, groups, memberships: OrderedSet::new(), choices: 0 }
    }

    /// The profile's specification.
    pub fn spec(&self) -> &ProfileSpec {
        &self.spec
    }

    /// The action of a member, by its position among the profile's.
    pub fn member(&self, member: Handle) -> Option<&ActionCall> {
        self.members.get(member)
    }

    /// All members, ascending.
    pub fn members(&self) -> impl Iterator<Item = (Handle, &ActionCall)> {
        self.members.iter()
    }

    /// The handle that the next new member gets.
    pub fn next_member(&self) -> Handle {
        self.members.next()
    }

    /// The handle that the next new group gets.
    pub fn next_group(&self) -> Handle {
        self.groups.next()
    }

    /// The members of a group.
    pub fn group(&self, group: Handle) -> Option<&Group> {
        self.groups.get(group)
    }

    /// All groups, ascending.
    pub fn groups(&self) -> impl Iterator<Item = (Handle, &Group)> {
        self.groups.iter()
    }

    /// Whether there are neither members nor groups.
    pub fn is_empty(&self) -> bool {
        self.members.iter().next().is_none() && self.groups.iter().next().is_none()
    }

    /// The member of a group that a hash selects, in proportion to the weights; none if the group is empty.
    pub fn pick(&self, group: Handle, hash: u64) -> Option<Handle> {
        let members = self.groups.get(group)?;
        let total: u64 = members.values().copied().map(u64::from).sum();
        let mut position = hash.checked_rem(total)?;
        members.iter().find_map(|(&member, &weight)| match position.checked_sub(u64::from(weight)) {
            Some(rest) => {
                position = rest;
                None
            }
            None => Some(member),
        })
    }

    pub(crate) fn known_member(&self, member: Handle) -> Result<&ActionCall, Problem> {
        let members = self.members.len();
        self.members.get(member).ok_or(Problem::UnknownMember { member, members })
    }

    pub(crate) fn known_group(&self, group: Handle) -> Result<&Group, Problem> {
        if !self.spec.has_groups {
            return Err(Problem::NoGroups);
        }
        let groups = self.groups.len();
        self.groups.get(group).ok_or(Problem::UnknownGroup { group, groups })
    }

    /// Carries out an operation; returns the changes for snapshots and how to undo it. `is_named` returns whether an
    /// entry refers to the member (`false`) or the group (`true`) of a handle.
    pub(crate) fn apply(
        &mut self,
        operation: ProfileOperation,
        is_named: impl Fn(bool, Handle) -> bool,
    ) -> Result<Performed, TableError> {
        let name = self.spec.name.clone();
        self.perform(operation, is_named).map_err(|problem| problem.of_profile(&name))
    }

    fn perform(
        &mut self,
        operation: ProfileOperation,
        is_named: impl Fn(bool, Handle) -> bool,
    ) -> Result<Performed, Problem> {
        match operation {
            ProfileOperation::CreateMember(call) => self.create_member(call),
            ProfileOperation::ModifyMember { member, call } => self.modify_member(member, call),
            ProfileOperation::DeleteMember { member } => {
                if is_named(false, member) {
                    return Err(Problem::MemberInUse { member });
                }
                self.delete_member(member)
            }
            ProfileOperation::CreateGroup => self.create_group(),
            ProfileOperation::DeleteGroup { group } => {
                let members = self.known_group(group)?.clone();
                if is_named(true, group) {
                    return Err(Problem::GroupInUse { group });
                }
                self.forget_members(group, &members);
                self.groups.remove(group);
                let change = ProfileChange::Group { group, choices: Vec::new() };
                Ok((Outcome::Done, Some(change), ProfileUndo::DeleteGroup(group, members)))
            }
            ProfileOperation::SetGroup { group, members } => {
                self.known_group(group)?;
                for &member in members.keys() {
                    self.known_member(member)?;
                }
                self.set_group(group, members)
            }
        }
    }

    fn create_member(&mut self, call: ActionCall) -> Result<Performed, Problem> {
        let call = canonical::member_call(&self.spec.actions, call)?;
        let most = if self.spec.size == 0 { TABLE_ENTRIES_MAX } else { self.spec.size.min(TABLE_ENTRIES_MAX) };
        if self.members.len() >= most {
            return Err(Problem::ProfileFull { size: most });
        }
        let member = self.members.put(call.clone());
        let change = ProfileChange::Member { member, call };
        Ok((Outcome::Inserted(member), Some(change), ProfileUndo::CreateMember(member)))
    }

    fn modify_member(&mut self, member: Handle, call: ActionCall) -> Result<Performed, Problem> {
        let old = self.known_member(member)?.clone();
        let call = canonical::member_call(&self.spec.actions, call)?;
        self.members.get_mut(member).into_iter().for_each(|slot| slot.clone_from(&call));
        let change = ProfileChange::Member { member, call };
        Ok((Outcome::Done, Some(change), ProfileUndo::ModifyMember(member, old)))
    }

    fn delete_member(&mut self, member: Handle) -> Result<Performed, Problem> {
        let old = self.known_member(member)?.clone();
        let of_member = (member, Handle(0))..=(member, Handle(u32::MAX));
        if let Some(&(_, group)) = self.memberships.range(of_member).next() {
            return Err(Problem::MemberInGroup { member, group });
        }
        self.members.remove(member);
        Ok((Outcome::Done, None, ProfileUndo::DeleteMember(member, old)))
    }

    fn create_group(&mut self) -> Result<Performed, Problem> {
        if !self.spec.has_groups {
            return Err(Problem::NoGroups);
        }
        if self.groups.len() >= TABLE_ENTRIES_MAX {
            return Err(Problem::ProfileFull { size: TABLE_ENTRIES_MAX });
        }
        let group = self.groups.put(Group::new());
        let change = ProfileChange::Group { group, choices: Vec::new() };
        Ok((Outcome::Inserted(group), Some(change), ProfileUndo::CreateGroup(group)))
    }

    /// Adds the group to the groups of these members.
    fn note_members(&mut self, group: Handle, members: &Group) {
        self.choices += choices_of(members);
        self.memberships.extend(members.keys().map(|&member| (member, group)));
    }

    /// Removes the group from the groups of these members.
    fn forget_members(&mut self, group: Handle, members: &Group) {
        self.choices -= choices_of(members);
        for &member in members.keys() {
            self.memberships.remove(&(member, group));
        }
    }

    /// Gives a group that exists these members, which exist too.
    fn set_group(&mut self, group: Handle, members: Group) -> Result<Performed, Problem> {
        let old = self.known_group(group)?.clone();
        let choices = (self.choices - choices_of(&old)).saturating_add(choices_of(&members));
        if choices > PROFILE_CHOICES_MAX {
            return Err(Problem::TooManyChoices { most: PROFILE_CHOICES_MAX });
        }
        let change = ProfileChange::Group { group, choices: expanded(&members) };
        self.forget_members(group, &old);
        self.note_members(group, &members);
        self.groups.get_mut(group).into_iter().for_each(|slot| slot.clone_from(&members));
        Ok((Outcome::Done, Some(change), ProfileUndo::ChangeGroup(group, old)))
    }

    /// Undoes the last operation that is not undone yet.
    pub(crate) fn undo(&mut self, undo: ProfileUndo) {
        match undo {
            ProfileUndo::CreateMember(member) => drop(self.members.remove(member)),
            ProfileUndo::ModifyMember(member, call) => {
                self.members.get_mut(member).into_iter().for_each(|slot| slot.clone_from(&call));
            }
            ProfileUndo::DeleteMember(member, call) => self.members.restore(member, call),
            ProfileUndo::CreateGroup(group) => drop(self.groups.remove(group)),
            ProfileUndo::DeleteGroup(group, members) => {
                self.note_members(group, &members);
                self.groups.restore(group, members);
            }
            ProfileUndo::ChangeGroup(group, members) => {
                let new = self.groups.get(group).cloned().unwrap_or_default();
                self.forget_members(group, &new);
                self.note_members(group, &members);
                self.groups.get_mut(group).into_iter().for_each(|slot| slot.clone_from(&members));
            }
        }
    }
}

/// The number of a group's choices.
fn choices_of(members: &Group) -> usize {
    members.values().fold(0, |sum: usize, &weight| sum.saturating_add(weight as usize))
}

/// The members in order, each repeated by its weight.
fn expanded(members: &Group) -> Vec<Handle> {
    members.iter().flat_map(|(&member, &weight)| std::iter::repeat_n(member, weight as usize)).collect()
}
