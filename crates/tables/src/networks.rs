//! The engine of lpm tables with exact fields, whose keys are one word of more than 32 bits: routes of many networks.
//!
//! The exact fields of a key are its network here. Up to [`NEAR_MAX`] networks, the first of a table, have a trie of
//! [`crate::flat`] each, whose strings are the lpm field alone. Entries of all others are in one trie of
//! [`crate::lpm`], which takes little memory for a network of few entries. A lookup compares networks before it reads a
//! trie: the first steps of a trie of all bits would be the same for all entries of a network.
//!
//! A network stays where its first entry was put until it has none. So no entry is ever moved, and a key is looked up
//! in one trie alone.
//!
//! The tail of a cell is that of [`crate::lpm`].

#![allow(unsafe_code, reason = "vector instructions need a processor that has them")]

use crate::abi::RootHandle;
use crate::cells::{Cell, Cells};
use crate::flat::{self, Tries};
#[cfg(target_arch = "x86_64")]
use crate::gather;
use crate::layout::{KeyField, KeyLayout};
use crate::lpm::{Lpm, Piece};
use crate::spec::TableKind;
use base::limits::BURST_PACKETS_MAX;
use base::{MatchKind, OrderedMap};

/// The most networks with a trie of their own, which takes 256 KiB.
const NEAR_MAX: usize = 8;

/// The engine.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// The bits of the exact fields in a key.
    exact_mask: u64,
    exact_bits: u32,
    /// The lpm field.
    piece: Piece,
    near: Vec<Network>,
    /// The entries of all other networks.
    far: Lpm<1>,
    /// Their numbers.
    far_entries: OrderedMap<u64, usize>,
}

/// A network with a trie of its own.
#[derive(Clone, Debug)]
struct Network {
    exact: u64,
    tries: Tries,
}

/// The lpm field, if the engine serves a table.
fn piece_of(kind: TableKind, key: &[KeyField], layout: &KeyLayout) -> Option<Piece> {
    let (_, slot) = key.iter().zip(layout.slots()).find(|(field, _)| field.kind == MatchKind::Lpm)?;
    let fits = (1..=flat::KEY_BITS_MAX).contains(&slot.width_bits);
    let serves = kind == TableKind::Lpm && layout.words() == 1 && fits && !flat::serves(kind, key);
    serves.then_some(Piece { word: 0, shift_bits: slot.shift_bits, width_bits: slot.width_bits })
}

impl Networks {
    /// An engine without entries for a table, if it is one that this engine serves.
    pub fn new(kind: TableKind, key: &[KeyField], layout: &KeyLayout) -> Option<Networks> {
        let piece = piece_of(kind, key, layout)?;
        let exact_bits = layout.bits() - piece.width_bits;
        let exact_mask = u64::MAX >> (64 - layout.bits()) & !(u64::MAX >> (64 - piece.width_bits) << piece.shift_bits);
        let far = Lpm::new(key, layout);
        Some(Networks { exact_mask, exact_bits, piece, near: Vec::new(), far, far_entries: OrderedMap::new() })
    }

