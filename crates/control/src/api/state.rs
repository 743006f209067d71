//! What controllers have set and the switch does not need: their numbers for members and groups, watch ports,
//! metadata, and how digests are sent.

use crate::api::entity::{Choice, DigestConfig, Group, GroupMember, Replica};
use crate::api::idle::ReportedIdle;
use base::index::Id as _;
use base::{OrderedMap, OrderedSet};
use ir::{ActionProfileId, DigestId, TableId};
use switch::Destination;
use tables::{Attributes, Handle};

/// The state of a control plane that is not in its switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControllerState {
    pub members: Numbers,
    pub groups: Numbers,
    /// The groups as controllers wrote them.
    pub group_contents: OrderedMap<(usize, Handle), GroupContents>,
    /// The groups that belong to one entry each.
    pub one_shots: OrderedMap<(usize, Handle), OneShot>,
    pub multicast_metadata: OrderedMap<u64, Vec<u8>>,
    /// What was written with default actions and does not affect packets.
    pub default_attributes: OrderedMap<TableId, Attributes>,
    /// Multicast groups and clone sessions with backup replicas, as controllers wrote them.
    pub backed_up: OrderedMap<Destination, Vec<Replica>>,
    pub digests: OrderedMap<DigestId, DigestConfig>,
    /// Ports that are down: members that watch them cannot be chosen.
    pub ports_down: OrderedSet<u32>,
    /// Entries that were reported as idle.
    pub idle_reported: ReportedIdle,
}

impl ControllerState {
    /// The groups of a profile that belong to one entry each.
    pub fn one_shots_of(&self, profile: ActionProfileId) -> impl Iterator<Item = (Handle, &OneShot)> {
        let (first, last) = (Handle(0), Handle(u32::MAX));
        let own = self.one_shots.range((profile.index(), first)..=(profile.index(), last));
        own.map(|(&(_, group), one_shot)| (group, one_shot))
    }

    /// The replicas of a destination as they were written, if the switch still has what was chosen from them.
    pub fn replicas(&self, destination: Destination, now: Vec<switch::Replica>) -> Vec<Replica> {
        let written = self.backed_up.get(&destination);
        let written = written.filter(|written| chosen(written, &self.ports_down) == now).cloned();
        written.unwrap_or_else(|| now.into_iter().map(Replica::from).collect())
    }
}

/// The copies that are made while these ports have no link.
pub(crate) fn chosen(replicas: &[Replica], ports_down: &OrderedSet<u32>) -> Vec<switch::Replica> {
    replicas.iter().filter_map(|replica| replica.chosen(ports_down)).collect()
}

/// A group as a controller wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupContents {
    pub members: Vec<GroupMember>,
    pub size_max: u32,
}

impl GroupContents {
    pub fn of(group: &Group) -> GroupContents {
        GroupContents { members: group.members.clone(), size_max: group.size_max }
    }
}

/// The members that were created for an entry's own group, in the order of its choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneShot {
    pub choices: Vec<Choice>,
    pub members: Vec<Handle>,
}

/// Controllers' numbers of the members, or of the groups, of all profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    handles: OrderedMap<(usize, u32), Handle>,
    numbers: OrderedMap<(usize, Handle), u32>,
}

impl Numbers {
    /// The handle with this number.
    pub fn handle(&self, profile: ActionProfileId, number: u32) -> Option<Handle> {
        self.handles.get(&(profile.index(), number)).copied()
    }

    /// The number of this handle. One that no controller has numbered gets the first free number above its handle.
    pub fn number(&mut self, profile: ActionProfileId, handle: Handle) -> u32 {
        if let Some(&number) = self.numbers.get(&(profile.index(), handle)) {
            return number;
        }
        let number = self.free_for(profile, handle);
        self.set(profile, number, handle);
        number
    }

    /// The number that a new member or group of this handle gets if no controller chooses one.
    pub fn free_for(&self, profile: ActionProfileId, handle: Handle) -> u32 {
        let is_free = |number: &u32| !self.handles.contains_key(&(profile.index(), *number));
        (handle.0 + 1..=u32::MAX).find(is_free).unwrap_or(u32::MAX)
    }

    pub fn set(&mut self, profile: ActionProfileId, number: u32, handle: Handle) {
        self.handles.insert((profile.index(), number), handle);
        self.numbers.insert((profile.index(), handle), number);
    }

    pub fn remove(&mut self, profile: ActionProfileId, number: u32) {
        if let Some(handle) = self.handles.remove(&(profile.index(), number)) {
            self.numbers.remove(&(profile.index(), handle));
        }
    }
}
