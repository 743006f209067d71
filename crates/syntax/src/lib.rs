//! Source map, preprocessor, lexer, parser, syntax tree, printer

pub mod ast;
