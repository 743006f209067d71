//! Hostile programs end in errors: no panic, no endless loop, no unbounded memory.

use crate::common;

use base::Rng;
use common::{SAMPLES, parse, short};
use std::time::{Duration, Instant};
use syntax::{MemoryFiles, Options, SourceMap};

/// Parses the text and renders all diagnostics.
fn survives(text: &str) -> bool {
    let (sources, program, diagnostics) = parse(text);
    let rendered = syntax::render_all(&sources, &diagnostics, true);
    assert_eq!(rendered.is_empty(), diagnostics.is_empty());
    syntax::print(&program);
    !diagnostics.has_errors()
}

/// The text must be rejected quickly.
fn refused(text: &str) {
    let begin = Instant::now();
    let start: String = text.chars().take(60).collect();
    assert!(!base::stack::with_deep_stack(|| survives(text)), "accepted: {start}");
    assert!(begin.elapsed() < Duration::from_secs(20), "took {:?}: {start}", begin.elapsed());
}

#[test]
fn deep_nesting_is_refused() {
    let many = 100_000;
    for (open, close) in [("(", ")"), ("{", "}"), ("-", ""), ("f(", ")"), ("a[", "]"), ("(bit<(", ")>)1"), ("a?", ":b")]
    {
        refused(&format!("const int x = {}1{};", open.repeat(many), close.repeat(many)));
        refused(&format!("const int x = {}", open.repeat(many)));
    }
    for (open, close) in
        [("{", "}"), ("if (a) ", ""), ("for (;a;) ", ""), ("if (a) {} else ", ""), ("switch (a) { b: {", "}}")]
    {
        let (open, close) = (open.repeat(many), close.repeat(many));
        refused(&format!("control c() {{ apply {{ {open} ; {close} }} }}"));
    }
    refused(&format!("struct s {{ {}x; }}", "tuple<".repeat(many)));
    refused(&format!("control c() {{ apply {{ {} }} }}", "f<".repeat(many)));
    refused(&format!("control c() {{ apply {{ x = {} }} }}", "f<bit<(".repeat(many)));
    refused(&format!("@a({}) const int x = 1;", "(".repeat(many)));
    refused(&format!("#if {}1\n#endif\n", "(".repeat(many)));
    refused(&format!("#if {}1\n#endif\n", "!".repeat(many)));
    refused(&"typedef struct a {".repeat(many));
    refused(&"#if 1\n".repeat(many));
}

#[test]
fn what_a_generator_may_write_is_accepted() {
    let accepted = |text: &str| assert!(base::stack::with_deep_stack(|| survives(text)), "{}", &text[..60]);
    for (open, close) in [("", " + 1"), ("", " ++ 1w1"), ("~", ""), ("(", ")"), ("b ? 2 : ", ""), ("(bit<8>)", "")] {
        accepted(&format!("const int x = {}1{};", open.repeat(2000), close.repeat(2000)));
    }
    for (open, close) in [("{", "}"), ("if (a) {", "}"), ("if (a) {} else ", "")] {
        accepted(&format!("control c() {{ apply {{ {} ; {} }} }}", open.repeat(2000), close.repeat(2000)));
    }
}

#[test]
fn a_run_of_closing_braces_is_one_error() {
    let (sources, _, diagnostics) = parse(&format!("{}\nconst int x = 1;\n}}", "}".repeat(1000)));
    assert_eq!(short(&sources, &diagnostics).lines().count(), 2);
}

#[test]
fn long_chains_are_refused() {
    let many = 100_000;
    for link in [" - a", " |+| a", ".b", "[0]", "(c)", " == a"] {
        refused(&format!("const int x = a{};", link.repeat(many)));
    }
    refused(&format!("struct s {{ bit<8>{} x; }}", "[1]".repeat(many)));
    // Nested chains: each is short, but the tree would not be.
    let chain = " - a".repeat(200);
    refused(&format!("const int x = {}a{};", "(".repeat(40), format!("{chain})").repeat(40)));
}

