//! What every stage shares and none owns.
//!
//! Nothing enters and nothing leaves: these are the words the other crates speak in.
//!
//! * [`index`]: typed 32-bit indices and the dense maps they address.
//! * [`span`]: a range of source text.
//! * [`bits`]: a bit vector of any width, the value every P4 expression has.
//! * [`private`]: files and folders of this user alone.
//! * [`rng`]: the one random generator, so that a run is reproduced by its seed.
//! * [`limits`]: what the system refuses to exceed, in one place;
//! * [`stack`]: a stack deep enough for the highest tree.

pub mod bits;
pub mod index;
pub mod limits;
pub mod private;
pub mod rng;
pub mod span;
pub mod stack;

pub use bits::Bits;
pub use index::IndexVec;
pub use rng::Rng;
pub use span::Span;
