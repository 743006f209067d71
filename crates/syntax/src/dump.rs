//! The syntax tree as an outline without places: what `--emit ast` prints, and how tests compare two trees.
//!
//! It is the tree's debug text, laid out by indentation alone. Because the debug text is derived from the tree's
//! definition, no part of the tree can be forgotten here.

use crate::ast::Program;
use std::fmt::Write;

/// The outline of a program.
pub fn dump(program: &Program) -> String {
    let mut outline = String::new();
    // Every line break of debug text separates two parts of the tree: those within strings are escaped.
    for line in format!("{program:#?}").lines() {
        let indent = line.len() - line.trim_start().len();
        let content = line.trim_start().trim_end_matches([',', '{', '(', '[', ' ']);
        let is_closing = content.trim_end_matches(['}', ')', ']']).is_empty();
        let is_absent = content.ends_with(": []") || content.ends_with(": None");
        if !(is_closing || is_absent || content.starts_with("span: ")) {
            let _ = writeln!(outline, "{:indent$}{content}", "", indent = indent / 2);
        }
    }
    outline
}
