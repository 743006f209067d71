//! Names, types and constants: syntax tree to typed tree
