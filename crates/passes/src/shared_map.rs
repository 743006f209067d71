//! Persistent maps from indices to values that share common parts: analyses copy their state at every branch, and
//! compare the copies where the paths join. A copy has constant cost, a change costs the depth of the map, and a
//! comparison the size of the difference; with plain maps a program of many branches would take time that grows with
//! its square.

use std::rc::Rc;

/// Entries of a node, as bits of the index.
const NODE_BITS: u32 = 4;
const NODE_ENTRIES: usize = 1 << NODE_BITS;

/// Combines two entries; the first argument is their index.
pub(crate) type Join<'j, V> = dyn FnMut(usize, Option<&V>, Option<&V>) -> Option<V> + 'j;

/// A map from the indices below a bound.
#[derive(Clone)]
pub(crate) struct SharedMap<V> {
    root: Option<Rc<Node<V>>>,
    /// Levels of nodes above the leaves.
    levels: u32,
}

#[derive(Clone)]
enum Node<V> {
    Inner([Option<Rc<Node<V>>>; NODE_ENTRIES]),
    Leaf([Option<V>; NODE_ENTRIES]),
}

impl<V: Clone> Node<V> {
    fn new(level: u32) -> Node<V> {
        match level {
            0 => Node::Leaf(std::array::from_fn(|_| None)),
            _ => Node::Inner(std::array::from_fn(|_| None)),
        }
    }
}

/// The entry of a node at this level that leads to an index.
fn entry(index: usize, level: u32) -> usize {
    (index >> (level * NODE_BITS)) % NODE_ENTRIES
}

impl<V: Clone> SharedMap<V> {
    /// An empty map for indices below `bound`.
    pub fn new(bound: usize) -> SharedMap<V> {
        let mut levels = 0;
        while bound > 1 << ((levels + 1) * NODE_BITS) {
            levels += 1;
        }
        SharedMap { root: None, levels }
    }

    pub fn get(&self, index: usize) -> Option<&V> {
        let mut node = self.root.as_deref()?;
        let mut level = self.levels;
        loop {
            match node {
                Node::Leaf(values) => return values[entry(index, 0)].as_ref(),
                Node::Inner(nodes) => node = nodes[entry(index, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    /// Sets or removes a value.
    pub fn set(&mut self, index: usize, value: Option<V>) {
        if value.is_none() && self.get(index).is_none() {
            return;
        }
        let mut level = self.levels;
        let mut node = self.root.get_or_insert_with(|| Rc::new(Node::new(level)));
        loop {
            match Rc::make_mut(node) {
                Node::Leaf(values) => {
                    values[entry(index, 0)] = value;
                    return;
                }
                Node::Inner(nodes) => {
                    let next = &mut nodes[entry(index, level)];
                    level -= 1;
                    node = next.get_or_insert_with(|| Rc::new(Node::new(level)));
                }
            }
        }
    }

    /// Replaces each entry that may differ between the two maps by the result of `join`. Both maps have the same bound.
    /// Shared parts do not change: `join` must return an entry that is the same in both.
    pub fn meet(&mut self, other: &SharedMap<V>, join: &mut Join<'_, V>) {
        debug_assert_eq!(self.levels, other.levels, "maps of the same bound");
        meet(&mut self.root, other.root.as_ref(), self.levels, 0, join);
    }
}

fn meet<V: Clone>(
    node: &mut Option<Rc<Node<V>>>,
    other: Option<&Rc<Node<V>>>,
    level: u32,
    start: usize,
    join: &mut Join<'_, V>,
) {
    match (&*node, other) {
        (None, None) => return,
        (Some(here), Some(there)) if Rc::ptr_eq(here, there) => return,
        _ => {}
    }
    match Rc::make_mut(node.get_or_insert_with(|| Rc::new(Node::new(level)))) {
        Node::Leaf(values) => {
            for (at, value) in values.iter_mut().enumerate() {
                let there = match other.map(|other| &**other) {
                    Some(Node::Leaf(values)) => values[at].as_ref(),
                    _ => None,
                };
                if value.is_some() || there.is_some() {
                    *value = join(start + at, value.as_ref(), there);
                }
            }
        }
        Node::Inner(nodes) => {
            for (at, node) in nodes.iter_mut().enumerate() {
                let there = match other.map(|other| &**other) {
                    Some(Node::Inner(nodes)) => nodes[at].as_ref(),
                    _ => None,
                };
                meet(node, there, level - 1, start + (at << (level * NODE_BITS)), join);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_had() {
        let mut map = SharedMap::new(5000);
        map.set(3, Some('a'));
        map.set(4999, Some('b'));
        let copy = map.clone();
        map.set(3, Some('c'));
        map.set(4999, None);
        map.set(77, None);
        let of = |map: &SharedMap<char>| [3, 77, 4999].map(|index| map.get(index).copied());
        assert_eq!((of(&map), of(&copy)), ([Some('c'), None, None], [Some('a'), None, Some('b')]));
    }

    #[test]
    fn only_what_differs_is_joined() {
        for bound in [16, 17, 300, 5000] {
            let mut base = SharedMap::new(bound);
            for index in 0..bound {
                base.set(index, Some(index));
            }
            let (mut left, mut right) = (base.clone(), base.clone());
            left.set(1, Some(100));
            right.set(1, Some(200));
            right.set(bound - 1, None);
            let mut seen = Vec::new();
            left.meet(&right, &mut |index, left, right| {
                if left == right {
                    return left.copied();
                }
                seen.push(index);
                None
            });
            assert_eq!(seen, [1, bound - 1]);
            let kept: Vec<usize> = (0..bound).filter(|&index| left.get(index) == Some(&index)).collect();
            assert_eq!(kept.len(), bound - 2, "{bound}");
            assert_eq!(left.get(1), None);
        }
    }
}
