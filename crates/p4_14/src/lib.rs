//! P4_14 text to the syntax tree of P4_16.
//!
//! Enters: a program in either language, in a file or as text. Leaves: a [`syntax::ast::Program`] for v1model, with
//! spans that point into the program as it was written, and the diagnostics. From there on nothing knows that the
//! program was P4_14: `sema` checks the tree again, `lower` and both backends take it like any other.
//!
//! The way through:
//!
//! * [`front`]: which language a program is in, and the one function through which every tool reads programs;
//! * [`ast`] and `parser`: the grammar of P4_14, on the lexemes of `syntax`;
//! * `symbols`: what names mean, header types with their widths;
//! * `translate`: the tree of P4_16. What each construct becomes, and what follows from it for control planes, is
//!   written in `docs/design/p4_14.md`.
//!
//! [`codes`] lists the faults that are found here; they are those that the translated program could not show, or would
//! show in words of P4_16.

pub mod ast;
pub mod codes;
pub mod front;
mod parser;
mod symbols;
mod translate;

pub use front::{Standard, parse_program, parse_text, recognise, standard_of_sources};
