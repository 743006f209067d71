//! Cells that entries share: those with the same action and the same data.
//!
//! What enters: the actions and data of entries. What leaves: the cell of each. Where the matched entry need not be
//! identified, a cell for each entry only wastes cache: a table of a million routes has a few hundred next hops. So
//! lookups touch a few cells that stay in the caches.

use crate::cells::{Cell, Cells};
use crate::hash_index::{HashIndex, hash_words};
use std::iter::{once, repeat};

/// The cells, with the number of entries of each.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    index: HashIndex,
    seed: u64,
    /// By cell; 0 for one that is free, and for the default entry.
    uses: Vec<u32>,
    free: Vec<Cell>,
}

impl Shared {
    /// No cells but the default entry.
    pub fn new(seed: u64) -> Shared {
        Shared { index: HashIndex::new(), seed, uses: vec![0], free: Vec::new() }
    }

    /// The same without cells but the default entry.
    pub fn emptied(self) -> Shared {
        Shared::new(self.seed)
    }

    /// The cell for one more entry with this action and data.
    pub fn place(&mut self, cells: &mut Cells, action: u32, data: &[u64]) -> Cell {
        let hash = self.hash(cells, action, data);
        let is_same = |cell| cells.header(cell).action == action && cells.data(cell).starts_with(data);
        if let Some(cell) = self.index.find(hash, is_same) {
            self.uses[cell as usize] += 1;
            return cell;
        }
        let cell = self.free.pop().unwrap_or(self.uses.len() as Cell);
        self.uses.resize(self.uses.len().max(cell as usize + 1), 0);
        self.uses[cell as usize] = 1;
        cells.set_shared(cell, action, data);
        self.index.insert(hash, cell);
        cell
    }

    /// Removes an entry from a cell.
    pub fn release(&mut self, cells: &mut Cells, cell: Cell) {
        self.uses[cell as usize] -= 1;
        if self.uses[cell as usize] == 0 {
            let hash = self.hash(cells, cells.header(cell).action, cells.data(cell));
            self.index.remove(hash, cell);
            cells.kill(cell);
            self.free.push(cell);
        }
    }

    /// Returns the memory of free cells after all others.
    pub fn shrink(&mut self, cells: &mut Cells) {
        while self.uses.len() > 1 && self.uses.last() == Some(&0) {
            self.uses.pop();
        }
        let count = self.uses.len();
        self.free.retain(|&cell| (cell as usize) < count);
        self.uses.shrink_to_fit();
        self.free.shrink_to_fit();
        cells.shrink(count);
    }

    /// The hash of an action and of its data with the zeros behind them.
    fn hash(&self, cells: &Cells, action: u32, data: &[u64]) -> u32 {
        let all = data.iter().copied().chain(repeat(0)).take(cells.data(0).len());
        hash_words(self.seed, once(u64::from(action)).chain(all))
    }
}
