//! Separates code, comments and the contents of strings in a Rust file, line by line.
//!
//! This is not a parser: it recognises just enough tokens that a rule about code does not match a string that looks
//! like code.

/// One line of a Rust file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The code, without comments; strings and character literals are emptied.
    pub code: String,
    /// The comment, including its slashes.
    pub comment: String,
    /// Whether the line begins inside a string.
    pub in_string: bool,
}

/// The state of the lexer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    /// The nesting depth.
    BlockComment(u32),
    String,
    /// The number of `#`.
    RawString(usize),
}

/// The lines of a Rust file.
pub(crate) fn lines(content: &str) -> Vec<Line> {
    let mut state = State::Code;
    content.lines().map(|line| read_line(line, &mut state)).collect()
}

fn read_line(text: &str, state: &mut State) -> Line {
    let in_string = matches!(state, State::String | State::RawString(_));
    let mut line = Line { in_string, ..Line::default() };
    let mut rest = text;
    while !rest.is_empty() {
        let taken = step(rest, state, &mut line);
        rest = &rest[taken..];
    }
    if *state == State::LineComment {
        *state = State::Code;
    }
    line
}

/// Reads one token of `rest`; returns its length in bytes.
fn step(rest: &str, state: &mut State, line: &mut Line) -> usize {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    match *state {
        State::Code => code(rest, first, state, line),
        State::LineComment => {
            line.comment.push_str(rest);
            rest.len()
        }
        State::BlockComment(depth) => {
            let (taken, next) = match rest.as_bytes() {
                [b'*', b'/', ..] if depth == 1 => (2, State::Code),
                [b'*', b'/', ..] => (2, State::BlockComment(depth - 1)),
                [b'/', b'*', ..] => (2, State::BlockComment(depth + 1)),
                _ => (first, State::BlockComment(depth)),
            };
            *state = next;
            line.comment.push_str(&rest[..taken]);
            taken
        }
        State::String => match rest.as_bytes() {
            [b'\\', _, ..] => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            [b'"', ..] => {
                *state = State::Code;
                line.code.push('"');
                1
            }
            _ => first,
        },
        State::RawString(hashes) => match rest.strip_prefix('"') {
            Some(after) if after.bytes().take(hashes).filter(|&byte| byte == b'#').count() == hashes => {
                *state = State::Code;
                line.code.push('"');
                1 + hashes
            }
            _ => first,
        },
    }
}

/// Reads one token of code.
fn code(rest: &str, first: usize, state: &mut State, line: &mut Line) -> usize {
    if rest.starts_with("//") {
        *state = State::LineComment;
        return 0;
    }
    if rest.starts_with("/*") {
        *state = State::BlockComment(1);
        line.comment.push_str("/*");
        return 2;
    }
    if rest.starts_with('"') {
        *state = State::String;
        line.code.push('"');
        return 1;
    }
    let in_word = line.code.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let (Some(hashes), false) = (raw_string_hashes(rest), in_word) {
        *state = State::RawString(hashes);
        line.code.push('"');
        return rest.find('"').map_or(rest.len(), |quote| quote + 1);
    }
    if let Some(length) = character_length(rest) {
        line.code.push_str("' '");
        return length;
    }
    line.code.push_str(&rest[..first]);
    first
}

/// The number of `#` if a raw string begins here.
fn raw_string_hashes(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.bytes().take_while(|&byte| byte == b'#').count();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The length of a character literal such as `'{'` or `'\n'`; `None` for a lifetime.
fn character_length(rest: &str) -> Option<usize> {
    let content = rest.strip_prefix('\'')?;
    let end = match content.strip_prefix('\\') {
        Some(escaped) => 2 + escaped.char_indices().skip(1).find(|&(_, c)| c == '\'')?.0,
        None => {
            let length = 1 + content.chars().next()?.len_utf8();
            rest[length..].starts_with('\'').then_some(length)?
        }
    };
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(content: &str) -> Vec<String> {
        lines(content).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        assert_eq!(code_of("a(\"b // \\\" {\") // c"), ["a(\"\") "]);
        assert_eq!(code_of("r#\"x \" y\"# z /* { /* } */ */ w"), ["\"\" z  w"]);
        assert_eq!(code_of("'{' '\\'' '\\u{7b}' 'a: &'b str"), ["' ' ' ' ' ' 'a: &'b str"]);
        assert_eq!(code_of("b\"x\" br\"y\" for\"z\""), ["b\"\" \"\" for\"\""]);
    }

    #[test]
    fn a_string_may_span_lines() {
        let lines = lines("f(r\"one\ntwo {\nthree\"); g()");
        assert_eq!(lines.iter().map(|line| line.in_string).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(lines[2].code, "\"); g()");
    }

    #[test]
    fn comments_are_kept() {
        assert_eq!(lines("x /* a\nb */ y // c")[0].comment, "/* a");
        assert_eq!(lines("x /* a\nb */ y // c")[1].comment, "b */// c");
    }
}
