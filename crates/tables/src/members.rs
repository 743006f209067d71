//! The members and groups of an action profile as packets see them, through one table that names the profile.
//!
//! Each table has a copy of its own, in which members speak of actions by their positions in the table's list. Members
//! are cells like entries; the groups are ranges of one array of member handles, so that picking a member of a group is
//! two loads.

use crate::abi::{Group, ProfileHandle};
use crate::cells::{Cell, Cells};
use crate::spec::Handle;

/// Members and groups, ready to be picked from.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    cells: Cells,
    by_group: Vec<Vec<u32>>,
    /// Whether `by_group` was changed since `ranges` and `choices` were made from it.
    is_changed: bool,
    ranges: Vec<Group>,
    choices: Vec<u32>,
}

impl Members {
    /// No members and groups. Members have room for `data_words` words of action data.
    pub fn new(data_words: usize) -> Members {
        let cells = Cells::new(data_words, 0);
        Members { cells, by_group: Vec::new(), is_changed: false, ranges: Vec::new(), choices: Vec::new() }
    }

    /// Makes or changes a member.
    pub fn set_member(&mut self, member: Handle, action: u32, data: &[u64]) {
        self.cells.set_action(cell_of(member), action, data);
    }

    /// Makes or changes a group.
    pub fn set_group(&mut self, group: Handle, members: &[Handle]) {
        let position = group.0 as usize;
        if self.by_group.len() <= position {
            self.by_group.resize_with(position + 1, Vec::new);
        }
        self.by_group[position] = members.iter().map(|member| member.0).collect();
        self.is_changed = true;
    }

    /// Must follow a batch of changes.
    pub fn commit(&mut self) {
        if !std::mem::replace(&mut self.is_changed, false) {
            return;
        }
        self.ranges.clear();
        self.choices.clear();
        for members in &self.by_group {
            self.ranges.push(Group { first: self.choices.len() as u32, count: members.len() as u32 });
            self.choices.extend(members);
        }
    }

    /// How generated code picks here. Valid as long as nothing changes.
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
