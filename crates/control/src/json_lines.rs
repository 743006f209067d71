//! Where the elements of a JSON file's lists begin.
//!
//! What enters: text that is valid JSON. What leaves: line numbers. The JSON library reports lines of syntax errors
//! only; a wrong entry deserves one too.

use base::OrderedMap;

/// For each list directly in the outermost object: the lines where its elements begin, counted from 1.
pub(crate) fn element_lines(text: &str) -> OrderedMap<String, Vec<u32>> {
    let mut scanner = Scanner { lines: OrderedMap::new(), list: String::new(), depth: 0, awaited: false };
    let (mut line, mut rest) = (1, text);
    while let Some(c) = rest.chars().next() {
        match c {
            '\n' => line += 1,
            '"' => {
                let Some(end) = string_end(rest) else { break };
                scanner.value(line);
                scanner.string(&rest[1..end - 1]);
                rest = &rest[end..];
                continue;
            }
            _ => scanner.character(c, line),
        }
        rest = &rest[c.len_utf8()..];
    }
    scanner.lines
}

/// One past the closing quote of the string that `text` begins with.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

struct Scanner {
    lines: OrderedMap<String, Vec<u32>>,
    /// The last string directly in the outermost object: the name of the list that follows.
    list: String,
    depth: u32,
    /// The next value is an element of a list directly in the outermost object.
    awaited: bool,
}

impl Scanner {
    fn character(&mut self, c: char, line: u32) {
        match c {
            '[' | '{' => {
                self.value(line);
                self.depth += 1;
                self.awaited = self.depth == 2 && c == '[';
                if self.awaited {
                    self.lines.insert(self.list.clone(), Vec::new());
                }
            }
            ']' | '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.awaited = false;
            }
            ',' => self.awaited = self.depth == 2 && self.lines.contains_key(&self.list),
            ':' => {}
            c if c.is_whitespace() => {}
            _ => self.value(line),
        }
    }

    /// A value begins here.
    fn value(&mut self, line: u32) {
        if std::mem::take(&mut self.awaited) {
            self.lines.entry(self.list.clone()).or_default().push(line);
        }
    }

    fn string(&mut self, content: &str) {
        if self.depth == 1 {
            self.list = content.to_string();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn elements_are_found_behind_strings_objects_and_lists() {
        let text = r#"{
            "target": "b[m]v2",
            "table_entries": [
                { "table": "a,b", "match": {"x": [1, 2]} },
                {
                    "table": "\"]"
                }, 7,
                [1, [2, 3]]
            ],
            "empty": [], "object": {"list": [1,
                2]},
            "one": [
                {}]
        }"#;
        expect![[r#"
            {
                "empty": [],
                "one": [
                    13,
                ],
                "table_entries": [
                    4,
                    5,
                    7,
                    8,
                ],
            }
        "#]]
        .assert_debug_eq(&element_lines(text));
    }

    #[test]
    fn text_that_ends_early_ends_the_scan() {
        for text in ["{\"a\": [1, \"", "{\"a", "[[[[", "]]]]", "\"", "{\"a\": \"\\"] {
            element_lines(text);
        }
    }
}
