//! All source text of a compilation, and the mapping from spans to lines.
//!
//! Files enter as text and are laid end to end, with one byte between them, so that two numbers ([`Span`]) locate a
//! range in any of them. Position 0 belongs to no file: it is [`Span::NONE`]. A file that is included several times is
//! added several times, because its includer differs.
//!
//! Tokens that macros create are numbered. A table of the expansions leads from a number ([`base::Origin`]) to the
//! token in the macro's body and to the macro's use, which may be in another macro's body.

use base::{Origin, Span};
use std::cmp::Ordering;
use std::sync::Arc;

/// The most bytes of source text in one compilation, all files together.
pub const SOURCE_BYTES_MAX: usize = 256 << 20;

/// A location for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name, or the name from a `#line` directive.
    pub file: Arc<str>,
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
    name: Arc<str>,
}

/// One file.
#[derive(Clone, Debug)]
struct SourceFile {
    text: Arc<str>,
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
    pub name: Arc<str>,
    /// Its range in the source map.
    pub lo: u32,
    pub hi: u32,
    /// The number of its first line.
    pub first_line: u32,
}

/// A token in the body of a macro.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyToken {
    pub span: Span,
    /// It stands for an argument.
    pub is_parameter: bool,
}

/// One use of a macro.
#[derive(Clone, Debug)]
struct Expansion {
    /// The number of the token that the body's first one created. The numbers of the others follow.
    first: u32,
    body: Arc<[BodyToken]>,
    /// The macro's name in its use.
    used: Span,
}

/// All source text of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// Sorted by `first`. The use of a macro in another one's body comes after the use of that one.
    expansions: Vec<Expansion>,
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

    /// Records the use of a macro with this body, and returns the number of the token that the body's first one
    /// creates.
    pub(crate) fn add_expansion(&mut self, used: Span, body: &Arc<[BodyToken]>) -> u32 {
        let first = self.expansions.last().map_or(1, |last| last.first + last.body.len() as u32);
        if !body.is_empty() {
            self.expansions.push(Expansion { first, body: body.clone(), used });
        }
        first
    }

    /// The place where the text of a span is written, and the uses of the macros whose bodies it is from, innermost
    /// first. An argument is written where the macro is used.
    pub fn written(&self, span: Span) -> (Span, Vec<Span>) {
        let mut uses = Vec::new();
        let (written, mut outer) = self.written_in_macro(span);
        while let Some(used) = outer {
            let place;
            (place, outer) = self.written_in_macro(used);
            uses.push(place);
        }
        (written, uses)
    }

    /// The place where the text of a span is written, and if that is in the body of a macro, the macro's use.
    fn written_in_macro(&self, span: Span) -> (Span, Option<Span>) {
        let plain = span.with_origin(Origin::NONE);
        let Some((expansion, Origin { first, last })) = self.common_expansion(span.origin) else {
            return (plain, None);
        };
        let token = |number: u32| expansion.body[(number - expansion.first) as usize];
        if first == last && token(first).is_parameter {
            return (plain, None);
        }
        let (first, last) = (token(first).span, token(last).span);
        let written = if span.lo == span.hi { last.end() } else { first.to(last) };
        (written, Some(expansion.used))
    }

    /// The innermost expansion that both tokens are from, and the tokens of its body that they are from.
    fn common_expansion(&self, origin: Origin) -> Option<(&Expansion, Origin)> {
        let Origin { mut first, mut last } = origin;
        let index = |number: u32| {
            let index = self.expansions.partition_point(|expansion| expansion.first <= number).checked_sub(1);
            index.filter(|_| number > 0)
        };
        loop {
            let (of_first, of_last) = (index(first)?, index(last)?);
            // The use of a macro has a smaller number than what the macro creates.
            match of_first.cmp(&of_last) {
                Ordering::Equal => return Some((&self.expansions[of_first], Origin { first, last })),
                Ordering::Greater => first = self.expansions[of_first].used.origin.first,
                Ordering::Less => last = self.expansions[of_last].used.origin.last,
            }
        }
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
        let start = file.line_starts[line] as usize;
        let end = file.line_starts.get(line + 1).map_or(file.text.len(), |&next| next as usize);
        file.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The text of the file that contains `position`, shared.
    pub(crate) fn file_text(&self, position: u32) -> Arc<str> {
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
