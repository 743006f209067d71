//! Source lines and text of a program.
//!
//! What enters: the source map of a compilation. What leaves: lines for spans, and their text, shortened for a line of
//! a trace.

use base::Span;
use std::path::Path;
use std::sync::Arc;
use syntax::SourceMap;

/// The most characters of a condition that are shown.
const CHARACTERS_MAX: usize = 120;

/// The ellipsis.
const CUT: &str = "...";

/// All text of a program.
#[derive(Clone, Debug)]
pub struct Places(pub Arc<SourceMap>);

impl Places {
    /// The position of a span, as `router.p4:12`; empty if it has none.
    pub fn place(&self, span: Span) -> String {
        let location = if span.is_none() { None } else { self.0.location(span.lo) };
        let shown = location.and_then(|it| {
            let file = Path::new(&*it.file).file_name()?;
            Some(format!("{}:{}", file.to_string_lossy(), it.line))
        });
        shown.unwrap_or_default()
    }

    /// A part of the program in one line.
    pub fn written(&self, span: Span) -> String {
        in_one_line(self.text(span))
    }

    /// The text of a span.
    fn text(&self, span: Span) -> &str {
        if span.is_none() { "" } else { self.0.text(span) }
    }

    /// Whether the text of a span has this name.
    pub fn names(&self, span: Span, name: &str) -> bool {
        self.text(span).split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    }

    /// The condition of an `if` or a `switch` at a span, as written; `None` if there is no such statement.
    pub fn question(&self, keyword: &str, span: Span) -> Option<String> {
        let rest = self.text(span).strip_prefix(keyword)?.trim_start();
        within_parentheses(rest).map(in_one_line)
    }

    /// The condition of the `for` at a span, as written: `k < 2` or `k in 1..2`. `None` if there is no such statement.
    pub fn loop_condition(&self, span: Span) -> Option<String> {
        let header = within_parentheses(self.text(span).strip_prefix("for")?.trim_start())?;
        if let Some(condition) = header.split(';').nth(1) {
            return Some(in_one_line(condition));
        }
        let header = in_one_line(header);
        let (declared, range) = header.split_once(" in ")?;
        Some(format!("{} in {range}", declared.rsplit(' ').next()?))
    }

    /// The function that is called at a span, and the call as written; `None` if there is no call.
    pub fn call(&self, span: Span) -> Option<(&str, String)> {
        let text = self.text(span);
        let end = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_')?;
        let (name, rest) = text.split_at(end);
        let arguments = within_parentheses(rest.trim_start())?;
        (!name.is_empty()).then(|| (name, format!("{name}({})", in_one_line(arguments))))
    }

    /// The argument at this position of the call at a span, as written.
    pub fn argument(&self, span: Span, position: usize) -> Option<String> {
        let text = self.text(span);
        let arguments = within_parentheses(&text[text.find('(')?..])?;
        outermost_parts(arguments).nth(position).map(in_one_line)
    }
}

/// The parts between the commas that are in no brackets.
fn outermost_parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |character: char| {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
}

/// The contents of the parentheses at the start of a text.
fn within_parentheses(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(1..at);
        }
    }
    None
}

/// A text without line breaks and comments, shortened if it is long.
fn in_one_line(text: &str) -> String {
    let without_comments = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    let words: Vec<&str> = without_comments.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    if line.chars().count() <= CHARACTERS_MAX {
        return line;
    }
    line.chars().take(CHARACTERS_MAX - CUT.len()).collect::<String>() + CUT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(texts: &[&str]) -> (Places, Vec<Span>) {
        let mut map = SourceMap::new();
        let spans = texts.iter().enumerate().map(|(n, text)| map.add(&format!("dir/{n}.p4"), text, None).unwrap());
        let spans = spans.collect();
        (Places(Arc::new(map)), spans)
    }

    #[test]
    fn places_are_those_of_the_source_map() {
        let (places, spans) = places(&["a\nb\n", "", "c"]);
        let at = |file: usize, offset: u32| places.place(Span::new(spans[file].lo + offset, spans[file].lo + offset));
        assert_eq!([at(0, 0), at(0, 2), at(2, 0)], ["0.p4:1", "0.p4:2", "2.p4:1"]);
        assert_eq!(places.place(Span::NONE), "");
        assert_eq!(places.place(Span::new(1000, 1001)), "");
    }

    #[test]
    fn conditions_and_calls_are_as_they_were_written() {
        let texts = [
            "if (hdr.ipv4.isValid() &&  // both\n    (hdr.ipv4.ttl > 1)) { drop(); } else { }",
            "mark_to_drop(standard_metadata)",
            "x = f(y)",
            "if (",
            "",
        ];
        let (places, spans) = places(&texts);
        assert_eq!(places.question("if", spans[0]).as_deref(), Some("hdr.ipv4.isValid() && (hdr.ipv4.ttl > 1)"));
        let call = places.call(spans[1]).map(|(name, text)| (name.to_owned(), text));
        assert_eq!(call, Some(("mark_to_drop".to_owned(), texts[1].to_owned())));
        assert_eq!(places.call(spans[2]), None);
        assert_eq!((places.question("if", spans[3]), places.call(spans[4])), (None, None));
        let (places, spans) = self::places(&["verify_checksum(h.isValid() && f(1, 2),\n {a, b[1]}, h.c, X.y)", "x"]);
        let argument = |position| places.argument(spans[0], position);
        assert_eq!(argument(0).as_deref(), Some("h.isValid() && f(1, 2)"));
        assert_eq!((argument(2).as_deref(), argument(4)), (Some("h.c"), None));
        assert_eq!(places.argument(spans[1], 0), None);
        let loops =
            ["for (bit<8> k = 0, bit<8> j = f(1);\n k <\n j; k += 1) { }", "for(bit<8> k in 1..f(2)) {}", "fort"];
        let (places, spans) = self::places(&loops);
        let conditions = spans.iter().map(|&span| places.loop_condition(span).unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(conditions, ["k < j", "k in 1..f(2)", ""]);
        let long = format!("if ({}) {{}}", vec!["abcdefgh"; 40].join(" && "));
        let (places, spans) = self::places(&[&long]);
        assert_eq!(places.question("if", spans[0]).unwrap().chars().count(), CHARACTERS_MAX);
    }
}
