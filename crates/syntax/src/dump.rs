//! The syntax tree as an outline without source ranges, which `--emit ast` prints and tests use to compare trees.
//!
//! It is the tree's debug text, laid out by indentation alone. The debug text is derived from the tree's definition, so
//! it contains every part of the tree.
//!
//! Rust's own layout (`{:#?}`) passes each letter through one writer for each level, which takes minutes for a long
//! chain of `else if`. `Outline` lays the plain text (`{:?}`) out instead, as it comes.

use crate::ast::Program;
use std::fmt::{self, Write};

/// The most levels by which a line is indented. A deeper one begins with the number of its level, because the text of a
/// deep tree would otherwise be blanks for the most part.
const INDENT_MAX: usize = 200;

/// The outline of a program.
pub fn dump(program: &Program) -> String {
    let mut outline = Outline::default();
    // Writing to a string does not fail, nor does debug text.
    let _ = write!(outline, "{program:?}");
    outline.end_line();
    outline.text
}

#[derive(Default)]
struct Outline {
    text: String,
    /// The level and the text of the current line.
    indent: usize,
    line: String,
    /// Whether the current line ends with an opening bracket, of which nothing was read yet.
    is_opened: bool,
    /// Whether the text is in a string, and behind a backslash.
    in_string: bool,
    is_escaped: bool,
    /// Level and last word of the previous line.
    last_indent: usize,
    last_word: String,
}

impl Write for Outline {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().for_each(|letter| self.read(letter));
        Ok(())
    }
}

impl Outline {
    /// Reads a letter of the debug text.
    fn read(&mut self, letter: char) {
        if self.in_string {
            self.line.push(letter);
            self.in_string = letter != '"' || self.is_escaped;
            self.is_escaped = letter == '\\' && !self.is_escaped;
            return;
        }
        let is_closing = matches!(letter, '}' | ')' | ']');
        if std::mem::take(&mut self.is_opened) {
            if is_closing {
                self.line.push(letter);
                return;
            }
            self.end_line();
            self.indent += 1;
        }
        match letter {
            ',' => self.end_line(),
            ' ' if self.line.is_empty() => {}
            _ if is_closing => {
                self.end_line();
                self.indent -= 1;
            }
            _ => {
                self.is_opened = matches!(letter, '{' | '(' | '[');
                self.in_string = letter == '"';
                self.line.push(letter);
            }
        }
    }

    /// Adds the current line, unless it has no information.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let content = line.trim_end();
        let part = content.trim_end_matches(['{', '(', '[', ' ']);
        let part = part.strip_suffix(" Some").unwrap_or(part);
        let is_absent = part.ends_with(": []") || part.ends_with(": None") || part == "Some";
        // `Constant(Constant { ... })`: the variant already has this name.
        let is_repeated = content.ends_with('{') && part == self.last_word && self.indent > self.last_indent;
        if part.is_empty() || is_absent || is_repeated || part.starts_with("span: ") {
            return;
        }
        if self.indent > INDENT_MAX {
            let _ = write!(self.text, "[level {}] ", self.indent);
        } else {
            self.text.extend(std::iter::repeat_n("  ", self.indent));
        }
        self.text.push_str(part);
        self.text.push('\n');
        self.last_indent = self.indent;
        self.last_word = part.rsplit(' ').next().unwrap_or("").to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryFiles, Options, SourceMap};

    fn parsed(text: &str) -> Program {
        let files = MemoryFiles::new();
        let (program, diagnostics) = crate::parse_text(&mut SourceMap::new(), "a.p4", text, &Options::new(&files));
        assert!(!diagnostics.has_errors());
        program
    }

    /// The lines of Rust's own layout.
    fn pretty_lines(program: &Program) -> Vec<String> {
        let mut outline = Outline::default();
        for line in format!("{program:#?}").lines() {
            let content = line.trim_start();
            outline.indent = (line.len() - content.len()) / 4;
            outline.line = content.trim_end_matches(',').to_owned();
            if !matches!(content.trim_end_matches(','), "}" | ")" | "]") {
                outline.end_line();
            }
        }
        outline.text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_lines_are_those_of_rust() {
        for text in [
            include_str!("../tests/samples/tour.p4"),
            include_str!("../tests/samples/router.p4"),
            "@a(\"(, \\\"[\\\\\") @b[] @c(x ( ) , []) const string s = \"} )\\\\\"; const tuple<> t = {};",
        ] {
            let program = parsed(text);
            assert_eq!(dump(&program).lines().collect::<Vec<_>>(), pretty_lines(&program));
        }
    }

    #[test]
    fn a_long_chain_is_soon_laid_out() {
        let arms: String = (0..5000).map(|case| format!("if (x == {case}) {{ x = 1; }} else ")).collect();
        let text = format!("control c(inout bit<16> x) {{ apply {{ {arms} {{ }} }} }}");
        base::stack::with_deep_stack(|| {
            let program = parsed(&text);
            // Rust's layout would take minutes.
            let dump = dump(&program);
            assert!(dump.len() < 5 << 20, "{}", dump.len());
            assert!(dump.lines().any(|line| line.starts_with("[level 5000] ")), "{dump}");
        });
    }
}
