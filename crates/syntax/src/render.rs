//! Diagnostics as text for people: the message, the underlined source, notes and help.
//!
//! `annotate-snippets` draws the text. This module selects the lines to show, so that a large file or a line of a
//! million characters costs nothing, and assigns each label to its file.

use crate::diag::{Diagnostic, Diagnostics, Label, Severity};
use crate::source::{SourceMap, Stretch};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use base::Span;
use std::fmt::Write;

/// A label over more lines than this underlines only its first line.
const LABEL_LINES_MAX: usize = 6;

/// If there is more text than this between the first and the last label of a file, it is not shown as one piece.
const WINDOW_BYTES_MAX: usize = 16 << 10;

/// The number of bytes on either side of the location that are shown of a line that is too long.
const CUT_BYTES: usize = 60;

/// The diagnostic with the underlined source. Ends with a line break.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, is_coloured: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code);
    let windows = windows(sources, diagnostic);
    let mut group = Group::with_title(title);
    for window in &windows {
        group = group.element(snippet(window));
    }
    for span in sources.include_chain(diagnostic.primary.span.lo) {
        if let Some(place) = sources.location(span.lo) {
            group = group.element(Level::NOTE.message(format!("included from {}:{}", place.file, place.line)));
        }
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    for help in &diagnostic.helps {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for line in renderer.render(&[group]).lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `file:line:column: error[E0101]: message`, without a line break.
pub fn render_short(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let mut text = String::new();
    if let Some(place) = sources.location(diagnostic.primary.span.lo) {
        let _ = write!(text, "{place}: ");
    }
    let _ = write!(text, "{}[{}]: {}", diagnostic.severity.as_str(), diagnostic.code, printable(&diagnostic.message));
    text
}

/// All diagnostics, an empty line after each, and a last line with their numbers. Empty if there are none.
pub fn render_all(sources: &SourceMap, diagnostics: &Diagnostics, is_coloured: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&render(sources, diagnostic, is_coloured));
        text.push('\n');
    }
    let count = |number: usize, noun: &str| match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{number} {noun}s")),
    };
    let counts = [count(diagnostics.error_count(), "error"), count(diagnostics.warning_count(), "warning")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if !counts.is_empty() {
        text.push_str(&counts.join(", "));
        if diagnostics.lost_count() > 0 {
            let _ = write!(text, " ({} not shown)", diagnostics.lost_count());
        }
        text.push('\n');
    }
    text
}

/// Escapes control characters, because messages may quote the program, and its text must not control the terminal.
fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_control() && c != '\n' { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// A range of lines of one file, and the labels in it.
struct Window<'a> {
    stretch: Stretch,
    span: Span,
    text: String,
    first_line: u32,
    labels: Vec<(AnnotationKind, Span, &'a str)>,
}

/// One window for each file that has labels, the primary label's first.
fn windows<'a>(sources: &'a SourceMap, diagnostic: &'a Diagnostic) -> Vec<Window<'a>> {
    let mut windows: Vec<Window<'a>> = Vec::new();
    let primary = std::iter::once((AnnotationKind::Primary, &diagnostic.primary));
    let secondary = diagnostic.secondary.iter().map(|label| (AnnotationKind::Context, label));
    for (kind, label) in primary.chain(secondary) {
        let Some(stretch) = sources.stretch(label.span.lo) else { continue };
        let span = clip(sources, label, &stretch);
        let lines = whole_lines(sources, span, &stretch);
        match windows.iter_mut().find(|window| window.stretch.id == stretch.id && fits(window.span, lines)) {
            Some(window) => {
                window.span = window.span.to(lines);
                window.labels.push((kind, span, &label.text));
            }
            None => {
                let labels = vec![(kind, span, label.text.as_str())];
                windows.push(Window { stretch, span: lines, text: String::new(), first_line: 0, labels });
            }
        }
    }
    for window in &mut windows {
        fill(sources, window);
    }
    windows
}

fn fits(window: Span, lines: Span) -> bool {
    let both = window.to(lines);
    (both.hi - both.lo) as usize <= WINDOW_BYTES_MAX
}

/// The label's range within its stretch, cut to the first line if it covers many.
fn clip(sources: &SourceMap, label: &Label, stretch: &Stretch) -> Span {
    let span = Span::new(label.span.lo, label.span.hi.clamp(label.span.lo, stretch.hi));
    let text = sources.text(span);
    if text.bytes().filter(|&byte| byte == b'\n').count() < LABEL_LINES_MAX && text.len() <= WINDOW_BYTES_MAX {
        return span;
    }
    let first_line = text.split('\n').next().unwrap_or("").len().min(CUT_BYTES);
    Span::new(span.lo, span.lo + first_line as u32)
}

/// The lines that contain `span`, or its surroundings if a line is too long to show.
fn whole_lines(sources: &SourceMap, span: Span, stretch: &Stretch) -> Span {
    let text = sources.text(Span::new(stretch.lo, stretch.hi));
    let (lo, hi) = ((span.lo - stretch.lo) as usize, (span.hi - stretch.lo) as usize);
    let bytes = text.as_bytes();
    let lo_line = bytes[..lo].iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
    let hi_line = bytes[hi..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |index| hi + index);
    let (mut from, mut to) = (lo_line, hi_line);
    if to - from > WINDOW_BYTES_MAX {
        from = lo.saturating_sub(CUT_BYTES).max(lo_line);
        to = (hi + CUT_BYTES).min(hi_line);
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
    }
    Span::new(stretch.lo + from as u32, stretch.lo + to as u32)
}

fn fill(sources: &SourceMap, window: &mut Window<'_>) {
    // A carriage return would be drawn as a symbol.
    window.text = sources.text(window.span).replace('\r', " ");
    let before = sources.text(Span::new(window.stretch.lo, window.span.lo));
    let line_breaks = before.bytes().filter(|&byte| byte == b'\n').count();
    window.first_line = window.stretch.first_line.saturating_add(line_breaks as u32);
}

fn snippet<'a>(window: &'a Window<'_>) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let base = window.span.lo;
    let annotations = window.labels.iter().map(|&(kind, span, text)| {
        let range = on_boundaries(&window.text, (span.lo - base) as usize, (span.hi - base) as usize);
        let annotation = kind.span(range);
        if text.is_empty() { annotation } else { annotation.label(printable(text)) }
    });
    Snippet::source(window.text.as_str())
        .path(printable(&window.stretch.name))
        .line_start(window.first_line as usize)
        .annotations(annotations)
}

