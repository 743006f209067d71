//! ZipLine outside of the data plane: what the programs in `apps/zipline` need to be told.
//!
//! * [`code`]: Hamming and BCH codes, as the programs compute them; [`transform`]: chunks become bases and deviations.
//! * [`greedy`]: which bits of a sample a mask sets aside, and [`backward`], which it need not; [`choice`]: what each
//!   transform would make of the sample.
//! * [`dictionary`]: which bases of a sample get identifiers, and what that gives.
//! * [`entries`]: the tables of both programs, as commands; [`classes`]: these where classes of traffic have transforms
//!   of their own.
//! * [`pairs`]: which identifier means what, and when it may mean another.
//! * [`replay`]: what becomes of traffic whose bases are learned; [`sets`]: traffic in the shape of the paper's.
//!
//! Data go from the first to the last. Nothing here reads files or knows a switch.

pub mod backward;
pub mod choice;
pub mod classes;
pub mod code;
pub mod dictionary;
pub mod entries;
pub mod greedy;
pub mod pairs;
pub mod replay;
pub mod sets;
pub mod transform;

pub use classes::Classes;
pub use code::{Code, CodeError};
pub use dictionary::{Dictionary, Sizes};
pub use transform::{Kind, Split, Transform};
