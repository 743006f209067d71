//! The control-plane interface of a program.
//!
//! P4Info names everything that controllers can read and write, assigns it an id, and gives the widths of its values.
//! [`generate`] makes it from a program, [`restrict`] removes what older clients do not support, [`encode`] writes it.
//! [`Model`] is the opposite direction: it maps the ids of a request to the switch that runs the program.
//!
//! Modules: `blocks` finds the contents of the program's blocks, `copies` compares actions with one name, `symbols`
//! assigns ids and aliases, and `generate` writes the objects, with `types` and `annotations` for their parts.

mod annotations;
mod blocks;
mod copies;
mod format;
mod generate;
mod mappings;
mod model;
mod symbols;
mod types;
mod version;

pub use format::{Format, encode, encode_message};
pub use generate::generate;
pub use model::*;
pub use p4runtime_proto::p4::config::v1;
pub use version::{Version, restrict};

/// The codes of this crate's errors.
pub mod codes {
    /// An id or a name that is not unique for controllers.
    ///
    /// `@id` sets the id by which controllers refer to an object. Its first eight bits are the kind of the object; they
    /// may be zero, and must otherwise be right. No two objects have the same id, and no two of a kind the same name;
    /// `@id` of a key, a parameter or a field is a number from 1 on. There is no example: it is reported when a P4Info
    /// is made.
    ///
    /// Specification: P4Runtime, ID Allocation for P4Info Objects.
    pub const ID: &str = "E1001";
    /// A type that P4Runtime cannot represent.
    ///
    /// Values that controllers write are bits, booleans, enums or types made of them by `type`; the data of a register
    /// or a digest may also be a struct, a header, a union, a stack of them or a tuple. There is no example: it is
    /// reported when a P4Info is made.
    ///
    /// Specification: P4Runtime, Representation of Arbitrary P4 Types.
    pub const TYPE: &str = "E1002";
    /// An invalid annotation for controllers.
    ///
    /// There is no example: it is reported when a P4Info is made.
    ///
    /// Specification: P4Runtime, P4Info Message.
    pub const ANNOTATION: &str = "E1003";
}
