//! The limbs of a value: in place if they are few, as those of nearly all values are.
//!
//! What enters: how many limbs there are, and each of them, the lowest first. What leaves: the same as a slice. An
//! interpreter makes some hundred values for a packet, and none of up to 128 bits needs memory of its own.

use std::ops::{Deref, DerefMut};

/// The most limbs that are kept in place.
const FEW: usize = 2;

/// Limbs, the lowest first. The representation follows from their number alone, and those in place that are not used
/// are zero, so equal limbs have equal representations.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Limbs {
    Few { count: u8, limbs: [u64; FEW] },
    Many(Box<[u64]>),
}

impl Limbs {
    /// All of them zero.
    #[inline]
    pub(super) fn zero(count: usize) -> Limbs {
        match count {
            0..=FEW => Limbs::Few { count: count as u8, limbs: [0; FEW] },
            _ => Limbs::Many(vec![0; count].into()),
        }
    }

    /// The first limbs of an iterator; zero where it has none.
    #[inline]
    pub(super) fn of(count: usize, from: impl IntoIterator<Item = u64>) -> Limbs {
        let mut limbs = Limbs::zero(count);
        limbs.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        limbs
    }
}

impl Deref for Limbs {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Limbs::Few { count, limbs } => &limbs[..usize::from(*count)],
            Limbs::Many(limbs) => limbs,
        }
    }
}

impl DerefMut for Limbs {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Limbs::Few { count, limbs } => &mut limbs[..usize::from(*count)],
            Limbs::Many(limbs) => limbs,
        }
    }
}
