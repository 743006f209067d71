//! The syntax tree as an outline without source ranges, which `--emit ast` prints and tests use to compare trees.
//!
//! It is the tree's debug text, laid out by indentation alone. The debug text is derived from the tree's definition, so
//! it contains every part of the tree.

use crate::ast::Program;

/// The outline of a program.
pub fn dump(program: &Program) -> String {
    let mut outline = Outline::default();
    // Every line break of debug text separates two parts of the tree, because line breaks in strings are escaped.
    format!("{program:#?}").lines().for_each(|line| outline.add(line));
    outline.text
}

#[derive(Default)]
struct Outline {
    text: String,
    /// Indentation and last word of the previous line.
    last_indent: usize,
    last_word: String,
}

impl Outline {
    /// Adds a line of debug text, unless it has no information.
    fn add(&mut self, line: &str) {
        let content = line.trim_start();
        let indent = (line.len() - content.len()) / 2;
        let part = content.trim_end_matches([',', '{', '(', '[', ' ']);
        let part = part.strip_suffix(" Some").unwrap_or(part);
        let is_bracket = part.trim_end_matches(['}', ')', ']']).is_empty();
        let is_absent = part.ends_with(": []") || part.ends_with(": None") || part == "Some";
        // `Constant(Constant { ... })`: the variant already has this name.
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
