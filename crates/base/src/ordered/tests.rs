//! Ordered maps and sets against those of `std`: random operations on both, and the same results.

use super::{Entry, OrderedMap, OrderedSet};
use crate::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Large values, so that a few hundred entries take many pieces.
type Value = [u64; 40];

fn value(number: u64) -> Value {
    [number; 40]
}

/// Random operations do what they do with a B-tree.
#[test]
fn random_operations() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (mut ours, mut theirs) = (OrderedMap::new(), BTreeMap::new());
        for step in 0..2_000 {
            let key = rng.below(if seed < 10 { 60 } else { 600 });
            match rng.below(12) {
                0..4 => assert_eq!(ours.insert(key, value(step)), theirs.insert(key, value(step))),
                4..7 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
                7 => assert_eq!(ours.pop_first(), theirs.pop_first()),
                8 => {
                    *ours.entry(key).or_insert(value(0)) =
                        *theirs.entry(key).and_modify(|it| it[0] += 1).or_insert(value(0))
                }
                9 => match ours.entry(key) {
                    Entry::Occupied(entry) => assert_eq!(Some(entry.remove()), theirs.remove(&key)),
                    Entry::Vacant(_) => assert!(!theirs.contains_key(&key)),
                },
                10 if rng.chance(1, 2) => assert_eq!(ours.pop_last(), theirs.pop_last()),
                10 => assert_eq!(ours.get_mut(&key), theirs.get_mut(&key)),
                _ => assert_eq!(ours.get(&key), theirs.get(&key)),
            }
            if rng.chance(1, 200) {
                let factor = rng.between(2, 5);
                ours.retain(|key, _| !key.is_multiple_of(factor));
                theirs.retain(|key, _| !key.is_multiple_of(factor));
            }
            if step.is_multiple_of(20) {
                same(&ours, &theirs);
                same_ranges(&ours, &theirs, &mut rng);
            }
        }
    }
}

fn same(ours: &OrderedMap<u64, Value>, theirs: &BTreeMap<u64, Value>) {
    assert_eq!(ours.len(), theirs.len());
    assert!(ours.iter().eq(theirs.iter()));
    assert!(ours.iter().rev().eq(theirs.iter().rev()));
    assert!(ours.clone().into_iter().eq(theirs.clone()));
    assert_eq!(ours.first_key_value(), theirs.first_key_value());
    assert_eq!(ours.last_key_value(), theirs.last_key_value());
    assert_eq!(ours.iter().len(), theirs.len());
    assert!(ours.pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= OrderedMap::<u64, Value>::PIECE_LEN));
}

fn same_ranges(ours: &OrderedMap<u64, Value>, theirs: &BTreeMap<u64, Value>, rng: &mut Rng) {
    let (low, high) = (rng.below(300), rng.between(300, 620));
    let starts = [Bound::Unbounded, Bound::Included(low), Bound::Excluded(low)];
    let ends = [Bound::Unbounded, Bound::Included(high), Bound::Excluded(high)];
    for bounds in starts.iter().flat_map(|start| ends.iter().map(move |end| (*start, *end))) {
        assert!(ours.range(bounds).eq(theirs.range(bounds)), "{bounds:?}");
        assert!(ours.range(bounds).rev().eq(theirs.range(bounds).rev()), "{bounds:?}");
        assert_eq!(ours.range(bounds).len(), theirs.range(bounds).count());
        let mut both_ends = ours.range(bounds);
        let (first, last) = (both_ends.next(), both_ends.next_back());
        assert_eq!(first, theirs.range(bounds).next());
        assert!(last.is_none() || last == theirs.range(bounds).next_back());
    }
    assert!(ours.range(high..low).eq([]));
}

/// Keys that come in their order fill the pieces.
#[test]
fn keys_in_order_fill_pieces() {
    let map: OrderedMap<u64, Value> = (0..1_000).map(|key| (key, value(key))).collect();
    let full = OrderedMap::<u64, Value>::PIECE_LEN;
    assert_eq!(map.pieces.len(), 1_000usize.div_ceil(full));
}

#[test]
fn sets() {
    let mut ours = OrderedSet::from([3, 1, 2]);
    assert!(ours.insert(5) && !ours.insert(5) && ours.remove(&1) && !ours.remove(&1));
    assert!(ours.iter().eq(&BTreeSet::from([2, 3, 5])));
    assert!(ours.range(3..).rev().eq(&[5, 3]));
    let other = OrderedSet::from([3, 4]);
    assert!(ours.difference(&other).eq(&[2, 5]));
    assert!(ours.intersection(&other).eq(&[3]) && !ours.is_disjoint(&other));
    assert_eq!((ours.first(), ours.last(), ours.contains(&3)), (Some(&2), Some(&5), true));
    assert!(ours.into_iter().eq([2, 3, 5]));
}
