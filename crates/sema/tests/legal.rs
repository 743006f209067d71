//! Legal programs, many to a file, separated by `// ----`: all must be accepted. Each begins with a comment that
//! describes it; `core.p4` is included unless that comment contains `nocore`. A program may cause warnings.

use std::path::Path;
use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, parse_text, render_short};

/// The errors of a program, and what inference or an error left in its typed tree.
fn faults(program: &str) -> String {
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let title = program.lines().next().unwrap_or("");
    let source = if title.contains("nocore") { program.to_owned() } else { format!("#include <core.p4>\n{program}") };
    let (tree, mut diagnostics) = parse_text(&mut sources, "t.p4", &source, &Options::new(&files));
    let mut checked = Diagnostics::new();
    let hir = sema::check(&tree, &mut checked);
    diagnostics.append(checked);
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == syntax::Severity::Error);
    let mut shown: String = errors.map(|error| format!("    {}\n", render_short(&sources, error))).collect();
    if shown.is_empty() {
        let tree = format!("{hir:?}");
        // Index 2147483648 and above are inference variables.
        for word in ["Poisoned", "Unknown", "tparam2147"].into_iter().filter(|word| tree.contains(word)) {
            shown.push_str(&format!("    {word} is left in the typed tree\n"));
        }
    }
    if shown.is_empty() { shown } else { format!("{title}\n{shown}") }
}

#[test]
fn a_thousand_terms_and_a_thousand_branches_are_legal() {
    let terms = |operator: &str| format!("x = x{};", format!(" {operator} x").repeat(1000));
    let mut program = String::from("// chains\ncontrol c(inout bit<8> x) { apply {");
    for operator in ["+", "-", "*", "&", "|", "^", "|+|", "<<", "++ 0w0 +"] {
        program.push_str(&terms(operator));
    }
    program.push_str(&format!("if (x == 0{}) {{ }}", " || x == 1 && x != 2".repeat(1000)));
    program.push_str(&format!("if (x == 0) {{ }} {}", "else if (x == 1) { x = 2; }".repeat(1000)));
    program.push_str(&format!("x = {} 3;", "x == 1 ? 8w2 :".repeat(1000)));
    program.push_str(&format!("}} }} const string s = \"\"{};", " ++ \"a\"".repeat(1000)));
    program.push_str(&format!("const int n = 1{};", " + 1".repeat(1000)));
    let found = base::stack::with_deep_stack(|| faults(&program));
    assert!(found.is_empty(), "{found}");
}

#[test]
fn long_chains_are_not_nested() {
    let mut program = String::from("// long chains\ncontrol c(inout bit<8> x) { apply {");
    for operator in ["+", "*", "&", "|", "^"] {
        program.push_str(&format!("x = x{};", format!(" {operator} x").repeat(20_000)));
    }
    program.push_str(&format!("if (x == 0{}) {{ }}", " || x == 1".repeat(20_000)));
    program.push_str(&format!("if (x == 0) {{ }} {}", "else if (x == 1) { x = 2; }".repeat(20_000)));
    program.push_str("} }");
    let found = base::stack::with_deep_stack(|| faults(&program));
    assert!(found.is_empty(), "{found}");
}

#[test]
fn no_legal_program_is_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/legal");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 4);
    let mut found = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for program in text.split("// ----\n").skip(1) {
            found.push_str(&base::stack::with_deep_stack(|| faults(program)));
        }
    }
    assert!(found.is_empty(), "{found}");
}
