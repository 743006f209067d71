//! Each code of this crate's diagnostics has a program with the error and its complete output.

use crate::common;

use common::{parse, short};
use expect_test::{Expect, expect};
use std::cell::RefCell;
use std::path::Path;
use syntax::{MemoryFiles, Options, SourceMap, codes};

thread_local! {
    /// The codes that were shown.
    static SHOWN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn check_diagnostics(sources: &SourceMap, diagnostics: &syntax::Diagnostics, code: &'static str, expected: Expect) {
    let found = short(sources, diagnostics);
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == code), "{code} is not among\n{found}");
    expected.assert_eq(&found);
    SHOWN.with_borrow_mut(|shown| shown.push(code));
}

fn check(code: &'static str, text: &str, expected: Expect) {
    let (sources, _, diagnostics) = parse(text);
    check_diagnostics(&sources, &diagnostics, code, expected);
}

/// The messages about unexpected tokens with their helps.
fn check_helps(text: &str, expected: Expect) {
    let (_, _, diagnostics) = parse(text);
    let lines = diagnostics.iter().map(|it| format!("{}\n  = {}\n", it.message, it.helps.join("; ")));
    expected.assert_eq(&lines.collect::<String>());
}

fn check_file(code: &'static str, files: MemoryFiles, expected: Expect) {
    let mut sources = SourceMap::new();
    let (_, diagnostics) = syntax::parse_program(&mut sources, Path::new("d/a.p4"), &Options::new(&files));
    check_diagnostics(&sources, &diagnostics, code, expected);
}

