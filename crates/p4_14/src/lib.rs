//! P4_14 text to the syntax tree of P4_16.
//!
//! What enters: a program in either language, in a file or as text. What leaves: a [`syntax::ast::Program`] for
//! v1model, with spans that point into the original program, and the diagnostics. No later stage knows that the program
//! was P4_14: `sema` checks the tree again, `lower` and both engines treat it like any other.
//!
//! Modules:
//!
//! * [`front`]: recognises the language of a program, and is the entry point for every tool;
//! * [`ast`] and `parser`: the grammar of P4_14, on the lexemes of `syntax`;
//! * `symbols`: what names refer to, header types and their widths;
//! * `forms`: what P4_14 writes instead of the methods of P4_16, for error messages;
//! * `translate`: the tree of P4_16. `docs/design/p4_14.md` describes the translation of each construct and its
//!   consequences for control planes.
//!
//! [`codes`] lists the errors that are found here: those that the translated program could not show, or only in terms
//! of P4_16.

pub mod ast;
pub mod codes;
mod forms;
pub mod front;
mod parser;
mod symbols;
mod translate;

pub use front::{Standard, parse_program, parse_text, recognise, standard_of_sources};
