//! Divides a long C file into translation units, which the C compiler works on at the same time.
//!
//! What enters: the items of a file. What leaves: the same items in an order where declarations come first, and behind
//! them the functions of each unit between `#if WS_IN_UNIT(number)` and `#endif`. Unit 0 has the functions that the
//! switch calls, the others have parts of controls and routines. The text stays one file: compiled without `WS_UNIT`,
//! it is a whole program.

use crate::ctree::{Item, statement_count};
use crate::units::DEFINITION;

/// Statements of parts in a unit, about a second and 100 MB for the compiler.
const UNIT_STATEMENTS: usize = 25_000;

/// The macro before the head of a function that may be in another unit than its callers.
const PART: &str = "WS_PART";

/// The items of a file in units; unchanged if one unit is enough.
pub(super) fn divide(items: Vec<Item>) -> Vec<Item> {
    let statements: usize = items.iter().filter_map(part).map(|(_, statements)| statements).sum();
    let count = statements.div_ceil(UNIT_STATEMENTS).min(crate::units::COUNT_MAX - 1);
    if count < 2 {
        return items;
    }
    let mut divided = Divided::new(count);
    items.into_iter().for_each(|item| divided.add(item));
    divided.into_items()
}

/// The head of a part's function and its number of statements.
fn part(item: &Item) -> Option<(&str, usize)> {
    match item {
        Item::Function { head, body } if head.starts_with(PART) => Some((head, statement_count(body))),
        _ => None,
    }
}

struct Divided {
    shared: Vec<Item>,
    prototypes: Vec<Item>,
    /// The first has the functions that the switch calls.
    units: Vec<Vec<Item>>,
    /// Statements of each unit; those of the first do not count, and no part is added to it.
    statements: Vec<usize>,
    /// Comments that belong to the next item.
    comments: Vec<Item>,
}

impl Divided {
    fn new(parts: usize) -> Divided {
        let units = vec![Vec::new(); 1 + parts];
        let mut statements = vec![0; 1 + parts];
        statements[0] = usize::MAX;
        Divided { shared: Vec::new(), prototypes: Vec::new(), units, statements, comments: Vec::new() }
    }

    fn add(&mut self, item: Item) {
        if matches!(item, Item::Comment(_)) {
            self.comments.push(item);
            return;
        }
        let place = match part(&item) {
            Some((head, statements)) => {
                self.prototypes.push(Item::Prototype(head.to_owned()));
                let unit = (1..self.units.len()).min_by_key(|&unit| self.statements[unit]).unwrap_or(0);
                self.statements[unit] += statements;
                &mut self.units[unit]
            }
            None if is_exported(&item) => &mut self.units[0],
            None => &mut self.shared,
        };
        place.append(&mut self.comments);
        place.push(item);
    }

    fn into_items(self) -> Vec<Item> {
        let mut items = self.shared;
        // Before the first `#include`, which defines what depends on it.
        let at = items.iter().position(|item| matches!(item, Item::Include(_))).unwrap_or(0);
        items.insert(at, Item::Define(format!("{DEFINITION} {}", self.units.len())));
        items.extend(self.prototypes);
        items.extend(self.units.into_iter().enumerate().map(|(number, items)| Item::Unit(number, items)));
        items.extend(self.comments);
        items
    }
}

/// Whether the switch calls or reads it, so that one unit has it. Functions over a burst are static, and called by one
/// that is exported.
fn is_exported(item: &Item) -> bool {
    match item {
        Item::Function { head, .. } => !head.starts_with("static inline"),
        Item::Constant { ty, .. } => !ty.starts_with("static"),
        _ => false,
    }
}
