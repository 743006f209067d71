//! ZipLine outside of the data plane: what the programs in `apps/zipline` need to be told.
//!
//! * [`code`]: Hamming codes; chunks become bases and deviations, as the programs do it.
//! * [`dictionary`]: which bases of a sample get identifiers, and what that gives.
//! * [`entries`]: the tables of both programs, as commands.
//! * [`pairs`]: which identifier means what, and when it may mean another.
//! * [`replay`]: what becomes of traffic whose bases are learned; [`sets`]: traffic in the shape of the paper's.
//!
//! Data go from the first to the last. Nothing here reads files or knows a switch.

pub mod code;
pub mod dictionary;
pub mod entries;
pub mod pairs;
pub mod replay;
pub mod sets;

pub use code::{Code, CodeError, Split};
pub use dictionary::{Dictionary, Sizes};
