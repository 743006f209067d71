//! The text form. What [`print()`] prints, [`read()`] reads.
//!
//! ```text
//! unit fast_path
//! var v1_port 9 at w->v1_port
//! header h0_ethernet at c->offset[0]
//! state valid0 at c->valid[0]
//! live_out valid0
//! stage by burst spills valid0 {
//!   entry 0 {
//!     valid0 = 0L
//!   }
//!   node 0 {
//!     # router.p4:7: packet.extract(hdr.ethernet);
//!     valid0 |= 1L
//!     end u32(v1_port)
//!   }
//! }
//! ```
//!
//! Numbers are of 32 bits, with an `L` of 64. An operand that is an operation has parentheses, except in chains of one
//! associative operator.

mod lex;
mod print;
mod read;

pub use print::print;
pub use read::{ReadError, read};

/// The operators between operands.
const BINARY: [&str; 18] =
    ["+", "-", "*", "/", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "%"];

/// Those of which chains have no parentheses.
const CHAINS: [&str; 6] = ["+", "|", "&", "^", "&&", "||"];

/// The operators before their operand.
const UNARY: [&str; 5] = ["!", "&", "*", "-", "~"];

/// The operators of assignments.
const ASSIGNMENTS: [&str; 6] = ["=", "+=", "-=", "|=", "&=", "^="];

/// Arrays of the environment and their names.
const ENV: [(crate::EnvArray, &str); 8] = [
    (crate::EnvArray::Tables, "tables"),
    (crate::EnvArray::Registers, "registers"),
    (crate::EnvArray::Counters, "counters"),
    (crate::EnvArray::DirectCounters, "direct_counters"),
    (crate::EnvArray::Meters, "meters"),
    (crate::EnvArray::LastHits, "last_hits"),
    (crate::EnvArray::Calculations, "calculations"),
    (crate::EnvArray::Uses, "uses"),
];

impl crate::EnvArray {
    /// Its name, also as a member of the environment.
    pub fn name(self) -> &'static str {
        ENV.iter().find(|(array, _)| *array == self).map_or("", |(_, name)| *name)
    }
}
