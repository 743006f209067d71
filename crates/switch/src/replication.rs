//! Multicast groups and clone sessions: who gets copies.
//!
//! What enters: the control plane's groups, nodes and sessions. What leaves: the list of (replica id, port) of a group,
//! kept flat so that the data plane only walks it. Names follow the switch commands: a *node* is a replica id with
//! ports, known by its handle; a group has nodes in the order in which they were associated.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The group exists already.
    GroupExists(u64),
    /// There is no such group.
    NoGroup(u64),
    /// There is no such node.
    NoNode(u32),
    /// The node is in this group already.
    NodeAssociated(u32, u64),
    /// The node is not in this group.
    NodeNotAssociated(u32, u64),
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
            ReplicationError::GroupExists(group) => write!(f, "multicast group {group} exists already"),
            ReplicationError::NoGroup(group) => write!(f, "there is no multicast group {group}; create it first"),
            ReplicationError::NoNode(node) => write!(f, "there is no multicast node with handle {node}"),
            ReplicationError::NodeAssociated(node, group) => {
                write!(f, "multicast node {node} is in group {group} already")
            }
            ReplicationError::NodeNotAssociated(node, group) => {
                write!(f, "multicast node {node} is not in group {group}")
            }
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

#[derive(Clone, Default)]
struct Group {
    nodes: Vec<u32>,
    /// Replicas that the group has without a node.
    own: Vec<Replica>,
    /// All replicas: those of the nodes, then its own.
    replicas: Vec<Replica>,
}

impl Group {
    fn refresh(&mut self, nodes: &BTreeMap<u32, Node>) {
        let members = self.nodes.iter().filter_map(|node| nodes.get(node));
        let of_nodes = members.flat_map(|node| node.ports.iter().map(|&port| Replica { rid: node.rid, port }));
        self.replicas = of_nodes.chain(self.own.iter().copied()).collect();
    }
}

#[derive(Clone)]
struct Node {
    rid: u64,
    ports: Vec<u32>,
}

/// All groups and sessions of a switch.
#[derive(Clone, Default)]
pub struct Replication {
    groups: BTreeMap<u64, Group>,
    nodes: BTreeMap<u32, Node>,
    /// Handles below the greatest in use that no node has.
    free_handles: BTreeSet<u32>,
    sessions: BTreeMap<u32, (CloneTarget, CloneProperties)>,
}

impl Replication {
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

    /// The nodes of a group in the order in which they came into it, each with its handle, and last what the group has
    /// without a node.
    pub fn nodes(&self, group: u64) -> impl Iterator<Item = (Option<u32>, u64, Vec<u32>)> {
        let group = self.groups.get(&group);
        let of_nodes = group
            .into_iter()
            .flat_map(|group| &group.nodes)
            .filter_map(|handle| self.nodes.get(handle).map(|node| (Some(*handle), node.rid, node.ports.clone())));
        let own = group.map_or(&[][..], |group| &group.own);
        of_nodes.chain(
            own.chunk_by(|one, other| one.rid == other.rid)
                .map(|replicas| (None, replicas[0].rid, replicas.iter().map(|replica| replica.port).collect())),
        )
    }

    /// The ports that copies go to, also those of nodes that are in no group.
    pub fn ports(&self) -> impl Iterator<Item = u32> {
        let of_nodes = self.nodes.values().flat_map(|node| node.ports.iter().copied());
        let of_groups = self.groups.values().flat_map(|group| &group.own);
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
        self.groups.insert(group, Group { nodes: Vec::new(), own: replicas.clone(), replicas });
        Ok(())
    }

    /// Makes an empty group.
    pub fn create_group(&mut self, group: u64) -> Result<(), ReplicationError> {
        if self.groups.contains_key(&group) {
            return Err(ReplicationError::GroupExists(group));
        }
        limit(self.groups.len(), "multicast groups")?;
        self.groups.insert(group, Group::default());
        Ok(())
    }

    /// Removes a group. Its nodes stay.
    pub fn destroy_group(&mut self, group: u64) -> Result<(), ReplicationError> {
        self.groups.remove(&group).map(|_| ()).ok_or(ReplicationError::NoGroup(group))
    }

    /// Makes a node and returns its handle, the least that is free.
    pub fn create_node(&mut self, rid: u64, ports: &[u32]) -> Result<u32, ReplicationError> {
        limit(self.nodes.len(), "multicast nodes")?;
        // A handle that was given back is below all that were never given.
        let handle = self.free_handles.pop_first().unwrap_or(self.nodes.len() as u32);
        self.nodes.insert(handle, Node { rid, ports: sorted(ports)? });
        Ok(handle)
    }

