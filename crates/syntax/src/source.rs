//! All source text of a compilation, and the mapping from spans to lines.
//!
//! Files enter as text and are laid end to end, with one byte between them, so that eight bytes ([`Span`]) locate a
//! range in any of them. Position 0 belongs to no file: it is [`Span::NONE`]. A file that is included several times is
//! added several times, because its includer differs.

use base::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most bytes of source text in one compilation, all files together.
pub const SOURCE_BYTES_MAX: usize = 256 << 20;

/// A location for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name, or the name from a `#line` directive.
    pub file: Rc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// From `offset` on, lines are counted from `line` and the file is called `name`.
#[derive(Clone, Debug)]
struct LineMark {
    offset: u32,
    line: u32,
    name: Rc<str>,
}

/// One file.
#[derive(Clone, Debug)]
struct SourceFile {
    text: Rc<str>,
    start: u32,
    /// Offsets of the beginnings of lines, from the beginning of the file.
    line_starts: Vec<u32>,
    /// Sorted by offset; the first is at 0.
    marks: Vec<LineMark>,
    included_from: Option<Span>,
}

impl SourceFile {
    fn end(&self) -> u32 {
        self.start + self.text.len() as u32
    }
}

/// A part of a file with consecutive line numbers, from which diagnostics take their snippets.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Identifies the stretch and its file, for comparisons.
    pub id: (usize, usize),
    pub name: Rc<str>,
    /// Its range in the source map.
    pub lo: u32,
    pub hi: u32,
    /// The number of its first line.
    pub first_line: u32,
}

