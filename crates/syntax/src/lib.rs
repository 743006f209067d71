//! Source map, preprocessor, lexer, parser, syntax tree, printer

pub mod ast;
pub mod diag;
pub mod render;
pub mod source;
