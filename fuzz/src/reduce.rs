//! Reduces a failing text to a small one that still fails.
//!
//! What enters: a text, and a function that tests whether a text still fails in the same way. What leaves: a text
//! from which no line, block or part in parentheses can be removed without the failure going away. The code knows
//! only the brackets of P4: a text that a change makes invalid does not fail in the same way, so the change is
//! undone.

use std::ops::Range;

/// The most texts that are tried.
const TRIES_MAX: usize = 20_000;

/// Reduces `text`, which must fail.
pub fn reduce(text: &str, still_fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut reducer = Reducer { text: text.to_owned(), still_fails, tries: 0 };
    loop {
        let before = reducer.text.len();
        reducer.lines();
        reducer.groups();
        if reducer.text.len() == before || reducer.tries >= TRIES_MAX {
            return reducer.text;
        }
    }
}

struct Reducer<'r> {
    text: String,
    still_fails: &'r mut dyn FnMut(&str) -> bool,
    tries: usize,
}

impl Reducer<'_> {
    /// Keeps `candidate` if it is shorter and still fails.
    fn accept(&mut self, candidate: String) -> bool {
        if candidate.len() >= self.text.len() || self.tries >= TRIES_MAX {
            return false;
        }
        self.tries += 1;
        let fails = (self.still_fails)(&candidate);
        if fails {
            self.text = candidate;
        }
        fails
    }

    /// Removes ranges of lines with balanced braces, long ranges first, and the braces around blocks.
    fn lines(&mut self) {
        let mut length = self.text.lines().count();
        while length > 0 {
            let mut start = 0;
            while start < self.text.lines().count() {
                let lines: Vec<&str> = self.text.lines().collect();
                let candidates = [balanced(&lines, start, length), block(&lines, start).filter(|_| length == 1)];
                let frame = block(&lines, start).filter(|range| length == 1 && range.len() > 2);
                let mut texts: Vec<String> =
                    candidates.into_iter().flatten().map(|range| without(&lines, &[range])).collect();
                texts.extend(
                    frame.map(|range| without(&lines, &[range.start..range.start + 1, range.end - 1..range.end])),
                );
                if !texts.into_iter().any(|text| self.accept(text)) {
                    start += length.div_ceil(2);
                }
            }
            length /= 2;
        }
    }

    /// Replaces the contents of parentheses by a part of them, or removes them.
    fn groups(&mut self) {
        let mut position = 0;
        while let Some(open) = self.text[position..].find(['(', '{', '<']).map(|found| found + position) {
            position = open + 1;
            let Some(close) = closing(&self.text, open) else { continue };
            let inside = self.text[open + 1..close].to_owned();
            if inside.contains('\n') {
                continue;
            }
            let with = |this: &Self, from: usize, to: usize, part: &str| {
                format!("{}{part}{}", &this.text[..from], &this.text[to..])
            };
            let mut parts: Vec<String> = parts(&inside);
            parts.push(String::new());
            for part in parts {
                let only = with(self, open, close + 1, &part);
                let inner = with(self, open + 1, close, &part);
                if self.accept(only) || self.accept(inner) {
                    position = open;
                    break;
                }
            }
        }
    }
}

/// The range of about `length` lines from `start` with balanced braces.
fn balanced(lines: &[&str], start: usize, length: usize) -> Option<Range<usize>> {
    let end = (start + length).min(lines.len());
    let depth = |range: &[&str]| range.iter().map(|line| braces(line)).sum::<i64>();
    (start + 1..=end).rev().take(4).find(|end| depth(&lines[start..*end]) == 0).map(|end| start..end)
}

/// The block that begins on the line, including its last line.
fn block(lines: &[&str], start: usize) -> Option<Range<usize>> {
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate().skip(start) {
        depth += braces(line);
        if depth <= 0 {
            return (index > start && depth == 0).then_some(start..index + 1);
        }
    }
    None
}

fn braces(line: &str) -> i64 {
    let count = |wanted: char| line.chars().filter(|found| *found == wanted).count() as i64;
    count('{') - count('}')
}

fn without(lines: &[&str], ranges: &[Range<usize>]) -> String {
    let kept = lines.iter().enumerate().filter(|(index, _)| !ranges.iter().any(|range| range.contains(index)));
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// The position of the bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (opens, closes) = match text.as_bytes()[open] {
        b'(' => (b'(', b')'),
        b'{' => (b'{', b'}'),
        _ => (b'<', b'>'),
    };
    let mut depth = 0;
    for (index, byte) in text.bytes().enumerate().skip(open) {
        if byte == opens {
            depth += 1;
        } else if byte == closes {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// The parts of a text between operators and commas outside of its brackets, and for each part the text from there to
/// the end.
fn parts(text: &str) -> Vec<String> {
    let mut cuts = Vec::new();
    let mut depth = 0;
    for (index, character) in text.char_indices() {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ' ' | ',' if depth == 0 => cuts.push(index),
            _ => {}
        }
    }
    let mut parts = Vec::new();
    for cut in cuts {
        parts.push(text[..cut].to_owned());
        parts.push(text[cut + 1..].trim_start().to_owned());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::reduce;

    #[test]
    fn irrelevant_parts_are_removed() {
        let text = "a {\n    b (1 + (2 * 3));\n    if (c) {\n        d;\n        fault(x, (y + z));\n    }\n}\ne;\n";
        let mut still_fails = |text: &str| {
            text.contains("fault(") && text.contains('z') && text.matches('(').count() == text.matches(')').count()
        };
        assert_eq!(reduce(text, &mut still_fails), "fault(z);\n".replace("fault", "        fault"));
    }

    #[test]
    fn texts_without_anything_to_take_stay() {
        assert_eq!(reduce("", &mut |_| true), "");
        assert_eq!(reduce("é ( é", &mut |text| text.contains('(') && text.contains("é")), "é ( é");
    }
}
