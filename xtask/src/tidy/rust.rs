//! Rules for Rust files.

use crate::tidy::Report;
use crate::tidy::source::{Line, lines};

/// The most characters in a line. Rustfmt enforces the limit for code, but not in strings and comments.
const WIDTH_MAX: usize = 120;
/// The most lines in a file, without its tests.
const FILE_LINES_MAX: usize = 1000;
/// The words with which the header of a longer file gives its reason.
const LONG_FILE_REASON: &str = "Long because";
/// The most lines in a function.
const FUNCTION_LINES_MAX: usize = 70;

/// Longer functions that are still to be split, with the most lines that each may have. Functions may be removed from
/// this list, but not added.
const LONG_FUNCTIONS: [(&str, &str, usize); 0] = [];

/// The files that may name an architecture: those that lower its blocks, that describe it, that implement its rules in
/// the switch, that translate to it or check what it says of types before there is a `main`, and that generate programs
/// for tests. All other code uses the properties in `ir::Architecture`.
const ARCHITECTURE_FILES: [&str; 14] = [
    "crates/lower/src/",
    "crates/ir/src/",
    "crates/switch/src/v1model.rs",
    "crates/switch/src/psa.rs",
    "crates/switch/src/pna.rs",
    // The table of rules.
    "crates/switch/src/switch.rs",
    // The requests of programs to coalescing buffers.
    "crates/switch/src/coalescing.rs",
    // Programs of P4_14 become programs of v1model.
    "crates/p4_14/src/",
    // "Did the include file get lost?"
    "crates/sema/src/diagnostics/unknown_name.rs",
    // Ports that v1model ignores.
    "crates/lint/src/v1model.rs",
    // Text forms of a P4Info, in tests.
    "crates/p4runtime_proto/src/text.rs",
    "crates/testkit/",
    "fuzz/",
    "xtask/src/tidy/",
];

/// Checks a Rust file.
pub(crate) fn check(name: &str, content: &str, report: &mut Report<'_>) {
    let lines = lines(content);
    check_header(content, report);
    check_width(content, &lines, report);
    check_words(content, &lines, report);
    let end = lines.iter().position(|line| line.code.trim() == "#[cfg(test)]" && !line.in_string);
    let own = &lines[..end.unwrap_or(lines.len())];
    check_length(content, own.len(), report);
    let is_test = name.contains("/tests/");
    if !is_test {
        check_functions(name, own, report);
        check_architectures(name, content, own, report);
    }
}

fn check_header(content: &str, report: &mut Report<'_>) {
    if !content.starts_with("//!") {
        report.add(1, "a file opens with `//!`: what enters, what leaves, why");
    }
}

fn check_width(content: &str, lines: &[Line], report: &mut Report<'_>) {
    for (index, (text, line)) in content.lines().zip(lines).enumerate() {
        let width = text.chars().count();
        let ends_in_string = lines.get(index + 1).is_some_and(|next| next.in_string);
        if width > WIDTH_MAX && !line.in_string && !ends_in_string && !line.code.contains('"') {
            report.add(index + 1, format!("{width} characters: a line has at most {WIDTH_MAX}"));
        }
    }
}

fn check_words(content: &str, lines: &[Line], report: &mut Report<'_>) {
    let may_be_unsafe = content.contains("allow(unsafe_code, reason");
    for (index, line) in lines.iter().enumerate() {
        let mut add = |message: &str| report.add(index + 1, message);
        for (called, message) in [
            ("todo!", "`todo!` is unfinished work"),
            ("unimplemented!", "`unimplemented!` is unfinished work"),
            ("dbg!", "`dbg!` is left over from a search"),
        ] {
            if has_word(&line.code, called) {
                add(message);
            }
        }
        if has_word(&line.code, "HashMap") || has_word(&line.code, "HashSet") {
            add("the order of a hash map is random: use BTreeMap, BTreeSet, IndexVec or a sorted vector");
        }
        // A function pointer type for C does nothing unsafe by itself.
        let code = line.code.replace("unsafe extern \"\" fn(", "");
        if has_word(&code, "unsafe") && !may_be_unsafe {
            add("`unsafe` stands in files that say why: `#![allow(unsafe_code, reason = \"...\")]`");
        }
    }
}

/// Whether `word` occurs in `code` as a whole word.
fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(start, _)| {
        let before = code[..start].chars().next_back();
        let after = code[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && (word.ends_with('!') || !after.is_some_and(is_part))
    })
}

fn check_length(content: &str, length: usize, report: &mut Report<'_>) {
    let mut header = content.lines().take_while(|line| line.starts_with("//!"));
    if length > FILE_LINES_MAX && !header.any(|line| line.contains(LONG_FILE_REASON)) {
        let message =
            format!("{length} lines: a file has at most {FILE_LINES_MAX}, or its header says `{LONG_FILE_REASON} ...`");
        report.add(1, message);
    }
}

