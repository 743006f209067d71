//! The parts of a program, found by its brackets and separators.

use super::tokens::{Kind, Token};
use std::ops::Range;

/// The kind of a part. Parts of the same kind can replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartKind<'t> {
    /// A declaration, a statement or a property of a table: by its first word, if that is a keyword.
    Item(&'t str),
    /// One of several items between brackets, by the bracket.
    Argument(&'t str),
    /// An operand, with its members, indices and arguments.
    Expression,
    /// A block with its braces.
    Block,
}

/// A part of a program.
#[derive(Clone, Debug)]
pub(super) struct Part<'t> {
    pub kind: PartKind<'t>,
    pub range: Range<usize>,
}

/// Words with which items begin, in P4_16 or P4_14.
const ITEM_WORDS: [&str; 62] = [
    "header",
    "struct",
    "header_union",
    "enum",
    "typedef",
    "type",
    "const",
    "error",
    "match_kind",
    "extern",
    "package",
    "parser",
    "control",
    "action",
    "table",
    "state",
    "transition",
    "key",
    "actions",
    "entries",
    "default_action",
    "size",
    "apply",
    "if",
    "else",
    "switch",
    "for",
    "while",
    "return",
    "exit",
    "break",
    "continue",
    "bit",
    "int",
    "bool",
    "varbit",
    "tuple",
    "register",
    "counter",
    "meter",
    "direct_counter",
    "direct_meter",
    "action_profile",
    "action_selector",
    "value_set",
    "abstract",
    "header_type",
    "metadata",
    "field_list",
    "field_list_calculation",
    "calculated_field",
    "fields",
    "reads",
    "extract",
    "set_metadata",
    "select",
    "parser_exception",
    "parser_value_set",
    "implementation",
    "counters",
    "meters",
    "default",
];

/// All parts of a program.
pub(super) fn parts(tokens: &[Token]) -> Vec<Part<'_>> {
    let closing = closing_brackets(tokens);
    let mut parts = Vec::new();
    items(tokens, &closing, 0..tokens.len(), &mut parts);
    for (open, close) in closing.iter().enumerate() {
        let Some(close) = *close else { continue };
        match tokens[open].text.as_str() {
            "{" => {
                items(tokens, &closing, open + 1..close, &mut parts);
                parts.push(Part { kind: PartKind::Block, range: open..close + 1 });
            }
            bracket => arguments(tokens, &closing, bracket, open + 1..close, &mut parts),
        }
    }
    expressions(tokens, &closing, &mut parts);
    parts
}

/// For each opening bracket the position of the closing one. Angle brackets count if they look like type arguments.
fn closing_brackets(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closing = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_type =
            index > 0 && tokens[index - 1].kind == Kind::Word && token.before == super::tokens::Before::Nothing;
        match token.text.as_str() {
            "(" | "{" | "[" | "{#" => open.push(index),
            "<" if is_type => open.push(index),
            ")" | "}" | "]" | ">" => {
                let wanted = match token.text.as_str() {
                    ")" => "(",
                    "]" => "[",
                    "}" => "{",
                    _ => "<",
                };
                let matches = |place: &usize| tokens[*place].text.starts_with(wanted);
                // Inner brackets that are still open turn out not to be brackets, and are discarded.
                if let Some(found) = open.iter().rposition(matches)
                    && (wanted != "<" || found + 1 == open.len())
                {
                    closing[open[found]] = Some(index);
                    open.truncate(found);
                }
            }
            ";" => {
                while open.last().is_some_and(|place| tokens[*place].is("<")) {
                    open.pop();
                }
            }
            _ => {}
        }
    }
    closing
}

/// Items end with a semicolon or with a block that nothing follows.
fn items<'t>(tokens: &'t [Token], closing: &[Option<usize>], range: Range<usize>, parts: &mut Vec<Part<'t>>) {
    let mut start = range.start;
    let mut index = range.start;
    while index < range.end {
        let mut ends = tokens[index].is(";") || tokens[index].kind == Kind::Directive;
        if let Some(close) = closing[index] {
            let is_block = tokens[index].is("{");
            index = close;
            let goes_on =
                |next: &Token| next.is("else") || next.is(";") || next.is(",") || next.is("=") || next.is(")");
            ends = is_block && !tokens.get(close + 1).is_some_and(goes_on);
        }
        index += 1;
        if ends {
            parts.push(Part { kind: item_kind(&tokens[start..index]), range: start..index });
            start = index;
        }
    }
}

