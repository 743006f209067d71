//! What all stages share.
//!
//! The crate has no input and no output: it defines the basic types that the other crates exchange.
//!
//! * [`index`]: typed 32-bit indices and the dense maps they address.
//! * [`ordered`]: ordered maps and sets that are compiled quickly.
//! * [`span`]: a range of source text.
//! * [`bits`]: a bit vector of any width, the value of every P4 expression.
//! * [`matching`]: match kinds, and what entries match.
//! * [`files`]: files that users name.
//! * [`private`]: files and folders that only this user can access.
//! * [`rng`]: the only random generator, so that a seed reproduces a run.
//! * [`limits`]: all limits of the system.
//! * [`time`]: modelled time.
//! * [`stack`]: a thread stack that is deep enough for the deepest syntax tree.

pub mod bits;
pub mod files;
pub mod index;
pub mod limits;
pub mod matching;
pub mod ordered;
pub mod private;
pub mod rng;
pub mod span;
pub mod stack;
pub mod time;

pub use bits::Bits;
pub use index::IndexVec;
pub use matching::{Condition, FieldMatch, MatchKind};
pub use ordered::{OrderedMap, OrderedSet};
pub use rng::Rng;
pub use span::{Origin, Span};
pub use time::Time;
