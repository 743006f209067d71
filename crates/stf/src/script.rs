//! The commands of an STF file as written: names and values are not resolved yet.

use std::fmt;
use std::sync::Arc;

/// A file of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The commands and their lines, counted from 1.
    pub commands: Vec<(u32, Command)>,
}

/// An error at a line of an STF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StfError {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for StfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for StfError {}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Adds an entry to a table.
    Add {
        /// The table.
        table: String,
        /// The priority; the greater one wins.
        priority: Option<i32>,
        /// Keys and their values. A key that is left out matches anything, or is 0.
        keys: Vec<(String, Value)>,
        /// The action to run.
        call: Call,
        /// The name by which `check_counter` refers to the entry.
        id: Option<String>,
    },
    /// Sets the action that a table runs on a miss.
    SetDefault {
        /// The table.
        table: String,
        /// The action to run.
        call: Call,
    },
    /// A packet is received.
    Packet {
        /// The port of reception.
        port: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// The next packet that leaves a port must match.
    Expect {
        /// The port that the packet leaves.
        port: u32,
        /// What the packet must be; `None` accepts any packet.
        pattern: Option<Pattern>,
    },
    /// No port may send a packet.
    NoPacket,
    /// A counter must have a given value.
    CheckCounter {
        /// The counter.
        counter: String,
        /// Its cell.
        cell: CounterCell,
        /// The condition.
        check: CounterCheck,
    },
    /// Removes the entries of all tables.
    RemoveAll,
    /// One second passes.
    Wait,
    /// A command of the switch's command line (`mirroring_add`, `register_write`, ...), as written.
    Control(String),
}

/// An action and its arguments by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The action.
    pub action: String,
    /// Names of parameters and their values.
    pub arguments: Vec<(String, Number)>,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number.
    pub number: Number,
    /// What follows the number.
    pub extent: Extent,
}

/// Which values match besides the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None. The digits of the number may include wildcards.
    Alone,
    /// `/LENGTH`: the values with the same prefix.
    Prefix(Number),
    /// `->LAST`: the values up to this one.
    UpTo(Number),
    /// `&&&MASK`: the values with the same bits where the mask has ones.
    Mask(Number),
}

/// A number as written. Its digits carry more information than its value: leading zeros and wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The base of its digits.
    pub radix: Radix,
    /// The digits without `0x` or `0b`; `*` is a wildcard digit.
    pub digits: String,
}

/// The base of a number's digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Radix {
    Binary,
    Decimal,
    Hexadecimal,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.radix {
            Radix::Binary => "0b",
            Radix::Decimal => "",
            Radix::Hexadecimal => "0x",
        };
        write!(f, "{prefix}{}", self.digits)
    }
}

/// What a packet must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Lower-case hexadecimal digits; `*` is a wildcard digit.
    pub digits: String,
    /// Whether the packet must end where the digits end; otherwise they are a prefix.
    pub is_exact: bool,
}

/// The cell of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterCell {
    /// The cell at this index.
    Index(u64),
    /// The cell of the entry with this name (`add ... = name`).
    Entry(String),
}

/// A condition on a counter's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCheck {
    /// Whether the condition is on bytes; otherwise it is on packets.
    pub is_bytes: bool,
    /// The relation of the count to the number.
    pub relation: Relation,
    /// The number.
    pub number: u64,
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// All relations.
    pub const ALL: [Relation; 6] = [
        Relation::Equal,
        Relation::NotEqual,
        Relation::LessOrEqual,
        Relation::Less,
        Relation::GreaterOrEqual,
        Relation::Greater,
    ];

    /// The relation as files write it.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        }
    }

    /// Whether the relation holds between `left` and `right`.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        }
    }
}
