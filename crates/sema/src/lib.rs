//! Names, types and constants: from the syntax tree to the typed tree.
//!
//! What enters: a [`syntax::ast::Program`]. What leaves: a [`hir::Program`], in which every name is resolved, every expression has
//! its type, every implicit cast is written, and every call's arguments stand in the order of the parameters; and the
//! diagnostics. A program with errors leaves a tree too, but `lower` must not see it.

pub mod hir;
