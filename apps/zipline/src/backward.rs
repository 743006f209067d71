//! Chooses a mask by backward selection: all bits start set aside, and bits are moved back into the basis one by one.
//!
//! What enters: chunks of one length. What leaves: bits in the order in which they become part of the basis, and the
//! number of distinct bases after each step. Each step takes the bit that adds the fewest bases. Among equal bits it
//! takes the one with the greatest mutual information with the other bits, since what many bits have in common
//! distinguishes kinds of chunks and is not noise.
//!
//! As long as no single bit reduces the number of bases, forward selection ([`crate::greedy`]) cannot distinguish
//! noise from bits that identify a kind of chunk. Backward selection can from its first steps: there are few kinds,
//! and once some of their identifying bits are in the basis, the others add no bases.

use crate::greedy::{Step, bit_of};

/// The search ends when there are more bases than one for this many chunks.
const BASES_PART: usize = 2;

/// The bits that are moved into the basis of these chunks, until there are too many bases.
pub fn steps(chunks: &[&[u8]]) -> Vec<Step> {
    let mut rows: Vec<&[u8]> = chunks.to_vec();
    rows.sort_unstable();
    rows.dedup();
    let bits = 8 * rows.first().map_or(0, |row| row.len()) as u32;
    let dependence = dependence(&rows, bits);
    let mut groups = Groups::of(&rows);
    let mut left: Vec<u32> = (0..bits).collect();
    let mut steps = Vec::new();
    while !left.is_empty() && groups.first.len() <= rows.len().div_ceil(BASES_PART) {
        let added = groups.added();
        // A bit that adds no bases now will not add any later.
        let bases = groups.first.len();
        steps.extend(left.extract_if(.., |bit| added[*bit as usize] == 0).map(|bit| Step { bit, bases }));
        let preference = |bit: &u32| (added[*bit as usize], -dependence[*bit as usize]);
        let best = left.iter().enumerate().min_by(|(_, a), (_, b)| {
            let ((count, dependence), (other, its)) = (preference(a), preference(b));
            count.cmp(&other).then(dependence.total_cmp(&its))
        });
        let Some(index) = best.map(|(index, _)| index) else { break };
        let bit = left.remove(index);
        groups.split(bit);
        steps.push(Step { bit, bases: groups.first.len() });
    }
    steps
}

/// Chunks grouped by the bits that are in the basis so far.
struct Groups<'a> {
    rows: &'a [&'a [u8]],
    /// The group of each row, and the first row of each group.
    of_row: Vec<u32>,
    first: Vec<u32>,
}

impl<'a> Groups<'a> {
    fn of(rows: &'a [&'a [u8]]) -> Groups<'a> {
        Groups { rows, of_row: vec![0; rows.len()], first: if rows.is_empty() { vec![] } else { vec![0] } }
    }

    /// For each bit, how many groups it would add: those in which it has both values.
    fn added(&self) -> Vec<u32> {
        let length = self.rows.first().map_or(0, |row| row.len());
        let mut differing = vec![0; length * self.first.len()];
        for (row, group) in self.rows.iter().zip(&self.of_row) {
            let first = self.rows[self.first[*group as usize] as usize];
            let of_group = &mut differing[*group as usize * length..][..length];
            of_group.iter_mut().zip(row.iter().zip(first)).for_each(|(all, (a, b))| *all |= a ^ b);
        }
        let mut added = vec![0; 8 * length];
        for of_group in differing.chunks_exact(length.max(1)) {
            for (byte, counts) in of_group.iter().zip(added.chunks_exact_mut(8)) {
                if *byte != 0 {
                    counts.iter_mut().zip(0..).for_each(|(count, bit)| *count += u32::from(byte >> (7 - bit) & 1));
                }
            }
        }
        added
    }

    fn split(&mut self, bit: u32) {
        const NONE: u32 = u32::MAX;
        let mut other = vec![NONE; self.first.len()];
        for (number, row) in (0..).zip(self.rows) {
            let group = self.of_row[number as usize];
            if bit_of(row, bit) == bit_of(self.rows[self.first[group as usize] as usize], bit) {
                continue;
            }
            let other = &mut other[group as usize];
            if *other == NONE {
                *other = self.first.len() as u32;
                self.first.push(number);
            }
            self.of_row[number as usize] = *other;
        }
    }
}

/// For each bit, the sum of its mutual information with each other bit, in bits.
fn dependence(rows: &[&[u8]], bits: u32) -> Vec<f64> {
    let columns: Vec<Vec<u64>> = (0..bits)
        .map(|bit| {
            let word = |rows: &[&[u8]]| rows.iter().fold(0, |word, row| word << 1 | u64::from(bit_of(row, bit)));
            rows.chunks(64).map(word).collect()
        })
        .collect();
    let ones = |words: &mut dyn Iterator<Item = u64>| words.map(u64::count_ones).sum::<u32>();
    let all = rows.len() as f64;
    let counts: Vec<u32> = columns.iter().map(|column| ones(&mut column.iter().copied())).collect();
    let part = |count: f64| if count <= 0.0 { 0.0 } else { -count / all * (count / all).log2() };
    let entropy: Vec<f64> =
        counts.iter().map(|count| part(f64::from(*count)) + part(all - f64::from(*count))).collect();
    let mut dependence = vec![0.0; bits as usize];
    let changing: Vec<usize> = (0..bits as usize).filter(|bit| entropy[*bit] > 0.0).collect();
    for (place, &a) in changing.iter().enumerate() {
        for &b in &changing[place + 1..] {
            let both = f64::from(ones(&mut columns[a].iter().zip(&columns[b]).map(|(a, b)| a & b)));
            let (of_a, of_b) = (f64::from(counts[a]) - both, f64::from(counts[b]) - both);
            let joint = part(both) + part(of_a) + part(of_b) + part(all - both - of_a - of_b);
            let common = (entropy[a] + entropy[b] - joint).max(0.0);
            dependence[a] += common;
            dependence[b] += common;
        }
    }
    dependence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two kinds of chunks, distinguished by three bits, and two random bits in both.
    #[test]
    fn bits_that_distinguish_kinds_of_chunks_are_moved_back_first() {
        let chunks: Vec<[u8; 1]> = (0..8).map(|number| [number & 3 | if number < 4 { 0 } else { 0xb0 }]).collect();
        let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk[..]).collect();
        let found = steps(&chunks);
        let bits: Vec<(u32, usize)> = found.iter().map(|step| (step.bit, step.bases)).collect();
        assert_eq!(bits, [(1, 1), (4, 1), (5, 1), (0, 2), (2, 2), (3, 2), (6, 4), (7, 8)]);
        assert!(steps(&[]).is_empty() && steps(&[&[]]).is_empty());
    }
}
