//! Single changes of a program: of tokens, or of the parts found by `parts`.

use super::parts::{Part, PartKind, parts};
use super::tokens::{Kind, Token, tokens_of};
use base::Rng;
use std::ops::Range;

/// Longer programs are not made even longer.
const TOKENS_MAX: usize = 60_000;

/// Nesting depths: within the limits of the language, near them, and far beyond.
const DEPTHS: [usize; 8] = [2, 10, 60, 120, 250, 260, 1000, 5000];

/// Numbers near limits.
const NUMBERS: [&str; 52] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "9",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "129",
    "255",
    "256",
    "511",
    "512",
    "1024",
    "1025",
    "2047",
    "2048",
    "2049",
    "16383",
    "16384",
    "16385",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0w0",
    "0w1",
    "1w1",
    "1w2",
    "1s1",
    "8s128",
    "8w256",
    "16384w1",
    "16385w1",
    "4294967295w1",
    "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
    "08",
];

/// Types of all kinds.
const TYPES: [&str; 22] = [
    "bool",
    "int",
    "bit",
    "bit<1>",
    "bit<8>",
    "bit<32>",
    "bit<64>",
    "bit<65>",
    "bit<2048>",
    "bit<0>",
    "int<1>",
    "int<8>",
    "int<64>",
    "int<0>",
    "varbit<8>",
    "varbit<0>",
    "error",
    "string",
    "void",
    "tuple<bit<8>, bool>",
    "list<bit<8>>",
    "match_kind",
];

const OPERATORS: [&str; 37] = [
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "++", "|+|", "|-|", "==", "!=", "<", ">", "<=", ">=", "&&",
    "||", "&&&", "..", "+:", ":", "?", "=", "+=", "-=", "|+|=", "<<=", "!", "~", ",", ".", "->", "%=",
];

const KEYWORDS: [&str; 34] = [
    "in",
    "out",
    "inout",
    "const",
    "abstract",
    "default",
    "exact",
    "lpm",
    "ternary",
    "range",
    "optional",
    "selector",
    "accept",
    "reject",
    "valid",
    "this",
    "true",
    "false",
    "exit",
    "return",
    "break",
    "continue",
    "_",
    "...",
    "@name(\"x\")",
    "@hidden",
    "@optional",
    "@atomic",
    "next",
    "last",
    "lastIndex",
    "hit",
    "action_run",
    "{#}",
];

/// Changes the program in one place.
pub(super) fn change(rng: &mut Rng, tokens: &mut Vec<Token>, donor: &[Token]) {
    if tokens.is_empty() {
        return;
    }
    match rng.below(3) {
        0 => token_change(rng, tokens, donor),
        _ => part_change(rng, tokens, donor),
    }
}

fn one_of(rng: &mut Rng, text: &[&str]) -> Vec<Token> {
    tokens_of(&format!(" {}", rng.pick(text)))
}

/// The position of a random token with a given property.
fn place(rng: &mut Rng, tokens: &[Token], is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let places: Vec<usize> = (0..tokens.len()).filter(|&place| is_wanted(place)).collect();
    if places.is_empty() { None } else { Some(*rng.pick(&places)) }
}

fn token_change(rng: &mut Rng, tokens: &mut Vec<Token>, donor: &[Token]) {
    let any = rng.below(tokens.len() as u64) as usize;
    let kind = tokens[any].kind;
    let other = rng.below(tokens.len() as u64) as usize;
    match rng.below(12) {
        0 => drop(tokens.remove(any)),
        1 => tokens.insert(any, tokens[any].clone()),
        2 => tokens.swap(any, other),
        // Swaps neighbouring tokens.
        3 if any > 0 => tokens.swap(any, any - 1),
        4 => replace_by_kind(rng, tokens, any, kind, donor),
        5 if tokens[other].kind == kind => tokens[any].text = tokens[other].text.clone(),
        6 | 7 => {
            if let Some(number) = place(rng, tokens, |place| tokens[place].kind == Kind::Number) {
                let sign = if rng.chance(1, 8) { "-" } else { "" };
                let text = format!(" {sign}{}", rng.pick(&NUMBERS));
                tokens.splice(number..=number, tokens_of(&text));
            }
        }
        8 => replace_type(rng, tokens),
        9 => {
            let is_operator = |place: usize| OPERATORS.contains(&tokens[place].text.as_str());
            if let Some(operator) = place(rng, tokens, is_operator) {
                tokens[operator].text = (*rng.pick(&OPERATORS)).to_owned();
            }
        }
        10 => drop(tokens.splice(any..any, one_of(rng, &KEYWORDS))),
        _ => rename(rng, tokens),
    }
}

fn replace_by_kind(rng: &mut Rng, tokens: &mut [Token], at: usize, kind: Kind, donor: &[Token]) {
    if let Some(found) = place(rng, donor, |place| donor[place].kind == kind) {
        tokens[at].text.clone_from(&donor[found].text);
    }
}

