//! Ordered maps and sets.
//!
//! They do what `std`'s `BTreeMap` and `BTreeSet` do, and their methods have the same names. The difference is the time
//! that the compiler needs: it makes up to fifteen kilobytes of machine code of a B-tree for each pair of types, which
//! was a fifth of the code of all crates. Here a map is a sorted vector in pieces of at most 8 KiB, which takes a few
//! kilobytes of code. A lookup is two binary searches; an insertion moves half a piece at most. Maps that `serde` or
//! `prost` reads or writes are B-trees still.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, Index, RangeBounds};
use std::slice;
use std::vec;

/// Bytes of a piece at most, as far as entries are not larger.
const PIECE_BYTES: usize = 8 << 10;

/// A map whose entries are ordered by key.
#[derive(Clone)]
pub struct OrderedMap<K, V> {
    /// Sorted entries in pieces, none of which is empty.
    pieces: Vec<Vec<(K, V)>>,
    len: usize,
}

/// The place of an entry, or where it would be: a piece and an index in it.
#[derive(Clone, Copy)]
struct Place {
    piece: usize,
    index: usize,
}

impl<K, V> OrderedMap<K, V> {
    /// The entries of a full piece.
    const PIECE_LEN: usize = match size_of::<(K, V)>() {
        0 => PIECE_BYTES,
        bytes if PIECE_BYTES / bytes < 8 => 8,
        bytes => PIECE_BYTES / bytes,
    };

    /// A map without entries.
    pub const fn new() -> Self {
        OrderedMap { pieces: Vec::new(), len: 0 }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// All entries, in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { front: [].iter(), pieces: self.pieces.iter(), back: [].iter(), len: self.len }
    }

    /// The same, with values that can be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        self.pieces.iter_mut().flatten().map(|(key, value)| (&*key, value))
    }

    /// All keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The same values, which can be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.pieces.iter_mut().flatten().map(|(_, value)| value)
    }

    /// All keys, without the map.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> {
        self.into_iter().map(|(key, _)| key)
    }

    /// All values, without the map.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// The entry with the least key.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.pieces.first()?.first().map(|(key, value)| (key, value))
    }

    /// The entry with the greatest key.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.pieces.last()?.last().map(|(key, value)| (key, value))
    }

    /// Takes the entry with the least key.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.take(Place { piece: 0, index: 0 }))
    }

    /// Takes the entry with the greatest key.
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        let piece = self.pieces.len().checked_sub(1)?;
        Some(self.take(Place { piece, index: self.pieces[piece].len() - 1 }))
    }

    /// Keeps the entries that are to stay.
    pub fn retain(&mut self, mut stays: impl FnMut(&K, &mut V) -> bool) {
        self.pieces.iter_mut().for_each(|piece| piece.retain_mut(|(key, value)| stays(key, value)));
        self.pieces.retain(|piece| !piece.is_empty());
        self.len = self.pieces.iter().map(Vec::len).sum();
    }

    fn at(&self, place: Place) -> &(K, V) {
        &self.pieces[place.piece][place.index]
    }

    fn at_mut(&mut self, place: Place) -> &mut (K, V) {
        &mut self.pieces[place.piece][place.index]
    }

    /// Puts an entry where its key belongs, and returns the place, which may be in another piece by then.
    fn put(&mut self, place: Place, entry: (K, V)) -> Place {
        self.len += 1;
        let Place { piece, index } = place;
        let is_last = piece + 1 >= self.pieces.len();
        match self.pieces.get_mut(piece) {
            None => {
                self.pieces.push(vec![entry]);
                Place { piece, index: 0 }
            }
            // Keys that come in their order leave full pieces behind them.
            Some(full) if full.len() >= Self::PIECE_LEN && is_last && index == full.len() => {
                self.pieces.push(vec![entry]);
                Place { piece: piece + 1, index: 0 }
            }
            Some(full) if full.len() >= Self::PIECE_LEN => {
                let half = full.len() / 2;
                let mut second = full.split_off(half);
                let place = if index <= half { place } else { Place { piece: piece + 1, index: index - half } };
                match index <= half {
                    true => full.insert(index, entry),
                    false => second.insert(index - half, entry),
                }
                self.pieces.insert(piece + 1, second);
                place
            }
            Some(entries) => {
                entries.insert(index, entry);
                place
            }
        }
    }

    /// Takes an entry out. Pieces that have become small are joined.
    fn take(&mut self, place: Place) -> (K, V) {
        self.len -= 1;
        let Place { piece, index } = place;
        let entry = self.pieces[piece].remove(index);
        let left = self.pieces[piece].len();
        if left == 0 {
            self.pieces.remove(piece);
        } else if left < Self::PIECE_LEN / 4
            && self.pieces.get(piece + 1).is_some_and(|next| left + next.len() <= Self::PIECE_LEN / 2)
        {
            let mut next = self.pieces.remove(piece + 1);
            self.pieces[piece].append(&mut next);
        }
        entry
    }
}

