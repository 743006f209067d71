//! P4 text to a syntax tree.
//!
//! What enters: the path or the text of a program, and [`Options`] (include folders, macros, the loader of files). What
//! leaves: an [`ast::Program`], the [`SourceMap`] that locates every node, and [`Diagnostics`]. A program with errors
//! still has a tree, which contains what could be parsed.
//!
//! Modules:
//!
//! * [`source`]: all text of a compilation; turns a span into file, line and column.
//! * `preprocess`, with `lexer` and `token`: includes, macros, conditionals; text to tokens.
//! * `parser`: tokens to the tree, with error recovery. [`lexemes`] gives the tokens to parsers of other grammars.
//! * [`ast`]: the tree. [`printer`] writes it as P4 again, [`mod@dump`] as an outline without source ranges.
//! * [`diag`], [`codes`], [`mod@render`]: diagnostics, their codes, and their text. All later stages use them.
//! * [`builtin`]: `core.p4` and `v1model.p4`, which `#include` finds without an include folder.

pub mod ast;
pub mod builtin;
pub mod codes;
pub mod diag;
pub mod dump;
pub mod lexemes;
mod lexer;
mod literal;
pub mod loader;
mod parser;
mod preprocess;
pub mod printer;
pub mod render;
pub mod source;
mod token;

pub use diag::{Diagnostic, Diagnostics, Severity, WarningLevel};
pub use dump::dump;
pub use lexemes::{Lexeme, LexemeKind, Preprocessed};
pub use loader::{DiskFiles, FileLoader, MemoryFiles};
pub use parser::is_reserved;
pub use preprocess::Options;
pub use printer::print;
pub use render::{render, render_all, render_short};
pub use source::{Location, SourceMap};

use std::path::Path;

/// Parses the program in the file at `path`.
pub fn parse_program(sources: &mut SourceMap, path: &Path, options: &Options<'_>) -> (ast::Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let tokens = preprocess::preprocess_file(sources, path, options, &mut diagnostics);
    (parser::parse(tokens, sources, &mut diagnostics), diagnostics)
}

/// Parses `text` as the program in a file called `name`; `#include "..."` searches the folder of that name.
pub fn parse_text(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    options: &Options<'_>,
) -> (ast::Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let folder = Path::new(name).parent();
    let tokens = preprocess::preprocess(sources, name, folder, text.into(), options, &mut diagnostics);
    (parser::parse(tokens, sources, &mut diagnostics), diagnostics)
}
