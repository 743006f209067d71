//! Traffic for measurements: chunks of 32 bytes with the properties of the paper's two data sets, generated from a
//! seed.
//!
//! What enters: a seed. What leaves: chunks, the same for the same seed. The paper describes its synthetic set only
//! by the number of chunks and by their similarity to a sensor's readings. Of its DNS queries it reports that they
//! have 34 bytes, of which the first two, the transaction id, are left out, and that all go to one resolver. How
//! often readings and names recur is chosen here.

use crate::code::Code;
use crate::transform::Transform;
use base::Rng;

/// Chunks in the sensor's set.
pub const READINGS: usize = 3_124_000;

/// The number of consecutive states of the sensor, and the readings of each.
const STATES: usize = 3_124;
const READINGS_OF_STATE: usize = READINGS / STATES;

/// Queries in the DNS set.
pub const QUERIES: usize = 1_000_000;

/// The number of different names. The name of rank n is requested in proportion to 1 / n.
const NAMES: u64 = 4_000;

/// Readings of a sensor whose state changes slowly: a state is a codeword of m = 8, and half of its readings differ
/// from it in one bit.
pub fn sensor(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut rng = Rng::new(seed);
    let code = Code::new(8).unwrap_or_else(|_| unreachable!("8 is from 3 to 15"));
    let states = states(&Transform::of_code(code), &mut rng);
    (0..READINGS).map(move |number| {
        let mut reading = states[number / READINGS_OF_STATE].clone();
        if rng.chance(1, 2) {
            let bit = rng.below(8 * reading.len() as u64) as usize;
            reading[bit / 8] ^= 0x80 >> (bit % 8);
        }
        reading
    })
}

fn states(transform: &Transform, rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut state = || {
        let mut chunk = vec![0; transform.chunk_bytes()];
        rng.fill(&mut chunk);
        let mut split = transform.split(&chunk);
        split.syndrome = 0;
        transform.join(&split)
    };
    (0..STATES).map(|_| state()).collect()
}

/// Queries for names of twelve letters below `com`: what follows the transaction id, from the flags to the class.
pub fn queries(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut rng = Rng::new(seed);
    let names: Vec<[u8; 12]> = (0..NAMES).map(|_| [(); 12].map(|()| b'a' + rng.below(26) as u8)).collect();
    let mut total = 0;
    let mut shares = Vec::new();
    for place in 1..=NAMES {
        total += 1_000_000_000 / place;
        shares.push(total);
    }
    (0..QUERIES).map(move |_| {
        let share = rng.below(total);
        let name = names[shares.partition_point(|upto| *upto <= share)];
        // IPv4 addresses are requested three times as often as IPv6 addresses.
        let kind = if rng.chance(3, 4) { 1 } else { 28 };
        let head = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 12];
        [&head[..], &name, b"\x03com\0", &[0, kind, 0, 1][..]].concat()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::OrderedSet;

    #[test]
    fn sets_have_the_paper_s_shape() {
        let transform = Transform::of_code(Code::new(8).unwrap());
        let bases_of = |part: &mut dyn Iterator<Item = Vec<u8>>| -> usize {
            part.map(|chunk| transform.split(&chunk).basis.to_be_bytes()).collect::<OrderedSet<_>>().len()
        };
        assert_eq!(bases_of(&mut sensor(1).take(10_000)), 10, "a bit error must not change the basis");
        assert_eq!(bases_of(&mut sensor(1).step_by(READINGS_OF_STATE)), STATES);
        assert_eq!((sensor(1).count(), queries(1).count()), (READINGS, QUERIES));
        assert!(queries(1).take(1_000).all(|query| query.len() == 32));
        assert!(queries(1).take(1_000).eq(queries(1).take(1_000)));
        let different: OrderedSet<Vec<u8>> = queries(1).take(100_000).collect();
        assert!((4_000..8_000).contains(&different.len()), "{}", different.len());
    }
}
