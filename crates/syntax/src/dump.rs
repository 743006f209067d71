//! The syntax tree as an outline without places: what `--emit ast` prints, and how tests compare two trees.
//!
//! It is the tree's debug text, laid out by indentation alone. Because the debug text is derived from the tree's
//! definition, no part of the tree can be forgotten here.

use crate::ast::Program;

/// The outline of a program.
pub fn dump(program: &Program) -> String {
    let mut outline = Outline::default();
    // Every line break of debug text separates two parts of the tree: those within strings are escaped.
    format!("{program:#?}").lines().for_each(|line| outline.add(line));
    outline.text
}

#[derive(Default)]
struct Outline {
    text: String,
    /// Indentation and last word of the last line.
    last_indent: usize,
    last_word: String,
}

impl Outline {
    /// Adds a line of debug text, unless it says nothing.
    fn add(&mut self, line: &str) {
        let content = line.trim_start();
        let indent = (line.len() - content.len()) / 2;
        let part = content.trim_end_matches([',', '{', '(', '[', ' ']);
        let part = part.strip_suffix(" Some").unwrap_or(part);
        let is_bracket = part.trim_end_matches(['}', ')', ']']).is_empty();
        let is_absent = part.ends_with(": []") || part.ends_with(": None") || part == "Some";
        // `Constant(Constant { ... })`: the variant says it already.
        let is_repeated = content.ends_with('{') && part == self.last_word && indent > self.last_indent;
        if is_bracket || is_absent || is_repeated || part.starts_with("span: ") {
            return;
        }
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(part);
        self.text.push('\n');
        self.last_indent = indent;
        self.last_word = part.rsplit(' ').next().unwrap_or("").to_string();
    }
}