/// Replaces a type, which may have arguments or be a name, by another one.
fn replace_type(rng: &mut Rng, tokens: &mut Vec<Token>) {
    let is_base = |place: usize| matches!(tokens[place].text.as_str(), "bit" | "int" | "bool" | "varbit" | "error");
    let is_type_name = |place: usize| {
        let next = tokens.get(place + 1);
        tokens[place].kind == Kind::Word && next.is_some_and(|next| next.kind == Kind::Word)
    };
    let Some(start) = place(rng, tokens, |place| is_base(place) || (is_type_name(place) && place % 4 == 0)) else {
        return;
    };
    let has_arguments = tokens.get(start + 1).is_some_and(|token| token.is("<"));
    let length = if has_arguments { tokens[start..].iter().position(|token| token.is(">")).unwrap_or(0) } else { 0 };
    let mut new = one_of(rng, &TYPES);
    if let Some(name) = place(rng, tokens, is_type_name).filter(|_| rng.chance(1, 3)) {
        new = vec![tokens[name].clone()];
    }
    if rng.chance(1, 4) {
        new.extend(tokens_of(&format!("[{}]", rng.pick(&["1", "2", "0", "1024", "1025", "4294967295"]))));
    }
    tokens.splice(start..=start + length, new);
}

/// Renames an identifier, at one occurrence or at all.
fn rename(rng: &mut Rng, tokens: &mut [Token]) {
    let is_name = |place: usize| tokens[place].kind == Kind::Word;
    let (Some(from), Some(to)) = (place(rng, tokens, is_name), place(rng, tokens, is_name)) else { return };
    let (old, new) = (tokens[from].text.clone(), tokens[to].text.clone());
    if rng.chance(2, 3) {
        tokens[from].text = new;
        return;
    }
    for token in tokens.iter_mut().filter(|token| token.text == old) {
        token.text.clone_from(&new);
    }
}

fn part_change(rng: &mut Rng, tokens: &mut Vec<Token>, donor: &[Token]) {
    let seen = tokens.clone();
    let parts = parts(&seen);
    if parts.is_empty() {
        return;
    }
    let part = pick_part(rng, &parts);
    let range = part.range.clone();
    match rng.below(12) {
        0 => drop(tokens.drain(range)),
        1 if tokens.len() < TOKENS_MAX => drop(tokens.splice(range.end..range.end, seen[range.clone()].to_vec())),
        2 | 3 => swap_with_kin(rng, tokens, &parts, part),
        4..=7 => splice(rng, tokens, part, donor),
        8 | 9 => wrap(rng, tokens, &parts),
        10 => nest(rng, tokens, &parts),
        _ => move_part(rng, tokens, range),
    }
}

/// A random part. The kind is chosen first, so that the many operands do not outnumber the few declarations.
fn pick_part<'p, 't>(rng: &mut Rng, parts: &'p [Part<'t>]) -> &'p Part<'t> {
    let is_item = |part: &&Part<'_>| matches!(part.kind, PartKind::Item(_));
    let mut items: Vec<&Part<'_>> = parts.iter().filter(is_item).collect();
    if items.is_empty() || rng.chance(1, 2) {
        return rng.pick(parts);
    }
    if rng.chance(1, 2) {
        return items[rng.below(items.len() as u64) as usize];
    }
    let kinds: std::collections::BTreeSet<PartKind<'_>> = items.iter().map(|part| part.kind).collect();
    let kinds: Vec<PartKind<'_>> = kinds.into_iter().collect();
    let kind = *rng.pick(&kinds);
    items.retain(|part| part.kind == kind);
    items[rng.below(items.len() as u64) as usize]
}