    pub fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.far_entries.clear();
    }

    /// Prepares for `additional` more entries. To which networks they will belong is not known.
    pub fn reserve(&mut self, cells: &Cells, additional: usize) {
        if !self.far_entries.is_empty() {
            let (near, mask) = (&self.near, self.exact_mask);
            self.far.reserve(cells, additional, |cell| place_of(near, cells.tail(cell)[0] & mask).is_none());
        }
    }

    /// The bit string of the lpm field of an entry, and its length.
    fn prefix(&self, cells: &Cells, cell: Cell) -> (u32, u32) {
        let tail = cells.tail(cell);
        let string = (tail[0] >> self.piece.shift_bits) << (32 - self.piece.width_bits);
        (string as u32, tail[2] as u32 - self.exact_bits)
    }

    /// Adds a cell that is live and whose tail is set.
    pub fn insert(&mut self, cells: &Cells, cell: Cell) {
        let exact = cells.tail(cell)[0] & self.exact_mask;
        let (string, len) = self.prefix(cells, cell);
        let place = place_of(&self.near, exact).or_else(|| {
            let is_new = self.near.len() < NEAR_MAX && !self.far_entries.contains_key(&exact);
            is_new.then(|| {
                self.near.push(Network { exact, tries: Tries::new(self.piece.width_bits) });
                self.near.len() - 1
            })
        });
        if let Some(place) = place {
            return self.near[place].tries.insert(string, len, cell);
        }
        *self.far_entries.entry(exact).or_default() += 1;
        let (near, mask) = (&self.near, self.exact_mask);
        self.far.insert(cells, cell, |cell| place_of(near, cells.tail(cell)[0] & mask).is_none());
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &Cells, cell: Cell) {
        let exact = cells.tail(cell)[0] & self.exact_mask;
        let (string, len) = self.prefix(cells, cell);
        if let Some(place) = place_of(&self.near, exact) {
            let tries = &mut self.near[place].tries;
            tries.remove(string, len);
            if tries.len() == 0 {
                self.near.remove(place);
            }
            return;
        }
        self.far.remove(cells, cell);
        if let Some(count) = self.far_entries.get_mut(&exact) {
            *count -= 1;
            if *count == 0 {
                self.far_entries.remove(&exact);
            }
        }
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.near.iter().map(|network| network.tries.bytes()).sum::<usize>() + self.far.bytes()
    }

    /// Where a search begins, if that is far and the same for all networks.
    pub fn root_handle(&self) -> RootHandle {
        match &self.near[..] {
            [network] if self.far_entries.is_empty() => network.tries.root_handle(self.piece),
            _ => RootHandle::NONE,
        }
    }

    /// The tries with a network of their own.
    #[cfg(target_arch = "x86_64")]
    pub fn tries(&self) -> impl Iterator<Item = &Tries> {
        self.near.iter().map(|network| &network.tries)
    }

    /// The trie in which all these keys are looked up, if it is one, and the string in the keys.
    #[inline(always)]
    pub fn trie_of(&self, keys: &[u64]) -> Option<(&Tries, Piece)> {
        let exact = keys.first()? & self.exact_mask;
        let differ = keys.iter().fold(0, |all, key| all | (key & self.exact_mask ^ exact));
        let network = self.near.iter().find(|network| network.exact == exact)?;
        (differ == 0).then_some((&network.tries, self.piece))
    }

    /// Finds the cells of up to a burst of keys.
    #[inline(always)]
    pub fn find<const GATHERS: bool>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        match self.trie_of(keys) {
            Some((tries, piece)) => find_in::<GATHERS>(tries, piece, keys, found),
            None if keys.len() == 1 => self.far.find(cells, keys, found),
            None => self.find_mixed::<GATHERS>(cells, keys, found),
        }
    }

    /// The same for keys of several networks: those of each network in turn, then the rest.
    #[inline(always)]
    fn find_mixed<const GATHERS: bool>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let mut open = Batch::of(keys);
        for Network { exact, tries } in &self.near {
            let own = open.split(|key| key & self.exact_mask == *exact);
            own.answer(found, |keys, found| find_in::<GATHERS>(tries, self.piece, keys, found));
        }
        open.answer(found, |keys, found| self.far.find(cells, keys, found));
    }
}

/// The place of a network among those with a trie of their own.
fn place_of(near: &[Network], exact: u64) -> Option<usize> {
    near.iter().position(|network| network.exact == exact)
}

/// Finds keys in a trie.
#[inline(always)]
fn find_in<const GATHERS: bool>(tries: &Tries, piece: Piece, keys: &[u64], found: &mut [Cell]) {
    #[cfg(target_arch = "x86_64")]
    let done = match GATHERS {
        // SAFETY: only a function for processors with AVX2 gathers. The trie's slots lead to its nodes.
        true => unsafe { gather::find(&tries.slots(), piece, keys, found) },
        false => 0,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    tries.find(piece, &keys[done..], &mut found[done..]);
}

/// Some keys of a burst.
struct Batch {
    keys: [u64; BURST_PACKETS_MAX],
    /// Where they are in the burst.
    places: [u8; BURST_PACKETS_MAX],
    len: usize,
}

impl Batch {
    const NONE: Batch = Batch { keys: [0; BURST_PACKETS_MAX], places: [0; BURST_PACKETS_MAX], len: 0 };

    #[inline(always)]
    fn of(keys: &[u64]) -> Batch {
        let mut batch = Batch { len: keys.len(), ..Batch::NONE };
        batch.keys[..keys.len()].copy_from_slice(keys);
        batch.places.iter_mut().enumerate().for_each(|(index, place)| *place = index as u8);
        batch
    }

    /// Takes the keys out that are chosen.
    #[inline(always)]
    fn split(&mut self, is_chosen: impl Fn(u64) -> bool) -> Batch {
        let (mut chosen, mut left) = (Batch::NONE, 0);
        for index in 0..self.len {
            let (key, place) = (self.keys[index], self.places[index]);
            (chosen.keys[chosen.len], chosen.places[chosen.len]) = (key, place);
            (self.keys[left], self.places[left]) = (key, place);
            chosen.len += usize::from(is_chosen(key));
            left += usize::from(!is_chosen(key));
        }
        self.len = left;
        chosen
    }

    /// Finds the keys, and puts their cells where they are in the burst.
    #[inline(always)]
    fn answer(&self, found: &mut [Cell], find: impl Fn(&[u64], &mut [Cell])) {
        if self.len > 0 {
            let mut cells = [0; BURST_PACKETS_MAX];
            find(&self.keys[..self.len], &mut cells[..self.len]);
            for (place, cell) in self.places[..self.len].iter().zip(cells) {
                found[usize::from(*place)] = cell;
            }
        }
    }
}
