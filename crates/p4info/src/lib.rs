//! What a program shows to its controllers.
//!
//! P4Info names everything that can be written and read, gives it an id, and says how wide its values are. [`generate`]
//! makes it from a program, [`restrict`] leaves out what older clients do not know, [`encode`] writes it. The other
//! direction is [`Model`]: what an id in a request means for the switch that runs the program.
//!
//! The way through: `blocks` finds what the program's blocks contain, `symbols` gives ids and aliases, `generate`
//! writes the objects, with `types` and `annotations` for what they are made of.

mod annotations;
mod blocks;
mod format;
mod generate;
mod mappings;
mod model;
mod symbols;
mod types;
mod version;

pub use format::{Format, encode};
pub use generate::generate;
pub use model::*;
pub use p4runtime_proto::p4::config::v1;
pub use version::{Version, restrict};

/// The codes of this crate's errors.
pub mod codes {
    /// An id or a name that controllers cannot tell from another.
    ///
    /// `@id` gives an object the id that controllers know it by. Its first eight bits say what the object is; they are
    /// left zero, or are right. No two objects have the same id, and no two of a kind the same name; `@id` of a key, a
    /// parameter or a field is a number from 1 on. There is no example: it is reported where a P4Info is made.
    ///
    /// Specification: P4Runtime, ID Allocation for P4Info Objects.
    pub const ID: &str = "E1001";
    /// A type that controllers cannot be told of.
    ///
    /// Values that controllers write are bits, truth values, enums or types made of them by `type`; what a register
    /// holds or a digest tells may also be a struct, a header, a union, a stack of them or a tuple. There is no
    /// example: it is reported where a P4Info is made.
    ///
    /// Specification: P4Runtime, Representation of Arbitrary P4 Types.
    pub const TYPE: &str = "E1002";
    /// An annotation for controllers that does not say what it must.
    ///
    /// There is no example: it is reported where a P4Info is made.
    ///
    /// Specification: P4Runtime, P4Info Message.
    pub const ANNOTATION: &str = "E1003";
}