/// All source text of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// The definition of each used macro, by the location of the use.
    macro_uses: BTreeMap<u32, Span>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file and returns the span of its text, or `None` if that would exceed [`SOURCE_BYTES_MAX`].
    pub fn add(&mut self, name: &str, text: &str, included_from: Option<Span>) -> Option<Span> {
        let start = self.files.last().map_or(1, |file| file.end() + 1);
        if text.len() > SOURCE_BYTES_MAX || start as usize + text.len() > SOURCE_BYTES_MAX {
            return None;
        }
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(index, _)| index as u32 + 1);
        let file = SourceFile {
            text: text.into(),
            start,
            line_starts: std::iter::once(0).chain(breaks).collect(),
            marks: vec![LineMark { offset: 0, line: 1, name: name.into() }],
            included_from,
        };
        let span = Span::new(start, file.end());
        self.files.push(file);
        Some(span)
    }

    /// Whether a file with this name was added.
    pub fn has_file(&self, name: &str) -> bool {
        self.files.iter().any(|file| &*file.marks[0].name == name)
    }

    /// Records a `#line` directive: the line after the one of `span` has the number `line`.
    pub fn mark_line(&mut self, span: Span, line: u32, name: Option<&str>) {
        let Some(index) = self.file_index(span.lo) else { return };
        let file = &mut self.files[index];
        let next_line = file.line_starts.partition_point(|&start| start <= span.lo - file.start);
        let Some(&offset) = file.line_starts.get(next_line) else { return };
        let Some(last) = file.marks.last() else { return };
        let name = name.map_or_else(|| last.name.clone(), Into::into);
        if last.offset < offset {
            file.marks.push(LineMark { offset, line, name });
        }
    }

    /// Records that a macro is used at `span`, and its definition.
    pub(crate) fn note_macro_use(&mut self, span: Span, definition: Span) {
        self.macro_uses.insert(span.lo, definition);
    }

    /// The definition of the macro that is used at `position`, if there is one.
    pub fn macro_used_at(&self, position: u32) -> Option<Span> {
        self.macro_uses.get(&position).copied()
    }

    /// The location of the byte at `position`; `None` if it is in no file.
    pub fn location(&self, position: u32) -> Option<Location> {
        let file = &self.files[self.file_index(position)?];
        let offset = position - file.start;
        let line_index = file.line_starts.partition_point(|&start| start <= offset) - 1;
        let mark = &file.marks[file.marks.partition_point(|mark| mark.offset <= offset) - 1];
        let mark_line_index = file.line_starts.partition_point(|&start| start <= mark.offset) - 1;
        let mut line_text = &file.text[file.line_starts[line_index] as usize..];
        let mut column_bytes = (offset - file.line_starts[line_index]) as usize;
        while !line_text.is_char_boundary(column_bytes) {
            column_bytes -= 1;
        }
        line_text = &line_text[..column_bytes];
        Some(Location {
            file: mark.name.clone(),
            line: mark.line.saturating_add((line_index - mark_line_index) as u32),
            column: line_text.chars().count() as u32 + 1,
        })
    }

    /// The text of a span, as far as it lies in one file.
    pub fn text(&self, span: Span) -> &str {
        let Some(index) = self.file_index(span.lo) else { return "" };
        let file = &self.files[index];
        let (lo, hi) = (span.lo - file.start, span.hi.min(file.end()) - file.start);
        file.text.get(lo as usize..hi as usize).unwrap_or("")
    }

    /// The whole line (without its line break) that contains `position`.
    pub fn line_text(&self, position: u32) -> &str {
        let Some(index) = self.file_index(position) else { return "" };
        let file = &self.files[index];
        let line = file.line_starts.partition_point(|&start| start <= position - file.start) - 1;
        let rest = &file.text[file.line_starts[line] as usize..];
        rest.split('\n').next().unwrap_or("").trim_end_matches('\r')
    }

    /// The text of the file that contains `position`, shared.
    pub(crate) fn file_text(&self, position: u32) -> Rc<str> {
        self.file_index(position).map_or_else(|| "".into(), |index| self.files[index].text.clone())
    }

    /// The `#include` directives that led to the file of `position`, innermost first.
    pub fn include_chain(&self, position: u32) -> Vec<Span> {
        let mut chain = Vec::new();
        let mut next = self.file_index(position).and_then(|index| self.files[index].included_from);
        while let Some(span) = next {
            chain.push(span);
            next = self.file_index(span.lo).and_then(|index| self.files[index].included_from);
        }
        chain
    }

    /// The stretch that contains `position`.
    pub(crate) fn stretch(&self, position: u32) -> Option<Stretch> {
        let file_index = self.file_index(position)?;
        let file = &self.files[file_index];
        let mark_index = file.marks.partition_point(|mark| mark.offset <= position - file.start) - 1;
        let mark = &file.marks[mark_index];
        let hi = file.marks.get(mark_index + 1).map_or(file.end(), |next| file.start + next.offset);
        Some(Stretch {
            id: (file_index, mark_index),
            name: mark.name.clone(),
            lo: file.start + mark.offset,
            hi,
            first_line: mark.line,
        })
    }

    fn file_index(&self, position: u32) -> Option<usize> {
        let index = self.files.partition_point(|file| file.start <= position).checked_sub(1)?;
        (position <= self.files[index].end()).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_file_line_and_column() {
        let mut map = SourceMap::new();
        let first = map.add("a.p4", "one\ntwä x\n", None).unwrap();
        let second = map.add("b.p4", "", Some(first)).unwrap();
        let third = map.add("c.p4", "z", Some(second)).unwrap();
        let at = |position| map.location(position).map(|place| place.to_string());
        assert_eq!(at(0), None);
        assert_eq!(at(first.lo), Some("a.p4:1:1".into()));
        assert_eq!(at(first.lo + 9), Some("a.p4:2:5".into()), "columns count characters, not bytes");
        assert_eq!(at(first.lo + 7), Some("a.p4:2:3".into()), "inside a character is at the character");
        assert_eq!(at(first.hi), Some("a.p4:3:1".into()));
        assert_eq!(at(second.lo), Some("b.p4:1:1".into()));
        assert_eq!(at(third.lo), Some("c.p4:1:1".into()));
        assert_eq!(at(third.hi + 1), None);
        assert_eq!(map.include_chain(third.lo), [second, first]);
        assert_eq!(map.line_text(first.lo + 9), "twä x");
        assert_eq!(map.text(Span::new(first.lo + 4, first.lo + 8)), "twä");
    }

    #[test]
    fn line_directives_rename_what_follows() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", "x\n#line 100 \"b.p4\"\ny\nz\n", None).unwrap();
        map.mark_line(Span::new(file.lo + 2, file.lo + 3), 100, Some("b.p4"));
        let at = |offset| map.location(file.lo + offset).unwrap().to_string();
        assert_eq!(at(0), "a.p4:1:1");
        assert_eq!(at(2), "a.p4:2:1");
        assert_eq!(at(19), "b.p4:100:1");
        assert_eq!(at(21), "b.p4:101:1");
    }
}