impl<K: Ord, V> OrderedMap<K, V> {
    /// The place of a key, if it has an entry, or else where it belongs: within a piece or at its end.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        let begins = |piece: &Vec<(K, V)>| piece.first().is_some_and(|(first, _)| first.borrow() <= key);
        // Keys that come in their order belong to the end.
        let after = match self.pieces.last() {
            Some(last) if begins(last) => self.pieces.len(),
            _ => self.pieces.partition_point(begins),
        };
        let piece = after.saturating_sub(1);
        let Some(entries) = self.pieces.get(piece) else { return Err(Place { piece, index: 0 }) };
        match entries.binary_search_by(|(other, _)| other.borrow().cmp(key)) {
            Ok(index) => Ok(Place { piece, index }),
            Err(index) => Err(Place { piece, index }),
        }
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| &self.at(place).1)
    }

    /// The value of a key, which can be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| &mut self.at_mut(place).1)
    }

    /// Whether a key has an entry.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives a key this value, and returns the one that it had. The key that was there stays.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.at_mut(place).1, value)),
            Err(place) => {
                self.put(place, (key, value));
                None
            }
        }
    }

    /// Removes a key, and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|place| self.take(place).1)
    }

    /// The entry of a key, which need not exist.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.place(&key) {
            Ok(place) => Entry::Occupied(OccupiedEntry { map: self, place }),
            Err(place) => Entry::Vacant(VacantEntry { map: self, place, key }),
        }
    }

    /// Entries whose keys are in a range.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let start = match range.start_bound() {
            Bound::Unbounded => Place { piece: 0, index: 0 },
            Bound::Included(key) => self.before(key, false),
            Bound::Excluded(key) => self.before(key, true),
        };
        let end = match range.end_bound() {
            Bound::Unbounded => Place { piece: self.pieces.len(), index: 0 },
            Bound::Included(key) => self.before(key, true),
            Bound::Excluded(key) => self.before(key, false),
        };
        self.between(start, end)
    }

    /// The place of the first entry that is not less than a key, or, with `beyond`, greater.
    fn before<Q: Ord + ?Sized>(&self, key: &Q, beyond: bool) -> Place
    where
        K: Borrow<Q>,
    {
        match self.place(key) {
            Ok(Place { piece, index }) => Place { piece, index: index + usize::from(beyond) },
            Err(place) => place,
        }
    }
}

impl<K, V> OrderedMap<K, V> {
    /// The entries from one place to before another. A place may be at the end of its piece.
    fn between(&self, start: Place, end: Place) -> Iter<'_, K, V> {
        if (start.piece, start.index) >= (end.piece, end.index) {
            return Iter { front: [].iter(), pieces: [].iter(), back: [].iter(), len: 0 };
        }
        let first = &self.pieces[start.piece][start.index..];
        if start.piece == end.piece {
            let front = &first[..end.index - start.index];
            return Iter { len: front.len(), front: front.iter(), pieces: [].iter(), back: [].iter() };
        }
        let pieces = &self.pieces[start.piece + 1..end.piece];
        let last = self.pieces.get(end.piece).map_or(&[][..], |piece| &piece[..end.index]);
        let len = first.len() + pieces.iter().map(Vec::len).sum::<usize>() + last.len();
        Iter { front: first.iter(), pieces: pieces.iter(), back: last.iter(), len }
    }
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OrderedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for OrderedMap<K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for OrderedMap<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other.iter())
    }
}

impl<K: Ord, V: Ord> Ord for OrderedMap<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<K: Borrow<Q> + Ord, Q: Ord + ?Sized, V> Index<&Q> for OrderedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key has an entry")
    }
}

impl<K: Ord, V> Extend<(K, V)> for OrderedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = OrderedMap::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for OrderedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for OrderedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::iter::Flatten<vec::IntoIter<Vec<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.pieces.into_iter().flatten()
    }
}

impl<'a, K, V> IntoIterator for &'a OrderedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut OrderedMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

/// Entries of a map whose values can be changed.
pub type IterMut<'a, K, V> =
    std::iter::Map<std::iter::Flatten<slice::IterMut<'a, Vec<(K, V)>>>, fn(&'a mut (K, V)) -> (&'a K, &'a mut V)>;

