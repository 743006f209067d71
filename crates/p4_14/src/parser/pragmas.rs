//! Extracts `@pragma` lines from the lexemes.
//!
//! What enters: all lexemes. What leaves: those outside such lines, and the contents of the lines, each with the index
//! of the following lexeme. A pragma may therefore stand between any two lexemes, as in the reference compiler; only
//! those before a declaration have a meaning.

use crate::ast::{Ident, Pragma, PragmaOperand};
use base::OrderedMap;
use num_bigint::BigInt;
use syntax::{Lexeme, LexemeKind};

/// Removes the `@pragma` lines from a program; the last lexeme is the end of the file, and stays.
pub(super) fn split(lexemes: Vec<Lexeme>) -> (Vec<Lexeme>, OrderedMap<usize, Vec<Pragma>>) {
    let mut rest: Vec<Lexeme> = Vec::with_capacity(lexemes.len());
    let mut lines: OrderedMap<usize, Vec<Pragma>> = OrderedMap::new();
    let mut next = 0;
    while next < lexemes.len() {
        let is_pragma = lexemes[next].kind == LexemeKind::Punctuation
            && &*lexemes[next].text == "@"
            && lexemes.get(next + 1).is_some_and(|it| it.kind == LexemeKind::Word && &*it.text == "pragma");
        if !is_pragma {
            rest.push(lexemes[next].clone());
            next += 1;
            continue;
        }
        let start = next + 2;
        let is_inside = |it: &Lexeme| !it.is_first_on_line && it.kind != LexemeKind::EndOfFile;
        let length = lexemes[start..].iter().take_while(|it| is_inside(it)).count();
        let line = &lexemes[start..start + length];
        if let Some(mut pragma) = pragma(line) {
            pragma.span = lexemes[next].span.to(pragma.span);
            // The lexeme after the pragma follows a line break, so it still begins a line.
            lines.entry(rest.len()).or_default().push(pragma);
        }
        next = start + length;
    }
    (rest, lines)
}

/// The contents of a line after the word `pragma`; none if it is empty.
fn pragma(line: &[Lexeme]) -> Option<Pragma> {
    let (name, operands) = line.split_first()?;
    let last = line.last()?;
    let mut pragma = Pragma {
        name: Ident { name: name.text.clone(), span: name.span },
        operands: Vec::new(),
        span: name.span.to(last.span),
    };
    let mut word = String::new();
    for (position, lexeme) in operands.iter().enumerate() {
        match lexeme.kind {
            LexemeKind::String => word.push_str(lexeme.text.trim_matches('"')),
            LexemeKind::Punctuation if &*lexeme.text == "," => {}
            _ => word.push_str(&lexeme.text),
        }
        let ends = operands.get(position + 1).is_none_or(|next| next.has_space_before || &*next.text == ",");
        if ends && !word.is_empty() {
            let number = if lexeme.kind == LexemeKind::Integer { number(&word) } else { None };
            let word = std::mem::take(&mut word);
            pragma.operands.push(number.map_or_else(|| PragmaOperand::Text(word.into()), PragmaOperand::Number));
        }
    }
    Some(pragma)
}

/// Parses a word as a number.
fn number(word: &str) -> Option<BigInt> {
    let lower = word.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, &lower[..]),
    };
    BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use syntax::{Diagnostics, MemoryFiles, Options, Preprocessed, SourceMap};

    #[test]
    fn lines_are_taken_out_wherever_they_stand() {
        let text = "@pragma stage 1\n@pragma pa ingress ipv4.ttl, 0x10 \"a b\"\ntable t {\n@pragma\n@pragma x\n }";
        let files = MemoryFiles::new();
        let mut diagnostics = Diagnostics::new();
        let options = Options::new(&files);
        let program = Preprocessed::from_text(&mut SourceMap::new(), "t.p4", text, &options, &mut diagnostics);
        let (rest, lines) = split(program.lexemes());
        let rest: Vec<&str> = rest.iter().map(|it| &*it.text).collect();
        let mut shown = format!("{}\n", rest.join(" ").trim_end());
        for (position, pragma) in lines.iter().flat_map(|(at, lines)| lines.iter().map(move |it| (at, it))) {
            shown.push_str(&format!("{position}: {} {:?}\n", pragma.name.name, pragma.operands));
        }
        expect![[r#"
            table t { }
            0: stage [Number(1)]
            0: pa [Text("ingress"), Text("ipv4.ttl"), Number(16), Text("a b")]
            3: x []
        "#]]
        .assert_eq(&shown);
    }
}
