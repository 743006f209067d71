//! Source map, preprocessor, lexer, parser, syntax tree, printer
