//! Multicast groups and clone sessions: where copies go.
//!
//! What enters: the control plane's groups and sessions. What leaves: the list of (replica id, port) of a group, kept
//! flat so that the data plane only walks it.
//!
//! BMv2's tools compose groups of *nodes*: a node is a replica id with ports, known by its handle. Handles are numbers
//! of the moment, so nodes are no state of their own: to change a node, or to put it into a group, is to set the
//! replicas of the group, and [`Replication::link`] notes the nodes that they come from.

use base::{OrderedMap, OrderedSet};

/// One copy to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replica {
    /// `egress_rid` of the copy.
    pub rid: u64,
    /// Its port.
    pub port: u32,
}

/// Where the clones of a session go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CloneTarget {
    /// One copy for each of these.
    Replicas(Vec<Replica>),
    /// A copy to each member of this multicast group.
    Group(u64),
}

/// What the clones of a session are like, as far as the architecture has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CloneProperties {
    /// The class of service of the clones.
    pub class_of_service: u32,
    /// The most bytes of the packet that a clone gets; none for all.
    pub length_bytes_max: Option<u32>,
}

/// Something that has replicas.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Destination {
    /// A multicast group.
    Group(u64),
    /// A clone session.
    Session(u32),
}

/// What is wrong with a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplicationError {
    /// There is no such group.
    NoGroup(u64),
    /// There is no such session.
    NoSession(u32),
    /// A session number above the greatest.
    SessionTooHigh(u32),
    /// More groups, nodes or ports than the limit.
    TooMany(&'static str),
}

impl std::fmt::Display for ReplicationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplicationError::NoGroup(group) => write!(f, "there is no multicast group {group}; create it first"),
            ReplicationError::NoSession(session) => write!(f, "there is no clone session {session}"),
            ReplicationError::SessionTooHigh(session) => {
                write!(f, "clone session {session} is above the greatest, {SESSION_MAX}")
            }
            ReplicationError::TooMany(what) => write!(f, "more {what} than the {ITEMS_MAX} allowed"),
        }
    }
}

impl std::error::Error for ReplicationError {}

/// The greatest clone session number.
pub const SESSION_MAX: u32 = 32_767;

/// The most groups, nodes, or ports of a node.
const ITEMS_MAX: usize = 65_536;

/// A multicast group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its copies.
    replicas: Vec<Replica>,
    /// The nodes that the first of these come from.
    nodes: Vec<u32>,
}

/// A part of a group as BMv2's tools have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `egress_rid` of the copies.
    pub rid: u64,
    /// Each gets a copy.
    pub ports: Vec<u32>,
}

impl Node {
    /// The copies that it stands for.
    pub fn replicas(&self) -> impl Iterator<Item = Replica> {
        self.ports.iter().map(|&port| Replica { rid: self.rid, port })
    }
}

/// All groups and sessions of a switch.
#[derive(Clone, Default)]
pub struct Replication {
    groups: OrderedMap<u64, Group>,
    nodes: OrderedMap<u32, Node>,
    /// Handles below the greatest in use that no node has.
    free_handles: OrderedSet<u32>,
    sessions: OrderedMap<u32, (CloneTarget, CloneProperties)>,
    /// The most copies that any group or session has ever had.
    replicas_max: usize,
}

impl Replication {
    /// The most copies that a packet becomes by one request, or more.
    pub fn replicas_max(&self) -> usize {
        self.replicas_max
    }

    /// The copies that a packet to this destination becomes; none if there is no such destination.
    pub fn replicas(&self, destination: Destination) -> &[Replica] {
        match destination {
            Destination::Group(group) => self.groups.get(&group).map_or(&[], |group| &group.replicas),
            Destination::Session(session) => match self.sessions.get(&session) {
                Some((CloneTarget::Replicas(replicas), _)) => replicas,
                Some((CloneTarget::Group(group), _)) => self.replicas(Destination::Group(*group)),
                None => &[],
            },
        }
    }

    /// Where clones of `session` go; none if it is not configured.
    pub fn session(&self, session: u32) -> Option<&CloneTarget> {
        self.sessions.get(&session).map(|(target, _)| target)
    }

    /// What clones of `session` are like.
    pub fn clone_properties(&self, session: u32) -> CloneProperties {
        self.sessions.get(&session).map_or_else(CloneProperties::default, |(_, properties)| *properties)
    }

    /// The multicast groups, with their replicas.
    pub fn groups(&self) -> impl Iterator<Item = (u64, &[Replica])> {
        self.groups.iter().map(|(&number, group)| (number, &group.replicas[..]))
    }

    /// The node of this handle.
    pub fn node(&self, handle: u32) -> Option<&Node> {
        self.nodes.get(&handle)
    }

    /// The handle that the next new node gets: the least that is free.
    pub fn next_node(&self) -> u32 {
        // A handle that was given back is below all that were never given.
        self.free_handles.first().copied().unwrap_or(self.nodes.len() as u32)
    }

    /// Makes, changes or removes the node of this handle, which exists or is the next. Groups that have it do not
    /// follow.
    pub fn set_node(&mut self, handle: u32, node: Option<Node>) -> Result<(), ReplicationError> {
        match node {
            Some(node) => {
                limit(self.nodes.len(), "multicast nodes")?;
                limit(node.ports.len(), "ports of a multicast node")?;
                self.free_handles.remove(&handle);
                self.nodes.insert(handle, node);
            }
            None => {
                self.nodes.remove(&handle);
                self.free_handles.insert(handle);
            }
        }
        Ok(())
    }

    /// The nodes of a group, in the order in which they came into it.
    pub fn nodes_of(&self, group: u64) -> &[u32] {
        self.groups.get(&group).map_or(&[], |group| &group.nodes)
    }

