//! ZipLine outside of the data plane: the configuration of the programs in `apps/zipline`.
//!
//! * [`code`]: Hamming and BCH codes, as the programs compute them; [`transform`]: splits chunks into bases and
//!   deviations.
//! * [`greedy`], [`backward`]: choose which bits a mask sets aside, from a sample; [`choice`]: compares all
//!   transforms on the sample.
//! * [`dictionary`]: which bases of a sample get identifiers, and the resulting sizes.
//! * [`entries`]: the tables of both programs, as commands; [`classes`]: the same for classes with their own
//!   transforms.
//! * [`pairs`]: assigns identifiers to bases, and decides when an identifier may be reused.
//! * [`replay`]: simulates an encoder that learns bases; [`sets`]: traffic with the properties of the paper's data
//!   sets.
//!
//! Data flow from the first module to the last. None of these reads files or connects to switches: that is what
//! [`command`] does.

pub mod backward;
pub mod choice;
pub mod classes;
pub mod code;
pub mod command;
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
