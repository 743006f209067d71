//! Instantiation and inlining: typed tree to IR