fn check_architectures(name: &str, content: &str, own: &[Line], report: &mut Report<'_>) {
    if ARCHITECTURE_FILES.iter().any(|known| name.starts_with(known)) {
        return;
    }
    const NAMES: [&str; 3] = ["v1model", "psa", "pna"];
    const PACKAGES: [&str; 3] = ["V1Switch", "PSA_Switch", "PNA_NIC"];
    for (index, (line, text)) in own.iter().zip(content.lines()).enumerate() {
        let text = text.strip_suffix(&line.comment).unwrap_or(text);
        let is_module = NAMES.iter().any(|module| line.code.contains(&format!("ir::{module}")));
        let is_text = NAMES.iter().chain(&PACKAGES).any(|name| text.contains(&format!("\"{name}\"")));
        if is_module
            || is_text
            || line.code.contains("architecture.name ==")
            || line.code.contains("architecture.name !=")
        {
            report.add(index + 1, "an architecture has no name here: ask `ir::Architecture` for the property");
        }
    }
}

fn check_functions(name: &str, lines: &[Line], report: &mut Report<'_>) {
    for function in functions(lines) {
        let body = &lines[function.first..=function.last];
        let allowed = LONG_FUNCTIONS.iter().find(|(path, named, _)| *path == name && *named == function.name);
        let most = allowed.map_or(FUNCTION_LINES_MAX, |(.., most)| *most);
        if body.len() > most && !is_flat_match(body) {
            let message = format!("function {} has {} lines: at most {most}", function.name, body.len());
            report.add(function.first + 1, message);
        }
    }
}

/// Whether a function is mostly a table in the form of a match: at least every third line is an arm.
fn is_flat_match(body: &[Line]) -> bool {
    body.iter().filter(|line| line.code.contains("=>")).count() * 3 >= body.len()
}

/// A function with a body, with its lines.
struct Function {
    name: String,
    first: usize,
    last: usize,
}

/// The functions of a file, including nested ones.
fn functions(lines: &[Line]) -> Vec<Function> {
    let mut functions = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(&line.code) else { continue };
        if let Some(last) = body_end(&lines[first..]) {
            functions.push(Function { name, first, last: first + last });
        }
    }
    functions
}

fn function_name(code: &str) -> Option<String> {
    let mut words = code.split_whitespace().skip_while(|word| *word != "fn");
    words.next()?;
    let name: String = words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The line on which the body ends; `None` for a declaration without a body.
fn body_end(lines: &[Line]) -> Option<usize> {
    let (mut braces, mut brackets) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        for c in line.code.chars() {
            match c {
                '{' => braces += 1,
                '}' => braces -= 1,
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                ';' if braces == 0 && brackets == 0 => return None,
                _ => {}
            }
            if c == '}' && braces == 0 {
                return Some(index);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::findings_for;

    fn rust(body: &str) -> String {
        findings_for("crates/x/src/y.rs", &format!("//! A file.\n{body}"))
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        let expected = "src/lib.rs:1: a file opens with `//!`: what enters, what leaves, why\n";
        assert_eq!(findings_for("src/lib.rs", "use x;\n"), expected);
        assert_eq!(rust("use x;\n"), "");
    }

    #[test]
    fn wide_lines_are_found_but_not_in_strings() {
        let wide = "x".repeat(121);
        assert_eq!(rust(&format!("// {wide}\n")), "crates/x/src/y.rs:2: 124 characters: a line has at most 120\n");
        assert_eq!(rust(&format!("f(r\"\n{wide}\n\");\n")), "");
    }

    #[test]
    fn words_are_found_in_code_only() {
        assert_eq!(rust("todo!()\n"), "crates/x/src/y.rs:2: `todo!` is unfinished work\n");
        assert_eq!(rust("f(\"todo!()\"); // dbg!(x)\n"), "");
        assert_eq!(rust("my_dbg!(x);\n"), "");
        assert!(rust("let x: HashSet<u8>;\n").contains("the order of a hash map is random"));
        assert_eq!(rust("let x: MyHashSet;\n"), "");
    }

    #[test]
    fn unsafe_code_has_a_reason() {
        assert!(rust("unsafe { f() }\n").contains("`unsafe` stands in files that say why"));
        assert_eq!(rust("type F = unsafe extern \"C\" fn(u32);\n"), "");
        assert_eq!(rust("#![allow(unsafe_code, reason = \"rings\")]\nunsafe { f() }\n"), "");
    }

    #[test]
    fn long_functions_are_found_unless_they_are_tables() {
        let long = |line: &str| format!("fn f(x: [u8; 2]) {{\n{}}}\n", format!("{line}\n").repeat(70));
        assert_eq!(rust(&long("f();")), "crates/x/src/y.rs:2: function f has 72 lines: at most 70\n");
        assert_eq!(rust(&long("1 => 2,")), "");
        assert_eq!(findings_for("crates/x/tests/y.rs", &format!("//! Tests.\n{}", long("f();"))), "");
        assert_eq!(rust(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", long("f();"))), "");
    }

    #[test]
    fn long_files_give_a_reason() {
        let lines = "f();\n".repeat(1001);
        assert!(rust(&lines).contains("1002 lines: a file has at most 1000"));
        assert_eq!(rust(&format!("//! Long because it is one table.\n{lines}")), "");
    }

    #[test]
    fn only_listed_files_name_an_architecture() {
        let text = "//! Opens.\nuse ir::psa::Slot;\n";
        let found = findings_for("crates/cli/src/a.rs", text);
        assert!(found.starts_with("crates/cli/src/a.rs:2: an architecture has no name here"), "{found}");
        assert_eq!(findings_for("crates/lower/src/a.rs", text), "");
    }
}
