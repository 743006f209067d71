//! Replaces the application of tables by their results, as long as the tables do not change.
//!
//! Not a [`crate::Pass`]: it also needs the contents of the tables, and the result has the same meaning only until one
//! of them changes.
//!
//! Before, with one entry 10.0.0.1 -> `forward(3)` in the table, and `drop()` on a miss:
//! ```text
//! apply table0 hit v9
//! ```
//! After:
//! ```text
//! v20 = h1.2 == 32w0xa000001
//! count_lookup table0 hit v20 entry 32w0x0
//! v9 = v20
//! if v20 {
//!   v21 = 9w0x3
//!   ...                            the body of `forward`, with v21 for its parameter
//! } else {
//!   ...                            the body of `drop`
//! }
//! ```
//! Of an empty table only its default action remains. Of several entries, the first that matches is found without a
//! branch (`v20 = c0 ? 0 : c1 ? 1 : 2`), and entries that run the same action share its body, with data selected in the
//! same way. So packets meet no more data-dependent branches than before.
//!
//! Actions that no table runs any more lose their bodies, and with them their requests.
//!
//! Limits: tables with more entries or larger actions than the constants allow; tables with direct meters;
//! actions with loops, whose steps are counted by label, or with parameters that others mention.

mod fits;
mod results;
mod rewrite;

use base::{FieldMatch, IndexVec, OrderedMap, OrderedSet};
use fits::{is_applied, is_replaced, private_params};
use ir::{ActionCall, BlockKind, Program, TableId};
use rewrite::Rewrite;

/// Entries of a table that is replaced.
pub const ENTRIES_MAX: usize = 4;

/// The contents of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The entries; of two that match the same packet, the one that wins comes first.
    pub entries: Vec<KnownEntry>,
    /// What runs on a miss.
    pub default: ActionCall,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownEntry {
    /// Its handle: its cell in direct counters.
    pub handle: u32,
    /// One value set per key.
    pub key: Vec<FieldMatch>,
    /// What it runs: an action of the table.
    pub call: ActionCall,
}

/// A program for certain contents of some tables.
#[derive(Clone, Debug)]
pub struct Specialised {
    /// The program. It has the same storage, tables and externs, and more local variables and labels.
    pub program: Program,
    /// The tables whose contents it is for, with the number of their entries.
    pub tables: OrderedMap<TableId, usize>,
}

/// The program for these contents of the tables whose contents are known; none if it would be the same.
pub fn specialise(program: &Program, contents: &IndexVec<TableId, Option<Contents>>) -> Option<Specialised> {
    let private = private_params(program);
    let mut tables = OrderedMap::new();
    for (id, known) in contents.iter_enumerated() {
        if let Some(known) = known.as_ref().filter(|known| is_replaced(program, id, known, &private)) {
            tables.insert(id, known.entries.len());
        }
    }
    tables.retain(|table, _| is_applied(program, *table));
    if tables.is_empty() {
        return None;
    }
    let mut rewrite = Rewrite { source: program, program: program.clone(), contents, tables: &tables };
    for block in program.blocks.ids() {
        let BlockKind::Control { body } = &mut rewrite.program.blocks[block].kind else { continue };
        let body = std::mem::take(body);
        let rewritten = rewrite.body(body);
        rewrite.program.blocks[block].kind = BlockKind::Control { body: rewritten };
    }
    let mut program = rewrite.program;
    empty_idle_actions(&mut program);
    crate::optimise(&mut program);
    Some(Specialised { program, tables })
}

/// Empties the bodies of actions that no applied table lists.
fn empty_idle_actions(program: &mut Program) {
    let mut run = OrderedSet::new();
    for (id, table) in program.tables.iter_enumerated() {
        if is_applied(program, id) {
            run.extend(table.actions.iter().map(|listed| listed.action));
        }
    }
    for (id, action) in program.actions.ids().zip(program.actions.iter_mut()) {
        if !run.contains(&id) {
            action.body.clear();
        }
    }
}
