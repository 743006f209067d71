//! Names, types and constants: from the syntax tree to the typed tree.
//!
//! What enters: a [`syntax::ast::Program`]. What leaves: a [`hir::Program`], in which every name is resolved, every
//! expression has its type, every implicit cast is explicit, and every call's arguments are in the order of the
//! parameters; and the diagnostics. A program with errors leaves a tree too, but `lower` must not receive it.
//!
//! Modules:
//!
//! * `decls` traverses the program; `type_decls`, `params`, `parsers`, `tables`, `instances` check its parts.
//! * `table_objects` checks the table properties of v1model and PSA.
//! * `stmts` and `switches` check statements; `exprs`, `operators`, `members`, `calls` check expressions.
//! * `arguments` assigns arguments to parameters and infers type arguments with `unify`; `casts` converts.
//! * `scopes` resolves names, `types` resolves types, `consts` and `known` evaluate constants.
//! * `annotations` checks the bodies of annotations.
//! * `control_plane` compares control-plane names, `instance_names` those of all instances of the program, `key_names`
//!   derives those of keys.
//! * [`walk`] has traversals of the tree for other crates.
//! * `diagnostics` has a file for each kind of error.

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
mod sizes;
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

/// Checks a program. The returned tree is complete if `diagnostics` has no errors.
pub fn check(program: &ast::Program, diagnostics: &mut Diagnostics) -> hir::Program {
    let mut checker = Checker::new(diagnostics);
    checker.program(program);
    checker.hir
}
