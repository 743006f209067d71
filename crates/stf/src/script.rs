//! The commands of an STF file, as they are written: names and values are not looked up yet.

use std::fmt;
use std::sync::Arc;

/// A file of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The commands and the lines where they stand, counted from 1.
    pub commands: Vec<(u32, Command)>,
}

/// Something wrong at a line of an STF file.
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
        /// The greater wins.
        priority: Option<i32>,
        /// Keys and their values; a key that is not named matches anything, or is 0.
        keys: Vec<(String, Value)>,
        /// What runs.
        call: Call,
        /// What `check_counter` may call the entry.
        id: Option<String>,
    },
    /// Sets what a table runs on a miss.
    SetDefault {
        /// The table.
        table: String,
        /// What runs.
        call: Call,
    },
    /// A packet comes in.
    Packet {
        /// Where.
        port: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// The next packet on a port must be this.
    Expect {
        /// Where it leaves.
        port: u32,
        /// What it must be; any packet if none.
        pattern: Option<Pattern>,
    },
    /// No port may send anything.
    NoPacket,
    /// A counter must have counted.
    CheckCounter {
        /// The counter.
        counter: String,
        /// Its cell.
        cell: CounterCell,
        /// What must hold.
        check: CounterCheck,
    },
    /// Removes the entries of all tables.
    RemoveAll,
    /// A second passes.
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

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number.
    pub number: Number,
    /// What stands behind it.
    pub extent: Extent,
}

/// Which values besides the one that is written first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None: the number says it all with its digits.
    Alone,
    /// `/LENGTH`: those with the same first bits.
    Prefix(Number),
    /// `->LAST`: all up to this one.
    UpTo(Number),
    /// `&&&MASK`: those with the same bits where the mask has ones.
    Mask(Number),
}

/// A number as it is written: its digits say more than its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// How its digits count.
    pub radix: Radix,
    /// The digits without `0x` or `0b`; `*` is a digit that does not matter.
    pub digits: String,
}

/// How the digits of a number count.
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
    /// Lower-case hexadecimal digits; `*` stands for any.
    pub digits: String,
    /// Whether the packet must end where the digits end; else it may go on.
    pub is_exact: bool,
}

/// Which cell of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterCell {
    /// By number.
    Index(u64),
    /// That of the entry with this name (`add ... = name`).
    Entry(String),
}

/// What must hold for a counter's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCheck {
    /// Whether it is about bytes; packets otherwise.
    pub is_bytes: bool,
    /// How the count stands to the number.
    pub relation: Relation,
    /// The number.
    pub number: u64,
}

/// How two numbers may stand to each other.
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

    /// As files write it.
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

    /// Whether `left` stands so to `right`.
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
