//! Typed indices and dense maps.
//!
//! Entities (headers, tables, states, ...) refer to one another by typed 32-bit indices instead of pointers: an index
//! has half the size and no lifetime, it can be printed, and an index of one kind cannot be used for another.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index into an [`IndexVec`].
pub trait Id: Copy + Eq + Ord + std::fmt::Debug {
    /// The index with this position.
    fn from_index(index: usize) -> Self;
    /// The position of this index.
    fn index(self) -> usize;
}

/// Declares index types: `entity_id! { /// A table. pub struct TableId = "table"; }`. The string is the prefix that
/// the index prints with (`table3`).
#[macro_export]
macro_rules! entity_id {
    ($($(#[$meta:meta])* pub struct $name:ident = $prefix:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::index::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entities of one kind"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

/// A vector addressed by a typed index.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IndexVec<I, T> {
    /// An empty vector.
    pub fn new() -> Self {
        Self { items: Vec::new(), marker: PhantomData }
    }

    /// Appends `item` and returns its index.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The index that the next `push` returns.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// The item at `id`, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The indices in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Index and item, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T: std::fmt::Debug> std::fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter_enumerated()).finish()
    }
}

impl<I: Id, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { items: items.into_iter().collect(), marker: PhantomData }
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// A map from typed indices, for objects of a program: most have a value, so a vector holds them.
#[derive(Clone, Debug)]
pub struct IndexMap<I, T> {
    slots: Vec<Option<T>>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IndexMap<I, T> {
    /// The value of an index.
    pub fn get(&self, id: I) -> Option<&T> {
        self.slots.get(id.index())?.as_ref()
    }

    /// Indices and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| Some((I::from_index(index), slot.as_ref()?)))
    }
}

impl<I, T> Default for IndexMap<I, T> {
    fn default() -> Self {
        IndexMap { slots: Vec::new(), marker: PhantomData }
    }
}

impl<I: Id, T> FromIterator<(I, T)> for IndexMap<I, T> {
    fn from_iter<It: IntoIterator<Item = (I, T)>>(pairs: It) -> Self {
        let mut map = IndexMap::default();
        for (id, value) in pairs {
            if map.slots.len() <= id.index() {
                map.slots.resize_with(id.index() + 1, || None);
            }
            map.slots[id.index()] = Some(value);
        }
        map
    }
}
