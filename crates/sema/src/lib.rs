//! Names, types and constants: from the syntax tree to the typed tree.
//!
//! What enters: a [`syntax::ast::Program`]. What leaves: a [`hir::Program`], in which every name is resolved, every
//! expression has its type, every implicit cast is written, and every call's arguments stand in the order of the
//! parameters; and the diagnostics. A program with errors leaves a tree too, but `lower` must not see it.
//!
//! The way through:
//!
//! * `decls` walks the program; `type_decls`, `params`, `parsers`, `tables`, `instances` take its parts.
//! * `table_objects` knows what the tables' properties of v1model and PSA take.
//! * `stmts` and `switches` check statements; `exprs`, `operators`, `members`, `calls` expressions.
//! * `arguments` puts arguments in order and infers type arguments with `unify`; `casts` converts.
//! * `scopes` says what a name means, `types` what a type means, `consts` and `known` what is known before a packet
//!   comes.
//! * `annotations` checks the bodies of annotations.
//! * `control_plane` compares the names that controllers use, `instance_names` those of all instances of the program,
//!   `key_names` makes those of keys.
//! * [`walk`] is for those who look for something in the tree.
//! * `diagnostics` has a file for each kind of fault.

mod annotations;
mod arguments;
mod calls;
mod casts;
mod checker;
mod consts;
mod control_plane;
mod decls;
mod diagnostics;
mod display;
mod exprs;
pub mod hir;
mod instance_names;
mod instances;
mod key_names;
mod keysets;
mod known;
mod lvalues;
mod members;
mod operators;
mod params;
mod parsers;
mod scopes;
mod stmts;
mod switches;
mod table_objects;
mod tables;
#[cfg(test)]
mod testing;
mod type_decls;
mod types;
mod unify;
pub mod walk;

use checker::Checker;
pub use control_plane::digest_name;
pub use scopes::did_you_mean;
use syntax::ast;
use syntax::diag::Diagnostics;

/// Checks a program. The tree that is returned is complete if `diagnostics` has no errors.
pub fn check(program: &ast::Program, diagnostics: &mut Diagnostics) -> hir::Program {
    let mut checker = Checker::new(diagnostics);
    checker.program(program);
    checker.hir
}