fn item_kind(tokens: &[Token]) -> PartKind<'_> {
    let first = tokens.iter().find(|token| token.kind == Kind::Word).map_or("", |token| token.text.as_str());
    if ITEM_WORDS.contains(&first) {
        return PartKind::Item(first);
    }
    let has = |mark: &str| tokens.iter().any(|token| token.is(mark));
    PartKind::Item(if has("=") {
        "="
    } else if has("(") {
        "()"
    } else {
        ""
    })
}

fn arguments<'t>(
    tokens: &'t [Token],
    closing: &[Option<usize>],
    bracket: &'t str,
    range: Range<usize>,
    parts: &mut Vec<Part<'t>>,
) {
    let mut start = range.start;
    let mut index = range.start;
    while index <= range.end {
        if index == range.end || tokens[index].is(",") || tokens[index].is(";") {
            if start < index {
                parts.push(Part { kind: PartKind::Argument(bracket), range: start..index });
            }
            start = index + 1;
        } else if let Some(close) = closing[index] {
            index = close;
        }
        index += 1;
    }
}

/// Operands, and the right-hand sides of assignments.
fn expressions<'t>(tokens: &'t [Token], closing: &[Option<usize>], parts: &mut Vec<Part<'t>>) {
    for (start, token) in tokens.iter().enumerate() {
        let previous = start.checked_sub(1).map(|before| &tokens[before]);
        let is_operand = match token.kind {
            Kind::Word => !ITEM_WORDS.contains(&token.text.as_str()),
            Kind::Number => true,
            _ => token.is("(") && previous.is_some_and(|token| token.kind == Kind::Mark),
        };
        let follows_name = previous.is_some_and(|before| {
            before.kind == Kind::Word || before.is(".") || before.is("@") || before.is(">") || before.is("]")
        });
        if is_operand && !follows_name {
            parts.push(Part { kind: PartKind::Expression, range: start..operand_end(tokens, closing, start) });
        }
        if token.is("=")
            && let Some(length) = tokens[start..].iter().position(|token| token.is(";"))
            && length > 1
        {
            parts.push(Part { kind: PartKind::Expression, range: start + 1..start + length });
        }
    }
}

fn operand_end(tokens: &[Token], closing: &[Option<usize>], start: usize) -> usize {
    let mut end = closing[start].unwrap_or(start) + 1;
    while let Some(next) = tokens.get(end) {
        match (next.text.as_str(), closing[end]) {
            (".", _) if tokens.get(end + 1).is_some_and(|member| member.kind == Kind::Word) => end += 2,
            ("(" | "[", Some(close)) => end = close + 1,
            _ => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{text_of, tokens_of};
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: PartKind<'_>, expected: &[&str]) {
        let tokens = tokens_of(text);
        let found = parts(&tokens).into_iter().filter(|part| part.kind == kind);
        let texts: Vec<String> = found.map(|part| text_of(&tokens[part.range]).trim().to_owned()).collect();
        assert_eq!(texts, expected, "{kind:?} in {text}");
    }

    #[test]
    fn parts_are_seen_by_brackets_and_separators() {
        let text =
            "header h { bit<8> a; }\ncontrol c(in h x) { apply { x.a = y.b[3:0] + 1; if (x.a == 1) { f(1, g(2)); } } }";
        check(text, PartKind::Item("header"), &["header h { bit<8> a; }"]);
        check(text, PartKind::Item("bit"), &["bit<8> a;"]);
        check(text, PartKind::Item("="), &["x.a = y.b[3:0] + 1;"]);
        check(text, PartKind::Item("()"), &["f(1, g(2));"]);
        check(text, PartKind::Argument("<"), &["8"]);
        check(text, PartKind::Argument("("), &["in h x", "x.a == 1", "1", "g(2)", "2"]);
        let operands = ["h", "c(in h x)", "8", "in", "x.a", "y.b[3:0] + 1", "y.b[3:0]", "3", "0", "1", "x.a", "1"];
        let all: Vec<String> = parts(&tokens_of(text))
            .into_iter()
            .filter(|part| part.kind == PartKind::Expression)
            .map(|part| text_of(&tokens_of(text)[part.range]).trim().to_owned())
            .collect();
        assert!(operands[4..].iter().all(|operand| all.iter().any(|found| found == operand)), "{all:?}");
    }

    #[test]
    fn unmatched_brackets_are_ignored() {
        for text in ["(", ")", "{ (", "a < b; c > d;", "( { ) }", "[ ( ]", "=", "= ;", "f<"] {
            parts(&tokens_of(text));
        }
    }
}
