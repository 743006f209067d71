//! The intermediate representation (IR): a P4 program, flat and typed, independent of P4's text and of C.
//!
//! What enters: programs built by `lower` from the typed tree, or read from text by [`text::parse`]. What leaves:
//! programs for the `passes`, for the reference interpreter (`interp`, which defines what everything here means) and
//! for `cgen`.
//!
//! The modules:
//! * [`program`]: a whole program: storage (variables, headers, stacks), blocks, actions, tables, extern instances.
//! * [`expr`]: expressions; they have no side effect and cannot fail.
//! * [`stmt`]: statements, places, parser states and transitions.
//! * [`table`]: tables, keys, entries.
//! * [`text`]: the text form, its writer and its reader.
//! * [`verify`](mod@verify): the rules that every program must satisfy.
//! * [`walk`]: walks over statements and expressions.
//! * [`architecture`]: architectures as data.
//! * [`v1model`], [`psa`] and [`pna`]: the architectures, as agreed between `lower` and `switch`.
//!
//! # Meaning, in short
//!
//! A packet's state is the value of every variable, the contents and validity of every header, the cursor in the
//! packet. At the start of each pass through the switch all variables are zero and all headers invalid (the
//! architecture then sets its intrinsic variables). Reading a field of an invalid header gives zero; writing one does
//! nothing. A stack element whose index is out of range reads as an invalid header and ignores writes. Arithmetic
//! wraps; shifts take any amount. There are no unions here: `lower` makes the other members invalid explicitly.

pub mod architecture;
pub mod expr;
pub mod pna;
pub mod program;
pub mod psa;
pub mod stmt;
pub mod table;
pub mod text;
pub mod v1model;
pub mod verify;
pub mod walk;

pub use architecture::{Architecture, BlockRole, Effect, INTRINSIC_SLOTS, Source};
pub use expr::{BinaryOp, Expr, ExprKind, HeaderRef, Type, UnaryOp};
pub use program::*;
pub use stmt::*;
pub use table::*;
pub use verify::{VerifyError, verify};