/// Entries of a map.
pub struct Iter<'a, K, V> {
    front: slice::Iter<'a, (K, V)>,
    pieces: slice::Iter<'a, Vec<(K, V)>>,
    back: slice::Iter<'a, (K, V)>,
    len: usize,
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { front: self.front.clone(), pieces: self.pieces.clone(), back: self.back.clone(), len: self.len }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let entry = loop {
            if let Some(entry) = self.front.next() {
                break entry;
            }
            match self.pieces.next() {
                Some(piece) => self.front = piece.iter(),
                None => break self.back.next()?,
            }
        };
        self.len -= 1;
        Some((&entry.0, &entry.1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let entry = loop {
            if let Some(entry) = self.back.next_back() {
                break entry;
            }
            match self.pieces.next_back() {
                Some(piece) => self.back = piece.iter(),
                None => break self.front.next_back()?,
            }
        };
        self.len -= 1;
        Some((&entry.0, &entry.1))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// The entry of a key: there, or not yet.
pub enum Entry<'a, K, V> {
    /// The key has an entry.
    Occupied(OccupiedEntry<'a, K, V>),
    /// It has none.
    Vacant(VacantEntry<'a, K, V>),
}

/// An entry that is there.
pub struct OccupiedEntry<'a, K, V> {
    map: &'a mut OrderedMap<K, V>,
    place: Place,
}

/// An entry that can be made.
pub struct VacantEntry<'a, K, V> {
    map: &'a mut OrderedMap<K, V>,
    place: Place,
    key: K,
}

impl<'a, K, V> Entry<'a, K, V> {
    /// The value, which is made if there is none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(make()),
        }
    }

    /// The value, which is this one if there is none.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value, which is its type's default if there is none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// The value.
    pub fn get(&self) -> &V {
        &self.map.at(self.place).1
    }

    /// The value, which can be changed.
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.at_mut(self.place).1
    }

    /// The value, as long as the map is borrowed.
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.at_mut(self.place).1
    }

    /// Removes the entry, and returns its value.
    pub fn remove(self) -> V {
        self.map.take(self.place).1
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    /// Makes the entry.
    pub fn insert(self, value: V) -> &'a mut V {
        let place = self.map.put(self.place, (self.key, value));
        &mut self.map.at_mut(place).1
    }
}

/// A set whose members are ordered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderedSet<T>(OrderedMap<T, ()>);

impl<T> OrderedSet<T> {
    /// A set without members.
    pub const fn new() -> Self {
        OrderedSet(OrderedMap::new())
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All members, in their order.
    pub fn iter(&self) -> SetIter<'_, T> {
        SetIter(self.0.iter())
    }

    /// The least member.
    pub fn first(&self) -> Option<&T> {
        self.0.first_key_value().map(|(member, ())| member)
    }

    /// The greatest member.
    pub fn last(&self) -> Option<&T> {
        self.0.last_key_value().map(|(member, ())| member)
    }

    /// Takes the least member.
    pub fn pop_first(&mut self) -> Option<T> {
        self.0.pop_first().map(|(member, ())| member)
    }

    /// Takes the greatest member.
    pub fn pop_last(&mut self) -> Option<T> {
        self.0.pop_last().map(|(member, ())| member)
    }

    /// Keeps the members that are to stay.
    pub fn retain(&mut self, mut stays: impl FnMut(&T) -> bool) {
        self.0.retain(|member, ()| stays(member));
    }
}

impl<T: Ord> OrderedSet<T> {
    /// Adds a member; whether it was not there before.
    pub fn insert(&mut self, member: T) -> bool {
        self.0.insert(member, ()).is_none()
    }

    /// Removes a member; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, member: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(member).is_some()
    }

    /// Whether this is a member.
    pub fn contains<Q: Ord + ?Sized>(&self, member: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(member)
    }

    /// Members in a range.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> SetIter<'_, T>
    where
        T: Borrow<Q>,
    {
        SetIter(self.0.range(range))
    }

    /// Members that the other set does not have.
    pub fn difference<'a>(&'a self, other: &'a OrderedSet<T>) -> impl Iterator<Item = &'a T> {
        self.iter().filter(|member| !other.contains(*member))
    }

    /// Whether the sets have no member in common.
    pub fn is_disjoint(&self, other: &OrderedSet<T>) -> bool {
        self.intersection(other).next().is_none()
    }

    /// Members that both sets have.
    pub fn intersection<'a>(&'a self, other: &'a OrderedSet<T>) -> impl Iterator<Item = &'a T> {
        self.iter().filter(|member| other.contains(*member))
    }
}

impl<T> Default for OrderedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OrderedSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<T: Ord> Extend<T> for OrderedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, members: I) {
        for member in members {
            self.insert(member);
        }
    }
}

impl<'a, T: Ord + Copy + 'a> Extend<&'a T> for OrderedSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, members: I) {
        self.extend(members.into_iter().copied());
    }
}

impl<T: Ord> FromIterator<T> for OrderedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Self {
        let mut set = OrderedSet::new();
        set.extend(members);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for OrderedSet<T> {
    fn from(members: [T; N]) -> Self {
        members.into_iter().collect()
    }
}

impl<T> IntoIterator for OrderedSet<T> {
    type Item = T;
    type IntoIter = std::iter::Map<<OrderedMap<T, ()> as IntoIterator>::IntoIter, fn((T, ())) -> T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(member, ())| member)
    }
}

impl<'a, T> IntoIterator for &'a OrderedSet<T> {
    type Item = &'a T;
    type IntoIter = SetIter<'a, T>;

    fn into_iter(self) -> SetIter<'a, T> {
        self.iter()
    }
}

/// Members of a set.
pub struct SetIter<'a, T>(Iter<'a, T, ()>);

impl<T> Clone for SetIter<'_, T> {
    fn clone(&self) -> Self {
        SetIter(self.0.clone())
    }
}

impl<'a, T> Iterator for SetIter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|(member, ())| member)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(member, ())| member)
    }
}

impl<T> ExactSizeIterator for SetIter<'_, T> {}

#[cfg(test)]
mod tests;
