//! The store of an action profile: members, and groups of members. The truth that snapshots are kept in step with.
//!
//! What enters: operations of the control plane. What leaves: refusals, and what became of them. Handles are numbered
//! from 0; after deletions the lowest free number is used again. Whether an entry still names a member or a group is
//! asked of the tables by [`crate::TableSet`], which knows both.

use crate::canonical;
use crate::error::{Problem, TableError};
use crate::set::Outcome;
use crate::spec::{ActionCall, ActionSpec, Handle};
use base::limits::TABLE_ENTRIES_MAX;
use std::collections::BTreeSet;

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

/// Something to do to a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileOperation {
    /// Make a member. Gives [`Outcome::Inserted`].
    CreateMember(ActionCall),
    /// Give a member another action or other arguments.
    ModifyMember {
        /// The member.
        member: Handle,
        /// What it runs from now on.
        call: ActionCall,
    },
    /// Delete a member that is in no group and that no entry names.
    DeleteMember {
        /// The member.
        member: Handle,
    },
    /// Make an empty group. Gives [`Outcome::Inserted`].
    CreateGroup,
    /// Delete a group that no entry names.
    DeleteGroup {
        /// The group.
        group: Handle,
    },
    /// Put a member into a group.
    AddToGroup {
        /// The group.
        group: Handle,
        /// The member.
        member: Handle,
    },
    /// Take a member out of a group, which may become empty.
    RemoveFromGroup {
        /// The group.
        group: Handle,
        /// The member.
        member: Handle,
    },
}

/// What a snapshot has to do to follow a profile.
#[derive(Clone, Debug)]
pub(crate) enum ProfileChange {
    Member { member: Handle, call: ActionCall },
    Group { group: Handle, members: Vec<Handle> },
}

/// Numbered things, the lowest free number first.
#[derive(Clone, Debug)]
struct Numbered<T> {
    slots: Vec<Option<T>>,
    free: BTreeSet<u32>,
}