/// The range, widened to character boundaries.
fn on_boundaries(text: &str, lo: usize, hi: usize) -> std::ops::Range<usize> {
    let (mut lo, mut hi) = (lo.min(text.len()), hi.min(text.len()));
    while !text.is_char_boundary(lo) {
        lo -= 1;
    }
    while !text.is_char_boundary(hi) {
        hi += 1;
    }
    lo..hi
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Renders an error at the first occurrence of `place`, with the first occurrence of `other` as a second location.
    fn check(text: &str, place: &str, other: &str, expected: Expect) {
        let mut sources = SourceMap::new();
        let file = sources.add("a.p4", text, None).unwrap();
        let span = |part: &str| {
            let lo = file.lo + text.find(part).unwrap() as u32;
            Span::new(lo, lo + part.len() as u32)
        };
        let diagnostic = Diagnostic::error("E0000", span(place), "this is wrong")
            .label("here")
            .secondary(span(other), "because of this")
            .note("a fact")
            .help("a way out");
        expected.assert_eq(&render(&sources, &diagnostic, false));
    }

    #[test]
    fn labels_stand_under_the_source() {
        check(
            "const bit<8> a = 1;\n\n\nconst bit<8> ä = a;\n",
            "= a",
            "bit<8>",
            expect![[r#"
                error[E0000]: this is wrong
                 --> a.p4:4:16
                  |
                1 | const bit<8> a = 1;
                  |       ------ because of this
                ...
                4 | const bit<8> ä = a;
                  |                ^^^ here
                  |
                  = note: a fact
                  = help: a way out
            "#]],
        );
    }

    #[test]
    fn carriage_returns_are_not_drawn() {
        check(
            "const int a = 1;\r\nconst int b = c;\r\n",
            "= c",
            "int a",
            expect![[r#"
                error[E0000]: this is wrong
                 --> a.p4:2:13
                  |
                1 | const int a = 1;
                  |       ----- because of this
                2 | const int b = c;
                  |             ^^^ here
                  |
                  = note: a fact
                  = help: a way out
            "#]],
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}bad{}", "x ".repeat(100_000), " y".repeat(100_000));
        let mut sources = SourceMap::new();
        sources.add("a.p4", &text, None).unwrap();
        let diagnostic = Diagnostic::error("E0000", Span::new(200_001, 200_004), "this is wrong");
        let rendered = render(&sources, &diagnostic, false);
        assert!(rendered.len() < 1000 && rendered.contains("bad"), "{rendered}");
        assert_eq!(render_short(&sources, &diagnostic), "a.p4:1:200001: error[E0000]: this is wrong");
    }

    #[test]
    fn a_diagnostic_may_have_no_place() {
        let diagnostic = Diagnostic::error("E0000", Span::NONE, "this\x1b[2J is wrong");
        assert_eq!(render(&SourceMap::new(), &diagnostic, false), "error[E0000]: this\\u{1b}[2J is wrong\n");
    }

    #[test]
    fn the_last_line_counts() {
        let mut all = Diagnostics::new();
        assert_eq!(render_all(&SourceMap::new(), &all, false), "");
        all.push(Diagnostic::error("E0000", Span::NONE, "wrong"));
        all.push(Diagnostic::error("E0000", Span::NONE, "wrong too"));
        all.push(Diagnostic::warning("W0000", Span::NONE, "odd"));
        assert!(render_all(&SourceMap::new(), &all, false).ends_with("\n2 errors, 1 warning\n"));
    }
}
