//! JSON with the line numbers of its values, and with the members of objects in their order.
//!
//! What enters: a text. What leaves: a tree, or the first place where the text is not valid JSON. The JSON library
//! parses and validates the text; this reader makes a second pass over it to recover what the library discards.

use serde_json::Value;

/// An error in a file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Fault {
    /// An error on a line.
    pub fn new(line: u32, message: impl Into<String>) -> Fault {
        Fault { line, message: message.into() }
    }
}

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line, counted from 1.
    pub line: u32,
    /// The value.
    pub json: Json,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// The members as they were written; a name may occur twice.
    Object(Vec<Member>),
    /// The elements.
    List(Vec<Node>),
    /// A string.
    Text(String),
    /// A number, a truth value or null.
    Other(Value),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The line of the name.
    pub line: u32,
    /// The member's value.
    pub value: Node,
}

impl Node {
    /// The members, if it is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.json {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The first member of this name, if the value is an object that has one. A member that is null counts as
    /// missing.
    pub fn member(&self, name: &str) -> Option<&Node> {
        let value = &self.members()?.iter().find(|member| member.name == name)?.value;
        (value.json != Json::Other(Value::Null)).then_some(value)
    }

    /// The text, if the value is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.json {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The kind of the value, for messages.
    pub fn describe(&self) -> String {
        match &self.json {
            Json::Object(_) => "an object".to_owned(),
            Json::List(_) => "a list".to_owned(),
            Json::Text(text) => format!("\"{text}\""),
            Json::Other(value) => value.to_string(),
        }
    }
}

/// Parses a text.
pub fn parse(text: &str) -> Result<Node, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The library also limits the nesting of values.
    if let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(Fault::new(error.line().max(1) as u32, format!("no valid JSON: {error}")));
    }
    let mut reader = Reader { rest: text, line: 1 };
    reader.value().ok_or_else(|| Fault::new(reader.line, "no valid JSON"))
}

/// Makes a pass over a text that is known to be valid JSON.
struct Reader<'t> {
    rest: &'t str,
    line: u32,
}

impl<'t> Reader<'t> {
    /// The next character that is not white space, without consuming it.
    fn peek(&mut self) -> Option<char> {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.skip(blank);
        self.rest.chars().next()
    }

    /// Consumes this many bytes.
    fn skip(&mut self, bytes: usize) -> &'t str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count() as u32;
        self.rest = rest;
        passed
    }

    fn value(&mut self) -> Option<Node> {
        let first = self.peek()?;
        let line = self.line;
        let json = match first {
            '{' => Json::Object(self.elements('}', Reader::one_member)?),
            '[' => Json::List(self.elements(']', Reader::value)?),
            '"' => Json::Text(self.string()?),
            _ => {
                let end = self.rest.find(|c: char| c.is_whitespace() || ",]}".contains(c)).unwrap_or(self.rest.len());
                Json::Other(serde_json::from_str(self.skip(end)).ok()?)
            }
        };
        Some(Node { line, json })
    }

    /// The elements up to the closing bracket `close`, separated by commas.
    fn elements<T>(&mut self, close: char, one: fn(&mut Reader<'t>) -> Option<T>) -> Option<Vec<T>> {
        let mut elements = Vec::new();
        self.skip(1);
        while self.peek()? != close {
            if self.peek()? == ',' {
                self.skip(1);
            }
            elements.push(one(self)?);
        }
        self.skip(1);
        Some(elements)
    }

    fn one_member(&mut self) -> Option<Member> {
        self.peek()?;
        let line = self.line;
        let name = self.string()?;
        self.peek()?;
        self.skip(1);
        Some(Member { name, line, value: self.value()? })
    }

    fn string(&mut self) -> Option<String> {
        let mut escaped = false;
        let is_end = |(at, byte): (usize, u8)| {
            let is_end = at > 0 && byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end.then_some(at + 1)
        };
        let end = self.rest.bytes().enumerate().find_map(is_end)?;
        serde_json::from_str(self.skip(end)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn show(node: &Node, indent: usize, shown: &mut String) {
        let blank = " ".repeat(indent);
        match &node.json {
            Json::Object(members) => {
                *shown += "{\n";
                for member in members {
                    *shown += &format!("{blank}  {}: {} = {}: ", member.line, member.name, member.value.line);
                    show(&member.value, indent + 2, shown);
                }
                *shown += &format!("{blank}}}\n");
            }
            Json::List(elements) => {
                *shown += "[\n";
                for element in elements {
                    *shown += &format!("{blank}  {}: ", element.line);
                    show(element, indent + 2, shown);
                }
                *shown += &format!("{blank}]\n");
            }
            Json::Text(text) => *shown += &format!("{text:?}\n"),
            Json::Other(value) => *shown += &format!("{value}\n"),
        }
    }

    fn check(text: &str, expected: Expect) {
        let mut shown = String::new();
        match parse(text) {
            Ok(node) => show(&node, 0, &mut shown),
            Err(fault) => shown = format!("{}: {}\n", fault.line, fault.message),
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn every_value_has_its_line_and_members_keep_their_order() {
        check(
            "\u{feff}{\"z\": 1,\n \"a\":\n\n[true, null,-1.5e3\n],\"\\\"q,]\": \"x\\\\\", \"a\" : {},\"e\":[ ]}\n",
            expect![[r#"
                {
                  1: z = 1: 1
                  2: a = 4: [
                    4: true
                    4: null
                    4: -1500.0
                  ]
                  5: "q,] = 5: "x\\"
                  5: a = 5: {
                  }
                  5: e = 5: [
                  ]
                }
            "#]],
        );
        check(
            " 7 ",
            expect![[r#"
            7
        "#]],
        );
    }

    #[test]
    fn invalid_json_is_refused_with_its_line() {
        check(
            "{\n\"a\": [1,\n 2,,]}",
            expect![[r#"
            3: no valid JSON: expected value at line 3 column 4
        "#]],
        );
        check(
            "",
            expect![[r#"
            1: no valid JSON: EOF while parsing a value at line 1 column 0
        "#]],
        );
        check(
            &"[".repeat(100_000),
            expect![[r#"
            1: no valid JSON: recursion limit exceeded at line 1 column 128
        "#]],
        );
    }
}