impl<T> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered { slots: Vec::new(), free: BTreeSet::new() }
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

    fn remove(&mut self, handle: Handle) {
        if let Some(slot) = self.slots.get_mut(handle.0 as usize)
            && slot.take().is_some()
        {
            self.free.insert(handle.0);
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
    /// The members of each group, ascending.
    groups: Numbered<BTreeSet<Handle>>,
    /// Members of all groups together.
    memberships: usize,
}

impl Profile {
    /// A profile with nothing in it.
    pub fn new(spec: ProfileSpec) -> Profile {
        Profile { spec, members: Numbered::new(), groups: Numbered::new(), memberships: 0 }
    }

    /// What the profile was made from.
    pub fn spec(&self) -> &ProfileSpec {
        &self.spec
    }

    /// What a member runs: an action by its position among the profile's.
    pub fn member(&self, member: Handle) -> Option<&ActionCall> {
        self.members.get(member)
    }

    /// All members, ascending.
    pub fn members(&self) -> impl Iterator<Item = (Handle, &ActionCall)> {
        self.members.iter()
    }

    /// The members of a group, ascending.
    pub fn group(&self, group: Handle) -> Option<&BTreeSet<Handle>> {
        self.groups.get(group)
    }

    /// All groups, ascending.
    pub fn groups(&self) -> impl Iterator<Item = (Handle, &BTreeSet<Handle>)> {
        self.groups.iter()
    }

    /// The member of a group that a hash picks; none if the group is empty.
    pub fn pick(&self, group: Handle, hash: u64) -> Option<Handle> {
        let members = self.groups.get(group)?;
        let position = hash.checked_rem(members.len() as u64)?;
        members.iter().nth(position as usize).copied()
    }

    pub(crate) fn known_member(&self, member: Handle) -> Result<&ActionCall, Problem> {
        let members = self.members.len();
        self.members.get(member).ok_or(Problem::UnknownMember { member, members })
    }

    pub(crate) fn known_group(&self, group: Handle) -> Result<&BTreeSet<Handle>, Problem> {
        if !self.spec.has_groups {
            return Err(Problem::NoGroups);
        }
        let groups = self.groups.len();
        self.groups.get(group).ok_or(Problem::UnknownGroup { group, groups })
    }

    /// Does an operation, and says what snapshots have to do. `is_named` tells whether an entry names the member
    /// (`false`) or the group (`true`) of a handle.
    pub(crate) fn apply(
        &mut self,
        operation: ProfileOperation,
        is_named: impl Fn(bool, Handle) -> bool,
    ) -> Result<(Outcome, Option<ProfileChange>), TableError> {
        let name = self.spec.name.clone();
        self.perform(operation, is_named).map_err(|problem| problem.of_profile(&name))
    }

    fn perform(
        &mut self,
        operation: ProfileOperation,
        is_named: impl Fn(bool, Handle) -> bool,
    ) -> Result<(Outcome, Option<ProfileChange>), Problem> {
        match operation {
            ProfileOperation::CreateMember(call) => {
                let call = canonical::member_call(&self.spec.actions, call)?;
                let most = if self.spec.size == 0 { TABLE_ENTRIES_MAX } else { self.spec.size.min(TABLE_ENTRIES_MAX) };
                if self.members.len() >= most {
                    return Err(Problem::ProfileFull { size: most });
                }
                let member = self.members.put(call.clone());
                Ok((Outcome::Inserted(member), Some(ProfileChange::Member { member, call })))
            }
            ProfileOperation::ModifyMember { member, call } => {
                self.known_member(member)?;
                let call = canonical::member_call(&self.spec.actions, call)?;
                self.members.get_mut(member).into_iter().for_each(|old| old.clone_from(&call));
                Ok((Outcome::Done, Some(ProfileChange::Member { member, call })))
            }
            ProfileOperation::DeleteMember { member } => {
                self.known_member(member)?;
                if let Some((group, _)) = self.groups.iter().find(|(_, members)| members.contains(&member)) {
                    return Err(Problem::MemberInGroup { member, group });
                }
                if is_named(false, member) {
                    return Err(Problem::MemberInUse { member });
                }
                self.members.remove(member);
                Ok((Outcome::Done, None))
            }
            ProfileOperation::CreateGroup => {
                if !self.spec.has_groups {
                    return Err(Problem::NoGroups);
                }
                if self.groups.len() >= TABLE_ENTRIES_MAX {
                    return Err(Problem::ProfileFull { size: TABLE_ENTRIES_MAX });
                }
                let group = self.groups.put(BTreeSet::new());
                Ok((Outcome::Inserted(group), Some(ProfileChange::Group { group, members: Vec::new() })))
            }
            ProfileOperation::DeleteGroup { group } => {
                let members = self.known_group(group)?.len();
                if is_named(true, group) {
                    return Err(Problem::GroupInUse { group });
                }
                self.groups.remove(group);
                self.memberships -= members;
                Ok((Outcome::Done, Some(ProfileChange::Group { group, members: Vec::new() })))
            }
            ProfileOperation::AddToGroup { group, member } => self.add_to_group(group, member),
            ProfileOperation::RemoveFromGroup { group, member } => {
                if !self.known_group(group)?.contains(&member) {
                    return Err(Problem::NotInGroup { member, group });
                }
                self.groups.get_mut(group).into_iter().for_each(|members| _ = members.remove(&member));
                self.memberships -= 1;
                Ok((Outcome::Done, self.group_change(group)))
            }
        }
    }

    fn add_to_group(&mut self, group: Handle, member: Handle) -> Result<(Outcome, Option<ProfileChange>), Problem> {
        self.known_member(member)?;
        if self.known_group(group)?.contains(&member) {
            return Err(Problem::MemberInGroup { member, group });
        }
        if self.memberships >= TABLE_ENTRIES_MAX {
            return Err(Problem::ProfileFull { size: TABLE_ENTRIES_MAX });
        }
        self.groups.get_mut(group).into_iter().for_each(|members| _ = members.insert(member));
        self.memberships += 1;
        Ok((Outcome::Done, self.group_change(group)))
    }

    fn group_change(&self, group: Handle) -> Option<ProfileChange> {
        let members = self.groups.get(group)?.iter().copied().collect();
        Some(ProfileChange::Group { group, members })
    }
}
