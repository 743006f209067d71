//! Whether the cases of a `select` cover all values of its keys.
//!
//! What enters: the width of each key, and what each case accepts of it. What leaves: whether there is a value that no
//! case accepts. Each case becomes cubes: bits that are cared for, and their values, over all keys side by side. The
//! cubes cover everything if those with a bit of 0 do and those with that bit of 1 do.

use crate::choices::Values;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

/// The most cubes of a `select`, and the most steps of the search. Beyond, everything counts as covered: a false alarm
/// is worse than silence.
const CUBES_MAX: usize = 4096;
const STEPS_MAX: usize = 100_000;

/// Values whose bits under the mask are those of `value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cube {
    value: BigInt,
    mask: BigInt,
}

/// The type of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyBits {
    pub width: u32,
    pub is_signed: bool,
}

/// Whether each value of the keys is accepted by a case. What takes too long to find out counts as covered.
pub(crate) fn cover_all(keys: &[KeyBits], cases: &[Vec<Values>]) -> bool {
    let mut cubes = Vec::new();
    for case in cases {
        let mut of_case = vec![Cube { value: BigInt::zero(), mask: BigInt::zero() }];
        for (key, values) in keys.iter().zip(case) {
            let of_key = cubes_of(*key, values);
            let joined = |before: &Cube, next: &Cube| Cube {
                value: (&before.value << key.width) | &next.value,
                mask: (&before.mask << key.width) | &next.mask,
            };
            of_case = of_case.iter().flat_map(|before| of_key.iter().map(move |next| joined(before, next))).collect();
            if of_case.len() + cubes.len() > CUBES_MAX {
                return true;
            }
        }
        cubes.extend(of_case);
    }
    let mut steps = 0;
    covered(&cubes, &mut steps)
}

/// Whether the cubes cover everything.
fn covered(cubes: &[Cube], steps: &mut usize) -> bool {
    *steps += cubes.len() + 1;
    if *steps > STEPS_MAX || cubes.iter().any(|cube| cube.mask.is_zero()) {
        return true;
    }
    let Some(first) = cubes.first() else { return false };
    let bit = first.mask.bits() - 1;
    [false, true].into_iter().all(|value| {
        let accepts = |cube: &&Cube| !cube.mask.bit(bit) || cube.value.bit(bit) == value;
        let rest = |cube: &Cube| {
            let mut rest = cube.clone();
            rest.mask.set_bit(bit, false);
            rest.value.set_bit(bit, false);
            rest
        };
        let accepting: Vec<Cube> = cubes.iter().filter(accepts).map(rest).collect();
        covered(&accepting, steps)
    })
}

/// The values of a key that a case accepts.
fn cubes_of(key: KeyBits, values: &Values) -> Vec<Cube> {
    let end = BigInt::one() << key.width;
    let all = &end - 1;
    // Negative numbers as they are in the key.
    let unsigned = |value: &BigInt| if value.is_negative() { value + &end } else { value.clone() };
    match values {
        Values::Any => vec![Cube { value: BigInt::zero(), mask: BigInt::zero() }],
        Values::One(value) => vec![Cube { value: unsigned(value) & &all, mask: all }],
        Values::Mask(value, mask) => vec![Cube { value: value & mask & &all, mask: mask & &all }],
        Values::Range(low, high) if key.is_signed && low.is_negative() && !high.is_negative() => {
            let mut cubes = prefixes(&unsigned(low), &all, key.width);
            cubes.extend(prefixes(&BigInt::zero(), high, key.width));
            cubes
        }
        Values::Range(low, high) => prefixes(&unsigned(low), &unsigned(high), key.width),
    }
}

/// The prefixes that a range consists of.
fn prefixes(low: &BigInt, high: &BigInt, width: u32) -> Vec<Cube> {
    let all = (BigInt::one() << width) - 1;
    let (mut low, mut cubes) = (low.clone(), Vec::new());
    while low <= *high {
        // The largest block that begins here and ends within the range.
        let aligned = low.trailing_zeros().map_or(u64::from(width), |zeros| zeros.min(u64::from(width)));
        let room = (high - &low + BigInt::one()).bits() - 1;
        let free = aligned.min(room);
        let block = BigInt::one() << free;
        cubes.push(Cube { value: low.clone(), mask: &all ^ (&block - 1) });
        low += block;
    }
    cubes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, high: i64) -> Values {
        Values::Range(low.into(), high.into())
    }

    fn mask(value: i64, mask: i64) -> Values {
        Values::Mask(value.into(), mask.into())
    }

    fn bits(width: u32) -> KeyBits {
        KeyBits { width, is_signed: false }
    }

    #[test]
    fn ranges_and_masks_of_wide_keys() {
        assert!(cover_all(&[bits(32)], &[vec![range(0, 0x7FFF_FFFF)], vec![range(0x8000_0000, 0xFFFF_FFFF)]]));
        assert!(!cover_all(&[bits(32)], &[vec![range(0, 0x7FFF_FFFF)], vec![range(0x8000_0001, 0xFFFF_FFFF)]]));
        let tops = [vec![mask(0, 0x8000)], vec![mask(0x8000, 0xC000)], vec![mask(0xC000, 0xC000)]];
        assert!(cover_all(&[bits(16)], &tops));
        assert!(!cover_all(&[bits(16)], &tops[..2]));
        assert!(cover_all(&[bits(128)], &[vec![mask(0, 0)]]));
        assert!(!cover_all(&[bits(128)], &[vec![Values::One(0.into())]]));
    }

    #[test]
    fn keys_beside_each_other() {
        let keys = [bits(8), bits(8)];
        let halves = [vec![mask(0, 1), Values::Any], vec![mask(1, 1), Values::Any]];
        assert!(cover_all(&keys, &halves));
        let corners =
            [vec![range(0, 127), Values::Any], vec![range(128, 255), range(0, 9)], vec![Values::Any, range(10, 255)]];
        assert!(cover_all(&keys, &corners));
        assert!(!cover_all(&keys, &corners[..2]));
    }

    #[test]
    fn signed_keys() {
        let key = [KeyBits { width: 8, is_signed: true }];
        assert!(cover_all(&key, &[vec![range(-128, -1)], vec![range(0, 127)]]));
        assert!(cover_all(&key, &[vec![range(-128, 126)], vec![Values::One(127.into())]]));
        assert!(!cover_all(&key, &[vec![range(-127, -1)], vec![range(0, 127)]]));
    }

    #[test]
    fn the_answer_is_that_of_trying_all_values() {
        let mut rng = base::Rng::new(1);
        for _ in 0..2000 {
            let cases: Vec<Vec<Values>> =
                (0..1 + rng.below(6)).map(|_| vec![random(&mut rng), random(&mut rng)]).collect();
            let all = (0..256).all(|number| {
                let one = |value: i64| Values::One(value.into());
                let tried = [one(number >> 4), one(number & 15)];
                cases.iter().any(|case| case.iter().zip(&tried).all(|(values, one)| values.cover(one)))
            });
            assert_eq!(cover_all(&[bits(4), bits(4)], &cases), all, "{cases:?}");
        }
    }

    fn random(rng: &mut base::Rng) -> Values {
        let mut number = |most: u64| rng.below(most) as i64;
        match number(4) {
            0 => Values::Any,
            1 => Values::One(number(16).into()),
            2 => {
                let wanted = number(16);
                mask(number(16) & wanted, wanted)
            }
            _ => {
                let low = number(16);
                range(low, low + number(16 - low as u64))
            }
        }
    }
}