    /// The groups that have this node.
    pub fn groups_with(&self, node: u32) -> impl Iterator<Item = u64> {
        self.groups.iter().filter(move |(_, group)| group.nodes.contains(&node)).map(|(&number, _)| number)
    }

    /// How many of the first replicas of a group come from its nodes.
    pub fn replicas_of_nodes(&self, group: u64) -> usize {
        self.nodes_of(group).iter().filter_map(|node| self.nodes.get(node)).map(|node| node.ports.len()).sum()
    }

    /// Notes that the first replicas of a group, as they are now, come from these nodes.
    pub fn link(&mut self, group: u64, nodes: Vec<u32>) {
        if let Some(group) = self.groups.get_mut(&group) {
            group.nodes = nodes;
        }
    }

    /// The group of this number.
    pub fn group(&self, group: u64) -> Option<&Group> {
        self.groups.get(&group)
    }

    /// Puts back what [`Self::group`] was.
    pub fn restore_group(&mut self, number: u64, group: Option<Group>) {
        match group {
            Some(group) => drop(self.groups.insert(number, group)),
            None => drop(self.groups.remove(&number)),
        }
    }

    /// The ports that copies go to, also those of nodes that are in no group.
    pub fn ports(&self) -> impl Iterator<Item = u32> {
        let of_nodes = self.nodes.values().flat_map(|node| node.ports.iter().copied());
        let of_groups = self.groups.values().flat_map(|group| &group.replicas);
        let of_sessions = self.sessions.values().filter_map(|(target, _)| match target {
            CloneTarget::Replicas(replicas) => Some(replicas),
            CloneTarget::Group(_) => None,
        });
        of_nodes.chain(of_groups.chain(of_sessions.flatten()).map(|replica| replica.port))
    }

    /// Whether there is a multicast group of this number.
    pub fn has_group(&self, group: u64) -> bool {
        self.groups.contains_key(&group)
    }

    /// The clone sessions, with where their clones go and what these are like.
    pub fn sessions(&self) -> impl Iterator<Item = (u32, &CloneTarget, CloneProperties)> {
        self.sessions.iter().map(|(&number, (target, properties))| (number, target, *properties))
    }

    /// Makes a group of these replicas, in place of one of the same number if there is one.
    pub fn set_group(&mut self, group: u64, replicas: Vec<Replica>) -> Result<(), ReplicationError> {
        limit(self.groups.len().max(replicas.len()), "multicast groups or replicas")?;
        self.replicas_max = self.replicas_max.max(replicas.len());
        self.groups.insert(group, Group { replicas, nodes: Vec::new() });
        Ok(())
    }

    /// Removes a group. Its nodes stay.
    pub fn destroy_group(&mut self, group: u64) -> Result<(), ReplicationError> {
        self.groups.remove(&group).map(|_| ()).ok_or(ReplicationError::NoGroup(group))
    }

    /// Makes or changes a clone session.
    pub fn set_session(
        &mut self,
        session: u32,
        target: CloneTarget,
        properties: CloneProperties,
    ) -> Result<(), ReplicationError> {
        if session > SESSION_MAX {
            return Err(ReplicationError::SessionTooHigh(session));
        }
        if let CloneTarget::Replicas(replicas) = &target {
            limit(replicas.len(), "replicas of a clone session")?;
            self.replicas_max = self.replicas_max.max(replicas.len());
        }
        self.sessions.insert(session, (target, properties));
        Ok(())
    }

    /// Removes a clone session.
    pub fn delete_session(&mut self, session: u32) -> Result<(), ReplicationError> {
        self.sessions.remove(&session).map(|_| ()).ok_or(ReplicationError::NoSession(session))
    }
}

fn limit(count: usize, what: &'static str) -> Result<(), ReplicationError> {
    if count >= ITEMS_MAX { Err(ReplicationError::TooMany(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_know_the_nodes_of_their_replicas() {
        let mut it = Replication::default();
        let node = |rid, ports: &[u32]| Node { rid, ports: ports.to_vec() };
        assert_eq!(it.next_node(), 0);
        it.set_node(0, Some(node(10, &[1, 3]))).unwrap();
        it.set_node(1, Some(node(20, &[2]))).unwrap();
        let own = Replica { rid: 5, port: 9 };
        let replicas =
            [node(20, &[2]).replicas().collect(), node(10, &[1, 3]).replicas().collect(), vec![own]].concat();
        it.set_group(5, replicas.clone()).unwrap();
        it.link(5, vec![1, 0]);
        assert_eq!(it.replicas_of_nodes(5), 3);
        assert_eq!(it.groups_with(0).collect::<Vec<_>>(), [5]);
        it.set_session(1, CloneTarget::Group(5), CloneProperties::default()).unwrap();
        assert_eq!(it.replicas(Destination::Session(1)), replicas);
        let before = it.group(5).cloned();
        it.set_group(5, vec![own]).unwrap();
        assert!(it.nodes_of(5).is_empty(), "others have replaced what the nodes stood for");
        it.restore_group(5, before);
        assert_eq!(it.nodes_of(5), [1, 0]);
        // The handle that was given back is the first to be given again.
        it.set_node(0, None).unwrap();
        assert_eq!(it.next_node(), 0);
    }

    #[test]
    fn wrong_requests_are_refused() {
        let mut it = Replication::default();
        assert_eq!(it.destroy_group(1), Err(ReplicationError::NoGroup(1)));
        let session = it.set_session(40_000, CloneTarget::Group(1), CloneProperties::default());
        assert_eq!(session, Err(ReplicationError::SessionTooHigh(40_000)));
        assert_eq!(it.delete_session(1), Err(ReplicationError::NoSession(1)));
        assert!(it.replicas(Destination::Group(99)).is_empty());
    }
}
