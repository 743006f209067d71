//! What a controller orders: changes of tables, routing groups, copies. Names are those of the program, without the
//! controls that they are in.

/// A change. Orders are carried out one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what the variants say")]
pub enum Order {
    /// The default action of a table.
    Default { table: &'static str, action: &'static str, args: Vec<u128> },
    /// A new entry with an action, and the rates of its direct meter.
    Entry {
        table: &'static str,
        key: Match,
        class: Option<u8>,
        action: &'static str,
        args: Vec<u128>,
        rates: Option<Rates>,
    },
    /// A new member of a table's selector, with the port as number and as argument.
    Member { table: &'static str, action: &'static str, port: u32 },
    /// The members of a group of a table's selector.
    Group { table: &'static str, group: u32, ports: Vec<u32>, is_new: bool },
    /// The entry of a group. The greater priority wins.
    Route { table: &'static str, key: Match, priority: i32, group: u32, is_new: bool },
    /// A cell of a register array.
    Register { register: &'static str, index: u64, value: u128 },
    /// A clone session: ports of its copies with their numbers.
    Session { session: u32, replicas: Vec<(u32, u64)> },
    /// A multicast group: ports of its copies with their numbers.
    Multicast { group: u64, replicas: Vec<(u32, u64)> },
}

/// The first key of an entry. A second one, if there is one, is a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// This value.
    Exact(u128),
    /// The value and the length of a prefix.
    Prefix(u128, u32),
    /// The same as a mask, for tables of routing groups.
    Masked(u128, u32),
}

/// The rates of a meter, in its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Committed, thousandths a second.
    pub committed_milliunits_per_s: u64,
    /// How much at once.
    pub committed_burst: u64,
    /// Peak, thousandths a second.
    pub peak_milliunits_per_s: u64,
    /// How much at once.
    pub peak_burst: u64,
}

impl Rates {
    /// A meter that knows one rate: what is above it is red.
    pub fn one(milliunits_per_s: u64, burst: u64) -> Rates {
        Rates {
            committed_milliunits_per_s: milliunits_per_s,
            committed_burst: burst,
            peak_milliunits_per_s: milliunits_per_s,
            peak_burst: burst,
        }
    }
}