    /// Changes a node's ports.
    pub fn update_node(&mut self, node: u32, ports: &[u32]) -> Result<(), ReplicationError> {
        self.nodes.get_mut(&node).ok_or(ReplicationError::NoNode(node))?.ports = sorted(ports)?;
        for group in self.groups.values_mut().filter(|group| group.nodes.contains(&node)) {
            group.refresh(&self.nodes);
        }
        Ok(())
    }

    /// Removes a node from its groups and for good.
    pub fn destroy_node(&mut self, node: u32) -> Result<(), ReplicationError> {
        self.nodes.remove(&node).ok_or(ReplicationError::NoNode(node))?;
        self.free_handles.insert(node);
        for group in self.groups.values_mut().filter(|group| group.nodes.contains(&node)) {
            group.nodes.retain(|&member| member != node);
            group.refresh(&self.nodes);
        }
        Ok(())
    }

    /// Puts a node into a group.
    pub fn associate_node(&mut self, group: u64, node: u32) -> Result<(), ReplicationError> {
        if !self.nodes.contains_key(&node) {
            return Err(ReplicationError::NoNode(node));
        }
        let found = self.groups.get_mut(&group).ok_or(ReplicationError::NoGroup(group))?;
        if found.nodes.contains(&node) {
            return Err(ReplicationError::NodeAssociated(node, group));
        }
        found.nodes.push(node);
        found.refresh(&self.nodes);
        Ok(())
    }

    /// Takes a node out of a group.
    pub fn dissociate_node(&mut self, group: u64, node: u32) -> Result<(), ReplicationError> {
        let found = self.groups.get_mut(&group).ok_or(ReplicationError::NoGroup(group))?;
        let position = found.nodes.iter().position(|&member| member == node);
        found.nodes.remove(position.ok_or(ReplicationError::NodeNotAssociated(node, group))?);
        found.refresh(&self.nodes);
        Ok(())
    }

    /// Makes or changes a clone session.
    pub fn set_session(&mut self, session: u32, target: CloneTarget) -> Result<(), ReplicationError> {
        self.set_session_with(session, target, CloneProperties::default())
    }

    /// The same, with what the clones are like.
    pub fn set_session_with(
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

/// Ports ascending, each once.
fn sorted(ports: &[u32]) -> Result<Vec<u32>, ReplicationError> {
    limit(ports.len(), "ports of a multicast node")?;
    let mut ports = ports.to_vec();
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_follow_the_order_of_association() {
        let mut it = Replication::default();
        it.create_group(5).unwrap();
        let first = it.create_node(10, &[3, 1, 1]).unwrap();
        let second = it.create_node(20, &[2]).unwrap();
        it.associate_node(5, second).unwrap();
        it.associate_node(5, first).unwrap();
        let list =
            |it: &Replication| it.replicas(Destination::Group(5)).iter().map(|r| (r.rid, r.port)).collect::<Vec<_>>();
        assert_eq!(list(&it), [(20, 2), (10, 1), (10, 3)]);
        it.update_node(first, &[7]).unwrap();
        assert_eq!(list(&it), [(20, 2), (10, 7)]);
        it.destroy_node(second).unwrap();
        assert_eq!(list(&it), [(10, 7)]);
        // The handle that was given back is the first to be given again.
        assert_eq!(it.create_node(30, &[]), Ok(1));
        assert_eq!(it.create_node(40, &[]), Ok(2));
    }

    #[test]
    fn a_group_keeps_its_own_replicas_beside_those_of_nodes() {
        let mut it = Replication::default();
        it.set_group(5, vec![Replica { rid: 1, port: 9 }]).unwrap();
        let node = it.create_node(2, &[4]).unwrap();
        it.associate_node(5, node).unwrap();
        let ports: Vec<u32> = it.replicas(Destination::Group(5)).iter().map(|replica| replica.port).collect();
        assert_eq!(ports, [4, 9]);
        it.set_session(1, CloneTarget::Group(5)).unwrap();
        assert_eq!(it.replicas(Destination::Session(1)), it.replicas(Destination::Group(5)));
    }

    #[test]
    fn wrong_requests_are_refused() {
        let mut it = Replication::default();
        assert_eq!(it.associate_node(1, 0), Err(ReplicationError::NoNode(0)));
        let node = it.create_node(1, &[1]).unwrap();
        assert_eq!(it.associate_node(1, node), Err(ReplicationError::NoGroup(1)));
        it.create_group(1).unwrap();
        assert_eq!(it.create_group(1), Err(ReplicationError::GroupExists(1)));
        it.associate_node(1, node).unwrap();
        assert_eq!(it.associate_node(1, node), Err(ReplicationError::NodeAssociated(0, 1)));
        assert_eq!(it.set_session(40_000, CloneTarget::Group(1)), Err(ReplicationError::SessionTooHigh(40_000)));
        assert_eq!(it.delete_session(1), Err(ReplicationError::NoSession(1)));
        assert!(it.replicas(Destination::Group(99)).is_empty());
    }
}
