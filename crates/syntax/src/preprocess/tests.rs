//! The preprocessor's output as text.

use super::*;
use crate::loader::MemoryFiles;
use expect_test::{Expect, expect};

/// The tokens, and the diagnostics, one a line.
fn preprocessed(files: &MemoryFiles, adjust: impl FnOnce(&mut Options<'_>), text: &str) -> String {
    let mut sources = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let mut options = Options::new(files);
    adjust(&mut options);
    let folder = Some(Path::new("d"));
    let Tokens { tokens, names, .. } =
        preprocess(&mut sources, "d/a.p4", folder, text.into(), &options, &mut diagnostics);
    let mut output = String::new();
    for token in &tokens[..tokens.len() - 1] {
        let separator = if output.is_empty() {
            ""
        } else if token.is_first_on_line {
            "\n"
        } else if token.has_space_before {
            " "
        } else {
            ""
        };
        output.push_str(separator);
        output.push_str(&token.text(&names));
    }
    for diagnostic in &diagnostics {
        output.push_str(&format!("\n{}", crate::render_short(&sources, diagnostic)));
    }
    output
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&preprocessed(&MemoryFiles::new(), |_| {}, text));
}

#[test]
fn macros_with_and_without_arguments() {
    check("#define X 1\n#define F(a, b) a + b\nX F(X, (2, 3)) F\nF (X\n, 5) F(,)", expect!["1 1 + (2, 3) F\n1 + 5 +"]);
    check("#define E\n#define G() 7\n[E] G() G ( ) G", expect!["[] 7 7 G"]);
    check("#define V(a, ...) f(a, __VA_ARGS__)\nV(1, 2, 3) V(1)", expect!["f(1, 2, 3) f(1,)"]);
    check("#define W(a, rest...) f(a, rest)\n#ident \"x\"\nW(1, 2, 3)", expect!["f(1, 2, 3)"]);
    check("#define X 1\n#undef X\n#define LONG 1 \\\n  + 2\nX LONG", expect!["X 1 + 2"]);
}

#[test]
fn pragmas_in_the_text_are_dropped() {
    check("1 _Pragma(\"a b(c)\") 2 _Pragma ( \"a\" \n)", expect!["1 2"]);
    check("#define P(x) _Pragma(#x)\n#define F(x) [x]\nP(a) 1 F(_Pragma(\"a\") 2)", expect!["1 [2]"]);
    check("#ifdef _Pragma\n1\n#endif\n#undef _Pragma\n_Pragma", expect![["1\n_Pragma"]]);
}

