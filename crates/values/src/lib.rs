//! Values as people and controllers write them: the one place that reads and prints them.
//!
//! What enters: text, or bytes of a message, and the type that the value has in the program. What leaves: bits of the
//! right width, and what an entry requires of a key; or a [`Problem`]. And back.
//!
//! * [`number`](mod@number): numbers as text and as bytes.
//! * [`read`](mod@read): a value from text.
//! * [`matches`](mod@matches): a match of a key from text.
//! * [`style`]: values and matches as text, as addresses where the program says so.
//! * [`problem`]: what is wrong, and what would be right.

pub mod matches;
pub mod number;
pub mod problem;
pub mod read;
pub mod style;

pub use matches::{entry_key, from_parts, part_names};
pub use number::{bits_needed, bytes, canonical, hexadecimal, number, significant, unsigned};
pub use problem::Problem;
pub use read::{ValueTarget, value};
pub use style::{Style, declared_format};