/// Swaps two parts of the same kind.
fn swap_with_kin(rng: &mut Rng, tokens: &mut Vec<Token>, parts: &[Part<'_>], part: &Part<'_>) {
    let is_apart = |other: &Range<usize>| other.end <= part.range.start || part.range.end <= other.start;
    let kin: Vec<&Part<'_>> = parts.iter().filter(|other| other.kind == part.kind && is_apart(&other.range)).collect();
    if kin.is_empty() {
        return;
    }
    let other = rng.pick(&kin).range.clone();
    let (first, second) =
        if other.start < part.range.start { (other, part.range.clone()) } else { (part.range.clone(), other) };
    let (one, two) = (tokens[first.clone()].to_vec(), tokens[second.clone()].to_vec());
    tokens.splice(second, one);
    tokens.splice(first, two);
}

/// Copies a part of the same kind from another program, or from this one: in place of the part, or beside it.
fn splice(rng: &mut Rng, tokens: &mut Vec<Token>, part: &Part<'_>, donor: &[Token]) {
    let own = tokens.clone();
    let source: &[Token] = if rng.chance(1, 2) { donor } else { &own };
    let others = parts(source);
    let kin: Vec<&Part<'_>> = others.iter().filter(|other| other.kind == part.kind).collect();
    if kin.is_empty() {
        return;
    }
    let new = source[rng.pick(&kin).range.clone()].to_vec();
    let range = part.range.clone();
    let is_item = matches!(part.kind, PartKind::Item(_));
    if is_item && tokens.len() + new.len() > TOKENS_MAX {
        return;
    }
    let range = if is_item && rng.chance(1, 2) { range.start..range.start } else { range };
    tokens.splice(range, new);
}

/// Wraps an operand in a larger expression.
fn wrap(rng: &mut Rng, tokens: &mut Vec<Token>, parts: &[Part<'_>]) {
    let Some(range) = an_expression(rng, parts) else { return };
    let around = [
        ("(bit<8>)(", ")"),
        ("(int<8>)(", ")"),
        ("(bit<32>)(", ")"),
        ("(bit<2048>)(", ")"),
        ("(bool)(", ")"),
        ("(int)(", ")"),
        ("(", ")[3:0]"),
        ("(", ")[0:0]"),
        ("(", ")[70:3]"),
        ("(", ")[1 +: 2]"),
        ("-(", ")"),
        ("!(", ")"),
        ("~(", ")"),
        ("(", ")"),
        ("{", "}"),
        ("{", ", 1}"),
        ("(true ? ", " : 0)"),
        ("(", " == 0 ? 1 : 2)"),
        ("(", " << 70)"),
        ("(", " >> 70)"),
        ("(1 << ", ")"),
        ("(", " / 0)"),
        ("(", " % 3)"),
        ("(8w1 ++ ", ")"),
        ("(", " |+| 1)"),
        ("(", " &&& 1)"),
        ("(", " .. 7)"),
        ("", ".isValid()"),
        ("", ".apply()"),
        ("", ".next"),
        ("", ".last"),
        ("", ".setInvalid()"),
        ("", ".minSizeInBits()"),
        ("", "[1]"),
        ("", "[0]"),
        ("", ".push_front(1)"),
        ("", " = _"),
        ("", ".pop_front(5000000000)"),
    ];
    let &(before, after) = rng.pick(&around);
    enclose(tokens, &range, before, after, 1);
}

fn an_expression(rng: &mut Rng, parts: &[Part<'_>]) -> Option<Range<usize>> {
    let is_expression = |part: &&Part<'_>| matches!(part.kind, PartKind::Expression | PartKind::Argument("("));
    let found: Vec<&Part<'_>> = parts.iter().filter(is_expression).collect();
    if found.is_empty() { None } else { Some(rng.pick(&found).range.clone()) }
}

fn enclose(tokens: &mut Vec<Token>, range: &Range<usize>, before: &str, after: &str, times: usize) {
    let mut new = tokens_of(&before.repeat(times));
    new.extend(tokens[range.clone()].iter().cloned());
    new.extend(tokens_of(&after.repeat(times)));
    tokens.splice(range.clone(), new);
}

/// Nests an operand, a statement, a type or a declaration many times.
fn nest(rng: &mut Rng, tokens: &mut Vec<Token>, parts: &[Part<'_>]) {
    let depth = *rng.pick(&DEPTHS);
    let around: &[(&str, &str)] = &[
        ("(", ")"),
        ("-(", ")"),
        ("~", ""),
        ("!", ""),
        ("(bit<8>)", ""),
        ("{", "}"),
        ("", "[7:0]"),
        ("1 + ", ""),
        ("", " + 1"),
        ("(", " ++ 1w1)"),
        ("f(", ")"),
        ("(true ? ", " : 0)"),
    ];
    let statements: &[(&str, &str)] = &[
        ("{", "}"),
        ("if (true) {", "}"),
        ("if (true) ", ""),
        ("if (true) {} else ", ""),
        ("@x{", "}"),
        ("for (bit<8> i in 0..1) {", "}"),
        ("switch (8w1) { 1: {", "} }"),
    ];
    let types: &[(&str, &str)] = &[("tuple<", ">"), ("list<", ">"), ("", "[2]")];
    let (choice, range) = match rng.below(4) {
        0 => {
            let is_type = |part: &&Part<'_>| part.kind == PartKind::Argument("<");
            (types, parts.iter().find(is_type).map(|part| part.range.clone()))
        }
        1 => {
            let is_statement = |part: &&Part<'_>| matches!(part.kind, PartKind::Item("=" | "()" | "if" | "bit"));
            let found: Vec<&Part<'_>> = parts.iter().filter(is_statement).collect();
            (statements, if found.is_empty() { None } else { Some(rng.pick(&found).range.clone()) })
        }
        _ => (around, an_expression(rng, parts)),
    };
    let Some(range) = range.filter(|_| tokens.len() < TOKENS_MAX) else { return };
    let (before, after) = *rng.pick(choice);
    enclose(tokens, &range, before, after, depth);
}

/// Moves a part to another position.
fn move_part(rng: &mut Rng, tokens: &mut Vec<Token>, range: Range<usize>) {
    let part: Vec<Token> = tokens.drain(range).collect();
    let ends: Vec<usize> =
        (0..tokens.len()).filter(|&place| matches!(tokens[place].text.as_str(), ";" | "{" | "}" | ",")).collect();
    let target = if ends.is_empty() { 0 } else { *rng.pick(&ends) + 1 };
    tokens.splice(target..target, part);
}
