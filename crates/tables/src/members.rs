//! The members and groups of an action profile for lookups, in one table that uses the profile.
//!
//! Each table has a copy of its own, in which members have actions by their positions in the table's list. Members are
//! cells like entries; the groups are ranges of one array of member handles, so that finding a member of a group takes
//! two loads. A group that outgrows its range gets another at the end of the array; once more than half of the array is
//! in no range, it is compacted. So the cost of a change depends on the group's size, and not on that of all groups.

use crate::abi::{Group, ProfileHandle};
use crate::cells::{Cell, Cells};
use crate::spec::Handle;

/// Members and groups, ready for lookups.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    cells: Cells,
    ranges: Vec<Group>,
    /// The capacity of each range, of which the group uses the front.
    capacities: Vec<u32>,
    choices: Vec<u32>,
    /// Places of `choices` that are in no range.
    unused: usize,
}

/// The length below which the array is not compacted.
const UNUSED_MIN: usize = 4096;

impl Members {
    /// No members and groups. Members have room for `data_words` words of action data.
    pub fn new(data_words: usize) -> Members {
        let cells = Cells::new(data_words, 0);
        Members { cells, ranges: Vec::new(), capacities: Vec::new(), choices: Vec::new(), unused: 0 }
    }

    /// Makes or changes a member.
    pub fn set_member(&mut self, member: Handle, action: u32, data: &[u64]) {
        self.cells.set_action(cell_of(member), action, data);
    }

    /// Makes or changes a group.
    pub fn set_group(&mut self, group: Handle, members: &[Handle]) {
        let position = group.0 as usize;
        if self.ranges.len() <= position {
            self.ranges.resize(position + 1, Group { first: 0, count: 0 });
            self.capacities.resize(position + 1, 0);
        }
        let (range, capacity) = (&mut self.ranges[position], &mut self.capacities[position]);
        let count = members.len() as u32;
        if count > *capacity || count == 0 {
            self.unused += *capacity as usize;
            (range.first, *capacity) = (self.choices.len() as u32, count);
            self.choices.extend(members.iter().map(|member| member.0));
        } else {
            let places = &mut self.choices[range.first as usize..][..members.len()];
            places.iter_mut().zip(members).for_each(|(place, member)| *place = member.0);
        }
        range.count = count;
        // Here and not at the end of the batch, so that a batch that changes many groups takes at most twice the space.
        if self.unused > UNUSED_MIN.max(self.choices.len() / 2) {
            self.move_together();
        }
    }

    fn move_together(&mut self) {
        let old = std::mem::take(&mut self.choices);
        for (range, capacity) in self.ranges.iter_mut().zip(&mut self.capacities) {
            let members = &old[range.first as usize..][..range.count as usize];
            (range.first, *capacity) = (self.choices.len() as u32, range.count);
            self.choices.extend_from_slice(members);
        }
        self.unused = 0;
    }

    /// The handle for generated code. Valid until the next change.
    pub fn handle(&self) -> ProfileHandle {
        ProfileHandle {
            members: self.cells.address(cell_of(Handle(0))).cast(),
            member_words: self.cells.stride_words() as u64,
            groups: self.ranges.as_ptr(),
            choices: self.choices.as_ptr(),
        }
    }
}

fn cell_of(member: Handle) -> Cell {
    member.0 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    fn of(members: &Members, group: usize) -> Vec<u32> {
        let range = members.ranges[group];
        members.choices[range.first as usize..][..range.count as usize].to_vec()
    }

    /// Against plain lists; and no more room than twice what all groups have, and a constant.
    #[test]
    fn groups_are_what_they_were_set_to() {
        let mut rng = Rng::new(3);
        let mut members = Members::new(1);
        let mut plain: Vec<Vec<u32>> = vec![Vec::new(); 200];
        let mut most_unused = 0;
        for _ in 0..50_000 {
            let group = rng.below(200) as usize;
            let count = if rng.chance(1, 10) { 0 } else { rng.below(30) };
            plain[group] = (0..count).map(|_| rng.next_u64() as u32).collect();
            let handles: Vec<Handle> = plain[group].iter().map(|&member| Handle(member)).collect();
            members.set_group(Handle(group as u32), &handles);
            assert_eq!(of(&members, group), plain[group]);
            most_unused = most_unused.max(members.unused);
        }
        for (group, expected) in plain.iter().enumerate().take(members.ranges.len()) {
            assert_eq!(of(&members, group), *expected);
        }
        assert!(most_unused > UNUSED_MIN / 2 && most_unused <= 2 * UNUSED_MIN, "{most_unused}");
    }
}
