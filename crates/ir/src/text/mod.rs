//! The text form of a program, for people, tests and tools: a writer and a reader.
//!
//! What enters and leaves: a [`Program`](crate::Program) and its text. Every program that the verifier accepts survives
//! the round trip exactly. The reader rejects text that is not in the form, and numbers or nesting beyond the limits of
//! [`base::limits`], with line and column. Semantic rules are checked by the verifier.
//!
//! # The form
//!
//! There is one declaration per line, in the order of their numbers; bodies are in braces, with one statement per line;
//! `#` starts a comment. The number of an entity has its kind as prefix (`v3` a variable, `h0` a header, ...). Names
//! are for people, in quotes. `@lo..hi` is a source range.
//!
//! ```text
//! program v1model
//! errors "NoError" "PacketTooShort" ...
//! labels 1
//! v0 "meta.nhop" bit<32> metadata
//! v1 "standard_metadata.egress_spec" bit<9> intrinsic 1
//! ht0 "ethernet_t" {
//!   "dstAddr" bit<48>
//! }
//! h0 "hdr.ethernet" ht0 metadata
//! stack0 "hdr.mpls" [h1, h2] next v2
//! action0 "MyIngress.forward" (v3, v4) {
//!   v1 = v3
//!   h0.0 = v4
//! }
//! table0 "MyIngress.dmac" size 1024 {
//!   key "hdr.ethernet.dstAddr" exact h0.0
//!   action action0
//!   default 0(9w0x1, 48w0x2)
//! }
//! block0 "MyParser" parser start state0 error v5 {
//!   state0 "start" {
//!     extract h0
//!     select (h0.2) {
//!       case (16w0x800): state1
//!       case (any): accept
//!     }
//!   }
//! }
//! block2 "MyIngress" control exit l0 {
//!   block l0 {
//!     apply table0 hit v6
//!     if !v6 {
//!       leave l0
//!     }
//!   }
//! }
//! ```
//!
//! Routines precede the actions, and are called by number:
//!
//! ```text
//! routine0 "mix" {
//!   v5 = (v3 ^ v4)
//! }
//!   call routine0
//! ```
//!
//! Functions and objects of plug-ins are declared and called like this:
//!
//! ```text
//! xfunction0 "Meter_new" constructor (in "size" bit<32>, in "name" text "red")
//! xfunction1 "Meter_look" method (inout "h_f" bit<8>) returns bool
//! xfunction2 "mix" function pure (in "a" bit<8>, out "b" bit<16>)
//! xinstance0 "MyIngress.meter" xfunction0 (32w0x4)
//!   call v3 = xfunction1 of xinstance0 (h0.2)
//!   call v4 = xfunction2 (v1)
//! ```
//!
//! Decisions follow the blocks, one body for each point of the architecture. A request has the number of its slot:
//!
//! ```text
//! point0 {
//!   if (v7 != 32w0x0) {
//!     punt 16
//!   }
//!   if (v1 == 9w0x1ff) {
//!     drop ingress
//!   }
//!   enqueue v1 priority v8 keeps flist0
//! }
//! point3 {
//!   send v2 limit v9
//! }
//! ```
//!
//! Expressions: constants `8w0xff` (`bit`), `8s0xff` (`int`), `true`, `false`; `v0`; fields by number `h0.2`,
//! `stack0[v1].2`, `stack0.next.2`, `stack0.last.2`; `valid(h0)`; `varbit_equal(h0.1, h1.0)`; `(a + b)` with the
//! operators of P4, always in parentheses; `-a`, `~a`, `!a`; `(c ? a : b)`; casts `bit<8>(a)`; slices `a[7:0]`;
//! `packet_length`.

mod lex;
mod print;
mod read;
mod read_body;

pub use print::{print, print_annotated, print_stmt};
pub use read::parse;

/// A syntax error of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Kinds of functions of plug-ins.
const EXTERN_KINDS: [(&str, crate::ExternFunctionKind); 3] = {
    use crate::ExternFunctionKind::*;
    [("function", Function), ("constructor", Constructor), ("method", Method)]
};

/// Where decisions drop packets.
const DROP_REASONS: [(&str, crate::DropReason); 2] = {
    use crate::DropReason::*;
    [("ingress", Ingress), ("egress", Egress)]
};

/// Directions of their parameters.
const DIRECTIONS: [(&str, crate::ExternDirection); 3] = {
    use crate::ExternDirection::*;
    [("in", In), ("out", Out), ("inout", InOut)]
};

/// The operators and how they are written.
const BINARY_OPERATORS: [(&str, crate::BinaryOp); 22] = {
    use crate::BinaryOp::*;
    [
        ("+", Add),
        ("-", Sub),
        ("*", Mul),
        ("/", Div),
        ("%", Rem),
        ("|+|", SaturatingAdd),
        ("|-|", SaturatingSub),
        ("&", And),
        ("|", Or),
        ("^", Xor),
        ("<<", Shl),
        (">>", Shr),
        ("==", Eq),
        ("!=", Ne),
        ("<", Lt),
        ("<=", Le),
        (">", Gt),
        (">=", Ge),
        ("&&", LogicalAnd),
        ("||", LogicalOr),
        ("&>", Gather),
        ("&<", Scatter),
    ]
};

impl crate::BinaryOp {
    /// How it is written, in P4 as in the text form. P4 has no signs for the last two.
    pub fn sign(self) -> &'static str {
        word_of(&BINARY_OPERATORS, &self)
    }
}

/// The hash functions and how they are written; `Custom` and `Continued` are written as their
/// calculation, `Remainder` with its polynomial.
const HASHES: [(&str, crate::HashAlgorithm); 8] = {
    use crate::HashAlgorithm::*;
    [
        ("crc32", Crc32),
        ("crc16", Crc16),
        ("crc32_continued", Crc32Continued),
        ("crc16_continued", Crc16Continued),
        ("crc_ccitt", CrcCcitt),
        ("csum16", Csum16),
        ("xor16", Xor16),
        ("identity", Identity),
    ]
};

/// The match kinds and how they are written.
fn match_kinds() -> [(&'static str, base::MatchKind); base::MatchKind::ALL.len()] {
    base::MatchKind::ALL.map(|kind| (kind.name(), kind))
}

/// The units of counters and meters and how they are written.
const UNITS: [(&str, crate::Unit); 3] = {
    use crate::Unit::*;
    [("packets", Packets), ("bytes", Bytes), ("packets_and_bytes", PacketsAndBytes)]
};

/// The word for a value in one of the tables above.
fn word_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, item)| item == value).map_or("?", |(word, _)| word)
}

/// The value for a word in one of the tables above.
fn value_of<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(item, _)| *item == word).map(|(_, value)| *value)
}
