//! Programs that must be rejected, grouped by error. Each file has several, separated by `// ----`; the file beside it,
//! with the extension `.txt`, has their diagnostics, which `UPDATE_EXPECT=1` rewrites.

use expect_test::expect_file;
use std::fmt::Write;
use std::path::Path;
use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, parse_text, render_short};

/// The diagnostics of all programs of a file, each under its first line.
fn check_programs(text: &str) -> String {
    let mut shown = String::new();
    for program in text.split("// ----\n").skip(1) {
        let files = MemoryFiles::new();
        let mut sources = SourceMap::new();
        let source = format!("#include <core.p4>\n{program}");
        let (tree, mut diagnostics) = parse_text(&mut sources, "t.p4", &source, &Options::new(&files));
        let mut checked = Diagnostics::new();
        sema::check(&tree, &mut checked);
        diagnostics.append(checked);
        let _ = writeln!(shown, "{}", program.lines().next().unwrap_or(""));
        if !diagnostics.has_errors() {
            shown.push_str("    accepted\n");
        }
        for diagnostic in &diagnostics {
            let _ = writeln!(shown, "    {}", render_short(&sources, diagnostic));
        }
    }
    shown
}

#[test]
fn refused_programs_say_why() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "p4"));
    paths.sort();
    assert!(paths.len() >= 6);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = check_programs(&text);
        assert!(!shown.contains("    accepted\n"), "{shown}");
        expect_file![path.with_extension("txt")].assert_eq(&shown);
    }
}

/// Programs with tokens removed, doubled and swapped: the checker must terminate without a panic on any input.
#[test]
fn mutilated_programs_do_not_stop_the_checker() {
    let mut rng = base::Rng::new(7);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths: Vec<_> = ["accepted", "programs"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(path).unwrap();
        let words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')', ';', '{', '.', ',']).collect();
        for _ in 0..40 {
            let mut mutated = words.clone();
            for _ in 0..1 + rng.below(6) {
                let (at, other) = (rng.below(mutated.len() as u64) as usize, rng.below(mutated.len() as u64) as usize);
                match rng.below(3) {
                    0 => drop(mutated.remove(at)),
                    1 => mutated.insert(at, mutated[other]),
                    _ => mutated.swap(at, other),
                }
            }
            let files = MemoryFiles::new();
            let (tree, _) = parse_text(&mut SourceMap::new(), "t.p4", &mutated.concat(), &Options::new(&files));
            sema::check(&tree, &mut Diagnostics::new());
        }
    }
}

/// Programs whose types or values could grow without bound, or recurse too deeply.
#[test]
fn extreme_programs_end_soon() {
    let deep = |open: &str, middle: &str, close: &str, count: usize| {
        format!("const bit<8> a = {}{middle}{};", open.repeat(count), close.repeat(count))
    };
    let mut programs = vec![
        deep("(", "1", ")", 240),
        deep("-", "1", "", 240),
        deep("{", "1", "}", 240),
        deep("true ? 1 : (", "1", ")", 120),
        format!("const int a = 1{};", " + 1".repeat(200)),
    ];
    programs.push(format!("typedef {}bool{} t;", "tuple<".repeat(240), ">".repeat(240)));
    let nested =
        format!("{}x = {}x{};{}", "if (x == 1) { ".repeat(120), "-(".repeat(110), ")".repeat(110), "}".repeat(120));
    programs.push(format!("void f(inout bit<8> x) {{ {nested} }}"));
    programs.push(format!("void f(inout bit<8> x) {{ {}{} }}", "{ bit<8> y = x;".repeat(240), "}".repeat(240)));
    programs.push((0..20_000).map(|n| format!("const bit<8> a{n} = b{n};\n")).collect());
    let structs: String = (1..60).map(|n| format!("struct S{n} {{ S{} a; S{} b; }}\n", n - 1, n - 1)).collect();
    programs.push(format!("struct S0 {{ bit<8> a; }}\n{structs}const int n = S59.minSizeInBits();"));
    let generics: String = (1..60).map(|n| format!("typedef P<T{}> T{n};\n", n - 1)).collect();
    programs.push(format!("struct P<T> {{ T a; T b; }}\ntypedef bit<8> T0;\n{generics}"));
    let squares: String = (1..60).map(|n| format!("const int c{n} = c{} * c{};\n", n - 1, n - 1)).collect();
    programs.push(format!("const int c0 = 3;\n{squares}"));
    let strings: String = (1..60).map(|n| format!("const string c{n} = c{} ++ c{};\n", n - 1, n - 1)).collect();
    programs.push(format!("const string c0 = \"abc\";\n{strings}"));
    let calls: String = (0..250).map(|_| "f(").collect();
    programs
        .push(format!("bit<8> f(in bit<8> a) {{ return a; }} void g() {{ bit<8> x = {calls}1{}; }}", ")".repeat(250)));
    base::stack::with_deep_stack(|| {
        for text in programs {
            let files = MemoryFiles::new();
            let (tree, _) = parse_text(&mut SourceMap::new(), "t.p4", &text, &Options::new(&files));
            sema::check(&tree, &mut Diagnostics::new());
        }
    });
}