#[test]
fn directives_among_arguments_are_carried_out() {
    check("#define F(a, b) [a|b]\nF(1\n#ifdef X\n, 2\n#else\n, 3\n#endif\n)", expect![["[1|3]"]]);
    // Arguments are expanded when all are read.
    check(
        "#define F(a) [a]\nF(\n#define G 7\nG) F(\n#undef G\nG)",
        expect![[r#"
            [
            7] [
            G]"#]],
    );
    check(
        "#define F(a) [a]\nF(1\n#if 0\n)",
        expect![[r#"

        d/a.p4:2:1: error[E0115]: the arguments of macro `F` have no closing parenthesis
        d/a.p4:3:1: error[E0111]: this conditional has no `#endif`"#]],
    );
}

#[test]
fn expansion_is_scanned_again_but_not_for_its_own_name() {
    check("#define A B\n#define B A x\nA", expect!["A x"]);
    check("#define F(x) x F\nF(F)(1)", expect!["F F(1)"]);
    check("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", expect!["2*9*g"]);
    check("#define NAME F\n#define F(x) [x]\nNAME(1) NAME (2)", expect!["[1] [2]"]);
}

#[test]
fn a_name_inside_its_own_expansion_stays_in_arguments_too() {
    check("#define F(q) q\n#define A F(A)\nconst int d = A;", expect!["const int d = A;"]);
    check("#define F(q) (q)\n#define A F(B) + 46\n#define B A + A\nB", expect!["(B) + 46 + (B) + 46"]);
    check("#define F(p) (p + 0)\n#define G(p) p\n#define B G(83) + A\n#define A F(B)\nA", expect!["(83 + A + 0)"]);
    // Behind the expansion the name has its meaning again, but a token that was painted stays so.
    check("#define F(q) q\n#define A F(F(A) x) A\nF(A) A", expect!["A x A A x A"]);
    check("#define F(q) q F\n#define G(q) F(q)(1)\nG(F)(2) F(G)(3)", expect!["F F(1)(2) G F(3)"]);
}

#[test]
fn a_comma_before_omitted_arguments_is_dropped() {
    check("#define V(a, ...) f(a, ## __VA_ARGS__)\nV(1) V(1,) V(1, 2, 3) V()", expect!["f(1) f(1,) f(1,2, 3) f()"]);
    check("#define W(rest...) f(0, ## rest)\nW() W(1)", expect!["f(0) f(0,1)"]);
}

#[test]
fn optional_tokens_depend_on_the_last_arguments() {
    let define = "#define E\n#define X 5\n#define O(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\n";
    check(&format!("{define}O(1) O(1,) O(1, 2) O(1, E) O()"), expect!["f(1) f(1) f(1, 2) f(1) f()"]);
    let define = "#define X 5\n#define Q(a, ...) a ## __VA_OPT__((a) b) c #__VA_OPT__(a b ## a)\n";
    check(&format!("{define}Q(X, 1) Q(X)"), expect![[r#"5(5) b c "5 bX" 5 c """#]]);
    check("#define P(a) __VA_OPT__(a)\nP(1)", expect!["__VA_OPT__(1)"]);
    check(
        "#define P(...) __VA_OPT__\n#define Q(...) __VA_OPT__(a",
        expect![[r#"

        d/a.p4:1:16: error[E0114]: `__VA_OPT__` needs tokens in parentheses
        d/a.p4:2:16: error[E0114]: `__VA_OPT__` needs tokens in parentheses"#]],
    );
    check(
        "#define P(...) __VA_OPT__(## a)\n#define Q(...) __VA_OPT__(__VA_OPT__(a))",
        expect![[r#"

        d/a.p4:1:27: error[E0114]: `##` needs a token on either side
        d/a.p4:2:27: error[E0114]: `__VA_OPT__` cannot stand inside another"#]],
    );
}

#[test]
fn strings_and_pastes() {
    check("#define S(x) #x\n#define X 1\nS(a + X) S( \"q\\n\" ) S()", expect![[r#""a + X" "\"q\\n\"" """#]]);
    check("#define P(a, b) a##b x\nP(he, ader) P(8w, 1) P(, b) P(a, ) P(,)", expect!["header x 8w1 x b x a x x"]);
    check("#define X 1\n#define P(a) a##_t X##2\nP(X)", expect!["X_t X2"]);
    // What cannot be joined stays two tokens, as in assembler mode.
    check("#define P(a, b) [a ## b]\nP(1, +) P(h., x) P(>, >) P(., .)", expect!["[1+] [h.x] [>>] [..]"]);
}

#[test]
fn lines_of_assembler_comments_are_skipped() {
    check("# it's \"not $ read\n# 1) a list\n#\n  # - x\nx # 7\n__LINE__", expect!["x # 7\n6"]);
    check("#if 1\n# else of nothing\na\n#endif\n# if 0\nb\n# endif", expect![""]);
    check(
        "#a comment\n#defin X\n#!run\nx",
        expect![[r#"
        x
        d/a.p4:1:1: error[E0110]: there is no directive `#a`
        d/a.p4:2:1: error[E0110]: there is no directive `#defin`
        d/a.p4:3:1: error[E0110]: there is no directive `#!`"#]],
    );
}

#[test]
fn a_backslash_before_blanks_continues_a_line() {
    check("#define X 1 \\ \t\r\n + 2\nX // \\ \n gone\ny", expect!["1 + 2\ny"]);
}

/// The complete diagnostics of a program.
fn reported(text: &str) -> String {
    let files = MemoryFiles::new();
    let mut sources = SourceMap::new();
    let (_, mut diagnostics) = crate::parse_text(&mut sources, "a.p4", text, &Options::new(&files));
    diagnostics.move_into_macros(&sources);
    crate::render_all(&sources, &diagnostics, false)
}

#[test]
fn a_fault_in_a_macro_is_shown_there_and_once() {
    let text = "#define BAD(x) x +* 2\nconst bit<8> a = BAD(1);\nconst bit<8> b = BAD(2);\n";
    expect![[r#"
        error[E0120]: expected an expression, found `*`
         --> a.p4:1:19
          |
        1 | #define BAD(x) x +* 2
          |                   ^ expected an expression
        2 | const bit<8> a = BAD(1);
          |                  --- expanded here

        1 error
    "#]]
    .assert_eq(&reported(text));
    let text = "#define BOTH(x) const bit<8> a = x; const bit<8> b = x;\nBOTH(1 $ 2)\n";
    expect![[r#"
        error[E0106]: the character `$` has no meaning in P4
         --> a.p4:2:8
          |
        2 | BOTH(1 $ 2)
          |        ^

        error[E0120]: expected `;`, found `2`
         --> a.p4:2:10
          |
        2 | BOTH(1 $ 2)
          |          ^ expected `;`

        2 errors
    "#]]
    .assert_eq(&reported(text));
    let text = "#define BAD 1 $ + 2\nconst bit<8> a = BAD;\nconst bit<8> b = BAD;\n";
    expect![[r#"
        error[E0106]: the character `$` has no meaning in P4
         --> a.p4:1:15
          |
        1 | #define BAD 1 $ + 2
          |               ^
        2 | const bit<8> a = BAD;
          |                  --- expanded here

        1 error
    "#]]
    .assert_eq(&reported(text));
    // An argument keeps its location.
    let text = "#define ID(x) x\nconst bit<8> a = ID(1 +);\nconst bit<8> b = 1;\n";
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> a.p4:2:23
          |
        2 | const bit<8> a = ID(1 +);
          |                       ^ expected an expression after this

        1 error
    "#]]
    .assert_eq(&reported(text));
}

#[test]
fn a_macro_that_ends_too_early_is_at_fault_once_for_all_its_uses() {
    let text = "#define CUT(x) x *\nconst bit<8> a = CUT(1);\nconst bit<8> b = CUT(2);\n";
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> a.p4:1:18
          |
        1 | #define CUT(x) x *
          |                  ^ expected an expression after this
        2 | const bit<8> a = CUT(1);
          |                  --- expanded here

        1 error
    "#]]
    .assert_eq(&reported(text));
}

#[test]
fn a_fault_in_a_nested_macro_is_shown_in_the_innermost_body() {
    let text = "#define INNER(x) (x + ;)\n#define OUTER(y) INNER(y * 2)\nconst bit<8> a = OUTER(1);\n\
                const bit<8> b = OUTER(2);\n";
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> a.p4:1:23
          |
        1 | #define INNER(x) (x + ;)
          |                       ^ expected an expression
        2 | #define OUTER(y) INNER(y * 2)
          |                  ----- expanded here
        3 | const bit<8> a = OUTER(1);
          |                  ----- expanded here

        error[E0120]: expected a declaration, found `)`
         --> a.p4:1:24
          |
        1 | #define INNER(x) (x + ;)
          |                        ^ expected a declaration
        2 | #define OUTER(y) INNER(y * 2)
          |                  ----- expanded here
        3 | const bit<8> a = OUTER(1);
          |                  ----- expanded here

        2 errors
    "#]]
    .assert_eq(&reported(text));
    // The missing semicolon belongs behind the use of the macro.
    let text = "#define A(x) const bit<8> a = x\nA(1)\nconst bit<8> b = 2;\n";
    expect![[r#"
        error[E0121]: a `;` is missing
         --> a.p4:3:1
          |
        3 | const bit<8> b = 2;
          | ^^^^^ expected `;` before this

        1 error
    "#]]
    .assert_eq(&reported(text));
    // The tokens of an argument are written in the use, or in the body of the macro that passes them on.
    let text = "#define ID(x) x\n#define TWICE(x) ID(x + + ID(2 *))\nconst bit<8> a = TWICE(1);\n";
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> a.p4:2:32
          |
        2 | #define TWICE(x) ID(x + + ID(2 *))
          |                                ^ expected an expression after this
        3 | const bit<8> a = TWICE(1);
          |                  ----- expanded here

        1 error
    "#]]
    .assert_eq(&reported(text));
    let mut text = "#define M0 1 +* 2\n".to_owned();
    for level in 1..40 {
        text.push_str(&format!("#define M{level} M{}\n", level - 1));
    }
    text.push_str("const int a = M39;\n");
    let reported = reported(&text);
    assert_eq!(reported.matches("expanded here").count(), 6);
    assert!(reported.contains("= note: 34 more macros are expanded in between"), "{reported}");
}

#[test]
fn a_range_from_macros_has_a_place_in_the_innermost_common_body() {
    let text = "#define A 1 + 2\n#define B A + x\n#define F(x, y) x * B - y\nF(A, 3) F##z";
    let mut sources = SourceMap::new();
    let (files, mut diagnostics) = (MemoryFiles::new(), Diagnostics::new());
    let options = Options::new(&files);
    let Tokens { tokens, names, .. } = preprocess(&mut sources, "a.p4", None, text.into(), &options, &mut diagnostics);
    let texts: Vec<String> = tokens.iter().map(|token| token.text(&names).to_string()).collect();
    // A is an argument, and its own body's tokens are in it.
    expect!["1 + 2 * 1 + 2 + x - 3 F ## z "].assert_eq(&texts.join(" "));
    let written = |first: usize, last: usize| {
        let (span, uses) = sources.written(tokens[first].span.to(tokens[last].span));
        let uses: Vec<&str> = uses.iter().map(|&span| sources.text(span)).collect();
        format!("{} [{}]", sources.text(span), uses.join(" in "))
    };
    expect!["1 + 2 [A]"].assert_eq(&written(0, 2));
    expect!["x * [F]"].assert_eq(&written(0, 3));
    expect!["1 + [A in B in F]"].assert_eq(&written(4, 5));
    expect!["A + x [B in F]"].assert_eq(&written(6, 8));
    expect!["x * B - y [F]"].assert_eq(&written(0, 10));
    expect!["3 []"].assert_eq(&written(10, 10));
    expect!["F(A, 3) F []"].assert_eq(&written(3, 11));
}

#[test]
fn an_option_without_a_value_is_named() {
    let files = MemoryFiles::new();
    let mut options = Options::new(&files);
    options.defines.push(("CPU_PORT".to_owned(), String::new()));
    let mut sources = SourceMap::new();
    let (_, diagnostics) = crate::parse_text(&mut sources, "a.p4", "const bit<9> a = CPU_PORT;\n", &options);
    let helps: Vec<&String> = diagnostics.iter().flat_map(|it| &it.helps).collect();
    assert_eq!(helps, ["`-D CPU_PORT=` is without a value: write for example `-D CPU_PORT=255`"]);
}

#[test]
fn a_macro_of_nothing_is_named() {
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> a.p4:2:26
          |
        2 | const bit<9> a = CPU_PORT;
          |                          ^ expected an expression
          |
          = note: the macro `CPU_PORT` stands before it and expands to nothing

        1 error
    "#]]
    .assert_eq(&reported("#define CPU_PORT\nconst bit<9> a = CPU_PORT;\n"));
}

#[test]
fn the_macro_of_assemblers_is_defined() {
    check(
        "__ASSEMBLER__\n#undef __ASSEMBLER__\n__ASSEMBLER__",
        expect![[r#"
        1
        __ASSEMBLER__"#]],
    );
    expect![[r#"
        warning[W0102]: macro `__ASSEMBLER__` is defined again with another meaning
         --> a.p4:2:9
          |
        2 | #define __ASSEMBLER__ 2
          |         ^^^^^^^^^^^^^
          |
          = help: `#undef` it first

        error[E0120]: expected `;`, found `1`
         --> a.p4:1:17
          |
        1 | const int a = 1 __ASSEMBLER__;
          |                 ------------- expanded here

        1 error, 1 warning
    "#]]
    .assert_eq(&reported("const int a = 1 __ASSEMBLER__;\n#define __ASSEMBLER__ 2\n"));
}

#[test]
fn conditions_that_cannot_be_computed_are_reported() {
    for condition in ["18446744073709551616", "'abcde' > 0", "''", "'\\q'", "'\\x100'", "'a", "1 / 0u"] {
        let shown = preprocessed(&MemoryFiles::new(), |_| {}, &format!("#if {condition}\n#endif"));
        assert!(shown.contains("error[E0112]"), "{condition}: {shown}");
    }
}

#[test]
fn architectures_that_are_not_here_are_named() {
    expect![[r#"
        error[E0102]: there is no file `tna.p4`: the architecture TNA is not supported yet
         --> a.p4:1:1
          |
        1 | #include <tna.p4>
          | ^^^^^^^^^^^^^^^^^
          |
          = note: the built-in files are bmv2/pna.p4, bmv2/psa.p4, core.p4, dpdk/pna.p4, dpdk/psa.p4, ebpf_model.p4, pna.p4, psa.p4, tc/pna.p4, ubpf_model.p4, v1model.p4, wirespeed.p4, xdp_model.p4
          = help: programs for v1model, PSA and PNA can be run, those for eBPF, uBPF and XDP can be checked; with `-I FOLDER` a file of your own is found

        1 error
    "#]].assert_eq(&reported("#include <tna.p4>\n"));
}

#[test]
fn line_and_file_are_those_of_the_use() {
    check("__DATE__ __TIME__ __TIMESTAMP__", expect![[r#""??? ?? ????" "??:??:??" "??? ??? ?? ??:??:?? ????""#]]);
    check("#define L __LINE__\n\n__LINE__ L __FILE__", expect![[r#"3 3 "d/a.p4""#]]);
    check(
        "#line 100 \"x.p4\"\n__LINE__ __FILE__ $\n# 7 \"y.p4\" 1\n__LINE__",
        expect![[r#"
            100 "x.p4" $
            7"#]],
    );
}

#[test]
fn a_counter_counts_its_expansions() {
    check("__COUNTER__ __COUNTER__", expect!["0 1"]);
    check("#define N __COUNTER__\n#define TWICE(x) x x #x\nN N TWICE(N) __COUNTER__", expect![[r#"0 1 2 2 "N" 3"#]]);
    check(
        "#define JOIN(a, b) a ## b\n#define NEW(a, b) JOIN(a, b)\nNEW(x_, __COUNTER__) NEW(x_, __COUNTER__)",
        expect!["x_0 x_1"],
    );
    check("#if __COUNTER__ == 0 && __COUNTER__ == 1\n__COUNTER__\n#endif", expect!["2"]);
    check(
        "#ifdef __COUNTER__\n#if defined(__COUNTER__) && defined __LINE__\n__COUNTER__\n#endif\n#endif",
        expect!["0"],
    );
}

#[test]
fn included_files_differ_in_level_and_name() {
    let inner = "__INCLUDE_LEVEL__ __FILE__ __BASE_FILE__\n";
    let files = MemoryFiles::new().with("d/b.p4", format!("#include \"c.p4\"\n{inner}")).with("d/c.p4", inner);
    let text = format!("{inner}#include \"b.p4\"\n{inner}");
    expect![[r#"
        0 "d/a.p4" "d/a.p4"
        2 "d/c.p4" "d/a.p4"
        1 "d/b.p4" "d/a.p4"
        0 "d/a.p4" "d/a.p4""#]]
    .assert_eq(&preprocessed(&files, |_| {}, &text));
}

#[test]
fn conditionals_choose_one_branch() {
    let branches = "#if X == 1\none\n#elif X == 2\ntwo\n#elifdef Y\nthree\n#else\nother\n#endif\n";
    for (define, expected) in [("X 1", "one"), ("X 2", "two"), ("Y", "three"), ("Z", "other")] {
        assert_eq!(preprocessed(&MemoryFiles::new(), |_| {}, &format!("#define {define}\n{branches}")), expected);
    }
    check("#ifdef X\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif\n#ifndef X\nd\n#endif", expect!["c\nd"]);
    check("#if 0\nit's \"not read $\n#bad\n#if 1 +\n#endif\n/* #endif */\n#endif\nx", expect!["x"]);
}

#[test]
fn a_macro_may_ask_whether_a_name_is_defined() {
    check(
        "#define A\n#define D defined(A)\n#define N defined B || defined A\n#if D && N\nyes\n#endif\n#if defined D\nyes\n#endif",
        expect![[r#"
            yes
            yes"#]],
    );
}

#[test]
fn conditions_compute() {
    for (condition, value) in [
        ("1 + 2 * 3 == 7 && -1 < 0", true),
        ("defined(X) && X >= 20200408", true),
        ("defined X && !defined Y", true),
        ("Y", false),
        ("true && !false", true),
        ("0 && 1 / 0", false),
        ("1 || 1 % 0", true),
        ("1 ? 0 : 1 / 0", false),
        ("(0x10 >> 2 | 1) == 5 && ~0 == -1", true),
        ("F(1) == 2", true),
        ("0755 == 493 && 10L > 3UL && 0xFu == 15", true),
        ("1 << 70", false),
        ("'a' == 97 && '0' == 48 && C == 97", true),
        (r"'\n' == 10 && '\x41' == 65 && 'ab' == 24930 && '\101' == 'A' && '\'' == 39 && '\\' == 92", true),
        (r"'\0' == 0 && '\xff' == -1 && ' ' == 32 && '//' == 12079 && 'X' == 88 && 'abcd' > 0", true),
        ("-1 > 0u && 1u - 2 > 0 && ~0u > 0 && (1 ? -1 : 0u) > 0 && (0 ? 0u : -1) > 0", true),
        ("18446744073709551615 == -1 && 0x8000000000000000 > 0 && 9223372036854775807 + 1 < 0", true),
        ("-1 / 2u == 0x7fffffffffffffff && -7 / 2 == -3 && -7 % 3 == -1 && -1 % 10u == 5", true),
        ("(-1 >> 1) == -1 && (-1 + 0u >> 63) == 1 && (1 << -1) == 0 && (4 >> -1) == 8 && -1 < (0u > 1)", true),
        ("(1, 2) == 2 && (0 ? 1, 0 : 3) == 3", true),
        ("1, 0", false),
        ("__ASSEMBLER__ == 1 && defined __ASSEMBLER__ && __STDC__ && __STDC_HOSTED__", true),
        ("defined __has_include && __has_include(<core.p4>) && !__has_include(\"none.p4\")", true),
    ] {
        let text = format!(
            "#define X 20200408\n#define F(x) x + 1\n#define C 'a'\n#define a 5\n#if {condition}\nyes\n#else\nno\n#endif"
        );
        let expected = if value { "yes" } else { "no" };
        assert_eq!(preprocessed(&MemoryFiles::new(), |_| {}, &text), expected, "{condition}");
    }
}

#[test]
fn includes_are_looked_for_in_order() {
    let files = MemoryFiles::new()
        .with("d/x.p4", "own")
        .with("i/x.p4", "first")
        .with("j/x.p4", "second")
        .with("j/y.p4", "#include \"z.p4\"\n")
        .with("j/z.p4", "beside")
        .with("j/core.p4", "mine");
    let text = "#include \"x.p4\"\n#include <x.p4>\n#include <y.p4> // comment\n#define W <x.p4>\n#include W\n\
                #include <core.p4>";
    let found = preprocessed(&files, |options| options.include_paths = vec!["i".into(), "j".into()], text);
    expect!["own\nfirst\nbeside\nfirst\nmine"].assert_eq(&found);
}

#[test]
fn missing_includes_say_where_was_looked() {
    let files = MemoryFiles::new();
    let mut options = Options::new(&files);
    options.include_paths = vec!["i".into()];
    let mut sources = SourceMap::new();
    let (_, diagnostics) = crate::parse_text(&mut sources, "d/a.p4", "#include \"x.p4\"\n", &options);
    expect![[r#"
        error[E0102]: there is no file `x.p4`
         --> d/a.p4:1:1
          |
        1 | #include "x.p4"
          | ^^^^^^^^^^^^^^^
          |
          = note: looked in `d`
          = note: looked in `i`
          = note: the built-in files are bmv2/pna.p4, bmv2/psa.p4, core.p4, dpdk/pna.p4, dpdk/psa.p4, ebpf_model.p4, pna.p4, psa.p4, tc/pna.p4, ubpf_model.p4, v1model.p4, wirespeed.p4, xdp_model.p4

        1 error
    "#]]
    .assert_eq(&crate::render_all(&sources, &diagnostics, false));
}

#[test]
fn guards_and_pragma_once() {
    let files = MemoryFiles::new()
        .with("d/g.p4", "#ifndef G\n#define G\nguarded\n#endif\n")
        .with("d/o.p4", "#pragma once\nonce\n");
    let text = "#include \"g.p4\"\n#include \"o.p4\"\n#include \"g.p4\"\n#include \"o.p4\"\nend";
    expect!["guarded\nonce\nend"].assert_eq(&preprocessed(&files, |_| {}, text));
}

#[test]
fn the_command_line_defines_and_undefines() {
    let adjust = |options: &mut Options<'_>| {
        options.defines = vec![("X".into(), "1\n2".into()), ("F(a)".into(), "a a".into()), ("Y".into(), "3".into())];
        options.undefines = vec!["Y".into()];
    };
    expect!["1 2 4 4 Y"].assert_eq(&preprocessed(&MemoryFiles::new(), adjust, "X F(4) Y"));
}

#[test]
fn a_fault_in_an_include_names_the_way_there() {
    let files = MemoryFiles::new().with("d/b.p4", "\nconst int x = ;\n");
    let mut sources = SourceMap::new();
    let text = "\n#include \"b.p4\"\n";
    let (_, diagnostics) = crate::parse_text(&mut sources, "d/a.p4", text, &Options::new(&files));
    expect![[r#"
        error[E0120]: expected an expression, found `;`
         --> d/b.p4:2:15
          |
        2 | const int x = ;
          |               ^ expected an expression
          |
          = note: included from d/a.p4:2

        1 error
    "#]]
    .assert_eq(&crate::render_all(&sources, &diagnostics, false));
}