#[test]
fn long_chains_without_nesting_are_accepted() {
    let accepted = |text: &str| assert!(base::stack::with_deep_stack(|| survives(text)), "{}", &text[..60]);
    for link in [" + a", " * a", " & a", " | a", " ^ a", " && a", " || a", " ++ a"] {
        accepted(&format!("const int x = a{} - b;", link.repeat(100_000)));
    }
    let branches = "if (a == 1) { b = 2; } else ".repeat(20_000);
    accepted(&format!("control c() {{ apply {{ {branches} b = 3; }} }}"));
    // What follows after too many branches is skipped, not parsed.
    let errors = base::stack::with_deep_stack(|| {
        let branches = "if (a == 1) { b = 2; } else ".repeat(100_000);
        let (sources, _, diagnostics) = parse(&format!("control c() {{ apply {{ {branches} b = 3; }} }}"));
        short(&sources, &diagnostics)
    });
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn unterminated_everything_is_refused() {
    for (_, text) in SAMPLES {
        for end in (0..text.len()).step_by(97).filter(|&end| text.is_char_boundary(end)) {
            survives(&text[..end]);
        }
    }
    refused(&"\"\\\"\\\n".repeat(50_000));
    refused(&"/*".repeat(100_000));
    refused(&"}".repeat(100_000));
    refused(&"@".repeat(100_000));
    refused(&"\0".repeat(100_000));
}

#[test]
fn huge_tokens_are_no_problem() {
    let many = 1 << 20;
    refused(&format!("const int x = {};", "9".repeat(many)));
    refused(&format!("const int x = {}w1;", "9".repeat(many)));
    refused(&"a".repeat(many));
    assert!(survives(&format!("const string x = \"{}\";", "a".repeat(many))));
    assert!(survives(&format!("const int {} = 1;", "a".repeat(many))));
}

#[test]
fn macros_cannot_explode() {
    let doubling: String = (0..60).map(|n| format!("#define M{n} M{} M{}\n", n + 1, n + 1)).collect();
    refused(&(doubling + "M0"));
    let arguments: String = (0..60).map(|n| format!("#define M{n}(x) M{}(x x)\n", n + 1)).collect();
    refused(&(arguments + "M0(a)"));
    let paste: String = (0..60).map(|n| format!("#define M{n}(x) M{}(x##x)\n", n + 1)).collect();
    refused(&(paste + "M0(a)"));
    let strings: String = (0..60).map(|n| format!("#define M{n}(x) M{}(#x)\n", n + 1)).collect();
    refused(&(strings + "M0(\"a\")"));
    let chain: String = (0..50_000).map(|n| format!("#define M{n} M{}\n", n + 1)).collect();
    refused(&(chain + "M0"));
    refused(&format!("#define F(x) x\n{}", "F(".repeat(100_000)));
    refused(&format!("#define F(x) x\n{}1{}", "F(".repeat(100_000), ")".repeat(100_000)));
    refused("#define A A B\n#define B B A\nA B");
}

#[test]
fn includes_cannot_explode() {
    let text = "#include \"b.p4\"\n#include \"b.p4\"\n";
    let files = MemoryFiles::new().with("b.p4", text).with("c.p4", "#include \"c.p4\"\n");
    for program in [text, "#include \"c.p4\"\n"] {
        let mut sources = SourceMap::new();
        let (_, diagnostics) = syntax::parse_text(&mut sources, "a.p4", program, &Options::new(&files));
        assert_eq!(diagnostics.error_count(), 1, "{}", short(&sources, &diagnostics));
        assert!(short(&sources, &diagnostics).contains("include one another"));
    }
}

/// Removes, repeats, swaps or replaces a piece of the text.
fn mutate(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.between(1, 4) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        let end = (at + rng.between(1, 20) as usize).min(bytes.len());
        match rng.below(5) {
            0 => drop(bytes.drain(at.min(end)..end)),
            1 => {
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 => {
                let from = rng.below(other.len() as u64) as usize;
                let piece = &other.as_bytes()[from..(from + 12).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => {
                let symbols = b"(){}[]<>;:,.#\"\\/*+-=@&|_\n\0 0w9a";
                bytes.insert(at, *rng.pick(symbols));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = rng.below(256) as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Damaged programs that are still accepted also round-trip.
#[test]
fn damaged_programs_are_refused_or_round_trip() {
    let mut rng = Rng::new(20_240_607);
    let mut accepted = 0;
    for round in 0..1500 {
        let (_, text) = rng.pick(SAMPLES);
        let (_, other) = rng.pick(SAMPLES);
        let damaged = mutate(text, other, &mut rng);
        let (_, program, diagnostics) = parse(&damaged);
        if diagnostics.has_errors() {
            survives(&damaged);
            continue;
        }
        accepted += 1;
        let printed = syntax::print(&program);
        let (sources, again, diagnostics) = parse(&printed);
        assert!(!diagnostics.has_errors(), "round {round}: {}\n{damaged}", short(&sources, &diagnostics));
        assert_eq!(syntax::dump(&program), syntax::dump(&again), "round {round}:\n{damaged}\n{printed}");
    }
    assert!(accepted > 100, "{accepted} damaged programs were accepted");
}