fn files() {
    check_file(
        codes::UNREADABLE_FILE,
        MemoryFiles::new(),
        expect![[r#"
        error[E0101]: there is no file `d/a.p4`
    "#]],
    );
    check_file(
        codes::NOT_UTF8,
        MemoryFiles::new().with("d/a.p4", *b"const int x = 1;\nconst \xff"),
        expect![[r#"
            d/a.p4:2:7: warning[W0103]: the file is not UTF-8 text
            d/a.p4:2:7: error[E0106]: the character `\u{fffd}` has no meaning in P4
            d/a.p4:2:8: error[E0120]: expected a type, found the end of the file
        "#]],
    );
    check(
        codes::INCLUDE_NOT_FOUND,
        "#include <nothing.p4>\n",
        expect![[r#"
        a.p4:1:1: error[E0102]: there is no file `nothing.p4`
    "#]],
    );
    let endless = MemoryFiles::new().with("d/a.p4", "const int x = 1;\n#include \"a.p4\"\n");
    check_file(
        codes::INCLUDE_LIMIT,
        endless,
        expect![[r#"
        d/a.p4:2:1: error[E0104]: files include one another without end
    "#]],
    );
    let many = MemoryFiles::new().with("d/a.p4", "#define A B B B B\n".to_string() + &"0 ".repeat(5 << 20));
    check_file(
        codes::SOURCE_TOO_LARGE,
        many,
        expect![[r#"
        d/a.p4:2:8388609: error[E0105]: the program has more than 4194304 tokens
    "#]],
    );
}

fn characters() {
    check(
        codes::INVALID_CHARACTER,
        "const int x = 1 $ 2 \0;",
        expect![[r#"
        a.p4:1:17: error[E0106]: the character `$` has no meaning in P4
        a.p4:1:21: error[E0106]: the character `\u{0}` has no meaning in P4
        a.p4:1:19: error[E0120]: expected `;`, found `2`
    "#]],
    );
    check(
        codes::UNTERMINATED_COMMENT,
        "const int x = 1;\n/* no end\n",
        expect![[r#"
        a.p4:2:1: error[E0107]: this comment has no end
    "#]],
    );
    check(
        codes::UNTERMINATED_STRING,
        "const string x = \"no end;\nconst int y = 1;",
        expect![[r#"
            a.p4:1:18: error[E0108]: this string has no end
        "#]],
    );
    check(
        codes::INVALID_INTEGER,
        "const int x = 12abc + 0b12 + 0x;",
        expect![[r#"
        a.p4:1:15: error[E0109]: this is not an integer literal
        a.p4:1:23: error[E0109]: this is not an integer literal
        a.p4:1:30: error[E0109]: this is not an integer literal
    "#]],
    );
    check(
        codes::INVALID_ESCAPE,
        r#"const string x = "\q";"#,
        expect![[r#"
        a.p4:1:18: error[E0118]: there is no escape `\q`
    "#]],
    );
}

fn directives() {
    check(
        codes::INVALID_DIRECTIVE,
        "#defin X\n#include\n#ifdef\n#endif\n#line x\n",
        expect![[r#"
        a.p4:1:1: error[E0110]: there is no directive `#defin`
        a.p4:2:1: error[E0110]: `#include` needs a file
        a.p4:3:1: error[E0110]: `#ifdef` needs the name of a macro
        a.p4:5:1: error[E0110]: `#line` needs a line number
    "#]],
    );
    check(
        codes::UNBALANCED_CONDITIONAL,
        "#endif\n#else\n#if 1\n#else\n#elif 1\n#else\n",
        expect![[r#"
        a.p4:1:1: error[E0111]: `#endif` without `#if`
        a.p4:2:1: error[E0111]: `#else` without `#if`
        a.p4:5:1: error[E0111]: `#elif` after `#else`
        a.p4:6:1: error[E0111]: `#else` after `#else`
        a.p4:3:1: error[E0111]: this conditional has no `#endif`
    "#]],
    );
    check(
        codes::INVALID_CONDITION,
        "#if 1 +\n#endif\n#if 1 / 0\n#endif\n#if (1\n#endif\n#if 1 2\n#endif\n",
        expect![[r#"
            a.p4:1:1: error[E0112]: this condition cannot be evaluated
            a.p4:3:7: error[E0112]: this condition cannot be evaluated
            a.p4:5:1: error[E0112]: this condition cannot be evaluated
            a.p4:7:7: error[E0112]: this condition cannot be evaluated
        "#]],
    );
    check(
        codes::ERROR_DIRECTIVE,
        "#error it's wrong\n",
        expect![[r#"
        a.p4:1:1: error[E0113]: #error it's wrong
    "#]],
    );
    check(
        codes::WARNING_DIRECTIVE,
        "#warning it's odd\n",
        expect![[r#"
        a.p4:1:1: warning[W0101]: #warning it's odd
    "#]],
    );
}

fn macros() {
    check(
        codes::INVALID_MACRO,
        "#define 1\n#define F(a, a) a\n#define G(a b) a\n#define defined\n#define H ## x\n",
        expect![[r#"
            a.p4:1:9: error[E0114]: `#define` needs a name
            a.p4:2:14: error[E0114]: the macro's parameters must be different names, separated by commas, in parentheses
            a.p4:3:11: error[E0114]: the macro's parameters must be different names, separated by commas, in parentheses
            a.p4:4:9: error[E0114]: `defined` cannot be defined
            a.p4:5:11: error[E0114]: `##` needs a token on either side
        "#]],
    );
    check(
        codes::MACRO_ARGUMENTS,
        "#define F(a, b) a\nconst int x = F(1);\nconst int y = F(1, 2",
        expect![[r#"
            a.p4:2:15: error[E0115]: macro `F` takes 2 arguments, but gets 1
            a.p4:3:15: error[E0115]: the arguments of macro `F` have no closing parenthesis
        "#]],
    );
    let doubling: String = (0..40).map(|n| format!("#define M{n} M{} M{}\n", n + 1, n + 1)).collect();
    check(
        codes::MACRO_LIMIT,
        &(doubling + "M0"),
        expect![[r#"
        a.p4:41:1: error[E0116]: the macro expansions of this program are too large
    "#]],
    );
    check(
        codes::SIZE_BEHIND_NAME,
        "header H { bit<8> a; }\nstruct S { H more[3]; }\ncontrol C() { apply { H own[2]; bit<8>[2] x; } }",
        expect![[r#"
        a.p4:2:18: warning[W0104]: the size of an array stands behind its type, not behind the name
        a.p4:3:28: warning[W0104]: the size of an array stands behind its type, not behind the name
    "#]],
    );
    check(
        codes::MACRO_REDEFINED,
        "#define X 1\n#define X 1\n#define X 2\n",
        expect![[r#"
        a.p4:3:9: warning[W0102]: macro `X` is defined again with another meaning
    "#]],
    );
}

fn tokens() {
    check(
        codes::UNEXPECTED_TOKEN,
        "header h { bit<8> 3; bit<8> b; }\ncontrol c( { apply { } }\nstruct s { bit<8> a; }",
        expect![[r#"
            a.p4:1:19: error[E0120]: expected a name, found `3`
            a.p4:2:12: error[E0120]: expected a type, found `{`
        "#]],
    );
    // Constructs of other languages, for which the message gives the replacement.
    check(
        codes::UNEXPECTED_TOKEN,
        "@a[1, x=2] struct S { bit<8> a; }\n@a[x=2, 1] struct T { bit<8> a; }\n\
         control C(inout bit<8> x) { apply {\n x++;\n ++x;\n x--;\n bit<8> y = x++;\n for (;;) { break; }\n \
         while (x < 5) { x = 1; }\n do { x = 1; } while (x < 5);\n S s = { ..., a = 1 };\n s = { a = 1, ..., b = 2 };\n} }\n\
         package P(C c);\nP(C) main;",
        expect![[r#"
            a.p4:1:7: error[E0120]: expressions and `name = value` cannot stand in one annotation
            a.p4:2:9: error[E0120]: expressions and `name = value` cannot stand in one annotation
            a.p4:4:3: error[E0120]: `++` joins two numbers bit by bit; it does not count
            a.p4:5:2: error[E0120]: `++` joins two numbers bit by bit; it does not count
            a.p4:6:3: error[E0120]: there is no operator `--`
            a.p4:7:14: error[E0120]: `++` joins two numbers bit by bit; it does not count
            a.p4:8:8: error[E0120]: this `for` loop has no condition
            a.p4:9:2: error[E0120]: there is no `while` loop
            a.p4:10:2: error[E0120]: there is no `do` loop
            a.p4:11:15: error[E0120]: `...` stands for all other fields; nothing can follow it
            a.p4:12:20: error[E0120]: `...` stands for all other fields; nothing can follow it
            a.p4:15:3: error[E0120]: a type is not a value: expected `.` or `(` after it, found `)`
        "#]],
    );
    let (sources, _, diagnostics) =
        parse("#define G(x) x\n#if FOO(\n#endif\n#if G(1\n#endif\n#if FOO(1)\n#endif\n#if 1 2\n#endif\n");
    let labels = diagnostics.iter().map(|it| format!("{}: {}\n", sources.text(it.primary.span), it.primary.text));
    expect![[r#"
        (: the arguments of `FOO` have no closing `)`
        G: 
        #if: a value is missing
        (: `FOO` is not a macro with parameters
        2: nothing more is expected here
    "#]]
    .assert_eq(&labels.collect::<String>());
    let (_, _, diagnostics) = parse("control C(inout bit<8> x) { apply {\n if x == 3 { }\n switch x { }\n} }\n");
    let helps: Vec<&str> = diagnostics.iter().flat_map(|it| &it.helps).map(|it| &**it).collect();
    expect!["write `if (...) {`\nwrite `switch (...) {`"].assert_eq(&helps.join("\n"));
    let (_, _, diagnostics) = parse("#define PORT\n#if PORT == 3\n#endif\n#if defined PORT && 1\n#endif\n");
    let helps: Vec<&str> = diagnostics.iter().flat_map(|it| &it.helps).map(|it| &**it).collect();
    expect!["the macro `PORT` is defined, but empty: give it a value, as in `#define PORT 1` or `-D PORT=1`, or ask `#ifdef PORT`"].assert_eq(&helps.join("\n"));
    check(
        codes::UNEXPECTED_TOKEN,
        "control C(inout bit<32> x) { apply {\n if (x == 1) { } elif (x == 2) { x = 1; } else { }\n x = 10.0.0.1;\n \
         x = 1.5;\n} }",
        expect![[r#"
            a.p4:2:18: error[E0120]: there is no `elif`
            a.p4:3:6: error[E0120]: P4 has no notation for addresses
            a.p4:4:8: error[E0120]: expected a name, found `5`
        "#]],
    );
    check_helps(
        "control C(inout bit<32> x) { action a() { }; apply { if (x == 1 and x == 2) { } switch (x) { case 6: { } } } }\n\
         parser P() { state a { if (true) { transition a; } } state b { transition select(1) { 1: a, 2: b; } } }",
        expect![[r#"
            this `;` ends no declaration
              = remove it: no `;` follows the `}` of an action or a table
            expected `)`, found `and`
              = write `&&`
            there is no `case`
              = write the label alone: `6: { ... }`
            a `transition` ends a state, and cannot stand in a block
              = choose the next state at the end: `transition select(...) { ... }`
            a case of `select` ends with `;`
              = write `;` in place of `,`
        "#]],
    );
    check(
        codes::UNEXPECTED_TOKEN,
        "header_type foo_t { fields { a : 8; b : 8; } }\nparser start { extract(foo); return ingress; }\n\
         action_profile p { actions { a; } size : 4; }\ncounter c { type : packets; direct : t; }\n\
         control ingress { apply(t); }\nconst bit<8> x = 1;",
        expect![[r#"
            a.p4:1:1: error[E0120]: `header_type foo_t` is a declaration of P4_14
            a.p4:3:1: error[E0120]: `action_profile p` is a declaration of P4_14
            a.p4:5:1: error[E0120]: `control ingress` is a declaration of P4_14
        "#]],
    );
    check(
        codes::MISSING_SEMICOLON,
        "const int x = 1\nconst int y = 2\n",
        expect![[r#"
        a.p4:1:16: error[E0121]: a `;` is missing
        a.p4:2:16: error[E0121]: a `;` is missing
    "#]],
    );
    check(
        codes::UNCLOSED_BRACKET,
        "struct s {\n    bit<8> a;\n\nheader h { bit<8> b; }\ncontrol c() { apply {",
        expect![[r#"
            a.p4:1:10: error[E0122]: this `{` is not closed
            a.p4:5:21: error[E0122]: this `{` is not closed
        "#]],
    );
    check(
        codes::NESTING_LIMIT,
        &format!("const int x = {}1;", "(".repeat(5000)),
        expect![[r#"
        a.p4:1:4111: error[E0123]: this is nested more than 4096 deep
    "#]],
    );
    check(
        codes::KEYWORD_AS_NAME,
        "struct table { }\nstruct s { bit<8> header; bit<8> b; }",
        expect![[r#"
        a.p4:1:8: error[E0124]: expected a name, found keyword `table`
        a.p4:2:19: error[E0124]: expected a name, found keyword `header`
    "#]],
    );
    check(
        codes::WIDTH_WITHOUT_PARENTHESES,
        "const int W = 8;\nstruct s { bit<W> a; }",
        expect![[r#"
        a.p4:2:16: error[E0125]: a width that is not a literal must be in parentheses
    "#]],
    );
}

fn declarations() {
    check(
        codes::MISPLACED_DECLARATION,
        "bit<8> x = 1;\ntable t { }\nparser p() { state start { transition accept; x = 1; } bit<8> y; }\n\
         control c() { x = 1; return; apply { @name(\"x\") x = 1; action a() { } } bit<8> z; }",
        expect![[r#"
            a.p4:1:8: error[E0126]: a variable cannot be declared outside of all parsers, controls and functions
            a.p4:2:1: error[E0126]: `table` cannot stand outside of a parser or control
            a.p4:3:47: error[E0126]: nothing can stand behind the transition of a state
            a.p4:3:56: error[E0126]: declarations of a parser stand before its states
            a.p4:4:15: error[E0120]: expected an action, a table, another declaration or `apply`, found `x`
            a.p4:4:22: error[E0126]: statements of a control stand in its `apply` block
            a.p4:4:56: error[E0126]: a declaration with `action` cannot stand among statements
            a.p4:4:73: error[E0126]: declarations of a control stand before its `apply` block
        "#]],
    );
    check(
        codes::PARSER_WITHOUT_STATES,
        "parser p() { bit<8> x; }",
        expect![[r#"
        a.p4:1:8: error[E0127]: parser `p` has no states
    "#]],
    );
    check(
        codes::CONTROL_WITHOUT_APPLY,
        "control c() { }",
        expect![[r#"
        a.p4:1:9: error[E0128]: control `c` has no `apply` block
    "#]],
    );
    check(
        codes::REPEATED_PART,
        "control c() { table t { size = 1; size = 2; } apply { } apply { } }",
        expect![[r#"
        a.p4:1:35: error[E0129]: a table has one property `size`
        a.p4:1:57: error[E0129]: a control has one `apply` block
    "#]],
    );
    check(
        codes::EXPRESSION_STATEMENT,
        "control c() { apply { a.b; a == 1; a + 1; (a); f(x); b } }",
        expect![[r#"
        a.p4:1:23: error[E0130]: this expression does nothing
        a.p4:1:30: error[E0130]: a comparison does nothing
        a.p4:1:38: error[E0120]: expected `=` or `(`, found `+`
        a.p4:1:43: error[E0130]: this expression does nothing
        a.p4:1:54: error[E0130]: this expression does nothing
    "#]],
    );
    check(
        codes::INVALID_TARGET,
        "control c() { apply { f(x) = 1; 3 = 1; f(x).y = 1; a.b[1][3:0] = 1; } }",
        expect![[r#"
            a.p4:1:23: error[E0131]: this cannot be assigned to
            a.p4:1:33: error[E0131]: this cannot be assigned to
            a.p4:1:40: error[E0131]: this cannot be assigned to
        "#]],
    );
}

#[test]
fn every_code_is_shown() {
    // One of the programs is deeply nested.
    base::stack::with_deep_stack(show_every_code);
}

fn show_every_code() {
    files();
    characters();
    directives();
    macros();
    tokens();
    declarations();
    SHOWN.with_borrow(|shown| {
        for code in codes::ALL {
            assert_eq!(codes::ALL.iter().filter(|other| *other == code).count(), 1, "{code} is used twice");
            assert!(shown.contains(code), "no program shows {code}");
        }
    });
}

/// Diagnostics with their help.
fn check_help(text: &str, expected: Expect) {
    let (sources, _, diagnostics) = parse(text);
    let mut found = String::new();
    for diagnostic in &diagnostics {
        found.push_str(&syntax::render_short(&sources, diagnostic));
        diagnostic.helps.iter().for_each(|help| found.push_str(&format!("\n  = {help}")));
        found.push('\n');
    }
    expected.assert_eq(&found);
}

#[test]
fn forms_of_other_languages_have_help() {
    check_help(
        "control c() { apply { h.b = 1; # note\n h.b = 2; } }",
        expect![[r#"
            a.p4:1:32: error[E0120]: expected a statement, found `#`
              = a comment begins with `//`
        "#]],
    );
    check_help(
        "control c() { apply { h.setValid; t.apply; s.push_front; nop; h.b; } }",
        expect![[r#"
            a.p4:1:23: error[E0130]: this expression does nothing
              = a method is called with parentheses: `h.setValid()`
            a.p4:1:35: error[E0130]: this expression does nothing
              = a method is called with parentheses: `t.apply()`
            a.p4:1:44: error[E0130]: this expression does nothing
              = a method is called with parentheses: `s.push_front(1)`
            a.p4:1:58: error[E0130]: this expression does nothing
              = write `nop = ...` to assign, or `nop()` to call
            a.p4:1:63: error[E0130]: this expression does nothing
              = write `h.b = ...` to assign
        "#]],
    );
    check_help(
        "control c() { table t { reads { h.a : exact; } } table u { actions { a; } size : 3; } apply { } }",
        expect![[r#"
            a.p4:1:31: error[E0120]: expected `=`, found `{`
              = P4_16 writes `key = { field : kind; }`
            a.p4:1:68: error[E0120]: expected `=`, found `{`
              = write `actions = { ... }`
            a.p4:1:80: error[E0120]: expected `=`, found `:`
              = write `size = ...;`
        "#]],
    );
}
